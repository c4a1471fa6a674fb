/* Decode attention: avx2. */
#if defined(__x86_64__)
#define IFM_ISA avx2
#define IFM_LANE_BYTES 32
#define IFM_TILE_HEADS 2
#include "kernel/cpu/decode_body.h"
#endif
