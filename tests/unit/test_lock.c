/* Locks over a tree of files and a management library of the tests: what fails at any step leaves the machine as it
 * was, and what run.log says of them. Nothing of this machine is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts.h"
#include "lock_tree.h"
#include <signal.h>
#include <sys/resource.h>

static void every_knob_is_locked_and_given_back(void **state)
{
    (void)state;
    struct ifm_lock *lock;
    struct ifm_error error;
    char seen[4096];
    size_t n;
    assert_int_equal(take(&all, &lock, &error), IFM_OK);
    const struct ifm_lock_row *rows = ifm_lock_rows(lock, &n);
    assert_int_equal(n, ALL_KNOBS);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rows[i].outcome, IFM_LOCK_LOCKED);
    snapshot(seen, sizeof seen);
    assert_string_equal(seen, "performance 2000000 2000000 performance 2000000 2000000 performance 2000000 2000000 "
                              "performance 2000000 2000000 1 gpu0 persistence 1 gpu0 power_limit 650500 "
                              "gpu0 memory_clock 1593 gpu0 gpu_clock 1500 gpu1 persistence 1 "
                              "gpu1 power_limit 650500 gpu1 memory_clock 1593 gpu1 gpu_clock 1500 ");
    assert_int_equal(access(state_path, F_OK), 0);
    assert_int_equal(ifm_lock_give(lock, &error), IFM_OK);
    assert_int_equal(outcome_of(lock, "governor", "cpu3"), IFM_LOCK_RESTORED);
    expect_untouched();
    assert_int_equal(ifm_lock_give(lock, &error), IFM_OK); /* again does no harm */
    ifm_lock_close(lock);
}

static void opening_changes_nothing(void **state)
{
    (void)state;
    struct ifm_lock *lock;
    struct ifm_error error;
    size_t n;
    assert_int_equal(ifm_lock_open(&options, &all, &lock, &error), IFM_OK);
    expect_untouched();
    assert_string_equal(ifm_lock_rows(lock, &n)[0].before, "off");
    ifm_lock_close(lock);
}

/* In a process of its own that ends at the k-th point; what is left is what `unlock` finds. */
/* The second half may itself be killed: what was put back already is seen to be. */
static void a_lock_that_is_not_applied_is_found(void **state)
{
    (void)state;
    static const char *const knobs[] = {"gpu_clock", "memory_clock", "power_limit", "persistence"};
    for (size_t i = 0; i < 4; i++) {
        char text[64];
        snprintf(text, sizeof text, "gpus=2 ignore=%s", knobs[i]);
        setenv("FAKE_NVML", text, 1);
        snprintf(text, sizeof text, "not applied|%s", knobs[i]);
        expect_refused(&all, IFM_MISSING, text, "");
    }
}

static void permission_that_is_denied_is_undone(void **state)
{
    (void)state;
    static const char *const knobs[] = {"persistence", "power_limit", "memory_clock", "gpu_clock"};
    for (size_t i = 0; i < 4; i++) /* the first GPU's, and the second's */
        for (int gpu = 0; gpu < 2; gpu++) {
            char text[64];
            snprintf(text, sizeof text, "gpus=2 deny=%s deny_gpu=%d", knobs[i], gpu);
            setenv("FAKE_NVML", text, 1);
            snprintf(text, sizeof text, "gpu%d|permission|as it was", gpu);
            expect_refused(&all, IFM_MISSING, text, "root");
        }
}

static void lose_cpu2(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s" CPU "/cpu2/cpufreq/scaling_governor", tree_root);
    assert_int_equal(chmod(path, 0444), 0);
}

static void as_nobody(void (*what)(void))
{
    if (geteuid() == 0)
        assert_int_equal(seteuid(65534), 0);
    what();
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
}

static void try_governors(void)
{
    const struct ifm_lock_wishes wishes = {.governor = "performance"};
    expect_refused(&wishes, IFM_MISSING, "Permission denied", "as root");
}

static void hand_over(const char *path)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", tree_root, path);
    assert_int_equal(chmod(whole, 0777), 0);
}

