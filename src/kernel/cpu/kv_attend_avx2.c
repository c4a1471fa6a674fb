/* Attention over a page of the elastic cache: avx2, every format.
 *
 * f16 and e4m3 as in kv_attend_avx512.c: lanes are tokens for K and channels for V, tiles of 32 by two heads or 64 by
 * one. Codes: a word holds one byte of a pair of bytes, so that vpmaddwd multiplies two channels (tokens) by words of
 * the query folded with the channel scales (of the weights), rounded to 16 (15) bits; lanes are again tokens
 * (channels). Fields of a byte stay in their place and their sums are divided by 4, 16 or 64. All sums are exact and
 * below 2^31. */
#if defined(__x86_64__)
#include "kernel/cpu/kernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define IFM_INLINE static inline __attribute__((always_inline))

enum { LANES = 8, NARROW = 4, WIDE = 8, ACCUMULATORS = 8 }; /* NARROW, WIDE: vectors of a tile */

/* What a head keeps over one page. */
struct avx2_head {
    float scores[IFM_KV_PAGE];                                   /* then weights */
    int16_t even[IFM_KV_DIM_MOST / 2], odd[IFM_KV_DIM_MOST / 2]; /* q' of channels 0 and 2, 1 and 3 of each quad */
    int16_t low_even[IFM_LINE / 2], low_odd[IFM_LINE / 2];       /* the same of promoted channels' lower bits */
    int16_t weight_even[IFM_KV_PAGE / 2], weight_odd[IFM_KV_PAGE / 2]; /* by token, as the query by channel */
    float unit, base;                                                  /* score = unit * sum + base */
    float v_unit, v_mass; /* of the weights: unit, and unit times their sum */
    float keep;
    float padding[11];
};

struct avx2_call {
    const struct ifm_kv_layout *layout;
    const unsigned char *page, *next; /* next: the page that will be read after this one */
    unsigned tokens, group;
    const float *query;
    const struct ifm_kv_piece_sums *sums;
    float k_unit, v_unit;              /* e4m3: scales of the page */
    float *k_scale, *k_zero, *v_scale; /* codes: of channels and tokens */
    struct avx2_head *heads;
};

/* 2^x for x <= 0, relative error 1e-7 and its rounding; 0 below 2^-126, NaN for NaN. See kv_attend_body.h. */
IFM_INLINE __m256 exp2_lanes(__m256 x)
{
    const __m256 least = _mm256_set1_ps(-126.0f), lost = _mm256_cmp_ps(x, least, _CMP_LT_OQ);
    x = _mm256_max_ps(least, x);
    const __m256 n = _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), f = _mm256_sub_ps(x, n);
    __m256 p = _mm256_set1_ps(1.326472740e-3f);
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(9.671512656e-3f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(5.550733743e-2f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(2.402224209e-1f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(6.931469776e-1f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1.0f));
    const __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_andnot_ps(lost, _mm256_mul_ps(p, _mm256_castsi256_ps(power)));
}

IFM_INLINE float sum_lanes(__m256 x)
{
    float v[LANES];
    _mm256_storeu_ps(v, x);
    return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

IFM_INLINE float max_lanes(__m256 x)
{
    float v[LANES], most = -INFINITY;
    _mm256_storeu_ps(v, x);
    for (int i = 0; i < LANES; i++)
        most = v[i] > most ? v[i] : most;
    return most;
}

/* Scores of a head become weights relative to the running maximum. NaN does not move the maximum, but its weight is
 * NaN, and the total. */
static void weigh(const struct avx2_call *c, size_t h)
{
    struct avx2_head *head = &c->heads[h];
    float *top = &c->sums->top[h], *total = &c->sums->total[h];
    __m256 high = _mm256_set1_ps(*top), sum = _mm256_setzero_ps();
    for (size_t t = c->tokens; t < IFM_KV_PAGE; t++)
        head->scores[t] = -INFINITY;
    for (size_t t = 0; t < IFM_KV_PAGE; t += LANES)
        high = _mm256_max_ps(_mm256_load_ps(head->scores + t), high);
    const float highest = max_lanes(high);
    for (size_t t = 0; t < IFM_KV_PAGE; t += LANES) {
        const __m256 w = exp2_lanes(_mm256_sub_ps(_mm256_load_ps(head->scores + t), _mm256_set1_ps(highest)));
        _mm256_store_ps(head->scores + t, w);
        sum = _mm256_add_ps(sum, w);
    }
    head->keep = _mm256_cvtss_f32(exp2_lanes(_mm256_set1_ps(*top - highest)));
    *top = highest;
    *total = *total * head->keep + sum_lanes(sum);
}

/* Eight values; e4m3 times 2^-8, as its bits moved to the places that f16 has for them. */
IFM_INLINE __m256 load_values(const unsigned char *from, const int bytes)
{
    if (bytes == 2)
        return _mm256_cvtph_ps(_mm_load_si128((const __m128i *)(const void *)from));
    const __m128i wide = _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)from));
    const __m128i bits = _mm_and_si128(_mm_slli_epi16(wide, 7), _mm_set1_epi16((short)0xbf80));
    const __m128i nan = _mm_cmpeq_epi16(_mm_and_si128(bits, _mm_set1_epi16(0x3f80)), _mm_set1_epi16(0x3f80));
    return _mm256_cvtph_ps(_mm_or_si128(bits, nan));
}

