/* A gemm arm whose weights, activations and outputs lie in the processor's memory: opened, stepped and compared.
 *
 * Our kernels and OpenBLAS differ in the function that does a worker's share. It is the first member of their states,
 * and most of their rows. Thread rule: one thread drives it; it fans out through the device. */
#ifndef IFM_WORKLOAD_GEMM_HOST_H
#define IFM_WORKLOAD_GEMM_HOST_H

#include "workload/data/data.h"
#include "workload/data/model_data.h"
#include "workload/gemm/gemm.h"

struct ifm_gemm_host {
    struct ifm_device *device;
    ifm_work_fn *work; /* one worker's share of host->job; its argument is the state */
    const char *arm;
    const char *code; /* kernel or library that runs, for check->isa */
    bool lossy;
    unsigned threads;
    struct ifm_gemm_job job;           /* of the next step */
    const unsigned char *first_matrix; /* layers matrices of `bytes`, one behind the other */
    uint64_t layers, bytes, next;
    struct ifm_model_data data;
    struct ifm_data_known known;
};

/* Generates weights and activations, shared with every arm that has the same, and outputs that are NaN. `work` and
 * `code` are set already. */
IFM_CHECKED enum ifm_status ifm_gemm_host_open(struct ifm_gemm_host *host, const struct ifm_opening *opening,
                                               struct ifm_error *error);
/* Of the row; the argument is a state that begins with the host. A step takes the next matrix as host->job.w. */
void ifm_gemm_host_step(void *host, uint64_t n);
void ifm_gemm_host_spoil(void *host, bool all);
IFM_CHECKED enum ifm_status ifm_gemm_host_check(void *host, struct ifm_check *out, struct ifm_error *error);
void ifm_gemm_host_close(void *host);

#endif
