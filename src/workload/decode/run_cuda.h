/* An arm of decode on the device cuda. Private to cuda.c and cuda_cache.c, and to tests that spoil what it does.
 *
 * Thread rule: the thread that drives the device. */
#ifndef IFM_WORKLOAD_DECODE_RUN_CUDA_H
#define IFM_WORKLOAD_DECODE_RUN_CUDA_H

#include "device/cuda.h"
#include "kernel/cuda/decode.h"
#include "workload/data/data.h"
#include "workload/decode/source.h"
#include "workload/implementation.h"

struct ifm_decode_cuda_run {
    struct ifm_device *device;
    const struct ifm_implementation *row;
    const char *arm;
    const struct ifm_decode_settings *settings;
    const struct ifm_decode_form *form;
    struct ifm_data_source source;
    uint64_t pairs, pages; /* of a layer */
    uint64_t half;         /* bytes of a layer's K, and of its V behind it */
    uint64_t *first;       /* [pairs + 1] into the table */
    uint32_t *table;       /* [pages] */
    size_t outputs;        /* floats */
    float *q, *out;        /* on the host: as generated, and as read back */
    unsigned layers, turn; /* turn: the layer of the last step */
    void *pools[IFM_CUDA_TURNS];
    struct ifm_cuda_steps *steps;
    struct ifm_cuda_launch launch;
    struct ifm_decode_attend arguments; /* `k` and `v` are the turn's */
    struct ifm_cuda_function *digester;
    unsigned long long *digest;
    struct ifm_data_known known;
};

/* A buffer of the device, filled from the host where it is new. `from` may be NULL: zeros. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_buffer(struct ifm_decode_cuda_run *run, const char *what, const void *from,
                                                   size_t bytes, void **out, struct ifm_error *error);
/* All layers, with their tables: run->first, table, half, pools, and what the arguments say of them. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_caches(struct ifm_decode_cuda_run *run, struct ifm_error *error);

#endif
