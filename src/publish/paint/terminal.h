/* Private to the painter of terminals: what its files share. */
#ifndef IFM_PUBLISH_PAINT_TERMINAL_H
#define IFM_PUBLISH_PAINT_TERMINAL_H

#include "document/document.h"
#include "publish/compose.h"

enum { IFM_TERMINAL_INDENT = 2 };

struct ifm_terminal {
    struct ifm_text *out;
    struct ifm_arena *arena;
    bool colour, utf8;
    size_t width;         /* of its lines */
    int margin;           /* of tables */
    const char *left_out; /* titles of news that this medium has no room for; "" = none */
};

/* The text as this terminal may show it. */
const char *ifm_terminal_plain(const struct ifm_terminal *terminal, const char *text);
/* The escape sequence that begins a tone; "" of a plain one. */
const char *ifm_terminal_paint(enum ifm_tone tone);
/* A footnote's mark: "¹", or "[1]" on an ASCII terminal. */
const char *ifm_terminal_mark(const struct ifm_terminal *terminal, size_t note);
/* All columns in one table when they fit on a line, else one table a part. */
IFM_CHECKED enum ifm_status ifm_terminal_grid(struct ifm_terminal *terminal, const struct ifm_grid *grid,
                                              struct ifm_error *error);

#endif
