/* summary.json and config_NN.json: the specification's files of a baseline of attention, one configuration a cell.
 *
 * A configuration has its shape and its arms; an arm has statistics, rates, memory and its raw latencies. Raw latencies
 * are the record's own samples, in time order; above RAW_MOST they are null and stand in samples/. */
#include "publish/compat/compat.h"

#include "model/machine_facts.h"
#include "publish/summary.h"
#include <stdio.h>
#include <string.h>

enum { RAW_MOST = 10000 };
#define NO_CEILINGS "the ceilings read and flops were not both measured beside this arm (ceilings: read,flops)"

static const struct ifm_compat_field fields[] = {
    {"statistics.mean_ms", IFM_M_LATENCY_NS_MEAN, 1e6, "ms", "the mean latency of this arm was not derived"},
    {"statistics.std_ms", IFM_M_LATENCY_NS_SD, 1e6, "ms", "the spread of this arm was not derived"},
    {"statistics.p95_ms", IFM_M_LATENCY_NS_P95, 1e6, "ms", "the 95th percentile of this arm was not derived"},
    {"statistics.p99_ms", IFM_M_LATENCY_NS_P99, 1e6, "ms", "the 99th percentile of this arm was not derived"},
    {"statistics.coefficient_of_variation", IFM_M_LATENCY_CV_PERCENT, 100, "1",
     "the spread of this arm was not derived"},
    {"statistics.n_samples", IFM_M_SAMPLES_COUNT, 1, "samples", "no sample was counted"},
    {"performance.throughput_gflops", IFM_M_FLOPS_PER_S, 1e9, "GFLOP/s", "this arm's ledger promises no operations"},
    {"performance.bandwidth_gbs", IFM_M_BANDWIDTH_BYTES_PER_S, 1e9, "GB/s", "this arm's ledger promises no bytes"},
    {"performance.arithmetic_intensity", IFM_M_ARITHMETIC_INTENSITY, 1, "FLOP/B",
     "this arm's ledger lacks operations or bytes"},
    {"performance.roofline_score", IFM_M_ROOFLINE_SCORE, 1, "1", NO_CEILINGS},
};

/* ---- shape ---- */

static bool is_attention(const struct ifm_cell *cell)
{
    return strcmp(cell->workload, "attention") == 0;
}

enum { SHAPE = 5, NAMED_DIM = 64 };

/* The specification's shapes by name, "b32h8s512" with heads of 64, in place of the single settings. */
static bool named_shape(const struct ifm_arm *arm, uint64_t shape[SHAPE])
{
    const char *name = ifm_compat_setting(arm, "attention.matrix");
    unsigned b, h, s;
    if (name == NULL || sscanf(name, "b%uh%us%u", &b, &h, &s) != 3)
        return false;
    memcpy(shape, (uint64_t[SHAPE]){b, h, h, s, NAMED_DIM}, SHAPE * sizeof *shape);
    return true;
}

/* The plan divides the batch by attention.scale. */
static void add_shape(const struct ifm_compat *c)
{
    static const char *const rows[SHAPE][2] = {{"batch", "attention.batch"},
                                               {"heads", "attention.q_heads"},
                                               {"kv_heads", "attention.kv_heads"},
                                               {"seq", "attention.seq_len"},
                                               {"dim", "attention.head_dim"}};
    uint64_t shape[SHAPE], scale = 1;
    const char *text = ifm_compat_setting(c->arm, "attention.scale");
    const char *dtype = ifm_compat_setting(c->arm, "attention.storage");
    const char *causal = ifm_compat_setting(c->arm, "attention.causal");
    bool named = named_shape(c->arm, shape);
    if (text != NULL && (!ifm_parse_u64(text, &scale) || scale == 0))
        scale = 1;
    for (size_t i = 0; i < SHAPE; i++)
        if (named)
            ifm_compat_put(c, rows[i][0], json_integer((json_int_t)shape[i]), NULL, NULL);
        else
            ifm_compat_add_setting(c, rows[i][0], rows[i][1]);
    if (scale > 1 && (named || ifm_parse_u64(ifm_compat_setting(c->arm, rows[0][1]), &shape[0])))
        ifm_compat_put(c, rows[0][0], json_integer((json_int_t)(shape[0] / scale > 0 ? shape[0] / scale : 1)), NULL,
                       NULL);
    ifm_compat_put_text(c, "dtype", dtype == NULL ? "" : dtype, NULL);
    ifm_compat_put(c, "causal", causal == NULL ? NULL : json_boolean(strcmp(causal, "true") == 0), NULL, NULL);
}

static const char *chosen_of(const struct ifm_arm *arm, const char *path)
{
    for (size_t i = 0; i < arm->n_chosen; i++)
        if (strcmp(arm->chosen[i].path, path) == 0)
            return arm->chosen[i].text;
    return "";
}

