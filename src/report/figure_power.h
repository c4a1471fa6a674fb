/* The tables under the figure of power: what each window took, and which sensors said so. Formats only. */
#ifndef IFM_REPORT_FIGURE_POWER_H
#define IFM_REPORT_FIGURE_POWER_H

#include "derive/energy/power_run.h"
#include "report/figure.h"

struct ifm_grid ifm_power_window_table(const struct ifm_document *doc, const struct ifm_power_shown *shown);
struct ifm_grid ifm_power_sensor_table(const struct ifm_document *doc, const struct ifm_power_shown *shown);
/* Stretches of the pass, one after another: idle, pre-roll, window. */
struct ifm_grid ifm_power_phase_table(const struct ifm_document *doc, const struct ifm_power_shown *shown);
/* "f16" of an arm's index; "" for none. */
const char *ifm_power_arm_name(const struct ifm_power_shown *shown, int arm);

#endif
