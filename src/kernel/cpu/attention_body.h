/* Attention forward, tiled; compiled once per instruction set, plain C on the compiler's vector types.
 *
 * A panel is VECTORS vectors of queries. Per tile of keys: scores of DEEP keys at a time with DEEP x VECTORS sums in
 * registers, their maximum taken while they are there; the exponential; then DEEP dimensions of the output at a time
 * over all keys of the tile, rescaled as they are loaded. A file defines IFM_ISA, IFM_LANE_BYTES and IFM_VECTORS.
 *
 * This file is compiled with strict NaN and infinity; only multiply-adds may fuse. */
#include "kernel/cpu/kernels.h"
#include "kernel/cpu/lanes.h"
#include "kernel/cpu/lanes_math.h"
#include "kernel/cpu/lanes_sum.h"

#include <math.h>
#include <stdbool.h>

enum { VECTORS = IFM_VECTORS, PANEL = VECTORS * IFM_LANES, DEEP = IFM_DEEP, KEYS = IFM_ATTENTION_KEYS };
_Static_assert(IFM_ATTENTION_BLOCK % PANEL == 0 && PANEL <= IFM_ATTENTION_PANEL_MOST, "blocks are whole panels");

/* What one worker works in. */
struct attention_room {
    float *query;       /* [panel][dim][PANEL], scaled */
    float *sum;         /* the same shape */
    float *top, *total; /* [panel][PANEL] */
    float *scores;      /* [KEYS][PANEL] */
    float *k, *v;       /* [KEYS][dim], of narrow storage */
};

static struct attention_room room_of(const struct ifm_attention_job *job, unsigned index)
{
    const size_t dim = job->shape.head_dim;
    struct attention_room room = {.query = job->scratch + ifm_attention_scratch_floats(&job->shape) * index};
    room.sum = room.query + IFM_ATTENTION_BLOCK * dim;
    room.scores = room.sum + IFM_ATTENTION_BLOCK * dim;
    room.k = room.scores + KEYS * IFM_ATTENTION_PANEL_MOST;
    room.v = room.k + KEYS * dim;
    room.top = room.v + KEYS * dim;
    room.total = room.top + IFM_ATTENTION_BLOCK;
    return room;
}

/* Positions of a panel's queries minus that of a tile's first key: key i is seen where place >= i. */
struct places {
    floats at[VECTORS];
};

/* Scores of `n` keys; those that a query does not see are -infinity where `masked`. NaN does not enter the maximum: it
 * enters the sum of weights. */
IFM_INLINE void score_tile(const float *k, size_t dim, const float *query, const int n, float *scores, floats *top,
                           const bool masked, const struct places *places, size_t key)
{
    floats sum[DEEP * VECTORS];
#pragma GCC unroll 64
    for (int i = 0; i < n * VECTORS; i++)
        sum[i] = (floats){0};
#pragma GCC unroll 2
    for (size_t d = 0; d < dim; d++) {
        floats q[VECTORS];
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; v++)
            q[v] = load_floats(query + d * PANEL + (size_t)v * IFM_LANES);
#pragma GCC unroll 16
        for (int i = 0; i < n; i++) {
            const floats element = splat(k[(size_t)i * dim + d]);
#pragma GCC unroll 8
            for (int v = 0; v < VECTORS; v++)
                sum[i * VECTORS + v] += element * q[v];
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < n; i++)
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; v++) {
            floats score = sum[i * VECTORS + v];
            if (masked)
                score = where_at_least(places->at[v], splat((float)(key + (size_t)i)), score, splat(-INFINITY));
            top[v] = larger_or_b(score, top[v]);
            store_floats(scores + (size_t)i * PANEL + (size_t)v * IFM_LANES, score);
        }
}

/* Scores of `n` keys of a tile, of which those from `plain` on are not seen by every query. The last few are computed
 * together with some before them a second time, which gives the same values. */
