/* What the hardware counted in the pass of counters, per step, over ranges: one range is one slot.
 *
 * The record of that pass is its own; nothing of it enters a time or a rate. A number is withheld where what was
 * counted cannot be: a range too short for its edges, a share above the whole, hits and misses that are not the
 * accesses. */
#include "derive/counted.h"

#include "model/operations.h"

#include <math.h>
#include <string.h>

#define SHORTEST_NS 1e6     /* of a range: its edges are some 20 us */
#define FEWEST_LOOKUPS 1e4  /* of a share: below it a few lookups of the driver show */
#define FEWEST_SECTORS 1e6  /* the same of sectors, which every client of the cache looks up */
#define TWO_PASSES 0.1      /* hits of one range and misses of another are the sectors of a third, but for this share */
#define ADD_UP 0.005        /* hits + misses are the accesses, but for this share */
#define LEAST_OF_LEDGER 0.9 /* of data that no cache holds, what the memory must have moved */
#define PEAK_SLACK 1.02     /* clocks are rounded */
enum { FEWEST_OF_SD = 3 };  /* repetitions */

/* ---- ranges ---- */

const struct ifm_record *ifm_derive_record_of(const struct ifm_cell_work *work, enum ifm_pass_kind kind)
{
    const struct ifm_facts_view *facts = work->d->facts;
    const size_t cell = (size_t)(work - work->d->cells);
    for (size_t p = 0; facts->records != NULL && p < work->cell->n_passes && p < facts->max_passes; p++)
        if (work->cell->passes[p].kind == kind)
            return facts->records[cell * facts->max_passes + p];
    return NULL;
}

/* Earlier versions counted the whole slot, with what runs between its samples. */
static bool is_of_last_sample(const struct ifm_arm_work *arm)
{
    bool is = ifm_derive_has_gaps(arm) && arm->d->plan->rules >= IFM_PLAN_RULES_LAST_SAMPLE;
    IFM_EACH_TOLD(event, arm->work, counters_read, NULL)
        is = is && IFM_FACTS(event, counters_read)->counted != NULL;
    return is;
}

static struct counted_ranges ranges_of(const struct ifm_arm_work *arm, struct ifm_arena *arena)
{
    const struct ifm_record *record = ifm_derive_record_of(arm->work, IFM_PASS_COUNTERS);
    struct counted_ranges out = {NULL, 0, {false}, is_of_last_sample(arm)};
    int columns[N];
    if (record == NULL)
        return out;
    out.items = IFM_ARENA_ARRAY(arena, struct counted_range, record->n_slots + 1);
    for (size_t i = 0; i < N; i++) {
        columns[i] = ifm_derive_column(record, ifm_counter_columns[i].id);
        out.has[i] = columns[i] >= 0;
    }
    for (size_t k = 0; k < record->n_slots; k++) {
        const struct ifm_slot *slot = &record->slots[k];
        if (slot->phase != IFM_PHASE_MEASURE || slot->arm != arm->index)
            continue;
        struct counted_range *range = &out.items[out.n++];
        for (size_t i = 0; i < N; i++)
            range->values[i] = columns[i] < 0 ? IFM_ABSENT : slot->columns[columns[i]];
        range->steps = (out.last_sample ? 1 : (double)slot->samples) * (double)slot->inner + ifm_derive_lead(arm);
    }
    return out;
}

/* ---- numbers ---- */

static bool value_in(const struct counted_range *range, const struct quotient *q, double *out)
{
    double sum = 0;
    for (size_t i = 0; i < 2; i++) {
        if (q->over[i] == N)
            continue;
        if (range->values[q->over[i]] == IFM_ABSENT)
            return false;
        sum += (double)range->values[q->over[i]];
    }
    if (q->under < N && range->values[q->under] <= 0) /* IFM_ABSENT is below 0 */
        return false;
    *out = q->scale * sum / (q->under < N ? (double)range->values[q->under] : q->under == N ? range->steps : 1);
    return true;
}

static size_t values_of(const struct counted_ranges *ranges, const struct quotient *q, double *values)
{
    size_t n = 0;
    for (size_t r = 0; r < ranges->n; r++)
        n += value_in(&ranges->items[r], q, &values[n]);
    return n;
}

