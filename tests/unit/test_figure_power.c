/* The figure of power over time, and the GPUs of the record. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "derive/derive.h"
#include "derive/energy/power_run.h"
#include "energy_sample.h"
#include "fact_pieces.h"
#include "facts.h"
#include "power_pass.h"
#include "publish/compose.h"
#include "report/figure.h"

struct drawn {
    struct energy_sample energy;
    struct power_sample power;
    struct ifm_document *document;
    struct ifm_figure figure;
    bool made;
};
static struct drawn d;

static void make(void)
{
    memset(&d, 0, sizeof d);
    energy_sample_make(&d.energy);
    power_sample_make(&d.power, &d.energy.cells[0]);
    struct ifm_error error;
    assert_int_equal(
        ifm_document_build(&d.energy.publication, IFM_LEVEL_VERBOSE, ifm_arena_create(), &d.document, &error), IFM_OK);
}

static void draw(void)
{
    const struct ifm_chart chart = {d.document, &d.document->plan->cells[0], NULL, d.document->arena};
    d.document->powers = &d.power.shown;
    d.document->n_powers = 1;
    d.made = ifm_figure_power(&chart, &d.figure);
}

static void end(void)
{
    ifm_figure_free(&d.figure);
    ifm_arena_destroy(d.document->arena);
}

static void expect(const char *text, const char *words)
{
    if (text == NULL || strstr(text, words) == NULL)
        fail_msg("\"%.6000s\" does not say \"%s\"", text == NULL ? "" : text, words);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        n++;
    return n;
}

static const struct ifm_field *find_field(const struct ifm_grid *grid, size_t row, const char *heading)
{
    for (size_t c = 0; c < grid->n_columns; c++)
        if (strcmp(grid->headings[c].text, heading) == 0)
            return &grid->fields[row * grid->n_columns + c];
    fail_msg("no column %s", heading);
    return NULL;
}

static const char *field_of(const struct ifm_grid *grid, size_t row, const char *heading)
{
    return find_field(grid, row, heading)->text;
}

static const char *interval_of(const struct ifm_grid *grid, size_t row, const char *heading)
{
    return find_field(grid, row, heading)->interval;
}

/* Nothing endless, all groups closed, every mark in the drawing, and small enough for a page of many cells. */
static void hold_drawing(void)
{
    const char *svg = d.figure.svg.data;
    double width, height;
    assert_true(d.figure.svg.size < 40000);
    assert_int_equal(sscanf(svg, "<svg viewBox=\"0 0 %lf %lf\"", &width, &height), 2);
    assert_int_equal(count(svg, "nan"), 0);
    assert_int_equal(count(svg, "inf"), 0);
    assert_int_equal(count(svg, "<g "), count(svg, "</g>"));
    for (const char *at = svg; (at = strpbrk(at, "ML")) != NULL; at++) {
        double x, y;
        if (sscanf(at + 1, "%lf %lf", &x, &y) == 2 && !(x >= 0 && x <= width && y >= 0 && y <= height))
            fail_msg("a mark at %g, %g of %g x %g", x, y, width, height);
    }
}

static void lines_phases_and_limit_are_drawn(void **state)
{
    (void)state;
    make();
    draw();
    assert_true(d.made);
    hold_drawing();
    const char *svg = d.figure.svg.data;
    assert_string_equal(d.figure.id, "decode-kv_len-4096-power");
    assert_int_equal(count(svg, "class=\"phase\""), POWER_WINDOWS);
    assert_int_equal(count(svg, ", pre-roll"), 6);
    assert_int_equal(count(svg, "<title>idle, 5"), 2);
    expect(svg, "class=\"power-sum\"");
    expect(svg, "sum of");
    expect(svg, "gpu0 nvml_energy");
    expect(svg, "gpu0 nvml_instant (not counted)");
    expect(svg, "gpu0, 700 W");
    expect(svg, "of half");
    assert_facts(d.figure.sentence, "gpu0|452.5 W");
    assert_facts(d.figure.sentence, "nvml_energy|nvml_samples|0.15 %");
    end();
}

