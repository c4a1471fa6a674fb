/* Attention forward: avx512. */
#if defined(__x86_64__)
#define IFM_ISA avx512
#define IFM_LANE_BYTES 64
#define IFM_VECTORS 2
#define IFM_DEEP 8
#include "kernel/cpu/attention_body.h"
#endif
