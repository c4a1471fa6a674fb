/* What an interval must hold beside what it is of: what each arm takes behind itself where the other leaves something
 * behind, and all blocks where the arm itself makes those that are disturbed. By simulation through derive. */
#include "rules/fixture.h"

#include "base/random.h"
#include "derive/compare/settled.h"
#include "stats/tail.h"

enum { RUNS = 200 };
static const double STEP = 100000.0;

/* What the slots of an arm are: `typical` times the other's; behind the other arm `behind` times as long; a share `own`
 * of its slots `times` as long, half of which its threads wait; all scatter by `sd`. */
struct model {
    double typical, behind, own, times, sd;
    bool awake; /* no thread waits in its slow slots: the program itself takes long */
};

static void make(struct fixture *fx, const struct model *base, const struct model *other, struct ifm_random *random)
{
    struct ifm_record *r = &fx->parts[0].record;
    int64_t now = 1000;
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_slot *slot = &r->slots[k];
        const struct model *m = slot->arm == 1 ? other : base;
        double all = m->typical * exp(m->sd * ifm_random_normal(random));
        if (k > 0 && r->slots[k - 1].arm != slot->arm)
            all *= m->behind;
        const bool slow = m->own > 0 && slot->phase == IFM_PHASE_MEASURE && ifm_random_uniform(random) < m->own;
        all *= slow ? m->times : 1;
        slot->start_ns = now;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            r->samples[i] = (struct ifm_sample){now, llround(STEP * all)};
            now += r->samples[i].duration_ns;
        }
        slot->end_ns = now;
        ((int64_t *)slot->columns)[2] = slow && !m->awake ? (slot->end_ns - slot->start_ns) / 2 : 0;
        now += 500;
    }
}

struct tally {
    unsigned faster, slower, missed, passed;
};

static void start_run(struct fixture *fx, unsigned blocks)
{
    fx_start(fx);
    fx->blocks = blocks;
    fx->samples = 1;
    fx->plan.rules = IFM_PLAN_RULES_REPEATS;
    fx->cells[0].measure.stop = IFM_STOP_REPEATS;
    fx->cells[0].measure.repeats = 2 * blocks;
    fx->cells[0].measure.resamples = 199; /* of intervals on which no word rests */
    fx->parts[0].arms[0].gaps = fx->parts[0].arms[1].gaps = true;
}

/* `truth`: the change in percent. The gate asks for at most -20 %. */
static struct tally simulate(unsigned blocks, const struct model *base, const struct model *other, double truth)
{
    struct tally tally = {0};
    struct ifm_random random = ifm_random_start(20261124, blocks);
    for (unsigned run = 0; run < RUNS; run++) {
        struct fixture fx;
        start_run(&fx, blocks);
        fx_gate(&fx, "change_percent", "other", IFM_GATE_AT_MOST, -20, true);
        fx_generate(&fx);
        make(&fx, base, other, &random);
        fx_end_events(&fx);
        fx_derive(&fx);
        fx_judge(&fx);
        const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
        tally.faster += strcmp(change->text, "faster") == 0;
        tally.slower += strcmp(change->text, "slower") == 0;
        tally.missed += change->has_interval && (truth < change->low || truth > change->high);
        tally.passed += fx.verdict->outcome == IFM_OUTCOME_PASS;
        fx_stop(&fx);
    }
    print_message("%u blocks: %u faster, %u slower, %u intervals miss %+.3g %%, %u gates pass\n", blocks, tally.faster,
                  tally.slower, tally.missed, truth, tally.passed);
    return tally;
}

/* Equal alone; the baseline takes longer behind the other, by too little to be found. Before, 40 of 100 were faster. */
static void what_is_left_behind_and_not_found_makes_no_word(void **state)
{
    (void)state;
    static const struct {
        unsigned blocks;
        double behind;
    } cases[] = {{6, 1.05}, {10, 1.025}, {20, 1.02}, {50, 1.01}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tally t = simulate(cases[i].blocks, &(struct model){1, cases[i].behind, 0, 1, 0.02, false},
                                  &(struct model){1, 1, 0, 1, 0.02, false}, 0);
        assert_true(t.faster + t.slower <= RUNS / 8 && t.missed <= RUNS / 6);
    }
}

