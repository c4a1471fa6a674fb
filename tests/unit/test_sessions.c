/* Several sessions of one configuration: how far they lie apart, and what that answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "publish/sessions.h"
#include "unit/events.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS = 3, ROWS = 3, NUMBERS = 4, LIMITS = 2, ORIGINAL = SESSIONS };

struct bench {
    struct ifm_arena *arena;
    struct ifm_arm arms[3];
    struct ifm_cell cell;
    struct ifm_plan plan;
    struct ifm_number numbers[SESSIONS + 1][NUMBERS + LIMITS];
    struct ifm_derived derived[SESSIONS + 1];
    json_t *journals[SESSIONS + 1];
    struct ifm_run_view views[SESSIONS + 1]; /* the original last */
    const struct ifm_run_view *original;     /* NULL: none is held against them */
    struct ifm_sessions sessions;
};

static const char *const dirs[] = {"again-1", "again-2", "again-3"};

static struct ifm_value number(double x, double half)
{
    return (struct ifm_value){.number = x,
                              .has_interval = half > 0,
                              .low = x - half,
                              .high = x + half,
                              .level = 0.95,
                              .unit = "",
                              .n_of = "",
                              .reason = "",
                              .remedy = "",
                              .text = ""};
}

/* A baseline of 100 ns, an arm of 50 ns with its speed-up; a ceiling. */
static void start(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->arena = ifm_arena_create();
    b->arms[0] = (struct ifm_arm){.name = "base", .role = IFM_ROLE_BASELINE};
    b->arms[1] = (struct ifm_arm){.name = "fast", .role = IFM_ROLE_VARIANT};
    b->arms[2] = (struct ifm_arm){.name = "read", .role = IFM_ROLE_CEILING};
    b->cell = (struct ifm_cell){.name = "null", .arms = b->arms, .n_arms = 3, .measure = {.margin = 0.003}};
    b->plan = (struct ifm_plan){.run_id = "0123456789ab", .device = "cpu", .cells = &b->cell, .n_cells = 1};
    for (size_t i = 0; i < SESSIONS + 1; i++) {
        b->numbers[i][0] = (struct ifm_number){"null", "base", IFM_M_STEP_NS, number(100, 1)};
        b->numbers[i][1] = (struct ifm_number){"null", "fast", IFM_M_STEP_NS, number(50, 0)};
        b->numbers[i][2] = (struct ifm_number){"null", "fast", IFM_M_SPEEDUP, number(2, 0.1)};
        b->numbers[i][3] = (struct ifm_number){"null", "fast", IFM_M_CHANGE_PERCENT, number(-50, 1)};
        b->numbers[i][3].value.text = "faster";
        b->numbers[i][4] = (struct ifm_number){"null", "", IFM_M_CEILING_READ, number(i == 1 ? 5e10 : 1e11, 0)};
        b->numbers[i][5] = (struct ifm_number){"null", "fast", IFM_M_SPEEDUP_AT_CEILING, number(1.2, 0.01)};
        b->derived[i] = (struct ifm_derived){.numbers = b->numbers[i], .n_numbers = NUMBERS};
        b->journals[i] = json_array();
        b->views[i] = (struct ifm_run_view){&b->plan, &b->derived[i], NULL};
    }
}

static const struct ifm_sessions_row *look(struct bench *b, double epsilon, const char *arm, enum ifm_metric_id metric)
{
    for (size_t i = 0; i < SESSIONS + 1; i++)
        b->views[i].events = events_of(b->journals[i], b->arena);
    ifm_sessions(b->views, SESSIONS, b->original, epsilon, b->arena, &b->sessions);
    assert_int_equal(b->sessions.n, ROWS); /* nothing of the ceiling */
    for (size_t i = 0; i < b->sessions.n; i++)
        if (strcmp(b->sessions.rows[i].arm, arm) == 0 && b->sessions.rows[i].metric == metric)
            return &b->sessions.rows[i];
    fail_msg("no row of %s", arm);
    return NULL;
}

