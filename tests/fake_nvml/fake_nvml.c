/* A libnvidia-ml for tests: opened like the real one, and scripted by the environment when it is initialised.
 *
 * FAKE_NVML holds "key=value" words between blanks:
 *   gpus=2 fail=1       GPUs, and the index of one whose handle is refused
 *   init=9              result of nvmlInit_v2
 *   energy_rc=4 samples_rc=3 average_rc=3 instant_rc=3 memory_rc=3   results of the readings
 *   lost=5              from the sixth reading of gpu0 on, it is lost
 *   lost_ms=500         from then on gpu0 is lost
 *   hiccup=2,5          two calls for energy fail with 999 (unknown error), from each of these on
 *   energy=100,200,50   millijoules, one a call, the last one again and again; else watts x time since init
 *   watts=300 refresh_ms=100 limit=700   of what runs by the clock
 *   call_ms=17          what a call for energy takes; it tells what the counter is when it returns
 *   freeze_ms=500       from then on the energy counter stands still
 *   field=300000,0      milliwatts of the fields, one a call
 *   gap=100,300         no power samples between these milliseconds after init
 * and of its state (the block at the end), each list one value a call, the last one again and again:
 *   f74=0,500           values of a field by its id, such as an accumulator in ns, the temperature of memory (82) or
 * the number of links (91); 0 where nothing is said no=74,82            fields that this GPU lacks; no=-1 all of them
 *   policy=0,500        violation times, ns, of every policy
 *   celsius=33,61 sm=345,1980 uncorrected=0,2 corrected=0 reasons=4
 *   ours=1 foreign=2    compute processes: this one, and others that /proc knows; stranger=1: ids of another namespace
 *   ecc=0 persistence=0 mig=1 cap=500   otherwise ECC and persistence are on, MIG off, and the cap is `limit`
 *   bus=0000:01:00.0    PCI bus id of gpu0
 *   mhz=1980 idle=345   SM clock that nothing locks; with idle, the clock now, and the reason "idle"
 *   capped=1200         SM clock now, held by the power cap
 *   deny=power_limit    a setting that takes root: persistence, power_limit, memory_clock, gpu_clock; deny_gpu=1 on
 *                       this GPU alone
 *   ignore=gpu_clock    a setting that is accepted and not applied; ignore_reset=gpu_clock: its reset
 *   one_memory_clock=1 applications=1755
 * FAKE_NVML_STATE names a file that keeps what was set, for other processes to see. Without it nothing can be set.
 * FAKE_OLD leaves out what came with later drivers; FAKE_BROKEN leaves out nvmlInit_v2. */
#include "dyn/nvml.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GPUS = 4, SCRIPT = 64, RING = 119, RING_US = 20000 };

struct ifm_nvml_device_opaque {
    int index;
};
static struct ifm_nvml_device_opaque gpus[GPUS] = {{0}, {1}, {2}, {3}};

static struct {
    unsigned long long energy[SCRIPT], field[SCRIPT];
    size_t n_energy, n_field, energy_calls, field_calls, readings;
    int64_t start_us;
} state;

static int64_t wall_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The text of a key up to the next blank, or NULL. */
static const char *value_of(const char *key)
{
    const char *script = getenv("FAKE_NVML");
    size_t length = strlen(key);
    for (const char *at = script; at != NULL; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}

static long number_of(const char *key, long otherwise)
{
    const char *text = value_of(key);
    return text == NULL ? otherwise : strtol(text, NULL, 10);
}

static size_t list_of(const char *key, unsigned long long *list)
{
    size_t n = 0;
    for (const char *at = value_of(key); at != NULL && n < SCRIPT;) {
        char *end;
        list[n++] = strtoull(at, &end, 10);
        at = *end == ',' ? end + 1 : NULL;
    }
    return n;
}

static bool is_lost(ifm_nvml_device device)
{
    long lost = number_of("lost", -1);
    if (device->index == 0 && (wall_us() - state.start_us) / 1000 >= number_of("lost_ms", INT32_MAX))
        return true;
    return device->index == 0 && lost >= 0 && state.readings++ >= (size_t)lost;
}

#ifndef FAKE_BROKEN
static void gpu_begin(void);
int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    memset(&state, 0, sizeof state);
    gpu_begin();
    state.n_energy = list_of("energy", state.energy);
    state.n_field = list_of("field", state.field);
    state.start_us = wall_us();
    return (int)number_of("init", 0);
}
#endif

