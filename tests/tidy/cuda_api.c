/* Compiled alone, where the CUDA toolkit is: our declarations of the driver API against those of cuda.h. */
#include <cuda.h>

#define cuCtxSynchronize cuCtxSynchronize_v2 /* what cuGetProcAddress gives for CUDA 13.0 */
#include "dyn/cuda_api.h"

#define SAME_VALUE(name, value) _Static_assert((int)(name) == (value), #name);
IFM_CUDA_CONSTANTS(SAME_VALUE)

#define SAME_TYPE(name, parameters)                                                                                    \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&name), CUresult(*) parameters), #name);
IFM_CUDA_FUNCTIONS(SAME_TYPE)
_Static_assert(__builtin_types_compatible_p(__typeof__(cuGetProcAddress), ifm_cuda_get_proc_fn), "cuGetProcAddress");

/* Types that a file without cuda.h has from us. */
_Static_assert(sizeof(CUresult) == sizeof(unsigned) && sizeof(CUdevice_attribute) == sizeof(unsigned) &&
                   sizeof(CUfunction_attribute) == sizeof(unsigned) &&
                   sizeof(CUstreamCaptureMode) == sizeof(unsigned) &&
                   sizeof(CUdriverProcAddressQueryResult) == sizeof(unsigned),
               "enumerations are unsigned");
_Static_assert(sizeof(CUlaunchAttributeID) == sizeof(unsigned) && sizeof(CUlaunchAttributeValue) == 64 &&
                   sizeof(CUlaunchAttribute) == 72 && offsetof(CUlaunchAttribute, value) == 8 &&
                   sizeof(CUlaunchConfig) == 56 && offsetof(CUlaunchConfig, hStream) == 32 &&
                   offsetof(CUlaunchConfig, attrs) == 40 && offsetof(CUlaunchConfig, numAttrs) == 48 &&
                   offsetof(CUlaunchAttributeValue, programmaticStreamSerializationAllowed) == 0,
               "what a launch is described by");
_Static_assert(sizeof(CUtensorMapDataType) == sizeof(unsigned) && sizeof(CUtensorMapInterleave) == sizeof(unsigned) &&
                   sizeof(CUtensorMapSwizzle) == sizeof(unsigned) &&
                   sizeof(CUtensorMapL2promotion) == sizeof(unsigned) &&
                   sizeof(CUtensorMapFloatOOBfill) == sizeof(unsigned) && sizeof(CUtensorMap) == 128 &&
                   _Alignof(CUtensorMap) == 128 && __builtin_types_compatible_p(cuuint32_t, uint32_t),
               "what tiles are described by");
_Static_assert(__builtin_types_compatible_p(CUdevice, int), "CUdevice");
_Static_assert(__builtin_types_compatible_p(CUdeviceptr, unsigned long long), "CUdeviceptr");
_Static_assert(__builtin_types_compatible_p(cuuint64_t, uint64_t), "cuuint64_t");
_Static_assert(__builtin_types_compatible_p(CUcontext, struct CUctx_st *), "CUcontext");
_Static_assert(__builtin_types_compatible_p(CUmodule, struct CUmod_st *), "CUmodule");
_Static_assert(__builtin_types_compatible_p(CUfunction, struct CUfunc_st *), "CUfunction");
_Static_assert(__builtin_types_compatible_p(CUstream, struct CUstream_st *), "CUstream");
_Static_assert(__builtin_types_compatible_p(CUevent, struct CUevent_st *), "CUevent");
_Static_assert(__builtin_types_compatible_p(CUgraph, struct CUgraph_st *), "CUgraph");
_Static_assert(__builtin_types_compatible_p(CUgraphExec, struct CUgraphExec_st *), "CUgraphExec");
