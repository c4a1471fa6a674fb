/* The launches of a compressed cache that grows on a GPU. */
#include "workload/decode/cuda_grow.h"

#include <stdio.h>
#include <stdlib.h>

uint64_t ifm_decode_grow_bytes(const struct ifm_kv_shape *shape)
{
    uint64_t pages = 0;
    for (uint64_t pair = 0; pair < shape->pairs; pair++)
        pages += ifm_kv_body_pages(shape, shape->capacity[pair]);
    return pages * ifm_kv_layout_of(shape->format, shape->head_dim).page_bytes +
           shape->pairs * 2 * IFM_KV_SIDE * shape->head_dim * sizeof(uint16_t);
}

/* Body pages that the cache has and will have, and the jobs that lead from one to the other. */
struct grow_plan {
    const struct ifm_kv_shape *shape;
    const uint64_t *lengths, *first;
    const uint32_t *table;
    struct ifm_kv_pack_job *jobs;
    uint32_t *places;
    uint32_t n, most; /* jobs; of one token */
};

/* The pages that leave their rings behind one token. */
static void jobs_of(struct grow_plan *g, uint64_t token)
{
    const uint32_t before = g->n, dim = g->shape->head_dim;
    for (uint64_t pair = 0; pair < g->shape->pairs; pair++) {
        const uint64_t length = g->lengths[pair] + token, page = ifm_kv_body_pages(g->shape, length);
        if (ifm_kv_body_pages(g->shape, length + 1) == page)
            continue;
        g->jobs[g->n] = (struct ifm_kv_pack_job){pair * 2 * IFM_KV_SIDE * dim +
                                                     ifm_kv_side_row(dim, 1 + (uint32_t)(page % 2), 0, 0),
                                                 g->n - before, IFM_KV_PAGE};
        g->places[g->n++] = g->table[g->first[pair] + page];
    }
    g->most = g->n - before > g->most ? g->n - before : g->most;
}

static enum ifm_status upload(struct ifm_device *device, const char *name, const char *what, const void *from,
                              size_t bytes, void **out, struct ifm_error *error)
{
    char text[96];
    bool fresh;
    snprintf(text, sizeof text, "%s %s", name, what);
    IFM_TRY(device->ops->buffer(device, text, bytes + 64, out, &fresh, error));
    return from != NULL && bytes > 0 ? ifm_cuda_write(device, *out, from, bytes, error) : IFM_OK;
}

static size_t canonical_bytes(const struct ifm_decode_grow *grow)
{
    return (size_t)grow->layers * grow->most * grow->arrange_of.layout.page_bytes;
}

/* What is on the device of it. */
static enum ifm_status upload_growth(struct ifm_decode_grow *grow, const struct grow_plan *g, const char *name,
                                     struct ifm_error *error)
{
    struct ifm_device *device = grow->device;
    uint32_t *lengths = calloc(g->shape->pairs + 1, sizeof *lengths);
    void *at, *jobs, *places, *pages;
    if (lengths == NULL)
        return ifm_fail(error, IFM_INTERNAL, name, NULL, "out of memory");
    for (uint64_t pair = 0; pair < g->shape->pairs; pair++)
        lengths[pair] = (uint32_t)g->lengths[pair];
    enum ifm_status status = upload(device, name, "lengths", lengths, g->shape->pairs * sizeof *lengths, &at, error);
    free(lengths);
    IFM_TRY(status);
    IFM_TRY(upload(device, name, "jobs", g->jobs, g->n * sizeof *g->jobs, &jobs, error));
    IFM_TRY(upload(device, name, "places", g->places, g->n * sizeof *g->places, &places, error));
    grow->most = g->most;
    IFM_TRY(upload(device, name, "canonical pages", NULL, canonical_bytes(grow), &pages, error));
    grow->advance_of.append.lengths = at;
    grow->jobs = jobs;
    grow->places = places;
    grow->canonical = pages;
    return IFM_OK;
}

static enum ifm_status plan_growth(struct ifm_decode_grow *grow, const struct ifm_kv_shape *shape,
                                   const uint64_t *lengths, const char *name, struct ifm_error *error)
{
    uint64_t *first = calloc(shape->pairs + 1, sizeof *first);
    if (first == NULL)
        return ifm_fail(error, IFM_INTERNAL, name, NULL, "out of memory");
    ifm_kv_deal_out(shape, first, NULL);
    const uint64_t room = shape->pairs * (grow->tokens / IFM_KV_PAGE + 1);
    uint32_t *table = calloc(first[shape->pairs] + 1, sizeof *table);
    struct grow_plan g = {shape, lengths, first, table, calloc(room + 1, sizeof *g.jobs), calloc(room + 1, 4), 0, 0};
    grow->due = calloc(grow->tokens + 1, sizeof *grow->due);
    grow->body = first[shape->pairs] * grow->arrange_of.layout.page_bytes;
    enum ifm_status status = IFM_OK;
    if (table == NULL || g.jobs == NULL || g.places == NULL || grow->due == NULL)
        status = ifm_fail(error, IFM_INTERNAL, name, NULL, "out of memory");
    if (status == IFM_OK) {
        ifm_kv_deal_out(shape, first, table);
        for (uint64_t token = 0; token < grow->tokens; token++) {
            jobs_of(&g, token);
            grow->due[token + 1] = g.n;
        }
        status = upload_growth(grow, &g, name, error);
    }
    free(first);
    free(table);
    free(g.jobs);
    free(g.places);
    return status;
}

