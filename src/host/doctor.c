/* `inferometer doctor`: what this machine can and cannot measure, one row each. */
#include "dyn/openblas.h"
#include "host/cpus.h"
#include "host/host.h"
#include "host/probe.h"
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOW_CLOCK_NS 100
#define BUSY_LOAD 0.05 /* of one CPU */
#define LOAD_WINDOW_MS 250

enum state { STATE_OK, STATE_ABSENT, STATE_WARN };

/* Steals `detail`. */
static void add_row(json_t *rows, const char *what, enum state state, json_t *detail, const char *remedy)
{
    static const char *const names[] = {"ok", "absent", "warn"};
    json_array_append_new(rows, json_pack("{s:s, s:s, s:o, s:s}", "what", what, "state", names[state], "detail", detail,
                                          "remedy", remedy));
}

static void add_clock(const char *root, json_t *rows)
{
    json_t *clock = ifm_probe_clock(root);
    const char *source = json_string_value(json_object_get(clock, "source"));
    const json_t *cost = json_object_get(clock, "read_ns_p50");
    if (source == NULL)
        add_row(rows, "clock", STATE_ABSENT, json_string("the kernel does not name its clock source"), "");
    else if (!json_is_integer(cost))
        add_row(rows, "clock", STATE_OK, json_string(source), "");
    else
        add_row(rows, "clock", json_integer_value(cost) > SLOW_CLOCK_NS ? STATE_WARN : STATE_OK,
                json_sprintf("%s, %lld ns a read", source, (long long)json_integer_value(cost)),
                json_integer_value(cost) > SLOW_CLOCK_NS ? "boot with clocksource=tsc, if the TSC is stable" : "");
    json_decref(clock);
}

static void add_threads(const char *root, json_t *rows)
{
    unsigned *cpus = calloc(IFM_CPUS_MAX, sizeof *cpus);
    unsigned mask = cpus == NULL ? 0 : ifm_probe_allowed(root, cpus, IFM_CPUS_MAX), usable = mask;
    free(cpus);
    double quota = ifm_probe_limits(root).cpu_quota;
    if (mask == 0) {
        add_row(rows, "threads", STATE_ABSENT, json_string("/proc/self/status lists no allowed CPUs"), "");
        return;
    }
    if (quota > 0 && ceil(quota) < mask)
        usable = (unsigned)ceil(quota);
    json_t *detail = quota > 0
                         ? json_sprintf("up to %u (affinity mask %u, cgroup quota %.2f CPUs)", usable, mask, quota)
                         : json_sprintf("up to %u (affinity mask %u, no cgroup quota)", usable, mask);
    add_row(rows, "threads", STATE_OK, detail, "");
}

static void add_locks(const char *root, json_t *rows)
{
    json_t *locks = ifm_probe_locks(root), *lock;
    size_t i;
    json_array_foreach(locks, i, lock)
    {
        const char *knob = json_string_value(json_object_get(lock, "knob"));
        const char *value = json_string_value(json_object_get(lock, "value"));
        const char *reason = json_string_value(json_object_get(lock, "reason"));
        const char *remedy = json_string_value(json_object_get(lock, "remedy"));
        char what[64];
        snprintf(what, sizeof what, "lock: %s", knob);
        if (strcmp(knob, "affinity") == 0 && value != NULL) /* the device pins its threads when it opens */
            add_row(rows, what, STATE_OK, json_sprintf("CPUs %s; workers are pinned while a device is open", value),
                    "");
        else if (value == NULL)
            add_row(rows, what, STATE_ABSENT, json_string(reason), remedy != NULL ? remedy : "");
        else if (json_is_true(json_object_get(lock, "locked")))
            add_row(rows, what, STATE_OK, json_string(value), "");
        else
            add_row(rows, what, STATE_WARN, json_sprintf("%s: %s", value, reason), remedy != NULL ? remedy : "");
    }
    json_decref(locks);
}

