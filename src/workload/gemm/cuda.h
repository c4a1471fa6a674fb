/* A gemm arm whose weights, activations and outputs lie in a GPU's memory: opened, stepped and compared.
 *
 * Our kernels and the library differ in what they put on the stream for a step. It is the first member of their states,
 * and most of their rows. Weights are generated and stored as a processor's; activations are rounded to bf16 beside
 * bf16 weights, else to f16, which holds them all. Thread rule: the thread that drives the device. */
#ifndef IFM_WORKLOAD_GEMM_CUDA_H
#define IFM_WORKLOAD_GEMM_CUDA_H

#include "device/cuda.h"
#include "kernel/cuda/gemm.h"
#include "workload/data/data.h"
#include "workload/data/model_data.h"
#include "workload/gemm/gemm.h"

struct ifm_gemm_cuda {
    struct ifm_device *device;
    const char *arm;
    const char *code;         /* whose runs, for check->isa; NULL = ours */
    bool lossy, in_fragments; /* the codes of int8 and int4 are in the order of a GPU's matrix instructions */
    bool in_order;            /* ... with k in order, for wgmma */
    struct ifm_gemm_shape shape;
    uint64_t layers, bytes; /* matrices, and those of each */
    unsigned turn;          /* the matrix of the step that is enqueued */
    const unsigned char *matrices;
    const void *plain; /* what the reference multiplies: another matrix, of the same weights, where they are in
                          fragments; else NULL */
    struct ifm_cuda_gemm arguments; /* of a step, but for w */
    double *sums;                   /* of the reference */
    struct ifm_cuda_function *reference;
    struct ifm_cuda_steps *steps;
    struct ifm_model_data data;
    struct ifm_data_known known;
};

/* NULL, or why no row of the device cuda takes what is asked. */
const char *ifm_gemm_cuda_supports(struct ifm_gemm_ask *ask);
/* Buffers and the steps of `enqueue`, whose argument is the state; in_fragments is set already. */
IFM_CHECKED enum ifm_status ifm_gemm_cuda_open(struct ifm_gemm_cuda *gemm, const struct ifm_opening *opening,
                                               ifm_cuda_enqueue_fn *enqueue, struct ifm_error *error);
/* The matrix of the step that is enqueued. */
const void *ifm_gemm_cuda_matrix(const struct ifm_gemm_cuda *gemm);
/* Of the row; the argument is a state that begins with struct ifm_gemm_cuda. */
void ifm_gemm_cuda_step(void *gemm, uint64_t n);
void ifm_gemm_cuda_spoil(void *gemm, bool all);
IFM_CHECKED enum ifm_status ifm_gemm_cuda_check(void *gemm, struct ifm_check *out, struct ifm_error *error);
void ifm_gemm_cuda_close(void *gemm);

/* ---- fragments.c ---- */
/* One matrix of int8 or int4 with its codes in fragments (kernel/cuda/gemm.h), those of wgmma if `in_order`; both of
 * ifm_gemm_bytes. */
void ifm_gemm_to_fragments(const struct ifm_gemm_shape *shape, bool in_order, const void *from, void *to);

#endif
