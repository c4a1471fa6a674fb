/* Ctrl-C: a flag that the run looks at between slots. The only global state of the run engine. */
#ifndef IFM_RUN_INTERRUPT_H
#define IFM_RUN_INTERRUPT_H

#include "base/error.h"
#include <stdbool.h>

void ifm_interrupt_install(void); /* SIGINT, SIGTERM, SIGHUP set the flag; a second SIGINT kills as usual */
void ifm_interrupt_restore(void); /* what was installed before */
bool ifm_interrupted(void);
/* Was this process stopped (SIGSTOP, Ctrl-Z) and continued since the last call? */
bool ifm_was_continued(void);
/* IFM_INTERRUPTED, with the cell named, as soon as the flag is set. */
IFM_CHECKED enum ifm_status ifm_interrupt_check(const char *cell, struct ifm_error *error);

#endif
