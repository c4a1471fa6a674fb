/* Figures of derived numbers: what they say, and what they leave out; see test_figures_any.c too. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "drawing.h"
#include "facts.h"
#include "publish_sample.h"
#include "report/figure.h"

#define C "decode"
#define EXACT(x)                                                                                                       \
    {                                                                                                                  \
        .number = x                                                                                                    \
    }
static const char integer_reason[] = "the arm multiplies codes as integers";
static const char resident_reason[] = "cache-resident: served by caches";

static struct ifm_arm arms[] = {
    {.name = "f16", .role = IFM_ROLE_BASELINE, .workload = "decode", .stored = 1000, .stored_plain = 1000},
    {.name = "int8",
     .role = IFM_ROLE_VARIANT,
     .workload = "decode",
     .stored = 532,
     .stored_plain = 1000,
     .lossy = true},
    {.name = "int4",
     .role = IFM_ROLE_VARIANT,
     .workload = "decode",
     .stored = 270,
     .stored_plain = 1000,
     .lossy = true},
    {.name = "evict",
     .role = IFM_ROLE_VARIANT,
     .workload = "decode",
     .stored = 300,
     .stored_plain = 1000,
     .lossy = true},
};
static struct ifm_cell cells[] = {{.name = C,
                                   .workload = "decode",
                                   .threads = 1,
                                   .unsupported = "",
                                   .arms = arms,
                                   .n_arms = COUNT(arms),
                                   .measure = {.margin = 0.003}}};
static struct ifm_number numbers[] = {
    {C, "f16", IFM_M_STEP_NS, RATE(1000, 990, 1010)},
    {C, "f16", IFM_M_BITS_PER_VALUE, EXACT(16)},
    {C, "f16", IFM_M_ARITHMETIC_INTENSITY, EXACT(4)},
    {C, "f16", IFM_M_FLOPS_PER_S, RATE(5e10, 4.9e10, 5.1e10)},
    {C, "f16", IFM_M_CEILING_READ_PERCENT, SHARE(92.3, 92.0, 92.6, "read.linear")},
    {C, "f16", IFM_M_CEILING_FLOPS_PERCENT, SHARE(21.0, 20.5, 21.5, "flops.fma")},
    {C, "f16", IFM_M_READ_BYTES_PER_S, RATE(1.2e10, 1.1e10, 1.3e10)},
    {C, "int8", IFM_M_STEP_NS, RATE(550, 545, 555)},
    {C, "int8", IFM_M_SPEEDUP, RATE(1.82, 1.80, 1.84)},
    {C, "int8", IFM_M_CHANGE_PERCENT, SHARE(-45, -46, -44, "faster")},
    {C, "int8", IFM_M_BYTES_RATIO, EXACT(1.879)},
    {C, "int8", IFM_M_BITS_PER_VALUE, EXACT(8.5)},
    {C, "int8", IFM_M_LOSS_RMS_REL, EXACT(0.006)},
    {C, "int8", IFM_M_ARITHMETIC_INTENSITY, EXACT(7.5)},
    {C, "int8", IFM_M_FLOPS_PER_S, WORD(IFM_STATE_ABSENT, integer_reason, "")},
    {C, "int8", IFM_M_READ_BYTES_PER_S, RATE(1.1e10, 1.0e10, 1.2e10)},
    {C, "int8", IFM_M_CEILING_READ_PERCENT, RATE(89.7, 89.4, 90.0)},
    {C, "int4", IFM_M_STEP_NS, RATE(285, 280, 290)},
    {C, "int4", IFM_M_SPEEDUP, RATE(3.51, 3.48, 3.54)},
    {C, "int4", IFM_M_CHANGE_PERCENT, SHARE(-71, -72, -70, "faster")},
    {C, "int4", IFM_M_BYTES_RATIO, EXACT(3.7)},
    {C, "int4", IFM_M_BITS_PER_VALUE, EXACT(4.3)},
    {C, "int4", IFM_M_LOSS_RMS_REL, EXACT(0.079)},
    {C, "evict", IFM_M_STEP_NS, RATE(310, 305, 315)},
    {C, "evict", IFM_M_SPEEDUP, RATE(3.2, 3.1, 3.3)},
    {C, "evict", IFM_M_CHANGE_PERCENT, SHARE(-68, -69, -67, "faster")},
    {C, "evict", IFM_M_BITS_PER_VALUE, EXACT(4.8)},
    {C, "evict", IFM_M_LOSS_RMS_REL, EXACT(0.31)},
    {C, "", IFM_M_CEILING_READ, SHARE(1.3e10, 1.29e10, 1.31e10, "read.linear")},
    {C, "", IFM_M_CEILING_FLOPS, SHARE(2.35e11, 2.34e11, 2.36e11, "flops.fma")},
};
static struct ifm_plan plan = {.run_id = "a1b2", .config_hash = "5f70", .device = "cpu", .cells = cells, .n_cells = 1};
static struct ifm_derived derived = {
    .run_id = "a1b2", .config_hash = "5f70", .numbers = numbers, .n_numbers = COUNT(numbers)};

static struct ifm_arena *arena;
static struct ifm_document *document;
static struct ifm_number kept[COUNT(numbers)];

static void build(const struct ifm_plan *of_plan, const struct ifm_derived *of_derived)
{
    static struct ifm_publication publication;
    publication = sample_publication(NULL);
    publication.plan = of_plan;
    publication.derived = of_derived;
    struct ifm_error error;
    assert_int_equal(ifm_document_build(&publication, IFM_LEVEL_VERBOSE, arena, &document, &error), IFM_OK);
}

static int set_up(void **state)
{
    (void)state;
    arena = ifm_arena_create();
    sample_fill(numbers, COUNT(numbers));
    memcpy(kept, numbers, sizeof kept);
    build(&plan, &derived);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    memcpy(numbers, kept, sizeof kept);
    cells[0].arms = arms;
    cells[0].n_arms = COUNT(arms);
    ifm_arena_destroy(arena);
    return 0;
}

static struct ifm_value *number_of(const char *arm, const char *metric)
{
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (strcmp(numbers[i].arm, arm) == 0 && strcmp(ifm_metrics[numbers[i].metric].id, metric) == 0)
            return &numbers[i].value;
    fail_msg("no %s of %s", metric, arm);
    return NULL;
}

static bool draw(ifm_figure_maker *maker, size_t cell, const struct ifm_picture *picture, struct ifm_figure *figure)
{
    return maker(&(struct ifm_chart){document, &document->plan->cells[cell], picture, document->arena}, figure);
}

static struct ifm_figure figure_of(ifm_figure_maker *maker, const struct ifm_picture *picture)
{
    struct ifm_figure figure = {0};
    assert_true(draw(maker, 0, picture, &figure));
    return figure;
}

/* Does the table say `part` in the row of `arm`? */
static bool table_says(const struct ifm_figure *figure, const char *arm, const char *part)
{
    const struct ifm_grid *grid = &figure->numbers;
    for (size_t r = 0; r < grid->n_rows; r++)
        for (size_t c = 1; strcmp(grid->fields[r * grid->n_columns].text, arm) == 0 && c < grid->n_columns; c++)
            if (strstr(grid->fields[r * grid->n_columns + c].text, part) != NULL)
                return true;
    return false;
}

