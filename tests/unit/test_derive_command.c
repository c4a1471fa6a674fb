/* Numbers of programs: what the columns of the workload `command` become, against values made by hand. */
#include "rules/fixture.h"

static char cpu[] = "child_cpu_ns", rss[] = "child_rss_bytes", failures[] = "child_failures", strays[] = "child_strays",
            failure[] = "child_failure", delay[] = "child_run_delay_ns", wall[] = "child_wall_ns";
static const char *const names[] = {"child_cpu_ns", "child_rss_bytes", "child_failures", "child_strays"};
static const struct ifm_pass pass = {.columns = names, .column_units = names, .n_columns = 4};

/* Two arms, of which the first takes `times` as long as the second, `blocks` blocks of two slots each with `samples`
 * samples; every column 0 to begin with. */
static struct ifm_record *start_with(struct fixture *fx, unsigned blocks, double times)
{
    fx_start(fx);
    fx->blocks = blocks;
    if (times > 0)
        fx->parts[0].step_ns[0] = times * fx->parts[0].step_ns[1];
    fx->parts[0].arms[0].gaps = fx->parts[0].arms[1].gaps = true; /* as the workload describes them */
    fx_generate(fx);
    fx->cells[0].passes = &pass;
    fx->cells[0].n_passes = 1;
    struct ifm_record *r = &fx->parts[0].record;
    r->column_names[0] = cpu;
    r->column_names[1] = rss;
    r->column_names[2] = failures;
    r->column_names[3] = strays;
    memset(r->columns, 0, r->n_slots * FX_COLUMNS * sizeof *r->columns);
    return r;
}

static struct ifm_record *start(struct fixture *fx, unsigned blocks)
{
    return start_with(fx, blocks, 0);
}

static int64_t *columns_of(struct ifm_record *r, size_t slot)
{
    return (int64_t *)r->slots[slot].columns;
}

static void processor_time_is_a_mean_over_blocks(void **state)
{
    (void)state;
    struct fixture fx;
    struct ifm_record *r = start(&fx, 8);
    /* Block b: 1000 + b ns a sample, spread unevenly over the arm's two slots; warm-up must not count. */
    bool second[8] = {false};
    for (size_t k = 0; k < r->n_slots; k++) {
        const struct ifm_slot *slot = &r->slots[k];
        if (slot->arm != 0 || slot->phase != IFM_PHASE_MEASURE) {
            columns_of(r, k)[0] = 1000000000;
            continue;
        }
        unsigned b = slot->block - fx.warmup_blocks;
        int64_t of_both = (1000 + (int64_t)b) * 2 * slot->samples;
        columns_of(r, k)[0] = second[b] ? of_both - 17 : 17;
        second[b] = true;
    }
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct ifm_value *value = fx_value(&fx, "base", "command_cpu_ns");
    assert_int_equal(value->n, 8);
    assert_true(fabs(value->number - 1003.5) < 1e-9);
    /* Standard deviation of 0..7 is sqrt(6); t(0.975, 7) = 2.364624251592784. */
    double half = 2.364624251592784 * sqrt(6.0) / sqrt(8.0);
    assert_true(value->has_interval);
    assert_true(fabs(value->low - (1003.5 - half)) < 1e-6 && fabs(value->high - (1003.5 + half)) < 1e-6);
    fx_stop(&fx);
}

static void few_blocks_have_no_interval(void **state)
{
    (void)state;
    struct fixture fx;
    struct ifm_record *r = start(&fx, 4);
    for (size_t k = 0; k < r->n_slots; k++)
        columns_of(r, k)[0] = 500 * r->slots[k].samples;
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct ifm_value *value = fx_value(&fx, "base", "command_cpu_ns");
    assert_true(value->number == 500 && !value->has_interval);
    assert_string_equal(value->text, "needs 6 blocks, has 4");
    fx_stop(&fx);
}

