/* A page of int2: products of 8-bit integers, exact, for those of f16. Device code only.
 *
 * A byte of the page has codes of four tiles (K) or four products (V): c0 + 4 c1 + 16 c2 + 64 c3, see kv/fragment.h.
 * Under a mask for the first three it is an operand, 4^n times its code; for the fourth it is one as it is, and what
 * the others are in it is taken off the sums.
 *
 * The other operand is two digits of 8 bits. Of a query times the scales of K: signed, in units of a power of 2 of
 * which no product has more than 127; what rounding to those takes is the second digit, in 254ths. Of a weight times
 * the scale of its V: unsigned, 256 h + l, relative to the page's maximum. Sums become f32 once a page.
 *
 * An error of a score is one of an exponent, and grows with queries and keys. A product is off by up to 1/508 of a
 * unit, 1/880 in the root mean square; a code less 1.5 is 1.25 in the mean square, lower bits of an eighth of the
 * channels are 3.5: a score is off by sqrt(1.69 D) / 880 units times its scale. Where that passes 1.5e-3 (base 2) for a
 * head, a third digit, in 128ths of the second's units, is added to the page's scores. Queries of unit variance stay
 * below that beside outlier channels of 12: of a third digit they have a vote and a branch.
 *
 * A product has 8 columns, one a head, and each digit has one of its own. FEW: at most 4 heads, columns 2 h and 2 h + 1
 * are the digits of head h, so that lane 4 g + t has both sums of head t. Until `spread` a lane's totals are of it, and
 * so are sums of values, in places 0 and 2 of their four.
 *
 * Integers have no NaN: it goes by the units, which are f32. */
#ifndef IFM_KERNEL_CUDA_PACKED_INT2_CUH
#define IFM_KERNEL_CUDA_PACKED_INT2_CUH

#include "kernel/cuda/packed_tile.cuh"

namespace
{

/* Scores of a lane in a tile, of their heads. */
template <bool FEW> struct of_lane_int2 {
    enum { HEADS_OF_LANE = FEW ? 1 : 2, SCORES = FEW ? 2 : 4, DIGITS = FEW ? 1 : 2, GROUP = 4 /* tiles of a byte */ };
};

/* The query times the scales of a page. */
template <int D, bool FEW> struct digits {
    uint32_t q[2][D / 32][2], low[2]; /* low: of promoted channels, a quarter; FEW: [0] is the digit of the column */
    float unit[2], zero[2];           /* of the heads of a lane's scores */
};

/* Digits that a lane has of a product: both, FEW that of its column; or the third one. */
template <bool FEW, bool THIRD> struct of_product {
    enum { DIGITS = FEW || THIRD ? 1 : 2 };
};

/* Adding one rounds to its units, and leaves the number of them in the lowest 8 bits. */
struct rounding {
    uint32_t high, low;
};

/* Digits of two products, each in the lower byte of its half. THIRD: in each column, of what the second one leaves, and
 * of what was lost where that which the first one leaves became f16. Of units below 2^-9, of which f16 has no 2^-15, it
 * is of no meaning: a head of such small scores beside a large one, whose score it moves by less than 2e-4. */
template <bool FEW, bool THIRD>
__device__ __forceinline__ void split(uint32_t q, uint32_t scales, const rounding &to, bool second, uint32_t of[2])
{
    const uint32_t first = times_and(q, scales, to.high);
    of[0] = first;
    if (FEW && !THIRD && !second)
        return;
    const uint32_t whole = difference(first, to.high), rest = times_less(q, scales, whole);
    const uint32_t next = times_and(rest, 0x3bf03bf0u, to.low); /* 254 / 256 */
    of[FEW ? 0 : 1] = next;
    if (!THIRD)
        return;
    const uint32_t product = times(q, scales), less = times_less(q, scales, product);
    const uint32_t lost = times_and(difference(difference(product, whole), rest), 0x3c003c00u, less);
    const uint32_t left = times_less(rest, 0x3bf03bf0u, difference(next, to.low));
    of[0] = times_and(times_and(lost, 0x3bf03bf0u, left), 0x3c003c00u, to.low - 0x1c001c00u);
}

/* The lower bits' part. `down`: 1, or what scales were multiplied by. */
template <int D, bool FEW, bool THIRD>
__device__ __forceinline__ void split_low(uint32_t stage, uint32_t row, uint32_t t, uint32_t down, const rounding &to,
                                          bool second, uint32_t low[2])
{
    enum { CHANNELS = D == 128 ? 4 : 2 };
    const uint32_t list = stage + packs<D, INT2>::PROMOTED + CHANNELS * t;
    const uint32_t channels = CHANNELS == 4 ? shared_word(list) : shared_half(list), less = times(down, 0x34003400u);
    uint32_t two[2][2];
#pragma unroll
    for (int i = 0; i < CHANNELS / 2; i++) {
        uint32_t q[2], scale[2];
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const uint32_t d = channels >> (16 * i + 8 * e) & 0xff;
            q[e] = shared_half(row + d / 32 * 512 + d % 32 * 2);
            scale[e] = shared_half(stage + 2 * d);
        }
        split<FEW, THIRD>(__byte_perm(q[0], q[1], 0x5410), times(__byte_perm(scale[0], scale[1], 0x5410), less), to,
                          second, two[i]);
    }
#pragma unroll
    for (int k = 0; k < of_product<FEW, THIRD>::DIGITS; k++)
        low[k] = CHANNELS == 4 ? __byte_perm(two[0][k], two[1][k], 0x6420) : __byte_perm(two[0][k], 0, 0x2020);
}

