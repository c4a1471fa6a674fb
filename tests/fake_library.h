/* What fake libraries of a GPU share, whose work is a kernel of the fake driver (tests/fake_cuda), launched on the
 * stream that they are given as a library launches its own.
 *
 * Thread rule: one thread. */
#ifndef IFM_TESTS_FAKE_LIBRARY_H
#define IFM_TESTS_FAKE_LIBRARY_H

#include "dyn/cuda.h"
#include "fake_script.h"

#include <dlfcn.h>

struct fake_library {
    CUfunction kernel;
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                       void **, void **);
};

static inline bool fake_library_resolve(ifm_cuda_get_proc_fn *get, const char *name, void *function)
{
    void *address = NULL;
    CUdriverProcAddressQueryResult status;
    const bool found = get(name, &address, 13000, 0, &status) == CUDA_SUCCESS;
    memcpy(function, &address, sizeof address);
    return found;
}

/* By the driver that the process has open; false where it has none. */
static inline bool fake_library_open(const char *kernel, struct fake_library *out)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *symbol;
    ifm_cuda_get_proc_fn *get;
    CUresult (*load)(CUmodule *, const void *), (*find)(CUfunction *, CUmodule, const char *);
    CUmodule module;
    if (driver == NULL)
        return false;
    symbol = dlsym(driver, "cuGetProcAddress_v2");
    memcpy(&get, &symbol, sizeof symbol);
    return fake_library_resolve(get, "cuModuleLoadData", &load) &&
           fake_library_resolve(get, "cuModuleGetFunction", &find) &&
           fake_library_resolve(get, "cuLaunchKernel", &out->launch) &&
           load(&module, "\177ELF of the library") == CUDA_SUCCESS &&
           find(&out->kernel, module, kernel) == CUDA_SUCCESS;
}

static inline bool fake_library_launch(const struct fake_library *library, unsigned blocks, unsigned threads,
                                       CUstream stream, void *arguments)
{
    return library->launch(library->kernel, blocks, 1, 1, threads, 1, 1, 0, stream, &arguments, NULL) == CUDA_SUCCESS;
}

#endif
