/* attention: scaled-dot-product attention forward over whole sequences, ours beside a library's matrix products.
 *
 * What the timed region contains: softmax(Q K^T / sqrt(head_dim)) V of every sequence and query head, from Q, K and V
 * in the storage format to the output in it. No projection, nothing of a cache. */
#include "base/hash.h"
#include "base/text.h"
#include "device/fake.h"
#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"
#include "workload/attention/blas.h"
#include "workload/attention/data.h"
#include "workload/attention/matrix.h"
#include "workload/attention/oracle.h"
#include "workload/data/data.h"
#include "workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPENBLAS "openblas"
enum { ARMS_MOST = 8, LINE = 64 };

struct settings {
    uint64_t batch, q_heads, kv_heads, seq_len, head_dim, scale;
    double ragged;
    bool causal;
    int storage, isa, matrix;
    struct ifm_list arms;
    const char *kv_file; /* "" = generated inputs */
};

#define ROW_U64(name, flag, fallback, low, high, unit, help)                                                           \
    {                                                                                                                  \
        "attention." #name, flag, IFM_TYPE_U64, IFM_SWEEP | IFM_PER_ARM, unit, fallback, low, high, NULL, help,        \
            offsetof(struct settings, name)                                                                            \
    }
#define BATCH "1"
#define HEADS "8"
#define SEQ_LEN "2048"
#define HEAD_DIM "64"

static const struct ifm_param rows[] = {
    ROW_U64(batch, "batch", BATCH, 1, 65536, "count", "sequences"),
    ROW_U64(q_heads, "q-heads", HEADS, 1, 4096, "count", "query heads; a multiple of attention.kv_heads"),
    ROW_U64(kv_heads, "kv-heads", HEADS, 1, 4096, "count", "heads of K and V"),
    ROW_U64(seq_len, "seq-len", SEQ_LEN, 1, 1048576, "tokens", "tokens of a sequence, at most"),
    ROW_U64(head_dim, "head-dim", HEAD_DIM, 32, 256, "count", "dimension of a head; a multiple of 32"),
    {"attention.causal", "causal", IFM_TYPE_BOOL, IFM_SWEEP | IFM_PER_ARM, "", "false", 1, 0, NULL,
     "a query sees no key behind its own position", offsetof(struct settings, causal)},
    {"attention.ragged", "ragged", IFM_TYPE_F64, IFM_SWEEP | IFM_PER_ARM, "1", "0", 0, 1, NULL,
     "lengths are spread evenly from seq_len x (1 - ragged) to seq_len; the seed draws which sequence has which",
     offsetof(struct settings, ragged)},
    {"attention.storage", "storage", IFM_TYPE_CHOICE, IFM_SWEEP | IFM_PER_ARM, "", "f16", 1, 0, "f32|bf16|f16",
     "format of Q, K, V and the output; sums and weights are f32 in all of them", offsetof(struct settings, storage)},
    {"attention.isa", "isa", IFM_TYPE_CHOICE, IFM_SWEEP | IFM_PER_ARM, "", "auto", 1, 0, IFM_ISA_CHOICES,
     "instruction set of the arm auto, and of the softmax between the products of openblas",
     offsetof(struct settings, isa)},
    {"attention.arms", "arms", IFM_TYPE_TEXT, IFM_LIST | IFM_PER_ARM, "", "", 1, 0, IFM_ISA_CHOICES "|" OPENBLAS,
     "what is compared, the baseline first; empty takes openblas where the library is there, then auto",
     offsetof(struct settings, arms)},
    {"attention.matrix", "matrix", IFM_TYPE_CHOICE, IFM_SWEEP | IFM_PER_ARM, "", "none", 1, 0,
     IFM_ATTENTION_MATRIX_CHOICES,
     "batch, heads and tokens by name, with head_dim 64; the word baseline stands for all ten, one cell each",
     offsetof(struct settings, matrix)},
    {"attention.kv_file", "kv-file", IFM_TYPE_TEXT, IFM_PRIVATE | IFM_PER_ARM, "", "", 0, 0, NULL,
     "safetensors file whose keys, values and queries are taken instead of generated ones",
     offsetof(struct settings, kv_file)},
    ROW_U64(scale, "scale", "1", 1, 65536, "count", "divides the batch, down to one sequence: what a CPU can do"),
};

