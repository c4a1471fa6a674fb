/* Sources of power, private to src/power and its tests: how one finds its sensors and how a sensor is read.
 *
 * A source adds sensors, or says why it has none. It neither starts threads nor keeps what it has read. */
#ifndef IFM_POWER_SOURCE_H
#define IFM_POWER_SOURCE_H

#include "host/cpus.h"
#include "power/power.h"

/* What a reader is asked for: at most `room` points; `n` are there, 0 before it is called. */
struct ifm_power_take {
    const struct ifm_power_sensor *sensor;
    struct ifm_power_point *points;
    size_t room, n;
};
/* How sensors of one kind are read. `state` is the sensor's own. */
struct ifm_power_reader {
    /* As ifm_power_read, once: after IFM_MISSING it is not called again. */
    enum ifm_status (*read)(void *state, struct ifm_power_take *out, struct ifm_error *error);
    void (*close)(void *state);
};

/* A list without sensors. */
struct ifm_power *ifm_power_create(void);
/* Add a sensor; `state` is the list's from here on. Beyond IFM_POWER_MOST it is closed and left out. */
void ifm_power_add(struct ifm_power *power, const struct ifm_power_sensor *sensor,
                   const struct ifm_power_reader *reader, void *state);
/* Say why a source has no sensor here. */
void ifm_power_lack(struct ifm_power *power, const char *source, const char *remedy, const char *format, ...)
    IFM_PRINTF(4, 5);

/* The sources; each adds to `power` what it finds. */
void ifm_power_find_nvml(const struct ifm_power_options *options, struct ifm_power *power);
void ifm_power_find_powercap(const struct ifm_power_options *options, struct ifm_power *power);
void ifm_power_find_perf(const struct ifm_power_options *options, struct ifm_power *power);
void ifm_power_find_meter(const struct ifm_power_options *options, struct ifm_power *power);
void ifm_power_find_tdp(const struct ifm_power_options *options, struct ifm_power *power);

/* perf_event_open for a system-wide event of a PMU on one CPU: a descriptor that gives 8 bytes a read, or -1 and
 * errno. Tests give one of their own. */
typedef int ifm_perf_open(unsigned type, uint64_t config, int cpu);
void ifm_power_find_perf_by(const struct ifm_power_options *options, ifm_perf_open *open, struct ifm_power *power);

/* For what is learnt of a sensor after it was found. */
struct ifm_power_sensor *ifm_power_sensor_at(struct ifm_power *power, size_t sensor);

/* CPUs that this process might use when the sensors were opened. */
const struct ifm_cpu_mask *ifm_power_cpus(const struct ifm_power *power);
/* Where the sampler's thread may run: `allowed` without `taken`, or `allowed` where nothing is left. */
struct ifm_cpu_mask ifm_sampler_cpus(const struct ifm_cpu_mask *allowed, const struct ifm_cpu_mask *taken);

/* ---- where a reading lies in time ---- */

/* A quantity that stands between refreshes was read within begin..end, and before by a call that began at `previous`
 * (0 = never) and still saw the old one: it came to be between the two, and not earlier than one and a half refresh
 * periods before this call. */
struct ifm_power_point ifm_power_place(double value, int64_t previous_ns, int64_t begin_ns, int64_t end_ns,
                                       int64_t refresh_ns);

/* How far the wall clock is ahead of ifm_clock_now at this moment, within half_ns. It may be set at any time: ask again
 * for each reading. */
struct ifm_power_wall {
    int64_t ahead_ns, half_ns;
};
struct ifm_power_wall ifm_power_wall(void);

/* ---- counters ---- */

/* Joules since the first reading, of a counter that may be narrow, wrap, go back or stand still. */
struct ifm_power_counter {
    double range;       /* raw units in one turn; 0 = it does not wrap */
    double unit_j;      /* of one raw unit */
    double most_w;      /* what no device of this kind takes: a step above it is implausible */
    int64_t refresh_ns; /* its period, roughly */
    bool restless;      /* it always moves: standing still for many periods is a fault */
    /* State; starts as zeros. */
    uint64_t last;
    double turns; /* whole turns and steps lost, raw units, so that the sum of last and turns ascends */
    uint64_t first;
    bool started, told;
    int64_t previous_ns, moved_ns;
};

/* Take a raw reading that was made within begin..end. One point when it is new; IFM_INVALID, and the counter goes on
 * from this reading, when it went back without a wrap, jumped, may have wrapped more than once, or stands still (told
 * once). Energy is never negative; what an implausible step held is lost and not made up. */
enum ifm_status ifm_power_count(struct ifm_power_counter *counter, uint64_t raw, int64_t begin_ns, int64_t end_ns,
                                struct ifm_power_point *point, size_t *n, struct ifm_error *error);

#endif