/* And costs little where nothing is left behind: a true change is found nearly as often, and equal arms are. */
static void a_true_change_is_still_found(void **state)
{
    (void)state;
    struct tally t =
        simulate(20, &(struct model){1, 1, 0, 1, 0.02, false}, &(struct model){0.97, 1, 0, 1, 0.02, false}, -3);
    assert_true(t.faster >= RUNS * 9 / 10 && t.slower == 0);
    t = simulate(20, &(struct model){1, 1, 0, 1, 0.02, false}, &(struct model){1, 1, 0, 1, 0.02, false}, 0);
    assert_true(t.faster + t.slower <= RUNS / 20 && t.missed <= RUNS / 20);
}

/* Its own slow slots wait, as those do that a machine disturbs; they are too few to be told from chance. */
static void what_an_arm_does_to_itself_now_and_then_counts(void **state)
{
    (void)state;
    static const struct {
        unsigned blocks;
        double typical, own, times;
    } cases[] = {
        {30, 0.75, 0.05, 5}, {20, 0.75, 0.08, 5}, {60, 0.75, 0.05, 5}, {75, 0.75, 0.03, 5}, {30, 0.98, 0.05, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double truth = 100 * (cases[i].typical * (1 + cases[i].own * (cases[i].times - 1)) - 1);
        struct tally t =
            simulate(cases[i].blocks, &(struct model){1, 1, 0, 1, 0.02, false},
                     &(struct model){cases[i].typical, 1, cases[i].own, cases[i].times, 0.02, false}, truth);
        assert_true(t.missed <= RUNS / 4);  /* all of them before */
        assert_true(t.passed <= RUNS / 10); /* 60 to 97 of 100 before */
        assert_true(truth < 0 || t.faster <= RUNS / 20);
    }
}

/* Nor is it for the machine to say where time is stolen from one arm alone: the interval holds what all blocks say. */
static void time_stolen_from_one_arm_alone_is_in_the_interval(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(20261129, 2);
    struct fixture fx;
    start_run(&fx, 60);
    fx_generate(&fx);
    make(&fx, &(struct model){1, 1, 0, 1, 0.02, false}, &(struct model){1, 1, 0.3, 1.5, 0.02, false}, &random);
    const struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++) { /* stolen, not waited */
        int64_t *columns = (int64_t *)r->slots[k].columns;
        columns[0] = columns[2];
        columns[2] = 0;
    }
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct ifm_value *change = fx_value(&fx, "other", "change_percent"),
                           *all = fx_value(&fx, "other", "change_percent_all_blocks");
    assert_non_null(fx_finding(&fx, "rule-02", "disturbed blocks are those of other alone"));
    assert_true(all->number > 10 && change->number < 3 && all->number <= change->high);
    fx_stop(&fx);
}

/* Whose the disturbed blocks are is said, with how many; and that the interval holds all, beside a mean of others. */
static void whose_the_disturbed_blocks_are_is_said(void **state)
{
    (void)state;
    enum { BLOCKS = 60 };
    struct ifm_random random = ifm_random_start(20261129, 1);
    unsigned met = 0, taken = 0;
    for (unsigned run = 0; run < 20; run++) {
        struct fixture fx;
        start_run(&fx, BLOCKS);
        fx_generate(&fx);
        make(&fx, &(struct model){1, 1, 0, 1, 0.02, false},
             &(struct model){run % 2 == 0 ? 0.98 : 0.5, 1, 0.05, 2, 0.02, false}, &random);
        unsigned disturbed = 0, last = BLOCKS * 2;
        const struct ifm_record *r = &fx.parts[0].record;
        for (size_t k = 0; k < r->n_slots; k++) {
            const bool more = r->slots[k].columns[2] > 0 && r->slots[k].block != last;
            disturbed += more;
            last = more ? r->slots[k].block : last;
        }
        fx_end_events(&fx);
        fx_derive(&fx);
        char text[120];
        snprintf(text, sizeof text, "%u of %u disturbed blocks are those of other alone, maybe its own doing",
                 disturbed, disturbed);
        const struct ifm_finding *said = fx_finding(&fx, "rule-02", text);
        const char *blocks = ifm_judge_blocks_of_interval(fx.derived, "decode", "other", fx.arena);
        assert_int_equal(strstr(blocks, "of 60 (interval widened to hold that of all 60)") != NULL, said != NULL);
        if (said != NULL) {
            const struct ifm_value *change = fx_value(&fx, "other", "change_percent"),
                                   *all = fx_value(&fx, "other", "change_percent_all_blocks");
            met++;
            taken += said->takes_word;
            assert_true(change->low <= all->number && all->number <= change->high);
        }
        fx_stop(&fx);
    }
    print_message("%u lopsided runs, %u words taken\n", met, taken);
    assert_true(met >= 3 && taken >= 1 && taken < met);
}

