/* decode on the device cuda: the naive kernel, and ours, which splits the cache over blocks. f16 alone. */
#include "device/cuda.h"
#include "base/hash.h"
#include "kernel/cpu/isa.h"
#include "kv/rows.h"
#include "workload/decode/check.h"
#include "workload/decode/run_cuda.h"
#include "workload/decode/split.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is offered ---- */

static const char *supports_naive(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_decode_ask *ask = asked;
    const struct ifm_decode_settings *s = ask->settings;
    (void)machine;
    if (ask->format != IFM_KV_F16)
        return "the device cuda has kernels for f16 alone in this version; --compress 1 asks for no other form, and "
               "the "
               "device cpu runs all";
    if (strcmp(ifm_isa_name(s->isa), "auto") != 0)
        return "instruction sets are a processor's: leave decode.isa out on the device cuda";
    if (s->inference)
        return "the device cuda appends nothing in this version: leave decode.inference out, or take the device cpu";
    if (s->layers > IFM_CUDA_TURNS)
        return ifm_arena_printf(arena, "steps on the device cuda take at most %d layers in turn: lower decode.layers",
                                IFM_CUDA_TURNS);
    ask->isa = ask->isa_f16 = ask->isa_encode = "";
    ask->layers_most = IFM_CUDA_TURNS;
    return NULL;
}

/* Weights are rounded to f16 for the tensor cores: each is off by sd = 2^-12 / sqrt(3) of itself at most, and so is an
 * output, which is a sum of rows that are independent of it. Four times that leaves room for the largest. */
static const double ROUNDING = 4 * 0x1p-12 / 1.7320508075688772;

static const char *supports_split(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_decode_ask *ask = asked;
    const char *why_not = supports_naive(machine, asked, arena);
    if (why_not != NULL)
        return why_not;
    if (ask->settings->head_dim != 64 && ask->settings->head_dim != 128)
        return "our split kernel has head dimensions 64 and 128; the naive one runs the others";
    if (machine->gpu->major < 8)
        return "our split kernel needs compute capability 8.0; the naive one runs on this GPU";
    ask->rounding = ROUNDING;
    return NULL;
}

/* ---- at work ---- */

static void enqueue(void *opened)
{
    struct ifm_decode_cuda_run *run = opened;
    const unsigned char *pool = run->pools[run->turn];
    run->arguments.k = (const void *)pool;
    run->arguments.v = (const void *)(pool + run->half);
    ifm_cuda_launch(run->device, &run->launch);
}

static void step(void *opened, uint64_t n)
{
    const struct ifm_decode_cuda_run *run = opened;
    ifm_cuda_steps_run(run->steps, n);
}

static enum ifm_status prepare(struct ifm_decode_cuda_run *run, const struct ifm_opening *opening,
                               struct ifm_error *error)
{
    const struct ifm_decode_settings *s = opening->settings;
    const struct ifm_decode_chosen *chosen = opening->chosen;
    run->device = opening->device;
    run->row = opening->implementation;
    run->arm = opening->arm->name;
    run->settings = s;
    run->form = ifm_decode_form_find(opening->arm->variant);
    if (run->form == NULL || chosen->layers > IFM_CUDA_TURNS)
        return ifm_fail(error, IFM_INVALID, run->arm, "use the version of inferometer that made the plan",
                        "this build knows no form of the cache called \"%s\" in %llu layers", opening->arm->variant,
                        (unsigned long long)chosen->layers);
    run->layers = (unsigned)chosen->layers;
    run->pairs = s->batch * s->kv_heads;
    run->outputs = s->batch * s->q_heads * s->head_dim;
    struct ifm_decode_attend *a = &run->arguments;
    a->group = (uint32_t)(s->q_heads / s->kv_heads);
    a->parts = (a->group + IFM_DECODE_HEADS - 1) / IFM_DECODE_HEADS;
    a->n_units = (uint32_t)run->pairs * a->parts;
    a->head_dim = (uint32_t)s->head_dim;
    a->scale = (float)(1.44269504088896341 / sqrt((double)s->head_dim));
    return ifm_decode_source(s, opening->seed, &run->source, error);
}

