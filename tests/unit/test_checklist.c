/* Checklists: each point on a run that meets it and on one that does not, each limit from both sides. */
#include "checklist_sample.h"

static const struct ifm_check_item *item_of(const struct run *run, const char *list, const char *asks)
{
    for (size_t i = 0; i < run->n_lists; i++)
        for (size_t k = 0; strcmp(run->lists[i].id, list) == 0 && k < run->lists[i].n_items; k++)
            if (strstr(run->lists[i].items[k].asks, asks) != NULL)
                return &run->lists[i].items[k];
    fail_msg("list %s asks nothing with \"%s\"", list, asks);
    return NULL;
}

static const char *const words[] = {"met", "not met", "absent"};

static void expect(const struct run *run, const char *list, const char *asks, enum ifm_check_state state,
                   const char *found, const char *remedy)
{
    const struct ifm_check_item *item = item_of(run, list, asks);
    if (item->state != state || !facts_stand(item->found, found, NULL) || !facts_stand(item->remedy, remedy, NULL))
        fail_msg("%s, %s: %s, \"%s\", \"%s\"; wanted %s, \"%s\", \"%s\"", list, asks, words[item->state], item->found,
                 item->remedy, words[state], found, remedy);
    assert_true(item->found[0] != '\0');
    assert_int_equal(item->remedy[0] == '\0', state == IFM_CHECK_MET);
}

/* ---- what breaks a point ---- */

static void open_governor(struct run *run)
{
    json_t *knob = json_array_get(json_object_get(meta_of(run, "locks", 1), "knobs"), 0);
    json_object_set_new(knob, "locked", json_false());
    json_object_set_new(knob, "reason", json_string("it follows the load"));
    json_object_set_new(knob, "remedy", json_string("cpupower"));
}

static void hide_governor(struct run *run)
{
    open_governor(run);
    json_object_set_new(json_array_get(json_object_get(meta_of(run, "locks", 1), "knobs"), 0), "value", json_null());
}

static void forget(struct run *run, const char *stage)
{
    for (size_t i = json_array_size(run->events); i > 0; i--)
        if (strcmp(json_string_value(json_object_get(json_array_get(run->events, i - 1), "stage")), stage) == 0)
            json_array_remove(run->events, i - 1);
}

static void forget_last_locks(struct run *run)
{
    json_array_remove(run->events, json_array_size(run->events) - 2);
}

static void forget_environment(struct run *run)
{
    forget(run, "environment");
}

static void forget_compiler(struct run *run)
{
    json_object_del(json_object_get(json_object_get(meta_of(run, "environment", 0), "fingerprint"), "binary"),
                    "compiler");
}

static void forget_kernel(struct run *run)
{
    json_object_set_new(json_object_get(meta_of(run, "environment", 0), "fingerprint"), "kernel",
                        json_pack("{s:s}", "absent", "why"));
}

static void forget_warmup(struct run *run)
{
    forget(run, "warmup");
}

static void change_output(struct run *run)
{
    json_object_set_new(meta_of(run, "check", 3), "output_xxh3", json_string("33"));
}

static void depend_on_buffers(struct run *run)
{
    json_object_set_new(meta_of(run, "check", 0), "sets_differ", json_true());
}

static void measure_a_command(struct run *run)
{
    run->cells[0].workload = "command";
}

static void load_0_1(struct run *run)
{
    json_object_set_new(meta_of(run, "load", 1), "foreign_load", json_real(0.1));
}

static void load_unread(struct run *run)
{
    json_object_set_new(meta_of(run, "load", 0), "foreign_load", json_null());
}

static void most_disturbed(struct run *run)
{
    number(run, "int4", "blocks_marked")->number = 7;
}

static void load_not_asked(struct run *run)
{
    forget(run, "load");
}

static void change_file(struct run *run)
{
    event(run, "input",
          json_pack("{s:s, s:s, s:s, s:s}", "setting", "decode.kv_file", "token", "t", "file", "kv", "sha256", "bb"));
}

