/* Rank sum, sign flips, adjusted p-values, tails: vectors of SciPy and R, error rates, degenerate input. */
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

static void tails(void **state)
{
    (void)state;
    json_t *vectors = load("tests/vectors/effect_scipy.json");
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(vectors, "chi2_tail"), i, row)
    {
        double v[3], p;
        assert_int_equal(numbers(row, v, 3), 3);
        assert_int_equal(ifm_stats_chi2_tail(v[0], v[1], &p), IFM_STAT_OK);
        close_to(p, v[2], v[2] < 1e-12 ? 1e-9 : 1e-11);
    }
    assert_true(i >= 20);
    json_decref(vectors);
    double p;
    assert_int_equal(ifm_stats_chi2_tail(-1, 2, &p), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_chi2_tail(1, 0, &p), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_chi2_tail(NAN, 2, &p), IFM_STAT_DOMAIN);
    close_to(ifm_stats_normal_p(-1.959963984540054), .05, 1e-13);
}

static void sleep_data(void **state)
{
    (void)state;
    static const double a[10] = {.7, -1.6, -.2, -1.2, -.1, 3.4, 3.7, .8, 0, 2};
    static const double b[10] = {1.9, .8, 1.1, .1, -.1, 4.4, 5.5, 1.6, 4.6, 3.4};
    double scratch[40];
    struct ifm_rank_test test;
    assert_int_equal(ifm_stats_mann_whitney(b, 10, a, 10, true, scratch, &test), IFM_STAT_OK);
    assert_true(test.u == 74.5 && test.ties && !test.exact);
    close_to(test.p, .0693275754, 1e-9);
    assert_int_equal(ifm_stats_mann_whitney(b, 10, a, 10, false, scratch, &test), IFM_STAT_OK);
    close_to(test.p, .0637222502, 1e-9);
}

static void rank_sums(const char *path, const char *name)
{
    json_t *vectors = load(path);
    size_t i;
    const json_t *pair;
    json_array_foreach(json_object_get(vectors, name), i, pair)
    {
        double a[MOST], b[MOST], scratch[4 * MOST];
        size_t n = numbers(json_object_get(pair, "a"), a, MOST), m = numbers(json_object_get(pair, "b"), b, MOST);
        const json_t *nested = json_object_get(pair, "rank_sum"), *wanted = nested != NULL ? nested : pair;
        struct ifm_rank_test test;
        assert_int_equal(ifm_stats_mann_whitney(a, n, b, m, false, scratch, &test), IFM_STAT_OK);
        assert_true(test.u == member(wanted, "u"));
        close_to(test.p, member(wanted, "p"), 1e-11);
        if (nested == NULL) {
            assert_true(test.exact);
            continue;
        }
        assert_int_equal(test.exact, json_is_true(json_object_get(wanted, "exact")));
        assert_int_equal(test.ties, json_is_true(json_object_get(wanted, "ties")));
        assert_int_equal(ifm_stats_mann_whitney(a, n, b, m, true, scratch, &test), IFM_STAT_OK);
        close_to(test.p, member(wanted, "p_continuity"), 1e-11);
    }
    assert_true(i >= 5);
    json_decref(vectors);
}

static void rank_sums_of_scipy_and_r(void **state)
{
    (void)state;
    rank_sums("tests/vectors/effect_scipy.json", "pairs");
    rank_sums("tests/vectors/effect_r.json", "rank_sum");
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
        struct ifm_flip_test test;
        assert_int_equal(ifm_stats_sign_flip(d, k, 1, 0, scratch, &test), IFM_STAT_OK);
        assert_true(test.exact && test.rounds == (size_t)1 << k);
        assert_true(test.p == member(row, "p"));
        assert_true(test.p >= test.smallest);
    }
    assert_true(i >= 6);
    json_decref(vectors);
    /* five blocks of one sign can never reach 0.05, six can */
    static const double same[] = {3, 1, 2, 5, 4, 9};
    int64_t scratch[6];
    struct ifm_flip_test test;
    assert_int_equal(ifm_stats_sign_flip(same, 5, 1, 0, scratch, &test), IFM_STAT_OK);
    assert_true(test.p == 0.0625 && test.smallest == 0.0625);
    assert_int_equal(ifm_stats_sign_flip(same, 6, 1, 0, scratch, &test), IFM_STAT_OK);
    assert_true(test.p == 0.03125);
    /* .1 + .2 - .3 is 0 but for rounding: every pattern is as far */
    static const double rounding[] = {.1, .2, -.3};
    assert_int_equal(ifm_stats_sign_flip(rounding, 3, 1, 0, scratch, &test), IFM_STAT_OK);
    assert_true(test.p == 1);
}

