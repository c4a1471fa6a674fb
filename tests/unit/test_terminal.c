/* What the terminal shows of many findings, and report.md of all of them. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/text.h"
#include "fact_pieces.h"
#include "publish/compose.h"
#include "publish_sample.h"
#include <locale.h>

static struct ifm_error error;

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is missing in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("\"%s\" is in:\n%s", part, text);
}

static const struct ifm_finding many[] = {
    {IFM_SEVERITY_WARNING, "rule-07", D, "read.linear", "a probe is not steady", .kind = 0},
    {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it drifts by 3 %", .kind = 0},
    {IFM_SEVERITY_WARNING, "rule-07", D, "packed", "it drifts by 4 %", .kind = 0},
    {IFM_SEVERITY_WARNING, "rule-07", D, "staged", "it changes after 3 blocks", .kind = 0},
    {IFM_SEVERITY_WARNING, "rule-07", "", "", "the machine is under load", .kind = IFM_FINDING_LOAD},
    {IFM_SEVERITY_WARNING, "rule-03", D, "packed", "a rate above its ceiling", .kind = 0},
    {IFM_SEVERITY_WARNING, "rule-12", D, "half", "the output changed", .kind = 0},
    {IFM_SEVERITY_WARNING, "rule-02", D, "half", "a decision is disturbed", .kind = 0},
    {IFM_SEVERITY_NOTE, "", D, "", "a note about a cell", .kind = 0},
    {IFM_SEVERITY_NOTE, "rule-08", "", "", "not locked", .kind = 0},
    {IFM_SEVERITY_INVALID, "rule-02", D, "staged", "its samples are sorted", .kind = 0},
    {IFM_SEVERITY_INVALID, "rule-10", D, "half", "its output is wrong", .kind = 0},
};

static char *composed(const struct ifm_finding *findings, size_t n, bool markdown)
{
    struct ifm_derived derived = sample_derived;
    struct ifm_finding *copy = malloc(sizeof *copy * (n + 1));
    memcpy(copy, findings, sizeof *copy * n);
    derived.findings = copy;
    derived.n_findings = n;
    struct ifm_publication publication = sample_publication(NULL);
    publication.derived = &derived;
    struct ifm_text text = {0};
    if (markdown)
        assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_FOLDED, false, true, &text, &error), IFM_OK);
    else
        assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_ALWAYS, false, true, &text, &error), IFM_OK);
    free(copy);
    return text.data;
}

/* Every kind of warning, the gravest first; of a probe alone it is a note, and where there are many the rest of these
 * is counted. */
static void warnings_are_shown_and_notes_are_counted(void **state)
{
    (void)state;
    char *text = composed(many, COUNT(many), false);
    assert_line(text, "invalid: |" D "|staged|its samples are sorted|rule-02");
    assert_line(text, "invalid: |" D "|half|its output is wrong|rule-10");
    assert_line(text, "warning: |" D "|half|it drifts by 3 %|1 alike|rule-07");
    assert_line(text, "warning: |the machine is under load|rule-07");
    assert_line(text, "warning: |" D "|packed|a rate above its ceiling|rule-03");
    assert_line(text, "warning: |" D "|half|the output changed|rule-12");
    assert_line(text, "warning: |" D "|half|a decision is disturbed|rule-02");
    assert_lacks(text, "a probe is not steady");
    assert_lacks(text, "4 %");
    assert_has(text, "it changes after");
    assert_lacks(text, "a note about a cell");
    assert_lacks(text, "more warning");
    assert_line(text, "more notes|report.md|report.html");
    free(text);
}

/* The same of another cell, with other names behind it, is another kind. */
static void other_names_are_another_kind(void **state)
{
    (void)state;
    struct ifm_finding findings[7];
    for (size_t i = 0; i < 4; i++)
        findings[i] = (struct ifm_finding){IFM_SEVERITY_WARNING, "rule-08", D, "", "", .kind = 0};
    findings[0].text = "5 of 8 arms were not steady: a, b";
    findings[1].text = "7 of 10 arms were not steady: a, c";
    findings[2].text = "1 of 2 arms were not steady: d";
    findings[3].text = "3 of 4 arms are slow: d";
    findings[4] = (struct ifm_finding){IFM_SEVERITY_WARNING, "rule-07", D, "half", "it drifts", .kind = 0};
    findings[5] = (struct ifm_finding){IFM_SEVERITY_WARNING, "rule-07", D, "half", "it changes", .kind = 0};
    findings[6] = (struct ifm_finding){IFM_SEVERITY_NOTE, "", D, "", "a note", .kind = 0};
    char *text = composed(findings, 7, false);
    static const char *const shown[] = {"5 of 8 arms", "7 of 10 arms", "1 of 2 arms",
                                        "3 of 4 arms", "it drifts",    "it changes"};
    for (size_t i = 0; i < COUNT(shown); i++)
        assert_has(text, shown[i]);
    assert_line(text, "1 more note|report.md");
    free(text);
}

