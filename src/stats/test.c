/* Rank sum and sign-flip tests, and the chi-square and normal tails. */
#include "stats/test.h"
#include "base/random.h"
#include <float.h>
#include <math.h>

/* ---- tails ---- */

static double gamma_front(double a, double x)
{
    int sign;
    return exp(a * log(x) - x - lgamma_r(a, &sign));
}

/* Lower incomplete gamma by its series, for x < a + 1. */
static double gamma_series(double a, double x)
{
    double term = 1.0 / a, sum = term;
    for (double i = 1.0; i < 1e6 && term > sum * 0.25 * DBL_EPSILON; i += 1.0) {
        term *= x / (a + i);
        sum += term;
    }
    return sum * gamma_front(a, x);
}

/* Upper incomplete gamma by its continued fraction, modified Lentz, for x >= a + 1. */
static double gamma_fraction(double a, double x)
{
    double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, h = d;
    for (double i = 1.0; i < 1e6; i += 1.0) {
        double top = i * (a - i);
        b += 2.0;
        d = top * d + b;
        c = b + top / c;
        d = 1.0 / (fabs(d) < 1e-300 ? 1e-300 : d);
        c = fabs(c) < 1e-300 ? 1e-300 : c;
        h *= d * c;
        if (fabs(d * c - 1.0) < 4.0 * DBL_EPSILON)
            break;
    }
    return h * gamma_front(a, x);
}

enum ifm_stat ifm_stats_chi2_tail(double x, double df, double *out)
{
    if (!(df > 0) || !isfinite(df) || !(x >= 0) || !isfinite(x))
        return IFM_STAT_DOMAIN;
    double a = 0.5 * df, half = 0.5 * x;
    *out = x == 0.0 ? 1.0 : half < a + 1.0 ? fmax(0.0, 1.0 - gamma_series(a, half)) : gamma_fraction(a, half);
    return IFM_STAT_OK;
}

double ifm_stats_normal_p(double z)
{
    return erfc(fabs(z) / sqrt(2.0));
}

/* ---- rank sum ---- */

/* P(U <= u) without ties: orders of n and m values by their U are the coefficients of the Gaussian binomial, a product
 * of (1 - x^(m+i)) / (1 - x^i). Whole numbers, exact in doubles up to 40 values in all. */
static double exact_cdf(size_t n, size_t m, size_t u)
{
    double count[IFM_RANK_EXACT * IFM_RANK_EXACT + 1] = {1.0};
    size_t top = n * m;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = top; j >= m + i; j--)
            count[j] -= count[j - m - i];
        for (size_t j = i; j <= top; j++)
            count[j] += count[j - i];
    }
    double below = 0.0, all = 0.0;
    for (size_t j = 0; j <= top; j++) {
        all += count[j];
        below += j <= u ? count[j] : 0.0;
    }
    return below / all;
}

/* Sum of t^3 - t over the groups of equal values of an ascending array. */
static double tie_term(const double *sorted, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n;) {
        size_t start = i;
        while (i < n && sorted[i] == sorted[start])
            i++;
        double t = (double)(i - start);
        sum += t * (t * t - 1.0);
    }
    return sum;
}

static double u_of(const double *a, size_t n, const double *b, size_t m)
{
    double u = 0.0;
    size_t below = 0, up_to = 0;
    for (size_t i = 0; i < n; i++) {
        while (below < m && b[below] < a[i])
            below++;
        while (up_to < m && b[up_to] <= a[i])
            up_to++;
        u += 0.5 * (double)(below + up_to);
    }
    return u;
}

