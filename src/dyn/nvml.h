/* NVML, opened at run time: the driver's management library. Without it everything else works.
 *
 * Own declarations, because a CUDA toolkit may lack nvml.h. Functions that an older driver lacks are NULL; each caller
 * checks. Owns the handle, which stays open as long as the process.
 * Thread rule: NVML's functions may be called from any thread. */
#ifndef IFM_DYN_NVML_H
#define IFM_DYN_NVML_H

#include "base/error.h"
#include <stdbool.h>

typedef struct ifm_nvml_device_opaque *ifm_nvml_device;

/* Return codes of NVML that are handled separately; all others are faults. */
enum ifm_nvml_return {
    IFM_NVML_LACKS = -1, /* ours: this driver has no such function */
    IFM_NVML_SUCCESS = 0,
    IFM_NVML_INVALID_ARGUMENT = 2,
    IFM_NVML_NOT_SUPPORTED = 3,
    IFM_NVML_NO_PERMISSION = 4,
    IFM_NVML_NOT_FOUND = 6,
    IFM_NVML_INSUFFICIENT_SIZE = 7,
    IFM_NVML_GPU_IS_LOST = 15
};

enum ifm_nvml_clock { IFM_NVML_CLOCK_GRAPHICS = 0, IFM_NVML_CLOCK_SM = 1, IFM_NVML_CLOCK_MEMORY = 2 };
/* Bits of nvmlDeviceGetCurrentClocksEventReasons. */
enum {
    IFM_NVML_REASON_IDLE = 0x1,
    IFM_NVML_REASON_POWER_CAP = 0x4,
    IFM_NVML_REASON_HARDWARE = 0x8 | 0x40 | 0x80, /* slow-down, its thermal and its power brake part */
    IFM_NVML_REASON_THERMAL = 0x20
};
enum { IFM_NVML_TEMPERATURE_GPU = 0, IFM_NVML_SAMPLES_POWER = 0 };
/* Field ids and scopes of nvmlDeviceGetFieldValues. */
enum {
    IFM_NVML_FIELD_CAPPED_NS = 74, /* time below the wanted clock because of the power cap */
    IFM_NVML_FIELD_POWER_AVERAGE = 185,
    IFM_NVML_FIELD_POWER_INSTANT = 186,
    /* The other policies that reduce the clock, ns since the driver was loaded. */
    IFM_NVML_FIELD_THERMAL_POLICY_NS = 75,
    IFM_NVML_FIELD_SYNC_BOOST_NS = 76,
    IFM_NVML_FIELD_BOARD_LIMIT_NS = 77,
    IFM_NVML_FIELD_LOW_UTILIZATION_NS = 78,
    IFM_NVML_FIELD_RELIABILITY_NS = 79,
    IFM_NVML_FIELD_MEMORY_TEMPERATURE = 82,
    IFM_NVML_FIELD_NVLINKS = 91,
    IFM_NVML_FIELD_SW_THERMAL_NS = 269,
    IFM_NVML_FIELD_HW_THERMAL_NS = 270,
    IFM_NVML_FIELD_POWER_BRAKE_NS = 271,
    IFM_NVML_SCOPE_GPU = 0,
    IFM_NVML_SCOPE_MEMORY = 2
};

union ifm_nvml_value {
    double d;
    int i;
    unsigned u;
    unsigned long ul;
    unsigned long long ull;
    long long ll;
    unsigned short us;
};
enum ifm_nvml_type {
    IFM_NVML_DOUBLE = 0,
    IFM_NVML_UNSIGNED,
    IFM_NVML_UNSIGNED_LONG,
    IFM_NVML_UNSIGNED_LONG_LONG,
    IFM_NVML_LONG_LONG,
    IFM_NVML_INT,
    IFM_NVML_UNSIGNED_SHORT
};
struct ifm_nvml_field {
    unsigned id, scope;
    long long stamp_us, latency_us;
    enum ifm_nvml_type type;
    int result; /* of this field alone */
    union ifm_nvml_value value;
};
struct ifm_nvml_sample {
    unsigned long long stamp_us; /* of the wall clock */
    union ifm_nvml_value value;
};

