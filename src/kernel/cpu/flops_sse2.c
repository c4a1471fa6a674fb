/* Peak FLOP probes: sse2. */
#if defined(__x86_64__)
#define IFM_ISA sse2
#define IFM_LANE_BYTES 16
#include "kernel/cpu/flops_body.h"
#endif
