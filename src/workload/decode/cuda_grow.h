/* A compressed cache that grows on a GPU, token by token: rows are appended to sink and ring, and a page that leaves
 * the ring is packed and takes its place among the body pages, as kv/cache.h has it. Pools are those of kv/fragment.h.
 *
 * Which pages leave at which token follows from the lengths, so all of it is known before the first one, and a graph
 * may hold it. Thread rule: the thread that drives the device. */
#ifndef IFM_WORKLOAD_DECODE_CUDA_GROW_H
#define IFM_WORKLOAD_DECODE_CUDA_GROW_H

#include "kernel/cuda/kv_append.h"
#include "kv/cache.h"
#include "workload/decode/cuda_pack.h"

struct ifm_decode_grow {
    struct ifm_device *device;
    struct ifm_decode_pack pack;
    struct ifm_kv_advance_of advance_of;
    struct ifm_kv_arrange_of arrange_of;
    struct ifm_cuda_launch advance, arrange;
    uint64_t body; /* bytes of the body pages; sides lie behind them */
    uint64_t tokens;
    uint32_t *due;                      /* [tokens + 1]: the first of each token's jobs */
    const struct ifm_kv_pack_job *jobs; /* there, as the next two */
    const uint32_t *places;             /* [jobs] */
    unsigned char *canonical;           /* [layers][most]: pages between packing and their order */
    uint32_t most;                      /* pages that leave at once */
    unsigned layers;                    /* pools that grow, one behind the other */
};

/* The caches of all layers have `lengths[pair]` tokens, and `tokens` follow in each pair; capacities hold them. Buffers
 * of the device have names that begin with `name`. */
IFM_CHECKED enum ifm_status ifm_decode_grow_open(struct ifm_device *device, const struct ifm_kv_shape *shape,
                                                 const uint64_t *lengths, uint64_t tokens, unsigned layers,
                                                 const char *name, struct ifm_decode_grow *out,
                                                 struct ifm_error *error);
void ifm_decode_grow_close(struct ifm_decode_grow *grow);
/* Bytes of a pool. */
uint64_t ifm_decode_grow_bytes(const struct ifm_kv_shape *shape);
/* Put on the stream: token `token` of them in one layer. `rows`: [pairs][2][head_dim], K and V, on the device. */
void ifm_decode_grow(struct ifm_decode_grow *grow, uint64_t token, const float *rows, unsigned char *pool);
/* The rows alone. `next`: queries that the same launch makes; NULL = none. */
void ifm_decode_grow_rows(struct ifm_decode_grow *grow, uint64_t token, const float *rows, unsigned char *pool,
                          const struct ifm_decode_advance_of *next);
/* The pages alone that leave their rings at that token, in `layers` from the pool `pool` on: full before it, so its row
 * may come later. */
void ifm_decode_grow_pages(struct ifm_decode_grow *grow, uint64_t token, unsigned char *pool, unsigned layers);
/* Put on the stream: no page of those that will leave their rings is there, in no layer from the pool `pool` on. What
 * lies there instead shows in every output. */
void ifm_decode_grow_spoil(struct ifm_decode_grow *grow, unsigned char *pool);

#endif