const char *nvmlErrorString(int result);
const char *nvmlErrorString(int result)
{
    return result == 9 ? "Driver Not Loaded" : "Unknown Error";
}

int nvmlSystemGetDriverVersion(char *text, unsigned size);
int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    snprintf(text, size, "580.00");
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = (unsigned)number_of("gpus", 1);
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, ifm_nvml_device *out);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, ifm_nvml_device *out)
{
    if (index >= GPUS)
        return IFM_NVML_INVALID_ARGUMENT;
    *out = &gpus[index];
    return (long)index == number_of("fail", -1) ? IFM_NVML_GPU_IS_LOST : 0;
}

int nvmlDeviceGetEnforcedPowerLimit(ifm_nvml_device device, unsigned *milliwatts);
int nvmlDeviceGetEnforcedPowerLimit(ifm_nvml_device device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = (unsigned)number_of("cap", number_of("limit", 700)) * 1000;
    return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(ifm_nvml_device device, unsigned long long *millijoules);
int nvmlDeviceGetTotalEnergyConsumption(ifm_nvml_device device, unsigned long long *millijoules)
{
    int result = (int)number_of("energy_rc", 0);
    if (result != 0)
        return result;
    long call_ms = number_of("call_ms", 0);
    nanosleep(&(struct timespec){.tv_nsec = call_ms * 1000000}, NULL);
    if (is_lost(device))
        return IFM_NVML_GPU_IS_LOST;
    size_t call = state.energy_calls++;
    unsigned long long hiccups[SCRIPT];
    for (size_t i = list_of("hiccup", hiccups); i > 0; i--)
        if (call == hiccups[i - 1] || call == hiccups[i - 1] + 1)
            return 999;
    if (state.n_energy > 0) {
        *millijoules = state.energy[call < state.n_energy ? call : state.n_energy - 1];
        return 0;
    }
    int64_t ms = (wall_us() - state.start_us) / 1000, period = number_of("refresh_ms", 100);
    int64_t freeze = number_of("freeze_ms", INT32_MAX);
    ms = (ms < freeze ? ms : freeze) / period * period;
    *millijoules = 1000000 + (unsigned long long)(ms * number_of("watts", 300));
    return 0;
}

#ifndef FAKE_OLD
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, ifm_nvml_device *out);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, ifm_nvml_device *out)
{
    const char *first = value_of("bus"); /* else that of the fake CUDA driver's GPU */
    if (strncmp(first != NULL ? first : "0000:01:00.0", bus, strlen(bus)) == 0) {
        *out = &gpus[0];
        return number_of("fail", -1) == 0 ? IFM_NVML_GPU_IS_LOST : 0;
    }
    if (strcmp(bus, "0000:00:07.0") != 0)
        return IFM_NVML_NOT_FOUND;
    *out = &gpus[1];
    return 0;
}

static bool gpu_field(ifm_nvml_device device, struct ifm_nvml_field *field);
int nvmlDeviceGetFieldValues(ifm_nvml_device device, int n, struct ifm_nvml_field *fields);
int nvmlDeviceGetFieldValues(ifm_nvml_device device, int n, struct ifm_nvml_field *fields)
{
    if (is_lost(device))
        return IFM_NVML_GPU_IS_LOST;
    for (int i = 0; i < n; i++) {
        struct ifm_nvml_field *field = &fields[i];
        if (gpu_field(device, field))
            continue;
        int64_t tick = (wall_us() - state.start_us) / 1000 / number_of("refresh_ms", 100);
        size_t call = state.field_calls++;
        field->result = (int)number_of(field->scope == IFM_NVML_SCOPE_MEMORY       ? "memory_rc"
                                       : field->id == IFM_NVML_FIELD_POWER_INSTANT ? "instant_rc"
                                                                                   : "average_rc",
                                       0);
        field->type = IFM_NVML_UNSIGNED;
        field->value.u = (unsigned)(number_of("watts", 300) * 1000 + tick % 7);
        if (state.n_field > 0)
            field->value.u = (unsigned)state.field[call < state.n_field ? call : state.n_field - 1];
    }
    return 0;
}

