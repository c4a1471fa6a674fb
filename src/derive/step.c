/* The time of a step: an arm's level over its blocks, widened where the arm drifts. */
#include "derive/internal.h"

#include <math.h>

/* A step time from block logarithms; its interval when there are blocks enough. */
static struct ifm_value step_value(struct ifm_derivation *d, const struct ifm_log_mean *mean, double level)
{
    struct ifm_value value = ifm_value_of_logs(mean, 1.0, level, "blocks");
    if (!value.has_interval && mean->n < IFM_BLOCKS_NEEDED)
        value.text = ifm_needs_blocks(d->arena, mean->n);
    return value;
}

void ifm_derive_fifths(const double *logs, size_t n, double means[IFM_FIFTHS])
{
    for (size_t p = 0; p < IFM_FIFTHS; p++) {
        const size_t from = p * n / IFM_FIFTHS, to = (p + 1) * n / IFM_FIFTHS;
        means[p] = 0;
        for (size_t i = from; i < to; i++)
            means[p] += logs[i] / (double)(to - from);
    }
}

/* Of times themselves, as the mean is that the interval is of: a slow block weighs more in it than in logarithms. */
static void held_fifths(const double *logs, size_t n, double held[IFM_FIFTHS])
{
    for (size_t p = 0; p < IFM_FIFTHS; p++) {
        const size_t from = p * n / IFM_FIFTHS, to = (p + 1) * n / IFM_FIFTHS;
        double sum = 0;
        for (size_t i = from; i < to; i++)
            sum += exp(logs[i]);
        held[p] = log(sum / (double)(to - from));
    }
}

bool ifm_derive_drift_ends(const struct ifm_arm_work *arm, const bool *without, struct ifm_interval *ends)
{
    struct ifm_arena *scratch = ifm_arena_create();
    double *logs = IFM_ARENA_ARRAY(scratch, double, arm->work->n_blocks + 1);
    double *mid = IFM_ARENA_ARRAY(scratch, double, arm->work->n_blocks + 1), first = 0.0, last = 0.0, low, high;
    double fifths[IFM_FIFTHS];
    struct ifm_slope line;
    size_t n = ifm_arm_logs(arm, without, logs, mid);
    bool visible = ifm_stats_slope(mid, logs, n, IFM_LEVEL, &line) == IFM_STAT_OK &&
                   (line.interval.low > 0 || line.interval.high < 0);
    if (visible) {
        first = line.intercept + line.slope * mid[0];
        last = line.intercept + line.slope * mid[n - 1];
    }
    low = fmin(first, last);
    high = fmax(first, last);
    if (visible && n >= IFM_FIFTHS) {
        held_fifths(logs, n, fifths);
        for (size_t p = 0; p < IFM_FIFTHS; p++) {
            low = fmin(low, fifths[p]);
            high = fmax(high, fifths[p]);
        }
    }
    ifm_arena_destroy(scratch);
    *ends = (struct ifm_interval){exp(low), exp(high)};
    return visible && fabs(last - first) > log1p(arm->work->cell->measure.margin);
}

struct ifm_value ifm_derive_step_value(const struct ifm_arm_work *arm, const bool *without)
{
    return ifm_derive_step_at(arm, without, IFM_LEVEL);
}

struct ifm_value ifm_derive_step_at(const struct ifm_arm_work *arm, const bool *without, double level)
{
    const struct ifm_cell_work *work = arm->work;
    if (work->record == NULL)
        return ifm_value_missing(work, "blocks");
    if (arm->broken != NULL)
        return ifm_value_absent(arm->broken, arm->remedy, (int64_t)arm->n_blocks, "blocks");
    struct ifm_log_mean mean;
    struct ifm_interval ends;
    if (!ifm_arm_level(arm, without, &mean)) {
        const struct ifm_event_cell_failed *failed = ifm_derive_failure(work);
        return failed != NULL    ? ifm_value_absent(failed->reason, failed->remedy, 0, "blocks")
               : without != NULL ? ifm_value_absent("every block is marked", "", 0, "blocks")
                                 : ifm_value_absent("no complete block was recorded", "", 0, "blocks");
    }
    struct ifm_value value = step_value(arm->d, &mean, level);
    if (value.has_interval && ifm_derive_drift_ends(arm, without, &ends)) {
        value.low = fmin(value.low, ends.low);
        value.high = fmax(value.high, ends.high);
    }
    return value;
}
