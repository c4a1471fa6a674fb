/* Peak FLOP probes: plain words, nothing vectorised. */
#define IFM_ISA scalar
#define IFM_LANE_BYTES 8
#include "kernel/cpu/flops_body.h"
