/* Trimmed means and skewness against SciPy, R and published values (tests/vectors), and the NIST
 * reference sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/location.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 6000

static json_t *scipy, *r_answers, *nist;

static void close_to(double got, double wanted, double relative)
{
    if (!(fabs(got - wanted) <= relative * fmax(fabs(wanted), 1e-3)))
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static size_t values_of(const json_t *array, double *x)
{
    size_t n = json_array_size(array);
    assert_in_range(n, 1, MOST);
    for (size_t i = 0; i < n; i++)
        x[i] = json_number_value(json_array_get(array, i));
    return n;
}

static int load(void **state)
{
    (void)state;
    scipy = json_load_file("tests/vectors/stats_scipy.json", 0, NULL);
    r_answers = json_load_file("tests/vectors/stats_r.json", 0, NULL);
    nist = json_load_file("tests/vectors/nist_univariate.json", 0, NULL);
    return scipy == NULL || r_answers == NULL || nist == NULL;
}

static int unload(void **state)
{
    (void)state;
    json_decref(scipy);
    json_decref(r_answers);
    json_decref(nist);
    return 0;
}

static void agrees_with_scipy(void **state)
{
    (void)state;
    const char *name;
    json_t *wanted;
    size_t seen = 0;
    json_object_foreach(json_object_get(scipy, "samples"), name, wanted)
    {
        double x[MOST], sorted[MOST], scratch[MOST], skewness;
        size_t n = values_of(json_object_get(wanted, "values"), x);
        memcpy(sorted, x, n * sizeof *x);
        ifm_stats_sort(sorted, scratch, n);
        struct ifm_trimmed trimmed;
        assert_int_equal(ifm_stats_trimmed_mean(sorted, n, 0.2, 0.95, &trimmed), IFM_STAT_OK);
        const json_t *of = json_object_get(wanted, "trimmed");
        close_to(trimmed.mean, number(of, "mean"), 1e-12);
        close_to(trimmed.se, number(of, "se"), 1e-12);
        close_to(trimmed.interval.low, number(of, "low"), 1e-10);
        close_to(trimmed.interval.high, number(of, "high"), 1e-10);
        assert_int_equal(ifm_stats_skewness(x, n, &skewness), IFM_STAT_OK);
        close_to(skewness, number(wanted, "skewness"), 1e-11);
        seen++;
    }
    assert_int_equal(seen, 4);
}

/* R's `sleep`: Yuen's interval as published for it. */
static void sleep_data(void **state)
{
    (void)state;
    double a[MOST], b[MOST], scratch[MOST];
    size_t n = values_of(json_object_get(r_answers, "sleep_a"), a);
    size_t m = values_of(json_object_get(r_answers, "sleep_b"), b);
    ifm_stats_sort(a, scratch, n);
    ifm_stats_sort(b, scratch, m);
    struct ifm_trimmed value;
    assert_int_equal(ifm_stats_trimmed_mean(a, n, 0.2, 0.95, &value), IFM_STAT_OK);
    close_to(value.mean, .5333333333, 1e-9);
    close_to(value.se, .5162782291, 1e-9);
    close_to(value.interval.low, -.7938021046, 1e-9); /* SciPy's t quantile is off at 1e-9 */
    close_to(value.interval.high, 1.8604687713, 1e-9);
    assert_int_equal(ifm_stats_trimmed_mean(b, m, 0.2, 0.95, &value), IFM_STAT_OK);
    close_to(value.mean, number(r_answers, "trimmed_b"), 1e-12);
    close_to(value.interval.low, .0227196011, 1e-7);
    close_to(value.interval.high, 4.3772803989, 1e-9);
}

static void odd_input_is_named(void **state)
{
    (void)state;
    const double same[5] = {2, 2, 2, 2, 2}, bad[4] = {1, 2, 3, INFINITY}, two[2] = {1, 3};
    double number_out;
    struct ifm_trimmed value;
    assert_int_equal(ifm_stats_trimmed_mean(same, 0, .2, .95, &value), IFM_STAT_EMPTY);
    assert_int_equal(ifm_stats_trimmed_mean(same, 1, .2, .95, &value), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_trimmed_mean(same, 5, .4, .95, &value), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_trimmed_mean(same, 5, .2, .95, &value), IFM_STAT_CONSTANT);
    assert_int_equal(ifm_stats_trimmed_mean(same, 5, .5, .95, &value), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_trimmed_mean(two, 2, .2, 1, &value), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_trimmed_mean(bad, 4, .2, .95, &value), IFM_STAT_NOT_FINITE);
    assert_int_equal(ifm_stats_skewness(two, 2, &number_out), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_skewness(same, 5, &number_out), IFM_STAT_CONSTANT);
    assert_int_equal(ifm_stats_skewness(bad, 4, &number_out), IFM_STAT_NOT_FINITE);
}

/* NIST StRD, univariate: certified mean, standard deviation and lag-1 autocorrelation (here without the correction that
 * ifm_stats_autocorrelation adds: undone as r = (r' - 1/n) / (1 + 4/n)). The log relative error that is asked for is
 * what doubles can hold: the data of NumAcc3 and 4 are themselves rounded at 1e-9 of their spread. */
static void nist_certified_values(void **state)
{
    (void)state;
    size_t i;
    json_t *set;
    json_array_foreach(nist, i, set)
    {
        double x[MOST], lag1;
        size_t n = values_of(json_object_get(set, "values"), x);
        struct ifm_moments m;
        assert_int_equal(ifm_stats_moments(x, n, &m), IFM_STAT_OK);
        close_to(m.mean, number(set, "mean"), 1e-15);
        close_to(m.sd, number(set, "sd"), number(set, "tolerance"));
        if (n < 10)
            continue;
        assert_int_equal(ifm_stats_autocorrelation(x, n, &lag1), IFM_STAT_OK);
        lag1 = (lag1 - 1.0 / (double)n) / (1 + 4.0 / (double)n);
        double corrected = number(set, "lag1") + (1 + 4 * number(set, "lag1")) / (double)n;
        if (fabs(corrected) < 0.99) /* where the correction would leave (-1, 1), it is cut */
            close_to(lag1, number(set, "lag1"), number(set, "tolerance"));
    }
    assert_int_equal(i, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_scipy),
        cmocka_unit_test(sleep_data),
        cmocka_unit_test(odd_input_is_named),
        cmocka_unit_test(nist_certified_values),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