static void stop(struct bench *b)
{
    for (size_t i = 0; i < SESSIONS + 1; i++)
        json_decref(b->journals[i]);
    ifm_arena_destroy(b->arena);
}

static void the_furthest_session_decides(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    b.numbers[1][0].value = number(98, 2);
    b.numbers[2][0].value = number(104, 1);
    const struct ifm_sessions_row *row = look(&b, 0.05, "base", IFM_M_STEP_NS);
    const double mean = cbrt(100.0 * 98 * 104);
    assert_true(fabs(row->mean / mean - 1) < 1e-12 && row->least == 98 && row->most == 104);
    assert_true(fabs(row->spread - (104 / mean - 1)) < 1e-12); /* up 3.4 %, down 2.6 % */
    assert_true(fabs(row->within - 2.0 / 98) < 1e-12);
    assert_int_equal(row->answer, IFM_REPEATABLE_YES);
    assert_int_equal(b.sessions.answer, IFM_REPEATABLE_YES);
    row = look(&b, 0.03, "base", IFM_M_STEP_NS);
    assert_int_equal(row->answer, IFM_REPEATABLE_NO);
    assert_int_equal(b.sessions.answer, IFM_REPEATABLE_NO); /* one is enough */
    row = look(&b, 0.03, "fast", IFM_M_STEP_NS);
    assert_true(row->answer == IFM_REPEATABLE_YES && row->spread < 1e-12 && isnan(row->within));
    stop(&b);
}

static char *table_of(struct bench *b)
{
    struct ifm_text table = {0};
    struct ifm_listing listing =
        ifm_sessions_listing(&b->sessions, b->views, dirs, SESSIONS, b->original, 0.05, b->arena);
    ifm_listing_compose(&listing, IFM_FORMAT_TABLE, &table);
    ifm_listing_end(&listing);
    return table.data;
}