/* One value alone has no spread. */
static struct ifm_moments moments_of(const double *values, size_t n)
{
    struct ifm_moments moments;
    if (ifm_stats_moments(values, n, &moments) != IFM_STAT_OK)
        moments = (struct ifm_moments){.mean = n > 0 ? values[0] : NAN, .sd = 0};
    return moments;
}

static void add_sd(struct ifm_value *value, double sd, size_t n)
{
    value->has_sd = n >= FEWEST_OF_SD;
    value->sd = value->has_sd ? sd : 0;
}

/* Mean with its spread and its t interval; counts that are the same in all ranges have one without width. */
struct ifm_value ifm_derive_mean(const double *values, size_t n, const char *of)
{
    const struct ifm_moments moments = moments_of(values, n);
    struct ifm_value value = ifm_value_real(moments.mean, (int64_t)n, of);
    struct ifm_interval interval = {moments.mean, moments.mean};
    const bool same = moments.sd <= 0;
    add_sd(&value, moments.sd, n);
    if (n >= IFM_BLOCKS_NEEDED &&
        (same || ifm_stats_t_interval(moments.mean, moments.sd, (double)n, IFM_LEVEL, &interval) == IFM_STAT_OK))
        ifm_value_bracket(&value, interval.low, interval.high, IFM_LEVEL);
    return value;
}

/* ---- why there is no number ---- */

static struct ifm_value unread(const struct ifm_arm_work *arm, unsigned column, size_t n_ranges)
{
    const char *reason = NULL, *remedy = "";
    if (!arm->work->cell->measure.counters)
        return ifm_value_absent("counters were not read", "--counters reads them, in a pass of its own", 0, "ranges");
    if (ifm_plan_pass(arm->work->cell, IFM_PASS_COUNTERS) == NULL)
        return ifm_value_absent(ifm_is_empty(arm->work->cell->unsupported)
                                    ? "no instrument of this version counts what the device does"
                                    : arm->work->cell->unsupported,
                                "measure on a GPU: device.kind=cuda", 0, "ranges");
    if (!ifm_plan_counts(arm->work->cell, ifm_counter_columns[column].id))
        return ifm_value_absent("the counters of this device have no such number", "measure on a GPU: device.kind=cuda",
                                0, "ranges");
    IFM_EACH_TOLD(event, arm->work, column_absent, NULL) {
        const struct ifm_event_column_absent *told = IFM_FACTS(event, column_absent);
        if (strcmp(told->pass, ifm_pass_names[IFM_PASS_COUNTERS]) != 0 ||
            strcmp(told->column, ifm_counter_columns[column].id) != 0)
            continue;
        reason = told->reason;
        remedy = told->remedy;
    }
    IFM_EACH_TOLD(event, arm->work, counters_read, NULL)
        if (reason == NULL && IFM_FACTS(event, counters_read)->reason != NULL)
            reason = IFM_FACTS(event, counters_read)->reason;
    if (reason == NULL)
        reason = n_ranges > 0 ? "no range of this arm has it" : "no range of this arm was recorded";
    return ifm_value_absent(reason, remedy, 0, "ranges");
}

/* A range whose length is not known, or too short. */
static const char *too_short(const struct ifm_arm_work *arm, const struct counted_ranges *ranges)
{
    for (size_t r = 0; r < ranges->n; r++) {
        const int64_t ns = ranges->items[r].values[RANGE_NS];
        if (ns != IFM_ABSENT && (double)ns < SHORTEST_NS)
            return ifm_arena_printf(arm->d->arena, "a range of counters lasted %.3g ms, and its edges need 1 ms",
                                    1e-6 * (double)ns);
    }
    return NULL;
}

/* A fixed number of repeats is shared out among blocks, whatever the slots are to last. */
static const char *longer_slots(const struct ifm_arm_work *arm)
{
    if (is_of_last_sample(arm))
        return "longer steps, of which a range holds one sample here";
    return arm->work->cell->measure.stop == IFM_STOP_REPEATS
               ? "longer slots: more --repeats, or none, so that measure.slot_min says how long they are"
               : "longer slots: --override measure.slot_min=5ms";
}

