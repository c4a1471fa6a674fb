/* A run in memory that holds every state a number can be in, for the tests of publish. */
#ifndef TESTS_PUBLISH_SAMPLE_H
#define TESTS_PUBLISH_SAMPLE_H

#include "publish/publish.h"
#include "unit/events.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define RATE(x, lo, hi)                                                                                                \
    {                                                                                                                  \
        .number = x, .has_interval = true, .low = lo, .high = hi, .level = 0.95, .n = 24, .n_of = "blocks"             \
    }
#define SHARE(x, lo, hi, word)                                                                                         \
    {                                                                                                                  \
        .number = x, .has_interval = true, .low = lo, .high = hi, .level = 0.95, .n = 24, .n_of = "blocks",            \
        .text = word                                                                                                   \
    }
#define WORD(s, r, m)                                                                                                  \
    {                                                                                                                  \
        .state = s, .reason = r, .remedy = m                                                                           \
    }

static struct ifm_arm sample_arms[] = {
    {.name = "plain", .role = IFM_ROLE_BASELINE, .workload = "decode", .variant = "", .working_set = 1 << 28},
    {.name = "half", .role = IFM_ROLE_VARIANT, .workload = "decode", .variant = "", .lossy = true},
    {.name = "staged", .role = IFM_ROLE_VARIANT, .workload = "decode", .variant = "", .feature = "staging"},
    {.name = "packed", .role = IFM_ROLE_VARIANT, .workload = "decode", .variant = ""},
    {.name = "read.linear", .role = IFM_ROLE_CEILING, .ceiling = IFM_CEILING_READ, .workload = "stream"},
    {.name = "read.blocks", .role = IFM_ROLE_CEILING, .ceiling = IFM_CEILING_READ, .workload = "stream"},
    {.name = "read.stride", .role = IFM_ROLE_CEILING, .ceiling = IFM_CEILING_READ, .workload = "stream"},
    {.name = "flops.fma", .role = IFM_ROLE_CEILING, .ceiling = IFM_CEILING_FLOPS, .workload = "stream"},
};
static struct ifm_arm sample_probes[] = {
    {.name = "16 KiB", .role = IFM_ROLE_VARIANT, .workload = "stream", .working_set = 16 << 10},
    {.name = "64 KiB", .role = IFM_ROLE_VARIANT, .workload = "stream", .working_set = 64 << 10},
    {.name = "1 MiB", .role = IFM_ROLE_VARIANT, .workload = "stream", .working_set = 1 << 20},
    {.name = "8 MiB", .role = IFM_ROLE_VARIANT, .workload = "stream", .working_set = 8 << 20},
    {.name = "64 MiB", .role = IFM_ROLE_VARIANT, .workload = "stream", .working_set = 64 << 20},
    {.name = "512 MiB", .role = IFM_ROLE_VARIANT, .workload = "stream", .working_set = 512 << 20},
};
static struct ifm_cell sample_cells[] = {
    {.index = 0,
     .name = "decode kv_len=4096",
     .workload = "decode",
     .threads = 8,
     .unsupported = "",
     .arms = sample_arms,
     .n_arms = COUNT(sample_arms),
     .measure = {.warmup = 50, .margin = 0.003}},
    {.index = 1,
     .name = "stream caches",
     .workload = "stream",
     .threads = 1,
     .unsupported = "",
     .cache_resident = true,
     .arms = sample_probes,
     .n_arms = COUNT(sample_probes),
     .measure = {.warmup = 50, .margin = 0.003}},
    {.index = 2,
     .name = "decode kv_len=4194304",
     .workload = "decode",
     .threads = 8,
     .unsupported = "the shape needs 96.0 GiB and 30.1 GiB are available",
     .measure = {.margin = 0.003}},
};
static struct ifm_gate sample_gates[] = {
    {.name = "p95", .metric = "latency_ns_p95", .op = IFM_GATE_AT_MOST, .threshold = 700000, .interval = true},
    {.name = "energy", .metric = "energy_per_token_j", .op = IFM_GATE_AT_MOST, .threshold = 0.5},
};
static struct ifm_plan sample_plan = {.rules = IFM_PLAN_RULES,
                                      .run_id = "a1b2c3d4e5f6",
                                      .config_hash = "5f70bf18a086007016e948b04aed3b82",
                                      .seed = 7,
                                      .device = "cpu",
                                      .cells = sample_cells,
                                      .n_cells = COUNT(sample_cells),
                                      .gates = sample_gates,
                                      .n_gates = 2};

