/* Which file of a command line is measured, behind programs that only set something up. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "workload/command/files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All found by PATH, which is this folder, as are some that are a word of another's options. */
static const char *const programs[] = {"env",  "nice", "taskset", "timeout", "stdbuf", "setarch",
                                       "time", "kill", "test",    "x86_64",  "L",      "prog"};

static int make_programs(void **state)
{
    char folder[] = "/tmp/ifm-files-XXXXXX";
    *state = NULL;
    if (mkdtemp(folder) == NULL || chdir(folder) != 0 || setenv("PATH", folder, 1) != 0)
        return 1;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        FILE *file = fopen(programs[i], "w");
        assert_non_null(file);
        fclose(file);
        assert_int_equal(chmod(programs[i], 0700), 0);
    }
    return 0;
}

static int remove_programs(void **state)
{
    char folder[64];
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        remove(programs[i]);
    return getcwd(folder, sizeof folder) == NULL || chdir("/") != 0 || rmdir(folder) != 0;
}

static void a_wrapper_gives_the_program_that_it_runs(void **state)
{
    (void)state;
    enum { MOST = 10 };
    static const struct {
        char *words[MOST];
        const char *found; /* its last part; NULL = none */
    } cases[] = {
        {{"./prog", "test"}, NULL},
        {{"env", "FOO=1", "nice", "-n", "5", "./prog", "test"}, "./prog"},
        {{"env", "prog"}, "/prog"},
        {{"env", "-u", "test", "./prog"}, "./prog"},
        {{"env", "-iu", "test", "./prog"}, "./prog"},
        {{"env", "-utest", "./prog"}, "./prog"},
        {{"env", "--unset", "test", "./prog"}, "./prog"},
        {{"env", "--unset=test", "./prog"}, "./prog"},
        {{"env", "-i", "test", "./prog"}, "/test"},
        {{"env", "-", "./prog"}, "./prog"},
        {{"env", "--", "./prog"}, "./prog"},
        {{"env", "-S", "FOO=1 ./prog", "test"}, NULL},
        {{"env", "-vS", "./prog", "test"}, NULL},
        {{"env", "--split-string=./prog", "test"}, NULL},
        {{"timeout", "-s", "kill", "5", "./prog"}, "./prog"},
        {{"timeout", "-skill", "5", "./prog"}, "./prog"},
        {{"timeout", "--signal", "kill", "-k", "1", "5", "./prog"}, "./prog"},
        {{"stdbuf", "-o", "L", "./prog"}, "./prog"},
        {{"time", "-o", "test", "-a", "./prog"}, "./prog"},
        {{"taskset", "-c", "0-3", "./prog"}, "./prog"},
        {{"setarch", "x86_64", "-R", "./prog"}, "./prog"},
        {{"setarch", "-R", "./prog"}, "./prog"},
        {{"x86_64", "-R", "nice", "-5", "./prog"}, "./prog"},
        {{"timeout", "-s", "kill"}, NULL},
        {{"env", "-u"}, NULL},
        {{"nice", "gone"}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ifm_arena *arena = ifm_arena_create();
        char *const *argv = cases[i].words;
        const char *found = ifm_command_wrapped(cases[i].words[0], &argv, arena), *expected = cases[i].found;
        if ((found == NULL) != (expected == NULL) ||
            (found != NULL &&
             (strlen(found) < strlen(expected) || strcmp(found + strlen(found) - strlen(expected), expected) != 0)))
            fail_msg("%s %s %s: %s", cases[i].words[0], cases[i].words[1], cases[i].words[2],
                     found == NULL ? "none" : found);
        ifm_arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_wrapper_gives_the_program_that_it_runs)};
    return cmocka_run_group_tests(tests, make_programs, remove_programs);
}
