/* The stop rule: what it wants, when it stops, and that it counts repeats exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "run/pass/stop.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 5, ARMS = 2, SLOTS = 2 * ARMS };

struct fixture {
    struct ifm_arm arms[ARMS];
    struct ifm_cell plan;
    struct ifm_arm_run runs[ARMS];
    struct ifm_cell_run cell;
    struct ifm_stop stop;
    struct ifm_random random;
    double common; /* what both arms of the last block share */
    uint32_t inner;
};

static void start(struct fixture *f, enum ifm_role second)
{
    memset(f, 0, sizeof *f);
    f->inner = 10;
    f->arms[0] = (struct ifm_arm){.name = "a", .role = IFM_ROLE_BASELINE};
    f->arms[1] = (struct ifm_arm){.name = "b", .role = second};
    f->plan = (struct ifm_cell){.name = "cell", .arms = f->arms, .n_arms = ARMS};
    f->plan.measure =
        (struct ifm_measure){.stop = IFM_STOP_MDE, .mde = 0.01, .cap_s = 10, .blocks_min = 6, .blocks_max = 1000};
    for (int i = 0; i < ARMS; i++)
        f->runs[i] = (struct ifm_arm_run){.plan = &f->arms[i], .inner = 1, .samples = SAMPLES};
    f->cell = (struct ifm_cell_run){.plan = &f->plan, .arms = f->runs, .most_samples = SAMPLES, .tick_ns = 1};
    f->random = ifm_random_start(5, 1);
    ifm_stop_init(&f->stop, &f->cell);
}

/* One block in which arm b takes `ratio` times as long; the block as a whole wobbles by `common`, b alone by `own`. */
static double add_block(struct fixture *f, double ratio, double common, double own)
{
    struct ifm_slot slots[SLOTS];
    struct ifm_sample samples[SLOTS * SAMPLES];
    double together = common * ifm_random_normal(&f->random), apart = own * ifm_random_normal(&f->random);
    f->common = exp(together);
    for (unsigned s = 0; s < SLOTS; s++) {
        unsigned arm = s == 1 || s == 2; /* A B B A */
        slots[s] = (struct ifm_slot){.arm = arm, .samples = SAMPLES, .inner = f->inner};
        for (unsigned i = 0; i < SAMPLES; i++)
            samples[s * SAMPLES + i].duration_ns = llround(1e7 * exp(together) * (arm ? ratio * exp(apart) : 1));
    }
    ifm_stop_add(&f->stop, slots, samples);
    return apart;
}

static void common_noise_does_not_count_between_arms(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, IFM_ROLE_VARIANT);
    enum { BLOCKS = 12 };
    double own[BLOCKS], base[BLOCKS], own_mean = 0, base_mean = 0, squares = 0;
    for (int k = 0; k < BLOCKS; k++) {
        own[k] = exp(add_block(&f, 2, 0.2, 0.01)) * f.common;
        base[k] = f.common;
        own_mean += own[k] / BLOCKS;
        base_mean += base[k] / BLOCKS;
    }
    for (int k = 0; k < BLOCKS; k++)
        squares += pow(own[k] / own_mean - base[k] / base_mean, 2);
    double sd = sqrt(squares / (BLOCKS - 1));
    /* t quantiles of 11 degrees of freedom, at 1 - 0.0375 / 2 and 0.8: 2.36472 and 0.87553. */
    double expected = expm1((2.36472 + 0.87553) * sd / sqrt(BLOCKS));
    assert_true(fabs(ifm_stop_mde(&f.stop) / expected - 1) < 1e-4);
    f.plan.measure.margin = 0.02; /* what is called must clear the margin too */
    expected = expm1(log1p(0.02) + (2.36472 + 0.87553) * sd / sqrt(BLOCKS));
    assert_true(fabs(ifm_stop_mde(&f.stop) / expected - 1) < 1e-4);
    ifm_stop_free(&f.stop);
}

