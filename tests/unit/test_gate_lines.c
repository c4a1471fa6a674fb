/* Gate lines: exit codes, JUnit XML that stays well-formed, and listings with one set of field names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "facts.h"
#include "judge/internal.h"
#include "publish/junit.h"
#include <string.h>

/* No run behind the verdict: what blocks would take is not known. */
static const struct ifm_plan no_plan = {.n_cells = 0};
static const struct ifm_run_view no_run = {.plan = &no_plan};

static struct ifm_gate_line line(const char *name, enum ifm_outcome outcome, bool missing)
{
    return (struct ifm_gate_line){.name = name,
                                  .cell = "a<b",
                                  .arm = "x&\"y'",
                                  .metric = "speedup",
                                  .outcome = outcome,
                                  .missing_capability = missing,
                                  .observed = {.number = 1.5,
                                               .has_interval = true,
                                               .low = 1,
                                               .high = 2,
                                               .level = 0.95,
                                               .n = 9,
                                               .n_of = "blocks",
                                               .unit = "%",
                                               .reason = "",
                                               .remedy = "",
                                               .text = ""},
                                  .threshold = "at most +0.3 %",
                                  .reason = "why \x01 not\n\xc3\xa4 \xff \xed\xa0\x80 ]]>"};
}

static void exit_code_of_the_worst(void **state)
{
    (void)state;
    struct ifm_gate_line items[3] = {line("a", IFM_OUTCOME_PASS, false), line("b", IFM_OUTCOME_BLOCKED, true),
                                     line("c", IFM_OUTCOME_BLOCKED, false)};
    struct ifm_gate_lines lines = {.items = items, .n = 1, .capacity = 3};
    assert_int_equal(ifm_gate_lines_status(&lines), IFM_OK);
    lines.n = 2;
    assert_int_equal(ifm_gate_lines_status(&lines), IFM_MISSING);
    lines.n = 3;
    assert_int_equal(ifm_gate_lines_status(&lines), IFM_INVALID);
    assert_int_equal(ifm_gate_lines_outcome(&lines), IFM_OUTCOME_BLOCKED);
    items[2].outcome = IFM_OUTCOME_INCONCLUSIVE; /* beside what this machine lacks: more blocks are still an answer */
    assert_int_equal(ifm_gate_lines_status(&lines), IFM_INVALID);
    assert_int_equal(ifm_gate_lines_outcome(&lines), IFM_OUTCOME_BLOCKED);
    items[1].outcome = IFM_OUTCOME_PASS;
    assert_int_equal(ifm_gate_lines_status(&lines), IFM_INVALID);
    assert_int_equal(ifm_gate_lines_outcome(&lines), IFM_OUTCOME_INCONCLUSIVE);
    items[0].outcome = IFM_OUTCOME_FAIL;
    assert_int_equal(ifm_gate_lines_status(&lines), IFM_REJECTED);
    assert_int_equal(ifm_gate_lines_outcome(&lines), IFM_OUTCOME_FAIL);
}

/* The output error is a fraction where it is typed and filed, and in percent wherever people read it. */
static void a_gate_on_the_output_error_is_read_in_percent(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_gate gate = {.name = "loss_rms_rel",
                                  .metric = "loss_rms_rel",
                                  .cell = "",
                                  .arm = "",
                                  .op = IFM_GATE_AT_MOST,
                                  .threshold = 0.0312};
    const struct ifm_value loss = {
        .number = 0.1187, .n = 64, .n_of = "checks", .unit = "1", .reason = "", .remedy = "", .text = ""};
    struct ifm_gate_result result = {.gate = &gate, .cell = "decode", .arm = "int4", .remedy = ""};
    ifm_judge_decide(&result, &loss, &(struct ifm_derived){0}, arena);
    assert_int_equal(result.outcome, IFM_OUTCOME_FAIL);
    assert_string_equal(result.reason, "output error is 11.9 %, above 3.12 % (the value alone, without an interval)");
    const struct ifm_verdict verdict = {.gates = &result, .n_gates = 1};
    struct ifm_gate_lines lines = {0};
    ifm_gate_lines_run(&no_run, &verdict, arena, &lines);
    assert_string_equal(lines.items[0].name, "output error");
    assert_string_equal(lines.items[0].threshold, "at most 3.12 %");
    assert_string_equal(lines.items[0].metric, "loss_rms_rel");
    struct ifm_listing listing = ifm_gate_lines_listing(&lines, arena);
    struct ifm_text text = {0};
    ifm_listing_compose(&listing, IFM_FORMAT_TABLE, &text);
    assert_facts(text.data, "11.9 %|at most 3.12 %");
    ifm_text_clear(&text);
    ifm_listing_compose(&listing, IFM_FORMAT_CSV, &text); /* for programs, as typed and as filed */
    assert_facts(text.data, "loss_rms_rel|0.1187");
    ifm_text_free(&text);
    ifm_listing_end(&listing);
    ifm_arena_destroy(arena);
}

