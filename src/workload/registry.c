/* The workloads of this build, one row each; those that are loaded stand behind them. */
#include "workload/workload.h"

#include <string.h>

const struct ifm_workload *ifm_workloads[IFM_WORKLOADS_MOST + 1] = {
    &ifm_workload_null, &ifm_workload_stream,  &ifm_workload_decode, &ifm_workload_attention,
    &ifm_workload_gemm, &ifm_workload_command, &ifm_workload_session};

const struct ifm_workload *ifm_workload_find(const char *name)
{
    for (const struct ifm_workload *const *workload = ifm_workloads; *workload != NULL; workload++)
        if (strcmp((*workload)->name, name) == 0)
            return *workload;
    return NULL;
}

enum ifm_status ifm_workload_register(const struct ifm_workload *workload, struct ifm_error *error)
{
    size_t n = 0;
    while (ifm_workloads[n] != NULL)
        n++;
    if (ifm_workload_find(workload->name) != NULL)
        return ifm_fail(error, IFM_USAGE, workload->name, "give it another name", "a workload has this name already");
    if (n == IFM_WORKLOADS_MOST)
        return ifm_fail(error, IFM_USAGE, workload->name, "load fewer plugins", "there is room for %d workloads",
                        IFM_WORKLOADS_MOST);
    ifm_workloads[n] = workload;
    return IFM_OK;
}
