/* decode: attention of one new token per sequence over an elastic KV cache, one arm for each way to keep it.
 *
 * What the timed region contains: for every sequence and query head of one layer, softmax(q K^T / sqrt(head_dim)) V
 * over the whole cache in the form in which the arm keeps it, and the join of the pieces that several workers computed.
 * Nothing is appended. With decode.inference it contains a cycle of decode.decode_tokens tokens through all layers: in
 * each, the token's K and V are appended and full pages compressed, attention runs over the grown cache, and the output
 * makes the next query; taking the caches back to their first length is not timed. */
#include "base/text.h"
#include "workload/data/data.h"
#include "workload/decode/shape.h"
#include "workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CACHES_OVER_LLC = 4, ROWS_MOST = 4 /* of the table */, ARMS_MOST = 2 * ROWS_MOST * IFM_DECODE_FORMS };
/* Of IFM_PLAN_RULES: a pass is a part of a token; the parts are layers that were asked for, not caches that steps take
 * in turn; each arm has its own number of layers; a wider tolerance of int4; a library is the baseline of a GPU where
 * nothing else is asked for; a GPU's kernels are held against its matrix units, and multiply no integers. */
enum {
    SINCE_PARTS = 4,
    SINCE_DEPTH = 7,
    SINCE_OWN_LAYERS = 8,
    SINCE_INT4_ROOM = 9,
    SINCE_CUDNN = 10,
    SINCE_MATRIX = 13
};

/* Of a device the baseline first. */
static const struct ifm_implementation *const implementations[] = {&ifm_decode_cpu, &ifm_decode_cuda_cudnn,
                                                                   &ifm_decode_cuda_naive, &ifm_decode_cuda, NULL};
_Static_assert(sizeof implementations / sizeof *implementations <= ROWS_MOST + 1, "each row may have every form");

static enum ifm_status check_shape(const struct ifm_decode_settings *s, struct ifm_error *error)
{
    if (s->q_heads % s->kv_heads != 0)
        return ifm_fail(error, IFM_USAGE, "decode.q_heads", "make decode.q_heads a multiple of decode.kv_heads",
                        "decode.q_heads %llu is not a multiple of decode.kv_heads %llu", (unsigned long long)s->q_heads,
                        (unsigned long long)s->kv_heads);
    if (s->head_dim % 32 != 0)
        return ifm_fail(error, IFM_USAGE, "decode.head_dim", "use a multiple of 32 from 32 to 256",
                        "decode.head_dim %llu is not a multiple of 32", (unsigned long long)s->head_dim);
    if (s->weight_bytes > 0 && s->model_layers == 0 && s->model[0] == '\0')
        return ifm_fail(error, IFM_USAGE, "decode.weight_bytes", "give --model, or --model-layers too",
                        "weights are for the bound of a model's token, and no model is given: they would change "
                        "nothing");
    return IFM_OK;
}

/* Who runs which forms of a cell, and how many layers each rotates over. */
struct cell {
    const struct ifm_decode_settings *s;
    const struct ifm_machine *machine;
    struct decode_entry {
        const struct ifm_implementation *row;
        const struct ifm_decode_form *form;
        struct ifm_decode_ask ask;
        struct ifm_decode_amounts amounts;
        uint64_t layers;
        const char *graphs; /* of decode.graphs; "" = not said */
    } entries[ARMS_MOST];
    size_t n;
    bool together;        /* all go through as many layers; their content is that of all of them */
    double int4_room;     /* see tolerance() */
    const char *left_out; /* what was asked for and does not run on this device, and why; NULL = nothing */
};

static bool runs(const struct cell *cell, const struct ifm_decode_form *form)
{
    for (size_t i = 0; i < cell->n; i++)
        if (cell->entries[i].form == form)
            return true;
    return false;
}

/* One row with every form that it runs; `*why_not` is kept where it is set. */
static void add_row(struct cell *cell, const struct ifm_implementation *row, const struct ifm_machine *machine,
                    const struct ifm_decode_form *const *forms, size_t n, struct ifm_arena *arena, const char **why_not)
{
    const struct ifm_list *graphs = &cell->s->graphs;
    for (size_t f = 0; f < n; f++) {
        struct decode_entry entry = {row, forms[f], {.settings = cell->s, .format = forms[f]->format, .folded = -1},
                                     {0}, 0,        ""};
        const char *reason = row->supports(machine, &entry.ask, arena);
        *why_not = *why_not == NULL ? reason : *why_not;
        if (reason != NULL)
            continue;
        entry.amounts = ifm_decode_amounts_of(cell->s, entry.form);
        for (size_t g = 0; g < (graphs->n > 0 ? graphs->n : 1); g++) {
            entry.graphs = graphs->n > 0 ? graphs->items[g] : "";
            cell->entries[cell->n++] = entry;
        }
    }
}

