/* Trimmed means and skewness. */
#include "stats/location.h"
#include <math.h>

/* What one sample contributes: the trimmed mean and the winsorised sum of squares. */
struct part {
    double mean, squares;
    size_t n, kept;
};

static enum ifm_stat part_of(const double *sorted, size_t n, double trim, struct part *out)
{
    if (n == 0)
        return IFM_STAT_EMPTY;
    if (!(trim >= 0.0 && trim < 0.5))
        return IFM_STAT_DOMAIN;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(sorted[i]))
            return IFM_STAT_NOT_FINITE;
    size_t cut = (size_t)floor(trim * (double)n + 1e-9); /* 0.29 * 100 is 28.999... */
    size_t kept = n - 2 * cut;
    if (2 * cut >= n || kept < 2)
        return IFM_STAT_TOO_FEW;
    double mean, low = sorted[cut], high = sorted[n - cut - 1];
    enum ifm_stat stat = ifm_stats_mean(sorted + cut, kept, &mean);
    if (stat != IFM_STAT_OK)
        return stat;
    /* Around the trimmed mean, so that little cancels; the correction term makes it the spread around their own mean.
     */
    double squares = 0.0, rest = 0.0;
    for (size_t i = 0; i < n; i++) {
        double d = fmin(fmax(sorted[i], low), high) - mean;
        squares += d * d;
        rest += d;
    }
    squares -= rest * rest / (double)n;
    if (!isfinite(squares))
        return IFM_STAT_NOT_FINITE;
    *out = (struct part){mean, squares > 0 && high > low ? squares : 0.0, n, kept};
    return IFM_STAT_OK;
}

static enum ifm_stat bracket(struct ifm_trimmed *value, double level)
{
    double t;
    if (!(level > 0.0 && level < 1.0))
        return IFM_STAT_DOMAIN;
    if (value->se == 0.0)
        return IFM_STAT_CONSTANT;
    enum ifm_stat stat = ifm_stats_t_quantile(0.5 + 0.5 * level, value->df, &t);
    if (stat != IFM_STAT_OK)
        return stat;
    value->interval = (struct ifm_interval){value->mean - t * value->se, value->mean + t * value->se};
    return isfinite(value->interval.low) && isfinite(value->interval.high) ? IFM_STAT_OK : IFM_STAT_NOT_FINITE;
}

enum ifm_stat ifm_stats_trimmed_mean(const double *sorted, size_t n, double trim, double level, struct ifm_trimmed *out)
{
    struct part part;
    enum ifm_stat stat = part_of(sorted, n, trim, &part);
    if (stat != IFM_STAT_OK)
        return stat;
    struct ifm_trimmed value = {part.mean, 0.0, (double)(part.kept - 1), part.kept, {0.0, 0.0}};
    value.se = sqrt(part.squares / (double)(n - 1)) / ((1.0 - 2.0 * trim) * sqrt((double)n));
    stat = bracket(&value, level);
    if (stat == IFM_STAT_OK)
        *out = value;
    return stat;
}

enum ifm_stat ifm_stats_trimmed_series(const double *sorted, size_t n, double effective, double trim, double level,
                                       struct ifm_trimmed *out)
{
    struct ifm_trimmed value;
    double all = (double)n, guarded;
    if (n < IFM_TRIMMED_SERIES)
        return n == 0 ? IFM_STAT_EMPTY : IFM_STAT_TOO_FEW;
    if (!(effective >= 1.0 && effective <= all))
        return IFM_STAT_DOMAIN;
    enum ifm_stat stat = ifm_stats_trimmed_mean(sorted, n, trim, level, &value);
    if (stat == IFM_STAT_OK)
        stat = ifm_stats_effective_guarded(n, (all - effective) / (all + effective), &guarded);
    if (stat != IFM_STAT_OK)
        return stat;
    double factor = sqrt(all / guarded);
    value.se *= factor;
    value.interval.low = value.mean + factor * (value.interval.low - value.mean);
    value.interval.high = value.mean + factor * (value.interval.high - value.mean);
    if (!isfinite(value.interval.low) || !isfinite(value.interval.high))
        return IFM_STAT_NOT_FINITE;
    *out = value;
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_skewness(const double *x, size_t n, double *out)
{
    struct ifm_moments m;
    enum ifm_stat stat = ifm_stats_moments(x, n, &m);
    if (stat != IFM_STAT_OK)
        return stat;
    if (n < 3)
        return IFM_STAT_TOO_FEW;
    if (m.sd == 0.0)
        return IFM_STAT_CONSTANT;
    double squares = 0.0, cubes = 0.0;
    for (size_t i = 0; i < n; i++) {
        double z = (x[i] - m.mean) / m.sd;
        squares += z * z;
        cubes += z * z * z;
    }
    *out = cubes * sqrt((double)n) / (squares * sqrt(squares));
    return IFM_STAT_OK;
}
