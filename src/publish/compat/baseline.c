/* summary.json and config_NN.json: the specification's files of a baseline of attention, one configuration a cell.
 *
 * A configuration has its shape and its arms; an arm has statistics, rates, memory and its raw latencies. Raw latencies
 * are the record's own samples, in time order; above RAW_MOST they are null and stand in samples/. */
#include "publish/compat/compat.h"

#include "base/text.h"
#include "model/machine_facts.h"
#include <stdio.h>
#include <string.h>

enum { RAW_MOST = 10000 };
#define NO_CEILINGS "the ceilings read and flops were not both measured beside this arm (ceilings: read,flops)"

static const struct ifm_compat_field fields[] = {
    {"statistics", "mean_ms", IFM_M_LATENCY_NS_MEAN, 1e6, "ms", "the mean latency of this arm was not derived", ""},
    {"statistics", "std_ms", IFM_M_LATENCY_NS_SD, 1e6, "ms", "the spread of this arm was not derived", ""},
    {"statistics", "coefficient_of_variation", IFM_M_LATENCY_CV_PERCENT, 100, "1",
     "the spread of this arm was not derived", ""},
    {"statistics", "n_samples", IFM_M_SAMPLES_COUNT, 1, "samples", "no sample was counted", ""},
    {"performance", "throughput_gflops", IFM_M_FLOPS_PER_S, 1e9, "GFLOP/s", "this arm's ledger promises no operations",
     ""},
    {"performance", "bandwidth_gbs", IFM_M_BANDWIDTH_BYTES_PER_S, 1e9, "GB/s", "this arm's ledger promises no bytes",
     ""},
    {"performance", "arithmetic_intensity", IFM_M_ARITHMETIC_INTENSITY, 1, "FLOP/B",
     "this arm's ledger lacks operations or bytes", ""},
    {"performance", "roofline_score", IFM_M_ROOFLINE_SCORE, 1, "1", NO_CEILINGS, ""},
};

/* ---- shape ---- */

/* The specification's shapes by name, "b32h8s512" with heads of 64, in place of the single settings; the plan divides
 * their batch by attention.scale. */
static bool named_shape(const struct ifm_arm *arm, uint64_t *batch, uint64_t *heads, uint64_t *seq)
{
    const char *name = ifm_compat_setting(arm, "attention.matrix");
    unsigned b, h, s;
    if (name == NULL || sscanf(name, "b%uh%us%u", &b, &h, &s) != 3)
        return false;
    *batch = b;
    *heads = h;
    *seq = s;
    return true;
}

static void add_shape(json_t *object, const struct ifm_arm *arm, struct ifm_siblings *siblings)
{
    enum { NAMED_DIM = 64 };
    uint64_t batch, heads, seq, scale = 1;
    const char *text = ifm_compat_setting(arm, "attention.scale"),
               *dtype = ifm_compat_setting(arm, "attention.storage"),
               *causal = ifm_compat_setting(arm, "attention.causal");
    if (text != NULL && (!ifm_parse_u64(text, &scale) || scale == 0))
        scale = 1;
    if (named_shape(arm, &batch, &heads, &seq)) {
        json_object_set_new(object, "batch", json_integer((json_int_t)(batch / scale > 0 ? batch / scale : 1)));
        json_object_set_new(object, "heads", json_integer((json_int_t)heads));
        json_object_set_new(object, "kv_heads", json_integer((json_int_t)heads));
        json_object_set_new(object, "seq", json_integer((json_int_t)seq));
        json_object_set_new(object, "dim", json_integer(NAMED_DIM));
    } else {
        ifm_compat_add_setting(object, "", "batch", arm, "attention.batch", siblings);
        ifm_compat_add_setting(object, "", "heads", arm, "attention.q_heads", siblings);
        ifm_compat_add_setting(object, "", "kv_heads", arm, "attention.kv_heads", siblings);
        ifm_compat_add_setting(object, "", "seq", arm, "attention.seq_len", siblings);
        ifm_compat_add_setting(object, "", "dim", arm, "attention.head_dim", siblings);
        if (scale > 1 && ifm_parse_u64(ifm_compat_setting(arm, "attention.batch"), &batch))
            json_object_set_new(object, "batch", json_integer((json_int_t)(batch / scale > 0 ? batch / scale : 1)));
    }
    json_object_set_new(object, "dtype", dtype == NULL ? json_null() : json_string(dtype));
    json_object_set_new(object, "causal", causal == NULL ? json_null() : json_boolean(strcmp(causal, "true") == 0));
}

/* ---- an arm ---- */