bool ifm_counted_is_withheld(const struct counted *c, unsigned column, struct ifm_value *out)
{
    const struct ifm_arm_work *arm = c->arm;
    const struct counted_ranges *ranges = &c->ranges;
    const char *shortest = too_short(arm, ranges);
    size_t n = 0, of = 0;
    for (size_t r = 0; r < ranges->n; r++)
        n += ranges->items[r].values[column] != IFM_ABSENT;
    if (n == 0) {
        *out = unread(arm, column, ranges->n);
        return true;
    }
    of = n;
    for (size_t r = 0; r < ranges->n; r++) /* a range of the set that failed has no time either */
        of += ranges->items[r].values[RANGE_NS] == IFM_ABSENT;
    if (ifm_derive_has_gaps(arm) && !ranges->last_sample)
        *out = ifm_derive_of_gaps(arm, 0, "ranges");
    else if (shortest != NULL)
        *out = ifm_value_absent(shortest, longer_slots(arm), 0, "ranges");
    else if (of > n)
        *out = ifm_value_absent(ifm_arena_printf(arm->d->arena, "%zu of %zu ranges were not read: %s", of - n, of,
                                                 unread(arm, column, ranges->n).reason),
                                "", (int64_t)n, "ranges");
    else
        return false;
    return true;
}

/* ---- what is emitted ---- */

#define WHILE "counters were read"

static bool is_listed(const struct counted *c, enum ifm_metric_id metric)
{
    return c->asked || ifm_derive_is_wanted(c->arm->work, metric);
}

bool ifm_counted_emit(const struct counted *c, enum ifm_metric_id metric, const struct quotient *q, double most)
{
    struct ifm_value value;
    const bool is_time = q->over[0] == RANGE_NS || (q->under == RANGE_NS && q->over[0] != CYCLES);
    const char *slow = is_time ? ifm_derive_too_slow(c->arm, &c->slower, WHILE) : NULL;
    if (!is_listed(c, metric))
        return false;
    if (slow != NULL)
        value = ifm_value_absent(slow, "longer steps", 0, "ranges");
    else if (!ifm_counted_is_withheld(c, q->over[0], &value)) {
        const size_t n = values_of(&c->ranges, q, c->values);
        value = n > 0 ? ifm_derive_mean(c->values, n, "ranges") : unread(c->arm, q->over[0], c->ranges.n);
        if (n > 0 && value.number > most)
            value = ifm_value_refused(
                c->arm->d->arena, "rule-03",
                ifm_arena_printf(c->arm->d->arena, "%.4g is above %.4g, which cannot be", value.number, most));
    }
    ifm_derive_emit(c->arm, metric, value);
    return value.state == IFM_STATE_OK;
}

static void emit_spread(const struct counted *c, enum ifm_metric_id metric, const struct quotient *q, bool relative)
{
    const size_t n = values_of(&c->ranges, q, c->values);
    const struct ifm_moments of = moments_of(c->values, n);
    if (n > 1 && (!relative || of.mean > 0))
        ifm_derive_emit(c->arm, metric, ifm_value_real(relative ? 100 * of.sd / of.mean : of.sd, (int64_t)n, "ranges"));
}

/* Steps whose data no cache holds move what the ledger says, or the two are not about the same work. */
static void say_too_few(const struct counted *c, double over)
{
    const struct ifm_machine *machine = c->arm->d->plan->machine;
    const bool from_memory = machine != NULL && machine->gpu != NULL &&
                             (double)c->arm->arm->working_set >= IFM_RESIDENT_FACTOR * (double)machine->gpu->l2_bytes;
    if (from_memory && over < LEAST_OF_LEDGER)
        ifm_derive_say_arm(c->arm, IFM_SEVERITY_WARNING, "rule-04",
                           "the memory moved %.3g of the bytes that a step must move, and no cache holds the rest: the "
                           "step does less than its ledger says, or the counters miss some of it",
                           over);
}