static const struct ifm_word words[] = {{"attention.matrix", "baseline", IFM_ATTENTION_BASELINE}, {NULL, NULL, NULL}};

static const struct ifm_section section = {
    .name = "attention",
    .help = "Scaled-dot-product attention forward over whole sequences",
    .rows = rows,
    .n = sizeof rows / sizeof rows[0],
    .size = sizeof(struct settings),
    .words = words,
};

struct ifm_workload_state {
    struct ifm_device *device;
    const char *arm;
    bool fake;
    unsigned threads;
    const struct ifm_kernel *kernel; /* NULL: the library's arm */
    struct ifm_attention_blas blas;
    struct ifm_attention_job job;
    struct ifm_attention_unit *units;
    uint32_t *lengths;
    size_t scratch_floats; /* of one worker */
    size_t out_bytes;
};

/* ---- settings ---- */

/* Whether a row still has its default: a shape by name leaves no other. */
static bool is_default(uint64_t value, const char *fallback)
{
    uint64_t number;
    return ifm_parse_u64(fallback, &number) && number == value;
}

static enum ifm_status apply_matrix(struct settings *s, struct ifm_error *error)
{
    const struct ifm_attention_config *config = ifm_attention_config(s->matrix);
    if (config != NULL) {
        if (!is_default(s->batch, BATCH) || !is_default(s->q_heads, HEADS) || !is_default(s->kv_heads, HEADS) ||
            !is_default(s->seq_len, SEQ_LEN) || !is_default(s->head_dim, HEAD_DIM))
            return ifm_fail(error, IFM_USAGE, "attention.matrix",
                            "leave out batch, q_heads, kv_heads, seq_len and head_dim, or attention.matrix",
                            "attention.matrix=%s gives the shape, and the settings give another", config->name);
        s->batch = config->batch;
        s->q_heads = s->kv_heads = config->heads;
        s->seq_len = config->seq_len;
        s->head_dim = IFM_ATTENTION_MATRIX_DIM;
    }
    s->batch = s->batch / s->scale > 0 ? s->batch / s->scale : 1;
    return IFM_OK;
}

static enum ifm_status check_shape(const struct settings *s, struct ifm_error *error)
{
    if (s->q_heads % s->kv_heads != 0)
        return ifm_fail(error, IFM_USAGE, "attention.q_heads",
                        "make attention.q_heads a multiple of attention.kv_heads (--q-heads, --kv-heads)",
                        "attention.q_heads %llu is not a multiple of attention.kv_heads %llu",
                        (unsigned long long)s->q_heads, (unsigned long long)s->kv_heads);
    if (s->head_dim % 32 != 0)
        return ifm_fail(error, IFM_USAGE, "attention.head_dim", "use a multiple of 32 from 32 to 256",
                        "attention.head_dim %llu is not a multiple of 32", (unsigned long long)s->head_dim);
    return IFM_OK;
}

static enum ifm_status bind(const struct ifm_setting *settings, size_t n, struct ifm_arena *arena, struct settings *s,
                            struct ifm_error *error)
{
    IFM_TRY(ifm_section_bind(&section, settings, n, arena, s, error));
    IFM_TRY(apply_matrix(s, error));
    return check_shape(s, error);
}

static struct ifm_attention_shape shape_of(const struct settings *s)
{
    return (struct ifm_attention_shape){s->batch,
                                        s->q_heads,
                                        s->kv_heads,
                                        s->seq_len,
                                        s->head_dim,
                                        s->causal,
                                        (enum ifm_attention_storage)(s->storage + 1)};
}

/* ---- describe ---- */