/* The names of the run's own table, the answer first, in lines that a terminal has; ids are for machines. */
static void the_table_answers_in_the_names_of_the_run(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    b.original = &b.views[ORIGINAL];
    b.arms[1].name = b.numbers[0][1].arm = "dozen-letter";
    for (size_t i = 0; i < SESSIONS + 1; i++) {
        for (size_t m = 1; m < NUMBERS + LIMITS; m++)
            b.numbers[i][m].arm = b.numbers[i][m].metric == IFM_M_CEILING_READ ? "" : "dozen-letter";
        b.numbers[i][0].value.number = 123456 * (1 + 0.01234 * (double)i);
        b.derived[i].n_numbers = NUMBERS + LIMITS;
        b.numbers[i][5].value.state = IFM_STATE_ABSENT;
        b.numbers[i][5].value.reason = "the read ceiling moved";
        b.views[i].events = events_of(b.journals[i], b.arena);
    }
    ifm_sessions(b.views, SESSIONS, b.original, 0.05, b.arena, &b.sessions);
    char *table = table_of(&b);
    const char *first = strchr(table, '\n');
    assert_non_null(first);
    assert_int_equal(strncmp(table, "arm           number        quote", 33), 0);
    assert_int_equal(strncmp(first, "\ndozen-letter  vs baseline   with care         2.00x to 2.00x  ", 61), 0);
    assert_non_null(strstr(table, "/step     yes               123 to 128 us "));
    assert_non_null(strstr(table, " +-2.4 % "));
    assert_non_null(strstr(table, "\n              fastest read  no: beyond +-5 %  "));
    assert_null(strstr(table, "_")); /* no id */
    assert_null(strstr(table, "outputs"));
    assert_null(strstr(table, "left at its ceiling")); /* no run has it */
    for (const char *line = table; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_in_range(strcspn(line, "\n"), 0, 102); /* without UTF-8 two more */
    free(table);
    stop(&b);
}

/* A session without the number is named with its reason, and the range is that of the others. */
static void what_one_session_lacks_is_open(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    b.numbers[1][2].value.state = IFM_STATE_REFUSED;
    b.numbers[1][2].value.reason = "rule-07: it drifts";
    const struct ifm_sessions_row *row = look(&b, 0.05, "fast", IFM_M_SPEEDUP);
    assert_int_equal(row->answer, IFM_REPEATABLE_UNKNOWN);
    assert_string_equal(row->reason, "rule-07: it drifts");
    assert_true(row->with == SESSIONS - 1 && row->lacks == 1 && row->least == 2 && row->most == 2);
    assert_int_equal(b.sessions.answer, IFM_REPEATABLE_UNKNOWN);
    assert_string_equal(ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena),
                        "quote no speed-up: fast (2.00x to 2.00x over 2 runs, 2 of 3 reruns have it)");
    b.numbers[2][2].value.number = 3;
    row = look(&b, 0.05, "fast", IFM_M_SPEEDUP);
    assert_int_equal(row->answer, IFM_REPEATABLE_NO); /* two are enough for that */
    assert_string_equal(ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena),
                        "quote no speed-up: fast (2.00x to 3.00x over 2 runs, faster each time, but "
                        "further than 5 % from the mean of the reruns)");
    char *table = table_of(&b);
    assert_non_null(strstr(table, "\nfast  vs baseline  no: beyond +-5 %  2.00x to 3.00x  "));
    assert_non_null(strstr(table, "[1] again-2 has not: rule-07: it drifts\n"));
    free(table);
    b.numbers[0][2].value = b.numbers[1][2].value; /* one is no range */
    row = look(&b, 0.05, "fast", IFM_M_SPEEDUP);
    assert_true(row->answer == IFM_REPEATABLE_UNKNOWN && isnan(row->mean) && row->lacks == 0);
    table = table_of(&b);
    const char *row_of_fast = strstr(table, "\nfast  ");
    assert_non_null(row_of_fast);
    assert_null(strstr(row_of_fast + 1, "\nfast")); /* that of its time: none without a number */
    assert_non_null(strstr(table, "\nvs baseline: 1 of 3 reruns have it; again-1 has not: rule-07: it drifts\n"));
    free(table);
    b.numbers[0][2].value = b.numbers[2][2].value = number(2, 0.1);
    b.numbers[2][0].value.number = 150;
    (void)look(&b, 0.05, "fast", IFM_M_SPEEDUP);
    assert_int_equal(b.sessions.answer, IFM_REPEATABLE_NO);
    stop(&b);
}

static void outputs_that_differ_are_no_repetition(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const int other = k == 1;
        struct bench b;
        start(&b);
        b.arms[0].implementation = k == 2 ? "cudnn" : "scalar"; /* a library may sum in another order */
        for (size_t i = 0; i < SESSIONS; i++)
            json_array_append_new(b.journals[i],
                                  json_pack("{s:s, s:{s:s, s:s, s:s, s:b, s:f, s:f, s:i, s:b, s:s}}", "stage", "check",
                                            "meta", "cell", "null", "arm", "base", "when", "after", "done", 1,
                                            "error_rms_rel", 0.0, "error_max_rel", 0.0, "values", 1, "finite", 1,
                                            "output_xxh3", k > 0 && i == 2 ? "00000000000000bb" : "00000000000000aa"));
        assert_string_equal(look(&b, 0.05, "base", IFM_M_STEP_NS)->outputs, k == 2 ? "" : other ? "differ" : "equal");
        assert_int_equal(b.sessions.answer, other ? IFM_REPEATABLE_NO : IFM_REPEATABLE_YES);
        assert_string_equal(look(&b, 0.05, "fast", IFM_M_STEP_NS)->outputs, "");
        assert_string_equal(ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena),
                            other ? "quote nothing: the outputs of base differ between runs of one seed"
                                  : "quote fast 2.00x (2.00x to 2.00x over 3 runs)");
        assert_int_equal(b.sessions.quotable, other ? IFM_REPEATABLE_NO : IFM_REPEATABLE_YES);
        struct ifm_listing listing = ifm_sessions_listing(&b.sessions, b.views, dirs, SESSIONS, NULL, 0.05, b.arena);
        assert_string_equal(json_string_value(json_object_get(listing.members, "repeatable")),
                            other ? "not repeatable" : "repeatable");
        ifm_listing_end(&listing);
        stop(&b);
    }
}

