/* The page's own parts: the script's hash, checklists and advice, the table of every number, the first screen. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/file.h"
#include "facts.h"
#include "publish/compose.h"
#include "publish/paint/html.h"
#include "publish_sample.h"
#include <openssl/evp.h>

static struct ifm_error error;

static void assert_has(const char *text, const char *part)
{
    if (text == NULL || strstr(text, part) == NULL)
        fail_msg("\"%s\" is missing in:\n%s", part, text == NULL ? "" : text);
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("\"%s\" must not stand in:\n%s", part, text);
}

/* The same hash by another way: the library's digest and the library's base64. */
static void the_policy_names_the_scripts_hash(void **state)
{
    (void)state;
    const char *script = ifm_html_script();
    unsigned char digest[EVP_MAX_MD_SIZE], base64[64];
    unsigned size = 0;
    assert_true(strlen(script) > 1000 && strlen(script) <= 30 * 1024);
    assert_lacks(script, "</script");
    assert_int_equal(EVP_Digest(script, strlen(script), digest, &size, EVP_sha256(), NULL), 1);
    EVP_EncodeBlock(base64, digest, (int)size);
    struct ifm_text source = {0}, wanted = {0};
    ifm_html_script_source(&source);
    ifm_text_printf(&wanted, "'sha256-%s'", base64);
    assert_string_equal(source.data, wanted.data);
    ifm_text_free(&source);
    ifm_text_free(&wanted);
}

/* A document with one section, painted. */
static char *painted(struct ifm_block *section, struct ifm_arena *arena)
{
    struct ifm_block verdict = {.kind = IFM_BLOCK_SECTION, .next = section, .title = "", .subtitle = "", .id = ""};
    const struct ifm_document document = {
        .arena = arena, .derived = &sample_derived, .plan = &sample_plan, .title = "", .root = {.first = &verdict}};
    struct ifm_text html = {0};
    ifm_paint_html(&document, &html);
    return html.data;
}

/* Painted as it was built: heading, fold, every field escaped. */
static void a_fold_holds_its_table(void **state)
{
    (void)state;
    struct ifm_heading headings[] = {
        {"asks for", IFM_M_NONE, true, 0}, {"answer", IFM_M_NONE, true, 0}, {"found", IFM_M_NONE, true, 0}};
    struct ifm_field fields[] = {
        {.text = "at most 5 % & no more", .interval = "", .tone = IFM_TONE_PLAIN},
        {.text = "not met", .interval = "", .tone = IFM_TONE_BAD},
        {.text = "7.2 % (<int4>). Remedy: raise --warmup", .interval = "", .tone = IFM_TONE_PLAIN}};
    struct ifm_block grid = {.kind = IFM_BLOCK_GRID,
                             .grid = {headings, 3, fields, 1, IFM_GRID_CHECKS, "Environment lock", NULL}};
    struct ifm_block fold = {.kind = IFM_BLOCK_SECTION,
                             .id = "checklist-<a>",
                             .title = "Environment lock: 1 of 3 met",
                             .subtitle = "",
                             .folded = true,
                             .first = &grid};
    struct ifm_block section = {
        .kind = IFM_BLOCK_SECTION, .id = "checklists", .title = "Check<lists>", .subtitle = "", .first = &fold};
    struct ifm_arena *arena = ifm_arena_create();
    char *html = painted(&section, arena);
    assert_has(html, "<section id=\"checklists\"><h2>Check&lt;lists&gt;</h2>");
    assert_has(html, "<details id=\"checklist-&lt;a&gt;\"><summary><h3>Environment lock: 1 of 3 met</h3></summary>");
    assert_has(html, "at most 5 % &amp; no more<");
    assert_has(html, "<span class=\"value bad\">not met</span>");
    assert_has(html, "7.2 % (&lt;int4&gt;). Remedy: raise --warmup");
    free(html);
    ifm_arena_destroy(arena);
}

/* ---- every number ---- */

static char *numbers_part(const struct ifm_publication *publication)
{
    struct ifm_text html = {0};
    assert_int_equal(ifm_compose_document(publication, IFM_LEVEL_PAGE, false, true, &html, &error), IFM_OK);
    const char *begin = strstr(html.data, "<section id=\"numbers\">"), *end = strstr(begin, "</section>");
    assert_non_null(begin);
    char *part = strndup(begin, (size_t)(end - begin));
    ifm_text_free(&html);
    return part;
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        n++;
    return n;
}

