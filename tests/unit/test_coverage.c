/* Coverage of a sampled power against sensors that are simulated: one sample every 20 ms, the mean of 14.5 ms; every
 * fifth may weigh more than the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "derive/coverage.h"
#include <math.h>

#define LOW 127.0
#define HIGH 660.0

/* Mean power as the sensor sees it: `edges` are the times at which the load goes on (even) and off (odd), from 0 on. */
struct load {
    double edges[4096];
    int n;
};

static uint64_t random_state;
static double uniform(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-53;
}

/* Bursts of half a period, each `pause` longer apart at most than the one before. */
static void make(struct load *load, double period, double pause, double seconds)
{
    double t = -period * uniform();
    for (load->n = 0; t < seconds + 1.0 && load->n + 2 <= 4096; load->n += 2) {
        load->edges[load->n] = t;
        load->edges[load->n + 1] = t + 0.5 * period;
        t += period + pause * uniform();
    }
}

/* Time within [a, b] that the load is on. */
static double on(const struct load *load, double a, double b)
{
    double sum = 0.0;
    for (int i = 0; i < load->n; i += 2)
        sum += fmax(0.0, fmin(b, load->edges[i + 1]) - fmax(a, load->edges[i]));
    return sum;
}

static double uneven; /* by which every fifth sample weighs more */

static double sampled_w(const struct load *load, double seconds, double *spread)
{
    double sum = 0.0, plain = 0.0, squares = 0.0, phase = 0.02 * uniform();
    int n = 5 * (int)(seconds / 0.1);
    for (int i = 0; i < n; i++) {
        double at = phase + 0.02 * i, watts = LOW + (HIGH - LOW) * on(load, at, at + 0.0145) / 0.0145;
        sum += watts * (i % 5 == 0 ? 1.0 + uneven : 1.0 - 0.25 * uneven);
        plain += watts;
        squares += watts * watts;
    }
    *spread = sqrt(fmax(0.0, squares / n - plain / n * (plain / n)));
    return sum / n;
}

/* Share of 200 windows whose error lies within the bar, and the widest bar, relative to the mean. */
static double honest(double period, double pause, double seconds, double *widest)
{
    static struct load load;
    int within = 0;
    *widest = 0.0;
    for (int i = 0; i < 200; i++) {
        double spread;
        make(&load, period, pause, seconds);
        double seen = sampled_w(&load, seconds, &spread), mean = LOW + (HIGH - LOW) * on(&load, 0, seconds) / seconds;
        struct ifm_coverage coverage = {.seconds = seconds,
                                        .spread_w = spread,
                                        .swing_w = ifm_coverage_swing(seen, LOW, 700.0),
                                        .period_s = period + 0.5 * pause,
                                        .dither_s = pause / sqrt(12.0)};
        double bar = ifm_coverage_w(&coverage);
        within += fabs(seen - mean) <= bar + 0.02 / seconds * (HIGH - LOW); /* a sample at either end is cut */
        *widest = fmax(*widest, bar / mean);
    }
    return within / 200.0;
}

static void a_load_that_locks_is_within_its_bar(void **state)
{
    (void)state;
    static const double periods[] = {0.010, 0.0125, 0.020, 0.025, 0.033, 0.040,
                                     0.050, 0.075,  0.097, 0.100, 0.101, 0.130};
    double widest;
    random_state = 1;
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++)
        assert_true(honest(periods[i], 0.0, 8.0, &widest) >= 0.95);
    /* and the bar is not wide everywhere: 33 ms sweep through all phases */
    assert_true(honest(0.033, 0.0, 8.0, &widest) >= 0.95 && widest < 0.02);
    assert_true(honest(0.020, 0.0, 8.0, &widest) >= 0.95 && widest > 0.1);
}

