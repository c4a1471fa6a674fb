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

static json_t *knob(const char *name, const char *value, int locked)
{
    return json_pack("{s:s, s:s, s:b, s:s}", "knob", name, "value", value, "locked", locked, "reason", "");
}

/* The state after the run, and the end; steals `knobs`. */
static void end(struct fixture *fx, json_t *knobs)
{
    fx_event(fx, "locks", json_pack("{s:s, s:o}", "when", "after", "knobs", knobs));
    fx_event(fx, "run_done", json_pack("{s:s}", "config_hash", "cafe"));
}

/* Read after the run alone, or read and nothing seen: neither says what held while it ran. */
static void a_state_that_is_half_known_is_invalid(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) {
        struct fixture fx;
        start(&fx, IFM_LOCKS_REQUIRED);
        if (half == 0)
            json_array_remove(fx.events, 1); /* the reading before */
        json_t *knobs = json_array();
        if (half != 1)
            json_array_append_new(knobs, knob("governor", "performance", 1));
        end(&fx, knobs);
        expect(&fx, IFM_STATE_REFUSED, IFM_OUTCOME_BLOCKED);
        assert_non_null(fx_finding(&fx, "rule-08", "read back before and after"));
        fx_stop(&fx);
    }
}

static void a_state_of_nothing_is_no_event(void **state)
{
    (void)state;
    struct fixture fx;
    struct ifm_error error = {0};
    start(&fx, IFM_LOCKS_REQUIRED);
    end(&fx, json_pack("[o, {s:b}]", knob("governor", "performance", 1), "locked", 1));
    assert_int_equal(fx_try_derive(&fx, &error), IFM_INVALID);
    assert_non_null(strstr(error.message, "knobs.knob"));
    fx_stop(&fx);
}

/* Two knobs that were held at the same value of each: the value of one is not held against the other's. */
static void two_knobs(struct fixture *fx, const char *boost_after, int boost_locked)
{
    start(fx, IFM_LOCKS_REQUIRED);
    json_array_append_new(json_object_get(json_object_get(json_array_get(fx->events, 1), "meta"), "knobs"),
                          knob("boost", "off", boost_locked));
    end(fx,
        json_pack("[o, o]", knob("governor", "performance", boost_locked), knob("boost", boost_after, boost_locked)));
}

static void each_knob_is_held_against_itself(void **state)
{
    (void)state;
    struct fixture fx;
    two_knobs(&fx, "off", 1);
    expect(&fx, IFM_STATE_OK, IFM_OUTCOME_PASS);
    assert_null(fx_finding(&fx, "rule-08", ""));
    fx_stop(&fx);
    two_knobs(&fx, "on", 1);
    expect(&fx, IFM_STATE_REFUSED, IFM_OUTCOME_BLOCKED);
    const struct ifm_finding *changed = fx_finding(&fx, "rule-08", "changed during the run: boost");
    assert_non_null(changed);
    assert_null(strstr(changed->text, "governor"));
    fx_stop(&fx);
    two_knobs(&fx, "off", 0); /* boost open twice, governor once: each is named once */
    expect(&fx, IFM_STATE_REFUSED, IFM_OUTCOME_BLOCKED);
    const struct ifm_finding *open = fx_finding(&fx, "rule-08", "not locked: boost, governor");
    assert_non_null(open);
    assert_null(strstr(strstr(open->text, "boost") + 1, "boost"));
    fx_stop(&fx);
}

/* A knob that nobody read before the run may have had any value. */
static void a_knob_read_once_has_changed(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, IFM_LOCKS_REQUIRED);
    end(&fx, json_pack("[o, o]", knob("governor", "performance", 1), knob("boost", "off", 1)));
    expect(&fx, IFM_STATE_REFUSED, IFM_OUTCOME_BLOCKED);
    assert_non_null(fx_finding(&fx, "rule-08", "changed during the run: boost"));
    fx_stop(&fx);
}

/* Locks are required cell by cell. */
static void only_cells_that_require_locks_need_them(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_add_cell(&fx, "wide", "decode");
    fx_add_arm(&fx, 1, "base", IFM_ROLE_BASELINE, 100000);
    fx_add_arm(&fx, 1, "other", IFM_ROLE_VARIANT, 100000);
    fx.cells[1].measure.locks = IFM_LOCKS_REQUIRED;
    fx_generate(&fx);
    end(&fx, json_pack("[o]", knob("governor", "performance", 0)));
    fx_derive(&fx);
    fx_expect(&fx, "other", "step_ns", IFM_STATE_OK, "");
    const struct ifm_number *required = ifm_derived_find(fx.derived, "wide", "other", IFM_M_STEP_NS);
    assert_non_null(required);
    assert_int_equal(required->value.state, IFM_STATE_REFUSED);
    assert_int_equal(fx_invalid(&fx), 1);
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
    assert_int_equal(fx.verdict->outcome, strcmp(word, "faster") == 0 ? IFM_OUTCOME_PASS : IFM_OUTCOME_BLOCKED);
    fx_stop(&fx);
}

static void arms_at_one_clock_are_compared(void **state)
{
    (void)state;
    clocks(3030000, "faster", "");
}

static void what_a_clock_may_have_made_is_undecided(void **state)
{
    (void)state;
    clocks(3300000, "faster", "at one clock too"); /* a tenth of clock does not make it twice as fast */
    clocks(6300000, "undecided", "6300 MHz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_at_one_clock_are_compared),
        cmocka_unit_test(what_a_clock_may_have_made_is_undecided),
        cmocka_unit_test(locked_before_and_after_stands),
        cmocka_unit_test(required_and_open_after_is_invalid),
        cmocka_unit_test(required_and_not_read_back_is_invalid),
        cmocka_unit_test(required_and_changed_is_invalid),
        cmocka_unit_test(a_state_that_is_half_known_is_invalid),
        cmocka_unit_test(a_state_of_nothing_is_no_event),
        cmocka_unit_test(each_knob_is_held_against_itself),
        cmocka_unit_test(a_knob_read_once_has_changed),
        cmocka_unit_test(only_cells_that_require_locks_need_them),
        cmocka_unit_test(observed_and_open_is_not_comparable_with_other_runs),
    };
    return cmocka_run_group_tests_name("rule_08", tests, NULL, NULL);
}
