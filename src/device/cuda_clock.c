/* The GPU's clock over a slot: cycles of its multiprocessors by stamps (device/stamp.h), and what the driver says.
 *
 * The first stamp lies before the slot's first mark and behind its untimed step, the second behind the last mark: no
 * sample holds one, and only what is timed lies between them. Their memory is outside the buffers of cells. */
#include "device/cuda_private.h"

#include "model/facts.h"
#include <stdio.h>
#include <stdlib.h>

static void find_nvml(struct ifm_cuda_device *device)
{
    const char *reason, *remedy;
    const struct ifm_nvml *nvml = device->gpu.bus[0] == '\0' ? NULL : ifm_nvml_load(&reason, &remedy);
    if (nvml != NULL && nvml->nvmlDeviceGetHandleByPciBusId_v2 != NULL &&
        nvml->nvmlDeviceGetHandleByPciBusId_v2(device->gpu.bus, &device->nvml_device) == IFM_NVML_SUCCESS)
        device->nvml = nvml;
}

/* Once, and never in a slot; without it everything but the clock works. */
static const char *prepare(struct ifm_cuda_device *device)
{
    struct ifm_cuda_stamps *stamps = &device->stamps;
    struct ifm_error error = {0};
    if (ifm_cuda_find(&device->base, "stamp", "ifm_stamp", &stamps->kernel, &error) != IFM_OK) {
        snprintf(stamps->reason, sizeof stamps->reason, "%.*s", (int)sizeof stamps->reason - 1, error.message);
        return stamps->reason;
    }
    stamps->n = device->gpu.multiprocessors;
    stamps->host = calloc(2 * stamps->n + 1, sizeof *stamps->host);
    if (stamps->n == 0 || stamps->host == NULL)
        return "the GPU does not say how many multiprocessors it has";
    if (device->cuda->p_cuMemAlloc(&stamps->memory, 2 * stamps->n * sizeof *stamps->host) != CUDA_SUCCESS) {
        stamps->memory = 0;
        return "the GPU has no memory left for the stamps of its clock";
    }
    return "";
}

void ifm_cuda_clock_hold(struct ifm_cuda_device *device)
{
    struct ifm_cuda_stamps *stamps = &device->stamps;
    if (!stamps->tried) {
        stamps->tried = true;
        find_nvml(device);
        stamps->why = prepare(device);
    }
    stamps->begun = false;
    stamps->cycles = stamps->span_ns = stamps->reported_mhz = IFM_ABSENT;
}

static void stamp(struct ifm_cuda_device *device, size_t at)
{
    struct ifm_cuda_stamps *stamps = &device->stamps;
    struct ifm_stamp_arguments arguments = {(struct ifm_stamp *)(uintptr_t)stamps->memory + at};
    ifm_cuda_launch(&device->base, &(struct ifm_cuda_launch){stamps->kernel, (unsigned)stamps->n, 32, 0, &arguments});
}

void ifm_cuda_clock_begin(struct ifm_cuda_device *device)
{
    if (device->stamps.memory == 0)
        return;
    stamp(device, 0);
    device->stamps.begun = true;
}

void ifm_cuda_clock_end(struct ifm_cuda_device *device)
{
    if (device->stamps.begun)
        stamp(device, device->stamps.n);
}

void ifm_cuda_clock_read(struct ifm_cuda_device *device)
{
    struct ifm_cuda_stamps *stamps = &device->stamps;
    unsigned mhz;
    if (device->nvml != NULL && device->nvml->nvmlDeviceGetClockInfo != NULL &&
        device->nvml->nvmlDeviceGetClockInfo(device->nvml_device, IFM_NVML_CLOCK_SM, &mhz) == IFM_NVML_SUCCESS)
        stamps->reported_mhz = mhz;
    if (!stamps->begun)
        return;
    stamps->begun = false;
    if (device->failed == CUDA_SUCCESS &&
        ifm_cuda_note(device,
                      device->cuda->p_cuMemcpyDtoH(stamps->host, stamps->memory, 2 * stamps->n * sizeof *stamps->host),
                      "the stamps of the clock"))
        stamps->why = ifm_stamp_between(stamps->host, stamps->host + stamps->n, stamps->n, device->gpu.clock_khz,
                                        &stamps->cycles, &stamps->span_ns);
}

void ifm_cuda_clock_close(struct ifm_cuda_device *device)
{
    if (device->stamps.memory != 0)
        (void)device->cuda->p_cuMemFree(device->stamps.memory);
    free(device->stamps.host);
    device->stamps = (struct ifm_cuda_stamps){0};
}

void ifm_cuda_clock(struct ifm_device *base, struct ifm_device_clock *out)
{
    const struct ifm_cuda_stamps *stamps = &ifm_cuda_of(base)->stamps;
    bool seen = stamps->tried && stamps->cycles != IFM_ABSENT;
    *out = (struct ifm_device_clock){IFM_ABSENT, IFM_ABSENT, stamps->tried ? stamps->reported_mhz : IFM_ABSENT,
                                     seen                                      ? ""
                                     : stamps->tried && stamps->why[0] != '\0' ? stamps->why
                                                                               : "no slot was timed"};
    if (seen) {
        out->cycles = stamps->cycles;
        out->span_ns = stamps->span_ns;
    }
}

int64_t ifm_cuda_temperature_mc(struct ifm_device *base)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    unsigned celsius;
    if (device->nvml == NULL || device->nvml->nvmlDeviceGetTemperature == NULL ||
        device->nvml->nvmlDeviceGetTemperature(device->nvml_device, IFM_NVML_TEMPERATURE_GPU, &celsius) !=
            IFM_NVML_SUCCESS)
        return IFM_ABSENT;
    return (int64_t)celsius * 1000;
}
