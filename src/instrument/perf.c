/* Instrument cpu_counters: cycles, instructions and misses of a slot, by perf events of each thread of this process.
 *
 * The events of a thread are one group, on from its opening; a slot is the difference of two readings. Counts are of
 * user mode. Where a group did not run all of a slot, a counter overflowed, or threads came or went, the slot has no
 * counts: nothing is scaled. A thread that begins and ends within one slot is not seen. Thread rule: the driving
 * thread. */
#include "host/perf.h"
#include "base/arena.h"
#include "instrument/instrument.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const struct ifm_column columns[IFM_PERF_EVENTS] = {
    [IFM_PERF_CYCLES] = {"cpu_cycles", "count"},
    [IFM_PERF_INSTRUCTIONS] = {"cpu_instructions", "count"},
    [IFM_PERF_CACHE_MISSES] = {"cpu_cache_misses", "count"},
    [IFM_PERF_BRANCH_MISSES] = {"cpu_branch_misses", "count"},
};

struct perf_thread {
    pid_t id;
    struct ifm_perf_group group;
    struct ifm_perf_reading start;
    bool started;
};

struct ifm_instrument_state {
    unsigned wanted; /* events that can be counted here: bits */
    DIR *task;       /* a folder for each thread of this process; NULL = it cannot be read */
    struct perf_thread *threads;
    size_t n, capacity;
    const char *why;  /* the last slot that was not read has no numbers; "" = it was */
    const char *lost; /* of this slot */
    int64_t values[IFM_PERF_EVENTS];
    size_t slots, read;
};

/* The next thread of the folder; 0 = there is none left. */
static pid_t next_thread(DIR *task)
{
    for (struct dirent *entry = readdir(task); entry != NULL; entry = readdir(task)) {
        const long id = strtol(entry->d_name, NULL, 10);
        if (id > 0) /* neither "." nor ".." */
            return (pid_t)id;
    }
    return 0;
}

/* Whether the threads of this process are those that have groups. Their number alone would not tell: one that ended may
 * have been replaced. */
static bool same_threads(const struct ifm_instrument_state *state)
{
    size_t n = 0;
    if (state->task == NULL)
        return false;
    rewinddir(state->task);
    for (pid_t id = next_thread(state->task); id != 0; id = next_thread(state->task), n++) {
        size_t i = 0;
        while (i < state->n && state->threads[i].id != id)
            i++;
        if (i == state->n)
            return false;
    }
    return n == state->n;
}

static void forget(struct ifm_instrument_state *state)
{
    for (size_t i = 0; i < state->n; i++)
        ifm_perf_close(&state->threads[i].group);
    state->n = 0;
}

static bool add(struct ifm_instrument_state *state, pid_t id)
{
    if (state->n == state->capacity) {
        const size_t capacity = 2 * state->capacity + 16;
        struct perf_thread *larger = realloc(state->threads, sizeof *larger * capacity);
        if (larger == NULL)
            return false;
        state->threads = larger;
        state->capacity = capacity;
    }
    struct perf_thread *thread = &state->threads[state->n];
    *thread = (struct perf_thread){.id = id};
    state->n += ifm_perf_open(&thread->group, id, state->wanted, &state->lost);
    return state->lost == NULL;
}

/* A group for each thread, opened anew where threads came or went. */
static void find_threads(struct ifm_instrument_state *state)
{
    if (state->n > 0 && same_threads(state))
        return;
    forget(state);
    bool fine = state->task != NULL;
    if (fine)
        rewinddir(state->task);
    for (pid_t id = fine ? next_thread(state->task) : 0; fine && id != 0; id = fine ? next_thread(state->task) : 0)
        fine = add(state, id);
    if (!fine)
        forget(state);
    if (state->n == 0 && state->lost == NULL)
        state->lost = "no thread of this process could be counted";
}

static const char *perf_probe(size_t column, const char **remedy)
{
    return ifm_perf_why_not((enum ifm_perf_event)column, remedy);
}

static enum ifm_status perf_open(struct ifm_instrument_state **out, struct ifm_error *error)
{
    const char *remedy;
    (void)error;
    struct ifm_instrument_state *state = ifm_zeros(1, sizeof *state);
    for (unsigned e = 0; e < IFM_PERF_EVENTS; e++)
        state->wanted |= ifm_perf_why_not((enum ifm_perf_event)e, &remedy)[0] == '\0' ? 1U << e : 0;
    state->task = opendir("/proc/self/task");
    state->why = "";
    *out = state;
    return IFM_OK;
}

static void perf_close(struct ifm_instrument_state *state)
{
    forget(state);
    if (state->task != NULL)
        closedir(state->task);
    free(state->threads);
    free(state);
}

static void perf_start(struct ifm_instrument_state *state)
{
    state->slots++;
    state->lost = NULL;
    find_threads(state);
    for (size_t i = 0; i < state->n; i++)
        state->threads[i].started = ifm_perf_read(&state->threads[i].group, &state->threads[i].start);
}

static void perf_stop(struct ifm_instrument_state *state)
{
    int64_t sums[IFM_PERF_EVENTS] = {0};
    for (size_t i = 0; i < state->n && state->lost == NULL; i++) {
        const struct perf_thread *thread = &state->threads[i];
        struct ifm_perf_reading now;
        state->lost = thread->started && ifm_perf_read(&thread->group, &now)
                          ? ifm_perf_add(&thread->start, &now, sums)
                          : "the kernel gave no whole reading of the processor's counters";
    }
    if (state->lost == NULL && !same_threads(state))
        state->lost = "threads came or went in the slot, and their events are not counted";
    if (state->lost == NULL && (state->wanted >> IFM_PERF_CYCLES & 1) != 0 && sums[IFM_PERF_CYCLES] == 0)
        state->lost = "the processor counted no cycle, which cannot be";
    for (unsigned e = 0; e < IFM_PERF_EVENTS; e++)
        state->values[e] = state->lost == NULL && (state->wanted >> e & 1) != 0 ? sums[e] : IFM_ABSENT;
    state->why = state->lost != NULL ? state->lost : state->why;
    state->read += state->lost == NULL;
}

static void perf_collect(struct ifm_instrument_state *state, int64_t *values)
{
    memcpy(values, state->values, sizeof state->values);
}

static unsigned perf_groups(const struct ifm_instrument_state *state)
{
    return state->wanted == 0 ? 0 : 1;
}

static void perf_choose(struct ifm_instrument_state *state, unsigned group)
{
    (void)state; /* one group holds all */
    (void)group;
}

static void perf_expects(struct ifm_instrument_expected *out)
{
    const char *remedy;
    *out = (struct ifm_instrument_expected){ifm_perf_why_not(IFM_PERF_CYCLES, &remedy)[0] == '\0', 0, 1e-5};
}

static void perf_tell(const struct ifm_instrument_state *state, struct ifm_instrument_told *told)
{
    *told = (struct ifm_instrument_told){"perf events, user mode", state->slots, state->read, state->why};
}

const struct ifm_instrument ifm_instrument_cpu_counters = {
    .name = "cpu_counters",
    .device = "cpu",
    .intrusion = IFM_INTRUSION_REPLAYING,
    .columns = columns,
    .n_columns = IFM_PERF_EVENTS,
    .probe = perf_probe,
    .open = perf_open,
    .start = perf_start,
    .stop = perf_stop,
    .collect = perf_collect,
    .close = perf_close,
    .groups = perf_groups,
    .choose = perf_choose,
    .expects = perf_expects,
    .tell = perf_tell,
};
