/* Draws of indices and chunks of resamples. The sums are plain ones: the callers centre their values, so that an error
 * is relative to the spread and not to the size. */
#include "stats/resample_draw.h"
#include "base/random.h"
#include <math.h>

struct ifm_xoshiro ifm_xoshiro_start(uint64_t seed, uint32_t stream, uint64_t chunk)
{
    struct ifm_xoshiro random;
    uint32_t word[8];
    ifm_philox(seed, stream, 2 * chunk, word);
    ifm_philox(seed, stream, 2 * chunk + 1, word + 4);
    for (int i = 0; i < 4; i++)
        random.s[i] = (uint64_t)word[2 * i] << 32 | word[2 * i + 1];
    /* all zero is the only invalid state */
    random.s[0] |= (random.s[0] | random.s[1] | random.s[2] | random.s[3]) == 0;
    return random;
}

double ifm_xoshiro_uniform(struct ifm_xoshiro *random)
{
    return ((double)(ifm_xoshiro_next(random) >> 12) + 0.5) * 0x1p-52;
}

/* A word holds k indices as long as n^k stays below 2^54: then one word in a thousand at most is drawn again. */
struct ifm_draw ifm_draw_of(size_t n)
{
    static const uint64_t most[] = {0, UINT32_MAX, UINT64_C(1) << 27, UINT64_C(1) << 18, 11585, 1782};
    struct ifm_draw draw = {.n = n, .k = 1};
    while (draw.k < 5 && n <= most[draw.k + 1])
        draw.k++;
    uint64_t power = n;
    for (unsigned i = 1; i < draw.k; i++)
        power *= n;
    draw.threshold = -power % power; /* 2^64 mod n^k */
    return draw;
}

/* The next index from what is left of a word: the high half of a product, its low half is the rest. */
static inline uint64_t take(uint64_t *rest, uint64_t n)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)*rest * n;
    *rest = (uint64_t)product;
    return (uint64_t)(product >> 64);
}

/* k indices of one word, without bias. Written out and inlined with a constant k: gcc -O2 unrolls no loop. */
static inline __attribute__((always_inline)) void take_word(const struct ifm_draw *draw, struct ifm_xoshiro *random,
                                                            unsigned k, uint64_t index[5])
{
    uint64_t n = draw->n, rest;
    do {
        rest = ifm_xoshiro_next(random);
        index[0] = take(&rest, n);
        if (k > 1)
            index[1] = take(&rest, n);
        if (k > 2)
            index[2] = take(&rest, n);
        if (k > 3)
            index[3] = take(&rest, n);
        if (k > 4)
            index[4] = take(&rest, n);
    } while (__builtin_expect(rest < draw->threshold, 0));
}

static inline __attribute__((always_inline)) double sum_by(const double *table, const struct ifm_draw *draw,
                                                           size_t count, struct ifm_xoshiro *out, unsigned k)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0, s4 = 0.0;
    struct ifm_xoshiro random = *out;
    struct ifm_draw local = *draw;
    uint64_t index[5];
    for (size_t words = count / k; words > 0; words--) {
        take_word(&local, &random, k, index);
        s0 += table[index[0]];
        if (k > 1)
            s1 += table[index[1]];
        if (k > 2)
            s2 += table[index[2]];
        if (k > 3)
            s3 += table[index[3]];
        if (k > 4)
            s4 += table[index[4]];
    }
    double sum = (((s0 + s1) + s2) + s3) + s4;
    if (count % k > 0) {
        take_word(&local, &random, k, index);
        for (unsigned i = 0; i < count % k; i++)
            sum += table[index[i]];
    }
    *out = random;
    return sum;
}

double ifm_draw_sum(const double *table, const struct ifm_draw *draw, size_t count, struct ifm_xoshiro *random)
{
    switch (draw->k) {
    case 5:
        return sum_by(table, draw, count, random, 5);
    case 4:
        return sum_by(table, draw, count, random, 4);
    case 3:
        return sum_by(table, draw, count, random, 3);
    case 2:
        return sum_by(table, draw, count, random, 2);
    default:
        return sum_by(table, draw, count, random, 1);
    }
}

/* Two doubles that are added as one; unaligned in memory. */
typedef double pair __attribute__((vector_size(16)));
typedef double loose_pair __attribute__((vector_size(16), aligned(8), may_alias));

static inline __attribute__((always_inline)) void sum2_by(const double *values, const struct ifm_draw *draw,
                                                          size_t count, struct ifm_xoshiro *out, unsigned k,
                                                          double result[2])
{
    const loose_pair *table = (const loose_pair *)values;
    pair s0 = {0.0, 0.0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0;
    struct ifm_xoshiro random = *out;
    struct ifm_draw local = *draw;
    uint64_t index[5];
    for (size_t words = count / k; words > 0; words--) {
        take_word(&local, &random, k, index);
        s0 += table[index[0]];
        if (k > 1)
            s1 += table[index[1]];
        if (k > 2)
            s2 += table[index[2]];
        if (k > 3)
            s3 += table[index[3]];
        if (k > 4)
            s4 += table[index[4]];
    }
    pair sum = (((s0 + s1) + s2) + s3) + s4;
    if (count % k > 0) {
        take_word(&local, &random, k, index);
        for (unsigned i = 0; i < count % k; i++)
            sum += table[index[i]];
    }
    *out = random;
    result[0] = sum[0];
    result[1] = sum[1];
}

void ifm_draw_sum2(const double *table, const struct ifm_draw *draw, size_t count, struct ifm_xoshiro *random,
                   double sum[2])
{
    switch (draw->k) {
    case 5:
        sum2_by(table, draw, count, random, 5, sum);
        break;
    case 4:
        sum2_by(table, draw, count, random, 4, sum);
        break;
    case 3:
        sum2_by(table, draw, count, random, 3, sum);
        break;
    case 2:
        sum2_by(table, draw, count, random, 2, sum);
        break;
    default:
        sum2_by(table, draw, count, random, 1, sum);
        break;
    }
}

void ifm_resample_run(const struct ifm_resample_plan *plan, uint32_t stream, ifm_fill fill, const void *context)
{
    for (size_t chunk = 0; chunk * IFM_RESAMPLE_CHUNK < plan->resamples; chunk++) {
        size_t start = chunk * IFM_RESAMPLE_CHUNK, left = plan->resamples - start;
        struct ifm_xoshiro random = ifm_xoshiro_start(plan->seed, stream, chunk);
        fill(context, &random, plan->scratch + start, left < IFM_RESAMPLE_CHUNK ? left : IFM_RESAMPLE_CHUNK);
    }
}

bool ifm_resample_plan_fits(const struct ifm_resample_plan *plan)
{
    return plan->resamples >= IFM_RESAMPLES_NEEDED && plan->resamples < (size_t)1 << 40 && plan->level > 0.0 &&
           plan->level < 1.0 && plan->scratch != NULL;
}

double ifm_resample_sd(const double *values, size_t n)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(n - 1));
}

void ifm_resample_levels(double level, struct ifm_resampled *value)
{
    value->low_level = 0.5 - 0.5 * level;
    value->high_level = 0.5 + 0.5 * level;
}
