/* The roofs of a cell: what the device gave at most, over all of the run.
 *
 * A ceiling is a limit, not an average: the fastest of all probes of its kind counts. One machine has one memory
 * and one rate of operations, so the slots of every cell with as many threads count; only a probe whose buffer the
 * caches hold speaks of its own cell alone. An arm that is surely above all probes shows a higher limit, and raises the
 * roof. */
#include "derive/internal.h"

#include "base/arena.h"
#include "stats/stats.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

static bool is_usable(const struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    return arm->work->record != NULL && arm->arm->ceiling == kind && ifm_ceiling_amount(arm->arm, kind) > 0 &&
           arm->n_blocks > 0 && arm->broken == NULL && arm->refusal.rule == NULL && arm->work->refusal.rule == NULL;
}

/* Of memory: the others say the same of every cell, whatever it touches. */
static bool is_of_memory(enum ifm_ceiling kind)
{
    return kind == IFM_CEILING_READ || kind == IFM_CEILING_WRITE || kind == IFM_CEILING_COPY;
}

/* Does it speak of its own cell alone? So too where nobody recorded what caches the machine has. */
static bool is_of_cell(const struct ifm_roof *roof, enum ifm_ceiling kind)
{
    return roof->by == NULL || (is_of_memory(kind) && (roof->by->cache_resident || roof->by->d->plan->machine == NULL));
}

/* Of a slot that nothing can have had: the probe's record is not what it did. */
bool ifm_roof_breaks(const struct ifm_arm_work *arm, enum ifm_ceiling kind, double log_rate, struct ifm_bound *bound)
{
    *bound = ifm_bound_of(arm, kind);
    return bound->rate > 0 && log_rate > log(bound->rate) + log1p(IFM_BOUND_SLACK);
}

/* Successive samples of a probe of memory that pass over more than the caches keep. */
static size_t samples_past_caches(const struct ifm_arm_work *arm, const struct ifm_slot *slot)
{
    const double bytes = ifm_ceiling_amount(arm->arm, arm->arm->ceiling) * slot->inner;
    return (size_t)ceil(IFM_RESIDENT_FACTOR * (double)ifm_machine_llc_total(arm->d->plan->machine) / bytes);
}

/* A step in the fastest stretch of the probe's slots that is long enough. */
static double fastest_stretch_ns(const struct ifm_arm_work *arm)
{
    const struct ifm_record *record = arm->work->record;
    const struct ifm_slot *slot;
    double fastest = arm->fastest_ns;
    for (size_t k = 0; (slot = ifm_next_slot(arm, &k)) != NULL; k++) {
        const size_t n = samples_past_caches(arm, slot);
        double sum = 0;
        for (size_t i = 0; i < slot->samples; i++) {
            const struct ifm_sample *sample = &record->samples[record->first[k] + i];
            sum += (double)sample->duration_ns - (i >= n ? (double)sample[-(ptrdiff_t)n].duration_ns : 0);
            if (i + 1 >= n)
                fastest = fmin(fastest, sum / ((double)n * slot->inner));
        }
    }
    return fastest;
}

/* Waits are no limit of the device, so rounds of ceilings count by their best: of what cores do by themselves a sample,
 * of memory a stretch of samples. GPUs count by slots: their power limit binds within a slot. */
double ifm_roof_fastest_ns(const struct ifm_arm_work *arm)
{
    const struct ifm_machine *machine = arm->d->plan->machine;
    const enum ifm_ceiling kind = arm->arm->ceiling;
    if (kind == IFM_CEILING_CLOCK)
        return arm->shortest_ns;
    if (!arm->work->cell->ceilings_apart || machine == NULL || machine->gpu != NULL)
        return arm->fastest_ns;
    return is_of_memory(kind) ? fastest_stretch_ns(arm) : arm->shortest_ns;
}

static struct ifm_roof of_probes(const struct ifm_cell_work *work, enum ifm_ceiling kind)
{
    struct ifm_roof roof = {0};
    struct ifm_bound bound;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_arm_work *arm = &work->arms[a];
        if (!is_usable(arm, kind))
            continue;
        double log_rate = log(ifm_ceiling_amount(arm->arm, kind) / ifm_roof_fastest_ns(arm));
        if (ifm_roof_breaks(arm, kind, log_rate, &bound))
            continue;
        roof.slots += arm->n_slots;
        if (roof.by == NULL || log_rate > roof.log_rate) {
            roof.by = arm;
            roof.log_rate = log_rate;
        }
    }
    roof.probe_log_rate = roof.log_rate;
    return roof;
}

/* The roof so far of the cells with as many threads: there are few such numbers in a run. */
struct shared {
    unsigned threads;
    struct ifm_roof roof;
};

