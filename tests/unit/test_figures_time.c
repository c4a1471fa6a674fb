/* The figures of samples: what they say first, what they leave out, and that nothing withheld is drawn. */
#include "unit/picture_sample.h"

#include "publish/compose.h"
#include "report/figure.h"
#include <stdio.h>

struct shown {
    struct fixture fx;
    struct drawn drawn;
    struct ifm_publication publication;
    struct ifm_document *document;
    struct ifm_figure timeline, distribution;
    bool has_timeline, has_distribution;
};

/* After the fixture's record is as the test wants it. */
static void show(struct shown *s)
{
    fx_end_events(&s->fx);
    fx_derive(&s->fx);
    fx_judge(&s->fx);
    draw_pictures(&s->fx, &s->drawn);
    s->publication = (struct ifm_publication){.plan = &s->fx.plan,
                                              .derived = s->fx.derived,
                                              .verdict = s->fx.verdict,
                                              .events = events_of(s->fx.events, s->fx.arena),
                                              .facts = &s->drawn.facts};
    struct ifm_error error;
    assert_int_equal(ifm_document_build(&s->publication, IFM_LEVEL_VERBOSE, s->fx.arena, &s->document, &error), IFM_OK);
    const struct ifm_cell *cell = &s->fx.plan.cells[0];
    s->timeline = s->distribution = (struct ifm_figure){0};
    const struct ifm_chart chart = {s->document, cell, &s->drawn.pictures[0], s->document->arena};
    s->has_timeline = ifm_figure_timeline(&chart, &s->timeline);
    s->has_distribution = ifm_figure_distribution(&chart, &s->distribution);
}

static void stop(struct shown *s)
{
    ifm_figure_free(&s->timeline);
    ifm_figure_free(&s->distribution);
    fx_stop(&s->fx);
}

static const char quiet[] = "Nothing unusual:"; /* how the sentence of a run begins of which all is known */

static void expect_text(const char *text, const char *facts)
{
    assert_facts(text == NULL ? "" : text, facts);
}

static void expect_none(const char *text, const char *words)
{
    if (text != NULL && strstr(text, words) != NULL)
        fail_msg("\"%s\" says \"%s\"", text, words);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        n++;
    return n;
}

/* The text of a table's field in the row of `name`. */
static const char *field_of(const struct ifm_grid *grid, const char *name, const char *heading)
{
    for (size_t r = 0; r < grid->n_rows; r++)
        for (size_t c = 0; c < grid->n_columns; c++)
            if (strcmp(grid->fields[r * grid->n_columns].text, name) == 0 &&
                strcmp(grid->headings[c].text, heading) == 0)
                return grid->fields[r * grid->n_columns + c].text;
    fail_msg("no row %s or no column %s", name, heading);
    return "";
}

/* No number is missing or endless, every group is closed, and all marks lie in the drawing. */
static void hold_drawing(const struct ifm_figure *figure)
{
    const char *svg = figure->svg.data;
    double width, height;
    assert_true(figure->svg.size < 40000);
    assert_int_equal(sscanf(svg, "<svg viewBox=\"0 0 %lf %lf\"", &width, &height), 2);
    expect_none(svg, "nan");
    expect_none(svg, "inf");
    assert_int_equal(count(svg, "<g "), count(svg, "</g>"));
    assert_int_equal(count(svg, "<svg"), 1);
    for (const char *at = svg; (at = strpbrk(at, "ML")) != NULL; at++) {
        double x, y;
        if (sscanf(at + 1, "%lf %lf", &x, &y) == 2 && !(x >= 0 && x <= width && y >= 0 && y <= height))
            fail_msg("a mark at %g, %g of %g x %g", x, y, width, height);
    }
}

static void a_quiet_run_is_called_quiet(void **state)
{
    (void)state;
    struct shown s;
    fx_start(&s.fx);
    s.fx.seed = 11;
    fx_generate(&s.fx);
    show(&s);
    assert_true(s.has_timeline && s.has_distribution);
    assert_ptr_equal(strstr(s.timeline.sentence, quiet), s.timeline.sentence);
    expect_text(s.timeline.sentence, "block|drift|level");
    expect_text(s.distribution.sentence, "one mode");
    assert_string_equal(field_of(&s.distribution.numbers, "base", "modes"), "1");
    assert_string_equal(field_of(&s.distribution.numbers, "other", "modes"), "1");
    assert_string_equal(s.timeline.id, "decode-timeline");
    assert_string_equal(s.distribution.id, "decode-distribution");
    assert_string_equal(field_of(&s.timeline.numbers, "other", "samples"), "480");
    assert_string_equal(field_of(&s.timeline.numbers, "other", "disturbed"), "0");
    expect_none(s.timeline.svg.data, "class=\"disturbed\"");
    expect_text(s.timeline.svg.data, "class=\"warm\"");
    expect_text(s.distribution.svg.data, "class=\"q95\"");
    hold_drawing(&s.timeline);
    hold_drawing(&s.distribution);
    stop(&s);
}

