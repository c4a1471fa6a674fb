/* Names of commands: from what differs between their lines, never from what may be a secret, and always different. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "workload/command/names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 3 };
struct name_case {
    const char *lines[MOST], *names[MOST];
    bool shell, untold;
};

/* In a folder with these files. */
static const char *const folders[] = {"src", "old", "new", "a", "b", "a/bin", "b/bin"};
static const char *const files[] = {"a.py",      "b.py",     "src/a.py", "src/b.py",     "old/bench",
                                    "new/bench", "a/run.py", "b/run.py", "patients.csv", "others.csv",
                                    "bench",     "a/bin/x",  "b/bin/x",  "a/bin/y"};

static const struct name_case cases[] = {
    {{"python3 a.py", "python3 b.py"}, {"a.py", "b.py"}, false, false},
    {{"python3 src/a.py x", "python3 src/b.py x"}, {"a.py", "b.py"}, false, false},
    {{"sort a", "gzip -9 a"}, {"sort", "gzip"}, false, false},
    {{"gzip -9 -c f", "gzip -1 -c f", "bzip2 f"}, {"gzip-9", "gzip-1", "bzip2"}, false, false},
    {{"./old/bench x", "./new/bench x"}, {"old", "new"}, false, false},
    {{"./bench", "./new/bench", "old//bench"}, {"bench", "new", "old"}, false, false},
    {{"a/bin/x", "./b/bin/x"}, {"a", "b"}, false, false},
    {{"a/bin/x", "b/bin/x", "bench"}, {"a", "b", "bench"}, false, false},
    {{"a/bin/x -1", "a/bin/x -2"}, {"x-1", "x-2"}, false, false},
    {{"python3 a/run.py", "python3 b/run.py"}, {"a", "b"}, false, false},
    /* a folder above, or one from the root, may say who and where */
    {{"./old/../old/bench", "./new/bench"}, {"bench-1st", "bench-2nd"}, false, true},
    {{"a/../old/bench", "b/../new/bench"}, {"bench-1st", "bench-2nd"}, false, true},
    {{"/bin/./true", "/usr/bin/true"}, {"true-1st", "true-2nd"}, false, true},
    {{"python3 old/gone.py", "python3 new/gone.py"}, {"python3-1st", "python3-2nd"}, false, true},
    {{"wc patients.csv", "wc others.csv"}, {"wc-1st", "wc-2nd"}, false, true},
    {{"a-program-with-a-long-name-indeed -x", "a-program-with-a-long-name-indeed -y"},
     {"a-program-with-a-l-x", "a-program-with-a-l-y"},
     false,
     false},
    {{"true", "true", "true"}, {"true-1st", "true-2nd", "true-3rd"}, false, false},
    {{"python3 a.py x", "python3 a.py x"}, {"a.py-1st", "a.py-2nd"}, false, false},
    {{"gzip -6 -c f", "gzip -6 -c f"}, {"gzip-6-1st", "gzip-6-2nd"}, false, false},
    {{"gzip -6 f", "gzip -9 f", "gzip -6 f"}, {"gzip-6-1st", "gzip-9", "gzip-6-2nd"}, false, false},
    {{"grep x f", "grep --fixed-strings x f"}, {"grep", "grep-fixed-strings"}, false, false},
    {{"sort f", "sort --parallel=2 f"}, {"sort", "sort-parallel"}, false, false},
    {{"sort --parallel=2 f", "sort --parallel=4 f"}, {"sort-1st", "sort-2nd"}, false, true},
    {{"log --token=secret", "log --token=other"}, {"log-1st", "log-2nd"}, false, true},
    {{"true", "true", "./true-2nd"}, {"true-1st", "true-3rd", "true-2nd"}, false, false},
    {{"gzip -9", "gzip -1", "./gzip-9"}, {"gzip-9-1st", "gzip-1", "gzip-9-2nd"}, false, true},
    {{"python3 a.py | wc", "python3 b.py | wc"}, {"a.py", "b.py"}, true, false},
    /* what sets a program up is not what is measured */
    {{"sort f", "env LC_ALL=C sort f"}, {"sort", "sort-LC_ALL"}, false, false},
    {{"env A=1 sort f", "/usr/bin/env B=1 C=2 sort -u f"}, {"sort-A", "sort-B_C"}, false, false},
    {{"env -i -u X A=1 sort f", "env gzip f"}, {"sort", "gzip"}, false, false},
    {{"env A=1 sort f", "env A=2 sort f"}, {"sort-1st", "sort-2nd"}, false, true},
    {{"env A=1 gzip -9 f", "env A=1 gzip -1 f"}, {"gzip-9", "gzip-1"}, false, false},
    {{"env -i sort f", "sort f", "nice -n 5 sort f"}, {"sort-env", "sort", "sort-nice"}, false, false},
    {{"env A=1 sort f", "env A=1 sort f"}, {"sort-1st", "sort-2nd"}, false, false},
    {{"env -S 'A=1 sort f'", "sort f"}, {"env", "sort"}, false, true},
    {{"env 'A B=1' ./bench", "./bench"}, {"bench-1st", "bench-2nd"}, false, true},
    {{"env A=1 sort f | wc", "A=1 B=2 sort f | wc"}, {"sort-A", "sort-A_B"}, true, false},
    {{"env A=\"x sort y\" wc f", "A=$(sort f) wc f"}, {"env", "command"}, true, true},
    /* what may be a secret */
    {{"sh -c ': one secret'", "sh -c ': another'"}, {"sh-1st", "sh-2nd"}, false, true},
    {{"mysql -psecret", "mysql -pother"}, {"mysql-1st", "mysql-2nd"}, false, true},
    {{"curl -u me:secret x", "curl -u me:other x"}, {"curl-1st", "curl-2nd"}, false, true},
    {{"login secret", "login other"}, {"login-1st", "login-2nd"}, false, true},
    {{"unlock 1234", "unlock 2345"}, {"unlock-1st", "unlock-2nd"}, false, true},
    {{"PGPASSWORD=secret prog", "prog x"}, {"prog-PGPASSWORD", "prog"}, true, false},
    {{"\"secret\" x", "(secret/x)"}, {"command-1st", "command-2nd"}, true, true},
    {{"python3 gone.py", "python3 lost.py"}, {"python3-1st", "python3-2nd"}, false, true},
};

