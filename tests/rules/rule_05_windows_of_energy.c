/* Rule 5 on the windows of an energy pass: what breaks it costs the energy of the arm, and no time. */
#include "derive/coverage.h"
#include "unit/power_sample.h"

/* Of a load without a period. */
static double steady_coverage(double spread_w, double seconds)
{
    return ifm_coverage_w(&(struct ifm_coverage){.seconds = seconds, .spread_w = spread_w});
}

static struct ps p;

static void expect_refused(const char *arm, const char *reason)
{
    static const char *const metrics[] = {"total_energy_j", "power_mean_w", "energy_per_step_j", "energy_per_token_j",
                                          "gpu_energy_j",   "gpu_power_w",  "tokens_per_joule"};
    ps_derive(&p);
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
        fx_expect(&p.fx, arm, metrics[i], IFM_STATE_REFUSED, reason);
    fx_expect(&p.fx, "other", "energy_per_token_change_percent", IFM_STATE_REFUSED, reason);
    fx_expect(&p.fx, arm, "step_ns", IFM_STATE_OK, "");
    fx_expect(&p.fx, "other", "change_percent", IFM_STATE_OK, "");
    assert_non_null(fx_finding(&p.fx, "rule-05", reason));
    const struct ifm_device_energy *row = ps_row(&p, arm, "gpu0", "nvml_energy");
    assert_true(facts_stand(row->refused, reason, NULL));
    ps_stop(&p);
}

static void an_honest_pass_stands(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_counter(&p);
    ps_ring(&p, 1.005);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_OK, "");
    fx_expect(&p.fx, "other", "energy_per_token_change_percent", IFM_STATE_OK, "");
    assert_null(fx_finding(&p.fx, "rule-05", ""));
    ps_stop(&p);
}

/* The counter lost joules in one window: less than the idle device takes. */
static void below_idle_is_refused(void **state)
{
    (void)state;
    ps_plain(&p);
    for (size_t i = 0; i < p.n_phases; i++)
        if (p.phases[i].watts == 400 && p.phases[i].to - p.phases[i].from > 2) {
            p.phases[i].watts = 110;
            break;
        }
    ps_counter(&p);
    expect_refused("base", "less than gpu0 draws when it idles: 120 W");
    ps_plain(&p); /* inside the tolerance */
    for (size_t i = 0; i < p.n_phases; i++)
        p.phases[i].watts = p.phases[i].watts == 400 ? 118 : p.phases[i].watts;
    ps_counter(&p);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_OK, "");
    ps_stop(&p);
}

static void above_the_limit_is_refused(void **state)
{
    (void)state;
    ps_start(&p);
    p.watts[0] = 750;
    ps_generate(&p);
    ps_counter(&p);
    expect_refused("base", "gpu0 is limited to 700 W");
    ps_start(&p);
    p.watts[0] = 725;
    ps_generate(&p);
    ps_counter(&p);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_OK, "");
    ps_stop(&p);
}

static void a_window_too_short_says_how_long_it_must_be(void **state)
{
    (void)state;
    ps_start(&p);
    p.window_s = 0.5;
    ps_generate(&p);
    ps_counter(&p);
    expect_refused("base", "0.5 s|nvml_energy|100 ms|10 updates|measure.energy_window|1.3 s");
    /* and that is enough */
    ps_start(&p);
    p.window_s = 1.3;
    ps_generate(&p);
    ps_counter(&p);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_OK, "");
    ps_stop(&p);
}

static void an_average_needs_its_own_second_too(void **state)
{
    (void)state;
    ps_start(&p);
    p.window_s = 1.5;
    ps_generate(&p);
    ps_event(&p, "gpu0", "nvml_average", "average", 0.1, json_pack("{s:f}", "window_ms", 1000.0));
    ps_sensor(&p, "gpu0", "nvml_average", "average", 0.1, 1, 0);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_REFUSED,
              "nvml_average|100 ms|1 s|10 updates|measure.energy_window|2.3 s");
    ps_stop(&p);
    ps_start(&p);
    p.window_s = 2.3;
    ps_generate(&p);
    ps_event(&p, "gpu0", "nvml_average", "average", 0.1, json_pack("{s:f}", "window_ms", 1000.0));
    ps_sensor(&p, "gpu0", "nvml_average", "average", 0.1, 1, 0);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_OK, "");
    ps_stop(&p);
}

