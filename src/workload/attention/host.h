/* An attention arm whose inputs and outputs lie in the processor's memory: opened, stepped and compared.
 *
 * Our kernels and the library's arm differ in the block that they cut the work into and in what a worker does with it.
 * It is the first member of their states, and most of their rows. Thread rule: one thread drives it; it fans out
 * through the device. */
#ifndef IFM_WORKLOAD_ATTENTION_HOST_H
#define IFM_WORKLOAD_ATTENTION_HOST_H

#include "workload/attention/attention.h"
#include "workload/data/data.h"

/* How an implementation cuts the work, and what its workers do. */
struct ifm_attention_cut {
    uint32_t (*block)(const struct ifm_attention_shape *shape, unsigned workers); /* queries in a unit */
    size_t (*scratch_floats)(const struct ifm_attention_shape *shape, uint32_t block);
    ifm_work_fn *work; /* takes units of host->job until none is left; its argument is the state */
};

struct ifm_attention_host {
    struct ifm_device *device;
    const struct ifm_attention_cut *cut;
    const char *arm;
    const char *code; /* kernel or library that runs, for check->isa */
    unsigned threads;
    struct ifm_attention_job job; /* its tensors are those of the last step */
    const char *q, *k, *v;        /* of the first layer; those of the others lie behind them */
    char *out;
    uint64_t layers, next, written; /* next: of the next step; written: since outputs were spoiled, the last ones */
    struct ifm_attention_unit *units;
    uint32_t *lengths;
    size_t scratch_floats;      /* of one worker */
    size_t out_bytes, kv_bytes; /* of a layer: Q and the outputs, K, V */
    size_t input_bytes[3];      /* of q, k and v, of a layer; packed: the first is of all, the others are 0 */
    uint64_t seed;
    struct ifm_data_known known;
};

/* Of the arm that is opened. */
struct ifm_attention_shape ifm_attention_shape_of(const struct ifm_opening *opening);
enum ifm_attention_layout ifm_attention_layout_of(const struct ifm_opening *opening);
/* What names a shared input, `which` of Q, K, V, P (all three, packed) and L (lengths): the same shape, storage, seed
 * and file are the same memory for every arm of the cell. */
enum { IFM_ATTENTION_NAME = 160 };
void ifm_attention_input_name(const struct ifm_opening *opening, char which, char out[static IFM_ATTENTION_NAME]);
/* Of packed views: where K and V begin in the tensor that begins with Q. */
void ifm_attention_split(const struct ifm_attention_shape *shape, void *q, void **k, void **v);
/* `status` of a buffer that holds `layers`; where it cannot be had, the remedy is fewer of them. */
IFM_CHECKED enum ifm_status ifm_attention_fewer(uint64_t layers, enum ifm_status status, struct ifm_error *error);
/* What open needs of the user's file is there; the `ready` of every implementation. */
IFM_CHECKED enum ifm_status ifm_attention_host_ready(const struct ifm_opening *opening, struct ifm_error *error);
/* Inputs, shared with every arm that has the same, and outputs that are NaN. `cut` and `code` are set already. */
IFM_CHECKED enum ifm_status ifm_attention_host_open(struct ifm_attention_host *host, const struct ifm_opening *opening,
                                                    struct ifm_error *error);
/* Of the row; the argument is a state that begins with the host. */
void ifm_attention_host_step(void *host, uint64_t n);
void ifm_attention_host_spoil(void *host, bool all);
IFM_CHECKED enum ifm_status ifm_attention_host_check(void *host, struct ifm_check *out, struct ifm_error *error);
void ifm_attention_host_close(void *host);

#endif
