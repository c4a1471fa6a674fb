/* Rule 10: an arm that changes numerics is never shown without its error, and a wrong output has no speed. */
#include "rules/fixture.h"

static void start(struct fixture *fx)
{
    fx_start(fx);
    for (int a = 0; a < 2; a++) {
        fx->parts[0].arms[a].has_oracle = true;
        fx->parts[0].arms[a].ledger.bytes_read = 1000;
    }
    fx_generate(fx);
    fx_check(fx, "base", "before", 1e-7, "aa");
    fx_check(fx, "base", "after", 1e-7, "aa");
}

static void no_speed(struct fixture *fx, const char *arm, const char *words)
{
    static const char *const speeds[] = {"step_ns", "latency_ns_p50", "read_bytes_per_s"};
    fx_end_events(fx);
    fx_gate(fx, "step_ns", arm, IFM_GATE_AT_MOST, 1e9, false);
    fx_derive(fx);
    for (size_t i = 0; i < 3; i++)
        fx_expect(fx, arm, speeds[i], IFM_STATE_REFUSED, words);
    fx_expect(fx, "other", "change_percent", IFM_STATE_REFUSED, words);
    fx_expect(fx, "other", "speedup", IFM_STATE_REFUSED, words);
    fx_judge(fx);
    assert_int_equal(fx->verdict->outcome, IFM_OUTCOME_BLOCKED);
    assert_int_equal(fx->verdict->exit_code, IFM_INVALID);
    fx_stop(fx);
}

static void checked_and_right_stands(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx.parts[0].arms[1].lossy = true;
    fx_check(&fx, "other", "after", 5e-6, "bb");
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "other", "step_ns", IFM_STATE_OK, "");
    assert_true(fx_value(&fx, "other", "error_max_rel")->number == 5e-6);
    assert_true(fx_value(&fx, "other", "error_rms_rel")->number == 2.5e-6);
    assert_int_equal(fx_value(&fx, "other", "error_max_rel")->n, 64);
    fx_stop(&fx);
}

static void lossy_without_error_has_no_speed(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx.parts[0].arms[1].lossy = true;
    fx.parts[0].arms[1].has_oracle = false;
    no_speed(&fx, "other", "rule-10: the arm changes numerics");
}

static void an_oracle_that_was_not_asked_gives_no_speed(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    no_speed(&fx, "other", "rule-10: the arm has an oracle and was not checked");
}

static void a_wrong_output_has_no_speed(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_check(&fx, "other", "before", 1e-7, "bb");
    fx_check(&fx, "other", "after", 0.3, "bb");
    no_speed(&fx, "other", "error 0.3 is above the tolerance 1e-05");
}

static void check_with(struct fixture *fx, const char *member, double value)
{
    fx_check(fx, "other", "after", 1e-7, "bb");
    json_t *event = json_array_get(fx->events, json_array_size(fx->events) - 1);
    json_object_set_new(json_object_get(event, "meta"), member, json_real(value));
}

static void check_part(struct fixture *fx, double part)
{
    check_with(fx, "error_part", part);
}

/* Single elements within the tolerance, and all of them 1 % too large; or one that is off by much in a row of small
 * ones.
 */
static void what_errors_have_in_common_has_its_own_bound(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    check_with(&fx, "error_bias", 0.01);
    no_speed(&fx, "other", "as a whole it is off by 0.01 of its size; 0.0005 is allowed");
    start(&fx);
    check_with(&fx, "error_row", 0.3);
    no_speed(&fx, "other", "off by 0.3 of the row's root mean square; 0.01 is allowed");
    start(&fx);
    check_with(&fx, "error_bias", 0.0004);
    check_with(&fx, "error_row", 0.009);
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "other", "step_ns", IFM_STATE_OK, "");
    fx_stop(&fx);
}

/* A small part of the input adds less to an output than rounding may take away: its absence is a fault all the same. */
static void a_forgotten_part_has_no_speed(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    check_part(&fx, 0.75);
    no_speed(&fx, "other", "75 % of some part of its input is missing");
}

static void a_part_within_rounding_stands(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    check_part(&fx, 0.25);
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "other", "step_ns", IFM_STATE_OK, "");
    fx_stop(&fx);
}

/* The last check does not heal an earlier one. */
static void once_wrong_is_wrong(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_check(&fx, "other", "before", 0.3, "bb");
    fx_check(&fx, "other", "after", 1e-7, "bb");
    no_speed(&fx, "other", "above the tolerance");
}

static void a_wrong_baseline_takes_its_comparisons_along(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_check(&fx, "other", "after", 1e-7, "bb");
    fx_check(&fx, "base", "after", 0.5, "aa");
    no_speed(&fx, "base", "rule-10");
}

