/* Compressed arms as they are published: speed, bytes and loss in one sight, and no digit lost on the way. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "document/build.h"
#include "document/quantity.h"
#include "facts.h"
#include "publish/comparison.h"
#include "publish/compose.h"
#include "publish/summary.h"
#include "publish_sample.h"
#include <locale.h>

#define C "decode cache"
#define PLAIN(x)                                                                                                       \
    {                                                                                                                  \
        .number = x, .n = 64, .n_of = "values"                                                                         \
    }

static struct ifm_error error;

static struct ifm_arm arms[] = {
    {.name = "f16",
     .role = IFM_ROLE_BASELINE,
     .workload = "decode",
     .variant = "",
     .stored = 4000,
     .stored_plain = 4000},
    {.name = "int4", .role = IFM_ROLE_VARIANT, .workload = "decode", .variant = "", .lossy = true, .stored = 1075},
    {.name = "evict<b>", .role = IFM_ROLE_VARIANT, .workload = "decode", .variant = "", .lossy = true, .stored = 1001},
    {.name = "odd", .role = IFM_ROLE_VARIANT, .workload = "decode", .variant = "", .lossy = true, .stored = 4300},
    {.name = "library", .role = IFM_ROLE_VARIANT, .workload = "decode", .variant = ""},
};
static struct ifm_cell cells[] = {{.name = C,
                                   .workload = "decode",
                                   .threads = 1,
                                   .unsupported = "",
                                   .arms = arms,
                                   .n_arms = COUNT(arms),
                                   .measure = {.margin = 0.003}}};
static struct ifm_plan plan = {
    .run_id = "a1b2c3d4e5f6", .config_hash = "5f70", .device = "cpu", .cells = cells, .n_cells = 1};
static struct ifm_number numbers[] = {
    {C, "f16", IFM_M_STEP_NS, RATE(100000, 99900, 100100)},
    {C, "f16", IFM_M_COMPRESSION_RATIO, {.number = 1}},
    {C, "f16", IFM_M_ERROR_RMS_REL, PLAIN(1e-7)},
    {C, "int4", IFM_M_STEP_NS, RATE(29240, 29200, 29280)},
    {C, "int4", IFM_M_SPEEDUP, RATE(3.42, 3.415, 3.425)},
    {C, "int4", IFM_M_CHANGE_PERCENT, SHARE(-70.8, -70.9, -70.7, "faster")},
    {C, "int4", IFM_M_COMPRESSION_RATIO, {.number = 3.9996}},
    {C, "int4", IFM_M_STORED_BYTES, {.number = 1075, .is_integer = true}},
    {C, "int4", IFM_M_BYTES_RATIO, {.number = 3.7149}},
    {C, "int4", IFM_M_LOSS_RMS_REL, PLAIN(0.079)},
    {C, "int4", IFM_M_LOSS_COSINE, PLAIN(0.99996)},
    {C, "int4", IFM_M_ATTENTION_KL_NATS, PLAIN(0.021)},
    {C, "int4", IFM_M_ATTENTION_TV, PLAIN(0.08)},
    {C, "int4", IFM_M_ERROR_RMS_REL, PLAIN(3e-7)},
    {C, "int4", IFM_M_SPEEDUP_AT_CEILING, RATE(1.9, 1.8, 2.0)},
    {C, "int4", IFM_M_SPEEDUP_OVER_FASTEST, SHARE(2.5, 2.48, 2.52, "library")},
    {C, "int4", IFM_M_SPEEDUP_OVER_OWN, SHARE(2.5, 2.48, 2.52, "library")},
    {C, "evict<b>", IFM_M_SPEEDUP_OVER_OWN, SHARE(3.1, 3.0, 3.2, "own")},
    {C, "odd", IFM_M_SPEEDUP_OVER_OWN, SHARE(0.9, 0.8, 1.0, "own")},
    {C, "evict<b>", IFM_M_SPEEDUP, SHARE(4.2, 4.1, 4.3, "baseline at 91.4 % of its read ceiling")},
    {C, "evict<b>", IFM_M_CHANGE_PERCENT, SHARE(-76.2, -76.4, -76.0, "faster")},
    {C, "evict<b>", IFM_M_COMPRESSION_RATIO, {.number = 3.996}},
    {C, "evict<b>", IFM_M_BYTES_RATIO, {.number = 4}},
    {C, "evict<b>", IFM_M_LOSS_RMS_REL, PLAIN(0.31)},
    {C, "evict<b>", IFM_M_ATTENTION_KL_NATS, WORD(IFM_STATE_ABSENT, "tokens were dropped", "")},
    {C, "evict<b>", IFM_M_ATTENTION_TV, PLAIN(0.24)},
    {C, "odd", IFM_M_SPEEDUP, WORD(IFM_STATE_REFUSED, "rule-10: not recorded", "")},
    {C, "odd", IFM_M_CHANGE_PERCENT, WORD(IFM_STATE_REFUSED, "rule-10: not recorded", "")},
    {C, "odd", IFM_M_COMPRESSION_RATIO, {.number = 4000.0 / 4300.0}},
    {C, "odd", IFM_M_BYTES_RATIO, {.number = 0.93}},
    {C, "odd", IFM_M_LOSS_RMS_REL, WORD(IFM_STATE_ABSENT, "no check recorded what compression did to the output", "")},
    {C, "library", IFM_M_SPEEDUP, RATE(0.81, 0.80, 0.82)},
    {C, "library", IFM_M_CHANGE_PERCENT, SHARE(23.4, 22.0, 25.0, "slower")},
    {C, "library", IFM_M_MDE_PERCENT, {.number = 0.5}},
    {C, "int4", IFM_M_MDE_PERCENT, {.number = 0.5}},
};
static struct ifm_derived derived = {
    .run_id = "a1b2c3d4e5f6", .config_hash = "5f70", .numbers = numbers, .n_numbers = COUNT(numbers)};

static struct ifm_publication publication(void)
{
    static struct ifm_verdict verdict = {.outcome = IFM_OUTCOME_NOT_GATED};
    struct ifm_publication p = sample_publication(NULL);
    p.plan = &plan;
    p.derived = &derived;
    p.verdict = &verdict;
    sample_fill(numbers, COUNT(numbers));
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (numbers[i].metric == IFM_M_ATTENTION_KL_NATS)
            numbers[i].value.unit = "nats";
        else if (numbers[i].metric == IFM_M_STORED_BYTES)
            numbers[i].value.unit = "B";
    return p;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is missing in:\n%s", part, text);
}

/* The line of `text` that holds both; fails without one. */
static void assert_line(const char *text, const char *first, const char *second)
{
    for (const char *line = text; (line = strstr(line, first)) != NULL; line++) {
        const char *end = strchr(line, '\n'), *found = strstr(line, second);
        if (found != NULL && (end == NULL || found < end))
            return;
    }
    fail_msg("no line has \"%s\" and behind it \"%s\":\n%s", first, second, text);
}

