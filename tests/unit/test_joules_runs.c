/* Joules of whole runs of a program against a truth that is known: a power in time, and the sensors that watch it. */
#include "derive/energy/joules.h"

#include "base/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define IDLE_W 80.0
#define PERIOD_S 0.1
enum { MOST = 4000, LEVELS = 64 };

/* Power by stretches: a level from its time on. */
struct load {
    double from[LEVELS], watts[LEVELS];
    size_t n;
};

static void level(struct load *load, double from, double watts)
{
    assert_true(load->n < LEVELS);
    load->from[load->n] = from;
    load->watts[load->n++] = watts;
}

static double energy_at(const struct load *load, double t)
{
    double joules = 0;
    for (size_t i = 0; i < load->n && load->from[i] < t; i++)
        joules += load->watts[i] * ((i + 1 < load->n ? fmin(load->from[i + 1], t) : t) - load->from[i]);
    return joules;
}

static double power_at(const struct load *load, double t)
{
    size_t i = 0;
    while (i + 1 < load->n && load->from[i + 1] <= t)
        i++;
    return load->watts[i];
}

struct watch {
    struct ifm_reading list[MOST];
    struct ifm_readings readings;
};

/* A counter that ticks every 100 ms +-`jitter_s`, each tick told wrongly by up to half_s. */
static void count(struct watch *w, const struct load *load, double until, double jitter_s, double half_s,
                  struct ifm_random *random)
{
    double phase = PERIOD_S * ifm_random_uniform(random);
    w->readings = (struct ifm_readings){true, w->list, 0};
    for (double t = phase; t < until; t += PERIOD_S) {
        double at = t + jitter_s * (2 * ifm_random_uniform(random) - 1);
        double told = at + half_s * (2 * ifm_random_uniform(random) - 1);
        assert_true(w->readings.n < MOST);
        w->list[w->readings.n++] =
            (struct ifm_reading){llround(1e9 * told), llround(1e9 * half_s), llround(1e6 * energy_at(load, at))};
    }
}

static void sample(struct watch *w, const struct load *load, double until, double period)
{
    w->readings = (struct ifm_readings){false, w->list, 0};
    for (double t = 0.5 * period; t < until; t += period)
        w->list[w->readings.n++] = (struct ifm_reading){llround(1e9 * t), 1000000, llround(1e6 * power_at(load, t))};
}

/* Idle, one run from `*start` to `*end` that begins slowly or at once, and idle. */
static void make_run(struct load *load, bool at_once, struct ifm_random *random, double *start, double *end)
{
    double now = *start = 3 + ifm_random_uniform(random);
    load->n = 0;
    level(load, 0, IDLE_W);
    if (!at_once) {
        level(load, now, IDLE_W + 10 * ifm_random_uniform(random));
        level(load, now += 0.5 + ifm_random_uniform(random), 125);
        now += 0.2;
    }
    for (int i = 0; i < 10; i++, now += 0.3 + 0.2 * ifm_random_uniform(random))
        level(load, now, i % 2 == 0 ? 680 : 350);
    if (!at_once) {
        level(load, now, 130);
        now += 0.1 + 0.3 * ifm_random_uniform(random);
    }
    *end = now;
    level(load, now, IDLE_W);
}

static const struct ifm_joules_sensor sensor = {.period_s = PERIOD_S, .quantum = 1e-3, .spread_w = -1, .whole = true};

/* Of 400 runs at least 95 % lie within the bar without what the sensor may miss of a swinging load (these counters miss
 * nothing), and the bar is no wider than the ends are worth. */
static void check_runs(bool at_once, double widest)
{
    struct ifm_random random = ifm_random_start(7, 1);
    static struct watch w;
    struct load load;
    int held = 0;
    enum { RUNS = 400 };
    for (int i = 0; i < RUNS; i++) {
        double start, end;
        struct ifm_joules j;
        make_run(&load, at_once, &random, &start, &end);
        count(&w, &load, end + 3, 0.005, 0.002, &random);
        ifm_joules_whole(&w.readings, &sensor, llround(1e9 * start), llround(1e9 * end), &j);
        if (j.why != NULL)
            fail_msg("%s", j.why);
        double truth = energy_at(&load, end) - energy_at(&load, start);
        held += fabs(j.joules - truth) <= j.edge_j;
        assert_true(j.edge_j <= widest * truth);
        assert_true(fabs(j.seconds - (end - start)) < 1e-6);
    }
    if (held < 0.95 * RUNS)
        fail_msg("%d of %d runs lie within their bars", held, RUNS);
}

