/* Writing KV pages: plain words, nothing vectorised. */
#define IFM_ISA scalar
#define IFM_LANE_BYTES 8
#include "kernel/cpu/kv_encode_body.h"
