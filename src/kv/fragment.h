/* The order in which a GPU keeps the pages of a compressed cache: the same codes and scales as kv/format.h, where the
 * tensor cores take them. A page of a device has as many bytes as the canonical one and holds the same information; the
 * two functions at the end make one out of the other, word by word, bit for bit.
 *
 * Plain C that is device code too: no memory, no state, no library.
 *
 * A pool of a device: the body pages, page_bytes each, then what each pair keeps in f16, plain rows of D values:
 *
 *   sink K [64][D], sink V [64][D], ring page 0 K [128][D], V [128][D], ring page 1 K, V
 *
 * Token t of a pair, t >= sink, is row (t - sink) % 128 of ring page (t - sink) / 128 % 2 until its page is encoded:
 * body page (t - sink) / 128. Other slots hold what
 * is not read.
 *
 * A page of dimension D, T = 128 tokens, B bits a code, in bytes from its start:
 *
 *   integers  k_scale  f16[D]
 *             k_zero   f16[D]
 *   int2      k_low    4 D bytes: the lower bits of the promoted channels
 *             promoted u8[D/8], padded to 64 bytes
 *   e4m3      k_scale  f32, padded to 64 bytes; v_scale the same
 *   then      chunks of C tokens, one behind the other, each in one piece: its K codes (C D B / 8 bytes), its V codes
 *             (as many), and for integers its V scales (f16[C]). C = 32 (int8, e4m3), 64 (int4), 128 (int2).
 *   last      zeros up to the canonical length (int2 of a D that 64 does not divide).
 *
 * The scale of a promoted channel is stored four times as large, that of its upper bits; finite ones are below 2^14, as
 * 15 of them are a range of f16. Codes of V in int8 are stored with 128 added, so that all codes are unsigned.
 *
 * Codes of 8 and 4 bits: a fragment is 16 x 16 codes, rows by columns, of which lane 4 g + t of a warp holds eight:
 * rows g + 8 r, columns 2 t + 8 c + e, for r, c, e = 0, 1. That is the A operand of mma.sync.m16n8k16 of f16, register
 * r + 2 c.
 *
 *   K  rows are the 16 tokens of a tile. Columns of fragment i are the channels 32 (i / 2) + 8 t + 4 (i % 2) + 2 c + e.
 *   V  columns are the 16 tokens of a tile, 2 t + 8 c + e. Rows of fragment i are the channels 8 g + i + 64 r (D =
 * 128), 8 g + i + 4 r (D = 64), 16 i + g + 8 r (any other D).
 *
 * Fragments f = tile * D / 16 + i of a chunk lie in pieces of 512 bytes, 16 of each lane at 16 * lane. Within those 16
 *
 *   8 bits  fragment f is words 2 (f % 2) + c, byte 2 r + e
 *   4 bits  fragment f is word f % 4, bits 16 e + 8 r + 4 c
 *
 * so that a word, or itself shifted by 8, and a mask give two registers whose f16 values are the codes times 2^-24,
 * subnormal, or times 2^-20 for the others.
 *
 * Codes of 2 bits: a fragment is 16 x 32 codes, the A operand of mma.sync.m16n8k32 of bytes: lane 4 g + t has sixteen,
 * rows g + 8 r, byte b = 0 .. 3 of register r + 2 c. Four fragments lie in a piece: bits 2 (f % 4) of the byte b of the
 * lane's word r + 2 c in piece f / 4, so that a word and a mask are a register of codes times 1, 4, 16, 64.
 *
 *   K  rows are the 16 tokens of a tile, columns the channels 32 i + 8 t + 4 c + b; f is 4 (tile / 4 * D / 32 + i) +
 *      tile % 4.
 *   V  columns are the tokens 32 s + 16 c + 2 t + b % 2 + 8 (b / 2), rows of fragment i the channels as above; f is
 *      s * D / 16 + i.
 *
 *   k_low  one fragment a tile of the D/8 channels of the list. D = 128: channel 4 t + b of the list is byte b of word
 *          2 (tile / 4) + r of the lane's 16 bytes. D = 64: channel 2 t + e is byte e + 2 r of word tile / 4 of its 8.
 *          Both bits 2 (tile % 4). Any other D: canonical order.
 *
 *   V scales  token k of the chunk at ((k % 8) * (C / 16) + k / 16) * 2 + k % 16 / 8: a lane's tokens side by side. */
