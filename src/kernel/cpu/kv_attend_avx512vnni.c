/* Attention over a page of the elastic cache: avx512vnni, int8, int4 and int2, with exact sums of byte products.
 *
 * K: the query is folded with the channel scales of the page, q'_c = q_c s_c, and rounded to whole numbers of a unit,
 * so that codes (u8) times q' (s8) sum up exactly; four channels of 16 tokens an instruction. Zeros of the channels,
 * and what rounding left over times the middle code, are one number for the page and head. int8  unit = greatest |q'| /
 * 32639; q' = 256 high + low, both in every product. int4  unit = rms(q') / 40: below 3 rms a channel is one byte. What
 * is larger has a high byte, and only quads of channels that hold such a one are gone over twice. int2  the same with
 * rms(q') / 16. A unit adds rms(q') / R * sd(code) / sqrt(12) of error a channel to a score; the format itself adds
 * about rms(q') / sqrt(12). The spread of codes is about range / 5.5 for values like a normal distribution: 2.7 of 15,
 * so a twelfth of the format's error in int4; 1 of 3, a sixteenth, in int2. V: the weights p_t scale_t of a head in
 * whole numbers of a unit, 16 bits as two bytes for int8; for int4 and int2 eight bits, what rounding leaves over being
 * carried to the token 16 further on, so that no mass is lost however small the weights are. Codes are s8 here: fields
 * of a byte stay in their place (times 4, 16, 64), the uppermost as code - 8 or code - 2, which is what its sign bit,
 * flipped, makes of it.
 *
 * Cycles a token and head at least (Zen 4: one 512-bit vpdpbusd a cycle): int8 4 * 2 * D / 64, int4 2 * D / 64 and what
 * outliers add, int2 2 * D / 64 + D / 8 / 64. */
#if defined(__x86_64__)
#include "kernel/cpu/kv_attend_body.h"

#include <stdbool.h>

enum { HEADS = 4, FIELDS_MOST = 4, QUADS_MOST = IFM_KV_DIM_MOST / 4, LOW_MOST = IFM_KV_DIM_MOST / 8 };

/* A head over one page. */
struct head {
    float scores[IFM_KV_PAGE];
    int8_t low[IFM_KV_DIM_MOST], high[IFM_KV_DIM_MOST]; /* of q', by channel */
    int8_t promoted[2 * LOW_MOST];                      /* of q' times the lower bits of promoted channels */
    uint8_t weight[IFM_KV_PAGE], weight_high[IFM_KV_PAGE];
    uint32_t outlier[QUADS_MOST]; /* quads of channels that have a high byte */
    uint32_t n_outliers;
    float unit, base;     /* score = unit * sum + base */
    float v_unit, v_mass; /* of the weights: unit, and unit times their sum */
    float keep;
} __attribute__((aligned(64)));

struct call {
    const struct ifm_kv_layout *layout;
    struct stretch stretch;
    unsigned tokens, group;
    const float *query;
    const struct ifm_kv_piece_sums *sums;
    float *k_scale, *k_zero; /* [head_dim]; the scale of a promoted channel times 4 */
    float *v_scale;          /* [IFM_KV_PAGE] */
    struct head *heads;
};

IFM_INLINE __m512 halves_at(const unsigned char *page, size_t section, size_t i)
{
    return _mm512_cvtph_ps(_mm256_load_si256((const __m256i *)(const void *)(page + section + i * 2)));
}

/* Scales and zeros of the page as f32. */
IFM_INLINE void read_scales(const struct call *c, const int bits)
{
    const struct ifm_kv_layout *l = c->layout;
    const unsigned char *page = c->stretch.page;
    for (size_t d = 0; d < l->head_dim; d += LANES) {
        _mm512_store_ps(c->k_scale + d, halves_at(page, l->k_scale, d));
        _mm512_store_ps(c->k_zero + d, halves_at(page, l->k_zero, d));
    }
    for (size_t t = 0; t < IFM_KV_PAGE; t += LANES)
        _mm512_store_ps(c->v_scale + t, halves_at(page, l->v_scale, t));
    if (bits == 2)
        for (size_t i = 0; i < l->n_promoted; i++)
            c->k_scale[page[l->promoted + i]] *= 4;
}

