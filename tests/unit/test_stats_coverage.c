/* Coverage: every interval that the rule admits holds the truth in at least 93 % of 2,000 data sets, and in at most 97
 * % where its ends do not jump from value to value. Seeded; its table stands in docs/maintain/method.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "stats/effect.h"
#include "stats/location.h"
#include "stats/resample.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETS 2000
#define RESAMPLES 499
#define MOST 400
#define SIGMA 0.75 /* of the lognormal data */
#define SHARE 0.1  /* of the mixture's values that lie AWAY standard deviations further up */
#define AWAY 10
#define LEVEL 0.95
#define ENOUGH 200 /* data sets with an interval, before their share means something */

enum shape { NORMAL, LOGNORMAL, AR3, AR5, MIXTURE, SMALL };

struct sample {
    enum shape shape;
    size_t n;
    double x[MOST], sorted[MOST], other[MOST]; /* `other` has the same distribution */
    struct ifm_mean_facts facts;
    struct ifm_resample_plan plan;
};
static double scratch[RESAMPLES + 6 * MOST];

static double rho_of(enum shape shape)
{
    return shape == AR3 ? 0.3 : shape == AR5 ? 0.5 : 0;
}

static void draw(const struct sample *s, double *x, struct ifm_random *random)
{
    double rho = rho_of(s->shape), previous = ifm_random_normal(random);
    for (size_t i = 0; i < s->n; i++) {
        double z = ifm_random_normal(random);
        previous = rho * previous + sqrt(1 - rho * rho) * z;
        bool other = s->shape == MIXTURE && ifm_random_uniform(random) < SHARE;
        x[i] = s->shape == LOGNORMAL ? exp(SIGMA * z) : rho > 0 ? previous : z + (other ? AWAY : 0);
    }
}

static void make(struct sample *s, uint32_t index)
{
    struct ifm_random random = ifm_random_start(20261121 + (uint64_t)s->shape, index * 512 + (uint32_t)s->n);
    draw(s, s->x, &random);
    draw(s, s->other, &random);
    memcpy(s->sorted, s->x, s->n * sizeof *s->x);
    ifm_stats_sort(s->sorted, scratch, s->n);
    double rho;
    s->facts = (struct ifm_mean_facts){s->n, (double)s->n, 0};
    assert_int_equal(ifm_stats_skewness(s->x, s->n, &s->facts.skewness), IFM_STAT_OK);
    if (ifm_stats_autocorrelation(s->x, s->n, &rho) == IFM_STAT_OK)
        assert_int_equal(ifm_stats_effective_size(s->n, rho, &s->facts.effective), IFM_STAT_OK);
    s->plan = (struct ifm_resample_plan){index, RESAMPLES, LEVEL, scratch};
}

/* ---- what is estimated ---- */

