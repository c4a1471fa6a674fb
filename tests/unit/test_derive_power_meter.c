/* What an external meter is believed: its clock, its rate, each of its readings, and the board beside its devices. */
#include "unit/power_sample.h"

static struct ps p;

/* A meter of `period_s` alone; its readings. */
static struct ps_sensor *meter(double period_s)
{
    ps_event(&p, "board", "meter", "meter", period_s, json_pack("{s:n, s:n, s:n}", "quantum", "gain_error", "limit_w"));
    return ps_sensor(&p, "board", "meter", "meter", period_s, 1, 0);
}

/* By how much its stamps are late. What was stamped before the pass is not recorded. */
static void delay(struct ps_sensor *sensor, double seconds)
{
    size_t n = 0;
    for (size_t i = 0; i < sensor->readings.n; i++) {
        struct ifm_reading reading = sensor->list[i];
        reading.t_ns += llround(1e9 * seconds);
        if (reading.t_ns >= 0)
            sensor->list[n++] = reading;
    }
    sensor->readings.n = n;
}

static double half_of(const struct ifm_value *value)
{
    return 0.5 * (value->high - value->low);
}

/* Is the number ok, with the truth in its interval and the interval no wider than this share of it? */
static void expect_holds(const char *arm, const char *metric, double truth, double widest)
{
    const struct ifm_value *value = fx_value(&p.fx, arm, metric);
    if (value->state != IFM_STATE_OK || !(value->low <= truth && truth <= value->high) ||
        !(half_of(value) <= widest * fabs(truth)))
        fail_msg("%s of %s: %.9g [%.9g, %.9g] (state %d, %s), truth %.9g", metric, arm, value->number, value->low,
                 value->high, value->state, value->reason, truth);
}

/* ---- its clock ---- */

static void a_clock_that_is_off_is_put_right_by_the_steps(void **state)
{
    (void)state;
    static const double off[] = {-7.0, -1.5, -0.5, 0.5, 1.5, 7.0}, periods[] = {0.05, 0.2};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        for (size_t k = 0; k < 2; k++) {
            ps_plain(&p);
            delay(meter(periods[k]), off[i]);
            ps_derive(&p);
            ps_power(&p);
            const struct ifm_power_fact *fact = ps_fact(&p, "board", "meter");
            if (!(fabs(fact->late_s - off[i]) <= periods[k]))
                fail_msg("a clock that is %g s late: %g s", off[i], fact->late_s);
            assert_true(fact->late_low_s <= off[i] && off[i] <= fact->late_high_s);
            double seconds = fx_value(&p.fx, "base", "duration_sec")->number;
            expect_holds("base", "idle_power_w", 120, 0.1);
            expect_holds("base", "power_mean_w", 400, 0.1);
            expect_holds("other", "power_mean_w", 300, 0.1);
            expect_holds("base", "energy_above_idle_j", 280 * seconds, 0.1);
            assert_non_null(fx_finding(&p.fx, "rule-05", "board|meter|steps of load"));
            ps_stop(&p);
        }
}

/* A meter that shows the mean of the last second lags by half of it; noise hides no step. */
static void a_mean_over_a_second_is_late_by_half(void **state)
{
    (void)state;
    uint64_t random = 1;
    ps_plain(&p);
    struct ps_sensor *sensor = meter(0.2);
    for (size_t i = 0; i < sensor->readings.n; i++) {
        double t = 1e-9 * (double)sensor->list[i].t_ns, from = fmax(0, t - 1);
        random = random * 6364136223846793005u + 1442695040888963407u;
        double noise = 1 + 0.1 * ((double)(random >> 11) * 0x1p-53 - 0.5);
        sensor->list[i].micro = llround(1e6 * noise * (ps_energy(&p, t) - ps_energy(&p, from)) / (t - from));
    }
    ps_derive(&p);
    ps_power(&p);
    const struct ifm_power_fact *fact = ps_fact(&p, "board", "meter");
    assert_true(fact->lag_told && fact->late_low_s <= 0.5 && 0.5 <= fact->late_high_s);
    assert_true(fact->late_high_s - fact->late_low_s < 1);
    expect_holds("base", "power_mean_w", 400, 0.1);
    expect_holds("other", "power_mean_w", 300, 0.1);
    ps_stop(&p);
}

/* A lag that may be none is none: what a meter in time says is what it said before. */
static void a_clock_that_fits_is_left_alone(void **state)
{
    (void)state;
    ps_plain(&p);
    (void)meter(0.2);
    ps_derive(&p);
    ps_power(&p);
    assert_true(ps_fact(&p, "board", "meter")->late_s == 0.0 && ps_fact(&p, "board", "meter")->lag_told);
    assert_null(fx_finding(&p.fx, "rule-05", "steps of load"));
    expect_holds("base", "power_mean_w", 400, 0.1);
    ps_stop(&p);
}