/* Is the work of the two the same, by what was chosen and by every setting but those that choose the shape? */
static bool same_work(const struct ifm_arm *a, const struct ifm_arm *b)
{
    static const char *const shape[] = {"attention.matrix",  "attention.scale",    "attention.batch",
                                        "attention.q_heads", "attention.kv_heads", "attention.seq_len"};
    bool same = a->n_chosen > 0 && a->n_chosen == b->n_chosen && a->n_settings == b->n_settings;
    for (size_t i = 0; same && i < a->n_chosen; i++)
        same = strcmp(a->chosen[i].text, chosen_of(b, a->chosen[i].path)) == 0;
    for (size_t i = 0; same && i < a->n_settings; i++) {
        const char *path = a->settings[i].path, *other = ifm_compat_setting(b, path);
        bool chooses = false;
        for (size_t k = 0; k < sizeof shape / sizeof *shape; k++)
            chooses |= strcmp(path, shape[k]) == 0;
        same = chooses || (other != NULL && strcmp(a->settings[i].text, other) == 0);
    }
    return same;
}

/* The earlier configuration that attention.scale made the same as this one; NULL = none. */
static const struct ifm_cell *twin_of(const struct ifm_plan *plan, const struct ifm_cell *cell)
{
    const struct ifm_arm *arm = ifm_compat_first_arm(cell);
    for (const struct ifm_cell *other = plan->cells; arm != NULL && other < cell; other++) {
        const struct ifm_arm *its = is_attention(other) ? ifm_compat_first_arm(other) : NULL;
        if (its != NULL && other->threads == cell->threads && same_work(its, arm))
            return other;
    }
    return NULL;
}

/* ---- an arm ---- */

/* The median with the interval that the run asked for: by resampling, or of order statistics. */
static void add_median(const struct ifm_compat *c)
{
    bool resampled = c->cell->measure.resamples > 0;
    const struct ifm_compat_field field = {"statistics.median_ms",
                                           resampled ? IFM_M_LATENCY_NS_P50_BOOTSTRAP : IFM_M_LATENCY_NS_P50, 1e6, "ms",
                                           "the median latency of this arm was not derived"};
    static const char remedy[] = "more samples: --repeats, or a longer --cap";
    bool there = ifm_compat_add(c, &field);
    const struct ifm_value *median = ifm_compat_value(c, field.metric);
    const char *why = median == NULL ? field.reason : !there ? median->reason : median->text;
    const char *method = resampled && median != NULL ? median->text : "order statistics at the effective size";
    if (why == NULL || why[0] == '\0')
        why = "no interval: too few independent samples";
    bool known = there && median->has_interval;
    ifm_compat_put(c, "statistics.ci_95_lower", known ? json_real(median->low / field.divide) : NULL, why, remedy);
    ifm_compat_put(c, "statistics.ci_95_upper", known ? json_real(median->high / field.divide) : NULL, why, remedy);
    ifm_compat_put(c, "statistics.ci_method", known ? json_string(method) : NULL, why, remedy);
}

/* Which roof limits the arm, by its intensity against the interval of the measured ridge point. */
static void add_regime(const struct ifm_compat *c)
{
    static const struct ifm_compat_field field = {"performance.ridge_point", IFM_M_RIDGE_POINT, 1, "FLOP/B",
                                                  NO_CEILINGS};
    const struct ifm_value *ridge = ifm_derived_value(c->from->derived, c->cell->name, "", IFM_M_RIDGE_POINT);
    const struct ifm_value *own = ifm_compat_value(c, IFM_M_ARITHMETIC_INTENSITY);
    const char *reason = NO_CEILINGS, *regime = "";
    if (ifm_compat_add_value(c, &field, ridge) && own != NULL && own->state == IFM_STATE_OK) {
        regime = ifm_derive_regime(ridge, own);
        reason = "the intensity lies inside the interval of the ridge point: either roof may limit the arm";
    }
    ifm_compat_put_text(c, "performance.regime", regime, reason);
}

static void add_raw(const struct ifm_compat *c)
{
    static const char name[] = "raw_latencies_ms";
    const struct ifm_value *count = ifm_compat_value(c, IFM_M_SAMPLES_COUNT);
    const struct ifm_value *mean = ifm_compat_value(c, IFM_M_LATENCY_NS_MEAN);
    struct ifm_arena *arena = ifm_arena_create();
    const char *reason = "the record is not at hand", *remedy = "";
    bool given = mean != NULL && mean->state == IFM_STATE_OK;
    if (mean != NULL && !given) /* what may not be summed up is not shown singly either */
        reason = mean->reason;
    if (count != NULL && count->state == IFM_STATE_OK && count->number > RAW_MOST) {
        reason = ifm_arena_printf(arena, "%.0f samples are more than the %d that stand in this file", count->number,
                                  (int)RAW_MOST);
        remedy = ifm_arena_printf(arena, "samples/%u-latency.csv has all of them", c->cell->index);
    }
    double *times = IFM_ARENA_ARRAY(arena, double, RAW_MOST);
    size_t n = 0, arm = (size_t)(c->arm - c->cell->arms);
    if (given && c->from->facts != NULL)
        n = ifm_derive_times(c->from->facts, c->cell->index, arm, RAW_MOST, times);
    json_t *array = n > 0 ? json_array() : NULL;
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_real(times[i] / 1e6));
    json_object_set_new(c->units, name, json_string("ms"));
    ifm_compat_put(c, name, array, reason, remedy);
    ifm_arena_destroy(arena);
}

