/* The energy pass on its way out: rows of derived.json, numbers that agree with each other, power over time. */
#include "unit/power_sample.h"

static struct ps p;

/* ---- derived.json ---- */

static void rows_are_in_the_file(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_counter(&p);
    ps_ring(&p, 1)->readings.n = 5;
    ps_event(&p, "board", "meter", "meter", 0.2, json_pack("{s:n}", "gain_error"));
    ps_sensor(&p, "board", "meter", "meter", 0.2, 1, 200);
    ps_derive(&p);
    struct ifm_derived *derived = p.fx.derived;
    struct ifm_error error = {0};
    assert_int_equal(derived->n_energies, 6);
    const struct ifm_device_energy *empty = ps_row(&p, "base", "gpu0", "nvml_samples");
    assert_int_equal(empty->windows, 0);
    assert_true(isnan(empty->joules)); /* absent is never zero */
    assert_true(empty->refused[0] != '\0');
    json_t *written = ifm_derived_to_json(derived);
    const json_t *rows = json_object_get(written, "energy");
    assert_int_equal(json_array_size(rows), 6);
    for (size_t i = 0; i < 6; i++) {
        const struct ifm_device_energy *e = &derived->energies[i];
        const json_t *row = json_array_get(rows, i), *joules = json_object_get(row, "joules");
        assert_string_equal(json_string_value(json_object_get(row, "source")), e->source);
        assert_string_equal(json_string_value(json_object_get(row, "role")), e->role);
        assert_true(isnan(e->joules) ? json_is_null(joules) : json_real_value(joules) == e->joules);
    }
    json_decref(written);
    assert_int_equal(ifm_derived_agree(&p.fx.plan, derived, &error), IFM_OK);
    derived->energies[0].joules *= 1.001;
    assert_int_equal(ifm_derived_agree(&p.fx.plan, derived, &error), IFM_INVALID);
    derived->energies[0].above_idle_j += 0.001 / 1.001 * derived->energies[0].joules;
    assert_int_equal(ifm_derived_agree(&p.fx.plan, derived, &error), IFM_INVALID); /* now it is not the total */
    assert_non_null(strstr(error.message, "sum"));
    ps_stop(&p);
}

/* Fields that do not agree are found. */
static void energy_agrees_with_itself(void **state)
{
    (void)state;
    static const char *const metrics[] = {"power_mean_w",     "gpu_power_w",       "gpu_energy_j",
                                          "tokens_per_joule", "energy_per_step_j", "duration_sec"};
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        struct ifm_error error = {0};
        ps_plain(&p);
        ps_counter(&p);
        ps_derive(&p);
        for (size_t k = 0; k < p.fx.derived->n_numbers; k++)
            if (p.fx.derived->numbers[k].metric == ifm_metric_of(metrics[i])) {
                p.fx.derived->numbers[k].value.number *= 1.0001;
                p.fx.derived->numbers[k].value.has_interval = false;
            }
        assert_int_equal(ifm_derived_agree(&p.fx.plan, p.fx.derived, &error), IFM_INVALID);
        ps_stop(&p);
    }
}

/* ---- power over time ---- */

static void traces_show_the_phases(void **state)
{
    (void)state;
    struct ifm_power_trace *traces;
    struct ifm_error error = {0};
    size_t n;
    ps_plain(&p);
    ps_counter(&p);
    ps_event(&p, "cpu0", "rapl_package", "counter", 0.001, NULL);
    ps_sensor(&p, "cpu0", "rapl_package", "counter", 0.02, 0, 60);
    struct ps_sensor *ring = ps_ring(&p, 1);
    ps_event(&p, "gpu0", "nvml_instant", "instant", 0.1, NULL);
    ps_sensor(&p, "gpu0", "nvml_instant", "instant", 0.1, 2, 0);
    memmove(&ring->list[100], &ring->list[150], (ring->readings.n - 150) * sizeof ring->list[0]);
    ring->readings.n -= 50; /* from 2 s to 3 s */
    ps_power(&p);
    assert_int_equal(ifm_derive_power_traces(&p.power, 10, p.fx.arena, &traces, &n, &error), IFM_OK);
    assert_int_equal(n, 5);
    assert_string_equal(traces[0].source, "");
    assert_string_equal(traces[1].source, "nvml_energy");
    assert_int_equal(traces[0].n, (size_t)(10 * ps_end(&p) + 1e-6));
    ps_near(traces[0].watts[20], 180, 1e-6); /* idle of both */
    ps_near(traces[1].watts[20], 120, 1e-6);
    ps_near(traces[2].watts[20], 60, 1e-4);
    assert_true(isnan(traces[0].watts[0])); /* before the counter's second tick */
    assert_true(isnan(traces[1].watts[1])); /* its first reading is no tick */
    assert_false(isnan(traces[1].watts[2]));
    assert_true(isnan(traces[3].watts[25]));
    ps_near(traces[3].watts[35], 120, 1e-6);
    ps_near(traces[4].watts[20], 240, 1e-6);
    unsigned order[4];
    ifm_plan_order(&p.fx.cells[0], 0, order);
    ps_near(traces[0].watts[80], p.watts[order[0]] + 60, 1e-6);
    assert_int_equal(ifm_derive_power_traces(&p.power, 0, p.fx.arena, &traces, &n, &error), IFM_USAGE);
    ps_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_in_the_file),
        cmocka_unit_test(energy_agrees_with_itself),
        cmocka_unit_test(traces_show_the_phases),
    };
    return cmocka_run_group_tests_name("derive_power_rows", tests, NULL, NULL);
}