IFM_INLINE void store_bytes(int8_t *to, __m512i x)
{
    _mm_storeu_si128((__m128i *)(void *)to, _mm512_cvtepi32_epi8(x));
}

/* The quads of channels that hold a high byte. */
IFM_INLINE void list_outliers(struct head *head, size_t dim)
{
    uint32_t n = 0;
    for (size_t d = 0; d < dim; d += 4 * LANES) {
        const __mmask16 there = dim - d >= 4 * LANES ? 0xffff : (__mmask16)((1U << ((dim - d) / 4)) - 1);
        const __m512i high = _mm512_maskz_loadu_epi32(there, head->high + d);
        for (unsigned mask = _mm512_test_epi32_mask(high, high); mask != 0; mask &= mask - 1)
            head->outlier[n++] = (uint32_t)(d / 4) + (uint32_t)__builtin_ctz(mask);
    }
    head->n_outliers = n;
}

/* q' in whole numbers of a unit, into `low` and `high`; returns the sum of what rounding left over, in units. */
IFM_INLINE __m512 round_query(const float *folded, size_t n, float per_unit, int8_t *low, int8_t *high)
{
    __m512 left = _mm512_setzero_ps();
    for (size_t d = 0; d < n; d += LANES) {
        const __m512 x = _mm512_mul_ps(_mm512_load_ps(folded + d), _mm512_set1_ps(per_unit));
        const __m512i whole = _mm512_cvtps_epi32(x);
        left = _mm512_add_ps(left, _mm512_sub_ps(x, _mm512_cvtepi32_ps(whole)));
        store_bytes(low + d, whole);
        if (high != NULL)
            store_bytes(high + d, _mm512_srai_epi32(_mm512_add_epi32(whole, _mm512_set1_epi32(128)), 8));
    }
    return left;
}

/* The lower bits of promoted channels weigh a quarter of the upper ones. They never need a high byte: |4 q'| is at most
 * sqrt(D) rms, so q' is at most 16 / 4 rms, and a byte holds almost 8. */
IFM_INLINE __m512 round_promoted(const struct call *c, const float *folded, float per_unit, struct head *head)
{
    float low[LOW_MOST + LANES] __attribute__((aligned(64)));
    const unsigned char *list = c->stretch.page + c->layout->promoted;
    const size_t n = c->layout->n_promoted;
    for (size_t i = 0; i < n; i++)
        low[i] = 0.25f * folded[list[i]];
    for (size_t i = n; i % LANES != 0; i++)
        low[i] = 0;
    return round_query(low, n, per_unit, head->promoted, NULL);
}

IFM_INLINE void fold_query(const struct call *c, size_t h, const int bits)
{
    const size_t dim = c->layout->head_dim;
    const float *query = c->query + h * dim, middle = 0.5f * (float)((1 << bits) - 1);
    struct head *head = &c->heads[h];
    float folded[IFM_KV_DIM_MOST] __attribute__((aligned(64)));
    __m512 squares = _mm512_setzero_ps(), zeros = squares, most = squares;
    for (size_t d = 0; d < dim; d += LANES) {
        const __m512 q = _mm512_loadu_ps(query + d), x = _mm512_mul_ps(q, _mm512_load_ps(c->k_scale + d));
        zeros = _mm512_fmadd_ps(q, _mm512_load_ps(c->k_zero + d), zeros);
        squares = _mm512_fmadd_ps(x, x, squares);
        most = _mm512_max_ps(_mm512_abs_ps(x), most);
        _mm512_store_ps(folded + d, x);
    }
    const float square = _mm512_reduce_add_ps(squares), greatest = _mm512_reduce_max_ps(most);
    float unit = greatest / 32639;
    if (bits < 8)
        unit = fmaxf(unit, sqrtf(square / (float)dim) / (bits == 4 ? 40 : 16));
    unit = fmaxf(unit, 0x1p-100f);
    const float per_unit = 1 / unit;
    __m512 left = round_query(folded, dim, per_unit, head->low, head->high);
    if (bits == 2)
        left = _mm512_add_ps(left, round_promoted(c, folded, per_unit, head));
    if (bits < 8)
        list_outliers(head, dim);
    /* A NaN in the query or a scale is lost in whole numbers, and an infinity too. */
    head->unit = square < INFINITY ? unit : NAN;
    head->base = _mm512_reduce_add_ps(_mm512_fmadd_ps(left, _mm512_set1_ps(unit * middle), zeros));
}

