/* Arms in processes of their own that record what their GPU does, for the pass that has such an instrument.
 *
 * The process is opened when the pass begins, with recording on before its device is, and ends with the pass: what
 * records a process never touches the one whose latencies are measured. A process that fails costs the pass, with the
 * reason as a fact, and nothing else. */
#ifndef IFM_RUN_PASS_TRACED_H
#define IFM_RUN_PASS_TRACED_H

#include "run/pass/pass.h"

/* The instruments of the open pass want processes of their own. */
bool ifm_traced_wants(const struct ifm_pass_run *pass);
/* Open one for each arm that has slots, and take its first steps. */
IFM_CHECKED enum ifm_status ifm_traced_open(struct ifm_pass_run *pass, struct ifm_error *error);
/* What they recorded, a fact for each arm; the rows of the last slot of each go into samples/<cell>-trace-activity.csv.
 */
IFM_CHECKED enum ifm_status ifm_traced_tell(struct ifm_pass_run *pass, struct ifm_error *error);
/* The pass failed with `status`: IFM_OK, and a fact, where the run goes on without it. */
IFM_CHECKED enum ifm_status ifm_traced_failed(struct ifm_pass_run *pass, enum ifm_status status,
                                              struct ifm_error *error);
/* End them. */
void ifm_traced_close(struct ifm_pass_run *pass);

#endif
