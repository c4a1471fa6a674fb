/* GPUs: the state now, and totals since the driver was loaded. */
#include "host/gpu.h"

#include "base/clock.h"
#include "dyn/cuda.h"
#include "host/host.h"
#include "host/probe.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PROCESSES = 256, MOST_ANCESTORS = 64 };

/* Time in which a policy reduced the clock. `policy` is that of nvmlDeviceGetViolationStatus, used where fields are not
 * available; negative = none. */
static const struct accumulator {
    const char *name;
    unsigned field;
    int policy;
} accumulators[] = {
    {"power_cap_ns", IFM_NVML_FIELD_CAPPED_NS, 0},
    {"thermal_policy_ns", IFM_NVML_FIELD_THERMAL_POLICY_NS, 1},
    {"sync_boost_ns", IFM_NVML_FIELD_SYNC_BOOST_NS, 2},
    {"board_limit_ns", IFM_NVML_FIELD_BOARD_LIMIT_NS, 3},
    {"low_utilization_ns", IFM_NVML_FIELD_LOW_UTILIZATION_NS, 4},
    {"reliability_ns", IFM_NVML_FIELD_RELIABILITY_NS, 5},
    {"sw_thermal_ns", IFM_NVML_FIELD_SW_THERMAL_NS, -1},
    {"hw_thermal_ns", IFM_NVML_FIELD_HW_THERMAL_NS, -1},
    {"hw_power_brake_ns", IFM_NVML_FIELD_POWER_BRAKE_NS, -1},
};
enum { ACCUMULATORS = sizeof accumulators / sizeof *accumulators };

static bool count_of(const struct ifm_nvml_field *field, unsigned long long *out)
{
    switch (field->type) {
    case IFM_NVML_UNSIGNED:
        *out = field->value.u;
        return true;
    case IFM_NVML_UNSIGNED_LONG:
        *out = field->value.ul;
        return true;
    case IFM_NVML_UNSIGNED_LONG_LONG:
        *out = field->value.ull;
        return true;
    case IFM_NVML_LONG_LONG:
        *out = (unsigned long long)field->value.ll;
        return field->value.ll >= 0;
    case IFM_NVML_INT:
        *out = (unsigned long long)field->value.i;
        return field->value.i >= 0;
    case IFM_NVML_UNSIGNED_SHORT:
        *out = field->value.us;
        return true;
    case IFM_NVML_DOUBLE:
        break;
    }
    return false;
}

static json_t *count(unsigned long long value)
{
    return json_integer((json_int_t)(value & INT64_MAX));
}

static json_t *violation(const struct ifm_nvml *nvml, ifm_nvml_device gpu, int policy)
{
    struct ifm_nvml_violation seen = {0};
    bool has = nvml->nvmlDeviceGetViolationStatus != NULL && policy >= 0;
    int result = has ? nvml->nvmlDeviceGetViolationStatus(gpu, policy, &seen) : IFM_NVML_SUCCESS;
    return has && result == IFM_NVML_SUCCESS ? count(seen.violation_ns) : ifm_gpu_lack(nvml, has, result);
}

/* All fields in one call; each has its own result. An older driver has none of them and is asked through
 * nvmlDeviceGetViolationStatus. */
static void add_accumulators(const struct ifm_nvml *nvml, ifm_nvml_device gpu, json_t *state)
{
    struct ifm_nvml_field fields[ACCUMULATORS] = {{0}};
    bool has = nvml->nvmlDeviceGetFieldValues != NULL, any = false;
    for (size_t i = 0; i < ACCUMULATORS; i++)
        fields[i].id = accumulators[i].field;
    int result = has ? nvml->nvmlDeviceGetFieldValues(gpu, ACCUMULATORS, fields) : IFM_NVML_SUCCESS;
    bool read = has && result == IFM_NVML_SUCCESS;
    for (size_t i = 0; read && i < ACCUMULATORS; i++)
        any |= fields[i].result == IFM_NVML_SUCCESS;
    json_t *all = json_object();
    for (size_t i = 0; i < ACCUMULATORS; i++) {
        unsigned long long ns;
        json_t *value;
        if (!any && nvml->nvmlDeviceGetViolationStatus != NULL)
            value = violation(nvml, gpu, accumulators[i].policy);
        else if (!read)
            value = ifm_gpu_lack(nvml, has, result);
        else if (fields[i].result != IFM_NVML_SUCCESS)
            value = ifm_gpu_lack(nvml, true, fields[i].result);
        else
            value = count_of(&fields[i], &ns) ? count(ns) : ifm_probe_absent("NVML gives no count for it", NULL);
        json_object_set_new(all, accumulators[i].name, value);
    }
    json_object_set_new(state, "accumulators_from",
                        json_string(any || nvml->nvmlDeviceGetViolationStatus == NULL ? "fields" : "violation status"));
    json_object_set_new(state, "accumulators", all);
}

