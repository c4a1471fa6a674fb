/* The caches of decode on the device cuda: the rows that the processor would keep, page by page, in every layer. */
#include "base/half.h"
#include "base/hash.h"
#include "workload/decode/run_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 8 * IFM_KV_PAGE }; /* tokens that are generated at once */
_Static_assert(IFM_KV_PAGE == IFM_DECODE_PAGE, "pages of both are alike");

/* What decides the bytes of a buffer, so that equal arms share it. A cycle writes: its buffers are its own. */
static uint64_t identity(const struct ifm_decode_cuda_run *run)
{
    const struct ifm_decode_settings *s = run->settings;
    char text[512];
    int n = snprintf(text, sizeof text, "%llu %llu %llu %llu %llu %llu %a %d %d %llu %d %llu %d %s",
                     (unsigned long long)s->batch, (unsigned long long)s->q_heads, (unsigned long long)s->kv_heads,
                     (unsigned long long)s->kv_len, (unsigned long long)s->head_dim,
                     (unsigned long long)run->source.data.seed, s->ragged, s->layout, s->outliers,
                     (unsigned long long)(s->inference ? s->decode_tokens : 0), s->append, (unsigned long long)s->sink,
                     s->evict, s->inference ? run->arm : "");
    return ifm_xxh3(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1) ^
           ifm_xxh3(s->kv_file, strlen(s->kv_file));
}

void ifm_decode_cuda_name(const struct ifm_decode_cuda_run *run, const char *what, char name[64])
{
    snprintf(name, 64, "decode.%s %016llx", what, (unsigned long long)identity(run));
}

enum ifm_status ifm_decode_cuda_shared(struct ifm_decode_cuda_run *run, const char *what, size_t bytes, void **out,
                                       bool *fresh, struct ifm_error *error)
{
    char name[64];
    ifm_decode_cuda_name(run, what, name);
    return run->device->ops->buffer(run->device, name, bytes, out, fresh, error);
}

enum ifm_status ifm_decode_cuda_buffer(struct ifm_decode_cuda_run *run, const char *what, const void *from,
                                       size_t bytes, void **out, struct ifm_error *error)
{
    bool fresh;
    IFM_TRY(ifm_decode_cuda_shared(run, what, bytes, out, &fresh, error));
    return fresh && from != NULL ? ifm_cuda_write(run->device, *out, from, bytes, error) : IFM_OK;
}

/* ---- filling ---- */

/* Tokens of a pair from `at` on: as generated, and as pages hold them. */
struct cache_chunk {
    uint64_t pair, at;
    unsigned tokens;
    float *k, *v;
    uint16_t *k16, *v16;
    enum ifm_status status;
    struct ifm_error error;
};

/* Chunks that are generated at once; the thread that drives the device writes them. */
struct cache_filling {
    const struct ifm_decode_cuda_run *run;
    struct cache_chunk *chunks;
    unsigned n, used;
};

static void round_rows(const float *from, size_t n, size_t room, uint16_t *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = ifm_f32_to_f16(from[i]);
    memset(to + n, 0, (room - n) * sizeof *to);
}

static void generate_part(void *arg, unsigned index, unsigned count)
{
    const struct cache_filling *f = arg;
    const size_t dim = f->run->settings->head_dim;
    for (unsigned i = index; i < f->used; i += count) {
        struct cache_chunk *c = &f->chunks[i];
        c->status = ifm_data_source_kv(&f->run->source, c->pair, c->at, c->tokens, c->k, c->v, &c->error);
        round_rows(c->k, c->tokens * dim, CHUNK * dim, c->k16);
        round_rows(c->v, c->tokens * dim, CHUNK * dim, c->v16);
    }
}

/* Pages that lie one behind the other in the pool go there at once. */
static enum ifm_status write_chunk(const struct ifm_decode_cuda_run *run, const struct cache_chunk *c,
                                   struct ifm_error *error)
{
    const size_t page = IFM_KV_PAGE * run->settings->head_dim;
    const uint32_t *table = run->table + run->first[c->pair] + c->at / IFM_KV_PAGE;
    unsigned char *const pool = run->pools[0];
    const size_t pages = (c->tokens + IFM_KV_PAGE - 1) / IFM_KV_PAGE;
    for (size_t i = 0, n; i < pages; i += n) {
        for (n = 1; i + n < pages && table[i + n] == table[i] + n; n++)
            ;
        const size_t to = table[i] * page * sizeof(uint16_t), bytes = n * page * sizeof(uint16_t);
        IFM_TRY(ifm_cuda_write(run->device, pool + to, c->k16 + i * page, bytes, error));
        IFM_TRY(ifm_cuda_write(run->device, pool + run->half + to, c->v16 + i * page, bytes, error));
    }
    return IFM_OK;
}

