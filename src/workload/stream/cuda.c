/* stream on the device cuda: which probes there are, and one of them at work. */
#include "device/cuda.h"
#include "base/hash.h"
#include "kernel/cpu/isa.h"
#include "kernel/cuda/matrix.h"
#include "kernel/cuda/stream.h"
#include "workload/data/data.h"
#include "workload/stream/run_cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB (1ULL << 30)
#define PATTERN 0x5a5a5a5a5a5a5a5aULL

enum { CACHE_FACTOR = 16, FLOP_BLOCKS_A_SM = 8, TILES_A_SM = 2, SHAPES_MOST = 3 };
#define FLOP_ROUNDS (1ULL << 14)
#define TILE_ROUNDS 1024ULL
enum { TILE_ROWS = IFM_MATRIX_ROWS, TILE_COLUMNS = IFM_MATRIX_COLUMNS, TILE_DEPTH = IFM_MATRIX_DEPTH };
static const float FACTOR = 1.0f, TERM = 0x1p-10f; /* chains grow by what they show of the rounds, exactly */

static const char *const shapes[IFM_PROBES][SHAPES_MOST] = {
    [IFM_PROBE_READ] = {"linear", "bulk"},
    [IFM_PROBE_WRITE] = {"store", "memset"},
    [IFM_PROBE_COPY] = {"flat", "bulk", "memcpy"},
    [IFM_PROBE_FLOPS] = {"fma"},
    [IFM_PROBE_MATRIX] = {"bf16"}, /* of compute capability 9.0 */
};

/* ---- what is offered ---- */

/* A sum grows by one product of depth 16 at a time, and each addition may lose a unit in its last place. Errors are
 * relative to the root mean square of all sums, of which a single one is some four at most. */
static const double MATRIX_TOLERANCE = 4.0 * (double)TILE_ROUNDS * (TILE_DEPTH / 16) * 0x1p-23;

/* Buffers are 16 times the second-level cache and at least 1 GiB: what the cache keeps is below a sixteenth. */
static struct ifm_stream_offer offer_of(const struct ifm_stream_settings *s, const char *shape,
                                        const struct ifm_gpu *gpu)
{
    const uint64_t cache = CACHE_FACTOR * gpu->l2_bytes, usual = cache > GIB ? cache : GIB;
    struct ifm_stream_offer offer = {.variant = shape, .ledger.rows = 1, .chosen.isa = ""};
    if (s->probe == IFM_PROBE_MATRIX) {
        offer.chosen.rounds = TILE_ROUNDS;
        offer.ledger.flops =
            2ULL * TILE_ROWS * TILE_COLUMNS * TILE_DEPTH * TILE_ROUNDS * TILES_A_SM * gpu->multiprocessors;
        offer.tolerance = MATRIX_TOLERANCE;
    } else if (s->probe == IFM_PROBE_FLOPS) {
        offer.chosen.rounds = FLOP_ROUNDS;
        offer.ledger.flops = 2ULL * IFM_STREAM_FLOPS_CHAINS * FLOP_ROUNDS * IFM_STREAM_FLOPS_THREADS *
                             FLOP_BLOCKS_A_SM * gpu->multiprocessors;
    } else {
        offer = ifm_stream_traffic((enum ifm_probe)s->probe, shape, s->size != 0 ? s->size / 16 * 16 : usual, 0);
    }
    return offer;
}

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_stream_ask *ask = asked;
    const struct ifm_stream_settings *s = ask->settings;
    if (strcmp(ifm_isa_name(s->isa), "auto") != 0)
        return "instruction sets are a processor's: leave stream.isa out on the device cuda";
    if ((s->probe == IFM_PROBE_MATRIX && machine->gpu->major != 9) || (s->size != 0 && s->size < 16))
        return NULL; /* nothing is offered */
    ask->offers = IFM_ARENA_ARRAY(arena, struct ifm_stream_offer, SHAPES_MOST);
    while (ask->n < SHAPES_MOST && shapes[s->probe][ask->n] != NULL) {
        ask->offers[ask->n] = offer_of(s, shapes[s->probe][ask->n], machine->gpu);
        ask->n++;
    }
    return NULL;
}

/* ---- at work ---- */

