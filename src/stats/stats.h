/* Stats: pure functions on arrays.
 *
 * Owns nothing, reads no clock, keeps no state. Sums run in one fixed order with Neumaier compensation, and the files
 * are compiled with -ffp-contract=off, so that every build gives the same numbers. It must never return NaN, infinity
 * or a guess: a function that cannot answer returns the reason and leaves its output unchanged. Thread rule: every
 * function is pure; scratch memory belongs to the caller. */
#ifndef IFM_STATS_STATS_H
#define IFM_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IFM_STATS_CHECKED __attribute__((warn_unused_result))

/* Why a statistic is refused. */
enum ifm_stat {
    IFM_STAT_OK = 0,
    IFM_STAT_EMPTY,      /* no values */
    IFM_STAT_TOO_FEW,    /* fewer values than the statistic needs */
    IFM_STAT_CONSTANT,   /* no variation, where the statistic divides by it */
    IFM_STAT_NOT_FINITE, /* a value is NaN or infinite, or the result overflows */
    IFM_STAT_DOMAIN,     /* an argument lies outside its range */
};
const char *ifm_stat_reason(enum ifm_stat stat); /* "there are no values", ...; "" for OK */

/* Return early with the reason of a callee that cannot answer, as IFM_TRY does with failures. */
#define IFM_STAT_TRY(call)                                                                                             \
    do {                                                                                                               \
        enum ifm_stat ifm_stat_try_ = (call);                                                                          \
        if (ifm_stat_try_ != IFM_STAT_OK)                                                                              \
            return ifm_stat_try_;                                                                                      \
    } while (0)

struct ifm_interval {
    double low, high;
};

/* ---- distributions ---- */

/* P(Z > z) for Z standard normal. */
double ifm_stats_normal_tail(double z);
/* Quantile of the standard normal, 0 < p < 1 (Wichura 1988, AS 241, about 16 digits). */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_normal_quantile(double p, double *out);
/* Regularised incomplete beta I_x(a, b), a, b > 0 and 0 <= x <= 1, by Lentz's continued fraction. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_beta(double x, double a, double b, double *out);
/* The t with P(T <= t) = p for Student's t with df > 0, which need not be an integer. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_t_quantile(double p, double df, double *out);
/* P(X <= k) for X binomial(n, p), 0 < p < 1. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_binomial_cdf(int64_t k, int64_t n, double p, double *out);

/* ---- sums and moments ---- */

/* Neumaier's compensated sum, in array order. */
double ifm_stats_sum(const double *x, size_t n);
IFM_STATS_CHECKED enum ifm_stat ifm_stats_mean(const double *x, size_t n, double *out);
/* Mean and standard deviation (ddof 1, two passes with correction term). n >= 2. */
struct ifm_moments {
    double mean, sd;
};
IFM_STATS_CHECKED enum ifm_stat ifm_stats_moments(const double *x, size_t n, struct ifm_moments *out);
/* sd / |mean|; a mean of zero is IFM_STAT_DOMAIN. n >= 2. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_cv(const double *x, size_t n, double *out);
/* mean -+ t(level, n - 1) * sd / sqrt(n). `n` may be an effective size and need not be an integer; n > 1, sd > 0. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_t_interval(double mean, double sd, double n, double level,
                                                     struct ifm_interval *out);

/* ---- order ---- */

/* Sort ascending by value: radix sort of the bit patterns, insertion sort for short arrays. No NaN. `scratch` holds
 * n values. */
void ifm_stats_sort(double *x, double *scratch, size_t n);
/* Quantile of type 7 (R and NumPy default) of an ascending array, 0 <= p <= 1. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_quantile_sorted(const double *sorted, size_t n, double p, double *out);
/* The same of n > 0 finite values in any order, whose quantile lies in [from, to): they are reordered, and not sorted.
 * `scratch` holds n values, for a series on which selection is slow; NULL = there is none. */
double ifm_stats_select_quantile(double *x, size_t n, size_t from, size_t to, double p, double *scratch);
/* Median of unsorted values; `scratch` holds 2 * n values. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_median(const double *x, size_t n, double *scratch, double *out);

/* Ranks (1-based) of the order statistics that bound the p-quantile: the largest l with P(X <= l-1) <= a/2 and the
 * smallest u with P(X <= u-1) >= 1-a/2, X binomial(n, p), a = 1 - level; conservative and free of any distribution.
 * IFM_STAT_TOO_FEW when one bound would be infinite; `needs` (may be NULL) is then the smallest n that has both. */
