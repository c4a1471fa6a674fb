/* Few activations times a weight matrix: plain words, nothing vectorised. */
#define IFM_ISA scalar
#define IFM_LANE_BYTES 8
#define IFM_TILE 4
#include "kernel/cpu/gemm_body.h"
#include "kernel/cpu/gemm_codes_body.h"