struct ifm_nvml_memory {
    unsigned long long total, free, used;
};
struct ifm_nvml_violation {
    unsigned long long reference_us, violation_ns;
};
struct ifm_nvml_process { /* nvmlProcessInfo_t of the functions that end in _v3 */
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};
/* The GPU's own monitor of how busy its parts are (GPM, since Hopper). */
enum {
    IFM_NVML_GPM_SM = 2,
    IFM_NVML_GPM_OCCUPANCY = 3,
    IFM_NVML_GPM_TENSOR = 5,
    IFM_NVML_GPM_MEMORY = 10,
    IFM_NVML_GPM_MOST = 333,
    IFM_NVML_GPM_VERSION = 1
};
typedef struct ifm_nvml_gpm_sample_opaque *ifm_nvml_gpm_sample;
struct ifm_nvml_gpm_support {
    unsigned version, supported;
};
struct ifm_nvml_gpm_metric {
    unsigned id;
    int result; /* of this metric alone */
    double value;
    char *short_name, *long_name, *unit;
};
struct ifm_nvml_gpm_metrics { /* what happened between two samples; the first `n` metrics are asked for by their ids */
    unsigned version, n;
    ifm_nvml_gpm_sample from, to;
    struct ifm_nvml_gpm_metric list[IFM_NVML_GPM_MOST];
};
/* What locks read and set. Only src/lock/nvml.c may name a function that sets or resets; tools/tidy.py enforces
 * it.
 */
#define IFM_NVML_LOCKS(F)                                                                                              \
    F(nvmlDeviceGetPowerManagementLimit, int, (ifm_nvml_device, unsigned *))                                           \
    F(nvmlDeviceGetPowerManagementLimitConstraints, int, (ifm_nvml_device, unsigned *, unsigned *))                    \
    F(nvmlDeviceGetSupportedMemoryClocks, int, (ifm_nvml_device, unsigned *, unsigned *))                              \
    F(nvmlDeviceGetSupportedGraphicsClocks, int, (ifm_nvml_device, unsigned, unsigned *, unsigned *))                  \
    F(nvmlDeviceGetApplicationsClock, int, (ifm_nvml_device, int, unsigned *))                                         \
    F(nvmlDeviceSetPersistenceMode, int, (ifm_nvml_device, int))                                                       \
    F(nvmlDeviceSetPowerManagementLimit, int, (ifm_nvml_device, unsigned))                                             \
    F(nvmlDeviceSetGpuLockedClocks, int, (ifm_nvml_device, unsigned, unsigned))                                        \
    F(nvmlDeviceResetGpuLockedClocks, int, (ifm_nvml_device))                                                          \
    F(nvmlDeviceSetMemoryLockedClocks, int, (ifm_nvml_device, unsigned, unsigned))                                     \
    F(nvmlDeviceResetMemoryLockedClocks, int, (ifm_nvml_device))