enum { FAR = 10240 }; /* as in kv_attend_body.h */

/* Where reading ahead starts for rows from offset `at` of the page on; NULL where the hardware's prefetchers do as
 * well. With three heads and more they fall behind: rows are read in halves, once for each pair of heads. */
IFM_INLINE const unsigned char *far_ahead(const struct avx2_call *c, size_t at, size_t first)
{
    const size_t to = at + FAR;
    if (c->group < 3 || first > 0)
        return NULL;
    return to < c->layout->page_bytes ? c->page + to : c->next + (to - c->layout->page_bytes);
}

/* acc[h][w] += rows[i][8 w ...] * factor[h][i] over `n` rows, `row` bytes apart; factors of heads lie `stride` apart.
 * `ahead` runs along with the rows. */
IFM_INLINE void tile(const unsigned char *from, const unsigned char *ahead, size_t row, size_t n, const float *factor,
                     size_t stride, const int bytes, const int width, const int heads, __m256 *acc)
{
    for (int i = 0; i < heads * width; i++)
        acc[i] = _mm256_setzero_ps();
    for (size_t i = 0; i < n; i++, from += row) {
        __m256 x[WIDE];
        if (ahead != NULL)
            _mm_prefetch((const char *)ahead + i * row, _MM_HINT_T0);
        for (int w = 0; w < width; w++)
            x[w] = load_values(from + (size_t)(w * LANES * bytes), bytes);
        for (int h = 0; h < heads; h++) {
            const __m256 f = _mm256_set1_ps(factor[(size_t)h * stride + i]);
            for (int w = 0; w < width; w++)
                acc[h * width + w] = _mm256_fmadd_ps(x[w], f, acc[h * width + w]);
        }
    }
}

/* Scores of `width` vectors of tokens from `t` on. */
IFM_INLINE void score_tile(const struct avx2_call *c, size_t t, size_t first, const int bytes, const int width,
                           const int heads)
{
    const size_t dim = c->layout->head_dim, row = IFM_KV_WIDE * (size_t)bytes;
    const size_t at = c->layout->k_codes + t / IFM_KV_WIDE * dim * row + t % IFM_KV_WIDE * (size_t)bytes;
    __m256 acc[ACCUMULATORS];
    tile(c->page + at, far_ahead(c, at, first), row, dim, c->query + first * dim, dim, bytes, width, heads, acc);
    for (int h = 0; h < heads; h++)
        for (int w = 0; w < width; w++)
            _mm256_store_ps(c->heads[first + (size_t)h].scores + t + w * LANES,
                            _mm256_mul_ps(acc[h * width + w], _mm256_set1_ps(c->k_unit)));
}

/* Sums of `width` vectors of channels from `d` on. */
IFM_INLINE void value_tile(const struct avx2_call *c, size_t d, size_t first, const int bytes, const int width,
                           const int heads)
{
    const size_t dim = c->layout->head_dim, block = d / IFM_KV_WIDE * IFM_KV_WIDE;
    const size_t row = (dim - block < IFM_KV_WIDE ? dim - block : IFM_KV_WIDE) * (size_t)bytes;
    const size_t at = c->layout->v_codes + (block * c->layout->tokens + d - block) * (size_t)bytes;
    __m256 acc[ACCUMULATORS];
    tile(c->page + at, far_ahead(c, at, first), row, c->tokens, c->heads[first].scores,
         sizeof(struct avx2_head) / sizeof(float), bytes, width, heads, acc);
    for (int h = 0; h < heads; h++)
        for (int w = 0; w < width; w++) {
            float *sum = c->sums->sum + (first + (size_t)h) * dim + d + (size_t)(w * LANES);
            const __m256 x = _mm256_mul_ps(acc[h * width + w], _mm256_set1_ps(c->v_unit));
            const __m256 keep = _mm256_set1_ps(c->heads[first + (size_t)h].keep);
            _mm256_storeu_ps(sum, _mm256_fmadd_ps(_mm256_loadu_ps(sum), keep, x));
        }
}

