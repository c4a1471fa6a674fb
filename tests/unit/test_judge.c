/* Judge: which numbers a gate is about, what blocks it, exit codes, verdict.json. */
#include "publish/junit.h"
#include "rules/fixture.h"
#include "unit/facts.h"

static void start(struct fixture *fx)
{
    fx_start(fx);
    fx_generate(fx);
    fx_end_events(fx);
}

static void finish(struct fixture *fx, enum ifm_outcome outcome, enum ifm_status code)
{
    fx_derive(fx);
    fx_judge(fx);
    if (fx->verdict->outcome != outcome || fx->verdict->exit_code != code)
        fail_msg("%s, exit %d: %s", ifm_outcome_name(fx->verdict->outcome), fx->verdict->exit_code,
                 fx->verdict->reasons[0]);
    assert_true(fx->verdict->n_reasons > 0);
}

static void no_gates_is_not_gated(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    finish(&fx, IFM_OUTCOME_NOT_GATED, IFM_OK);
    fx_stop(&fx);
}

static void no_gates_and_invalid_exits_3(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx.plan.config_hash = "beef";
    finish(&fx, IFM_OUTCOME_NOT_GATED, IFM_INVALID);
    fx_stop(&fx);
}

/* Nothing to accept, gates or not: invalid, or missing where the device cannot run any of it. */
static void nothing_measured_is_no_success(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx.parts[0].has_record = false;
    finish(&fx, IFM_OUTCOME_NOT_GATED, IFM_INVALID);
    assert_facts(fx.verdict->reasons[0], "nothing|measured");
    fx_stop(&fx);
    start(&fx);
    fx.parts[0].has_record = false;
    fx.cells[0].unsupported = "no such unit here";
    finish(&fx, IFM_OUTCOME_NOT_GATED, IFM_MISSING);
    fx_stop(&fx);
}

/* A run that was killed has the blocks up to a moment that nobody planned: no gate passes on them. */
static void a_cell_that_was_cut_short_passes_no_gate(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_generate(&fx);
    fx_gate(&fx, "step_ns", "", IFM_GATE_AT_MOST, 1e9, true);
    finish(&fx, IFM_OUTCOME_BLOCKED, IFM_INVALID);
    assert_facts(fx.verdict->gates[0].reason, "cut short|resume");
    fx_end_events(&fx);
    finish(&fx, IFM_OUTCOME_PASS, IFM_OK);
    fx_stop(&fx);
}

static void a_gate_is_about_the_variants(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_gate(&fx, "step_ns", "", IFM_GATE_AT_MOST, 200000, false);
    finish(&fx, IFM_OUTCOME_PASS, IFM_OK);
    assert_int_equal(fx.verdict->n_gates, 1);
    assert_string_equal(fx.verdict->gates[0].arm, "other");
    assert_false(fx.verdict->rollback);
    fx_stop(&fx);
}

static void a_lone_baseline_is_meant(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.cells[0].n_arms = 1;
    struct ifm_arm *read = fx_add_arm(&fx, 0, "read.sum", IFM_ROLE_CEILING, 100000);
    read->ceiling = IFM_CEILING_READ;
    read->ledger.bytes_read = 1;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_gate(&fx, "step_ns", "", IFM_GATE_AT_MOST, 1, false);
    finish(&fx, IFM_OUTCOME_FAIL, IFM_REJECTED);
    assert_int_equal(fx.verdict->n_gates, 1);
    assert_string_equal(fx.verdict->gates[0].arm, "base");
    assert_false(fx.verdict->rollback);
    fx_stop(&fx);
}

static void a_gate_on_a_number_of_the_cell(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    struct ifm_arm *read = fx_add_arm(&fx, 0, "read.sum", IFM_ROLE_CEILING, 100000);
    read->ceiling = IFM_CEILING_READ;
    read->ledger.bytes_read = 1000000;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_gate(&fx, "ceiling_read", "", IFM_GATE_AT_LEAST, 9e9, true);
    finish(&fx, IFM_OUTCOME_PASS, IFM_OK);
    assert_int_equal(fx.verdict->n_gates, 1);
    assert_string_equal(fx.verdict->gates[0].arm, "");
    fx_stop(&fx);
}

/* Blocks may resemble the one before, which 12 do not show: a gate on their ratio asks for more than its interval says.
 */
static void a_gate_on_a_comparison_foretells_with_caution(void **state)
{
    (void)state;
    static const char *const metrics[] = {"change_percent", "speedup"};
    for (size_t i = 0; i < 2; i++) {
        struct fixture fx;
        start(&fx);
        fx_derive(&fx);
        const struct ifm_value v = *fx_value(&fx, "other", metrics[i]);
        const double times = v.caution * v.caution;
        assert_true(times > 1.5);
        fx_gate(&fx, metrics[i], "other", i == 0 ? IFM_GATE_AT_MOST : IFM_GATE_AT_LEAST,
                0.5 * (v.number + (i == 0 ? v.high : v.low)), true);
        finish(&fx, IFM_OUTCOME_INCONCLUSIVE, IFM_INVALID);
        assert_in_range(fx.verdict->gates[0].further, (unsigned)(14 * 12 * times), (unsigned)(20 * 12 * times));
        fx_stop(&fx);
    }
}

