/* Foretelling: a next run of so many observations decides in four of five, however far this one's estimate was off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "stats/foretell.h"
#include <math.h>
#include <stdlib.h>

static double t_of(double p, double df)
{
    double t = 0;
    assert_int_equal(ifm_stats_t_quantile(p, df, &t), IFM_STAT_OK);
    return t;
}

/* The t interval of so many normal observations of unit spread around `truth`. */
static struct ifm_interval interval_of(struct ifm_random *random, double truth, uint64_t n, double level)
{
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < n; i++) {
        double x = ifm_random_normal(random);
        sum += x;
        squares += x * x;
    }
    const double mean = sum / (double)n, sd = sqrt((squares - (double)n * mean * mean) / ((double)n - 1)),
                 half = t_of(0.5 + 0.5 * level, (double)n - 1.0) * sd / sqrt((double)n);
    return (struct ifm_interval){truth + mean - half, truth + mean + half};
}

/* Runs whose truth lies anywhere about the bound 0, and leave it open: how many of the next runs, each as long as it
 * was told, decide? A forecast that takes the estimate for the truth keeps 67 to 71 of 100. */
static void so_many_decide_in_four_of_five_runs(void **state)
{
    (void)state;
    enum { RUNS = 6000, WIDE = 8 /* standard errors */ };
    static const struct {
        uint64_t n;
        double level;
    } cases[] = {{12, 0.95}, {20, 0.975}, {40, 0.95}};
    struct ifm_random random = ifm_random_start(7, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t n = cases[i].n;
        unsigned told = 0, held = 0;
        for (unsigned run = 0; run < RUNS; run++) {
            const double truth = WIDE * (2 * ifm_random_uniform(&random) - 1) / sqrt((double)n);
            const struct ifm_interval now = interval_of(&random, truth, n, cases[i].level);
            const uint64_t all = now.low > 0 || now.high < 0
                                     ? 0
                                     : ifm_stats_foretell_half(fabs(now.low + now.high) / 2, (now.high - now.low) / 2,
                                                               n, cases[i].level);
            if (all == 0)
                continue;
            assert_true(all > n);
            const struct ifm_interval next = interval_of(&random, truth, all, cases[i].level);
            told++;
            held += next.low > 0 || next.high < 0;
        }
        const double share = held / (double)told;
        print_message("%d observations: %u told, %.3f kept\n", (int)n, told, share);
        if (told < RUNS / 8 || share < 0.77 || share > 0.87)
            fail_msg("%d observations: %g of the next runs decide", (int)n, share);
    }
}

/* Runs whose interval holds zero: how many of the next ones of as many observations lie within the edge that is named?
 * By the far end of the first one's interval far fewer do. */
static void the_edge_holds_the_next_run(void **state)
{
    (void)state;
    enum { RUNS = 6000, WIDE = 8 /* standard errors */ };
    struct ifm_random random = ifm_random_start(11, 0);
    for (uint64_t n = 6; n <= 96; n *= 4) {
        unsigned told = 0, held = 0, by_end = 0;
        for (unsigned run = 0; run < RUNS; run++) {
            const double truth = WIDE * (2 * ifm_random_uniform(&random) - 1) / sqrt((double)n);
            const struct ifm_interval now = interval_of(&random, truth, n, 0.95),
                                      next = interval_of(&random, truth, n, 0.90);
            if (now.low > 0 || now.high < 0)
                continue;
            const double at = (now.low + now.high) / 2, half = (now.high - now.low) / 2,
                         far = fmax(-next.low, next.high), edge = ifm_stats_foretell_edge(at, half, n, 0.95, 0.90);
            told++;
            held += far < edge;
            by_end += far < fabs(at) + half;
        }
        const double share = held / (double)told, bare = by_end / (double)told;
        print_message("%d observations: %.3f within the edge, %.3f within the end\n", (int)n, share, bare);
        if (share < 0.75 || share > 0.85 || bare > 0.7)
            fail_msg("%d observations: %g of the next runs are within the edge, %g within the end", (int)n, share,
                     bare);
    }
    assert_true(ifm_stats_foretell_edge(0, 1, 1, 0.95, 0.9) == 0 &&
                ifm_stats_foretell_edge(0, NAN, 12, 0.95, 0.9) == 0);
    assert_true(ifm_stats_foretell_edge(0, 0, 12, 0.95, 0.9) == 0);
}

