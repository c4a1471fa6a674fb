/* Classes of the golden ticket at their borders, and what has none. */
#include "unit/judge_sample.h"

#include "unit/facts.h"

static const struct ifm_class_label *class_of(const struct judged *j, const char *title)
{
    for (size_t i = 0; i < j->fx.verdict->n_classes; i++)
        if (strcmp(j->fx.verdict->classes[i].title, title) == 0)
            return &j->fx.verdict->classes[i];
    return NULL;
}

/* A number of the derived set in place of the arm's own, with or without an interval; judged again. */
static const char *label(struct judged *j, const char *metric, const char *title, double number, double low,
                         double high)
{
    struct ifm_number *target = NULL;
    for (size_t i = 0; i < j->fx.derived->n_numbers; i++)
        if (strcmp(ifm_metrics[j->fx.derived->numbers[i].metric].id, metric) == 0 &&
            strcmp(j->fx.derived->numbers[i].arm, "other") == 0)
            target = &j->fx.derived->numbers[i];
    assert_non_null(target);
    target->value.number = number;
    target->value.has_interval = low < high;
    target->value.low = low;
    target->value.high = high;
    if (target->metric == IFM_M_SPEEDUP) /* fields agree (rule 4) */
        for (size_t i = 0; i < j->fx.derived->n_numbers; i++)
            if (j->fx.derived->numbers[i].metric == IFM_M_CHANGE_PERCENT) {
                j->fx.derived->numbers[i].value.number = 100.0 * (1.0 / number - 1.0);
                j->fx.derived->numbers[i].value.has_interval = false;
            }
    fx_judge(&j->fx);
    const struct ifm_class_label *found = class_of(j, title);
    return found == NULL ? "" : found->label;
}

static void classes_at_their_borders(void **state)
{
    (void)state;
    struct judged j;
    jd_start_golden(&j);
    static const struct {
        double speedup;
        const char *label, *performance;
    } table[] = {
        {0.5, "Regression", "REGRESSION"},
        {0.999, "Regression", "REGRESSION"},
        {1.0, "Baseline", "CLOSE_TO_TARGET"},
        {1.199, "Baseline", "CLOSE_TO_TARGET"},
        {1.2, "Minor improvement", "CLOSE_TO_TARGET"},
        {1.5, "Good improvement", "CLOSE_TO_TARGET"},
        {1.8, "Excellent", "CLOSE_TO_TARGET"},
        {1.999, "Excellent", "CLOSE_TO_TARGET"},
        {2.0, "Golden Ticket", "PERFORMANCE_PASSED"},
        {40.0, "Golden Ticket", "PERFORMANCE_PASSED"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_string_equal(label(&j, "speedup", "speed-up", table[i].speedup, 0, 0), table[i].label);
        assert_string_equal(label(&j, "speedup", "performance", table[i].speedup, 0, 0), table[i].performance);
    }
    assert_string_equal(label(&j, "latency_cv_percent", "precision", 1.0, 0, 0), "PRECISION_PASSED");
    assert_string_equal(label(&j, "latency_cv_percent", "precision", 1.001, 0, 0), "NEEDS_TUNING");
    jd_stop(&j);
}

static void an_interval_across_a_border_has_two_labels(void **state)
{
    (void)state;
    struct judged j;
    jd_start_golden(&j);
    assert_facts(label(&j, "speedup", "speed-up", 1.81, 1.7, 1.9), "Good improvement|Excellent");
    assert_string_equal(label(&j, "speedup", "speed-up", 1.7, 1.6, 1.75), "Good improvement");
    jd_stop(&j);
}

/* Memory efficiency: above 60 is good, above 70 excellent, as the table has it. */
static void memory_efficiency(void **state)
{
    (void)state;
    static const struct {
        double ns;
        const char *label;
    } table[] = {{250000, "below Good"}, {210000, "below Good"}, {182000, "Good"}, {150000, "Excellent"}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct judged j;
        jd_start(&j);
        struct ifm_arm *read = fx_add_arm(&j.fx, 0, "read.sum", IFM_ROLE_CEILING, 120000);
        read->ceiling = IFM_CEILING_READ;
        for (int a = 0; a < 3; a++)
            j.fx.parts[0].arms[a].ledger.bytes_read = 1000000;
        j.fx.parts[0].step_ns[1] = table[i].ns;
        fx_generate(&j.fx);
        fx_end_events(&j.fx);
        jd_preset(&j, "golden-ticket");
        jd_judge(&j);
        assert_non_null(class_of(&j, "memory efficiency"));
        assert_string_equal(class_of(&j, "memory efficiency")->label, table[i].label);
        jd_stop(&j);
    }
}

static void what_is_refused_has_no_class(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j);
    j.fx.parts[0].arms[1].ledger.tokens_generated = 8; /* other work: the comparison is refused (rule 12) */
    jd_record(&j);
    jd_preset(&j, "golden-ticket");
    jd_judge(&j);
    assert_non_null(class_of(&j, "precision"));
    assert_null(class_of(&j, "speed-up"));
    assert_null(class_of(&j, "performance"));
    assert_int_equal(j.fx.verdict->n_triage, 0);
    jd_stop(&j);
}

