/* Memory, huge pages, and the limits of the control group (v1 or v2). */
#include "host/host.h"
#include "host/probe.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_LIMIT ((uint64_t)1 << 62) /* v1 spells "none" as a number near 2^63 */

/* Files of one controller in its two versions. */
struct controller {
    const char *mounts[3]; /* candidates, below the root */
    int version;
};

static const struct controller cpu_v1 = {{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", NULL}, 1};
static const struct controller memory_v1 = {{"/sys/fs/cgroup/memory", NULL, NULL}, 1};
static const struct controller unified = {{"/sys/fs/cgroup", "/sys/fs/cgroup/unified", NULL}, 2};

static void cpu_level(const char *root, const char *folder, int version, struct ifm_probe_limits *limits)
{
    char line[64];
    int64_t quota = -1, period = 0;
    if (version == 2) {
        long long q, p;
        if (!ifm_probe_line(root, line, sizeof line, "%s/cpu.max", folder) || sscanf(line, "%lld %lld", &q, &p) != 2)
            return;
        quota = q;
        period = p;
    } else if (!ifm_probe_i64(root, &quota, "%s/cpu.cfs_quota_us", folder) ||
               !ifm_probe_i64(root, &period, "%s/cpu.cfs_period_us", folder)) {
        return;
    }
    if (quota <= 0 || period <= 0)
        return;
    double cpus = (double)quota / (double)period;
    if (limits->cpu_quota < 0 || cpus < limits->cpu_quota)
        limits->cpu_quota = cpus;
}

/* File pages that the kernel can drop on demand count as free. */
static uint64_t droppable(const char *root, const char *folder, const char *key)
{
    char *stat = ifm_probe_text(root, "%s/memory.stat", folder);
    uint64_t bytes = 0;
    size_t n = strlen(key);
    for (const char *line = stat; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0 && line[n] == ' ')
            bytes = strtoull(line + n + 1, NULL, 10);
    }
    free(stat);
    return bytes;
}

static void memory_level(const char *root, const char *folder, int version, struct ifm_probe_limits *limits)
{
    int64_t limit, usage = 0;
    bool v2 = version == 2;
    if (!ifm_probe_i64(root, &limit, "%s/%s", folder, v2 ? "memory.max" : "memory.limit_in_bytes") || limit < 0 ||
        (uint64_t)limit >= NO_LIMIT)
        return;
    if ((uint64_t)limit < limits->memory_limit)
        limits->memory_limit = (uint64_t)limit;
    if (!ifm_probe_i64(root, &usage, "%s/%s", folder, v2 ? "memory.current" : "memory.usage_in_bytes"))
        usage = 0;
    uint64_t used = (uint64_t)usage, cache = droppable(root, folder, v2 ? "inactive_file" : "total_inactive_file");
    used -= cache < used ? cache : used;
    uint64_t left = (uint64_t)limit > used ? (uint64_t)limit - used : 0;
    if (left < limits->memory_left)
        limits->memory_left = left;
}

typedef void level_fn(const char *root, const char *folder, int version, struct ifm_probe_limits *limits);

/* The limits of all ancestors apply, so every level is read. If the mount does not show the path (a container without
 * its own cgroup namespace), the mount itself is our group. */
static void walk(const char *root, const struct controller *controller, const char *group, level_fn *level,
                 struct ifm_probe_limits *limits)
{
    for (size_t i = 0; i < 3 && controller->mounts[i] != NULL; i++) {
        char folder[PATH_MAX];
        size_t mount = strlen(controller->mounts[i]);
        int n = snprintf(folder, sizeof folder, "%s%s", controller->mounts[i], group);
        if (n < 0 || (size_t)n >= sizeof folder)
            return;
        for (size_t length = (size_t)n; length >= mount; folder[length] = '\0') {
            level(root, folder, controller->version, limits);
            if (length == mount)
                break;
            while (length > mount && folder[--length] != '/')
                ;
        }
    }
}

static bool lists(const char *controllers, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = controllers; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && (at[n] == '\0' || at[n] == ','))
            return true;
    }
    return false;
}

