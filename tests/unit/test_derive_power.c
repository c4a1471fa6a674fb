/* The energy pass in derive: which sensor speaks for a device, windows and what spoils them, numbers.
 */
#include "unit/power_sample.h"

#include "unit/facts.h"

static struct ps p;

/* ---- windows ---- */

static void a_gpu_with_counter_and_ring(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_counter(&p);
    ps_ring(&p, 1);
    ps_power(&p);
    assert_string_equal(p.power.missing, "");
    assert_int_equal(p.power.n_devices, 1);
    const struct ifm_power_device *gpu = &p.power.devices[0];
    assert_string_equal(gpu->primary->source, "nvml_energy");
    assert_string_equal(gpu->witness->source, "nvml_samples");
    assert_int_equal(gpu->primary->role, IFM_POWER_PRIMARY);
    assert_int_equal(gpu->witness->role, IFM_POWER_WITNESS);
    assert_int_equal(gpu->n_windows, 8);
    ps_near(gpu->idle_w, 120, 1e-6);
    assert_true(gpu->idle_half_w > 0 && gpu->idle_half_w < 0.5);
    ps_near(gpu->limit_w, 700, 1e-12);
    for (size_t i = 0; i < gpu->n_windows; i++) {
        const struct ifm_power_window *w = &gpu->windows[i];
        assert_string_equal(w->fault, "");
        ps_near(w->by_primary.watts, p.watts[w->arm], 1e-6);
        ps_near(w->by_witness.watts, p.watts[w->arm], 1e-6);
        ps_near(w->steps, w->by_primary.seconds / 2e-3, 1e-9); /* also within a sample */
        ps_near(w->busy_s, w->by_primary.seconds, 1e-9);
        ps_near(w->step_j, w->by_primary.joules, 1e-12);
    }
    assert_int_equal(p.power.n_phases, 2 + 8 + 8);
    for (size_t i = 1; i < p.power.n_phases; i++)
        assert_true(p.power.phases[i].start_ns >= p.power.phases[i - 1].start_ns);
    assert_int_equal(p.power.phases[0].kind, IFM_POWER_IDLE);
    assert_int_equal(p.power.phases[1].kind, IFM_POWER_PRE_ROLL);
    assert_int_equal(p.power.phases[2].kind, IFM_POWER_WINDOW);
    assert_int_equal(p.power.phases[1].arm, p.power.phases[2].arm);
    ps_stop(&p);
}

