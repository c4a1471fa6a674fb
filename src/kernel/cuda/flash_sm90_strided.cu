/* The kernels of flash_sm90.cu over views of a tensor (kernel/cuda/attention_rows.cuh). Device code only. */
#define IFM_STRIDED
#include "kernel/cuda/flash_sm90.cu"
