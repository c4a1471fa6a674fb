/* Attention over a page of the elastic cache: scalar, every format.
 *
 * A channel of K is decoded for all tokens and multiplied into the scores of every head; a row of V is decoded and
 * added to every head's sum. Kept simple: the vector kernels are compared with it, and machines without vector kernels
 * run it. */
#include "base/half.h"
#include "kernel/cpu/kernels.h"

#include <math.h>
#include <string.h>

size_t ifm_kv_attend_scratch_bytes(unsigned head_dim, unsigned group)
{
    /* For any instruction set: scores and weights of a page and forms of the query, for each head; a page's constants
     * once. */
    return (size_t)group * (24 * (size_t)IFM_KV_PAGE + 24 * (size_t)head_dim + 256) + 16 * (size_t)head_dim + 4096;
}

struct scalar_page {
    const struct ifm_kv_layout *layout;
    const unsigned char *bytes;
    unsigned tokens;
};
/* One channel of K, `tokens` values; one row of V (rotated where the format is), head_dim values. */
typedef void column_fn(const struct scalar_page *page, unsigned channel, float *k);
typedef void row_fn(const struct scalar_page *page, unsigned token, float *v);

static float half_at(const struct scalar_page *page, size_t section, size_t i)
{
    uint16_t value;
    memcpy(&value, page->bytes + section + i * sizeof value, sizeof value);
    return ifm_f16_to_f32(value);
}

static float scale_at(const struct scalar_page *page, size_t section)
{
    float value;
    memcpy(&value, page->bytes + section, sizeof value);
    return value;
}

/* Where token `t` of a channel, and the block of channels from `d` on of a row, lie in f16 and e4m3. */
static size_t plain_k(const struct scalar_page *page, size_t t, size_t d)
{
    return (t / IFM_KV_WIDE * page->layout->head_dim + d) * IFM_KV_WIDE + t % IFM_KV_WIDE;
}

static size_t plain_v(const struct scalar_page *page, size_t t, size_t d)
{
    const size_t left = page->layout->head_dim - d, width = left < IFM_KV_WIDE ? left : IFM_KV_WIDE;
    return d * page->layout->tokens + t * width;
}

static void column_f16(const struct scalar_page *page, unsigned channel, float *k)
{
    for (size_t t = 0; t < page->tokens; t++)
        k[t] = half_at(page, page->layout->k_codes, plain_k(page, t, channel));
}

static void row_f16(const struct scalar_page *page, unsigned token, float *v)
{
    for (size_t d = 0; d < page->layout->head_dim; d++)
        v[d] =
            half_at(page, page->layout->v_codes, plain_v(page, token, d / IFM_KV_WIDE * IFM_KV_WIDE) + d % IFM_KV_WIDE);
}

static void column_e4m3(const struct scalar_page *page, unsigned channel, float *k)
{
    const float scale = scale_at(page, page->layout->k_scale);
    for (size_t t = 0; t < page->tokens; t++)
        k[t] = ifm_e4m3_to_f32(page->bytes[page->layout->k_codes + plain_k(page, t, channel)]) * scale;
}

static void row_e4m3(const struct scalar_page *page, unsigned token, float *v)
{
    const float scale = scale_at(page, page->layout->v_scale);
    for (size_t d = 0; d < page->layout->head_dim; d++) {
        const size_t at = plain_v(page, token, d / IFM_KV_WIDE * IFM_KV_WIDE) + d % IFM_KV_WIDE;
        v[d] = ifm_e4m3_to_f32(page->bytes[page->layout->v_codes + at]) * scale;
    }
}

/* The code of `inner` (token of K, channel of V) and `outer` (channel of K, token of V); kv/format.h, "Order of the
 * codes". */
static inline unsigned code_at(const unsigned char *codes, unsigned bits, size_t inner, size_t outer, size_t n_outer)
{
    const size_t block = 16 * 8 / bits, in_block = inner % block;
    const size_t byte = (inner / block * (n_outer / 4) + outer / 4) * 64 + in_block % 16 * 4 + outer % 4;
    return (unsigned)codes[byte] >> in_block / 16 * bits & ((1U << bits) - 1);
}

/* The place of a channel among the promoted ones; their number when it is not one. */
static size_t promoted_at(const struct scalar_page *page, unsigned channel)
{
    const unsigned char *list = page->bytes + page->layout->promoted;
    size_t i = 0;
    while (i < page->layout->n_promoted && list[i] != channel)
        i++;
    return i;
}