static void the_numbers_of_an_arm(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_counter(&p);
    ps_ring(&p, 1.03);
    ps_derive(&p);
    double seconds = fx_value(&p.fx, "base", "duration_sec")->number;
    assert_true(seconds > 4 * 4.7 && seconds <= 4 * 5.0);
    ps_expect(&p, "base", "total_energy_j", 400 * seconds, 1e-6);
    ps_expect(&p, "base", "gpu_energy_j", 400 * seconds, 1e-6);
    ps_expect(&p, "base", "gpu_power_w", 400, 1e-6);
    ps_expect(&p, "base", "power_mean_w", 400, 1e-6);
    ps_expect(&p, "base", "idle_power_w", 120, 1e-6);
    ps_expect(&p, "base", "energy_above_idle_j", 280 * seconds, 1e-6);
    ps_expect(&p, "base", "energy_per_step_j", 0.8, 1e-6);
    ps_expect(&p, "base", "energy_per_token_j", 0.2, 1e-6);
    ps_expect(&p, "base", "energy_per_total_token_j", 0.8 / 12, 1e-6);
    ps_expect(&p, "base", "energy_per_token_above_idle_j", 0.14, 1e-6);
    ps_expect(&p, "base", "tokens_per_joule", 5, 1e-6);
    ps_expect(&p, "base", "flops_per_joule", 1250, 1e-6);
    double rate = fx_value(&p.fx, "base", "tokens_generated_per_s")->number;
    ps_expect(&p, "base", "watts_per_token_rate", 400 / rate, 1e-6);
    ps_expect(&p, "base", "energy_systematic_percent", 5, 1e-9);
    ps_expect(&p, "base", "energy_sources_differ_percent", 3, 1e-3);
    ps_expect(&p, "base", "energy_windows", 4, 0);
    ps_expect(&p, "other", "energy_per_token_change_percent", -25, 1e-6);
    assert_true(fx_value(&p.fx, "base", "energy_per_step_cv_percent")->number < 0.01);
    const struct ifm_value *step = fx_value(&p.fx, "base", "energy_per_step_j");
    assert_true(step->has_interval);
    assert_int_equal(step->n, 4);
    assert_string_equal(step->n_of, "windows");
    /* equal windows are equal to the sensor's own bar alone: ticks known to 2 ms in 4.9 s, the mean of four */
    double bar = 400.0 * 0.002 * 1.6 / 4.8 / 2;
    ps_near((step->high - step->low) / 2, 0.8 * bar / 400, 0.05);
    fx_expect(&p.fx, "base", "cpu_energy_j", IFM_STATE_ABSENT, "processor");
    assert_null(ifm_derived_find(p.fx.derived, "decode", "other", IFM_M_ENERGY_PER_STEP_CHANGE_PERCENT));
    const struct ifm_device_energy *row = ps_row(&p, "base", "gpu0", "nvml_samples");
    assert_string_equal(row->role, "witness");
    ps_near(row->joules / row->seconds, 412, 1e-6);
    ps_near(row->above_idle_j, (412 - 120 * 1.03) * row->seconds, 1e-3);
    row = ps_row(&p, "base", "gpu0", "nvml_energy");
    assert_string_equal(row->role, "primary");
    assert_string_equal(row->refused, "");
    assert_int_equal(row->windows, 4);
    ps_near(row->systematic, 0.05, 1e-12);
    ps_stop(&p);
}

/* Windows that differ by more than their bars widen the interval: t with n - 1. */
static void windows_that_differ_widen_the_interval(void **state)
{
    (void)state;
    ps_plain(&p);
    for (size_t i = 0, k = 0; i < p.n_phases; i++)
        if (p.phases[i].watts == 400 && p.phases[i].to - p.phases[i].from > 2)
            p.phases[i].watts += k++ % 2 == 0 ? 10 : -10;
    ps_counter(&p);
    ps_derive(&p);
    const struct ifm_value *power = fx_value(&p.fx, "base", "power_mean_w");
    double sd = sqrt(4 * 100.0 / 3), half = 3.182446 * sd / 2;
    ps_near((power->high - power->low) / 2, half, 0.01);
    ps_near(fx_value(&p.fx, "base", "energy_per_step_cv_percent")->number, 100 * sd / 400, 0.01);
    ps_stop(&p);
}

static void pauses_are_taken_out_at_idle_power(void **state)
{
    (void)state;
    ps_start(&p);
    p.pause_s = 0.0025;
    p.pause_w = 120;
    ps_generate(&p);
    ps_counter(&p);
    ps_derive(&p);
    ps_expect(&p, "base", "energy_per_step_j", 0.8, 1e-3);
    ps_expect(&p, "base", "power_mean_w", 0.8 * 400 + 0.2 * 120, 1e-3);
    ps_expect(&p, "base", "energy_per_token_above_idle_j", 0.14, 1e-3);
    /* with what they might have drawn more */
    const struct ifm_value *step = fx_value(&p.fx, "base", "energy_per_step_j");
    double unsure = 0.1 * (344 - 120) * 0.2 / 0.8 * 2e-3; /* the same in all windows: four know it no better than one */
    assert_true((step->high - step->low) / 2 >= 0.99 * unsure);
    assert_true((step->high - step->low) / 2 <= 1.2 * unsure);
    ps_stop(&p);
    /* without an idle power nothing can be taken out */
    ps_start(&p);
    p.pause_s = 0.0025;
    p.pause_w = 120;
    p.idle_s = 1;
    ps_generate(&p);
    ps_counter(&p);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "energy_per_step_j", IFM_STATE_REFUSED, "gpu0|idle");
    ps_stop(&p);
}

