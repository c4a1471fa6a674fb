/* Rule 9 for the gates presets: an arm twice as slow fails each of them and one a little more than twice as fast passes
 * (its whole interval must lie at 2.0 or above), and every gate of every preset fails alone. */
#include "unit/judge_sample.h"

static const char *const presets[] = {"sop", "golden-ticket", "significant"};
enum { PRESETS = sizeof presets / sizeof presets[0] };

static void twice_as_fast_passes_each_preset(void **state)
{
    (void)state;
    for (size_t p = 0; p < PRESETS; p++) {
        struct judged j;
        jd_start(&j);
        jd_record(&j);
        jd_preset(&j, presets[p]);
        jd_judge(&j);
        jd_expect(&j, IFM_OUTCOME_PASS, IFM_OK);
        bool forms = strcmp(presets[p], "golden-ticket") == 0; /* three of its gates are about compressed arms */
        assert_int_equal(j.fx.verdict->n_gates, j.fx.plan.n_gates - (forms ? 3 : 0));
        jd_stop(&j);
    }
}

/* Slower, and worse in all that goes with it: no gate passes by a sign that is the wrong way round. */
static void twice_as_slow_fails_each_preset(void **state)
{
    (void)state;
    for (size_t p = 0; p < PRESETS; p++) {
        struct judged j;
        jd_start(&j);
        j.fx.parts[0].step_ns[1] = 800000;
        j.fx.noise = 0.03;
        j.l2[1] = 0.3;
        j.energy_uj[1] = 2000;
        j.quality[1] = 75;
        j.error = 0.5;
        jd_record(&j);
        jd_preset(&j, presets[p]);
        jd_judge(&j);
        jd_expect(&j, IFM_OUTCOME_FAIL, IFM_REJECTED);
        jd_expect_but(&j, j.fx.gates[0].name, IFM_OUTCOME_FAIL, IFM_OUTCOME_FAIL);
        jd_stop(&j);
    }
}

static void fails_alone(struct judged *j, const char *preset, const char *gate)
{
    jd_record(j);
    jd_preset(j, preset);
    jd_judge(j);
    jd_expect_but(j, gate, IFM_OUTCOME_FAIL, IFM_OUTCOME_PASS);
    jd_expect(j, IFM_OUTCOME_FAIL, IFM_REJECTED);
    jd_stop(j);
}

static void each_gate_of_sop_alone(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j);
    j.fx.parts[0].step_ns[1] = 340000;
    fails_alone(&j, "sop", "sop: latency");
    jd_start(&j);
    j.l2[1] = 0.595;
    fails_alone(&j, "sop", "sop: L2 hits");
    jd_start(&j);
    j.energy_uj[1] = 860;
    fails_alone(&j, "sop", "sop: energy per token");
    jd_start(&j);
    j.quality[1] = 79.85;
    fails_alone(&j, "sop", "sop: quality");
}

static void each_gate_of_golden_ticket_alone(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j);
    j.fx.noise = 0.02;
    fails_alone(&j, "golden-ticket", "golden ticket: precision");
    jd_start(&j);
    j.fx.parts[0].step_ns[1] = 210000;
    fails_alone(&j, "golden-ticket", "golden ticket: speed-up");
    jd_start(&j);
    j.error = 0.02;
    fails_alone(&j, "golden-ticket", "golden ticket: accuracy");
}

