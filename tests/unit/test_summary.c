/* The summary at its limit: many arms, long names; what does not fit is counted, and no number is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/json.h"
#include "publish/comparison.h"
#include "publish/summary.h"
#include "unit/events.h"
#include "unit/fact_pieces.h"
#include <stdio.h>
#include <string.h>

enum { MOST = 100 };

struct bench {
    struct ifm_arena *arena;
    struct ifm_arm arms[MOST + 1];
    struct ifm_cell cells[2];
    struct ifm_plan plan;
    struct ifm_number numbers[2 * MOST];
    struct ifm_derived derived;
    struct ifm_verdict verdict;
    json_t *events;
    struct ifm_text text;
};

static const char *const words[] = {"faster", "slower", "equivalent", "undecided"};

static void start(struct bench *b, size_t n, const char *prefix)
{
    memset(b, 0, sizeof *b);
    b->arena = ifm_arena_create();
    b->arms[0] = (struct ifm_arm){.name = "plain", .role = IFM_ROLE_BASELINE};
    for (size_t i = 0; i < n; i++) {
        const char *name = ifm_arena_printf(b->arena, "%s%zu", prefix, i);
        b->arms[i + 1] = (struct ifm_arm){.name = name, .role = IFM_ROLE_VARIANT};
        double change = -12.5 - 0.25 * (double)i;
        struct ifm_value value = {.number = change,
                                  .has_interval = true,
                                  .low = change - 0.25,
                                  .high = change + 0.25,
                                  .level = 0.95,
                                  .n = 24,
                                  .n_of = "blocks",
                                  .unit = "%",
                                  .reason = "",
                                  .remedy = "",
                                  .text = words[i % 4]};
        struct ifm_value mde = value;
        mde.number = 0.5;
        mde.has_interval = false;
        b->numbers[2 * i] = (struct ifm_number){"null", name, IFM_M_CHANGE_PERCENT, value};
        b->numbers[2 * i + 1] = (struct ifm_number){"null", name, IFM_M_MDE_PERCENT, mde};
    }
    b->cells[0] = (struct ifm_cell){.name = "null",
                                    .workload = "null",
                                    .threads = 4,
                                    .arms = b->arms,
                                    .n_arms = n + 1,
                                    .unsupported = "",
                                    .measure = {.margin = 0.003}};
    b->plan = (struct ifm_plan){.run_id = "0123456789ab",
                                .config_hash = "7679e42423cde9bd6b63e248a28ff8533179cc5133c27498f999b8358db17bdf",
                                .device = "cpu",
                                .cells = b->cells,
                                .n_cells = 1};
    b->derived = (struct ifm_derived){
        .numbers = b->numbers, .n_numbers = 2 * n, .run_id = b->plan.run_id, .config_hash = b->plan.config_hash};
    b->verdict.outcome = IFM_OUTCOME_PASS;
    b->events = json_pack("[{s:s, s:{s:s, s:s, s:s}}, {s:s, s:{s:{s:{s:s}, s:{s:f}}}}, {s:s, s:{s:s}}]", "stage",
                          "run_start", "meta", "run_id", "0123456789ab", "config_hash", "cafe", "version", "1.2.3",
                          "stage", "environment", "meta", "fingerprint", "cpu", "model", "EPYC \xe2\x84\xa2 *9*",
                          "load", "one_minute", 3.5, "stage", "run_done", "meta", "config_hash", "cafe");
    assert_non_null(b->events);
}

static const char *compose(struct bench *b)
{
    struct ifm_publication publication = {.dir = "secret-place/x",
                                          .plan = &b->plan,
                                          .derived = &b->derived,
                                          .verdict = &b->verdict,
                                          .events = events_of(b->events, b->arena)};
    ifm_text_clear(&b->text);
    ifm_summary_compose(&publication, &b->text);
    return b->text.data;
}

static void stop(struct bench *b)
{
    json_decref(b->events);
    ifm_text_free(&b->text);
    ifm_arena_destroy(b->arena);
}

static void says_what_was_found(void **state)
{
    (void)state;
    struct bench b;
    start(&b, 1, "half");
    const char *text = compose(&b);
    assert_line(text, "inferometer|null|plain|0.3 %|pass");
    assert_line(text, "- half0: faster|-12.50 % [-12.75, -12.25]|24 blocks|0.500 %");
    assert_line(text, "machine: EPYC ??? ?9?|4 cores|not locked|environment ");
    assert_line(text, "config 7679e42423cd|run 0123456789ab|inferometer 1.2.3");
    assert_non_null(strstr(text, "inferometer verify"));
    assert_null(strstr(text, "secret"));
    assert_null(strstr(text, " more"));
    assert_non_null(strstr(text, "\ntrust: solid\n"));
    struct ifm_finding findings[] = {{IFM_SEVERITY_NOTE, "", "", "", "a", .kind = 0},
                                     {IFM_SEVERITY_WARNING, "", "", "", "b", .kind = 0},
                                     {IFM_SEVERITY_INVALID, "", "", "", "`c` is broken", .kind = 0}};
    b.derived.findings = findings;
    b.derived.n_findings = 3;
    assert_non_null(strstr(compose(&b), "\ntrust: do not use: c is broken; 1 more warning\n"));
    findings[2].text =
        "this is broken in more words than a line has room for, of which there are many and many more, "
        "and then some, and still others, so that in the end the comparison is: undecided. Remedy: `end other work`";
    assert_line(compose(&b), "trust: do not use: this is broken|... undecided; remedy: end other work; 1 more");
    findings[2].text = "\"/srv/run\" is broken"; /* a summary is pasted anywhere */
    assert_non_null(strstr(compose(&b), "\ntrust: do not use: the report says why; 1 more warning\n"));
    stop(&b);
}

