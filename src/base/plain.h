/* Plain text: what of a text may be shown as it is. Every door (document/escape.h), standard error and JSON are made of
 * it.
 *
 * Hostile are control characters, the C1 controls (U+009B begins an escape sequence), what turns the direction of a
 * text or hides it, the separators of lines and paragraphs, and bytes that are no UTF-8. Pure; allocates nothing.
 * Thread rule: no shared state. */
#ifndef IFM_BASE_PLAIN_H
#define IFM_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of the UTF-8 character at `text`, which is not empty, and its code; 0 where there is none. */
size_t ifm_plain_character(const char *text, uint32_t *code);
/* Also of line ends and tabs. */
bool ifm_plain_is_hostile(uint32_t code);
/* How many bytes at the begin of a text are printable ASCII and none of `specials`: they can be taken at once. */
size_t ifm_plain_span(const char *text, const char *specials);
/* Columns that it takes on a terminal; wide characters count as one. */
size_t ifm_plain_columns(const char *text);
/* Make one line of it, in place: blanks for line ends and tabs, "?" for what is hostile. ifm_text_plain (text.h)
 * makes a copy. */
void ifm_plain_make(char *text);

#endif
