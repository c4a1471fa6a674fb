/* Power of NVIDIA GPUs through NVML: the energy counter, the ring of power samples, and the average, instant and memory
 * readings. Each is found and fails on its own: an older driver lacks some, and a GPU may lack others.
 *
 * Sets nothing and never resets a counter. */
#include "dyn/nvml.h"
#include "base/arena.h"
#include "power/source.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_GPUS = 16,
    RING = 512,           /* samples taken in one drain; an H200 keeps 119 */
    FAILURES_TO_LOSE = 3, /* in a row, of a kind that may pass */
    PERIOD_MS = 100,
    RING_PERIOD_MS = 20
};
#define GAIN_ERROR 0.05 /* of the sensor of one card; cancels in ratios on it alone */
#define UNKNOWN_LIMIT_W 1500.0
#define RING_DEPTH_NS INT64_C(3000000000) /* it holds 2.4 s */
#define FAULT_FACTOR 4.0                  /* times the limit: no card takes that */

struct gauge {
    const struct ifm_nvml *nvml;
    ifm_nvml_device device;
    unsigned field, scope;
    double most_w;
    unsigned failures;
    struct ifm_power_counter counter;
    int64_t previous_ns, given_ns; /* of fields: begin of the last reading, end of the one given last */
    double last_w;
    unsigned long long last_stamp_us; /* of the ring */
    struct ifm_nvml_sample *samples;  /* RING of them; NULL but for the ring */
    int64_t ahead_ns, drained_ns;     /* of the ring's last drain: how far the wall clock was ahead, and when */
    int64_t blind_ns;                 /* until then the ring may hold stamps of a wall clock that was set since */
};

static void close_gauge(void *state)
{
    struct gauge *gauge = state;
    free(gauge->samples);
    free(gauge);
}

/* What a failed call means for the sensor: lost now, lost because it keeps failing, or a reading that is missing. */
static enum ifm_status failed(struct gauge *gauge, int result, struct ifm_error *error)
{
    bool final = result == IFM_NVML_GPU_IS_LOST || result == IFM_NVML_NOT_SUPPORTED || result == IFM_NVML_NO_PERMISSION;
    bool lost = final || ++gauge->failures >= FAILURES_TO_LOSE;
    return ifm_fail(error, lost ? IFM_MISSING : IFM_INVALID, NULL, "look at `nvidia-smi` and `dmesg`", "%s%s",
                    ifm_nvml_error(gauge->nvml, result), lost && !final ? ", three times in a row" : "");
}

static bool number_of(enum ifm_nvml_type type, const union ifm_nvml_value *value, double *out)
{
    long long whole = 0;
    bool known = type == IFM_NVML_DOUBLE || ifm_nvml_whole(type, value, &whole);
    *out = type == IFM_NVML_DOUBLE ? value->d : (double)whole;
    return known;
}

/* A GPU that answers draws power: 0 W means that the driver could not read it. */
static bool plausible(double watts, double most_w)
{
    return watts > 0 && watts <= most_w;
}

static enum ifm_status fail_watts(double watts, double most_w, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INVALID, NULL, "", "%.3f W cannot be: above 0 and up to %.0f W were expected", watts,
                    most_w);
}

static enum ifm_status read_energy(void *state, struct ifm_power_take *out, struct ifm_error *error)
{
    struct gauge *gauge = state;
    unsigned long long millijoules = 0;
    int64_t begin = ifm_clock_now().ns;
    int result = gauge->nvml->nvmlDeviceGetTotalEnergyConsumption(gauge->device, &millijoules);
    int64_t end = ifm_clock_now().ns;
    if (result != IFM_NVML_SUCCESS)
        return failed(gauge, result, error);
    gauge->failures = 0;
    return ifm_power_count(&gauge->counter, millijoules, begin, end, out->points, &out->n, error);
}

static int get_field(const struct gauge *gauge, double *watts)
{
    struct ifm_nvml_field field = {.id = gauge->field, .scope = gauge->scope};
    int result = gauge->nvml->nvmlDeviceGetFieldValues(gauge->device, 1, &field);
    if (result == IFM_NVML_SUCCESS)
        result = field.result;
    if (result == IFM_NVML_SUCCESS && !number_of(field.type, &field.value, watts))
        result = IFM_NVML_NOT_SUPPORTED;
    *watts *= 1e-3;
    return result;
}

