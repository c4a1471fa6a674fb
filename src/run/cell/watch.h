/* The machine under a measurement: its clock runs forward, and its threads are on their CPUs.
 *
 * A clock that stands still or runs backwards makes a measurement invalid. A clock that skips time which another clock
 * counts (suspension, a stopped virtual machine), and a thread that was moved to another CPU, mark their block: a
 * machine cause that is recorded independently of any sample (rule 2). Everything is read between slots, never inside
 * one. */
#ifndef IFM_RUN_CELL_WATCH_H
#define IFM_RUN_CELL_WATCH_H

#include "run/cell/cell.h"

struct ifm_watch {
    int64_t clock_ns, boot_ns; /* both clocks when the block began */
};

/* Does the clock advance? If not, IFM_INVALID, with a fact that makes derive refuse the cell. A scripted clock is not
 * checked. */
IFM_CHECKED enum ifm_status ifm_watch_clock(struct ifm_cell_run *cell, struct ifm_error *error);
/* A time of the device's clock that becomes a fact, in ns. Below zero: as above. */
IFM_CHECKED enum ifm_status ifm_watch_span(struct ifm_cell_run *cell, double span_ns, struct ifm_error *error);
/* Does the slot start after `earliest_ns`, with its samples in order? If not, as above. */
IFM_CHECKED enum ifm_status ifm_watch_slot(struct ifm_cell_run *cell, const struct ifm_slot *slot,
                                           const struct ifm_sample *samples, int64_t earliest_ns,
                                           struct ifm_error *error);
void ifm_watch_begin(const struct ifm_cell_run *cell, struct ifm_watch *watch);
/* Write the fact that marks `block` when it was disturbed, and send displaced threads back. IFM_INVALID when their CPU
 * is gone. */
IFM_CHECKED enum ifm_status ifm_watch_end(struct ifm_cell_run *cell, const struct ifm_watch *watch, uint32_t block,
                                          struct ifm_error *error);

#endif
