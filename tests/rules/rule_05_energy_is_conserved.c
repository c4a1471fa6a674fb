/* Rule 5: a total holds the idle energy and no more than the limit allows, its window is long enough for the sensor and
 * is the window of the tokens. */
#include "rules/fixture.h"

static const double SECOND = 1e9;

/* One arm "base" of `samples` steps of 10 ms, four tokens each, in one slot a block; then its window is known. */
static void start(struct fixture *fx)
{
    fx_start(fx);
    fx->cells[0].n_arms = 1;
    fx->parts[0].arms[0].ledger = (struct ifm_ledger){.tokens_generated = 4};
    fx->parts[0].step_ns[0] = 1e7;
    fx->warmup_blocks = 0;
    fx->noise = 1e-4;
    fx_generate(fx);
    fx_end_events(fx);
}

static int64_t first_ns(const struct fixture *fx)
{
    return fx->parts[0].record.slots[0].start_ns;
}

static int64_t last_ns(const struct fixture *fx)
{
    return fx->parts[0].record.slots[fx->parts[0].record.n_slots - 1].end_ns;
}

static double seconds(const struct fixture *fx)
{
    return (double)(last_ns(fx) - first_ns(fx)) / SECOND;
}

/* A window around the whole record; steals `more`. */
static void window(struct fixture *fx, double joules, json_t *more)
{
    json_t *meta =
        json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:I, s:I, s:f}", "cell", "decode", "arm", "base", "device",
                  "gpu0", "source", "nvml", "idle_w", 12.3, "limit_w", 72.0, "period_ns", 1e7, "start_ns",
                  (json_int_t)first_ns(fx), "end_ns", (json_int_t)last_ns(fx), "counter_j", joules);
    if (more != NULL)
        json_object_update(meta, more);
    json_decref(more);
    fx_event(fx, "energy", meta);
}

/* A sensor behind the column energy_uj, which then holds `watts` for every measured slot. */
static void column(struct fixture *fx, double watts, json_t *sensor)
{
    struct ifm_record *r = &fx->parts[0].record;
    r->column_names[0] = "energy_uj";
    for (size_t k = 0; k < r->n_slots; k++) {
        double timed = (double)r->slots[k].samples, ns = (double)(r->slots[k].end_ns - r->slots[k].start_ns);
        r->columns[k * FX_COLUMNS] = (int64_t)llround(watts * 1e-3 * ns * (timed + 1) / timed);
    }
    if (sensor != NULL)
        fx_event(fx, "energy", sensor);
}

static json_t *sensor(double idle_w, double limit_w, double period_ns)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:f}", "cell", "decode", "device", "package0", "source", "rapl",
                     "idle_w", idle_w, "limit_w", limit_w, "period_ns", period_ns);
}

static void an_honest_total_stands(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    double joules = 50.0 * seconds(&fx), tokens = 4.0 * (double)fx.parts[0].record.n_samples;
    window(&fx, joules, json_pack("{s:I, s:f}", "tokens", (json_int_t)tokens, "integral_j", 1.02 * joules));
    fx_derive(&fx);
    assert_true(fabs(fx_value(&fx, "base", "total_energy_j")->number / joules - 1) < 1e-12);
    assert_true(fabs(fx_value(&fx, "base", "power_mean_w")->number - 50) < 1e-9);
    assert_true(fabs(fx_value(&fx, "base", "energy_per_token_j")->number / (joules / tokens) - 1) < 1e-12);
    const struct ifm_finding *both = fx_finding(&fx, "rule-05", "the integral");
    assert_non_null(both);
    assert_non_null(strstr(both->text, "(+2.0 %)"));
    assert_int_equal(both->severity, IFM_SEVERITY_NOTE);
    fx_stop(&fx);
}

static void expect_refused(struct fixture *fx, const char *reason)
{
    fx_derive(fx);
    fx_expect(fx, "base", "total_energy_j", IFM_STATE_REFUSED, reason);
    fx_expect(fx, "base", "power_mean_w", IFM_STATE_REFUSED, reason);
    fx_expect(fx, "base", "energy_per_token_j", IFM_STATE_REFUSED, reason);
    fx_expect(fx, "base", "step_ns", IFM_STATE_OK, ""); /* times do not come from that sensor */
    assert_non_null(fx_finding(fx, "rule-05", reason));
    fx_stop(fx);
}

