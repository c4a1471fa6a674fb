/* Energy: what the journal and the slots say of it, and the numbers that are made of the column energy_uj. Those for
 * one token are in counters.c; which of them may be printed is decided in rules_energy.c. */
#include "derive/energy/energy.h"

#include <string.h>

struct ifm_event_energy ifm_energy_sensor_of(const struct ifm_cell_work *work)
{
    const struct ifm_event_energy *told = IFM_TOLD(work, energy, NULL);
    struct ifm_event_energy unknown = IFM_BLANK(energy);
    unknown.device = "the device";
    unknown.source = "the sensor";
    return told == NULL ? unknown : *told;
}

struct ifm_energy_column ifm_energy_column_of(const struct ifm_arm_work *arm)
{
    struct ifm_energy_column out = {0};
    int column = ifm_derive_column(arm->work->record, "energy_uj");
    double lead = ifm_derive_lead(arm);
    const struct ifm_slot *slot;
    for (size_t k = 0; column >= 0 && (slot = ifm_next_slot(arm, &k)) != NULL; k++) {
        out.slots++;
        if (slot->columns[column] == IFM_ABSENT)
            continue;
        double timed = (double)slot->samples * (double)slot->inner;
        out.read++;
        out.total_j += 1e-6 * (double)slot->columns[column];
        out.timed += timed;
        out.steps += timed + lead; /* inside the brackets too */
        out.duration += 1e-9 * (double)(slot->end_ns - slot->start_ns);
    }
    return out;
}

double ifm_energy_column_power(const struct ifm_energy_column *column)
{
    return column->total_j * column->timed / column->steps / column->duration;
}

/* ---- numbers ---- */

static void emit_column(const struct ifm_arm_work *arm)
{
    struct ifm_energy_column column = ifm_energy_column_of(arm);
    struct ifm_value absent =
        ifm_value_absent(ifm_arena_printf(arm->d->arena, "read in %zu of %zu slots", column.read, column.slots), "",
                         (int64_t)column.read, "slots");
    bool all = column.read == column.slots;
    ifm_derive_emit(arm, IFM_M_TOTAL_ENERGY_J,
                    all ? ifm_value_real(column.total_j, (int64_t)column.read, "slots") : absent);
    struct ifm_value power = ifm_value_real(ifm_energy_column_power(&column), (int64_t)column.read, "slots");
    if (ifm_derive_has_gaps(arm))
        power = ifm_derive_of_gaps(arm, (int64_t)column.read, "slots");
    ifm_derive_emit(arm, IFM_M_POWER_MEAN_W, all ? power : absent);
}

/* Every number of energy that a gate asks for and nothing gave is absent, with the reason; where an energy pass was
 * asked for, the main ones are, whoever asks. */
static void emit_missing(const struct ifm_arm_work *arm, bool has_total)
{
    const struct ifm_cell_work *work = arm->work;
    static const enum ifm_metric_id main_ones[] = {IFM_M_TOTAL_ENERGY_J, IFM_M_POWER_MEAN_W, IFM_M_ENERGY_PER_STEP_J};
    bool none = !ifm_is_empty(work->power.missing);
    struct ifm_value absent =
        none ? ifm_value_absent(work->power.missing, work->power.remedy, 0, "windows")
             : ifm_value_absent("no window of energy of this arm was recorded", IFM_GO_ON, 0, "windows");
    if (work->record == NULL && none)
        absent = ifm_value_missing(work, "windows");
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
        if ((listed && is_main) || ifm_derive_is_wanted(work, metric))
            ifm_derive_emit(arm, metric, absent);
    }
}

static bool column_speaks(const struct ifm_arm_work *arm)
{
    return arm->work->record != NULL && ifm_energy_column_of(arm).read > 0;
}

void ifm_derive_energy(const struct ifm_arm_work *arm)
{
    bool column = column_speaks(arm);
    /* a ceiling that is taken along has no windows */
    if (arm->work->cell->measure.energy && !ifm_plan_isolates(arm->work->cell, arm->index) && !column)
        return;
    ifm_derive_energy_rows(arm);
    if (ifm_derive_energy_pass(arm))
        return;
    if (column)
        emit_column(arm);
    emit_missing(arm, column);
}
