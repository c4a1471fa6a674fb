/* Bootstrap intervals against SciPy and R (tests/vectors, tools/oracle), the rule of which interval a mean gets, and
 * that the build does not change a bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/location.h"
#include "stats/resample.h"
#include "stats/resample_draw.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 6000
#define RESAMPLES 200000

static json_t *scipy, *r_answers;
static double scratch[RESAMPLES + 4 * MOST];

static void close_to(double got, double wanted, double relative)
{
    if (!(fabs(got - wanted) <= relative * fmax(fabs(wanted), 1e-3)))
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

static void within(double got, double wanted, double absolute)
{
    if (!(fabs(got - wanted) <= absolute))
        fail_msg("got %.17g, wanted %.17g +- %g", got, wanted, absolute);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static double at(const json_t *object, const char *key, size_t i)
{
    const json_t *value = json_array_get(json_object_get(object, key), i);
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
    return scipy == NULL || r_answers == NULL;
}

static int unload(void **state)
{
    (void)state;
    json_decref(scipy);
    json_decref(r_answers);
    return 0;
}

static struct ifm_resample_plan plan_of(size_t resamples)
{
    return (struct ifm_resample_plan){20261121, resamples, 0.95, scratch};
}

/* Standard deviation of a 2.5 % endpoint over resamples is 8.6 / sqrt(B) of a standard error at most: 0.019 for ours,
 * 0.014 for SciPy's 400,000; four of both together are below 0.1. Ties of the ten `sleep` values stay far below that.
 */
#define MONTE_CARLO 0.05

static void agrees_with_scipy(void **state)
{
    (void)state;
    const char *name;
    json_t *wanted;
    size_t seen = 0;
    json_object_foreach(json_object_get(scipy, "samples"), name, wanted)
    {
        double x[MOST];
        size_t n = values_of(json_object_get(wanted, "values"), x);
        struct ifm_resample_plan plan = plan_of(RESAMPLES);
        struct ifm_resampled bca, plain;
        const json_t *of = json_object_get(wanted, "bootstrap");
        double se = number(of, "se");
        assert_int_equal(ifm_stats_bootstrap_mean(x, n, IFM_MEAN_BCA, &plan, &bca), IFM_STAT_OK);
        assert_int_equal(ifm_stats_bootstrap_mean(x, n, IFM_MEAN_PERCENTILE, &plan, &plain), IFM_STAT_OK);
        assert_int_equal(bca.method, IFM_MEAN_BCA);
        close_to(bca.acceleration, number(wanted, "acceleration"), 1e-10);
        close_to(plain.se, se, 0.01);
        for (size_t end = 0; end < 2; end++) {
            within(end == 0 ? bca.interval.low : bca.interval.high, at(of, "bca", end), MONTE_CARLO * se);
            within(end == 0 ? plain.interval.low : plain.interval.high, at(of, "percentile", end), MONTE_CARLO * se);
        }
        seen++;
    }
    assert_int_equal(seen, 4);
}

/* R's `sleep`, four million resamples (BCa) and the closed acceleration; R's own boot.ci. */
static void published_values(void **state)
{
    (void)state;
    double a[MOST], b[MOST];
    size_t n = values_of(json_object_get(r_answers, "sleep_a"), a);
    assert_int_equal(values_of(json_object_get(r_answers, "sleep_b"), b), n);
    struct ifm_resample_plan plan = plan_of(RESAMPLES);
    struct ifm_resampled value;
    assert_int_equal(ifm_stats_bootstrap_mean(a, n, IFM_MEAN_BCA, &plan, &value), IFM_STAT_OK);
    within(value.z0, .02693, 0.012);
    close_to(value.acceleration, .02581869661, 1e-9);
    within(value.low_level, .034823, 0.002);
    within(value.high_level, .983050, 0.001);
    within(value.interval.low, -.19, 0.0200001);
    within(value.interval.high, 1.93, 0.0200001);
    within(value.interval.low, at(r_answers, "bca_a", 0), 0.03);
    within(value.interval.high, at(r_answers, "bca_a", 1), 0.03);
    assert_int_equal(ifm_stats_bootstrap_mean(b, n, IFM_MEAN_BCA, &plan, &value), IFM_STAT_OK);
    close_to(value.acceleration, .01714691145, 1e-9);
    within(value.interval.low, 1.24, 0.0200001);
    within(value.interval.high, 3.60, 0.0300001);
}

/* What many resamples of an odd number of values come to: P(X*_(k) <= x_(i)) = I_{i/n}(k, n - k + 1) (Hutson and Ernst
 * 2000; Maritz and Jarrett 1978). */
