/* What the columns of other programs say of an arm whose steps they are: processor time, memory and mishaps. */
#include "derive/internal.h"
#include "stats/tail.h"

/* No interval where the tail of the runs may hide from it. */
static void bracket_cpu(const struct ifm_arm_work *arm, const double *means, size_t n, struct ifm_value *value)
{
    struct ifm_log_mean level; /* of plain values here */
    struct ifm_interval interval;
    enum ifm_tail tail = IFM_TAIL_HOLDS;
    size_t needs = n;
    double runs = (double)(arm->n_samples > n ? arm->n_samples : n);
    if (n < IFM_BLOCKS_NEEDED)
        value->text = ifm_needs_blocks(arm->d->arena, n);
    else if (ifm_stats_tail(means, n, (double)n, runs, &tail, &needs) != IFM_STAT_OK || tail != IFM_TAIL_HOLDS)
        value->text = ifm_arena_printf(arm->d->arena, "no interval: needs %zu blocks of as many runs: %s", needs,
                                       ifm_tail_reason(tail));
    else if (ifm_log_level_of(means, n, 0.0, &level) && ifm_log_mean_interval(&level, IFM_LEVEL, &interval))
        ifm_value_bracket(value, interval.low > 0 ? interval.low : 0, interval.high, IFM_LEVEL);
}

/* Mean of the block means with its t interval: blocks are the unit, guarded like a step time against what one shares
 * with the next. */
static struct ifm_value cpu_of(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    int column = ifm_derive_column(work->record, "child_cpu_ns");
    size_t n = 0, read;
    const struct ifm_column_block *blocks = ifm_derive_column_blocks(arm, column, arm->d->arena, &read);
    double *means = IFM_ARENA_ARRAY(arm->d->arena, double, work->n_blocks + 1), mean;
    for (size_t b = 0; b < work->n_blocks; b++)
        if (blocks[b].read)
            means[n++] = blocks[b].total / blocks[b].steps; /* a step is one run: programs have gaps between them */
    if (ifm_stats_mean(means, n, &mean) != IFM_STAT_OK)
        return ifm_value_absent("the processor time of the programs was not read", "", 0, "blocks");
    struct ifm_value value = ifm_value_real(mean, (int64_t)n, "blocks");
    bracket_cpu(arm, means, n, &value);
    return value;
}

static struct ifm_value rss_of(const struct ifm_arm_work *arm)
{
    struct ifm_column_total slots = ifm_derive_column_total(arm, "child_rss_bytes");
    if (slots.read == 0 && ifm_derive_column_total(arm, "child_cpu_ns").read == 0)
        return ifm_value_absent("the memory of the programs was not read", "", 0, "slots");
    if (slots.read == 0)
        return ifm_value_absent("no program's peak was seen above the lab's own, which the kernel counts with it", "",
                                0, "slots");
    return ifm_value_count_of(slots.largest, slots.read, "slots");
}

void ifm_derive_command(const struct ifm_arm_work *arm)
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
    if (!ifm_cell_counts_programs(arm->work->cell) || ifm_derive_is_probe(arm->arm))
        return;
    struct ifm_value missing = ifm_value_missing(arm->work, "slots");
    bool recorded = arm->work->record != NULL;
    ifm_derive_emit(arm, IFM_M_COMMAND_CPU_NS, recorded ? cpu_of(arm) : missing);
    ifm_derive_emit(arm, IFM_M_COMMAND_RSS_BYTES, recorded ? rss_of(arm) : missing);
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        ifm_derive_emit(arm, totals[i].metric, ifm_derive_total_value(arm, totals[i].column, NULL, ""));
}
