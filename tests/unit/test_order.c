/* What is drawn in each block: balance by counting, and what it buys under drift and autocorrelation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "model/plan.h"
#include "stats/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 9 };

static void a_block_is_a_permutation_and_its_mirror_image(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= MOST; n++)
        for (unsigned block = 0; block < 200; block++) {
            struct ifm_cell cell = {.n_arms = n, .seed = n};
            unsigned order[2 * MOST], seen[MOST] = {0};
            ifm_plan_order(&cell, block, order);
            for (unsigned i = 0; i < n; i++) {
                assert_true(order[i] < n);
                assert_int_equal(order[i], order[2 * n - 1 - i]);
                assert_int_equal(seen[order[i]]++, 0);
            }
        }
}

/* Blocks of one row: two of them are a block of two. */
static void a_row_and_its_mirror_image_may_be_two_blocks(void **state)
{
    (void)state;
    const bool without[MOST] = {false};
    for (unsigned n = 1; n <= MOST; n++)
        for (unsigned block = 0; block < 50; block++) {
            struct ifm_cell cell = {.n_arms = n, .seed = n};
            unsigned whole[2 * MOST], halves[4 * MOST];
            assert_int_equal(ifm_plan_order_rows(&cell, without, 2, block, whole), 2 * n);
            assert_int_equal(ifm_plan_order_rows(&cell, without, 1, 2 * block, halves), n);
            assert_int_equal(ifm_plan_order_rows(&cell, without, 1, 2 * block + 1, halves + n), n);
            assert_memory_equal(whole, halves, 2 * n * sizeof *whole);
        }
}

/* Over n blocks each arm stands once at each place, and each of two arms follows the other equally often; the two
 * slots of one arm in the middle of a block are no carry-over from another. */
static void squares_are_balanced(void **state)
{
    (void)state;
    for (unsigned n = 3; n <= MOST; n++)
        for (unsigned square = 0; square < 20; square++) {
            struct ifm_cell cell = {.n_arms = n, .seed = 77};
            unsigned place[MOST][MOST] = {{0}}, after[MOST][MOST] = {{0}};
            for (unsigned row = 0; row < n; row++) {
                unsigned order[2 * MOST];
                ifm_plan_order(&cell, square * n + row, order);
                for (unsigned i = 0; i < n; i++)
                    place[order[i]][i]++;
                for (unsigned i = 1; i < 2 * n; i++)
                    after[order[i - 1]][order[i]]++;
            }
            for (unsigned a = 0; a < n; a++)
                for (unsigned b = 0; b < n; b++) {
                    assert_int_equal(place[a][b], 1);
                    assert_int_equal(after[a][b], a == b ? 1 : 2);
                }
        }
}

/* An order that came again with every square would be no randomisation. */
static void squares_differ(void **state)
{
    (void)state;
    struct ifm_cell cell = {.n_arms = 5, .seed = 3};
    unsigned first[10], order[10], same = 0;
    ifm_plan_order(&cell, 0, first);
    for (unsigned square = 1; square <= 200; square++) {
        ifm_plan_order(&cell, 5 * square, order);
        same += memcmp(first, order, sizeof first) == 0;
    }
    assert_true(same <= 8); /* 200 / 120 are expected */
    cell.seed = 4;
    ifm_plan_order(&cell, 1, order);
    cell.seed = 3;
    ifm_plan_order(&cell, 1, first);
    assert_true(memcmp(first, order, sizeof first) != 0);
}

static void sets_are_shifted_at_random(void **state)
{
    (void)state;
    static const struct ifm_arm arms[] = {{.role = IFM_ROLE_BASELINE},
                                          {.role = IFM_ROLE_VARIANT},
                                          {.role = IFM_ROLE_CEILING},
                                          {.role = IFM_ROLE_VARIANT}};
    struct ifm_cell cell = {.n_arms = 4, .arms = arms, .seed = 12};
    unsigned count[3] = {0}, sets[4], again[4];
    for (unsigned block = 0; block < 3000; block++) {
        assert_int_equal(ifm_plan_sets(&cell, block, sets), 3);
        ifm_plan_sets(&cell, block, again);
        assert_memory_equal(sets, again, sizeof sets);
        assert_int_equal(sets[1], (sets[0] + 1) % 3);
        assert_int_equal(sets[3], (sets[0] + 2) % 3);
        assert_int_equal(sets[2], 3); /* the ceiling's own */
        count[sets[0]]++;
    }
    for (unsigned i = 0; i < 3; i++)
        assert_true(abs((int)count[i] - 1000) < 130); /* five standard deviations */
}

