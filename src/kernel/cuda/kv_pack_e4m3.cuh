/* Pages of e4m3, which has one scale for all of K and one for all of V; and rows in shared memory. Device code only. */
#ifndef IFM_KERNEL_CUDA_KV_PACK_E4M3_CUH
#define IFM_KERNEL_CUDA_KV_PACK_E4M3_CUH

#include "kernel/cuda/kv_pack.h"
#include "kernel/cuda/kv_pack_math.cuh"

namespace
{

enum { TOKENS = IFM_KV_PACK_TOKENS, THREADS = IFM_KV_PACK_THREADS };

/* The rows as they come, and zeros behind them: [TOKENS][head_dim]. */
__device__ __forceinline__ void load_rows(const uint16_t *from, uint32_t tokens, uint32_t head_dim)
{
    const uint32_t filled = tokens * head_dim / 8, nothing = 0;
    for (uint32_t i = threadIdx.x; i < TOKENS * head_dim / 8; i += THREADS) {
        uint4 x = {nothing, nothing, nothing, nothing};
        if (i < filled)
            x = reinterpret_cast<const uint4 *>(from)[i];
        reinterpret_cast<uint4 *>(shared)[i] = x;
    }
    __syncthreads();
}

/* Widening keeps no sign of NaN. */
__device__ __forceinline__ uint32_t to_e4m3(uint16_t half, float inverse)
{
    const int32_t rest = bits_of(times(of_f16(half), inverse)) & 0x7fffffff;
    int32_t code = rest < 0x3c800000 ? bits_of(add(of_bits(rest), 16384.0f)) - 0x46800000
                                     : (rest - (120 << 23) + 0x7ffff + (rest >> 20 & 1)) >> 20;
    if (rest >= 0x43e00000)
        code = 0x7e;
    if ((half & 0x7c00) == 0x7c00)
        code = 0x7f;
    return static_cast<uint32_t>(code) | (half >> 8 & 0x80u);
}

/* The scale of the rows in shared memory: their largest finite magnitude / 448. */
__device__ __forceinline__ float e4m3_scale(uint32_t values, uint32_t *parts)
{
    const uint16_t *x = reinterpret_cast<const uint16_t *>(shared);
    uint32_t peak = 0;
    for (uint32_t i = threadIdx.x; i < values; i += THREADS) {
        const uint32_t rest = x[i] & 0x7fff;
        peak = rest < 0x7c00 && rest > peak ? rest : peak;
    }
    parts[threadIdx.x] = peak;
    __syncthreads();
    for (uint32_t i = 0; i < THREADS; i++)
        peak = parts[i] > peak ? parts[i] : peak;
    return peak == 0 ? 0.0f : divide(of_f16(static_cast<uint16_t>(peak)), 448.0f);
}

/* Four values that lie `stride` apart. */
__device__ __forceinline__ uint32_t four_e4m3(const uint16_t *x, uint32_t stride, float inverse)
{
    uint32_t word = 0;
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        word |= to_e4m3(x[k * stride], inverse) << (8 * k);
    return word;
}

/* [token block of 64][channel][64 tokens]: 16 tokens of a channel a thread. */
__device__ __forceinline__ void put_k_e4m3(const uint16_t *x, uint32_t head_dim, float inverse, unsigned char *to)
{
    for (uint32_t i = threadIdx.x; i < TOKENS / 16 * head_dim; i += THREADS) {
        const uint32_t row = i / head_dim * 16, d = i % head_dim;
        const uint16_t *from = x + row * head_dim + d;
        const uint4 word = {four_e4m3(from, head_dim, inverse), four_e4m3(from + 4 * head_dim, head_dim, inverse),
                            four_e4m3(from + 8 * head_dim, head_dim, inverse),
                            four_e4m3(from + 12 * head_dim, head_dim, inverse)};
        *reinterpret_cast<uint4 *>(to + (row / 64 * head_dim + d) * 64 + row % 64) = word;
    }
}

/* [channel block of 64][token][64 channels], the last block narrower: four channels of a token a thread. */
__device__ __forceinline__ void put_v_e4m3(const uint16_t *x, uint32_t head_dim, float inverse, unsigned char *to)
{
    for (uint32_t i = threadIdx.x * 4; i < TOKENS * head_dim; i += 4 * THREADS) {
        const uint32_t block = i / (64 * TOKENS), left = head_dim - block * 64, width = left < 64 ? left : 64;
        const uint32_t rest = i - block * 64 * TOKENS, row = rest / width, d = block * 64 + rest % width;
        *reinterpret_cast<uint32_t *>(to + i) = four_e4m3(x + row * head_dim + d, 1, inverse);
    }
}

__device__ __forceinline__ void pack_e4m3(const ifm_kv_pack &a, const ifm_kv_pack_job &job, unsigned char *page,
                                          bool of_v)
{
    const uint16_t *x = reinterpret_cast<const uint16_t *>(shared);
    load_rows(a.from + job.from + (of_v ? TOKENS * a.head_dim : 0), job.tokens, a.head_dim);
    const float scale =
        e4m3_scale(job.tokens * a.head_dim, reinterpret_cast<uint32_t *>(shared + TOKENS * a.head_dim * 2));
    const float inverse = scale > 0.0f ? divide(1.0f, scale) : 0.0f;
    if (threadIdx.x < 16)
        reinterpret_cast<uint32_t *>(page + (of_v ? a.v_scale : a.k_scale))[threadIdx.x] =
            threadIdx.x == 0 ? static_cast<uint32_t>(bits_of(scale)) : 0;
    unsigned char *to = page + (of_v ? a.v_codes : a.k_codes);
    if (of_v)
        put_v_e4m3(x, a.head_dim, inverse, to);
    else
        put_k_e4m3(x, a.head_dim, inverse, to);
}

} // namespace

#endif
