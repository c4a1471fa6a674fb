/* Caches of all layers as they were before a fault of an inference cycle, and where they lay: a fault that loses them
 * has `mend` in front, for what the one before it lost. Include after planted_cuda.h. */
#ifndef IFM_TESTS_PLANTED_KEPT_H
#define IFM_TESTS_PLANTED_KEPT_H

#include "workload/decode/run_cuda.h"

static struct {
    unsigned char *bytes;
    size_t n;
} caches; /* before a fault, of all layers; NULL = all is well */

static void *own_pools[IFM_DECODE_CUDA_LAYERS]; /* before a fault; NULL = all is well */

static inline void keep_caches(struct ifm_decode_cuda_run *run)
{
    caches.n = run->layers * 2 * run->half;
    caches.bytes = malloc(caches.n);
    assert_non_null(caches.bytes);
    ifm_decode_cuda_rewind(run);
    planted_read(run->device, caches.bytes, run->pools[0], caches.n);
}

static inline void mend(void *state)
{
    struct ifm_decode_cuda_run *run = state;
    if (own_pools[0] != NULL)
        memcpy(run->pools, own_pools, sizeof own_pools);
    own_pools[0] = NULL;
    if (caches.bytes == NULL)
        return;
    planted_write(run->device, run->pools[0], caches.bytes, caches.n);
    free(caches.bytes);
    caches.bytes = NULL;
}

#endif
