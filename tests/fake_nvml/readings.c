/* What is read of a GPU over time: energy, power and its samples; and how one comes to a GPU. */
#include "fake_nvml/internal.h"
#include "fake_rows.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { RING = 119, RING_US = 20000 };

static struct ifm_nvml_device_opaque gpus[FAKE_GPUS] = {{0}, {1}, {2}, {3}};

static struct {
    unsigned long long energy[FAKE_SCRIPT], field[FAKE_SCRIPT];
    size_t n_energy, n_field, energy_calls, field_calls, readings;
    bool blocked;
    int64_t start_us;
} state;

static int64_t wall_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static bool is_lost(ifm_nvml_device device)
{
    long lost = fake_number_of("lost", -1);
    if (device->index == 0 && (wall_us() - state.start_us) / 1000 >= fake_number_of("lost_ms", INT32_MAX))
        return true;
    const char *rows = fake_value_of("lost_rows");
    if (device->index == 0 && rows != NULL && fake_rows_are_there(rows))
        return true;
    return device->index == 0 && lost >= 0 && state.readings++ >= (size_t)lost;
}

static void sleep_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (ms > 0 && nanosleep(&left, &left) != 0)
        ;
}

static void block(void)
{
    unsigned long long block[FAKE_SCRIPT];
    if (state.blocked || fake_list_of("block", block) != 2 || (wall_us() - state.start_us) / 1000 < (int64_t)block[0])
        return;
    state.blocked = true;
    sleep_ms((long)block[1]);
}

#ifndef FAKE_BROKEN
int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    memset(&state, 0, sizeof state);
    fake_script_begin();
    state.n_energy = fake_list_of("energy", state.energy);
    state.n_field = fake_list_of("field", state.field);
    state.start_us = wall_us();
    return (int)fake_number_of("init", 0);
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
    *count = (unsigned)fake_number_of("gpus", 1);
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, ifm_nvml_device *out);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, ifm_nvml_device *out)
{
    if (index >= FAKE_GPUS)
        return IFM_NVML_INVALID_ARGUMENT;
    *out = &gpus[index];
    return (long)index == fake_number_of("fail", -1) ? IFM_NVML_GPU_IS_LOST : 0;
}

int nvmlDeviceGetEnforcedPowerLimit(ifm_nvml_device device, unsigned *milliwatts);
int nvmlDeviceGetEnforcedPowerLimit(ifm_nvml_device device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = (unsigned)fake_number_of("cap", fake_number_of("limit", 700)) * 1000;
    return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(ifm_nvml_device device, unsigned long long *millijoules);
int nvmlDeviceGetTotalEnergyConsumption(ifm_nvml_device device, unsigned long long *millijoules)
{
    int result = (int)fake_number_of("energy_rc", 0);
    if (result != 0)
        return result;
    sleep_ms(fake_number_of("call_ms", 0));
    block();
    if (is_lost(device))
        return IFM_NVML_GPU_IS_LOST;
    size_t call = state.energy_calls++;
    unsigned long long hiccups[FAKE_SCRIPT];
    for (size_t i = fake_list_of("hiccup", hiccups); i > 0; i--)
        if (call == hiccups[i - 1] || call == hiccups[i - 1] + 1)
            return 999;
    if (state.n_energy > 0) {
        *millijoules = state.energy[call < state.n_energy ? call : state.n_energy - 1];
        return 0;
    }
    int64_t ms = (wall_us() - state.start_us) / 1000, period = fake_number_of("refresh_ms", 100);
    static struct fake_loads loads;
    if (fake_loads(&loads)) {
        *millijoules =
            (unsigned long long)(1e3 * fake_loads_joules(&loads, wall_us() / (1000 * period) * 1000 * period));
        return 0;
    }
    int64_t freeze = fake_number_of("freeze_ms", INT32_MAX);
    ms = (ms < freeze ? ms : freeze) / period * period;
    *millijoules = 1000000 + (unsigned long long)(ms * fake_number_of("watts", 300));
    return 0;
}

#ifndef FAKE_OLD
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, ifm_nvml_device *out);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, ifm_nvml_device *out)
{
    const char *first = fake_value_of("bus"); /* else that of the fake CUDA driver's GPU */
    if (strncmp(first != NULL ? first : "0000:01:00.0", bus, strlen(bus)) == 0) {
        *out = &gpus[0];
        return fake_number_of("fail", -1) == 0 ? IFM_NVML_GPU_IS_LOST : 0;
    }
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
        if (fake_state_field(device, field))
            continue;
        int64_t tick = (wall_us() - state.start_us) / 1000 / fake_number_of("refresh_ms", 100);
        size_t call = state.field_calls++;
        field->result = (int)fake_number_of(field->scope == IFM_NVML_SCOPE_MEMORY       ? "memory_rc"
                                            : field->id == IFM_NVML_FIELD_POWER_INSTANT ? "instant_rc"
                                                                                        : "average_rc",
                                            0);
        field->type = IFM_NVML_UNSIGNED;
        field->value.u = (unsigned)(fake_watts_at(wall_us()) * 1000 + tick % 7);
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
    unsigned long long gap[FAKE_SCRIPT] = {0, 0};
    int result = (int)fake_number_of("samples_rc", 0);
    if (result != 0 || is_lost(device))
        return result != 0 ? result : IFM_NVML_GPU_IS_LOST;
    (void)kind;
    size_t gaps = fake_list_of("gap", gap);
    unsigned room = *count, n = 0;
    int64_t newest = wall_us() / RING_US * RING_US;
    for (int64_t t = newest - (RING - 1) * RING_US; t <= newest && n < room; t += RING_US) {
        int64_t since_ms = (t - state.start_us) / 1000;
        bool missing = gaps == 2 && since_ms >= (int64_t)gap[0] && since_ms < (int64_t)gap[1];
        if ((unsigned long long)t <= last || missing)
            continue;
        if (samples != NULL)
            samples[n] = (struct ifm_nvml_sample){.stamp_us = (unsigned long long)t,
                                                  .value.u = (unsigned)fake_watts_at(t) * 1000};
        n++;
    }
    *type = IFM_NVML_UNSIGNED;
    *count = n;
    return n == 0 ? IFM_NVML_NOT_FOUND : 0;
}
#endif
