/* The energy pass of a cell: what its sensors said, window by window, and what each device took.
 *
 * Read from the record of the pass "energy" (a slot = a window), the sensors' readings and the journal's events
 * (docs/maintain/journal.md: power_sensor, power_absent, power_fault, energy_idle, energy_pre_roll). Computes joules by
 * joules.h; which of them may be printed, rule 5 decides; the numbers of arms are made in energy.c. */
#ifndef IFM_DERIVE_ENERGY_POWER_H
#define IFM_DERIVE_ENERGY_POWER_H

#include "derive/derive.h"
#include "derive/energy/joules.h"
#include "model/power_kind.h"

enum { IFM_POWER_WINDOWS_NEEDED = 3 }; /* of an arm, or no energy of it is given */

enum ifm_power_role {
    IFM_POWER_PRIMARY = 0, /* its joules are the device's */
    IFM_POWER_WITNESS,     /* the same joules by another source, or those of a board that holds the devices: kept beside
                              them, never added */
    IFM_POWER_PART,        /* within the device (memory of a GPU): shown, never added */
    IFM_POWER_GUESS,       /* an estimate: shown as one, never added */
    IFM_POWER_SHOWN        /* instantaneous, or of a device that is not measured here: drawn, never integrated */
};

/* One sensor of the pass, its readings, and what the journal says of it. */
struct ifm_power_fact {
    const char *device, *source;
    enum ifm_power_kind kind;
    enum ifm_power_role role;
    bool measured;                                 /* of a device that this cell measures */
    double period_s, quantum, gain_error, limit_w; /* NaN = not known */
    double call_s, lag_s, sensor_window_s;
    /* How it followed the steps of load that the pass itself made (idle to load, load to idle), the device's own rise
     * included: from the step to half of it, and, of watts, 10 to 90 % of it / 0.8, which is the window of a mean.
     * Means of `steps` steps, and the smallest and largest lag; NaN where `steps` is 0, the window also of a counter.
     */
    size_t steps;
    double step_lag_s, step_lag_low_s, step_lag_high_s, step_window_s;
    /* Of a meter with readings: by how much its stamps are later than the load, as the load's steps show them, and all
     * lags that they allow; where they show none (`lag_told` false), all that are looked for. 0 of other sensors. */
    bool is_meter, lag_told;
    double late_s, late_low_s, late_high_s;
    double least_w, most_w;              /* of a meter: readings out of this range are not believed */
    double lowest_w, highest_w;          /* of a meter: of those that are */
    const struct ifm_readings *readings; /* NULL = the file is missing */
    double idle_w, idle_half_w;          /* as this sensor saw it; NaN = not measured */
    double floor_w;                      /* of its quietest idle stretch; NaN = not measured */
    const struct ifm_joules *by_window;  /* of each window of the cell; NULL = never integrated */
};

/* One window (slot) of one device: the primary's joules, and its best witness's. */
struct ifm_power_window {
    size_t arm, block, slot;
    int64_t start_ns, end_ns;     /* of the slot */
    double steps, busy_s;         /* between the ticks: steps of the arm, interpolated in its samples; time in them */
    struct ifm_joules by_primary; /* the package's and its memory's together where both are counted */
    struct ifm_joules by_witness; /* of what the primary alone counts */
    double step_j, step_half_j;   /* of the steps: without the pauses between samples; 95 % half-width */
    double step_common_j;         /* of step_half_j what all windows are off by together: the power in pauses */
    double spread_w;              /* standard deviation of power as the finest sensor saw it; negative = not known */
    const char *fault;            /* "" or why the window is not used: readings lost, implausible, too short */
    bool too_short;               /* the fault is: for the sensor */
};

/* One device of the cell. */
struct ifm_power_device {
    const char *device;
    const struct ifm_power_fact *primary, *witness; /* primary NULL: nothing of it can be integrated; witness may be */
    const struct ifm_power_fact
        *adds;                  /* the processor's memory, whose joules are added to the package's; may be NULL */
    double idle_w, idle_half_w; /* with a live context, before and after; half-width of 95 %; NaN = not measured */
    double floor_w;             /* no load draws less: power in its quietest idle stretch; NaN = not measured */
    double limit_w;
    struct ifm_power_window *windows; /* in time order */
    size_t n_windows;
};

struct ifm_power_phase {
    enum { IFM_POWER_IDLE = 0, IFM_POWER_PRE_ROLL, IFM_POWER_WINDOW } kind;
    int arm; /* index in the cell; -1 = of none */
    int64_t start_ns, end_ns;
};

struct ifm_power_cell {
    const char *missing, *remedy; /* why there is nothing; "" when there is */
    struct ifm_power_fact *facts;
    size_t n_facts;
    struct ifm_power_device *devices; /* whose joules are added: GPUs of a cell on cuda, and processors; GPUs first.
                                         The ticks of the first one bound the time that numbers are made of */
    size_t n_devices;
    size_t n_windows;               /* of every device, and of every fact that is integrated */
    struct ifm_power_phase *phases; /* in time order */
    size_t n_phases;
};

/* Everything lives in the arena. A journal that is none is IFM_INVALID. */
IFM_CHECKED enum ifm_status ifm_derive_power(const struct ifm_facts_view *facts, size_t cell, struct ifm_arena *arena,
                                             struct ifm_power_cell *out, struct ifm_error *error);

/* What a device is by its name: "gpu0", "cpu0", "cpu0_die1". */
bool ifm_power_is_gpu(const char *device);
bool ifm_power_is_processor(const char *device);

/* ---- power over time ---- */

/* Watts at equal distances, `hz` a second, from `start_ns`: the mean over each step of a counter's slope, or of the
 * readings in it; NaN where there are none. */
struct ifm_power_trace {
    const char *device, *source; /* source "" = the sum of the measured devices, what power.csv holds */
    enum ifm_power_role role;
    int64_t start_ns;
    double hz;
    double *watts;
    size_t n;
};
/* The sum first, then every sensor. */
IFM_CHECKED enum ifm_status ifm_derive_power_traces(const struct ifm_power_cell *power, double hz,
                                                    struct ifm_arena *arena, struct ifm_power_trace **out, size_t *n,
                                                    struct ifm_error *error);

#endif
