/* Files in the shapes of the specification, of publications made by hand: whose number stands where, and what is null.
 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "publish/compose.h"
#include "sample/record.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define NUMBER(c, a, m, x, ...)                                                                                        \
    {                                                                                                                  \
        c, a, m,                                                                                                       \
        {                                                                                                              \
            .number = x, .reason = "", .remedy = "", .text = "", __VA_ARGS__                                           \
        }                                                                                                              \
    }
#define INTERVAL(l, h) .has_interval = true, .low = l, .high = h, .level = 0.95
#define PASS "decode inference=false"
#define CYCLE "decode inference=true"
#define WIDE "attention"

enum { SETTINGS = 7 };
#define SHAPE(kv_len, inference)                                                                                       \
    {                                                                                                                  \
        {"decode.kv_len", kv_len}, {"decode.q_heads", "16"}, {"decode.kv_heads", "8"}, {"decode.head_dim", "64"},      \
            {"decode.batch", "2"}, {"decode.decode_tokens", "32"},                                                     \
        {                                                                                                              \
            "decode.inference", inference                                                                              \
        }                                                                                                              \
    }

/* One run: single passes and the cycle of one configuration, with two compressed arms beside f16; one attention cell.
 */
struct world {
    struct ifm_setting pass[SETTINGS], cycle[SETTINGS], attention[4];
    struct ifm_arm pass_arms[5], cycle_arms[5], attention_arms[2];
    struct ifm_cell cells[3];
    struct ifm_plan plan;
    struct ifm_derived derived;
    struct ifm_record record;
    struct ifm_slot slots[3];
    struct ifm_sample samples[6];
    size_t first[4];
    const struct ifm_record *records[3];
    struct ifm_facts_view facts;
    struct ifm_publication publication;
};

