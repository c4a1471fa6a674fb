/* The time axis: autocorrelation, effective size, drift, change points. */
#include "stats/stats.h"
#include <math.h>

enum ifm_stat ifm_stats_autocorrelation(const double *x, size_t n, double *out)
{
    struct ifm_moments m;
    IFM_STAT_TRY(ifm_stats_moments(x, n, &m));
    if (n < 10)
        return IFM_STAT_TOO_FEW;
    if (m.sd == 0.0)
        return IFM_STAT_CONSTANT;
    double products = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        double z = (x[i] - m.mean) / m.sd;
        squares += z * z;
        if (i + 1 < n)
            products += z * ((x[i + 1] - m.mean) / m.sd);
    }
    double r = products / squares;
    r += (1.0 + 4.0 * r) / (double)n;
    *out = r > 0.999999 ? 0.999999 : r < -0.999999 ? -0.999999 : r;
    return IFM_STAT_OK;
}

static double between(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

enum ifm_stat ifm_stats_effective_size(size_t n, double r, double *out)
{
    if (n == 0)
        return IFM_STAT_EMPTY;
    if (!(r > -1.0 && r < 1.0))
        return IFM_STAT_DOMAIN;
    *out = between((double)n * (1.0 - r) / (1.0 + r), 1.0, (double)n);
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_effective_guarded(size_t n, double r, double *out)
{
    const double most = 0.95, least = 3.0;
    if (n == 0)
        return IFM_STAT_EMPTY;
    if (!(r > -1.0 && r < 1.0))
        return IFM_STAT_DOMAIN;
    double all = (double)n, guarded = fmin(r + 2.0 * (1.0 + r) / all, most);
    *out = r > 0.0 ? between(all * (1.0 - guarded) / (1.0 + guarded), fmin(least, all), all) : all;
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_effective_batches(const double *means, size_t batches, size_t n, double variance, double *out)
{
    struct ifm_moments m;
    IFM_STAT_TRY(ifm_stats_moments(means, batches, &m));
    if (batches < 6 || n < batches)
        return IFM_STAT_TOO_FEW;
    if (!isfinite(variance))
        return IFM_STAT_NOT_FINITE;
    if (!(variance > 0.0) || m.sd == 0.0)
        return IFM_STAT_CONSTANT;
    *out = between(variance * (double)batches / (m.sd * m.sd), 1.0, (double)n);
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_slope(const double *x, const double *y, size_t n, double level, struct ifm_slope *out)
{
    struct ifm_moments mx, my;
    IFM_STAT_TRY(ifm_stats_moments(x, n, &mx));
    IFM_STAT_TRY(ifm_stats_moments(y, n, &my));
    if (n < 3)
        return IFM_STAT_TOO_FEW;
    if (mx.sd == 0.0)
        return IFM_STAT_CONSTANT;
    double xy = 0.0, xx = 0.0;
    for (size_t i = 0; i < n; i++) {
        double dx = x[i] - mx.mean;
        xy += dx * (y[i] - my.mean);
        xx += dx * dx;
    }
    double slope = xy / xx, residual = 0.0, t;
    for (size_t i = 0; i < n; i++) {
        double e = y[i] - my.mean - slope * (x[i] - mx.mean);
        residual += e * e;
    }
    double se = sqrt(residual / (double)(n - 2) / xx);
    if (!(level > 0.0 && level < 1.0))
        return IFM_STAT_DOMAIN;
    IFM_STAT_TRY(ifm_stats_t_quantile(0.5 + 0.5 * level, (double)(n - 2), &t));
    if (!isfinite(slope) || !isfinite(t * se))
        return IFM_STAT_NOT_FINITE;
    *out = (struct ifm_slope){slope, my.mean - slope * mx.mean, se, {slope - t * se, slope + t * se}};
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_line_at(const double *x, const double *y, size_t n, double level, double at,
                                struct ifm_interval *out)
{
    struct ifm_slope line;
    struct ifm_moments mx;
    double t;
    IFM_STAT_TRY(ifm_stats_slope(x, y, n, level, &line));
    IFM_STAT_TRY(ifm_stats_moments(x, n, &mx));
    IFM_STAT_TRY(ifm_stats_t_quantile(0.5 + 0.5 * level, (double)(n - 2), &t));
    double value = line.intercept + line.slope * at;
    double half = t * line.se * hypot(mx.sd * sqrt((double)(n - 1) / (double)n), at - mx.mean);
    if (!isfinite(value) || !isfinite(half))
        return IFM_STAT_NOT_FINITE;
    *out = (struct ifm_interval){value - half, value + half};
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_cusum(const double *x, size_t n, struct ifm_cusum *out)
{
    struct ifm_moments m;
    IFM_STAT_TRY(ifm_stats_moments(x, n, &m));
    if (n < 6)
        return IFM_STAT_TOO_FEW;
    if (m.sd == 0.0)
        return IFM_STAT_CONSTANT;
    struct ifm_cusum best = {0.0, 0};
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += (x[i] - m.mean) / m.sd;
        double peak = fabs(sum) / sqrt((double)n);
        if (peak > best.peak)
            best = (struct ifm_cusum){peak, i + 1};
    }
    *out = best;
    return IFM_STAT_OK;
}
