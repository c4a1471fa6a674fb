/* Writing KV pages: avx512. */
#if defined(__x86_64__)
#define IFM_ISA avx512
#define IFM_LANE_BYTES 64
#include "kernel/cpu/kv_encode_body.h"
#endif
