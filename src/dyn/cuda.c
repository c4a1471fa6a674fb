/* The CUDA driver, opened at run time. */
#include "dyn/cuda.h"

#include "dyn/symbol.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define FILE_NAME "libcuda.so.1"
#define REMEDY "install the NVIDIA driver (580 or newer for CUDA 13); in a container, start it with `--gpus all`"

enum { WANTED_VERSION = 13000, OLDEST_DRIVER = 12000 };

/* Each function for the version that this build was written for; `missing` names the first that there is not. */
static bool resolve(ifm_cuda_get_proc_fn *get, struct ifm_cuda *out, const char **missing)
{
    CUdriverProcAddressQueryResult found;
    void *address;
#define IFM_CUDA_RESOLVE(name, parameters)                                                                             \
    address = NULL;                                                                                                    \
    if (get(#name, &address, WANTED_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, &found) != CUDA_SUCCESS ||                   \
        address == NULL) {                                                                                             \
        *missing = #name;                                                                                              \
        return false;                                                                                                  \
    }                                                                                                                  \
    memcpy(&out->p_##name, &address, sizeof address);
    IFM_CUDA_FUNCTIONS(IFM_CUDA_RESOLVE)
#undef IFM_CUDA_RESOLVE
    return true;
}

static bool start(struct ifm_cuda *out, struct ifm_cuda_absence *absence)
{
    static char why[256];
    CUresult result = out->p_cuInit(0);
    if (result != CUDA_SUCCESS) {
        snprintf(why, sizeof why, "the CUDA driver does not start: %s", ifm_cuda_error(out, result));
        *absence = (struct ifm_cuda_absence){why, result == CUDA_ERROR_NO_DEVICE
                                                      ? "make a GPU visible: CUDA_VISIBLE_DEVICES, or the container's "
                                                        "--gpus"
                                                      : "look at `nvidia-smi` and `dmesg`"};
        return false;
    }
    if (out->p_cuDriverGetVersion(&out->driver_version) == CUDA_SUCCESS && out->driver_version < OLDEST_DRIVER) {
        snprintf(why, sizeof why, "the CUDA driver is too old: it supports CUDA %d.%d", out->driver_version / 1000,
                 out->driver_version % 1000 / 10);
        *absence = (struct ifm_cuda_absence){why, REMEDY};
        return false;
    }
    if (out->p_cuDriverGetVersion(&out->driver_version) != CUDA_SUCCESS ||
        out->p_cuDeviceGetCount(&out->devices) != CUDA_SUCCESS || out->devices == 0) {
        *absence = (struct ifm_cuda_absence){"the CUDA driver names no GPU", "make one visible: CUDA_VISIBLE_DEVICES"};
        return false;
    }
    return true;
}

bool ifm_cuda_open(const char *file, struct ifm_cuda *out, struct ifm_cuda_absence *absence)
{
    static char why[256];
    ifm_cuda_get_proc_fn *get;
    const char *missing = "cuGetProcAddress";
    *out = (struct ifm_cuda){0};
    void *library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        snprintf(why, sizeof why, "there is no CUDA driver: %s is not found", file);
        *absence = (struct ifm_cuda_absence){why, REMEDY};
        return false;
    }
    if (!ifm_symbol_find(library, "cuGetProcAddress_v2", &get) || !resolve(get, out, &missing)) {
        snprintf(why, sizeof why, "the CUDA driver is too old: it has no %s", missing);
        *absence = (struct ifm_cuda_absence){why, REMEDY};
        dlclose(library);
        return false;
    }
    return start(out, absence);
}

const struct ifm_cuda *ifm_cuda_load(struct ifm_cuda_absence *absence)
{
    static struct ifm_cuda cuda;
    static struct ifm_cuda_absence kept;
    static bool tried, found;
    if (!tried) {
        found = ifm_cuda_open(FILE_NAME, &cuda, &kept);
        tried = true;
    }
    *absence = found ? (struct ifm_cuda_absence){"", ""} : kept;
    return found ? &cuda : NULL;
}

const char *ifm_cuda_error(const struct ifm_cuda *cuda, CUresult result)
{
    static char words[256];
    const char *name = NULL, *text = NULL;
    if (cuda->p_cuGetErrorName(result, &name) != CUDA_SUCCESS || name == NULL)
        snprintf(words, sizeof words, "CUDA error %d", (int)result);
    else if (cuda->p_cuGetErrorString(result, &text) != CUDA_SUCCESS || text == NULL)
        snprintf(words, sizeof words, "%s", name);
    else
        snprintf(words, sizeof words, "%s: %s", name, text);
    return words;
}

enum ifm_status ifm_cuda_fail(const struct ifm_cuda *cuda, CUresult result, const char *where, const char *what,
                              struct ifm_error *error)
{
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return ifm_fail(error, IFM_MISSING, where, "choose a smaller shape, or end what else holds the GPU's memory",
                        "%s: %s", what, ifm_cuda_error(cuda, result));
    return ifm_fail(error, IFM_INTERNAL, where, NULL, "%s: %s", what, ifm_cuda_error(cuda, result));
}

static unsigned capability(const struct ifm_cuda *cuda, CUdevice device, CUdevice_attribute which)
{
    int value = 0;
    return cuda->p_cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS && value > 0 ? (unsigned)value : 0;
}

bool ifm_cuda_first(struct ifm_cuda_card *out, struct ifm_cuda_absence *absence)
{
    CUdevice device;
    const struct ifm_cuda *cuda = ifm_cuda_load(absence);
    if (cuda == NULL)
        return false;
    *out = (struct ifm_cuda_card){.driver_version = cuda->driver_version, .devices = cuda->devices};
    if (cuda->p_cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuda->p_cuDeviceGetName(out->name, (int)sizeof out->name, device) != CUDA_SUCCESS ||
        cuda->p_cuDeviceTotalMem(&out->memory_bytes, device) != CUDA_SUCCESS) {
        *absence = (struct ifm_cuda_absence){"the CUDA driver does not describe its GPU", "look at `nvidia-smi`"};
        return false;
    }
    out->major = capability(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    out->minor = capability(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    if (cuda->p_cuDeviceGetPCIBusId(out->bus, (int)sizeof out->bus, device) != CUDA_SUCCESS)
        out->bus[0] = '\0';
    return true;
}
