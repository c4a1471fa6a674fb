/* The doors: a hostile name stays a name, in every medium, alone and in a whole document. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "document/escape.h"
#include "publish/compose.h"
#include "publish/junit.h"
#include "publish/summary.h"
#include "publish_sample.h"

static struct ifm_error error;

/* ESC ] 0 ; BEL sets a title; C1 CSI; overrides of direction; a byte that is no UTF-8; markup; formula; a new line. */
#define HOSTILE                                                                                                        \
    "=HYPERLINK(\"http://x\")\033]0;owned\a\xc2\x9b"                                                                   \
    "31m\xe2\x80\xae\xe2\x81\xa6\xff<script>alert('1')</script>\r\n# x | ](javascript:1) `y`"

static char *through(void (*door)(const char *, struct ifm_text *), const char *text)
{
    struct ifm_text out = {0};
    ifm_text_add(&out, "");
    door(text, &out);
    return out.data == NULL ? strdup("") : out.data;
}

static void terminal(const char *text, struct ifm_text *out)
{
    ifm_escape_terminal(text, true, out);
}

static void ascii(const char *text, struct ifm_text *out)
{
    ifm_escape_terminal(text, false, out);
}

static void expect(void (*door)(const char *, struct ifm_text *), const char *text, const char *wanted)
{
    char *got = through(door, text);
    assert_string_equal(got, wanted);
    free(got);
}

static void each_door_has_its_own_key(void **state)
{
    (void)state;
    expect(terminal,
           "a\033[31mb\xc2\x9b"
           "c\xe2\x80\xae\xff\tµ±\n",
           "a?[31mb?c?? µ± ");
    expect(ascii, "µ± … é", "u+- ... ?");
    expect(ifm_escape_markdown, "# a|b*c_d`e<f>\\g\nh", "\\# a\\|b\\*c\\_d\\`e\\<f\\>\\\\g h");
    expect(ifm_escape_markdown, "[x](javascript:1) [1.2, 3.4] [y]: z", "[x\\](javascript:1) [1.2, 3.4] [y\\]: z");
    expect(ifm_escape_markdown_code, "rm `x`", "rm \\`x\\`");
    expect(ifm_escape_markdown_code, "a\nb", "`a b`");
    expect(ifm_escape_html, "<b a=\"1\" c='2'>&\033\xe2\x80\xae</b>",
           "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;??&lt;/b&gt;");
    expect(ifm_escape_xml, "a\tb\n<&>\001\xed\xa0\x80", "a&#9;b&#10;&lt;&amp;&gt;????");
    expect(ifm_escape_csv, "=1+1", "'=1+1");
    expect(ifm_escape_csv, "@x, \"y\"", "\"'@x, \"\"y\"\"\"");
    expect(ifm_escape_csv, "--energy", "'--energy");
    expect(ifm_escape_csv, "a=b", "a=b");
}

/* The sample run with hostile names in every place that outside text reaches. */
static struct ifm_publication hostile(void)
{
    static struct ifm_arm arms[] = {
        {.name = HOSTILE, .role = IFM_ROLE_BASELINE, .workload = "decode", .variant = ""},
        {.name = "v" HOSTILE, .role = IFM_ROLE_VARIANT, .workload = "decode", .variant = ""}};
    static struct ifm_cell cell = {.name = HOSTILE, .workload = HOSTILE, .unsupported = "", .arms = arms, .n_arms = 2};
    static struct ifm_number numbers[] = {
        {HOSTILE, HOSTILE, IFM_M_STEP_NS, RATE(1000, 990, 1010)},
        {HOSTILE, "v" HOSTILE, IFM_M_STEP_NS, WORD(IFM_STATE_REFUSED, HOSTILE, HOSTILE)},
        {HOSTILE, "v" HOSTILE, IFM_M_SPEEDUP, WORD(IFM_STATE_ABSENT, HOSTILE, "")},
    };
    static struct ifm_finding findings[] = {{IFM_SEVERITY_WARNING, HOSTILE, HOSTILE, HOSTILE, HOSTILE, .kind = 0}};
    static struct ifm_plan plan;
    static struct ifm_derived derived;
    static struct ifm_gate gates[] = {{.name = HOSTILE, .metric = HOSTILE, .op = IFM_GATE_AT_MOST}};
    static struct ifm_gate_result results[] = {{.gate = gates, .cell = HOSTILE, .arm = HOSTILE, .reason = HOSTILE}};
    static const char *reasons[] = {HOSTILE}, *causes[] = {HOSTILE};
    static struct ifm_verdict verdict;
    struct ifm_publication publication = sample_publication(NULL);
    sample_fill(numbers, COUNT(numbers));
    plan = sample_plan;
    plan.run_id = plan.device = HOSTILE;
    plan.cells = &cell;
    plan.n_cells = 1;
    derived = (struct ifm_derived){.run_id = HOSTILE,
                                   .config_hash = HOSTILE,
                                   .numbers = numbers,
                                   .n_numbers = COUNT(numbers),
                                   .findings = findings,
                                   .n_findings = 1};
    results[0].observed = numbers[1].value;
    results[0].outcome = IFM_OUTCOME_FAIL;
    verdict = (struct ifm_verdict){.outcome = IFM_OUTCOME_FAIL,
                                   .gates = results,
                                   .n_gates = 1,
                                   .reasons = reasons,
                                   .n_reasons = 1,
                                   .rollback = true,
                                   .rollback_to = HOSTILE,
                                   .rollback_advice = HOSTILE,
                                   .rca = causes,
                                   .n_rca = 1};
    publication.plan = &plan;
    publication.derived = &derived;
    publication.verdict = &verdict;
    return publication;
}

