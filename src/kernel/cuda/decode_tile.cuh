/* What a warp of the split kernels of decode.cu does: loads tiles into a ring, and attends over one. Device code only.
 */
#ifndef IFM_KERNEL_CUDA_DECODE_TILE_CUH
#define IFM_KERNEL_CUDA_DECODE_TILE_CUH

#include "kernel/cuda/decode_share.cuh"

namespace
{

/* ---- a ring of tiles for each warp ---- */

template <int D> struct sizes {
    enum {
        COLUMNS = D / 8,        /* of 16 bytes in a row */
        LOADS = TILE * D / 256, /* of 16 bytes a lane, for K and for V each */
        HALF = TILE * D * 2,    /* bytes of a tile's K, and of its V */
        STAGE = 2 * HALF,
        STEPS = D / 16, /* products along the channels */
        ROW = D + PAD   /* floats */
    };
};

__device__ __forceinline__ void copy_later(uint32_t shared, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
}

/* Columns of 16 bytes lie where neither copies nor the loads of fragments meet in a bank; in ROWS as in memory. */
enum { SPREAD = 0, ROWS };
template <int D, int ORDER = SPREAD> __device__ __forceinline__ uint32_t place_k(uint32_t row, uint32_t column)
{
    return (row * sizes<D>::COLUMNS + (ORDER == ROWS ? column : column ^ ((row & 1) << 2 | (row >> 1 & 3)))) * 16;
}

template <int D, int ORDER = SPREAD> __device__ __forceinline__ uint32_t place_v(uint32_t row, uint32_t column)
{
    return sizes<D>::HALF + (row * sizes<D>::COLUMNS + (ORDER == ROWS ? column : column ^ (row & 6))) * 16;
}

/* The tiles that a warp loads: each WARPS-th of its block. */
struct loader {
    uint32_t at, end;    /* the next one, among those of all units; behind the last one */
    uint32_t unit, tile; /* where it is */
    uint32_t tiles;      /* of that unit */
    uint32_t pages;      /* the unit's first */
};

/* The tile may lie behind the unit that it was counted in. */
__device__ __forceinline__ void find_unit(const ifm_decode_attend &a, loader &l)
{
    if (l.at >= l.end || l.tile < l.tiles)
        return;
    while (l.tile >= l.tiles) {
        l.tile -= l.tiles;
        l.tiles = tiles_of(a, ++l.unit);
    }
    l.pages = pages_of(a, l.unit);
}

template <int D>
__device__ __forceinline__ void load_next(const ifm_decode_attend &a, loader &l, uint32_t stage, uint32_t lane)
{
    if (l.at < l.end) {
        const uint64_t page = page_at(a, l.pages + l.tile / TILES_A_PAGE);
        const uint64_t from = (page * IFM_DECODE_PAGE + l.tile % TILES_A_PAGE * TILE) * D;
#pragma unroll
        for (int i = 0; i < sizes<D>::LOADS; i++) {
            const uint32_t e = i * 32 + lane, row = e / sizes<D>::COLUMNS, column = e % sizes<D>::COLUMNS;
            copy_later(stage + place_k<D>(row, column), a.k + from + 8 * e);
            copy_later(stage + place_v<D>(row, column), a.v + from + 8 * e);
        }
        l.at += WARPS;
        l.tile += WARPS;
        find_unit(a, l);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* ---- one tile ----
 *
 * Lane = 4 g + t. A product has tokens g and g + 8 as its rows and heads 2 t and 2 t + 1 as its columns. The order of
 * channels along it is free: one 16-byte load of a lane is the fragment of two products. */

template <int D> struct attention {
    uint32_t q[sizes<D>::STEPS][2];
    float out[sizes<D>::STEPS][4]; /* of channels g and of heads 2 t, 2 t + 1 */
    float top[2], total[2];        /* of those heads; a lane's total is of its own tokens */
};

__device__ __forceinline__ uint32_t word(const uint4 &v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/* The value in one half of each: of two tokens, side by side. */
__device__ __forceinline__ uint32_t pair_up(uint32_t a, uint32_t b, bool high)
{
    return __byte_perm(a, b, high ? 0x7632 : 0x5410);
}

template <int D> __device__ __forceinline__ void begin(const float *q, const heads &h, attention<D> &to, uint32_t lane)
{
    const uint32_t g = lane / 4, t = lane % 4;
    const float4 *from = reinterpret_cast<const float4 *>(q + (g < h.n ? g : 0) * D) + 2 * t;
#pragma unroll
    for (int i = 0; i < sizes<D>::STEPS / 2; i++) {
        float4 x = from[8 * i], y = from[8 * i + 1];
        if (g >= h.n)
            x = y = make_float4(0, 0, 0, 0);
        to.q[2 * i][0] = pack(x.x, x.y);
        to.q[2 * i][1] = pack(x.z, x.w);
        to.q[2 * i + 1][0] = pack(y.x, y.y);
        to.q[2 * i + 1][1] = pack(y.z, y.w);
    }
#pragma unroll
    for (int i = 0; i < sizes<D>::STEPS; i++)
        to.out[i][0] = to.out[i][1] = to.out[i][2] = to.out[i][3] = 0;
    to.top[0] = to.top[1] = NOTHING;
    to.total[0] = to.total[1] = 0;
}

/* Scores of tokens g and g + 8, times the scale; of tokens behind the last one, minus infinity. */
template <int D, int ORDER = SPREAD>
__device__ __forceinline__ void score(float scale, const attention<D> &of, uint32_t stage, uint32_t left, uint32_t lane,
                                      float c[4])
{
    const uint32_t g = lane / 4, t = lane % 4;
    float d[4] = {0, 0, 0, 0};
    c[0] = c[1] = c[2] = c[3] = 0;
#pragma unroll
    for (int i = 0; i < sizes<D>::STEPS / 2; i++) {
        const uint4 x = load_shared(stage + place_k<D, ORDER>(g, 4 * i + t)),
                    y = load_shared(stage + place_k<D, ORDER>(g + 8, 4 * i + t));
        multiply(c, x.x, y.x, x.y, y.y, of.q[2 * i][0], of.q[2 * i][1]);
        multiply(d, x.z, y.z, x.w, y.w, of.q[2 * i + 1][0], of.q[2 * i + 1][1]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        c[i] = (c[i] + d[i]) * scale;
    if (left < TILE) {
        const float least = -__int_as_float(0x7f800000);
        c[0] = g < left ? c[0] : least;
        c[1] = g < left ? c[1] : least;
        c[2] = g + 8 < left ? c[2] : least;
        c[3] = g + 8 < left ? c[3] : least;
    }
}

/* The maximum is raised only when a score passes it by LAZY: weights are at most 2^LAZY, and mostly nothing is done. */
template <int D> __device__ __forceinline__ void raise(attention<D> &of, const float c[4])
{
    float x[2] = {fmaxf(c[0], c[2]), fmaxf(c[1], c[3])};
    if (!__any_sync(EVERY, x[0] > of.top[0] + LAZY || x[1] > of.top[1] + LAZY))
        return;
#pragma unroll
    for (int j = 0; j < 2; j++) {
#pragma unroll
        for (int step = 4; step < 32; step *= 2)
            x[j] = fmaxf(x[j], __shfl_xor_sync(EVERY, x[j], step));
        x[j] = fmaxf(x[j], of.top[j]);
        const float shrink = power_of_2(of.top[j] - x[j]);
        of.top[j] = x[j];
        of.total[j] *= shrink;
#pragma unroll
        for (int i = 0; i < sizes<D>::STEPS; i++) {
            of.out[i][j] *= shrink;
            of.out[i][2 + j] *= shrink;
        }
    }
}

template <int D, int ORDER = SPREAD>
__device__ __forceinline__ void add_values(attention<D> &to, uint32_t stage, const float c[4], uint32_t lane)
{
    const uint32_t g = lane / 4, t = lane % 4;
    enum { ACROSS = D / 64, LOADS = 4 * ACROSS }; /* columns of a lane in a row */
    const float p0 = power_of_2(c[0] - to.top[0]), p1 = power_of_2(c[1] - to.top[1]);
    const float p2 = power_of_2(c[2] - to.top[0]), p3 = power_of_2(c[3] - to.top[1]);
    to.total[0] += p0 + p2;
    to.total[1] += p1 + p3;
    const uint32_t b0 = transpose(pack(p0, p1)), b1 = transpose(pack(p2, p3));
    uint4 v[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const int token = i / ACROSS;
        v[i] = load_shared(stage + place_v<D, ORDER>(2 * t + (token & 1) + 8 * (token >> 1), g + 8 * (i % ACROSS)));
    }
#pragma unroll
    for (int i = 0; i < sizes<D>::STEPS;
         i++) { /* channels 8 g + i and 64 + 8 g + i; of D = 64 8 g + i and 8 g + 4 + i */
        enum { NEXT = ACROSS };
        const int low = i / 2, high = NEXT == 2 ? i / 2 : 2 + i / 2, other = NEXT == 2 ? 1 : 0;
        const bool odd = i % 2;
        multiply(to.out[i], pair_up(word(v[0], low), word(v[NEXT], low), odd),
                 pair_up(word(v[other], high), word(v[NEXT + other], high), odd),
                 pair_up(word(v[2 * NEXT], low), word(v[3 * NEXT], low), odd),
                 pair_up(word(v[2 * NEXT + other], high), word(v[3 * NEXT + other], high), odd), b0, b1);
    }
}

} // namespace

#endif
