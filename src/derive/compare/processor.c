/* The change of the processor time of a program, paired by block as its time is, with a word of its own.
 *
 * What others take from a program is in its time and not in its processor time, so this decides on a machine under
 * load. It is of all common blocks: to wait for a CPU is no reason to leave one out here. What the kernel counts in
 * ticks is no finer than they are. */
#include "derive/compare/comparison.h"

#include <math.h>
#include <string.h>

/* The unit that all readings of the column are multiples of: a microsecond as a rule, and 4 or 10 ms of a kernel that
 * counts ticks. 0 = nothing was read. */
static double unit_of(const struct ifm_record *record, int column)
{
    int64_t unit = 0;
    for (size_t k = 0; k < record->n_slots; k++)
        for (int64_t value = record->slots[k].columns[column], rest; value > 0; value = rest) {
            rest = unit > 0 ? unit % value : 0;
            unit = value;
        }
    return (double)unit;
}

/* The arm as it would be, were its time its processor time. */
static struct ifm_arm_work by_processor(const struct ifm_arm_work *arm, int column, struct ifm_arena *arena)
{
    struct ifm_arm_work out = *arm;
    const size_t n = arm->work->n_blocks;
    double time_ns = 0, steps = 0;
    size_t read;
    const struct ifm_column_block *blocks = ifm_derive_column_blocks(arm, column, arena, &read);
    out.time_ns = IFM_ARENA_ARRAY(arena, double, n + 1);
    out.steps = IFM_ARENA_ARRAY(arena, double, n + 1);
    out.present = IFM_ARENA_ARRAY(arena, bool, n + 1);
    for (size_t b = 0; b < n; b++) {
        out.present[b] = arm->present[b] && blocks[b].read && blocks[b].total > 0;
        out.time_ns[b] = blocks[b].total;
        out.steps[b] = blocks[b].steps;
        time_ns += out.present[b] ? blocks[b].total : 0;
        steps += out.present[b] ? blocks[b].steps : 0;
    }
    out.quantum = time_ns > 0 ? unit_of(arm->work->record, column) * steps / time_ns : 0;
    return out;
}

/* The record as it would be, its samples alike in a slot; a slot that was not read takes 1 ns, and no block has it. */
static struct ifm_record record_by_processor(const struct ifm_record *record, int column, struct ifm_arena *arena)
{
    struct ifm_record out = *record;
    out.samples = IFM_ARENA_ARRAY(arena, struct ifm_sample, record->n_samples + 1);
    for (size_t k = 0; k < record->n_slots; k++) {
        const int64_t n = (int64_t)(record->first[k + 1] - record->first[k]), cpu_ns = record->slots[k].columns[column];
        for (size_t i = record->first[k]; i < record->first[k + 1]; i++) {
            out.samples[i] = record->samples[i];
            out.samples[i].duration_ns = cpu_ns > n ? cpu_ns / n : 1;
        }
    }
    return out;
}

/* What one arm leaves behind for another may lie in this too and is no difference of the programs, and so may clocks
 * that differ. */
static void widen(const struct ifm_arm_work *own, const struct ifm_arm_work *arm, struct comparison *c)
{
    const struct ifm_carried carried = ifm_derive_carried(own);
    const double apart = ifm_derive_clocks_apart(arm, arm->work->baseline);
    struct ifm_interval *const both[] = {&c->change, &c->equal};
    for (size_t i = 0; i < 2; i++) {
        both[i]->low += fmin(apart, 0) - carried.high;
        both[i]->high += fmax(apart, 0) - carried.low;
    }
}

/* Few slow runs must not say one thing where the others say the opposite: then it is not decided. */
static void hold_typical(const struct ifm_arm_work *own, struct comparison *c)
{
    struct ifm_arena *scratch = ifm_arena_create();
    double *logs = IFM_ARENA_ARRAY(scratch, double, own->work->n_blocks + 1), median;
    double *room = IFM_ARENA_ARRAY(scratch, double, own->work->n_blocks + 1);
    const size_t n = ifm_pair_logs(own, own->work->baseline, NULL, logs, NULL);
    struct ifm_interval *const both[] = {&c->change, &c->equal};
    ifm_stats_sort(logs, room, n);
    const bool known = ifm_stats_quantile_sorted(logs, n, 0.5, &median) == IFM_STAT_OK;
    for (size_t i = 0; known && median * c->mean.mean < 0 && i < 2; i++) {
        both[i]->low = fmin(both[i]->low, median);
        both[i]->high = fmax(both[i]->high, median);
    }
    ifm_arena_destroy(scratch);
}

static struct ifm_value absent(struct ifm_arena *arena, size_t n)
{
    return ifm_value_absent(n == 0 ? "the processor time of the programs was not read" : ifm_needs_blocks(arena, n), "",
                            (int64_t)n, "blocks");
}

static struct ifm_value change_of(const struct ifm_arm_work *arm, int column, struct ifm_arena *scratch)
{
    static const char *const words[][2] = {{"faster", "less"}, {"slower", "more"}, {"equivalent", "equivalent"}};
    struct ifm_cell_work work = *arm->work;
    const struct ifm_record record = record_by_processor(work.record, column, scratch);
    struct ifm_arm_work base = by_processor(work.baseline, column, scratch);
    struct ifm_arm_work own = by_processor(arm, column, scratch);
    struct comparison c;
    work.record = &record;
    work.baseline = &base;
    own.work = base.work = &work;
    if (!ifm_derive_pair(&own, NULL, &c))
        return absent(arm->d->arena, c.n);
    hold_typical(&own, &c);
    widen(&own, arm, &c);
    const char *word = ifm_derive_word(&c, work.cell->measure.margin);
    struct ifm_value value = ifm_value_of_change(c.mean.mean, c.change, c.level, c.n, "blocks");
    value.text = "undecided";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        value.text = strcmp(word, words[i][0]) == 0 ? words[i][1] : value.text;
    return value;
}

void ifm_derive_processor_change(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    if (!ifm_derive_is_compared(arm) || !ifm_cell_counts_programs(work->cell))
        return;
    const int column = work->record == NULL ? -1 : ifm_derive_column(work->record, "child_cpu_ns");
    struct ifm_arena *scratch = ifm_arena_create();
    ifm_derive_emit(arm, IFM_M_CHANGE_CPU_PERCENT,
                    work->record == NULL ? ifm_value_missing(work, "blocks")
                    : column < 0         ? absent(arm->d->arena, 0)
                                         : change_of(arm, column, scratch));
    ifm_arena_destroy(scratch);
}
