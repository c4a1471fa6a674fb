/* What a program wrote to standard error: kept in a memory file, so that a run that fails can show its last lines.
 *
 * Must never reach a record: what a program prints is as private as its command. No time is measured here; a write into
 * the file costs a program about 1 ns a byte more than one that is thrown away. Thread rule: of the thread that drives
 * the arm. */
#ifndef IFM_WORKLOAD_COMMAND_SAID_H
#define IFM_WORKLOAD_COMMAND_SAID_H

#include "base/error.h"
#include <stdbool.h>

/* A new memory file; -1 where there can be none, and where writing beyond a limit on files would end the program. */
int ifm_said_open(void);
/* Forget what is in it. -1 is allowed, here and below. */
void ifm_said_clear(int fd);
/* While a program runs: give back the memory of all but its end. `with` is the descriptor, as an int. */
void ifm_said_thin(void *with);
/* Fill `error->said` with its last lines; false where it is known that there are none. */
bool ifm_said_show(int fd, struct ifm_error *error);

#endif
