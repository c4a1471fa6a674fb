/* Programs started, waited for and cleaned up after. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/subprocess.h"
#include "facts.h"
#include <errno.h>
#include <math.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int null_fd;

static struct ifm_subprocess shell(const char *text)
{
    static char *argv[] = {(char *)"/bin/sh", (char *)"-c", NULL, NULL};
    argv[2] = (char *)text;
    return (struct ifm_subprocess){
        .path = argv[0], .argv = argv, .stdin_fd = null_fd, .stdout_fd = null_fd, .stderr_fd = null_fd};
}

static void no_child_is_left(void)
{
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void the_end_of_a_program_is_told(void **state)
{
    (void)state;
    struct ifm_subprocess_result result;
    struct ifm_subprocess program = shell("exit 7");
    ifm_subprocess_run(&program, &result);
    assert_int_equal(result.end, IFM_SUBPROCESS_EXITED);
    assert_int_equal(result.code, 7);
    assert_true(result.rss_bytes > 0);
    program = shell("kill -TERM $$");
    ifm_subprocess_run(&program, &result);
    assert_int_equal(result.end, IFM_SUBPROCESS_SIGNALED);
    assert_int_equal(result.code, SIGTERM);
    program.path = "/nowhere/at/all";
    ifm_subprocess_run(&program, &result);
    assert_int_equal(result.end, IFM_SUBPROCESS_NOT_STARTED);
    assert_int_equal(result.code, ENOENT);
    no_child_is_left();
}

static void processor_time_includes_descendants_that_were_waited_for(void **state)
{
    (void)state;
    struct ifm_subprocess_result result;
    struct ifm_subprocess program = shell("sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; :");
    ifm_subprocess_run(&program, &result);
    assert_int_equal(result.code, 0);
    assert_true(result.cpu_ns > 20000000);
}

/* What it sleeps is not part of it. Of the first thread: of a shell that only waits, hardly any of the work. */
static void the_waiting_of_the_first_thread_is_read_before_it_is_gone(void **state)
{
    (void)state;
    struct ifm_subprocess_result result;
    struct ifm_subprocess program = shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
    ifm_subprocess_run(&program, &result);
    if (result.first_cpu_ns < 0)
        skip(); /* a kernel without CONFIG_SCHED_INFO */
    assert_true(fabs((double)(result.first_cpu_ns - result.cpu_ns)) < 0.05 * (double)result.cpu_ns);
    assert_in_range(result.first_delay_ns, 0, result.wall_ns - result.first_cpu_ns);
    assert_true(result.wall_ns - result.first_cpu_ns - result.first_delay_ns < result.wall_ns / 4);
    program = shell("exec sleep 0.3");
    ifm_subprocess_run(&program, &result);
    assert_true(result.wall_ns > 300000000 && result.first_cpu_ns + result.first_delay_ns < result.wall_ns - 300000000);
    program = shell("sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; :");
    ifm_subprocess_run(&program, &result);
    assert_true(result.first_cpu_ns < result.cpu_ns / 2);
    program.path = "/nowhere/at/all";
    ifm_subprocess_run(&program, &result);
    no_child_is_left();
}

/* The one that it may use; of a run that is too short to be asked, none. */
static void the_cpu_of_a_run_is_told(void **state)
{
    (void)state;
    struct ifm_subprocess_result result;
    struct ifm_subprocess program = shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
    cpu_set_t one;
    const int cpu = sched_getcpu();
    assert_true(cpu >= 0);
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    program.affinity = &one;
    program.affinity_bytes = sizeof one;
    ifm_subprocess_run(&program, &result);
    assert_int_equal(result.first_cpu, cpu);
    program = shell(":");
    ifm_subprocess_run(&program, &result);
    assert_true(result.wall_ns >= 5000000 || result.first_cpu == -1); /* a busy machine may take so long */
    program.path = "/nowhere/at/all";
    ifm_subprocess_run(&program, &result);
    assert_int_equal(result.first_cpu, -1);
}

