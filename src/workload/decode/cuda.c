/* decode on the device cuda: the naive kernel, and ours, which splits the cache over blocks. f16 alone. From compute
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
    ask->rounding = IFM_DECODE_CUDA_ROUNDING;
    return NULL;
}

/* ---- at work ---- */

static void enqueue(void *opened)
{
    struct ifm_decode_cuda_run *run = opened;
    const unsigned char *pool = run->pools[run->turn];
    run->arguments.k = (const void *)pool;
    run->arguments.v = (const void *)(pool + run->half);
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
    run->early = split.early;
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

static enum ifm_status open_decode(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    struct ifm_decode_cuda_run *run = opened;
    IFM_TRY(ifm_decode_cuda_open(run, opening, false, enqueue, error));
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
        .close = ifm_decode_cuda_close,                                                                                \
    }
const struct ifm_implementation ifm_decode_cuda_naive =
    DECODE_CUDA("naive", "naive (CUDA)", "a block for each query head, f32", ifm_decode_cuda_supports);
const struct ifm_implementation ifm_decode_cuda =
    DECODE_CUDA("ours", "ours (CUDA)", "the cache split over blocks, f16 on tensor cores", supports_split);