/* Runs without a word: how many of the next ones, so many times as long, have one? Times are powers of 2, so that the
 * chance may be better than even. */
static void an_even_chance_of_a_word(void **state)
{
    (void)state;
    enum { RUNS = 3000, N = 24, FAR = 16 /* margins */ };
    const double margin = 0.5 / sqrt(N); /* half a standard error */
    struct ifm_random random = ifm_random_start(13, 0);
    unsigned told = 0, held = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        const double truth = FAR * margin * (2 * ifm_random_uniform(&random) - 1);
        const struct ifm_interval now = interval_of(&random, truth, N, 0.95);
        const uint64_t times =
            ifm_stats_foretell_even((now.low + now.high) / 2, (now.high - now.low) / 2, N, margin, 0.95, 0.9);
        if (now.low > margin || now.high < -margin || times == 0)
            continue;
        assert_true(times >= 2 && times <= IFM_FORETELL_FACTOR);
        const struct ifm_interval next = interval_of(&random, truth, times * N, 0.95);
        const double within = (next.high - next.low) / 2 * t_of(0.95, (double)(times * N) - 1) /
                              t_of(0.975, (double)(times * N) - 1),
                     at = (next.high + next.low) / 2;
        told++;
        held += next.low > margin || next.high < -margin || fabs(at) + within < margin;
    }
    print_message("%u told, %.3f kept\n", told, held / (double)told);
    if (told < RUNS / 4 || held < 0.5 * told || held > 0.75 * told)
        fail_msg("%u of %u", held, told);
    assert_int_equal(ifm_stats_foretell_even(0.5, 1, 12, 0.05, 0.95, 0.9), 0); /* equal ones would not be found */
    assert_int_equal(ifm_stats_foretell_even(0, 1, 12, 0.001, 0.95, 0.9), 0); /* a hundred times as long does not */
    assert_int_equal(ifm_stats_foretell_even(0, 1, 1, 0.1, 0.95, 0.9), 0);
}

/* The same in spreads takes the same multiple of the observations, but for the quantiles of t. */
static void the_root_of_the_observations(void **state)
{
    (void)state;
    double few = (double)ifm_stats_foretell_half(0.2, 0.5, 60, 0.95),
           many = (double)ifm_stats_foretell_half(0.1, 0.25, 240, 0.95);
    assert_true(fabs(many / few - 4.0) < 0.1);
    assert_true(few / 60 > 10 && few / 60 < 100);
}

static void no_sensible_number(void **state)
{
    (void)state;
    assert_int_equal(ifm_stats_foretell_half(0, 1, 12, 0.95), 0);    /* on the bound */
    assert_int_equal(ifm_stats_foretell_half(0.01, 1, 12, 0.95), 0); /* a hundred times as many do not reach */
    assert_int_equal(ifm_stats_foretell_half(1, 1, 1, 0.95), 0);
    assert_int_equal(ifm_stats_foretell_half(1, INFINITY, 12, 0.95), 0);
    assert_int_equal(ifm_stats_foretell_half(NAN, 1, 12, 0.95), 0);
}

/* ---- words of comparisons ---- */

enum { BLOCKS_MOST = 60000 };
static const double SPREAD = 0.02, MARGIN = 0.003;

/* Blocks that resemble the one before by `r`, each around `effect` spreads. */
struct noise {
    struct ifm_random random;
    double r, effect, at;
    double logs[BLOCKS_MOST], room[2 * BLOCKS_MOST];
    size_t n;
};

static void start(struct noise *noise)
{
    noise->n = 0;
    noise->at = ifm_random_normal(&noise->random);
}

