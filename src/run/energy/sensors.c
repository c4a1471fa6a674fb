/* Sensors of the energy pass: opened and calibrated once, read by the sampler, written as they are. */
#include "run/energy/private.h"

#include "base/private.h"
#include "run/interrupt.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double CALIBRATION_S = 3; /* of all sensors together */
enum { PERIODS = 8, LONGEST_MS = 900, SHORTEST_MS = 50 };
/* The ring of samples is drained every 0.4 s. */
static const double ARRIVAL_S = 0.5, LATEST_ARRIVAL_S = 5;
static const double NAP_S = 0.1; /* between two looks for an interruption */

/* What documents and measurements say that a reading is the mean of (docs/maintain/energy.md). */
static const struct {
    const char *source;
    double ms;
} windows[] = {{"nvml_average", 1000}, {"nvml_memory", 1000}, {"nvml_instant", 25}};

/* ---- opening ---- */

static const struct ifm_measure *measure_of(const struct ifm_plan *plan)
{
    for (size_t i = 0; i < plan->n_cells; i++)
        if (plan->cells[i].measure.energy)
            return &plan->cells[i].measure;
    return &plan->cells[0].measure;
}

/* A program may use every GPU that there is. */
static bool runs_programs(const struct ifm_plan *plan)
{
    bool programs = false;
    for (size_t i = 0; i < plan->n_cells; i++)
        programs |= ifm_cell_runs_programs(&plan->cells[i]);
    return programs;
}

static enum ifm_status find_gpu(const struct ifm_device_options *device, struct ifm_power_options *options,
                                struct ifm_error *error)
{
    struct ifm_machine machine;
    IFM_TRY(ifm_device_cuda.describe(device->threads, &machine, error));
    options->bus = machine.gpu->bus; /* lives as long as the process */
    return IFM_OK;
}

/* A meter that was asked for by name and broke after it was checked: nothing else may stand in for it. */
static enum ifm_status check_meter(const struct ifm_power_options *options, struct ifm_energy_sensors *sensors,
                                   struct ifm_error *error)
{
    const struct ifm_power_list *list = ifm_power_list(sensors->power);
    for (size_t i = 0; options->meter != NULL && i < list->n_absences; i++) {
        if (strcmp(list->absences[i].source, "meter") != 0)
            continue;
        struct ifm_power_absence absence = list->absences[i];
        ifm_power_close(sensors->power);
        sensors->power = NULL;
        return ifm_fail(error, IFM_MISSING, "measure.power_meter", absence.remedy, "%s", absence.reason);
    }
    return IFM_OK;
}

enum ifm_status ifm_energy_sensors_open(const struct ifm_plan *plan, const struct ifm_device_options *device,
                                        struct ifm_energy_sensors *out, struct ifm_error *error)
{
    const struct ifm_measure *measure = measure_of(plan);
    struct ifm_power_options options = {.rated_w = measure->rated_w};
    *out = (struct ifm_energy_sensors){.watts_hz = measure->power_sample_hz};
    if (measure->power_meter[0] != '\0') {
        options.meter = ifm_private_text(measure->power_meter);
        if (options.meter == NULL)
            return ifm_fail(error, IFM_USAGE, "measure.power_meter", "put the run's private.json beside its lock file",
                            "the path of the meter's file is not known here, only its hash");
    }
    if (strcmp(plan->device, "cuda") == 0)
        IFM_TRY(find_gpu(device, &options, error));
    else
        options.no_gpu = !runs_programs(plan);
    out->power = ifm_power_open(&options);
    const struct ifm_power_list *list = ifm_power_list(out->power);
    IFM_TRY(check_meter(&options, out, error));
    for (size_t i = 0; i < list->n_sensors; i++) {
        struct ifm_pass_sensor *sensor = &out->list[i];
        sensor->useful = !list->sensors[i].part && list->sensors[i].kind != IFM_POWER_INSTANT;
        sensor->every_s = list->sensors[i].every_ms * 1e-3;
    }
    return IFM_OK;
}