/* In how many of so many runs of `blocks` blocks a finding holds `text`; `mean` is that of the change, in percent. */
static unsigned count_said(unsigned runs, unsigned blocks, const struct model *base, const struct model *other,
                           const char *text)
{
    struct ifm_random random = ifm_random_start(20261127, blocks);
    unsigned said = 0;
    for (unsigned run = 0; run < runs; run++) {
        struct fixture fx;
        start_run(&fx, blocks);
        fx_generate(&fx);
        make(&fx, base, other, &random);
        fx_end_events(&fx);
        fx_derive(&fx);
        said += fx_finding(&fx, "rule-07", text) != NULL;
        fx_stop(&fx);
    }
    print_message("%u blocks: \"%s\" is said in %u of %u runs\n", blocks, text, said, runs);
    return said;
}

/* Slow runs that come by chance are nobody's leavings: four questions are asked, and together they err in 0.3 %.
 * Before, 11 of 1,000 such pairs had one. */
static void rare_slow_runs_are_no_carry_over(void **state)
{
    (void)state;
    const struct model rare = {1, 1, 0.025, 11, 0.02, true}, even = {1, 1, 0, 1, 0.02, true};
    assert_true(count_said(1000, 40, &even, &rare, IFM_CARRIED_WORDS) <= 5);
    assert_true(count_said(1000, 12, &even, &even, IFM_CARRIED_WORDS) <= 5);
    assert_true(count_said(100, 20, &(struct model){1, 1.1, 0, 1, 0.02, true}, &even, IFM_CARRIED_WORDS) >= 95);
}

/* A factor that is printed as 1 says nothing, and is not said. */
static void a_factor_of_one_is_not_said(void **state)
{
    (void)state;
    const struct model left = {1, 1.0003, 0, 1, 0.0001, true}, even = {1, 1, 0, 1, 0.0001, true};
    assert_int_equal(count_said(20, 60, &left, &even, IFM_CARRIED_WORDS), 0);
    const struct model more = {1, 1.01, 0, 1, 0.0001, true};
    assert_int_equal(count_said(20, 60, &more, &even, IFM_CARRIED_WORDS "|as its slots are mixed|orders, wide as each"),
                     20);
    /* twelve times as long slots of the same repeats would leave five blocks of 60, and none of 6 */
    assert_int_equal(count_said(5, 60, &more, &even, ". Remedy: --slot-steps 12 --repeats 480, as the time depends"),
                     5);
    assert_int_equal(count_said(5, 10, &more, &even, ". Remedy: --slot-steps 12 --repeats 240, as the time depends"),
                     5);
}