/* Sessions that agree with each other and not with the run that they repeat show that a run is not to be relied on. */
static void the_original_is_one_of_the_runs(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    b.original = &b.views[ORIGINAL];
    for (size_t i = 0; i < SESSIONS; i++)
        b.numbers[i][2].value = number(4.2 + 0.03 * (double)i, 0.05);
    b.numbers[ORIGINAL][2].value = number(4.22, 0.09);
    const struct ifm_sessions_row *row = look(&b, 0.05, "fast", IFM_M_SPEEDUP);
    assert_true(row->answer == IFM_REPEATABLE_YES && row->original == 4.22 && fabs(row->within - 0.09 / 4.22) < 1e-12);
    assert_string_equal(ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena),
                        "quote fast 4.23x (4.20x to 4.26x over 4 runs)");
    b.numbers[ORIGINAL][2].value = number(3.59, 0.07);
    row = look(&b, 0.05, "fast", IFM_M_SPEEDUP);
    assert_int_equal(row->answer, IFM_REPEATABLE_NO);
    assert_true(row->least == 4.2 && fabs(row->spread - (1 - 3.59 / row->mean)) < 1e-12);
    assert_int_equal(b.sessions.answer, IFM_REPEATABLE_NO);
    assert_string_equal(ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena),
                        "quote no speed-up: fast (3.59x to 4.26x over 4 runs, faster each time, but "
                        "further than 5 % from the mean of the reruns)");
    assert_int_equal(b.sessions.quotable, IFM_REPEATABLE_UNKNOWN); /* all say faster: only the size is open */
    struct ifm_listing listing = ifm_sessions_listing(&b.sessions, b.views, dirs, SESSIONS, b.original, 0.05, b.arena);
    const json_t *first = json_array_get(listing.rows, 0);
    assert_string_equal(json_string_value(json_object_get(first, "metric")), "speedup"); /* what matters first */
    assert_true(json_number_value(json_object_get(first, "original")) == 3.59);
    assert_string_equal(json_string_value(json_object_get(listing.members, "speedups")), "not repeatable");
    ifm_listing_end(&listing);
    b.numbers[ORIGINAL][2].value.state = IFM_STATE_REFUSED; /* it broke off: nothing of it speaks */
    row = look(&b, 0.05, "fast", IFM_M_SPEEDUP);
    assert_true(row->answer == IFM_REPEATABLE_YES && isnan(row->original));
    stop(&b);
}

/* A machine that has become slower moves all times, and no ratio. */
static void times_are_told_from_ratios(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    for (size_t m = 0; m < 2; m++)
        b.numbers[2][m].value.number *= m == 0 ? 1.06 : 1.2;
    (void)look(&b, 0.05, "fast", IFM_M_SPEEDUP);
    assert_int_equal(b.sessions.answer, IFM_REPEATABLE_NO);
    assert_int_equal(b.sessions.quotable, IFM_REPEATABLE_YES);
    assert_string_equal(ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena),
                        "quote fast 2.00x (2.00x to 2.00x over 3 runs); not the time of fast");
    b.numbers[2][0].value.number = b.numbers[2][2].value.number *= 1.1; /* "not a, b" is "not a, but b" to some */
    (void)look(&b, 0.05, "fast", IFM_M_SPEEDUP);
    assert_non_null(
        strstr(ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena), "; nor the times of base, fast"));
    stop(&b);
}

static void decided(struct bench *b, const char *one, const char *two, const char *three)
{
    const char *const words[] = {one, two, three};
    for (size_t i = 0; i < SESSIONS; i++)
        b->numbers[i][3].value.text = words[i];
}

