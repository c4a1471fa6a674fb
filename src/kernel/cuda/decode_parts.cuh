/* Long units of one length, cut into parts that one block has each: attend() in decode.cu for that case alone, of no
 * cycle. Device code only.
 *
 * What a step waits for is not the memory but turns through it: partials, tickets and queries queue behind all that
 * multiprocessors have asked for. So K and V of a tile are halves of a ring of their own, and as long as the step in
 * front is at work a warp asks for few of them at a time. */
#ifndef IFM_KERNEL_CUDA_DECODE_PARTS_CUH
#define IFM_KERNEL_CUDA_DECODE_PARTS_CUH

#include "kernel/cuda/decode_join.cuh"
#include "kernel/cuda/early.cuh"

namespace
{

enum { HALVES = IFM_DECODE_HALVES, THROTTLE = IFM_DECODE_THROTTLE };

/* A warp's halves, K and V in turn: of each WARPS-th tile of its block. */
template <int D> struct halves {
    const ifm_decode_attend &a;
    uint32_t ring, lane, tile, pages; /* tile: the first, counted in its unit; pages: the unit's first */
    uint32_t end, next, slot;         /* halves of the warp; the next to load, and where it goes */

    __device__ __forceinline__ void load()
    {
        if (next < end) {
            const uint32_t t = tile + next / 2 * WARPS, to = ring + slot * sizes<D>::HALF;
            const uint64_t page = page_at(a, pages + t / TILES_A_PAGE);
            const bool of_v = next % 2 != 0;
            const uint16_t *from = (of_v ? a.v : a.k) + (page * IFM_DECODE_PAGE + t % TILES_A_PAGE * TILE) * D;
#pragma unroll
            for (int i = 0; i < sizes<D>::LOADS; i++) {
                const uint32_t e = i * 32 + lane, row = e / sizes<D>::COLUMNS, column = e % sizes<D>::COLUMNS;
                copy_later(to + (of_v ? place_v<D>(row, column) - sizes<D>::HALF : place_k<D>(row, column)),
                           from + 8 * e);
            }
            next++;
        }
        slot = slot + 1 == HALVES ? 0 : slot + 1;
        asm volatile("cp.async.commit_group;" ::: "memory");
    }

    /* Where the oldest half is, when it is there. */
    __device__ __forceinline__ uint32_t oldest() const
    {
        asm volatile("cp.async.wait_group %0;" ::"n"(HALVES - 1) : "memory");
        __syncwarp();
        return ring + slot * sizes<D>::HALF;
    }
};

template <int D> __device__ __forceinline__ void attend_part(const ifm_decode_attend &a)
{
    extern __shared__ __align__(128) char shared[];
    __shared__ warp_stats stats[WARPS][HEADS];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t ring = static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + warp * HALVES * sizes<D>::HALF;
    const uint32_t unit = blockIdx.x / a.splits, begins = tile_of(a, unit), tokens = tokens_of(a, unit);
    const uint32_t first = share_of(a, blockIdx.x) - begins + warp, end = share_of(a, blockIdx.x + 1) - begins;
    const uint32_t tiles = first < end ? (end - first + WARPS - 1) / WARPS : 0;
    halves<D> next = {a, ring, lane, first, pages_of(a, unit), 2 * tiles, 0, 0};
    let_next_begin();
    for (int i = 0; i < HALVES; i++) {
        next.load();
        asm volatile("cp.async.wait_group %0;" ::"n"(THROTTLE - 1) : "memory");
    }
    wait_for_previous(); /* for the outputs, queries, partials and tickets of the step in front */
    const heads h = heads_of(a, unit);
    attention<D> work;
    begin<D>(a.q + row_of(a, h), h, work, lane);
    for (uint32_t i = 0; i < tiles; i++) {
        float c[4];
        score<D>(a.scale, work, next.oldest(), tokens - (first + i * WARPS) * TILE, lane, c);
        raise<D>(work, c);
        __syncwarp();
        next.load();
        add_values<D>(work, next.oldest() - sizes<D>::HALF, c, lane);
        __syncwarp();
        next.load();
    }
    float *rows = reinterpret_cast<float *>(shared); /* where the rings were: all warps meet before the first row */
    const sharers s = sharers_of(a, unit);
    leave<D>(work, rows, stats, h.n, warp, lane);
    join_warps<D>(a, h, rows, stats, a.partials + 2 * blockIdx.x * static_cast<uint64_t>(HEAD + HEADS * D));
    if (is_last_by_one(a, unit, s.n))
        join_at_once<D>(a, h, s, rows);
}

} // namespace

#endif