/* Under a cap slots of twelve steps of 100 ms would leave two blocks: the cap goes with them, where it is too short. */
static void a_cap_that_keeps_the_blocks_is_named(void **state)
{
    (void)state;
    static const struct {
        double cap_s;
        const char *text;
    } cases[] = {{24, ". Remedy: --slot-steps 12 --cap 97s, as"}, {96, "--cap 97s"}, {97, "--slot-steps 12, as"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fx;
        struct ifm_random random = ifm_random_start(20261128, 1);
        fx_start(&fx);
        fx.blocks = 60;
        fx.samples = 1;
        fx.plan.rules = IFM_PLAN_RULES_REPEATS;
        fx.cells[0].measure.stop = IFM_STOP_MDE;
        fx.cells[0].measure.resamples = 199;
        fx.parts[0].arms[0].gaps = fx.parts[0].arms[1].gaps = true;
        fx_generate(&fx);
        fx.cells[0].measure.cap_s = cases[i].cap_s;
        make(&fx, &(struct model){1000, 1.01, 0, 1, 0.0001, true}, &(struct model){1000, 1, 0, 1, 0.0001, true},
             &random);
        fx_end_events(&fx);
        fx_derive(&fx);
        assert_non_null(fx_finding(&fx, "rule-07", cases[i].text));
        fx_stop(&fx);
    }
}

/* What the slots behind themselves say may be a difference too, and another one. */
static void slots_behind_themselves_are_not_said_to_tell_nothing(void **state)
{
    (void)state;
    const struct model left = {1, 1.05, 0, 1, 0.02, true}, even = {1, 1, 0, 1, 0.02, true};
    static const char said[] = "in slots right after one of the same arm the change is|interval holds both: undecided";
    assert_true(count_said(100, 10, &left, &even, said) > 0);
    assert_int_equal(count_said(100, 10, &left, &even, "no difference"), 0);
}

static enum ifm_outcome held_to(struct fixture *fx, const char *metric, double most)
{
    fx->plan.n_gates = 0;
    fx_gate(fx, metric, "other", IFM_GATE_AT_MOST, most, true);
    fx_judge(fx);
    return fx->verdict->outcome;
}

/* They widen the interval: a limit beyond all of it is kept, or missed, whatever took the word. That of the medians is
 * another one, which need not hold what took it. */
static void a_gate_is_held_against_the_widened_interval(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(20261128, 8);
    const struct model left = {1, 1.05, 0, 1, 0.02, true}, even = {1, 1, 0, 1, 0.02, true};
    unsigned met = 0, medians = 0;
    for (unsigned run = 0; run < 40; run++) {
        struct fixture fx;
        fx_start(&fx);
        fx.blocks = 10;
        fx.samples = 1;
        fx.parts[0].arms[0].gaps = fx.parts[0].arms[1].gaps = true;
        fx_generate(&fx);
        make(&fx, &left, &even, &random);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
        const struct ifm_finding *dispute = ifm_derived_dispute(fx.derived, "decode", "other", IFM_M_CHANGE_PERCENT);
        if (dispute != NULL && dispute->in_intervals) {
            met++;
            assert_int_equal(held_to(&fx, "change_percent", change->high + 1), IFM_OUTCOME_PASS);
            assert_int_equal(held_to(&fx, "change_percent", (change->low + change->high) / 2), IFM_OUTCOME_BLOCKED);
            assert_non_null(strstr(fx.verdict->gates[0].reason, ", on both sides of ")); /* nothing takes it */
            assert_non_null(strstr(fx.verdict->gates[0].reason, "; rule-07: "));
            assert_null(strstr(fx.verdict->gates[0].reason, " but "));
            assert_int_equal(held_to(&fx, "change_percent", change->low - 1), IFM_OUTCOME_FAIL);
            medians += fx_value(&fx, "other", "change_percent_median")->has_interval;
            assert_int_equal(held_to(&fx, "change_percent_median", 100), IFM_OUTCOME_BLOCKED);
        }
        fx_stop(&fx);
    }
    assert_true(met >= 3 && medians >= 3); /* the test met what it is about */
}

/* What the stop rule asks before a look ends a run is what derive says when it has: does the interval hold the limit?
 * Of carry-over it does not ask, as no further block mends it. */
static void a_look_asks_what_derive_will_say(void **state)
{
    (void)state;
    static const struct model even = {1, 1, 0, 1, 0.02, true}, later = {1.02, 1, 0, 1, 0.02, true},
                              waits = {1, 1, 0.05, 2, 0.02, false}, left = {1, 1.05, 0, 1, 0.005, true};
    static const struct {
        const struct model *other;
        double limit; /* percent */
    } rows[] = {{&later, 3}, {&waits, 8}, {&left, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ifm_random random = ifm_random_start(20261130, (uint32_t)i);
        unsigned open = 0, carried = 0;
        for (unsigned run = 0; run < 60; run++) {
            struct fixture fx;
            fx_start(&fx);
            fx.blocks = 60;
            fx.samples = 1;
            fx.plan.rules = IFM_PLAN_RULES;
            fx.cells[0].measure.stop = IFM_STOP_DECIDED;
            fx.cells[0].measure.blocks_min = 6;
            fx.cells[0].measure.blocks_max = 10000;
            fx.cells[0].measure.resamples = 199;
            fx.parts[0].arms[0].gaps = fx.parts[0].arms[1].gaps = true;
            fx_gate(&fx, "change_percent", "other", IFM_GATE_AT_MOST, rows[i].limit, true);
            fx_generate(&fx);
            fx.cells[0].measure.cap_s = 1e-6; /* no block is run again */
            make(&fx, &even, rows[i].other, &random);
            fx_stop_fact(&fx, "decode", "decided");
            struct ifm_stop_blocks rule = ifm_stop_blocks_of(&fx.cells[0], &fx.plan);
            rule.steps = IFM_TAIL_RUNS;
            const struct ifm_record *r = &fx.parts[0].record;
            const bool settled = ifm_derive_settled(&rule, events_of(fx.events, fx.arena), r, UINT32_MAX);
            fx_end_events(&fx);
            fx_derive(&fx);
            const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
            assert_true(change->has_interval);
            const bool holds = change->low <= rows[i].limit && rows[i].limit <= change->high,
                       is_carried = fx_finding(&fx, "rule-07", IFM_CARRIED_WORDS) != NULL;
            assert_int_equal(settled, is_carried || !holds);
            open += holds && !is_carried;
            carried += is_carried;
            fx_stop(&fx);
        }
        print_message("of 60 looks %u are open, %u have carry-over\n", open, carried);
        assert_true(rows[i].other == &left ? carried >= 55 : open >= 5 && open <= 55 && carried <= 1);
    }
}

/* A slot that read pages from a disk may be the machine's or the arm's doing: its block is never set aside. */
static void what_is_read_from_a_disk_is_not_set_aside(void **state)
{
    (void)state;
    static char faults[] = "faults_major";
    struct fixture fx;
    struct ifm_random random = ifm_random_start(20261124, 7);
    const struct model same = {1, 1, 0, 1, 0.01, false};
    for (int column = 0; column < 2; column++) { /* 0: pages from a disk, 1: waiting */
        fx_start(&fx);
        fx.blocks = 40;
        fx.samples = 1;
        fx.plan.rules = IFM_PLAN_RULES_REPEATS;
        fx.cells[0].measure.stop = IFM_STOP_REPEATS;
        fx.cells[0].measure.repeats = 80;
        fx_generate(&fx);
        make(&fx, &same, &same, &random);
        struct ifm_record *r = &fx.parts[0].record;
        r->column_names[1] = column == 0 ? faults : r->column_names[1];
        for (size_t k = 0, n = 0; k < r->n_slots; k++) {
            ((int64_t *)r->slots[k].columns)[1] = 0;
            if (r->slots[k].phase == IFM_PHASE_MEASURE && n++ % 16 == 3)
                ((int64_t *)r->slots[k].columns)[column == 0 ? 1 : 2] = column == 0 ? 5 : 60000;
        }
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_number *all = ifm_derived_find(fx.derived, "decode", "other", IFM_M_CHANGE_PERCENT_ALL_BLOCKS);
        assert_true((all == NULL) == (column == 0));
        fx_stop(&fx);
    }
}

/* The level wanders from slot to slot: the mean's interval counts slots, that of the middle gives way. */
static void a_level_that_wanders_is_in_the_interval_of_the_mean(void **state)
{
    (void)state;
    static const double keeps = 0.8, sd = 0.01;
    struct ifm_random random = ifm_random_start(20261124, 9);
    unsigned missed = 0, middles = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct fixture fx;
        fx_start(&fx);
        fx.blocks = 100;
        fx_generate(&fx);
        struct ifm_record *r = &fx.parts[0].record;
        double level = 0;
        int64_t now = 1000;
        for (size_t k = 0; k < r->n_slots; k++) {
            level = keeps * level + sqrt(1 - keeps * keeps) * sd * ifm_random_normal(&random);
            r->slots[k].start_ns = now;
            for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
                r->samples[i] =
                    (struct ifm_sample){now, llround(STEP * exp(level + 0.005 * ifm_random_normal(&random)))};
                now += r->samples[i].duration_ns;
            }
            r->slots[k].end_ns = now;
            now += 500;
        }
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *mean = fx_value(&fx, "base", "latency_ns_mean");
        const double truth = STEP * exp(0.5 * (sd * sd + 0.005 * 0.005));
        missed += !mean->has_interval || truth < mean->low || truth > mean->high;
        middles += fx_value(&fx, "base", "latency_ns_trimmed_mean")->has_interval;
        fx_stop(&fx);
    }
    print_message("of %d intervals of the mean %u miss; %u of the middle\n", RUNS, missed, middles);
    assert_true(missed <= 22 && middles <= RUNS / 3); /* 74 missed before */
}

