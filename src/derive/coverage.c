/* Coverage of a sampled power. */
#include "derive/coverage.h"

#include <math.h>

#define PI 3.14159265358979323846
#define SAMPLE_S 0.020   /* from sample to sample of the sensor */
#define BOX_S 0.0145     /* what a sample is the mean of */
#define GROUP 5.0        /* samples to a tick, which do not weigh the same */
#define GROUP_SHARE 0.08 /* of a wave that their sum holds too much or too little, as was seen */
/* Aperiodic loads: of 100 windows of 1 to 10 s of loads at the power cap and below, 95 and more lie within this share
 * of the spread at 3 s; it falls with the root of the length. */
#define SHARE 0.05
#define SHARE_S 3.0
enum { HARMONICS = 39 };
#define RULE_OF_THREE 3.0
#define LOCKED 0.5 /* of the swing */

/* |sin(pi x) / (pi x)| */
static double box(double x)
{
    return x == 0.0 ? 1.0 : fabs(sin(PI * x) / (PI * x));
}

/* Amplitude of the mean of `n` samples of a wave that turns `x` times from sample to sample: at most one, and where it
 * sweeps through its phases the envelope of |sin(pi n x) / (n sin(pi x))|. */
static double comb(double x, double n)
{
    double sweep = n * sin(PI * fabs(x - round(x)));
    return sweep > 1.0 ? 1.0 / sweep : 1.0;
}

/* Is a wave that turns `x` times from sample to sample sampled often enough that a window of whole periods has it? */
static bool holds(const struct ifm_coverage *coverage, double x)
{
    return coverage->whole && x < 0.5;
}

/* A wave of that standard deviation whose harmonics fall as 1/k, as those of a load that is on or off. */
static double locked_w(const struct ifm_coverage *coverage)
{
    double sum = 0.0, n = coverage->seconds / SAMPLE_S;
    for (int k = 1; k <= HARMONICS; k++) {
        double x = k * SAMPLE_S / coverage->period_s;
        double samples = holds(coverage, x) ? 0.0 : comb(x, n);
        double ticks = holds(coverage, GROUP * x) ? 0.0 : comb(GROUP * x, n / GROUP);
        double seen = hypot(samples, GROUP_SHARE * ticks);
        double amplitude = box(k * BOX_S / coverage->period_s) * fmin(1.0, seen) / k;
        sum += amplitude * amplitude;
    }
    return sqrt(2.0 * sum) * coverage->swing_w;
}

/* The square of what is left of a line that turns `x` times from sample to sample and is `line` radians wide. */
static double walked(double x, double line, double n)
{
    double off = 2.0 * PI * fabs(x - round(x));
    return fmin(1.0, 2.0 * line / (n * (line * line + off * off)));
}

/* Random distances walk the phase, so that each harmonic becomes a line as wide as it forgets itself (a Lorentz line:
 * `forgets` radians a sample), some radians from the nearest one that a sensor takes for a constant. What the sensor
 * saw of the spread is then what there is, but for the first phases that it has not forgotten: it must have had the
 * time to, or the load counts as one that locks. The factor is that of a normal mean and a sixth more (simulated in
 * tests/unit/test_coverage.c). */
static double dithered_w(const struct ifm_coverage *coverage)
{
    double sum = 0.0, weights = 0.0, n = coverage->seconds / SAMPLE_S;
    double walk = 2.0 * PI * coverage->dither_s / coverage->period_s;
    double forgets = 0.5 * walk * walk * SAMPLE_S / coverage->period_s;
    if (n * forgets < 1.0)
        return locked_w(coverage);
    for (int k = 1; k <= HARMONICS; k++) {
        double x = k * SAMPLE_S / coverage->period_s, line = k * k * forgets;
        double weight = box(k * BOX_S / coverage->period_s) / k;
        double samples = holds(coverage, x) ? 0.0 : walked(x, line, n);
        double ticks = holds(coverage, GROUP * x) ? 0.0 : walked(GROUP * x, GROUP * line, n / GROUP);
        double seen = samples + GROUP_SHARE * GROUP_SHARE * ticks;
        weights += weight * weight;
        sum += weight * weight * fmin(1.0, seen);
    }
    return 2.3 * coverage->spread_w * sqrt(sum / weights);
}

double ifm_coverage_w(const struct ifm_coverage *coverage)
{
    double any = SHARE * coverage->spread_w * sqrt(SHARE_S / coverage->seconds);
    if (coverage->period_s < IFM_COVERAGE_LOCKS_S)
        return any;
    double periodic = coverage->dither_s > 0.0 ? dithered_w(coverage) : locked_w(coverage);
    return isnan(periodic) ? periodic : fmax(any, periodic);
}

double ifm_coverage_swing(double mean_w, double low_w, double high_w)
{
    return sqrt(fmax(0.0, high_w - mean_w) * fmax(0.0, mean_w - low_w));
}

/* ---- a meter that takes moments ---- */

/* The share of the swing that such readings may miss because of the load's period. */
static double points_share(const struct ifm_coverage_points *points)
{
    double sum = 0.0, weights = 0.0, n = points->readings;
    double walk = 2.0 * PI * points->dither_s / points->period_s * sqrt(points->every_s / points->period_s);
    for (int k = 1; k <= HARMONICS; k++) {
        double seen = comb(k * points->every_s / points->period_s, n);
        weights += 1.0 / (k * k);
        sum += seen * seen / (k * k);
    }
    double forgotten = fmin(1.0, 1.0 / sqrt(n * fmin(1.0, walk * walk))); /* pauses of random length move the phase */
    return fmax(1.0 / sqrt(n), fmin(sqrt(sum / weights), forgotten));
}

bool ifm_coverage_points_lock(const struct ifm_coverage_points *points)
{
    return points->period_s >= IFM_COVERAGE_LOCKS_S && points_share(points) > LOCKED;
}

double ifm_coverage_points_w(const struct ifm_coverage_points *points)
{
    double share = fmin(1.0, RULE_OF_THREE / points->readings);
    if (points->period_s >= IFM_COVERAGE_LOCKS_S)
        share = fmax(share, points_share(points));
    return share * points->range_w;
}