/* ---- what they say ---- */

static void the_ratio_says_how_much_and_beyond_what(void **state)
{
    (void)state;
    double ratios[] = {1.79, 1.86, 1.82};
    struct ifm_picture_arm pictures[COUNT(arms)] = {0};
    for (size_t a = 0; a < COUNT(arms); a++)
        pictures[a].arm = &arms[a];
    pictures[1].ratios = ratios;
    pictures[1].n_ratios = 3;
    struct ifm_picture picture = {.cell = &cells[0], .arms = pictures};
    struct ifm_figure figure = figure_of(ifm_figure_ratio, &picture);
    assert_string_equal(figure.id, "decode-ratio");
    assert_facts(figure.sentence, "f16|3 faster|int4|3.51x");
    assert_null(strstr(figure.sentence, "int8")); /* drawn, and in the table: the sentence stays short */
    assert_int_equal(count_of(figure.svg.data, "<circle"), 3);
    assert_int_equal(count_of(figure.svg.data, "class=\"hollow\""), 2); /* evict has no ratio of bytes */
    assert_int_equal(count_of(figure.svg.data, "class=\"dots faint\""), 1);
    assert_true(table_says(&figure, "int4", "3.51x") && table_says(&figure, "int4", "95 %"));
    ifm_figure_free(&figure);
    figure = figure_of(ifm_figure_ratio, NULL);
    assert_null(strstr(figure.sentence, "scatter"));
    assert_null(strstr(figure.svg.data, "class=\"q95\"")); /* nobody set a limit */
    ifm_figure_free(&figure);
    struct ifm_gate gate = {.name = "no-regression",
                            .metric = "change_percent",
                            .cell = "",
                            .arm = "",
                            .op = IFM_GATE_AT_MOST,
                            .threshold = 3,
                            .interval = true};
    plan.gates = &gate;
    plan.n_gates = 1;
    figure = figure_of(ifm_figure_ratio, NULL);
    assert_int_equal(count_of(figure.svg.data, "class=\"q95\""), 1);
    assert_non_null(strstr(figure.svg.data, "dashed: gate "));
    plan.n_gates = 0;
    ifm_figure_free(&figure);
}

