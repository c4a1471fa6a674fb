/* Effect sizes: golden values, vectors of SciPy and R, coverage on simulated data, degenerate input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/random.h"
#include "stats/effect.h"
#include "vectors.h"
#include <math.h>

enum { MOST = 64, RUNS = 2000 };

/* Student 1908, the `sleep` data of R. */
static const double sleep_a[10] = {.7, -1.6, -.2, -1.2, -.1, 3.4, 3.7, .8, 0, 2};
static const double sleep_b[10] = {1.9, .8, 1.1, .1, -.1, 4.4, 5.5, 1.6, 4.6, 3.4};

static void sleep_data(void **state)
{
    (void)state;
    struct ifm_effect e;
    double scratch[60];
    assert_int_equal(ifm_stats_cliff(sleep_b, 10, sleep_a, 10, .95, scratch, &e), IFM_STAT_OK);
    close_to(e.value, .49, 1e-14);
    close_to(e.se * e.se, .0489888889, 1e-9);
    close_to(e.interval.low, -.0429417237, 1e-8);
    close_to(e.interval.high, .8058538609, 1e-9);
    assert_int_equal(ifm_stats_hedges(sleep_b, 10, sleep_a, 10, .95, &e), IFM_STAT_OK);
    close_to(e.value, .7969352391, 1e-9);
    close_to(e.interval.low, -.0914077328, 1e-8);
    close_to(e.interval.high, 1.6651717907, 1e-9);
}

/* Turned round, the sign turns round. */
static void both_directions_agree(void **state)
{
    (void)state;
    struct ifm_effect there, back;
    double scratch[60];
    assert_int_equal(ifm_stats_cliff(sleep_b, 10, sleep_a, 9, .9, scratch, &there), IFM_STAT_OK);
    assert_int_equal(ifm_stats_cliff(sleep_a, 9, sleep_b, 10, .9, scratch, &back), IFM_STAT_OK);
    assert_true(there.value == -back.value && there.se == back.se);
    close_to(there.interval.low, -back.interval.high, 1e-13);
    assert_int_equal(ifm_stats_hedges(sleep_b, 10, sleep_a, 9, .9, &there), IFM_STAT_OK);
    assert_int_equal(ifm_stats_hedges(sleep_a, 9, sleep_b, 10, .9, &back), IFM_STAT_OK);
    close_to(there.value, -back.value, 1e-14);
    close_to(there.interval.high, -back.interval.low, 1e-11);
}

static void check_effect(const json_t *wanted, const struct ifm_effect *got, double relative)
{
    close_to(got->value, member(wanted, "value"), relative);
    close_to(got->se, member(wanted, "se"), relative);
    near_to(got->interval.low, member(wanted, "low"), relative);
    near_to(got->interval.high, member(wanted, "high"), relative);
}

static void vectors_of_scipy(void **state)
{
    (void)state;
    json_t *vectors = load("tests/vectors/effect_scipy.json");
    size_t i;
    const json_t *pair;
    json_array_foreach(json_object_get(vectors, "pairs"), i, pair)
    {
        double a[MOST], b[MOST], scratch[6 * MOST];
        size_t n = numbers(json_object_get(pair, "a"), a, MOST), m = numbers(json_object_get(pair, "b"), b, MOST);
        struct ifm_effect e;
        assert_int_equal(ifm_stats_cliff(a, n, b, m, .95, scratch, &e), IFM_STAT_OK);
        check_effect(json_object_get(pair, "cliff"), &e, 1e-9); /* its t quantile has ten digits */
        assert_int_equal(ifm_stats_hedges(a, n, b, m, .95, &e), IFM_STAT_OK);
        check_effect(json_object_get(pair, "hedges"), &e, 1e-8);
    }
    assert_true(i >= 12);
    json_decref(vectors);
}