enum ifm_stat ifm_stats_mann_whitney(const double *a, size_t n, const double *b, size_t m, bool continuity,
                                     double *scratch, struct ifm_rank_test *out)
{
    if (n == 0 || m == 0)
        return IFM_STAT_EMPTY;
    double *pooled = scratch, *spare = scratch + n + m; /* `spare` holds n + m */
    for (size_t i = 0; i < n + m; i++) {
        pooled[i] = i < n ? a[i] : b[i - n];
        if (!isfinite(pooled[i]))
            return IFM_STAT_NOT_FINITE;
    }
    ifm_stats_sort(pooled, spare, n);
    ifm_stats_sort(pooled + n, spare, m);
    struct ifm_rank_test test = {.u = u_of(pooled, n, pooled + n, m)};
    ifm_stats_sort(pooled, spare, n + m);
    double all = (double)(n + m), pairs = (double)n * (double)m, ties = tie_term(pooled, n + m);
    test.ties = ties > 0.0;
    if (pooled[0] == pooled[n + m - 1])
        return IFM_STAT_CONSTANT;
    if (!test.ties && n <= IFM_RANK_EXACT && m <= IFM_RANK_EXACT) {
        double low = fmin(test.u, pairs - test.u);
        test.exact = true;
        test.p = fmin(1.0, 2.0 * exact_cdf(n, m, (size_t)low));
    } else {
        double variance = pairs / 12.0 * (all + 1.0 - ties / (all * (all - 1.0))), off = test.u - 0.5 * pairs;
        double away = fmax(0.0, fabs(off) - (continuity ? 0.5 : 0.0));
        test.z = copysign(away / sqrt(variance), off);
        test.p = ifm_stats_normal_p(test.z);
    }
    *out = test;
    return IFM_STAT_OK;
}

/* ---- sign flips ---- */

/* All 2^(k-1) patterns with the first sign fixed, in Gray code order, one change a pattern; the other half mirrors. */
static size_t count_all(const int64_t *q, size_t k, int64_t sum, int64_t bar)
{
    size_t hits = 0, patterns = (size_t)1 << (k - 1);
    unsigned negative = 0;
    for (size_t i = 0;; i++) {
        hits += (sum < 0 ? -sum : sum) >= bar;
        if (i + 1 == patterns)
            return hits;
        unsigned bit = (unsigned)__builtin_ctzll((unsigned long long)(i + 1));
        negative ^= 1U << bit;
        sum += (negative >> bit & 1U) != 0 ? -2 * q[bit + 1] : 2 * q[bit + 1];
    }
}

static size_t count_random(const int64_t *q, size_t k, size_t rounds, uint64_t seed, int64_t bar)
{
    struct ifm_random random = ifm_random_start(seed, 0);
    size_t hits = 0;
    for (size_t round = 0; round < rounds; round++) {
        int64_t sum = 0;
        uint32_t bits = 0;
        for (size_t i = 0; i < k; i++, bits >>= 1) {
            if (i % 32 == 0)
                bits = ifm_random_u32(&random);
            sum += (bits & 1U) != 0 ? q[i] : -q[i];
        }
        hits += (sum < 0 ? -sum : sum) >= bar;
    }
    return hits;
}

enum ifm_stat ifm_stats_sign_flip(const double *d, size_t k, size_t rounds, uint64_t seed, int64_t *scratch,
                                  struct ifm_flip_test *out)
{
    if (k == 0)
        return IFM_STAT_EMPTY;
    double largest = 0.0, total = 0.0;
    for (size_t i = 0; i < k; i++) {
        if (!isfinite(d[i]))
            return IFM_STAT_NOT_FINITE;
        largest = fmax(largest, fabs(d[i]));
    }
    if (largest == 0.0)
        return IFM_STAT_CONSTANT;
    if (k > IFM_FLIP_EXACT && rounds == 0)
        return IFM_STAT_DOMAIN;
    for (size_t i = 0; i < k; i++)
        total += fabs(d[i]) / largest;
    int64_t sum = 0;
    size_t zeros = 0;
    for (size_t i = 0; i < k; i++) {
        scratch[i] = llround(d[i] / largest / total * 0x1p50);
        sum += scratch[i];
        zeros += d[i] == 0.0;
    }
    int64_t bar = (sum < 0 ? -sum : sum) - (int64_t)k; /* each rounding is half a unit on both sides */
    struct ifm_flip_test test = {.exact = k <= IFM_FLIP_EXACT};
    if (test.exact) {
        test.rounds = (size_t)1 << k;
        test.p = (double)count_all(scratch, k, sum, bar) / (double)(test.rounds / 2);
        test.smallest = (double)((size_t)2 << zeros) / (double)test.rounds;
    } else {
        test.rounds = rounds;
        test.p = (double)(count_random(scratch, k, rounds, seed, bar) + 1) / (double)(rounds + 1);
        test.smallest = 1.0 / (double)(rounds + 1);
    }
    *out = test;
    return IFM_STAT_OK;
}
