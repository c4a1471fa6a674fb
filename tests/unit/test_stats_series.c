/* The time axis and knees: simulated series whose truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "stats/stats.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

static void ar1(double *x, size_t n, double rho, uint32_t stream)
{
    struct ifm_random random = ifm_random_start(5, stream);
    double last = ifm_random_normal(&random);
    for (size_t i = 0; i < n; i++) {
        x[i] = last;
        last = rho * last + sqrt(1 - rho * rho) * ifm_random_normal(&random);
    }
}

static void autocorrelation_is_found(void **state)
{
    (void)state;
    static double x[20000];
    static const double rhos[] = {0.0, 0.5, 0.9, -0.4};
    for (uint32_t k = 0; k < 4; k++) {
        double r, effective;
        ar1(x, 20000, rhos[k], k);
        assert_int_equal(ifm_stats_autocorrelation(x, 20000, &r), IFM_STAT_OK);
        assert_true(fabs(r - rhos[k]) < 0.03);
        assert_int_equal(ifm_stats_effective_size(20000, r, &effective), IFM_STAT_OK);
        double wanted = fmin(20000, 20000 * (1 - rhos[k]) / (1 + rhos[k]));
        assert_true(fabs(effective / wanted - 1) < 0.2);
    }
}

/* AR(1) 0.5, n = 100: the plain t interval covers .74, the corrected one about .94 (harness.md, section 4.9). */
static void corrected_interval_covers(void **state)
{
    (void)state;
    int plain = 0, corrected = 0;
    double x[100];
    for (uint32_t run = 0; run < 1000; run++) {
        struct ifm_moments m;
        struct ifm_interval i;
        double r, effective;
        ar1(x, 100, 0.5, 100 + run);
        assert_int_equal(ifm_stats_moments(x, 100, &m), IFM_STAT_OK);
        assert_int_equal(ifm_stats_t_interval(m.mean, m.sd, 100, .95, &i), IFM_STAT_OK);
        plain += i.low <= 0 && i.high >= 0;
        assert_int_equal(ifm_stats_autocorrelation(x, 100, &r), IFM_STAT_OK);
        assert_int_equal(ifm_stats_effective_size(100, r, &effective), IFM_STAT_OK);
        assert_int_equal(ifm_stats_t_interval(m.mean, m.sd, effective, .95, &i), IFM_STAT_OK);
        corrected += i.low <= 0 && i.high >= 0;
    }
    assert_true(plain > 680 && plain < 800);
    assert_true(corrected > 915 && corrected < 970);
}

/* A disturbance that lasts a batch: lag 1 hardly sees it, batch means do. */
static void batches_see_long_memory(void **state)
{
    (void)state;
    enum { BATCHES = 50, LENGTH = 200 };
    static double x[BATCHES * LENGTH];
    double means[BATCHES], effective;
    struct ifm_random random = ifm_random_start(6, 1);
    for (size_t b = 0; b < BATCHES; b++) {
        double shift = 0.5 * ifm_random_normal(&random);
        means[b] = 0;
        for (size_t i = 0; i < LENGTH; i++) {
            x[b * LENGTH + i] = shift + ifm_random_normal(&random);
            means[b] += x[b * LENGTH + i] / LENGTH;
        }
    }
    struct ifm_moments m;
    assert_int_equal(ifm_stats_moments(x, BATCHES * LENGTH, &m), IFM_STAT_OK);
    assert_int_equal(ifm_stats_effective_batches(means, BATCHES, BATCHES * LENGTH, m.sd * m.sd, &effective),
                     IFM_STAT_OK);
    assert_true(effective > 100 && effective < 500); /* 10,000 / (1 + 199 x .2) = 245 */
    /* means as far apart as single values: one value's worth remains; means that never move: all of them */
    assert_int_equal(ifm_stats_effective_batches(means, BATCHES, 1000, 1e-9, &effective), IFM_STAT_OK);
    assert_true(effective == 1);
    assert_int_equal(ifm_stats_effective_batches(means, BATCHES, 1000, 1e9, &effective), IFM_STAT_OK);
    assert_true(effective == 1000);
    assert_int_equal(ifm_stats_effective_batches(means, 5, 1000, 1, &effective), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_effective_batches(means, BATCHES, 1000, NAN, &effective), IFM_STAT_NOT_FINITE);
}

/* Anscombe's first set: slope .5000909, se .1179055 (R). */
static void slope_of_anscombe(void **state)
{
    (void)state;
    static const double x[] = {10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5};
    static const double y[] = {8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68};
    struct ifm_slope line;
    assert_int_equal(ifm_stats_slope(x, y, 11, .95, &line), IFM_STAT_OK);
    assert_true(fabs(line.slope - 0.5000909) < 1e-7 && fabs(line.intercept - 3.0000909) < 1e-7);
    assert_true(fabs(line.se - 0.1179055) < 1e-7);
    assert_true(fabs(line.interval.low - 0.2333701) < 1e-6 && fabs(line.interval.high - 0.7668117) < 1e-6);
    static const double same[] = {1, 1, 1, 1};
    assert_int_equal(ifm_stats_slope(same, y, 4, .95, &line), IFM_STAT_CONSTANT);
    assert_int_equal(ifm_stats_slope(x, y, 2, .95, &line), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_slope(x, y, 0, .95, &line), IFM_STAT_EMPTY);
}