static void noncentral_t(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        double within;
    } sources[] = {{"tests/vectors/effect_scipy.json", 1e-11}, {"tests/vectors/effect_r.json", 1e-9}};
    for (size_t k = 0; k < 2; k++) {
        json_t *vectors = load(sources[k].path);
        size_t i;
        const json_t *row;
        json_array_foreach(json_object_get(vectors, "noncentral_t"), i, row)
        {
            double v[4], cdf, delta;
            assert_int_equal(numbers(row, v, 4), 4);
            assert_int_equal(ifm_stats_noncentral_t_cdf(v[0], v[1], v[2], &cdf), IFM_STAT_OK);
            near_to(cdf, v[3], sources[k].within);
            if (cdf < 0.001 || cdf > 0.999)
                continue; /* an inverse has no digits there */
            assert_int_equal(ifm_stats_noncentral_t_delta(v[0], v[1], cdf, &delta), IFM_STAT_OK);
            near_to(delta, v[2], 1e-9);
        }
        assert_true(i >= 48);
        json_decref(vectors);
    }
    /* Where e^(-delta^2 / 2) underflows: SciPy 1.10. */
    double cdf, delta;
    assert_int_equal(ifm_stats_noncentral_t_cdf(50, 5, 49, &cdf), IFM_STAT_OK);
    close_to(cdf, 0.4407219460860261, 1e-11);
    assert_int_equal(ifm_stats_noncentral_t_delta(10000, 1998, .975, &delta), IFM_STAT_OK);
    assert_int_equal(ifm_stats_noncentral_t_cdf(10000, 1998, delta, &cdf), IFM_STAT_OK);
    close_to(cdf, .975, 1e-12);
    assert_true(delta > 10000 * (1 - 2.1 / sqrt(2 * 1998)) && delta < 10000 * (1 - 1.9 / sqrt(2 * 1998)) + 2);
    assert_int_equal(ifm_stats_noncentral_t_delta(10001, 10, .975, &delta), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_noncentral_t_delta(NAN, 10, .975, &delta), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_noncentral_t_delta(1, 10, 1, &delta), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_noncentral_t_cdf(1, 0, 1, &cdf), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_noncentral_t_cdf(1, 4, INFINITY, &cdf), IFM_STAT_DOMAIN);
}

/* Kinds of data: normal, lognormal, and small samples of 6 to 10. */
struct kind {
    bool skewed, small;
    double shift;
};

static void draw(const struct kind *kind, uint32_t run, double *a, size_t *n, double *b, size_t *m)
{
    struct ifm_random random = ifm_random_start(kind->shift > 0 ? 31 : 32, run);
    *n = kind->small ? 6 + ifm_random_below(&random, 5) : 30;
    *m = kind->small ? 6 + ifm_random_below(&random, 5) : 30;
    for (size_t i = 0; i < *n + *m; i++) {
        double z = ifm_random_normal(&random) + (i < *n ? kind->shift : 0.0);
        *(i < *n ? a + i : b + (i - *n)) = kind->skewed ? exp(z) : z;
    }
}

/* 2,000 data sets a kind: between 93 % and 97 % hold the truth. g is asked for normal data alone. */
static void intervals_cover(void **state)
{
    (void)state;
    static const struct kind kinds[] = {{false, false, 0}, {false, false, .8}, {true, false, 0},
                                        {true, false, .8}, {false, true, 0},   {false, true, .8}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        int cliff = 0, hedges = 0;
        double truth = erf(kinds[k].shift / 2); /* 2 P(Z > -shift / sqrt 2) - 1 */
        for (uint32_t run = 0; run < RUNS; run++) {
            double a[30], b[30], scratch[180];
            size_t n, m;
            struct ifm_effect e;
            draw(&kinds[k], run, a, &n, b, &m);
            assert_int_equal(ifm_stats_cliff(a, n, b, m, .95, scratch, &e), IFM_STAT_OK);
            cliff += e.interval.low <= truth && truth <= e.interval.high;
            assert_int_equal(ifm_stats_hedges(a, n, b, m, .95, &e), IFM_STAT_OK);
            hedges += e.interval.low <= kinds[k].shift && kinds[k].shift <= e.interval.high;
        }
        if (cliff < RUNS * 93 / 100 || cliff > RUNS * 975 / 1000)
            fail_msg("kind %zu: delta is held in %d of %d", k, cliff, RUNS);
        if (!kinds[k].skewed && (hedges < RUNS * 93 / 100 || hedges > RUNS * 97 / 100))
            fail_msg("kind %zu: g is held in %d of %d", k, hedges, RUNS);
    }
}

