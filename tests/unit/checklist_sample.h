/* A decode run that meets every point that a processor can meet, with every number at its limit; tests break one thing
 * at a time. */
#ifndef IFM_TESTS_UNIT_CHECKLIST_SAMPLE_H
#define IFM_TESTS_UNIT_CHECKLIST_SAMPLE_H

#include "rules/fixture.h"

#include "judge/review/checklist.h"

enum { MOST = 64 };

struct run {
    struct ifm_arena *arena;
    struct ifm_plan plan;
    struct ifm_cell cells[2];
    struct ifm_arm arms[3];
    struct ifm_number numbers[MOST];
    struct ifm_finding findings[2];
    struct ifm_derived derived;
    struct ifm_verdict verdict;
    json_t *events;
    struct ifm_checklist *lists;
    size_t n_lists;
    struct ifm_advice *advice;
    size_t n_advice;
};

static inline void add(struct run *run, const char *arm, const char *metric, double number)
{
    assert_true(run->derived.n_numbers < MOST);
    struct ifm_number *n = &run->numbers[run->derived.n_numbers++];
    *n = (struct ifm_number){"decode", arm, ifm_metric_of(metric), {.number = number, .n_of = "", .unit = ""}};
    if (n->metric == IFM_M_ENERGY_PER_TOKEN_J)
        n->value.unit = "J";
    n->value.reason = n->value.remedy = n->value.text = "";
}

static inline struct ifm_value *number(struct run *run, const char *arm, const char *metric)
{
    for (size_t i = 0; i < run->derived.n_numbers; i++)
        if (strcmp(run->numbers[i].arm, arm) == 0 && strcmp(ifm_metrics[run->numbers[i].metric].id, metric) == 0)
            return &run->numbers[i].value;
    fail_msg("no %s of %s", metric, arm);
    return NULL;
}

static inline void event(struct run *run, const char *stage, json_t *meta)
{
    assert_non_null(meta);
    json_array_append_new(run->events, json_pack("{s:i, s:s, s:o}", "t_ns", 1, "stage", stage, "meta", meta));
}

static inline json_t *meta_of(struct run *run, const char *stage, size_t nth)
{
    size_t i;
    json_t *item;
    json_array_foreach(run->events, i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "stage")), stage) == 0 && nth-- == 0)
            return json_object_get(item, "meta");
    }
    fail_msg("no event %s", stage);
    return NULL;
}

static inline void add_locks(struct run *run, const char *when)
{
    event(run, "locks",
          json_pack("{s:s, s:[{s:s, s:s, s:b, s:s}]}", "when", when, "knobs", "knob", "governor", "value",
                    "performance", "locked", 1, "reason", ""));
}

static inline void add_events(struct run *run)
{
    static const char *const arms[] = {"f16", "int4"};
    run->events = json_array();
    event(run, "run_start",
          json_pack("{s:s, s:s, s:s}", "run_id", "0123456789ab", "config_hash", "cafe", "version", "1.2"));
    event(run, "environment",
          json_pack("{s:{s:{s:s, s:i}, s:s, s:{s:s, s:s, s:s}, s:{s:s, s:{s:s}, s:{s:s}}}}", "fingerprint", "cpu",
                    "model", "A CPU", "allowed", 2, "kernel", "6.1", "binary", "version", "1.2", "compiler", "gcc 12",
                    "git_revision", "abcdef0123456789", "packages", "glibc", "2.36", "openblas", "version", "0.3",
                    "cudnn", "absent", "not used"));
    add_locks(run, "before");
    event(run, "load", json_pack("{s:s, s:f}", "when", "before", "foreign_load", 0.02));
    event(run, "input",
          json_pack("{s:s, s:s, s:s, s:s}", "setting", "decode.kv_file", "token", "t", "file", "kv", "sha256", "aa"));
    event(run, "device", json_pack("{s:s, s:i, s:i}", "cell", "decode", "huge_page_bytes", 4096, "buffer_bytes", 4096));
    for (int i = 0; i < 4; i++)
        event(run, "check",
              json_pack("{s:s, s:s, s:s, s:b, s:f, s:f, s:i, s:b, s:s, s:s}", "cell", "decode", "arm", arms[i % 2],
                        "when", i < 2 ? "before" : "after", "done", 1, "error_rms_rel", 1e-7, "error_max_rel", 1e-7,
                        "values", 64, "finite", 1, "output_xxh3", i % 2 == 0 ? "11" : "22", "isa", "avx2"));
    for (int i = 0; i < 2; i++)
        event(run, "warmup",
              json_pack("{s:s, s:s, s:i, s:i, s:b, s:f, s:f, s:f, s:f}", "cell", "decode", "arm", arms[i], "steps", 50,
                        "windows", 2, "steady", 1, "tolerance", 0.01, "seconds", 1.0, "last_median_ns", 100.0,
                        "previous_median_ns", 100.0));
    event(run, "cell_done", json_pack("{s:s}", "cell", "decode"));
    event(run, "load", json_pack("{s:s, s:f}", "when", "after", "foreign_load", 0.01));
    add_locks(run, "after");
    event(run, "run_done", json_pack("{s:s}", "config_hash", "cafe"));
}

