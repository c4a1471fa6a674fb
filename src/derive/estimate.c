/* What a rate, a share and a comparison have in common: logarithms of ratios over blocks.
 *
 * The value of an arm is time over steps, of all its blocks together. Its logarithm is no mean over blocks, but to
 * first order it is one of the influence that each block has on it (Cochran, Sampling Techniques, 1977, section 2.11:
 * the variance of a ratio estimate), and so is the difference of two. Whatever knows the mean of a series in time
 * order, its spread, its autocorrelation and its interval therefore works on influences as it does on logarithms. */
#include "derive/internal.h"

#include <math.h>

bool ifm_log_mean_of(const double *logs, size_t n, double quantum, struct ifm_log_mean *out)
{
    struct ifm_arena *scratch = ifm_arena_create();
    bool made = ifm_stats_log_mean(logs, n, quantum, IFM_ARENA_ARRAY(scratch, double, 2 * n + 1), out);
    ifm_arena_destroy(scratch);
    return made;
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

size_t ifm_arm_logs(const struct ifm_arm_work *arm, const bool *without, double *logs, double *mid_ns)
{
    size_t n = 0;
    for (size_t b = 0; b < arm->work->n_blocks; b++) {
        if (!arm->present[b] || (without != NULL && without[b]))
            continue;
        if (mid_ns != NULL)
            mid_ns[n] = arm->mid_ns[b];
        logs[n++] = log(arm->time_ns[b] / arm->steps[b]);
    }
    return n;
}

size_t ifm_pair_logs(const struct ifm_arm_work *a, const struct ifm_arm_work *b, const bool *without, double *logs,
                     double *mid_ns)
{
    size_t n = 0;
    for (size_t k = 0; k < a->work->n_blocks; k++) {
        if (!a->present[k] || !b->present[k] || (without != NULL && without[k]))
            continue;
        if (mid_ns != NULL)
            mid_ns[n] = a->mid_ns[k];
        logs[n++] = log(a->time_ns[k] / a->steps[k]) - log(b->time_ns[k] / b->steps[k]);
    }
    return n;
}

size_t ifm_pair_medians(const struct ifm_arm_work *a, const struct ifm_arm_work *b, const bool *without, double *logs)
{
    size_t n = 0;
    for (size_t k = 0; k < a->work->n_blocks; k++)
        if (a->present[k] && b->present[k] && (without == NULL || !without[k]))
            logs[n++] = a->log_median[k] - b->log_median[k];
    return n;
}

/* Adds `sign` times the influence of each block on ln(time / steps) of the arm, over the blocks that `other` has too;
 * returns how many. The mean of what is added is that logarithm. */
static size_t add_influence(const struct ifm_arm_work *arm, const struct ifm_arm_work *other, const bool *without,
                            double sign, double *values)
{
    double time = 0.0, steps = 0.0;
    size_t n = 0;
    for (int round = 0; round < 2; round++) {
        size_t at = 0;
        for (size_t b = 0; b < arm->work->n_blocks; b++) {
            if (!arm->present[b] || !other->present[b] || (without != NULL && without[b]))
                continue;
            if (round == 0) {
                time += arm->time_ns[b];
                steps += arm->steps[b];
                n++;
            } else {
                double beside = (arm->time_ns[b] - time / steps * arm->steps[b]) / (time / (double)n);
                values[at++] += sign * (log(time / steps) + beside);
            }
        }
    }
    return n;
}

bool ifm_arm_level(const struct ifm_arm_work *arm, const bool *without, struct ifm_log_mean *out)
{
    struct ifm_arena *scratch = ifm_arena_create();
    double *values = IFM_ARENA_ARRAY(scratch, double, arm->work->n_blocks + 1);
    bool made = ifm_log_level_of(values, add_influence(arm, arm, without, 1.0, values), arm->quantum, out);
    ifm_arena_destroy(scratch);
    return made;
}

bool ifm_pair_mean(const struct ifm_arm_work *a, const struct ifm_arm_work *b, const bool *without,
                   struct ifm_log_mean *out)
{
    struct ifm_arena *scratch = ifm_arena_create();
    double *values = IFM_ARENA_ARRAY(scratch, double, a->work->n_blocks + 1);
    size_t n = add_influence(a, b, without, 1.0, values);
    add_influence(b, a, without, -1.0, values);
    bool made = ifm_log_mean_of(values, n, hypot(a->quantum, b->quantum), out);
    ifm_arena_destroy(scratch);
    return made;
}

struct ifm_value ifm_value_of_logs(const struct ifm_log_mean *mean, double scale, double level, const char *n_of)
{
    struct ifm_value value = ifm_value_real(scale * exp(mean->mean), (int64_t)mean->n, n_of);
    struct ifm_interval interval;
    if (ifm_log_mean_interval(mean, level, &interval))
        ifm_value_bracket(&value, scale * exp(interval.low), scale * exp(interval.high), IFM_LEVEL);
    return value;
}

struct ifm_value ifm_value_of_change(double change, struct ifm_interval interval, double level, size_t n,
                                     const char *n_of)
{
    struct ifm_value value = ifm_value_real(100.0 * expm1(change), (int64_t)n, n_of);
    ifm_value_bracket(&value, 100.0 * expm1(interval.low), 100.0 * expm1(interval.high), level);
    return value;
}

uint64_t ifm_derive_seed(const struct ifm_arm_work *arm)
{
    return arm->work->cell->seed + UINT64_C(0x9E3779B97F4A7C15) * (arm->index + 1);
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
    case IFM_CEILING_L1:
    case IFM_CEILING_L2:
    case IFM_CEILING_L3:
        return (double)ledger->bytes_read;
    case IFM_CEILING_WRITE:
        return (double)ledger->bytes_written;
    case IFM_CEILING_COPY:
        return (double)ledger->bytes_read + (double)ledger->bytes_written;
    case IFM_CEILING_FLOPS:
    case IFM_CEILING_MATRIX:
    case IFM_CEILING_INT8:
        return (double)ledger->flops;
    case IFM_CEILING_CLOCK:
        return (double)ledger->rows;
    case IFM_CEILING_NONE:
    case IFM_CEILINGS:
        break;
    }
    return 0.0;
}
