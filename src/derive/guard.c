/* The guard over what observes: steps in a pass with an instrument against steps of the latency pass.
 *
 * Above MUCH_SLOWER per cent the times of that pass are those of other steps: the two parts of the record do not agree
 * (rule 4), and no number is made of them. Latency is never of such a pass. */
#include "derive/internal.h"

#include <math.h>

#define MUCH_SLOWER 10.0 /* per cent */

/* Time of samples, and their steps. */
struct guard_sum {
    double time, steps;
};

/* `last`: of the last sample of the slot alone. */
static void add_slot(const struct ifm_arm_work *arm, const struct ifm_record *record, size_t k, bool last,
                     struct guard_sum *sum)
{
    const struct ifm_slot *slot = &record->slots[k];
    if (slot->phase != IFM_PHASE_MEASURE || slot->arm != arm->index)
        return;
    const size_t end = record->first[k + 1], from = last && slot->samples > 0 ? end - 1 : record->first[k];
    for (size_t i = from; i < end; i++)
        sum->time += (double)record->samples[i].duration_ns;
    sum->steps += (double)(end - from) * (double)slot->inner;
}

static double step_in(const struct ifm_arm_work *arm, const struct ifm_record *record, bool last)
{
    struct guard_sum sum = {0, 0};
    for (size_t k = 0; k < record->n_slots; k++)
        add_slot(arm, record, k, last, &sum);
    return sum.steps > 0 ? sum.time / sum.steps : NAN;
}

double ifm_derive_step_in(const struct ifm_arm_work *arm, const struct ifm_record *record)
{
    return step_in(arm, record, false);
}

/* The same of each block; how many there are. */
static size_t steps_by_block(const struct ifm_arm_work *arm, const struct ifm_record *record, bool last, double *values)
{
    size_t n = 0;
    for (size_t k = 0; k < record->n_slots;) {
        struct guard_sum sum = {0, 0};
        const uint32_t block = record->slots[k].block;
        for (; k < record->n_slots && record->slots[k].block == block; k++)
            add_slot(arm, record, k, last, &sum);
        if (sum.steps > 0)
            values[n++] = sum.time / sum.steps;
    }
    return n;
}

/* Variance of the mean over blocks, relative to its square; 0 where all are the same. */
static double relative_variance(const double *values, size_t n)
{
    struct ifm_moments of;
    const bool fine = ifm_stats_moments(values, n, &of) == IFM_STAT_OK && of.mean > 0;
    return fine ? of.sd * of.sd / (of.mean * of.mean * (double)n) : 0;
}

/* Passes follow each other, so that their blocks are no pairs: the spread of both, and the fewer blocks' t. */
struct ifm_value ifm_derive_slower(const struct ifm_arm_work *arm, const struct ifm_record *own, bool last,
                                   const char *of)
{
    const struct ifm_record *timed = arm->work->record;
    const double ratio = own == NULL || timed == NULL ? NAN : step_in(arm, own, last) / step_in(arm, timed, last);
    if (!isfinite(ratio))
        return ifm_value_absent("one of the two passes has no steps of this arm", "", 0, of);
    struct ifm_arena *scratch = ifm_arena_create();
    double *a = IFM_ARENA_ARRAY(scratch, double, own->n_slots + 1),
           *b = IFM_ARENA_ARRAY(scratch, double, timed->n_slots + 1);
    const size_t n_a = steps_by_block(arm, own, last, a), n_b = steps_by_block(arm, timed, last, b),
                 n = n_a < n_b ? n_a : n_b;
    const double error = 100 * ratio * sqrt(relative_variance(a, n_a) + relative_variance(b, n_b));
    ifm_arena_destroy(scratch);
    struct ifm_value value = ifm_value_real(100 * (ratio - 1), (int64_t)n_a, of);
    struct ifm_interval interval = {value.number, value.number};
    if (n >= IFM_BLOCKS_NEEDED && (error <= 0 || ifm_stats_t_interval(value.number, error * sqrt((double)n), (double)n,
                                                                      IFM_LEVEL, &interval) == IFM_STAT_OK))
        ifm_value_bracket(&value, interval.low, interval.high, IFM_LEVEL);
    return value;
}

const char *ifm_derive_too_slow(const struct ifm_arm_work *arm, const struct ifm_value *slower, const char *while_what)
{
    return slower->state == IFM_STATE_OK && slower->number > MUCH_SLOWER
               ? ifm_arena_printf(arm->d->arena, "steps took %.3g %% longer while %s: the time is not that of a step",
                                  slower->number, while_what)
               : NULL;
}

void ifm_derive_say_slower(const struct ifm_arm_work *arm, const struct ifm_value *slower, const char *while_what)
{
    if (slower->state == IFM_STATE_OK && slower->number > MUCH_SLOWER)
        ifm_derive_say_arm(
            arm, IFM_SEVERITY_NOTE, "rule-04",
            "steps took %.3g %% longer while %s; that pass is apart from the latencies, and its times are "
            "not used",
            slower->number, while_what);
}

bool ifm_derive_counts_cpu(const struct ifm_cell_work *work)
{
    return ifm_plan_counts(work->cell, "cpu_cycles");
}
