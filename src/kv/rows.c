/* Tokens and rows against f16 pages, eight values at a time on the compiler's vector types.
 *
 * The conversions give the same bits as base/half.h, without a branch. */
#include "kv/rows.h"

#include <string.h>

typedef int32_t quad __attribute__((vector_size(16)));
typedef uint32_t quad_u32 __attribute__((vector_size(16)));
typedef float quad_f32 __attribute__((vector_size(16)));
typedef uint16_t octet __attribute__((vector_size(16)));
typedef uint64_t octet_64 __attribute__((vector_size(16)));

enum { STEP = 8 }; /* values */

static inline quad pick(quad test, quad yes, quad no)
{
    return (test & yes) | (~test & no);
}

/* Below 2^-14 the sum with 0.5 rounds to a multiple of 2^-24. */
static inline quad halved(quad bits)
{
    const quad rest = bits & 0x7fffffff;
    const quad small = (quad)((quad_f32)rest + 0.5f) - 0x3f000000;
    const quad normal = (quad)((quad_u32)rest - (112U << 23) + 0xfffU + (quad_u32)(rest >> 13 & 1)) >> 13;
    quad half = pick(rest < 0x38800000, small, normal);
    half = pick(rest >= 0x477ff000, ((rest > 0x7f800000) & 0x200) | 0x7c00, half);
    return half | (bits >> 16 & 0x8000);
}

/* The f16 in the upper halves of `half`. The product is exact and moves the exponent's bias; infinity and NaN get their
 * exponent back. */
static inline quad widened(quad half)
{
    const quad moved = half >> 3 & (quad){(int)0x8fffe000, (int)0x8fffe000, (int)0x8fffe000, (int)0x8fffe000};
    const quad special = (half & 0x7c000000) == 0x7c000000;
    return (quad)((quad_f32)moved * 0x1p112f) | (special & 0x7f800000);
}

/* As widening what halving gives. */
static inline quad rounded(quad bits)
{
    const quad rest = bits & 0x7fffffff;
    const quad small = (quad)((quad_f32)rest + 0.5f - 0.5f);
    const quad normal = (quad)((quad_u32)rest + 0xfffU + (quad_u32)(rest >> 13 & 1)) & ~0x1fff;
    quad value = pick(rest < 0x38800000, small, normal);
    value = pick(rest >= 0x477ff000, ((rest > 0x7f800000) & 0x400000) | 0x7f800000, value);
    return value | (bits ^ rest);
}

static inline octet halve(const float *from)
{
    quad low, high;
    memcpy(&low, from, sizeof low);
    memcpy(&high, from + 4, sizeof high);
    return __builtin_shufflevector((octet)halved(low), (octet)halved(high), 0, 2, 4, 6, 8, 10, 12, 14);
}

static inline void widen(octet half, float *to)
{
    const octet zero = {0};
    const quad low = widened((quad)__builtin_shufflevector(zero, half, 0, 8, 1, 9, 2, 10, 3, 11));
    const quad high = widened((quad)__builtin_shufflevector(zero, half, 4, 12, 5, 13, 6, 14, 7, 15));
    memcpy(to, &low, sizeof low);
    memcpy(to + 4, &high, sizeof high);
}

void ifm_kv_round(const float *from, size_t n, float *to)
{
    for (size_t i = 0; i < n; i += 4) {
        quad bits;
        memcpy(&bits, from + i, sizeof bits);
        bits = rounded(bits);
        memcpy(to + i, &bits, sizeof bits);
    }
}

static uint16_t *k_of(const struct ifm_kv_layout *l, void *page)
{
    return (uint16_t *)(void *)((unsigned char *)page + l->k_codes);
}

static uint16_t *v_of(const struct ifm_kv_layout *l, void *page)
{
    return (uint16_t *)(void *)((unsigned char *)page + l->v_codes);
}

/* Channels in the block of V that starts at channel d. */
static unsigned width_at(const struct ifm_kv_layout *l, unsigned d)
{
    const unsigned left = l->head_dim - d;
    return left < IFM_KV_WIDE ? left : IFM_KV_WIDE;
}

