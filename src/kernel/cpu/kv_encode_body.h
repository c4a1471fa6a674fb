/* Writing pages of the elastic KV cache, compiled once for each instruction set. See kv_encode.h.
 *
 * A page is cut into tiles of IFM_LANES columns: channels of K, tokens of V. Every value is computed in its own lane by
 * the same operations in the same order, so that the width of the lanes does not show in the bytes. */
#include "kernel/cpu/kernels.h"
#include "kernel/cpu/kv_encode.h"
#include "kernel/cpu/kv_lanes.h"
#include "kv/rows.h"

#include <stdbool.h>

enum { ROWS_MOST = IFM_KV_DIM_MOST }; /* of a tile: channels of a V tile, tokens of a K tile */

static const float half_most = 65504.0f;        /* the largest f16 */
static const float half_least = 0x1p-24f;       /* the smallest above 0 */
static const float e4m3_most = 448.0f;          /* the largest e4m3 */
static const float e4m3_least_peak = 0x1p-100f; /* a page of e4m3 below it is all zeros */

/* One column per lane: code = round((x - zero) * inverse), x = zero + code * scale. */
struct range {
    floats scale, zero, inverse;
};

/* Codes and metadata of the page that is being written, before the codes are packed. */
struct encode_page {
    const struct ifm_kv_layout *layout;
    unsigned char *bytes;
    _Alignas(IFM_KV_LINE) uint8_t codes[ROWS_MOST * IFM_KV_DIM_MOST]; /* [inner][outer], one byte each */
};

IFM_INLINE floats inverse_of(floats scale)
{
    return lanes_if_less(lanes_of(0.0f), scale, 1.0f / scale, lanes_of(0.0f));
}

/* A scale beyond f16 saturates; one below it is the least f16, unless the range is empty. */
IFM_INLINE floats scale_of(floats width, float steps)
{
    const floats scale = lanes_round_f16(lanes_min(width / steps, lanes_of(half_most)));
    return lanes_if_less(lanes_of(0.0f), width, lanes_max(scale, lanes_of(half_least)), lanes_of(0.0f));
}

IFM_INLINE floats zero_of(floats low)
{
    return lanes_round_f16(lanes_max(lanes_min(low, lanes_of(half_most)), lanes_of(-half_most)));
}

/* The code as a number. NaN gives the least code. */
IFM_INLINE floats code_of(floats x, struct range r, float least, float most)
{
    const floats y = (x - r.zero) * r.inverse;
    return lanes_round(lanes_min(lanes_max(y, lanes_of(least)), lanes_of(most)));
}

/* The range from `low` to `high` in `steps` steps. A symmetric one has its zero point, which is not stored, half its
 * steps below 0. */
IFM_INLINE struct range range_of(floats low, floats high, float steps, bool symmetric)
{
    struct range r;
    r.scale = scale_of(high - low, steps);
    r.zero = symmetric ? r.scale * (-0.5f * steps) : zero_of(low);
    r.inverse = inverse_of(r.scale);
    return r;
}

/* A column of values, and the weights of their squared errors (NULL: 1). */
struct column {
    const floats *tile, *weight;
    unsigned n; /* a multiple of four */
    float steps;
    bool symmetric;
};

/* The best range of a search so far. */
struct encode_choice {
    floats low, high, error;
    struct range r;
};

/* Four rows at a time, step by step: a row alone is one long chain of dependent operations. The sum goes row by row. */
IFM_INLINE floats squared_error(const struct column *c, struct range r)
{
    floats sum = {0};
    for (unsigned at = 0; at < c->n; at += 4) {
        floats from_zero[4], x[4];
        for (int i = 0; i < 4; i++)
            from_zero[i] = c->tile[at + i] - r.zero;
        for (int i = 0; i < 4; i++)
            x[i] = from_zero[i] * r.inverse;
        for (int i = 0; i < 4; i++)
            x[i] = lanes_clamp(x[i], lanes_of(c->steps));
        for (int i = 0; i < 4; i++)
            x[i] = lanes_round(x[i]);
        for (int i = 0; i < 4; i++)
            x[i] = x[i] * r.scale;
        for (int i = 0; i < 4; i++)
            x[i] = from_zero[i] - x[i];
        for (int i = 0; i < 4; i++)
            x[i] = x[i] * x[i];
        for (int i = 0; c->weight != NULL && i < 4; i++)
            x[i] = x[i] * c->weight[at + i];
        for (int i = 0; i < 4; i++)
            sum += x[i];
    }
    return sum;
}

