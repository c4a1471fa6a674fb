/* kv_pack_math.cuh for threads of the host: the build contracts nothing, so each operation is rounded by itself. */
#ifndef IFM_KERNEL_CUDA_KV_PACK_MATH_CUH
#define IFM_KERNEL_CUDA_KV_PACK_MATH_CUH

#define of_f16 plain_of_f16
#include "kernel/cuda/gemm_ptx.cuh"
#undef of_f16

#include <cmath>

namespace
{

inline float add(float a, float b)
{
    return a + b;
}
inline float subtract(float a, float b)
{
    return a - b;
}
inline float times(float a, float b)
{
    return a * b;
}
inline float divide(float a, float b)
{
    return a / b;
}
inline int32_t bits_of(float x)
{
    return static_cast<int32_t>(ifm_f32_bits(x));
}
inline float of_bits(int32_t bits)
{
    return ifm_f32_of_bits(static_cast<uint32_t>(bits));
}
inline float clamp(float x, float least, float most)
{
    return std::fmin(std::fmax(x, least), most);
}

/* As cvt.f32.f16: NaN loses its sign and payload. */
inline float of_f16(uint16_t bits)
{
    return (bits & 0x7fff) > 0x7c00 ? ifm_f32_of_bits(0x7fffffff) : ifm_f16_to_f32(bits);
}

/* The other lane's value. */
inline uint32_t __shfl_xor_sync(uint32_t, uint32_t value, uint32_t step)
{
    emulated::warp &warp = emulated::warps[threadIdx.x / 32];
    __syncwarp();
    warp.a[threadIdx.x % 32][0] = value;
    __syncwarp();
    const uint32_t other = warp.a[(threadIdx.x % 32) ^ step][0];
    __syncwarp();
    return other;
}

} // namespace

#endif
