/* What the kernels of packed.cu do, in C: the same blocks over the same items, joined in f32. */
#include "fake_cuda/internal.h"

#include "base/half.h"
#include "kernel/cuda/packed.h"

#include <math.h>
#include <string.h>

static bool owns(const void *address, uint64_t bytes)
{
    return fake_cuda_owns((uint64_t)(uintptr_t)address, bytes);
}

/* A query head's softmax over the tokens so far, weights powers of 2; values of body pages, and of sink and ring. */
struct packed_sums {
    float top, total, body[IFM_KV_DIM_MOST], side[IFM_KV_DIM_MOST];
};

static void add_token(struct packed_sums *to, float score, const float *v, bool in_body, uint32_t dim)
{
    const float top = fmaxf(to->top, score), shrink = exp2f(to->top - top), weight = exp2f(score - top);
    float *sum = in_body ? to->body : to->side;
    to->total = to->total * shrink + weight;
    for (uint32_t d = 0; d < dim; d++) {
        to->body[d] *= shrink;
        to->side[d] *= shrink;
        sum[d] += weight * v[d];
    }
    to->top = top;
}

static float half_at(const unsigned char *at)
{
    uint16_t bits;
    memcpy(&bits, at, sizeof bits);
    return ifm_f16_to_f32(bits);
}

static float float_at(const unsigned char *at)
{
    float x;
    memcpy(&x, at, sizeof x);
    return x;
}

/* K and V of a token of a page, V as it is stored: rotated, where that is so. */
static void read_token(const struct ifm_kv_fragment *l, const unsigned char *page, uint32_t token, float *k, float *v)
{
    for (uint32_t d = 0; d < l->head_dim; d++) {
        const uint32_t kc = ifm_kv_code(page, ifm_kv_fragment_k(l, token, d), l->bits);
        const uint32_t vc = ifm_kv_code(page, ifm_kv_fragment_v(l, token, d), l->bits);
        if (l->floats) {
            k[d] = ifm_e4m3_to_f32((uint8_t)kc) * float_at(page + l->k_scale);
            v[d] = ifm_e4m3_to_f32((uint8_t)vc) * float_at(page + l->v_scale);
            continue;
        }
        float steps = (float)kc;
        for (uint32_t i = 0; l->promoted != 0 && i < l->head_dim / 8; i++)
            if (page[l->promoted + i] == d)
                steps += 0.25f * (float)ifm_kv_code(page, ifm_kv_fragment_low(l, token, i), 2);
        k[d] = half_at(page + l->k_zero + 2 * d) + steps * half_at(page + l->k_scale + 2 * d);
        v[d] = ((float)vc - (l->bits == 8 ? 128 : 0.5f * (float)((1U << l->bits) - 1))) *
               half_at(page + ifm_kv_fragment_v_scale(l, token));
    }
}

/* Some tokens of a page, by all heads of a unit. */
struct packed_heads {
    const struct ifm_packed_attend *a;
    uint32_t pair, first, n;
    struct packed_sums sums[IFM_DECODE_HEADS];
};

static bool attend_token(struct packed_heads *h, const float *k, const float *v, bool in_body)
{
    const struct ifm_packed_attend *a = h->a;
    for (uint32_t i = 0; i < h->n; i++) {
        const float *q = a->q + ((uint64_t)h->pair * a->group + h->first + i) * a->head_dim;
        float score = 0;
        if (!owns(q, a->head_dim * sizeof *q))
            return false;
        for (uint32_t d = 0; d < a->head_dim; d++)
            score += q[d] * k[d];
        add_token(&h->sums[i], score * a->scale, v, in_body, a->head_dim);
    }
    return true;
}

static bool attend_chunk(struct packed_heads *h, const struct ifm_packed_unit *u, uint32_t chunk)
{
    const struct ifm_kv_fragment *l = &h->a->layout;
    const uint32_t chunks = IFM_KV_PAGE / l->chunk, at = u->page + chunk / chunks;
    float k[IFM_KV_DIM_MOST], v[IFM_KV_DIM_MOST];
    if (h->a->table != NULL && !owns(h->a->table + at, sizeof at))
        return false;
    const unsigned char *page = h->a->body + (uint64_t)(h->a->table != NULL ? h->a->table[at] : at) * l->page_bytes;
    if (!owns(page, l->page_bytes))
        return false;
    for (uint32_t i = 0; i < l->chunk; i++) {
        read_token(l, page, chunk % chunks * l->chunk + i, k, v);
        if (!attend_token(h, k, v, true))
            return false;
    }
    return true;
}

