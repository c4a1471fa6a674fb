/* Values in the storage formats of attention, by PTX: NVRTC has no cuda_fp16.h. Device code only. */
#ifndef IFM_KERNEL_CUDA_STORAGE_CUH
#define IFM_KERNEL_CUDA_STORAGE_CUH

#include "kernel/cuda/attention.h"

/* Value i of an array in STORAGE. */
template <int STORAGE> __device__ __forceinline__ float ifm_widen(const void *from, uint64_t i)
{
    if (STORAGE == IFM_CUDA_F32)
        return static_cast<const float *>(from)[i];
    uint16_t bits = static_cast<const uint16_t *>(from)[i];
    if (STORAGE == IFM_CUDA_BF16)
        return __uint_as_float(static_cast<uint32_t>(bits) << 16);
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

/* Rounded to nearest even. */
template <int STORAGE> __device__ __forceinline__ void ifm_narrow(void *to, uint64_t i, float value)
{
    uint16_t bits;
    if (STORAGE == IFM_CUDA_F32) {
        static_cast<float *>(to)[i] = value;
        return;
    }
    if (STORAGE == IFM_CUDA_BF16)
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    else
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    static_cast<uint16_t *>(to)[i] = bits;
}

#endif
