/* One chunk of a compressed page: from shared memory into the tensor cores. Device code only.
 *
 * A code under a mask, read as f16, is subnormal: code * 2^-24, or 16 times that where it lies higher in its
 * word. mma.sync multiplies subnormals exactly (ifm_packed_probe shows it), so that codes are operands as they are.
 * What is left goes elsewhere: channel scales of K, and the powers of 2, into the query, once a chunk; zeros of K into
 * what weights are relative to; token scales of V into the weights.
 *
 * int4: the upper codes of bytes are not put under a mask; a byte is the lower code and 16 times the upper one. So its
 * factor is that of the upper code over 16, and is taken off that of the lower one, which is multiplied besides.
 *
 * int2 is in packed_int2.cuh.
 *
 * Weights times scales of V are f16, and small ones would be subnormal. So the maximum that weights are relative to is
 * that of scores times scales of V: the products are at most 2^LAZY, weights of small V much more. Where it comes to
 * sink and ring, behind all pages, a score of theirs may raise it, but the sums so far are f32.
 *
 * Queries times scales are rounded to f16, and what rounding takes is multiplied too; zeros are multiplied as they are.
 *
 * A product has 8 columns, one a query head. A group of at most 4 heads leaves half of them free (FEW): column 4 + h
 * then has what rounding took from head h's folded query, so that its products cost nothing; of the lanes whose
 * columns are those, each takes a token's weights from the lane 2 before it; and where V is rotated, their sums are of
 * sink and ring (APART). */
#ifndef IFM_KERNEL_CUDA_PACKED_TILE_CUH
#define IFM_KERNEL_CUDA_PACKED_TILE_CUH

#include "kernel/cuda/decode_tile.cuh"

namespace
{

enum { INT8 = 0, E4M3, INT4, INT2 };

template <int D, int FORMAT> struct packs {
    enum {
        BITS = FORMAT == INT4   ? 4
               : FORMAT == INT2 ? 2
                                : 8,
        FLOATS = FORMAT == E4M3,
        ROTATED = FORMAT == INT4 || FORMAT == INT2,
        CHUNK = BITS == 8   ? 32
                : BITS == 4 ? 64
                            : 128,
        TILES = CHUNK / TILE,
        CHUNKS = IFM_DECODE_PAGE / CHUNK,
        CODES = CHUNK * D * BITS / 8,
        BYTES = 2 * CODES + (FLOATS ? 0 : 2 * CHUNK), /* of a chunk */
        LOW = 4 * D,                                  /* where its sections lie in the head of a page */
        PROMOTED = 8 * D,
        HEAD_BYTES = FORMAT == E4M3   ? 128
                     : FORMAT == INT2 ? 8 * D + 64
                                      : 4 * D,
        PAGE = HEAD_BYTES + CHUNKS * BYTES,
        STAGE = (HEAD_BYTES + BYTES + 63) / 64 * 64,
        MOST = TILES > 4 ? 4 : TILES, /* tiles whose scores are there at once */
        RESTS = !FLOATS               /* what rounding takes from folded queries is multiplied too */
    };
};

/* The four registers of fragment `f` of a piece of 16 bytes; `f` is known when this is compiled. */
template <int FORMAT> __device__ __forceinline__ void operand(const uint4 &x, int f, uint32_t a[4])
{
    if (FORMAT == INT8 || FORMAT == E4M3) {
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const uint32_t w = word(x, 2 * f + c);
            a[2 * c] = FORMAT == E4M3 ? from_e4m3(w) : __byte_perm(w, 0, 0x4140);
            a[2 * c + 1] = FORMAT == E4M3 ? from_e4m3(w >> 16) : __byte_perm(w, 0, 0x4342);
        }
        return;
    }
    const uint32_t w = word(x, f), high = __byte_perm(w, 0, 0x4341);
    a[0] = w & 0x000f000fu;
    a[1] = high & 0x000f000fu;
    a[2] = w & 0x00ff00ffu;
    a[3] = high;
}