static const struct ifm_number *number_of(const struct ifm_publication *publication, const struct ifm_cell *cell,
                                          const char *arm, enum ifm_metric_id metric)
{
    return ifm_derived_find(publication->derived, cell->name, arm, metric);
}

/* The median with the interval that the run asked for: by resampling, or of order statistics. */
static void add_median(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell,
                       const struct ifm_arm *arm, struct ifm_siblings *siblings)
{
    bool resampled = cell->measure.resamples > 0;
    const struct ifm_compat_field field = {"statistics",
                                           "median_ms",
                                           resampled ? IFM_M_LATENCY_NS_P50_BOOTSTRAP : IFM_M_LATENCY_NS_P50,
                                           1e6,
                                           "ms",
                                           "the median latency of this arm was not derived",
                                           ""};
    bool there = ifm_compat_add_arm(object, &field, publication, cell, arm, siblings);
    json_t *statistics = json_object_get(object, "statistics");
    const struct ifm_number *number = number_of(publication, cell, arm->name, field.metric);
    const char *why = number == NULL ? field.reason : !there ? number->value.reason : number->value.text;
    if (there && number->value.has_interval) {
        json_object_set_new(statistics, "ci_95_lower", json_real(number->value.low / field.divide));
        json_object_set_new(statistics, "ci_95_upper", json_real(number->value.high / field.divide));
        json_object_set_new(statistics, "ci_method",
                            json_string(resampled ? number->value.text : "order statistics at the effective size"));
        return;
    }
    static const char *const names[] = {"ci_95_lower", "ci_95_upper", "ci_method"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        snprintf(path, sizeof path, "statistics.%s", names[i]);
        json_object_set_new(statistics, names[i], json_null());
        ifm_siblings_absent(siblings, path,
                            why == NULL || why[0] == '\0' ? "no interval: too few independent samples" : why,
                            "measure more samples (measure.repeats)");
    }
}

/* Which roof limits the arm, by its intensity against the interval of the measured ridge point. */
static void add_regime(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell,
                       const struct ifm_arm *arm, struct ifm_siblings *siblings)
{
    const struct ifm_compat_field field = {
        "performance", "ridge_point", IFM_M_RIDGE_POINT, 1, "FLOP/B", NO_CEILINGS, ""};
    const struct ifm_number *ridge = number_of(publication, cell, "", IFM_M_RIDGE_POINT),
                            *own = number_of(publication, cell, arm->name, IFM_M_ARITHMETIC_INTENSITY);
    bool there = ifm_compat_add(object, &field, ridge, siblings);
    json_t *performance = json_object_get(object, "performance");
    const char *reason = NO_CEILINGS, *regime = "";
    if (there && own != NULL && own->value.state == IFM_STATE_OK) {
        regime = ifm_derive_regime(&ridge->value, &own->value);
        reason = "the intensity lies inside the interval of the ridge point: either roof may limit the arm";
    }
    json_object_set_new(performance, "regime", regime[0] == '\0' ? json_null() : json_string(regime));
    if (regime[0] == '\0')
        ifm_siblings_absent(siblings, "performance.regime", reason, NULL);
}

static void add_raw(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell, size_t arm,
                    struct ifm_siblings *siblings)
{
    static const char name[] = "raw_latencies_ms";
    const struct ifm_number *count = number_of(publication, cell, cell->arms[arm].name, IFM_M_SAMPLES_COUNT),
                            *mean = number_of(publication, cell, cell->arms[arm].name, IFM_M_LATENCY_NS_MEAN);
    char reason[160] = "the record is not at hand", remedy[64] = "";
    if (mean != NULL && mean->value.state != IFM_STATE_OK) /* what may not be summed up is not shown singly either */
        snprintf(reason, sizeof reason, "%s", mean->value.reason);
    if (count != NULL && count->value.state == IFM_STATE_OK && count->value.number > RAW_MOST) {
        snprintf(reason, sizeof reason, "%.0f samples are more than the %d that stand in this file",
                 count->value.number, (int)RAW_MOST);
        snprintf(remedy, sizeof remedy, "samples/%u-latency.csv has all of them", cell->index);
    }
    json_object_set_new(siblings->units, name, json_string("ms"));
    struct ifm_arena *arena = ifm_arena_create();
    double *times = IFM_ARENA_ARRAY(arena, double, RAW_MOST);
    size_t n = publication->facts == NULL || mean == NULL || mean->value.state != IFM_STATE_OK
                   ? 0
                   : ifm_derive_times(publication->facts, cell->index, arm, RAW_MOST, times);
    if (n == 0) {
        json_object_set_new(object, name, json_null());
        ifm_siblings_absent(siblings, name, reason, remedy);
    } else {
        json_t *array = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(array, json_real(times[i] / 1e6));
        json_object_set_new(object, name, array);
    }
    ifm_arena_destroy(arena);
}

