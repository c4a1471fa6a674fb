/* The CUDA driver, opened at run time, so that the same binary also starts on a machine without one.
 *
 * Owns the handle of libcuda.so.1, which stays open as long as the process. Every function is resolved through
 * cuGetProcAddress for one CUDA version, so that a later driver gives the behaviour that this build was written for
 * (CUDA driver API, "Driver Entry Point Access"). Never opens the toolkit's stubs: the loader's search finds the
 * driver. Thread rule: the driving thread makes the first call; the functions are the driver's own. */
#ifndef IFM_DYN_CUDA_H
#define IFM_DYN_CUDA_H

#include "base/error.h"
#include "dyn/cuda_api.h"
#include <stdbool.h>
#include <stddef.h>

/* Why there is no CUDA, and the remedy; both "" where there is. */
struct ifm_cuda_absence {
    const char *reason, *remedy;
};

struct ifm_cuda {
#define IFM_CUDA_MEMBER(name, parameters) CUresult(*p_##name) parameters;
    IFM_CUDA_FUNCTIONS(IFM_CUDA_MEMBER)
#undef IFM_CUDA_MEMBER
    int driver_version; /* 13000 = CUDA 13.0: the newest that this driver supports */
    int devices;
};

/* "CUDA_ERROR_OUT_OF_MEMORY: out of memory", of static storage. */
const char *ifm_cuda_error(const struct ifm_cuda *cuda, CUresult result);
/* IFM_INTERNAL with the driver's words. `what`: "cuMemAlloc of 4 GiB". */
enum ifm_status ifm_cuda_fail(const struct ifm_cuda *cuda, CUresult result, const char *where, const char *what,
                              struct ifm_error *error);

/* The first GPU, for `inferometer doctor`; `available` memory is unknown without a context. False: see `absence`. */
struct ifm_cuda_card {
    char name[96];
    int driver_version; /* 13000 = CUDA 13.0 */
    unsigned major, minor;
    size_t memory_bytes;
    int devices;
    char bus[32]; /* PCI bus id, by which NVML finds the same GPU; "" when the driver does not say */
};
bool ifm_cuda_first(struct ifm_cuda_card *out, struct ifm_cuda_absence *absence);
/* The initialised driver of this process; NULL where there is none, and `*absence` says why. */
const struct ifm_cuda *ifm_cuda_load(struct ifm_cuda_absence *absence);
/* The same for the library named `file`, for tests; the result is not kept. */
bool ifm_cuda_open(const char *file, struct ifm_cuda *out, struct ifm_cuda_absence *absence);

#endif