static void memory_is_the_largest_and_counts_are_totals(void **state)
{
    (void)state;
    struct fixture fx;
    struct ifm_record *r = start(&fx, 8);
    int64_t slots = 0;
    for (size_t k = 0; k < r->n_slots; k++) {
        bool base = r->slots[k].arm == 0, measured = r->slots[k].phase == IFM_PHASE_MEASURE;
        columns_of(r, k)[1] = !base ? IFM_ABSENT : measured ? 1000 + (int64_t)k : 1000000;
        columns_of(r, k)[2] = measured ? 2 : 100;
        columns_of(r, k)[3] = base ? 1 : IFM_ABSENT;
        slots += base && measured;
    }
    int64_t last = 0;
    for (size_t k = 0; k < r->n_slots; k++)
        if (r->slots[k].arm == 0 && r->slots[k].phase == IFM_PHASE_MEASURE)
            last = 1000 + (int64_t)k;
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_true(fx_value(&fx, "base", "command_rss_bytes")->number == (double)last);
    assert_true(fx_value(&fx, "base", "command_failures")->number == 2.0 * (double)slots);
    assert_true(fx_value(&fx, "base", "command_strays")->number == (double)slots);
    assert_int_equal(fx_value(&fx, "other", "command_rss_bytes")->state, IFM_STATE_ABSENT);
    assert_facts(fx_value(&fx, "other", "command_rss_bytes")->reason, "above|own");
    assert_int_equal(fx_value(&fx, "other", "command_strays")->state, IFM_STATE_ABSENT);
    fx_stop(&fx);
}

/* `column` of the first measured slot of an arm becomes `value`. */
static void put(struct ifm_record *r, unsigned arm, size_t column, int64_t value)
{
    size_t k = 0;
    while (r->slots[k].arm != arm || r->slots[k].phase != IFM_PHASE_MEASURE)
        k++;
    columns_of(r, k)[column] = value;
}

static enum ifm_state state_of(struct fixture *fx, const char *arm, const char *metric)
{
    return fx_value(fx, arm, metric)->state;
}