static void enqueue(void *opened)
{
    const struct ifm_stream_cuda_run *state = opened;
    const struct ifm_stream_read read = {state->from, state->bytes, state->sums};
    const struct ifm_stream_write write = {state->to, state->bytes, state->pattern};
    const struct ifm_stream_copy copy = {state->to, state->from, state->bytes};
    const struct ifm_stream_flops flops = {state->rounds, FACTOR, TERM, state->sums};
    const struct ifm_matrix_arguments matrix = {state->rounds, state->seed, state->sums};
    const void *const arguments[] = {[IFM_PROBE_READ] = &read,
                                     [IFM_PROBE_WRITE] = &write,
                                     [IFM_PROBE_COPY] = &copy,
                                     [IFM_PROBE_FLOPS] = &flops,
                                     [IFM_PROBE_MATRIX] = &matrix};
    if (state->kernel != NULL)
        ifm_cuda_launch(state->device, &(struct ifm_cuda_launch){state->kernel, state->blocks, state->threads,
                                                                 state->shared, arguments[state->probe]});
    else if (state->probe == IFM_PROBE_COPY)
        ifm_cuda_copy(state->device, state->to, state->from, state->bytes);
    else
        ifm_cuda_fill(state->device, state->to, (uint32_t)state->pattern, state->bytes / 4);
}

static enum ifm_status choose_matrix(struct ifm_stream_cuda_run *state, const char *name, struct ifm_error *error)
{
    IFM_TRY(ifm_cuda_find(state->device, "matrix", name, &state->kernel, error));
    state->threads = IFM_MATRIX_THREADS;
    state->shared = IFM_MATRIX_SHARED;
    state->blocks = TILES_A_SM * ifm_cuda_gpu(state->device)->multiprocessors;
    state->n_sums = (size_t)TILE_ROWS * TILE_COLUMNS / 2; /* floats in the room of uint64_t */
    return IFM_OK;
}

/* Kernel and grid of a shape: as many blocks as the GPU runs at once, so that none waits for another. */
static enum ifm_status choose(struct ifm_stream_cuda_run *state, const char *shape, struct ifm_error *error)
{
    char name[64];
    if (strcmp(shape, "memcpy") == 0 || strcmp(shape, "memset") == 0)
        return IFM_OK;
    bool bulk = strcmp(shape, "bulk") == 0;
    snprintf(name, sizeof name, "ifm_%s_%s", ifm_probe_names[state->probe], shape);
    if (state->probe == IFM_PROBE_MATRIX)
        return choose_matrix(state, name, error);
    IFM_TRY(ifm_cuda_find(state->device, "stream", name, &state->kernel, error));
    state->threads = state->probe == IFM_PROBE_FLOPS ? IFM_STREAM_FLOPS_THREADS : IFM_STREAM_THREADS;
    if (bulk) {
        state->threads = state->probe == IFM_PROBE_COPY ? IFM_BULK_COPY_THREADS : IFM_BULK_READ_THREADS;
        state->shared = IFM_BULK_PIECE * IFM_BULK_STAGES;
        IFM_TRY(ifm_cuda_allow_shared(state->device, state->kernel, state->shared, error));
    }
    if (strcmp(shape, "flat") == 0) { /* a thread a vector of 16 bytes */
        state->threads = IFM_STREAM_FLAT_THREADS;
        state->blocks = (unsigned)((state->bytes / 16 + IFM_STREAM_FLAT_THREADS - 1) / IFM_STREAM_FLAT_THREADS);
    } else if (state->probe == IFM_PROBE_FLOPS) {
        state->blocks = FLOP_BLOCKS_A_SM * ifm_cuda_gpu(state->device)->multiprocessors;
    } else {
        state->blocks = ifm_cuda_blocks(state->device, state->kernel, state->threads, state->shared);
    }
    if (state->blocks == 0)
        return ifm_fail(error, IFM_INTERNAL, name, NULL, "no block of the kernel fits the GPU");
    if (state->probe == IFM_PROBE_READ || state->probe == IFM_PROBE_FLOPS)
        state->n_sums = (size_t)state->blocks * state->threads / (state->probe == IFM_PROBE_FLOPS ? 1 : 32);
    return IFM_OK;
}

static enum ifm_status buffer(struct ifm_stream_cuda_run *state, const char *what, size_t bytes, void **out,
                              bool *fresh, struct ifm_error *error)
{
    char name[64];
    snprintf(name, sizeof name, "stream.%s seed %016llx", what, (unsigned long long)state->seed);
    return state->device->ops->buffer(state->device, name, bytes, out, fresh, error);
}

/* A kernel that goes over buffers once, outside the timed region. */
static enum ifm_status launch_once(struct ifm_stream_cuda_run *state, const char *name, const void *arguments,
                                   struct ifm_error *error)
{
    struct ifm_cuda_function *kernel;
    IFM_TRY(ifm_cuda_find(state->device, "stream", name, &kernel, error));
    ifm_cuda_launch(state->device,
                    &(struct ifm_cuda_launch){kernel, ifm_cuda_blocks(state->device, kernel, IFM_STREAM_THREADS, 0),
                                              IFM_STREAM_THREADS, 0, arguments});
    return ifm_cuda_wait(state->device, error);
}

static enum ifm_status fill_source(struct ifm_stream_cuda_run *state, struct ifm_error *error)
{
    const struct ifm_stream_fill fill = {state->from, state->bytes / sizeof(uint64_t), state->seed};
    return launch_once(state, "ifm_fill_source", &fill, error);
}

