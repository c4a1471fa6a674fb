/* Rule 9: a synthetic arm twice as slow fails every gate, and one twice as fast passes every gate. */
#include "rules/fixture.h"

static void run(double factor, enum ifm_outcome outcome, bool interval)
{
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].step_ns[0] = 400000;
    fx.parts[0].step_ns[1] = 400000 * factor;
    for (int a = 0; a < 2; a++)
        fx.parts[0].arms[a].ledger = (struct ifm_ledger){.flops = 1000000,
                                                         .bytes_read = 1000000,
                                                         .bytes_written = 1000,
                                                         .tokens_generated = 4,
                                                         .tokens_prompt = 9,
                                                         .rows = 8};
    struct ifm_arm *read = fx_add_arm(&fx, 0, "read.sum", IFM_ROLE_CEILING, 150000);
    read->ceiling = IFM_CEILING_READ;
    read->ledger.bytes_read = 1000000;
    fx.samples = 40;
    fx_generate(&fx);
    fx_end_events(&fx);
    static const struct {
        const char *metric;
        int op;
        double threshold;
    } gates[] = {{"step_ns", IFM_GATE_AT_MOST, 400000},
                 {"latency_ns_p95", IFM_GATE_AT_MOST, 400000},
                 {"change_percent", IFM_GATE_AT_MOST, -10},
                 {"speedup", IFM_GATE_AT_LEAST, 1.5},
                 {"read_bytes_per_s", IFM_GATE_AT_LEAST, 2.5e9},
                 {"flops_per_s", IFM_GATE_AT_LEAST, 2.5e9},
                 {"tokens_generated_per_s", IFM_GATE_AT_LEAST, 1e4},
                 {"ceiling_read_percent", IFM_GATE_AT_LEAST, 37.5}};
    for (size_t i = 0; i < 8; i++)
        fx_gate(&fx, gates[i].metric, "", gates[i].op, gates[i].threshold, interval);
    fx_derive(&fx);
    fx_judge(&fx);
    assert_int_equal(fx.verdict->n_gates, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_string_equal(fx.verdict->gates[i].arm, "other");
        if (fx.verdict->gates[i].outcome != outcome)
            fail_msg("%s", fx.verdict->gates[i].reason);
    }
    assert_int_equal(fx.verdict->outcome, outcome);
    assert_int_equal(fx.verdict->exit_code, outcome == IFM_OUTCOME_PASS ? IFM_OK : IFM_REJECTED);
    assert_int_equal(fx.verdict->rollback, outcome == IFM_OUTCOME_FAIL);
    assert_string_equal(fx.verdict->rollback_to, outcome == IFM_OUTCOME_FAIL ? "base" : "");
    fx_stop(&fx);
}

static void twice_as_slow_fails_every_gate(void **state)
{
    (void)state;
    run(2.0, IFM_OUTCOME_FAIL, false);
    run(2.0, IFM_OUTCOME_FAIL, true);
}

static void twice_as_fast_passes_every_gate(void **state)
{
    (void)state;
    run(0.5, IFM_OUTCOME_PASS, false);
    run(0.5, IFM_OUTCOME_PASS, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twice_as_slow_fails_every_gate),
        cmocka_unit_test(twice_as_fast_passes_every_gate),
    };
    return cmocka_run_group_tests_name("rule_09", tests, NULL, NULL);
}