static json_t *arm_json(const struct ifm_publication *publication, const struct ifm_cell *cell, size_t index, bool raw)
{
    const struct ifm_arm *arm = &cell->arms[index];
    json_t *object = json_object();
    struct ifm_siblings siblings = ifm_siblings_new();
    json_object_set_new(object, "cell", json_string(cell->name));
    json_object_set_new(object, "arm", json_string(arm->name));
    json_object_set_new(object, "baseline", json_boolean(arm->role == IFM_ROLE_BASELINE));
    add_median(object, publication, cell, arm, &siblings);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        ifm_compat_add_arm(object, &fields[i], publication, cell, arm, &siblings);
    add_regime(object, publication, cell, arm, &siblings);
    json_object_set_new(object, "memory", json_pack("{s:f}", "peak_mb", (double)arm->memory / 1e6));
    json_object_set_new(siblings.units, "memory.peak_mb", json_string("MB, of the arm's own buffers"));
    if (raw)
        add_raw(object, publication, cell, index, &siblings);
    ifm_siblings_attach(object, &siblings);
    return object;
}

/* ---- files ---- */

static bool is_attention(const struct ifm_cell *cell)
{
    return strcmp(cell->workload, "attention") == 0;
}

size_t ifm_compat_count_baseline(const struct ifm_plan *plan)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n_cells; i++)
        n += is_attention(&plan->cells[i]);
    return n;
}

static json_t *config_json(const struct ifm_publication *publication, const struct ifm_cell *cell, bool raw)
{
    json_t *object = json_object(), *arms = json_array();
    struct ifm_siblings siblings = ifm_siblings_new();
    json_object_set_new(object, "name", json_string(cell->name));
    add_shape(object, ifm_compat_first_arm(cell), &siblings);
    json_object_set_new(object, "threads", json_integer(cell->threads));
    json_object_set_new(object, "warmup", json_integer((json_int_t)cell->measure.warmup));
    json_object_set_new(object, "resamples", json_integer((json_int_t)cell->measure.resamples));
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role != IFM_ROLE_CEILING)
            json_array_append_new(arms, arm_json(publication, cell, a, raw));
    if (json_array_size(arms) == 0)
        ifm_siblings_absent(&siblings, "arms", cell->unsupported, NULL);
    json_object_set_new(object, "arms", arms);
    ifm_siblings_attach(object, &siblings);
    return object;
}

json_t *ifm_compat_baseline_config(const struct ifm_publication *publication, size_t index)
{
    const struct ifm_plan *plan = publication->plan;
    for (size_t i = 0, k = 0; i < plan->n_cells; i++)
        if (is_attention(&plan->cells[i]) && k++ == index)
            return config_json(publication, &plan->cells[i], true);
    return json_object();
}

static bool was_measured(const struct ifm_publication *publication, const struct ifm_cell *cell)
{
    const struct ifm_arm *arm = ifm_compat_first_arm(cell);
    const struct ifm_number *mean = arm == NULL ? NULL : number_of(publication, cell, arm->name, IFM_M_LATENCY_NS_MEAN);
    return mean != NULL && mean->value.state == IFM_STATE_OK;
}

json_t *ifm_compat_baseline_summary(const struct ifm_publication *publication)
{
    const struct ifm_plan *plan = publication->plan;
    const char *machine = ifm_machine_cpu(publication->events);
    json_t *object = json_object(), *configs = json_array();
    json_int_t total = 0, tested = 0;
    for (size_t i = 0; i < plan->n_cells; i++) {
        const struct ifm_cell *cell = &plan->cells[i];
        char file[48];
        if (!is_attention(cell))
            continue;
        json_t *config = config_json(publication, cell, false);
        snprintf(file, sizeof file, "config_%02lld.json", (long long)++total);
        json_object_set_new(config, "file", json_string(file));
        json_array_append_new(configs, config);
        tested += was_measured(publication, cell);
    }
    json_object_set_new(object, "metadata",
                        json_pack("{s:s, s:s, s:o, s:o, s:I, s:I}", "run_id", publication->derived->run_id, "device",
                                  plan->device, "cpu", machine[0] == '\0' ? json_null() : json_string(machine), "seed",
                                  plan->seed <= INT64_MAX ? json_integer((json_int_t)plan->seed) : json_null(),
                                  "configs_tested", tested, "configs_total", total));
    json_object_set_new(object, "configs", configs);
    return object;
}
