/* attention: scaled-dot-product attention forward over whole sequences, ours beside a library's matrix products.
 *
 * What the timed region contains: softmax(Q K^T / sqrt(head_dim)) V of every sequence and query head, from one of
 * several Q, K and V, which steps take in turn, in the storage format to the output in it. No projection, nothing of a
 * cache. */
#include "workload/attention/attention.h"

#include "base/text.h"
#include "device/cuda.h"
#include "kernel/cpu/isa.h"
#include "workload/attention/data.h"
#include "workload/data/data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define OURS "ours"
enum { ARMS_MOST = 8, ARMS_USUAL = 2, CACHES_OVER_LLC = 4 };
/* Of IFM_PLAN_RULES: an arm's memory has its scratch in it; steps take several sets of tensors in turn. */
enum { SINCE_SCRATCH = 4, SINCE_LAYERS = 20 };

/* In the order of the specification, behind "none": (B, H, S) = (32, 8, {128, 256, 512, 1024, 2048}),
 * ({8, 16, 64}, 8, 512), (32, {4, 16}, 512). */
#define BASELINE "b32h8s128,b32h8s256,b32h8s512,b32h8s1024,b32h8s2048,b8h8s512,b16h8s512,b64h8s512,b32h4s512,b32h16s512"
#define MATRIX_CHOICES                                                                                                 \
    "none|b32h8s128|b32h8s256|b32h8s512|b32h8s1024|b32h8s2048|b8h8s512|b16h8s512|b64h8s512|b32h4s512|b32h16s512"

enum { MATRIX_DIM = 64 }; /* the head dimension of all of them */

static const struct ifm_attention_config configs[] = {
    {"b32h8s128", 32, 8, 128},   {"b32h8s256", 32, 8, 256},   {"b32h8s512", 32, 8, 512}, {"b32h8s1024", 32, 8, 1024},
    {"b32h8s2048", 32, 8, 2048}, {"b8h8s512", 8, 8, 512},     {"b16h8s512", 16, 8, 512}, {"b64h8s512", 64, 8, 512},
    {"b32h4s512", 32, 4, 512},   {"b32h16s512", 32, 16, 512},
};

const struct ifm_attention_config *ifm_attention_config(int index)
{
    return index >= 1 && (size_t)index <= sizeof configs / sizeof configs[0] ? &configs[index - 1] : NULL;
}

#define ROW_U64(name, flag, fallback, low, high, unit, help)                                                           \
    {                                                                                                                  \
        "attention." #name, flag, IFM_TYPE_U64, IFM_SWEEP | IFM_PER_ARM, unit, fallback, low, high, NULL, help,        \
            offsetof(struct ifm_attention_settings, name)                                                              \
    }
#define BATCH "1"
#define HEADS "8"
#define SEQ_LEN "2048"
#define HEAD_DIM "64"