/* A ratio that repeats is quoted where two reruns decide it, none otherwise, and no run lies beyond 1. */
static void an_undecided_ratio_is_not_quoted(void **state)
{
    (void)state;
    static const struct {
        const char *words[SESSIONS];
        double ratios[SESSIONS];
        enum ifm_repeatable quotable;
        const char *says;
    } cases[] = {
        {{"faster", "undecided", "faster"},
         {2, 2.02, 2.04},
         IFM_REPEATABLE_YES,
         "quote fast 2.02x (2.00x to 2.04x over 3 runs, 1 undecided)"},
        {{"faster", "undecided", "undecided"},
         {2, 2.02, 2.04},
         IFM_REPEATABLE_UNKNOWN,
         "quote no speed-up: fast (2.00x to 2.04x over 3 runs, undecided in 2 of 3 reruns)"},
        {{"undecided", "undecided", "undecided"},
         {0.995, 1, 1.006},
         IFM_REPEATABLE_UNKNOWN,
         "quote no speed-up: fast (0.995x to 1.006x over 3 runs, undecided in 3 of 3 reruns)"},
        {{"faster", "faster", "undecided"},
         {1.01, 1.01, 0.99},
         IFM_REPEATABLE_UNKNOWN,
         "quote no speed-up: fast (0.990x to 1.010x over 3 runs, not the same way in all)"},
        {{"faster", "equivalent", "faster"},
         {1.01, 1.001, 1.01},
         IFM_REPEATABLE_UNKNOWN,
         "quote no speed-up: fast (1.001x to 1.010x over 3 runs, not the same way in all)"},
        {{"equivalent", "equivalent", "equivalent"},
         {0.999, 1, 1.001},
         IFM_REPEATABLE_YES,
         "quote fast 1.000x (equivalent, 0.999x to 1.001x over 3 runs)"},
        {{"equivalent", "equivalent", "undecided"},
         {0.999, 1, 1.02},
         IFM_REPEATABLE_UNKNOWN,
         "quote no speed-up: fast (0.999x to 1.020x over 3 runs, not the same way in all)"},
        {{"faster", "slower", "faster"},
         {1.01, 0.99, 1.01},
         IFM_REPEATABLE_NO,
         "quote no speed-up: fast (0.990x to 1.010x over 3 runs, faster in one and slower in another)"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bench b;
        start(&b);
        decided(&b, cases[c].words[0], cases[c].words[1], cases[c].words[2]);
        for (size_t i = 0; i < SESSIONS; i++)
            b.numbers[i][2].value.number = cases[c].ratios[i];
        (void)look(&b, 0.05, "fast", IFM_M_SPEEDUP);
        assert_int_equal(b.sessions.answer, IFM_REPEATABLE_YES);
        assert_int_equal(b.sessions.quotable, cases[c].quotable);
        assert_string_equal(ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena), cases[c].says);
        stop(&b);
    }
}

/* What the original decides is held against its reruns, and what it leaves open is counted among the runs. */
static void the_original_has_its_say(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        double ratio;
        enum ifm_repeatable quotable;
        const char *says;
    } cases[] = {
        {"slower", 0.99, IFM_REPEATABLE_UNKNOWN,
         "quote no speed-up: fast (0.990x to 1.002x over 4 runs, not the same "
         "way in all)"},
        {"slower", 0.998, IFM_REPEATABLE_UNKNOWN,
         "quote no speed-up: fast (0.998x to 1.002x over 4 runs, not the same "
         "way in all)"},
        {"undecided", 0.998, IFM_REPEATABLE_YES,
         "quote fast 1.001x (equivalent, 0.998x to 1.002x over 4 runs, 1 "
         "undecided)"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bench b;
        start(&b);
        b.original = &b.views[ORIGINAL];
        decided(&b, "equivalent", "equivalent", "equivalent");
        for (size_t i = 0; i < SESSIONS; i++)
            b.numbers[i][2].value.number = 1 + 0.001 * (double)i;
        b.numbers[ORIGINAL][2].value.number = cases[c].ratio;
        b.numbers[ORIGINAL][3].value.text = cases[c].word;
        (void)look(&b, 0.05, "fast", IFM_M_SPEEDUP);
        assert_int_equal(b.sessions.quotable, cases[c].quotable);
        assert_string_equal(ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena), cases[c].says);
        stop(&b);
    }
}