IFM_INLINE void try_range(const struct column *c, floats low, floats high, struct encode_choice *best)
{
    const struct range r = range_of(low, high, c->steps, c->symmetric);
    const floats error = squared_error(c, r);
    best->low = lanes_if_less(error, best->error, low, best->low);
    best->high = lanes_if_less(error, best->error, high, best->high);
    best->r.scale = lanes_if_less(error, best->error, r.scale, best->r.scale);
    best->r.zero = lanes_if_less(error, best->error, r.zero, best->r.zero);
    best->r.inverse = lanes_if_less(error, best->error, r.inverse, best->r.inverse);
    best->error = lanes_if_less(error, best->error, error, best->error);
}

/* The ranges about the middle of the full one, each narrower by `cut` of its width. */
IFM_INLINE struct encode_choice cut_evenly(const struct column *c, floats low, floats high, int cuts, float cut)
{
    struct encode_choice best = {.low = low, .high = high, .r = range_of(low, high, c->steps, c->symmetric)};
    best.error = squared_error(c, best.r);
    for (int i = 1; i < cuts; i++) {
        const floats move = (high - low) * (0.5f * cut * (float)i);
        try_range(c, low + move, high - move, &best);
    }
    return best;
}

static struct range search_k(const struct column *c, floats low, floats high, float cut)
{
    struct encode_choice best = cut_evenly(c, low, high, IFM_KV_CUTS, cut);
    floats move = (high - low) * IFM_KV_MOVE;
    for (int round = 0; round < IFM_KV_ROUNDS; round++) {
        struct encode_choice from = best;
        try_range(c, from.low - move, from.high, &best);
        try_range(c, from.low + move, from.high, &best);
        from = best;
        try_range(c, from.low, from.high - move, &best);
        try_range(c, from.low, from.high + move, &best);
        move *= 0.5f;
    }
    return best.r;
}

static struct range search_v(const struct column *c, floats peak, float cut)
{
    struct encode_choice best = cut_evenly(c, -peak, peak, IFM_KV_CUTS_V, cut);
    floats move = peak * (0.5f * cut);
    for (int round = 0; round < IFM_KV_ROUNDS; round++) {
        const struct encode_choice from = best;
        try_range(c, from.low - move, from.high + move, &best);
        try_range(c, from.low + move, from.high - move, &best);
        move *= 0.5f;
    }
    return best.r;
}

/* Lanes of `sums` that are NaN: their columns hold NaN or infinity and read back as NaN through their scale. */
static void store_scales(const floats *scale, const floats *sums, uint16_t *to, unsigned n)
{
    float scales[IFM_LANES], sum[IFM_LANES];
    memcpy(scales, scale, sizeof scales);
    memcpy(sum, sums, sizeof sum);
    for (unsigned i = 0; i < n; i++)
        to[i] = sum[i] == 0.0f ? ifm_f32_to_f16(scales[i]) : 0x7e00;
}

/* A column with NaN or infinity has the code of NaN, the least one, or that of 0. */
IFM_INLINE void spoil(struct range *r, floats nothing)
{
    r->inverse = lanes_if_less(nothing, lanes_of(1.0f), r->inverse, lanes_of(0.0f));
    r->zero = lanes_if_less(nothing, lanes_of(1.0f), r->zero, lanes_of(0.0f));
}

/* -- packing -- */