/* Units are 2^-6 of this power of 2, an f16, where the largest product is `most`: at most 127 units and, but for those
 * below 2^-10, above 63. */
__device__ __forceinline__ uint32_t power_of(uint32_t most)
{
    return ((most > 0x1400 ? most : 0x1400) + 15) & 0xfc00;
}

struct units {
    rounding to;
    bool down; /* f16 has no such units: scales are to be multiplied by 2^-6 */
};

__device__ __forceinline__ units units_of(uint32_t power)
{
    units u;
    u.down = power > 0x6800;
    u.to.high = (power - (u.down ? 0x1800u : 0) + 0x1200) * 0x10001u;
    u.to.low = u.to.high - 0x20002000u;
    return u;
}

/* What add_zeros has of head `j` of a lane. FEW: column 2 h is of the channels of upper rows, 2 h + 1 of the others. */
template <bool FEW> __device__ __forceinline__ float of_rows(const float sum[2][4], int j)
{
    return FEW ? sum[0][0] + sum[0][3] : sum[0][j] + sum[1][2 + j];
}

/* Sum `j` of a lane's products of both digits, in units of the second; THIRD: of third digits, of FEW 255 times. */
template <bool FEW, bool THIRD> __device__ __forceinline__ int32_t sum_of(const int32_t (*c)[4], int j)
{
    return FEW ? c[0][2 * j] * 254 + c[0][2 * j + 1] : THIRD ? c[0][j] : c[0][j] * 254 + c[1][j];
}

/* The largest product of a head's query and scales, f16 without a sign. */
template <int D> __device__ __forceinline__ uint32_t largest_product(const uint4 x[D / 32], const uint4 s[D / 32])
{
    uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < D / 32; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const uint32_t product = times(word(x[i], j), word(s[i], j));
            most = i + j == 0 ? product : larger(most, product); /* of 0 and a product ptxas 13.0 makes a RELU */
        }
    most = larger(most, __shfl_xor_sync(EVERY, most, 1));
    most = larger(most, __shfl_xor_sync(EVERY, most, 2));
    return larger(most, most >> 16) & 0x7fff;
}

template <int D> __device__ __forceinline__ void scale_down(uint4 s[D / 32])
{
#pragma unroll
    for (int i = 0; i < D / 32; i++)
        s[i] = make_uint4(times(s[i].x, 0x24002400u), times(s[i].y, 0x24002400u), times(s[i].z, 0x24002400u),
                          times(s[i].w, 0x24002400u));
}

/* Digits of the products of queries and scales as operands, and the sums of them that score_four would make of codes of
 * 1, of a lane's heads. */
