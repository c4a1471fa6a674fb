/* Intervals of means over blocks: what a tail costs them. A level (step_ns, rates), a difference (change_percent) and a
 * plain t interval (joules over windows) of 150 runs and more hold the mean; of fewer they hold that of values without
 * a tail alone. Seeded; the table that it prints stands in docs/maintain/method.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "derive/internal.h"
#include "stats/tail.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SETS = 2000, MOST = 30, KINDS = 3 };
enum { LEVEL, CHANGE, WINDOWS };

enum shape { NORMAL, UNIFORM, GAMMA, LOGNORMAL, PARETO, MIXTURE };
struct family {
    const char *name;
    enum shape shape;
    double a, b;
};
static const struct family families[] = {{"normal", NORMAL, 0, 0},
                                         {"uniform", UNIFORM, 0, 0},
                                         {"gamma(4)", GAMMA, 4, 0},
                                         {"lognormal(0.3)", LOGNORMAL, 0.3, 0},
                                         {"lognormal(0.5)", LOGNORMAL, 0.5, 0},
                                         {"lognormal(1)", LOGNORMAL, 1, 0},
                                         {"lognormal(1.5)", LOGNORMAL, 1.5, 0},
                                         {"Pareto(1.5)", PARETO, 1.5, 0},
                                         {"Pareto(2.5)", PARETO, 2.5, 0},
                                         {"Pareto(4)", PARETO, 4, 0},
                                         {"98/2, 2x", MIXTURE, 0.02, 2},
                                         {"98/2, 5x", MIXTURE, 0.02, 5},
                                         {"98/2, 20x", MIXTURE, 0.02, 20},
                                         {"95/5, 2x", MIXTURE, 0.05, 2},
                                         {"95/5, 20x", MIXTURE, 0.05, 20},
                                         {"90/10, 2x", MIXTURE, 0.1, 2},
                                         {"90/10, 20x", MIXTURE, 0.1, 20}};
static double draw(const struct family *f, struct ifm_random *random)
{
    double z = ifm_random_normal(random), u = ifm_random_uniform(random), sum = 0;
    switch (f->shape) {
    case NORMAL:
        return 10 + z;
    case UNIFORM:
        return u;
    case GAMMA:
        for (int i = 0; i < (int)f->a; i++)
            sum -= log(1 - ifm_random_uniform(random));
        return sum;
    case LOGNORMAL:
        return exp(f->a * z);
    case PARETO:
        return pow(1 - u, -1 / f->a);
    case MIXTURE:
        return (1 + 0.03 * z) * (u < f->a ? f->b : 1);
    }
    return 0;
}
static double mean_of(const struct family *f)
{
    switch (f->shape) {
    case NORMAL:
        return 10;
    case UNIFORM:
        return 0.5;
    case GAMMA:
        return f->a;
    case LOGNORMAL:
        return exp(f->a * f->a / 2);
    case PARETO:
        return f->a / (f->a - 1);
    case MIXTURE:
        return 1 + f->a * (f->b - 1);
    }
    return 0;
}
/* Blocks, and runs in each. */
static const struct size {
    size_t blocks, runs;
} sizes[] = {{10, 2}, {10, 15}, {15, 10}, {30, 5}, {30, 20}};

/* Means of blocks; of another arm without a tail, `other`. */
static void fill(const struct family *f, const struct size *size, struct ifm_random *random, double *means,
                 double *other)
{
    for (size_t i = 0; i < size->blocks; i++) {
        means[i] = other[i] = 0;
        for (size_t j = 0; j < size->runs; j++) {
            means[i] += draw(f, random) / (double)size->runs;
            other[i] += (1 + 0.01 * ifm_random_normal(random)) / (double)size->runs;
        }
    }
}

static double mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* What derive makes of such blocks, and whether it holds the truth. */
static bool holds(int kind, const double *means, const double *other, size_t n, double truth)
{
    double values[MOST], all = mean(means, n), base = mean(other, n);
    struct ifm_log_mean out;
    struct ifm_interval interval;
    for (size_t i = 0; i < n; i++) {
        const double own = log(all) + means[i] / all - 1;
        values[i] = kind == WINDOWS ? means[i] : kind == LEVEL ? own : own - log(base) - (other[i] / base - 1);
    }
    if (kind == WINDOWS) {
        struct ifm_moments m;
        return ifm_stats_moments(values, n, &m) == IFM_STAT_OK &&
               ifm_stats_t_interval(m.mean, m.sd, (double)n, IFM_LEVEL, &interval) == IFM_STAT_OK &&
               interval.low <= truth && truth <= interval.high;
    }
    const bool made = kind == LEVEL ? ifm_log_level_of(values, n, 0, &out) : ifm_log_mean_of(values, n, 0, &out);
    return made && ifm_log_mean_interval(&out, IFM_LEVEL, &interval) && interval.low <= log(truth) &&
           log(truth) <= interval.high;
}

static void shares_of(const struct family *f, const struct size *size, uint32_t stream, double held[KINDS])
{
    for (int kind = 0; kind < KINDS; kind++)
        held[kind] = 0;
    for (uint32_t set = 0; set < SETS; set++) {
        struct ifm_random random = ifm_random_start(20261123 + stream, set * 64 + (uint32_t)size->blocks);
        double means[MOST], other[MOST];
        fill(f, size, &random, means, other);
        for (int kind = 0; kind < KINDS; kind++)
            held[kind] += holds(kind, means, other, size->blocks, mean_of(f)) ? 1.0 / SETS : 0;
    }
}

/* The least that is asked: 93 % of families without a long tail; of mixtures 95 %, less the 5 % of data sets that hold
 * no slow run and two of the simulation's standard errors; 86 % where there is hardly a variance, and nothing where
 * there is none: no interval of such a mean holds. */
static double least_of(const struct family *f)
{
    if (f->shape == PARETO && f->a < 2)
        return 0;
    if (f->shape == PARETO || (f->shape == LOGNORMAL && f->a >= 1))
        return 0.86;
    return f->shape == MIXTURE ? 0.88 : 0.93;
}

static void intervals_of_150_runs_hold(void **state)
{
    (void)state;
    size_t wrong = 0, blind = 0;
    printf("| values | blocks x runs | level | change | windows |\n");
    for (uint32_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            double held[KINDS], least = 1;
            const bool enough = sizes[k].blocks * sizes[k].runs >= IFM_TAIL_RUNS;
            shares_of(&families[f], &sizes[k], f, held);
            for (int kind = 0; kind < KINDS; kind++)
                least = fmin(least, held[kind]);
            const bool bad = enough && least < least_of(&families[f]);
            wrong += bad;
            blind += !enough && families[f].shape == MIXTURE && held[LEVEL] < 0.7;
            printf("| %s | %zu x %zu | %.3f | %.3f | %.3f |%s\n", families[f].name, sizes[k].blocks, sizes[k].runs,
                   held[LEVEL], held[CHANGE], held[WINDOWS], bad ? "!" : "");
        }
    assert_int_equal(wrong, 0);
    assert_true(blind >= 4); /* of 20 runs: the bound is needed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_of_150_runs_hold)};
    return cmocka_run_group_tests_name("tails of blocks", tests, NULL, NULL);
}