static struct ifm_number numbers[] = {
    NUMBER(PASS, "f16", IFM_M_TOKENS_GENERATED_PER_S, 1000, INTERVAL(990, 1010), .n = 20),
    NUMBER(PASS, "int8", IFM_M_LATENCY_NS_MEAN, 1250000, INTERVAL(1240000, 1260000), .n = 200),
    NUMBER(PASS, "int8", IFM_M_LATENCY_NS_TRIMMED_MEAN, 1200000, .n = 200),
    NUMBER(PASS, "int8", IFM_M_LATENCY_NS_SD, 25000, .n = 200),
    NUMBER(PASS, "int8", IFM_M_LATENCY_CV_PERCENT, 2, .n = 200),
    NUMBER(PASS, "int8", IFM_M_TOKENS_GENERATED_PER_S, 1600, INTERVAL(1590, 1610), .n = 20),
    NUMBER(PASS, "int8", IFM_M_LAYER_TOKENS_PER_S, 38400, .n = 20),
    NUMBER(PASS, "int8", IFM_M_SPEEDUP, 1.6, INTERVAL(1.55, 1.65), .n = 20),
    NUMBER(PASS, "int8", IFM_M_BANDWIDTH_BYTES_PER_S, 1.8866e11, .n = 20),
    NUMBER(PASS, "int8", IFM_M_CEILING_READ_PERCENT, 73.7, .n = 20),
    NUMBER(PASS, "int8", IFM_M_ROOFLINE_SCORE, 0.737, .n = 20),
    NUMBER(PASS, "int8", IFM_M_MEMORY_BUS_PERCENT, 47.2, .n = 20),
    NUMBER(PASS, "", IFM_M_MEMORY_BUS, 4e11, .n = 1),
    NUMBER(PASS, "int8", IFM_M_INNER_STEPS, 64, .is_integer = true),
    NUMBER(PASS, "int8", IFM_M_SAMPLES_COUNT, 200, .is_integer = true),
    NUMBER(PASS, "int8", IFM_M_COMPRESSION_RATIO, 1.87, .n = 0),
    NUMBER(PASS, "int8", IFM_M_LOSS_RMS_REL, 0.004, .n = 64),
    NUMBER(PASS, "int8", IFM_M_ATTENTION_KL_NATS, 1e-5, .n = 64),
    NUMBER(PASS, "int8", IFM_M_LOSS_COSINE, 0.9999, .n = 64),
    NUMBER(PASS, "int4", IFM_M_LATENCY_NS_MEAN, 900000, .n = 200),
    NUMBER(PASS, "int4", IFM_M_SPEEDUP, 0, .state = IFM_STATE_REFUSED),
    NUMBER(PASS, "", IFM_M_CEILING_READ, 2.56e11, .n = 20),
    NUMBER(CYCLE, "f16", IFM_M_LATENCY_NS_MEAN, 64000000, .n = 12),
    NUMBER(CYCLE, "f16", IFM_M_TOKENS_GENERATED_PER_S, 1000, .n = 6),
    NUMBER(CYCLE, "int8", IFM_M_LATENCY_NS_MEAN, 42000000, .n = 12),
    NUMBER(CYCLE, "int8", IFM_M_TOKENS_GENERATED_PER_S, 1523.8, .n = 6),
    NUMBER(CYCLE, "int8", IFM_M_SPEEDUP, 1.5238, .n = 6),
    NUMBER(WIDE, "auto", IFM_M_LATENCY_NS_P50, 321000, INTERVAL(319500, 337900), .n = 5),
    NUMBER(WIDE, "auto", IFM_M_LATENCY_NS_P50_BOOTSTRAP, 321000, INTERVAL(320000, 330000), .n = 5),
    NUMBER(WIDE, "auto", IFM_M_LATENCY_NS_P95, 350000, .n = 5),
    NUMBER(WIDE, "auto", IFM_M_LATENCY_NS_P99, 0, .state = IFM_STATE_ABSENT),
    NUMBER(WIDE, "auto", IFM_M_LATENCY_NS_MEAN, 331900, .n = 5),
    NUMBER(WIDE, "auto", IFM_M_LATENCY_NS_SD, 24600, .n = 5),
    NUMBER(WIDE, "auto", IFM_M_LATENCY_CV_PERCENT, 7.4, .n = 5),
    NUMBER(WIDE, "auto", IFM_M_SAMPLES_COUNT, 5, .is_integer = true),
    NUMBER(WIDE, "auto", IFM_M_FLOPS_PER_S, 5.3516e13, .n = 20),
    NUMBER(WIDE, "auto", IFM_M_BANDWIDTH_BYTES_PER_S, 2.09e11, .n = 20),
    NUMBER(WIDE, "auto", IFM_M_ARITHMETIC_INTENSITY, 256, .n = 0),
    NUMBER(WIDE, "", IFM_M_RIDGE_POINT, 403, INTERVAL(390, 410), .n = 20),
};

static struct ifm_number *find(const char *cell, const char *arm, const char *metric)
{
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (strcmp(numbers[i].cell, cell) == 0 && strcmp(numbers[i].arm, arm) == 0 &&
            strcmp(ifm_metrics[numbers[i].metric].id, metric) == 0)
            return &numbers[i];
    fail_msg("no number %s", metric);
    return NULL;
}

static const struct ifm_setting chosen[] = {{"layers", "24"}};

static void add_arms(struct ifm_arm *arms, const struct ifm_setting *settings)
{
    static const char *const names[] = {"f16", "int8", "int4", "read.linear", "flops.fma"};
    for (size_t i = 0; i < 5; i++)
        arms[i] = (struct ifm_arm){.name = names[i],
                                   .variant = names[i],
                                   .workload = "decode",
                                   .role = i == 0  ? IFM_ROLE_BASELINE
                                           : i < 3 ? IFM_ROLE_VARIANT
                                                   : IFM_ROLE_CEILING,
                                   .settings = i < 3 ? settings : NULL,
                                   .n_settings = i < 3 ? SETTINGS : 0,
                                   .chosen = chosen,
                                   .n_chosen = i < 3};
}

