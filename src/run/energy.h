/* The energy pass: windows of each arm under sensors of power, after the cell's latency pass, in the same open cell.
 *
 * Idle with the context alive -> for each block: pre-roll of the arm (the same steps, at least a second, where another
 * arm or none ran before) -> its window -> ... -> idle again. A window is one slot of the pass "energy" whose samples
 * last milliseconds. The sampler's readings go to samples/ as they are; nothing is integrated here.
 * Every decision (length of a sample, pauses, the sensor that the length was held against) is a fact. */
#ifndef IFM_RUN_ENERGY_H
#define IFM_RUN_ENERGY_H

#include "power/power.h"
#include "run/cell.h"

struct ifm_energy_run;
/* Before there is a folder: a meter that the plan names can be used. */
IFM_CHECKED enum ifm_status ifm_energy_ready(const struct ifm_plan *plan, struct ifm_error *error);
/* Sensors of the run: opened before threads are pinned, calibrated once. With no sensor it succeeds and says so in
 * facts. NULL `out` where no cell of the plan has an energy pass. */
IFM_CHECKED enum ifm_status ifm_energy_open(const struct ifm_plan *plan, const struct ifm_device_options *device,
                                            struct ifm_session *session, struct ifm_energy_run **out,
                                            struct ifm_error *error);
/* The energy pass of an open cell; nothing to do where the cell has none, or the record is already complete. */
IFM_CHECKED enum ifm_status ifm_energy_pass(struct ifm_energy_run *energy, struct ifm_cell_run *cell, const char *dir,
                                            bool resume, struct ifm_error *error);
/* Called after each window with the seconds of the pass that are done and left. */
typedef void ifm_energy_progress_fn(void *context, double done_s, double left_s);
void ifm_energy_on_progress(struct ifm_energy_run *energy, ifm_energy_progress_fn *progress, void *context);
/* What the pass of a cell will take, s; 0 where it has none. */
double ifm_energy_expected_s(const struct ifm_cell *cell);
/* What opening the sensors takes once, s; `possible`: there is one that windows can be taken under. For a dry run. */
double ifm_energy_start_s(const struct ifm_plan *plan, const struct ifm_device_options *device, bool *possible);
void ifm_energy_close(struct ifm_energy_run *energy); /* NULL is allowed */

#endif
