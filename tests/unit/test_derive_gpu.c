/* What the GPU went through in a cell, by hand: shares of accumulators, temperatures, errors, and what is not known. */
#include "rules/fixture.h"

#define SECOND INT64_C(1000000000)
#define CAPPED "gpu_power_capped_percent"
#define HOT "gpu_thermal_throttled_percent"

/* One GPU, as it was seen on an H200; accumulators in ns. */
static json_t *gpu(int64_t read_ns, int64_t capped, int64_t hot, int celsius)
{
    return json_pack("{s:i, s:I, s:{s:i}, s:{s:I, s:i, s:I, s:{s:s}, s:i}, s:{s:i, s:i}, s:{s:i, s:i}}", "index", 0,
                     "read_ns", (json_int_t)read_ns, "temperature_c", "gpu", celsius, "accumulators", "power_cap_ns",
                     (json_int_t)capped, "thermal_policy_ns", 0, "sw_thermal_ns", (json_int_t)hot, "hw_thermal_ns",
                     "absent", "not here", "hw_power_brake_ns", 0, "ecc_errors", "corrected", 0, "uncorrected", 0,
                     "processes", "compute", 1, "foreign", 0);
}

static void state_event(struct fixture *fx, const char *at, json_t *gpus)
{
    fx_event(fx, "gpu_state",
             json_pack("{s:s, s:s, s:s, s:o}", "when", "cell", "cell", "decode", "at", at, "gpus", gpus));
}

static void start(struct fixture *fx)
{
    fx_start(fx);
    fx->plan.device = "cuda";
    fx_generate(fx);
}

static void finish(struct fixture *fx)
{
    fx_end_events(fx);
    fx_derive(fx);
}

/* The window of a bf16 burn at the power limit, and one that heat held down for 0.3 s of 10. */
static void shares_are_growth_over_time(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    state_event(&fx, "start", json_pack("[o]", gpu(5 * SECOND, 26800000000, 70, 33)));
    state_event(&fx, "end", json_pack("[o]", gpu(15 * SECOND, 30800000000, 70 + 3 * SECOND / 10, 61)));
    finish(&fx);
    const struct ifm_value *capped = fx_value(&fx, "", CAPPED), *hot = fx_value(&fx, "", HOT);
    assert_int_equal(capped->state, IFM_STATE_OK);
    assert_true(fabs(capped->number - 40) < 1e-9);
    assert_true(fabs(hot->number - 3) < 1e-9);
    assert_true(fx_value(&fx, "", "gpu_temperature_start_c")->number == 33);
    assert_true(fx_value(&fx, "", "gpu_temperature_end_c")->number == 61);
    const struct ifm_finding *cap = fx_finding(&fx, "", "power limit|40.0 %");
    const struct ifm_finding *heat = fx_finding(&fx, "", "heat|3.0 %");
    assert_non_null(cap);
    assert_int_equal(cap->severity, IFM_SEVERITY_NOTE);
    assert_non_null(heat);
    assert_int_equal(heat->severity, IFM_SEVERITY_WARNING);
    assert_null(fx_finding(&fx, "", "ECC"));
    assert_null(fx_finding(&fx, "rule-07", "shared"));
    fx_stop(&fx);
}

/* An interruption leaves a start without an end: what is known is of the rest, and says so. */
static void sessions_add_up(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    state_event(&fx, "start", json_pack("[o]", gpu(0, 0, 0, 30)));
    state_event(&fx, "end", json_pack("[o]", gpu(2 * SECOND, SECOND, 0, 40)));
    state_event(&fx, "start", json_pack("[o]", gpu(0, 2 * SECOND, 0, 41))); /* killed */
    state_event(&fx, "start", json_pack("[o]", gpu(7 * SECOND, 9 * SECOND, 0, 35)));
    state_event(&fx, "end", json_pack("[o]", gpu(15 * SECOND, 10 * SECOND, 0, 50)));
    finish(&fx);
    assert_true(fabs(fx_value(&fx, "", CAPPED)->number - 20) < 1e-9);
    assert_int_equal(fx_value(&fx, "", CAPPED)->n, 2);
    assert_true(fx_value(&fx, "", "gpu_temperature_start_c")->number == 30);
    assert_true(fx_value(&fx, "", "gpu_temperature_end_c")->number == 50);
    assert_non_null(fx_finding(&fx, "", "1 earlier part"));
    fx_stop(&fx);
}

