/* CUPTI, opened at run time, and what its refusals mean. */
#include "dyn/cupti.h"

#include "dyn/toolkit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool identify(void *functions)
{
    struct ifm_cupti *out = functions;
    if (out->p_cuptiGetVersion(&out->version) != IFM_CUPTI_SUCCESS)
        return false;
    if (out->version >= 10000)
        snprintf(out->name, sizeof out->name, "CUPTI %u.%u", out->version / 10000, out->version / 100 % 100);
    else
        snprintf(out->name, sizeof out->name, "CUPTI 12 (API %u)", out->version);
    return true;
}

#define SYMBOL(name) IFM_TOOLKIT_SYMBOL(struct ifm_cupti, name)
#define SYMBOL_OF(name, type, last) SYMBOL(name)
#define SYMBOL_CALLED(name, parameters) SYMBOL(name)
#define SYMBOLS                                                                                                        \
    (const struct ifm_toolkit_symbol[])                                                                                \
    {                                                                                                                  \
        IFM_CUPTI_FUNCTIONS(SYMBOL_OF)                                                                                 \
        IFM_CUPTI_ACTIVITY_FUNCTIONS(SYMBOL_CALLED) SYMBOL(cuptiGetVersion) SYMBOL(cuptiGetResultString)               \
        {                                                                                                              \
            NULL, 0                                                                                                    \
        }                                                                                                              \
    }
#define LIBRARY(major, wheel)                                                                                          \
    {                                                                                                                  \
        .what = "library CUPTI", .file = "libcupti.so." major, .variable = "IFM_CUPTI",                                \
        .remedy = "pip install nvidia-cuda-cupti (PyTorch brings it), install the CUDA toolkit " major                 \
                  ", or let IFM_CUPTI name libcupti.so." major,                                                        \
        .files = (const char *const[]){"libcupti.so." major, NULL},                                                    \
        .packages = (const char *const[]){wheel, "nvidia/cuda_cupti/lib", NULL}, .symbols = SYMBOLS,                   \
        .identify = identify, .mode = RTLD_NOW | RTLD_GLOBAL                                                           \
    }
/* A library that is newer than the driver refuses to work with it. */
static const struct ifm_toolkit_library newest = LIBRARY("13", "nvidia/cu13/lib"), older = LIBRARY("12", "nvidia/cu12");

/* CUPTI opens it by name at the first call, and finds what is open already. */
static void open_helper(const char *cupti)
{
    char file[IFM_TOOLKIT_FILE + 32];
    const char *slash = strrchr(cupti, '/');
    if (slash == NULL) /* the loader's own path has both */
        return;
    snprintf(file, sizeof file, "%.*s/libnvperf_host.so", (int)(slash - cupti), cupti);
    (void)dlopen(file, RTLD_NOW | RTLD_GLOBAL);
}

const struct ifm_cupti *ifm_cupti_load(int driver_version, struct ifm_cuda_absence *absence)
{
    static struct ifm_cupti cupti;
    static struct ifm_toolkit_state state;
    static char why[160];
    const bool is_new = driver_version >= 13000;
    if (!ifm_toolkit_load(is_new ? &newest : &older, &cupti, &state, absence))
        return NULL;
    const int major = cupti.version >= 10000 ? (int)(cupti.version / 10000) : 12;
    if (major != driver_version / 1000) {
        snprintf(why, sizeof why, "the library is %s, and the driver supports CUDA %d.%d", cupti.name,
                 driver_version / 1000, driver_version % 1000 / 10);
        *absence = (struct ifm_cuda_absence){why, is_new ? newest.remedy : older.remedy};
        return NULL;
    }
    if (cupti.file == NULL)
        open_helper(state.file);
    cupti.file = state.file;
    cupti.driver_version = driver_version;
    return &cupti;
}

const char *ifm_cupti_chip(const struct ifm_cupti *cupti, struct ifm_cuda_absence *absence)
{
    struct ifm_cupti_initialize begin = {.size = IFM_CUPTI_SIZE(struct ifm_cupti_initialize, reserved)};
    struct ifm_cupti_chip chip = {.size = IFM_CUPTI_SIZE(struct ifm_cupti_chip, name)};
    int result = cupti->p_cuptiProfilerInitialize(&begin); /* before it, CUPTI 13.0 reads the name through NULL */
    if (result == IFM_CUPTI_SUCCESS)
        result = cupti->p_cuptiDeviceGetChipName(&chip);
    if (result == IFM_CUPTI_SUCCESS && chip.name != NULL)
        return chip.name;
    *absence = ifm_cupti_why(cupti, result, "asking for the name of the chip");
    return NULL;
}

#define EVERY_USER                                                                                                     \
    "; or let every user read counters: \"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" in /etc/modprobe.d, " \
    "then load the driver anew. In a container: docker run --cap-add=SYS_ADMIN. Of a virtual machine its host decides"
#define PERFMON_SINCE 12070 /* driver 565, which came with CUDA 12.7 */

struct ifm_cuda_absence ifm_cupti_denied(int driver_version)
{
    return (struct ifm_cuda_absence){
        "the driver lets administrators alone read the GPU's counters",
        driver_version >= PERFMON_SINCE ? "run as root, or with CAP_PERFMON" EVERY_USER
        : driver_version > 0            ? "run as root, or with CAP_SYS_ADMIN" EVERY_USER
                             : "run as root, or with CAP_SYS_ADMIN (since driver 565 CAP_PERFMON)" EVERY_USER};
}

struct ifm_cuda_absence ifm_cupti_why(const struct ifm_cupti *cupti, int result, const char *what)
{
    static const struct {
        int result;
        const char *reason, *remedy;
    } rows[] = {
        {IFM_CUPTI_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
         "the host of this virtual machine does not let it read the GPU's counters",
         "ask its operator to enable profiling for the virtual GPU"},
        {IFM_CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "a virtual GPU of this kind has no counters",
         "measure on a GPU that is passed through whole"},
        {IFM_CUPTI_HARDWARE_BUSY, "another program holds the GPU's counters",
         "stop profilers and DCGM's profiling (dcgmi profile --pause), then measure again"},
        {IFM_CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "another profiler is attached to this process",
         "run without ncu, nsys and compute-sanitizer around the command"},
        {IFM_CUPTI_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, "confidential computing is on, which hides the counters",
         "measure on a host without confidential computing"},
        {IFM_CUPTI_MIG_DEVICE_NOT_SUPPORTED, "the GPU is divided (MIG), and this part of it has no counters",
         "nvidia-smi --multi-instance-gpu=0 as root, or measure on another GPU"},
        {IFM_CUPTI_WSL_DEVICE_NOT_SUPPORTED, "WSL gives no counters of the GPU", "measure under Linux itself"},
        {IFM_CUPTI_INVALID_CHIP_NAME, "this CUPTI does not know the GPU's chip", "install a newer CUDA toolkit"},
    };
    static char words[320];
    const char *text = NULL;
    if (result == IFM_CUPTI_INSUFFICIENT_PRIVILEGES)
        return ifm_cupti_denied(cupti == NULL ? 0 : cupti->driver_version);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].result == result)
            return (struct ifm_cuda_absence){rows[i].reason, rows[i].remedy};
    if (cupti->p_cuptiGetResultString(result, &text) != IFM_CUPTI_SUCCESS || text == NULL)
        text = "no words for it";
    snprintf(words, sizeof words, "CUPTI: %s failed with %d (%s)", what, result, text);
    return (struct ifm_cuda_absence){words, "look at `inferometer doctor` and `dmesg`"};
}
