/* gemm: few activations times a weight matrix, the other half of a decode step.
 *
 * What the timed region contains: out[m][n] = sum over k of x[m][k] w[n][k], for one of several weight matrices that
 * steps take in turn; of int8 and int4 weights also the rounding of x to 16 bits. */
#include "base/hash.h"
#include "base/text.h"
#include "device/fake.h"
#include "dyn/openblas.h"
#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"
#include "workload/data/data.h"
#include "workload/gemm/oracle.h"
#include "workload/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MULTIPLE = 64, CHUNK = 64 /* rows that are generated at once */, ARMS = IFM_GEMM_FORMATS + 1 };

#define OPENBLAS "openblas"

struct settings {
    uint64_t m, n, k, layers;
    int group, isa;
    struct ifm_list weights, arms;
};

#define OF(field) offsetof(struct settings, field)
enum { ANY = IFM_SWEEP | IFM_PER_ARM };

static const struct ifm_param rows[] = {
    {"gemm.m", "m", IFM_TYPE_U64, ANY, "count", "1", 1, 256, NULL,
     "activations, one row of x each; above 8 only OpenBLAS has an arm", OF(m)},
    {"gemm.n", "n", IFM_TYPE_U64, ANY, "count", "14336", MULTIPLE, 1048576, NULL,
     "rows of the weights, which are outputs; a multiple of 64", OF(n)},
    {"gemm.k", "k", IFM_TYPE_U64, ANY, "count", "4096", MULTIPLE, 1048576, NULL,
     "columns of the weights, which are inputs; a multiple of 64", OF(k)},
    {"gemm.weights", "weights", IFM_TYPE_CHOICE, IFM_LIST | IFM_PER_ARM, "", "f32,bf16,int8,int4", 1, 0,
     "f32|bf16|int8|int4", "formats of the weights that are compared, one arm of our kernels each", OF(weights)},
    {"gemm.group", "group", IFM_TYPE_CHOICE, ANY, "", "128", 1, 0, "128|64|32",
     "neighbours along k that share an f16 scale in int8 and int4", OF(group)},
    {"gemm.layers", "layers", IFM_TYPE_U64, ANY, "count", "0", 0, 4096, NULL,
     "weight matrices that steps take in turn; 0 takes as many as make those of the smallest arm exceed 4 x the "
     "last-level cache",
     OF(layers)},
    {"gemm.arms", "gemm-arms", IFM_TYPE_CHOICE, IFM_LIST | IFM_PER_ARM, "", "ours," OPENBLAS, 1, 0, "ours|" OPENBLAS,
     "whose kernels run; OpenBLAS multiplies f32 weights and is the baseline where it is installed", OF(arms)},
    {"gemm.isa", "isa", IFM_TYPE_CHOICE, ANY, "", "auto", 1, 0, IFM_ISA_CHOICES,
     "instruction set of our kernels; auto takes the best that the machine has", OF(isa)},
};

static const struct ifm_section section = {
    .name = "gemm",
    .help = "Few activations times a weight matrix",
    .rows = rows,
    .n = sizeof rows / sizeof rows[0],
    .size = sizeof(struct settings),
};

struct ifm_workload_state {
    struct ifm_device *device;
    const char *arm;
    bool fake, lossy;
    unsigned threads;
    const struct ifm_kernel *kernel;   /* NULL: OpenBLAS */
    const struct ifm_openblas *blas;   /* NULL: our kernel */
    struct ifm_gemm_job job;           /* of the next step */
    const unsigned char *first_matrix; /* layers matrices of `bytes`, one behind the other */
    uint64_t layers, bytes, next;
    struct ifm_model_data data;
};

static bool has(const struct ifm_list *list, const char *item)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], item) == 0)
            return true;
    return false;
}

static struct ifm_gemm_shape shape_of(const struct settings *s, enum ifm_gemm_format format)
{
    static const unsigned groups[] = {128, 64, 32};
    return (struct ifm_gemm_shape){s->m, s->n, s->k, groups[s->group], format};
}