/* A line without its tones. */
static const char *text_of(const struct ifm_line *line, struct ifm_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < line->n; i++)
        text = ifm_arena_printf(arena, "%s%s", text, line->spans[i].text);
    return text;
}

/* The sentence about an arm, as the document's cell has it. */
static const char *sentence(const struct ifm_document *document, const char *arm)
{
    const struct ifm_block *cell = document->root.first;
    while (cell != NULL && strcmp(cell->id, "cell-1") != 0)
        cell = cell->next;
    for (const struct ifm_block *block = cell == NULL ? NULL : cell->first; block != NULL; block = block->next)
        for (size_t i = 0; block->purpose == IFM_AS_OUTCOMES && i < block->n_items; i++)
            if (strcmp(block->items[i].place, arm) == 0)
                return text_of(&block->items[i].line, document->arena);
    return "";
}

static void one_sentence_has_all_three(void **state)
{
    (void)state;
    struct ifm_publication p = publication();
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_document *document;
    assert_int_equal(ifm_document_build(&p, IFM_LEVEL_VERBOSE, arena, &document, &error), IFM_OK);
    assert_facts(sentence(document, "int4"),
                 "3.420x faster|[3.415, 3.425]|f16|moves 3.71x fewer|output error 7.90 %|KL 0.0210");
    assert_has(sentence(document, "int4"), " than f16, 2.50x [2.48, 2.52] over library, the fastest exact arm, moves");
    assert_has(sentence(document, "evict<b>"), ", 3.10x [3.00, 3.20] over own, its own exact form, moves");
    assert_null(strstr(sentence(document, "odd"), "own")); /* without an answer there is none over others */
    assert_null(strstr(sentence(document, "int4"), "TV")); /* where KL is a number it is enough */
    assert_facts(sentence(document, "evict<b>"), "4.20x faster|[4.10, 4.30]|f16|4.00x fewer|31.0 %|KL infinite|dropped|"
                                                 "TV 0.24|baseline at 91.4 % of its read ceiling");
    assert_facts(sentence(document, "odd"), "f16|refused|rule-10: not recorded|1.08x more bytes|error not recorded");
    assert_null(strstr(sentence(document, "odd"), "fewer"));
    assert_string_equal(sentence(document, "f16"), "");
    assert_facts(ifm_outcome_price(&derived, C, "int4", arena), "3.71x fewer|7.90 %|KL 0.0210");
    assert_string_equal(ifm_outcome_price(&derived, C, "library", arena), "");
    ifm_arena_destroy(arena);
}