static enum ifm_status allocate(struct ifm_stream_cuda_run *state, struct ifm_error *error)
{
    bool fresh = false;
    if (state->probe == IFM_PROBE_READ || state->probe == IFM_PROBE_COPY) {
        IFM_TRY(buffer(state, "source", state->bytes, &state->from, &fresh, error));
        if (fresh)
            IFM_TRY(fill_source(state, error));
    }
    if (state->probe == IFM_PROBE_WRITE || state->probe == IFM_PROBE_COPY)
        IFM_TRY(buffer(state, ifm_probe_names[state->probe], state->bytes, &state->to, &fresh, error));
    if (state->n_sums > 0)
        IFM_TRY(buffer(state, state->variant, state->n_sums * sizeof(uint64_t), &state->sums, &fresh, error));
    if (state->to == NULL)
        return IFM_OK;
    IFM_TRY(ifm_cuda_find(state->device, "stream", "ifm_spoil", &state->spoiler, error));
    state->spoiler_blocks = ifm_cuda_blocks(state->device, state->spoiler, IFM_STREAM_THREADS, 0);
    return IFM_OK;
}

static void close_stream(void *opened)
{
    const struct ifm_stream_cuda_run *state = opened;
    ifm_cuda_steps_destroy(state->steps);
}

static enum ifm_status open_stream(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const struct ifm_stream_settings *settings = opening->settings;
    const struct ifm_stream_chosen *chosen = opening->chosen;
    struct ifm_stream_cuda_run *state = opened;
    *state = (struct ifm_stream_cuda_run){.device = opening->device,
                                          .probe = (enum ifm_probe)settings->probe,
                                          .seed = opening->seed,
                                          .pattern = PATTERN,
                                          .variant = opening->arm->variant,
                                          .rounds = chosen->rounds,
                                          .bytes = chosen->bytes,
                                          .asked = *chosen};
    IFM_TRY(choose(state, state->variant, error));
    IFM_TRY(allocate(state, error));
    return ifm_cuda_steps_create(state->device, enqueue, state, &state->steps, error);
}

static void step(void *opened, uint64_t n)
{
    const struct ifm_stream_cuda_run *state = opened;
    ifm_cuda_steps_run(state->steps, n);
}

/* ---- the check ---- */

/* Sums become NaN, as floats; words of a target the complement of what a step leaves: all, or one of each piece that a
 * block copies. */
static void spoil(void *opened, bool all)
{
    const struct ifm_stream_cuda_run *state = opened;
    const struct ifm_stream_spoil words = {state->to, state->asked.bytes / sizeof(uint64_t),
                                           all ? 1 : IFM_BULK_PIECE / sizeof(uint64_t), state->seed,
                                           state->probe == IFM_PROBE_COPY ? 0 : PATTERN};
    if (state->to != NULL)
        ifm_cuda_launch(state->device, &(struct ifm_cuda_launch){state->spoiler, state->spoiler_blocks,
                                                                 IFM_STREAM_THREADS, 0, &words});
    else
        ifm_cuda_fill(state->device, state->sums, UINT32_MAX, state->n_sums * 2);
}

/* `bytes` of the sums. malloc'd. */
static enum ifm_status read_sums(const struct ifm_stream_cuda_run *state, size_t bytes, void **out,
                                 struct ifm_error *error)
{
    *out = malloc(bytes);
    if (*out == NULL)
        return ifm_fail(error, IFM_INTERNAL, "stream", NULL, "out of memory");
    enum ifm_status status = ifm_cuda_read(state->device, *out, state->sums, bytes, error);
    if (status != IFM_OK)
        free(*out);
    return status;
}

static enum ifm_status wrong_sums(struct ifm_stream_cuda_run *state, struct ifm_check *out, struct ifm_error *error)
{
    void *left;
    IFM_TRY(read_sums(state, state->n_sums * sizeof(uint64_t), &left, error));
    const uint64_t *sums = left;
    uint64_t sum = 0, wrong = 0, words = state->asked.bytes / sizeof(uint64_t);
    if (state->probe == IFM_PROBE_FLOPS) {
        const float *values = left, grown = IFM_STREAM_FLOPS_CHAINS * TERM * (float)state->asked.rounds;
        for (size_t i = 0; i < state->n_sums; i++) /* 8 lane + 0.125 (0 + .. + 7), and what the rounds added */
            wrong += !(values[i] == 8.0f * (float)(i % 32) + 3.5f + grown);
        out->values = state->n_sums;
    } else { /* sum of (seed + i) IFM_STREAM_GOLDEN over all words, modulo 2^64 */
        uint64_t pairs = words % 2 == 0 ? words / 2 * (words - 1) : words * ((words - 1) / 2);
        for (size_t i = 0; i < state->n_sums; i++)
            sum += sums[i];
        wrong = sum != (words * state->seed + pairs) * IFM_STREAM_GOLDEN;
        out->values = 1;
    }
    out->output_xxh3 = ifm_xxh3(state->probe == IFM_PROBE_FLOPS ? (const void *)sums : &sum,
                                state->probe == IFM_PROBE_FLOPS ? state->n_sums * sizeof(float) : sizeof sum);
    out->error_rms_rel = out->error_max_rel = (double)wrong / (double)out->values;
    free(left);
    return IFM_OK;
}