/* The driver updates these ten times a second: an equal reading within 1.5 periods is not new. */
static enum ifm_status read_field(void *state, struct ifm_power_take *out, struct ifm_error *error)
{
    struct gauge *gauge = state;
    double watts = 0;
    int64_t refresh = (int64_t)out->sensor->every_ms * 1000000, begin = ifm_clock_now().ns;
    int result = get_field(gauge, &watts);
    int64_t end = ifm_clock_now().ns, previous = gauge->previous_ns;
    if (result != IFM_NVML_SUCCESS)
        return failed(gauge, result, error);
    gauge->failures = 0;
    gauge->previous_ns = begin;
    bool same = previous != 0 && watts == gauge->last_w;
    if (same && end - gauge->given_ns < refresh * 3 / 2)
        return IFM_OK;
    gauge->last_w = watts;
    gauge->given_ns = end;
    if (!plausible(watts, gauge->most_w))
        return fail_watts(watts, gauge->most_w, error);
    out->points[0] = ifm_power_place(watts, same ? 0 : previous, begin, end, refresh);
    out->n = 1;
    return IFM_OK;
}

static int by_stamp(const void *a, const void *b)
{
    const struct ifm_nvml_sample *x = a, *y = b;
    return (x->stamp_us > y->stamp_us) - (x->stamp_us < y->stamp_us);
}

static int drain(struct gauge *gauge, enum ifm_nvml_type *type, unsigned *count)
{
    *count = RING;
    int result = gauge->nvml->nvmlDeviceGetSamples(gauge->device, IFM_NVML_SAMPLES_POWER, gauge->last_stamp_us, type,
                                                   count, gauge->samples);
    if (result == IFM_NVML_NOT_FOUND) { /* nothing newer */
        *count = 0;
        return IFM_NVML_SUCCESS;
    }
    if (result == IFM_NVML_SUCCESS && *count > RING)
        *count = RING;
    if (result == IFM_NVML_SUCCESS)
        qsort(gauge->samples, *count, sizeof *gauge->samples, by_stamp);
    return result;
}

/* Was the wall clock set since the last drain? Its slew and the drift of the two clocks stay below 0.1 %. */
static int64_t clock_step(struct gauge *gauge, const struct ifm_power_wall *wall, int64_t now_ns)
{
    int64_t step = wall->ahead_ns - gauge->ahead_ns,
            most = 2000000 + wall->half_ns + (now_ns - gauge->drained_ns) / 500;
    bool first = gauge->drained_ns == 0;
    gauge->ahead_ns = wall->ahead_ns;
    gauge->drained_ns = now_ns;
    return first || llabs(step) <= most ? 0 : step;
}

/* The stamps are of the wall clock: each drain is placed by a pair of its own, since clocks are slewed. When the clock
 * was set, nobody knows which stamps are of before, until the ring holds none of them any more; what it holds until
 * then is left out. Stamps of before may lie in the future: what is taken next is counted from the clock as it is. */
static bool is_blind(struct gauge *gauge, const struct ifm_power_wall *wall, enum ifm_status *status,
                     struct ifm_error *error)
{
    int64_t now_ns = ifm_clock_now().ns, step_ns = clock_step(gauge, wall, now_ns);
    *status = IFM_OK;
    if (step_ns != 0) {
        gauge->blind_ns = now_ns + RING_DEPTH_NS;
        *status =
            ifm_fail(error, IFM_INVALID, NULL, "let the clock be set before a run, not in it",
                     "the wall clock was set by %.3f s: the times of samples are not known", (double)step_ns * 1e-9);
    }
    if (now_ns >= gauge->blind_ns)
        return false;
    int64_t wall_us = (now_ns + wall->ahead_ns) / 1000;
    gauge->last_stamp_us = wall_us > 0 ? (unsigned long long)wall_us : 0;
    return true;
}

static enum ifm_status read_ring(void *state, struct ifm_power_take *out, struct ifm_error *error)
{
    struct gauge *gauge = state;
    enum ifm_nvml_type type = IFM_NVML_UNSIGNED;
    unsigned count;
    int result = drain(gauge, &type, &count);
    if (result != IFM_NVML_SUCCESS)
        return failed(gauge, result, error);
    gauge->failures = 0;
    struct ifm_power_wall wall = ifm_power_wall();
    enum ifm_status status;
    if (is_blind(gauge, &wall, &status, error))
        return status;
    for (unsigned i = 0; i < count && out->n < out->room; i++) {
        const struct ifm_nvml_sample *sample = &gauge->samples[i];
        double watts = 0;
        if (sample->stamp_us <= gauge->last_stamp_us)
            continue;
        bool known = number_of(type, &sample->value, &watts);
        watts *= 1e-3;
        bool fine = known && plausible(watts, gauge->most_w);
        if (!fine && out->n > 0)
            return IFM_OK; /* what came before it first; it is met again */
        gauge->last_stamp_us = sample->stamp_us;
        if (!fine)
            return fail_watts(watts, gauge->most_w, error);
        out->points[out->n++] =
            (struct ifm_power_point){(int64_t)sample->stamp_us * 1000 - wall.ahead_ns, wall.half_ns + 1000, watts};
    }
    return IFM_OK;
}

