/* Calibrates a sensor by watching it: how often and how regularly it updates, what a call costs, its smallest step.
 * Documents disagree and drivers differ, so none is trusted. */
#include "base/arena.h"
#include "base/order.h"
#include "power/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8192, BATCH = 256, ENOUGH = 5, LOOKS_PER_PERIOD = 20 };

struct watched {
    double *calls_us, *periods_ms; /* MOST of each */
    size_t n_calls, n_periods, readings, rejected;
    double quantum, sum, first, last;
    int64_t first_ns, last_ns; /* of the readings */
    int64_t edge_ns;           /* when the value last changed */
    double lag_ms;             /* smallest age of a reading with a stamp of its own */
    bool lost;
    char reason[200];
};

/* Of sorted values, by the nearest rank. */
static double share(const double *sorted, size_t n, double p)
{
    return sorted[(size_t)(p * (double)(n - 1) + 0.5)];
}

static void take(struct watched *watched, const struct ifm_power_sensor *sensor, const struct ifm_power_point *point)
{
    bool stamped = sensor->kind == IFM_POWER_SAMPLES || sensor->kind == IFM_POWER_METER;
    int64_t edge = stamped ? point->t_ns : point->t_ns + point->half_ns; /* seen by then */
    double change = fabs(point->value - watched->last);
    watched->sum += point->value;
    if (watched->readings++ == 0) {
        watched->first = watched->last = point->value;
        watched->first_ns = watched->last_ns = point->t_ns;
        watched->edge_ns = stamped ? edge : 0; /* it may have changed long before */
        return;
    }
    watched->last_ns = point->t_ns;
    if (!stamped && !(change > 0))
        return;
    if (watched->edge_ns != 0 && watched->n_periods < MOST)
        watched->periods_ms[watched->n_periods++] = (double)(edge - watched->edge_ns) * 1e-6;
    if (change > 0 && (!(watched->quantum > 0) || change < watched->quantum))
        watched->quantum = change;
    watched->last = point->value;
    watched->edge_ns = edge;
}

static void look(struct ifm_power *power, size_t sensor, struct watched *watched)
{
    struct ifm_power_point points[BATCH];
    struct ifm_error error = {0};
    size_t n;
    const struct ifm_power_sensor *which = &ifm_power_list(power)->sensors[sensor];
    struct ifm_instant begin = ifm_clock_now();
    enum ifm_status status = ifm_power_read(power, sensor, points, BATCH, &n, &error);
    struct ifm_instant end = ifm_clock_now();
    if (watched->n_calls < MOST)
        watched->calls_us[watched->n_calls++] = (double)(end.ns - begin.ns) * 1e-3;
    if (status == IFM_OK) {
        for (size_t i = 0; i < n; i++)
            take(watched, which, &points[i]);
        double age_ms = n == 0 ? 0 : (double)(begin.ns - points[n - 1].t_ns) * 1e-6;
        if (n > 0 && (!(watched->lag_ms > 0) || age_ms < watched->lag_ms))
            watched->lag_ms = age_ms;
    } else if (status == IFM_INVALID) {
        watched->rejected++;
    } else {
        watched->lost = true;
        memcpy(watched->reason, error.message, sizeof watched->reason - 1);
    }
}

static void watch(struct ifm_power *power, size_t sensor, double seconds, struct watched *watched)
{
    const struct ifm_power_sensor *which = &ifm_power_list(power)->sensors[sensor];
    int64_t pause = (int64_t)which->every_ms * 1000000 / LOOKS_PER_PERIOD;
    pause = pause < 50000 ? 50000 : pause > 5000000 ? 5000000 : pause;
    struct ifm_instant start = ifm_clock_now();
    while (!watched->lost && (double)ifm_clock_since(start).ns < seconds * 1e9) {
        look(power, sensor, watched);
        ifm_clock_sleep((struct ifm_duration){pause});
    }
}

static json_t *absent(const char *reason)
{
    return json_pack("{s:s}", "absent", reason);
}

