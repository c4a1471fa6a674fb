/* Foretelling: the half-width of an interval shrinks with the root of the observations, and its quantile of t with
 * their degrees of freedom. */
#include "stats/foretell.h"

#include <math.h>

#define PROBABLY 0.8
/* Of a word. A limit in multiples of the blocks at hand would let those estimates pass whose noise was met too low, and
 * break most of its promises. */
#define MOST_OF_A_WORD 1000000

/* In standard deviations of one observation: the distance from which n observations probably exclude a bound. */
static double reach(uint64_t n, double level)
{
    double bound, power, df = (double)n - 1.0;
    if (n < 2 || ifm_stats_t_quantile(0.5 + 0.5 * level, df, &bound) != IFM_STAT_OK ||
        ifm_stats_t_quantile(PROBABLY, df, &power) != IFM_STAT_OK)
        return INFINITY;
    return (bound + power) / sqrt((double)n);
}

static uint64_t foretell(double room, double se, uint64_t n, double level, uint64_t most)
{
    if (n < 2 || !(room > 0) || !(se > 0) || !isfinite(se))
        return 0;
    double wanted = room / (se * sqrt((double)n));
    uint64_t low = 2, high = most;
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

uint64_t ifm_stats_foretell(double room, double se, uint64_t n, double level)
{
    return foretell(room, se, n, level, n * IFM_FORETELL_FACTOR);
}

uint64_t ifm_stats_foretell_half(double room, double half, uint64_t n, double level)
{
    double bound;
    bool known = n >= 2 && ifm_stats_t_quantile(0.5 + 0.5 * level, (double)n - 1.0, &bound) == IFM_STAT_OK;
    return known ? ifm_stats_foretell(room, half / bound, n, level) : 0;
}

uint64_t ifm_stats_foretell_more(uint64_t all, uint64_t n, double each)
{
    return all == 0 ? 0 : (uint64_t)ceil(each * (all > n ? (double)(all - n) : 1));
}

uint64_t ifm_stats_foretell_word(const struct ifm_log_mean *mean, bool holds_zero, double edge, double level,
                                 double level_equal)
{
    const double distance = fabs(mean->mean) - edge, se = mean->sd / sqrt(mean->n_cautious);
    uint64_t needed = foretell(fabs(distance), se, mean->n, distance > 0 ? level : level_equal, MOST_OF_A_WORD);
    const uint64_t equal = holds_zero ? foretell(edge, se, mean->n, level, MOST_OF_A_WORD) : needed;
    if (needed == 0 || equal == 0)
        return 0;
    needed = needed > equal ? needed : equal;
    return needed > mean->n ? needed : mean->n + 1;
}
