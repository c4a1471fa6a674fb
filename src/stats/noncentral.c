/* The noncentral t distribution and the noncentrality that puts a given probability below an observed t. */
#include "stats/effect.h"
#include <math.h>

#define NEGLIGIBLE 1e-18
#define TWO_PI 6.28318530717958647692

/* ln of the Poisson weight e^-mean mean^k / k! with k = floor(mean), so that the large terms cancel before they are
 * rounded (Loader 2000). */
static double log_weight_at_mode(double k, double mean)
{
    int sign;
    if (k < 16.0)
        return k * log(mean) - mean - lgamma_r(k + 1.0, &sign);
    double stirling = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * k * k)) / (k * k)) / k;
    return k * log1p((mean - k) / k) - (mean - k) - stirling - 0.5 * log(TWO_PI * k);
}

/* G(k + 1) / G(k + 3/2); the series of Tricomi and Erdelyi where lgamma would lose digits. */
static double gamma_ratio(double k)
{
    int sign;
    if (k < 1000.0)
        return exp(lgamma_r(k + 1.0, &sign) - lgamma_r(k + 1.5, &sign));
    return 1.0 / sqrt(k + 0.75 + 1.0 / (32.0 * (k + 0.75)));
}

/* x = t^2 / (t^2 + df) and its complement, each with all its digits; b = df / 2. */
struct split {
    double x, y, b;
};

/* Sum over i of weight_i I_x(i + shift, b), from i = k, the mode of the weights, outwards in both directions;
 * weight_(i+1) = weight_i mean / (i + shift + 1/2). Each I follows from its neighbour by one term of the density. */
static double mixture(const struct split *s, double mean, double k, double shift, double weight)
{
    int sign;
    double a = k + shift, part = 0.0;
    bool lower = s->x < 0.5;
    if ((lower ? ifm_stats_beta(s->x, a, s->b, &part) : ifm_stats_beta(s->y, s->b, a, &part)) != IFM_STAT_OK)
        return 0.0; /* not reached: a, b > 0 and 0 < x < 1 */
    part = lower ? part : 1.0 - part;
    double step = exp(lgamma_r(a + s->b, &sign) - lgamma_r(a + 1.0, &sign) - lgamma_r(s->b, &sign) + a * log(s->x) +
                      s->b * log(s->y)); /* I_x(a, b) - I_x(a + 1, b) */
    double sum = weight * part, w = weight, p = part, q = step;
    for (double i = k; w * p > NEGLIGIBLE; i += 1.0) {
        p -= q;
        q *= s->x * (i + shift + s->b) / (i + shift + 1.0);
        w *= mean / (i + shift + 0.5);
        sum += p > 0.0 ? w * p : 0.0;
    }
    w = weight;
    p = part;
    q = step;
    for (double i = k; i >= 1.0 && w > NEGLIGIBLE; i -= 1.0) {
        w *= (i + shift - 0.5) / mean;
        q *= (i + shift) / (s->x * (i + shift - 1.0 + s->b));
        p += q;
        sum += w * p;
    }
    return sum;
}

enum ifm_stat ifm_stats_noncentral_t_cdf(double t, double df, double delta, double *out)
{
    if (!(df > 0) || !isfinite(df) || !(fabs(t) <= 2.0 * IFM_NONCENTRAL_LIMIT) ||
        !(fabs(delta) <= 2.0 * IFM_NONCENTRAL_LIMIT))
        return IFM_STAT_DOMAIN;
    bool mirrored = t < 0; /* P(T <= t; delta) = 1 - P(T <= -t; -delta) */
    double d = mirrored ? -delta : delta;
    double mean = 0.5 * d * d, k = floor(mean), p = ifm_stats_normal_tail(d);
    struct split s = {t * t / (t * t + df), df / (t * t + df), 0.5 * df};
    if (s.x > 0.0) {
        double weight = mean > 0.0 ? exp(log_weight_at_mode(k, mean)) : 1.0;
        double odd = mean > 0.0 ? weight * gamma_ratio(k) * fabs(d) / sqrt(2.0) : 0.0;
        p += 0.5 * mixture(&s, mean, k, 0.5, weight);
        if (odd > 0.0)
            p += (d < 0 ? -0.5 : 0.5) * mixture(&s, mean, k, 1.0, odd);
    }
    p = p < 0.0 ? 0.0 : p > 1.0 ? 1.0 : p;
    *out = mirrored ? 1.0 - p : p;
    return IFM_STAT_OK;
}

/* P(T <= t) - p, which falls as delta rises. The arguments were checked. */
static double excess(double t, double df, double delta, double p)
{
    double cdf = 0.0;
    if (ifm_stats_noncentral_t_cdf(t, df, delta, &cdf) != IFM_STAT_OK)
        return delta > 0 ? -p : 1.0 - p;
    return cdf - p;
}

/* Regula falsi with the Illinois step inside a bracket. */
enum ifm_stat ifm_stats_noncentral_t_delta(double t, double df, double p, double *out)
{
    double z;
    if (!(df > 0) || !isfinite(df) || !(fabs(t) <= IFM_NONCENTRAL_LIMIT) ||
        ifm_stats_normal_quantile(p, &z) != IFM_STAT_OK)
        return IFM_STAT_DOMAIN;
    double width = sqrt(1.0 + t * t / (2.0 * df)), low = t - z * width, high = low;
    double f_low = excess(t, df, low, p), f_high = f_low;
    for (double reach = 0.25 * width; f_low < 0.0 && low > -2.0 * IFM_NONCENTRAL_LIMIT; reach *= 2.0) {
        high = low;
        f_high = f_low;
        low -= reach;
        f_low = excess(t, df, low, p);
    }
    for (double reach = 0.25 * width; f_high > 0.0 && high < 2.0 * IFM_NONCENTRAL_LIMIT; reach *= 2.0) {
        low = high;
        f_low = f_high;
        high += reach;
        f_high = excess(t, df, high, p);
    }
    if (f_low < 0.0 || f_high > 0.0)
        return IFM_STAT_DOMAIN;
    int side = 0;
    for (int i = 0; i < 200 && high - low > 4e-15 * (fabs(low) + fabs(high)) && f_low > f_high; i++) {
        double next = (low * -f_high + high * f_low) / (f_low - f_high);
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        double f = excess(t, df, next, p);
        if (fabs(f) < 2e-15) {
            low = high = next;
            break;
        }
        if (f > 0.0) {
            low = next;
            f_low = f;
            f_high *= side > 0 ? 0.5 : 1.0;
            side = 1;
        } else {
            high = next;
            f_high = f;
            f_low *= side < 0 ? 0.5 : 1.0;
            side = -1;
        }
        if (!(next > low || next < high))
            break;
    }
    *out = 0.5 * (low + high);
    return IFM_STAT_OK;
}
