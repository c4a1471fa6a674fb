/* Few activations times a weight matrix: avx2. */
#if defined(__x86_64__)
#define IFM_ISA avx2
#define IFM_LANE_BYTES 32
#define IFM_TILE 4
#include "kernel/cpu/gemm_body.h"
#include "kernel/cpu/gemm_codes_body.h"
#endif
