/* Looks on the way: the error of all of them together, by another computation and by simulation with t statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "stats/looks.h"
#include <math.h>

static void looks_grow_by_half(void **state)
{
    (void)state;
    static const size_t from_six[] = {6, 9, 14, 21, 32, 48, 72, 108, 162, 243};
    for (unsigned k = 1; k <= 10; k++) {
        assert_int_equal(ifm_stats_look(6, k), from_six[k - 1]);
        assert_int_equal(ifm_stats_look_of(6, from_six[k - 1]), k);
        assert_int_equal(ifm_stats_look_of(6, from_six[k - 1] + 1), 0);
    }
    assert_int_equal(ifm_stats_look_of(6, 5), 0);
    assert_int_equal(ifm_stats_look_of(6, ifm_stats_look(6, IFM_LOOKS_MOST)), IFM_LOOKS_MOST);
    assert_int_equal(ifm_stats_look_of(6, ifm_stats_look(6, IFM_LOOKS_MOST + 1)), 0);
}

/* The level as a number of standard deviations. */
static double bound_of(double level)
{
    double z;
    assert_int_equal(ifm_stats_normal_quantile(0.5 + 0.5 * level, &z), IFM_STAT_OK);
    return z;
}

/* Without a look on the way it is the level of one look; each look takes a little, and the end is never stricter than
 * a look. The values of the table are those of a recursion over 61 points in Python. */
static void the_end_has_what_the_looks_left(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double z;
    } table[] = {{3, 1.960},  {6, 1.960},   {12, 1.967},  {25, 1.986},
                 {60, 2.015}, {150, 2.050}, {500, 2.101}, {2000, 2.169}};
    double level = 0, last = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_int_equal(ifm_stats_end_level(0.95, 6, table[i].n, &level), IFM_STAT_OK);
        assert_true(fabs(bound_of(level) - table[i].z) < 1e-3);
    }
    for (size_t n = 7; n < 30000; n += n / 3) {
        assert_int_equal(ifm_stats_end_level(0.95, 6, n, &level), IFM_STAT_OK);
        assert_true(level >= last && level <= ifm_stats_look_level(0.95) + 1e-9);
        last = level;
    }
    assert_true(fabs(bound_of(ifm_stats_look_level(0.95)) - 3.0233) < 1e-4);
}

static void out_of_range_is_refused(void **state)
{
    (void)state;
    double out = 7;
    assert_int_equal(ifm_stats_end_level(1, 6, 10, &out), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_end_level(NAN, 6, 10, &out), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_end_level(0.95, 0, 10, &out), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_end_level(0.95, 6, 0, &out), IFM_STAT_DOMAIN);
    assert_true(out == 7);
}

/* Runs whose intervals miss the truth when they end: at the first look at which they miss it, which is the worst rule
 * that there is, or at `cut`. */
static unsigned missed(unsigned runs, size_t cut, uint32_t stream)
{
    struct ifm_random random = ifm_random_start(15, stream);
    double end;
    unsigned found = 0;
    assert_int_equal(ifm_stats_end_level(0.95, 6, cut, &end), IFM_STAT_OK);
    for (unsigned run = 0; run < runs; run++) {
        double mean = 0, m2 = 0;
        for (size_t n = 1; n <= cut; n++) {
            double x = ifm_random_normal(&random), delta = x - mean;
            mean += delta / (double)n;
            m2 += delta * (x - mean);
            struct ifm_interval interval;
            if (n < 6 || (n < cut && ifm_stats_look_of(6, n) == 0))
                continue;
            double level = n == cut ? end : ifm_stats_look_level(0.95);
            assert_int_equal(ifm_stats_t_interval(mean, sqrt(m2 / (double)(n - 1)), (double)n, level, &interval),
                             IFM_STAT_OK);
            if (interval.low > 0 || interval.high < 0) {
                found++;
                break;
            }
        }
    }
    return found;
}

static void the_intervals_hold_over_all_looks(void **state)
{
    (void)state;
    static const size_t cuts[] = {6, 8, 13, 40, 100, 400};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        unsigned runs = cuts[i] > 100 ? 8000 : 20000, found = missed(runs, cuts[i], (uint32_t)i);
        print_message("ended at %zu blocks: %u of %u miss\n", cuts[i], found, runs);
        /* 5 % within three standard deviations */
        assert_in_range(found, (unsigned)(0.043 * runs), (unsigned)(0.05 * runs + 3 * sqrt(0.0475 * runs)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_grow_by_half),
        cmocka_unit_test(the_end_has_what_the_looks_left),
        cmocka_unit_test(out_of_range_is_refused),
        cmocka_unit_test(the_intervals_hold_over_all_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