struct shares {
    struct shared *items;
    size_t n, capacity;
};

static struct ifm_roof *shared_roof(struct shares *shares, unsigned threads, struct ifm_arena *arena)
{
    size_t i = 0;
    while (i < shares->n && shares->items[i].threads != threads)
        i++;
    if (i == shares->n) {
        IFM_ARENA_GROW(arena, shares->items, shares->n, shares->capacity);
        shares->items[shares->n++] = (struct shared){.threads = threads};
    }
    return &shares->items[i].roof;
}

static void take_higher(struct ifm_roof *roof, const struct ifm_roof *other)
{
    size_t slots = roof->slots + other->slots;
    if (roof->by == NULL || other->log_rate > roof->log_rate)
        *roof = *other;
    roof->slots = slots;
}

enum ifm_ceiling ifm_roof_of_operations(const struct ifm_arm_work *arm)
{
    return arm->arm->integer ? IFM_CEILING_INT8 : arm->arm->matrix ? IFM_CEILING_MATRIX : IFM_CEILING_FLOPS;
}

/* Is it this roof that limits the arm? */
static bool holds(const struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    if (kind == IFM_CEILING_FLOPS || kind == IFM_CEILING_INT8 || kind == IFM_CEILING_MATRIX)
        return ifm_roof_of_operations(arm) == kind;
    if (kind >= IFM_CEILING_L1 && kind <= IFM_CEILING_L3)
        return arm->reads == kind;
    return !is_of_memory(kind) || !arm->cache_resident;
}

/* An arm above the probes: by how much it is, and surely is, as logarithms; false where it is not, or has no rate. */
static bool is_above(const struct ifm_arm_work *arm, enum ifm_ceiling kind, const struct ifm_roof *roof, double *excess,
                     double *surely)
{
    struct ifm_log_mean level;
    struct ifm_interval interval;
    double amount = ifm_ceiling_amount(arm->arm, kind);
    if (!holds(arm, kind) || amount <= 0 || ifm_derive_is_probe(arm->arm) || arm->broken != NULL ||
        arm->refusal.rule != NULL || !ifm_arm_level(arm, NULL, &level))
        return false;
    *excess = log(amount) - level.mean - roof->probe_log_rate;
    *surely = ifm_log_mean_interval(&level, IFM_LEVEL, &interval) ? log(amount) - interval.high - roof->probe_log_rate
                                                                  : *excess;
    return *excess > 0;
}

static void raise_by_arms(const struct ifm_cell_work *work, enum ifm_ceiling kind, struct ifm_roof *roof)
{
    double excess, surely;
    for (size_t a = 0; roof->by != NULL && a < work->cell->n_arms; a++) {
        const struct ifm_arm_work *arm = &work->arms[a];
        if (!is_above(arm, kind, roof, &excess, &surely) || surely <= 0 || surely > ifm_roof_reach(roof, arm, kind) ||
            roof->probe_log_rate + excess <= roof->log_rate)
            continue;
        roof->log_rate = roof->probe_log_rate + excess;
        roof->raised_by = arm;
    }
}

double ifm_roof_reach(const struct ifm_roof *roof, const struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    const struct ifm_bound bound = ifm_bound_of(arm, kind);
    return bound.rate > 0 ? log(bound.rate) - roof->probe_log_rate : log1p(IFM_RATE_TOLERANCE);
}

/* A step in the fastest sample of slot `k`, ns. */
static double shortest_of(const struct ifm_record *record, size_t k)
{
    double shortest = INFINITY;
    for (size_t i = record->first[k]; i < record->first[k + 1]; i++)
        shortest = fmin(shortest, (double)record->samples[i].duration_ns);
    return shortest / record->slots[k].inner;
}

double ifm_roof_clock(const struct ifm_roof *roof)
{
    if (roof->by == NULL)
        return 0;
    const struct ifm_cell_work *work = roof->by->work;
    const struct ifm_slot *slot;
    double hz = 0;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_arm_work *arm = &work->arms[a];
        for (size_t k = 0; is_usable(arm, IFM_CEILING_CLOCK) && (slot = ifm_next_slot(arm, &k)) != NULL; k++)
            if (slot->block == work->block[roof->by->fastest_at])
                hz = fmax(hz, 1e9 * ifm_ceiling_amount(arm->arm, IFM_CEILING_CLOCK) / shortest_of(work->record, k));
    }
    return hz;
}

