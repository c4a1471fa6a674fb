/* Device cuda: one GPU through the driver API. Its clock is the event: marks lie in the stream between the work. */
#include "device/cuda_private.h"

#include "dyn/cublaslt.h"
#include "dyn/cudnn.h"
#include "host/host.h"
#include "kernel/cuda/images.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_FACTOR 4                /* of the second-level cache */
#define STAY_FREE ((uint64_t)1 << 30) /* of the card's memory: what the driver takes for graphs and modules */

static unsigned attribute(const struct ifm_cuda *cuda, CUdevice handle, CUdevice_attribute which)
{
    int value = 0;
    return cuda->p_cuDeviceGetAttribute(&value, which, handle) == CUDA_SUCCESS && value > 0 ? (unsigned)value : 0;
}

static enum ifm_status describe_gpu(const struct ifm_cuda *cuda, CUdevice handle, struct ifm_gpu *out,
                                    struct ifm_error *error)
{
    size_t memory = 0;
    *out = (struct ifm_gpu){.driver_version = cuda->driver_version};
    CUresult result = cuda->p_cuDeviceGetName(out->name, (int)sizeof out->name, handle);
    if (result == CUDA_SUCCESS)
        result = cuda->p_cuDeviceTotalMem(&memory, handle);
    if (result != CUDA_SUCCESS)
        return ifm_cuda_fail(cuda, result, "cuda", "the GPU cannot be described", error);
    out->memory_bytes = memory;
    out->multiprocessors = attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    out->major = attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    out->minor = attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    out->l2_bytes = attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    out->clock_khz = attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    out->memory_clock_khz = attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    out->memory_bus_bits = attribute(cuda, handle, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    if (cuda->p_cuDeviceGetPCIBusId(out->bus, (int)sizeof out->bus, handle) != CUDA_SUCCESS)
        out->bus[0] = '\0';
    return IFM_OK;
}

/* The driver and its first GPU (CUDA_VISIBLE_DEVICES chooses which that is). */
static enum ifm_status find_gpu(const struct ifm_cuda **cuda, CUdevice *handle, struct ifm_error *error)
{
    struct ifm_cuda_absence absence;
    *cuda = ifm_cuda_load(&absence);
    if (*cuda == NULL)
        return ifm_fail(error, IFM_MISSING, "device.kind", absence.remedy, "%s", absence.reason);
    CUresult result = (*cuda)->p_cuDeviceGet(handle, 0);
    return result == CUDA_SUCCESS ? IFM_OK : ifm_cuda_fail(*cuda, result, "device.kind", "there is no GPU", error);
}

/* Free memory is known to a context only. */
static uint64_t free_memory(const struct ifm_cuda *cuda, CUdevice handle)
{
    CUcontext context;
    size_t available = 0, total = 0;
    if (cuda->p_cuDevicePrimaryCtxRetain(&context, handle) != CUDA_SUCCESS)
        return 0;
    if (cuda->p_cuCtxSetCurrent(context) == CUDA_SUCCESS)
        (void)cuda->p_cuMemGetInfo(&available, &total);
    (void)cuda->p_cuDevicePrimaryCtxRelease(handle);
    return available > STAY_FREE ? available - STAY_FREE : 0;
}

/* The library of matrix products; without it all else works. */
static void describe_blas(struct ifm_machine *out)
{
    static char why[1024];
    struct ifm_cuda_absence absence;
    const struct ifm_cublaslt *blas = ifm_cublaslt_load(&absence);
    out->blas = blas != NULL ? blas->name : NULL;
    snprintf(why, sizeof why, "%s (%s)", absence.reason, absence.remedy);
    out->blas_why_not = blas != NULL ? NULL : why;
}

/* The library of attention; without it all else works. */
static void describe_dnn(struct ifm_machine *out)
{
    static char why[1024];
    struct ifm_cuda_absence absence;
    const struct ifm_cudnn *dnn = ifm_cudnn_load(&absence);
    out->dnn = dnn != NULL ? dnn->name : NULL;
    snprintf(why, sizeof why, "%s (%s)", absence.reason, absence.remedy);
    out->dnn_why_not = dnn != NULL ? NULL : why;
}

static enum ifm_status cuda_describe(unsigned threads, struct ifm_machine *out, struct ifm_error *error)
{
    static struct ifm_gpu gpu;
    const struct ifm_cuda *cuda;
    CUdevice handle;
    memset(out, 0, sizeof *out);
    if (threads > 1)
        return ifm_fail(error, IFM_USAGE, "device.threads", "leave device.threads out",
                        "%u threads asked for, but one thread drives the GPU", threads);
    IFM_TRY(find_gpu(&cuda, &handle, error));
    IFM_TRY(ifm_cuda_code_possible(error));
    IFM_TRY(describe_gpu(cuda, handle, &gpu, error));
    out->device = "cuda";
    out->gpu = &gpu;
    out->threads = 1;
    out->cpus_allowed = 1;
    out->memory_available = free_memory(cuda, handle);
    out->cache_reported[1] = gpu.l2_bytes;
    out->llc_instances = 1;
    describe_blas(out);
    describe_dnn(out);
    return IFM_OK;
}

static enum ifm_status create_events(struct ifm_cuda_device *device, struct ifm_error *error)
{
    device->events = calloc(IFM_CUDA_MARKS, sizeof(CUevent));
    if (device->events == NULL)
        return ifm_fail(error, IFM_INTERNAL, "cuda", NULL, "out of memory");
    for (; device->n_events < IFM_CUDA_MARKS; device->n_events++) {
        CUresult result = device->cuda->p_cuEventCreate(&device->events[device->n_events], CU_EVENT_DEFAULT);
        if (result != CUDA_SUCCESS)
            return ifm_cuda_fail(device->cuda, result, device->gpu.name, "an event cannot be created", error);
    }
    return IFM_OK;
}

static enum ifm_status open_context(struct ifm_cuda_device *device, struct ifm_error *error)
{
    IFM_TRY(describe_gpu(device->cuda, device->handle, &device->gpu, error));
    memcpy(device->base.bus, device->gpu.bus, sizeof device->base.bus);
    CUresult result = device->cuda->p_cuDevicePrimaryCtxRetain(&device->context, device->handle);
    if (result == CUDA_SUCCESS)
        result = device->cuda->p_cuCtxSetCurrent(device->context);
    if (result == CUDA_SUCCESS)
        result = device->cuda->p_cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        return ifm_cuda_fail(device->cuda, result, device->gpu.name, "the GPU cannot be opened", error);
    return create_events(device, error);
}

static void cuda_drop_buffers(struct ifm_device *base)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    for (struct ifm_buffer *buffer = device->buffers, *next; buffer != NULL; buffer = next) {
        next = buffer->next;
        (void)device->cuda->p_cuMemFree((CUdeviceptr)(uintptr_t)buffer->data);
        free(buffer);
    }
    device->buffers = NULL;
    device->flush = NULL;
    for (struct ifm_cuda_function *function = device->functions; function != NULL; function = function->next)
        function->threads = 0; /* the next cell has kernels of its own */
}