/* One number has one spelling in table and reason, and digits that show its interval to be one. */
static void a_change_is_spelled_once(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_gate gate = {.name = "g",
                                  .metric = "change_percent",
                                  .cell = "",
                                  .arm = "",
                                  .op = IFM_GATE_AT_MOST,
                                  .threshold = -50,
                                  .interval = true};
    struct ifm_value change = line("", IFM_OUTCOME_PASS, false).observed;
    change.number = -49.922;
    change.low = -49.935;
    change.high = -49.909;
    change.level = 0.975;
    struct ifm_gate_result result = {.gate = &gate, .cell = "c", .arm = "x", .remedy = ""};
    ifm_judge_decide(&result, &change, &(struct ifm_derived){0}, arena);
    assert_facts(result.reason, "change in time is -49.92 % [-49.94, -49.91] at 97.5 % (1.997x the speed)");
    const struct ifm_verdict verdict = {.gates = &result, .n_gates = 1};
    struct ifm_gate_lines lines = {0};
    ifm_gate_lines_run(&no_run, &verdict, arena, &lines);
    struct ifm_listing listing = ifm_gate_lines_listing(&lines, arena);
    struct ifm_text text = {0};
    ifm_listing_compose(&listing, IFM_FORMAT_MD, &text);
    assert_non_null(strstr(text.data, "fail | -49.92 % [-49.94, -49.91] at 97.5 % | 9"));
    assert_null(strstr(text.data, "change in time is")); /* the note has what the row lacks */
    assert_non_null(strstr(text.data, "wholly above -50 %"));
    lines.items[0].reason = "worse than the reference: -49.92 % [-49.94, -49.91] at 97.5 %, wholly beyond the limit";
    ifm_listing_end(&listing);
    listing = ifm_gate_lines_listing(&lines, arena);
    ifm_text_clear(&text);
    ifm_listing_compose(&listing, IFM_FORMAT_MD, &text);
    assert_non_null(strstr(text.data, "worse than the reference, wholly beyond the limit"));
    ifm_text_clear(&text);
    ifm_listing_compose(&listing, IFM_FORMAT_CSV, &text); /* for programs all of it */
    assert_non_null(strstr(text.data, "worse than the reference: -49.92 % [-49.94, -49.91]"));
    ifm_text_free(&text);
    ifm_listing_end(&listing);
    ifm_arena_destroy(arena);
}

