/* Modes by a kernel density whose small peaks are merged. */
#include "stats/modes.h"
#include <math.h>

enum { POINTS = 512, PEAKS = POINTS / 2 + 1, REACH = 4 }; /* REACH: bandwidths after which a kernel ends */

/* Values put on a grid, each shared by its two nearest points, and the density there (unscaled). */
struct density {
    double start, step, count[POINTS], height[POINTS];
};

/* A peak and the lowest point after it; the last one's valley is the end of the grid. */
struct peak {
    size_t at, valley;
};

/* The clock's tick: the smallest step between unequal values, or, where values that each hold 5 % of the sample hold
 * half of it, the smallest step between those. */
static double tick_of(const double *sorted, size_t n)
{
    double least = INFINITY, least_heavy = INFINITY, last_heavy = 0.0;
    size_t heavy = 0, inside = 0;
    for (size_t i = 0; i < n;) {
        size_t start = i;
        while (i < n && sorted[i] == sorted[start])
            i++;
        least = i < n ? fmin(least, sorted[i] - sorted[start]) : least;
        if (20 * (i - start) < n)
            continue;
        if (heavy++ > 0)
            least_heavy = fmin(least_heavy, sorted[start] - last_heavy);
        last_heavy = sorted[start];
        inside += i - start;
    }
    return heavy > 1 && 2 * inside >= n ? fmax(least, least_heavy) : least;
}

static void estimate(const double *sorted, size_t n, double bandwidth, struct density *d)
{
    size_t outside = n / 200;
    double low = sorted[outside] - 3.0 * bandwidth, high = sorted[n - 1 - outside] + 3.0 * bandwidth;
    *d = (struct density){.start = low, .step = (high - low) / (double)(POINTS - 1)};
    for (size_t i = 0; i < n; i++) {
        double place = (sorted[i] - low) / d->step;
        if (!(place >= 0.0 && place < (double)(POINTS - 1)))
            continue;
        size_t k = (size_t)place;
        d->count[k] += 1.0 - (place - (double)k);
        d->count[k + 1] += place - (double)k;
    }
    double kernel[POINTS];
    size_t reach = (size_t)ceil(REACH * bandwidth / d->step);
    reach = reach < POINTS ? reach : POINTS - 1;
    for (size_t k = 0; k <= reach; k++) {
        double z = (double)k * d->step / bandwidth;
        kernel[k] = exp(-0.5 * z * z);
    }
    for (size_t k = 0; k < POINTS; k++) {
        size_t from = k > reach ? k - reach : 0, to = k + reach < POINTS ? k + reach : POINTS - 1;
        for (size_t j = from; j <= to; j++)
            d->height[k] += d->count[j] * kernel[j > k ? j - k : k - j];
    }
}

static size_t find_peaks(const struct density *d, struct peak *peaks)
{
    size_t n = 0, lowest = 0;
    for (size_t k = 0; k < POINTS; k++) {
        bool up = k == 0 || d->height[k] > d->height[k - 1];
        bool down = k + 1 == POINTS || d->height[k] >= d->height[k + 1];
        lowest = d->height[k] < d->height[lowest] ? k : lowest;
        if (!(up && down && d->height[k] > 0.0))
            continue;
        if (n > 0)
            peaks[n - 1].valley = lowest;
        peaks[n++] = (struct peak){k, POINTS - 1};
        lowest = k;
    }
    return n;
}

static double share_of(const struct density *d, const struct peak *peaks, size_t k, size_t n)
{
    double inside = 0.0, all = 0.0;
    size_t from = k == 0 ? 0 : peaks[k - 1].valley, to = k + 1 == n ? POINTS : peaks[k].valley;
    for (size_t i = 0; i < POINTS; i++) {
        all += d->count[i];
        inside += i >= from && i < to ? d->count[i] : 0.0;
    }
    return inside / all;
}

/* Joins the peaks on both sides of valley k: the higher one stays. */
static void join(const struct density *d, struct peak *peaks, size_t k, size_t *n)
{
    if (d->height[peaks[k].at] < d->height[peaks[k + 1].at])
        peaks[k].at = peaks[k + 1].at;
    peaks[k].valley = peaks[k + 1].valley;
    for (size_t i = k + 1; i + 1 < *n; i++)
        peaks[i] = peaks[i + 1];
    (*n)--;
}

