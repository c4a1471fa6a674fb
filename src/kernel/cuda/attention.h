/* Arguments of the kernels of attention.cu and flash.cu: C and CUDA. */
#ifndef IFM_KERNEL_CUDA_ATTENTION_H
#define IFM_KERNEL_CUDA_ATTENTION_H

#include "kernel/cuda/strides.h"

/* Formats of q, k, v and out; the numbers of enum ifm_attention_storage. */
enum { IFM_CUDA_F32 = 1, IFM_CUDA_BF16 = 2, IFM_CUDA_F16 = 3 };

enum {
    IFM_ATTENTION_NAIVE_THREADS = 128, /* of a block, which has one query; of the reference too */
    IFM_ATTENTION_DIM_MOST = 256
};

/* Tensors of [heads][seq_len][head_dim], sequences in a row. */
struct ifm_attention_arguments {
    const void *q, *k, *v;
    void *out;               /* of the reference: double */
    const uint32_t *lengths; /* one a sequence */
    uint32_t q_heads, kv_heads, seq_len;
    uint16_t head_dim;
    uint8_t causal, storage;
};

/* Of the kernels whose names end in _strided: the same over views, whose rows begin at multiples of 16 bytes. */
#ifdef __cplusplus
struct ifm_attention_strided : ifm_attention_arguments {
    struct ifm_strides q_views, kv_views, out_views;
};
#else
struct ifm_attention_strided {
    struct ifm_attention_arguments of;
    struct ifm_strides q_views, kv_views, out_views;
};
#endif

#endif