/* What the reference holds and this run has lost blocks; what the reference never held is a note. */
static void a_lost_ratio_blocks(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_value ok = line("", IFM_OUTCOME_PASS, false).observed;
    struct ifm_value lost = ok;
    lost.state = IFM_STATE_REFUSED;
    lost.reason = "rule-07: drift";
    struct ifm_between_row rows[] = {
        {.cell = "c",
         .arm = "x",
         .metric = IFM_M_SPEEDUP,
         .interleaved = true,
         .reference = ok,
         .other = lost,
         .change = lost},
        {.cell = "c",
         .arm = "y",
         .metric = IFM_M_SPEEDUP,
         .interleaved = true,
         .reference = lost,
         .other = ok,
         .change = lost},
        {.cell = "c", .arm = "z", .metric = IFM_M_STEP_NS, .missing = true, .change = lost},
        {.cell = "c",
         .arm = "x",
         .metric = IFM_M_STEP_NS,
         .reference = ok,
         .other = ok,
         .change = ok,
         .standing = IFM_STANDING_REGRESSED},
        {.cell = "c",
         .arm = "w",
         .metric = IFM_M_SPEEDUP,
         .interleaved = true,
         .reference = ok,
         .other = ok,
         .change = ok,
         .standing = IFM_STANDING_HOLDS,
         .margin = 0.01},
    };
    struct ifm_between between = {rows, 5, 5};
    struct ifm_gate_lines lines = {0};
    ifm_gate_lines_between(&between, "main", arena, &lines);
    assert_int_equal(lines.n, 2);
    assert_int_equal(lines.items[0].outcome, IFM_OUTCOME_BLOCKED);
    assert_string_equal(lines.items[0].reason, "refused: rule-07: drift");
    assert_int_equal(lines.items[1].outcome, IFM_OUTCOME_PASS);
    assert_string_equal(lines.items[1].threshold, "at least -0.99 %");
    assert_int_equal(lines.n_notes, 2);
    assert_facts(lines.notes[0], "c, y, speed-up|reference|rule-07: drift");
    assert_facts(lines.notes[1], "c, z|rule-07: drift");
    assert_null(strstr(lines.notes[1], "reference"));
    assert_int_equal(ifm_gate_lines_status(&lines), IFM_INVALID);
    ifm_arena_destroy(arena);
}

/* What holds beside an output that changed holds of nobody knows what; other arms of the cell stand. */
static void an_arm_that_is_not_to_be_used_blocks(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    static struct ifm_arm arms[] = {{.name = "base", .role = IFM_ROLE_BASELINE},
                                    {.name = "x", .role = IFM_ROLE_VARIANT},
                                    {.name = "y", .role = IFM_ROLE_VARIANT}};
    static struct ifm_cell cell = {.name = "c", .arms = arms, .n_arms = 3};
    const struct ifm_plan plan = {.cells = &cell, .n_cells = 1};
    struct ifm_number numbers[3];
    for (size_t a = 0; a < 3; a++)
        numbers[a] = (struct ifm_number){"c", arms[a].name, IFM_M_STEP_NS, {.number = 1}};
    struct ifm_finding found = {.severity = IFM_SEVERITY_WARNING,
                                .rule = "rule-12",
                                .cell = "c",
                                .arm = "x",
                                .text = "the output changed",
                                .kind = IFM_FINDING_OUTPUT};
    static struct ifm_derived clean;
    const struct ifm_derived doubtful = {.numbers = numbers, .n_numbers = 3, .findings = &found, .n_findings = 1};
    const struct ifm_run_view was = {&plan, &clean, NULL}, is = {&plan, &doubtful, NULL};
    for (int at_reference = 0; at_reference < 2; at_reference++) {
        struct ifm_gate_line items[] = {line("one", IFM_OUTCOME_PASS, false), line("two", IFM_OUTCOME_PASS, false)};
        struct ifm_gate_lines lines = {.items = items, .n = 2};
        const struct ifm_comparison_runs runs = {at_reference ? &is : &was, at_reference ? &was : &is, "main", "new"};
        items[0].cell = items[1].cell = "c";
        items[0].arm = "x";
        items[1].arm = "y";
        ifm_gate_lines_distrust(&lines, &runs, arena);
        assert_int_equal(items[0].outcome, IFM_OUTCOME_BLOCKED);
        assert_facts(items[0].reason, at_reference ? "main is not to be used|the output changed" : "new is not");
        assert_int_equal(items[1].outcome, IFM_OUTCOME_PASS);
        assert_int_equal(ifm_gate_lines_status(&lines), IFM_INVALID);
    }
    ifm_arena_destroy(arena);
}

