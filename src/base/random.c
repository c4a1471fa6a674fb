/* Philox4x32-10 with the constants of the paper; checked against its known answers. */
#include "base/random.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

void ifm_philox(uint64_t seed, uint32_t stream, uint64_t counter, uint32_t out[4])
{
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t word[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), stream, 0};
    for (int round = 0; round < 10; round++) {
        uint64_t product0 = (uint64_t)0xD2511F53u * word[0];
        uint64_t product1 = (uint64_t)0xCD9E8D57u * word[2];
        uint32_t next[4] = {(uint32_t)(product1 >> 32) ^ word[1] ^ key[0], (uint32_t)product1,
                            (uint32_t)(product0 >> 32) ^ word[3] ^ key[1], (uint32_t)product0};
        for (int i = 0; i < 4; i++)
            word[i] = next[i];
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; i++)
        out[i] = word[i];
}

struct ifm_random ifm_random_start(uint64_t seed, uint32_t stream)
{
    return (struct ifm_random){.seed = seed, .stream = stream};
}

uint32_t ifm_random_u32(struct ifm_random *random)
{
    if (random->left == 0) {
        ifm_philox(random->seed, random->stream, random->counter++, random->word);
        random->left = 4;
    }
    return random->word[4 - random->left--];
}

uint32_t ifm_random_below(struct ifm_random *random, uint32_t n)
{
    /* Lemire, "Fast random integer generation in an interval", 2019. */
    uint64_t product = (uint64_t)ifm_random_u32(random) * n;
    if ((uint32_t)product < n) {
        uint32_t threshold = -n % n;
        while ((uint32_t)product < threshold)
            product = (uint64_t)ifm_random_u32(random) * n;
    }
    return (uint32_t)(product >> 32);
}

double ifm_random_uniform(struct ifm_random *random)
{
    uint64_t high = ifm_random_u32(random), low = ifm_random_u32(random);
    return (double)((high << 32 | low) >> 11) * 0x1p-53;
}

double ifm_random_normal(struct ifm_random *random)
{
    double radius = sqrt(-2.0 * log(1.0 - ifm_random_uniform(random)));
    return radius * cos(2.0 * PI * ifm_random_uniform(random));
}