static void other_tokens(struct run *run)
{
    run->arms[1].ledger.tokens_generated = 8;
}

static void other_content(struct run *run)
{
    run->arms[1].stored_plain = 90;
}

static void measure_a_session(struct run *run)
{
    run->cells[0].workload = "session";
    forget(run, "check");
}

static void unchecked_plugin(struct run *run)
{
    forget(run, "check");
    for (int a = 0; a < 2; a++) {
        run->arms[a].has_oracle = false;
        run->arms[a].implementation = IFM_PLUGIN_IMPLEMENTATION;
    }
}

/* The one arm was checked, the other not. */
static void unchecked_commands(struct run *run)
{
    run->cells[0].workload = "command";
    json_object_set_new(meta_of(run, "check", 1), "done", json_false());
    json_object_set_new(meta_of(run, "check", 3), "done", json_false());
}

static void one_arm_alone(struct run *run)
{
    forget(run, "check");
    run->arms[1].role = IFM_ROLE_CEILING;
}

static void other_configuration(struct run *run)
{
    run->findings[run->derived.n_findings++] =
        (struct ifm_finding){IFM_SEVERITY_INVALID, "rule-04", "", "", "the journal says configuration beef", .kind = 0};
}

static void enough_asked(struct run *run)
{
    run->cells[0].measure.warmup = 50;
    number(run, "int4", "warmup_samples")->number = 9;
}

static void no_temperature(struct run *run)
{
    for (int a = 0; a < 2; a++)
        number(run, a == 0 ? "f16" : "int4", "temperature_range_k")->state = IFM_STATE_ABSENT;
    event(run, "column_absent",
          json_pack("{s:s, s:s, s:s, s:s, s:s}", "cell", "decode", "pass", "latency", "column", "temperature_mc",
                    "reason", "no sensor is seen", "remedy", "bare metal"));
}

static void no_p95(struct run *run)
{
    struct ifm_value *value = number(run, "int4", "latency_ns_p95");
    value->state = IFM_STATE_ABSENT;
    value->reason = "n too small";
}

static void means_have_no_p95(struct run *run)
{
    struct ifm_value *value = number(run, "int4", "latency_ns_p95");
    value->state = IFM_STATE_ABSENT;
    value->reason = "a sample is the mean of 3 steps";
    value->remedy = "measure.inner=1";
}

static void refused_rate(struct run *run)
{
    struct ifm_value *value = number(run, "int4", "tokens_generated_per_s");
    value->state = IFM_STATE_REFUSED;
    value->reason = "rule-03: 133 %";
}

static void rename_metric(struct run *run, const char *from, const char *to)
{
    for (size_t i = 0; i < run->derived.n_numbers; i++)
        if (strcmp(ifm_metrics[run->numbers[i].metric].id, from) == 0)
            run->numbers[i].metric = ifm_metric_of(to);
}

static void no_throughput(struct run *run)
{
    rename_metric(run, "tokens_generated_per_s", "other");
}

static void rows_only(struct run *run)
{
    rename_metric(run, "tokens_generated_per_s", "rows_per_s");
}

static void no_l2(struct run *run)
{
    rename_metric(run, "l2_hit_percent", "other");
}

static void no_energy(struct run *run)
{
    rename_metric(run, "energy_per_token_j", "other");
}

static void some_energy(struct run *run)
{
    struct ifm_value *value = number(run, "int4", "energy_per_token_j");
    value->state = IFM_STATE_ABSENT;
    value->reason = "the counter stood still";
}

static void nothing_compared(struct run *run)
{
    run->arms[1].role = IFM_ROLE_BASELINE;
}

static void no_effect_size(struct run *run)
{
    number(run, "int4", "hedges_g")->state = IFM_STATE_ABSENT;
}

