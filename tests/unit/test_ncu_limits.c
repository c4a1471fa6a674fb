/* What limits kernels of known limits: the table that ncu printed of them on an H100
 * (tests/fake_ncu/tables/limits.csv), and tables that lack metrics or say what cannot be. */
#include "instrument/ncu_limits.h"

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

/* The limits of the launches whose kernel begins so. */
static struct ifm_ncu_limits of_kernel(const char *text, size_t size, const char *kernel)
{
    struct ifm_ncu_report report;
    struct ifm_ncu_limits limits;
    struct ifm_error error;
    const struct ifm_ncu_launch *launches[64];
    size_t n = 0;
    assert_int_equal(ifm_ncu_read(text, size, "a table", arena, &report, &error), IFM_OK);
    for (size_t i = 0; i < report.n_launches && n < 64; i++)
        if (strncmp(report.launches[i].kernel, kernel, strlen(kernel)) == 0)
            launches[n++] = &report.launches[i];
    assert_true(n > 0);
    ifm_ncu_limits_of(&report, launches, n, arena, &limits);
    return limits;
}

static struct ifm_ncu_limits replayed(const char *kernel)
{
    char *text;
    size_t size;
    struct ifm_error error;
    assert_int_equal(ifm_file_read("tests/fake_ncu/tables/limits.csv", 1 << 20, &text, &size, &error), IFM_OK);
    const struct ifm_ncu_limits limits = of_kernel(text, size, kernel);
    free(text);
    return limits;
}

static const struct ifm_ncu_limit *limit_in(const struct ifm_ncu_limits *limits, const char *name)
{
    for (size_t i = 0; i < limits->n; i++)
        if (strcmp(limits->items[i].name, name) == 0)
            return &limits->items[i];
    fail_msg("there is no limit %s", name);
    return NULL;
}

static void first_is(const struct ifm_ncu_limits *limits, const char *name)
{
    assert_true(limits->n_known > 0);
    assert_string_equal(limits->items[0].name, name);
}

/* bench/limits.cu says what each of these kernels does. */
static void kernels_of_known_limits(void **state)
{
    (void)state;
    struct ifm_ncu_limits limits = replayed("conflicts");
    first_is(&limits, "bank conflicts"); /* 32 threads, one bank: 31 of 32 accesses are repeats */
    assert_true(fabs(limits.items[0].share - 100.0 * 31 / 32) < 0.5);
    assert_string_equal(limits.items[0].detail, "97 % of its accesses are repeats");
    assert_int_equal(limits.n_known, limits.n);

    limits = replayed("copies"); /* 2 GiB by a kernel that does nothing else */
    first_is(&limits, "memory");
    assert_true(limits.items[0].share > 80 && limits.items[0].share < 95);
    assert_true(limit_in(&limits, "waits for L2 or memory")->share > limits.items[0].share); /* and yet not the first */
    assert_true(limit_in(&limits, "bank conflicts")->share < 0.1);

    limits = replayed("chain"); /* each step waits 4 cycles for the last: one slot of four is used */
    first_is(&limits, "waits between dependent instructions");
    assert_true(fabs(limit_in(&limits, "instructions")->share - 25) < 0.5);
    const struct ifm_ncu_limit *occupancy =
        limit_in(&limits, "occupancy"); /* 1 warp of 64; blocks of one: 32 at most */
    assert_string_equal(occupancy->detail, "1.56 % of the warps are there, 50 % fit");
    assert_non_null(strstr(occupancy->advice, "more blocks"));

    limits = replayed("few"); /* 1 block on 132 multiprocessors */
    assert_true(fabs(limit_in(&limits, "idle multiprocessors")->share - 100.0 * 131 / 132) < 0.5);

    limits = replayed("chase"); /* each load waits for the last */
    first_is(&limits, "waits for L2 or memory");
    assert_true(limits.items[0].share > 90);

    limits = replayed("matrix");
    assert_true(limit_in(&limits, "matrix units")->share > 20);
    assert_true(limit_in(&limits, "memory")->share < 5);
}

/* A table with the time and the share of memory alone, and its row of units. */
#define TABLE                                                                                                          \
    "\"ID\",\"Process ID\",\"Kernel Name\",\"CC\",\"gpu__time_duration.sum\","                                         \
    "\"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed\"\n\"\",\"\",\"\",\"\",\"ns\",\"%\"\n"
#define LAUNCH(id, ns, percent) "\"" id "\",\"1\",\"k\",\"9.0\",\"" ns "\",\"" percent "\"\n"

static void what_lacks_is_said(void **state)
{
    (void)state;
    static const char table[] = TABLE LAUNCH("0", "1000", "10") LAUNCH("1", "3000", "50");
    struct ifm_ncu_limits limits = of_kernel(table, sizeof table - 1, "k");
    assert_int_equal(limits.n_known, 1);
    first_is(&limits, "memory");
    assert_true(fabs(limits.items[0].share - 40) < 1e-9); /* by time */
    assert_true(fabs(limits.time_ns - 4000) < 1e-9);
    assert_true(limits.n > 5);
    assert_non_null(strstr(limit_in(&limits, "L2")->reason, "lts__throughput")); /* which metric, by name */
    for (size_t i = 1; i < limits.n; i++) {
        assert_true(isnan(limits.items[i].share));
        assert_non_null(strstr(limits.items[i].reason, "the report lacks"));
    }
}

static void what_cannot_be_is_none(void **state)
{
    (void)state;
    static const char above[] = TABLE LAUNCH("0", "1000", "130"), rounded[] = TABLE LAUNCH("0", "1000", "100.4");
    struct ifm_ncu_limits limits = of_kernel(above, sizeof above - 1, "k");
    assert_int_equal(limits.n_known, 0);
    assert_non_null(strstr(limit_in(&limits, "memory")->reason, "cannot be"));
    limits = of_kernel(rounded, sizeof rounded - 1, "k");
    assert_true(fabs(limits.items[0].share - 100) < 1e-12);
}

static void names_are_of_the_capability(void **state)
{
    (void)state;
    assert_non_null(strstr(ifm_ncu_limit_names("9.0", arena), "stalled_gmma"));
    assert_null(strstr(ifm_ncu_limit_names("8.0", arena), "stalled_gmma"));
    assert_non_null(strstr(ifm_ncu_limit_names("8.0", arena), "stalled_imc_miss"));
    assert_null(strstr(ifm_ncu_limit_names("10.0", arena), "stalled_imc_miss"));
    assert_null(strstr(ifm_ncu_limit_names("12.0", arena), "stalled_imc_miss"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_of_known_limits), cmocka_unit_test(what_lacks_is_said),
                                       cmocka_unit_test(what_cannot_be_is_none),
                                       cmocka_unit_test(names_are_of_the_capability)};
    return cmocka_run_group_tests(tests, make, unmake);
}
