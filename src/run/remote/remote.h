/* Arms in processes of their own, seen from the run: start one, ask it, end it. And the worker's side.
 *
 * A worker is this executable with the hidden verb `worker`. It opens the device and one arm,
 * waits in recv and works only while it is asked, so that of all processes of a run at most one works at a time. It
 * measures its slots itself, instruments included; times are of the one clock of the machine. Samples come through
 * shared memory. A worker that dies fails its cell, with the arm and the signal named. */
#ifndef IFM_RUN_REMOTE_REMOTE_H
#define IFM_RUN_REMOTE_REMOTE_H

#include "run/cell/cell.h"
#include "run/remote/protocol.h"

/* Start the worker of an arm and let it open the arm. */
IFM_CHECKED enum ifm_status ifm_remote_open(struct ifm_cell_run *cell, unsigned arm, struct ifm_error *error);
/* End it and wait for its end; nothing happens when there is none. */
void ifm_remote_close(struct ifm_arm_run *arm);
/* What all workers of a cell share; after every ifm_remote_close. NULL is allowed. */
void ifm_remote_free(struct ifm_remote_shared *shared);

/* Ask the arm's worker and wait for its answer; an error of its own is the caller's. */
IFM_CHECKED enum ifm_status ifm_remote_ask(struct ifm_cell_run *cell, unsigned arm, struct ifm_remote_request request,
                                           struct ifm_remote_answer *answer, struct ifm_error *error);
/* As ifm_arm_slot, asked of the arm's worker. */
IFM_CHECKED enum ifm_status ifm_remote_slot(struct ifm_cell_run *cell, unsigned arm, struct ifm_slot *slot,
                                            struct ifm_sample *samples, int64_t *columns, struct ifm_error *error);

/* ---- the worker (worker.c) ---- */

/* Serve the requests of the run that started this process, over descriptors 3 to 5, until there are no more. It writes
 * no file and prints nothing. IFM_USAGE when this process was not started by a run. */
IFM_CHECKED enum ifm_status ifm_worker_serve(struct ifm_error *error);

#endif
