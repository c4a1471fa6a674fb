/* The formats: one set of field names, honest states, no number where there is none. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "facts.h"
#include "publish/compose.h"
#include "publish_sample.h"
#include <locale.h>
#include <math.h>

static struct ifm_error error;

/* What ifm_publish_table writes; the caller frees. */
static char *table(enum ifm_format format, bool colour)
{
    struct ifm_publication publication = sample_publication(NULL);
    char *data = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&data, &size);
    assert_int_equal(ifm_publish_table(&publication, &(struct ifm_table_look){format, colour, true, 0}, out, &error),
                     IFM_OK);
    fclose(out);
    if (getenv("IFM_TEST_SHOW") != NULL)
        fputs(data, stderr);
    return data;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is missing in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("\"%s\" must not stand in:\n%s", part, text);
}

static void table_shows_every_state(void **state)
{
    (void)state;
    char *text = table(IFM_FORMAT_TABLE, false);
    char outcome[128], remedy[128];
    snprintf(outcome, sizeof outcome, "BLOCKED  %.26s", sample_reasons[0]);
    snprintf(remedy, sizeof remedy, "Remedy: %s", sample_numbers[COUNT(sample_numbers) - 1].value.remedy);
    assert_ptr_equal(strstr(text, outcome), text);
    assert_facts(text, "decode kv_len=4096  8 threads|±0.3 %");
    assert_has(text, "412.3 µs");
    assert_has(text, "±0.8");
    assert_has(text, "faster 1.94x");
    assert_has(text, "[1.92, 1.96]");
    assert_has(text, half_limit);
    assert_facts(text, "Roll back|to plain.");
    assert_has(text, "environment: The governor is not locked: arms of this run");
    assert_has(text, "slower 0.888x");
    assert_has(text, "32 KiB [32, 64]");
    assert_has(text, "undecided 0.999x");
    assert_has(text, "refused");
    assert_has(text, "inactive");
    assert_has(text, "baseline");
    assert_has(text, "(best of 3: read.linear)");
    assert_has(text, sample_cells[2].unsupported);
    assert_has(text, remedy);
    assert_has(text, rule_3);
    assert_has(text, "invalid: decode kv_len=4096, packed:");
    assert_true(strstr(text, "invalid: ") < strstr(text, "warning: ") &&
                strstr(text, "warning: ") < strstr(text, "note: "));
    assert_lacks(text, "nan");
    assert_lacks(text, "\033");
    assert_lacks(text, "\\x");
    free(text);
}

static void table_fits_a_hundred_columns(void **state)
{
    (void)state;
    char *text = table(IFM_FORMAT_TABLE, false);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t width = mbstowcs(NULL, line, 0);
        assert_true(width != (size_t)-1);
        if (width > 100)
            fail_msg("%zu columns: %s", width, line);
        assert_true(line[0] == '\0' || line[strlen(line) - 1] != ' ');
    }
    free(text);
}

/* However wide a table is, each of its columns stands once, and each part names its rows. */
static void a_wide_table_has_each_column_once(void **state)
{
    (void)state;
    const char *name = sample_gates[0].name;
    sample_gates[0].name = "a gate of a name that is longer than anybody would have thought a name could ever be";
    char *text = table(IFM_FORMAT_TABLE, false), *gates = strstr(text, "\nGates\n"),
         *end = gates == NULL ? NULL : strstr(gates, "\ndecode ");
    sample_gates[0].name = name;
    assert_non_null(end);
    *end = '\0';
    static const char *const headings[] = {" where", " wanted", " observed", " outcome"};
    for (size_t i = 0; i < COUNT(headings); i++) {
        const char *first = strstr(gates, headings[i]);
        assert_non_null(first);
        assert_null(strstr(first + 1, headings[i]));
        const char *row = strstr(first, "a gate of a name");
        assert_non_null(row);
    }
    free(text);
}

static void table_has_colour_only_when_asked(void **state)
{
    (void)state;
    char *text = table(IFM_FORMAT_TABLE, true);
    assert_has(text, "\033[32m");
    assert_has(text, "\033[0m");
    free(text);
}

static void table_is_ascii_without_utf8(void **state)
{
    (void)state;
    assert_non_null(setlocale(LC_CTYPE, "C"));
    char *text = table(IFM_FORMAT_TABLE, false);
    setlocale(LC_CTYPE, "C.UTF-8");
    for (const char *c = text; *c != '\0'; c++)
        assert_true((unsigned char)*c < 0x80);
    assert_has(text, "412.3 us");
    assert_has(text, "+-0.8");
    assert_lacks(text, "\\x");
    free(text);
}

