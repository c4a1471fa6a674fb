/* Counters of joules: a million readings over wraps, and steps that cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "facts.h"
#include "power/source.h"
#include <math.h>
#include <string.h>

#define MS INT64_C(1000000)

/* What the kernel shows of a 32-bit register: its units in whole microjoules, rounded down. */
static uint64_t shown(uint64_t ticks, double unit_uj)
{
    return (uint64_t)floor((double)(ticks & UINT32_MAX) * unit_uj);
}

/* A device of 20 to 400 W, read every 10 to 150 ms: the joules of every reading are those of the register, for as many
 * wraps as come. */
static void simulate(double unit_j)
{
    struct ifm_random random = ifm_random_start(5, 0);
    struct ifm_error error = {0};
    struct ifm_power_point point;
    double unit_uj = unit_j * 1e6, last = 0;
    struct ifm_power_counter counter = {
        .range = UINT32_MAX * unit_uj + unit_uj, .unit_j = 1e-6, .most_w = 5000, .refresh_ns = MS, .restless = true};
    uint64_t ticks = UINT32_MAX - 1000, first = ticks, wraps = 0;
    int64_t now = 0;
    for (int i = 0; i < 1000000; i++) {
        size_t n;
        assert_int_equal(ifm_power_count(&counter, shown(ticks, unit_uj), now, now + 3000, &point, &n, &error), IFM_OK);
        assert_int_equal(n, 1);
        assert_true(point.value >= last);
        double truth = (double)(ticks - first) * unit_j;
        if (fabs(point.value - truth) > 3e-6 + 1e-12 * truth)
            fail_msg("reading %d after %llu wraps: %.6f J, in truth %.6f J", i, (unsigned long long)wraps, point.value,
                     truth);
        last = point.value;
        double seconds = 0.01 + 0.14 * ifm_random_uniform(&random), watts = 20 + 380 * ifm_random_uniform(&random);
        uint64_t next = ticks + (uint64_t)(watts * seconds / unit_j);
        wraps += (next >> 32) - (ticks >> 32);
        ticks = next;
        now += (int64_t)(seconds * 1e9);
    }
    assert_true(wraps >= 50);
}

static void a_million_readings_lose_nothing(void **state)
{
    (void)state;
    simulate(1.0 / (1 << 14));
    simulate(1.0 / (1 << 16));
}

static struct ifm_power_counter narrow(void)
{
    return (struct ifm_power_counter){
        .range = 1000000, .unit_j = 1e-3, .most_w = 2000, .refresh_ns = 100 * MS, .restless = true};
}

static enum ifm_status step(struct ifm_power_counter *counter, uint64_t raw, int64_t at_ms,
                            struct ifm_power_point *point, size_t *n, struct ifm_error *error)
{
    memset(error, 0, sizeof *error);
    *point = (struct ifm_power_point){.value = NAN};
    return ifm_power_count(counter, raw, at_ms * MS, at_ms * MS + 2 * MS, point, n, error);
}

static void a_step_back_is_refused_and_the_counter_goes_on(void **state)
{
    (void)state;
    struct ifm_power_counter counter = narrow();
    struct ifm_power_point point;
    struct ifm_error error;
    size_t n;
    assert_int_equal(step(&counter, 500000, 0, &point, &n, &error), IFM_OK);
    assert_true(point.value == 0);
    assert_int_equal(step(&counter, 530000, 100, &point, &n, &error), IFM_OK);
    assert_true(fabs(point.value - 30) < 1e-9);
    assert_int_equal(step(&counter, 520000, 200, &point, &n, &error), IFM_INVALID);
    assert_facts(error.message, "went back");
    assert_int_equal(n, 0);
    assert_int_equal(step(&counter, 550000, 300, &point, &n, &error), IFM_OK);
    assert_true(fabs(point.value - 60) < 1e-9); /* 30 and 30: the lost step is not made up */
    assert_int_equal(step(&counter, 999990, 700, &point, &n, &error), IFM_OK);
    assert_int_equal(step(&counter, 10, 800, &point, &n, &error), IFM_OK); /* a wrap */
    assert_true(fabs(point.value - (60 + 449.99 + 0.02)) < 1e-6);
    counter.range = 0; /* a counter that never wraps */
    assert_int_equal(step(&counter, 5, 900, &point, &n, &error), IFM_INVALID);
    assert_non_null(strstr(error.message, "went back:"));
}

static void a_jump_is_refused(void **state)
{
    (void)state;
    struct ifm_power_counter counter = narrow();
    struct ifm_power_point point;
    struct ifm_error error;
    size_t n;
    assert_int_equal(step(&counter, 0, 0, &point, &n, &error), IFM_OK);
    assert_int_equal(step(&counter, 900000, 100, &point, &n, &error), IFM_INVALID); /* 9 kW */
    assert_non_null(strstr(error.message, "jumped"));
    assert_int_equal(step(&counter, 930000, 200, &point, &n, &error), IFM_OK);
    assert_true(fabs(point.value - 30) < 1e-9);
    assert_int_equal(step(&counter, 940000, 200 + 501, &point, &n, &error), IFM_INVALID); /* 1000 J at 2 kW: 500 ms */
    assert_non_null(strstr(error.message, "wrapped unseen"));
}

static void standing_still_is_told_once(void **state)
{
    (void)state;
    struct ifm_power_counter counter = narrow();
    struct ifm_power_point point;
    struct ifm_error error;
    size_t n, told = 0;
    assert_int_equal(step(&counter, 7, 0, &point, &n, &error), IFM_OK);
    for (int64_t t = 100; t <= 5000; t += 100) {
        enum ifm_status status = step(&counter, 7, t, &point, &n, &error);
        assert_int_equal(n, 0);
        told += status == IFM_INVALID;
        assert_true(status == IFM_OK || strstr(error.message, "stood still") != NULL);
        assert_true(t < 1990 ? told == 0 : told == 1);
    }
    counter.restless = false;
    counter.told = false;
    assert_int_equal(step(&counter, 7, 6000, &point, &n, &error), IFM_OK);
}

static void a_tick_lies_between_the_reading_that_missed_it_and_the_one_that_saw_it(void **state)
{
    (void)state;
    struct ifm_power_counter counter = narrow();
    struct ifm_power_point point;
    struct ifm_error error;
    size_t n;
    assert_int_equal(step(&counter, 100, 1000, &point, &n, &error), IFM_OK);
    assert_true(point.t_ns - point.half_ns <= 850 * MS && point.t_ns + point.half_ns >= 1002 * MS);
    assert_int_equal(step(&counter, 100, 1090, &point, &n, &error), IFM_OK);
    assert_int_equal(step(&counter, 3000, 1094, &point, &n, &error), IFM_OK);
    assert_int_equal(point.t_ns - point.half_ns, 1090 * MS);
    assert_int_equal(point.t_ns + point.half_ns, 1096 * MS);
    assert_int_equal(step(&counter, 9000, 1494, &point, &n, &error), IFM_OK); /* ticks were missed: the latest one */
    assert_int_equal(point.t_ns - point.half_ns, 1344 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_readings_lose_nothing),
        cmocka_unit_test(a_step_back_is_refused_and_the_counter_goes_on),
        cmocka_unit_test(a_jump_is_refused),
        cmocka_unit_test(standing_still_is_told_once),
        cmocka_unit_test(a_tick_lies_between_the_reading_that_missed_it_and_the_one_that_saw_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