/* Fields of a byte, in their place. */
IFM_INLINE __m512i field(__m512i x, const int bits, const int f)
{
    return bits == 8 ? x : _mm512_and_si512(x, _mm512_set1_epi8((char)(((1 << bits) - 1) << (f * bits))));
}

/* The same for the s8 operand: the uppermost field with its upper bit flipped, which makes it signed. */
IFM_INLINE __m512i signed_field(__m512i x, const int bits, const int f)
{
    if (bits == 8 || (f + 1) * bits < 8)
        return field(x, bits, f);
    return field(_mm512_xor_si512(x, _mm512_set1_epi8(-128)), bits, f);
}

IFM_INLINE __m512i quad_of(const void *bytes, size_t i)
{
    int32_t quad;
    memcpy(&quad, (const char *)bytes + 4 * i, sizeof quad);
    return _mm512_set1_epi32(quad);
}

/* acc[h][f] += codes of `n` quads of channels times low bytes; int8: acc[heads + h] the high bytes. */
IFM_INLINE void score_quads(const struct call *c, size_t at, size_t n, const struct head *head, bool promoted,
                            const int bits, const int heads, __m512i *acc)
{
    const int fields = 8 / bits;
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++, at += IFM_LINE) {
        const __m512i x = _mm512_load_si512(c->stretch.page + at);
        read_ahead(&c->stretch, at);
        for (int f = 0; f < fields; f++) {
            const __m512i codes = field(x, bits, f);
            for (int h = 0; h < heads; h++) {
                __m512i *sum = &acc[h * fields + f];
                *sum = _mm512_dpbusd_epi32(*sum, codes, quad_of(promoted ? head[h].promoted : head[h].low, i));
                if (bits == 8)
                    acc[heads + h] = _mm512_dpbusd_epi32(acc[heads + h], codes, quad_of(head[h].high, i));
            }
        }
    }
}

/* The high bytes of a head's outliers. */
IFM_INLINE void score_outliers(const unsigned char *codes, const struct head *head, const int bits, __m512i *acc)
{
    const int fields = 8 / bits;
    for (uint32_t i = 0; i < head->n_outliers; i++) {
        const __m512i x = _mm512_load_si512(codes + head->outlier[i] * IFM_LINE);
        const __m512i q = quad_of(head->high, head->outlier[i]);
        for (int f = 0; f < fields; f++)
            acc[f] = _mm512_dpbusd_epi32(acc[f], field(x, bits, f), q);
    }
}

/* Scores of one block of tokens. */
IFM_INLINE void score_block(const struct call *c, size_t block, size_t first, const int bits, const int heads)
{
    const int fields = 8 / bits, n_acc = bits == 8 ? 2 * heads : fields * heads;
    const struct ifm_kv_layout *l = c->layout;
    const size_t quads = l->head_dim / 4, low = l->n_promoted / 4;
    const size_t at = l->k_codes + block * quads * IFM_LINE;
    struct head *head = &c->heads[first];
    __m512i acc[HEADS * FIELDS_MOST];
    for (int i = 0; i < n_acc; i++)
        acc[i] = _mm512_setzero_si512();
    score_quads(c, at, quads, head, false, bits, heads, acc);
    if (bits == 2)
        score_quads(c, l->k_low + block * low * IFM_LINE, low, head, true, bits, heads, acc);
    for (int h = 0; h < heads; h++) {
        __m512i high[FIELDS_MOST];
        for (int f = 0; f < fields; f++)
            high[f] = bits == 8 ? acc[heads + h] : _mm512_setzero_si512();
        if (bits < 8 && head[h].n_outliers > 0)
            score_outliers(c->stretch.page + at, &head[h], bits, high);
        for (int f = 0; f < fields; f++) {
            const __m512 unit = _mm512_set1_ps(head[h].unit / (float)(1 << (f * bits)));
            const __m512 sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(high[f]), _mm512_set1_ps(256),
                                               _mm512_cvtepi32_ps(acc[h * fields + f]));
            float *to = head[h].scores + (block * (size_t)fields + (size_t)f) * LANES;
            _mm512_store_ps(to, _mm512_fmadd_ps(sum, unit, _mm512_set1_ps(head[h].base)));
        }
    }
}

