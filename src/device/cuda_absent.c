/* Device cuda in a build without the CUDA toolkit: it says so. */
#include "device/cuda.h"
#include "dyn/cuda.h"

static enum ifm_status refuse(struct ifm_error *error)
{
    struct ifm_cuda_absence absence;
    (void)ifm_cuda_load(&absence);
    return ifm_fail(error, IFM_MISSING, "device.kind", absence.remedy, "%s", absence.reason);
}

static enum ifm_status open_absent(const struct ifm_device_options *options, struct ifm_device **out,
                                   struct ifm_error *error)
{
    (void)options;
    (void)out;
    return refuse(error);
}

static enum ifm_status describe_absent(unsigned threads, struct ifm_machine *out, struct ifm_error *error)
{
    (void)threads;
    (void)out;
    return refuse(error);
}

const struct ifm_device_ops ifm_device_cuda = {.name = "cuda", .open = open_absent, .describe = describe_absent};
