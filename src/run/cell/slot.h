/* The timed slot: the only place where time is taken.
 *
 * Order: device held -> instruments start -> an untimed step, where one pays -> timed samples -> instruments stop ->
 * device released. Between the instruments' start and stop nothing allocates, locks or calls the system. */
#ifndef IFM_RUN_CELL_SLOT_H
#define IFM_RUN_CELL_SLOT_H

#include "run/cell/cell.h"

/* Run one slot of arm `arm`. Fills `slot` and its samples (arms[arm].samples of them). */
IFM_CHECKED enum ifm_status ifm_slot_run(struct ifm_cell_run *cell, unsigned arm, struct ifm_slot *slot,
                                         struct ifm_sample *samples, int64_t *columns, struct ifm_error *error);

/* The parts, for a session, whose caller runs the steps: hold the device and start the instruments; undo both; turn
 * cell->marks into the slot and its samples. `apart`: without those that want the last sample alone. */
void ifm_slot_start(struct ifm_cell_run *cell, bool apart);
void ifm_slot_stop(struct ifm_cell_run *cell, bool apart);
void ifm_slot_collect(struct ifm_cell_run *cell, unsigned arm, struct ifm_slot *slot, struct ifm_sample *samples,
                      int64_t *columns);
/* The workload's own columns, counted since the last call; absent for an arm of another workload than the cell's. */
void ifm_slot_collect_own(const struct ifm_cell_run *cell, const struct ifm_arm_run *arm, int64_t *columns);
/* Marks as samples of the slot, whose `samples` are set, in nanoseconds since the start of the run; `apart`: two marks
 * for each, else samples that meet share one. Fills the slot's times. */
void ifm_slot_read_marks(const struct ifm_cell_run *cell, const struct ifm_instant *marks, bool apart,
                         struct ifm_slot *slot, struct ifm_sample *samples);

/* Whether caches are evicted before each sample of the arm. Not of ceilings beside the blocks that read more than
 * caches hold, or nothing. */
bool ifm_slot_is_cold(const struct ifm_cell_run *cell, const struct ifm_arm_run *arm);

#endif
