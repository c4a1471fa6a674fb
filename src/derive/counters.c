/* Numbers from columns and facts that only some passes have: second-level cache, energy, quality.
 *
 * They come from whatever instrument supplies the columns l2_hits, l2_accesses and energy_uj. A number that nobody
 * asked for and nothing recorded is not listed; one that a gate asks for is absent, with the reason. */
#include "derive/energy/energy.h"

#include <math.h>
#include <string.h>

static struct ifm_value no_l2(const struct ifm_cell_work *work)
{
    return ifm_value_unread(work, "no instrument of this pass reads L2 counters",
                            "measure where one does: processor counters (perf), or the profiler of a GPU", "blocks");
}

/* Why there is neither an energy pass nor a column of energy. */
static struct ifm_value no_energy(const struct ifm_cell_work *work)
{
    bool said = !ifm_is_empty(work->power.missing);
    return ifm_value_unread(work, said ? work->power.missing : "no window of energy of this arm was recorded",
                            said ? work->power.remedy : IFM_GO_ON, "blocks");
}

/* Of an arm that has the column in `n` of its blocks. */
static struct ifm_value partly_read(const struct ifm_arm_work *arm, size_t n)
{
    return ifm_value_absent(ifm_arena_printf(arm->d->arena, "read in %zu of %zu blocks", n, arm->n_blocks), "",
                            (int64_t)n, "blocks");
}

/* ---- second-level cache ---- */

struct l2_block {
    double hits, accesses;
    bool read;
};

/* Both columns by block; NULL when the record lacks one of them, or no block has either. */
static struct l2_block *l2_blocks(const struct ifm_arm_work *arm, struct ifm_arena *scratch)
{
    const struct ifm_cell_work *work = arm->work;
    int hits = ifm_derive_column(work->record, "l2_hits"), all = ifm_derive_column(work->record, "l2_accesses");
    size_t read_a, read_b;
    if (hits < 0 || all < 0)
        return NULL;
    const struct ifm_column_block *a = ifm_derive_column_blocks(arm, hits, scratch, &read_a);
    const struct ifm_column_block *b = ifm_derive_column_blocks(arm, all, scratch, &read_b);
    struct l2_block *out = IFM_ARENA_ARRAY(scratch, struct l2_block, work->n_blocks + 1);
    for (size_t i = 0; i < work->n_blocks; i++)
        out[i] = (struct l2_block){a[i].total, b[i].total, a[i].read && b[i].read && b[i].total > 0};
    return read_a + read_b > 0 ? out : NULL;
}

static struct ifm_value l2_hit_value(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    struct ifm_arena *scratch = ifm_arena_create();
    const struct l2_block *blocks = l2_blocks(arm, scratch);
    double hits = 0.0, all = 0.0;
    size_t n = 0;
    for (size_t b = 0; blocks != NULL && b < work->n_blocks; b++) {
        hits += blocks[b].read ? blocks[b].hits : 0.0;
        all += blocks[b].read ? blocks[b].accesses : 0.0;
        n += blocks[b].read;
    }
    ifm_arena_destroy(scratch);
    if (blocks == NULL)
        return no_l2(work);
    if (ifm_derive_has_gaps(arm))
        return ifm_derive_of_gaps(arm, 0, "blocks");
    return n < arm->n_blocks || n == 0 ? partly_read(arm, n) : ifm_value_real(100.0 * hits / all, (int64_t)n, "blocks");
}

/* A mean over blocks with its interval, from values that are resolved to `quantum`. */
static struct ifm_value mean_value(const struct ifm_cell_work *work, const double *values, size_t n, double quantum,
                                   bool logarithms)
{
    struct ifm_log_mean mean;
    struct ifm_interval interval;
    double level = ifm_derive_compare_level(work);
    if (!ifm_log_mean_of(values, n, quantum, &mean))
        return ifm_value_absent("no block has the counters of both arms", "", 0, "blocks");
    bool bracketed = ifm_log_mean_interval(&mean, level, &interval);
    if (bracketed && logarithms)
        return ifm_value_of_change(mean.mean, interval, level, n, "blocks");
    struct ifm_value value = ifm_value_real(logarithms ? 100.0 * expm1(mean.mean) : mean.mean, (int64_t)n, "blocks");
    if (bracketed)
        ifm_value_bracket(&value, interval.low, interval.high, level);
    else
        value.text = ifm_needs_blocks(work->d->arena, n);
    return value;
}