static const struct ifm_param rows[] = {
    {"attention.model", "model", IFM_TYPE_TEXT, IFM_LATER, "", "", 0, 0, NULL,
     "a model whose shape is taken: llama-3-8b, llama-3-70b, qwen-2.5-7b, mistral-7b, mixtral-8x7b, gpt-2, or the path "
     "of a Hugging Face config.json; what is set explicitly wins",
     offsetof(struct ifm_attention_settings, model)},
    ROW_U64(batch, "batch", BATCH, 1, 65536, "count", "sequences"),
    ROW_U64(q_heads, "q-heads", HEADS, 1, 4096, "count", "query heads; a multiple of attention.kv_heads"),
    ROW_U64(kv_heads, "kv-heads", HEADS, 1, 4096, "count", "heads of K and V"),
    ROW_U64(seq_len, "seq-len", SEQ_LEN, 1, 1048576, "tokens", "tokens of a sequence, at most"),
    ROW_U64(head_dim, "head-dim", HEAD_DIM, 32, 256, "count", "dimension of a head; a multiple of 32"),
    {"attention.causal", "causal", IFM_TYPE_BOOL, IFM_SWEEP | IFM_PER_ARM, "", "false", 1, 0, NULL,
     "a query sees no key behind its own position", offsetof(struct ifm_attention_settings, causal)},
    {"attention.ragged", "ragged", IFM_TYPE_F64, IFM_SWEEP | IFM_PER_ARM, "1", "0", 0, 1, NULL,
     "lengths are spread evenly from seq_len x (1 - ragged) to seq_len; the seed draws which sequence has which",
     offsetof(struct ifm_attention_settings, ragged)},
    {"attention.storage", "storage", IFM_TYPE_CHOICE, IFM_SWEEP | IFM_PER_ARM, "", "f16", 1, 0, "f32|bf16|f16",
     "format of Q, K, V and the output; sums are f32 in all of them, and so are weights, but in matrix products of a "
     "GPU",
     offsetof(struct ifm_attention_settings, storage)},
    {"attention.layout", "layout", IFM_TYPE_CHOICE, IFM_SWEEP | IFM_PER_ARM | IFM_LATER, "", "contiguous", 1, 0,
     "contiguous|qkv_packed",
     "a tensor each for Q, K and V, heads in a row; or all three as views of one, whose rows are tokens, as a fused "
     "projection leaves them",
     offsetof(struct ifm_attention_settings, layout)},
    {"attention.isa", "isa", IFM_TYPE_CHOICE, IFM_SWEEP | IFM_PER_ARM, "", "auto", 1, 0, IFM_ISA_CHOICES,
     "instruction set of the arm ours, and of the softmax between the products of openblas",
     offsetof(struct ifm_attention_settings, isa)},
    {"attention.arms", "arms", IFM_TYPE_TEXT, IFM_LIST | IFM_PER_ARM, "", "", 1, 0,
     OURS "|openblas|cudnn|mma|naive|" IFM_ISA_CHOICES,
     "what is compared, the baseline first; empty takes the library where it is there, openblas or on the device cuda "
     "cudnn, then ours; auto is ours too",
     offsetof(struct ifm_attention_settings, arms)},
    {"attention.matrix", "matrix", IFM_TYPE_CHOICE, IFM_SWEEP | IFM_PER_ARM, "", "none", 1, 0, MATRIX_CHOICES,
     "batch, heads and tokens by name, with head_dim 64; the word baseline stands for all ten, one cell each",
     offsetof(struct ifm_attention_settings, matrix)},
    {"attention.kv_file", "kv-file", IFM_TYPE_TEXT, IFM_PRIVATE | IFM_PER_ARM, "", "", 0, 0, NULL,
     "safetensors file whose keys, values and queries are taken instead of generated ones",
     offsetof(struct ifm_attention_settings, kv_file)},
    {"attention.model_layers", "model-layers", IFM_TYPE_U64, IFM_LATER, "count", "0", 0, 4096, NULL,
     "layers that a prompt goes through; attention.model sets it, and 0 counts a single layer",
     offsetof(struct ifm_attention_settings, model_layers)},
    ROW_U64(scale, "scale", "1", 1, 65536, "count", "divides the batch, down to one sequence: what a CPU can do"),
    {"attention.layers", "layers", IFM_TYPE_U64, IFM_LATER | IFM_SWEEP | IFM_PER_ARM, "count", "0", 0, 16777216, NULL,
     "sets of Q, K, V and outputs that steps of an arm take in turn; 0 takes as many as make them exceed 4 x the "
     "last-level cache, or half the memory holds; on the device cuda at most 64",
     offsetof(struct ifm_attention_settings, layers)},
};

static const struct ifm_word words[] = {{"attention.matrix", "baseline", BASELINE}, {NULL, NULL, NULL}};

static const struct ifm_section section = {
    .name = "attention",
    .help = "Scaled-dot-product attention forward over whole sequences",
    .rows = rows,
    .n = sizeof rows / sizeof rows[0],
    .size = sizeof(struct ifm_attention_settings),
    .words = words,
};

#define CHOSEN(name, help)                                                                                             \
    {                                                                                                                  \
#name, NULL, IFM_TYPE_U64, 0, "count", "0", 1, 0, NULL, help, offsetof(struct ifm_attention_chosen, name)      \
    }
static const struct ifm_param chosen_rows[] = {
    CHOSEN(batch, "sequences"),
    CHOSEN(q_heads, "query heads"),
    CHOSEN(kv_heads, "heads of K and V"),
    CHOSEN(seq_len, "tokens of a sequence, at most"),
    CHOSEN(head_dim, "dimension of a head"),
    {"isa", NULL, IFM_TYPE_TEXT, 0, "", "", 1, 0, NULL, "instruction set of our kernels",
     offsetof(struct ifm_attention_chosen, isa)},
    {"layers", NULL, IFM_TYPE_U64, 0, "count", "1", 1, 0, NULL, "sets of Q, K, V and outputs that steps take in turn",
     offsetof(struct ifm_attention_chosen, layers)}, /* the last one: earlier plans do not say it */
};