static void what_cannot_be_is_absent(void **state)
{
    (void)state;
    static const struct {
        int64_t from_ns, to_ns, from, to;
        const char *reason;
    } cases[] = {
        {0, 10 * SECOND, 9 * SECOND, 5, "went back"},
        {10 * SECOND, 10 * SECOND, 0, 5, "no time"},
        {0, 10 * SECOND, 0, 11 * SECOND, "accumulator|more than"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fx;
        start(&fx);
        state_event(&fx, "start", json_pack("[o]", gpu(cases[i].from_ns, cases[i].from, 0, 33)));
        state_event(&fx, "end", json_pack("[o]", gpu(cases[i].to_ns, cases[i].to, 0, 61)));
        finish(&fx);
        fx_expect(&fx, "", CAPPED, IFM_STATE_ABSENT, cases[i].reason);
        assert_null(fx_finding(&fx, "", "power limit"));
        fx_stop(&fx);
    }
}

/* The driver may be a moment late at one end: that is no contradiction, and no 102 %. */
static void a_late_accumulator_is_no_contradiction(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    state_event(&fx, "start", json_pack("[o]", gpu(0, 0, 0, 33)));
    state_event(&fx, "end", json_pack("[o]", gpu(10 * SECOND, 10 * SECOND + SECOND / 10, 0, 61)));
    finish(&fx);
    assert_true(fx_value(&fx, "", CAPPED)->number == 100);
    fx_stop(&fx);
}

static void what_was_not_read_keeps_its_reason(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    json_t *end = gpu(10 * SECOND, 5, 0, 61),
           *lack = json_pack("{s:s, s:s}", "absent", "no permission", "remedy", "ask");
    json_object_set(json_object_get(end, "accumulators"), "power_cap_ns", lack);
    json_object_set_new(json_object_get(end, "temperature_c"), "gpu", lack);
    state_event(&fx, "start", json_pack("[o]", gpu(0, 0, 0, 33)));
    state_event(&fx, "end", json_pack("[o]", end));
    finish(&fx);
    fx_expect(&fx, "", CAPPED, IFM_STATE_ABSENT, "no permission");
    fx_expect(&fx, "", "gpu_temperature_end_c", IFM_STATE_ABSENT, "no permission");
    assert_string_equal(fx_value(&fx, "", CAPPED)->remedy, "ask");
    assert_true(fx_value(&fx, "", HOT)->state == IFM_STATE_OK && fx_value(&fx, "", HOT)->number == 0);
    fx_stop(&fx);

    start(&fx);
    state_event(&fx, "start", json_pack("{s:s, s:s}", "absent", "there is no NVML", "remedy", "install it"));
    finish(&fx);
    fx_expect(&fx, "", HOT, IFM_STATE_ABSENT, "there is no NVML");
    fx_stop(&fx);
}

static void of_several_gpus_the_measured_one_counts(void **state)
{
    (void)state;
    for (int marked = 0; marked < 2; marked++) {
        struct fixture fx;
        start(&fx);
        for (int at_end = 0; at_end < 2; at_end++) {
            json_t *other = json_pack("{s:i, s:s}", "index", 0, "absent", "it is lost");
            json_t *mine = gpu(at_end * 10 * SECOND, at_end * SECOND, 0, 33);
            if (marked)
                json_object_set_new(mine, "measured", json_true());
            state_event(&fx, at_end ? "end" : "start", json_pack("[o, o]", other, mine));
        }
        finish(&fx);
        if (marked)
            assert_true(fabs(fx_value(&fx, "", CAPPED)->number - 10) < 1e-9);
        else
            fx_expect(&fx, "", CAPPED, IFM_STATE_ABSENT, "which of");
        fx_stop(&fx);
    }
}

static void errors_and_others_are_findings(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    json_t *end = gpu(10 * SECOND, 0, 0, 61);
    json_object_set_new(json_object_get(end, "ecc_errors"), "uncorrected", json_integer(2));
    json_object_set_new(json_object_get(end, "ecc_errors"), "corrected", json_integer(1));
    json_object_set_new(json_object_get(end, "processes"), "foreign", json_integer(2));
    state_event(&fx, "start", json_pack("[o]", gpu(0, 0, 0, 33)));
    state_event(&fx, "end", json_pack("[o]", end));
    finish(&fx);
    const struct ifm_finding *lost = fx_finding(&fx, "", "2 errors|ECC");
    assert_non_null(lost);
    assert_int_equal(lost->severity, IFM_SEVERITY_WARNING);
    assert_non_null(fx_finding(&fx, "", "1 error|ECC"));
    const struct ifm_finding *others = fx_finding(&fx, "rule-07", "2 other processes");
    assert_non_null(others);
    assert_int_equal(others->severity, IFM_SEVERITY_WARNING);
    fx_stop(&fx);

    start(&fx); /* a list that lacks even this run is not the whole list */
    json_t *blind = gpu(0, 0, 0, 33);
    json_object_set_new(json_object_get(blind, "processes"), "compute", json_integer(0));
    state_event(&fx, "start", json_pack("[o]", blind));
    finish(&fx);
    assert_non_null(fx_finding(&fx, "", "not known"));
    fx_stop(&fx);
}

/* On a processor, and in runs from before, nothing is listed; a gate that asks gets the reason. */
static void without_a_reading_only_a_gate_lists_it(void **state)
{
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        struct fixture fx;
        fx_start(&fx);
        fx_generate(&fx);
        if (asked)
            fx_gate(&fx, HOT, "", IFM_GATE_AT_MOST, 1, false);
        finish(&fx);
        if (asked)
            fx_expect(&fx, "", HOT, IFM_STATE_ABSENT, "not read");
        else
            assert_null(ifm_derived_find(fx.derived, "decode", "", ifm_metric_of(HOT)));
        fx_stop(&fx);
    }
}

static void environment(struct fixture *fx, const char *devices)
{
    fx_event(fx, "environment",
             json_pack("{s:{s:{s:s, s:s}}}", "fingerprint", "gpu", "driver", "580.00", "devices_sha256", devices));
}

static void a_run_does_not_go_on_with_another_gpu(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) {
        struct fixture fx;
        start(&fx);
        environment(&fx, "aa");
        environment(&fx, other ? "bb" : "aa");
        finish(&fx);
        if (other)
            assert_non_null(fx_finding(&fx, "rule-04", "gpu.devices_sha256 differs"));
        else
            assert_null(fx_finding(&fx, "rule-04", "gpu."));
        fx_stop(&fx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_growth_over_time),
        cmocka_unit_test(sessions_add_up),
        cmocka_unit_test(what_cannot_be_is_absent),
        cmocka_unit_test(a_late_accumulator_is_no_contradiction),
        cmocka_unit_test(what_was_not_read_keeps_its_reason),
        cmocka_unit_test(of_several_gpus_the_measured_one_counts),
        cmocka_unit_test(errors_and_others_are_findings),
        cmocka_unit_test(without_a_reading_only_a_gate_lists_it),
        cmocka_unit_test(a_run_does_not_go_on_with_another_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