/* What a warp has of the chunk's head. */
template <int D> struct folded {
    uint32_t q[sizes<D>::STEPS][2];    /* the query times the scales */
    uint32_t rest[sizes<D>::STEPS][2]; /* what rounding took from that, where packs has RESTS */
    float zero[2];                     /* the query times the zeros, of the heads of a lane's scores */
};

/* The query times the scales. FEW: its rest in columns 4 on, as the query lies there too. */
template <int D, int FORMAT, bool FEW>
__device__ __forceinline__ void fold_one(folded<D> &to, int f, int c, uint32_t q, uint32_t scales, bool of_rest)
{
    uint32_t product = times(q, scales), rest = 0;
    if (packs<D, FORMAT>::RESTS && !FEW)
        rest = times_less(q, scales, product);
    if (packs<D, FORMAT>::RESTS && FEW && of_rest)
        product = times_less(q, scales, product);
    to.q[f][c] = product;
    if (packs<D, FORMAT>::RESTS && !FEW)
        to.rest[f][c] = rest;
}

/* Zeros of 32 channels, as an operand's registers: those of a lane's channels 0, 1, 4 and 5 are of upper rows, the
 * others of lower ones. FEW: columns 4 on have the query's channels of the lower rows, the others those of the upper
 * ones. */
template <bool FEW>
__device__ __forceinline__ void add_zeros(float sum[2][4], const uint4 &z, const uint4 &x, bool of_lower)
{
    if (FEW) {
        multiply(sum[0], z.x, z.y, z.z, z.w, of_lower ? x.y : x.x, of_lower ? x.w : x.z);
        return;
    }
    multiply(sum[0], z.x, z.y, z.z, z.w, x.x, x.z);
    multiply(sum[1], z.x, z.y, z.z, z.w, x.y, x.w);
}

/* int4: of words `c` = 0 and 1 of a fragment at once; that of the second one is taken off the first. What rounding took
 * from the second one's part in the first is as good as 16 bits. */
template <int D, bool FEW>
__device__ __forceinline__ void fold_bytes(folded<D> &to, int f, const uint32_t q[2], const uint32_t scales[2],
                                           bool of_rest)
{
    const uint32_t part = times(q[1], 0x2c002c00u);
    uint32_t high = times(part, scales[1]), low = times_less(q[0], scales[0], high);
    if (!FEW || of_rest) {
        const uint32_t high_rest = times_less(part, scales[1], high);
        const uint32_t low_rest = less_product(times_less(q[0], scales[0], low), part, scales[1]);
        if (FEW) {
            high = high_rest;
            low = low_rest;
        } else {
            to.rest[f][0] = low_rest;
            to.rest[f][1] = high_rest;
        }
    }
    to.q[f][0] = low;
    to.q[f][1] = high;
}

template <int D, int FORMAT, bool FEW>
__device__ __forceinline__ void fold(uint32_t stage, uint32_t q, uint32_t lane, folded<D> &to)
{
    enum { TWICE = packs<D, FORMAT>::RESTS && FEW }; /* columns 4 on are of rests: their lanes read the same query */
    const uint32_t t = lane % 4, from = TWICE ? lane % 16 : lane, own = stage + 16 * t;
    float zero[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll
    for (int i = 0; i < sizes<D>::STEPS / 2; i++) {
        const uint4 x = load_shared(q + (32 * i + from) * 16);
        if (FORMAT == E4M3) {
            to.q[2 * i][0] = x.x;
            to.q[2 * i][1] = x.y;
            to.q[2 * i + 1][0] = x.z;
            to.q[2 * i + 1][1] = x.w;
            continue;
        }
        const uint4 s = load_shared(own + 64 * i), z = load_shared(own + 2 * D + 64 * i);
        add_zeros<TWICE>(zero, z, x, lane >= 16);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (FORMAT != INT4)
                fold_one<D, FORMAT, FEW>(to, 2 * i + j / 2, j % 2, word(x, j), word(s, j), lane >= 16);
            if (FORMAT == INT4 && j % 2 == 0) {
                const uint32_t of_q[2] = {word(x, j), word(x, j + 1)}, scales[2] = {word(s, j), word(s, j + 1)};
                fold_bytes<D, FEW>(to, 2 * i + j / 2, of_q, scales, lane >= 16);
            }
        }
    }
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float upper = zero[0][j], lower = zero[TWICE ? 0 : 1][2 + j];
        to.zero[j] = TWICE ? (t < 2 ? upper : lower) : upper + lower;
        to.zero[j] += TWICE ? __shfl_xor_sync(EVERY, to.zero[j], 2) : 0;
    }
}