static void idle_that_is_too_short_is_absent(void **state)
{
    (void)state;
    ps_start(&p);
    p.idle_s = 1;
    ps_generate(&p);
    ps_counter(&p);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "idle_power_w", IFM_STATE_ABSENT, "idle|too short");
    fx_expect(&p.fx, "base", "energy_above_idle_j", IFM_STATE_ABSENT, "idle|too short");
    fx_expect(&p.fx, "base", "energy_per_token_above_idle_j", IFM_STATE_ABSENT, "idle|too short");
    ps_expect(&p, "base", "energy_per_step_j", 0.8, 1e-6);
    assert_non_null(fx_finding(&p.fx, "rule-05", "idle power|gpu0|not known"));
    ps_stop(&p);
}

static void idle_before_and_after_differ(void **state)
{
    (void)state;
    ps_plain(&p);
    p.phases[p.n_phases - 1].watts = 140;
    ps_counter(&p);
    ps_power(&p);
    ps_near(p.power.devices[0].idle_w, 130, 1e-6);
    ps_near(p.power.devices[0].idle_half_w, 10, 0.01);
    ps_stop(&p);
    /* what was taken off the pauses and what is taken off the steps are off together, in all windows */
    ps_start(&p);
    p.pause_s = 0.01;
    p.pause_w = 130;
    ps_generate(&p);
    p.phases[p.n_phases - 1].watts = 140;
    ps_counter(&p);
    ps_derive(&p);
    const struct ifm_value *above = fx_value(&p.fx, "base", "energy_per_token_above_idle_j");
    assert_true((above->high - above->low) / 2 >= 10 * 2 * 2e-3 / 4);
    ps_stop(&p);
}

/* ---- which sensor speaks ---- */

static void sources_without_a_counter(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_ring(&p, 1);
    ps_event(&p, "gpu0", "nvml_average", "average", 0.1, json_pack("{s:f}", "window_ms", 1000.0));
    ps_sensor(&p, "gpu0", "nvml_average", "average", 0.1, 1, 0);
    ps_event(&p, "gpu0", "nvml_instant", "instant", 0.1, NULL);
    ps_sensor(&p, "gpu0", "nvml_instant", "instant", 0.1, 2, 0);
    ps_event(&p, "gpu0", "nvml_memory", "average", 0.1, json_pack("{s:b}", "part", 1));
    ps_sensor(&p, "gpu0", "nvml_memory", "average", 0.1, 0.3, 0);
    ps_derive(&p);
    ps_power(&p);
    assert_string_equal(p.power.devices[0].primary->source, "nvml_samples");
    assert_string_equal(p.power.devices[0].witness->source, "nvml_average");
    assert_int_equal(ps_fact(&p, "gpu0", "nvml_instant")->role, IFM_POWER_SHOWN);
    assert_null(ps_fact(&p, "gpu0", "nvml_instant")->by_window);
    assert_null(ps_row(&p, "base", "gpu0", "nvml_instant"));
    assert_string_equal(ps_row(&p, "base", "gpu0", "nvml_memory")->role, "part");
    ps_near(ps_row(&p, "base", "gpu0", "nvml_memory")->joules, 120 * ps_row(&p, "base", "gpu0", "nvml_memory")->seconds,
            1e-3);
    ps_expect(&p, "base", "power_mean_w", 400, 1e-3); /* neither part nor moment is in it */
    /* the average is a second behind: only what it says of this load alone is used */
    const struct ifm_joules *late = &ps_fact(&p, "gpu0", "nvml_average")->by_window[0];
    assert_int_equal(late->start_ns, p.power.devices[0].windows[0].start_ns + 1000000000);
    ps_stop(&p);
}

static void only_a_moment_is_no_energy(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_event(&p, "gpu0", "nvml_instant", "instant", 0.1, NULL);
    ps_sensor(&p, "gpu0", "nvml_instant", "instant", 0.1, 1, 0);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_REFUSED, "gpu0|integrated");
    fx_expect(&p.fx, "base", "step_ns", IFM_STATE_OK, "");
    ps_stop(&p);
}

