/* Compiled alone, where the headers of cuDNN are: our declarations of its backend against those of cudnn_graph.h. */
#include <cudnn_graph.h>

#include "dyn/cudnn.h"

#define SAME_VALUE(name, value) _Static_assert((int)(name) == (value), #name);
IFM_CUDNN_CONSTANTS(SAME_VALUE)

_Static_assert(sizeof(cudnnStatus_t) == sizeof(int) && sizeof(cudnnDataType_t) == sizeof(int) &&
                   sizeof(cudnnPointwiseMode_t) == sizeof(int) && sizeof(cudnnReduceTensorOp_t) == sizeof(int) &&
                   sizeof(cudnnBackendHeurMode_t) == sizeof(int) && sizeof(cudnnBackendDescriptorType_t) == sizeof(int),
               "enumerations are as wide as ints");
_Static_assert(__builtin_types_compatible_p(cudnnBackendDescriptor_t, void *), "a descriptor is a pointer");
