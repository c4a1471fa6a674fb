/* How decode on a GPU divides its tiles of tokens among blocks. Pure. */
#ifndef IFM_WORKLOAD_DECODE_SPLIT_H
#define IFM_WORKLOAD_DECODE_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

/* `tokens`: of each unit (kernel/cuda/decode.h), 0 = they differ. */
struct ifm_decode_work {
    uint64_t units, tiles, bytes; /* tiles of all units; bytes of a step's K and V */
    unsigned tokens, head_dim, group;
    unsigned multiprocessors, major; /* of the GPU */
    bool no_clusters, is_cycle;      /* is_cycle: attention makes its queries and appends rows */
    bool no_waves; /* a block goes on with the next unit: where units are more than multiprocessors, no block waits */
    double block_rate; /* bytes/s that a block of compressed caches reads; 0 = f16 */
};

struct ifm_decode_split {
    unsigned cluster; /* blocks of a unit, which are a cluster; 0 = they are none */
    unsigned splits;  /* blocks of a unit; 0 = flat: blocks share all tiles equally, or all units where they can */
    unsigned blocks, shared;
    bool early; /* launched before the step in front has ended */
    bool parts; /* by ifm_decode_parts_128 */
};

struct ifm_decode_split ifm_decode_split_of(const struct ifm_decode_work *work);
/* Flat: the first tile of a block, of `tiles` among `blocks`. */
uint64_t ifm_decode_share(uint64_t tiles, unsigned blocks, unsigned block);

#endif
