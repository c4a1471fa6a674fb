/* Effect sizes with intervals: descriptive numbers, never a gate alone.
 *
 * Very repeatable timings make a standardised difference explode (g = 40 for a change of 0.3 %), so the percent change
 * with its interval comes first. Pure; the rules of stats.h hold. */
#ifndef IFM_STATS_EFFECT_H
#define IFM_STATS_EFFECT_H

#include "stats/stats.h"

struct ifm_effect {
    double value, se; /* se of the value, by the formula named at the function */
    struct ifm_interval interval;
};

/* Cliff's delta of `a` (n values) against `b` (m values): P(a > b) - P(a < b), between -1 and 1; positive when `a` is
 * larger. Unbiased variance (Cliff 1993), asymmetric normal interval (Feng and Cliff 2004, eq. 9); at |delta| = 1
 * (nm - 1) / (nm) stands for it inside the variance. n, m >= 2. O((n + m) log(n + m)); `scratch` holds 3 (n + m). */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_cliff(const double *a, size_t n, const double *b, size_t m, double level,
                                                double *scratch, struct ifm_effect *out);

/* Hedges' g of `a` against `b`: (mean a - mean b) / pooled sd, times the exact J = G(df/2) / (sqrt(df/2) G((df-1)/2));
 * interval by inverting the noncentral t distribution (Hedges 1981; Cumming and Finch 2001). n, m >= 2. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_hedges(const double *a, size_t n, const double *b, size_t m, double level,
                                                 struct ifm_effect *out);

#endif