static void a_file_that_may_not_be_written_is_undone(void **state)
{
    (void)state;
    for (int cpu = 0; cpu < 4; cpu++) {
        char path[128];
        snprintf(path, sizeof path, CPU "/cpu%d/cpufreq/scaling_governor", cpu);
        hand_over(path);
    }
    hand_over("/state");
    lose_cpu2();
    as_nobody(try_governors);
}

/* The governor of cpu1 jumps as soon as it is set, and then once the others are. */
static void a_knob_that_does_not_stay_is_undone(void **state)
{
    (void)state;
    const struct ifm_lock_wishes wishes = {.governor = "performance"};
    script =
        (struct script){.stop_after = -1, .point = "done", .knob = "governor", .target = "cpu1", .act = put_ondemand};
    expect_refused(&wishes, IFM_MISSING, "governor|performance|ondemand", "");
    struct ifm_lock *lock;
    struct ifm_error error;
    script.target = "cpu3";
    assert_int_equal(take(&wishes, &lock, &error), IFM_MISSING);
    assert_facts(error.message, "governor|performance|ondemand");
    assert_int_equal(outcome_of(lock, "governor", "cpu1"), IFM_LOCK_LEFT);
    assert_int_equal(outcome_of(lock, "governor", "cpu0"), IFM_LOCK_RESTORED);
    ifm_lock_close(lock);
    assert_string_equal(value(CPU "/cpu1/cpufreq/scaling_governor"), "ondemand");
    assert_string_equal(value(CPU "/cpu3/cpufreq/scaling_governor"), "powersave");
}

static void an_old_driver_lacks_a_knob(void **state)
{
    (void)state;
    const struct ifm_lock_wishes clock = {.gpu_clock_mhz = 1500, .power_cap_w = 650}, power = {.power_cap_w = 650};
    struct ifm_lock *lock;
    struct ifm_error error;
    snprintf(library, sizeof library, "%sfake_nvml_old.so", IFM_FAKE_NVML);
    expect_refused(&clock, IFM_MISSING, "580.00|nvmlDeviceSetGpuLockedClocks", "NVIDIA driver");
    assert_int_equal(take(&power, &lock, &error), IFM_OK);
    assert_int_equal(ifm_lock_give(lock, &error), IFM_OK);
    ifm_lock_close(lock);
    snprintf(library, sizeof library, "%sno_such_library.so", IFM_FAKE_NVML);
    expect_refused(&power, IFM_MISSING, "no_such_library", "NVIDIA driver");
    options.nvml = NULL; /* under another root: never this machine's own */
    expect_refused(&power, IFM_MISSING, "no GPU", "");
}

/* The undoing of a failed lock may fail as well: both are said, and the file stays. */
static void break_power(void)
{
    setenv("FAKE_NVML", "gpus=2 deny=power_limit", 1);
}

static void a_failure_that_cannot_be_undone_says_both(void **state)
{
    (void)state;
    const struct ifm_lock_wishes wishes = {.power_cap_w = 650};
    struct ifm_lock *lock;
    struct ifm_error error;
    script =
        (struct script){.stop_after = -1, .point = "set", .knob = "power_limit", .target = "gpu1", .act = break_power};
    assert_int_equal(take(&wishes, &lock, &error), IFM_MISSING);
    assert_facts(error.message, "power_limit|gpu0|no permission");
    assert_non_null(strstr(error.hint, "inferometer unlock"));
    ifm_lock_close(lock);
    setenv("FAKE_NVML", "gpus=2", 1);
    assert_int_equal(ifm_lock_recover(&options, &lock, &error), IFM_OK);
    ifm_lock_close(lock);
    expect_untouched();
}

static void try_state(void)
{
    expect_refused(&all, IFM_USAGE, "nothing", "--state FILE");
}

