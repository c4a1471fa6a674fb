/* Attention over a page of the elastic cache: avx512vnni, int8, int4 and int2, with exact sums of byte products.
 *
 * K: the query is folded with the channel scales of the page, q'_c = q_c s_c, and rounded to whole numbers of a unit,
 * so that codes (u8) times q' (s8) sum up exactly, four channels of 16 tokens an instruction. Zeros of the channels,
 * and what rounding left over times the middle code, are one number for the page and head.
 *
 * The unit of int8 is the greatest |q'| / 32639, and q' = 256 high + low takes two products. The unit of int4 is
 * rms(q') / 52: below 2.4 rms a channel fits a byte, and only the quads of channels that hold a larger one are gone
 * over again for the high byte. int2 does the same with rms(q') / 16. The root is an approximate one.
 *
 * The error that a unit of rms(q') / R adds to a score is rms(q') / R * sd(code) / sqrt(12) a channel; that of the
 * format itself is about rms(q') / sqrt(12). Codes of normal-like values spread by about 3 (int4) and 1 (int2), which
 * makes a seventeenth and a sixteenth of the format's error.
 *
 * V: the weights p_t scale_t of a head are rounded to whole numbers of a unit, for int8 to 16 bits in two bytes, for
 * int4 and int2 to eight bits. The unit comes from a bound, the greatest p times the greatest scale, so that weighing
 * and rounding are one pass that waits for no maximum. With eight bits, what rounding leaves over is carried to the
 * token 16 further on, so that no mass is lost however small the weights are. Codes are s8 here: the fields of a byte
 * stay in their place (times 4, 16, 64), the uppermost one as code - 8 or code - 2, which is what its flipped sign bit
 * makes of it.
 *
 * Measured over such pages (test_kernel_kv_attend), the kernel's error is 0.009 (int8), 0.096 (int4) and 0.063 (int2)
 * of the format's own.
 *
 * Cycles a token and head at least (Zen 4: one 512-bit vpdpbusd a cycle): int8 4 D / 64, int4 2 D / 64 and what
 * outliers add, int2 (2 D + D / 8) / 64. */
#if defined(__x86_64__)
#include "kernel/cpu/kv_attend_body.h"

enum { HEADS = 4, FIELDS_MOST = 4, QUADS_MOST = IFM_KV_DIM_MOST / 4, FOUR = 4 * LANES };

/* A head over one page. */
struct vnni_head {
    float scores[IFM_KV_PAGE];                          /* then weights */
    int8_t low[IFM_KV_DIM_MOST], high[IFM_KV_DIM_MOST]; /* of q', by channel */
    int8_t promoted[IFM_LINE];                          /* of q' times the lower bits of promoted channels */
    uint8_t weight[IFM_KV_PAGE], weight_high[IFM_KV_PAGE];
    __m512 zeros;                 /* lanes whose sum is q times the channels' zeros */
    uint32_t outlier[QUADS_MOST]; /* quads of channels that have a high byte */
    uint32_t n_outliers;
    float unit, per_unit; /* of q' */
    float base;           /* score = unit * sum + base */
    float v_unit, v_mass; /* of the weights: unit, and unit times their sum */
    float keep;
    float most; /* the page's greatest score */
};

struct vnni_call {
    const struct ifm_kv_layout *layout;
    struct attend_stretch stretch;
    unsigned tokens, group;
    float per_dim; /* 1 / head_dim */
    const float *query;
    const struct ifm_kv_piece_sums *sums;
    float *k_scale, *k_zero; /* [head_dim]; the scale of a promoted channel times 4 */
    float *v_scale;          /* [IFM_KV_PAGE] */
    float *folded;           /* [group][IFM_KV_DIM_MOST]: q', zero from head_dim on */
    struct vnni_head *heads;
    float *v_nothing; /* 0; NaN where a scale of V is not finite */
    float *v_shift;   /* log2 of how many units a weight of 1 has, for the greatest scale of V */
};

/* Lanes of slots that hold a token; the others are zero. */
IFM_INLINE __m512 filled_lanes(const struct vnni_call *c, size_t slot, __m512 x)
{
    const size_t left = c->tokens > slot ? c->tokens - slot : 0;
    return left >= LANES ? x : _mm512_maskz_mov_ps((__mmask16)((1U << left) - 1), x);
}

