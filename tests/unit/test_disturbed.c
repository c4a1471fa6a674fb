/* What follows a disturbed block (sample/disturbed.h). */
#include <cmocka.h>

#include "model/plan.h"
#include "sample/disturbed.h"

static const char *const names[] = {"steal_ns"};

/* A block of one slot of 1 ms, of which so much was stolen. */
static enum ifm_block_fate take(struct ifm_repeats *repeats, int64_t stolen_ns)
{
    struct ifm_slot slot = {.start_ns = 0, .end_ns = 1000000, .columns = &stolen_ns};
    return ifm_repeats_take(repeats, &slot, 1);
}

static struct ifm_repeats repeats_of(unsigned rules, unsigned rows)
{
    const struct ifm_cell cell = {.name = "null", .measure = {.cap_s = 10, .stop = IFM_STOP_MDE}};
    return ifm_repeats_of(names, 1, rules, rows, &cell);
}

/* Behind AB, disturbed, AB again where a block holds its mirror image; else BA, so that B runs behind itself. */
static void one_row_goes_on_with_its_mirror_image(void **state)
{
    (void)state;
    static const struct {
        unsigned rules, rows;
        uint32_t turns[4]; /* behind a block that stands, a repeated one, one that stands, a repeated one */
    } rows[] = {{IFM_PLAN_RULES, 2, {1, 1, 2, 2}},
                {IFM_PLAN_RULES, 1, {1, 2, 3, 4}},
                {IFM_PLAN_RULES_MIRROR - 1, 1, {1, 1, 2, 2}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ifm_repeats repeats = repeats_of(rows[i].rules, rows[i].rows);
        assert_int_equal(ifm_repeats_turn(&repeats, 0), 0);
        for (uint32_t block = 0; block < 4; block++) {
            bool disturbed = block % 2 == 1;
            assert_int_equal(take(&repeats, disturbed ? 500000 : 0), disturbed ? IFM_BLOCK_REPEATED : IFM_BLOCK_STANDS);
            assert_int_equal(ifm_repeats_turn(&repeats, block + 1), rows[i].turns[block]);
        }
    }
}

static void no_more_than_every_second_block_is_a_repeat(void **state)
{
    (void)state;
    struct ifm_repeats repeats = repeats_of(IFM_PLAN_RULES, 1);
    unsigned n[3] = {0};
    for (int block = 0; block < 100; block++)
        n[take(&repeats, 500000)]++;
    assert_int_equal(n[IFM_BLOCK_STANDS], 0);
    assert_in_range(n[IFM_BLOCK_REPEATED], 49, 51);
    repeats = repeats_of(IFM_PLAN_RULES_REPEATS - 1, 1); /* an older plan repeated none */
    assert_int_equal(take(&repeats, 500000), IFM_BLOCK_STANDS);
}

/* On a machine that disturbs every block the fewest are over when the cap is, wherever they fit into it at all. */
static void repeats_leave_room_for_the_fewest_blocks(void **state)
{
    (void)state;
    for (int tenths = 1; tenths <= 30; tenths++) {
        const struct ifm_cell cell = {.name = "null", .measure = {.cap_s = 10, .stop = IFM_STOP_MDE, .blocks_min = 6}};
        struct ifm_repeats repeats = ifm_repeats_of(names, 1, IFM_PLAN_RULES, 1, &cell);
        const int64_t length = (int64_t)tenths * 100000000;
        int64_t stolen = length / 2;
        const struct ifm_slot slot = {.start_ns = 0, .end_ns = length, .columns = &stolen};
        unsigned counting = 0, repeated = 0;
        while (counting < 6)
            *(ifm_repeats_take(&repeats, &slot, 1) == IFM_BLOCK_REPEATED ? &repeated : &counting) += 1;
        const double took_s = 1e-9 * (double)length * (counting + repeated), fewest_s = 6e-9 * (double)length;
        assert_true(took_s <= (fewest_s > 10 ? fewest_s : 10) + 1e-6);
        assert_true(repeated > 0 || fewest_s + 1e-9 * (double)length >= 10); /* where one more fits, it is taken */
    }
    const struct ifm_cell cell = {.name = "null", .measure = {.cap_s = 10, .stop = IFM_STOP_MDE, .blocks_min = 6}};
    int64_t stolen = 1000000000;
    const struct ifm_slot slot = {.start_ns = 0, .end_ns = 2 * stolen, .columns = &stolen};
    struct ifm_repeats repeats = ifm_repeats_of(names, 1, IFM_PLAN_RULES_REPEATS_FIT - 1, 1, &cell);
    assert_int_equal(ifm_repeats_take(&repeats, &slot, 1), IFM_BLOCK_REPEATED); /* as its record says */
}

/* Time is summed over CPUs and threads: more than a slot is no percentage of one, and "1390 times" no news. */
static void more_than_a_slot_is_told_in_words(void **state)
{
    (void)state;
    static const struct {
        enum ifm_cause cause;
        double amount;
        const char *text;
    } rows[] = {{IFM_CAUSE_STOLEN, 0.123, "stolen time 12.3 % of a slot"},
                {IFM_CAUSE_STOLEN, 27.9, "stolen time of all CPUs, together longer than the slot itself"},
                {IFM_CAUSE_WAITED, 0.052, "threads waited for a CPU 5.2 % of a slot"},
                {IFM_CAUSE_WAITED, 1.74, "threads waited for a CPU, together longer than the slot itself"}};
    char text[IFM_CAUSE_TEXT];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(ifm_cause_text(rows[i].cause, rows[i].amount, text), rows[i].text);
}

/* The lab sleeps while a program runs: what its own thread waited says nothing of the program's waiting. */
static void a_program_is_disturbed_by_its_own_waiting(void **state)
{
    (void)state;
    static const char *const columns_of_programs[] = {"steal_ns", "run_delay_ns", "child_run_delay_ns",
                                                      "child_wall_ns"};
    static const struct {
        int64_t lab_ns, waited_ns, wall_ns;
        uint32_t samples;
        enum ifm_cause cause;
        bool told;
    } rows[] = {{0, 0, 100000000, 1, IFM_CAUSE_NONE, true},
                {0, 45000000, 100000000, 1, IFM_CAUSE_PROGRAM, true},
                {0, 45000000, 1000000000, 1, IFM_CAUSE_NONE, true},     /* 4.5 % */
                {0, 45000000, 100000000, 450, IFM_CAUSE_NONE, true},    /* 0.1 ms a start is no disturbance */
                {0, 45000000, 100000000, 300, IFM_CAUSE_PROGRAM, true}, /* 15 ms beyond them are */
                {900000000, 0, 100000000, 1, IFM_CAUSE_WAITED, true},   /* the lab did, behind a program's end */
                {0, IFM_ABSENT, 100000000, 1, IFM_CAUSE_NONE, false},   /* nobody knows, and nothing is claimed */
                {900000000, IFM_ABSENT, 100000000, 1, IFM_CAUSE_WAITED, false}};
    struct ifm_cause_columns columns = ifm_cause_columns_of(columns_of_programs, 4);
    assert_true(ifm_cause_of_programs(&columns));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t read[] = {0, rows[i].lab_ns, rows[i].waited_ns, rows[i].wall_ns};
        /* A second of hooks beside the program is in the slot, and not in its time. */
        const struct ifm_slot slot = {.end_ns = 1000000000, .samples = rows[i].samples, .columns = read};
        double amount;
        assert_int_equal(ifm_slot_cause(&slot, &columns, &amount), rows[i].cause);
        assert_int_equal(ifm_cause_was_read(&slot, &columns), rows[i].told);
        const int64_t whole = rows[i].cause == IFM_CAUSE_PROGRAM ? rows[i].wall_ns : slot.end_ns;
        if (rows[i].cause != IFM_CAUSE_NONE)
            assert_int_equal((int64_t)ifm_cause_weight(&slot, &columns, rows[i].cause), whole);
    }
    char text[IFM_CAUSE_TEXT];
    assert_string_equal(ifm_cause_text(IFM_CAUSE_PROGRAM, 0.449, text),
                        "the program waited for a CPU 45 % of its time");
}