static double normal_cdf(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

static double mean_truth(enum shape shape)
{
    return shape == LOGNORMAL ? exp(SIGMA * SIGMA / 2) : shape == MIXTURE ? SHARE * AWAY : 0;
}

/* Of the mixture: its quantile 0.5 is that of the larger part at 0.5 / 0.9, and 0.95 is the middle of the smaller. */
static double median_truth(enum shape shape)
{
    return shape == LOGNORMAL ? 1 : shape == MIXTURE ? 0.1397102989 : 0;
}

static double p95_truth(enum shape shape)
{
    const double z = 1.6448536269514722;
    return shape == LOGNORMAL ? exp(SIGMA * z) : shape == MIXTURE ? AWAY : z;
}

static double p99_truth(enum shape shape)
{
    const double z = 2.3263478740408408;
    return shape == LOGNORMAL ? exp(SIGMA * z) : shape == MIXTURE ? AWAY + 1.2815515655446004 : z;
}

/* 20 % trimmed: the mean of the part between the quantiles 0.2 and 0.8; of the mixture, both are of its larger part. */
static double trimmed_truth(enum shape shape)
{
    const double z = 0.8416212335729143, low = -0.7647096738, high = 1.2206403488, root = 2.5066282746310002;
    if (shape == MIXTURE)
        return (1 - SHARE) / 0.6 * (exp(-low * low / 2) - exp(-high * high / 2)) / root;
    return shape == LOGNORMAL ? exp(SIGMA * SIGMA / 2) * (normal_cdf(z - SIGMA) - normal_cdf(-z - SIGMA)) / 0.6 : 0;
}

static double none(enum shape shape)
{
    (void)shape;
    return 0;
}

/* ---- the intervals ---- */

/* Intervals that take their values as independent are for those who know that they are: no number of a run is one. */
static bool is_series(const struct sample *s)
{
    return rho_of(s->shape) > 0;
}

static enum ifm_stat by(const struct sample *s, enum ifm_mean_method method, struct ifm_interval *out)
{
    struct ifm_resampled value;
    enum ifm_stat stat = ifm_stats_mean_admits(method, &s->facts, NULL);
    if (stat == IFM_STAT_OK)
        stat = ifm_stats_mean_by(method, s->x, &s->facts, &s->plan, &value);
    if (stat == IFM_STAT_OK)
        *out = value.interval;
    return stat;
}

static enum ifm_stat mean_t(const struct sample *s, struct ifm_interval *out)
{
    return by(s, IFM_MEAN_T, out);
}

static enum ifm_stat mean_effective(const struct sample *s, struct ifm_interval *out)
{
    return by(s, IFM_MEAN_T_EFFECTIVE, out);
}

static enum ifm_stat mean_percentile(const struct sample *s, struct ifm_interval *out)
{
    return by(s, IFM_MEAN_PERCENTILE, out);
}

static enum ifm_stat mean_bca(const struct sample *s, struct ifm_interval *out)
{
    return by(s, IFM_MEAN_BCA, out);
}

static enum ifm_stat mean_studentised(const struct sample *s, struct ifm_interval *out)
{
    /* Below, it is what is chosen. */
    return s->n < MOST ? IFM_STAT_TOO_FEW : by(s, IFM_MEAN_BOOTSTRAP_T, out);
}

static enum ifm_stat mean_chosen(const struct sample *s, struct ifm_interval *out)
{
    struct ifm_resampled value;
    enum ifm_stat stat = ifm_stats_mean_interval(s->x, s->n, s->facts.effective, &s->plan, &value, NULL);
    if (stat == IFM_STAT_OK)
        *out = value.interval;
    return stat;
}

static enum ifm_stat trimmed(const struct sample *s, struct ifm_interval *out)
{
    struct ifm_trimmed value;
    enum ifm_stat stat = ifm_stats_trimmed_series(s->sorted, s->n, s->facts.effective, 0.2, LEVEL, &value);
    if (stat == IFM_STAT_OK)
        *out = value.interval;
    return stat;
}

static enum ifm_stat median_order(const struct sample *s, struct ifm_interval *out)
{
    if (is_series(s) && s->n < IFM_MEDIAN_SERIES)
        return IFM_STAT_TOO_FEW;
    return ifm_stats_quantile_interval(s->sorted, s->n, (size_t)s->facts.effective, 0.5, LEVEL, out, NULL);
}

static enum ifm_stat p95_order(const struct sample *s, struct ifm_interval *out)
{
    return ifm_stats_quantile_interval(s->sorted, s->n, (size_t)s->facts.effective, 0.95, LEVEL, out, NULL);
}

static enum ifm_stat p99_order(const struct sample *s, struct ifm_interval *out)
{
    return ifm_stats_quantile_interval(s->sorted, s->n, (size_t)s->facts.effective, 0.99, LEVEL, out, NULL);
}

static enum ifm_stat cliff(const struct sample *s, struct ifm_interval *out)
{
    struct ifm_effect value;
    if (is_series(s))
        return IFM_STAT_DOMAIN;
    enum ifm_stat stat = ifm_stats_cliff(s->x, s->n, s->other, s->n, LEVEL, scratch, &value);
    if (stat == IFM_STAT_OK)
        *out = value.interval;
    return stat;
}

/* Of normal values alone, as its header says. */
static enum ifm_stat hedges(const struct sample *s, struct ifm_interval *out)
{
    struct ifm_effect value;
    if (s->shape != NORMAL && s->shape != SMALL)
        return IFM_STAT_DOMAIN;
    enum ifm_stat stat = ifm_stats_hedges(s->x, s->n, s->other, s->n, LEVEL, &value);
    if (stat == IFM_STAT_OK)
        *out = value.interval;
    return stat;
}

static enum ifm_stat slope(const struct sample *s, struct ifm_interval *out)
{
    double at[MOST];
    struct ifm_slope line;
    if (is_series(s))
        return IFM_STAT_DOMAIN;
    for (size_t i = 0; i < s->n; i++)
        at[i] = (double)i;
    enum ifm_stat stat = ifm_stats_slope(at, s->x, s->n, LEVEL, &line);
    if (stat == IFM_STAT_OK)
        *out = line.interval;
    return stat;
}

static const struct {
    const char *name;
    enum ifm_stat (*interval)(const struct sample *, struct ifm_interval *);
    double (*truth)(enum shape);
    bool is_discrete;
} methods[] = {
    {"mean, as chosen", mean_chosen, mean_truth, false},
    {"t", mean_t, mean_truth, false},
    {"t effective", mean_effective, mean_truth, false},
    {"percentile", mean_percentile, mean_truth, false},
    {"BCa", mean_bca, mean_truth, false},
    {"bootstrap-t", mean_studentised, mean_truth, false},
    {"trimmed", trimmed, trimmed_truth, false},
    {"p50, ranks", median_order, median_truth, true},
    {"p95, ranks", p95_order, p95_truth, true},
    {"p99, ranks", p99_order, p99_truth, true},
    {"slope", slope, none, false},
    {"Cliff", cliff, none, true},
    {"Hedges", hedges, none, false},
};
#define METHODS (sizeof methods / sizeof methods[0])

static const struct {
    const char *name;
    enum shape shape;
    size_t sizes[10]; /* 0 ends them; of SMALL, 5 to 8 in turn */
} data[] = {
    {"normal 5-8", SMALL, {8}},
    {"normal", NORMAL, {10, 20, 30, 49, 99, 100, 400}},
    {"lognormal", LOGNORMAL, {10, 20, 30, 49, 99, 100, 400}},
    {"AR(1) 0.3", AR3, {10, 20, 30, 49, 99, 100, 400}},
    {"AR(1) 0.5", AR5, {10, 20, 30, 49, 99, 100, 400}},
    {"mixture 90/10", MIXTURE, {10, 20, 30, 49, 99, 100}},
};
#define DATA (sizeof data / sizeof data[0])

/* One row of the table: how many of the intervals cover too little, or too much. */
static size_t judge(const char *name, enum shape shape, size_t n, const size_t *given, const size_t *held)
{
    size_t wrong = 0;
    printf("| %s", name);
    if (n > 0)
        printf(" %zu", n);
    for (size_t m = 0; m < METHODS; m++) {
        double share = given[m] > 0 ? (double)held[m] / (double)given[m] : 0;
        /* Of the mixture the bootstrap covers more: it is wide on the side where the rare values lie. */
        bool wide = share > 0.97 && !methods[m].is_discrete && shape != MIXTURE;
        bool bad = given[m] >= ENOUGH && (share < 0.93 || wide);
        wrong += bad;
        if (given[m] >= ENOUGH)
            printf(" | %.3f%s", share, bad ? "!" : given[m] < SETS ? "*" : "");
        else
            printf(" | -");
    }
    printf(" |\n");
    return wrong;
}

static size_t cover(const char *name, enum shape shape, size_t n)
{
    static struct sample s;
    size_t given[METHODS] = {0}, held[METHODS] = {0};
    for (uint32_t i = 0; i < SETS; i++) {
        s.shape = shape;
        s.n = shape == SMALL ? 5 + i % 4 : n;
        make(&s, i);
        for (size_t m = 0; m < METHODS; m++) {
            struct ifm_interval interval;
            if (methods[m].interval(&s, &interval) != IFM_STAT_OK)
                continue;
            double truth = methods[m].truth(shape);
            given[m]++;
            held[m] += interval.low <= truth && truth <= interval.high;
        }
    }
    return judge(name, shape, shape == SMALL ? 0 : n, given, held);
}

static void intervals_cover(void **state)
{
    (void)state;
    size_t wrong = 0;
    printf("| values");
    for (size_t m = 0; m < METHODS; m++)
        printf(" | %s", methods[m].name);
    printf(" |\n");
    for (size_t d = 0; d < DATA; d++)
        for (size_t k = 0; data[d].sizes[k] > 0; k++)
            wrong += cover(data[d].name, data[d].shape, data[d].sizes[k]);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_cover)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
