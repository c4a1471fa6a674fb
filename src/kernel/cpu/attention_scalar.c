/* Attention forward: scalar. */
#define IFM_ISA scalar
#define IFM_LANE_BYTES 8
#define IFM_VECTORS 2
#define IFM_DEEP 4
#include "kernel/cpu/attention_body.h"
