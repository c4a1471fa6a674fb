/* Two stamps of multiprocessors -> their clock: by hand, and every way in which a counter can be wrong. */
#include <cmocka.h>

#include "device/stamp.h"
#include "facts.h"
#include "model/facts.h"
#include <string.h>

enum { N = 5, MOST_KHZ = 1980000 };
static struct ifm_stamp first[N], second[N];
static int64_t cycles, span;

/* Five multiprocessors, 2 ms, at 1760, 1750, 1770, 1740 and 1780 MHz. */
static int set_up(void **state)
{
    static const uint64_t mhz[N] = {1760, 1750, 1770, 1740, 1780};
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        first[i] = (struct ifm_stamp){10 + i, 0, 1000000ULL * i, 5000000};
        second[N - 1 - i] = (struct ifm_stamp){10 + i, 0, 1000000ULL * i + 2000 * mhz[i], 7000000};
    }
    return 0;
}

static const char *between(void)
{
    const char *why = ifm_stamp_between(first, second, N, MOST_KHZ, &cycles, &span);
    assert_int_equal(why[0] != '\0', cycles == IFM_ABSENT);
    assert_int_equal(why[0] != '\0', span == IFM_ABSENT);
    return why;
}

static void the_median_multiprocessor_counts(void **state)
{
    (void)state;
    assert_string_equal(between(), "");
    assert_int_equal(cycles, 2000 * 1760);
    assert_int_equal(span, 2000000);
}

static void those_seen_once_are_left_out(void **state)
{
    (void)state;
    second[0].multiprocessor = 99; /* 14, the fastest, was not met again */
    first[1].multiprocessor = 10;  /* two blocks on 10: the first stamp is its own */
    first[1].cycles = 1;
    assert_string_equal(between(), "");
    assert_int_equal(cycles, 2000 * 1760); /* of 1740, 1760, 1770 */
    for (size_t i = 0; i < N; i++)
        second[i].multiprocessor += 100;
    assert_facts(between(), "no multiprocessor");
}

static void a_few_counters_that_went_back_do_no_harm(void **state)
{
    (void)state;
    second[0].cycles = 0; /* of 14 and 13: reset */
    second[1].cycles = 0;
    assert_string_equal(between(), "");
    assert_int_equal(cycles, 2000 * 1760);
    second[2].cycles = 0; /* now most */
    assert_facts(between(), "counters");
}

static void an_impossible_clock_is_none(void **state)
{
    (void)state;
    static const double khz[] = {1.051 * MOST_KHZ, 0.049 * MOST_KHZ, 0};
    for (size_t c = 0; c < 3; c++) {
        for (size_t i = 0; i < N; i++)
            second[N - 1 - i].cycles = first[i].cycles + (uint64_t)(2 * khz[c]);
        assert_facts(between(), "counters");
    }
    for (size_t i = 0; i < N; i++) /* within the five percent */
        second[N - 1 - i].cycles = first[i].cycles + (uint64_t)(2 * 1.049 * MOST_KHZ);
    assert_string_equal(between(), "");
    /* Where the highest clock is not known, only what no clock can be is refused. */
    assert_string_equal(ifm_stamp_between(first, second, N, 0, &cycles, &span), "");
    for (size_t i = 0; i < N; i++)
        second[N - 1 - i].cycles = first[i].cycles + 30000000;
    assert_facts(ifm_stamp_between(first, second, N, 0, &cycles, &span), "counters");
}

static void a_short_slot_has_no_clock(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++)
        second[i].ns = first[0].ns + IFM_STAMP_LEAST_NS - 1;
    assert_facts(between(), "0.4 ms|timer");
    for (size_t i = 0; i < N; i++) /* a timer that went back */
        second[i].ns = first[0].ns - 1000000;
    assert_facts(between(), "0.4 ms|timer");
    assert_facts(ifm_stamp_between(first, second, 0, MOST_KHZ, &cycles, &span), "no multiprocessor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_median_multiprocessor_counts, set_up),
        cmocka_unit_test_setup(those_seen_once_are_left_out, set_up),
        cmocka_unit_test_setup(a_few_counters_that_went_back_do_no_harm, set_up),
        cmocka_unit_test_setup(an_impossible_clock_is_none, set_up),
        cmocka_unit_test_setup(a_short_slot_has_no_clock, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
