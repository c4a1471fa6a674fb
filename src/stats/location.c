/* Robust location and spread. */
#include "stats/location.h"
#include <math.h>

#define MAD_TO_SD 1.482602218505602        /* 1 / normal quantile of 0.75 */
#define DEVIATION_TO_SD 1.2533141373155001 /* sqrt(pi / 2) */
#define ROBUST_LIMIT 3.5

/* What one sample contributes: the trimmed mean and the winsorised sum of squares. */
struct part {
    double mean, squares;
    size_t n, kept;
};

static enum ifm_stat part_of(const double *sorted, size_t n, double trim, struct part *out)
{
    if (n == 0)
        return IFM_STAT_EMPTY;
    if (!(trim >= 0.0 && trim < 0.5))
        return IFM_STAT_DOMAIN;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(sorted[i]))
            return IFM_STAT_NOT_FINITE;
    size_t cut = (size_t)floor(trim * (double)n + 1e-9); /* 0.29 * 100 is 28.999... */
    size_t kept = n - 2 * cut;
    if (2 * cut >= n || kept < 2)
        return IFM_STAT_TOO_FEW;
    double mean, low = sorted[cut], high = sorted[n - cut - 1];
    enum ifm_stat stat = ifm_stats_mean(sorted + cut, kept, &mean);
    if (stat != IFM_STAT_OK)
        return stat;
    /* Around the trimmed mean, so that little cancels; the correction term makes it the spread around their own mean.
     */
    double squares = 0.0, rest = 0.0;
    for (size_t i = 0; i < n; i++) {
        double d = fmin(fmax(sorted[i], low), high) - mean;
        squares += d * d;
        rest += d;
    }
    squares -= rest * rest / (double)n;
    if (!isfinite(squares))
        return IFM_STAT_NOT_FINITE;
    *out = (struct part){mean, squares > 0 && high > low ? squares : 0.0, n, kept};
    return IFM_STAT_OK;
}

static enum ifm_stat bracket(struct ifm_trimmed *value, double level)
{
    double t;
    if (!(level > 0.0 && level < 1.0))
        return IFM_STAT_DOMAIN;
    if (value->se == 0.0)
        return IFM_STAT_CONSTANT;
    enum ifm_stat stat = ifm_stats_t_quantile(0.5 + 0.5 * level, value->df, &t);
    if (stat != IFM_STAT_OK)
        return stat;
    value->interval = (struct ifm_interval){value->mean - t * value->se, value->mean + t * value->se};
    return isfinite(value->interval.low) && isfinite(value->interval.high) ? IFM_STAT_OK : IFM_STAT_NOT_FINITE;
}

enum ifm_stat ifm_stats_trimmed_mean(const double *sorted, size_t n, double trim, double level, struct ifm_trimmed *out)
{
    struct part part;
    enum ifm_stat stat = part_of(sorted, n, trim, &part);
    if (stat != IFM_STAT_OK)
        return stat;
    struct ifm_trimmed value = {part.mean, 0.0, (double)(part.kept - 1), part.kept, {0.0, 0.0}};
    value.se = sqrt(part.squares / (double)(n - 1)) / ((1.0 - 2.0 * trim) * sqrt((double)n));
    stat = bracket(&value, level);
    if (stat == IFM_STAT_OK)
        *out = value;
    return stat;
}

