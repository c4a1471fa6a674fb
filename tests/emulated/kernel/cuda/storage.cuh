/* storage.cuh for threads of the host. */
#ifndef IFM_KERNEL_CUDA_STORAGE_CUH
#define IFM_KERNEL_CUDA_STORAGE_CUH

#include "kernel/cuda/attention.h"

template <int STORAGE> inline float ifm_widen(const void *from, uint64_t i)
{
    if (STORAGE == IFM_CUDA_F32)
        return static_cast<const float *>(from)[i];
    const uint16_t bits = static_cast<const uint16_t *>(from)[i];
    return STORAGE == IFM_CUDA_BF16 ? ifm_bf16_to_f32(bits) : ifm_f16_to_f32(bits);
}

template <int STORAGE> inline void ifm_narrow(void *to, uint64_t i, float value)
{
    if (STORAGE == IFM_CUDA_F32)
        static_cast<float *>(to)[i] = value;
    else
        static_cast<uint16_t *>(to)[i] = STORAGE == IFM_CUDA_BF16 ? ifm_f32_to_bf16(value) : ifm_f32_to_f16(value);
}

#endif