IFM_INLINE __m512 halves_at(const unsigned char *page, size_t section, size_t i)
{
    return _mm512_cvtph_ps(_mm256_load_si256((const __m256i *)(const void *)(page + section + i * 2)));
}

/* log2 of what makes `greatest` the greatest whole number or a little less. The bits of a float, read as a number of
 * fixed point, are its log2 but for what a parabola leaves at most 0.008 of. */
IFM_INLINE float shift_of(float greatest, const int bits)
{
    int32_t fixed;
    greatest = fmaxf(greatest, 0x1p-100f);
    memcpy(&fixed, &greatest, sizeof fixed);
    const float part = (float)(fixed & 0x7fffff) * 0x1p-23f;
    const float log2 = (float)(fixed - 0x3f800000) * 0x1p-23f + 0.344f * part * (1 - part);
    return (bits == 8 ? 15.999f : 7.988f) - (log2 + 0.009f);
}

/* Scales and zeros of the page as f32. */
IFM_INLINE void read_scales(const struct vnni_call *c, const int bits)
{
    const struct ifm_kv_layout *l = c->layout;
    const unsigned char *page = c->stretch.page;
    __m512 nothing = _mm512_setzero_ps(); /* 0, or NaN once a scale is not finite */
    __m512 greatest = _mm512_setzero_ps();
    for (size_t d = 0; d < l->head_dim; d += LANES) {
        _mm512_store_ps(c->k_scale + d, halves_at(page, l->k_scale, d));
        _mm512_store_ps(c->k_zero + d, halves_at(page, l->k_zero, d));
    }
    for (size_t t = 0; t < IFM_KV_PAGE; t += LANES) {
        const __m512 scale = filled_lanes(c, t, halves_at(page, l->v_scale, t));
        greatest = _mm512_max_ps(scale, greatest);
        nothing = _mm512_fmadd_ps(scale, _mm512_setzero_ps(), nothing);
        _mm512_store_ps(c->v_scale + t, scale);
    }
    *c->v_nothing = _mm512_reduce_add_ps(nothing);
    *c->v_shift = shift_of(_mm512_reduce_max_ps(greatest), bits);
    if (bits == 2)
        for (size_t i = 0; i < l->n_promoted; i++)
            c->k_scale[page[l->promoted + i]] *= 4;
}

/* The low bytes of four vectors, in order. */
IFM_INLINE __m512i pack_low(__m512i a, __m512i b, __m512i order)
{
    const __m512i byte = _mm512_set1_epi16(0xff);
    return _mm512_permutexvar_epi32(order, _mm512_packus_epi16(_mm512_and_si512(a, byte), _mm512_and_si512(b, byte)));
}

/* The high bytes, of whole numbers 256 high + low with low in [-128, 127]. */
IFM_INLINE __m512i pack_high(__m512i a, __m512i b, __m512i order)
{
    const __m512i half = _mm512_set1_epi16(128);
    return _mm512_permutexvar_epi32(order, _mm512_packs_epi16(_mm512_srai_epi16(_mm512_add_epi16(a, half), 8),
                                                              _mm512_srai_epi16(_mm512_add_epi16(b, half), 8)));
}

/* The order in which the packs leave dwords of four vectors: a 4 x 4 transposition. */
IFM_INLINE __m512i pack_order(void)
{
    return _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
}

struct rounded {
    __m512 exact;      /* lanes of the sum of what was rounded */
    __m512i low, high; /* lanes of sums of the low and high bytes */
};

