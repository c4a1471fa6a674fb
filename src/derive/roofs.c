/* The roofs of a cell: what the device gave at most, over all of the run.
 *
 * A ceiling is a limit, not an average: the fastest slot of all probes of its kind counts. One machine has one memory
 * and one rate of operations, so the slots of every cell with as many threads count; only a probe whose buffer the
 * caches hold speaks of its own cell alone. An arm that is surely above all probes shows a higher limit, and raises the
 * roof. */
#include "derive/internal.h"

#include <math.h>

static bool is_usable(const struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    return arm->work->record != NULL && arm->arm->ceiling == kind && ifm_ceiling_amount(arm->arm, kind) > 0 &&
           arm->n_blocks > 0 && arm->broken == NULL && arm->refusal.rule == NULL && arm->work->refusal.rule == NULL;
}

static bool counts_operations(enum ifm_ceiling kind)
{
    return kind == IFM_CEILING_FLOPS || kind == IFM_CEILING_MATRIX;
}

/* Does it speak of its own cell alone? So too where nobody recorded what caches the machine has. */
static bool is_of_cell(const struct ifm_roof *roof, enum ifm_ceiling kind)
{
    return roof->by == NULL ||
           (!counts_operations(kind) && (roof->by->cache_resident || roof->by->d->plan->machine == NULL));
}

static struct ifm_roof of_probes(const struct ifm_cell_work *work, enum ifm_ceiling kind)
{
    struct ifm_roof roof = {0};
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_arm_work *arm = &work->arms[a];
        if (!is_usable(arm, kind))
            continue;
        double log_rate = log(ifm_ceiling_amount(arm->arm, kind) / arm->fastest_ns);
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

/* An arm above the probes: by how much it is, and surely is, as logarithms; false where it is not, or has no rate. */
static bool is_above(const struct ifm_arm_work *arm, enum ifm_ceiling kind, const struct ifm_roof *roof, double *excess,
                     double *surely)
{
    struct ifm_log_mean level;
    struct ifm_interval interval;
    double amount = ifm_ceiling_amount(arm->arm, kind);
    bool served = counts_operations(kind) ? !arm->arm->integer : !arm->cache_resident;
    if (!served || amount <= 0 || ifm_derive_is_probe(arm->arm) || arm->broken != NULL || arm->refusal.rule != NULL ||
        !ifm_arm_level(arm, false, &level))
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
        if (!is_above(arm, kind, roof, &excess, &surely) || surely <= 0 || surely > log1p(IFM_RATE_TOLERANCE) ||
            roof->probe_log_rate + excess <= roof->log_rate)
            continue;
        roof->log_rate = roof->probe_log_rate + excess;
        roof->raised_by = arm;
    }
}

void ifm_derive_roofs(struct ifm_derivation *d)
{
    for (enum ifm_ceiling kind = IFM_CEILING_READ; kind <= IFM_CEILING_MATRIX; kind++) {
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
}

bool ifm_roof_share(const struct ifm_arm_work *arm, enum ifm_ceiling kind, struct ifm_log_mean *out)
{
    const struct ifm_roof *roof = &arm->work->roofs[kind];
    double amount = ifm_ceiling_amount(arm->arm, kind);
    if (roof->by == NULL || amount <= 0 || arm->broken != NULL || (kind == IFM_CEILING_FLOPS && arm->arm->integer))
        return false;
    /* A probe that fits the caches says nothing about the memory that serves this arm. */
    if (!counts_operations(kind) && roof->by->cache_resident && !arm->cache_resident)
        return false;
    if (!ifm_arm_level(arm, false, out))
        return false;
    out->mean = log(amount) - out->mean - roof->log_rate;
    return true;
}

double ifm_roof_excess(const struct ifm_arm_work *arm, enum ifm_ceiling kind, double *surely)
{
    const struct ifm_roof *roof = &arm->work->roofs[kind];
    double excess;
    if (roof->by == NULL || !is_above(arm, kind, roof, &excess, surely))
        return 0;
    return excess;
}

const char *ifm_roof_name(const struct ifm_roof *roof, const struct ifm_cell_work *asks, struct ifm_arena *arena)
{
    const struct ifm_arm_work *by = roof->raised_by != NULL ? roof->raised_by : roof->by;
    if (by->work == asks)
        return by->arm->name;
    return ifm_arena_printf(arena, "%s of %s", by->arm->name, by->work->cell->name);
}
