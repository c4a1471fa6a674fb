/* Records of CUPTI's activity, as far as they are read. Names and layouts are those of "CUPTI" in the documentation of
 * the CUDA toolkit 13.0, the same in 12; tests/tidy/cupti_activity_api.c holds them against its header. */
#ifndef IFM_DYN_CUPTI_ACTIVITY_H
#define IFM_DYN_CUPTI_ACTIVITY_H

#include <stdint.h>

/* CUPTI_ACTIVITY_KIND_<name> */
#define IFM_CUPTI_KINDS(K)                                                                                             \
    K(MEMCPY, 1)                                                                                                       \
    K(MEMSET, 2)                                                                                                       \
    K(DRIVER, 4)                                                                                                       \
    K(RUNTIME, 5)                                                                                                      \
    K(CONCURRENT_KERNEL, 10)                                                                                           \
    K(MARKER, 12)                                                                                                      \
    K(OVERHEAD, 17)                                                                                                    \
    K(SYNCHRONIZATION, 38)
#define IFM_CUPTI_KIND(name, value) IFM_CUPTI_KIND_##name = value,
enum { IFM_CUPTI_KINDS(IFM_CUPTI_KIND) };
#undef IFM_CUPTI_KIND

enum {
    IFM_CUPTI_DOMAIN_DRIVER = 1,  /* CUPTI_CB_DOMAIN_DRIVER_API */
    IFM_CUPTI_DOMAIN_RUNTIME = 2, /* CUPTI_CB_DOMAIN_RUNTIME_API */
    IFM_CUPTI_MARKER_START = 2,   /* CUPTI_ACTIVITY_FLAG_MARKER_START */
    IFM_CUPTI_MARKER_END = 4,     /* CUPTI_ACTIVITY_FLAG_MARKER_END */
    IFM_CUPTI_FLUSH_FORCED = 1,   /* CUPTI_ACTIVITY_FLAG_FLUSH_FORCED */
};

struct ifm_cupti_kernel { /* CUpti_ActivityKernel10 */
    uint32_t kind, config, partition[2];
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], shared[2];
    uint32_t local[2], correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch[4];
    uint32_t shared_executed;
    uint64_t node;
    uint32_t limit, graph; /* 0 = no graph */
};

struct ifm_cupti_move { /* CUpti_ActivityMemcpy6 and CUpti_ActivityMemset4 */
    uint32_t kind, how;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, of_runtime, pad;
    void *reserved;
    uint64_t node;
    uint32_t graph;
};

struct ifm_cupti_call { /* CUpti_ActivityAPI */
    uint32_t kind, id;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
};

struct ifm_cupti_wait { /* CUpti_ActivitySynchronization2 */
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlation, context, stream;
};

struct ifm_cupti_marker { /* CUpti_ActivityMarker2 */
    uint32_t kind, flags;
    uint64_t timestamp;
    uint32_t id, object_kind, process, thread, rest, pad;
    const char *name, *domain;
};

struct ifm_cupti_overhead { /* CUpti_ActivityOverhead3 */
    uint32_t kind, what, object_kind, object[3];
    uint64_t start, end;
};

#endif