struct exact {
    double se;
    struct ifm_interval interval;
};
static struct exact exact_median(const double *sorted, size_t n)
{
    struct exact exact = {0};
    size_t k = (n + 1) / 2;
    double before = 0, mean = 0, squares = 0;
    for (size_t i = 1; i <= n; i++) {
        double upto, d = sorted[i - 1] - sorted[k - 1];
        assert_int_equal(ifm_stats_beta((double)i / (double)n, (double)k, (double)(n - k + 1), &upto), IFM_STAT_OK);
        mean += (upto - before) * d;
        squares += (upto - before) * d * d;
        if (before < 0.025 && upto >= 0.025)
            exact.interval.low = sorted[i - 1];
        if (before < 0.975 && upto >= 0.975)
            exact.interval.high = sorted[i - 1];
        before = upto;
    }
    exact.se = sqrt(squares - mean * mean);
    return exact;
}

/* Of an even number there is no closed form: resamples as they are, drawn and sorted. */
static double plain_se(const double *sorted, size_t n, size_t resamples)
{
    struct ifm_xoshiro random = ifm_xoshiro_start(3, 1, 4);
    double mean = 0, squares = 0, x[200], other[200], median;
    assert_true(n <= 200);
    for (size_t r = 0; r < resamples; r++) {
        for (size_t i = 0; i < n; i++)
            x[i] = sorted[(size_t)(ifm_xoshiro_uniform(&random) * (double)n)];
        ifm_stats_sort(x, other, n);
        assert_int_equal(ifm_stats_quantile_sorted(x, n, 0.5, &median), IFM_STAT_OK);
        mean += median / (double)resamples;
        squares += median * median / (double)resamples;
    }
    return sqrt(squares - mean * mean);
}

static void a_median_by_resamples(void **state)
{
    (void)state;
    double x[200], mean = 0, squares = 0;
    for (size_t i = 0; i < 200; i++)
        x[i] = (double)(i * i);
    struct ifm_resample_plan plan = plan_of(10000);
    struct ifm_resampled value, fewer, more;
    struct exact exact = exact_median(x, 199);
    assert_int_equal(ifm_stats_bootstrap_median(x, 199, 199, &plan, &value), IFM_STAT_OK);
    close_to(value.se, exact.se, 0.03);
    within(value.interval.low, exact.interval.low, 0.1 * exact.se);
    within(value.interval.high, exact.interval.high, 0.1 * exact.se);
    for (size_t i = 0; i < 10000; i++) {
        mean += scratch[i] / 10000;
        squares += scratch[i] * scratch[i] / 10000;
    }
    close_to(sqrt(squares - mean * mean), value.se, 1e-3); /* there are 10,000 medians, no fewer */
    assert_int_equal(ifm_stats_bootstrap_median(x, 40, 40, &plan, &fewer), IFM_STAT_OK);
    close_to(fewer.se, plain_se(x, 40, 20000), 0.03);
    /* Values that are worth a quarter of their number have an interval about twice as wide. */
    assert_int_equal(ifm_stats_bootstrap_median(x, 200, 50.7, &plan, &fewer), IFM_STAT_OK);
    within((fewer.interval.high - fewer.interval.low) / (value.interval.high - value.interval.low), 2, 0.2);
    assert_int_equal(ifm_stats_bootstrap_median(x, 200, 1e9, &plan, &more), IFM_STAT_OK); /* never more than n */
    assert_true(more.interval.high - more.interval.low > 0.8 * (value.interval.high - value.interval.low));
    assert_int_equal(ifm_stats_bootstrap_median(x, 200, 38.9, &plan, &value), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_bootstrap_median(x, 38, 38, &plan, &value), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_bootstrap_median(x, 0, 0, &plan, &value), IFM_STAT_EMPTY);
    assert_int_equal(ifm_stats_bootstrap_median(x, 200, 0, &plan, &value), IFM_STAT_DOMAIN);
    plan.resamples = 100;
    assert_int_equal(ifm_stats_bootstrap_median(x, 200, 200, &plan, &value), IFM_STAT_DOMAIN);
    for (size_t i = 0; i < 200; i++)
        x[i] = 3;
    plan.resamples = 10000;
    assert_int_equal(ifm_stats_bootstrap_median(x, 200, 200, &plan, &value), IFM_STAT_CONSTANT);
}