static struct ifm_value l2_change_value(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    struct ifm_arena *scratch = ifm_arena_create();
    const struct l2_block *own = l2_blocks(arm, scratch), *base = l2_blocks(work->baseline, scratch);
    double *points = IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1), quantum = 0.0;
    size_t n = 0;
    bool there = own != NULL && base != NULL;
    for (size_t b = 0; there && b < work->n_blocks; b++) {
        if (!own[b].read || !base[b].read)
            continue;
        points[n++] = 100.0 * (own[b].hits / own[b].accesses - base[b].hits / base[b].accesses);
        quantum = fmax(quantum, 100.0 * hypot(1.0 / own[b].accesses, 1.0 / base[b].accesses)); /* one count */
    }
    struct ifm_value value = there ? mean_value(work, points, n, quantum, false) : no_l2(work);
    if (there && (ifm_derive_has_gaps(arm) || ifm_derive_has_gaps(work->baseline)))
        value = ifm_derive_of_gaps(ifm_derive_has_gaps(arm) ? arm : work->baseline, 0, "blocks");
    ifm_arena_destroy(scratch);
    return value;
}

/* ---- energy ---- */

static struct ifm_value energy_value(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    int column = work->record == NULL ? -1 : ifm_derive_column(work->record, "energy_uj");
    if (ifm_energy_tokens_of(arm->arm) == 0)
        return column < 0 ? no_energy(work) : ifm_value_absent("a step of this arm makes no tokens", "", 0, "blocks");
    if (column < 0)
        return no_energy(work);
    if (ifm_derive_has_gaps(arm))
        return ifm_derive_of_gaps(arm, 0, "blocks");
    struct ifm_arena *scratch = ifm_arena_create();
    size_t n;
    const struct ifm_column_block *blocks = ifm_derive_column_blocks(arm, column, scratch, &n);
    double total = 0.0, steps = 0.0;
    for (size_t b = 0; b < work->n_blocks; b++) {
        total += blocks[b].read ? blocks[b].total : 0.0;
        steps += blocks[b].read ? blocks[b].steps : 0.0;
    }
    ifm_arena_destroy(scratch);
    if (n == 0)
        return no_energy(work);
    if (n < arm->n_blocks)
        return partly_read(arm, n);
    if (total <= 0)
        return ifm_value_absent("the energy counter did not move", "longer slots: --override measure.slot_min=20ms",
                                (int64_t)n, "blocks");
    return ifm_value_real(1e-6 * total / (steps * ifm_energy_tokens_of(arm->arm)), (int64_t)n, "blocks");
}

static struct ifm_value energy_change_value(const struct ifm_arm_work *arm)
{
    struct ifm_cell_work *work = arm->work;
    if (ifm_derive_has_energy_pass(work))
        return ifm_derive_energy_pass_change(arm, false);
    int column = ifm_derive_column(work->record, "energy_uj");
    if (column < 0)
        return no_energy(work);
    if (ifm_energy_tokens_of(arm->arm) == 0 || ifm_energy_tokens_of(work->baseline->arm) == 0)
        return ifm_value_absent("a step of one of the two arms makes no tokens", "", 0, "blocks");
    if (ifm_derive_has_gaps(arm) || ifm_derive_has_gaps(work->baseline))
        return ifm_derive_of_gaps(ifm_derive_has_gaps(arm) ? arm : work->baseline, 0, "blocks");
    struct ifm_value refused;
    if (ifm_energy_is_refused(arm, &refused))
        return refused;
    struct ifm_arena *scratch = ifm_arena_create();
    size_t n = 0, read_own, read_base;
    const struct ifm_column_block *own = ifm_derive_column_blocks(arm, column, scratch, &read_own);
    const struct ifm_column_block *base = ifm_derive_column_blocks(work->baseline, column, scratch, &read_base);
    double *logs = IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1), quantum = 0.0;
    bool still = false;
    for (size_t b = 0; b < work->n_blocks; b++) {
        if (!own[b].read || !base[b].read)
            continue;
        still = still || own[b].total <= 0 || base[b].total <= 0;
        if (still)
            break;
        logs[n++] = log(own[b].total / (own[b].steps * ifm_energy_tokens_of(arm->arm))) -
                    log(base[b].total / (base[b].steps * ifm_energy_tokens_of(work->baseline->arm)));
        quantum = fmax(quantum, hypot(1.0 / own[b].total, 1.0 / base[b].total)); /* one count */
    }
    struct ifm_value value = read_own + read_base == 0 ? no_energy(work)
                             : still
                                 ? ifm_value_absent("the energy counter did not move in a block",
                                                    "longer slots: --override measure.slot_min=20ms",
                                                    (int64_t)n, "blocks")
                                 : mean_value(work, logs, n, quantum, true);
    ifm_arena_destroy(scratch);
    return value;
}

/* ---- quality ---- */

/* The score of the arm's last check that has one; NaN without one. */
static double quality_of(const struct ifm_cell_work *work, const char *arm)
{
    double percent = NAN;
    IFM_EACH_TOLD(event, work, check, arm)
        percent = isnan(IFM_FACTS(event, check)->quality_percent) ? percent : IFM_FACTS(event, check)->quality_percent;
    return percent;
}

