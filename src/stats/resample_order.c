/* Bootstrap of a median, without resamples: by Beta draws. */
#include "stats/resample.h"
#include "stats/resample_draw.h"
#include <math.h>

enum { STREAM_MEDIAN = 0x6d656431 };

/* Standard normal, Marsaglia's polar method, one of its pair. */
static double normal(struct ifm_xoshiro *random)
{
    double u, v, s;
    do {
        u = 2.0 * ifm_xoshiro_uniform(random) - 1.0;
        v = 2.0 * ifm_xoshiro_uniform(random) - 1.0;
        s = u * u + v * v;
    } while (!(s < 1.0) || s == 0.0);
    return u * sqrt(-2.0 * log(s) / s);
}

/* Gamma(shape), shape >= 1 (Marsaglia and Tsang 2000). */
static double gamma_draw(struct ifm_xoshiro *random, double shape)
{
    double d = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        double z = normal(random), v = 1.0 + c * z;
        if (v <= 0.0)
            continue;
        v = v * v * v;
        if (log(ifm_xoshiro_uniform(random)) < 0.5 * z * z + d * (1.0 - v + log(v)))
            return d * v;
    }
}

static double value_at(const double *sorted, size_t n, double u)
{
    size_t i = (size_t)ceil(u * (double)n);
    return sorted[i < 1 ? 0 : i > n ? n - 1 : i - 1];
}

/* The median of `m` draws from `sorted`. */
static double median_draw(const double *sorted, size_t n, size_t m, struct ifm_xoshiro *random)
{
    size_t k = (m + 1) / 2;
    double a = gamma_draw(random, (double)k), b = gamma_draw(random, (double)(m - k + 1)), u = a / (a + b);
    double first = value_at(sorted, n, u);
    if (m % 2 == 1)
        return first;
    double next = 1.0 - (1.0 - u) * pow(ifm_xoshiro_uniform(random), 1.0 / (double)(m - k));
    return 0.5 * (first + value_at(sorted, n, next));
}

struct one_median {
    const double *sorted;
    size_t n, m;
};

static void fill_median(const void *context, struct ifm_xoshiro *random, double *values, size_t count)
{
    const struct one_median *one = context;
    for (size_t i = 0; i < count; i++)
        values[i] = median_draw(one->sorted, one->n, one->m, random);
}

enum ifm_stat ifm_stats_bootstrap_median(const double *sorted, size_t n, double effective,
                                         const struct ifm_resample_plan *plan, struct ifm_resampled *out)
{
    double median;
    enum ifm_stat stat = ifm_stats_quantile_sorted(sorted, n, 0.5, &median);
    if (stat != IFM_STAT_OK)
        return stat;
    if (!(effective > 0.0) || !ifm_resample_plan_fits(plan))
        return IFM_STAT_DOMAIN;
    size_t m = effective < (double)n ? (size_t)effective : n;
    if (m < 2 * IFM_ORDER_NEEDED - 1)
        return IFM_STAT_TOO_FEW;
    if (sorted[0] == sorted[n - 1])
        return IFM_STAT_CONSTANT;
    struct one_median one = {sorted, n, m};
    struct ifm_resampled value = {.method = IFM_MEAN_PERCENTILE, .value = median};
    ifm_resample_run(plan, STREAM_MEDIAN, fill_median, &one);
    value.low_level = 0.5 - 0.5 * plan->level;
    value.high_level = 0.5 + 0.5 * plan->level;
    value.se = ifm_resample_sd(plan->scratch, plan->resamples);
    value.interval.low = ifm_select_quantile(plan->scratch, plan->resamples, value.low_level);
    value.interval.high = ifm_select_quantile(plan->scratch, plan->resamples, value.high_level);
    if (!isfinite(value.se) || !isfinite(value.interval.low) || !isfinite(value.interval.high))
        return IFM_STAT_NOT_FINITE;
    *out = value;
    return IFM_STAT_OK;
}
