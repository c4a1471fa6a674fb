/* Means of block logarithms: what they are made of, their effective size, and their interval. */
#include "rules/fixture.h"

#include "derive/internal.h"
#include "stats/stats.h"

enum { MOST = 48 };

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1.0, fabs(b));
}

static void a_mean_needs_a_value_and_a_spread_needs_two(void **state)
{
    (void)state;
    static const double logs[] = {1, 3};
    struct ifm_log_mean mean;
    assert_false(ifm_log_mean_of(logs, 0, 0.0, &mean));
    assert_false(ifm_log_level_of(logs, 0, 0.0, &mean));
    assert_true(ifm_log_mean_of(logs, 1, 0.0, &mean));
    assert_true(mean.n == 1 && mean.mean == 1 && mean.sd == 0 && mean.df == 0);
    assert_true(ifm_log_mean_of(logs, 2, 0.0, &mean));
    assert_true(mean.n == 2 && mean.mean == 2 && near(mean.sd, sqrt(2)) && mean.n_effective == 2 && mean.df == 1);
}

/* Equal blocks are equal to the tick of the clock alone; beside a larger spread the tick is nothing. */
static void the_tick_is_the_least_spread(void **state)
{
    (void)state;
    static const double equal[] = {5, 5, 5}, apart[] = {4, 5, 6};
    struct ifm_log_mean mean;
    assert_true(ifm_log_mean_of(equal, 3, 0.6, &mean));
    assert_true(near(mean.sd, 0.6 / sqrt(12)));
    assert_true(ifm_log_mean_of(apart, 3, 0.6, &mean));
    assert_true(near(mean.sd, 1));
}

/* Halves of a series at two levels repeat themselves; a straight line does not. */
static void visible_dependence_shrinks_a_series_of_ten(void **state)
{
    (void)state;
    struct ifm_log_mean mean;
    double logs[MOST], line[MOST];
    for (size_t i = 0; i < MOST; i++) {
        logs[i] = sin(6.283185307179586 * (double)i / 10); /* one wave in ten blocks */
        line[i] = 0.5 * (double)i + (i % 4 == 0 || i % 4 == 3 ? 0.1 : -0.1);
    }
    assert_true(ifm_log_mean_of(logs, 9, 0.0, &mean));
    assert_true(mean.n_effective == 9 && mean.df == 8);
    assert_true(ifm_log_mean_of(logs, 10, 0.0, &mean));
    assert_true(mean.n_effective >= 3 && mean.n_effective < 9 && mean.df == mean.n_effective - 1);
    assert_true(ifm_log_mean_of(line, 12, 0.0, &mean));
    assert_true(mean.n_effective == 12 && mean.df == 11);
    for (size_t i = 0; i < MOST; i++) /* a slow wave: a block is all but the one before */
        logs[i] = sin(6.283185307179586 * (double)i / MOST);
    assert_true(ifm_log_mean_of(logs, MOST, 0.0, &mean));
    assert_true(mean.n_effective == 3);
}

/* A level is guarded for dependence that a short series hides, and its freedom lies between the two sizes. */
static void a_level_is_guarded(void **state)
{
    (void)state;
    struct ifm_log_mean mean;
    double logs[MOST], r, effective;
    for (size_t i = 0; i < MOST; i++)
        logs[i] = sin(6.283185307179586 * (double)i / 5);
    assert_true(ifm_log_level_of(logs, 9, 0.0, &mean));
    assert_true(mean.n_effective == 9 && mean.df == 8);
    assert_int_equal(ifm_stats_autocorrelation(logs, 24, &r), IFM_STAT_OK);
    assert_int_equal(ifm_stats_effective_guarded(24, r, &effective), IFM_STAT_OK);
    assert_true(effective > 3 && effective < 20);
    assert_true(ifm_log_level_of(logs, 24, 0.0, &mean));
    assert_true(mean.n_effective == effective && near(mean.df, sqrt((effective - 1) * 23)));
}

static void an_interval_needs_six_blocks_and_a_spread(void **state)
{
    (void)state;
    static const double t_of_5 = 2.5705818356363146; /* R: qt(0.975, 5) */
    struct ifm_log_mean mean = {.n = 6, .mean = 10, .sd = 2, .n_effective = 4, .df = 5};
    struct ifm_interval interval;
    assert_true(ifm_log_mean_interval(&mean, 0.95, &interval));
    assert_true(fabs(interval.low - (10 - t_of_5)) < 1e-9 && fabs(interval.high - (10 + t_of_5)) < 1e-9);
    mean.n = 5;
    assert_false(ifm_log_mean_interval(&mean, 0.95, &interval));
    mean.n = 6;
    mean.sd = 0;
    assert_false(ifm_log_mean_interval(&mean, 0.95, &interval));
}

