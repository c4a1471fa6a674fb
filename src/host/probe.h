/* Probes of the host, for src/host and for the folders that read the same files: lock, power.
 *
 * Every reader takes `root`, a prefix of all paths: "" on the real machine, a folder
 * with a recorded /proc and /sys in tests. What needs the live kernel (clock cost,
 * affinity, hwloc, perf) is absent under another root. */
#ifndef IFM_HOST_PROBE_H
#define IFM_HOST_PROBE_H

#include "base/json.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* read.c */
bool ifm_probe_live(const char *root); /* `root` is this machine */
/* First line of root/path; the path is a format. */
bool ifm_probe_line(const char *root, char *buffer, size_t size, const char *format, ...) IFM_PRINTF(4, 5);
bool ifm_probe_i64(const char *root, int64_t *out, const char *format, ...) IFM_PRINTF(3, 4);
/* The whole file, NUL-terminated and malloc'd; NULL when unreadable. */
char *ifm_probe_text(const char *root, const char *format, ...) IFM_PRINTF(2, 3);
bool ifm_probe_exists(const char *root, const char *format, ...) IFM_PRINTF(2, 3);
/* The value after "key :" in `text`, up to the end of its line. */
bool ifm_probe_field(const char *text, const char *key, char *buffer, size_t size);
/* {"absent": reason, "remedy": ...}; `remedy` may be NULL. */
json_t *ifm_probe_absent(const char *reason, const char *remedy);
/* "0-3,8" into ids, at most `limit`; the count. */
unsigned ifm_probe_cpu_list(const char *list, unsigned *cpus, unsigned limit);
bool ifm_probe_virtual(const char *root); /* the CPU says that a hypervisor runs it */

/* cpus.c */
/* CPUs that any thread of this process may run on; of a recorded machine, what /proc/self/status lists. */
unsigned ifm_probe_allowed(const char *root, unsigned *cpus, unsigned limit);

/* processor.c */
json_t *ifm_probe_cpu(const char *root);
json_t *ifm_probe_caches(const char *root);
json_t *ifm_probe_numa(const char *root);
json_t *ifm_probe_hypervisor(const char *root);
void ifm_probe_cache_sizes(const char *root, uint64_t *sizes, unsigned levels);
/* topology.c: what hwloc sees, and where it disagrees with sysfs. */
json_t *ifm_probe_topology(const char *root);

/* frequency.c */
json_t *ifm_probe_frequency(const char *root);
json_t *ifm_probe_locks(const char *root);

/* limits.c */
struct ifm_probe_limits {
    double cpu_quota;      /* CPUs; negative = none */
    uint64_t memory_limit; /* bytes; UINT64_MAX = none */
    uint64_t memory_left;  /* bytes until the limit, cache that the kernel can drop counted as free */
    int version;           /* 1 or 2; 0 = no cgroup found */
};
struct ifm_probe_limits ifm_probe_limits(const char *root);
json_t *ifm_probe_cgroup(const char *root);
json_t *ifm_probe_memory(const char *root);
json_t *ifm_probe_huge_pages(const char *root);
uint64_t ifm_probe_memory_available(const char *root);

/* load.c */
json_t *ifm_probe_load(const char *root);

/* software.c */
json_t *ifm_probe_kernel(const char *root);
json_t *ifm_probe_binary(void);
json_t *ifm_probe_packages(void);
json_t *ifm_probe_clock(const char *root);

/* gpu.c */
json_t *ifm_probe_gpu(const char *root);

/* doctor_gpu.c: doctor's rows about GPUs. `add` appends one to `rows` and steals `detail`. */
enum ifm_doctor_state { IFM_DOCTOR_OK, IFM_DOCTOR_ABSENT, IFM_DOCTOR_WARN };
typedef void ifm_doctor_add_fn(json_t *rows, const char *what, enum ifm_doctor_state state, json_t *detail,
                               const char *remedy);
struct ifm_nvml;
/* `nvml` NULL: one row replaces all others and gives `reason` and `remedy`. */
void ifm_doctor_gpus(const struct ifm_nvml *nvml, const char *reason, const char *remedy, ifm_doctor_add_fn *add,
                     json_t *rows);

/* fingerprint.c and doctor.c */
json_t *ifm_host_fingerprint_at(const char *root);
json_t *ifm_host_doctor_at(const char *root);

#endif
