/* Attention forward: sse2. */
#if defined(__x86_64__)
#define IFM_ISA sse2
#define IFM_LANE_BYTES 16
#define IFM_VECTORS 2
#define IFM_DEEP 4
#include "kernel/cpu/attention_body.h"
#endif