/* Values of `heads` heads of `tokens` tokens, in bytes; UINT64_MAX where that overflows. */
static uint64_t bytes_of(const struct settings *s, uint64_t heads, uint64_t tokens)
{
    const uint64_t size = ifm_attention_size((enum ifm_attention_storage)(s->storage + 1));
    return ifm_data_mul(size * s->head_dim, ifm_data_mul(heads, tokens));
}

static enum ifm_status check_memory(const struct settings *s, uint64_t needed, const struct ifm_machine *machine,
                                    struct ifm_error *error)
{
    if (needed <= machine->memory_available)
        return IFM_OK;
    char need[48], have[48];
    return ifm_fail(error, IFM_USAGE, "attention", "raise attention.scale, lower the shape, or free memory",
                    "batch %llu x %llu query and %llu KV heads x %llu tokens x %llu needs %s of memory, but %s are "
                    "available",
                    (unsigned long long)s->batch, (unsigned long long)s->q_heads, (unsigned long long)s->kv_heads,
                    (unsigned long long)s->seq_len, (unsigned long long)s->head_dim,
                    needed == UINT64_MAX ? "more than 16 EiB" : ifm_format_human((double)needed, "B", need),
                    ifm_format_human((double)machine->memory_available, "B", have));
}

/* Rounding errors of f32 sums add like random steps: a score is a sum of head_dim products, an output one of seq_len
 * weighted rows, and a factor of 8 leaves room for the exponential and for scores of several units; a wrong row, key
 * or mask is off by many orders more. The output is rounded to the storage format, by half a unit at most. */
static double tolerance(const struct settings *s)
{
    static const double rounding[] = {0, 0x1p-8, 0x1p-11}; /* f32, bf16, f16 */
    return 0x1p-24 * 8 * (sqrt((double)s->head_dim) + sqrt((double)s->seq_len) / 4) + rounding[s->storage];
}

static struct ifm_ledger ledger_of(const struct settings *s)
{
    uint64_t tokens = 0, pairs = 0;
    for (uint64_t i = 0; i < s->batch; i++) {
        const uint64_t length = ifm_attention_length(s->seq_len, s->ragged, s->batch, i);
        tokens += length;
        pairs = ifm_data_add(pairs, ifm_attention_pairs(length, s->causal, 0, length));
    }
    return (struct ifm_ledger){.flops = ifm_data_mul(4 * s->q_heads * s->head_dim, pairs),
                               .bytes_read = bytes_of(s, s->q_heads + 2 * s->kv_heads, tokens),
                               .bytes_written = bytes_of(s, s->q_heads, tokens),
                               .tokens_prompt = tokens,
                               .rows = tokens};
}

/* Why an arm cannot run here; NULL when it can. */
static const char *arm_why_not(const struct settings *s, const char *item, const struct ifm_machine *machine,
                               struct ifm_arena *arena)
{
    const bool named = strcmp(item, "auto") != 0 && strcmp(item, OPENBLAS) != 0;
    if (strcmp(item, OPENBLAS) == 0 && machine->blas == NULL)
        return machine->blas_why_not != NULL ? machine->blas_why_not
                                             : "the arm openblas needs OpenBLAS, which this device has not";
    return ifm_data_isa_why_not(named ? item : ifm_isa_name(s->isa), machine, arena);
}

/* Settings that do nothing here: a shape beside one by name, a divisor of one, an instruction set of an arm that names
 * another. attention.head_dim stays: a shape by name has its default, and its name does not say it. */
static const char *idle_of(const struct settings *s, const char *item, struct ifm_arena *arena)
{
    const bool named = ifm_attention_config(s->matrix) != NULL;
    const bool own = strcmp(item, "auto") != 0 && strcmp(item, OPENBLAS) != 0;
    return ifm_arena_printf(arena, "%s%s%s",
                            named ? " attention.batch attention.q_heads attention.kv_heads attention.seq_len"
                                  : " attention.matrix",
                            s->scale == 1 ? " attention.scale" : "", own ? " attention.isa" : "");
}

