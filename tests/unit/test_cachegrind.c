/* Cachegrind: the caches that can be asked for, its file, and a strided probe under it whose misses are known exactly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "instrument/cachegrind.h"
#include "sanitized.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what can be asked for ---- */

static void caches_have_a_power_of_two_of_sets(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_cachegrind_cache cache;
    struct ifm_error error = {0};
    static const char *const good[] = {"32KiB,8,64", "1MiB, 16, 64", "48KiB,12,64", "2KiB,1,32", "1GiB,16,128"};
    static const char *const bad[] = {"",           "32KiB",     "32KiB,8",    "32KiB,8,64,1", "33KiB,8,64",
                                      "32KiB,0,64", "32KiB,8,0", "32KiB,8,48", "96KiB,16,64",  "0,8,64",
                                      "2GiB,16,64", "1MiB,x,64", "1MiB,16,16"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (ifm_cachegrind_cache_parse(good[i], "--last-level", arena, &cache, &error) != IFM_OK)
            fail_msg("%s: %s", good[i], error.message);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (ifm_cachegrind_cache_parse(bad[i], "--last-level", arena, &cache, &error) != IFM_USAGE)
            fail_msg("%s is taken", bad[i]);
        assert_true(error.hint[0] != '\0' && strcmp(error.where, "--last-level") == 0);
    }
    ifm_arena_destroy(arena);
}

/* ---- its file ---- */

static const char output[] =
    "desc: I1 cache: 32768 B\ncmd: a\nevents: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw \nfl=a.c\n"
    "fn=one\n3 10 1 1 4 2 1 3 1 0\n4 5\nfl=b.c\nfn=two\n7 1 0 0 1 1\nfn=one\n9 100\n"
    "summary: 116 1 1 5 3 1 3 1 0\n";

static void a_file_is_read(void **state)
{
    (void)state;
    struct ifm_cachegrind_counts counts;
    struct ifm_error error = {0};
    assert_int_equal(ifm_cachegrind_read(output, strlen(output), NULL, &counts, &error), IFM_OK);
    assert_true(counts.events[IFM_CG_INSTRUCTIONS] == 116 && counts.events[IFM_CG_READ_MISSES_1] == 3);
    assert_int_equal(ifm_cachegrind_read(output, strlen(output), "one", &counts, &error), IFM_OK);
    assert_true(counts.events[IFM_CG_INSTRUCTIONS] == 115 && counts.events[IFM_CG_READ_MISSES_1] == 2);
    assert_true(counts.events[IFM_CG_WRITE_MISSES_1] == 1 && counts.events[IFM_CG_READ_MISSES_LAST] == 1);
    assert_int_equal(ifm_cachegrind_read(output, strlen(output), "on", &counts, &error), IFM_OK);
    assert_true(counts.events[IFM_CG_INSTRUCTIONS] == 0);
}

static void refused(const char *text, size_t size)
{
    struct ifm_cachegrind_counts counts;
    struct ifm_error error = {0};
    if (ifm_cachegrind_read(text, size, NULL, &counts, &error) != IFM_INVALID)
        fail_msg("%.*s is taken", (int)size, text);
    assert_true(error.message[0] != '\0' && error.hint[0] != '\0');
}

