/* What the brief document, and the page, make of numbers and of the word of trust. */
#include "trust_sample.h"

#include "publish/compose.h"
#include <locale.h>

static struct ifm_error error;

static void the_table_says_its_level_and_no_verdict(void **state)
{
    (void)state;
    char *text = brief(sample_of(NULL, 0));
    assert_lacks(text, "MEASURED");
    assert_true(text[0] != '\n');
    assert_has(text, "vs baseline [98.3 %]");
    assert_has(text, "mean/step ±95 %  "); /* a bare ± is read as a standard deviation */
    assert_has(text, "\n  half is 2.00x faster than plain, output error "); /* the interval stands in the table */
    assert_has(text, "\nsolid: ");
    assert_has(text, D "  8 threads, equal if within ±0.3 %\n");
    assert_has(text, "absent: the shape needs 96.0 GiB");
    assert_has(text, "load time by working set"); /* a cell of probes has no other table */
    free(text);
}

/* What was found, its sentence and how far to trust it, before the first table; each said once. */
static void report_md_begins_with_the_answer(void **state)
{
    (void)state;
    struct sample *s = sample_of(NULL, 0);
    struct ifm_text text = {0};
    assert_int_equal(ifm_compose_document(&s->publication, IFM_LEVEL_FOLDED, false, true, &text, &error), IFM_OK);
    char *answer = strndup(text.data, (size_t)(strstr(text.data, "\n### ") - text.data));
    const char *rest = text.data + strlen(answer);
    assert_int_equal(strncmp(answer, "## ", 3), 0);
    assert_has(strtok(strdup(answer), "\n"), " on Example CPU");
    assert_has(answer, "**2.00x faster** [1.90, 2.10] than plain");
    assert_has(answer, "- **solid** ");
    assert_lacks(answer, "gates");
    assert_lacks(rest, "2.00x faster**");
    ifm_text_free(&text);
    s->publication.verdict = &sample_verdict;
    assert_int_equal(ifm_compose_document(&s->publication, IFM_LEVEL_FOLDED, false, true, &text, &error), IFM_OK);
    assert_has(text.data, "## BLOCKED: The gate energy is blocked");
    assert_has(text.data, " on Example CPU");
    assert_has(text.data, "- **solid** ");
    ifm_text_free(&text);
    free(answer);
}

/* Where the interval would decide and the word does not, the sentence says that a warning took it; where the interval
 * holds the margin, no more is to be said. */
static void a_word_that_was_taken_is_said_to_be(void **state)
{
    (void)state;
    struct sample *s = sample_of(NULL, 0);
    s->numbers[CHANGE].value.text = "undecided";
    char *text = page(s);
    assert_has(text, "half is undecided by a warning: 2.00x [1.90, 2.10]");
    free(text);
    s->numbers[SPEEDUP].value.low = 1.001; /* above 1, and within the margin */
    text = page(s);
    assert_has(text, "half is undecided: 2.00x [1.00, 2.10] the speed of plain");
    assert_lacks(text, "by a warning");
    free(text);
    s->numbers[SPEEDUP].value.number = 0.5; /* slower */
    s->numbers[SPEEDUP].value.low = 0.4;
    s->numbers[SPEEDUP].value.high = 0.6;
    text = page(s);
    assert_has(text, "is undecided by a warning: 0.500x");
    free(text);
    s->numbers[CHANGE].value.text = "slower";
    text = page(s);
    assert_lacks(text, "by a warning");
    free(text);
    static const struct ifm_finding took[] = {
        {IFM_SEVERITY_WARNING, "rule-07", D, "half", "they disagree", .kind = IFM_FINDING_TYPICAL, .takes_word = true},
        {IFM_SEVERITY_WARNING, "rule-02", D, "half", "undecided: the machine disturbed 9 of 9", .takes_word = true}};
    for (size_t n = 1; n <= COUNT(took); n++) { /* what other work disturbed comes first */
        s = sample_of(took, n);
        s->numbers[CHANGE].value.text = "undecided";
        text = page(s);
        assert_has(text, n == 1 ? "half is undecided, as percentiles and mean disagree: 2.00x"
                                : "half is undecided by disturbed blocks: 2.00x");
        free(text);
    }
}