/* However long it was measured: a run has up to 10,000 blocks. */
static void a_page_does_not_grow_with_the_blocks(void **state)
{
    (void)state;
    static double ratios[10000];
    struct ifm_picture_arm pictures[COUNT(arms)] = {0};
    for (size_t i = 0; i < COUNT(ratios); i++)
        ratios[i] = 1.8 + 1e-5 * (double)(i % 1000);
    for (size_t a = 0; a < COUNT(arms); a++)
        pictures[a] =
            (struct ifm_picture_arm){.arm = &arms[a], .ratios = ratios, .n_ratios = a == 0 ? 0 : COUNT(ratios)};
    struct ifm_picture picture = {.cell = &cells[0], .arms = pictures};
    struct ifm_figure figure = figure_of(ifm_figure_ratio, &picture);
    assert_non_null(strstr(figure.svg.data, "dots: one block in 84"));
    ifm_figure_free(&figure);
    static const struct {
        size_t blocks, dots;
    } cases[] = {{119, 119}, {120, 120}, {121, 61}, {240, 120}, {241, 81}, {360, 120}, {361, 91}, {10000, 120}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t a = 1; a < COUNT(arms); a++)
            pictures[a].n_ratios = cases[i].blocks;
        figure = figure_of(ifm_figure_ratio, &picture);
        assert_int_equal(count_of(figure.svg.data, "h0"), 3 * cases[i].dots);
        ifm_figure_free(&figure);
    }
}

static void axis_of(ifm_figure_maker *maker, double *low, double *high)
{
    struct ifm_figure figure = figure_of(maker, NULL);
    assert_int_equal(sscanf(strstr(figure.svg.data, "data-x="), "data-x=\"log %lf %lf", low, high), 2);
    ifm_figure_free(&figure);
}

/* Of one comparison the axis holds the interval, however wide; of three, one that is far wider is cut. */
static void an_axis_holds_the_interval_of_one_comparison(void **state)
{
    (void)state;
    ifm_figure_maker *const makers[] = {ifm_figure_answer, ifm_figure_ratio};
    struct ifm_value *speedup = number_of("int8", "speedup");
    double low, high;
    *speedup = (struct ifm_value)RATE(1.05, 0.7, 1.4);
    sample_fill(numbers, COUNT(numbers));
    for (size_t i = 0; i < COUNT(makers); i++) {
        cells[0].n_arms = 2;
        axis_of(makers[i], &low, &high);
        assert_true(low < 0.7 && low > 0.6 && high > 1.4 && high < 2.1);
        cells[0].n_arms = COUNT(arms);
        speedup->high = 300;
        axis_of(makers[i], &low, &high);
        assert_true(high < 30);
        speedup->high = 1.4;
    }
}

