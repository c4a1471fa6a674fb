/* Perf events over a table of calls: what is counted whole is counted, all else says why there is no count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/perf.h"
#include "instrument/instrument.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct ifm_instrument *const perf = &ifm_instrument_cpu_counters;

static int fault;                /* of opening; 0 = it works */
static unsigned opened;         /* events */
static uint64_t tick, running_part = 1000, each = 100;

static int fake_open(struct perf_event_attr *event, pid_t thread, int leader)
{
    (void)leader;
    assert_true(thread >= 0 && event->exclude_kernel == 1 && event->exclude_hv == 1 && event->inherit == 0);
    assert_int_equal(event->read_format, PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                             PERF_FORMAT_TOTAL_TIME_RUNNING);
    if (fault != 0)
        return -fault;
    opened++;
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* A group of four events, 1000 ns later at each reading. */
static ssize_t fake_read(int leader, void *buffer, size_t size)
{
    uint64_t words[7] = {4, 1000 * (tick + 1), running_part * (tick + 1)};
    assert_true(leader >= 0 && size >= sizeof words);
    for (size_t e = 0; e < 4; e++)
        words[3 + e] = (e + 1) * each * tick;
    tick++;
    memcpy(buffer, words, sizeof words);
    return sizeof words;
}

static const struct ifm_perf_calls calls = {fake_open, fake_read};

static int setup(void **state)
{
    (void)state;
    fault = 0;
    opened = 0;
    tick = 0;
    running_part = 1000;
    each = 100;
    ifm_perf_use(&calls);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ifm_perf_use(NULL);
    return 0;
}

/* Counts of one slot, and what the instrument tells of it. */
static struct ifm_instrument_told one_slot(int64_t values[static IFM_PERF_EVENTS], void (*during)(void))
{
    struct ifm_instrument_state *state;
    struct ifm_instrument_told told;
    struct ifm_error error;
    assert_int_equal(perf->open(&state, &error), IFM_OK);
    assert_int_equal(perf->groups(state), 1);
    perf->start(state);
    if (during != NULL)
        during();
    perf->stop(state);
    perf->collect(state, values);
    perf->tell(state, &told);
    perf->close(state);
    return told;
}

static void a_whole_slot_is_counted(void **state)
{
    (void)state;
    int64_t values[IFM_PERF_EVENTS];
    const struct ifm_instrument_told told = one_slot(values, NULL);
    assert_int_equal(told.read, 1);
    for (size_t e = 0; e < IFM_PERF_EVENTS; e++)
        assert_int_equal(values[e], 100 * (e + 1));
}

static void multiplexed_is_no_count(void **state)
{
    (void)state;
    int64_t values[IFM_PERF_EVENTS];
    running_part = 999;
    const struct ifm_instrument_told told = one_slot(values, NULL);
    assert_int_equal(told.read, 0);
    assert_non_null(strstr(told.why, "multiplexed"));
    assert_int_equal(values[0], IFM_ABSENT);
}

static void overflow_is_no_count(void **state)
{
    (void)state;
    const struct ifm_perf_reading from = {1000, 1000, {5, 6, 7, 8}};
    struct ifm_perf_reading to = {2000, 2000, {6, 8, 10, 7}};
    int64_t sums[IFM_PERF_EVENTS] = {1, 1, 1, 1};
    assert_non_null(strstr(ifm_perf_add(&from, &to, sums), "overflowed"));
    assert_int_equal(sums[0], 1); /* none of it is kept */
    to.counts[3] = UINT64_C(1) << 63;
    assert_non_null(strstr(ifm_perf_add(&from, &to, sums), "overflowed"));
    to.counts[3] = 8;
    to.enabled_ns = 900;
    assert_non_null(strstr(ifm_perf_add(&from, &to, sums), "went back"));
    to.enabled_ns = 2000;
    assert_null(ifm_perf_add(&from, &to, sums));
    assert_int_equal(sums[0], 2);
    assert_int_equal(sums[3], 1);
}

static pthread_t extra;
static int gate[2];

static void *wait_at_gate(void *context)
{
    char byte;
    (void)context;
    return read(gate[0], &byte, 1) == 1 ? NULL : context;
}

static void add_thread(void)
{
    assert_int_equal(pthread_create(&extra, NULL, wait_at_gate, NULL), 0);
}

static void threads_that_come_are_lost(void **state)
{
    (void)state;
    int64_t values[IFM_PERF_EVENTS];
    assert_int_equal(pipe(gate), 0);
    const struct ifm_instrument_told told = one_slot(values, add_thread);
    assert_int_equal(told.read, 0);
    assert_non_null(strstr(told.why, "threads came or went"));
    assert_int_equal(values[0], IFM_ABSENT);
    tick = 0;
    const unsigned before = opened;
    const struct ifm_instrument_told again = one_slot(values, NULL); /* it is there from the start: two groups */
    assert_int_equal(again.read, 1);
    assert_int_equal(opened - before, 12); /* four to see whether they are there, four of each thread */
    assert_int_equal(write(gate[1], "x", 1), 1);
    pthread_join(extra, NULL);
    close(gate[0]);
    close(gate[1]);
}

/* One ends and another begins, so that there are as many threads as before. */
static void replace_thread(void)
{
    assert_int_equal(write(gate[1], "x", 1), 1);
    pthread_join(extra, NULL);
    add_thread();
}

static void a_thread_that_was_replaced_is_seen(void **state)
{
    (void)state;
    struct ifm_instrument_state *counters;
    struct ifm_instrument_told told;
    struct ifm_error error;
    int64_t values[IFM_PERF_EVENTS];
    assert_int_equal(pipe(gate), 0);
    add_thread();
    assert_int_equal(perf->open(&counters, &error), IFM_OK);
    perf->start(counters);
    replace_thread(); /* in the slot: what the new one did is not counted */
    perf->stop(counters);
    perf->collect(counters, values);
    perf->tell(counters, &told);
    assert_int_equal(told.read, 0);
    assert_non_null(strstr(told.why, "threads came or went"));
    assert_int_equal(values[0], IFM_ABSENT);

    perf->start(counters);
    perf->stop(counters);
    replace_thread(); /* between two slots: the new one gets a group */
    unsigned before = opened;
    perf->start(counters);
    assert_int_equal(opened - before, 8); /* four of each thread */
    perf->stop(counters);
    perf->tell(counters, &told);
    assert_int_equal(told.read, 2);
    before = opened;
    perf->start(counters); /* the same threads: nothing is opened again */
    perf->stop(counters);
    assert_int_equal(opened, before);
    perf->close(counters);
    assert_int_equal(write(gate[1], "x", 1), 1);
    pthread_join(extra, NULL);
    close(gate[0]);
    close(gate[1]);
}

static void what_is_not_there_says_why(void **state)
{
    (void)state;
    static const struct {
        int fault;
        const char *why, *remedy;
    } rows[] = {{EACCES, "may not read events", "CAP_PERFMON"}, {EPERM, "may not read events", "perf_event_paranoid=2"},
                {ENOENT, "counts no such event", "bare metal"}, {ENOSYS, "no perf events", "CONFIG_PERF_EVENTS"},
                {EMFILE, "too few file descriptors", "ulimit"}, {EBUSY, "another profiler", "perf"}};
    struct ifm_instrument_state *instrument;
    struct ifm_error error;
    const char *remedy;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fault = rows[i].fault;
        assert_non_null(strstr(perf->probe(IFM_PERF_CYCLES, &remedy), rows[i].why));
        assert_non_null(strstr(remedy, rows[i].remedy));
        assert_int_equal(perf->open(&instrument, &error), IFM_OK);
        assert_int_equal(perf->groups(instrument), 0);
        perf->close(instrument);
    }
    fault = 0;
    assert_string_equal(perf->probe(IFM_PERF_CYCLES, &remedy), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_whole_slot_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(multiplexed_is_no_count, setup, teardown),
        cmocka_unit_test_setup_teardown(overflow_is_no_count, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_that_come_are_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(a_thread_that_was_replaced_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_says_why, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
