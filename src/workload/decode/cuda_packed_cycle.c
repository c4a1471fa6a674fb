/* What an inference cycle on the device cuda does to compressed caches: rows are appended to sinks and rings, pages
 * that leave their rings are packed, and all of it is put back before the next cycle.
 *
 * In the check the host's cache goes the same way, from where the cycle begins, with the code of the device cpu: what
 * the GPU leaves must have its bytes. Thread rule: the thread that drives the device. */
#include "workload/decode/run_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t side_bytes(const struct ifm_decode_cuda_run *run)
{
    return run->pairs * run->packed.side;
}

static unsigned char *sides_of(const struct ifm_decode_cuda_run *run, unsigned layer)
{
    return (unsigned char *)run->pools[layer] + run->packed.body;
}

/* ---- open ---- */

/* The host's cache becomes what a layer holds when a cycle begins, and can go back to it. */
static enum ifm_status save_cache(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    unsigned char *pool;
    IFM_TRY(ifm_decode_cuda_read_layer(run, 0, &pool, error));
    ifm_decode_cuda_packed_take(run, pool);
    free(pool);
    return ifm_kv_save(run->packed.cache, error);
}

enum ifm_status ifm_decode_cuda_packed_cycle_open(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    struct ifm_decode_cuda_packed *packed = &run->packed;
    uint64_t *lengths = calloc(run->pairs, sizeof *lengths);
    char what[32], name[64];
    bool fresh;
    if (lengths == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    for (uint64_t pair = 0; pair < run->pairs; pair++)
        lengths[pair] = ifm_decode_cuda_length(run, pair / run->settings->kv_heads);
    snprintf(what, sizeof what, "grow %s", run->form->name);
    ifm_decode_cuda_name(run, what, name);
    enum ifm_status status = ifm_decode_grow_open(run->device, &packed->shape, lengths, run->tokens, run->layers, name,
                                                  &packed->grow, error);
    free(lengths);
    IFM_TRY(status);
    snprintf(what, sizeof what, "sides %s", run->form->name);
    IFM_TRY(ifm_decode_cuda_shared(run, what, side_bytes(run), &packed->sides, &fresh, error));
    if (fresh)
        ifm_cuda_copy(run->device, packed->sides, sides_of(run, 0), side_bytes(run));
    ifm_decode_cuda_packed_rewind(run);
    return save_cache(run, error);
}

/* ---- at work ---- */

/* Attention makes the queries, and appends the rows. */
static void place_at_once(struct ifm_decode_cuda_run *run, const float *rows)
{
    const struct ifm_decode_advance_of *next = &run->cycle.next;
    struct ifm_packed_attend *a = &run->packed.arguments;
    a->fresh = next->fresh;
    a->output = (float *)(uintptr_t)next->output;
    a->before = run->packed.left;
    a->made = next->q;
    a->rows = rows;
}

/* What is left to a place lies where the one in front did not leave its own. */
static void leave(struct ifm_decode_cuda_packed *packed)
{
    struct ifm_packed_attend *a = &packed->arguments;
    a->partials = packed->left == packed->partials ? packed->partials + packed->partials_of : packed->partials;
    packed->left = a->partials;
}

void ifm_decode_cuda_packed_finish(struct ifm_decode_cuda_run *run)
{
    if (run->packed.left != NULL)
        ifm_cuda_launch(run->device, &run->packed.finish);
    run->packed.left = NULL;
}

/* A page leaves its ring when the one behind it is full, so packing it can come before the newest row: of all layers at
 * once, as those of one are too few for all multiprocessors. */
void ifm_decode_cuda_packed_place(struct ifm_decode_cuda_run *run, uint64_t token, unsigned layer)
{
    struct ifm_decode_cuda_packed *packed = &run->packed;
    struct ifm_packed_attend *a = &packed->arguments;
    const size_t at = token * run->outputs, each = 2 * run->pairs * run->settings->head_dim;
    const float *rows = run->cycle.rows_at == NULL ? NULL : run->cycle.rows_at + token * each;
    const uint64_t table = run->cycle.appends ? token : 0;
    a->body = run->pools[layer];
    a->sides = (void *)sides_of(run, layer);
    a->units = packed->units + table * (a->n_units + 1);
    a->shares = packed->shares == NULL ? NULL : packed->shares + table * run->launch.blocks;
    a->before = NULL;
    a->q = (const float *)run->q_at + at;
    a->out = (float *)run->out_at + at;
    a->fresh = a->rows = NULL;
    if (rows != NULL && layer == 0)
        ifm_decode_grow_pages(&packed->grow, token, run->pools[0], run->layers);
    if (run->cycle.feeds)
        place_at_once(run, rows);
    else if (rows != NULL)
        ifm_decode_grow_rows(&packed->grow, token, rows, run->pools[layer], &run->cycle.next);
    else
        ifm_cuda_launch(run->device, &run->cycle.advance);
    if (a->later != 0)
        leave(packed);
}

bool ifm_decode_cuda_packed_due(const struct ifm_decode_cuda_run *run, uint64_t token)
{
    const uint32_t *due = run->packed.grow.due;
    return due != NULL && due[token] != due[token + 1];
}

void ifm_decode_cuda_packed_rewind(struct ifm_decode_cuda_run *run)
{
    for (unsigned layer = 0; layer < run->layers; layer++)
        ifm_cuda_copy(run->device, sides_of(run, layer), run->packed.sides, side_bytes(run));
    ifm_decode_grow_spoil(&run->packed.grow, run->pools[0]);
}

/* ---- the check ---- */

void ifm_decode_cuda_packed_adopt(const struct ifm_decode_cuda_run *run, uint64_t token)
{
    for (uint64_t pair = 0; pair < run->pairs; pair++)
        ifm_kv_adopt(run->packed.cache, pair, ifm_decode_cuda_length_at(run, pair / run->settings->kv_heads, token));
}

static void cycle_on_the_host(void *arg, unsigned index, unsigned count)
{
    const struct ifm_decode_cuda_run *run = arg;
    const size_t dim = run->settings->head_dim;
    for (uint64_t pair = index; pair < run->pairs; pair += count) {
        ifm_kv_restore(run->packed.cache, pair);
        for (uint64_t token = 0; token < run->tokens; token++) {
            const float *row = run->cycle.rows + (token * run->pairs + pair) * 2 * dim;
            ifm_kv_append(run->packed.cache, pair, row, row + dim);
        }
    }
}

/* All that a pair's cache holds: its body pages, and the filled rows of sink and ring. */
static bool same_pair(const struct ifm_decode_cuda_run *run, uint64_t pair, const unsigned char *pool,
                      const unsigned char *expected)
{
    const struct ifm_kv_view view = ifm_kv_view_of(run->packed.cache, pair);
    const size_t page = run->packed.layout.page_bytes, row = run->settings->head_dim * sizeof(uint16_t);
    bool same = true;
    for (uint64_t i = 0; i < view.n_body; i++) {
        const size_t at = run->table[run->first[pair] + i] * page;
        same = same && memcmp(pool + at, expected + at, page) == 0;
    }
    for (unsigned part = 0; part < 3; part++) {
        const size_t values = (part == 0 ? IFM_KV_SIDE_SINK : IFM_KV_SIDE_RING) * row;
        struct ifm_kv_piece piece;
        uint64_t at;
        ifm_decode_cuda_packed_side(run, pair, part, &at, &piece);
        same = same && memcmp(pool + at, expected + at, piece.tokens * row) == 0 &&
               memcmp(pool + at + values, expected + at + values, piece.tokens * row) == 0;
    }
    return same;
}

enum ifm_status ifm_decode_cuda_packed_holds(const struct ifm_decode_cuda_run *run, const unsigned char *pool,
                                             bool *holds, struct ifm_error *error)
{
    *holds = true;
    if (!run->cycle.appends)
        return IFM_OK;
    unsigned char *expected = calloc(1, 2 * run->half);
    if (expected == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory for the oracle");
    run->device->ops->parallel(run->device, ifm_cuda_host_threads(), cycle_on_the_host, (void *)(uintptr_t)run);
    ifm_decode_cuda_packed_give(run, expected);
    for (uint64_t pair = 0; pair < run->pairs; pair++)
        *holds = *holds && same_pair(run, pair, pool, expected);
    free(expected);
    return IFM_OK;
}
