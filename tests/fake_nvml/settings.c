/* Settings, kept in FAKE_NVML_STATE: "gpu0 gpu_clock 1500" a line; 0 = as the driver likes. */
#include "fake_nvml/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum setting { PERSISTENCE, POWER_LIMIT, MEMORY_CLOCK, GPU_CLOCK, SETTINGS };
static const char *const setting_names[SETTINGS] = {"persistence", "power_limit", "memory_clock", "gpu_clock"};

static void settings_read(unsigned settings[FAKE_GPUS][SETTINGS])
{
    char name[32];
    int gpu;
    unsigned value;
    const char *path = getenv("FAKE_NVML_STATE");
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    memset(settings, 0, FAKE_GPUS * sizeof settings[0]);
    while (file != NULL && fscanf(file, "gpu%d %31s %u\n", &gpu, name, &value) == 3)
        for (int s = 0; s < SETTINGS; s++)
            if (strcmp(setting_names[s], name) == 0 && gpu >= 0 && gpu < FAKE_GPUS)
                settings[gpu][s] = value;
    if (file != NULL)
        fclose(file);
}

static unsigned setting_of(ifm_nvml_device device, enum setting which)
{
    unsigned settings[FAKE_GPUS][SETTINGS];
    settings_read(settings);
    return settings[device->index][which];
}

static bool names_setting(const char *key, enum setting which)
{
    const char *text = fake_value_of(key);
    size_t length = strlen(setting_names[which]);
    return text != NULL && strncmp(text, setting_names[which], length) == 0 &&
           (text[length] == ' ' || text[length] == '\0');
}

static int change(ifm_nvml_device device, enum setting which, unsigned value)
{
    unsigned settings[FAKE_GPUS][SETTINGS];
    const char *path = getenv("FAKE_NVML_STATE");
    if (path == NULL || (names_setting("deny", which) && fake_number_of("deny_gpu", device->index) == device->index))
        return IFM_NVML_NO_PERMISSION;
    if (names_setting(value == 0 ? "ignore_reset" : "ignore", which))
        return 0;
    settings_read(settings);
    settings[device->index][which] = value;
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return IFM_NVML_NO_PERMISSION;
    for (int gpu = 0; gpu < FAKE_GPUS; gpu++)
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
                            : (unsigned)fake_next_of(device, "sm", (unsigned long long)fake_number_of("mhz", 1980));
    *mhz = locked != 0 ? locked : free_mhz;
    if (which != IFM_NVML_CLOCK_MEMORY)
        *mhz = (unsigned)fake_number_of("idle", fake_number_of("capped", (long)*mhz));
    return 0;
}

#ifndef FAKE_OLD
int nvmlDeviceGetCurrentClocksEventReasons(ifm_nvml_device device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksEventReasons(ifm_nvml_device device, unsigned long long *reasons)
{
    *reasons = fake_value_of("idle") != NULL     ? IFM_NVML_REASON_IDLE
               : fake_value_of("capped") != NULL ? IFM_NVML_REASON_POWER_CAP
                                                 : fake_next_of(device, "reasons", 0);
    return 0;
}
#endif

int nvmlDeviceGetPersistenceMode(ifm_nvml_device device, int *mode);
int nvmlDeviceGetPersistenceMode(ifm_nvml_device device, int *mode)
{
    *mode =
        setting_of(device, PERSISTENCE) != 0 || fake_number_of("persistence", getenv("FAKE_NVML_STATE") == NULL) != 0;
    return 0;
}

int nvmlDeviceGetPowerManagementLimit(ifm_nvml_device device, unsigned *milliwatts);
int nvmlDeviceGetPowerManagementLimit(ifm_nvml_device device, unsigned *milliwatts)
{
    unsigned set = setting_of(device, POWER_LIMIT);
    *milliwatts = set != 0 ? set : (unsigned)fake_number_of("limit", 700) * 1000;
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
    unsigned most = (unsigned)fake_number_of("clamp", 0) * 1000;
    return change(device, POWER_LIMIT, most != 0 && milliwatts > most ? most : milliwatts);
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
    *count = fake_value_of("one_memory_clock") != NULL ? 1 : 2;
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
    *mhz = (unsigned)fake_number_of("applications", 0);
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