/* Each arm that is quoted has its own drift beside it, the original's too; one that is not has none. */
static void a_drift_stands_beside_its_own_number(void **state)
{
    (void)state;
    for (int ratio = 0; ratio < 2; ratio++) {
        struct ifm_finding found[] = {
            {IFM_SEVERITY_WARNING, "rule-07", "null", "base", "drifts", .kind = IFM_FINDING_TIME_DRIFTS},
            {IFM_SEVERITY_WARNING, "rule-07", "null", "fast", "drifts", .kind = IFM_FINDING_RATIO_DRIFTS}};
        struct bench b;
        start(&b);
        b.original = &b.views[ORIGINAL];
        for (size_t i = 0; i < SESSIONS + 1; i++) {
            b.derived[i].n_numbers = ratio ? NUMBERS : 2;
            b.derived[i].findings = found;
            b.derived[i].n_findings = i == ORIGINAL || i == 0 ? 2 : 0;
            b.views[i].events = events_of(b.journals[i], b.arena);
        }
        ifm_sessions(b.views, SESSIONS, b.original, 0.05, b.arena, &b.sessions);
        assert_string_equal(
            ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena),
            ratio ? "quote fast 2.00x with care (2.00x to 2.00x over 4 runs; the speed-up drifts "
                    "inside 2 of 4 runs, so say how long a run was)"
                  : "quote base 100 ns with care (100 to 100 ns over 4 runs; the time drifts inside "
                    "2 of 4 runs, so say how long a run was), fast 50.0 ns (50.0 to 50.0 ns over 4 runs)");
        char *table = table_of(&b);
        assert_non_null(strstr(table, ratio ? "\nfast  vs baseline  with care  " : "  with care  "));
        assert_non_null(strstr(table, ratio ? "[1] the speed-up drifts inside 2 of 4" : "[1] the time drifts inside"));
        free(table);
        b.numbers[2][ratio ? 2 : 0].value.number *= 1.2;
        ifm_sessions(b.views, SESSIONS, b.original, 0.05, b.arena,
                     &b.sessions); /* nothing to quote holds for nothing */
        assert_non_null(strstr(table = table_of(&b), "drifts inside 2 of 4 runs\n"));
        free(table);
        stop(&b);
    }
}