static void a_lone_baseline_is_decided_by_its_own_time(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, IFM_ROLE_CEILING); /* the probe may wobble as it likes */
    for (int k = 0; k < 10; k++)
        add_block(&f, 1, 0.0005, 0.5);
    assert_true(ifm_stop_mde(&f.stop) < 0.01);
    assert_string_equal(ifm_stop_reason(&f.stop, 1), "mde");
    ifm_stop_free(&f.stop);
}

static void it_neither_stops_early_nor_late(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, IFM_ROLE_VARIANT);
    assert_true(isinf(ifm_stop_mde(&f.stop)));
    for (int k = 0; k < 9; k++) {
        add_block(&f, 1, 0, 1e-6);
        assert_null(ifm_stop_reason(&f.stop, 5)); /* narrow, but ten blocks are the least for a width */
    }
    add_block(&f, 1, 0, 1e-6);
    assert_string_equal(ifm_stop_reason(&f.stop, 5), "mde");
    ifm_stop_free(&f.stop);
    start(&f, IFM_ROLE_VARIANT);
    for (int k = 0; k < 5; k++)
        add_block(&f, 1, 0, 0.5);
    assert_null(ifm_stop_reason(&f.stop, 1000)); /* the cap does not cut below blocks_min */
    add_block(&f, 1, 0, 0.5);
    assert_null(ifm_stop_reason(&f.stop, 9.9));
    assert_string_equal(ifm_stop_reason(&f.stop, 10), "cap");
    f.plan.measure.blocks_max = 6;
    assert_string_equal(ifm_stop_reason(&f.stop, 0), "blocks_max");
    ifm_stop_free(&f.stop);
}

/* Ten blocks of ten steps each hold none of the one in 50 that may be slow in 13 % of all runs: it goes on to 150. */
static void it_goes_on_until_slow_steps_must_have_been_seen(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, IFM_ROLE_VARIANT);
    f.inner = 1;
    for (int k = 0; k < 14; k++) {
        add_block(&f, 0.5, 0, 1e-6);
        assert_null(ifm_stop_reason(&f.stop, 5));
    }
    assert_true(ifm_stop_expected_blocks(&f.stop, 0.1) == 15);
    assert_string_equal(ifm_stop_reason(&f.stop, 10), "cap");
    f.plan.measure.blocks_max = 14;
    assert_string_equal(ifm_stop_reason(&f.stop, 5), "blocks_max");
    f.plan.measure.blocks_min = 15;
    assert_null(ifm_stop_reason(&f.stop, 10)); /* the fewest blocks come before either */
    f.plan.measure.blocks_min = 6;
    f.plan.measure.blocks_max = 1000;
    add_block(&f, 0.5, 0, 1e-6);
    assert_string_equal(ifm_stop_reason(&f.stop, 5), "mde");
    ifm_stop_free(&f.stop);
    start(&f, IFM_ROLE_CEILING); /* nothing is compared */
    f.inner = 1;
    for (int k = 0; k < 10; k++)
        add_block(&f, 1, 0, 1e-6);
    assert_string_equal(ifm_stop_reason(&f.stop, 5), "mde");
    ifm_stop_free(&f.stop);
}

static void the_clocks_tick_bounds_the_wanted_effect(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, IFM_ROLE_VARIANT);
    f.stop.tick_ns = 5e5; /* a twentieth of a sample */
    add_block(&f, 1, 0, 0);
    assert_true(fabs(ifm_stop_wanted(&f.stop) - 0.05) < 1e-9);
    ifm_stop_free(&f.stop);
}

static void start_group(struct fixture *f)
{
    start(f, IFM_ROLE_VARIANT);
    f->plan.measure.stop = IFM_STOP_GROUP;
    f->plan.measure.blocks_max = 50;
    f->plan.measure.margin = 0.003;
    ifm_stop_free(&f->stop);
    ifm_stop_init(&f->stop, &f->cell);
}