/* Three answers where an interval decides; two, said to be of a value alone, where it does not. */
static void a_gate_has_three_answers(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_derive(&fx);
    const struct ifm_value v = *fx_value(&fx, "other", "step_ns");
    fx_gate(&fx, "step_ns", "", IFM_GATE_AT_MOST, v.high, true);
    finish(&fx, IFM_OUTCOME_PASS, IFM_OK);
    assert_facts(fx.verdict->gates[0].reason, "wholly at or below");
    fx.gates[0].threshold = nextafter(v.low, 0);
    finish(&fx, IFM_OUTCOME_FAIL, IFM_REJECTED);
    assert_facts(fx.verdict->gates[0].reason, "wholly above");
    for (int above = 0; above < 2; above++) {
        fx.gates[0].threshold = above ? 0.5 * (v.number + v.high) : 0.5 * (v.number + v.low);
        fx.gates[0].interval = true;
        finish(&fx, IFM_OUTCOME_INCONCLUSIVE, IFM_INVALID);
        assert_facts(fx.verdict->reasons[0], "both sides|more blocks would probably decide");
        /* half the half-width away, 1.1 standard errors: that decides 7 of 100 next runs on the other side */
        assert_in_range(fx.verdict->gates[0].further, 14 * 12, 20 * 12);
        fx.gates[0].interval = false;
        finish(&fx, above ? IFM_OUTCOME_PASS : IFM_OUTCOME_FAIL, above ? IFM_OK : IFM_REJECTED);
        assert_facts(fx.verdict->gates[0].reason, "the value alone, without an interval");
    }
    fx_stop(&fx);
}

/* Beside other work few blocks foretell nothing, in the gate's sentence as in the comparison's. */
static void few_blocks_under_load_foretell_no_gate(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    for (int64_t n = 11; n <= 12; n++)
        for (int busy = 0; busy < 2; busy++) {
            fx.plan.n_gates = 0;
            fx_derive(&fx);
            const struct ifm_value v = *fx_value(&fx, "other", "speedup");
            fx_gate(&fx, "speedup", "", IFM_GATE_AT_LEAST, 0.5 * (v.number + v.high), true);
            fx_derive(&fx);
            for (size_t i = 0; i < fx.derived->n_numbers; i++)
                fx.derived->numbers[i].value.n = n;
            fx.derived->n_findings = 0;
            fx.derived->busy = busy;
            fx_judge(&fx);
            const bool foretells = n == 12 || !busy;
            assert_int_equal(fx.verdict->gates[0].outcome, IFM_OUTCOME_INCONCLUSIVE);
            assert_true((fx.verdict->gates[0].further > 0) == foretells);
            assert_facts(fx.verdict->gates[0].reason,
                         foretells ? "more blocks would probably decide" : "too few undisturbed blocks to foretell");
        }
    fx_stop(&fx);
}

static void an_estimate_on_the_threshold_is_never_decided(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_derive(&fx);
    fx_gate(&fx, "speedup", "", IFM_GATE_AT_LEAST, fx_value(&fx, "other", "speedup")->number, true);
    finish(&fx, IFM_OUTCOME_INCONCLUSIVE, IFM_INVALID);
    assert_int_equal(fx.verdict->gates[0].further, 0);
    assert_facts(fx.verdict->gates[0].reason,
                 "within its noise of it|no number of blocks can be foretold|four times as many");
    fx_stop(&fx);
}

/* What is blocked cannot be had for more blocks; so it weighs more than what is open, and less than a failure. */
static void what_is_open_weighs_least(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_derive(&fx);
    fx_gate(&fx, "speedup", "", IFM_GATE_AT_LEAST, fx_value(&fx, "other", "speedup")->number, true);
    fx_gate(&fx, "step_ns", "", IFM_GATE_AT_MOST, 1e9, true);
    finish(&fx, IFM_OUTCOME_INCONCLUSIVE, IFM_INVALID);
    fx_gate(&fx, "l2_hit_percent", "", IFM_GATE_AT_LEAST, 1, false); /* no instrument: alone it exits 4 */
    finish(&fx, IFM_OUTCOME_BLOCKED, IFM_INVALID);
    fx_gate(&fx, "step_ns", "base", IFM_GATE_AT_MOST, 1, true);
    finish(&fx, IFM_OUTCOME_FAIL, IFM_REJECTED);
    json_t *json = ifm_verdict_to_json(fx.verdict, fx.derived);
    const json_t *gates = json_object_get(json, "gates");
    assert_string_equal(json_string_value(json_object_get(json_array_get(gates, 0), "outcome")), "inconclusive");
    assert_true(json_is_null(json_object_get(json_array_get(gates, 0), "further")));
    json_decref(json);
    fx_stop(&fx);
}

