/* The probes of stream on the device cuda. */
#include "workload/stream/cuda.h"

#include "base/hash.h"
#include "device/cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB (1ULL << 30)
#define GOLDEN 0x9E3779B97F4A7C15ULL
#define PATTERN 0x5a5a5a5a5a5a5a5aULL

enum {
    CACHE_FACTOR = 16,
    THREADS = 512,
    FLAT_THREADS = 128,
    FLOP_THREADS = 256,
    FLOP_CHAINS = 8,
    FLOP_BLOCKS_A_SM = 8
};
#define FLOP_ROUNDS (1ULL << 14)
enum { TILE_ROWS = 64, TILE_COLUMNS = 256, TILE_DEPTH = 64, TILE_THREADS = 128, TILES_A_SM = 2 }; /* as in matrix.cu */
#define TILE_ROUNDS 1024ULL
enum { BULK_PIECE = 4096, BULK_STAGES = 16 }; /* as in stream.cu */
static const float FACTOR = -1.0f, TERM = 3.0f;

static const char *const probe_names[] = {"read", "write", "copy", "flops", "matrix", "caches"};

struct ifm_stream_cuda {
    struct ifm_device *device;
    struct ifm_cuda_steps *steps;
    struct ifm_cuda_function *kernel; /* NULL: a copy or fill of the driver's */
    enum ifm_probe probe;
    unsigned blocks, threads, shared;
    void *from, *to, *sums;
    uint64_t bytes, vectors, rounds, seed, pattern;
    size_t n_sums; /* of the last launch: one a warp, or one a thread of flops */
    float factor, term;
};

const char *const *ifm_stream_cuda_shapes(enum ifm_probe probe, const struct ifm_gpu *gpu)
{
    static const char *const read[] = {"linear", "bulk", NULL}, *const write[] = {"store", "memset", NULL};
    static const char *const copy[] = {"flat", "bulk", "memcpy", NULL}, *const flops[] = {"fma", NULL};
    static const char *const matrix[] = {"bf16", NULL};
    static const char *const *const shapes[] = {read, write, copy, flops, matrix, NULL};
    return probe == IFM_PROBE_MATRIX && gpu->major != 9 ? NULL : shapes[probe];
}

uint64_t ifm_stream_cuda_size(const struct ifm_gpu *gpu)
{
    return CACHE_FACTOR * gpu->l2_bytes > GIB ? CACHE_FACTOR * gpu->l2_bytes : GIB;
}

uint64_t ifm_stream_cuda_flops(enum ifm_probe probe, const struct ifm_gpu *gpu)
{
    if (probe == IFM_PROBE_MATRIX)
        return 2ULL * TILE_ROWS * TILE_COLUMNS * TILE_DEPTH * TILE_ROUNDS * TILES_A_SM * gpu->multiprocessors;
    return 2ULL * FLOP_CHAINS * FLOP_ROUNDS * FLOP_THREADS * FLOP_BLOCKS_A_SM * gpu->multiprocessors;
}

/* A sum grows by one product of depth 16 at a time, and each addition may lose a unit in its last place. Errors are
 * relative to the root mean square of all sums, of which a single one is some four at most. */
double ifm_stream_cuda_tolerance(enum ifm_probe probe)
{
    return probe == IFM_PROBE_MATRIX ? 4.0 * (double)TILE_ROUNDS * (TILE_DEPTH / 16) * 0x1p-23 : 0;
}

