/* How the warps of a block join what they have of a unit of a compressed cache, then blocks. Device code only.
 *
 * Sums of values of body pages are of rotated ones (int4, int2), those of sink and ring are not: they are apart until
 * here, so that no warp rotates sums. */
#ifndef IFM_KERNEL_CUDA_PACKED_JOIN_CUH
#define IFM_KERNEL_CUDA_PACKED_JOIN_CUH

#include "kernel/cuda/packed_tile.cuh"

namespace
{

enum { CREW = IFM_PACKED_WARPS /* warps of a block */ };

/* What a warp leaves of a head: sums, and behind them, where rows of floats have room, this. `plain`: sums are those of
 * values that are not rotated. APART: a head has two such rows, the second one plain, with no maximum of its own. */
struct left_head {
    float top, total;
    uint32_t plain;
};

template <int D> __device__ __forceinline__ float *left_row(float *rows, uint32_t n, uint32_t warp, uint32_t head)
{
    return rows + (warp * n + head) * sizes<D>::ROW;
}

/* A warp puts its sums into `rows`, [CREW][rows of n heads][ROW], as they are. */
template <int D, bool APART>
__device__ __forceinline__ void leave_sums(attention<D> &from, float *rows, uint32_t n, uint32_t plain)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int j = 0; j < 2; j++) {
#pragma unroll
        for (int step = 4; step < 32; step *= 2)
            from.total[j] += __shfl_xor_sync(EVERY, from.total[j], step);
        const uint32_t column = 2 * t + j, head = APART ? column % 4 : column;
        if (head >= n)
            continue;
        float *row = left_row<D>(rows, APART ? 2 * n : n, warp, APART && column >= 4 ? n + head : head);
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int i = 0; i < sizes<D>::STEPS; i += 4)
                *reinterpret_cast<float4 *>(row + 8 * g + (D == 128 ? 64 : 4) * half + i) =
                    make_float4(from.out[i][2 * half + j], from.out[i + 1][2 * half + j],
                                from.out[i + 2][2 * half + j], from.out[i + 3][2 * half + j]);
        if (g == 0)
            *reinterpret_cast<left_head *>(row + D) = {from.top[j], from.total[j], plain};
    }
    __syncwarp();
}

/* Walsh and Hadamard over the channels of a head, four in each lane of D / 4. */
template <int D> __device__ __forceinline__ float4 turned(const float4 &x)
{
    const uint32_t lane = threadIdx.x % 32, all = D == 128 ? EVERY : 0xffffu << (lane & 16);
    const float a = x.x + x.y, b = x.x - x.y, c = x.z + x.w, d = x.z - x.w;
    float y[4] = {a + c, b + d, a - c, b - d};
#pragma unroll
    for (int step = 1; step < D / 4; step *= 2)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float other = __shfl_xor_sync(all, y[i], step);
            y[i] = (lane & step) == 0 ? y[i] + other : other - y[i];
        }
    const float size = D == 128 ? 0.08838834764831845f : 0.125f;
    return make_float4(y[0] * size, y[1] * size, y[2] * size, y[3] * size);
}

/* What all warps left of a unit, to where put_sums has it. */
template <int D, bool ROTATED, bool APART>
__device__ __forceinline__ void join_left(const ifm_packed_attend &a, const heads &h, float *rows, float *partial)
{
    for (uint32_t i = threadIdx.x; i < h.n * D / 4; i += 32 * CREW) {
        const uint32_t head = i * 4 / D, at = i * 4 % D, each = APART ? 2 * h.n : h.n;
        float4 body = make_float4(0, 0, 0, 0), side = body;
        float top = NOTHING, total = 0;
#pragma unroll
        for (int w = 0; w < CREW; w++)
            top = fmaxf(top, left_row<D>(rows, each, w, head)[D]);
#pragma unroll
        for (int w = 0; w < CREW; w++) {
            const float *row = left_row<D>(rows, each, w, head);
            const left_head left = *reinterpret_cast<const left_head *>(row + D);
            const float factor = power_of_2(left.top - top);
            const float4 x = *reinterpret_cast<const float4 *>(row + at);
            total += factor * left.total;
            if (APART)
                add(side, *reinterpret_cast<const float4 *>(left_row<D>(rows, each, w, h.n + head) + at), factor);
            if (!APART && left.plain)
                add(side, x, factor);
            else
                add(body, x, factor);
        }
        if (ROTATED)
            body = turned<D>(body);
        add(side, body, 1);
        put_sums<D>(a, h, i, side, top, total, partial);
    }
}

/* The same, and with other blocks' where they share the unit. `first`: it is the block's first. */
template <int D, bool ROTATED, bool APART>
__device__ __forceinline__ void join_unit(const ifm_packed_attend &a, const heads &h, float *rows, uint32_t unit,
                                          bool whole, bool first)
{
    if (whole) {
        join_left<D, ROTATED, APART>(a, h, rows, nullptr);
        return;
    }
    const sharers s = sharers_of(a, unit);
    join_left<D, ROTATED, APART>(
        a, h, rows, a.partials + (2 * blockIdx.x + !first) * static_cast<uint64_t>(HEAD + HEADS * D));
    if (is_last(a, unit, s.n))
        join_blocks<D, CREW>(a, h, s, rows);
}

} // namespace

#endif
