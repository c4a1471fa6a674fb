/* Decode attention: avx512. */
#if defined(__x86_64__)
#define IFM_ISA avx512
#define IFM_LANE_BYTES 64
#define IFM_TILE_HEADS 4
#include "kernel/cpu/decode_body.h"
#endif
