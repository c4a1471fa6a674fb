/* Advice: given where its condition holds, with what helps there, and nowhere else. */
#include "checklist_sample.h"
#include "facts.h"

static void out_of_memory(struct run *run)
{
    run->cells[0].measure.isolation = IFM_ISOLATION_PROCESSES;
    event(run, "cell_failed",
          json_pack("{s:s, s:s, s:s}", "cell", "decode", "reason", "needs 9 GiB of memory", "remedy", ""));
}

static void other_failure(struct run *run)
{
    event(run, "cell_failed", json_pack("{s:s, s:s, s:s}", "cell", "decode", "reason", "it stopped", "remedy", ""));
}

static void vary_by_load(struct run *run)
{
    load_0_101(run);
    number(run, "f16", "latency_cv_percent")->number = 6;
    number(run, "int4", "latency_cv_percent")->number = 7;
}

static void vary_unsteadily(struct run *run)
{
    unsteady(run);
    run->cells[0].measure.warmup_cap_s = 5;
    number(run, "int4", "latency_cv_percent")->number = 6;
}

static void vary_by_short_samples(struct run *run)
{
    number(run, "int4", "latency_cv_percent")->number = 6;
    number(run, "int4", "step_ns")->number = 199999; /* times 5 steps */
}

/* A sample of a program is one run, however short. */
static void vary_by_short_programs(struct run *run)
{
    vary_by_short_samples(run);
    for (size_t i = 0; i < run->cells[0].n_arms; i++)
        run->arms[i].gaps = true;
}

static void vary_by_itself(struct run *run)
{
    number(run, "int4", "latency_cv_percent")->number = 129;
    number(run, "int4", "blocks_marked")->number = 1;
}

static void vary_in_modes(struct run *run)
{
    number(run, "int4", "latency_cv_percent")->number = 6;
    number(run, "int4", "modes_count")->number = 2;
}

static void read_slowly(struct run *run)
{
    number(run, "int4", "ceiling_read_percent")->number = 49.9;
}

/* A ceiling that moved: the share is held against its low end. */
static void read_slowly_of_a_moved_ceiling(struct run *run)
{
    static double lowered[] = {1.45, 1};
    number(run, "int4", "ceiling_read_percent")->number = 27.5;
    run->derived.read_lowered = lowered;
}

static void read_well_of_a_moved_ceiling(struct run *run)
{
    static double lowered[] = {1.45, 1};
    number(run, "int4", "ceiling_read_percent")->number = 34.6; /* 50.2 of the low end */
    run->derived.read_lowered = lowered;
}

static void read_slowly_in_short_steps(struct run *run)
{
    read_slowly(run);
    number(run, "int4", "step_ns")->number = 99999;
}

static void read_slowly_under_load(struct run *run)
{
    read_slowly(run);
    load_0_101(run);
}

static void read_slowly_scalar(struct run *run)
{
    read_slowly(run);
    json_object_set_new(meta_of(run, "check", 3), "isa", json_string("scalar"));
}

static void read_slowly_on_one_cpu(struct run *run)
{
    read_slowly(run);
    run->cells[0].threads = 1;
}

static void read_slowly_small_pages(struct run *run)
{
    read_slowly(run);
    json_object_set_new(meta_of(run, "device", 0), "huge_page_bytes", json_integer(1024));
}

static void compute_bound(struct run *run)
{
    read_slowly(run);
    number(run, "int4", "ceiling_flops_percent")->number = 50;
}

static void nearly_compute_bound(struct run *run)
{
    read_slowly(run);
    number(run, "int4", "ceiling_flops_percent")->number = 49.9;
}

/* Slow at both, as on a busy machine: what computes is limited by computing, and reads little because of that. */
static void slow_at_computing(struct run *run)
{
    number(run, "int4", "ceiling_read_percent")->number = 0.029;
    number(run, "int4", "ceiling_flops_percent")->number = 12;
}

static void disturbed(struct run *run)
{
    number(run, "int4", "blocks_marked")->number = 7;
}

/* As derive says it, of an arm that a line fits and whose ends differ. */
static void drifting(struct run *run)
{
    number(run, "int4", "drift_percent")->low = 1;
    run->findings[0] = (struct ifm_finding){.cell = "decode",
                                            .arm = "int4",
                                            .rule = "rule-07",
                                            .text = "",
                                            .kind = IFM_FINDING_TIME_DRIFTS,
                                            .of_one = true};
    run->derived.findings = run->findings;
    run->derived.n_findings = 1;
}

/* A line fits a burst too. */
static void bursting(struct run *run)
{
    number(run, "int4", "drift_percent")->low = 1;
}

/* A governor that `inferometer lock` would hold. */
static void drifting_unlocked(struct run *run)
{
    drifting(run);
    event(run, "locks",
          json_pack("{s:s, s:[{s:s, s:s, s:b, s:s, s:s}]}", "when", "before", "knobs", "knob", "governor", "value",
                    "powersave", "locked", 0, "reason", "it may change the clock", "remedy",
                    "inferometer lock --governor performance -- COMMAND"));
}

