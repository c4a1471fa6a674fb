/* `inferometer doctor`: what this machine can and cannot measure. Each row has a name, a state, why it matters and,
 * where something is wrong, a remedy. Reads only. */
#include "dyn/cuda.h"
#include "dyn/nvml.h"
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
#define OWN_COUNTERS 2 /* perf_event_paranoid up to which a program may count its own events */
#define MOUNT_PROC "mount -t proc proc /proc"
#define MOUNT_SYS "mount -t sysfs sysfs /sys"

/* For every row: why it matters, and which kernel file system it is read from ("" = none). test_host finds a row that
 * is missing here. */
static const struct about {
    const char *what, *from, *why;
} about[] = {
    {"clock", "/sys", "every sample is the difference of two clock readings"},
    {"threads", "/proc", "no shape is measured on more threads than may run at once"},
    {"instruction sets", "", "kernels exist for several instruction sets; the best is the default"},
    {"OpenBLAS", "", "gemm and attention are compared with it"},
    {"memory", "/proc", "a shape that does not fit is refused before it runs"},
    {"memory lock limit", "/proc",
     "buffers are touched before timing, not locked; pinned buffers would count against it"},
    {"huge pages", "/sys", "without them, page-table walks add to the time of large working sets"},
    {"lock: governor", "/sys", "a clock that changes with the load makes separate runs incomparable"},
    {"lock: turbo", "/sys", "a clock that changes with temperature makes separate runs incomparable"},
    {"lock: frequency", "/sys", "a range of clocks makes separate runs incomparable"},
    {"lock: affinity", "/proc", "a thread that moves to another CPU loses its cache contents"},
    {"isolated CPUs", "/sys", "the scheduler may run other tasks on a CPU that is not isolated"},
    {"foreign load", "/proc", "other programs take time from the samples; interleaved blocks reduce the effect"},
    {"cgroup limits", "/proc", "a quota stops threads in the middle of a sample"},
    {"bare metal", "/proc", "a hypervisor may take the CPU away in the middle of a sample"},
    {"hardware counters", "", "without them, cycles, instructions and cache misses of a slot are absent"},
    {"perf_event_paranoid", "/proc", "above 2, only privileged programs may count their own events"},
    {"CPU energy (RAPL)", "/sys", "without it, joules and joules per token are absent"},
    {"NVIDIA driver", "", "without the driver, nothing is measured on a GPU"},
    {"GPU counters (CUPTI)", "", "it reads the counters inside GPU kernels"},
    {"GPU counter permission", "/proc", "the driver may reserve the counters inside kernels for root"},
    {"CUDA", "", "only a build with GPU kernels can measure a GPU"},
    {"GPU", "", "the driver's management library gives its power, clocks and temperature"},
    {"GPU power limit", "", "under a lower cap the same kernel runs at a lower clock"},
    {"GPU persistence", "", "without it the driver forgets its counters, and the first call is slow"},
    {"GPU ECC", "", "it takes memory and bandwidth; runs with and without it are not comparable"},
    {"GPU MIG", "", "power and energy are of the whole board, other users of it included"},
    {"GPU throttling", "", "a clock reduced by heat or the power cap makes runs incomparable"},
};

static const struct about *about_row(const char *what)
{
    static const struct about none = {"", "", ""};
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        if (strcmp(about[i].what, what) == 0)
            return &about[i];
    return &none;
}

/* Steals `detail`. */
static void add_row(json_t *rows, const char *what, enum ifm_doctor_state state, json_t *detail, const char *remedy)
{
    static const char *const names[] = {"ok", "absent", "warn"};
    if (json_string_length(detail) == 0) { /* a file may be there and empty */
        json_decref(detail);
        detail = json_string("the kernel says nothing");
    }
    json_array_append_new(rows, json_pack("{s:s, s:s, s:o, s:s, s:s}", "what", what, "state", names[state], "detail",
                                          detail, "why", about_row(what)->why, "remedy", remedy));
}

/* For a recorded machine: what only a live machine can answer. */
static bool is_recorded(const char *root, json_t *rows, const char *what)
{
    if (!ifm_probe_live(root))
        add_row(rows, what, IFM_DOCTOR_ABSENT, json_string("only the live machine can be asked"),
                "run doctor on the machine itself");
    return !ifm_probe_live(root);
}