/* Arms stand beside each other; a metric that only the second has takes its place between those of the first. */
static void every_number_stands_in_its_line_and_column(void **state)
{
    (void)state;
    struct ifm_arm arms[] = {{.name = "a", .role = IFM_ROLE_BASELINE},
                             {.name = "b", .role = IFM_ROLE_VARIANT},
                             {.name = "probe", .role = IFM_ROLE_CEILING, .ceiling = IFM_CEILING_READ}};
    struct ifm_cell cell = {
        .name = "one", .workload = "decode", .arms = arms, .n_arms = COUNT(arms), .unsupported = ""};
    struct ifm_number numbers[] = {
        {"one", "a", IFM_M_STEP_NS, {.number = 1234, .n = 60, .n_of = "samples"}},
        {"one", "a", IFM_M_OUTLIERS_COUNT, {.number = 2, .unit = "count", .n = 60, .n_of = "samples"}},
        {"one", "b", IFM_M_STEP_NS, {.number = 2345, .n = 72, .n_of = "samples"}},
        {"one", "b", IFM_M_SPEEDUP, {.number = 0.52, .unit = "1", .text = "baseline at <9> %"}},
        {"one", "b", IFM_M_CHANGE_PERCENT, {.number = 92, .unit = "%", .text = "slower"}},
        {"one", "b", IFM_M_OUTLIERS_COUNT, {.state = IFM_STATE_ABSENT, .reason = "too <few>", .remedy = "more"}},
        {"one", "probe", IFM_M_STEP_NS, {.state = IFM_STATE_REFUSED, .reason = "too <few>", .remedy = "more"}},
    };
    numbers[0].value.unit = numbers[2].value.unit = "ns";
    sample_fill(numbers, COUNT(numbers));
    struct ifm_plan plan = sample_plan;
    plan.cells = &cell;
    plan.n_cells = 1;
    struct ifm_derived derived = sample_derived;
    derived.numbers = numbers;
    derived.n_numbers = COUNT(numbers);
    struct ifm_publication publication = sample_publication(NULL);
    publication.plan = &plan;
    publication.derived = &derived;
    char *part = numbers_part(&publication);
    assert_has(part, "Every number (7)");
    assert_int_equal(count_of(part, "<table"), 1); /* those of a probe stand in the files */
    assert_has(part, "the probes of ceilings (1) stand in the files");
    assert_has(part, "<th scope=\"col\">a<th scope=\"col\">b<tbody>");
    assert_has(part, "<th>step_ns<td>60, 72 samples<td>1.23 µs<td>2.35 µs\n");
    assert_has(part, "<th>speedup<td><td><td>0.520 <a href=\"#why-1\">1</a>\n");
    assert_has(part, ">change_percent</a><td><td><td>92.0 % slower\n");
    assert_has(part, ">outliers_count</a><td>60 samples<td>2.00<td>absent <a href=\"#why-2\">2</a>\n");
    assert_int_equal(count_of(part, "<li id=\"why-"), 2);
    assert_has(part, "<li id=\"why-1\">baseline at &lt;9&gt; %<");
    assert_has(part, "<li id=\"why-2\">too &lt;few&gt;. Remedy: more<");
    assert_true(strstr(part, ">step_ns<") < strstr(part, ">speedup<"));
    assert_true(strstr(part, ">speedup<") < strstr(part, ">change_percent</a>"));
    assert_true(strstr(part, ">change_percent</a>") < strstr(part, ">outliers_count</a>"));
    free(part);
}

