/* A compressed cache that grows on the GPU: its newest rows, and packed pages in the order that attention reads. Device
 * code only. */
#include "kernel/cuda/decode_feed.cuh"
#include "kernel/cuda/kv_append.h"

namespace
{

/* A pair's newest K and V, by a warp. */
__device__ __forceinline__ void append_row(const ifm_kv_append_of &a, uint32_t pair, uint32_t lane)
{
    const uint32_t at = a.lengths[pair] + a.token, r = at - a.sink;
    const uint32_t part = at < a.sink ? 0 : 1 + r / 128 % 2, row = at < a.sink ? at : r % 128;
    uint16_t *to = a.sides + static_cast<uint64_t>(pair) * 2 * IFM_KV_SIDE * a.head_dim;
    const float2 *from = reinterpret_cast<const float2 *>(a.rows + static_cast<uint64_t>(pair) * 2 * a.head_dim);
    for (uint32_t i = lane * 2; i < 2 * a.head_dim; i += 64) {
        const uint32_t of_v = i >= a.head_dim, d = i - of_v * a.head_dim;
        const float2 x = from[i / 2];
        *reinterpret_cast<uint32_t *>(to + ifm_kv_side_row(a.head_dim, part, row, of_v) + d) =
            half_of(x.x) | half_of(x.y) << 16;
    }
}

} // namespace

/* A warp for each query head, then one for each pair. */
extern "C" __global__ void __launch_bounds__(32 * IFM_KV_APPEND_WARPS) ifm_kv_advance(ifm_kv_advance_of a)
{
    const uint32_t task = blockIdx.x * IFM_KV_APPEND_WARPS + threadIdx.x / 32, heads = a.next.pairs * a.next.group;
    if (task < heads)
        feed(a.next, task, threadIdx.x % 32);
    else if (task < heads + a.append.pairs)
        append_row(a.append, task - heads, threadIdx.x % 32);
}

/* IFM_KV_ARRANGE_BLOCKS blocks a page of a layer. */
extern "C" __global__ void __launch_bounds__(IFM_KV_ARRANGE_THREADS) ifm_kv_arrange(ifm_kv_arrange_of a)
{
    const uint32_t page = blockIdx.x / IFM_KV_ARRANGE_BLOCKS, bytes = a.layout.page_bytes;
    const uint32_t first = (blockIdx.x % IFM_KV_ARRANGE_BLOCKS * IFM_KV_ARRANGE_THREADS + threadIdx.x) * 4;
    const unsigned char *from = a.from + static_cast<uint64_t>(page) * bytes;
    unsigned char *to = a.to + page / a.n * a.layer + static_cast<uint64_t>(a.places[page % a.n]) * bytes;
    for (uint32_t at = first; at < bytes; at += IFM_KV_ARRANGE_BLOCKS * IFM_KV_ARRANGE_THREADS * 4)
        *reinterpret_cast<uint32_t *>(to + at) = ifm_kv_to_fragment(&a.layout, from, at);
}