static enum ifm_status check_shape(const struct settings *s, struct ifm_error *error)
{
    const struct {
        const char *path;
        uint64_t value;
    } sizes[] = {{"gemm.n", s->n}, {"gemm.k", s->k}};
    for (size_t i = 0; i < 2; i++)
        if (sizes[i].value % MULTIPLE != 0)
            return ifm_fail(error, IFM_USAGE, sizes[i].path, "use a multiple of 64", "%s %llu is not a multiple of 64",
                            sizes[i].path, (unsigned long long)sizes[i].value);
    return IFM_OK;
}

/* Rounding errors of f32 sums add like random steps; 16-bit activations add some 1e-4 where channels of 12 times the
 * usual size share a group with others (docs/workload-gemm.md). A wrong row, group or scale is off by 1e-2 or more. */
static double tolerance(const struct ifm_gemm_shape *s)
{
    const double sums = 0x1p-24 * 4 * sqrt((double)s->k);
    return s->format == IFM_GEMM_INT8 || s->format == IFM_GEMM_INT4 ? 1e-3 + sums : sums;
}

static struct ifm_arm arm_of(const struct settings *s, const char *name, const char *variant,
                             enum ifm_gemm_format format, uint64_t layers, const struct ifm_machine *machine)
{
    const struct ifm_gemm_shape shape = shape_of(s, format);
    const uint64_t bytes = ifm_gemm_bytes(&shape), all = ifm_data_mul(bytes, layers);
    const uint64_t x = s->m * s->k * sizeof(float), out = s->m * s->n * sizeof(float);
    const bool grouped = format == IFM_GEMM_INT8 || format == IFM_GEMM_INT4;
    return (struct ifm_arm){
        .name = name,
        .variant = variant,
        .feature = "",
        .equals = "",
        .ledger = {.flops = 2 * s->m * s->n * s->k,
                   .bytes_read = bytes + x,
                   .bytes_written = out,
                   .tokens_generated = s->m,
                   .rows = s->m},
        .working_set = all,
        .memory = ifm_data_add(all, x + out + ifm_gemm_scratch_bytes(&shape, machine->threads)),
        .stored = bytes,
        .stored_plain = s->n * s->k * sizeof(uint16_t),
        .integer = grouped,
        .lossy = format != IFM_GEMM_F32 && ifm_data_computes(machine),
        .has_oracle = ifm_data_computes(machine),
        .tolerance = tolerance(&shape),
        .idle = grouped ? "" : " gemm.group",
    };
}

/* What to run: OpenBLAS first where it is there, then our formats. */
struct choice {
    bool openblas;
    size_t n; /* of our formats */
    enum ifm_gemm_format formats[IFM_GEMM_FORMATS];
};

static const char *kernel_name(enum ifm_gemm_format format, struct ifm_arena *arena)
{
    return ifm_arena_printf(arena, "gemm.%s", ifm_gemm_format_name(format));
}

/* Why none of the arms that were asked for runs, or NULL. */
static const char *choose(const struct settings *s, const struct ifm_machine *machine, struct ifm_arena *arena,
                          struct choice *out)
{
    const bool ours = has(&s->arms, "ours"), theirs = has(&s->arms, OPENBLAS);
    const char *no_blas = machine->blas_why_not != NULL ? machine->blas_why_not : "this device runs no BLAS library";
    *out = (struct choice){.openblas = theirs && machine->blas != NULL};
    if (ours && s->m > IFM_GEMM_M_MOST && !out->openblas)
        return ifm_arena_printf(arena, "our kernels take at most %d activations, gemm.m is %llu; %s", IFM_GEMM_M_MOST,
                                (unsigned long long)s->m, theirs ? no_blas : "add openblas to gemm.arms");
    if (!ours && !out->openblas)
        return no_blas;
    if (!ours || s->m > IFM_GEMM_M_MOST)
        return NULL;
    const char *why_not = ifm_data_isa_why_not(ifm_isa_name(s->isa), machine, arena);
    for (int f = 0; f < IFM_GEMM_FORMATS && why_not == NULL; f++) {
        if (!has(&s->weights, ifm_gemm_format_name((enum ifm_gemm_format)f)))
            continue;
        const char *op = kernel_name((enum ifm_gemm_format)f, arena);
        if (ifm_data_computes(machine) && ifm_kernel_find(op, ifm_isa_name(s->isa)) == NULL)
            why_not = ifm_arena_printf(arena, "there is no kernel of gemm for %s (choose avx2 or scalar)",
                                       ifm_isa_name(s->isa));
        out->formats[out->n++] = (enum ifm_gemm_format)f;
    }
    return why_not;
}

