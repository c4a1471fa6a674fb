/* Peak probes of byte products: avx512. */
#if defined(__x86_64__)
#define IFM_ISA avx512
#define IFM_LANE_BYTES 64
#include "kernel/cpu/dots_body.h"
#endif