static const struct ifm_power_reader energy_reader = {read_energy, close_gauge};
static const struct ifm_power_reader field_reader = {read_field, close_gauge};
static const struct ifm_power_reader ring_reader = {read_ring, close_gauge};

/* ---- finding ---- */

struct gpu {
    const struct ifm_nvml *nvml;
    ifm_nvml_device device;
    unsigned index;
    double limit_w;
};

static const struct quantity {
    const char *source;
    enum ifm_power_kind kind;
    unsigned field, scope;
    unsigned every_ms;
    const struct ifm_power_reader *reader;
} quantities[] = {
    {"nvml_energy", IFM_POWER_COUNTER, 0, 0, PERIOD_MS, &energy_reader},
    {"nvml_samples", IFM_POWER_SAMPLES, 0, 0, RING_PERIOD_MS, &ring_reader},
    {"nvml_average", IFM_POWER_AVERAGE, IFM_NVML_FIELD_POWER_AVERAGE, IFM_NVML_SCOPE_GPU, PERIOD_MS, &field_reader},
    {"nvml_instant", IFM_POWER_INSTANT, IFM_NVML_FIELD_POWER_INSTANT, IFM_NVML_SCOPE_GPU, PERIOD_MS, &field_reader},
    {"nvml_memory", IFM_POWER_AVERAGE, IFM_NVML_FIELD_POWER_AVERAGE, IFM_NVML_SCOPE_MEMORY, PERIOD_MS, &field_reader},
};
enum { QUANTITIES = sizeof quantities / sizeof *quantities };

static bool has_function(const struct ifm_nvml *nvml, const struct quantity *quantity)
{
    return quantity->reader == &energy_reader ? nvml->nvmlDeviceGetTotalEnergyConsumption != NULL
           : quantity->reader == &ring_reader ? nvml->nvmlDeviceGetSamples != NULL
                                              : nvml->nvmlDeviceGetFieldValues != NULL;
}

/* One reading that is discarded: it shows what a GPU lacks before anything is measured. */
static int try_gauge(struct gauge *gauge, const struct quantity *quantity)
{
    unsigned long long millijoules;
    double watts = 0;
    if (quantity->reader == &energy_reader)
        return gauge->nvml->nvmlDeviceGetTotalEnergyConsumption(gauge->device, &millijoules);
    if (quantity->reader == &field_reader)
        return get_field(gauge, &watts);
    enum ifm_nvml_type type;
    unsigned count;
    int result = drain(gauge, &type, &count);
    if (result == IFM_NVML_SUCCESS && count > 0) /* what is older than this moment belongs to no run */
        gauge->last_stamp_us = gauge->samples[count - 1].stamp_us;
    return result;
}

static void lack(struct ifm_power *power, const struct gpu *gpu, const struct quantity *quantity, int result)
{
    const char *remedy = result == IFM_NVML_NO_PERMISSION
                             ? "run as root, or ask who administers this machine to permit it"
                         : result == IFM_NVML_GPU_IS_LOST   ? "look at `dmesg`; the machine must be restarted"
                         : result == IFM_NVML_NOT_SUPPORTED ? "none: use the other sources of this GPU"
                                                            : "look at `nvidia-smi` and `dmesg`";
    ifm_power_lack(power, quantity->source, remedy, "gpu%u: %s", gpu->index, ifm_nvml_error(gpu->nvml, result));
}

static void add_quantity(struct ifm_power *power, const struct gpu *gpu, const struct quantity *quantity)
{
    if (!has_function(gpu->nvml, quantity)) {
        ifm_power_lack(power, quantity->source, "install a newer NVIDIA driver",
                       "gpu%u: the management library of driver %s has no such reading", gpu->index,
                       gpu->nvml->driver[0] == '\0' ? "of unknown version" : gpu->nvml->driver);
        return;
    }
    struct gauge *gauge = ifm_zeros(1, sizeof *gauge);
    if (quantity->reader == &ring_reader)
        gauge->samples = ifm_zeros(RING, sizeof *gauge->samples);
    double limit_w = gpu->limit_w > 0 ? gpu->limit_w : UNKNOWN_LIMIT_W;
    gauge->nvml = gpu->nvml;
    gauge->device = gpu->device;
    gauge->field = quantity->field;
    gauge->scope = quantity->scope;
    gauge->most_w = FAULT_FACTOR * limit_w;
    gauge->counter = (struct ifm_power_counter){
        .unit_j = 1e-3, .most_w = gauge->most_w, .refresh_ns = (int64_t)quantity->every_ms * 1000000, .restless = true};
    int result = try_gauge(gauge, quantity);
    if (result != IFM_NVML_SUCCESS) {
        close_gauge(gauge);
        lack(power, gpu, quantity, result);
        return;
    }
    struct ifm_power_sensor sensor = {.kind = quantity->kind,
                                      .part = quantity->scope == IFM_NVML_SCOPE_MEMORY,
                                      .quantum = 1e-3,
                                      .gain_error = GAIN_ERROR,
                                      .limit_w = gpu->limit_w,
                                      .every_ms = quantity->every_ms};
    snprintf(sensor.device, sizeof sensor.device, "gpu%u", gpu->index);
    snprintf(sensor.source, sizeof sensor.source, "%s", quantity->source);
    ifm_power_add(power, &sensor, quantity->reader, gauge);
}

