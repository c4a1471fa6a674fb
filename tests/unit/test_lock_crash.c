/* What a crash leaves, and what `unlock` makes of it: the machine as it was, or a file that says what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts.h"
#include "lock_tree.h"

static void a_crash_at_any_point_is_undone(void **state)
{
    (void)state;
    int points = 0;
    for (int giving = 0; giving < 2; giving++)
        for (int k = 1, ended = true; ended; k++, points++) {
            struct ifm_lock *lock;
            struct ifm_error error = {0};
            ended = ends_at(k, giving);
            if (ifm_lock_recover(&options, &lock, &error) != IFM_OK)
                fail_msg("point %d: %s", k, error.message);
            ifm_lock_close(lock);
            expect_untouched();
        }
    assert_true(points > 3 * ALL_KNOBS); /* before the file, before and after each knob, before each is put back */
}

static void a_crash_of_unlock_is_undone(void **state)
{
    (void)state;
    for (int k = 1, ended = true; ended; k++) {
        struct ifm_lock *lock;
        struct ifm_error error = {0};
        assert_false(ends_at(-1, false));
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            script.calls = 0;
            script.end_at = k;
            _exit(ifm_lock_recover(&options, &lock, &error) == IFM_OK ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        ended = WEXITSTATUS(status) == 42;
        assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_OK);
        ifm_lock_close(lock);
        expect_untouched();
    }
}

static void what_others_changed_is_left_alone(void **state)
{
    (void)state;
    struct ifm_lock *lock;
    struct ifm_error error;
    assert_false(ends_at(-1, false));
    put_ondemand();
    tree_put("/settings", "gpu0 power_limit 300000\ngpu0 gpu_clock 1800\ngpu1 gpu_clock 1500\n");
    assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_INTERNAL);
    assert_int_equal(outcome_of(lock, "governor", "cpu1"), IFM_LOCK_LEFT);
    assert_int_equal(outcome_of(lock, "governor", "cpu2"), IFM_LOCK_RESTORED);
    assert_int_equal(outcome_of(lock, "power_limit", "gpu0"), IFM_LOCK_LEFT);
    assert_int_equal(outcome_of(lock, "gpu_clock", "gpu0"), IFM_LOCK_LEFT);
    assert_int_equal(outcome_of(lock, "gpu_clock", "gpu1"), IFM_LOCK_RESTORED);
    assert_int_equal(outcome_of(lock, "persistence", "gpu0"), IFM_LOCK_UNCHANGED);
    ifm_lock_close(lock);
    assert_string_equal(value(CPU "/cpu1/cpufreq/scaling_governor"), "ondemand");
    assert_string_equal(contents(settings_path), "gpu0 power_limit 300000\ngpu0 gpu_clock 1800\n");
    /* How those two were is still known, and of no other knob. */
    assert_non_null(strstr(contents(state_path), "700 W"));
    assert_non_null(strstr(contents(state_path), "\"powersave\""));
    assert_null(strstr(contents(state_path), "cpu2"));
    assert_null(strstr(contents(state_path), "gpu_clock"));
    tree_put("/settings", ""); /* put back by hand */
    tree_put(CPU "/cpu1/cpufreq/scaling_governor", "powersave\n");
    assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_OK);
    ifm_lock_close(lock);
    expect_untouched();
}

/* The driver takes the old value back as another one. The second call must not take that for somebody else's wish. */
static void a_value_that_the_driver_clamps_stays_in_the_file(void **state)
{
    (void)state;
    const struct ifm_lock_wishes wishes = {.power_cap_w = 500, .gpus = "0"};
    struct ifm_lock *lock;
    struct ifm_error error;
    assert_int_equal(take(&wishes, &lock, &error), IFM_OK);
    ifm_lock_close(lock);
    setenv("FAKE_NVML", "gpus=2 clamp=600", 1);
    for (int call = 0; call < 3; call++) {
        memset(&error, 0, sizeof error);
        assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_INTERNAL);
        assert_int_equal(outcome_of(lock, "power_limit", "gpu0"), call == 0 ? IFM_LOCK_FAILED : IFM_LOCK_LEFT);
        ifm_lock_close(lock);
        assert_facts(error.message, "power_limit|gpu0|600 W|700 W");
        assert_facts(error.hint, "by hand|inferometer unlock|locks.json");
        assert_non_null(strstr(contents(state_path), "\"700 W\""));
    }
    setenv("FAKE_NVML", "gpus=2", 1);
    tree_put("/settings", "gpu0 power_limit 700000\n");
    assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_OK);
    ifm_lock_close(lock);
    expect_untouched();
}