struct ifm_probe_limits ifm_probe_limits(const char *root)
{
    struct ifm_probe_limits limits = {-1, UINT64_MAX, UINT64_MAX, 0};
    char *text = ifm_probe_text(root, "/proc/self/cgroup"), *state = NULL;
    for (char *line = text == NULL ? NULL : strtok_r(text, "\n", &state); line != NULL;
         line = strtok_r(NULL, "\n", &state)) {
        char *controllers = strchr(line, ':'), *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL)
            continue;
        *group++ = '\0';
        controllers++;
        if (controllers[0] == '\0') {
            walk(root, &unified, group, cpu_level, &limits);
            walk(root, &unified, group, memory_level, &limits);
            limits.version = limits.version == 0 ? 2 : limits.version;
        } else if (lists(controllers, "cpu")) {
            walk(root, &cpu_v1, group, cpu_level, &limits);
            limits.version = 1;
        } else if (lists(controllers, "memory")) {
            walk(root, &memory_v1, group, memory_level, &limits);
            limits.version = 1;
        }
    }
    free(text);
    return limits;
}

json_t *ifm_probe_cgroup(const char *root)
{
    struct ifm_probe_limits limits = ifm_probe_limits(root);
    if (limits.version == 0)
        return ifm_probe_absent("/proc/self/cgroup cannot be read or is empty", NULL);
    return json_pack("{s:i, s:o, s:o}", "version", limits.version, "cpu_quota",
                     limits.cpu_quota < 0 ? json_string("none") : json_real(limits.cpu_quota), "memory_limit_bytes",
                     limits.memory_limit == UINT64_MAX ? json_string("none")
                                                       : json_integer((json_int_t)limits.memory_limit));
}

/* A value of /proc/meminfo in bytes. */
static bool meminfo(const char *text, const char *key, uint64_t *bytes)
{
    char value[64];
    if (text == NULL || !ifm_probe_field(text, key, value, sizeof value))
        return false;
    *bytes = strtoull(value, NULL, 10) * 1024;
    return true;
}

uint64_t ifm_host_memory_available(const char *root)
{
    char *text = ifm_probe_text(root, "/proc/meminfo");
    uint64_t bytes = 0;
    if (!meminfo(text, "MemAvailable", &bytes) && ifm_probe_live(root)) {
        long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        bytes = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
    }
    free(text);
    uint64_t left = ifm_probe_limits(root).memory_left;
    return left < bytes ? left : bytes;
}

json_t *ifm_probe_memory(const char *root)
{
    char *text = ifm_probe_text(root, "/proc/meminfo");
    uint64_t total;
    json_t *memory = json_object();
    json_object_set_new(memory, "total_bytes",
                        meminfo(text, "MemTotal", &total) ? json_integer((json_int_t)total)
                                                          : ifm_probe_absent("/proc/meminfo has no MemTotal", NULL));
    json_object_set_new(memory, "available_bytes", json_integer((json_int_t)ifm_host_memory_available(root)));
    json_object_set_new(memory, "modules", ifm_probe_modules(root));
    free(text);
    return memory;
}

/* The chosen word of "always [madvise] never". */
static bool chosen(const char *line, char *word, size_t size)
{
    const char *open = strchr(line, '['), *close = open == NULL ? NULL : strchr(open, ']');
    return close != NULL && ifm_probe_copy(open + 1, (size_t)(close - open - 1), word, size);
}

json_t *ifm_probe_huge_pages(const char *root)
{
    char line[128], word[32];
    int64_t count;
    json_t *pages = json_object();
    bool known = ifm_probe_line(root, line, sizeof line, "/sys/kernel/mm/transparent_hugepage/enabled") &&
                 chosen(line, word, sizeof word);
    json_object_set_new(pages, "transparent",
                        known ? json_string(word)
                              : ifm_probe_absent("the kernel has no transparent huge pages",
                                                 "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE"));
    json_object_set_new(pages, "nr_hugepages",
                        ifm_probe_i64(root, &count, "/proc/sys/vm/nr_hugepages")
                            ? json_integer(count)
                            : ifm_probe_absent("the kernel has no huge page pool", NULL));
    return pages;
}
