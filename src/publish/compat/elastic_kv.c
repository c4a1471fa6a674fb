/* elastic_kv.json and `decode --json`: the specification's JSON of a compressed KV cache, from our numbers alone.
 *
 * One object tells of one compressed arm. The top level is the first compressed arm of the first cell; when that cell
 * has several, all of them stand in "arms"; when there are several configurations, each stands in "cells" the same way.
 * A configuration is a cell of single passes, with the cell of the same run that measured its inference cycle: the same
 * settings in all but decode.inference. What no such cell measured is null: nothing is put together from two
 * configurations, and never from two runs. */
#include "base/text.h"
#include "model/machine_facts.h"
#include "publish/compat/compat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NO_CEILING "no ceiling was measured beside this arm (ceilings: read,flops)"
#define NO_CHECK "no check recorded what compression did to the output"
#define NO_TIME "the time of this arm was not derived"
#define NO_OTHER "there is no other arm that this one is compared with"
#define NO_BUS "neither driver nor firmware says what the memory's bus carries"

static const struct ifm_compat_field result_fields[] = {
    {"results.attention_time_std", IFM_M_LATENCY_NS_SD, 1e6, "ms", NO_TIME},
    {"results.coefficient_of_variation", IFM_M_LATENCY_CV_PERCENT, 100, "1", NO_TIME},
    {"results.speedup_vs_baseline", IFM_M_SPEEDUP, 1, "1", NO_OTHER},
    {"results.memory_bandwidth_gbs", IFM_M_BANDWIDTH_BYTES_PER_S, 1e9, "GB/s", NO_TIME},
    {"results.memory_efficiency_measured_percent", IFM_M_CEILING_READ_PERCENT, 1, "%", NO_CEILING},
    {"results.roofline_score", IFM_M_ROOFLINE_SCORE, 1, "1", NO_CEILING},
};
static const struct ifm_compat_field quality_fields[] = {
    {"quality.loss_rms_rel", IFM_M_LOSS_RMS_REL, 1, "1", NO_CHECK},
    {"quality.attention_kl_nats", IFM_M_ATTENTION_KL_NATS, 1, "nats", NO_CHECK},
    {"quality.loss_cosine", IFM_M_LOSS_COSINE, 1, "1", NO_CHECK},
    {"quality.error_rms_rel", IFM_M_ERROR_RMS_REL, 1, "1", "no check against the oracle was recorded"},
};

/* One configuration: a cell of passes, a cell of cycles, or both. */
struct configuration {
    const struct ifm_cell *pass, *cycle;
};

static const struct ifm_cell *main_cell(const struct configuration *c)
{
    return c->pass != NULL ? c->pass : c->cycle;
}

static bool is_cycle_arm(const struct ifm_arm *arm)
{
    const char *text = ifm_compat_setting(arm, "decode.inference");
    return text != NULL && strcmp(text, "true") == 0;
}

static bool is_cycle(const struct ifm_cell *cell)
{
    for (size_t i = 0; i < cell->n_axes; i++)
        if (strcmp(cell->axes[i].path, "decode.inference") == 0)
            return strcmp(cell->axes[i].text, "true") == 0;
    return is_cycle_arm(ifm_compat_first_arm(cell));
}

static bool is_compressed(const struct ifm_arm *arm)
{
    return arm->role != IFM_ROLE_CEILING && strcmp(arm->variant, "f16") != 0;
}

/* The compression that the specification names, of a form of the cache; 0 = it has no name there. */
static int nominal_ratio(const struct ifm_arm *arm)
{
    static const struct {
        const char *form;
        int ratio;
    } forms[] = {{"f16", 1}, {"int8", 2}, {"e4m3", 2}, {"int4", 4}, {"int2", 8}, {"half4", 8}};
    for (size_t i = 0; arm != NULL && i < sizeof forms / sizeof *forms; i++)
        if (strcmp(arm->variant, forms[i].form) == 0)
            return forms[i].ratio;
    return 0;
}

static const struct ifm_arm *arm_named(const struct ifm_cell *cell, const char *name)
{
    for (size_t a = 0; cell != NULL && a < cell->n_arms; a++)
        if (strcmp(cell->arms[a].name, name) == 0)
            return &cell->arms[a];
    return NULL;
}