/* The name goes before the percentiles, which the table has too. */
static void a_name_stands_whole(void **state)
{
    (void)state;
    static const char name[] = "decode-with-prefetch-of-4-pages";
    struct shown s;
    fx_start(&s.fx);
    s.fx.parts[0].arms[1].name = name;
    fx_generate(&s.fx);
    show(&s);
    expect_text(s.distribution.svg.data, ">decode-with-prefetch-of-4-pages</text>");
    expect_text(s.timeline.svg.data, ">decode-with-prefetch-of-4-pages</text>");
    expect_text(s.distribution.svg.data, ">base</text>|median|p95");
    hold_drawing(&s.distribution);
    stop(&s);
}

/* The page has both where the record is at hand, and neither where it is not. */
static void the_page_draws_the_record(void **state)
{
    (void)state;
    struct shown s;
    fx_start(&s.fx);
    fx_generate(&s.fx);
    show(&s);
    s.publication.lock = json_object();
    for (int at_hand = 0; at_hand < 2; at_hand++) {
        struct ifm_text html = {0};
        struct ifm_error error = {0};
        s.publication.facts = at_hand ? &s.drawn.facts : NULL;
        assert_int_equal(ifm_compose_document(&s.publication, IFM_LEVEL_PAGE, false, true, &html, &error), IFM_OK);
        assert_int_equal(count(html.data, "id=\"decode-timeline\""), at_hand);
        assert_int_equal(count(html.data, "id=\"decode-distribution\""), at_hand);
        ifm_text_free(&html);
    }
    json_decref((json_t *)s.publication.lock);
    stop(&s);
}

/* Where the machine's hand was not recorded, nothing is called quiet. */
static void the_unknown_is_not_quiet(void **state)
{
    (void)state;
    struct shown s;
    fx_start(&s.fx);
    s.fx.seed = 11;
    fx_generate(&s.fx);
    for (size_t i = 0; i < s.fx.parts[0].record.n_slots * FX_COLUMNS; i++)
        s.fx.parts[0].record.columns[i] = IFM_ABSENT;
    show(&s);
    expect_none(s.timeline.sentence, quiet);
    expect_text(s.timeline.sentence, "base|stolen time|context switches");
    assert_string_equal(field_of(&s.timeline.numbers, "base", "disturbed"), "absent");
    stop(&s);
}

static void disturbed_blocks_are_told_first(void **state)
{
    (void)state;
    struct shown s;
    fx_start(&s.fx);
    s.fx.warmup_blocks = 5; /* none of the 12 that are counted */
    s.fx.drift = 0.3;
    fx_generate(&s.fx);
    disturb(&s.fx, 3, 12);
    disturb(&s.fx, 4, 20);
    disturb(&s.fx, 8, 30);
    show(&s);
    assert_ptr_equal(strstr(s.timeline.sentence, "3 of 12 blocks"), s.timeline.sentence);
    expect_text(s.timeline.sentence, "block 4|stolen time|12 %|other drifts by +");
    expect_text(field_of(&s.timeline.numbers, "blocks 4 to 5", "remarks"), "stolen time|12 %");
    expect_text(field_of(&s.timeline.numbers, "block 9", "remarks"), "stolen time|30 %");
    assert_int_equal(count(s.timeline.svg.data, "<rect class=\"disturbed\""), 2 + 1); /* and one in the legend */
    assert_int_equal(count(s.timeline.svg.data, "<path class=\"trend\""), 2 + 1);
    /* not behind the words of a strip: hidden there, before they are written */
    assert_int_equal(count(s.timeline.svg.data, "<rect class=\"ground\""), 2);
    assert_true(strstr(s.timeline.svg.data, "class=\"ground\"") < strstr(s.timeline.svg.data, ">base</text>"));
    hold_drawing(&s.timeline);
    stop(&s);
}