/* One sample every 20 ms of the wall clock since 2.4 s ago; the newest at most 119. */
int nvmlDeviceGetSamples(ifm_nvml_device device, int kind, unsigned long long last, enum ifm_nvml_type *type,
                         unsigned *count, struct ifm_nvml_sample *samples);
int nvmlDeviceGetSamples(ifm_nvml_device device, int kind, unsigned long long last, enum ifm_nvml_type *type,
                         unsigned *count, struct ifm_nvml_sample *samples)
{
    unsigned long long gap[SCRIPT] = {0, 0};
    int result = (int)number_of("samples_rc", 0);
    if (result != 0 || is_lost(device))
        return result != 0 ? result : IFM_NVML_GPU_IS_LOST;
    (void)kind;
    size_t gaps = list_of("gap", gap);
    unsigned room = *count, n = 0;
    int64_t newest = wall_us() / RING_US * RING_US;
    for (int64_t t = newest - (RING - 1) * RING_US; t <= newest && n < room; t += RING_US) {
        int64_t since_ms = (t - state.start_us) / 1000;
        bool missing = gaps == 2 && since_ms >= (int64_t)gap[0] && since_ms < (int64_t)gap[1];
        if ((unsigned long long)t <= last || missing)
            continue;
        if (samples != NULL)
            samples[n] = (struct ifm_nvml_sample){.stamp_us = (unsigned long long)t,
                                                  .value.u = (unsigned)number_of("watts", 300) * 1000};
        n++;
    }
    *type = IFM_NVML_UNSIGNED;
    *count = n;
    return n == 0 ? IFM_NVML_NOT_FOUND : 0;
}
#endif

/* ---- identity, limits and state of a GPU: an H200 as it was seen, where the script says nothing ---- */

enum { KEYS = 32 };
static struct {
    char key[16];
    size_t calls;
} asked[KEYS];

#ifndef FAKE_BROKEN
static void gpu_begin(void)
{
    memset(asked, 0, sizeof asked);
}
#endif

/* The value of a list for this call of its key. Of the first GPU; the others give the first value always. */
static unsigned long long next_of(ifm_nvml_device device, const char *key, unsigned long long otherwise)
{
    unsigned long long list[SCRIPT];
    size_t n = list_of(key, list), call = 0;
    if (n == 0)
        return otherwise;
    for (size_t i = 0; i < KEYS && device->index == 0; i++) {
        if (asked[i].key[0] != '\0' && strcmp(asked[i].key, key) != 0)
            continue;
        snprintf(asked[i].key, sizeof asked[i].key, "%s", key);
        call = asked[i].calls++;
        break;
    }
    return list[call < n ? call : n - 1];
}

#ifndef FAKE_OLD
static bool gpu_field(ifm_nvml_device device, struct ifm_nvml_field *field)
{
    static const unsigned ids[] = {74, 75, 76, 77, 78, 79, 82, 91, 269, 270, 271};
    unsigned long long lacks[SCRIPT];
    char key[16];
    bool mine = false;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        mine |= field->id == ids[i];
    if (!mine)
        return false;
    field->result = number_of("no", 0) == -1 ? IFM_NVML_NOT_SUPPORTED : 0;
    for (size_t i = list_of("no", lacks); i > 0; i--)
        if (lacks[i - 1] == field->id)
            field->result = IFM_NVML_NOT_SUPPORTED;
    snprintf(key, sizeof key, "f%u", field->id);
    field->type = field->id == 82 || field->id == 91 ? IFM_NVML_UNSIGNED : IFM_NVML_UNSIGNED_LONG_LONG;
    unsigned long long value = field->result == 0 ? next_of(device, key, 0) : 0;
    if (field->type == IFM_NVML_UNSIGNED)
        field->value.u = (unsigned)value;
    else
        field->value.ull = value;
    return true;
}
#endif

#define FAKE(name, ...)                                                                                                \
    int name(ifm_nvml_device device, __VA_ARGS__);                                                                     \
    int name(ifm_nvml_device device, __VA_ARGS__)

FAKE(nvmlDeviceGetIndex, unsigned *out)
{
    *out = (unsigned)device->index;
    return 0;
}

