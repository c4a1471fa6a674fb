/* CPUs that this process may use: affinity, quota, and the order in which workers take them. */
#include "host/cpus.h"

#include "base/text.h"
#include "host/host.h"
#include "host/probe.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIBLINGS_MAX 64 /* hardware threads of one core */

struct ifm_cpu_mask ifm_cpu_mask_of(unsigned cpu)
{
    struct ifm_cpu_mask mask;
    memset(&mask, 0, sizeof mask);
    CPU_SET_S(cpu, sizeof mask.sets, mask.sets);
    return mask;
}

bool ifm_cpu_mask_has(const struct ifm_cpu_mask *mask, unsigned cpu)
{
    return CPU_ISSET_S(cpu, sizeof mask->sets, mask->sets);
}

bool ifm_cpu_mask_get(struct ifm_cpu_mask *out)
{
    memset(out, 0, sizeof *out);
    return sched_getaffinity(0, sizeof out->sets, out->sets) == 0;
}

bool ifm_cpu_mask_set(const struct ifm_cpu_mask *mask)
{
    return sched_setaffinity(0, sizeof mask->sets, mask->sets) == 0;
}

/* What the threads of this process may run on, or only those with a single CPU. */
static struct ifm_cpu_mask threads_mask(bool single)
{
    struct ifm_cpu_mask all, one;
    uint64_t thread; /* "." and ".." are no numbers */
    memset(&all, 0, sizeof all);
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry = folder == NULL ? NULL : readdir(folder); entry != NULL; entry = readdir(folder)) {
        memset(&one, 0, sizeof one);
        if (ifm_parse_u64(entry->d_name, &thread) && sched_getaffinity((pid_t)thread, sizeof one.sets, one.sets) == 0 &&
            (!single || CPU_COUNT_S(sizeof one.sets, one.sets) == 1))
            CPU_OR_S(sizeof all.sets, all.sets, all.sets, one.sets);
    }
    if (folder != NULL)
        closedir(folder);
    return all;
}

bool ifm_cpu_mask_process(struct ifm_cpu_mask *out)
{
    *out = threads_mask(false);
    return CPU_COUNT_S(sizeof out->sets, out->sets) > 0;
}

struct ifm_cpu_mask ifm_cpu_mask_pinned(void)
{
    return threads_mask(true);
}

/* Ids of the set bits. */
static unsigned mask_list(const struct ifm_cpu_mask *mask, unsigned *cpus, unsigned limit)
{
    unsigned n = 0;
    for (unsigned cpu = 0; cpu < IFM_CPUS_MAX && n < limit; cpu++)
        if (ifm_cpu_mask_has(mask, cpu))
            cpus[n++] = cpu;
    return n;
}

unsigned ifm_probe_allowed(const char *root, unsigned *cpus, unsigned limit)
{
    struct ifm_cpu_mask mask;
    if (ifm_probe_live(root))
        return ifm_cpu_mask_process(&mask) ? mask_list(&mask, cpus, limit) : 0;
    char *status = ifm_probe_text(root, "/proc/self/status"), list[4096];
    bool found = status != NULL && ifm_probe_field(status, "Cpus_allowed_list", list, sizeof list);
    free(status);
    return found ? ifm_probe_cpu_list(list, cpus, limit) : 0;
}

/* How many allowed CPUs of smaller id share the core of `cpu`: 0 for the first thread of each core. */
static unsigned sibling_rank(const struct ifm_cpu_mask *mask, unsigned cpu)
{
    char list[256];
    unsigned siblings[SIBLINGS_MAX], rank = 0;
    if (!ifm_probe_line("", list, sizeof list, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu))
        return 0;
    unsigned n = ifm_probe_cpu_list(list, siblings, SIBLINGS_MAX);
    for (unsigned i = 0; i < n; i++)
        rank += siblings[i] < cpu && ifm_cpu_mask_has(mask, siblings[i]);
    return rank;
}

unsigned ifm_host_cpus(unsigned *cpus, unsigned limit)
{
    struct ifm_cpu_mask mask;
    if (!ifm_cpu_mask_get(&mask))
        return 0;
    unsigned total = (unsigned)CPU_COUNT_S(sizeof mask.sets, mask.sets), n = 0, seen = 0;
    for (unsigned rank = 0; seen < total && rank < SIBLINGS_MAX; rank++)
        for (unsigned cpu = 0; cpu < IFM_CPUS_MAX; cpu++) {
            if (!ifm_cpu_mask_has(&mask, cpu) || sibling_rank(&mask, cpu) != rank)
                continue;
            seen++;
            if (n < limit)
                cpus[n++] = cpu;
        }
    return n;
}

unsigned ifm_host_cpus_allowed(void)
{
    struct ifm_cpu_mask mask;
    unsigned n = ifm_cpu_mask_get(&mask) ? (unsigned)CPU_COUNT_S(sizeof mask.sets, mask.sets) : 1;
    double quota = ifm_probe_limits("").cpu_quota;
    if (quota > 0 && ceil(quota) < n)
        n = (unsigned)ceil(quota);
    return n > 0 ? n : 1;
}

/* The CPUs that share the highest cache level of `cpu`, as the kernel lists them. */
static bool llc_sharers(unsigned cpu, char *list, size_t size)
{
    bool found = false;
    char line[4096];
    for (unsigned index = 0; ifm_probe_line("", line, sizeof line,
                                            "/sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list", cpu, index);
         index++) {
        snprintf(list, size, "%s", line);
        found = true;
    }
    return found;
}

unsigned ifm_host_llc_instances(const unsigned *cpus, unsigned n)
{
    unsigned instances = 0;
    struct ifm_cpu_mask covered;
    memset(&covered, 0, sizeof covered);
    for (unsigned i = 0; i < n; i++) {
        char list[4096];
        unsigned sharers[IFM_CPUS_MAX];
        if (ifm_cpu_mask_has(&covered, cpus[i]) || !llc_sharers(cpus[i], list, sizeof list))
            continue;
        instances++;
        unsigned count = ifm_probe_cpu_list(list, sharers, IFM_CPUS_MAX);
        for (unsigned j = 0; j < count; j++)
            CPU_SET_S(sharers[j], sizeof covered.sets, covered.sets);
    }
    return instances > 0 ? instances : 1;
}

bool ifm_host_huge_bytes(unsigned long long *bytes)
{
    char *text = ifm_probe_text("", "/proc/self/smaps_rollup"), value[64];
    bool found = text != NULL && ifm_probe_field(text, "AnonHugePages", value, sizeof value);
    free(text);
    if (found)
        *bytes = strtoull(value, NULL, 10) * 1024;
    return found;
}
