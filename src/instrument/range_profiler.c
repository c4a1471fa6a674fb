/* The range profiler: the calls in the order in which CUPTI wants them (docs/maintain/counters.md). */
#include "instrument/range_profiler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A struct of the library with its size, as the first argument of every call. */
#define HEAD(type, last) .size = IFM_CUPTI_SIZE(struct ifm_cupti_##type, last)

/* ---- the process ---- */

static bool refuse(struct ifm_range_profiler *profiler, const char *reason, const char *remedy)
{
    snprintf(profiler->why, sizeof profiler->why, "%s", reason);
    snprintf(profiler->remedy, sizeof profiler->remedy, "%s", remedy);
    profiler->cupti = NULL;
    return false;
}

static bool succeeded(struct ifm_range_profiler *profiler, int result, const char *what)
{
    if (result == IFM_CUPTI_SUCCESS)
        return true;
    const struct ifm_cuda_absence absence = ifm_cupti_why(profiler->cupti, result, what);
    return refuse(profiler, absence.reason, absence.remedy);
}

/* What the device itself excludes, by name. */
static bool is_supported(struct ifm_range_profiler *profiler, CUdevice device)
{
    struct ifm_cupti_supported told = {HEAD(supported, api), .device = device, .api = IFM_CUPTI_API_RANGE_PROFILING};
    if (!succeeded(profiler, profiler->cupti->p_cuptiProfilerDeviceSupported(&told), "asking what the GPU supports"))
        return false;
    const struct {
        unsigned level;
        int as;
    } rows[] = {{told.confidential, IFM_CUPTI_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED},
                {told.wsl, IFM_CUPTI_WSL_DEVICE_NOT_SUPPORTED}};
    if (told.all == IFM_CUPTI_SUPPORTED)
        return true;
    if (told.virtual_gpu == IFM_CUPTI_DISABLED)
        return succeeded(profiler, IFM_CUPTI_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, "");
    if (told.virtual_gpu == IFM_CUPTI_UNSUPPORTED)
        return succeeded(profiler, IFM_CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].level == IFM_CUPTI_UNSUPPORTED || rows[i].level == IFM_CUPTI_DISABLED)
            return succeeded(profiler, rows[i].as, "");
    return refuse(profiler, "CUPTI says that this GPU has no counters that can be read",
                  "counters need compute capability 7.5 or newer, and no SLI");
}

static bool find_sets(struct ifm_range_profiler *profiler)
{
    char why[96];
    struct ifm_cuda_absence absence;
    const char *chip = ifm_cupti_chip(profiler->cupti, &absence);
    if (chip == NULL)
        return refuse(profiler, absence.reason, absence.remedy);
    if (ifm_counter_sets_of(chip, &profiler->sets))
        return true;
    snprintf(why, sizeof why, IFM_NO_COUNTER_SETS, chip);
    return refuse(profiler, why, IFM_NO_COUNTER_SETS_REMEDY);
}

/* The first call that needs the permission. */
static bool find_available(struct ifm_range_profiler *profiler, CUcontext context)
{
    struct ifm_cupti_availability told = {HEAD(availability, image), .context = context};
    if (!succeeded(profiler, profiler->cupti->p_cuptiProfilerGetCounterAvailability(&told),
                   "asking which counters there are"))
        return false;
    profiler->availability = calloc(1, told.bytes + 1);
    told.image = profiler->availability;
    return profiler->availability == NULL
               ? refuse(profiler, "out of memory", "")
               : succeeded(profiler, profiler->cupti->p_cuptiProfilerGetCounterAvailability(&told),
                           "asking which counters there are");
}

static bool prepare(struct ifm_range_profiler *profiler)
{
    struct ifm_cuda_absence absence;
    struct ifm_cupti_initialize begin = {HEAD(initialize, reserved)};
    CUcontext context = NULL;
    CUdevice device;
    const struct ifm_cuda *cuda = ifm_cuda_load(&absence);
    if (cuda == NULL)
        return refuse(profiler, absence.reason, absence.remedy);
    if (cuda->p_cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == NULL ||
        cuda->p_cuDeviceGet(&device, 0) != CUDA_SUCCESS)
        return refuse(profiler, "no context of a GPU is open in this thread", "device.kind=cuda");
    profiler->cupti = ifm_cupti_load(cuda->driver_version, &absence);
    if (profiler->cupti == NULL)
        return refuse(profiler, absence.reason, absence.remedy);
    return succeeded(profiler, profiler->cupti->p_cuptiProfilerInitialize(&begin), "starting the profiler") &&
           is_supported(profiler, device) && find_sets(profiler) && find_available(profiler, context);
}

const struct ifm_range_profiler *ifm_range_profiler_get(void)
{
    static struct ifm_range_profiler profiler;
    static bool tried;
    if (!tried)
        (void)prepare(&profiler);
    tried = true;
    return &profiler;
}

