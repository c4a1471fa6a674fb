/* Rule 11: an arm whose feature ran zero times is inactive, not neutral. */
#include "rules/fixture.h"

static void start(struct fixture *fx)
{
    fx_start(fx);
    fx->parts[0].arms[1].feature = "compression";
    fx_generate(fx);
    fx_gate(fx, "change_percent", "", IFM_GATE_AT_MOST, 1, false);
}

static void zero_runs_is_inactive(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_event(&fx, "feature",
             json_pack("{s:s, s:s, s:s, s:i}", "cell", "decode", "arm", "other", "feature", "compression", "runs", 0));
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "other", "change_percent", IFM_STATE_INACTIVE, "no step used compression: the arm is a twin");
    fx_expect(&fx, "other", "step_ns", IFM_STATE_INACTIVE, "rule-11");
    fx_expect(&fx, "base", "step_ns", IFM_STATE_OK, "");
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_BLOCKED); /* a twin of the baseline would have passed */
    assert_non_null(strstr(fx.verdict->gates[0].reason, "inactive"));
    fx_stop(&fx);
}

/* A machine under load makes a twin faster than its bytes explain: it is a twin all the same. */
static void a_twin_is_no_faster_arm(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx.parts[0].step_ns[1] = 0.2 * fx.parts[0].step_ns[0];
    for (size_t a = 0; a < 2; a++)
        fx.parts[0].arms[a].ledger = (struct ifm_ledger){.bytes_read = 4096, .flops = 4096, .tokens_generated = 1};
    fx_generate(&fx);
    fx_event(&fx, "feature",
             json_pack("{s:s, s:s, s:s, s:i}", "cell", "decode", "arm", "other", "feature", "compression", "runs", 0));
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "other", "speedup", IFM_STATE_INACTIVE, "rule-11");
    for (size_t i = 0; i < fx.derived->n_findings; i++)
        assert_null(strstr(fx.derived->findings[i].text, "beyond the byte"));
    fx_stop(&fx);
}

static void unrecorded_runs_are_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "other", "change_percent", IFM_STATE_REFUSED, "was not recorded");
    fx_stop(&fx);
}

/* A cell that failed before its first block: nothing was measured, and nothing is refused in its place. */
static void without_a_block_it_is_absent(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].arms[1].feature = "compression";
    fx.blocks = 0; /* it was warmed up */
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "other", "step_ns", IFM_STATE_ABSENT, "");
    fx_judge(&fx);
    assert_int_equal(fx.verdict->exit_code, IFM_INVALID);
    fx_stop(&fx);
}

static void an_active_feature_stands(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_event(
        &fx, "feature",
        json_pack("{s:s, s:s, s:s, s:i}", "cell", "decode", "arm", "other", "feature", "compression", "runs", 480));
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "other", "change_percent", IFM_STATE_OK, "");
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_PASS);
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_runs_is_inactive),
        cmocka_unit_test(a_twin_is_no_faster_arm),
        cmocka_unit_test(unrecorded_runs_are_refused),
        cmocka_unit_test(without_a_block_it_is_absent),
        cmocka_unit_test(an_active_feature_stands),
    };
    return cmocka_run_group_tests_name("rule_11", tests, NULL, NULL);
}
