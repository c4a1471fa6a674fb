/* Peak probes of byte products: avx2. */
#if defined(__x86_64__)
#define IFM_ISA avx2
#define IFM_LANE_BYTES 32
#include "kernel/cpu/dots_body.h"
#endif
