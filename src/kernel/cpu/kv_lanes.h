/* What the writers of KV pages need of vectors beyond lanes.h, for 1, 8 or 16 lanes: the same value from every width.
 *
 * Minimum and maximum answer the second operand when one is NaN or both are equal, as the x86 instructions do. */
#ifndef IFM_KERNEL_CPU_KV_LANES_H
#define IFM_KERNEL_CPU_KV_LANES_H

#include "base/half.h"
#include "kernel/cpu/lanes.h"

#if IFM_LANES == 1
typedef int32_t ints;
#define LANES_PICK(test, yes, no) ((test) ? (yes) : (no))
#else
typedef int32_t ints __attribute__((vector_size(IFM_LANE_BYTES)));
#define LANES_PICK(test, yes, no) (((test) & (yes)) | (~(test) & (no))) /* of ints; `test` is a comparison */
#endif

IFM_INLINE ints lanes_bits(floats x)
{
    ints bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
IFM_INLINE floats lanes_of_bits(ints bits)
{
    floats x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* NaN without its payload; other values as they are. */
IFM_INLINE floats lanes_plain_nan(floats x)
{
    const ints bits = lanes_bits(x), rest = bits & 0x7fffffff;
    return lanes_of_bits(LANES_PICK(rest > 0x7f800000, (bits ^ rest) | 0x7fc00000, bits));
}

#if IFM_LANES == 16
IFM_INLINE floats lanes_min(floats a, floats b)
{
    return (floats)_mm512_min_ps((__m512)a, (__m512)b);
}
IFM_INLINE floats lanes_max(floats a, floats b)
{
    return (floats)_mm512_max_ps((__m512)a, (__m512)b);
}
IFM_INLINE floats lanes_if_less(floats a, floats b, floats yes, floats no)
{
    return (floats)_mm512_mask_blend_ps(_mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ), (__m512)no, (__m512)yes);
}
IFM_INLINE floats lanes_round_f16(floats x)
{
    return (floats)_mm512_cvtph_ps(_mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
IFM_INLINE floats lanes_clamp(floats x, floats most)
{
    const __m512i above = _mm512_max_epi32(_mm512_castps_si512((__m512)x), _mm512_setzero_si512());
    return (floats)_mm512_castsi512_ps(_mm512_min_epi32(above, _mm512_castps_si512((__m512)most)));
}
IFM_INLINE floats lanes_round(floats x)
{
    return (floats)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
IFM_INLINE ints lanes_integers(floats x)
{
    return (ints)_mm512_cvtps_epi32((__m512)x);
}
IFM_INLINE void lanes_store_bytes(uint8_t *to, ints x)
{
    _mm_storeu_si128((__m128i *)(void *)to, _mm512_cvtepi32_epi8((__m512i)x));
}
IFM_INLINE void lanes_store_f16(uint16_t *to, floats x)
{
    const __m512 plain = (__m512)lanes_plain_nan(x);
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtps_ph(plain, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
/* Four columns of sixteen rows: the four vectors hold, in 128 bits each, four floats of rows i, i + 4, i + 8, i + 12.
 */
IFM_INLINE floats lanes_quads(const float *from, size_t stride)
{
    __m512 quads = _mm512_castps128_ps512(_mm_loadu_ps(from));
    quads = _mm512_insertf32x4(quads, _mm_loadu_ps(from + 4 * stride), 1);
    quads = _mm512_insertf32x4(quads, _mm_loadu_ps(from + 8 * stride), 2);
    return (floats)_mm512_insertf32x4(quads, _mm_loadu_ps(from + 12 * stride), 3);
}
IFM_INLINE void lanes_turn_quads(floats a, floats b, floats c, floats d, floats *to)
{
    const __m512d ab_low = _mm512_castps_pd(_mm512_unpacklo_ps((__m512)a, (__m512)b));
    const __m512d cd_low = _mm512_castps_pd(_mm512_unpacklo_ps((__m512)c, (__m512)d));
    const __m512d ab_high = _mm512_castps_pd(_mm512_unpackhi_ps((__m512)a, (__m512)b));
    const __m512d cd_high = _mm512_castps_pd(_mm512_unpackhi_ps((__m512)c, (__m512)d));
    to[0] = (floats)_mm512_castpd_ps(_mm512_unpacklo_pd(ab_low, cd_low));
    to[1] = (floats)_mm512_castpd_ps(_mm512_unpackhi_pd(ab_low, cd_low));
    to[2] = (floats)_mm512_castpd_ps(_mm512_unpacklo_pd(ab_high, cd_high));
    to[3] = (floats)_mm512_castpd_ps(_mm512_unpackhi_pd(ab_high, cd_high));
}
#elif IFM_LANES == 8
IFM_INLINE floats lanes_quads(const float *from, size_t stride)
{
    const __m256 quads = _mm256_castps128_ps256(_mm_loadu_ps(from));
    return (floats)_mm256_insertf128_ps(quads, _mm_loadu_ps(from + 4 * stride), 1);
}
IFM_INLINE void lanes_turn_quads(floats a, floats b, floats c, floats d, floats *to)
{
    const __m256d ab_low = _mm256_castps_pd(_mm256_unpacklo_ps((__m256)a, (__m256)b));
    const __m256d cd_low = _mm256_castps_pd(_mm256_unpacklo_ps((__m256)c, (__m256)d));
    const __m256d ab_high = _mm256_castps_pd(_mm256_unpackhi_ps((__m256)a, (__m256)b));
    const __m256d cd_high = _mm256_castps_pd(_mm256_unpackhi_ps((__m256)c, (__m256)d));
    to[0] = (floats)_mm256_castpd_ps(_mm256_unpacklo_pd(ab_low, cd_low));
    to[1] = (floats)_mm256_castpd_ps(_mm256_unpackhi_pd(ab_low, cd_low));
    to[2] = (floats)_mm256_castpd_ps(_mm256_unpacklo_pd(ab_high, cd_high));
    to[3] = (floats)_mm256_castpd_ps(_mm256_unpackhi_pd(ab_high, cd_high));
}
IFM_INLINE floats lanes_min(floats a, floats b)
{
    return (floats)_mm256_min_ps((__m256)a, (__m256)b);
}
IFM_INLINE floats lanes_max(floats a, floats b)
{
    return (floats)_mm256_max_ps((__m256)a, (__m256)b);
}
IFM_INLINE floats lanes_if_less(floats a, floats b, floats yes, floats no)
{
    return (floats)_mm256_blendv_ps((__m256)no, (__m256)yes, _mm256_cmp_ps((__m256)a, (__m256)b, _CMP_LT_OQ));
}
IFM_INLINE floats lanes_round_f16(floats x)
{
    return (floats)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
IFM_INLINE floats lanes_clamp(floats x, floats most)
{
    const __m256i above = _mm256_max_epi32(_mm256_castps_si256((__m256)x), _mm256_setzero_si256());
    return (floats)_mm256_castsi256_ps(_mm256_min_epi32(above, _mm256_castps_si256((__m256)most)));
}
IFM_INLINE floats lanes_round(floats x)
{
    return (floats)_mm256_round_ps((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
IFM_INLINE ints lanes_integers(floats x)
{
    return (ints)_mm256_cvtps_epi32((__m256)x);
}
IFM_INLINE void lanes_store_bytes(uint8_t *to, ints x)
{
    const __m256i first = _mm256_set1_epi32(0x0c080400); /* byte 0 of each lane of four */
    const __m256i bytes = _mm256_shuffle_epi8((__m256i)x, first);
    const __m128i both = _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storel_epi64((__m128i *)(void *)to, both);
}
IFM_INLINE void lanes_store_f16(uint16_t *to, floats x)
{
    const __m256 plain = (__m256)lanes_plain_nan(x);
    _mm_storeu_si128((__m128i *)(void *)to, _mm256_cvtps_ph(plain, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#else
IFM_INLINE floats lanes_min(floats a, floats b)
{
    return a < b ? a : b;
}
IFM_INLINE floats lanes_max(floats a, floats b)
{
    return a > b ? a : b;
}
IFM_INLINE floats lanes_if_less(floats a, floats b, floats yes, floats no)
{
    return a < b ? yes : no;
}
/* Of a number; not of NaN. */
IFM_INLINE floats lanes_round_f16(floats x)
{
    return ifm_f16_to_f32(ifm_f32_to_f16(x));
}
/* A number between 0 and `most`. Floats that are not negative are ordered as their bits; vectors compare those, in
 * other units of the processor than those that add. Of NaN, either end. */
IFM_INLINE floats lanes_clamp(floats x, floats most)
{
    return lanes_min(lanes_max(x, 0.0f), most);
}
/* To an integer, ties to even; of a magnitude below 2^22: adding 1.5 x 2^23 leaves no bit behind the point. */
IFM_INLINE floats lanes_round(floats x)
{
    return x + 12582912.0f - 12582912.0f;
}
/* The number, which is an integer. */
IFM_INLINE ints lanes_integers(floats x)
{
    return (int32_t)x;
}
/* The low byte of each lane. */
IFM_INLINE void lanes_store_bytes(uint8_t *to, ints x)
{
    *to = (uint8_t)x;
}
IFM_INLINE void lanes_store_f16(uint16_t *to, floats x)
{
    *to = ifm_f32_to_f16(x);
}
#endif

/* `columns` columns of IFM_LANES rows, whose starts lie `stride` floats apart: to[i] is column i. `columns` is a
 * multiple of four. */
IFM_INLINE void lanes_transpose(const float *from, size_t stride, unsigned columns, floats *to)
{
#if IFM_LANES == 1
    (void)stride;
    memcpy(to, from, columns * sizeof *to);
#else
    for (unsigned i = 0; i < columns; i += 4)
        lanes_turn_quads(lanes_quads(from + i, stride), lanes_quads(from + stride + i, stride),
                         lanes_quads(from + 2 * stride + i, stride), lanes_quads(from + 3 * stride + i, stride),
                         to + i);
#endif
}

/* x in every lane. */
IFM_INLINE floats lanes_of(float x)
{
    return x - (floats){0};
}

#endif