static void falling(struct run *run)
{
    drifting(run);
    *number(run, "int4", "drift_percent") =
        (struct ifm_value){.number = -9, .has_interval = true, .low = -19, .high = -1, .reason = "", .text = ""};
}

/* `kind` NULL: the edit gives no advice. */
static const struct {
    void (*edit)(struct run *);
    const char *kind, *arm, *condition, *text;
} advised[] = {
    {vary_by_load, "variation", "int4", "7 %|5 %|1 more arm", "what else"},
    {vary_unsteadily, "variation", "int4", "6 %|5 %", "--warmup-cap|5 s"},
    {vary_by_short_samples, "variation", "int4", "6 %", "--inner above 5"},
    {vary_by_short_programs, "variation", "int4", "6 %", "a quieter machine"},
    {vary_by_itself, "variation", "int4", "129 %", "slow samples|the machine was quiet"},
    {vary_in_modes, "variation", "int4", "6 %", "distribution"},
    {read_slowly, "memory", "int4", "49.9 %|ceiling|50 %", "kernel has room|neither reading nor arithmetic"},
    {read_slowly_of_a_moved_ceiling, "memory", "int4", "reads at 27.5 to 39.9 % of its ceiling, below 50 %",
     "has room"},
    {read_well_of_a_moved_ceiling, NULL, "", "", ""},
    {read_slowly_in_short_steps, "memory", "int4", "49.9 %", "more bytes in a step|joining"},
    {read_slowly_under_load, "memory", "int4", "49.9 %", "what else"},
    {read_slowly_scalar, "memory", "int4", "49.9 %", "scalar|--isa auto"},
    {read_slowly_on_one_cpu, "memory", "int4", "49.9 %", "1 of 2 CPUs|--threads 0"},
    {read_slowly_small_pages, "memory", "int4", "49.9 %", "huge pages|25 %"},
    {nearly_compute_bound, "memory", "int4", "49.9 %", "kernel has room"},
    {compute_bound, NULL, "", "", ""},
    {slow_at_computing, NULL, "", "", ""},
    {out_of_memory, "fit", "", "9 GiB", "--kv-len|--batch|--isolation shared"},
    {other_failure, NULL, "", "", ""},
    {disturbed, "consistency", "", "7 of 12 blocks", "end what else runs|--threads"},
    {drifting, "consistency", "int4", "drifts by 9 %", "--warmup-cap"},
    {drifting_unlocked, "consistency", "int4", "drifts by 9 %", "locked clocks|inferometer lock"},
    {falling, "consistency", "int4", "drifts|-9 %", "--warmup-cap"},
    {bursting, NULL, "", "", ""},
};

static void advice_is_given_where_its_condition_holds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof advised / sizeof advised[0]; i++) {
        struct run run;
        start(&run);
        ask(&run);
        assert_int_equal(run.n_advice, 0); /* every number stands at its limit */
        advised[i].edit(&run);
        ask(&run);
        assert_int_equal(run.n_advice, advised[i].kind != NULL);
        if (run.n_advice == 1 &&
            (strcmp(run.advice->kind, advised[i].kind) != 0 || strcmp(run.advice->cell, "decode") != 0 ||
             strcmp(run.advice->arm, advised[i].arm) != 0 ||
             !facts_stand(run.advice->condition, advised[i].condition, NULL) ||
             !facts_stand(run.advice->text, advised[i].text, NULL)))
            fail_msg("%zu: %s, %s: %s: %s", i, run.advice->kind, run.advice->arm, run.advice->condition,
                     run.advice->text);
        /* `profile` asks of each arm, and says the same. */
        const struct ifm_cell *cell = &run.cells[0];
        for (size_t a = 0; a < cell->n_arms; a++) {
            const bool told = advised[i].kind != NULL && strcmp(advised[i].kind, "memory") == 0 &&
                              strcmp(cell->arms[a].name, advised[i].arm) == 0;
            const char *text = ifm_advise_memory(&run.plan, &run.derived, events_of(run.events, run.arena), cell,
                                                 &cell->arms[a], run.arena);
            assert_int_equal(text != NULL, told);
            if (told)
                assert_string_equal(text, run.advice->text);
        }
        /* What one arm leaves behind asks for longer slots: no other line of the run asks for shorter ones. */
        assert_true(run.n_advice == 0 || strstr(run.advice->text, "slots") == NULL);
        stop(&run);
    }
}

static void a_variation_at_its_limit_needs_no_advice(void **state)
{
    (void)state;
    struct run run;
    start(&run);
    number(&run, "int4", "latency_cv_percent")->number = 5;
    ask(&run);
    assert_int_equal(run.n_advice, 0);
    number(&run, "int4", "latency_cv_percent")->number = 5.01;
    ask(&run);
    assert_int_equal(run.n_advice, 1);
    assert_non_null(strstr(run.advice->text, "quieter")); /* samples of 1 ms are long enough */
    assert_non_null(strstr(run.advice->text, "trimming"));
    stop(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advice_is_given_where_its_condition_holds),
        cmocka_unit_test(a_variation_at_its_limit_needs_no_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
