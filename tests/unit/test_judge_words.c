/* Judge in words: triage, fewest observations, effect sizes that stand alone. */
#include "unit/judge_sample.h"

#include "unit/facts.h"

static void too_few_observations_block(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j);
    j.fx.samples = 1; /* 24 cycles */
    jd_record(&j);
    jd_preset(&j, "golden-ticket");
    jd_judge(&j);
    jd_expect_but(&j, "golden ticket: precision", IFM_OUTCOME_BLOCKED, IFM_OUTCOME_PASS);
    assert_facts(j.fx.verdict->gates[0].reason, "24 samples|30");
    jd_expect(&j, IFM_OUTCOME_BLOCKED, IFM_INVALID);
    jd_stop(&j);
}

static void an_effect_size_decides_nothing_alone(void **state)
{
    (void)state;
    static const char *const metrics[] = {"cliffs_delta", "hedges_g"};
    for (size_t i = 0; i < 2; i++) {
        struct judged j;
        jd_start(&j);
        jd_record(&j);
        fx_gate(&j.fx, metrics[i], "", IFM_GATE_AT_LEAST, 0.3, false);
        jd_judge(&j);
        jd_expect(&j, IFM_OUTCOME_BLOCKED, IFM_INVALID);
        assert_facts(j.fx.verdict->gates[0].reason, "alone");
        fx_gate(&j.fx, "speedup", "base", IFM_GATE_AT_LEAST, 1.1, false); /* of another arm */
        jd_judge(&j);
        assert_int_equal(j.fx.verdict->gates[0].outcome, IFM_OUTCOME_BLOCKED);
        j.fx.gates[1].arm = "other";
        jd_judge(&j);
        jd_expect(&j, IFM_OUTCOME_PASS, IFM_OK);
        jd_stop(&j);
    }
}

/* ---- triage ---- */

/* `none` is what the line may not hold; "" = anything goes. */
static void expect_triage(struct judged *j, const char *facts, const char *none)
{
    jd_record(j);
    jd_judge(j);
    assert_int_equal(j->fx.verdict->n_triage, 1);
    const struct ifm_triage_line *line = &j->fx.verdict->triage[0];
    assert_string_equal(line->arm, "other");
    assert_facts(line->text, facts);
    if (none[0] != '\0' && strstr(line->text, none) != NULL)
        fail_msg("\"%s\" says %s", line->text, none);
    jd_stop(j);
}

static void equal_columns(struct judged *j)
{
    jd_start(j);
    j->l2[0] = j->l2[1] = -1;
    j->energy_uj[0] = j->energy_uj[1] = -1;
    j->fx.noise = 0.001;
}

/* Noise that happens to lie on the side of a little stolen time: there is no change yet that it could explain. */
static void what_is_not_decided_is_not_explained(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 40; seed++) {
        struct judged j;
        equal_columns(&j);
        j.fx.noise = 0.05;
        j.fx.seed = seed;
        j.steal[0] = 0;
        j.steal[1] = 0.04;
        j.fx.parts[0].step_ns[1] = j.fx.parts[0].step_ns[0];
        jd_record(&j);
        jd_judge(&j);
        const struct ifm_value *change = fx_value(&j.fx, "other", "change_percent");
        const char *line = j.fx.verdict->triage[0].text;
        bool unsure = change->low < 0 && change->high > 0;
        bool caught = unsure && strstr(line, "could explain") != NULL && strstr(line, "nothing") == NULL;
        if (unsure && (strstr(line, "explains") != NULL && strstr(line, "nothing") == NULL))
            fail_msg("%s", line);
        jd_stop(&j);
        if (caught)
            return;
    }
    fail_msg("no seed gave a change that is not decided beside stolen time");
}

static void a_slower_clock_explains(void **state)
{
    (void)state;
    struct judged j;
    equal_columns(&j);
    j.fx.parts[0].step_ns[1] = 416000;
    j.khz[0] = 3000000;
    j.khz[1] = 2880000;
    expect_triage(&j, "(undecided)|clock -4.0 %|not decided|could explain", "explains");
}