/* Beside a gate that a dispute blocks no label praises the speed-up; the precision is no comparison. */
static void a_disputed_speedup_has_no_class(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct judged j;
        jd_start(&j);
        j.khz[0] = 3000000;
        j.khz[1] = apart ? 6300000 : 3000000; /* as much faster as its clock */
        jd_record(&j);
        jd_preset(&j, "golden-ticket");
        jd_judge(&j);
        assert_string_equal(class_of(&j, "speed-up")->label, apart ? "undecided" : "Golden Ticket");
        assert_string_equal(class_of(&j, "performance")->label, apart ? "undecided" : "PERFORMANCE_PASSED");
        assert_string_equal(class_of(&j, "precision")->label, "PRECISION_PASSED");
        assert_int_equal(j.fx.verdict->outcome, apart ? IFM_OUTCOME_BLOCKED : IFM_OUTCOME_PASS);
        jd_stop(&j);
    }
}

/* Nor one of too few blocks, which have no interval; an undecided one with an interval has the labels of its ends. */
static void a_speedup_of_few_blocks_has_no_class(void **state)
{
    (void)state;
    struct judged j;
    jd_start_golden(&j);
    for (size_t i = 0; i < j.fx.derived->n_numbers; i++)
        if (j.fx.derived->numbers[i].metric == IFM_M_CHANGE_PERCENT)
            j.fx.derived->numbers[i].value.text = "undecided";
    assert_string_equal(label(&j, "speedup", "speed-up", 2.1, 0, 0), "undecided");
    assert_string_equal(label(&j, "speedup", "speed-up", 1.1, 0.9, 1.3), "Regression to Minor improvement");
    jd_stop(&j);
}

static const struct ifm_gate_result *only_speedup_gate(const struct judged *j)
{
    const struct ifm_gate_result *found = NULL, *gates = j->fx.verdict->gates;
    for (size_t g = 0; g < j->fx.verdict->n_gates; g++)
        if (strcmp(gates[g].gate->metric, "speedup") == 0)
            found = found == NULL ? &gates[g] : NULL; /* two are none */
    return found;
}

/* An uncompressed variant need not be twice as fast; where it is the fastest, the others are held against it. */
static void compressed_arms_are_held_against_the_fastest_exact_one(void **state)
{
    struct judged j;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        jd_start(&j);
        (void)fx_add_arm(&j.fx, 0, "f16-no-graph", IFM_ROLE_VARIANT, i == 0 ? 440000 : 380000);
        j.fx.parts[0].arms[2].ledger = j.fx.parts[0].arms[0].ledger;
        j.fx.parts[0].arms[1].variant = "int4", j.fx.parts[0].arms[1].lossy = true;
        fx_generate(&j.fx);
        for (int a = 0; a < 3; a++)
            jd_check(&j, a);
        fx_end_events(&j.fx);
        jd_preset(&j, "golden-ticket");
        jd_judge(&j);
        const struct ifm_gate_result *result = only_speedup_gate(&j);
        const double times = (i == 0 ? 400000 : 380000) / 195000.0;
        assert_true(result != NULL && strcmp(result->arm, "other") == 0);
        assert_true(fabs(result->observed.number - times) < 0.02);
        jd_stop(&j);
    }
}

static void gates_without_a_table_have_no_classes(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j);
    jd_record(&j);
    jd_preset(&j, "significant");
    jd_judge(&j);
    assert_int_equal(j.fx.verdict->n_classes, 0);
    jd_stop(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_at_their_borders),
        cmocka_unit_test(an_interval_across_a_border_has_two_labels),
        cmocka_unit_test(memory_efficiency),
        cmocka_unit_test(what_is_refused_has_no_class),
        cmocka_unit_test(a_disputed_speedup_has_no_class),
        cmocka_unit_test(a_speedup_of_few_blocks_has_no_class),
        cmocka_unit_test(compressed_arms_are_held_against_the_fastest_exact_one),
        cmocka_unit_test(gates_without_a_table_have_no_classes),
    };
    return cmocka_run_group_tests_name("judge_words", tests, NULL, NULL);
}