static void a_verdict_that_was_asked_for_stays(void **state)
{
    (void)state;
    struct sample *s = sample_of(NULL, 0);
    s->publication.verdict = &sample_verdict;
    char *text = brief(s);
    assert_has(text, "BLOCKED  The gate energy is blocked");
    assert_has(text, "at most 0.5"); /* the table of gates */
    free(text);
}

static void footnotes_are_those_of_the_table(void **state)
{
    (void)state;
    struct sample *s = sample_of(NULL, 0);
    s->numbers[SPEEDUP].value = s->numbers[CHANGE].value =
        (struct ifm_value)WORD(IFM_STATE_REFUSED, "rule-10: no output was recorded", "");
    s->numbers[HALF_ENERGY].value = (struct ifm_value)WORD(IFM_STATE_ABSENT, "no sensor", "");
    sample_fill(s->numbers, COUNT(decided));
    char *text = brief(s);
    assert_has(text, "refused¹");
    assert_has(text, "  ¹ rule-10: no output was recorded\n");
    assert_has(text, "\ndo not use: " D ", half: no output was recorded\nnext: ");
    assert_lacks(text, "no sensor");
    assert_lacks(text, "half is"); /* the refusal is in the table */
    free(text);
}

/* What disturbed a comparison is said in the line of trust, and not in a note or a table beside it; a gate's reason has
 * its first clause alone, so that the verdict says why. */
static void a_fact_stands_once(void **state)
{
    (void)state;
    static const char told[] =
        "undecided: the machine disturbed 30 of 30 blocks (threads waited for a CPU); at least 6 "
        "undisturbed blocks are needed, 0 are there. Remedy: end other work, or add --wait-quiet 10min";
    static const struct ifm_finding found = {IFM_SEVERITY_WARNING, "rule-02", D, "half", told, .takes_word = true};
    static const struct ifm_gate gate = {.name = "limit", .metric = "change_percent", .cell = "", .arm = ""};
    struct ifm_gate_result result = {.gate = &gate,
                                     .cell = D,
                                     .arm = "half",
                                     .outcome = IFM_OUTCOME_BLOCKED,
                                     .reason = "change in time is -50 %, but rule-02 lets it decide nothing: ",
                                     .remedy = ""};
    struct sample *s = sample_of(&found, 1);
    const char *reason;
    s->numbers[CHANGE].value.text = "undecided";
    result.observed = s->numbers[CHANGE].value;
    result.reason = ifm_arena_printf(s->arena, "%s%s", result.reason, told + strlen("undecided: "));
    reason = ifm_arena_printf(s->arena, "gate limit is blocked (%s, half): %s", D, result.reason);
    s->verdict = (struct ifm_verdict){.outcome = IFM_OUTCOME_BLOCKED,
                                      .exit_code = IFM_INVALID,
                                      .gates = &result,
                                      .n_gates = 1,
                                      .reasons = &reason,
                                      .n_reasons = 1,
                                      .rollback_advice = ""};
    char *text = brief(s);
    assert_int_equal(count_of(text, "30 of 30 blocks"), 2);
    assert_int_equal(count_of(text, "at least 6"), 1);
    assert_int_equal(count_of(text, "--wait-quiet"), 1);
    assert_int_equal(count_of(text, "limit"), 1);
    assert_lacks(text, "wanted"); /* a table of one gate says what the reason says */
    assert_has(text, "noisy: ");
    free(text);
    /* An open comparison without other work: how many more blocks is said once, too. */
    s = sample_of(NULL, 0);
    s->numbers[CHANGE].value.text = "undecided";
    s->numbers[NEEDED].value = (struct ifm_value){.number = 124, .n = 24, .n_of = "blocks"};
    sample_fill(s->numbers, COUNT(decided));
    text = brief(s);
    assert_int_equal(count_of(text, "about 100"), 1);
    assert_int_equal(count_of(text, "after 24 blocks"), 1);
    free(text);
}

