/* The pool: every worker runs once per command, on its own CPU; it sleeps when idle and never while held.
 *
 * Under the thread sanitizer:
 *   clang -fsanitize=thread -g -O1 -D_GNU_SOURCE -Isrc tests/unit/test_pool.c src/device/pool.c src/host/cpus.c \
 *       src/host/limits.c src/host/read.c src/base/error.c src/base/file.c src/base/text.c src/base/number.c \
 *       src/base/log.c src/base/arena.c -lcmocka -ljansson -lm -lpthread -o /tmp/test_pool && /tmp/test_pool */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/pool.h"
#include "host/cpus.h"
#include "host/host.h"
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* The run time of the thread sanitizer puts threads to sleep on its own account. */
#if defined(__SANITIZE_THREAD__)
#define SLEEPS_ARE_OURS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SLEEPS_ARE_OURS 0
#endif
#endif
#ifndef SLEEPS_ARE_OURS
#define SLEEPS_ARE_OURS 1
#endif

#define WORKERS_MAX 8
#define PADDING 32 /* ints between two workers' counters */

/* Plain memory on purpose: the pool's own ordering must make it safe. */
struct tally {
    unsigned runs[WORKERS_MAX * PADDING];
    unsigned counts[WORKERS_MAX * PADDING];
    int cpu[WORKERS_MAX * PADDING];
    long sleeps[WORKERS_MAX * PADDING]; /* how often the worker has slept since it was born */
};

static void count_run(void *arg, unsigned index, unsigned count)
{
    struct tally *tally = arg;
    tally->runs[index * PADDING]++;
    tally->counts[index * PADDING] = count;
    tally->cpu[index * PADDING] = sched_getcpu();
}

static void count_sleeps(void *arg, unsigned index, unsigned count)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    count_run(arg, index, count);
    ((struct tally *)arg)->sleeps[index * PADDING] = usage.ru_nvcsw;
}

/* More workers than CPUs are fine for the pool itself: they share, and everything must still happen. */
static struct ifm_pool *make_pool(unsigned n, unsigned *cpus)
{
    unsigned allowed[IFM_CPUS_MAX], count = ifm_host_cpus(allowed, IFM_CPUS_MAX);
    struct ifm_pool *pool = NULL;
    struct ifm_error error = {0};
    assert_true(count > 0);
    for (unsigned i = 0; i < n; i++)
        cpus[i] = allowed[i % count];
    assert_int_equal(ifm_pool_create(cpus, n, &pool, &error), IFM_OK);
    return pool;
}

/* Rounds of a stress test: fewer where spinning workers must share CPUs, because every join then waits for the
 * scheduler. */
static unsigned rounds_for(unsigned workers, unsigned rounds)
{
    unsigned cpus[IFM_CPUS_MAX];
    return ifm_host_cpus(cpus, IFM_CPUS_MAX) >= workers ? rounds : rounds / 50;
}

static void sleep_us(long us)
{
    struct timespec t = {0, us * 1000};
    nanosleep(&t, NULL);
}

/* Up to five seconds: the machine may be busy. */
static bool becomes_parked(const struct ifm_pool *pool, unsigned wanted)
{
    for (int i = 0; i < 5000 && ifm_pool_parked(pool) != wanted; i++)
        sleep_us(1000);
    return ifm_pool_parked(pool) == wanted;
}

static void runs_each_worker_once(void **state)
{
    (void)state;
    unsigned cpus[WORKERS_MAX];
    struct ifm_pool *pool = make_pool(4, cpus);
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct tally tally = {0};
        for (unsigned i = 0; i < 20; i++)
            ifm_pool_run(pool, threads, count_run, &tally);
        for (unsigned w = 0; w < 4; w++) {
            assert_int_equal(tally.runs[w * PADDING], w < threads ? 20 : 0);
            assert_int_equal(tally.counts[w * PADDING], w < threads ? threads : 0);
        }
    }
    ifm_pool_destroy(pool);
}

static void workers_stay_on_their_cpu(void **state)
{
    (void)state;
    unsigned cpus[WORKERS_MAX], n = 4;
    struct ifm_pool *pool = make_pool(n, cpus);
    for (unsigned i = 0; i < 10; i++) {
        struct tally tally = {0};
        ifm_pool_run(pool, n, count_run, &tally);
        for (unsigned w = 1; w < n; w++)
            assert_int_equal(tally.cpu[w * PADDING], cpus[w]);
    }
    ifm_pool_destroy(pool);
}

static void one_thread_touches_no_worker(void **state)
{
    (void)state;
    unsigned cpus[WORKERS_MAX];
    struct tally tally = {0};
    struct ifm_pool *pool = make_pool(2, cpus);
    ifm_pool_run(pool, 2, count_sleeps, &tally);
    long before = tally.sleeps[PADDING];
    assert_true(becomes_parked(pool, 1));
    for (unsigned i = 0; i < 10000; i++)
        ifm_pool_run(pool, 1, count_run, &tally);
    assert_int_equal(tally.runs[0], 10001);
    assert_int_equal(tally.runs[PADDING], 1);
    assert_int_equal(ifm_pool_parked(pool), 1);
    ifm_pool_run(pool, 2, count_sleeps, &tally);
    if (SLEEPS_ARE_OURS)
        assert_int_equal(tally.sleeps[PADDING], before + 1); /* it slept once, all along */
    ifm_pool_destroy(pool);
}