/* The report's word of a comparison that a gate has answered, here and in `compare`. */
static void what_a_gate_has_answered_is_within_the_limit(void **state)
{
    (void)state;
    struct bench b;
    start(&b, 4, "g");
    const struct ifm_gate gate = {.name = "g", .metric = "change_percent", .op = IFM_GATE_AT_MOST, .interval = true};
    struct ifm_gate_result result = {.gate = &gate, .cell = "null", .arm = "g3", .outcome = IFM_OUTCOME_PASS};
    for (int passes = 0; passes < 2; passes++) {
        b.verdict.gates = &result;
        b.verdict.n_gates = (size_t)passes;
        assert_line(compose(&b), passes ? "- g3: within the limit, time" : "- g3: undecided, time");
        struct ifm_number with[3] = {b.numbers[6], b.numbers[7], b.numbers[6]}; /* and a speed-up */
        with[2].metric = IFM_M_SPEEDUP;
        struct ifm_derived derived = {.numbers = with, .n_numbers = 3, .run_id = "r", .config_hash = "c"};
        struct ifm_listing listing = ifm_comparison_begin(b.arena);
        assert_int_equal(ifm_comparison_add_run(&listing, &b.plan, &derived, &b.verdict, NULL, NULL), 1);
        assert_string_equal(json_string_value(json_object_get(json_array_get(listing.rows, 0), "word")),
                            passes ? "within the limit" : "undecided");
        ifm_listing_end(&listing);
    }
    stop(&b);
}

/* A word is not more certain than the rates that it rests on. */
static void refused_rates_stand_beside_the_word(void **state)
{
    (void)state;
    struct bench b;
    start(&b, 2, "half");
    assert_null(strstr(compose(&b), "refused"));
    b.numbers[4] = (struct ifm_number){"null", "half0", IFM_M_BANDWIDTH_BYTES_PER_S, b.numbers[0].value};
    b.numbers[4].value.state = IFM_STATE_REFUSED;
    b.derived.n_numbers = 5;
    const char *text = compose(&b);
    assert_line(text, "- half0: faster|24 blocks|its rates are refused (rule 3)");
    const char *other = strstr(text, "- half1");
    assert_true(other + strcspn(other, "\n") < strstr(other, "refused")); /* of the word of trust */
    stop(&b);
}

/* Of cells with baselines of their own each line says which; an interval of another level says which. */
static void a_line_says_against_what_and_how_surely(void **state)
{
    (void)state;
    struct bench b;
    start(&b, 1, "half");
    struct ifm_arm others[] = {{.name = "scalar", .role = IFM_ROLE_BASELINE}, b.arms[1]};
    b.cells[1] = b.cells[0];
    b.cells[1].name = "wide";
    b.plan.n_cells = 2;
    b.numbers[2] = (struct ifm_number){"wide", "half0", IFM_M_CHANGE_PERCENT, b.numbers[0].value};
    b.numbers[2].value.level = 1 - 0.05 / 3;
    b.derived.n_numbers = 3;
    const char *text = compose(&b);
    assert_line(text, "inferometer: 2 cells of null, against plain, margin");
    assert_line(text, "- wide / half0: faster|[-12.75, -12.25] at 98.3 %");
    assert_line(text, "- null / half0: faster|[-12.75, -12.25],");
    b.cells[1].arms = others;
    text = compose(&b);
    assert_line(text, "inferometer: 2 cells of null, margin");
    assert_line(text, "- null / half0 against plain: faster");
    assert_line(text, "- wide / half0 against scalar: faster");
    stop(&b);
}

/* A refused number has its reason; one that names a file of the machine has not. */
static void reasons_tell_no_path(void **state)
{
    (void)state;
    struct bench b;
    start(&b, 2, "a");
    for (size_t i = 0; i < 2; i++)
        b.numbers[2 * i].value.state = IFM_STATE_REFUSED;
    b.numbers[0].value.reason = "rule-03: 12 GB/s is above the ceiling";
    b.numbers[2].value.reason = "cannot read (/secret/place)";
    const char *text = compose(&b);
    assert_line(text, "- a0: refused|rule-03: 12 GB/s is above the ceiling");
    assert_line(text, "- a1: refused|report");
    assert_null(strstr(text, "secret"));
    stop(&b);
}

