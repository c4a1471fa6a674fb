/* Peak probes of byte products: avx512 with byte dot products. */
#if defined(__x86_64__)
#define IFM_ISA avx512vnni
#define IFM_LANE_BYTES 64
#define IFM_DOT_BYTES
#include "kernel/cpu/dots_body.h"
#endif