/* A load that turns through the samples, and hardly through the ticks: it beats. */
static void samples_that_weigh_unevenly_are_within_the_bar(void **state)
{
    (void)state;
    static const double periods[] = {0.0125, 0.020, 0.025, 0.033, 0.050, 0.097, 0.100, 0.101, 0.130};
    static const double seconds[] = {1.2, 3.0, 8.0};
    double widest;
    random_state = 3;
    uneven = 0.32; /* a quarter of it is what is left of a wave of the ticks' own frequency: 0.08 */
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++)
        for (size_t k = 0; k < sizeof seconds / sizeof *seconds; k++)
            assert_true(honest(periods[i], 0.0, seconds[k], &widest) >= 0.95);
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++)
        assert_true(honest(periods[i], 0.2 * periods[i], 5.0, &widest) >= 0.95);
    uneven = 0.0;
}

static void random_pauses_make_the_bar_narrow(void **state)
{
    (void)state;
    static const double periods[] = {0.010, 0.020, 0.050, 0.100};
    double widest, locked;
    random_state = 2;
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        assert_true(honest(periods[i], 0.2 * periods[i], 10.0, &widest) >= 0.95);
        assert_true(honest(periods[i], 0.0, 10.0, &locked) >= 0.95);
        assert_true(widest < 0.12 && (widest < locked || locked < 0.05));
    }
}

/* Windows of whole periods, as runs of a program are: waves that are slower than the samples are no error in them. */
static void whole_periods_of_long_runs_are_no_error(void **state)
{
    (void)state;
    static const double periods[] = {0.3, 0.7, 1.0, 2.0, 4.1};
    static struct load load;
    random_state = 4;
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        double seconds = 4 * periods[i], bar = 0.0, part = 0.0;
        int within = 0;
        for (int n = 0; n < 200; n++) {
            double spread, t = 0.0;
            for (load.n = 0; load.n < 10; load.n += 2, t += periods[i]) {
                load.edges[load.n] = t;
                load.edges[load.n + 1] = t + 0.5 * periods[i];
            }
            double seen = sampled_w(&load, seconds + 1e-9, &spread),
                   mean = LOW + (HIGH - LOW) * on(&load, 0, seconds) / seconds;
            struct ifm_coverage coverage = {.seconds = seconds,
                                            .spread_w = spread,
                                            .swing_w = ifm_coverage_swing(seen, LOW, 700.0),
                                            .period_s = periods[i]};
            part = ifm_coverage_w(&coverage);
            coverage.whole = true;
            bar = ifm_coverage_w(&coverage);
            within += fabs(seen - mean) <= bar + 0.02 / seconds * (HIGH - LOW); /* a sample at either end is cut */
        }
        if (within < 190 || bar >= 0.04 * HIGH || bar >= 0.6 * part)
            fail_msg("%g s: %d of 200 within %g W, in part periods %g W", periods[i], within, bar, part);
    }
}

static void short_steps_have_no_period(void **state)
{
    (void)state;
    struct ifm_coverage steady = {.seconds = 3.0, .spread_w = 20.0, .swing_w = 300.0, .period_s = 0.001};
    assert_true(fabs(ifm_coverage_w(&steady) - 1.0) <= 1e-9);
    steady.seconds = 12.0;
    assert_true(fabs(ifm_coverage_w(&steady) - 0.5) <= 1e-9);
}

static void an_unknown_swing_is_no_small_one(void **state)
{
    (void)state;
    struct ifm_coverage unknown = {.seconds = 10.0, .spread_w = 1.0, .swing_w = NAN, .period_s = 0.020};
    assert_true(isnan(ifm_coverage_w(&unknown)));
    unknown.dither_s = 0.002;
    assert_true(ifm_coverage_w(&unknown) > 0.0);
    assert_true(fabs(ifm_coverage_swing(400.0, 100.0, 700.0) - 300.0) <= 1e-9);
    assert_true(fabs(ifm_coverage_swing(710.0, 100.0, 700.0) - 0.0) <= 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_that_locks_is_within_its_bar),
        cmocka_unit_test(samples_that_weigh_unevenly_are_within_the_bar),
        cmocka_unit_test(random_pauses_make_the_bar_narrow),
        cmocka_unit_test(whole_periods_of_long_runs_are_no_error),
        cmocka_unit_test(short_steps_have_no_period),
        cmocka_unit_test(an_unknown_swing_is_no_small_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