/* One failed run of many: the arm has no time, and nothing is compared with it. */
static void runs_that_failed_are_no_samples(void **state)
{
    (void)state;
    static const struct {
        int64_t code;
        const char *words;
    } ends[] = {
        {3, "exit status 3"}, {256 + 11, "signal 11"}, {512, "time limit"}, {513, "outlived"}, {0, "not recorded"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (unsigned arm = 0; arm < 2; arm++) {
            struct fixture fx;
            struct ifm_record *r = start(&fx, 8);
            r->column_names[1] = failure;
            put(r, arm, 1, ends[i].code);
            put(r, arm, 2, 1);
            fx_end_events(&fx);
            fx_derive(&fx);
            const char *failed = arm == 0 ? "base" : "other", *good = arm == 0 ? "other" : "base";
            assert_int_equal(state_of(&fx, failed, "step_ns"), IFM_STATE_REFUSED);
            assert_int_equal(state_of(&fx, failed, "command_cpu_ns"), IFM_STATE_REFUSED);
            assert_int_equal(state_of(&fx, failed, "command_failures"), IFM_STATE_OK);
            assert_int_equal(state_of(&fx, good, "step_ns"), IFM_STATE_OK);
            assert_int_equal(state_of(&fx, "other", "change_percent"), IFM_STATE_REFUSED);
            assert_int_equal(state_of(&fx, "other", "speedup"), IFM_STATE_REFUSED);
            assert_non_null(strstr(fx_value(&fx, failed, "step_ns")->reason, ends[i].words));
            assert_non_null(strstr(fx_value(&fx, "other", "change_percent")->reason, "runs failed"));
            fx_stop(&fx);
        }
}

/* Where failures were let pass, a count that is missing is no count of none. */
static void failures_that_were_not_counted_are_not_none(void **state)
{
    (void)state;
    static const struct ifm_setting passed[] = {{"command.ignore_failure", "true"}};
    struct fixture fx;
    struct ifm_record *r = start(&fx, 8);
    fx.parts[0].arms[1].settings = passed;
    fx.parts[0].arms[1].n_settings = 1;
    put(r, 1, 2, IFM_ABSENT);
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_int_equal(state_of(&fx, "other", "step_ns"), IFM_STATE_REFUSED);
    assert_int_equal(state_of(&fx, "base", "step_ns"), IFM_STATE_OK);
    fx_stop(&fx);
}

/* Waited for, they are part of the time; earlier versions killed them. */
static void strays_count_where_they_were_waited_for(void **state)
{
    (void)state;
    for (int waited = 0; waited < 2; waited++) {
        struct fixture fx;
        struct ifm_record *r = start(&fx, 8);
        if (waited != 0)
            r->column_names[1] = failure; /* which those had not */
        put(r, 1, 3, 4);
        fx_end_events(&fx);
        fx_derive(&fx);
        assert_int_equal(state_of(&fx, "other", "step_ns"), waited ? IFM_STATE_OK : IFM_STATE_REFUSED);
        assert_int_equal(state_of(&fx, "other", "change_percent"), waited ? IFM_STATE_OK : IFM_STATE_REFUSED);
        assert_true(fx_value(&fx, "other", "command_strays")->number == 4);
        fx_stop(&fx);
    }
}

static void other_workloads_have_no_such_numbers(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 8);
    fx.cells[0].n_passes = 0;
    fx_end_events(&fx);
    fx_derive(&fx);
    for (size_t i = 0; i < fx.derived->n_numbers; i++)
        assert_null(strstr(ifm_metrics[fx.derived->numbers[i].metric].id, "command_"));
    fx_stop(&fx);
}

/* In two of ten blocks, both of one arm, the program waited for half of its time. What the other waited decides what
 * that means: known and none, they are set aside; unknown, be it of one slot alone, nothing is, and nobody says which
 * blocks are undisturbed. */
static void a_program_that_waited_is_disturbed(void **state)
{
    (void)state;
    for (int untold = 0; untold < 3; untold++) { /* of the other's slots none, all, one */
        const bool known = untold == 0;
        bool one = untold == 2;
        struct fixture fx;
        struct ifm_record *r = start(&fx, 10);
        fx.plan.rules = IFM_PLAN_RULES;
        fx.cells[0].measure.stop = IFM_STOP_REPEATS; /* nothing is run again */
        r->column_names[1] = delay;
        r->column_names[3] = wall;
        for (size_t k = 0; k < r->n_slots; k++) {
            const unsigned block = r->slots[k].block - fx.warmup_blocks;
            columns_of(r, k)[3] = 1000000000;
            if (r->slots[k].arm == 1 && r->slots[k].phase == IFM_PHASE_MEASURE && (untold == 1 || one)) {
                columns_of(r, k)[1] = IFM_ABSENT;
                one = false;
            } else if (r->slots[k].phase == IFM_PHASE_MEASURE && (block == 3 || block == 6) && r->slots[k].arm == 0)
                columns_of(r, k)[1] = 500000000;
        }
        fx_end_events(&fx);
        fx_derive(&fx);
        assert_int_equal(state_of(&fx, "base", "blocks_marked"), known ? IFM_STATE_OK : IFM_STATE_ABSENT);
        assert_int_equal(state_of(&fx, "base", "command_run_delay_ns"), IFM_STATE_OK);
        assert_int_equal(state_of(&fx, "other", "command_run_delay_ns"), known ? IFM_STATE_OK : IFM_STATE_ABSENT);
        assert_int_equal(fx_value(&fx, "other", "change_percent")->n, known ? 8 : 10);
        assert_true(!known || fx_value(&fx, "other", "blocks_marked")->number == 2);
        bool said = false, by_machine = false, own = false;
        for (size_t i = 0; i < fx.derived->n_findings; i++) {
            const char *text = fx.derived->findings[i].text;
            said |= strstr(text, "is not known: the kernel") != NULL;
            by_machine |= strstr(text, "marked as disturbed by the machine; comparisons rest on the others") != NULL;
            own |=
                strstr(
                    text,
                    "disturbed, maybe by the programs, of which first threads alone are told: comparisons rest on all "
                    "blocks, times are of all") != NULL;
        }
        assert_int_equal(said, !known);
        assert_int_equal(by_machine, known);
        assert_int_equal(own, !known);
        fx_stop(&fx);
    }
}

/* In every other block either arm waits for a tenth of the shorter one's slot: much of that one, and a thirtieth of the
 * other. It follows neither; where the longer arm waits for nothing, it follows the shorter one. */
static void a_wait_is_no_arms_because_its_slots_are_short(void **state)
{
    (void)state;
    enum { BLOCKS = 24 };
    for (int both = 0; both < 2; both++)
        for (unsigned rules = IFM_PLAN_RULES_LENGTHS - 1; rules <= IFM_PLAN_RULES_LENGTHS; rules++) {
            struct fixture fx;
            struct ifm_record *r = start_with(&fx, BLOCKS, 3);
            fx.plan.rules = rules;
            fx.cells[0].measure.stop = IFM_STOP_REPEATS;
            r->column_names[1] = delay;
            r->column_names[3] = wall;
            int64_t shortest = INT64_MAX;
            for (size_t k = 0; k < r->n_slots; k++) {
                const int64_t ns = r->slots[k].end_ns - r->slots[k].start_ns;
                shortest = ns < shortest ? ns : shortest;
                columns_of(r, k)[3] = ns;
            }
            for (size_t k = 0; k < r->n_slots; k++)
                if (r->slots[k].phase == IFM_PHASE_MEASURE && r->slots[k].block % 2 == 0 &&
                    (both || r->slots[k].arm == 1))
                    columns_of(r, k)[1] = shortest / 10 + (int64_t)100000 * r->slots[k].samples;
            fx_end_events(&fx);
            fx_derive(&fx);
            const bool follows = !both || rules < IFM_PLAN_RULES_LENGTHS;
            bool said = false;
            for (size_t i = 0; i < fx.derived->n_findings; i++)
                said |= strstr(fx.derived->findings[i].text, "follows other and not the machine") != NULL;
            assert_int_equal(said, follows);
            assert_int_equal(fx_value(&fx, "other", "change_percent")->n, follows ? BLOCKS : BLOCKS / 2);
            fx_stop(&fx);
        }
}

/* So much processor time a run: `unit` x a number with a spread of `noise` around `mean`. */
static int64_t cpu_in(size_t k, double mean, double noise, int64_t unit)
{
    const double at = (double)((k * 2654435761u) % 1000) / 999.0 - 0.5;
    return unit * (int64_t)llround(mean * (1 + 2 * noise * at) / (double)unit);
}

/* The processor time has a change and a word of its own, whatever the time says; a unit of the kernel's ticks bounds
 * its spread, so that equal readings of 10 ms decide nothing. */
static void processor_time_is_compared_by_block(void **state)
{
    (void)state;
    static const struct {
        double base, other, noise;
        int64_t unit;
        const char *word;
    } rows[] = {{2e7, 2.4e7, 0.01, 1000, "more"},       {2e7, 1.6e7, 0.01, 1000, "less"},
                {2e7, 2e7, 0.0001, 1000, "equivalent"}, {2e7, 2.02e7, 0.1, 1000, "undecided"},
                {2e7, 2e7, 0, 10000000, "undecided"},   {2e7, 2e7, 0, 0, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture fx;
        struct ifm_record *r = start(&fx, 16);
        const bool read = rows[i].unit > 0;
        for (size_t k = 0; k < r->n_slots; k++)
            columns_of(r, k)[0] =
                read ? r->slots[k].samples *
                           cpu_in(k, r->slots[k].arm == 0 ? rows[i].base : rows[i].other, rows[i].noise, rows[i].unit)
                     : IFM_ABSENT;
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *value = fx_value(&fx, "other", "change_cpu_percent");
        assert_int_equal(value->state, read ? IFM_STATE_OK : IFM_STATE_ABSENT);
        assert_int_equal(state_of(&fx, "other", "change_percent"), IFM_STATE_OK);
        if (read) {
            assert_string_equal(value->text, rows[i].word);
            assert_true(fabs(value->number - 100 * (rows[i].other / rows[i].base - 1)) < 200 * rows[i].noise + 1e-6);
            assert_true(value->has_interval && value->low < value->number && value->number < value->high);
            assert_int_equal(value->n, 16);
        }
        fx_stop(&fx);
    }
}

/* All blocks are disturbed, each program a tenth of its time of 10 ms. That its processor time decides is offered where
 * both compute for nearly all of the rest. */
static void processor_time_is_no_remedy_where_one_waits(void **state)
{
    (void)state;
    static const struct {
        double cpu_ns[2];
        bool offered;
    } rows[] = {{{8.8e6, 8e6}, true}, {{5e6, 8e6}, false}, {{8.8e6, 4e6}, false}};
    static const double step_ns[] = {1e7, 9.2e6};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture fx;
        struct ifm_record *r = start(&fx, 16);
        fx.plan.rules = IFM_PLAN_RULES;
        fx.cells[0].measure.stop = IFM_STOP_REPEATS; /* nothing is run again */
        fx.parts[0].step_ns[0] = step_ns[0];
        fx.parts[0].step_ns[1] = step_ns[1];
        fx_generate(&fx);
        r->column_names[0] = cpu;
        r->column_names[1] = delay;
        r->column_names[2] = failures;
        r->column_names[3] = wall;
        for (size_t k = 0; k < r->n_slots; k++) {
            const unsigned arm = r->slots[k].arm;
            columns_of(r, k)[0] = r->slots[k].samples * cpu_in(k, rows[i].cpu_ns[arm], 0.001, 1000);
            columns_of(r, k)[1] = r->slots[k].samples * 1000000;
            columns_of(r, k)[2] = 0;
            columns_of(r, k)[3] = r->slots[k].samples * (int64_t)step_ns[arm];
        }
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_finding *found = fx_finding(&fx, "rule-02", "undecided|disturbed 16 of 16 blocks");
        assert_non_null(found);
        assert_int_equal(strstr(found->text, "CPU time alone") != NULL, rows[i].offered);
        fx_stop(&fx);
    }
}

/* Where a word is taken for what the run saw of itself, and a program left processes behind, these are the first
 * remedy. */
static void strays_are_a_cause_with_a_remedy(void **state)
{
    (void)state;
    for (int left = 0; left < 2; left++) {
        struct fixture fx;
        struct ifm_record *r = start(&fx, 20);
        fx.plan.rules = IFM_PLAN_RULES;
        fx.cells[0].measure.stop = IFM_STOP_REPEATS; /* nothing is run again */
        fx.parts[0].step_ns[1] *= 1.1;
        fx_generate(&fx);
        r->column_names[0] = failure;
        r->column_names[1] = delay;
        r->column_names[2] = strays;
        r->column_names[3] = wall;
        for (size_t k = 0; k < r->n_slots; k++) {
            const unsigned block = r->slots[k].block - fx.warmup_blocks;
            columns_of(r, k)[0] = 0;
            columns_of(r, k)[1] = block < 2 && r->slots[k].phase == IFM_PHASE_MEASURE ? 500000000 : 0;
            columns_of(r, k)[2] = left != 0 && r->slots[k].arm == 0;
            columns_of(r, k)[3] = 1000000000;
        }
        for (unsigned block = 2; block < 16; block++)
            fx_event(&fx, "disturbed",
                     json_pack("{s:s, s:s, s:i, s:s}", "cell", "decode", "pass", "latency", "block",
                               (int)(block + fx.warmup_blocks), "reason", "a clock skipped"));
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_finding *found = fx_finding(&fx, "rule-02", "what the run itself saw|undecided");
        assert_non_null(found);
        assert_int_equal(strstr(found->text, "Remedy: let base wait for the processes that outlive it") != NULL, left);
        fx_stop(&fx);
    }
}

/* A gate on processor time alone that passes says so, and what the time is: merging it would be another answer. */
static void a_pass_by_processor_time_says_so(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        struct fixture fx;
        struct ifm_record *r = start(&fx, 16);
        fx_gate(&fx, "change_cpu_percent", "other", IFM_GATE_AT_MOST, 10, true);
        if (both != 0)
            fx_gate(&fx, "change_percent", "other", IFM_GATE_AT_MOST, 10, true);
        for (size_t k = 0; k < r->n_slots; k++)
            columns_of(r, k)[0] = r->slots[k].samples * cpu_in(k, 2e7, 0.01, 1000);
        fx_end_events(&fx);
        fx_derive(&fx);
        fx_judge(&fx);
        if (fx.verdict->outcome != IFM_OUTCOME_PASS)
            fail_msg("%s", fx.verdict->reasons[0]);
        const char *beside = strstr(fx.verdict->reasons[0], "waiting, I/O and GPUs are not in it); its time is within "
                                                            "the limit too");
        assert_int_equal(beside != NULL, both == 0);
        fx_stop(&fx);
    }
}

