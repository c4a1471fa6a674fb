/* Ranges of a traced program: which calls and which work are of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "instrument/activity_ranges.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL(start, end, id, thread, name)                                                                             \
    {                                                                                                                  \
        IFM_ACTIVITY_CALL, start, end, id, thread, 0, 0, name                                                          \
    }
#define RUNTIME(start, end, id, thread, name)                                                                          \
    {                                                                                                                  \
        IFM_ACTIVITY_RUNTIME, start, end, id, thread, 0, 0, name                                                       \
    }
#define KERNEL(start, end, id, graph)                                                                                  \
    {                                                                                                                  \
        IFM_ACTIVITY_KERNEL, start, end, id, 7, graph, 0, "k"                                                          \
    }
#define WAIT(start, end, id)                                                                                           \
    {                                                                                                                  \
        IFM_ACTIVITY_WAIT, start, end, id, 7, 0, 0, "wait"                                                             \
    }
#define BEGIN(at, id, thread, name)                                                                                    \
    {                                                                                                                  \
        IFM_ACTIVITY_BEGIN, at, at, id, thread, 0, 0, name                                                             \
    }
#define END(at, id, thread)                                                                                            \
    {                                                                                                                  \
        IFM_ACTIVITY_END, at, at, id, thread, 0, 0, ""                                                                 \
    }

static void calls_and_what_they_start_are_of_a_range(void **state)
{
    (void)state;
    const struct ifm_activity_row rows[] = {
        CALL(1, 2, 1, 1, "cuLaunchKernel"), /* before */
        KERNEL(2, 5, 1, 0),
        BEGIN(10, 100, 1, "step"),
        RUNTIME(11, 15, 2, 1, "cudaLaunchKernel"), /* around the driver's: one call */
        CALL(12, 14, 2, 1, "cuLaunchKernel"),
        CALL(13, 14, 3, 2, "cuLaunchKernel"), /* another thread's */
        KERNEL(20, 30, 3, 0),
        CALL(29, 60, 4, 1, "cuGraphLaunch"), /* began in it, and ended behind it */
        END(30, 100, 1),
        KERNEL(40, 44, 2, 0), /* ran behind it */
        KERNEL(50, 56, 4, 9),
        KERNEL(56, 60, 4, 9),
        BEGIN(70, 101, 1, "step"),
        CALL(71, 80, 5, 1, "cuStreamSynchronize"),
        WAIT(72, 80, 5),
        END(80, 101, 1),
        CALL(80, 81, 6, 1, "cuLaunchKernel"), /* as it ended */
    };
    struct ifm_activity_range of[2];
    struct ifm_activity_untold untold;
    assert_int_equal(ifm_activity_ranges(rows, sizeof rows / sizeof *rows, of, 2, &untold), 1);
    assert_int_equal(untold.names, 0);
    assert_false(of[0].overlap);
    assert_string_equal(of[0].name, "step");
    assert_int_equal(of[0].times, 2);
    assert_int_equal(of[0].ns, 30);
    assert_int_equal(of[0].counts.calls, 3);
    assert_int_equal(of[0].counts.launches, 1);
    assert_int_equal(of[0].counts.graph_launches, 1);
    assert_int_equal(of[0].counts.kernels, 1);
    assert_int_equal(of[0].counts.graph_kernels, 2);
    assert_int_equal(of[0].counts.kernel_ns, 14);
    assert_int_equal(of[0].counts.call_ns, 4 + 31 + 9);
    assert_int_equal(of[0].counts.launch_ns, 4 + 31);
    assert_int_equal(of[0].counts.waits, 1);
    assert_int_equal(of[0].counts.wait_ns, 9);
}

