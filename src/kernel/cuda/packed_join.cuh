/* How the warps of a block join what they have of a unit of a compressed cache, then blocks. Device code only.
 *
 * Sums of values of body pages are of rotated ones (int4, int2), those of sink and ring are not: they are apart until
 * here, so that no warp rotates sums. */
#ifndef IFM_KERNEL_CUDA_PACKED_JOIN_CUH
#define IFM_KERNEL_CUDA_PACKED_JOIN_CUH

#include "kernel/cuda/decode_join.cuh"
#include "kernel/cuda/packed_int2.cuh"

namespace
{

__device__ constexpr int common_factor(int a, int b)
{
    return b == 0 ? a : common_factor(b, a % b);
}

/* The warps of a block, and how many items are on their way to them. Items have stages in turn, and barriers in turn:
 * so many that a barrier is of one warp, which waits for all of its phases. With a barrier a stage warps would take
 * turns at it, and a wait tells a phase only from the next. */
template <int WARPS_OF_BLOCK, int STAGES_OF_BLOCK> struct crew {
    enum {
        CREW = WARPS_OF_BLOCK,
        JOINERS = IFM_PACKED_JOINERS(CREW), /* of them, which join what all have of a unit */
        STAGES = STAGES_OF_BLOCK,
        BARRIERS = STAGES / common_factor(STAGES, CREW) * CREW
    };
};

/* What a warp leaves of a head: sums, and behind them, where rows of floats have room, this. `plain`: sums are those of
 * values that are not rotated. APART: a head has two such rows, the second one plain; both have the head's maximum. */
struct left_head {
    float top, total;
    uint32_t plain;
};

template <int D> __device__ __forceinline__ float *left_row(float *rows, uint32_t n, uint32_t warp, uint32_t head)
{
    return rows + (warp * n + head) * sizes<D>::ROW;
}

/* The row of a lane's sums of column 2 t + j; NULL where that is of no head. `rows`: [JOINERS][rows of n heads][ROW].
 */
template <int D, bool APART> __device__ __forceinline__ float *lane_row(float *rows, uint32_t n, uint32_t warp, int j)
{
    const uint32_t column = 2 * (threadIdx.x % 4) + j, head = APART ? column % 4 : column;
    if (head >= n)
        return nullptr;
    return left_row<D>(rows, APART ? 2 * n : n, warp, APART && column >= 4 ? n + head : head);
}

/* Where in that row sums of `half` and of products `i` to `i` + 3 begin. */
template <int D> __device__ __forceinline__ uint32_t lane_sums(int half, int i)
{
    return 8 * (threadIdx.x % 32 / 4) + (D == 128 ? 64 : 4) * half + i;
}

/* A lane's total of its own tokens becomes the warp's. */
template <int D> __device__ __forceinline__ void total_up(attention<D> &of)
{
#pragma unroll
    for (int j = 0; j < 2; j++)
#pragma unroll
        for (int step = 4; step < 32; step *= 2)
            of.total[j] += __shfl_xor_sync(EVERY, of.total[j], step);
}

/* A warp puts its sums into `rows`, as they are. */
template <int D, bool APART>
__device__ __forceinline__ void leave_sums(const attention<D> &from, float *rows, uint32_t n, uint32_t warp,
                                           uint32_t plain)
{
#pragma unroll
    for (int j = 0; j < 2; j++) {
        float *row = lane_row<D, APART>(rows, n, warp, j);
        if (row == nullptr)
            continue;
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int i = 0; i < sizes<D>::STEPS; i += 4)
                *reinterpret_cast<float4 *>(row + lane_sums<D>(half, i)) =
                    make_float4(from.out[i][2 * half + j], from.out[i + 1][2 * half + j], from.out[i + 2][2 * half + j],
                                from.out[i + 3][2 * half + j]);
        if (threadIdx.x % 32 < 4)
            *reinterpret_cast<left_head *>(row + D) = {from.top[j], from.total[j], plain};
    }
}

/* Sums that another warp left are added to a warp's own. `plain`: of its own, then of both. */
template <int D, bool ROTATED, bool APART>
__device__ __forceinline__ void take_sums(attention<D> &to, float *rows, uint32_t n, uint32_t warp, bool &plain)
{
    if (!APART && ROTATED) {
        const bool other = reinterpret_cast<const left_head *>(left_row<D>(rows, n, warp, 0) + D)->plain != 0;
        if (other != plain)
            turn<D>(to, threadIdx.x % 32); /* there and back are the same */
        plain = other;
    }
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float *row = lane_row<D, APART>(rows, n, warp, j);
        if (row == nullptr)
            continue;
        const left_head left = *reinterpret_cast<const left_head *>(row + D);
        const float top = fmaxf(to.top[j], left.top), own = power_of_2(to.top[j] - top),
                    other = power_of_2(left.top - top);
        to.top[j] = top;
        to.total[j] = to.total[j] * own + left.total * other;
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int i = 0; i < sizes<D>::STEPS; i += 4) {
                const float4 x = *reinterpret_cast<const float4 *>(row + lane_sums<D>(half, i));
                const float add[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
                for (int k = 0; k < 4; k++)
                    to.out[i + k][2 * half + j] = to.out[i + k][2 * half + j] * own + add[k] * other;
            }
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

/* What so many joining warps left of a unit, to where put_sums has it. `rows_of`: a warp's first row. */
template <int JOINERS, int D, bool ROTATED, bool APART, typename ROWS_OF>
__device__ __forceinline__ void join_left(const ifm_packed_attend &a, const heads &h, float *partial,
                                          const ROWS_OF &rows_of)
{
    for (uint32_t i = threadIdx.x; i < h.n * D / 4; i += 32 * JOINERS) {
        const uint32_t head = i * 4 / D, at = i * 4 % D;
        float4 body = make_float4(0, 0, 0, 0), side = body;
        float top = NOTHING, total = 0;
        const float *rows[JOINERS];
#pragma unroll
        for (int w = 0; w < JOINERS; w++) {
            rows[w] = rows_of(w) + head * sizes<D>::ROW;
            top = fmaxf(top, rows[w][D]);
        }
#pragma unroll
        for (int w = 0; w < JOINERS; w++) {
            const left_head left = *reinterpret_cast<const left_head *>(rows[w] + D);
            const float factor = power_of_2(left.top - top);
            const float4 x = *reinterpret_cast<const float4 *>(rows[w] + at);
            total += factor * left.total;
            if (APART)
                add(side, *reinterpret_cast<const float4 *>(rows[w] + h.n * sizes<D>::ROW + at), factor);
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

} // namespace

#endif