static inline void column_codes(const struct scalar_page *page, unsigned bits, unsigned channel, float *k)
{
    const struct ifm_kv_layout *l = page->layout;
    const float scale = half_at(page, l->k_scale, channel), zero = half_at(page, l->k_zero, channel);
    const size_t promoted = promoted_at(page, channel);
    for (size_t t = 0; t < page->tokens; t++) {
        unsigned code = code_at(page->bytes + l->k_codes, bits, t, channel, l->head_dim);
        if (promoted < l->n_promoted)
            code = 4 * code + code_at(page->bytes + l->k_low, bits, t, promoted, l->n_promoted);
        k[t] = zero + (float)code * scale;
    }
}

static inline void row_codes(const struct scalar_page *page, unsigned bits, unsigned token, float *v)
{
    const struct ifm_kv_layout *l = page->layout;
    const float scale = half_at(page, l->v_scale, token), middle = 0.5f * (float)((1U << bits) - 1);
    for (size_t d = 0; d < l->head_dim; d++) {
        const unsigned code = code_at(page->bytes + l->v_codes, bits, d, token, l->tokens);
        v[d] = scale * (bits == 8 ? (float)(int8_t)code : (float)code - middle);
    }
}

#define CODED(bits)                                                                                                    \
    static void column_int##bits(const struct scalar_page *page, unsigned channel, float *k)                           \
    {                                                                                                                  \
        column_codes(page, bits, channel, k);                                                                          \
    }                                                                                                                  \
    static void row_int##bits(const struct scalar_page *page, unsigned token, float *v)                                \
    {                                                                                                                  \
        row_codes(page, bits, token, v);                                                                               \
    }
CODED(8)
CODED(4)
CODED(2)

/* Scores of one head become weights relative to the running maximum; what was summed before is scaled to it. A score of
 * NaN does not move the maximum, but makes its weight and the total NaN. */
static void weigh(float *scores, unsigned tokens, size_t dim, float *top, float *total, float *sum)
{
    float high = *top;
    for (unsigned t = 0; t < tokens; t++)
        high = scores[t] > high ? scores[t] : high;
    const float keep = exp2f(*top - high);
    *top = high;
    *total *= keep;
    for (size_t d = 0; d < dim; d++)
        sum[d] *= keep;
    float added = 0;
    for (unsigned t = 0; t < tokens; t++) {
        scores[t] = exp2f(scores[t] - high);
        added += scores[t];
    }
    *total += added;
}

static inline void attend(const struct scalar_page *page, unsigned group, const float *query,
                          const struct ifm_kv_piece_sums *sums, float *scores, column_fn *column, row_fn *row)
{
    const unsigned dim = page->layout->head_dim, tokens = page->tokens;
    float values[IFM_KV_DIM_MOST];
    for (size_t i = 0; i < (size_t)group * IFM_KV_PAGE; i++)
        scores[i] = 0;
    for (unsigned d = 0; d < dim; d++) {
        column(page, d, values);
        for (size_t h = 0; h < group; h++)
            for (size_t t = 0; t < tokens; t++)
                scores[h * IFM_KV_PAGE + t] += query[h * dim + d] * values[t];
    }
    for (size_t h = 0; h < group; h++)
        weigh(scores + h * IFM_KV_PAGE, tokens, dim, &sums->top[h], &sums->total[h], sums->sum + h * dim);
    for (unsigned t = 0; t < tokens; t++) {
        row(page, t, values);
        for (size_t h = 0; h < group; h++)
            for (size_t d = 0; d < dim; d++)
                sums->sum[h * dim + d] += scores[h * IFM_KV_PAGE + t] * values[d];
    }
}

#define PAGE_FUNCTION(format)                                                                                          \
    void ifm_kv_attend_##format##_scalar(const struct ifm_kv_layout *layout, const void *page, unsigned tokens,        \
                                         unsigned group, const float *query, const struct ifm_kv_piece_sums *sums,     \
                                         void *scratch, const void *next)                                              \
    {                                                                                                                  \
        (void)next;                                                                                                    \
        const struct scalar_page p = {layout, page, tokens};                                                           \
        attend(&p, group, query, sums, scratch, column_##format, row_##format);                                        \
    }
PAGE_FUNCTION(f16)
PAGE_FUNCTION(int8)
PAGE_FUNCTION(e4m3)
PAGE_FUNCTION(int4)
PAGE_FUNCTION(int2)