/* The load's steps do not show, and where the window is looked for decides its joules: they are refused. */
static void a_clock_that_fits_nowhere_is_refused(void **state)
{
    (void)state;
    ps_plain(&p);
    struct ps_sensor *sensor = meter(0.2);
    for (size_t i = 0; i < sensor->readings.n; i++) /* the load of somebody else, on and off at times of its own */
        sensor->list[i].micro = 1000000 * (0x5a6fc91b7e23d4 >> sensor->list[i].t_ns / 3000000000 & 1 ? 100 : 500);
    ps_derive(&p);
    ps_power(&p);
    assert_false(ps_fact(&p, "board", "meter")->lag_told);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_REFUSED, "meter|board|steps|NTP");
    fx_expect(&p.fx, "other", "energy_per_token_change_percent", IFM_STATE_REFUSED, "rule-05");
    fx_expect(&p.fx, "base", "step_ns", IFM_STATE_OK, "");
    ps_stop(&p);
}

/* A power that never changes has no lag to tell, and none that matters. */
static void a_steady_power_needs_no_lag(void **state)
{
    (void)state;
    ps_start(&p);
    p.idle_w = p.watts[0] = p.watts[1] = 120;
    ps_generate(&p);
    (void)meter(0.05);
    ps_derive(&p);
    ps_power(&p);
    assert_false(ps_fact(&p, "board", "meter")->lag_told);
    expect_holds("base", "power_mean_w", 120, 1e-3);
    ps_stop(&p);
}

/* ---- its rate ---- */

/* Steps of a second, half of it at 520 W: a meter of 1 Hz reads the same phase of each. */
static void long_steps(double pause_s)
{
    ps_start(&p);
    p.window_s = 14;
    p.idle_s = 16.25;
    p.period = 1;
    p.swing = 280;
    p.watts[0] = p.watts[1] = 240;
    ps_generate(&p);
    struct ifm_record *r = &p.energy;
    size_t n = 0;
    for (size_t k = 0; k < r->n_slots; k++) {
        double from = 1e-9 * (double)r->slots[k].start_ns;
        r->first[k] = n;
        r->slots[k].samples = (uint32_t)p.window_s;
        r->slots[k].inner = 1;
        for (unsigned i = 0; i < r->slots[k].samples; i++) {
            int64_t start = llround(1e9 * (from + i)), pause = llround(1e9 * pause_s * ((i * 7 % 5) / 5.0));
            r->samples[n++] = (struct ifm_sample){start + pause, 1000000000 - pause};
        }
    }
    r->first[r->n_slots] = r->n_samples = n;
}

static void a_rate_that_locks_to_the_steps_is_in_the_bar(void **state)
{
    (void)state;
    long_steps(0);
    (void)meter(1);
    ps_derive(&p);
    const struct ifm_value *power = fx_value(&p.fx, "base", "power_mean_w");
    assert_int_equal(power->state, IFM_STATE_OK);
    assert_true(power->low <= 380 && 380 <= power->high);
    assert_true(half_of(power) > 100);
    ps_stop(&p);
    /* the same load under a meter that reads it 47 times a second */
    long_steps(0);
    (void)meter(1.0 / 47);
    ps_derive(&p);
    expect_holds("base", "power_mean_w", 380, 0.3);
    ps_stop(&p);
}

/* The steps lock, and it never saw power change: it may read the idle part of each. */
static void a_rate_that_locks_unseen_is_refused(void **state)
{
    (void)state;
    long_steps(0);
    struct ps_sensor *sensor = meter(1);
    for (size_t i = 0; i < sensor->readings.n; i++)
        sensor->list[i].micro = 120000000;
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_REFUSED, "meter|lock");
    ps_stop(&p);
}

/* Few readings of one level leave time for another one. */
static void few_readings_have_a_wide_bar(void **state)
{
    (void)state;
    double half[2];
    for (int i = 0; i < 2; i++) {
        ps_start(&p);
        p.window_s = 14;
        p.idle_s = 16;
        ps_generate(&p);
        (void)meter(i == 0 ? 1 : 0.02);
        ps_derive(&p);
        const struct ifm_value *power = fx_value(&p.fx, "base", "power_mean_w");
        assert_int_equal(power->state, IFM_STATE_OK);
        half[i] = half_of(power);
        ps_stop(&p);
    }
    assert_true(half[0] > 0.5 * 0.2 * 280); /* 3 of 14, over four windows */
    assert_true(half[1] < 0.05 * half[0]);
}

/* ---- one reading ---- */

