/* What a processor counted in the pass of counters, per step over its slots. A slot that was not read whole has no
 * numbers, and then the arm has none: nothing is scaled. Nothing of it enters a time or a rate. */
#include "derive/internal.h"

#include <math.h>
#include <string.h>

enum { CYCLES, INSTRUCTIONS, CACHE_MISSES, BRANCH_MISSES, N };
static const char *const names[N] = {"cpu_cycles", "cpu_instructions", "cpu_cache_misses", "cpu_branch_misses"};
static const enum ifm_metric_id per_step[N] = {IFM_M_CPU_CYCLES_PER_STEP, IFM_M_INSTRUCTIONS_PER_STEP,
                                               IFM_M_CACHE_MISSES_PER_STEP, IFM_M_BRANCH_MISSES_PER_STEP};

struct cpu_counted {
    const struct ifm_arm_work *arm;
    const struct ifm_record *record; /* NULL = the cell has no such pass */
    int columns[N];
    double *values;
    size_t slots; /* of this arm */
};

/* Of each slot that was read: a column over its steps, or over another column. */
static size_t values_of(const struct cpu_counted *c, unsigned over, unsigned under)
{
    size_t n = 0;
    for (size_t k = 0; c->record != NULL && c->columns[over] >= 0 && k < c->record->n_slots; k++) {
        const struct ifm_slot *slot = &c->record->slots[k];
        const int64_t value = slot->columns[c->columns[over]];
        const double steps = (double)slot->samples * (double)slot->inner + ifm_derive_lead(c->arm);
        const double by = under == N ? steps : c->columns[under] < 0 ? 0 : (double)slot->columns[c->columns[under]];
        if (slot->phase == IFM_PHASE_MEASURE && slot->arm == c->arm->index && value != IFM_ABSENT && by > 0)
            c->values[n++] = (double)value / by;
    }
    return n;
}

static struct ifm_value absent(const struct cpu_counted *c, unsigned column, size_t read)
{
    const struct ifm_cell *cell = c->arm->work->cell;
    const char *reason = NULL, *remedy = "";
    if (!cell->measure.counters)
        return ifm_value_absent("counters were not read",
                                "--counters (measure.counters) reads them, in a pass of its own", 0, "slots");
    if (c->columns[column] < 0)
        return ifm_value_absent("the processor's counters were not read in this cell", "measure on device.kind=cpu", 0,
                                "slots");
    IFM_EACH_TOLD(event, c->arm->work, column_absent, NULL) {
        const struct ifm_event_column_absent *told = IFM_FACTS(event, column_absent);
        if (strcmp(told->pass, ifm_pass_names[IFM_PASS_COUNTERS]) != 0 || strcmp(told->column, names[column]) != 0)
            continue;
        reason = told->reason;
        remedy = told->remedy;
    }
    IFM_EACH_TOLD(event, c->arm->work, counters_read, NULL)
        if (reason == NULL && IFM_FACTS(event, counters_read)->reason != NULL)
            reason = IFM_FACTS(event, counters_read)->reason;
    if (reason == NULL)
        reason = "no slot of this arm was read";
    return ifm_value_absent(read == 0 ? reason
                                      : ifm_arena_printf(c->arm->d->arena, "%zu of %zu slots were not read: %s",
                                                         c->slots - read, c->slots, reason),
                            remedy, (int64_t)read, "slots");
}

static void emit(const struct cpu_counted *c, enum ifm_metric_id metric, unsigned over, unsigned under)
{
    const size_t n = values_of(c, over, under);
    struct ifm_value value;
    if (n > 0 && ifm_derive_has_gaps(c->arm))
        value = ifm_derive_of_gaps(c->arm, 0, "slots");
    else
        value = n == 0 || n < c->slots ? absent(c, over, n) : ifm_derive_mean(c->values, n, "slots");
    ifm_derive_emit(c->arm, metric, value);
}

void ifm_derive_cpu_counted(const struct ifm_arm_work *arm)
{
    static const char what[] = "counters were read";
    struct ifm_arena *scratch = ifm_arena_create();
    struct cpu_counted c = {.arm = arm, .record = ifm_derive_record_of(arm->work, IFM_PASS_COUNTERS)};
    const bool asked = ifm_derive_counts_cpu(arm->work) && ifm_plan_isolates(arm->work->cell, arm->index);
    c.values = IFM_ARENA_ARRAY(scratch, double, (c.record == NULL ? 0 : c.record->n_slots) + 1);
    for (size_t i = 0; i < N; i++)
        c.columns[i] = c.record == NULL ? (asked ? 0 : -1) : ifm_derive_column(c.record, names[i]);
    for (size_t k = 0; c.record != NULL && k < c.record->n_slots; k++)
        c.slots += c.record->slots[k].phase == IFM_PHASE_MEASURE && c.record->slots[k].arm == arm->index;
    for (unsigned i = 0; i < N; i++)
        if (asked || ifm_derive_is_wanted(arm->work, per_step[i]))
            emit(&c, per_step[i], i, N);
    if (asked || ifm_derive_is_wanted(arm->work, IFM_M_INSTRUCTIONS_PER_CYCLE))
        emit(&c, IFM_M_INSTRUCTIONS_PER_CYCLE, INSTRUCTIONS, CYCLES);
    const struct ifm_value slower = ifm_derive_slower(arm, c.record, false, "blocks");
    if (asked && c.slots > 0 && slower.state == IFM_STATE_OK) {
        ifm_derive_emit(arm, IFM_M_COUNTERS_SLOWER_PERCENT, slower);
        ifm_derive_say_slower(arm, &slower, what);
    }
    ifm_arena_destroy(scratch);
}
