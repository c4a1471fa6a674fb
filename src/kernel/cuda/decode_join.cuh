/* How warps, then the blocks of a unit, join what they have: by ticket or in a cluster. Device code only. */
#ifndef IFM_KERNEL_CUDA_DECODE_JOIN_CUH
#define IFM_KERNEL_CUDA_DECODE_JOIN_CUH

#include "kernel/cuda/cluster.cuh"
#include "kernel/cuda/decode_tile.cuh"

namespace
{

struct warp_stats {
    float top, total;
};

/* Every warp puts its sums into `rows`, [WARPS][heads][ROW], relative to the maximum of all warps. */
template <int D>
__device__ __forceinline__ void leave(attention<D> &from, float *rows, warp_stats (*stats)[HEADS], uint32_t n,
                                      uint32_t warp, uint32_t lane)
{
    const uint32_t g = lane / 4, t = lane % 4;
#pragma unroll
    for (int j = 0; j < 2; j++) {
#pragma unroll
        for (int step = 4; step < 32; step *= 2)
            from.total[j] += __shfl_xor_sync(EVERY, from.total[j], step);
        if (g == 0)
            stats[warp][2 * t + j] = {from.top[j], from.total[j]};
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 2; j++) {
        if (2 * t + j >= n)
            continue;
        float top = NOTHING;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            top = fmaxf(top, stats[w][2 * t + j].top);
        const float shrink = power_of_2(from.top[j] - top);
        float *row = rows + (warp * n + 2 * t + j) * sizes<D>::ROW + 8 * g;
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int i = 0; i < sizes<D>::STEPS; i += 4)
                *reinterpret_cast<float4 *>(row + (D == 128 ? 64 : 4) * half + i) =
                    make_float4(from.out[i][2 * half + j] * shrink, from.out[i + 1][2 * half + j] * shrink,
                                from.out[i + 2][2 * half + j] * shrink, from.out[i + 3][2 * half + j] * shrink);
    }
    __syncthreads();
}

__device__ __forceinline__ void add(float4 &to, const float4 &x, float factor)
{
    to.x += factor * x.x;
    to.y += factor * x.y;
    to.z += factor * x.z;
    to.w += factor * x.w;
}

__device__ __forceinline__ float4 scaled(const float4 &x, float factor)
{
    return make_float4(x.x * factor, x.y * factor, x.z * factor, x.w * factor);
}

/* Four outputs of the unit. */
template <typename ARGUMENTS>
__device__ __forceinline__ void put(const ARGUMENTS &a, const heads &h, uint32_t i, const float4 &sum, float total)
{
    reinterpret_cast<float4 *>(a.out + row_of(a, h))[i] = scaled(sum, 1 / total);
}

/* Four of a block's sums of a unit: outputs, where it has all of it (`partial` is null), else what blocks join. */
template <int D, typename ARGUMENTS>
__device__ __forceinline__ void put_sums(const ARGUMENTS &a, const heads &h, uint32_t i, const float4 &sum, float top,
                                         float total, float *partial)
{
    const uint32_t head = i * 4 / D;
    if (partial == nullptr) {
        put(a, h, i, sum, total);
        return;
    }
    reinterpret_cast<float4 *>(partial + HEAD)[i] = sum;
    if (i * 4 % D == 0) {
        partial[head] = top;
        partial[HEADS + head] = total;
    }
}

/* The block's sums of a unit, to where put_sums has them. */
template <int D>
__device__ __forceinline__ void join_warps(const ifm_decode_attend &a, const heads &h, const float *rows,
                                           const warp_stats (*stats)[HEADS], float *partial)
{
    for (uint32_t i = threadIdx.x; i < h.n * D / 4; i += 32 * WARPS) {
        const uint32_t head = i * 4 / D;
        float4 sum = make_float4(0, 0, 0, 0);
        float top = NOTHING, total = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            add(sum, *reinterpret_cast<const float4 *>(rows + (w * h.n + head) * sizes<D>::ROW + i * 4 % D), 1);
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            top = fmaxf(top, stats[w][head].top);
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            total += stats[w][head].total * power_of_2(stats[w][head].top - top);
        put_sums<D>(a, h, i, sum, top, total, partial);
    }
}

/* The blocks of a unit, and the partial of each. */
struct sharers {
    uint32_t first, n, slot; /* slot: of the first one's partial; the others' are their first */
};

template <typename ARGUMENTS> __device__ __forceinline__ sharers sharers_of(const ARGUMENTS &a, uint32_t unit)
{
    if (a.splits != 0)
        return {unit * a.splits, a.splits, 2 * unit * a.splits};
    const uint32_t from = tile_of(a, unit), first = block_of(a, from);
    const uint32_t last = block_of(a, from + tiles_of(a, unit) - 1);
    return {first, last - first + 1, 2 * first + (share_of(a, first) < from)};
}