/* One may be the baseline where the other is not: what it is compared with does not run in both cells. */
static bool same_settings(const struct ifm_arm *a, const struct ifm_arm *b)
{
    const bool ceilings[] = {a->role == IFM_ROLE_CEILING, b->role == IFM_ROLE_CEILING};
    if (a->n_settings != b->n_settings || strcmp(a->variant, b->variant) != 0 || ceilings[0] != ceilings[1])
        return false;
    for (size_t i = 0; i < a->n_settings; i++) {
        const char *other = ifm_compat_setting(b, a->settings[i].path);
        if (strcmp(a->settings[i].path, "decode.inference") != 0 &&
            (other == NULL || strcmp(a->settings[i].text, other) != 0))
            return false;
    }
    return true;
}

/* Every arm of the cycle is one of the pass, under the same settings in all but decode.inference. On a GPU the pass may
 * have more: a library does no cycle. */
static bool same_configuration(const struct ifm_cell *pass, const struct ifm_cell *cycle)
{
    size_t n = 0;
    for (size_t a = 0; a < cycle->n_arms; a++) {
        const struct ifm_arm *arm = &cycle->arms[a], *other = arm_named(pass, arm->name);
        if (arm->role == IFM_ROLE_CEILING)
            continue;
        if (other == NULL || !same_settings(other, arm))
            return false;
        n++;
    }
    return n > 0 && pass->threads == cycle->threads;
}

static bool is_decode(const struct ifm_cell *cell)
{
    return strcmp(cell->workload, "decode") == 0;
}

static bool is_gpu(const struct ifm_compat *c)
{
    return strcmp(c->from->plan->device, "cuda") == 0;
}

/* The configurations of the plan in its order; `out` has room for as many as it has cells. */
static size_t find_configurations(const struct ifm_plan *plan, struct configuration *out)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n_cells; i++)
        if (is_decode(&plan->cells[i]) && !is_cycle(&plan->cells[i]))
            out[n++].pass = &plan->cells[i];
    size_t n_passes = n;
    for (size_t i = 0; i < plan->n_cells; i++) {
        const struct ifm_cell *cell = &plan->cells[i];
        size_t k = 0;
        if (!is_decode(cell) || !is_cycle(cell))
            continue;
        while (k < n_passes && (out[k].cycle != NULL || !same_configuration(out[k].pass, cell)))
            k++;
        out[k < n_passes ? k : n++].cycle = cell;
    }
    return n;
}

/* What describe chose, as text; NULL = nothing. */
static const char *chosen_of(const struct ifm_arm *arm, const char *path)
{
    for (size_t i = 0; i < arm->n_chosen; i++)
        if (strcmp(arm->chosen[i].path, path) == 0)
            return arm->chosen[i].text;
    return NULL;
}

/* The device had graphs, and the arm did not do without. */
static bool has_graphs(const struct ifm_arm *arm)
{
    const char *device = arm == NULL ? NULL : ifm_arm_setting(arm, "device.graphs");
    const char *own = arm == NULL ? NULL : chosen_of(arm, "graphs");
    return device != NULL && strcmp(device, "true") == 0 && (own == NULL || strcmp(own, "true") == 0);
}

static void add_build(const struct ifm_compat *c)
{
    static const struct ifm_compat_field inner = {"build.inner_loops", IFM_M_INNER_STEPS, 1, "steps", NO_TIME};
    double truncate = c->cell->measure.truncate;
    bool whole = truncate == floor(truncate);
    ifm_compat_add(c, &inner);
    ifm_compat_put(c, "build.cuda_graphs", json_boolean(is_gpu(c) && has_graphs(c->arm)), NULL, NULL);
    ifm_compat_put(c, "build.truncate_percent", whole ? json_integer((json_int_t)truncate) : json_real(truncate), NULL,
                   NULL);
}

/* The layers that passes take in turn, one each, and that every token of a cycle goes through; 0 = not recorded. */
static uint64_t layers_of(const struct ifm_arm *arm)
{
    const char *text = arm == NULL ? NULL : chosen_of(arm, "layers");
    uint64_t layers;
    return text != NULL && ifm_parse_u64(text, &layers) ? layers : 0;
}

/* A rate of whole tokens. In plans of earlier versions a pass was one token, however many layers there are. */
static void add_pass_rate(const struct ifm_compat *c, const struct ifm_compat_field *field)
{
    uint64_t layers = layers_of(c->arm);
    ifm_compat_add(c, field);
    if (layers >= 2 && c->arm->ledger.layers == 0)
        json_object_set_new(c->units, field->path,
                            json_sprintf("tokens/s through 1 of %llu layers", (unsigned long long)layers));
}

/* What the rates divide by the time, so that tokens = rate x time can be checked in the file alone. */
static void add_tokens(const struct ifm_compat *c, const char *path)
{
    const struct ifm_ledger *ledger = c->arm == NULL ? NULL : &c->arm->ledger;
    ifm_compat_put(c, path, ledger == NULL ? NULL : json_real(ifm_ledger_whole(ledger, ledger->tokens_generated)),
                   c->cell->unsupported, NULL);
    json_object_set_new(c->units, path, json_string("tokens"));
}