/* The arm's name is that of its instruction set, or of the library. */
static void add_arm(const struct settings *s, const char *item, const struct ifm_machine *machine,
                    struct ifm_arena *arena, struct ifm_arm_list *arms)
{
    const char *name = strcmp(item, "auto") == 0 ? ifm_isa_name(s->isa) : item;
    struct ifm_arm *arm = &arms->items[arms->n++];
    *arm = (struct ifm_arm){.name = ifm_arena_strdup(arena, name),
                            .variant = ifm_arena_strdup(arena, name),
                            .feature = "",
                            .equals = "",
                            .ledger = ledger_of(s),
                            .memory = bytes_of(s, 2 * s->q_heads + 2 * s->kv_heads, s->batch * s->seq_len),
                            .has_oracle = ifm_data_computes(machine),
                            .tolerance = tolerance(s),
                            .idle = idle_of(s, item, arena)};
    arm->working_set = ifm_data_add(arm->ledger.bytes_read, arm->ledger.bytes_written);
}

static enum ifm_status describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                struct ifm_error *error)
{
    static const char *const usual[] = {OPENBLAS, "auto"};
    struct settings s;
    *arms = (struct ifm_arm_list){
        .items = IFM_ARENA_ARRAY(arena, struct ifm_arm, ARMS_MOST), .rivals = true, .one = "attention.arms: auto"};
    IFM_TRY(bind(settings, n, arena, &s, error));
    IFM_TRY(check_memory(&s, bytes_of(&s, 2 * s.q_heads + 2 * s.kv_heads, s.batch * s.seq_len), machine, error));
    struct ifm_list items = s.arms;
    if (items.n == 0) /* the library where it is there */
        items = machine->blas != NULL ? (struct ifm_list){usual, 2} : (struct ifm_list){usual + 1, 1};
    *why_not = NULL;
    for (size_t i = 0; i < items.n && *why_not == NULL; i++) {
        *why_not = arm_why_not(&s, items.items[i], machine, arena);
        if (*why_not == NULL)
            add_arm(&s, items.items[i], machine, arena, arms);
    }
    if (*why_not != NULL)
        arms->n = 0;
    return IFM_OK;
}

/* ---- open ---- */

/* Shared input: the same shape, storage, seed and file name the same memory for every arm of the cell. */
static enum ifm_status input(struct ifm_workload_state *state, char which, uint64_t heads, const struct settings *from,
                             uint64_t seed, void **out, bool *fresh, struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &state->job.shape;
    char name[160];
    snprintf(name, sizeof name, "attention.%c %llux%llu(%llu)x%llux%llu storage %d ragged %a seed %016llx file %016llx",
             which, (unsigned long long)s->batch, (unsigned long long)heads, (unsigned long long)s->kv_heads,
             (unsigned long long)s->seq_len, (unsigned long long)s->head_dim, (int)s->storage, from->ragged,
             (unsigned long long)seed, (unsigned long long)ifm_xxh3(from->kv_file, strlen(from->kv_file)));
    const size_t bytes = s->batch * heads * s->seq_len * s->head_dim * ifm_attention_size(s->storage);
    return state->device->ops->buffer(state->device, name, bytes, out, fresh, error);
}

/* The user's file, which has what is asked for; NULL where none is named. */
static enum ifm_status open_file(const struct settings *s, struct ifm_kv_file **out, struct ifm_error *error)
{
    *out = NULL;
    if (s->kv_file[0] == '\0')
        return IFM_OK;
    const struct ifm_attention_shape shape = shape_of(s);
    IFM_TRY(ifm_kv_file_open(s->kv_file, out, error));
    enum ifm_status status = ifm_attention_file_require(*out, &shape, error);
    if (status != IFM_OK)
        ifm_kv_file_close(*out);
    return status;
}