/* `n` values, a multiple of 64, in whole numbers of a unit. `high` NULL: no value needs one. */
IFM_INLINE void round_query(const float *x, size_t n, float per_unit, int8_t *low, int8_t *high, struct rounded *r)
{
    const __m512i order = pack_order(), one = _mm512_set1_epi8(1);
    const __m512 factor = _mm512_set1_ps(per_unit);
    for (size_t d = 0; d < n; d += FOUR) {
        __m512i whole[4];
        for (int i = 0; i < 4; i++) {
            const __m512 value = _mm512_loadu_ps(x + d + (size_t)(i * LANES));
            r->exact = _mm512_add_ps(r->exact, value);
            whole[i] = _mm512_cvtps_epi32(_mm512_mul_ps(value, factor));
        }
        const __m512i a = _mm512_packs_epi32(whole[0], whole[1]), b = _mm512_packs_epi32(whole[2], whole[3]);
        const __m512i bytes = pack_low(a, b, order);
        _mm512_storeu_si512(low + d, bytes);
        r->low = _mm512_dpbusd_epi32(r->low, one, bytes);
        if (high == NULL)
            continue;
        const __m512i more = pack_high(a, b, order);
        _mm512_storeu_si512(high + d, more);
        r->high = _mm512_dpbusd_epi32(r->high, one, more);
    }
}

/* The quads of channels that hold a high byte. */
IFM_INLINE void list_outliers(struct vnni_head *head, size_t dim)
{
    uint32_t n = 0;
    for (size_t d = 0; d < dim; d += FOUR) {
        const __m512i high = _mm512_loadu_si512(head->high + d);
        for (unsigned mask = _mm512_test_epi32_mask(high, high); mask != 0; mask &= mask - 1)
            head->outlier[n++] = (uint32_t)(d / 4) + (uint32_t)__builtin_ctz(mask);
    }
    head->n_outliers = n;
}

/* One over the unit; an approximate root does, as any unit near the one wanted does. */
IFM_INLINE float per_unit_of(float greatest, float per_dim, const int bits)
{
    if (bits == 8)
        return 32639 / fmaxf(greatest, 0x1p-80f);
    const __m128 mean = _mm_set_ss(greatest * per_dim + 0x1p-120f);
    return _mm_cvtss_f32(_mm_rsqrt14_ss(mean, mean)) * (bits == 4 ? 52 : 16);
}

/* q' and the unit of a head. A NaN in the query or a scale would be lost in whole numbers, and infinity: the unit
 * carries it. */
IFM_INLINE void fold_query(const struct vnni_call *c, size_t h, const int bits)
{
    const size_t dim = c->layout->head_dim;
    const float *query = c->query + h * dim;
    float *folded = c->folded + h * IFM_KV_DIM_MOST;
    struct vnni_head *head = &c->heads[h];
    __m512 squares = _mm512_setzero_ps(), zeros = squares, most = squares;
    for (size_t d = 0; d < dim; d += LANES) {
        const __m512 q = _mm512_loadu_ps(query + d), x = _mm512_mul_ps(q, _mm512_load_ps(c->k_scale + d));
        zeros = _mm512_fmadd_ps(q, _mm512_load_ps(c->k_zero + d), zeros);
        squares = _mm512_fmadd_ps(x, x, squares);
        if (bits == 8)
            most = _mm512_max_ps(_mm512_abs_ps(x), most);
        _mm512_store_ps(folded + d, x);
    }
    for (size_t d = dim; d % FOUR != 0; d += LANES)
        _mm512_store_ps(folded + d, _mm512_setzero_ps());
    head->zeros = zeros;
    const float square = _mm512_reduce_add_ps(squares);
    const float greatest = bits == 8 ? _mm512_reduce_max_ps(most) : square;
    head->per_unit = per_unit_of(greatest, c->per_dim, bits);
    head->unit = square < INFINITY ? 1 / head->per_unit : NAN;
}

/* folded[at[i]] for sixteen channels. */
IFM_INLINE __m512 pick(const float *folded, size_t dim, __m512i at)
{
    const __m512i pair = _mm512_srli_epi32(at, 5);
    __m512 x = _mm512_setzero_ps();
    for (size_t d = 0; d < dim; d += 2 * LANES) {
        const __m512 two = _mm512_permutex2var_ps(_mm512_load_ps(folded + d), at, _mm512_load_ps(folded + d + LANES));
        x = _mm512_mask_mov_ps(x, _mm512_cmpeq_epi32_mask(pair, _mm512_set1_epi32((int)(d / (2 * LANES)))), two);
    }
    return x;
}

/* The lower bits of promoted channels weigh a quarter of the upper ones. They never need a high byte: |4 q'| is at most
 * sqrt(D) rms, so q' is at most 16 / 4 rms, and a byte holds almost 8. */
