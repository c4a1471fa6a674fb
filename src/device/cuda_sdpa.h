/* Attention by cuDNN on the stream of the device cuda: softmax(Q K^T / sqrt(head_dim)) V, of a prompt or of one token.
 *
 * The plan is made by `open`, which takes up to a second the first time; a run is one call that can be captured into a
 * graph. Thread rule: the thread that drives the device. */
#ifndef IFM_DEVICE_CUDA_SDPA_H
#define IFM_DEVICE_CUDA_SDPA_H

#include "device/device.h"
#include "kernel/cuda/strides.h"

struct ifm_cuda_sdpa_shape {
    uint64_t batch, q_heads, kv_heads, q_len, kv_len, head_dim;
    uint64_t kv_room;              /* rows that a head of K and of V has in memory, kv_len at least; 0 = kv_len */
    struct ifm_strides q, kv, out; /* row 0: tensors as below, else views */
    bool causal;      /* query i sees keys 0 .. i */
    bool bf16;        /* else f16 */
};

/* q, out: [batch][q_heads][q_len][head_dim]; k, v: [batch][kv_heads][kv_room][head_dim]. On the device. */
struct ifm_cuda_sdpa_tensors {
    const void *q, *k, *v;
    void *out;
};

struct ifm_cuda_sdpa;
/* IFM_MISSING where cuDNN is absent or refuses the shape, with its words. */
IFM_CHECKED enum ifm_status ifm_cuda_sdpa_open(struct ifm_device *device, const struct ifm_cuda_sdpa_shape *shape,
                                               struct ifm_cuda_sdpa **out, struct ifm_error *error);
/* Tensors for the runs to come, `*index` names them; at most IFM_CUDA_SDPA_SETS, so that runs can take some in turn. */
enum { IFM_CUDA_SDPA_SETS = 64 };
IFM_CHECKED enum ifm_status ifm_cuda_sdpa_bind(struct ifm_cuda_sdpa *sdpa, const struct ifm_cuda_sdpa_tensors *tensors,
                                               size_t *index, struct ifm_error *error);
/* On the stream; a failure is remembered by the device (device/cuda.h). */
void ifm_cuda_sdpa_run(struct ifm_cuda_sdpa *sdpa, size_t index);
const char *ifm_cuda_sdpa_library(const struct ifm_cuda_sdpa *sdpa); /* "cuDNN 9.19.0" */
void ifm_cuda_sdpa_close(struct ifm_cuda_sdpa *sdpa);                /* NULL is allowed */

#endif