/* Cut anywhere it is refused; so is a copy with one number changed, or a line too many. */
static void a_file_that_was_cut_or_changed_is_refused(void **state)
{
    (void)state;
    for (size_t size = 0; size + 1 < sizeof output; size++)
        refused(output, size);
    for (const char *at = strstr(output, "3 10 1"); *at != '\0'; at++) {
        char copy[sizeof output];
        const size_t i = (size_t)(at - output);
        memcpy(copy, output, sizeof output);
        if (*at < '0' || *at > '8' || output[i - 1] == '\n' ||
            output[i - 1] == '=') /* the number of a line of source */
            continue;
        copy[i]++;
        refused(copy, strlen(copy));
    }
    static const char *const bad[] = {
        "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\nsummary: 0\nfn=late\n",
        "events: Ir\nsummary: 0\n",
        "summary: 0\n",
        "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\nfn=a\n1 18446744073709551616\nsummary: 0\n",
        "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\nfn=a\n1 18446744073709551615\n2 1\nsummary: 0\n",
        "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\nfn=a\n1 1 1 1 1 1 1 1 1 1 1\nsummary: 1\n",
        "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\nfn=a\n1 -1\nsummary: 0\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i], strlen(bad[i]));
}

/* ---- a probe whose misses are known ---- */

enum { BUFFER = 1 << 20, ALIGN = 1 << 16 };

#ifdef __x86_64__
/* Its loads are those of the loop alone: it never returns, which would read the stack. */
__attribute__((noinline, noreturn)) void strided_probe(const char *from, uint64_t n, uint64_t stride, uint64_t rounds);
__attribute__((noinline, noreturn)) void strided_probe(const char *from, uint64_t n, uint64_t stride, uint64_t rounds)
{
    __asm__ volatile("2: mov %1, %%rdx\n\tmov %2, %%rcx\n"
                     "1: movb (%%rdx), %%al\n\tadd %3, %%rdx\n\tdec %%rcx\n\tjnz 1b\n\tdec %0\n\tjnz 2b"
                     : "+r"(rounds)
                     : "r"(from), "r"(n), "r"(stride)
                     : "rax", "rcx", "rdx", "cc", "memory");
    _exit(0);
}
#endif

/* The program under cachegrind: rounds over a buffer that nothing has touched before. */
static int probe(char **argv)
{
#ifdef __x86_64__
    uint64_t n, stride, rounds;
    const char *buffer = aligned_alloc(ALIGN, BUFFER);
    if (buffer != NULL && ifm_parse_u64(argv[2], &n) && ifm_parse_u64(argv[3], &stride) &&
        ifm_parse_u64(argv[4], &rounds))
        strided_probe(buffer, n, stride, rounds);
#else
    (void)argv;
#endif
    return 1;
}

static struct ifm_cachegrind_counts counted(const char *valgrind, uint64_t n, uint64_t stride, uint64_t rounds)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_cachegrind_geometry geometry = {{32 << 10, 8, 64}, {256 << 10, 16, 64}};
    struct ifm_cachegrind_counts counts;
    struct ifm_subprocess_result result;
    struct ifm_error error = {0};
    char path[] = "/tmp/ifm_probe_XXXXXX", *text, program[4096];
    size_t size, all = 0;
    const int fd = mkstemp(path);
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    assert_true(fd >= 0 && length > 0);
    program[length] = '\0';
    const char **front = ifm_cachegrind_arguments(valgrind, &geometry, path, arena), *argv[32];
    for (; front[all] != NULL; all++)
        argv[all] = front[all];
    const uint64_t numbers[] = {n, stride, rounds};
    argv[all++] = program;
    argv[all++] = "probe";
    for (size_t i = 0; i < 3; i++)
        argv[all++] = ifm_arena_printf(arena, "%llu", (unsigned long long)numbers[i]);
    argv[all] = NULL;
    ifm_subprocess_run(&(struct ifm_subprocess){.path = valgrind,
                                                .argv = (char *const *)(uintptr_t)argv,
                                                .stdin_fd = -1,
                                                .stdout_fd = -1,
                                                .stderr_fd = -1,
                                                .timeout_s = 120},
                       &result);
    assert_true(result.end == IFM_SUBPROCESS_EXITED && result.code == 0);
    assert_int_equal(ifm_file_read(path, 64 << 20, &text, &size, &error), IFM_OK);
    if (ifm_cachegrind_read(text, size, "strided_probe", &counts, &error) != IFM_OK)
        fail_msg("%s", error.message);
    free(text);
    close(fd);
    unlink(path);
    ifm_arena_destroy(arena);
    return counts;
}

/* 64 sets of 8 lines in the first level, 256 sets of 16 in the last; the oldest line leaves. */
static void misses_of_a_strided_probe_are_its_closed_form(void **state)
{
    (void)state;
    char valgrind[4096];
    struct ifm_error error = {0};
#if defined(SANITIZED) || !defined(__x86_64__)
    print_message("skipped: a sanitizer does not run under valgrind, and the probe is one of x86-64\n");
    skip();
#endif
    if (ifm_cachegrind_find(valgrind, sizeof valgrind, &error) != IFM_OK) {
        print_message("skipped: %s\n", error.message);
        skip();
    }
    assert_int_equal(ifm_subprocess_prepare(&error), IFM_OK);
    static const struct {
        uint64_t n, stride, rounds, first, last;
    } rows[] = {
        {256, 64, 5, 256, 256},            /* 16 KiB fit into both: each line is missed once */
        {2048, 64, 5, 5 * 2048, 2048},     /* 128 KiB fit into the last level alone */
        {8192, 64, 3, 3 * 8192, 3 * 8192}, /* 512 KiB fit into none */
        {8192, 16, 3, 3 * 2048, 2048},     /* four loads of each line: one misses */
        {8, 4096, 5, 8, 8},                /* one set of the first level, which just holds them */
        {9, 4096, 5, 5 * 9, 9},            /* one line more than it holds */
        {16, 16384, 5, 5 * 16, 16},        /* one set of the last level, which just holds them */
        {17, 16384, 5, 5 * 17, 5 * 17},    /* one line more than it holds */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct ifm_cachegrind_counts counts = counted(valgrind, rows[i].n, rows[i].stride, rows[i].rounds);
        const uint64_t *e = counts.events;
        if (e[IFM_CG_READ_MISSES_1] != rows[i].first || e[IFM_CG_READ_MISSES_LAST] != rows[i].last)
            fail_msg("%llu x %llu B, %llu times: misses %llu and %llu, not %llu and %llu",
                     (unsigned long long)rows[i].n, (unsigned long long)rows[i].stride,
                     (unsigned long long)rows[i].rounds, (unsigned long long)e[IFM_CG_READ_MISSES_1],
                     (unsigned long long)e[IFM_CG_READ_MISSES_LAST], (unsigned long long)rows[i].first,
                     (unsigned long long)rows[i].last);
    }
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "probe") == 0)
        return probe(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_have_a_power_of_two_of_sets),
        cmocka_unit_test(a_file_is_read),
        cmocka_unit_test(a_file_that_was_cut_or_changed_is_refused),
        cmocka_unit_test(misses_of_a_strided_probe_are_its_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
