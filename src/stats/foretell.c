/* Foretelling: the half-width of an interval shrinks with the root of the observations, and its quantile of t with
 * their degrees of freedom. */
#include "stats/foretell.h"

#include <math.h>

#define PROBABLY 0.8

/* In standard deviations of one observation: the distance from which n observations probably exclude a bound. */
static double reach(uint64_t n, double level)
{
    double bound, power, df = (double)n - 1.0;
    if (n < 2 || ifm_stats_t_quantile(0.5 + 0.5 * level, df, &bound) != IFM_STAT_OK ||
        ifm_stats_t_quantile(PROBABLY, df, &power) != IFM_STAT_OK)
        return INFINITY;
    return (bound + power) / sqrt((double)n);
}

uint64_t ifm_stats_foretell(double room, double se, uint64_t n, double level)
{
    if (n < 2 || !(room > 0) || !(se > 0) || !isfinite(se))
        return 0;
    double wanted = room / (se * sqrt((double)n));
    uint64_t low = 2, high = n * IFM_FORETELL_FACTOR;
    if (reach(high, level) > wanted)
        return 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (reach(middle, level) <= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

uint64_t ifm_stats_foretell_half(double room, double half, uint64_t n, double level)
{
    double bound;
    bool known = n >= 2 && ifm_stats_t_quantile(0.5 + 0.5 * level, (double)n - 1.0, &bound) == IFM_STAT_OK;
    return known ? ifm_stats_foretell(room, half / bound, n, level) : 0;
}