static void below_idle_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    window(&fx, 11.0 * seconds(&fx), NULL);
    expect_refused(&fx, "less than gpu0 draws when it idles: 12.3 W");
    start(&fx);
    window(&fx, 12.0 * seconds(&fx), NULL); /* inside the sensor's tolerance */
    fx_derive(&fx);
    fx_expect(&fx, "base", "total_energy_j", IFM_STATE_OK, "");
    fx_stop(&fx);
}

static void above_the_limit_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    window(&fx, 80.0 * seconds(&fx), NULL);
    expect_refused(&fx, "gpu0 is limited to 72 W");
}

static void a_window_too_short_for_the_sensor_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    window(&fx, 50.0 * seconds(&fx), json_pack("{s:f}", "period_ns", 1e9)); /* a reading a second, in 2.4 s or so */
    expect_refused(&fx, "is too short for nvml: it speaks every 1000 ms");
}

static void the_tokens_are_those_of_the_window(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    window(&fx, 50.0 * seconds(&fx), json_pack("{s:i}", "tokens", 4)); /* those of one call */
    expect_refused(&fx, "tokens were made is given for 4:");
    start(&fx);
    window(&fx, 50.0 * seconds(&fx), json_pack("{s:I}", "end_ns", (json_int_t)last_ns(&fx) - 1000));
    expect_refused(&fx, "cuts through 1 slot:");
}

static void a_window_over_two_arms_is_no_arms(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].arms[0].ledger = fx.parts[0].arms[1].ledger = (struct ifm_ledger){.tokens_generated = 4};
    fx_generate(&fx);
    fx_end_events(&fx);
    window(&fx, 20.0 * seconds(&fx), json_pack("{s:f}", "period_ns", 0.0));
    fx_derive(&fx);
    fx_expect(&fx, "base", "energy_per_token_j", IFM_STATE_REFUSED, "slots of other arms");
    fx_stop(&fx);
}

static void nothing_is_counted_twice(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    window(&fx, 50.0 * seconds(&fx), NULL);
    window(&fx, 50.0 * seconds(&fx), NULL); /* the same sensor, the same window */
    expect_refused(&fx, "two windows of nvml overlap");
    start(&fx);
    double joules = 50.0 * seconds(&fx);
    window(&fx, joules, NULL);
    window(&fx, 1.3 * joules, json_pack("{s:s}", "source", "meter")); /* a witness, not another device */
    fx_derive(&fx);
    assert_true(fabs(fx_value(&fx, "base", "total_energy_j")->number / joules - 1) < 1e-12);
    const struct ifm_finding *both = fx_finding(&fx, "rule-05", "one of them is wrong");
    assert_non_null(both);
    assert_int_equal(both->severity, IFM_SEVERITY_WARNING);
    fx_stop(&fx);
    start(&fx);
    window(&fx, joules, NULL);
    window(&fx, joules, json_pack("{s:s}", "device", "gpu1")); /* two devices add up, in one time */
    fx_derive(&fx);
    assert_true(fabs(fx_value(&fx, "base", "total_energy_j")->number / (2 * joules) - 1) < 1e-12);
    assert_true(fabs(fx_value(&fx, "base", "power_mean_w")->number - 100) < 1e-9);
    fx_stop(&fx);
}

static void the_column_obeys_its_sensor(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    column(&fx, 30.0, sensor(12.3, 72.0, 1e6));
    fx_derive(&fx);
    assert_true(fabs(fx_value(&fx, "base", "power_mean_w")->number - 30) < 1e-3);
    fx_expect(&fx, "base", "energy_per_token_j", IFM_STATE_OK, "");
    assert_null(fx_finding(&fx, "rule-05", ""));
    fx_stop(&fx);
    start(&fx);
    column(&fx, 8.0, sensor(12.3, 72.0, 1e6));
    expect_refused(&fx, "less than package0 draws when it idles");
    start(&fx);
    column(&fx, 90.0, sensor(12.3, 72.0, 1e6));
    expect_refused(&fx, "package0 is limited to 72 W");
    start(&fx);
    column(&fx, 30.0, sensor(12.3, 72.0, 1e8)); /* slots of 200 ms */
    expect_refused(&fx, "is too short for rapl");
    start(&fx);
    column(&fx, 30.0, NULL);
    fx_derive(&fx);
    fx_expect(&fx, "base", "energy_per_token_j", IFM_STATE_OK, "");
    assert_non_null(fx_finding(&fx, "rule-05", "neither idle power nor power limit of the device was recorded"));
    fx_stop(&fx);
}