template <int D, typename ARGUMENTS>
__device__ __forceinline__ const float *partial_of(const ARGUMENTS &a, const sharers &s, uint32_t i)
{
    const uint32_t slot = i == 0 ? s.slot : 2 * (s.first + i);
    return a.partials + static_cast<uint64_t>(slot) * (HEAD + HEADS * D);
}

/* What the sums of each block count for in a head, left in `stats`, and the head's total. One warp. */
template <int D, typename ARGUMENTS>
__device__ __forceinline__ float weigh_blocks(const ARGUMENTS &a, const sharers &s, uint32_t head, uint32_t n,
                                              warp_stats *stats)
{
    const uint32_t lane = threadIdx.x % 32;
    float top = NOTHING, total = 0;
    for (uint32_t b = lane; b < s.n; b += 32) {
        const float *from = partial_of<D>(a, s, b) + head;
        stats[b * n + head] = {__ldcg(from), __ldcg(from + HEADS)};
        top = fmaxf(top, stats[b * n + head].top);
    }
    for (int step = 16; step > 0; step /= 2)
        top = fmaxf(top, __shfl_xor_sync(EVERY, top, step));
    for (uint32_t b = lane; b < s.n; b += 32) {
        stats[b * n + head].top = power_of_2(stats[b * n + head].top - top);
        total += stats[b * n + head].top * stats[b * n + head].total;
    }
    for (int step = 16; step > 0; step /= 2)
        total += __shfl_xor_sync(EVERY, total, step);
    return total;
}

/* The last block of a unit joins the partials of all. `room`: [ways][n D / 4] float4, then [blocks][n] warp_stats. */
template <int D, int CREW = WARPS, typename ARGUMENTS>
__device__ void join_blocks(const ARGUMENTS &a, const heads &h, const sharers &s, float *room)
{
    __shared__ float totals[HEADS];
    const uint32_t each = h.n * D / 4, most = 32 * CREW / each, ways = most > s.n ? s.n : most > 0 ? most : 1;
    float4 *sums = reinterpret_cast<float4 *>(room);
    warp_stats *stats = reinterpret_cast<warp_stats *>(sums + ways * each);
    for (uint32_t head = threadIdx.x / 32; head < h.n; head += CREW) {
        const float total = weigh_blocks<D>(a, s, head, h.n, stats);
        if (threadIdx.x % 32 == 0)
            totals[head] = total;
    }
    __syncthreads();
    for (uint32_t x = threadIdx.x; x < each * ways; x += 32 * CREW) {
        const uint32_t i = x % each, way = x / each, head = i * 4 / D;
        float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 8
        for (uint32_t b = way; b < s.n; b += ways)
            add(sum, __ldcg(reinterpret_cast<const float4 *>(partial_of<D>(a, s, b) + HEAD) + i),
                stats[b * h.n + head].top);
        sums[x] = sum;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < each; i += 32 * CREW) {
        float4 sum = sums[i];
        for (uint32_t way = 1; way < ways; way++)
            add(sum, sums[way * each + i], 1);
        put(a, h, i, sum, totals[i * 4 / D]);
    }
}

/* True in the block that is done with the unit last: it sees what all have written. */
template <typename ARGUMENTS>
__device__ __forceinline__ bool is_last(const ARGUMENTS &a, uint32_t unit, uint32_t blocks)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(a.tickets + unit, 1u) == blocks - 1;
        if (last)
            a.tickets[unit] = 0;
    }
    __syncthreads();
    if (last)
        __threadfence();
    return last;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

/* The blocks of a unit are a cluster: each joins a share of the outputs, out of the others' shared memory. */
template <int D, int BLOCKS>
__device__ __forceinline__ void join_cluster(const ifm_decode_attend &a, const heads &h, const float *partial)
{
    meet_cluster();
    for (uint32_t i = blockIdx.x % BLOCKS + BLOCKS * threadIdx.x; i < h.n * D / 4; i += BLOCKS * 32 * WARPS) {
        const uint32_t head = i * 4 / D;
        float tops[BLOCKS], totals[BLOCKS], top = NOTHING, total = 0;
        float4 sums[BLOCKS], sum = make_float4(0, 0, 0, 0);
#pragma unroll
        for (int b = 0; b < BLOCKS; b++) {
            tops[b] = cluster_float(in_block(partial + head, b));
            totals[b] = cluster_float(in_block(partial + HEADS + head, b));
            sums[b] = cluster_float4(in_block(partial + HEAD + 4 * i, b));
        }
#pragma unroll
        for (int b = 0; b < BLOCKS; b++)
            top = fmaxf(top, tops[b]);
#pragma unroll
        for (int b = 0; b < BLOCKS; b++) {
            const float factor = power_of_2(tops[b] - top);
            total += factor * totals[b];
            add(sum, sums[b], factor);
        }
        put(a, h, i, sum, total);
    }
    meet_cluster(); /* nobody leaves while its memory is read */
}

#else

template <int D, int BLOCKS>
__device__ __forceinline__ void join_cluster(const ifm_decode_attend &, const heads &, const float *)
{
}

#endif

} // namespace

#endif