static void few_findings_are_all_shown(void **state)
{
    (void)state;
    char *text = composed(many, 1, false);
    assert_line(text, "note: |" D "|read.linear|a probe is not steady|rule-07"); /* it touches no row */
    assert_lacks(text, "more note");
    free(text);
    text = composed(many, 0, false);
    assert_lacks(text, "warning");
    assert_lacks(text, "report.md");
    free(text);
}

/* The figures of a warning may stand at its end; of a note two lines are enough. */
static void a_long_warning_is_said_to_its_end(void **state)
{
    (void)state;
    char words[600] = "it begins";
    for (int i = 0; i < 60; i++)
        strcat(words, " and on");
    strcat(words, " to the end");
    struct ifm_finding finding = {IFM_SEVERITY_NOTE, "rule-07", "", "", words, .kind = 0};
    char *text = composed(&finding, 1, false);
    char *from = strstr(text, "note: it begins");
    assert_non_null(from);
    char *second = strchr(from, '\n') + 1, *third = strchr(second, '\n') + 1;
    assert_has(second, " … (rule-07)\n");
    assert_true(third > second && *third == '\n');
    assert_lacks(from, "to the end");
    free(text);
    for (finding.severity = IFM_SEVERITY_WARNING; finding.severity <= IFM_SEVERITY_INVALID; finding.severity++) {
        text = composed(&finding, 1, false);
        assert_has(text, "to the end");
        free(text);
    }
    text = composed(&finding, 1, true);
    assert_has(text, "to the end");
    free(text);
}

/* What does not fit goes into tables below, a row of which is a line: whose an interval is is never in doubt. */
static void rows_stay_whole_where_a_table_is_split(void **state)
{
    (void)state;
    static struct ifm_heading headings[] = {{"arm", IFM_M_NONE, true, 0},
                                            {"time", IFM_M_NONE, false, 0},
                                            {"p50", IFM_M_NONE, false, 0},
                                            {"read", IFM_M_NONE, false, 0},
                                            {"of ceiling", IFM_M_NONE, false, 0}};
    static struct ifm_field fields[] = {{.text = "f16", .interval = ""},
                                        {.text = "16.5 ms", .interval = "[11.4, 23.7]"},
                                        {.text = "18.1 ms", .interval = ""},
                                        {.text = "8.15 GB/s", .interval = "±0.39"},
                                        {.text = "13.3 %", .interval = ""},
                                        {.text = "int8", .interval = ""},
                                        {.text = "9.31 ms", .interval = "±0.12"},
                                        {.text = "9.20 ms", .interval = ""},
                                        {.text = "6.28 GB/s", .interval = "±1.10"},
                                        {.text = "10.3 %", .interval = ""}};
    const struct ifm_grid grid = {.headings = headings, .n_columns = 5, .fields = fields, .n_rows = 2};
    static const char expected[] = "arm                   time      p50\n"
                                   "f16   16.5 ms [11.4, 23.7]  18.1 ms\n"
                                   "int8  9.31 ms ±0.12         9.20 ms\n"
                                   "\n"
                                   "arm              read  of ceiling\n"
                                   "f16   8.15 GB/s ±0.39      13.3 %\n"
                                   "int8  6.28 GB/s ±1.10      10.3 %\n";
    struct ifm_arena *arena = ifm_arena_create();
    for (size_t width = 37; width <= 52;
         width += 15) { /* in the wider one "read" would fit, and leave one column alone */
        struct ifm_text text = {0};
        setlocale(LC_CTYPE, "C.UTF-8");
        ifm_paint_terminal_grid(&grid, width, arena, &text);
        assert_string_equal(text.data, expected);
        ifm_text_free(&text);
    }
    ifm_arena_destroy(arena);
}

static void report_md_holds_everything(void **state)
{
    (void)state;
    char *text = composed(many, COUNT(many), true);
    for (size_t i = 0; i < COUNT(many); i++)
        assert_has(text, many[i].text);
    static const char *const parts[] = {
        "### Findings\n\n- **invalid** ",
        "- **note** ",
        "### Checklists\n",
        "<details><summary>Environment lock (",
        "<details><summary>Final checklist (",
        "<details><summary>Validation checklist (",
        "inferometer rerun DIR",
        "inferometer verify DIR",
        "| run | a1b2c3d4e5f6 |\n",
        "### Limits",
        "Absent numbers: ",
    };
    for (size_t i = 0; i < COUNT(parts); i++)
        assert_has(text, parts[i]);
    assert_line(text, "| GPU locked| absent |");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warnings_are_shown_and_notes_are_counted),
        cmocka_unit_test(other_names_are_another_kind),
        cmocka_unit_test(few_findings_are_all_shown),
        cmocka_unit_test(a_long_warning_is_said_to_its_end),
        cmocka_unit_test(rows_stay_whole_where_a_table_is_split),
        cmocka_unit_test(report_md_holds_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
