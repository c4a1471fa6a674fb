/* Foretelling: so many observations do decide, in four of five runs, and fewer do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "stats/foretell.h"
#include <math.h>

static double t_of(double p, double df)
{
    double t = 0;
    assert_int_equal(ifm_stats_t_quantile(p, df, &t), IFM_STAT_OK);
    return t;
}

/* In how many of `runs` does the interval of `n` normal observations of unit spread lie wholly above -room? */
static double decided(struct ifm_random *random, double room, unsigned n, double level, unsigned runs)
{
    unsigned above = 0;
    double t = t_of(0.5 + 0.5 * level, n - 1.0);
    for (unsigned run = 0; run < runs; run++) {
        double sum = 0, squares = 0;
        for (unsigned i = 0; i < n; i++) {
            double x = ifm_random_normal(random);
            sum += x;
            squares += x * x;
        }
        double mean = sum / n, sd = sqrt((squares - n * mean * mean) / (n - 1));
        above += mean - t * sd / sqrt(n) > -room;
    }
    return above / (double)runs;
}

static void so_many_decide_in_four_of_five_runs(void **state)
{
    (void)state;
    static const struct {
        double room, level;
        uint64_t n;
    } cases[] = {{0.5, 0.95, 12}, {0.3, 0.975, 8}, {1.0, 0.95, 6}, {0.25, 0.95, 40}};
    struct ifm_random random = ifm_random_start(7, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double n = (double)cases[i].n, half = t_of(0.5 + 0.5 * cases[i].level, n - 1) / sqrt(n);
        uint64_t all = ifm_stats_foretell_half(cases[i].room, half, cases[i].n, cases[i].level);
        assert_true(all > cases[i].n);
        double share = decided(&random, cases[i].room, (unsigned)all, cases[i].level, 4000);
        double half_as_many = decided(&random, cases[i].room, (unsigned)all / 2, cases[i].level, 4000);
        if (share < 0.77 || share > 0.85 || half_as_many > 0.65)
            fail_msg("case %zu, %llu observations: %g of the runs are decided, %g by half as many", i,
                     (unsigned long long)all, share, half_as_many);
    }
}

/* Half the distance takes four times as many, but for the quantiles of t. */
static void the_root_of_the_observations(void **state)
{
    (void)state;
    double far = (double)ifm_stats_foretell_half(0.2, 0.5, 60, 0.95),
           near = (double)ifm_stats_foretell_half(0.1, 0.5, 60, 0.95);
    assert_true(fabs(near / far - 4.0) < 0.05);
}

static void no_sensible_number(void **state)
{
    (void)state;
    assert_int_equal(ifm_stats_foretell_half(0, 1, 12, 0.95), 0);    /* on the bound */
    assert_int_equal(ifm_stats_foretell_half(0.01, 1, 12, 0.95), 0); /* a hundred times as many do not reach */
    assert_int_equal(ifm_stats_foretell_half(1, 1, 1, 0.95), 0);
    assert_int_equal(ifm_stats_foretell_half(1, INFINITY, 12, 0.95), 0);
    assert_int_equal(ifm_stats_foretell_half(NAN, 1, 12, 0.95), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_decide_in_four_of_five_runs),
        cmocka_unit_test(the_root_of_the_observations),
        cmocka_unit_test(no_sensible_number),
    };
    return cmocka_run_group_tests_name("foretell", tests, NULL, NULL);
}