enum ifm_status ifm_decode_grow_open(struct ifm_device *device, const struct ifm_kv_shape *shape,
                                     const uint64_t *lengths, uint64_t tokens, unsigned layers, const char *name,
                                     struct ifm_decode_grow *out, struct ifm_error *error)
{
    const struct ifm_kv_layout layout = ifm_kv_layout_of(shape->format, shape->head_dim);
    *out = (struct ifm_decode_grow){.device = device, .tokens = tokens, .layers = layers};
    out->advance_of.append.sink = shape->sink;
    out->advance_of.append.pairs = (uint32_t)shape->pairs;
    out->advance_of.append.head_dim = shape->head_dim;
    out->advance.threads = 32 * IFM_KV_APPEND_WARPS;
    out->arrange_of.layout = ifm_kv_fragment_of(&layout);
    out->arrange_of.layer = ifm_decode_grow_bytes(shape);
    out->arrange.threads = IFM_KV_ARRANGE_THREADS;
    IFM_TRY(ifm_decode_pack_open(device, &layout, &out->pack, error));
    out->pack.arguments.layer = out->arrange_of.layer / sizeof(uint16_t);
    IFM_TRY(ifm_cuda_find(device, "kv_append", "ifm_kv_advance", &out->advance.function, error));
    IFM_TRY(ifm_cuda_find(device, "kv_append", "ifm_kv_arrange", &out->arrange.function, error));
    return plan_growth(out, shape, lengths, name, error);
}

void ifm_decode_grow_close(struct ifm_decode_grow *grow)
{
    free(grow->due);
}

/* Pages of token `token` into their order, in `layers` from `pool` on. */
static void arrange(struct ifm_decode_grow *grow, uint64_t token, unsigned char *pool, unsigned layers)
{
    const uint32_t first = grow->due[token], n = grow->due[token + 1] - first;
    grow->arrange_of.from = grow->canonical;
    grow->arrange_of.to = pool;
    grow->arrange_of.places = grow->places + first;
    grow->arrange_of.n = n;
    grow->arrange.blocks = layers * n * IFM_KV_ARRANGE_BLOCKS;
    grow->arrange.arguments = &grow->arrange_of;
    if (n > 0)
        ifm_cuda_launch(grow->device, &grow->arrange);
}

/* What is in front of attention at every token. */
void ifm_decode_grow_rows(struct ifm_decode_grow *grow, uint64_t token, const float *rows, unsigned char *pool,
                          const struct ifm_decode_advance_of *next)
{
    struct ifm_kv_advance_of *a = &grow->advance_of;
    a->next = next == NULL ? (struct ifm_decode_advance_of){0} : *next;
    a->append.sides = (uint16_t *)(void *)(pool + grow->body);
    a->append.rows = rows;
    a->append.token = (uint32_t)token;
    grow->advance.blocks =
        (a->next.pairs * a->next.group + a->append.pairs + IFM_KV_APPEND_WARPS - 1) / IFM_KV_APPEND_WARPS;
    grow->advance.arguments = a;
    ifm_cuda_launch(grow->device, &grow->advance);
}

void ifm_decode_grow(struct ifm_decode_grow *grow, uint64_t token, const float *rows, unsigned char *pool)
{
    ifm_decode_grow_rows(grow, token, rows, pool, NULL);
    ifm_decode_grow_pages(grow, token, pool, 1);
}

void ifm_decode_grow_pages(struct ifm_decode_grow *grow, uint64_t token, unsigned char *pool, unsigned layers)
{
    const uint32_t first = grow->due[token], n = grow->due[token + 1] - first;
    const uint16_t *sides = (const uint16_t *)(const void *)(pool + grow->body);
    ifm_decode_pack_launch(grow->device, &grow->pack, sides, grow->canonical, grow->jobs + first, n, layers);
    arrange(grow, token, pool, layers);
}

void ifm_decode_grow_spoil(struct ifm_decode_grow *grow, unsigned char *pool)
{
    if (grow->most == 0)
        return;
    ifm_cuda_fill(grow->device, grow->canonical, UINT32_MAX, canonical_bytes(grow) / sizeof(uint32_t));
    for (uint64_t token = 0; token < grow->tokens; token++)
        arrange(grow, token, pool, grow->layers);
}
