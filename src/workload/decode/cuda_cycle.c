/* An inference cycle on the device cuda: what is appended and asked, and the launches of all tokens in all layers.
 *
 * Lengths are in the launches, since all of them are known when the cycle is captured: no kernel reads a length from
 * memory before it reads the cache, and each place has just the work that it needs. A server that captures one token
 * and replays it has its lengths in memory instead. So a step begins where the last one began: only rows, queries and
 * outputs are put back, by ifm_decode_cuda_rewind, outside what is timed. */
#include "workload/decode/run_cuda.h"

#include <stdlib.h>
#include <string.h>

/* ---- the rows ---- */

static enum ifm_status no_memory(const struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
}

/* The queries that each token brings, of the same positions as on the processor. */
static enum ifm_status make_fresh(const struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    const struct ifm_decode_settings *s = run->settings;
    for (uint64_t token = 0; token < run->tokens; token++)
        for (uint64_t pair = 0; pair < run->pairs; pair++)
            IFM_TRY(ifm_data_source_queries(
                &run->source, pair, ifm_decode_length(s, pair / s->kv_heads) + token,
                run->cycle.fresh + token * run->outputs + pair * run->source.group * s->head_dim, error));
    return IFM_OK;
}

/* K and V of a pair's tokens, `room` for both, dealt out to the rows of each token. */
static enum ifm_status make_rows_of(const struct ifm_decode_cuda_run *run, uint64_t pair, float *room,
                                    struct ifm_error *error)
{
    const struct ifm_decode_settings *s = run->settings;
    const size_t dim = s->head_dim;
    float *k = room, *v = room + run->tokens * dim;
    IFM_TRY(ifm_data_source_kv(&run->source, pair, ifm_decode_length(s, pair / s->kv_heads), (unsigned)run->tokens, k,
                               v, error));
    for (uint64_t token = 0; token < run->tokens; token++) {
        float *to = run->cycle.rows + (token * run->pairs + pair) * 2 * dim;
        memcpy(to, k + token * dim, dim * sizeof *to);
        memcpy(to + dim, v + token * dim, dim * sizeof *to);
    }
    return IFM_OK;
}

static enum ifm_status make_rows(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    const size_t of_pair = 2 * run->tokens * run->settings->head_dim, values = run->pairs * of_pair;
    float *room = malloc(of_pair * sizeof *room);
    void *at;
    run->cycle.rows = malloc(values * sizeof *run->cycle.rows);
    enum ifm_status status = IFM_OK;
    if (room == NULL || run->cycle.rows == NULL)
        status = no_memory(run, error);
    for (uint64_t pair = 0; pair < run->pairs && status == IFM_OK; pair++)
        status = make_rows_of(run, pair, room, error);
    free(room);
    IFM_TRY(status);
    IFM_TRY(ifm_decode_cuda_buffer(run, "rows", run->cycle.rows, values * sizeof *run->cycle.rows, &at, error));
    run->cycle.rows_at = at;
    return IFM_OK;
}

/* ---- open, close ---- */

/* What no place changes. */
static enum ifm_status make_launches(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    struct ifm_decode_cuda_cycle *cycle = &run->cycle;
    const struct ifm_decode_attend *a = &run->arguments;
    const bool packed = run->packed.cache != NULL; /* its rows have another kernel */
    const uint64_t heads = run->pairs * a->group, tasks = heads + (cycle->appends && !packed ? run->pairs : 0);
    cycle->next = (struct ifm_decode_advance_of){.table = a->table,
                                                 .units = a->units,
                                                 .pairs = (uint32_t)run->pairs,
                                                 .group = a->group,
                                                 .parts = a->parts,
                                                 .head_dim = a->head_dim,
                                                 .pages = a->pages};
    cycle->advance.blocks = (unsigned)((tasks + IFM_DECODE_ADVANCE_WARPS - 1) / IFM_DECODE_ADVANCE_WARPS);
    cycle->advance.threads = 32 * IFM_DECODE_ADVANCE_WARPS;
    cycle->advance.arguments = &cycle->next;
    IFM_TRY(ifm_cuda_find(run->device, "decode", "ifm_decode_advance", &cycle->advance.function, error));
    if (packed)
        return IFM_OK;
    cycle->back = (struct ifm_decode_rewind_of){.k = run->pools[0],
                                                .v = run->pools[0],
                                                .layer = 2 * run->half / sizeof(uint16_t),
                                                .table = a->table,
                                                .units = a->units,
                                                .pairs = (uint32_t)run->pairs,
                                                .parts = a->parts,
                                                .head_dim = a->head_dim,
                                                .tokens = a->tokens,
                                                .pages = a->pages,
                                                .rows = (uint32_t)run->tokens};
    cycle->back.v += run->half / sizeof(uint16_t);
    cycle->rewind.blocks = (unsigned)(run->pairs * run->layers);
    cycle->rewind.threads = IFM_DECODE_REWIND_THREADS;
    cycle->rewind.arguments = &cycle->back;
    return ifm_cuda_find(run->device, "decode", "ifm_decode_rewind", &cycle->rewind.function, error);
}