static void markdown_is_a_table(void **state)
{
    (void)state;
    char *text = table(IFM_FORMAT_MD, true);
    char outcome[128];
    snprintf(outcome, sizeof outcome, "## BLOCKED: %.26s", sample_reasons[0]);
    assert_has(text, outcome);
    assert_has(text, "| arm | mean/step | p50 | read | of read ceiling |");
    assert_has(text, "| **half** | 412.3 µs ±0.8 |");
    assert_has(text, "refused<sup>");
    assert_lacks(text, "\033");
    assert_lacks(text, "nan");
    free(text);
}

/* Fields of one CSV record; quotes are taken off. */
static size_t split(char *line, char *fields[], size_t limit)
{
    size_t n = 0;
    char *in = line;
    while (n < limit) {
        char *out = in;
        fields[n++] = out;
        bool quoted = *in == '"';
        in += quoted;
        while (*in != '\0' && (quoted || *in != ',')) {
            if (quoted && in[0] == '"' && in[1] != '"') {
                quoted = false;
                in++;
                continue;
            }
            in += quoted && *in == '"';
            *out++ = *in++;
        }
        bool last = *in == '\0';
        *out = '\0';
        in++;
        if (last)
            break;
    }
    return n;
}

static void csv_has_one_row_per_number(void **state)
{
    (void)state;
    char *text = table(IFM_FORMAT_CSV, false), *rest = NULL, *fields[20];
    size_t rows = 0, absent = 0;
    char *line = strtok_r(text, "\n", &rest);
    assert_string_equal(line, "run_id,cell,arm,role,metric,value,unit,low,high,level,sd,n,n_of,state,text,reason,"
                              "remedy");
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        assert_int_equal(split(line, fields, 20), 17);
        assert_string_equal(fields[0], "a1b2c3d4e5f6");
        assert_string_equal(fields[4], ifm_metrics[sample_numbers[rows].metric].id);
        bool ok = strcmp(fields[13], "ok") == 0;
        assert_int_equal(ok, fields[5][0] != '\0');
        assert_true(ok || fields[15][0] != '\0');
        if (ok)
            assert_true(strtod(fields[5], NULL) == sample_numbers[rows].value.number);
        absent += strcmp(fields[13], "absent") == 0;
        rows++;
    }
    assert_int_equal(rows, COUNT(sample_numbers));
    assert_int_equal(absent, 2);
    free(text);
}

static void csv_quotes_what_needs_it(void **state)
{
    (void)state;
    struct ifm_number odd[] = {
        {"a,b", "say \"hi\"", IFM_M_STEP_NS, {.state = IFM_STATE_ABSENT, .reason = "two\nlines"}}};
    sample_fill(odd, 1);
    struct ifm_derived derived = sample_derived;
    derived.numbers = odd;
    derived.n_numbers = 1;
    struct ifm_publication publication = sample_publication(NULL);
    publication.derived = &derived;
    struct ifm_text text = {0};
    ifm_compose_csv(&publication, &text);
    assert_has(text.data, "a1b2c3d4e5f6,\"a,b\",\"say \"\"hi\"\"\",,step_ns,,ns,,,,,,,absent,,\"two\nlines\",\n");
    ifm_text_free(&text);
}

static void json_lines_have_the_same_fields(void **state)
{
    (void)state;
    char *text = table(IFM_FORMAT_JSONL, false), *rest = NULL;
    size_t rows = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        json_t *row = json_loads(line, 0, NULL);
        assert_non_null(row);
        assert_int_equal(json_object_size(row), 17);
        const struct ifm_value *value = &sample_numbers[rows].value;
        assert_int_equal(json_is_null(json_object_get(row, "value")), value->state != IFM_STATE_OK);
        assert_int_equal(json_is_integer(json_object_get(row, "value")), value->is_integer);
        assert_int_equal(json_is_null(json_object_get(row, "low")), !value->has_interval);
        json_decref(row);
        rows++;
    }
    assert_int_equal(rows, COUNT(sample_numbers));
    free(text);
}