/* Nothing that a terminal or a browser acts on unseen; `colour`: our own escape sequences are allowed. */
static void expect_harmless(const struct ifm_text *text, bool colour)
{
    static const char *const never[] = {"\a", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\xff", "\r", "\033]"};
    assert_non_null(text->data);
    for (size_t i = 0; i < COUNT(never); i++)
        if (strstr(text->data, never[i]) != NULL)
            fail_msg("case %zu stands in:\n%.4000s", i, text->data);
    if (!colour)
        assert_null(strchr(text->data, '\033'));
}

/* Does `part` stand without a backslash in front? */
static bool has_bare(const char *text, const char *part)
{
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        if (at == text || at[-1] != '\\')
            return true;
    return false;
}

static void no_painter_lets_it_through(void **state)
{
    (void)state;
    struct ifm_publication publication = hostile();
    struct ifm_text text = {0};
    for (int colour = 0; colour < 2; colour++) {
        ifm_text_clear(&text);
        assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_ALWAYS, colour, true, &text, &error), IFM_OK);
        expect_harmless(&text, colour);
    }
    ifm_text_clear(&text);
    assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_FOLDED, false, true, &text, &error), IFM_OK);
    expect_harmless(&text, false);
    assert_false(has_bare(text.data, "<script"));
    assert_null(strstr(text.data, "x | "));
    assert_null(strstr(text.data, "\n# x"));
    assert_null(strstr(text.data, " ](javascript"));
    ifm_text_clear(&text);
    assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_PAGE, false, true, &text, &error), IFM_OK);
    expect_harmless(&text, false);
    char *own = strstr(text.data, "<script>"); /* the page has one script, its own, at its end */
    assert_non_null(own);
    assert_null(strstr(own + 1, "<script>"));
    assert_null(strstr(text.data, "alert('1')"));
    ifm_text_clear(&text);
    ifm_compose_csv(&publication, &text);
    expect_harmless(&text, false);
    assert_null(strstr(text.data, ",=")); /* no field begins as a formula, quoted or not */
    assert_null(strstr(text.data, "\"="));
    ifm_text_clear(&text);
    ifm_summary_compose(&publication, &text);
    expect_harmless(&text, false);
    ifm_text_free(&text);
}

static void no_listing_lets_it_through(void **state)
{
    (void)state;
    struct ifm_publication publication = hostile();
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_gate_lines lines = {0};
    struct ifm_text text = {0};
    const struct ifm_run_view run = {publication.plan, publication.derived, publication.events};
    ifm_gate_lines_run(&run, publication.verdict, arena, &lines);
    struct ifm_listing listing = ifm_gate_lines_listing(&lines, arena);
    static const enum ifm_format formats[] = {IFM_FORMAT_TABLE, IFM_FORMAT_MD, IFM_FORMAT_CSV};
    for (size_t i = 0; i < COUNT(formats); i++) {
        ifm_text_clear(&text);
        ifm_listing_compose(&listing, formats[i], &text);
        expect_harmless(&text, false);
        assert_true(formats[i] != IFM_FORMAT_CSV || strstr(text.data, "\n=") == NULL);
        assert_true(formats[i] != IFM_FORMAT_MD || !has_bare(text.data, "<script"));
    }
    ifm_text_clear(&text);
    ifm_gate_lines_junit(&lines, publication.derived->run_id, &text);
    expect_harmless(&text, false);
    assert_null(strstr(text.data, "<script"));
    ifm_listing_end(&listing);
    ifm_text_free(&text);
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_door_has_its_own_key),
        cmocka_unit_test(no_painter_lets_it_through),
        cmocka_unit_test(no_listing_lets_it_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
