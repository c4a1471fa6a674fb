/* The distribution of a picture: edges that far outliers do not stretch, and bins that a coarse clock does not comb.
 *
 * Quantiles are selected, not sorted for: a page of a million samples waits for this. */
#include "derive/picture/picture_bins.h"

#include <math.h>

/* From this ratio of the edges on, bins are equally wide in the logarithm. */
#define LOG_ABOVE 4.0
#define FAR_FENCE 3.0 /* interquartile ranges beyond a quartile */
/* A bin of fewer grains is a whole number of them, so that each holds equally many possible values. */
#define WHOLE_GRAINS 8.0

double ifm_picture_median(double *x, size_t n, double *scratch)
{
    return ifm_stats_select_quantile(x, n, 0, n, 0.5, scratch);
}

struct shape {
    double least, most;             /* of all values */
    double q01, q25, q50, q75, q99; /* quantiles */
};

static struct shape shape_of(double *x, size_t n, double *scratch)
{
    struct shape s = {.least = x[0], .most = x[0]};
    for (size_t i = 0; i < n; i++) {
        s.least = fmin(s.least, x[i]);
        s.most = fmax(s.most, x[i]);
    }
    size_t middle = (n - 1) / 2;
    s.q50 = ifm_stats_select_quantile(x, n, 0, n, 0.5, scratch);
    s.q25 = ifm_stats_select_quantile(x, n, 0, middle + 1, 0.25, scratch);
    s.q01 = ifm_stats_select_quantile(x, n, 0, (n - 1) / 4 + 1, 0.01, scratch);
    s.q75 = ifm_stats_select_quantile(x, n, middle, n, 0.75, scratch);
    s.q99 = ifm_stats_select_quantile(x, n, (size_t)(0.75 * (double)(n - 1)), n, 0.99, scratch);
    return s;
}

/* Freedman and Diaconis 1981: bins of 2 IQR n^(-1/3); at least Sturges's number, at most what a picture has. */
static size_t bins_for(double range, double quartiles, size_t n)
{
    double fewest = fmin(ceil(log2((double)n)) + 1, IFM_PICTURE_BINS), most = IFM_PICTURE_BINS;
    double wanted = quartiles > 0 ? ceil(range * cbrt((double)n) / (2 * quartiles)) : fewest;
    return (size_t)fmin(fmax(wanted, fewest), most);
}

static size_t log_edges(const struct shape *s, double low, double high, size_t n, double grain, double *edges)
{
    double range = log(high / low);
    size_t count = bins_for(range, s->q25 > 0 ? log(s->q75 / s->q25) : 0, n);
    double resolved = floor(range / log1p(grain / low));
    count = (size_t)fmax(1, fmin((double)count, resolved));
    for (size_t k = 0; k <= count; k++)
        edges[k] = low * exp(range * (double)k / (double)count);
    edges[0] = low;
    edges[count] = high;
    return count;
}

static size_t linear_edges(const struct shape *s, double low, double high, size_t n, double grain, double *edges)
{
    size_t count = bins_for(high - low, s->q75 - s->q25, n);
    double width = (high - low) / (double)count;
    if (width < WHOLE_GRAINS * grain) {
        low = (floor(low / grain + 1e-6) - 0.5) * grain; /* half a grain before the first value that can be */
        width = ceil(width / grain - 1e-9) * grain;
        while (ceil((high - low) / width) > IFM_PICTURE_BINS)
            width += grain;
        count = (size_t)fmax(1, ceil((high - low) / width));
        high = low + (double)count * width;
    }
    for (size_t k = 0; k < count; k++)
        edges[k] = low + (double)k * width;
    edges[count] = high;
    return count;
}

static size_t edges_of(const struct shape *s, size_t n, double grain, double *edges)
{
    double reach = FAR_FENCE * (s->q75 - s->q25);
    double low = fmax(s->least, fmin(s->q25 - reach, s->q01)), high = fmin(s->most, fmax(s->q75 + reach, s->q99));
    if (!(high > low)) {
        double half = fmax(0.5 * grain, 1e-9 * high);
        edges[0] = low - half;
        edges[1] = high + half;
        return 1;
    }
    return low > 0 && high / low > LOG_ABOVE ? log_edges(s, low, high, n, grain, edges)
                                             : linear_edges(s, low, high, n, grain, edges);
}

/* The guess is right but for rounding: the edges themselves decide. */
static void count_bins(const double *x, size_t n, struct ifm_picture_arm *out)
{
    const double *edges = out->edges;
    size_t last = out->n_bins - 1;
    double low = edges[0], high = edges[out->n_bins];
    bool is_log = low > 0 && high / low > LOG_ABOVE;
    double scale = (double)out->n_bins / (is_log ? log(high / low) : high - low);
    for (size_t i = 0; i < n; i++) {
        if (x[i] < low) {
            out->below++;
        } else if (x[i] > high) {
            out->above++;
        } else {
            double guess = scale * (is_log ? log(x[i] / low) : x[i] - low);
            size_t k = guess < (double)last ? (size_t)guess : last;
            while (k > 0 && x[i] < edges[k])
                k--;
            while (k < last && x[i] >= edges[k + 1])
                k++;
            out->bins[k]++;
        }
    }
}

/* What the clock tells apart is seen in the values; what it says of itself is what a reading costs. */
static double grain_of(const double *x, size_t n, double finest)
{
    enum { LOOK_AT = 1024 };
    double picked[LOOK_AT], scratch[LOOK_AT], grain = INFINITY;
    size_t every = (n + LOOK_AT - 1) / LOOK_AT, count = 0;
    for (size_t i = 0; i < n; i += every)
        picked[count++] = x[i];
    ifm_stats_sort(picked, scratch, count);
    for (size_t i = 1; i < count; i++)
        if (picked[i] - picked[i - 1] >= 0.5 * finest)
            grain = fmin(grain, picked[i] - picked[i - 1]);
    return isfinite(grain) ? fmax(grain, finest) : finest;
}

double ifm_picture_bins(double *x, size_t n, double finest, struct ifm_arena *arena, struct ifm_picture_arm *out)
{
    if (n == 0)
        return 0;
    struct ifm_arena *own = ifm_arena_create();
    double grain = grain_of(x, n, finest);
    struct shape shape = shape_of(x, n, IFM_ARENA_ARRAY(own, double, n));
    ifm_arena_destroy(own);
    out->edges = IFM_ARENA_ARRAY(arena, double, IFM_PICTURE_BINS + 1);
    out->bins = IFM_ARENA_ARRAY(arena, size_t, IFM_PICTURE_BINS);
    out->n_bins = edges_of(&shape, n, grain, out->edges);
    count_bins(x, n, out);
    return shape.q50;
}
