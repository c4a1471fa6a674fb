/* Joules of a window against a truth that is known: a power in time, and the sensors that would have watched it. */
#include "derive/energy/joules.h"

#include "base/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "derive/coverage.h"
#include <cmocka.h>

#include "unit/facts.h"

/* Of a load without a period. */
static double steady_coverage(double spread_w, double seconds)
{
    return ifm_coverage_w(&(struct ifm_coverage){.seconds = seconds, .spread_w = spread_w});
}

enum { MOST = 20000 };

/* base + slope t + a square wave of `swing` that is on for `duty` of its period. */
struct load {
    double base, slope, swing, period, duty;
};

static double power_at(const struct load *load, double t)
{
    bool on = load->period > 0 && fmod(t, load->period) < load->duty * load->period;
    return load->base + load->slope * t + (on ? load->swing : 0.0);
}

static double energy_at(const struct load *load, double t)
{
    double whole = load->period > 0 ? floor(t / load->period) : 0.0, rest = t - whole * load->period;
    double on = load->period > 0 ? whole * load->duty * load->period + fmin(rest, load->duty * load->period) : 0.0;
    return load->base * t + 0.5 * load->slope * t * t + load->swing * on;
}

struct watch {
    struct ifm_reading list[MOST];
    struct ifm_readings readings;
};

static void add(struct watch *w, double t, double half_s, double value)
{
    assert_true(w->readings.n < MOST);
    w->list[w->readings.n++] = (struct ifm_reading){llround(1e9 * t), llround(1e9 * half_s), llround(1e6 * value)};
}

/* A counter with ticks every `period` +- jitter whose times are told wrongly by up to half_s, down to whole quanta. */
static void count(struct watch *w, const struct load *load, double until, double period, double jitter, double half_s,
                  double quantum, struct ifm_random *random)
{
    w->readings = (struct ifm_readings){true, w->list, 0};
    for (unsigned k = 0; (double)k * period < until; k++) {
        double t = (double)k * period + jitter * (2 * ifm_random_uniform(random) - 1);
        double joules = energy_at(load, fmax(t, 0.0));
        if (quantum > 0)
            joules = quantum * floor(joules / quantum);
        add(w, fmax(t, 0.0) + half_s * (2 * ifm_random_uniform(random) - 1), half_s, joules);
    }
}

static void sample(struct watch *w, const struct load *load, double until, double period, double jitter, double noise,
                   struct ifm_random *random)
{
    w->readings = (struct ifm_readings){false, w->list, 0};
    for (unsigned k = 0; (double)k * period < until; k++) {
        double t = fmax((double)k * period + jitter * (2 * ifm_random_uniform(random) - 1), 0.0);
        add(w, t, 0.0, power_at(load, t) + noise * ifm_random_normal(random));
    }
}

static const struct ifm_joules_sensor TICKS = {.period_s = 0.1, .quantum = 1e-3, .spread_w = 0.0};
static const struct ifm_joules_sensor RING = {.period_s = 0.02, .quantum = 0.0, .spread_w = -1.0};
static const struct load STEADY = {.base = 500};
static struct watch watch;

static int64_t ns(double s)
{
    return llround(1e9 * s);
}

static struct ifm_joules counted(const struct ifm_joules_sensor *sensor, double from, double to)
{
    struct ifm_joules out;
    ifm_joules_counter(&watch.readings, sensor, ns(from), ns(to), &out);
    return out;
}

static struct ifm_joules integrated(const struct ifm_joules_sensor *sensor, double from, double to)
{
    struct ifm_joules out;
    ifm_joules_integral(&watch.readings, sensor, ns(from), ns(to), &out);
    return out;
}

static void assert_near(double a, double b, double within)
{
    if (!(fabs(a - b) <= within))
        fail_msg("%.12g is not within %.3g of %.12g", a, within, b);
}

