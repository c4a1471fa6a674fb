/* The parts of the energy pass: its sensors, and its windows.
 *
 * Private to src/run/energy. Times are of the run, as those of samples are. */
#ifndef IFM_RUN_ENERGY_PRIVATE_H
#define IFM_RUN_ENERGY_PRIVATE_H

#include "base/random.h"
#include "power/sampler.h"
#include "run/cell/cell.h"
#include "sample/readings.h"

struct ifm_energy_run;
struct ifm_pass_run;

/* ---- sensors (sensors.c) ---- */

/* One sensor of the list, and how far its file has come in the pass that is open. */
struct ifm_pass_sensor {
    json_t *seen;                       /* what calibration found; NULL = it was not calibrated */
    bool useful;                        /* its readings make joules: not a part, not instantaneous, not still */
    double every_s;                     /* between two readings */
    const char *absent;                 /* why it is not read, or NULL */
    struct ifm_readings_writer *writer; /* of the pass; NULL = it is not read */
    bool any, lost;
    double first; /* of a counter: its value where the pass began */
    int64_t last_ns;
    struct {
        int64_t first_ns, last_ns;
        double first, last, sum;
        size_t n;
    } since; /* readings since ifm_energy_sensors_watts was asked */
};

struct ifm_energy_sensors {
    struct ifm_power *power;
    double watts_hz;
    struct ifm_pass_sensor list[IFM_POWER_MOST];
    struct ifm_sampler *sampler; /* of the pass that is open; else NULL */
    int64_t began_ns, drained_ns;
};

/* Open without calibrating. Every sensor is of a device that the run measures. */
IFM_CHECKED enum ifm_status ifm_energy_sensors_open(const struct ifm_plan *plan,
                                                    const struct ifm_device_options *device,
                                                    struct ifm_energy_sensors *out, struct ifm_error *error);
/* Watch each for a while, three seconds in all; an interruption ends it early. */
void ifm_energy_sensors_calibrate(struct ifm_energy_sensors *sensors);
void ifm_energy_sensors_close(struct ifm_energy_sensors *sensors);
/* Is there one left whose readings make joules? */
bool ifm_energy_sensors_useful(const struct ifm_energy_sensors *sensors);
/* The slowest of the sensors that joules are made of first: a counter where there is one. NULL without any. */
const struct ifm_power_sensor *ifm_energy_sensors_slowest(const struct ifm_energy_sensors *sensors, double *every_s);
/* Facts of what is read and what is absent, files, and the sampler. The session's time is moved on behind the last
 * reading of an interrupted pass. */
IFM_CHECKED enum ifm_status ifm_energy_sensors_begin(struct ifm_energy_sensors *sensors, struct ifm_cell_run *cell,
                                                     const char *dir, bool resume, struct ifm_error *error);
/* What was read since the last time into the files, and what went wrong meanwhile as facts. */
IFM_CHECKED enum ifm_status ifm_energy_sensors_drain(struct ifm_energy_sensors *sensors, struct ifm_cell_run *cell,
                                                     struct ifm_error *error);
/* The same, once what was measured up to now has arrived, and on disk. */
IFM_CHECKED enum ifm_status ifm_energy_sensors_flush(struct ifm_energy_sensors *sensors, struct ifm_cell_run *cell,
                                                     struct ifm_error *error);
/* Mean power of the sensor that joules are made of first, by what was drained since the last call; NaN where that says
 * nothing. */
double ifm_energy_sensors_watts(struct ifm_energy_sensors *sensors);
/* The pass is complete: run.log gets the hash of each file of readings. */
IFM_CHECKED enum ifm_status ifm_energy_sensors_seal(struct ifm_energy_sensors *sensors, struct ifm_cell_run *cell,
                                                    const char *dir, struct ifm_error *error);
void ifm_energy_sensors_end(struct ifm_energy_sensors *sensors);
/* Sleep; IFM_INTERRUPTED as soon as the run is. */
IFM_CHECKED enum ifm_status ifm_energy_wait(const struct ifm_cell_run *cell, double seconds, struct ifm_error *error);