/* One cell of identical arms whose slots drift, curve, remember the slot before and suffer from who ran it; the share
 * of cells in which the 95 % interval of arm 1 against arm 0 excludes zero. */
static unsigned flagged(unsigned n_arms, unsigned cells, unsigned blocks)
{
    unsigned found = 0;
    struct ifm_random random = ifm_random_start(2026, n_arms);
    for (unsigned c = 0; c < cells; c++) {
        struct ifm_cell cell = {.n_arms = n_arms, .seed = 1000 + c};
        double *logs = calloc(blocks, sizeof *logs), noise = ifm_random_normal(&random), carry[MOST];
        unsigned order[2 * MOST];
        for (unsigned i = 0; i < n_arms; i++)
            carry[i] = 0.001 * i; /* what each arm leaves behind for the next one, the same for all that follow */
        unsigned before = 0, slot = 0;
        for (unsigned b = 0; b < blocks; b++) {
            ifm_plan_order(&cell, b, order);
            for (unsigned i = 0; i < 2 * n_arms; i++, slot++) {
                noise = 0.7 * noise + sqrt(1 - 0.7 * 0.7) * ifm_random_normal(&random);
                double drift = 5e-4 * slot, value = drift + 0.005 * noise;
                if (i > 0 && before != order[i] && n_arms > 2)
                    value += carry[before] * 0.1;
                before = order[i];
                if (order[i] < 2)
                    logs[b] += (order[i] == 1 ? 0.5 : -0.5) * value;
            }
        }
        struct ifm_moments moments;
        struct ifm_interval interval;
        assert_int_equal(ifm_stats_moments(logs, blocks, &moments), IFM_STAT_OK);
        assert_int_equal(ifm_stats_t_interval(moments.mean, moments.sd, blocks, 0.95, &interval), IFM_STAT_OK);
        found += interval.low > 0 || interval.high < 0;
        free(logs);
    }
    return found;
}

/* 5 % of 4,000 is 200; the band is three standard deviations (13.8). */
static void identical_arms_are_flagged_at_the_stated_rate(void **state)
{
    (void)state;
    static const unsigned arms[] = {2, 3, 5};
    for (unsigned i = 0; i < 3; i++) {
        unsigned found = flagged(arms[i], 4000, 30);
        print_message("%u arms: %u of 4000 flagged\n", arms[i], found);
        assert_in_range(found, 159, 241);
    }
}

/* Ceilings apart have no place in blocks; a round holds each once, and begins with another each time. */
static void rounds_hold_the_ceilings_and_blocks_the_rest(void **state)
{
    (void)state;
    const struct ifm_arm arms[] = {{.role = IFM_ROLE_BASELINE},
                                   {.role = IFM_ROLE_VARIANT},
                                   {.role = IFM_ROLE_CEILING},
                                   {.role = IFM_ROLE_CEILING},
                                   {.role = IFM_ROLE_CEILING}};
    struct ifm_cell cell = {.arms = arms, .n_arms = 5, .seed = 3, .ceilings_apart = true};
    const bool failed[5] = {false, false, false, true, false};
    unsigned order[MOST];
    assert_int_equal(ifm_plan_count_in_blocks(&cell), 2);
    assert_true(ifm_plan_in_blocks(&cell, 1) && !ifm_plan_in_blocks(&cell, 2));
    for (unsigned round = 0; round < 6; round++) {
        assert_int_equal(ifm_plan_round(&cell, NULL, round, order), 3);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(order[i], 2 + (i + round) % 3);
    }
    assert_int_equal(ifm_plan_round(&cell, failed, 1, order), 2);
    assert_int_equal(order[0], 4);
    assert_int_equal(order[1], 2);
    cell.ceilings_apart = false; /* as older plans have it */
    assert_int_equal(ifm_plan_count_in_blocks(&cell), 5);
    assert_int_equal(ifm_plan_round(&cell, NULL, 0, order), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_a_permutation_and_its_mirror_image),
        cmocka_unit_test(a_row_and_its_mirror_image_may_be_two_blocks),
        cmocka_unit_test(squares_are_balanced),
        cmocka_unit_test(squares_differ),
        cmocka_unit_test(sets_are_shifted_at_random),
        cmocka_unit_test(identical_arms_are_flagged_at_the_stated_rate),
        cmocka_unit_test(rounds_hold_the_ceilings_and_blocks_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
