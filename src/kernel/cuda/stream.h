/* Arguments and tile constants of the kernels of stream.cu: C and CUDA. Sizes are multiples of 16 bytes. */
#ifndef IFM_KERNEL_CUDA_STREAM_H
#define IFM_KERNEL_CUDA_STREAM_H

#include <stdint.h>

enum {
    IFM_STREAM_THREADS = 512,       /* of a block of the plain kernels */
    IFM_STREAM_FLAT_THREADS = 128,  /* of ifm_copy_flat */
    IFM_STREAM_FLOPS_THREADS = 256, /* of ifm_flops_fma */
    IFM_STREAM_FLOPS_CHAINS = 8,    /* of a thread of it */
    IFM_BULK_PIECE = 4096,          /* bytes of a bulk copy */
    IFM_BULK_STAGES = 16,           /* pieces on their way in a block */
    IFM_BULK_READ_THREADS = 256,    /* of ifm_read_bulk */
    IFM_BULK_COPY_THREADS = 32      /* of ifm_copy_bulk */
};

/* Word i of the source is (seed + i) times this: no two words are alike, and sums have a closed form. */
#define IFM_STREAM_GOLDEN 0x9E3779B97F4A7C15ULL

struct ifm_stream_fill { /* ifm_fill_source */
    uint64_t *to, words, seed;
};
struct ifm_stream_spoil { /* ifm_spoil */
    uint64_t *to, words;
    uint64_t stride, seed, pattern; /* every stride-th word; the pattern as below */
};
struct ifm_stream_count { /* ifm_count_wrong */
    const uint64_t *at;
    uint64_t words, seed, pattern; /* pattern 0: the source's words are expected */
    unsigned long long *wrong;     /* grows by as many words as differ */
};
struct ifm_stream_read { /* ifm_read_linear, ifm_read_bulk */
    const void *from;
    uint64_t bytes;
    uint64_t *sums; /* one a warp */
};
struct ifm_stream_write { /* ifm_write_store */
    void *to;
    uint64_t bytes, pattern;
};
struct ifm_stream_copy { /* ifm_copy_flat, ifm_copy_bulk */
    void *to;
    const void *from;
    uint64_t bytes;
};
struct ifm_stream_flops { /* ifm_flops_fma */
    uint64_t rounds;
    float factor, term;
    float *out; /* one a thread */
};

#endif