/* The bars of the divergence, by what the arm stores; a gate on another form is not about it. */
static void the_bars_of_golden_ticket_are_by_form(void **state)
{
    (void)state;
    static const struct {
        const char *variant, *gate;
        double kl;
        enum ifm_outcome outcome;
    } cases[] = {{"int8", "golden ticket: accuracy of 8 bits", 0.0010, IFM_OUTCOME_PASS},
                 {"int8", "golden ticket: accuracy of 8 bits", 0.0011, IFM_OUTCOME_FAIL},
                 {"e4m3", "golden ticket: accuracy of 8 bits", 0.0037, IFM_OUTCOME_FAIL},
                 {"int4", "golden ticket: accuracy of 4 bits", 0.019, IFM_OUTCOME_PASS},
                 {"int4", "golden ticket: accuracy of 4 bits", 0.031, IFM_OUTCOME_FAIL},
                 {"int2", "golden ticket: accuracy of 2 bits", 0.058, IFM_OUTCOME_PASS},
                 {"int2", "golden ticket: accuracy of 2 bits", 0.21, IFM_OUTCOME_FAIL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged j;
        jd_start(&j);
        jd_preset(&j, "golden-ticket");
        j.fx.parts[0].arms[1].variant = cases[i].variant;
        struct ifm_number kl = {
            "decode",
            "other",
            IFM_M_ATTENTION_KL_NATS,
            {.number = cases[i].kl, .n = 64, .n_of = "", .unit = "nats", .reason = "", .remedy = "", .text = ""}};
        struct ifm_derived derived = {
            .run_id = j.fx.plan.run_id, .config_hash = j.fx.plan.config_hash, .numbers = &kl, .n_numbers = 1};
        j.fx.derived = &derived;
        fx_judge(&j.fx);
        size_t n = 0;
        for (size_t g = 0; g < j.fx.verdict->n_gates; g++) {
            const struct ifm_gate_result *r = &j.fx.verdict->gates[g];
            if (strstr(r->gate->name, "accuracy") == NULL)
                continue;
            n++;
            assert_string_equal(r->gate->name, cases[i].gate);
            if (r->outcome != cases[i].outcome)
                fail_msg("%s: %s", cases[i].variant, r->reason);
        }
        assert_int_equal(n, 1);
        jd_stop(&j);
    }
}

static void each_gate_of_significant_alone(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j); /* the blocks of both arms sway together: the pairs are certain, the arms' intervals overlap */
    j.fx.parts[0].step_ns[1] = 330000;
    j.fx.block_noise = 0.2;
    fails_alone(&j, "significant", "significant: intervals apart");
    jd_start(&j); /* so many blocks that even these intervals part, while single blocks hardly do */
    j.fx.parts[0].step_ns[1] = 350000;
    j.fx.block_noise = 0.5;
    j.fx.blocks = 390;
    j.fx.samples = 3;
    fails_alone(&j, "significant", "significant: Cliff's delta");
    jd_start(&j);
    j.fx.parts[0].step_ns[1] = 380000;
    fails_alone(&j, "significant", "significant: 1.1x faster");
}

/* What nobody recorded passes nothing: blocked, and the exit code says that a capability is missing. */
static void what_nobody_records_blocks(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j);
    fx_generate(&j.fx); /* the fixture's own columns: no L2, no energy, no score */
    fx_end_events(&j.fx);
    jd_preset(&j, "sop");
    jd_judge(&j);
    jd_expect_but(&j, "sop: latency", IFM_OUTCOME_PASS, IFM_OUTCOME_BLOCKED);
    jd_expect(&j, IFM_OUTCOME_BLOCKED, IFM_MISSING);
    assert_non_null(strstr(j.fx.verdict->gates[1].reason, "no instrument of this pass reads L2 counters"));
    jd_stop(&j);
}

/* A failed gate weighs more than the blocked ones beside it. */
static void a_fail_weighs_more_than_a_block(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j);
    j.fx.parts[0].step_ns[1] = 800000;
    fx_generate(&j.fx);
    fx_end_events(&j.fx);
    jd_preset(&j, "sop");
    jd_judge(&j);
    jd_expect_but(&j, "sop: latency", IFM_OUTCOME_FAIL, IFM_OUTCOME_BLOCKED);
    jd_expect(&j, IFM_OUTCOME_FAIL, IFM_REJECTED);
    jd_stop(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twice_as_fast_passes_each_preset),
        cmocka_unit_test(twice_as_slow_fails_each_preset),
        cmocka_unit_test(each_gate_of_sop_alone),
        cmocka_unit_test(each_gate_of_golden_ticket_alone),
        cmocka_unit_test(the_bars_of_golden_ticket_are_by_form),
        cmocka_unit_test(each_gate_of_significant_alone),
        cmocka_unit_test(what_nobody_records_blocks),
        cmocka_unit_test(a_fail_weighs_more_than_a_block),
    };
    return cmocka_run_group_tests_name("rule_09_presets", tests, NULL, NULL);
}
