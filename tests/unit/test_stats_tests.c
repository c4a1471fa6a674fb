/* Sign flips and adjusted p-values: vectors of SciPy and R, error rates, degenerate input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/random.h"
#include "stats/multiple.h"
#include "stats/test.h"
#include "vectors.h"
#include <math.h>

enum { MOST = 64, RUNS = 2000 };

/* P(T <= t) of a negative t. */
static double t_cdf(double t, double df)
{
    double twice;
    assert_int_equal(ifm_stats_beta(df / (df + t * t), 0.5 * df, 0.5, &twice), IFM_STAT_OK);
    return 0.5 * twice;
}

static void flips_of_blocks(void **state)
{
    (void)state;
    json_t *vectors = load("tests/vectors/effect_scipy.json");
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(vectors, "flips"), i, row)
    {
        double d[MOST];
        int64_t scratch[MOST];
        size_t k = numbers(json_object_get(row, "d"), d, MOST);
        double test;
        assert_int_equal(ifm_stats_sign_flip(d, k, 1, 0, scratch, &test), IFM_STAT_OK);
        assert_true(test == member(row, "p"));
    }
    assert_true(i >= 6);
    json_decref(vectors);
    /* five blocks of one sign can never reach 0.05, six can */
    static const double same[] = {3, 1, 2, 5, 4, 9};
    int64_t scratch[6];
    double test;
    assert_int_equal(ifm_stats_sign_flip(same, 5, 1, 0, scratch, &test), IFM_STAT_OK);
    assert_true(test == 0.0625);
    assert_int_equal(ifm_stats_sign_flip(same, 6, 1, 0, scratch, &test), IFM_STAT_OK);
    assert_true(test == 0.03125);
    /* sums that are equal but for the rounding of their shares count as equal: 16 of 32 are as far as 8 */
    static const double rounding[] = {-1, -2, -7, 1, 1};
    assert_int_equal(ifm_stats_sign_flip(rounding, 5, 1, 0, scratch, &test), IFM_STAT_OK);
    assert_true(test == 0.5);
}

static void random_flips_repeat(void **state)
{
    (void)state;
    double d[40];
    int64_t scratch[40];
    struct ifm_random random = ifm_random_start(4, 4);
    double one, again, other;
    for (int i = 0; i < 40; i++)
        d[i] = 0.25 + ifm_random_normal(&random);
    assert_int_equal(ifm_stats_sign_flip(d, 40, 9999, 1, scratch, &one), IFM_STAT_OK);
    assert_int_equal(ifm_stats_sign_flip(d, 40, 9999, 1, scratch, &again), IFM_STAT_OK);
    assert_int_equal(ifm_stats_sign_flip(d, 40, 9999, 2, scratch, &other), IFM_STAT_OK);
    assert_true(one == again && one != other && fabs(one - other) < 0.02);
    struct ifm_moments m; /* the same question by t */
    assert_int_equal(ifm_stats_moments(d, 40, &m), IFM_STAT_OK);
    assert_true(fabs(one - 2 * t_cdf(-fabs(m.mean) / m.sd * sqrt(40), 39)) < 0.02);
    for (int i = 0; i < 40; i++)
        d[i] = 1;
    assert_int_equal(ifm_stats_sign_flip(d, 40, 9999, 1, scratch, &one), IFM_STAT_OK);
    assert_true(one == 1e-4); /* never 0 */
}

/* No difference: at 5 % at most 125 of 2,000 are told, and not none. */
static void no_difference_is_rarely_told(void **state)
{
    (void)state;
    int by_flip = 0, by_t = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        struct ifm_random random = ifm_random_start(77, run);
        double d[12];
        int64_t whole[12];
        for (int i = 0; i < 12; i++)
            d[i] = ifm_random_normal(&random);
        double flip;
        struct ifm_moments m;
        assert_int_equal(ifm_stats_sign_flip(d, 12, 1, 0, whole, &flip), IFM_STAT_OK);
        assert_int_equal(ifm_stats_moments(d, 12, &m), IFM_STAT_OK);
        by_flip += flip <= 0.05;
        by_t += 2 * t_cdf(-fabs(m.mean) / m.sd * sqrt(12), 11) <= 0.05;
    }
    if (by_flip > 125 || by_t > 125 || by_flip < 60 || by_t < 60)
        fail_msg("flips %d, t %d of %d", by_flip, by_t, RUNS);
}

static void families_of_r(void **state)
{
    (void)state;
    json_t *vectors = load("tests/vectors/effect_r.json");
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(vectors, "adjusted"), i, row)
    {
        double p[MOST], holm[MOST], bh[MOST], got[MOST];
        size_t order[MOST], n = numbers(json_object_get(row, "p"), p, MOST);
        assert_int_equal(numbers(json_object_get(row, "holm"), holm, MOST), n);
        assert_int_equal(numbers(json_object_get(row, "bh"), bh, MOST), n);
        assert_int_equal(ifm_stats_holm(p, n, order, got), IFM_STAT_OK);
        for (size_t k = 0; k < n; k++)
            close_to(got[k], holm[k], 1e-14);
        assert_int_equal(ifm_stats_benjamini_hochberg(p, n, order, got), IFM_STAT_OK);
        for (size_t k = 0; k < n; k++)
            close_to(got[k], bh[k], 1e-14);
        assert_int_equal(ifm_stats_holm(p, n, order, p), IFM_STAT_OK); /* in place */
        for (size_t k = 0; k < n; k++)
            close_to(p[k], holm[k], 1e-14);
    }
    assert_true(i >= 5);
    json_decref(vectors);
}

static void degenerate_input(void **state)
{
    (void)state;
    static const double odd[] = {1, NAN, 2}, some[] = {1, 3, 2}, one[] = {5}, zeros[] = {0, 0}, bad[] = {0.5, 1.5, 0},
                        nan[] = {0.5, NAN, 0};
    double scratch[12];
    size_t order[3];
    int64_t whole[20];
    double flip;
    assert_int_equal(ifm_stats_sign_flip(some, 0, 1, 0, whole, &flip), IFM_STAT_EMPTY);
    assert_int_equal(ifm_stats_sign_flip(zeros, 2, 1, 0, whole, &flip), IFM_STAT_CONSTANT);
    assert_int_equal(ifm_stats_sign_flip(odd, 3, 1, 0, whole, &flip), IFM_STAT_NOT_FINITE);
    assert_int_equal(ifm_stats_sign_flip(one, 1, 1, 0, whole, &flip), IFM_STAT_OK);
    assert_true(flip == 1);
    double many[17];
    for (int i = 0; i < 17; i++)
        many[i] = i + 1e300; /* no overflow */
    assert_int_equal(ifm_stats_sign_flip(many, 17, 0, 0, whole, &flip), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_sign_flip(many, 17, 99, 0, whole, &flip), IFM_STAT_OK);
    assert_true(flip <= 0.03);
    assert_int_equal(ifm_stats_holm(some, 0, order, scratch), IFM_STAT_EMPTY);
    assert_int_equal(ifm_stats_holm(bad, 3, order, scratch), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_benjamini_hochberg(nan, 3, order, scratch), IFM_STAT_DOMAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flips_of_blocks),
        cmocka_unit_test(random_flips_repeat),
        cmocka_unit_test(no_difference_is_rarely_told),
        cmocka_unit_test(families_of_r),
        cmocka_unit_test(degenerate_input),
    };
    return cmocka_run_group_tests_name("stats_tests", tests, NULL, NULL);
}