void ifm_energy_sensors_close(struct ifm_energy_sensors *sensors)
{
    ifm_energy_sensors_end(sensors);
    for (size_t i = 0; i < IFM_POWER_MOST; i++)
        json_decref(sensors->list[i].seen);
    ifm_power_close(sensors->power);
    *sensors = (struct ifm_energy_sensors){0};
}

/* ---- calibration ---- */

/* Seconds that show enough of its periods; a meter's are too long to wait for, and its file has told them. */
static double wanted_s(const struct ifm_power_sensor *sensor)
{
    unsigned ms = PERIODS * (sensor->every_ms < LONGEST_MS ? sensor->every_ms : LONGEST_MS);
    if (sensor->kind == IFM_POWER_METER || ms < SHORTEST_MS)
        ms = SHORTEST_MS;
    return (ms > LONGEST_MS ? LONGEST_MS : ms) * 1e-3;
}

static void take_calibration(const struct ifm_energy_sensors *sensors, const struct ifm_power_sensor *which,
                             struct ifm_pass_sensor *sensor)
{
    const json_t *refresh = json_object_get(sensor->seen, "refresh_ms");
    bool watts =
        which->kind == IFM_POWER_AVERAGE || which->kind == IFM_POWER_INSTANT || which->kind == IFM_POWER_ESTIMATE;
    if (json_is_number(refresh))
        sensor->every_s = json_number_value(refresh) * 1e-3;
    if (watts) /* they are read no more often than this */
        sensor->every_s = fmax(sensor->every_s, 1 / sensors->watts_hz);
    bool moved = json_is_number(refresh) || json_is_number(json_object_get(sensor->seen, "mean_w"));
    if (json_object_get(sensor->seen, "lost") != NULL)
        sensor->absent = json_string_value(json_object_get(sensor->seen, "lost"));
    else if (which->kind == IFM_POWER_COUNTER && !moved)
        sensor->absent = "the counter did not move while it was watched: a virtual machine may show one that nothing "
                         "feeds";
    sensor->useful = sensor->useful && sensor->absent == NULL;
}

void ifm_energy_sensors_calibrate(struct ifm_energy_sensors *sensors)
{
    const struct ifm_power_list *list = ifm_power_list(sensors->power);
    double total_s = 0;
    for (size_t i = 0; i < list->n_sensors; i++)
        total_s += wanted_s(&list->sensors[i]);
    double share = total_s > CALIBRATION_S ? CALIBRATION_S / total_s : 1;
    for (size_t i = 0; i < list->n_sensors && !ifm_interrupted(); i++) {
        sensors->list[i].seen = ifm_power_calibrate(sensors->power, i, share * wanted_s(&list->sensors[i]));
        take_calibration(sensors, &list->sensors[i], &sensors->list[i]);
    }
}

bool ifm_energy_sensors_useful(const struct ifm_energy_sensors *sensors)
{
    size_t n = ifm_power_list(sensors->power)->n_sensors;
    for (size_t i = 0; i < n; i++)
        if (sensors->list[i].useful && !sensors->list[i].lost)
            return true;
    return false;
}

/* Counters first, then what measures watts; an estimate only where nothing measures. */
static int rank_of(const struct ifm_power_sensor *sensor)
{
    return sensor->kind == IFM_POWER_COUNTER ? 2 : sensor->kind == IFM_POWER_ESTIMATE ? 0 : 1;
}

const struct ifm_power_sensor *ifm_energy_sensors_slowest(const struct ifm_energy_sensors *sensors, double *every_s)
{
    const struct ifm_power_list *list = ifm_power_list(sensors->power);
    const struct ifm_power_sensor *slowest = NULL;
    *every_s = 0;
    for (size_t i = 0; i < list->n_sensors; i++) {
        const struct ifm_power_sensor *sensor = &list->sensors[i];
        int more = slowest == NULL ? 1 : rank_of(sensor) - rank_of(slowest);
        if (!sensors->list[i].useful || more < 0 || (more == 0 && sensors->list[i].every_s <= *every_s))
            continue;
        slowest = sensor;
        *every_s = sensors->list[i].every_s;
    }
    return slowest;
}

/* ---- facts ---- */

static double if_known(double number)
{
    return isfinite(number) && number > 0 ? number : NAN;
}