#ifndef IFM_KV_FRAGMENT_H
#define IFM_KV_FRAGMENT_H

#include <stdint.h>

#ifdef __CUDACC__
#define IFM_KV_ANYWHERE static __device__ inline
#else
#define IFM_KV_ANYWHERE static inline
#endif

enum { IFM_KV_SIDE_SINK = 64, IFM_KV_SIDE_RING = 128, IFM_KV_SIDE = 64 + 2 * 128 /* tokens */ };

/* The first value of row `row` of a side's sink or ring page (part 0; 1 and 2), among those of its pair: of K, or of V.
 * A pair has 2 * IFM_KV_SIDE * head_dim values. */
IFM_KV_ANYWHERE uint32_t ifm_kv_side_row(uint32_t head_dim, uint32_t part, uint32_t row, uint32_t of_v)
{
    const uint32_t tokens = part == 0 ? IFM_KV_SIDE_SINK : IFM_KV_SIDE_RING;
    const uint32_t before = part == 0 ? 0 : 2 * (IFM_KV_SIDE_SINK + (part - 1) * IFM_KV_SIDE_RING);
    return (before + of_v * tokens + row) * head_dim;
}

/* Where the sections of both orders lie, in bytes. */
struct ifm_kv_fragment {
    uint32_t head_dim, bits, chunk;                     /* tokens */
    uint32_t k_scale, k_zero, k_low, v_scale, promoted; /* v_scale: e4m3 alone */
    uint32_t chunks, chunk_bytes;                       /* the first chunk, each of them */
    uint32_t codes;                                     /* of a chunk's K, and of its V behind it; V scales follow */
    uint32_t end, page_bytes;                           /* end: of the last chunk */
    uint32_t floats;                                    /* 1: e4m3 */
    uint32_t c_k_scale, c_k_zero, c_v_scale, c_promoted, c_k_codes, c_k_low, c_v_codes; /* canonical */
};

/* ---- codes ---- */

/* A code: a byte of the page, the place of its lowest bit in it. */
struct ifm_kv_place {
    uint32_t byte, shift;
};

/* Of fragment `f`, row g + 8 r, column 2 t + 8 c + e, among fragments that begin at `from`. Of 8 and 4 bits. */
IFM_KV_ANYWHERE struct ifm_kv_place ifm_kv_fragment_code(uint32_t bits, uint32_t from, uint32_t f, uint32_t row,
                                                         uint32_t column)
{
    const uint32_t g = row % 8, r = row / 8, t = column % 8 / 2, c = column / 8, e = column % 2;
    const uint32_t each = bits == 8 ? 2 : 4, in = f % each; /* fragments of a piece */
    const uint32_t word = bits == 8 ? 2 * in + c : in;
    const uint32_t bit = bits == 8 ? 16 * r + 8 * e : 16 * e + 8 * r + 4 * c;
    struct ifm_kv_place place = {from + f / each * 512 + (4 * g + t) * 16 + word * 4 + bit / 8, bit % 8};
    return place;
}

/* Of 2 bits: byte `b` of register r + 2 c of lane 4 g + t, `row` = g + 8 r. */
IFM_KV_ANYWHERE struct ifm_kv_place ifm_kv_fragment_two(uint32_t from, uint32_t f, uint32_t row, uint32_t t, uint32_t c,
                                                        uint32_t b)
{
    struct ifm_kv_place place = {from + f / 4 * 512 + (row % 8 * 4 + t) * 16 + (row / 8 + 2 * c) * 4 + b, f % 4 * 2};
    return place;
}

IFM_KV_ANYWHERE struct ifm_kv_place ifm_kv_fragment_k(const struct ifm_kv_fragment *l, uint32_t token, uint32_t d)
{
    const uint32_t in = token % l->chunk, i = d / 32 * 2 + d % 8 / 4, column = d % 32 / 8 * 2 + d % 4 / 2 * 8 + d % 2;
    if (l->bits == 2)
        return ifm_kv_fragment_two(l->chunks, (token / 64 * (l->head_dim / 32) + d / 32) * 4 + token / 16 % 4,
                                   token % 16, d % 32 / 8, d % 8 / 4, d % 4);
    return ifm_kv_fragment_code(l->bits, l->chunks + token / l->chunk * l->chunk_bytes,
                                in / 16 * (l->head_dim / 16) + i, in % 16, column);
}