static void constant_power_between_ticks(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(1, 1);
    count(&watch, &STEADY, 8, 0.1, 0, 0, 0, &random);
    struct ifm_joules j = counted(&TICKS, 1.03, 6.07);
    assert_null(j.why);
    assert_int_equal(j.start_ns, ns(1.1));
    assert_int_equal(j.end_ns, ns(6.0));
    assert_int_equal(j.readings, 50);
    assert_near(j.joules, 500 * 4.9, 1e-6);
    assert_near(j.watts, 500, 1e-6);
    assert_near(j.longest_gap_s, 0.1, 1e-9);
    assert_near(j.edge_j, 0, 0);
    assert_near(j.quantum_j, 0.8e-3, 1e-6);
    assert_near(j.random_j, j.quantum_j, 1e-12);
}

/* Ticks on the very ends are inside. */
static void ticks_on_the_edges_count(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(1, 2);
    count(&watch, &STEADY, 8, 0.1, 0, 0, 0, &random);
    struct ifm_joules j = counted(&TICKS, 2.0, 4.0);
    assert_int_equal(j.start_ns, ns(2.0));
    assert_int_equal(j.end_ns, ns(4.0));
    assert_int_equal(j.readings, 21);
    j = counted(&TICKS, 2.0 + 1e-9, 4.0 - 1e-9);
    assert_int_equal(j.start_ns, ns(2.1));
    assert_int_equal(j.end_ns, ns(3.9));
}

static void a_ramp_is_exact(void **state)
{
    (void)state;
    const struct load ramp = {.base = 100, .slope = 50};
    struct ifm_random random = ifm_random_start(1, 3);
    count(&watch, &ramp, 8, 0.1, 0.015, 0, 0, &random);
    struct ifm_joules j = counted(&TICKS, 1, 7);
    double from = 1e-9 * (double)j.start_ns, to = 1e-9 * (double)j.end_ns;
    assert_null(j.why);
    assert_near(j.joules, energy_at(&ramp, to) - energy_at(&ramp, from), 1e-4);
}

/* A file that holds every poll gives what a file of new values alone gives. */
static void polls_that_saw_nothing_new_are_no_ticks(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(1, 4);
    count(&watch, &STEADY, 6, 0.1, 0.01, 0.002, 1e-3, &random);
    struct ifm_joules sparse = counted(&TICKS, 1.05, 4.95);
    struct watch all = {.readings = {true, all.list, 0}};
    for (size_t i = 0; i < watch.readings.n; i++)
        for (int again = 0; again < 4; again++) {
            struct ifm_reading one = watch.list[i];
            one.t_ns += again * 20000000;
            one.half_ns += again * 1000;
            all.list[all.readings.n++] = one;
        }
    struct ifm_joules dense;
    ifm_joules_counter(&all.readings, &TICKS, ns(1.05), ns(4.95), &dense);
    assert_null(dense.why);
    assert_memory_equal(&sparse, &dense, sizeof sparse);
}

/* The first reading of a file holds a value of unknown age. */
static void the_first_reading_is_no_tick(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(1, 5);
    count(&watch, &STEADY, 3, 0.1, 0, 0, 0, &random);
    assert_int_equal(counted(&TICKS, 0, 2).start_ns, ns(0.1));
}

static void too_few_ticks_are_no_energy(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(1, 6);
    count(&watch, &STEADY, 8, 0.1, 0, 0, 0, &random);
    assert_null(counted(&TICKS, 1.0, 2.0).why);
    struct ifm_joules j = counted(&TICKS, 1.0, 1.99);
    assert_non_null(j.why);
    assert_facts(j.why, "10 of");
    assert_true(j.joules == 0);
    assert_facts(counted(&TICKS, 1.0, 1.05).why, "once");
    assert_facts(counted(&TICKS, 20, 30).why, "no reading");
    for (size_t i = 0; i < watch.readings.n; i++)
        watch.list[i].micro = 7;
    assert_facts(counted(&TICKS, 1, 7).why, "stood");
    watch.readings.n = 0;
    assert_non_null(counted(&TICKS, 1, 7).why);
    assert_near(ifm_joules_least_s(0.1), 1.0, 1e-12);
}

