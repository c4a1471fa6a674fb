/* Attention over a page of the elastic cache: avx512, f16 and e4m3.
 *
 * K: a vector holds 16 tokens of one channel and meets the channel's query, broadcast; V: 16 channels of one token meet
 * the token's weight. So nothing is summed across lanes, and the page is read front to back, once: a tile of 64 tokens
 * (or channels) by at most four heads stays in sixteen registers, and further heads find the tile's bytes in the first
 * level cache.
 *
 * Cycles a token at least: 2 * D / 16 for each head at one 512-bit multiply-add a cycle (Zen 4), half at two (Zen 5).
 */
#if defined(__x86_64__)
#include "kernel/cpu/kv_attend_body.h"

enum { TILE = IFM_KV_WIDE / LANES, HEADS = 4 };
static const float E4M3_UNIT = 0x1p8f; /* load_values gives e4m3 times 2^-8 */

/* Sixteen values; e4m3 times 2^-8, as its bits moved to the places that f16 has for them. The places of f32 would save
 * a sixth of the time, but its subnormals are f32's there, and a multiply-add of one takes an Intel processor 150
 * cycles: twice the time with real data, fifty times it with random codes. NaN reads as a number (see nan_bytes). */
IFM_INLINE __m512 load_values(const unsigned char *from, const int bytes)
{
    if (bytes == 2)
        return _mm512_cvtph_ps(_mm256_load_si256((const __m256i *)(const void *)from));
    const __m256i wide = _mm256_cvtepi8_epi16(_mm_load_si128((const __m128i *)(const void *)from));
    return _mm512_cvtph_ps(_mm256_and_si256(_mm256_slli_epi16(wide, 7), _mm256_set1_epi16((short)0xbf80)));
}

/* Which of 64 (32) bytes are e4m3's NaN. */
IFM_INLINE __mmask64 nan_bytes(const unsigned char *from, const int width)
{
    const __m512i all = _mm512_set1_epi8(-1), sign = _mm512_set1_epi8(-128);
    const __m512i x = width == TILE ? _mm512_load_si512(from)
                                    : _mm512_zextsi256_si512(_mm256_load_si256((const __m256i *)(const void *)from));
    return _mm512_cmpeq_epi8_mask(_mm512_or_si512(x, sign), all);
}

/* Prefetches along with a row. Striped, each line is asked for twice: Zen 5 drops a prefetch for which it has no room,
 * and line after line a core gets no more than 30 of the 43 GB/s that it can read. So the next page is asked for in
 * four stripes side by side, and what was dropped once more, SOON before its turn: 8 to 13 % less time with three and
 * four heads of f16. Groups of more heads and e4m3 compute for longer, and short stripes are no streams: up to 20 %
 * more. */
enum { STRIPES = 4, RUN = 8 * IFM_LINE, SOON = 6144 };

IFM_INLINE void ask_ahead(const struct attend_stretch *s, size_t at, size_t row, const bool striped)
{
    const size_t run = at / RUN, stripe = s->bytes / STRIPES;
    const unsigned char *soon = place_after(s, at, striped ? SOON : FAR);
    const unsigned char *later = s->next + run % STRIPES * stripe + run / STRIPES * RUN + at % RUN;
    for (size_t i = 0; i < row; i += IFM_LINE) {
        _mm_prefetch((const char *)soon + i, _MM_HINT_T0);
        if (striped)
            _mm_prefetch((const char *)later + i, _MM_HINT_T0);
    }
}

/* acc[h][w] += rows[i][16 w ...] * factor[h][i] over `n` rows of `width` vectors; returns which columns met a NaN of
 * e4m3. `at` is the offset of the rows in the page; factors of heads lie `stride` apart. */