IFM_KV_ANYWHERE struct ifm_kv_place ifm_kv_fragment_v(const struct ifm_kv_fragment *l, uint32_t token, uint32_t d)
{
    const uint32_t in = token % l->chunk, dim = l->head_dim;
    const uint32_t i = dim == 128 ? d % 8 : dim == 64 ? d % 4 : d / 16;
    const uint32_t row = dim == 128 ? d % 64 / 8 + d / 64 * 8 : dim == 64 ? d / 8 + d % 8 / 4 * 8 : d % 16;
    if (l->bits == 2)
        return ifm_kv_fragment_two(l->chunks + l->codes, token / 32 * (dim / 16) + i, row, token % 8 / 2,
                                   token % 32 / 16, token % 2 + token % 16 / 8 * 2);
    return ifm_kv_fragment_code(l->bits, l->chunks + token / l->chunk * l->chunk_bytes + l->codes,
                                in / 16 * (dim / 16) + i, row, in % 16);
}

/* The lower bits of channel `i` of the list of promoted ones. */
IFM_KV_ANYWHERE struct ifm_kv_place ifm_kv_fragment_low(const struct ifm_kv_fragment *l, uint32_t token, uint32_t i)
{
    const uint32_t tile = token / 16, row = token % 16;
    if (l->head_dim == 128)
        return ifm_kv_fragment_two(l->k_low, tile % 4, row, i / 4, tile / 4, i % 4);
    if (l->head_dim == 64) {
        struct ifm_kv_place place = {l->k_low + (row % 8 * 4 + i / 2) * 8 + tile / 4 * 4 + i % 2 + row / 8 * 2,
                                     tile % 4 * 2};
        return place;
    }
    struct ifm_kv_place place = {l->k_low + (token / 64 * (l->head_dim / 32) + i / 4) * 64 + token % 16 * 4 + i % 4,
                                 token % 64 / 16 * 2};
    return place;
}

/* The byte of a token's V scale, of integers. */
IFM_KV_ANYWHERE uint32_t ifm_kv_fragment_v_scale(const struct ifm_kv_fragment *l, uint32_t token)
{
    const uint32_t k = token % l->chunk, at = (k % 8 * (l->chunk / 16) + k / 16) * 2 + k % 16 / 8;
    return l->chunks + token / l->chunk * l->chunk_bytes + 2 * l->codes + 2 * at;
}

/* The same in the canonical order of integer codes: `inner` is the token of K, the channel of V; of `n` outer ones. */
IFM_KV_ANYWHERE struct ifm_kv_place ifm_kv_canonical_code(uint32_t bits, uint32_t from, uint32_t inner, uint32_t outer,
                                                          uint32_t n)
{
    const uint32_t block = 128 / bits, in = inner % block;
    struct ifm_kv_place place = {from + (inner / block * (n / 4) + outer / 4) * 64 + in % 16 * 4 + outer % 4,
                                 in / 16 * bits};
    return place;
}

IFM_KV_ANYWHERE struct ifm_kv_place ifm_kv_canonical_k(const struct ifm_kv_fragment *l, uint32_t token, uint32_t d)
{
    struct ifm_kv_place plain = {l->c_k_codes + (token / 64 * l->head_dim + d) * 64 + token % 64, 0};
    return l->floats ? plain : ifm_kv_canonical_code(l->bits, l->c_k_codes, token, d, l->head_dim);
}

IFM_KV_ANYWHERE struct ifm_kv_place ifm_kv_canonical_v(const struct ifm_kv_fragment *l, uint32_t token, uint32_t d)
{
    const uint32_t left = l->head_dim - d / 64 * 64, width = left < 64 ? left : 64;
    struct ifm_kv_place plain = {l->c_v_codes + d / 64 * 64 * 128 + token * width + d % 64, 0};
    return l->floats ? plain : ifm_kv_canonical_code(l->bits, l->c_v_codes, d, token, 128);
}

/* ---- the two orders, a word of 4 bytes each ----
 *
 * The layout of an integer page is a list of codes: each has a place in both orders, so each order's word is gathered
 * from the other's bytes. The inverse of a place is written out below, next to what it inverts. */

IFM_KV_ANYWHERE uint32_t ifm_kv_u16(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8;
}

