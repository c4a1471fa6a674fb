/* Private to src/stats: the generator, unbiased draws of indices and the chunks of resamples.
 *
 * Owns how random words become indices and in which order values are added; knows no statistic. */
#ifndef IFM_STATS_RESAMPLE_DRAW_H
#define IFM_STATS_RESAMPLE_DRAW_H

#include "stats/resample.h"

/* xoshiro256++ (Blackman and Vigna 2021). */
struct ifm_xoshiro {
    uint64_t s[4];
};
struct ifm_xoshiro ifm_xoshiro_start(uint64_t seed, uint32_t stream, uint64_t chunk);
static inline uint64_t ifm_xoshiro_next(struct ifm_xoshiro *random)
{
    uint64_t *s = random->s, sum = s[0] + s[3], out = (sum << 23 | sum >> 41) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return out;
}
double ifm_xoshiro_uniform(struct ifm_xoshiro *random); /* (0, 1), 53 bits, never 0 */

/* How n is drawn: `k` indices from one word, a word below `threshold` at the end is drawn again. */
struct ifm_draw {
    uint64_t n, threshold;
    unsigned k;
};
struct ifm_draw ifm_draw_of(size_t n); /* 1 <= n < 2^32 */

/* Sum of `count` values drawn with replacement from table[0 .. draw.n). Draw i of a word goes to sum i; the sums are
 * added from the first to the last. */
double ifm_draw_sum(const double *table, const struct ifm_draw *draw, size_t count, struct ifm_xoshiro *random);
/* The same for two columns side by side, table[2 i] and table[2 i + 1]. */
void ifm_draw_sum2(const double *table, const struct ifm_draw *draw, size_t count, struct ifm_xoshiro *random,
                   double sum[2]);

/* values[b] for every resample b: `fill` gets whole chunks. */
typedef void (*ifm_fill)(const void *context, struct ifm_xoshiro *random, double *values, size_t count);
void ifm_resample_run(const struct ifm_resample_plan *plan, uint32_t stream, ifm_fill fill, const void *context);

/* Type-7 quantile of values in any order, which it reorders; the same as that of the sorted array. */
static inline double ifm_select_quantile(double *values, size_t n, double p)
{
    return ifm_stats_select_quantile(values, n, 0, n, p, NULL);
}
bool ifm_resample_plan_fits(const struct ifm_resample_plan *plan);
/* Standard deviation around their own mean, ddof 1. */
double ifm_resample_sd(const double *values, size_t n);
/* The levels of a two-sided interval with equal tails. */
void ifm_resample_levels(double level, struct ifm_resampled *value);

#endif
