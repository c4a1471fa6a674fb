/* Decode attention: plain words, nothing vectorised. */
#define IFM_ISA scalar
#define IFM_LANE_BYTES 8
#define IFM_TILE_HEADS 2
#include "kernel/cpu/decode_body.h"