static enum ifm_status ready(const struct ifm_arm *arm, bool fake, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct settings s;
    struct ifm_kv_file *file = NULL;
    enum ifm_status status = bind(arm->settings, arm->n_settings, arena, &s, error);
    if (status == IFM_OK && !fake) {
        status = open_file(&s, &file, error);
        if (status == IFM_OK)
            ifm_kv_file_close(file);
    }
    ifm_arena_destroy(arena);
    return status;
}

static enum ifm_status inputs(struct ifm_workload_state *state, const struct settings *from, uint64_t seed,
                              struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &state->job.shape;
    struct ifm_attention_inputs all = {0}, wanted = {0};
    bool fresh[3];
    IFM_TRY(input(state, 'Q', s->q_heads, from, seed, &all.q, &fresh[0], error));
    IFM_TRY(input(state, 'K', s->kv_heads, from, seed, &all.k, &fresh[1], error));
    IFM_TRY(input(state, 'V', s->kv_heads, from, seed, &all.v, &fresh[2], error));
    if (fresh[0])
        wanted.q = all.q;
    if (fresh[1])
        wanted.k = all.k;
    if (fresh[2])
        wanted.v = all.v;
    state->job.q = all.q;
    state->job.k = all.k;
    state->job.v = all.v;
    if (!fresh[0] && !fresh[1] && !fresh[2])
        return IFM_OK;
    struct ifm_kv_file *file;
    IFM_TRY(open_file(from, &file, error));
    wanted.file = file;
    enum ifm_status status =
        ifm_attention_generate(state->device, state->threads, seed, s, state->lengths, &wanted, error);
    ifm_kv_file_close(file);
    return status;
}

static void *aligned(size_t bytes)
{
    return aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
}

static enum ifm_status allocate(struct ifm_workload_state *state, const struct settings *from, uint64_t seed,
                                struct ifm_error *error)
{
    struct ifm_attention_job *job = &state->job;
    const struct ifm_attention_shape *s = &job->shape;
    const bool library = state->kernel == NULL;
    job->block = library ? ifm_attention_blas_block(s, state->threads) : ifm_attention_block(s, state->threads);
    job->n_units = ifm_attention_units(s, job->block);
    state->scratch_floats =
        library ? ifm_attention_blas_scratch_floats(s, job->block) : ifm_attention_scratch_floats(s);
    state->out_bytes = s->batch * s->q_heads * s->seq_len * s->head_dim * ifm_attention_size(s->storage);
    state->lengths = malloc(s->batch * sizeof *state->lengths);
    state->units = malloc(job->n_units * sizeof *state->units);
    job->out = aligned(state->out_bytes);
    job->next = aligned(sizeof *job->next);
    job->scratch = aligned(state->threads * state->scratch_floats * sizeof(float));
    if (state->lengths == NULL || state->units == NULL || job->out == NULL || job->next == NULL || job->scratch == NULL)
        return ifm_fail(error, IFM_INTERNAL, state->arm, NULL, "out of memory");
    ifm_attention_lengths(s->seq_len, from->ragged, s->batch, seed, state->lengths);
    ifm_attention_plan(s, state->lengths, job->block, state->units);
    job->lengths = state->lengths;
    job->units = state->units;
    memset(job->scratch, 0, state->threads * state->scratch_floats * sizeof(float));
    memset(job->out, 0xff, state->out_bytes); /* NaN in every format: an output that no step writes shows */
    return inputs(state, from, seed, error);
}

static void close_attention(struct ifm_workload_state *state)
{
    if (state == NULL)
        return;
    free(state->job.out);
    free(state->job.next);
    free(state->job.scratch);
    free(state->units);
    free(state->lengths);
    free(state);
}

