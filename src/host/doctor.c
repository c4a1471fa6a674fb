/* `inferometer doctor`: what this machine can and cannot measure. Each row has a name, a state, why it matters and,
 * where something is wrong, a remedy. Reads only. */
#include "dyn/cublaslt.h"
#include "dyn/cuda.h"
#include "dyn/cudnn.h"
#include "dyn/cupti.h"
#include "dyn/nvml.h"
#include "dyn/nvrtc.h"
#include "dyn/openblas.h"
#include "host/cpus.h"
#include "host/host.h"
#include "host/probe.h"
#include "model/counter_sets.h"
#include "model/facts.h"
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdarg.h>
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

static void tell_clock(struct ifm_doctor *d)
{
    json_t *clock = ifm_probe_clock(d->root);
    const char *source = json_string_value(json_object_get(clock, "source"));
    const json_t *cost = json_object_get(clock, "read_ns_p50");
    long long ns = json_integer_value(cost);
    if (source == NULL)
        ifm_doctor_absent(d, MOUNT_SYS, "the kernel does not name its clock source");
    else if (!json_is_integer(cost))
        ifm_doctor_ok(d, "%s", source);
    else if (ns > SLOW_CLOCK_NS)
        ifm_doctor_warn(d, "boot with clocksource=tsc, if the TSC is stable", "%s, %lld ns a read", source, ns);
    else
        ifm_doctor_ok(d, "%s, %lld ns a read", source, ns);
    json_decref(clock);
}

static void tell_threads(struct ifm_doctor *d)
{
    unsigned *cpus = ifm_zeros(IFM_CPUS_MAX, sizeof *cpus);
    unsigned mask = ifm_probe_allowed(d->root, cpus, IFM_CPUS_MAX);
    free(cpus);
    double quota = ifm_probe_limits(d->root).cpu_quota;
    if (mask == 0)
        ifm_doctor_absent(d, MOUNT_PROC, "/proc/self/status lists no allowed CPUs");
    else if (quota > 0)
        ifm_doctor_ok(d, "up to %u (affinity mask %u, cgroup quota %.2f CPUs)",
                      ceil(quota) < mask ? (unsigned)ceil(quota) : mask, mask, quota);
    else
        ifm_doctor_ok(d, "up to %u (affinity mask %u, no cgroup quota)", mask, mask);
}

static void tell_locks(struct ifm_doctor *d)
{
    json_t *locks = ifm_host_locks(d->root), *lock;
    size_t i;
    json_array_foreach(locks, i, lock)
    {
        const char *knob = json_string_value(json_object_get(lock, "knob"));
        const char *value = json_string_value(json_object_get(lock, "value"));
        const char *reason = json_string_value(json_object_get(lock, "reason"));
        const char *remedy = json_string_value(json_object_get(lock, "remedy"));
        char what[64];
        snprintf(what, sizeof what, "lock: %s", knob);
        d->what = what;
        if (strcmp(knob, "affinity") == 0 && value != NULL) /* the device pins its threads when it opens */
            ifm_doctor_ok(d, "CPUs %s; workers are pinned while a device is open", value);
        else if (value == NULL)
            ifm_doctor_absent(d, remedy != NULL ? remedy : MOUNT_PROC, "%s", reason);
        else if (json_is_true(json_object_get(lock, "locked")))
            ifm_doctor_ok(d, "%s", value);
        else
            ifm_doctor_warn(d, remedy != NULL ? remedy : "taskset -c CPU, or let the device pin its threads", "%s: %s",
                            value, reason);
    }
    json_decref(locks);
}

static void tell_huge_pages(struct ifm_doctor *d)
{
    json_t *pages = ifm_probe_huge_pages(d->root);
    const char *mode = json_string_value(json_object_get(pages, "transparent"));
    if (mode == NULL)
        ifm_doctor_absent(d, "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE",
                          "the kernel has no transparent huge pages");
    else if (strcmp(mode, "never") == 0)
        ifm_doctor_absent(d, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
                          "transparent huge pages are off");
    else
        ifm_doctor_ok(d, "transparent, %s", mode);
    json_decref(pages);
}