static void output_that_is_not_finite_has_no_speed(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_event(&fx, "check",
             json_pack("{s:s, s:s, s:b, s:n, s:n, s:i, s:b, s:s, s:s}", "cell", "decode", "arm", "other", "done", 1,
                       "error_rms_rel", "error_max_rel", "values", 64, "finite", 0, "output_xxh3", "cc", "when",
                       "after"));
    no_speed(&fx, "other", "not finite");
}

/* A kernel that reads its codes exactly says nothing about what the codes forgot. */
static void compressed_without_its_loss_has_no_speed(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_store(&fx, 1, 500, 1000, 500);
    fx.parts[0].arms[0].ledger.tokens_generated = 1;
    fx_check(&fx, "other", "after", 1e-7, "bb");
    no_speed(&fx, "other", "rule-10: the arm keeps its content compressed, and what that did");
}

static void a_loss_without_a_number_is_none(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_check_loss(&fx, "other", "after", json_pack("{s:f}", "tv", 0.1)); /* not even lossy by its plan */
    no_speed(&fx, "other", "rule-10: the arm keeps its content compressed, and what that did");
}

static void compressed_with_its_loss_stands(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_store(&fx, 1, 500, 1000, 1000);
    fx.parts[0].arms[0].ledger = fx.parts[0].arms[1].ledger;
    fx_check_loss(&fx, "other", "after", json_pack("{s:f}", "rms_rel", 0.02));
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "other", "step_ns", IFM_STATE_OK, "");
    fx_expect(&fx, "other", "speedup", IFM_STATE_OK, "");
    assert_true(fx_value(&fx, "other", "loss_rms_rel")->number == 0.02);
    fx_stop(&fx);
}

/* Arms of plugins and sessions say that they are lossy and store nothing: their error is their accuracy. */
static void lossy_without_a_store_owes_its_error_alone(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx.parts[0].arms[1].lossy = true;
    fx_check(&fx, "other", "after", 5e-6, "bb");
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "other", "speedup", IFM_STATE_OK, "");
    assert_null(ifm_derived_find(fx.derived, "decode", "other", IFM_M_LOSS_RMS_REL));
    fx_stop(&fx);
}

/* Arms of plugins alone can lack a check: their times stand, and nothing is decided by them. */
static void derive_unchecked(struct fixture *fx, size_t arm)
{
    start(fx);
    fx->parts[0].arms[arm].implementation = "plugin";
    fx->parts[0].arms[arm].has_oracle = false;
    if (arm == 0)
        fx_check(fx, "other", "after", 1e-7, "bb");
    fx_gate(fx, "step_ns", "", IFM_GATE_AT_MOST, 1e12, false);
    fx_end_events(fx);
    fx_derive(fx);
    fx_expect(fx, "other", "step_ns", IFM_STATE_OK, "");
    assert_non_null(fx_finding(fx, "rule-10", "unchecked"));
    fx_judge(fx);
}

static void an_unchecked_arm_decides_nothing(void **state)
{
    (void)state;
    struct fixture fx;
    derive_unchecked(&fx, 1);
    fx_expect(&fx, "other", "speedup", IFM_STATE_REFUSED, "rule-10: the arm is unchecked");
    fx_expect(&fx, "other", "change_percent", IFM_STATE_REFUSED, "rule-10: the arm is unchecked");
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_BLOCKED);
    assert_facts(fx.verdict->gates[0].reason, "unchecked|plugin");
    fx_stop(&fx);
    derive_unchecked(&fx, 0); /* and as a baseline it compares with nothing */
    fx_expect(&fx, "other", "speedup", IFM_STATE_REFUSED, "rule-10: of the baseline base: the arm is unchecked");
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checked_and_right_stands),
        cmocka_unit_test(lossy_without_error_has_no_speed),
        cmocka_unit_test(an_oracle_that_was_not_asked_gives_no_speed),
        cmocka_unit_test(a_wrong_output_has_no_speed),
        cmocka_unit_test(a_forgotten_part_has_no_speed),
        cmocka_unit_test(a_part_within_rounding_stands),
        cmocka_unit_test(what_errors_have_in_common_has_its_own_bound),
        cmocka_unit_test(once_wrong_is_wrong),
        cmocka_unit_test(a_wrong_baseline_takes_its_comparisons_along),
        cmocka_unit_test(output_that_is_not_finite_has_no_speed),
        cmocka_unit_test(compressed_without_its_loss_has_no_speed),
        cmocka_unit_test(a_loss_without_a_number_is_none),
        cmocka_unit_test(compressed_with_its_loss_stands),
        cmocka_unit_test(lossy_without_a_store_owes_its_error_alone),
        cmocka_unit_test(an_unchecked_arm_decides_nothing),
    };
    return cmocka_run_group_tests_name("rule_10", tests, NULL, NULL);
}