#define IFM_NVML_FUNCTIONS(F)                                                                                          \
    F(nvmlInit_v2, int, (void))                                                                                        \
    F(nvmlErrorString, const char *, (int))                                                                            \
    F(nvmlSystemGetDriverVersion, int, (char *, unsigned))                                                             \
    F(nvmlSystemGetNVMLVersion, int, (char *, unsigned))                                                               \
    F(nvmlDeviceGetCount_v2, int, (unsigned *))                                                                        \
    F(nvmlDeviceGetHandleByIndex_v2, int, (unsigned, ifm_nvml_device *))                                               \
    F(nvmlDeviceGetHandleByPciBusId_v2, int, (const char *, ifm_nvml_device *))                                        \
    F(nvmlDeviceGetName, int, (ifm_nvml_device, char *, unsigned))                                                     \
    F(nvmlDeviceGetUUID, int, (ifm_nvml_device, char *, unsigned))                                                     \
    F(nvmlDeviceGetVbiosVersion, int, (ifm_nvml_device, char *, unsigned))                                             \
    F(nvmlDeviceGetTotalEnergyConsumption, int, (ifm_nvml_device, unsigned long long *))                               \
    F(nvmlDeviceGetPowerUsage, int, (ifm_nvml_device, unsigned *))                                                     \
    F(nvmlDeviceGetFieldValues, int, (ifm_nvml_device, int, struct ifm_nvml_field *))                                  \
    F(nvmlDeviceGetSamples, int,                                                                                       \
      (ifm_nvml_device, int, unsigned long long, enum ifm_nvml_type *, unsigned *, struct ifm_nvml_sample *))          \
    F(nvmlDeviceGetClockInfo, int, (ifm_nvml_device, int, unsigned *))                                                 \
    F(nvmlDeviceGetMaxClockInfo, int, (ifm_nvml_device, int, unsigned *))                                              \
    F(nvmlDeviceGetTemperature, int, (ifm_nvml_device, int, unsigned *))                                               \
    F(nvmlDeviceGetEnforcedPowerLimit, int, (ifm_nvml_device, unsigned *))                                             \
    F(nvmlDeviceGetPowerManagementDefaultLimit, int, (ifm_nvml_device, unsigned *))                                    \
    F(nvmlDeviceGetPersistenceMode, int, (ifm_nvml_device, int *))                                                     \
    F(nvmlDeviceGetEccMode, int, (ifm_nvml_device, int *, int *))                                                      \
    F(nvmlDeviceGetMigMode, int, (ifm_nvml_device, unsigned *, unsigned *))                                            \
    F(nvmlDeviceGetCurrentClocksEventReasons, int, (ifm_nvml_device, unsigned long long *))                            \
    F(nvmlDeviceGetCurrentClocksThrottleReasons, int, (ifm_nvml_device, unsigned long long *)) /* its older name */    \
    F(nvmlSystemGetCudaDriverVersion_v2, int, (int *))                                                                 \
    F(nvmlDeviceGetIndex, int, (ifm_nvml_device, unsigned *))                                                          \
    F(nvmlDeviceGetArchitecture, int, (ifm_nvml_device, unsigned *))                                                   \
    F(nvmlDeviceGetCudaComputeCapability, int, (ifm_nvml_device, int *, int *))                                        \
    F(nvmlDeviceGetMaxPcieLinkGeneration, int, (ifm_nvml_device, unsigned *))                                          \
    F(nvmlDeviceGetMaxPcieLinkWidth, int, (ifm_nvml_device, unsigned *))                                               \
    F(nvmlDeviceGetCurrPcieLinkGeneration, int, (ifm_nvml_device, unsigned *))                                         \
    F(nvmlDeviceGetCurrPcieLinkWidth, int, (ifm_nvml_device, unsigned *))                                              \
    F(nvmlDeviceGetMemoryInfo, int, (ifm_nvml_device, struct ifm_nvml_memory *))                                       \
    F(nvmlDeviceGetBAR1MemoryInfo, int, (ifm_nvml_device, struct ifm_nvml_memory *))                                   \
    F(nvmlDeviceGetComputeMode, int, (ifm_nvml_device, int *))                                                         \
    F(nvmlDeviceGetPerformanceState, int, (ifm_nvml_device, int *))                                                    \
    F(nvmlDeviceGetTemperatureThreshold, int, (ifm_nvml_device, int, unsigned *))                                      \
    F(nvmlDeviceGetNvLinkState, int, (ifm_nvml_device, unsigned, int *))                                               \
    F(nvmlDeviceGetTotalEccErrors, int, (ifm_nvml_device, int, int, unsigned long long *))                             \
    F(nvmlDeviceGetRemappedRows, int, (ifm_nvml_device, unsigned *, unsigned *, unsigned *, unsigned *))               \
    F(nvmlDeviceGetRetiredPages, int, (ifm_nvml_device, int, unsigned *, unsigned long long *))                        \
    F(nvmlDeviceGetViolationStatus, int, (ifm_nvml_device, int, struct ifm_nvml_violation *))                          \
    F(nvmlDeviceGetComputeRunningProcesses_v3, int, (ifm_nvml_device, unsigned *, struct ifm_nvml_process *))          \
    F(nvmlDeviceGetGraphicsRunningProcesses_v3, int, (ifm_nvml_device, unsigned *, struct ifm_nvml_process *))         \
    F(nvmlGpmQueryDeviceSupport, int, (ifm_nvml_device, struct ifm_nvml_gpm_support *))                                \
    F(nvmlGpmSampleAlloc, int, (ifm_nvml_gpm_sample *))                                                                \
    F(nvmlGpmSampleFree, int, (ifm_nvml_gpm_sample))                                                                   \
    F(nvmlGpmSampleGet, int, (ifm_nvml_device, ifm_nvml_gpm_sample))                                                   \
    F(nvmlGpmMetricsGet, int, (struct ifm_nvml_gpm_metrics *))                                                         \
    IFM_NVML_LOCKS(F)

struct ifm_nvml {
#define IFM_NVML_MEMBER(name, type, arguments) type(*name) arguments;
    IFM_NVML_FUNCTIONS(IFM_NVML_MEMBER)
#undef IFM_NVML_MEMBER
    char driver[80], version[80];
};

/* The initialised library of this process; NULL where there is none, and reason and remedy say why. */
const struct ifm_nvml *ifm_nvml_load(const char **reason, const char **remedy);
/* The same for the library named `file`, for tests; the result is not kept. `room` holds the texts. */
bool ifm_nvml_open(const char *file, struct ifm_nvml *out, char room[static 256], const char **reason,
                   const char **remedy);
/* The result of a function that an older driver may lack. */
#define IFM_NVML_ASK(function, ...) ((function) == NULL ? IFM_NVML_LACKS : (function)(__VA_ARGS__))
/* The whole number of a field or sample; false for another type. */
bool ifm_nvml_whole(enum ifm_nvml_type type, const union ifm_nvml_value *value, long long *out);
/* "no permission", never NULL. */
const char *ifm_nvml_error(const struct ifm_nvml *nvml, int result);

#endif