/* Every number of a larger run has its field: as many as there are, and of many arms none is left out. */
static void no_number_is_lost(void **state)
{
    (void)state;
    enum { ARMS = 19, METRICS = 21 };
    static struct ifm_arm arms[ARMS];
    static struct ifm_number numbers[ARMS * METRICS];
    static char names[ARMS][16];
    for (size_t a = 0; a < ARMS; a++) {
        snprintf(names[a], sizeof names[a], "arm%zu", a);
        arms[a] = (struct ifm_arm){.name = names[a], .role = a == 0 ? IFM_ROLE_BASELINE : IFM_ROLE_VARIANT};
        for (size_t m = 0; m < METRICS; m++)
            numbers[a * METRICS + m] = (struct ifm_number){
                "one", names[a], (enum ifm_metric_id)(m + 1), {.number = (double)(1000 + a * METRICS + m)}};
    }
    sample_fill(numbers, COUNT(numbers));
    for (size_t i = 0; i < COUNT(numbers); i++)
        numbers[i].value.unit = "count";
    struct ifm_cell cell = {.name = "one", .workload = "decode", .arms = arms, .n_arms = ARMS, .unsupported = ""};
    struct ifm_plan plan = sample_plan;
    plan.cells = &cell;
    plan.n_cells = 1;
    struct ifm_derived derived = sample_derived;
    derived.numbers = numbers;
    derived.n_numbers = COUNT(numbers);
    struct ifm_publication publication = sample_publication(NULL);
    publication.plan = &plan;
    publication.derived = &derived;
    char *part = numbers_part(&publication), wanted[32];
    for (size_t i = 0; i < COUNT(numbers); i++) {
        snprintf(wanted, sizeof wanted, "<td>%zu", 1000 + i);
        if (count_of(part, wanted) != 1)
            fail_msg("%s stands %zu times", wanted, count_of(part, wanted));
    }
    free(part);
}

/* ---- findings ---- */

static char *findings_part(const struct ifm_finding *findings, size_t n)
{
    struct ifm_derived derived = sample_derived;
    derived.findings = (struct ifm_finding *)findings;
    derived.n_findings = n;
    struct ifm_publication publication = sample_publication(NULL);
    publication.derived = &derived;
    struct ifm_text html = {0};
    assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_PAGE, false, true, &html, &error), IFM_OK);
    const char *begin = strstr(html.data, "<section id=\"findings\">");
    char *part = begin == NULL ? NULL : strndup(begin, (size_t)(strstr(begin, "</section>") - begin));
    ifm_text_free(&html);
    return part;
}

/* One entry a rule, the gravest first and with what it touches; the others of the rule are folded behind it. */
static void findings_stand_by_cause(void **state)
{
    (void)state;
    const struct ifm_finding findings[] = {
        {IFM_SEVERITY_NOTE, "rule-08", "", "", "a <note>", .kind = 0},
        {IFM_SEVERITY_WARNING, "rule-07", D, "half", "it drifts", .kind = 0},
        {IFM_SEVERITY_NOTE, "rule-07", D, "", "cut short", .kind = 0},
    };
    char *part = findings_part(findings, COUNT(findings));
    assert_non_null(part);
    const char *drifts = strstr(part, "it drifts"), *cut = strstr(part, "cut short"),
               *note = strstr(part, "a &lt;note&gt;");
    assert_true(drifts != NULL && cut != NULL && note != NULL && drifts < cut && cut < note);
    assert_has(part, "<details id=\"finding-rule-07\"><summary><h3>1 more: load, drift and steadiness</h3>");
    assert_null(strstr(part, "finding-rule-08")); /* it is alone */
    assert_null(strstr(part, "ouches ")); /* one of a baseline touches each of its cell, which tells none apart */
    free(part);
    const struct ifm_finding one = {IFM_SEVERITY_WARNING, "rule-02", D, "packed", "undecided", .takes_word = true};
    part = findings_part(&one, 1);
    assert_facts(strstr(part, "Touches"), "packed against");
    free(part);
}

static void at_most_five_causes_are_in_sight(void **state)
{
    (void)state;
    static const char *const rules[] = {"rule-01", "rule-02", "rule-03", "rule-05", "rule-07", "rule-08", "rule-10"};
    struct ifm_finding findings[COUNT(rules)];
    for (size_t i = 0; i < COUNT(rules); i++)
        findings[i] = (struct ifm_finding){IFM_SEVERITY_WARNING, rules[i], "", "", "doubtful", .kind = 0};
    char *part = findings_part(findings, COUNT(findings));
    char *fold = strstr(part, "<details id=\"finding-more\">");
    assert_non_null(fold);
    assert_has(fold, "2 more causes");
    assert_int_equal(count_of(fold, "doubtful"), 2);
    assert_int_equal(count_of(part, "doubtful"), COUNT(rules));
    free(part);
}

