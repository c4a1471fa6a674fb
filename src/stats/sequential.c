/* Group-sequential looks. */
#include "stats/sequential.h"

#include <math.h>

enum { POINTS = 129, MOST_LOOKS = 100 }; /* of the grid over [-C, C]; odd, for Simpson's rule */

static double upper_tail(double z)
{
    return 0.5 * erfc(z / sqrt(2.0));
}

/* P(B crosses -+c at one of `looks` looks) for a motion of variance 1 at the last look. The density of the motion that
 * has not crossed yet is carried from look to look on a grid; a step's kernel depends on the distance alone. */
static double crossing(double c, unsigned looks)
{
    const double pi = 3.14159265358979323846, step_sd = 1.0 / sqrt((double)looks);
    double width = 2.0 * c / (POINTS - 1), kernel[POINTS], density[POINTS], next[POINTS];
    double crossed = 2.0 * upper_tail(c / step_sd);
    for (unsigned i = 0; i < POINTS; i++) {
        double at = i * width / step_sd;
        kernel[i] = exp(-0.5 * at * at) / (step_sd * sqrt(2.0 * pi));
    }
    for (unsigned i = 0; i < POINTS; i++) {
        unsigned from_middle = i > POINTS / 2 ? i - POINTS / 2 : POINTS / 2 - i;
        density[i] = kernel[from_middle];
    }
    for (unsigned look = 2; look <= looks; look++) {
        double leaves = 0.0;
        for (unsigned i = 0; i < POINTS; i++) {
            double weight = i == 0 || i == POINTS - 1 ? 1.0 : i % 2 == 1 ? 4.0 : 2.0, x = -c + i * width;
            density[i] *= weight * width / 3.0;
            leaves += density[i] * (upper_tail((c - x) / step_sd) + upper_tail((c + x) / step_sd));
        }
        crossed += leaves;
        for (unsigned j = 0; j < POINTS; j++) {
            next[j] = 0.0;
            for (unsigned i = 0; i < POINTS; i++)
                next[j] += density[i] * kernel[i > j ? i - j : j - i];
        }
        for (unsigned j = 0; j < POINTS; j++)
            density[j] = next[j];
    }
    return crossed;
}

enum ifm_stat ifm_stats_sequential_constant(double alpha, unsigned looks, double *out)
{
    if (!(alpha >= 1e-9 && alpha <= 0.5) || looks < 1 || looks > MOST_LOOKS)
        return IFM_STAT_DOMAIN;
    /* Between the constant of one look and Bonferroni's: the tails fall fast, so the secant runs on their logarithm. */
    double low, high;
    if (ifm_stats_normal_quantile(1.0 - 0.5 * alpha, &low) != IFM_STAT_OK ||
        ifm_stats_normal_quantile(1.0 - 0.5 * alpha / looks, &high) != IFM_STAT_OK)
        return IFM_STAT_DOMAIN;
    double above = log(crossing(low, looks) / alpha), c = low;
    if (looks == 1 || above <= 0.0) {
        *out = low;
        return IFM_STAT_OK;
    }
    double below = log(crossing(high, looks) / alpha);
    for (int i = 0; i < 40 && high - low > 1e-9; i++) {
        c = below < 0.0 ? low + (high - low) * above / (above - below) : high;
        double now = log(crossing(c, looks) / alpha);
        if (fabs(now) < 1e-10)
            break;
        if (now > 0) {
            low = c;
            above = now;
            below *= 0.5; /* Illinois: the other end must move too */
        } else {
            high = c;
            below = now;
            above *= 0.5;
        }
    }
    *out = c;
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_sequential_level(double level, size_t n, size_t maximum, double *out)
{
    const double most = 7.0;
    double c;
    if (n == 0 || maximum == 0 || !(level >= 0.5 && level < 1.0))
        return IFM_STAT_DOMAIN;
    enum ifm_stat stat = ifm_stats_sequential_constant(1.0 - level, IFM_SEQUENTIAL_LOOKS, &c);
    if (stat != IFM_STAT_OK)
        return stat;
    double z = n < maximum ? c * sqrt((double)maximum / (double)n) : c;
    *out = 1.0 - 2.0 * upper_tail(z < most ? z : most);
    return IFM_STAT_OK;
}

size_t ifm_stats_sequential_look(size_t maximum, unsigned k)
{
    return (maximum * k + IFM_SEQUENTIAL_LOOKS - 1) / IFM_SEQUENTIAL_LOOKS;
}
