/* Rule 5 on the column energy_uj: a total holds the idle energy and no more than the limit allows, and a slot is long
 * enough for the sensor. (The windows of an energy pass: rule_05_windows_of_energy.c.) */
#include "rules/fixture.h"

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

/* A sensor of idle 12.3 W and limit 72 W is good to 5 %, and speaks ten times in a slot of 200 ms. Of the column's
 * total, 21 steps of a slot of 20 timed ones, the whole must hold the idle energy; of the timed ones the limit is true.
 */
static void each_bound_has_two_sides(void **state)
{
    (void)state;
    static const struct {
        double watts, period_ns;
        const char *refused;
    } sides[] = {{12.3 * 0.94 / 1.05, 1e6, "59.04 J"}, {12.3 * 0.96 / 1.05, 1e6, NULL},
                 {72 * 1.06, 1e6, "limited to 72 W"},  {72 * 1.04, 1e6, NULL},
                 {30, 2.05e7, "every 20.5 ms"},        {30, 1.95e7, NULL}};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        struct fixture fx;
        start(&fx);
        column(&fx, sides[i].watts, sensor(12.3, 72.0, sides[i].period_ns));
        if (sides[i].refused != NULL) {
            expect_refused(&fx, sides[i].refused);
            continue;
        }
        fx_derive(&fx);
        fx_expect(&fx, "base", "total_energy_j", IFM_STATE_OK, "");
        assert_null(fx_finding(&fx, "rule-05", ""));
        fx_stop(&fx);
    }
}

/* One bound may be known without the other: what is missing is said, and what is there still holds. */
static void one_bound_is_enough_to_be_held(void **state)
{
    (void)state;
    static const char *const missing[] = {"the power limit of package0", "the idle power of package0"};
    for (int i = 0; i < 2; i++)
        for (int broken = 0; broken < 2; broken++) {
            struct fixture fx;
            start(&fx);
            json_t *known = sensor(12.3, 72.0, 1e6);
            json_object_del(known, i == 0 ? "limit_w" : "idle_w");
            column(&fx, !broken ? 30 : i == 0 ? 8 : 90, known);
            fx_derive(&fx);
            fx_expect(&fx, "base", "total_energy_j", broken ? IFM_STATE_REFUSED : IFM_STATE_OK, "");
            const struct ifm_finding *note = fx_finding(&fx, "rule-05", missing[i]);
            assert_non_null(note);
            assert_int_equal(note->severity, IFM_SEVERITY_NOTE);
            fx_stop(&fx);
        }
}

/* A counter that also ran between the samples is no measure of the steps: no bound of theirs is about it. */
static void a_counter_of_more_than_the_steps_is_not_held_to_bounds(void **state)
{
    (void)state;
    for (int cold = 0; cold < 2; cold++) {
        struct fixture fx;
        start(&fx);
        fx.cells[0].measure.cache = cold ? IFM_CACHE_COLD : fx.cells[0].measure.cache;
        fx.parts[0].arms[0].gaps = !cold;
        column(&fx, 90.0, sensor(12.3, 72.0, 1e6));
        fx_derive(&fx);
        fx_expect(&fx, "base", "total_energy_j", IFM_STATE_OK, "");
        fx_expect(&fx, "base", "power_mean_w", IFM_STATE_ABSENT, "");
        assert_null(fx_finding(&fx, "rule-05", ""));
        fx_stop(&fx);
    }
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

static void an_event_that_is_none_is_named(void **state)
{
    (void)state;
    static const char *const bad[] = {"{\"cell\":\"decode\",\"source\":\"x\"}",
                                      "{\"cell\":\"decode\",\"device\":\"x\",\"source\":\"x\",\"idle_w\":-1}"};
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
        cmocka_unit_test(the_column_obeys_its_sensor),
        cmocka_unit_test(each_bound_has_two_sides),
        cmocka_unit_test(one_bound_is_enough_to_be_held),
        cmocka_unit_test(a_counter_of_more_than_the_steps_is_not_held_to_bounds),
        cmocka_unit_test(a_refused_arm_compares_with_nobody),
        cmocka_unit_test(an_event_that_is_none_is_named),
    };
    return cmocka_run_group_tests_name("rule_05", tests, NULL, NULL);
}
