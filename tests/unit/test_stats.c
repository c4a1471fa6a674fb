/* Distributions, moments and quantiles against published and independently computed values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "stats/stats.h"
#include <math.h>
#include <stdlib.h>

static void close_to(double got, double wanted, double relative)
{
    if (!(fabs(got - wanted) <= relative * fmax(fabs(wanted), 1e-300)))
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

/* Student 1908, the `sleep` data of R. */
static const double sleep_a[10] = {.7, -1.6, -.2, -1.2, -.1, 3.4, 3.7, .8, 0, 2};
static const double sleep_b[10] = {1.9, .8, 1.1, .1, -.1, 4.4, 5.5, 1.6, 4.6, 3.4};

static void normal_quantiles(void **state)
{
    (void)state;
    static const struct {
        double p, z;
    } golden[] = {{.5, 0},
                  {.975, 1.959963984540054},
                  {.995, 2.5758293035489004},
                  {.8, 0.8416212335729143},
                  {.9, 1.2815515655446004},
                  {1e-10, -6.361340902404056},
                  {1e-300, -37.0471}};
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        double z;
        assert_int_equal(ifm_stats_normal_quantile(golden[i].p, &z), IFM_STAT_OK);
        close_to(z, golden[i].z, golden[i].p < 1e-100 ? 1e-5 : 1e-14);
        if (golden[i].p > 1e-100)
            close_to(0.5 * erfc(-z / sqrt(2)), golden[i].p, 1e-13);
    }
    double z;
    assert_int_equal(ifm_stats_normal_quantile(0, &z), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_normal_quantile(1, &z), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_normal_quantile(NAN, &z), IFM_STAT_DOMAIN);
}

/* Golden: the closed form for whole degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4), solved in 40 digits. */
/* P(T <= t): the oracle of the quantile, by another way. */
static double t_cdf(double t, double df)
{
    double tail;
    assert_int_equal(ifm_stats_beta(df / (df + t * t), 0.5 * df, 0.5, &tail), IFM_STAT_OK);
    return t > 0 ? 1 - 0.5 * tail : 0.5 * tail;
}

static void t_quantiles(void **state)
{
    (void)state;
    static const struct {
        double p, df, t;
    } golden[] = {{.975, 1, 12.706204736174705},  {.975, 2, 4.302652729749464}, {.975, 5, 2.5705818356363155},
                  {.975, 9, 2.2621571627982053},  {.95, 9, 1.8331129326562372}, {.975, 30, 2.042272456301238},
                  {.995, 10, 3.1692726726169513}, {.8, 5, 0.9195437802408261},  {.975, 1e6, 1.9599663}};
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        double t, back;
        assert_int_equal(ifm_stats_t_quantile(golden[i].p, golden[i].df, &t), IFM_STAT_OK);
        close_to(t, golden[i].t, golden[i].df > 1e5 ? 1e-6 : 1e-13);
        close_to(t_cdf(t, golden[i].df), golden[i].p, 1e-12);
        assert_int_equal(ifm_stats_t_quantile(1 - golden[i].p, golden[i].df, &back), IFM_STAT_OK);
        close_to(back, -t, 1e-9);
    }
    for (double df = 1; df < 2000; df *= 1.7) { /* closed form at 1 and 2; elsewhere the inverse must invert */
        for (double p = 1e-6; p < .5; p *= 3) {
            double t;
            assert_int_equal(ifm_stats_t_quantile(p, df, &t), IFM_STAT_OK);
            close_to(t_cdf(t, df), p, 1e-11);
            if (df == 1)
                close_to(t, tan(M_PI * (p - .5)), 1e-9);
        }
    }
    double t;
    assert_int_equal(ifm_stats_t_quantile(.975, 0, &t), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_t_quantile(.975, NAN, &t), IFM_STAT_DOMAIN);
}

/* The incomplete beta with whole arguments is a binomial sum. */
static void beta_and_binomial(void **state)
{
    (void)state;
    double sum = 0, pmf = pow(.7, 20), cdf;
    for (int k = 0; k < 20; k++) {
        sum += pmf;
        pmf *= (20.0 - k) / (k + 1) * .3 / .7;
        assert_int_equal(ifm_stats_binomial_cdf(k, 20, .3, &cdf), IFM_STAT_OK);
        close_to(cdf, sum, 1e-12);
    }
    assert_int_equal(ifm_stats_binomial_cdf(-1, 20, .3, &cdf), IFM_STAT_OK);
    assert_true(cdf == 0.0);
    assert_int_equal(ifm_stats_binomial_cdf(20, 20, .3, &cdf), IFM_STAT_OK);
    assert_true(cdf == 1.0);
    assert_int_equal(ifm_stats_beta(.5, 0, 1, &cdf), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_beta(1.5, 1, 1, &cdf), IFM_STAT_DOMAIN);
}

