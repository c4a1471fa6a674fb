/* The library arm of attention: matrix products of OpenBLAS between our own softmax, conversions and blocking.
 *
 * Units as in kernel/cpu/attention.h; of each, S = Q K^T for all keys that its queries see, the softmax of its rows in
 * place, O = S V. Every worker calls the library for one thread.
 * Thread rule: workers write disjoint memory; no state but the caller's. */
#ifndef IFM_WORKLOAD_ATTENTION_BLAS_H
#define IFM_WORKLOAD_ATTENTION_BLAS_H

#include "dyn/openblas.h"
#include "kernel/cpu/dispatch.h"

struct ifm_attention_blas {
    const struct ifm_openblas *library;
    const struct ifm_kernel *softmax, *widen, *store; /* attention.softmax and so on */
};

/* Queries in a unit: near the fastest of 16 .. 512 at each length that was tried (docs/maintain/workloads.md). */
uint32_t ifm_attention_blas_block(const struct ifm_attention_shape *shape, unsigned workers);
/* Of one worker, with blocks of `block` queries. */
size_t ifm_attention_blas_scratch_floats(const struct ifm_attention_shape *shape, uint32_t block);
/* Take units until none is left; `scratch` is the worker's own, 64-byte aligned. */
void ifm_attention_blas(const struct ifm_attention_blas *arm, const struct ifm_attention_job *job, float *scratch);

#endif