/* Codes [inner][outer], one byte each, into the order of kv/format.h; `n_inner` is a multiple of a block. */
static void pack(const uint8_t *from, unsigned n_inner, unsigned n_outer, unsigned bits, unsigned char *to)
{
    const unsigned fields = 8 / bits, block = 16 * fields;
    for (unsigned at = 0; at < n_inner; at += block)
        for (unsigned i = 0; i < 16; i++) {
            const uint8_t *row = from + (size_t)(at + i) * n_outer;
            unsigned char *line = to + (size_t)(at / block) * n_outer * 16 + (size_t)i * 4;
            for (unsigned o = 0; o < n_outer; o += 4) {
                uint32_t word = 0;
                for (unsigned f = 0; f < fields; f++) {
                    uint32_t field;
                    memcpy(&field, row + (size_t)f * 16 * n_outer + o, sizeof field);
                    word |= field << f * bits;
                }
                memcpy(line + (size_t)o * 16, &word, sizeof word);
            }
        }
}

static void pack_page(const struct encode_page *p, unsigned n_inner, unsigned n_outer, size_t section)
{
    const unsigned bits = p->layout->bits;
    if (bits == 8)
        pack(p->codes, n_inner, n_outer, 8, p->bytes + section);
    else if (bits == 4)
        pack(p->codes, n_inner, n_outer, 4, p->bytes + section);
    else
        pack(p->codes, n_inner, n_outer, 2, p->bytes + section);
}

static uint16_t *u16_of(const struct encode_page *p, size_t section)
{
    return (uint16_t *)(void *)(p->bytes + section);
}

/* -- K: one channel a lane -- */

struct encode_extent {
    floats low, high, nothing; /* nothing: 0, or NaN in a lane that holds NaN or infinity */
};

IFM_INLINE struct encode_extent extent_of(const floats *tile, unsigned n)
{
    floats low = tile[0], high = tile[0], nothing = {0};
    for (unsigned i = 0; i < n; i++) {
        low = lanes_min(tile[i], low);
        high = lanes_max(tile[i], high);
        nothing += tile[i] * 0.0f;
    }
    return (struct encode_extent){low, high, nothing};
}

/* The weights of kv_encode.h, n > 0 of them; 0 for the slots behind. */
static void weigh(const floats *tile, unsigned n, unsigned head_dim, floats *weight)
{
    const float share = 1.0f / (float)n;
    floats sum = {0}, squares = {0};
    for (unsigned i = 0; i < n; i++) {
        sum += tile[i];
        squares += tile[i] * tile[i];
    }
    const floats mean = sum * share, variance = lanes_max(squares * share - mean * mean, lanes_of(0.0f));
    const floats factor = 0.125f / (variance + (float)head_dim);
    for (unsigned i = 0; i < n; i++) {
        const floats y = (tile[i] - mean) * (tile[i] - mean) * factor; /* a quarter of it */
        const floats base = y + 1.0f, square = base * base, fourth = square * square;
        weight[i] = fourth * fourth;
    }
    for (unsigned i = n; i < IFM_KV_PAGE; i++)
        weight[i] = (floats){0};
}

/* The range of the channels of a tile, for codes of `bits`. */
static struct range k_range(const floats *tile, unsigned tokens, unsigned head_dim, unsigned bits,
                            const struct encode_extent *e)
{
    const float steps = (float)((1U << bits) - 1);
    struct range r;
    if (bits == 8 || tokens == 0) {
        r = range_of(e->low, e->high, steps, false);
    } else {
        floats weight[IFM_KV_PAGE];
        weigh(tile, tokens, head_dim, weight);
        const struct column c = {tile, weight, IFM_KV_PAGE, steps, false};
        r = search_k(&c, e->low, e->high, bits == 2 ? IFM_KV_CUT_K2 : IFM_KV_CUT_K4);
    }
    spoil(&r, e->nothing);
    return r;
}

static void store_codes(const floats *tile, unsigned n, struct range r, float least, float most, uint8_t *to,
                        unsigned stride)
{
    for (unsigned i = 0; i < n; i++)
        lanes_store_bytes(to + (size_t)i * stride, lanes_integers(code_of(tile[i], r, least, most)));
}