static void a_reading_out_of_range_refuses_its_window(void **state)
{
    (void)state;
    static const struct {
        double watts;
        const char *said;
    } cases[] = {{999999, "999999 W"}, {5000, "5000 W"}, {0, " 0 W"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        ps_start(&p);
        p.blocks = 3;
        ps_generate(&p);
        struct ps_sensor *sensor = meter(0.2);
        size_t at = ifm_joules_first(&sensor->readings, p.energy.slots[0].start_ns + 1000000000);
        sensor->list[at].micro = llround(1e6 * cases[c].watts);
        ps_derive(&p);
        ps_power(&p);
        const struct ifm_power_device *board = &p.power.devices[0];
        const char *arm = board->windows[0].arm == 0 ? "base" : "other";
        char number[32];
        snprintf(number, sizeof number, "reading %zu", at + 1);
        assert_non_null(strstr(board->windows[0].fault, number));
        assert_non_null(strstr(board->windows[0].fault, cases[c].said));
        for (size_t i = 1; i < board->n_windows; i++)
            assert_string_equal(board->windows[i].fault, "");
        ps_expect(&p, arm, "energy_windows", 5, 0);
        assert_non_null(fx_finding(&p.fx, "rule-05", number));
        expect_holds(arm, "power_mean_w", board->windows[0].arm == 0 ? 400 : 300, 0.1);
        ps_stop(&p);
    }
}

/* Some in every window, as a broken adapter gives: nothing is left, and nothing is dropped in silence. */
static void readings_above_rated_power_are_not_believed(void **state)
{
    (void)state;
    ps_start(&p);
    p.fx.cells[0].measure.rated_w = 400;
    ps_generate(&p);
    struct ps_sensor *sensor = meter(0.2);
    for (size_t i = 3; i < sensor->readings.n; i += 8)
        sensor->list[i].micro = 90000000000;
    ps_derive(&p);
    fx_expect(&p.fx, "base", "total_energy_j", IFM_STATE_REFUSED, "90000 W|rated");
    ps_stop(&p);
}

/* ---- the board and its devices ---- */

static void a_board_below_its_devices_is_not_used(void **state)
{
    (void)state;
    for (int low = 0; low < 2; low++) {
        ps_plain(&p);
        ps_counter(&p);
        ps_event(&p, "board", "meter", "meter", 0.2, json_pack("{s:n}", "gain_error"));
        ps_sensor(&p, "board", "meter", "meter", 0.2, low ? 0.7 : 1.2, 0);
        ps_derive(&p);
        const struct ifm_device_energy *row = ps_row(&p, "base", "board", "meter");
        assert_int_equal(row->windows, low ? 0 : 4);
        assert_int_equal(strstr(row->refused, "devices") != NULL, low);
        ps_expect(&p, "base", "power_mean_w", 400, 1e-6);
        ps_stop(&p);
    }
}

/* ---- one that was asked for by name ---- */

static void a_meter_that_gave_nothing_is_no_success(void **state)
{
    (void)state;
    for (int gated = 0; gated < 2; gated++)
        for (int lost = 0; lost < 2; lost++) {
            ps_start(&p);
            p.fx.cells[0].measure.power_meter = "sha256:abc";
            ps_generate(&p);
            (void)meter(0.2);
            if (lost)
                ps_fault(&p, "board", "meter", 6, 100, "the meter's file was deleted or renamed");
            if (gated)
                fx_gate(&p.fx, "energy_per_step_j", "", IFM_GATE_AT_MOST, 1e6, false);
            ps_derive(&p);
            fx_judge(&p.fx);
            if (p.fx.verdict->exit_code != (lost ? (int)IFM_INVALID : (int)IFM_OK))
                fail_msg("exit %d: %s", p.fx.verdict->exit_code, p.fx.verdict->reasons[0]);
            assert_int_equal(p.fx.verdict->outcome, !gated ? IFM_OUTCOME_NOT_GATED
                                                    : lost ? IFM_OUTCOME_BLOCKED
                                                           : IFM_OUTCOME_PASS);
            assert_int_equal(strstr(p.fx.verdict->reasons[0], "deleted") != NULL, lost);
            ps_stop(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_is_off_is_put_right_by_the_steps),
        cmocka_unit_test(a_mean_over_a_second_is_late_by_half),
        cmocka_unit_test(a_clock_that_fits_is_left_alone),
        cmocka_unit_test(a_clock_that_fits_nowhere_is_refused),
        cmocka_unit_test(a_steady_power_needs_no_lag),
        cmocka_unit_test(a_rate_that_locks_to_the_steps_is_in_the_bar),
        cmocka_unit_test(a_rate_that_locks_unseen_is_refused),
        cmocka_unit_test(few_readings_have_a_wide_bar),
        cmocka_unit_test(a_reading_out_of_range_refuses_its_window),
        cmocka_unit_test(readings_above_rated_power_are_not_believed),
        cmocka_unit_test(a_board_below_its_devices_is_not_used),
        cmocka_unit_test(a_meter_that_gave_nothing_is_no_success),
    };
    return cmocka_run_group_tests_name("derive_power_meter", tests, NULL, NULL);
}