static struct ifm_value *value_of(const char *arm, enum ifm_metric_id metric)
{
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (strcmp(numbers[i].arm, arm) == 0 && numbers[i].metric == metric)
            return &numbers[i].value;
    return NULL;
}

/* Memory is sure, time may be the baseline's weakness, and whoever loses output pays under a condition. */
static void whether_it_pays_is_said(void **state)
{
    (void)state;
    struct ifm_number kept[COUNT(numbers)];
    memcpy(kept, numbers, sizeof kept);
    struct ifm_publication p = publication();
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_builder builder = {.from = &p, .arena = arena};
    static const char given[] = "; if a model bears their output error";
    static const char beside[] = "in memory, and in time unless a better f16 is as fast";
    struct ifm_value *left = value_of("int4", IFM_M_SPEEDUP_AT_CEILING);
    assert_string_equal(ifm_pays_words(&builder, cells),
                        ifm_arena_printf(arena, "in memory and time: int4; %s: evict<b>%s", beside,
                                         given)); /* odd is refused, and library stores nothing */
    left->low = 1.002;                            /* within the margin */
    assert_has(ifm_pays_words(&builder, cells),
               ifm_arena_printf(arena, "%s: int4 (1.90x [1.00, 2.00] at its ceiling)", beside));
    left->state = IFM_STATE_ABSENT;
    left->reason = "the read ceiling moved by 12 %";
    left->text = "";
    assert_has(ifm_pays_words(&builder, cells), ifm_arena_printf(arena, "%s: int4, evict<b>", beside));
    left->text = "faster"; /* whatever the ceiling does */
    assert_has(ifm_pays_words(&builder, cells),
               ifm_arena_printf(arena, "in memory and time: int4; %s: evict<b>", beside));
    left->text = "";
    value_of("int4", IFM_M_CHANGE_PERCENT)->text = "undecided";
    value_of("evict<b>", IFM_M_CHANGE_PERCENT)->text = "slower";
    assert_string_equal(
        ifm_pays_words(&builder, cells),
        ifm_arena_printf(arena, "in memory, in time undecided: int4; in memory alone: evict<b> (slower)%s", given));
    value_of("int4", IFM_M_COMPRESSION_RATIO)->number = 0.9;
    assert_has(ifm_pays_words(&builder, cells), "in memory alone: evict<b> (slower);");
    assert_null(strstr(ifm_pays_words(&builder, cells), "int4")); /* a loss, and nothing is known of a gain */
    value_of("int4", IFM_M_CHANGE_PERCENT)->text = "equivalent";
    value_of("int4", IFM_M_COMPRESSION_RATIO)->number = value_of("evict<b>", IFM_M_COMPRESSION_RATIO)->number = 0.9;
    assert_string_equal(ifm_pays_words(&builder, cells), "not at all: int4, evict<b>");
    value_of("int4", IFM_M_CHANGE_PERCENT)->text = "faster";
    value_of("int4", IFM_M_LOSS_RMS_REL)->number = 0;
    assert_string_equal(ifm_pays_words(&builder, cells), "in time alone: int4; not at all: evict<b>");
    value_of("int4", IFM_M_COMPRESSION_RATIO)->number = 1; /* 16-bit values */
    assert_string_equal(ifm_pays_words(&builder, cells), "not at all: evict<b>");
    value_of("f16", IFM_M_COMPRESSION_RATIO)->number = 0.5; /* beside a baseline of 32 bits */
    assert_has(ifm_pays_words(&builder, cells), "in memory, and in time unless a better f16 is as fast: int4");
    memcpy(numbers, kept, sizeof kept);
    ifm_arena_destroy(arena);
}

