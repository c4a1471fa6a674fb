/* Probes of the host, for src/host and for the folders that read the same files: lock, power.
 *
 * Every reader takes `root`, a prefix of all paths: "" on the real machine, a folder
 * with a recorded /proc and /sys in tests. What needs the live kernel (clock cost,
 * affinity, hwloc, perf) is absent under another root. */
#ifndef IFM_HOST_PROBE_H
#define IFM_HOST_PROBE_H

#include "base/json.h"
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* read.c */
bool ifm_probe_live(const char *root); /* `root` is this machine */
/* `root` and a path, which is a format; NULL when it is too long. */
const char *ifm_probe_path(char path[static PATH_MAX], const char *root, const char *format, ...) IFM_PRINTF(3, 4);
#define IFM_PROBE_PATH(root, ...) ifm_probe_path((char[PATH_MAX]){""}, (root), __VA_ARGS__)
/* Readers of a file; a path of NULL cannot be read. The first line: */
bool ifm_probe_line_of(const char *path, char *buffer, size_t size);
bool ifm_probe_i64_of(const char *path, int64_t *out);
/* The whole file, NUL-terminated and malloc'd; NULL when unreadable. */
char *ifm_probe_text_of(const char *path);
bool ifm_probe_exists_of(const char *path);
DIR *ifm_probe_folder_of(const char *path);
/* The same of `root` and a path, which is a format. */
#define ifm_probe_line(root, buffer, size, ...) ifm_probe_line_of(IFM_PROBE_PATH(root, __VA_ARGS__), (buffer), (size))
#define ifm_probe_i64(root, out, ...) ifm_probe_i64_of(IFM_PROBE_PATH(root, __VA_ARGS__), (out))
#define ifm_probe_text(root, ...) ifm_probe_text_of(IFM_PROBE_PATH(root, __VA_ARGS__))
#define ifm_probe_exists(root, ...) ifm_probe_exists_of(IFM_PROBE_PATH(root, __VA_ARGS__))
#define ifm_probe_folder(root, ...) ifm_probe_folder_of(IFM_PROBE_PATH(root, __VA_ARGS__))
/* The value after "key :" in `text`, up to the end of its line. */
bool ifm_probe_field(const char *text, const char *key, char *buffer, size_t size);
/* Whether `words`, with single spaces between them, hold `word`. */
bool ifm_probe_has_word(const char *words, const char *word);
/* The first `n` bytes as a text in `out`; false when there are none or they do not fit. */
bool ifm_probe_copy(const char *from, size_t n, char *out, size_t size);
/* {"absent": reason, "remedy": ...}; `remedy` may be NULL. */
json_t *ifm_probe_absent(const char *reason, const char *remedy);
/* "0-3,8" into ids, at most `limit`; the count. */
unsigned ifm_probe_cpu_list(const char *list, unsigned *cpus, unsigned limit);
bool ifm_probe_virtual(const char *root); /* the CPU says that a hypervisor runs it */
/* What helps where powercap shows no energy of a processor: one text for whoever says it. */
#define IFM_PROBE_POWERCAP_CLOSED "chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj as root"
const char *ifm_probe_powercap_remedy(const char *root); /* there is no zone of a package */

/* cpus.c */
/* CPUs that any thread of this process may run on; of a recorded machine, what /proc/self/status lists. */
unsigned ifm_probe_allowed(const char *root, unsigned *cpus, unsigned limit);

/* processor.c */
json_t *ifm_probe_cpu(const char *root);
json_t *ifm_probe_caches(const char *root);
json_t *ifm_probe_numa(const char *root);
json_t *ifm_probe_hypervisor(const char *root);
/* What hwloc sees, and where it disagrees with sysfs. */
json_t *ifm_probe_topology(const char *root);

/* frequency.c */
json_t *ifm_probe_frequency(const char *root);
/* Adds a knob to `locks`; steals `value`, of which NULL means not readable. A knob without a reason is locked. */
void ifm_probe_add_lock(json_t *locks, const char *knob, json_t *value, const char *reason, const char *remedy);

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
/* modules.c: {"count", "bytes_per_s"}: what all modules of memory carry together, or absent. */
json_t *ifm_probe_modules(const char *root);
json_t *ifm_probe_huge_pages(const char *root);

/* load.c */
json_t *ifm_probe_load(const char *root);

/* software.c */
json_t *ifm_probe_kernel(const char *root);
json_t *ifm_probe_binary(void);
json_t *ifm_probe_packages(void);
json_t *ifm_probe_clock(const char *root);

/* gpu.c */
json_t *ifm_probe_gpu(const char *root);

/* environment.c and libraries.c: read from files, without starting a program or loading a library. They give kinds,
 * versions and hashes only: no path, container id or user name. The environment variables of a recorded machine are
 * those of its /proc/self/environ. */
/* {"kind": "docker" | "podman" | "kubernetes" | "singularity" | "lxc" | "systemd-nspawn" | "none", "found_by",
 * "image_sha256"} (new reference). */
json_t *ifm_probe_container(const char *root);
/* {"kind": "conda" | "venv" | "system", "python": version, "frameworks": {name: version}} (new reference). Only
 * frameworks of a fixed list are looked for; missing ones are not listed. */
json_t *ifm_probe_python(const char *root);
/* The variable as the process has it; false when it is unset or empty. */
bool ifm_probe_variable(const char *root, const char *name, char out[static PATH_MAX]);
/* Text that is safe in JSON and on a terminal: at most `most` characters of printable ASCII without '/'. */
bool ifm_probe_is_plain(const char *text, size_t most);

/* {"runtime", "cublas", "cudnn", "nccl": [{"soname", "version", "version_from", "found_in"}], "toolkit": version} (new
 * reference): the files that the loader would find, by LD_LIBRARY_PATH and then by its cache. */
json_t *ifm_probe_cuda_libraries(const char *root);

/* The rows of doctor, as doctor.c and doctor_gpu.c add them. */
enum ifm_doctor_state { IFM_DOCTOR_OK, IFM_DOCTOR_ABSENT, IFM_DOCTOR_WARN };
struct ifm_doctor {
    const char *root;
    json_t *rows;
    const char *what; /* the row that is added next */
    char of[32];      /* before every detail: "gpu1: " where there are several */
};
void ifm_doctor_say(const struct ifm_doctor *doctor, enum ifm_doctor_state state, const char *remedy,
                    const char *detail, ...) IFM_PRINTF(4, 5);
#define ifm_doctor_ok(doctor, ...) ifm_doctor_say((doctor), IFM_DOCTOR_OK, "", __VA_ARGS__)
#define ifm_doctor_absent(doctor, remedy, ...) ifm_doctor_say((doctor), IFM_DOCTOR_ABSENT, (remedy), __VA_ARGS__)
#define ifm_doctor_warn(doctor, remedy, ...) ifm_doctor_say((doctor), IFM_DOCTOR_WARN, (remedy), __VA_ARGS__)
/* doctor_gpu.c. `nvml` NULL: one row replaces all others and gives `reason` and `remedy`. */
struct ifm_nvml;
void ifm_doctor_gpus(struct ifm_doctor *doctor, const struct ifm_nvml *nvml, const char *reason, const char *remedy);

#endif
