/* What ncu prints: numbers with their units, tables that were recorded on an H100, and tables that are none. */
#include "instrument/ncu.h"
#include "instrument/ncu_report.h"

#include <cmocka.h>

#include "base/file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ifm_arena *arena;

static int make(void **state)
{
    (void)state;
    arena = ifm_arena_create();
    return 0;
}

static int unmake(void **state)
{
    (void)state;
    ifm_arena_destroy(arena);
    return 0;
}

static void numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *unit, *base;
        double number;
    } good[] = {
        {"0", "", "", 0},
        {"4,295,010,560", "byte", "B", 4295010560},
        {"4.30", "Gbyte", "B", 4.30e9},
        {"134.23", "Mbyte", "B", 134230000},
        {"1.5", "Kbyte", "B", 1500},
        {"947,008", "ns", "ns", 947008},
        {"75.49", "us", "ns", 75490},
        {"2", "msecond", "ns", 2e6},
        {"1.25", "Msector", "sector", 1.25e6},
        {"99.8", "%", "%", 99.8},
        {"3,919.97", "cycle", "cycle", 3919.97},
        {"1e3", "", "", 1000},
    };
    static const struct {
        const char *text, *words;
    } bad[] = {{"", "empty"},           {"n/a", "n/a"},         {"(!) n/a", "n/a"},
               {"nan", "nan"},          {"(!) nan", "nan"},     {"inf", "infinite"},
               {"4.295.010", "number"}, {"4,29,010", "number"}, {"1,2", "number"},
               {",123", "number"},      {"1,234,56", "number"}, {"-5", "below 0"},
               {"12 (4; 8)", "number"}, {"1.5,000", "number"},  {"99999999999999999999", "overflowed"}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *base;
        const struct ifm_ncu_value value = ifm_ncu_number(good[i].text, good[i].unit, &base, arena);
        if (value.reason != NULL || fabs(value.number - good[i].number) > 1e-9 * good[i].number ||
            strcmp(base, good[i].base) != 0)
            fail_msg("%s %s is %g %s (%s)", good[i].text, good[i].unit, value.number, base, value.reason);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *base;
        const struct ifm_ncu_value value = ifm_ncu_number(bad[i].text, "byte", &base, arena);
        if (value.reason == NULL || strstr(value.reason, bad[i].words) == NULL || !isnan(value.number))
            fail_msg("%s is %g (%s)", bad[i].text, value.number, value.reason);
    }
}

static void read_file(const char *path, struct ifm_ncu_report *out)
{
    char *text;
    size_t size;
    struct ifm_error error;
    assert_int_equal(ifm_file_read(path, 1 << 20, &text, &size, &error), IFM_OK);
    if (ifm_ncu_read(text, size, path, arena, out, &error) != IFM_OK)
        fail_msg("%s: %s", path, error.message);
    free(text);
}

static double number_of(const struct ifm_ncu_report *report, size_t launch, const char *metric)
{
    const struct ifm_ncu_value value = ifm_ncu_value_of(report, &report->launches[launch], metric);
    if (value.reason != NULL)
        fail_msg("%s: %s", metric, value.reason);
    return value.number;
}

static void a_row_a_launch(void **state)
{
    (void)state;
    struct ifm_ncu_report report;
    read_file("tests/fake_ncu/tables/nvtx.csv", &report);
    assert_int_equal(report.n_launches, 3);
    assert_string_equal(report.launches[0].kernel, "void add_to<float, 3>(T1 *, const T1 *, long)");
    assert_string_equal(report.launches[2].capability, "9.0");
    assert_true(number_of(&report, 0, "dram__bytes_read.sum") == 134232320);
    assert_true(number_of(&report, 0, "gpu__time_duration.sum") == 75488);
    assert_true(number_of(&report, 1, "profiler__replayer_passes") == 3);
    assert_non_null(ifm_ncu_value_of(&report, &report.launches[0], "nothing__of_it.sum").reason);
    assert_non_null(ifm_ncu_value_of(&report, &report.launches[0], "launch__block_size").reason);
}