/* Two measured slots of arm 0 (the arm auto), 2 and 3 samples of 2 steps, between them one of the ceiling. */
static void add_record(struct world *w)
{
    static const uint32_t samples[] = {2, 1, 3};
    for (size_t k = 0, at = 0; k < 3; k++) {
        w->slots[k] =
            (struct ifm_slot){.block = 0, .phase = IFM_PHASE_MEASURE, .arm = k == 1, .samples = samples[k], .inner = 2};
        w->first[k] = at;
        for (uint32_t i = 0; i < samples[k]; i++, at++)
            w->samples[at].duration_ns = 600000 + 20000 * (int64_t)at;
        w->first[k + 1] = at;
    }
    w->record =
        (struct ifm_record){.slots = w->slots, .n_slots = 3, .samples = w->samples, .n_samples = 6, .first = w->first};
    w->records[2] = &w->record;
}

static void make(struct world *w)
{
    *w = (struct world){
        .pass = SHAPE("1024", "false"),
        .cycle = SHAPE("1024", "true"),
        .attention = {{"attention.matrix", "b32h8s512"},
                      {"attention.scale", "4"},
                      {"attention.storage", "f16"},
                      {"attention.causal", "false"}},
    };
    add_arms(w->pass_arms, w->pass);
    add_arms(w->cycle_arms, w->cycle);
    w->attention_arms[0] = (struct ifm_arm){.name = "auto",
                                            .variant = "auto",
                                            .role = IFM_ROLE_BASELINE,
                                            .memory = 80500000,
                                            .settings = w->attention,
                                            .n_settings = 4};
    w->attention_arms[1] = (struct ifm_arm){.name = "flops.fma", .variant = "", .role = IFM_ROLE_CEILING};
    w->cells[0] = (struct ifm_cell){.index = 0,
                                    .name = PASS,
                                    .workload = "decode",
                                    .threads = 2,
                                    .unsupported = "",
                                    .arms = w->pass_arms,
                                    .n_arms = 5,
                                    .measure = {.warmup = 50}};
    w->cells[1] = w->cells[0];
    w->cells[1].index = 1;
    w->cells[1].name = CYCLE;
    w->cells[1].arms = w->cycle_arms;
    w->cells[2] = (struct ifm_cell){.index = 2,
                                    .name = WIDE,
                                    .workload = "attention",
                                    .threads = 2,
                                    .unsupported = "",
                                    .arms = w->attention_arms,
                                    .n_arms = 2,
                                    .measure = {.warmup = 20}};
    w->plan = (struct ifm_plan){.run_id = "r", .device = "cpu", .seed = 42, .cells = w->cells, .n_cells = 3};
    w->derived = (struct ifm_derived){.run_id = "r", .numbers = numbers, .n_numbers = COUNT(numbers)};
    add_record(w);
    w->plan.rules = IFM_PLAN_RULES;
    w->facts = (struct ifm_facts_view){.plan = &w->plan, .records = w->records, .max_passes = 1};
    w->publication = (struct ifm_publication){.plan = &w->plan, .derived = &w->derived, .facts = &w->facts};
}

/* The member at a path of names, "results.tokens_per_sec". */
static json_t *at(json_t *object, const char *path)
{
    char name[64];
    for (const char *dot = strchr(path, '.'); dot != NULL; dot = strchr(path, '.')) {
        snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
        object = json_object_get(object, name);
        path = dot + 1;
    }
    return json_object_get(object, path);
}

static void is(json_t *object, const char *path, double wanted)
{
    json_t *value = at(object, path);
    if (!json_is_number(value) || fabs(json_number_value(value) - wanted) > 1e-12 * fabs(wanted))
        fail_msg("%s is %g, not %g", path, json_number_value(value), wanted);
}

/* It is there, it is null, and the reason says so. */
static void is_null(json_t *object, const char *path, const char *reason)
{
    const char *why = json_string_value(at(json_object_get(json_object_get(object, "_absent"), path), "reason"));
    if (!json_is_null(at(object, path)) || why == NULL || strstr(why, reason) == NULL)
        fail_msg("%s is not null with the reason \"%s\", but \"%s\"", path, reason, why == NULL ? "" : why);
}