static void add_clock(const char *root, json_t *rows)
{
    json_t *clock = ifm_probe_clock(root);
    const char *source = json_string_value(json_object_get(clock, "source"));
    const json_t *cost = json_object_get(clock, "read_ns_p50");
    if (source == NULL)
        add_row(rows, "clock", IFM_DOCTOR_ABSENT, json_string("the kernel does not name its clock source"), MOUNT_SYS);
    else if (!json_is_integer(cost))
        add_row(rows, "clock", IFM_DOCTOR_OK, json_string(source), "");
    else
        add_row(rows, "clock", json_integer_value(cost) > SLOW_CLOCK_NS ? IFM_DOCTOR_WARN : IFM_DOCTOR_OK,
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
        add_row(rows, "threads", IFM_DOCTOR_ABSENT, json_string("/proc/self/status lists no allowed CPUs"), MOUNT_PROC);
        return;
    }
    if (quota > 0 && ceil(quota) < mask)
        usable = (unsigned)ceil(quota);
    json_t *detail = quota > 0
                         ? json_sprintf("up to %u (affinity mask %u, cgroup quota %.2f CPUs)", usable, mask, quota)
                         : json_sprintf("up to %u (affinity mask %u, no cgroup quota)", usable, mask);
    add_row(rows, "threads", IFM_DOCTOR_OK, detail, "");
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
            add_row(rows, what, IFM_DOCTOR_OK,
                    json_sprintf("CPUs %s; workers are pinned while a device is open", value), "");
        else if (value == NULL)
            add_row(rows, what, IFM_DOCTOR_ABSENT, json_string(reason), remedy != NULL ? remedy : MOUNT_PROC);
        else if (json_is_true(json_object_get(lock, "locked")))
            add_row(rows, what, IFM_DOCTOR_OK, json_string(value), "");
        else
            add_row(rows, what, IFM_DOCTOR_WARN, json_sprintf("%s: %s", value, reason),
                    remedy != NULL ? remedy : "taskset -c CPU, or let the device pin its threads");
    }
    json_decref(locks);
}

static void add_huge_pages(const char *root, json_t *rows)
{
    json_t *pages = ifm_probe_huge_pages(root);
    const char *mode = json_string_value(json_object_get(pages, "transparent"));
    if (mode == NULL)
        add_row(rows, "huge pages", IFM_DOCTOR_ABSENT, json_string("the kernel has no transparent huge pages"),
                "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE");
    else if (strcmp(mode, "never") == 0)
        add_row(rows, "huge pages", IFM_DOCTOR_ABSENT, json_string("transparent huge pages are off"),
                "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
    else
        add_row(rows, "huge pages", IFM_DOCTOR_OK, json_sprintf("transparent, %s", mode), "");
    json_decref(pages);
}

static void add_counters(const char *root, json_t *rows)
{
    const char *what = "hardware counters";
    if (is_recorded(root, rows, what))
        return;
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE, .size = sizeof attributes, .config = PERF_COUNT_HW_CPU_CYCLES, .exclude_kernel = 1};
    long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    if (fd >= 0) {
        close((int)fd);
        add_row(rows, what, IFM_DOCTOR_OK, json_string("perf_event counts cycles"), "");
    } else if (errno == EACCES || errno == EPERM) {
        add_row(rows, what, IFM_DOCTOR_ABSENT, json_string("perf_event_open is not permitted"),
                "sysctl kernel.perf_event_paranoid=1, or grant CAP_PERFMON");
    } else if ((errno == ENOENT || errno == ENODEV || errno == EOPNOTSUPP) && ifm_probe_exists(root, "/proc/cpuinfo")) {
        bool guest = ifm_probe_virtual(root);
        add_row(rows, what, IFM_DOCTOR_ABSENT,
                json_string(guest ? "the hypervisor gives this guest no performance counters"
                                  : "the kernel has no performance counters for this CPU"),
                guest ? "enable the virtual PMU of this machine, or measure on bare metal"
                      : "enable them in the firmware, or use a newer kernel");
    } else {
        add_row(rows, what, IFM_DOCTOR_ABSENT, json_sprintf("perf_event_open: %s", strerror(errno)),
                "use a kernel with CONFIG_PERF_EVENTS, outside a seccomp filter that forbids it");
    }
}