/* Ranges of the channels at `d`; the tile holds their tokens, zeros in the slots behind `tokens`. */
static struct encode_extent encode_k_tile(struct encode_page *p, const floats *tile, unsigned tokens, unsigned d)
{
    const struct ifm_kv_layout *l = p->layout;
    const float steps = (float)((1U << l->bits) - 1);
    const struct encode_extent e = extent_of(tile, tokens);
    const struct range r = k_range(tile, tokens, l->head_dim, l->bits, &e);
    const floats none = {0};
    store_scales(&r.scale, &e.nothing, u16_of(p, l->k_scale) + d, IFM_LANES);
    store_scales(&r.zero, &none, u16_of(p, l->k_zero) + d, IFM_LANES);
    store_codes(tile, l->tokens, r, 0.0f, steps, p->codes + d, l->head_dim);
    return e;
}

static void load_k_tile(const float *k, unsigned head_dim, unsigned tokens, unsigned slots, floats *tile)
{
    tile[0] = (floats){0};
    for (unsigned t = 0; t < tokens; t++)
        tile[t] = load_floats(k + (size_t)t * head_dim);
    for (unsigned t = tokens; t < slots; t++)
        tile[t] = (floats){0};
}

/* The n channels of the largest worth, ascending; of equal ones the lower number. */
static void choose(const float *worth, unsigned head_dim, unsigned n, uint8_t *list)
{
    bool taken[IFM_KV_DIM_MOST] = {false};
    for (unsigned i = 0; i < n; i++) {
        unsigned best = head_dim;
        for (unsigned d = 0; d < head_dim; d++)
            if (!taken[d] && (best == head_dim || worth[d] > worth[best]))
                best = d;
        taken[best] = true;
    }
    for (unsigned d = 0, i = 0; d < head_dim; d++)
        if (taken[d])
            list[i++] = (uint8_t)d;
}

/* Write the promoted channels anew with four bits: scales, upper halves among the codes, lower halves to `low`
 * [tokens][n_promoted]. */
static void promote(struct encode_page *p, const float *k, unsigned tokens, const uint8_t *list, uint8_t *low)
{
    const struct ifm_kv_layout *l = p->layout;
    uint16_t *scales = u16_of(p, l->k_scale), *zeros = u16_of(p, l->k_zero);
    for (unsigned at = 0; at < l->n_promoted; at += IFM_LANES) {
        const unsigned n = l->n_promoted - at < IFM_LANES ? l->n_promoted - at : IFM_LANES;
        floats tile[IFM_KV_PAGE];
        float columns[IFM_KV_PAGE * IFM_LANES] = {0};
        for (unsigned t = 0; t < tokens; t++)
            for (unsigned i = 0; i < n; i++)
                columns[t * IFM_LANES + i] = k[(size_t)t * l->head_dim + list[at + i]];
        memcpy(tile, columns, sizeof tile);
        const struct encode_extent e = extent_of(tile, tokens);
        const struct range r = k_range(tile, tokens, l->head_dim, 4, &e);
        uint16_t scale[IFM_LANES], zero[IFM_LANES];
        const floats none = {0};
        store_scales(&r.scale, &e.nothing, scale, IFM_LANES);
        store_scales(&r.zero, &none, zero, IFM_LANES);
        uint8_t codes[IFM_KV_PAGE * IFM_LANES];
        store_codes(tile, l->tokens, r, 0.0f, 15.0f, codes, IFM_LANES);
        for (unsigned i = 0; i < n; i++) {
            const unsigned d = list[at + i];
            scales[d] = scale[i];
            zeros[d] = zero[i];
            for (unsigned t = 0; t < l->tokens; t++) {
                p->codes[(size_t)t * l->head_dim + d] = codes[t * IFM_LANES + i] >> 2;
                low[(size_t)t * l->n_promoted + at + i] = codes[t * IFM_LANES + i] & 3;
            }
        }
    }
}