static void random_flips_repeat(void **state)
{
    (void)state;
    double d[40];
    int64_t scratch[40];
    struct ifm_random random = ifm_random_start(4, 4);
    struct ifm_flip_test one, again, other;
    for (int i = 0; i < 40; i++)
        d[i] = 0.25 + ifm_random_normal(&random);
    assert_int_equal(ifm_stats_sign_flip(d, 40, 9999, 1, scratch, &one), IFM_STAT_OK);
    assert_int_equal(ifm_stats_sign_flip(d, 40, 9999, 1, scratch, &again), IFM_STAT_OK);
    assert_int_equal(ifm_stats_sign_flip(d, 40, 9999, 2, scratch, &other), IFM_STAT_OK);
    assert_true(!one.exact && one.p == again.p && one.p != other.p && fabs(one.p - other.p) < 0.02);
    assert_true(one.smallest == 1e-4 && one.rounds == 9999);
    struct ifm_moments m; /* the same question by t */
    assert_int_equal(ifm_stats_moments(d, 40, &m), IFM_STAT_OK);
    double cdf;
    assert_int_equal(ifm_stats_t_cdf(-fabs(m.mean) / m.sd * sqrt(40), 39, &cdf), IFM_STAT_OK);
    assert_true(fabs(one.p - 2 * cdf) < 0.02);
    for (int i = 0; i < 40; i++)
        d[i] = 1;
    assert_int_equal(ifm_stats_sign_flip(d, 40, 9999, 1, scratch, &one), IFM_STAT_OK);
    assert_true(one.p == one.smallest); /* never 0 */
}

/* No difference: at 5 % at most 125 of 2,000 are told, and not none. */
static void no_difference_is_rarely_told(void **state)
{
    (void)state;
    int by_flip = 0, by_rank = 0, by_t = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        struct ifm_random random = ifm_random_start(77, run);
        double d[12], b[12], scratch[48], cdf;
        int64_t whole[12];
        for (int i = 0; i < 12; i++) {
            d[i] = ifm_random_normal(&random);
            b[i] = ifm_random_normal(&random);
        }
        struct ifm_flip_test flip;
        struct ifm_rank_test rank;
        struct ifm_moments m;
        assert_int_equal(ifm_stats_sign_flip(d, 12, 1, 0, whole, &flip), IFM_STAT_OK);
        assert_int_equal(ifm_stats_mann_whitney(d, 12, b, 12, false, scratch, &rank), IFM_STAT_OK);
        assert_int_equal(ifm_stats_moments(d, 12, &m), IFM_STAT_OK);
        assert_int_equal(ifm_stats_t_cdf(-fabs(m.mean) / m.sd * sqrt(12), 11, &cdf), IFM_STAT_OK);
        by_flip += flip.p <= 0.05;
        by_rank += rank.p <= 0.05;
        by_t += 2 * cdf <= 0.05;
    }
    if (by_flip > 125 || by_rank > 125 || by_t > 125 || by_flip < 60 || by_rank < 60 || by_t < 60)
        fail_msg("flips %d, ranks %d, t %d of %d", by_flip, by_rank, by_t, RUNS);
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
    static const double same[] = {2, 2, 2}, odd[] = {1, NAN, 2}, some[] = {1, 3, 2}, one[] = {5}, zeros[] = {0, 0},
                        bad[] = {0.5, 1.5, 0}, nan[] = {0.5, NAN, 0};
    double scratch[12];
    int64_t whole[20];
    size_t order[3];
    struct ifm_rank_test rank;
    struct ifm_flip_test flip;
    assert_int_equal(ifm_stats_mann_whitney(some, 0, some, 3, false, scratch, &rank), IFM_STAT_EMPTY);
    assert_int_equal(ifm_stats_mann_whitney(some, 3, odd, 3, false, scratch, &rank), IFM_STAT_NOT_FINITE);
    assert_int_equal(ifm_stats_mann_whitney(same, 3, same, 3, false, scratch, &rank), IFM_STAT_CONSTANT);
    assert_int_equal(ifm_stats_mann_whitney(one, 1, some, 3, false, scratch, &rank), IFM_STAT_OK);
    assert_true(rank.u == 3 && rank.p == 0.5);
    assert_int_equal(ifm_stats_sign_flip(some, 0, 1, 0, whole, &flip), IFM_STAT_EMPTY);
    assert_int_equal(ifm_stats_sign_flip(zeros, 2, 1, 0, whole, &flip), IFM_STAT_CONSTANT);
    assert_int_equal(ifm_stats_sign_flip(odd, 3, 1, 0, whole, &flip), IFM_STAT_NOT_FINITE);
    assert_int_equal(ifm_stats_sign_flip(one, 1, 1, 0, whole, &flip), IFM_STAT_OK);
    assert_true(flip.p == 1 && flip.smallest == 1);
    double many[17];
    for (int i = 0; i < 17; i++)
        many[i] = i + 1e300; /* no overflow */
    assert_int_equal(ifm_stats_sign_flip(many, 17, 0, 0, whole, &flip), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_sign_flip(many, 17, 99, 0, whole, &flip), IFM_STAT_OK);
    assert_true(flip.p <= 0.03);
    assert_int_equal(ifm_stats_holm(some, 0, order, scratch), IFM_STAT_EMPTY);
    assert_int_equal(ifm_stats_holm(bad, 3, order, scratch), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_benjamini_hochberg(nan, 3, order, scratch), IFM_STAT_DOMAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails),
        cmocka_unit_test(sleep_data),
        cmocka_unit_test(rank_sums_of_scipy_and_r),
        cmocka_unit_test(flips_of_blocks),
        cmocka_unit_test(random_flips_repeat),
        cmocka_unit_test(no_difference_is_rarely_told),
        cmocka_unit_test(families_of_r),
        cmocka_unit_test(degenerate_input),
    };
    return cmocka_run_group_tests_name("stats_tests", tests, NULL, NULL);
}