/* The machine disturbs nearly all blocks, and the baseline takes longer behind the other arm. Whatever finding says
 * that a word is taken says no word that the interval beside it does not bear. */
static void no_finding_says_what_the_interval_does_not(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(20261124, 16);
    const struct model base = {1, 1.03, 0, 1, 0.002, false}, other = {1, 1, 0, 1, 0.002, false};
    unsigned widened = 0, said = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct fixture fx;
        fx_start(&fx);
        fx.blocks = 40;
        fx.samples = 1;
        fx_generate(&fx);
        make(&fx, &base, &other, &random);
        struct ifm_record *r = &fx.parts[0].record;
        for (size_t k = 0; k < r->n_slots; k++)
            ((int64_t *)r->slots[k].columns)[0] =
                r->slots[k].block > 4 ? (r->slots[k].end_ns - r->slots[k].start_ns) / 10 : 0;
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *speedup = fx_value(&fx, "other", "speedup");
        const bool holds_one = speedup->has_interval && speedup->low <= 1 && speedup->high >= 1;
        widened += holds_one;
        said += holds_one &&
                (fx_finding(&fx, "rule-02", "faster over") != NULL ||
                 fx_finding(&fx, "rule-02", "faster, but") != NULL || fx_finding(&fx, "rule-07", "faster by") != NULL);
        fx_stop(&fx);
    }
    print_message("%u of %d intervals hold 1x, beside %u of which a finding says faster\n", widened, RUNS, said);
    assert_true(widened > RUNS / 4 && said == 0);
}

