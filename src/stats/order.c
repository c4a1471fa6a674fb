/* Order: sorting, quantiles, their distribution-free intervals, outlier marks. */
#include "stats/stats.h"
#include <math.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS 6
#define BUCKETS (1 << DIGIT_BITS)
#define SHORT_ARRAY 96 /* below it, insertion sort beats clearing the histograms */

/* A key whose unsigned order is the order of the doubles. */
static uint64_t key_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & (UINT64_C(1) << 63) ? ~bits : bits | (UINT64_C(1) << 63);
}

static void insertion_sort(double *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double value = x[i];
        size_t j = i;
        for (; j > 0 && x[j - 1] > value; j--)
            x[j] = x[j - 1];
        x[j] = value;
    }
}

void ifm_stats_sort(double *x, double *scratch, size_t n)
{
    if (n < SHORT_ARRAY) {
        insertion_sort(x, n);
        return;
    }
    size_t count[DIGITS][BUCKETS];
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = key_of(x[i]);
        for (unsigned d = 0; d < DIGITS; d++)
            count[d][(key >> (d * DIGIT_BITS)) & (BUCKETS - 1)]++;
    }
    double *from = x, *to = scratch;
    for (unsigned d = 0; d < DIGITS; d++) {
        unsigned shift = d * DIGIT_BITS;
        if (count[d][(key_of(from[0]) >> shift) & (BUCKETS - 1)] == n)
            continue; /* every key has the same digit here */
        size_t start = 0;
        for (size_t b = 0; b < BUCKETS; b++) {
            size_t here = count[d][b];
            count[d][b] = start;
            start += here;
        }
        for (size_t i = 0; i < n; i++)
            to[count[d][(key_of(from[i]) >> shift) & (BUCKETS - 1)]++] = from[i];
        double *swap = from;
        from = to;
        to = swap;
    }
    if (from != x)
        memcpy(x, from, n * sizeof *x);
}

enum ifm_stat ifm_stats_quantile_sorted(const double *sorted, size_t n, double p, double *out)
{
    if (n == 0)
        return IFM_STAT_EMPTY;
    if (!(p >= 0.0 && p <= 1.0))
        return IFM_STAT_DOMAIN;
    if (!isfinite(sorted[0]) || !isfinite(sorted[n - 1]))
        return IFM_STAT_NOT_FINITE;
    double h = (double)(n - 1) * p, whole = floor(h);
    size_t i = (size_t)whole;
    double below = sorted[i], above = i + 1 < n ? sorted[i + 1] : below;
    *out = below + (h - whole) * (above - below);
    return IFM_STAT_OK;
}

static void swap(double *x, size_t a, size_t b)
{
    double kept = x[a];
    x[a] = x[b];
    x[b] = kept;
}

/* Afterwards x[k] is what a sort of [from, to) would put there, with nothing larger before and nothing smaller behind
 * it. Hoare's selection with the median of three as pivot; a series that makes it slow is sorted instead. */
static double select_in(double *x, size_t from, size_t to, size_t k, double *scratch)
{
    enum { SHORT = 16, MOST_ROUNDS = 60 };
    int rounds = 0;
    while (to - from > SHORT && (scratch == NULL || rounds++ < MOST_ROUNDS)) {
        size_t middle = from + (to - from) / 2;
        if (x[middle] < x[from])
            swap(x, middle, from);
        if (x[to - 1] < x[from])
            swap(x, to - 1, from);
        if (x[to - 1] < x[middle])
            swap(x, to - 1, middle);
        double pivot = x[middle];
        size_t i = from, j = to - 1;
        while (i <= j) { /* equal values stop both, which keeps the halves even */
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i > j)
                break;
            swap(x, i++, j--);
        }
        if (k <= j)
            to = j + 1;
        else if (k >= i)
            from = i;
        else
            return x[k];
    }
    ifm_stats_sort(x + from, scratch, to - from);
    return x[k];
}