IFM_INLINE void score_keys(const float *k, size_t dim, const float *query, size_t n, size_t plain,
                           const struct places *places, float *scores, floats *out)
{
    floats top[VECTORS];
    for (int v = 0; v < VECTORS; v++)
        top[v] = splat(-INFINITY);
    size_t i = 0;
    for (; n >= DEEP && i < n; i += DEEP) {
        const size_t at = i + DEEP <= n ? i : n - DEEP;
        if (at + DEEP <= plain)
            score_tile(k + at * dim, dim, query, DEEP, scores + at * PANEL, top, false, places, at);
        else
            score_tile(k + at * dim, dim, query, DEEP, scores + at * PANEL, top, true, places, at);
    }
    for (; i < n; i++)
        score_tile(k + i * dim, dim, query, 1, scores + i * PANEL, top, true, places, i);
    for (int v = 0; v < VECTORS; v++)
        out[v] = top[v];
}

/* Scores become weights relative to the running maximum; `factor` is what sums before this tile are scaled by. Where
 * nothing was seen yet the maximum stays -infinity and every weight is 0. */
static void weigh(float *scores, size_t n, const floats *tile_top, float *top, float *total, floats *factor)
{
    for (int v = 0; v < VECTORS; v++) {
        const floats before = load_floats(top + (size_t)v * IFM_LANES);
        const floats high = larger_or_b(tile_top[v], before);
        const floats base = where_at_least(splat(-INFINITY), high, splat(0), high);
        factor[v] = exp2_of_negative(before - base);
        floats added[2] = {splat(0), splat(0)};
        float *at = scores + (size_t)v * IFM_LANES;
        size_t i = 0;
        for (; i + 2 <= n; i += 2, at += 2 * PANEL) {
            const floats one = exp2_of_negative(load_floats(at) - base);
            const floats two = exp2_of_negative(load_floats(at + PANEL) - base);
            store_floats(at, one);
            store_floats(at + PANEL, two);
            added[0] += one;
            added[1] += two;
        }
        for (; i < n; i++, at += PANEL) {
            const floats one = exp2_of_negative(load_floats(at) - base);
            store_floats(at, one);
            added[0] += one;
        }
        store_floats(top + (size_t)v * IFM_LANES, high);
        store_floats(total + (size_t)v * IFM_LANES,
                     load_floats(total + (size_t)v * IFM_LANES) * factor[v] + (added[0] + added[1]));
    }
}

/* sum[i] += weights of key x v[key][i] for DEEP dimensions and keys [from, to). */
IFM_INLINE void value_tile(const float *v, size_t dim, const float *weights, size_t from, size_t to, const bool masked,
                           const struct places *places, floats *sum)
{
#pragma GCC unroll 2
    for (size_t key = from; key < to; key++) {
        floats weight[VECTORS];
#pragma GCC unroll 8
        for (int w = 0; w < VECTORS; w++)
            weight[w] = load_floats(weights + key * PANEL + (size_t)w * IFM_LANES);
#pragma GCC unroll 16
        for (int i = 0; i < DEEP; i++) {
            const floats element = splat(v[key * dim + (size_t)i]);
#pragma GCC unroll 8
            for (int w = 0; w < VECTORS; w++) {
                if (masked) /* 0 x NaN is NaN, but invisible keys must not enter the sum */
                    sum[i * VECTORS + w] +=
                        where_at_least(places->at[w], splat((float)key), element, splat(0)) * weight[w];
                else
                    sum[i * VECTORS + w] += element * weight[w];
            }
        }
    }
}

IFM_INLINE void value_keys(const float *v, size_t dim, const float *weights, size_t n, size_t plain,
                           const struct places *places, const floats *factor, float *out)
{
    for (size_t d = 0; d < dim; d += DEEP) {
        floats sum[DEEP * VECTORS];
#pragma GCC unroll 64
        for (int i = 0; i < DEEP * VECTORS; i++)
            sum[i] = load_floats(out + d * PANEL + (size_t)i * IFM_LANES) * factor[i % VECTORS];
        value_tile(v + d, dim, weights, 0, plain, false, places, sum);
        if (plain < n)
            value_tile(v + d, dim, weights, plain, n, true, places, sum);
#pragma GCC unroll 64
        for (int i = 0; i < DEEP * VECTORS; i++)
            store_floats(out + d * PANEL + (size_t)i * IFM_LANES, sum[i]);
    }
}