/* A change of energy needs the energy of both arms. */
static void a_refused_arm_compares_with_nobody(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].arms[0].ledger = fx.parts[0].arms[1].ledger = (struct ifm_ledger){.tokens_generated = 4};
    fx.parts[0].step_ns[0] = fx.parts[0].step_ns[1] = 1e6;
    fx_generate(&fx);
    fx_end_events(&fx);
    column(&fx, 30.0, sensor(12.3, 72.0, 1e5));
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++)
        r->columns[k * FX_COLUMNS] /= r->slots[k].arm == 0 ? 10 : 1; /* 3 W: the baseline's */
    fx_derive(&fx);
    fx_expect(&fx, "other", "energy_per_token_j", IFM_STATE_OK, "");
    fx_expect(&fx, "other", "energy_per_token_change_percent", IFM_STATE_REFUSED, "of base: 1.512 J in 0.48 s");
    fx_expect(&fx, "other", "change_percent", IFM_STATE_OK, "");
    fx_stop(&fx);
}

/* A meter around everything: the numbers are the cell's, and no arm's. */
static void a_window_of_the_cell_is_the_cells(void **state)
{
    (void)state;
    for (int low = 0; low < 2; low++) {
        struct fixture fx;
        fx_start(&fx);
        fx.parts[0].arms[0].ledger = fx.parts[0].arms[1].ledger = (struct ifm_ledger){.tokens_generated = 4};
        fx_generate(&fx);
        fx_end_events(&fx);
        double joules = (low ? 10.0 : 20.0) * seconds(&fx);
        window(&fx, joules, json_pack("{s:f}", "period_ns", 0.0));
        json_t *event = json_array_get(fx.events, json_array_size(fx.events) - 1);
        json_object_del(json_object_get(event, "meta"), "arm");
        fx_derive(&fx);
        fx_expect(&fx, "", "total_energy_j", low ? IFM_STATE_REFUSED : IFM_STATE_OK, low ? "when it idles" : "");
        if (!low)
            assert_true(fabs(fx_value(&fx, "", "power_mean_w")->number - 20) < 1e-9);
        assert_null(ifm_derived_find(fx.derived, "decode", "base", IFM_M_ENERGY_PER_TOKEN_J));
        assert_null(ifm_derived_find(fx.derived, "decode", "base", IFM_M_TOTAL_ENERGY_J));
        fx_stop(&fx);
    }
}

static void an_event_that_is_none_is_named(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{\"cell\":\"decode\",\"source\":\"x\"}",
        "{\"cell\":\"decode\",\"device\":\"x\",\"source\":\"x\",\"idle_w\":-1}",
        "{\"cell\":\"decode\",\"device\":\"x\",\"source\":\"x\",\"counter_j\":1}",
        "{\"cell\":\"decode\",\"device\":\"x\",\"source\":\"x\",\"start_ns\":5,\"end_ns\":5,\"counter_j\":1}",
        "{\"cell\":\"decode\",\"device\":\"x\",\"source\":\"x\",\"start_ns\":5,\"end_ns\":9}",
        ("{\"cell\":\"decode\",\"device\":\"x\",\"source\":\"x\",\"start_ns\":5,\"end_ns\":9,\"counter_j\":1,"
         "\"tokens\":-4}")};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fixture fx;
        struct ifm_error error = {0};
        start(&fx);
        fx_event(&fx, "energy", json_loads(bad[i], 0, NULL));
        assert_int_equal(fx_try_derive(&fx, &error), IFM_INVALID);
        assert_non_null(strstr(error.message, "event \"energy\""));
        fx_stop(&fx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_honest_total_stands),
        cmocka_unit_test(below_idle_is_refused),
        cmocka_unit_test(above_the_limit_is_refused),
        cmocka_unit_test(a_window_too_short_for_the_sensor_is_refused),
        cmocka_unit_test(the_tokens_are_those_of_the_window),
        cmocka_unit_test(a_window_over_two_arms_is_no_arms),
        cmocka_unit_test(nothing_is_counted_twice),
        cmocka_unit_test(the_column_obeys_its_sensor),
        cmocka_unit_test(a_refused_arm_compares_with_nobody),
        cmocka_unit_test(a_window_of_the_cell_is_the_cells),
        cmocka_unit_test(an_event_that_is_none_is_named),
    };
    return cmocka_run_group_tests_name("rule_05", tests, NULL, NULL);
}