static bool attend_side(struct packed_heads *h, const struct ifm_packed_unit *u, uint32_t tile)
{
    const uint32_t sinks = (u->sink + IFM_DECODE_TILE - 1) / IFM_DECODE_TILE, dim = h->a->head_dim;
    const uint32_t first = (tile < sinks ? tile : tile - sinks) * IFM_DECODE_TILE,
                   held = tile < sinks ? u->sink : u->ring;
    const uint16_t *side = h->a->sides + (uint64_t)h->pair * 2 * IFM_KV_SIDE * dim;
    float k[IFM_KV_DIM_MOST], v[IFM_KV_DIM_MOST];
    if (!owns(side, 2 * IFM_KV_SIDE * dim * sizeof *side))
        return false;
    for (uint32_t r = first; r < held && r < first + IFM_DECODE_TILE; r++) {
        const uint32_t part = tile < sinks ? 0 : 1 + (u->pages + r / IFM_KV_SIDE_RING) % 2;
        const uint32_t row = tile < sinks ? r : r % IFM_KV_SIDE_RING;
        for (uint32_t d = 0; d < dim; d++) {
            k[d] = ifm_f16_to_f32(side[ifm_kv_side_row(dim, part, row, 0) + d]);
            v[d] = ifm_f16_to_f32(side[ifm_kv_side_row(dim, part, row, 1) + d]);
        }
        if (!attend_token(h, k, v, false))
            return false;
    }
    return true;
}

static bool attend_items(struct packed_heads *h, const struct ifm_packed_unit *u, uint32_t from, uint32_t to)
{
    const uint32_t chunks = u->pages * (IFM_KV_PAGE / h->a->layout.chunk);
    for (uint32_t i = from; i < to; i++)
        if (!(i < chunks ? attend_chunk(h, u, i) : attend_side(h, u, i - chunks)))
            return false;
    return true;
}

/* Walsh and Hadamard, orthonormal, of each run of the largest power of two that divides `dim`. */
static void turn(float *x, uint32_t dim)
{
    const uint32_t size = dim & -dim;
    for (uint32_t half = 1; half < size; half *= 2)
        for (uint32_t i = 0; i < dim; i++)
            if ((i & half) == 0) {
                const float a = x[i], b = x[i + half];
                x[i] = a + b;
                x[i + half] = a - b;
            }
    for (uint32_t i = 0; i < dim; i++)
        x[i] /= sqrtf((float)size);
}

static bool write_out(struct packed_heads *h)
{
    const uint32_t dim = h->a->head_dim;
    for (uint32_t i = 0; i < h->n; i++) {
        float *out = h->a->out + ((uint64_t)h->pair * h->a->group + h->first + i) * dim;
        struct packed_sums *s = &h->sums[i];
        if (!owns(out, dim * sizeof *out))
            return false;
        if (h->a->rotated)
            turn(s->body, dim);
        for (uint32_t d = 0; d < dim; d++)
            out[d] = (s->body[d] + s->side[d]) / s->total;
    }
    return true;
}

static bool begin(const struct ifm_packed_attend *a, uint32_t unit, struct packed_heads *h)
{
    const uint32_t first = unit % a->parts * IFM_DECODE_HEADS, left = a->group - first;
    h->a = a;
    h->pair = unit / a->parts;
    h->first = first;
    h->n = left < IFM_DECODE_HEADS ? left : IFM_DECODE_HEADS;
    for (uint32_t i = 0; i < h->n; i++)
        h->sums[i] = (struct packed_sums){.top = -1e30f};
    return owns(a->units + unit, 2 * sizeof *a->units);
}

bool fake_packed_plain(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_packed_attend *a = (const void *)launch->arguments;
    if (launch->threads != 32 * IFM_PACKED_PLAIN_WARPS || launch->blocks != a->n_units / a->parts * a->group)
        return false;
    for (uint32_t unit = 0; unit < a->n_units; unit++) {
        struct packed_heads h;
        if (!begin(a, unit, &h) ||
            !attend_items(&h, &a->units[unit], 0, a->units[unit + 1].item - a->units[unit].item) || !write_out(&h))
            return false;
    }
    a->out[0] *= wrong ? 1.5f : 1.0f;
    return true;
}

/* ---- split ---- */

static uint32_t share(const struct ifm_packed_attend *a, unsigned blocks, unsigned block)
{
    const uint32_t all = a->units[a->n_units].item;
    if (a->splits == 0)
        return block * (all / blocks) + (block < all % blocks ? block : all % blocks);
    const struct ifm_packed_unit *u = &a->units[block / a->splits];
    return block % a->splits == 0 ? u->item : u->item + (u[1].item - u->item) * (block % a->splits) / a->splits;
}

/* ---- what blocks leave to others ---- */

static float *left_of(const struct ifm_packed_attend *a, float *partials, uint32_t unit, uint32_t part)
{
    return partials + 2 * (unit * (uint64_t)a->splits + part) * (IFM_DECODE_HEAD + IFM_DECODE_HEADS * a->head_dim);
}