void IFM_KERNEL(ifm_attention_widen)(const void *from, enum ifm_attention_storage storage, float *to, size_t n)
{
    const uint16_t *narrow = from;
    if (storage == IFM_STORE_F16)
        for (size_t i = 0; i < n; i += IFM_LANES)
            store_floats(to + i, load_f16(narrow + i));
    else
        for (size_t i = 0; i < n; i += IFM_LANES)
            store_floats(to + i, load_bf16(narrow + i));
}

void IFM_KERNEL(ifm_attention_store)(const float *from, float total, enum ifm_attention_storage storage, void *to,
                                     size_t n)
{
    const floats factor = splat(total == 0 ? 0 : 1 / total);
    for (size_t i = 0; i < n; i += IFM_LANES) {
        const floats value = load_floats(from + i) * factor;
        if (storage == IFM_STORE_F32)
            store_floats((float *)to + i, value);
        else if (storage == IFM_STORE_F16)
            store_f16((uint16_t *)to + i, value);
        else
            store_bf16((uint16_t *)to + i, value);
    }
}

void IFM_KERNEL(ifm_attention_softmax)(float *scores, size_t stride, size_t rows, size_t keys, bool causal,
                                       size_t first, float *totals)
{
    for (size_t r = 0; r < rows; r++, scores += stride) {
        const size_t seen = causal && first + r + 1 < keys ? first + r + 1 : keys;
        const size_t whole = seen / IFM_LANES * IFM_LANES;
        floats high = splat(-INFINITY), added = splat(0);
        for (size_t i = 0; i < whole; i += IFM_LANES)
            high = larger_or_b(load_floats(scores + i), high);
        float top = largest_lane(high);
        for (size_t i = whole; i < seen; i++)
            top = scores[i] > top ? scores[i] : top;
        const floats base = splat(top == -INFINITY ? 0 : top);
        for (size_t i = 0; i < whole; i += IFM_LANES) {
            const floats weight = exp2_of_negative(load_floats(scores + i) - base);
            store_floats(scores + i, weight);
            added += weight;
        }
        float total = sum_of_lanes(added), rest[IFM_LANES] = {0};
        if (whole < seen) {
            memcpy(rest, scores + whole, (seen - whole) * sizeof *rest);
            store_floats(rest, exp2_of_negative(load_floats(rest) - base));
            memcpy(scores + whole, rest, (seen - whole) * sizeof *rest);
            for (size_t i = 0; i < seen - whole; i++)
                total += rest[i];
        }
        memset(scores + seen, 0, (keys - seen) * sizeof *scores);
        totals[r] = total;
    }
}

/* ---- one unit ---- */

struct view {
    const char *q, *k, *v; /* of the unit's head, row 0 */
    char *out;
    size_t q_row, kv_row, out_row;  /* bytes from one row to the next */
    size_t dim, size, rows, length; /* rows of the block, its sequence's length */
    size_t first;                   /* position of the block's first query */
    bool causal;
    enum ifm_attention_storage storage;
};

static struct view view_of(const struct ifm_attention_job *job, const struct ifm_attention_unit *unit)
{
    const struct ifm_attention_shape *s = &job->shape;
    const struct ifm_attention_views *at = &job->at;
    const size_t size = ifm_attention_size(s->storage), kv_head = unit->head / (s->q_heads / s->kv_heads);
    const size_t kv = ifm_strides_head(&at->kv, unit->sequence, kv_head) * size;
    const size_t left = s->seq_len - unit->first;
    return (struct view){
        .q = (const char *)job->q + ifm_strides_head(&at->q, unit->sequence, unit->head) * size,
        .k = (const char *)job->k + kv,
        .v = (const char *)job->v + kv,
        .out = (char *)job->out + ifm_strides_head(&at->out, unit->sequence, unit->head) * size,
        .q_row = at->q.row * size,
        .kv_row = at->kv.row * size,
        .out_row = at->out.row * size,
        .dim = s->head_dim,
        .size = size,
        .rows = left < job->block ? left : job->block,
        .length = job->lengths[unit->sequence],
        .first = unit->first,
        .causal = s->causal,
        .storage = s->storage,
    };
}

