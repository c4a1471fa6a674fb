/* Rule 4: time x rate = amount for every pair, and every part of the record carries one configuration hash. */
#include "rules/fixture.h"

#include <stdio.h>

static void start(struct fixture *fx)
{
    fx_start(fx);
    for (int a = 0; a < 2; a++)
        fx->parts[0].arms[a].ledger = (struct ifm_ledger){
            .flops = 77, .bytes_read = 1000, .bytes_written = 10, .tokens_prompt = 5, .tokens_generated = 3, .rows = 9};
    fx_generate(fx);
    fx_end_events(fx);
}

static struct ifm_number *number_of(struct fixture *fx, const char *metric)
{
    for (size_t i = 0; i < fx->derived->n_numbers; i++)
        if (strcmp(ifm_metrics[fx->derived->numbers[i].metric].id, metric) == 0 &&
            strcmp(fx->derived->numbers[i].arm, "other") == 0)
            return &fx->derived->numbers[i];
    fail_msg("no %s", metric);
    return NULL;
}

static void a_changed_number_is_named(void **state)
{
    (void)state;
    static const char *const metrics[] = {"read_bytes_per_s", "write_bytes_per_s",      "bandwidth_bytes_per_s",
                                          "flops_per_s",      "tokens_generated_per_s", "tokens_prompt_per_s",
                                          "rows_per_s",       "arithmetic_intensity",   "step_ns"};
    struct ifm_error error;
    struct fixture fx;
    start(&fx);
    fx_derive(&fx);
    assert_int_equal(ifm_derived_agree(&fx.plan, fx.derived, &error), IFM_OK);
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        struct ifm_value *value = &number_of(&fx, metrics[i])->value;
        struct ifm_value honest = *value;
        value->number *= 1.0001;
        value->has_interval = false;
        assert_int_equal(ifm_derived_agree(&fx.plan, fx.derived, &error), IFM_INVALID);
        assert_non_null(strstr(error.message, "rule-04"));
        assert_non_null(strstr(error.message, "arm other"));
        *value = honest;
    }
    number_of(&fx, "speedup")->value.number = 3;
    number_of(&fx, "speedup")->value.has_interval = false;
    assert_int_equal(ifm_derived_agree(&fx.plan, fx.derived, &error), IFM_INVALID);
    fx_stop(&fx);
}

static void a_number_outside_its_interval_is_named(void **state)
{
    (void)state;
    struct ifm_error error;
    struct fixture fx;
    start(&fx);
    fx_derive(&fx);
    number_of(&fx, "change_percent")->value.low = 90;
    assert_int_equal(ifm_derived_agree(&fx.plan, fx.derived, &error), IFM_INVALID);
    assert_non_null(strstr(error.message, "its own interval"));
    fx_stop(&fx);
}

static void judge_decides_nothing_on_numbers_that_disagree(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_gate(&fx, "read_bytes_per_s", "other", IFM_GATE_AT_LEAST, 1, false);
    fx_derive(&fx);
    number_of(&fx, "read_bytes_per_s")->value.number *= 2;
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_BLOCKED);
    assert_int_equal(fx.verdict->exit_code, IFM_INVALID);
    assert_non_null(strstr(fx.verdict->reasons[0], "rule-04"));
    fx_stop(&fx);
}

static void refused_everywhere(struct fixture *fx, const char *words)
{
    fx_derive(fx);
    assert_non_null(fx_finding(fx, "rule-04", words));
    fx_expect(fx, "base", "step_ns", IFM_STATE_REFUSED, "rule-04");
    fx_expect(fx, "other", "change_percent", IFM_STATE_REFUSED, "rule-04");
    fx_expect(fx, "other", "read_bytes_per_s", IFM_STATE_REFUSED, "rule-04");
    fx_judge(fx);
    assert_int_equal(fx->verdict->exit_code, IFM_INVALID);
    fx_stop(fx);
}

static void another_configuration_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx.plan.config_hash = "beef"; /* the plan was replaced after the run */
    refused_everywhere(&fx, "says configuration cafe, the plan beef");
}

static void another_end_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    for (int a = 0; a < 2; a++)
        fx.parts[0].arms[a].ledger.bytes_read = 1000;
    fx_generate(&fx);
    fx_event(&fx, "run_done", json_pack("{s:s}", "config_hash", "beef"));
    refused_everywhere(&fx, "says configuration beef, the plan cafe");
}

static void another_run_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx.plan.run_id = "ba9876543210";
    refused_everywhere(&fx, "says run 0123456789ab");
}

static void a_record_without_a_start_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    json_array_remove(fx.events, 0);
    refused_everywhere(&fx, "no start of the run");
}

static void derived_numbers_of_another_plan_are_named(void **state)
{
    (void)state;
    struct ifm_error error;
    struct fixture fx;
    start(&fx);
    fx_derive(&fx);
    fx.derived->config_hash = "beef";
    assert_int_equal(ifm_derived_agree(&fx.plan, fx.derived, &error), IFM_INVALID);
    fx_stop(&fx);
}

static void fingerprint(struct fixture *fx, const char *model)
{
    fx_event(fx, "environment", json_pack("{s:{s:{s:s}, s:s}}", "fingerprint", "cpu", "model", model, "kernel", "6.1"));
}

/* A run that was begun on one machine and resumed on another pools two populations. */
static void a_run_resumed_on_another_machine_is_refused(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) {
        struct fixture fx;
        fx_start(&fx);
        fx_generate(&fx);
        fingerprint(&fx, "one");
        fx_event(&fx, "resume",
                 json_pack("{s:s, s:s, s:s}", "run_id", "0123456789ab", "config_hash", "cafe", "version", "x"));
        fingerprint(&fx, other ? "two" : "one");
        fx_end_events(&fx);
        fx_derive(&fx);
        fx_expect(&fx, "base", "step_ns", other ? IFM_STATE_REFUSED : IFM_STATE_OK, other ? "cpu.model" : "");
        fx_stop(&fx);
    }
}

static void a_resume_of_another_configuration_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_generate(&fx);
    fx_event(&fx, "resume",
             json_pack("{s:s, s:s, s:s}", "run_id", "0123456789ab", "config_hash", "beef", "version", "x"));
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "base", "step_ns", IFM_STATE_REFUSED, "rule-04");
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_number_is_named),
        cmocka_unit_test(a_number_outside_its_interval_is_named),
        cmocka_unit_test(judge_decides_nothing_on_numbers_that_disagree),
        cmocka_unit_test(another_configuration_is_refused),
        cmocka_unit_test(another_end_is_refused),
        cmocka_unit_test(another_run_is_refused),
        cmocka_unit_test(a_record_without_a_start_is_refused),
        cmocka_unit_test(derived_numbers_of_another_plan_are_named),
        cmocka_unit_test(a_run_resumed_on_another_machine_is_refused),
        cmocka_unit_test(a_resume_of_another_configuration_is_refused),
    };
    return cmocka_run_group_tests_name("rule_04", tests, NULL, NULL);
}