/* A step of decode is one layer, however many a model has. */
static void layers_of_a_model_are_counted_and_not_measured(void **state)
{
    (void)state;
    for (unsigned layers = 1; layers <= 32; layers += 31) {
        struct ifm_publication publication = sample_publication(NULL);
        struct ifm_plan plan = sample_plan;
        struct ifm_cell cells[COUNT(sample_cells)];
        struct ifm_arm arms[COUNT(sample_arms)];
        memcpy(cells, sample_cells, sizeof cells);
        memcpy(arms, sample_arms, sizeof arms);
        arms[0].ledger.layers = layers;
        arms[0].ledger.tokens_generated = 4;
        cells[0].arms = arms;
        plan.cells = cells;
        publication.plan = &plan;
        struct ifm_text html = {0};
        assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_PAGE, false, true, &html, &error), IFM_OK);
        assert_has(html.data, layers == 1
                                  ? "Measured: 1 attention layer, generated data, not a whole model: "
                                  : "Measured: one attention layer at a time, counted 32 times, generated data, not a "
                                    "whole model: ");
        ifm_text_free(&html);
    }
}

/* ---- the first screen ---- */

enum { LEAD_CELLS = 7, LEAD_NUMBERS = 12 };

static struct ifm_number lead_numbers[LEAD_NUMBERS];
static struct ifm_cell lead_cells[LEAD_CELLS];

/* Seven cells of f16 and int4; only the first has numbers: int4 is faster, "exact" is not, and owes nothing. */
static char *lead_of(size_t n_cells)
{
    static struct ifm_arm arms[] = {{.name = "f16", .role = IFM_ROLE_BASELINE},
                                    {.name = "int4", .role = IFM_ROLE_VARIANT, .lossy = true},
                                    {.name = "lossy", .role = IFM_ROLE_VARIANT, .lossy = true},
                                    {.name = "same", .role = IFM_ROLE_VARIANT}};
    static const char *const names[] = {"c1", "c2", "c3", "c4", "c5", "c6", "c7"};
    const struct ifm_number numbers[LEAD_NUMBERS] = {
        {"c1", "int4", IFM_M_SPEEDUP, {.number = 1.53, .low = 1.19, .high = 1.96, .has_interval = true, .level = 0.95}},
        {"c1", "int4", IFM_M_CHANGE_PERCENT, {.number = -34, .text = "faster"}},
        {"c1", "int4", IFM_M_BYTES_RATIO, {.number = 1.9}},
        {"c1", "int4", IFM_M_LOSS_RMS_REL, {.number = 0.008}},
        {"c1", "lossy", IFM_M_SPEEDUP, {.number = 0.9, .text = "baseline at 60 % of its read ceiling"}},
        {"c1", "lossy", IFM_M_CHANGE_PERCENT, {.number = 11, .text = "slower"}},
        {"c1",
         "lossy",
         IFM_M_BANDWIDTH_BYTES_PER_S,
         {.state = IFM_STATE_REFUSED, .reason = "rule-03: 133 % of the <ceiling>"}},
        {"c1", "same", IFM_M_SPEEDUP, {.state = IFM_STATE_REFUSED, .reason = "rule-03: <too fast>"}},
        {"c1", "same", IFM_M_ERROR_RMS_REL, {.number = 0.00021}},
        {"c2", "f16", IFM_M_STEP_NS, {.number = 5000, .unit = "ns"}},
        {"c2", "int4", IFM_M_STEP_NS, {.state = IFM_STATE_ABSENT, .reason = "no sample", .unit = "ns"}},
        {"c3", "int4", IFM_M_CHANGE_PERCENT, {.number = 0, .text = "undecided"}},
    };
    memcpy(lead_numbers, numbers, sizeof numbers);
    for (size_t i = 0; i < LEAD_NUMBERS; i++)
        if (lead_numbers[i].value.unit == NULL)
            lead_numbers[i].value.unit = "1";
    sample_fill(lead_numbers, LEAD_NUMBERS);
    for (size_t i = 0; i < LEAD_CELLS; i++)
        lead_cells[i] = (struct ifm_cell){.name = names[i],
                                          .workload = i < 2 ? "decode" : "gemm",
                                          .arms = arms,
                                          .n_arms = COUNT(arms),
                                          .unsupported = i == 2 ? "no <such> unit" : ""};
    struct ifm_plan plan = sample_plan;
    plan.cells = lead_cells;
    plan.n_cells = n_cells;
    struct ifm_derived derived = sample_derived;
    derived.numbers = lead_numbers;
    derived.n_numbers = LEAD_NUMBERS;
    struct ifm_publication publication = sample_publication(NULL);
    publication.plan = &plan;
    publication.derived = &derived;
    struct ifm_text html = {0};
    assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_PAGE, false, true, &html, &error), IFM_OK);
    char *end = strstr(html.data, "<section id=\"cell-1\">"); /* in front of it: the first screen, and the list */
    assert_non_null(end);
    char *part = strndup(html.data, (size_t)(end - html.data));
    ifm_text_free(&html);
    return part;
}