/* Nothing is lost in a counter that came late, and how late is told. */
static void a_late_refresh_keeps_the_energy(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(1, 7);
    count(&watch, &STEADY, 8, 0.1, 0, 0, 0, &random);
    for (size_t i = 30; i < 45; i++)
        watch.list[i].micro = watch.list[29].micro;
    struct ifm_joules j = counted(&TICKS, 1, 7);
    assert_null(j.why);
    assert_near(j.joules, 500 * 6.0, 1e-6);
    assert_near(j.longest_gap_s, 1.6, 1e-9);
    /* at the end of a window it shortens the stretch, and invents nothing */
    j = counted(&TICKS, 1, 4.2);
    assert_int_equal(j.end_ns, ns(2.9));
    assert_near(j.watts, 500, 1e-6);
}

/* One that lost joules meanwhile is found, whether for two seconds or for two ticks. */
static void a_counter_that_stood_still_is_no_energy(void **state)
{
    (void)state;
    static const unsigned lost[] = {2, 5, 20};
    struct ifm_random random = ifm_random_start(1, 11);
    for (size_t k = 0; k < sizeof lost / sizeof *lost; k++) {
        count(&watch, &STEADY, 8, 0.1, 0.01, 0.002, 1e-3, &random);
        int64_t joules = watch.list[30 + lost[k]].micro - watch.list[30].micro;
        for (size_t i = 30; i < watch.readings.n; i++)
            watch.list[i].micro = i < 30 + lost[k] ? watch.list[30].micro : watch.list[i].micro - joules;
        struct ifm_joules j = counted(&TICKS, 1, 7);
        assert_non_null(j.why);
        assert_non_null(strstr(j.why, "stood still"));
        assert_null(counted(&TICKS, 1, 3.05).why); /* not of the windows beside it */
        assert_null(counted(&TICKS, 5.5, 7.5).why);
    }
}

/* Ends that are known badly, in a load that begins high and ends low. */
static void a_load_that_steps_is_within_its_bar(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(1, 12);
    const struct load steps = {100, 0, 600, 10, 0.2}; /* high for 2 s of 10 */
    size_t inside = 0;
    for (int i = 0; i < 1000; i++) {
        double from = 10.2 * ifm_random_uniform(&random);
        count(&watch, &steps, 20, 0.1, 0.01, 0.05, 1e-3, &random);
        struct ifm_joules_sensor sensor = TICKS;
        sensor.spread_w = 240;
        struct ifm_joules j = counted(&sensor, from, from + 7);
        double truth = energy_at(&steps, 1e-9 * (double)j.end_ns) - energy_at(&steps, 1e-9 * (double)j.start_ns);
        assert_null(j.why);
        j.random_j = hypot(j.edge_j, j.quantum_j); /* this counter tiles time */
        inside += fabs(j.joules - truth) <= j.random_j;
    }
    assert_true(inside >= 950);
    /* 0.05 s of 700 W at the start, and of 100 W at the end: the mean square's root is 302 W */
    count(&watch, &steps, 20, 0.1, 0, 0, 0, &random);
    for (size_t i = 0; i < watch.readings.n; i++)
        watch.list[i].half_ns = ns(0.05);
    struct ifm_joules_sensor sensor = TICKS;
    sensor.spread_w = 220;
    struct ifm_joules j = counted(&sensor, 10, 18.01);
    assert_true(j.edge_j > 1.13 * 0.05 * hypot(700, hypot(j.watts, 220)) - 0.1);
}

