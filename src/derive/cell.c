/* The numbers of a cell: its measured ceilings, its cache sizes, and each subject's share of a ceiling. */
#include "derive/internal.h"

#include "base/text.h"
#include "model/machine_facts.h"
#include "model/plan_json.h"
#include <math.h>
#include <string.h>

/* A share this far above its ceiling is the ceiling, but for what slots differ by. */
#define SHARE_SLACK 0.02

static size_t count_probes(const struct ifm_cell *cell, enum ifm_ceiling kind)
{
    size_t n = 0;
    for (size_t a = 0; a < cell->n_arms; a++)
        n += cell->arms[a].ceiling == kind && ifm_ceiling_amount(&cell->arms[a], kind) > 0;
    return n;
}

static struct ifm_value ceiling_value(const struct ifm_cell_work *work, enum ifm_ceiling kind)
{
    const struct ifm_roof *roof = &work->roofs[kind];
    if (work->record == NULL)
        return ifm_value_missing(work, "slots");
    if (roof->by == NULL)
        return ifm_value_absent("no probe of this ceiling has a usable record", "", 0, "slots");
    struct ifm_value value = ifm_value_real(1e9 * exp(roof->log_rate), (int64_t)roof->slots, "slots");
    value.text = ifm_roof_name(roof, work, work->d->arena);
    return value;
}

/* The roof of the reads of all subjects: memory's, unless one level of the caches serves them all. */
static enum ifm_ceiling reads_of_cell(const struct ifm_cell_work *work)
{
    enum ifm_ceiling kind = IFM_CEILING_NONE;
    for (size_t a = 0; a < work->cell->n_arms; a++)
        if (!ifm_derive_is_probe(work->arms[a].arm))
            kind = kind == IFM_CEILING_NONE || kind == work->arms[a].reads ? work->arms[a].reads : IFM_CEILING_READ;
    return kind == IFM_CEILING_NONE ? IFM_CEILING_READ : kind;
}

/* Of the operations that limit: matrix products where an arm does them. */
static enum ifm_ceiling operations_of_cell(const struct ifm_cell_work *work)
{
    for (size_t a = 0; a < work->cell->n_arms; a++)
        if (work->cell->arms[a].matrix)
            return IFM_CEILING_MATRIX;
    return IFM_CEILING_FLOPS;
}

/* Where the roofs meet: from this many operations a byte on, operations are what limits. */
static struct ifm_value ridge_value(const struct ifm_cell_work *work)
{
    const struct ifm_roof *read = &work->roofs[reads_of_cell(work)], *flops = &work->roofs[operations_of_cell(work)];
    if (work->record == NULL)
        return ifm_value_missing(work, "slots");
    if (read->by == NULL || flops->by == NULL)
        return ifm_value_absent("the ridge point needs both ceilings, read and flops", "", 0, "slots");
    for (size_t a = 0; a < work->cell->n_arms && read->by->arm->ceiling == IFM_CEILING_READ; a++)
        if (read->by->cache_resident && !work->arms[a].cache_resident && !ifm_derive_is_probe(work->arms[a].arm))
            return ifm_value_absent("the fastest read probe fits the caches, and an arm does not", "", 0, "slots");
    return ifm_value_real(exp(flops->log_rate - read->log_rate), (int64_t)(read->slots + flops->slots), "slots");
}

static struct ifm_value clock_of_flops(const struct ifm_cell_work *work)
{
    const struct ifm_roof *roof = &work->roofs[IFM_CEILING_FLOPS];
    const double hz = ifm_roof_clock(roof);
    if (work->record == NULL)
        return ifm_value_missing(work, "slots");
    if (roof->raised_by != NULL)
        return ifm_value_absent("an arm raised the ceiling: the clock is probed beside probes alone", "", 0, "slots");
    return hz > 0 ? ifm_value_real(hz, 1, "slots")
                  : ifm_value_absent("no clock was probed in the round of the fastest probe", "", 0, "slots");
}

/* "flops 262 GFLOP/s (2 cores x 32 FLOP a cycle x 4.10 GHz)", of each ceiling that has one. */
static void say_bounds(const struct ifm_cell_work *work)
{
    struct ifm_text known = {0};
    for (enum ifm_ceiling kind = IFM_CEILING_READ; kind < IFM_CEILINGS; kind++) {
        char rate[48];
        const struct ifm_roof *roof = &work->roofs[kind];
        if (roof->by == NULL || roof->by->work != work)
            continue;
        const struct ifm_bound bound = ifm_bound_of(roof->by, kind);
        if (bound.rate > 0)
            ifm_text_printf(&known, "%s%s %s (%s)", known.size > 0 ? ", " : "", ifm_ceiling_name(kind),
                            ifm_format_human(1e9 * bound.rate, ifm_metrics[ifm_ceiling_metrics[kind]].unit, rate),
                            bound.words);
    }
    if (known.size > 0)
        ifm_derive_say_cell(
            work, IFM_SEVERITY_NOTE, "rule-03",
            "physical bounds: %s; of other ceilings none is known, and rates are believed up to %.0f %% "
            "above them",
            known.data, 100 * IFM_RATE_TOLERANCE);
    ifm_text_free(&known);
}

