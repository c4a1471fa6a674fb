/* The time axis of a long series: warm-up, change points, and whether it becomes steady.
 *
 * Pure; the rules of stats.h hold. A series is in time order, equally spaced. */
#ifndef IFM_STATS_STEADY_H
#define IFM_STATS_STEADY_H

#include "stats/stats.h"

/* ---- warm-up ---- */

/* MSER-5 (White 1997; White, Cobb and Spratt 2000): batches of 5 values, cut after the d that makes
 * sum over i > d of (y_i - mean_d)^2 / (k - d)^2 least, leaving at least a tenth of the k batches, and ten. `cut` is in
 * values. `reached` is false where the cut lies beyond half of the series: it holds no steady part. O(n); n >= 100. */
struct ifm_warmup_cut {
    size_t cut;
    bool reached;
};
IFM_STATS_CHECKED enum ifm_stat ifm_stats_mser5(const double *x, size_t n, struct ifm_warmup_cut *out);

/* ---- change points ---- */

/* Change points by PELT (Killick, Fearnhead and Eckley 2012): least sum over segments of length ln(variance), a change
 * of mean or of variance, plus a penalty a change.
 * 1. Local outliers are masked: in windows of 200, what lies further from the median than 3 (P90 - P10) becomes the
 *    median (Barrett et al. 2017). A large change within 20 values of a window's edge so moves to that edge.
 * 2. Values become normal scores of their ranks, so that skew and outliers make no change; tied values count with the
 *    mean and the mean square of the scores that they share.
 * 3. Penalty = IFM_CHANGE_PENALTY ln(n) max(dependence, (1 + r) / (1 - r)), r = lag-1 autocorrelation from squared
 *    differences at lags 2 and 1, which a step does not touch, between 0 and 0.95. `dependence` >= 1 is what the caller
 *    knows of longer memory; 1 = nothing.
 * 4. A segment has at least IFM_CHANGE_SEGMENT values. Above 500 values changes are sought at every ceil(n / 500)-th,
 *    then moved to the best place next to it: O(n log n) and at most 125,000 costs.
 * Simulated: 2,000 independent normal, lognormal and AR(1) 0.3 series each of n = 200 and 1,000 show a change in at
 * most 5 %. at[k] = values before the change, ascending; at most `limit` are stored, `count` tells all. All equal:
 * IFM_STAT_CONSTANT. n >= 2 IFM_CHANGE_SEGMENT; `scratch` holds 6 (n + 1). */
#define IFM_CHANGE_PENALTY 3.0
#define IFM_CHANGE_SEGMENT 10
struct ifm_changes {
    size_t count, masked;
    double penalty;
};
IFM_STATS_CHECKED enum ifm_stat ifm_stats_changes(const double *x, size_t n, double dependence, double *scratch,
                                                  size_t *at, size_t limit, struct ifm_changes *out);

/* What the segments between change points mean (after Barrett et al. 2017, with medians for means). The last segment
 * and those before it whose median is within `margin` of it (relative) are the steady part, which starts at `from`. */
enum ifm_steadiness {
    IFM_STEADY_FLAT = 0,  /* no change of level */
    IFM_STEADY_WARM_UP,   /* slower before: every other segment is above the steady part */
    IFM_STEADY_SLOW_DOWN, /* some segment before was faster */
    IFM_STEADY_NONE,      /* the steady part is the last quarter of the series, or less */
};
struct ifm_steady {
    enum ifm_steadiness class;
    size_t from;
};
const char *ifm_steadiness_name(enum ifm_steadiness class); /* "flat", "warm-up", "slow-down", "no steady state" */
/* `at` holds the `count` change points. margin >= 0; n >= 1; `scratch` holds 2 n. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_steadiness(const double *x, size_t n, const size_t *at, size_t count,
                                                     double margin, double *scratch, struct ifm_steady *out);

#endif
