/* An arm under execution, wherever it runs: in this process, in several sets of buffers, or in a process of its own.
 *
 * measure.isolation decides. Ceilings that are taken along stay in this process, in one set. All
 * other code of run uses an arm through these functions. */
#ifndef IFM_RUN_CELL_ARM_H
#define IFM_RUN_CELL_ARM_H

#include "base/ambient.h"
#include "run/cell/cell.h"

/* A call into an arm's code: whose it is, and what it must leave as it was. All functions below but the closing make
 * one; others that step an arm themselves make their own, outside what is timed. */
struct ifm_turn {
    struct ifm_cell_run *cell;
    const struct ifm_arm_run *arm;
    struct ifm_ambient before;
};
void ifm_turn_begin(struct ifm_cell_run *cell, size_t arm, struct ifm_turn *turn);
/* A changed locale or rounding mode would spoil every number after it: it is put back, and the arm has failed. An arm
 * of a plugin that fails is at fault itself: the others do without it. */
IFM_CHECKED enum ifm_status ifm_turn_end(const struct ifm_turn *turn, enum ifm_status status, struct ifm_error *error);

/* Open arm number `arm` in every set of buffers that it will use, or in a process of its own. */
IFM_CHECKED enum ifm_status ifm_arm_open(struct ifm_cell_run *cell, size_t arm, struct ifm_error *error);
void ifm_arm_close(struct ifm_cell_run *cell, size_t arm);
/* Compare its output with its oracle: with `first` after a step of its own, else as the last timed step left it and in
 * rounds after that, for about cell->check_s. Of several sets of buffers the worst counts, and a hash that differs is
 * reported. */
IFM_CHECKED enum ifm_status ifm_arm_check(struct ifm_cell_run *cell, size_t arm, bool first, struct ifm_check *out,
                                          struct ifm_error *error);
/* Rough time of one step: a control input. */
IFM_CHECKED enum ifm_status ifm_arm_rough_ns(struct ifm_cell_run *cell, size_t arm, double *ns,
                                             struct ifm_error *error);
/* Untimed steps, at least one round. `step_s`: what a step takes in the fastest round, s; NULL = not wanted. Only for
 * arms in this process, without a limit of rounds. Arms whose samples lie apart run a single step a round, with its
 * hooks. */
IFM_CHECKED enum ifm_status ifm_arm_roll(struct ifm_cell_run *cell, size_t arm, const struct ifm_roll *roll,
                                         double *step_s, struct ifm_error *error);
/* The warm-up before slots that nothing else warms up: measure.warmup steps, within `share` of its cap. */
IFM_CHECKED enum ifm_status ifm_arm_warm(struct ifm_cell_run *cell, size_t arm, double share, struct ifm_error *error);
/* How often its feature ran since the cell was opened; in processes, this asks the living one. */
IFM_CHECKED enum ifm_status ifm_arm_feature_runs(struct ifm_cell_run *cell, size_t arm, uint64_t *runs,
                                                 struct ifm_error *error);
/* One slot; see ifm_slot_run. */
IFM_CHECKED enum ifm_status ifm_arm_slot(struct ifm_cell_run *cell, unsigned arm, struct ifm_slot *slot,
                                         struct ifm_sample *samples, int64_t *columns, struct ifm_error *error);
/* Before the slots of measured block `block`: the sets of buffers that it draws, or fresh processes, warmed up. */
IFM_CHECKED enum ifm_status ifm_arms_place(struct ifm_cell_run *cell, unsigned block, struct ifm_error *error);

#endif