static json_t *clock_mhz(const struct ifm_nvml *nvml, ifm_nvml_device gpu, int clock)
{
    unsigned mhz = 0;
    bool has = nvml->nvmlDeviceGetClockInfo != NULL;
    int result = has ? nvml->nvmlDeviceGetClockInfo(gpu, clock, &mhz) : IFM_NVML_SUCCESS;
    return has && result == IFM_NVML_SUCCESS ? json_integer((json_int_t)mhz) : ifm_gpu_lack(nvml, has, result);
}

static json_t *pstate(const struct ifm_nvml *nvml, ifm_nvml_device gpu)
{
    int level = 0, result = IFM_NVML_SUCCESS;
    bool has = nvml->nvmlDeviceGetPerformanceState != NULL;
    if (has)
        result = nvml->nvmlDeviceGetPerformanceState(gpu, &level);
    if (!has || result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, has, result);
    return level >= 0 && level < 16 ? json_sprintf("P%d", level) : ifm_probe_absent("NVML does not know it", NULL);
}

static json_t *temperature(const struct ifm_nvml *nvml, ifm_nvml_device gpu)
{
    unsigned celsius = 0;
    bool has = nvml->nvmlDeviceGetTemperature != NULL;
    int result = has ? nvml->nvmlDeviceGetTemperature(gpu, IFM_NVML_TEMPERATURE_GPU, &celsius) : IFM_NVML_SUCCESS;
    return has && result == IFM_NVML_SUCCESS ? json_integer((json_int_t)celsius) : ifm_gpu_lack(nvml, has, result);
}

static json_t *memory_temperature(const struct ifm_nvml *nvml, ifm_nvml_device gpu)
{
    unsigned long long celsius;
    struct ifm_nvml_field field = {.id = IFM_NVML_FIELD_MEMORY_TEMPERATURE};
    bool has = nvml->nvmlDeviceGetFieldValues != NULL;
    int result = has ? nvml->nvmlDeviceGetFieldValues(gpu, 1, &field) : IFM_NVML_SUCCESS;
    result = result == IFM_NVML_SUCCESS ? field.result : result;
    if (!has || result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, has, result);
    return count_of(&field, &celsius) ? count(celsius) : ifm_probe_absent("NVML gives no count for it", NULL);
}

static json_t *power(const struct ifm_nvml *nvml, ifm_nvml_device gpu)
{
    unsigned milliwatts = 0;
    bool has = nvml->nvmlDeviceGetPowerUsage != NULL;
    int result = has ? nvml->nvmlDeviceGetPowerUsage(gpu, &milliwatts) : IFM_NVML_SUCCESS;
    return has && result == IFM_NVML_SUCCESS ? json_real(milliwatts / 1000.0) : ifm_gpu_lack(nvml, has, result);
}

json_t *ifm_gpu_event_reasons(const struct ifm_nvml *nvml, ifm_nvml_device gpu)
{
    /* nvmlClocksEventReason*, by bit */
    static const char *const names[] = {
        "gpu_idle",   "applications_clocks", "sw_power_cap",   "hw_slowdown",   "sync_boost",
        "sw_thermal", "hw_thermal",          "hw_power_brake", "display_clock",
    };
    unsigned long long mask = 0;
    int (*ask)(ifm_nvml_device, unsigned long long *) = nvml->nvmlDeviceGetCurrentClocksEventReasons != NULL
                                                            ? nvml->nvmlDeviceGetCurrentClocksEventReasons
                                                            : nvml->nvmlDeviceGetCurrentClocksThrottleReasons;
    int result = ask == NULL ? IFM_NVML_SUCCESS : ask(gpu, &mask);
    if (ask == NULL || result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, ask != NULL, result);
    json_t *reasons = json_array();
    for (unsigned bit = 0; bit < 64; bit++) {
        if ((mask >> bit & 1) == 0)
            continue;
        bool named = bit < sizeof names / sizeof *names;
        json_array_append_new(reasons, named ? json_string(names[bit]) : json_sprintf("bit %u", bit));
    }
    return reasons;
}

static json_t *number(const struct ifm_nvml *nvml, int (*function)(ifm_nvml_device, unsigned *), ifm_nvml_device gpu)
{
    unsigned value = 0;
    int result = function == NULL ? IFM_NVML_SUCCESS : function(gpu, &value);
    return function != NULL && result == IFM_NVML_SUCCESS ? json_integer((json_int_t)value)
                                                          : ifm_gpu_lack(nvml, function != NULL, result);
}

