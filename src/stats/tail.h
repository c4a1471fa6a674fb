/* Whether an interval of a mean may be given at all: what the tail of the values can hide from it.
 *
 * A mean is carried by its rare large values, and no interval made of values that hold none of them knows of them.
 * Three questions are asked, and the answer that takes most values to change is given:
 * 1. Unseen. Of n independent runs, none is slow with probability (1 - p)^n; the rule of three (Hanley and
 *    Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249, 1983) puts p below 3 / n with 95 %. A
 *    slow run in IFM_TAIL_ONE_IN must have been seen: below 3 times as many runs there is no interval. No look at the
 *    values replaces this: before the first slow run they are those of a program that has none.
 * 2. Carried by one. R = max d^2 / sum d^2, d the deviations from the mean, falls to 0 only where the variance exists
 *    (ratio of maximum and sum: Embrechts, Klueppelberg and Mikosch, "Modelling Extremal Events", 1997, section 6.2.6).
 *    Refused above IFM_TAIL_LARGEST.
 * 3. Skewed. Cochran ("Sampling Techniques", 3rd ed. 1977, section 2.15) asks for n > 25 G^2, G the skewness m3 /
 *    m2^1.5 of the population, so that a 95 % interval misses in 6 % or less. A sample of a heavy tail shows less
 *    skewness than its population, and those that show least are the ones admitted; so the factor is 1 /
 *    IFM_TAIL_SKEWNESS^2 = 44 here, found by tests/unit/test_stats_tail.c, whose table stands in
 *    docs/maintain/method.md.
 * Of fewer values than about 45 the second and third limit are those that normal ones pass in 1 % by chance: means of
 * few blocks show only what is plain.
 * A kurtosis is not asked for: R bounds it, m4 / m2^2 <= R n.
 * Pure; the rules of stats.h hold. */
#ifndef IFM_STATS_TAIL_H
#define IFM_STATS_TAIL_H

#include "stats/resample.h"

#define IFM_TAIL_ONE_IN 50
#define IFM_TAIL_RUNS (3 * IFM_TAIL_ONE_IN)
#define IFM_TAIL_SLOW 10.0 /* what an unseen slow run may add to its time, in times of the others */
#define IFM_TAIL_LARGEST 0.25
#define IFM_TAIL_SKEWNESS 0.15 /* of the square root of the independent values */

enum ifm_tail {
    IFM_TAIL_HOLDS,   /* an interval of the mean may be given */
    IFM_TAIL_UNSEEN,  /* too few runs to have seen a slow one in IFM_TAIL_ONE_IN */
    IFM_TAIL_CARRIED, /* one value carries the spread */
    IFM_TAIL_SKEWED,  /* few values carry the mean */
};
const char *ifm_tail_reason(enum ifm_tail tail); /* "they are skewed"; "" where it holds */

/* The mean of `n` values that are worth `effective` independent ones, as a mean of `runs` independent runs: of single
 * runs both are the same; of means over slots or blocks, `runs` counts what the means are of. `needs` (may be NULL) is
 * how many such values it would take, n where the tail holds. All equal: nothing is carried. DOMAIN: effective outside
 * 1 .. n, or runs below effective. n >= 3. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_tail(const double *x, size_t n, double effective, double runs,
                                               enum ifm_tail *out, size_t *needs);

/* By how much, as a logarithm, the mean of so many runs may lie below the truth for slow ones that are not among them:
 * by the rule of three a share of 3 / n, each longer by IFM_TAIL_SLOW times the others. */
double ifm_stats_tail_unseen(double runs);

/* The independent runs that `n` single ones are: all of them, unless they depend on each other (lag 1, one-sided 1 %).
 */
double ifm_stats_independent_runs(size_t n, double effective);

/* ifm_stats_mean_interval where the tail holds, else IFM_STAT_TOO_FEW with `tail` and `needs` set; TOO_FEW with `tail`
 * HOLDS is the refusal of that function. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_tail_mean(const double *x, size_t n, double effective, double runs,
                                                    const struct ifm_resample_plan *plan, struct ifm_resampled *out,
                                                    enum ifm_tail *tail, size_t *needs);

#endif