static void enqueue(void *arg)
{
    struct ifm_stream_cuda *state = arg;
    void *bulk_copy[] = {&state->to, &state->from, &state->bytes},
         *copy[] = {&state->to, &state->from, &state->vectors};
    void *bulk_read[] = {&state->from, &state->bytes, &state->sums};
    void *read[] = {&state->from, &state->vectors, &state->sums};
    void *write[] = {&state->to, &state->vectors, &state->pattern};
    void *flops[] = {&state->rounds, &state->factor, &state->term, &state->sums};
    void *matrix[] = {&state->rounds, &state->seed, &state->sums};
    bool bulk = state->shared > 0; /* of read and copy */
    void **const arguments[] = {[IFM_PROBE_READ] = bulk ? bulk_read : read,
                                [IFM_PROBE_WRITE] = write,
                                [IFM_PROBE_COPY] = bulk ? bulk_copy : copy,
                                [IFM_PROBE_FLOPS] = flops,
                                [IFM_PROBE_MATRIX] = matrix};
    if (state->kernel != NULL)
        ifm_cuda_launch(state->device, &(struct ifm_cuda_launch){state->kernel, state->blocks, state->threads,
                                                                 state->shared, arguments[state->probe]});
    else if (state->probe == IFM_PROBE_COPY)
        ifm_cuda_copy(state->device, state->to, state->from, state->bytes);
    else
        ifm_cuda_fill(state->device, state->to, (uint32_t)state->pattern, state->bytes / 4);
}

static enum ifm_status choose_matrix(struct ifm_stream_cuda *state, const char *name, struct ifm_error *error)
{
    IFM_TRY(ifm_cuda_find(state->device, "matrix", name, &state->kernel, error));
    state->threads = TILE_THREADS;
    state->shared = (TILE_ROWS + TILE_COLUMNS) * TILE_DEPTH * 2;
    state->blocks = TILES_A_SM * ifm_cuda_gpu(state->device)->multiprocessors;
    state->rounds = TILE_ROUNDS;
    state->n_sums = (size_t)TILE_ROWS * TILE_COLUMNS / 2; /* floats in the room of uint64_t */
    return IFM_OK;
}