IFM_INLINE void round_promoted(const struct vnni_call *c, const float *folded, float per_unit, struct vnni_head *head,
                               struct rounded *r)
{
    const unsigned char *list = c->stretch.page + c->layout->promoted;
    const unsigned n = c->layout->n_promoted;
    for (unsigned i = 0; i < n; i += LANES) { /* 4, 8, 12, ... 32 of them */
        const __mmask16 there = n - i >= LANES ? 0xffff : (__mmask16)((1U << (n - i)) - 1);
        const __m512i at = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(list + i)));
        const __m512 x = _mm512_maskz_mul_ps(there, pick(folded, c->layout->head_dim, at), _mm512_set1_ps(0.25f));
        const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(x, _mm512_set1_ps(per_unit)));
        _mm_storeu_si128((__m128i *)(void *)(head->promoted + i), _mm512_cvtepi32_epi8(whole));
        r->exact = _mm512_add_ps(r->exact, x);
        r->low = _mm512_add_epi32(r->low, whole);
    }
}

/* q' in whole numbers, and the part of scores that they leave to be added. */
IFM_INLINE void round_head(const struct vnni_call *c, size_t h, const int bits)
{
    const size_t dim = c->layout->head_dim, padded = (dim + FOUR - 1) / FOUR * FOUR;
    const float *folded = c->folded + h * IFM_KV_DIM_MOST, middle = 0.5f * (float)((1 << bits) - 1);
    struct vnni_head *head = &c->heads[h];
    struct rounded r = {_mm512_setzero_ps(), _mm512_setzero_si512(), _mm512_setzero_si512()};
    const float per_unit = head->per_unit;
    round_query(folded, padded, per_unit, head->low, head->high, &r);
    if (bits == 2)
        round_promoted(c, folded, per_unit, head, &r);
    if (bits < 8)
        list_outliers(head, padded);
    const __m512 whole = _mm512_cvtepi32_ps(_mm512_add_epi32(r.low, _mm512_slli_epi32(r.high, 8)));
    const __m512 left = _mm512_fnmadd_ps(whole, _mm512_set1_ps(head->unit), r.exact);
    head->base = _mm512_reduce_add_ps(_mm512_fmadd_ps(left, _mm512_set1_ps(middle), head->zeros));
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

/* Where reading ahead starts for lines from `at` on; a stretch of lines may run past the end of the next page by less
 * than a block, which no load follows. */
IFM_INLINE const unsigned char *ahead_of(const struct attend_stretch *s, size_t at, const int heads)
{
    return heads > 2 ? place_after(s, at, FAR) : s->page + at + NEAR;
}

/* acc[h][f] += codes of `n` quads of channels times low bytes; int8: acc[heads + h] the high bytes. The loop has sums
 * of its own, as gcc moves sums of two loops from register to register. */
IFM_INLINE void score_quads(const struct vnni_call *c, size_t at, size_t n, const struct vnni_head *head, bool promoted,
                            const int bits, const int heads, __m512i *acc)
{
    const int fields = 8 / bits, n_acc = bits == 8 ? 2 * heads : fields * heads;
    const unsigned char *from = c->stretch.page + at, *ahead = ahead_of(&c->stretch, at, heads);
    __m512i sum[HEADS * FIELDS_MOST];
    for (int i = 0; i < n_acc; i++)
        sum[i] = acc[i];
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) {
        const __m512i x = _mm512_load_si512(from + i * IFM_LINE);
        _mm_prefetch((const char *)ahead + i * IFM_LINE, _MM_HINT_T0);
        for (int f = 0; f < fields; f++) {
            const __m512i codes = field(x, bits, f);
            for (int h = 0; h < heads; h++) {
                __m512i *to = &sum[h * fields + f];
                *to = _mm512_dpbusd_epi32(*to, codes, quad_of(promoted ? head[h].promoted : head[h].low, i));
                if (bits == 8)
                    to[heads] = _mm512_dpbusd_epi32(to[heads], codes, quad_of(head[h].high, i));
            }
        }
    }
    for (int i = 0; i < n_acc; i++)
        acc[i] = sum[i];
}

