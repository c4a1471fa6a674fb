/* Arguments of the kernels of kv_append.cu: C and CUDA. Pools are those of kv/fragment.h. */
#ifndef IFM_KERNEL_CUDA_KV_APPEND_H
#define IFM_KERNEL_CUDA_KV_APPEND_H

#include "kv/fragment.h"

#include <stdint.h>

enum {
    IFM_KV_APPEND_WARPS = 4,      /* of a block; each has one pair */
    IFM_KV_ARRANGE_THREADS = 256, /* of a block */
    IFM_KV_ARRANGE_BLOCKS = 8     /* of a page */
};

/* ifm_kv_append: each pair's row becomes its token lengths[pair] + token, in its sink or its ring. */
struct ifm_kv_append_of {
    uint16_t *sides;
    const float *rows;       /* [pairs][2][head_dim], K and V; rounded to f16 here */
    const uint32_t *lengths; /* [pairs] */
    uint32_t token, sink, pairs, head_dim;
};

/* ifm_kv_arrange: canonical page i becomes page places[i] in fragment order. */
struct ifm_kv_arrange_of {
    const unsigned char *from;
    unsigned char *to;
    const uint32_t *places; /* [n] */
    uint32_t n;
    struct ifm_kv_fragment layout;
};

#endif