static json_t *ecc_errors(const struct ifm_nvml *nvml, ifm_nvml_device gpu)
{
    static const char *const names[] = {"corrected", "uncorrected"};
    enum { VOLATILE = 0 }; /* since the driver was loaded */
    json_t *errors = json_object();
    for (int kind = 0; kind < 2; kind++) {
        unsigned long long n = 0;
        bool has = nvml->nvmlDeviceGetTotalEccErrors != NULL;
        int result = has ? nvml->nvmlDeviceGetTotalEccErrors(gpu, kind, VOLATILE, &n) : IFM_NVML_SUCCESS;
        json_object_set_new(errors, names[kind],
                            has && result == IFM_NVML_SUCCESS ? count(n) : ifm_gpu_lack(nvml, has, result));
    }
    return errors;
}

/* Ampere and later remap failed memory rows; older GPUs retire whole pages. */
static json_t *remapped_rows(const struct ifm_nvml *nvml, ifm_nvml_device gpu)
{
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    bool has = nvml->nvmlDeviceGetRemappedRows != NULL;
    int result =
        has ? nvml->nvmlDeviceGetRemappedRows(gpu, &corrected, &uncorrected, &pending, &failed) : IFM_NVML_SUCCESS;
    if (!has || result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, has, result);
    return json_pack("{s:I, s:I, s:b, s:b}", "corrected", (json_int_t)corrected, "uncorrected", (json_int_t)uncorrected,
                     "pending", pending != 0, "failed", failed != 0);
}

static json_t *retired_pages(const struct ifm_nvml *nvml, ifm_nvml_device gpu)
{
    unsigned total = 0;
    bool has = nvml->nvmlDeviceGetRetiredPages != NULL;
    for (int cause = 0; has && cause < 2; cause++) { /* many single-bit errors, one double-bit error */
        unsigned n = 0;
        int result = nvml->nvmlDeviceGetRetiredPages(gpu, cause, &n, NULL);
        if (result != IFM_NVML_SUCCESS && result != IFM_NVML_INSUFFICIENT_SIZE)
            return ifm_gpu_lack(nvml, true, result);
        total += n;
    }
    return has ? json_integer((json_int_t)total) : ifm_gpu_lack(nvml, false, 0);
}

/* ---- processes: counted, never named ---- */

static bool parent_of(unsigned pid, unsigned *parent)
{
    char *stat = ifm_probe_text("", "/proc/%u/stat", pid);
    const char *after = stat == NULL ? NULL : strrchr(stat, ')');
    bool read = after != NULL && sscanf(after, ") %*c %u", parent) == 1;
    free(stat);
    return read;
}

/* Whether it is this process or one that it started. `*known` is false for an id that /proc does not list: it belongs
 * to another PID namespace, in which our own id differs too. */
static bool is_ours(unsigned pid, bool *known)
{
    unsigned self = (unsigned)getpid(), parent = 0;
    *known = true;
    for (int depth = 0; depth < MOST_ANCESTORS && pid > 1; depth++, pid = parent) {
        if (pid == self)
            return true;
        if (!parent_of(pid, &parent)) {
            *known = depth > 0;
            return false;
        }
    }
    return false;
}

typedef int list_fn(ifm_nvml_device gpu, unsigned *n, struct ifm_nvml_process *list);

/* How many processes use the GPU, and how many of them are foreign: -1 where ids cannot be told apart. */
static int list_processes(list_fn *ask, ifm_nvml_device gpu, struct ifm_nvml_process *list, unsigned *n, int *foreign)
{
    *n = MOST_PROCESSES;
    *foreign = 0;
    int result = ask(gpu, n, list);
    /* more than fit into the list: the count is right, and most are foreign */
    if (result == IFM_NVML_INSUFFICIENT_SIZE) {
        *foreign = (int)*n - 1;
        return IFM_NVML_SUCCESS;
    }
    for (unsigned i = 0; result == IFM_NVML_SUCCESS && i < *n && *foreign >= 0; i++) {
        bool known;
        if (is_ours(list[i].pid, &known))
            continue;
        *foreign = known ? *foreign + 1 : -1;
    }
    return result;
}

static json_t *processes(const struct ifm_nvml *nvml, ifm_nvml_device gpu)
{
    struct ifm_nvml_process *list = calloc(MOST_PROCESSES, sizeof *list);
    json_t *all = json_object();
    list_fn *const asks[] = {nvml->nvmlDeviceGetComputeRunningProcesses_v3,
                             nvml->nvmlDeviceGetGraphicsRunningProcesses_v3};
    static const char *const names[] = {"compute", "graphics"};
    for (size_t i = 0; list != NULL && i < 2; i++) {
        unsigned n = 0;
        int foreign = 0;
        int result = asks[i] == NULL ? IFM_NVML_SUCCESS : list_processes(asks[i], gpu, list, &n, &foreign);
        bool read = asks[i] != NULL && result == IFM_NVML_SUCCESS;
        json_object_set_new(all, names[i],
                            read ? json_integer((json_int_t)n) : ifm_gpu_lack(nvml, asks[i] != NULL, result));
        if (i > 0) /* a desktop only draws with it */
            continue;
        json_t *value =
            !read ? ifm_gpu_lack(nvml, asks[i] != NULL, result)
            : foreign >= 0
                ? json_integer(foreign)
                : ifm_probe_absent(
                      "NVML gives process ids of another namespace: own and foreign processes cannot be told apart",
                      "start the container with --pid=host");
        json_object_set_new(all, "foreign", value);
    }
    free(list);
    return all;
}

