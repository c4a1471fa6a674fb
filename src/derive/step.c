/* The time of a step: an arm's level over its blocks, widened where the arm drifts. */
#include "derive/internal.h"

#include <math.h>

/* A step time from block logarithms; its interval when there are blocks enough. */
static struct ifm_value step_value(struct ifm_derivation *d, const struct ifm_log_mean *mean)
{
    struct ifm_value value = ifm_value_of_logs(mean, 1.0, IFM_LEVEL, "blocks");
    if (!value.has_interval && mean->n < IFM_BLOCKS_NEEDED)
        value.text = ifm_needs_blocks(d->arena, mean->n);
    return value;
}

/* A visible drift beyond the margin widens the interval to the fitted line's two ends (rule 7): the arm had no one
 * speed. */
static void widen_by_drift(const struct ifm_cell_work *work, const double *logs, const double *mid, size_t n,
                           struct ifm_value *value)
{
    struct ifm_slope line;
    if (!value->has_interval || ifm_stats_slope(mid, logs, n, IFM_LEVEL, &line) != IFM_STAT_OK)
        return;
    double first = line.intercept + line.slope * mid[0], last = line.intercept + line.slope * mid[n - 1];
    bool visible = line.interval.low > 0 || line.interval.high < 0;
    if (!visible || fabs(last - first) <= log1p(work->cell->measure.margin))
        return;
    value->low = fmin(value->low, exp(fmin(first, last)));
    value->high = fmax(value->high, exp(fmax(first, last)));
}

struct ifm_value ifm_derive_step_value(const struct ifm_arm_work *arm, bool unmarked)
{
    const struct ifm_cell_work *work = arm->work;
    if (work->record == NULL)
        return ifm_value_missing(work, "blocks");
    if (arm->broken != NULL)
        return ifm_value_absent(arm->broken, arm->remedy, (int64_t)arm->n_blocks, "blocks");
    double *logs = IFM_ARENA_ARRAY(arm->d->arena, double, work->n_blocks + 1);
    double *mid = IFM_ARENA_ARRAY(arm->d->arena, double, work->n_blocks + 1);
    size_t n = ifm_arm_logs(arm, unmarked, logs, mid);
    struct ifm_log_mean mean;
    if (!ifm_arm_level(arm, unmarked, &mean))
        return ifm_value_absent(unmarked ? "every block is marked" : "no complete block was recorded", "", 0, "blocks");
    struct ifm_value value = step_value(arm->d, &mean);
    widen_by_drift(work, logs, mid, n, &value);
    return value;
}
