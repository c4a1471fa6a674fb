/* Robust location and spread: trimmed means with their intervals, MAD, outlier marks, skewness.
 *
 * A mark never drops a value: marks are counted and shown. Pure; the rules of stats.h hold. */
#ifndef IFM_STATS_LOCATION_H
#define IFM_STATS_LOCATION_H

#include "stats/stats.h"

/* Trimmed mean of an ascending array: g = floor(trim n) values go at each end, h = n - 2 g are kept. Its standard error
 * is that of the winsorised values, sw / ((1 - 2 trim) sqrt(n)), its interval Student's t with h - 1 degrees of freedom
 * (Tukey and McLaughlin 1963; Yuen 1974). 0 <= trim < 0.5, h >= 2. */
struct ifm_trimmed {
    double mean, se, df;
    size_t kept;
    struct ifm_interval interval;
};
IFM_STATS_CHECKED enum ifm_stat ifm_stats_trimmed_mean(const double *sorted, size_t n, double trim, double level,
                                                       struct ifm_trimmed *out);

/* The same for a series worth `effective` independent values: both halves of the interval times sqrt(n / e), e from
 * ifm_stats_effective_guarded. IFM_STAT_TOO_FEW below IFM_TRIMMED_SERIES values: of fewer, dependence hides. */
#define IFM_TRIMMED_SERIES 30
IFM_STATS_CHECKED enum ifm_stat ifm_stats_trimmed_series(const double *sorted, size_t n, double effective, double trim,
                                                         double level, struct ifm_trimmed *out);

/* Trimmed mean of `a` minus that of `b`, both ascending (Yuen 1974, Welch's degrees of freedom):
 * d_j = (n_j - 1) sw_j^2 / (h_j (h_j - 1)), se^2 = d_a + d_b, df = se^4 / (d_a^2 / (h_a - 1) + d_b^2 / (h_b - 1)).
 * trim = 0 is Welch's test. `kept` is that of both. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_yuen_welch(const double *a, size_t n, const double *b, size_t m, double trim,
                                                     double level, struct ifm_trimmed *out);

/* 1.4826 times the median absolute deviation from the median of an ascending array; 0 when more than half of the values
 * are equal. `scratch` holds 2 n values. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_mad(const double *sorted, size_t n, double *scratch, double *out);

/* Outlier marks of values in any order; marks[i] is a set of these. Fences are Tukey's, from type-7 quartiles; where
 * the quartiles are equal there are no fences. The modified z (Iglewicz and Hoaglin 1993) is |x - median| over 1.4826
 * MAD, or over 1.2533 times the mean absolute deviation where the MAD is zero. Equal values have no mark. */
enum ifm_mark {
    IFM_MARK_FENCE = 1, /* more than 1.5 interquartile ranges beyond a quartile */
    IFM_MARK_FAR = 2,   /* more than 3 */
    IFM_MARK_ROBUST = 4 /* modified z above 3.5 */
};
struct ifm_marks {
    size_t low, high;         /* beyond the fence of 1.5, the far ones included */
    size_t far_low, far_high; /* beyond the fence of 3 */
    size_t robust;
    bool no_fences, mad_is_zero;
};
/* `scratch` holds 3 n values; `marks` may be NULL. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_marks(const double *x, size_t n, double *scratch, uint8_t *marks,
                                                struct ifm_marks *out);

/* Moment skewness m3 / m2^1.5, without a correction for small n; n >= 3. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_skewness(const double *x, size_t n, double *out);

#endif
