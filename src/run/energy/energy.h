/* The energy pass: windows of each arm while sensors of power are read.
 *
 * The device idles with its context alive, then blocks of windows run, then it idles again. A window is a slot whose
 * samples last milliseconds; before it, the arm runs untimed for measure.pre_roll where another arm or none ran before.
 * Of programs it is one of whole runs, and the device idles before each and without a context of ours.
 * Readings go to samples/ as they are; nothing is integrated here. Every decision (length of a sample, pauses, the
 * sensor that decides whether windows are long enough) is a fact. */
#ifndef IFM_RUN_ENERGY_ENERGY_H
#define IFM_RUN_ENERGY_ENERGY_H

#include "device/device.h"
#include "model/plan.h"

struct ifm_energy_run;
/* Before there is a folder: a meter that the plan names can be used. */
IFM_CHECKED enum ifm_status ifm_energy_ready(const struct ifm_plan *plan, struct ifm_error *error);
/* Sensors of the run: opened before threads are pinned, calibrated once. Succeeds without any sensor: the facts of the
 * pass say so. NULL `out` where no cell of the plan has an energy pass. */
IFM_CHECKED enum ifm_status ifm_energy_open(const struct ifm_plan *plan, const struct ifm_device_options *device,
                                            struct ifm_energy_run **out, struct ifm_error *error);
/* What opening the sensors takes once, s; `possible`: one of them can serve windows. For a dry run. */
double ifm_energy_start_s(const struct ifm_plan *plan, const struct ifm_device_options *device, bool *possible);
void ifm_energy_close(struct ifm_energy_run *energy); /* NULL is allowed */

#endif