static double seen_number(const struct ifm_pass_sensor *sensor, const char *key)
{
    const json_t *number = json_object_get(sensor->seen, key);
    return json_is_number(number) ? json_number_value(number) : 0;
}

static enum ifm_status tell_sensor(const struct ifm_pass_sensor *sensor, const struct ifm_power_sensor *which,
                                   const struct ifm_cell_run *cell, struct ifm_error *error)
{
    double window_ms = NAN;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        window_ms = strcmp(windows[i].source, which->source) == 0 ? windows[i].ms : window_ms;
    return IFM_FACT(cell->session, error, power_sensor, true, .cell = cell->plan->name, .device = which->device,
                    .source = which->source, .kind = ifm_power_kinds[which->kind], .part = which->part,
                    .measured = true, .period_ms = if_known(sensor->every_s * 1e3),
                    .jitter_ms = if_known(seen_number(sensor, "refresh_jitter_ms")),
                    .call_us = if_known(seen_number(sensor, "call_us")),
                    .lag_ms = if_known(seen_number(sensor, "lag_ms")), .window_ms = if_known(window_ms),
                    .quantum = if_known(which->quantum > 0 ? which->quantum : seen_number(sensor, "quantum")),
                    .gain_error = if_known(which->gain_error), .limit_w = if_known(which->limit_w));
}

static enum ifm_status tell_absence(const struct ifm_cell_run *cell, const char *source, const char *reason,
                                    const char *remedy, struct ifm_error *error)
{
    return IFM_FACT(cell->session, error, power_absent, true, .cell = cell->plan->name, .source = source,
                    .reason = reason, .remedy = remedy);
}

static enum ifm_status tell(const struct ifm_energy_sensors *sensors, const struct ifm_cell_run *cell,
                            struct ifm_error *error)
{
    const struct ifm_power_list *list = ifm_power_list(sensors->power);
    for (size_t i = 0; i < list->n_sensors; i++) {
        const struct ifm_power_sensor *which = &list->sensors[i];
        const struct ifm_pass_sensor *sensor = &sensors->list[i];
        char reason[300];
        snprintf(reason, sizeof reason, "%s: %s", which->device, sensor->absent == NULL ? "" : sensor->absent);
        IFM_TRY(sensor->absent == NULL
                    ? tell_sensor(sensor, which, cell, error)
                    : tell_absence(cell, which->source, reason, "see what `inferometer power` says of it", error));
    }
    for (size_t i = 0; i < list->n_absences; i++)
        IFM_TRY(
            tell_absence(cell, list->absences[i].source, list->absences[i].reason, list->absences[i].remedy, error));
    return IFM_OK;
}

/* ---- one pass ---- */

enum ifm_status ifm_energy_wait(const struct ifm_cell_run *cell, double seconds, struct ifm_error *error)
{
    const struct ifm_instant start = ifm_clock_now();
    for (double left = seconds; left > 0 && !ifm_interrupted();) {
        double nap = left < NAP_S ? left : NAP_S;
        const struct timespec time = {0, (long)(nap * 1e9)};
        nanosleep(&time, NULL); /* a signal ends it early; the clock says what is left */
        left = seconds - (double)ifm_clock_since(start).ns * 1e-9;
    }
    return ifm_interrupt_check(cell->plan->name, error);
}

/* Discard readings from before the pass: a counter that was not read since the last cell may have wrapped unseen, and
 * a ring still holds seconds of other work. */
static void prime(struct ifm_energy_sensors *sensors, size_t index)
{
    enum { ROOM = 512, MOST_READS = 64 };
    struct ifm_power_point points[ROOM];
    struct ifm_error why = {0};
    struct ifm_pass_sensor *sensor = &sensors->list[index];
    enum ifm_status status = IFM_OK;
    size_t n = ROOM;
    for (int i = 0; i < MOST_READS && status != IFM_MISSING && (n == ROOM || status != IFM_OK); i++)
        status = ifm_power_read(sensors->power, index, points, ROOM, &n, &why);
    if (status == IFM_MISSING && sensor->absent == NULL) {
        char *kept = strdup(why.message);
        json_object_set_new(sensor->seen, "lost", json_string(kept == NULL ? "it is lost" : kept));
        sensor->absent = json_string_value(json_object_get(sensor->seen, "lost"));
        sensor->useful = false;
        free(kept);
    }
}

