/* What the journal says of energy: the events of stage `energy`, checked field by field.
 *
 * An event without a window describes the sensor behind the column energy_uj of the slots: the idle power, the limit
 * and the period of its readings. One with a window (start_ns, end_ns) is a total that a sensor gave for it: by its
 * counter, by the integral of its power readings, or by both. An instrument supplies no more than these facts; what may
 * be printed of them is decided by rule 5 (rules_energy.c), and what is printed is computed in energy.c. */
#ifndef IFM_DERIVE_ENERGY_H
#define IFM_DERIVE_ENERGY_H

#include "derive/internal.h"

/* Unknown numbers are NaN, unknown tokens are negative. */
struct ifm_energy_fact {
    const char *device, *source; /* "gpu0"; "nvml" */
    const char *arm;             /* whose the window is; "" = of the whole cell */
    double idle_w, limit_w, period_ns;
    bool windowed;
    int64_t start_ns, end_ns; /* in the time of the samples; windowed ones only */
    double counter_j, integral_j;
    int64_t tokens; /* that the source says were made in the window */
    size_t line;    /* of run.log */
};

/* All energy events of the cell in order; `*out` lives in the arena. IFM_INVALID names the event that is none. */
IFM_CHECKED enum ifm_status ifm_energy_facts(struct ifm_derivation *d, const struct ifm_cell_work *work,
                                             struct ifm_energy_fact **out, size_t *n, struct ifm_error *error);
/* The total of a window: the counter's where there is one, else the integral. */
double ifm_energy_total_j(const struct ifm_energy_fact *fact);
double ifm_energy_window_s(const struct ifm_energy_fact *fact);

/* What the record holds inside a window. */
struct ifm_energy_work {
    size_t own, others, cut; /* slots of the arm and of other arms that lie in it, and slots that its ends cut */
    double tokens;           /* of the arm's steps in it, warm-up included: whatever drew the energy */
};
struct ifm_energy_work ifm_energy_work_in(const struct ifm_cell_work *work, const struct ifm_arm_work *arm,
                                          const struct ifm_energy_fact *fact);
/* Tokens of one step: those that it generates; of a step that generates none, those of its prompt. */
double ifm_energy_tokens_of(const struct ifm_arm *arm);

/* The column energy_uj over the arm's measured slots. */
struct ifm_energy_column {
    size_t slots, read;
    double total_j;  /* of all that ran between the brackets of the slots */
    double steps;    /* between the brackets: one untimed step of each slot is among them, where samples meet */
    double timed;    /* steps that were timed */
    double duration; /* of the timed parts, in s */
};
struct ifm_energy_column ifm_energy_column_of(const struct ifm_cell_work *work, const struct ifm_arm_work *arm);
/* Joules of the timed steps over their time. */
double ifm_energy_column_power(const struct ifm_energy_column *column);

#endif