static void a_time_limit_ends_the_whole_session(void **state)
{
    (void)state;
    unsigned killed;
    struct ifm_error error;
    struct ifm_subprocess_result result;
    struct ifm_subprocess program = shell("sleep 60 & sleep 60");
    program.timeout_s = 0.05;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    ifm_subprocess_run(&program, &result);
    assert_int_equal(result.end, IFM_SUBPROCESS_TIMED_OUT);
    assert_int_equal(ifm_subprocess_reap(&killed, &error), IFM_OK);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(after.tv_sec - before.tv_sec < 20);
    no_child_is_left();
}

static void what_outlives_a_program_is_killed_and_counted(void **state)
{
    (void)state;
    unsigned killed = 99;
    struct ifm_error error;
    struct ifm_subprocess_result result;
    /* Each says in a file that it has begun. */
    struct ifm_subprocess program = shell("f=$(mktemp); s='echo >>$0; exec sleep 60'; sh -c \"$s\" $f & "
                                          "setsid sh -c 'sh -c \"$1\" $0 & sh -c \"$1\" $0; :' $f \"$s\" & "
                                          "until [ $(wc -l <$f) = 3 ]; do sleep 0.01; done; rm $f");
    ifm_subprocess_run(&program, &result);
    assert_int_equal(result.end, IFM_SUBPROCESS_EXITED);
    assert_int_equal(ifm_subprocess_reap(&killed, &error), IFM_OK);
    assert_int_equal(killed, 4); /* three sleeps, and the shell of two of them */
    no_child_is_left();
    assert_int_equal(ifm_subprocess_reap(&killed, &error), IFM_OK);
    assert_int_equal(killed, 0);
}

static double run_for_s(const struct ifm_subprocess *program, struct ifm_subprocess_result *result)
{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    ifm_subprocess_run(program, result);
    clock_gettime(CLOCK_MONOTONIC, &after);
    return (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}

/* A program that forks its work and returns takes as long as that work, wherever it hides. */
static void a_tree_lasts_until_its_last_descendant_has_ended(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned fewest, most;
    } trees[] = {
        {"sleep 0.2 & exit 0", 1, 1},
        {"setsid sleep 0.2 & exit 0", 1, 1},
        {"setsid sh -c 'setsid sleep 0.2 & sleep 0.1' & sleep 0.05 & exit 0", 3, 3},
        {"sleep 0.2", 0, 0},
    };
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        struct ifm_subprocess_result result;
        struct ifm_subprocess program = shell(trees[i].text);
        program.tree = true;
        program.strays_s = 60;
        assert_true(run_for_s(&program, &result) >= 0.2);
        assert_int_equal(result.end, IFM_SUBPROCESS_EXITED);
        assert_int_equal(result.code, 0);
        assert_in_range(result.strays, trees[i].fewest, trees[i].most);
        no_child_is_left();
    }
}

static void the_processor_time_of_strays_counts(void **state)
{
    (void)state;
    struct ifm_subprocess_result result;
    struct ifm_subprocess program = shell("sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done' & exit 0");
    program.tree = true;
    program.strays_s = 60;
    ifm_subprocess_run(&program, &result);
    assert_int_equal(result.strays, 1);
    assert_true(result.cpu_ns > 20000000);
}

static void a_tree_that_does_not_end_has_a_limit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double strays_s, timeout_s;
        enum ifm_subprocess_end end;
    } trees[] = {
        {"setsid sleep 60 & exit 0", 0.1, 0, IFM_SUBPROCESS_STRAYS},
        {"setsid sleep 60 & exit 0", 0, 0, IFM_SUBPROCESS_STRAYS},
        {"setsid sleep 60 & exit 0", 60, 0.1, IFM_SUBPROCESS_TIMED_OUT},
        {"setsid sleep 60 & exit 7", 60, 0, IFM_SUBPROCESS_EXITED}, /* a failed run is not waited for */
    };
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        unsigned killed;
        struct ifm_error error;
        struct ifm_subprocess_result result;
        struct ifm_subprocess program = shell(trees[i].text);
        program.tree = true;
        program.strays_s = trees[i].strays_s;
        program.timeout_s = trees[i].timeout_s;
        assert_true(run_for_s(&program, &result) < 20);
        assert_int_equal(result.end, trees[i].end);
        assert_int_equal(ifm_subprocess_reap(&killed, &error), IFM_OK);
        assert_int_equal(killed, 1);
        no_child_is_left();
    }
}

