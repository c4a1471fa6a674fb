/* A GPU of host memory for a test: its driver (tests/fake_cuda) with its script and counts, and the device on it. */
#ifndef TESTS_UNIT_FAKE_GPU_H
#define TESTS_UNIT_FAKE_GPU_H

#include "device/cuda.h"
#include "device/cuda_private.h"
#include "dyn/cuda.h"
#include "facts.h"
#include <dlfcn.h>
#include <string.h>

static void (*set_script)(const char *script);
static unsigned long long (*count)(const char *what);

/* Once opened, the driver stays: what we set is what the device sees. */
static inline int find_driver(void **state)
{
    (void)state;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), *symbol;
    if (library == NULL)
        return -1;
    symbol = dlsym(library, "fake_cuda_script");
    memcpy(&set_script, &symbol, sizeof symbol);
    symbol = dlsym(library, "fake_cuda_count");
    memcpy(&count, &symbol, sizeof symbol);
    return set_script == NULL || count == NULL ? -1 : 0;
}

static inline struct ifm_device *open_device(const char *script, bool no_graphs)
{
    struct ifm_device *device = NULL;
    struct ifm_error error = {0};
    set_script(script);
    const struct ifm_device_options options = {.threads = 1, .no_graphs = no_graphs};
    assert_int_equal(ifm_device_cuda.open(&options, &device, &error), IFM_OK);
    return device;
}

static inline void close_device(struct ifm_device *device)
{
    device->ops->close(device);
    assert_int_equal(count("contexts"), 0);
    assert_int_equal(count("memory alive"), 0);
    assert_int_equal(count("modules alive"), 0);
    assert_int_equal(count("streams alive"), 0);
    assert_int_equal(count("events alive"), 0);
    assert_int_equal(count("graphs alive"), 0);
}

static inline struct ifm_cuda_function *kernel(struct ifm_device *device, const char *image, const char *name)
{
    struct ifm_cuda_function *function = NULL;
    struct ifm_error error = {0};
    assert_int_equal(ifm_cuda_find(device, image, name, &function, &error), IFM_OK);
    return function;
}

static inline void *buffer(struct ifm_device *device, const char *name, size_t bytes, bool wanted_fresh)
{
    void *data = NULL;
    bool fresh = !wanted_fresh;
    struct ifm_error error = {0};
    assert_int_equal(device->ops->buffer(device, name, bytes, &data, &fresh, &error), IFM_OK);
    assert_int_equal(fresh, wanted_fresh);
    return data;
}

#endif