static void encode_k(struct encode_page *p, const float *k, unsigned tokens)
{
    const struct ifm_kv_layout *l = p->layout;
    float worth[IFM_KV_DIM_MOST];
    for (unsigned d = 0; d < l->head_dim; d += IFM_LANES) {
        floats tile[IFM_KV_PAGE];
        load_k_tile(k + d, l->head_dim, tokens, l->tokens, tile);
        const struct encode_extent e = encode_k_tile(p, tile, tokens, d);
        const floats wide = lanes_max(e.high - e.low + e.nothing, lanes_of(0.0f)); /* NaN: 0 */
        memcpy(worth + d, &wide, sizeof wide);
    }
    if (l->n_promoted > 0) {
        uint8_t low[IFM_KV_PAGE * IFM_KV_DIM_MOST / 8], *list = p->bytes + l->promoted;
        choose(worth, l->head_dim, l->n_promoted, list);
        promote(p, k, tokens, list, low);
        pack(low, l->tokens, l->n_promoted, 2, p->bytes + l->k_low);
    }
    pack_page(p, l->tokens, l->head_dim, l->k_codes);
}

/* -- V: one token a lane -- */

/* Tokens as columns: tile[d] holds channel d of the IFM_LANES tokens from `at` on, zeros where there is none. */
static void load_v_tile(const float *v, unsigned head_dim, unsigned at, unsigned tokens, floats *tile)
{
    if (at + IFM_LANES <= tokens) {
        lanes_transpose(v + (size_t)at * head_dim, head_dim, head_dim, tile);
        return;
    }
    float rows[IFM_LANES * IFM_KV_DIM_MOST];
    const unsigned left = at < tokens ? tokens - at : 0;
    memset(rows, 0, sizeof rows);
    memcpy(rows, v + (size_t)at * head_dim, (size_t)left * head_dim * sizeof *rows);
    lanes_transpose(rows, head_dim, head_dim, tile);
}

/* Two steps of the rotation at once, for values at distance `half`: first half, then 2 half. */
IFM_INLINE void rotate_four(floats *tile, unsigned half, float scale)
{
    const floats a = tile[0] + tile[half], b = tile[0] - tile[half];
    const floats c = tile[2 * half] + tile[3 * half], d = tile[2 * half] - tile[3 * half];
    tile[0] = (a + c) * scale;
    tile[half] = (b + d) * scale;
    tile[2 * half] = (a - c) * scale;
    tile[3 * half] = (b - d) * scale;
}

/* The rotation of kv/format.h, down the columns: sums and differences at distance 1, 2, 4, ... in turn; what the last
 * step gives is scaled. Two steps at a time need half the loads and stores of one. */
static void rotate(floats *tile, unsigned head_dim)
{
    const unsigned size = head_dim & -head_dim;
    const float scale = size == 32 ? 0x1.6a09e6p-3f : size == 64 ? 0x1p-3f : size == 128 ? 0x1.6a09e6p-4f : 0x1p-4f;
    unsigned half = 1;
    if (size == 32 || size == 128) { /* an odd number of steps */
        for (unsigned i = 0; i < head_dim; i += 2) {
            const floats a = tile[i], b = tile[i + 1];
            tile[i] = a + b;
            tile[i + 1] = a - b;
        }
        half = 2;
    }
    for (; 4 * half < size; half *= 4)
        for (unsigned at = 0; at < head_dim; at += 4 * half)
            for (unsigned i = 0; i < half; i++)
                rotate_four(tile + at + i, half, 1.0f);
    for (unsigned at = 0; at < head_dim; at += 4 * half)
        for (unsigned i = 0; i < half; i++)
            rotate_four(tile + at + i, half, scale);
}

/* The largest magnitude of each column, and NaN in `nothing` where there is NaN or infinity. */
IFM_INLINE floats peak_of(const floats *tile, unsigned n, floats *nothing)
{
    floats peak = {0}, sum = {0};
    for (unsigned i = 0; i < n; i++) {
        peak = lanes_max(lanes_max(tile[i], -tile[i]), peak);
        sum += tile[i] * 0.0f;
    }
    *nothing = sum;
    return peak;
}