FAKE(nvmlDeviceGetName, char *text, unsigned size)
{
    (void)device;
    snprintf(text, size, "NVIDIA H200");
    return 0;
}

/* These two must stand in nothing that is published. */
FAKE(nvmlDeviceGetUUID, char *text, unsigned size)
{
    snprintf(text, size, "GPU-5ec4e7ed-0000-1111-2222-33334444555%d", device->index);
    return 0;
}
FAKE(nvmlDeviceGetSerial, char *text, unsigned size)
{
    snprintf(text, size, "165422300777%d", device->index);
    return 0;
}

FAKE(nvmlDeviceGetVbiosVersion, char *text, unsigned size)
{
    (void)device;
    snprintf(text, size, "96.00.A5.00.1A");
    return 0;
}

FAKE(nvmlDeviceGetCudaComputeCapability, int *major, int *minor)
{
    (void)device;
    *major = 9;
    *minor = 0;
    return 0;
}

FAKE(nvmlDeviceGetMemoryInfo, struct ifm_nvml_memory *out)
{
    (void)device;
    *out = (struct ifm_nvml_memory){150754820096, 150000000000, 754820096};
    return 0;
}

FAKE(nvmlDeviceGetMaxClockInfo, int clock, unsigned *mhz)
{
    (void)device;
    *mhz = clock == IFM_NVML_CLOCK_MEMORY ? 3201 : 1980;
    return 0;
}

FAKE(nvmlDeviceGetTemperature, int sensor, unsigned *celsius)
{
    (void)sensor;
    *celsius = (unsigned)next_of(device, "celsius", 34);
    return 0;
}

FAKE(nvmlDeviceGetPowerUsage, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = (unsigned)number_of("watts", 300) * 1000;
    return 0;
}

FAKE(nvmlDeviceGetPowerManagementDefaultLimit, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = 700000;
    return 0;
}

FAKE(nvmlDeviceGetEccMode, int *current, int *pending)
{
    (void)device;
    *current = (int)number_of("ecc", 1);
    *pending = 1;
    return 0;
}

FAKE(nvmlDeviceGetTotalEccErrors, int kind, int since, unsigned long long *n)
{
    if (since != 0)
        return IFM_NVML_INVALID_ARGUMENT;
    *n = next_of(device, kind == 1 ? "uncorrected" : "corrected", 0);
    return 0;
}

FAKE(nvmlDeviceGetViolationStatus, int policy, struct ifm_nvml_violation *out)
{
    if (policy < 0 || policy > 5)
        return IFM_NVML_INVALID_ARGUMENT;
    *out = (struct ifm_nvml_violation){0, next_of(device, "policy", 0)};
    return 0;
}

FAKE(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long *mask)
{
    *mask = next_of(device, "reasons", 0);
    return 0;
}

#ifndef FAKE_OLD
int nvmlSystemGetNVMLVersion(char *text, unsigned size);
int nvmlSystemGetNVMLVersion(char *text, unsigned size)
{
    snprintf(text, size, "13.580.00");
    return 0;
}
int nvmlSystemGetCudaDriverVersion_v2(int *version);
int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = 13000;
    return 0;
}

FAKE(nvmlDeviceGetArchitecture, unsigned *which)
{
    (void)device;
    *which = 9;
    return 0;
}

FAKE(nvmlDeviceGetMigMode, unsigned *current, unsigned *pending)
{
    (void)device;
    *current = *pending = (unsigned)number_of("mig", 0);
    return 0;
}

FAKE(nvmlDeviceGetRemappedRows, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed)
{
    (void)device;
    *corrected = *uncorrected = *pending = *failed = 0;
    return 0;
}

FAKE(nvmlDeviceGetNvLinkState, unsigned link, int *active)
{
    (void)device;
    *active = link != 0; /* one is down */
    return 0;
}

static int put(struct ifm_nvml_process *list, unsigned room, unsigned *n, unsigned pid)
{
    if (*n < room)
        list[*n].pid = pid;
    ++*n;
    return *n <= room ? 0 : IFM_NVML_INSUFFICIENT_SIZE;
}

