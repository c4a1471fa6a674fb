/* Identity, limits and state of a GPU: an H200 as it was seen, where the script says nothing. */
#include "fake_nvml/internal.h"

#include <stdio.h>
#include <unistd.h>

#ifndef FAKE_OLD
bool fake_state_field(ifm_nvml_device device, struct ifm_nvml_field *field)
{
    static const unsigned ids[] = {74, 75, 76, 77, 78, 79, 82, 91, 269, 270, 271};
    unsigned long long lacks[FAKE_SCRIPT];
    char key[16];
    bool mine = false;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        mine |= field->id == ids[i];
    if (!mine)
        return false;
    field->result = fake_number_of("no", 0) == -1 ? IFM_NVML_NOT_SUPPORTED : 0;
    for (size_t i = fake_list_of("no", lacks); i > 0; i--)
        if (lacks[i - 1] == field->id)
            field->result = IFM_NVML_NOT_SUPPORTED;
    snprintf(key, sizeof key, "f%u", field->id);
    field->type = field->id == 82 || field->id == 91 ? IFM_NVML_UNSIGNED : IFM_NVML_UNSIGNED_LONG_LONG;
    unsigned long long value = field->result == 0 ? fake_next_of(device, key, 0) : 0;
    if (field->type == IFM_NVML_UNSIGNED)
        field->value.u = (unsigned)value;
    else
        field->value.ull = value;
    return true;
}
#endif

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
    snprintf(text, size, "GPU-5ec4e7ed-0000-1111-2222-3333444%04ld%d", fake_number_of("card", 4555), device->index);
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
    *celsius = (unsigned)fake_next_of(device, "celsius", 34);
    return 0;
}

FAKE(nvmlDeviceGetPowerUsage, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = (unsigned)fake_number_of("watts", 300) * 1000;
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
    *current = (int)fake_number_of("ecc", 1);
    *pending = 1;
    return 0;
}

FAKE(nvmlDeviceGetTotalEccErrors, int kind, int since, unsigned long long *n)
{
    if (since != 0)
        return IFM_NVML_INVALID_ARGUMENT;
    *n = fake_next_of(device, kind == 1 ? "uncorrected" : "corrected", 0);
    return 0;
}

FAKE(nvmlDeviceGetViolationStatus, int policy, struct ifm_nvml_violation *out)
{
    if (policy < 0 || policy > 5)
        return IFM_NVML_INVALID_ARGUMENT;
    *out = (struct ifm_nvml_violation){0, fake_next_of(device, "policy", 0)};
    return 0;
}

FAKE(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long *mask)
{
    *mask = fake_next_of(device, "reasons", 0);
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
    *current = *pending = (unsigned)fake_number_of("mig", 0);
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
    if (fake_number_of("ours", 0) != 0)
        result = put(list, room, n, (unsigned)getpid());
    for (long i = fake_number_of("foreign", 0); i > 0; i--)
        result = put(list, room, n, (unsigned)getppid()); /* it started us: none of ours */
    if (fake_number_of("stranger", 0) != 0)
        result = put(list, room, n, 1u << 30);
    return result;
}
#endif
