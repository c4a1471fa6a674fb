/* Means of block logarithms, and what a rate, a share and a comparison have in common. */
#include "derive/internal.h"

#include <math.h>

/* Autocorrelation between differences of blocks is corrected for where it is visible: above this many standard errors
 * (one-sided 5 %).
 */
#define VISIBLE 1.645

/* A trend is not dependence: it is in the spread already, and the rule on drift widens for it. What is left beside the
 * fitted line tells how much one block repeats the one before. At least three blocks' worth always remains. */
static double effective_blocks(const double *logs, size_t n)
{
    struct ifm_arena *scratch = ifm_arena_create();
    double *at = IFM_ARENA_ARRAY(scratch, double, n + 1), *rest = IFM_ARENA_ARRAY(scratch, double, n + 1);
    double r = 0.0, effective = (double)n;
    struct ifm_slope line;
    for (size_t i = 0; i < n; i++)
        at[i] = (double)i;
    if (n >= 10 && ifm_stats_slope(at, logs, n, IFM_LEVEL, &line) == IFM_STAT_OK) {
        for (size_t i = 0; i < n; i++)
            rest[i] = logs[i] - line.intercept - line.slope * at[i];
        bool visible = ifm_stats_autocorrelation(rest, n, &r) == IFM_STAT_OK && r > VISIBLE / sqrt((double)n);
        if (!visible || ifm_stats_effective_size(n, r, &effective) != IFM_STAT_OK)
            effective = (double)n;
    }
    ifm_arena_destroy(scratch);
    return effective < 3.0 ? 3.0 : effective;
}

bool ifm_log_mean_of(const double *logs, size_t n, double quantum, struct ifm_log_mean *out)
{
    double mean;
    if (ifm_stats_mean(logs, n, &mean) != IFM_STAT_OK)
        return false;
    struct ifm_moments moments = {mean, 0.0};
    if (n >= 2 && ifm_stats_moments(logs, n, &moments) != IFM_STAT_OK)
        return false;
    /* Equal blocks are equal only to the clock's tick: a uniform error of one tick remains. */
    double tick = quantum / sqrt(12.0);
    *out = (struct ifm_log_mean){n, moments.mean, moments.sd > tick ? moments.sd : tick, (double)n, 0.0};
    if (n >= 10)
        out->n_effective = effective_blocks(logs, n);
    out->df = out->n_effective - 1.0;
    return true;
}

bool ifm_log_level_of(const double *logs, size_t n, double quantum, struct ifm_log_mean *out)
{
    double r;
    if (!ifm_log_mean_of(logs, n, quantum, out))
        return false;
    out->n_effective = (double)n;
    if (ifm_stats_autocorrelation(logs, n, &r) != IFM_STAT_OK ||
        ifm_stats_effective_guarded(n, r, &out->n_effective) != IFM_STAT_OK)
        out->n_effective = (double)n;
    out->df = sqrt((out->n_effective - 1.0) * ((double)n - 1.0));
    return true;
}

bool ifm_log_mean_interval(const struct ifm_log_mean *mean, double level, struct ifm_interval *out)
{
    double t;
    if (mean->n < IFM_BLOCKS_NEEDED || !(mean->sd > 0.0) ||
        ifm_stats_t_quantile(0.5 + 0.5 * level, mean->df, &t) != IFM_STAT_OK)
        return false;
    double half = t * mean->sd / sqrt(mean->n_effective);
    *out = (struct ifm_interval){mean->mean - half, mean->mean + half};
    return isfinite(out->low) && isfinite(out->high);
}

size_t ifm_arm_logs(const struct ifm_cell_work *work, const struct ifm_arm_work *arm, bool unmarked, double *logs,
                    double *mid_ns)
{
    size_t n = 0;
    for (size_t b = 0; b < work->n_blocks; b++) {
        if (!arm->present[b] || (unmarked && work->marked[b]))
            continue;
        if (mid_ns != NULL)
            mid_ns[n] = arm->mid_ns[b];
        logs[n++] = arm->log_step[b];
    }
    return n;
}

size_t ifm_pair_logs(const struct ifm_cell_work *work, const struct ifm_arm_work *a, const struct ifm_arm_work *b,
                     bool unmarked, double *logs, double *mid_ns)
{
    size_t n = 0;
    for (size_t k = 0; k < work->n_blocks; k++) {
        if (!a->present[k] || !b->present[k] || (unmarked && work->marked[k]))
            continue;
        if (mid_ns != NULL)
            mid_ns[n] = a->mid_ns[k];
        logs[n++] = a->log_step[k] - b->log_step[k];
    }
    return n;
}

const char *ifm_needs_blocks(struct ifm_arena *arena, size_t has)
{
    return ifm_arena_printf(arena, "needs %d blocks, has %zu", IFM_BLOCKS_NEEDED, has);
}

double ifm_ceiling_amount(const struct ifm_arm *arm, enum ifm_ceiling kind)
{
    const struct ifm_ledger *ledger = &arm->ledger;
    switch (kind) {
    case IFM_CEILING_READ:
        return (double)ledger->bytes_read;
    case IFM_CEILING_WRITE:
        return (double)ledger->bytes_written;
    case IFM_CEILING_COPY:
        return (double)ledger->bytes_read + (double)ledger->bytes_written;
    case IFM_CEILING_FLOPS:
    case IFM_CEILING_MATRIX:
        return (double)ledger->flops;
    case IFM_CEILING_NONE:
        break;
    }
    return 0.0;
}
