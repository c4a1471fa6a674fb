/* How many steps make a sample, and how many samples a slot: chosen from rough timings, written as facts.
 *
 * A control decision; nothing published comes from it. A session, whose windows are its caller's, uses the parts. */
#ifndef IFM_RUN_CELL_CALIBRATE_H
#define IFM_RUN_CELL_CALIBRATE_H

#include "run/cell/cell.h"

/* Mean time from one clock reading to the next, and the smallest step that the clock takes. */
double ifm_cell_read_clock(struct ifm_device *device, double *tick_ns);
/* Inner steps and samples per slot of every arm from its step_ns, as facts; allocates the block. */
IFM_CHECKED enum ifm_status ifm_cell_choose(struct ifm_cell_run *cell, double clock_ns, struct ifm_error *error);
/* Choose inner steps and samples per slot of every arm; allocates the block. Under IFM_STOP_REPEATS the samples of a
 * slot divide the repeats. `events` is the journal of the interrupted run that is resumed (its counts are taken over),
 * or NULL. */
IFM_CHECKED enum ifm_status ifm_cell_calibrate(struct ifm_cell_run *cell, const struct ifm_events *events,
                                               struct ifm_error *error);
/* What a block of all arms takes, s, by the steps that calibration timed. */
double ifm_cell_block_s(const struct ifm_cell_run *cell);
/* The cap that holds the fewest blocks, s, where the configured one does not; else 0. */
double ifm_cell_cap_wanted_s(const struct ifm_cell_run *cell);

#endif