static void add_rapl(const char *root, json_t *rows)
{
    char line[64];
    const char *what = "CPU energy (RAPL)";
    if (!ifm_probe_exists(root, "/sys/class/powercap/intel-rapl:0/energy_uj"))
        add_row(rows, what, IFM_DOCTOR_ABSENT,
                json_string(ifm_probe_virtual(root) ? "the hypervisor does not expose powercap to this guest"
                                                    : "no powercap zone of the CPU package"),
                ifm_probe_virtual(root) ? "measure on the host or on bare metal" : "modprobe intel_rapl_msr");
    else if (!ifm_probe_line(root, line, sizeof line, "/sys/class/powercap/intel-rapl:0/energy_uj"))
        add_row(rows, what, IFM_DOCTOR_ABSENT, json_string("energy_uj is not readable by this user"),
                "chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj as root");
    else
        add_row(rows, what, IFM_DOCTOR_OK, json_string("powercap package zone is readable"), "");
}

static void add_paranoid(const char *root, json_t *rows)
{
    static const char what[] = "perf_event_paranoid";
    int64_t level;
    if (!ifm_probe_i64(root, &level, "/proc/sys/kernel/perf_event_paranoid"))
        add_row(rows, what, IFM_DOCTOR_ABSENT, json_string("the kernel has no such setting, or /proc is not mounted"),
                "use a kernel with CONFIG_PERF_EVENTS, with /proc mounted");
    else if (level > OWN_COUNTERS)
        add_row(rows, what, IFM_DOCTOR_WARN, json_sprintf("%lld", (long long)level),
                "sysctl kernel.perf_event_paranoid=1");
    else
        add_row(rows, what, IFM_DOCTOR_OK, json_sprintf("%lld", (long long)level), "");
}

/* Whether a library of the driver or the toolkit can be loaded; none of its functions is called. It stays loaded: its
 * constructors allocate memory that they never free, and a leak sanitizer cannot attribute leaks of an unloaded
 * library. */
static void add_library(const char *root, json_t *rows, const char *what, const char *file, const char *remedy)
{
    if (is_recorded(root, rows, what))
        return;
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        add_row(rows, what, IFM_DOCTOR_ABSENT, json_sprintf("%s cannot be opened", file), remedy);
        return;
    }
    dlclose(library);
    add_row(rows, what, IFM_DOCTOR_OK, json_sprintf("%s is there", file), "");
}

/* The first GPU, as a run would open it; asked without a context. */
static void add_cuda(const char *root, json_t *rows)
{
    struct ifm_cuda_card card;
    struct ifm_cuda_absence absence;
    char bytes[48];
    if (is_recorded(root, rows, "CUDA"))
        return;
    if (!ifm_cuda_first(&card, &absence)) {
        add_row(rows, "CUDA", IFM_DOCTOR_ABSENT, json_string(absence.reason), absence.remedy);
        return;
    }
    add_row(rows, "CUDA", IFM_DOCTOR_OK,
            json_sprintf("%s, compute capability %u.%u, %s, driver for CUDA %d.%d%s", card.name, card.major, card.minor,
                         ifm_format_human((double)card.memory_bytes, "B", bytes), card.driver_version / 1000,
                         card.driver_version % 1000 / 10, card.devices > 1 ? "; the first of several" : ""),
            "");
}

/* "RmProfilingAdminOnly: 0" in the driver module's parameters; without that file the module is not loaded. */
static void add_counter_permission(const char *root, json_t *rows)
{
    static const char what[] = "GPU counter permission";
    char *params = ifm_probe_text(root, "/proc/driver/nvidia/params"), value[16];
    if (params == NULL || !ifm_probe_field(params, "RmProfilingAdminOnly", value, sizeof value))
        add_row(rows, what, IFM_DOCTOR_ABSENT, json_string("the driver's module does not say who may read counters"),
                "load the NVIDIA driver's module; in a container, ask on the host");
    else if (strcmp(value, "0") == 0)
        add_row(rows, what, IFM_DOCTOR_OK, json_string("everybody may count"), "");
    else
        add_row(rows, what, IFM_DOCTOR_WARN, json_string("for root alone"),
                "options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d, or CAP_SYS_ADMIN");
    free(params);
}

