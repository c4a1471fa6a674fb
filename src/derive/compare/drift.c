/* Drift of a difference between two arms (rule 7).
 *
 * The mirrored order of a block cancels a drift that both arms share. One that they do not share means that the
 * difference had no one value over the pass: its interval is widened to the hull of itself and of the intervals of the
 * fitted line at the pass's two ends. A line lies between its ends, and the hull can miss each of them on the outer
 * side alone, where a two-sided interval errs by half; so it holds every value that the line had at `level`
 * (unit/test_ratio_drift.c). Words follow from the widened interval: they stand where both ends say them. */
#include "derive/internal.h"

#include <math.h>

/* Noise widens one comparison in a hundred. */
static const double VISIBLE = 0.99;

double ifm_derive_hold_drift(const struct ifm_arm_work *arm, const struct ifm_arm_work *base, const bool *without,
                             double level, struct ifm_interval *interval)
{
    const struct ifm_cell_work *work = arm->work;
    struct ifm_arena *scratch = ifm_arena_create();
    double *logs = IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1), change = 0.0;
    double *mid = IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1);
    size_t n = ifm_pair_logs(arm, base, without, logs, mid);
    double tick = hypot(arm->quantum, base->quantum);
    struct ifm_slope line;
    struct ifm_interval first, last;
    bool visible = n >= IFM_BLOCKS_NEEDED && ifm_stats_slope(mid, logs, n, VISIBLE, &line) == IFM_STAT_OK &&
                   (line.interval.low > 0 || line.interval.high < 0);
    if (visible && fabs(line.slope * (mid[n - 1] - mid[0])) > log1p(work->cell->measure.margin) + tick &&
        ifm_stats_line_at(mid, logs, n, level, mid[0], &first) == IFM_STAT_OK &&
        ifm_stats_line_at(mid, logs, n, level, mid[n - 1], &last) == IFM_STAT_OK) {
        change = line.slope * (mid[n - 1] - mid[0]);
        interval->low = fmin(interval->low, fmin(first.low, last.low));
        interval->high = fmax(interval->high, fmax(first.high, last.high));
    }
    ifm_arena_destroy(scratch);
    return change;
}