static void a_run_that_begins_slowly_has_its_joules(void **state)
{
    (void)state;
    check_runs(false, 0.02);
}

static void a_run_whose_load_begins_and_ends_with_it_has_them_too(void **state)
{
    (void)state;
    check_runs(true, 0.08);
}

/* What the ticks inside alone hold is less than the run by more than the bar: the reason for all this. */
static void ticks_inside_would_not_do(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(8, 1);
    static struct watch w;
    struct load load;
    double start, end;
    struct ifm_joules whole, inside;
    make_run(&load, true, &random, &start, &end);
    count(&w, &load, end + 3, 0, 0.002, &random);
    ifm_joules_whole(&w.readings, &sensor, llround(1e9 * start), llround(1e9 * end), &whole);
    ifm_joules_counter(&w.readings, &sensor, llround(1e9 * start), llround(1e9 * end), &inside);
    assert_null(whole.why);
    assert_null(inside.why);
    assert_true(whole.seconds > inside.seconds + 0.05);
    assert_true(fabs(whole.joules - (energy_at(&load, end) - energy_at(&load, start))) <= whole.edge_j);
}

static const char *why_of(const struct watch *w, double from, double to)
{
    struct ifm_joules j;
    ifm_joules_whole(&w->readings, &sensor, llround(1e9 * from), llround(1e9 * to), &j);
    return j.why == NULL ? "" : j.why;
}

static void an_end_without_ticks_beyond_it_is_a_reason(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(9, 1);
    static struct watch w;
    struct load load = {.n = 0};
    level(&load, 0, 300);
    count(&w, &load, 6, 0, 0.001, &random);
    assert_string_equal(why_of(&w, 2, 4), "");
    assert_non_null(strstr(why_of(&w, 0.05, 4), "do not enclose"));
    assert_non_null(strstr(why_of(&w, 2, 5.95), "do not enclose"));
    assert_non_null(strstr(why_of(&w, 2, 2.5), "fewer than 10"));
}

/* Ticks that are missing at an end: what the counter brought then may be of the run, or of the time beyond. */
static void a_counter_that_stands_still_at_an_end_is_a_reason(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(10, 1);
    static struct watch w;
    struct load load = {.n = 0};
    level(&load, 0, 300);
    count(&w, &load, 6, 0, 0.001, &random);
    size_t n = 0;
    for (size_t i = 0; i < w.readings.n; i++)
        if (w.list[i].t_ns < 1800000000 || w.list[i].t_ns > 2200000000)
            w.list[n++] = w.list[i];
    w.readings.n = n;
    assert_non_null(strstr(why_of(&w, 2, 4), "stood still"));
}

/* Readings of watts: between two of them power may have stepped at any time. */
static void samples_of_a_step_at_the_end_say_what_they_may_miss(void **state)
{
    (void)state;
    static struct watch w;
    struct load load = {.n = 0};
    struct ifm_joules whole, inside;
    struct ifm_joules_sensor slow = {.period_s = 0.2, .spread_w = -1, .whole = true};
    level(&load, 0, IDLE_W);
    level(&load, 2.03, 480);
    level(&load, 6.03, IDLE_W);
    sample(&w, &load, 9, 0.2);
    ifm_joules_integral(&w.readings, &slow, 2030000000, 6030000000, &whole);
    slow.whole = false;
    ifm_joules_integral(&w.readings, &slow, 2030000000, 6030000000, &inside);
    assert_null(whole.why);
    assert_true(fabs(whole.joules - 4 * 480) <= whole.edge_j);
    assert_true(whole.edge_j > inside.edge_j + 20 && whole.edge_j < 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_begins_slowly_has_its_joules),
        cmocka_unit_test(a_run_whose_load_begins_and_ends_with_it_has_them_too),
        cmocka_unit_test(ticks_inside_would_not_do),
        cmocka_unit_test(an_end_without_ticks_beyond_it_is_a_reason),
        cmocka_unit_test(a_counter_that_stands_still_at_an_end_is_a_reason),
        cmocka_unit_test(samples_of_a_step_at_the_end_say_what_they_may_miss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