/* ---- a set ---- */

static bool worked(const struct ifm_range_profiler *profiler, int result, const char *what, char why[static 320])
{
    if (result == IFM_CUPTI_SUCCESS)
        return true;
    snprintf(why, 320, "%s", ifm_cupti_why(profiler->cupti, result, what).reason);
    return false;
}

static bool make_config(const struct ifm_range_profiler *profiler, struct ifm_range_set *set, const char **names,
                        char why[static 320])
{
    const struct ifm_cupti *cupti = profiler->cupti;
    struct ifm_cupti_host_open open = {HEAD(host_open, host), .type = IFM_CUPTI_TYPE_RANGE_PROFILER,
                                       .chip = profiler->sets.chip, .availability = profiler->availability};
    if (!worked(profiler, cupti->p_cuptiProfilerHostInitialize(&open), "describing the chip", why))
        return false;
    set->host = open.host;
    struct ifm_cupti_add_metrics add = {HEAD(add_metrics, n), .host = set->host, .names = names, .n = set->set->n};
    struct ifm_cupti_config_size size = {HEAD(config_size, bytes), .host = set->host};
    if (!worked(profiler, cupti->p_cuptiProfilerHostConfigAddMetrics(&add), "choosing counters", why) ||
        !worked(profiler, cupti->p_cuptiProfilerHostGetConfigImageSize(&size), "sizing the configuration", why))
        return false;
    set->config_bytes = size.bytes;
    set->config = calloc(1, size.bytes + 1);
    struct ifm_cupti_config_image image = {HEAD(config_image, image), .host = set->host, .bytes = size.bytes,
                                           .image = set->config};
    struct ifm_cupti_passes passes = {HEAD(passes, n), .bytes = size.bytes, .image = set->config};
    if (set->config == NULL ||
        !worked(profiler, cupti->p_cuptiProfilerHostGetConfigImage(&image), "writing the configuration", why) ||
        !worked(profiler, cupti->p_cuptiProfilerHostGetNumOfPasses(&passes), "counting passes", why))
        return false;
    if (passes.n == 1)
        return true;
    snprintf(why, 320, "the counters of the set %s need %zu passes here, and steps are run once", set->set->name,
             passes.n);
    return false;
}

/* Lay out the image of the counters for one range; before each range, as a used one keeps its state. */
static bool lay_out(const struct ifm_range_profiler *profiler, struct ifm_range_set *set, char why[static 320])
{
    const struct ifm_cupti *cupti = profiler->cupti;
    struct ifm_cupti_data_image image = {HEAD(data_image, image), .range = set->range, .bytes = set->data_bytes,
                                         .image = set->data};
    struct ifm_cupti_config config = {HEAD(config, target_level),
                                      .range = set->range,
                                      .config_bytes = set->config_bytes,
                                      .config = set->config,
                                      .data_bytes = set->data_bytes,
                                      .data = set->data,
                                      .ranges = IFM_CUPTI_USER_RANGE,
                                      .replay = IFM_CUPTI_USER_REPLAY,
                                      .most_ranges = 1,
                                      .levels = 1,
                                      .least_level = 1};
    set->used =
        !worked(profiler, cupti->p_cuptiRangeProfilerCounterDataImageInitialize(&image), "laying out counters", why) ||
        !worked(profiler, cupti->p_cuptiRangeProfilerSetConfig(&config), "setting counters", why);
    return !set->used;
}

static bool enable(const struct ifm_range_profiler *profiler, struct ifm_range_set *set, const char **names,
                   char why[static 320])
{
    struct ifm_cuda_absence absence;
    const struct ifm_cuda *cuda = ifm_cuda_load(&absence);
    struct ifm_cupti_enable on = {HEAD(enable, range)};
    if (cuda == NULL || cuda->p_cuCtxGetCurrent(&on.context) != CUDA_SUCCESS ||
        !worked(profiler, profiler->cupti->p_cuptiRangeProfilerEnable(&on), "enabling counters", why))
        return false;
    set->range = on.range;
    struct ifm_cupti_data_size size = {HEAD(data_size, bytes), .range = set->range, .names = names,
                                       .n = set->set->n,       .most_ranges = 1,    .most_nodes = 1};
    if (!worked(profiler, profiler->cupti->p_cuptiRangeProfilerGetCounterDataSize(&size), "sizing counters", why))
        return false;
    set->data_bytes = size.bytes;
    set->data = calloc(1, size.bytes + 1);
    return set->data != NULL && lay_out(profiler, set, why);
}

static size_t names_of(const struct ifm_counter_set *set, const char **names)
{
    for (size_t i = 0; i < set->n; i++)
        names[i] = set->texts[i];
    return set->n;
}

