/* The tables under the figure of power: what each window took, which sensors said so, and what ran when. Formats only.
 */
#ifndef IFM_REPORT_FIGURE_POWER_H
#define IFM_REPORT_FIGURE_POWER_H

#include "derive/energy/power_run.h"
#include "report/figure.h"

void ifm_power_tables(const struct ifm_chart *chart, const struct ifm_power_shown *shown, struct ifm_figure *out);
/* The arm of an index; NULL for none. */
const struct ifm_arm *ifm_power_arm(const struct ifm_power_shown *shown, int arm);

#endif