/* A sentence too long for its lines loses words, and never what to type. */
static void no_remedy_is_cut_before_its_flag(void **state)
{
    (void)state;
    static const char told[] =
        "undecided: a long story, with more than a line of words; of things that were seen beside the blocks, and of "
        "other things; of which each has its name, and its place, and its number, and nothing else at all; --cap 60s";
    static const struct ifm_finding found[] = {{IFM_SEVERITY_WARNING, "rule-07", D, "half", told, .takes_word = true},
                                               {IFM_SEVERITY_INVALID, "rule-04", D, "", "it was edited", .kind = 0}};
    struct sample *s = sample_of(found, 2);
    s->numbers[CHANGE].value.text = "undecided";
    char *text = brief(s);
    assert_has(text, "do not use: ");
    assert_has(text, "--cap 60s");
    free(text);
}

/* Five reasons, and room for three: each mark has its text, and the others have no mark. */
static void a_mark_has_its_text(void **state)
{
    (void)state;
    struct sample *s = sample_of(NULL, 0);
    static const char *const marks[] = {"¹", "²", "³", "⁴", "⁵", "⁶"};
    struct ifm_number more[] = {
        {D, "staged", IFM_M_STEP_NS, WORD(IFM_STATE_ABSENT, "reason one", "")},
        {D, "packed", IFM_M_STEP_NS, WORD(IFM_STATE_ABSENT, "reason two", "")},
        {D, "staged", IFM_M_SPEEDUP, WORD(IFM_STATE_ABSENT, "reason three", "")},
        {D, "packed", IFM_M_SPEEDUP, WORD(IFM_STATE_REFUSED, "rule-10: reason four", "")},
    };
    const size_t n = s->derived.n_numbers;
    struct ifm_number *all = IFM_ARENA_ARRAY(s->arena, struct ifm_number, n + COUNT(more));
    memcpy(all, s->derived.numbers, n * sizeof *all);
    memcpy(all + n, more, sizeof more);
    all[HALF_TIME].value = (struct ifm_value)WORD(IFM_STATE_ABSENT, "reason five", "");
    sample_fill(all, n + COUNT(more));
    s->derived.numbers = all;
    s->derived.n_numbers = n + COUNT(more);
    char *text = brief(s);
    assert_has(text, "  ³ ");
    assert_has(text, "rule-10: reason four");
    assert_has(text, "\nrest: 2 footnotes: inferometer report DIR --verbose\n");
    for (size_t i = 0; i < COUNT(marks); i++) {
        char note[16];
        snprintf(note, sizeof note, "\n  %s ", marks[i]);
        const char *mark = strstr(text, marks[i]);
        assert_true((mark == NULL) == (i >= 3));
        assert_true(mark == NULL || (strstr(text, note) != NULL && mark < strstr(text, note)));
    }
    free(text);
}

/* The median of a time stands beside it; processor time has none to go by, and on a terminal neither note nor interval,
 * be there one of another row: it decides nothing. */