static void ranges_are_told_apart(void **state)
{
    (void)state;
    const struct ifm_activity_row rows[] = {
        BEGIN(10, 1, 1, "outer"),
        BEGIN(10, 2, 1, "inner"), /* at once, of two names */
        CALL(11, 12, 1, 1, "cuLaunchKernel"),
        BEGIN(13, 3, 1, "inner"), /* inside one of its name: a part of it */
        CALL(14, 15, 2, 1, "cuLaunchKernel"),
        END(16, 3, 1),
        END(20, 2, 1),
        BEGIN(21, 4, 2, "inner"), /* of another thread, at the same time as what follows */
        BEGIN(22, 5, 1, "inner"),
        CALL(23, 24, 3, 1, "cuLaunchKernel"),
        END(25, 5, 1),
        END(29, 4, 2),
        END(40, 1, 1),
        BEGIN(50, 6, 1, "open"), /* never ended */
        BEGIN(51, 7, 1, ""),
        END(90, 7, 1),
    };
    struct ifm_activity_range of[3];
    struct ifm_activity_untold untold;
    assert_int_equal(ifm_activity_ranges(rows, sizeof rows / sizeof *rows, of, 3, &untold), 2);
    assert_string_equal(of[0].name, "outer");
    assert_int_equal(of[0].times, 1);
    assert_int_equal(of[0].ns, 30);
    assert_int_equal(of[0].counts.launches, 3);
    assert_string_equal(of[1].name, "inner");
    assert_int_equal(of[1].times, 3);
    assert_int_equal(of[1].ns, 10 + 8 + 3);
    assert_false(of[1].overlap);
    assert_int_equal(of[1].counts.launches, 3);
    /* The longer, and how many others. */
    assert_int_equal(ifm_activity_ranges(rows, sizeof rows / sizeof *rows, of, 1, &untold), 1);
    assert_string_equal(of[0].name, "outer");
    assert_int_equal(untold.names, 1);
    assert_int_equal(untold.times, 3);
    assert_int_equal(ifm_activity_ranges(rows, 0, of, 3, &untold), 0);
    assert_int_equal(untold.names, 0);
}

static void what_is_in_two_that_overlap_counts_once(void **state)
{
    (void)state;
    const struct ifm_activity_row rows[] = {
        BEGIN(0, 1, 1, "batch"),
        CALL(1, 2, 1, 1, "cuLaunchKernel"),
        BEGIN(5, 2, 1, "batch"),
        CALL(6, 7, 2, 1, "cuLaunchKernel"),
        BEGIN(8, 3, 1, "batch"), /* inside the second */
        END(10, 1, 1),
        CALL(11, 12, 3, 1, "cuLaunchKernel"),
        END(12, 3, 1),
        END(15, 2, 1),
        BEGIN(15, 4, 1, "batch"), /* as another ended */
        END(18, 4, 1),
        BEGIN(20, 5, 1, "batch"),
        CALL(21, 22, 4, 1, "cuLaunchKernel"),
        END(30, 5, 1),
    };
    struct ifm_activity_range of[1];
    struct ifm_activity_untold untold;
    assert_int_equal(ifm_activity_ranges(rows, sizeof rows / sizeof *rows, of, 1, &untold), 1);
    assert_int_equal(of[0].times, 4);
    assert_int_equal(of[0].ns, 15 + 3 + 10);
    assert_true(of[0].overlap);
    assert_int_equal(of[0].counts.launches, 4);
}

static void ranges_whose_names_were_not_kept_are_no_range(void **state)
{
    (void)state;
    const struct ifm_activity_row rows[] = {
        BEGIN(0, 1, 1, "step 1"),
        END(4, 1, 1),
        BEGIN(5, 2, 1, ifm_activity_nameless),
        END(20, 2, 1),
        BEGIN(20, 3, 1, "(one of too many names)"), /* as it was read from a file */
        END(40, 3, 1),
        BEGIN(50, 4, 1, ifm_activity_nameless), /* never ended */
    };
    struct ifm_activity_range of[2];
    struct ifm_activity_untold untold;
    assert_int_equal(ifm_activity_ranges(rows, sizeof rows / sizeof *rows, of, 2, &untold), 1);
    assert_string_equal(of[0].name, "step 1");
    assert_int_equal(untold.names, 0);
    assert_int_equal(untold.nameless, 2);
}

/* The most memory that this process had so far. */
static long peak_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (kib < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmPeak:", 7) == 0)
            kib = strtol(line + 7, NULL, 10);
    fclose(file);
    return kib;
}

static void a_program_without_ranges_takes_no_memory_for_them(void **state)
{
    (void)state;
    const size_t n = 1 << 20;
    struct ifm_activity_row *rows = calloc(n, sizeof *rows); /* kernels */
    struct ifm_activity_range of[1];
    struct ifm_activity_untold untold;
    assert_non_null(rows);
    const long before = peak_kib();
    assert_int_equal(ifm_activity_ranges(rows, n, of, 1, &untold), 0);
    assert_in_range(peak_kib() - before, 0, 4096);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_what_they_start_are_of_a_range),
        cmocka_unit_test(ranges_are_told_apart),
        cmocka_unit_test(what_is_in_two_that_overlap_counts_once),
        cmocka_unit_test(ranges_whose_names_were_not_kept_are_no_range),
        cmocka_unit_test(a_program_without_ranges_takes_no_memory_for_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
