/* NVML, opened at run time. */
#include "dyn/nvml.h"

#include "dyn/symbol.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FILE_NAME "libnvidia-ml.so.1"
#define REMEDY "install the NVIDIA driver; in a container, start it with `--gpus all`"

enum { ROOM = 256 };

static void resolve(void *library, struct ifm_nvml *out)
{
#define IFM_NVML_RESOLVE(name, type, arguments) (void)ifm_symbol_find(library, #name, &out->name);
    IFM_NVML_FUNCTIONS(IFM_NVML_RESOLVE)
#undef IFM_NVML_RESOLVE
}

static const char *missing(const struct ifm_nvml *nvml)
{
    return nvml->nvmlInit_v2 == NULL                     ? "nvmlInit_v2"
           : nvml->nvmlDeviceGetHandleByIndex_v2 == NULL ? "nvmlDeviceGetHandleByIndex_v2"
                                                         : NULL;
}

static void read_versions(struct ifm_nvml *nvml)
{
    if (nvml->nvmlSystemGetDriverVersion == NULL ||
        nvml->nvmlSystemGetDriverVersion(nvml->driver, sizeof nvml->driver) != IFM_NVML_SUCCESS)
        nvml->driver[0] = '\0';
    if (nvml->nvmlSystemGetNVMLVersion == NULL ||
        nvml->nvmlSystemGetNVMLVersion(nvml->version, sizeof nvml->version) != IFM_NVML_SUCCESS)
        nvml->version[0] = '\0';
}

bool ifm_nvml_open(const char *file, struct ifm_nvml *out, char room[static 256], const char **reason,
                   const char **remedy)
{
    *out = (struct ifm_nvml){0};
    *reason = room;
    *remedy = REMEDY;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(room, ROOM, "there is no NVIDIA driver: %s cannot be opened", file);
        return false;
    }
    resolve(library, out);
    const char *name = missing(out);
    int result = name == NULL ? out->nvmlInit_v2() : IFM_NVML_SUCCESS;
    if (name == NULL && result == IFM_NVML_SUCCESS) {
        read_versions(out);
        *reason = *remedy = "";
        return true;
    }
    if (name != NULL)
        snprintf(room, ROOM, "the NVIDIA driver is too old: its management library has no %s", name);
    else
        snprintf(room, ROOM, "NVML does not start: %s", ifm_nvml_error(out, result));
    if (result == IFM_NVML_NO_PERMISSION)
        *remedy = "make /dev/nvidiactl and /dev/nvidia* readable and writable for this user";
    else if (name == NULL)
        *remedy = "look at `nvidia-smi` and `dmesg`; the driver's module and library must have the same version";
    *out = (struct ifm_nvml){0}; /* the library is closed: drop its functions */
    dlclose(library);
    return false;
}

static struct {
    struct ifm_nvml nvml;
    char room[ROOM];
    const char *reason, *remedy;
    bool found;
} loaded;

static void load(void)
{
    loaded.found = ifm_nvml_open(FILE_NAME, &loaded.nvml, loaded.room, &loaded.reason, &loaded.remedy);
}

const struct ifm_nvml *ifm_nvml_load(const char **reason, const char **remedy)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *reason = loaded.reason;
    *remedy = loaded.remedy;
    return loaded.found ? &loaded.nvml : NULL;
}

/* Own words for the errors that users meet. */
const char *ifm_nvml_error(const struct ifm_nvml *nvml, int result)
{
    switch (result) {
    case IFM_NVML_NOT_SUPPORTED:
        return "this GPU does not support it";
    case IFM_NVML_NO_PERMISSION:
        return "no permission";
    case IFM_NVML_GPU_IS_LOST:
        return "the GPU is lost: it fell off the bus";
    default: {
        const char *text = nvml->nvmlErrorString == NULL ? NULL : nvml->nvmlErrorString(result);
        return text == NULL ? "an error that NVML does not name" : text;
    }
    }
}

bool ifm_nvml_whole(enum ifm_nvml_type type, const union ifm_nvml_value *value, long long *out)
{
    switch (type) {
    case IFM_NVML_UNSIGNED:
        *out = value->u;
        return true;
    case IFM_NVML_UNSIGNED_LONG:
        *out = (long long)(value->ul & LLONG_MAX);
        return true;
    case IFM_NVML_UNSIGNED_LONG_LONG:
        *out = (long long)(value->ull & LLONG_MAX);
        return true;
    case IFM_NVML_LONG_LONG:
        *out = value->ll;
        return true;
    case IFM_NVML_INT:
        *out = value->i;
        return true;
    case IFM_NVML_UNSIGNED_SHORT:
        *out = value->us;
        return true;
    case IFM_NVML_DOUBLE:
        break;
    }
    return false;
}