enum ifm_status ifm_energy_sensors_begin(struct ifm_energy_sensors *sensors, struct ifm_cell_run *cell, const char *dir,
                                         bool resume, struct ifm_error *error)
{
    const struct ifm_power_list *list = ifm_power_list(sensors->power);
    struct ifm_session *session = cell->session;
    int64_t end_ns = -1;
    for (size_t i = 0; i < list->n_sensors; i++)
        prime(sensors, i);
    IFM_TRY(tell(sensors, cell, error));
    for (size_t i = 0; i < list->n_sensors; i++) {
        struct ifm_pass_sensor *sensor = &sensors->list[i];
        sensor->any = sensor->lost = false;
        if (sensor->absent != NULL)
            continue;
        IFM_TRY(ifm_readings_open(dir, cell->plan->index, list->sensors[i].device, list->sensors[i].source,
                                  list->sensors[i].kind == IFM_POWER_COUNTER, resume, &sensor->writer, error));
        int64_t last_ns = ifm_readings_end_ns(sensor->writer);
        end_ns = last_ns > end_ns ? last_ns : end_ns;
    }
    ifm_session_behind(session, cell->device, end_ns);
    sensors->began_ns = sensors->drained_ns = ifm_session_now(cell->session, cell->device);
    const struct ifm_instant base = {session->base.ns - session->offset_ns};
    return ifm_sampler_start(sensors->power, base, sensors->watts_hz, &sensors->sampler, error);
}

static int64_t micro(double value)
{
    return (int64_t)llround(value * 1e6);
}

static void note_since(struct ifm_pass_sensor *sensor, const struct ifm_power_point *point)
{
    if (sensor->since.n++ == 0) {
        sensor->since.first = point->value;
        sensor->since.first_ns = point->t_ns;
    }
    sensor->since.last = point->value;
    sensor->since.last_ns = point->t_ns;
    sensor->since.sum += point->value;
}

double ifm_energy_sensors_watts(struct ifm_energy_sensors *sensors)
{
    const struct ifm_power_list *list = ifm_power_list(sensors->power);
    double every_s, watts = NAN;
    const struct ifm_power_sensor *sensor = ifm_energy_sensors_slowest(sensors, &every_s);
    for (size_t i = 0; i < list->n_sensors; i++) {
        struct ifm_pass_sensor *own = &sensors->list[i];
        const double seconds = 1e-9 * (double)(own->since.last_ns - own->since.first_ns);
        if (&list->sensors[i] == sensor && own->since.n >= 2 && seconds > 0)
            watts = sensor->kind == IFM_POWER_COUNTER ? (own->since.last - own->since.first) / seconds
                                                      : own->since.sum / (double)own->since.n;
        memset(&own->since, 0, sizeof own->since);
    }
    return watts;
}

/* Readings of one sensor into its file. */
static enum ifm_status write_series(struct ifm_pass_sensor *sensor, bool counter, int64_t began_ns,
                                    const struct ifm_power_series *series, size_t *left_out, struct ifm_error *error)
{
    struct ifm_reading *readings = calloc(series->n + 1, sizeof *readings);
    size_t n = 0;
    if (readings == NULL)
        return ifm_fail(error, IFM_INTERNAL, "power", NULL, "out of memory for %zu readings", series->n);
    for (size_t i = 0; i < series->n; i++) {
        const struct ifm_power_point *point = &series->points[i];
        if (point->t_ns < began_ns)
            continue;
        sensor->first = sensor->any || !counter ? sensor->first : point->value;
        sensor->any = true;
        sensor->last_ns = point->t_ns;
        note_since(sensor, point);
        readings[n++] = (struct ifm_reading){point->t_ns, point->half_ns,
                                             micro(counter ? point->value - sensor->first : point->value)};
    }
    enum ifm_status status = ifm_readings_append(sensor->writer, readings, n, left_out, error);
    free(readings);
    return status;
}

