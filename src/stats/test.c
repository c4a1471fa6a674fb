/* The sign-flip test. */
#include "stats/test.h"
#include "base/random.h"
#include <math.h>

/* All 2^(k-1) patterns with the first sign fixed, in Gray code order, one change a pattern; the other half mirrors. */
static size_t count_all(const int64_t *q, size_t k, int64_t sum, int64_t bar)
{
    size_t hits = 0, patterns = (size_t)1 << (k - 1);
    unsigned negative = 0;
    for (size_t i = 0;; i++) {
        hits += (sum < 0 ? -sum : sum) >= bar;
        if (i + 1 == patterns)
            return hits;
        unsigned bit = (unsigned)__builtin_ctzll((unsigned long long)(i + 1));
        negative ^= 1U << bit;
        sum += (negative >> bit & 1U) != 0 ? -2 * q[bit + 1] : 2 * q[bit + 1];
    }
}

static size_t count_random(const int64_t *q, size_t k, size_t rounds, uint64_t seed, int64_t bar)
{
    struct ifm_random random = ifm_random_start(seed, 0);
    size_t hits = 0;
    for (size_t round = 0; round < rounds; round++) {
        int64_t sum = 0;
        uint32_t bits = 0;
        for (size_t i = 0; i < k; i++, bits >>= 1) {
            if (i % 32 == 0)
                bits = ifm_random_u32(&random);
            sum += (bits & 1U) != 0 ? q[i] : -q[i];
        }
        hits += (sum < 0 ? -sum : sum) >= bar;
    }
    return hits;
}

enum ifm_stat ifm_stats_sign_flip(const double *d, size_t k, size_t rounds, uint64_t seed, int64_t *scratch, double *p)
{
    if (k == 0)
        return IFM_STAT_EMPTY;
    double largest = 0.0, total = 0.0;
    for (size_t i = 0; i < k; i++) {
        if (!isfinite(d[i]))
            return IFM_STAT_NOT_FINITE;
        largest = fmax(largest, fabs(d[i]));
    }
    if (largest == 0.0)
        return IFM_STAT_CONSTANT;
    if (k > IFM_FLIP_EXACT && rounds == 0)
        return IFM_STAT_DOMAIN;
    for (size_t i = 0; i < k; i++)
        total += fabs(d[i]) / largest;
    int64_t sum = 0;
    for (size_t i = 0; i < k; i++) {
        scratch[i] = llround(d[i] / largest / total * 0x1p50);
        sum += scratch[i];
    }
    int64_t bar = (sum < 0 ? -sum : sum) - (int64_t)k; /* each rounding is half a unit on both sides */
    *p = k <= IFM_FLIP_EXACT ? (double)count_all(scratch, k, sum, bar) / (double)((size_t)1 << (k - 1))
                             : (double)(count_random(scratch, k, rounds, seed, bar) + 1) / (double)(rounds + 1);
    return IFM_STAT_OK;
}
