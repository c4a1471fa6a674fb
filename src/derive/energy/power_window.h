/* What is printed of one window of power beside its joules. Pure; thread rule: no shared state. */
#ifndef IFM_DERIVE_ENERGY_POWER_WINDOW_H
#define IFM_DERIVE_ENERGY_POWER_WINDOW_H

#include "derive/energy/power.h"

/* Joules of a step, without the pauses between samples, and the half-width of its 95 % interval; NaN when the window is
 * not used, or no step lies in it. */
double ifm_power_step_j(const struct ifm_power_window *window);
double ifm_power_step_random_j(const struct ifm_power_window *window);
/* By how much the witness's mean power is above the primary's, in percent of the latter; NaN without a witness. */
double ifm_power_differ_percent(const struct ifm_power_window *window);
/* Is the window's number one to use? Else ifm_power_why says why not. */
bool ifm_power_is_used(const struct ifm_power_window *window);
const char *ifm_power_why(const struct ifm_power_window *window);

#endif
