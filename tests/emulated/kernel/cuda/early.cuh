/* Nothing: gemm_ptx.cuh for threads of the host has it. */
#ifndef IFM_KERNEL_CUDA_EARLY_CUH
#define IFM_KERNEL_CUDA_EARLY_CUH
#include "kernel/cuda/gemm_ptx.cuh"
#endif