static void measure_until(struct noise *noise, size_t n)
{
    for (; noise->n < n; noise->n++) {
        noise->logs[noise->n] = SPREAD * (noise->effect + noise->at);
        noise->at = noise->r * noise->at + sqrt(1 - noise->r * noise->r) * ifm_random_normal(&noise->random);
    }
}

static bool has_word(struct noise *noise, struct ifm_log_mean *mean, struct ifm_interval *change)
{
    const double edge = log1p(MARGIN);
    struct ifm_interval equal;
    assert_true(ifm_stats_log_mean(noise->logs, noise->n, 0, noise->room, mean));
    assert_true(ifm_log_mean_interval(mean, 0.95, change) && ifm_log_mean_interval(mean, 0.90, &equal));
    return change->low > edge || change->high < -edge || (equal.low > -edge && equal.high < edge);
}

/* Of runs that end undecided: how many next ones of as many blocks as they are told have a word. Each has the
 * effect `effect`, or one of its own up to `wide` away. */
static double kept(struct noise *noise, size_t blocks, double effect, double wide, unsigned runs)
{
    unsigned told = 0, held = 0;
    for (unsigned run = 0; run < runs; run++) {
        struct ifm_log_mean mean;
        struct ifm_interval change;
        noise->effect = effect + (wide > 0 ? wide * (2 * ifm_random_uniform(&noise->random) - 1) : 0);
        start(noise);
        measure_until(noise, blocks);
        if (has_word(noise, &mean, &change))
            continue;
        const uint64_t all =
            ifm_stats_foretell_word(&mean, change.low <= 0 && change.high >= 0, log1p(MARGIN), 0.95, 0.90);
        if (all == 0 || all > BLOCKS_MOST)
            continue;
        assert_true(all > blocks);
        start(noise);
        measure_until(noise, all);
        told++;
        held += has_word(noise, &mean, &change);
    }
    assert_true(told > runs / 5);
    return held / (double)told;
}

/* Equal arms, arms that differ by two margins and by more, and by anything up to seven. (At the very edge of the margin
 * nothing decides, and an estimate beside it promises in vain.) */
static void told_blocks_decide(void **state)
{
    (void)state;
    static const struct {
        size_t blocks;
        double r, effect, wide, least;
    } cases[] = {{12, 0, 0, 0, 0.8},      {12, 0, 0.3, 0, 0.8},   {20, 0, 0, 0, 0.8},     {60, 0, 0.3, 0, 0.8},
                 {12, 0.5, 0, 0, 0.65},   {12, 0.5, 0.3, 0, 0.7}, {12, 0.5, 0.5, 0, 0.8}, {20, 0.5, 0, 0, 0.75},
                 {20, 0.5, 0.3, 0, 0.75}, {60, 0.5, 0, 0, 0.8},   {12, 0, 0, 1, 0.82},    {20, 0, 0, 1, 0.82},
                 {60, 0, 0, 1, 0.8},      {60, 0.5, 0, 1, 0.79}};
    struct noise *noise = calloc(1, sizeof *noise);
    assert_non_null(noise);
    noise->random = ifm_random_start(11, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        noise->r = cases[i].r;
        const double share =
            kept(noise, cases[i].blocks, cases[i].effect, cases[i].wide, cases[i].wide > 0 ? 1200 : 400);
        print_message("%zu blocks, correlation %.1f, effect %.1f ± %.0f: %.2f\n", cases[i].blocks, cases[i].r,
                      cases[i].effect, cases[i].wide, share);
        if (share < cases[i].least)
            fail_msg("case %zu: %g of the promises are kept", i, share);
    }
    free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_decide_in_four_of_five_runs),
        cmocka_unit_test(the_edge_holds_the_next_run),
        cmocka_unit_test(an_even_chance_of_a_word),
        cmocka_unit_test(the_root_of_the_observations),
        cmocka_unit_test(no_sensible_number),
        cmocka_unit_test(told_blocks_decide),
    };
    return cmocka_run_group_tests_name("foretell", tests, NULL, NULL);
}
