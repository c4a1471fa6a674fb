/* Energy: what the journal and the slots say of it, and the numbers that are made of a window. The numbers of the
 * column energy_uj for one token are in counters.c; which of them may be printed is decided in rules_energy.c. */
#include "derive/energy/energy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- facts ---- */

static enum ifm_status bad_fact(struct ifm_error *error, size_t line, const char *what)
{
    char where[64];
    snprintf(where, sizeof where, "run.log:%zu", line);
    return ifm_fail(error, IFM_INVALID, where, "the journal was edited, or written by another version",
                    "event \"energy\" %s", what);
}

static enum ifm_status read_window(const struct ifm_event_energy *told, struct ifm_energy_fact *out,
                                   struct ifm_error *error)
{
    bool total = !isnan(out->counter_j) || !isnan(out->integral_j);
    out->windowed = told->start_ns != IFM_ABSENT || told->end_ns != IFM_ABSENT;
    out->tokens = told->tokens == IFM_ABSENT ? -1 : told->tokens;
    if (!out->windowed && (total || out->tokens >= 0))
        return bad_fact(error, out->line, "has a total and no window (start_ns, end_ns)");
    if (!out->windowed)
        return IFM_OK;
    if (told->start_ns == IFM_ABSENT || told->end_ns <= told->start_ns)
        return bad_fact(error, out->line, "has a window that does not end after its start");
    out->start_ns = told->start_ns;
    out->end_ns = told->end_ns;
    return total ? IFM_OK : bad_fact(error, out->line, "has a window and neither \"counter_j\" nor \"integral_j\"");
}

enum ifm_status ifm_energy_facts(struct ifm_derivation *d, const struct ifm_cell_work *work,
                                 struct ifm_energy_fact **out, size_t *n, struct ifm_error *error)
{
    size_t capacity = 0;
    *out = NULL;
    *n = 0;
    IFM_EACH_TOLD(event, work, energy, NULL)
    {
        const struct ifm_event_energy *told = IFM_FACTS(event, energy);
        IFM_ARENA_GROW(d->arena, *out, *n, capacity);
        struct ifm_energy_fact *fact = &(*out)[(*n)++];
        *fact = (struct ifm_energy_fact){.device = told->device,
                                         .source = told->source,
                                         .arm = told->arm == NULL ? "" : told->arm,
                                         .line = event->line,
                                         .idle_w = told->idle_w,
                                         .limit_w = told->limit_w,
                                         .period_ns = told->period_ns,
                                         .counter_j = told->counter_j,
                                         .integral_j = told->integral_j};
        IFM_TRY(read_window(told, fact, error));
    }
    return IFM_OK;
}

double ifm_energy_total_j(const struct ifm_energy_fact *fact)
{
    return isnan(fact->counter_j) ? fact->integral_j : fact->counter_j;
}

double ifm_energy_window_s(const struct ifm_energy_fact *fact)
{
    return 1e-9 * (double)(fact->end_ns - fact->start_ns);
}

double ifm_energy_tokens_of(const struct ifm_arm *arm)
{
    return arm->ledger.tokens_generated > 0 ? (double)arm->ledger.tokens_generated : (double)arm->ledger.tokens_prompt;
}

struct ifm_energy_work ifm_energy_work_in(const struct ifm_cell_work *work, const struct ifm_arm_work *arm,
                                          const struct ifm_energy_fact *fact)
{
    struct ifm_energy_work out = {0};
    for (size_t k = 0; work->record != NULL && k < work->record->n_slots; k++) {
        const struct ifm_slot *slot = &work->record->slots[k];
        if (slot->end_ns <= fact->start_ns || slot->start_ns >= fact->end_ns)
            continue;
        bool whole = slot->start_ns >= fact->start_ns && slot->end_ns <= fact->end_ns;
        out.cut += !whole;
        out.others += whole && slot->arm != arm->index;
        if (!whole || slot->arm != arm->index)
            continue;
        out.own++;
        out.tokens += (double)slot->samples * (double)slot->inner * ifm_energy_tokens_of(arm->arm);
    }
    return out;
}