/* A clock that ran faster cannot be why the arm is slower, and one too small by far cannot be why it is faster. */
static void a_clock_the_other_way_or_too_small_does_not(void **state)
{
    (void)state;
    struct judged j;
    equal_columns(&j);
    j.fx.parts[0].step_ns[1] = 416000;
    j.khz[0] = 2960000;
    j.khz[1] = 3000000;
    expect_triage(&j, "(slower)|nothing|explains|code", "");
    equal_columns(&j);
    j.fx.parts[0].step_ns[1] = 200000;
    j.khz[0] = 3000000;
    j.khz[1] = 3030000;
    expect_triage(&j, "(faster)|beside|clock +1.0 %|nothing|explains|code", "");
}

static void stolen_time_explains(void **state)
{
    (void)state;
    struct judged j;
    equal_columns(&j);
    j.fx.parts[0].step_ns[1] = 412000;
    j.steal[0] = 0;
    j.steal[1] = 0.03;
    expect_triage(&j, "(slower)|stolen time|% of its time against 0 %|stolen time explains it", "nothing");
    equal_columns(&j);
    j.fx.parts[0].step_ns[1] = 800000; /* the same stolen share is far too little for this */
    j.steal[0] = 0;
    j.steal[1] = 0.03;
    expect_triage(&j, "(slower)|stolen time|nothing|explains", "");
}

/* Both arms lose the same share of their time; the slower one loses more of it for being slower, and that is no cause.
 */
static void an_equal_share_explains_nothing(void **state)
{
    (void)state;
    struct judged j;
    equal_columns(&j);
    j.fx.parts[0].step_ns[1] = 800000;
    j.steal[0] = j.steal[1] = 0.6;
    expect_triage(&j, "time +100 %|nothing", "stolen"); /* so much of it that no word stands */
}

/* One companion in place of those of the record; the arm takes half as long. */
static const char *triage_beside(struct judged *j, const char *column, double own, double base)
{
    equal_columns(j);
    j->fx.parts[0].step_ns[1] = 200000;
    jd_record(j);
    fx_derive(&j->fx);
    struct ifm_companion *c = IFM_ARENA_NEW(j->fx.arena, struct ifm_companion);
    *c = (struct ifm_companion){.cell = "decode",
                                .arm = "other",
                                .column = column,
                                .unit = "ns",
                                .n = 12,
                                .own = own,
                                .base = base,
                                .step_ns = 400000};
    j->fx.derived->companions = c;
    j->fx.derived->n_companions = 1;
    fx_judge(&j->fx);
    return j->fx.verdict->triage[0].text;
}

/* The conclusion of the line beside two columns of times, of a baseline of 0.4 ms. */
static const char *causes_beside(struct judged *j, struct ifm_companion c[2])
{
    for (int i = 0; i < 2; i++) {
        c[i].cell = "decode";
        c[i].arm = "other";
        c[i].unit = "ns";
        c[i].n = 12;
        c[i].step_ns = 400000;
    }
    j->fx.derived->companions = c;
    j->fx.derived->n_companions = 2;
    fx_judge(&j->fx);
    const char *causes = strrchr(j->fx.verdict->triage[0].text, ';');
    assert_non_null(causes);
    return causes;
}

/* As many switches in a step of half the time are a larger share of it, and none more; what the lab's own thread waited
 * says nothing beside what the program waited. */
static void what_did_not_change_is_not_told(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct judged j;
        const char *text = triage_beside(&j, "child_switches_voluntary", 3 + more, 3);
        assert_int_equal(strstr(text, "voluntary switches +") != NULL, more);
        jd_stop(&j);
    }
    /* also where of a program it is not told what it waited */
    static const char *const beside[] = {"steal_ns", "child_run_delay_ns", "child_cpu_ns"};
    for (int programs = 0; programs < 3; programs++) {
        struct judged j;
        equal_columns(&j);
        j.fx.parts[0].step_ns[1] = 800000;
        jd_record(&j);
        fx_derive(&j.fx);
        struct ifm_companion c[] = {{.column = "run_delay_ns", .own = 0.25 * 800000, .base = 0.02 * 400000},
                                    {.column = beside[programs], .own = 16000, .base = 0}};
        (void)causes_beside(&j, c);
        assert_int_equal(strstr(j.fx.verdict->triage[0].text, "CPU 25 % of its time") != NULL, !programs);
        jd_stop(&j);
    }
}