static void a_limit_far_above_is_not_drawn(void **state)
{
    (void)state;
    make();
    d.power.devices[0].limit_w = 5000;
    draw();
    assert_int_equal(count(d.figure.svg.data, "limit of"), 0);
    end();
}

/* Of one device alone the sum is its own line, and is drawn once. */
static void one_device_is_drawn_once(void **state)
{
    (void)state;
    make();
    d.power.shown.power.n_devices = 1;
    d.power.shown.n_traces = 3;
    draw();
    assert_int_equal(count(d.figure.svg.data, ">gpu0 nvml_energy<"), 1);
    assert_int_equal(count(d.figure.svg.data, "sum of"), 0);
    end();
}

/* Where no reading is, no line is: neither at zero nor across. */
static void a_gap_stays_a_gap(void **state)
{
    (void)state;
    make();
    d.power.shown.n_traces = 1;
    for (size_t i = 400; i < 500; i++)
        d.power.watts[0][i] = NAN;
    draw();
    hold_drawing();
    assert_int_equal(count(d.figure.svg.data, "class=\"power-sum\" d="), 2 + 1); /* and in the legend */
    end();
}

static void tables_say_what_was_taken(void **state)
{
    (void)state;
    make();
    draw();
    const struct ifm_grid *windows = &d.figure.numbers, *sensors = &d.figure.more[0].grid;
    assert_int_equal(windows->n_rows, 2 * POWER_WINDOWS);
    assert_string_equal(field_of(windows, 0, "energy"), "6831 J");
    assert_string_equal(field_of(windows, 0, "steps"), "15840");
    assert_string_equal(field_of(windows, 0, "energy/step"), "0.4313 J");
    assert_string_equal(field_of(windows, 0, "witness"), "+0.15 %");
    assert_string_equal(field_of(windows, POWER_WINDOWS, "witness"), "");
    assert_int_equal(sensors->n_rows, POWER_FACTS);
    assert_string_equal(field_of(sensors, 0, "role"), "counted");
    assert_string_equal(field_of(sensors, 0, "gain"), "±5 %");
    assert_string_equal(field_of(sensors, 0, "idle"), "128.1 W");
    assert_facts(field_of(sensors, 3, "what it is"), "instantaneous|never integrated");
    assert_string_equal(field_of(sensors, 4, "gain"), "");
    assert_string_equal(field_of(sensors, 1, "lag"), "12 ms"); /* measured, not what was told */
    assert_string_equal(interval_of(sensors, 1, "lag"), "10 ms to 14 ms, n 2");
    assert_string_equal(field_of(sensors, 1, "window"), "45 ms");
    assert_string_equal(field_of(sensors, 2, "window"), "1 s"); /* told */
    assert_string_equal(interval_of(sensors, 2, "window"), "not measured");
    assert_int_equal(d.figure.more[1].grid.n_rows, POWER_PHASES);
    end();
}

static void a_window_that_is_not_used_says_why(void **state)
{
    (void)state;
    make();
    d.power.windows[0][2].fault = "readings were lost";
    d.power.windows[0][3].by_primary.why = "the counter ticked 3 times";
    draw();
    assert_string_equal(field_of(&d.figure.numbers, 2, "not used"), "readings were lost");
    assert_string_equal(field_of(&d.figure.numbers, 3, "not used"), "the counter ticked 3 times");
    assert_string_equal(field_of(&d.figure.numbers, 3, "energy"), "");
    assert_string_equal(field_of(&d.figure.numbers, 2, "energy/step"), "");
    assert_facts(d.figure.sentence, "2 of 8 windows|not used");
    end();
}

static void nothing_is_drawn_of_nothing(void **state)
{
    (void)state;
    make();
    for (size_t t = 0; t < POWER_TRACES; t++)
        for (size_t i = 0; i < POWER_STEPS; i++)
            d.power.watts[t][i] = NAN;
    draw();
    assert_false(d.made);
    assert_null(d.figure.svg.data);
    end();
}

