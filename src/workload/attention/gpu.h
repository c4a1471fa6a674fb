/* An attention arm whose inputs and outputs lie in a GPU's memory: opened, stepped and compared.
 *
 * It is the first member of the states of the rows of the device cuda, and most of those rows: each only finds its
 * kernel or library and puts one step on the stream. Every output is compared with a kernel in f64 that shares no code
 * with them, and drawn rows with the host's oracle. Thread rule: the thread that drives the device. */
#ifndef IFM_WORKLOAD_ATTENTION_GPU_H
#define IFM_WORKLOAD_ATTENTION_GPU_H

#include "device/cuda.h"
#include "kernel/cuda/attention.h"
#include "workload/attention/attention.h"
#include "workload/data/data.h"

struct ifm_attention_gpu {
    struct ifm_device *device;
    const char *arm;
    const char *code; /* of a library that runs, for check->isa; NULL = our kernels */
    struct ifm_attention_shape shape;
    enum ifm_attention_layout layout;
    struct ifm_attention_views at;
    union { /* on the device: of the kernels, and of those over views, which begin with the same; of the first layer */
        struct ifm_attention_arguments arguments;
        struct ifm_attention_strided strided;
    };
    unsigned layers, turn; /* turn: the layer of the step that is enqueued, and of the last one */
    unsigned written;      /* layers, since outputs were spoiled */
    struct ifm_cuda_function *reference;
    struct ifm_cuda_steps *steps;
    void *reference_out;      /* of one sequence, on the device */
    uint32_t *lengths;        /* the host's */
    size_t q_bytes, kv_bytes; /* of a layer; that of the next one lies behind it */
    size_t input_bytes[3];    /* of arguments.q, k and v; packed: the first is of all, the others are 0 */
    uint64_t seed;
    struct ifm_data_known known;
};

/* What a row of this device says of any arm: NULL, or why not. */
const char *ifm_attention_gpu_supports(struct ifm_attention_ask *ask, struct ifm_arena *arena);
/* The kernel `name` of `image` for the layout of the opening. */
IFM_CHECKED enum ifm_status ifm_attention_gpu_find(const struct ifm_opening *opening, const char *image,
                                                   const char *name, struct ifm_cuda_function **out,
                                                   struct ifm_error *error);
/* Inputs, shared with every arm that has the same, outputs that are NaN, and steps that `enqueue` puts on the stream
 * with `state`, which begins with `gpu`. */
IFM_CHECKED enum ifm_status ifm_attention_gpu_open(struct ifm_attention_gpu *gpu, const struct ifm_opening *opening,
                                                   ifm_cuda_enqueue_fn *enqueue, struct ifm_error *error);
/* The arguments of a step over a layer. */
struct ifm_attention_strided ifm_attention_gpu_layer(const struct ifm_attention_gpu *gpu, unsigned layer);
/* Of the row; the argument is a state that begins with the struct above. */
void ifm_attention_gpu_step(void *gpu, uint64_t n);
void ifm_attention_gpu_spoil(void *gpu, bool all);
IFM_CHECKED enum ifm_status ifm_attention_gpu_check(void *gpu, struct ifm_check *out, struct ifm_error *error);
void ifm_attention_gpu_close(void *gpu);

#endif