static bool has_row(const struct cell *cell, const char *name)
{
    for (size_t i = 0; i < cell->n; i++)
        if (strcmp(cell->entries[i].row->name, name) == 0)
            return true;
    return false;
}

/* Every row of the table that `names` has and this device runs; `*why_not` as in add_row. */
static void add_rows(struct cell *cell, const struct ifm_list *names, const struct ifm_machine *machine,
                     const struct ifm_decode_form *const *forms, size_t n, struct ifm_arena *arena,
                     const char **why_not)
{
    for (size_t i = 0; implementations[i] != NULL; i++)
        if (ifm_implementation_serves(implementations[i], machine) && ifm_list_has(names, implementations[i]->name))
            add_row(cell, implementations[i], machine, forms, n, arena, why_not);
}

/* What runs where decode.arms is empty, the names in `*asked`. That cuDNN does not run is then no news. */
static void add_usual(struct cell *cell, const struct ifm_machine *machine, const struct ifm_decode_form *const *forms,
                      size_t n, struct ifm_arena *arena, struct ifm_list *asked, const char **why_not)
{
    static const char *const cudnn[] = {"cudnn"}, *const ours[] = {"ours"}, *const naive[] = {"naive"},
                             *const before[] = {"naive", "ours"};
    const struct ifm_list library = {cudnn, 1}, plain = {naive, 1};
    const char *ignored = NULL;
    *asked = (struct ifm_list){ours, 1};
    if (!ifm_machine_plans_by(machine, SINCE_CUDNN))
        *asked = (struct ifm_list){before, 2};
    else
        add_rows(cell, &library, machine, forms, n, arena, &ignored);
    add_rows(cell, asked, machine, forms, n, arena, why_not);
    if (cell->n == 0)
        add_rows(cell, &plain, machine, forms, n, arena, why_not);
}

/* Forms that nothing runs; else rows that were asked for and run none. */
static const char *missing_of(const struct cell *cell, const struct ifm_list *asked,
                              const struct ifm_decode_form *const *forms, size_t n, struct ifm_arena *arena)
{
    const char *missing = "";
    for (size_t f = 0; f < n; f++)
        if (!runs(cell, forms[f]))
            missing = ifm_arena_printf(arena, "%s%s%s", missing, missing[0] == '\0' ? "" : ", ", forms[f]->name);
    for (size_t i = 0, forms_miss = missing[0] != '\0'; i < asked->n && !forms_miss; i++)
        if (!has_row(cell, asked->items[i]))
            missing = ifm_arena_printf(arena, "%s%s%s", missing, missing[0] == '\0' ? "" : ", ", asked->items[i]);
    return missing;
}

/* What runs, in the order of the table. Why nothing does, or NULL. A processor runs all or nothing; a GPU may have
 * kernels for some, and the rest is told of. */
static const char *choose_rows(struct cell *cell, const struct ifm_machine *machine,
                               const struct ifm_decode_form *const *forms, size_t n, struct ifm_arena *arena)
{
    const char *why_not = NULL;
    struct ifm_list asked = cell->s->arms;
    if (asked.n > 0)
        add_rows(cell, &asked, machine, forms, n, arena, &why_not);
    else
        add_usual(cell, machine, forms, n, arena, &asked, &why_not);
    if (cell->n == 0 || (why_not != NULL && machine->gpu == NULL))
        return why_not != NULL ? why_not : "none of decode.arms runs on this device; leave decode.arms out";
    if (why_not != NULL)
        cell->left_out =
            ifm_arena_printf(arena, "runs without %s: %s", missing_of(cell, &asked, forms, n, arena), why_not);
    return NULL;
}

/* Queries and outputs, and what a cycle appends and asks. On a GPU each token of a cycle keeps its own. */
static uint64_t rows_memory(const struct ifm_decode_settings *s, const struct ifm_machine *machine)
{
    const uint64_t query = ifm_decode_query_bytes(s), rows = 2 * sizeof(float) * s->batch * s->kv_heads * s->head_dim;
    if (s->inference && machine->gpu != NULL)
        return ifm_data_mul(s->decode_tokens, 3 * query + rows);
    const uint64_t cycle = s->inference ? ifm_data_add(query, ifm_data_mul(s->decode_tokens, query + rows)) : 0;
    return ifm_data_add(2 * query, cycle);
}