static void add_management(const char *root, json_t *rows)
{
    const char *reason, *remedy;
    if (is_recorded(root, rows, "GPU"))
        return;
    const struct ifm_nvml *nvml = ifm_nvml_load(&reason, &remedy);
    ifm_doctor_gpus(nvml, reason, remedy, add_row, rows);
}

static void add_gpu(const char *root, json_t *rows)
{
    static const char driver[] = "pass the GPU to this machine and install its driver: apt-get install nvidia-driver "
                                 "(Debian: non-free)";
    char line[128];
    if (ifm_probe_line(root, line, sizeof line, "/proc/driver/nvidia/version"))
        add_row(rows, "NVIDIA driver", IFM_DOCTOR_OK, json_string(line), "");
    else
        add_library(root, rows, "NVIDIA driver", "libcuda.so.1", driver);
    add_library(root, rows, "GPU counters (CUPTI)", "libcupti.so",
                "apt-get install libcupti-dev (Debian: non-free), or the CUDA toolkit");
    add_counter_permission(root, rows);
    add_cuda(root, rows);
    add_management(root, rows);
}

static void add_isolated(const char *root, json_t *rows)
{
    static const char what[] = "isolated CPUs", file[] = "/sys/devices/system/cpu/isolated";
    char line[256];
    if (ifm_probe_line(root, line, sizeof line, "%s", file) && line[0] != '\0')
        add_row(rows, what, IFM_DOCTOR_OK, json_string(line), "");
    else
        add_row(rows, what, IFM_DOCTOR_ABSENT,
                json_string(ifm_probe_exists(root, "%s", file) ? "none" : "the kernel does not say"),
                "boot with isolcpus=CPUS nohz_full=CPUS, and start the lab with taskset -c CPUS");
}

static void add_memory_lock(const char *root, json_t *rows)
{
    static const char what[] = "memory lock limit";
    char *limits = ifm_probe_text(root, "/proc/self/limits"), bytes[48];
    const char *line = limits == NULL ? NULL : strstr(limits, "Max locked memory");
    uint64_t limit;
    char word[32] = "";
    if (line != NULL)
        sscanf(line, "Max locked memory %31s", word);
    if (strcmp(word, "unlimited") == 0)
        add_row(rows, what, IFM_DOCTOR_OK, json_string("none"), "");
    else if (ifm_parse_u64(word, &limit))
        add_row(rows, what, IFM_DOCTOR_OK, json_string(ifm_format_human((double)limit, "B", bytes)), "");
    else
        add_row(rows, what, IFM_DOCTOR_ABSENT, json_string("/proc/self/limits does not name it"), MOUNT_PROC);
    free(limits);
}

static void add_cgroup(const char *root, json_t *rows)
{
    struct ifm_probe_limits limits = ifm_probe_limits(root);
    char bytes[48] = "none", quota[32] = "none";
    if (limits.version == 0) {
        add_row(rows, "cgroup limits", IFM_DOCTOR_ABSENT, json_string("/proc/self/cgroup cannot be read or is empty"),
                MOUNT_PROC);
        return;
    }
    if (limits.memory_limit != UINT64_MAX)
        ifm_format_human((double)limits.memory_limit, "B", bytes);
    if (limits.cpu_quota > 0)
        snprintf(quota, sizeof quota, "%.2f CPUs", limits.cpu_quota);
    add_row(rows, "cgroup limits", limits.cpu_quota > 0 ? IFM_DOCTOR_WARN : IFM_DOCTOR_OK,
            json_sprintf("version %d, cpu quota %s, memory limit %s", limits.version, quota, bytes),
            limits.cpu_quota > 0 ? "a quota stops threads in the middle of a sample; use a cpuset instead" : "");
}