bool ifm_range_set_open(const struct ifm_range_profiler *profiler, const struct ifm_counter_set *set,
                        struct ifm_range_set *out, char why[static 320])
{
    const char *names[IFM_COUNTER_METRICS_MOST];
    char reason[320] = "out of memory";
    *out = (struct ifm_range_set){.set = set};
    (void)names_of(set, names);
    if (make_config(profiler, out, names, reason) && enable(profiler, out, names, reason))
        return true;
    memcpy(why, reason, sizeof reason);
    ifm_range_set_close(profiler, out);
    return false;
}

void ifm_range_set_close(const struct ifm_range_profiler *profiler, struct ifm_range_set *set)
{
    struct ifm_cupti_object off = {HEAD(object, range), .range = set->range};
    struct ifm_cupti_host_close end = {HEAD(host_close, host), .host = set->host};
    if (set->range != NULL)
        (void)profiler->cupti->p_cuptiRangeProfilerDisable(&off);
    if (set->host != NULL)
        (void)profiler->cupti->p_cuptiProfilerHostDeinitialize(&end);
    free(set->config);
    free(set->data);
    *set = (struct ifm_range_set){0};
}

/* ---- a range ---- */

bool ifm_range_begin(const struct ifm_range_profiler *profiler, struct ifm_range_set *set, char why[static 320])
{
    const struct ifm_cupti *cupti = profiler->cupti;
    struct ifm_cupti_object start = {HEAD(object, range), .range = set->range};
    struct ifm_cupti_push push = {HEAD(push, name), .range = set->range, .name = "slot"};
    if (set->used && !lay_out(profiler, set, why))
        return false;
    set->used = true;
    if (!worked(profiler, cupti->p_cuptiRangeProfilerStart(&start), "starting counters", why))
        return false;
    if (worked(profiler, cupti->p_cuptiRangeProfilerPushRange(&push), "beginning a range", why))
        return true;
    struct ifm_cupti_stop stop = {HEAD(stop, all_submitted), .range = set->range};
    (void)cupti->p_cuptiRangeProfilerStop(&stop);
    return false;
}

/* What a range must be, to be believed. */
static bool is_whole(const struct ifm_cupti_stop *stop, const struct ifm_cupti_decode *decode,
                     const struct ifm_cupti_info *info, char why[static 320])
{
    if (decode->dropped > 0)
        snprintf(why, 320, "CUPTI dropped the range");
    else if (!stop->all_submitted)
        snprintf(why, 320, "CUPTI wants another pass over the same steps, and steps are run once");
    else if (info->ranges != 1)
        snprintf(why, 320, "CUPTI has %zu ranges where one was counted", info->ranges);
    else
        return true;
    return false;
}

static bool are_counts(const struct ifm_counter_set *set, const double *values, char why[static 320])
{
    static const double MOST = 9007199254740992.0; /* 2^53: above it a double is no count */
    for (size_t i = 0; i < set->n; i++)
        if (!isfinite(values[i]) || values[i] < 0 || values[i] > MOST) {
            snprintf(why, 320, "CUPTI gave %g for %s, which is no count", values[i], set->texts[i]);
            return false;
        }
    return true;
}

bool ifm_range_end(const struct ifm_range_profiler *profiler, struct ifm_range_set *set, double *values,
                   char why[static 320])
{
    const struct ifm_cupti *cupti = profiler->cupti;
    const char *names[IFM_COUNTER_METRICS_MOST];
    struct ifm_cupti_object pop = {HEAD(object, range), .range = set->range};
    struct ifm_cupti_stop stop = {HEAD(stop, all_submitted), .range = set->range};
    struct ifm_cupti_decode decode = {HEAD(decode, dropped), .range = set->range};
    struct ifm_cupti_info info = {HEAD(info, ranges), .data = set->data, .bytes = set->data_bytes};
    struct ifm_cupti_evaluate evaluate = {HEAD(evaluate, values),   .host = set->host, .data = set->data,
                                          .bytes = set->data_bytes, .names = names,    .n = names_of(set->set, names),
                                          .values = values};
    for (size_t i = 0; i < set->set->n; i++)
        values[i] = NAN; /* what nobody writes is no count */
    const bool popped = worked(profiler, cupti->p_cuptiRangeProfilerPopRange(&pop), "ending a range", why);
    const bool stopped = worked(profiler, cupti->p_cuptiRangeProfilerStop(&stop), "stopping counters", why);
    return popped && stopped &&
           worked(profiler, cupti->p_cuptiRangeProfilerDecodeData(&decode), "decoding counters", why) &&
           worked(profiler, cupti->p_cuptiRangeProfilerGetCounterDataInfo(&info), "finding the range", why) &&
           is_whole(&stop, &decode, &info, why) &&
           worked(profiler, cupti->p_cuptiProfilerHostEvaluateToGpuValues(&evaluate), "evaluating counters", why) &&
           are_counts(set->set, values, why);
}
