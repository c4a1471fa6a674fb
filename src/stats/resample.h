/* Resampling: bootstrap intervals, and the rule that says which interval a mean gets.
 *
 * Every answer is a function of the values, the plan's seed and its number of resamples, never of the compiler or the
 * instruction set: resamples come in chunks of IFM_RESAMPLE_CHUNK, each with a generator
 * of its own (xoshiro256++, Blackman and Vigna 2021, its state taken from Philox at (seed, stream, chunk)); indices are
 * drawn without bias, several from one 64-bit word (Brackett-Rozinsky and Lemire 2024), and sums run in one fixed
 * order.
 *
 * No function gives a BCa interval of a median or a quantile, because the jackknife of a quantile is inconsistent.
 * Quantiles have the order-statistic interval of stats.h. Pure; the rules of stats.h hold. */
#ifndef IFM_STATS_RESAMPLE_H
#define IFM_STATS_RESAMPLE_H

#include "stats/stats.h"

#define IFM_RESAMPLE_CHUNK 256
#define IFM_RESAMPLES_NEEDED 199

struct ifm_resample_plan {
    uint64_t seed;
    size_t resamples; /* at least IFM_RESAMPLES_NEEDED; 9,999 for a look, 99,999 for a record */
    double level;     /* 0.95 */
    double *scratch;  /* resamples + 2 n values */
};

enum ifm_mean_method {
    IFM_MEAN_NONE,        /* no interval: refused */
    IFM_MEAN_T,           /* Student's t */
    IFM_MEAN_T_EFFECTIVE, /* Student's t at the effective size */
    IFM_MEAN_PERCENTILE,  /* percentile bootstrap */
    IFM_MEAN_BCA,         /* bias-corrected and accelerated (Efron 1987) */
    IFM_MEAN_BOOTSTRAP_T, /* studentised bootstrap (Efron 1982; Hall 1988) */
    IFM_MEAN_WIDENED,     /* bootstrap-t, widened for the dependence that a short series can hide */
};
const char *ifm_mean_method_name(enum ifm_mean_method method); /* "BCa bootstrap" */

struct ifm_resampled {
    enum ifm_mean_method method; /* the method used: PERCENTILE where BCa could not be computed */
    double value, se;            /* the statistic; standard deviation over resamples (T: of the mean) */
    struct ifm_interval interval;
    double z0, acceleration;      /* BCa */
    double low_level, high_level; /* fractions of the resampled values that bound the interval */
    size_t discarded;             /* bootstrap-t: resamples without spread */
};

/* ---- means ---- */

/* Interval of the mean by PERCENTILE, BCA or BOOTSTRAP_T; another method is IFM_STAT_DOMAIN. n >= 2.
 * BCa: z0 from the mid-rank of the mean among the resamples, kept inside 1/2 and B - 1/2 of B; acceleration from the
 * closed-form jackknife, sum d^3 / (6 (sum d^2)^1.5) (Efron 1987, eq. 4.4 and 6.6); where 1 - a (z0 + z) <= 0 the
 * percentile interval is given and named. Endpoints are type-7 quantiles of the resampled means.
 * Bootstrap-t: mean - t*_high se, mean - t*_low se; a resample without spread is discarded, more than 1 % of them
 * refuse (IFM_STAT_TOO_FEW). */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_bootstrap_mean(const double *x, size_t n, enum ifm_mean_method method,
                                                         const struct ifm_resample_plan *plan,
                                                         struct ifm_resampled *out);

/* ---- medians ---- */

/* Percentile interval of the median of `n` ascending values that are worth `effective` independent ones: resamples of
 * that size (rounded down), so that an interval does not shrink with values that repeat each other (m out of n; Bickel,
 * Goetze and van Zwet 1997). TOO_FEW below 2 IFM_ORDER_NEEDED - 1 effective values.
 * A resampled median is drawn without a resample: the order statistic of uniforms U_(k) is Beta(k, n - k + 1), and
 * x_(ceil(n U)) is the bootstrap's order statistic; for even n the next one is drawn given the first, as
 * 1 - (1 - U) V^(1 / (n - k)). */
#define IFM_ORDER_NEEDED 20
IFM_STATS_CHECKED enum ifm_stat ifm_stats_bootstrap_median(const double *sorted, size_t n, double effective,
                                                           const struct ifm_resample_plan *plan,
                                                           struct ifm_resampled *out);

/* ---- the rule ---- */

/* What the rule looks at. `effective` is the number of independent values that the n are worth. */
struct ifm_mean_facts {
    size_t n;
    double effective, skewness;
};
/* Whether the values visibly depend on each other: the lag-1 autocorrelation that the effective size stands for lies
 * above 1.645 / sqrt(n). No interval that takes them as independent is then admitted, of a mean or of anything else. */
bool ifm_stats_is_dependent(const struct ifm_mean_facts *facts);
/* Whether `method` may be given for a mean with these facts; `needs` (may be NULL) is set to how many independent
 * values it would take when they do not suffice. The bounds are those of docs/maintain/method.md, found by
 * tests/unit/test_stats_coverage.c. TOO_FEW: more values would do. DOMAIN: not for dependent (or independent) values.
 */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_mean_admits(enum ifm_mean_method method, const struct ifm_mean_facts *facts,
                                                      size_t *needs);
/* The method that a mean gets, IFM_MEAN_NONE with `needs` when there is none. */
enum ifm_mean_method ifm_stats_choose_mean_interval(const struct ifm_mean_facts *facts, size_t *needs);
/* The interval by `method`, whether the rule would choose it or not.
 * WIDENED: both halves of the bootstrap-t interval times sqrt(n / e), e from ifm_stats_effective_guarded. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_mean_by(enum ifm_mean_method method, const double *x,
                                                  const struct ifm_mean_facts *facts,
                                                  const struct ifm_resample_plan *plan, struct ifm_resampled *out);
/* Choice and interval in one. `x` in time order. IFM_STAT_TOO_FEW with `needs` (may be NULL) set when refused. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_mean_interval(const double *x, size_t n, double effective,
                                                        const struct ifm_resample_plan *plan, struct ifm_resampled *out,
                                                        size_t *needs);

#endif
