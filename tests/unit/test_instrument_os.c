/* Instrument os: each column moves when its cause is provoked, and is absent, not zero, when it cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "host/cpus.h"
#include "host/host.h"
#include "instrument/instrument.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct ifm_instrument *const os = &ifm_instrument_os;

static struct ifm_instrument_state *open_os(void)
{
    struct ifm_instrument_state *state = NULL;
    struct ifm_error error = {0};
    assert_int_equal(os->open(&state, &error), IFM_OK);
    return state;
}

static size_t column(const char *id)
{
    for (size_t i = 0; i < os->n_columns; i++)
        if (strcmp(os->columns[i].id, id) == 0)
            return i;
    fail_msg("no column %s", id);
    return 0;
}

static int64_t value_of(struct ifm_instrument_state *state, const char *id)
{
    int64_t values[16];
    assert_true(os->n_columns <= 16);
    os->collect(state, values);
    return values[column(id)];
}

static void sleep_ms(long ms)
{
    struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

static void spin_ms(int64_t ms)
{
    struct ifm_instant start = ifm_clock_now();
    while (ifm_clock_since(start).ns < ms * 1000000)
        ;
}

static void is_registered(void **state)
{
    (void)state;
    assert_ptr_equal(ifm_instrument_find("os"), os);
    assert_null(ifm_instrument_find("sundial"));
    assert_int_equal(os->intrusion, IFM_INTRUSION_PASSIVE);
}

/* A column that probes as absent has a reason and a remedy and is never a number; one that probes as there is one. */
static void probe_and_collect_agree(void **state)
{
    (void)state;
    struct ifm_instrument_state *instrument = open_os();
    int64_t values[16];
    os->start(instrument);
    spin_ms(1);
    os->stop(instrument);
    os->collect(instrument, values);
    for (size_t i = 0; i < os->n_columns; i++) {
        const char *remedy = NULL, *reason = os->probe(i, &remedy);
        assert_non_null(reason);
        assert_non_null(remedy);
        if (reason[0] == '\0')
            assert_true(values[i] >= 0);
        else
            assert_true(values[i] == IFM_ABSENT && remedy[0] != '\0');
    }
    os->close(instrument);
}

static void counts_sleeps(void **state)
{
    (void)state;
    struct ifm_instrument_state *instrument = open_os();
    os->start(instrument);
    for (unsigned i = 0; i < 20; i++)
        sleep_ms(1);
    os->stop(instrument);
    assert_in_range(value_of(instrument, "context_switches_voluntary"), 20, 25);
    os->start(instrument);
    os->stop(instrument);
    assert_int_equal(value_of(instrument, "context_switches_voluntary"), 0);
    os->close(instrument);
}

static void counts_faults(void **state)
{
    (void)state;
    enum { PAGES = 300 };
    struct ifm_instrument_state *instrument = open_os();
    char *data = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(data != MAP_FAILED);
    madvise(data, PAGES * 4096, MADV_NOHUGEPAGE);
    os->start(instrument);
    for (size_t i = 0; i < PAGES; i++)
        ((volatile char *)data)[i * 4096] = 1;
    os->stop(instrument);
    assert_in_range(value_of(instrument, "faults_minor"), PAGES, 4 * PAGES); /* sanitizers touch shadow pages too */
    munmap(data, PAGES * 4096);
    os->start(instrument); /* a quiet slot */
    os->stop(instrument);
    assert_in_range(value_of(instrument, "faults_minor"), 0, PAGES / 10);
    os->close(instrument);
}

/* A child that burns our CPU makes us wait for it. */
static void sees_the_wait_for_a_cpu(void **state)
{
    (void)state;
    const char *remedy;
    if (os->probe(column("run_delay_ns"), &remedy)[0] != '\0')
        skip();
    struct ifm_cpu_mask before, one;
    unsigned cpu;
    assert_int_equal(ifm_host_cpus(&cpu, 1), 1);
    assert_true(ifm_cpu_mask_get(&before));
    one = ifm_cpu_mask_of(cpu);
    assert_true(ifm_cpu_mask_set(&one));
    pid_t child = fork();
    if (child == 0)
        for (;;)
            ;
    sleep_ms(20);
    struct ifm_instrument_state *instrument = open_os();
    struct ifm_instant from = ifm_clock_now();
    os->start(instrument);
    spin_ms(200);
    os->stop(instrument);
    const int64_t took_ns = ifm_clock_since(from).ns;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(ifm_cpu_mask_set(&before));
    assert_in_range(value_of(instrument, "run_delay_ns"), 40000000, took_ns);
    assert_true(value_of(instrument, "context_switches_involuntary") >= 1);
    os->close(instrument);
}

static void *burn_until_told(void *told)
{
    while (!atomic_load_explicit((atomic_bool *)told, memory_order_relaxed))
        ;
    return NULL;
}

/* Threads born after open are found at the next start; dead ones do no harm. */
static void follows_threads(void **state)
{
    (void)state;
    const char *remedy;
    if (os->probe(column("run_delay_ns"), &remedy)[0] != '\0')
        skip();
    struct ifm_instrument_state *instrument = open_os();
    struct ifm_cpu_mask before, one;
    unsigned cpu;
    pthread_t threads[3];
    atomic_bool told = false;
    assert_int_equal(ifm_host_cpus(&cpu, 1), 1);
    assert_true(ifm_cpu_mask_get(&before));
    one = ifm_cpu_mask_of(cpu);
    assert_true(ifm_cpu_mask_set(&one)); /* inherited: the three of them share one CPU */
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, burn_until_told, &told), 0);
    struct ifm_instant from = ifm_clock_now();
    os->start(instrument);
    sleep_ms(50);
    os->stop(instrument);
    int64_t waited_ns = value_of(instrument, "run_delay_ns"), slept_ns = ifm_clock_since(from).ns;
    atomic_store(&told, true);
    /* With one CPU, two of the three wait at any time; a busy machine makes all four threads wait longer. */
    assert_in_range(waited_ns, 30000000, 4 * slept_ns);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_true(ifm_cpu_mask_set(&before));
    for (unsigned i = 0; i < 3; i++) {
        os->start(instrument);
        os->stop(instrument);
        assert_true(value_of(instrument, "run_delay_ns") >= 0);
    }
    os->close(instrument);
}

static void steal_is_whole_ticks(void **state)
{
    (void)state;
    const char *remedy;
    if (os->probe(column("steal_ns"), &remedy)[0] != '\0')
        skip();
    struct ifm_instrument_state *instrument = open_os();
    os->start(instrument);
    spin_ms(30);
    os->stop(instrument);
    int64_t steal = value_of(instrument, "steal_ns"), tick = 1000000000 / sysconf(_SC_CLK_TCK);
    assert_true(steal >= 0);
    assert_int_equal(steal % tick, 0);
    os->close(instrument);
}

static void close_accepts_null(void **state)
{
    (void)state;
    os->close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_registered),           cmocka_unit_test(probe_and_collect_agree),
        cmocka_unit_test(counts_sleeps),           cmocka_unit_test(counts_faults),
        cmocka_unit_test(sees_the_wait_for_a_cpu), cmocka_unit_test(follows_threads),
        cmocka_unit_test(steal_is_whole_ticks),    cmocka_unit_test(close_accepts_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
