/* Attention of one new token over a cache of f16 pages: softmax(q K^T / sqrt(d)) V. Device code only.
 *
 * ifm_decode_naive is the readable form: a block for each query head, f32 throughout. ifm_decode_split_* reads each K
 * and V row once for all query heads that share it, split over blocks, and multiplies f16 on the tensor cores: tokens
 * are the rows of a product, heads its columns, so that no padding of queries to 64 rows is computed. Sums are in a
 * fixed order: the same inputs give the same bits. */
#include "kernel/cuda/decode_cycle.cuh"
#include "kernel/cuda/decode_join.cuh"
#include "kernel/cuda/decode_parts.cuh"
#include "kernel/cuda/early.cuh"

/* ---- naive ---- */

/* A block for a query head, its warps take tokens in turn, a lane each 32nd channel. */
extern "C" __global__ void __launch_bounds__(32 * IFM_DECODE_NAIVE_WARPS, 1) ifm_decode_naive(ifm_decode_attend a)
{
    enum { NAIVE_WARPS = IFM_DECODE_NAIVE_WARPS, MOST = 8 /* channels of a lane */ };
    __shared__ float tops[NAIVE_WARPS], totals[NAIVE_WARPS], sums[NAIVE_WARPS][32 * MOST];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, dim = a.head_dim;
    const uint32_t unit = blockIdx.x / a.group * a.parts, tokens = tokens_of(a, unit), pages = pages_of(a, unit);
    float q[MOST], sum[MOST], top = NOTHING, total = 0;
#pragma unroll
    for (int i = 0; i < MOST; i++) {
        q[i] = 32 * i < dim ? a.q[static_cast<uint64_t>(blockIdx.x) * dim + 32 * i + lane] * a.scale : 0;
        sum[i] = 0;
    }
    for (uint32_t token = warp; token < tokens; token += NAIVE_WARPS) {
        const uint64_t page = page_at(a, pages + token / IFM_DECODE_PAGE);
        const uint64_t row = (page * IFM_DECODE_PAGE + token % IFM_DECODE_PAGE) * dim + lane;
        float score = 0;
#pragma unroll
        for (int i = 0; i < MOST; i++)
            score += 32 * i < dim ? q[i] * from_f16(a.k[row + 32 * i]) : 0;
        for (int step = 16; step > 0; step /= 2)
            score += __shfl_xor_sync(EVERY, score, step);
        const float next = score > top ? score : top, shrink = exp2f(top - next), weight = exp2f(score - next);
        total = total * shrink + weight;
#pragma unroll
        for (int i = 0; i < MOST; i++)
            sum[i] = sum[i] * shrink + (32 * i < dim ? weight * from_f16(a.v[row + 32 * i]) : 0);
        top = next;
    }
    tops[warp] = top;
    totals[warp] = total;
#pragma unroll
    for (int i = 0; i < MOST; i++)
        sums[warp][32 * i + lane] = sum[i];
    __syncthreads();
    for (uint32_t d = threadIdx.x; d < dim; d += 32 * NAIVE_WARPS) {
        float highest = tops[0], all = 0, value = 0;
        for (int w = 1; w < NAIVE_WARPS; w++)
            highest = tops[w] > highest ? tops[w] : highest;
        for (int w = 0; w < NAIVE_WARPS; w++) {
            const float factor = exp2f(tops[w] - highest);
            all += factor * totals[w];
            value += factor * sums[w][d];
        }
        a.out[static_cast<uint64_t>(blockIdx.x) * dim + d] = tokens > 0 ? value / all : 0;
    }
}

/* ---- split ---- */