IFM_KV_ANYWHERE uint32_t ifm_kv_code(const unsigned char *page, struct ifm_kv_place place, uint32_t bits)
{
    return page[place.byte] >> place.shift & ((1u << bits) - 1);
}

/* f16 times 4, exact; infinities and NaN stay. */
IFM_KV_ANYWHERE uint32_t ifm_kv_times_4(uint32_t x)
{
    const uint32_t sign = x & 0x8000, exponent = x >> 10 & 31, m = (x & 0x3ff) << 2;
    if (exponent == 31)
        return x;
    if (exponent > 0)
        return x + 0x800;
    return sign | (m < 2048 ? m : 0x800 | (m >> 1 & 0x3ff)); /* in units of 2^-24, linear up to 2047 */
}

/* What ifm_kv_times_4 made. */
IFM_KV_ANYWHERE uint32_t ifm_kv_over_4(uint32_t x)
{
    const uint32_t exponent = x >> 10 & 31, m = x & 0x3ff;
    if (exponent == 31)
        return x;
    if (exponent > 2)
        return x - 0x800;
    return (x & 0x8000) | (exponent == 2 ? (m | 0x400) << 1 : x & 0x7ff) >> 2;
}

IFM_KV_ANYWHERE uint32_t ifm_kv_is_promoted(const struct ifm_kv_fragment *l, const unsigned char *list, uint32_t d)
{
    uint32_t is = 0;
    for (uint32_t i = 0; i < l->head_dim / 8; i++)
        is |= list[i] == d;
    return is;
}

/* The channel of row g + 8 r of fragment `i` of V. */
IFM_KV_ANYWHERE uint32_t ifm_kv_row_v(uint32_t dim, uint32_t i, uint32_t g, uint32_t r)
{
    return dim == 128 ? 8 * g + i + 64 * r : dim == 64 ? 8 * g + i + 4 * r : 16 * i + g + 8 * r;
}

/* A word of codes of the fragment order, at byte `at` of the fragments of K or V. Of 8 and 4 bits. */
IFM_KV_ANYWHERE uint32_t ifm_kv_gather(const struct ifm_kv_fragment *l, const unsigned char *page, uint32_t first,
                                       uint32_t at, uint32_t of_v)
{
    const uint32_t lane = at % 512 / 16, word = at % 16 / 4, bits = l->bits, dim = l->head_dim;
    uint32_t out = 0;
    for (uint32_t n = 0; n < 32 / bits; n++) {
        const uint32_t bit = n * bits;
        const uint32_t f = at / 512 * (16 / bits) + (bits == 8 ? word / 2 : word);
        const uint32_t r = bits == 8 ? bit / 16 : bit % 16 / 8, e = bits == 8 ? bit % 16 / 8 : bit / 16;
        const uint32_t c = bits == 8 ? word % 2 : bit % 8 / 4;
        const uint32_t tile = f / (dim / 16), i = f % (dim / 16), g = lane / 4, t = lane % 4;
        const uint32_t token = first + tile * 16 + (of_v ? 2 * t + 8 * c + e : g + 8 * r);
        const uint32_t channel = of_v ? ifm_kv_row_v(dim, i, g, r) : i / 2 * 32 + 8 * t + i % 2 * 4 + 2 * c + e;
        const struct ifm_kv_place place =
            of_v ? ifm_kv_canonical_v(l, token, channel) : ifm_kv_canonical_k(l, token, channel);
        const uint32_t code = ifm_kv_code(page, place, bits) ^ (of_v && bits == 8 && !l->floats ? 0x80 : 0);
        out |= code << bit;
    }
    return out;
}

/* The same of 2 bits. */
IFM_KV_ANYWHERE uint32_t ifm_kv_gather_two(const struct ifm_kv_fragment *l, const unsigned char *page, uint32_t at,
                                           uint32_t of_v)
{
    const uint32_t g = at % 512 / 64, t = at % 64 / 16, r = at % 8 / 4, c = at % 16 / 8, piece = at / 512;
    const uint32_t steps = l->head_dim / 32; /* of a tile */
    uint32_t out = 0;
    for (uint32_t n = 0; n < 16; n++) {
        const uint32_t b = n / 4, f = piece * 4 + n % 4;
        const uint32_t token = of_v ? f / (2 * steps) * 32 + 16 * c + 2 * t + b % 2 + b / 2 * 8
                                    : piece / steps * 64 + n % 4 * 16 + g + 8 * r;
        const uint32_t channel =
            of_v ? ifm_kv_row_v(l->head_dim, f % (2 * steps), g, r) : piece % steps * 32 + 8 * t + 4 * c + b;
        const struct ifm_kv_place place =
            of_v ? ifm_kv_canonical_v(l, token, channel) : ifm_kv_canonical_k(l, token, channel);
        out |= ifm_kv_code(page, place, 2) << 2 * n;
    }
    return out;
}

