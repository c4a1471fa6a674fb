/* The files that the programs of a cell are: what the file system says of each, before the first block and after the
 * last. Derive compares the two; a program that was built anew in between is another one. Paths go nowhere. Thread
 * rule: no shared state. */
#ifndef IFM_RUN_FACTS_PROGRAMS_H
#define IFM_RUN_FACTS_PROGRAMS_H

#include "run/cell/cell.h"

/* `when`: "before" or "after". A fact for each file of each arm; nothing where arms run no programs. */
IFM_CHECKED enum ifm_status ifm_programs_record(struct ifm_cell_run *cell, const char *when, struct ifm_error *error);

#endif