/* The line of `part` that begins with `start`. */
static const char *line_of(const char *part, const char *start)
{
    static char line[2048];
    const char *at = strstr(part, start);
    assert_non_null(at);
    assert_true(at > part && at[-1] == '\n');
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

static void the_first_screen_says_the_outcome_with_its_price(void **state)
{
    (void)state;
    char *part = lead_of(3);
    assert_facts(part, "<h1>decode + gemm|Example CPU @ 2.10 GHz</h1>");
    assert_has(part, "<a href=\"#cell-1\">c1</a>");
    assert_facts(line_of(part, "<li class=\"said good\"><b>int4</b>"),
                 "<strong>1.53x faster</strong>|[1.19, 1.96]|f16|1.90x|error 0.800 %</strong>");
    assert_facts(line_of(part, "<li class=\"said bad\"><b>lossy</b>"),
                 "<strong>slower</strong>|0.900x|f16|not recorded</strong>|60 %|"
                 "<span class=\"bad\">|refused|rule-03: 133 % of the &lt;ceiling&gt;<");
    assert_facts(line_of(part, "<li class=\"said dim\"><b>same</b>"),
                 "f16|refused|rule-03: &lt;too fast&gt;|<strong>kernel error 2.1e-4<");
    assert_has(part, "<li class=\"said \"><b>f16</b>: 5.00 µs");
    assert_facts(line_of(part, "<li class=\"said \"><b>int4</b>"), "absent|no sample");
    assert_has(part, "<li>absent: no &lt;such&gt; unit</li>");
    assert_facts(line_of(part, "<p class=\"trust bad\">"),
                 "do not use|decode kv_len=4096, packed|<a href=\"#findings\">|warning</a>");
    assert_has(part, "The read rate exceeds the measured ceiling (rule-03)."); /* the finding has the rest */
    assert_has(part, "<code>inferometer rerun . --out ../again</code> measures it again. Where the shell finds no");
    assert_lacks(part, "MEASURED");
    assert_facts(line_of(part, "<p class=\"words\">"), "95 % intervals");
    assert_lacks(part, " comparisons ");
    free(part);
}

static void many_cells_are_counted_and_listed(void **state)
{
    (void)state;
    char *part = lead_of(LEAD_CELLS);
    assert_facts(line_of(part, "<p>3 comparisons"), "1 faster|1 slower|0 equivalent|1 undecided");
    const char *contents = strstr(part, "Cells (7)</h2>");
    assert_non_null(contents);
    assert_has(contents, "<b>int4</b> is <strong>1.53x faster");
    assert_has(contents, "<a href=\"#cell-7\">c7</a>");
    assert_true(strstr(part, "1.53x faster") > contents);
    free(part);
}

/* Who follows a word of the contents finds it as the heading. */
static void contents_are_headings(void **state)
{
    (void)state;
    struct ifm_publication publication = sample_publication(NULL);
    struct ifm_text html = {0};
    char id[64], word[64], heading[128];
    size_t n = 0;
    assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_PAGE, false, true, &html, &error), IFM_OK);
    const char *bar = strstr(html.data, "<nav class=\"bar"), *end = strstr(bar, "</nav>");
    for (const char *at = bar; (at = strstr(at, "<a href=\"#")) != NULL && at < end; at++, n++) {
        assert_int_equal(sscanf(at, "<a href=\"#%63[^\"]\">%63[^<]", id, word), 2);
        snprintf(heading, sizeof heading, " id=\"%s\"", id);
        const char *place = strstr(html.data, heading);
        assert_non_null(place);
        snprintf(heading, sizeof heading, "<h2>%s", word);
        const char *first = strstr(place, "<h2>");
        if (strcmp(id, "answer") != 0 && (first == NULL || strncmp(first, heading, strlen(heading)) != 0))
            fail_msg("contents say \"%s\" of: %.80s", word, place);
    }
    assert_true(n >= 8);
    assert_has(bar, ">Details</a>");
    assert_has(bar, ">Every number</a>");
    ifm_text_free(&html);
}