/* The label of the fastest arm begins at its mark and would leave the drawing in a wide font: it ends at the edge. */
static void a_label_ends_at_the_edge(void **state)
{
    (void)state;
    number_of("int4", "speedup")->number = 3.51;
    struct ifm_figure figure = figure_of(ifm_figure_answer, NULL);
    const char *label = strstr(figure.svg.data, ">int4</text>"), *from = label;
    while (from > figure.svg.data && *from != '<')
        from--;
    assert_true(label != NULL && attribute(from, "x") == 340);
    assert_true(strstr(from, "text-anchor=\"end\"") != NULL && strstr(from, "text-anchor=\"end\"") < label);
    ifm_figure_free(&figure);
}

/* The dot of an arm without an answer is an outline, its label says so, and the legend what that means. */
static void an_undecided_arm_looks_so(void **state)
{
    (void)state;
    ifm_figure_maker *const makers[] = {ifm_figure_answer, ifm_figure_ratio};
    for (size_t i = 0; i < COUNT(makers); i++) {
        struct ifm_figure figure = figure_of(makers[i], NULL);
        const size_t decided = count_of(figure.svg.data, "<circle class=\"fill\"");
        assert_int_equal(count_of(figure.svg.data, "class=\"undecided\""), 0);
        assert_null(strstr(figure.svg.data, "open dot"));
        ifm_figure_free(&figure);
        struct ifm_value *change = number_of("int4", "change_percent");
        const char *word = change->text;
        change->text = "undecided";
        figure = figure_of(makers[i], NULL);
        assert_int_equal(count_of(figure.svg.data, "<circle class=\"undecided\""), 1);
        assert_int_equal(count_of(figure.svg.data, "<circle class=\"fill\""), decided - 1);
        assert_non_null(strstr(figure.svg.data, "open dot: undecided"));
        assert_true(i == 1 || strstr(figure.svg.data, ">int4, undecided") != NULL);
        ifm_figure_free(&figure);
        change->text = word;
    }
}

static void a_refused_speed_is_named_and_not_drawn(void **state)
{
    (void)state;
    *number_of("int4", "speedup") =
        (struct ifm_value){.state = IFM_STATE_REFUSED, .number = 3.51, .reason = rule_3, .remedy = "", .text = ""};
    /* The view has been built before: it has no such note, and the table gives the reason itself. */
    struct ifm_figure figure = figure_of(ifm_figure_ratio, NULL);
    assert_int_equal(count_of(figure.svg.data, "<circle"), 2);
    assert_facts(figure.sentence, "evict|3.20x|int4");
    assert_true(table_says(&figure, "int4", "refused") && table_says(&figure, "int4", rule_3));
    assert_false(table_says(&figure, "int4", "faster")); /* no decision beside a speed that is withheld */
    ifm_figure_free(&figure);
    build(&plan, &derived);
    figure = figure_of(ifm_figure_ratio, NULL);
    unsigned note = ifm_grid_at(&figure.numbers, 1, 1)->note;
    assert_true(note > 0);
    assert_string_equal(document->notes[note - 1].text, rule_3);
    assert_false(table_says(&figure, "int4", "rule-03"));
    ifm_figure_free(&figure);
    number_of("int8", "speedup")->state = IFM_STATE_REFUSED;
    number_of("evict", "speedup")->state = IFM_STATE_ABSENT;
    assert_false(draw(ifm_figure_ratio, 0, NULL, &figure));
    assert_int_equal(figure.svg.size, 0);
}

static void the_frontier_names_who_beats_whom(void **state)
{
    (void)state;
    struct ifm_figure figure = figure_of(ifm_figure_frontier, NULL);
    assert_facts(figure.sentence, "f16|16 bits|exact|int8|evict");
    assert_true(strstr(figure.sentence, "16 bits") < strstr(figure.sentence, "int8")); /* it is f16 that keeps them */
    assert_facts(strstr(figure.sentence, "evict"), "frontier|int4");
    assert_int_equal(count_of(figure.svg.data, "class=\"hollow\""), 1);
    assert_int_equal(count_of(figure.svg.data, "<circle class=\"fill\""), 3);
    assert_true(table_says(&figure, "evict", "int4") && table_says(&figure, "int8", "on it"));
    ifm_figure_free(&figure);
    /* Intervals that touch decide nothing. */
    number_of("evict", "step_ns")->low = 285;
    build(&plan, &derived);
    figure = figure_of(ifm_figure_frontier, NULL);
    assert_null(strstr(figure.sentence, "frontier"));
    assert_true(table_says(&figure, "evict", "on it"));
    assert_int_equal(count_of(figure.svg.data, "class=\"hollow\""), 0);
    ifm_figure_free(&figure);
    number_of("int4", "loss_rms_rel")->state = IFM_STATE_ABSENT;
    figure = figure_of(ifm_figure_frontier, NULL);
    assert_int_equal(count_of(figure.svg.data, "<circle class=\"fill\""), 3);
    assert_facts(figure.sentence, "int4"); /* by its name alone */
    assert_null(strstr(figure.sentence, "4.3 bits"));
    ifm_figure_free(&figure);
}