/* The first block at which the rule stops, and its reason. */
static unsigned stops_at(struct fixture *f, double ratio, double own, const char **reason)
{
    unsigned blocks = 0;
    while ((*reason = ifm_stop_reason(&f->stop, 1)) == NULL) {
        add_block(f, ratio, 0.01, own);
        blocks++;
    }
    return blocks;
}

static void a_group_stops_only_at_a_look(void **state)
{
    (void)state;
    struct fixture f;
    const char *reason;
    start_group(&f);
    assert_int_equal(stops_at(&f, 1.5, 0.01, &reason), 10); /* clear at the first of five looks */
    assert_string_equal(reason, "group");
    assert_int_equal(ifm_stop_facts(&f.stop).look, 1);
    assert_true(ifm_stop_facts(&f.stop).level > 0.999);
    ifm_stop_free(&f.stop);
    start_group(&f);
    assert_int_equal(stops_at(&f, 1, 0.0002, &reason), 10); /* equivalent, as clearly */
    assert_string_equal(reason, "group");
    ifm_stop_free(&f.stop);
    start_group(&f);
    assert_int_equal(stops_at(&f, 1.003, 0.01, &reason), 50); /* at the margin: never decided */
    assert_string_equal(reason, "blocks_max");
    ifm_stop_free(&f.stop);
    start_group(&f);
    unsigned blocks = stops_at(&f, 1.013, 0.012, &reason); /* an effect of about five standard errors in the end */
    assert_true(blocks % 10 == 0 && blocks > 10);
    ifm_stop_free(&f.stop);
    start_group(&f);
    f.inner = 1; /* ten steps a block: slow ones may not have been seen at the first look */
    assert_int_equal(stops_at(&f, 1.5, 0.01, &reason), 20);
    assert_string_equal(reason, "group");
    ifm_stop_free(&f.stop);
    start_group(&f);
    f.arms[1].role = IFM_ROLE_CEILING;
    f.arms[0].role = IFM_ROLE_BASELINE;
    ifm_stop_free(&f.stop);
    ifm_stop_init(&f.stop, &f.cell);
    assert_int_equal(stops_at(&f, 1.5, 0.01, &reason), 50); /* nothing is compared, so nothing is decided early */
    ifm_stop_free(&f.stop);
}

/* Runs without an effect and without a margin: how many stop early or end outside zero. */
static void a_group_flags_null_runs_at_the_stated_rate(void **state)
{
    (void)state;
    unsigned flagged = 0;
    for (unsigned run = 0; run < 2000; run++) {
        struct fixture f;
        const char *reason;
        start_group(&f);
        f.plan.measure.margin = 0;
        f.random = ifm_random_start(run, 3);
        (void)stops_at(&f, 1, 0.01, &reason);
        flagged += strcmp(reason, "group") == 0;
        ifm_stop_free(&f.stop);
    }
    print_message("%u of 2000 null runs stopped early with a decision\n", flagged);
    assert_in_range(flagged, 20, 125); /* the last look adds to it */
}

static void start_decided(struct fixture *f)
{
    start(f, IFM_ROLE_VARIANT);
    f->plan.measure.stop = IFM_STOP_DECIDED;
    f->plan.measure.margin = 0.003;
    ifm_stop_free(&f->stop);
    ifm_stop_init(&f->stop, &f->cell);
}

static void it_ends_at_the_first_look_that_decides(void **state)
{
    (void)state;
    struct fixture f;
    const char *reason;
    start_decided(&f);
    assert_int_equal(stops_at(&f, 1.5, 0.001, &reason), 6);
    assert_string_equal(reason, "decided");
    assert_int_equal(ifm_stop_facts(&f.stop).look, 1);
    assert_true(fabs(ifm_stop_facts(&f.stop).level - 0.9975) < 1e-12);
    ifm_stop_free(&f.stop);
    start_decided(&f);
    assert_int_equal(stops_at(&f, 1, 0.0002, &reason), 6); /* equal, as clearly */
    assert_string_equal(reason, "decided");
    ifm_stop_free(&f.stop);
    start_decided(&f);
    unsigned blocks = stops_at(&f, 1.02, 0.012, &reason);
    assert_true(ifm_stats_look_of(6, blocks) > 1); /* later, and at a look */
    assert_string_equal(reason, "decided");
    ifm_stop_free(&f.stop);
    start_decided(&f);
    f.plan.measure.blocks_max = 100;
    assert_int_equal(stops_at(&f, 1.003, 0.01, &reason), 100); /* at the margin: never */
    assert_string_equal(reason, "blocks_max");
    assert_int_equal(ifm_stop_facts(&f.stop).look, 0);
    ifm_stop_free(&f.stop);
}