/* Caches of a form until they exceed those of the machine. They count as a cycle finds them, so that arms which differ
 * in what they append go through equally many. */
static uint64_t least_layers(const struct cell *cell, const struct decode_entry *entry,
                             const struct ifm_machine *machine)
{
    struct ifm_decode_settings still = *cell->s;
    still.inference = false;
    const uint64_t wanted = ifm_data_mul(CACHES_OVER_LLC, ifm_machine_llc_total(machine));
    const uint64_t touched = ifm_decode_amounts_of(&still, entry->form).touched;
    return wanted / touched + (wanted % touched != 0);
}

static uint64_t at_most(uint64_t layers, uint64_t most)
{
    return most != 0 && most < layers ? most : layers;
}

/* Layers of each arm, or of all together, as many as its row takes. Gives the pools' bytes: of one layer, of all. */
static void ask_for_layers(struct cell *cell, const struct ifm_machine *machine, uint64_t *of_one, uint64_t *all)
{
    uint64_t most = 0;
    for (size_t i = 0; i < cell->n; i++) {
        struct decode_entry *entry = &cell->entries[i];
        entry->layers = least_layers(cell, entry, machine);
        most = entry->layers > most ? entry->layers : most;
    }
    for (size_t i = 0; i < cell->n; i++)
        most = at_most(most, cell->entries[i].ask.layers_most);
    for (size_t i = 0; i < cell->n; i++) {
        struct decode_entry *entry = &cell->entries[i];
        entry->layers = cell->together ? most : at_most(entry->layers, entry->ask.layers_most);
        *of_one = ifm_data_add(*of_one, entry->amounts.pool);
        *all = ifm_data_add(*all, ifm_data_mul(entry->layers, entry->amounts.pool));
    }
}

/* 0 asks for as many layers as let no arm's caches stay in the last-level cache: each arm for itself, so that all of
 * them have about as large a part in the caches, but in a cycle, whose work they are, as many as the smallest needs.
 * Where half the memory holds fewer, all shrink alike. No number caps them: they are the same bytes of every shape, 4 x
 * the last-level caches an arm, and a cap would bite on the smallest arm first. Of 2,048 tokens, one head and
 * dimension 64 on 32 MiB, f16 takes 256 layers and int2 998: with 256 of each, f16 would be 128 MiB and read from
 * memory, int2 32 MiB and read from the cache, and the speed-up would be the cache's. */
static void choose_layers(struct cell *cell, const struct ifm_machine *machine)
{
    const struct ifm_decode_settings *s = cell->s;
    const uint64_t half = machine->memory_available / 2;
    uint64_t all = 0, of_one = 0;
    ask_for_layers(cell, machine, &of_one, &all);
    for (size_t i = 0; i < cell->n; i++) {
        uint64_t *layers = &cell->entries[i].layers;
        if (all > half)
            *layers = cell->together ? half / of_one : (uint64_t)((double)*layers * ((double)half / (double)all));
        if (s->layers != 0)
            *layers = s->layers;
        else if (s->inference && s->model_layers != 0) /* a cycle goes through the whole model */
            *layers = s->model_layers;
        else if (*layers == 0)
            *layers = 1;
    }
}

static enum ifm_status check_memory(const struct cell *cell, const struct ifm_machine *machine, struct ifm_error *error)
{
    const struct ifm_decode_settings *s = cell->s;
    uint64_t needed = 0, most = 0;
    for (size_t i = 0; i < cell->n; i++) {
        const struct decode_entry *entry = &cell->entries[i];
        needed = ifm_data_add(needed,
                              ifm_data_add(ifm_data_mul(entry->layers, entry->amounts.pool), rows_memory(s, machine)));
        most = entry->layers > most ? entry->layers : most;
    }
    char what[200];
    snprintf(what, sizeof what, "batch %llu x %llu KV heads x %llu tokens x %llu in %llu layers and %zu arms needs",
             (unsigned long long)s->batch, (unsigned long long)s->kv_heads, (unsigned long long)s->kv_len,
             (unsigned long long)s->head_dim, (unsigned long long)most, cell->n);
    return ifm_data_check_memory(needed, machine, "decode",
                                 "lower decode.batch, decode.kv_len or decode.layers, or free memory", what, error);
}

