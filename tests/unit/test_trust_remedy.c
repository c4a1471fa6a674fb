/* What the word of trust tells a reader to do: it can be typed, it is not known to be in vain, and nobody is told to
 * wait for an answer that nobody asked for. */
#include "trust_sample.h"

#include "judge/judge.h"
#include <math.h>

/* An option alone is of the command that measured, also where a finding ends with it. */
static void an_option_is_added_to_the_command(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    assert_string_equal(ifm_trust_remedy_typed("--cap 55s: about 3 more blocks", arena),
                        "add --cap 55s: about 3 more blocks");
    assert_string_equal(ifm_trust_remedy_typed("--slot-steps 12, so that the order matters less", arena),
                        "add --slot-steps 12, so that the order matters less");
    assert_string_equal(ifm_trust_remedy_typed("end other work", arena), "end other work");
    ifm_arena_destroy(arena);
}

/* Where more blocks do not help, that is no remedy. */
static void a_remedy_does_not_contradict_its_cause(void **state)
{
    (void)state;
    struct sample *s = open_sample(NULL, 0);
    s->numbers[NEEDED].value = (struct ifm_value)WORD(IFM_STATE_ABSENT, "more blocks do not help", "--slot-steps 12");
    sample_fill(s->numbers, COUNT(decided));
    const struct ifm_trust trust = again(s);
    assert_has(trust.cause, "more blocks do not help");
    assert_string_equal(trust.remedy, "--slot-steps 12");
}

/* What ended the run measures more when it is larger, and nothing else does. */
static void too_few_blocks_ask_for_what_ended_the_run(void **state)
{
    (void)state;
    const struct ifm_finding few = {
        IFM_SEVERITY_WARNING, "rule-07", D, "", "needs 6 blocks, has 1: no interval", .kind = IFM_FINDING_FEW_BLOCKS};
    struct sample *s = sample_of(&few, 1);
    struct ifm_plan plan = *s->publication.plan;
    struct ifm_cell cells[4];
    assert_in_range(plan.n_cells, 1, COUNT(cells));
    memcpy(cells, plan.cells, plan.n_cells * sizeof *cells);
    plan.cells = cells;
    plan.by_name = NULL;
    s->publication.plan = &plan;
    cells[0].measure.stop = IFM_STOP_REPEATS;
    cells[0].measure.repeats = 1;
    ended(s, "repeats", 1, 1);
    assert_string_equal(again(s).remedy, "--repeats 12");
    ended(s, "cap", 1, 1);
    assert_string_equal(again(s).remedy, "--cap 8s");
    cells[0].measure.blocks_max = 1;
    ended(s, "blocks_max", 1, 1);
    assert_string_equal(again(s).remedy, "--override measure.blocks_max=8 --cap 8s");
    cells[0].measure.blocks_max = 100;
    ended(s, "cap", 1, 1);
    s->derived.findings[0].kind = IFM_FINDING_LOAD; /* a quiet machine alone makes no blocks */
    s->derived.busy = true;
    s->numbers[CHANGE].value.text = "undecided";
    s->numbers[CHANGE].value.n = 1;
    assert_string_equal(again(s).remedy, "--cap 8s, on a quiet machine");
    s = sample_of(&few, 1);
    s->publication.plan = &plan;
    cells[0].workload = "session";
    ended(s, "repeats", 1, 1);
    assert_string_equal(again(s).remedy, "measure.repeats=12");
}

/* A note is about an open comparison by where it stands, not by a word in its text: two times keep two notes. */
static void a_word_in_a_note_opens_no_comparison(void **state)
{
    (void)state;
    struct sample *s = sample_of(NULL, 0);
    s->numbers[PLAIN_TIME].value.has_interval = s->numbers[HALF_TIME].value.has_interval = false;
    s->numbers[PLAIN_TIME].value.text = "left undecided by 10 values";
    s->numbers[HALF_TIME].value.text = "left undecided by 12 values";
    char *text = brief(s);
    assert_has(text, "left undecided by 10 values");
    assert_has(text, "left undecided by 12 values");
    free(text);
}

