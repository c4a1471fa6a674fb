/* What the session API says beside numbers: why a comparison has no word, and how far the run may be trusted. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "facts.h"
#include "inferometer/session.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE(repeats, script)                                                                                          \
    "seed: 1\ndevice:\n  kind: fake\n  script: 'step_ns=100000; " script "'\n"                                         \
    "measure:\n  margin: 0\n  repeats: " repeats "\n"

static char dir[32], run[64];
static struct inferometer_session *session;

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/ifm-words-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(run, sizeof run, "%s//run/", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    inferometer_close(session);
    session = NULL;
    return nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void measure(const char *options)
{
    session = inferometer_open(run, options);
    if (session == NULL)
        fail_msg("%s", inferometer_message(NULL));
    assert_int_equal(inferometer_arm(session, "a"), 0);
    assert_int_equal(inferometer_arm(session, "b"), 1);
    while (inferometer_next(session) >= 0) {
        assert_int_equal(inferometer_begin(session), INFEROMETER_OK);
        assert_int_equal(inferometer_end(session, 0), INFEROMETER_OK);
    }
    assert_string_equal(inferometer_message(session), "");
}

/* An interval without a word has its reason, in the words of the terminal's footnote. */
static void what_is_undecided_says_why(void **state)
{
    struct inferometer_result r = {.size = sizeof r};
    struct inferometer_value v = {.size = sizeof v};
    (void)state;
    measure(FAKE("60", "noise=0.05; slot_noise=0.01; arm.b.step_ns=100000"));
    assert_int_equal(inferometer_judge(session, &r), INFEROMETER_OK);
    assert_string_equal(r.word, "undecided");
    assert_true(r.has_change);
    assert_facts(r.reason, "undecided after | blocks|a margin of");
    assert_string_equal(r.trust, "undecided");
    assert_facts(r.trust_cause, "b after | blocks, though a margin of");
    assert_true(strstr(r.trust_remedy, "measure.margin") != NULL && strstr(r.trust_remedy, "--") == NULL);
    assert_int_equal(inferometer_metric(session, 1, "change_percent", &v), INFEROMETER_OK);
    assert_string_equal(v.text, "undecided");
    assert_string_equal(v.reason, r.reason);
    assert_int_equal(inferometer_metric(session, 1, "step_ns", &v), INFEROMETER_OK);
    assert_string_equal(v.reason, "");
}

static void too_few_blocks_are_the_reason(void **state)
{
    struct inferometer_result r = {.size = sizeof r};
    (void)state;
    measure(FAKE("4", "noise=0.05"));
    assert_int_equal(inferometer_judge(session, &r), INFEROMETER_OK);
    assert_true(!r.has_change);
    assert_facts(r.reason, "undecided: needs 6 blocks, has 2");
}

static void what_is_decided_is_solid(void **state)
{
    struct inferometer_result r = {.size = sizeof r};
    (void)state;
    measure(FAKE("60", "noise=0.01; arm.b.step_ns=200000"));
    assert_int_equal(inferometer_judge(session, &r), INFEROMETER_OK);
    assert_string_equal(r.word, "slower");
    assert_string_equal(r.trust, "solid");
    assert_true(r.trust_cause[0] != '\0' && r.trust_remedy[0] == '\0');
    assert_true(strstr(r.report + 1, "//") == NULL); /* of a folder with slashes */
    /* a caller that was compiled against an older header */
    struct inferometer_result older = {.size = offsetof(struct inferometer_result, trust), .trust = "untouched"};
    assert_int_equal(inferometer_judge(session, &older), INFEROMETER_OK);
    assert_string_equal(older.word, "slower");
    assert_string_equal(older.trust, "untouched");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_undecided_says_why, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_few_blocks_are_the_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_decided_is_solid, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