/* How an index comes out of a word, and that all are equally likely for every number per word. */
static void indices_are_unbiased(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        unsigned k;
    } cases[] = {{1, 5},     {7, 5},      {1782, 5},   {1783, 4},     {11585, 4},
                 {11586, 3}, {262144, 3}, {262145, 2}, {134217729, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct ifm_draw draw = ifm_draw_of(cases[c].n);
        assert_int_equal(draw.k, cases[c].k);
        __extension__ typedef unsigned __int128 wide;
        wide power = 1;
        for (unsigned i = 0; i < draw.k; i++)
            power *= cases[c].n;
        assert_true(draw.threshold == (uint64_t)(((wide)1 << 64) % power));
    }
    enum { LARGEST = 262145 };
    static const size_t sizes[] = {7, 2041, 11586, LARGEST}; /* 5 to 2 in a word: two columns are drawn as one is */
    static double table[LARGEST], pairs[2 * LARGEST];
    for (size_t i = 0; i < LARGEST; i++) {
        table[i] = pairs[2 * i] = sin((double)i);
        pairs[2 * i + 1] = 0.5 * table[i];
    }
    for (size_t c = 0; c < sizeof sizes / sizeof sizes[0]; c++) {
        struct ifm_draw draw = ifm_draw_of(sizes[c]);
        struct ifm_xoshiro one = ifm_xoshiro_start(4, 5, 6), two = one;
        double sums[2], sum = ifm_draw_sum(table, &draw, 203, &one);
        ifm_draw_sum2(pairs, &draw, 203, &two, sums);
        assert_true(sums[0] == sum && sums[1] == 0.5 * sum);
        assert_memory_equal(&one, &two, sizeof one);
    }
    static const double places[7] = {1,   1e2,  1e4, 1e6,
                                     1e8, 1e10, 1e12}; /* a sum of 70 shows how often each was drawn */
    size_t count[7] = {0};
    struct ifm_draw draw = ifm_draw_of(7);
    struct ifm_xoshiro random = ifm_xoshiro_start(1, 2, 3);
    for (int i = 0; i < 10000; i++) {
        uint64_t sum = (uint64_t)ifm_draw_sum(places, &draw, 70, &random);
        for (size_t j = 0; j < 7; j++, sum /= 100)
            count[j] += sum % 100;
    }
    for (size_t i = 0; i < 7; i++)
        within((double)count[i], 100000, 4 * 293); /* sqrt(700000 * 6 / 49) = 293 */
    struct ifm_xoshiro known = {{1, 2, 3, 4}};     /* the authors' generator: first words for this state */
    assert_true(ifm_xoshiro_next(&known) == UINT64_C(41943041));
    assert_true(ifm_xoshiro_next(&known) == UINT64_C(58720359));
    assert_true(ifm_xoshiro_next(&known) == UINT64_C(3588806011781223));
}

static uint64_t fingerprint(void)
{
    double x[500], sorted[500], spare[500];
    struct ifm_xoshiro random = ifm_xoshiro_start(5, 6, 7);
    for (size_t i = 0; i < 500; i++)
        x[i] = sorted[i] = (double)(ifm_xoshiro_next(&random) >> 40) * 0x1p-20;
    ifm_stats_sort(sorted, spare, 500);
    struct ifm_resample_plan plan = {9, 5001, 0.95, scratch};
    struct ifm_resampled value[4];
    memset(value, 0, sizeof value);
    assert_int_equal(ifm_stats_bootstrap_mean(x, 499, IFM_MEAN_BCA, &plan, &value[0]), IFM_STAT_OK);
    assert_int_equal(ifm_stats_bootstrap_mean(x, 499, IFM_MEAN_BOOTSTRAP_T, &plan, &value[1]), IFM_STAT_OK);
    assert_int_equal(ifm_stats_bootstrap_mean(x, 498, IFM_MEAN_PERCENTILE, &plan, &value[2]), IFM_STAT_OK);
    assert_int_equal(ifm_stats_bootstrap_median(sorted, 500, 100, &plan, &value[3]), IFM_STAT_OK);
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < 4; i++) {
        const double parts[3] = {value[i].value, value[i].interval.low, value[i].interval.high};
        const unsigned char *bytes = (const unsigned char *)parts;
        for (size_t j = 0; j < sizeof parts; j++)
            hash = (hash ^ bytes[j]) * UINT64_C(1099511628211);
    }
    return hash;
}

/* Byte for byte, for every compiler and build. What goes through libm (the BCa levels) would show here too if a C
 * library rounded otherwise. */