static void add_load(const char *root, json_t *rows)
{
    if (is_recorded(root, rows, "foreign load"))
        return;
    double load = ifm_host_foreign_load(LOAD_WINDOW_MS);
    if (load < 0)
        add_row(rows, "foreign load", IFM_DOCTOR_ABSENT, json_string("/proc/stat cannot be read"), MOUNT_PROC);
    else
        add_row(rows, "foreign load", load > BUSY_LOAD ? IFM_DOCTOR_WARN : IFM_DOCTOR_OK,
                json_sprintf("%.2f of each allowed CPU is used by others", load),
                load > BUSY_LOAD ? "stop other programs, or keep them off these CPUs" : "");
}

static void add_isas(const char *root, json_t *rows)
{
    if (is_recorded(root, rows, "instruction sets"))
        return;
    size_t n;
    const char *const *isas = ifm_host_isas(&n);
    struct ifm_text text = {0};
    for (size_t i = 0; i < n; i++)
        ifm_text_printf(&text, "%s%s", i > 0 ? ", " : "", isas[i]);
    add_row(rows, "instruction sets", IFM_DOCTOR_OK, json_string(text.data), "");
    ifm_text_free(&text);
}

static void add_blas(const char *root, json_t *rows)
{
    const char *what = "OpenBLAS", *why_not;
    if (is_recorded(root, rows, what))
        return;
    const struct ifm_openblas *blas = ifm_openblas_load(&why_not);
    if (blas == NULL)
        add_row(rows, what, IFM_DOCTOR_ABSENT, json_string(why_not), "apt-get install libopenblas0-pthread");
    else
        add_row(rows, what, IFM_DOCTOR_OK,
                json_sprintf("%s, core type %s (%s%s)", blas->version, blas->core,
                             blas->asked[0] != '\0' ? "asked for: " : "its own choice", blas->asked),
                "");
}

static void add_memory(const char *root, json_t *rows)
{
    char bytes[48];
    uint64_t available = ifm_probe_memory_available(root);
    if (available == 0)
        add_row(rows, "memory", IFM_DOCTOR_ABSENT, json_string("/proc/meminfo cannot be read"), MOUNT_PROC);
    else
        add_row(rows, "memory", IFM_DOCTOR_OK,
                json_sprintf("%s available", ifm_format_human((double)available, "B", bytes)), "");
}

static void add_hypervisor(const char *root, json_t *rows)
{
    if (!ifm_probe_exists(root, "/proc/cpuinfo"))
        add_row(rows, "bare metal", IFM_DOCTOR_ABSENT, json_string("/proc/cpuinfo cannot be read"), MOUNT_PROC);
    else if (ifm_probe_virtual(root))
        add_row(rows, "bare metal", IFM_DOCTOR_WARN,
                json_string("a hypervisor runs this machine; it may take the CPU away (see steal_ns)"),
                "confirm small differences on bare metal");
    else
        add_row(rows, "bare metal", IFM_DOCTOR_OK, json_string("no hypervisor"), "");
}

/* In a bare chroot or container, where a missing file says nothing about the kernel. */
static void name_unmounted(json_t *rows, const char *from, const char *remedy)
{
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "state")), "absent") != 0 ||
            strcmp(about_row(json_string_value(json_object_get(row, "what")))->from, from) != 0)
            continue;
        json_object_set_new(row, "detail", json_sprintf("%s is not mounted", from));
        json_object_set_new(row, "remedy", json_string(remedy));
    }
}

json_t *ifm_host_doctor_at(const char *root)
{
    json_t *rows = json_array();
    add_clock(root, rows);
    add_threads(root, rows);
    add_isas(root, rows);
    add_blas(root, rows);
    add_memory(root, rows);
    add_memory_lock(root, rows);
    add_huge_pages(root, rows);
    add_locks(root, rows);
    add_isolated(root, rows);
    add_load(root, rows);
    add_cgroup(root, rows);
    add_hypervisor(root, rows);
    add_counters(root, rows);
    add_paranoid(root, rows);
    add_rapl(root, rows);
    add_gpu(root, rows);
    if (!ifm_probe_exists(root, "/proc/self/status"))
        name_unmounted(rows, "/proc", MOUNT_PROC);
    if (!ifm_probe_exists(root, "/sys/devices/system/cpu"))
        name_unmounted(rows, "/sys", MOUNT_SYS);
    return rows;
}

json_t *ifm_host_doctor(void)
{
    return ifm_host_doctor_at("");
}