/* The high bytes of a head's outliers. */
IFM_INLINE void score_outliers(const unsigned char *codes, const struct vnni_head *head, const int bits, __m512i *acc)
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
IFM_INLINE void score_block(const struct vnni_call *c, size_t block, size_t first, const int bits, const int heads)
{
    const int fields = 8 / bits, n_acc = bits == 8 ? 2 * heads : fields * heads;
    const struct ifm_kv_layout *l = c->layout;
    const size_t quads = l->head_dim / 4, low = l->n_promoted / 4;
    const size_t at = l->k_codes + block * quads * IFM_LINE;
    struct vnni_head *head = &c->heads[first];
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

/* Scores become weights times the scales of their tokens, in whole numbers of a unit that a bound gives, so that
 * nothing waits for the greatest of them: p_t scale_t is at most 2^(most - top) times the greatest scale. The unit goes
 * into the exponent: 2^(score - most + v_shift) is a weight over the unit. Carrying what rounding leaves over is
 * rounding the sums of all weights up to each token, and taking differences. */
IFM_INLINE void weigh_head(const struct vnni_call *c, size_t h, const int bits)
{
    struct vnni_head *head = &c->heads[h];
    const float shift = *c->v_shift - head->most;
    const __m512 shifts = _mm512_set1_ps(shift);
    __m512 total = _mm512_setzero_ps(), sum = total;
    __m512i before = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int t = 0; t < IFM_KV_PAGE; t += LANES) {
        const __m512 x = _mm512_add_ps(_mm512_load_ps(head->scores + t), shifts);
        const __m512 weight = bits == 8 ? exp2_closely(x) : exp2_roughly(x), scale = _mm512_load_ps(c->v_scale + t);
        total = _mm512_add_ps(total, weight);
        __m512i whole;
        if (bits == 8) {
            whole = _mm512_cvtps_epi32(_mm512_mul_ps(weight, scale));
            _mm_store_si128((__m128i *)(void *)(head->weight_high + t),
                            _mm512_cvtepi32_epi8(_mm512_srli_epi32(whole, 8)));
        } else {
            sum = _mm512_fmadd_ps(weight, scale, sum);
            const __m512i upto = _mm512_cvtps_epi32(sum);
            whole = _mm512_sub_epi32(upto, before);
            before = upto;
        }
        _mm_store_si128((__m128i *)(void *)(head->weight + t), _mm512_cvtepi32_epi8(whole));
    }
    const float unit = _mm512_cvtss_f32(exp2_lanes(_mm512_set1_ps(-shift - c->sums->top[h])));
    /* The last term is 0, or NaN for a page whose scores are NaN. */
    c->sums->total[h] = c->sums->total[h] * head->keep + _mm512_reduce_add_ps(total) * unit + (head->base - head->base);
    head->v_mass = bits == 8 ? 0 : unit * _mm512_reduce_add_ps(_mm512_cvtepi32_ps(before));
    head->v_unit = unit + *c->v_nothing;
}

/* acc[h][f] := codes of all quads of tokens times weights, as score_quads. */
IFM_INLINE void value_quads(const struct vnni_call *c, size_t at, const struct vnni_head *head, const int bits,
                            const int heads, __m512i *acc)
{
    const int fields = 8 / bits, n_acc = bits == 8 ? 2 * heads : fields * heads;
    const unsigned char *from = c->stretch.page + at, *ahead = ahead_of(&c->stretch, at, heads);
    const size_t quads = (c->tokens + 3) / 4;
    __m512i sum[HEADS * FIELDS_MOST];
    for (int i = 0; i < n_acc; i++)
        sum[i] = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (size_t i = 0; i < quads; i++) {
        const __m512i x = _mm512_load_si512(from + i * IFM_LINE);
        _mm_prefetch((const char *)ahead + i * IFM_LINE, _MM_HINT_T0);
        for (int h = 0; h < heads; h++) {
            const __m512i weight = quad_of(head[h].weight, i);
            for (int f = 0; f < fields; f++) {
                __m512i *to = &sum[h * fields + f];
                *to = _mm512_dpbusd_epi32(*to, weight, signed_field(x, bits, f));
            }
            if (bits == 8)
                sum[heads + h] = _mm512_dpbusd_epi32(sum[heads + h], quad_of(head[h].weight_high, i), x);
        }
    }
    for (int i = 0; i < n_acc; i++)
        acc[i] = sum[i];
}

