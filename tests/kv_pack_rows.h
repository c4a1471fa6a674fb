/* Rows of f16 for the tests of kv_pack.cu: what a page can hold, from integers alone. C and C++. */
#ifndef IFM_TESTS_KV_PACK_ROWS_H
#define IFM_TESTS_KV_PACK_ROWS_H

#include "base/half.h"

#include <stdint.h>

enum {
    ROWS_NORMAL,
    ROWS_OUTLIERS, /* 6 and 12 times, in some channels */
    ROWS_TINY,     /* subnormal */
    ROWS_HUGE,     /* up to the largest f16 */
    ROWS_CONSTANT, /* of channels, and of tokens; zeros of both signs */
    ROWS_SHIFTED,
    ROWS_SPOILED, /* NaN and infinity */
    ROWS_BITS,    /* any bits at all */
    ROWS_KINDS
};

static inline uint32_t rows_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static inline float rows_value(uint32_t *state)
{
    const uint32_t a = rows_next(state), b = rows_next(state);
    return (float)((int)(a & 1023) + (int)(a >> 10 & 1023) + (int)(b & 1023) + (int)(b >> 10 & 1023) - 2046) / 600.0f;
}

/* K [tokens][dim], V [tokens][dim] behind `v_at` values. */
static inline void rows_fill(int kind, uint32_t dim, uint32_t tokens, uint32_t seed, uint16_t *k, uint16_t *v)
{
    uint32_t state = seed * 2654435761u + 1;
    for (uint32_t i = 0; i < tokens * dim; i++) {
        const uint32_t d = i % dim, t = i / dim;
        float x = rows_value(&state), y = rows_value(&state);
        if (kind == ROWS_OUTLIERS || kind == ROWS_SPOILED) {
            x *= d % 16 == 5 ? 12.0f : d % 16 == 9 ? 6.0f : 1.0f;
            y *= d % 32 == 7 ? 6.0f : 1.0f;
        }
        if (kind == ROWS_TINY || kind == ROWS_HUGE) {
            x *= kind == ROWS_TINY ? 3e-7f : 2e4f;
            y *= kind == ROWS_TINY ? 3e-7f : 2e4f;
            x = x > 65504.0f ? 65504.0f : x < -65504.0f ? -65504.0f : x;
            y = y > 65504.0f ? 65504.0f : y < -65504.0f ? -65504.0f : y;
        }
        if (kind == ROWS_CONSTANT) {
            x = d % 3 == 0 ? (float)d : d % 3 == 1 ? (t % 2 == 0 ? 0.0f : -0.0f) : x;
            y = t % 3 == 0 ? (float)t : t % 3 == 1 ? -0.0f : y;
        }
        if (kind == ROWS_SHIFTED)
            x += (float)(d % 7) * 50.0f;
        k[i] = ifm_f32_to_f16(x);
        v[i] = ifm_f32_to_f16(y);
        if (kind == ROWS_BITS && t % 8 == 3) {
            k[i] = (uint16_t)rows_next(&state);
            v[i] = (uint16_t)rows_next(&state);
        }
    }
    const uint16_t bad[] = {0x7e01, 0x7c00, 0xfc00, 0xfe00, 0x7d55};
    for (uint32_t i = 0; kind == ROWS_SPOILED && tokens > 0 && i < 5; i++) {
        k[i * 5 % tokens * dim + i * 6] = bad[i];
        v[i * 7 % tokens * dim + i * 5] = bad[i];
    }
}

#endif
