/* The energy passes of a whole run: which cells have readings, and why there are none.
 *
 * Pure, as all of derive. Everything lives in the arena; texts are the journal's own or the arena's. */
#ifndef IFM_DERIVE_ENERGY_POWER_RUN_H
#define IFM_DERIVE_ENERGY_POWER_RUN_H

#include "derive/energy/power.h"

struct ifm_power_shown {
    const struct ifm_cell *cell;
    struct ifm_power_cell power;
    struct ifm_power_trace *traces; /* the sum first, when there is any */
    size_t n_traces;
};

/* Was an energy pass of the cell planned? */
bool ifm_power_is_planned(const struct ifm_cell *cell);

/* One for each cell of the plan that has readings, in the order of the plan; none without a record (`facts` NULL). */
IFM_CHECKED enum ifm_status ifm_derive_power_run(const struct ifm_facts_view *facts, struct ifm_arena *arena,
                                                 struct ifm_power_shown **out, size_t *n, struct ifm_error *error);
/* Has the trace a step with a reading? Such a one is a line of its file. */
bool ifm_power_has_steps(const struct ifm_power_trace *trace);

/* ---- what is printed of one window beside its joules ---- */

/* Joules of a step, without the pauses between samples, and the half-width of its 95 % interval; NaN when the window is
 * not used, or no step lies in it. */
double ifm_power_step_j(const struct ifm_power_window *window);
double ifm_power_step_random_j(const struct ifm_power_window *window);
/* By how much the witness's mean power is above the primary's, in percent of the latter; NaN without a witness. */
double ifm_power_differ_percent(const struct ifm_power_window *window);
/* Is the window's number one to use? Else ifm_power_why says why not. */
bool ifm_power_is_used(const struct ifm_power_window *window);
const char *ifm_power_why(const struct ifm_power_window *window);

/* ---- why there is none ---- */

/* Why a source of power is absent, told once with the names of all sources that lack it. */
struct ifm_power_cause {
    const char *reason, *remedy, *sources; /* never NULL; remedy "" = none */
};
size_t ifm_power_causes(const struct ifm_events *events, const struct ifm_cell *cell, struct ifm_arena *arena,
                        struct ifm_power_cause **out);

/* Why there is no energy, and what would help. */
struct ifm_power_reason {
    const char *reason, *remedy; /* never NULL; "" = none */
};
/* Of a cell (NULL: of all cells): that no pass was asked for, else what the journal says of the sources, else what the
 * record lacks. */
struct ifm_power_reason ifm_power_missing(const struct ifm_plan *plan, const struct ifm_events *events,
                                          const struct ifm_facts_view *facts, const struct ifm_cell *cell,
                                          struct ifm_arena *arena);

#endif
