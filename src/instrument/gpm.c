/* Samples of the GPU's monitor, and what lies between two of them. */
#include "instrument/gpm.h"

#include "base/clock.h"
#include <math.h>
#include <stddef.h>

#define SHORTEST_S 1.0     /* the monitor updates ten times a second, and either end may be an update old */
#define MOST_PERCENT 101.0 /* above it the monitor is wrong */

static const char *words_of(const struct ifm_nvml *nvml, int result)
{
    return result == IFM_NVML_LACKS           ? "this driver has no monitor of the GPU's parts (GPM)"
           : result == IFM_NVML_NOT_SUPPORTED ? "this GPU has no monitor of its parts (GPM, since Hopper)"
                                              : ifm_nvml_error(nvml, result);
}

/* What sampling needs of a device that was found. */
static int prepare(struct ifm_gpm *gpm)
{
    struct ifm_nvml_gpm_support support = {.version = IFM_NVML_GPM_VERSION};
    const struct ifm_nvml *nvml = gpm->nvml;
    int result = IFM_NVML_ASK(nvml->nvmlGpmQueryDeviceSupport, gpm->device, &support);
    if (result == IFM_NVML_SUCCESS && support.supported == 0)
        result = IFM_NVML_NOT_SUPPORTED;
    if (result == IFM_NVML_SUCCESS)
        result = IFM_NVML_ASK(nvml->nvmlGpmSampleAlloc, &gpm->from);
    if (result == IFM_NVML_SUCCESS)
        result = IFM_NVML_ASK(nvml->nvmlGpmSampleAlloc, &gpm->to);
    return result;
}

void ifm_gpm_open(struct ifm_gpm *gpm, const struct ifm_nvml *nvml, const char *reason, const char *bus)
{
    *gpm = (struct ifm_gpm){.nvml = nvml, .why = nvml == NULL ? reason : ""};
    if (nvml == NULL)
        return;
    int result = IFM_NVML_ASK(nvml->nvmlDeviceGetHandleByPciBusId_v2, bus, &gpm->device);
    if (result == IFM_NVML_SUCCESS)
        result = prepare(gpm);
    if (result != IFM_NVML_SUCCESS)
        gpm->why = words_of(nvml, result);
}

void ifm_gpm_start(struct ifm_gpm *gpm)
{
    gpm->failed =
        gpm->why[0] != '\0' ? IFM_NVML_SUCCESS : IFM_NVML_ASK(gpm->nvml->nvmlGpmSampleGet, gpm->device, gpm->from);
    gpm->start_ns = ifm_clock_now().ns;
}

void ifm_gpm_begin(struct ifm_gpm *gpm, const struct ifm_nvml *nvml, const char *reason, unsigned gpu)
{
    *gpm = (struct ifm_gpm){.nvml = nvml, .why = nvml == NULL ? reason : ""};
    int result = nvml == NULL ? IFM_NVML_SUCCESS : nvml->nvmlDeviceGetHandleByIndex_v2(gpu, &gpm->device);
    if (nvml != NULL && result == IFM_NVML_SUCCESS)
        result = prepare(gpm);
    if (result != IFM_NVML_SUCCESS)
        gpm->why = words_of(nvml, result);
    ifm_gpm_start(gpm);
}

static double percent_of(const struct ifm_nvml_gpm_metric *metric)
{
    const bool is_one = metric->result == IFM_NVML_SUCCESS && metric->value >= 0 && metric->value <= MOST_PERCENT;
    return is_one ? fmin(metric->value, 100) : NAN; /* two samples of one update give no number */
}

static void read_use(const struct ifm_gpm *gpm, struct ifm_gpm_use *use)
{
    static const unsigned ids[] = {IFM_NVML_GPM_MEMORY, IFM_NVML_GPM_SM, IFM_NVML_GPM_OCCUPANCY, IFM_NVML_GPM_TENSOR};
    double *const values[] = {&use->memory, &use->sm, &use->occupancy, &use->tensor};
    enum { N = sizeof ids / sizeof *ids };
    struct ifm_nvml_gpm_metrics metrics = {.version = IFM_NVML_GPM_VERSION, .n = N, .from = gpm->from, .to = gpm->to};
    for (size_t i = 0; i < N; i++)
        metrics.list[i].id = ids[i];
    int result = IFM_NVML_ASK(gpm->nvml->nvmlGpmSampleGet, gpm->device, gpm->to);
    if (result == IFM_NVML_SUCCESS)
        result = IFM_NVML_ASK(gpm->nvml->nvmlGpmMetricsGet, &metrics);
    if (result != IFM_NVML_SUCCESS) {
        use->why = words_of(gpm->nvml, result);
        return;
    }
    bool any = false;
    for (size_t i = 0; i < N; i++) {
        *values[i] = percent_of(&metrics.list[i]);
        any |= !isnan(*values[i]);
    }
    if (!any)
        use->why = "the GPU's monitor gave no number from 0 to 100 %";
}

struct ifm_gpm_use ifm_gpm_read(const struct ifm_gpm *gpm)
{
    struct ifm_gpm_use use = {1e-9 * (double)(ifm_clock_now().ns - gpm->start_ns), NAN, NAN, NAN, NAN, NULL};
    if (gpm->why[0] != '\0')
        use.why = gpm->why;
    else if (gpm->failed != IFM_NVML_SUCCESS)
        use.why = words_of(gpm->nvml, gpm->failed);
    else if (use.seconds < SHORTEST_S)
        use.why = "it ended within a second, and the GPU's monitor updates ten times a second";
    else
        read_use(gpm, &use);
    return use;
}

void ifm_gpm_close(struct ifm_gpm *gpm)
{
    if (gpm->from != NULL)
        (void)IFM_NVML_ASK(gpm->nvml->nvmlGpmSampleFree, gpm->from);
    if (gpm->to != NULL)
        (void)IFM_NVML_ASK(gpm->nvml->nvmlGpmSampleFree, gpm->to);
    gpm->from = gpm->to = NULL;
}

struct ifm_gpm_use ifm_gpm_end(struct ifm_gpm *gpm)
{
    const struct ifm_gpm_use use = ifm_gpm_read(gpm);
    ifm_gpm_close(gpm);
    return use;
}