static void what_is_missing_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *metric, *arm, *cell, *facts;
    } gates[] = {{"latency_ns_p59", "", "", "\"latency_ns_p59\"|\"latency_ns_p50\""},
                 {"energy_j", "", "", "no metric|energy_j"},
                 {"step_ns", "nobody", "", "arm nobody"},
                 {"step_ns", "", "elsewhere", "no cell|elsewhere"},
                 {"read_bytes_per_s", "", "", "gives read_bytes_per_s"},
                 {"read_bytes_per_s", "", "decode", "not measured"},
                 {"latency_ns_p999", "", "", "needs 3688"}};
    for (size_t i = 0; i < sizeof gates / sizeof gates[0]; i++) {
        struct fixture fx;
        start(&fx);
        int op = strstr(gates[i].metric, "_per_s") != NULL ? IFM_GATE_AT_LEAST : IFM_GATE_AT_MOST;
        fx_gate(&fx, gates[i].metric, gates[i].arm, op, 1e12, false);
        fx.gates[0].cell = gates[i].cell;
        finish(&fx, IFM_OUTCOME_BLOCKED, IFM_INVALID);
        assert_facts(fx.verdict->gates[0].reason, gates[i].facts);
        fx_stop(&fx);
    }
}

/* An interval that five blocks do not give; the reason is the number's own. */
static void a_gate_on_an_interval_needs_one(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.blocks = 5;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_gate(&fx, "step_ns", "other", IFM_GATE_AT_MOST, 1e9, true);
    finish(&fx, IFM_OUTCOME_INCONCLUSIVE, IFM_INVALID); /* one more block gives it an interval */
    assert_non_null(strstr(fx.verdict->gates[0].reason, "5 of the 6 blocks"));
    assert_int_equal(fx.verdict->gates[0].further, 1);
    fx.gates[0].interval = false;
    finish(&fx, IFM_OUTCOME_PASS, IFM_OK);
    fx_stop(&fx);
}

/* Two undecided comparisons: what disputes one of them says nothing of the other. */
static void a_dispute_is_about_one_arm(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_add_arm(&fx, 0, "third", IFM_ROLE_VARIANT, 100000);
    fx.cells[0].measure.margin = 1e-5;
    fx_generate(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++)
        r->columns[k * FX_COLUMNS + 3] = r->slots[k].arm == 1 ? 3300000 : 3000000;
    fx_end_events(&fx);
    fx_gate(&fx, "change_percent", "other", IFM_GATE_AT_MOST, 5, true);
    fx_gate(&fx, "change_percent", "third", IFM_GATE_AT_MOST, 5, true);
    finish(&fx, IFM_OUTCOME_BLOCKED, IFM_INVALID);
    assert_string_equal(fx_value(&fx, "other", "change_percent")->text, "undecided");
    assert_string_equal(fx_value(&fx, "third", "change_percent")->text, "undecided");
    assert_int_equal(fx.verdict->gates[0].outcome, IFM_OUTCOME_BLOCKED);
    assert_int_equal(fx.verdict->gates[1].outcome, IFM_OUTCOME_PASS);
    assert_facts(fx.verdict->gates[1].reason, "change in time is |x the speed), wholly"); /* as the tables have it */
    fx_stop(&fx);
}

/* A failure is certain; what is blocked beside it cannot save it. */
static void a_failure_outweighs_a_block(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_gate(&fx, "step_ns", "", IFM_GATE_AT_MOST, 1, false);
    fx_gate(&fx, "energy_j", "", IFM_GATE_AT_MOST, 1, false);
    finish(&fx, IFM_OUTCOME_FAIL, IFM_REJECTED);
    assert_null(strstr(fx.verdict->reasons[0], "fails")); /* that is the verdict's own word */
    assert_non_null(strstr(fx.verdict->reasons[1], "is blocked"));
    fx_stop(&fx);
}

/* A gate that names no cell covers a workload's every cell, and leaves out workloads that have no such number. */
static void a_gate_without_a_cell(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].arms[0].ledger.tokens_generated = fx.parts[0].arms[1].ledger.tokens_generated = 3; /* rule 12 */
    fx_add_cell(&fx, "stream", "stream");
    fx_add_arm(&fx, 1, "read.sum", IFM_ROLE_CEILING, 1000)->ceiling = IFM_CEILING_READ;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_gate(&fx, "tokens_generated_per_s", "", IFM_GATE_AT_LEAST, 1, false);
    fx_gate(&fx, "change_percent", "other", IFM_GATE_AT_MOST, 10, false);
    finish(&fx, IFM_OUTCOME_PASS, IFM_OK);
    assert_int_equal(fx.verdict->n_gates, 2);
    assert_string_equal(fx.verdict->gates[0].cell, "decode");
    fx_stop(&fx);
}