/* ---- the manual ---- */

/* Ids of the page's sections; those of cells are one. */
static size_t sections_of(const struct ifm_publication *publication, struct ifm_arena *arena, const char *ids[],
                          size_t n)
{
    struct ifm_document *document;
    assert_int_equal(ifm_document_build(publication, IFM_LEVEL_PAGE, arena, &document, &error), IFM_OK);
    for (const struct ifm_block *section = document->root.first; section != NULL; section = section->next) {
        const char *id = strncmp(section->id, "cell-", 5) == 0 ? "cell-1" : section->id;
        bool known = id[0] == '\0'; /* the verdict */
        for (size_t i = 0; i < n; i++)
            known |= strcmp(ids[i], id) == 0;
        if (!known)
            ids[n++] = id;
    }
    return n;
}

/* docs/report.md has a row for each section, and none for others. */
static void the_manual_knows_every_section(void **state)
{
    (void)state;
    enum { MOST = 64 };
    const char *ids[MOST];
    char *manual = NULL, row[64];
    size_t size, rows = 0;
    assert_int_equal(ifm_file_read("docs/report.md", 1 << 20, &manual, &size, &error), IFM_OK);
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_publication publication = sample_publication(NULL);
    struct ifm_triage_line triage = {.cell = D, .arm = "half", .text = "nothing else"};
    struct ifm_class_label label = {.cell = D, .arm = "half", .title = "speed", .label = "good"};
    struct ifm_verdict verdict = sample_verdict;
    verdict.triage = &triage;
    verdict.classes = &label;
    verdict.n_triage = verdict.n_classes = 1;
    publication.verdict = &verdict;
    size_t n = sections_of(&publication, arena, ids, 0);
    struct ifm_cell cells[7];
    for (size_t i = 0; i < COUNT(cells); i++)
        cells[i] = sample_cells[2];
    struct ifm_plan plan = sample_plan;
    plan.cells = cells;
    plan.n_cells = COUNT(cells);
    publication.plan = &plan;
    n = sections_of(&publication, arena, ids, n);
    for (const char *line = manual; line != NULL; line = strchr(line, '\n') == NULL ? NULL : strchr(line, '\n') + 1)
        rows += strncmp(line, "| `", 3) == 0;
    bool advised = false;
    for (size_t i = 0; i < n; i++) {
        snprintf(row, sizeof row, "\n| `%s` ", ids[i]);
        assert_has(manual, row);
        advised |= strcmp(ids[i], "advice") == 0;
    }
    assert_int_equal(rows, n + !advised); /* nothing can be advised of the sample */
    assert_int_equal(strncmp(manual, "# The report\n", 13), 0);
    free(manual);
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_policy_names_the_scripts_hash),
        cmocka_unit_test(a_fold_holds_its_table),
        cmocka_unit_test(every_number_stands_in_its_line_and_column),
        cmocka_unit_test(no_number_is_lost),
        cmocka_unit_test(findings_stand_by_cause),
        cmocka_unit_test(layers_of_a_model_are_counted_and_not_measured),
        cmocka_unit_test(at_most_five_causes_are_in_sight),
        cmocka_unit_test(the_first_screen_says_the_outcome_with_its_price),
        cmocka_unit_test(many_cells_are_counted_and_listed),
        cmocka_unit_test(contents_are_headings),
        cmocka_unit_test(the_manual_knows_every_section),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
