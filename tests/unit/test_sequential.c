/* Group-sequential looks: published constants, and the promised error rates by simulation with t statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "stats/sequential.h"
#include <math.h>

/* Jennison and Turnbull 2000, table 2.3 (three decimals). */
static void constants_are_those_of_the_table(void **state)
{
    (void)state;
    static const struct {
        double alpha;
        unsigned looks;
        double c;
    } table[] = {{0.05, 1, 1.960}, {0.05, 2, 1.977},  {0.05, 3, 2.004}, {0.05, 4, 2.024},
                 {0.05, 5, 2.040}, {0.05, 10, 2.087}, {0.10, 1, 1.645}, {0.10, 5, 1.751}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double c = 0;
        assert_int_equal(ifm_stats_sequential_constant(table[i].alpha, table[i].looks, &c), IFM_STAT_OK);
        assert_true(fabs(c - table[i].c) < 6e-4);
    }
}

static void out_of_range_is_refused(void **state)
{
    (void)state;
    double out = 7;
    assert_int_equal(ifm_stats_sequential_constant(0.05, 0, &out), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_sequential_constant(0.05, 101, &out), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_sequential_constant(0, 5, &out), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_sequential_constant(NAN, 5, &out), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_sequential_level(1, 5, 10, &out), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_sequential_level(0.95, 0, 10, &out), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_sequential_level(0.95, 5, 0, &out), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_sequential_constant(0.51, 1, &out), IFM_STAT_DOMAIN);
    assert_true(out == 7);
    assert_int_equal(ifm_stats_sequential_constant(0.5, 1, &out), IFM_STAT_OK);
    assert_true(fabs(out - 0.6744897501960817) < 1e-12); /* the upper quartile of a normal */
    assert_int_equal(ifm_stats_sequential_constant(0.05, 100, &out), IFM_STAT_OK);
}

static void levels_widen_towards_the_start(void **state)
{
    (void)state;
    double level, before = 1;
    for (size_t n = 1; n <= 100; n++) {
        assert_int_equal(ifm_stats_sequential_level(0.95, n, 100, &level), IFM_STAT_OK);
        assert_true(level < 1 && level <= before);
        before = level;
    }
    assert_true(fabs(level - 0.958657) < 1e-5); /* 2 Phi(2.0401) - 1 */
    assert_int_equal(ifm_stats_sequential_level(0.95, 130, 100, &level), IFM_STAT_OK);
    assert_true(level == before);
    assert_int_equal(ifm_stats_sequential_look(100, 1), 20);
    assert_int_equal(ifm_stats_sequential_look(33, 1), 7);
    assert_int_equal(ifm_stats_sequential_look(33, 5), 33);
}

/* Intervals at the looks of `runs` runs without an effect; how many exclude zero at the look at which they stop, or at
 * the block `cut` (between looks) at which something else ended the run. */
static unsigned flagged(unsigned runs, size_t maximum, size_t cut, uint32_t stream)
{
    struct ifm_random random = ifm_random_start(11, stream);
    double level_at[1001];
    bool look_at[1001] = {false};
    unsigned found = 0;
    for (size_t n = 1; n <= maximum; n++)
        assert_int_equal(ifm_stats_sequential_level(0.95, n, maximum, &level_at[n]), IFM_STAT_OK);
    for (unsigned k = 1; k <= IFM_SEQUENTIAL_LOOKS; k++)
        look_at[ifm_stats_sequential_look(maximum, k)] = true;
    look_at[cut] = true;
    for (unsigned run = 0; run < runs; run++) {
        double mean = 0, m2 = 0;
        for (size_t n = 1; n <= cut; n++) {
            double x = ifm_random_normal(&random), delta = x - mean;
            mean += delta / (double)n;
            m2 += delta * (x - mean);
            struct ifm_interval interval;
            if (!look_at[n] || n < 2)
                continue;
            double sd = sqrt(m2 / (double)(n - 1));
            assert_int_equal(ifm_stats_t_interval(mean, sd, (double)n, level_at[n], &interval), IFM_STAT_OK);
            if (interval.low > 0 || interval.high < 0) {
                found++;
                break;
            }
        }
    }
    return found;
}

/* The bar is 125 of 2,000; what is promised is 5 %, here within three standard deviations at 20,000 runs. */
static void null_runs_are_flagged_at_most_at_the_stated_rate(void **state)
{
    (void)state;
    static const size_t maxima[] = {30, 50, 100, 1000};
    for (size_t i = 0; i < 4; i++) {
        unsigned runs = maxima[i] == 1000 ? 4000 : 20000, found = flagged(runs, maxima[i], maxima[i], (uint32_t)i);
        print_message("maximum %zu: %u of %u flagged\n", maxima[i], found, runs);
        assert_in_range(found, (unsigned)(0.04 * runs), (unsigned)(0.0546 * runs));
    }
    assert_in_range(flagged(2000, 100, 100, 20), 60, 125);
    for (size_t cut = 30; cut < 100; cut += 23) { /* cut off between looks: below the promise */
        unsigned found = flagged(20000, 100, cut, 100 + (uint32_t)cut);
        print_message("cut off at %zu of 100: %u of 20000 flagged\n", cut, found);
        assert_in_range(found, 0, 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_those_of_the_table),
        cmocka_unit_test(out_of_range_is_refused),
        cmocka_unit_test(levels_widen_towards_the_start),
        cmocka_unit_test(null_runs_are_flagged_at_most_at_the_stated_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