/* What the order of slots does is claimed where most slots of either place are undisturbed, and nobody is sent to
 * longer slots against a load; the interval is as wide either way. */
static void a_load_hides_what_the_order_of_slots_does(void **state)
{
    (void)state;
    static const struct {
        uint32_t quiet; /* blocks */
        bool told;
    } cases[] = {{40, true}, {30, true}, {12, false}, {4, false}};
    const struct model base = {1, 1.3, 0, 1, 0.002, false}, other = {1, 1, 0, 1, 0.002, false};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fx;
        struct ifm_random random = ifm_random_start(20261124, 16);
        fx_start(&fx);
        fx.blocks = 40;
        fx.samples = 1;
        fx_generate(&fx);
        make(&fx, &base, &other, &random);
        struct ifm_record *r = &fx.parts[0].record;
        for (size_t k = 0; k < r->n_slots; k++)
            ((int64_t *)r->slots[k].columns)[0] =
                r->slots[k].block >= cases[i].quiet ? (r->slots[k].end_ns - r->slots[k].start_ns) / 10 : 0;
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_finding *hidden = fx_finding(&fx, "rule-07", "too many to tell " IFM_ORDER_HIDDEN_WORDS);
        assert_true((fx_finding(&fx, "rule-07", IFM_CARRIED_WORDS) != NULL) == cases[i].told);
        assert_true((fx_finding(&fx, "rule-07", "--slot-steps") != NULL) == cases[i].told);
        assert_true((hidden != NULL) == !cases[i].told);
        const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
        assert_true(change->low < -15 && change->high > 10);
        assert_string_equal(change->text, "undecided");
        fx_stop(&fx);
    }
}

struct told {
    bool alternates, ordered;
};