static void derive_kind(struct ifm_derivation *d, enum ifm_ceiling kind)
{
    struct shares shares = {0};
    for (size_t c = 0; c < d->plan->n_cells; c++) {
        struct ifm_cell_work *work = &d->cells[c];
        work->roofs[kind] = of_probes(work, kind);
        if (!is_of_cell(&work->roofs[kind], kind))
            take_higher(shared_roof(&shares, work->cell->threads, d->arena), &work->roofs[kind]);
    }
    for (size_t c = 0; c < d->plan->n_cells; c++) {
        struct ifm_cell_work *work = &d->cells[c];
        if (is_of_cell(&work->roofs[kind], kind))
            raise_by_arms(work, kind, &work->roofs[kind]);
        else
            raise_by_arms(work, kind, shared_roof(&shares, work->cell->threads, d->arena));
    }
    for (size_t c = 0; c < d->plan->n_cells; c++)
        if (!is_of_cell(&d->cells[c].roofs[kind], kind))
            d->cells[c].roofs[kind] = *shared_roof(&shares, d->cells[c].cell->threads, d->arena);
}

void ifm_derive_roofs(struct ifm_derivation *d)
{
    derive_kind(d, IFM_CEILING_CLOCK); /* bounds of the others are made of it */
    for (enum ifm_ceiling kind = IFM_CEILING_READ; kind < IFM_CEILINGS; kind++)
        if (kind != IFM_CEILING_CLOCK)
            derive_kind(d, kind);
}

bool ifm_roof_share(const struct ifm_arm_work *arm, enum ifm_ceiling kind, struct ifm_log_mean *out)
{
    const struct ifm_roof *roof = &arm->work->roofs[kind];
    double amount = ifm_ceiling_amount(arm->arm, kind);
    if (roof->by == NULL || amount <= 0 || arm->broken != NULL || (!is_of_memory(kind) && !holds(arm, kind)))
        return false;
    /* A probe that fits the caches says nothing about the memory that serves this arm. */
    if (is_of_memory(kind) && roof->by->cache_resident && !arm->cache_resident)
        return false;
    if (!ifm_arm_level(arm, NULL, out))
        return false;
    out->mean = log(amount) - out->mean - roof->log_rate;
    return true;
}

/* ln of the shortest step that blocks leave room for; -INFINITY where they give no interval. */
static double shortest_log(const struct ifm_arm_work *arm, const bool *without)
{
    struct ifm_log_mean level;
    struct ifm_interval interval, ends;
    if (!ifm_arm_level(arm, without, &level) || !ifm_log_mean_interval(&level, IFM_LEVEL, &interval))
        return -INFINITY;
    return ifm_derive_drift_ends(arm, without, &ends) ? fmin(interval.low, log(ends.low)) : interval.low;
}

double ifm_roof_share_high(const struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    const struct ifm_aside aside = ifm_derive_set_aside(arm);
    if (ifm_derive_lacks_undisturbed(&aside))
        return INFINITY;
    const double all = shortest_log(arm, NULL), own = aside.blocks == NULL ? all : shortest_log(arm, aside.blocks);
    return exp(log(ifm_ceiling_amount(arm->arm, kind)) - fmin(all, own) - arm->work->roofs[kind].log_rate);
}

double ifm_roof_excess(const struct ifm_arm_work *arm, enum ifm_ceiling kind, double *surely)
{
    const struct ifm_roof *roof = &arm->work->roofs[kind];
    double excess;
    if (roof->by == NULL || !is_above(arm, kind, roof, &excess, surely))
        return 0;
    return excess;
}

/* The fastest probe of the kind in a block, or round, and ln of its rate there; NULL where the kind has no slot in it.
 */
static const struct ifm_arm_work *best_of_round(const struct ifm_cell_work *work, enum ifm_ceiling kind, size_t round,
                                                double *log_rate)
{
    const struct ifm_arm_work *best = NULL;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_arm_work *arm = &work->arms[a];
        if (!is_usable(arm, kind) || !arm->present[round])
            continue;
        double own = log(ifm_ceiling_amount(arm->arm, kind) * arm->steps[round] / arm->time_ns[round]);
        if (best != NULL && own <= *log_rate)
            continue;
        *log_rate = own;
        best = arm;
    }
    return best;
}

bool ifm_roof_spread(const struct ifm_roof *roof, struct ifm_log_mean *out)
{
    const struct ifm_cell_work *work = roof->by == NULL ? NULL : roof->by->work;
    double sum = 0, squares = 0, first = 0, own = 0;
    *out = (struct ifm_log_mean){0};
    for (size_t b = 0; work != NULL && b < work->n_blocks; b++) {
        if (!work->is_round[b] || best_of_round(work, roof->by->arm->ceiling, b, &own) == NULL)
            continue;
        first = out->n == 0 ? own : first;
        sum += own - first;
        squares += (own - first) * (own - first);
        out->n++;
    }
    if (out->n < 2)
        return false;
    out->df = (double)out->n - 1;
    out->sd = sqrt(fmax(0, squares - sum * sum / (double)out->n) / out->df);
    return true;
}