static void a_coarse_counter_is_within_its_quantum(void **state)
{
    (void)state;
    const struct ifm_joules_sensor coarse = {.period_s = 0.1, .quantum = 20, .spread_w = 0};
    struct ifm_random random = ifm_random_start(1, 8);
    size_t inside = 0;
    for (int i = 0; i < 400; i++) {
        struct load load = {.base = 300 + 200 * ifm_random_uniform(&random)};
        count(&watch, &load, 4, 0.1, 0.01, 0, 20, &random);
        struct ifm_joules j = counted(&coarse, 1, 3.5);
        double truth = load.base * j.seconds;
        assert_near(j.joules, truth, 20.001);
        inside += fabs(j.joules - truth) <= j.random_j;
    }
    assert_true(inside >= 380);
}

/* 95 of 100 windows lie within the bar, and the bar is not simply wide. */
static void the_bar_of_a_steady_load_is_honest(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(2, 1);
    size_t inside = 0;
    double bars = 0, errors = 0;
    for (int i = 0; i < 1000; i++) {
        count(&watch, &STEADY, 6, 0.09996, 0.015, 0.003, 1e-3, &random);
        double from = 0.5 + 0.1 * ifm_random_uniform(&random);
        struct ifm_joules j = counted(&TICKS, from, from + 5);
        assert_null(j.why);
        double off = fabs(j.joules - 500 * j.seconds);
        inside += off <= j.random_j;
        bars += j.random_j;
        errors += off;
    }
    assert_true(inside >= 950);
    assert_true(errors / bars > 0.25); /* of a normal error it would be 0.41 */
    assert_true(bars / 1000 < 0.005 * 500 * 4.8);
}

/* A counter that samples power every 5 ms by a clock of its own, under the square waves that were measured. */
static void square_waves_lie_within_the_bar(void **state)
{
    (void)state;
    static const double periods[] = {0.0073, 0.010, 0.020, 0.025, 0.033, 0.040, 0.050, 0.075, 0.097, 0.1, 0.101, 0.13};
    struct ifm_random random = ifm_random_start(3, 1);
    size_t inside = 0, all = 0;
    for (size_t p = 0; p < sizeof periods / sizeof periods[0]; p++)
        for (int again = 0; again < 20; again++, all++) {
            struct load load = {128, 0, 582, periods[p], 0.5};
            double joules = 0, at = 0;
            watch.readings = (struct ifm_readings){true, watch.list, 0};
            for (int tick = 0; tick < 130; tick++) {
                for (int k = 0; k < 20; k++, at += 0.005)
                    joules += 0.005 * power_at(&load, at + 0.005 * ifm_random_uniform(&random));
                add(&watch, at, 0.001, joules);
            }
            struct ifm_joules_sensor sensor = {.period_s = 0.1, .quantum = 1e-3, .spread_w = 291};
            struct ifm_joules j = counted(&sensor, 1, 11.5);
            double from = 1e-9 * (double)j.start_ns, to = 1e-9 * (double)j.end_ns;
            inside += fabs(j.joules - (energy_at(&load, to) - energy_at(&load, from))) <= j.random_j;
            assert_near(j.coverage_j, steady_coverage(291, j.seconds) * j.seconds, 1e-9);
            assert_true(j.random_j / j.joules < 0.03);
        }
    assert_true(inside * 100 >= 95 * all);
}

static void coverage_shrinks_with_the_window(void **state)
{
    (void)state;
    assert_near(steady_coverage(300, 3), 15, 1e-9);
    assert_near(steady_coverage(300, 12), 7.5, 1e-9);
    assert_near(steady_coverage(0, 12), 0, 0);
    /* with no finer sensor, the counter's own slopes tell of a load that swings slowly */
    struct ifm_random random = ifm_random_start(1, 9);
    const struct load slow = {100, 0, 400, 2.0, 0.5};
    const struct ifm_joules_sensor alone = {.period_s = 0.1, .spread_w = -1};
    count(&watch, &slow, 13, 0.1, 0, 0, 0, &random);
    struct ifm_joules j = counted(&alone, 1, 11);
    assert_near(j.coverage_j / j.seconds, steady_coverage(200, 10), 0.02);
    assert_true(ifm_joules_periodic(51, 500));
    assert_false(ifm_joules_periodic(49, 500));
}