/* Of a run under load nearly every other block is disturbed: one element for all of them. */
static void many_disturbed_blocks_are_one_element(void **state)
{
    (void)state;
    struct shown s;
    fx_start(&s.fx);
    s.fx.blocks = 40;
    fx_generate(&s.fx);
    for (unsigned b = 0; b < 40; b += 4)
        disturb(&s.fx, b, 30);
    show(&s);
    expect_text(s.timeline.sentence, "10 of 40 blocks");
    assert_int_equal(count(s.timeline.svg.data, "<rect class=\"disturbed\""), 1); /* in the legend */
    assert_int_equal(count(s.timeline.svg.data, "<path class=\"disturbed\""), 1);
    assert_non_null(field_of(&s.timeline.numbers, "2 more disturbed blocks", "remarks"));
    hold_drawing(&s.timeline);
    stop(&s);
    fx_start(&s.fx);
    s.fx.blocks = 40;
    fx_generate(&s.fx);
    for (unsigned b = 0; b < 36; b += 4)
        disturb(&s.fx, b, 30);
    show(&s);
    assert_non_null(field_of(&s.timeline.numbers, "1 more disturbed block", "remarks"));
    stop(&s);
}

static void late_changes_are_no_steady_state(void **state)
{
    (void)state;
    struct shown s;
    fx_start(&s.fx);
    s.fx.samples = 40;
    fx_generate(&s.fx);
    scale_samples(&s.fx, 1, 0.85, 1, 1.1);
    show(&s);
    expect_text(s.timeline.sentence, "steady state|other|816 of 960 samples");
    expect_text(field_of(&s.timeline.numbers, "other", "remarks"), "steady state|816 of 960 samples");
    assert_int_equal(count(s.timeline.svg.data, "<path class=\"change\""), 1 + 1);
    expect_text(s.timeline.svg.data, "class=\"band\"");
    hold_drawing(&s.timeline);
    stop(&s);
}

/* A rule's reason stands where the arm would; where it withholds every arm, there is no figure. */
static void withheld_arms_are_not_drawn(void **state)
{
    (void)state;
    for (int all = 0; all < 2; all++) {
        struct shown s;
        fx_start(&s.fx);
        fx_generate(&s.fx);
        for (int a = all ? 0 : 1; a < 2; a++) {
            s.fx.parts[0].arms[a].feature = "staging";
            fx_event(&s.fx, "feature",
                     json_pack("{s:s, s:s, s:s, s:i}", "cell", "decode", "arm", a == 0 ? "base" : "other", "feature",
                               "staging", "runs", 0));
        }
        show(&s);
        assert_int_equal(s.has_timeline, !all);
        assert_int_equal(s.has_distribution, !all);
        if (all) {
            assert_true(s.timeline.svg.size == 0 && s.distribution.svg.size == 0);
        } else {
            expect_text(s.timeline.sentence, "other|rule-11");
            expect_text(s.timeline.svg.data, "rule-11");
            expect_text(s.timeline.svg.data, ">other<");
            expect_text(s.distribution.svg.data, ">other<");
            expect_text(s.distribution.svg.data, "rule-11");
            assert_int_equal(count(s.timeline.svg.data, "480 samples"), 1);
            assert_int_equal(count(s.distribution.svg.data, "class=\"density\""), 1);
            hold_drawing(&s.timeline);
            hold_drawing(&s.distribution);
        }
        stop(&s);
    }
}

