/* Few activations times panels of codes: avx512 with byte dot products. f32 and bf16 have no use for them. */
#if defined(__x86_64__)
#define IFM_ISA avx512vnni
#define IFM_LANE_BYTES 64
#define IFM_TILE 8
#define IFM_GEMM_BYTES
#include "kernel/cpu/gemm_codes_body.h"
#endif