static void tell_counters(struct ifm_doctor *d)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE, .size = sizeof attributes, .config = PERF_COUNT_HW_CPU_CYCLES, .exclude_kernel = 1};
    long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    int code = errno;
    bool none = code == ENOENT || code == ENODEV || code == EOPNOTSUPP;
    if (fd >= 0) {
        close((int)fd);
        ifm_doctor_ok(d, "perf_event counts cycles");
    } else if (code == EACCES || code == EPERM) {
        ifm_doctor_absent(d, "sysctl kernel.perf_event_paranoid=1, or grant CAP_PERFMON",
                          "perf_event_open is not permitted");
    } else if (none && ifm_probe_virtual(d->root)) {
        ifm_doctor_absent(d, "enable the virtual PMU of this machine, or measure on bare metal",
                          "the hypervisor gives this guest no performance counters");
    } else if (none && ifm_probe_exists(d->root, "/proc/cpuinfo")) {
        ifm_doctor_absent(d, "enable them in the firmware, or use a newer kernel",
                          "the kernel has no performance counters for this CPU");
    } else {
        ifm_doctor_absent(d, "use a kernel with CONFIG_PERF_EVENTS, outside a seccomp filter that forbids it",
                          "perf_event_open: %s", strerror(code));
    }
}

static void tell_rapl(struct ifm_doctor *d)
{
    static const char zone[] = "/sys/class/powercap/intel-rapl:0/energy_uj";
    char line[64];
    if (ifm_probe_line(d->root, line, sizeof line, "%s", zone))
        ifm_doctor_ok(d, "powercap package zone is readable");
    else if (ifm_probe_exists(d->root, "%s", zone))
        ifm_doctor_absent(d, IFM_PROBE_POWERCAP_CLOSED, "energy_uj is for root alone");
    else
        ifm_doctor_absent(d, ifm_probe_powercap_remedy(d->root), "%s",
                          ifm_probe_virtual(d->root) ? "the hypervisor shows this guest no powercap zone of a package"
                                                     : "powercap has no zone of a processor package");
}

static void tell_paranoid(struct ifm_doctor *d)
{
    int64_t level;
    if (!ifm_probe_i64(d->root, &level, "/proc/sys/kernel/perf_event_paranoid"))
        ifm_doctor_absent(d, "use a kernel with CONFIG_PERF_EVENTS, with /proc mounted",
                          "the kernel has no such setting, or /proc is not mounted");
    else if (level > OWN_COUNTERS)
        ifm_doctor_warn(d, "sysctl kernel.perf_event_paranoid=1", "%lld", (long long)level);
    else
        ifm_doctor_ok(d, "%lld", (long long)level);
}

/* Whether a library of the driver or the toolkit can be loaded; none of its functions is called. It stays loaded: its
 * constructors allocate memory that they never free, and a leak sanitizer cannot attribute leaks of an unloaded
 * library. */
static void tell_library(struct ifm_doctor *d, const char *file, const char *remedy)
{
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        ifm_doctor_absent(d, remedy, "%s cannot be opened", file);
        return;
    }
    dlclose(library);
    ifm_doctor_ok(d, "%s is there", file);
}

/* For a recorded machine: what only a live machine can answer. */
static void tell_recorded(struct ifm_doctor *d)
{
    ifm_doctor_absent(d, "run doctor on the machine itself", "only the live machine can be asked");
}

static void tell_driver(struct ifm_doctor *d)
{
    char line[128];
    if (ifm_probe_line(d->root, line, sizeof line, "/proc/driver/nvidia/version"))
        ifm_doctor_ok(d, "%s", line);
    else if (!ifm_probe_live(d->root))
        tell_recorded(d);
    else
        tell_library(d, "libcuda.so.1",
                     "pass the GPU to this machine and install its driver: `apt-get install nvidia-driver` "
                     "(Debian: non-free)");
}

static void tell_cupti(struct ifm_doctor *d)
{
    struct ifm_cuda_absence absence;
    const struct ifm_cuda *cuda = ifm_cuda_load(&absence);
    const struct ifm_cupti *cupti = cuda == NULL ? NULL : ifm_cupti_load(cuda->driver_version, &absence);
    const char *chip = cupti == NULL ? NULL : ifm_cupti_chip(cupti, &absence);
    struct ifm_counter_sets sets;
    if (chip == NULL)
        ifm_doctor_absent(d, absence.remedy, "%s", absence.reason);
    else if (!ifm_counter_sets_of(chip, &sets))
        ifm_doctor_absent(d, IFM_NO_COUNTER_SETS_REMEDY, IFM_NO_COUNTER_SETS, chip);
    else
        ifm_doctor_ok(d, "%s, chip %s (%s)", cupti->name, chip, cupti->file);
}

