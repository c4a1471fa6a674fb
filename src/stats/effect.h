/* Effect sizes with intervals: descriptive numbers, not used as a gate on their own.
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
 * larger. Unbiased variance (Cliff 1993) with the floor (1 - delta^2) / (nm - 1); asymmetric interval (Feng and Cliff
 * 2004, eq. 9) with Student's t of n + m - 2 degrees in place of the normal quantile, stretched to hold the value. At
 * |delta| = 1, (nm - 1) / (nm) stands for it inside the variance. n, m >= 2; equal values everywhere give 0 with its
 * interval. In 2,000 simulated data sets each of normal, lognormal and small (6 to 10 values) pairs it covers the true
 * delta in 93 % or more. O((n + m) log(n + m)); `scratch` holds 3 (n + m). */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_cliff(const double *a, size_t n, const double *b, size_t m, double level,
                                                double *scratch, struct ifm_effect *out);

/* Hedges' g of `a` against `b`: (mean a - mean b) / pooled sd, times the exact J = G(df/2) / (sqrt(df/2) G((df-1)/2)),
 * df = n + m - 2 (from df = 65,536 on 1 - 3 / (4 df - 1), whose error is below 1e-10); interval by inverting the
 * noncentral t distribution (Hedges 1981; Cumming and Finch 2001). se = J sqrt((n + m) / (nm) + d^2 / (2 (n + m)))
 * (Borenstein et al. 2009, eq. 4.20 and 4.24). The interval assumes normal values of one variance: on lognormal data it
 * covers less than it says. n, m >= 2; IFM_STAT_CONSTANT where the pooled sd is 0; IFM_STAT_DOMAIN where t exceeds
 * IFM_NONCENTRAL_LIMIT. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_hedges(const double *a, size_t n, const double *b, size_t m, double level,
                                                 struct ifm_effect *out);

/* P(T <= t) for the noncentral t distribution: Lenth 1989 (AS 243), summed from the largest Poisson weight outwards
 * (Benton and Krishnamoorthy 2003), which keeps its digits where e^(-delta^2 / 2) underflows. Absolute error below
 * 1e-11 for |delta| <= 40, below 1e-6 at the limit. df > 0; |t| and |delta| up to twice IFM_NONCENTRAL_LIMIT. */
#define IFM_NONCENTRAL_LIMIT 10000.0
IFM_STATS_CHECKED enum ifm_stat ifm_stats_noncentral_t_cdf(double t, double df, double delta, double *out);
/* The noncentrality at which P(T <= t) = p, 0 < p < 1 and |t| <= IFM_NONCENTRAL_LIMIT: one limit of an interval. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_noncentral_t_delta(double t, double df, double p, double *out);

#endif