/* ---- GPUs ---- */

static json_t *state_event(const char *when, int cap, int thermal)
{
    return json_pack("{s:s, s:{s:s, s:s*, s:s*, s:[{s:i, s:{s:i, s:i}, s:{s:i}, s:[]}, {s:i, s:s}]}}", "stage",
                     "gpu_state", "meta", "when", when, "cell", strcmp(when, "cell") == 0 ? "a" : NULL, "at",
                     strcmp(when, "cell") == 0 ? "start" : NULL, "gpus", "index", 0, "accumulators", "power_cap_ns",
                     cap, "hw_thermal_ns", thermal, "clock_mhz", "sm", 1905, "event_reasons", "index", 1, "absent",
                     "GPU is lost");
}

static void throttling_is_a_difference(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_gpu_held *held;
    json_t *events = json_array();
    json_array_append_new(events, state_event("before", 1000, 90));
    assert_int_equal(ifm_derive_gpu_held(events_of(events, arena), arena, &held), 0); /* one reading says nothing */
    json_array_append_new(events, state_event("cell", 2000, 5));
    json_array_append_new(events, state_event("after", 41001000, 7)); /* the other one began anew */
    assert_int_equal(ifm_derive_gpu_held(events_of(events, arena), arena, &held), 1);
    assert_int_equal(held[0].gpu, 0);
    assert_string_equal(held[0].name, "power_cap_ns");
    assert_int_equal(held[0].ns, 41000000);
    json_decref(events);
    ifm_arena_destroy(arena);
}

static void the_page_tells_of_gpus(void **state)
{
    (void)state;
    make();
    json_t *events = json_loads(sample_events, 0, NULL);
    struct ifm_arena *arena = ifm_arena_create();
    json_t *host = json_object_get(json_object_get(json_array_get(events, 0), "meta"), "fingerprint");
    json_object_set_new(host, "gpu",
                        json_pack("{s:s, s:[{s:i, s:s, s:{s:f, s:f}, s:{s:s}}]}", "driver", "580.95", "devices",
                                  "index", 0, "name", "NVIDIA <H200>", "power_limit_w", "default", 700.0, "set", 650.0,
                                  "mig", "absent", "not supported"));
    json_array_append_new(events, state_event("before", 1000, 0));
    json_array_append_new(events, state_event("after", 41001000, 0));
    d.energy.publication.events = events_of(events, arena);
    struct ifm_text out = {0};
    struct ifm_error error = {0};
    assert_int_equal(ifm_compose_document(&d.energy.publication, IFM_LEVEL_PAGE, false, true, &out, &error), IFM_OK);
    expect(out.data, "<th scope=\"row\">gpu driver</th><td>580.95</td>");
    expect(out.data, "<th scope=\"row\">gpu 0 name</th><td>NVIDIA &lt;H200&gt;</td>");
    expect(out.data, "gpu 0 power_limit_w</th><td>default 700.0, set 650.0</td>");
    assert_row(out.data, "gpu 0 mig<|class=\"dim\">absent|not supported");
    assert_row(out.data, "gpu 0|after|clock_mhz: sm 1905|event_reasons: none");
    assert_row(out.data, "gpu 1|after|absent|GPU is lost");
    assert_row(out.data, "gpu 0|clock|<td>power cap 41 ms<");
    ifm_text_free(&out);
    json_decref(events);
    ifm_arena_destroy(arena);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_phases_and_limit_are_drawn), cmocka_unit_test(a_limit_far_above_is_not_drawn),
        cmocka_unit_test(one_device_is_drawn_once),         cmocka_unit_test(a_gap_stays_a_gap),
        cmocka_unit_test(tables_say_what_was_taken),        cmocka_unit_test(a_window_that_is_not_used_says_why),
        cmocka_unit_test(nothing_is_drawn_of_nothing),      cmocka_unit_test(throttling_is_a_difference),
        cmocka_unit_test(the_page_tells_of_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
