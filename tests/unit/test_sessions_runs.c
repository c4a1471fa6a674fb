/* What sessions are beside their numbers: which program ran in each, how long they cover, and what is said of how many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "publish/sessions.h"
#include "unit/events.h"
#include <math.h>
#include <string.h>

enum { RUNS = 3, NUMBERS = 4 }; /* the last is the original */

static const char *const dirs[RUNS] = {"again-1", "again-2", "main"};

/* Runs of a compressed arm at twice the speed of its baseline. */
struct bench {
    struct ifm_arena *arena;
    struct ifm_arm arms[2];
    struct ifm_cell cell;
    struct ifm_plan plan;
    struct ifm_number numbers[RUNS][NUMBERS];
    struct ifm_finding found[RUNS];
    struct ifm_derived derived[RUNS];
    struct ifm_run_view views[RUNS];
    struct ifm_sessions sessions;
};

static void program_of(json_t *journal, const char *what, const char *hash)
{
    json_array_append_new(journal,
                          json_pack("{s:s, s:{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:s*}}", "stage", "program",
                                    "meta", "cell", "command", "arm", "gzip", "when", "before", "what", what, "inode",
                                    1, "size", 1, "mtime_ns", 1, "ctime_ns", 1, "sha256", hash));
}

/* A journal that begins and ends at these seconds. */
static const struct ifm_events *lasted(double from, double to, struct ifm_arena *arena)
{
    json_t *lines = json_array();
    program_of(lines, "program", "aa");
    program_of(lines, "script", "aa");
    json_object_set_new(json_array_get(lines, 0), "t_ns", json_integer((json_int_t)(1e9 * from)));
    json_object_set_new(json_array_get(lines, 1), "t_ns", json_integer((json_int_t)(1e9 * to)));
    const struct ifm_events *events = events_of(lines, arena);
    json_decref(lines);
    return events;
}

static struct ifm_value number(double x, const char *text)
{
    return (struct ifm_value){.number = x, .unit = "", .n_of = "", .reason = "", .remedy = "", .text = text};
}

static void start(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->arena = ifm_arena_create();
    b->arms[0] = (struct ifm_arm){.name = "f16", .role = IFM_ROLE_BASELINE};
    b->arms[1] = (struct ifm_arm){.name = "int4", .role = IFM_ROLE_VARIANT};
    b->cell = (struct ifm_cell){.name = "decode", .arms = b->arms, .n_arms = 2, .measure = {.margin = 0.003}};
    b->plan = (struct ifm_plan){.run_id = "0123456789ab", .device = "cpu", .cells = &b->cell, .n_cells = 1};
    for (size_t i = 0; i < RUNS; i++) {
        b->numbers[i][0] = (struct ifm_number){"decode", "int4", IFM_M_SPEEDUP, number(2, "")};
        b->numbers[i][1] = (struct ifm_number){"decode", "int4", IFM_M_CHANGE_PERCENT, number(-50, "faster")};
        b->numbers[i][2] = (struct ifm_number){"decode", "", IFM_M_CEILING_READ, number(5e10, "")};
        b->numbers[i][2].value.unit = "B/s";
        b->numbers[i][3] = (struct ifm_number){"decode", "int4", IFM_M_SPEEDUP_AT_CEILING, number(1.8, "read")};
        b->found[i] = (struct ifm_finding){
            .severity = IFM_SEVERITY_WARNING, .rule = "rule-03", .cell = "decode", .arm = "", .text = "weak"};
        b->derived[i] = (struct ifm_derived){.numbers = b->numbers[i], .n_numbers = NUMBERS, .findings = &b->found[i]};
        b->views[i] =
            (struct ifm_run_view){&b->plan, &b->derived[i], lasted(100.0 * (double)i, 100.0 * (double)i + 7, b->arena)};
    }
}

/* The last line behind "quote int4 2.00x (...)"; `word` is what each run's trust says. */
static const char *said(struct bench *b, bool original, enum ifm_trust_word word)
{
    const enum ifm_trust_word words[RUNS] = {word, word, word};
    const size_t n = RUNS - 1;
    ifm_sessions(b->views, n, original ? &b->views[n] : NULL, 0.05, b->arena, &b->sessions);
    const char *caveat = ifm_sessions_caveat(&b->sessions, words, dirs, b->sessions.n_runs, b->arena);
    const char *text = ifm_sessions_answer(&b->sessions, n, 0.05, caveat, b->arena), *end = strstr(text, " runs)");
    return end == NULL ? text : end + strlen(" runs)");
}