static void add_huge_pages(const char *root, json_t *rows)
{
    json_t *pages = ifm_probe_huge_pages(root);
    const char *mode = json_string_value(json_object_get(pages, "transparent"));
    if (mode == NULL)
        add_row(rows, "huge pages", STATE_ABSENT, json_string("the kernel has no transparent huge pages"),
                "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE");
    else if (strcmp(mode, "never") == 0)
        add_row(rows, "huge pages", STATE_ABSENT, json_string("transparent huge pages are off"),
                "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
    else
        add_row(rows, "huge pages", STATE_OK, json_sprintf("transparent, %s", mode), "");
    json_decref(pages);
}

static void add_counters(const char *root, json_t *rows)
{
    const char *what = "hardware counters";
    if (!ifm_probe_live(root)) {
        add_row(rows, what, STATE_ABSENT, json_string("only the live kernel can be asked"), "");
        return;
    }
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE, .size = sizeof attributes, .config = PERF_COUNT_HW_CPU_CYCLES, .exclude_kernel = 1};
    long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    if (fd >= 0) {
        close((int)fd);
        add_row(rows, what, STATE_OK, json_string("perf_event counts cycles"), "");
    } else if (errno == EACCES || errno == EPERM) {
        add_row(rows, what, STATE_ABSENT, json_string("perf_event_open is not permitted"),
                "sysctl kernel.perf_event_paranoid=1, or grant CAP_PERFMON");
    } else if (errno == ENOENT || errno == ENODEV || errno == EOPNOTSUPP) {
        bool guest = ifm_probe_virtual(root);
        add_row(rows, what, STATE_ABSENT,
                json_string(guest ? "the hypervisor gives this guest no performance counters"
                                  : "the kernel has no performance counters for this CPU"),
                guest ? "enable the virtual PMU of this machine, or measure on bare metal" : "");
    } else {
        add_row(rows, what, STATE_ABSENT, json_sprintf("perf_event_open: %s", strerror(errno)),
                "use a kernel with CONFIG_PERF_EVENTS, outside a seccomp filter that forbids it");
    }
}

static void add_rapl(const char *root, json_t *rows)
{
    char line[64];
    const char *what = "CPU energy (RAPL)";
    if (!ifm_probe_exists(root, "/sys/class/powercap/intel-rapl:0/energy_uj"))
        add_row(rows, what, STATE_ABSENT,
                json_string(ifm_probe_virtual(root) ? "the hypervisor does not expose powercap to this guest"
                                                    : "no powercap zone of the CPU package"),
                ifm_probe_virtual(root) ? "measure on the host or on bare metal" : "modprobe intel_rapl_msr");
    else if (!ifm_probe_line(root, line, sizeof line, "/sys/class/powercap/intel-rapl:0/energy_uj"))
        add_row(rows, what, STATE_ABSENT, json_string("energy_uj is not readable by this user"),
                "chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj as root");
    else
        add_row(rows, what, STATE_OK, json_string("powercap package zone is readable"), "");
}

static void add_gpu(const char *root, json_t *rows)
{
    const char *what = "NVIDIA GPU";
    if (!ifm_probe_live(root)) {
        add_row(rows, what, STATE_ABSENT, json_string("only the live machine can be asked"), "");
        return;
    }
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) {
        add_row(rows, what, STATE_ABSENT, json_string("libcuda.so.1 cannot be opened"),
                "install the NVIDIA driver, or pass the GPU to this machine");
        return;
    }
    dlclose(library);
    add_row(rows, what, STATE_OK, json_string("the driver library is present"), "");
}

static void add_cgroup(const char *root, json_t *rows)
{
    struct ifm_probe_limits limits = ifm_probe_limits(root);
    char bytes[48] = "none", quota[32] = "none";
    if (limits.version == 0) {
        add_row(rows, "cgroup limits", STATE_ABSENT, json_string("/proc/self/cgroup cannot be read or is empty"), "");
        return;
    }
    if (limits.memory_limit != UINT64_MAX)
        ifm_format_human((double)limits.memory_limit, "B", bytes);
    if (limits.cpu_quota > 0)
        snprintf(quota, sizeof quota, "%.2f CPUs", limits.cpu_quota);
    add_row(rows, "cgroup limits", limits.cpu_quota > 0 ? STATE_WARN : STATE_OK,
            json_sprintf("version %d, cpu quota %s, memory limit %s", limits.version, quota, bytes),
            limits.cpu_quota > 0 ? "a quota stops threads in the middle of a sample; use a cpuset instead" : "");
}