/* Two reruns that decide are no majority beside two that do not. */
static void more_reruns_decide_than_do_not(void **state)
{
    (void)state;
    static const struct {
        size_t decided;
        const char *says;
    } cases[] = {{2, "quote no speed-up: fast (2.00x to 2.00x over 4 runs, undecided in 2 of 4 reruns)"},
                 {3, "quote fast 2.00x (2.00x to 2.00x over 4 runs, 1 undecided)"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bench b;
        start(&b);
        for (size_t i = 0; i < SESSIONS + 1; i++) { /* the one that is elsewhere the original is a rerun here */
            b.numbers[i][3].value.text = i < cases[c].decided ? "faster" : "undecided";
            b.views[i].events = events_of(b.journals[i], b.arena);
        }
        ifm_sessions(b.views, SESSIONS + 1, NULL, 0.05, b.arena, &b.sessions);
        assert_int_equal(b.sessions.quotable, cases[c].decided > 2 ? IFM_REPEATABLE_YES : IFM_REPEATABLE_UNKNOWN);
        assert_string_equal(ifm_sessions_answer(&b.sessions, SESSIONS + 1, 0.05, "", b.arena), cases[c].says);
        stop(&b);
    }
}

/* Of several cells a name says which; of many rows three are named. */
static void cells_are_named(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    struct ifm_sessions_row rows[5];
    for (size_t i = 0; i < 5; i++)
        rows[i] = (struct ifm_sessions_row){.cell = i < 4 ? "small" : "large",
                                            .arm = "fast",
                                            .metric = IFM_M_SPEEDUP,
                                            .answer = IFM_REPEATABLE_YES,
                                            .quotable = i < 4 ? IFM_REPEATABLE_YES : IFM_REPEATABLE_UNKNOWN,
                                            .original = NAN,
                                            .mean = 2,
                                            .least = 1.9,
                                            .most = 2.1,
                                            .with = 3,
                                            .undecided = i < 4 ? 0 : 3,
                                            .outputs = "",
                                            .reason = "",
                                            .word = i < 4 ? "faster" : ""};
    const struct ifm_sessions sessions = {
        .rows = rows, .n = 5, .n_runs = 3, .others = IFM_REPEATABLE_YES, .quotable = IFM_REPEATABLE_UNKNOWN};
    const char *text = ifm_sessions_answer(&sessions, SESSIONS, 0.05, "; again-1 says: biased", b.arena);
    assert_int_equal(strncmp(text, "quote fast of small: 2.00x (1.90x to 2.10x over 3 runs), ", 57), 0);
    assert_non_null(strstr(text,
                           " and 1 more; not fast of large (1.90x to 2.10x over 3 runs, undecided in 3 of 3 reruns)"
                           "; again-1 says: biased"));
    stop(&b);
}

/* Of one program alone the time is asked about. */
static void without_ratios_times_are_quoted(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    for (size_t i = 0; i < SESSIONS; i++) {
        b.derived[i].n_numbers = 1;
        b.numbers[i][0].value.unit = "ns";
        b.views[i].events = events_of(b.journals[i], b.arena);
    }
    b.numbers[2][0].value.number = 103;
    ifm_sessions(b.views, SESSIONS, NULL, 0.05, b.arena, &b.sessions);
    assert_int_equal(b.sessions.quotable, IFM_REPEATABLE_YES);
    assert_string_equal(ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena),
                        "quote base 101 ns (100 to 103 ns over 3 runs)");
    b.numbers[2][0].value.number = 150;
    ifm_sessions(b.views, SESSIONS, NULL, 0.05, b.arena, &b.sessions);
    assert_int_equal(b.sessions.quotable, IFM_REPEATABLE_NO);
    assert_string_equal(ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena),
                        "quote no time: base (100 to 150 ns over 3 runs, further than 5 % from "
                        "the mean of the reruns)");
    stop(&b);
}

/* A ceiling that halves is told, with what is left at it; whether the run repeats is asked of times and ratios. */
static void the_ceiling_has_a_row_and_no_say(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    for (size_t i = 0; i < SESSIONS + 1; i++) {
        b.derived[i].n_numbers = NUMBERS + LIMITS;
        b.views[i].events = events_of(b.journals[i], b.arena);
    }
    b.numbers[2][5].value.state = IFM_STATE_ABSENT;
    b.numbers[2][5].value.reason = "the read ceiling moved";
    ifm_sessions(b.views, SESSIONS, NULL, 0.05, b.arena, &b.sessions);
    assert_int_equal(b.sessions.n, ROWS + LIMITS);
    const struct ifm_sessions_row *bound = &b.sessions.rows[ROWS], *ceiling = &b.sessions.rows[ROWS + 1];
    assert_true(bound->metric == IFM_M_SPEEDUP_AT_CEILING && bound->answer == IFM_REPEATABLE_UNKNOWN);
    assert_string_equal(bound->reason, "the read ceiling moved");
    assert_true(ceiling->metric == IFM_M_CEILING_READ && ceiling->answer == IFM_REPEATABLE_NO);
    assert_true(ceiling->least == 5e10 && ceiling->most == 1e11);
    assert_string_equal(ceiling->arm, "");
    assert_int_equal(b.sessions.answer, IFM_REPEATABLE_YES);
    assert_int_equal(b.sessions.others, IFM_REPEATABLE_YES);
    stop(&b);
}

