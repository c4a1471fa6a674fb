/* decode: attention of one new token per sequence over an f32 KV cache.
 *
 * What the timed region contains: for every sequence and query head, softmax(q K^T / sqrt(head_dim)) V over the whole
 * cache, and the join of the pieces that several workers computed. Nothing is appended to the cache. */
#include "base/hash.h"
#include "base/text.h"
#include "device/fake.h"
#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"
#include "workload/data.h"
#include "workload/decode_oracle.h"
#include "workload/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_K = 1, STREAM_V = 2, STREAM_Q = 3 };

struct settings {
    uint64_t batch, q_heads, kv_heads, kv_len, head_dim;
    int isa;
};

#define ROW_U64(name, flag, fallback, low, high, unit, help)                                                           \
    {                                                                                                                  \
        "decode." #name, flag, IFM_TYPE_U64, IFM_SWEEP | IFM_PER_ARM, unit, fallback, low, high, NULL, help,           \
            offsetof(struct settings, name)                                                                            \
    }

static const struct ifm_param rows[] = {
    ROW_U64(batch, "batch", "4", 1, 65536, "count", "sequences, each with a cache of its own"),
    ROW_U64(q_heads, "q-heads", "32", 1, 4096, "count", "query heads; a multiple of decode.kv_heads"),
    ROW_U64(kv_heads, "kv-heads", "8", 1, 4096, "count", "heads of the KV cache"),
    ROW_U64(kv_len, "kv-len", "8192", 1, 1073741824, "tokens", "tokens in the cache of each sequence"),
    ROW_U64(head_dim, "head-dim", "128", 32, 256, "count", "dimension of a head; a multiple of 8"),
    {"decode.isa", "isa", IFM_TYPE_CHOICE, IFM_SWEEP | IFM_PER_ARM, "", "auto", 1, 0, IFM_ISA_CHOICES,
     "instruction set of the kernel; auto takes the best that the machine has", offsetof(struct settings, isa)},
};

static const struct ifm_section section = {
    .name = "decode",
    .help = "Attention of one new token per sequence over an f32 KV cache",
    .rows = rows,
    .n = sizeof rows / sizeof rows[0],
    .size = sizeof(struct settings),
};

struct ifm_workload_state {
    struct ifm_device *device;
    const char *arm;
    bool fake;
    unsigned threads;
    const struct ifm_kernel *kernel;
    struct ifm_decode_job job;
    size_t outputs; /* floats */
};

/* Sizes in bytes; UINT64_MAX where they overflow. */
static uint64_t cache_bytes(const struct settings *s)
{
    return ifm_data_mul(sizeof(float) * s->batch * s->kv_heads, ifm_data_mul(s->kv_len, s->head_dim));
}

static uint64_t query_bytes(const struct settings *s)
{
    return sizeof(float) * s->batch * s->q_heads * s->head_dim;
}

static enum ifm_status check_shape(const struct settings *s, struct ifm_error *error)
{
    if (s->q_heads % s->kv_heads != 0)
        return ifm_fail(error, IFM_USAGE, "decode.q_heads", "make decode.q_heads a multiple of decode.kv_heads",
                        "decode.q_heads %llu is not a multiple of decode.kv_heads %llu", (unsigned long long)s->q_heads,
                        (unsigned long long)s->kv_heads);
    if (s->head_dim % 8 != 0)
        return ifm_fail(error, IFM_USAGE, "decode.head_dim", "use a multiple of 8 from 32 to 256",
                        "decode.head_dim %llu is not a multiple of 8", (unsigned long long)s->head_dim);
    return IFM_OK;
}

static enum ifm_status check_memory(const struct settings *s, uint64_t needed, const struct ifm_machine *machine,
                                    struct ifm_error *error)
{
    if (needed <= machine->memory_available)
        return IFM_OK;
    char need[48], have[48];
    return ifm_fail(error, IFM_USAGE, "decode", "lower decode.batch or decode.kv_len, or free memory",
                    "batch %llu x %llu KV heads x %llu tokens x %llu needs %s of memory, but %s are available",
                    (unsigned long long)s->batch, (unsigned long long)s->kv_heads, (unsigned long long)s->kv_len,
                    (unsigned long long)s->head_dim,
                    needed == UINT64_MAX ? "more than 16 EiB" : ifm_format_human((double)needed, "B", need),
                    ifm_format_human((double)machine->memory_available, "B", have));
}

/* The kernel's error in units of f32 rounding, 2^-24: a score is a sum of head_dim products, and an output a running
 * sum of kv_len weighted rows; rounding errors add like random steps. A factor of 8 leaves room for the exponential
 * and for scores of several units, and a wrong row, head or weight is off by many orders more. */
static double tolerance(const struct settings *s)
{
    return 0x1p-24 * 8 * (sqrt((double)s->head_dim) + sqrt((double)s->kv_len) / 4);
}

static enum ifm_status describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                struct ifm_error *error)
{
    struct settings s;
    *arms = (struct ifm_arm_list){0};
    IFM_TRY(ifm_section_bind(&section, settings, n, arena, &s, error));
    IFM_TRY(check_shape(&s, error));
    *why_not = ifm_data_isa_why_not(ifm_isa_name(s.isa), machine, arena);
    if (*why_not != NULL)
        return IFM_OK;
    uint64_t caches = ifm_data_mul(2, cache_bytes(&s)), query = query_bytes(&s);
    uint64_t memory = ifm_data_add(caches, 2 * query);
    IFM_TRY(check_memory(&s, memory, machine, error));
    struct ifm_arm *arm = IFM_ARENA_NEW(arena, struct ifm_arm);
    *arm = (struct ifm_arm){
        .name = "decode",
        .variant = "",
        .feature = "",
        .equals = "",
        .ledger = {.flops = 4 * s.batch * s.q_heads * s.kv_len * s.head_dim,
                   .bytes_read = caches + query,
                   .bytes_written = query,
                   .tokens_generated = s.batch,
                   .rows = s.batch},
        .working_set = caches + 2 * query,
        .memory = memory,
        .has_oracle = ifm_data_computes(machine),
        .tolerance = tolerance(&s),
    };
    *arms = (struct ifm_arm_list){.items = arm, .n = 1};
    return IFM_OK;
}