/* Twice the time, and 45 % of it waiting for a CPU where the baseline waits 2 %: most of the change, unless the program
 * also computes for twice as long. Then it waits because it is long. */
static void waiting_does_not_explain_work(void **state)
{
    (void)state;
    for (int works = 0; works < 2; works++) {
        struct judged j;
        equal_columns(&j);
        j.fx.parts[0].step_ns[1] = 800000;
        jd_record(&j);
        fx_derive(&j.fx);
        struct ifm_companion c[] = {
            {.column = "child_run_delay_ns", .own = 0.45 * 800000, .base = 0.02 * 400000},
            {.column = "child_cpu_ns", .own = works ? 780000 : 392000, .base = 390000},
        };
        const char *causes = causes_beside(&j, c);
        assert_string_equal(causes, works ? "; processor time +100.0 % (more work, or slower instructions) explains it"
                                          : "; waiting for a CPU explains 78 % of it");
        jd_stop(&j);
    }
}

/* Waiting that two threads added up is a share of the time of both; of one thread, of a program and of a GPU's host
 * thread it is one of the step's time. */
static void waiting_of_threads_is_a_share_of_their_time(void **state)
{
    (void)state;
    static const struct {
        unsigned threads;
        const char *device, *column, *told;
    } cases[] = {
        {2, "cpu", "run_delay_ns", "waiting for a CPU 48 % of the time of its 2 threads against 10 %"},
        {1, "cpu", "run_delay_ns", "waiting for a CPU 96 % of its time against 20 %"},
        {2, "cuda", "run_delay_ns", "waiting for a CPU 96 % of its time against 20 %"},
        {2, "cpu", "child_run_delay_ns", "waiting for a CPU 96 % of its time against 20 %"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged j;
        equal_columns(&j);
        j.fx.parts[0].step_ns[1] = 800000;
        jd_record(&j);
        fx_derive(&j.fx);
        j.fx.cells[0].threads = cases[i].threads;
        j.fx.plan.device = cases[i].device;
        struct ifm_companion c[] = {{.column = cases[i].column, .own = 0.96 * 800000, .base = 0.2 * 400000},
                                    {.column = "steal_ns", .own = 0, .base = 0}};
        (void)causes_beside(&j, c);
        assert_non_null(strstr(j.fx.verdict->triage[0].text, cases[i].told));
        jd_stop(&j);
    }
}

/* A fifth more work of a program that computes for two fifths of its time: it explains the change where others had the
 * CPUs for the rest, and not where the program slept. */
static void work_explains_the_waiting_that_it_meets(void **state)
{
    (void)state;
    for (int waited = 0; waited < 2; waited++) {
        struct judged j;
        equal_columns(&j);
        j.fx.parts[0].step_ns[1] = 480000;
        jd_record(&j);
        fx_derive(&j.fx);
        struct ifm_companion c[] = {
            {.column = "child_cpu_ns", .own = 192000, .base = 160000},
            {.column = "child_run_delay_ns", .own = waited * 264000, .base = waited * 220000},
        };
        const char *causes = causes_beside(&j, c);
        assert_facts(causes, waited ? "processor time +20.0 % (more work, or slower instructions)"
                                    : "nothing recorded explains it");
        jd_stop(&j);
    }
}

/* Half the time with half the processor time: that is it, unless the program waits and its processor time is a tenth of
 * the time. A tenth less of it, on eight threads, is more nanoseconds than the change has, and is not. */
static void processor_time_explains_by_its_ratio(void **state)
{
    (void)state;
    struct judged j;
    assert_facts(triage_beside(&j, "child_cpu_ns", 150000, 300000), "processor time -50.0 %|explains it");
    jd_stop(&j);
    assert_facts(triage_beside(&j, "child_cpu_ns", 20000, 40000), "processor time -50.0 %|nothing recorded explains");
    jd_stop(&j);
    assert_facts(triage_beside(&j, "child_cpu_ns", 2880000, 3200000),
                 "processor time -10.0 %|nothing recorded explains");
    jd_stop(&j);
}

/* A program that sleeps for half of its time and does no work any more, or less of it, is shorter by just that; what is
 * a third of the change, or twice as much as it, is not its cause. */
static void processor_time_explains_by_its_nanoseconds(void **state)
{
    (void)state;
    static const struct {
        double own, base;
        const char *said;
    } cases[] = {{5000, 200000, "processor time -97.5 %|explains it"},
                 {60000, 190000, "processor time -68.4 %|explains 65 % of it"},
                 {110000, 176000, "processor time -37.5 %|nothing recorded explains"},
                 {10000, 390000, "processor time -97.4 %|nothing recorded explains"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged j;
        assert_facts(triage_beside(&j, "child_cpu_ns", cases[i].own, cases[i].base), cases[i].said);
        jd_stop(&j);
    }
}

/* What the arm is set to comes before all that was measured. */
static void construction_comes_first(void **state)
{
    (void)state;
    static const struct ifm_setting own[] = {{"decode.isa", "avx2"}, {"decode.batch", "4"}, {"decode.label", ""}};
    static const struct ifm_setting base[] = {{"decode.isa", "avx512"}, {"decode.batch", "4"}, {"decode.label", "x"}};
    struct judged j;
    equal_columns(&j);
    j.fx.parts[0].arms[0].settings = base;
    j.fx.parts[0].arms[1].settings = own;
    j.fx.parts[0].arms[0].n_settings = j.fx.parts[0].arms[1].n_settings = 3;
    j.fx.parts[0].arms[0].variant = "f16";
    j.fx.parts[0].arms[1].variant = "int4";
    j.khz[0] = 3000000;
    j.khz[1] = 3030000;
    expect_triage(&j,
                  "time|(faster); by construction decode.isa is avx2, not avx512, the form is int4, not f16; beside it "
                  "clock +1.0 %; nothing recorded explains it: its construction",
                  "decode.batch");
}

/* What was chosen differs: `base` of the baseline, `own` of the arm, in one setting each. */
static void expect_chosen(const struct ifm_setting *base, const struct ifm_setting *own, const char *facts,
                          const char *lacks)
{
    struct judged j;
    equal_columns(&j);
    j.fx.parts[0].arms[0].chosen = base;
    j.fx.parts[0].arms[1].chosen = own;
    j.fx.parts[0].arms[0].n_chosen = j.fx.parts[0].arms[1].n_chosen = 1;
    j.khz[1] = 1.01 * (j.khz[0] = 3000000);
    expect_triage(&j, facts, lacks);
}

#define EIGHT(x) x x x x x x x x
/* The hash of a private text tells nobody anything; chosen layers are inputs of one layer each, no model's depth. */
static void what_differs_is_said_for_people(void **state)
{
    (void)state;
    static const struct ifm_setting line[] = {{"command.line", "sha256:" EIGHT("aaaaaaaa")},
                                              {"command.line", "sha256:" EIGHT("bbbbbbbb")}};
    static const struct ifm_setting layers[] = {{"layers", "1"}, {"layers", "4"}};
    expect_chosen(&line[0], &line[1], "by construction command.line differs; beside it clock +1.0 %", "sha256");
    expect_chosen(&layers[0], &layers[1], "rotating inputs is 4, not 1; beside", "layers");
}

static void a_failed_program_says_its_status(void **state)
{
    (void)state;
    static const char *const columns[] = {"child_cpu_ns"};
    static const struct ifm_pass pass = {.columns = columns, .n_columns = 1};
    const struct ifm_value refused = {.state = IFM_STATE_REFUSED,
                                      .reason = "3 of 12 runs failed (exit status 7)",
                                      .unit = "",
                                      .n_of = "",
                                      .remedy = "",
                                      .text = ""};
    struct ifm_value three = refused;
    three.state = IFM_STATE_OK;
    three.number = 3;
    for (int baseline = 0; baseline < 2; baseline++) {
        const char *failed = baseline ? "base" : "other";
        struct ifm_number numbers[] = {{"decode", failed, IFM_M_STEP_NS, refused},
                                       {"decode", failed, IFM_M_COMMAND_FAILURES, three},
                                       {"decode", "other", IFM_M_CHANGE_PERCENT, refused}};
        struct ifm_derived derived = {
            .run_id = "0123456789ab", .config_hash = "cafe", .numbers = numbers, .n_numbers = 3};
        struct fixture fx;
        fx_start(&fx);
        fx.cells[0].workload = "command";
        fx.cells[0].passes = &pass;
        fx.cells[0].n_passes = 1;
        fx.derived = &derived;
        fx_judge(&fx);
        assert_int_equal(fx.verdict->n_triage, 1);
        assert_facts(fx.verdict->triage[0].text, baseline ? "the program of base failed|3 of 12|exit status 7"
                                                          : "the program of other failed|3 of 12|exit status 7");
        fx_stop(&fx);
    }
}

static void nothing_recorded_says_so(void **state)
{
    (void)state;
    struct judged j;
    equal_columns(&j);
    expect_triage(&j, "(faster)|nothing|recorded", "code");
    equal_columns(&j); /* recorded, and all the same */
    j.khz[0] = j.khz[1] = 3000000;
    expect_triage(&j, "(faster)|nothing|recorded|code", "explain");
    equal_columns(&j);
    j.fx.parts[0].step_ns[1] = 400000;
    j.fx.noise = 0.0005;
    expect_triage(&j, "(equivalent)|no change", "nothing");
}

/* What the data do not tell is not put down to the code. */
static void an_undecided_change_has_no_cause(void **state)
{
    (void)state;
    struct judged j;
    equal_columns(&j);
    j.khz[0] = j.khz[1] = 3000000;
    j.fx.noise = 0.05;
    j.fx.parts[0].step_ns[1] = 400000;
    expect_triage(&j, "(undecided)|not decided|nothing", "code");
}

static void it_is_all_in_verdict_json(void **state)
{
    (void)state;
    struct judged j;
    jd_start_golden(&j);
    json_t *json = ifm_verdict_to_json(j.fx.verdict, j.fx.derived);
    assert_non_null(json);
    assert_int_equal(json_array_size(json_object_get(json, "triage")), 1);
    assert_int_equal(json_array_size(json_object_get(json, "classes")), 3);
    json_t *gate = json_array_get(json_object_get(json, "gates"), 0);
    assert_int_equal(json_integer_value(json_object_get(gate, "least_n")), 30);
    json_decref(json);
    jd_stop(&j);
}

/* Twice the time, with bytes, warps, power and launches of passes of their own; `planned`: the counters of today, and
 * its rules of planning. `more`: launches of the slower arm beyond the two of the other. */
static const char *triage_counted(struct judged *j, const double bytes[2], bool planned, double more)
{
    static const char *const columns[] = {"l2_sector_hits"};
    equal_columns(j);
    j->fx.parts[0].step_ns[1] = 2 * j->fx.parts[0].step_ns[0];
    jd_record(j);
    fx_derive(&j->fx);
    struct fixture *f = &j->fx;
    const struct ifm_cell *cell = &f->cells[0];
    struct ifm_number *numbers = IFM_ARENA_ARRAY(f->arena, struct ifm_number, f->derived->n_numbers + 12);
    memcpy(numbers, f->derived->numbers, f->derived->n_numbers * sizeof *numbers);
    for (size_t a = 0; a < 2; a++) {
        const double of[] = {bytes[a], 0, 64, a == 0 ? 300 : 150, 2 + (a == 0 ? 0 : more), 0};
        const enum ifm_metric_id metrics[] = {IFM_M_DRAM_BYTES_READ, IFM_M_DRAM_BYTES_WRITTEN, IFM_M_WARPS_LAUNCHED,
                                              IFM_M_GPU_POWER_W,     IFM_M_KERNELS_LAUNCHED,   IFM_M_GRAPH_KERNELS};
        for (size_t m = 0; m < 6; m++)
            numbers[f->derived->n_numbers++] = (struct ifm_number){
                cell->name, cell->arms[a].name, metrics[m], {.number = of[m], .reason = "", .remedy = "", .text = ""}};
    }
    f->derived->numbers = numbers;
    const struct ifm_pass *before = f->cells[0].passes;
    struct ifm_pass *passes = IFM_ARENA_ARRAY(f->arena, struct ifm_pass, 2);
    passes[0] = (struct ifm_pass){.kind = IFM_PASS_LATENCY};
    passes[1] = (struct ifm_pass){.kind = IFM_PASS_COUNTERS, .columns = columns, .n_columns = planned ? 1 : 0};
    const size_t n_before = f->cells[0].n_passes;
    f->cells[0].passes = passes;
    f->cells[0].n_passes = 2;
    f->plan.rules = planned ? IFM_PLAN_RULES : 1;
    fx_judge(f);
    f->cells[0].passes = before;
    f->cells[0].n_passes = n_before;
    return f->verdict->triage[0].text;
}

static void launches_explain(void **state)
{
    (void)state;
    struct judged j;
    const double bytes[] = {1e9, 1e9};
    const char *line = triage_counted(&j, bytes, true, 1e6);
    if (strstr(line, "kernels launched +1e+06 a step could explain it") == NULL)
        fail_msg("%s", line);
    jd_stop(&j);
    line = triage_counted(&j, bytes, true, 1e-4); /* half a nanosecond at the most */
    if (strstr(line, "launched") != NULL || strstr(line, "nothing recorded explains it") == NULL)
        fail_msg("%s", line);
    jd_stop(&j);
    line = triage_counted(&j, bytes, false, 1e6); /* a folder of before */
    if (strstr(line, "launched") != NULL)
        fail_msg("%s", line);
    jd_stop(&j);
}

static void bytes_that_were_counted_explain(void **state)
{
    (void)state;
    struct judged j;
    const char *line = triage_counted(&j, (const double[]){1e9, 2e9}, true, 0);
    if (strstr(line, "bytes of memory +100.0 % could explain it") == NULL || strstr(line, "power -50.0 %") == NULL ||
        strstr(line, "warps") != NULL)
        fail_msg("%s", line);
    jd_stop(&j);
    line = triage_counted(&j, (const double[]){1e9, 1.1e9}, true, 0); /* a tenth of the change */
    if (strstr(line, "bytes of memory +10.0 %") == NULL || strstr(line, "nothing recorded explains it") == NULL)
        fail_msg("%s", line);
    jd_stop(&j);
    line = triage_counted(&j, (const double[]){1e9, 2e9}, false, 0); /* a folder of before */
    if (strstr(line, "bytes of memory") != NULL)
        fail_msg("%s", line);
    jd_stop(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_that_were_counted_explain),
        cmocka_unit_test(launches_explain),
        cmocka_unit_test(too_few_observations_block),
        cmocka_unit_test(an_effect_size_decides_nothing_alone),
        cmocka_unit_test(what_is_not_decided_is_not_explained),
        cmocka_unit_test(a_slower_clock_explains),
        cmocka_unit_test(a_clock_the_other_way_or_too_small_does_not),
        cmocka_unit_test(stolen_time_explains),
        cmocka_unit_test(an_equal_share_explains_nothing),
        cmocka_unit_test(what_did_not_change_is_not_told),
        cmocka_unit_test(waiting_does_not_explain_work),
        cmocka_unit_test(waiting_of_threads_is_a_share_of_their_time),
        cmocka_unit_test(work_explains_the_waiting_that_it_meets),
        cmocka_unit_test(processor_time_explains_by_its_ratio),
        cmocka_unit_test(processor_time_explains_by_its_nanoseconds),
        cmocka_unit_test(construction_comes_first),
        cmocka_unit_test(what_differs_is_said_for_people),
        cmocka_unit_test(a_failed_program_says_its_status),
        cmocka_unit_test(nothing_recorded_says_so),
        cmocka_unit_test(an_undecided_change_has_no_cause),
        cmocka_unit_test(it_is_all_in_verdict_json),
    };
    return cmocka_run_group_tests_name("judge_words", tests, NULL, NULL);
}
