/* Dependence between the values of a series: effective size, portmanteau test, block length. */
#include "stats/steady.h"
#include "stats/test.h"
#include <math.h>

/* sum (x_i - mean)(x_(i+k) - mean) / (n variance with n): the autocorrelation at lag k. */
static double correlation(const double *x, size_t n, const struct ifm_moments *m, size_t k)
{
    double sum = 0.0;
    for (size_t i = 0; i + k < n; i++)
        sum += ((x[i] - m->mean) / m->sd) * ((x[i + k] - m->mean) / m->sd);
    return sum / (double)(n - 1);
}

static enum ifm_stat look_at(const double *x, size_t n, size_t needs, struct ifm_moments *m)
{
    enum ifm_stat stat = ifm_stats_moments(x, n, m);
    if (stat != IFM_STAT_OK)
        return stat;
    return n < needs ? IFM_STAT_TOO_FEW : m->sd == 0.0 ? IFM_STAT_CONSTANT : IFM_STAT_OK;
}

enum ifm_stat ifm_stats_effective_geyer(const double *x, size_t n, double *out)
{
    struct ifm_moments m;
    enum ifm_stat stat = look_at(x, n, 10, &m);
    if (stat != IFM_STAT_OK)
        return stat;
    double last = INFINITY, sum = 0.0;
    for (size_t k = 0; 2 * k + 1 < n; k++) {
        double pair = correlation(x, n, &m, 2 * k) + correlation(x, n, &m, 2 * k + 1);
        if (!(pair > 0.0))
            break;
        last = fmin(last, pair);
        sum += last;
    }
    double share = 2.0 * sum - 1.0; /* in time, of one independent value */
    double size = share > 0.0 ? (double)n / share : (double)n;
    *out = fmin(fmax(size, 1.0), (double)n);
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_ljung_box(const double *x, size_t n, size_t lags, size_t fitted, struct ifm_portmanteau *out)
{
    struct ifm_moments m;
    enum ifm_stat stat = look_at(x, n, 3, &m);
    if (stat != IFM_STAT_OK)
        return stat;
    if (lags <= fitted)
        return IFM_STAT_DOMAIN;
    if (n <= lags)
        return IFM_STAT_TOO_FEW;
    double sum = 0.0, size = (double)n, p;
    for (size_t k = 1; k <= lags; k++) {
        double r = correlation(x, n, &m, k);
        sum += r * r / (double)(n - k);
    }
    double q = size * (size + 2.0) * sum;
    stat = ifm_stats_chi2_tail(q, (double)(lags - fitted), &p);
    if (stat == IFM_STAT_OK)
        *out = (struct ifm_portmanteau){q, p};
    return stat;
}

/* The lag after which correlations stay inside the band: the first m of which the next five are inside; failing that,
 * the last lag outside it. */
static size_t last_visible(const double *x, size_t n, const struct ifm_moments *m, size_t top)
{
    double band = 2.0 * sqrt(log(fmax(10.0, (double)n)) / log(10.0) / (double)n);
    size_t inside = 0, outside = 0;
    for (size_t k = 1; k <= top; k++) {
        if (fabs(correlation(x, n, m, k)) < band)
            inside++;
        else {
            inside = 0;
            outside = k;
        }
        if (inside == 5)
            return k - 5;
    }
    return outside;
}

enum ifm_stat ifm_stats_block_length(const double *x, size_t n, double *out)
{
    struct ifm_moments m;
    enum ifm_stat stat = look_at(x, n, 10, &m);
    if (stat != IFM_STAT_OK)
        return stat;
    double root = sqrt((double)n);
    size_t top = (size_t)ceil(root) + 5;
    top = top < n - 1 ? top : n - 1;
    size_t visible = last_visible(x, n, &m, top), window = 2 * (visible > 0 ? visible : 1);
    window = window < top ? window : top;
    double g = 0.0, spectrum = 1.0;
    for (size_t k = 1; k <= window; k++) {
        double s = (double)k / (double)window, weight = s <= 0.5 ? 1.0 : 2.0 * (1.0 - s);
        double r = correlation(x, n, &m, k);
        g += 2.0 * weight * (double)k * r;
        spectrum += 2.0 * weight * r;
    }
    double most = ceil(fmin(3.0 * root, (double)n / 3.0));
    double cube = 1.5 * g * g / (spectrum * spectrum) * (double)n; /* NaN or infinite where the spectrum is 0 */
    double length = cube > 1.0 ? exp(log(cube) / 3.0) : cube <= 1.0 ? 1.0 : most;
    *out = fmin(fmax(length, 1.0), most);
    return IFM_STAT_OK;
}