IFM_INLINE __mmask64 rows(const struct attend_stretch *s, const bool striped, size_t at, size_t n, const float *factor,
                          size_t stride, const int bytes, const int width, const int heads, __m512 *acc)
{
    const size_t row = (size_t)(width * LANES * bytes);
    __mmask64 nans = 0;
    for (int i = 0; i < heads * width; i++)
        acc[i] = _mm512_setzero_ps();
#pragma GCC unroll 2
    for (size_t i = 0; i < n; i++, at += row) {
        const unsigned char *from = s->page + at;
        __m512 x[TILE];
        if (heads > 2)
            ask_ahead(s, at, row, striped);
        for (int w = 0; w < width; w++)
            x[w] = load_values(from + (size_t)(w * LANES * bytes), bytes);
        if (bytes == 1)
            nans |= nan_bytes(from, width);
        for (int h = 0; h < heads; h++) {
            const __m512 f = _mm512_set1_ps(factor[(size_t)h * stride + i]);
            for (int w = 0; w < width; w++)
                acc[h * width + w] = _mm512_fmadd_ps(x[w], f, acc[h * width + w]);
        }
    }
    return nans;
}

IFM_INLINE __mmask64 tile(const struct attend_stretch *s, bool striped, size_t at, size_t n, const float *factor,
                          size_t stride, const int bytes, const int width, const int heads, __m512 *acc)
{
    if (bytes == 2 && heads > 2 && striped) /* two loops, each without the other's addresses */
        return rows(s, true, at, n, factor, stride, bytes, width, heads, acc);
    return rows(s, false, at, n, factor, stride, bytes, width, heads, acc);
}

IFM_INLINE __m512 with_nans(__m512 x, __mmask64 nans, int w)
{
    return _mm512_mask_mov_ps(x, (__mmask16)(nans >> (w * LANES)), _mm512_set1_ps(NAN));
}

struct avx512_call {
    const struct ifm_kv_layout *layout;
    struct attend_stretch stretch;
    bool striped; /* f16: how to ask ahead */
    unsigned tokens, group;
    const float *query;
    const struct ifm_kv_piece_sums *sums;
    float *scores, *keep; /* [group][IFM_KV_PAGE], [group] */
    float k_unit, v_unit; /* what a loaded value is to be multiplied by */
};

/* Scores of 64 tokens. */
IFM_INLINE void score_tile(const struct avx512_call *c, size_t block, size_t head, const int bytes, const int heads)
{
    const size_t dim = c->layout->head_dim, at = c->layout->k_codes + block * dim * IFM_KV_WIDE * (size_t)bytes;
    __m512 acc[HEADS * TILE];
    const __mmask64 nans = tile(&c->stretch, c->striped, at, dim, c->query + head * dim, dim, bytes, TILE, heads, acc);
    float *scores = c->scores + head * IFM_KV_PAGE + block * IFM_KV_WIDE;
    for (int h = 0; h < heads; h++)
        for (int w = 0; w < TILE; w++) {
            __m512 x = acc[h * TILE + w];
            if (bytes == 1)
                x = with_nans(_mm512_mul_ps(x, _mm512_set1_ps(c->k_unit)), nans, w);
            _mm512_store_ps(scores + h * IFM_KV_PAGE + w * LANES, x);
        }
}

/* Sums of `width` vectors of channels from `d` on. */
IFM_INLINE void value_tile(const struct avx512_call *c, size_t d, size_t head, const int bytes, const int width,
                           const int heads)
{
    const size_t dim = c->layout->head_dim, at = c->layout->v_codes + d * c->layout->tokens * (size_t)bytes;
    __m512 acc[HEADS * TILE];
    const __mmask64 nans = tile(&c->stretch, c->striped, at, c->tokens, c->scores + head * IFM_KV_PAGE, IFM_KV_PAGE,
                                bytes, width, heads, acc);
    for (int h = 0; h < heads; h++) {
        float *sum = c->sums->sum + (head + (size_t)h) * dim + d;
        const __m512 keep = _mm512_set1_ps(c->keep[head + (size_t)h]), unit = _mm512_set1_ps(c->v_unit);
        for (int w = 0; w < width; w++) {
            __m512 x = acc[h * width + w];
            if (bytes == 1)
                x = with_nans(_mm512_mul_ps(x, unit), nans, w);
            _mm512_storeu_ps(sum + w * LANES, _mm512_fmadd_ps(_mm512_loadu_ps(sum + w * LANES), keep, x));
        }
    }
}

