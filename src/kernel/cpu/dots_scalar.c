/* Peak probes of byte products: plain words, nothing vectorised. */
#define IFM_ISA scalar
#define IFM_LANE_BYTES 8
#include "kernel/cpu/dots_body.h"