struct ifm_ranks {
    size_t low, high;
    double coverage; /* P(low <= X <= high - 1) */
};
IFM_STATS_CHECKED enum ifm_stat ifm_stats_quantile_ranks(size_t n, double p, double level, struct ifm_ranks *out,
                                                         size_t *needs);
/* A series of fewer values can hide the dependence that `effective` stands for: do not bracket its median. */
#define IFM_MEDIAN_SERIES 20
/* The interval itself. With `effective` < n independent values the ranks are those of a sample of that size, placed at
 * the same fractions of this one (rounded outwards). */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_quantile_interval(const double *sorted, size_t n, size_t effective, double p,
                                                            double level, struct ifm_interval *out, size_t *needs);

/* How many values lie further than 3.5 robust standard deviations from the median (modified z, 1.4826 MAD; where the
 * MAD is zero, 1.2533 mean absolute deviation). They are counted, never dropped. `scratch` holds 2 * n values. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_outliers(const double *sorted, size_t n, double *scratch, size_t *count);

/* ---- the time axis ---- */

/* Lag-1 autocorrelation with the small-sample correction r + (1 + 4r)/n, kept inside (-1, 1). n >= 10. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_autocorrelation(const double *x, size_t n, double *out);
/* Effective size n (1 - r) / (1 + r) of an AR(1) series, between 1 and n; negative r gives n. |r| < 1. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_effective_size(size_t n, double r, double *out);
/* The same, guarded for short series, in which a correlation of 0.5 often does not show: with r' = r + 2 (1 + r) / n
 * for r > 0, n (1 - r') / (1 + r'), between 3 and n; n for r <= 0. The guard was found by simulation
 * (docs/maintain/method.md): at 15 values and more, t intervals of it cover 93 to 97 % at correlations of 0, 0.3 and
 * 0.5. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_effective_guarded(size_t n, double r, double *out);
/* Effective size by batch means: n * (variance / batch length) / variance of the batch means, between 1 and n.
 * It sees a disturbance that lasts as long as a batch, which lag 1 does not. `means` holds the mean of each of at
 * least 6 batches, `variance` that of single values. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_effective_batches(const double *means, size_t batches, size_t n,
                                                            double variance, double *out);

/* Least-squares line through (x, y); n >= 3. `interval` is that of the slope. */
struct ifm_slope {
    double slope, intercept, se;
    struct ifm_interval interval;
};
IFM_STATS_CHECKED enum ifm_stat ifm_stats_slope(const double *x, const double *y, size_t n, double level,
                                                struct ifm_slope *out);
/* The interval of that line's value at `at` (Draper and Smith, Applied Regression Analysis, 1998, section 3.1). */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_line_at(const double *x, const double *y, size_t n, double level, double at,
                                                  struct ifm_interval *out);

/* Change point by the standardised CUSUM: peak = max_k |sum_{i<=k} (x_i - mean)| / (sd sqrt(n)); without a change it
 * exceeds IFM_CUSUM_1_PERCENT in at most 1 % of series of independent values (Kolmogorov's bound). `at` = the values
 * before the change. n >= 6. */
#define IFM_CUSUM_1_PERCENT 1.628
struct ifm_cusum {
    double peak;
    size_t at;
};
IFM_STATS_CHECKED enum ifm_stat ifm_stats_cusum(const double *x, size_t n, struct ifm_cusum *out);

/* ---- knees ---- */

/* Where the levels of a memory hierarchy end: `ns` per load over ascending `sizes`, on logarithmic axes. A climb is a
 * stretch with a slope above 0.25 that rises by 30 % or more; flats shorter than half an octave belong to the climb
 * around them. The knee is the last size at which two fifths of the climb (in ln ns) are not yet passed: the level ends
 * between sizes[knee] and sizes[knee + 1]. At most `limit` knees are stored; n >= 4. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_knees(const double *sizes, const double *ns, size_t n, size_t *knees,
                                                size_t limit, size_t *count);

#endif
