/* An attention arm whose inputs and outputs lie in the processor's memory: opened, stepped and compared.
 *
 * Our kernels and the library's arm differ in the block that they cut the work into and in what a worker does with it.
 * Thread rule: one thread drives it; it fans out through the device. */
#ifndef IFM_WORKLOAD_ATTENTION_HOST_H
#define IFM_WORKLOAD_ATTENTION_HOST_H

#include "workload/attention/attention.h"

struct ifm_attention_host {
    struct ifm_device *device;
    const char *arm;
    unsigned threads;
    struct ifm_attention_job job;
    struct ifm_attention_unit *units;
    uint32_t *lengths;
    size_t scratch_floats; /* of one worker */
    size_t out_bytes;
};

/* How an implementation cuts the work. */
struct ifm_attention_cut {
    uint32_t (*block)(const struct ifm_attention_shape *shape, unsigned workers); /* queries in a unit */
    size_t (*scratch_floats)(const struct ifm_attention_shape *shape, uint32_t block);
};

/* What open needs of the user's file is there; the `ready` of every implementation. */
IFM_CHECKED enum ifm_status ifm_attention_host_ready(const struct ifm_opening *opening, struct ifm_error *error);
/* Inputs, shared with every arm that has the same, and outputs that are NaN. Close it also after a failure. */
IFM_CHECKED enum ifm_status ifm_attention_host_open(struct ifm_attention_host *host, const struct ifm_opening *opening,
                                                    const struct ifm_attention_cut *cut, struct ifm_error *error);
/* `n` steps: all workers do `work`, which takes units of host->job until none is left. */
void ifm_attention_host_step(struct ifm_attention_host *host, uint64_t n, ifm_work_fn *work, void *arg);
/* `code`: of the kernel or library, for check->isa. */
IFM_CHECKED enum ifm_status ifm_attention_host_check(struct ifm_attention_host *host, const char *code,
                                                     struct ifm_check *out, struct ifm_error *error);
void ifm_attention_host_close(struct ifm_attention_host *host);

#endif