/* `n` rows of K or V in f32, one behind the other: as they lie, or in `room`. */
static const float *floats_of(const struct view *view, const char *base, size_t row, size_t n, float *room)
{
    const char *from = base + row * view->kv_row;
    const bool whole = view->kv_row == view->dim * view->size;
    const size_t pieces = whole ? 1 : n, values = whole ? n * view->dim : view->dim;
    if (whole && view->storage == IFM_STORE_F32)
        return (const float *)(const void *)from;
    for (size_t i = 0; i < pieces; i++, from += view->kv_row)
        if (view->storage == IFM_STORE_F32)
            memcpy(room + i * values, from, values * sizeof *room);
        else
            IFM_KERNEL(ifm_attention_widen)(from, view->storage, room + i * values, values);
    return room;
}

/* t[i][j] becomes t[j][i]: at each step pairs of rows exchange the blocks beside the diagonal. */
IFM_INLINE void transpose(floats *t)
{
#if IFM_LANES > 1
#define EXCHANGE(step)                                                                                                 \
    for (int r = 0; r < IFM_LANES; r++)                                                                                \
        if ((r & (step)) == 0) {                                                                                       \
            const floats a = t[r], b = t[r + (step)];                                                                  \
            t[r] = __builtin_shufflevector(a, b, LIST(LOW, step));                                                     \
            t[r + (step)] = __builtin_shufflevector(a, b, LIST(HIGH, step));                                           \
        }
    EXCHANGE(1)
    EXCHANGE(2)
#if IFM_LANES >= 8
    EXCHANGE(4)
#endif
#if IFM_LANES >= 16
    EXCHANGE(8)
#endif
#undef EXCHANGE
#else
    (void)t;
#endif
}

IFM_INLINE floats load_stored(const char *row, enum ifm_attention_storage storage, size_t i)
{
    const uint16_t *narrow = (const uint16_t *)(const void *)row;
    return storage == IFM_STORE_F32   ? load_floats((const float *)(const void *)row + i)
           : storage == IFM_STORE_F16 ? load_f16(narrow + i)
                                      : load_bf16(narrow + i);
}

IFM_INLINE void store_stored(char *row, enum ifm_attention_storage storage, size_t i, floats value)
{
    uint16_t *narrow = (uint16_t *)(void *)row;
    if (storage == IFM_STORE_F32)
        store_floats((float *)(void *)row + i, value);
    else if (storage == IFM_STORE_F16)
        store_f16(narrow + i, value);
    else
        store_bf16(narrow + i, value);
}

/* Queries of the block that exist, transposed and in units of log2; lanes without a query are 0. */
static void load_queries(const struct view *view, size_t live, const struct attention_room *room)
{
    const float log2_e = 1.44269504f;
    const floats scale = splat(log2_e / sqrtf((float)view->dim));
    const size_t dim = view->dim, padded = (live + PANEL - 1) / PANEL * PANEL;
    for (size_t r = 0; r < padded; r += IFM_LANES) {
        float *to = room->query + r / PANEL * PANEL * dim + r % PANEL;
        for (size_t d = 0; d < dim; d += IFM_LANES) {
            floats t[IFM_LANES];
            for (size_t i = 0; i < IFM_LANES; i++)
                t[i] = r + i < live
                           ? load_stored(view->q + (view->first + r + i) * view->q_row, view->storage, d) * scale
                           : splat(0);
            transpose(t);
            for (size_t i = 0; i < IFM_LANES; i++)
                store_floats(to + (d + i) * PANEL, t[i]);
        }
        store_floats(room->top + r, splat(-INFINITY));
        store_floats(room->total + r, splat(0));
    }
    memset(room->sum, 0, padded * dim * sizeof(float));
}

