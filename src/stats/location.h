/* Robust location: trimmed means with their intervals, and skewness. Pure; the rules of stats.h hold. */
#ifndef IFM_STATS_LOCATION_H
#define IFM_STATS_LOCATION_H

#include "stats/stats.h"

/* Trimmed mean of an ascending array: g = floor(trim n) values go at each end, h = n - 2 g are kept. Its standard error
 * is that of the winsorised values, sw / ((1 - 2 trim) sqrt(n)), its interval Student's t with h - 1 degrees of freedom
 * (Tukey and McLaughlin 1963; Yuen 1974). 0 <= trim < 0.5, h >= 2. */
struct ifm_trimmed {
    double mean, se, df;
    size_t kept;
    struct ifm_interval interval;
};
IFM_STATS_CHECKED enum ifm_stat ifm_stats_trimmed_mean(const double *sorted, size_t n, double trim, double level,
                                                       struct ifm_trimmed *out);

/* The same for a series worth `effective` independent values: both halves of the interval times sqrt(n / e), e from
 * ifm_stats_effective_guarded. IFM_STAT_TOO_FEW below IFM_TRIMMED_SERIES values: of fewer, dependence hides. */
#define IFM_TRIMMED_SERIES 30
IFM_STATS_CHECKED enum ifm_stat ifm_stats_trimmed_series(const double *sorted, size_t n, double effective, double trim,
                                                         double level, struct ifm_trimmed *out);

/* Moment skewness m3 / m2^1.5, without a correction for small n; n >= 3. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_skewness(const double *x, size_t n, double *out);

#endif
