/* What the gates of a plan ask of a comparison: the stop rule goes on while an answer is open.
 *
 * Pure; the rules of stats.h hold. */
#ifndef IFM_STATS_QUESTIONS_H
#define IFM_STATS_QUESTIONS_H

#include "model/plan.h"
#include "stats/stats.h"

struct ifm_questions {
    bool any, open;   /* about the change or the speed-up of the arm; one whose threshold the interval holds */
    bool wants_width; /* a gate is about another time, which no look follows: it wants many blocks */
    uint64_t blocks;  /* that the gates want at least */
};

/* `change` is the interval of ln(time of the arm / time of the baseline). An arm of a gate that the cell does not have
 * may be a form, which is any arm's. */
struct ifm_questions ifm_questions_of(const struct ifm_plan *plan, const struct ifm_cell *cell,
                                      const struct ifm_arm *arm, const struct ifm_interval *change);

#endif
