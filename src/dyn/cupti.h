/* CUPTI, opened at run time. Its range profiler: hardware counters of a GPU. Its activity: records of kernels, copies
 * and calls (layouts in dyn/cupti_activity.h). Declared by us.
 *
 * Owns the handle of libcupti.so.13 (of 12 where the driver is older), which stays open as long as the process. It is
 * looked for where IFM_CUPTI says (a file or a folder) and nowhere else when that is set; else where dyn/toolkit.h
 * looks. Its helper libnvperf_host is opened beside it, from the same folder, which is on nobody's search path. Names
 * and layouts are those of "CUPTI" in the documentation of the CUDA toolkit 13.0; tests/tidy/cupti_api.c holds them
 * against its headers where these are. Each struct begins with its size, so that a newer library reads no member that
 * is not here. Thread rule: the driving thread. */
#ifndef IFM_DYN_CUPTI_H
#define IFM_DYN_CUPTI_H

#include "dyn/cuda.h"
#include <stddef.h>
#include <stdint.h>

/* C(name, value): CUPTI_SUCCESS, and CUPTI_ERROR_<name> of what has a remedy of its own. */
#define IFM_CUPTI_ERRORS(C)                                                                                            \
    C(INVALID_METRIC_NAME, 17)                                                                                         \
    C(HARDWARE_BUSY, 26)                                                                                               \
    C(NOT_SUPPORTED, 27)                                                                                               \
    C(VIRTUALIZED_DEVICE_NOT_SUPPORTED, 33)                                                                            \
    C(INSUFFICIENT_PRIVILEGES, 35)                                                                                     \
    C(MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39)                                                                          \
    C(VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, 40)                                                                  \
    C(CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, 41)                                                                        \
    C(MIG_DEVICE_NOT_SUPPORTED, 43)                                                                                    \
    C(WSL_DEVICE_NOT_SUPPORTED, 45)                                                                                    \
    C(INVALID_CHIP_NAME, 46)
#define IFM_CUPTI_ERROR(name, value) IFM_CUPTI_##name = value,
enum { IFM_CUPTI_SUCCESS = 0, IFM_CUPTI_ERRORS(IFM_CUPTI_ERROR) };
#undef IFM_CUPTI_ERROR

enum {
    IFM_CUPTI_TYPE_RANGE_PROFILER = 0, /* CUPTI_PROFILER_TYPE_RANGE_PROFILER */
    IFM_CUPTI_API_RANGE_PROFILING = 0, /* CUPTI_PROFILER_RANGE_PROFILING */
    IFM_CUPTI_USER_RANGE = 2,          /* CUPTI_UserRange */
    IFM_CUPTI_USER_REPLAY = 3,         /* CUPTI_UserReplay */
    IFM_CUPTI_UNSUPPORTED = 1,         /* CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED */
    IFM_CUPTI_DISABLED = 2,            /* CUPTI_PROFILER_CONFIGURATION_DISABLED */
    IFM_CUPTI_SUPPORTED = 3,           /* CUPTI_PROFILER_CONFIGURATION_SUPPORTED */
};

typedef struct ifm_cupti_host_object *ifm_cupti_host;   /* CUpti_Profiler_Host_Object * */
typedef struct ifm_cupti_range_object *ifm_cupti_range; /* CUpti_RangeProfiler_Object * */

/* Of every struct. Its size is up to the end of its last member. */
#define IFM_CUPTI_HEAD                                                                                                 \
    size_t size;                                                                                                       \
    void *reserved
#define IFM_CUPTI_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

struct ifm_cupti_initialize {
    IFM_CUPTI_HEAD;
};
struct ifm_cupti_supported {
    IFM_CUPTI_HEAD;
    CUdevice device;
    unsigned all, architecture, sli, virtual_gpu, confidential, mining, wsl;
    unsigned api;
};
struct ifm_cupti_chip {
    IFM_CUPTI_HEAD;
    size_t device;
    const char *name;
};
struct ifm_cupti_availability {
    IFM_CUPTI_HEAD;
    CUcontext context;
    size_t bytes;
    uint8_t *image;
};
struct ifm_cupti_host_open {
    IFM_CUPTI_HEAD;
    unsigned type;
    const char *chip;
    const uint8_t *availability;
    ifm_cupti_host host;
};
struct ifm_cupti_host_close {
    IFM_CUPTI_HEAD;
    ifm_cupti_host host;
};
struct ifm_cupti_add_metrics {
    IFM_CUPTI_HEAD;
    ifm_cupti_host host;
    const char **names;
    size_t n;
};
struct ifm_cupti_config_size {
    IFM_CUPTI_HEAD;
    ifm_cupti_host host;
    size_t bytes;
};
struct ifm_cupti_config_image {
    IFM_CUPTI_HEAD;
    ifm_cupti_host host;
    size_t bytes;
    uint8_t *image;
};
struct ifm_cupti_passes {
    IFM_CUPTI_HEAD;
    size_t bytes;
    uint8_t *image;
    size_t n;
};
struct ifm_cupti_evaluate {
    IFM_CUPTI_HEAD;
    ifm_cupti_host host;
    const uint8_t *data;
    size_t bytes, range;
    const char **names;
    size_t n;
    double *values;
};
struct ifm_cupti_enable {
    IFM_CUPTI_HEAD;
    CUcontext context;
    ifm_cupti_range range;
};
struct ifm_cupti_object { /* Start, PopRange, Disable */
    IFM_CUPTI_HEAD;
    ifm_cupti_range range;
};
struct ifm_cupti_data_size {
    IFM_CUPTI_HEAD;
    ifm_cupti_range range;
    const char **names;
    size_t n, most_ranges;
    uint32_t most_nodes;
    size_t bytes;
};
struct ifm_cupti_data_image {
    IFM_CUPTI_HEAD;
    ifm_cupti_range range;
    size_t bytes;
    uint8_t *image;
};
struct ifm_cupti_config {
    IFM_CUPTI_HEAD;
    ifm_cupti_range range;
    size_t config_bytes;
    const uint8_t *config;
    size_t data_bytes;
    uint8_t *data;
    unsigned ranges, replay;
    size_t most_ranges;
    uint16_t levels, least_level;
    size_t pass;
    uint16_t target_level;
};
struct ifm_cupti_stop {
    IFM_CUPTI_HEAD;
    ifm_cupti_range range;
    size_t pass, target_level;
    uint8_t all_submitted;
};
struct ifm_cupti_push {
    IFM_CUPTI_HEAD;
    ifm_cupti_range range;
    const char *name;
};
struct ifm_cupti_decode {
    IFM_CUPTI_HEAD;
    ifm_cupti_range range;
    size_t dropped;
};
struct ifm_cupti_info {
    IFM_CUPTI_HEAD;
    const uint8_t *data;
    size_t bytes, ranges;
};