static const struct ifm_section chosen_section =
    IFM_SECTION("attention", NULL, chosen_rows, struct ifm_attention_chosen);

static const struct ifm_implementation *const implementations[] = {&ifm_attention_openblas,
                                                                   &ifm_attention_cpu,
                                                                   &ifm_attention_cuda_cudnn,
                                                                   &ifm_attention_cuda,
                                                                   &ifm_attention_cuda_mma,
                                                                   &ifm_attention_cuda_naive,
                                                                   NULL};

/* ---- settings ---- */

/* Whether a row still has its default: a shape by name leaves no other. */
static bool is_default(uint64_t value, const char *fallback)
{
    uint64_t number;
    return ifm_parse_u64(fallback, &number) && number == value;
}

/* Sequences before attention.scale divides them. */
static uint64_t batch_asked(const struct ifm_attention_settings *s)
{
    const struct ifm_attention_config *config = ifm_attention_config(s->matrix);
    return config != NULL ? config->batch : s->batch;
}

/* Rounding makes one of configurations that differ in their batch alone: b8h8s512 and b16h8s512 over 32. */
static const char *rounded(uint64_t asked, const struct ifm_attention_settings *s, struct ifm_arena *arena)
{
    if (asked % s->scale == 0)
        return NULL;
    return ifm_arena_printf(arena,
                            "has a batch of %llu in place of %llu / %llu: configurations that differ in their batch "
                            "alone may be one; take --scale %llu or less",
                            (unsigned long long)s->batch, (unsigned long long)asked, (unsigned long long)s->scale,
                            (unsigned long long)asked);
}

static enum ifm_status apply_matrix(struct ifm_attention_settings *s, struct ifm_error *error)
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
        s->head_dim = MATRIX_DIM;
    }
    s->batch = s->batch / s->scale > 0 ? s->batch / s->scale : 1;
    return IFM_OK;
}

static enum ifm_status check_shape(const struct ifm_attention_settings *s, struct ifm_error *error)
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

/* ---- describe ---- */

/* Values of `heads` heads of `tokens` tokens, in bytes; UINT64_MAX where that overflows. */
static uint64_t bytes_of(const struct ifm_attention_settings *s, uint64_t heads, uint64_t tokens)
{
    const uint64_t size = ifm_attention_size((enum ifm_attention_storage)(s->storage + 1));
    return ifm_data_mul(size * s->head_dim, ifm_data_mul(heads, tokens));
}

/* Of one layer: inputs once, which all arms share, and the outputs of each. */
static uint64_t layer_bytes(const struct ifm_attention_settings *s, uint64_t arms)
{
    return bytes_of(s, ifm_data_add(s->q_heads + 2 * s->kv_heads, arms * s->q_heads), s->batch * s->seq_len);
}

static enum ifm_status check_memory(const struct ifm_attention_settings *s, uint64_t arms,
                                    const struct ifm_machine *machine, struct ifm_error *error)
{
    const uint64_t one = layer_bytes(s, arms);
    const bool fewer = s->layers > 1 && one <= machine->memory_available;
    char what[200];
    snprintf(what, sizeof what, "batch %llu x %llu query and %llu KV heads x %llu tokens x %llu in %llu layer%s needs",
             (unsigned long long)s->batch, (unsigned long long)s->q_heads, (unsigned long long)s->kv_heads,
             (unsigned long long)s->seq_len, (unsigned long long)s->head_dim, (unsigned long long)s->layers,
             s->layers == 1 ? "" : "s");
    return ifm_data_check_memory(
        ifm_data_mul(s->layers, one), machine, "attention",
        fewer ? "lower attention.layers" : "raise attention.scale, lower the shape, or free memory", what, error);
}

/* Rounding errors of f32 sums add like random steps: a score is a sum of head_dim products, an output one of seq_len
 * weighted rows, and a factor of 8 leaves room for the exponential and for scores of several units; a wrong row, key
 * or mask is off by many orders more. The output is rounded to the storage format, by half a unit at most, and so are
 * weights where a matrix product takes them in it. */
static double tolerance(const struct ifm_attention_settings *s, const struct ifm_attention_ask *ask)
{
    static const double rounding[] = {0, 0x1p-8, 0x1p-11}; /* f32, bf16, f16 */
    return 0x1p-24 * 8 * (sqrt((double)s->head_dim) + sqrt((double)s->seq_len) / 4) +
           rounding[s->storage] * (ask->matrix ? 2 : 1);
}

