/* Long units of one length, cut into parts that one block has each: attend() in decode.cu for that case alone, of no
 * cycle. Device code only.
 *
 * What a step waits for is not the memory but turns through it: partials and queries queue behind all that
 * multiprocessors have asked for. So K and V of a tile are halves of a ring of their own, and as long as the step in
 * front is at work a warp asks for few of them at a time.
 *
 * Nor does a block fence its sums before it takes a ticket, which is a turn: words of sums that are there tell so
 * themselves, as they are not ABSENT. Who has the last ticket reads them, the few again that the ticket has overtaken,
 * and leaves ABSENT in their place for the next step. (Words that tell of themselves: the Lamport all-reduce of
 * TensorRT-LLM. There and in a form of ours without tickets a block waits for the others by reading: that took up to
 * 8 % of all blocks' rate.) */
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

/* No arithmetic makes this word: its NaN is 0x7fffffff. If one were ABSENT after all, it is taken for the NaN that it
 * is when PATIENCE is over, in about a second. */
enum : uint32_t { ABSENT = 0xffffffffu, PATIENCE = 1 << 20 };

__device__ __forceinline__ float read_anew(const float *at)
{
    float x;
    asm volatile("ld.relaxed.gpu.f32 %0, [%1];" : "=f"(x) : "l"(at) : "memory");
    return x;
}

__device__ __forceinline__ float4 read_anew(const float4 *at)
{
    float4 x;
    asm volatile("ld.relaxed.gpu.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                 : "l"(at)
                 : "memory");
    return x;
}

__device__ __forceinline__ bool is_there(float x)
{
    return __float_as_uint(x) != ABSENT;
}

__device__ __forceinline__ bool is_there(const float4 &x)
{
    return is_there(x.x) && is_there(x.y) && is_there(x.z) && is_there(x.w);
}

template <int D> __device__ __forceinline__ float *part_at(const ifm_decode_attend &a, uint32_t block)
{
    return a.partials + 2 * block * static_cast<uint64_t>(HEAD + HEADS * D);
}

template <typename WORDS> __device__ __forceinline__ void await(WORDS &x, const WORDS *at, uint32_t &patience)
{
    for (; !is_there(x) && patience > 0; patience--)
        x = read_anew(at);
}

/* The sums of parts so far, relative to `top`. */
struct part_sums {
    float4 sum;
    float top, total;

    __device__ __forceinline__ void add_part(const float4 &x, float other_top, float other_total)
    {
        const float next = fmaxf(top, other_top), factor = power_of_2(other_top - next);
        const float shrink = power_of_2(top - next);
        sum = scaled(sum, shrink);
        add(sum, x, factor);
        total = total * shrink + other_total * factor;
        top = next;
    }
};

enum { AT_ONCE = 8 }; /* parts that a thread asks for before it looks at the first */

/* Four sums of each way-th part. */
template <int D>
__device__ __forceinline__ part_sums read_parts(const ifm_decode_attend &a, const sharers &s, uint32_t i, uint32_t way,
                                                uint32_t ways)
{
    part_sums all = {make_float4(0, 0, 0, 0), NOTHING, 0};
    uint32_t patience = PATIENCE;
    for (uint32_t b = way; b < s.n; b += AT_ONCE * ways) {
        const float *from[AT_ONCE];
        float4 x[AT_ONCE];
        float tops[AT_ONCE], totals[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            from[j] = part_at<D>(a, s.first + (b + j * ways < s.n ? b + j * ways : b));
            x[j] = read_anew(reinterpret_cast<const float4 *>(from[j] + HEAD) + i);
            tops[j] = read_anew(from[j] + i * 4 / D);
            totals[j] = read_anew(from[j] + HEADS + i * 4 / D);
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            await(x[j], reinterpret_cast<const float4 *>(from[j] + HEAD) + i, patience);
            await(tops[j], from[j] + i * 4 / D, patience);
            await(totals[j], from[j] + HEADS + i * 4 / D, patience);
            if (b + j * ways < s.n)
                all.add_part(x[j], tops[j], totals[j]);
        }
    }
    return all;
}

/* The outputs of a unit, by one of its blocks. `room`: [ways][n D / 4] float4, then as many float2. */
template <int D>
__device__ __forceinline__ void join_parts(const ifm_decode_attend &a, const heads &h, const sharers &s, float *room)
{
    const uint32_t each = h.n * D / 4, ways = 32 * WARPS / each, i = threadIdx.x % each, way = threadIdx.x / each;
    float4 *sums = reinterpret_cast<float4 *>(room);
    float2 *weights = reinterpret_cast<float2 *>(sums + ways * each);
    part_sums all = {make_float4(0, 0, 0, 0), NOTHING, 0};
    if (way < ways) {
        all = read_parts<D>(a, s, i, way, ways);
        sums[threadIdx.x] = all.sum;
        weights[threadIdx.x] = make_float2(all.top, all.total);
    }
    __syncthreads();
    if (way == 0) {
        for (uint32_t w = 1; w < ways; w++)
            all.add_part(sums[w * each + i], weights[w * each + i].x, weights[w * each + i].y);
        put(a, h, i, all.sum, all.total);
    }
    const float absent = __uint_as_float(ABSENT);
    for (uint32_t b = 0; b < s.n; b++)
        for (uint32_t x = threadIdx.x; x < (HEAD + h.n * D) / 4; x += 32 * WARPS)
            reinterpret_cast<float4 *>(part_at<D>(a, s.first + b))[x] = make_float4(absent, absent, absent, absent);
}

/* True in the block that is done with the unit last. What the others wrote need not be there yet. */
__device__ __forceinline__ bool has_last_ticket(const ifm_decode_attend &a, uint32_t unit, uint32_t blocks)
{
    __shared__ bool last;
    __syncthreads(); /* all of the block have written */
    if (threadIdx.x == 0) {
        last = atomicAdd(a.tickets + unit, 1u) == blocks - 1;
        if (last)
            a.tickets[unit] = 0;
    }
    __syncthreads();
    return last;
}

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
    join_warps<D>(a, h, rows, stats, part_at<D>(a, blockIdx.x));
    if (has_last_ticket(a, unit, s.n))
        join_parts<D>(a, h, s, rows);
}

} // namespace

#endif