static void p50_is_a_remedy_where_there_is_one(void **state)
{
    (void)state;
    static const struct ifm_value bare = {
        .number = 8e5, .n = 24, .n_of = "blocks", .text = "needs 658 blocks: they are skewed"};
    for (int cpu = 0; cpu < 2; cpu++) {
        struct sample *s = sample_of(NULL, 0);
        s->numbers[cpu ? PROBE_RATE : PLAIN_TIME] =
            (struct ifm_number){D, "plain", cpu ? IFM_M_COMMAND_CPU_NS : IFM_M_STEP_NS, bare};
        s->numbers[HALF_RATE] = (struct ifm_number){D, "half", IFM_M_COMMAND_CPU_NS, RATE(7.07e5, 6.97e5, 7.17e5)};
        sample_fill(s->numbers, COUNT(decided));
        char *text = brief(s);
        assert_has(text, "  707 µs");
        assert_lacks(text, "707 µs ±");
        assert_int_equal(count_of(text, "  ¹ no interval: needs 658 blocks: they are skewed"), cpu ? 0 : 1);
        assert_int_equal(count_of(text, "go by p50"), cpu ? 0 : 1);
        free(text);
        struct ifm_text whole = {0};
        assert_int_equal(ifm_compose_document(&s->publication, IFM_LEVEL_VERBOSE, false, false, &whole, &error),
                         IFM_OK);
        assert_int_equal(count_of(whole.data, "Remedy: more blocks"), cpu ? 1 : 0);
        assert_has(whole.data, "±10");
        ifm_text_free(&whole);
    }
}

/* On the page the badge has the short cause with its remedy, the finding the whole sentence; what the badge says whole
 * is no finding beside it. */