/* Weight matrices until those of the smallest arm exceed 4 x the last-level caches. */
static uint64_t layers_of(const struct settings *s, const struct choice *choice, const struct ifm_machine *machine)
{
    if (s->layers > 0)
        return s->layers;
    const struct ifm_gemm_shape plain = shape_of(s, IFM_GEMM_F32);
    uint64_t smallest = ifm_gemm_bytes(&plain);
    for (size_t i = 0; i < choice->n; i++) {
        const struct ifm_gemm_shape shape = shape_of(s, choice->formats[i]);
        const uint64_t bytes = ifm_gemm_bytes(&shape);
        smallest = bytes < smallest ? bytes : smallest;
    }
    return (4 * ifm_machine_llc_total(machine) + smallest - 1) / smallest;
}

/* Before a ceiling is sized after an arm that cannot be: its error would name the probe. */
static enum ifm_status check_memory(const struct settings *s, const struct ifm_arm_list *arms,
                                    const struct ifm_machine *machine, struct ifm_error *error)
{
    uint64_t most = 0;
    for (size_t i = 0; i < arms->n; i++)
        most = arms->items[i].memory > most ? arms->items[i].memory : most;
    if (most <= machine->memory_available)
        return IFM_OK;
    char need[48], have[48];
    return ifm_fail(error, IFM_USAGE, "gemm", "lower gemm.n, gemm.k or gemm.layers, or free memory",
                    "weights of %llu x %llu need %s of memory, but %s are available", (unsigned long long)s->n,
                    (unsigned long long)s->k,
                    most == UINT64_MAX ? "more than 16 EiB" : ifm_format_human((double)most, "B", need),
                    ifm_format_human((double)machine->memory_available, "B", have));
}

static enum ifm_status describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                struct ifm_error *error)
{
    struct settings s;
    struct choice choice;
    *arms = (struct ifm_arm_list){0};
    IFM_TRY(ifm_section_bind(&section, settings, n, arena, &s, error));
    IFM_TRY(check_shape(&s, error));
    *why_not = choose(&s, machine, arena, &choice);
    if (*why_not != NULL)
        return IFM_OK;
    const uint64_t layers = layers_of(&s, &choice, machine);
    struct ifm_arm *items = IFM_ARENA_ARRAY(arena, struct ifm_arm, ARMS);
    if (choice.openblas)
        items[arms->n++] = arm_of(&s, OPENBLAS, OPENBLAS, IFM_GEMM_F32, layers, machine);
    for (size_t i = 0; i < choice.n; i++) {
        const char *name = ifm_gemm_format_name(choice.formats[i]);
        items[arms->n++] = arm_of(&s, name, name, choice.formats[i], layers, machine);
    }
    arms->items = items;
    arms->rivals = true;
    arms->one = "gemm.weights: f32";
    return check_memory(&s, arms, machine, error);
}

/* Generates and stores rows by all workers; each layer is a copy of the first in memory of its own. */
struct fill {
    const struct ifm_workload_state *state;
    unsigned char *to;
    float *room; /* per worker: CHUNK rows */
};

static void fill_part(void *arg, unsigned index, unsigned count)
{
    const struct fill *fill = arg;
    const struct ifm_gemm_shape *s = &fill->state->job.shape;
    float *chunk = fill->room + (size_t)index * CHUNK * s->k;
    for (uint64_t row = (uint64_t)index * CHUNK; row < s->n; row += (uint64_t)count * CHUNK) {
        const uint64_t n = s->n - row < CHUNK ? s->n - row : CHUNK;
        ifm_model_weights(&fill->state->data, 0, row, n, (unsigned)s->k, chunk);
        ifm_gemm_encode(s, row, n, chunk, fill->to);
    }
}

