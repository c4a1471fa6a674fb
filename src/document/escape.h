/* The doors: one a medium. Text from outside (names of arms, gates and files, reasons of a system) goes through its
 * medium's door and nowhere else, so that a hostile name stays a name.
 *
 * In every medium, control characters, the C1 controls (U+009B begins an escape sequence), what turns the direction of
 * a text or hides it, and bytes that are no UTF-8 are shown as "?". Pure; thread rule: no shared state. */
#ifndef IFM_DOCUMENT_ESCAPE_H
#define IFM_DOCUMENT_ESCAPE_H

#include "base/text.h"

/* A line of a terminal; line ends and tabs are blanks. `utf8`: false writes ASCII only: "u" for "µ". */
void ifm_escape_terminal(const char *text, bool utf8, struct ifm_text *out);
/* Inside a line of Markdown: nothing starts markup, a link or a table's next field, also at the line's begin. */
void ifm_escape_markdown(const char *text, struct ifm_text *out);
/* A code span of Markdown, its quotes included; what holds such quotes is escaped as text. */
void ifm_escape_markdown_code(const char *text, struct ifm_text *out);
/* Character data or a quoted attribute of HTML. */
void ifm_escape_html(const char *text, struct ifm_text *out);
/* Character data or a quoted attribute of XML 1.0. */
void ifm_escape_xml(const char *text, struct ifm_text *out);
/* A field of CSV (RFC 4180). What a spreadsheet would take for a formula is led by an apostrophe. */
void ifm_escape_csv(const char *text, struct ifm_text *out);

/* Writes `format`; each %s, the only conversion that it may hold, goes through the door. */
typedef void ifm_escape(const char *text, struct ifm_text *out);
void ifm_escape_print(ifm_escape *door, struct ifm_text *out, const char *format, ...) IFM_PRINTF(3, 4);

#endif
