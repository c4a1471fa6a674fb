/* The kernels of attention.cu over views of a tensor (kernel/cuda/attention_rows.cuh). Device code only. */
#define IFM_STRIDED
#include "kernel/cuda/attention.cu"