static void builds_change_nothing(void **state)
{
    (void)state;
    const uint64_t one = fingerprint();
    if (one != UINT64_C(0xb0d8fc0ba42408c5))
        fail_msg("the bytes of the intervals changed: 0x%llx", (unsigned long long)one);
    double x[40];
    for (size_t i = 0; i < 40; i++)
        x[i] = (double)(i * i);
    struct ifm_resample_plan plan = {9, 5001, 0.95, scratch};
    struct ifm_resampled first, other;
    assert_int_equal(ifm_stats_bootstrap_median(x, 40, 40, &plan, &first), IFM_STAT_OK);
    plan.seed++;
    assert_int_equal(ifm_stats_bootstrap_median(x, 40, 40, &plan, &other), IFM_STAT_OK);
    assert_true(first.interval.low != other.interval.low || first.se != other.se);
}

static void odd_input_is_named(void **state)
{
    (void)state;
    const double same[4] = {3, 3, 3, 3}, bad[4] = {1, 2, NAN, 4}, good[4] = {1, 2, 3, 9};
    struct ifm_resample_plan plan = plan_of(999);
    struct ifm_resampled value;
    static const enum ifm_mean_method all[] = {IFM_MEAN_PERCENTILE, IFM_MEAN_BCA, IFM_MEAN_BOOTSTRAP_T};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ifm_stats_bootstrap_mean(good, 0, all[i], &plan, &value), IFM_STAT_EMPTY);
        assert_int_equal(ifm_stats_bootstrap_mean(good, 1, all[i], &plan, &value), IFM_STAT_TOO_FEW);
        assert_int_equal(ifm_stats_bootstrap_mean(same, 4, all[i], &plan, &value), IFM_STAT_CONSTANT);
        assert_int_equal(ifm_stats_bootstrap_mean(bad, 4, all[i], &plan, &value), IFM_STAT_NOT_FINITE);
    }
    assert_int_equal(ifm_stats_bootstrap_mean(good, 4, IFM_MEAN_T, &plan, &value), IFM_STAT_DOMAIN);
    /* 4 values: one resample in 64 has no spread, more than 1 %; of 2 values every second. */
    assert_int_equal(ifm_stats_bootstrap_mean(good, 4, IFM_MEAN_BOOTSTRAP_T, &plan, &value), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_bootstrap_mean(good, 2, IFM_MEAN_BOOTSTRAP_T, &plan, &value), IFM_STAT_TOO_FEW);
    assert_int_equal(ifm_stats_bootstrap_mean(good, 2, IFM_MEAN_BCA, &plan, &value), IFM_STAT_OK);
    close_to(value.interval.low, 1, 0);
    close_to(value.interval.high, 2, 0);
    plan.resamples = IFM_RESAMPLES_NEEDED - 1;
    assert_int_equal(ifm_stats_bootstrap_mean(good, 4, IFM_MEAN_BCA, &plan, &value), IFM_STAT_DOMAIN);
    plan = plan_of(999);
    plan.level = 1;
    assert_int_equal(ifm_stats_bootstrap_mean(good, 4, IFM_MEAN_BCA, &plan, &value), IFM_STAT_DOMAIN);
}

/* A level so high that 1 - a (z0 + z) <= 0: the percentile interval is given, by its name. */
static void bca_falls_back(void **state)
{
    (void)state;
    double x[200] = {0};
    x[0] = 1; /* one value in 200: a = skewness / (6 sqrt n) is 1/6, so z0 + z above 6 has no level */
    struct ifm_resample_plan plan = plan_of(999);
    struct ifm_resampled value;
    plan.level = 1 - 1e-9;
    assert_int_equal(ifm_stats_bootstrap_mean(x, 200, IFM_MEAN_BCA, &plan, &value), IFM_STAT_OK);
    assert_int_equal(value.method, IFM_MEAN_PERCENTILE);
    plan.level = 0.95;
    assert_int_equal(ifm_stats_bootstrap_mean(x, 200, IFM_MEAN_BCA, &plan, &value), IFM_STAT_OK);
    assert_int_equal(value.method, IFM_MEAN_BCA);
}

static void selection_is_that_of_the_sorted(void **state)
{
    (void)state;
    struct ifm_xoshiro random = ifm_xoshiro_start(1, 1, 1);
    for (int round = 0; round < 2000; round++) {
        double x[300], sorted[300], other[300], wanted;
        size_t n = 1 + ifm_xoshiro_next(&random) % 300;
        uint64_t ties = 1 + ifm_xoshiro_next(&random) % 400;
        for (size_t i = 0; i < n; i++)
            sorted[i] = x[i] = (double)(ifm_xoshiro_next(&random) % ties);
        ifm_stats_sort(sorted, other, n);
        double p = ifm_xoshiro_uniform(&random);
        assert_int_equal(ifm_stats_quantile_sorted(sorted, n, p, &wanted), IFM_STAT_OK);
        close_to(ifm_select_quantile(x, n, p), wanted, 0);
    }
}