enum ifm_status ifm_decode_cuda_cycle_open(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    struct ifm_decode_cuda_cycle *cycle = &run->cycle;
    void *at;
    cycle->fresh = malloc(ifm_decode_cuda_bytes(run));
    if (cycle->fresh == NULL)
        return no_memory(run, error);
    IFM_TRY(make_fresh(run, error));
    IFM_TRY(ifm_decode_cuda_buffer(run, "fresh", cycle->fresh, ifm_decode_cuda_bytes(run), &at, error));
    cycle->fresh_at = at;
    if (cycle->appends)
        IFM_TRY(make_rows(run, error));
    IFM_TRY(make_launches(run, error));
    if (cycle->appends && run->packed.cache != NULL)
        IFM_TRY(ifm_decode_cuda_packed_cycle_open(run, error));
    ifm_decode_cuda_rewind(run);
    return ifm_decode_cuda_digest(run, 0, &cycle->still, error);
}

void ifm_decode_cuda_cycle_close(struct ifm_decode_cuda_run *run)
{
    free(run->cycle.fresh);
    free(run->cycle.rows);
}

/* ---- at work ---- */

/* Where the caches of a token in a layer lie, and how long they are. */
static void find_caches(struct ifm_decode_cuda_run *run, uint64_t token, unsigned layer)
{
    const struct ifm_decode_cuda_cycle *cycle = &run->cycle;
    struct ifm_decode_advance_of *next = &run->cycle.next;
    struct ifm_decode_attend *a = &run->arguments;
    next->k = run->pools[layer];
    next->v = next->k + run->half / sizeof(uint16_t);
    a->k = next->k;
    a->v = next->v;
    a->tokens = cycle->length == 0 ? 0 : cycle->length + (cycle->appends ? (uint32_t)token + 1 : 0);
    if (cycle->units != NULL)
        a->units = cycle->units + token * (a->n_units + 1);
    if (cycle->first != NULL)
        a->first = cycle->first + token * run->launch.blocks;
    next->tokens = a->tokens;
    next->units = a->units;
}

/* Attention does what a launch in front of it did: makes queries, and appends the rows. */
static void feed(struct ifm_decode_attend *a, const struct ifm_decode_advance_of *next)
{
    a->fresh = next->fresh;
    a->output = next->output;
    a->made = next->q;
    a->rows = next->rows;
}

/* Whether a place may begin while the launch in front of it ends, as it reads its cache before it waits for that. Not
 * where that writes what this one reads: it is of the same layer, packs pages or goes back to where a cycle begins.
 * What lies before that has ended, as no kernel of a cycle lets the next one begin sooner; but a place that joins what
 * the one in front left lets it begin when that is there, so that of what lies two before only this has been left. */
static bool is_early(const struct ifm_decode_cuda_run *run, uint64_t token, unsigned layer)
{
    return run->early && run->cycle.feeds && run->layers > (run->packed.arguments.later != 0 ? 2 : 1) &&
           (layer > 0 || (token > 0 && !ifm_decode_cuda_packed_due(run, token)));
}

void ifm_decode_cuda_place(struct ifm_decode_cuda_run *run, uint64_t token, unsigned layer)
{
    const struct ifm_decode_cuda_cycle *cycle = &run->cycle;
    struct ifm_decode_advance_of *next = &run->cycle.next;
    struct ifm_decode_attend *a = &run->arguments;
    const size_t at = token * run->outputs;
    float *q = run->q_at, *out = run->out_at;
    next->fresh = cycle->fresh_at + at;
    next->output = layer > 0 ? out + at : token > 0 ? out + at - run->outputs : NULL;
    next->q = q + at;
    if (run->packed.cache != NULL) {
        ifm_decode_cuda_packed_place(run, token, layer);
    } else {
        find_caches(run, token, layer);
        next->rows = cycle->rows_at == NULL ? NULL : cycle->rows_at + token * run->pairs * 2 * a->head_dim;
        a->q = q + at;
        a->out = out + at;
        feed(a, cycle->feeds ? next : &(struct ifm_decode_advance_of){0});
        if (!cycle->feeds)
            ifm_cuda_launch(run->device, &cycle->advance);
    }
    if (is_early(run, token, layer))
        ifm_cuda_launch_early(run->device, &run->launch);
    else
        ifm_cuda_launch(run->device, &run->launch);
    if (!cycle->feeds) /* the next place's launch in front reads the outputs */
        ifm_decode_cuda_packed_finish(run);
}

void ifm_decode_cuda_cycle(void *opened)
{
    struct ifm_decode_cuda_run *run = opened;
    for (uint64_t token = 0; token < run->tokens; token++)
        for (unsigned layer = 0; layer < run->layers; layer++)
            ifm_decode_cuda_place(run, token, layer);
    ifm_decode_cuda_packed_finish(run);
}

void ifm_decode_cuda_rewind(struct ifm_decode_cuda_run *run)
{
    const size_t words = ifm_decode_cuda_bytes(run) / sizeof(uint32_t);
    if (run->cycle.appends && run->packed.cache != NULL)
        ifm_decode_cuda_packed_rewind(run);
    else if (run->cycle.appends)
        ifm_cuda_launch(run->device, &run->cycle.rewind);
    ifm_cuda_fill(run->device, run->q_at, UINT32_MAX, words); /* NaN */
    ifm_cuda_fill(run->device, run->out_at, UINT32_MAX, words);
}