/* Factor `i`, as matrix.cu makes it. */
static double factor_at(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed + i) * IFM_STREAM_GOLDEN;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ULL;
    x ^= x >> 32;
    uint32_t bits = (uint32_t)((x & 0x807f) | 0x3f00) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* The tile of sums against the product in f64, times the rounds. */
static void compare_tile(const struct ifm_stream_cuda_run *state, const float *tile, struct ifm_check *out)
{
    double squares = 0, wrong = 0, most = 0;
    bool finite = true;
    for (int row = 0; row < TILE_ROWS; row++)
        for (int column = 0; column < TILE_COLUMNS; column++) {
            double sum = 0;
            for (int k = 0; k < TILE_DEPTH; k++)
                sum += factor_at(state->seed, (uint64_t)(row * TILE_DEPTH + k)) *
                       factor_at(state->seed, (uint64_t)((TILE_ROWS + column) * TILE_DEPTH + k));
            sum *= (double)state->asked.rounds;
            double off = fabs((double)tile[row * TILE_COLUMNS + column] - sum);
            finite = finite && isfinite(off);
            squares += sum * sum;
            wrong += off * off;
            most = fmax(most, off);
        }
    double rms = sqrt(squares / (TILE_ROWS * TILE_COLUMNS));
    out->finite = finite;
    out->values = TILE_ROWS * TILE_COLUMNS;
    out->error_rms_rel = finite ? sqrt(wrong / squares) : INFINITY;
    out->error_max_rel = finite ? most / rms : INFINITY;
    out->output_xxh3 = ifm_xxh3(tile, sizeof(float) * TILE_ROWS * TILE_COLUMNS);
}

static enum ifm_status wrong_tile(struct ifm_stream_cuda_run *state, struct ifm_check *out, struct ifm_error *error)
{
    void *tile;
    IFM_TRY(read_sums(state, sizeof(float) * TILE_ROWS * TILE_COLUMNS, &tile, error));
    compare_tile(state, tile, out);
    free(tile);
    return IFM_OK;
}

/* Words that differ from what a step leaves, counted on the device. */
static enum ifm_status wrong_words(struct ifm_stream_cuda_run *state, struct ifm_check *out, struct ifm_error *error)
{
    uint64_t words = state->asked.bytes / sizeof(uint64_t), wrong = 0;
    void *at = NULL;
    bool fresh;
    IFM_TRY(buffer(state, "count", sizeof wrong, &at, &fresh, error));
    ifm_cuda_fill(state->device, at, 0, 2);
    const struct ifm_stream_count count = {state->to, words, state->seed, state->probe == IFM_PROBE_COPY ? 0 : PATTERN,
                                           at};
    IFM_TRY(launch_once(state, "ifm_count_wrong", &count, error));
    IFM_TRY(ifm_cuda_read(state->device, &wrong, at, sizeof wrong, error));
    out->values = words;
    out->error_rms_rel = out->error_max_rel = (double)wrong / (double)words;
    out->output_xxh3 = wrong == 0 ? state->seed : 0; /* equal to a formula of the seed, or not */
    return IFM_OK;
}

static enum ifm_status check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_stream_cuda_run *state = opened;
    *out = (struct ifm_check){0};
    bool sums = state->probe == IFM_PROBE_READ || state->probe == IFM_PROBE_FLOPS;
    out->finite = true;
    IFM_TRY(state->probe == IFM_PROBE_MATRIX ? wrong_tile(state, out, error)
            : sums                           ? wrong_sums(state, out, error)
                                             : wrong_words(state, out, error));
    const struct ifm_gpu *gpu = ifm_cuda_gpu(state->device);
    snprintf(out->isa, sizeof out->isa, "sm_%u%u", gpu->major, gpu->minor);
    out->done = true;
    return IFM_OK;
}

const struct ifm_implementation ifm_stream_cuda = {
    .name = "ours",
    .title = "ours (CUDA)",
    .device = "cuda",
    .purpose = "kernels, and the driver's copy and fill",
    .supports = supports,
    .state_bytes = sizeof(struct ifm_stream_cuda_run),
    .open = open_stream,
    .step = step,
    .spoil = spoil,
    .check = check,
    .close = close_stream,
};