static void add_configuration(const struct ifm_compat *c)
{
    static const char *const rows[][2] = {{"configuration.seq_len", "decode.kv_len"},
                                          {"configuration.heads", "decode.q_heads"},
                                          {"configuration.kv_heads", "decode.kv_heads"},
                                          {"configuration.head_dim", "decode.head_dim"},
                                          {"configuration.batch", "decode.batch"}};
    static const struct ifm_compat_field reps = {"configuration.reps", IFM_M_SAMPLES_COUNT, 1, "samples",
                                                 "no sample was counted"};
    int ratio = nominal_ratio(c->arm);
    uint64_t layers = layers_of(c->arm);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ifm_compat_add_setting(c, rows[i][0], rows[i][1]);
    ifm_compat_put(c, "configuration.layers", layers > 0 ? json_integer((json_int_t)layers) : NULL,
                   "the plan does not say how many layers the arm has", NULL);
    ifm_compat_put(c, "configuration.compression", ratio > 0 ? json_integer(ratio) : NULL,
                   c->arm == NULL ? "the cell has no arm" : "this form of the cache has no nominal ratio", NULL);
    ifm_compat_add(c, &reps);
    ifm_compat_put(c, "configuration.warmup", json_integer((json_int_t)c->cell->measure.warmup), NULL, NULL);
}

/* The mean of all samples, which the rates are of; beside it the trimmed mean where the run says how much to trim. */
static void add_time(const struct ifm_compat *c, const char *path, const char *trimmed_path)
{
    const struct ifm_compat_field mean = {path, IFM_M_LATENCY_NS_MEAN, 1e6, "ms", NO_TIME};
    bool cut = c->cell->measure.truncate > 0, older = ifm_compat_is_older(c->from);
    const struct ifm_compat_field trimmed = {older ? path : trimmed_path, IFM_M_LATENCY_NS_TRIMMED_MEAN, 1e6,
                                             "ms, trimmed mean", NO_TIME};
    if (!cut || !older)
        ifm_compat_add(c, &mean);
    if (cut)
        ifm_compat_add(c, &trimmed);
}

/* The same object, told of the cell's baseline. */
static struct ifm_compat of_baseline(const struct ifm_compat *c)
{
    struct ifm_compat baseline = *c;
    baseline.arm = ifm_cell_baseline(c->cell);
    return baseline;
}

static void add_results(const struct ifm_compat *of, const struct ifm_cell *cell)
{
    static const struct ifm_compat_field own_rate = {"results.tokens_per_sec", IFM_M_TOKENS_GENERATED_PER_S, 1,
                                                     "tokens/s", NO_TIME};
    static const struct ifm_compat_field rate = {"results.baseline_tokens_per_sec", IFM_M_TOKENS_GENERATED_PER_S, 1,
                                                 "tokens/s", "no arm of this cell is the baseline"};
    static const struct ifm_compat_field layer_rate = {"results.layer_tokens_per_sec", IFM_M_LAYER_TOKENS_PER_S, 1,
                                                       "layer-tokens/s", NO_TIME};
    struct ifm_compat c = *of;
    c.cell = cell;
    if (cell == NULL || is_cycle_arm(c.arm)) {
        ifm_compat_put(&c, "results", NULL,
                       "this arm measured the inference cycle, and no cell of this run its single passes",
                       "measure decode.inference: [false, true]");
        return;
    }
    const struct ifm_compat baseline = of_baseline(&c);
    add_time(&c, "results.attention_time_ms", "results.attention_time_trimmed_ms");
    ifm_compat_add_all(&c, result_fields, sizeof result_fields / sizeof *result_fields);
    add_tokens(&c, "results.tokens_per_pass");
    add_pass_rate(&c, &own_rate);
    add_pass_rate(&baseline, &rate);
    if (c.arm != NULL && c.arm->ledger.layers > 0)
        ifm_compat_add(&c, &layer_rate);
    const struct ifm_compat_field bus = {"results.memory_efficiency_percent", IFM_M_MEMORY_BUS_PERCENT, 1, "%",
                                         "caches serve the arm, or neither driver nor firmware says what the memory's "
                                         "bus carries"};
    ifm_compat_add(&c, &bus);
}