/* Weights in whole numbers of a unit. */
IFM_INLINE void round_weights(struct head *head, const __m512 *w, const int bits)
{
    __m512 most = _mm512_setzero_ps(), all = most;
    for (int i = 0; i < PAGE_VECTORS; i++) {
        most = _mm512_max_ps(w[i], most);
        all = _mm512_add_ps(w[i], all);
    }
    const float greatest = fmaxf(_mm512_reduce_max_ps(most), 0x1p-100f), levels = bits == 8 ? 65535 : 255;
    const __m512 per_unit = _mm512_set1_ps(levels / greatest);
    const float sum = _mm512_reduce_add_ps(all);
    __m512 carry = _mm512_setzero_ps();
    __m512i mass = _mm512_setzero_si512();
    for (int i = 0; i < PAGE_VECTORS; i++) {
        const __m512 x = _mm512_fmadd_ps(w[i], per_unit, carry);
        const __m512i whole = _mm512_min_epi32(_mm512_cvtps_epi32(x), _mm512_set1_epi32((int)levels));
        store_bytes((int8_t *)head->weight + i * LANES, whole);
        if (bits == 8) {
            store_bytes((int8_t *)head->weight_high + i * LANES, _mm512_srli_epi32(whole, 8));
        } else {
            carry = _mm512_sub_ps(x, _mm512_cvtepi32_ps(whole));
            mass = _mm512_add_epi32(mass, whole);
        }
    }
    head->v_unit = sum < INFINITY ? greatest / levels : NAN; /* NaN and infinity are lost in whole numbers */
    head->v_mass = bits == 8 ? 0 : head->v_unit * (float)_mm512_reduce_add_epi32(mass);
}

IFM_INLINE void weigh_head(const struct call *c, size_t h, const int bits)
{
    struct head *head = &c->heads[h];
    __m512 s[PAGE_VECTORS];
    for (int i = 0; i < PAGE_VECTORS; i++)
        s[i] = _mm512_load_ps(head->scores + i * LANES);
    mask_scores(s, c->tokens);
    head->keep = weigh(s, &c->sums->top[h], &c->sums->total[h]);
    for (unsigned i = 0; i < PAGE_VECTORS; i++) {
        const unsigned left = c->tokens > i * LANES ? c->tokens - i * LANES : 0;
        const __mmask16 filled = left >= LANES ? 0xffff : (__mmask16)((1U << left) - 1);
        s[i] = _mm512_maskz_mul_ps(filled, s[i], _mm512_load_ps(c->v_scale + i * LANES));
    }
    round_weights(head, s, bits);
}

