/* What sessions are beside their numbers: which program ran in each, and what is said of how many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "publish/sessions.h"
#include "unit/events.h"
#include <string.h>

static void program_of(json_t *journal, const char *what, const char *hash)
{
    json_array_append_new(journal,
                          json_pack("{s:s, s:{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:s*}}", "stage", "program",
                                    "meta", "cell", "command", "arm", "gzip", "when", "before", "what", what, "inode",
                                    1, "size", 1, "mtime_ns", 1, "ctime_ns", 1, "sha256", hash));
}

/* By its content: a copy is the same program, and a record without a hash says nothing of it. */
static void a_program_that_was_replaced_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *what, *before, *now, *says;
    } cases[] = {{"program", "aa", "bb", "program of gzip"},
                 {"script", "aa", "bb", "script of gzip"},
                 {"program", "aa", "aa", NULL},
                 {"program", NULL, "bb", NULL},
                 {"program", "aa", NULL, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ifm_arena *arena = ifm_arena_create();
        json_t *before = json_array(), *now = json_array();
        program_of(before, "wrapped program", "cc"); /* of another word of the line */
        program_of(before, cases[i].what, cases[i].before);
        program_of(now, cases[i].what, cases[i].now);
        program_of(now, "wrapped program", "cc");
        const char *named = ifm_programs_unlike(events_of(before, arena), events_of(now, arena), arena);
        assert_int_equal(named != NULL, cases[i].says != NULL);
        if (cases[i].says != NULL)
            assert_string_equal(named, cases[i].says);
        json_decref(before);
        json_decref(now);
        ifm_arena_destroy(arena);
    }
}

/* That it is said of one run alone, and of which, tells how the others are. */
static void what_no_noise_explains_is_said_of_so_many_runs(void **state)
{
    (void)state;
    enum { RUNS = 3 };
    static const char *const dirs[RUNS] = {"again-1", "again-2", "again-3"};
    const enum ifm_trust_word solid = IFM_TRUST_SOLID, noisy = IFM_TRUST_NOISY, biased = IFM_TRUST_BIASED,
                              weak = IFM_TRUST_WEAK;
    const struct {
        enum ifm_trust_word words[RUNS];
        const char *says;
    } cases[] = {
        {{solid, noisy, solid}, ""},
        {{noisy, biased, solid}, "; with care, as 1 of 3 runs says: biased (inferometer summary again-2)"},
        {{biased, solid, biased}, "; with care, as 2 of 3 runs say: biased (inferometer summary again-1)"},
        {{biased, weak, biased}, "; with care, as 1 of 3 runs says: weak baseline (inferometer summary again-2)"}};
    struct ifm_arena *arena = ifm_arena_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(ifm_sessions_caveat(cases[i].words, dirs, RUNS, arena), cases[i].says);
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_was_replaced_is_named),
        cmocka_unit_test(what_no_noise_explains_is_said_of_so_many_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
