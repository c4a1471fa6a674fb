/* Pages of the elastic cache with random codes and sane random scales, for tests of what reads them; and attention over
 * rows in f64. Include cmocka.h first. */
#ifndef IFM_UNIT_KV_PAGES_H
#define IFM_UNIT_KV_PAGES_H

#include "base/half.h"
#include "base/random.h"
#include "kv/cache.h"
#include "kv/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* K and V of all tokens of a pair in order of appending, f32 [length][head_dim], by the reference reading of pages. */
static inline void read_cache(const struct ifm_kv_cache *cache, uint64_t pair, float *k, float *v)
{
    const struct ifm_kv_view view = ifm_kv_view_of(cache, pair);
    const struct ifm_kv_layout *body = ifm_kv_body_layout(cache), *ring = ifm_kv_ring_layout(cache);
    const size_t row = body->head_dim;
    size_t at = view.sink.tokens;
    if (at > 0)
        ifm_kv_page_read(ifm_kv_sink_layout_of(cache), view.sink.page, view.sink.tokens, k, v);
    for (uint64_t i = 0; i < view.n_body; i++) {
        const unsigned tokens = i + 1 < view.n_body ? IFM_KV_PAGE : view.last_tokens;
        ifm_kv_page_read(body, view.pool + view.table[i] * body->page_bytes, tokens, k + at * row, v + at * row);
        at += tokens;
    }
    for (int i = 0; i < 2 && view.ring[i].tokens > 0; i++) {
        ifm_kv_page_read(ring, view.ring[i].page, view.ring[i].tokens, k + at * row, v + at * row);
        at += view.ring[i].tokens;
    }
}

static inline void *lines_of(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(memory);
    return memory;
}

static inline void put_half(unsigned char *page, size_t section, size_t i, double value)
{
    const uint16_t half = ifm_f32_to_f16((float)value);
    memcpy(page + section + i * sizeof half, &half, sizeof half);
}

static inline void put_float(unsigned char *page, size_t section, double value)
{
    const float single = (float)value;
    memcpy(page + section, &single, sizeof single);
}

/* A byte of codes spread like those of normal values: a step of 0.2, 0.33 (int4) and 1 standard deviations. */
static inline unsigned char code_byte(unsigned bits, struct ifm_random *random)
{
    const double levels = (double)((1U << bits) - 1), spread = bits == 2 ? 1 : levels / 5;
    unsigned byte = 0;
    for (unsigned f = 0; f < 8; f += bits) {
        const double code = round(0.5 * levels + spread * ifm_random_normal(random));
        byte |= (unsigned)fmin(fmax(code, 0), levels) << f;
    }
    return (unsigned char)byte;
}

/* Every byte random but for NaN in e4m3 and -128 in V of int8. */
static inline void fill_codes(const struct ifm_kv_layout *l, unsigned char *page, struct ifm_random *random)
{
    for (size_t i = 0; i < l->page_bytes; i++)
        page[i] = (unsigned char)ifm_random_u32(random);
    if (l->format == IFM_KV_E4M3)
        for (size_t i = 0; i < l->page_bytes; i++)
            page[i] = (page[i] & 0x7f) == 0x7f ? page[i] ^ 1 : page[i];
    if (l->format == IFM_KV_F16 || l->format == IFM_KV_E4M3)
        return;
    for (size_t i = l->k_codes; i < l->page_bytes; i++)
        page[i] = code_byte(l->bits, random);
    if (l->format == IFM_KV_INT8)
        for (size_t i = l->v_codes; i < l->page_bytes; i++)
            page[i] = (unsigned char)(page[i] == 0 ? 1 : page[i] ^ 0x80);
}

/* Values of about 1, times k_scale and v_scale. */
static inline void fill_page(const struct ifm_kv_layout *l, unsigned char *page, struct ifm_random *random,
                             double k_scale, double v_scale)
{
    fill_codes(l, page, random);
    if (l->format == IFM_KV_F16) {
        for (size_t i = 0; i < (size_t)l->tokens * l->head_dim; i++) {
            put_half(page, l->k_codes, i, k_scale * ifm_random_normal(random));
            put_half(page, l->v_codes, i, v_scale * ifm_random_normal(random));
        }
        return;
    }
    if (l->format == IFM_KV_E4M3) {
        put_float(page, l->k_scale, k_scale / 100);
        put_float(page, l->v_scale, v_scale / 100);
        return;
    }
    const double levels = (double)((1U << l->bits) - 1);
    for (size_t d = 0; d < l->head_dim; d++) {
        const double outlier = d % 19 == 5 ? 6 : 1, range = k_scale * outlier * (1 + 3 * ifm_random_uniform(random));
        put_half(page, l->k_scale, d, range / levels);
        put_half(page, l->k_zero, d, range * (ifm_random_uniform(random) - 0.8));
    }
    for (size_t t = 0; t < l->tokens; t++)
        put_half(page, l->v_scale, t, v_scale * (1 + 3 * ifm_random_uniform(random)) / levels);
    for (size_t i = 0, d = 0; i < l->n_promoted; i++, d++) { /* one of each eight channels, ascending */
        d = i * 8 + ifm_random_below(random, 8);
        page[l->promoted + i] = (unsigned char)d;
        const double range = 6 * k_scale;
        put_half(page, l->k_scale, d, range / 15);
        put_half(page, l->k_zero, d, -range * 0.5);
    }
}

/* The error that a format of whole-number codes has by itself: half a step, at random, in each value of K and V. */
static inline void add_format_error(const struct ifm_kv_layout *l, const unsigned char *page, unsigned tokens,
                                    struct ifm_random *random, float *k, float *v)
{
    for (size_t t = 0; t < tokens; t++)
        for (size_t d = 0; d < l->head_dim; d++) {
            uint16_t steps[2];
            memcpy(&steps[0], page + l->k_scale + 2 * d, 2);
            memcpy(&steps[1], page + l->v_scale + 2 * t, 2);
            k[t * l->head_dim + d] += (float)(ifm_f16_to_f32(steps[0]) * (ifm_random_uniform(random) - 0.5));
            v[t * l->head_dim + d] += (float)(ifm_f16_to_f32(steps[1]) * (ifm_random_uniform(random) - 0.5));
        }
}

/* Softmax (base 2, as the page functions take their queries) over `n` rows of K and V, in f64. */
static inline void attend_rows(const float *query, const float *k, const float *v, size_t n, size_t dim, double *out)
{
    double *weights = malloc((n + 1) * sizeof *weights), top = -INFINITY, total = 0;
    assert_non_null(weights);
    for (size_t t = 0; t < n; t++) {
        weights[t] = 0;
        for (size_t d = 0; d < dim; d++)
            weights[t] += (double)query[d] * (double)k[t * dim + d];
        top = fmax(top, weights[t]);
    }
    memset(out, 0, dim * sizeof *out);
    for (size_t t = 0; t < n; t++) {
        weights[t] = exp2(weights[t] - top);
        total += weights[t];
        for (size_t d = 0; d < dim && weights[t] > 0; d++)
            out[d] += weights[t] * (double)v[t * dim + d];
    }
    for (size_t d = 0; d < dim && n > 0; d++)
        out[d] /= total;
    free(weights);
}

#endif