static double mean_w(const struct watched *watched, const struct ifm_power_sensor *sensor)
{
    if (sensor->kind != IFM_POWER_COUNTER)
        return watched->sum / (double)watched->readings;
    return (watched->last - watched->first) / ((double)(watched->last_ns - watched->first_ns) * 1e-9);
}

/* Between readings, in ms: what all of them took over how many there were. Late calls make single ones long and the
 * next ones short; a reading that was not seen at all makes one twice the median. */
static double refresh_of(const struct watched *watched, double middle)
{
    double sum = 0.0, n = 0.0;
    for (size_t i = 0; i < watched->n_periods; i++) {
        sum += watched->periods_ms[i];
        n += fmax(1.0, round(watched->periods_ms[i] / middle));
    }
    return sum / n;
}

/* Adds what was seen, and teaches the sensor what was learnt for certain. */
static void describe(json_t *json, const struct watched *watched, struct ifm_power_sensor *sensor)
{
    size_t n = watched->n_periods;
    bool ours = sensor->kind == IFM_POWER_ESTIMATE; /* it has no period but that of our looks */
    if (n >= ENOUGH && !ours) {
        double middle = refresh_of(watched, share(watched->periods_ms, n, 0.5));
        double jitter = (share(watched->periods_ms, n, 0.95) - share(watched->periods_ms, n, 0.05)) / 2;
        json_object_set_new(json, "refresh_ms", json_real(middle));
        json_object_set_new(json, "refresh_jitter_ms", json_real(jitter));
        sensor->every_ms = middle < 1.5 ? 1 : (unsigned)lround(middle);
    } else {
        const char *why = ours ? "it is computed anew at each reading" : "it changed too seldom while it was watched";
        json_object_set_new(json, "refresh_ms", absent(why));
        json_object_set_new(json, "refresh_jitter_ms", absent(why));
    }
    double call_us = watched->n_calls == 0 ? 0 : share(watched->calls_us, watched->n_calls, 0.5);
    json_object_set_new(json, "call_us", watched->n_calls == 0 ? absent("it was not called") : json_real(call_us));
    json_object_set_new(json, "quantum",
                        sensor->quantum > 0    ? json_real(sensor->quantum)
                        : watched->quantum > 0 ? json_real(watched->quantum)
                                               : absent("it did not change"));
    bool stamped = sensor->kind == IFM_POWER_SAMPLES;
    json_object_set_new(json, "lag_ms",
                        stamped && watched->readings > 0 ? json_real(watched->lag_ms)
                                                         : absent("a step of load would show it"));
    size_t least = sensor->kind == IFM_POWER_COUNTER ? 2 : 1;
    json_object_set_new(json, "mean_w",
                        watched->readings >= least ? json_real(mean_w(watched, sensor))
                                                   : absent("it gave too few readings"));
    json_object_set_new(json, "readings", json_integer((json_int_t)watched->readings));
    json_object_set_new(json, "implausible", json_integer((json_int_t)watched->rejected));
    if (watched->lost)
        json_object_set_new(json, "lost", json_string(watched->reason));
}

json_t *ifm_power_calibrate(struct ifm_power *power, size_t sensor, double seconds)
{
    struct ifm_power_sensor *which = ifm_power_sensor_at(power, sensor);
    json_t *json = json_pack("{s:s, s:s, s:s}", "device", which->device, "source", which->source, "unit",
                             which->kind == IFM_POWER_COUNTER ? "J" : "W");
    struct watched watched = {.calls_us = ifm_zeros(MOST, sizeof(double)),
                              .periods_ms = ifm_zeros(MOST, sizeof(double))};
    watch(power, sensor, seconds, &watched);
    if (watched.n_calls > 1)
        qsort(watched.calls_us, watched.n_calls, sizeof(double), ifm_by_f64);
    if (watched.n_periods > 1)
        qsort(watched.periods_ms, watched.n_periods, sizeof(double), ifm_by_f64);
    describe(json, &watched, which);
    free(watched.calls_us);
    free(watched.periods_ms);
    return json;
}