/* Minutes more for equal programs: first what is known, and the margin by which that is an answer. */
static void what_is_known_comes_before_minutes_more(void **state)
{
    (void)state;
    static const struct {
        double low, high, needed;
        const char *cause, *remedy;
    } rows[] = {
        {-1.32, 1.1, 4000, ", though a margin of 1.4 % would call this run equal",
         "--cap 1700s, or --margin 2.1% where that is enough: either probably decides, if noise stays as it is"},
        {0.05, 1.1, 40, "",
         "--cap 20s: about 16 more blocks or fewer (7 s) would probably tell slower from equal within 0.3 %, if"},
        {0.1, 1.1, 4000, "", "--cap 1700s: about 3976 more blocks or fewer (28 min) would probably tell slower from"},
        {-1.32, 1.1, 1e6, ", though a margin of 1.4 % would call this run equal",
         "--cap 320s for an even chance to decide, or --margin 2.1% where that is enough (probably equal then)"},
        {-90, 200, 1e6, "", "an hour more may not decide: a wider margin, or a quieter machine"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sample *s = open_sample(NULL, 0);
        s->numbers[CHANGE].value.number = rows[i].low > 0 ? 0.6 : -0.002;
        s->numbers[CHANGE].value.low = rows[i].low;
        s->numbers[CHANGE].value.level = 0.95;
        s->numbers[CHANGE].value.high = rows[i].high;
        s->numbers[SPEEDUP].value.number = 1 / (1 + s->numbers[CHANGE].value.number / 100);
        s->numbers[SPEEDUP].value.low = 1 / (1 + rows[i].high / 100);
        s->numbers[SPEEDUP].value.high = 1 / (1 + rows[i].low / 100);
        s->numbers[PLAIN_TIME].value = s->numbers[HALF_TIME].value;
        s->numbers[NEEDED].value.number = rows[i].needed;
        ended(s, "cap", 24, 10);
        const struct ifm_trust trust = again(s);
        assert_has(trust.cause, "after 24 blocks");
        assert_int_equal(strstr(trust.cause, "margin of") != NULL, rows[i].cause[0] != '\0');
        assert_has(trust.cause, rows[i].cause);
        assert_has(trust.remedy, rows[i].remedy);
    }
}

/* "No difference" is said of an estimate well inside its interval, where medians agree and few blocks do not decide. */
static void no_difference_is_not_said_of_what_may_be_one(void **state)
{
    (void)state;
    static const struct {
        double number, median, needed, percent;
    } rows[] = {{-0.2, 0.1, 4000, 1.2},
                {-0.9, 0.1, 4000, 0},     /* nearer to an end than to zero */
                {-0.2, -10, 4000, 0},     /* as p50 of an arm with a few slow steps */
                {-0.2, 0.1, 24 + 24, 0}}; /* as many blocks again decide */
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sample *s = open_sample(NULL, 0);
        const struct ifm_undecided of = {&s->derived, &s->verdict, NULL, ifm_plan_cell(s->publication.plan, D), "half"};
        s->numbers[CHANGE].value.number = rows[i].number;
        s->numbers[CHANGE].value.low = rows[i].number - 1;
        s->numbers[CHANGE].value.level = 0.95;
        s->numbers[CHANGE].value.high = rows[i].number + 1;
        s->numbers[NEEDED].value.number = rows[i].needed;
        s->numbers[HALF_ENERGY] =
            (struct ifm_number){D, "half", IFM_M_CHANGE_PERCENT_MEDIAN, RATE(rows[i].median, -11, 1)};
        assert_true(fabs(ifm_judge_no_difference(&of) - rows[i].percent) < 1e-9);
    }
}