#define D "decode kv_len=4096"
#define S "stream caches"
static const char half_limit[] = "baseline at 92.3 % of its read ceiling";
static const char rule_3[] = "rule-03: the read rate exceeds the measured ceiling by 9 %";
static struct ifm_number sample_numbers[] = {
    {D, "plain", IFM_M_STEP_NS, RATE(801234.5, 799800, 802700)},
    {D, "plain", IFM_M_LATENCY_NS_MEAN, {.number = 803000.25, .n = 4800, .n_of = "samples"}},
    {D, "plain", IFM_M_LATENCY_NS_P50, {.number = 801000, .n = 4800, .n_of = "samples"}},
    {D, "plain", IFM_M_LATENCY_NS_P95, RATE(823000, 821000, 826500)},
    {D, "plain", IFM_M_READ_BYTES_PER_S, RATE(2.1312e10, 2.127e10, 2.135e10)},
    {D, "plain", IFM_M_CEILING_READ_PERCENT, SHARE(92.31, 92.0, 92.6, "read.linear")},
    {D, "plain", IFM_M_FLOPS_PER_S, RATE(5.328e9, 5.318e9, 5.338e9)},
    {D, "plain", IFM_M_CEILING_FLOPS_PERCENT, RATE(4.412, 4.40, 4.42)},
    {D, "plain", IFM_M_TOKENS_GENERATED_PER_S, RATE(9984.3, 9966, 10002)},
    {D, "plain", IFM_M_ERROR_RMS_REL, {.number = 3.12e-7, .n = 4096, .n_of = "values"}},
    {D, "plain", IFM_M_SAMPLES_COUNT, {.number = 4800, .is_integer = true, .n = 4800, .n_of = "samples"}},
    {D, "plain", IFM_M_ENERGY_PER_TOKEN_J,
     WORD(IFM_STATE_ABSENT, "no energy counter is readable on this machine", "run as root or attach a power meter")},
    {D, "half", IFM_M_STEP_NS, RATE(412300, 411500, 413100)},
    {D, "half", IFM_M_LATENCY_NS_P95, RATE(431000, 428000, 434200)},
    {D, "half", IFM_M_READ_BYTES_PER_S, RATE(2.071e10, 2.067e10, 2.075e10)},
    {D, "half", IFM_M_CEILING_READ_PERCENT, RATE(89.7, 89.4, 90.0)},
    {D, "half", IFM_M_FLOPS_PER_S, RATE(1.036e10, 1.034e10, 1.038e10)},
    {D, "half", IFM_M_CEILING_FLOPS_PERCENT, RATE(8.58, 8.55, 8.61)},
    {D, "half", IFM_M_TOKENS_GENERATED_PER_S, RATE(19403, 19365, 19440)},
    {D, "half", IFM_M_SPEEDUP, SHARE(1.943, 1.921, 1.962, half_limit)},
    {D, "half", IFM_M_CHANGE_PERCENT, SHARE(-48.5, -49.0, -48.0, "faster")},
    {D, "half", IFM_M_ERROR_RMS_REL, {.number = 4.4e-4, .n = 4096, .n_of = "values"}},
    {D, "staged", IFM_M_STEP_NS, RATE(801900, 799000, 804800)},
    {D, "staged", IFM_M_READ_BYTES_PER_S, WORD(IFM_STATE_INACTIVE, "rule-11: no step used staging", "")},
    {D, "staged", IFM_M_SPEEDUP, RATE(0.9992, 0.9951, 1.0033)},
    {D, "staged", IFM_M_CHANGE_PERCENT, SHARE(0.08, -0.33, 0.49, "undecided")},
    {D, "staged", IFM_M_ERROR_RMS_REL, {.number = 3.12e-7, .n = 4096, .n_of = "values"}},
    {D, "packed", IFM_M_STEP_NS, RATE(901900, 899000, 904800)},
    {D, "packed", IFM_M_READ_BYTES_PER_S, WORD(IFM_STATE_REFUSED, rule_3, "")},
    {D, "packed", IFM_M_SPEEDUP, RATE(0.888, 0.884, 0.892)},
    {D, "packed", IFM_M_CHANGE_PERCENT, SHARE(12.6, 12.1, 13.1, "slower")},
    {D, "", IFM_M_CEILING_READ, SHARE(2.3085e10, 2.30e10, 2.316e10, "read.linear")},
    {D, "", IFM_M_CEILING_FLOPS, SHARE(1.2076e11, 1.206e11, 1.209e11, "flops.fma")},
    {S, "16 KiB", IFM_M_LOAD_NS, RATE(1.19, 1.18, 1.20)},
    {S, "64 KiB", IFM_M_LOAD_NS, RATE(3.1, 3.0, 3.2)},
    {S, "1 MiB", IFM_M_LOAD_NS, RATE(4.2, 4.1, 4.3)},
    {S, "8 MiB", IFM_M_LOAD_NS, RATE(14.1, 13.9, 14.3)},
    {S, "64 MiB", IFM_M_LOAD_NS, RATE(88.0, 87, 89)},
    {S, "512 MiB", IFM_M_LOAD_NS, RATE(97.4, 96, 99)},
    {S,
     "",
     IFM_M_CACHE_L1_BYTES,
     {.number = 32768,
      .is_integer = true,
      .has_interval = true,
      .low = 32768,
      .high = 65536,
      .level = 1,
      .n = 6,
      .n_of = "sizes"}},
    {S, "", IFM_M_CACHE_L2_BYTES, {.number = 1048576, .is_integer = true, .n = 6, .n_of = "sizes"}},
    {S, "", IFM_M_CACHE_L3_BYTES, WORD(IFM_STATE_ABSENT, "the sweep shows no third knee", "sweep larger working sets")},
};
static struct ifm_finding sample_findings[] = {
    {IFM_SEVERITY_NOTE, "", D, "plain", "2 blocks were set aside: 1 with steal time, 1 with a major fault.", .kind = 0},
    {IFM_SEVERITY_WARNING, "rule-08", "", "",
     "The governor is not locked: arms of this run are comparable with each other, separate runs are not.", .kind = 0},
    {IFM_SEVERITY_INVALID, "rule-03", D, "packed", "The read rate exceeds the measured ceiling; it is refused.",
     .kind = 0},
};
static struct ifm_derived sample_derived = {.run_id = "a1b2c3d4e5f6",
                                            .config_hash = "5f70bf18a086007016e948b04aed3b82",
                                            .numbers = sample_numbers,
                                            .n_numbers = COUNT(sample_numbers),
                                            .findings = sample_findings,
                                            .n_findings = COUNT(sample_findings)};
