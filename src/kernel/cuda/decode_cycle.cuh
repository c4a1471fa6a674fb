/* What an inference cycle does beside its attention: appends rows, makes queries, goes back. Device code only. */
#ifndef IFM_KERNEL_CUDA_DECODE_CYCLE_CUH
#define IFM_KERNEL_CUDA_DECODE_CYCLE_CUH

#include "kernel/cuda/decode_feed.cuh"

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
