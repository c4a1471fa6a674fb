/* What an inference cycle does beside its attention: appends rows, makes queries, goes back. Device code only. */
#ifndef IFM_KERNEL_CUDA_DECODE_CYCLE_CUH
#define IFM_KERNEL_CUDA_DECODE_CYCLE_CUH

#include "kernel/cuda/decode_feed.cuh"
#include "kernel/cuda/decode_tile.cuh"

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

/* Eight values of a pair's newest K, then V, in f16. */
template <typename ARGUMENTS> __device__ __forceinline__ uint4 eight_of(const ARGUMENTS &a, uint32_t pair, uint32_t i)
{
    const float4 *from = reinterpret_cast<const float4 *>(a.rows + static_cast<uint64_t>(pair) * 2 * a.head_dim);
    const float4 x = from[2 * i], y = from[2 * i + 1];
    return make_uint4(pack(x.x, x.y), pack(x.z, x.w), pack(y.x, y.y), pack(y.z, y.w));
}

/* The newest token's K and V, by a warp. */
__device__ __forceinline__ void append(const ifm_decode_advance_of &a, uint32_t pair, uint32_t lane)
{
    const uint32_t unit = pair * a.parts, columns = a.head_dim / EIGHT;
    const uint64_t row = row_at(a, unit, tokens_of(a, unit) - 1);
    for (uint32_t i = lane; i < 2 * columns; i += 32) {
        uint16_t *to = i < columns ? a.k + row + EIGHT * i : a.v + row + EIGHT * (i - columns);
        *reinterpret_cast<uint4 *>(to) = eight_of(a, pair, i);
    }
}

/* The same where attention does it, and into the tile that lies in a stage, whose copies came before the row. */
template <int D>
__device__ __forceinline__ void add_newest(const ifm_decode_attend &a, uint32_t unit, uint32_t pair, uint32_t stage,
                                           uint32_t lane)
{
    enum { COLUMNS = sizes<D>::COLUMNS };
    const uint32_t newest = tokens_of(a, unit) - 1, in_tile = newest % TILE;
    const uint64_t row = row_at(a, unit, newest);
    for (uint32_t i = lane; i < 2 * COLUMNS; i += 32) {
        const bool of_v = i >= COLUMNS;
        const uint32_t column = i % COLUMNS;
        const uint4 x = eight_of(a, pair, i);
        *reinterpret_cast<uint4 *>((of_v ? a.v : a.k) + row + EIGHT * column) = x;
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(
                         stage + (of_v ? place_v<D>(in_tile, column) : place_k<D>(in_tile, column))),
                     "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w)
                     : "memory");
    }
    __syncwarp();
}

/* The queries of a unit, [heads][D], a head a warp at a time. `keep`: they are stored in `made` too. */
template <int D>
__device__ __forceinline__ void make_queries(const ifm_decode_attend &a, const heads &h, float *q, bool keep)
{
    const uint32_t lane = threadIdx.x % 32;
    for (uint32_t g = threadIdx.x / 32; g < h.n; g += WARPS) {
        const fresh_query f = with_length(fresh_of<D>(a, h, g));
        const float4 x = next_query<D>(a, h, g, f, output_in_front<D>(a, h, g, f), keep);
        if (lane < D / 4)
            reinterpret_cast<float4 *>(q)[g * D / 4 + lane] = x;
    }
    __syncthreads();
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
