/* Decode attention: sse2. */
#if defined(__x86_64__)
#define IFM_ISA sse2
#define IFM_LANE_BYTES 16
#define IFM_TILE_HEADS 2
#include "kernel/cpu/decode_body.h"
#endif