static void add_gpu(struct ifm_power *power, struct gpu *gpu)
{
    unsigned milliwatts = 0;
    if (gpu->nvml->nvmlDeviceGetEnforcedPowerLimit != NULL &&
        gpu->nvml->nvmlDeviceGetEnforcedPowerLimit(gpu->device, &milliwatts) == IFM_NVML_SUCCESS)
        gpu->limit_w = milliwatts * 1e-3;
    for (size_t i = 0; i < QUANTITIES; i++)
        add_quantity(power, gpu, &quantities[i]);
}

/* The GPU that the caller measures: CUDA and NVML number GPUs differently, and its bus id is the same for both. */
static void add_chosen(struct ifm_power *power, const struct ifm_nvml *nvml, const char *bus)
{
    struct gpu gpu = {.nvml = nvml};
    if (nvml->nvmlDeviceGetHandleByPciBusId_v2 == NULL) {
        ifm_power_lack(power, "nvml", "install a newer NVIDIA driver", "NVML cannot find a GPU by its PCI bus id");
        return;
    }
    int result = nvml->nvmlDeviceGetHandleByPciBusId_v2(bus, &gpu.device);
    if (result != IFM_NVML_SUCCESS)
        /* Its bus id says which card of this machine it is: a journal is published, and does not hold it. */
        ifm_power_lack(power, "nvml", "compare `inferometer doctor` with `nvidia-smi`", "the GPU that is measured: %s",
                       ifm_nvml_error(nvml, result));
    else
        add_gpu(power, &gpu);
}

void ifm_power_find_nvml(const struct ifm_power_options *options, struct ifm_power *power)
{
    static struct ifm_nvml own; /* of a named file: one at a time, since its readers outlive this call */
    static char room[256];
    const char *reason, *remedy;
    const struct ifm_nvml *nvml;
    if (options->no_gpu) {
        ifm_power_lack(power, "nvml", "measure on the GPU: device.kind=cuda",
                       "GPUs are left alone: what is measured here runs on the processors");
        return;
    }
    if (options->nvml == NULL && options->root[0] != '\0') {
        ifm_power_lack(power, "nvml", "none: look on the machine itself", "a recorded machine has no driver to ask");
        return;
    }
    if (options->nvml == NULL)
        nvml = ifm_nvml_load(&reason, &remedy);
    else
        nvml = ifm_nvml_open(options->nvml, &own, room, &reason, &remedy) ? &own : NULL;
    if (nvml == NULL) {
        ifm_power_lack(power, "nvml", remedy, "%s", reason);
        return;
    }
    if (options->bus != NULL) {
        add_chosen(power, nvml, options->bus);
        return;
    }
    unsigned count = 1;
    int result = nvml->nvmlDeviceGetCount_v2 == NULL ? IFM_NVML_SUCCESS : nvml->nvmlDeviceGetCount_v2(&count);
    if (result != IFM_NVML_SUCCESS || count == 0)
        ifm_power_lack(power, "nvml", "make a GPU visible to this container or user", "NVML names no GPU%s%s",
                       result == IFM_NVML_SUCCESS ? "" : ": ",
                       result == IFM_NVML_SUCCESS ? "" : ifm_nvml_error(nvml, result));
    for (unsigned i = 0; result == IFM_NVML_SUCCESS && i < count && i < MOST_GPUS; i++) {
        struct gpu gpu = {.nvml = nvml, .index = i};
        result = nvml->nvmlDeviceGetHandleByIndex_v2(i, &gpu.device);
        if (result == IFM_NVML_SUCCESS)
            add_gpu(power, &gpu);
        else
            ifm_power_lack(power, "nvml", "look at `nvidia-smi` and `dmesg`", "gpu%u: %s", i,
                           ifm_nvml_error(nvml, result));
        result = IFM_NVML_SUCCESS; /* a failure of one GPU is not one of the others */
    }
}