static void no_interval(struct run *run)
{
    number(run, "int4", "change_percent")->has_interval = false;
}

static void refused_change(struct run *run)
{
    number(run, "int4", "change_percent")->state = IFM_STATE_REFUSED;
}

static void compressed_baseline(struct run *run)
{
    run->arms[0].stored = 99;
}

static void half_a_cell(struct run *run)
{
    forget(run, "cell_done");
}

static void half_a_run(struct run *run)
{
    forget(run, "run_done");
}

static void no_variation(struct run *run)
{
    number(run, "f16", "latency_cv_percent")->state = IFM_STATE_ABSENT;
}

static void variation_not_told(struct run *run)
{
    rename_metric(run, "latency_cv_percent", "other");
}

static void ceilings_only(struct run *run)
{
    for (int a = 0; a < 2; a++)
        run->arms[a].role = IFM_ROLE_CEILING;
}

static void on_a_gpu(struct run *run)
{
    run->plan.device = "cuda";
    json_object_set_new(json_object_get(meta_of(run, "environment", 0), "fingerprint"), "gpu",
                        json_pack("{s:s, s:[{s:s}]}", "driver", "580.95", "devices", "name", "H200"));
}

static void on_a_nameless_gpu(struct run *run)
{
    on_a_gpu(run);
    json_object_set_new(json_object_get(meta_of(run, "environment", 0), "fingerprint"), "gpu",
                        json_pack("{s:s}", "absent", "no library"));
}

static void on_an_open_gpu(struct run *run)
{
    on_a_gpu(run);
    open_governor(run);
}

static void sense(struct run *run, const char *source, bool measured, double period_ms)
{
    json_t *meta = json_pack("{s:s, s:s, s:s, s:s, s:b, s:b}", "cell", "decode", "device", "gpu0", "source", source,
                             "kind", "counter", "part", 0, "measured", measured);
    if (period_ms > 0)
        json_object_set_new(meta, "period_ms", json_real(period_ms));
    event(run, "power_sensor", meta);
}

static void fixed_cadence(struct run *run)
{
    sense(run, "nvml_energy", true, 100);
    sense(run, "nvml_samples", true, 20);
    sense(run, "rapl", false, 1);
}

static void no_cadence(struct run *run)
{
    sense(run, "nvml_energy", true, 0);
}

static void no_sensor(struct run *run)
{
    no_energy(run);
    event(run, "power_absent",
          json_pack("{s:s, s:s, s:s, s:s}", "cell", "decode", "source", "rapl", "reason", "root alone", "remedy",
                    "sudo"));
}

#define ENVIRONMENT "sop-environment"
#define FINAL "sop-final"
#define ELASTIC "elastic-kv"

