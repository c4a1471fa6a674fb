/* The sentence of `compare REFERENCE RUN`: no word that the runs themselves would not say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "publish/changed.h"
#include <string.h>

static struct ifm_arm arms[] = {{.name = "base", .role = IFM_ROLE_BASELINE},
                                {.name = "a", .role = IFM_ROLE_VARIANT},
                                {.name = "b", .role = IFM_ROLE_VARIANT},
                                {.name = "c", .role = IFM_ROLE_VARIANT}};
static struct ifm_cell cells[] = {{.name = "one", .workload = "null", .unsupported = "", .arms = arms, .n_arms = 4},
                                  {.name = "two", .workload = "null", .unsupported = "", .arms = arms, .n_arms = 4}};
static struct ifm_plan plan = {.cells = cells, .n_cells = 2};

static struct ifm_value percent(double number, double low, double high)
{
    return (struct ifm_value){.number = number,
                              .has_interval = true,
                              .low = low,
                              .high = high,
                              .level = 0.95,
                              .n = 9,
                              .n_of = "blocks",
                              .unit = "%",
                              .reason = "",
                              .remedy = "",
                              .text = ""};
}

static struct ifm_between_row row(const char *cell, const char *arm, enum ifm_metric_id metric, const char *word,
                                  struct ifm_value change)
{
    const struct ifm_value ok = percent(1, 1, 1);
    return (struct ifm_between_row){.cell = cell,
                                    .arm = arm,
                                    .metric = metric,
                                    .baseline = "base",
                                    .interleaved = true,
                                    .reference = ok,
                                    .other = ok,
                                    .change = change,
                                    .speedup = ok,
                                    .mde = ok,
                                    .word = word,
                                    .not_comparable = "",
                                    .disputed = "",
                                    .widened = ""};
}

static struct ifm_value refused(const char *reason)
{
    return (struct ifm_value){
        .state = IFM_STATE_REFUSED, .reason = reason, .remedy = "", .text = "", .unit = "", .n_of = ""};
}

static void said(struct ifm_between_row *rows, size_t n, struct ifm_derived *other, const char *expected)
{
    struct ifm_arena *arena = ifm_arena_create();
    static struct ifm_derived clean;
    const struct ifm_run_view was = {&plan, &clean, NULL}, is = {&plan, other == NULL ? &clean : other, NULL};
    const struct ifm_comparison_runs runs = {&was, &is, "main", "branch"};
    const struct ifm_between between = {rows, n, n};
    struct ifm_listing listing = ifm_changed_begin(arena);
    struct ifm_text sentences = {0}, table = {0};
    ifm_changed_add(&listing, &runs, &between, false, &sentences);
    assert_string_equal(sentences.data, expected);
    ifm_listing_compose(&listing, IFM_FORMAT_TABLE, &table);
    if (other != NULL)
        assert_null(strstr(table.data, "faster"));
    for (size_t i = 0; i < n && other != NULL; i++) { /* nor have the tables of --verbose, and files, a word */
        struct ifm_text all = {0};
        const struct ifm_between one = {&rows[i], 1, 1};
        struct ifm_listing whole = ifm_comparison_begin_runs(arena);
        ifm_comparison_add_between(&whole, &runs, &one);
        ifm_listing_compose(&whole, IFM_FORMAT_TABLE, &all);
        ifm_listing_compose(&whole, IFM_FORMAT_CSV, &all);
        assert_null(strstr(all.data, "faster"));
        assert_non_null(strstr(all.data, "refused"));
        ifm_text_free(&all);
        ifm_listing_end(&whole);
    }
    ifm_text_free(&table);
    ifm_text_free(&sentences);
    ifm_listing_end(&listing);
    ifm_arena_destroy(arena);
}

static void no_change_is_seen_up_to_ten_percent(void **state)
{
    (void)state;
    struct ifm_between_row rows[] = {row("one", "a", IFM_M_SPEEDUP, "undecided", percent(0, -0.4, 0.6)),
                                     row("one", "b", IFM_M_SPEEDUP, "undecided", percent(-2, -25, 30)),
                                     row("one", "c", IFM_M_SPEEDUP, "undecided", percent(3, 1, 5))};
    said(rows, 3, NULL,
         "branch against main, by speed-up: undecided: c; no change seen: a (within [-0.60, +0.40] %); "
         "too wide to tell: b [-23, +33] %\n");
    rows[0].change = percent(0, -9, 11.2); /* -10.1 % of the speed */
    said(rows, 1, NULL, "branch against main, by speed-up: too wide to tell: a [-10.1, +9.9] %\n");
    rows[0].change = percent(0, -9, 11.1);
    said(rows, 1, NULL, "branch against main, by speed-up: no change seen: a (within [-10.0, +9.9] %)\n");
    rows[0].change = percent(-2, -28.6, 0.2);
    said(rows, 1, NULL, "branch against main, by speed-up: too wide to tell: a [0, +40] %\n"); /* no "-0" */
}