/* A mean between two modes is no time that the program takes: it is not quoted without them. */
static void modes_stand_beside_the_mean(void **state)
{
    (void)state;
    struct ifm_finding found = {IFM_SEVERITY_NOTE,        "rule-07", "null", "base", "the step time has 2 modes",
                                .kind = IFM_FINDING_MODES};
    struct bench b;
    start(&b);
    b.numbers[1][2] = (struct ifm_number){"null", "base", IFM_M_MODES_COUNT, number(2, 0)};
    b.numbers[1][2].value.text = "62 % at 80 ns, 38 % at 132 ns";
    for (int told = 0; told < 2; told++) {
        b.derived[1].findings = &found;
        b.derived[1].n_findings = (size_t)told;
        for (size_t i = 0; i < SESSIONS; i++) {
            b.derived[i].n_numbers = i == 1 ? 3 : 2;
            b.views[i].events = events_of(b.journals[i], b.arena);
        }
        ifm_sessions(b.views, SESSIONS, NULL, 0.05, b.arena, &b.sessions);
        const char *text = ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena);
        char *table = table_of(&b);
        assert_string_equal(
            text, told ? "quote base 100 ns (100 to 100 ns over 3 runs; 2 modes in 1 of 3 runs: 62 % at 80 ns, 38 % "
                         "at 132 ns), fast 50.0 ns (50.0 to 50.0 ns over 3 runs)"
                       : "quote base 100 ns (100 to 100 ns over 3 runs), fast 50.0 ns (50.0 to 50.0 ns "
                         "over 3 runs)");
        assert_int_equal(strstr(table, "\n[1] 2 modes in 1 of 3 runs: 62 % at 80 ns, 38 % at 132 ns\n") != NULL, told);
        free(table);
    }
    stop(&b);
}

/* One seed says the same times over and over: they repeat, and are nobody's. */
static void scripted_times_are_not_quoted(void **state)
{
    (void)state;
    struct bench b;
    start(&b);
    b.plan.device = "fake";
    (void)look(&b, 0.05, "fast", IFM_M_SPEEDUP);
    assert_int_equal(b.sessions.answer, IFM_REPEATABLE_YES);
    assert_int_equal(b.sessions.quotable, IFM_REPEATABLE_UNKNOWN);
    assert_string_equal(ifm_sessions_answer(&b.sessions, SESSIONS, 0.05, "", b.arena),
                        "quote nothing: the times are scripted; of measured ones it would be: quote fast 2.00x (2.00x "
                        "to 2.00x over 3 runs)");
    struct ifm_listing listing = ifm_sessions_listing(&b.sessions, b.views, dirs, SESSIONS, NULL, 0.05, b.arena);
    for (size_t i = 0; i < listing.n_rows; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(listing.rows, i), "quotable")),
                            "not answered");
    ifm_listing_end(&listing);
    char *table = table_of(&b);
    assert_non_null(strstr(table, "\nfast  vs baseline  no: scripted  "));
    assert_null(strstr(table, "yes"));
    free(table);
    stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ceiling_has_a_row_and_no_say),
        cmocka_unit_test(the_furthest_session_decides),
        cmocka_unit_test(the_table_answers_in_the_names_of_the_run),
        cmocka_unit_test(what_one_session_lacks_is_open),
        cmocka_unit_test(outputs_that_differ_are_no_repetition),
        cmocka_unit_test(the_original_is_one_of_the_runs),
        cmocka_unit_test(times_are_told_from_ratios),
        cmocka_unit_test(an_undecided_ratio_is_not_quoted),
        cmocka_unit_test(the_original_has_its_say),
        cmocka_unit_test(a_drift_stands_beside_its_own_number),
        cmocka_unit_test(more_reruns_decide_than_do_not),
        cmocka_unit_test(without_ratios_times_are_quoted),
        cmocka_unit_test(cells_are_named),
        cmocka_unit_test(modes_stand_beside_the_mean),
        cmocka_unit_test(scripted_times_are_not_quoted),
    };
    return cmocka_run_group_tests_name("sessions", tests, NULL, NULL);
}