/* A number of int4 set to `number`, or an edit; nothing: the run as it is. */
static const struct {
    const char *list, *asks, *metric;
    double number;
    void (*edit)(struct run *);
    enum ifm_check_state state;
    const char *found, *remedy;
} cases[] = {
    {ENVIRONMENT, "GPU locked", NULL, 0, NULL, IFM_CHECK_ABSENT, "device cpu", "counterpart"},
    {ENVIRONMENT, "GPU locked", NULL, 0, on_a_gpu, IFM_CHECK_MET, "every knob", ""},
    {ENVIRONMENT, "GPU locked", NULL, 0, on_an_open_gpu, IFM_CHECK_NOT_MET, "unlocked|governor", "cpupower"},
    {ENVIRONMENT, "clocks locked", NULL, 0, on_a_gpu, IFM_CHECK_ABSENT, "GPU", "counterpart"},
    {ENVIRONMENT, "versions", NULL, 0, on_a_gpu, IFM_CHECK_MET, "openblas 0.3|H200|580.95", ""},
    {ENVIRONMENT, "versions", NULL, 0, on_a_nameless_gpu, IFM_CHECK_NOT_MET, "GPU|driver", "doctor"},
    {FINAL, "fingerprint", NULL, 0, on_a_gpu, IFM_CHECK_MET, "5 facts|A CPU", ""},
    {FINAL, "fingerprint", NULL, 0, on_a_nameless_gpu, IFM_CHECK_NOT_MET, "GPU|fingerprint", "doctor"},
    {FINAL, "energy", NULL, 0, fixed_cadence, IFM_CHECK_MET,
     "gpu0 nvml_energy every 100 ms|gpu0 nvml_samples every 20 ms", ""},
    {FINAL, "energy", NULL, 0, no_cadence, IFM_CHECK_ABSENT, "period|sensor", "calibration"},
    {FINAL, "energy", NULL, 0, no_sensor, IFM_CHECK_ABSENT, "rapl: root alone", "sudo"},
    {ENVIRONMENT, "clocks locked", NULL, 0, NULL, IFM_CHECK_MET, "locked", ""},
    {ENVIRONMENT, "clocks locked", NULL, 0, open_governor, IFM_CHECK_NOT_MET, "governor|it follows the load",
     "cpupower"},
    {ENVIRONMENT, "clocks locked", NULL, 0, hide_governor, IFM_CHECK_ABSENT, "governor|it follows the load",
     "cpupower"},
    {ENVIRONMENT, "clocks locked", NULL, 0, forget_last_locks, IFM_CHECK_ABSENT, "locks|before", "finish"},
    {ENVIRONMENT, "versions", NULL, 0, NULL, IFM_CHECK_MET, "1.2|gcc 12|6.1|glibc 2.36|openblas 0.3", ""},
    {ENVIRONMENT, "versions", NULL, 0, forget_environment, IFM_CHECK_NOT_MET, "fingerprint", "again"},
    {ENVIRONMENT, "versions", NULL, 0, forget_compiler, IFM_CHECK_NOT_MET, "compiler", "again"},
    {ENVIRONMENT, "versions", NULL, 0, forget_kernel, IFM_CHECK_NOT_MET, "kernel", "again"},
    {ENVIRONMENT, "50 warm-up", NULL, 0, NULL, IFM_CHECK_MET, "50 steps", ""},
    {ENVIRONMENT, "50 warm-up", "warmup_samples", 9.8, NULL, IFM_CHECK_NOT_MET, "49 steps|int4|decode", "--warmup 50"},
    {ENVIRONMENT, "50 warm-up", NULL, 0, enough_asked, IFM_CHECK_NOT_MET, "45 steps", "--warmup-cap"},
    {ENVIRONMENT, "steady", NULL, 0, NULL, IFM_CHECK_MET, "2 arms", ""},
    {ENVIRONMENT, "steady", NULL, 0, unsteady, IFM_CHECK_NOT_MET, "1 of 2 arms|int4|decode", "quieter"},
    {ENVIRONMENT, "steady", NULL, 0, forget_warmup, IFM_CHECK_ABSENT, "f16|decode", "finish"},
    {ENVIRONMENT, "temperature", NULL, 0, NULL, IFM_CHECK_MET, "5 K", ""},
    {ENVIRONMENT, "temperature", "temperature_range_k", 5.01, NULL, IFM_CHECK_NOT_MET, "5 K|int4", "cooling"},
    {ENVIRONMENT, "temperature", NULL, 0, no_temperature, IFM_CHECK_ABSENT, "no sensor is seen", "bare metal"},
    {ENVIRONMENT, "by seed", NULL, 0, NULL, IFM_CHECK_MET, "seed 42|2 arms", ""},
    {ENVIRONMENT, "by seed", NULL, 0, change_output, IFM_CHECK_NOT_MET, "output|int4|decode", "race"},
    {ENVIRONMENT, "by seed", NULL, 0, depend_on_buffers, IFM_CHECK_NOT_MET, "output|f16|decode", "race"},
    {ENVIRONMENT, "by seed", NULL, 0, measure_a_command, IFM_CHECK_ABSENT, "seed 42|decode", "seed"},
    {ENVIRONMENT, "load", NULL, 0, NULL, IFM_CHECK_MET, "at most 2 %|in between, 6 of 12 blocks", ""},
    {ENVIRONMENT, "load", NULL, 0, most_disturbed, IFM_CHECK_NOT_MET,
     "at most 2 %|before and after|in between, 7 of 12", "end"},
    {ENVIRONMENT, "load", NULL, 0, load_0_1, IFM_CHECK_MET, "at most 10 %", ""},
    {ENVIRONMENT, "load", NULL, 0, load_0_101, IFM_CHECK_NOT_MET, "10.1 %|each CPU|after", "end"},
    {ENVIRONMENT, "load", NULL, 0, load_unread, IFM_CHECK_ABSENT, "could not", "device"},
    {ENVIRONMENT, "load", NULL, 0, load_not_asked, IFM_CHECK_ABSENT, "not read", "device"},
    {ENVIRONMENT, "inputs fixed", NULL, 0, NULL, IFM_CHECK_MET, "configuration cafe|1 input file", ""},
    {ENVIRONMENT, "inputs fixed", NULL, 0, change_file, IFM_CHECK_NOT_MET, "kv", "one file"},
    {ENVIRONMENT, "inputs fixed", NULL, 0, other_tokens, IFM_CHECK_NOT_MET, "int4|decode|f16", "batch"},
    {ENVIRONMENT, "inputs fixed", NULL, 0, other_content, IFM_CHECK_NOT_MET, "int4|decode|f16", "batch"},
    {ENVIRONMENT, "inputs fixed", NULL, 0, unchecked_commands, IFM_CHECK_ABSENT, "nothing compared|f16 and int4|decode",
     "--output FILE"},
    {ENVIRONMENT, "inputs fixed", NULL, 0, measure_a_session, IFM_CHECK_ABSENT, "nothing compared|f16 and int4",
     "session"},
    {ENVIRONMENT, "inputs fixed", NULL, 0, unchecked_plugin, IFM_CHECK_ABSENT, "nothing compared|f16 and int4",
     "check"},
    {ENVIRONMENT, "inputs fixed", NULL, 0, one_arm_alone, IFM_CHECK_MET, "configuration cafe|by SHA-256", ""},
    {ENVIRONMENT, "inputs fixed", NULL, 0, other_configuration, IFM_CHECK_NOT_MET, "beef", "again"},
    {FINAL, "environment locked", NULL, 0, NULL, IFM_CHECK_ABSENT, "8 of 9|not known|GPU", ""},
    {FINAL, "environment locked", NULL, 0, unsteady, IFM_CHECK_NOT_MET,
     "7 of 9|not met: steadiness|not known here: GPU", ""},
    {FINAL, "fingerprint", NULL, 0, NULL, IFM_CHECK_MET, "4 facts|A CPU", ""},
    {FINAL, "fingerprint", NULL, 0, forget_environment, IFM_CHECK_NOT_MET, "fingerprint", "again"},
    {FINAL, "50 warm-up", NULL, 0, NULL, IFM_CHECK_MET, "50 steps", ""},
    {FINAL, "50 warm-up", "inner_steps", 4.9, NULL, IFM_CHECK_NOT_MET, "49 steps", "--warmup 50"},
    {FINAL, "1000 measured", NULL, 0, NULL, IFM_CHECK_MET, "1000 samples", ""},
    {FINAL, "1000 measured", "samples_count", 999, NULL, IFM_CHECK_NOT_MET, "999 samples|int4", "--repeats 1000"},
    {FINAL, "latency", NULL, 0, NULL, IFM_CHECK_MET, "throughput|2 arms", ""},
    {FINAL, "latency", NULL, 0, rows_only, IFM_CHECK_MET, "throughput|2 arms", ""},
    {FINAL, "latency", NULL, 0, no_p95, IFM_CHECK_NOT_MET, "latency_ns_p95|int4|decode|n too small", "--repeats"},
    {FINAL, "latency", NULL, 0, means_have_no_p95, IFM_CHECK_NOT_MET, "latency_ns_p95|int4|decode|mean of 3",
     "measure.inner=1"},
    {FINAL, "latency", NULL, 0, refused_rate, IFM_CHECK_NOT_MET, "tokens_generated_per_s|int4|decode|rule-03: 133 %",
     "again"},
    {FINAL, "latency", NULL, 0, no_throughput, IFM_CHECK_ABSENT, "f16|decode|step", "tokens|rows"},
    {FINAL, "second-level", NULL, 0, NULL, IFM_CHECK_MET, "2 arms|90|f16", ""},
    {FINAL, "second-level", NULL, 0, no_l2, IFM_CHECK_ABSENT, "no instrument", "counters"},
    {FINAL, "energy", NULL, 0, NULL, IFM_CHECK_MET, "2 arms|2 J|f16", ""},
    {FINAL, "energy", NULL, 0, no_energy, IFM_CHECK_ABSENT, "no instrument", "RAPL"},
    {FINAL, "energy", NULL, 0, some_energy, IFM_CHECK_ABSENT, "int4|decode|stood still", "again"},
    {FINAL, "compared", NULL, 0, NULL, IFM_CHECK_MET, "1 comparison|block", ""},
    {FINAL, "compared", NULL, 0, nothing_compared, IFM_CHECK_NOT_MET, "decode|nothing", "baseline"},
    {FINAL, "compared", NULL, 0, no_effect_size, IFM_CHECK_NOT_MET, "effect size|int4|decode", "again"},
    {FINAL, "compared", NULL, 0, no_interval, IFM_CHECK_NOT_MET, "int4|decode|no interval", "blocks"},
    {FINAL, "compared", NULL, 0, refused_change, IFM_CHECK_NOT_MET, "int4|decode|no comparison", "again"},
    {FINAL, "compared", NULL, 0, ceilings_only, IFM_CHECK_ABSENT, "ceilings", "workload"},
    {FINAL, "whole", NULL, 0, NULL, IFM_CHECK_MET, "1 cell|0123456789ab|1.2|abcdef012345", ""},
    {FINAL, "whole", NULL, 0, half_a_cell, IFM_CHECK_NOT_MET, "decode|record", "inferometer run --resume RUN-FOLDER"},
    {FINAL, "whole", NULL, 0, half_a_run, IFM_CHECK_NOT_MET, "not finish", "inferometer run --resume RUN-FOLDER"},
    {FINAL, "whole", NULL, 0, forget_environment, IFM_CHECK_NOT_MET, "version", "again"},
    {ELASTIC, "variation", NULL, 0, NULL, IFM_CHECK_MET, "2 %|f16|decode|within", ""},
    {ELASTIC, "variation", "latency_cv_percent", 2.01, NULL, IFM_CHECK_MET, "2.01 %|int4|decode|above|2 %", ""},
    {ELASTIC, "variation", "latency_cv_percent", 5, NULL, IFM_CHECK_MET, "5 %|int4|above", ""},
    {ELASTIC, "variation", "latency_cv_percent", 5.01, NULL, IFM_CHECK_NOT_MET, "5.01 %|int4", "--inner"},
    {ELASTIC, "variation", NULL, 0, no_variation, IFM_CHECK_ABSENT, "f16|decode|not measured", "again"},
    {ELASTIC, "variation", NULL, 0, variation_not_told, IFM_CHECK_ABSENT, "f16|decode|not measured", "again"},
    {ELASTIC, "100 measured", "samples_count", 100, NULL, IFM_CHECK_MET, "100 samples|int4", ""},
    {ELASTIC, "100 measured", "samples_count", 99, NULL, IFM_CHECK_NOT_MET, "99 samples|int4", "--repeats 100"},
    {ELASTIC, "20 warm-up", "warmup_samples", 4, NULL, IFM_CHECK_MET, "20 steps|int4", ""},
    {ELASTIC, "20 warm-up", "warmup_samples", 3.8, NULL, IFM_CHECK_NOT_MET, "19 steps|int4", "--warmup 20"},
    {ELASTIC, "uncompressed", NULL, 0, NULL, IFM_CHECK_MET, "1 comparison", ""},
    {ELASTIC, "uncompressed", NULL, 0, compressed_baseline, IFM_CHECK_NOT_MET, "f16|decode", "compress"},
    {ELASTIC, "temperature", NULL, 0, NULL, IFM_CHECK_MET, "5 K", ""},
    {ELASTIC, "temperature", "temperature_range_k", 5.01, NULL, IFM_CHECK_NOT_MET, "5 K|int4", "--warmup"},
    {ELASTIC, "repeatable", NULL, 0, NULL, IFM_CHECK_ABSENT, "one run", "compare A B"},
};