/* A look is made by the blocks that count: with those that the machine disturbed the same run would be between looks.
 */
static void a_fact_tells_of_the_look_that_decided(void **state)
{
    (void)state;
    struct fixture f;
    const char *reason;
    start_decided(&f);
    ifm_stop_pass_over(&f.stop);
    ifm_stop_pass_over(&f.stop);
    assert_int_equal(stops_at(&f, 1.5, 0.001, &reason), 6);
    assert_string_equal(reason, "decided");
    assert_int_equal(ifm_stop_facts(&f.stop).look, 1);
    ifm_stop_free(&f.stop);
    start_decided(&f); /* undecided: the level of the end, of six blocks and not of 40 */
    for (int k = 0; k < 6; k++)
        add_block(&f, 1.003, 0, 0.01);
    for (int k = 0; k < 34; k++)
        ifm_stop_pass_over(&f.stop);
    double level = ifm_stop_blocks_level(&f.plan, f.stop.all.level, 6, false);
    assert_true(level < ifm_stop_blocks_level(&f.plan, f.stop.all.level, 40, false));
    assert_true(ifm_stop_facts(&f.stop).level == level);
    ifm_stop_free(&f.stop);
    start_group(&f); /* looks are planned by all blocks; the level is that of the eight that decide */
    for (int k = 0; k < 8; k++)
        add_block(&f, 1.5, 0, 0.001);
    double eight = ifm_stop_facts(&f.stop).level;
    ifm_stop_pass_over(&f.stop);
    ifm_stop_pass_over(&f.stop);
    assert_int_equal(ifm_stop_facts(&f.stop).look, 1);
    assert_true(ifm_stop_facts(&f.stop).level == eight);
    ifm_stop_free(&f.stop);
}

/* Called faster is not known: [1.1, 2.0] is no answer to how much. */
static void a_speed_up_is_measured_to_a_tenth_of_itself(void **state)
{
    (void)state;
    struct fixture f;
    const char *reason;
    start_decided(&f);
    unsigned blocks = stops_at(&f, 1.5, 0.05, &reason);
    assert_string_equal(reason, "decided");
    assert_in_range(blocks, 9, 32); /* 6 would be outside the margin */
    ifm_stop_free(&f.stop);
}

static void gates_ask_in_place_of_the_margin(void **state)
{
    (void)state;
    struct ifm_gate gate = {.name = "g", .metric = "change_percent", .arm = "", .cell = "", .threshold = 3};
    struct ifm_plan plan = {.gates = &gate, .n_gates = 1};
    struct ifm_session session = {.plan = &plan};
    struct fixture f;
    const char *reason;
    for (int i = 0; i < 4; i++) {
        start_decided(&f);
        f.plan.measure.blocks_max = 100;
        f.cell.session = &session;
        gate.metric = i < 2 ? "change_percent" : i == 2 ? "speedup" : "latency_ns_p95";
        gate.threshold = i == 0 ? 3 : i == 1 ? 0.3 : 1 / 1.1;
        ifm_stop_free(&f.stop);
        ifm_stop_init(&f.stop, &f.cell);
        unsigned blocks = stops_at(&f, 1.003, 0.002, &reason); /* the margin stays open at any number */
        assert_string_equal(reason, i % 2 == 0 ? "decided" : "blocks_max");
        assert_int_equal(blocks, i % 2 == 0 ? 6 : 100);
        ifm_stop_free(&f.stop);
    }
}