static void without_a_state_file_nothing_is_changed(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/state", tree_root);
    assert_int_equal(chmod(path, 0555), 0);
    as_nobody(try_state);
    assert_int_equal(chmod(path, 0755), 0);
    /* It can be claimed, and not be written. */
    struct ifm_lock *lock;
    struct ifm_error error;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit none = {0, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    enum ifm_status status = take(&all, &lock, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_not_equal(status, IFM_OK);
    ifm_lock_close(lock);
    expect_untouched();
}

static void a_signal_between_two_knobs_undoes_all(void **state)
{
    (void)state;
    for (int k = 0; k < ALL_KNOBS; k++) {
        struct ifm_lock *lock;
        struct ifm_error error;
        script = (struct script){.stop_after = k};
        assert_int_equal(take(&all, &lock, &error), IFM_INTERRUPTED);
        ifm_lock_close(lock);
        expect_untouched();
    }
}

static void wishes_that_the_machine_cannot_have_are_named(void **state)
{
    (void)state;
    const struct {
        struct ifm_lock_wishes wishes;
        const char *facts;
    } cases[] = {
        {{.gpu_clock_mhz = 1501}, "gpu0|clock|1501 MHz"},    {{.memory_clock_mhz = 3200}, "gpu0|clock|3200 MHz"},
        {{.power_cap_w = 900}, "200|700 W|900 W"},           {{.power_cap_w = 300, .gpus = "2"}, "which has 2"},
        {{.power_cap_w = 300, .gpus = "0,"}, "which has 2"}, {{.governor = "schedutil"}, "cpu0|governor|schedutil"},
        {{.frequency_mhz = 9000}, "cpu0|400|3500 MHz|9000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refused(&cases[i].wishes, IFM_USAGE, cases[i].facts, "");
}

/* The highest clock is never set below the lowest, whichever way the frequency goes; and turbo goes last. */
static void frequencies_move_in_an_order_that_the_kernel_takes(void **state)
{
    (void)state;
    static const unsigned mhz[] = {500, 3000, 3400};
    for (size_t i = 0; i < 3; i++) {
        const struct ifm_lock_wishes wishes = {.frequency_mhz = mhz[i], .turbo_off = true};
        struct ifm_lock *lock;
        struct ifm_error error;
        size_t n;
        assert_int_equal(ifm_lock_open(&options, &wishes, &lock, &error), IFM_OK);
        const struct ifm_lock_row *rows = ifm_lock_rows(lock, &n);
        assert_string_equal(ifm_lock_knob(&rows[0]), mhz[i] >= 3000 ? "frequency_max" : "frequency_min");
        assert_string_equal(ifm_lock_knob(&rows[n - 1]), "turbo");
        ifm_lock_close(lock);
    }
}

static void cpus_of_one_policy_are_one_target(void **state)
{
    (void)state;
    const struct ifm_lock_wishes wishes = {.governor = "performance"};
    struct ifm_lock *lock;
    struct ifm_error error;
    size_t n;
    tree_put(CPU "/cpu0/cpufreq/affected_cpus", "0 1\n");
    tree_put(CPU "/cpu1/cpufreq/affected_cpus", "0 1\n");
    assert_int_equal(ifm_lock_open(&options, &wishes, &lock, &error), IFM_OK);
    ifm_lock_rows(lock, &n);
    assert_int_equal(n, 3);
    ifm_lock_close(lock);
}

/* ---- what run.log says ---- */

/* "gpu_clock=1500 MHz! ..." with ! where it is locked. */
static void expect_knobs(const char *bus, const char *wanted)
{
    char seen[512] = "";
    size_t used = 0, i;
    json_t *knobs = ifm_lock_gpu_knobs(&options, bus), *knob;
    json_array_foreach(knobs, i, knob)
    {
        const char *text = json_string_value(json_object_get(knob, "value"));
        bool locked = json_is_true(json_object_get(knob, "locked"));
        assert_true(locked || json_string_length(json_object_get(knob, "reason")) > 0);
        used += (size_t)snprintf(seen + used, sizeof seen - used, "%s=%s%s; ",
                                 json_string_value(json_object_get(knob, "knob")),
                                 text == NULL                      ? "null"
                                 : strstr(text, "no lock") != NULL ? "unknown"
                                                                   : text,
                                 locked ? "!" : "");
    }
    json_decref(knobs);
    assert_string_equal(seen, wanted);
}

static void a_clock_is_locked_when_a_lock_says_so_and_it_agrees(void **state)
{
    (void)state;
    const struct ifm_lock_wishes wishes = {.gpu_clock_mhz = 1500, .gpus = "1", .persistence = true};
    struct ifm_lock *lock;
    struct ifm_error error;
#define OPEN "gpu_clock=unknown; memory_clock=unknown; power_limit=700 W!; persistence=off; "
#define NONE "gpu_clock=null; memory_clock=null; power_limit=null; persistence=null; "
    expect_knobs("0000:00:07.0", OPEN);
    assert_int_equal(take(&wishes, &lock, &error), IFM_OK);
    expect_knobs("0000:00:07.0", "gpu_clock=1500 MHz!; memory_clock=unknown; power_limit=700 W!; persistence=on!; ");
    expect_knobs(NULL, NONE); /* which of two is not known */
    expect_knobs("0000:00:09.0", NONE);
    setenv("FAKE_NVML", "gpus=2 bus=0000:01:00.0", 1); /* the other card is not locked */
    expect_knobs("0000:01:00.0", OPEN);
    setenv("FAKE_NVML", "gpus=2 capped=1200", 1);
    expect_knobs("0000:00:07.0", "gpu_clock=1500 MHz; memory_clock=unknown; power_limit=700 W!; persistence=on!; ");
    setenv("FAKE_NVML", "gpus=2 one_memory_clock=1 applications=1755", 1);
    expect_knobs("0000:00:07.0", "gpu_clock=1500 MHz!; memory_clock=3201 MHz!; power_limit=700 W!; persistence=on!; "
                                 "application_clock=1755 MHz!; ");
    setenv("FAKE_NVML", "gpus=2", 1);
    tree_put("/settings", ""); /* someone has reset it */
    expect_knobs("0000:00:07.0", OPEN);
    tree_put("/settings", "gpu1 gpu_clock 1500\n");
    tree_put(BOOT, "second-boot\n"); /* the file is of another start: a clock that agrees is chance */
    expect_knobs("0000:00:07.0", OPEN);
    ifm_lock_close(lock);
}

static void a_clock_below_its_lock_is_kept_and_counts_as_unlocked(void **state)
{
    (void)state;
    const struct ifm_lock_wishes wishes = {.gpu_clock_mhz = 1500};
    struct ifm_lock *lock;
    struct ifm_error error;
    size_t n;
    setenv("FAKE_NVML", "idle=345", 1);
    assert_int_equal(take(&wishes, &lock, &error), IFM_OK);
    assert_int_equal(outcome_of(lock, "gpu_clock", "gpu0"), IFM_LOCK_UNCONFIRMED);
    assert_non_null(strstr(ifm_lock_rows(lock, &n)->reason, "idle"));
    setenv("FAKE_NVML", "capped=1200", 1);
    assert_int_equal(ifm_lock_give(lock, &error), IFM_OK);
    ifm_lock_close(lock);
    expect_untouched();
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tree_tear_down)
    const struct CMUnitTest tests[] = {
        CASE(every_knob_is_locked_and_given_back),
        CASE(opening_changes_nothing),
        CASE(a_lock_that_is_not_applied_is_found),
        CASE(permission_that_is_denied_is_undone),
        CASE(a_file_that_may_not_be_written_is_undone),
        CASE(a_knob_that_does_not_stay_is_undone),
        CASE(an_old_driver_lacks_a_knob),
        CASE(a_failure_that_cannot_be_undone_says_both),
        CASE(without_a_state_file_nothing_is_changed),
        CASE(a_signal_between_two_knobs_undoes_all),
        CASE(wishes_that_the_machine_cannot_have_are_named),
        CASE(frequencies_move_in_an_order_that_the_kernel_takes),
        CASE(cpus_of_one_policy_are_one_target),
        CASE(a_clock_is_locked_when_a_lock_says_so_and_it_agrees),
        CASE(a_clock_below_its_lock_is_kept_and_counts_as_unlocked),
    };
    return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