static struct ifm_ledger ledger_of(const struct ifm_attention_settings *s)
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
                               .rows = tokens,
                               .layers = s->model_layers};
}

/* 0 asks for as many sets of tensors as let none stay in the last-level cache: each step then finds its inputs in
 * memory. All arms have as many, as they touch the same bytes. Where half the memory holds fewer, as many as it holds.
 */
static uint64_t layers_of(const struct ifm_attention_settings *s, uint64_t arms, const struct ifm_machine *machine)
{
    if (s->layers != 0 || !ifm_machine_plans_by(machine, SINCE_LAYERS))
        return s->layers != 0 ? s->layers : 1;
    const struct ifm_ledger ledger = ledger_of(s);
    const uint64_t touched = ifm_data_add(ledger.bytes_read, ledger.bytes_written);
    const uint64_t wanted = ifm_data_mul(CACHES_OVER_LLC, ifm_machine_llc_total(machine));
    uint64_t layers = wanted / touched + (wanted % touched != 0), most = machine->memory_available / 2;
    most /= layer_bytes(s, arms);
    if (machine->gpu != NULL && most > IFM_CUDA_TURNS)
        most = IFM_CUDA_TURNS;
    layers = layers < most ? layers : most;
    return layers > 0 ? layers : 1;
}

/* An item of attention.arms: a row, and the instruction set if the item names one. */
struct attention_item {
    const char *text;
    const struct ifm_implementation *row;
    bool names_isa;
    struct ifm_attention_ask ask;
};

static struct ifm_attention_ask ask_of(const struct ifm_attention_settings *s)
{
    const enum ifm_attention_storage storage = (enum ifm_attention_storage)(s->storage + 1);
    const struct ifm_attention_shape shape = {s->batch,    s->q_heads, s->kv_heads, s->seq_len,
                                              s->head_dim, s->causal,  storage};
    return (struct ifm_attention_ask){.settings = s, .shape = shape, .isa = ifm_isa_name(s->isa)};
}

/* "ours" and "auto" are our kernels with attention.isa, an instruction set is our kernels with it, the rest are names
 * of rows. Why it cannot run here; NULL when it can. */
static const char *take_item(const struct ifm_attention_settings *s, const char *text,
                             const struct ifm_machine *machine, struct ifm_arena *arena, struct attention_item *out)
{
    bool found = false;
    *out = (struct attention_item){.text = strcmp(text, "auto") == 0 ? OURS : text, .ask = ask_of(s)};
    for (size_t i = 0; implementations[i] != NULL; i++)
        found = found || strcmp(implementations[i]->name, out->text) == 0;
    out->names_isa = !found;
    if (out->names_isa)
        out->ask.isa = text;
    for (size_t i = 0; implementations[i] != NULL; i++)
        if (strcmp(implementations[i]->name, found ? out->text : OURS) == 0 &&
            ifm_implementation_serves(implementations[i], machine))
            out->row = implementations[i];
    if (out->row == NULL)
        return ifm_arena_printf(arena, "attention has no implementation %s on this device", text);
    const char *why_not = out->row->supports(machine, &out->ask, arena);
    if (!ifm_machine_plans_by(machine, SINCE_SCRATCH))
        out->ask.scratch = 0;
    return why_not;
}

/* Settings that do nothing here: a shape beside one by name, a divisor of one, an instruction set of an arm that names
 * another. attention.head_dim stays: a shape by name has its default, and its name does not say it. */
static const char *idle_of(const struct ifm_attention_settings *s, const struct attention_item *item,
                           struct ifm_arena *arena)
{
    const bool named = ifm_attention_config(s->matrix) != NULL;
    return ifm_arena_printf(arena, "%s%s%s",
                            named ? " attention.batch attention.q_heads attention.kv_heads attention.seq_len"
                                  : " attention.matrix",
                            s->scale == 1 ? " attention.scale" : "",
                            item->names_isa || strcmp(item->row->device, "cuda") == 0 ? " attention.isa" : "");
}

