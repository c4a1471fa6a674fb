/* Which interval a mean gets. */
#include "stats/location.h"
#include "stats/resample.h"
#include "stats/resample_draw.h"
#include <math.h>

/* The rule's bounds; docs/maintain/method.md says what each was found by. */
#define MEAN_NEEDED 30       /* no interval below: a tenth of the values may lie elsewhere unseen */
#define EFFECTIVE_LEAST 4    /* nor below so many effective ones */
#define DEPENDENT_NEEDED 100 /* values, and 10 effective ones, before autocorrelation is known well enough */
#define EFFECTIVE_NEEDED 10  /* below 100 values the interval is always widened, because dependence may not show */
#define SMOOTH_NEEDED 400    /* below, percentile and BCa intervals are too short */
#define SKEW_SEEN 50         /* values: below, the sample's skewness tells little, since it is bounded by sqrt(n) */
#define SKEW_MOST 0.5        /* of sqrt(n): about four of the rarest values that carry the mean were seen */
#define SKEW_SLIGHT 0.05  /* of sqrt(n): the t interval's ends are wrong by less than this share of a standard error */
#define ONE_SIDED_5 1.645 /* normal quantile: autocorrelation is visible above this over sqrt(n) */

static double lag1_of(const struct ifm_mean_facts *facts)
{
    double n = (double)facts->n;
    return (n - facts->effective) / (n + facts->effective);
}

bool ifm_stats_is_dependent(const struct ifm_mean_facts *facts)
{
    return facts->n > 0 && lag1_of(facts) > ONE_SIDED_5 / sqrt((double)facts->n);
}

static enum ifm_stat at_least(double has, size_t needed, size_t *needs)
{
    if (has >= (double)needed)
        return IFM_STAT_OK;
    if (needs != NULL)
        *needs = needed;
    return IFM_STAT_TOO_FEW;
}

static enum ifm_stat admits_dependent(enum ifm_mean_method method, const struct ifm_mean_facts *facts, size_t *needs)
{
    if (method != IFM_MEAN_T_EFFECTIVE)
        return IFM_STAT_DOMAIN;
    double worth = facts->effective / (double)facts->n, values = fmax(DEPENDENT_NEEDED, EFFECTIVE_NEEDED / worth);
    return at_least((double)facts->n, (size_t)ceil(values - 1e-9), needs);
}

/* Values that are known to be independent: in a series of 100, dependence would show. */
static enum ifm_stat admits_independent(enum ifm_mean_method method, double n, size_t *needs)
{
    switch (method) {
    case IFM_MEAN_BOOTSTRAP_T:
        return at_least(n, DEPENDENT_NEEDED, needs);
    case IFM_MEAN_T:
    case IFM_MEAN_PERCENTILE:
    case IFM_MEAN_BCA:
        return at_least(n, SMOOTH_NEEDED, needs);
    default:
        return IFM_STAT_DOMAIN;
    }
}

enum ifm_stat ifm_stats_mean_admits(enum ifm_mean_method method, const struct ifm_mean_facts *facts, size_t *needs)
{
    double n = (double)facts->n;
    if (facts->n == 0)
        return IFM_STAT_EMPTY;
    if (!isfinite(facts->skewness) || !(facts->effective >= 1.0 && facts->effective <= n))
        return IFM_STAT_DOMAIN;
    IFM_STAT_TRY(at_least(n, MEAN_NEEDED, needs));
    /* the number of values that would suffice at this ratio of effective to actual values */
    IFM_STAT_TRY(at_least(n, (size_t)ceil(EFFECTIVE_LEAST * n / facts->effective - 1e-9), needs));
    double share = fabs(facts->skewness) / sqrt(facts->effective);
    if (facts->effective >= SKEW_SEEN && share > SKEW_MOST) {
        double enough = facts->skewness / SKEW_MOST * (facts->skewness / SKEW_MOST);
        return at_least(facts->effective, (size_t)ceil(fmin(enough, 1e15)), needs);
    }
    if (method == IFM_MEAN_WIDENED)
        return n < DEPENDENT_NEEDED ? IFM_STAT_OK : IFM_STAT_DOMAIN;
    return ifm_stats_is_dependent(facts) ? admits_dependent(method, facts, needs)
                                         : admits_independent(method, n, needs);
}