static void a_cell_that_is_not_to_be_used_has_no_word(void **state)
{
    (void)state;
    static const char reason[] = "rule-03: 159 % of the ceiling: a rate cannot exceed it";
    struct ifm_between_row rows[] = {
        row("one", "a", IFM_M_SPEEDUP, "", refused("speed-up in this run: rule-03: 159 %")),
        row("one", "a", IFM_M_CEILING_READ_PERCENT, "nearer", percent(-20, -21, -19)),
        row("one", "b", IFM_M_SPEEDUP, "faster", percent(-20, -21, -19)),
    };
    struct ifm_number numbers[] = {{.cell = "one", .arm = "a", .metric = IFM_M_SPEEDUP, .value = refused(reason)}};
    struct ifm_derived derived = {.numbers = numbers, .n_numbers = 1};
    rows[0].other = refused(reason);
    said(rows, 2, &derived, "branch against main: speed-ups refused: a (branch: 159 % of the ceiling)\n");
    said(rows, 3, &derived,
         "branch against main: speed-ups refused: a (branch: 159 % of the ceiling); not used: b (branch: 159 % of the "
         "ceiling)\n");
    rows[2].cell = "two"; /* which nothing is found against */
    said(rows, 3, NULL,
         "branch against main, by speed-up: speed-ups refused: one, a (branch: 159 % of the ceiling); faster: two, b "
         "+25.0 %\n");
    struct ifm_finding finding = {.severity = IFM_SEVERITY_INVALID, .cell = "two", .arm = "", .rule = "", .text = "no"};
    derived.findings = &finding;
    derived.n_findings = 1;
    said(&rows[2], 1, &derived, "branch against main: not used: b (branch: no)\n");
}

/* What differs of arms that both runs have, and what either lacks: an arm that is refused is not said to be missing. */
static void what_is_not_compared_has_all_its_reasons(void **state)
{
    (void)state;
    struct ifm_difference differences[] = {
        {"seed", "1", "2"}, {"baseline", "base", "a"}, {"ledger.flops", "1", "2"}, {"version", "1", "2"}};
    struct ifm_between_row rows[] = {row("one", "x", IFM_M_STEP_NS, "", refused("this run has no such arm")),
                                     row("one", "a", IFM_M_STEP_NS, "", refused("rule-12: seed is 1 and 2; more")),
                                     row("one", "b", IFM_M_SPEEDUP, "", refused("rule-12: seed is 1 and 2; more"))};
    rows[0].missing = true; /* of neither plan of this test */
    said(rows, 1, NULL, "branch against main: not compared: x is not in branch; x is not in main\n");
    rows[1].likeness = (struct ifm_likeness){.items = differences, .n = 4, .n_refusing = 1};
    said(&rows[1], 2, NULL, "branch against main: not compared: seed is 1 and 2\n");
    rows[2].likeness = (struct ifm_likeness){.items = differences, .n = 4, .n_refusing = 3};
    said(rows, 3, NULL,
         "branch against main: not compared: seed, baseline differ; x is not in branch; x is not in main\n");
}

/* Products of bytes have a ceiling of their own. */
static void a_share_is_named_by_its_ceiling(void **state)
{
    (void)state;
    struct ifm_between_row rows[] = {row("one", "a", IFM_M_CEILING_FLOPS_PERCENT, "nearer", percent(-20, -21, -19)),
                                     row("one", "b", IFM_M_CEILING_FLOPS_PERCENT, "nearer", percent(-20, -21, -19))};
    rows[1].integer = true;
    said(rows, 2, NULL,
         "branch against main: nearer: a (share of the flops ceiling) +25.0 %, b (share of the int8 ceiling) "
         "+25.0 %\n");
}

/* An interval far from no change without a word, and no reason on the screen; a level of eleven ratios beside one. */
static void a_word_that_was_taken_has_its_reason(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    static const struct ifm_derived clean;
    const struct ifm_run_view view = {&plan, &clean, NULL};
    const struct ifm_comparison_runs runs = {&view, &view, "main", "branch"};
    for (int open = 0; open < 2; open++) { /* one that holds no change shows itself why it has no word */
        struct ifm_between_row one = row("one", "a", IFM_M_SPEEDUP, "undecided", percent(-29, -42, open ? 3 : -14));
        one.widened = "an order of arms";
        one.speedup.text = "the machine disturbed 6 of 6 blocks";
        one.change.level = 1 - 0.05 / 11;
        const struct ifm_between between = {&one, 1, 1};
        struct ifm_listing listing = ifm_changed_begin(arena);
        struct ifm_text sentences = {0}, table = {0};
        ifm_changed_add(&listing, &runs, &between, false, &sentences);
        ifm_listing_compose(&listing, IFM_FORMAT_TABLE, &table);
        assert_int_equal(strstr(table.data, "\n[1] the machine disturbed 6 of 6 blocks\n") != NULL, !open);
        assert_non_null(strstr(table.data, " at 99.5 % (11 ratios)"));
        assert_string_equal(listing.remarks[0], "10 of the 11 ratios are others, such as shares of ceilings");
        ifm_text_free(&table);
        ifm_text_free(&sentences);
        ifm_listing_end(&listing);
    }
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_change_is_seen_up_to_ten_percent),
        cmocka_unit_test(a_cell_that_is_not_to_be_used_has_no_word),
        cmocka_unit_test(what_is_not_compared_has_all_its_reasons),
        cmocka_unit_test(a_share_is_named_by_its_ceiling),
        cmocka_unit_test(a_word_that_was_taken_has_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