static void add_cycle(const struct ifm_compat *of, const struct ifm_cell *cell)
{
    static const struct ifm_compat_field baseline_rate = {"inference_cycle.baseline_tokens_per_sec",
                                                          IFM_M_TOKENS_GENERATED_PER_S, 1, "tokens/s", NO_TIME};
    static const struct ifm_compat_field rate = {"inference_cycle.elastic_tokens_per_sec", IFM_M_TOKENS_GENERATED_PER_S,
                                                 1, "tokens/s", NO_TIME};
    static const struct ifm_compat_field speedup = {"inference_cycle.speedup_vs_baseline", IFM_M_SPEEDUP, 1, "1",
                                                    NO_OTHER};
    struct ifm_compat c = *of;
    c.cell = cell;
    c.arm = cell == NULL || of->arm == NULL ? NULL : arm_named(cell, of->arm->name);
    if (c.arm == NULL) {
        ifm_compat_put(&c, "inference_cycle", NULL,
                       "no cell of this run measured the inference cycle of this configuration",
                       "decode --inference --json, or decode.inference: [false, true]");
        return;
    }
    const struct ifm_compat baseline = of_baseline(&c);
    ifm_compat_add_setting(&c, "inference_cycle.decode_tokens", "decode.decode_tokens");
    ifm_compat_put_text(&c, "inference_cycle.cell", cell->name, NULL);
    add_tokens(&c, "inference_cycle.tokens");
    add_time(&baseline, "inference_cycle.baseline_total_ms", "inference_cycle.baseline_total_trimmed_ms");
    add_time(&c, "inference_cycle.elastic_total_ms", "inference_cycle.elastic_total_trimmed_ms");
    ifm_compat_add(&baseline, &baseline_rate);
    ifm_compat_add(&c, &rate);
    ifm_compat_add(&c, &speedup);
}

/* Everything of one arm of one configuration. Without an arm: the device cannot run the cell. */
static void fill(const struct ifm_compat *c, const struct configuration *configuration)
{
    static const struct ifm_compat_field ratio = {"true_ratio", IFM_M_COMPRESSION_RATIO, 1, "1",
                                                  "the bytes that this arm stores are not known"};
    ifm_compat_put_text(c, "cell", c->cell->name, NULL);
    ifm_compat_put_text(c, "arm", c->arm == NULL ? "" : c->arm->name, NULL);
    ifm_compat_put(c, "format", c->arm == NULL ? NULL : json_string(c->arm->variant), NULL, NULL);
    ifm_compat_add(c, &ratio);
    add_build(c);
    add_configuration(c);
    add_results(c, configuration->pass);
    add_cycle(c, configuration->cycle);
    ifm_compat_add_all(c, quality_fields, sizeof quality_fields / sizeof *quality_fields);
}

static size_t count_compressed(const struct ifm_cell *cell)
{
    size_t n = 0;
    for (size_t a = 0; a < cell->n_arms; a++)
        n += is_compressed(&cell->arms[a]);
    return n;
}

/* The arm that stands for a configuration: its first compressed one; else a plain one, of both cells where there is
 * one.
 */
static const struct ifm_arm *leading_arm(const struct configuration *c)
{
    const struct ifm_cell *cell = main_cell(c);
    for (size_t a = 0; a < cell->n_arms; a++)
        if (is_compressed(&cell->arms[a]))
            return &cell->arms[a];
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role != IFM_ROLE_CEILING && arm_named(c->cycle, cell->arms[a].name) != NULL)
            return &cell->arms[a];
    return ifm_compat_first_arm(cell);
}

static json_t *arm_json(const struct ifm_publication *publication, const struct configuration *configuration,
                        const struct ifm_arm *arm)
{
    const struct ifm_compat c = ifm_compat_begin(publication, main_cell(configuration), arm);
    fill(&c, configuration);
    return ifm_compat_end(&c);
}

/* "arms", where there is more than the one that leads. Gives `object`. */
static json_t *with_arms(json_t *object, const struct ifm_publication *publication,
                         const struct configuration *configuration)
{
    const struct ifm_cell *cell = main_cell(configuration);
    if (count_compressed(cell) < 2)
        return object;
    json_t *arms = json_array();
    for (size_t a = 0; a < cell->n_arms; a++)
        if (is_compressed(&cell->arms[a]))
            json_array_append_new(arms, arm_json(publication, configuration, &cell->arms[a]));
    json_object_set_new(object, "arms", arms);
    return object;
}

static json_t *cell_json(const struct ifm_publication *publication, const struct configuration *configuration)
{
    const struct ifm_arm *arm = leading_arm(configuration);
    return with_arms(arm_json(publication, configuration, arm), publication, configuration);
}

/* Was a level of the caches probed for the cell? Then its other read probes, if there are any, are of memory. */
static bool has_levels(const struct ifm_cell *cell)
{
    bool has = false;
    for (size_t a = 0; a < cell->n_arms; a++)
        has |= cell->arms[a].ceiling >= IFM_CEILING_L1;
    return has;
}