double ifm_stats_select_quantile(double *x, size_t n, size_t from, size_t to, double p, double *scratch)
{
    double place = p * (double)(n - 1), floored = floor(place);
    size_t k = (size_t)floored;
    double low = select_in(x, from, to, k, scratch);
    if (place <= floored)
        return low;
    double high = x[k + 1];
    for (size_t i = k + 2; i < n; i++)
        high = fmin(high, x[i]);
    return low + (place - floored) * (high - low);
}

enum ifm_stat ifm_stats_median(const double *x, size_t n, double *scratch, double *out)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return IFM_STAT_NOT_FINITE;
        scratch[i] = x[i];
    }
    ifm_stats_sort(scratch, scratch + n, n);
    return ifm_stats_quantile_sorted(scratch, n, 0.5, out);
}

/* The smallest k in 0..n with P(X <= k) >= target; the probability rises with k. */
static enum ifm_stat first_reaching(int64_t n, double p, double target, int64_t *out)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t k = low + (high - low) / 2;
        double cdf;
        IFM_STAT_TRY(ifm_stats_binomial_cdf(k, n, p, &cdf));
        if (cdf >= target)
            high = k;
        else
            low = k + 1;
    }
    *out = low;
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_quantile_ranks(size_t n, double p, double level, struct ifm_ranks *out, size_t *needs)
{
    if (!(p > 0.0 && p < 1.0) || !(level > 0.0 && level < 1.0) || n > (size_t)1 << 40)
        return IFM_STAT_DOMAIN;
    double half = 0.5 * (1.0 - level);
    double smallest = ceil(log(half) / log(p > 0.5 ? p : 1.0 - p) - 1e-9);
    if (needs != NULL)
        *needs = (size_t)smallest;
    if (n == 0)
        return IFM_STAT_EMPTY;
    if ((double)n < smallest)
        return IFM_STAT_TOO_FEW;
    int64_t below, above;
    double upto_low, upto_high;
    /* l - 1 = the last k with P(X <= k) <= half, one before the first that exceeds it. */
    IFM_STAT_TRY(first_reaching((int64_t)n, p, nextafter(half, 1.0), &below));
    IFM_STAT_TRY(first_reaching((int64_t)n, p, 1.0 - half, &above));
    IFM_STAT_TRY(ifm_stats_binomial_cdf(below - 1, (int64_t)n, p, &upto_low));
    IFM_STAT_TRY(ifm_stats_binomial_cdf(above, (int64_t)n, p, &upto_high));
    if (below < 1 || above + 1 > (int64_t)n)
        return IFM_STAT_TOO_FEW;
    *out = (struct ifm_ranks){(size_t)below, (size_t)above + 1, upto_high - upto_low};
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_quantile_interval(const double *sorted, size_t n, size_t effective, double p, double level,
                                          struct ifm_interval *out, size_t *needs)
{
    if (n == 0)
        return IFM_STAT_EMPTY;
    if (!isfinite(sorted[0]) || !isfinite(sorted[n - 1]))
        return IFM_STAT_NOT_FINITE;
    size_t m = effective < n ? effective : n;
    struct ifm_ranks ranks;
    IFM_STAT_TRY(ifm_stats_quantile_ranks(m, p, level, &ranks, needs));
    size_t low = ranks.low * (n + 1) / (m + 1);
    size_t high = (ranks.high * (n + 1) + m) / (m + 1);
    low = low < 1 ? 1 : low;
    high = high > n ? n : high;
    *out = (struct ifm_interval){sorted[low - 1], sorted[high - 1]};
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_outliers(const double *sorted, size_t n, double *scratch, size_t *count)
{
    double median, mad;
    IFM_STAT_TRY(ifm_stats_quantile_sorted(sorted, n, 0.5, &median));
    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(sorted[i] - median);
    double spread = 1.2533141373155001 * ifm_stats_sum(scratch, n) / (double)n;
    ifm_stats_sort(scratch, scratch + n, n);
    IFM_STAT_TRY(ifm_stats_quantile_sorted(scratch, n, 0.5, &mad));
    if (mad > 0)
        spread = 1.482602218505602 * mad;
    size_t outside = 0;
    for (size_t i = 0; i < n; i++)
        outside += fabs(sorted[i] - median) > 3.5 * spread;
    *count = outside;
    return IFM_STAT_OK;
}
