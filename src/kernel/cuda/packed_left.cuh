/* How a place of a cycle over a compressed cache hands what it leaves to the place behind, which joins it as it makes
 * its queries. Device code only. */
#ifndef IFM_KERNEL_CUDA_PACKED_LEFT_CUH
#define IFM_KERNEL_CUDA_PACKED_LEFT_CUH

#include "kernel/cuda/decode_feed.cuh"
#include "kernel/cuda/early.cuh"

namespace
{

/* A place of a cycle that joins what the one in front left does not wait for that grid: a word of it is NOT_YET until it
 * is there, which no arithmetic makes. Of as many blocks a unit as are asked for at once. */
#define NOT_YET 0xffffffffu

__device__ __forceinline__ bool is_chained(const ifm_packed_attend &a)
{
    return a.fresh != nullptr && a.before != nullptr && a.splits <= left_outputs::AT_ONCE;
}

/* Of the warp's head of the block's unit. */
template <int D> __device__ __forceinline__ left_outputs ask_left(const ifm_packed_attend &a)
{
    return left_of<D>(a, heads_of(a, blockIdx.x / a.splits), a.before, threadIdx.x / 32, 0);
}

/* Whether all of it is there. A warp. */
__device__ __forceinline__ bool is_there(const left_outputs &l)
{
    bool missing = false;
#pragma unroll
    for (int j = 0; j < left_outputs::AT_ONCE; j++) {
        const float words[6] = {l.x[j].x, l.x[j].y, l.x[j].z, l.x[j].w, l.tops[j], l.totals[j]};
#pragma unroll
        for (int i = 0; i < 6; i++)
            missing = missing || __float_as_uint(words[i]) == NOT_YET;
    }
    return !__any_sync(EVERY, missing);
}

/* After some tries the grid in front is waited for: then it is. */
template <int D> __device__ __forceinline__ void await_left(const ifm_packed_attend &a, left_outputs &l)
{
    for (int tries = 1; tries <= 100 && !is_there(l); tries++) {
        if (tries == 100)
            wait_for_previous();
        asm volatile("" ::: "memory");
        l = ask_left<D>(a);
    }
}

/* Our own is not there yet. The last warp, which makes no query. The place behind the one behind reads the same words no
 * more: it begins when all blocks in front of it have made their queries. */
template <int CREW, int D> __device__ __forceinline__ void begin_left(const ifm_packed_attend &a)
{
    if (a.later == 0 || threadIdx.x < 32 * CREW - 32)
        return;
    const uint32_t lane = threadIdx.x % 32, n = heads_of(a, blockIdx.x / a.splits).n;
    const uint64_t at = 2 * blockIdx.x * static_cast<uint64_t>(HEAD + HEADS * D);
    uint32_t *partial = reinterpret_cast<uint32_t *>(a.partials) + at;
#pragma unroll 1
    for (uint32_t i = lane; i < n * D / 4; i += 32)
        reinterpret_cast<uint4 *>(partial + HEAD)[i] = make_uint4(NOT_YET, NOT_YET, NOT_YET, NOT_YET);
    if (lane < HEAD)
        partial[lane] = NOT_YET;
}

/* Of a cycle, where the block's queries are there: what the next place reads before it waits, the one in front of us has
 * left by now; what that one wrote besides, nobody reads before the place behind the next. The last warp. */
template <int CREW> __device__ __forceinline__ void let_next_place_begin(const ifm_packed_attend &a)
{
    if (threadIdx.x < 32 * CREW - 32)
        return;
    if (a.later != 0)
        __threadfence(); /* what begin_left wrote */
    __syncwarp();
    let_next_begin();
}

/* What a warp's first query of a cycle is made of. */
struct query_parts {
    fresh_query fresh;
    left_outputs left;
};

/* A chained one has asked for them already. */
template <int D>
__device__ __forceinline__ void begin_parts(const ifm_packed_attend &a, const heads &h, bool chained,
                                            query_parts &parts)
{
    const uint32_t warp = threadIdx.x / 32;
    if (a.fresh != nullptr)
        parts.fresh = with_length(parts.fresh);
    if (chained) {
        if (warp < h.n)
            await_left<D>(a, parts.left);
        return;
    }
    wait_for_previous();
    if (a.fresh != nullptr)
        parts.left = output_in_front<D>(a, h, warp, parts.fresh);
}

} // namespace

#endif