static void a_row_a_metric(void **state)
{
    (void)state;
    struct ifm_ncu_report report;
    read_file("tests/fake_ncu/tables/details.csv", &report);
    assert_int_equal(report.n_launches, 1);
    assert_true(number_of(&report, 0, "dram__bytes_write.sum") == 68960000);
    assert_true(number_of(&report, 0, "gpu__time_duration.sum") == 75490);
    assert_string_equal(report.units[0], "B");
}

#define HEAD "\"ID\",\"Process ID\",\"Kernel Name\",\"CC\",\"dram__bytes_read.sum\"\n"
#define UNITS "\"\",\"\",\"\",\"\",\"byte\"\n"

static void other_tables(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "no table\n",
        HEAD,
        HEAD UNITS,
        HEAD UNITS "\"0\",\"1\",\"k\",\"9.0\"\n",
        HEAD UNITS "\"0\",\"1\",\"k\",\"9.0\",\"1\",\"2\"\n",
        HEAD UNITS "\"0\",\"1\",\"k\",\"9.0\",\"1",
        HEAD UNITS "\"0\",\"1\",\"k\" x,\"9.0\",\"1\"\n",
        "\"ID\",\"Kernel Name\",\"CC\"\n\"\",\"\",\"\"\n\"0\",\"k\",\"9.0\"\n",
        "\"ID\",\"Process ID\",\"Kernel Name\",\"CC\",\"Metric Name\"\n\"0\",\"1\",\"k\",\"9.0\",\"a__b\"\n"};
    struct ifm_ncu_report report;
    struct ifm_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (ifm_ncu_read(bad[i], strlen(bad[i]), "x", arena, &report, &error) != IFM_INVALID)
            fail_msg("accepted: %s", bad[i]);
    static const char good[] =
        "==PROF== Connected\r\n" HEAD UNITS "\"0\",\"1\",\"say \"\"a\"\", b\",\"9.0\",\"n/a\"\r\n==PROF== more\n\n"
        "\"1\",\"1\",\"k\",\"9.0\",\"2\"";
    assert_int_equal(ifm_ncu_read(good, strlen(good), "x", arena, &report, &error), IFM_OK);
    assert_int_equal(report.n_launches, 2);
    assert_string_equal(report.launches[0].kernel, "say \"a\", b");
    assert_non_null(strstr(ifm_ncu_value_of(&report, &report.launches[0], "dram__bytes_read.sum").reason, "n/a"));
    assert_true(number_of(&report, 1, "dram__bytes_read.sum") == 2);
}

static void complaints(void **state)
{
    (void)state;
    struct ifm_error error;
    assert_int_equal(ifm_ncu_judge("==PROF== fine\n", 0, arena, &error), IFM_OK);
    assert_int_equal(ifm_ncu_judge("==PROF== fine\n", 3, arena, &error), IFM_INVALID);
    assert_int_equal(ifm_ncu_judge("==PROF== a\n==ERROR== ERR_NVGPUCTRPERM - no\n", 1, arena, &error), IFM_MISSING);
    assert_non_null(strstr(error.hint, "NVreg_RestrictProfilingToAdminUsers=0"));
    assert_int_equal(ifm_ncu_judge("==ERROR== x is \033[1m no\n", 0, arena, &error), IFM_INVALID);
    assert_null(strchr(error.message, '\033'));
    assert_int_equal(ifm_ncu_judge("==WARNING== No kernels were profiled.\n", 0, arena, &error), IFM_INVALID);
    char *log;
    size_t size;
    assert_int_equal(ifm_file_read("tests/fake_ncu/tables/none.log", 1 << 20, &log, &size, &error), IFM_OK);
    assert_int_equal(ifm_ncu_judge(log, 0, arena, &error), IFM_INVALID);
    assert_non_null(strstr(error.message, "launched add_to, fill"));
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(a_row_a_launch),
                                       cmocka_unit_test(a_row_a_metric), cmocka_unit_test(other_tables),
                                       cmocka_unit_test(complaints)};
    return cmocka_run_group_tests(tests, make, unmake);
}
