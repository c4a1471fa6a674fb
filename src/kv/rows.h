/* Tokens and rows against f16 pages: what the cache moves token by token, in plain C that compilers vectorise.
 *
 * Rows are f32 [tokens][head_dim]; pages are of an f16 layout (kv/format.h). Must never allocate. Pure functions. */
#ifndef IFM_KV_ROWS_H
#define IFM_KV_ROWS_H

#include "kv/format.h"

/* The f16 of an f32, both as bits: ifm_f32_to_f16 (base/half.h) without a branch, so that a loop of it becomes vector
 * code. Below 2^-14 the sum with 0.5 rounds to a multiple of 2^-24. */
static inline uint32_t ifm_kv_f16_of_bits(uint32_t bits)
{
    union {
        uint32_t bits;
        float value;
    } shifted = {.bits = bits & 0x7fffffff};
    const int32_t rest = (int32_t)shifted.bits;
    shifted.value += 0.5f;
    const int32_t small = (int32_t)shifted.bits - 0x3f000000;
    const int32_t normal = (rest - (112 << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
    int32_t half = rest < 0x38800000 ? small : normal;
    half = rest >= 0x477ff000 ? 0x7c00 : half;
    half = rest > 0x7f800000 ? 0x7e00 : half;
    return (uint32_t)half | (bits >> 16 & 0x8000);
}

/* The f32 of an f16, both as bits, as ifm_f16_to_f32. The product is exact; it moves the exponent's bias. */
static inline uint32_t ifm_kv_bits_of_f16(uint32_t half)
{
    union {
        uint32_t bits;
        float value;
    } moved = {.bits = (half & 0x7fff) << 13};
    const int32_t rest = (int32_t)(half & 0x7fff);
    moved.value *= 0x1p112f;
    return (moved.bits | (rest >= 0x7c00 ? 0x7f800000U : 0)) | (half & 0x8000) << 16;
}

/* to[i] = from[i] rounded to f16; n is a multiple of 32. */
void ifm_kv_round(const float *from, size_t n, float *to);
/* Put one token's K and V into slot `slot`. */
void ifm_kv_page_put(const struct ifm_kv_layout *layout, void *page, unsigned slot, const float *k, const float *v);
/* All slots as f32 rows: ifm_kv_page_read of a full f16 page, fast. */
void ifm_kv_page_rows(const struct ifm_kv_layout *layout, const void *page, float *k, float *v);
/* Set slots `from` and on to K = V = 0. */
void ifm_kv_page_blank(const struct ifm_kv_layout *layout, void *page, unsigned from);

#endif