/* "RmProfilingAdminOnly: 0" in the driver module's parameters; without that file the module is not loaded. */
static void tell_permission(struct ifm_doctor *d)
{
    char *params = ifm_probe_text(d->root, "/proc/driver/nvidia/params"), value[16];
    struct ifm_cuda_card card;
    struct ifm_cuda_absence absence;
    if (params == NULL || !ifm_probe_field(params, "RmProfilingAdminOnly", value, sizeof value))
        ifm_doctor_absent(d, "load the NVIDIA driver's module; in a container, ask on the host",
                          "the driver's module does not say who may read counters");
    else if (strcmp(value, "0") == 0)
        ifm_doctor_ok(d, "everybody may count");
    else
        ifm_doctor_warn(
            d,
            ifm_cupti_denied(ifm_probe_live(d->root) && ifm_cuda_first(&card, &absence) ? card.driver_version : 0)
                .remedy,
            "for root alone");
    free(params);
}

/* The first GPU, as a run would open it; asked without a context. */
static void tell_cuda(struct ifm_doctor *d)
{
    struct ifm_cuda_card card;
    struct ifm_cuda_absence absence;
    char bytes[48];
    if (ifm_cuda_first(&card, &absence))
        ifm_doctor_ok(d, "%s, compute capability %u.%u, %s, driver for CUDA %d.%d%s", card.name, card.major, card.minor,
                      ifm_format_human((double)card.memory_bytes, "B", bytes), card.driver_version / 1000,
                      card.driver_version % 1000 / 10, card.devices > 1 ? "; the first of several" : "");
    else
        ifm_doctor_absent(d, absence.remedy, "%s", absence.reason);
}

/* Whose machine code a run would load. */
static void tell_kernels(struct ifm_doctor *d)
{
    struct ifm_cuda_absence absence;
    const struct ifm_nvrtc *nvrtc = ifm_nvrtc_load(&absence);
    if (IFM_NVCC[0] != '\0')
        ifm_doctor_ok(d, "built in, by %s%s", IFM_NVCC, nvrtc != NULL ? "; NVRTC too (--kernels nvrtc)" : "");
    else if (nvrtc != NULL)
        ifm_doctor_ok(d, "compiled at run time by NVRTC %d.%d (%s)", nvrtc->major, nvrtc->minor, nvrtc->file);
    else
        ifm_doctor_absent(d, absence.remedy, "this build was made without nvcc, and %s", absence.reason);
}

static void tell_cublaslt(struct ifm_doctor *d)
{
    struct ifm_cuda_absence absence;
    const struct ifm_cublaslt *blas = ifm_cublaslt_load(&absence);
    if (blas != NULL)
        ifm_doctor_ok(d, "%s (%s)", blas->name, blas->file);
    else
        ifm_doctor_absent(d, absence.remedy, "%s", absence.reason);
}

static void tell_cudnn(struct ifm_doctor *d)
{
    struct ifm_cuda_absence absence;
    const struct ifm_cudnn *dnn = ifm_cudnn_load(&absence);
    if (dnn != NULL)
        ifm_doctor_ok(d, "%s (%s)", dnn->name, dnn->file);
    else
        ifm_doctor_absent(d, absence.remedy, "%s", absence.reason);
}

static void tell_gpus(struct ifm_doctor *d)
{
    const char *reason, *remedy;
    const struct ifm_nvml *nvml = ifm_nvml_load(&reason, &remedy);
    ifm_doctor_gpus(d, nvml, reason, remedy);
}

static void tell_isolated(struct ifm_doctor *d)
{
    static const char file[] = "/sys/devices/system/cpu/isolated";
    char line[256];
    if (ifm_probe_line(d->root, line, sizeof line, "%s", file) && line[0] != '\0')
        ifm_doctor_ok(d, "%s", line);
    else
        ifm_doctor_absent(d, "boot with isolcpus=CPUS nohz_full=CPUS, and start inferometer with `taskset -c CPUS`",
                          "%s", ifm_probe_exists(d->root, "%s", file) ? "none" : "the kernel does not say");
}

static void tell_memory_lock(struct ifm_doctor *d)
{
    char *limits = ifm_probe_text(d->root, "/proc/self/limits"), bytes[48], word[32] = "";
    const char *line = limits == NULL ? NULL : strstr(limits, "Max locked memory");
    uint64_t limit;
    if (line != NULL)
        sscanf(line, "Max locked memory %31s", word);
    if (strcmp(word, "unlimited") == 0)
        ifm_doctor_ok(d, "none");
    else if (ifm_parse_u64(word, &limit))
        ifm_doctor_ok(d, "%s", ifm_format_human((double)limit, "B", bytes));
    else
        ifm_doctor_absent(d, MOUNT_PROC, "/proc/self/limits does not name it");
    free(limits);
}