/* A word of k_low of the fragment order. */
IFM_KV_ANYWHERE uint32_t ifm_kv_gather_low(const struct ifm_kv_fragment *l, const unsigned char *page, uint32_t at)
{
    const uint32_t wide = l->head_dim == 128, lane = at / (wide ? 16 : 8), four = wide ? at % 16 / 8 : at % 8 / 4;
    uint32_t out = 0;
    for (uint32_t n = 0; n < 16; n++) {
        const uint32_t b = n / 4, r = wide ? at % 8 / 4 : b / 2;
        const uint32_t token = four * 64 + n % 4 * 16 + lane / 4 + 8 * r,
                       i = lane % 4 * (wide ? 4 : 2) + (wide ? b : b % 2);
        out |= ifm_kv_code(page, ifm_kv_canonical_code(2, l->c_k_low, token, i, l->head_dim / 8), 2) << 2 * n;
    }
    return out;
}

/* Two bytes of the fragment order that are no codes, at byte `at`. */
IFM_KV_ANYWHERE uint32_t ifm_kv_fragment_half(const struct ifm_kv_fragment *l, const unsigned char *page, uint32_t at)
{
    if (at >= l->end)
        return 0;
    if (at >= l->chunks) { /* a V scale */
        const uint32_t in = at - l->chunks, k = (in % l->chunk_bytes - 2 * l->codes) / 2, tiles = l->chunk / 16;
        const uint32_t token = in / l->chunk_bytes * l->chunk + k / 2 % tiles * 16 + k / 2 / tiles + k % 2 * 8;
        return ifm_kv_u16(page + l->c_v_scale + 2 * token);
    }
    if (l->floats) /* both scales, and what pads them */
        return ifm_kv_u16(page + at);
    if (l->promoted != 0 && at >= l->promoted)
        return ifm_kv_u16(page + l->c_promoted + at - l->promoted);
    if (at >= l->k_zero)
        return ifm_kv_u16(page + l->c_k_zero + at - l->k_zero);
    const uint32_t scale = ifm_kv_u16(page + l->c_k_scale + at);
    return l->promoted != 0 && ifm_kv_is_promoted(l, page + l->c_promoted, at / 2) ? ifm_kv_times_4(scale) : scale;
}

/* Bytes at .. at + 3 of the fragment order of a canonical page. Words are independent: any thread makes any. */
IFM_KV_ANYWHERE uint32_t ifm_kv_to_fragment(const struct ifm_kv_fragment *l, const unsigned char *page, uint32_t at)
{
    if (at >= l->chunks && at < l->end) {
        const uint32_t in = (at - l->chunks) % l->chunk_bytes, first = (at - l->chunks) / l->chunk_bytes * l->chunk;
        if (in < 2 * l->codes && l->bits == 2)
            return ifm_kv_gather_two(l, page, in % l->codes, in >= l->codes);
        if (in < 2 * l->codes)
            return ifm_kv_gather(l, page, first, in % l->codes, in >= l->codes);
    } else if (l->promoted != 0 && at >= l->k_low && at < l->promoted) {
        if (l->head_dim == 64 || l->head_dim == 128)
            return ifm_kv_gather_low(l, page, at - l->k_low);
        const unsigned char *low = page + l->c_k_low + at - l->k_low;
        return ifm_kv_u16(low) | ifm_kv_u16(low + 2) << 16;
    }
    return ifm_kv_fragment_half(l, page, at) | ifm_kv_fragment_half(l, page, at + 2) << 16;
}

/* ---- back ---- */