template <int D, bool FEW, bool THIRD>
__device__ __forceinline__ void give_digits(const uint4 x[D / 32], const uint4 s[D / 32], const units &u, bool second,
                                            digits<D, FEW> &to, int32_t ones[2])
{
    enum { DIGITS = of_product<FEW, THIRD>::DIGITS };
    int32_t all[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll
    for (int i = 0; i < D / 32; i++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            uint32_t a[2], b[2];
            split<FEW, THIRD>(word(x[i], 2 * c), word(s[i], 2 * c), u.to, second, a);
            split<FEW, THIRD>(word(x[i], 2 * c + 1), word(s[i], 2 * c + 1), u.to, second, b);
#pragma unroll
            for (int k = 0; k < DIGITS; k++)
                to.q[k][i][c] = __byte_perm(a[k], b[k], 0x6420);
        }
#pragma unroll
    for (int k = 0; k < DIGITS; k++)
#pragma unroll
        for (int i = 0; i < D / 32; i++)
            multiply_signed(all[k], 0x01010101u, 0x01010101u, 0x01010101u, 0x01010101u, to.q[k][i][0], to.q[k][i][1]);
#pragma unroll
    for (int j = 0; j < of_lane_int2<FEW>::HEADS_OF_LANE; j++)
        ones[j] = sum_of<FEW, THIRD>(all, j);
}

template <int D, bool FEW>
__device__ __forceinline__ void fold_page(uint32_t stage, uint32_t q, uint32_t lane, digits<D, FEW> &to)
{
    const uint32_t g = lane / 4, t = lane % 4, row = q + (FEW ? g / 2 : g) * 64;
    const bool second = FEW && g % 2 != 0;
    uint4 x[D / 32], s[D / 32];
    float zero[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}}, middle[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll
    for (int i = 0; i < D / 32; i++) {
        x[i] = load_shared(row + 16 * t + 512 * i);
        s[i] = load_shared(stage + 16 * t + 64 * i);
        const uint4 z = load_shared(stage + 2 * D + 16 * t + 64 * i);
        add_zeros<FEW>(zero, z, x[i], second);
        add_zeros<FEW>(middle, s[i], x[i], second);
    }
    const uint32_t most = largest_product<D>(x, s), power = power_of(most);
    const uint32_t unit = most >= 0x7c00 ? 0x7fc00000u : (power << 13) + (106u << 23); /* f32 */
    const units u = units_of(power);
    if (u.down)
        scale_down<D>(s);
    int32_t ones[2];
    give_digits<D, FEW, false>(x, s, u, second, to, ones);
    split_low<D, FEW, false>(stage, row, t, u.down ? 0x24002400u : 0x3c003c00u, u.to, second, to.low);
#pragma unroll
    for (int j = 0; j < of_lane_int2<FEW>::HEADS_OF_LANE; j++) {
        to.unit[j] = __uint_as_float(__shfl_sync(EVERY, unit, FEW ? 8 * t : 8 * t + 4 * j)) * (1.0f / 254);
        const float off = of_rows<FEW>(middle, j) - to.unit[j] * static_cast<float>(ones[j]);
        to.zero[j] = fmaf(off, 1.5f, of_rows<FEW>(zero, j));
    }
}

/* Four words as operands of tile or product `n` of their bytes. */
__device__ __forceinline__ uint32_t of_byte(uint32_t word, int n)
{
    return n == 3 ? word : word & 0x03030303u << 2 * n;
}

template <int D>
__device__ __forceinline__ void multiply_low(int32_t c[4], const uint32_t words[2], int n, uint32_t digit)
{
    if (D == 128)
        multiply_signed(c, of_byte(words[0], n), of_byte(words[0 + 1], n), digit);
    else /* both rows in one word: the products of the other's bytes are none */
        multiply_signed(c, of_byte(words[0], n) & 0x0000ffffu, of_byte(words[0], n) & 0xffff0000u, digit);
}

/* Sums of the digits' products of four tiles, `four` = 0 or 1, 4^n times too large in tile n. */
template <int D, bool FEW, bool THIRD>
__device__ __forceinline__ void score_four(const digits<D, FEW> &of, uint32_t codes, int four, const uint32_t low[2],
                                           uint32_t lane, float (*scores)[of_lane_int2<FEW>::SCORES])
{
    typedef of_lane_int2<FEW> l;
    enum { DIGITS = of_product<FEW, THIRD>::DIGITS };
    int32_t c[l::GROUP][2][4];
#pragma unroll
    for (int k = 0; k < DIGITS; k++)
#pragma unroll
        for (int n = 0; n < l::GROUP; n++) {
            c[n][k][0] = c[n][k][1] = c[n][k][2] = c[n][k][3] = 0;
            multiply_low<D>(c[n][k], low, n, of.low[k]);
        }
#pragma unroll
    for (int i = 0; i < D / 32; i++) {
        const uint4 x = load_shared(codes + (four * (D / 32) + i) * 512 + lane * 16);
#pragma unroll
        for (int n = 0; n < l::GROUP; n++)
#pragma unroll
            for (int k = 0; k < DIGITS; k++)
                multiply_signed(c[n][k], of_byte(x.x, n), of_byte(x.y, n), of_byte(x.z, n), of_byte(x.w, n),
                                of.q[k][i][0], of.q[k][i][1]);
    }
#pragma unroll
    for (int j = 0; j < l::SCORES; j++) {
        int32_t sum[l::GROUP];
#pragma unroll
        for (int n = 0; n < l::GROUP; n++)
            sum[n] = sum_of<FEW, THIRD>(c[n], j);
        sum[3] -= sum[0] + sum[1] + sum[2];
#pragma unroll
        for (int n = 0; n < l::GROUP; n++)
            scores[n][j] = static_cast<float>(sum[n]);
    }
}

/* Lower bits of promoted channels. */
template <int D> __device__ __forceinline__ void load_low(uint32_t stage, uint32_t lane, uint32_t low[2][2])
{
    const uint32_t from = stage + packs<D, INT2>::LOW;
    if (D == 128) {
        const uint4 x = load_shared(from + lane * 16);
        low[0][0] = x.x, low[0][1] = x.y, low[1][0] = x.z, low[1][1] = x.w;
    } else {
        low[0][0] = low[0][1] = shared_word(from + lane * 8);
        low[1][0] = low[1][1] = shared_word(from + lane * 8 + 4);
    }
}

/* The least 254th of a unit, times the scale, that needs a third digit: where a score is off by 1.5e-3. */
template <int D> __device__ constexpr float large_unit()
{
    return 1.5e-3f * 880 / 254 / (D == 128 ? 14.7f : 10.4f); /* sqrt(1.69 D) */
}

/* power_of, from 254ths of units; of the head of column g. */
template <bool FEW> __device__ __forceinline__ uint32_t power_of_column(const float unit[2], uint32_t g)
{
    const float even = __shfl_sync(EVERY, unit[0], g / 2), odd = FEW ? even : __shfl_sync(EVERY, unit[1], g / 2);
    return (__float_as_uint(g % 2 == 0 ? even : odd) >> 13 & 0x3fc00) - (98u << 10);
}

/* Scores and zeros of a page become those of three digits. `of.unit`: 254ths. */
template <int D, bool FEW>
__device__ __forceinline__ void add_third(uint32_t stage, uint32_t q, uint32_t lane, digits<D, FEW> &of,
                                          float (*scores)[of_lane_int2<FEW>::SCORES])
{
    typedef of_lane_int2<FEW> l;
    const float step = FEW ? 0x1p-7f / 255 : 0x1p-7f; /* of sum_of */
    const uint32_t g = lane / 4, t = lane % 4, row = q + (FEW ? g / 2 : g) * 64;
    uint4 x[D / 32], s[D / 32];
    __syncwarp(); /* else ptxas keeps all that the digits before were made of, and spills it */
#pragma unroll
    for (int i = 0; i < D / 32; i++) {
        x[i] = load_shared(row + 16 * t + 512 * i);
        s[i] = load_shared(stage + 16 * t + 64 * i);
    }
    const units u = units_of(power_of_column<FEW>(of.unit, g));
    if (u.down)
        scale_down<D>(s);
    int32_t ones[2];
    digits<D, FEW> third;
    give_digits<D, FEW, true>(x, s, u, false, third, ones);
    split_low<D, FEW, true>(stage, row, t, u.down ? 0x24002400u : 0x3c003c00u, u.to, false, third.low);
#pragma unroll
    for (int j = 0; j < l::HEADS_OF_LANE; j++)
        of.zero[j] = fmaf(of.unit[j] * static_cast<float>(ones[j]), -1.5f * step, of.zero[j]);
    uint32_t low[2][2];
    load_low<D>(stage, lane, low);
#pragma unroll
    for (int four = 0; four < packs<D, INT2>::TILES / l::GROUP; four++) {
        float more[l::GROUP][l::SCORES];
        score_four<D, FEW, true>(third, stage + packs<D, INT2>::HEAD_BYTES, four, low[four], lane, more);
#pragma unroll
        for (int n = 0; n < l::GROUP; n++)
#pragma unroll
            for (int j = 0; j < l::SCORES; j++)
                scores[four * l::GROUP + n][j] = fmaf(more[n][j], step, scores[four * l::GROUP + n][j]);
    }
}

/* 4^-n. */
__device__ constexpr float fourth(int n)
{
    return n == 0 ? 1 : n == 1 ? 0x1p-2f : n == 2 ? 0x1p-4f : 0x1p-6f;
}

/* Weights of a page: digits as operands, by tile, and what makes them weights relative to `top`. */
template <bool FEW> struct weights_int2 {
    uint32_t of[2][8];
    float unit[2];
};

/* The page's maximum of each head, and where it passes that before by much, what a lane has is taken down to it. */
template <int D, bool FEW> __device__ __forceinline__ void raise_page(attention<D> &work, float most[2], float sums[4])
{
    enum { N = of_lane_int2<FEW>::HEADS_OF_LANE };
    bool much = false;
#pragma unroll
    for (int j = 0; j < N; j++) {
#pragma unroll
        for (int step = 4; step < 32; step *= 2)
            most[j] = fmaxf(most[j], __shfl_xor_sync(EVERY, most[j], step));
        much = much || most[j] > work.top[j] + LAZY;
    }
    if (!__any_sync(EVERY, much))
        return;
#pragma unroll
    for (int j = 0; j < N; j++) {
        const float top = fmaxf(work.top[j], most[j]), shrink = power_of_2(work.top[j] - top);
        work.top[j] = top;
        work.total[j] *= shrink;
        sums[j] *= shrink;
#pragma unroll
        for (int i = 0; i < sizes<D>::STEPS; i++) {
            work.out[i][j] *= shrink;
            work.out[i][2 + j] *= shrink;
        }
    }
}

template <int D, bool FEW>
__device__ __forceinline__ void weigh_page(attention<D> &work, const digits<D, FEW> &of,
                                           const float (*scores)[of_lane_int2<FEW>::SCORES], uint32_t scales,
                                           uint32_t lane, float sums[4], weights_int2<FEW> &to)
{
    typedef of_lane_int2<FEW> l;
    enum { TILES = packs<D, INT2>::TILES };
    const uint4 v0 = load_shared(scales), v1 = load_shared(scales + 16);
    uint32_t v_most = larger_integer(larger_integer(larger_integer(v0.x, v0.y), larger_integer(v0.z, v0.w)),
                                     larger_integer(larger_integer(v1.x, v1.y), larger_integer(v1.z, v1.w)));
    v_most = largest_of_warp(larger_integer(v_most, v_most >> 16) & 0xffff);
    const float room = 15.988f - log_of_2(from_f16(static_cast<uint16_t>(v_most > 0 ? v_most : 1))); /* 65,000 */
    float most[2], part[2] = {0, 0};
#pragma unroll
    for (int j = 0; j < l::HEADS_OF_LANE; j++)
#pragma unroll
        for (int n = 0; n < l::GROUP; n++) {
            float same = scores[n][j]; /* of those as large by the same factor */
#pragma unroll
            for (int i = n; i < TILES; i += l::GROUP)
#pragma unroll
                for (int k = j; k < l::SCORES; k += l::HEADS_OF_LANE)
                    same = fmaxf(same, scores[i][k]);
            const float score = fmaf(same, of.unit[j] * fourth(n), of.zero[j]);
            most[j] = n == 0 ? score : fmaxf(most[j], score);
        }
    raise_page<D, FEW>(work, most, sums);
#pragma unroll
    for (int j = 0; j < l::HEADS_OF_LANE; j++) {
        most[j] -= room;
        to.unit[j] = power_of_2(most[j] - work.top[j]);
        most[j] = of.zero[j] - most[j];
    }
#pragma unroll
    for (int i = 0; i < TILES; i++) {
        const uint32_t both = word(i < 4 ? v0 : v1, i % 4);
        const float v[2] = {from_f16(static_cast<uint16_t>(both)), from_f16(static_cast<uint16_t>(both >> 16))};
        uint32_t w[l::SCORES];
#pragma unroll
        for (int k = 0; k < l::SCORES; k++) {
            const int j = k % l::HEADS_OF_LANE;
            const float weight = power_of_2(fmaf(scores[i][k], of.unit[j] * fourth(i % l::GROUP), most[j]));
            part[j] += weight;
            w[k] = __float_as_uint(fmaf(weight, v[k / l::HEADS_OF_LANE], 8388608.0f)); /* 2^23: an integer */
        }
        const uint32_t a = transpose(__byte_perm(w[0], w[1], 0x5410));
        if (FEW) {
            to.of[0][i] = __byte_perm(a, __shfl_xor_sync(EVERY, a, 4), lane % 8 < 4 ? 0x7531 : 0x2064);
        } else {
            const uint32_t b = transpose(__byte_perm(w[l::SCORES - 2], w[l::SCORES - 1], 0x5410));
            to.of[0][i] = __byte_perm(a, b, 0x7531);
            to.of[1][i] = __byte_perm(a, b, 0x6420);
        }
    }
#pragma unroll
    for (int j = 0; j < l::HEADS_OF_LANE; j++)
        work.total[j] = fmaf(part[j], to.unit[j], work.total[j]);
}

/* Sum `j` of a lane's products of both digits. */
template <bool FEW> __device__ __forceinline__ float of_digits(const int32_t (*c)[4], int j)
{
    return static_cast<float>(FEW ? c[0][2 * j] * 256 + c[0][2 * j + 1] : c[0][j] * 256 + c[1][j]);
}

/* Weights times codes of V; where a byte is not under a mask, times all four of it. */
template <int D, bool FEW>
__device__ __forceinline__ void add_page(attention<D> &to, uint32_t codes, uint32_t lane, const weights_int2<FEW> &w,
                                         float sums[4])
{
    typedef of_lane_int2<FEW> l;
    enum { STEPS = packs<D, INT2>::TILES / 2 };
    int32_t ones[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll
    for (int k = 0; k < l::DIGITS; k++)
#pragma unroll
        for (int s = 0; s < STEPS; s++)
            multiply_unsigned(ones[k], 0x01010101u, 0x01010101u, 0x01010101u, 0x01010101u, w.of[k][2 * s],
                              w.of[k][2 * s + 1]);
#pragma unroll
    for (int j = 0; j < l::HEADS_OF_LANE; j++)
        sums[j] = fmaf(of_digits<FEW>(ones, j), w.unit[j], sums[j]);
#pragma unroll
    for (int four = 0; four < sizes<D>::STEPS / 4; four++) {
        int32_t c[l::GROUP][2][4];
#pragma unroll
        for (int n = 0; n < l::GROUP; n++)
#pragma unroll
            for (int k = 0; k < l::DIGITS; k++)
                c[n][k][0] = c[n][k][1] = c[n][k][2] = c[n][k][3] = 0;
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
            const uint4 x = load_shared(codes + (s * (sizes<D>::STEPS / 4) + four) * 512 + lane * 16);
#pragma unroll
            for (int n = 0; n < l::GROUP; n++)
#pragma unroll
                for (int k = 0; k < l::DIGITS; k++)
                    multiply_unsigned(c[n][k], of_byte(x.x, n), of_byte(x.y, n), of_byte(x.z, n), of_byte(x.w, n),
                                      w.of[k][2 * s], w.of[k][2 * s + 1]);
        }
#pragma unroll
        for (int n = 0; n < l::GROUP; n++)
#pragma unroll
            for (int j = 0; j < l::SCORES; j++) {
                float &out = to.out[4 * four + n][FEW ? 2 * j : j];
                out = fmaf(of_digits<FEW>(c[n], j), w.unit[FEW ? 0 : j % 2], out);
            }
    }
}

template <int D, bool FEW>
__device__ __forceinline__ void attend_page(attention<D> &work, uint32_t stage, uint32_t q, float scale, float sums[4],
                                            uint32_t lane)
{
    typedef packs<D, INT2> p;
    enum { FOUR = of_lane_int2<FEW>::GROUP };
    const uint32_t codes = stage + p::HEAD_BYTES;
    digits<D, FEW> of;
    weights_int2<FEW> weights;
    float scores[p::TILES][of_lane_int2<FEW>::SCORES];
    fold_page<D, FEW>(stage, q, lane, of);
    uint32_t low[2][2];
    load_low<D>(stage, lane, low);
#pragma unroll
    for (int four = 0; four < p::TILES / FOUR; four++)
        score_four<D, FEW, false>(of, codes, four, low[four], lane, scores + four * FOUR);
    if (__any_sync(EVERY, fmaxf(of.unit[0] * scale, of.unit[FEW ? 0 : 1] * scale) >= large_unit<D>()))
        add_third<D, FEW>(stage, q, lane, of, scores);
#pragma unroll
    for (int j = 0; j < of_lane_int2<FEW>::HEADS_OF_LANE; j++) {
        of.zero[j] *= scale;
        of.unit[j] *= scale;
    }
    weigh_page<D, FEW>(work, of, scores, codes + 2 * p::CODES + lane / 4 * p::TILES * 4, lane, sums, weights);
    add_page<D, FEW>(work, codes + p::CODES, lane, weights, sums);
}

/* ---- the sums of values ---- */

/* What a lane has of head t goes where others have it: heads 2 t and 2 t + 1 in lanes of t < 2, none in the others,
 * whose columns are then of sink and ring. */
template <int D> __device__ __forceinline__ void spread(attention<D> &work, uint32_t lane)
{
    const bool of_body = lane % 4 < 2;
    const uint32_t from = lane / 4 * 4 + lane % 2 * 2;
    const float top = work.top[0], total = work.total[0];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float all = __shfl_sync(EVERY, total, from + j);
        work.top[j] = __shfl_sync(EVERY, top, from + j);
        work.total[j] = of_body ? all : 0;
    }
#pragma unroll
    for (int i = 0; i < sizes<D>::STEPS; i++)
#pragma unroll
        for (int r = 0; r < 4; r += 2) {
            const float x = work.out[i][r];
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const float y = __shfl_sync(EVERY, x, from + j);
                work.out[i][r + j] = of_body ? y : 0;
            }
        }
}

