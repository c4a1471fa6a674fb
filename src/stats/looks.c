/* Looks on the way. */
#include "stats/looks.h"

#include <math.h>

enum { HALF = 33 }; /* points of the grid over [0, bound]; odd, for Simpson's rule over [-bound, bound] */

/* The Brownian motion of runs that no look has ended, at its number of blocks: even, so half of it is enough. */
struct motion {
    double n, at[HALF], mass[HALF];
};

/* P(it lies beyond -+bound at `n`), of the runs that go on till then. */
static double beyond(const struct motion *motion, double n, double bound)
{
    double sd = sqrt(n - motion->n), out = 0.0;
    if (motion->n == 0)
        return 2.0 * ifm_stats_normal_tail(bound / sd);
    for (unsigned i = 0; i < HALF; i++)
        out +=
            2.0 * motion->mass[i] *
            (ifm_stats_normal_tail((bound - motion->at[i]) / sd) + ifm_stats_normal_tail((bound + motion->at[i]) / sd));
    return out;
}

static double density(double x, double sd)
{
    return exp(-0.5 * x * x / (sd * sd)) / (sd * sqrt(2.0 * 3.14159265358979323846));
}

/* On to `n`, where runs beyond -+bound end. The middle counts once, every other point also for its mirror image. */
static void move(struct motion *motion, double n, double bound)
{
    struct motion next = {.n = n};
    double sd = sqrt(n - motion->n), width = bound / (HALF - 1);
    for (unsigned j = 0; j < HALF; j++) {
        double weight = j == 0 || j == HALF - 1 ? 1.0 : j % 2 == 1 ? 4.0 : 2.0, here = 0.0;
        next.at[j] = j * width;
        for (unsigned i = 0; i < HALF && motion->n > 0; i++)
            here +=
                motion->mass[i] * (density(next.at[j] - motion->at[i], sd) + density(next.at[j] + motion->at[i], sd));
        next.mass[j] = weight * width / 3.0 * (motion->n == 0 ? density(next.at[j], sd) : here);
    }
    *motion = next;
}

size_t ifm_stats_look(size_t first, unsigned k)
{
    size_t n = first;
    while (k-- > 1)
        n += (n + 1) / 2;
    return n;
}

unsigned ifm_stats_look_of(size_t first, size_t n)
{
    for (unsigned k = 1; k <= IFM_LOOKS_MOST && ifm_stats_look(first, k) <= n; k++)
        if (ifm_stats_look(first, k) == n)
            return k;
    return 0;
}

double ifm_stats_look_level(double level)
{
    return 1.0 - (1.0 - level) / IFM_LOOK_SHARE;
}

enum ifm_stat ifm_stats_end_level(double level, size_t first, size_t n, double *out)
{
    struct motion motion = {.n = 0};
    double at_look, low, left = 1.0 - level;
    if (!(level >= 0.5 && level <= 1.0 - 1e-9) || first == 0 || n == 0)
        return IFM_STAT_DOMAIN;
    IFM_STAT_TRY(ifm_stats_normal_quantile(0.5 + 0.5 * ifm_stats_look_level(level), &at_look));
    IFM_STAT_TRY(ifm_stats_normal_quantile(0.5 + 0.5 * level, &low));
    for (unsigned k = 1; k <= IFM_LOOKS_MOST && ifm_stats_look(first, k) < n; k++) {
        double look = (double)ifm_stats_look(first, k), bound = at_look * sqrt(look);
        left -= beyond(&motion, look, bound);
        move(&motion, look, bound);
    }
    double high = at_look;
    while (high - low > 1e-9) {
        double z = 0.5 * (low + high);
        if (beyond(&motion, (double)n, z * sqrt((double)n)) > left)
            low = z;
        else
            high = z;
    }
    *out = 1.0 - 2.0 * ifm_stats_normal_tail(high);
    return IFM_STAT_OK;
}
