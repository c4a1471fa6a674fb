/* A chain of chunks, each at least 64 KiB; a large request gets a chunk of its own. */
#include "base/arena.h"

#include "base/log.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 * 1024, ALIGNMENT = 16 };

struct chunk {
    struct chunk *next;
    size_t used, capacity;
    _Alignas(ALIGNMENT) char data[];
};

struct deferred {
    struct deferred *next;
    void (*release)(void *what);
    void *what;
};

struct ifm_arena {
    struct chunk *chunks;      /* newest first */
    struct deferred *deferred; /* newest first */
};

struct ifm_arena *ifm_arena_create(void)
{
    struct ifm_arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL)
        ifm_die("out of memory");
    return arena;
}

void ifm_arena_destroy(struct ifm_arena *arena)
{
    if (arena == NULL)
        return;
    for (const struct deferred *item = arena->deferred; item != NULL; item = item->next)
        item->release(item->what);
    for (struct chunk *chunk = arena->chunks; chunk != NULL;) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(arena);
}

static struct chunk *grow(struct ifm_arena *arena, size_t bytes)
{
    size_t capacity = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    struct chunk *chunk = calloc(1, sizeof *chunk + capacity);
    if (chunk == NULL)
        ifm_die("out of memory: %zu bytes", capacity);
    chunk->capacity = capacity;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *ifm_arena_alloc(struct ifm_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        ifm_die("an allocation of %zu bytes", bytes);
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->capacity - chunk->used < rounded)
        chunk = grow(arena, rounded);
    void *memory = chunk->data + chunk->used;
    chunk->used += rounded;
    return memory;
}

void *ifm_arena_grow(struct ifm_arena *arena, void *items, size_t n, size_t *capacity, size_t item_bytes)
{
    if (n < *capacity)
        return items;
    *capacity = *capacity == 0 ? 16 : 2 * *capacity;
    if (*capacity > SIZE_MAX / item_bytes)
        ifm_die("a list of %zu items", *capacity);
    void *grown = ifm_arena_alloc(arena, *capacity * item_bytes);
    if (n > 0)
        memcpy(grown, items, n * item_bytes);
    return grown;
}

void ifm_arena_defer(struct ifm_arena *arena, void (*release)(void *what), void *what)
{
    struct deferred *item = IFM_ARENA_NEW(arena, struct deferred);
    *item = (struct deferred){arena->deferred, release, what};
    arena->deferred = item;
}

char *ifm_arena_strdup(struct ifm_arena *arena, const char *text)
{
    if (text == NULL)
        return NULL;
    size_t size = strlen(text) + 1;
    return memcpy(ifm_arena_alloc(arena, size), text, size);
}

char *ifm_arena_vprintf(struct ifm_arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0)
        ifm_die("cannot format a message");
    char *text = ifm_arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *ifm_arena_printf(struct ifm_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = ifm_arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

char *ifm_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(ifm_zeros(size, 1), text, size);
}

void *ifm_zeros(size_t n, size_t size)
{
    void *memory = calloc(n == 0 ? 1 : n, size);
    if (memory == NULL)
        ifm_die("out of memory: %zu elements of %zu bytes", n, size);
    return memory;
}
