/* gemm: few activations times a weight matrix, the other half of a decode step.
 *
 * What the timed region contains: out[m][n] = sum over k of x[m][k] w[n][k], for one of several weight matrices that
 * steps take in turn; of int8 and int4 weights also the rounding of x to 16 bits. */
#include "workload/gemm/gemm.h"

#include "device/cuda.h"
#include "kernel/cpu/isa.h"
#include "workload/data/data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of IFM_PLAN_RULES: a row of the product is no token, and scratch is told of; each arm has its own number of weight
 * matrices. */
enum { SINCE_NO_TOKENS = 4, SINCE_OWN_LAYERS = 6 };
enum { MULTIPLE = 64, ROWS_MOST = 8 /* of the table */, ARMS_MOST = ROWS_MOST * IFM_GEMM_FORMATS };

#define FORMATS "f32|f16|bf16|int8|int4" /* in the order of enum ifm_gemm_format */
#define OF(field) offsetof(struct ifm_gemm_settings, field)
enum { ANY = IFM_SWEEP | IFM_PER_ARM };

static const struct ifm_param rows[] = {
    {"gemm.m", "m", IFM_TYPE_U64, ANY, "count", "1", 1, 256, NULL,
     "activations, one row of x each; above 8, on the device cuda above 32, only a library has an arm", OF(m)},
    {"gemm.n", "n", IFM_TYPE_U64, ANY, "count", "14336", MULTIPLE, 1048576, NULL,
     "rows of the weights, which are outputs; a multiple of 64", OF(n)},
    {"gemm.k", "k", IFM_TYPE_U64, ANY, "count", "4096", MULTIPLE, 1048576, NULL,
     "columns of the weights, which are inputs; a multiple of 64", OF(k)},
    {"gemm.weights", "weights", IFM_TYPE_CHOICE, IFM_LIST | IFM_PER_ARM, "", "", 1, 0, FORMATS,
     "formats of the weights that are compared, one arm of our kernels each; empty takes f32, bf16, int8 and int4, on "
     "the device cuda f16 in the place of f32",
     OF(weights)},
    {"gemm.group", "group", IFM_TYPE_CHOICE, ANY, "", "128", 1, 0, "128|64|32",
     "neighbours along k that share an f16 scale in int8 and int4", OF(group)},
    {"gemm.layers", "layers", IFM_TYPE_U64, ANY, "count", "0", 0, 16777216, NULL,
     "weight matrices that steps of an arm take in turn; 0 takes as many as make those of the arm exceed 4 x the "
     "last-level cache; on the device cuda at most 64",
     OF(layers)},
    {"gemm.arms", "gemm-arms", IFM_TYPE_CHOICE, IFM_LIST | IFM_PER_ARM, "", "", 1, 0, "ours|openblas|cublaslt|naive",
     "whose kernels run; empty takes the library and ours. OpenBLAS multiplies f32 weights and is the baseline where "
     "it "
     "is installed; on the device cuda cuBLASLt multiplies f16 and bf16, and naive is one warp an output",
     OF(arms)},
    {"gemm.isa", "isa", IFM_TYPE_CHOICE, ANY, "", "auto", 1, 0, IFM_ISA_CHOICES,
     "instruction set of our kernels; auto takes the best that the machine has", OF(isa)},
};

static const struct ifm_section section =
    IFM_SECTION("gemm", "Few activations times a weight matrix", rows, struct ifm_gemm_settings);

static const struct ifm_param chosen_rows[] = {
    {"layers", NULL, IFM_TYPE_U64, 0, "count", "1", 1, 0, NULL, "weight matrices that steps take in turn",
     offsetof(struct ifm_gemm_chosen, layers)},
    {"format", NULL, IFM_TYPE_CHOICE, 0, "", "f32", 1, 0, FORMATS, "format of the weights",
     offsetof(struct ifm_gemm_chosen, format)},
    {"isa", NULL, IFM_TYPE_TEXT, 0, "", "", 1, 0, NULL, "instruction set of the kernel",
     offsetof(struct ifm_gemm_chosen, isa)},
};

static const struct ifm_section chosen_section = IFM_SECTION("gemm", NULL, chosen_rows, struct ifm_gemm_chosen);

/* The baseline first. */
static const struct ifm_implementation *const implementations[] = {
    &ifm_gemm_openblas, &ifm_gemm_cpu, &ifm_gemm_cuda_cublaslt, &ifm_gemm_cuda_ours, &ifm_gemm_cuda_naive, NULL};
_Static_assert(sizeof implementations / sizeof *implementations <= ROWS_MOST + 1, "each row may have every format");

/* Our own kernels: their arms are named after formats, those of a library after it. */
static bool is_ours(const struct ifm_implementation *row)
{
    return strcmp(row->name, "ours") == 0;
}

static bool is_of_gpu(const struct ifm_implementation *row)
{
    return strcmp(row->device, "cuda") == 0;
}