static enum ifm_status open_rows(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    const struct ifm_decode_settings *s = run->settings;
    const size_t bytes = run->outputs * sizeof(float);
    void *q, *out, *digest;
    run->q = malloc(bytes);
    run->out = malloc(bytes);
    if (run->q == NULL || run->out == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    for (uint64_t pair = 0; pair < run->pairs; pair++)
        IFM_TRY(ifm_data_source_queries(&run->source, pair, ifm_decode_length(s, pair / s->kv_heads),
                                        run->q + pair * run->source.group * s->head_dim, error));
    ifm_kv_round(run->q, run->outputs, run->q); /* to f16: the queries of a GPU are as its cache */
    IFM_TRY(ifm_decode_cuda_buffer(run, "q", run->q, bytes, &q, error));
    IFM_TRY(
        ifm_decode_cuda_buffer(run, run->row == &ifm_decode_cuda ? "out ours" : "out naive", NULL, bytes, &out, error));
    IFM_TRY(ifm_decode_cuda_buffer(run, "digest", NULL, sizeof *run->digest, &digest, error));
    run->arguments.q = q;
    run->arguments.out = out;
    run->digest = digest;
    return ifm_cuda_find(run->device, "decode", "ifm_decode_digest", &run->digester, error);
}

static enum ifm_status choose_naive(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    run->launch.blocks = (unsigned)(run->pairs * run->arguments.group);
    run->launch.threads = 32 * IFM_DECODE_NAIVE_WARPS;
    return ifm_cuda_find(run->device, "decode", "ifm_decode_naive", &run->launch.function, error);
}

/* Flat: the unit of each block's first tile. */
static enum ifm_status find_first_units(struct ifm_decode_cuda_run *run, uint64_t tiles, struct ifm_error *error)
{
    const struct ifm_decode_attend *a = &run->arguments;
    uint32_t *units = calloc(run->launch.blocks, sizeof *units), unit = 0;
    uint64_t ends = 0; /* tiles of units up to this one */
    void *at;
    if (units == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    for (unsigned block = 0; block < run->launch.blocks; block++) {
        const uint64_t first = ifm_decode_share(tiles, run->launch.blocks, block);
        for (;; unit++) {
            const uint64_t tokens = ifm_decode_length(run->settings, unit / a->parts / run->settings->kv_heads);
            const uint64_t more = (tokens + IFM_DECODE_TILE - 1) / IFM_DECODE_TILE;
            if (first < ends + more)
                break;
            ends += more;
        }
        units[block] = unit;
    }
    enum ifm_status status =
        ifm_decode_cuda_buffer(run, "first units", units, run->launch.blocks * sizeof *units, &at, error);
    run->arguments.first = at;
    free(units);
    return status;
}

/* The kernel of the split; that of a cluster may be missing where a driver compiled the code for an older GPU. */
static enum ifm_status choose_kernel(struct ifm_decode_cuda_run *run, struct ifm_decode_work *work,
                                     struct ifm_decode_split *split, struct ifm_error *error)
{
    char name[48];
    for (;;) {
        *split = ifm_decode_split_of(work);
        if (split->cluster > 0)
            snprintf(name, sizeof name, "ifm_decode_cluster_%u_%u", work->head_dim, split->cluster);
        else
            snprintf(name, sizeof name, "ifm_decode_split_%u", work->head_dim);
        enum ifm_status status = ifm_cuda_find(run->device, "decode", name, &run->launch.function, error);
        if (status != IFM_MISSING || split->cluster == 0)
            return status;
        work->no_clusters = true;
    }
}

static enum ifm_status choose_split(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    const struct ifm_decode_settings *s = run->settings;
    const struct ifm_gpu *gpu = ifm_cuda_gpu(run->device);
    struct ifm_decode_attend *a = &run->arguments;
    struct ifm_decode_work work = {.units = a->n_units,
                                   .head_dim = a->head_dim,
                                   .group = a->group,
                                   .multiprocessors = gpu->multiprocessors,
                                   .major = gpu->major};
    struct ifm_decode_split split;
    void *partials, *tickets;
    bool equal = true;
    for (uint64_t i = 0; i < s->batch; i++) {
        const uint64_t tokens = ifm_decode_length(s, i);
        equal = equal && tokens == ifm_decode_length(s, 0);
        work.tiles += (tokens + IFM_DECODE_TILE - 1) / IFM_DECODE_TILE * s->kv_heads * a->parts;
        work.bytes += tokens * s->kv_heads * 2 * sizeof(uint16_t) * s->head_dim;
    }
    work.tokens = a->tokens = equal ? (uint32_t)ifm_decode_length(s, 0) : 0;
    IFM_TRY(choose_kernel(run, &work, &split, error));
    IFM_TRY(ifm_cuda_allow_shared(run->device, run->launch.function, split.shared, error));
    a->splits = split.splits;
    run->launch.blocks = split.blocks;
    run->launch.threads = 32 * IFM_DECODE_WARPS;
    run->launch.shared = split.shared;
    if (!equal)
        IFM_TRY(find_first_units(run, work.tiles, error));
    const size_t partial = (IFM_DECODE_HEAD + IFM_DECODE_HEADS * s->head_dim) * sizeof(float);
    IFM_TRY(ifm_decode_cuda_buffer(run, "partials", NULL, 2 * split.blocks * partial, &partials, error));
    IFM_TRY(ifm_decode_cuda_buffer(run, "tickets", NULL, a->n_units * sizeof(uint32_t), &tickets, error));
    a->partials = partials;
    a->tickets = tickets;
    return IFM_OK;
}

static void spoil(void *opened, bool all)
{
    const struct ifm_decode_cuda_run *run = opened;
    (void)all;
    ifm_cuda_fill(run->device, run->arguments.out, UINT32_MAX, run->outputs); /* NaN */
}

static enum ifm_status open_decode(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    struct ifm_decode_cuda_run *run = opened;
    IFM_TRY(prepare(run, opening, error));
    IFM_TRY(ifm_decode_cuda_caches(run, error));
    IFM_TRY(open_rows(run, error));
    IFM_TRY(run->row == &ifm_decode_cuda ? choose_split(run, error) : choose_naive(run, error));
    run->launch.arguments = &run->arguments;
    IFM_TRY(ifm_cuda_steps_create(run->device, enqueue, run, &run->steps, error));
    ifm_cuda_steps_turns(run->steps, run->layers, &run->turn);
    spoil(run, true);
    return ifm_cuda_wait(run->device, error);
}

static void close_decode(void *opened)
{
    struct ifm_decode_cuda_run *run = opened;
    ifm_cuda_steps_destroy(run->steps);
    free(run->first);
    free(run->table);
    free(run->q);
    free(run->out);
    ifm_data_source_close(&run->source);
}

/* ---- the check ---- */

/* Of the cache that the last step attended over. The queries are not read back: outputs are held against those that
 * were generated. */
static enum ifm_status digest_cache(const struct ifm_decode_cuda_run *run, uint64_t *out, struct ifm_error *error)
{
    const struct ifm_decode_digest_of of = {run->pools[run->turn], 2 * run->half / sizeof(uint64_t), run->digest};
    const unsigned blocks = ifm_cuda_blocks(run->device, run->digester, IFM_DECODE_DIGEST_THREADS, 0);
    ifm_cuda_fill(run->device, run->digest, 0, 2);
    ifm_cuda_launch(run->device, &(struct ifm_cuda_launch){run->digester, blocks > 0 ? blocks : 1,
                                                           IFM_DECODE_DIGEST_THREADS, 0, &of});
    return ifm_cuda_read(run->device, out, run->digest, sizeof *out, error);
}

static enum ifm_status compare(const struct ifm_decode_cuda_run *run, const unsigned char *pool, struct ifm_check *out,
                               struct ifm_error *error)
{
    const struct ifm_gpu *gpu = ifm_cuda_gpu(run->device);
    const struct ifm_decode_rows rows = {(const void *)pool, (const void *)(pool + run->half), run->table, run->first};
    const uint32_t draw = (uint32_t)(ifm_xxh3(&run->source.data.seed, sizeof(uint64_t)) >> 32);
    const struct ifm_decode_outputs outputs = {.device = run->device,
                                               .threads = 1,
                                               .settings = run->settings,
                                               .form = run->form,
                                               .source = &run->source,
                                               .q = run->q,
                                               .out = run->out,
                                               .draw = draw,
                                               .rows = &rows};
    char code[16];
    snprintf(code, sizeof code, "sm_%u%u", gpu->major, gpu->minor);
    return ifm_decode_compare(&outputs, code, out, error);
}

/* The cache that the last step attended over, read back, and every output against it. */
static enum ifm_status compare_read(struct ifm_decode_cuda_run *run, struct ifm_check *out, struct ifm_error *error)
{
    unsigned char *pool = malloc(2 * run->half);
    if (pool == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, "lower decode.batch or decode.kv_len",
                        "out of memory for the oracle, which reads a layer back: %llu bytes",
                        (unsigned long long)(2 * run->half));
    enum ifm_status status = ifm_cuda_read(run->device, pool, run->pools[run->turn], 2 * run->half, error);
    if (status == IFM_OK)
        status = compare(run, pool, out, error);
    free(pool);
    return status;
}

static enum ifm_status check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_decode_cuda_run *run = opened;
    uint64_t inputs;
    IFM_TRY(digest_cache(run, &inputs, error));
    IFM_TRY(ifm_cuda_read(run->device, run->out, run->arguments.out, run->outputs * sizeof(float), error));
    if (!ifm_data_is_known(&run->known, inputs, run->out, run->outputs * sizeof(float))) {
        run->known.check = (struct ifm_check){0};
        IFM_TRY(compare_read(run, &run->known.check, error));
        run->known.inputs = inputs;
    }
    *out = run->known.check;
    return IFM_OK;
}

#define DECODE_CUDA(NAME, TITLE, PURPOSE, SUPPORTS)                                                                    \
    {                                                                                                                  \
        .name = NAME, .title = TITLE, .device = "cuda", .purpose = PURPOSE, .supports = SUPPORTS,                      \
        .ready = ifm_decode_ready, .state_bytes = sizeof(struct ifm_decode_cuda_run), .open = open_decode,             \
        .step = step, .spoil = spoil, .check = check, .close = close_decode,                                           \
    }
const struct ifm_implementation ifm_decode_cuda_naive =
    DECODE_CUDA("naive", "naive (CUDA)", "a block for each query head, f32", supports_naive);
const struct ifm_implementation ifm_decode_cuda =
    DECODE_CUDA("ours", "ours (CUDA)", "the cache split over blocks, f16 on tensor cores", supports_split);