static void tell_cgroup(struct ifm_doctor *d)
{
    struct ifm_probe_limits limits = ifm_probe_limits(d->root);
    char bytes[48] = "none";
    if (limits.memory_limit != UINT64_MAX)
        ifm_format_human((double)limits.memory_limit, "B", bytes);
    if (limits.version == 0)
        ifm_doctor_absent(d, MOUNT_PROC, "/proc/self/cgroup cannot be read or is empty");
    else if (limits.cpu_quota > 0)
        ifm_doctor_warn(d, "a quota stops threads in the middle of a sample; use a cpuset instead",
                        "version %d, cpu quota %.2f CPUs, memory limit %s", limits.version, limits.cpu_quota, bytes);
    else
        ifm_doctor_ok(d, "version %d, cpu quota none, memory limit %s", limits.version, bytes);
}

static void tell_load(struct ifm_doctor *d)
{
    double load = ifm_host_foreign_load(LOAD_WINDOW_MS);
    if (load < 0)
        ifm_doctor_absent(d, MOUNT_PROC, "/proc/stat cannot be read");
    else if (load > BUSY_LOAD)
        ifm_doctor_warn(d, "stop other programs, or keep them off these CPUs",
                        "other programs take %.0f %% of each CPU", ifm_load_percent(load));
    else
        ifm_doctor_ok(d, "other programs take %.0f %% of each CPU", ifm_load_percent(load));
}

static void tell_isas(struct ifm_doctor *d)
{
    size_t n;
    const char *const *isas = ifm_host_isas(&n);
    struct ifm_text text = {0};
    for (size_t i = 0; i < n; i++)
        ifm_text_printf(&text, "%s%s", i > 0 ? ", " : "", isas[i]);
    ifm_doctor_ok(d, "%s", text.data);
    ifm_text_free(&text);
}

static void tell_blas(struct ifm_doctor *d)
{
    const char *why_not;
    const struct ifm_openblas *blas = ifm_openblas_load(&why_not);
    if (blas == NULL)
        ifm_doctor_absent(d, "apt-get install libopenblas0-pthread", "%s", why_not);
    else
        ifm_doctor_ok(d, "%s, core type %s (%s%s)", blas->version, blas->core,
                      blas->asked[0] != '\0' ? "asked for: " : "its own choice", blas->asked);
}

static void tell_memory(struct ifm_doctor *d)
{
    char bytes[48];
    uint64_t available = ifm_host_memory_available(d->root);
    if (available == 0)
        ifm_doctor_absent(d, MOUNT_PROC, "/proc/meminfo cannot be read");
    else
        ifm_doctor_ok(d, "%s available", ifm_format_human((double)available, "B", bytes));
}

static void tell_hypervisor(struct ifm_doctor *d)
{
    if (!ifm_probe_exists(d->root, "/proc/cpuinfo"))
        ifm_doctor_absent(d, MOUNT_PROC, "/proc/cpuinfo cannot be read");
    else if (ifm_probe_virtual(d->root))
        ifm_doctor_warn(d, "confirm small differences on bare metal",
                        "a hypervisor runs this machine; it may take the CPU away (see steal_ns)");
    else
        ifm_doctor_ok(d, "no hypervisor");
}

typedef void tell_fn(struct ifm_doctor *d);

/* The rows in their order: which kernel file system each is read from ("" = none), why it matters, who tells it. A row
 * without a teller is told by the one before it, and a recorded machine is not asked what only a live one can answer.
 * test_host finds a row that is missing here. */