/* So many layers make a token of the tokens that a step takes through one; 0: a step takes them through all. */
static uint64_t depth_of(const struct cell *cell, const struct decode_entry *entry)
{
    const struct ifm_decode_settings *s = cell->s;
    if (s->inference || !ifm_machine_plans_by(cell->machine, SINCE_PARTS))
        return 0;
    if (s->layers > 0)
        return s->layers;
    if (s->model_layers > 0)
        return s->model_layers;
    return ifm_machine_plans_by(cell->machine, SINCE_DEPTH) ? 1 : entry->layers;
}

static struct ifm_ledger ledger_of(const struct cell *cell, const struct decode_entry *entry)
{
    const struct ifm_decode_settings *s = cell->s;
    const struct ifm_decode_amounts *a = &entry->amounts;
    const uint64_t steps = ifm_decode_steps(s), layers = s->inference ? entry->layers : 1;
    const uint64_t query = steps * ifm_decode_query_bytes(s) / (entry->ask.halves ? 2 : 1);
    const bool appends = s->inference && s->append == IFM_DECODE_APPEND_COMPRESS;
    const uint64_t rows = appends ? steps * 2 * sizeof(float) * s->batch * s->kv_heads * s->head_dim : 0;
    return (struct ifm_ledger){.flops = ifm_data_mul(layers * 4 * s->q_heads * s->head_dim, a->attended),
                               .bytes_read = ifm_data_mul(layers, ifm_data_add(a->read, query + rows)),
                               .bytes_written = ifm_data_mul(layers, ifm_data_add(a->appended, query)),
                               .tokens_generated = s->batch * steps,
                               .rows = s->batch * steps,
                               .layers = depth_of(cell, entry)};
}

/* The largest kernel error that counts as correct: of a value, relative to the largest one (error_max_rel, rule 10).
 * Derived for the root mean square of both, which is near that: both maxima are some four deviations.
 *
 * f16 and e4m3: f32 sums, in units of rounding, 2^-24. A score is a sum of head_dim products, and an output a running
 * sum of kv_len weighted rows; rounding errors add like random steps. A factor of 8 leaves room for the exponential and
 * for scores of several units.
 *
 * Integer formats: kernels round the query, folded with the channel scales of the page, to whole numbers of a unit
 * (kv_attend_avx512vnni.c), which is wrong by sd = unit / sqrt(12) a channel, times the spread of its codes. Summed
 * over the channels that is an error of a score in nats, and about the relative error of an output, which is a sum of
 * rows that are independent of it. With keys of unit variance, outlier channels (one in 32) larger by a, and a range
 * of 5.5 deviations: int8, unit = greatest / 32639, 3.1e-5 a. int4, unit = rms / 52, 0.0056 rms(1, a). int2, unit = rms
 * / 16, clipped to a scale of 1, promoted channels with a scale of 1.47 a, 0.018 rms(1, 1.47 a). Four times that leaves
 * room for rounded weights and for rows with large queries, of int4 six times: of 9,900 right arms of 1 to 32 heads
 * the most was 5.5, where all weight is on few keys (before rules 9 it was four, and 1 in 100 of small shapes refused).
 * Of a user's file a is not known; 32 is taken. What a wrong row, head or page does is larger.
 *
 * A GPU rounds the folded query to f16 instead, `folded` of a value: four times the sd of a score of such keys. */
static double tolerance(const struct ifm_decode_settings *s, enum ifm_kv_format format,
                        const struct ifm_decode_ask *ask, double int4_room)
{
    const double plain = 0x1p-24 * 8 * (sqrt((double)s->head_dim) + sqrt((double)s->kv_len) / 4) + ask->rounding;
    const double a = s->kv_file[0] == '\0' ? ifm_decode_outlier(s) : 32, promoted = 1.47 * a, room = 4;
    if (ask->folded >= 0)
        return plain + (format == IFM_KV_F16 || format == IFM_KV_E4M3 ? 0 : ask->folded * sqrt((31 + a * a) / 32));
    switch (format) {
    case IFM_KV_INT8:
        return plain + room * 3.1e-5 * a;
    case IFM_KV_INT4:
        return plain + int4_room * 0.0056 * sqrt((31 + a * a) / 32);
    case IFM_KV_INT2:
        return plain + room * 0.018 * sqrt((31 + promoted * promoted) / 32);
    default:
        return plain;
    }
}