/* A second arm with a FLOP rate: of one dot a roofline says less than the rates beside their ceilings. */
static void two_dots(void)
{
    *number_of("int8", "flops_per_s") = *number_of("f16", "flops_per_s");
    build(&plan, &derived);
}

static void the_roofline_has_two_dots_and_both_roofs(void **state)
{
    (void)state;
    struct ifm_figure figure = {0};
    assert_false(draw(ifm_figure_roofline, 0, NULL, &figure));
    two_dots();
    figure = figure_of(ifm_figure_roofline, NULL);
    assert_facts(figure.sentence, "f16|92.3 % [92.0, 92.6]|read ceiling|int8");
    assert_int_equal(count_of(figure.svg.data, "<circle"), 2);
    assert_int_equal(count_of(figure.svg.data, "<path class=\"line\""), 2);
    assert_facts(figure.svg.data, "read ceiling 13.00 GB/s ±0.10|read.linear");
    ifm_figure_free(&figure);
    derived.n_numbers -= 2; /* the ceilings */
    build(&plan, &derived);
    assert_false(draw(ifm_figure_roofline, 0, NULL, &figure));
    derived.n_numbers += 2;
}

static void no_line_of_memory_where_caches_serve(void **state)
{
    (void)state;
    two_dots();
    for (int a = 0; a < 2; a++) {
        struct ifm_value *share = number_of(a == 0 ? "f16" : "int8", "ceiling_read_percent");
        share->state = IFM_STATE_ABSENT;
        share->reason = resident_reason;
    }
    build(&plan, &derived);
    struct ifm_figure figure = {0};
    assert_false(draw(ifm_figure_roofline, 0, NULL, &figure));
    figure = figure_of(ifm_figure_rates, NULL);
    assert_null(strstr(figure.svg.data, "13.00 GB/s"));
    assert_facts(figure.sentence, resident_reason);
    ifm_figure_free(&figure);
}

static void rates_stand_against_their_ceiling(void **state)
{
    (void)state;
    struct ifm_figure figure = figure_of(ifm_figure_rates, NULL);
    assert_int_equal(count_of(figure.svg.data, "<svg"), 2);
    assert_facts(figure.svg.data, "measured ceiling 13.00 GB/s");
    assert_facts(figure.sentence, "13.00 GB/s|f16 92.3 % [92.0, 92.6]|int8 89.7 %");
    const char *arithmetic = strstr(figure.sentence, "235.0 GFLOP/s"); /* there int8 is named too, without a rate */
    assert_non_null(arithmetic);
    assert_facts(arithmetic, "f16 21.0 %|int8");
    assert_int_equal(count_of(figure.svg.data, "class=\"fill\""), 3);
    ifm_figure_free(&figure);
}

static void caches_are_a_curve_with_marks(void **state)
{
    (void)state;
    struct ifm_publication publication = sample_publication(NULL);
    build(publication.plan, publication.derived);
    struct ifm_figure figure = {0};
    assert_true(draw(ifm_figure_caches, 1, NULL, &figure));
    assert_int_equal(count_of(figure.svg.data, "<circle"), 6);
    assert_int_equal(count_of(figure.svg.data, "class=\"mark\""), 2);
    assert_facts(figure.sentence, "1.190 ns ±0.010|16 KiB|97.4 ns ±1.5|512 MiB|L1 of 32 KiB|L2 of 1 MiB");
    assert_int_equal(figure.numbers.n_rows, 6);
    ifm_figure_free(&figure);
    assert_false(draw(ifm_figure_caches, 0, NULL, &figure));
    assert_false(draw(ifm_figure_frontier, 0, NULL, &figure)); /* it stores nothing */
}

