/* Events of the processor by perf_event_open: whether this process may count them, and reading them.
 *
 * Nothing is scaled: a group that did not run all of its time has no counts. Threads are counted in user mode, which
 * is what an unprivileged process may ask for. Thread rule: one thread drives; `ifm_perf_use` before it begins. */
#ifndef IFM_HOST_PERF_H
#define IFM_HOST_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

enum ifm_perf_event {
    IFM_PERF_CYCLES = 0,
    IFM_PERF_INSTRUCTIONS,
    IFM_PERF_CACHE_MISSES, /* of the last level, as a rule */
    IFM_PERF_BRANCH_MISSES,
    IFM_PERF_EVENTS
};

/* The two calls of the kernel; each gives a negative errno where it fails. */
struct ifm_perf_calls {
    int (*open)(struct perf_event_attr *event, pid_t thread, int leader);
    ssize_t (*read)(int leader, void *buffer, size_t size);
};

/* Take these instead: a table of tests. NULL = the kernel's. */
void ifm_perf_use(const struct ifm_perf_calls *calls);

/* Why the event cannot be counted here, with `remedy` filled; "" = it can. */
const char *ifm_perf_why_not(enum ifm_perf_event event, const char **remedy);

/* The events of a thread that can be counted, as one group that is on from now on. */
struct ifm_perf_group {
    int fds[IFM_PERF_EVENTS]; /* -1 = not counted; the first that is there leads */
};

/* What a group says: its events since it was opened, and for how long it was meant to run and did. */
struct ifm_perf_reading {
    uint64_t enabled_ns, running_ns;
    uint64_t counts[IFM_PERF_EVENTS];
};

/* Open the `wanted` events (bits 1 << event) of a thread; false: none was opened, and `why` says why. */
bool ifm_perf_open(struct ifm_perf_group *group, pid_t thread, unsigned wanted, const char **why);
/* False: the kernel gave no whole reading. */
bool ifm_perf_read(const struct ifm_perf_group *group, struct ifm_perf_reading *out);
void ifm_perf_close(struct ifm_perf_group *group);
/* Adds what was counted between two readings to `sums`; otherwise the reason, and `sums` stay as they are. */
const char *ifm_perf_add(const struct ifm_perf_reading *from, const struct ifm_perf_reading *to,
                         int64_t sums[static IFM_PERF_EVENTS]);

#endif