static void on_alarm(int number)
{
    (void)number;
}

static void a_signal_for_us_ends_the_program(void **state)
{
    (void)state;
    unsigned killed;
    struct ifm_error error;
    struct ifm_subprocess_result result;
    struct sigaction action = {.sa_handler = on_alarm}, before;
    sigaction(SIGALRM, &action, &before);
    struct ifm_subprocess program = shell("sleep 60");
    alarm(1);
    ifm_subprocess_run(&program, &result);
    sigaction(SIGALRM, &before, NULL);
    assert_int_equal(result.end, IFM_SUBPROCESS_INTERRUPTED);
    assert_int_equal(ifm_subprocess_reap(&killed, &error), IFM_OK);
    no_child_is_left();
}

/* A program starts with the mask that it is given, not with ours; its signals are not blocked. */
static void affinity_and_signals_are_the_programs_own(void **state)
{
    (void)state;
    cpu_set_t all, one;
    struct ifm_subprocess_result result;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2)
        skip();
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    struct ifm_subprocess program =
        shell("[ $(nproc) -gt 1 ] && grep -q 'SigBlk:.*0000000000000000' /proc/self/status");
    program.affinity = &all;
    program.affinity_bytes = sizeof all;
    ifm_subprocess_run(&program, &result);
    assert_int_equal(result.code, 0);
    program.affinity = NULL; /* and the test can fail */
    ifm_subprocess_run(&program, &result);
    assert_int_not_equal(result.code, 0);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void programs_are_found_as_a_shell_finds_them(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct ifm_error error;
    assert_int_equal(ifm_subprocess_find("sh", path, sizeof path, &error), IFM_OK);
    assert_string_equal(strrchr(path, '/'), "/sh");
    assert_int_equal(ifm_subprocess_find("/bin/sh", path, sizeof path, &error), IFM_OK);
    assert_string_equal(path, "/bin/sh");
    assert_int_equal(ifm_subprocess_find("/etc/passwd", path, sizeof path, &error), IFM_USAGE);
    assert_facts(error.message, "/etc/passwd");
    assert_int_equal(ifm_subprocess_find("/etc", path, sizeof path, &error), IFM_USAGE);
    assert_int_equal(ifm_subprocess_find("no-such-program", path, sizeof path, &error), IFM_USAGE);
    assert_facts(error.message, "no-such-program|PATH");
}

static int set_up(void **state)
{
    (void)state;
    struct ifm_error error;
    null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    return null_fd >= 0 && ifm_subprocess_prepare(&error) == IFM_OK ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_a_program_is_told),
        cmocka_unit_test(the_waiting_of_the_first_thread_is_read_before_it_is_gone),
        cmocka_unit_test(the_cpu_of_a_run_is_told),
        cmocka_unit_test(processor_time_includes_descendants_that_were_waited_for),
        cmocka_unit_test(a_time_limit_ends_the_whole_session),
        cmocka_unit_test(what_outlives_a_program_is_killed_and_counted),
        cmocka_unit_test(a_tree_lasts_until_its_last_descendant_has_ended),
        cmocka_unit_test(the_processor_time_of_strays_counts),
        cmocka_unit_test(a_tree_that_does_not_end_has_a_limit),
        cmocka_unit_test(a_signal_for_us_ends_the_program),
        cmocka_unit_test(affinity_and_signals_are_the_programs_own),
        cmocka_unit_test(programs_are_found_as_a_shell_finds_them),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