static void an_invalid_cell_blocks_its_gates(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx.parts[0].record.slots[6].arm ^= 1;                          /* not the plan's order */
    fx_gate(&fx, "blocks_marked", "", IFM_GATE_AT_MOST, 9, false); /* a number that is itself printed */
    finish(&fx, IFM_OUTCOME_BLOCKED, IFM_INVALID);
    assert_facts(fx.verdict->gates[0].reason, "invalid|rule-07");
    fx_stop(&fx);
}

/* What would help a number that is absent helps no gate that is blocked for another reason. */
static void a_remedy_is_of_its_reason(void **state)
{
    (void)state;
    for (int invalid = 0; invalid < 2; invalid++) {
        struct fixture fx;
        start(&fx);
        fx.parts[0].record.slots[6].arm ^= (unsigned)invalid;
        fx_gate(&fx, "l2_hit_percent", "", IFM_GATE_AT_LEAST, 10, false);
        finish(&fx, IFM_OUTCOME_BLOCKED, invalid ? IFM_INVALID : IFM_MISSING);
        assert_true(fx.verdict->gates[0].observed.remedy[0] != '\0');
        assert_int_equal(fx.verdict->gates[0].remedy[0] == '\0', invalid);
        struct ifm_gate_lines lines = {0};
        const struct ifm_run_view run = {&fx.plan, fx.derived, NULL};
        ifm_gate_lines_run(&run, fx.verdict, fx.arena, &lines);
        struct ifm_listing listing = ifm_gate_lines_listing(&lines, fx.arena);
        assert_int_equal(strstr(listing.notes[0], "Remedy") == NULL, invalid);
        ifm_listing_end(&listing);
        fx_stop(&fx);
    }
}

static void verdict_json(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_gate(&fx, "step_ns", "", IFM_GATE_AT_MOST, 1, true);
    finish(&fx, IFM_OUTCOME_FAIL, IFM_REJECTED);
    json_t *json = ifm_verdict_to_json(fx.verdict, fx.derived);
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "outcome")), "fail");
    assert_int_equal(json_integer_value(json_object_get(json, "exit_code")), 1);
    const json_t *rollback = json_object_get(json, "rollback");
    assert_true(json_is_false(json_object_get(rollback, "rollback"))); /* one failed gate */
    assert_string_equal(json_string_value(json_object_get(rollback, "to")), "");
    assert_string_equal(json_string_value(json_object_get(rollback, "advice")), "");
    const json_t *gate = json_array_get(json_object_get(json, "gates"), 0);
    assert_string_equal(json_string_value(json_object_get(gate, "op")), "at_most");
    assert_true(json_is_true(json_object_get(gate, "interval")));
    assert_true(json_is_number(json_object_get(json_object_get(gate, "observed"), "value")));
    const json_t *rca = json_object_get(json, "rca");
    assert_int_equal(json_array_size(rca), 5);
    assert_true(strncmp(json_string_value(json_array_get(rca, 0)), "environment: ", 13) == 0);
    assert_true(strncmp(json_string_value(json_array_get(rca, 4)), "statistics: ", 12) == 0);
    json_decref(json);
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_gates_is_not_gated),
        cmocka_unit_test(nothing_measured_is_no_success),
        cmocka_unit_test(no_gates_and_invalid_exits_3),
        cmocka_unit_test(a_cell_that_was_cut_short_passes_no_gate),
        cmocka_unit_test(a_gate_is_about_the_variants),
        cmocka_unit_test(a_lone_baseline_is_meant),
        cmocka_unit_test(a_gate_on_a_number_of_the_cell),
        cmocka_unit_test(a_gate_on_a_comparison_foretells_with_caution),
        cmocka_unit_test(a_gate_has_three_answers),
        cmocka_unit_test(few_blocks_under_load_foretell_no_gate),
        cmocka_unit_test(an_estimate_on_the_threshold_is_never_decided),
        cmocka_unit_test(what_is_open_weighs_least),
        cmocka_unit_test(what_is_missing_blocks),
        cmocka_unit_test(a_gate_on_an_interval_needs_one),
        cmocka_unit_test(a_dispute_is_about_one_arm),
        cmocka_unit_test(a_failure_outweighs_a_block),
        cmocka_unit_test(a_gate_without_a_cell),
        cmocka_unit_test(an_invalid_cell_blocks_its_gates),
        cmocka_unit_test(a_remedy_is_of_its_reason),
        cmocka_unit_test(verdict_json),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