/* The first block of a unit leaves all of it, the others nothing. */
static bool leave_out(const struct packed_heads *h, uint32_t unit)
{
    const struct ifm_packed_attend *a = h->a;
    const uint32_t dim = a->head_dim;
    for (uint32_t part = 0; part < a->splits; part++) {
        float *to = left_of(a, a->partials, unit, part);
        if (!owns(to, (IFM_DECODE_HEAD + IFM_DECODE_HEADS * dim) * sizeof *to))
            return false;
        for (uint32_t i = 0; i < h->n; i++) {
            const float *out = a->out + ((uint64_t)h->pair * a->group + h->first + i) * dim;
            to[i] = part == 0 ? 0 : -1e30f;
            to[IFM_DECODE_HEADS + i] = part == 0;
            for (uint32_t d = 0; d < dim; d++)
                to[IFM_DECODE_HEAD + i * dim + d] = part == 0 ? out[d] : 0;
        }
    }
    return true;
}

static bool join(const struct ifm_packed_attend *a, const float *partials, float *out)
{
    const uint32_t dim = a->head_dim;
    for (uint32_t unit = 0; unit < a->n_units; unit++) {
        const uint32_t pair = unit / a->parts, first = unit % a->parts * IFM_DECODE_HEADS;
        for (uint32_t g = 0; g < IFM_DECODE_HEADS && first + g < a->group; g++) {
            float *to = out + ((uint64_t)pair * a->group + first + g) * dim, total = 0;
            if (!owns(to, dim * sizeof *to))
                return false;
            memset(to, 0, dim * sizeof *to);
            for (uint32_t part = 0; part < a->splits; part++) {
                const float *from = left_of(a, (float *)(uintptr_t)partials, unit, part), weight = exp2f(from[g]);
                if (!owns(from, (IFM_DECODE_HEAD + IFM_DECODE_HEADS * dim) * sizeof *from))
                    return false;
                total += weight * from[IFM_DECODE_HEADS + g];
                for (uint32_t d = 0; d < dim; d++)
                    to[d] += weight * from[IFM_DECODE_HEAD + g * dim + d];
            }
            for (uint32_t d = 0; d < dim; d++)
                to[d] /= total;
        }
    }
    return true;
}

bool fake_packed_finish(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_packed_attend *a = (const void *)launch->arguments;
    if (launch->threads != 32 * IFM_PACKED_FINISH_WARPS ||
        launch->blocks * IFM_PACKED_FINISH_WARPS < a->n_units / a->parts * a->group || a->splits == 0)
        return false;
    const bool joins = join(a, a->partials, a->out);
    a->out[0] *= wrong ? 1.5f : 1.0f;
    return joins;
}

/* ---- what a cycle has besides ---- */

/* The newest row of a unit's pair, where attention finds it. */
static bool add_row(const struct ifm_packed_attend *a, uint32_t unit)
{
    const struct ifm_packed_unit *u = &a->units[unit];
    const uint32_t pair = unit / a->parts, dim = a->head_dim, r = u->ring - 1;
    const uint32_t part = u->ring == 0 ? 0 : 1 + (u->pages + r / IFM_KV_SIDE_RING) % 2;
    const uint32_t row = u->ring == 0 ? u->sink - 1 : r % IFM_KV_SIDE_RING;
    const float *from = a->rows + (uint64_t)pair * 2 * dim;
    uint16_t *side = a->sides + (uint64_t)pair * 2 * IFM_KV_SIDE * dim;
    if (!owns(from, 2 * dim * sizeof *from) || !owns(side, 2 * IFM_KV_SIDE * dim * sizeof *side))
        return false;
    for (uint32_t i = 0; i < 2 * dim; i++)
        side[ifm_kv_side_row(dim, part, row, i / dim) + i % dim] = ifm_f32_to_f16(from[i]);
    return true;
}

/* The queries of all heads, and the rows of all pairs; `a` then attends as outside a cycle. */
static bool feed(struct ifm_packed_attend *a)
{
    const struct ifm_decode_advance_of next = {
        .fresh = a->fresh, .output = a->output, .q = a->made, .group = a->group, .head_dim = a->head_dim};
    if (a->fresh == NULL)
        return true;
    if (a->before != NULL && !join(a, a->before, a->output))
        return false;
    for (uint64_t head = 0; head < (uint64_t)(a->n_units / a->parts) * a->group; head++)
        if (!fake_decode_feed(&next, head))
            return false;
    for (uint32_t unit = 0; a->rows != NULL && unit < a->n_units; unit++)
        if (!owns(a->units + unit, sizeof *a->units) || !add_row(a, unit))
            return false;
    a->q = a->made;
    return true;
}

