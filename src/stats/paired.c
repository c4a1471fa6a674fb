/* The mean over blocks. */
#include "stats/paired.h"

#include <math.h>

/* Autocorrelation between differences of blocks is corrected for where it is visible: above this many standard errors
 * (one-sided 5 %). */
#define VISIBLE 1.645

/* A trend is not dependence: it is in the spread already, and the rule on drift widens for it. What is left beside the
 * fitted line tells how much one block repeats the one before. At least three blocks' worth always remains. */
static double effective_blocks(const double *logs, size_t n, double *at, double *rest)
{
    double r = 0.0, effective = (double)n;
    struct ifm_slope line;
    for (size_t i = 0; i < n; i++)
        at[i] = (double)i;
    if (ifm_stats_slope(at, logs, n, 0.95, &line) == IFM_STAT_OK) {
        for (size_t i = 0; i < n; i++)
            rest[i] = logs[i] - line.intercept - line.slope * at[i];
        bool visible = ifm_stats_autocorrelation(rest, n, &r) == IFM_STAT_OK && r > VISIBLE / sqrt((double)n);
        if (!visible || ifm_stats_effective_size(n, r, &effective) != IFM_STAT_OK)
            effective = (double)n;
    }
    return effective < 3.0 ? 3.0 : effective;
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
    *out = (struct ifm_log_mean){n, moments.mean, moments.sd > tick ? moments.sd : tick, (double)n, 0.0};
    if (n >= 10)
        out->n_effective = effective_blocks(logs, n, room, room + n);
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