static struct ifm_gate_result sample_results[] = {
    {.gate = &sample_gates[0],
     .cell = D,
     .arm = "half",
     .outcome = IFM_OUTCOME_PASS,
     .reason = "431 us is at most 700 us"},
    {.gate = &sample_gates[1],
     .cell = D,
     .arm = "plain",
     .outcome = IFM_OUTCOME_BLOCKED,
     .reason = "energy_per_token_j is absent, so the gate cannot be decided",
     .missing_capability = true},
};
static const char *sample_reasons[] = {"The gate energy is blocked: no energy counter is readable on this machine.",
                                       "1 of 2 gates passed."};
static const char *sample_causes[] = {"environment: the governor is not locked.", "statistics: 24 blocks are enough."};
static struct ifm_verdict sample_verdict = {.outcome = IFM_OUTCOME_BLOCKED,
                                            .exit_code = IFM_MISSING,
                                            .gates = sample_results,
                                            .n_gates = 2,
                                            .reasons = sample_reasons,
                                            .n_reasons = 2,
                                            .rollback = true,
                                            .rollback_to = "plain",
                                            .rollback_advice = "Roll back to plain.",
                                            .rca = sample_causes,
                                            .n_rca = 2};
static const char sample_events[] =
    "[{\"t_ns\":1763726400000000000,\"stage\":\"environment\",\"ok\":true,\"meta\":{\"fingerprint\":{"
    "\"cpu\":{\"model\":\"Example CPU @ 2.10 GHz\",\"cores\":8,\"smt\":{\"active\":true}},\"caches_reported\":["
    "{\"level\":1,\"type\":\"Data\",\"bytes\":32768},{\"level\":2,\"type\":\"Unified\",\"bytes\":1048576},"
    "{\"level\":3,\"type\":\"Unified\",\"bytes\":33554432}],\"frequency\":{\"governor\":{\"absent\":\"no cpufreq "
    "here\"}},"
    "\"kernel\":\"6.1.0\"}}},{\"t_ns\":1763726400000000001,\"stage\":\"locks\",\"ok\":true,\"meta\":{\"when\":"
    "\"before\","
    "\"knobs\":[{\"knob\":\"governor\",\"value\":null,\"locked\":false,\"reason\":\"no cpufreq here\"}]}}]";
