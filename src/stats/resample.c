/* Bootstrap intervals of the mean. */
#include "stats/resample.h"
#include "stats/resample_draw.h"
#include <math.h>

/* Stream of the generator: one for each use, so that no two share their numbers. */
enum { STREAM_MEAN = 0x6d65616e };

const char *ifm_mean_method_name(enum ifm_mean_method method)
{
    switch (method) {
    case IFM_MEAN_NONE:
        return "none";
    case IFM_MEAN_T:
        return "Student's t";
    case IFM_MEAN_T_EFFECTIVE:
        return "Student's t at the effective size";
    case IFM_MEAN_PERCENTILE:
        return "percentile bootstrap";
    case IFM_MEAN_BCA:
        return "BCa bootstrap";
    case IFM_MEAN_BOOTSTRAP_T:
        return "bootstrap-t";
    case IFM_MEAN_WIDENED:
        return "bootstrap-t, widened";
    }
    return "unknown";
}

/* A table of one or two columns and how to draw from it. */
struct resample_source {
    const double *table;
    struct ifm_draw draw;
    double value;
};

static void fill_means(const void *context, struct ifm_xoshiro *random, double *values, size_t count)
{
    const struct resample_source *source = context;
    size_t n = (size_t)source->draw.n;
    for (size_t b = 0; b < count; b++)
        values[b] = ifm_draw_sum(source->table, &source->draw, n, random) / (double)n;
}

/* t* of each resample; a resample without spread gives NaN, which the caller removes. Equal values leave a rounding
 * residue far below 1e-13 of their square. */
static void fill_t(const void *context, struct ifm_xoshiro *random, double *values, size_t count)
{
    const struct resample_source *source = context;
    double n = (double)source->draw.n, sum[2];
    for (size_t b = 0; b < count; b++) {
        ifm_draw_sum2(source->table, &source->draw, (size_t)source->draw.n, random, sum);
        double squares = sum[1] - sum[0] * sum[0] / n;
        values[b] = squares > 1e-13 * sum[1] ? sum[0] / n / sqrt(squares / (n - 1.0) / n) : (double)NAN;
    }
}

/* The standard normal distribution function. */
static double normal_cdf(double z)
{
    return 0.5 * erfc(-z * 0.70710678118654752440);
}

/* BCa levels; false where they cannot be formed. The resampled values lie around 0, where the statistic is. */
static bool bca_levels(const struct ifm_resample_plan *plan, struct ifm_resampled *value)
{
    size_t below = 0, equal = 0;
    for (size_t b = 0; b < plan->resamples; b++) {
        below += plan->scratch[b] < 0.0;
        equal += plan->scratch[b] == 0.0;
    }
    double B = (double)plan->resamples, rank = (double)below + 0.5 * (double)equal;
    value->clamped = rank < 0.5 || rank > B - 0.5;
    rank = fmin(fmax(rank, 0.5), B - 0.5);
    double tail, level[2];
    if (ifm_stats_normal_quantile(rank / B, &value->z0) != IFM_STAT_OK ||
        ifm_stats_normal_quantile(0.5 + 0.5 * plan->level, &tail) != IFM_STAT_OK)
        return false;
    for (int end = 0; end < 2; end++) {
        double z = value->z0 + (end == 0 ? -tail : tail), shrink = 1.0 - value->acceleration * z;
        if (!(shrink > 0.0))
            return false;
        level[end] = normal_cdf(value->z0 + z / shrink);
    }
    value->low_level = level[0];
    value->high_level = level[1];
    return true;
}

/* Interval from the resampled deviations in plan->scratch. */
static enum ifm_stat from_levels(const struct ifm_resample_plan *plan, struct ifm_resampled *value)
{
    value->se = ifm_resample_sd(plan->scratch, plan->resamples);
    value->interval.low = value->value + ifm_select_quantile(plan->scratch, plan->resamples, value->low_level);
    value->interval.high = value->value + ifm_select_quantile(plan->scratch, plan->resamples, value->high_level);
    return isfinite(value->se) && isfinite(value->interval.low) && isfinite(value->interval.high) ? IFM_STAT_OK
                                                                                                  : IFM_STAT_NOT_FINITE;
}

static enum ifm_stat percentile_or_bca(const struct ifm_resample_plan *plan, struct ifm_resampled *value)
{
    if (value->method != IFM_MEAN_BCA || !bca_levels(plan, value)) {
        value->method = IFM_MEAN_PERCENTILE;
        value->low_level = 0.5 - 0.5 * plan->level;
        value->high_level = 0.5 + 0.5 * plan->level;
    }
    return from_levels(plan, value);
}

static enum ifm_stat studentised(const struct ifm_resample_plan *plan, double se, struct ifm_resampled *value)
{
    size_t kept = 0;
    for (size_t b = 0; b < plan->resamples; b++)
        if (!isnan(plan->scratch[b]))
            plan->scratch[kept++] = plan->scratch[b];
    value->discarded = plan->resamples - kept;
    if (100 * value->discarded > plan->resamples)
        return IFM_STAT_TOO_FEW;
    value->se = se;
    value->low_level = 0.5 - 0.5 * plan->level;
    value->high_level = 0.5 + 0.5 * plan->level;
    value->interval.high = value->value - ifm_select_quantile(plan->scratch, kept, value->low_level) * se;
    value->interval.low = value->value - ifm_select_quantile(plan->scratch, kept, value->high_level) * se;
    return isfinite(value->interval.low) && isfinite(value->interval.high) ? IFM_STAT_OK : IFM_STAT_NOT_FINITE;
}

enum ifm_stat ifm_stats_bootstrap_mean(const double *x, size_t n, enum ifm_mean_method method,
                                       const struct ifm_resample_plan *plan, struct ifm_resampled *out)
{
    struct ifm_moments m;
    enum ifm_stat stat = ifm_stats_moments(x, n, &m);
    if (stat != IFM_STAT_OK)
        return stat;
    bool t = method == IFM_MEAN_BOOTSTRAP_T;
    if (!ifm_resample_plan_fits(plan) || n >= UINT32_MAX ||
        (!t && method != IFM_MEAN_PERCENTILE && method != IFM_MEAN_BCA))
        return IFM_STAT_DOMAIN;
    if (m.sd == 0.0)
        return IFM_STAT_CONSTANT;
    double *table = plan->scratch + plan->resamples, squares = 0.0, cubes = 0.0;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - m.mean;
        squares += (d / m.sd) * (d / m.sd);
        cubes += (d / m.sd) * (d / m.sd) * (d / m.sd);
        if (t) {
            table[2 * i] = d / m.sd; /* in units of sd: no square over- or underflows */
            table[2 * i + 1] = (d / m.sd) * (d / m.sd);
        } else {
            table[i] = d;
        }
    }
    struct resample_source source = {table, ifm_draw_of(n), m.mean};
    struct ifm_resampled value = {.method = method, .value = m.mean};
    value.acceleration = method == IFM_MEAN_BCA ? cubes / (6.0 * squares * sqrt(squares)) : 0.0;
    ifm_resample_run(plan, STREAM_MEAN, t ? fill_t : fill_means, &source);
    stat = t ? studentised(plan, m.sd / sqrt((double)n), &value) : percentile_or_bca(plan, &value);
    if (stat == IFM_STAT_OK)
        *out = value;
    return stat;
}