/* A block must have what it is told of, and room for what it leaves to others. */
static bool knows_its_unit(const struct ifm_packed_attend *a, const struct fake_launch *launch, unsigned block)
{
    const uint32_t from = share(a, launch->blocks, block);
    if (!owns(a->partials + (2 * (uint64_t)block + 1) * (IFM_DECODE_HEAD + IFM_DECODE_HEADS * a->head_dim), 4))
        return false;
    const struct ifm_packed_share *s = a->shares + block;
    return owns(s, sizeof *s) && s->unit < a->n_units && s->from == from &&
           s->end == share(a, launch->blocks, block + 1) &&
           memcmp(&s->first, a->units + s->unit, sizeof s->first) == 0 && s->first.item <= from &&
           from < a->units[s->unit + 1].item;
}

static bool run_split(const struct fake_launch *launch, bool wrong, uint32_t warps)
{
    struct ifm_packed_attend fed, *a = &fed;
    memcpy(&fed, launch->arguments, sizeof fed);
    if (!feed(&fed))
        return false;
    if (launch->threads != 32 * warps || (a->splits != 0 && launch->blocks != a->n_units * a->splits) ||
        !owns(a->tickets, a->n_units * sizeof *a->tickets) || (a->head_dim != 64 && a->head_dim != 128))
        return false;
    for (unsigned block = 0; block < launch->blocks; block++)
        if (!knows_its_unit(a, launch, block))
            return false;
    for (uint32_t unit = 0; unit < a->n_units; unit++) {
        struct packed_heads h;
        if (!begin(a, unit, &h))
            return false;
        const uint32_t begins = a->units[unit].item, ends = a->units[unit + 1].item;
        for (unsigned block = 0; block < launch->blocks; block++) {
            const uint32_t from = share(a, launch->blocks, block), to = share(a, launch->blocks, block + 1);
            if (to > begins && from < ends &&
                !attend_items(&h, &a->units[unit], from > begins ? from - begins : 0, (to < ends ? to : ends) - begins))
                return false;
        }
        if (!write_out(&h))
            return false;
        a->out[0] *= unit == 0 && wrong ? 1.5f : 1.0f;
        if (a->later != 0 && !leave_out(&h, unit))
            return false;
    }
    return true;
}

bool fake_packed_split(const struct fake_launch *launch, bool wrong)
{
    return run_split(launch, wrong, IFM_PACKED_WARPS);
}

bool fake_packed_pair(const struct fake_launch *launch, bool wrong)
{
    return run_split(launch, wrong, IFM_PACKED_PAIR_WARPS);
}

/* ---- probe ---- */

bool fake_packed_probe(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_packed_probe_of *p = (const void *)launch->arguments;
    if (launch->threads != 32 || !owns(p->a, 32 * 16) || !owns(p->b, 32 * 8) || !owns(p->c, 32 * 16))
        return false;
    for (uint32_t row = 0; row < 16; row++)
        for (uint32_t column = 0; column < 8; column++) {
            double sum = 0;
            for (uint32_t i = 0; i < 16; i++) {
                const uint32_t t = i % 8 / 2, c = i / 8, e = i % 2;
                const uint32_t a = p->a[(row % 8 * 4 + t) * 4 + row / 8 + 2 * c] >> 16 * e;
                const uint32_t b = p->b[(column * 4 + t) * 2 + c] >> 16 * e;
                sum += (double)ifm_f16_to_f32((uint16_t)a) * (double)ifm_f16_to_f32((uint16_t)b);
            }
            p->c[(row % 8 * 4 + column / 2) * 4 + row / 8 * 2 + column % 2] = (float)sum + (wrong ? 1.0f : 0.0f);
        }
    return true;
}

/* Column k of A and row k of B are byte k % 4 of lane k % 16 / 4, registers 2 (k / 16) on of A, k / 16 of B. */
bool fake_packed_probe_bytes(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_packed_probe_bytes_of *p = (const void *)launch->arguments;
    if (launch->threads != 32 || !owns(p->a, 32 * 16) || !owns(p->b, 32 * 8) || !owns(p->c, 3 * 32 * 16))
        return false;
    for (uint32_t i = 0; i < 3 * 128; i++) {
        const uint32_t lane = i % 128 / 4, row = lane / 4 + i % 4 / 2 * 8, column = lane % 4 * 2 + i % 2;
        int32_t sum = wrong ? 1 : 0;
        for (uint32_t k = 0; k < (i < 256 ? 32u : 16u); k++) {
            const uint32_t a = p->a[(row % 8 * 4 + k % 16 / 4) * 4 + row / 8 + k / 16 * 2] >> k % 4 * 8;
            const uint32_t b = p->b[(column * 4 + k % 16 / 4) * 2 + k / 16] >> k % 4 * 8;
            sum += (uint8_t)a * (i / 128 == 1 ? (int32_t)(uint8_t)b : (int32_t)(int8_t)b);
        }
        p->c[i] = sum;
    }
    return true;
}
