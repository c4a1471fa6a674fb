/* Whether a word about two arms stands beside blocks that the machine disturbed.
 *
 * A marked block is no evidence for the word: it counts as if it lay at the edge of the margin that the word must leave
 * behind, or where it lies if that speaks against the word more. Each further mark can then only move the interval
 * towards the edge, so more disturbance never makes a firmer word; and what holds so holds on average without the
 * marked blocks too. */
#include "derive/internal.h"

#include <math.h>
#include <string.h>

/* By how much the mean over the common blocks rises when each marked one lies at `edge` or above. */
static double rise_to(const struct ifm_arm_work *a, const bool *without, double edge, double sign, size_t *left)
{
    const struct ifm_arm_work *b = a->work->baseline;
    double rise = 0.0;
    size_t n = 0;
    *left = 0;
    for (size_t k = 0; k < a->work->n_blocks; k++) {
        if (!a->present[k] || !b->present[k] || (without != NULL && without[k]))
            continue;
        n++;
        double ratio = log(a->time_ns[k] / a->steps[k] / (b->time_ns[k] / b->steps[k]));
        if (a->work->marked[k])
            rise += fmax(0.0, edge - sign * ratio);
        else
            ++*left;
    }
    return n > 0 ? rise / (double)n : 0.0;
}

bool ifm_derive_marked_stand(const struct ifm_arm_work *arm, const bool *without, const struct ifm_interval *change,
                             const struct ifm_interval *equal, double edge)
{
    size_t left;
    if (change->high < -edge)
        return change->high + rise_to(arm, without, -edge, 1.0, &left) < -edge && left >= IFM_BLOCKS_NEEDED;
    if (change->low > edge)
        return -change->low + rise_to(arm, without, -edge, -1.0, &left) < -edge && left >= IFM_BLOCKS_NEEDED;
    return equal->high + rise_to(arm, without, edge, 1.0, &left) < edge &&
           -equal->low + rise_to(arm, without, edge, -1.0, &left) < edge && left >= IFM_BLOCKS_NEEDED;
}

void ifm_derive_leave_to_intervals(const struct ifm_arm_work *arm, const bool *without,
                                   const struct ifm_interval *change, const struct ifm_interval *equal, size_t first)
{
    const struct ifm_derived *out = arm->d->out;
    if (!ifm_derive_marked_stand(arm, without, change, equal, log1p(arm->work->cell->measure.margin)))
        return;
    for (size_t i = first; i < out->n_findings; i++)
        out->findings[i].in_intervals = strcmp(out->findings[i].rule, "rule-08") != 0;
}
