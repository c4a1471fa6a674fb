/* The mean over blocks. */
#include "stats/paired.h"

#include <math.h>

/* Autocorrelation between differences of blocks is corrected for where it is visible: above this many standard errors
 * (one-sided 5 %). */
#define VISIBLE 1.645

/* Lag 1, 0 where it cannot be told. A trend is not dependence: it is in the spread already, and the rule on drift
 * widens for it. What is left beside the fitted line tells how much one block repeats the one before. */
static double correlation_of_blocks(const double *logs, size_t n, double *at, double *rest)
{
    double r = 0.0;
    struct ifm_slope line;
    for (size_t i = 0; i < n; i++)
        at[i] = (double)i;
    if (ifm_stats_slope(at, logs, n, 0.95, &line) != IFM_STAT_OK)
        return 0.0;
    for (size_t i = 0; i < n; i++)
        rest[i] = logs[i] - line.intercept - line.slope * at[i];
    return ifm_stats_autocorrelation(rest, n, &r) == IFM_STAT_OK ? r : 0.0;
}

static double worth(size_t n, double r, double least)
{
    double effective;
    if (ifm_stats_effective_size(n, r, &effective) != IFM_STAT_OK)
        return r > 0 ? least : (double)n;
    return fmax(effective, least);
}

bool ifm_stats_log_mean(const double *logs, size_t n, double quantum, double *room, struct ifm_log_mean *out)
{
    double mean;
    if (ifm_stats_mean(logs, n, &mean) != IFM_STAT_OK)
        return false;
    struct ifm_moments moments = {mean, 0.0};
    if (n >= 2 && ifm_stats_moments(logs, n, &moments) != IFM_STAT_OK)
        return false;
    double tick = quantum / sqrt(12.0);
    *out = (struct ifm_log_mean){n, moments.mean, moments.sd > tick ? moments.sd : tick, (double)n, 0.0, (double)n};
    const double r = n >= 10 ? correlation_of_blocks(logs, n, room, room + n) : 0.0, se = 1 / sqrt((double)n);
    if (n >= 10) /* at least three blocks' worth always remains */
        out->n_effective = worth(n, r > VISIBLE * se ? r : 0, 3.0);
    out->n_cautious = n < 2 ? (double)n : fmin(worth(n, r + se, 2.0), out->n_effective);
    out->df = out->n_effective - 1.0;
    return true;
}

bool ifm_log_mean_interval(const struct ifm_log_mean *mean, double level, struct ifm_interval *out)
{
    double t;
    if (mean->n < IFM_BLOCKS_NEEDED || !(mean->sd > 0.0) ||
        ifm_stats_t_quantile(0.5 + 0.5 * level, mean->df, &t) != IFM_STAT_OK)
        return false;
    double half = t * mean->sd / sqrt(mean->n_effective);
    *out = (struct ifm_interval){mean->mean - half, mean->mean + half};
    return isfinite(out->low) && isfinite(out->high);
}

bool ifm_stats_blocks_foretell(size_t undisturbed, size_t all, bool busy)
{
    const bool most_disturbed = undisturbed < all && 2 * undisturbed <= all;
    return undisturbed >= IFM_BLOCKS_FORETELL || !(most_disturbed || busy);
}
