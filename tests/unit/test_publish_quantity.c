/* Quantities for people: prefix, digits, interval. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "document/quantity.h"

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

static struct ifm_value with_interval(double x, double low, double high, const char *unit)
{
    return (struct ifm_value){.number = x, .low = low, .high = high, .has_interval = true, .unit = unit};
}

static void assert_full(struct ifm_value value, const char *expected)
{
    assert_string_equal(ifm_quantity_full(&value, arena), expected);
}

static void a_prefix_keeps_numbers_short(void **state)
{
    (void)state;
    assert_full((struct ifm_value){.number = 12.3456, .unit = "ns"}, "12.3 ns");
    assert_full((struct ifm_value){.number = 12345.6, .unit = "ns"}, "12.3 µs");
    assert_full((struct ifm_value){.number = 1.5e9, .unit = "ns"}, "1.50 s");
    assert_full((struct ifm_value){.number = 2.31e10, .unit = "B/s"}, "23.1 GB/s");
    assert_full((struct ifm_value){.number = 0.25, .unit = "s"}, "250 ms");
    assert_full((struct ifm_value){.number = 32768, .is_integer = true, .unit = "B"}, "32 KiB");
    assert_full((struct ifm_value){.number = 4800, .is_integer = true, .unit = "count"}, "4800");
    assert_full((struct ifm_value){.number = 2431, .unit = "tokens/s"}, "2431/s");
    assert_full((struct ifm_value){.number = 5.25, .unit = "FLOP/B"}, "5.25 FLOP/B");
}

/* Ticks of one axis share a unit and have the digits of their step. */
static void ticks_have_the_digits_of_their_step(void **state)
{
    (void)state;
    assert_string_equal(ifm_quantity_tick(0, 2e6, 5e5, "ns", arena), "0 ms");
    assert_string_equal(ifm_quantity_tick(500000, 2e6, 5e5, "ns", arena), "0.5 ms");
    assert_string_equal(ifm_quantity_tick(100010, 100040, 10, "ns", arena), "100.01 µs");
    assert_string_equal(ifm_quantity_tick(0.25, 1, 0.25, "1", arena), "0.25");
    assert_string_equal(ifm_quantity_tick(1.5e-7, 1.5e-7, 1.5e-7, "1", arena), "1.5e-7");
    assert_string_equal(ifm_quantity_tick(1e-6, 1e-6, 1e-6, "1", arena), "1e-6");
    assert_string_equal(ifm_quantity_tick(-20, 40, 20, "%", arena), "-20 %");
}

static void the_interval_decides_the_digits(void **state)
{
    (void)state;
    assert_full(with_interval(412.345, 411.5, 413.2, "ns"), "412.3 ns ±0.8");
    assert_full(with_interval(412.345, 392, 432, "ns"), "412 ns ±20");
    assert_full(with_interval(1.943, 1.921, 1.962, "1"), "1.94 ±0.02");
    assert_full(with_interval(412.345, 412.3449, 412.3451, "ns"), "412.3 ns ±<0.1");
}

static void an_uneven_interval_shows_its_ends(void **state)
{
    (void)state;
    assert_full(with_interval(10, 9.9, 11, "ns"), "10.0 ns [9.9, 11.0]");
    /* An estimate outside its interval must not hide behind a half-width. */
    assert_full(with_interval(10, 11, 12, "ns"), "10.0 ns [11.0, 12.0]");
    struct ifm_value ratio = with_interval(1.943, 1.921, 1.962, "1");
    assert_string_equal(ifm_quantity_range(&ratio, arena), "[1.92, 1.96]");
}

static void small_and_odd_numbers_stay_numbers(void **state)
{
    (void)state;
    assert_full((struct ifm_value){.number = 3.12e-7, .unit = "1"}, "3.1e-7");
    assert_full((struct ifm_value){.number = 0, .unit = "ns"}, "0.00 ns");
    assert_full((struct ifm_value){.number = -12.34, .unit = "%"}, "-12.3 %");
    assert_full(with_interval(0, -1, 1, "%"), "0.00 % ±1.00");
    /* What is lost in its interval has the interval's prefix and digits. */
    assert_full(with_interval(2.1e-17, -0.1499, 0.1499, "J"), "0.000 J ±0.150");
    assert_full(with_interval(-0.004, -12.3, 12.292, "J"), "0.0 J ±12.3");
    assert_string_equal(ifm_quantity_bare(700000, "ns", arena), "700 µs");
    assert_string_equal(ifm_quantity_bare(0.5, "1", arena), "0.5");
}