static void cuda_close(struct ifm_device *base)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    if (device == NULL)
        return;
    if (device->context != NULL) {
        cuda_drop_buffers(base);
        ifm_cuda_clock_close(device);
        for (size_t i = 0; i < device->n_events; i++)
            (void)device->cuda->p_cuEventDestroy(device->events[i]);
        for (size_t i = 0; i < IFM_CUDA_IMAGES; i++) {
            if (device->modules[i] != NULL)
                (void)device->cuda->p_cuModuleUnload(device->modules[i]);
            free(device->code[i].own);
        }
        ifm_cuda_modules_close(device);
        if (device->stream != NULL)
            (void)device->cuda->p_cuStreamDestroy(device->stream);
        (void)device->cuda->p_cuDevicePrimaryCtxRelease(device->handle);
        if (device->failed != CUDA_SUCCESS) /* the error stays with the context, whoever retains it */
            (void)device->cuda->p_cuDevicePrimaryCtxReset(device->handle);
    }
    for (struct ifm_cuda_function *function = device->functions, *next; function != NULL; function = next) {
        next = function->next;
        free(function);
    }
    free(device->events);
    free(device);
}

static enum ifm_status cuda_open(const struct ifm_device_options *options, struct ifm_device **out,
                                 struct ifm_error *error)
{
    struct ifm_cuda_device *device = calloc(1, sizeof *device);
    if (device == NULL)
        return ifm_fail(error, IFM_INTERNAL, "cuda", NULL, "out of memory");
    device->base.ops = &ifm_device_cuda;
    device->no_graphs = options->no_graphs;
    device->kernels = options->kernels;
    enum ifm_status status = find_gpu(&device->cuda, &device->handle, error);
    if (status == IFM_OK)
        status = open_context(device, error);
    if (status != IFM_OK)
        cuda_close(&device->base);
    else
        *out = &device->base;
    return status;
}

/* ---- marks ---- */

static void cuda_hold(struct ifm_device *base, unsigned threads)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    (void)threads;
    ifm_cuda_clock_hold(device);
    ifm_cuda_note(device, device->cuda->p_cuStreamSynchronize(device->stream), "work before a slot");
    device->held = true;
    device->n_marks = 1;
    device->held_at = ifm_clock_now();
    ifm_cuda_note(device, device->cuda->p_cuEventRecord(device->events[0], device->stream), "cuEventRecord");
}

static void cuda_release(struct ifm_device *base)
{
    ifm_cuda_of(base)->held = false;
}

