/* The paper that figures are drawn on: positions, ticks, names that do not overlap, and nothing drawn at no place. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/random.h"
#include "report/plot.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 20000 };

static struct ifm_arena *arena;

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

/* An axis over any stretch of numbers: from parts of a millionth of its place to a hundred decades. */
static struct ifm_plot_axis any_axis(struct ifm_random *random)
{
    static const char *const units[] = {"", "x", "ns", "B", "B/s", "%", "FLOP/s", "1"};
    double place = pow(10, 40 * ifm_random_uniform(random) - 20);
    double span = place * pow(10, 26 * ifm_random_uniform(random) - 6);
    struct ifm_plot_axis axis = {.scale = ifm_random_below(random, 2) ? IFM_SCALE_LOG : IFM_SCALE_LINEAR,
                                 .low = place,
                                 .high = place + span,
                                 .unit = units[ifm_random_below(random, 8)],
                                 .title = ""};
    if (axis.scale == IFM_SCALE_LINEAR && ifm_random_below(random, 3) == 0)
        axis.low = -place;
    return axis;
}

static void positions_ascend_with_values(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(1, 0);
    for (int i = 0; i < TRIES; i++) {
        struct ifm_plot plot = {.left = 40, .right = 400, .top = 20, .bottom = 220};
        plot.x = any_axis(&random);
        plot.y = plot.x;
        double last = -INFINITY;
        for (int k = 0; k <= 16; k++) {
            double share = k / 16.0;
            double value = plot.x.scale == IFM_SCALE_LOG ? plot.x.low * pow(plot.x.high / plot.x.low, share)
                                                         : plot.x.low + share * (plot.x.high - plot.x.low);
            double x = ifm_plot_x(&plot, value), y = ifm_plot_y(&plot, value);
            assert_true(x > last);
            assert_true(fabs(x - (40 + 360 * share)) < 1e-3 && fabs(y - (220 - 200 * share)) < 1e-3);
            last = x;
        }
    }
}

static void ticks_ascend_inside_the_axis_and_differ(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(2, 0);
    for (int i = 0; i < TRIES; i++) {
        struct ifm_plot_axis axis = any_axis(&random);
        size_t most = 1 + ifm_random_below(&random, 12);
        struct ifm_tick *ticks;
        size_t n = ifm_plot_ticks(&axis, most, arena, &ticks);
        assert_true(n <= most);
        assert_true(n > 0 || most < 4);
        for (size_t k = 0; k < n; k++) {
            assert_true(ticks[k].at >= axis.low && ticks[k].at <= axis.high);
            assert_null(strstr(ticks[k].text, "nan"));
            assert_null(strstr(ticks[k].text, "inf"));
            assert_true(k == 0 || ticks[k].at > ticks[k - 1].at);
            if (k > 0 && strcmp(ticks[k].text, ticks[k - 1].text) == 0)
                fail_msg("ticks %.17g and %.17g are both %s", ticks[k - 1].at, ticks[k].at, ticks[k].text);
        }
    }
}

