/* Few activations times a weight matrix: avx512. */
#if defined(__x86_64__)
#define IFM_ISA avx512
#define IFM_LANE_BYTES 64
#define IFM_TILE 8
#include "kernel/cpu/gemm_body.h"
#include "kernel/cpu/gemm_codes_body.h"
#endif
