/* Text: a growing string, numbers in and out, and the nearest known word.
 *
 * Pure but for allocation. Thread rule: a builder belongs to one thread. */
#ifndef IFM_BASE_TEXT_H
#define IFM_BASE_TEXT_H

#include "base/arena.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing, always NUL-terminated string. Start with {0}; release with ifm_text_free. */
struct ifm_text {
    char *data; /* NULL until the first append */
    size_t size, capacity;
};
void ifm_text_append(struct ifm_text *text, const char *bytes, size_t n);
void ifm_text_add(struct ifm_text *text, const char *string);
void ifm_text_printf(struct ifm_text *text, const char *format, ...) IFM_PRINTF(2, 3);
/* Decimal digits of `number`; the fast path of the raw record. */
void ifm_text_add_i64(struct ifm_text *text, int64_t number);
void ifm_text_clear(struct ifm_text *text); /* keeps the capacity */
void ifm_text_free(struct ifm_text *text);
/* The string in the arena, "" where nothing was appended; the text is freed. */
const char *ifm_text_keep(struct ifm_text *text, struct ifm_arena *arena);
/* One line of a text from outside, for a terminal (plain.h); in the arena. */
const char *ifm_text_plain(const char *text, struct ifm_arena *arena);
/* With each "inferometer COMMAND" as it is typed here (called.h); in the arena, or `text` itself. */
const char *ifm_text_typed(const char *text, struct ifm_arena *arena);

/* The words of `text` in lines of `width` columns; the cursor is at `column`, and later lines begin at `margin`. A word
 * is never broken, nor a command between `...`. The column behind the last one. */
size_t ifm_text_wrap(struct ifm_text *out, const char *text, size_t width, size_t column, size_t margin);

/* Whether `item` is one of the items of the `n` bytes at `list`, which stand with ", " between them. A name that is a
 * part of another one is none. */
bool ifm_text_lists(const char *list, size_t n, const char *item);
/* One more item of such a list, unless it is there. */
void ifm_text_add_once(struct ifm_text *list, const char *item);

/* Where in `text` that which is `like` but for figures ends; NULL where it does not begin so. */
const char *ifm_text_alike(const char *text, const char *like);

/* Is `at` inside a bracket of `text`? A text that is cut there would leave it open. */
bool ifm_text_is_bracketed(const char *text, const char *at);
/* The first `end` of a clause that no bracket holds; NULL = none. */
const char *ifm_text_clause_end(const char *text, const char *end);

/* Parse the whole string: false on empty input, trailing characters or overflow. */
bool ifm_parse_i64(const char *text, int64_t *out);
bool ifm_parse_u64(const char *text, uint64_t *out);
bool ifm_parse_f64(const char *text, double *out); /* finite values only */
/* Bytes with an optional suffix B, K, KB, KiB, M, MB, MiB, G, GB, GiB, T, TB, TiB:
 * "KiB" and "K" are 1024, "KB" is 1000. */
bool ifm_parse_bytes(const char *text, uint64_t *out);
/* Seconds with an optional suffix ns, us, ms, s, min. */
bool ifm_parse_seconds(const char *text, double *out);

/* Shortest decimal that reads back as the same double (at most 17 digits). */
const char *ifm_format_real(double number, char buffer[32]);
/* For people: "1.50 GiB", "21.3 GB/s", "12.4 us", "1.02 s". `unit` is a unit id such as
 * "ns", "s", "B", "B/s", "FLOP", "FLOP/s", "tokens/s", "%", "1", "count". */
const char *ifm_format_human(double number, const char *unit, char buffer[48]);

/* The word of `words` nearest to `word` by edit distance, or NULL when none is near
 * (distance above max(2, a third of the length)). */
const char *ifm_nearest(const char *word, const char *const *words, size_t n);

#endif
