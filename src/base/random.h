/* Random numbers: Philox4x32-10, counter based, so that data do not depend on the
 * number of threads or the order of generation.
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11. */
#ifndef IFM_BASE_RANDOM_H
#define IFM_BASE_RANDOM_H

#include <stdint.h>

/* Four 32-bit words for (seed, stream, counter). Pure. */
void ifm_philox(uint64_t seed, uint32_t stream, uint64_t counter, uint32_t out[4]);

/* A sequential view of one stream. */
struct ifm_random {
    uint64_t seed, counter;
    uint32_t stream, word[4];
    unsigned left;
};
struct ifm_random ifm_random_start(uint64_t seed, uint32_t stream);
uint32_t ifm_random_u32(struct ifm_random *random);
uint32_t ifm_random_below(struct ifm_random *random, uint32_t n); /* unbiased (Lemire), n > 0 */
double ifm_random_uniform(struct ifm_random *random);             /* [0, 1), 53 bits */
double ifm_random_normal(struct ifm_random *random);              /* Box-Muller */

#endif