static void nothing_rounds_to_the_nominal_ratio(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    assert_string_equal(ifm_quantity_ratio(4, arena), "4.00x");
    assert_string_equal(ifm_quantity_ratio(3.7149, arena), "3.71x");
    assert_string_equal(ifm_quantity_ratio(3.9996, arena), "3.9996x");
    assert_string_equal(ifm_quantity_ratio(8.004, arena), "8.004x");
    assert_string_equal(ifm_quantity_ratio(15.96, arena), "15.96x");
    assert_string_equal(ifm_quantity_ratio(0.93, arena), "0.930x");
    struct ifm_value cosine = {.number = 0.99996, .unit = "1"};
    assert_string_equal(ifm_quantity_number(&cosine, arena), "0.99996");
    cosine.number = 1;
    assert_string_equal(ifm_quantity_number(&cosine, arena), "1.00");
    assert_string_equal(ifm_quantity_short(7.9, arena), "7.9");
    assert_string_equal(ifm_quantity_short(0.0214, arena), "0.0214");
    assert_string_equal(ifm_quantity_short(1234.5, arena), "1234");
    ifm_arena_destroy(arena);
}

static void the_table_shows_loss_beside_speed(void **state)
{
    (void)state;
    struct ifm_publication p = publication();
    struct ifm_text text = {0};
    assert_int_equal(ifm_compose_document(&p, IFM_LEVEL_ALWAYS, false, true, &text, &error), IFM_OK);
    assert_line(text.data, "vs baseline", "stored");
    assert_line(text.data, "stored", "output error");
    assert_line(text.data, "output error", "attention KL");
    assert_line(text.data, "attention KL", "kernel error");
    assert_line(text.data, "faster 3.420x", "3.9996x smaller");
    assert_line(text.data, "3.9996x", "7.90 %");
    assert_line(text.data, "7.90 %", "0.021");
    assert_line(text.data, "3.420x faster [3.415, 3.425]", "f16");
    assert_line(text.data, "3.71x fewer", "7.90 %");
    ifm_text_free(&text);
}

/* Where nothing is compressed the table is what it was. */
static void other_cells_have_no_such_columns(void **state)
{
    (void)state;
    struct ifm_publication p = publication();
    struct ifm_derived plain = derived;
    struct ifm_text text = {0};
    plain.n_numbers = 3; /* f16 alone */
    p.derived = &plain;
    assert_int_equal(ifm_compose_document(&p, IFM_LEVEL_ALWAYS, false, true, &text, &error), IFM_OK);
    assert_null(strstr(text.data, "smaller"));
    assert_null(strstr(text.data, "output error"));
    assert_has(text.data, "kernel error");
    ifm_text_clear(&text);
    assert_int_equal(ifm_compose_document(&p, IFM_LEVEL_PAGE, false, true, &text, &error), IFM_OK);
    assert_null(strstr(text.data, "<h3>Compression"));
    ifm_text_free(&text);
}

static void the_report_has_a_table_of_it(void **state)
{
    (void)state;
    struct ifm_publication p = publication();
    struct ifm_text text = {0};
    assert_int_equal(ifm_compose_document(&p, IFM_LEVEL_PAGE, false, true, &text, &error), IFM_OK);
    const char *section = strstr(text.data, "<h3>Compression");
    assert_non_null(section);
    /* Gain and price stand in one sentence above every table, and are not repeated in the cell. */
    const char *sentence = strstr(text.data, "<b>int4</b> is <strong>3.420x faster</strong>");
    assert_non_null(sentence);
    assert_true(sentence < strstr(text.data, "<table class=\"cards"));
    assert_line(sentence, "3.71x fewer", "7.90 %</strong>");
    assert_null(strstr(text.data, "int4</b>: 3.420x faster"));
    const char *end = strstr(section, "</table>");
    assert_non_null(end);
    char *part = strndup(section, (size_t)(end - section));
    static const char *const wanted[] = {"evict&lt;b&gt;", ">0.99996<", "1.05 KiB", ">moves</a>", ">3.71x fewer<"};
    const char *table = strstr(text.data, "<section id=\"results\">"); /* what the main table says is said once */
    assert_non_null(table);
    static const char *const above[] = {"#metric-compression_ratio", ">7.90 %<", ">0.0210 nats<", ">3.9996x smaller<",
                                        "faster 3.420x"};
    for (size_t i = 0; i < COUNT(above); i++)
        assert_has(table, above[i]);
    assert_null(strstr(section, "faster 3.420x</span>"));
    for (size_t i = 0; i < COUNT(wanted); i++)
        assert_has(part, wanted[i]);
    assert_null(strstr(part, "evict<b>"));
    assert_null(strstr(part, "library"));
    free(part);
    ifm_text_clear(&text);
    assert_int_equal(ifm_compose_document(&p, IFM_LEVEL_FOLDED, false, true, &text, &error), IFM_OK);
    assert_line(text.data, "| **int4** | 1.05 KiB | 3.9996x smaller |", "0.99996");
    ifm_text_clear(&text);
    ifm_compose_csv(&p, &text);
    assert_has(text.data, "a1b2c3d4e5f6,decode cache,int4,variant,compression_ratio,3.9996,");
    ifm_text_free(&text);
}