static void moments_of_sleep(void **state)
{
    (void)state;
    struct ifm_moments a, b;
    assert_int_equal(ifm_stats_moments(sleep_a, 10, &a), IFM_STAT_OK);
    assert_int_equal(ifm_stats_moments(sleep_b, 10, &b), IFM_STAT_OK);
    close_to(a.mean, .75, 1e-15);
    close_to(b.mean, 2.33, 1e-15);
    close_to(a.sd, 1.7890096577591623, 1e-15);
    close_to(b.sd, 2.002248735796829, 1e-15);
}

static void paired_t_of_sleep(void **state)
{
    (void)state;
    double d[10];
    for (int i = 0; i < 10; i++)
        d[i] = sleep_b[i] - sleep_a[i];
    struct ifm_moments m;
    struct ifm_interval interval;
    assert_int_equal(ifm_stats_moments(d, 10, &m), IFM_STAT_OK);
    close_to(m.mean / (m.sd / sqrt(10)), 4.062127683, 1e-9);
    assert_int_equal(ifm_stats_t_interval(m.mean, m.sd, 10, .95, &interval), IFM_STAT_OK);
    close_to(interval.low, .7001142367, 1e-9);
    close_to(interval.high, 2.4598857633, 1e-9);
}

static void quantiles_of_sleep(void **state)
{
    (void)state;
    double a[10], scratch[20], q;
    for (int i = 0; i < 10; i++)
        a[i] = sleep_a[i];
    ifm_stats_sort(a, scratch, 10);
    static const double golden[][2] = {{.25, -.175}, {.5, .35}, {.75, 1.7}, {0, -1.6}, {1, 3.7}};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(ifm_stats_quantile_sorted(a, 10, golden[i][0], &q), IFM_STAT_OK);
        close_to(q, golden[i][1], 1e-14);
    }
    assert_int_equal(ifm_stats_median(sleep_b, 10, scratch, &q), IFM_STAT_OK);
    close_to(q, 1.75, 1e-15);
}

/* The textbook formula gives 0 here; so did Google Benchmark. */
static void large_offsets_keep_their_spread(void **state)
{
    (void)state;
    double x[10];
    for (int i = 0; i < 10; i++)
        x[i] = 1e9 + i;
    struct ifm_moments m;
    assert_int_equal(ifm_stats_moments(x, 10, &m), IFM_STAT_OK);
    close_to(m.sd, 3.0276503540974917, 1e-15);
    static const double cancels[] = {1.0, 1e100, 1.0, -1e100};
    assert_true(ifm_stats_sum(cancels, 4) == 2.0);
}

static void ranks_of_the_tables(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double p;
        size_t low, high;
        double coverage;
    } golden[] = {{6, .5, 1, 6, .9688},    {8, .5, 1, 8, .9922},     {10, .5, 2, 9, .9785},
                  {15, .5, 4, 12, .9648},  {20, .5, 6, 15, .9586},   {30, .5, 10, 21, .9572},
                  {50, .5, 18, 33, .9672}, {100, .5, 40, 61, .9648}, {100, .95, 90, 100, .9826}};
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct ifm_ranks ranks;
        assert_int_equal(ifm_stats_quantile_ranks(golden[i].n, golden[i].p, .95, &ranks, NULL), IFM_STAT_OK);
        assert_int_equal(ranks.low, golden[i].low);
        assert_int_equal(ranks.high, golden[i].high);
        assert_true(fabs(ranks.coverage - golden[i].coverage) < 5e-5);
    }
}

static void tails_say_how_many_they_need(void **state)
{
    (void)state;
    static const struct {
        double p;
        size_t needs;
    } golden[] = {{.5, 6}, {.9, 36}, {.95, 72}, {.99, 368}, {.999, 3688}};
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct ifm_ranks ranks;
        size_t needs = 0;
        assert_int_equal(ifm_stats_quantile_ranks(golden[i].needs - 1, golden[i].p, .95, &ranks, &needs),
                         IFM_STAT_TOO_FEW);
        assert_int_equal(needs, golden[i].needs);
        assert_int_equal(ifm_stats_quantile_ranks(golden[i].needs, golden[i].p, .95, &ranks, &needs), IFM_STAT_OK);
    }
}

