/* Roll back by the rule of the specification: two metrics regress, and do so again when the run is repeated. */
#include "unit/judge_sample.h"

#include "unit/facts.h"

/* Judged by `sop`; where `again` names an arm, the run repeats one in which that arm regressed. */
static void judge(struct judged *j, double step_ns, double energy_uj, const char *again)
{
    jd_start(j);
    j->fx.parts[0].step_ns[1] = step_ns;
    j->energy_uj[1] = energy_uj;
    if (again != NULL)
        fx_event(&j->fx, "retry",
                 json_pack("{s:s, s:s, s:s, s:s}", "cell", "decode", "arm", again, "run_id", "0123456789ab",
                           "regressed", "latency and energy per token"));
    jd_record(j);
    jd_preset(j, "sop");
    jd_judge(j);
}

static void two_metrics_ask_for_a_retry(void **state)
{
    (void)state;
    struct judged j;
    judge(&j, 800000, 2000, NULL);
    jd_expect(&j, IFM_OUTCOME_FAIL, IFM_REJECTED);
    assert_false(j.fx.verdict->rollback);
    assert_string_equal(j.fx.verdict->rollback_to, "");
    assert_facts(j.fx.verdict->rollback_advice,
                 "latency and energy per token|measure once more|rerun|roll back to base");
    jd_stop(&j);
}

static void two_metrics_twice_roll_back(void **state)
{
    (void)state;
    struct judged j;
    judge(&j, 800000, 2000, "other");
    assert_true(j.fx.verdict->rollback);
    assert_string_equal(j.fx.verdict->rollback_to, "base");
    assert_facts(j.fx.verdict->rollback_advice, "Roll back to base|latency and energy per token|0123456789ab");
    jd_stop(&j);
    judge(&j, 800000, 2000, "base"); /* that one regressed, not this arm */
    assert_false(j.fx.verdict->rollback);
    assert_facts(j.fx.verdict->rollback_advice, "measure once more");
    jd_stop(&j);
}

/* A failed gate, a missed target and one metric that is worse are no reason, however often they are seen. */
static void less_is_no_reason(void **state)
{
    (void)state;
    static const struct {
        double step_ns, energy_uj;
    } runs[] = {{800000, 500}, {380000, 980}, {340000, 2000}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct judged j;
        judge(&j, runs[i].step_ns, runs[i].energy_uj, "other");
        jd_expect(&j, IFM_OUTCOME_FAIL, IFM_REJECTED);
        assert_false(j.fx.verdict->rollback);
        assert_string_equal(j.fx.verdict->rollback_advice, "");
        jd_stop(&j);
    }
}

/* At another clock nothing is decided of the energy, so that the latency regresses alone. */
static void energy_at_another_clock_is_no_reason(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct judged j;
        jd_start(&j);
        j.fx.parts[0].step_ns[1] = 800000;
        j.energy_uj[1] = 2000;
        j.khz[0] = 3000000;
        j.khz[1] = apart ? 2800000 : 3000000;
        jd_record(&j);
        jd_preset(&j, "sop");
        jd_judge(&j);
        jd_expect(&j, IFM_OUTCOME_FAIL, IFM_REJECTED);
        assert_facts(j.fx.verdict->rollback_advice, apart ? "" : "latency and energy per token|measure once more");
        jd_stop(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_metrics_ask_for_a_retry),
        cmocka_unit_test(two_metrics_twice_roll_back),
        cmocka_unit_test(less_is_no_reason),
        cmocka_unit_test(energy_at_another_clock_is_no_reason),
    };
    return cmocka_run_group_tests_name("judge_rollback", tests, NULL, NULL);
}