enum ifm_status ifm_energy_sensors_drain(struct ifm_energy_sensors *sensors, struct ifm_cell_run *cell,
                                         struct ifm_error *error)
{
    const struct ifm_power_list *list = ifm_power_list(sensors->power);
    const struct ifm_power_series *all = ifm_sampler_drain(sensors->sampler);
    int64_t now_ns = ifm_session_now(cell->session, cell->device);
    for (size_t i = 0; i < list->n_sensors; i++) {
        struct ifm_pass_sensor *sensor = &sensors->list[i];
        const struct ifm_power_series *series = &all[i];
        size_t left_out = 0;
        if (sensor->writer == NULL)
            continue;
        /* A fault began after the last good reading. */
        int64_t from_ns = sensor->any ? sensor->last_ns : sensors->began_ns;
        from_ns = from_ns < sensors->drained_ns ? from_ns : sensors->drained_ns;
        IFM_TRY(write_series(sensor, list->sensors[i].kind == IFM_POWER_COUNTER, sensors->began_ns, series, &left_out,
                             error));
        bool lost = series->lost && !sensor->lost; /* the sampler says it again and again */
        sensor->lost = series->lost;
        if (series->gaps == 0 && series->implausible + left_out == 0 && !lost)
            continue;
        IFM_TRY(IFM_FACT(
            cell->session, error, power_fault, false, .cell = cell->plan->name, .device = list->sensors[i].device,
            .source = list->sensors[i].source, .start_ns = from_ns, .end_ns = now_ns, .gaps = (int64_t)series->gaps,
            .implausible = (int64_t)(series->implausible + left_out), .lost = lost ? series->lost_reason : NULL));
    }
    sensors->drained_ns = now_ns;
    return IFM_OK;
}

enum ifm_status ifm_energy_sensors_flush(struct ifm_energy_sensors *sensors, struct ifm_cell_run *cell,
                                         struct ifm_error *error)
{
    size_t n = ifm_power_list(sensors->power)->n_sensors;
    double arrival_s = ARRIVAL_S;
    for (size_t i = 0; i < n; i++)
        if (sensors->list[i].useful && !sensors->list[i].lost)
            arrival_s = fmax(arrival_s, fmin(1.5 * sensors->list[i].every_s + 0.1, LATEST_ARRIVAL_S));
    IFM_TRY(ifm_energy_wait(cell, arrival_s, error));
    IFM_TRY(ifm_energy_sensors_drain(sensors, cell, error));
    for (size_t i = 0; i < n; i++)
        if (sensors->list[i].writer != NULL)
            IFM_TRY(ifm_readings_sync(sensors->list[i].writer, error));
    return IFM_OK;
}

enum ifm_status ifm_energy_sensors_seal(struct ifm_energy_sensors *sensors, struct ifm_cell_run *cell, const char *dir,
                                        struct ifm_error *error)
{
    const struct ifm_power_list *list = ifm_power_list(sensors->power);
    for (size_t i = 0; i < list->n_sensors; i++) {
        const struct ifm_power_sensor *sensor = &list->sensors[i];
        struct ifm_readings readings;
        struct ifm_sha256 sha256;
        if (sensors->list[i].writer == NULL)
            continue;
        IFM_TRY(ifm_readings_sync(sensors->list[i].writer, error));
        IFM_TRY(ifm_readings_load(dir, cell->plan->index, sensor->device, sensor->source, &readings, &sha256, error));
        enum ifm_status status = IFM_FACT(cell->session, error, power_readings, true, .cell = cell->plan->name,
                                          .device = sensor->device, .source = sensor->source, .sha256 = sha256.hex);
        ifm_readings_free(&readings);
        IFM_TRY(status);
    }
    return IFM_OK;
}

void ifm_energy_sensors_end(struct ifm_energy_sensors *sensors)
{
    ifm_sampler_stop(sensors->sampler);
    sensors->sampler = NULL;
    for (size_t i = 0; i < IFM_POWER_MOST; i++) {
        ifm_readings_close(sensors->list[i].writer);
        sensors->list[i].writer = NULL;
    }
}
