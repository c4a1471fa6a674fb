/* What the tail of the values can hide from a mean's interval. */
#include "stats/tail.h"
#include "stats/location.h"
#include <math.h>

const char *ifm_tail_reason(enum ifm_tail tail)
{
    switch (tail) {
    case IFM_TAIL_UNSEEN:
        return "a slow one in 50 could be unseen";
    case IFM_TAIL_CARRIED:
        return "one slow run makes most of the spread";
    case IFM_TAIL_SKEWED:
        return "they are skewed";
    case IFM_TAIL_HOLDS:
        break;
    }
    return "";
}

/* max d^2 / sum d^2; 0 where all are equal. */
static enum ifm_stat largest_of(const double *x, size_t n, double *out)
{
    struct ifm_moments m;
    IFM_STAT_TRY(ifm_stats_moments(x, n, &m));
    double most = 0.0;
    for (size_t i = 0; i < n && m.sd > 0.0; i++)
        most = fmax(most, fabs(x[i] - m.mean) / m.sd);
    *out = most * most / (double)(n - 1);
    return IFM_STAT_OK;
}

/* What chance alone shows of values without a tail, in 1 %: of means of few blocks the fixed limits say nothing. */
#define CHANCE 0.01

/* The largest share of one normal value (Grubbs, "Procedures for detecting outlying observations in samples",
 * Technometrics 11, 1969): G^2 / (n - 1), t at 1 - CHANCE / (2 n) with n - 2 degrees. */
static double largest_by_chance(double n)
{
    double t;
    if (ifm_stats_t_quantile(1.0 - 0.5 * CHANCE / n, n - 2.0, &t) != IFM_STAT_OK)
        return 1.0;
    return (n - 1.0) / n * t * t / (n - 2.0 + t * t);
}

/* 2.576 standard errors of the skewness of normal values (Fisher 1930). */
static double skewness_by_chance(double n)
{
    return 2.576 * sqrt(6.0 * (n - 2.0) / ((n + 1.0) * (n + 3.0)));
}

double ifm_stats_tail_unseen(double runs)
{
    return log1p(IFM_TAIL_SLOW * fmin(1.0, 3.0 / fmax(runs, 1.0)));
}

double ifm_stats_independent_runs(size_t n, double effective)
{
    double all = (double)n, lag1 = (all - effective) / (all + effective);
    return lag1 > 2.326 / sqrt(all) ? effective : all; /* one-sided 1 % */
}

/* The fault that takes the most values to mend stands. */
static void find(enum ifm_tail tail, double enough, enum ifm_tail *out, double *most)
{
    if (enough <= *most)
        return;
    *out = tail;
    *most = enough;
}

enum ifm_stat ifm_stats_tail(const double *x, size_t n, double effective, double runs, enum ifm_tail *out,
                             size_t *needs)
{
    double all = (double)n, largest, skewness = 0.0, most = all;
    enum ifm_tail worst = IFM_TAIL_HOLDS;
    if (n == 0)
        return IFM_STAT_EMPTY;
    if (!(effective >= 1.0 && effective <= all && runs >= effective && isfinite(runs)))
        return IFM_STAT_DOMAIN;
    IFM_STAT_TRY(largest_of(x, n, &largest));
    enum ifm_stat stat = ifm_stats_skewness(x, n, &skewness);
    if (stat != IFM_STAT_OK && stat != IFM_STAT_CONSTANT)
        return stat;
    double bound = skewness / IFM_TAIL_SKEWNESS;
    find(IFM_TAIL_UNSEEN, all * IFM_TAIL_RUNS / runs, &worst, &most);
    if (largest > largest_by_chance(all))
        find(IFM_TAIL_CARRIED, all * largest / IFM_TAIL_LARGEST, &worst, &most);
    if (fabs(skewness) > skewness_by_chance(fmax(effective, 3.0))) /* few independent values are skewed by chance */
        find(IFM_TAIL_SKEWED, all * bound * bound / effective, &worst, &most);
    *out = worst;
    if (needs != NULL)
        *needs = (size_t)ceil(fmin(most, 1e15) - 1e-9);
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_tail_mean(const double *x, size_t n, double effective, double runs,
                                  const struct ifm_resample_plan *plan, struct ifm_resampled *out, enum ifm_tail *tail,
                                  size_t *needs)
{
    *tail = IFM_TAIL_HOLDS;
    IFM_STAT_TRY(ifm_stats_tail(x, n, effective, runs, tail, needs));
    if (*tail != IFM_TAIL_HOLDS)
        return IFM_STAT_TOO_FEW;
    return ifm_stats_mean_interval(x, n, effective, plan, out, needs);
}
