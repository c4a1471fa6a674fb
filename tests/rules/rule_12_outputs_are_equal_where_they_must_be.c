/* Rule 12: an arm that claims to change only performance gives the same output, and that is checked in the run. */
#include "rules/fixture.h"

static void start(struct fixture *fx, double bound)
{
    fx_start(fx);
    fx->parts[0].arms[0].has_oracle = fx->parts[0].arms[1].has_oracle = true;
    fx->parts[0].arms[1].equals = "base";
    fx->parts[0].arms[1].equal_bound = bound;
    fx_generate(fx);
    fx_check(fx, "base", "after", 1e-7, "00000000000000aa");
}

static void expect(struct fixture *fx, enum ifm_state state, const char *words)
{
    fx_end_events(fx);
    fx_derive(fx);
    fx_expect(fx, "other", "change_percent", state, words);
    fx_expect(fx, "other", "speedup", state, words);
    fx_expect(fx, "base", "step_ns", IFM_STATE_OK, "");
    fx_stop(fx);
}

static void equal_bits_stand(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 0);
    fx_check(&fx, "other", "after", 1e-7, "00000000000000aa");
    expect(&fx, IFM_STATE_OK, "");
}

static void different_bits_are_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 0);
    fx_check(&fx, "other", "after", 1e-7, "00000000000000bb");
    expect(&fx, IFM_STATE_REFUSED, "rule-12");
}

/* How long an arm takes to do something else answers no gate; what its baseline takes does. */
static void a_gate_on_another_output_is_blocked(void **state)
{
    (void)state;
    for (int equal = 0; equal < 2; equal++) {
        struct fixture fx;
        start(&fx, 0);
        fx_check(&fx, "other", "after", 1e-7, equal ? "00000000000000aa" : "00000000000000bb");
        fx_gate(&fx, "step_ns", "other", IFM_GATE_AT_MOST, 1e12, true);
        fx_gate(&fx, "step_ns", "base", IFM_GATE_AT_MOST, 1e12, true);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_verdict *verdict = ifm_judge(&fx.plan, fx.derived, fx.arena);
        assert_int_equal(verdict->gates[0].outcome, equal ? IFM_OUTCOME_PASS : IFM_OUTCOME_BLOCKED);
        assert_int_equal(verdict->gates[1].outcome, IFM_OUTCOME_PASS);
        assert_int_equal(verdict->exit_code, equal ? IFM_OK : IFM_INVALID);
        assert_true(equal || strstr(verdict->gates[0].reason, "bit for bit") != NULL);
        fx_stop(&fx);
    }
}

/* The same inputs in another set of buffers: what differs there is no property of the arm. */
static void sets_that_differ_are_refused(void **state)
{
    (void)state;
    for (int arm = 0; arm < 2; arm++) {
        struct fixture fx;
        start(&fx, 0);
        fx_check(&fx, "other", "after", 1e-7, "00000000000000aa");
        size_t last = json_array_size(fx.events) - 1;
        json_t *meta = json_object_get(json_array_get(fx.events, arm == 0 ? last - 1 : last), "meta");
        json_object_set_new(meta, "sets_differ", json_true());
        fx_end_events(&fx);
        fx_derive(&fx);
        fx_expect(&fx, "other", "change_percent", IFM_STATE_REFUSED, "from one set of buffers to the next");
        assert_non_null(fx_finding(&fx, "rule-12", "another set of buffers gave another output"));
        fx_stop(&fx);
    }
}

static void within_the_bound_stands(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 1e-6);
    fx_check(&fx, "other", "after", 5e-7, "00000000000000bb");
    expect(&fx, IFM_STATE_OK, "");
}

static void beyond_the_bound_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 1e-6);
    fx_check(&fx, "other", "after", 5e-6, "00000000000000bb"); /* inside its own tolerance of 1e-5 */
    expect(&fx, IFM_STATE_REFUSED, "within 1e-06");
}

static void unchecked_equality_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 0);
    fx.parts[0].arms[1].has_oracle = false;
    expect(&fx, IFM_STATE_REFUSED, "this was not checked");
}

/* Of a library it is a note, as it may sum in another order each time; of another arm a reason not to use the run. */
static void an_output_that_changes_during_the_run_is_said(void **state)
{
    (void)state;
    for (int library = 0; library < 2; library++) {
        struct fixture fx;
        start(&fx, 1e-6);
        fx.parts[0].arms[1].implementation = library ? "cudnn" : "ours";
        fx_check(&fx, "other", "before", 1e-7, "00000000000000bb");
        fx_check(&fx, "other", "after", 1e-7, "00000000000000cc");
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_finding *said = fx_finding(&fx, "rule-12", "hash 00000000000000bb, then 00000000000000cc");
        assert_non_null(said);
        assert_int_equal(said->severity, library ? IFM_SEVERITY_NOTE : IFM_SEVERITY_WARNING);
        fx_stop(&fx);
    }
}

/* Half the tokens in half the time is not twice as fast. */
static void another_amount_of_work_is_not_compared(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].step_ns[1] = 50000;
    fx.parts[0].arms[0].ledger.tokens_generated = 4;
    fx.parts[0].arms[1].ledger.tokens_generated = 2;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_gate(&fx, "speedup", "", IFM_GATE_AT_LEAST, 1.5, true);
    fx_derive(&fx);
    fx_expect(&fx, "other", "change_percent", IFM_STATE_REFUSED, "rule-12");
    fx_expect(&fx, "other", "speedup", IFM_STATE_REFUSED, "2 generated tokens");
    fx_expect(&fx, "other", "step_ns", IFM_STATE_OK, "");
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_BLOCKED);
    assert_int_equal(fx.verdict->exit_code, IFM_INVALID);
    fx_stop(&fx);
}

/* The same tokens by another computation: compared, and said. */
static void another_computation_is_said(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].arms[0].ledger.flops = 2000;
    fx.parts[0].arms[1].ledger.flops = 1000;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "other", "change_percent", IFM_STATE_OK, "");
    assert_non_null(fx_finding(&fx, "rule-12", "not two implementations"));
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_amount_of_work_is_not_compared),
        cmocka_unit_test(another_computation_is_said),
        cmocka_unit_test(equal_bits_stand),
        cmocka_unit_test(different_bits_are_refused),
        cmocka_unit_test(a_gate_on_another_output_is_blocked),
        cmocka_unit_test(sets_that_differ_are_refused),
        cmocka_unit_test(within_the_bound_stands),
        cmocka_unit_test(beyond_the_bound_is_refused),
        cmocka_unit_test(unchecked_equality_is_refused),
        cmocka_unit_test(an_output_that_changes_during_the_run_is_said),
    };
    return cmocka_run_group_tests_name("rule_12", tests, NULL, NULL);
}