/* The read ceiling of the first cell that memory serves: in a smaller one a probe measures a cache. */
static const struct ifm_value *memory_ceiling(const struct ifm_compat *c, const char **reason)
{
    const struct ifm_plan *plan = c->from->plan;
    const struct ifm_value *found = NULL;
    *reason = NO_CEILING;
    for (size_t i = 0; i < plan->n_cells && found == NULL; i++) {
        const struct ifm_cell *cell = &plan->cells[i];
        const struct ifm_value *value = ifm_derived_value(c->from->derived, cell->name, "", IFM_M_CEILING_READ);
        if (value == NULL ? has_levels(cell) : cell->cache_resident && !has_levels(cell))
            *reason = "caches serve the cells of this run: the rate of their probes is not the memory's";
        else
            found = value;
    }
    return found;
}

static void add_machine(const struct ifm_compat *c)
{
    const char *no_bandwidth, *on_gpu = "this run used the device cuda: gpu.measured_bw_gbs is its memory's";
    const struct ifm_value *memory = memory_ceiling(c, &no_bandwidth);
    const char *path = is_gpu(c) ? "gpu.measured_bw_gbs" : "cpu.measured_bw_gbs";
    const struct ifm_compat_field bandwidth = {path, IFM_M_CEILING_READ, 1e9, "GB/s", no_bandwidth};
    const struct ifm_value *bus = ifm_derived_value(c->from->derived, c->cell->name, "", IFM_M_MEMORY_BUS);
    const struct ifm_compat_field on_paper = {is_gpu(c) ? "gpu.theoretical_bw_gbs" : "cpu.theoretical_bw_gbs",
                                              IFM_M_MEMORY_BUS, 1e9, "GB/s", NO_BUS};
    const struct ifm_gpu *gpu = c->from->plan->machine == NULL ? NULL : c->from->plan->machine->gpu;
    char reason[128], sm[32] = "";
    if (gpu != NULL)
        snprintf(sm, sizeof sm, "%u.%u", gpu->major, gpu->minor);
    snprintf(reason, sizeof reason, "this run used the device %s, which is no GPU", c->from->plan->device);
    if (is_gpu(c)) {
        ifm_compat_put_text(c, "gpu.name", ifm_machine_gpu(c->from->events), "run.log does not name the GPU");
        ifm_compat_put_text(c, "gpu.sm", sm, NULL);
        ifm_compat_add_value(c, &on_paper, bus);
        ifm_compat_put(c, "cpu.measured_bw_gbs", NULL, on_gpu, NULL);
    } else {
        ifm_compat_put(c, "gpu", NULL, reason, NULL);
    }
    ifm_compat_add_value(c, &bandwidth, memory);
    ifm_compat_put_text(c, "cpu.name", ifm_machine_cpu(c->from->events), "run.log does not name the processor");
    ifm_compat_put(c, "cpu.threads", json_integer(c->cell->threads), NULL, NULL);
    if (is_gpu(c))
        ifm_compat_put(c, "cpu.theoretical_bw_gbs", NULL, on_gpu, NULL);
    else
        ifm_compat_add_value(c, &on_paper, bus);
}

bool ifm_compat_has_elastic_kv(const struct ifm_plan *plan)
{
    for (size_t i = 0; i < plan->n_cells; i++)
        if (is_decode(&plan->cells[i]))
            return true;
    return false;
}

static json_t *run_json(const struct ifm_publication *publication, const struct configuration *first)
{
    const struct ifm_compat c = ifm_compat_begin(publication, main_cell(first), leading_arm(first));
    ifm_compat_put_text(&c, "benchmark_type", "elastic_kv_decode", NULL);
    ifm_compat_put_text(&c, "brand", "Inferometer", NULL);
    ifm_compat_put_text(&c, "run_id", publication->derived->run_id, NULL);
    add_machine(&c);
    fill(&c, first);
    return with_arms(ifm_compat_end(&c), publication, first);
}

json_t *ifm_compat_elastic_kv(const struct ifm_publication *publication)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct configuration *all = IFM_ARENA_ARRAY(arena, struct configuration, publication->plan->n_cells + 1);
    size_t n = find_configurations(publication->plan, all);
    json_t *object = n > 0 ? run_json(publication, &all[0]) : json_object();
    if (n > 1) {
        json_t *cells = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(cells, cell_json(publication, &all[i]));
        json_object_set_new(object, "cells", cells);
    }
    ifm_arena_destroy(arena);
    return object;
}