struct ifm_energy_column ifm_energy_column_of(const struct ifm_cell_work *work, const struct ifm_arm_work *arm)
{
    struct ifm_energy_column out = {0};
    int column = ifm_derive_column(work->record, "energy_uj");
    bool apart = work->cell->measure.cache == IFM_CACHE_COLD || arm->arm->gaps;
    for (size_t k = 0; column >= 0 && k < work->record->n_slots; k++) {
        const struct ifm_slot *slot = &work->record->slots[k];
        if (slot->phase != IFM_PHASE_MEASURE || slot->arm != arm->index)
            continue;
        out.slots++;
        if (slot->columns[column] == IFM_ABSENT)
            continue;
        double timed = (double)slot->samples * (double)slot->inner;
        out.read++;
        out.total_j += 1e-6 * (double)slot->columns[column];
        out.timed += timed;
        out.steps += timed + (apart ? 0.0 : 1.0); /* samples that meet follow one untimed step inside the brackets */
        out.duration += 1e-9 * (double)(slot->end_ns - slot->start_ns);
    }
    return out;
}

double ifm_energy_column_power(const struct ifm_energy_column *column)
{
    return column->total_j * column->timed / column->steps / column->duration;
}

/* ---- numbers ---- */

/* Windows of one place (an arm, or the cell): each device counts once, by the source that speaks of it first. */
struct total {
    size_t windows;
    double joules, seconds;
};

static bool counts(const struct ifm_energy_fact *facts, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (facts[i].windowed && strcmp(facts[i].arm, facts[at].arm) == 0 &&
            strcmp(facts[i].device, facts[at].device) == 0)
            return strcmp(facts[i].source, facts[at].source) == 0;
    return true;
}

static struct total total_of(const struct ifm_energy_fact *facts, size_t n, const char *arm)
{
    struct total out = {0};
    const char *device = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!facts[i].windowed || strcmp(facts[i].arm, arm) != 0 || !counts(facts, i))
            continue;
        device = device == NULL ? facts[i].device : device;
        out.windows++;
        out.joules += ifm_energy_total_j(&facts[i]);
        /* Devices draw at the same time: the windows of the first one are the time. */
        out.seconds += strcmp(device, facts[i].device) == 0 ? ifm_energy_window_s(&facts[i]) : 0.0;
    }
    return out;
}

static void emit_total(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm_work *arm,
                       const struct total *total)
{
    ifm_derive_emit(d, work, arm, IFM_M_TOTAL_ENERGY_J,
                    ifm_value_real(total->joules, (int64_t)total->windows, "windows"));
    ifm_derive_emit(d, work, arm, IFM_M_POWER_MEAN_W,
                    ifm_value_real(total->joules / total->seconds, (int64_t)total->windows, "windows"));
}

static void emit_column(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm_work *arm)
{
    struct ifm_energy_column column = ifm_energy_column_of(work, arm);
    if (column.read == 0)
        return; /* counters.c says why */
    struct ifm_value absent =
        ifm_value_absent(ifm_arena_printf(d->arena, "read in %zu of %zu slots", column.read, column.slots), "",
                         (int64_t)column.read, "slots");
    bool all = column.read == column.slots;
    ifm_derive_emit(d, work, arm, IFM_M_TOTAL_ENERGY_J,
                    all ? ifm_value_real(column.total_j, (int64_t)column.read, "slots") : absent);
    bool gaps = work->cell->measure.cache == IFM_CACHE_COLD || arm->arm->gaps;
    struct ifm_value power = ifm_value_real(ifm_energy_column_power(&column), (int64_t)column.read, "slots");
    if (gaps)
        power = ifm_value_absent("the counter also counted what runs between the samples (evictions, hooks)", "",
                                 (int64_t)column.read, "slots");
    ifm_derive_emit(d, work, arm, IFM_M_POWER_MEAN_W, all ? power : absent);
}