static void every_field_has_its_number(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    json_t *object = ifm_compat_elastic_kv(&w.publication);
    assert_string_equal(json_string_value(at(object, "brand")), "Inferometer");
    assert_string_equal(json_string_value(at(object, "format")), "int8");
    is(object, "true_ratio", 1.87);
    is(object, "build.inner_loops", 64);
    is(object, "build.truncate_percent", 0);
    assert_true(json_is_false(at(object, "build.cuda_graphs")));
    is(object, "configuration.seq_len", 1024);
    is(object, "configuration.heads", 16);
    is(object, "configuration.kv_heads", 8);
    is(object, "configuration.head_dim", 64);
    is(object, "configuration.compression", 2);
    is(object, "configuration.layers", 24);
    is(object, "configuration.reps", 200);
    is(object, "configuration.warmup", 50);
    is(object, "results.attention_time_ms", 1.25);
    is(object, "results.attention_time_std", 0.025);
    is(object, "results.coefficient_of_variation", 0.02);
    is(object, "results.tokens_per_sec", 1600);
    is(object, "results.baseline_tokens_per_sec", 1000);
    is(object, "results.speedup_vs_baseline", 1.6);
    is(object, "results.memory_bandwidth_gbs", 188.66);
    is(object, "results.memory_efficiency_measured_percent", 73.7);
    is(object, "results.roofline_score", 0.737);
    is(object, "cpu.measured_bw_gbs", 256);
    is(object, "inference_cycle.decode_tokens", 32);
    is(object, "inference_cycle.baseline_total_ms", 64);
    is(object, "inference_cycle.elastic_total_ms", 42);
    is(object, "inference_cycle.elastic_tokens_per_sec", 1523.8);
    is(object, "inference_cycle.speedup_vs_baseline", 1.5238);
    is(object, "quality.loss_rms_rel", 0.004);
    is(object, "results.memory_efficiency_percent", 47.2);
    is(object, "cpu.theoretical_bw_gbs", 400);
    is_null(object, "gpu", "no GPU");
    is_null(object, "cpu.name", "does not name");
    is_null(object, "quality.error_rms_rel", "no check");
    const json_t *units = json_object_get(object, "_units"), *ci = json_object_get(object, "_ci"), *interval;
    assert_string_equal(json_string_value(json_object_get(units, "results.attention_time_ms")), "ms");
    interval = json_object_get(ci, "results.attention_time_ms");
    assert_true(fabs(json_number_value(json_object_get(interval, "low")) - 1.24) < 1e-12);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(object, "_n"), "results.attention_time_ms")),
                     200);
    assert_null(json_object_get(object, "cells")); /* passes and cycle are one configuration */
    json_decref(object);
}

/* A pass is one of 24 layers: 2 layer-tokens, a twelfth of a token. A plan of an earlier version did not say so. */
static void a_token_is_of_all_layers(void **state)
{
    (void)state;
    struct world w;
    for (int older = 0; older < 2; older++) {
        make(&w);
        w.plan.rules = older ? 3 : IFM_PLAN_RULES;
        w.pass_arms[1].ledger = (struct ifm_ledger){.tokens_generated = 2, .layers = older ? 0 : 24};
        w.cycle_arms[1].ledger = (struct ifm_ledger){.tokens_generated = 64};
        json_t *object = ifm_compat_elastic_kv(&w.publication);
        const json_t *units = json_object_get(object, "_units");
        is(object, "results.tokens_per_pass", older ? 2 : 2.0 / 24);
        is(object, "inference_cycle.tokens", 64);
        assert_int_equal(at(object, "results.layer_tokens_per_sec") == NULL, older);
        assert_string_equal(json_string_value(json_object_get(units, "results.tokens_per_sec")),
                            older ? "tokens/s through 1 of 24 layers" : "tokens/s");
        assert_string_equal(json_string_value(json_object_get(units, "inference_cycle.elastic_tokens_per_sec")),
                            "tokens/s");
        json_decref(object);
    }
}