/* Of blocks 0 to 3, arm b lacks block 1 and block 3 is marked. */
static void the_blocks_that_are_there_are_taken_in_order(void **state)
{
    (void)state;
    bool all[] = {true, true, true, true}, most[] = {true, false, true, true}, marked[] = {false, false, false, true};
    double time_a[] = {10, 40, 30, 80}, time_b[] = {60, 0, 20, 40}, mid_a[] = {5, 6, 7, 8}, mid_b[] = {50, 60, 70, 80};
    double steps_a[] = {10, 20, 10, 20}, steps_b[] = {10, 0, 10, 20}, medians[] = {1, 2, 3, 4};
    struct ifm_cell_work work = {.n_blocks = 4, .marked = marked};
    struct ifm_arm_work a = {
        .work = &work, .present = all, .time_ns = time_a, .steps = steps_a, .log_median = medians, .mid_ns = mid_a};
    struct ifm_arm_work b = {
        .work = &work, .present = most, .time_ns = time_b, .steps = steps_b, .log_median = steps_b, .mid_ns = mid_b};
    struct ifm_log_mean mean;
    double logs[4], mid[4];
    assert_int_equal(ifm_arm_logs(&a, NULL, logs, mid), 4);
    assert_true(logs[0] == 0 && near(logs[3], log(4)) && mid[0] == 5 && mid[3] == 8);
    assert_int_equal(ifm_arm_logs(&b, marked, logs, mid), 2);
    assert_true(near(logs[0], log(6)) && near(logs[1], log(2)) && mid[1] == 70);
    assert_int_equal(ifm_pair_logs(&a, &b, NULL, logs, mid), 3);
    assert_true(near(logs[0], -log(6)) && near(logs[1], log(1.5)) && near(logs[2], log(2)) && mid[1] == 7);
    assert_int_equal(ifm_pair_logs(&b, &a, marked, logs, NULL), 2);
    assert_int_equal(ifm_pair_medians(&a, &b, NULL, logs), 3);
    assert_true(logs[0] == -9 && logs[1] == -7 && logs[2] == -16);
    /* Time over steps of all blocks, however the steps lie in them. */
    assert_true(ifm_arm_level(&a, NULL, &mean) && mean.n == 4 && near(mean.mean, log(160.0 / 60)));
    assert_true(ifm_arm_level(&a, marked, &mean) && mean.n == 3 && near(mean.mean, log(2)));
    assert_true(ifm_pair_mean(&a, &b, NULL, &mean) && mean.n == 3 && near(mean.mean, 0)); /* 120 / 40, 120 / 40 */
    assert_true(ifm_pair_mean(&a, &b, marked, &mean) && mean.n == 2 && near(mean.mean, log(2) - log(4)));
}

/* The spread of a ratio of means, by the textbook: what each block's time differs from its share, relative to the mean.
 * What both arms share cancels, and a slow step counts as often as it came. */
static void influences_have_the_spread_of_the_ratio(void **state)
{
    (void)state;
    bool all[] = {true, true, true, true}, none[] = {false, false, false, false};
    double one[] = {10, 10, 10, 30}, other[] = {20, 20, 20, 20}, steps[] = {5, 5, 5, 5};
    struct ifm_cell_work work = {.n_blocks = 4, .marked = none};
    struct ifm_arm_work a = {.work = &work, .present = all, .time_ns = one, .steps = steps};
    struct ifm_arm_work b = {.work = &work, .present = all, .time_ns = other, .steps = steps};
    struct ifm_log_mean mean;
    assert_true(ifm_pair_mean(&a, &b, NULL, &mean));
    assert_true(near(mean.mean, log(15.0 / 20)) && near(mean.sd, 10.0 / 15)); /* 10, 10, 10, 30: sd 10 about 15 */
    for (size_t k = 0; k < 4; k++)
        other[k] = 2 * one[k]; /* the slow block is the machine's */
    assert_true(ifm_pair_mean(&a, &b, NULL, &mean));
    assert_true(near(mean.mean, -log(2)) && mean.sd < 1e-12);
}

static void each_ceiling_bounds_an_amount_of_its_own(void **state)
{
    (void)state;
    struct ifm_arm arm = {.ledger = {.bytes_read = 3, .bytes_written = 5, .flops = 11}};
    assert_true(ifm_ceiling_amount(&arm, IFM_CEILING_READ) == 3);
    assert_true(ifm_ceiling_amount(&arm, IFM_CEILING_WRITE) == 5);
    assert_true(ifm_ceiling_amount(&arm, IFM_CEILING_COPY) == 8);
    assert_true(ifm_ceiling_amount(&arm, IFM_CEILING_FLOPS) == 11);
    assert_true(ifm_ceiling_amount(&arm, IFM_CEILING_MATRIX) == 11);
    assert_true(ifm_ceiling_amount(&arm, IFM_CEILING_NONE) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mean_needs_a_value_and_a_spread_needs_two),
        cmocka_unit_test(the_tick_is_the_least_spread),
        cmocka_unit_test(visible_dependence_shrinks_a_series_of_ten),
        cmocka_unit_test(a_level_is_guarded),
        cmocka_unit_test(an_interval_needs_six_blocks_and_a_spread),
        cmocka_unit_test(the_blocks_that_are_there_are_taken_in_order),
        cmocka_unit_test(influences_have_the_spread_of_the_ratio),
        cmocka_unit_test(each_ceiling_bounds_an_amount_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