/* What takes a comparison may be its baseline's: that arm is named, and its finding is no other warning. */
static void a_refusal_of_the_baseline_blames_it(void **state)
{
    (void)state;
    static const struct ifm_finding above = {IFM_SEVERITY_WARNING,   "rule-03", D, "plain",
                                             "159 % of the ceiling", .kind = 0};
    struct sample *s = sample_of(&above, 1);
    s->numbers[SPEEDUP].value =
        (struct ifm_value)WORD(IFM_STATE_REFUSED, "rule-03: " IFM_OF_BASELINE_WORDS "plain: 159 % of the ceiling", "");
    const struct ifm_trust trust = again(s);
    assert_string_equal(trust.place, D ", plain");
    assert_string_equal(trust.cause, "159 % of the ceiling");
    assert_int_equal(trust.warnings, 0);
}

/* A gate on the comparison has its answer: nobody asked about the usual margin, and somebody did about another. */
static void a_gate_that_passes_leaves_no_margin_open(void **state)
{
    (void)state;
    struct ifm_gate_result passed = on_limit;
    passed.outcome = IFM_OUTCOME_PASS;
    for (int asked = 0; asked < 2; asked++) {
        struct sample *s = open_sample(NULL, 0);
        struct ifm_plan plan = *s->publication.plan;
        plan.cells = IFM_ARENA_ARRAY(s->arena, struct ifm_cell, plan.n_cells);
        memcpy(plan.cells, s->publication.plan->cells, plan.n_cells * sizeof *plan.cells);
        plan.cells[0].measure.margin = asked ? 0.01 : 0.003;
        s->publication.plan = &plan;
        s->verdict.gates = &passed;
        s->verdict.n_gates = 1;
        s->verdict.outcome = IFM_OUTCOME_PASS;
        assert_int_equal(again(s).word, asked ? IFM_TRUST_UNDECIDED : IFM_TRUST_SOLID);
        const struct ifm_undecided of = {s->publication.derived, &s->verdict, NULL, &plan.cells[0], "half"};
        assert_int_equal(ifm_judge_undecided(&of, s->arena)[0] != '\0', asked);
    }
}

/* A kind that has no remedy of its own has that of its rule. */
static void every_kind_has_a_remedy(void **state)
{
    (void)state;
    for (int kind = IFM_FINDING_MODES; kind <= IFM_FINDING_LOPSIDED; kind++) {
        const struct ifm_finding found = {IFM_SEVERITY_WARNING,
                                          "rule-02",
                                          D,
                                          "half",
                                          "6 of 12 disturbed blocks are those of half alone: undecided",
                                          .takes_word = true,
                                          .kind = (enum ifm_finding_kind)kind};
        assert_has(trust_of(&found, 1).remedy, "end other work");
    }
}

/* Two margins confuse: beside the limit that decides, the usual one is not told; one that was asked for is. */
static void a_limit_stands_alone(void **state)
{
    (void)state;
    struct ifm_gate_result results[] = {on_limit, on_limit, on_limit};
    results[1].arm = "staged";
    results[2].arm = "packed";
    struct sample *s = open_sample(NULL, 0);
    struct ifm_plan plan = *s->publication.plan;
    plan.cells = IFM_ARENA_ARRAY(s->arena, struct ifm_cell, plan.n_cells);
    memcpy(plan.cells, s->publication.plan->cells, plan.n_cells * sizeof *plan.cells);
    plan.n_cells = 1;
    plan.cells[0].measure.margin = 0.003;
    s->verdict.gates = results;
    for (s->verdict.n_gates = 0; s->verdict.n_gates <= COUNT(results); s->verdict.n_gates++)
        assert_int_equal(ifm_judge_limits_alone(&s->verdict, &plan), s->verdict.n_gates == COUNT(results));
    s->verdict.n_gates = COUNT(results);
    plan.cells[0].measure.margin = 0.01;
    assert_false(ifm_judge_limits_alone(&s->verdict, &plan));
}

