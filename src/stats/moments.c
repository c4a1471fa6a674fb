/* Sums, moments and the t interval. */
#include "stats/stats.h"
#include <math.h>

double ifm_stats_sum(const double *x, size_t n)
{
    double sum = 0.0, lost = 0.0;
    for (size_t i = 0; i < n; i++) {
        double next = sum + x[i];
        lost += fabs(sum) >= fabs(x[i]) ? (sum - next) + x[i] : (x[i] - next) + sum;
        sum = next;
    }
    return sum + lost;
}

enum ifm_stat ifm_stats_mean(const double *x, size_t n, double *out)
{
    if (n == 0)
        return IFM_STAT_EMPTY;
    double sum = ifm_stats_sum(x, n);
    if (!isfinite(sum)) /* a NaN or infinity anywhere makes the sum so */
        return IFM_STAT_NOT_FINITE;
    *out = sum / (double)n;
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_moments(const double *x, size_t n, struct ifm_moments *out)
{
    double mean;
    IFM_STAT_TRY(ifm_stats_mean(x, n, &mean));
    if (n < 2)
        return IFM_STAT_TOO_FEW;
    double squares = 0.0, lost = 0.0, rest = 0.0;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean, term = d * d, next = squares + term;
        lost += squares >= term ? (squares - next) + term : (term - next) + squares;
        squares = next;
        rest += d;
    }
    double variance = (squares + lost - rest * rest / (double)n) / (double)(n - 1);
    if (!isfinite(variance))
        return IFM_STAT_NOT_FINITE;
    *out = (struct ifm_moments){mean, variance > 0 ? sqrt(variance) : 0.0};
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_cv(const double *x, size_t n, double *out)
{
    struct ifm_moments m;
    IFM_STAT_TRY(ifm_stats_moments(x, n, &m));
    double cv = m.mean == 0.0 ? INFINITY : m.sd / fabs(m.mean);
    if (!isfinite(cv))
        return IFM_STAT_DOMAIN;
    *out = cv;
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_t_interval(double mean, double sd, double n, double level, struct ifm_interval *out)
{
    if (!isfinite(mean) || !isfinite(sd))
        return IFM_STAT_NOT_FINITE;
    if (!(level > 0.0 && level < 1.0) || sd < 0 || !isfinite(n))
        return IFM_STAT_DOMAIN;
    if (!(n > 1.0))
        return IFM_STAT_TOO_FEW;
    if (sd == 0.0)
        return IFM_STAT_CONSTANT;
    double t;
    IFM_STAT_TRY(ifm_stats_t_quantile(0.5 + 0.5 * level, n - 1.0, &t));
    double half = t * sd / sqrt(n);
    if (!isfinite(mean - half) || !isfinite(mean + half))
        return IFM_STAT_NOT_FINITE;
    *out = (struct ifm_interval){mean - half, mean + half};
    return IFM_STAT_OK;
}
