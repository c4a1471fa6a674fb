/* How busy the GPU's parts were in the windows of energy, by the GPU's own monitor (GPM). Means over the windows of an
 * arm that have a number; nothing of it enters a time, a rate or a joule. */
#include "derive/internal.h"

#include <string.h>

static const struct {
    const char *column;
    enum ifm_metric_id metric;
    double scale;
} rows[] = {
    {"gpm_memory", IFM_M_GPM_MEMORY_PERCENT, 1e-4},
    {"gpm_sm", IFM_M_GPM_SM_PERCENT, 1e-4},
    {"gpm_occupancy", IFM_M_GPM_OCCUPANCY_PERCENT, 1e-4},
    {"gpm_tensor", IFM_M_GPM_TENSOR_PERCENT, 1e-4},
    {"gpm_cost_ns", IFM_M_GPM_COST_NS, 1},
};
enum { N = sizeof rows / sizeof *rows };

static bool is_of(const struct ifm_slot *slot, const struct ifm_arm_work *arm)
{
    return slot->phase == IFM_PHASE_MEASURE && slot->arm == arm->index;
}

/* Values of the arm's windows; `longest_s`: the longest of all, 0 where it has none. */
static size_t values_of(const struct ifm_arm_work *arm, const struct ifm_record *record, int column, double scale,
                        double *values, double *longest_s)
{
    size_t n = 0;
    *longest_s = 0;
    for (size_t k = 0; k < record->n_slots; k++) {
        const struct ifm_slot *slot = &record->slots[k];
        const double seconds = 1e-9 * (double)(slot->end_ns - slot->start_ns);
        if (!is_of(slot, arm))
            continue;
        *longest_s = seconds > *longest_s ? seconds : *longest_s;
        if (slot->columns[column] != IFM_ABSENT)
            values[n++] = scale * (double)slot->columns[column];
    }
    return n;
}

static struct ifm_value unread(const struct ifm_arm_work *arm, const char *column, double longest_s)
{
    IFM_EACH_TOLD(event, arm->work, column_absent, NULL) {
        const struct ifm_event_column_absent *told = IFM_FACTS(event, column_absent);
        if (strcmp(told->pass, ifm_pass_names[IFM_PASS_ENERGY]) == 0 && strcmp(told->column, column) == 0)
            return ifm_value_absent(told->reason, told->remedy, 0, "windows");
    }
    if (longest_s < 1)
        return ifm_value_absent("the GPU's monitor updates ten times a second, and no window lasted a second",
                                "--energy-window 2s", 0, "windows");
    return ifm_value_absent("the GPU's monitor gave no number from 0 to 100 %", "", 0, "windows");
}

void ifm_derive_monitored(const struct ifm_arm_work *arm)
{
    const struct ifm_record *record = ifm_derive_record_of(arm->work, IFM_PASS_ENERGY);
    struct ifm_arena *scratch = ifm_arena_create();
    double *values = IFM_ARENA_ARRAY(scratch, double, (record == NULL ? 0 : record->n_slots) + 1), longest_s = 0;
    for (size_t i = 0; i < N; i++) {
        const int column = record == NULL ? -1 : ifm_derive_column(record, rows[i].column);
        const size_t n = column < 0 ? 0 : values_of(arm, record, column, rows[i].scale, values, &longest_s);
        /* Ceilings have no windows. */
        if (column >= 0 && longest_s > 0 && (n > 0 || rows[i].metric != IFM_M_GPM_COST_NS))
            ifm_derive_emit(arm, rows[i].metric,
                            n > 0 ? ifm_derive_mean(values, n, "windows") : unread(arm, rows[i].column, longest_s));
        else if (ifm_derive_is_wanted(arm->work, rows[i].metric))
            ifm_derive_emit(arm, rows[i].metric,
                            ifm_value_absent("the GPU's monitor was not read",
                                             "--energy reads it in windows of seconds, on device.kind=cuda", 0,
                                             "windows"));
    }
    ifm_arena_destroy(scratch);
}