static const char sample_lock[] = "{\"schema\":1,\"parameters\":{\"decode.kv_len\":4096,\"measure.margin\":0.003}}";

/* Fields that every value has: units by metric, empty words instead of NULL. */
static inline void sample_fill(struct ifm_number *numbers, size_t n)
{
    static const struct {
        const char *part, *unit;
    } units[] = {{"percent", "%"},  {"bytes_per_s", "B/s"}, {"flops_per_s", "FLOP/s"},   {"tokens", "tokens/s"},
                 {"_ns", "ns"},     {"cache_", "B"},        {"ceiling_flops", "FLOP/s"}, {"ceiling_", "B/s"},
                 {"count", "count"}};
    for (size_t i = 0; i < n; i++) {
        struct ifm_value *v = &numbers[i].value;
        v->n_of = v->n_of == NULL ? "" : v->n_of;
        v->reason = v->reason == NULL ? "" : v->reason;
        v->remedy = v->remedy == NULL ? "" : v->remedy;
        v->text = v->text == NULL ? "" : v->text;
        v->unit = "1";
        for (size_t u = COUNT(units); u-- > 0;)
            if (strstr(ifm_metrics[numbers[i].metric].id, units[u].part) != NULL)
                v->unit = units[u].unit;
    }
}

/* The sample as a publication; `dir` may be NULL. The JSON texts are parsed once and stay. */
static inline struct ifm_publication sample_publication(const char *dir)
{
    static json_t *lock;
    static const struct ifm_events *events;
    if (events == NULL) { /* the arena stays, as static memory does */
        static struct ifm_arena *arena;
        json_t *lines = json_loads(sample_events, 0, NULL);
        arena = ifm_arena_create();
        events = events_of(lines, arena);
        json_decref(lines);
        lock = json_loads(sample_lock, 0, NULL);
        sample_fill(sample_numbers, COUNT(sample_numbers));
        sample_results[0].observed = sample_numbers[13].value;
        sample_results[1].observed = sample_numbers[11].value;
    }
    return (struct ifm_publication){
        dir, &sample_plan, &sample_derived, &sample_verdict, lock, events, NULL, false, NULL, false, 0,
    };
}

#endif