IFM_INLINE void score_heads(const struct avx2_call *c, size_t t, const int bytes)
{
    if (c->group == 1) {
        score_tile(c, t, 0, bytes, WIDE, 1);
        return;
    }
    for (size_t half = t; half < t + IFM_KV_WIDE; half += NARROW * LANES) {
        size_t h = 0;
        for (; h + 2 <= c->group; h += 2)
            score_tile(c, half, h, bytes, NARROW, 2);
        if (h < c->group)
            score_tile(c, half, h, bytes, NARROW, 1);
    }
}

IFM_INLINE void value_heads(const struct avx2_call *c, size_t d, const int bytes)
{
    if (c->group == 1 && d + IFM_KV_WIDE <= c->layout->head_dim) {
        value_tile(c, d, 0, bytes, WIDE, 1);
        return;
    }
    for (size_t half = d; half < d + IFM_KV_WIDE && half < c->layout->head_dim; half += NARROW * LANES) {
        size_t h = 0;
        for (; h + 2 <= c->group; h += 2)
            value_tile(c, half, h, bytes, NARROW, 2);
        if (h < c->group)
            value_tile(c, half, h, bytes, NARROW, 1);
    }
}

IFM_INLINE void attend_plain(const struct avx2_call *c, const int bytes)
{
    for (size_t t = 0; t < c->tokens; t += IFM_KV_WIDE)
        score_heads(c, t, bytes);
    for (size_t h = 0; h < c->group; h++)
        weigh(c, h);
    for (size_t d = 0; d < c->layout->head_dim; d += IFM_KV_WIDE)
        value_heads(c, d, bytes);
}

IFM_INLINE __m256 halves_at(const struct avx2_call *c, size_t section, size_t i)
{
    return _mm256_cvtph_ps(_mm_load_si128((const __m128i *)(const void *)(c->page + section + i * 2)));
}

static void read_scales(const struct avx2_call *c)
{
    const struct ifm_kv_layout *l = c->layout;
    for (size_t d = 0; d < l->head_dim; d += LANES) {
        _mm256_store_ps(c->k_scale + d, halves_at(c, l->k_scale, d));
        _mm256_store_ps(c->k_zero + d, halves_at(c, l->k_zero, d));
    }
    for (size_t t = 0; t < IFM_KV_PAGE; t += LANES)
        _mm256_store_ps(c->v_scale + t, halves_at(c, l->v_scale, t));
    for (size_t t = c->tokens; t < IFM_KV_PAGE; t++)
        c->v_scale[t] = 0;
    for (size_t i = 0; i < l->n_promoted; i++)
        c->k_scale[c->page[l->promoted + i]] *= 4;
}

/* Value i in whole numbers of a unit, to its place in words for even and odd bytes; anything for NaN. */
IFM_INLINE int16_t put_word(float x, float per_unit, size_t i, int16_t *even, int16_t *odd)
{
    const int16_t whole = (int16_t)_mm_cvtss_si32(_mm_set_ss(x * per_unit));
    (i % 2 == 0 ? even : odd)[i / 2] = whole;
    return whole;
}

/* The query folded with the scales, in whole numbers, and what scores have to be added; see kv_attend_avx512vnni.c. */
static void fold_query(const struct avx2_call *c, size_t h, float middle)
{
    const size_t dim = c->layout->head_dim;
    const float *query = c->query + h * dim;
    struct avx2_head *head = &c->heads[h];
    float folded[IFM_KV_DIM_MOST], exact = 0, zeros = 0, most = 0;
    int32_t whole = 0;
    for (size_t d = 0; d < dim; d++) {
        folded[d] = query[d] * c->k_scale[d];
        zeros += query[d] * c->k_zero[d];
        exact += folded[d];
        most = fabsf(folded[d]) > most ? fabsf(folded[d]) : most;
    }
    head->unit = fmaxf(most / 32639, 0x1p-100f);
    const float per_unit = 1 / head->unit;
    for (size_t d = 0; d < dim; d++)
        whole += put_word(folded[d], per_unit, d, head->even, head->odd);
    for (size_t i = 0; i < c->layout->n_promoted; i++) {
        const float low = 0.25f * folded[c->page[c->layout->promoted + i]];
        exact += low;
        whole += put_word(low, per_unit, i, head->low_even, head->low_odd);
    }
    /* NaN and infinity are lost in whole numbers; exact - exact is NaN then. */
    head->base = zeros + middle * (exact - head->unit * (float)whole) + (exact - exact);
}