IFM_INLINE void score_heads(const struct avx512_call *c, size_t block, const int bytes)
{
    size_t h = 0;
    for (; h + HEADS <= c->group; h += HEADS)
        score_tile(c, block, h, bytes, HEADS);
    if (c->group - h == 3)
        score_tile(c, block, h, bytes, 3);
    else if (c->group - h == 2)
        score_tile(c, block, h, bytes, 2);
    else if (c->group - h == 1)
        score_tile(c, block, h, bytes, 1);
}

IFM_INLINE void value_heads(const struct avx512_call *c, size_t d, const int bytes, const int width)
{
    size_t h = 0;
    for (; h + HEADS <= c->group; h += HEADS)
        value_tile(c, d, h, bytes, width, HEADS);
    if (c->group - h == 3)
        value_tile(c, d, h, bytes, width, 3);
    else if (c->group - h == 2)
        value_tile(c, d, h, bytes, width, 2);
    else if (c->group - h == 1)
        value_tile(c, d, h, bytes, width, 1);
}

IFM_INLINE void attend(const struct avx512_call *c, const int bytes)
{
    const size_t dim = c->layout->head_dim;
    for (size_t block = 0; block * IFM_KV_WIDE < c->tokens; block++)
        score_heads(c, block, bytes);
    for (size_t h = 0; h < c->group; h++) {
        float most;
        c->keep[h] = raise_top(c->scores + h * IFM_KV_PAGE, c->tokens, &c->sums->top[h], &most);
    }
    for (size_t h = 0; h < c->group; h++) {
        __m512 s[PAGE_VECTORS];
        float *scores = c->scores + h * IFM_KV_PAGE;
        for (int i = 0; i < PAGE_VECTORS; i++)
            s[i] = _mm512_load_ps(scores + i * LANES);
        c->sums->total[h] = c->sums->total[h] * c->keep[h] + weigh(s, c->sums->top[h]);
        for (int i = 0; i < PAGE_VECTORS; i++)
            _mm512_store_ps(scores + i * LANES, s[i]);
    }
    size_t d = 0;
    for (; d + IFM_KV_WIDE <= dim; d += IFM_KV_WIDE)
        value_heads(c, d, bytes, TILE);
    if (d < dim)
        value_heads(c, d, bytes, TILE / 2);
}

IFM_INLINE struct avx512_call call_of(const struct ifm_kv_layout *layout, const void *page, unsigned tokens,
                                      unsigned group, const float *query, const struct ifm_kv_piece_sums *sums,
                                      void *scratch, const void *next)
{
    float *scores = scratch;
    return (struct avx512_call){.layout = layout,
                                .stretch = {page, next != NULL ? next : page, layout->page_bytes},
                                .striped = group <= HEADS && layout->head_dim >= IFM_KV_WIDE,
                                .tokens = tokens,
                                .group = group,
                                .query = query,
                                .sums = sums,
                                .scores = scores,
                                .keep = scores + (size_t)group * IFM_KV_PAGE,
                                .k_unit = 1,
                                .v_unit = 1};
}

void ifm_kv_attend_f16_avx512(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                              const float *query, const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)
{
    const struct avx512_call c = call_of(layout, page, tokens, group, query, sums, scratch, next);
    attend(&c, 2);
}

void ifm_kv_attend_e4m3_avx512(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                               const float *query, const struct ifm_kv_piece_sums *sums, void *scratch,
                               const void *next)
{
    struct avx512_call c = call_of(layout, page, tokens, group, query, sums, scratch, next);
    const unsigned char *bytes = page;
    memcpy(&c.k_unit, bytes + layout->k_scale, sizeof c.k_unit);
    memcpy(&c.v_unit, bytes + layout->v_scale, sizeof c.v_unit);
    c.k_unit *= E4M3_UNIT;
    c.v_unit *= E4M3_UNIT;
    attend(&c, 1);
}
#endif