static struct ifm_value moved_value(const struct ifm_cell_work *work)
{
    const double step = work->baseline == NULL ? 0 : ifm_ceiling_amount(work->baseline->arm, IFM_CEILING_READ);
    struct ifm_roof_range range;
    if (work->record == NULL)
        return ifm_value_missing(work, "rounds");
    if (!ifm_roof_range(work, IFM_CEILING_READ, step, &range))
        return ifm_value_absent("needs two rounds of ceilings", "measure longer", (int64_t)range.rounds, "rounds");
    if (range.moved > IFM_ROOF_STEADY)
        work->d->out->read_lowered[work - work->d->cells] = exp(work->roofs[IFM_CEILING_READ].log_rate) / range.low;
    return ifm_value_real(100.0 * range.moved, (int64_t)range.rounds, "rounds");
}

void ifm_derive_cell_ceilings(const struct ifm_cell_work *work)
{
    struct ifm_text note = {0};
    for (enum ifm_ceiling kind = IFM_CEILING_READ; kind < IFM_CEILINGS; kind++) {
        size_t probes = count_probes(work->cell, kind);
        if (probes == 0)
            continue;
        ifm_derive_emit_cell(work, ifm_ceiling_metrics[kind], ceiling_value(work, kind));
        if (kind == IFM_CEILING_READ)
            ifm_derive_emit_cell(work, IFM_M_CEILING_READ_MOVED_PERCENT, moved_value(work));
        ifm_text_printf(&note, "%s%s %zu", note.size > 0 ? ", " : "", ifm_ceiling_name(kind), probes);
    }
    const char *words;
    const double bus = ifm_bus_bytes_per_s(work->d, &words);
    if (bus > 0 && note.size > 0) {
        struct ifm_value carried = ifm_value_real(bus, 0, "");
        carried.text = words;
        ifm_derive_emit_cell(work, IFM_M_MEMORY_BUS, carried);
    }
    if (count_probes(work->cell, IFM_CEILING_CLOCK) > 0 && count_probes(work->cell, IFM_CEILING_FLOPS) > 0)
        ifm_derive_emit_cell(work, IFM_M_CEILING_FLOPS_CLOCK, clock_of_flops(work));
    if (count_probes(work->cell, reads_of_cell(work)) > 0 && count_probes(work->cell, IFM_CEILING_FLOPS) > 0)
        ifm_derive_emit_cell(work, IFM_M_RIDGE_POINT, ridge_value(work));
    if (note.size > 0)
        ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "", "each ceiling is the fastest of its probe shapes (%s)",
                            note.data);
    ifm_text_free(&note);
    say_bounds(work);
}

const char *ifm_derive_regime(const struct ifm_value *ridge, const struct ifm_value *intensity)
{
    double low = ridge->has_interval ? ridge->low : ridge->number;
    double high = ridge->has_interval ? ridge->high : ridge->number;
    return intensity->number > high ? "compute-bound" : intensity->number < low ? "memory-bound" : "";
}

double ifm_resident_below(const struct ifm_derivation *d)
{
    return IFM_RESIDENT_FACTOR * d->llc_bytes;
}

static struct ifm_value share_value(const struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    const struct ifm_cell_work *work = arm->work;
    if (work->record == NULL)
        return ifm_value_missing(work, "blocks");
    char set[48];
    if (kind == IFM_CEILING_INT8 && count_probes(work->cell, kind) == 0)
        return ifm_value_integer_products(work, false);
    if (kind == IFM_CEILING_READ && arm->cache_resident)
        return ifm_value_absent(
            ifm_arena_printf(arm->d->arena,
                             "cache-resident: a working set of %s is served by caches, not by the memory whose ceiling "
                             "this is",
                             ifm_format_human((double)arm->arm->working_set, "B", set)),
            "", 0, "blocks");
    const struct ifm_roof *roof = &work->roofs[kind];
    struct ifm_log_mean share;
    if (!ifm_roof_share(arm, kind, &share))
        return ifm_value_absent("there is no usable ceiling: no probe has a record, or it fits the caches and the arm "
                                "does not",
                                "", 0, "blocks");
    if (share.mean > log1p(SHARE_SLACK) && arm->rates_refused.rule == NULL)
        return ifm_value_absent(ifm_arena_printf(arm->d->arena,
                                                 "%.0f %% of what %s measured, but not surely above it: the arm was "
                                                 "unsteady",
                                                 100.0 * exp(share.mean), roof->by->arm->name),
                                "measure longer, or where nothing else runs", (int64_t)share.n, "blocks");
    struct ifm_value value = ifm_value_of_logs(&share, 100.0, IFM_LEVEL, "blocks");
    struct ifm_interval ends;
    if (value.has_interval && ifm_derive_drift_ends(arm, NULL, &ends)) {
        double product = value.number * ifm_derive_step_value(arm, NULL).number;
        value.low = fmin(value.low, product / ends.high);
        value.high = fmax(value.high, product / ends.low);
    }
    value.text = ifm_roof_name(roof, work, work->d->arena);
    return value;
}