static void the_rate_of_a_cache_is_not_the_memorys(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    w.cells[0].cache_resident = true;
    json_t *object = ifm_compat_elastic_kv(&w.publication);
    is_null(object, "cpu.measured_bw_gbs", "caches");
    json_decref(object);
    w.pass_arms[4].ceiling = IFM_CEILING_L2; /* caches serve an arm, and have a probe; the other one is of memory */
    object = ifm_compat_elastic_kv(&w.publication);
    is(object, "cpu.measured_bw_gbs", 256);
    json_decref(object);
    struct ifm_number *read = find(PASS, "", "ceiling_read");
    read->metric = IFM_M_CEILING_L2; /* they serve all arms */
    object = ifm_compat_elastic_kv(&w.publication);
    is_null(object, "cpu.measured_bw_gbs", "caches");
    json_decref(object);
    read->metric = IFM_M_CEILING_READ;
}

static void several_arms_stand_in_arms(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    json_t *object = ifm_compat_elastic_kv(&w.publication), *arms = json_object_get(object, "arms");
    assert_int_equal(json_array_size(arms), 2);
    json_t *second = json_array_get(arms, 1);
    assert_string_equal(json_string_value(at(second, "arm")), "int4");
    is(second, "configuration.compression", 4);
    is(second, "results.attention_time_ms", 0.9);
    is_null(second, "results.speedup_vs_baseline", ""); /* refused: no number, whatever stood there */
    is(json_array_get(arms, 0), "results.attention_time_ms", 1.25);
    json_decref(object);
    w.pass_arms[2].role = w.cycle_arms[2].role = IFM_ROLE_CEILING;
    object = ifm_compat_elastic_kv(&w.publication);
    assert_null(json_object_get(object, "arms"));
    json_decref(object);
}

static void a_trimmed_mean_says_so(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    w.cells[0].measure.truncate = 5;
    w.plan.rules = 3; /* an earlier version put it in the place of the mean */
    json_t *older = ifm_compat_elastic_kv(&w.publication);
    is(older, "results.attention_time_ms", 1.2);
    json_decref(older);
    w.plan.rules = IFM_PLAN_RULES;
    json_t *object = ifm_compat_elastic_kv(&w.publication);
    is(object, "results.attention_time_ms", 1.25); /* that the rates are of */
    is(object, "results.attention_time_trimmed_ms", 1.2);
    is(object, "build.truncate_percent", 5);
    is(object, "results.attention_time_std", 0.025); /* of all samples */
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(object, "_units"), "results.attention_time_trimmed_ms")),
        "ms, trimmed mean");
    json_decref(object);
}

/* A cycle of another configuration is never put beside these passes. */
static void no_two_configurations_are_spliced(void **state)
{
    (void)state;
    struct world w;
    static const size_t rows[] = {0, 1, 2, 3, 4, 5};
    for (size_t i = 0; i < COUNT(rows) + 2; i++) {
        make(&w);
        if (i < COUNT(rows))
            w.cycle[rows[i]].text = "128";
        else if (i == COUNT(rows))
            w.cells[1].threads = 1;
        else
            w.cycle_arms[1].variant = "e4m3";
        json_t *object = ifm_compat_elastic_kv(&w.publication), *cells = json_object_get(object, "cells");
        is_null(object, "inference_cycle", "no cell of this run measured the inference cycle of this configuration");
        is(object, "results.tokens_per_sec", 1600);
        assert_int_equal(json_array_size(cells), 2);
        json_t *cycle = json_array_get(cells, 1);
        is_null(cycle, "results", "measured the inference cycle");
        is(cycle, "inference_cycle.baseline_total_ms", 64);
        json_decref(object);
    }
    make(&w);
    w.plan.n_cells = 1;
    json_t *alone = ifm_compat_elastic_kv(&w.publication);
    is_null(alone, "inference_cycle", "no cell of this run");
    json_decref(alone);
}