/* What the table has in the column "quote", and whether the JSON form has the span. */
static void expect_quote(struct bench *b, const char *quote, double span_s)
{
    struct ifm_text table = {0};
    struct ifm_listing listing = ifm_sessions_listing(&b->sessions, b->views, dirs, RUNS - 1, NULL, 0.05, b->arena);
    const json_t *span = json_object_get(listing.members, "span_s");
    assert_true(isnan(span_s) ? json_is_null(span) : fabs(json_number_value(span) - span_s) < 1e-6);
    ifm_listing_compose(&listing, IFM_FORMAT_TABLE, &table);
    ifm_listing_end(&listing);
    const char *row = strstr(table.data, "\nint4  vs baseline");
    assert_non_null(row);
    row += strlen("\nint4  vs baseline");
    row += strspn(row, " ");
    assert_int_equal(strncmp(row, quote, strlen(quote)), 0);
    free(table.data);
}

/* By its content: a copy is the same program, and a record without a hash says nothing of it. */
static void a_program_that_was_replaced_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *what, *before, *now, *says;
    } cases[] = {{"program", "aa", "bb", "program of gzip"},
                 {"script", "aa", "bb", "script of gzip"},
                 {"program", "aa", "aa", NULL},
                 {"program", NULL, "bb", NULL},
                 {"program", "aa", NULL, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ifm_arena *arena = ifm_arena_create();
        json_t *before = json_array(), *now = json_array();
        program_of(before, "wrapped program", "cc"); /* of another word of the line */
        program_of(before, cases[i].what, cases[i].before);
        program_of(now, cases[i].what, cases[i].now);
        program_of(now, "wrapped program", "cc");
        const char *named = ifm_programs_unlike(events_of(before, arena), events_of(now, arena), arena);
        assert_int_equal(named != NULL, cases[i].says != NULL);
        if (cases[i].says != NULL)
            assert_string_equal(named, cases[i].says);
        json_decref(before);
        json_decref(now);
        ifm_arena_destroy(arena);
    }
}

/* That it is said of one run alone, and of which, tells how the others are. */
static void what_no_noise_explains_is_said_of_so_many_runs(void **state)
{
    (void)state;
    const struct ifm_sessions none = {.n = 0};
    const enum ifm_trust_word solid = IFM_TRUST_SOLID, noisy = IFM_TRUST_NOISY, biased = IFM_TRUST_BIASED,
                              weak = IFM_TRUST_WEAK;
    const struct {
        enum ifm_trust_word words[RUNS];
        const char *says;
    } cases[] = {
        {{solid, noisy, solid}, ""},
        {{noisy, biased, solid}, "; with care, as 1 of 3 runs says: biased (inferometer summary again-2)"},
        {{biased, solid, biased}, "; with care, as 2 of 3 runs say: biased (inferometer summary again-1)"},
        {{biased, weak, biased}, "; with care, as 1 of 3 runs says: weak baseline (inferometer summary again-2)"}};
    struct ifm_arena *arena = ifm_arena_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(ifm_sessions_caveat(&none, cases[i].words, dirs, RUNS, arena), cases[i].says);
    ifm_arena_destroy(arena);
}

/* Six runs within two minutes are of one state of the machine, however well they agree. */
static void the_last_line_says_how_long_the_runs_cover(void **state)
{
    (void)state;
    static const struct {
        double original, end; /* of the original's start, and the last rerun's end, in seconds */
        bool is_one, has_numbers;
        double span_s;
        const char *says;
    } cases[] = {
        {60, 107, true, true, 107, "; all runs within 2 min: another hour may differ by more"},
        {60, 80, true, true, 80, "; all runs within 80 s: another hour may differ by more"},
        {3000, 107, true, true, 3007, "; all runs within 51 min: another hour may differ by more"},
        {9000, 107, true, true, 9007, "; all runs within 3 h"},
        {864000, 107, true, true, 864007, "; all runs within 11 days"},
        {9000, 107, false, true, 107, "; all runs within 2 min: another hour may differ by more"},
        {9000, 107, true, false, 107, "; all runs within 2 min: another hour may differ by more"},
        {60, 10, true, true, NAN, ""}, /* a rerun that ends before it began: the clock was set */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bench b;
        start(&b);
        b.views[0].events = lasted(0, 7, b.arena);
        b.views[1].events = lasted(50, cases[c].end, b.arena);
        b.views[RUNS - 1].events = lasted(cases[c].original, cases[c].original + 7, b.arena);
        b.derived[RUNS - 1].n_numbers = cases[c].has_numbers ? NUMBERS : 0;
        assert_string_equal(said(&b, cases[c].is_one, IFM_TRUST_SOLID), cases[c].says);
        expect_quote(&b, "yes", cases[c].span_s);
        ifm_arena_destroy(b.arena);
    }
    struct bench b;
    start(&b);
    b.numbers[0][0].value.number = 3; /* of what is not quoted too */
    assert_non_null(strstr(said(&b, false, IFM_TRUST_SOLID), "; all runs within 2 min: another hour may differ"));
    assert_int_equal(b.sessions.quotable, IFM_REPEATABLE_UNKNOWN);
    b.plan.device = "fake"; /* another hour says the same */
    assert_null(strstr(said(&b, false, IFM_TRUST_SOLID), "within 2 min"));
    b.views[0].events = NULL;
    b.plan.device = "cpu";
    assert_null(strstr(said(&b, false, IFM_TRUST_SOLID), "all runs"));
    assert_true(isnan(b.sessions.span_s));
    ifm_arena_destroy(b.arena);
}