/* How far the lower of two peaks stands above the valley between them, in standard errors: a kernel sum of height h has
 * the variance h / sqrt(2). 0 where the valley is too shallow whatever the number of values. */
static double depth(const struct density *d, const struct peak *peaks, size_t k)
{
    double valley = d->height[peaks[k].valley], peak = fmin(d->height[peaks[k].at], d->height[peaks[k + 1].at]);
    return valley < IFM_MODES_VALLEY * peak ? (peak - valley) / sqrt((peak + valley) / sqrt(2.0)) : 0.0;
}

/* Valleys that chance can explain are removed first, the shallowest first; then peaks with too small a share. */
static void merge(const struct density *d, struct peak *peaks, size_t *n)
{
    while (*n > 1) {
        size_t worst = 0;
        double least = INFINITY;
        for (size_t k = 0; k + 1 < *n; k++) {
            double here = depth(d, peaks, k);
            if (here < least) {
                least = here;
                worst = k;
            }
        }
        if (least >= IFM_MODES_DEPTH) {
            least = INFINITY;
            for (size_t k = 0; k < *n; k++) {
                double share = share_of(d, peaks, k, *n);
                if (share < least) {
                    least = share;
                    worst = k;
                }
            }
            if (!(least < IFM_MODES_SHARE))
                return;
            if (worst > 0 && (worst + 1 == *n || d->height[peaks[worst - 1].valley] >= d->height[peaks[worst].valley]))
                worst--;
        }
        join(d, peaks, worst, n);
    }
}

/* Ashman's D of neighbours: how far their means are apart, in standard deviations of what each holds. */
static bool are_plain(const double *sorted, size_t n, double tick, const struct ifm_modes *modes)
{
    struct ifm_moments last = {0}, own;
    bool plain = modes->count > 1 && modes->count <= IFM_MODES_MOST;
    for (size_t k = 0, i = 0; plain && k < modes->count; k++) {
        const size_t from = i;
        while (i < n && (k + 1 == modes->count || sorted[i] <= modes->mode[k].until))
            i++;
        plain = i - from >= IFM_MODES_PLAIN_LEAST && (double)(i - from) >= IFM_MODES_PLAIN_SHARE * (double)n &&
                ifm_stats_moments(sorted + from, i - from, &own) == IFM_STAT_OK;
        own.sd = fmax(own.sd, tick);
        plain &= k == 0 || own.mean - last.mean >= IFM_MODES_PLAIN_APART * hypot(own.sd, last.sd) / sqrt(2.0);
        last = own;
    }
    return plain;
}

enum ifm_stat ifm_stats_modes(const double *sorted, size_t n, struct ifm_modes *out)
{
    struct ifm_moments m;
    double q1, q3;
    IFM_STAT_TRY(ifm_stats_moments(sorted, n, &m));
    if (n < 30)
        return IFM_STAT_TOO_FEW;
    if (sorted[0] == sorted[n - 1]) {
        *out = (struct ifm_modes){1, false, {{sorted[0], 1.0, sorted[0]}}};
        return IFM_STAT_OK;
    }
    if (ifm_stats_quantile_sorted(sorted, n, 0.25, &q1) != IFM_STAT_OK ||
        ifm_stats_quantile_sorted(sorted, n, 0.75, &q3) != IFM_STAT_OK)
        return IFM_STAT_NOT_FINITE;
    double spread = q3 > q1 ? fmin(m.sd, (q3 - q1) / 1.349) : m.sd;
    const double tick = tick_of(sorted, n), bandwidth = fmax(0.6 * spread * exp(-0.2 * log((double)n)), tick);
    if (!(bandwidth > 0.0) || !isfinite(sorted[n - 1] - sorted[0]))
        return IFM_STAT_NOT_FINITE;
    struct density d;
    struct peak peaks[PEAKS];
    estimate(sorted, n, bandwidth, &d);
    size_t count = find_peaks(&d, peaks);
    merge(&d, peaks, &count);
    *out = (struct ifm_modes){.count = count};
    for (size_t k = 0; k < count && k < IFM_MODES_MOST; k++)
        out->mode[k] = (struct ifm_mode){d.start + d.step * (double)peaks[k].at, share_of(&d, peaks, k, count),
                                         d.start + d.step * (double)peaks[k].valley};
    out->plain = are_plain(sorted, n, tick, out);
    return IFM_STAT_OK;
}
