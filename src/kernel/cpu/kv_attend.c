/* Attention over the elastic KV cache: how its pages are divided among workers, where workers keep their state, and how
 * the pieces of one pair are joined. Page functions do the arithmetic. Nothing here allocates or waits. */
#include "kernel/cpu/kv_attend.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const float VERY_LOW = -1e30f; /* a score lower than any data can give */
static const uint64_t NO_PAIR = UINT64_MAX;

enum { LINE = 64, SIDES = 3 };

static size_t up(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static unsigned group_of(const struct ifm_kv_job *job)
{
    return (unsigned)(job->q_heads / job->kv_heads);
}

static uint64_t pairs_of(const struct ifm_kv_job *job)
{
    return job->batch * job->kv_heads;
}

/* A worker's part of the scratch: sums[0] continues a pair that an earlier worker began, sums[1] begins a pair that a
 * later worker ends; sums[2] is for pairs of its own. */
struct notes {
    uint64_t pair[2]; /* NO_PAIR = unused */
    bool ends;        /* sums[0] reaches the end of its pair */
    uint64_t pages;   /* body pages that were read */
};
struct attend_worker {
    struct notes *notes;
    uint64_t *starts; /* [pairs + 1]: byte at which each pair begins, counted over all pairs */
    float *query;     /* [group][head_dim], scaled */
    struct ifm_kv_piece_sums sums[3];
    void *scratch;
};

static size_t sums_bytes(const struct ifm_kv_job *job)
{
    const size_t group = group_of(job);
    return 2 * up(group * sizeof(float)) + up(group * job->head_dim * sizeof(float));
}

static size_t worker_bytes(const struct ifm_kv_job *job)
{
    return up(sizeof(struct notes)) + up((pairs_of(job) + 1) * sizeof(uint64_t)) +
           up((size_t)group_of(job) * job->head_dim * sizeof(float)) + 3 * sums_bytes(job) +
           up(ifm_kv_attend_scratch_bytes(job->head_dim, group_of(job)));
}

size_t ifm_kv_job_scratch_bytes(const struct ifm_kv_job *job, unsigned workers)
{
    return worker_bytes(job) * workers;
}

static struct attend_worker worker_at(const struct ifm_kv_job *job, unsigned index)
{
    const size_t group = group_of(job), heads = up(group * sizeof(float));
    unsigned char *at = (unsigned char *)job->scratch + worker_bytes(job) * index;
    struct attend_worker w = {.notes = (struct notes *)(void *)at};
    at += up(sizeof(struct notes));
    w.starts = (uint64_t *)(void *)at;
    at += up((pairs_of(job) + 1) * sizeof(uint64_t));
    w.query = (float *)(void *)at;
    at += up(group * job->head_dim * sizeof(float));
    for (int i = 0; i < 3; i++) {
        w.sums[i] = (struct ifm_kv_piece_sums){(float *)(void *)at, (float *)(void *)(at + heads),
                                               (float *)(void *)(at + 2 * heads)};
        at += sums_bytes(job);
    }
    w.scratch = at;
    return w;
}

/* What attention reads of a pair, as units: its body pages, then sink and ring. A worker takes whole units: those whose
 * first byte lies in its share of all bytes. */
struct attend_extent {
    struct ifm_kv_view view;
    uint64_t page_bytes, body_bytes, bytes;
    uint64_t side_bytes[SIDES];
};

static struct attend_extent extent_of(const struct ifm_kv_job *job, uint64_t pair)
{
    struct attend_extent e = {.view = ifm_kv_view_of(job->cache, pair)};
    const struct ifm_kv_layout *body = ifm_kv_body_layout(job->cache);
    const unsigned sides[SIDES] = {e.view.sink.tokens, e.view.ring[0].tokens, e.view.ring[1].tokens};
    e.page_bytes = body->page_bytes;
    if (e.view.n_body > 0)
        e.body_bytes = (e.view.n_body - 1) * e.page_bytes + e.page_bytes * e.view.last_tokens / body->tokens;
    e.bytes = e.body_bytes;
    for (int i = 0; i < SIDES; i++) {
        e.side_bytes[i] = (uint64_t)sides[i] * job->head_dim * 2 * sizeof(uint16_t);
        e.bytes += e.side_bytes[i];
    }
    return e;
}

/* The first unit that begins at `byte` of the pair or later, and has any; n_body + SIDES when there is none. */
static uint64_t unit_from(const struct attend_extent *e, uint64_t byte)
{
    const uint64_t page = (byte + e->page_bytes - 1) / e->page_bytes;
    if (page < e->view.n_body)
        return page;
    uint64_t start = e->body_bytes;
    for (unsigned i = 0; i < SIDES; i++) {
        if (start >= byte && start < e->bytes)
            return e->view.n_body + i;
        start += e->side_bytes[i];
    }
    return e->view.n_body + SIDES;
}

static const void *body_page(const struct attend_extent *e, uint64_t i)
{
    return e->view.pool + e->view.table[i] * e->page_bytes;
}

static const struct ifm_kv_piece *side_of(const struct attend_extent *e, uint64_t unit)
{
    const uint64_t i = unit - e->view.n_body;
    return i == 0 ? &e->view.sink : &e->view.ring[i - 1];
}

/* ifm_kv_rotate in f32: the sums carry f32's rounding already. */
static void rotate(float *x, unsigned head_dim, size_t n)
{
    const size_t size = head_dim & -head_dim;
    const float scale = 1.0f / sqrtf((float)size);
    for (size_t at = 0; at < n * head_dim; at += size) {
        float *y = x + at;
        for (size_t half = 1; half < size; half *= 2)
            for (size_t i = 0; i < size; i += 2 * half)
                for (size_t j = i; j < i + half; j++) {
                    const float a = y[j], b = y[j + half];
                    y[j] = a + b;
                    y[j + half] = a - b;
                }
        for (size_t i = 0; i < size; i++)
            y[i] *= scale;
    }
}

static void begin(const struct ifm_kv_job *job, uint64_t pair, const struct attend_worker *w,
                  const struct ifm_kv_piece_sums *sums)
{
    const size_t group = group_of(job), values = group * job->head_dim;
    const float log2_e = 1.44269504f, scale = log2_e / sqrtf((float)job->head_dim);
    const float *query = job->q + pair * values;
    for (size_t i = 0; i < values; i++) {
        w->query[i] = query[i] * scale;
        sums->sum[i] = 0;
    }
    for (size_t h = 0; h < group; h++) {
        sums->top[h] = VERY_LOW;
        sums->total[h] = 0;
    }
}

/* Units [from, to) of a pair; `after` is the body page that follows them. The result is never in the rotated domain. */
static void attend_units(const struct ifm_kv_job *job, const struct attend_extent *e, uint64_t from, uint64_t to,
                         const void *after, const struct attend_worker *w, const struct ifm_kv_piece_sums *sums)
{
    const struct ifm_kv_layout *body = ifm_kv_body_layout(job->cache);
    const unsigned group = group_of(job);
    const uint64_t n_body = e->view.n_body, body_to = to < n_body ? to : n_body;
    for (uint64_t i = from; i < body_to; i++) {
        const void *next = i + 1 < body_to ? body_page(e, i + 1) : after;
        const unsigned tokens = i + 1 == n_body ? e->view.last_tokens : body->tokens;
        job->body(body, body_page(e, i), tokens, group, w->query, sums, w->scratch, next);
        w->notes->pages++;
    }
    if (from < body_to && body->rotated)
        rotate(sums->sum, job->head_dim, group);
    for (uint64_t i = from > n_body ? from : n_body; i < to; i++) {
        const struct ifm_kv_piece *side = side_of(e, i);
        const struct ifm_kv_layout *layout =
            i == n_body ? ifm_kv_sink_layout_of(job->cache) : ifm_kv_ring_layout(job->cache);
        if (side->tokens > 0)
            job->f16(layout, side->page, side->tokens, group, w->query, sums, w->scratch, NULL);
    }
}

/* A head without any weight is zero; a total of NaN gives NaN. */
static void finish(const struct ifm_kv_job *job, const struct ifm_kv_piece_sums *sums, uint64_t pair)
{
    const size_t group = group_of(job), dim = job->head_dim;
    float *out = job->out + pair * group * dim;
    for (size_t h = 0; h < group; h++) {
        const float total = sums->total[h];
        for (size_t d = h * dim; d < (h + 1) * dim; d++)
            out[d] = total == 0 ? 0 : sums->sum[d] / total;
    }
}

static uint64_t find_starts(const struct ifm_kv_job *job, uint64_t *starts)
{
    uint64_t at = 0;
    for (uint64_t pair = 0; pair < pairs_of(job); pair++) {
        starts[pair] = at;
        at += extent_of(job, pair).bytes;
    }
    starts[pairs_of(job)] = at;
    return at;
}

/* The first body page that follows a pair in bytes before `to`; NULL without one, or where sink or ring come first. */
static const void *page_after(const struct ifm_kv_job *job, const struct attend_worker *w, uint64_t pair, uint64_t to)
{
    for (pair++; pair < pairs_of(job) && w->starts[pair] < to; pair++) {
        const struct attend_extent e = extent_of(job, pair);
        if (e.bytes > 0)
            return e.view.n_body > 0 ? body_page(&e, 0) : NULL;
    }
    return NULL;
}

void ifm_kv_decode_work(const struct ifm_kv_job *job, unsigned index, unsigned count)
{
    const struct attend_worker w = worker_at(job, index);
    const uint64_t all = find_starts(job, w.starts), pairs = pairs_of(job);
    /* No overflow: 2^50 bytes x 2^12 workers. */
    const uint64_t from = all * index / count, to = all * (index + 1ULL) / count;
    const size_t values = (size_t)group_of(job) * job->head_dim;
    *w.notes = (struct notes){{NO_PAIR, NO_PAIR}, false, 0};
    for (uint64_t pair = 0; pair < pairs; pair++) {
        const uint64_t start = w.starts[pair], end = w.starts[pair + 1];
        if (start == end && index == 0)
            memset(job->out + pair * values, 0, values * sizeof(float));
        if (start == end || end <= from || start >= to)
            continue;
        const struct attend_extent e = extent_of(job, pair);
        const uint64_t units = e.view.n_body + SIDES;
        const uint64_t first = from > start ? unit_from(&e, from - start) : 0;
        const uint64_t last = to < end ? unit_from(&e, to - start) : units;
        if (first == last)
            continue;
        const bool begins = first == 0, ends = last == units;
        const int kind = !begins ? 0 : ends ? 2 : 1;
        begin(job, pair, &w, &w.sums[kind]);
        attend_units(job, &e, first, last, page_after(job, &w, pair, to), &w, &w.sums[kind]);
        if (kind == 2)
            finish(job, &w.sums[kind], pair);
        else
            w.notes->pair[kind] = pair;
        if (kind == 0)
            w.notes->ends = ends;
    }
}

/* into := into and piece together, as one softmax over both. */
static void join(const struct ifm_kv_piece_sums *into, const struct ifm_kv_piece_sums *piece, size_t group, size_t dim)
{
    for (size_t h = 0; h < group; h++) {
        const float top = fmaxf(into->top[h], piece->top[h]);
        const float keep = exp2f(into->top[h] - top), add = exp2f(piece->top[h] - top);
        into->top[h] = top;
        into->total[h] = into->total[h] * keep + piece->total[h] * add;
        for (size_t d = h * dim; d < (h + 1) * dim; d++)
            into->sum[d] = into->sum[d] * keep + piece->sum[d] * add;
    }
}

uint64_t ifm_kv_decode_merge(const struct ifm_kv_job *job, unsigned count)
{
    struct ifm_kv_piece_sums open = {0}; /* of the pair that was begun and that later workers continue */
    uint64_t pages = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct attend_worker w = worker_at(job, i);
        pages += w.notes->pages;
        if (w.notes->pair[0] != NO_PAIR) {
            join(&open, &w.sums[0], group_of(job), job->head_dim);
            if (w.notes->ends)
                finish(job, &open, w.notes->pair[0]);
        }
        if (w.notes->pair[1] != NO_PAIR)
            open = w.sums[1];
    }
    return pages;
}