namespace
{

/* The outputs of units without a token, which no block has a tile of: zero. */
template <int D> __device__ __forceinline__ void clear_empty(const ifm_decode_attend &a)
{
    for (uint32_t unit = blockIdx.x; unit < a.n_units; unit += gridDim.x) {
        const heads h = heads_of(a, unit);
        for (uint32_t i = threadIdx.x; tokens_of(a, unit) == 0 && i < h.n * D; i += 32 * WARPS)
            a.out[row_of(a, h) + i] = 0;
    }
}

/* For the outputs, queries, partials and tickets of the step in front; the cache was there before. In a cycle the next
 * one reads, before it waits, what the one in front of us may have written. */
__device__ __forceinline__ void wait_in_turn(const ifm_decode_attend &a)
{
    if (a.fresh == nullptr)
        let_next_begin();
    wait_for_previous();
    if (a.fresh != nullptr)
        let_next_begin();
}

/* CLUSTER: blocks of a unit, which are one cluster; 0: blocks meet in global memory. */
template <int D, int STAGES, int CLUSTER> __device__ __forceinline__ void attend(const ifm_decode_attend &a)
{
    extern __shared__ __align__(128) char shared[];
    __shared__ warp_stats stats[WARPS][HEADS];
    __shared__ __align__(16) float made[HEADS * D];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t ring = static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + warp * STAGES * sizes<D>::STAGE;
    /* Behind the rings; a cluster has one unit, and its rings are read to the end before the first row is left. */
    float *rows = reinterpret_cast<float *>(shared + (CLUSTER == 0 ? WARPS * STAGES * sizes<D>::STAGE : 0));
    const uint32_t first = share_of(a, blockIdx.x), end = share_of(a, blockIdx.x + 1);
    uint32_t unit = unit_of_block(a, first), at = first + warp, stage = 0;
    loader next = {at, end, unit, at - tile_of(a, unit), tiles_of(a, unit), pages_of(a, unit)};
    find_unit(a, next);
    for (int i = 0; i < STAGES; i++)
        load_next<D>(a, next, ring + i * sizes<D>::STAGE, lane);
    wait_in_turn(a);
    if (CLUSTER == 0 && a.tokens == 0)
        clear_empty<D>(a);
    for (uint32_t from = first; from < end; unit++) {
        const uint32_t begins = tile_of(a, unit), ends = begins + tiles_of(a, unit), to = ends < end ? ends : end;
        const uint32_t tokens = tokens_of(a, unit);
        if (CLUSTER == 0 && tokens == 0)
            continue;
        const heads h = heads_of(a, unit);
        attention<D> work;
        if (a.fresh != nullptr)
            make_queries<D>(a, h, made, from == begins);
        begin<D>(a.fresh != nullptr ? made : a.q + row_of(a, h), h, work, lane);
        for (; at < to; at += WARPS) {
            const uint32_t tile = ring + stage * sizes<D>::STAGE;
            float c[4];
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
            __syncwarp();
            if (a.rows != nullptr && at + 1 == ends)
                add_newest<D>(a, unit, h.pair, tile, lane);
            score<D>(a.scale, work, tile, tokens - (at - begins) * TILE, lane, c);
            raise<D>(work, c);
            add_values<D>(work, tile, c, lane);
            __syncwarp();
            load_next<D>(a, next, tile, lane);
            stage = stage + 1 < STAGES ? stage + 1 : 0;
        }
        leave<D>(work, rows, stats, h.n, warp, lane);
        if (CLUSTER != 0) {
            float *partial = rows + WARPS * h.n * sizes<D>::ROW;
            join_warps<D>(a, h, rows, stats, partial);
            join_cluster<D, CLUSTER == 0 ? 1 : CLUSTER>(a, h, partial);
        } else if (from == begins && to == ends) {
            join_warps<D>(a, h, rows, stats, nullptr);
        } else {
            const sharers s = sharers_of(a, unit);
            join_warps<D>(a, h, rows, stats,
                          a.partials + (2 * blockIdx.x + (from != first)) * static_cast<uint64_t>(HEAD + HEADS * D));
            if (is_last(a, unit, s.n))
                join_blocks<D>(a, h, s, rows);
        }
        __syncthreads();
        from = to;
    }
}

} // namespace

#define SPLIT(name, D, STAGES)                                                                                         \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) name(ifm_decode_attend a)                              \
    {                                                                                                                  \
        attend<D, STAGES, 0>(a);                                                                                       \
    }
SPLIT(ifm_decode_split_64, 64, IFM_DECODE_STAGES_64)
SPLIT(ifm_decode_split_128, 128, IFM_DECODE_STAGES_128)

extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) ifm_decode_parts_128(ifm_decode_attend a)
{
    attend_part<128>(a);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CLUSTER(name, D, STAGES, BLOCKS)                                                                               \
    extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(32 * WARPS, 1)                         \
        name(ifm_decode_attend a)                                                                                      \
    {                                                                                                                  \
        attend<D, STAGES, BLOCKS>(a);                                                                                  \
    }
CLUSTER(ifm_decode_cluster_64_2, 64, IFM_DECODE_STAGES_PAIR, 2)
CLUSTER(ifm_decode_cluster_64_4, 64, IFM_DECODE_STAGES_CLUSTER, 4)
CLUSTER(ifm_decode_cluster_64_8, 64, IFM_DECODE_STAGES_CLUSTER, 8)
CLUSTER(ifm_decode_cluster_128_2, 128, IFM_DECODE_STAGES_PAIR, 2)
CLUSTER(ifm_decode_cluster_128_4, 128, IFM_DECODE_STAGES_CLUSTER, 4)
CLUSTER(ifm_decode_cluster_128_8, 128, IFM_DECODE_STAGES_CLUSTER, 8)
#endif

/* ---- digest ---- */

extern "C" __global__ void __launch_bounds__(IFM_DECODE_DIGEST_THREADS) ifm_decode_digest(ifm_decode_digest_of a)
{
    const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    unsigned long long sum = 0;
    for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; i < a.n; i += step) {
        unsigned long long x = (a.words[i] + i) * 0x9E3779B97F4A7C15ULL;
        x ^= x >> 32;
        sum += x * 0xD6E8FEB86659FD93ULL;
    }
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_down_sync(EVERY, sum, s);
    if (threadIdx.x % 32 == 0)
        atomicAdd(a.sum, sum);
}