/* What the arm computes with. */
static enum ifm_status choose(struct ifm_workload_state *state, const char *variant, const char *isa,
                              struct ifm_error *error)
{
    if (strcmp(variant, OPENBLAS) != 0) {
        state->kernel = ifm_kernel_find("attention.tiled", variant);
        if (state->kernel == NULL)
            return ifm_fail(error, IFM_MISSING, state->arm, "choose attention.isa=auto",
                            "this build has no attention kernel for %s", variant);
        return IFM_OK;
    }
    const char *why_not = NULL;
    state->blas = (struct ifm_attention_blas){.library = ifm_openblas_load(&why_not),
                                              .softmax = ifm_kernel_find("attention.softmax", isa),
                                              .widen = ifm_kernel_find("attention.widen", isa),
                                              .store = ifm_kernel_find("attention.store", isa)};
    if (state->blas.library == NULL)
        return ifm_fail(error, IFM_MISSING, state->arm, "leave openblas out of attention.arms", "%s", why_not);
    if (state->blas.softmax == NULL || state->blas.widen == NULL || state->blas.store == NULL)
        return ifm_fail(error, IFM_MISSING, state->arm, "choose attention.isa=auto",
                        "this build has no softmax kernel for %s", isa);
    return IFM_OK;
}

static enum ifm_status open_attention(const struct ifm_arm *arm, struct ifm_device *device, unsigned threads,
                                      uint64_t seed, struct ifm_workload_state **out, struct ifm_error *error)
{
    struct settings s;
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = bind(arm->settings, arm->n_settings, arena, &s, error);
    struct ifm_workload_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        status = ifm_fail(error, IFM_INTERNAL, arm->name, NULL, "out of memory");
    if (status == IFM_OK) {
        state->device = device;
        state->arm = arm->name;
        state->threads = threads;
        state->fake = ifm_device_is_fake(device);
        state->job.shape = shape_of(&s);
        if (!state->fake)
            status = choose(state, arm->variant, ifm_isa_name(s.isa), error);
        if (!state->fake && status == IFM_OK)
            status = allocate(state, &s, seed, error);
        if (status == IFM_OK && state->blas.library != NULL)
            status = ifm_openblas_check_memory(threads, error);
    }
    ifm_arena_destroy(arena);
    if (status != IFM_OK)
        close_attention(state);
    else
        *out = state;
    return status;
}

/* ---- step, check ---- */

static void work(void *arg, unsigned index, unsigned count)
{
    const struct ifm_workload_state *state = arg;
    (void)count;
    if (state->kernel != NULL)
        state->kernel->fn.attention(&state->job, index);
    else
        ifm_attention_blas(&state->blas, &state->job, state->job.scratch + index * state->scratch_floats);
}

static void step(struct ifm_workload_state *state, uint64_t n)
{
    if (state->fake) {
        ifm_fake_advance(state->device, state->arm, n);
        return;
    }
    for (; n > 0; n--) {
        *state->job.next = 0;
        state->device->ops->parallel(state->device, state->threads, work, state);
    }
}

static enum ifm_status check(struct ifm_workload_state *state, struct ifm_check *out, struct ifm_error *error)
{
    *out = (struct ifm_check){0};
    if (state->fake)
        return IFM_OK;
    IFM_TRY(ifm_attention_compare(state->device, state->threads, &state->job, out, error));
    const enum ifm_attention_storage storage = state->job.shape.storage;
    out->finite = true;
    for (size_t i = 0; i < state->out_bytes / ifm_attention_size(storage); i++)
        out->finite = out->finite && isfinite(ifm_attention_value(state->job.out, storage, i));
    out->output_xxh3 = ifm_xxh3(state->job.out, state->out_bytes);
    ifm_data_says_code(state->kernel, state->blas.library, out);
    out->done = true;
    return IFM_OK;
}

static const char *const input_files[] = {"attention.kv_file", NULL};

const struct ifm_workload ifm_workload_attention = {
    .name = "attention",
    .purpose = "attention forward over whole sequences, beside OpenBLAS matrix products with the same softmax",
    .timed_region = "softmax(Q K^T / sqrt(d)) V of every sequence and query head, in and out of the storage format",
    .params = &section,
    .describe = describe,
    .ready = ready,
    .input_files = input_files,
    .open = open_attention,
    .step = step,
    .check = check,
    .close = close_attention,
};
