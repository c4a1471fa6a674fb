/* What the implementations of null share: its settings. */
#ifndef IFM_WORKLOAD_NULL_NULL_H
#define IFM_WORKLOAD_NULL_NULL_H

#include "workload/workload.h"

struct ifm_null_settings {
    uint64_t spin;
};

extern const struct ifm_implementation ifm_null_cpu, ifm_null_cuda;

#endif
