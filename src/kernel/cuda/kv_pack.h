/* Arguments of the kernels of kv_pack.cu: C and CUDA.
 *
 * ifm_kv_pack_FORMAT (int8, e4m3, int4, int2) writes whole pages of kv/format.h, bit for bit as kernel/cpu/kv_encode.h
 * does, out of rows of f16: K [128][head_dim], then V [128][head_dim]. Two blocks a job: its K, and its V. All layers
 * have the same jobs, one behind another. */
#ifndef IFM_KERNEL_CUDA_KV_PACK_H
#define IFM_KERNEL_CUDA_KV_PACK_H

#include <stdint.h>

enum {
    IFM_KV_PACK_TOKENS = 128,  /* of a page */
    IFM_KV_PACK_THREADS = 128, /* of a block; each has a channel of K, or a token of V */
    IFM_KV_PACK_ROOM = 2560    /* bytes of shared memory behind the values */
};

struct ifm_kv_pack_job {
    uint64_t from;   /* the first value of its K, of the first layer */
    uint32_t to;     /* number of the page, less than the number of jobs where there are several layers */
    uint32_t tokens; /* filled rows, at most 128; the others are not read */
};

struct ifm_kv_pack {
    const uint16_t *from;
    unsigned char *to;
    const struct ifm_kv_pack_job *jobs;
    uint64_t layer; /* values from one layer's rows to the next one's; its pages lie `n_jobs` behind */
    uint32_t n_jobs, head_dim, page_bytes;
    uint32_t k_scale, k_zero, v_scale, promoted, k_codes, v_codes, k_low; /* as in struct ifm_kv_layout */
};

/* Tokens of V that a block has at a time, and dynamic shared memory of a block; e4m3 keeps all values as they come. */
#define IFM_KV_PACK_TILE(head_dim) ((head_dim) <= 128 ? 128 : 64)
#define IFM_KV_PACK_SHARED(head_dim) ((head_dim) * (IFM_KV_PACK_TILE(head_dim) + 1) * 4 + IFM_KV_PACK_ROOM)
#define IFM_KV_PACK_SHARED_E4M3(head_dim) ((head_dim)*IFM_KV_PACK_TOKENS * 2 + IFM_KV_PACK_ROOM)

#endif
