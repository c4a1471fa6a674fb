/* cuDNN's backend interface, opened at run time: the library arm of attention on a GPU. Declared by us.
 *
 * Owns the handle of libcudnn.so.9, which stays open as long as the process. It is looked for where IFM_CUDNN says (a
 * file or a folder) and nowhere else when that is set; else where dyn/toolkit.h looks. What it opens itself (cuBLASLt,
 * NVRTC) is opened before it by path, as a wheel's folders are on nobody's search path. Names and values are those of
 * "cuDNN Backend API" in the documentation of cuDNN 9; tests/tidy/cudnn_api.c holds them against cudnn_graph.h where
 * that is. Thread rule: the driving thread. */
#ifndef IFM_DYN_CUDNN_H
#define IFM_DYN_CUDNN_H

#include "dyn/cuda.h"
#include <stddef.h>
#include <stdint.h>

#define IFM_CUDNN_CONSTANTS(C)                                                                                         \
    C(CUDNN_STATUS_SUCCESS, 0)                                                                                         \
    C(CUDNN_DATA_FLOAT, 0)                                                                                             \
    C(CUDNN_DATA_HALF, 2)                                                                                              \
    C(CUDNN_DATA_INT32, 4)                                                                                             \
    C(CUDNN_DATA_BFLOAT16, 9)                                                                                          \
    C(CUDNN_DATA_BOOLEAN, 11)                                                                                          \
    C(CUDNN_TYPE_HANDLE, 0)                                                                                            \
    C(CUDNN_TYPE_DATA_TYPE, 1)                                                                                         \
    C(CUDNN_TYPE_BOOLEAN, 2)                                                                                           \
    C(CUDNN_TYPE_INT64, 3)                                                                                             \
    C(CUDNN_TYPE_VOID_PTR, 6)                                                                                          \
    C(CUDNN_TYPE_HEUR_MODE, 8)                                                                                         \
    C(CUDNN_TYPE_BACKEND_DESCRIPTOR, 15)                                                                               \
    C(CUDNN_TYPE_POINTWISE_MODE, 14)                                                                                   \
    C(CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 18)                                                                          \
    C(CUDNN_HEUR_MODE_A, 3)                                                                                            \
    C(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, 0)                                                                           \
    C(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, 3)                                                                           \
    C(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, 4)                                                                          \
    C(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, 5)                                                                      \
    C(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, 13)                                                                \
    C(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, 15)                                                                     \
    C(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, 16)                                                                       \
    C(CUDNN_BACKEND_TENSOR_DESCRIPTOR, 17)                                                                             \
    C(CUDNN_BACKEND_MATMUL_DESCRIPTOR, 18)                                                                             \
    C(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, 19)                                                                   \
    C(CUDNN_BACKEND_REDUCTION_DESCRIPTOR, 21)                                                                          \
    C(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, 22)                                                                \
    C(CUDNN_ATTR_POINTWISE_MODE, 0)                                                                                    \
    C(CUDNN_ATTR_POINTWISE_MATH_PREC, 1)                                                                               \
    C(CUDNN_ATTR_POINTWISE_AXIS, 9)                                                                                    \
    C(CUDNN_ATTR_ENGINEHEUR_MODE, 200)                                                                                 \
    C(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, 201)                                                                      \
    C(CUDNN_ATTR_ENGINEHEUR_RESULTS, 202)                                                                              \
    C(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, 400)                                                                           \
    C(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 401)                                                                    \
    C(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 402)                                                                   \
    C(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, 750)                                                               \
    C(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, 751)                                                                       \
    C(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, 752)                                                                       \
    C(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, 753)                                                                       \
    C(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, 758)                                                                       \
    C(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, 800)                                                                           \
    C(CUDNN_ATTR_OPERATIONGRAPH_OPS, 801)                                                                              \
    C(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 900)                                                                           \
    C(CUDNN_ATTR_TENSOR_DATA_TYPE, 901)                                                                                \
    C(CUDNN_ATTR_TENSOR_DIMENSIONS, 902)                                                                               \
    C(CUDNN_ATTR_TENSOR_STRIDES, 903)                                                                                  \
    C(CUDNN_ATTR_TENSOR_UNIQUE_ID, 906)                                                                                \
    C(CUDNN_ATTR_TENSOR_IS_VIRTUAL, 907)                                                                               \
    C(CUDNN_ATTR_TENSOR_IS_BY_VALUE, 908)                                                                              \
    C(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, 1000)                                                                        \
    C(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, 1001)                                                                     \
    C(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, 1003)                                                                         \
    C(CUDNN_ATTR_MATMUL_COMP_TYPE, 1500)                                                                               \
    C(CUDNN_ATTR_OPERATION_MATMUL_ADESC, 1520)                                                                         \
    C(CUDNN_ATTR_OPERATION_MATMUL_BDESC, 1521)                                                                         \
    C(CUDNN_ATTR_OPERATION_MATMUL_CDESC, 1522)                                                                         \
    C(CUDNN_ATTR_OPERATION_MATMUL_DESC, 1523)                                                                          \
    C(CUDNN_ATTR_REDUCTION_OPERATOR, 1600)                                                                             \
    C(CUDNN_ATTR_REDUCTION_COMP_TYPE, 1601)                                                                            \
    C(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, 1610)                                                                      \
    C(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, 1611)                                                                      \
    C(CUDNN_ATTR_OPERATION_REDUCTION_DESC, 1612)                                                                       \
    C(CUDNN_POINTWISE_ADD, 0)                                                                                          \
    C(CUDNN_POINTWISE_MUL, 1)                                                                                          \
    C(CUDNN_POINTWISE_SUB, 9)                                                                                          \
    C(CUDNN_POINTWISE_DIV, 6)                                                                                          \
    C(CUDNN_POINTWISE_EXP, 13)                                                                                         \
    C(CUDNN_POINTWISE_LOG, 15)                                                                                         \
    C(CUDNN_POINTWISE_CMP_GE, 303)                                                                                     \
    C(CUDNN_POINTWISE_GEN_INDEX, 501)                                                                                  \
    C(CUDNN_POINTWISE_BINARY_SELECT, 601)                                                                              \
    C(CUDNN_REDUCE_TENSOR_ADD, 0)                                                                                      \
    C(CUDNN_REDUCE_TENSOR_MAX, 3)

