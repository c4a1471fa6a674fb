/* When an arm fails by itself, or the device under it, that arm is left out and the cell is measured again without it.
 *
 * An error that ends a device's context (device/device.h, `health`), and one that ends the process, loses the data of
 * every arm, so the blocks before it cannot be continued: their record is set aside in the run folder, and the other
 * arms start again. The record still numbers arms as the plan does. */
#ifndef IFM_RUN_CELL_FAILED_H
#define IFM_RUN_CELL_FAILED_H

#include "run/cell/cell.h"

/* The arms of a cell that are left. */
struct ifm_left {
    const struct ifm_cell *whole; /* as planned */
    bool without[IFM_MOST_ARMS];  /* those that failed, by their number in the plan */
    struct ifm_arm arms[IFM_MOST_ARMS];
    unsigned planned[IFM_MOST_ARMS]; /* number in the plan of each that is left */
    struct ifm_cell cell;            /* the plan's cell with those alone */
};

/* All arms of the cell but those that `events`, the journal of an interrupted run or NULL, says have failed. */
void ifm_left_begin(struct ifm_left *left, const struct ifm_cell *cell, const struct ifm_events *events);
/* Was the run interrupted between leaving out an arm and setting the record aside? */
bool ifm_left_unfinished(const struct ifm_left *left, const struct ifm_events *events);
/* The arm that was at work when it failed is left out, as a fact with the reason that `error` gives; its name,
 * or NULL when none was at work. */
IFM_CHECKED enum ifm_status ifm_left_drop(struct ifm_left *left, struct ifm_session *session,
                                          const struct ifm_error *why, const char **arm, struct ifm_error *error);
/* Set the record aside, and say so. IFM_INVALID when no arm is left. */
IFM_CHECKED enum ifm_status ifm_left_restart(struct ifm_left *left, struct ifm_session *session, const char *dir,
                                             const struct ifm_error *why, struct ifm_error *error);

#endif
