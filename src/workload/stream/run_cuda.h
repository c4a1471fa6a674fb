/* An arm of stream on the device cuda. Private to cuda.c, and to tests that spoil what it does.
 *
 * Thread rule: the thread that drives the device. */
#ifndef IFM_WORKLOAD_STREAM_RUN_CUDA_H
#define IFM_WORKLOAD_STREAM_RUN_CUDA_H

#include "device/cuda.h"
#include "workload/stream/stream.h"

struct ifm_stream_cuda_run {
    struct ifm_device *device;
    const char *variant;
    struct ifm_cuda_steps *steps;
    struct ifm_cuda_function *kernel; /* NULL: a copy or fill of the driver's */
    struct ifm_cuda_function *spoiler;
    enum ifm_probe probe;
    unsigned blocks, threads, shared, spoiler_blocks;
    void *from, *to, *sums;
    uint64_t bytes, rounds, seed, pattern;
    size_t n_sums;                  /* of the last launch: one a warp, or one a thread of flops */
    struct ifm_stream_chosen asked; /* what the check holds against it */
};

#endif
