/* What an interval costs: a table of named cases, each timed alone, one thread; `median_ms` is over the repetitions.
 *
 *     bench_stats            prints the table; --samples prints the sample that the cases use, for bench/stats.sh
 *
 * A case is a row of `cases`: it prepares nothing, so that its time is all of its work; samples are made before. */
#include "base/clock.h"
#include "stats/location.h"
#include "stats/resample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1000
#define RESAMPLES 100000
#define REPEATS 15

static double x[N], sorted[N], scratch[RESAMPLES + 4 * N];
static struct ifm_resample_plan plan = {1, RESAMPLES, 0.95, scratch};

/* What a case answers, so that the oracle can be held against it; NAN where there is no interval. */
struct answer {
    double low, high;
};

/* Right-skewed values that do not repeat, the same in every build: 1000 + 30 times a unit exponential. */
static void make_samples(void)
{
    uint64_t a = 7;
    for (size_t i = 0; i < N; i++) {
        a = a * 48271 % 2147483647;
        x[i] = 1000.0 + 30.0 * -log((double)a / 2147483647.0);
    }
}

static struct answer mean_by(enum ifm_mean_method method)
{
    struct ifm_resampled value;
    if (ifm_stats_bootstrap_mean(x, N, method, &plan, &value) != IFM_STAT_OK)
        return (struct answer){NAN, NAN};
    return (struct answer){value.interval.low, value.interval.high};
}

static struct answer mean_percentile(void)
{
    return mean_by(IFM_MEAN_PERCENTILE);
}

static struct answer mean_bca(void)
{
    return mean_by(IFM_MEAN_BCA);
}

static struct answer mean_studentised(void)
{
    return mean_by(IFM_MEAN_BOOTSTRAP_T);
}

static struct answer median_drawn(void)
{
    struct ifm_resampled median;
    memcpy(sorted, x, sizeof x);
    ifm_stats_sort(sorted, scratch, N);
    if (ifm_stats_bootstrap_median(sorted, N, N, &plan, &median) != IFM_STAT_OK)
        return (struct answer){NAN, NAN};
    return (struct answer){median.interval.low, median.interval.high};
}

/* The set that a report shows: BCa of the mean, ranks of the median and of p95. */
static struct answer report_set(void)
{
    struct answer answer = mean_by(IFM_MEAN_BCA);
    struct ifm_interval median, p95;
    memcpy(sorted, x, sizeof x);
    ifm_stats_sort(sorted, scratch, N);
    if (ifm_stats_quantile_interval(sorted, N, N, 0.5, 0.95, &median, NULL) != IFM_STAT_OK ||
        ifm_stats_quantile_interval(sorted, N, N, 0.95, 0.95, &p95, NULL) != IFM_STAT_OK)
        return (struct answer){NAN, NAN};
    return answer;
}

static const struct {
    const char *name;
    struct answer (*run)(void);
} cases[] = {
    {"mean_percentile", mean_percentile}, {"mean_bca", mean_bca},         {"mean_bootstrap_t", mean_studentised},
    {"report_set", report_set},           {"median_drawn", median_drawn},
};

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    make_samples();
    if (argc > 1 && strcmp(argv[1], "--samples") == 0) {
        for (size_t i = 0; i < N; i++)
            printf("%.17g\n", x[i]);
        return 0;
    }
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        double ms[REPEATS];
        struct answer answer = cases[c].run();
        for (size_t r = 0; r < REPEATS; r++) {
            struct ifm_instant start = ifm_clock_now();
            answer = cases[c].run();
            ms[r] = (double)ifm_clock_since(start).ns * 1e-6;
        }
        qsort(ms, REPEATS, sizeof ms[0], ascending);
        printf("%s %.3f %.3f %.10g %.10g\n", cases[c].name, ms[REPEATS / 2], ms[0], answer.low, answer.high);
    }
    return 0;
}