static void emit_memory(const struct counted *c)
{
    const struct ifm_ledger *ledger = &c->arm->arm->ledger;
    const struct ifm_machine *machine = c->arm->d->plan->machine;
    const double bytes = (double)ledger->bytes_read + (double)ledger->bytes_written;
    const struct quotient read = {{READ, N}, N, 1};
    if (ifm_counted_emit(c, IFM_M_DRAM_BYTES_READ, &read, INFINITY))
        emit_spread(c, IFM_M_DRAM_BYTES_READ_SD_PERCENT, &read, true);
    (void)ifm_counted_emit(c, IFM_M_DRAM_BYTES_WRITTEN, &(struct quotient){{WRITE, N}, N, 1}, INFINITY);
    const struct quotient over = {{READ, WRITE}, N, 1 / bytes};
    if (bytes > 0 && ifm_counted_emit(c, IFM_M_DRAM_BYTES_OVER_LEDGER, &over, INFINITY))
        say_too_few(c, moments_of(c->values, values_of(&c->ranges, &over, c->values)).mean);
    if (machine != NULL && machine->gpu != NULL && machine->gpu->memory_clock_khz > 0 &&
        machine->gpu->memory_bus_bits > 0) {
        const double peak = 2e-6 * machine->gpu->memory_clock_khz * machine->gpu->memory_bus_bits / 8; /* B/ns */
        (void)ifm_counted_emit(c, IFM_M_DRAM_THROUGHPUT_PERCENT,
                               &(struct quotient){{READ, WRITE}, RANGE_NS, 100 / peak}, 100 * PEAK_SLACK);
    }
}

/* Hits over accesses, from one pass: they cannot be more than all. */
static struct ifm_value hit_value(const struct counted *c)
{
    struct ifm_arena *arena = c->arm->d->arena;
    struct ifm_value value;
    double hits = 0, accesses = 0, misses = 0;
    if (ifm_counted_is_withheld(c, HITS, &value))
        return value;
    for (size_t r = 0; r < c->ranges.n; r++) {
        const int64_t *at = c->ranges.items[r].values;
        if (at[HITS] == IFM_ABSENT || at[ACCESSES] == IFM_ABSENT)
            continue;
        hits += (double)at[HITS];
        accesses += (double)at[ACCESSES];
        misses += at[MISSES] == IFM_ABSENT ? (double)(at[ACCESSES] - at[HITS]) : (double)at[MISSES];
    }
    const size_t n = values_of(&c->ranges, &(struct quotient){{HITS, N}, ACCESSES, 100}, c->values);
    if (n == 0 || accesses < FEWEST_LOOKUPS * (double)n)
        return ifm_value_absent(
            ifm_arena_printf(arena, "%.0f lookups in %zu ranges are too few for a share", accesses, c->ranges.n),
            longer_slots(c->arm), (int64_t)n, "ranges");
    if (hits > accesses * (1 + ADD_UP))
        return ifm_value_refused(arena, "rule-03", "more lookups hit than there were");
    if (fabs(hits + misses - accesses) > ADD_UP * accesses)
        return ifm_value_refused(
            arena, "rule-04",
            ifm_arena_printf(arena, "%.6g hits and %.6g misses are not %.6g lookups", hits, misses, accesses));
    value = ifm_derive_mean(c->values, n, "ranges");
    value.number = fmin(100.0, 100 * hits / accesses); /* the ratio of sums; lookups of the edges may be short of one */
    value.has_interval &= value.low <= value.number && value.number <= value.high;
    return value;
}

/* What a column of one set has in a range and in a step. */
struct of_set {
    double range, step, error; /* error: standard error of step */
    size_t n;
};

static struct of_set of_set(const struct counted *c, unsigned column)
{
    struct of_set out = {0};
    const size_t n = values_of(&c->ranges, &(struct quotient){{column, N}, N, 1}, c->values);
    const struct ifm_moments moments = moments_of(c->values, n);
    for (size_t r = 0; r < c->ranges.n; r++)
        if (c->ranges.items[r].values[column] != IFM_ABSENT)
            out.range += (double)c->ranges.items[r].values[column] / (double)n;
    out.n = n;
    out.step = n > 0 ? moments.mean : 0;
    out.error = n > 0 ? moments.sd / sqrt((double)n) : 0;
    return out;
}

/* Hits were counted in some ranges and misses in others, so that the share is a cross-check of two passes: both must
 * make the sectors of a third. */