/* F(name, struct, last member): each takes a pointer to the struct, and returns a CUptiResult. */
#define IFM_CUPTI_FUNCTIONS(F)                                                                                         \
    F(cuptiProfilerInitialize, initialize, reserved)                                                                   \
    F(cuptiProfilerDeviceSupported, supported, api)                                                                    \
    F(cuptiDeviceGetChipName, chip, name)                                                                              \
    F(cuptiProfilerGetCounterAvailability, availability, image)                                                        \
    F(cuptiProfilerHostInitialize, host_open, host)                                                                    \
    F(cuptiProfilerHostDeinitialize, host_close, host)                                                                 \
    F(cuptiProfilerHostConfigAddMetrics, add_metrics, n)                                                               \
    F(cuptiProfilerHostGetConfigImageSize, config_size, bytes)                                                         \
    F(cuptiProfilerHostGetConfigImage, config_image, image)                                                            \
    F(cuptiProfilerHostGetNumOfPasses, passes, n)                                                                      \
    F(cuptiProfilerHostEvaluateToGpuValues, evaluate, values)                                                          \
    F(cuptiRangeProfilerEnable, enable, range)                                                                         \
    F(cuptiRangeProfilerDisable, object, range)                                                                        \
    F(cuptiRangeProfilerGetCounterDataSize, data_size, bytes)                                                          \
    F(cuptiRangeProfilerCounterDataImageInitialize, data_image, image)                                                 \
    F(cuptiRangeProfilerSetConfig, config, target_level)                                                               \
    F(cuptiRangeProfilerStart, object, range)                                                                          \
    F(cuptiRangeProfilerStop, stop, all_submitted)                                                                     \
    F(cuptiRangeProfilerPushRange, push, name)                                                                         \
    F(cuptiRangeProfilerPopRange, object, range)                                                                       \
    F(cuptiRangeProfilerDecodeData, decode, dropped)                                                                   \
    F(cuptiRangeProfilerGetCounterDataInfo, info, ranges)

/* A(name, parameters): the activity functions, each returns a CUptiResult. A record is one of cupti_activity.h. */
typedef void ifm_cupti_request_fn(uint8_t **buffer, size_t *bytes, size_t *most_records);
typedef void ifm_cupti_complete_fn(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);
#define IFM_CUPTI_ACTIVITY_FUNCTIONS(A)                                                                                \
    A(cuptiActivityRegisterCallbacks, (ifm_cupti_request_fn * request, ifm_cupti_complete_fn * complete))              \
    A(cuptiActivityEnable, (int kind))                                                                                 \
    A(cuptiActivityFlushAll, (uint32_t flag))                                                                          \
    A(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, void **record))                                     \
    A(cuptiActivityGetNumDroppedRecords, (CUcontext context, uint32_t stream, size_t * dropped))                       \
    A(cuptiGetTimestamp, (uint64_t * ns))                                                                              \
    A(cuptiGetCallbackName, (int domain, uint32_t id, const char **name))

struct ifm_cupti {
#define IFM_CUPTI_MEMBER(name, type, last) int (*p_##name)(struct ifm_cupti_##type *);
    IFM_CUPTI_FUNCTIONS(IFM_CUPTI_MEMBER)
#undef IFM_CUPTI_MEMBER
#define IFM_CUPTI_MEMBER(name, parameters) int(*p_##name) parameters;
    IFM_CUPTI_ACTIVITY_FUNCTIONS(IFM_CUPTI_MEMBER)
#undef IFM_CUPTI_MEMBER
    int (*p_cuptiGetVersion)(uint32_t *version);
    int (*p_cuptiGetResultString)(int result, const char **words);
    uint32_t version; /* 130001 = CUDA 13.0.1; below 100 = CUDA 12 */
    char name[40];    /* "CUPTI 13.0" */
    const char *file; /* as it was opened */
    int driver_version; /* of the driver that it was opened for: 13000 */
};

/* The library for the driver of this process; NULL where there is none that fits, and `*absence` says why. */
const struct ifm_cupti *ifm_cupti_load(int driver_version, struct ifm_cuda_absence *absence);
/* The chip of the first GPU, "GH100"; NULL where the library does not say, and `*absence` says why. Needs no context.
 */
const char *ifm_cupti_chip(const struct ifm_cupti *cupti, struct ifm_cuda_absence *absence);
/* A result in words: what failed, and the remedy for this driver. `reason` of static storage. */
struct ifm_cuda_absence ifm_cupti_why(const struct ifm_cupti *cupti, int result, const char *what);
/* Counters are not permitted: what a driver of this CUDA version (13000; 0 = not known) asks for. */
struct ifm_cuda_absence ifm_cupti_denied(int driver_version);

#endif
