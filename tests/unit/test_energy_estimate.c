/* An estimate from rated power: a number of a class of its own, in no sum, no change and no gate. */
#include "unit/power_sample.h"

static struct ps p;

/* Where there is nothing else, an estimate is a number of its own, and no joules of anything. */
static void an_estimate_alone_is_no_energy(void **state)
{
    (void)state;
    static const char *const made[] = {"total_energy_j", "power_mean_w", "energy_per_step_j"};
    ps_plain(&p);
    p.fx.plan.device = "cpu";
    ps_event(&p, "cpu", "tdp", "estimate", 0.1, NULL);
    ps_sensor(&p, "cpu", "tdp", "estimate", 0.1, 3, 0);
    ps_derive(&p);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        fx_expect(&p.fx, "base", made[i], IFM_STATE_ABSENT, "only an estimate");
    fx_expect(&p.fx, "base", "estimated_energy_j", IFM_STATE_OK, "");
    ps_near(fx_value(&p.fx, "base", "estimated_energy_j")->number, 4 * 5 * 3 * 400, 0.05);
    assert_null(ifm_derived_find(p.fx.derived, "decode", "other", IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT));
    assert_null(ifm_derived_find(p.fx.derived, "decode", "base", IFM_M_CPU_ENERGY_J));
    assert_non_null(fx_finding(&p.fx, "rule-05", "estimate|in no sum"));
    assert_int_equal(ifm_metrics[IFM_M_ESTIMATED_ENERGY_J].kind, IFM_CLASS_ESTIMATE);
    ps_stop(&p);
}

/* Beside a counter it changes nothing. */
static void an_estimate_beside_a_counter_is_in_no_sum(void **state)
{
    (void)state;
    ps_plain(&p);
    p.fx.plan.device = "cpu";
    ps_event(&p, "cpu0", "rapl_package", "counter", 0.001, NULL);
    ps_sensor(&p, "cpu0", "rapl_package", "counter", 0.02, 1, 0);
    ps_event(&p, "cpu", "tdp", "estimate", 0.1, NULL);
    ps_sensor(&p, "cpu", "tdp", "estimate", 0.1, 3, 0);
    ps_derive(&p);
    const struct ifm_value *estimate = fx_value(&p.fx, "base", "estimated_energy_j");
    assert_true(estimate->state == IFM_STATE_OK && !estimate->has_interval);
    assert_facts(estimate->text, "estimate|nothing measured it");
    ps_near(estimate->number, ps_row(&p, "base", "cpu", "tdp")->joules, 1e-12);
    assert_string_equal(ps_row(&p, "base", "cpu", "tdp")->role, "estimate");
    ps_expect(&p, "base", "total_energy_j", ps_row(&p, "base", "cpu0", "rapl_package")->joules, 1e-9);
    ps_expect(&p, "base", "power_mean_w", 400, 1e-3);
    ps_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_estimate_alone_is_no_energy),
        cmocka_unit_test(an_estimate_beside_a_counter_is_in_no_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
