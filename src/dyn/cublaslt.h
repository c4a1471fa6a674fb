/* cuBLASLt, NVIDIA's matrix products, opened at run time: the library arm of gemm on a GPU. Declared by us.
 *
 * Owns the handle of libcublasLt.so, which stays open as long as the process. It is looked for where IFM_CUBLASLT says
 * (a file or a folder) and nowhere else when that is set; else where dyn/toolkit.h looks. Names, types and values are
 * those of "Using the cuBLASLt API" in the documentation of cuBLAS 13.1; tests/tidy/cublaslt_api.c holds them against
 * cublasLt.h where the toolkit is. Thread rule: the driving thread. */
#ifndef IFM_DYN_CUBLASLT_H
#define IFM_DYN_CUBLASLT_H

#include "dyn/cuda.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IFM_CUBLASLT_CONSTANTS(C)                                                                                      \
    C(CUBLAS_STATUS_SUCCESS, 0)                                                                                        \
    C(CUBLAS_COMPUTE_32F, 68)                                                                                          \
    C(CUDA_R_32F, 0)                                                                                                   \
    C(CUDA_R_16F, 2)                                                                                                   \
    C(CUDA_R_16BF, 14)                                                                                                 \
    C(CUBLAS_OP_T, 1)                                                                                                  \
    C(CUBLASLT_MATMUL_DESC_TRANSA, 3)                                                                                  \
    C(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 1)

#if !defined(CUBLAS_VERSION) /* of cublasLt.h */
typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct ifm_cublaslt_desc *cublasLtMatmulDesc_t;
typedef struct ifm_cublaslt_layout *cublasLtMatrixLayout_t;
typedef struct ifm_cublaslt_preference *cublasLtMatmulPreference_t;
typedef struct {
    uint64_t data[8];
} cublasLtMatmulAlgo_t;
typedef struct {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    int state;
    float wavesCount;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;
#define IFM_CUBLASLT_CONSTANT(name, value) name = value,
enum { IFM_CUBLASLT_CONSTANTS(IFM_CUBLASLT_CONSTANT) };
#undef IFM_CUBLASLT_CONSTANT
#endif

/* F(name, parameters); all return a cublasStatus_t, 0 = success. Enumerations are ints. */
#define IFM_CUBLASLT_FUNCTIONS(F)                                                                                      \
    F(cublasLtCreate, (cublasLtHandle_t * handle))                                                                     \
    F(cublasLtDestroy, (cublasLtHandle_t handle))                                                                      \
    F(cublasLtMatmulDescCreate, (cublasLtMatmulDesc_t * out, int compute, int scale))                                  \
    F(cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t desc))                                                          \
    F(cublasLtMatmulDescSetAttribute, (cublasLtMatmulDesc_t desc, int which, const void *value, size_t bytes))         \
    F(cublasLtMatrixLayoutCreate,                                                                                      \
      (cublasLtMatrixLayout_t * out, int type, uint64_t rows, uint64_t columns, int64_t leading))                      \
    F(cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t layout))                                                    \
    F(cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t * out))                                              \
    F(cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t preference))                                        \
    F(cublasLtMatmulPreferenceSetAttribute,                                                                            \
      (cublasLtMatmulPreference_t preference, int which, const void *value, size_t bytes))                             \
    F(cublasLtMatmulAlgoGetHeuristic,                                                                                  \
      (cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,         \
       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int most,            \
       cublasLtMatmulHeuristicResult_t *out, int *n))                                                                  \
    F(cublasLtMatmul,                                                                                                  \
      (cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *a,                           \
       cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,              \
       const void *c, cublasLtMatrixLayout_t c_layout, void *d, cublasLtMatrixLayout_t d_layout,                       \
       const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspace_bytes, CUstream stream))

struct ifm_cublaslt {
#define IFM_CUBLASLT_MEMBER(name, parameters) int(*p_##name) parameters;
    IFM_CUBLASLT_FUNCTIONS(IFM_CUBLASLT_MEMBER)
#undef IFM_CUBLASLT_MEMBER
    const char *(*p_cublasLtGetStatusString)(int status);
    size_t (*p_cublasLtGetVersion)(void);
    char name[40];    /* "cuBLASLt 13.1.0" */
    const char *file; /* as it was opened */
};

/* NULL where there is none, and `*absence` says why. */
const struct ifm_cublaslt *ifm_cublaslt_load(struct ifm_cuda_absence *absence);

#endif