static struct ifm_value sector_value(const struct counted *c)
{
    struct ifm_arena *arena = c->arm->d->arena;
    struct ifm_value value;
    struct ifm_interval interval;
    if (ifm_counted_is_withheld(c, SECTOR_HITS, &value) || ifm_counted_is_withheld(c, SECTOR_MISSES, &value))
        return value;
    const struct of_set hits = of_set(c, SECTOR_HITS), misses = of_set(c, SECTOR_MISSES), all = of_set(c, SECTORS);
    const double lookups = hits.step + misses.step;
    const size_t n = hits.n < misses.n ? hits.n : misses.n;
    if (hits.range + misses.range < FEWEST_SECTORS)
        return ifm_value_absent(ifm_arena_printf(arena, "%.0f sectors a range are too few for a share of two passes",
                                                 hits.range + misses.range),
                                longer_slots(c->arm), (int64_t)n, "ranges");
    if (all.n > 0 && fabs(lookups - all.step) > TWO_PASSES * all.step)
        return ifm_value_refused(
            arena, "rule-04",
            ifm_arena_printf(arena, "%.6g sectors hit in one pass and %.6g missed in another, of %.6g in a third",
                             hits.step, misses.step, all.step));
    const double share = hits.step / lookups;
    const double error = hypot((1 - share) * hits.error, share * misses.error) / lookups;
    value = ifm_value_real(100 * share, (int64_t)n, "ranges");
    if (n >= IFM_BLOCKS_NEEDED && ifm_stats_t_interval(100 * share, 100 * error * sqrt((double)n), (double)n, IFM_LEVEL,
                                                       &interval) == IFM_STAT_OK)
        ifm_value_bracket(&value, fmax(0, interval.low), fmin(100, interval.high), IFM_LEVEL);
    return value;
}

static void emit_cache(const struct counted *c)
{
    if (c->asked) { /* else counters.c has it, of the latency pass */
        const struct ifm_value hit = hit_value(c);
        ifm_derive_emit(c->arm, IFM_M_L2_HIT_PERCENT, hit);
        if (hit.state == IFM_STATE_OK)
            emit_spread(c, IFM_M_L2_HIT_SD_PP, &(struct quotient){{HITS, N}, ACCESSES, 100}, false);
    }
    (void)ifm_counted_emit(c, IFM_M_L2_FABRIC_PERCENT, &(struct quotient){{FABRIC, N}, SECTORS, 100}, 100);
    /* A record of before these columns has no such number. */
    if (c->ranges.has[SECTOR_HITS] ? is_listed(c, IFM_M_L2_SECTOR_HIT_PERCENT)
                                   : ifm_derive_is_wanted(c->arm->work, IFM_M_L2_SECTOR_HIT_PERCENT))
        ifm_derive_emit(c->arm, IFM_M_L2_SECTOR_HIT_PERCENT, sector_value(c));
    (void)ifm_counted_emit(c, IFM_M_L2_WRITE_SECTORS, &(struct quotient){{WRITE_SECTORS, N}, N, 1}, INFINITY);
}

/* Whether the record has the column and the chip counts it: those of before tf32 and int8 had neither, and not every
 * chip has a pass for them. */
bool ifm_counted_has(const struct counted *c, unsigned column)
{
    IFM_EACH_TOLD(event, c->arm->work, column_absent, NULL) {
        const struct ifm_event_column_absent *told = IFM_FACTS(event, column_absent);
        if (strcmp(told->pass, ifm_pass_names[IFM_PASS_COUNTERS]) == 0 &&
            strcmp(told->column, ifm_counter_columns[column].id) == 0)
            return false;
    }
    return c->ranges.has[column];
}

double ifm_counted_mean(const struct counted *c, const struct quotient *q, size_t *n)
{
    *n = values_of(&c->ranges, q, c->values);
    return moments_of(c->values, *n).mean;
}

static struct ifm_moments of_steps(const struct counted *c, unsigned column, size_t *n)
{
    *n = values_of(&c->ranges, &(struct quotient){{column, N}, N, 1}, c->values);
    return moments_of(c->values, *n);
}