/* Settings that do nothing in this form: other ways to choose formats, a cycle's without cycles, a compressed cache's
 * in f16, and what generates keys that come from a file. */
static const char *idle_of(const struct ifm_decode_settings *s, const struct ifm_decode_form *form,
                           struct ifm_arena *arena)
{
    return ifm_arena_printf(arena, "%s%s%s%s%s", s->formats.n == 0 ? "" : " decode.compress decode.format",
                            s->inference ? "" : " decode.decode_tokens decode.append",
                            form->format == IFM_KV_F16 ? " decode.sink" : "", form->half ? "" : " decode.evict",
                            s->kv_file[0] == '\0' ? "" : " decode.outliers");
}

/* The least power of two of tokens of which the form reads at most five in eight bytes of f16: from there on it gains a
 * good part of what it can, and half as many gain little beside sink and ring, which stay f16. 0 = none. */
static uint64_t worth_it(const struct ifm_decode_settings *s, const struct ifm_decode_form *form, double *ratio)
{
    struct ifm_decode_settings longer = *s;
    const struct ifm_decode_form *plain = ifm_decode_form_find("f16");
    for (longer.kv_len = 256; longer.kv_len <= 1u << 16; longer.kv_len *= 2) {
        const double read = (double)ifm_decode_amounts_of(&longer, form).read;
        *ratio = read > 0 ? (double)ifm_decode_amounts_of(&longer, plain).read / read : 0;
        if (*ratio >= 1.6)
            return longer.kv_len;
    }
    return 0;
}

/* Rule 11 makes an arm that compresses nothing inactive; this says beforehand what to ask for instead. */
static const char *remark_of(const struct ifm_decode_settings *s, const struct ifm_decode_form *form,
                             struct ifm_arena *arena)
{
    double ratio;
    const uint64_t share = form->half ? 2 : 1; /* of the tokens it keeps one in two */
    const uint64_t least = share * (s->sink + 2 * IFM_KV_PAGE);
    const uint64_t most = s->kv_len + (s->inference ? s->decode_tokens : 0);
    if (form->format == IFM_KV_F16 || most >= least)
        return NULL;
    const uint64_t worth = worth_it(s, form, &ratio);
    const char *gain = worth < least ? "" : ifm_arena_printf(arena, ", from where it reads %.1fx fewer bytes", ratio);
    return ifm_arena_printf(arena,
                            "has nothing to compress in %llu tokens, of which the first and the newest stay f16; take "
                            "--kv-len %llu or more%s",
                            (unsigned long long)most, (unsigned long long)(worth < least ? least : worth), gain);
}

/* Our own kernels: their arms are named after forms, those of others after who computes. */
static const char *name_of(const struct cell *cell, const struct decode_entry *entry, struct ifm_arena *arena)
{
    const bool plain = entry->form->format == IFM_KV_F16, ours = strcmp(entry->row->name, "ours") == 0;
    const char *name = ours    ? entry->form->name
                       : plain ? entry->row->name
                               : ifm_arena_printf(arena, "%s-%s", entry->row->name, entry->form->name);
    if (cell->s->graphs.n < 2)
        return name;
    return ifm_arena_printf(arena, "%s-%s", name, strcmp(entry->graphs, "true") == 0 ? "graph" : "no-graph");
}

/* What must run for the arm to be what its name says. */
static const char *feature_of(const struct decode_entry *entry)
{
    if (entry->graphs[0] != '\0')
        return strcmp(entry->graphs, "true") == 0 ? "the replay of graphs" : "the launch without a graph";
    return entry->form->format == IFM_KV_F16 ? "" : entry->form->name;
}

/* All that decides the bits of an output: graphs do not. */
static const char *bits_of(const struct decode_entry *entry, const struct ifm_setting *settings, size_t n,
                           struct ifm_arena *arena)
{
    struct ifm_text text = {0};
    if (entry->graphs[0] == '\0')
        return NULL;
    ifm_text_printf(&text, "%s %s", entry->row->name, entry->form->name);
    for (size_t i = 0; i < n; i++)
        if (strcmp(settings[i].path, "decode.graphs") != 0)
            ifm_text_printf(&text, " %s=%s", settings[i].path, settings[i].text);
    return ifm_text_keep(&text, arena);
}