void ifm_kv_page_put(const struct ifm_kv_layout *l, void *page, unsigned slot, const float *k, const float *v)
{
    uint16_t *to_k = k_of(l, page) + (size_t)(slot / IFM_KV_WIDE) * l->head_dim * IFM_KV_WIDE + slot % IFM_KV_WIDE;
    for (unsigned d = 0; d < l->head_dim; d += STEP) {
        const octet half = halve(k + d);
        for (unsigned i = 0; i < STEP; i++)
            to_k[(size_t)(d + i) * IFM_KV_WIDE] = half[i];
    }
    for (unsigned block = 0; block < l->head_dim; block += IFM_KV_WIDE) {
        const unsigned width = width_at(l, block);
        uint16_t *to_v = v_of(l, page) + (size_t)block * l->tokens + (size_t)slot * width;
        for (unsigned d = 0; d < width; d += STEP) {
            const octet half = halve(v + block + d);
            memcpy(to_v + d, &half, sizeof half);
        }
    }
}

static inline octet pair_16(octet a, octet b, bool upper)
{
    return upper ? __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
                 : __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}

static inline octet pair_32(octet a, octet b, bool upper)
{
    const quad_u32 x = (quad_u32)a, y = (quad_u32)b;
    return (octet)(upper ? __builtin_shufflevector(x, y, 2, 6, 3, 7) : __builtin_shufflevector(x, y, 0, 4, 1, 5));
}

static inline octet pair_64(octet a, octet b, bool upper)
{
    const octet_64 x = (octet_64)a, y = (octet_64)b;
    return (octet)(upper ? __builtin_shufflevector(x, y, 1, 3) : __builtin_shufflevector(x, y, 0, 2));
}

/* Eight channels of eight tokens of K, turned and widened. */
static void turn(const uint16_t *from, float *to, size_t head_dim)
{
    octet in[8], a[8], b[8];
    for (unsigned i = 0; i < 8; i++)
        memcpy(&in[i], from + (size_t)i * IFM_KV_WIDE, sizeof in[i]);
    for (unsigned i = 0; i < 8; i++) /* a[i]: channels 2j, 2j + 1; tokens of one half */
        a[i] = pair_16(in[i & 6], in[(i & 6) + 1], i & 1);
    for (unsigned i = 0; i < 4; i++) { /* four channels, two tokens */
        const unsigned half = i >> 1, at = (i & 1) * 4;
        b[2 * i] = pair_32(a[at + half], a[at + 2 + half], false);
        b[2 * i + 1] = pair_32(a[at + half], a[at + 2 + half], true);
    }
    for (unsigned i = 0; i < 8; i++) { /* token i */
        const unsigned at = (i >> 2) * 4 + (i >> 1 & 1);
        widen(pair_64(b[at], b[at + 2], i & 1), to + i * head_dim);
    }
}

void ifm_kv_page_rows(const struct ifm_kv_layout *l, const void *page, float *k, float *v)
{
    const uint16_t *from_k = (const uint16_t *)(const void *)((const unsigned char *)page + l->k_codes);
    const uint16_t *from_v = (const uint16_t *)(const void *)((const unsigned char *)page + l->v_codes);
    for (unsigned t = 0; t < l->tokens; t += STEP) {
        const uint16_t *block = from_k + (size_t)(t / IFM_KV_WIDE) * l->head_dim * IFM_KV_WIDE + t % IFM_KV_WIDE;
        for (unsigned d = 0; d < l->head_dim; d += STEP)
            turn(block + (size_t)d * IFM_KV_WIDE, k + (size_t)t * l->head_dim + d, l->head_dim);
    }
    for (unsigned block = 0; block < l->head_dim; block += IFM_KV_WIDE) {
        const unsigned width = width_at(l, block);
        for (unsigned t = 0; t < l->tokens; t++)
            for (unsigned d = 0; d < width; d += STEP) {
                octet half;
                memcpy(&half, from_v + (size_t)block * l->tokens + (size_t)t * width + d, sizeof half);
                widen(half, v + (size_t)t * l->head_dim + block + d);
            }
    }
}

void ifm_kv_page_blank(const struct ifm_kv_layout *l, void *page, unsigned from)
{
    if (from == 0) {
        memset(page, 0, l->page_bytes);
        return;
    }
    uint16_t *k = k_of(l, page), *v = v_of(l, page);
    for (unsigned at = from / IFM_KV_WIDE * IFM_KV_WIDE; at < l->tokens; at += IFM_KV_WIDE) {
        const unsigned used = at < from ? from - at : 0;
        for (unsigned d = 0; d < l->head_dim; d++)
            memset(k + ((size_t)at * l->head_dim + (size_t)d * IFM_KV_WIDE + used), 0,
                   (IFM_KV_WIDE - used) * sizeof *k);
    }
    for (unsigned block = 0; block < l->head_dim; block += IFM_KV_WIDE) {
        const unsigned width = width_at(l, block);
        memset(v + (size_t)block * l->tokens + (size_t)from * width, 0, (size_t)(l->tokens - from) * width * sizeof *v);
    }
}