static void cells_of_like_names_have_ids_of_their_own(void **state)
{
    (void)state;
    struct ifm_cell two[] = {cells[0], cells[0]};
    two[0].name = "a=b";
    two[1].name = "a b";
    two[1].index = 1;
    struct ifm_number of_two[2 * COUNT(numbers)];
    for (size_t i = 0; i < 2 * COUNT(numbers); i++) {
        of_two[i] = numbers[i / 2];
        of_two[i].cell = two[i % 2].name;
    }
    struct ifm_plan both = plan;
    both.cells = two;
    both.n_cells = 2;
    struct ifm_derived all = {.run_id = "a1b2", .config_hash = "5f70", .numbers = of_two, .n_numbers = COUNT(of_two)};
    build(&both, &all);
    struct ifm_figure a = {0}, b = {0};
    assert_true(draw(ifm_figure_ratio, 0, NULL, &a));
    assert_true(draw(ifm_figure_ratio, 1, NULL, &b));
    assert_string_not_equal(a.id, b.id);
    ifm_figure_free(&b);
    struct ifm_arm ours[] = {arms[0], {.name = "ours", .role = IFM_ROLE_VARIANT, .workload = "decode"}};
    two[1].arms = ours; /* on the first screen another arm has another colour */
    for (size_t i = two[1].n_arms = COUNT(ours); i < COUNT(of_two); i++)
        of_two[i].arm = i % 2 == 1 && strcmp(of_two[i].arm, "int8") == 0 ? "ours" : of_two[i].arm;
    assert_true(draw(ifm_figure_answer, 0, NULL, &b));
    assert_int_equal(10 * count_of(b.svg.data, "<g class=\"s4\">") + count_of(b.svg.data, "<g class=\"s1\">"), 22);
    ifm_figure_free(&a);
    ifm_figure_free(&b);
}

static void many_arms_are_cut_and_it_is_said(void **state)
{
    (void)state;
    enum { N = 60 };
    static struct ifm_arm many[N];
    static struct ifm_number of[2 * N];
    size_t count = 0;
    for (size_t a = 0; a < N; a++) {
        many[a] = (struct ifm_arm){.name = ifm_arena_printf(arena, "arm %zu", a),
                                   .role = a == 0 ? IFM_ROLE_BASELINE : IFM_ROLE_VARIANT};
        if (a > 0) {
            of[count++] = (struct ifm_number){C, many[a].name, IFM_M_SPEEDUP, RATE(1 + (double)a / N, 0.9, 2.2)};
            of[count++] = (struct ifm_number){C, many[a].name, IFM_M_CHANGE_PERCENT, SHARE(-1, -2, 0, "undecided")};
        }
    }
    sample_fill(of, count);
    cells[0].arms = many;
    cells[0].n_arms = N;
    struct ifm_derived all = derived;
    all.numbers = of;
    all.n_numbers = count;
    build(&plan, &all);
    struct ifm_figure figure = figure_of(ifm_figure_ratio, NULL);
    assert_int_equal(count_of(figure.svg.data, "<circle"), 24);
    assert_facts(figure.sentence, "59 arms|arm 0|59 undecided|arm 59|1.98x|first 24");
    assert_int_equal(figure.numbers.n_rows, N - 1);
    ifm_figure_free(&figure);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_ratio_says_how_much_and_beyond_what),
        TEST(a_page_does_not_grow_with_the_blocks),
        TEST(a_refused_speed_is_named_and_not_drawn),
        TEST(an_axis_holds_the_interval_of_one_comparison),
        TEST(a_label_ends_at_the_edge),
        TEST(an_undecided_arm_looks_so),
        TEST(the_frontier_names_who_beats_whom),
        TEST(the_roofline_has_two_dots_and_both_roofs),
        TEST(no_line_of_memory_where_caches_serve),
        TEST(rates_stand_against_their_ceiling),
        TEST(caches_are_a_curve_with_marks),
        TEST(cells_of_like_names_have_ids_of_their_own),
        TEST(many_arms_are_cut_and_it_is_said),
    };
    return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