static void json_is_one_object(void **state)
{
    (void)state;
    char *text = table(IFM_FORMAT_JSON, false);
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    assert_string_equal(json_string_value(json_object_get(object, "run_id")), "a1b2c3d4e5f6");
    assert_true(json_is_object(json_object_get(object, "verdict")));
    assert_int_equal(json_array_size(json_object_get(object, "numbers")), COUNT(sample_numbers));
    const json_t *finding = json_array_get(json_object_get(object, "findings"), 2);
    assert_string_equal(json_string_value(json_object_get(finding, "severity")), "invalid");
    json_decref(object);
    free(text);
}

/* Three arms drift, each by its own figure: one line on the terminal, which counts the others; the report has all. */
static void findings_that_differ_in_figures_are_one_line(void **state)
{
    (void)state;
    struct ifm_finding findings[] = {
        {IFM_SEVERITY_WARNING, "rule-07", D, "plain", "the step time drifts by -66.72 % over the pass",
         .kind = IFM_FINDING_TIME_CHANGES},
        {IFM_SEVERITY_WARNING, "rule-07", D, "packed", "the step time drifts by 8e+06 % over the pass",
         .kind = IFM_FINDING_TIME_CHANGES},
        {IFM_SEVERITY_WARNING, "rule-07", D, "staged", "the step time drifts by +1.5 % over the pass",
         .kind = IFM_FINDING_TIME_CHANGES},
        {IFM_SEVERITY_WARNING, "rule-03", D, "staged", "the step time drifts by +1.5 % over the block",
         .kind = IFM_FINDING_TIME_CHANGES},
    };
    struct ifm_publication publication = sample_publication(NULL);
    struct ifm_derived derived = *publication.derived;
    derived.findings = findings;
    derived.n_findings = COUNT(findings);
    publication.derived = &derived;
    char *data[2] = {NULL, NULL};
    const enum ifm_format formats[] = {IFM_FORMAT_TABLE, IFM_FORMAT_MD};
    for (size_t i = 0; i < 2; i++) {
        size_t size = 0;
        FILE *out = open_memstream(&data[i], &size);
        assert_int_equal(
            ifm_publish_table(&publication, &(struct ifm_table_look){formats[i], false, true, 0}, out, &error), IFM_OK);
        fclose(out);
    }
    assert_has(data[0], "drifts by -66.72 %");
    assert_has(data[0], "[and 2");
    assert_lacks(data[0], "8e+06");
    assert_lacks(data[0], "+1.5 % over the pass");
    assert_has(data[0], "+1.5 % over the block");
    assert_has(data[1], "8e+06");
    assert_has(data[1], "+1.5 % over the pass");
    free(data[0]);
    free(data[1]);
}

/* Times are of all blocks; a comparison without the disturbed ones says what dividing the times gives, where it differs
 * by a percent, lies outside the interval or on the other side of 1, with digits that show it. */
static void a_ratio_unlike_the_times_says_why(void **state)
{
    (void)state;
    static const struct {
        double speedup, low, high, change_of_all;
        bool bare;
        const char *says;
    } cases[] = {{0.876, 0.79, 0.97, 104.1, false, "0.490x"},  {0.876, 0.79, 0.97, 13.6, false, NULL},
                 {0.876, 0.79, 0.97, 12.5, false, "0.889x"},   {1.212, 1.21, 1.214, -17.8, false, "1.217x"},
                 {0.9992, 0.98, 1.02, -0.46, false, "1.005x"}, {1.05, 0, 0, -5.2, true, NULL}};
    static struct ifm_number all[COUNT(sample_numbers) + 1];
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ifm_publication publication = sample_publication(NULL);
        struct ifm_derived derived = *publication.derived;
        memcpy(all, derived.numbers, sizeof sample_numbers);
        struct ifm_value change = {
            .number = cases[i].change_of_all, .unit = "%", .n_of = "", .reason = "", .remedy = "", .text = ""};
        all[COUNT(sample_numbers)] = (struct ifm_number){D, "packed", IFM_M_CHANGE_PERCENT_ALL_BLOCKS, change};
        for (size_t k = 0; k < COUNT(sample_numbers); k++)
            if (all[k].metric == IFM_M_SPEEDUP && strcmp(all[k].arm, "packed") == 0) {
                all[k].value.number = cases[i].speedup;
                all[k].value.low = cases[i].low;
                all[k].value.high = cases[i].high;
                all[k].value.has_interval = !cases[i].bare;
            }
        derived.numbers = all;
        derived.n_numbers = COUNT(all);
        publication.derived = &derived;
        const enum ifm_format formats[] = {IFM_FORMAT_TABLE, IFM_FORMAT_MD};
        for (size_t f = 0; f < COUNT(formats); f++) {
            char *data = NULL, expected[96];
            size_t size = 0;
            FILE *out = open_memstream(&data, &size);
            assert_int_equal(
                ifm_publish_table(&publication, &(struct ifm_table_look){formats[f], false, true, 0}, out, &error),
                IFM_OK);
            fclose(out);
            snprintf(expected, sizeof expected, "of undisturbed blocks; of all, as the times are: %s",
                     cases[i].says == NULL ? "" : cases[i].says);
            assert_int_equal(strstr(data, expected) != NULL, cases[i].says != NULL);
            free(data);
        }
    }
}