/* A gate and `compare` give a speed-up one sign: that of the speed-up, and the limit with it. */
static void a_speedup_that_rose_is_above_its_limit(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_value ok = line("", IFM_OUTCOME_PASS, false).observed;
    struct ifm_between_row rows[2] = {{.cell = "c",
                                       .arm = "x",
                                       .metric = IFM_M_SPEEDUP,
                                       .interleaved = true,
                                       .reference = ok,
                                       .other = ok,
                                       .change = ok,
                                       .standing = IFM_STANDING_HOLDS,
                                       .margin = 0.003}};
    rows[0].change.number = -20;
    rows[0].change.low = -50;
    rows[0].change.high = 0.25;
    rows[1] = rows[0];
    rows[1].metric = IFM_M_ENERGY_PER_STEP_CHANGE_PERCENT;
    rows[1].energy = true;
    const struct ifm_between between = {rows, 2, 2};
    struct ifm_gate_lines lines = {0};
    ifm_gate_lines_between(&between, "main", arena, &lines);
    assert_true(lines.items[0].observed.number > 24.99 && lines.items[0].observed.number < 25.01);
    assert_string_equal(lines.items[0].threshold, "at least -0.299 %");
    assert_facts(lines.items[0].reason, "not worse|+25 % [0, +100]|no end beyond|-0.299 %");
    assert_true(lines.items[1].observed.number < 0);
    assert_string_equal(lines.items[1].threshold, "at most +0.3 %");
    assert_facts(lines.items[1].reason, "-20 % [-50, 0]|+0.3 %");
    ifm_arena_destroy(arena);
}

/* A speed-up that holds beside a loss that does not: the gate fails by the loss. */
static void more_loss_is_worse(void **state)
{
    (void)state;
    static const struct {
        enum ifm_standing standing;
        enum ifm_outcome outcome;
        const char *reason;
    } cases[] = {
        {IFM_STANDING_REGRESSED, IFM_OUTCOME_FAIL, "loses more|7.90 %|5.00 %"},
        {IFM_STANDING_HOLDS, IFM_OUTCOME_PASS, "no more|7.90 %|5.00 %"},
        {IFM_STANDING_UNDECIDED, IFM_OUTCOME_BLOCKED, "absent|gone"},
    };
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_value ok = line("", IFM_OUTCOME_PASS, false).observed;
    for (size_t i = 0; i < 3; i++) {
        struct ifm_between_row row = {.cell = "c",
                                      .arm = "int4",
                                      .metric = IFM_M_SPEEDUP,
                                      .interleaved = true,
                                      .reference = ok,
                                      .other = ok,
                                      .change = ok,
                                      .standing = IFM_STANDING_HOLDS,
                                      .margin = 0.01,
                                      .lossy = true,
                                      .loss_standing = cases[i].standing};
        row.reference_loss = row.other_loss = (struct ifm_value){.number = 0.05, .unit = "1", .reason = ""};
        row.other_loss.number = 0.079;
        if (cases[i].standing == IFM_STANDING_UNDECIDED)
            row.other_loss = (struct ifm_value){.state = IFM_STATE_ABSENT, .unit = "1", .reason = "gone"};
        struct ifm_between between = {&row, 1, 1};
        struct ifm_gate_lines lines = {0};
        ifm_gate_lines_between(&between, "main", arena, &lines);
        assert_int_equal(lines.n, 2);
        assert_int_equal(lines.items[0].outcome, IFM_OUTCOME_PASS);
        assert_string_equal(lines.items[1].name, "output error against main");
        assert_int_equal(lines.items[1].outcome, cases[i].outcome);
        assert_facts(lines.items[1].reason, cases[i].reason);
        assert_string_equal(lines.items[1].threshold, "at most 5.00 %, and 1 % of it more");
    }
    ifm_arena_destroy(arena);
}

