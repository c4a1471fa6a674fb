/* The dry run's estimate: what the stop rule, warm-up, memory and later passes make of steps of known length.
 *
 * Two blocks of these steps last longer than a pilot may, so that all but the opening of the cell is arithmetic. */
#include "unit/run_sample.h"

#include "stats/sequential.h"
#include <math.h>

static const double BLOCK_S = 2 * (5 + 1) * (1.0 + 2.0), FIXED_S = 0.03; /* with an untimed step a slot */
static const double WARM_UP_S = 2 * (6 * 1.0 + 6 * 2.0); /* two windows of five steps and one untimed: the cap is 5 s */

static int set_up_long(void **state)
{
    if (set_up(state) != 0)
        return 1;
    struct fixture *f = *state;
    f->options.device.script = "step_ns=1e9; arm.slow.step_ns=2e9";
    f->cells[0].measure.repeats = 100;
    f->arms[0].memory = 1000;
    f->arms[1].memory = 500;
    return 0;
}

/* Opening takes real time, a little. */
static void assert_seconds(double seconds, double expected)
{
    if (seconds < expected || seconds > expected + 3)
        fail_msg("%g s, not %g s", seconds, expected);
}

static struct ifm_estimate estimate(struct fixture *f, struct ifm_estimate *cells)
{
    struct ifm_estimate total;
    if (ifm_run_estimate(&f->plan, &f->options, cells, &total, &f->error) != IFM_OK)
        fail_msg("%s", f->error.message);
    return total;
}

/* Two windows that differ want a third, as the first is the coldest. */
static void repeats_are_known_beforehand(void **state)
{
    struct fixture *f = *state;
    struct ifm_estimate cells[2], total = estimate(f, cells);
    double blocks = 100 / (2 * 5);
    assert_seconds(cells[0].seconds, WARM_UP_S + blocks * BLOCK_S);
    assert_true(cells[0].low == cells[0].seconds);
    assert_seconds(total.seconds, FIXED_S + cells[0].seconds);
    assert_true(total.low == total.seconds);
    assert_true(fabs(cells[0].high - cells[0].seconds - WARM_UP_S / 2) < 1e-6);
    assert_true(fabs(total.high - total.seconds - WARM_UP_S / 2) < 1e-6);
}

/* Without a number of repeats the slots of both arms last as long: five steps of the slow one, ten of the other. */
#define EVEN_BLOCK_S (4 * 10.0 + 2 * (1 + 2.0))
#define EVEN_WARM_UP_S (2 * (10 + 10 + 1 + 2.0))

static void a_stop_rule_gives_a_range(void **state)
{
    struct fixture *f = *state;
    struct ifm_measure *measure = &f->cells[0].measure;
    struct ifm_estimate cells[2];
    measure->stop = IFM_STOP_MDE;
    measure->cap_s = 1000;
    struct ifm_estimate total = estimate(f, cells);
    assert_seconds(total.low, FIXED_S + cells[0].low);
    assert_seconds(total.high, FIXED_S + cells[0].high);
    assert_seconds(cells[0].low, EVEN_WARM_UP_S + 6 * EVEN_BLOCK_S);
    assert_seconds(cells[0].seconds, EVEN_WARM_UP_S + 10 * EVEN_BLOCK_S); /* fewer have no width to go by */
    assert_seconds(cells[0].high, 1.5 * EVEN_WARM_UP_S + 22 * EVEN_BLOCK_S);
    measure->cap_s = 100; /* the fewest blocks take longer than that: they are of one row */
    (void)estimate(f, cells);
    assert_true(cells[0].low == cells[0].seconds);
    assert_seconds(cells[0].seconds, EVEN_WARM_UP_S + 6 * EVEN_BLOCK_S / 2);
    assert_seconds(cells[0].high, 1.5 * EVEN_WARM_UP_S + 6 * EVEN_BLOCK_S / 2);
    if (cells[0].cap_wanted_s != 140) /* 138 to two digits */
        fail_msg("a cap of %.17g s", cells[0].cap_wanted_s);
    measure->stop = IFM_STOP_GROUP;
    measure->blocks_max = 100;
    measure->cap_s = 6000;
    (void)estimate(f, cells);
    assert_int_equal(ifm_stats_sequential_look(100, 1), 20);
    assert_seconds(cells[0].low, EVEN_WARM_UP_S + 20 * EVEN_BLOCK_S);
    assert_seconds(cells[0].seconds, EVEN_WARM_UP_S + 100 * EVEN_BLOCK_S);
}

/* Until each arm has its steps, or the cap has passed: it is looked at between windows. */
static void warm_up_ends_by_steps_or_by_its_cap(void **state)
{
    struct fixture *f = *state;
    struct ifm_estimate cells[2];
    double window_s = WARM_UP_S / 2;
    f->cells[0].measure.warmup_cap_s = 1e6;
    (void)estimate(f, cells);
    assert_seconds(cells[0].seconds, 10 * window_s + 10 * BLOCK_S); /* 50 steps in windows of five */
    assert_true(cells[0].high == cells[0].seconds);
    f->cells[0].measure.warmup_cap_s = 3.5 * window_s;
    (void)estimate(f, cells);
    assert_seconds(cells[0].seconds, 4 * window_s + 10 * BLOCK_S);
    f->cells[0].measure.warmup = 1;
    (void)estimate(f, cells);
    assert_seconds(cells[0].seconds, 2 * window_s + 10 * BLOCK_S); /* two, so that there is something to compare */
}