/* Of an arm. A library of a GPU multiplies several formats. */
static const char *name_of(const struct ifm_implementation *row, enum ifm_gemm_format format, struct ifm_arena *arena)
{
    const char *name = ifm_gemm_format_name(format);
    if (is_ours(row))
        return name;
    return is_of_gpu(row) ? ifm_arena_printf(arena, "%s.%s", row->name, name) : row->name;
}

static enum ifm_status check_shape(const struct ifm_gemm_settings *s, struct ifm_error *error)
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
 * usual size share a group with others (docs/maintain/workloads.md). A wrong row, group or scale is off by 1e-2 or
 * more. */
static double tolerance(const struct ifm_gemm_ask *ask)
{
    const struct ifm_gemm_shape *s = &ask->shape;
    const double sums = 0x1p-24 * 4 * sqrt((double)s->k);
    if (ask->value_bytes == sizeof(uint16_t)) /* outputs are rounded by half a unit at most, activations are not */
        return sums + (s->format == IFM_GEMM_BF16 ? 0x1p-8 : 0x1p-11);
    return s->format == IFM_GEMM_INT8 || s->format == IFM_GEMM_INT4 ? 1e-3 + sums : sums;
}

/* What runs: rows and formats. */
struct gemm_cell {
    const struct ifm_gemm_settings *s;
    const struct ifm_machine *machine;
    struct entry {
        const struct ifm_implementation *row;
        struct ifm_gemm_ask ask;
    } entries[ARMS_MOST];
    size_t n;
    const char *left_out; /* why a library of a GPU has no arm; NULL = it has, or nobody asks */
};

static uint64_t smallest_of(const struct gemm_cell *cell)
{
    const struct ifm_gemm_shape plain = ifm_gemm_shape_of(cell->s, IFM_GEMM_F32);
    uint64_t smallest = ifm_gemm_bytes(&plain);
    for (size_t i = 0; i < cell->n; i++) {
        const uint64_t bytes = ifm_gemm_bytes(&cell->entries[i].ask.shape);
        smallest = bytes < smallest ? bytes : smallest;
    }
    return smallest;
}

/* Weight matrices until those of the arm exceed 4 x the last-level caches: each arm reads memory, and none holds more
 * of it than that takes. Before, all had as many as the smallest needs. */
static uint64_t layers_of(const struct gemm_cell *cell, const struct ifm_gemm_shape *shape)
{
    const bool own = ifm_machine_plans_by(cell->machine, SINCE_OWN_LAYERS);
    const uint64_t bytes = own ? ifm_gemm_bytes(shape) : smallest_of(cell);
    const uint64_t wanted = (4 * ifm_machine_llc_total(cell->machine) + bytes - 1) / bytes;
    if (cell->s->layers > 0)
        return cell->s->layers;
    return cell->machine->gpu != NULL && wanted > IFM_CUDA_TURNS ? IFM_CUDA_TURNS : wanted;
}

static struct ifm_arm arm_of(const struct gemm_cell *cell, const struct entry *entry, struct ifm_arena *arena)
{
    const struct ifm_gemm_settings *s = cell->s;
    const struct ifm_gemm_shape *shape = &entry->ask.shape;
    const uint64_t bytes = ifm_gemm_bytes(shape), layers = layers_of(cell, shape);
    const uint64_t all = ifm_data_mul(bytes, layers);
    const unsigned size = entry->ask.value_bytes > 0 ? entry->ask.value_bytes : sizeof(float);
    const uint64_t x = s->m * s->k * size, out = s->m * s->n * size;
    const bool grouped = shape->format == IFM_GEMM_INT8 || shape->format == IFM_GEMM_INT4;
    const struct ifm_gemm_chosen chosen = {layers, shape->format, entry->ask.isa};
    const char *name = name_of(entry->row, shape->format, arena);
    const bool as_before = !ifm_machine_plans_by(cell->machine, SINCE_NO_TOKENS);
    return (struct ifm_arm){
        .name = name,
        .variant = name,
        .implementation = entry->row->name,
        .title = ifm_data_title(entry->row->title, entry->ask.isa, arena),
        .chosen = ifm_section_print(&chosen_section, &chosen, arena),
        .n_chosen = chosen_section.n,
        .ledger = {.flops = 2 * s->m * s->n * s->k,
                   .bytes_read = bytes + x,
                   .bytes_written = out,
                   .tokens_generated = as_before ? s->m : 0,
                   .rows = s->m},
        .working_set = all,
        .memory = ifm_data_add(all, x + out + entry->ask.scratch),
        .scratch = as_before ? 0 : entry->ask.scratch,
        .stored = bytes,
        .stored_plain = s->n * s->k * sizeof(uint16_t),
        .integer = grouped && !is_of_gpu(entry->row),
        .matrix = entry->ask.matrix,
        .lossy = shape->format != IFM_GEMM_F32 && shape->format != IFM_GEMM_F16, /* weights are numbers of f16 */
        .has_oracle = true,
        .tolerance = tolerance(&entry->ask),
        .idle = grouped ? "" : " gemm.group",
    };
}

static bool is_naive(const struct ifm_implementation *row)
{
    return strcmp(row->name, "naive") == 0;
}

static bool is_library(const struct ifm_implementation *row)
{
    return !is_ours(row) && !is_naive(row);
}

