/* Power: everything that can say how many joules a device takes, read as it comes.
 *
 * A sensor is one readable quantity of one device: a counter of joules, or watts. This module reads them, with the
 * host's time round each reading, and keeps the readings in time order. It integrates nothing, subtracts nothing and
 * chooses nothing: derive does, from the files that run writes. A source that cannot be read says why and what would
 * help; it is absent, never zero.
 *
 * Sources, best first, in one table (registry.c): nvml (energy counter, ring of power samples, average, instant and
 * memory power), rapl through powercap, rapl through perf events, an external meter's file or pipe, and an estimate
 * from the processor's rated power, which is labelled so.
 *
 * Thread rule: probe, open and close belong to the driving thread; read to one thread at a time, which may be another.
 */
#ifndef IFM_POWER_POWER_H
#define IFM_POWER_POWER_H

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "model/power_kind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IFM_POWER_NAME = 24 };

struct ifm_power_sensor {
    char device[IFM_POWER_NAME]; /* what the joules are of: "gpu0", "cpu0" (a package; "cpu0_die1" where it has
                                    several), "cpu" (all packages, of the estimate), "board" (all that there is) */
    char source[IFM_POWER_NAME]; /* "nvml_energy", "nvml_samples", "nvml_average", "nvml_instant", "nvml_memory",
                                    "rapl_package", "rapl_dram", "rapl_core", "rapl_uncore", "rapl_psys", the same five
                                    of "perf_", "meter", "tdp" */
    enum ifm_power_kind kind;
    bool part;         /* within other sensors (memory of a GPU, core of a package, psys): never added */
    double quantum;    /* smallest step, J or W; 0 = not known */
    double gain_error; /* systematic, relative, of this kind of sensor: 0.05; 0 = not known */
    double limit_w;    /* power limit of the device; 0 = not known */
    unsigned every_ms; /* how often a reading brings something new, at most */
};

/* One reading. The quantity was `value` at some time within t_ns +- half_ns. */
struct ifm_power_point {
    int64_t t_ns, half_ns;
    double value; /* J or W */
};

/* Why a source has no sensor here. */
struct ifm_power_absence {
    const char *source;
    char reason[200];
    char remedy[200];
};

enum { IFM_POWER_MOST = 64 };
/* What there is on this machine: sensors, and sources without one. Plain data. */
struct ifm_power_list {
    struct ifm_power_sensor sensors[IFM_POWER_MOST];
    size_t n_sensors;
    struct ifm_power_absence absences[IFM_POWER_MOST];
    size_t n_absences;
};

struct ifm_power_options {
    const char *root;  /* of sysfs and procfs: "" = this machine; tests give a tree of files */
    const char *nvml;  /* file of the library; NULL = libnvidia-ml.so.1 */
    const char *bus;   /* PCI bus id of the GPU that is measured, "0000:00:06.0"; NULL = every GPU */
    bool no_gpu;       /* leave GPUs alone: asking one takes milliseconds of the processor that is measured */
    const char *meter; /* CSV file or pipe of an external meter (t_s,power_w); NULL = none */
    double rated_w;    /* of all processors together, for the estimate; 0 = not known, then there is no estimate */
};

struct ifm_power;
/* Find and open every sensor; there may be none. */
struct ifm_power *ifm_power_open(const struct ifm_power_options *options);
/* Can the meter's file be used? Its lines are checked; a pipe is not opened, since closing it again would end its
 * writer. IFM_MISSING, with what is wrong and what to do. */
IFM_CHECKED enum ifm_status ifm_power_meter_ready(const char *path, struct ifm_error *error);
const struct ifm_power_list *ifm_power_list(const struct ifm_power *power);
/* Read one sensor now. At most `room` points, oldest first, none given before; `*n` may be 0 when nothing is new.
 * IFM_MISSING: the sensor is lost (its reason in `error`); it stays lost. Implausible readings (a counter that goes
 * back without a wrap, watts below zero or above four times the limit) are IFM_INVALID, and the sensor goes on. */
IFM_CHECKED enum ifm_status ifm_power_read(struct ifm_power *power, size_t sensor, struct ifm_power_point *points,
                                           size_t room, size_t *n, struct ifm_error *error);
void ifm_power_close(struct ifm_power *power); /* NULL is allowed */

/* What the sensor does, measured at start: its refresh period, its lag, what a call costs (new reference):
 * {"device", "source", "refresh_ms", "refresh_jitter_ms", "call_us", "quantum", ...}. Takes about `seconds`. */
json_t *ifm_power_calibrate(struct ifm_power *power, size_t sensor, double seconds);

#endif