enum ifm_stat ifm_stats_trimmed_series(const double *sorted, size_t n, double effective, double trim, double level,
                                       struct ifm_trimmed *out)
{
    struct ifm_trimmed value;
    double all = (double)n, guarded;
    if (n < IFM_TRIMMED_SERIES)
        return n == 0 ? IFM_STAT_EMPTY : IFM_STAT_TOO_FEW;
    if (!(effective >= 1.0 && effective <= all))
        return IFM_STAT_DOMAIN;
    enum ifm_stat stat = ifm_stats_trimmed_mean(sorted, n, trim, level, &value);
    if (stat == IFM_STAT_OK)
        stat = ifm_stats_effective_guarded(n, (all - effective) / (all + effective), &guarded);
    if (stat != IFM_STAT_OK)
        return stat;
    double factor = sqrt(all / guarded);
    value.se *= factor;
    value.interval.low = value.mean + factor * (value.interval.low - value.mean);
    value.interval.high = value.mean + factor * (value.interval.high - value.mean);
    if (!isfinite(value.interval.low) || !isfinite(value.interval.high))
        return IFM_STAT_NOT_FINITE;
    *out = value;
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_yuen_welch(const double *a, size_t n, const double *b, size_t m, double trim, double level,
                                   struct ifm_trimmed *out)
{
    struct part pa, pb;
    enum ifm_stat stat = part_of(a, n, trim, &pa);
    if (stat == IFM_STAT_OK)
        stat = part_of(b, m, trim, &pb);
    if (stat != IFM_STAT_OK)
        return stat;
    double ha = (double)pa.kept, hb = (double)pb.kept;
    double da = pa.squares / (ha * (ha - 1.0)), db = pb.squares / (hb * (hb - 1.0)), both = da + db;
    if (!(both > 0.0))
        return IFM_STAT_CONSTANT;
    double fa = da / both, fb = db / both; /* shares, so that squares do not underflow */
    struct ifm_trimmed value = {pa.mean - pb.mean,
                                sqrt(both),
                                1.0 / (fa * fa / (ha - 1.0) + fb * fb / (hb - 1.0)),
                                pa.kept + pb.kept,
                                {0.0, 0.0}};
    stat = bracket(&value, level);
    if (stat == IFM_STAT_OK)
        *out = value;
    return stat;
}

enum ifm_stat ifm_stats_mad(const double *sorted, size_t n, double *scratch, double *out)
{
    double median, mad;
    enum ifm_stat stat = ifm_stats_quantile_sorted(sorted, n, 0.5, &median);
    if (stat != IFM_STAT_OK)
        return stat;
    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(sorted[i] - median);
    ifm_stats_sort(scratch, scratch + n, n);
    stat = ifm_stats_quantile_sorted(scratch, n, 0.5, &mad);
    if (stat == IFM_STAT_OK)
        *out = MAD_TO_SD * mad;
    return stat;
}

/* One value's marks, added to the counts. */
static uint8_t mark_of(double x, const double quartile[3], double spread, struct ifm_marks *counts)
{
    double range = quartile[2] - quartile[0], below = quartile[0] - x, above = x - quartile[2];
    uint8_t mark = 0;
    if (range > 0 && (below > 1.5 * range || above > 1.5 * range)) {
        mark |= IFM_MARK_FENCE;
        *(below > 0 ? &counts->low : &counts->high) += 1;
    }
    if (range > 0 && (below > 3.0 * range || above > 3.0 * range)) {
        mark |= IFM_MARK_FAR;
        *(below > 0 ? &counts->far_low : &counts->far_high) += 1;
    }
    if (fabs(x - quartile[1]) > ROBUST_LIMIT * spread) {
        mark |= IFM_MARK_ROBUST;
        counts->robust++;
    }
    return mark;
}

enum ifm_stat ifm_stats_marks(const double *x, size_t n, double *scratch, uint8_t *marks, struct ifm_marks *out)
{
    double quartile[3], spread;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return IFM_STAT_NOT_FINITE;
        scratch[i] = x[i];
    }
    ifm_stats_sort(scratch, scratch + n, n);
    enum ifm_stat stat = IFM_STAT_OK;
    for (int q = 0; q < 3 && stat == IFM_STAT_OK; q++)
        stat = ifm_stats_quantile_sorted(scratch, n, 0.25 * (q + 1), &quartile[q]);
    if (stat == IFM_STAT_OK)
        stat = ifm_stats_mad(scratch, n, scratch + n, &spread);
    if (stat != IFM_STAT_OK)
        return stat;
    struct ifm_marks counts = {.no_fences = !(quartile[2] > quartile[0]), .mad_is_zero = spread == 0.0};
    if (counts.mad_is_zero) {
        for (size_t i = 0; i < n; i++)
            scratch[i] = fabs(x[i] - quartile[1]);
        spread = DEVIATION_TO_SD * ifm_stats_sum(scratch, n) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t mark = mark_of(x[i], quartile, spread, &counts);
        if (marks != NULL)
            marks[i] = mark;
    }
    *out = counts;
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_skewness(const double *x, size_t n, double *out)
{
    struct ifm_moments m;
    enum ifm_stat stat = ifm_stats_moments(x, n, &m);
    if (stat != IFM_STAT_OK)
        return stat;
    if (n < 3)
        return IFM_STAT_TOO_FEW;
    if (m.sd == 0.0)
        return IFM_STAT_CONSTANT;
    double squares = 0.0, cubes = 0.0;
    for (size_t i = 0; i < n; i++) {
        double z = (x[i] - m.mean) / m.sd;
        squares += z * z;
        cubes += z * z * z;
    }
    *out = cubes * sqrt((double)n) / (squares * sqrt(squares));
    return IFM_STAT_OK;
}
