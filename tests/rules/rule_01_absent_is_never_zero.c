/* Rule 1: absent is a state, never zero, and a gate that misses its metric is blocked. */
#include "rules/fixture.h"

static void failed_sensor_is_absent(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_generate(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++)
        ((int64_t *)r->slots[k].columns)[0] = IFM_ABSENT;
    fx_event(&fx, "column_absent",
             json_pack("{s:s, s:s, s:s, s:s, s:s}", "cell", "decode", "pass", "latency", "column", "steal_ns", "reason",
                       "no hypervisor reports it", "remedy", "run on bare metal"));
    fx_end_events(&fx);
    fx_gate(&fx, "steal_ns", "", IFM_GATE_AT_MOST, 1000, false);
    fx_derive(&fx);
    fx_expect(&fx, "base", "steal_ns", IFM_STATE_ABSENT, "no hypervisor reports it");
    assert_string_equal(fx_value(&fx, "base", "steal_ns")->remedy, "run on bare metal");
    fx_expect(&fx, "base", "context_switches_involuntary", IFM_STATE_OK, "");
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_BLOCKED); /* 0 <= 1000 would have passed */
    assert_int_equal(fx.verdict->exit_code, IFM_MISSING);
    fx_stop(&fx);
}

/* One slot without a reading: a sum over the others is not the sum. */
static void partly_read_is_absent(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_generate(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    ((int64_t *)r->slots[r->n_slots - 1].columns)[1] = IFM_ABSENT;
    const char *arm = fx.cells[0].arms[r->slots[r->n_slots - 1].arm].name;
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, arm, "context_switches_involuntary", IFM_STATE_ABSENT, "not read in 1 of 24 slots");
    fx_stop(&fx);
}

static void missing_cell_is_absent(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].arms[1].ledger.tokens_generated = 1;
    fx_event(&fx, "cell_failed",
             json_pack("{s:s, s:s, s:s}", "cell", "decode", "reason", "out of memory", "remedy", "a smaller shape"));
    fx_end_events(&fx);
    fx_gate(&fx, "tokens_generated_per_s", "", IFM_GATE_AT_MOST, 5, false);
    fx_gate(&fx, "step_ns", "", IFM_GATE_AT_MOST, 5, false);
    fx_derive(&fx);
    static const char *const planned[] = {
        "step_ns",     "latency_ns_p50", "latency_ns_p999", "tokens_generated_per_s", "change_percent", "speedup",
        "mde_percent", "samples_count",  "steal_ns"};
    for (size_t i = 0; i < sizeof planned / sizeof planned[0]; i++)
        fx_expect(&fx, "other", planned[i], IFM_STATE_ABSENT, "out of memory");
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_BLOCKED);
    assert_int_equal(fx.verdict->n_gates, 2);
    fx_stop(&fx);
}

/* What would mend an arm stands with each of its numbers, and makes none of them a matter of a missing instrument. */
static void failed_arm_is_absent(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.cells[0].n_arms = 1;
    fx_generate(&fx);
    fx.cells[0].n_arms = 2;
    fx_event(&fx, "arm_failed",
             json_pack("{s:s, s:s, s:s, s:s}", "cell", "decode", "arm", "other", "reason", "an illegal address",
                       "remedy", "mend the address"));
    fx_end_events(&fx);
    fx_gate(&fx, "change_percent", "", IFM_GATE_AT_MOST, 50, false);
    fx_derive(&fx);
    static const char *const made[] = {"step_ns", "change_percent", "speedup", "mde_percent"};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        fx_expect(&fx, "other", made[i], IFM_STATE_ABSENT, "an illegal address");
        assert_string_equal(fx_value(&fx, "other", made[i])->remedy, "mend the address");
    }
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_BLOCKED);
    assert_int_equal(fx.verdict->exit_code, IFM_INVALID);
    fx_stop(&fx);
}

static void unsupported_cell_is_not_dropped(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_add_cell(&fx, "decode isa=avx512", "decode");
    fx.cells[1].unsupported = "this CPU has no AVX-512";
    fx_generate_cell(&fx, 0);
    fx_end_events(&fx);
    fx_gate(&fx, "change_percent", "", IFM_GATE_AT_MOST, 50, false);
    fx_derive(&fx);
    const struct ifm_number *number = ifm_derived_find(fx.derived, "decode isa=avx512", "", IFM_M_STEP_NS);
    assert_non_null(number);
    assert_int_equal(number->value.state, IFM_STATE_ABSENT);
    assert_string_equal(number->value.reason, "this CPU has no AVX-512");
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_BLOCKED);
    assert_int_equal(fx.verdict->exit_code, IFM_MISSING);
    fx_stop(&fx);
}

static void lost_record_of_a_finished_cell_is_invalid(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_event(&fx, "cell_done", json_pack("{s:s}", "cell", "decode"));
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_non_null(fx_finding(&fx, "rule-01", "its record is missing"));
    fx_judge(&fx);
    assert_int_equal(fx.verdict->exit_code, IFM_INVALID);
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_sensor_is_absent),         cmocka_unit_test(partly_read_is_absent),
        cmocka_unit_test(missing_cell_is_absent),          cmocka_unit_test(failed_arm_is_absent),
        cmocka_unit_test(unsupported_cell_is_not_dropped), cmocka_unit_test(lost_record_of_a_finished_cell_is_invalid),
    };
    return cmocka_run_group_tests_name("rule_01", tests, NULL, NULL);
}
