/* stream on the device cuda: which probes there are, and one of them opened.
 *
 * `stream.c` binds the settings and shares these with the device cpu's. Amounts come from the arm's ledger.
 * Thread rule: the thread that drives the device. */
#ifndef IFM_WORKLOAD_STREAM_CUDA_H
#define IFM_WORKLOAD_STREAM_CUDA_H

#include "workload/stream/probe.h"

/* Shapes of a probe, NULL-terminated: read {linear, bulk}, write {store, memset}, copy {flat, bulk, memcpy},
 * flops {fma}, matrix {bf16} on compute capability 9.0. NULL where the device has no such probe. */
const char *const *ifm_stream_cuda_shapes(enum ifm_probe probe, const struct ifm_gpu *gpu);
/* Bytes of a buffer when the settings name none: 16 times the second-level cache and at least 1 GiB, so that what the
 * cache keeps is below a sixteenth. */
uint64_t ifm_stream_cuda_size(const struct ifm_gpu *gpu);
/* Operations of one step of the probes flops and matrix. */
uint64_t ifm_stream_cuda_flops(enum ifm_probe probe, const struct ifm_gpu *gpu);
/* Largest relative error that counts as correct: 0 but for matrix, whose sums are rounded as they grow. */
double ifm_stream_cuda_tolerance(enum ifm_probe probe);

struct ifm_stream_cuda;
IFM_CHECKED enum ifm_status ifm_stream_cuda_open(const struct ifm_arm *arm, enum ifm_probe probe,
                                                 struct ifm_device *device, uint64_t seed, struct ifm_stream_cuda **out,
                                                 struct ifm_error *error);
void ifm_stream_cuda_step(struct ifm_stream_cuda *state, uint64_t n);
IFM_CHECKED enum ifm_status ifm_stream_cuda_check(struct ifm_stream_cuda *state, struct ifm_check *out,
                                                  struct ifm_error *error);
void ifm_stream_cuda_close(struct ifm_stream_cuda *state); /* NULL is allowed */

#endif
