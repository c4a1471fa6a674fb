/* Private to the summary on a terminal: what its files share. */
#ifndef IFM_PUBLISH_TERMINAL_PRIVATE_H
#define IFM_PUBLISH_TERMINAL_PRIVATE_H

#include "publish/compose.h"
#include "publish/view.h"

enum { IFM_TERMINAL_WIDTH = 100, IFM_TERMINAL_INDENT = 2 };

struct ifm_terminal {
    struct ifm_text *out;
    struct ifm_arena *arena;
    bool colour, utf8;
};

void ifm_terminal_say(struct ifm_terminal *terminal, enum ifm_tone tone, const char *text);
/* Words of `text` in lines of IFM_TERMINAL_WIDTH columns; later lines start at `indent`. The cursor is at `column`. */
void ifm_terminal_wrap(struct ifm_terminal *terminal, const char *text, size_t column, size_t indent);

/* terminal_findings.c: what is invalid and the weightiest of the rest, the others counted; `triage`: what else changed
 * is left to the report. */
void ifm_terminal_findings(struct ifm_terminal *terminal, const struct ifm_plan *plan, const struct ifm_view *view,
                           bool triage);
void ifm_terminal_advice(struct ifm_terminal *terminal, const struct ifm_publication *publication);
IFM_CHECKED enum ifm_status ifm_terminal_checklists(struct ifm_terminal *terminal,
                                                    const struct ifm_publication *publication, struct ifm_error *error);

#endif
