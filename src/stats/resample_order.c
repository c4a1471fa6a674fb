/* Bootstrap of order statistics, without resamples: exact for one sample, by Beta draws for two medians. */
#include "stats/resample.h"
#include "stats/resample_draw.h"
#include <math.h>

enum { STREAM_MEDIANS = 0x6d656469, STREAM_MEDIAN = 0x6d656431 };

enum ifm_stat ifm_stats_order_bootstrap(const double *sorted, size_t n, double p, double level,
                                        struct ifm_order_bootstrap *out)
{
    if (n == 0)
        return IFM_STAT_EMPTY;
    if (!(p > 0.0 && p < 1.0) || !(level > 0.0 && level < 1.0))
        return IFM_STAT_DOMAIN;
    if (n < 2)
        return IFM_STAT_TOO_FEW;
    double rank = ceil((double)n * p - 1e-9), half = 0.5 - 0.5 * level; /* 0.29 * 100 is a little more than 29 */
    size_t k = rank < 1.0 ? 1 : (size_t)rank;
    struct ifm_order_bootstrap value = {.value = sorted[k - 1], .rank = k};
    double before = 0.0, mean = 0.0, squares = 0.0;
    bool has_low = false, has_high = false;
    for (size_t i = 1; i <= n; i++) {
        double upto, d = sorted[i - 1] - value.value;
        if (!isfinite(d))
            return IFM_STAT_NOT_FINITE;
        enum ifm_stat stat = ifm_stats_beta((double)i / (double)n, (double)k, (double)(n - k + 1), &upto);
        if (stat != IFM_STAT_OK)
            return stat;
        mean += (upto - before) * d;
        squares += (upto - before) * d * d;
        before = upto;
        if (!has_low && upto >= half) {
            value.interval.low = sorted[i - 1];
            has_low = true;
        }
        if (!has_high && upto >= 1.0 - half) {
            value.interval.high = sorted[i - 1];
            has_high = true;
        }
    }
    double variance = squares - mean * mean;
    if (!isfinite(variance))
        return IFM_STAT_NOT_FINITE;
    if (sorted[0] == sorted[n - 1])
        return IFM_STAT_CONSTANT;
    value.se = variance > 0.0 ? sqrt(variance) : 0.0;
    value.has_interval = k >= IFM_ORDER_NEEDED && n - k + 1 >= IFM_ORDER_NEEDED;
    if (!value.has_interval)
        value.interval = (struct ifm_interval){0.0, 0.0};
    *out = value;
    return IFM_STAT_OK;
}

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

struct medians {
    const double *a, *b;
    size_t n, m;
    double value;
};

static void fill_medians(const void *context, struct ifm_xoshiro *random, double *values, size_t count)
{
    const struct medians *two = context;
    for (size_t i = 0; i < count; i++) {
        double of_a = median_draw(two->a, two->n, two->n, random);
        values[i] = of_a - median_draw(two->b, two->m, two->m, random) - two->value;
    }
}

enum ifm_stat ifm_stats_median_difference(const double *a, size_t n, const double *b, size_t m,
                                          const struct ifm_resample_plan *plan, struct ifm_resampled *out)
{
    double of_a, of_b;
    enum ifm_stat stat = ifm_stats_quantile_sorted(a, n, 0.5, &of_a);
    if (stat == IFM_STAT_OK)
        stat = ifm_stats_quantile_sorted(b, m, 0.5, &of_b);
    if (stat != IFM_STAT_OK)
        return stat;
    if (n < 2 || m < 2)
        return IFM_STAT_TOO_FEW;
    if (!ifm_resample_plan_fits(plan))
        return IFM_STAT_DOMAIN;
    if (a[0] == a[n - 1] && b[0] == b[m - 1])
        return IFM_STAT_CONSTANT;
    struct medians two = {a, b, n, m, of_a - of_b};
    struct ifm_resampled value = {.method = IFM_MEAN_PERCENTILE, .value = two.value};
    ifm_resample_run(plan, STREAM_MEDIANS, fill_medians, &two);
    value.low_level = 0.5 - 0.5 * plan->level;
    value.high_level = 0.5 + 0.5 * plan->level;
    value.se = ifm_resample_sd(plan->scratch, plan->resamples);
    value.interval.low = value.value + ifm_select_quantile(plan->scratch, plan->resamples, value.low_level);
    value.interval.high = value.value + ifm_select_quantile(plan->scratch, plan->resamples, value.high_level);
    if (!isfinite(value.se) || !isfinite(value.interval.low) || !isfinite(value.interval.high))
        return IFM_STAT_NOT_FINITE;
    *out = value;
    return IFM_STAT_OK;
}
