/* decode on the device cuda: the naive kernel, and ours, which splits the cache over blocks. From compute
 * capability 9.0 on a step of ours begins to read its cache, which no step writes, while the one before it ends; its
 * queries and outputs wait for that. */
#include "workload/decode/run_cuda.h"
#include "workload/decode/split.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what is offered ---- */

static const char *supports_split(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_decode_ask *ask = asked;
    const char *why_not = ifm_decode_cuda_supports(machine, asked, arena);
    if (why_not != NULL)
        return why_not;
    if (ask->settings->head_dim != 64 && ask->settings->head_dim != 128)
        return "our split kernel has head dimensions 64 and 128; the naive one runs the others";
    if (machine->gpu->major < 8)
        return "our split kernel needs compute capability 8.0; the naive one runs on this GPU";
    if (ask->format != IFM_KV_F16 && machine->gpu->major < 9)
        return "our kernels of compressed caches need compute capability 9.0; the naive one runs on this GPU";
    ask->matrix = true;
    ask->rounding = IFM_DECODE_CUDA_ROUNDING;
    ask->folded = IFM_DECODE_CUDA_FOLDED;
    return NULL;
}

static const char *supports_naive(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    ((struct ifm_decode_ask *)asked)->folded = 0;
    return ifm_decode_cuda_supports(machine, asked, arena);
}

/* ---- at work ---- */

static void enqueue(void *opened)
{
    struct ifm_decode_cuda_run *run = opened;
    unsigned char *pool = run->pools[run->turn];
    run->arguments.k = (void *)pool;
    run->arguments.v = (void *)(pool + run->half);
    if (run->early)
        ifm_cuda_launch_early(run->device, &run->launch);
    else
        ifm_cuda_launch(run->device, &run->launch);
}

static enum ifm_status choose_naive(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    run->launch.blocks = (unsigned)(run->pairs * run->arguments.group);
    run->launch.threads = 32 * IFM_DECODE_NAIVE_WARPS;
    return ifm_cuda_find(run->device, "decode", "ifm_decode_naive", &run->launch.function, error);
}

/* Tiles of a unit, at a token. */
static uint64_t tiles_of(const struct ifm_decode_cuda_run *run, uint64_t unit, uint64_t token)
{
    const uint64_t sequence = unit / run->arguments.parts / run->settings->kv_heads;
    return (ifm_decode_cuda_length_at(run, sequence, token) + IFM_DECODE_TILE - 1) / IFM_DECODE_TILE;
}

/* Flat: the unit of each block's first tile, at a token. */
static void fill_first_units(const struct ifm_decode_cuda_run *run, uint64_t token, uint32_t *units)
{
    const unsigned blocks = run->launch.blocks;
    uint64_t tiles = 0, ends = 0; /* of all units; of units up to this one */
    uint32_t unit = 0;
    for (uint32_t i = 0; i < run->arguments.n_units; i++)
        tiles += tiles_of(run, i, token);
    for (unsigned block = 0; block < blocks; block++) {
        const uint64_t first = ifm_decode_share(tiles, blocks, block);
        while (unit < run->arguments.n_units && first >= ends + tiles_of(run, unit, token))
            ends += tiles_of(run, unit++, token);
        units[block] = unit;
    }
}

/* At every token of a cycle whose units have their own lengths at each. */
static enum ifm_status find_first_units(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    const uint64_t n = run->cycle.units != NULL ? run->tokens : 1;
    uint32_t *units = calloc(n * run->launch.blocks, sizeof *units);
    void *at;
    if (units == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    for (uint64_t token = 0; token < n; token++)
        fill_first_units(run, token, units + token * run->launch.blocks);
    enum ifm_status status =
        ifm_decode_cuda_buffer(run, "first units", units, n * run->launch.blocks * sizeof *units, &at, error);
    run->arguments.first = at;
    run->cycle.first = n > 1 ? at : NULL;
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
            snprintf(name, sizeof name, "ifm_decode_%s_%u", split->parts ? "parts" : "split", work->head_dim);
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
                                   .major = gpu->major,
                                   .is_cycle = s->inference};
    struct ifm_decode_split split;
    void *partials, *tickets;
    for (uint64_t i = 0; i < s->batch; i++) {
        work.tiles += tiles_of(run, i * s->kv_heads * a->parts, 0) * s->kv_heads * a->parts;
        work.bytes += ifm_decode_cuda_length_at(run, i, 0) * s->kv_heads * 2 * sizeof(uint16_t) * s->head_dim;
    }
    work.tokens = a->tokens;
    IFM_TRY(choose_kernel(run, &work, &split, error));
    IFM_TRY(ifm_cuda_allow_shared(run->device, run->launch.function, split.shared, error));
    a->splits = split.splits;
    run->early = split.early;
    run->cycle.feeds = s->inference;
    run->launch.blocks = split.blocks;
    run->launch.threads = 32 * IFM_DECODE_WARPS;
    run->launch.shared = split.shared;
    if (a->tokens == 0)
        IFM_TRY(find_first_units(run, error));
    const size_t partial = (IFM_DECODE_HEAD + IFM_DECODE_HEADS * s->head_dim) * sizeof(float);
    IFM_TRY(ifm_decode_cuda_buffer(run, split.parts ? "parts" : "partials", NULL, 2 * split.blocks * partial, &partials,
                                   error));
    if (split.parts) /* words that are not there yet: NaN that no arithmetic makes */
        ifm_cuda_fill(run->device, partials, UINT32_MAX, 2 * split.blocks * partial / sizeof(uint32_t));
    IFM_TRY(ifm_decode_cuda_buffer(run, "tickets", NULL, a->n_units * sizeof(uint32_t), &tickets, error));
    a->partials = partials;
    a->tickets = tickets;
    return IFM_OK;
}

static enum ifm_status open_decode(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    struct ifm_decode_cuda_run *run = opened;
    const bool packed = ifm_decode_form_is_packed(opening->arm->variant);
    IFM_TRY(ifm_decode_cuda_open(run, opening, false, packed ? ifm_decode_cuda_packed_enqueue : enqueue, error));
    if (packed) {
        IFM_TRY(ifm_decode_cuda_packed_launch(run, run->row != &ifm_decode_cuda, error));
        return ifm_cuda_wait(run->device, error);
    }
    run->arguments.q = run->q_at;
    run->arguments.out = run->out_at;
    IFM_TRY(run->row == &ifm_decode_cuda ? choose_split(run, error) : choose_naive(run, error));
    run->launch.arguments = &run->arguments;
    return ifm_cuda_wait(run->device, error);
}

#define DECODE_CUDA(NAME, TITLE, PURPOSE, SUPPORTS)                                                                    \
    {                                                                                                                  \
        .name = NAME, .title = TITLE, .device = "cuda", .purpose = PURPOSE, .supports = SUPPORTS,                      \
        .ready = ifm_decode_ready, .state_bytes = sizeof(struct ifm_decode_cuda_run), .open = open_decode,             \
        .step = ifm_decode_cuda_step, .spoil = ifm_decode_cuda_spoil, .check = ifm_decode_cuda_check,                  \
        .close = ifm_decode_cuda_close, .feature_runs = ifm_decode_cuda_feature_runs,                                  \
        .before = ifm_decode_cuda_before,                                                                              \
    }
const struct ifm_implementation ifm_decode_cuda_naive =
    DECODE_CUDA("naive", "naive (CUDA)", "a block for each query head, f32", supports_naive);
const struct ifm_implementation ifm_decode_cuda =
    DECODE_CUDA("ours", "ours (CUDA)", "the cache split over blocks, f16 and codes on tensor cores", supports_split);