static const struct about {
    const char *what, *from, *why;
    tell_fn *tell;
    bool live;
} about[] = {
    {"clock", "/sys", "every sample is the difference of two clock readings", tell_clock, false},
    {"threads", "/proc", "no shape is measured on more threads than may run at once", tell_threads, false},
    {"instruction sets", "", "kernels exist for several instruction sets; the best is the default", tell_isas, true},
    {"OpenBLAS", "", "gemm and attention are compared with it", tell_blas, true},
    {"memory", "/proc", "a shape that does not fit is refused before it runs", tell_memory, false},
    {"memory lock limit", "/proc",
     "buffers are touched before timing, not locked; pinned buffers would count against it", tell_memory_lock, false},
    {"huge pages", "/sys", "without them, page-table walks add to the time of large working sets", tell_huge_pages,
     false},
    {"lock: governor", "/sys", "a clock that changes with the load makes separate runs incomparable", tell_locks,
     false},
    {"lock: turbo", "/sys", "a clock that changes with temperature makes separate runs incomparable", NULL, false},
    {"lock: frequency", "/sys", "a range of clocks makes separate runs incomparable", NULL, false},
    {"lock: affinity", "/proc", "a thread that moves to another CPU loses its cache contents", NULL, false},
    {"isolated CPUs", "/sys", "the scheduler may run other tasks on a CPU that is not isolated", tell_isolated, false},
    {"foreign load", "/proc", "other programs take time from the samples; interleaved blocks reduce the effect",
     tell_load, true},
    {"cgroup limits", "/proc", "a quota stops threads in the middle of a sample", tell_cgroup, false},
    {"bare metal", "/proc", "a hypervisor may take the CPU away in the middle of a sample", tell_hypervisor, false},
    {"hardware counters", "", "without them, cycles, instructions and cache misses of a slot are absent", tell_counters,
     true},
    {"perf_event_paranoid", "/proc", "above 2, only privileged programs may count their own events", tell_paranoid,
     false},
    {"CPU energy (RAPL)", "/sys", "without it, joules and joules per token are absent", tell_rapl, false},
    {"NVIDIA driver", "", "without the driver, nothing is measured on a GPU", tell_driver, false},
    {"GPU counters (CUPTI)", "", "--counters reads a GPU's hardware counters with it", tell_cupti, true},
    {"GPU counter permission", "/proc", "the driver may reserve the counters inside kernels for root", tell_permission,
     false},
    {"CUDA", "", "the driver's GPU is what --device cuda measures", tell_cuda, true},
    {"GPU kernels", "", "machine code for a GPU is built in, or compiled once for it", tell_kernels, true},
    {"GPU matrix library", "", "gemm is compared with it on a GPU", tell_cublaslt, true},
    {"GPU attention library", "", "attention is compared with it on a GPU", tell_cudnn, true},
    {"GPU", "", "the driver's management library gives its power, clocks and temperature", tell_gpus, true},
    {"GPU power limit", "", "under a lower cap the same kernel runs at a lower clock", NULL, false},
    {"GPU persistence", "", "without it the driver forgets its counters, and the first call is slow", NULL, false},
    {"GPU ECC", "", "it takes memory and bandwidth; runs with and without it are not comparable", NULL, false},
    {"GPU MIG", "", "power and energy are of the whole board, other users of it included", NULL, false},
    {"GPU throttling", "", "a clock reduced by heat or the power cap makes runs incomparable", NULL, false},
};

static const struct about *about_row(const char *what)
{
    static const struct about none = {"", "", "", NULL, false};
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        if (strcmp(about[i].what, what) == 0)
            return &about[i];
    return &none;
}

void ifm_doctor_say(const struct ifm_doctor *doctor, enum ifm_doctor_state state, const char *remedy,
                    const char *detail, ...)
{
    static const char *const names[] = {"ok", "absent", "warn"};
    va_list arguments;
    va_start(arguments, detail);
    json_t *text = json_vsprintf(detail, arguments);
    va_end(arguments);
    /* A file may be there and empty. */
    const char *said = json_string_length(text) == 0 ? "the kernel says nothing" : json_string_value(text);
    json_array_append_new(doctor->rows, json_pack("{s:s, s:s, s:o, s:s, s:s}", "what", doctor->what, "state",
                                                  names[state], "detail", json_sprintf("%s%s", doctor->of, said), "why",
                                                  about_row(doctor->what)->why, "remedy", remedy));
    json_decref(text);
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

json_t *ifm_host_doctor(const char *root)
{
    struct ifm_doctor doctor = {.root = root, .rows = json_array()};
    for (size_t i = 0; i < sizeof about / sizeof *about; i++) {
        doctor.what = about[i].what;
        if (about[i].live && !ifm_probe_live(root))
            tell_recorded(&doctor);
        else if (about[i].tell != NULL)
            about[i].tell(&doctor);
    }
    if (!ifm_probe_exists(root, "/proc/self/status"))
        name_unmounted(doctor.rows, "/proc", MOUNT_PROC);
    if (!ifm_probe_exists(root, "/sys/devices/system/cpu"))
        name_unmounted(doctor.rows, "/sys", MOUNT_SYS);
    return doctor.rows;
}
