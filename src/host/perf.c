/* Events of the processor, by perf_event_open. */
#include "host/perf.h"

#include "base/file.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_OF_A_SLOT (UINT64_C(1) << 48) /* a processor needs days for so many events: a counter overflowed */

/* ---- the kernel ---- */

static int kernel_open(struct perf_event_attr *event, pid_t thread, int leader)
{
    const long fd = syscall(SYS_perf_event_open, event, thread, -1, leader, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static ssize_t kernel_read(int leader, void *buffer, size_t size)
{
    const ssize_t n = read(leader, buffer, size);
    return n < 0 ? -errno : n;
}

static const struct ifm_perf_calls kernel = {kernel_open, kernel_read};
static const struct ifm_perf_calls *calls = &kernel;

void ifm_perf_use(const struct ifm_perf_calls *given)
{
    calls = given == NULL ? &kernel : given;
}

static int open_event(enum ifm_perf_event event, pid_t thread, int leader)
{
    static const uint64_t configs[IFM_PERF_EVENTS] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
                                                      PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_BRANCH_MISSES};
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof attr,
                                   .config = configs[event],
                                   .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                                                  PERF_FORMAT_GROUP,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    return calls->open(&attr, thread, leader);
}

/* ---- why not ---- */

static const char *not_permitted(const char **remedy)
{
    static char why[128];
    char level[32];
    *remedy = "sysctl kernel.perf_event_paranoid=2 as root, or CAP_PERFMON; in a container, a profile that lets "
              "perf_event_open through";
    if (!ifm_file_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof level))
        return "this process may not read events of the processor";
    snprintf(why, sizeof why, "this process may not read events of the processor (kernel.perf_event_paranoid is %.8s)",
             level);
    return why;
}

static const char *words_of(int fault, const char **remedy)
{
    switch (fault) {
    case EACCES:
    case EPERM:
        return not_permitted(remedy);
    case ENOSYS:
        *remedy = "use a kernel with CONFIG_PERF_EVENTS";
        return "the kernel has no perf events";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
    case EINVAL:
        *remedy = "measure on bare metal, or let the hypervisor pass the processor's counters on";
        return "this processor counts no such event (as a rule in a virtual machine)";
    case EMFILE:
    case ENFILE:
        *remedy = "ulimit -n 4096";
        return "too few file descriptors for a counter of each thread";
    case EBUSY:
        *remedy = "stop other profilers (perf)";
        return "another profiler holds the processor's counters";
    default:
        *remedy = "";
        return "perf_event_open failed";
    }
}

const char *ifm_perf_why_not(enum ifm_perf_event event, const char **remedy)
{
    const int fd = open_event(event, 0, -1);
    *remedy = "";
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? "" : words_of(-fd, remedy);
}

/* ---- groups ---- */

static int leader_of(const struct ifm_perf_group *group)
{
    for (size_t e = 0; e < IFM_PERF_EVENTS; e++)
        if (group->fds[e] >= 0)
            return group->fds[e];
    return -1;
}

void ifm_perf_close(struct ifm_perf_group *group)
{
    for (size_t e = IFM_PERF_EVENTS; e-- > 0;) {
        if (group->fds[e] >= 0)
            close(group->fds[e]);
        group->fds[e] = -1;
    }
}

bool ifm_perf_open(struct ifm_perf_group *group, pid_t thread, unsigned wanted, const char **why)
{
    const char *remedy;
    for (size_t e = 0; e < IFM_PERF_EVENTS; e++)
        group->fds[e] = -1;
    for (size_t e = 0; e < IFM_PERF_EVENTS; e++) {
        if ((wanted >> e & 1) == 0)
            continue;
        const int fd = open_event((enum ifm_perf_event)e, thread, leader_of(group));
        if (fd < 0) {
            *why = words_of(-fd, &remedy);
            ifm_perf_close(group);
            return false;
        }
        group->fds[e] = fd;
    }
    if (leader_of(group) < 0)
        *why = "no event of the processor is wanted";
    return leader_of(group) >= 0;
}

bool ifm_perf_read(const struct ifm_perf_group *group, struct ifm_perf_reading *out)
{
    uint64_t words[3 + IFM_PERF_EVENTS], n = 0; /* number of events, time enabled, time running, counts */
    for (size_t e = 0; e < IFM_PERF_EVENTS; e++)
        n += group->fds[e] >= 0;
    const size_t size = (3 + n) * sizeof *words;
    if (calls->read(leader_of(group), words, sizeof words) != (ssize_t)size || words[0] != n)
        return false;
    *out = (struct ifm_perf_reading){.enabled_ns = words[1], .running_ns = words[2]};
    for (size_t e = 0, at = 3; e < IFM_PERF_EVENTS; e++)
        if (group->fds[e] >= 0)
            out->counts[e] = words[at++];
    return true;
}

const char *ifm_perf_add(const struct ifm_perf_reading *from, const struct ifm_perf_reading *to,
                         int64_t sums[static IFM_PERF_EVENTS])
{
    if (to->enabled_ns < from->enabled_ns || to->running_ns < from->running_ns)
        return "a counter of the processor went back";
    if (to->running_ns - from->running_ns != to->enabled_ns - from->enabled_ns)
        return "the processor's counters were shared out over time (multiplexed), and a share of a slot is no count";
    for (size_t e = 0; e < IFM_PERF_EVENTS; e++)
        if (to->counts[e] < from->counts[e] || to->counts[e] - from->counts[e] > MOST_OF_A_SLOT)
            return "a counter of the processor overflowed";
    for (size_t e = 0; e < IFM_PERF_EVENTS; e++)
        sums[e] += (int64_t)(to->counts[e] - from->counts[e]);
    return NULL;
}
