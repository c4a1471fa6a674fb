/* Arguments of the kernels of kv_append.cu: C and CUDA. Pools are those of kv/fragment.h. */
#ifndef IFM_KERNEL_CUDA_KV_APPEND_H
#define IFM_KERNEL_CUDA_KV_APPEND_H

#include "kernel/cuda/decode.h"
#include "kv/fragment.h"

#include <stdint.h>

enum {
    IFM_KV_APPEND_WARPS = 4,      /* of a block; each has one pair, or one query head */
    IFM_KV_ARRANGE_THREADS = 256, /* of a block */
    IFM_KV_ARRANGE_BLOCKS = 8     /* of a page */
};

/* Each pair's row becomes its token lengths[pair] + token, in its sink or its ring. */
struct ifm_kv_append_of {
    uint16_t *sides;
    const float *rows;       /* [pairs][2][head_dim], K and V; rounded to f16 here */
    const uint32_t *lengths; /* [pairs] */
    uint32_t token, sink, pairs, head_dim;
};

/* ifm_kv_advance: what a token does in front of the attention of a layer. Queries are made as by ifm_decode_advance,
 * and nothing of `next` that says where a cache lies is read; its `pairs` may be 0. */
struct ifm_kv_advance_of {
    struct ifm_decode_advance_of next;
    struct ifm_kv_append_of append;
};

/* ifm_kv_arrange: canonical page i becomes page places[i] in fragment order; behind n of them, the next layer's. */
struct ifm_kv_arrange_of {
    const unsigned char *from;
    unsigned char *to;
    const uint32_t *places; /* [n] */
    uint64_t layer;         /* bytes from one layer to the next */
    uint32_t n;
    struct ifm_kv_fragment layout;
};

#endif