/* A text that no knob can have is never set, and never taken for a value that was changed since. */
static void a_state_file_with_a_malformed_value_keeps_it(void **state)
{
    (void)state;
    static const struct {
        const char *knob, *target, *before, *wanted;
    } rows[] = {
        {"governor", "cpu0", "power save", "performance"},
        {"governor", "cpu0", "../x", "performance"},
        {"frequency_max", "cpu0", "3000000", "2000000 kHz"},
        {"frequency_min", "cpu0", "-1 kHz", "2000000 kHz"},
        {"turbo", "cpus", "1", "off"},
        {"power_limit", "gpu0", "700", "650 W"},
        {"power_limit", "gpu0", "nan W", "650 W"},
        {"persistence", "gpu0", "yes", "on"},
        {"gpu_clock", "gpu0", "1800 MHz", "1980 MHz"},
        {"memory_clock", "gpu0", "none", "3201 MHz"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512], seen[4096], now[4096];
        struct ifm_lock *lock;
        snprintf(text, sizeof text,
                 "{\"schema\":1,\"pid\":1,\"boot_id\":\"first-boot\",\"when\":\"\",\"knobs\":[{\"knob\":\"%s\","
                 "\"target\":\"%s\",\"id\":\"\",\"before\":\"%s\",\"wanted\":\"%s\"}]}",
                 rows[i].knob, rows[i].target, rows[i].before, rows[i].wanted);
        tree_put("/state/locks.json", text);
        snapshot(seen, sizeof seen);
        for (int call = 0; call < 2; call++) {
            struct ifm_error error = {0};
            assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_INVALID);
            assert_int_equal(outcome_of(lock, rows[i].knob, rows[i].target), IFM_LOCK_FAILED);
            ifm_lock_close(lock);
            snprintf(text, sizeof text, "%s|%s|%s", rows[i].knob, rows[i].target, rows[i].before);
            assert_facts(error.message, text);
            snapshot(now, sizeof now);
            assert_string_equal(now, seen);
            assert_non_null(strstr(contents(state_path), rows[i].before));
        }
    }
    assert_int_equal(unlink(state_path), 0);
    expect_untouched();
}

static void one_gpu_of_two_is_lost(void **state)
{
    (void)state;
    const struct ifm_lock_wishes both = {.power_cap_w = 650}, first = {.power_cap_w = 650, .gpus = "0"};
    struct ifm_lock *lock;
    struct ifm_error error;
    setenv("FAKE_NVML", "gpus=2 fail=1", 1);
    expect_refused(&both, IFM_MISSING, "bus", "");
    assert_int_equal(take(&first, &lock, &error), IFM_OK);
    ifm_lock_close(lock);
    setenv("FAKE_NVML", "gpus=2 fail=0", 1); /* now the one that is locked */
    assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_MISSING);
    assert_facts(error.message, "gpu0|put back");
    assert_int_equal(outcome_of(lock, "power_limit", "gpu0"), IFM_LOCK_FAILED);
    ifm_lock_close(lock);
    assert_int_equal(access(state_path, F_OK), 0); /* and is there when it is back */
    setenv("FAKE_NVML", "gpus=2", 1);
    assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_OK);
    ifm_lock_close(lock);
    expect_untouched();
}

static void what_cannot_be_put_back_stays_in_the_file(void **state)
{
    (void)state;
    struct ifm_lock *lock;
    struct ifm_error error;
    assert_false(ends_at(-1, false));
    setenv("FAKE_NVML", "gpus=2 deny=power_limit deny_gpu=1", 1);
    assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_MISSING);
    assert_facts(error.message, "power_limit|gpu1");
    assert_non_null(strstr(error.hint, "inferometer unlock"));
    ifm_lock_close(lock);
    assert_null(strstr(contents(state_path), "governor")); /* the others are back, and out of it */
    assert_non_null(strstr(contents(state_path), "power_limit"));
    setenv("FAKE_NVML", "gpus=2", 1);
    assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_OK);
    ifm_lock_close(lock);
    expect_untouched();
}