static void package_and_memory_add_up(void **state)
{
    (void)state;
    ps_plain(&p);
    p.fx.plan.device = "cpu";
    ps_event(&p, "cpu0", "rapl_package", "counter", 0.001, NULL);
    ps_sensor(&p, "cpu0", "rapl_package", "counter", 0.02, 1, 0);
    ps_event(&p, "cpu0", "rapl_dram", "counter", 0.001, NULL);
    ps_sensor(&p, "cpu0", "rapl_dram", "counter", 0.02, 0, 30);
    ps_event(&p, "cpu0", "rapl_core", "counter", 0.001, json_pack("{s:b}", "part", 1));
    ps_sensor(&p, "cpu0", "rapl_core", "counter", 0.02, 0.5, 0);
    ps_event(&p, "cpu0", "perf_package", "counter", 0.001, NULL);
    ps_sensor(&p, "cpu0", "perf_package", "counter", 0.02, 1.001, 0);
    ps_event(&p, "cpu0", "perf_dram", "counter", 0.001, NULL);
    ps_sensor(&p, "cpu0", "perf_dram", "counter", 0.02, 0, 31);
    ps_event(&p, "cpu", "tdp", "estimate", 0.1, NULL);
    ps_sensor(&p, "cpu", "tdp", "estimate", 0.1, 3, 0);
    ps_event(&p, "board", "meter", "meter", 0.2, NULL);
    ps_sensor(&p, "board", "meter", "meter", 0.2, 1, 200);
    ps_derive(&p);
    ps_power(&p);
    assert_int_equal(p.power.n_devices, 1);
    const struct ifm_power_device *cpu = &p.power.devices[0];
    assert_string_equal(cpu->primary->source, "rapl_package");
    assert_string_equal(cpu->adds->source, "rapl_dram");
    assert_string_equal(cpu->witness->source, "perf_package");
    ps_expect(&p, "base", "cpu_power_w", 430, 1e-3);
    ps_expect(&p, "base", "power_mean_w", 430, 1e-3);
    ps_expect(&p, "base", "idle_power_w", 150, 1e-3);
    ps_expect(&p, "base", "energy_sources_differ_percent", 0.1, 0.05); /* of the package, not of both */
    assert_null(ifm_derived_find(p.fx.derived, "decode", "base", IFM_M_GPU_ENERGY_J));
    assert_string_equal(ps_row(&p, "base", "cpu0", "rapl_dram")->role, "primary");
    assert_string_equal(ps_row(&p, "base", "cpu0", "perf_dram")->role, "witness");
    assert_string_equal(ps_row(&p, "base", "cpu0", "rapl_core")->role, "part");
    assert_string_equal(ps_row(&p, "base", "cpu", "tdp")->role, "estimate");
    assert_string_equal(ps_row(&p, "base", "board", "meter")->role, "witness");
    ps_near(cpu->windows[0].by_primary.random_j,
            hypot(cpu->primary->by_window[0].random_j, cpu->adds->by_window[0].random_j), 1e-3);
    ps_stop(&p);
}

static void a_meter_alone_speaks_for_the_board(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_event(&p, "board", "meter", "meter", 0.2, json_pack("{s:n, s:n}", "quantum", "gain_error"));
    ps_sensor(&p, "board", "meter", "meter", 0.2, 1, 0);
    ps_derive(&p);
    ps_expect(&p, "base", "power_mean_w", 400, 0.01);
    fx_expect(&p.fx, "base", "energy_systematic_percent", IFM_STATE_ABSENT, "not known");
    fx_expect(&p.fx, "base", "gpu_energy_j", IFM_STATE_ABSENT, "GPU");
    ps_stop(&p);
}

