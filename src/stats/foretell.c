/* Foretelling: the half-width of an interval shrinks with the root of the observations, and its quantile of t with
 * their degrees of freedom. */
#include "stats/foretell.h"

#include <math.h>

#define PROBABLY 0.8
#define EVEN 0.5
/* Of a word. A limit in multiples of the blocks at hand would let those estimates pass whose noise was met too low, and
 * break most of its promises. */
#define MOST_OF_A_WORD 1000000

/* An estimate with its noise, and what its next run is asked. */
struct forecast {
    double at, se; /* of n observations */
    uint64_t n;
    double edge, level, level_equal; /* beyond `edge` on either side, or, where level_equal > 0, within */
};

static double below(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* Of t intervals of `all` observations: half their width. */
static double half_of(const struct forecast *f, uint64_t all, double level)
{
    double bound;
    if (all < 2 || ifm_stats_t_quantile(0.5 + 0.5 * level, (double)all - 1.0, &bound) != IFM_STAT_OK)
        return INFINITY;
    return bound * f->se * sqrt((double)f->n / (double)all);
}

/* The estimate is as uncertain as its run is short, and the next run's differs from it by the noise of both. */
static double apart(const struct forecast *f, uint64_t all)
{
    return f->se * sqrt(1.0 + (double)f->n / (double)all);
}

/* That the next run's interval lies within the edge. */
static double chance_within(const struct forecast *f, uint64_t all)
{
    const double inner = f->level_equal > 0 ? f->edge - half_of(f, all, f->level_equal) : 0, noise = apart(f, all);
    return inner > 0 ? below((inner - f->at) / noise) - below((-inner - f->at) / noise) : 0;
}

/* That it lies beyond or within. */
static double chance(const struct forecast *f, uint64_t all)
{
    const double outer = f->edge + half_of(f, all, f->level), noise = apart(f, all);
    return below((f->at - outer) / noise) + below((-f->at - outer) / noise) + chance_within(f, all);
}

/* That it lies within, were zero the truth. */
static double chance_if_equal(const struct forecast *f, uint64_t all)
{
    const double inner = f->edge - half_of(f, all, f->level_equal), noise = f->se * sqrt((double)f->n / (double)all);
    return inner > 0 ? 1 - 2 * below(-inner / noise) : 0;
}

/* In standard deviations of one observation: the distance from which n observations probably exclude a bound. */
static double reach(uint64_t n, double level)
{
    double bound, power, df = (double)n - 1.0;
    if (n < 2 || ifm_stats_t_quantile(0.5 + 0.5 * level, df, &bound) != IFM_STAT_OK ||
        ifm_stats_t_quantile(PROBABLY, df, &power) != IFM_STAT_OK)
        return INFINITY;
    return (bound + power) / sqrt((double)n);
}

/* Were the estimate the truth. */
static uint64_t if_true(double room, double se, uint64_t n, double level, uint64_t most)
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

/* As it is uncertain: `least` observations or more, at most `most`; 0 = more than these. */
static uint64_t uncertain(const struct forecast *f, uint64_t least, uint64_t most)
{
    if (least == 0 || chance(f, most) < PROBABLY)
        return 0;
    while (least < most) {
        const uint64_t middle = least + (most - least) / 2;
        if (chance(f, middle) >= PROBABLY)
            most = middle;
        else
            least = middle + 1;
    }
    return most;
}

uint64_t ifm_stats_foretell(double room, double se, uint64_t n, double level)
{
    const struct forecast f = {.at = room, .se = se, .n = n, .edge = 0, .level = level, .level_equal = 0};
    const uint64_t most = n * IFM_FORETELL_FACTOR;
    return uncertain(&f, if_true(room, se, n, level, most), most);
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
    const struct forecast f = {
        .at = mean->mean, .se = se, .n = mean->n, .edge = edge, .level = level, .level_equal = level_equal};
    const uint64_t from = if_true(fabs(distance), se, mean->n, distance > 0 ? level : level_equal, MOST_OF_A_WORD);
    const uint64_t needed = uncertain(&f, from, MOST_OF_A_WORD),
                   equal = holds_zero ? if_true(edge, se, mean->n, level, MOST_OF_A_WORD) : needed;
    if (needed == 0 || equal == 0)
        return 0;
    const uint64_t more = needed > equal ? needed : equal;
    return more > mean->n ? more : mean->n + 1;
}

/* Of the interval of `level` around `at`; false where it tells nothing. */
static bool forecast_of(double at, double half, uint64_t n, double level, struct forecast *out)
{
    double bound;
    if (n < 2 || !(half > 0) || !isfinite(at + half) ||
        ifm_stats_t_quantile(0.5 + 0.5 * level, (double)n - 1.0, &bound) != IFM_STAT_OK)
        return false;
    *out = (struct forecast){.at = at, .se = half / bound, .n = n, .level = level};
    return true;
}

uint64_t ifm_stats_foretell_even(double at, double half, uint64_t n, double edge, double level, double level_equal)
{
    struct forecast f;
    if (!forecast_of(at, half, n, level, &f))
        return 0;
    f.edge = edge;
    f.level_equal = level_equal;
    const bool holds_zero = fabs(at) <= half;
    for (uint64_t times = 2; times <= IFM_FORETELL_FACTOR; times *= 2)
        if (chance(&f, times * n) >= EVEN && (!holds_zero || chance_if_equal(&f, times * n) >= EVEN))
            return times;
    return 0;
}

double ifm_stats_foretell_edge(double at, double half, uint64_t n, double level, double level_equal)
{
    enum { HALVINGS = 50, FAR = 4 }; /* times the half-width: beyond it no run probably lies */
    struct forecast f;
    if (!forecast_of(at, half, n, level, &f))
        return 0;
    f.level_equal = level_equal;
    double low = fabs(at), high = low + FAR * half;
    for (int i = 0; i < HALVINGS; i++) {
        f.edge = 0.5 * (low + high);
        *(chance_within(&f, n) >= PROBABLY ? &high : &low) = f.edge;
    }
    return high;
}