/* 230 and 241 ms beside "1.03x": a few slow blocks moved the one and not the other. */
static void times_that_point_the_other_way_are_said(void **state)
{
    (void)state;
    static struct ifm_number all[COUNT(sample_numbers)];
    struct ifm_publication publication = sample_publication(NULL);
    struct ifm_derived derived = *publication.derived;
    memcpy(all, derived.numbers, sizeof all);
    derived.numbers = all;
    publication.derived = &derived;
    for (int turned = 0; turned < 2; turned++) {
        char *data = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&data, &size);
        assert_int_equal(
            ifm_publish_table(&publication, &(struct ifm_table_look){IFM_FORMAT_MD, false, true, 0}, out, &error),
            IFM_OK);
        fclose(out);
        assert_int_equal(strstr(data, "block by block (0.943x by the times, which slow blocks move more)") != NULL,
                         turned);
        free(data);
        for (size_t i = 0; i < COUNT(all); i++)
            if (all[i].metric == IFM_M_STEP_NS && strcmp(all[i].arm, "half") == 0)
                all[i].value.number = all[i].value.low = all[i].value.high = 850000;
    }
}

static void a_number_that_is_none_is_an_error(void **state)
{
    (void)state;
    struct ifm_number bad[] = {{D, "plain", IFM_M_STEP_NS, {.number = NAN}}};
    sample_fill(bad, 1);
    struct ifm_derived derived = sample_derived;
    derived.numbers = bad;
    derived.n_numbers = 1;
    struct ifm_publication publication = sample_publication(NULL);
    publication.derived = &derived;
    assert_int_equal(
        ifm_publish_table(&publication, &(struct ifm_table_look){IFM_FORMAT_CSV, false, false, 0}, stderr, &error),
        IFM_INTERNAL);
    assert_has(error.message, "step_ns");
}

static void missing_intervals_say_why(void **state)
{
    (void)state;
    struct ifm_number short_run[] = {
        {D, "plain", IFM_M_STEP_NS, {.number = 801234, .n = 3, .n_of = "blocks", .text = "needs 6 blocks, has 3"}}};
    sample_fill(short_run, 1);
    struct ifm_derived derived = sample_derived;
    derived.numbers = short_run;
    derived.n_numbers = 1;
    struct ifm_publication publication = sample_publication(NULL);
    publication.derived = &derived;
    struct ifm_text text = {0};
    assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_ALWAYS, false, true, &text, &error), IFM_OK);
    assert_facts(text.data, "no interval|needs 6 blocks, has 3");
    ifm_text_free(&text);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_shows_every_state),
        cmocka_unit_test(table_fits_a_hundred_columns),
        cmocka_unit_test(a_wide_table_has_each_column_once),
        cmocka_unit_test(table_has_colour_only_when_asked),
        cmocka_unit_test(table_is_ascii_without_utf8),
        cmocka_unit_test(markdown_is_a_table),
        cmocka_unit_test(csv_has_one_row_per_number),
        cmocka_unit_test(csv_quotes_what_needs_it),
        cmocka_unit_test(json_lines_have_the_same_fields),
        cmocka_unit_test(json_is_one_object),
        cmocka_unit_test(findings_that_differ_in_figures_are_one_line),
        cmocka_unit_test(a_ratio_unlike_the_times_says_why),
        cmocka_unit_test(times_that_point_the_other_way_are_said),
        cmocka_unit_test(a_number_that_is_none_is_an_error),
        cmocka_unit_test(missing_intervals_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