static void an_estimate_is_no_measurement(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_event(&p, "cpu", "tdp", "estimate", 0.1, json_pack("{s:f}", "gain_error", 0.4));
    ps_sensor(&p, "cpu", "tdp", "estimate", 0.1, 1, 0);
    fx_event(&p.fx, "power_absent",
             json_pack("{s:s, s:s, s:s, s:s}", "cell", "decode", "source", "rapl", "reason", "for root alone", "remedy",
                       "chmod"));
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_ABSENT, "estimate");
    assert_non_null(fx_finding(&p.fx, "rule-05", "estimate|cpu|tdp"));
    fx_expect(&p.fx, "base", "energy_per_step_j", IFM_STATE_ABSENT, "rapl: for root alone");
    assert_string_equal(fx_value(&p.fx, "base", "energy_per_token_j")->remedy, "rapl: chmod");
    const struct ifm_device_energy *row = ps_row(&p, "base", "cpu", "tdp");
    assert_non_null(row);
    assert_string_equal(row->role, "estimate");
    assert_int_equal(row->windows, 4);
    ps_near(row->joules / row->seconds, 400, 1e-3);
    ps_stop(&p);
}

static void devices_that_are_not_measured_are_shown(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_counter(&p);
    ps_event(&p, "gpu1", "nvml_energy", "counter", 0.1, json_pack("{s:b}", "measured", 0));
    ps_sensor(&p, "gpu1", "nvml_energy", "counter", 0.1, 1, 0);
    ps_derive(&p);
    ps_power(&p);
    assert_int_equal(p.power.n_devices, 1);
    ps_expect(&p, "base", "power_mean_w", 400, 1e-6);
    assert_null(ps_row(&p, "base", "gpu1", "nvml_energy"));
    ps_stop(&p);
}

/* ---- what fails ---- */

static void two_gpus_of_which_one_fails(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_counter(&p);
    ps_event(&p, "gpu1", "nvml_energy", "counter", 0.1, NULL);
    struct ps_sensor *second = ps_sensor(&p, "gpu1", "nvml_energy", "counter", 0.1, 1, 0);
    ps_derive(&p);
    ps_expect(&p, "base", "power_mean_w", 800, 1e-6);
    ps_expect(&p, "base", "idle_power_w", 240, 1e-6);
    ps_expect(&p, "base", "energy_per_token_j", 0.4, 1e-6);
    /* lost in the third block of two: from then on there is no sum */
    double from = 5 + 4.5 * 6;
    second->readings.n = (size_t)(from / 0.1);
    ps_fault(&p, "gpu1", "nvml_energy", from, from, "the GPU fell off the bus");
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_REFUSED, "2 of 4|3|gpu1");
    fx_expect(&p.fx, "base", "energy_per_step_j", IFM_STATE_REFUSED, "gpu1");
    fx_expect(&p.fx, "base", "step_ns", IFM_STATE_OK, ""); /* a time is no energy */
    fx_expect(&p.fx, "other", "change_percent", IFM_STATE_OK, "");
    fx_expect(&p.fx, "other", "energy_per_token_change_percent", IFM_STATE_REFUSED, "rule-05");
    const struct ifm_device_energy *row = ps_row(&p, "base", "gpu0", "nvml_energy");
    assert_int_equal(row->windows, 4); /* the other GPU's own joules are what they are */
    ps_near(row->joules / row->seconds, 400, 1e-6);
    assert_int_equal(ps_row(&p, "base", "gpu1", "nvml_energy")->windows, 2);
    ps_stop(&p);
}