static void a_counter_of_unknown_period_uses_its_own(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(1, 10);
    const struct ifm_joules_sensor unknown = {.period_s = 0};
    count(&watch, &STEADY, 8, 0.5, 0, 0, 0, &random);
    assert_null(counted(&unknown, 1, 6).why);
    assert_non_null(counted(&unknown, 1, 5).why);
}

/* ---- the trapezoid rule ---- */

static void the_integral_has_exact_ends(void **state)
{
    (void)state;
    const struct load ramp = {.base = 100, .slope = 50};
    struct ifm_random random = ifm_random_start(4, 1);
    sample(&watch, &ramp, 8, 0.02, 0.008, 0, &random);
    struct ifm_joules j = integrated(&RING, 1.003, 6.0119);
    assert_null(j.why);
    assert_int_equal(j.start_ns, ns(1.003));
    assert_int_equal(j.end_ns, ns(6.0119));
    assert_near(j.joules, energy_at(&ramp, 6.0119) - energy_at(&ramp, 1.003), 1e-3);
    sample(&watch, &ramp, 8, 0.02, 0, 0, &random);
    j = integrated(&RING, 1.0, 6.0); /* readings on both ends */
    assert_int_equal(j.readings, 251);
    assert_near(j.joules, energy_at(&ramp, 6) - energy_at(&ramp, 1), 1e-3);
}

static void what_no_reading_bounds_is_no_integral(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(4, 2);
    sample(&watch, &STEADY, 5.001, 0.02, 0, 0, &random); /* the last one at 5.0 */
    assert_null(integrated(&RING, 1, 5.015).why);
    assert_near(integrated(&RING, 1, 5.015).joules, 500 * 4.015, 1e-6);
    assert_non_null(strstr(integrated(&RING, 1, 5.03).why, " end"));
    for (size_t i = 0; i < watch.readings.n; i++)
        watch.list[i].t_ns += ns(1);
    assert_null(integrated(&RING, 0.99, 4).why);
    assert_non_null(strstr(integrated(&RING, 0.97, 4).why, " end"));
    assert_non_null(strstr(integrated(&RING, 2, 2.15).why, "10 of"));
    assert_non_null(strstr(integrated(&RING, 8, 9).why, "no reading"));
}

static void a_gap_is_no_integral(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(4, 3);
    for (size_t lost = 1; lost < 6; lost++) {
        sample(&watch, &STEADY, 5, 0.02, 0, 0, &random);
        memmove(&watch.list[100], &watch.list[100 + lost], (watch.readings.n - 100 - lost) * sizeof watch.list[0]);
        watch.readings.n -= lost;
        struct ifm_joules j = integrated(&RING, 1, 4);
        assert_near(j.longest_gap_s, 0.02 * (double)(lost + 1), 1e-9);
        assert_int_equal(j.why == NULL, lost < 3);
        assert_true((j.joules > 0) == (lost < 3));
    }
    /* also where it lies over an end of the window */
    sample(&watch, &STEADY, 5, 0.02, 0, 0, &random);
    memmove(&watch.list[45], &watch.list[60], (watch.readings.n - 60) * sizeof watch.list[0]);
    watch.readings.n -= 15;
    assert_non_null(integrated(&RING, 1, 4).why);
    sample(&watch, &STEADY, 5, 0.02, 0, 0, &random);
    memmove(&watch.list[195], &watch.list[210], (watch.readings.n - 210) * sizeof watch.list[0]);
    watch.readings.n -= 15;
    assert_non_null(integrated(&RING, 1, 4).why);
}

static void readings_at_one_time_are_allowed(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(4, 4);
    sample(&watch, &STEADY, 5, 0.02, 0, 0, &random);
    watch.list[100].t_ns = watch.list[99].t_ns;
    watch.list[50].t_ns = watch.list[49].t_ns;
    struct ifm_joules j = integrated(&RING, 1e-9 * (double)watch.list[49].t_ns, 1e-9 * (double)watch.list[99].t_ns);
    assert_null(j.why);
    assert_near(j.watts, 500, 1e-6);
}

