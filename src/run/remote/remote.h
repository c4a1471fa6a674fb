/* Arms in processes of their own, seen from the run: start one, ask it, end it.
 *
 * A worker is this executable with the hidden verb `worker` (run/remote/worker.h). It opens the device and one arm,
 * waits in recv and works only while it is asked, so that of all processes of a run at most one works at a time. It
 * measures its slots itself, instruments included; times are of the one clock of the machine. Samples come through
 * shared memory. A worker that dies fails its cell, with the arm and the signal named. */
#ifndef IFM_RUN_REMOTE_REMOTE_H
#define IFM_RUN_REMOTE_REMOTE_H

#include "run/cell/cell.h"

/* Start the worker of an arm and let it open the arm. */
IFM_CHECKED enum ifm_status ifm_remote_open(struct ifm_cell_run *cell, unsigned arm, struct ifm_error *error);
/* End it and wait for its end; nothing happens when there is none. */
void ifm_remote_close(struct ifm_arm_run *arm);
/* What all workers of a cell share; after every ifm_remote_close. NULL is allowed. */
void ifm_remote_free(struct ifm_remote_shared *shared);

/* As the functions of run/cell/arm.h, asked of the arm's worker. */
IFM_CHECKED enum ifm_status ifm_remote_check(struct ifm_cell_run *cell, unsigned arm, bool first, struct ifm_check *out,
                                             struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_remote_rough_ns(struct ifm_cell_run *cell, unsigned arm, double *ns,
                                                struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_remote_warm(struct ifm_cell_run *cell, unsigned arm, uint64_t steps, double limit_s,
                                            struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_remote_feature_runs(struct ifm_cell_run *cell, unsigned arm, uint64_t *runs,
                                                    struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_remote_slot(struct ifm_cell_run *cell, unsigned arm, struct ifm_slot *slot,
                                            struct ifm_sample *samples, int64_t *columns, struct ifm_error *error);

#endif
