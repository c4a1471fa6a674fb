/* The workloads of this build: one row each. */
#include "workload/workload.h"

#include <string.h>

const struct ifm_workload *const ifm_workloads[] = {&ifm_workload_null, &ifm_workload_stream, &ifm_workload_decode,
                                                    &ifm_workload_command, NULL};

const struct ifm_workload *ifm_workload_find(const char *name)
{
    for (const struct ifm_workload *const *workload = ifm_workloads; *workload != NULL; workload++)
        if (strcmp((*workload)->name, name) == 0)
            return *workload;
    return NULL;
}