static void encode_v_tile(struct encode_page *p, const floats *tile, unsigned at)
{
    const struct ifm_kv_layout *l = p->layout;
    floats nothing;
    const floats peak = peak_of(tile, l->head_dim, &nothing);
    const float steps = (float)((1U << l->bits) - 1);
    struct range r = {lanes_of(0.0f), lanes_of(0.0f), lanes_of(0.0f)};
    if (l->bits == 8) {
        r.scale = scale_of(peak, 127.0f);
        r.inverse = inverse_of(r.scale);
    } else {
        const struct column c = {tile, NULL, l->head_dim, steps, true};
        r = search_v(&c, peak, l->bits == 2 ? IFM_KV_CUT_V2 : IFM_KV_CUT_V4);
    }
    spoil(&r, nothing);
    store_scales(&r.scale, &nothing, u16_of(p, l->v_scale) + at, IFM_LANES);
    if (l->bits == 8)
        store_codes(tile, l->head_dim, r, -127.0f, 127.0f, p->codes + at, l->tokens);
    else
        store_codes(tile, l->head_dim, r, 0.0f, steps, p->codes + at, l->tokens);
}

static void encode_v(struct encode_page *p, const float *v, unsigned tokens)
{
    const struct ifm_kv_layout *l = p->layout;
    const unsigned block = 16 * 8 / l->bits, filled = (l->head_dim + block - 1) / block * block;
    for (unsigned at = 0; at < l->tokens; at += IFM_LANES) {
        floats tile[ROWS_MOST];
        load_v_tile(v, l->head_dim, at, tokens, tile);
        if (l->rotated)
            rotate(tile, l->head_dim);
        encode_v_tile(p, tile, at);
    }
    memset(p->codes + (size_t)l->head_dim * l->tokens, 0, (size_t)(filled - l->head_dim) * l->tokens);
    pack_page(p, filled, l->tokens, l->v_codes);
}

static void encode_integers(const struct ifm_kv_layout *layout, const float *k, const float *v, unsigned tokens,
                            void *page)
{
    struct encode_page p;
    p.layout = layout;
    p.bytes = page;
    memset(page, 0, layout->k_codes); /* what lies between the sections */
    encode_k(&p, k, tokens);
    encode_v(&p, v, tokens);
}

/* -- f16 and e4m3 -- */

/* The e4m3 of x * inverse, as ifm_f32_to_e4m3 without a branch; NaN of NaN and infinity. */
IFM_INLINE void store_e4m3(uint8_t *to, floats x, float inverse)
{
    const ints bits = lanes_bits(x), rest = lanes_bits(x * inverse) & 0x7fffffff;
    const ints small = lanes_bits(lanes_of_bits(rest) + 16384.0f) - 0x46800000;
    const ints normal = (rest - (120 << 23) + 0x7ffff + (rest >> 20 & 1)) >> 20;
    ints code = LANES_PICK(rest < 0x3c800000, small, normal);
    code = LANES_PICK(rest >= 0x43e00000, (rest & 0) | 0x7e, code);
    code = LANES_PICK((bits & 0x7fffffff) >= 0x7f800000, (rest & 0) | 0x7f, code);
    lanes_store_bytes(to, code | (bits >> 24 & 0x80));
}

/* Values of two bytes (f16) or one (e4m3) at `to`: K turned to [block of 64 tokens][channel][64 tokens]. */
IFM_INLINE void store_k(const struct ifm_kv_layout *l, const float *k, unsigned tokens, float inverse,
                        unsigned char *to)
{
    const size_t wide = l->bits / 8;
    for (unsigned at = 0; at < l->tokens; at += IFM_LANES) {
        floats tile[IFM_KV_DIM_MOST];
        load_v_tile(k, l->head_dim, at, tokens, tile);
        const unsigned block = at / IFM_KV_WIDE * IFM_KV_WIDE;
        for (unsigned d = 0; d < l->head_dim; d++) {
            unsigned char *line = to + ((size_t)block * l->head_dim + (size_t)d * IFM_KV_WIDE + (at - block)) * wide;
            if (wide == 2)
                lanes_store_f16((uint16_t *)(void *)line, tile[d]);
            else
                store_e4m3(line, tile[d], inverse);
        }
    }
}

