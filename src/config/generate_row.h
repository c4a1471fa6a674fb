/* What the generators share: the pieces of text that describe one row. Nobody else includes it. */
#ifndef IFM_CONFIG_GENERATE_ROW_H
#define IFM_CONFIG_GENERATE_ROW_H

#include "config/generate.h"
#include "config/internal.h"

/* "N[,..]", "hot|cold", "BYTES"; nothing for a boolean. */
void ifm_row_value(const struct ifm_param *row, struct ifm_text *out);
/* The row's help with "(tokens; default 4096; 1 .. 1048576; more)"; `more` may be NULL. Spaces that must not be
 * broken are 0x1f, which ifm_wrap prints as spaces. */
void ifm_row_sentence(const struct ifm_param *row, const char *more, struct ifm_arena *arena, struct ifm_text *out);
/* Append `text` broken at spaces: the cursor stands at `column`, further lines start at `indent`. */
void ifm_wrap(const char *text, size_t column, size_t indent, size_t width, struct ifm_text *out);
/* Append the words of "a|b|c" with `between` in place of the bars. */
void ifm_words(const char *choices, const char *between, struct ifm_text *out);
/* Append `text` with every character of `special` replaced by the string at the same index of `by`. */
void ifm_escape(const char *text, const char *special, const char *const *by, struct ifm_text *out);
/* The words that a flag's value completes to: choices, workload names, or "". In the arena. */
const char *ifm_row_words(const struct ifm_param *row, const struct ifm_section *const *sections,
                          struct ifm_arena *arena);

#endif