static void add_load(const char *root, json_t *rows)
{
    double load = ifm_probe_live(root) ? ifm_host_foreign_load(LOAD_WINDOW_MS) : -1;
    if (load < 0)
        add_row(rows, "foreign load", STATE_ABSENT, json_string("/proc/stat cannot be read"), "");
    else
        add_row(rows, "foreign load", load > BUSY_LOAD ? STATE_WARN : STATE_OK,
                json_sprintf("%.2f of each allowed CPU is used by others", load),
                load > BUSY_LOAD ? "stop other programs, or keep them off these CPUs" : "");
}

static void add_isas(const char *root, json_t *rows)
{
    if (!ifm_probe_live(root)) {
        add_row(rows, "instruction sets", STATE_ABSENT, json_string("only the live CPU can be asked"), "");
        return;
    }
    size_t n;
    const char *const *isas = ifm_host_isas(&n);
    struct ifm_text text = {0};
    for (size_t i = 0; i < n; i++)
        ifm_text_printf(&text, "%s%s", i > 0 ? ", " : "", isas[i]);
    add_row(rows, "instruction sets", STATE_OK, json_string(text.data), "");
    ifm_text_free(&text);
}

static void add_blas(const char *root, json_t *rows)
{
    const char *what = "OpenBLAS", *why_not;
    if (!ifm_probe_live(root)) {
        add_row(rows, what, STATE_ABSENT, json_string("only the live machine can be asked"), "");
        return;
    }
    const struct ifm_openblas *blas = ifm_openblas_load(&why_not);
    if (blas == NULL)
        add_row(rows, what, STATE_ABSENT, json_string(why_not), "");
    else
        add_row(rows, what, STATE_OK,
                json_sprintf("%s, core type %s (%s%s)", blas->version, blas->core,
                             blas->asked[0] != '\0' ? "asked for: " : "its own choice", blas->asked),
                "");
}

static void add_memory(const char *root, json_t *rows)
{
    char bytes[48];
    uint64_t available = ifm_probe_memory_available(root);
    if (available == 0)
        add_row(rows, "memory", STATE_ABSENT, json_string("/proc/meminfo cannot be read"), "");
    else
        add_row(rows, "memory", STATE_OK, json_sprintf("%s available", ifm_format_human((double)available, "B", bytes)),
                "");
}

static void add_hypervisor(const char *root, json_t *rows)
{
    if (!ifm_probe_exists(root, "/proc/cpuinfo"))
        add_row(rows, "bare metal", STATE_ABSENT, json_string("/proc/cpuinfo cannot be read"), "");
    else if (ifm_probe_virtual(root))
        add_row(rows, "bare metal", STATE_WARN,
                json_string("a hypervisor runs this machine; it may take the CPU away (see steal_ns)"),
                "confirm small differences on bare metal");
    else
        add_row(rows, "bare metal", STATE_OK, json_string("no hypervisor"), "");
}

json_t *ifm_host_doctor_at(const char *root)
{
    json_t *rows = json_array();
    add_clock(root, rows);
    add_threads(root, rows);
    add_isas(root, rows);
    add_blas(root, rows);
    add_memory(root, rows);
    add_huge_pages(root, rows);
    add_locks(root, rows);
    add_load(root, rows);
    add_cgroup(root, rows);
    add_hypervisor(root, rows);
    add_counters(root, rows);
    add_rapl(root, rows);
    add_gpu(root, rows);
    return rows;
}

json_t *ifm_host_doctor(void)
{
    return ifm_host_doctor_at("");
}