static struct ifm_instant cuda_mark(struct ifm_device *base)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    if (!device->held) {
        ifm_cuda_note(device, device->cuda->p_cuStreamSynchronize(device->stream), "work before a mark");
        return ifm_clock_now();
    }
    size_t ticket = device->n_marks++;
    if (ticket == 1)
        ifm_cuda_clock_begin(device);
    if (ticket < device->n_events)
        ifm_cuda_note(device, device->cuda->p_cuEventRecord(device->events[ticket], device->stream), "cuEventRecord");
    return (struct ifm_instant){(int64_t)ticket};
}

/* Differences of neighbouring events, added up: each is short, so that the float of milliseconds loses nothing. */
static enum ifm_status cuda_resolve(struct ifm_device *base, struct ifm_instant *marks, size_t n,
                                    struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    ifm_cuda_clock_end(device);
    ifm_cuda_note(device, device->cuda->p_cuStreamSynchronize(device->stream), "the work of a slot");
    ifm_cuda_clock_read(device);
    IFM_TRY(ifm_cuda_report(device, error));
    if (device->n_marks != n + 1 || n >= device->n_events)
        return ifm_fail(error, IFM_USAGE, "measure.slot_steps", "take fewer samples in a slot",
                        "%zu marks in a slot, but the device cuda keeps %d", n, IFM_CUDA_MARKS - 1);
    double at_ns = 0;
    int64_t base_ns = device->held_at.ns;
    for (size_t i = 0; i < n; i++) {
        float ms;
        CUresult result = device->cuda->p_cuEventElapsedTime(&ms, device->events[i], device->events[i + 1]);
        if (result != CUDA_SUCCESS)
            return ifm_cuda_fail(device->cuda, result, device->gpu.name, "a mark cannot be read", error);
        at_ns += (double)ms * 1e6;
        marks[i].ns = base_ns + (int64_t)(at_ns + 0.5);
    }
    return IFM_OK;
}

static enum ifm_status cuda_health(struct ifm_device *base, struct ifm_error *error)
{
    return ifm_cuda_report(ifm_cuda_of(base), error);
}

/* ---- memory ---- */

static enum ifm_status allocate(struct ifm_cuda_device *device, const char *name, size_t bytes, struct ifm_buffer **out,
                                struct ifm_error *error)
{
    size_t available = 0, total = 0;
    CUdeviceptr data = 0;
    (void)device->cuda->p_cuMemGetInfo(&available, &total);
    IFM_TRY(ifm_buffer_check(name, bytes, available, error));
    CUresult result = device->cuda->p_cuMemAlloc(&data, bytes + 16);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY)
        ifm_cuda_note(device, result, "cuMemAlloc");
    if (result != CUDA_SUCCESS)
        return ifm_cuda_fail(device->cuda, result, name, "the GPU's memory cannot be had", error);
    struct ifm_buffer *buffer = ifm_buffer_add(&device->buffers, name, bytes);
    if (buffer == NULL) {
        (void)device->cuda->p_cuMemFree(data);
        return ifm_fail(error, IFM_INTERNAL, name, NULL, "out of memory");
    }
    buffer->data = (void *)(uintptr_t)data;
    buffer->mapped = bytes + 16;
    buffer->set = device->base.set;
    ifm_cuda_fill(&device->base, buffer->data, 0, (bytes + 15) / 4);
    *out = buffer;
    return ifm_cuda_wait(&device->base, error);
}

static enum ifm_status cuda_buffer(struct ifm_device *base, const char *name, size_t bytes, void **out, bool *fresh,
                                   struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    struct ifm_buffer *buffer = ifm_buffer_find(device->buffers, base->set, name, bytes);
    *fresh = buffer == NULL;
    if (buffer == NULL)
        IFM_TRY(allocate(device, name, bytes, &buffer, error));
    *out = buffer->data;
    return IFM_OK;
}

/* Other bytes than the workload's take the whole cache. */
static enum ifm_status cuda_flush(struct ifm_device *base, struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    size_t bytes = (size_t)(FLUSH_FACTOR * device->gpu.l2_bytes);
    if (device->flush == NULL)
        IFM_TRY(allocate(device, "eviction", bytes, &device->flush, error));
    ifm_cuda_fill(base, device->flush->data, 1, bytes / 4);
    return device->held ? IFM_OK : ifm_cuda_wait(base, error);
}

const struct ifm_device_ops ifm_device_cuda = {
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .describe = cuda_describe,
    .mark = cuda_mark,
    .resolve = cuda_resolve,
    .health = cuda_health,
    .parallel = ifm_cuda_parallel,
    .hold = cuda_hold,
    .release = cuda_release,
    .flush = cuda_flush,
    .buffer = cuda_buffer,
    .drop_buffers = cuda_drop_buffers,
    .facts = ifm_cuda_facts,
    .clock = ifm_cuda_clock,
    .temperature_mc = ifm_cuda_temperature_mc,
};

const struct ifm_gpu *ifm_cuda_gpu(const struct ifm_device *device)
{
    return &((const struct ifm_cuda_device *)(const void *)device)->gpu;
}