bool ifm_derive_energy_window(const struct ifm_cell_work *work, const struct ifm_arm_work *arm, struct ifm_value *out)
{
    struct total total = total_of(work->energy, work->n_energy, arm->arm->name);
    double tokens = 0.0;
    if (total.windows == 0)
        return false;
    const char *device = NULL;
    for (size_t i = 0; i < work->n_energy; i++) {
        const struct ifm_energy_fact *fact = &work->energy[i];
        if (!fact->windowed || strcmp(fact->arm, arm->arm->name) != 0 || !counts(work->energy, i))
            continue;
        device = device == NULL ? fact->device : device;
        if (strcmp(device, fact->device) == 0)
            tokens += ifm_energy_work_in(work, arm, fact).tokens;
    }
    *out = tokens > 0 ? ifm_value_real(total.joules / tokens, (int64_t)tokens, "tokens")
                      : ifm_value_absent("no token was made in the window of the energy", "", 0, "tokens");
    return true;
}

/* Every number of energy that a gate asks for and nothing gave is absent, with the reason; where an energy pass was
 * asked for, the main ones are, whoever asks. */
static void emit_missing(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm_work *arm,
                         bool has_total)
{
    static const enum ifm_metric_id main_ones[] = {IFM_M_TOTAL_ENERGY_J, IFM_M_POWER_MEAN_W, IFM_M_ENERGY_PER_STEP_J};
    bool none = work->power.missing != NULL && work->power.missing[0] != '\0';
    struct ifm_value absent =
        none ? ifm_value_absent(work->power.missing, work->power.remedy, 0, "windows")
             : ifm_value_absent("no window of energy of this arm was recorded", "`run --resume` goes on", 0, "windows");
    if (work->record == NULL && none)
        absent = ifm_value_absent(work->missing, work->remedy, 0, "windows");
    for (size_t i = 0; i < IFM_M_COUNT; i++) {
        enum ifm_metric_id metric = (enum ifm_metric_id)i;
        bool energy = ifm_metrics[i].kind == IFM_CLASS_ENERGY || metric == IFM_M_ENERGY_WINDOWS;
        bool listed = work->cell->measure.energy && !has_total;
        bool is_main = false;
        for (size_t k = 0; k < sizeof main_ones / sizeof main_ones[0]; k++)
            is_main |= main_ones[k] == metric;
        /* without an energy pass counters.c has the energy of a token, whatever it comes from */
        if (!energy || (metric == IFM_M_ENERGY_PER_TOKEN_J && !ifm_derive_has_energy_pass(work)) ||
            (has_total && (metric == IFM_M_TOTAL_ENERGY_J || metric == IFM_M_POWER_MEAN_W)))
            continue;
        if ((listed && is_main) || ifm_derive_is_wanted(d, work, metric))
            ifm_derive_emit(d, work, arm, metric, absent);
    }
}

static bool column_speaks(const struct ifm_cell_work *work, const struct ifm_arm_work *arm)
{
    return work->record != NULL && ifm_energy_column_of(work, arm).read > 0;
}

void ifm_derive_energy(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm_work *arm)
{
    /* a ceiling that is taken along has no windows */
    if (arm != NULL && work->cell->measure.energy && !ifm_plan_isolates(work->cell, arm->index) &&
        !column_speaks(work, arm))
        return;
    if (arm != NULL)
        ifm_derive_energy_rows(d, work, arm);
    if (arm != NULL && ifm_derive_energy_pass(d, work, arm))
        return;
    struct total total = total_of(work->energy, work->n_energy, arm == NULL ? "" : arm->arm->name);
    if (total.windows > 0)
        emit_total(d, work, arm, &total);
    else if (arm != NULL && work->record != NULL)
        emit_column(d, work, arm);
    if (arm != NULL)
        emit_missing(d, work, arm, total.windows > 0 || column_speaks(work, arm));
}
