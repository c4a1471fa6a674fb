/* The energy pass in derive under sensors and loads that misbehave. */
#include "unit/power_sample.h"

static struct ps p;

/* It stands still within windows and goes on: what it lost is in none that is used. */
static void a_counter_that_pauses_spoils_its_window_alone(void **state)
{
    (void)state;
    for (int spoilt = 1; spoilt <= 2; spoilt++) {
        ps_plain(&p);
        struct ps_sensor *counter = ps_counter(&p);
        size_t done = 0;
        for (size_t f = 0; f < p.n_phases && done < (size_t)spoilt; f++) {
            double middle = 0.5 * (p.phases[f].from + p.phases[f].to);
            size_t at = (size_t)(middle / 0.1), n = counter->readings.n;
            if (p.phases[f].watts != 400 || p.phases[f].to - p.phases[f].from < 2)
                continue;
            int64_t lost = counter->list[at + 20].micro - counter->list[at].micro;
            for (size_t i = at; i < n; i++)
                counter->list[i].micro = i < at + 20 ? counter->list[at].micro : counter->list[i].micro - lost;
            done++;
        }
        ps_derive(&p);
        if (spoilt == 1) {
            ps_expect(&p, "base", "energy_windows", 3, 0);
            ps_expect(&p, "base", "energy_per_step_j", 0.8, 1e-6);
            assert_int_equal(fx_value(&p.fx, "base", "energy_per_step_j")->n, 3);
        } else {
            fx_expect(&p.fx, "base", "energy_per_step_j", IFM_STATE_REFUSED, "2 of 4 windows");
            fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_REFUSED, "stood still");
            fx_expect(&p.fx, "other", "energy_per_token_change_percent", IFM_STATE_REFUSED, "of base");
        }
        ps_stop(&p);
    }
}

/* A sensor whose gain drifts by 4 % over the pass: pairs within blocks do not see it, levels show it. */
static void a_drift_of_the_sensor_cancels_in_a_change(void **state)
{
    (void)state;
    ps_plain(&p);
    struct ps_sensor *counter = ps_counter(&p);
    double whole = (double)counter->list[counter->readings.n - 1].t_ns;
    for (size_t i = 0; i < counter->readings.n; i++) {
        struct ifm_reading *r = &counter->list[i];
        r->micro = llround((double)r->micro * (1 + 0.02 * (double)r->t_ns / whole));
    }
    ps_derive(&p);
    const struct ifm_value *change = fx_value(&p.fx, "other", "energy_per_token_change_percent");
    assert_true(change->low <= -25 && change->high >= -25);
    ps_near(change->number, -25, 0.2);
    const struct ifm_value *step = fx_value(&p.fx, "base", "energy_per_step_j");
    assert_true(step->high - step->low > 0.01 * step->number);
    ps_stop(&p);
}

/* Steps that draw less than the idle device did, by more than the errors of both: no energy above idle. */
static void below_idle_is_refused_with_its_reason(void **state)
{
    (void)state;
    ps_start(&p);
    p.watts[0] = 117;
    ps_generate(&p);
    ps_counter(&p);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "energy_above_idle_j", IFM_STATE_REFUSED, "rule-05|117 W|120 W");
    fx_expect(&p.fx, "base", "energy_per_token_above_idle_j", IFM_STATE_REFUSED, "rule-05|117 W|120 W");
    assert_true(isnan(ps_row(&p, "base", "gpu0", "nvml_energy")->above_idle_j));
    ps_expect(&p, "base", "tokens_per_joule", 4 / (117 * 2e-3), 1e-3);
    assert_non_null(fx_finding(&p.fx, "rule-05", "above idle|117 W"));
    fx_expect(&p.fx, "other", "energy_above_idle_j", IFM_STATE_OK, "");
    ps_stop(&p);
}

/* Within the errors the sign says nothing, and the number stands with its interval. */
static void below_idle_within_its_error_stands(void **state)
{
    (void)state;
    ps_start(&p);
    p.watts[0] = 117;
    ps_generate(&p);
    p.phases[p.n_phases - 1].watts = 110; /* idle power of 115 W, known to 5 */
    ps_counter(&p);
    ps_derive(&p);
    const struct ifm_value *above = fx_value(&p.fx, "base", "energy_above_idle_j");
    assert_int_equal(above->state, IFM_STATE_OK);
    assert_true(above->low < 0 && above->high > 0);
    ps_stop(&p);
    for (int sure = 0; sure < 2; sure++) { /* one in forty that only idles lies below the interval */
        ps_start(&p);
        p.watts[0] = sure ? 104 : 108;
        ps_generate(&p);
        p.phases[p.n_phases - 1].watts = 110;
        ps_counter(&p);
        ps_derive(&p);
        above = fx_value(&p.fx, "base", "energy_above_idle_j");
        assert_int_equal(above->state, sure ? IFM_STATE_REFUSED : IFM_STATE_OK);
        assert_true(sure || above->high < 0);
        ps_stop(&p);
    }
}

/* Idle time that began while power still fell from work: its second half is what nothing can be below, and an arm of
 * little more than that is no fault. One below that is. */
static void idle_taken_too_soon_refuses_no_honest_window(void **state)
{
    (void)state;
    for (int honest = 0; honest < 2; honest++) {
        ps_start(&p);
        p.idle_w = 160;
        p.watts[0] = honest ? 110 : 100;
        ps_generate(&p);
        struct ps_phase *before = &p.phases[0], *after = &p.phases[p.n_phases - 1];
        before->to -= 2.5;
        after->to -= 2.5;
        ps_phase(&p, before->to, before->to + 2.5, 108, 0);
        ps_phase(&p, after->to, after->to + 2.5, 108, 0);
        ps_counter(&p);
        ps_derive(&p);
        assert_non_null(fx_finding(&p.fx, "rule-05", "did not idle at one level|131 W|108 W in its quietest stretch"));
        if (honest)
            ps_expect(&p, "base", "energy_per_step_j", 0.22, 1e-3);
        else
            fx_expect(&p.fx, "base", "energy_per_step_j", IFM_STATE_REFUSED, "rule-05|108 W");
        const struct ifm_value *idle = fx_value(&p.fx, "base", "idle_power_w");
        assert_true(!honest || (idle->low <= 108.1 && idle->high >= 131));
        ps_stop(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_that_pauses_spoils_its_window_alone),
        cmocka_unit_test(a_drift_of_the_sensor_cancels_in_a_change),
        cmocka_unit_test(below_idle_is_refused_with_its_reason),
        cmocka_unit_test(below_idle_within_its_error_stands),
        cmocka_unit_test(idle_taken_too_soon_refuses_no_honest_window),
    };
    return cmocka_run_group_tests_name("derive_power_hostile", tests, NULL, NULL);
}
