/* A libnvidia-ml for tests: opened like the real one, and scripted by the environment when it is initialised.
 *
 * FAKE_NVML holds "key=value" words between blanks:
 *   gpus=2 fail=1       GPUs, and the index of one whose handle is refused
 *   init=9              result of nvmlInit_v2
 *   energy_rc=4 samples_rc=3 average_rc=3 instant_rc=3 memory_rc=3   results of the readings
 *   lost=5              from the sixth reading of gpu0 on, it is lost
 *   hiccup=2,5          two calls for energy fail with 999 (unknown error), from each of these on
 *   energy=100,200,50   millijoules, one a call, the last one again and again; else watts x time since init
 *   watts=300 refresh_ms=100 limit=700   of what runs by the clock
 *   energy_call_ms=16    what a call for energy takes
 *   freeze_ms=500       from then on the energy counter stands still
 *   field=300000,0      milliwatts of the fields, one a call
 *   gap=100,300         no power samples between these milliseconds after init
 * FAKE_OLD leaves out what came with later drivers; FAKE_BROKEN leaves out nvmlInit_v2. */
#include "dyn/nvml.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    return device->index == 0 && lost >= 0 && state.readings++ >= (size_t)lost;
}

#ifndef FAKE_BROKEN
int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    memset(&state, 0, sizeof state);
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
    *milliwatts = (unsigned)number_of("limit", 700) * 1000;
    return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(ifm_nvml_device device, unsigned long long *millijoules);
int nvmlDeviceGetTotalEnergyConsumption(ifm_nvml_device device, unsigned long long *millijoules)
{
    int result = (int)number_of("energy_rc", 0);
    if (result != 0)
        return result;
    if (is_lost(device))
        return IFM_NVML_GPU_IS_LOST;
    struct timespec left = {0, number_of("energy_call_ms", 0) * 1000000};
    while (left.tv_nsec > 0 && nanosleep(&left, &left) != 0)
        ;
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
    if (strcmp(bus, "0000:00:07.0") != 0)
        return IFM_NVML_NOT_FOUND;
    *out = &gpus[1];
    return 0;
}

int nvmlDeviceGetFieldValues(ifm_nvml_device device, int n, struct ifm_nvml_field *fields);
int nvmlDeviceGetFieldValues(ifm_nvml_device device, int n, struct ifm_nvml_field *fields)
{
    if (is_lost(device))
        return IFM_NVML_GPU_IS_LOST;
    for (int i = 0; i < n; i++) {
        struct ifm_nvml_field *field = &fields[i];
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
