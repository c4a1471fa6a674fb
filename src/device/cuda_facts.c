/* What a run records of a GPU: itself, the kernels that its cell launched, and what putting work on it costs. */
#include "device/cuda_private.h"

#include "base/order.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels ---- */

static int attribute_of(const struct ifm_cuda_device *device, const struct ifm_cuda_function *function,
                        CUfunction_attribute which)
{
    int value = 0;
    return device->cuda->p_cuFuncGetAttribute(&value, which, function->handle) == CUDA_SUCCESS ? value : -1;
}

static void set_known(json_t *object, const char *key, int64_t value)
{
    if (value >= 0)
        json_object_set_new(object, key, json_integer(value));
}

/* Active warps of a multiprocessor over the most that it holds. */
static json_t *describe_kernel(const struct ifm_cuda_device *device, const struct ifm_cuda_function *function)
{
    const struct ifm_cuda *cuda = device->cuda;
    json_t *kernel = json_pack("{s:s, s:s, s:i, s:i}", "name", function->name, "compiler", function->compiler,
                               "threads", (int)function->threads, "shared_dynamic_bytes", (int)function->shared);
    int blocks = 0, most_threads = 0;
    set_known(kernel, "registers", attribute_of(device, function, CU_FUNC_ATTRIBUTE_NUM_REGS));
    set_known(kernel, "shared_static_bytes", attribute_of(device, function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    set_known(kernel, "local_bytes", attribute_of(device, function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    if (cuda->p_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function->handle, (int)function->threads,
                                                            function->shared) != CUDA_SUCCESS)
        return kernel;
    json_object_set_new(kernel, "blocks_per_multiprocessor", json_integer(blocks));
    if (cuda->p_cuDeviceGetAttribute(&most_threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
                                     device->handle) == CUDA_SUCCESS &&
        most_threads >= 32)
        json_object_set_new(kernel, "occupancy",
                            json_real((double)blocks * ((function->threads + 31) / 32) / (most_threads / 32)));
    return kernel;
}

static int by_name(const void *a, const void *b)
{
    const json_t *const *x = a, *const *y = b;
    return strcmp(json_string_value(json_object_get(*x, "name")), json_string_value(json_object_get(*y, "name")));
}

/* Of the open cell, by name: in which order they were found says nothing. The stamps of the clock are none of it. */
static json_t *list_kernels(const struct ifm_cuda_device *device)
{
    enum { MOST = 64 };
    json_t *found[MOST], *list = json_array();
    size_t n = 0;
    for (const struct ifm_cuda_function *function = device->functions; function != NULL && n < MOST;
         function = function->next)
        if (function->threads > 0 && function != device->stamps.kernel)
            found[n++] = describe_kernel(device, function);
    qsort(found, n, sizeof *found, by_name);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, found[i]);
    return list;
}

/* ---- what putting work there costs ---- */

enum { LEAST_ROUNDS = 5, MOST_ROUNDS = 25, LAUNCHES = 20, NODES = 100 };
#define LONG_ENOUGH_NS 5000000 /* of each of the three */

struct costing {
    struct ifm_cuda_device *device;
    struct ifm_cuda_launch empty;
    struct ifm_cuda_steps *steps;
};

static void enqueue_empty(void *arg)
{
    const struct costing *costing = arg;
    ifm_cuda_launch(&costing->device->base, &costing->empty);
}

static void one_round(struct costing *costing)
{
    enqueue_empty(costing);
}

static void launch_round(struct costing *costing)
{
    for (int i = 0; i < LAUNCHES; i++)
        enqueue_empty(costing);
}

static void replay_round(struct costing *costing)
{
    ifm_cuda_steps_run(costing->steps, NODES);
}

/* Rounds between two events each; the first is not counted: what is made on first use is made in it. */
static struct ifm_cuda_cost time_rounds(struct costing *costing, void (*round)(struct costing *), int works)
{
    struct ifm_cuda_device *device = costing->device;
    double ns[MOST_ROUNDS];
    unsigned n = 0;
    struct ifm_instant start = ifm_clock_now();
    for (int i = -1; i < MOST_ROUNDS && (i < LEAST_ROUNDS || ifm_clock_since(start).ns < LONG_ENOUGH_NS); i++) {
        float ms = 0;
        ifm_cuda_note(device, device->cuda->p_cuEventRecord(device->events[0], device->stream), "cuEventRecord");
        round(costing);
        ifm_cuda_note(device, device->cuda->p_cuEventRecord(device->events[1], device->stream), "cuEventRecord");
        ifm_cuda_note(device, device->cuda->p_cuStreamSynchronize(device->stream), "empty kernels");
        if (device->failed != CUDA_SUCCESS ||
            device->cuda->p_cuEventElapsedTime(&ms, device->events[0], device->events[1]) != CUDA_SUCCESS)
            return (struct ifm_cuda_cost){0};
        if (i >= 0)
            ns[n++] = (double)ms * 1e6 / works;
    }
    return (struct ifm_cuda_cost){ifm_median(ns, n), n};
}

/* Once for an open device; some 10 ms. Nothing is held yet: events 0 and 1 are free. */
static void measure_costs(struct ifm_cuda_device *device)
{
    struct ifm_error ignored = {0};
    struct costing costing = {.device = device, .empty = {NULL, 1, 1, 0, NULL}};
    device->costs.measured = true;
    if (device->held || device->failed != CUDA_SUCCESS ||
        ifm_cuda_find(&device->base, "null", "ifm_null", &costing.empty.function, &ignored) != IFM_OK)
        return;
    unsigned threads = costing.empty.function->threads; /* the cell's own launch of it, if there was one */
    device->costs.launch = time_rounds(&costing, launch_round, LAUNCHES);
    device->costs.event_pair = time_rounds(&costing, one_round, 1);
    bool no_graphs = device->no_graphs;
    device->no_graphs = false; /* a fact about the GPU, however the steps are launched */
    if (ifm_cuda_steps_create(&device->base, enqueue_empty, &costing, &costing.steps, &ignored) == IFM_OK)
        device->costs.graph_node = time_rounds(&costing, replay_round, NODES);
    ifm_cuda_steps_destroy(costing.steps);
    device->no_graphs = no_graphs;
    costing.empty.function->threads = threads;
}

static void set_cost(json_t *facts, const char *key, const struct ifm_cuda_cost *cost)
{
    if (cost->n > 0)
        json_object_set_new(facts, key, json_pack("{s:f, s:i}", "median", cost->median_ns, "n", (int)cost->n));
}

json_t *ifm_cuda_facts(struct ifm_device *base)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    const struct ifm_gpu *gpu = &device->gpu;
    char capability[32];
    snprintf(capability, sizeof capability, "%u.%u", gpu->major, gpu->minor);
    json_t *facts = json_pack("{s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:i, s:i, s:b, s:I}", "device", "cuda", "gpu",
                              gpu->name, "compute_capability", capability, "cuda_driver_version", gpu->driver_version,
                              "multiprocessors", (int)gpu->multiprocessors, "l2_bytes", (json_int_t)gpu->l2_bytes,
                              "memory_bytes", (json_int_t)gpu->memory_bytes, "clock_khz", (int)gpu->clock_khz,
                              "memory_clock_khz", (int)gpu->memory_clock_khz, "graphs", (int)!device->no_graphs,
                              "buffer_bytes", (json_int_t)ifm_buffer_total(device->buffers));
    json_t *kernels = list_kernels(device);
    if (!device->costs.measured)
        measure_costs(device);
    json_object_set_new(facts, "kernels", kernels);
    set_cost(facts, "launch_ns", &device->costs.launch);
    set_cost(facts, "graph_node_ns", &device->costs.graph_node);
    set_cost(facts, "event_pair_ns", &device->costs.event_pair);
    return facts;
}