/* Fewer independent values widen the interval, and never narrow it. */
static void effective_size_widens(void **state)
{
    (void)state;
    double x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = i;
    struct ifm_interval full, half, tenth;
    assert_int_equal(ifm_stats_quantile_interval(x, 1000, 1000, .5, .95, &full, NULL), IFM_STAT_OK);
    assert_int_equal(ifm_stats_quantile_interval(x, 1000, 500, .5, .95, &half, NULL), IFM_STAT_OK);
    assert_int_equal(ifm_stats_quantile_interval(x, 1000, 100, .5, .95, &tenth, NULL), IFM_STAT_OK);
    assert_true(half.low < full.low && half.high > full.high);
    assert_true(tenth.low < half.low && tenth.high > half.high);
    assert_true(full.low == 468 && full.high == 531); /* R: qbinom(c(.025, .975), 1000, .5) = 469, 531 */
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sorts_like_the_library(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 95, 96, 97, 1000, 20000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t n = sizes[s];
        double *mine = malloc((n + 1) * sizeof *mine), *theirs = malloc((n + 1) * sizeof *theirs);
        double *scratch = malloc((n + 1) * sizeof *scratch);
        struct ifm_random random = ifm_random_start(11, (uint32_t)s);
        for (size_t i = 0; i < n; i++)
            mine[i] = theirs[i] = i % 3 == 0 ? floor(1000 * ifm_random_uniform(&random))
                                             : ifm_random_normal(&random) * pow(10, 20 * ifm_random_uniform(&random));
        ifm_stats_sort(mine, scratch, n);
        qsort(theirs, n, sizeof *theirs, ascending);
        for (size_t i = 0; i < n; i++)
            assert_true(mine[i] == theirs[i]);
        free(mine);
        free(theirs);
        free(scratch);
    }
}

static void counts_outliers(void **state)
{
    (void)state;
    double x[] = {10, 11, 12, 13, 14, 15, 16, 17, 18, 1000}, scratch[20];
    size_t count;
    assert_int_equal(ifm_stats_outliers(x, 10, scratch, &count), IFM_STAT_OK);
    assert_int_equal(count, 1);
    double ties[] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 900}; /* MAD is 0 */
    assert_int_equal(ifm_stats_outliers(ties, 10, scratch, &count), IFM_STAT_OK);
    assert_int_equal(count, 1);
    assert_int_equal(ifm_stats_outliers(ties, 9, scratch, &count), IFM_STAT_OK);
    assert_int_equal(count, 0);
}

static void degenerate_input_is_refused_by_name(void **state)
{
    (void)state;
    double one[] = {3}, equal[] = {3, 3, 3}, bad[] = {1, NAN, 2}, endless[] = {1, INFINITY}, scratch[8], out = -7;
    double zero[] = {-1, 1};
    struct ifm_moments m;
    struct ifm_interval i;
    assert_int_equal(ifm_stats_mean(one, 0, &out), IFM_STAT_EMPTY);
    assert_int_equal(ifm_stats_mean(bad, 3, &out), IFM_STAT_NOT_FINITE);
    assert_int_equal(ifm_stats_mean(endless, 2, &out), IFM_STAT_NOT_FINITE);
    assert_int_equal(ifm_stats_moments(one, 1, &m), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_moments(equal, 3, &m), IFM_STAT_OK);
    assert_true(m.sd == 0.0);
    assert_int_equal(ifm_stats_cv(zero, 2, &out), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_t_interval(1, 0, 10, .95, &i), IFM_STAT_CONSTANT);
    assert_int_equal(ifm_stats_t_interval(1, 1, 1, .95, &i), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_t_interval(NAN, 1, 10, .95, &i), IFM_STAT_NOT_FINITE);
    assert_int_equal(ifm_stats_t_interval(1, 1, 10, 1, &i), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_median(one, 0, scratch, &out), IFM_STAT_EMPTY);
    assert_int_equal(ifm_stats_median(bad, 3, scratch, &out), IFM_STAT_NOT_FINITE);
    assert_true(out == -7);
    for (int s = IFM_STAT_EMPTY; s <= IFM_STAT_DOMAIN; s++)
        assert_true(ifm_stat_reason((enum ifm_stat)s)[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_quantiles),
        cmocka_unit_test(t_quantiles),
        cmocka_unit_test(beta_and_binomial),
        cmocka_unit_test(moments_of_sleep),
        cmocka_unit_test(paired_t_of_sleep),
        cmocka_unit_test(quantiles_of_sleep),
        cmocka_unit_test(large_offsets_keep_their_spread),
        cmocka_unit_test(ranks_of_the_tables),
        cmocka_unit_test(tails_say_how_many_they_need),
        cmocka_unit_test(effective_size_widens),
        cmocka_unit_test(sorts_like_the_library),
        cmocka_unit_test(counts_outliers),
        cmocka_unit_test(degenerate_input_is_refused_by_name),
    };
    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