/* Every number of arms, short names and long ones: whole lines, at most 1,024 bytes, and the count adds up. */
static void fits_at_every_length(void **state)
{
    (void)state;
    static const char longest[] = "\xc3\xa4|very|long|name|beyond|what|any|chat|wants|to|see|in|one|line|";
    static const char *const prefixes[] = {"a", "a rather long name of an arm ", longest};
    size_t fullest = 0;
    for (size_t p = 0; p < 3; p++)
        for (size_t n = 1; n <= MOST; n++) {
            struct bench b;
            start(&b, n, prefixes[p]);
            const char *text = compose(&b);
            size_t lines = 0, more = 0;
            assert_true(b.text.size <= IFM_SUMMARY_BYTES);
            assert_int_equal(text[b.text.size - 1], '\n');
            fullest = b.text.size > fullest ? b.text.size : fullest;
            for (const char *at = strstr(text, "\n- "); at != NULL; at = strstr(at + 1, "\n- ")) {
                if (sscanf(at, "\n- and %zu more\n", &more) == 1)
                    continue;
                char line[IFM_SUMMARY_BYTES + 1];
                snprintf(line, sizeof line, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
                assert_true(facts_stand(line, "24 blocks|0.500 %", NULL));
                lines++;
            }
            assert_int_equal(lines + more, n);
            assert_true(lines > 0);
            assert_non_null(strstr(text, "\nconfig "));
            assert_non_null(strstr(text, "verify RUN-FOLDER\n"));
            for (size_t i = 0; i < b.text.size; i++)
                assert_true(text[i] == '\n' || (text[i] >= 0x20 && text[i] < 0x7f && text[i] != '|'));
            stop(&b);
        }
    assert_true(fullest > IFM_SUMMARY_BYTES - 100); /* the room is used */
}

/* Slower arms stand before faster ones, those before what makes no difference; larger changes first. */
static void drops_the_least_important(void **state)
{
    (void)state;
    struct bench b;
    start(&b, MOST, "arm");
    const char *text = compose(&b);
    assert_non_null(strstr(text, "- arm97: slower"));
    assert_null(strstr(text, "equivalent"));
    assert_null(strstr(text, "- arm1: slower"));
    stop(&b);
}

/* The hash names the machine: the load of the minute does not change it, the model does. */
static void environment_hash_is_steady(void **state)
{
    (void)state;
    struct bench b;
    char first[13], second[13], third[13], none[13];
    start(&b, 1, "a");
    json_t *fingerprint = json_object_get(json_object_get(json_array_get(b.events, 1), "meta"), "fingerprint");
    ifm_summary_environment(events_of(b.events, b.arena), first);
    json_object_set_new(fingerprint, "load", json_integer(9));
    ifm_summary_environment(events_of(b.events, b.arena), second);
    json_object_set_new(fingerprint, "cpu", json_string("other"));
    ifm_summary_environment(events_of(b.events, b.arena), third);
    assert_int_equal(strlen(first), 12);
    assert_string_equal(first, second);
    assert_string_not_equal(first, third);
    assert_string_equal(ifm_summary_environment(NULL, none), "");
    stop(&b);
}

/* An interval that holds more than noise says more than what the noise would let be found: one number of the two. */
static void nothing_smaller_than_the_interval_can_be_detected(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_value change = {.number = 1, .has_interval = true, .low = -8, .high = 10},
                     mde = {.number = 2, .unit = "%"};
    assert_string_equal(ifm_comparison_detects(&change, &mde, arena), ">9.78 %");
    mde.number = 12;
    assert_string_equal(ifm_comparison_detects(&change, &mde, arena), "12.0 %");
    mde.number = 1e6;
    assert_string_equal(ifm_comparison_detects(&change, &mde, arena), ">1000 %");
    mde.number = 2;
    change.low = -0.5;
    change.high = 2.5;
    assert_string_equal(ifm_comparison_detects(&change, &mde, arena), "2.00 %");
    change.has_interval = false;
    assert_string_equal(ifm_comparison_detects(&change, &mde, arena), "2.00 %");
    mde.state = IFM_STATE_ABSENT;
    assert_string_equal(ifm_comparison_detects(&change, &mde, arena), "");
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_smaller_than_the_interval_can_be_detected),
        cmocka_unit_test(says_what_was_found),
        cmocka_unit_test(reasons_tell_no_path),
        cmocka_unit_test(fits_at_every_length),
        cmocka_unit_test(drops_the_least_important),
        cmocka_unit_test(environment_hash_is_steady),
        cmocka_unit_test(what_a_gate_has_answered_is_within_the_limit),
        cmocka_unit_test(refused_rates_stand_beside_the_word),
        cmocka_unit_test(a_line_says_against_what_and_how_surely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