/* All of it is allocated before the first step and kept to the last, so that the sum is the peak. */
static void add_memory(const struct ifm_compat *c)
{
    static const char peak[] = "memory.peak_mb", buffers[] = "memory.buffers_mb";
    const struct ifm_arm *arm = c->arm;
    bool counted = !ifm_compat_is_older(c->from);
    ifm_compat_put(c, peak, counted ? json_real((double)arm->memory / 1e6) : NULL,
                   "the version that planned did not count the scratch of kernels",
                   "buffers_mb is what the arm's own inputs and outputs take");
    ifm_compat_put(c, buffers, json_real((double)(arm->memory - arm->scratch) / 1e6), NULL, NULL);
    json_object_set_new(c->units, peak, json_string("MB"));
    json_object_set_new(c->units, buffers, json_string("MB"));
}

static json_t *arm_json(const struct ifm_publication *publication, const struct ifm_cell *cell,
                        const struct ifm_arm *arm, bool raw)
{
    const struct ifm_compat c = ifm_compat_begin(publication, cell, arm);
    ifm_compat_put_text(&c, "cell", cell->name, NULL);
    ifm_compat_put_text(&c, "arm", arm->name, NULL);
    ifm_compat_put(&c, "baseline", json_boolean(arm->role == IFM_ROLE_BASELINE), NULL, NULL);
    add_median(&c);
    ifm_compat_add_all(&c, fields, sizeof fields / sizeof *fields);
    add_regime(&c);
    add_memory(&c);
    if (raw)
        add_raw(&c);
    return ifm_compat_end(&c);
}

/* ---- files ---- */

size_t ifm_compat_count_baseline(const struct ifm_plan *plan)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n_cells; i++)
        n += is_attention(&plan->cells[i]);
    return n;
}

static json_t *config_json(const struct ifm_publication *publication, const struct ifm_cell *cell, bool raw)
{
    const struct ifm_compat c = ifm_compat_begin(publication, cell, ifm_compat_first_arm(cell));
    json_t *arms = json_array();
    ifm_compat_put_text(&c, "name", cell->name, NULL);
    add_shape(&c);
    const struct ifm_cell *twin = twin_of(publication->plan, cell);
    ifm_compat_put(&c, "same_as", twin == NULL ? NULL : json_string(twin->name), NULL, NULL);
    ifm_compat_put_environment(&c, "environment");
    ifm_compat_put(&c, "threads", json_integer(cell->threads), NULL, NULL);
    ifm_compat_put(&c, "warmup", json_integer((json_int_t)cell->measure.warmup), NULL, NULL);
    ifm_compat_put(&c, "resamples", json_integer((json_int_t)cell->measure.resamples), NULL, NULL);
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role != IFM_ROLE_CEILING)
            json_array_append_new(arms, arm_json(publication, cell, &cell->arms[a], raw));
    if (json_array_size(arms) == 0)
        ifm_compat_absent(&c, "arms", cell->unsupported, NULL);
    ifm_compat_put(&c, "arms", arms, NULL, NULL);
    return ifm_compat_end(&c);
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
    const struct ifm_value *mean =
        arm == NULL ? NULL : ifm_derived_value(publication->derived, cell->name, arm->name, IFM_M_LATENCY_NS_MEAN);
    return mean != NULL && mean->state == IFM_STATE_OK;
}

json_t *ifm_compat_baseline_summary(const struct ifm_publication *publication)
{
    const struct ifm_plan *plan = publication->plan;
    const char *machine = ifm_machine_cpu(publication->events);
    json_t *object = json_object(), *configs = json_array();
    json_int_t total = 0, tested = 0, distinct = 0;
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
        distinct += twin_of(plan, cell) == NULL;
    }
    char hex[13];
    const char *environment = ifm_summary_environment(publication->events, hex);
    json_object_set_new(object, "metadata",
                        json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:I}", "run_id", publication->derived->run_id,
                                  "device", plan->device, "cpu",
                                  machine[0] == '\0' ? json_null() : json_string(machine), "environment",
                                  environment[0] == '\0' ? json_null() : json_string(environment), "seed",
                                  plan->seed <= INT64_MAX ? json_integer((json_int_t)plan->seed) : json_null(),
                                  "configs_tested", tested, "configs_total", total, "configs_distinct", distinct));
    json_object_set_new(object, "configs", configs);
    return object;
}
