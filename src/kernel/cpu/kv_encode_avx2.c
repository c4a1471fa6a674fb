/* Writing KV pages: avx2. */
#if defined(__x86_64__)
#define IFM_ISA avx2
#define IFM_LANE_BYTES 32
#include "kernel/cpu/kv_encode_body.h"
#endif
