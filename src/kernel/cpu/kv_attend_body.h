/* What the page functions for 512-bit vectors share: the softmax over the scores of a page, and reading ahead. */
#ifndef IFM_KERNEL_CPU_KV_ATTEND_BODY_H
#define IFM_KERNEL_CPU_KV_ATTEND_BODY_H

#include "kernel/cpu/kernels.h"

#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define IFM_INLINE static inline __attribute__((always_inline))

enum { LANES = 16, PAGE_VECTORS = IFM_KV_PAGE / LANES };

/* A page and the one that follows it, as one stretch of memory that is read front to back. */
struct attend_stretch {
    const unsigned char *page, *next;
    size_t bytes;
};

/* How far ahead of the loads lines are prefetched. Measured on Zen 4, one core, from memory: with one or two heads the
 * hardware's prefetchers do best alone or nearly so (two lines ahead saves 5 % with int8 and int4; 1 KiB and more adds
 * 20 to 70 %); with three and four, where computing takes as long as reading, they fall behind, and prefetching 16 KiB
 * ahead into the second-level cache saves 20 to 25 % with int8 and int4. On Zen 5 10 KiB ahead into the first level
 * takes up to 27 % less time than that, with every format. */
enum { NEAR = 128, FAR = 10240 };

/* What is read `by` bytes after offset `at` of the page. */
IFM_INLINE const unsigned char *place_after(const struct attend_stretch *s, size_t at, size_t by)
{
    const size_t to = at + by;
    return to < s->bytes ? s->page + to : s->next + (to - s->bytes);
}

/* 2^x for x <= 0, relative error 1e-7 and its rounding; 0 from 2^-150 on, NaN for NaN. The polynomial has the least
 * greatest relative error on [-1/2, 1/2] among those that are 1 at 0. */
IFM_INLINE __m512 exp2_lanes(__m512 x)
{
    x = _mm512_max_ps(_mm512_set1_ps(-200.0f), x); /* x where it is NaN */
    const __m512 n = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 f = _mm512_sub_ps(x, n);
    __m512 p = _mm512_set1_ps(1.326472740e-3f);
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(9.671512656e-3f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(5.550733743e-2f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(2.402224209e-1f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(6.931469776e-1f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, n);
}

/* 2^n for the whole number that 2^23 * 1.5 was added to. */
IFM_INLINE __m512 times_power(__m512 p, __m512 n)
{
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), _mm512_slli_epi32(_mm512_castps_si512(n), 23)));
}

/* 2^x for x < 127, for weights that will be rounded to eight bits (relative error 8e-5) and to sixteen (3e-6); about
 * 2^-126 for what is less, and anything for NaN. Polynomials of the least greatest relative error (Remez). */
IFM_INLINE __m512 exp2_roughly(__m512 x)
{
    const __m512 magic = _mm512_set1_ps(0x1.8p23f); /* adding it rounds to whole numbers, in the lowest bits */
    x = _mm512_max_ps(_mm512_set1_ps(-126.0f), x);
    const __m512 n = _mm512_add_ps(x, magic), f = _mm512_sub_ps(x, _mm512_sub_ps(n, magic));
    __m512 p = _mm512_set1_ps(5.517166751e-2f);
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(2.426111221e-1f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(6.932609857e-1f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(9.999280736e-1f));
    return times_power(p, n);
}

IFM_INLINE __m512 exp2_closely(__m512 x)
{
    const __m512 magic = _mm512_set1_ps(0x1.8p23f);
    x = _mm512_max_ps(_mm512_set1_ps(-126.0f), x);
    const __m512 n = _mm512_add_ps(x, magic), f = _mm512_sub_ps(x, _mm512_sub_ps(n, magic));
    __m512 p = _mm512_set1_ps(9.570101908e-3f);
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(5.591786032e-2f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(2.402474483e-1f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(6.931218147e-1f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(9.999992614e-1f));
    return times_power(p, n);
}

/* Mask the scores of slots `tokens` and more, and raise the running maximum to those of the page, which `most` returns;
 * returns what earlier sums shrink by. NaN does not move the maximum. */
IFM_INLINE float raise_top(float *scores, unsigned tokens, float *top, float *most)
{
    __m512 high = _mm512_set1_ps(-INFINITY);
    for (unsigned i = 0; i < PAGE_VECTORS; i++) {
        __m512 x = _mm512_load_ps(scores + i * LANES);
        if (tokens < (i + 1) * LANES) {
            const unsigned left = tokens > i * LANES ? tokens - i * LANES : 0;
            x = _mm512_mask_blend_ps((__mmask16)((1U << left) - 1), _mm512_set1_ps(-INFINITY), x);
            _mm512_store_ps(scores + i * LANES, x);
        }
        high = _mm512_max_ps(x, high);
    }
    *most = _mm512_reduce_max_ps(high);
    const float highest = *most > *top ? *most : *top;
    const float keep = _mm512_cvtss_f32(exp2_lanes(_mm512_set1_ps(*top - highest)));
    *top = highest;
    return keep;
}

/* Scores become weights relative to the running maximum; returns their sum. */
IFM_INLINE float weigh(__m512 *s, float top)
{
    const __m512 tops = _mm512_set1_ps(top);
    __m512 sum[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
    for (unsigned i = 0; i < PAGE_VECTORS; i++) {
        s[i] = exp2_lanes(_mm512_sub_ps(s[i], tops));
        sum[i % 2] = _mm512_add_ps(sum[i % 2], s[i]);
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(sum[0], sum[1]));
}

#endif
