/* Narrow floating point: IEEE binary16, bfloat16 and OCP e4m3 <-> f32, in plain integer arithmetic.
 *
 * Rounding is to nearest, ties to even. NaN stays NaN. Pure functions; the same bits on every machine.
 * e4m3 follows "OCP 8-bit Floating Point Specification (OFP8)", 2023: bias 7, no infinity, largest value 448,
 * NaN is S.1111.111; what is larger than 448 saturates to it. */
#ifndef IFM_BASE_HALF_H
#define IFM_BASE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t ifm_f32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float ifm_f32_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float ifm_f16_to_f32(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
    if (rest >= 0x7c00) /* infinity, NaN */
        return ifm_f32_of_bits(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    if (rest >= 0x400) /* normal: the exponent's bias goes from 15 to 127 */
        return ifm_f32_of_bits(sign | ((rest << 13) + (112U << 23)));
    const float magnitude = (float)rest * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
}

/* Beyond 65504 (from 65520 on) the result is infinity. */
static inline uint16_t ifm_f32_to_f16(float x)
{
    const uint32_t bits = ifm_f32_bits(x), rest = bits & 0x7fffffff;
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (rest > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);
    if (rest >= 0x477ff000)
        return (uint16_t)(sign | 0x7c00);
    if (rest < 0x38800000) { /* below 2^-14: the sum rounds to a multiple of 2^-24 */
        const float shifted = ifm_f32_of_bits(rest) + 0.5f;
        return (uint16_t)(sign | (ifm_f32_bits(shifted) - ifm_f32_bits(0.5f)));
    }
    return (uint16_t)(sign | (rest - (112U << 23) + 0xfff + (rest >> 13 & 1)) >> 13);
}

static inline float ifm_bf16_to_f32(uint16_t h)
{
    return ifm_f32_of_bits((uint32_t)h << 16);
}

static inline uint16_t ifm_f32_to_bf16(float x)
{
    const uint32_t bits = ifm_f32_bits(x);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float ifm_e4m3_to_f32(uint8_t c)
{
    const uint32_t sign = (uint32_t)(c & 0x80) << 24, rest = c & 0x7f;
    if (rest == 0x7f)
        return ifm_f32_of_bits(sign | 0x7fc00000);
    if (rest >= 8)
        return ifm_f32_of_bits(sign | ((rest << 20) + (120U << 23)));
    const float magnitude = (float)rest * 0x1p-9f;
    return sign != 0 ? -magnitude : magnitude;
}

static inline uint8_t ifm_f32_to_e4m3(float x)
{
    const uint32_t bits = ifm_f32_bits(x), rest = bits & 0x7fffffff;
    const uint8_t sign = (uint8_t)(bits >> 24 & 0x80);
    if (rest > 0x7f800000)
        return (uint8_t)(sign | 0x7f);
    if (rest >= 0x43e00000) /* 448 */
        return (uint8_t)(sign | 0x7e);
    if (rest < 0x3c800000) { /* below 2^-6: the sum rounds to a multiple of 2^-9 */
        const float shifted = ifm_f32_of_bits(rest) + 16384.0f;
        return (uint8_t)(sign | (ifm_f32_bits(shifted) - ifm_f32_bits(16384.0f)));
    }
    return (uint8_t)(sign | (rest - (120U << 23) + 0x7ffff + (rest >> 20 & 1)) >> 20);
}

#endif
