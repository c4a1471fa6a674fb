/* Parts of the analysis: loads that swing, and what a step of load shows of the sensors. */
#ifndef IFM_ENERGY_REPORT_H
#define IFM_ENERGY_REPORT_H

#include "energy/capture.h"

/* Square waves: per period and duty, how far windows of the same work lie from their mean, beside their bars. */
void energy_report_waves(const struct capture *capture);
/* Power against the share of time under load, and its distance from a straight line. */
void energy_report_linear(const struct capture *capture);
/* Refresh period of each sensor, and how late it follows a step of load. */
void energy_report_sensors(const struct capture *capture);

#endif
