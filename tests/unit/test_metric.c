/* Metric definitions: what is accepted, what is refused and where, and what is made of it. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/file.h"
#include "publish/metric.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char two[] = "# times\n"
                          "id: step_ns\n"
                          "unit: ns\n"
                          "better: lower\n"
                          "scope: arm\n"
                          "formula: exp(mean(ln(slot median / inner)))\n"
                          "source: samples/<cell>-latency.csv\n"
                          "limits: needs six blocks\n"
                          "prose: The time of one step,\n"
                          "  seen over all blocks.\n"
                          "\n\n"
                          "id: ceiling_read\r\nunit: B/s\nbetter: higher\nscope: cell\nformula: bytes / time\n"
                          "source: the ceiling arms\nlimits: none known\nprose: The best read rate.";

static struct ifm_arena *arena;
static struct ifm_error error;

static int set_up(void **state)
{
    (void)state;
    arena = ifm_arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ifm_arena_destroy(arena);
    return 0;
}

static enum ifm_status parse(const char *text, const struct ifm_metric **metrics, size_t *n)
{
    memset(&error, 0, sizeof error);
    return ifm_metrics_parse(text, strlen(text), "metrics", arena, metrics, n, &error);
}

static void reads_records_comments_and_continuations(void **state)
{
    (void)state;
    const struct ifm_metric *metrics;
    size_t n;
    assert_int_equal(parse(two, &metrics, &n), IFM_OK);
    assert_int_equal(n, 2);
    assert_string_equal(metrics[0].id, "step_ns");
    assert_string_equal(metrics[0].prose, "The time of one step, seen over all blocks.");
    assert_string_equal(metrics[1].id, "ceiling_read");
    assert_string_equal(metrics[1].prose, "The best read rate.");
    assert_ptr_equal(ifm_metric_find(metrics, n, "ceiling_read"), &metrics[1]);
    assert_null(ifm_metric_find(metrics, n, "ceiling"));
}

static void assert_refused(const char *text, const char *where, const char *message)
{
    const struct ifm_metric *metrics;
    size_t n;
    assert_int_equal(parse(text, &metrics, &n), IFM_INVALID);
    assert_string_equal(error.where, where);
    assert_non_null(strstr(error.message, message));
}

static void bad_records_are_refused_with_their_line(void **state)
{
    (void)state;
    assert_refused("\nid: a\nunit: ns\n", "metrics:2", "no value for the key \"better\"");
    assert_refused("id: a\nid: b\n", "metrics:2", "repeated key \"id\"");
    assert_refused("id: a\nunti: ns\n", "metrics:2", "unknown key \"unti\"");
    assert_non_null(strstr(error.hint, "unit"));
    assert_refused("id a\n", "metrics:1", "without a colon");
    assert_refused("  more\n", "metrics:1", "continuation");
    char twice[2 * sizeof two + 8];
    snprintf(twice, sizeof twice, "%s\n\n%s", two, two);
    assert_refused(twice, "metrics:23", "repeated id \"step_ns\"");
    assert_refused("id: a\nunit: ns\nbetter: more\nscope: arm\nformula: f\nsource: s\nlimits: l\nprose: p\n",
                   "metrics:1", "unknown word for better \"more\"");
    assert_refused("id: a\nunit: ns\nbetter: none\nscope: box\nformula: f\nsource: s\nlimits: l\nprose: p\n",
                   "metrics:1", "unknown word for scope \"box\"");
}

static void no_text_is_no_metric(void **state)
{
    (void)state;
    const struct ifm_metric *metrics;
    size_t n = 9;
    assert_int_equal(parse("\n# nothing\n\n", &metrics, &n), IFM_OK);
    assert_int_equal(n, 0);
}

static void markdown_groups_by_scope(void **state)
{
    (void)state;
    const struct ifm_metric *metrics;
    size_t n;
    struct ifm_text text = {0};
    assert_int_equal(parse(two, &metrics, &n), IFM_OK);
    ifm_metrics_markdown_of(metrics, n, &text);
    const char *arm = strstr(text.data, "## Numbers of an arm"), *cell = strstr(text.data, "## Numbers of a cell");
    assert_true(arm != NULL && cell != NULL && arm < cell);
    assert_non_null(strstr(arm, "### `step_ns`\n\nThe time of one step"));
    assert_non_null(strstr(cell, "- **Unit:** `B/s`; better: higher"));
    assert_null(strstr(text.data, "## Numbers of a run"));
    ifm_text_free(&text);
}

static void the_embedded_definitions_are_sound(void **state)
{
    (void)state;
    const struct ifm_metric *metrics;
    size_t n;
    struct ifm_text text = {0};
    assert_int_equal(ifm_metrics_load(arena, &metrics, &n, &error), IFM_OK);
    assert_int_equal(ifm_metrics_markdown(&text, &error), IFM_OK);
    ifm_text_free(&text);
}

/* docs/definitions.md below its line is what the definitions give. IFM_BLESS=1 writes it anew. */
static void the_page_holds_the_embedded_definitions(void **state)
{
    (void)state;
    static const char page[] = "docs/definitions.md", line[] = "<!-- Below this line";
    char *data;
    size_t size;
    struct ifm_text body = {0}, wanted = {0};
    assert_int_equal(ifm_metrics_markdown(&body, &error), IFM_OK);
    if (body.size == 0)
        skip(); /* a tree without data/metrics */
    assert_int_equal(ifm_file_read(page, 1 << 24, &data, &size, &error), IFM_OK);
    const char *cut = strstr(data, line);
    assert_non_null(cut);
    cut = strchr(cut, '\n');
    assert_non_null(cut);
    ifm_text_append(&wanted, data, (size_t)(cut + 1 - data));
    ifm_text_add(&wanted, "\n");
    ifm_text_append(&wanted, body.data, body.size - 1); /* the page ends with one newline */
    if (getenv("IFM_BLESS") != NULL)
        assert_int_equal(ifm_file_write_atomic(page, wanted.data, wanted.size, &error), IFM_OK);
    else if (size != wanted.size || memcmp(data, wanted.data, size) != 0)
        fail_msg("%s differs from data/metrics: run IFM_BLESS=1 build/tests/test_metric at the root", page);
    free(data);
    ifm_text_free(&body);
    ifm_text_free(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_records_comments_and_continuations),
        cmocka_unit_test(bad_records_are_refused_with_their_line),
        cmocka_unit_test(no_text_is_no_metric),
        cmocka_unit_test(markdown_groups_by_scope),
        cmocka_unit_test(the_embedded_definitions_are_sound),
        cmocka_unit_test(the_page_holds_the_embedded_definitions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