static void windows_that_a_fault_touches_are_left_out(void **state)
{
    (void)state;
    ps_start(&p);
    p.blocks = 4;
    ps_generate(&p);
    ps_counter(&p);
    ps_ring(&p, 1);
    ps_fault(&p, "gpu0", "nvml_energy", 7, 7.1, NULL);
    ps_fault(&p, "gpu0", "nvml_samples", 13, 14, NULL); /* a witness's faults are its own */
    ps_derive(&p);
    ps_power(&p);
    size_t arm = p.power.devices[0].windows[0].arm;
    const char *name = arm == 0 ? "base" : "other";
    assert_facts(p.power.devices[0].windows[0].fault, "1 gap|0 implausible");
    assert_string_equal(p.power.devices[0].windows[1].fault, "");
    assert_non_null(p.power.devices[0].windows[1].by_witness.why);
    ps_expect(&p, name, "energy_windows", 7, 0);
    assert_int_equal(fx_value(&p.fx, name, "energy_windows")->n, 8);
    assert_int_equal(fx_value(&p.fx, name, "total_energy_j")->n, 7);
    assert_non_null(fx_finding(&p.fx, "rule-05", "1 of 8 windows"));
    assert_int_equal(fx_value(&p.fx, "other", "energy_per_token_change_percent")->n, 7);
    ps_stop(&p);
}

/* Both arms take more from block to block; a window that is missing moves no pair into another block. */
static void pairs_are_of_one_block(void **state)
{
    (void)state;
    ps_start(&p);
    p.blocks = 4;
    ps_generate(&p);
    for (size_t i = 0; i < p.n_phases; i++)
        p.phases[i].watts *= p.phases[i].watts > 120 ? 1 + 0.1 * floor((p.phases[i].from - 5) / 24) : 1;
    ps_counter(&p);
    ps_fault(&p, "gpu0", "nvml_energy", 7, 7.1, NULL);
    ps_derive(&p);
    ps_expect(&p, "other", "energy_per_token_change_percent", -25, 1e-4);
    assert_int_equal(fx_value(&p.fx, "other", "energy_per_token_change_percent")->n, 7);
    ps_stop(&p);
}

static void a_counter_that_freezes_is_no_energy(void **state)
{
    (void)state;
    ps_plain(&p);
    struct ps_sensor *counter = ps_counter(&p);
    ps_ring(&p, 1);
    for (size_t i = 60; i < counter->readings.n; i++)
        counter->list[i].micro = counter->list[59].micro;
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_REFUSED, "nvml_energy|gpu0|window| 5 s|stood");
    ps_stop(&p);
}

/* One that gave nothing at all is no source: the next best one is. */
static void a_counter_without_readings_gives_way(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_counter(&p)->readings.n = 0;
    ps_ring(&p, 1);
    ps_power(&p);
    assert_string_equal(p.power.devices[0].primary->source, "nvml_samples");
    p.listed[0].readings = NULL; /* the file is missing */
    ps_power(&p);
    assert_string_equal(p.power.devices[0].primary->source, "nvml_samples");
    p.listed[1].readings = NULL;
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_REFUSED, "file|missing");
    ps_stop(&p);
}

/* ---- why there is nothing ---- */

static void a_cell_without_an_energy_pass_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *device, *reason, *remedy;
        bool energy, cold, gaps;
    } cases[] = {{"cpu", "energy", "--energy", false, false, false},
                 {"fake", "scripted", "device", true, false, false},
                 {"cpu", "evicted", "measure.cache=hot", true, true, false},
                 {"cpu", "hooks", "hooks", true, false, true},
                 {"cpu", "energy pass", "", true, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ps_plain(&p);
        p.fx.cells[0].n_passes = 1;
        p.fx.cells[0].measure.energy = cases[i].energy;
        p.fx.cells[0].measure.cache = cases[i].cold ? IFM_CACHE_COLD : IFM_CACHE_HOT;
        p.fx.parts[0].arms[1].gaps = cases[i].gaps;
        p.fx.plan.device = cases[i].device;
        fx_gate(&p.fx, "energy_per_token_j", "", IFM_GATE_AT_MOST, 1, false);
        fx_gate(&p.fx, "cpu_energy_j", "", IFM_GATE_AT_MOST, 1, false);
        ps_derive(&p);
        fx_expect(&p.fx, "base", "energy_per_token_j", IFM_STATE_ABSENT, cases[i].reason);
        fx_expect(&p.fx, "base", "cpu_energy_j", IFM_STATE_ABSENT, cases[i].reason);
        assert_non_null(strstr(fx_value(&p.fx, "base", "cpu_energy_j")->remedy, cases[i].remedy));
        assert_int_equal(ifm_derived_find(p.fx.derived, "decode", "base", IFM_M_TOTAL_ENERGY_J) != NULL,
                         cases[i].energy);
        ps_stop(&p);
    }
}