static void copy_part(void *arg, unsigned index, unsigned count)
{
    const struct fill *fill = arg;
    const uint64_t bytes = fill->state->bytes, from = bytes * index / count, to = bytes * (index + 1) / count;
    for (uint64_t layer = 1; layer < fill->state->layers; layer++)
        memcpy(fill->to + layer * bytes + from, fill->to + from, to - from);
}

static enum ifm_status fill_weights(struct ifm_workload_state *state, unsigned char *to, struct ifm_error *error)
{
    struct fill fill = {state, to, malloc((size_t)state->threads * CHUNK * state->job.shape.k * sizeof(float))};
    if (fill.room == NULL)
        return ifm_fail(error, IFM_INTERNAL, state->arm, NULL, "out of memory");
    state->device->ops->parallel(state->device, state->threads, fill_part, &fill);
    state->device->ops->parallel(state->device, state->threads, copy_part, &fill);
    free(fill.room);
    return IFM_OK;
}

/* Shared input: the same name and size are the same memory for every arm of the cell. */
static enum ifm_status take_inputs(struct ifm_workload_state *state, struct ifm_error *error)
{
    const struct ifm_gemm_shape *s = &state->job.shape;
    char name[160];
    void *memory;
    bool fresh;
    snprintf(name, sizeof name, "gemm.w %s %llux%llu group %u x%llu seed %016llx", ifm_gemm_format_name(s->format),
             (unsigned long long)s->n, (unsigned long long)s->k, s->group, (unsigned long long)state->layers,
             (unsigned long long)state->data.seed);
    IFM_TRY(state->device->ops->buffer(state->device, name, state->layers * state->bytes, &memory, &fresh, error));
    if (fresh)
        IFM_TRY(fill_weights(state, memory, error));
    state->first_matrix = memory;
    snprintf(name, sizeof name, "gemm.x %llux%llu seed %016llx", (unsigned long long)s->m, (unsigned long long)s->k,
             (unsigned long long)state->data.seed);
    IFM_TRY(state->device->ops->buffer(state->device, name, s->m * s->k * sizeof(float), &memory, &fresh, error));
    if (fresh)
        ifm_model_activations(&state->data, 0, 0, s->m, (unsigned)s->k, memory);
    state->job.x = memory;
    return IFM_OK;
}

static void *lines(size_t bytes)
{
    const size_t line = 64;
    return aligned_alloc(line, (bytes + line) / line * line);
}

static enum ifm_status allocate(struct ifm_workload_state *state, struct ifm_error *error)
{
    const struct ifm_gemm_shape *s = &state->job.shape;
    const size_t outputs = s->m * s->n, scratch = ifm_gemm_scratch_bytes(s, state->threads);
    IFM_TRY(take_inputs(state, error));
    state->job.w = state->first_matrix;
    state->job.out = lines(outputs * sizeof(float));
    state->job.scratch = lines(scratch);
    if (state->job.out == NULL || state->job.scratch == NULL)
        return ifm_fail(error, IFM_INTERNAL, state->arm, NULL, "out of memory");
    memset(state->job.scratch, 0, scratch);
    for (size_t i = 0; i < outputs; i++)
        state->job.out[i] = NAN; /* an output that no step writes shows */
    return IFM_OK;
}

static void close_gemm(struct ifm_workload_state *state)
{
    if (state == NULL)
        return;
    free(state->job.out);
    free(state->job.scratch);
    free(state);
}

/* The code that the arm runs. */
static enum ifm_status take_code(struct ifm_workload_state *state, const char *variant, int isa,
                                 struct ifm_error *error)
{
    const char *why_not;
    char op[16];
    snprintf(op, sizeof op, "gemm.%s", variant);
    if (strcmp(variant, OPENBLAS) == 0) {
        state->blas = ifm_openblas_load(&why_not);
        return state->blas != NULL
                   ? IFM_OK
                   : ifm_fail(error, IFM_MISSING, state->arm, "install it, or set gemm.arms=ours", "%s", why_not);
    }
    state->kernel = ifm_kernel_find(op, ifm_isa_name(isa));
    return state->kernel != NULL ? IFM_OK
                                 : ifm_fail(error, IFM_MISSING, state->arm, "choose gemm.isa=auto",
                                            "this build has no kernel %s for %s", op, ifm_isa_name(isa));
}

