/* What the page functions for 512-bit vectors share: the softmax over the scores of a page, and reading ahead. */
#ifndef IFM_KERNEL_CPU_KV_ATTEND_BODY_H
#define IFM_KERNEL_CPU_KV_ATTEND_BODY_H

#include "kernel/cpu/kernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define IFM_INLINE static inline __attribute__((always_inline))

enum { LANES = 16, PAGE_VECTORS = IFM_KV_PAGE / LANES };

/* A page and the one that follows it, as one stretch of memory that is read front to back. */
struct stretch {
    const unsigned char *page, *next;
    size_t bytes;
};

/* How far ahead of the loads lines are asked for. */
#ifndef IFM_KV_AHEAD
#define IFM_KV_AHEAD 4096
#endif

/* Ask for the line IFM_KV_AHEAD bytes behind offset `at` of the page. */
IFM_INLINE void read_ahead(const struct stretch *s, size_t at)
{
#if IFM_KV_AHEAD > 0
    const size_t to = at + IFM_KV_AHEAD;
    const unsigned char *line = to < s->bytes ? s->page + to : s->next + (to - s->bytes);
    _mm_prefetch((const char *)line, _MM_HINT_T0);
#else
    (void)s, (void)at;
#endif
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

/* The scores of a page's slots `tokens` and more weigh nothing. */
IFM_INLINE void mask_scores(__m512 *s, unsigned tokens)
{
    if (tokens < IFM_KV_PAGE)
        for (unsigned i = 0; i < PAGE_VECTORS; i++) {
            const unsigned left = tokens > i * LANES ? tokens - i * LANES : 0;
            const __mmask16 filled = left >= LANES ? 0xffff : (__mmask16)((1U << left) - 1);
            s[i] = _mm512_mask_blend_ps(filled, _mm512_set1_ps(-INFINITY), s[i]);
        }
}

/* Scores become weights relative to the running maximum; returns what earlier sums shrink by. NaN does not move the
 * maximum, but its weight is NaN, and the total. */
IFM_INLINE float weigh(__m512 *s, float *top, float *total)
{
    __m512 high = _mm512_set1_ps(*top);
    for (unsigned i = 0; i < PAGE_VECTORS; i++)
        high = _mm512_max_ps(s[i], high);
    const float highest = _mm512_reduce_max_ps(high);
    const __m512 new_top = _mm512_set1_ps(highest);
    __m512 even = _mm512_setzero_ps(), odd = even;
    for (unsigned i = 0; i < PAGE_VECTORS; i += 2) {
        s[i] = exp2_lanes(_mm512_sub_ps(s[i], new_top));
        s[i + 1] = exp2_lanes(_mm512_sub_ps(s[i + 1], new_top));
        even = _mm512_add_ps(even, s[i]);
        odd = _mm512_add_ps(odd, s[i + 1]);
    }
    const float keep = _mm512_cvtss_f32(exp2_lanes(_mm512_set1_ps(*top - highest)));
    *total = *total * keep + _mm512_reduce_add_ps(_mm512_add_ps(even, odd));
    *top = highest;
    return keep;
}

#endif