static void fewer_than_three_windows_are_refused(void **state)
{
    (void)state;
    ps_start(&p);
    p.blocks = 1;
    ps_generate(&p);
    ps_counter(&p);
    expect_refused("base", "2 of 2 windows of the arm can be used, and 3 are needed (measure.energy_windows)");
}

/* Energy and steps are of one time: samples that lie elsewhere are no steps of the window. */
static void steps_are_those_of_the_window(void **state)
{
    (void)state;
    ps_plain(&p);
    for (size_t k = 0; k < p.energy.n_slots; k++)
        for (size_t i = p.energy.first[k]; i < p.energy.first[k + 1]; i++)
            p.energy.samples[i].start_ns = p.energy.slots[k].end_ns;
    ps_counter(&p);
    expect_refused("base", "no step of the arm lies between the ticks");
}

static void two_sources_that_differ_are_told(void **state)
{
    (void)state;
    static const struct {
        double gain;
        int said; /* -1 = not at all */
    } cases[] = {{1.01, -1}, {1.03, IFM_SEVERITY_NOTE}, {0.97, IFM_SEVERITY_NOTE}, {1.08, IFM_SEVERITY_WARNING}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ps_plain(&p);
        ps_counter(&p);
        ps_ring(&p, cases[i].gain);
        ps_derive(&p);
        const struct ifm_finding *said = fx_finding(&p.fx, "rule-05", "two sources of gpu0 differ: nvml_samples");
        assert_int_equal(said == NULL ? -1 : (int)said->severity, cases[i].said);
        ps_expect(&p, "base", "energy_sources_differ_percent", 100 * (cases[i].gain - 1), 0.01);
        fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_OK, "");
        ps_stop(&p);
    }
    /* samples of a load that swings may miss it: that is no fault of the counter */
    ps_start(&p);
    p.swing = 200;
    ps_generate(&p);
    ps_counter(&p);
    ps_ring(&p, 1.2);
    ps_derive(&p);
    const struct ifm_finding *said = fx_finding(&p.fx, "rule-05", "the load swings");
    assert_non_null(said);
    assert_int_equal(said->severity, IFM_SEVERITY_NOTE);
    /* and its bar is wide, since the counter does not tile time either */
    const struct ifm_value *power = fx_value(&p.fx, "base", "power_mean_w");
    assert_true((power->high - power->low) / 2 > 0.9 * steady_coverage(100 * 1.2, 5) / 2);
    ps_stop(&p);
}

/* What the latency pass broke does not come from the sensors, and what they broke is no latency. */
static void a_wrong_arm_has_no_energy_either(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_counter(&p);
    fx_event(&p.fx, "clock_broken", json_pack("{s:s, s:s}", "cell", "decode", "reason", "the clock stood still"));
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_REFUSED, "the clock stood still");
    fx_expect(&p.fx, "base", "energy_windows", IFM_STATE_OK, "");
    ps_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_honest_pass_stands),
        cmocka_unit_test(below_idle_is_refused),
        cmocka_unit_test(above_the_limit_is_refused),
        cmocka_unit_test(a_window_too_short_says_how_long_it_must_be),
        cmocka_unit_test(an_average_needs_its_own_second_too),
        cmocka_unit_test(fewer_than_three_windows_are_refused),
        cmocka_unit_test(steps_are_those_of_the_window),
        cmocka_unit_test(two_sources_that_differ_are_told),
        cmocka_unit_test(a_wrong_arm_has_no_energy_either),
    };
    return cmocka_run_group_tests_name("rule_05_windows", tests, NULL, NULL);
}