static void after_a_restart_nothing_is_set(void **state)
{
    (void)state;
    struct ifm_lock *lock;
    struct ifm_error error;
    assert_false(ends_at(-1, false));
    tree_put(BOOT, "second-boot\n");
    tree_put("/settings", "gpu1 power_limit 650500\n");
    tree_put(CPU "/cpu0/cpufreq/scaling_governor", "powersave\n");
    assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_OK);
    assert_int_equal(outcome_of(lock, "gpu_clock", "gpu0"), IFM_LOCK_GONE);
    assert_int_equal(outcome_of(lock, "governor", "cpu1"), IFM_LOCK_GONE);
    ifm_lock_close(lock);
    assert_string_equal(value(CPU "/cpu1/cpufreq/scaling_governor"), "performance"); /* of the start, not of us */
    assert_string_equal(contents(settings_path), "gpu1 power_limit 650500\n");
    assert_int_not_equal(access(state_path, F_OK), 0);
}

static void a_second_lock_is_refused(void **state)
{
    (void)state;
    const struct ifm_lock_wishes wishes = {.governor = "performance"};
    struct ifm_lock *first, *second, *third;
    struct ifm_error error;
    assert_int_equal(take(&wishes, &first, &error), IFM_OK);
    assert_int_equal(take(&all, &second, &error), IFM_USAGE); /* at the same time */
    assert_facts(error.message, "another inferometer|nothing");
    ifm_lock_close(second);
    assert_int_equal(ifm_lock_recover(&options, &second, &error), IFM_USAGE); /* nor from under its command */
    ifm_lock_close(second);
    ifm_lock_close(first); /* the process is gone, its locks are not */
    assert_int_equal(take(&all, &third, &error), IFM_USAGE);
    assert_facts(error.message, "4 knobs");
    assert_non_null(strstr(error.hint, "inferometer unlock"));
    ifm_lock_close(third);
    assert_int_equal(ifm_lock_recover(&options, &second, &error), IFM_OK);
    ifm_lock_close(second);
    expect_untouched();
    assert_int_equal(ifm_lock_recover(&options, &second, &error), IFM_OK); /* again */
    size_t n;
    ifm_lock_rows(second, &n);
    assert_int_equal(n, 0);
    ifm_lock_close(second);
}

static void a_state_file_that_is_no_such_file_changes_nothing(void **state)
{
    (void)state;
#define HEAD "{\"schema\":1,\"pid\":1,\"boot_id\":\"first-boot\",\"when\":\"\",\"knobs\":["
#define KNOB(knob, target, before)                                                                                     \
    HEAD "{\"knob\":\"" knob "\",\"target\":\"" target "\",\"id\":\"\",\"before\":\"" before "\",\"wanted\":\"x\"}]}"
    static const char *const texts[] = {"",
                                        "{",
                                        "[]",
                                        "{\"schema\":2}",
                                        HEAD "1]}",
                                        KNOB("gpu_colour", "gpu0", "x"),
                                        KNOB("governor", "../../etc", "x"),
                                        KNOB("governor", "gpu0", "x"),
                                        KNOB("governor", "cpu", "x"),
                                        KNOB("turbo", "cpu0", "x"),
                                        KNOB("governor", "cpu0", "")};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct ifm_lock *lock = NULL;
        struct ifm_error error = {0};
        tree_put("/state/locks.json", texts[i]);
        assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_INVALID);
        assert_facts(error.hint, "nothing");
        ifm_lock_close(lock);
        assert_int_equal(take(&all, &lock, &error), IFM_INVALID);
        ifm_lock_close(lock);
        assert_int_equal(access(state_path, F_OK), 0);
        assert_int_equal(unlink(state_path), 0);
        expect_untouched();
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tree_tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_crash_at_any_point_is_undone),
        CASE(a_crash_of_unlock_is_undone),
        CASE(what_others_changed_is_left_alone),
        CASE(a_value_that_the_driver_clamps_stays_in_the_file),
        CASE(a_state_file_with_a_malformed_value_keeps_it),
        CASE(one_gpu_of_two_is_lost),
        CASE(what_cannot_be_put_back_stays_in_the_file),
        CASE(after_a_restart_nothing_is_set),
        CASE(a_second_lock_is_refused),
        CASE(a_state_file_that_is_no_such_file_changes_nothing),
    };
    return cmocka_run_group_tests_name("lock_crash", tests, NULL, NULL);
}
