/* CPU sets of any size that Linux runs on, and the CPUs that this process may use. */
#ifndef IFM_HOST_CPUS_H
#define IFM_HOST_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IFM_CPUS_MAX 8192 /* NR_CPUS of the largest distribution kernels */

struct ifm_cpu_mask {
    cpu_set_t sets[IFM_CPUS_MAX / CPU_SETSIZE];
};

struct ifm_cpu_mask ifm_cpu_mask_of(unsigned cpu);
bool ifm_cpu_mask_has(const struct ifm_cpu_mask *mask, unsigned cpu);
/* Affinity of the calling thread. An open cpu device narrows it to one CPU. */
bool ifm_cpu_mask_get(struct ifm_cpu_mask *out);
bool ifm_cpu_mask_set(const struct ifm_cpu_mask *mask);
/* CPUs that any thread of this process may run on: while a cpu device is open, those that it uses. */
bool ifm_cpu_mask_process(struct ifm_cpu_mask *out);
/* CPUs that a thread of this process is pinned to alone. */
struct ifm_cpu_mask ifm_cpu_mask_pinned(void);

/* Time of those CPUs since the system's start, of all of them together, as the kernel counts it in ticks: what they
 * were busy, with whatever, and all of it. False when it cannot be read. */
struct ifm_host_busy {
    int64_t busy_ns, all_ns, tick_ns;
    unsigned cpus;
};
bool ifm_host_busy(const struct ifm_cpu_mask *mask, struct ifm_host_busy *out);

/* CPUs that threads may occupy at once: the affinity mask, limited by the cgroup quota rounded up; at least 1. */
unsigned ifm_host_cpus_allowed(void);
/* Instruction sets that this CPU and kernel run, best first, ending in "scalar"; static. */
const char *const *ifm_host_isas(size_t *n);
/* Distinct last-level caches behind these CPUs, at least 1. */
unsigned ifm_host_llc_instances(const unsigned *cpus, unsigned n);
/* Bytes of this process that transparent huge pages back now; false when the kernel does not say. */
bool ifm_host_huge_bytes(unsigned long long *bytes);

#endif