/* Slots of odd number take `odd` times as long, and arms behind another one `base` and `other` times. */
static struct told told_of(double odd, double base, double other, double sd, unsigned blocks, unsigned seed)
{
    struct fixture fx;
    struct ifm_random random = ifm_random_start(20261128, seed);
    fx_start(&fx);
    fx.blocks = blocks;
    fx.samples = 1;
    fx_generate(&fx);
    make(&fx, &(struct model){1, base, 0, 1, sd, false}, &(struct model){1, other, 0, 1, sd, false}, &random);
    struct ifm_record *r = &fx.parts[0].record;
    int64_t now = 1000;
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_sample *sample = &r->samples[r->first[k]];
        sample->duration_ns = llround((k % 2 == 1 ? odd : 1) * (double)sample->duration_ns);
        r->slots[k].start_ns = sample->start_ns = now;
        r->slots[k].end_ns = now += sample->duration_ns;
        now += 500;
    }
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct told told = {
        fx_finding(&fx, "rule-07", IFM_ALTERNATES_WORDS "|whichever arm runs") != NULL,
        fx_finding(&fx, "rule-07", IFM_CARRIED_WORDS) != NULL,
    };
    const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
    assert_true(!told.alternates || sd > 0.02 || (change->low < 2 && change->high > -2));
    fx_stop(&fx);
    return told;
}

/* A machine whose every other slot is slow, whichever arm runs, and arms that are slow behind one another, or one of
 * them alone: an arm is blamed where it is one's doing. Where times scatter either may be missed, and none is taken for
 * the other but once in a hundred runs. */
static void a_machine_that_alternates_is_no_order_of_arms(void **state)
{
    (void)state;
    static const struct {
        double odd, base, other;
        bool alternates, ordered;
    } cases[] = {{0.77, 1, 1, true, false},     {1.3, 1, 1, true, false},  {1, 1.3, 1.3, false, true},
                 {1, 1.3, 1, false, true},      {1, 1, 0.77, false, true}, {1, 0.77, 0.77, false, true},
                 {0.77, 1.5, 1.5, false, true}, {1, 1, 1, false, false}};
    unsigned runs = 0, wrong = 0, found = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (unsigned blocks = 16; blocks <= 40; blocks += 8) {
            const struct told t = told_of(cases[i].odd, cases[i].base, cases[i].other, 0.02, blocks, blocks);
            if (t.alternates != cases[i].alternates || t.ordered != cases[i].ordered)
                fail_msg("case %zu, %u blocks: alternates %d, ordered %d", i, blocks, t.alternates, t.ordered);
        }
        for (unsigned seed = 0; seed < 60; seed++, runs++) {
            const struct told t = told_of(cases[i].odd, cases[i].base, cases[i].other, 0.08, 8 + seed % 4 * 8, seed);
            wrong += (t.alternates && !cases[i].alternates) || (t.ordered && !cases[i].ordered);
            found += t.alternates || t.ordered;
        }
    }
    print_message("of %u runs %u are told of either, %u of the wrong one\n", runs, found, wrong);
    assert_true(wrong <= runs / 100 && found > runs / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_behind_and_not_found_makes_no_word),
        cmocka_unit_test(a_true_change_is_still_found),
        cmocka_unit_test(what_an_arm_does_to_itself_now_and_then_counts),
        cmocka_unit_test(what_is_read_from_a_disk_is_not_set_aside),
        cmocka_unit_test(a_look_asks_what_derive_will_say),
        cmocka_unit_test(a_gate_is_held_against_the_widened_interval),
        cmocka_unit_test(no_finding_says_what_the_interval_does_not),
        cmocka_unit_test(a_load_hides_what_the_order_of_slots_does),
        cmocka_unit_test(a_machine_that_alternates_is_no_order_of_arms),
        cmocka_unit_test(a_level_that_wanders_is_in_the_interval_of_the_mean),
        cmocka_unit_test(time_stolen_from_one_arm_alone_is_in_the_interval),
        cmocka_unit_test(whose_the_disturbed_blocks_are_is_said),
        cmocka_unit_test(rare_slow_runs_are_no_carry_over),
        cmocka_unit_test(a_cap_that_keeps_the_blocks_is_named),
        cmocka_unit_test(a_factor_of_one_is_not_said),
        cmocka_unit_test(slots_behind_themselves_are_not_said_to_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