static void the_bar_of_a_noisy_integral_is_honest(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(5, 1);
    size_t inside = 0;
    double bars = 0, errors = 0;
    for (int i = 0; i < 1000; i++) {
        sample(&watch, &STEADY, 6, 0.02, 0.006, 8, &random);
        struct ifm_joules j = integrated(&RING, 0.5, 5.5);
        assert_null(j.why);
        inside += fabs(j.joules - 2500) <= j.random_j;
        bars += j.random_j;
        errors += fabs(j.joules - 2500);
    }
    assert_true(inside >= 950);
    assert_true(errors / bars > 0.25);
}

/* Samples of 20 ms lock to a load of 20 ms: the bar knows, and no longer window helps. */
static void a_locked_load_is_within_the_bar(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(5, 2);
    const struct load load = {128, 0, 582, 0.04, 0.5};
    sample(&watch, &load, 30, 0.02, 0.0, 0, &random);
    struct ifm_joules_sensor seen = RING;
    seen.spread_w = 291;
    struct ifm_joules brief = integrated(&seen, 1, 4), lasting = integrated(&seen, 1, 25);
    assert_true(brief.coverage_j / brief.seconds >= 0.25 * 290);
    assert_true(lasting.coverage_j / lasting.seconds >= 0.25 * 290);
    /* what another sensor saw of the load counts where the ring itself sees nothing of it */
    sample(&watch, &STEADY, 6, 0.02, 0.0, 0, &random);
    assert_near(integrated(&RING, 1, 5).coverage_j, 0, 1e-9);
    assert_near(integrated(&seen, 1, 5).coverage_j, 0.25 * 291 * 4, 1e-6);
}

static void the_spread_is_that_of_the_window(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(6, 1);
    const struct load load = {100, 0, 400, 0.1, 0.5};
    sample(&watch, &load, 6, 0.01, 0, 0, &random);
    assert_near(ifm_joules_spread(&watch.readings, ns(1.001), ns(5.001)), 200, 1);
    assert_true(ifm_joules_spread(&watch.readings, ns(1.001), ns(1.09)) < 0);
    assert_true(ifm_joules_spread(&watch.readings, ns(10), ns(11)) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_power_between_ticks),
        cmocka_unit_test(ticks_on_the_edges_count),
        cmocka_unit_test(a_ramp_is_exact),
        cmocka_unit_test(polls_that_saw_nothing_new_are_no_ticks),
        cmocka_unit_test(the_first_reading_is_no_tick),
        cmocka_unit_test(too_few_ticks_are_no_energy),
        cmocka_unit_test(a_late_refresh_keeps_the_energy),
        cmocka_unit_test(a_counter_that_stood_still_is_no_energy),
        cmocka_unit_test(a_load_that_steps_is_within_its_bar),
        cmocka_unit_test(a_coarse_counter_is_within_its_quantum),
        cmocka_unit_test(the_bar_of_a_steady_load_is_honest),
        cmocka_unit_test(square_waves_lie_within_the_bar),
        cmocka_unit_test(coverage_shrinks_with_the_window),
        cmocka_unit_test(a_counter_of_unknown_period_uses_its_own),
        cmocka_unit_test(the_integral_has_exact_ends),
        cmocka_unit_test(what_no_reading_bounds_is_no_integral),
        cmocka_unit_test(a_gap_is_no_integral),
        cmocka_unit_test(readings_at_one_time_are_allowed),
        cmocka_unit_test(the_bar_of_a_noisy_integral_is_honest),
        cmocka_unit_test(a_locked_load_is_within_the_bar),
        cmocka_unit_test(the_spread_is_that_of_the_window),
    };
    return cmocka_run_group_tests_name("joules", tests, NULL, NULL);
}
