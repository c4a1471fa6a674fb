/* What an inference cycle does beside its attention: appends rows, makes queries, goes back. Device code only. */
#ifndef IFM_KERNEL_CUDA_DECODE_CYCLE_CUH
#define IFM_KERNEL_CUDA_DECODE_CYCLE_CUH

#include "kernel/cuda/decode_share.cuh"

namespace
{

enum { EIGHT = 8 /* f16 values of a store of 16 bytes */ };

/* The first value of the row of token `token` of a pair's unit. */
template <typename ARGUMENTS>
__device__ __forceinline__ uint64_t row_at(const ARGUMENTS &a, uint32_t unit, uint32_t token)
{
    const uint64_t page = page_at(a, pages_of(a, unit) + token / IFM_DECODE_PAGE);
    return (page * IFM_DECODE_PAGE + token % IFM_DECODE_PAGE) * a.head_dim;
}

/* The newest token's K and V, by a warp. */
__device__ __forceinline__ void append(const ifm_decode_advance_of &a, uint32_t pair, uint32_t lane)
{
    const uint32_t unit = pair * a.parts, columns = a.head_dim / EIGHT;
    const uint64_t row = row_at(a, unit, tokens_of(a, unit) - 1);
    const float4 *from = reinterpret_cast<const float4 *>(a.rows + static_cast<uint64_t>(pair) * 2 * a.head_dim);
    for (uint32_t i = lane; i < 2 * columns; i += 32) {
        const float4 x = from[2 * i], y = from[2 * i + 1];
        uint16_t *to = i < columns ? a.k + row + EIGHT * i : a.v + row + EIGHT * (i - columns);
        *reinterpret_cast<uint4 *>(to) = make_uint4(pack(x.x, x.y), pack(x.z, x.w), pack(y.x, y.y), pack(y.z, y.w));
    }
}

/* sqrt of the sum of squares over the warp. */
__device__ __forceinline__ float length_of(const float4 x[2])
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 2; i++)
        sum += x[i].x * x[i].x + x[i].y * x[i].y + x[i].z * x[i].z + x[i].w * x[i].w;
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(EVERY, sum, step);
    return sqrtf(sum);
}

__device__ __forceinline__ float rounded(float x)
{
    return from_f16(static_cast<uint16_t>(pack(x, 0)));
}

/* A query head's next query, by a warp: a fresh one and the last output in equal parts, as long as the fresh one. */
__device__ __forceinline__ void feed(const ifm_decode_advance_of &a, uint32_t head, uint32_t lane)
{
    const uint64_t at = static_cast<uint64_t>(head) * a.head_dim / 4;
    const uint32_t columns = a.head_dim / 4;
    float4 q[2], output[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const bool mine = lane + 32 * i < columns;
        q[i] = output[i] = make_float4(0, 0, 0, 0);
        if (mine)
            q[i] = reinterpret_cast<const float4 *>(a.fresh)[at + lane + 32 * i];
        if (mine && a.output != nullptr)
            output[i] = reinterpret_cast<const float4 *>(a.output)[at + lane + 32 * i];
    }
    const float own = length_of(q), other = length_of(output), part = other > 0 ? own / other : 0;
#pragma unroll
    for (int i = 0; i < 2; i++)
        q[i] = make_float4(q[i].x + part * output[i].x, q[i].y + part * output[i].y, q[i].z + part * output[i].z,
                           q[i].w + part * output[i].w);
    const float mixed = length_of(q), scale = a.output == nullptr ? 1 : mixed > 0 ? own / mixed : 0;
#pragma unroll
    for (int i = 0; i < 2; i++)
        if (lane + 32 * i < columns)
            reinterpret_cast<float4 *>(a.q)[at + lane + 32 * i] = make_float4(
                rounded(q[i].x * scale), rounded(q[i].y * scale), rounded(q[i].z * scale), rounded(q[i].w * scale));
}

} // namespace

/* A warp for each query head, then one for each pair. */
extern "C" __global__ void __launch_bounds__(32 * IFM_DECODE_ADVANCE_WARPS) ifm_decode_advance(ifm_decode_advance_of a)
{
    const uint32_t task = blockIdx.x * IFM_DECODE_ADVANCE_WARPS + threadIdx.x / 32, heads = a.pairs * a.group;
    if (task < heads)
        feed(a, task, threadIdx.x % 32);
    else if (a.rows != nullptr && task < heads + a.pairs)
        append(a, task - heads, threadIdx.x % 32);
}

extern "C" __global__ void __launch_bounds__(IFM_DECODE_REWIND_THREADS) ifm_decode_rewind(ifm_decode_rewind_of a)
{
    const uint32_t pair = blockIdx.x % a.pairs, unit = pair * a.parts, columns = a.head_dim / EIGHT;
    const uint32_t from = tokens_of(a, unit) - 1, no_row = IFM_DECODE_NO_ROW * 0x10001u;
    const uint64_t layer = blockIdx.x / a.pairs * a.layer;
    for (uint32_t i = threadIdx.x; i < a.rows * columns; i += IFM_DECODE_REWIND_THREADS) {
        const uint64_t at = layer + row_at(a, unit, from + i / columns) + EIGHT * (i % columns);
        *reinterpret_cast<uint4 *>(a.k + at) = make_uint4(no_row, no_row, no_row, no_row);
        *reinterpret_cast<uint4 *>(a.v + at) = make_uint4(no_row, no_row, no_row, no_row);
    }
}

#endif