static void held_workers_never_park(void **state)
{
    (void)state;
    unsigned cpus[WORKERS_MAX], n_cpus[IFM_CPUS_MAX];
    if (ifm_host_cpus(n_cpus, IFM_CPUS_MAX) < 2)
        skip(); /* a spinning worker needs its own CPU */
    struct tally tally = {0};
    struct ifm_pool *pool = make_pool(2, cpus);
    assert_true(becomes_parked(pool, 1));
    ifm_pool_hold(pool, 2);
    assert_int_equal(ifm_pool_held(pool), 2);
    ifm_pool_run(pool, 2, count_sleeps, &tally);
    long before = tally.sleeps[PADDING];
    for (unsigned i = 0; i < 20; i++) {
        struct ifm_instant start = ifm_clock_now();
        while (ifm_clock_since(start).ns < 1000000) /* 20 x the spin limit, without a system call */
            ;
        assert_int_equal(ifm_pool_parked(pool), 0);
        ifm_pool_run(pool, 2, count_sleeps, &tally);
    }
    assert_int_equal(tally.runs[PADDING], 21);
    if (SLEEPS_ARE_OURS)
        assert_int_equal(tally.sleeps[PADDING], before);
    ifm_pool_release(pool);
    assert_int_equal(ifm_pool_held(pool), 0);
    assert_true(becomes_parked(pool, 1)); /* released: it sleeps again */
    ifm_pool_run(pool, 2, count_run, &tally);
    assert_int_equal(tally.runs[PADDING], 22);
    ifm_pool_destroy(pool);
}

static void hold_puts_the_others_to_sleep(void **state)
{
    (void)state;
    unsigned cpus[WORKERS_MAX];
    struct tally tally = {0};
    struct ifm_pool *pool = make_pool(4, cpus);
    ifm_pool_run(pool, 4, count_run, &tally);
    ifm_pool_hold(pool, 1);
    assert_int_equal(ifm_pool_parked(pool), 3);
    ifm_pool_run(pool, 4, count_run, &tally); /* more than are held: they wake up */
    for (unsigned w = 0; w < 4; w++)
        assert_int_equal(tally.runs[w * PADDING], 2);
    ifm_pool_hold(pool, 2); /* without a release between */
    assert_int_equal(ifm_pool_held(pool), 2);
    ifm_pool_destroy(pool); /* while held */
}

/* Commands around the moment of parking: a lost wake-up would hang here. */
static void no_wake_up_is_missed(void **state)
{
    (void)state;
    unsigned cpus[WORKERS_MAX];
    struct tally tally = {0};
    struct ifm_pool *pool = make_pool(2, cpus);
    unsigned rounds = rounds_for(2, 3000), random = 1;
    for (unsigned i = 0; i < rounds; i++) {
        random = random * 1664525u + 1013904223u;
        struct ifm_instant start = ifm_clock_now();
        while (ifm_clock_since(start).ns < 30000 + (random >> 16) % 60000) /* 30 .. 90 us: around the spin limit */
            ;
        if (i % 16 == 0)
            ifm_pool_hold(pool, 1 + i / 16 % 2);
        if (i % 16 == 8)
            ifm_pool_release(pool);
        ifm_pool_run(pool, 2, count_run, &tally);
    }
    for (unsigned w = 0; w < 2; w++)
        assert_int_equal(tally.runs[w * PADDING], rounds);
    ifm_pool_destroy(pool);
}

static void work_is_visible_after_the_join(void **state)
{
    (void)state;
    unsigned cpus[WORKERS_MAX], rounds = rounds_for(2, 20000);
    struct ifm_pool *pool = make_pool(2, cpus);
    struct tally tally = {0};
    ifm_pool_hold(pool, 2);
    for (unsigned i = 1; i <= rounds; i++) {
        ifm_pool_run(pool, 2, count_run, &tally);
        if (tally.runs[PADDING] != i)
            fail_msg("after %u commands worker 1 has run %u times", i, tally.runs[PADDING]);
    }
    ifm_pool_release(pool);
    ifm_pool_destroy(pool);
}

static void refuses_a_cpu_that_is_not_there(void **state)
{
    (void)state;
    unsigned cpus[2] = {0, IFM_CPUS_MAX - 1};
    struct ifm_pool *pool = NULL;
    struct ifm_error error = {0};
    assert_int_equal(ifm_pool_create(cpus, 2, &pool, &error), IFM_INTERNAL);
    assert_non_null(strstr(error.message, "worker 1 of 2 on CPU 8191"));
    ifm_pool_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_each_worker_once),          cmocka_unit_test(workers_stay_on_their_cpu),
        cmocka_unit_test(one_thread_touches_no_worker),   cmocka_unit_test(held_workers_never_park),
        cmocka_unit_test(hold_puts_the_others_to_sleep),  cmocka_unit_test(no_wake_up_is_missed),
        cmocka_unit_test(work_is_visible_after_the_join), cmocka_unit_test(refuses_a_cpu_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