static void round_weights(const struct avx2_call *c, size_t h)
{
    struct avx2_head *head = &c->heads[h];
    float most = 0, nothing = 0;
    int32_t whole = 0;
    for (size_t t = 0; t < IFM_KV_PAGE; t++) {
        head->scores[t] *= c->v_scale[t];
        nothing += 0 * c->v_scale[t];
        most = head->scores[t] > most ? head->scores[t] : most;
    }
    head->v_unit = fmaxf(most, 0x1p-100f) / 32767;
    const float per_unit = 1 / head->v_unit;
    for (size_t t = 0; t < IFM_KV_PAGE; t++)
        whole += put_word(head->scores[t], per_unit, t, head->weight_even, head->weight_odd);
    head->v_mass = head->v_unit * (float)whole;
    head->v_unit += nothing; /* NaN once a scale is not finite */
}

IFM_INLINE __m256i pair_of(const int16_t *words, size_t i)
{
    int32_t pair;
    memcpy(&pair, words + 2 * i, sizeof pair);
    return _mm256_set1_epi32(pair);
}

/* Lower and upper bytes of words, field `f` in its place; `sign`: of whole signed bytes. */
IFM_INLINE void split(__m256i x, const int bits, const int f, const int sign, __m256i *even, __m256i *odd)
{
    if (sign) {
        *even = _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8);
        *odd = _mm256_srai_epi16(x, 8);
        return;
    }
    const __m256i mask = _mm256_set1_epi16((short)(((1 << bits) - 1) << (f * bits)));
    *even = _mm256_and_si256(x, mask);
    *odd = _mm256_and_si256(_mm256_srli_epi16(x, 8), mask);
}

/* acc[h][f][half] += `n` quads of codes from `from` on, times the words of each head, `stride` words apart. */
IFM_INLINE void add_quads(const unsigned char *from, size_t n, const int16_t *even, const int16_t *odd, size_t stride,
                          const int bits, const int sign, const int heads, __m256i *acc)
{
    const int fields = 8 / bits;
    for (size_t i = 0; i < n; i++, from += IFM_LINE)
        for (int half = 0; half < 2; half++) {
            const __m256i x = _mm256_load_si256((const __m256i *)(const void *)(from + 32 * half));
            for (int f = 0; f < fields; f++) {
                __m256i low, high;
                split(x, bits, f, sign, &low, &high);
                for (int h = 0; h < heads; h++) {
                    __m256i *sum = &acc[(h * fields + f) * 2 + half];
                    const __m256i a = _mm256_madd_epi16(low, pair_of(even + (size_t)h * stride, i));
                    const __m256i b = _mm256_madd_epi16(high, pair_of(odd + (size_t)h * stride, i));
                    *sum = _mm256_add_epi32(*sum, _mm256_add_epi32(a, b));
                }
            }
        }
}

enum { HEAD_WORDS = sizeof(struct avx2_head) / sizeof(int16_t) };

IFM_INLINE void score_block(const struct avx2_call *c, size_t block, size_t first, const int bits, const int heads)
{
    const struct ifm_kv_layout *l = c->layout;
    const size_t quads = l->head_dim / 4, low = l->n_promoted / 4;
    const int fields = 8 / bits;
    struct avx2_head *head = &c->heads[first];
    __m256i acc[ACCUMULATORS];
    for (int i = 0; i < heads * fields * 2; i++)
        acc[i] = _mm256_setzero_si256();
    add_quads(c->page + l->k_codes + block * quads * IFM_LINE, quads, head->even, head->odd, HEAD_WORDS, bits, 0, heads,
              acc);
    if (bits == 2)
        add_quads(c->page + l->k_low + block * low * IFM_LINE, low, head->low_even, head->low_odd, HEAD_WORDS, bits, 0,
                  heads, acc);
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < fields * 2; i++) {
            const __m256 unit = _mm256_set1_ps(head[h].unit / (float)(1 << (i / 2 * bits)));
            const __m256 sum = _mm256_cvtepi32_ps(acc[h * fields * 2 + i]);
            _mm256_store_ps(head[h].scores + block * (size_t)(fields * 2 * LANES) + i * LANES,
                            _mm256_fmadd_ps(sum, unit, _mm256_set1_ps(head[h].base)));
        }
}