static inline void start(struct run *run)
{
    static const char *const arms[] = {"f16", "int4"};
    memset(run, 0, sizeof *run);
    run->arena = ifm_arena_create();
    run->arms[0] = (struct ifm_arm){.name = "f16", .role = IFM_ROLE_BASELINE, .stored = 110, .stored_plain = 100};
    run->arms[1] = (struct ifm_arm){.name = "int4", .role = IFM_ROLE_VARIANT, .stored = 30, .stored_plain = 100};
    run->arms[2] = (struct ifm_arm){.name = "read", .role = IFM_ROLE_CEILING};
    run->cells[0] = (struct ifm_cell){.name = "decode",
                                      .workload = "decode",
                                      .unsupported = "",
                                      .arms = run->arms,
                                      .n_arms = 3,
                                      .threads = 2,
                                      .measure = {.warmup = 10, .margin = 0.003}};
    run->cells[1] = (struct ifm_cell){.name = "wide", .workload = "decode", .unsupported = "no such device"};
    run->plan = (struct ifm_plan){.run_id = "0123456789ab",
                                  .config_hash = "cafe",
                                  .seed = 42,
                                  .device = "cpu",
                                  .cells = run->cells,
                                  .n_cells = 2};
    run->derived = (struct ifm_derived){.numbers = run->numbers, .findings = run->findings};
    run->verdict.outcome = IFM_OUTCOME_NOT_GATED;
    for (int a = 0; a < 2; a++) {
        static const struct {
            const char *metric;
            double number;
        } rows[] = {{"warmup_samples", 10},
                    {"inner_steps", 5},
                    {"samples_count", 1000},
                    {"latency_cv_percent", 2},
                    {"temperature_range_k", 5},
                    {"latency_ns_mean", 100},
                    {"latency_ns_p50", 100},
                    {"latency_ns_p95", 120},
                    {"tokens_generated_per_s", 1000},
                    {"l2_hit_percent", 90},
                    {"energy_per_token_j", 2},
                    {"step_ns", 200000},
                    {"modes_count", 1},
                    {"blocks_count", 12},
                    {"blocks_marked", 6},
                    {"ceiling_read_percent", 50},
                    {"ceiling_flops_percent", 10},
                    {"drift_percent", 9}};
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            add(run, arms[a], rows[i].metric, rows[i].number);
        struct ifm_value *drift = number(run, arms[a], "drift_percent");
        drift->has_interval = true;
        drift->low = -1;
        drift->high = 19;
    }
    add(run, "int4", "change_percent", -40);
    add(run, "int4", "hedges_g", 3);
    number(run, "int4", "change_percent")->has_interval = true;
    add_events(run);
}

static inline void ask(struct run *run)
{
    const struct ifm_events *events = events_of(run->events, run->arena);
    ifm_checklists(&run->plan, &run->derived, &run->verdict, events, run->arena, &run->lists, &run->n_lists);
    ifm_advise(&run->plan, &run->derived, events, run->arena, &run->advice, &run->n_advice);
}

static inline void stop(struct run *run)
{
    json_decref(run->events);
    ifm_arena_destroy(run->arena);
}

static inline void unsteady(struct run *run)
{
    json_object_set_new(meta_of(run, "warmup", 1), "steady", json_false());
}

static inline void load_0_101(struct run *run)
{
    json_object_set_new(meta_of(run, "load", 1), "foreign_load", json_real(0.101));
}

#endif
