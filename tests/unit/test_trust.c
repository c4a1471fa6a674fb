/* The word of trust follows from findings, states and decisions. */
#include "publish/summary.h"
#include "trust_sample.h"

static void nothing_found_is_solid(void **state)
{
    (void)state;
    const struct ifm_finding notes[] = {{IFM_SEVERITY_NOTE, "rule-08", "", "", "not locked", .kind = 0},
                                        {IFM_SEVERITY_NOTE, "rule-12", D, "half", "two workloads", .kind = 0}};
    struct ifm_trust trust = trust_of(NULL, 0);
    assert_int_equal(trust.word, IFM_TRUST_SOLID);
    assert_string_equal(ifm_trust_label(trust.word), "solid");
    assert_int_equal(trust.warnings, 0);
    assert_int_equal(trust_of(notes, 2).word, IFM_TRUST_SOLID);
}

/* An interval is of its run, which no word may hide beside an answer; beside none the cause comes first. */
static void another_run_may_differ(void **state)
{
    (void)state;
    const struct ifm_finding noise = {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it drifts by 3 %", .kind = 0};
    static const char again_with[] = "inferometer rerun DIR --times 5, as another run may differ";
    assert_string_equal(trust_of(NULL, 0).scope, again_with);
    assert_string_equal(trust_of(&noise, 1).scope, again_with);
    assert_true(trust_of(&noise, 1).settled);
    struct sample *s = sample_of(&noise, 1);
    s->numbers[CHANGE].value.text = "undecided";
    assert_string_equal(again(s).scope, "");
    assert_false(again(s).settled);
    s = sample_of(NULL, 0);
    s->numbers[HALF_TIME].value.state = IFM_STATE_REFUSED;
    s->numbers[HALF_TIME].value.reason = "rule-03: too fast";
    assert_string_equal(again(s).scope, "");
}

/* One word must not hide the other: a baseline is weak on a machine under load too. */
static void the_other_cause_is_named(void **state)
{
    (void)state;
    static const struct ifm_finding found[] = {
        {IFM_SEVERITY_WARNING, "rule-07", "", "", "other programs took up to 40 % of each CPU as the run began",
         .kind = IFM_FINDING_LOAD},
        {IFM_SEVERITY_WARNING, "rule-03", D, "",
         "the baseline plain reaches only 47.2 % of its read ceiling, below 90 %: ratios tell of its weakness",
         .kind = IFM_FINDING_WEAK_BASELINE, .weak = {.share = "47.2 % of its read ceiling"}}};
    struct ifm_trust trust = trust_of(found, 2);
    assert_int_equal(trust.word, IFM_TRUST_NOISY);
    assert_string_equal(trust.also, "weak baseline: plain at 47.2 % of its read ceiling");
    trust = trust_of(&found[1], 1);
    assert_int_equal(trust.word, IFM_TRUST_WEAK);
    assert_string_equal(trust.also, "");
    assert_string_equal(trust_of(found, 1).also, "");
}

/* A comparison may be decided, and what a gate asks of it not: "solid" would reassure whoever has no answer. */
static void an_inconclusive_gate_is_not_solid(void **state)
{
    (void)state;
    struct sample *s = sample_of(NULL, 0);
    struct ifm_gate gate = {.name = "limit", .metric = "change_percent", .cell = "", .arm = "", .interval = true};
    struct ifm_gate_result result = {.gate = &gate,
                                     .cell = D,
                                     .arm = "half",
                                     .outcome = IFM_OUTCOME_INCONCLUSIVE,
                                     .reason = "change in time is 3.0 % [2.2, 4.1], on both sides of 3 %",
                                     .remedy = "",
                                     .further_of = "blocks"};
    struct ifm_verdict verdict = {
        .outcome = IFM_OUTCOME_INCONCLUSIVE, .exit_code = IFM_INVALID, .gates = &result, .n_gates = 1};
    s->publication.verdict = &verdict;
    assert_int_equal(again(s).word, IFM_TRUST_UNDECIDED);
    assert_string_equal(again(s).remedy, "a quieter machine, or another limit for the gate");
    s->derived.busy = true;
    assert_int_equal(again(s).word, IFM_TRUST_NOISY);
    s->derived.busy = false;
    result.further = 100;
    assert_has(again(s).remedy, "100 more blocks");
    verdict.outcome = result.outcome = IFM_OUTCOME_PASS;
    assert_int_equal(again(s).word, IFM_TRUST_SOLID);
}

/* What a script makes up is no claim about a machine, however well it is decided. */
static void scripted_times_say_so(void **state)
{
    (void)state;
    struct sample *s = sample_of(NULL, 0);
    struct ifm_plan plan = *s->publication.plan;
    plan.device = "fake";
    s->publication.plan = &plan;
    assert_int_equal(again(s).word, IFM_TRUST_SOLID);
    assert_has(again(s).cause, "scripted times (--device fake), which say nothing of any hardware");
    assert_string_equal(again(s).scope, "");
    struct ifm_cell cells[4]; /* a session has settings, and no options */
    assert_in_range(plan.n_cells, 1, COUNT(cells));
    memcpy(cells, plan.cells, plan.n_cells * sizeof *cells);
    cells[0].workload = "session";
    plan.cells = cells;
    assert_has(again(s).cause, "scripted times (device.kind=fake), which");
    assert_lacks(trust_of(NULL, 0).cause, "script");
}

/* A comparison stands by its own interval, and says how many times have none; a time alone does not. */
static void solid_says_what_has_no_interval(void **state)
{
    (void)state;
    static const struct ifm_value bare = {
        .number = 8e5, .n = 24, .n_of = "blocks", .text = "needs 658 blocks: they are skewed"};
    struct sample *s = sample_of(NULL, 0);
    assert_lacks(again(s).cause, "interval");
    s->numbers[PLAIN_TIME].value = bare;
    sample_fill(s->numbers, COUNT(decided));
    assert_int_equal(again(s).word, IFM_TRUST_SOLID);
    assert_has(again(s).cause, "; 1 time in the table has no interval");
    s->numbers[HALF_TIME].value = bare;
    sample_fill(s->numbers, COUNT(decided));
    assert_has(again(s).cause, "; 2 times in the table have no interval");
    s->numbers[HALF_TIME].metric = IFM_M_COMMAND_CPU_NS; /* decides nothing */
    assert_has(again(s).cause, "; 1 time in the table has no interval");
    s->numbers[HALF_TIME].metric = IFM_M_STEP_NS;
    s->numbers[CHANGE].metric = IFM_M_LATENCY_NS_P95; /* nothing is compared */
    assert_int_equal(again(s).word, IFM_TRUST_NOISY);
    assert_string_equal(again(s).place, D ", plain");
    assert_string_equal(again(s).cause, "the time has no interval: needs 658 blocks: they are skewed");
    assert_string_equal(again(s).remedy, "go by p50, or a longer --cap");
}

/* A ceiling's probe is compared with nothing. */
static void a_probe_touches_no_comparison(void **state)
{
    (void)state;
    const struct ifm_finding probe = {IFM_SEVERITY_WARNING, "rule-07", D, "read.linear", "it drifts", .kind = 0};
    struct ifm_trust trust = trust_of(&probe, 1);
    assert_int_equal(trust.word, IFM_TRUST_SOLID);
    assert_int_equal(trust.warnings, 0);
    struct sample *s = sample_of(NULL, 0);
    s->numbers[PROBE_RATE].value.state = IFM_STATE_REFUSED;
    assert_int_equal(again(s).word, IFM_TRUST_SOLID);
}

static void a_cell_that_cannot_run_touches_no_other(void **state)
{
    (void)state;
    const struct ifm_finding absent = {IFM_SEVERITY_WARNING, "rule-01", "decode kv_len=4194304", "",
                                       "not measured",       .kind = 0};
    assert_int_equal(trust_of(&absent, 1).word, IFM_TRUST_SOLID);
}

static void a_warning_is_noise_with_its_remedy(void **state)
{
    (void)state;
    const struct ifm_finding found[] = {
        {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it drifts by 3 %", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-07", D, "read.linear", "it drifts by 4 %", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-07", D, "plain", "it drifts by 3 %", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-07", "", "", "the machine is under load", .kind = IFM_FINDING_LOAD},
        {IFM_SEVERITY_WARNING, "rule-07", D, "", "2 of 2 arms were not steady", .kind = 0}};
    struct ifm_trust trust = trust_of(found, 1);
    assert_int_equal(trust.word, IFM_TRUST_NOISY);
    assert_string_equal(trust.cause, "it drifts by 3 %");
    assert_string_equal(trust.place, D ", half");
    assert_string_equal(trust.rule, "rule-07");
    assert_has(trust.remedy, "--wait-quiet");
    assert_int_equal(trust.warnings, 0);
    trust = trust_of(found, COUNT(found));
    assert_string_equal(trust.cause, "the machine is under load"); /* the whole run weighs more than one arm */
    assert_string_equal(trust.place, "");
    assert_int_equal(trust.warnings, 2); /* of the same words one, and none of the probe's */
    const struct ifm_finding says = {IFM_SEVERITY_WARNING, "rule-02", D, "half", "undecided: --wait-quiet 10min",
                                     .takes_word = true};
    assert_string_equal(trust_of(&says, 1).remedy, ""); /* its text has it */
    const struct ifm_finding few = {
        IFM_SEVERITY_WARNING, "rule-07", D, "", "needs 6 blocks, has 1: no interval", .kind = IFM_FINDING_FEW_BLOCKS};
    assert_string_equal(trust_of(&few, 1).remedy, "measure more blocks, with a longer --cap");
    const struct ifm_finding cold = {
        IFM_SEVERITY_WARNING, "rule-07", D, "", "not steady when the warm-up ended: half", .kind = IFM_FINDING_WARM_UP};
    assert_has(trust_of(&cold, 1).remedy, "--warmup-cap");
}

/* ---- undecided ---- */

static struct ifm_undecided asked(const struct sample *s, const char *arm)
{
    return (struct ifm_undecided){&s->derived, &s->verdict, s->publication.events, &s->publication.plan->cells[0], arm};
}

static const char *why(const struct sample *s)
{
    const struct ifm_undecided of = asked(s, "half");
    return ifm_judge_undecided(&of, s->arena);
}

static uint64_t further(const struct sample *s)
{
    return ifm_judge_further(&s->derived, &s->verdict, D, "half");
}

#define TELLS "would probably tell faster from equal within 0.3 %, if noise stays as it is"
/* The gate's limit and the margin are two questions; one figure is told, that of what was asked. */
static void an_open_gate_and_its_comparison_need_the_same_blocks(void **state)
{
    (void)state;
    struct sample *s = open_sample(NULL, 0);
    struct ifm_gate_result result = on_limit;
    assert_int_equal(further(s), 100);
    assert_string_equal(why(s), "undecided after 24 blocks: about 100 more blocks " TELLS);
    assert_has(again(s).remedy, "about 100 more blocks");
    struct ifm_value *needed = &s->numbers[NEEDED].value, number = *needed;
    needed->state = IFM_STATE_ABSENT;
    needed->reason = "the estimate is within its noise of zero, so that no number of blocks can be foretold";
    sample_fill(s->numbers, COUNT(decided));
    assert_int_equal(further(s), 0);
    assert_has(why(s), "within its noise of zero");
    *needed = number;
    s->verdict.gates = &result;
    s->verdict.n_gates = 1;
    assert_has(again(s).remedy, "about 33 more blocks");
    assert_has(why(s), "about 33 more blocks would probably decide the gate, if ");
    result.further = 0; /* nothing decides the gate, and so nothing is promised */
    assert_string_equal(again(s).remedy, "a quieter machine, or another limit for the gate");
    assert_string_equal(again(s).cause, "after 24 blocks: the estimate is within its noise of the gate's limit, so "
                                        "that no number of blocks can be foretold");
    ended(s, "cap", 24, 10); /* four times as many tell more all the same, which is no promise */
    assert_string_equal(again(s).remedy, "--cap 40s, which about halves the interval");
    ended(s, "cap", 24, 1000);
    assert_string_equal(again(s).remedy, "a quieter machine, or another limit for the gate");
    const struct ifm_undecided baseline = asked(s, "plain");
    assert_string_equal(ifm_judge_undecided(&baseline, s->arena), "");
}

/* In the form that is typed, of the whole run: the 10 s that were, and those to come. */
static void what_would_decide_is_told_as_time(void **state)
{
    (void)state;
    struct sample *s = open_sample(NULL, 0);
    ended(s, "cap", 24, 10);
    assert_has(why(s), "undecided after 24 blocks: about 100 more blocks or fewer (45 s) " TELLS ": --cap 55s");
    assert_string_equal(again(s).remedy, "--cap 55s: about 100 more blocks or fewer (45 s) " TELLS);
    ended(s, "cap", 24, 60);
    assert_has(why(s), "about 100 more blocks or fewer (250 s)");
    assert_has(why(s), ": --cap 310s");
    ended(s, "repeats", 24, 0.1);
    assert_has(why(s), "about 100 more blocks (less than 1 s) would probably tell");
    assert_has(why(s), ": --repeats ");
    ended(s, "mde", 24, 10); /* a longer cap alone changes nothing */
    assert_has(why(s), ": --mde 0.044 --cap 55s");
    assert_has(again(s).remedy, "--mde 0.044 --cap 55s: about 100 more blocks");
    ended(s, "cap", 24, 2000); /* 8333 s */
    assert_string_equal(why(s), "undecided after 24 blocks: an hour more may not decide. Remedy: a wider margin");
    assert_has(again(s).remedy, "an hour more may not decide");
}

/* Of disturbed blocks a comparison has nothing: where three of four were, four times as many are needed, and a quiet
 * machine comes first. */
static void disturbed_blocks_decide_nothing(void **state)
{
    (void)state;
    struct sample *s = open_sample(NULL, 0);
    s->numbers[NEEDED].value.number = 496; /* disturbed ones among them */
    measured_in_all(s, 96);
    ended(s, "cap", 96, 10);
    assert_int_equal(further(s), 400);
    assert_has(why(s), "undecided after 24 undisturbed blocks of 96. Remedy: end other work, or add --wait-quiet "
                       "10min; else about 400 more blocks or fewer (45 s) " TELLS ": --cap 55s");
    assert_string_equal(again(s).cause, "undecided after 24 undisturbed blocks of 96");
    assert_string_equal(again(s).told, why(s));
    assert_string_equal(again(s).remedy, "end other work, or add --wait-quiet 10min");
    s = open_sample(NULL, 0);
    s->numbers[CHANGE].value.n = 8; /* of so few nothing is foretold, and nothing else is said in its place */
    measured_in_all(s, 96);
    ended(s, "cap", 96, 10);
    assert_string_equal(why(s), "undecided after 8 undisturbed blocks of 96: too few undisturbed blocks to "
                                "foretell how many more decide. Remedy: end other work, or add --wait-quiet 10min");
    s = open_sample(NULL, 0);
    s->numbers[NEEDED].value.number = 130;
    measured_in_all(s, 25); /* one in 25 is no cause */
    ended(s, "cap", 25, 10);
    assert_has(why(s), "undecided after 24 undisturbed blocks of 25: about 105 more blocks or fewer (45 s) would");
}

/* Nobody asked about the margin where the gates have their answer: more blocks are no remedy. */
static void a_pass_needs_no_more_blocks(void **state)
{
    (void)state;
    struct sample *s = open_sample(NULL, 0);
    struct ifm_gate_result result = on_limit;
    ended(s, "cap", 24, 10);
    result.outcome = IFM_OUTCOME_PASS;
    s->verdict.gates = &result;
    s->verdict.n_gates = 1;
    s->verdict.outcome = IFM_OUTCOME_PASS;
    assert_int_equal(again(s).word, IFM_TRUST_SOLID);
    assert_string_equal(again(s).remedy, "");
    s->verdict.outcome = IFM_OUTCOME_NOT_GATED;
    s->verdict.n_gates = 0;
    assert_has(again(s).remedy, "--cap ");
}

/* Is processor time offered beside a gate on the time that is open? Then the sentence may say on which side it lies. */
static bool is_offered_beside_gate(const struct ifm_undecided *of, double limit_percent, const char **side,
                                   struct ifm_arena *arena)
{
    const struct ifm_gate gate = {.metric = "change_percent", .threshold = limit_percent, .interval = true};
    struct ifm_gate_result result = on_limit;
    result.gate = &gate;
    result.observed = (struct ifm_value)RATE(0.1, -1, 4);
    struct ifm_verdict verdict = *of->verdict;
    verdict.gates = &result, verdict.n_gates = 1;
    struct ifm_undecided gated = *of;
    gated.verdict = &verdict;
    *side = ifm_judge_cpu_side(&gated, arena);
    return strstr(ifm_judge_quiet(&gated, arena), "CPU time alone") != NULL;
}

/* An open comparison whose processor time is decided: that is offered, unless one of the two programs waits for a tenth
 * of its time, the baseline too. What they waited for a CPU is no such waiting, and is recorded for all runs. */
static void processor_time_is_offered_where_nobody_waits(void **state)
{
    (void)state;
    enum { RUNS = 10 };
    static const struct {
        double cpu[2], delay[2]; /* of a run that takes 800 and 400 us; below zero = not told */
        bool offered;
    } cases[] = {
        {{780000, 390000}, {0, 0}, true},   {{400000, 200000}, {390000, 190000}, true},
        {{780000, 200000}, {0, 0}, false},  {{400000, 200000}, {390000, 100000}, false},
        {{400000, 390000}, {0, 0}, false},  {{400000, 200000}, {100000, 190000}, false},
        {{780000, 390000}, {-1, -1}, true}, {{400000, 200000}, {-1, -1}, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sample *s = open_sample(NULL, 0);
        static const char *const arms[] = {"plain", "half"};
        struct ifm_number *all = IFM_ARENA_ARRAY(s->arena, struct ifm_number, s->derived.n_numbers + 7);
        memcpy(all, s->derived.numbers, s->derived.n_numbers * sizeof *all);
        s->derived.numbers = all;
        for (int a = 0; a < 2; a++) {
            const double cpu = cases[i].cpu[a], delay = RUNS * cases[i].delay[a];
            all[s->derived.n_numbers++] = (struct ifm_number){D, arms[a], IFM_M_COMMAND_CPU_NS, RATE(cpu, cpu, cpu)};
            all[s->derived.n_numbers++] =
                (struct ifm_number){D,
                                    arms[a],
                                    IFM_M_COMMAND_RUN_DELAY_NS,
                                    {.number = delay, .state = delay < 0 ? IFM_STATE_ABSENT : IFM_STATE_OK}};
            all[s->derived.n_numbers++] = (struct ifm_number){D, arms[a], IFM_M_SAMPLES_COUNT, {.number = RUNS}};
        }
        all[s->derived.n_numbers++] =
            (struct ifm_number){D, "half", IFM_M_CHANGE_CPU_PERCENT, SHARE(-50, -51, -49, "less")};
        sample_fill(all, s->derived.n_numbers);
        const struct ifm_undecided of = asked(s, "half");
        assert_int_equal(strstr(ifm_judge_quiet(&of, s->arena), "CPU time alone") != NULL, cases[i].offered);
        struct ifm_value *cpu = &all[s->derived.n_numbers - 1].value;
        *cpu = (struct ifm_value)SHARE(0.2, -0.3, 0.7, "undecided");
        cpu->has_interval = true;
        static const char *const sides[] = {"", "within the limit", "above the limit"};
        for (int k = 0; k < 3; k++) { /* a gate has a limit of its own; at last the whole interval is above it */
            const char *side, *wanted = cases[i].offered ? sides[k] : "";
            cpu->low = k == 2 ? 0.6 : cpu->low;
            assert_int_equal(is_offered_beside_gate(&of, k == 1 ? 3 : 0.5, &side, s->arena), wanted[0] != '\0');
            assert_string_equal(side, wanted);
        }
    }
}

/* The box has the cause of the note, and not that of another warning. */
static void one_run_has_one_main_cause(void **state)
{
    (void)state;
    static const struct ifm_finding load[] = {
        {IFM_SEVERITY_WARNING, "rule-07", "", "", "other programs took up to 98 % of each CPU as the run began",
         .kind = IFM_FINDING_LOAD},
        {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it drifts by 3 %", .kind = 0}};
    struct sample *s = open_sample(load, 2);
    ended(s, "cap", 24, 10);
    assert_has(why(s), "undecided after 24 blocks under load. Remedy: end other work, or add --wait-quiet 10min; else");
    assert_string_equal(again(s).cause, "undecided after 24 blocks under load");
    assert_int_equal(again(s).warnings, 1); /* the drift */
    struct ifm_text summary = {0};
    ifm_summary_compose(&s->publication, &summary);
    assert_has(summary.data, "\ntrust: noisy: undecided after 24 blocks under load; remedy: end other work");
    ifm_text_free(&summary);
    const struct ifm_value was = s->numbers[CHANGE].value, needed = s->numbers[NEEDED].value;
    s->numbers[NEEDED].value.number = 4000;
    s->numbers[CHANGE].value.low = -1.32;
    s->numbers[CHANGE].value.high = 1.1;
    assert_has(why(s), "undecided after 24 blocks under load, though a margin of 1.4 % would call this run equal");
    s->numbers[CHANGE].value = was;
    s->numbers[NEEDED].value = needed;
    s->numbers[CHANGE].value.n = 8;
    assert_has(why(s), "undecided after 8 blocks under load: too few undisturbed blocks to foretell");
    static const struct ifm_finding took[] = {{IFM_SEVERITY_WARNING, "rule-07", "", "",
                                               "other programs took up to 98 % of each CPU as the run began",
                                               .kind = IFM_FINDING_LOAD},
                                              {IFM_SEVERITY_WARNING, "rule-02", D, "half",
                                               "undecided: the machine disturbed 19 of 19 blocks", .takes_word = true}};
    s = open_sample(took, 2);
    assert_string_equal(why(s), took[1].text);
    assert_string_equal(again(s).cause, took[1].text);
    assert_int_equal(again(s).warnings, 1);
    /* Where most blocks were disturbed, what the few others say is no cause, and no bias. */
    static const struct ifm_finding others[] = {
        {IFM_SEVERITY_WARNING, "rule-07", D, "half",
         "340 of 352 slots were disturbed, too many to tell " IFM_ORDER_HIDDEN_WORDS ": undecided",
         .kind = IFM_FINDING_ORDER_HIDDEN, .takes_word = true},
        {IFM_SEVERITY_WARNING, "rule-02", D, "half", "undecided: the machine disturbed 176 of 176 blocks",
         .takes_word = true},
        {IFM_SEVERITY_WARNING, "rule-07", D, "half", "undecided, as what is typical and what is paid disagree",
         .kind = IFM_FINDING_TYPICAL, .takes_word = true}};
    s = open_sample(others, 2);
    assert_string_equal(again(s).cause, others[1].text);
    assert_int_equal(again(s).word, IFM_TRUST_NOISY);
    for (size_t i = 0; i < COUNT(others); i += 2) {
        s = open_sample(&others[i], 1);
        measured_in_all(s, 96);
        assert_int_equal(again(s).word, IFM_TRUST_NOISY);
        assert_string_equal(again(s).remedy, "end other work, or add --wait-quiet 10min");
    }
    const struct ifm_finding bias = {IFM_SEVERITY_WARNING,
                                     "rule-03",
                                     D,
                                     "",
                                     "plain reaches only 60 % of its ceiling",
                                     .kind = IFM_FINDING_WEAK_BASELINE};
    assert_int_equal(trust_of(&bias, 1).word, IFM_TRUST_WEAK);
    assert_int_equal(again(open_sample(&bias, 1)).word, IFM_TRUST_WEAK);
}

/* Whoever reads "noisy" quiets the machine, in vain where an arm is the cause. */
static void what_lies_in_an_arm_is_no_noise(void **state)
{
    (void)state;
    static const char *const causes[] = {
        "the baseline plain reaches only 75.4 % of its read ceiling, below 90 %: ratios of compressed arms tell of it",
        "the arm's working set is served by caches and the baseline's by memory",
        "what disturbed the blocks follows half and not the machine: no block is set aside for it",
        "the time depends on which arm ran before (half), which moves it. Remedy: --slot-steps 12, which helps"};
    static const enum ifm_finding_kind kinds[] = {IFM_FINDING_WEAK_BASELINE, IFM_FINDING_CACHES, IFM_FINDING_DISTURBS,
                                                  IFM_FINDING_ORDER};
    for (size_t i = 0; i < COUNT(causes); i++) {
        const struct ifm_finding found = {IFM_SEVERITY_WARNING, "rule-07", D, "half", causes[i], .kind = kinds[i]};
        struct ifm_trust trust = trust_of(&found, 1);
        assert_string_equal(ifm_trust_label(trust.word), i == 0 ? "weak baseline" : "biased");
        assert_lacks(trust.remedy, "wait-quiet");
        assert_lacks(trust.remedy, "end other work");
        assert_true(i == 3 ? strcmp(trust.remedy, "--slot-steps 12, which helps") == 0 : trust.remedy[0] != '\0');
    }
    const struct ifm_finding found = {
        IFM_SEVERITY_WARNING, "rule-07", D, "half", "no steady state: the level changes", .kind = IFM_FINDING_UNSTEADY};
    struct ifm_trust trust = trust_of(&found, 1);
    assert_int_equal(trust.word, IFM_TRUST_NOISY);
    assert_has(trust.remedy, "warm up for longer");
}

/* The finding that says why a number is refused is no other warning. */
static void a_cause_is_counted_once(void **state)
{
    (void)state;
    const struct ifm_finding same = {
        IFM_SEVERITY_WARNING, "rule-05", D, "half", "less than it draws when it idles", .kind = 0};
    struct sample *s = sample_of(&same, 1);
    s->numbers[HALF_ENERGY].value =
        (struct ifm_value)WORD(IFM_STATE_REFUSED, "rule-05: less than it draws when it idles", "");
    sample_fill(s->numbers, COUNT(decided));
    struct ifm_trust trust = again(s);
    assert_int_equal(trust.word, IFM_TRUST_DO_NOT_USE);
    assert_int_equal(trust.warnings, 0);
    s->numbers[HALF_ENERGY].metric = IFM_M_ENERGY_ABOVE_IDLE_J; /* an idle power that does not fit: no time's fault */
    assert_int_equal(again(s).word, IFM_TRUST_NOISY);
}

/* A time before energy, whichever comes first; what a rule found is named by it. */
static void a_refused_number_is_not_to_be_used(void **state)
{
    (void)state;
    const struct ifm_finding load = {IFM_SEVERITY_WARNING,    "rule-07", "", "", "the machine is under load",
                                     .kind = IFM_FINDING_LOAD};
    struct sample *s = sample_of(&load, 1);
    s->numbers[HALF_RATE].value =
        (struct ifm_value)WORD(IFM_STATE_REFUSED, "rule-03: above its ceiling", "take ceilings along");
    s->numbers[HALF_ENERGY].value = (struct ifm_value)WORD(IFM_STATE_REFUSED, "no window", "");
    sample_fill(s->numbers, COUNT(decided));
    struct ifm_trust trust = again(s);
    assert_int_equal(trust.word, IFM_TRUST_DO_NOT_USE);
    assert_string_equal(ifm_trust_label(trust.word), "do not use");
    assert_string_equal(trust.cause, "above its ceiling");
    assert_string_equal(trust.rule, "rule-03");
    assert_string_equal(trust.remedy, "take ceilings along");
    assert_int_equal(trust.warnings, 1); /* the load is no longer the cause */
    s->numbers[SPEEDUP].value = s->numbers[CHANGE].value =
        (struct ifm_value)WORD(IFM_STATE_REFUSED, "rule-10: no output", "");
    sample_fill(s->numbers, COUNT(decided));
    trust = again(s);
    assert_string_equal(trust.cause, "no output");
    assert_string_equal(trust.rule, "rule-10");
    assert_has(trust.remedy, "output");
}

static void a_failed_check_is_not_to_be_used(void **state)
{
    (void)state;
    static const char *const rules[] = {"rule-10", "rule-11", "rule-12"};
    for (size_t i = 0; i < COUNT(rules); i++) {
        const struct ifm_finding found[] = {
            {IFM_SEVERITY_WARNING, "rule-07", "", "", "the machine is under load", .kind = IFM_FINDING_LOAD},
            {IFM_SEVERITY_WARNING, rules[i], D, "half", "it fails", .kind = 0}};
        struct ifm_trust trust = trust_of(found, 2);
        assert_int_equal(trust.word, IFM_TRUST_DO_NOT_USE);
        assert_string_equal(trust.cause, "it fails");
        assert_int_equal(trust.warnings, 1);
    }
}

static void what_is_invalid_comes_first(void **state)
{
    (void)state;
    const struct ifm_finding found[] = {
        {IFM_SEVERITY_WARNING, "rule-12", D, "half", "the output changed", .kind = 0},
        {IFM_SEVERITY_INVALID, "rule-02", D, "read.linear", "samples are sorted", .kind = 0}};
    struct sample *s = sample_of(found, 2);
    s->numbers[SPEEDUP].value = (struct ifm_value)WORD(IFM_STATE_REFUSED, "rule-10: no output", "");
    sample_fill(s->numbers, COUNT(decided));
    struct ifm_trust trust = again(s);
    assert_int_equal(trust.word, IFM_TRUST_DO_NOT_USE);
    assert_string_equal(trust.cause, "samples are sorted");
}

static void numbers_that_disagree_are_not_to_be_used(void **state)
{
    (void)state;
    struct sample *s = sample_of(NULL, 0);
    s->numbers[SPEEDUP].value.number = 3;
    struct ifm_trust trust = again(s);
    assert_int_equal(trust.word, IFM_TRUST_DO_NOT_USE);
    assert_has(trust.cause, "do not agree");
}

static void nothing_measured_is_not_to_be_used(void **state)
{
    (void)state;
    struct sample *s = sample_of(NULL, 0);
    const char *reasons[] = {"no cell was measured"};
    s->derived.n_numbers = 0;
    assert_string_equal(again(s).cause, "nothing was measured");
    s->verdict.reasons = reasons;
    s->verdict.n_reasons = 1;
    struct ifm_trust trust = again(s);
    assert_int_equal(trust.word, IFM_TRUST_DO_NOT_USE);
    assert_string_equal(trust.cause, "no cell was measured");
    s = sample_of(NULL, 0); /* numbers there are, and the verdict is not valid */
    s->verdict.reasons = reasons;
    s->verdict.n_reasons = 1;
    s->verdict.exit_code = IFM_INVALID;
    assert_int_equal(again(s).word, IFM_TRUST_DO_NOT_USE);
}

static void a_run_that_did_not_end_says_so_first(void **state)
{
    (void)state;
    const struct ifm_finding found[] = {
        {IFM_SEVERITY_WARNING, "rule-07", "", "", "the machine is under load", .kind = IFM_FINDING_LOAD},
        {IFM_SEVERITY_WARNING, "", "", "", "the run did not finish; go on", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-04", "", "", "the clock was set", .kind = 0}};
    struct ifm_trust trust = trust_of(found, 3);
    assert_int_equal(trust.word, IFM_TRUST_NOISY);
    assert_string_equal(trust.cause, "the run did not finish; go on");
    struct sample *s = sample_of(found, 3);
    s->derived.n_numbers = 0;
    trust = again(s);
    assert_int_equal(trust.word, IFM_TRUST_DO_NOT_USE);
    assert_string_equal(trust.cause, "the run did not finish; go on");
    assert_int_equal(trust.warnings, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_found_is_solid),
        cmocka_unit_test(another_run_may_differ),
        cmocka_unit_test(the_other_cause_is_named),
        cmocka_unit_test(an_inconclusive_gate_is_not_solid),
        cmocka_unit_test(scripted_times_say_so),
        cmocka_unit_test(solid_says_what_has_no_interval),
        cmocka_unit_test(a_probe_touches_no_comparison),
        cmocka_unit_test(a_cell_that_cannot_run_touches_no_other),
        cmocka_unit_test(a_warning_is_noise_with_its_remedy),
        cmocka_unit_test(what_lies_in_an_arm_is_no_noise),
        cmocka_unit_test(what_would_decide_is_told_as_time),
        cmocka_unit_test(disturbed_blocks_decide_nothing),
        cmocka_unit_test(a_pass_needs_no_more_blocks),
        cmocka_unit_test(processor_time_is_offered_where_nobody_waits),
        cmocka_unit_test(one_run_has_one_main_cause),
        cmocka_unit_test(an_open_gate_and_its_comparison_need_the_same_blocks),
        cmocka_unit_test(a_cause_is_counted_once),
        cmocka_unit_test(a_refused_number_is_not_to_be_used),
        cmocka_unit_test(a_failed_check_is_not_to_be_used),
        cmocka_unit_test(what_is_invalid_comes_first),
        cmocka_unit_test(numbers_that_disagree_are_not_to_be_used),
        cmocka_unit_test(nothing_measured_is_not_to_be_used),
        cmocka_unit_test(a_run_that_did_not_end_says_so_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