/* Compared arms come first; the others are counted. Ceilings beside subjects, and probes of a sweep, have no strip. */
static void most_strips_and_none(void **state)
{
    (void)state;
    static const char *const names[] = {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"};
    struct shown s;
    fx_start(&s.fx);
    for (size_t i = 0; i < 8; i++)
        fx_add_arm(&s.fx, 0, names[i], IFM_ROLE_VARIANT, 100000);
    fx_add_arm(&s.fx, 0, "read.linear", IFM_ROLE_CEILING, 50000)->ceiling = IFM_CEILING_READ;
    fx_generate(&s.fx);
    show(&s);
    expect_text(s.timeline.sentence, "2 more");
    expect_text(s.distribution.sentence, "2 more");
    expect_text(s.timeline.svg.data, ">a6<");
    expect_none(s.timeline.svg.data, ">a7<");
    expect_none(s.timeline.svg.data, "read.linear");
    stop(&s);

    fx_start(&s.fx);
    s.fx.parts[0].arms[0] = s.fx.parts[0].arms[1];
    for (size_t a = 0; a < 2; a++) {
        s.fx.parts[0].arms[a].name = a == 0 ? "caches.4KiB" : "caches.8KiB";
        s.fx.parts[0].arms[a].ledger.rows = 100;
        s.fx.parts[0].arms[a].role = IFM_ROLE_VARIANT;
    }
    fx_generate(&s.fx);
    show(&s);
    assert_false(s.has_timeline || s.has_distribution);
    stop(&s);
}

/* One sample a thousand times as long does not squash the others: it is a mark at the edge, and is told. */
static void far_outliers_do_not_squash(void **state)
{
    (void)state;
    struct shown s;
    fx_start(&s.fx);
    fx_generate(&s.fx);
    scale_samples(&s.fx, 1, 0.5, 480, 1);
    struct ifm_record *r = &s.fx.parts[0].record;
    size_t k = 20;
    while (r->slots[k].arm != 1)
        k++;
    r->samples[r->first[k] + 3].duration_ns *= 1000;
    set_clock(&s.fx);
    show(&s);
    const struct ifm_picture_arm *arm = &s.drawn.pictures[0].arms[1];
    assert_true(arm->above >= 1 && arm->edges[arm->n_bins] < 200000);
    expect_text(s.timeline.svg.data, "class=\"dots beyond\"");
    expect_text(field_of(&s.timeline.numbers, "other", "remarks"), "far above");
    expect_none(s.timeline.svg.data, "logarithmic");
    expect_text(s.distribution.sentence, "1 of 480 samples|other");
    expect_none(s.distribution.svg.data, "logarithmic");
    hold_drawing(&s.timeline);
    hold_drawing(&s.distribution);
    stop(&s);
}

static void modes_and_wide_spreads_are_told(void **state)
{
    (void)state;
    struct shown s;
    fx_start(&s.fx);
    s.fx.samples = 40;
    s.fx.parts[0].step_ns[0] = 5000;
    fx_generate(&s.fx);
    scale_samples(&s.fx, 1, 0, 2, 1.2);
    show(&s);
    expect_text(s.distribution.sentence, "other (50 %|other spreads");
    assert_true(strstr(s.distribution.sentence, "50 %") < strstr(s.distribution.sentence, "spreads")); /* modes first */
    expect_text(s.distribution.svg.data, "logarithmic");
    assert_string_equal(field_of(&s.distribution.numbers, "other", "modes"), "2");
    hold_drawing(&s.distribution);
    stop(&s);
}

/* Equal samples; one sample a slot; zero at the clock's foot: drawn without a division by nothing. */
static void degenerate_records_are_drawn(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        struct shown s;
        fx_start(&s.fx);
        s.fx.noise = which == 0 ? 0 : 0.02;
        s.fx.samples = which == 1 ? 1 : 20;
        fx_generate(&s.fx);
        struct ifm_record *r = &s.fx.parts[0].record;
        for (size_t k = 0; which == 2 && k < r->n_slots; k++)
            r->samples[r->first[k]].duration_ns = 0;
        set_clock(&s.fx);
        show(&s);
        assert_true(s.has_timeline && s.has_distribution);
        if (which == 0) /* an axis of one nanosecond would need more digits than these */
            assert_int_equal(count(s.timeline.svg.data, ">100.0 µs<"), 2);
        hold_drawing(&s.timeline);
        hold_drawing(&s.distribution);
        stop(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_run_is_called_quiet),
        cmocka_unit_test(the_unknown_is_not_quiet),
        cmocka_unit_test(a_name_stands_whole),
        cmocka_unit_test(the_unknown_is_not_quiet),
        cmocka_unit_test(disturbed_blocks_are_told_first),
        cmocka_unit_test(many_disturbed_blocks_are_one_element),
        cmocka_unit_test(late_changes_are_no_steady_state),
        cmocka_unit_test(withheld_arms_are_not_drawn),
        cmocka_unit_test(most_strips_and_none),
        cmocka_unit_test(far_outliers_do_not_squash),
        cmocka_unit_test(modes_and_wide_spreads_are_told),
        cmocka_unit_test(degenerate_records_are_drawn),
        cmocka_unit_test(the_page_draws_the_record),
    };
    return cmocka_run_group_tests_name("figures_time", tests, NULL, NULL);
}