static void emit_quality(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    static const char remedy[] = "run a workload that scores a task beside its timing";
    bool compared = work->baseline != NULL && arm->is_variant && arm != work->baseline;
    double own = quality_of(work, arm->arm->name);
    double less = compared ? quality_of(work, work->baseline->arm->name) - own : NAN;
    if (!isnan(own) || ifm_derive_is_wanted(work, IFM_M_QUALITY_PERCENT))
        ifm_derive_emit(arm, IFM_M_QUALITY_PERCENT,
                        !isnan(own) ? ifm_value_real(own, 1, "checks")
                                    : ifm_value_absent("no check of this arm scored a task", remedy, 0, "checks"));
    if (compared && (!isnan(less) || ifm_derive_is_wanted(work, IFM_M_QUALITY_LOSS_PP)))
        ifm_derive_emit(arm, IFM_M_QUALITY_LOSS_PP,
                        !isnan(less) ? ifm_value_real(less, 1, "checks")
                                     : ifm_value_absent("no check of this arm and its baseline scored a task", remedy,
                                                        0, "checks"));
}

/* ---- temperature ---- */

/* How far the mean readings of two blocks lie apart at most: a processor that still warms up, or cools down. False when
 * no block was read. */
static bool temperature_value(const struct ifm_arm_work *arm, struct ifm_value *out)
{
    const struct ifm_cell_work *work = arm->work;
    struct ifm_arena *scratch = ifm_arena_create();
    int column = ifm_derive_column(work->record, "temperature_mc");
    size_t n;
    const struct ifm_column_block *blocks = ifm_derive_column_blocks(arm, column, scratch, &n);
    double low = INFINITY, high = -INFINITY;
    for (size_t b = 0; b < work->n_blocks; b++) {
        double mean = blocks[b].read ? blocks[b].total / blocks[b].slots : NAN;
        low = fmin(low, mean);
        high = fmax(high, mean);
    }
    *out = n < arm->n_blocks ? partly_read(arm, n) : ifm_value_real(1e-3 * (high - low), (int64_t)n, "blocks");
    ifm_arena_destroy(scratch);
    return n > 0;
}

/* ---- what is listed ---- */

static bool recorded(const struct ifm_cell_work *work, const char *column)
{
    return work->record != NULL && ifm_derive_column(work->record, column) >= 0;
}

void ifm_derive_counters(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    if (!ifm_derive_is_counted(work) &&
        (recorded(work, "l2_accesses") || ifm_derive_is_wanted(work, IFM_M_L2_HIT_PERCENT)))
        ifm_derive_emit(arm, IFM_M_L2_HIT_PERCENT, l2_hit_value(arm));
    bool tokens = ifm_energy_tokens_of(arm->arm) > 0;
    bool asked = recorded(work, "energy_uj") || work->cell->measure.energy;
    if (!ifm_derive_has_energy_pass(work) &&
        ((tokens && asked) || ifm_derive_is_wanted(work, IFM_M_ENERGY_PER_TOKEN_J)))
        ifm_derive_emit(arm, IFM_M_ENERGY_PER_TOKEN_J, energy_value(arm));
    struct ifm_value temperature;
    if (recorded(work, "temperature_mc") && temperature_value(arm, &temperature))
        ifm_derive_emit(arm, IFM_M_TEMPERATURE_RANGE_K, temperature);
    else if (ifm_derive_is_wanted(work, IFM_M_TEMPERATURE_RANGE_K))
        ifm_derive_emit(arm, IFM_M_TEMPERATURE_RANGE_K,
                        ifm_value_unread(work, "no instrument of this pass reads a temperature",
                                         "measure on bare metal, with the thermal driver of the processor loaded",
                                         "blocks"));
    emit_quality(arm);
}

void ifm_derive_counter_changes(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    bool counted = ifm_derive_is_counted(work);
    if (counted || recorded(work, "l2_accesses") || ifm_derive_is_wanted(work, IFM_M_L2_HIT_CHANGE_PP))
        ifm_derive_emit(arm, IFM_M_L2_HIT_CHANGE_PP,
                        counted ? ifm_derive_counted_hit_change(arm) : l2_change_value(arm));
    bool tokens = ifm_energy_tokens_of(arm->arm) > 0, pass = ifm_derive_has_energy_pass(work);
    if ((!tokens && pass) || ifm_derive_is_wanted(work, IFM_M_ENERGY_PER_STEP_CHANGE_PERCENT))
        ifm_derive_emit(arm, IFM_M_ENERGY_PER_STEP_CHANGE_PERCENT,
                        pass ? ifm_derive_energy_pass_change(arm, true) : no_energy(work));
    if ((tokens && (recorded(work, "energy_uj") || pass)) ||
        ifm_derive_is_wanted(work, IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT))
        ifm_derive_emit(arm, IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT, energy_change_value(arm));
}