/* V in [block of 64 channels][token][64 channels], the last block as narrow as what is left. */
IFM_INLINE void store_v(const struct ifm_kv_layout *l, const float *v, unsigned tokens, float inverse,
                        unsigned char *to)
{
    const size_t wide = l->bits / 8;
    for (unsigned block = 0; block < l->head_dim; block += IFM_KV_WIDE) {
        const unsigned left = l->head_dim - block, width = left < IFM_KV_WIDE ? left : IFM_KV_WIDE;
        unsigned char *rows = to + (size_t)block * l->tokens * wide;
        for (unsigned t = 0; t < tokens; t++)
            for (unsigned d = 0; d < width; d += IFM_LANES) {
                const floats x = load_floats(v + (size_t)t * l->head_dim + block + d);
                unsigned char *at = rows + ((size_t)t * width + d) * wide;
                if (wide == 2)
                    lanes_store_f16((uint16_t *)(void *)at, x);
                else
                    store_e4m3(at, x, inverse);
            }
        memset(rows + (size_t)tokens * width * wide, 0, (size_t)(l->tokens - tokens) * width * wide);
    }
}

/* The scale of a section of e4m3: its largest finite magnitude becomes 448. */
static float e4m3_scale(const float *x, size_t n)
{
    int32_t peak = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t rest = (int32_t)(ifm_f32_bits(x[i]) & 0x7fffffff), finite = rest < 0x7f800000 ? rest : 0;
        peak = finite > peak ? finite : peak;
    }
    const float most = ifm_f32_of_bits((uint32_t)peak);
    return most < e4m3_least_peak ? 0.0f : most / e4m3_most;
}

void IFM_KERNEL(ifm_kv_encode_f16)(const struct ifm_kv_layout *l, const float *k, const float *v, unsigned tokens,
                                   void *page)
{
    store_k(l, k, tokens, 1.0f, (unsigned char *)page + l->k_codes);
    store_v(l, v, tokens, 1.0f, (unsigned char *)page + l->v_codes);
}

void IFM_KERNEL(ifm_kv_encode_e4m3)(const struct ifm_kv_layout *l, const float *k, const float *v, unsigned tokens,
                                    void *page)
{
    unsigned char *bytes = page;
    const size_t n = (size_t)tokens * l->head_dim;
    const float k_scale = e4m3_scale(k, n), v_scale = e4m3_scale(v, n);
    memset(page, 0, l->k_codes);
    memcpy(bytes + l->k_scale, &k_scale, sizeof k_scale);
    memcpy(bytes + l->v_scale, &v_scale, sizeof v_scale);
    store_k(l, k, tokens, k_scale > 0.0f ? 1.0f / k_scale : 0.0f, bytes + l->k_codes);
    store_v(l, v, tokens, v_scale > 0.0f ? 1.0f / v_scale : 0.0f, bytes + l->v_codes);
}

void IFM_KERNEL(ifm_kv_encode_int8)(const struct ifm_kv_layout *l, const float *k, const float *v, unsigned tokens,
                                    void *page)
{
    encode_integers(l, k, v, tokens, page);
}

void IFM_KERNEL(ifm_kv_encode_int4)(const struct ifm_kv_layout *l, const float *k, const float *v, unsigned tokens,
                                    void *page)
{
    encode_integers(l, k, v, tokens, page);
}

void IFM_KERNEL(ifm_kv_encode_int2)(const struct ifm_kv_layout *l, const float *k, const float *v, unsigned tokens,
                                    void *page)
{
    encode_integers(l, k, v, tokens, page);
}