static void slow_steps_must_have_been_seen_at_a_look_too(void **state)
{
    (void)state;
    struct fixture f;
    const char *reason;
    start_decided(&f);
    f.inner = 1; /* ten steps of each arm in a block */
    assert_int_equal(stops_at(&f, 0.5, 0.0001, &reason), 21);
    assert_string_equal(reason, "decided");
    ifm_stop_free(&f.stop);
}

/* But a gate whose answer they could not change, were they ten times as long and as many as may be unseen: 3 / n. */
static void a_gate_that_no_unseen_step_could_change_ends_sooner(void **state)
{
    (void)state;
    static const struct {
        double ratio;
        unsigned rules, blocks;
    } cases[] = {{3, IFM_PLAN_RULES, 6},    {0.5, IFM_PLAN_RULES, 6},  {1.35, IFM_PLAN_RULES, 14},
                 {1.1, IFM_PLAN_RULES, 21}, {1.0, IFM_PLAN_RULES, 21}, {3, IFM_PLAN_RULES_EARLY - 1, 21}};
    struct ifm_gate gate = {.name = "g", .metric = "change_percent", .arm = "", .cell = "", .threshold = 3};
    struct ifm_plan plan = {.gates = &gate, .n_gates = 1};
    struct ifm_session session = {.plan = &plan};
    struct fixture f;
    const char *reason;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start_decided(&f);
        plan.rules = cases[i].rules;
        f.cell.session = &session;
        ifm_stop_free(&f.stop);
        ifm_stop_init(&f.stop, &f.cell);
        f.inner = 1; /* ten steps of each arm in a block */
        assert_int_equal(stops_at(&f, cases[i].ratio, 0.0001, &reason), cases[i].blocks);
        assert_string_equal(reason, "decided");
        ifm_stop_free(&f.stop);
    }
    plan.n_gates = 0; /* how much faster is another question */
    plan.rules = IFM_PLAN_RULES;
    start_decided(&f);
    f.cell.session = &session;
    ifm_stop_free(&f.stop);
    ifm_stop_init(&f.stop, &f.cell);
    f.inner = 1;
    assert_int_equal(stops_at(&f, 3, 0.0001, &reason), 21);
    ifm_stop_free(&f.stop);
}

/* An answer that is not settled ends nothing at this look, of plans whose rules ask; the next look asks anew. */
static void an_open_answer_goes_on_to_the_next_look(void **state)
{
    (void)state;
    for (unsigned rules = IFM_PLAN_RULES_SETTLED - 1; rules <= IFM_PLAN_RULES_SETTLED; rules++) {
        const struct ifm_plan plan = {.rules = rules};
        struct ifm_session session = {.plan = &plan};
        struct fixture f;
        const char *reason;
        start_decided(&f);
        f.cell.session = &session;
        ifm_stop_free(&f.stop);
        ifm_stop_init(&f.stop, &f.cell);
        assert_false(ifm_stop_blocks_asks(&f.stop.all));
        const unsigned first = stops_at(&f, 2, 0.0001, &reason);
        assert_string_equal(reason, "decided");
        assert_int_equal(ifm_stop_blocks_asks(&f.stop.all), rules >= IFM_PLAN_RULES_SETTLED);
        const double level = ifm_stop_facts(&f.stop).level;
        f.stop.all.open = true;
        assert_null(ifm_stop_reason(&f.stop, 1));
        assert_true(ifm_stop_facts(&f.stop).level < level); /* no look ended the run: what is left of the 5 % */
        assert_int_equal(ifm_stop_expected_blocks(&f.stop, 1e-3), ifm_stats_look(6, ifm_stats_look_of(6, first) + 1));
        for (unsigned n = first + 1; ifm_stats_look_of(6, n) == 0; n++) {
            add_block(&f, 2, 0.0001, 0.0001);
            assert_null(ifm_stop_reason(&f.stop, 1));
        }
        add_block(&f, 2, 0.0001, 0.0001);
        assert_string_equal(ifm_stop_reason(&f.stop, 1), "decided");
        ifm_stop_free(&f.stop);
    }
}

