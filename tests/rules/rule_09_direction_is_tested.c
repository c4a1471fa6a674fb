/* Rule 9: a synthetic arm twice as slow fails every gate, and one twice as fast passes every gate: for gates on the
 * numbers of a record, and for one on each metric of the table. */
#include "unit/judge_sample.h"
#include "unit/power_sample.h"

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
    assert_false(fx.verdict->rollback); /* of the specification's three metrics one alone regresses */
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
    static const enum ifm_metric_id ids[] = {IFM_M_EFFECTIVE_SAMPLES,   IFM_M_OUTLIERS_COUNT,
                                             IFM_M_MODES_COUNT,         IFM_M_CHANGE_POINTS,
                                             IFM_M_STEADY_FROM_PERCENT, IFM_M_ENERGY_PER_STEP_CV_PERCENT};
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

/* The directions themselves: of an arm that is better in all that its record holds, each number that differs by more
 * than a tenth lies on its better side of the worse one's. Returns how many there are. */
static size_t hold(const struct ifm_derived *good, const char *arm, const struct ifm_derived *bad, const char *worse)
{
    size_t n = 0;
    for (size_t i = 0; i < good->n_numbers; i++) {
        const struct ifm_number *one = &good->numbers[i];
        const struct ifm_metric *metric = &ifm_metrics[one->metric];
        const struct ifm_value *other =
            ifm_derived_value(bad, one->cell, one->arm[0] == '\0' ? "" : worse, one->metric);
        if ((one->arm[0] != '\0' && strcmp(one->arm, arm) != 0) || metric->better == IFM_BETTER_NONE ||
            is_of_the_noise(one->metric) || other == NULL || other->state != IFM_STATE_OK ||
            one->value.state != IFM_STATE_OK ||
            fabs(other->number - one->value.number) <= 0.1 * fmax(fabs(other->number), fabs(one->value.number)))
            continue;
        if ((one->value.number > other->number) != (metric->better == IFM_BETTER_HIGHER))
            fail_msg("%s is better when it is %s; it is %g of the better arm and %g of the worse one", metric->id,
                     ifm_better_word(metric->better), one->value.number, other->number);
        n++;
    }
    return n;
}

static void every_number_of_a_faster_arm_is_better(void **state)
{
    (void)state;
    struct judged good, bad;
    record(&good, true);
    record(&bad, false);
    assert_true(hold(good.fx.derived, "other", bad.fx.derived, "other") >= 32);
    jd_stop(&good);
    jd_stop(&bad);
}

/* An arm that stores less and loses less, in a cell whose probes are faster too. */
static void compress(struct fixture *fx, bool good)
{
    static const enum ifm_ceiling kinds[] = {IFM_CEILING_READ, IFM_CEILING_WRITE, IFM_CEILING_COPY, IFM_CEILING_FLOPS,
                                             IFM_CEILING_MATRIX};
    static const char *const names[] = {"p.read", "p.write", "p.copy", "p.flops", "p.matrix"};
    fx_start(fx);
    fx_store(fx, 0, 4000, 4000, 4000);
    fx_store(fx, 1, good ? 1000 : 2000, 4000, good ? 1000 : 2000);
    fx->parts[0].step_ns[1] = good ? 28000 : 90000;
    for (int a = 0; a < 2; a++)
        fx->parts[0].arms[a].has_oracle = true;
    for (size_t k = 0; k < 5; k++) {
        struct ifm_arm *probe = fx_add_arm(fx, 0, names[k], IFM_ROLE_CEILING, good ? 12000 : 16000);
        probe->ceiling = kinds[k];
        probe->ledger = (struct ifm_ledger){.bytes_read = 1000, .bytes_written = 1000, .flops = 1000000};
    }
    fx->cells[0].measure.resamples = 200;
    fx_generate(fx);
    double loss = good ? 0.01 : 0.3;
    fx_check(fx, "base", "before", 1e-7, "aa");
    fx_check_loss(fx, "other", "before",
                  json_pack("{s:f, s:f, s:f, s:f, s:f}", "rms_rel", loss, "p99_rel", 3 * loss, "cosine", 1 - loss, "kl",
                            loss / 2, "tv", loss / 3));
    fx_end_events(fx);
    fx_derive(fx);
}

static void every_number_of_a_smaller_arm_is_better(void **state)
{
    (void)state;
    struct fixture good, bad;
    compress(&good, true);
    compress(&bad, false);
    size_t n = hold(good.derived, "other", bad.derived, "other");
    if (n < 36)
        fail_msg("%zu numbers", n);
    fx_stop(&good);
    fx_stop(&bad);
}

/* Both arms are as fast; one draws 300 W and the other one 400. */
static void every_number_of_a_cooler_arm_is_better(void **state)
{
    (void)state;
    static struct ps p;
    ps_plain(&p);
    ps_counter(&p);
    ps_ring(&p, 1);
    ps_derive(&p);
    size_t n = hold(p.fx.derived, "other", p.fx.derived, "base");
    if (n < 10)
        fail_msg("%zu numbers", n);
    ps_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twice_as_slow_fails_every_gate),
        cmocka_unit_test(twice_as_fast_passes_every_gate),
        cmocka_unit_test(twice_as_bad_fails_and_half_as_bad_passes_every_metric),
        cmocka_unit_test(every_number_of_a_faster_arm_is_better),
        cmocka_unit_test(every_number_of_a_smaller_arm_is_better),
        cmocka_unit_test(every_number_of_a_cooler_arm_is_better),
    };
    return cmocka_run_group_tests_name("rule_09", tests, NULL, NULL);
}