FAKE(nvmlDeviceGetComputeRunningProcesses_v3, unsigned *n, struct ifm_nvml_process *list)
{
    unsigned room = *n;
    int result = 0;
    (void)device;
    *n = 0;
    if (number_of("ours", 0) != 0)
        result = put(list, room, n, (unsigned)getpid());
    for (long i = number_of("foreign", 0); i > 0; i--)
        result = put(list, room, n, (unsigned)getppid()); /* it started us: none of ours */
    if (number_of("stranger", 0) != 0)
        result = put(list, room, n, 1u << 30);
    return result;
}
#endif

/* ---- settings, kept in FAKE_NVML_STATE: "gpu0 gpu_clock 1500" a line; 0 = as the driver likes ---- */

enum setting { PERSISTENCE, POWER_LIMIT, MEMORY_CLOCK, GPU_CLOCK, SETTINGS };
static const char *const setting_names[SETTINGS] = {"persistence", "power_limit", "memory_clock", "gpu_clock"};

static void settings_read(unsigned settings[GPUS][SETTINGS])
{
    char name[32];
    int gpu;
    unsigned value;
    const char *path = getenv("FAKE_NVML_STATE");
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    memset(settings, 0, GPUS * sizeof settings[0]);
    while (file != NULL && fscanf(file, "gpu%d %31s %u\n", &gpu, name, &value) == 3)
        for (int s = 0; s < SETTINGS; s++)
            if (strcmp(setting_names[s], name) == 0 && gpu >= 0 && gpu < GPUS)
                settings[gpu][s] = value;
    if (file != NULL)
        fclose(file);
}

static unsigned setting_of(ifm_nvml_device device, enum setting which)
{
    unsigned settings[GPUS][SETTINGS];
    settings_read(settings);
    return settings[device->index][which];
}

static bool names_setting(const char *key, enum setting which)
{
    const char *text = value_of(key);
    size_t length = strlen(setting_names[which]);
    return text != NULL && strncmp(text, setting_names[which], length) == 0 &&
           (text[length] == ' ' || text[length] == '\0');
}

static int change(ifm_nvml_device device, enum setting which, unsigned value)
{
    unsigned settings[GPUS][SETTINGS];
    const char *path = getenv("FAKE_NVML_STATE");
    if (path == NULL || (names_setting("deny", which) && number_of("deny_gpu", device->index) == device->index))
        return IFM_NVML_NO_PERMISSION;
    if (names_setting(value == 0 ? "ignore_reset" : "ignore", which))
        return 0;
    settings_read(settings);
    settings[device->index][which] = value;
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return IFM_NVML_NO_PERMISSION;
    for (int gpu = 0; gpu < GPUS; gpu++)
        for (int s = 0; s < SETTINGS; s++)
            if (settings[gpu][s] != 0)
                fprintf(file, "gpu%d %s %u\n", gpu, setting_names[s], settings[gpu][s]);
    return fclose(file) == 0 ? 0 : 999;
}

int nvmlDeviceGetClockInfo(ifm_nvml_device device, int which, unsigned *mhz);
int nvmlDeviceGetClockInfo(ifm_nvml_device device, int which, unsigned *mhz)
{
    unsigned locked = setting_of(device, which == IFM_NVML_CLOCK_MEMORY ? MEMORY_CLOCK : GPU_CLOCK);
    unsigned free_mhz = which == IFM_NVML_CLOCK_MEMORY
                            ? 3201
                            : (unsigned)next_of(device, "sm", (unsigned long long)number_of("mhz", 1980));
    *mhz = locked != 0 ? locked : free_mhz;
    if (which != IFM_NVML_CLOCK_MEMORY)
        *mhz = (unsigned)number_of("idle", number_of("capped", (long)*mhz));
    return 0;
}