static struct ifm_arm arm_of(const struct ifm_attention_settings *s, const struct attention_item *item,
                             const struct ifm_machine *machine, struct ifm_arena *arena)
{
    const struct ifm_attention_chosen chosen = {s->batch,    s->q_heads,    s->kv_heads, s->seq_len,
                                                s->head_dim, item->ask.isa, s->layers};
    const bool ours = strcmp(item->row->name, OURS) == 0;
    struct ifm_arm arm = {.name = ifm_arena_strdup(arena, item->text),
                          .variant = ifm_arena_strdup(arena, item->text),
                          .implementation = item->row->name,
                          .title = ifm_data_title(item->row->title, ours ? item->ask.isa : "", arena),
                          .chosen = ifm_section_print(&chosen_section, &chosen, arena),
                          .n_chosen = chosen_section.n - !ifm_machine_plans_by(machine, SINCE_LAYERS),
                          .ledger = ledger_of(s),
                          .memory = ifm_data_add(ifm_data_mul(s->layers, layer_bytes(s, 1)), item->ask.scratch),
                          .scratch = item->ask.scratch,
                          .matrix = item->ask.matrix,
                          .has_oracle = true,
                          .tolerance = tolerance(s, &item->ask),
                          .idle = idle_of(s, item, arena)};
    arm.working_set = ifm_data_mul(s->layers, ifm_data_add(arm.ledger.bytes_read, arm.ledger.bytes_written));
    return arm;
}

/* Arms that were asked for, all of them or none: why not, NULL where all run. */
static const char *add_asked(const struct ifm_attention_settings *s, struct ifm_list items,
                             const struct ifm_machine *machine, struct ifm_arena *arena, struct ifm_arm_list *arms)
{
    for (size_t i = 0; i < items.n; i++) {
        struct attention_item item;
        const char *why_not = take_item(s, items.items[i], machine, arena, &item);
        if (why_not != NULL) {
            arms->n = 0;
            return why_not;
        }
        arms->items[arms->n++] = arm_of(s, &item, machine, arena);
    }
    return NULL;
}

/* The library where it is there, then ours. On a GPU, of both what takes the shape, and the plain kernel where none
 * does. */
static const char *add_usual(const struct ifm_attention_settings *s, const struct ifm_machine *machine,
                             struct ifm_arena *arena, struct ifm_arm_list *arms)
{
    static const char *const cpu[] = {"openblas", OURS}, *const gpu[] = {"cudnn", OURS, "naive"};
    if (machine->gpu == NULL)
        return add_asked(s, machine->blas != NULL ? (struct ifm_list){cpu, 2} : (struct ifm_list){cpu + 1, 1}, machine,
                         arena, arms);
    const char *why_not = NULL;
    for (size_t i = 0; i < sizeof gpu / sizeof *gpu && (i < 2 || arms->n == 0); i++) {
        struct attention_item item;
        why_not = take_item(s, gpu[i], machine, arena, &item);
        if (why_not == NULL)
            arms->items[arms->n++] = arm_of(s, &item, machine, arena);
    }
    return arms->n > 0 ? NULL : why_not;
}

static enum ifm_status describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                struct ifm_error *error)
{
    struct ifm_attention_settings s;
    *arms = (struct ifm_arm_list){
        .items = IFM_ARENA_ARRAY(arena, struct ifm_arm, ARMS_MOST), .rivals = true, .one = "attention.arms: ours"};
    IFM_TRY(ifm_section_bind(&section, settings, n, arena, &s, error));
    const uint64_t asked = batch_asked(&s), items = s.arms.n > 0 ? s.arms.n : ARMS_USUAL;
    const uint64_t outputs = ifm_machine_plans_by(machine, SINCE_LAYERS) ? items : 1;
    IFM_TRY(apply_matrix(&s, error));
    IFM_TRY(check_shape(&s, error));
    s.layers = layers_of(&s, outputs, machine);
    IFM_TRY(check_memory(&s, outputs, machine, error));
    *why_not = s.arms.n > 0 ? add_asked(&s, s.arms, machine, arena, arms) : add_usual(&s, machine, arena, arms);
    if (*why_not != NULL)
        return IFM_OK;
    arms->items[0].remark = rounded(asked, &s, arena);
    return IFM_OK;
}

static const char *const input_files[] = {"attention.kv_file", NULL};

const struct ifm_workload ifm_workload_attention = {
    .name = "attention",
    .purpose = "attention forward over whole sequences, beside OpenBLAS or cuDNN",
    .timed_region = "softmax(Q K^T / sqrt(d)) V of every sequence and query head, in and out of the storage format",
    .params = &section,
    .chosen = &chosen_section,
    .describe = describe,
    .has_oracle = true,
    .implementations = implementations,
    .input_files = input_files,
};
