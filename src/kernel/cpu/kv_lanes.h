/* What the writers of KV pages need of vectors beyond lanes.h, for 1, 8 or 16 lanes: the same value from every width.
 *
 * Minimum and maximum answer the second operand when one is NaN or both are equal, as the x86 instructions do. */
#ifndef IFM_KERNEL_CPU_KV_LANES_H
#define IFM_KERNEL_CPU_KV_LANES_H

#include "base/half.h"
#include "kernel/cpu/lanes.h"

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
IFM_INLINE floats lanes_round(floats x)
{
    return (floats)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
IFM_INLINE void lanes_store_bytes(uint8_t *to, floats x)
{
    _mm_storeu_si128((__m128i *)(void *)to, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32((__m512)x)));
}
#elif IFM_LANES == 8
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
IFM_INLINE floats lanes_round(floats x)
{
    return (floats)_mm256_round_ps((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
IFM_INLINE void lanes_store_bytes(uint8_t *to, floats x)
{
    const __m256i first = _mm256_set1_epi32(0x0c080400); /* byte 0 of each lane of four */
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_cvtps_epi32((__m256)x), first);
    const __m128i both = _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storel_epi64((__m128i *)(void *)to, both);
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
/* To an integer, ties to even; of a magnitude below 2^22: adding 1.5 x 2^23 leaves no bit behind the point. */
IFM_INLINE floats lanes_round(floats x)
{
    return x + 12582912.0f - 12582912.0f;
}
/* The low byte of each lane, which is an integer. */
IFM_INLINE void lanes_store_bytes(uint8_t *to, floats x)
{
    *to = (uint8_t)(int32_t)x;
}
#endif

/* x in every lane. */
IFM_INLINE floats lanes_of(float x)
{
    return x - (floats){0};
}

#endif