/* Operations by the kinds of factors, which are of ranges of their own; each that the chip counts has to be there. */
static struct ifm_value flops_value(const struct counted *c)
{
    static const unsigned kinds[] = {F16, BF16, TF32};
    struct ifm_value value;
    double sum = 0, sd = 0;
    size_t n = 0, fewest = SIZE_MAX;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i] == TF32 && !ifm_counted_has(c, TF32))
            continue;
        if (ifm_counted_is_withheld(c, kinds[i], &value))
            return value;
        const struct ifm_moments kind = of_steps(c, kinds[i], &n);
        sum += kind.mean;
        sd = hypot(sd, kind.sd); /* ranges of their own vary apart */
        fewest = n < fewest ? n : fewest;
    }
    value = ifm_value_real(sum, (int64_t)n, "ranges");
    add_sd(&value, sd, fewest);
    return value;
}

/* What the matrix units executed against what the ledger says. An arm without any has no use for a column of zeros,
 * unless it is to do all of them there. */
static void emit_over_ledger(const struct counted *c, const struct ifm_value *floats,
                             const struct ifm_moments *integers)
{
    const struct ifm_arm *arm = c->arm->arm;
    const double executed = floats->number + integers->mean, flops = (double)arm->ledger.flops;
    struct ifm_value over = ifm_value_real(executed / flops, floats->n, "ranges");
    over.has_sd = floats->has_sd && flops > 0;
    over.sd = over.has_sd ? hypot(floats->sd, integers->sd) / flops : 0;
    if (arm->ledger.flops == 0 || !isfinite(executed) || (executed <= 0 && !arm->matrix))
        return;
    ifm_derive_emit(c->arm, IFM_M_TENSOR_FLOPS_OVER_LEDGER, over);
    if (ifm_lacks_operations(arm, &over))
        ifm_derive_say_arm(c->arm, IFM_SEVERITY_WARNING, "rule-04",
                           "the matrix units executed %.3g of the operations of the ledger, and this arm is to do all "
                           "of them there: a step does less than its ledger says, does it elsewhere, or the counters "
                           "miss some",
                           over.number);
}

static void emit_work(const struct counted *c)
{
    struct ifm_moments integers = {.mean = 0};
    (void)ifm_counted_emit(c, IFM_M_WARPS_LAUNCHED, &(struct quotient){{WARPS, N}, N, 1}, INFINITY);
    (void)ifm_counted_emit(c, IFM_M_RANGE_STEP_NS, &(struct quotient){{RANGE_NS, N}, N, 1}, INFINITY);
    (void)ifm_counted_emit(c, IFM_M_CLOCK_COUNTED_MHZ, &(struct quotient){{CYCLES, N}, RANGE_NS, 1e3}, INFINITY);
    if (!is_listed(c, IFM_M_TENSOR_FLOPS))
        return;
    const struct ifm_value value = flops_value(c);
    ifm_derive_emit(c->arm, IFM_M_TENSOR_FLOPS, value);
    if (ifm_counted_has(c, INT8)) {
        size_t n = 0;
        integers = of_steps(c, INT8, &n);
        if (n == 0 || integers.mean > 0) /* an arm without any has no use for a column of zeros */
            (void)ifm_counted_emit(c, IFM_M_TENSOR_INT8_OPS, &(struct quotient){{INT8, N}, N, 1}, INFINITY);
    }
    if (value.state == IFM_STATE_OK)
        emit_over_ledger(c, &value, &integers);
}

static void emit_cost(const struct counted *c)
{
    if (!c->asked || c->slower.state != IFM_STATE_OK || c->ranges.n == 0)
        return;
    ifm_derive_emit(c->arm, IFM_M_COUNTERS_SLOWER_PERCENT, c->slower);
    ifm_derive_say_slower(c->arm, &c->slower, WHILE);
    const size_t n = values_of(&c->ranges, &(struct quotient){{COST, N}, N, 1}, c->values);
    for (size_t i = 0, r = 0; r < c->ranges.n; r++) /* of a range, not of a step */
        if (c->ranges.items[r].values[COST] != IFM_ABSENT)
            c->values[i++] = (double)c->ranges.items[r].values[COST];
    if (n > 0)
        ifm_derive_emit(c->arm, IFM_M_COUNTERS_COST_NS, ifm_derive_mean(c->values, n, "ranges"));
}

