/* The arithmetic of kv_pack.cu: each operation is rounded by itself, none is contracted. Device code only;
 * tests/emulated has the same in C++, for threads of the host. */
#ifndef IFM_KERNEL_CUDA_KV_PACK_MATH_CUH
#define IFM_KERNEL_CUDA_KV_PACK_MATH_CUH

#include <stdint.h>

namespace
{

extern __shared__ __align__(128) unsigned char shared[];

__device__ __forceinline__ float add(float a, float b)
{
    return __fadd_rn(a, b);
}
__device__ __forceinline__ float subtract(float a, float b)
{
    return __fsub_rn(a, b);
}
__device__ __forceinline__ float times(float a, float b)
{
    return __fmul_rn(a, b);
}
__device__ __forceinline__ float divide(float a, float b)
{
    return __fdiv_rn(a, b);
}
__device__ __forceinline__ int32_t bits_of(float x)
{
    return __float_as_int(x);
}
__device__ __forceinline__ float of_bits(int32_t bits)
{
    return __int_as_float(bits);
}
__device__ __forceinline__ float of_f16(uint16_t bits)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}
/* Of a number. */
__device__ __forceinline__ uint16_t to_f16(float x)
{
    uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}
/* A number between 0 and `most`; of NaN, either end. */
__device__ __forceinline__ float clamp(float x, float least, float most)
{
    return fminf(fmaxf(x, least), most);
}

} // namespace

#endif
