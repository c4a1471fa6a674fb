/* Rule 9: a synthetic arm twice as slow fails every gate, and one twice as fast passes every gate: for gates on the
 * numbers of a record, and for one on each metric of the table. */
#include "unit/judge_sample.h"

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

/* ---- each metric of the table ---- */

/* One number alone, of the arm or of the cell, against a gate at 10; beside an effect size, which decides nothing
 * alone, a change on the same side. */
static enum ifm_outcome judge_number(struct fixture *fx, enum ifm_metric_id id, double number, bool better)
{
    const struct ifm_metric *metric = &ifm_metrics[id];
    const char *arm = metric->scope == IFM_SCOPE_ARM ? "other" : "";
    struct ifm_value value = {
        .number = number, .n = 12, .n_of = "", .unit = "", .reason = "", .remedy = "", .text = ""};
    struct ifm_number numbers[] = {{"decode", arm, id, value}, {"decode", "other", IFM_M_CHANGE_PERCENT, value}};
    numbers[1].value.number = better ? -50 : 100;
    bool effect = id == IFM_M_CLIFFS_DELTA || id == IFM_M_HEDGES_G || id == IFM_M_SIGN_FLIP_P;
    struct ifm_derived derived = {.run_id = fx->plan.run_id,
                                  .config_hash = fx->plan.config_hash,
                                  .numbers = numbers,
                                  .n_numbers = effect ? 2 : 1};
    fx->plan.n_gates = 0;
    fx->parts[0].arms[1].stored = (uint64_t)number; /* stored_bytes is the plan's */
    fx_gate(fx, metric->id, "", metric->better == IFM_BETTER_HIGHER ? IFM_GATE_AT_LEAST : IFM_GATE_AT_MOST, 10, false);
    if (effect)
        fx_gate(fx, "change_percent", "", IFM_GATE_AT_MOST, 0, false);
    fx->derived = &derived;
    fx_judge(fx);
    if (fx->verdict->gates[0].outcome == IFM_OUTCOME_BLOCKED)
        fail_msg("%s", fx->verdict->gates[0].reason);
    return fx->verdict->gates[0].outcome;
}

static void twice_as_bad_fails_and_half_as_bad_passes_every_metric(void **state)
{
    (void)state;
    struct fixture fx;
    size_t directed = 0;
    fx_start(&fx);
    for (int m = IFM_M_NONE + 1; m < IFM_M_COUNT; m++) {
        enum ifm_better better = ifm_metrics[m].better;
        if (better == IFM_BETTER_NONE)
            continue;
        directed++;
        double good = better == IFM_BETTER_HIGHER ? 20 : 5, bad = better == IFM_BETTER_HIGHER ? 5 : 20;
        if (judge_number(&fx, (enum ifm_metric_id)m, good, true) != IFM_OUTCOME_PASS ||
            judge_number(&fx, (enum ifm_metric_id)m, bad, false) != IFM_OUTCOME_FAIL)
            fail_msg("%s", ifm_metrics[m].id);
    }
    assert_true(directed > 80);
    fx_stop(&fx);
}

/* What noise does to a series is no merit of an arm. */
static bool is_of_the_noise(enum ifm_metric_id id)
{
    static const enum ifm_metric_id ids[] = {IFM_M_EFFECTIVE_SAMPLES, IFM_M_OUTLIERS_COUNT, IFM_M_MODES_COUNT,
                                             IFM_M_CHANGE_POINTS, IFM_M_STEADY_FROM_PERCENT};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static void record(struct judged *j, bool good)
{
    jd_start(j);
    for (int a = 0; a < 2; a++)
        j->fx.parts[0].arms[a].ledger = (struct ifm_ledger){.flops = 1000000,
                                                            .bytes_read = 1000000,
                                                            .bytes_written = 1000,
                                                            .tokens_generated = 4,
                                                            .tokens_prompt = 9,
                                                            .rows = 8};
    j->fx.parts[0].step_ns[1] = good ? 200000 : 800000;
    j->fx.noise = good ? 0.005 : 0.03;
    j->l2[1] = good ? 0.65 : 0.3;
    j->energy_uj[1] = good ? 500 : 2000;
    j->quality[1] = good ? 85 : 75;
    j->error = good ? 1e-6 : 0.5;
    j->steal[0] = j->steal[1] = good ? 0 : 0.01;
    jd_record(j);
    fx_gate(&j->fx, "energy_per_token_j", "", IFM_GATE_AT_MOST, 1, false); /* listed where a gate asks */
    fx_gate(&j->fx, "l2_hit_percent", "", IFM_GATE_AT_LEAST, 1, false);
    fx_derive(&j->fx);
}

/* The directions themselves: of an arm that is better in all that can be recorded, each number moves to its better
 * side. The table is not asked which one it is. */
static void a_better_arm_moves_every_number_to_its_better_side(void **state)
{
    (void)state;
    struct judged good, bad;
    size_t moved = 0;
    record(&good, true);
    record(&bad, false);
    for (size_t i = 0; i < good.fx.derived->n_numbers; i++) {
        const struct ifm_number *one = &good.fx.derived->numbers[i];
        const struct ifm_metric *metric = &ifm_metrics[one->metric];
        const struct ifm_value *other = ifm_derived_value(bad.fx.derived, one->cell, one->arm, one->metric);
        if (strcmp(one->arm, "base") == 0 || metric->better == IFM_BETTER_NONE || is_of_the_noise(one->metric) ||
            other == NULL || other->state != IFM_STATE_OK || one->value.state != IFM_STATE_OK ||
            other->number == one->value.number)
            continue;
        if ((one->value.number > other->number) != (metric->better == IFM_BETTER_HIGHER))
            fail_msg("%s is better when it is %s; it is %g of the better arm and %g of the worse one", metric->id,
                     ifm_better_word(metric->better), one->value.number, other->number);
        moved++;
    }
    if (moved < 30)
        fail_msg("only %zu numbers were there to look at", moved);
    jd_stop(&good);
    jd_stop(&bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twice_as_slow_fails_every_gate),
        cmocka_unit_test(twice_as_fast_passes_every_gate),
        cmocka_unit_test(twice_as_bad_fails_and_half_as_bad_passes_every_metric),
        cmocka_unit_test(a_better_arm_moves_every_number_to_its_better_side),
    };
    return cmocka_run_group_tests_name("rule_09", tests, NULL, NULL);
}
