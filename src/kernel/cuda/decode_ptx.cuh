/* What the kernels of decode.cu and packed.cu say in PTX of single values and of fragments. Device code only; a test
 * exchanges this file for one that says it of threads of the host. */
#ifndef IFM_KERNEL_CUDA_DECODE_PTX_CUH
#define IFM_KERNEL_CUDA_DECODE_PTX_CUH

#include <stdint.h>

namespace
{

__device__ __forceinline__ float power_of_2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ float log_of_2(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ float from_f16(uint16_t x)
{
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
}

/* Two f32 as f16, `low` in the lower half. */
__device__ __forceinline__ uint32_t pack(float low, float high)
{
    uint32_t y;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
    return y;
}

__device__ __forceinline__ uint4 load_shared(uint32_t at)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at));
    return v;
}

__device__ __forceinline__ void multiply(float *c, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                                         uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/* Sums of products of integers of 8 bits, unsigned by signed, then by unsigned; the first one of 16 columns of A. */
__device__ __forceinline__ void multiply_signed(int32_t *c, uint32_t a0, uint32_t a1, uint32_t b0)
{
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a0), "r"(a1), "r"(b0));
}

__device__ __forceinline__ void multiply_signed(int32_t *c, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                                uint32_t b0, uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void multiply_unsigned(int32_t *c, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                                  uint32_t b0, uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/* 8 x 8 values of f16 across the warp, rows and columns swapped. */
__device__ __forceinline__ uint32_t transpose(uint32_t x)
{
    uint32_t y;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}

__device__ __forceinline__ uint32_t times(uint32_t a, uint32_t b)
{
    uint32_t y;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
    return y;
}

/* a b + c. */
__device__ __forceinline__ uint32_t times_and(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t y;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(c));
    return y;
}

/* a b - c. */
__device__ __forceinline__ uint32_t times_less(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t y;
    asm("{.reg .b32 m;\nneg.f16x2 m, %3;\nfma.rn.f16x2 %0, %1, %2, m;}" : "=r"(y) : "r"(a), "r"(b), "r"(c));
    return y;
}

/* c - a b. */
__device__ __forceinline__ uint32_t less_product(uint32_t c, uint32_t a, uint32_t b)
{
    uint32_t y;
    asm("{.reg .b32 m;\nneg.f16x2 m, %1;\nfma.rn.f16x2 %0, m, %2, %3;}" : "=r"(y) : "r"(a), "r"(b), "r"(c));
    return y;
}

__device__ __forceinline__ uint32_t difference(uint32_t a, uint32_t b)
{
    uint32_t y;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
    return y;
}

/* Of two f16 in each half the one that is larger without its sign, with any sign; NaN where one of them is. */
__device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b)
{
    uint32_t y = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 860
    asm("max.NaN.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
#endif
    return y;
}

/* Of two integers of 16 bits in each half. */
__device__ __forceinline__ uint32_t larger_integer(uint32_t a, uint32_t b)
{
    uint32_t y = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm("max.u16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
#endif
    return y;
}

__device__ __forceinline__ uint32_t largest_of_warp(uint32_t x)
{
    uint32_t y;
    asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(y) : "r"(x));
    return y;
}

__device__ __forceinline__ uint32_t shared_word(uint32_t at)
{
    uint32_t v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
    return v;
}

__device__ __forceinline__ uint32_t shared_half(uint32_t at)
{
    uint16_t v;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(at));
    return v;
}

/* Two codes of e4m3 as f16, from the lower half. */
__device__ __forceinline__ uint32_t from_e4m3(uint32_t x)
{
    uint32_t y = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(y) : "h"(static_cast<uint16_t>(x)));
#endif
    return y;
}

} // namespace

#endif
