/* The kernel error of decode. */
#include "workload/decode/compare.h"

#include "base/half.h"
#include "workload/data/errors.h"
#include "workload/decode/parts.h"

#include <stdlib.h>

enum { HEADS_MOST = 32 }; /* at once: more of them read the cache again */

/* ---- the cache, as the format defines it ---- */

struct cache_reading {
    struct ifm_decode_oracle *oracle;
    struct ifm_decode_parts *parts;
    float *k, *v;
};

static void begin_part(const struct cache_reading *to)
{
    if (to->parts != NULL)
        ifm_decode_part_begin(to->parts, to->oracle);
}

static void end_part(const struct cache_reading *to)
{
    if (to->parts != NULL)
        ifm_decode_part_end(to->parts, to->oracle);
}

static void attend_page(const struct cache_reading *to, const struct ifm_kv_layout *layout, const void *page,
                        unsigned tokens)
{
    ifm_kv_page_read(layout, page, tokens, to->k, to->v);
    ifm_decode_oracle_add(to->oracle, tokens, to->k, to->v);
}

static void attend_side(const struct cache_reading *to, const struct ifm_kv_layout *layout,
                        const struct ifm_kv_piece *piece)
{
    if (piece->tokens == 0)
        return;
    begin_part(to);
    attend_page(to, layout, piece->page, piece->tokens);
    end_part(to);
}

/* Body pages of a part: all parts have room. */
static uint64_t pages_of_part(uint64_t pages)
{
    const uint64_t most = IFM_DECODE_PARTS_MOST - 3;
    return (pages + most - 1) / most;
}

static void attend_stored(const struct cache_reading *to, const struct ifm_kv_cache *cache, uint64_t pair)
{
    const struct ifm_kv_view view = ifm_kv_view_of(cache, pair);
    const struct ifm_kv_layout *body = ifm_kv_body_layout(cache), *ring = ifm_kv_ring_layout(cache);
    const uint64_t run = pages_of_part(view.n_body);
    attend_side(to, ifm_kv_sink_layout_of(cache), &view.sink);
    for (uint64_t i = 0; i < view.n_body; i++) {
        if (i % run == 0)
            begin_part(to);
        attend_page(to, body, view.pool + view.table[i] * body->page_bytes,
                    i + 1 < view.n_body ? IFM_KV_PAGE : view.last_tokens);
        if ((i + 1) % run == 0 || i + 1 == view.n_body)
            end_part(to);
    }
    attend_side(to, ring, &view.ring[0]);
    attend_side(to, ring, &view.ring[1]);
}

static void attend_rows(const struct cache_reading *to, const struct ifm_decode_rows *rows, uint64_t pair,
                        uint64_t tokens)
{
    const size_t dim = to->oracle->dim;
    const uint64_t pages = (tokens + IFM_KV_PAGE - 1) / IFM_KV_PAGE, run = pages_of_part(pages);
    for (uint64_t i = 0; i < pages; i++) {
        const size_t at = (size_t)rows->table[rows->first[pair] + i] * IFM_KV_PAGE * dim;
        const unsigned n = tokens - i * IFM_KV_PAGE < IFM_KV_PAGE ? (unsigned)(tokens - i * IFM_KV_PAGE) : IFM_KV_PAGE;
        for (size_t j = 0; j < n * dim; j++) {
            to->k[j] = ifm_f16_to_f32(rows->k[at + j]);
            to->v[j] = ifm_f16_to_f32(rows->v[at + j]);
        }
        if (i % run == 0)
            begin_part(to);
        ifm_decode_oracle_add(to->oracle, n, to->k, to->v);
        if ((i + 1) % run == 0 || i + 1 == pages)
            end_part(to);
    }
}

uint64_t ifm_decode_held(const struct ifm_decode_outputs *o, uint64_t pair)
{
    return o->cache != NULL ? ifm_kv_length(o->cache, pair)
                            : ifm_decode_length(o->settings, pair / o->settings->kv_heads) + o->rows->more;
}

void ifm_decode_attend_cache(const struct ifm_decode_outputs *o, uint64_t pair, struct ifm_decode_oracle *oracle,
                             struct ifm_decode_parts *parts, float *k, float *v)
{
    const struct cache_reading to = {oracle, parts, k, v};
    if (o->cache != NULL)
        attend_stored(&to, o->cache, pair);
    else
        attend_rows(&to, o->rows, pair, ifm_decode_held(o, pair));
    ifm_decode_oracle_end(oracle);
}

/* ---- all outputs ---- */

