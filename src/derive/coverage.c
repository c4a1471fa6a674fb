/* Coverage of a sampled power. */
#include "derive/coverage.h"

#include <math.h>

#define PI 3.14159265358979323846
#define SAMPLE_S 0.020 /* from sample to sample of the sensor */
#define BOX_S 0.0145   /* what a sample is the mean of */
/* Aperiodic loads: of 100 windows of 1 to 10 s of loads at the power cap and below, 95 and more lie within this share
 * of the spread at 3 s; it falls with the root of the length. */
#define SHARE 0.05
#define SHARE_S 3.0
enum { HARMONICS = 39 };

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

/* A wave of that standard deviation whose harmonics fall as 1/k, as those of a load that is on or off. */
static double locked_w(const struct ifm_coverage *coverage)
{
    double sum = 0.0, n = coverage->seconds / SAMPLE_S;
    for (int k = 1; k <= HARMONICS; k++) {
        double amplitude = box(k * BOX_S / coverage->period_s) * comb(k * SAMPLE_S / coverage->period_s, n) / k;
        sum += amplitude * amplitude;
    }
    return sqrt(2.0 * sum) * coverage->swing_w;
}

/* Random distances walk the phase: after (P / (2 pi d))^2 periods it is forgotten, so that so many of them are one
 * independent look, and what the sensor saw of the spread is what there is. The factor is that of a normal mean, and a
 * sixth more, since looks that overlap in phase are no sample of a normal one (simulated in
 * tests/unit/test_coverage.c). */
static double dithered_w(const struct ifm_coverage *coverage)
{
    double turn = coverage->period_s / (2.0 * PI * coverage->dither_s);
    double remembered = 1.0 + 2.0 * turn * turn;
    double looks = coverage->seconds / coverage->period_s / remembered;
    return 2.3 * coverage->spread_w / sqrt(fmax(looks, 1.0));
}

double ifm_coverage_w(const struct ifm_coverage *coverage)
{
    double any = SHARE * coverage->spread_w * sqrt(SHARE_S / coverage->seconds);
    if (coverage->period_s < IFM_COVERAGE_LOCKS_S)
        return any;
    double locked = locked_w(coverage);
    if (!(coverage->dither_s > 0.0))
        return isnan(locked) ? locked : fmax(any, locked);
    double dithered = dithered_w(coverage);
    return fmax(any, dithered < locked || isnan(locked) ? dithered : locked);
}

double ifm_coverage_swing(double mean_w, double low_w, double high_w)
{
    return sqrt(fmax(0.0, high_w - mean_w) * fmax(0.0, mean_w - low_w));
}
