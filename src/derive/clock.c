/* The real clock of a GPU's multiprocessors: cycles over time, and beside it what the driver reports. */
#include "derive/internal.h"

#include <math.h>

/* The timer's tick of up to a microsecond, in the shortest slot that is read. */
#define CLOCK_QUANTUM 0.0025

struct slot_columns {
    int cycles, span, reported;
};

/* Cycles a microsecond. */
static bool slot_mhz(const struct ifm_slot *slot, const struct slot_columns *columns, double *mhz)
{
    int64_t cycles = slot->columns[columns->cycles], span = slot->columns[columns->span];
    if (cycles == IFM_ABSENT || span == IFM_ABSENT || cycles <= 0 || span <= 0)
        return false;
    *mhz = 1e3 * (double)cycles / (double)span;
    return true;
}

static bool reported_mhz(const struct ifm_slot *slot, const struct slot_columns *columns, double *mhz)
{
    int64_t value = slot->columns[columns->reported];
    *mhz = (double)value;
    return value != IFM_ABSENT && value > 0;
}

typedef bool slot_reading(const struct ifm_slot *slot, const struct slot_columns *columns, double *mhz);

/* Logarithms of the readings of the arm's measured slots, in time order. */
static size_t gather(const struct ifm_arm_work *arm, const struct slot_columns *columns, slot_reading *read,
                     double *logs)
{
    size_t n = 0;
    double mhz;
    const struct ifm_slot *slot;
    for (size_t k = 0; (slot = ifm_next_slot(arm, &k)) != NULL; k++)
        if (read(slot, columns, &mhz))
            logs[n++] = log(mhz);
    return n;
}

/* Why slots were not read, in the words of the run. */
static struct ifm_value unread(const struct ifm_arm_work *arm, size_t n)
{
    const struct ifm_event_clock_unread *told = IFM_TOLD(arm->work, clock_unread, NULL);
    return ifm_value_absent(ifm_arena_printf(arm->d->arena, "read in %zu of %zu slots%s%s", n, arm->n_slots,
                                             told == NULL ? "" : ": ", told == NULL ? "" : told->reason),
                            "slots of at least a millisecond: --override measure.slot_min=2ms", (int64_t)n, "slots");
}

static struct ifm_value mean_of(const double *logs, size_t n, double quantum, bool interval)
{
    struct ifm_log_mean mean;
    if (!ifm_log_level_of(logs, n, quantum, &mean))
        return ifm_value_absent("no slot was read", "", 0, "slots");
    return interval ? ifm_value_of_logs(&mean, 1.0, IFM_LEVEL, "slots")
                    : ifm_value_real(exp(mean.mean), (int64_t)n, "slots");
}

static void emit_missing(const struct ifm_arm_work *arm)
{
    if (ifm_derive_is_wanted(arm->work, IFM_M_CLOCK_SM_MHZ))
        ifm_derive_emit(arm, IFM_M_CLOCK_SM_MHZ,
                        ifm_value_unread(arm->work, "no instrument of this pass counts the cycles of a GPU",
                                         "device.kind=cuda", "slots"));
}

void ifm_derive_clock(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    struct slot_columns columns = {ifm_derive_column(work->record, "gpu_cycles"),
                                   ifm_derive_column(work->record, "gpu_clock_span_ns"),
                                   ifm_derive_column(work->record, "gpu_clock_reported_mhz")};
    if (columns.cycles < 0 || columns.span < 0) {
        emit_missing(arm);
        return;
    }
    struct ifm_arena *scratch = ifm_arena_create();
    double *logs = IFM_ARENA_ARRAY(scratch, double, work->record->n_slots + 1);
    size_t n = gather(arm, &columns, slot_mhz, logs);
    bool whole = n > 0 && n >= arm->n_slots;
    ifm_derive_emit(arm, IFM_M_CLOCK_SM_MHZ, whole ? mean_of(logs, n, CLOCK_QUANTUM, true) : unread(arm, n));
    /* Of single moments, which say nothing of the mean between them: no interval. */
    n = columns.reported < 0 ? 0 : gather(arm, &columns, reported_mhz, logs);
    if (n > 0)
        ifm_derive_emit(arm, IFM_M_CLOCK_SM_REPORTED_MHZ, mean_of(logs, n, 0, false));
    ifm_arena_destroy(scratch);
}