/* Of one pair, so that totals do not depend on the workers. */
struct pair_errors {
    struct ifm_data_errors errors;
    double part; /* of which the kernel certainly has too little or too much */
};

struct kernel_comparison {
    const struct ifm_decode_outputs *o;
    struct pair_errors *pairs;
    float *rows;     /* per worker: K and V of a page */
    double *doubles; /* per worker: of oracle and parts */
    unsigned heads;  /* at once */
    size_t each;     /* doubles of a worker */
};

/* `heads` heads of a pair, from head `first` of its group on. */
static void compare_heads(const struct kernel_comparison *c, uint64_t pair, unsigned first, unsigned heads,
                          unsigned worker)
{
    const struct ifm_decode_outputs *o = c->o;
    const unsigned dim = (unsigned)o->settings->head_dim;
    const size_t at = (pair * o->source->group + first) * dim;
    double *top = c->doubles + worker * c->each;
    float *k = c->rows + (size_t)worker * 2 * IFM_KV_PAGE * dim, *v = k + (size_t)IFM_KV_PAGE * dim;
    struct ifm_decode_parts parts;
    struct ifm_decode_oracle oracle = {.heads = heads, .dim = dim, .room = IFM_KV_PAGE, .passing = true};
    oracle.q = o->q + at;
    oracle.top = top;
    oracle.total = top + heads;
    oracle.sum = oracle.total + heads;
    oracle.scores = oracle.sum + (size_t)heads * dim;
    ifm_decode_parts_start(&parts, heads, dim, oracle.scores + (size_t)heads * IFM_KV_PAGE);
    ifm_decode_oracle_begin(&oracle);
    ifm_decode_attend_cache(o, pair, &oracle, &parts, k, v);
    for (unsigned h = 0; h < heads; h++)
        ifm_data_errors_add(&c->pairs[pair].errors, o->out + at + (size_t)h * dim, oracle.sum + (size_t)h * dim, dim);
    const double part = ifm_decode_parts_wrong(&parts, &oracle, o->out + at);
    c->pairs[pair].part = part > c->pairs[pair].part ? part : c->pairs[pair].part;
}

static void compare_pairs(void *arg, unsigned index, unsigned count)
{
    const struct kernel_comparison *c = arg;
    const struct ifm_decode_settings *s = c->o->settings;
    const unsigned group = c->o->source->group;
    for (uint64_t pair = index; pair < s->batch * s->kv_heads; pair += count) {
        const uint64_t length = ifm_decode_length(s, pair / s->kv_heads), held = ifm_decode_held(c->o, pair);
        for (unsigned first = 0; first < group; first += c->heads)
            compare_heads(c, pair, first, group - first < c->heads ? group - first : c->heads, index);
        if (held < ifm_decode_first(s, c->o->form, length) || held > ifm_decode_most(s, c->o->form, length))
            c->pairs[pair].part = 1;
    }
}

static void add_up(const struct kernel_comparison *c, struct ifm_check *out)
{
    struct ifm_data_errors all = {0};
    out->has_part = true;
    for (uint64_t i = 0; i < c->o->settings->batch * c->o->settings->kv_heads; i++) {
        ifm_data_errors_join(&all, &c->pairs[i].errors);
        out->error_part = c->pairs[i].part > out->error_part ? c->pairs[i].part : out->error_part;
    }
    ifm_data_errors_tell(&all, out);
}

enum ifm_status ifm_decode_compare_kernel(const struct ifm_decode_outputs *o, struct ifm_check *out,
                                          struct ifm_error *error)
{
    const unsigned dim = (unsigned)o->settings->head_dim, group = o->source->group;
    struct kernel_comparison c = {.o = o, .heads = group < HEADS_MOST ? group : HEADS_MOST};
    c.each = c.heads * (2 + (size_t)dim + IFM_KV_PAGE) + ifm_decode_parts_room(c.heads, dim);
    c.pairs = calloc(o->settings->batch * o->settings->kv_heads, sizeof *c.pairs);
    c.rows = malloc(o->threads * 2 * IFM_KV_PAGE * (size_t)dim * sizeof *c.rows);
    c.doubles = malloc(o->threads * c.each * sizeof *c.doubles);
    enum ifm_status status = IFM_OK;
    if (c.pairs == NULL || c.rows == NULL || c.doubles == NULL) {
        status = ifm_fail(error, IFM_INTERNAL, "decode", NULL, "out of memory for the oracle");
    } else {
        o->device->ops->parallel(o->device, o->threads, compare_pairs, &c);
        add_up(&c, out);
    }
    free(c.pairs);
    free(c.rows);
    free(c.doubles);
    return status;
}