/* ---- how far a roof moved ---- */

struct stretches {
    double *rates; /* amount / ns; NULL: they are counted */
    size_t n, rounds;
    double amount; /* of a stretch, at least */
};

/* Samples of a stretch in the slot. GPUs count by slots, and so do ceilings in blocks, as their roofs do. */
static size_t samples_of_stretch(const struct ifm_arm_work *probe, const struct ifm_slot *slot, double amount)
{
    const struct ifm_machine *machine = probe->d->plan->machine;
    const double n = ceil(amount / (ifm_ceiling_amount(probe->arm, probe->arm->ceiling) * slot->inner));
    if (!probe->work->cell->ceilings_apart || machine == NULL || machine->gpu != NULL || n >= slot->samples)
        return slot->samples;
    return n < 1 ? 1 : (size_t)n;
}

static void add_slot(const struct ifm_arm_work *probe, size_t k, struct stretches *out)
{
    const struct ifm_record *record = probe->work->record;
    const struct ifm_slot *slot = &record->slots[k];
    const struct ifm_sample *samples = &record->samples[record->first[k]];
    const size_t n = samples_of_stretch(probe, slot, out->amount);
    const double amount = ifm_ceiling_amount(probe->arm, probe->arm->ceiling) * slot->inner * (double)n;
    double ns = 0;
    for (size_t i = 0; i < slot->samples; i++) {
        ns += (double)samples[i].duration_ns - (i >= n ? (double)samples[i - n].duration_ns : 0);
        if (i + 1 < n || ns <= 0)
            continue;
        if (out->rates != NULL)
            out->rates[out->n] = amount / ns;
        out->n++;
    }
}

/* Of the best probe of each round: of those that lose, time is lost. */
static void add_cell(const struct ifm_cell_work *work, enum ifm_ceiling kind, struct stretches *out)
{
    const struct ifm_record *record = work->record;
    const struct ifm_arm_work *best = NULL;
    double rate = 0;
    size_t looked_at = SIZE_MAX;
    for (size_t k = 0, b = 0; record != NULL && k < record->n_slots; k++) {
        const struct ifm_slot *slot = &record->slots[k];
        while (b < work->n_blocks && work->block[b] < slot->block)
            b++;
        if (b == work->n_blocks || work->block[b] != slot->block || slot->arm >= work->cell->n_arms ||
            (work->cell->ceilings_apart && !work->is_round[b]))
            continue;
        if (looked_at != b) {
            looked_at = b;
            best = best_of_round(work, kind, b, &rate);
            out->rounds += best != NULL;
        }
        if (best == &work->arms[slot->arm])
            add_slot(best, k, out);
    }
}

/* The cells whose probes the roof is of. */
static void add_all(const struct ifm_cell_work *asks, enum ifm_ceiling kind, struct stretches *out)
{
    const struct ifm_derivation *d = asks->d;
    const bool alone = is_of_cell(&asks->roofs[kind], kind);
    out->n = out->rounds = 0;
    for (size_t c = 0; c < d->plan->n_cells; c++) {
        const struct ifm_cell_work *work = &d->cells[c];
        if (work == asks ||
            (!alone && work->cell->threads == asks->cell->threads && !is_of_cell(&work->roofs[kind], kind)))
            add_cell(work, kind, out);
    }
}

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool ifm_roof_range(const struct ifm_cell_work *work, enum ifm_ceiling kind, double amount, struct ifm_roof_range *out)
{
    struct stretches all = {.amount = amount};
    *out = (struct ifm_roof_range){0};
    if (work->roofs[kind].by == NULL)
        return false;
    add_all(work, kind, &all);
    out->rounds = all.rounds;
    if (all.rounds < 2)
        return false;
    all.rates = ifm_zeros(all.n, sizeof *all.rates);
    add_all(work, kind, &all);
    qsort(all.rates, all.n, sizeof *all.rates, by_number);
    const bool known = ifm_stats_quantile_sorted(all.rates, all.n, 0.1, &out->low) == IFM_STAT_OK &&
                       ifm_stats_quantile_sorted(all.rates, all.n, 0.9, &out->high) == IFM_STAT_OK;
    free(all.rates);
    out->moved = known ? out->high / out->low - 1 : 0;
    return known;
}

const char *ifm_roof_name(const struct ifm_roof *roof, const struct ifm_cell_work *asks, struct ifm_arena *arena)
{
    const struct ifm_arm_work *by = roof->raised_by != NULL ? roof->raised_by : roof->by;
    if (by->work == asks)
        return by->arm->name;
    return ifm_arena_printf(arena, "%s of %s", by->arm->name, by->work->cell->name);
}