/* Byte `in` of canonical codes of integers: which codes it holds. `n` outer ones. */
IFM_KV_ANYWHERE uint32_t ifm_kv_scatter_byte(const struct ifm_kv_fragment *l, const unsigned char *page, uint32_t in,
                                             uint32_t n, uint32_t what)
{
    const uint32_t bits = l->bits, block = 128 / bits, row = in / 64, outer = row % (n / 4) * 4 + in % 4;
    uint32_t out = 0;
    for (uint32_t field = 0; field < 8 / bits; field++) {
        const uint32_t inner = row / (n / 4) * block + field * 16 + in % 64 / 4;
        if (what == 1 && inner >= l->head_dim) /* a block of V that D does not fill */
            continue;
        const struct ifm_kv_place place = what == 0   ? ifm_kv_fragment_k(l, inner, outer)
                                          : what == 1 ? ifm_kv_fragment_v(l, outer, inner)
                                                      : ifm_kv_fragment_low(l, inner, outer);
        out |= ifm_kv_code(page, place, bits) << field * bits;
    }
    return what == 1 && bits == 8 ? out ^ 0x80 : out;
}

/* Byte `in` of the canonical codes of e4m3. */
IFM_KV_ANYWHERE uint32_t ifm_kv_scatter_float(const struct ifm_kv_fragment *l, const unsigned char *page, uint32_t in,
                                              uint32_t of_v)
{
    if (!of_v)
        return page[ifm_kv_fragment_k(l, in / 64 / l->head_dim * 64 + in % 64, in / 64 % l->head_dim).byte];
    const uint32_t block = in / (64 * 128), left = l->head_dim - block * 64, width = left < 64 ? left : 64;
    const uint32_t rest = in % (64 * 128);
    return page[ifm_kv_fragment_v(l, rest / width, block * 64 + rest % width).byte];
}

IFM_KV_ANYWHERE uint32_t ifm_kv_canonical_byte(const struct ifm_kv_fragment *l, const unsigned char *page, uint32_t at)
{
    if (l->floats)
        return at >= l->c_v_codes   ? ifm_kv_scatter_float(l, page, at - l->c_v_codes, 1)
               : at >= l->c_k_codes ? ifm_kv_scatter_float(l, page, at - l->c_k_codes, 0)
                                    : page[at];
    if (at >= l->c_v_codes)
        return ifm_kv_scatter_byte(l, page, at - l->c_v_codes, 128, 1);
    if (l->promoted != 0 && at >= l->c_k_low)
        return ifm_kv_scatter_byte(l, page, at - l->c_k_low, l->head_dim / 8, 2);
    if (at >= l->c_k_codes)
        return ifm_kv_scatter_byte(l, page, at - l->c_k_codes, l->head_dim, 0);
    if (l->promoted != 0 && at >= l->c_promoted)
        return page[l->promoted + at - l->c_promoted];
    if (at >= l->c_v_scale)
        return page[ifm_kv_fragment_v_scale(l, (at - l->c_v_scale) / 2) + at % 2];
    if (at >= l->c_k_zero)
        return page[l->k_zero + at - l->c_k_zero];
    const uint32_t scale = ifm_kv_u16(page + l->k_scale + at / 2 * 2);
    const uint32_t is = l->promoted != 0 && ifm_kv_is_promoted(l, page + l->promoted, at / 2);
    return (is ? ifm_kv_over_4(scale) : scale) >> at % 2 * 8 & 0xff;
}

/* Bytes at .. at + 3 of the canonical order of a page in fragment order. */
IFM_KV_ANYWHERE uint32_t ifm_kv_to_canonical(const struct ifm_kv_fragment *l, const unsigned char *page, uint32_t at)
{
    uint32_t out = 0;
    for (uint32_t i = 0; i < 4; i++)
        out |= ifm_kv_canonical_byte(l, page, at + i) << 8 * i;
    return out;
}

#ifndef __CUDACC__
#include "kv/format.h"

/* Of any format but f16. */
struct ifm_kv_fragment ifm_kv_fragment_of(const struct ifm_kv_layout *layout);
/* Whole pages, of page_bytes each. */
void ifm_kv_pages_to_fragments(const struct ifm_kv_fragment *layout, const void *canonical, void *out, uint64_t pages);
void ifm_kv_pages_to_canonical(const struct ifm_kv_fragment *layout, const void *fragments, void *out, uint64_t pages);
/* A canonical page of f16, of a sink or a ring, and its rows. */
void ifm_kv_page_to_side(const struct ifm_kv_layout *f16, const void *page, uint16_t *k, uint16_t *v);
void ifm_kv_side_to_page(const struct ifm_kv_layout *f16, const uint16_t *k, const uint16_t *v, void *page);
#endif

#endif
