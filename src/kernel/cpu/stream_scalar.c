/* Read, write and copy probes: plain words, nothing vectorised. */
#define IFM_ISA scalar
#define IFM_LANE_BYTES 8
#include "kernel/cpu/stream_body.h"