IFM_INLINE void value_block(const struct avx2_call *c, size_t block, size_t first, const int bits, const int heads)
{
    const struct ifm_kv_layout *l = c->layout;
    const int fields = 8 / bits;
    const size_t dim = l->head_dim, from = block * (size_t)(fields * 2 * LANES);
    const float middle = bits == 8 ? 0 : 0.5f * (float)((1 << bits) - 1);
    const struct avx2_head *head = &c->heads[first];
    __m256i acc[ACCUMULATORS];
    for (int i = 0; i < heads * fields * 2; i++)
        acc[i] = _mm256_setzero_si256();
    add_quads(c->page + l->v_codes + block * (l->tokens / 4) * IFM_LINE, (c->tokens + 3) / 4, head->weight_even,
              head->weight_odd, HEAD_WORDS, bits, bits == 8, heads, acc);
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < fields * 2; i++) {
            if (from + (size_t)(i * LANES) >= dim)
                continue;
            float *to = c->sums->sum + (first + (size_t)h) * dim + from + (size_t)(i * LANES);
            const __m256 unit = _mm256_set1_ps(head[h].v_unit / (float)(1 << (i / 2 * bits)));
            const __m256 x = _mm256_fmsub_ps(_mm256_cvtepi32_ps(acc[h * fields * 2 + i]), unit,
                                             _mm256_set1_ps(middle * head[h].v_mass));
            _mm256_storeu_ps(to, _mm256_fmadd_ps(_mm256_loadu_ps(to), _mm256_set1_ps(head[h].keep), x));
        }
}

IFM_INLINE void attend_codes(const struct avx2_call *c, const int bits)
{
    const int heads = bits / 2; /* 4, 2, 1: the registers hold that many */
    const size_t block = (size_t)(8 / bits) * 2 * LANES;
    size_t h;
    read_scales(c);
    for (h = 0; h < c->group; h++)
        fold_query(c, h, 0.5f * (float)((1 << bits) - 1));
    for (size_t b = 0; b * block < c->tokens; b++) {
        for (h = 0; h + (size_t)heads <= c->group; h += (size_t)heads)
            score_block(c, b, h, bits, heads);
        for (; h < c->group; h++)
            score_block(c, b, h, bits, 1);
    }
    for (h = 0; h < c->group; h++) {
        weigh(c, h);
        round_weights(c, h);
    }
    for (size_t b = 0; b * block < c->layout->head_dim; b++) {
        for (h = 0; h + (size_t)heads <= c->group; h += (size_t)heads)
            value_block(c, b, h, bits, heads);
        for (; h < c->group; h++)
            value_block(c, b, h, bits, 1);
    }
}

IFM_INLINE struct avx2_call call_of(const struct ifm_kv_layout *layout, const void *page, unsigned tokens,
                                    unsigned group, const float *query, const struct ifm_kv_piece_sums *sums,
                                    void *scratch, const void *next)
{
    const size_t dim = layout->head_dim;
    float *floats = scratch;
    return (struct avx2_call){.layout = layout,
                              .page = page,
                              .next = next != NULL ? next : page,
                              .tokens = tokens,
                              .group = group,
                              .query = query,
                              .sums = sums,
                              .k_unit = 1,
                              .v_unit = 1,
                              .k_scale = floats,
                              .k_zero = floats + dim,
                              .v_scale = floats + 2 * dim,
                              .heads = (struct avx2_head *)(void *)(floats + 2 * dim + IFM_KV_PAGE)};
}

#define PAGE_FUNCTION(format, body)                                                                                    \
    void ifm_kv_attend_##format##_avx2(const struct ifm_kv_layout *layout, const void *page, unsigned tokens,          \
                                       unsigned group, const float *query, const struct ifm_kv_piece_sums *sums,       \
                                       void *scratch, const void *next)                                                \
    {                                                                                                                  \
        struct avx2_call c = call_of(layout, page, tokens, group, query, sums, scratch, next);                         \
        body;                                                                                                          \
    }

/* Scales of an e4m3 page, for values that load_values made 256 times too small. */
static void read_units(struct avx2_call *c)
{
    memcpy(&c->k_unit, c->page + c->layout->k_scale, sizeof c->k_unit);
    memcpy(&c->v_unit, c->page + c->layout->v_scale, sizeof c->v_unit);
    c->k_unit *= 256;
    c->v_unit *= 256;
}

PAGE_FUNCTION(f16, attend_plain(&c, 2))
PAGE_FUNCTION(e4m3, read_units(&c); attend_plain(&c, 1))
PAGE_FUNCTION(int8, attend_codes(&c, 8))
PAGE_FUNCTION(int4, attend_codes(&c, 4))
PAGE_FUNCTION(int2, attend_codes(&c, 2))
#endif
