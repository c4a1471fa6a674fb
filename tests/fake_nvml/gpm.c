/* The monitor of a GPU's parts: the share of time between two samples.
 *
 * Further words of FAKE_NVML: gpm=40,80,25,10 (memory, multiprocessors, warps, matrix units, in per cent; without it
 * the GPU has no monitor), gpm_rc=4 (result of a sample), gpm_lacks=10 (a metric that is not there), gpm_nan=1 (no
 * number in any). */
#include "fake_nvml/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAKE_OLD
struct ifm_nvml_gpm_sample_opaque {
    bool taken;
};

FAKE(nvmlGpmQueryDeviceSupport, struct ifm_nvml_gpm_support *support)
{
    unsigned long long list[FAKE_SCRIPT];
    (void)device;
    if (support->version != IFM_NVML_GPM_VERSION)
        return IFM_NVML_INVALID_ARGUMENT;
    support->supported = fake_list_of("gpm", list) == 4;
    return IFM_NVML_SUCCESS;
}

int nvmlGpmSampleAlloc(ifm_nvml_gpm_sample *sample);
int nvmlGpmSampleAlloc(ifm_nvml_gpm_sample *sample)
{
    *sample = calloc(1, sizeof **sample);
    return *sample == NULL ? IFM_NVML_INVALID_ARGUMENT : IFM_NVML_SUCCESS;
}

int nvmlGpmSampleFree(ifm_nvml_gpm_sample sample);
int nvmlGpmSampleFree(ifm_nvml_gpm_sample sample)
{
    free(sample);
    return IFM_NVML_SUCCESS;
}

FAKE(nvmlGpmSampleGet, ifm_nvml_gpm_sample sample)
{
    (void)device;
    sample->taken = true;
    return (int)fake_number_of("gpm_rc", 0);
}

int nvmlGpmMetricsGet(struct ifm_nvml_gpm_metrics *metrics);
int nvmlGpmMetricsGet(struct ifm_nvml_gpm_metrics *metrics)
{
    static const unsigned ids[] = {IFM_NVML_GPM_MEMORY, IFM_NVML_GPM_SM, IFM_NVML_GPM_OCCUPANCY, IFM_NVML_GPM_TENSOR};
    unsigned long long list[FAKE_SCRIPT];
    if (sizeof *metrics != 13344 || metrics->version != IFM_NVML_GPM_VERSION || fake_list_of("gpm", list) != 4 ||
        !metrics->from->taken || !metrics->to->taken)
        return IFM_NVML_INVALID_ARGUMENT;
    for (unsigned i = 0; i < metrics->n; i++) {
        struct ifm_nvml_gpm_metric *metric = &metrics->list[i];
        metric->result = (long)metric->id == fake_number_of("gpm_lacks", -1) ? IFM_NVML_NOT_SUPPORTED : 0;
        for (size_t k = 0; k < sizeof ids / sizeof *ids; k++)
            if (ids[k] == metric->id)
                metric->value = fake_number_of("gpm_nan", 0) != 0 ? (double)NAN : (double)list[k];
    }
    return IFM_NVML_SUCCESS;
}
#endif
