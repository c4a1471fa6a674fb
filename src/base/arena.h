/* Arena: memory that is released all at once.
 *
 * Owns every block it hands out; blocks are not freed one by one. Memory is zeroed. Out of memory ends the process
 * through ifm_die. Never used inside a timed slot. Thread rule: one arena, one thread. */
#ifndef IFM_BASE_ARENA_H
#define IFM_BASE_ARENA_H

#include "base/error.h"
#include <stdarg.h>
#include <stddef.h>

struct ifm_arena;

struct ifm_arena *ifm_arena_create(void);
void ifm_arena_destroy(struct ifm_arena *arena); /* NULL is allowed */

void *ifm_arena_alloc(struct ifm_arena *arena, size_t bytes);
#define IFM_ARENA_ARRAY(arena, type, n) ((type *)ifm_arena_alloc((arena), sizeof(type) * (size_t)(n)))
#define IFM_ARENA_NEW(arena, type) IFM_ARENA_ARRAY(arena, type, 1)

/* Room for one item more in a list of `n`: when it is full, the list moves to twice its capacity. */
void *ifm_arena_grow(struct ifm_arena *arena, void *items, size_t n, size_t *capacity, size_t item_bytes);
#define IFM_ARENA_GROW(arena, items, n, capacity)                                                                      \
    ((items) = ifm_arena_grow((arena), (items), (n), &(capacity), sizeof *(items)))

/* Calls `release` for `what` when the arena is destroyed, the last one given first: for what is not the arena's memory
 * and must live as long. */
void ifm_arena_defer(struct ifm_arena *arena, void (*release)(void *what), void *what);

char *ifm_arena_strdup(struct ifm_arena *arena, const char *text); /* NULL gives NULL */
char *ifm_arena_printf(struct ifm_arena *arena, const char *format, ...) IFM_PRINTF(2, 3);
char *ifm_arena_vprintf(struct ifm_arena *arena, const char *format, va_list arguments) IFM_PRINTF(2, 0);

/* Zeroed memory for at least one element outside of an arena: freed with free(). Without memory the process ends. */
void *ifm_zeros(size_t n, size_t size);
char *ifm_strdup(const char *text); /* the same of a text */

#endif