/* The least of the roofs that were measured for the arm is what it could attain; so the score is its largest share. */
static struct ifm_value score_of(const struct ifm_arm_work *arm, const struct ifm_value *read,
                                 const struct ifm_value *flops)
{
    bool by_read = read->state == IFM_STATE_OK, by_flops = flops->state == IFM_STATE_OK;
    if (!by_read && !by_flops)
        return !ifm_is_empty(read->reason) ? *read : *flops;
    bool is_read = by_read && (!by_flops || read->number >= flops->number);
    struct ifm_value score = is_read ? *read : *flops;
    score.number /= 100.0;
    score.low /= 100.0;
    score.high /= 100.0;
    score.text = is_read ? ifm_ceiling_name(arm->reads) : ifm_ceiling_name(ifm_roof_of_operations(arm));
    return score;
}

/* What another run's share may differ by although the arm does not. Ceilings in the arm's own blocks move with it. */
static void emit_spread(const struct ifm_arm_work *arm, enum ifm_ceiling kind, enum ifm_metric_id metric)
{
    struct ifm_log_mean spread;
    if (!arm->work->cell->ceilings_apart || arm->work->record == NULL)
        return;
    bool known = ifm_roof_spread(&arm->work->roofs[kind], &spread);
    ifm_derive_emit(
        arm, metric,
        known ? ifm_value_real(100.0 * spread.sd, (int64_t)spread.n, "rounds")
              : ifm_value_absent("needs two rounds of ceilings", "measure longer", (int64_t)spread.n, "rounds"));
}

void ifm_derive_arm_ceilings(const struct ifm_arm_work *arm)
{
    if (ifm_derive_is_probe(arm->arm))
        return;
    struct ifm_value read = {.state = IFM_STATE_ABSENT}, flops = read;
    bool has_read = count_probes(arm->work->cell, arm->reads) > 0 && arm->arm->ledger.bytes_read > 0;
    const enum ifm_ceiling operations = arm->arm->matrix ? IFM_CEILING_MATRIX : IFM_CEILING_FLOPS;
    bool has_flops = count_probes(arm->work->cell, operations) > 0 && arm->arm->ledger.flops > 0;
    if (has_read) {
        read = share_value(arm, arm->reads);
        ifm_derive_emit(arm, IFM_M_CEILING_READ_PERCENT, read);
        emit_spread(arm, arm->reads, IFM_M_CEILING_READ_SPREAD_PERCENT);
    }
    if (has_flops) {
        flops = share_value(arm, ifm_roof_of_operations(arm));
        ifm_derive_emit(arm, IFM_M_CEILING_FLOPS_PERCENT, flops);
        emit_spread(arm, ifm_roof_of_operations(arm), IFM_M_CEILING_FLOPS_SPREAD_PERCENT);
    }
    if (has_read && has_flops)
        ifm_derive_emit(arm, IFM_M_ROOFLINE_SCORE, score_of(arm, &read, &flops));
}

/* ---- caches ---- */

struct sweep {
    size_t n;
    double *sizes, *ns;
};

static double probe_size(const struct ifm_arm *arm)
{
    const char *name = strncmp(arm->name, "caches.", 7) == 0 ? arm->name : arm->variant;
    uint64_t bytes;
    if (ifm_parse_bytes(name + 7, &bytes) && bytes > 0)
        return (double)bytes;
    return (double)arm->working_set;
}