static void a_cell_that_cannot_run_is_null_with_its_reason(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    w.plan.n_cells = 1;
    w.cells[0].n_arms = 0;
    w.cells[0].arms = NULL;
    w.cells[0].unsupported = "the shape needs 96.0 GiB";
    json_t *object = ifm_compat_elastic_kv(&w.publication);
    is_null(object, "results.tokens_per_sec", "96.0 GiB");
    is_null(object, "true_ratio", "96.0 GiB");
    is_null(object, "configuration.seq_len", "decode.kv_len");
    json_decref(object);
    assert_true(ifm_compat_has_elastic_kv(&w.plan));
    w.plan.cells = &w.cells[2];
    assert_false(ifm_compat_has_elastic_kv(&w.plan));
}

static void a_baseline_has_its_numbers_and_raw_samples(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    assert_int_equal(ifm_compat_count_baseline(&w.plan), 1);
    json_t *config = ifm_compat_baseline_config(&w.publication, 0), *arms = json_object_get(config, "arms");
    assert_string_equal(json_string_value(at(config, "name")), WIDE);
    is(config, "batch", 8); /* 32 over the scale of 4 */
    is(config, "heads", 8);
    is(config, "seq", 512);
    is(config, "dim", 64);
    assert_string_equal(json_string_value(at(config, "dtype")), "f16");
    assert_int_equal(json_array_size(arms), 1); /* the ceiling is none of them */
    json_t *arm = json_array_get(arms, 0), *raw = at(arm, "raw_latencies_ms");
    is(arm, "statistics.median_ms", 0.321);
    is(arm, "statistics.ci_95_lower", 0.3195);
    is(arm, "statistics.ci_95_upper", 0.3379);
    is(arm, "statistics.mean_ms", 0.3319);
    is(arm, "statistics.std_ms", 0.0246);
    is(arm, "statistics.p95_ms", 0.35);
    is_null(arm, "statistics.p99_ms", "");
    is(arm, "statistics.coefficient_of_variation", 0.074);
    is(arm, "statistics.n_samples", 5);
    is(arm, "performance.throughput_gflops", 53516);
    is(arm, "performance.bandwidth_gbs", 209);
    is(arm, "performance.arithmetic_intensity", 256);
    is(arm, "memory.buffers_mb", 80.5);
    is(arm, "memory.peak_mb", 80.5);
    assert_string_equal(json_string_value(at(arm, "performance.regime")), "memory-bound");
    is_null(arm, "performance.roofline_score", "ceilings");
    static const double wanted[] = {0.3, 0.31, 0.33, 0.34, 0.35}; /* in time order, of one step */
    assert_int_equal(json_array_size(raw), 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(fabs(json_number_value(json_array_get(raw, i)) - wanted[i]) < 1e-12);
    json_decref(config);
    w.plan.rules = 3; /* of an earlier version */
    config = ifm_compat_baseline_config(&w.publication, 0);
    is_null(json_array_get(json_object_get(config, "arms"), 0), "memory.peak_mb", "scratch");
    json_decref(config);
    w.plan.rules = IFM_PLAN_RULES;
    w.attention_arms[0].scratch = 500000;
    config = ifm_compat_baseline_config(&w.publication, 0);
    is(json_array_get(json_object_get(config, "arms"), 0), "memory.peak_mb", 80.5);
    is(json_array_get(json_object_get(config, "arms"), 0), "memory.buffers_mb", 80);
    is_null(config, "environment", "run.log");
    assert_true(json_is_null(at(config, "same_as")));
    json_decref(config);
    w.cells[2].measure.resamples = 10000;
    config = ifm_compat_baseline_config(&w.publication, 0);
    is(json_array_get(json_object_get(config, "arms"), 0), "statistics.ci_95_lower", 0.32);
    json_decref(config);
    json_t *summary = ifm_compat_baseline_summary(&w.publication), *first = json_array_get(at(summary, "configs"), 0);
    is(summary, "metadata.configs_total", 1);
    is(summary, "metadata.configs_tested", 1);
    is(summary, "metadata.seed", 42);
    assert_string_equal(json_string_value(at(first, "file")), "config_01.json");
    assert_null(at(json_array_get(at(first, "arms"), 0), "raw_latencies_ms")); /* once is enough */
    json_decref(summary);
}

static void the_regime_is_held_against_the_interval(void **state)
{
    (void)state;
    static const struct {
        double intensity;
        const char *regime;
    } cases[] = {{389, "memory-bound"}, {391, NULL}, {409, NULL}, {411, "compute-bound"}};
    struct world w;
    struct ifm_number *own = find(WIDE, "auto", "arithmetic_intensity"), *ridge = find(WIDE, "", "ridge_point");
    make(&w);
    for (size_t i = 0; i < COUNT(cases); i++) {
        own->value.number = cases[i].intensity;
        json_t *config = ifm_compat_baseline_config(&w.publication, 0), *arm = json_array_get(at(config, "arms"), 0);
        if (cases[i].regime == NULL)
            is_null(arm, "performance.regime", "inside the interval");
        else
            assert_string_equal(json_string_value(at(arm, "performance.regime")), cases[i].regime);
        json_decref(config);
    }
    own->value.number = 256;
    ridge->value.state = IFM_STATE_ABSENT;
    json_t *config = ifm_compat_baseline_config(&w.publication, 0);
    is_null(json_array_get(at(config, "arms"), 0), "performance.regime", "not both measured");
    json_decref(config);
    ridge->value.state = IFM_STATE_OK;
}

static void raw_samples_are_left_out_with_a_reason(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    struct ifm_number *count = find(WIDE, "auto", "samples_count"), *mean = find(WIDE, "auto", "latency_ns_mean");
    count->value.number = 10001;
    w.facts.records = NULL;
    json_t *config = ifm_compat_baseline_config(&w.publication, 0);
    is_null(json_array_get(at(config, "arms"), 0), "raw_latencies_ms", "10001 samples");
    json_decref(config);
    count->value.number = 5;
    make(&w);
    mean->value.state = IFM_STATE_REFUSED;
    mean->value.reason = "rule-10: the output is wrong";
    config = ifm_compat_baseline_config(&w.publication, 0);
    is_null(json_array_get(at(config, "arms"), 0), "raw_latencies_ms", "rule-10");
    json_decref(config);
    mean->value.state = IFM_STATE_OK;
    mean->value.reason = "";
    w.publication.facts = NULL;
    config = ifm_compat_baseline_config(&w.publication, 0);
    is_null(json_array_get(at(config, "arms"), 0), "raw_latencies_ms", "not at hand");
    json_decref(config);
    struct ifm_value *median = &find(WIDE, "auto", "latency_ns_p50")->value;
    median->has_interval = false;
    config = ifm_compat_baseline_config(&w.publication, 0);
    is(json_array_get(at(config, "arms"), 0), "statistics.median_ms", 0.321);
    is_null(json_array_get(at(config, "arms"), 0), "statistics.ci_95_lower", "no interval");
    json_decref(config);
    median->has_interval = true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_has_its_number),
        cmocka_unit_test(a_token_is_of_all_layers),
        cmocka_unit_test(the_rate_of_a_cache_is_not_the_memorys),
        cmocka_unit_test(several_arms_stand_in_arms),
        cmocka_unit_test(a_trimmed_mean_says_so),
        cmocka_unit_test(no_two_configurations_are_spliced),
        cmocka_unit_test(a_cell_that_cannot_run_is_null_with_its_reason),
        cmocka_unit_test(a_baseline_has_its_numbers_and_raw_samples),
        cmocka_unit_test(the_regime_is_held_against_the_interval),
        cmocka_unit_test(raw_samples_are_left_out_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