/* Of a busy machine: half a width that is larger than the number would say that a time is below 0, and digits of the
 * wider end nothing at all. */
static void a_wide_interval_has_ends_and_three_digits(void **state)
{
    (void)state;
    assert_full(with_interval(563e3, -48e3, 1174e3, "ns"), "563 µs [0, 1174]");
    assert_full(with_interval(19.8, 0.9, 38.7, "ns"), "19.8 ns [0.900, 38.7]");
    assert_full(with_interval(20, 11, 29, "ns"), "20.0 ns ±9.0");
    assert_full(with_interval(0.604e6, 0.1e6, 25.8e6, "ns"), "604 µs [100, 25800]");
    assert_full(with_interval(1.02, 0.00215, 482, "1"), "1.02 [0.00215, 482]");
    assert_full(with_interval(0, -100, 2477431, "%"), "0 % [-100, 2.5e6]");
    struct ifm_value ratio = with_interval(1.02, 0.00215, 482, "1");
    assert_string_equal(ifm_quantity_range(&ratio, arena), "[0.00215, 482]");
    assert_string_equal(ifm_quantity_digits(12981564, 0, arena), "1.3e7");
}

/* A median has the decimals of the mean beside it, and no more digits than that has. */
static void digits_follow_those_beside(void **state)
{
    (void)state;
    const struct ifm_value mean = with_interval(3.62e6, 3.55e6, 3.69e6, "ns"),
                           tight = with_interval(100.04e3, 99.9e3, 100.2e3, "ns"),
                           rough = with_interval(98.1e6, 94.2e6, 102e6, "ns"),
                           other = with_interval(1.02e6, 1.01e6, 1.03e6, "ns");
    struct ifm_value median = with_interval(3.564e6, 3.561e6, 3.567e6, "ns");
    assert_string_equal(ifm_quantity_number(&median, arena), "3.564 ms");
    assert_string_equal(ifm_quantity_beside(&median, &mean, arena), "3.56 ms");
    median.number = 99.91e3;
    assert_string_equal(ifm_quantity_beside(&median, &tight, arena), "99.9 µs");
    median.number = 105e6;
    assert_string_equal(ifm_quantity_beside(&median, &rough, arena), "105 ms");
    median.number = 998.7e3; /* another unit */
    assert_string_equal(ifm_quantity_beside(&median, &other, arena), "999 µs");
}

/* "absent" beside a share of another ceiling was read as a fault. */
static void integers_name_their_ceiling(void **state)
{
    (void)state;
    const struct ifm_arm codes = {.integer = true}, halves = {.integer = false};
    const struct {
        const struct ifm_arm *arm;
        enum ifm_metric_id metric;
        enum ifm_state state;
        const char *text, *interval, *becomes, *beside;
    } rows[] = {
        {&codes, IFM_M_FLOPS_PER_S, IFM_STATE_ABSENT, "absent", "", "integer", ""},
        {&codes, IFM_M_FLOPS_PER_S, IFM_STATE_REFUSED, "refused", "", "refused", ""},
        {&codes, IFM_M_CEILING_FLOPS_PERCENT, IFM_STATE_OK, "12.4 %", "±0.3", "12.4 %", "±0.3 of int8 ceiling"},
        {&codes, IFM_M_CEILING_FLOPS_PERCENT, IFM_STATE_OK, "12.4 %", "", "12.4 % of int8 ceiling", ""},
        {&codes, IFM_M_CEILING_FLOPS_PERCENT, IFM_STATE_ABSENT, "absent", "", "absent", ""},
        {&halves, IFM_M_CEILING_FLOPS_PERCENT, IFM_STATE_OK, "12.4 %", "±0.3", "12.4 %", "±0.3"},
        {&halves, IFM_M_FLOPS_PER_S, IFM_STATE_ABSENT, "absent", "", "absent", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = rows[i].text, *interval = rows[i].interval;
        ifm_quantity_of_integers(rows[i].arm, rows[i].metric, rows[i].state, &text, &interval, arena);
        assert_string_equal(text, rows[i].becomes);
        assert_string_equal(interval, rows[i].beside);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_name_their_ceiling),
        cmocka_unit_test(a_prefix_keeps_numbers_short),
        cmocka_unit_test(ticks_have_the_digits_of_their_step),
        cmocka_unit_test(the_interval_decides_the_digits),
        cmocka_unit_test(digits_follow_those_beside),
        cmocka_unit_test(an_uneven_interval_shows_its_ends),
        cmocka_unit_test(small_and_odd_numbers_stay_numbers),
        cmocka_unit_test(a_wide_interval_has_ends_and_three_digits),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