static void a_cell_without_sensors_quotes_the_reasons(void **state)
{
    (void)state;
    ps_plain(&p);
    for (int session = 0; session < 2; session++)
        fx_event(&p.fx, "power_absent",
                 json_pack("{s:s, s:s, s:s, s:s}", "cell", "decode", "source", "nvml", "reason", "no library", "remedy",
                           "install a driver"));
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_ABSENT, "sensor|nvml: no library");
    assert_string_equal(fx_value(&p.fx, "base", "total_energy_j")->remedy, "nvml: install a driver");
    ps_stop(&p);
    ps_start(&p);
    fx_generate(&p.fx);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_ABSENT, "ended|energy pass");
    ps_stop(&p);
}

static void steps_without_tokens(void **state)
{
    (void)state;
    ps_start(&p);
    p.fx.parts[0].arms[0].ledger = p.fx.parts[0].arms[1].ledger = (struct ifm_ledger){.flops = 1000};
    p.fx.parts[0].arms[0].integer = true;
    ps_generate(&p);
    ps_counter(&p);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "energy_per_token_j", IFM_STATE_ABSENT, "tokens");
    fx_expect(&p.fx, "base", "flops_per_joule", IFM_STATE_ABSENT, "base multiplies codes as integers");
    ps_expect(&p, "other", "flops_per_joule", 1000 / 0.6, 1e-6);
    ps_expect(&p, "other", "energy_per_step_change_percent", -25, 1e-6);
    assert_null(ifm_derived_find(p.fx.derived, "decode", "other", IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT));
    ps_stop(&p);
    ps_start(&p);
    p.fx.parts[0].arms[0].ledger = p.fx.parts[0].arms[1].ledger = (struct ifm_ledger){.tokens_prompt = 16};
    ps_generate(&p);
    ps_counter(&p);
    ps_derive(&p);
    fx_expect(&p.fx, "base", "energy_per_token_j", IFM_STATE_ABSENT, "generates|tokens");
    ps_expect(&p, "base", "energy_per_total_token_j", 0.05, 1e-6);
    ps_expect(&p, "other", "energy_per_token_change_percent", -25, 1e-6);
    ps_stop(&p);
    ps_start(&p); /* a step is one of 8 layers: half a token */
    for (size_t a = 0; a < 2; a++)
        p.fx.parts[0].arms[a].ledger = (struct ifm_ledger){.tokens_generated = 4, .layers = 8};
    ps_generate(&p);
    ps_counter(&p);
    ps_derive(&p);
    ps_expect(&p, "base", "energy_per_token_j", 1.6, 1e-6);
    ps_expect(&p, "base", "tokens_per_joule", 1 / 1.6, 1e-6);
    ps_stop(&p);
}

/* ---- the journal ---- */