/* Sums of one block of channels. */
IFM_INLINE void value_block(const struct vnni_call *c, size_t block, size_t first, const int bits, const int heads)
{
    const int fields = 8 / bits;
    const struct ifm_kv_layout *l = c->layout;
    const size_t dim = l->head_dim, from = block * (size_t)fields * LANES;
    const struct vnni_head *head = &c->heads[first];
    __m512i acc[HEADS * FIELDS_MOST];
    value_quads(c, l->v_codes + block * (l->tokens / 4) * IFM_LINE, head, bits, heads, acc);
    for (int h = 0; h < heads; h++)
        for (int f = 0; f < fields; f++) {
            if (from + (size_t)(f * LANES) >= dim)
                continue;
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

IFM_INLINE void blocks_of_heads(const struct vnni_call *c, size_t block, const int bits, const bool values)
{
    size_t h = 0;
    for (; h + HEADS <= c->group; h += HEADS)
        values ? value_block(c, block, h, bits, HEADS) : score_block(c, block, h, bits, HEADS);
    if (c->group - h == 3)
        values ? value_block(c, block, h, bits, 3) : score_block(c, block, h, bits, 3);
    else if (c->group - h == 2)
        values ? value_block(c, block, h, bits, 2) : score_block(c, block, h, bits, 2);
    else if (c->group - h == 1)
        values ? value_block(c, block, h, bits, 1) : score_block(c, block, h, bits, 1);
}

IFM_INLINE void attend(const struct vnni_call *c, const int bits)
{
    const size_t block = (size_t)(8 / bits) * LANES;
    read_scales(c, bits);
    for (size_t h = 0; h < c->group; h++)
        fold_query(c, h, bits);
    for (size_t h = 0; h < c->group; h++)
        round_head(c, h, bits);
    for (size_t b = 0; b * block < c->tokens; b++)
        blocks_of_heads(c, b, bits, false);
    for (size_t h = 0; h < c->group; h++) {
        struct vnni_head *head = &c->heads[h];
        head->keep = raise_top(head->scores, c->tokens, &c->sums->top[h], &head->most);
    }
    for (size_t h = 0; h < c->group; h++)
        weigh_head(c, h, bits);
    for (size_t b = 0; b * block < c->layout->head_dim; b++)
        blocks_of_heads(c, b, bits, true);
}

IFM_INLINE struct vnni_call call_of(const struct ifm_kv_layout *layout, const void *page, unsigned tokens,
                                    unsigned group, const float *query, const struct ifm_kv_piece_sums *sums,
                                    void *scratch, const void *next)
{
    const size_t dim = layout->head_dim;
    float *floats = scratch;
    struct vnni_head *heads = (struct vnni_head *)(void *)(floats + 2 * dim + IFM_KV_PAGE + LANES);
    return (struct vnni_call){.layout = layout,
                              .stretch = {page, next != NULL ? next : page, layout->page_bytes},
                              .tokens = tokens,
                              .group = group,
                              .per_dim = 1.0f / (float)dim,
                              .query = query,
                              .sums = sums,
                              .k_scale = floats,
                              .k_zero = floats + dim,
                              .v_scale = floats + 2 * dim,
                              .v_nothing = floats + 2 * dim + IFM_KV_PAGE,
                              .v_shift = floats + 2 * dim + IFM_KV_PAGE + 1,
                              .folded = (float *)(void *)(heads + group),
                              .heads = heads};
}

#define PAGE_FUNCTION(bits)                                                                                            \
    void ifm_kv_attend_int##bits##_avx512vnni(const struct ifm_kv_layout *layout, const void *page, unsigned tokens,   \
                                              unsigned group, const float *query,                                      \
                                              const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)   \
    {                                                                                                                  \
        const struct vnni_call c = call_of(layout, page, tokens, group, query, sums, scratch, next);                   \
        attend(&c, bits);                                                                                              \
    }
PAGE_FUNCTION(8)
PAGE_FUNCTION(4)
PAGE_FUNCTION(2)
#endif
