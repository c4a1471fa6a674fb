/* What the implementations of gemm share: settings, what is asked of a row, and what describe chooses. Plain data. */
#ifndef IFM_WORKLOAD_GEMM_GEMM_H
#define IFM_WORKLOAD_GEMM_GEMM_H

#include "kernel/cpu/gemm.h"
#include "workload/workload.h"

struct ifm_gemm_settings {
    uint64_t m, n, k, layers;
    int group, isa;
    struct ifm_list weights, arms;
};

struct ifm_gemm_chosen {
    uint64_t layers; /* weight matrices that steps take in turn */
    int format;      /* enum ifm_gemm_format of the weights */
    const char *isa; /* of our kernel; "" = none was chosen */
};

/* Whether a row multiplies weights of the format; `isa` and `scratch` are what it answers. */
struct ifm_gemm_ask {
    const struct ifm_gemm_settings *settings;
    struct ifm_gemm_shape shape;
    const char *isa;
    uint64_t scratch;     /* bytes beside weights, x and out */
    unsigned value_bytes; /* of an element of x or out; 0 = those of a float */
    bool matrix;          /* it multiplies on a GPU's matrix units */
    bool too_many;        /* it refuses for gemm.m alone: a library may do */
};

struct ifm_gemm_shape ifm_gemm_shape_of(const struct ifm_gemm_settings *settings, enum ifm_gemm_format format);

extern const struct ifm_implementation ifm_gemm_openblas, ifm_gemm_cpu, ifm_gemm_cuda_cublaslt, ifm_gemm_cuda_ours,
    ifm_gemm_cuda_naive;

#endif