static void degenerate_input(void **state)
{
    (void)state;
    static const double same[] = {2, 2, 2}, low[] = {1, 1.5, 1.25}, high[] = {3, 4, 3.5}, odd[] = {1, NAN, 2},
                        endless[] = {1, INFINITY, 2}, huge[] = {1e308, -1e308, 1e308};
    double scratch[18];
    struct ifm_effect e = {7, 7, {7, 7}};
    assert_int_equal(ifm_stats_cliff(low, 0, high, 3, .95, scratch, &e), IFM_STAT_EMPTY);
    assert_int_equal(ifm_stats_cliff(low, 3, high, 1, .95, scratch, &e), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_cliff(low, 3, odd, 3, .95, scratch, &e), IFM_STAT_NOT_FINITE);
    assert_int_equal(ifm_stats_cliff(endless, 3, low, 3, .95, scratch, &e), IFM_STAT_NOT_FINITE);
    assert_int_equal(ifm_stats_cliff(low, 3, high, 3, 1, scratch, &e), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_hedges(low, 3, high, 0, .95, &e), IFM_STAT_EMPTY);
    assert_int_equal(ifm_stats_hedges(low, 1, high, 3, .95, &e), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_hedges(same, 3, same, 3, .95, &e), IFM_STAT_CONSTANT);
    assert_int_equal(ifm_stats_hedges(odd, 3, same, 3, .95, &e), IFM_STAT_NOT_FINITE);
    assert_int_equal(ifm_stats_hedges(huge, 3, same, 3, .95, &e), IFM_STAT_NOT_FINITE);
    assert_int_equal(ifm_stats_hedges(low, 3, high, 3, NAN, &e), IFM_STAT_DOMAIN);
    assert_true(e.value == 7 && e.se == 7 && e.interval.low == 7); /* a refusal leaves it alone */
    static const double far[] = {1e9, 1e9 + 1, 1e9 + 2};
    assert_int_equal(ifm_stats_hedges(far, 3, low, 3, .95, &e), IFM_STAT_DOMAIN);
    /* all equal: no dominance, and an interval about 0 */
    assert_int_equal(ifm_stats_cliff(same, 3, same, 3, .95, scratch, &e), IFM_STAT_OK);
    assert_true(e.value == 0 && e.interval.low < 0 && e.interval.high > 0);
    /* wholly apart: +-1 with the stand-in 8 / 9 inside the variance, so the other end is not 1 */
    assert_int_equal(ifm_stats_cliff(high, 3, low, 3, .95, scratch, &e), IFM_STAT_OK);
    assert_true(e.value == 1 && e.interval.high == 1 && e.interval.low < 0.9 && e.interval.low > -1);
    close_to(e.se * e.se, (1 - 64.0 / 81) / 8, 1e-12);
    assert_int_equal(ifm_stats_cliff(low, 3, high, 3, .95, scratch, &e), IFM_STAT_OK);
    assert_true(e.value == -1 && e.interval.low == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleep_data),   cmocka_unit_test(both_directions_agree), cmocka_unit_test(vectors_of_scipy),
        cmocka_unit_test(noncentral_t), cmocka_unit_test(intervals_cover),       cmocka_unit_test(degenerate_input),
    };
    return cmocka_run_group_tests_name("stats_effect", tests, NULL, NULL);
}
