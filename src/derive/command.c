/* What the columns of the workload `command` say of an arm: processor time, memory and mishaps of the programs. */
#include "derive/internal.h"

#include <string.h>

/* Every number here is one value a slot; which slots count, and how many of them were read. */
struct slots {
    int column;
    int64_t n, read;
    int64_t total, largest; /* of those read */
    bool overflows;
};

static struct slots slots_of(const struct ifm_cell_work *work, const struct ifm_arm_work *arm, const char *name)
{
    struct slots slots = {.column = ifm_derive_column(work->record, name)};
    for (size_t k = 0; slots.column >= 0 && k < work->record->n_slots; k++) {
        const struct ifm_slot *slot = &work->record->slots[k];
        if (slot->phase != IFM_PHASE_MEASURE || slot->arm != arm->index)
            continue;
        int64_t value = slot->columns[slots.column];
        slots.n++;
        if (value == IFM_ABSENT)
            continue;
        slots.largest = slots.read == 0 || value > slots.largest ? value : slots.largest;
        slots.overflows |= __builtin_add_overflow(slots.total, value, &slots.total);
        slots.read++;
    }
    return slots;
}

/* Mean of the block means with its t interval: blocks are the unit, guarded like a step time against what one shares
 * with the next. */
static struct ifm_value cpu_of(struct ifm_derivation *d, const struct ifm_cell_work *work,
                               const struct ifm_arm_work *arm)
{
    int column = ifm_derive_column(work->record, "child_cpu_ns");
    struct ifm_column_block *blocks = IFM_ARENA_ARRAY(d->arena, struct ifm_column_block, work->n_blocks + 1);
    double *means = IFM_ARENA_ARRAY(d->arena, double, work->n_blocks + 1), mean;
    struct ifm_log_mean level; /* of plain values here */
    struct ifm_interval interval;
    size_t n = 0;
    ifm_derive_column_blocks(work, arm, column, blocks);
    for (size_t b = 0; b < work->n_blocks; b++)
        if (blocks[b].read)
            means[n++] = blocks[b].total / blocks[b].steps; /* a step is one run: programs have gaps between them */
    if (ifm_stats_mean(means, n, &mean) != IFM_STAT_OK)
        return ifm_value_absent("the processor time of the programs was not read", "", 0, "blocks");
    struct ifm_value value = ifm_value_real(mean, (int64_t)n, "blocks");
    if (n < IFM_BLOCKS_NEEDED)
        value.text = ifm_needs_blocks(d->arena, n);
    else if (ifm_log_level_of(means, n, 0.0, &level) && ifm_log_mean_interval(&level, IFM_LEVEL, &interval))
        ifm_value_bracket(&value, interval.low > 0 ? interval.low : 0, interval.high, IFM_LEVEL);
    return value;
}

static struct ifm_value rss_of(const struct ifm_cell_work *work, const struct ifm_arm_work *arm)
{
    struct slots slots = slots_of(work, arm, "child_rss_bytes");
    if (slots.read == 0 && slots_of(work, arm, "child_cpu_ns").read == 0)
        return ifm_value_absent("the memory of the programs was not read", "", 0, "slots");
    if (slots.read == 0)
        return ifm_value_absent("no program's peak was seen above the lab's own, which the kernel counts with it", "",
                                0, "slots");
    struct ifm_value value = ifm_value_count(slots.largest, "slots");
    value.n = slots.read;
    return value;
}

static struct ifm_value total_of(struct ifm_derivation *d, const struct ifm_cell_work *work,
                                 const struct ifm_arm_work *arm, const char *name)
{
    struct slots slots = slots_of(work, arm, name);
    if (slots.read < slots.n || slots.n == 0)
        return ifm_value_absent(ifm_arena_printf(d->arena, "not read in %lld of %lld slots",
                                                 (long long)(slots.n - slots.read), (long long)slots.n),
                                "", slots.read, "slots");
    if (slots.overflows)
        return ifm_value_absent("the total overflows", "", slots.read, "slots");
    struct ifm_value value = ifm_value_count(slots.total, "slots");
    value.n = slots.n;
    return value;
}

static bool counts_programs(const struct ifm_cell *cell)
{
    for (size_t p = 0; p < cell->n_passes; p++)
        for (size_t c = 0; c < cell->passes[p].n_columns; c++)
            if (strcmp(cell->passes[p].columns[c], "child_cpu_ns") == 0)
                return true;
    return false;
}

void ifm_derive_command(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm_work *arm)
{
    static const struct {
        enum ifm_metric_id metric;
        const char *column;
    } totals[] = {
        {IFM_M_COMMAND_FAULTS_MAJOR, "child_faults_major"},
        {IFM_M_COMMAND_SWITCHES_INVOLUNTARY, "child_switches_involuntary"},
        {IFM_M_COMMAND_FAILURES, "child_failures"},
        {IFM_M_COMMAND_STRAYS, "child_strays"},
    };
    if (!counts_programs(work->cell) || ifm_derive_is_probe(arm->arm))
        return;
    struct ifm_value missing = ifm_value_absent(work->missing, work->remedy, 0, "slots");
    bool recorded = work->record != NULL;
    ifm_derive_emit(d, work, arm, IFM_M_COMMAND_CPU_NS, recorded ? cpu_of(d, work, arm) : missing);
    ifm_derive_emit(d, work, arm, IFM_M_COMMAND_RSS_BYTES, recorded ? rss_of(work, arm) : missing);
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        ifm_derive_emit(d, work, arm, totals[i].metric, recorded ? total_of(d, work, arm, totals[i].column) : missing);
}