static void change_points(void **state)
{
    (void)state;
    double x[60];
    int false_alarms = 0;
    struct ifm_cusum cusum;
    for (uint32_t run = 0; run < 1000; run++) {
        ar1(x, 60, 0.0, 3000 + run);
        assert_int_equal(ifm_stats_cusum(x, 60, &cusum), IFM_STAT_OK);
        false_alarms += cusum.peak > IFM_CUSUM_1_PERCENT;
    }
    assert_true(false_alarms <= 20);
    for (int i = 40; i < 60; i++)
        x[i] += 3;
    assert_int_equal(ifm_stats_cusum(x, 60, &cusum), IFM_STAT_OK);
    assert_true(cusum.peak > IFM_CUSUM_1_PERCENT);
    assert_true(cusum.at >= 38 && cusum.at <= 42);
    double flat[] = {1, 1, 1, 1, 1, 1};
    assert_int_equal(ifm_stats_cusum(flat, 6, &cusum), IFM_STAT_CONSTANT);
    assert_int_equal(ifm_stats_cusum(x, 5, &cusum), IFM_STAT_TOO_FEW);
}

/* Three caches of 32 KiB, 1 MiB and 32 MiB under random replacement, with 2 % noise. */
static void finds_knees(void **state)
{
    (void)state;
    static const double capacity[] = {32 << 10, 1 << 20, 32 << 20}, level[] = {1.1, 3.7, 14, 95};
    double sizes[80], ns[80];
    size_t n = 0, knees[8], count;
    struct ifm_random random = ifm_random_start(9, 9);
    for (double size = 4096; size < (double)(1 << 29); size *= sqrt(2), n++) {
        double time = 0, left = 1;
        for (int c = 0; c < 3; c++) {
            double hit = size <= capacity[c] * 1.001 ? 1 : pow(capacity[c] / size, 2);
            time += left * hit * level[c];
            left *= 1 - hit;
        }
        sizes[n] = size;
        ns[n] = (time + left * level[3]) * exp(0.02 * ifm_random_normal(&random));
    }
    assert_int_equal(ifm_stats_knees(sizes, ns, n, knees, 8, &count), IFM_STAT_OK);
    assert_int_equal(count, 3);
    for (int c = 0; c < 3; c++) /* within one step of the sweep */
        assert_true(fabs(log2(sizes[knees[c]] / capacity[c])) < 0.51);
    for (size_t i = 0; i < n; i++)
        ns[i] = 2.0;
    assert_int_equal(ifm_stats_knees(sizes, ns, n, knees, 8, &count), IFM_STAT_OK);
    assert_int_equal(count, 0);
    assert_int_equal(ifm_stats_knees(sizes, ns, 3, knees, 8, &count), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_knees(sizes, ns, 0, knees, 8, &count), IFM_STAT_EMPTY);
    ns[2] = 0;
    assert_int_equal(ifm_stats_knees(sizes, ns, n, knees, 8, &count), IFM_STAT_DOMAIN);
    ns[2] = NAN;
    assert_int_equal(ifm_stats_knees(sizes, ns, n, knees, 8, &count), IFM_STAT_NOT_FINITE);
}

/* Coverage of the order-statistic interval of p95 on skewed data: at least nominal where it exists. */
static void tail_intervals_cover(void **state)
{
    (void)state;
    static const size_t ns[] = {72, 200};
    for (int k = 0; k < 2; k++) {
        int covered = 0;
        double x[200], scratch[200];
        double truth = exp(0.75 * 1.6448536269514722);
        for (uint32_t run = 0; run < 1000; run++) {
            struct ifm_random random = ifm_random_start(21, run);
            for (size_t i = 0; i < ns[k]; i++)
                x[i] = exp(0.75 * ifm_random_normal(&random));
            ifm_stats_sort(x, scratch, ns[k]);
            struct ifm_interval i;
            assert_int_equal(ifm_stats_quantile_interval(x, ns[k], ns[k], .95, .95, &i, NULL), IFM_STAT_OK);
            covered += i.low <= truth && truth <= i.high;
        }
        assert_true(covered >= 930);
    }
}

static void a_million_samples_are_quick(void **state)
{
    (void)state;
    enum { N = 1000000 };
    double *x = malloc(N * sizeof *x), *scratch = malloc(2 * N * sizeof *scratch), r;
    struct ifm_moments m;
    size_t outside;
    assert_true(x != NULL && scratch != NULL);
    ar1(x, N, 0.2, 77);
    clock_t start = clock();
    assert_int_equal(ifm_stats_moments(x, N, &m), IFM_STAT_OK);
    assert_int_equal(ifm_stats_autocorrelation(x, N, &r), IFM_STAT_OK);
    ifm_stats_sort(x, scratch, N);
    assert_int_equal(ifm_stats_outliers(x, N, scratch, &outside), IFM_STAT_OK);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 3.0); /* about 0.1 s; sanitizers are slower */
    free(x);
    free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(autocorrelation_is_found),
        cmocka_unit_test(corrected_interval_covers),
        cmocka_unit_test(batches_see_long_memory),
        cmocka_unit_test(slope_of_anscombe),
        cmocka_unit_test(change_points),
        cmocka_unit_test(finds_knees),
        cmocka_unit_test(tail_intervals_cover),
        cmocka_unit_test(a_million_samples_are_quick),
    };
    return cmocka_run_group_tests_name("stats_series", tests, NULL, NULL);
}
