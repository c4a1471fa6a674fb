/* Distributions: normal and t quantiles, the incomplete beta and what follows from it. */
#include "stats/stats.h"
#include <float.h>
#include <math.h>

const char *ifm_stat_reason(enum ifm_stat stat)
{
    static const char *const reasons[] = {
        [IFM_STAT_OK] = "",
        [IFM_STAT_EMPTY] = "there are no values",
        [IFM_STAT_TOO_FEW] = "there are too few values",
        [IFM_STAT_CONSTANT] = "all values are equal",
        [IFM_STAT_NOT_FINITE] = "a value is not finite",
        [IFM_STAT_DOMAIN] = "an argument lies outside its range",
    };
    return reasons[stat];
}

double ifm_stats_normal_tail(double z)
{
    return 0.5 * erfc(z / sqrt(2.0));
}

/* Ratio of two polynomials of degree 7, coefficients from the constant term up. */
static double rational7(const double *num, const double *den, double x)
{
    double n = num[7], d = den[7];
    for (int i = 6; i >= 0; i--) {
        n = n * x + num[i];
        d = d * x + den[i];
    }
    return n / d;
}

enum ifm_stat ifm_stats_normal_quantile(double p, double *out)
{
    static const double a[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[8] = {1.0,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
    static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    if (!(p > 0.0 && p < 1.0))
        return IFM_STAT_DOMAIN;
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        *out = q * rational7(a, b, 0.180625 - q * q);
        return IFM_STAT_OK;
    }
    double r = sqrt(-log(q < 0 ? p : 1.0 - p));
    double z = r <= 5.0 ? rational7(c, d, r - 1.6) : rational7(e, f, r - 5.0);
    *out = q < 0 ? -z : z;
    return IFM_STAT_OK;
}

/* Continued fraction of the incomplete beta, modified Lentz. It converges in O(sqrt(max(a, b))) steps for
 * x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1.0;
    double d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m <= 100000; m++) {
        double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 + even * d;
        c = 1.0 + even / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 + odd * d;
        c = 1.0 + odd / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        if (fabs(d * c - 1.0) < 4.0 * DBL_EPSILON)
            break;
    }
    return h;
}

/* I_x(a, b) for x > 0 and y = 1 - x > 0; either may be rounded to 1. The smaller of the two carries the digits. */
static double beta_of_both(double x, double y, double a, double b)
{
    int sign;
    double log_x = x > 0.5 ? log1p(-y) : log(x), log_y = y > 0.5 ? log1p(-x) : log(y);
    double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log_x + b * log_y);
    if (x < (a + 1.0) / (a + b + 2.0))
        return front * beta_fraction(x, a, b) / a;
    return 1.0 - front * beta_fraction(y, b, a) / b;
}

enum ifm_stat ifm_stats_beta(double x, double a, double b, double *out)
{
    if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || !isfinite(a) || !isfinite(b))
        return IFM_STAT_DOMAIN;
    *out = x == 0.0 || x == 1.0 ? x : beta_of_both(x, 1.0 - x, a, b);
    return IFM_STAT_OK;
}

/* P(T > |t|): computed from the tail, so that small probabilities keep their digits. */
static double t_tail(double t, double df)
{
    double x = df / (df + t * t), y = t * t / (df + t * t);
    if (!(x > 0.0)) /* t * t is infinite, and y no number */
        return 0.0;
    return y > 0.0 ? 0.5 * beta_of_both(x, y, 0.5 * df, 0.5) : 0.5;
}

/* t > 0 with P(T > t) = tail < 0.5: Newton on ln(tail), kept inside a bracket that each step shrinks. */
static double t_upper(double tail, double df, double start)
{
    int sign;
    double lognorm =
        lgamma_r(0.5 * (df + 1), &sign) - lgamma_r(0.5 * df, &sign) - 0.5 * log(df * 3.14159265358979323846);
    double low = 0.0, high = start > 1.0 ? start : 1.0;
    while (t_tail(high, df) > tail && high < 1e150)
        high *= 2.0;
    double t = start;
    for (int i = 0; i < 200; i++) {
        if (!(t > low && t < high))
            t = 0.5 * (low + high);
        double p = t_tail(t, df);
        if (p > tail)
            low = t;
        else
            high = t;
        double density = exp(lognorm - 0.5 * (df + 1) * log1p(t * t / df));
        double step = p > 0 && density > 0 ? p * log(p / tail) / density : high - t;
        double next = t + step;
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        if (fabs(next - t) <= 2.0 * DBL_EPSILON * t)
            return next;
        t = next;
    }
    return t;
}

enum ifm_stat ifm_stats_t_quantile(double p, double df, double *out)
{
    double z;
    if (!(df > 0) || !isfinite(df) || ifm_stats_normal_quantile(p, &z) != IFM_STAT_OK)
        return IFM_STAT_DOMAIN;
    if (p == 0.5) {
        *out = 0.0;
        return IFM_STAT_OK;
    }
    double tail = p < 0.5 ? p : 1.0 - p;
    double start = fabs(z) + (z * z * fabs(z) + fabs(z)) / (4.0 * df); /* Cornish-Fisher, first term */
    double t = t_upper(tail, df, start);
    *out = p < 0.5 ? -t : t;
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_binomial_cdf(int64_t k, int64_t n, double p, double *out)
{
    if (n < 0 || !(p > 0.0 && p < 1.0))
        return IFM_STAT_DOMAIN;
    if (k < 0 || k >= n) {
        *out = k < 0 ? 0.0 : 1.0;
        return IFM_STAT_OK;
    }
    return ifm_stats_beta(1.0 - p, (double)(n - k), (double)(k + 1), out);
}