/* Axes that numbers can hardly hold, or not at all. */
static void strange_axes_give_no_strange_ticks(void **state)
{
    (void)state;
    const double ends[][2] = {{1e16, 1e16 + 4}, {0, 5e-324}, {-1.7e308, 1.7e308}, {5e-324, 1.7e308},  {1, 1}, {2, 1},
                              {0, INFINITY},    {NAN, 1},    {0, 1e-310},         {1.7e308, INFINITY}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        for (int scale = 0; scale < 2; scale++) {
            struct ifm_plot_axis axis = {(enum ifm_scale)scale, ends[i][0], ends[i][1], "ns", "", false};
            struct ifm_tick *ticks;
            size_t n = ifm_plot_ticks(&axis, 6, arena, &ticks);
            assert_true(n <= 6);
            for (size_t k = 0; k < n; k++) {
                assert_true(isfinite(ticks[k].at) && ticks[k].at >= axis.low && ticks[k].at <= axis.high);
                assert_true(k == 0 || ticks[k].at > ticks[k - 1].at);
            }
        }
}

static void assert_ticks(struct ifm_plot_axis axis, size_t most, const char *expected)
{
    char text[512] = "";
    struct ifm_tick *ticks;
    size_t n = ifm_plot_ticks(&axis, most, arena, &ticks);
    for (size_t k = 0; k < n; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", k == 0 ? "" : "|", ticks[k].text);
    assert_string_equal(text, expected);
}

static void ticks_are_round_and_share_a_unit(void **state)
{
    (void)state;
    assert_ticks((struct ifm_plot_axis){IFM_SCALE_LINEAR, 0, 2.1e6, "ns", "", false}, 5,
                 "0 ms|0.5 ms|1.0 ms|1.5 ms|2.0 ms");
    assert_ticks((struct ifm_plot_axis){IFM_SCALE_LINEAR, 100000, 100040, "ns", "", false}, 4,
                 "100.00 µs|100.01 µs|100.02 µs|100.03 µs");
    assert_ticks((struct ifm_plot_axis){IFM_SCALE_LOG, 0.9, 9, "x", "", false}, 6, "1x|2x|5x");
    assert_ticks((struct ifm_plot_axis){IFM_SCALE_LOG, 0.9, 9, "x", "", false}, 8, "1x|1.5x|2x|3x|5x|7x");
    assert_ticks((struct ifm_plot_axis){IFM_SCALE_LOG, 0.98, 1.05, "x", "", false}, 6, "0.98x|1.00x|1.02x|1.04x");
    assert_ticks((struct ifm_plot_axis){IFM_SCALE_LOG, 16384, 1 << 29, "B", "", false}, 6,
                 "16 KiB|128 KiB|1 MiB|8 MiB|64 MiB|512 MiB");
    assert_ticks((struct ifm_plot_axis){IFM_SCALE_LOG, 1e-7, 1, "1", "", false}, 4, "1e-6|0.0001|0.01|1");
}

/* Names keep their order and their gap, stay inside, and none moves that has room. */
static void names_are_spread(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(3, 0);
    for (int i = 0; i < TRIES / 4; i++) {
        double before[40], y[40], gap = 4 + 10 * ifm_random_uniform(&random);
        size_t n = 1 + ifm_random_below(&random, 40);
        bool apart = true;
        for (size_t k = 0; k < n; k++)
            before[k] = y[k] = 400 * ifm_random_uniform(&random) - 50;
        ifm_plot_spread(y, n, gap, 0, 300);
        double room = n > 1 ? fmin(gap, 300 / (double)(n - 1)) : gap;
        for (size_t k = 0; k < n; k++) {
            assert_true(y[k] >= -1e-9 && y[k] <= 300 + 1e-9);
            for (size_t m = 0; m < n; m++) {
                apart &= m == k || fabs(before[k] - before[m]) >= gap;
                assert_true(m == k || fabs(y[k] - y[m]) >= room - 1e-6);
                assert_true(!(before[k] < before[m]) || y[k] < y[m]);
            }
            apart &= before[k] >= 0 && before[k] <= 300;
        }
        for (size_t k = 0; apart && k < n; k++)
            assert_true(fabs(y[k] - before[k]) < 1e-9);
    }
}

static void names_in_one_place_stay_around_it(void **state)
{
    (void)state;
    double y[] = {100, 100, 100};
    ifm_plot_spread(y, 3, 10, 0, 300);
    assert_true(fabs(y[0] - 90) < 1e-9 && fabs(y[1] - 100) < 1e-9 && fabs(y[2] - 110) < 1e-9);
}

static void nothing_is_drawn_at_no_place(void **state)
{
    (void)state;
    const double nowhere[] = {NAN, INFINITY, -INFINITY, 1e300, -2e6};
    struct ifm_text out = {0};
    struct ifm_plot plot = {.out = &out, .arena = arena};
    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++) {
        double w = nowhere[i];
        const struct ifm_spot spots[] = {{1, 2}, {w, 3}}, others[] = {{1, w}, {2, 3}};
        ifm_plot_line(&plot, "", w, 0, 1, 1);
        ifm_plot_line(&plot, "", 0, 0, 1, w);
        ifm_plot_rect(&plot, "", 0, 0, w, 1, NULL);
        ifm_plot_dot(&plot, "", 1, w, 1, NULL);
        ifm_plot_dot(&plot, "", 1, 1, w, NULL);
        ifm_plot_text(&plot, w, 1, "start", "", "a");
        ifm_plot_path(&plot, "", spots, 2, false, NULL);
        ifm_plot_dots(&plot, "", others, 2);
        assert_int_equal(out.size, 0);
    }
    ifm_plot_dot(&plot, "fill", 1.04, -0.04, 2, "a<b & \"c\"");
    assert_string_equal(out.data, "<circle class=\"fill\" cx=\"1\" cy=\"0\" r=\"2\"><title>a&lt;b &amp; &quot;c&quot;"
                                  "</title></circle>\n");
    ifm_text_free(&out);
}

/* Texts of the axis below do not touch, however long their unit is, and stay in the drawing. */
static void texts_of_an_axis_do_not_touch(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(4, 0);
    for (int i = 0; i < 2000; i++) {
        struct ifm_text out = {0};
        struct ifm_plot plot = {
            .out = &out, .arena = arena, .width = 440, .left = 0, .right = 440, .top = 0, .bottom = 99};
        plot.x = any_axis(&random);
        plot.y.hidden = true;
        ifm_plot_axes(&plot);
        double last = -1e9;
        for (const char *at = out.data; (at = strstr(at, "<text ")) != NULL; at++) {
            const char *text = strchr(at, '>') + 1;
            double x = strtod(strstr(at, "x=\"") + 3, NULL);
            double width = ifm_plot_text_width(ifm_arena_printf(arena, "%.*s", (int)strcspn(text, "<"), text), 12);
            double from = x - width / 2; /* as their group has it */
            assert_true(from >= -0.1 && from + width <= 440.1);
            assert_true(from > last);
            last = from + width;
        }
        ifm_text_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_ascend_with_values),
        cmocka_unit_test(ticks_ascend_inside_the_axis_and_differ),
        cmocka_unit_test(strange_axes_give_no_strange_ticks),
        cmocka_unit_test(ticks_are_round_and_share_a_unit),
        cmocka_unit_test(names_are_spread),
        cmocka_unit_test(names_in_one_place_stay_around_it),
        cmocka_unit_test(nothing_is_drawn_at_no_place),
        cmocka_unit_test(texts_of_an_axis_do_not_touch),
    };
    return cmocka_run_group_tests_name("plot", tests, set_up, tear_down);
}
