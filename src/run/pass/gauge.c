/* The gauge of a device's power: NVML's samples for a GPU, RAPL for the processors. */
#include "run/pass/converge.h"

#include "host/cpus.h"
#include "instrument/thermal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 512 };

struct gauge_own {
    struct ifm_gauge gauge;
    struct ifm_device *device;
    struct ifm_power *power;
    size_t sensors[IFM_POWER_MOST];
    size_t n;
    struct ifm_power_point last[IFM_POWER_MOST]; /* of counters; t_ns 0 = none yet */
    struct ifm_power_point batch[BATCH];
    struct ifm_thermal thermal;
};

static size_t read_ring(void *context, struct ifm_power_point *points, size_t room)
{
    struct gauge_own *own = context;
    struct ifm_error ignored;
    size_t n;
    return ifm_power_read(own->power, own->sensors[0], points, room, &n, &ignored) == IFM_OK ? n : 0;
}

/* The packages' joules since the last reading over the time between: one reading of all of them together. */
static size_t read_counters(void *context, struct ifm_power_point *points, size_t room)
{
    struct gauge_own *own = context;
    struct ifm_error ignored;
    double watts = 0;
    size_t fresh = 0;
    for (size_t i = 0; i < own->n && room > 0; i++) {
        struct ifm_power_point *last = &own->last[i];
        size_t n;
        if (ifm_power_read(own->power, own->sensors[i], own->batch, BATCH, &n, &ignored) != IFM_OK || n == 0)
            continue;
        const struct ifm_power_point *now = &own->batch[n - 1];
        if (last->t_ns != 0 && now->t_ns > last->t_ns) {
            watts += (now->value - last->value) / ((double)(now->t_ns - last->t_ns) * 1e-9);
            fresh++;
        }
        *last = *now;
    }
    if (fresh < own->n || fresh == 0 || watts <= 0) /* a sum over some packages would look like the sum of all */
        return 0;
    points[0] = (struct ifm_power_point){own->last[0].t_ns, own->last[0].half_ns, watts};
    return 1;
}

static int64_t gpu_temperature(void *context)
{
    const struct gauge_own *own = context;
    return own->device->ops->temperature_mc == NULL ? IFM_ABSENT : own->device->ops->temperature_mc(own->device);
}

static double gpu_mhz(void *context)
{
    const struct gauge_own *own = context;
    struct ifm_device_clock now;
    own->device->ops->clock(own->device, &now);
    return now.cycles == IFM_ABSENT || now.span_ns <= 0 ? NAN : 1e3 * (double)now.cycles / (double)now.span_ns;
}

static int64_t cpu_temperature(void *context)
{
    const struct gauge_own *own = context;
    return ifm_thermal_temperature_mc(&own->thermal);
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The sensors of one source and device kind that are no part of others. */
static size_t choose(struct gauge_own *own, const char *device, const char *source)
{
    const struct ifm_power_list *list = ifm_power_list(own->power);
    own->n = 0;
    for (size_t i = 0; i < list->n_sensors; i++) {
        const struct ifm_power_sensor *sensor = &list->sensors[i];
        if (sensor->part || !starts_with(sensor->device, device) || !starts_with(sensor->source, source))
            continue;
        if (own->n++ == 0)
            own->gauge = (struct ifm_gauge){.device = sensor->device, .source = sensor->source, .context = own};
        own->gauge.limit_w += sensor->limit_w;
        own->sensors[own->n - 1] = i;
    }
    return own->n;
}

static bool find_gpu(struct gauge_own *own)
{
    if (choose(own, "gpu", "nvml_samples") > 0) {
        own->gauge.lag_s = 0;
    } else if (choose(own, "gpu", "nvml_average") > 0) {
        own->gauge.lag_s = 1;
    } else {
        return false;
    }
    own->gauge.watts = read_ring;
    own->gauge.temperature_mc = gpu_temperature;
    own->gauge.mhz = own->device->ops->clock == NULL ? NULL : gpu_mhz;
    return true;
}

static bool find_processors(struct gauge_own *own, const char *root)
{
    struct ifm_cpu_mask cpus;
    if (choose(own, "cpu", "rapl_package") == 0 && choose(own, "cpu", "perf_package") == 0)
        return false;
    own->gauge.watts = read_counters;
    own->gauge.temperature_mc = cpu_temperature;
    if (ifm_cpu_mask_process(&cpus))
        ifm_thermal_open(root, &cpus, &own->thermal);
    return true;
}

/* Why there is none: the first source that could have one says so. */
static void explain(const struct gauge_own *own, bool gpu, char *reason, char *remedy)
{
    const struct ifm_power_list *list = ifm_power_list(own->power);
    snprintf(reason, 200, "no sensor says what the %s draws", gpu ? "GPU" : "processors");
    snprintf(remedy, 200, "look at `inferometer power`");
    for (size_t i = 0; i < list->n_absences; i++)
        if (starts_with(list->absences[i].source, gpu ? "nvml" : "rapl")) {
            snprintf(reason, 200, "%s", list->absences[i].reason);
            snprintf(remedy, 200, "%s", list->absences[i].remedy);
            return;
        }
}

struct ifm_gauge *ifm_gauge_open(struct ifm_device *device, const struct ifm_power_options *where,
                                 char reason[static 200], char remedy[static 200])
{
    bool gpu = strcmp(device->ops->name, "cuda") == 0;
    struct ifm_power_options options = {.root = where->root, .nvml = where->nvml};
    struct ifm_machine machine;
    struct ifm_error error = {0};
    struct gauge_own *own = calloc(1, sizeof *own);
    snprintf(reason, 200, "no memory for the readings of power");
    remedy[0] = '\0';
    if (own == NULL)
        return NULL;
    own->device = device;
    own->thermal.temperature_fd = -1;
    if (gpu && device->ops->describe(1, &machine, &error) == IFM_OK && machine.gpu->bus[0] != '\0')
        options.bus = machine.gpu->bus;
    own->power = ifm_power_open(&options);
    if (gpu ? find_gpu(own) : find_processors(own, where->root))
        return &own->gauge;
    explain(own, gpu, reason, remedy);
    ifm_gauge_close(&own->gauge);
    return NULL;
}

void ifm_gauge_close(struct ifm_gauge *gauge)
{
    struct gauge_own *own = (struct gauge_own *)(void *)gauge; /* its first member */
    if (own == NULL)
        return;
    ifm_power_close(own->power);
    ifm_thermal_close(&own->thermal);
    free(own);
}
