/* Rows of a trace: what is read, and what is no row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "instrument/activity.h"
#include "sample/activity.h"
#include <stdlib.h>
#include <string.h>

static enum ifm_status parse(const char *given, bool with_arm, struct ifm_arena *arena, struct ifm_activity_file *out,
                             struct ifm_error *error)
{
    return ifm_activity_parse(ifm_arena_printf(arena, "%s", given), "file", with_arm, arena, out, error);
}

static void rows_are_read(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_activity_file file;
    struct ifm_error error;
    assert_int_equal(parse(IFM_ACTIVITY_HEADER "\n2,copy,5,9,3,7,1,4096,\n0,kernel,9,9,4,7,0,0,f<a;b>\n", true, arena,
                           &file, &error),
                     IFM_OK);
    assert_int_equal(file.n, 2);
    assert_int_equal(file.lines[0].arm, 2);
    assert_string_equal(file.lines[0].kind, "copy");
    assert_int_equal(file.lines[0].start, 5);
    assert_int_equal(file.lines[0].end, 9);
    assert_int_equal(file.lines[0].correlation, 3);
    assert_int_equal(file.lines[0].place, 7);
    assert_int_equal(file.lines[0].graph, 1);
    assert_int_equal(file.lines[0].bytes, 4096);
    assert_string_equal(file.lines[0].name, "");
    assert_string_equal(file.lines[1].name, "f<a;b>");
    assert_int_equal(parse(IFM_ACTIVITY_COLUMNS "\nwait,1,2,3,4,5,6,w\n", false, arena, &file, &error), IFM_OK);
    assert_int_equal(file.n, 1);
    assert_int_equal(file.lines[0].arm, 0);
    assert_int_equal(file.lines[0].bytes, 6);
    ifm_arena_destroy(arena);
}

static void no_row_of_a_trace_is_refused_by_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
        bool with_arm;
    } rows[] = {
        {"", "no header", false},
        {"kind\n", "line 1 is no row", false},
        {IFM_ACTIVITY_HEADER "\n", "line 1 is no row", false},
        {IFM_ACTIVITY_COLUMNS "\n", "line 1 is no row", true},
        {IFM_ACTIVITY_COLUMNS "\nkernel,1,2,3,4,5,6,n\nkernel,2,1,3,4,5,6,n\n", "line 3 is no row", false},
        {IFM_ACTIVITY_COLUMNS "\nkernel,1,2,3,4,5,6,n,m\n", "line 2 is no row", false},
        {IFM_ACTIVITY_COLUMNS "\nkernel,1,2,3,4,5,6\n", "line 2 is no row", false},
        {IFM_ACTIVITY_COLUMNS "\nkernel,-1,2,3,4,5,6,n\n", "line 2 is no row", false},
        {IFM_ACTIVITY_COLUMNS "\nkernel,1,18446744073709551616,3,4,5,6,n\n", "line 2 is no row", false},
        {IFM_ACTIVITY_COLUMNS "\n\n", "line 2 is no row", false},
        {IFM_ACTIVITY_HEADER "\n4294967296,kernel,1,2,3,4,5,6,n\n", "line 2 is no row", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ifm_arena *arena = ifm_arena_create();
        struct ifm_activity_file file;
        struct ifm_error error;
        assert_int_equal(parse(rows[i].text, rows[i].with_arm, arena, &file, &error), IFM_INVALID);
        if (strstr(error.message, rows[i].words) == NULL)
            fail_msg("row %zu: %s", i, error.message);
        ifm_arena_destroy(arena);
    }
}

/* A torn last line is cut off: the recorder of a program that was killed leaves one. */
static void a_torn_line_is_left_out(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_activity_file file;
    struct ifm_error error;
    assert_int_equal(parse(IFM_ACTIVITY_COLUMNS "\nkernel,1,2,3,4,5,6,n\nkern", false, arena, &file, &error), IFM_OK);
    assert_int_equal(file.n, 1);
    ifm_arena_destroy(arena);
}

static void names_are_written_without_what_parts_fields(void **state)
{
    (void)state;
    char *data = NULL;
    size_t size;
    FILE *file = open_memstream(&data, &size);
    assert_non_null(file);
    ifm_activity_write(file, "kernel", (const uint64_t[6]){1, 2, 3, 4, 5, 6}, "f<a, \"b\">\n");
    assert_int_equal(fclose(file), 0);
    assert_string_equal(data, "kernel,1,2,3,4,5,6,f<a; ;b;>;\n");
    free(data);
}

static struct ifm_activity_row call(enum ifm_activity_kind kind, const char *name, unsigned thread, uint64_t start,
                                    uint64_t end)
{
    static uint32_t number;
    return (struct ifm_activity_row){kind, start, end, ++number, thread, 0, 0, name};
}

/* What launching costs is asked apart from waits for the GPU, which are most of the time of calls. */
static void time_of_calls_is_of_launches_waits_and_the_rest(void **state)
{
    (void)state;
    const struct ifm_activity_row rows[] = {
        call(IFM_ACTIVITY_RUNTIME, "cudaLaunchKernel_v7000", 1, 10, 20),
        call(IFM_ACTIVITY_CALL, "cuLaunchKernel", 2, 11, 14), /* another thread's */
        call(IFM_ACTIVITY_CALL, "cuLaunchKernel", 1, 12, 18), /* inside that of the runtime */
        call(IFM_ACTIVITY_CALL, "cuGraphLaunch", 2, 14, 19),
        call(IFM_ACTIVITY_CALL, "cuStreamSynchronize", 1, 30, 80),
        call(IFM_ACTIVITY_CALL, "cuMemcpyDtoH_v2", 1, 90, 100),
        call(IFM_ACTIVITY_CALL, "cuMemcpyDtoDAsync_v2", 1, 100, 103),
        call(IFM_ACTIVITY_CALL, "cuMemAlloc_v2", 1, 110, 117),
        call(IFM_ACTIVITY_CALL, "cuLaunchHostFunc", 1, 118, 119),
        call(IFM_ACTIVITY_CALL, "cuEventRecord", 1, 120, 121), /* a clock */
        call(IFM_ACTIVITY_CALL, "cuEventSynchronize", 1, 122, 130),
        call(IFM_ACTIVITY_RUNTIME, "cudaMemcpy_v3020", 1, 140, 160),
        call(IFM_ACTIVITY_CALL, "cuStreamSynchronize", 1, 141, 159),
        call(IFM_ACTIVITY_RUNTIME, "cudaDeviceSynchronize_v3020", 3, 150, 154),
        call(IFM_ACTIVITY_CALL, "cuStreamSynchronize", 1, 300, 999), /* behind the end */
    };
    const struct ifm_activity_counts c = ifm_activity_count(rows, sizeof rows / sizeof *rows, 0, 200);
    assert_int_equal(c.launches, 2);
    assert_int_equal(c.graph_launches, 1);
    assert_int_equal(c.launch_ns, 10 + 3 + 5);
    assert_int_equal(c.wait_ns, 50 + 10 + 8 + 20 + 4);
    assert_int_equal(c.calls, 11);
    assert_int_equal(c.call_ns, c.launch_ns + c.wait_ns + 3 + 7 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read), cmocka_unit_test(no_row_of_a_trace_is_refused_by_its_line),
        cmocka_unit_test(a_torn_line_is_left_out), cmocka_unit_test(names_are_written_without_what_parts_fields),
        cmocka_unit_test(time_of_calls_is_of_launches_waits_and_the_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