/* A compressed arm gains what memory is slow, so its ratio is of the memory that these runs had. */
static void a_speedup_that_memory_bounds_is_quoted_with_care(void **state)
{
    (void)state;
    static const char memory[] =
        "; with care, as the memory changed its speed (45.0 to 50.0 GB/s), and the ratios are of that speed; all";
    static const char unclear[] =
        "; with care, as 1 of 3 runs cannot tell how weak the baseline is (inferometer report "
        "main --verbose); all";
    static const char weak[] = "; with care, as 3 of 3 runs say: weak baseline (inferometer summary again-1); all";
    static const struct {
        double read;          /* ceiling of one rerun */
        const char *ceiling;  /* that bounds; NULL: the arm is not compressed */
        bool known, is_found; /* the original's bound; its finding of rule 3 */
        enum ifm_finding_kind kind;
        enum ifm_trust_word word;
        const char *quote, *says;
    } cases[] = {
        {5e10, "read", true, false, IFM_FINDING_OTHER, IFM_TRUST_SOLID, "yes", "; all"},
        {4.5e10, "read", true, false, IFM_FINDING_OTHER, IFM_TRUST_SOLID, "with care", memory},
        {4.5e10, "read", true, true, IFM_FINDING_WEAK_BASELINE, IFM_TRUST_WEAK, "with care", memory},
        {4.5e10, "read", true, false, IFM_FINDING_OTHER, IFM_TRUST_DO_NOT_USE, "with care",
         "; with care, as 3 of 3 runs say: do not use (inferometer summary again-1); all"},
        {4.5e10, "flops", true, false, IFM_FINDING_OTHER, IFM_TRUST_SOLID, "yes", "; all"},
        {4.5e10, NULL, true, false, IFM_FINDING_OTHER, IFM_TRUST_SOLID, "yes", "; all"},
        {5e10, "read", false, true, IFM_FINDING_OTHER, IFM_TRUST_NOISY, "with care", unclear},
        {5e10, "read", true, true, IFM_FINDING_OTHER, IFM_TRUST_NOISY, "with care", unclear},
        {5e10, "read", false, true, IFM_FINDING_WEAK_BASELINE, IFM_TRUST_WEAK, "with care", unclear},
        {5e10, "read", true, true, IFM_FINDING_WEAK_BASELINE, IFM_TRUST_WEAK, "yes", weak}, /* and how weak is known */
        {5e10, NULL, true, true, IFM_FINDING_OTHER, IFM_TRUST_NOISY, "yes", "; all"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bench b;
        start(&b);
        b.numbers[0][2].value.number = cases[c].read;
        for (size_t i = 0; i < RUNS; i++) {
            b.derived[i].n_numbers = cases[c].ceiling == NULL ? NUMBERS - 1 : NUMBERS;
            b.numbers[i][3].value.text = cases[c].ceiling;
        }
        b.numbers[RUNS - 1][3].value.state = cases[c].known ? IFM_STATE_OK : IFM_STATE_ABSENT;
        b.found[RUNS - 1].kind = cases[c].kind;
        b.derived[RUNS - 1].n_findings = cases[c].is_found;
        const char *text = said(&b, true, cases[c].word);
        assert_int_equal(strncmp(text, cases[c].says, strlen(cases[c].says)), 0);
        expect_quote(&b, cases[c].quote, 207);
        assert_int_equal(b.sessions.quotable, IFM_REPEATABLE_YES);
        ifm_arena_destroy(b.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_was_replaced_is_named),
        cmocka_unit_test(what_no_noise_explains_is_said_of_so_many_runs),
        cmocka_unit_test(the_last_line_says_how_long_the_runs_cover),
        cmocka_unit_test(a_speedup_that_memory_bounds_is_quoted_with_care),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
