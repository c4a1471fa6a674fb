/* What a sensor misses of a power that changes: pure functions.
 *
 * An H200's energy counter and its ring of power samples are sums of samples, one every 20 ms, each the mean of about
 * 15 ms (fitted to square waves of 10 to 130 ms, tests/captures; docs/maintain/method.md), and the five to a tick of
 * the counter do not weigh the same: under waves of 33 ms its power beat by a twelfth of the wave with 3.3 s, the
 * distance from 3.03 periods in 100 ms to three. A load that changes with a period of its own may lock to either: all
 * samples then fall into the same part of the period, and a longer window does not help. A load whose steps start at
 * random distances cannot. Amounts are 95 % half-widths of the mean power of a window.
 */
#ifndef IFM_DERIVE_COVERAGE_H
#define IFM_DERIVE_COVERAGE_H

#include <stdbool.h>

struct ifm_coverage {
    double seconds;  /* length of the window */
    double spread_w; /* standard deviation of power in it, as the finest sensor of the device saw it */
    double swing_w;  /* the largest that it can have been, unseen: ifm_coverage_swing; NaN = not known */
    double period_s; /* of the load: from step to step; 0 = it has none that a sensor could lock to */
    double dither_s; /* standard deviation of that period, drawn at random; 0 = none */
    bool whole;      /* the window begins and ends with the load's own periods: waves that are slower than the sensor
                        samples are in it whole, and leave no error */
};
/* In W. NaN where a load may lock to the sensor and its swing is not known. */
double ifm_coverage_w(const struct ifm_coverage *coverage);
/* The largest standard deviation of a power between `low_w` and `high_w` whose mean is `mean_w`
 * (Bhatia and Davis, 2000: variance <= (high - mean) (mean - low)). */
double ifm_coverage_swing(double mean_w, double low_w, double high_w);

/* A meter of unknown make: each reading may be power at one moment, every `every_s`. */
struct ifm_coverage_points {
    double readings, every_s;
    double period_s, dither_s; /* as above */
    double range_w;            /* from the mean to the lowest or highest power that there can have been */
};
/* Of `readings` that show one level, the rule of three leaves 3 / readings of the time to another one (95 %). Of steps
 * that are long enough to lock to: the whole range where their period and `every_s` keep in step, and no less than what
 * readings at random times leave. In W. */
double ifm_coverage_points_w(const struct ifm_coverage_points *points);
/* Do the readings lock to the load's steps, so that they need not have seen how far its power swings? */
bool ifm_coverage_points_lock(const struct ifm_coverage_points *points);

/* Steps from this length on count as a period of their own: ms sensors average shorter ones. */
#define IFM_COVERAGE_LOCKS_S 0.005

#endif