/* Few runs may hold no slow one: the gate's reason and the verdict say so, where one would change the answer. */
static void a_gate_says_what_few_runs_may_miss(void **state)
{
    (void)state;
    static const struct {
        double step_ns;
        unsigned samples, runs; /* of a slot; that are said, 0 = nothing is */
        enum ifm_outcome outcome;
    } rows[] = {
        {1e5, 2, 64, IFM_OUTCOME_PASS},  {1.1e5, 2, 64, IFM_OUTCOME_FAIL},
        {2.5e4, 2, 0, IFM_OUTCOME_PASS}, {4e5, 2, 0, IFM_OUTCOME_FAIL},
        {1e5, 5, 0, IFM_OUTCOME_PASS},   {1e5, 400, 0, IFM_OUTCOME_PASS}}; /* so many that the median counts slots */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture fx;
        (void)start(&fx, 16);
        fx.samples = rows[i].samples;
        fx.noise = 0.0005;
        fx.parts[0].step_ns[1] = rows[i].step_ns;
        fx_generate(&fx);
        fx_gate(&fx, "change_percent", "other", IFM_GATE_AT_MOST, 3, true);
        fx_end_events(&fx);
        fx_derive(&fx);
        fx_judge(&fx);
        static const char words[] =
            "64 runs are too few to see slow ones rarer than 1 in 22: such ones are not in this answer";
        if (fx.verdict->outcome != rows[i].outcome)
            fail_msg("%zu: %s", i, fx.verdict->reasons[0]);
        assert_int_equal(fx.verdict->gates[0].few_runs.n, rows[i].runs);
        assert_null(strstr(fx.verdict->gates[0].reason, "too few"));
        assert_int_equal(fx.verdict->n_reasons, rows[i].runs > 0 ? 2 : 1); /* apart from the answer */
        if (rows[i].runs > 0)
            assert_string_equal(fx.verdict->reasons[1], words);
        fx_stop(&fx);
    }
}