static void the_badge_and_the_findings_share_no_sentence(void **state)
{
    (void)state;
    static const struct ifm_finding drift = {IFM_SEVERITY_WARNING,
                                             "rule-07",
                                             D,
                                             "half",
                                             "the step time drifts by 9 % over the pass; its interval is widened",
                                             .kind = IFM_FINDING_TIME_CHANGES};
    static const struct ifm_finding both[] = {
        {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it drifts by 3 %", .kind = 0},
        {IFM_SEVERITY_NOTE, "rule-08", "", "", "not locked", .kind = 0}};
    char *text = page(sample_of(&drift, 1));
    assert_int_equal(count_of(text, "drifts by 9 % over the pass (rule-07). Next:"), 1);
    assert_int_equal(count_of(text, "drifts by 9 % over the pass; its interval is widened"), 1);
    free(text);
    text = page(sample_of(both, 2));
    assert_int_equal(count_of(text, "it drifts by 3 % (rule-07). Next:"), 1);
    assert_int_equal(count_of(text, "it drifts by 3 %"), 1);
    assert_has(text, "Findings, by cause");
    assert_has(text, "not locked");
    free(text);
    text = page(sample_of(both, 1));
    assert_int_equal(count_of(text, "it drifts by 3 %"), 1);
    assert_lacks(text, "Findings");
    free(text);
}

/* What can be pasted, and what a pull request can do. */
static void a_terminal_names_the_folder_and_a_file_does_not(void **state)
{
    (void)state;
    const struct ifm_finding found[] = {{IFM_SEVERITY_WARNING, "rule-07", D, "half", "it drifts", .kind = 0},
                                        {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it jumps", .kind = 0}};
    static const char *const dirs[][2] = {{"runs/a", "inferometer rerun runs/a --times 5"},
                                          {"my runs/a", "inferometer rerun 'my runs/a' --times 5"}};
    for (size_t i = 0; i < COUNT(dirs); i++) {
        struct sample *s = sample_of(NULL, 0);
        s->publication.dir = dirs[i][0];
        char *text = brief(s), *line = text;
        for (char *at = text; *at != '\0'; at++) /* a sentence goes on behind the end of its line */
            if (*at != '\n' || at[1] != ' ')
                *line++ = *at;
            else
                at += at[2] == ' ' && at[3] != ' ';
        *line = '\0';
        assert_has(text, dirs[i][1]);
        free(text);
    }
    struct sample *s = sample_of(found, COUNT(found));
    s->publication.dir = "r";
    s->numbers[CHANGE].value.text = "undecided";
    char *text = brief(s);
    assert_has(text, "\nrest: 1 warning: inferometer report r --verbose\n"); /* of what command the option is */
    free(text);
    s->publication.filed = true;
    text = brief(s);
    assert_has(text, "\nrest: 1 warning: the report\n");
    free(text);
    text = page(sample_of(NULL, 0)); /* which says "in the folder of this report, inferometer rerun ." too */
    assert_has(text, "inferometer rerun . --times 5");
    assert_lacks(text, "--verbose");
    free(text);
}

/* The most lines that one thing of the word of trust takes, which is the last of the text. */
static size_t trust_lines(const char *text)
{
    const char *at = text, *last = text;
    size_t most = 0, lines = 0;
    for (; (at = strstr(at, "\n\n")) != NULL; at += 2)
        last = at + 2;
    for (; (at = strchr(last, '\n')) != NULL; last = at + 1) {
        lines = *last == ' ' ? lines + 1 : 1;
        most = lines > most ? lines : most;
    }
    return most;
}

/* One cause and one remedy, in two lines each; the rest is in the report. What to type is there whole. */
static void the_word_of_trust_takes_two_lines(void **state)
{
    (void)state;
    static const char word[] =
        "undecided: the machine disturbed 18 of 24 blocks (threads waited for a CPU, the hypervisor "
        "took the CPU); at least 6 undisturbed blocks are needed, 5 are there. Remedy: end other "
        "work, or --threads 1, which leaves it its CPU; CPU time alone, without what it waits, "
        "is decided: -64.1 % [-65.3, -62.8], less";
    static const char typed[] =
        "the time depends on which arm ran before (it is 3.1 % longer behind f16 than behind "
        "itself, and 1.2 % shorter behind int8), which moves the change by 2 to 4 %: its "
        "interval holds those of both orders: undecided. Remedy: --slot-steps 12, which lets each arm "
        "run behind itself";
    static const char alone[] =
        "one clause that is as long as three lines of a terminal would be if somebody wrote one "
        "and which has no mark at all to be cut at as it was made by a program that tells its "
        "own story in a hundred words without a comma";
    const struct ifm_finding found[] = {
        {IFM_SEVERITY_WARNING, "rule-02", D, "half", word, .takes_word = true},
        {IFM_SEVERITY_WARNING, "rule-07", D, "half", typed, .kind = IFM_FINDING_ORDER, .takes_word = true},
        {IFM_SEVERITY_WARNING, "rule-07", D, "half", alone, .kind = 0}};
    for (size_t i = 0; i < COUNT(found); i++) {
        struct sample *s = sample_of(&found[i], 1);
        s->numbers[CHANGE].value.text = i < 2 ? "undecided" : "faster";
        char *text = brief(s);
        assert_int_equal(trust_lines(text), 2);
        assert_has(text, i < 2 ? "\nnext: " : "\nagain: "); /* what decides; what an answer lacks */
        if (i == 0) /* 1 is far from the interval: the table says that the word was taken */
            assert_has(text, "  ¹ not called faster or slower: the machine disturbed 18 of 24 blocks\n");
        assert_true(i != 1 || (strstr(text, "undecided") != NULL && strstr(text, "--slot-steps 12") != NULL));
        free(text);
        text = page(sample_of(&found[i], 1));
        assert_has(text, i == 0 ? "at least 6 undisturbed blocks" : i == 1 ? "3.1 % longer" : "own story");
        free(text);
    }
}

/* What a weak baseline leaves is an answer, and stands beside those. */
static void what_is_left_at_the_ceiling_stands_with_the_answers(void **state)
{
    (void)state;
    static const struct ifm_finding weak = {
        IFM_SEVERITY_WARNING,
        "rule-03",
        D,
        "",
        "the baseline plain reaches only 77.4 % of its read ceiling, below 90 %, and one that reached it would leave "
        "half 1.63x [1.60, 1.66]",
        .kind = IFM_FINDING_WEAK_BASELINE,
        .weak = {"77.4 % of its read ceiling", "plain reaches only 77.4 % of its read ceiling, below 90 %",
                 "half 1.63x [1.60, 1.66]"}};
    char *text = brief(sample_of(&weak, 1));
    assert_has(text, "\n  with plain at its ceiling: half 1.63x [1.60, 1.66]\n");
    assert_has(text, "\nweak baseline: " D ": plain reaches only 77.4 % of its read ceiling");
    assert_int_equal(count_of(text, "1.63x"), 1);
    assert_int_equal(trust_lines(text), 1);
    free(text);
    struct sample *s = sample_of(&weak, 1); /* of several cells the remedy has the least that is left */
    struct ifm_plan plan = *s->publication.plan;
    plan.device = "fake"; /* of which no other run is asked for */
    s->publication.plan = &plan;
    s->numbers[HALF_ENERGY] = (struct ifm_number){D, "half", IFM_M_SPEEDUP_AT_CEILING, RATE(1.63, 1.6, 1.66)};
    sample_fill(s->numbers, COUNT(decided));
    text = brief(s);
    assert_has(text, "(at worst 1.63x: ");
    assert_int_equal(trust_lines(text), 2);
    free(text);
}

/* An interval far wider than its times say is nobody's typing error: what widened it stands below. So it does of one
 * that the order moved by what is worth a warning, and of one beside it. */
static void a_wide_ratio_says_why(void **state)
{
    (void)state;
    static const struct {
        double half;
        int findings;
        enum ifm_severity severity;
        bool half_is_marked, packed_is_marked;
    } cases[] = {{0.5, 1, IFM_SEVERITY_NOTE, true, false},    {0.005, 1, IFM_SEVERITY_NOTE, false, false},
                 {0.5, 0, IFM_SEVERITY_NOTE, false, false},   {0.005, 1, IFM_SEVERITY_WARNING, true, false},
                 {0.005, 2, IFM_SEVERITY_NOTE, false, false}, {0.5, 2, IFM_SEVERITY_NOTE, true, true}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct ifm_finding orders[] = {{cases[i].severity, "rule-07", D, "half", IFM_CARRIED_WORDS " (...)",
                                              .in_intervals = true, .kind = IFM_FINDING_ORDER},
                                             {IFM_SEVERITY_NOTE, "rule-07", D, "packed", IFM_CARRIED_WORDS " (...)",
                                              .in_intervals = true, .kind = IFM_FINDING_ORDER}};
        struct sample *s = sample_of(orders, (size_t)cases[i].findings);
        s->numbers[SPEEDUP].value.low = 2 - cases[i].half;
        s->numbers[SPEEDUP].value.high = 2 + cases[i].half;
        s->numbers[HALF_ENERGY] = (struct ifm_number){D, "packed", IFM_M_SPEEDUP, RATE(3.65, 3.64, 3.66)};
        sample_fill(s->numbers, COUNT(decided));
        char *text = brief(s);
        assert_int_equal(count_of(text, "¹ interval holds what slots right after the same arm say, too"),
                         cases[i].half_is_marked);
        assert_int_equal(count_of(text, "x¹"), cases[i].half_is_marked + cases[i].packed_is_marked);
        assert_int_equal(count_of(text, "3.650x¹"), cases[i].packed_is_marked);
        free(text);
    }
}

/* So does one that is undecided for another reason, which the word of trust has. */
static void an_undecided_ratio_holds_both_orders_too(void **state)
{
    (void)state;
    for (int takes = 0; takes < 2; takes++) {
        const struct ifm_finding order = {
            IFM_SEVERITY_WARNING,     "rule-07", D, "half", IFM_CARRIED_WORDS " (...)", .takes_word = takes != 0,
            .kind = IFM_FINDING_ORDER};
        struct sample *s = open_sample(&order, 1);
        char *text = brief(s);
        assert_int_equal(count_of(text, "¹ interval holds what slots right after the same arm say, too"), !takes);
        free(text);
    }
}

/* Twenty warnings are one line. */
static void the_rest_is_counted(void **state)
{
    (void)state;
    struct ifm_finding found[20];
    static char texts[20][32];
    for (size_t i = 0; i < COUNT(found); i++) {
        snprintf(texts[i], sizeof texts[i], "finding number %c", (char)('a' + i));
        found[i] = (struct ifm_finding){IFM_SEVERITY_WARNING, "rule-07", D, "half", texts[i], .kind = 0};
    }
    char *text = brief(sample_of(found, COUNT(found)));
    assert_has(text, "\nnoisy: faster all the same, by how much is not settled; " D ", half: finding number a\nnext: ");
    assert_has(text, "\nrest: 19 warnings: inferometer report DIR --verbose\n");
    assert_lacks(text, "finding number b");
    free(text);
}

/* "2 warnings" are two wherever they stand: of those that differ in figures one is counted, and of a ceiling's
 * probe none. None is cut. */
static void warnings_are_counted_alike_everywhere(void **state)
{
    (void)state;
    static const char weak[] =
        "the baseline plain reaches only 48.5 % of its read ceiling, below 90 %, and one that reached it would leave a "
        "first arm 0.70x [0.69, 0.72], a second arm 1.06x [1.01, 1.13], a third arm 1.39x [1.32, 1.49]";
    static const struct ifm_finding found[] = {
        {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it changes (after 17, 27, 37 of 61 samples)", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-07", D, "plain", "it changes (after 8 of 13 samples)", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it changes (after 1, 5, ... of 99 samples)", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-07", D, "read.linear", "it changes (after 2 of 5 samples)", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-02", D, "half", "the machine was moved", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-03", D, "", weak, .kind = IFM_FINDING_WEAK_BASELINE,
         .weak = {"48.5 % of its read ceiling", "plain reaches only 48.5 % of its read ceiling, below 90 %",
                  weak + sizeof "the baseline plain reaches only 48.5 % of its read ceiling, below 90 %, and one that "
                                "reached it would leave"}}};
    struct sample *s = sample_of(found, COUNT(found));
    char *text = brief(s);
    for (char *at = text; (at = strstr(at, "\n  ")) != NULL; *at = ' ') /* unbroken */
        memmove(at + 1, at + 3, strlen(at + 3) + 1);
    assert_has(text, "\nrest: 2 warnings: inferometer report DIR --verbose\n");
    free(text);
    for (int md = 0; md < 2; md++) {
        struct ifm_text out = {0};
        assert_int_equal(
            ifm_compose_document(&s->publication, md ? IFM_LEVEL_FOLDED : IFM_LEVEL_ALWAYS, false, true, &out, &error),
            IFM_OK);
        assert_int_equal(count_of(out.data, md ? "\n- **warning** " : "\nwarning: "), 3);
        const char *listed = strstr(out.data, md ? "**warning**" : "\nwarning"); /* the gravest first */
        assert_true(strstr(listed, "reaches only") < strstr(listed, "it changes"));
        assert_has(out.data, "1.49"); /* its end */
        assert_has(out.data, md ? ", plain: it changes (after 8 of 13 samples)\n" : "and 2 alike]");
        ifm_text_free(&out);
    }
}

/* An arm that had nothing to do takes the word from no other, and has no price; alone it leaves nothing to use. */
static void what_had_nothing_to_do_is_left_out(void **state)
{
    (void)state;
    static const struct ifm_finding found[] = {
        {IFM_SEVERITY_WARNING, "rule-11", D, "staged", "no step used staging", .kind = IFM_FINDING_NOTHING_RAN}};
    static const struct ifm_value idle = WORD(IFM_STATE_INACTIVE, "rule-11: no step used staging", "");
    struct sample *s = sample_of(found, COUNT(found));
    add_number(s, "staged", IFM_M_STEP_NS, idle);
    add_number(s, "staged", IFM_M_CHANGE_PERCENT, idle);
    add_number(s, "staged", IFM_M_SPEEDUP, idle);
    add_number(s, "staged", IFM_M_COMPRESSION_RATIO, (struct ifm_value){.number = 0.8});
    add_number(s, "staged", IFM_M_LOSS_RMS_REL, (struct ifm_value){.number = 1.7e-16});
    add_number(s, "half", IFM_M_LOSS_RMS_REL, (struct ifm_value){.number = 0.137});
    assert_int_equal(again(s).word, IFM_TRUST_SOLID);
    assert_int_equal(again(s).warnings, 0);
    char *text = brief(s);
    assert_has(text, "inactive¹");
    assert_lacks(text, "larger");
    assert_lacks(text, "1.7e-14");
    free(text);
    text = page(s);
    *strstr(text, "How to read it.") = '\0'; /* the table of all numbers has it */
    assert_lacks(text, "1.7e-14");
    free(text);
    for (size_t i = 0; i < s->derived.n_numbers; i++)
        if (s->derived.numbers[i].metric == IFM_M_CHANGE_PERCENT)
            s->derived.numbers[i].value = idle;
    assert_int_equal(again(s).word, IFM_TRUST_DO_NOT_USE);
    assert_has(again(s).remedy, "a longer one");
}

/* Warnings that differ in their figures alone are one more, not many. */
static void alike_warnings_are_counted_once(void **state)
{
    (void)state;
    static const struct ifm_finding found[] = {
        {IFM_SEVERITY_WARNING, "rule-07", "", "", "the machine is under load", .kind = IFM_FINDING_LOAD},
        {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it drifts by 3 %", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-07", D, "plain", "it drifts by 9.5 %", .kind = 0}};
    assert_int_equal(trust_of(found, COUNT(found)).warnings, 1);
}

/* Of each rung its gravest finding: the others stand below, among all. */
static void the_ladder_is_short(void **state)
{
    (void)state;
    static const struct ifm_finding found[] = {
        {IFM_SEVERITY_NOTE, "rule-07", D, "half", "it is a little noisy", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it drifts by 3 %", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-07", D, "plain", "it has no steady state", .kind = IFM_FINDING_UNSTEADY}};
    static const char *ladder[] = {"environment: nothing was found", "statistics: it is a little noisy; and so on"};
    struct sample *s = sample_of(found, COUNT(found));
    s->verdict = sample_verdict;
    s->verdict.rca = ladder;
    s->verdict.n_rca = COUNT(ladder);
    char *text = page(s), *contents = strstr(text, "Where to look for the cause");
    assert_non_null(contents);
    char *at = strstr(contents + 1, "Where to look for the cause"); /* the section */
    assert_non_null(at);
    at[300] = '\0';
    assert_has(at, "statistics: " D ", half: it drifts by 3 %; 2 more among the findings");
    assert_lacks(at, "environment");
    assert_lacks(at, "and so on");
    free(text);
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8"); /* as tables are drawn */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_says_its_level_and_no_verdict),
        cmocka_unit_test(report_md_begins_with_the_answer),
        cmocka_unit_test(what_had_nothing_to_do_is_left_out),
        cmocka_unit_test(alike_warnings_are_counted_once),
        cmocka_unit_test(the_ladder_is_short),
        cmocka_unit_test(a_word_that_was_taken_is_said_to_be),
        cmocka_unit_test(a_verdict_that_was_asked_for_stays),
        cmocka_unit_test(footnotes_are_those_of_the_table),
        cmocka_unit_test(a_fact_stands_once),
        cmocka_unit_test(no_remedy_is_cut_before_its_flag),
        cmocka_unit_test(a_mark_has_its_text),
        cmocka_unit_test(the_badge_and_the_findings_share_no_sentence),
        cmocka_unit_test(p50_is_a_remedy_where_there_is_one),
        cmocka_unit_test(a_wide_ratio_says_why),
        cmocka_unit_test(an_undecided_ratio_holds_both_orders_too),
        cmocka_unit_test(the_rest_is_counted),
        cmocka_unit_test(warnings_are_counted_alike_everywhere),
        cmocka_unit_test(the_word_of_trust_takes_two_lines),
        cmocka_unit_test(what_is_left_at_the_ceiling_stands_with_the_answers),
        cmocka_unit_test(a_terminal_names_the_folder_and_a_file_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