static enum ifm_gemm_format format_of(const char *variant)
{
    for (int f = 0; f < IFM_GEMM_FORMATS; f++)
        if (strcmp(variant, ifm_gemm_format_name((enum ifm_gemm_format)f)) == 0)
            return (enum ifm_gemm_format)f;
    return IFM_GEMM_F32; /* OpenBLAS */
}

static enum ifm_status open_gemm(const struct ifm_arm *arm, struct ifm_device *device, unsigned threads, uint64_t seed,
                                 struct ifm_workload_state **out, struct ifm_error *error)
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
    state->lossy = arm->lossy;
    state->fake = ifm_device_is_fake(device);
    state->data = (struct ifm_model_data){.seed = seed, .outlier = IFM_MODEL_OUTLIER};
    state->job.shape = shape_of(&s, format_of(arm->variant));
    state->bytes = ifm_gemm_bytes(&state->job.shape);
    state->layers = arm->working_set / state->bytes; /* what describe chose */
    if (!state->fake)
        status = take_code(state, arm->variant, s.isa, error);
    if (!state->fake && status == IFM_OK)
        status = allocate(state, error);
    if (status == IFM_OK && state->blas != NULL)
        status = ifm_openblas_check_memory(threads, error);
    if (status != IFM_OK)
        close_gemm(state);
    else
        *out = state;
    return status;
}

static void work(void *arg, unsigned index, unsigned count)
{
    const struct ifm_workload_state *state = arg;
    const struct ifm_gemm_job *job = &state->job;
    if (state->kernel != NULL) {
        state->kernel->fn.gemm(job, index, count);
        return;
    }
    const struct ifm_gemm_share share = ifm_gemm_share_of(job->shape.n, index, count);
    const int m = (int)job->shape.m, n = (int)job->shape.n, k = (int)job->shape.k, own = (int)(share.to - share.from);
    const float *w = (const float *)job->w + share.from * job->shape.k;
    if (own > 0 && m == 1)
        state->blas->sgemv(IFM_BLAS_ROW_MAJOR, IFM_BLAS_AS_IS, own, k, 1, w, k, job->x, 1, 0, job->out + share.from, 1);
    else if (own > 0)
        state->blas->sgemm(IFM_BLAS_ROW_MAJOR, IFM_BLAS_AS_IS, IFM_BLAS_TRANSPOSED, m, own, k, 1, job->x, k, w, k, 0,
                           job->out + share.from, n);
}

static void step(struct ifm_workload_state *state, uint64_t n)
{
    if (state->fake) {
        ifm_fake_advance(state->device, state->arm, n);
        return;
    }
    for (; n > 0; n--) {
        state->job.w = state->first_matrix + state->next * state->bytes;
        state->next = state->next + 1 < state->layers ? state->next + 1 : 0;
        state->device->ops->parallel(state->device, state->threads, work, state);
    }
}

static enum ifm_status check(struct ifm_workload_state *state, struct ifm_check *out, struct ifm_error *error)
{
    const struct ifm_gemm_job *job = &state->job;
    *out = (struct ifm_check){0};
    if (state->fake)
        return IFM_OK;
    const struct ifm_gemm_outputs outputs = {job->shape, job->x, job->w, job->out, state->lossy, state->data};
    IFM_TRY(ifm_gemm_compare(state->device, state->threads, &outputs, out, error));
    out->finite = true;
    for (size_t i = 0; i < job->shape.m * job->shape.n; i++)
        out->finite = out->finite && isfinite(job->out[i]);
    out->output_xxh3 = ifm_xxh3(job->out, job->shape.m * job->shape.n * sizeof(float));
    ifm_data_says_code(state->kernel, state->blas, out);
    out->done = true;
    return IFM_OK;
}

const struct ifm_workload ifm_workload_gemm = {
    .name = "gemm",
    .purpose = "few activations times weights in f32, bf16, int8 and int4, the other half of a decode step",
    .timed_region = "the product of all activations with one weight matrix, each weight read once; of int8 and int4 "
                    "also the rounding of the activations to 16 bits",
    .params = &section,
    .describe = describe,
    .open = open_gemm,
    .step = step,
    .check = check,
    .close = close_gemm,
};