/* Sums of codes times the folded query, of tile `tile` of the chunk. One chain of products where others' are beside it.
 */
template <int D, int FORMAT, bool FEW>
__device__ __forceinline__ void score_tile(const folded<D> &of, uint32_t chunk, int tile, uint32_t lane, float c[4])
{
    enum { EACH = 16 / packs<D, FORMAT>::BITS, STEPS = sizes<D>::STEPS }; /* fragments of 16 bytes */
    enum { ONE = FEW && packs<D, FORMAT>::MOST == 4 };
    float d[4] = {0, 0, 0, 0};
    c[0] = c[1] = c[2] = c[3] = 0;
#pragma unroll
    for (int i = 0; i < STEPS; i += EACH < STEPS ? static_cast<int>(EACH) : static_cast<int>(STEPS)) {
        const int f = tile * STEPS + i;
        const uint4 x = load_shared(chunk + f / EACH * 512 + lane * 16);
#pragma unroll
        for (int j = 0; j < (EACH < STEPS ? static_cast<int>(EACH) : static_cast<int>(STEPS)); j++) {
            uint32_t a[4];
            operand<FORMAT>(x, f % EACH + j, a);
            multiply(ONE || j % 2 == 0 ? c : d, a[0], a[1], a[2], a[3], of.q[i + j][0], of.q[i + j][1]);
            if (packs<D, FORMAT>::RESTS && !FEW)
                multiply(j % 2 == 0 ? d : c, a[0], a[1], a[2], a[3], of.rest[i + j][0], of.rest[i + j][1]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4 && !ONE; i++)
        c[i] += d[i];
}

/* Weights times codes of V, of one tile. `b`: the weights, times the scales and the powers of 2 of their tokens. */
template <int D, int FORMAT>
__device__ __forceinline__ void add_tile(attention<D> &to, uint32_t codes, int tile, uint32_t lane, uint32_t b0,
                                         uint32_t b1)
{
    enum { EACH = 16 / packs<D, FORMAT>::BITS, STEPS = sizes<D>::STEPS };
#pragma unroll
    for (int i = 0; i < STEPS; i += EACH < STEPS ? static_cast<int>(EACH) : static_cast<int>(STEPS)) {
        const int f = tile * STEPS + i;
        const uint4 x = load_shared(codes + f / EACH * 512 + lane * 16);
#pragma unroll
        for (int j = 0; j < (EACH < STEPS ? static_cast<int>(EACH) : static_cast<int>(STEPS)); j++) {
            uint32_t a[4];
            operand<FORMAT>(x, f % EACH + j, a);
            multiply(to.out[i + j], a[0], a[1], a[2], a[3], b0, b1);
        }
    }
}

/* Weights of four scores of a tile, of tokens g and g + 8 and heads 2 t and 2 t + 1, as operands of add_tile. `at`:
 * where the V scales of the two tokens lie. */
template <int D, int FORMAT>
__device__ __forceinline__ void weigh(attention<D> &work, const float zero[2], const float c[4], float scale,
                                      uint32_t stage, uint32_t at, uint32_t &b0, uint32_t &b1)
{
    const float steps = FORMAT == INT4 ? 4 : 0; /* log2 of what tokens 8 on are too large by */
    float w[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
        w[j] = power_of_2(fmaf(c[j], scale, zero[j % 2] - (work.top[j % 2] + (j < 2 ? 0 : steps))));
    work.total[0] += w[0] + w[2] * (FORMAT == INT4 ? 16.0f : 1.0f);
    work.total[1] += w[1] + w[3] * (FORMAT == INT4 ? 16.0f : 1.0f);
    if (FORMAT == E4M3) {
        const float v = __uint_as_float(shared_word(stage + 64));
#pragma unroll
        for (int j = 0; j < 4; j++)
            w[j] *= v;
    } else {
        const uint32_t both = shared_word(at);
        const float s0 = from_f16(static_cast<uint16_t>(both)), s1 = from_f16(static_cast<uint16_t>(both >> 16));
        w[0] *= s0;
        w[1] *= s0;
        w[2] *= s1;
        w[3] *= s1;
    }
    b0 = transpose(pack(w[0], w[1]));
    b1 = transpose(pack(w[2], w[3]));
    if (packs<D, FORMAT>::ROTATED)
        b0 = difference(b0, b1);
}

/* FEW: of two scores, of token g or, where t >= 2, g + 8, and heads 2 (t % 2) and that plus 1. Columns 4 on are zero
 * where they have sums of their own. */
template <int D, int FORMAT>
__device__ __forceinline__ void weigh_few(attention<D> &work, const float zero[2], const float c[4], float scale,
                                          uint32_t stage, uint32_t at, bool later, uint32_t &b0, uint32_t &b1)
{
    const float steps = FORMAT == INT4 ? 4 : 0, less = later ? steps : 0;
    const float more = !later ? 1.0f : FORMAT == INT4 ? 16.0f : 1.0f;
    const float v = FORMAT == E4M3 ? __uint_as_float(shared_word(stage + 64))
                                   : from_f16(static_cast<uint16_t>(shared_half(at + (later ? 2 : 0))));
    float w[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        w[j] = power_of_2(fmaf(c[j], scale, zero[j] - (work.top[j] + less)));
        work.total[j] = fmaf(w[j], more, work.total[j]);
    }
    const uint32_t both = transpose(pack(w[0] * v, w[1] * v)), other = __shfl_xor_sync(EVERY, both, 16);
    const bool of_head = !packs<D, FORMAT>::ROTATED || threadIdx.x % 32 < 16;
    b0 = !of_head ? 0 : packs<D, FORMAT>::ROTATED ? difference(both, other) : both;
    b1 = of_head ? other : 0;
}

/* Four scores of a lane and of the lane two beside it, whose columns are of the same heads' rests, become two. */
__device__ __forceinline__ void share_scores(float c[4], bool later)
{
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float given = later ? c[j] : c[2 + j];
        c[j] = (later ? c[2 + j] : c[j]) + __shfl_xor_sync(EVERY, given, 2);
    }
}

/* A new maximum, where a score passes that before by much: what a lane has is taken down to it. */
template <int D, bool FEW> __device__ __forceinline__ void raise_to(attention<D> &work, float most[4], float sums[4])
{
    if (FEW) {
        most[2] = most[0];
        most[3] = most[1];
        if (!__any_sync(EVERY, most[0] > work.top[0] + LAZY || most[1] > work.top[1] + LAZY))
            return;
#pragma unroll
        for (int j = 0; j < 2; j++)
            most[j] = fmaxf(most[j], __shfl_xor_sync(EVERY, most[j], 2));
    }
    const float before[2] = {work.top[0], work.top[1]};
    raise<D>(work, most);
    if (before[0] != work.top[0] || before[1] != work.top[1])
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const float shrink = power_of_2(before[j] - work.top[j]);
            sums[j] *= shrink;
            sums[2 + j] *= shrink;
        }
}

/* log2 of the largest scale of V of a lane's tokens, at most 0; `at`: where those of the first tile lie. */
template <int D, int FORMAT> __device__ __forceinline__ float largest_scale(uint32_t stage, uint32_t at)
{
    uint32_t both = 0;
#pragma unroll
    for (int i = 0; i < packs<D, FORMAT>::MOST && FORMAT != E4M3; i++)
        both = i == 0 ? shared_word(at) : larger_integer(both, shared_word(at + 4 * i));
    const float v = FORMAT == E4M3 ? __uint_as_float(shared_word(stage + 64))
                                   : from_f16(static_cast<uint16_t>(larger_integer(both, both >> 16)));
    return log_of_2(fmaxf(fminf(v, 1), 0x1p-40f));
}

/* A few tiles of a chunk, from `tile` on: scores, weights, values. `sums`: of weights times scales, of the two heads,
 * for what V codes are too large by. */
template <int D, int FORMAT, bool FEW>
__device__ __forceinline__ void attend_tiles(attention<D> &work, const folded<D> &of, uint32_t stage, int tile,
                                             float scale, float sums[4], uint32_t lane)
{
    typedef packs<D, FORMAT> p;
    enum { EACH = FEW ? 2 : 4 }; /* scores of a tile */
    const uint32_t chunk = stage + p::HEAD_BYTES, g = lane / 4;
    const uint32_t scales = chunk + 2 * p::CODES + g * p::TILES * 4;
    const bool later = (lane & 2) != 0;
    float c[p::MOST][4], most[4];
#pragma unroll
    for (int i = 0; i < p::MOST; i++) {
        score_tile<D, FORMAT, FEW>(of, chunk, tile + i, lane, c[i]);
        if (FEW)
            share_scores(c[i], later);
#pragma unroll
        for (int j = 0; j < EACH; j++)
            most[j] = i == 0 ? c[i][j] : fmaxf(most[j], c[i][j]);
    }
    const float of_v = largest_scale<D, FORMAT>(stage, scales + 4 * tile);
#pragma unroll
    for (int j = 0; j < EACH; j++)
        most[j] = fmaf(most[j], scale, of.zero[j % 2] + of_v);
    raise_to<D, FEW>(work, most, sums);
#pragma unroll
    for (int i = 0; i < p::MOST; i++) {
        uint32_t b0, b1;
        if (FEW)
            weigh_few<D, FORMAT>(work, of.zero, c[i], scale, stage, scales + 4 * (tile + i), later, b0, b1);
        else
            weigh<D, FORMAT>(work, of.zero, c[i], scale, stage, scales + 4 * (tile + i), b0, b1);
        const uint32_t much = FORMAT == INT4 ? 0x4c404c40u : 0x3c003c00u; /* 17, 1 */
        if (FORMAT != E4M3)
            multiply(sums, 0x3c003c00u, 0x3c003c00u, much, much, b0, b1);
        add_tile<D, FORMAT>(work, chunk + p::CODES, tile + i, lane, b0, b1);
    }
}

/* A whole chunk. */
template <int D, int FORMAT, bool FEW>
__device__ __forceinline__ void attend_chunk(attention<D> &work, uint32_t stage, uint32_t q, float scale, float sums[4],
                                             uint32_t lane)
{
    folded<D> of;
    fold<D, FORMAT, FEW>(stage, q, lane, of);
    if (FORMAT == E4M3)
        scale *= __uint_as_float(shared_word(stage));
    else
        scale *= 0x1p24f;
#pragma unroll
    for (int j = 0; j < 2; j++)
        of.zero[j] *= FORMAT == E4M3 ? 0 : scale * 0x1p-24f;
#pragma unroll
    for (int tile = 0; tile < packs<D, FORMAT>::TILES; tile += packs<D, FORMAT>::MOST)
        attend_tiles<D, FORMAT, FEW>(work, of, stage, tile, scale, sums, lane);
}

/* ---- a unit ---- */

/* The queries of a unit from `from`, [heads][D], as f16: channels 32 i + 8 t on of head g at [i][4 g + t]. One of
 * `warps`. */
template <int D>
__device__ __forceinline__ void give_queries(const float *from, uint32_t n, uint4 *q, uint32_t warp, uint32_t warps)
{
    const uint32_t lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    for (uint32_t i = warp; i < D / 32; i += warps) {
        const float4 *row = reinterpret_cast<const float4 *>(from + (g < n ? g : 0) * D) + 8 * i + 2 * t;
        const float4 x = row[0], y = row[1];
        const uint4 packed = make_uint4(pack(x.x, x.y), pack(x.z, x.w), pack(y.x, y.y), pack(y.z, y.w));
        q[32 * i + lane] = g < n ? packed : make_uint4(0, 0, 0, 0);
    }
}

/* What a warp has of a unit so far. */
template <int D> struct part_of_unit {
    attention<D> work;
    float sums[4];
    bool settled; /* body pages are done with, and sums are not of rotated values. APART: not used */
};

template <int D> __device__ __forceinline__ void begin_part(part_of_unit<D> &part)
{
#pragma unroll
    for (int i = 0; i < sizes<D>::STEPS; i++)
        part.work.out[i][0] = part.work.out[i][1] = part.work.out[i][2] = part.work.out[i][3] = 0;
    part.work.top[0] = part.work.top[1] = NOTHING;
    part.work.total[0] = part.work.total[1] = 0;
    part.sums[0] = part.sums[1] = part.sums[2] = part.sums[3] = 0;
    part.settled = false;
}

/* A tile of the sink or the ring, f16. APART: its values go to columns 4 on. */
template <int D, bool APART>
__device__ __forceinline__ void attend_side(part_of_unit<D> &part, uint32_t stage, uint32_t q, float scale,
                                            uint32_t left, uint32_t lane)
{
    attention<D> &work = part.work;
    float c[4];
#pragma unroll
    for (int i = 0; i < sizes<D>::STEPS / 2; i++) {
        const uint4 x = load_shared(q + (32 * i + (APART ? lane % 16 : lane)) * 16);
        work.q[2 * i][0] = x.x;
        work.q[2 * i][1] = x.y;
        work.q[2 * i + 1][0] = x.z;
        work.q[2 * i + 1][1] = x.w;
    }
    score<D, ROWS>(scale, work, stage, left, lane, c);
    if (APART) {
        float most[4] = {fmaxf(c[0], c[2]), fmaxf(c[1], c[3])};
        raise_to<D, APART>(work, most, part.sums);
#pragma unroll
        for (int j = 0; j < 4; j++)
            c[j] = lane % 4 < 2 ? -__int_as_float(0x7f800000) : c[j];
    } else {
        raise<D>(work, c);
    }
    add_values<D, ROWS>(work, stage, c, lane);
}

/* ---- the sums of values ---- */

/* Out of units of codes, and less what codes are too large by. Relative to the same maximum. Columns 4 on of sums that
 * are apart are as they should be. */
template <int D, int FORMAT, bool FEW> __device__ __forceinline__ void settle(attention<D> &work, float sums[4])
{
    if (FEW)
#pragma unroll
        for (int j = 0; j < 2; j++)
            work.total[j] += __shfl_xor_sync(EVERY, work.total[j], 2);
    if (FORMAT == E4M3 || (FEW && packs<D, FORMAT>::ROTATED && threadIdx.x % 4 >= 2))
        return;
    const float middle = FORMAT == INT8 ? 128.0f : 7.5f;
#pragma unroll
    for (int i = 0; i < sizes<D>::STEPS; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            work.out[i][j] = work.out[i][j] * 0x1p24f - middle * sums[j % 2];
}

/* Walsh and Hadamard over the channels of a warp's sums: 8 g + i + 64 r, or of D = 64 8 g + i + 4 r. */
template <int D> __device__ __forceinline__ void turn(attention<D> &work, uint32_t lane)
{
    const float size = D == 128 ? 0.08838834764831845f : 0.125f;
#pragma unroll
    for (int step = 1; step < sizes<D>::STEPS; step *= 2)
#pragma unroll
        for (int i = 0; i < sizes<D>::STEPS; i++)
#pragma unroll
            for (int j = 0; j < 4 && (i & step) == 0; j++) {
                const float x = work.out[i][j], y = work.out[i + step][j];
                work.out[i][j] = x + y;
                work.out[i + step][j] = x - y;
            }
#pragma unroll
    for (int i = 0; i < sizes<D>::STEPS; i++) {
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const float x = work.out[i][j], y = work.out[i][2 + j];
            work.out[i][j] = (x + y) * size;
            work.out[i][2 + j] = (x - y) * size;
        }
#pragma unroll
        for (int step = 4; step < 32; step *= 2)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const float x = work.out[i][j], y = __shfl_xor_sync(EVERY, x, step);
                work.out[i][j] = (lane & step) == 0 ? x + y : y - x;
            }
    }
}

} // namespace

#endif