static enum ifm_status finish_chunks(struct cache_filling *f, struct ifm_error *error)
{
    f->run->device->ops->parallel(f->run->device, f->n, generate_part, f);
    for (unsigned i = 0; i < f->used; i++) {
        if (f->chunks[i].status != IFM_OK)
            *error = f->chunks[i].error;
        IFM_TRY(f->chunks[i].status);
        IFM_TRY(write_chunk(f->run, &f->chunks[i], error));
    }
    f->used = 0;
    return IFM_OK;
}

static enum ifm_status fill_pairs(struct cache_filling *f, struct ifm_error *error)
{
    const struct ifm_decode_cuda_run *run = f->run;
    for (uint64_t pair = 0; pair < run->pairs; pair++) {
        const uint64_t length = ifm_decode_cuda_length(run, pair / run->settings->kv_heads);
        for (uint64_t at = 0; at < length; at += CHUNK) {
            struct cache_chunk *c = &f->chunks[f->used++];
            c->pair = pair;
            c->at = at;
            c->tokens = length - at < CHUNK ? (unsigned)(length - at) : CHUNK;
            if (f->used == f->n)
                IFM_TRY(finish_chunks(f, error));
        }
    }
    return finish_chunks(f, error);
}

static enum ifm_status fill(const struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    const size_t values = CHUNK * run->settings->head_dim, each = values * (2 * sizeof(float) + 2 * sizeof(uint16_t));
    struct cache_filling f = {.run = run, .n = ifm_cuda_host_threads()};
    char *memory = ifm_data_aligned(f.n * each);
    enum ifm_status status = IFM_OK;
    f.chunks = calloc(f.n, sizeof *f.chunks);
    if (memory == NULL || f.chunks == NULL)
        status = ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    for (unsigned i = 0; i < f.n && status == IFM_OK; i++) {
        f.chunks[i].k = (float *)(void *)(memory + i * each);
        f.chunks[i].v = f.chunks[i].k + values;
        f.chunks[i].k16 = (uint16_t *)(void *)(f.chunks[i].v + values);
        f.chunks[i].v16 = f.chunks[i].k16 + values;
    }
    if (status == IFM_OK)
        status = fill_pairs(&f, error);
    free(f.chunks);
    free(memory);
    return status;
}

/* They lie in one buffer, as a server has them: each in memory of its own cost a step 1 us more on an H200. */
enum ifm_status ifm_decode_cuda_layers(struct ifm_decode_cuda_run *run, const char *what, uint64_t bytes, bool *fresh,
                                       struct ifm_error *error)
{
    IFM_TRY(ifm_decode_cuda_shared(run, what, run->layers * bytes, &run->pools[0], fresh, error));
    for (unsigned layer = 1; layer < run->layers; layer++)
        run->pools[layer] = (char *)run->pools[0] + layer * bytes;
    return IFM_OK;
}

/* All layers hold the same tokens. */
enum ifm_status ifm_decode_cuda_copy_layers(struct ifm_decode_cuda_run *run, uint64_t bytes, struct ifm_error *error)
{
    for (unsigned layer = 1; layer < run->layers; layer++)
        ifm_cuda_copy(run->device, run->pools[layer], run->pools[0], bytes);
    return ifm_cuda_wait(run->device, error);
}

static enum ifm_status open_layers(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    bool fresh;
    IFM_TRY(ifm_decode_cuda_layers(run, "kv f16", 2 * run->half, &fresh, error));
    if (!fresh)
        return IFM_OK;
    IFM_TRY(fill(run, error));
    return ifm_decode_cuda_copy_layers(run, 2 * run->half, error);
}

/* ---- tables ---- */

