/* The warm-up gate: windows of one slot an arm, until every arm is warm and steady or the time is up.
 *
 * A control decision, logged with its inputs. Whoever runs the slots hands each window in; nothing is timed here. */
#ifndef IFM_RUN_PASS_WARM_UP_H
#define IFM_RUN_PASS_WARM_UP_H

#include "run/cell/cell.h"
#include <stdbool.h>

struct ifm_warm_up {
    struct ifm_cell_run *cell;
    double *now, *before; /* of each arm: median duration of its slot in the last window and the one before */
    int64_t *scratch;     /* of the longest slot */
    struct ifm_instant start;
    uint64_t windows;
    bool steady;
    double seconds, most_s;
};

/* What the warm-up may take: measure.warmup_cap; where nobody set it, no more than is left of measure.cap for what lies
 * outside the blocks. */
double ifm_warm_up_most_s(const struct ifm_cell_run *cell);
void ifm_warm_up_init(struct ifm_warm_up *warm, struct ifm_cell_run *cell);
void ifm_warm_up_free(struct ifm_warm_up *warm);
/* At least two windows, so that there is something to compare, and a third where they differ; then until warm and
 * steady, or out of time. */
bool ifm_warm_up_wanted(const struct ifm_warm_up *warm);
/* Take in the window that stands in the cell's slots and samples. */
void ifm_warm_up_take(struct ifm_warm_up *warm);
IFM_CHECKED enum ifm_status ifm_warm_up_log(const struct ifm_warm_up *warm, struct ifm_error *error);

#endif
