/* Rule 8: a lock is what is read back, before and after. */
#include "rules/fixture.h"

static void start(struct fixture *fx, int locks)
{
    fx_start(fx);
    fx->cells[0].measure.locks = locks;
    fx_generate(fx);
    fx_gate(fx, "step_ns", "", IFM_GATE_AT_MOST, 1e9, false);
}

static void expect(struct fixture *fx, enum ifm_state state, enum ifm_outcome outcome)
{
    fx_derive(fx);
    fx_expect(fx, "other", "step_ns", state, state == IFM_STATE_REFUSED ? "rule-08" : "");
    fx_judge(fx);
    assert_int_equal(fx->verdict->outcome, outcome);
    assert_int_equal(fx->verdict->exit_code, outcome == IFM_OUTCOME_PASS ? IFM_OK : IFM_INVALID);
}

static void locked_before_and_after_stands(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, IFM_LOCKS_REQUIRED);
    fx_end_events(&fx);
    expect(&fx, IFM_STATE_OK, IFM_OUTCOME_PASS);
    assert_null(fx_finding(&fx, "rule-08", ""));
    fx_stop(&fx);
}

static void required_and_open_after_is_invalid(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, IFM_LOCKS_REQUIRED);
    fx_locks(&fx, "after", "performance", 0);
    fx_event(&fx, "run_done", json_pack("{s:s}", "config_hash", "cafe"));
    expect(&fx, IFM_STATE_REFUSED, IFM_OUTCOME_BLOCKED);
    assert_non_null(fx_finding(&fx, "rule-08", "not locked: governor"));
    fx_stop(&fx);
}

static void required_and_not_read_back_is_invalid(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, IFM_LOCKS_REQUIRED);
    fx_event(&fx, "run_done", json_pack("{s:s}", "config_hash", "cafe"));
    expect(&fx, IFM_STATE_REFUSED, IFM_OUTCOME_BLOCKED);
    fx_stop(&fx);
}

static void required_and_changed_is_invalid(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, IFM_LOCKS_REQUIRED);
    fx_locks(&fx, "after", "powersave", 1);
    fx_event(&fx, "run_done", json_pack("{s:s}", "config_hash", "cafe"));
    expect(&fx, IFM_STATE_REFUSED, IFM_OUTCOME_BLOCKED);
    assert_non_null(fx_finding(&fx, "rule-08", "changed during the run: governor"));
    fx_stop(&fx);
}

/* Observed locks do not invalidate a comparison inside the run; they say what it may not be compared with. */
static void observed_and_open_is_not_comparable_with_other_runs(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, IFM_LOCKS_OBSERVED);
    fx_locks(&fx, "after", "powersave", 0);
    fx_event(&fx, "run_done", json_pack("{s:s}", "config_hash", "cafe"));
    expect(&fx, IFM_STATE_OK, IFM_OUTCOME_PASS);
    assert_non_null(fx_finding(&fx, "rule-08", "not comparable with other runs"));
    const struct ifm_finding *changed = fx_finding(&fx, "rule-08", "changed during the run: governor");
    assert_non_null(changed);
    assert_int_equal(changed->severity, IFM_SEVERITY_WARNING);
    fx_stop(&fx);
}

/* Observed locks: the variant is twice as fast, but its CPU ran faster too. */
static void clocks(int64_t own_khz, const char *word, const char *finding)
{
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].step_ns[1] = 50000;
    fx_generate(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++)
        r->columns[k * FX_COLUMNS + 3] = r->slots[k].arm == 1 ? own_khz : 3000000;
    fx_end_events(&fx);
    fx_gate(&fx, "change_percent", "", IFM_GATE_AT_MOST, -20, true);
    fx_derive(&fx);
    assert_string_equal(fx_value(&fx, "other", "change_percent")->text, word);
    assert_int_equal(fx_finding(&fx, "rule-08", finding) != NULL, finding[0] != '\0');
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, finding[0] == '\0' ? IFM_OUTCOME_PASS : IFM_OUTCOME_BLOCKED);
    fx_stop(&fx);
}

static void arms_at_one_clock_are_compared(void **state)
{
    (void)state;
    clocks(3030000, "faster", "");
}

static void arms_at_different_clocks_are_undecided(void **state)
{
    (void)state;
    clocks(3300000, "undecided", "3300 MHz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_at_one_clock_are_compared),
        cmocka_unit_test(arms_at_different_clocks_are_undecided),
        cmocka_unit_test(locked_before_and_after_stands),
        cmocka_unit_test(required_and_open_after_is_invalid),
        cmocka_unit_test(required_and_not_read_back_is_invalid),
        cmocka_unit_test(required_and_changed_is_invalid),
        cmocka_unit_test(observed_and_open_is_not_comparable_with_other_runs),
    };
    return cmocka_run_group_tests_name("rule_08", tests, NULL, NULL);
}