static void what_it_says_so_far(void **state)
{
    (void)state;
    struct fixture f;
    struct ifm_so_far said;
    start_decided(&f);
    ifm_stop_so_far(&f.stop, &said);
    assert_string_equal(said.text, "");
    for (int k = 0; k < 5; k++)
        add_block(&f, 0.5, 0.01, 0);
    ifm_stop_so_far(&f.stop, &said);
    assert_string_equal(said.text, "b against a 2x"); /* no interval below six */
    for (int k = 0; k < 3; k++)
        add_block(&f, 0.5, 0.01, 0.05);
    ifm_stop_so_far(&f.stop, &said);
    assert_int_equal(said.blocks, 8);
    double ratio, low, high;
    assert_int_equal(sscanf(said.text, "b against a %lfx [%lf, %lf]", &ratio, &low, &high), 3);
    assert_true(low < ratio && ratio < high && high < 2.2);
    ifm_stop_free(&f.stop);
    start(&f, IFM_ROLE_CEILING); /* nothing is compared */
    add_block(&f, 1, 0, 0);
    ifm_stop_so_far(&f.stop, &said);
    assert_string_equal(said.text, "");
    ifm_stop_free(&f.stop);
}

static void several_variants_share_the_error(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, IFM_ROLE_VARIANT);
    assert_true(fabs(f.stop.all.level - (1 - 0.0375)) < 1e-15); /* of a width that ends the run */
    f.arms[0].role = IFM_ROLE_VARIANT;
    ifm_stop_free(&f.stop);
    ifm_stop_init(&f.stop, &f.cell);
    assert_true(fabs(f.stop.all.level - (1 - 0.01875)) < 1e-15);
    ifm_stop_free(&f.stop);
}

static void repeats_are_counted_exactly(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, IFM_ROLE_VARIANT);
    f.plan.measure.stop = IFM_STOP_REPEATS;
    f.plan.measure.repeats = 100; /* two slots of five samples a block: ten blocks, whatever has been seen in them */
    f.inner = 1;
    for (int k = 0; k < 9; k++) {
        add_block(&f, 1, 0, 0);
        assert_null(ifm_stop_reason(&f.stop, 1e9));
    }
    add_block(&f, 1, 0, 0);
    assert_string_equal(ifm_stop_reason(&f.stop, 0), "repeats");
    assert_true(ifm_stop_expected_blocks(&f.stop, 1) == 10);
    ifm_stop_free(&f.stop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_noise_does_not_count_between_arms),
        cmocka_unit_test(a_lone_baseline_is_decided_by_its_own_time),
        cmocka_unit_test(it_neither_stops_early_nor_late),
        cmocka_unit_test(it_goes_on_until_slow_steps_must_have_been_seen),
        cmocka_unit_test(the_clocks_tick_bounds_the_wanted_effect),
        cmocka_unit_test(a_group_stops_only_at_a_look),
        cmocka_unit_test(a_group_flags_null_runs_at_the_stated_rate),
        cmocka_unit_test(it_ends_at_the_first_look_that_decides),
        cmocka_unit_test(a_fact_tells_of_the_look_that_decided),
        cmocka_unit_test(a_speed_up_is_measured_to_a_tenth_of_itself),
        cmocka_unit_test(gates_ask_in_place_of_the_margin),
        cmocka_unit_test(slow_steps_must_have_been_seen_at_a_look_too),
        cmocka_unit_test(an_open_answer_goes_on_to_the_next_look),
        cmocka_unit_test(what_it_says_so_far),
        cmocka_unit_test(several_variants_share_the_error),
        cmocka_unit_test(repeats_are_counted_exactly),
        cmocka_unit_test(a_gate_that_no_unseen_step_could_change_ends_sooner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