enum ifm_mean_method ifm_stats_choose_mean_interval(const struct ifm_mean_facts *facts, size_t *needs)
{
    if (facts->n == 0 || !(facts->effective >= 1.0)) {
        if (needs != NULL)
            *needs = MEAN_NEEDED;
        return IFM_MEAN_NONE;
    }
    double n = (double)facts->n, share = fabs(facts->skewness) / sqrt(n);
    enum ifm_mean_method method = IFM_MEAN_BOOTSTRAP_T;
    if (n < DEPENDENT_NEEDED)
        method = IFM_MEAN_WIDENED;
    else if (ifm_stats_is_dependent(facts))
        method = IFM_MEAN_T_EFFECTIVE;
    else if (n >= SMOOTH_NEEDED)
        method = share < SKEW_SLIGHT ? IFM_MEAN_T : IFM_MEAN_BCA;
    return ifm_stats_mean_admits(method, facts, needs) == IFM_STAT_OK ? method : IFM_MEAN_NONE;
}

/* Bootstrap-t, each half times the root of values over effective ones. */
static enum ifm_stat widened(const double *x, const struct ifm_mean_facts *facts, const struct ifm_resample_plan *plan,
                             struct ifm_resampled *out)
{
    double effective;
    struct ifm_resampled value;
    IFM_STAT_TRY(ifm_stats_bootstrap_mean(x, facts->n, IFM_MEAN_BOOTSTRAP_T, plan, &value));
    IFM_STAT_TRY(ifm_stats_effective_guarded(facts->n, lag1_of(facts), &effective));
    double factor = sqrt((double)facts->n / effective);
    value.method = IFM_MEAN_WIDENED;
    value.se *= factor;
    value.interval.low = value.value + factor * (value.interval.low - value.value);
    value.interval.high = value.value + factor * (value.interval.high - value.value);
    if (!isfinite(value.interval.low) || !isfinite(value.interval.high))
        return IFM_STAT_NOT_FINITE;
    *out = value;
    return IFM_STAT_OK;
}

static enum ifm_stat student(const struct ifm_moments *m, enum ifm_mean_method method, double effective, double level,
                             struct ifm_resampled *out)
{
    struct ifm_resampled value = {.method = method, .value = m->mean, .se = m->sd / sqrt(effective)};
    ifm_resample_levels(level, &value);
    IFM_STAT_TRY(ifm_stats_t_interval(m->mean, m->sd, effective, level, &value.interval));
    *out = value;
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_mean_by(enum ifm_mean_method method, const double *x, const struct ifm_mean_facts *facts,
                                const struct ifm_resample_plan *plan, struct ifm_resampled *out)
{
    struct ifm_moments m;
    IFM_STAT_TRY(ifm_stats_moments(x, facts->n, &m));
    switch (method) {
    case IFM_MEAN_T:
        return student(&m, method, (double)facts->n, plan->level, out);
    case IFM_MEAN_T_EFFECTIVE:
        return student(&m, method, facts->effective, plan->level, out);
    case IFM_MEAN_WIDENED:
        return widened(x, facts, plan, out);
    default:
        return ifm_stats_bootstrap_mean(x, facts->n, method, plan, out);
    }
}

enum ifm_stat ifm_stats_mean_interval(const double *x, size_t n, double effective, const struct ifm_resample_plan *plan,
                                      struct ifm_resampled *out, size_t *needs)
{
    struct ifm_mean_facts facts = {.n = n, .effective = effective};
    if (needs != NULL)
        *needs = MEAN_NEEDED;
    IFM_STAT_TRY(ifm_stats_skewness(x, n, &facts.skewness));
    enum ifm_mean_method method = ifm_stats_choose_mean_interval(&facts, needs);
    return method == IFM_MEAN_NONE ? IFM_STAT_TOO_FEW : ifm_stats_mean_by(method, x, &facts, plan, out);
}