static int make_files(void **state)
{
    char folder[] = "/tmp/ifm-names-XXXXXX";
    *state = NULL;
    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        return 1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(folders[i], 0700), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *file = fopen(files[i], "w");
        assert_non_null(file);
        fclose(file);
        assert_int_equal(chmod(files[i], strchr(files[i], '.') == NULL ? 0700 : 0600), 0);
    }
    return 0;
}

static int remove_files(void **state)
{
    char folder[64];
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        remove(files[i]);
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;)
        rmdir(folders[i]);
    return getcwd(folder, sizeof folder) == NULL || chdir("/") != 0 || rmdir(folder) != 0;
}

static void commands_are_named_by_what_differs(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct ifm_arena *arena = ifm_arena_create();
        struct ifm_error error = {0};
        const char *names[MOST];
        bool untold = !cases[c].untold;
        size_t n = 0;
        while (n < MOST && cases[c].lines[n] != NULL)
            n++;
        assert_int_equal(ifm_command_names(cases[c].lines, n, cases[c].shell, arena, names, &untold, &error), IFM_OK);
        for (size_t i = 0; i < n; i++)
            assert_string_equal(names[i], cases[c].names[i]);
        assert_int_equal(untold, cases[c].untold);
        ifm_arena_destroy(arena);
    }
}

static void a_line_that_cannot_be_run_is_named_by_its_place(void **state)
{
    static const char *const lines[] = {"true", "echo 'x"};
    const char *names[2];
    bool untold;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    (void)state;
    assert_int_equal(ifm_command_names(lines, 2, false, arena, names, &untold, &error), IFM_USAGE);
    assert_string_equal(error.where, "command 2");
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_named_by_what_differs),
        cmocka_unit_test(a_line_that_cannot_be_run_is_named_by_its_place),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