/* Kernel and grid of a shape: as many blocks as the GPU runs at once, so that none waits for another. */
static enum ifm_status choose(struct ifm_stream_cuda *state, const char *shape, struct ifm_error *error)
{
    char name[64];
    if (strcmp(shape, "memcpy") == 0 || strcmp(shape, "memset") == 0)
        return IFM_OK;
    bool bulk = strcmp(shape, "bulk") == 0;
    snprintf(name, sizeof name, "ifm_%s_%s", probe_names[state->probe], shape);
    if (state->probe == IFM_PROBE_MATRIX)
        return choose_matrix(state, name, error);
    IFM_TRY(ifm_cuda_find(state->device, "stream", name, &state->kernel, error));
    state->threads = state->probe == IFM_PROBE_FLOPS ? FLOP_THREADS : THREADS;
    if (bulk) {
        state->threads = state->probe == IFM_PROBE_COPY ? 32 : 256;
        state->shared = BULK_PIECE * BULK_STAGES;
        IFM_TRY(ifm_cuda_allow_shared(state->device, state->kernel, state->shared, error));
    }
    if (strcmp(shape, "flat") == 0) { /* a thread a vector */
        state->threads = FLAT_THREADS;
        state->blocks = (unsigned)((state->vectors + FLAT_THREADS - 1) / FLAT_THREADS);
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

static enum ifm_status buffer(struct ifm_stream_cuda *state, const char *what, size_t bytes, void **out, bool *fresh,
                              struct ifm_error *error)
{
    char name[64];
    snprintf(name, sizeof name, "stream.%s seed %016llx", what, (unsigned long long)state->seed);
    return state->device->ops->buffer(state->device, name, bytes, out, fresh, error);
}

/* One launch of a helper kernel over `words` words. */
static enum ifm_status fill_source(struct ifm_stream_cuda *state, struct ifm_error *error)
{
    struct ifm_cuda_function *fill;
    uint64_t words = state->bytes / sizeof(uint64_t);
    void *arguments[] = {&state->from, &words, &state->seed};
    IFM_TRY(ifm_cuda_find(state->device, "stream", "ifm_fill_source", &fill, error));
    ifm_cuda_launch(state->device, &(struct ifm_cuda_launch){fill, ifm_cuda_blocks(state->device, fill, THREADS, 0),
                                                             THREADS, 0, arguments});
    return ifm_cuda_wait(state->device, error);
}

static enum ifm_status allocate(struct ifm_stream_cuda *state, struct ifm_error *error)
{
    bool fresh = false;
    if (state->probe == IFM_PROBE_READ || state->probe == IFM_PROBE_COPY) {
        IFM_TRY(buffer(state, "source", state->bytes, &state->from, &fresh, error));
        if (fresh)
            IFM_TRY(fill_source(state, error));
    }
    if (state->probe == IFM_PROBE_WRITE || state->probe == IFM_PROBE_COPY)
        IFM_TRY(buffer(state, probe_names[state->probe], state->bytes, &state->to, &fresh, error));
    if (state->n_sums > 0)
        IFM_TRY(buffer(state, "sums", state->n_sums * sizeof(uint64_t), &state->sums, &fresh, error));
    return IFM_OK;
}

enum ifm_status ifm_stream_cuda_open(const struct ifm_arm *arm, enum ifm_probe probe, struct ifm_device *device,
                                     uint64_t seed, struct ifm_stream_cuda **out, struct ifm_error *error)
{
    struct ifm_stream_cuda *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ifm_fail(error, IFM_INTERNAL, arm->name, NULL, "out of memory");
    *state = (struct ifm_stream_cuda){.device = device,
                                      .probe = probe,
                                      .seed = seed,
                                      .pattern = PATTERN,
                                      .factor = FACTOR,
                                      .term = TERM,
                                      .rounds = FLOP_ROUNDS,
                                      .bytes = probe == IFM_PROBE_WRITE ? arm->ledger.bytes_written
                                                                        : arm->ledger.bytes_read};
    state->vectors = state->bytes / 16;
    enum ifm_status status = choose(state, arm->variant, error);
    if (status == IFM_OK)
        status = allocate(state, error);
    if (status == IFM_OK)
        status = ifm_cuda_steps_create(device, enqueue, state, &state->steps, error);
    if (status != IFM_OK)
        ifm_stream_cuda_close(state);
    else
        *out = state;
    return status;
}

void ifm_stream_cuda_step(struct ifm_stream_cuda *state, uint64_t n)
{
    ifm_cuda_steps_run(state->steps, n);
}

/* Sums that a step leaves are spoiled first, so that a step that does nothing is seen. */
static enum ifm_status wrong_sums(struct ifm_stream_cuda *state, struct ifm_check *out, struct ifm_error *error)
{
    size_t bytes = state->n_sums * sizeof(uint64_t);
    uint64_t *sums = malloc(bytes);
    if (sums == NULL)
        return ifm_fail(error, IFM_INTERNAL, "stream", NULL, "out of memory");
    ifm_cuda_fill(state->device, state->sums, UINT32_MAX, bytes / 4); /* of float, NaN */
    ifm_stream_cuda_step(state, 1);
    enum ifm_status status = ifm_cuda_read(state->device, sums, state->sums, bytes, error);
    uint64_t sum = 0, wrong = 0, words = state->bytes / sizeof(uint64_t);
    if (state->probe == IFM_PROBE_FLOPS) {
        const float *values = (const float *)(const void *)sums;
        for (size_t i = 0; i < state->n_sums;
             i++) /* what an even number of rounds leaves: 8 lane + 0.125 (0 + .. + 7) */
            wrong += !(values[i] == 8.0f * (float)(i % 32) + 3.5f);
        out->values = state->n_sums;
    } else { /* sum of (seed + i) GOLDEN over all words, modulo 2^64 */
        uint64_t pairs = words % 2 == 0 ? words / 2 * (words - 1) : words * ((words - 1) / 2);
        for (size_t i = 0; i < state->n_sums; i++)
            sum += sums[i];
        wrong = sum != (words * state->seed + pairs) * GOLDEN;
        out->values = 1;
    }
    out->output_xxh3 = ifm_xxh3(state->probe == IFM_PROBE_FLOPS ? (const void *)sums : &sum,
                                state->probe == IFM_PROBE_FLOPS ? state->n_sums * sizeof(float) : sizeof sum);
    out->error_rms_rel = out->error_max_rel = (double)wrong / (double)out->values;
    free(sums);
    return status;
}

/* Factor `i`, as matrix.cu makes it. */
static double factor_at(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed + i) * GOLDEN;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ULL;
    x ^= x >> 32;
    uint32_t bits = (uint32_t)((x & 0x807f) | 0x3f00) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* The tile of sums against the product in f64, times the rounds. */
static void compare_tile(const struct ifm_stream_cuda *state, const float *tile, struct ifm_check *out)
{
    double squares = 0, wrong = 0, most = 0;
    bool finite = true;
    for (int row = 0; row < TILE_ROWS; row++)
        for (int column = 0; column < TILE_COLUMNS; column++) {
            double sum = 0;
            for (int k = 0; k < TILE_DEPTH; k++)
                sum += factor_at(state->seed, (uint64_t)(row * TILE_DEPTH + k)) *
                       factor_at(state->seed, (uint64_t)((TILE_ROWS + column) * TILE_DEPTH + k));
            sum *= (double)state->rounds;
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

static enum ifm_status wrong_tile(struct ifm_stream_cuda *state, struct ifm_check *out, struct ifm_error *error)
{
    size_t bytes = sizeof(float) * TILE_ROWS * TILE_COLUMNS;
    float *tile = malloc(bytes);
    if (tile == NULL)
        return ifm_fail(error, IFM_INTERNAL, "stream", NULL, "out of memory");
    ifm_cuda_fill(state->device, state->sums, UINT32_MAX, bytes / 4); /* NaN */
    ifm_stream_cuda_step(state, 1);
    enum ifm_status status = ifm_cuda_read(state->device, tile, state->sums, bytes, error);
    if (status == IFM_OK)
        compare_tile(state, tile, out);
    free(tile);
    return status;
}

/* Words that differ from what one more step over a spoiled target must leave, counted on the device. */
static enum ifm_status wrong_words(struct ifm_stream_cuda *state, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_cuda_function *count;
    uint64_t words = state->bytes / sizeof(uint64_t), wrong = 0;
    uint64_t pattern = state->probe == IFM_PROBE_COPY ? 0 : state->pattern;
    void *at = NULL;
    bool fresh;
    IFM_TRY(ifm_cuda_find(state->device, "stream", "ifm_count_wrong", &count, error));
    IFM_TRY(buffer(state, "count", sizeof wrong, &at, &fresh, error));
    ifm_cuda_fill(state->device, at, 0, 2);
    ifm_cuda_fill(state->device, state->to, 0xa5a5a5a5, state->bytes / 4);
    ifm_stream_cuda_step(state, 1);
    void *arguments[] = {&state->to, &words, &state->seed, &pattern, &at};
    ifm_cuda_launch(state->device, &(struct ifm_cuda_launch){count, ifm_cuda_blocks(state->device, count, THREADS, 0),
                                                             THREADS, 0, arguments});
    IFM_TRY(ifm_cuda_read(state->device, &wrong, at, sizeof wrong, error));
    out->values = words;
    out->error_rms_rel = out->error_max_rel = (double)wrong / (double)words;
    out->output_xxh3 = wrong == 0 ? state->seed : 0; /* equal to a formula of the seed, or not */
    return IFM_OK;
}

enum ifm_status ifm_stream_cuda_check(struct ifm_stream_cuda *state, struct ifm_check *out, struct ifm_error *error)
{
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

void ifm_stream_cuda_close(struct ifm_stream_cuda *state)
{
    if (state == NULL)
        return;
    ifm_cuda_steps_destroy(state->steps);
    free(state);
}