/* A remedy that names a setting gives it a value that can be typed: twice the one that was not enough. */
static void a_remedy_has_a_value(void **state)
{
    (void)state;
    const struct ifm_finding found = {
        IFM_SEVERITY_WARNING, "rule-07", D, "half", "no steady state: the level changes", .kind = IFM_FINDING_UNSTEADY};
    struct sample *s = sample_of(&found, 1);
    struct ifm_plan plan = *s->publication.plan;
    struct ifm_cell cells[8];
    assert_true(plan.n_cells <= COUNT(cells));
    memcpy(cells, plan.cells, plan.n_cells * sizeof *cells);
    plan.cells = cells;
    plan.cells[0].measure.warmup_cap_s = 5;
    plan.cells[0].measure.cap_s = 10;
    s->publication.plan = &plan;
    assert_has(again(s).remedy, "warm up for longer: --warmup-cap 10s");
    s = open_sample(NULL, 0);
    s->publication.plan = &plan;
    s->numbers[NEEDED].value = (struct ifm_value)WORD(IFM_STATE_ABSENT, "it is decided", "");
    sample_fill(s->numbers, COUNT(decided));
    assert_has(again(s).remedy, "a longer --cap, such as 20s");
}

/* Only what one arm surely does alone lies in it: else no program is to be looked at. */
static void what_no_arm_does_alone_asks_for_another_machine(void **state)
{
    (void)state;
    static const enum ifm_finding_kind kinds[] = {IFM_FINDING_TIME_CHANGES, IFM_FINDING_TIME_DRIFTS};
    for (size_t i = 0; i < 2 * COUNT(kinds); i++) {
        const struct ifm_finding found = {IFM_SEVERITY_WARNING, "rule-07",           D, "half", "the level changes",
                                          .kind = kinds[i / 2], .of_one = i % 2 == 1};
        const struct ifm_trust trust = again(sample_of(&found, 1));
        assert_int_equal(strstr(trust.remedy, "run it again, or on a quieter machine") != NULL, i % 2 == 0);
        assert_int_equal(strstr(trust.remedy, "this arm") != NULL, i % 2 == 1);
    }
}

static const struct ifm_finding clock = {IFM_SEVERITY_WARNING, "rule-08", D, "half", "the clock differs", .kind = 0};
static const struct ifm_finding weak = {
    IFM_SEVERITY_WARNING, "rule-03", D, "", "plain reaches only 60 % of it", .kind = IFM_FINDING_WEAK_BASELINE};
static const struct ifm_finding rated = {IFM_SEVERITY_WARNING,
                                         "rule-03",
                                         D,
                                         "",
                                         "plain reaches only 60 %, and one that reached it would leave half 1.20x",
                                         .kind = IFM_FINDING_WEAK_BASELINE,
                                         .weak = {.left = "half 1.20x"}};