/* ---- all of it ---- */

static json_t *state_of(const struct ifm_nvml *nvml, unsigned index, int measured, int64_t zero_ns)
{
    ifm_nvml_device gpu;
    json_t *state = json_pack("{s:I}", "index", (json_int_t)index);
    int result = nvml->nvmlDeviceGetHandleByIndex_v2(index, &gpu);
    if (measured >= 0)
        json_object_set_new(state, "measured", json_boolean((unsigned)measured == index));
    if (result != IFM_NVML_SUCCESS) {
        json_t *lack = ifm_gpu_lack(nvml, true, result);
        json_object_update(state, lack);
        json_decref(lack);
        return state;
    }
    json_object_set_new(state, "read_ns", json_integer(ifm_clock_now().ns - zero_ns));
    add_accumulators(nvml, gpu, state);
    json_object_set_new(state, "clock_mhz",
                        json_pack("{s:o, s:o}", "sm", clock_mhz(nvml, gpu, IFM_NVML_CLOCK_SM), "memory",
                                  clock_mhz(nvml, gpu, IFM_NVML_CLOCK_MEMORY)));
    json_object_set_new(state, "pstate", pstate(nvml, gpu));
    json_object_set_new(
        state, "temperature_c",
        json_pack("{s:o, s:o}", "gpu", temperature(nvml, gpu), "memory", memory_temperature(nvml, gpu)));
    json_object_set_new(state, "power_w", power(nvml, gpu));
    json_object_set_new(state, "event_reasons", ifm_gpu_event_reasons(nvml, gpu));
    json_object_set_new(state, "pcie",
                        json_pack("{s:o, s:o}", "generation",
                                  number(nvml, nvml->nvmlDeviceGetCurrPcieLinkGeneration, gpu), "width",
                                  number(nvml, nvml->nvmlDeviceGetCurrPcieLinkWidth, gpu)));
    json_object_set_new(state, "ecc_errors", ecc_errors(nvml, gpu));
    json_object_set_new(state, "remapped_rows", remapped_rows(nvml, gpu));
    json_object_set_new(state, "retired_pages", retired_pages(nvml, gpu));
    json_object_set_new(state, "processes", processes(nvml, gpu));
    return state;
}

/* CUDA and NVML number GPUs differently; the bus id is the same for both. */
static int index_at(const struct ifm_nvml *nvml, const char *bus)
{
    ifm_nvml_device gpu;
    unsigned index;
    if (bus == NULL || bus[0] == '\0' || nvml->nvmlDeviceGetHandleByPciBusId_v2 == NULL ||
        nvml->nvmlDeviceGetIndex == NULL || nvml->nvmlDeviceGetHandleByPciBusId_v2(bus, &gpu) != IFM_NVML_SUCCESS ||
        nvml->nvmlDeviceGetIndex(gpu, &index) != IFM_NVML_SUCCESS)
        return -1;
    return (int)index;
}

json_t *ifm_gpu_state(const struct ifm_nvml *nvml, const char *bus, int64_t zero_ns)
{
    int n = ifm_gpu_count(nvml), measured = index_at(nvml, bus);
    if (n <= 0)
        return ifm_probe_absent(n == 0 ? "NVML names no GPU" : "NVML does not count its GPUs",
                                "in a container, start it with --gpus all; else look at `nvidia-smi`");
    json_t *all = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(all, state_of(nvml, (unsigned)i, measured, zero_ns));
    return all;
}

/* Asked once: a driver whose context failed may not answer again. */
static struct ifm_cuda_card card;
static void find_card(void)
{
    struct ifm_cuda_absence absence;
    if (!ifm_cuda_first(&card, &absence))
        card.bus[0] = '\0';
}

json_t *ifm_host_gpu_state(bool by_cuda, int64_t zero_ns)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *reason, *remedy;
    if (by_cuda)
        pthread_once(&once, find_card);
    const struct ifm_nvml *nvml = ifm_nvml_load(&reason, &remedy);
    return nvml == NULL ? ifm_probe_absent(reason, remedy) : ifm_gpu_state(nvml, by_cuda ? card.bus : NULL, zero_ns);
}