/* Shared input: the same shape and seed name the same memory for every arm of the cell. */
static enum ifm_status input(struct ifm_workload_state *state, uint64_t seed, uint32_t stream, size_t n,
                             const float **out, struct ifm_error *error)
{
    const struct ifm_decode_shape *s = &state->job.shape;
    char name[160];
    snprintf(name, sizeof name, "decode.%c %llux%llux%llux%llu seed %016llx", "?KVQ"[stream],
             (unsigned long long)s -> batch, (unsigned long long)(stream == STREAM_Q ? s->q_heads : s->kv_heads),
             (unsigned long long)s -> kv_len, (unsigned long long)s -> head_dim, (unsigned long long)seed);
    void *memory;
    bool fresh;
    IFM_TRY(state->device->ops->buffer(state->device, name, n * sizeof(float), &memory, &fresh, error));
    if (fresh)
        ifm_data_normal(state->device, state->threads, seed, stream, memory, n);
    *out = memory;
    return IFM_OK;
}

static float *aligned_floats(size_t n)
{
    const size_t line = 64;
    size_t bytes = (n * sizeof(float) + line - 1) / line * line;
    return aligned_alloc(line, bytes);
}

static enum ifm_status allocate(struct ifm_workload_state *state, uint64_t seed, struct ifm_error *error)
{
    const struct ifm_decode_shape *s = &state->job.shape;
    size_t cache = s->batch * s->kv_heads * s->kv_len * s->head_dim;
    size_t scratch = ifm_decode_scratch_floats(s, state->threads);
    state->outputs = s->batch * s->q_heads * s->head_dim;
    IFM_TRY(input(state, seed, STREAM_K, cache, &state->job.k, error));
    IFM_TRY(input(state, seed, STREAM_V, cache, &state->job.v, error));
    IFM_TRY(input(state, seed, STREAM_Q, state->outputs, &state->job.q, error));
    state->job.out = aligned_floats(state->outputs);
    state->job.scratch = aligned_floats(scratch);
    if (state->job.out == NULL || state->job.scratch == NULL)
        return ifm_fail(error, IFM_INTERNAL, state->arm, NULL, "out of memory");
    memset(state->job.scratch, 0, scratch * sizeof(float));
    for (size_t i = 0; i < state->outputs; i++)
        state->job.out[i] = NAN; /* an output that no step writes shows */
    return IFM_OK;
}

static void close_decode(struct ifm_workload_state *state)
{
    if (state == NULL)
        return;
    free(state->job.out);
    free(state->job.scratch);
    free(state);
}

static enum ifm_status open_decode(const struct ifm_arm *arm, struct ifm_device *device, unsigned threads,
                                   uint64_t seed, struct ifm_workload_state **out, struct ifm_error *error)
{
    struct settings s;
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = ifm_section_bind(&section, arm->settings, arm->n_settings, arena, &s, error);
    ifm_arena_destroy(arena);
    IFM_TRY(status);
    struct ifm_workload_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ifm_fail(error, IFM_INTERNAL, arm->name, NULL, "out of memory");
    state->device = device;
    state->arm = arm->name;
    state->threads = threads;
    state->fake = ifm_device_is_fake(device);
    state->job.shape = (struct ifm_decode_shape){s.batch, s.q_heads, s.kv_heads, s.kv_len, s.head_dim};
    state->kernel = ifm_kernel_find("decode.online", ifm_isa_name(s.isa));
    if (state->kernel == NULL && !state->fake)
        status = ifm_fail(error, IFM_MISSING, arm->name, "choose decode.isa=auto",
                          "this build has no decode kernel for %s", ifm_isa_name(s.isa));
    else if (!state->fake)
        status = allocate(state, seed, error);
    if (status != IFM_OK)
        close_decode(state);
    else
        *out = state;
    return status;
}

static void work(void *arg, unsigned index, unsigned count)
{
    const struct ifm_workload_state *state = arg;
    state->kernel->fn.decode(&state->job, index, count);
}

static void step(struct ifm_workload_state *state, uint64_t n)
{
    if (state->fake) {
        ifm_fake_advance(state->device, state->arm, n);
        return;
    }
    for (; n > 0; n--) {
        state->device->ops->parallel(state->device, state->threads, work, state);
        ifm_decode_merge(&state->job, state->threads);
    }
}

static enum ifm_status check(struct ifm_workload_state *state, struct ifm_check *out, struct ifm_error *error)
{
    *out = (struct ifm_check){0};
    if (state->fake)
        return IFM_OK;
    IFM_TRY(ifm_decode_compare(state->device, state->threads, &state->job, out, error));
    out->finite = true;
    for (size_t i = 0; i < state->outputs; i++)
        out->finite = out->finite && isfinite(state->job.out[i]);
    out->output_xxh3 = ifm_xxh3(state->job.out, state->outputs * sizeof(float));
    out->done = true;
    return IFM_OK;
}

const struct ifm_workload ifm_workload_decode = {
    .name = "decode",
    .purpose = "attention of one new token per sequence over an f32 KV cache",
    .timed_region = "softmax(q K^T / sqrt(d)) V of every query head over the whole cache, with the join of its pieces",
    .params = &section,
    .describe = describe,
    .open = open_decode,
    .step = step,
    .check = check,
    .close = close_decode,
};