static void the_rule(void **state)
{
    (void)state;
    static const struct {
        struct ifm_mean_facts facts;
        enum ifm_mean_method method;
        size_t needs;
    } cases[] = {
        {{0, 0, 0}, IFM_MEAN_NONE, 30},
        {{5, 5, 0}, IFM_MEAN_NONE, 30},
        {{29, 29, 0}, IFM_MEAN_NONE, 30},
        {{30, 30, 0}, IFM_MEAN_WIDENED, 0},
        {{40, 13, 0}, IFM_MEAN_WIDENED, 0},
        {{40, 3, 0}, IFM_MEAN_NONE, 54}, /* 4 effective ones at this rate */
        {{99, 99, 0}, IFM_MEAN_WIDENED, 0},
        {{99, 99, 9}, IFM_MEAN_NONE, 324},
        {{100, 100, 2}, IFM_MEAN_BOOTSTRAP_T, 0},
        {{399, 399, 2}, IFM_MEAN_BOOTSTRAP_T, 0},
        {{400, 400, 2}, IFM_MEAN_BCA, 0},
        {{400, 400, .5}, IFM_MEAN_T, 0},
        {{10000, 10000, 4}, IFM_MEAN_T, 0},
        {{100, 40, 0}, IFM_MEAN_T_EFFECTIVE, 0}, /* autocorrelated */
        {{1000, 333, 0}, IFM_MEAN_T_EFFECTIVE, 0},
        {{1000, 9, 0}, IFM_MEAN_NONE, 1112},     /* 10 effective ones at this rate */
        {{1000, 950, 0}, IFM_MEAN_T, 0},         /* not visibly autocorrelated: 0.026 < 0.052 */
        {{1000, 1000, 31}, IFM_MEAN_NONE, 3844}, /* one value in a thousand carries it */
        {{1000, 1000, 15}, IFM_MEAN_BCA, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t needs = 0;
        assert_int_equal(ifm_stats_choose_mean_interval(&cases[i].facts, &needs), cases[i].method);
        assert_int_equal(needs, cases[i].needs);
    }
    struct ifm_mean_facts facts = {500, 500, 0};
    facts.effective = 167;
    assert_int_equal(ifm_stats_mean_admits(IFM_MEAN_T_EFFECTIVE, &facts, NULL), IFM_STAT_OK);
    assert_int_equal(ifm_stats_mean_admits(IFM_MEAN_BCA, &facts, NULL), IFM_STAT_DOMAIN);
    facts.skewness = NAN;
    assert_int_equal(ifm_stats_mean_admits(IFM_MEAN_T_EFFECTIVE, &facts, NULL), IFM_STAT_DOMAIN);
    double x[36], effective;
    struct ifm_resample_plan plan = plan_of(999);
    struct ifm_resampled value;
    for (size_t i = 0; i < 36; i++)
        x[i] = (double)(i * 7 % 36);
    size_t needs = 0;
    assert_int_equal(ifm_stats_mean_interval(x, 29, 29, &plan, &value, &needs), IFM_STAT_TOO_FEW);
    assert_int_equal(needs, 30);
    assert_int_equal(ifm_stats_mean_interval(x, 36, 36, &plan, &value, &needs), IFM_STAT_OK);
    assert_int_equal(value.method, IFM_MEAN_WIDENED);
    close_to(value.value, 17.5, 0);
    assert_true(value.interval.low < 17.5 && value.interval.high > 17.5);
    double half = value.interval.high - 17.5;
    assert_int_equal(ifm_stats_mean_interval(x, 36, 18, &plan, &value, &needs), IFM_STAT_OK);
    assert_int_equal(ifm_stats_effective_guarded(36, 1.0 / 3, &effective), IFM_STAT_OK);
    close_to(effective, 36 * (1 - (1.0 / 3 + 8.0 / 108)) / (1 + (1.0 / 3 + 8.0 / 108)), 1e-12);
    close_to(value.interval.high - 17.5, half * sqrt(36 / effective), 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_scipy),
        cmocka_unit_test(published_values),
        cmocka_unit_test(a_median_by_resamples),
        cmocka_unit_test(indices_are_unbiased),
        cmocka_unit_test(builds_change_nothing),
        cmocka_unit_test(odd_input_is_named),
        cmocka_unit_test(bca_falls_back),
        cmocka_unit_test(selection_is_that_of_the_sorted),
        cmocka_unit_test(the_rule),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