static struct ifm_arm arm_of(const struct cell *cell, size_t i, const struct ifm_machine *machine,
                             struct ifm_arena *arena)
{
    const struct decode_entry *entry = &cell->entries[i];
    const struct ifm_decode_form *form = entry->form;
    const struct ifm_decode_amounts *a = &entry->amounts;
    const uint64_t query = ifm_decode_query_bytes(cell->s);
    const struct ifm_decode_ask *ask = &entry->ask;
    const uint64_t layers = entry->layers, counted = cell->together ? layers : 1; /* a step reads one */
    const bool of_gpu = strcmp(entry->row->device, "cuda") == 0 && ifm_machine_plans_by(machine, SINCE_MATRIX);
    const struct ifm_decode_chosen chosen = {layers, ask->isa, ask->isa_f16, ask->isa_encode, entry->graphs};
    return (struct ifm_arm){
        .name = name_of(cell, entry, arena),
        .variant = form->name,
        .implementation = entry->row->name,
        .title = ifm_data_title(entry->row->title, ask->isa, arena),
        .chosen = ifm_section_print(&ifm_decode_chosen_section, &chosen, arena),
        .n_chosen = ifm_decode_chosen_section.n - (entry->graphs[0] == '\0'), /* the last one is of graphs */
        .feature = feature_of(entry),
        .idle = idle_of(cell->s, form, arena),
        .remark = i == 0 && cell->left_out != NULL ? cell->left_out : remark_of(cell->s, form, arena),
        .ledger = ledger_of(cell, entry),
        .working_set = ifm_data_add(ifm_data_mul(layers, a->touched), 2 * query),
        .memory = ifm_data_add(ifm_data_mul(layers, a->pool), rows_memory(cell->s, machine)),
        .stored = ifm_data_mul(counted, a->stored),
        .stored_plain = ifm_data_mul(counted, a->plain),
        .integer = form->format != IFM_KV_F16 && form->format != IFM_KV_E4M3 && !of_gpu,
        .matrix = of_gpu && ask->matrix,
        .lossy = form->format != IFM_KV_F16,
        .has_oracle = true,
        .tolerance = tolerance(cell->s, form->format, ask, cell->int4_room),
        .fixed_inner = cell->s->inference,
        .gaps = cell->s->inference,
    };
}

static enum ifm_status describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                struct ifm_error *error)
{
    struct ifm_decode_settings s;
    struct cell cell = {.s = &s, .machine = machine};
    *arms = (struct ifm_arm_list){0};
    IFM_TRY(ifm_section_bind(&ifm_decode_section, settings, n, arena, &s, error));
    IFM_TRY(check_shape(&s, error));
    const struct ifm_decode_form *forms[IFM_DECODE_FORMS];
    size_t n_forms;
    IFM_TRY(ifm_decode_forms(&s, forms, &n_forms, error));
    *why_not = choose_rows(&cell, machine, forms, n_forms, arena);
    if (*why_not != NULL)
        return IFM_OK;
    cell.together = s.inference || !ifm_machine_plans_by(machine, SINCE_OWN_LAYERS);
    cell.int4_room = ifm_machine_plans_by(machine, SINCE_INT4_ROOM) ? 6 : 4;
    choose_layers(&cell, machine);
    IFM_TRY(check_memory(&cell, machine, error));
    struct ifm_arm *items = IFM_ARENA_ARRAY(arena, struct ifm_arm, cell.n);
    for (size_t i = 0; i < cell.n; i++) {
        items[i] = arm_of(&cell, i, machine, arena);
        items[i].bits = bits_of(&cell.entries[i], settings, n, arena);
    }
    *arms = (struct ifm_arm_list){.items = items, .n = cell.n, .rivals = true, .one = "decode.compress: 1"};
    return IFM_OK;
}

static const char *const input_files[] = {"decode.kv_file", NULL};

const struct ifm_workload ifm_workload_decode = {
    .name = "decode",
    .purpose = "attention of one new token per sequence over an elastic KV cache: f16, and compressed 2, 4 and 8 times",
    .timed_region = "softmax(q K^T / sqrt(d)) V of every query head over the caches of one layer, with the join of its "
                    "pieces; or an inference cycle of appending, compressing and attending",
    .params = &ifm_decode_section,
    .chosen = &ifm_decode_chosen_section,
    .describe = describe,
    .has_oracle = true,
    .implementations = implementations,
    .input_files = input_files,
};