#if !defined(CUDNN_GRAPH_H_) /* of cudnn_graph.h */
typedef struct cudnnContext *cudnnHandle_t;
typedef void *cudnnBackendDescriptor_t;
#define IFM_CUDNN_CONSTANT(name, value) name = value,
enum { IFM_CUDNN_CONSTANTS(IFM_CUDNN_CONSTANT) };
#undef IFM_CUDNN_CONSTANT
#endif

/* F(name, parameters); all return a cudnnStatus_t, 0 = success. Enumerations are ints. */
#define IFM_CUDNN_FUNCTIONS(F)                                                                                         \
    F(cudnnCreate, (cudnnHandle_t * handle))                                                                           \
    F(cudnnDestroy, (cudnnHandle_t handle))                                                                            \
    F(cudnnSetStream, (cudnnHandle_t handle, CUstream stream))                                                         \
    F(cudnnBackendCreateDescriptor, (int type, cudnnBackendDescriptor_t *out))                                         \
    F(cudnnBackendDestroyDescriptor, (cudnnBackendDescriptor_t descriptor))                                            \
    F(cudnnBackendFinalize, (cudnnBackendDescriptor_t descriptor))                                                     \
    F(cudnnBackendSetAttribute,                                                                                        \
      (cudnnBackendDescriptor_t descriptor, int name, int type, int64_t n, const void *values))                        \
    F(cudnnBackendGetAttribute,                                                                                        \
      (cudnnBackendDescriptor_t descriptor, int name, int type, int64_t room, int64_t *n, void *values))               \
    F(cudnnBackendExecute, (cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t variant_pack))

struct ifm_cudnn {
#define IFM_CUDNN_MEMBER(name, parameters) int(*p_##name) parameters;
    IFM_CUDNN_FUNCTIONS(IFM_CUDNN_MEMBER)
#undef IFM_CUDNN_MEMBER
    const char *(*p_cudnnGetErrorString)(int status);
    void (*p_cudnnGetLastErrorString)(char *words, size_t room);
    size_t (*p_cudnnGetVersion)(void);
    char name[40];    /* "cuDNN 9.19.0" */
    const char *file; /* as it was opened */
};

/* NULL where there is none, and `*absence` says why. */
const struct ifm_cudnn *ifm_cudnn_load(struct ifm_cuda_absence *absence);

#endif