static void later_passes_count(void **state)
{
    struct fixture *f = *state;
    struct ifm_estimate cells[2];
    add_passes(f);
    f->options.device.script = "step_ns=1e9; arm.slow.step_ns=2e9";
    (void)estimate(f, cells);
    assert_seconds(cells[0].seconds, WARM_UP_S + (10 + 2 * BLOCKS) * BLOCK_S);
    assert_true(cells[0].low == cells[0].seconds);
}

static void cells_add_up_and_memory_does_not(void **state)
{
    struct fixture *f = *state;
    struct ifm_arm larger[2];
    struct ifm_estimate cells[3];
    memcpy(larger, f->arms, sizeof larger);
    larger[1].memory = 5000;
    struct ifm_cell three[3] = {f->cells[0], f->cells[0], f->cells[0]};
    three[1].arms = larger;
    three[1].measure.isolation = IFM_ISOLATION_BUFFERS; /* each arm in as many sets as there are arms */
    three[2].unsupported = "no such unit here";
    f->plan.cells = three;
    f->plan.n_cells = 3;
    struct ifm_estimate total = estimate(f, cells);
    assert_int_equal(cells[0].memory, 1500);
    assert_int_equal(cells[1].memory, 12000);
    assert_int_equal(cells[2].memory, 0);
    assert_int_equal(total.memory, 12000);
    assert_true(cells[2].seconds == 0 && cells[2].high == 0);
    assert_true(total.seconds - (FIXED_S + cells[0].seconds + cells[1].seconds) < 1e-9);
    assert_seconds(total.seconds, FIXED_S + 2 * (WARM_UP_S + 10 * BLOCK_S));
    three[2] = f->cells[0];
    assert_true(estimate(f, cells).memory == 12000); /* of the largest cell, not of the last */
    larger[1].memory = larger[0].memory;             /* of one ledger: one memory, in each of two sets of buffers */
    assert_true(estimate(f, cells).memory == 2000);
    three[1].measure.isolation = IFM_ISOLATION_SHARED;
    estimate(f, cells);
    assert_int_equal(cells[1].memory, 1000);
}

/* Short steps are timed in a pilot, which records nothing. */
static void a_pilot_leaves_no_record(void **state)
{
    struct fixture *f = *state;
    struct ifm_estimate cells[2];
    char path[64];
    f->options.device.script = "step_ns=10000; arm.slow.step_ns=20000";
    f->cells[0].measure.stop = IFM_STOP_MDE;
    (void)estimate(f, cells);
    assert_true(cells[0].low > 0 && cells[0].low <= cells[0].seconds && cells[0].seconds <= cells[0].high);
    assert_true(cells[0].seconds < 10); /* the scripted clock says 0.2 s for ten blocks, the machine less */
    snprintf(path, sizeof path, "%s/samples/0-latency.csv", f->dir);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* When the time for looking is over, cells of a workload that was opened before are scaled. */
static void like_cells_are_scaled(void **state)
{
    struct fixture *f = *state;
    struct ifm_arm larger[2];
    struct ifm_estimate cells[3];
    memcpy(larger, f->arms, sizeof larger);
    for (int i = 0; i < 2; i++) {
        f->arms[i].ledger.bytes_read = 1000;
        larger[i].ledger.bytes_read = 3000;
    }
    struct ifm_cell two[2] = {f->cells[0], f->cells[0]};
    two[1].arms = larger;
    f->plan.cells = two;
    f->plan.n_cells = 2;
    (void)estimate(f, cells);
    assert_false(cells[1].scaled);
    f->options.look_s = 1e-9;
    (void)estimate(f, cells);
    assert_false(cells[0].scaled);
    assert_true(cells[1].scaled);
    assert_seconds(cells[1].parts[IFM_PART_BLOCKS], 3 * 10 * BLOCK_S);
}

static void count_part(void *context, const struct ifm_parts *parts)
{
    if (parts->at != IFM_PART_BLOCKS)
        ((unsigned *)context)[parts->at]++;
}

/* Whoever waits is told what is opened, for each arm. */
static void the_parts_are_told(void **state)
{
    struct fixture *f = *state;
    struct ifm_estimate cells[2];
    unsigned told[IFM_PARTS] = {0};
    f->options.progress = (struct ifm_progress){.tell = count_part, .context = told};
    (void)estimate(f, cells);
    assert_int_equal(told[IFM_PART_DATA], 3); /* the cell, and two arms */
    assert_int_equal(told[IFM_PART_CHECKS], 2);
    assert_int_equal(told[IFM_PART_CALIBRATION], 2);
}

static void an_unknown_device_is_refused(void **state)
{
    struct fixture *f = *state;
    struct ifm_estimate cells[2], total;
    f->plan.device = "abacus";
    assert_int_equal(ifm_run_estimate(&f->plan, &f->options, cells, &total, &f->error), IFM_MISSING);
    assert_non_null(strstr(f->error.message, "abacus"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(repeats_are_known_beforehand, set_up_long, tear_down),
        cmocka_unit_test_setup_teardown(a_stop_rule_gives_a_range, set_up_long, tear_down),
        cmocka_unit_test_setup_teardown(warm_up_ends_by_steps_or_by_its_cap, set_up_long, tear_down),
        cmocka_unit_test_setup_teardown(later_passes_count, set_up_long, tear_down),
        cmocka_unit_test_setup_teardown(cells_add_up_and_memory_does_not, set_up_long, tear_down),
        cmocka_unit_test_setup_teardown(a_pilot_leaves_no_record, set_up_long, tear_down),
        cmocka_unit_test_setup_teardown(like_cells_are_scaled, set_up_long, tear_down),
        cmocka_unit_test_setup_teardown(the_parts_are_told, set_up_long, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_device_is_refused, set_up_long, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
