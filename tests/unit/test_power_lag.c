/* How sensors follow the steps of load of an energy pass: each lag and window that is built in is found again. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "power_sample.h"

static struct ps p;

static void shift(struct ps_sensor *sensor, double seconds)
{
    for (size_t i = 0; i < sensor->readings.n; i++)
        sensor->list[i].t_ns += llround(1e9 * seconds);
}

/* A mean over the last `window_s`. */
static void average(double window_s)
{
    ps_event(&p, "gpu0", "nvml_average", "average", 0.1, json_pack("{s:f}", "window_ms", 1000.0));
    struct ps_sensor *sensor = ps_sensor(&p, "gpu0", "nvml_average", "average", 0.1, 1, 0);
    for (size_t i = 0; i < sensor->readings.n; i++) {
        double t = 1e-9 * (double)sensor->list[i].t_ns, from = fmax(0, t - window_s);
        sensor->list[i].micro = llround(1e6 * (ps_energy(&p, t) - ps_energy(&p, from)) / (t - from));
    }
}

static void expect_step(const char *source, double lag_s, double window_s, double within_s)
{
    const struct ifm_power_fact *fact = ps_fact(&p, "gpu0", source);
    assert_int_equal(fact->steps, 2); /* idle to load, and load to idle */
    if (!(fabs(fact->step_lag_s - lag_s) <= within_s))
        fail_msg("%s: lag %.9g s, wanted %.9g", source, fact->step_lag_s, lag_s);
    assert_true(fact->step_lag_low_s <= fact->step_lag_s && fact->step_lag_s <= fact->step_lag_high_s);
    if (isnan(window_s))
        assert_true(isnan(fact->step_window_s));
    else if (!(fabs(fact->step_window_s - window_s) <= within_s))
        fail_msg("%s: window %.9g s, wanted %.9g", source, fact->step_window_s, window_s);
}

/* A sensor that owes nothing shows its own period as a window: less it cannot tell. */
static void lags_and_windows_are_found_again(void **state)
{
    (void)state;
    ps_plain(&p);
    shift(ps_counter(&p), 0.060);
    shift(ps_ring(&p, 1), 0.030);
    average(1.0);
    ps_power(&p);
    expect_step("nvml_energy", 0.060, NAN, 1e-3);
    expect_step("nvml_samples", 0.030, 0.020, 1e-3);
    expect_step("nvml_average", 0.5, 1.0, 1e-2);
    ps_stop(&p);
}

static void a_sensor_without_lag_has_none(void **state)
{
    (void)state;
    ps_plain(&p);
    (void)ps_counter(&p);
    (void)ps_ring(&p, 0.9); /* its gain is no lag */
    ps_power(&p);
    expect_step("nvml_energy", 0, NAN, 1e-3);
    expect_step("nvml_samples", 0, 0.020, 1e-3);
    ps_stop(&p);
}

/* Absent, not zero: a step too small to tell, readings that are not whole round it, and nothing read at all. */
static void steps_that_say_nothing_are_none(void **state)
{
    (void)state;
    ps_start(&p);
    p.idle_w = 350;
    p.watts[0] = p.watts[1] = 400;
    ps_generate(&p);
    (void)ps_ring(&p, 1);
    ps_power(&p);
    assert_int_equal(ps_fact(&p, "gpu0", "nvml_samples")->steps, 0);
    assert_true(isnan(ps_fact(&p, "gpu0", "nvml_samples")->step_lag_s));
    ps_stop(&p);
    ps_plain(&p);
    (void)ps_ring(&p, 1);
    ps_counter(&p)->readings.n = 0;
    ps_fault(&p, "gpu0", "nvml_samples", 4.9, 5.2, NULL);
    ps_power(&p);
    assert_int_equal(ps_fact(&p, "gpu0", "nvml_samples")->steps, 1);
    assert_int_equal(ps_fact(&p, "gpu0", "nvml_energy")->steps, 0);
    ps_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lags_and_windows_are_found_again),
        cmocka_unit_test(a_sensor_without_lag_has_none),
        cmocka_unit_test(steps_that_say_nothing_are_none),
    };
    return cmocka_run_group_tests_name("power_lag", tests, NULL, NULL);
}
