/* elastic_kv.json and `decode --json`: the specification's JSON of a compressed KV cache, from our numbers alone.
 *
 * One object tells of one compressed arm. The top level is the first compressed arm of the first cell; when that cell
 * has several, all of them stand in "arms"; when there are several configurations, each stands in "cells" the same way.
 * A configuration is a cell of single passes, with the cell of the same run that measured its inference cycle: the same
 * settings in all but decode.inference. What no such cell measured is null: nothing is put together from two
 * configurations, and never from two runs. */
#include "document/facts.h"
#include "publish/compat/compat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NO_CEILING "no ceiling was measured beside this arm (ceilings: read,flops)"
#define NO_CHECK "no check recorded what compression did to the output"
#define NO_TIME "the time of this arm was not derived"

static const struct ifm_compat_field result_fields[] = {
    {"results", "attention_time_std", IFM_M_LATENCY_NS_SD, 1e6, "ms", NO_TIME, ""},
    {"results", "coefficient_of_variation", IFM_M_LATENCY_CV_PERCENT, 100, "1", NO_TIME, ""},
    {"results", "tokens_per_sec", IFM_M_TOKENS_GENERATED_PER_S, 1, "tokens/s", NO_TIME, ""},
    {"results", "speedup_vs_baseline", IFM_M_SPEEDUP, 1, "1", "there is no other arm that this one is compared with",
     ""},
    {"results", "memory_bandwidth_gbs", IFM_M_BANDWIDTH_BYTES_PER_S, 1e9, "GB/s", NO_TIME, ""},
    {"results", "memory_efficiency_measured_percent", IFM_M_CEILING_READ_PERCENT, 1, "%", NO_CEILING, ""},
    {"results", "roofline_score", IFM_M_ROOFLINE_SCORE, 1, "1", NO_CEILING, ""},
};
static const struct ifm_compat_field quality_fields[] = {
    {"quality", "loss_rms_rel", IFM_M_LOSS_RMS_REL, 1, "1", NO_CHECK, ""},
    {"quality", "attention_kl_nats", IFM_M_ATTENTION_KL_NATS, 1, "nats", NO_CHECK, ""},
    {"quality", "loss_cosine", IFM_M_LOSS_COSINE, 1, "1", NO_CHECK, ""},
    {"quality", "error_rms_rel", IFM_M_ERROR_RMS_REL, 1, "1", "no check against the oracle was recorded", ""},
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

/* What makes an arm one of ours: a cache that it keeps, compressed or not. */
static bool is_subject(const struct ifm_arm *arm)
{
    return arm->role != IFM_ROLE_CEILING;
}

static bool is_compressed(const struct ifm_arm *arm)
{
    return is_subject(arm) && strcmp(arm->variant, "f16") != 0;
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

static bool same_settings(const struct ifm_arm *a, const struct ifm_arm *b)
{
    if (a->n_settings != b->n_settings || strcmp(a->variant, b->variant) != 0 || a->role != b->role)
        return false;
    for (size_t i = 0; i < a->n_settings; i++) {
        const char *other = ifm_compat_setting(b, a->settings[i].path);
        if (strcmp(a->settings[i].path, "decode.inference") != 0 &&
            (other == NULL || strcmp(a->settings[i].text, other) != 0))
            return false;
    }
    return true;
}

/* Every arm of the one is an arm of the other, under the same settings in all but decode.inference. */
static bool same_configuration(const struct ifm_cell *pass, const struct ifm_cell *cycle)
{
    if (pass->threads != cycle->threads || pass->n_arms != cycle->n_arms || pass->n_arms == 0)
        return false;
    for (size_t a = 0; a < pass->n_arms; a++) {
        const struct ifm_arm *arm = &pass->arms[a], *other = arm_named(cycle, arm->name);
        if (is_subject(arm) && (other == NULL || !same_settings(arm, other)))
            return false;
    }
    return true;
}

static bool is_decode(const struct ifm_cell *cell)
{
    return strcmp(cell->workload, "decode") == 0;
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

static void add_build(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell,
                      const struct ifm_arm *arm, struct ifm_siblings *siblings)
{
    const struct ifm_compat_field inner = {"build", "inner_loops", IFM_M_INNER_STEPS, 1, "steps", NO_TIME, ""};
    ifm_compat_add_arm(object, &inner, publication, cell, arm, siblings);
    json_t *build = json_object_get(object, "build");
    json_object_set_new(build, "cuda_graphs", json_false()); /* decode has no kernels of a GPU */
    double truncate = cell->measure.truncate;
    json_object_set_new(build, "truncate_percent",
                        truncate == floor(truncate) ? json_integer((json_int_t)truncate) : json_real(truncate));
}

static void add_configuration(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell,
                              const struct ifm_arm *arm, struct ifm_siblings *siblings)
{
    static const struct {
        const char *name, *path;
    } rows[] = {{"seq_len", "decode.kv_len"},
                {"heads", "decode.q_heads"},
                {"kv_heads", "decode.kv_heads"},
                {"head_dim", "decode.head_dim"},
                {"batch", "decode.batch"}};
    static const struct ifm_compat_field reps = {"configuration",         "reps", IFM_M_SAMPLES_COUNT, 1, "samples",
                                                 "no sample was counted", ""};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ifm_compat_add_setting(object, "configuration", rows[i].name, arm, rows[i].path, siblings);
    json_t *configuration = json_object_get(object, "configuration");
    int ratio = nominal_ratio(arm);
    json_object_set_new(configuration, "compression", ratio > 0 ? json_integer(ratio) : json_null());
    if (ratio == 0)
        ifm_siblings_absent(siblings, "configuration.compression",
                            arm == NULL ? "the cell has no arm" : "this form of the cache has no nominal ratio", NULL);
    ifm_compat_add_arm(object, &reps, publication, cell, arm, siblings);
    json_object_set_new(configuration, "warmup", json_integer((json_int_t)cell->measure.warmup));
}

static void add_null(json_t *object, const char *name, const char *reason, const char *remedy,
                     struct ifm_siblings *siblings)
{
    json_object_set_new(object, name, json_null());
    ifm_siblings_absent(siblings, name, reason, remedy);
}

/* The mean, or the trimmed mean where the run says how much to trim; its unit says which. */
static struct ifm_compat_field time_field(const struct ifm_cell *cell, const char *group, const char *name)
{
    bool trimmed = cell->measure.truncate > 0;
    return (struct ifm_compat_field){group,
                                     name,
                                     trimmed ? IFM_M_LATENCY_NS_TRIMMED_MEAN : IFM_M_LATENCY_NS_MEAN,
                                     1e6,
                                     trimmed ? "ms, trimmed mean" : "ms",
                                     NO_TIME,
                                     ""};
}

static void add_results(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell,
                        const struct ifm_arm *arm, struct ifm_siblings *siblings)
{
    static const struct ifm_compat_field baseline = {"results",
                                                     "baseline_tokens_per_sec",
                                                     IFM_M_TOKENS_GENERATED_PER_S,
                                                     1,
                                                     "tokens/s",
                                                     "no arm of this cell is the baseline",
                                                     ""};
    if (cell == NULL || is_cycle_arm(arm)) {
        add_null(object, "results", "this arm measured the inference cycle, and no cell of this run its single passes",
                 "measure decode.inference: [false, true]", siblings);
        return;
    }
    const struct ifm_compat_field time = time_field(cell, "results", "attention_time_ms");
    ifm_compat_add_arm(object, &time, publication, cell, arm, siblings);
    for (size_t i = 0; i < sizeof result_fields / sizeof *result_fields; i++)
        ifm_compat_add_arm(object, &result_fields[i], publication, cell, arm, siblings);
    ifm_compat_add_arm(object, &baseline, publication, cell, ifm_compat_baseline_arm(cell), siblings);
    json_object_set_new(json_object_get(object, "results"), "memory_efficiency_percent", json_null());
    ifm_siblings_absent(siblings, "results.memory_efficiency_percent",
                        "no datasheet says what the memory of this machine could give",
                        "memory_efficiency_measured_percent is the share of the measured ceiling");
}

static void add_cycle(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell,
                      const struct ifm_arm *of, struct ifm_siblings *siblings)
{
    static const char group[] = "inference_cycle";
    const struct ifm_arm *arm = cell == NULL || of == NULL ? NULL : arm_named(cell, of->name);
    if (arm == NULL) {
        add_null(object, group, "no cell of this run measured the inference cycle of this configuration",
                 "decode --inference --json, or decode.inference: [false, true]", siblings);
        return;
    }
    const struct ifm_arm *baseline = ifm_compat_baseline_arm(cell);
    const struct ifm_compat_field base_time = time_field(cell, group, "baseline_total_ms"),
                                  own_time = time_field(cell, group, "elastic_total_ms");
    const struct ifm_compat_field rates[] = {
        {group, "baseline_tokens_per_sec", IFM_M_TOKENS_GENERATED_PER_S, 1, "tokens/s", NO_TIME, ""},
        {group, "elastic_tokens_per_sec", IFM_M_TOKENS_GENERATED_PER_S, 1, "tokens/s", NO_TIME, ""},
        {group, "speedup_vs_baseline", IFM_M_SPEEDUP, 1, "1", "there is no other arm that this one is compared with",
         ""},
    };
    ifm_compat_add_setting(object, group, "decode_tokens", arm, "decode.decode_tokens", siblings);
    json_object_set_new(json_object_get(object, group), "cell", json_string(cell->name));
    ifm_compat_add_arm(object, &base_time, publication, cell, baseline, siblings);
    ifm_compat_add_arm(object, &own_time, publication, cell, arm, siblings);
    ifm_compat_add_arm(object, &rates[0], publication, cell, baseline, siblings);
    ifm_compat_add_arm(object, &rates[1], publication, cell, arm, siblings);
    ifm_compat_add_arm(object, &rates[2], publication, cell, arm, siblings);
}

/* Everything of one arm of one configuration. `arm` NULL: the device cannot run the cell. */
static void fill(json_t *object, const struct ifm_publication *publication, const struct configuration *c,
                 const struct ifm_arm *arm, struct ifm_siblings *siblings)
{
    static const struct ifm_compat_field ratio = {
        "", "true_ratio", IFM_M_COMPRESSION_RATIO, 1, "1", "the bytes that this arm stores are not known", ""};
    const struct ifm_cell *cell = main_cell(c);
    json_object_set_new(object, "cell", json_string(cell->name));
    json_object_set_new(object, "arm", arm == NULL ? json_null() : json_string(arm->name));
    json_object_set_new(object, "format", arm == NULL ? json_null() : json_string(arm->variant));
    ifm_compat_add_arm(object, &ratio, publication, cell, arm, siblings);
    add_build(object, publication, cell, arm, siblings);
    add_configuration(object, publication, cell, arm, siblings);
    add_results(object, publication, c->pass, arm, siblings);
    add_cycle(object, publication, c->cycle, arm, siblings);
    for (size_t i = 0; i < sizeof quality_fields / sizeof *quality_fields; i++)
        ifm_compat_add_arm(object, &quality_fields[i], publication, cell, arm, siblings);
}

static size_t count_compressed(const struct ifm_cell *cell)
{
    size_t n = 0;
    for (size_t a = 0; a < cell->n_arms; a++)
        n += is_compressed(&cell->arms[a]);
    return n;
}

/* The arm that stands for a cell: its first compressed one; the plain one where there is no other. */
static const struct ifm_arm *leading_arm(const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (is_compressed(&cell->arms[a]))
            return &cell->arms[a];
    return ifm_compat_first_arm(cell);
}

/* "arms", where there is more than the one that leads. */
static void add_arms(json_t *object, const struct ifm_publication *publication, const struct configuration *c)
{
    const struct ifm_cell *cell = main_cell(c);
    if (count_compressed(cell) < 2)
        return;
    json_t *arms = json_array();
    for (size_t a = 0; a < cell->n_arms; a++) {
        if (!is_compressed(&cell->arms[a]))
            continue;
        json_t *item = json_object();
        struct ifm_siblings siblings = ifm_siblings_new();
        fill(item, publication, c, &cell->arms[a], &siblings);
        ifm_siblings_attach(item, &siblings);
        json_array_append_new(arms, item);
    }
    json_object_set_new(object, "arms", arms);
}

static void add_machine(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell,
                        struct ifm_siblings *siblings)
{
    static const struct ifm_compat_field bandwidth = {
        "cpu", "measured_bw_gbs", IFM_M_CEILING_READ, 1e9, "GB/s", NO_CEILING, ""};
    char reason[128];
    const char *machine = ifm_event_machine(publication->events);
    snprintf(reason, sizeof reason, "this run used the device %s, which is no GPU", publication->plan->device);
    add_null(object, "gpu", reason, NULL, siblings);
    ifm_compat_add(object, &bandwidth, ifm_derived_find(publication->derived, cell->name, "", bandwidth.metric),
                   siblings);
    json_t *cpu = json_object_get(object, "cpu");
    json_object_set_new(cpu, "name", machine[0] == '\0' ? json_null() : json_string(machine));
    json_object_set_new(cpu, "threads", json_integer(cell->threads));
    json_object_set_new(cpu, "theoretical_bw_gbs", json_null());
    if (machine[0] == '\0')
        ifm_siblings_absent(siblings, "cpu.name", "run.log does not name the processor", NULL);
    ifm_siblings_absent(siblings, "cpu.theoretical_bw_gbs",
                        "no datasheet says what the memory of this machine could give",
                        "measured_bw_gbs is what it was seen to give");
}

static json_t *cell_json(const struct ifm_publication *publication, const struct configuration *c)
{
    json_t *object = json_object();
    struct ifm_siblings siblings = ifm_siblings_new();
    fill(object, publication, c, leading_arm(main_cell(c)), &siblings);
    ifm_siblings_attach(object, &siblings);
    add_arms(object, publication, c);
    return object;
}

bool ifm_compat_has_elastic_kv(const struct ifm_plan *plan)
{
    for (size_t i = 0; i < plan->n_cells; i++)
        if (is_decode(&plan->cells[i]))
            return true;
    return false;
}

json_t *ifm_compat_elastic_kv(const struct ifm_publication *publication)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct configuration *all = IFM_ARENA_ARRAY(arena, struct configuration, publication->plan->n_cells + 1);
    size_t n = find_configurations(publication->plan, all);
    json_t *object = json_object();
    if (n > 0) {
        struct ifm_siblings siblings = ifm_siblings_new();
        json_object_set_new(object, "benchmark_type", json_string("elastic_kv_decode"));
        json_object_set_new(object, "brand", json_string("Inferometer"));
        json_object_set_new(object, "run_id", json_string(publication->derived->run_id));
        add_machine(object, publication, main_cell(&all[0]), &siblings);
        fill(object, publication, &all[0], leading_arm(main_cell(&all[0])), &siblings);
        ifm_siblings_attach(object, &siblings);
        add_arms(object, publication, &all[0]);
    }
    if (n > 1) {
        json_t *cells = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(cells, cell_json(publication, &all[i]));
        json_object_set_new(object, "cells", cells);
    }
    ifm_arena_destroy(arena);
    return object;
}
