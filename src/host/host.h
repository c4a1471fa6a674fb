/* Host: what machine this is, and the state of what could be locked. Reads only. */
#ifndef IFM_HOST_HOST_H
#define IFM_HOST_HOST_H

#include "base/json.h"

/* The environment fingerprint (new reference): cpu, caches as reported, governor, turbo, smt, load, memory, huge pages,
 * cgroup quota, hypervisor, kernel, libc, compiler and flags of this binary, git revision and dirtiness of the
 * binary's source, package versions, clock source and the cost of one clock read. Every field that cannot be
 * read is {"absent": reason}. Holds no path, host name, user name or serial number. */
json_t *ifm_host_fingerprint(void);

/* The state of each lock as read back now: [{"knob": "governor", "value": "performance" | null, "locked": bool,
 * "reason": ...}, ...] (new reference). */
json_t *ifm_host_locks(void);

/* Facts that must not be published: host and user name, paths, command line (new reference). */
json_t *ifm_host_private(int argc, char **argv);

/* Load of everything else on this machine now: running tasks of others per allowed CPU over `window_ms`; negative when
 * it cannot be read. */
double ifm_host_foreign_load(unsigned window_ms);

/* CPUs in the affinity mask (ids into `cpus`, at most `limit`); the count. */
unsigned ifm_host_cpus(unsigned *cpus, unsigned limit);
/* Bytes this process may still take: MemAvailable and the cgroup limit. */
uint64_t ifm_host_memory_available(void);
/* Data and unified caches L1..L4 as reported, bytes of one instance. */
void ifm_host_caches(uint64_t *sizes, unsigned levels);

/* `inferometer doctor`: rows {"what", "state": "ok"|"absent"|"warn", "detail", "remedy"} (new reference). */
json_t *ifm_host_doctor(void);

#endif