/* Sums over totals, transposed back; 0 where nothing was seen. */
static void store_rows(const struct view *view, size_t live, const struct attention_room *room)
{
    const size_t dim = view->dim, row = view->out_row;
    char *out = view->out + view->first * row;
    for (size_t r = 0; r < live; r += IFM_LANES) {
        const float *from = room->sum + r / PANEL * PANEL * dim + r % PANEL;
        const floats total = load_floats(room->total + r);
        const floats factor = where_at_least(splat(0), total, splat(0), splat(1) / total);
        for (size_t d = 0; d < dim; d += IFM_LANES) {
            floats t[IFM_LANES];
            for (size_t i = 0; i < IFM_LANES; i++)
                t[i] = load_floats(from + (d + i) * PANEL) * factor;
            transpose(t);
            for (size_t i = 0; i < IFM_LANES && r + i < live; i++)
                store_stored(out + (r + i) * row, view->storage, d, t[i]);
        }
    }
    for (size_t r = live; r < view->rows; r++)
        memset(out + r * row, 0, dim * view->size);
}

/* A panel of queries with a tile of `n` keys that starts at key `start`. */
IFM_INLINE void attend_panel(const struct view *view, const size_t dim, const struct attention_room *room, size_t panel,
                             const float *k, const float *v, size_t start, size_t n)
{
    const size_t position = view->first + panel * PANEL, at = panel * PANEL * dim;
    size_t plain = n;
    struct places places;
    if (view->causal) {
        if (start > position + PANEL - 1)
            return;
        n = position + PANEL - start < n ? position + PANEL - start : n;
        plain = position + 1 <= start ? 0 : position + 1 - start < n ? position + 1 - start : n;
    }
    for (int w = 0; w < VECTORS; w++) {
        float place[IFM_LANES];
        for (int i = 0; i < IFM_LANES; i++)
            place[i] = view->causal ? (float)position - (float)start + (float)(w * IFM_LANES + i) : INFINITY;
        places.at[w] = load_floats(place);
    }
    floats top[VECTORS], factor[VECTORS];
    score_keys(k, dim, room->query + at, n, plain, &places, room->scores, top);
    weigh(room->scores, n, top, room->top + panel * PANEL, room->total + panel * PANEL, factor);
    value_keys(v, dim, room->scores, n, plain, &places, factor, room->sum + at);
}

IFM_INLINE void attend_unit(const struct view *view, const size_t dim, const struct attention_room *room)
{
    const size_t live = view->length <= view->first               ? 0
                        : view->length - view->first < view->rows ? view->length - view->first
                                                                  : view->rows;
    const size_t end = live == 0 ? 0 : view->causal ? view->first + live : view->length;
    load_queries(view, live, room);
    for (size_t start = 0; start < end; start += KEYS) {
        const size_t n = end - start < KEYS ? end - start : KEYS;
        const float *k = floats_of(view, view->k, start, n, room->k);
        const float *v = floats_of(view, view->v, start, n, room->v);
        for (size_t panel = 0; panel * PANEL < live; panel++)
            attend_panel(view, dim, room, panel, k, v, start, n);
    }
    store_rows(view, live, room);
}

void IFM_KERNEL(ifm_attention_tiled)(const struct ifm_attention_job *job, unsigned index)
{
    const struct attention_room room = room_of(job, index);
    for (;;) {
        const uint64_t at = __atomic_fetch_add(job->next, 1, __ATOMIC_RELAXED);
        if (at >= job->n_units)
            return;
        const struct view view = view_of(job, &job->units[at]);
        if (view.dim == 64)
            attend_unit(&view, 64, &room);
        else if (view.dim == 128)
            attend_unit(&view, 128, &room);
        else
            attend_unit(&view, view.dim, &room);
    }
}