static void an_event_that_is_none_is_named(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"power_sensor", "{\"cell\":\"decode\",\"device\":\"gpu0\",\"source\":\"x\"}"},
        {"power_sensor", "{\"cell\":\"decode\",\"device\":\"gpu0\",\"source\":\"x\",\"kind\":\"guess\"}"},
        {"power_sensor",
         "{\"cell\":\"decode\",\"device\":\"gpu0\",\"source\":\"x\",\"kind\":\"meter\",\"period_ms\":-1}"},
        {"power_sensor", "{\"cell\":\"decode\",\"device\":\"gpu0\",\"source\":\"nvml_energy\",\"kind\":\"samples\"}"},
        {"power_absent", "{\"cell\":\"decode\",\"source\":\"x\"}"},
        {"power_fault", "{\"cell\":\"decode\",\"device\":\"gpu0\",\"source\":\"x\",\"start_ns\":5,\"end_ns\":4}"},
        {"power_fault", "{\"cell\":\"decode\",\"start_ns\":5,\"end_ns\":6}"},
        {"power_fault", "{\"cell\":\"decode\",\"device\":\"gpu0\",\"source\":\"x\",\"start_ns\":-5,\"end_ns\":4}"},
        {"energy_idle", "{\"cell\":\"decode\",\"start_ns\":5}"},
        {"energy_idle", "{\"cell\":\"decode\",\"start_ns\":5,\"end_ns\":6,\"settle_ns\":2}"},
        {"energy_idle", "{\"cell\":\"decode\",\"start_ns\":5,\"end_ns\":6,\"settle_ns\":\"x\"}"},
        {"energy_pre_roll", "{\"cell\":\"decode\",\"start_ns\":5,\"end_ns\":6}"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ifm_error error = {0};
        ps_plain(&p);
        ps_counter(&p);
        fx_event(&p.fx, bad[i][0], json_loads(bad[i][1], 0, NULL));
        assert_int_equal(ps_try_power(&p, &error), IFM_INVALID);
        assert_non_null(strstr(error.message, bad[i][0]));
        assert_non_null(strstr(error.where, "run.log:"));
        ps_stop(&p);
    }
}

static void a_window_of_no_arm_is_no_record(void **state)
{
    (void)state;
    struct ifm_error error = {0};
    ps_plain(&p);
    ps_counter(&p);
    p.energy.slots[3].arm = 2;
    assert_int_equal(ps_try_power(&p, &error), IFM_INVALID);
    assert_facts(error.message, "slot 3|energy pass|arm 2|has 2");
    assert_string_equal(error.where, "decode");
    ps_stop(&p);
}

/* A resumed run tells of its sensors again, and a cell that began anew forgets. */
static void sessions_and_restarts(void **state)
{
    (void)state;
    ps_plain(&p);
    ps_counter(&p);
    ps_event(&p, "gpu0", "nvml_energy", "counter", 0.11, NULL);
    ps_power(&p);
    assert_int_equal(p.power.n_facts, 1);
    ps_near(p.power.facts[0].period_s, 0.11, 1e-9);
    fx_event(&p.fx, "cell_restarted",
             json_pack("{s:s, s:i, s:b, s:i}", "cell", "decode", "arms_left", 1, "record_set_aside", 1, "times", 1));
    ps_power(&p);
    assert_int_equal(p.power.n_facts, 0);
    assert_facts(p.power.missing, "sensor");
    ps_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_with_counter_and_ring),
        cmocka_unit_test(the_numbers_of_an_arm),
        cmocka_unit_test(windows_that_differ_widen_the_interval),
        cmocka_unit_test(pauses_are_taken_out_at_idle_power),
        cmocka_unit_test(idle_that_is_too_short_is_absent),
        cmocka_unit_test(idle_before_and_after_differ),
        cmocka_unit_test(sources_without_a_counter),
        cmocka_unit_test(only_a_moment_is_no_energy),
        cmocka_unit_test(package_and_memory_add_up),
        cmocka_unit_test(a_meter_alone_speaks_for_the_board),
        cmocka_unit_test(an_estimate_is_no_measurement),
        cmocka_unit_test(devices_that_are_not_measured_are_shown),
        cmocka_unit_test(two_gpus_of_which_one_fails),
        cmocka_unit_test(windows_that_a_fault_touches_are_left_out),
        cmocka_unit_test(pairs_are_of_one_block),
        cmocka_unit_test(a_counter_that_freezes_is_no_energy),
        cmocka_unit_test(a_counter_without_readings_gives_way),
        cmocka_unit_test(a_cell_without_an_energy_pass_says_why),
        cmocka_unit_test(a_cell_without_sensors_quotes_the_reasons),
        cmocka_unit_test(steps_without_tokens),
        cmocka_unit_test(an_event_that_is_none_is_named),
        cmocka_unit_test(a_window_of_no_arm_is_no_record),
        cmocka_unit_test(sessions_and_restarts),
    };
    return cmocka_run_group_tests_name("derive_power", tests, NULL, NULL);
}
