/* Energy of an arm: the sensor behind the column energy_uj of the slots, and the windows of an energy pass.
 *
 * The event of stage `energy` describes that sensor: the idle power, the limit and the period of its readings. What may
 * be printed of its joules is decided by rule 5 (rules_energy.c), and what is printed is computed in energy.c. */
#ifndef IFM_DERIVE_ENERGY_ENERGY_H
#define IFM_DERIVE_ENERGY_ENERGY_H

#include "derive/internal.h"

/* What the last event of the cell says; where there is none, nothing is known. */
struct ifm_event_energy ifm_energy_sensor_of(const struct ifm_cell_work *work);
/* Tokens of one step: those that it generates; of a step that generates none, those of its prompt. */
double ifm_energy_tokens_of(const struct ifm_arm *arm);

/* Rule 5 refused the energy of the arm or of its baseline: then no change of it is given. */
bool ifm_energy_is_refused(const struct ifm_arm_work *arm, struct ifm_value *out);

/* The column energy_uj over the arm's measured slots. */
struct ifm_energy_column {
    size_t slots, read;
    double total_j;  /* of all that ran between the brackets of the slots */
    double steps;    /* between the brackets: one untimed step of each slot is among them, where samples meet */
    double timed;    /* steps that were timed */
    double duration; /* of the timed parts, in s */
};
struct ifm_energy_column ifm_energy_column_of(const struct ifm_arm_work *arm);
/* Joules of the timed steps over their time. */
double ifm_energy_column_power(const struct ifm_energy_column *column);

/* ---- the energy pass ---- */

/* One window of an arm over all devices that are measured, in the time between the ticks of the first one. Devices draw
 * at the same time: the watts of the others are taken over it. */
struct ifm_energy_window {
    size_t block, at;  /* `at` = its place among the windows of the cell */
    const char *fault; /* "" or why it is not used */
    bool too_short;    /* the fault is: for the sensor */
    double seconds, busy_s, steps;
    double joules, half_j, lag_j;        /* gross; lag_j: half-width of the error that all windows share */
    double step_j;                       /* without pauses */
    double step_random_j, step_common_j; /* half-widths: of this window alone; the same error in all windows */
    double gpu_j, gpu_half_j, cpu_j, cpu_half_j;
};
/* The arm's windows in time order; `*usable` of them have no fault. The list lives in the arena. */
size_t ifm_energy_windows_of(const struct ifm_arm_work *arm, struct ifm_arena *arena, struct ifm_energy_window **out,
                             size_t *usable);

/* Is what is left above idle so far below nothing that it is no measurement? Its half-width is of 95 %: once that, one
 * arm in forty that only idles is below by chance. */
bool ifm_energy_is_below_idle(double joules, double half_j);

/* How far the witness of a device is from its primary over the arm's usable windows: of the device where it is
 * farthest. `windows` 0 = no device has a witness. */
struct ifm_energy_difference {
    const struct ifm_power_device *device;
    double percent;
    size_t windows;
    bool periodic; /* the load swings: then a difference shows no fault */
};
struct ifm_energy_difference ifm_energy_difference_of(const struct ifm_cell_work *work,
                                                      const struct ifm_energy_window *windows, size_t n);
#define IFM_ENERGY_DIFFER_SAID 2.0   /* percent: above it a finding says so */
#define IFM_ENERGY_DIFFER_WARNED 5.0 /* percent: above it the finding is a warning */

#endif
