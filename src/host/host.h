/* Host: what machine this is, and the state of every lock. Reads only.
 *
 * While a cpu device is open its threads are pinned: the fingerprint, the locks and the load then cover the CPUs that
 * it uses, and ifm_host_cpus sees the one CPU of the calling thread. `root` as in probe.h: "" is this machine. Thread
 * rule: no shared state. */
#ifndef IFM_HOST_HOST_H
#define IFM_HOST_HOST_H

#include "base/json.h"
#include <stdbool.h>
#include <stdint.h>

/* The environment fingerprint (new reference): cpu, caches as reported, governor, turbo, smt, load, memory, huge pages,
 * cgroup quota, hypervisor, kernel, libc, compiler and flags of this binary, git revision and dirtiness of the
 * binary's source, package versions, clock source and the cost of one clock read; the GPUs and their driver, the CUDA
 * libraries that the loader would find, container, Python environment and frameworks. Every field that cannot be
 * read is {"absent": reason}. Holds no path, host name, user name or serial number; a GPU's UUID is unsalted SHA-256.
 */
json_t *ifm_host_fingerprint(const char *root);

/* The state of each lock as read back now: [{"knob": "governor", "value": "performance" | null, "locked": bool,
 * "reason": ..., "remedy": ... if any}, ...] (new reference). Knobs: governor, turbo, frequency, affinity. */
json_t *ifm_host_locks(const char *root);

/* The state of every GPU now, or {"absent": reason, "remedy"} (new reference); members: gpu.h. `by_cuda`: the first GPU
 * of CUDA is the one that is measured. `zero_ns` is taken from the time of each reading. */
json_t *ifm_host_gpu_state(bool by_cuda, int64_t zero_ns);

/* The licence that the folder of a model or data set names: {"id": "apache-2.0", "from": "README.md" | "LICENSE", ...},
 * or {"absent": reason, "remedy"} (new reference). */
json_t *ifm_host_licence(const char *folder);

/* Facts that must not be published: host and user name, paths, command line (new reference). */
json_t *ifm_host_private(int argc, char **argv);

/* Load by other programs now: the share of each allowed CPU that they take over `window_ms`, while the caller sleeps.
 * 0 = at once, from the runnable tasks of the whole machine per online CPU. Negative when it cannot be read. Time
 * stolen by a hypervisor is not included. */
double ifm_host_foreign_load(unsigned window_ms);
/* The same, and the share of the allowed CPUs that a hypervisor took, over a window; false when they cannot be read. */
struct ifm_host_noise {
    double foreign, stolen;
};
bool ifm_host_noise(unsigned window_ms, struct ifm_host_noise *out);

/* CPUs in the affinity mask (ids into `cpus`, at most `limit`); the count. The first hardware thread of every core
 * comes before the second of any. */
unsigned ifm_host_cpus(unsigned *cpus, unsigned limit);
/* Bytes this process may still take: MemAvailable and the cgroup limit. */
uint64_t ifm_host_memory_available(const char *root);
/* Data and unified caches L1..L4 as reported, bytes of one instance. */
void ifm_host_caches(const char *root, uint64_t *sizes, unsigned levels);

/* `inferometer doctor`: rows {"what", "state": "ok"|"absent"|"warn", "detail", "remedy"} (new reference). */
json_t *ifm_host_doctor(const char *root);
/* Where no GPU can be used, its rows become one. The row whose remedy would help most; NULL = none would. Borrowed. */
void ifm_doctor_fold_gpus(json_t *rows);
const json_t *ifm_doctor_first(const json_t *rows);

#endif
