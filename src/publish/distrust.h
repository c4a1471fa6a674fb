/* What of two runs may not be used beside the other, as the word of trust has it. Pure; thread rule: no shared state.
 */
#ifndef IFM_PUBLISH_DISTRUST_H
#define IFM_PUBLISH_DISTRUST_H

#include "publish/comparison.h"

/* Why a cell is not to be used, and in which run; NULL = it may be. */
struct ifm_distrust {
    const char *why, *label;
};

/* A record or an output in the cell that does not hold, or a number of a row that is refused. */
struct ifm_distrust ifm_distrust_of(const struct ifm_comparison_runs *runs, const char *cell);
/* The same of one arm against its baseline, whatever other numbers of the cell are refused: a refused number of its own
 * is none, and says so itself. */
struct ifm_distrust ifm_distrust_of_arm(const struct ifm_comparison_runs *runs, const char *cell, const char *arm);

#endif
