/* The part of the CUDA driver API that we use, declared by us: a build needs no CUDA header, and opens what there is.
 *
 * Names, types and values are those of the driver API's documentation ("CUDA Driver API", version 13.0), whose binary
 * interface NVIDIA keeps; tests/tidy/cuda_api.c holds them against cuda.h where the toolkit is. A file that includes
 * cuda.h itself has its types from there. */
#ifndef IFM_DYN_CUDA_API_H
#define IFM_DYN_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#define IFM_CUDA_CONSTANTS(C)                                                                                          \
    C(CUDA_SUCCESS, 0)                                                                                                 \
    C(CUDA_ERROR_INVALID_VALUE, 1)                                                                                     \
    C(CUDA_ERROR_OUT_OF_MEMORY, 2)                                                                                     \
    C(CUDA_ERROR_NO_DEVICE, 100)                                                                                       \
    C(CUDA_ERROR_INVALID_DEVICE, 101)                                                                                  \
    C(CUDA_ERROR_INVALID_IMAGE, 200)                                                                                   \
    C(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                                                               \
    C(CUDA_ERROR_INVALID_HANDLE, 400)                                                                                  \
    C(CUDA_ERROR_NOT_FOUND, 500)                                                                                       \
    C(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                                                                 \
    C(CUDA_ERROR_SYSTEM_NOT_READY, 802)                                                                                \
    C(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                                                                      \
    C(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901)                                                                      \
    C(CUDA_ERROR_UNKNOWN, 999)                                                                                         \
    C(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                                                              \
    C(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                                    \
    C(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                                                                       \
    C(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)                                                                 \
    C(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                                                           \
    C(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)                                                          \
    C(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                                                \
    C(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                                                \
    C(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                                                          \
    C(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                                                           \
    C(CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                                                                   \
    C(CU_FUNC_ATTRIBUTE_PTX_VERSION, 5)                                                                                \
    C(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                                                              \
    C(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 9)                                                           \
    C(CU_STREAM_NON_BLOCKING, 1)                                                                                       \
    C(CU_STREAM_CAPTURE_MODE_GLOBAL, 0)                                                                                \
    C(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 6)                                                        \
    C(CU_EVENT_DEFAULT, 0)                                                                                             \
    C(CU_TENSOR_MAP_DATA_TYPE_UINT16, 1)                                                                               \
    C(CU_TENSOR_MAP_INTERLEAVE_NONE, 0)                                                                                \
    C(CU_TENSOR_MAP_SWIZZLE_128B, 3)                                                                                   \
    C(CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 2)                                                                           \
    C(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, 0)                                                                            \
    C(CU_GET_PROC_ADDRESS_DEFAULT, 0)                                                                                  \
    C(CU_GET_PROC_ADDRESS_SUCCESS, 0)                                                                                  \
    C(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, 1)

#if !defined(CUDA_VERSION) /* of cuda.h */
typedef unsigned CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef uint64_t cuuint64_t;
typedef uint32_t cuuint32_t;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef unsigned CUdevice_attribute;
typedef unsigned CUfunction_attribute;
typedef unsigned CUstreamCaptureMode;
typedef unsigned CUdriverProcAddressQueryResult;
typedef unsigned CUlaunchAttributeID;
typedef union {
    char pad[64];
    int programmaticStreamSerializationAllowed;
} CUlaunchAttributeValue;
typedef struct {
    CUlaunchAttributeID id;
    char pad[8 - sizeof(CUlaunchAttributeID)];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;
typedef struct {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;
typedef unsigned CUtensorMapDataType;
typedef unsigned CUtensorMapInterleave;
typedef unsigned CUtensorMapSwizzle;
typedef unsigned CUtensorMapL2promotion;
typedef unsigned CUtensorMapFloatOOBfill;
typedef struct CUtensorMap_st {
    _Alignas(128) cuuint64_t opaque[16];
} CUtensorMap;
#define IFM_CUDA_CONSTANT(name, value) name = value,
enum { IFM_CUDA_CONSTANTS(IFM_CUDA_CONSTANT) };
#undef IFM_CUDA_CONSTANT
#endif

/* F(name, parameters): the documented name, with the parameters of the version that cuGetProcAddress gives for
 * CUDA 13.0 (cuMemAlloc is cuMemAlloc_v2). All return CUresult. */
#define IFM_CUDA_FUNCTIONS(F)                                                                                          \
    F(cuInit, (unsigned flags))                                                                                        \
    F(cuDriverGetVersion, (int *version))                                                                              \
    F(cuGetErrorName, (CUresult error, const char **name))                                                             \
    F(cuGetErrorString, (CUresult error, const char **text))                                                           \
    F(cuDeviceGetCount, (int *n))                                                                                      \
    F(cuDeviceGet, (CUdevice * device, int ordinal))                                                                   \
    F(cuDeviceGetName, (char *name, int size, CUdevice device))                                                        \
    F(cuDeviceGetAttribute, (int *value, CUdevice_attribute which, CUdevice device))                                   \
    F(cuDeviceTotalMem, (size_t * bytes, CUdevice device))                                                             \
    F(cuDeviceGetPCIBusId, (char *bus, int size, CUdevice device))                                                     \
    F(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                                \
    F(cuDevicePrimaryCtxRelease, (CUdevice device))                                                                    \
    F(cuDevicePrimaryCtxReset, (CUdevice device))                                                                      \
    F(cuCtxSetCurrent, (CUcontext context))                                                                            \
    F(cuCtxGetCurrent, (CUcontext * context))                                                                          \
    F(cuCtxSynchronize, (CUcontext context))                                                                           \
    F(cuModuleLoadData, (CUmodule * module, const void *image))                                                        \
    F(cuModuleUnload, (CUmodule module))                                                                               \
    F(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))                                 \
    F(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute which, int value))                                \
    F(cuFuncGetAttribute, (int *value, CUfunction_attribute which, CUfunction function))                               \
    F(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                                     \
      (int *blocks, CUfunction function, int threads, size_t shared_bytes))                                            \
    F(cuMemGetInfo, (size_t * available, size_t * total))                                                              \
    F(cuMemAlloc, (CUdeviceptr * data, size_t bytes))                                                                  \
    F(cuMemFree, (CUdeviceptr data))                                                                                   \
    F(cuMemcpyHtoD, (CUdeviceptr to, const void *from, size_t bytes))                                                  \
    F(cuMemcpyDtoH, (void *to, CUdeviceptr from, size_t bytes))                                                        \
    F(cuMemcpyDtoDAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                            \
    F(cuMemsetD32Async, (CUdeviceptr to, unsigned word, size_t words, CUstream stream))                                \
    F(cuStreamCreate, (CUstream * stream, unsigned flags))                                                             \
    F(cuStreamDestroy, (CUstream stream))                                                                              \
    F(cuStreamSynchronize, (CUstream stream))                                                                          \
    F(cuStreamBeginCapture, (CUstream stream, CUstreamCaptureMode mode))                                               \
    F(cuStreamEndCapture, (CUstream stream, CUgraph * graph))                                                          \
    F(cuGraphCreate, (CUgraph * graph, unsigned flags))                                                                \
    F(cuGraphAddChildGraphNode,                                                                                        \
      (CUgraphNode * node, CUgraph graph, const CUgraphNode *after, size_t n_after, CUgraph child))                    \
    F(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags))                      \
    F(cuGraphUpload, (CUgraphExec exec, CUstream stream))                                                              \
    F(cuGraphLaunch, (CUgraphExec exec, CUstream stream))                                                              \
    F(cuGraphDestroy, (CUgraph graph))                                                                                 \
    F(cuGraphExecDestroy, (CUgraphExec exec))                                                                          \
    F(cuEventCreate, (CUevent * event, unsigned flags))                                                                \
    F(cuEventDestroy, (CUevent event))                                                                                 \
    F(cuEventRecord, (CUevent event, CUstream stream))                                                                 \
    F(cuEventElapsedTime, (float *ms, CUevent from, CUevent to))                                                       \
    F(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra))          \
    F(cuLaunchKernel, (CUfunction function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,                   \
                       unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared_bytes,              \
                       CUstream stream, void **parameters, void **extra))                                              \
    F(cuTensorMapEncodeTiled,                                                                                          \
      (CUtensorMap * map, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *sizes,           \
       const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps, CUtensorMapInterleave interleave,    \
       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill))

/* The one function that is found by the loader, as cuGetProcAddress_v2. */
typedef CUresult ifm_cuda_get_proc_fn(const char *name, void **address, int version, cuuint64_t flags,
                                      CUdriverProcAddressQueryResult *status);

#endif