static const struct ifm_finding load = {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it is noisy", .kind = 0};

/* Events in single quotes. */
static json_t *lines_of(const char *events)
{
    char text[512];
    snprintf(text, sizeof text, "[%s]", events);
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *lines = json_loads(text, 0, NULL);
    assert_non_null(lines);
    return lines;
}

/* Neither to lock what nobody can, nor to wait where that was in vain. */
static void a_remedy_can_be_done_here(void **state)
{
    (void)state;
    static const struct {
        const struct ifm_finding *finding;
        const char *event, *has, *lacks, *device;
    } cases[] = {
        {&clock,
         "{'stage':'locks','meta':{'when':'before','knobs':[{'knob':'turbo','value':'on','locked':false,"
         "'reason':'x','remedy':'inferometer lock --turbo off -- COMMAND'}]}}",
         "inferometer lock", "cannot", NULL},
        {&clock,
         "{'stage':'locks','meta':{'when':'before','knobs':[{'knob':'turbo','value':null,'locked':false,"
         "'reason':'hidden','remedy':'measure on bare metal'}]}}",
         "clocks cannot be locked here", "inferometer lock", NULL},
        {&load, "{'stage':'load','meta':{'when':'before','foreign_load':0.9}}", "--wait-quiet 10min", "of your own",
         NULL},
        {&load, "{'stage':'load','meta':{'when':'before','foreign_load':0.9,'waited_s':600}}", "a machine of your own",
         "--wait-quiet", NULL},
        {&load, "{'stage':'load','meta':{'when':'before','foreign_load':0.9,'waited_s':20.02,'asked_s':20}}",
         "not quiet within 20 s: add --wait-quiet 10min, or take another machine", "of your own", NULL},
        {&load,
         "{'stage':'load','meta':{'when':'before','foreign_load':0.01,'asked_s':240}},"
         "{'stage':'load','meta':{'when':'after','foreign_load':0.9}}",
         "load came back during the run: run again", "--wait-quiet", NULL},
        {&weak, "{'stage':'environment','meta':{'fingerprint':{'cpu':{'allowed':16}}}}", "more --threads", "already",
         NULL},
        {&weak, "{'stage':'environment','meta':{'fingerprint':{'cpu':{'allowed':8}}}}", "a faster baseline",
         "--threads", NULL},
        {&rated, "{'stage':'environment','meta':{'fingerprint':{'cpu':{'allowed':16}}}}",
         "count on no more than is left at its ceiling, or take more --threads", "quiet", NULL},
        {&rated, "{'stage':'environment','meta':{'fingerprint':{'cpu':{'allowed':8}}}}",
         "count on no more than is left at its ceiling", "--threads", NULL},
        {&rated, "{'stage':'environment','meta':{'fingerprint':{'cpu':{'allowed':16}}}}",
         "count on no more than is left at its ceiling", "--threads", "cuda"},
        {&load,
         "{'stage':'environment','meta':{'fingerprint':{'cpu':{'allowed':8}}}},"
         "{'stage':'load','meta':{'when':'before','foreign_load':0.16,'waited_s':600}}",
         "--threads 7, which leaves other work its CPU", "of your own", NULL},
        {&load,
         "{'stage':'environment','meta':{'fingerprint':{'cpu':{'allowed':8}}}},"
         "{'stage':'load','meta':{'when':'before','foreign_load':1.02,'waited_s':600}}",
         "of your own", "--threads", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sample *s = sample_of(cases[i].finding, 1);
        json_t *lines = lines_of(cases[i].event);
        s->publication.events = events_of(lines, s->arena);
        struct ifm_plan plan = *s->publication.plan;
        plan.device = cases[i].device == NULL ? plan.device : cases[i].device;
        s->publication.plan = &plan;
        struct ifm_trust trust = again(s);
        assert_has(trust.remedy, cases[i].has);
        assert_lacks(trust.remedy, cases[i].lacks);
        json_decref(lines);
    }
}

/* Half of the threads are too slow for the memory, and the next run's remedy would be to take more: no circle. */
static void half_of_the_threads_are_no_remedy(void **state)
{
    (void)state;
    static const struct ifm_finding loaded = {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it is noisy", .kind = 0};
    struct sample *s = sample_of(&loaded, 1);
    json_t *lines =
        json_pack("[{s:s, s:{s:{s:{s:i}}}}, {s:s, s:{s:s, s:f}}]", "stage", "environment", "meta", "fingerprint", "cpu",
                  "allowed", 8, "stage", "load", "meta", "when", "before", "foreign_load", 0.5);
    s->publication.events = events_of(lines, s->arena);
    assert_string_equal(again(s).remedy, "end other work, or add --wait-quiet 10min");
    json_decref(lines);
}

/* Under load a rate above its ceiling is the load's: it starves the probe. */
static void load_refuses_rates_above_a_ceiling(void **state)
{
    (void)state;
    for (int loaded = 0; loaded < 2; loaded++) {
        struct sample *s = sample_of(NULL, 0);
        s->numbers[HALF_RATE].value =
            (struct ifm_value)WORD(IFM_STATE_REFUSED, "rule-03: 445 % of the measured read ceiling", "");
        sample_fill(s->numbers, COUNT(decided));
        json_t *lines = json_pack("[{s:s, s:{s:s, s:f}}]", "stage", "load", "meta", "when", "before", "foreign_load",
                                  loaded ? 0.9 : 0.0);
        s->publication.events = events_of(lines, s->arena);
        const struct ifm_trust trust = again(s);
        assert_int_equal(trust.word, IFM_TRUST_DO_NOT_USE);
        assert_has(trust.remedy, loaded ? "end other work, or add --wait-quiet 10min" : "rates beside their ceilings");
        json_decref(lines);
    }
}

/* A program may be called as it likes, and a remark quote whatever it likes. */
static void words_decide_nothing(void **state)
{
    (void)state;
    const struct ifm_finding found = {
        IFM_SEVERITY_WARNING,
        "rule-07",
        D,
        "half",
        "undecided reaches only 3 % and not the machine, needs 6 blocks, has 2; a run that fails, would leave nothing",
        .kind = 0};
    struct ifm_trust trust = trust_of(&found, 1);
    assert_int_equal(trust.word, IFM_TRUST_NOISY);
    assert_has(trust.remedy, "end other work"); /* of the rule */
    struct sample *s = open_sample(&found, 1);
    const struct ifm_undecided of = {&s->derived, &s->verdict, NULL, ifm_plan_cell(s->publication.plan, D), "half"};
    assert_null(ifm_judge_took(&of));
    assert_null(ifm_derived_dispute(&s->derived, D, "half", IFM_M_CHANGE_PERCENT));
}

/* Only a load that was read, and was none, says that nobody else was there. */
static void an_unread_load_is_no_quiet_machine(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
        bool quiet;
    } rows[] = {{"0.02", "0.01", true}, {"0.02", "null", false}, {"null", "null", false}, {"0.02", "0.5", false}};
    const struct ifm_finding found = {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it drifts by 3 %", .kind = 0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sample *s = sample_of(&found, 1);
        char text[256];
        snprintf(text, sizeof text,
                 "[{\"stage\":\"load\",\"meta\":{\"when\":\"before\",\"foreign_load\":%s}},"
                 "{\"stage\":\"load\",\"meta\":{\"when\":\"after\",\"foreign_load\":%s}}]",
                 rows[i].before, rows[i].after);
        json_t *lines = json_loads(text, 0, NULL);
        assert_non_null(lines);
        s->publication.events = events_of(lines, s->arena);
        json_decref(lines);
        assert_int_equal(strstr(again(s).remedy, "no other program was seen") != NULL, rows[i].quiet);
    }
}

/* Whoever reads "noisy" looks for noise: where none was found the word is another, and stands once. */
static void an_undecided_comparison_is_no_noise(void **state)
{
    (void)state;
    static const struct ifm_finding few = {IFM_SEVERITY_WARNING,
                                           "rule-07",
                                           D,
                                           "",
                                           "needs 6 blocks, has 2: no interval, and no word on a comparison",
                                           .kind = IFM_FINDING_FEW_BLOCKS},
                                    drift = {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it drifts by 3 %", .kind = 0};
    struct sample *s = open_sample(&few, 1);
    assert_int_equal(again(s).word, IFM_TRUST_UNDECIDED);
    assert_string_equal(again(s).cause, few.text);
    s = open_sample(&drift, 1); /* and the noise that was found is told */
    struct ifm_trust trust = again(s);
    assert_string_equal(ifm_trust_words(&trust, s->arena),
                        "noisy: " D ", half: undecided after 24 blocks; also it drifts by 3 %");
    assert_int_equal(trust.warnings, 0);
    const struct ifm_finding other = {.severity = IFM_SEVERITY_WARNING,
                                      .rule = "rule-07",
                                      .cell = D,
                                      .arm = "plain",
                                      .text = "no steady state: the level changes",
                                      .kind = IFM_FINDING_UNSTEADY};
    assert_string_equal(again(open_sample(&other, 1)).also, D ", plain: no steady state");
    s = open_sample(NULL, 0);
    measured_in_all(s, 25); /* one in 25 is no cause */
    trust = again(s);
    assert_int_equal(trust.word, IFM_TRUST_UNDECIDED);
    assert_string_equal(ifm_trust_words(&trust, s->arena), "undecided: " D ", half after 24 undisturbed blocks of 25");
    s = open_sample(NULL, 0);
    measured_in_all(s, 96);
    trust = again(s);
    assert_int_equal(trust.word, IFM_TRUST_NOISY);
    assert_string_equal(ifm_trust_words(&trust, s->arena),
                        "noisy: " D ", half: undecided after 24 undisturbed blocks of 96");
    s = sample_of(NULL, 0);
    s->numbers[CHANGE].value.text = "undecided";
    trust = again(s);
    assert_int_equal(trust.word, IFM_TRUST_UNDECIDED);
    assert_string_equal(trust.cause, "after 24 blocks: it is decided"); /* so its record says */
    assert_has(trust.remedy, "a longer --cap");
    assert_lacks(trust.remedy, "about");
    struct ifm_plan plan = *s->publication.plan;
    plan.cells = IFM_ARENA_ARRAY(s->arena, struct ifm_cell, plan.n_cells);
    memcpy(plan.cells, s->publication.plan->cells, plan.n_cells * sizeof *plan.cells);
    plan.cells[0].measure.stop = IFM_STOP_REPEATS;
    s->publication.plan = &plan;
    assert_has(again(s).remedy, "--repeats");
    s->numbers[NEEDED].value = (struct ifm_value)RATE(377, 300, 400);
    s->numbers[NEEDED].value.n = 24;
    sample_fill(s->numbers, COUNT(decided));
    assert_has(again(s).remedy, "about 353 more blocks");
    s->numbers[CHANGE].value = s->numbers[SPEEDUP].value =
        (struct ifm_value)WORD(IFM_STATE_ABSENT, "one block gives no interval", "");
    sample_fill(s->numbers, COUNT(decided));
    assert_int_equal(again(s).word, IFM_TRUST_UNDECIDED); /* no answer is none that can be trusted */
    assert_string_equal(again(s).cause, "1 of 1 comparison has no answer");
}

/* What noise leaves standing is the direction, not the size; what is equivalent has none. */
static void the_direction_holds_beside_noise(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"slower", "slower all the same, by how much is not settled; "},
                                          {"equivalent", "equivalent all the same; "}};
    const struct ifm_finding found = {IFM_SEVERITY_WARNING, "rule-07", D, "half", "finding number a", .kind = 0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sample *s = sample_of(&found, 1);
        s->numbers[CHANGE].value.text = rows[i][0];
        char *text = brief(s);
        assert_has(text, rows[i][1]);
        assert_int_equal(count_of(text, "by how much"), i == 0);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_direction_holds_beside_noise),
        cmocka_unit_test(load_refuses_rates_above_a_ceiling),
        cmocka_unit_test(words_decide_nothing),
        cmocka_unit_test(every_kind_has_a_remedy),
        cmocka_unit_test(a_limit_stands_alone),
        cmocka_unit_test(an_undecided_comparison_is_no_noise),
        cmocka_unit_test(an_option_is_added_to_the_command),
        cmocka_unit_test(a_remedy_does_not_contradict_its_cause),
        cmocka_unit_test(too_few_blocks_ask_for_what_ended_the_run),
        cmocka_unit_test(a_word_in_a_note_opens_no_comparison),
        cmocka_unit_test(what_is_known_comes_before_minutes_more),
        cmocka_unit_test(no_difference_is_not_said_of_what_may_be_one),
        cmocka_unit_test(a_refusal_of_the_baseline_blames_it),
        cmocka_unit_test(a_gate_that_passes_leaves_no_margin_open),
        cmocka_unit_test(a_remedy_has_a_value),
        cmocka_unit_test(what_no_arm_does_alone_asks_for_another_machine),
        cmocka_unit_test(a_remedy_can_be_done_here),
        cmocka_unit_test(an_unread_load_is_no_quiet_machine),
        cmocka_unit_test(half_of_the_threads_are_no_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
