/* Group-sequential looks. */
#include "stats/sequential.h"

#include <math.h>

enum { HALF = 65, MOST_LOOKS = 100 }; /* points of the grid over [0, C]; odd, for Simpson's rule over [-C, C] */

/* P(B crosses -+c at one of `looks` looks) for a motion of variance 1 at the last look. The density of the motion that
 * has not crossed yet is carried from look to look on a grid; it is even, so half of it does, and a step's kernel
 * depends on the distance alone. */
static double crossing(double c, unsigned looks)
{
    const double pi = 3.14159265358979323846, step_sd = 1.0 / sqrt((double)looks);
    double width = c / (HALF - 1), kernel[2 * HALF - 1], density[HALF], mass[HALF];
    double crossed = 2.0 * ifm_stats_normal_tail(c / step_sd);
    for (unsigned i = 0; i < 2 * HALF - 1; i++) {
        double at = i * width / step_sd;
        kernel[i] = exp(-0.5 * at * at) / (step_sd * sqrt(2.0 * pi));
    }
    for (unsigned i = 0; i < HALF; i++)
        density[i] = kernel[i];
    for (unsigned look = 2; look <= looks; look++) {
        double leaves = 0.0;
        for (unsigned i = 0; i < HALF; i++) {
            /* The middle counts once, every other point also for its mirror image. */
            double weight = i == 0 || i == HALF - 1 ? 1.0 : i % 2 == 1 ? 4.0 : 2.0, x = i * width;
            mass[i] = density[i] * weight * width / 3.0;
            leaves +=
                2.0 * mass[i] * (ifm_stats_normal_tail((c - x) / step_sd) + ifm_stats_normal_tail((c + x) / step_sd));
        }
        crossed += leaves;
        for (unsigned j = 0; look < looks && j < HALF; j++) {
            density[j] = 0.0;
            for (unsigned i = 0; i < HALF; i++)
                density[j] += mass[i] * (kernel[i > j ? i - j : j - i] + kernel[i + j]);
        }
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
    for (int i = 0; i < 40 && high - low > 1e-7; i++) {
        c = below < 0.0 ? low + (high - low) * above / (above - below) : high;
        double now = log(crossing(c, looks) / alpha);
        if (fabs(now) < 1e-7)
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

enum ifm_stat ifm_stats_sequential_widened(double constant, size_t n, size_t maximum, double *out)
{
    const double most = 7.0;
    if (n == 0 || maximum == 0 || !(constant > 0.0))
        return IFM_STAT_DOMAIN;
    double z = n < maximum ? constant * sqrt((double)maximum / (double)n) : constant;
    *out = 1.0 - 2.0 * ifm_stats_normal_tail(z < most ? z : most);
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_sequential_level(double level, size_t n, size_t maximum, double *out)
{
    double constant;
    if (!(level >= 0.5 && level < 1.0))
        return IFM_STAT_DOMAIN;
    IFM_STAT_TRY(ifm_stats_sequential_constant(1.0 - level, IFM_SEQUENTIAL_LOOKS, &constant));
    return ifm_stats_sequential_widened(constant, n, maximum, out);
}

size_t ifm_stats_sequential_look(size_t maximum, unsigned k)
{
    return (maximum * k + IFM_SEQUENTIAL_LOOKS - 1) / IFM_SEQUENTIAL_LOOKS;
}

double ifm_stats_fixed_width_level(double level)
{
    return 1.0 - 0.75 * (1.0 - level);
}