/* An interval around the margin is no failure: inconclusive, with the blocks that would probably settle it. */
static void what_the_margin_divides_is_inconclusive(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_value ok = line("", IFM_OUTCOME_PASS, false).observed;
    struct ifm_between_row rows[4] = {{.cell = "c",
                                       .arm = "x",
                                       .metric = IFM_M_SPEEDUP,
                                       .interleaved = true,
                                       .reference = ok,
                                       .other = ok,
                                       .change = ok,
                                       .standing = IFM_STANDING_UNDECIDED,
                                       .margin = 0.01,
                                       .further = 42}};
    rows[1] = rows[0];
    rows[1].further = 0;
    rows[2] = rows[0]; /* joules are of windows */
    rows[2].metric = IFM_M_ENERGY_PER_STEP_CHANGE_PERCENT;
    rows[2].energy = true;
    rows[3] = rows[0]; /* shown without an interval */
    rows[3].change.has_interval = false;
    rows[3].speedup = rows[3].change;
    rows[3].speedup.text = "no interval: needs 6 blocks, has 3";
    rows[3].speedup.remedy = "measure more";
    struct ifm_between between = {rows, 4, 4};
    struct ifm_gate_lines lines = {0};
    ifm_gate_lines_between(&between, "main", arena, &lines);
    assert_int_equal(lines.n, 4);
    assert_string_equal(lines.items[2].name, "change in energy per step against main");
    assert_string_equal(lines.items[2].threshold, "at most +1 %");
    assert_facts(lines.items[2].reason, "energy per baseline|both sides|+1 %|42 more windows in each run");
    assert_int_equal(lines.items[3].outcome, IFM_OUTCOME_BLOCKED);
    assert_string_equal(lines.items[3].reason, "no interval: needs 6 blocks, has 3");
    assert_string_equal(lines.items[3].remedy, "measure more");
    rows[1].few = true;
    lines.n = 0;
    ifm_gate_lines_between(&between, "main", arena, &lines);
    assert_facts(lines.items[1].reason, "both sides|too few undisturbed blocks to foretell");
    rows[1].few = false;
    lines.n = 0;
    ifm_gate_lines_between(&between, "main", arena, &lines);
    lines.n = 2;
    assert_int_equal(ifm_gate_lines_outcome(&lines), IFM_OUTCOME_INCONCLUSIVE);
    assert_int_equal(ifm_gate_lines_status(&lines), IFM_INVALID);
    assert_int_equal(lines.items[0].further, 42);
    assert_facts(lines.items[0].reason, "both sides|-0.99 %|42 more blocks in each run");
    assert_facts(lines.items[1].reason, "within its noise of it|four times as many in each run");
    struct ifm_text text = {0};
    ifm_gate_lines_junit(&lines, "id", &text);
    assert_non_null(strstr(text.data, "failures=\"0\" errors=\"2\" skipped=\"0\""));
    assert_non_null(strstr(text.data, "type=\"inconclusive\"/>"));
    ifm_text_free(&text);
    ifm_arena_destroy(arena);
}

/* What few runs may miss stands beside the answer in every file, and of several gates once for people. */
static void files_say_what_few_runs_may_miss(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_gate gate = {
        .name = "g", .metric = "change_percent", .cell = "", .arm = "", .op = IFM_GATE_AT_MOST, .threshold = 3};
    struct ifm_gate_result results[] = {
        {.gate = &gate, .cell = "c", .arm = "x", .outcome = IFM_OUTCOME_PASS, .reason = "below", .few_runs = {.n = 60}},
        {.gate = &gate, .cell = "c", .arm = "y", .outcome = IFM_OUTCOME_FAIL, .reason = "above", .few_runs = {.n = 60}},
        {.gate = &gate, .cell = "c", .arm = "z", .outcome = IFM_OUTCOME_PASS, .reason = "far below"}};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        results[i].observed = line("", IFM_OUTCOME_PASS, false).observed;
    const struct ifm_verdict verdict = {.gates = results, .n_gates = sizeof results / sizeof *results};
    struct ifm_gate_lines lines = {0};
    ifm_gate_lines_run(&no_run, &verdict, arena, &lines);
    struct ifm_text text = {0};
    ifm_gate_lines_junit(&lines, "id", &text);
    static const char words[] = "60 runs are too few to see slow ones rarer than 1 in 20: such ones are not in this "
                                "answer";
    assert_non_null(strstr(text.data, ifm_arena_printf(arena, "<system-out>below; %s</system-out>", words)));
    assert_non_null(strstr(text.data, ifm_arena_printf(arena, "<failure message=\"above; %s\"", words)));
    assert_non_null(strstr(text.data, "<system-out>far below</system-out>"));
    ifm_text_clear(&text);
    struct ifm_listing listing = ifm_gate_lines_listing(&lines, arena);
    ifm_listing_compose(&listing, IFM_FORMAT_MD, &text);
    const char *first = strstr(text.data, words);
    assert_non_null(first);
    assert_null(strstr(first + 1, words));
    ifm_text_free(&text);
    ifm_listing_end(&listing);
    ifm_arena_destroy(arena);
}