uint64_t ifm_decode_cuda_length(const struct ifm_decode_cuda_run *run, uint64_t sequence)
{
    return ifm_decode_first(run->settings, run->form, ifm_decode_length(run->settings, sequence));
}

uint64_t ifm_decode_cuda_length_at(const struct ifm_decode_cuda_run *run, uint64_t sequence, uint64_t token)
{
    return ifm_decode_cuda_length(run, sequence) + (run->cycle.appends ? token + 1 : 0);
}

enum ifm_status ifm_decode_cuda_deal_out(struct ifm_decode_cuda_run *run, struct ifm_kv_shape *shape, uint64_t *lengths,
                                         struct ifm_error *error)
{
    const struct ifm_decode_settings *s = run->settings;
    for (uint64_t pair = 0; pair < run->pairs; pair++)
        lengths[pair] = ifm_decode_most(s, run->form, ifm_decode_length(s, pair / s->kv_heads));
    *shape = ifm_decode_cache_shape(s, run->form, run->pairs, lengths, run->source.data.seed);
    run->first = calloc(run->pairs + 1, sizeof *run->first);
    if (run->first != NULL) {
        ifm_kv_deal_out(shape, run->first, NULL);
        run->pages = run->first[run->pairs];
        run->table = calloc(run->pages + 1, sizeof *run->table);
    }
    if (run->table == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    ifm_kv_deal_out(shape, run->first, run->table);
    return IFM_OK;
}

static enum ifm_status deal_out(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    struct ifm_kv_shape shape;
    uint64_t *lengths = calloc(run->pairs, sizeof *lengths);
    if (lengths == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    const enum ifm_status status = ifm_decode_cuda_deal_out(run, &shape, lengths, error);
    free(lengths);
    return status;
}

/* Units of all pairs at one token, and one behind them that says where tiles end. */
static void fill_units(const struct ifm_decode_cuda_run *run, uint64_t token, struct ifm_decode_unit *units)
{
    const struct ifm_decode_attend *a = &run->arguments;
    uint32_t tile = 0;
    for (uint32_t i = 0; i < a->n_units; i++) {
        units[i].tile = tile;
        units[i].tokens = (uint32_t)ifm_decode_cuda_length_at(run, i / a->parts / run->settings->kv_heads, token);
        units[i].page = (uint32_t)run->first[i / a->parts];
        tile += (units[i].tokens + IFM_DECODE_TILE - 1) / IFM_DECODE_TILE;
    }
    units[a->n_units] = (struct ifm_decode_unit){.tile = tile};
}

/* Where all sequences have one length, it and the pages of a pair say all. Others that grow have units of each token.
 */
static enum ifm_status make_units(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    struct ifm_decode_attend *a = &run->arguments;
    bool equal = true;
    for (uint64_t i = 0; i < run->settings->batch; i++)
        equal = equal && ifm_decode_cuda_length(run, i) == ifm_decode_cuda_length(run, 0);
    const uint64_t n = !equal && run->cycle.appends ? run->tokens : 1;
    struct ifm_decode_unit *units = calloc(n * (a->n_units + 1), sizeof *units);
    void *at;
    if (units == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    for (uint64_t token = 0; token < n; token++)
        fill_units(run, token, units + token * (a->n_units + 1));
    enum ifm_status status =
        ifm_decode_cuda_buffer(run, "units", units, n * (a->n_units + 1) * sizeof *units, &at, error);
    a->units = at;
    a->tokens = equal ? (uint32_t)ifm_decode_cuda_length_at(run, 0, 0) : 0;
    a->pages = (uint32_t)(run->first[1] - run->first[0]);
    run->cycle.units = n > 1 ? at : NULL;
    run->cycle.length = equal ? (uint32_t)ifm_decode_cuda_length(run, 0) : 0;
    free(units);
    return status;
}

enum ifm_status ifm_decode_cuda_caches(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    void *table;
    IFM_TRY(deal_out(run, error));
    run->half = run->pages * IFM_KV_PAGE * run->settings->head_dim * sizeof(uint16_t);
    IFM_TRY(make_units(run, error));
    if (run->settings->layout == IFM_DECODE_PAGED) {
        IFM_TRY(ifm_decode_cuda_buffer(run, "table", run->table, run->pages * sizeof *run->table, &table, error));
        run->arguments.table = table;
    }
    return open_layers(run, error);
}
