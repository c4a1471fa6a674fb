/* Arithmetic on the lanes of lanes.h that keeps NaN and infinity: selection, maximum, exponential, narrow formats.
 *
 * For files that are compiled without relaxed floating point. */
#ifndef IFM_KERNEL_CPU_LANES_MATH_H
#define IFM_KERNEL_CPU_LANES_MATH_H

#include "base/half.h"
#include "kernel/cpu/lanes.h"

#if IFM_LANES == 1
typedef int32_t ints;
typedef uint16_t halves;
#else
typedef int32_t ints __attribute__((vector_size(IFM_LANE_BYTES)));
typedef uint16_t halves __attribute__((vector_size(IFM_LANE_BYTES / 2)));
typedef uint16_t loose_halves __attribute__((vector_size(IFM_LANE_BYTES / 2), aligned(2), may_alias));
#endif

IFM_INLINE ints bits_of(floats x)
{
    ints bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

IFM_INLINE floats of_bits(ints bits)
{
    floats x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The value in every lane; x - 0 is x, for NaN and -0 too. */
IFM_INLINE floats splat(float x)
{
    return x - (floats){0};
}

/* The larger of a and b; b where either is NaN. */
IFM_INLINE floats larger_or_b(floats a, floats b)
{
#if IFM_LANES == 1
    return a > b ? a : b;
#elif IFM_LANE_BYTES == 64
    return (floats)_mm512_max_ps((__m512)a, (__m512)b);
#elif IFM_LANE_BYTES == 32
    return (floats)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return (floats)_mm_max_ps((__m128)a, (__m128)b);
#endif
}

/* x in lanes where a >= b, else y. */
IFM_INLINE floats where_at_least(floats a, floats b, floats x, floats y)
{
#if IFM_LANES == 1
    return a >= b ? x : y;
#else
    const ints mask = a >= b;
    return of_bits((bits_of(x) & mask) | (bits_of(y) & ~mask));
#endif
}

/* 2^x for x <= 0, relative error below 1.5 x 2^-24; 0 below -126.5 and for -infinity; NaN for NaN; 1 for 0.
 * x + 1.5 x 2^23 + 127 rounds x to an integer n and leaves the exponent of 2^n in the low bits; 2^(x - n) is a
 * polynomial through the Chebyshev points. */
IFM_INLINE floats exp2_of_negative(floats x)
{
    const floats low = splat(-127.0f), rounder = splat(12582912.0f + 127.0f);
    x = larger_or_b(low, x);
    const floats shifted = x + rounder;
    const floats f = x - (shifted - rounder);
    floats p = splat(1.54531634e-4f);
    p = p * f + splat(1.33908633e-3f);
    p = p * f + splat(9.61808302e-3f);
    p = p * f + splat(5.55035695e-2f);
    p = p * f + splat(2.40226507e-1f);
    p = p * f + splat(6.93147182e-1f);
    p = p * f + splat(1.0f);
    typedef uint32_t unsigned_lane;
#if IFM_LANES == 1
    const ints power = (ints)((unsigned_lane)bits_of(shifted) << 23);
#else
    typedef unsigned_lane unsigned_lanes __attribute__((vector_size(IFM_LANE_BYTES)));
    const ints power = (ints)((unsigned_lanes)bits_of(shifted) << 23);
#endif
    return p * of_bits(power);
}

#if IFM_LANES == 1
IFM_INLINE floats load_f16(const uint16_t *from)
{
    return ifm_f16_to_f32(*from);
}
IFM_INLINE floats load_bf16(const uint16_t *from)
{
    return ifm_bf16_to_f32(*from);
}
IFM_INLINE void store_f16(uint16_t *to, floats x)
{
    *to = ifm_f32_to_f16(x);
}
IFM_INLINE void store_bf16(uint16_t *to, floats x)
{
    *to = ifm_f32_to_bf16(x);
}
IFM_INLINE float largest_lane(floats x)
{
    return x;
}
IFM_INLINE float sum_of_lanes(floats x)
{
    return x;
}
#else
IFM_INLINE floats load_f16(const uint16_t *from)
{
#if IFM_LANE_BYTES == 64
    return (floats)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
#elif IFM_LANE_BYTES == 32
    return (floats)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
#else
    return (floats){ifm_f16_to_f32(from[0]), ifm_f16_to_f32(from[1]), ifm_f16_to_f32(from[2]), ifm_f16_to_f32(from[3])};
#endif
}

IFM_INLINE floats load_bf16(const uint16_t *from)
{
    typedef uint32_t wide __attribute__((vector_size(IFM_LANE_BYTES)));
    return of_bits((ints)(__builtin_convertvector(*(const loose_halves *)from, wide) << 16));
}

IFM_INLINE void store_f16(uint16_t *to, floats x)
{
#if IFM_LANE_BYTES == 64
    _mm256_storeu_si256((__m256i *)to, _mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT));
#elif IFM_LANE_BYTES == 32
    _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT));
#else
    for (int i = 0; i < IFM_LANES; i++)
        to[i] = ifm_f32_to_f16(x[i]);
#endif
}

IFM_INLINE void store_bf16(uint16_t *to, floats x)
{
    typedef uint32_t wide __attribute__((vector_size(IFM_LANE_BYTES)));
    const wide bits = (wide)bits_of(x), quiet = bits | 0x400000;
    const wide rounded = bits + 0x7fff + (bits >> 16 & 1), number = (wide)(x == x);
    *(loose_halves *)to = __builtin_convertvector(((rounded & number) | (quiet & ~number)) >> 16, halves);
}

IFM_INLINE float largest_lane(floats x)
{
    float most = x[0];
    for (int i = 1; i < IFM_LANES; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

IFM_INLINE float sum_of_lanes(floats x)
{
    float sum = 0;
    for (int i = 0; i < IFM_LANES; i++)
        sum += x[i];
    return sum;
}
#endif

#endif
