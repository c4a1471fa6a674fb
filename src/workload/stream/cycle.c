/* A keyed permutation of line numbers gives each place of the cycle its line: a Feistel network over the next power of
 * two, applied again to what falls beyond the last line. Its inverse gives a line its place.
 * Lines go through it many at a time, round by round, since one alone would wait for each of its products.
 * Sources: Luby and Rackoff, "How to construct pseudorandom permutations from pseudorandom functions", SIAM J. Comput.
 * 17 (1988); Naor and Reingold, "On the construction of pseudorandom permutations", J. Cryptology 12 (1999): functions
 * that are pairwise independent will do in the outer rounds; Dietzfelbinger, "Universal hashing and k-wise independent
 * random variables via integer arithmetic without primes", STACS 1996: the function of a round; Black and Rogaway,
 * "Ciphers with arbitrary finite domains", CT-RSA 2002: the repetition. */
#include "workload/stream/cycle.h"

#include "base/random.h"

#include <string.h>

enum { STREAM_CYCLE = 17, BATCH = 256 };

struct ifm_cycle ifm_cycle_of(uint64_t seed, uint32_t lines)
{
    unsigned bits = 2; /* a half has one at least */
    while (1ULL << bits < lines)
        bits++;
    struct ifm_cycle cycle = {.lines = lines, .low = bits / 2};
    cycle.masks[0] = (1u << cycle.low) - 1;
    cycle.masks[1] = (1u << (bits - cycle.low)) - 1;
    for (unsigned i = 0; i < IFM_CYCLE_ROUNDS; i++) {
        uint32_t words[4];
        ifm_philox(seed, STREAM_CYCLE, i, words);
        cycle.factors[i] = (uint64_t)words[0] << 32 | words[1];
        cycle.terms[i] = (uint64_t)words[2] << 32 | words[3];
    }
    return cycle;
}

/* What a round changes a half by, from the other half. */
static inline uint32_t mixed(const struct ifm_cycle *cycle, unsigned round, uint32_t half)
{
    return (uint32_t)((half * cycle->factors[round] + cycle->terms[round]) >> 32);
}

static inline uint32_t forwards(const struct ifm_cycle *cycle, uint32_t number)
{
    uint32_t low = number & cycle->masks[0], high = number >> cycle->low;
    for (unsigned i = 0; i < IFM_CYCLE_ROUNDS; i += 2) {
        low ^= mixed(cycle, i, high) & cycle->masks[0];
        high ^= mixed(cycle, i + 1, low) & cycle->masks[1];
    }
    return high << cycle->low | low;
}

static inline uint32_t backwards(const struct ifm_cycle *cycle, uint32_t number)
{
    uint32_t low = number & cycle->masks[0], high = number >> cycle->low;
    for (unsigned i = IFM_CYCLE_ROUNDS; i > 0; i -= 2) {
        high ^= mixed(cycle, i - 1, low) & cycle->masks[1];
        low ^= mixed(cycle, i - 2, high) & cycle->masks[0];
    }
    return high << cycle->low | low;
}

/* Each of `n` numbers below `lines`, permuted; without a branch that depends on them. */
static inline void permute(const struct ifm_cycle *cycle, uint32_t *numbers, unsigned n,
                           uint32_t (*once)(const struct ifm_cycle *cycle, uint32_t number))
{
    uint16_t left[BATCH];
    unsigned beyond = 0;
    for (unsigned i = 0; i < n; i++) {
        numbers[i] = once(cycle, numbers[i]);
        left[beyond] = (uint16_t)i;
        beyond += numbers[i] >= cycle->lines;
    }
    while (beyond > 0) {
        n = beyond;
        beyond = 0;
        for (unsigned k = 0; k < n; k++) {
            const uint16_t i = left[k];
            numbers[i] = once(cycle, numbers[i]);
            left[beyond] = i;
            beyond += numbers[i] >= cycle->lines;
        }
    }
}

uint64_t ifm_cycle_at(const struct ifm_cycle *cycle, uint32_t place)
{
    permute(cycle, &place, 1, forwards);
    return (uint64_t)place * IFM_CYCLE_LINE;
}

/* The lines behind those from `first` on; how many there are in this batch. */
static unsigned behind(const struct ifm_cycle *cycle, uint32_t first, uint32_t end, uint32_t next[BATCH])
{
    const unsigned n = end - first < BATCH ? end - first : BATCH;
    for (unsigned i = 0; i < n; i++)
        next[i] = first + i;
    permute(cycle, next, n, backwards);
    for (unsigned i = 0; i < n; i++)
        next[i] = next[i] + 1 == cycle->lines ? 0 : next[i] + 1;
    permute(cycle, next, n, forwards);
    return n;
}

void ifm_cycle_write(const struct ifm_cycle *cycle, void *buffer, uint32_t first, uint32_t end)
{
    uint32_t next[BATCH];
    for (unsigned n; first < end; first += n) {
        unsigned char *to = (unsigned char *)buffer + (uint64_t)first * IFM_CYCLE_LINE;
        n = behind(cycle, first, end, next);
        for (unsigned i = 0; i < n; i++) {
            const uint64_t offset = (uint64_t)next[i] * IFM_CYCLE_LINE;
            memcpy(to + (size_t)i * IFM_CYCLE_LINE, &offset, sizeof offset);
        }
    }
}

uint64_t ifm_cycle_wrong(const struct ifm_cycle *cycle, const void *buffer, uint32_t first, uint32_t end)
{
    uint32_t next[BATCH];
    uint64_t wrong = 0, offset;
    for (unsigned n; first < end; first += n) {
        const unsigned char *from = (const unsigned char *)buffer + (uint64_t)first * IFM_CYCLE_LINE;
        n = behind(cycle, first, end, next);
        for (unsigned i = 0; i < n; i++) {
            memcpy(&offset, from + (size_t)i * IFM_CYCLE_LINE, sizeof offset);
            wrong += offset != (uint64_t)next[i] * IFM_CYCLE_LINE;
        }
    }
    return wrong;
}
