/* Cliff's delta and Hedges' g. */
#include "stats/effect.h"
#include <math.h>

static bool all_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static enum ifm_stat look_at(const double *a, size_t n, const double *b, size_t m, double level)
{
    if (n == 0 || m == 0)
        return IFM_STAT_EMPTY;
    if (n < 2 || m < 2)
        return IFM_STAT_TOO_FEW;
    if (!(level > 0.0 && level < 1.0))
        return IFM_STAT_DOMAIN;
    return all_finite(a, n) && all_finite(b, m) ? IFM_STAT_OK : IFM_STAT_NOT_FINITE;
}

/* How the values of one sample lie to the other: sums over its values of (lower - higher) and of its square, and how
 * many pairs are equal. Sums of whole numbers, exact below 2^53. */
struct dominance {
    double sum, squares, ties;
};

static struct dominance dominance_of(const double *a, size_t n, const double *b, size_t m)
{
    struct dominance d = {0.0, 0.0, 0.0};
    size_t below = 0, up_to = 0;
    for (size_t i = 0; i < n; i++) {
        while (below < m && b[below] < a[i])
            below++;
        while (up_to < m && b[up_to] <= a[i])
            up_to++;
        double row = (double)below - (double)(m - up_to);
        d.sum += row;
        d.squares += row * row;
        d.ties += (double)(up_to - below);
    }
    return d;
}

/* Feng and Cliff 2004, eq. 9. */
static struct ifm_interval asymmetric(double delta, double variance, double quantile)
{
    double v = quantile * quantile * variance, rest = 1.0 - delta * delta;
    double half = quantile * sqrt(variance) * sqrt(rest * rest + v), middle = delta * rest;
    return (struct ifm_interval){(middle - half) / (rest + v), (middle + half) / (rest + v)};
}

enum ifm_stat ifm_stats_cliff(const double *a, size_t n, const double *b, size_t m, double level, double *scratch,
                              struct ifm_effect *out)
{
    IFM_STAT_TRY(look_at(a, n, b, m, level));
    double *sorted_a = scratch, *sorted_b = scratch + n, *spare = sorted_b + m, t;
    for (size_t i = 0; i < n; i++)
        sorted_a[i] = a[i];
    for (size_t i = 0; i < m; i++)
        sorted_b[i] = b[i];
    ifm_stats_sort(sorted_a, spare, n);
    ifm_stats_sort(sorted_b, spare, m);
    IFM_STAT_TRY(ifm_stats_t_quantile(0.5 + 0.5 * level, (double)(n + m - 2), &t));
    struct dominance rows = dominance_of(sorted_a, n, sorted_b, m), columns = dominance_of(sorted_b, m, sorted_a, n);
    double nd = (double)n, md = (double)m, pairs = nd * md, value = rows.sum / pairs;
    /* m^2 sum_i (d_i. - delta)^2 and its like, from the whole sums */
    double by_row = rows.squares - rows.sum * rows.sum / nd;
    double by_column = columns.squares - columns.sum * columns.sum / md;
    double cells = pairs - rows.ties - rows.sum * value;
    double inside = fabs(value) < 1.0 ? value : copysign((pairs - 1.0) / pairs, value);
    double variance = (by_row + by_column - cells) / (pairs * (nd - 1.0) * (md - 1.0));
    variance = fmax(variance, (1.0 - inside * inside) / (pairs - 1.0));
    struct ifm_interval interval = asymmetric(inside, variance, t);
    *out = (struct ifm_effect){value, sqrt(variance), {fmin(interval.low, value), fmax(interval.high, value)}};
    return IFM_STAT_OK;
}

/* The factor that removes the bias of a standardised difference (Hedges 1981). */
static double unbiasing(double df)
{
    int sign;
    if (df >= 65536.0)
        return 1.0 - 3.0 / (4.0 * df - 1.0);
    return exp(lgamma_r(0.5 * df, &sign) - lgamma_r(0.5 * (df - 1.0), &sign)) / sqrt(0.5 * df);
}

enum ifm_stat ifm_stats_hedges(const double *a, size_t n, const double *b, size_t m, double level,
                               struct ifm_effect *out)
{
    struct ifm_moments ma, mb;
    IFM_STAT_TRY(look_at(a, n, b, m, level));
    IFM_STAT_TRY(ifm_stats_moments(a, n, &ma));
    IFM_STAT_TRY(ifm_stats_moments(b, m, &mb));
    double nd = (double)n, md = (double)m, df = nd + md - 2.0, low, high;
    double pooled = sqrt(((nd - 1.0) * ma.sd * ma.sd + (md - 1.0) * mb.sd * mb.sd) / df);
    if (!isfinite(pooled))
        return IFM_STAT_NOT_FINITE;
    if (pooled == 0.0)
        return IFM_STAT_CONSTANT;
    double d = (ma.mean - mb.mean) / pooled, root = sqrt(1.0 / nd + 1.0 / md), j = unbiasing(df);
    if (!isfinite(d))
        return IFM_STAT_NOT_FINITE;
    IFM_STAT_TRY(ifm_stats_noncentral_t_delta(d / root, df, 0.5 + 0.5 * level, &low));
    IFM_STAT_TRY(ifm_stats_noncentral_t_delta(d / root, df, 0.5 - 0.5 * level, &high));
    double se = j * sqrt(root * root + d * d / (2.0 * (nd + md)));
    *out = (struct ifm_effect){j * d, se, {j * low * root, j * high * root}};
    return IFM_STAT_OK;
}