bool ifm_derive_is_counted(const struct ifm_cell_work *work)
{
    return (work->cell->measure.counters && !ifm_derive_counts_cpu(work)) ||
           ifm_derive_column(ifm_derive_record_of(work, IFM_PASS_COUNTERS), ifm_counter_columns[RANGE_NS].id) >= 0;
}

/* ---- against the baseline ---- */

/* Hits and accesses of an arm in a block of the pass. */
struct block_hits {
    double hits, accesses;
};

static void add_hits(const struct ifm_record *record, size_t arm, struct block_hits *blocks)
{
    const int hits = ifm_derive_column(record, ifm_counter_columns[HITS].id),
              all = ifm_derive_column(record, ifm_counter_columns[ACCESSES].id);
    for (size_t k = 0, b = 0; k < record->n_slots; k++) {
        const struct ifm_slot *slot = &record->slots[k];
        b += k > 0 && slot->block != record->slots[k - 1].block;
        if (slot->phase != IFM_PHASE_MEASURE || slot->arm != arm || hits < 0 || all < 0 ||
            slot->columns[hits] == IFM_ABSENT || slot->columns[all] == IFM_ABSENT)
            continue;
        blocks[b].hits += (double)slot->columns[hits];
        blocks[b].accesses += (double)slot->columns[all];
    }
}

struct ifm_value ifm_derive_counted_hit_change(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    const struct ifm_record *record = ifm_derive_record_of(work, IFM_PASS_COUNTERS);
    struct ifm_arena *scratch = ifm_arena_create();
    const size_t room = record == NULL ? 1 : record->n_slots + 1;
    struct block_hits *own = IFM_ARENA_ARRAY(scratch, struct block_hits, room),
                      *base = IFM_ARENA_ARRAY(scratch, struct block_hits, room);
    double *points = IFM_ARENA_ARRAY(scratch, double, room);
    size_t n = 0;
    if (record != NULL) {
        add_hits(record, arm->index, own);
        add_hits(record, work->baseline->index, base);
    }
    for (size_t b = 0; b < room; b++)
        if (own[b].accesses > 0 && base[b].accesses > 0)
            points[n++] = 100 * (own[b].hits / own[b].accesses - base[b].hits / base[b].accesses);
    struct counted sides[2] = {{.arm = arm, .ranges = ranges_of(arm, scratch), .asked = true},
                               {.arm = work->baseline, .ranges = ranges_of(work->baseline, scratch), .asked = true}};
    struct ifm_value value = n > 0 ? ifm_derive_mean(points, n, "blocks") : unread(arm, HITS, 0);
    value.n_of = "blocks";
    for (size_t i = 2; i-- > 0;) {
        sides[i].values = IFM_ARENA_ARRAY(scratch, double, sides[i].ranges.n + 1);
        const struct ifm_value side = hit_value(&sides[i]);
        if (side.state != IFM_STATE_OK)
            value = side;
    }
    ifm_arena_destroy(scratch);
    return value;
}

struct counted ifm_counted_begin(const struct ifm_arm_work *arm, struct ifm_arena *arena)
{
    const bool in_question = ifm_plan_isolates(arm->work->cell, arm->index); /* else it has no slots in the pass */
    struct counted c = {
        .arm = arm, .ranges = ranges_of(arm, arena), .asked = ifm_derive_is_counted(arm->work) && in_question};
    c.slower =
        ifm_derive_slower(arm, ifm_derive_record_of(arm->work, IFM_PASS_COUNTERS), c.ranges.last_sample, "blocks");
    c.values = IFM_ARENA_ARRAY(arena, double, c.ranges.n + 1);
    return c;
}

void ifm_derive_counted(const struct ifm_arm_work *arm)
{
    struct ifm_arena *scratch = ifm_arena_create();
    const struct counted c = ifm_counted_begin(arm, scratch);
    emit_memory(&c);
    emit_cache(&c);
    emit_work(&c);
    emit_cost(&c);
    ifm_arena_destroy(scratch);
}