static void each_point_is_met_and_is_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run run;
        start(&run);
        if (cases[i].metric != NULL)
            number(&run, "int4", cases[i].metric)->number = cases[i].number;
        if (cases[i].edit != NULL)
            cases[i].edit(&run);
        ask(&run);
        expect(&run, cases[i].list, cases[i].asks, cases[i].state, cases[i].found, cases[i].remedy);
        stop(&run);
    }
}

/* No point without a case that meets it, or that says why nothing can; and none without one that does not. */
static void each_point_has_its_cases(void **state)
{
    (void)state;
    struct run run;
    start(&run);
    ask(&run);
    assert_int_equal(run.n_lists, 3);
    for (size_t l = 0; l < run.n_lists; l++) {
        size_t met = 0;
        for (size_t k = 0; k < run.lists[l].n_items; k++) {
            size_t good = 0, bad = 0;
            for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
                if (strcmp(cases[i].list, run.lists[l].id) == 0 &&
                    strstr(run.lists[l].items[k].asks, cases[i].asks) != NULL) {
                    good += cases[i].state == IFM_CHECK_MET;
                    bad += cases[i].state != IFM_CHECK_MET;
                }
            met += run.lists[l].items[k].state == IFM_CHECK_MET;
            const char *asks = run.lists[l].items[k].asks;
            bool never = strstr(asks, "repeatable") != NULL ||
                         strstr(asks, "environment locked") != NULL; /* it asks for both kinds of locks */
            if ((good == 0) != never || bad == 0)
                fail_msg("%s: %zu cases meet it, %zu do not", asks, good, bad);
        }
        assert_int_equal(run.lists[l].n_met, met);
    }
    stop(&run);
}

static void only_decode_has_the_elastic_list(void **state)
{
    (void)state;
    struct run run;
    start(&run);
    run.cells[0].workload = run.cells[1].workload = "gemm";
    ask(&run);
    assert_int_equal(run.n_lists, 2);
    stop(&run);
}

/* A journal of another version, or none, meets nothing by itself and breaks nothing. */
static void an_empty_journal_meets_little(void **state)
{
    (void)state;
    struct run run;
    start(&run);
    json_decref(run.events);
    run.events = NULL;
    ask(&run);
    expect(&run, ENVIRONMENT, "clocks locked", IFM_CHECK_ABSENT, "locks", "");
    expect(&run, ENVIRONMENT, "by seed", IFM_CHECK_ABSENT, "seed 42|no output", "output");
    expect(&run, FINAL, "whole", IFM_CHECK_NOT_MET, "decode|record", "");
    stop(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_point_is_met_and_is_not),
        cmocka_unit_test(each_point_has_its_cases),
        cmocka_unit_test(only_decode_has_the_elastic_list),
        cmocka_unit_test(an_empty_journal_meets_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