/* The sweep's points in ascending size: ns per load from each arm's blocks. */
static struct sweep gather_sweep(const struct ifm_cell_work *work, struct ifm_arena *arena)
{
    struct sweep sweep = {0, IFM_ARENA_ARRAY(arena, double, work->cell->n_arms + 1),
                          IFM_ARENA_ARRAY(arena, double, work->cell->n_arms + 1)};
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_arm_work *arm = &work->arms[a];
        struct ifm_log_mean mean;
        if (!ifm_derive_is_cache_probe(arm->arm) || arm->broken != NULL || arm->refusal.rule != NULL ||
            !ifm_arm_level(arm, NULL, &mean))
            continue;
        double loads = arm->arm->ledger.rows > 0 ? (double)arm->arm->ledger.rows : 1.0;
        double size = probe_size(arm->arm);
        size_t at = sweep.n++;
        for (; at > 0 && sweep.sizes[at - 1] > size; at--) {
            sweep.sizes[at] = sweep.sizes[at - 1];
            sweep.ns[at] = sweep.ns[at - 1];
        }
        sweep.sizes[at] = size;
        sweep.ns[at] = exp(mean.mean) / loads;
    }
    return sweep;
}

static bool has_sweep(const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (ifm_derive_is_cache_probe(&cell->arms[a]))
            return true;
    return false;
}

enum { MOST_KNEES = 8 };

/* A GPU says how large the cache before its memory is, and no hypervisor comes between; nothing of it is swept. */
static void take_gpu_cache(const struct ifm_cell_work *work)
{
    struct ifm_device_facts device = ifm_device_facts_of(work->journal, work->cell->name);
    if (device.gpu != NULL && device.l2_bytes > work->d->llc_bytes) {
        work->d->llc_bytes = device.l2_bytes;
        work->d->llc_of_gpu = true;
    }
}

void ifm_derive_find_caches(struct ifm_derivation *d)
{
    for (size_t c = 0; c < d->plan->n_cells; c++) {
        const struct ifm_cell_work *work = &d->cells[c];
        take_gpu_cache(work);
        if (work->record == NULL || work->refusal.rule != NULL || !has_sweep(work->cell))
            continue;
        struct ifm_arena *scratch = ifm_arena_create();
        struct sweep sweep = gather_sweep(work, scratch);
        size_t knees[MOST_KNEES], n = 0;
        if (ifm_stats_knees(sweep.sizes, sweep.ns, sweep.n, knees, MOST_KNEES, &n) == IFM_STAT_OK && n > 0 &&
            sweep.sizes[knees[n - 1]] > d->llc_bytes)
            d->llc_bytes = sweep.sizes[knees[n - 1]];
        ifm_arena_destroy(scratch);
    }
}

static struct ifm_value knee_value(struct ifm_derivation *d, const struct sweep *sweep, const size_t *knees, size_t n,
                                   size_t level)
{
    /* With more than three knees the third level is the last one: the cache in front of memory. */
    size_t which = level == 2 && n > 3 ? n - 1 : level;
    if (which >= n)
        return ifm_value_absent(
            ifm_arena_printf(d->arena, "the sweep of %zu sizes shows %zu knee%s", sweep->n, n, n == 1 ? "" : "s"), "",
            (int64_t)sweep->n, "sizes");
    struct ifm_value value = ifm_value_real(sweep->sizes[knees[which]], (int64_t)sweep->n, "sizes");
    value.is_integer = true;
    /* The level ends between this size and the next of the sweep: a bracket, certain by the definition of a knee. */
    ifm_value_bracket(&value, sweep->sizes[knees[which]], sweep->sizes[knees[which] + 1], 1.0);
    return value;
}

void ifm_derive_caches(const struct ifm_cell_work *work)
{
    if (!has_sweep(work->cell))
        return;
    struct ifm_arena *scratch = ifm_arena_create();
    struct sweep sweep = {0};
    size_t knees[MOST_KNEES], n = 0;
    enum ifm_stat stat = IFM_STAT_OK;
    if (work->record != NULL) {
        sweep = gather_sweep(work, scratch);
        stat = ifm_stats_knees(sweep.sizes, sweep.ns, sweep.n, knees, MOST_KNEES, &n);
    }
    for (size_t level = 0; level < 3; level++) {
        struct ifm_value value;
        if (work->record == NULL)
            value = ifm_value_missing(work, "sizes");
        else if (stat != IFM_STAT_OK)
            value = ifm_value_absent(stat == IFM_STAT_TOO_FEW || stat == IFM_STAT_EMPTY ? "a sweep needs 4 sizes"
                                                                                        : ifm_stat_reason(stat),
                                     "", (int64_t)sweep.n, "sizes");
        else
            value = knee_value(work->d, &sweep, knees, n, level);
        ifm_derive_emit_cell(work, ifm_cache_metrics[level], value);
    }
    if (n > 3)
        ifm_derive_say_cell(
            work, IFM_SEVERITY_NOTE, "",
            "the sweep shows %zu knees; a knee between the second and the last is address translation or "
            "a slice of the last level, and has no name here",
            n);
    ifm_arena_destroy(scratch);
}
