/* Compiled alone, where the CUDA toolkit is: our declarations of cuBLASLt against those of cublasLt.h. */
#include <cublasLt.h>

#include "dyn/cublaslt.h"

#define SAME_VALUE(name, value) _Static_assert((int)(name) == (value), #name);
IFM_CUBLASLT_CONSTANTS(SAME_VALUE)

_Static_assert(sizeof(cublasLtMatmulAlgo_t) == 64 && sizeof(cublasLtMatmulHeuristicResult_t) == 96 &&
                   offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) == 64 &&
                   offsetof(cublasLtMatmulHeuristicResult_t, state) == 72,
               "what the heuristic gives");
_Static_assert(sizeof(cublasComputeType_t) == sizeof(int) && sizeof(cudaDataType_t) == sizeof(int) &&
                   sizeof(cublasStatus_t) == sizeof(int) && sizeof(cublasOperation_t) == sizeof(int) &&
                   sizeof(cublasLtMatmulDescAttributes_t) == sizeof(int),
               "enumerations are as wide as ints");