/* As settle. */
template <int D, bool FEW>
__device__ __forceinline__ void settle_int2(attention<D> &work, const float sums[4], uint32_t lane)
{
#pragma unroll
    for (int i = sizes<D>::STEPS - 1; i >= 0; i--)
#pragma unroll
        for (int j = 0; j < 4; j += FEW ? 2 : 1) {
            const float whole = i % 4 < 3 ? 0 : work.out[i - 1][j] + work.out[i - 2][j] + work.out[i - 3][j];
            work.out[i][j] = (work.out[i][j] - whole) * fourth(i % 4) - 1.5f * sums[FEW ? 0 : j % 2];
        }
    if (FEW)
        spread<D>(work, lane);
}

/* ---- of any format ---- */

template <int D, int FORMAT, bool FEW>
__device__ __forceinline__ void attend_body(part_of_unit<D> &part, uint32_t stage, uint32_t q, float scale,
                                            uint32_t lane)
{
    if (FORMAT == INT2)
        attend_page<D, FEW>(part.work, stage, q, scale, part.sums, lane);
    else
        attend_chunk<D, FORMAT, FEW>(part.work, stage, q, scale, part.sums, lane);
}

/* In front of a tile of sink or ring, and at the end: once. */
template <int D, int FORMAT, bool FEW>
__device__ __forceinline__ void end_body(part_of_unit<D> &part, bool is_end, uint32_t lane)
{
    enum { APART = FEW && packs<D, FORMAT>::ROTATED };
    if (!part.settled && (is_end || !APART || FORMAT == INT2)) {
        if (FORMAT == INT2)
            settle_int2<D, FEW>(part.work, part.sums, lane);
        else
            settle<D, FORMAT, FEW>(part.work, part.sums);
        if (packs<D, FORMAT>::ROTATED && !APART && !is_end)
            turn<D>(part.work, lane);
        part.settled = !is_end;
    }
    if (FORMAT == INT2 && FEW && is_end) /* of body, and of sink and ring */
#pragma unroll
        for (int j = 0; j < 2; j++)
            part.work.total[j] += __shfl_xor_sync(EVERY, part.work.total[j], 2);
}

} // namespace

#endif