static void summary_and_compare_tell_the_price(void **state)
{
    (void)state;
    struct ifm_publication p = publication();
    struct ifm_text text = {0};
    ifm_summary_compose(&p, &text);
    assert_line(text.data, "- int4: faster", "3.71x fewer");
    assert_line(text.data, "3.71x fewer", "7.90 %");
    assert_line(text.data, "7.90 %", "attention KL 0.021");
    assert_null(strstr(strstr(text.data, "- library"), "fewer bytes"));
    ifm_text_clear(&text);
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_listing listing = ifm_comparison_begin(arena);
    assert_int_equal(ifm_comparison_add_run(&listing, &plan, &derived, NULL, NULL, NULL), 2);
    ifm_listing_compose(&listing, IFM_FORMAT_TABLE, &text);
    assert_line(text.data, "moves", "output error");
    assert_line(text.data, "3.71x", "7.90 %");
    const json_t *row = json_array_get(listing.rows, 0);
    assert_string_equal(json_string_value(json_object_get(row, "arm")), "int4");
    assert_true(json_real_value(json_object_get(row, "loss_rms_rel")) == 0.079);
    assert_true(json_real_value(json_object_get(row, "bytes_ratio")) == 3.7149);
    assert_true(json_is_null(json_object_get(json_array_get(listing.rows, 1), "loss_rms_rel")));
    ifm_listing_end(&listing);
    ifm_text_free(&text);
    ifm_arena_destroy(arena);
}

static void compare_tells_the_energy(void **state)
{
    (void)state;
    struct ifm_number all[COUNT(numbers) + 2];
    struct ifm_derived measured = derived;
    const struct ifm_value change = {.number = -31.5,
                                     .has_interval = true,
                                     .low = -33,
                                     .high = -30,
                                     .level = 0.95,
                                     .unit = "%",
                                     .n_of = "",
                                     .reason = "no window can be used",
                                     .remedy = "",
                                     .text = ""};
    memcpy(all, numbers, sizeof numbers);
    all[COUNT(numbers)] = (struct ifm_number){C, "int4", IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT, change};
    all[COUNT(numbers) + 1] = (struct ifm_number){C, "int4", IFM_M_ENERGY_PER_STEP_CHANGE_PERCENT, change};
    measured.numbers = all;
    for (int lacking = 0; lacking < 3; lacking++) { /* the token's, then both */
        if (lacking > 0)
            all[COUNT(numbers) + (size_t)lacking - 1].value.state = IFM_STATE_ABSENT;
        measured.n_numbers = COUNT(all);
        struct ifm_text text = {0};
        struct ifm_arena *arena = ifm_arena_create();
        struct ifm_listing listing = ifm_comparison_begin(arena);
        assert_int_equal(ifm_comparison_add_run(&listing, &plan, &measured, NULL, NULL, NULL), 2);
        ifm_listing_compose(&listing, IFM_FORMAT_TABLE, &text);
        assert_line(text.data, "int4", lacking == 2 ? "absent" : "-31.5 % [-33.0, -30.0]");
        assert_int_equal(strstr(text.data, "no window can be used") != NULL, lacking == 2);
        const json_t *row = json_array_get(listing.rows, 0);
        assert_int_equal(json_is_real(json_object_get(row, "energy_change_percent")), lacking < 2);
        assert_string_equal(json_string_value(json_object_get(row, "energy_per")), lacking == 1 ? "step" : "token");
        assert_true(json_is_null(json_object_get(json_array_get(listing.rows, 1), "energy_per")));
        ifm_listing_end(&listing);
        ifm_text_free(&text);
        ifm_arena_destroy(arena);
    }
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sentence_has_all_three),          cmocka_unit_test(whether_it_pays_is_said),
        cmocka_unit_test(nothing_rounds_to_the_nominal_ratio), cmocka_unit_test(the_table_shows_loss_beside_speed),
        cmocka_unit_test(other_cells_have_no_such_columns),    cmocka_unit_test(the_report_has_a_table_of_it),
        cmocka_unit_test(summary_and_compare_tell_the_price),  cmocka_unit_test(compare_tells_the_energy),
    };
    return cmocka_run_group_tests_name("publish_compression", tests, NULL, NULL);
}