/* ---- the pass (energy.c) ---- */

/* A sensor of the run serves windows; `every_s` is the period of the slowest that joules are made of. */
bool ifm_energy_is_useful(struct ifm_energy_run *energy, double *every_s);
/* What precedes a window of the arm; `rested`: the device has idled. */
IFM_CHECKED enum ifm_status ifm_energy_pause(struct ifm_pass_run *pass, unsigned arm, bool rested,
                                             struct ifm_error *error);

/* ---- windows (windows.c) ---- */

/* Joules are taken between ticks, ten periods at least (derive/energy/joules.h): a window that begins and ends anywhere
 * needs one more at either end, and one for their jitter (what derive asks for, power_windows.c). */
#define IFM_ENERGY_LEAST_PERIODS 13

/* Blocks of windows that the plan wants of a calibrated cell, and the windows of each arm in all of them. */
uint32_t ifm_energy_blocks(const struct ifm_cell_run *cell);
uint32_t ifm_energy_windows_each(const struct ifm_cell_run *cell);
/* Every slot of the calibrated cell is as long as a window of whole runs would be, and long enough for a sensor that
 * updates every `every_s`; and there are enough of them. */
bool ifm_energy_slots_suffice(const struct ifm_cell_run *cell, double every_s);

struct ifm_energy_arm {
    uint32_t inner, samples;
    bool runs;        /* of a program: samples are whole runs, and nothing is between two of them */
    double pause_s;   /* longest random pause after a sample; of steps without one samples meet */
    double planned_s; /* how long a window lasts when its steps take what they took alone */
};
/* Of `planned_s`: a window that lasts so long ends with the sample at work. Other work slows steps down, and a window
 * needs its time, not its steps. */
#define IFM_ENERGY_MOST_OF_PLAN 2.0

struct ifm_energy_windows {
    struct ifm_cell_run *cell;
    struct ifm_energy_arm arms[IFM_MOST_ARMS];
    struct ifm_slot *slots;     /* 2 * n_arms */
    struct ifm_sample *samples; /* of a block */
    struct ifm_instant *marks;  /* of a window */
    struct ifm_random random;   /* of the block */
    int before;                 /* the arm that ran last; -1 = none */
    bool estimate;              /* no sensor measures: windows are as long as an estimate needs */
};

/* Choose how the windows of each arm are made, as facts, or take over the choice of the interrupted run whose journal
 * is `events` (or NULL); allocate. Free it also after a failure. */
IFM_CHECKED enum ifm_status ifm_energy_windows_choose(struct ifm_energy_windows *windows, struct ifm_cell_run *cell,
                                                      const struct ifm_energy_sensors *sensors,
                                                      const struct ifm_events *events, struct ifm_error *error);
void ifm_energy_windows_free(struct ifm_energy_windows *windows);
/* Seconds of a block; `chosen`: its windows once they are, or NULL. */
double ifm_energy_block_s(const struct ifm_cell_run *cell, const struct ifm_energy_windows *chosen);
/* Seconds of a window of an open arm, and of what precedes it: the device idles there, or the arm's pre-roll runs. */
double ifm_energy_window_s(const struct ifm_cell_run *cell, unsigned arm, double *before_s);
/* Random numbers of block `block`: a resumed run draws what it would have drawn. */
void ifm_energy_windows_draw(struct ifm_energy_windows *windows, unsigned block);
/* The same steps untimed, where another arm or none ran before; before runs of a program, which start anew each time,
 * idle periods of the sensor, which updates every `every_s`. */
IFM_CHECKED enum ifm_status ifm_energy_pre_roll(struct ifm_energy_windows *windows, unsigned arm, double every_s,
                                                struct ifm_error *error);
/* One window: `slot`, its samples, and the columns of the pass. */
IFM_CHECKED enum ifm_status ifm_energy_window(struct ifm_energy_windows *windows, unsigned arm, struct ifm_slot *slot,
                                              struct ifm_sample *samples, int64_t *columns, struct ifm_error *error);

#endif