/* Sums of one block of channels. */
IFM_INLINE void value_block(const struct call *c, size_t block, size_t first, const int bits, const int heads)
{
    const int fields = 8 / bits, n_acc = bits == 8 ? 2 * heads : fields * heads;
    const struct ifm_kv_layout *l = c->layout;
    const size_t dim = l->head_dim, quads = (c->tokens + 3) / 4, from = block * (size_t)fields * LANES;
    const struct head *head = &c->heads[first];
    size_t at = l->v_codes + block * (l->tokens / 4) * IFM_LINE;
    __m512i acc[HEADS * FIELDS_MOST];
    for (int i = 0; i < n_acc; i++)
        acc[i] = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (size_t i = 0; i < quads; i++, at += IFM_LINE) {
        const __m512i x = _mm512_load_si512(c->stretch.page + at);
        read_ahead(&c->stretch, at);
        for (int h = 0; h < heads; h++) {
            const __m512i weight = quad_of(head[h].weight, i);
            for (int f = 0; f < fields; f++) {
                __m512i *sum = &acc[h * fields + f];
                *sum = _mm512_dpbusd_epi32(*sum, weight, signed_field(x, bits, f));
            }
            if (bits == 8)
                acc[heads + h] = _mm512_dpbusd_epi32(acc[heads + h], quad_of(head[h].weight_high, i), x);
        }
    }
    for (int h = 0; h < heads; h++)
        for (int f = 0; f < fields && from + (size_t)(f * LANES) < dim; f++) {
            float *to = c->sums->sum + (first + (size_t)h) * dim + from + (size_t)(f * LANES);
            const float middle = f + 1 == fields ? 0.5f : -0.5f * (float)((1 << bits) - 1);
            __m512 x = _mm512_cvtepi32_ps(acc[h * fields + f]);
            if (bits == 8)
                x = _mm512_fmadd_ps(_mm512_cvtepi32_ps(acc[heads + h]), _mm512_set1_ps(256), x);
            x = _mm512_mul_ps(x, _mm512_set1_ps(head[h].v_unit / (float)(1 << (f * bits))));
            x = _mm512_add_ps(x, _mm512_set1_ps(bits == 8 ? 0 : head[h].v_mass * middle));
            _mm512_storeu_ps(to, _mm512_fmadd_ps(_mm512_loadu_ps(to), _mm512_set1_ps(head[h].keep), x));
        }
}

IFM_INLINE void blocks_of_heads(const struct call *c, size_t block, const int bits, const bool values)
{
    size_t h = 0;
    for (; h + HEADS <= c->group; h += HEADS)
        values ? value_block(c, block, h, bits, HEADS) : score_block(c, block, h, bits, HEADS);
    if (h + 2 <= c->group) {
        values ? value_block(c, block, h, bits, 2) : score_block(c, block, h, bits, 2);
        h += 2;
    }
    if (h < c->group)
        values ? value_block(c, block, h, bits, 1) : score_block(c, block, h, bits, 1);
}

IFM_INLINE void attend(const struct call *c, const int bits)
{
    const size_t block = (size_t)(8 / bits) * LANES;
    read_scales(c, bits);
    for (size_t h = 0; h < c->group; h++)
        fold_query(c, h, bits);
    for (size_t b = 0; b * block < c->tokens; b++)
        blocks_of_heads(c, b, bits, false);
    for (size_t h = 0; h < c->group; h++)
        weigh_head(c, h, bits);
    for (size_t b = 0; b * block < c->layout->head_dim; b++)
        blocks_of_heads(c, b, bits, true);
}

IFM_INLINE struct call call_of(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                               const float *query, const struct ifm_kv_piece_sums *sums, void *scratch,
                               const void *next)
{
    float *floats = scratch;
    return (struct call){.layout = layout,
                         .stretch = {page, next != NULL ? next : page, layout->page_bytes},
                         .tokens = tokens,
                         .group = group,
                         .query = query,
                         .sums = sums,
                         .k_scale = floats,
                         .k_zero = floats + layout->head_dim,
                         .v_scale = floats + 2 * (size_t)layout->head_dim,
                         .heads = (struct head *)(void *)(floats + 2 * (size_t)layout->head_dim + IFM_KV_PAGE)};
}

#define PAGE_FUNCTION(bits)                                                                                            \
    void ifm_kv_attend_int##bits##_avx512vnni(const struct ifm_kv_layout *layout, const void *page, unsigned tokens,   \
                                              unsigned group, const float *query,                                      \
                                              const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)   \
    {                                                                                                                  \
        const struct call c = call_of(layout, page, tokens, group, query, sums, scratch, next);                        \
        attend(&c, bits);                                                                                              \
    }
PAGE_FUNCTION(8)
PAGE_FUNCTION(4)
PAGE_FUNCTION(2)
#endif