static void junit_is_escaped(void **state)
{
    (void)state;
    struct ifm_gate_line items[4] = {line("p", IFM_OUTCOME_PASS, false), line("f", IFM_OUTCOME_FAIL, false),
                                     line("b", IFM_OUTCOME_BLOCKED, false), line("s", IFM_OUTCOME_BLOCKED, true)};
    struct ifm_gate_lines lines = {.items = items, .n = 4, .capacity = 4};
    struct ifm_text text = {0};
    lines.trust = "weak baseline: the baseline \"a\"";
    ifm_gate_lines_junit(&lines, "id", &text);
    assert_non_null(strstr(text.data, "tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\""));
    assert_non_null(strstr(text.data, "<testcase classname=\"a&lt;b\" name=\"f / x&amp;&quot;y&apos;\">"));
    assert_non_null(strstr(text.data, "<failure message=\"why ? not&#10;\xc3\xa4 ? ??? ]]&gt;\" type=\"fail\"/>"));
    assert_non_null(strstr(text.data, "<error message=\"why"));
    assert_non_null(strstr(text.data, "<skipped message=\"why"));
    assert_non_null(strstr(text.data, "<system-out>why"));
    assert_non_null(strstr(text.data, "<property name=\"trust\" value=\"weak baseline: the baseline &quot;a&quot;\""));
    assert_null(strchr(text.data, '\x01'));
    assert_null(strstr(text.data, "\xff"));
    assert_null(strstr(text.data, "\xed\xa0"));
    ifm_text_free(&text);
}

static void listing_has_one_set_of_fields(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_gate_line items[2] = {line("p, \"q\"", IFM_OUTCOME_PASS, false), line("f|g", IFM_OUTCOME_FAIL, false)};
    for (int i = 0; i < 2; i++)
        items[i].reason = "because";
    items[1].observed.state = IFM_STATE_ABSENT;
    struct ifm_gate_lines lines = {.items = items, .n = 2, .capacity = 2};
    struct ifm_listing listing = ifm_gate_lines_listing(&lines, arena);
    struct ifm_text text = {0};
    ifm_listing_compose(&listing, IFM_FORMAT_CSV, &text);
    assert_string_equal(text.data,
                        "gate,cell,arm,metric,outcome,value,low,high,level,unit,n,threshold,further,reason,remedy\n"
                        "\"p, \"\"q\"\"\",a<b,\"x&\"\"y'\",speedup,pass,1.5,1.0,2.0,0.95,%,9,at most +0.3 %,,"
                        "because,\n"
                        "f|g,a<b,\"x&\"\"y'\",speedup,fail,,,,,%,9,at most +0.3 %,,because,\n");
    ifm_text_clear(&text);
    ifm_listing_compose(&listing, IFM_FORMAT_JSONL, &text);
    const char *second = strchr(text.data, '\n') + 1;
    json_t *row;
    struct ifm_error error = {0};
    assert_int_equal(ifm_json_parse(second, strlen(second) - 1, "row", &row, &error), IFM_OK);
    assert_true(json_is_null(json_object_get(row, "value")) && json_is_null(json_object_get(row, "low")));
    assert_string_equal(json_string_value(json_object_get(row, "outcome")), "fail");
    assert_int_equal(json_object_size(row), 15);
    json_decref(row);
    ifm_text_clear(&text);
    ifm_listing_compose(&listing, IFM_FORMAT_MD, &text);
    assert_non_null(strstr(text.data, "| f\\|g | a\\<b |"));
    assert_null(strstr(text.data, "f|g"));
    ifm_text_clear(&text);
    ifm_listing_compose(&listing, IFM_FORMAT_TABLE, &text);
    assert_non_null(strstr(text.data, "absent"));
    ifm_listing_end(&listing);
    ifm_text_free(&text);
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_code_of_the_worst),
        cmocka_unit_test(a_gate_on_the_output_error_is_read_in_percent),
        cmocka_unit_test(a_change_is_spelled_once),
        cmocka_unit_test(a_lost_ratio_blocks),
        cmocka_unit_test(an_arm_that_is_not_to_be_used_blocks),
        cmocka_unit_test(a_speedup_that_rose_is_above_its_limit),
        cmocka_unit_test(more_loss_is_worse),
        cmocka_unit_test(what_the_margin_divides_is_inconclusive),
        cmocka_unit_test(files_say_what_few_runs_may_miss),
        cmocka_unit_test(junit_is_escaped),
        cmocka_unit_test(listing_has_one_set_of_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