/* Whether gemm.weights names one of cuBLASLt's. */
static bool has_16_bits(const struct ifm_gemm_settings *s)
{
    return ifm_list_has(&s->weights, "f16") || ifm_list_has(&s->weights, "bf16");
}

/* The formats that a row is asked for: our kernels multiply what gemm.weights lists, OpenBLAS multiplies f32, cuBLASLt
 * what is listed of f16 and bf16, or f16. */
static bool wants(const struct ifm_gemm_settings *s, const struct ifm_implementation *row, enum ifm_gemm_format format)
{
    if (is_library(row) && !is_of_gpu(row))
        return format == IFM_GEMM_F32;
    if (is_library(row) && format != IFM_GEMM_F16 && format != IFM_GEMM_BF16)
        return false;
    if (is_library(row) && s->weights.n > 0 && !has_16_bits(s))
        return format == IFM_GEMM_F16;
    if (s->weights.n == 0)
        return format != (is_of_gpu(row) ? IFM_GEMM_F32 : IFM_GEMM_F16);
    return ifm_list_has(&s->weights, ifm_gemm_format_name(format));
}

static bool is_asked(const struct ifm_gemm_settings *s, const struct ifm_implementation *row)
{
    return s->arms.n == 0 ? !is_naive(row) : ifm_list_has(&s->arms, row->name);
}

/* What was asked for and can run, in the order of the table. Why not, or NULL: when nothing runs, or when an
 * instruction set that was named does not. */
static const char *choose(const struct ifm_machine *machine, struct ifm_arena *arena, struct gemm_cell *cell)
{
    const struct ifm_gemm_settings *s = cell->s;
    const char *ours = NULL, *theirs = NULL;
    bool too_many = false;
    for (size_t i = 0; implementations[i] != NULL; i++) {
        const struct ifm_implementation *row = implementations[i];
        const char **why_not = is_ours(row) ? &ours : &theirs;
        for (int f = 0; f < IFM_GEMM_FORMATS; f++) {
            const enum ifm_gemm_format format = (enum ifm_gemm_format)f;
            struct entry entry = {row, {.settings = s, .shape = ifm_gemm_shape_of(s, format), .isa = ""}};
            if (!is_asked(s, row) || !ifm_implementation_serves(row, machine) || !wants(s, row, format))
                continue;
            const char *reason = row->supports(machine, &entry.ask, arena);
            if (reason != NULL)
                *why_not = reason;
            else
                cell->entries[cell->n++] = entry;
            too_many |= entry.ask.too_many;
        }
    }
    if (machine->gpu != NULL && theirs != NULL)
        cell->left_out = ifm_arena_printf(arena, "a library has no arm here: %s", theirs);
    if (ours != NULL && !too_many)
        return ours;
    if (cell->n > 0)
        return NULL;
    if (ours == NULL)
        return theirs != NULL ? theirs : "none of gemm.arms runs on this device";
    return ifm_arena_printf(arena, "%s; %s", ours, theirs != NULL ? theirs : "add openblas to gemm.arms");
}

/* Before a ceiling is sized after an arm that cannot be: its error would name the probe. */
static enum ifm_status check_memory(const struct ifm_gemm_settings *s, const struct ifm_arm_list *arms,
                                    const struct ifm_machine *machine, struct ifm_error *error)
{
    char what[80];
    snprintf(what, sizeof what, "weights of %llu x %llu need", (unsigned long long)s->n, (unsigned long long)s->k);
    return ifm_data_check_memory(ifm_data_most_memory(arms), machine, "gemm",
                                 "lower gemm.n, gemm.k or gemm.layers, or free memory", what, error);
}

static enum ifm_status describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                struct ifm_error *error)
{
    struct ifm_gemm_settings s;
    struct gemm_cell cell = {.s = &s, .machine = machine};
    *arms = (struct ifm_arm_list){0};
    IFM_TRY(ifm_section_bind(&section, settings, n, arena, &s, error));
    IFM_TRY(check_shape(&s, error));
    *why_not = choose(machine, arena, &cell);
    if (*why_not != NULL)
        return IFM_OK;
    struct ifm_arm *items = IFM_ARENA_ARRAY(arena, struct ifm_arm, cell.n);
    for (; arms->n < cell.n; arms->n++)
        items[arms->n] = arm_of(&cell, &cell.entries[arms->n], arena);
    items[0].remark = cell.left_out;
    arms->items = items;
    arms->rivals = true;
    arms->one = machine->gpu != NULL ? "gemm.weights: f16" : "gemm.weights: f32";
    return check_memory(&s, arms, machine, error);
}

const struct ifm_workload ifm_workload_gemm = {
    .name = "gemm",
    .purpose = "few activations times weights in f32, f16, bf16, int8 and int4, the other half of a decode step",
    .timed_region = "the product of all activations with one weight matrix, each weight read once; of int8 and int4 "
                    "on a processor also the rounding of the activations to 16 bits",
    .params = &section,
    .chosen = &chosen_section,
    .describe = describe,
    .has_oracle = true,
    .implementations = implementations,
};
