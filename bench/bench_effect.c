/* The cost of effect sizes, tests and the time axis, and how often change points and modes are told where there are
 * none: 2,000 series a row. Prints microseconds (best of several) and shares.
 *
 * usage: bench_effect [RUNS]   series a row of the second table, default 2,000 */
#include "base/clock.h"
#include "base/random.h"
#include "stats/effect.h"
#include "stats/modes.h"
#include "stats/steady.h"
#include "stats/test.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONG = 5000, TRIES = 50, LIMIT = 64 };

static double a[LONG + 1], b[LONG + 1], scratch[6 * (LONG + 1)];
static size_t at[LIMIT];

enum kind { NORMAL, LOGNORMAL, AR, STEP, MIXTURE, KINDS };
static const char *const names[KINDS] = {"normal", "lognormal 0.75", "AR(1) 0.3", "step of 1 sd", "mixture 4 sd"};

static void fill(double *x, size_t n, enum kind kind, uint32_t stream)
{
    struct ifm_random random = ifm_random_start(900 + kind, stream);
    double last = ifm_random_normal(&random);
    for (size_t i = 0; i < n; i++) {
        double z = ifm_random_normal(&random);
        last = kind == AR ? 0.3 * last + sqrt(1 - 0.09) * z : z;
        x[i] = kind == LOGNORMAL ? exp(0.75 * last) : last;
        x[i] += kind == STEP && i >= n / 2 ? 1.0 : 0.0;
        x[i] += kind == MIXTURE && ifm_random_below(&random, 2) != 0 ? 4.0 : 0.0;
    }
}

static enum ifm_stat run_cliff(size_t n)
{
    struct ifm_effect e;
    return ifm_stats_cliff(a, n, b, n, 0.95, scratch, &e);
}

static enum ifm_stat run_hedges(size_t n)
{
    struct ifm_effect e;
    return ifm_stats_hedges(a, n, b, n, 0.95, &e);
}

static enum ifm_stat run_changes(size_t n)
{
    struct ifm_changes changes;
    return ifm_stats_changes(a, n, 1.0, scratch, at, LIMIT, &changes);
}

static enum ifm_stat run_mser(size_t n)
{
    struct ifm_warmup_cut cut;
    return ifm_stats_mser5(a, n, &cut);
}

static enum ifm_stat run_modes(size_t n)
{
    struct ifm_modes modes;
    for (size_t i = 0; i < n; i++)
        b[i] = a[i];
    ifm_stats_sort(b, scratch, n);
    return ifm_stats_modes(b, n, &modes);
}

static enum ifm_stat run_flips(size_t n)
{
    static int64_t whole[LONG];
    double p;
    return ifm_stats_sign_flip(a, n < 16 ? n : 16, 1, 0, whole, &p);
}

static void cost(const char *name, enum ifm_stat (*run)(size_t), size_t n)
{
    double best = 1e300;
    fill(a, n, NORMAL, 1);
    fill(b, n, NORMAL, 2);
    for (int i = 0; i < TRIES; i++) {
        struct ifm_instant start = ifm_clock_now();
        if (run(n) != IFM_STAT_OK)
            exit(1);
        best = fmin(best, (double)ifm_clock_since(start).ns * 1e-3);
    }
    printf("%-34s n %5zu  %9.1f us\n", name, n, best);
}

static void shares(enum kind kind, size_t n, unsigned runs)
{
    unsigned changed = 0, late = 0, one = 0, two = 0;
    for (unsigned run = 0; run < runs; run++) {
        struct ifm_changes changes;
        struct ifm_warmup_cut cut;
        struct ifm_modes modes;
        fill(a, n, kind, run);
        if (ifm_stats_changes(a, n, 1.0, scratch, at, LIMIT, &changes) != IFM_STAT_OK ||
            ifm_stats_mser5(a, n, &cut) != IFM_STAT_OK)
            exit(1);
        ifm_stats_sort(a, scratch, n);
        if (ifm_stats_modes(a, n, &modes) != IFM_STAT_OK)
            exit(1);
        changed += changes.count > 0;
        late += !cut.reached;
        one += modes.count == 1;
        two += modes.count == 2;
    }
    double all = runs;
    printf("%-16s n %5zu  change %.4f  cut beyond half %.4f  one mode %.4f  two %.4f\n", names[kind], n, changed / all,
           late / all, one / all, two / all);
}

int main(int argc, char **argv)
{
    unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
    cost("Cliff's delta and interval", run_cliff, 1000);
    cost("Hedges' g and interval", run_hedges, 1000);
    cost("sign flips, all 2^16", run_flips, 16);
    cost("change points", run_changes, 200);
    cost("change points", run_changes, 1000);
    cost("change points", run_changes, LONG);
    cost("MSER-5", run_mser, 1000);
    cost("modes, sort included", run_modes, 1000);
    static const size_t ns[] = {100, 200, 1000};
    for (int kind = 0; kind < KINDS && runs > 0; kind++)
        for (size_t s = 0; s < 3; s++)
            shares((enum kind)kind, ns[s], runs);
    return 0;
}
