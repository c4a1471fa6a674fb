/* The sampler: one thread that reads every sensor at its own pace while something else is measured.
 *
 * Never on the CPU that drives the device or that a worker is pinned to, where there is another. Readings are kept in
 * memory; drain takes them between slots. A sensor that is lost halfway keeps what it gave; a gap longer than three of
 * its periods is counted.
 * Thread rule: start, drain and stop belong to the driving thread. */
#ifndef IFM_POWER_SAMPLER_H
#define IFM_POWER_SAMPLER_H

#include "power/power.h"

struct ifm_power_series {
    struct ifm_power_point *points;
    size_t n;
    size_t gaps, implausible;
    bool lost;
    char lost_reason[200];
};

struct ifm_sampler;
/* `power` is the sampler's until stop. `base`: readings are in ns since then. Averages, instantaneous power and
 * estimates are read `watts_hz` times a second; 0 = at their own pace. Counters and sensors with stamps of their own
 * always keep theirs: all that they have is taken. */
IFM_CHECKED enum ifm_status ifm_sampler_start(struct ifm_power *power, struct ifm_instant base, double watts_hz,
                                              struct ifm_sampler **out, struct ifm_error *error);
/* Take what was read since the last call: one series a sensor, in their order; lives until the next drain or stop. */
const struct ifm_power_series *ifm_sampler_drain(struct ifm_sampler *sampler);
void ifm_sampler_stop(struct ifm_sampler *sampler); /* NULL is allowed */

#endif