/* Of a tree nobody tells the waiting: others took a part of the CPUs, and the tree was taken off them. */
static void a_tree_is_disturbed_by_others_that_took_its_cpus(void **state)
{
    (void)state;
    static const char *const columns_of_programs[] = {"child_run_delay_ns", "child_wall_ns", "child_foreign_ns",
                                                      "child_switches_involuntary"};
    static const struct {
        int64_t waited_ns, foreign_ns, switches;
        enum ifm_cause cause;
        bool told;
    } rows[] = {{IFM_ABSENT, 450000000, 40, IFM_CAUSE_FOREIGN, true},
                {IFM_ABSENT, 90000000, 40, IFM_CAUSE_NONE, true}, /* 9 % of each CPU: they take them from each other */
                {IFM_ABSENT, 450000000, 9, IFM_CAUSE_NONE, true}, /* others ran beside it */
                {IFM_ABSENT, IFM_ABSENT, 40, IFM_CAUSE_NONE, false}, /* too short a slot to tell */
                {IFM_ABSENT, 450000000, IFM_ABSENT, IFM_CAUSE_NONE, false},
                {0, 450000000, 40, IFM_CAUSE_NONE, true}, /* a program that did not wait */
                {450000000, 0, 0, IFM_CAUSE_PROGRAM, true}};
    const struct ifm_cause_columns columns = ifm_cause_columns_of(columns_of_programs, 4);
    char text[IFM_CAUSE_TEXT];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t read[] = {rows[i].waited_ns, 1000000000, rows[i].foreign_ns, rows[i].switches};
        const struct ifm_slot slot = {.end_ns = 1100000000, .samples = 1, .columns = read};
        double amount;
        assert_int_equal(ifm_slot_cause(&slot, &columns, &amount), rows[i].cause);
        assert_int_equal(ifm_cause_was_read(&slot, &columns), rows[i].told);
        if (rows[i].cause == IFM_CAUSE_FOREIGN)
            assert_string_equal(ifm_cause_text(rows[i].cause, amount, text), "other programs took 45 % of each CPU");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_row_goes_on_with_its_mirror_image),
                                       cmocka_unit_test(no_more_than_every_second_block_is_a_repeat),
                                       cmocka_unit_test(repeats_leave_room_for_the_fewest_blocks),
                                       cmocka_unit_test(more_than_a_slot_is_told_in_words),
                                       cmocka_unit_test(a_program_is_disturbed_by_its_own_waiting),
                                       cmocka_unit_test(a_tree_is_disturbed_by_others_that_took_its_cpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