static void file_of(struct fixture *fx, const char *when, const char *what, int inode, int size)
{
    fx_event(fx, "program",
             json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i}", "cell", "decode", "arm", "other", "when", when,
                       "what", what, "inode", inode, "size", size, "mtime_ns", 7, "ctime_ns", 7));
}

/* A program that was built anew while it was measured has no time and no comparison, and the gate is blocked. */
static void runs_of_two_programs_are_no_samples(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int inode, size;
        const char *said;
    } rows[] = {{"program", 11, 100, NULL},
                {"program", 12, 100, "the file of its program was changed|another file has its name"},
                {"script", 11, 101, "the file of its script was changed|its size is another"},
                {"program", 0, 0, "it is gone"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture fx;
        (void)start(&fx, 16);
        file_of(&fx, "before", "program", 11, 100);
        file_of(&fx, "before", "script", 11, 100);
        file_of(&fx, "after", rows[i].what, rows[i].inode, rows[i].size);
        fx_gate(&fx, "change_percent", "other", IFM_GATE_AT_MOST, 300, true);
        fx_end_events(&fx);
        fx_derive(&fx);
        fx_judge(&fx);
        const bool said = rows[i].said != NULL;
        assert_int_equal(fx_finding(&fx, "rule-04", said ? rows[i].said : "the file of its") != NULL, said);
        assert_int_equal(ifm_is_ok(fx_value(&fx, "other", "change_percent")), !said);
        assert_int_equal(fx.verdict->outcome, said ? IFM_OUTCOME_BLOCKED : IFM_OUTCOME_PASS);
        fx_stop(&fx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processor_time_is_a_mean_over_blocks),
        cmocka_unit_test(few_blocks_have_no_interval),
        cmocka_unit_test(memory_is_the_largest_and_counts_are_totals),
        cmocka_unit_test(runs_that_failed_are_no_samples),
        cmocka_unit_test(failures_that_were_not_counted_are_not_none),
        cmocka_unit_test(strays_count_where_they_were_waited_for),
        cmocka_unit_test(a_program_that_waited_is_disturbed),
        cmocka_unit_test(a_wait_is_no_arms_because_its_slots_are_short),
        cmocka_unit_test(processor_time_is_compared_by_block),
        cmocka_unit_test(processor_time_is_no_remedy_where_one_waits),
        cmocka_unit_test(strays_are_a_cause_with_a_remedy),
        cmocka_unit_test(a_pass_by_processor_time_says_so),
        cmocka_unit_test(other_workloads_have_no_such_numbers),
        cmocka_unit_test(a_gate_says_what_few_runs_may_miss),
        cmocka_unit_test(runs_of_two_programs_are_no_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
