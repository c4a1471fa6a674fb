/* Foretelling: so many observations do decide, in four of five runs, and fewer do not. */
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

/* In how many of `runs` does the interval of `n` normal observations of unit spread lie wholly above -room? */
static double decided(struct ifm_random *random, double room, unsigned n, double level, unsigned runs)
{
    unsigned above = 0;
    double t = t_of(0.5 + 0.5 * level, n - 1.0);
    for (unsigned run = 0; run < runs; run++) {
        double sum = 0, squares = 0;
        for (unsigned i = 0; i < n; i++) {
            double x = ifm_random_normal(random);
            sum += x;
            squares += x * x;
        }
        double mean = sum / n, sd = sqrt((squares - n * mean * mean) / (n - 1));
        above += mean - t * sd / sqrt(n) > -room;
    }
    return above / (double)runs;
}

static void so_many_decide_in_four_of_five_runs(void **state)
{
    (void)state;
    static const struct {
        double room, level;
        uint64_t n;
    } cases[] = {{0.5, 0.95, 12}, {0.3, 0.975, 8}, {1.0, 0.95, 6}, {0.25, 0.95, 40}};
    struct ifm_random random = ifm_random_start(7, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double n = (double)cases[i].n, half = t_of(0.5 + 0.5 * cases[i].level, n - 1) / sqrt(n);
        uint64_t all = ifm_stats_foretell_half(cases[i].room, half, cases[i].n, cases[i].level);
        assert_true(all > cases[i].n);
        double share = decided(&random, cases[i].room, (unsigned)all, cases[i].level, 4000);
        double half_as_many = decided(&random, cases[i].room, (unsigned)all / 2, cases[i].level, 4000);
        if (share < 0.77 || share > 0.85 || half_as_many > 0.65)
            fail_msg("case %zu, %llu observations: %g of the runs are decided, %g by half as many", i,
                     (unsigned long long)all, share, half_as_many);
    }
}

/* Half the distance takes four times as many, but for the quantiles of t. */
static void the_root_of_the_observations(void **state)
{
    (void)state;
    double far = (double)ifm_stats_foretell_half(0.2, 0.5, 60, 0.95),
           near = (double)ifm_stats_foretell_half(0.1, 0.5, 60, 0.95);
    assert_true(fabs(near / far - 4.0) < 0.05);
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

/* Of runs that end undecided, those that are measured on for as many blocks as they are told: how many have a word. */
static double kept(struct noise *noise, size_t blocks, unsigned runs)
{
    unsigned told = 0, held = 0;
    for (unsigned run = 0; run < runs; run++) {
        struct ifm_log_mean mean;
        struct ifm_interval change;
        noise->n = 0;
        noise->at = ifm_random_normal(&noise->random);
        measure_until(noise, blocks);
        if (has_word(noise, &mean, &change))
            continue;
        const uint64_t all =
            ifm_stats_foretell_word(&mean, change.low <= 0 && change.high >= 0, log1p(MARGIN), 0.95, 0.90);
        if (all == 0 || all > BLOCKS_MOST)
            continue;
        assert_true(all > blocks);
        measure_until(noise, all);
        told++;
        held += has_word(noise, &mean, &change);
    }
    assert_true(told > runs / 2);
    return held / (double)told;
}

/* Equal arms, and arms that differ by two margins and by more. (At the very edge of the margin nothing decides, and an
 * estimate beside it promises in vain.) */
static void told_blocks_decide(void **state)
{
    (void)state;
    static const struct {
        size_t blocks;
        double r, effect, least;
    } cases[] = {{12, 0, 0, 0.8},     {12, 0, 0.3, 0.8},   {20, 0, 0, 0.8},    {60, 0, 0.3, 0.8},    {12, 0.5, 0, 0.65},
                 {12, 0.5, 0.3, 0.7}, {12, 0.5, 0.5, 0.8}, {20, 0.5, 0, 0.75}, {20, 0.5, 0.3, 0.75}, {60, 0.5, 0, 0.8}};
    struct noise *noise = calloc(1, sizeof *noise);
    assert_non_null(noise);
    noise->random = ifm_random_start(11, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        noise->r = cases[i].r;
        noise->effect = cases[i].effect;
        const double share = kept(noise, cases[i].blocks, 400);
        print_message("%zu blocks, correlation %.1f, effect %.1f: %.2f\n", cases[i].blocks, cases[i].r, cases[i].effect,
                      share);
        if (share < cases[i].least)
            fail_msg("case %zu: %g of the promises are kept", i, share);
    }
    free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_decide_in_four_of_five_runs),
        cmocka_unit_test(the_root_of_the_observations),
        cmocka_unit_test(no_sensible_number),
        cmocka_unit_test(told_blocks_decide),
    };
    return cmocka_run_group_tests_name("foretell", tests, NULL, NULL);
}