#ifndef FAKE_OLD
int nvmlDeviceGetCurrentClocksEventReasons(ifm_nvml_device device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksEventReasons(ifm_nvml_device device, unsigned long long *reasons)
{
    *reasons = value_of("idle") != NULL     ? IFM_NVML_REASON_IDLE
               : value_of("capped") != NULL ? IFM_NVML_REASON_POWER_CAP
                                            : next_of(device, "reasons", 0);
    return 0;
}
#endif

int nvmlDeviceGetPersistenceMode(ifm_nvml_device device, int *mode);
int nvmlDeviceGetPersistenceMode(ifm_nvml_device device, int *mode)
{
    *mode = setting_of(device, PERSISTENCE) != 0 || number_of("persistence", getenv("FAKE_NVML_STATE") == NULL) != 0;
    return 0;
}

int nvmlDeviceGetPowerManagementLimit(ifm_nvml_device device, unsigned *milliwatts);
int nvmlDeviceGetPowerManagementLimit(ifm_nvml_device device, unsigned *milliwatts)
{
    unsigned set = setting_of(device, POWER_LIMIT);
    *milliwatts = set != 0 ? set : (unsigned)number_of("limit", 700) * 1000;
    return 0;
}

int nvmlDeviceSetPersistenceMode(ifm_nvml_device device, int mode);
int nvmlDeviceSetPersistenceMode(ifm_nvml_device device, int mode)
{
    return change(device, PERSISTENCE, mode != 0);
}

int nvmlDeviceSetPowerManagementLimit(ifm_nvml_device device, unsigned milliwatts);
int nvmlDeviceSetPowerManagementLimit(ifm_nvml_device device, unsigned milliwatts)
{
    return change(device, POWER_LIMIT, milliwatts);
}

#ifndef FAKE_OLD
int nvmlDeviceGetPowerManagementLimitConstraints(ifm_nvml_device device, unsigned *least, unsigned *most);
int nvmlDeviceGetPowerManagementLimitConstraints(ifm_nvml_device device, unsigned *least, unsigned *most)
{
    (void)device;
    *least = 200000;
    *most = 700000;
    return 0;
}

int nvmlDeviceGetSupportedMemoryClocks(ifm_nvml_device device, unsigned *count, unsigned *clocks);
int nvmlDeviceGetSupportedMemoryClocks(ifm_nvml_device device, unsigned *count, unsigned *clocks)
{
    (void)device;
    *count = value_of("one_memory_clock") != NULL ? 1 : 2;
    clocks[0] = 3201;
    if (*count > 1)
        clocks[1] = 1593;
    return 0;
}

int nvmlDeviceGetSupportedGraphicsClocks(ifm_nvml_device device, unsigned memory, unsigned *count, unsigned *clocks);
int nvmlDeviceGetSupportedGraphicsClocks(ifm_nvml_device device, unsigned memory, unsigned *count, unsigned *clocks)
{
    unsigned n = 0;
    (void)device;
    if (memory != 3201)
        return IFM_NVML_NOT_FOUND;
    for (unsigned mhz = 1980; mhz >= 345 && n < *count; mhz -= 15)
        clocks[n++] = mhz;
    *count = n;
    return 0;
}

int nvmlDeviceGetApplicationsClock(ifm_nvml_device device, int which, unsigned *mhz);
int nvmlDeviceGetApplicationsClock(ifm_nvml_device device, int which, unsigned *mhz)
{
    (void)device;
    (void)which;
    *mhz = (unsigned)number_of("applications", 0);
    return *mhz != 0 ? 0 : IFM_NVML_NOT_SUPPORTED;
}

int nvmlDeviceSetGpuLockedClocks(ifm_nvml_device device, unsigned low, unsigned high);
int nvmlDeviceSetGpuLockedClocks(ifm_nvml_device device, unsigned low, unsigned high)
{
    return low == high ? change(device, GPU_CLOCK, low) : IFM_NVML_INVALID_ARGUMENT;
}

int nvmlDeviceResetGpuLockedClocks(ifm_nvml_device device);
int nvmlDeviceResetGpuLockedClocks(ifm_nvml_device device)
{
    return change(device, GPU_CLOCK, 0);
}

int nvmlDeviceSetMemoryLockedClocks(ifm_nvml_device device, unsigned low, unsigned high);
int nvmlDeviceSetMemoryLockedClocks(ifm_nvml_device device, unsigned low, unsigned high)
{
    return low == high ? change(device, MEMORY_CLOCK, low) : IFM_NVML_INVALID_ARGUMENT;
}

int nvmlDeviceResetMemoryLockedClocks(ifm_nvml_device device);
int nvmlDeviceResetMemoryLockedClocks(ifm_nvml_device device)
{
    return change(device, MEMORY_CLOCK, 0);
}
#endif
