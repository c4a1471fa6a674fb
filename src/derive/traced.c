/* What the pass of traces recorded, per step over its slots. Nothing of it enters a time or a rate.
 *
 * A number is withheld where records of a slot were lost, and refused where what was computed under recording is not
 * what is computed without. */
#include "derive/internal.h"

#include <math.h>
#include <string.h>

enum {
    KERNELS,
    GRAPH_KERNELS,
    GRAPHS,
    LAUNCHES,
    COPIES,
    WAITS,
    CALLS,
    KERNEL_NS,
    CALL_NS,
    BUSY,
    SPAN,
    LAUNCH_NS, /* this and all that follow: since IFM_PLAN_RULES_LAUNCH_TIME */
    WAIT_NS,
    GRAPH_NS,
    N
};
static const char *const names[N] = {"trace_kernels", "trace_graph_kernels",  "trace_graph_launches", "trace_launches",
                                     "trace_copies",  "trace_waits",          "trace_calls",          "trace_kernel_ns",
                                     "trace_call_ns", "trace_busy_ns",        "trace_span_ns",        "trace_launch_ns",
                                     "trace_wait_ns", "trace_graph_kernel_ns"};

/* Of a column each, over the steps. */
static const struct {
    enum ifm_metric_id metric;
    unsigned column;
} per_step[] = {
    {IFM_M_KERNELS_LAUNCHED, KERNELS}, {IFM_M_GRAPH_KERNELS, GRAPH_KERNELS}, {IFM_M_GRAPH_LAUNCHES, GRAPHS},
    {IFM_M_LAUNCH_CALLS, LAUNCHES},    {IFM_M_GPU_COPIES, COPIES},           {IFM_M_GPU_WAITS, WAITS},
    {IFM_M_DRIVER_CALLS, CALLS},       {IFM_M_KERNEL_TIME_NS, KERNEL_NS},    {IFM_M_CALL_TIME_NS, CALL_NS},
    {IFM_M_LAUNCH_TIME_NS, LAUNCH_NS}, {IFM_M_WAIT_TIME_NS, WAIT_NS},        {IFM_M_GRAPH_KERNEL_TIME_NS, GRAPH_NS}};
enum { PER_STEP = sizeof per_step / sizeof *per_step };

struct traced {
    const struct ifm_arm_work *arm;
    const struct ifm_record *record; /* NULL = the cell has no such pass */
    int columns[N];
    double *values;
    size_t slots, read; /* of this arm */
    struct ifm_value slower;
};

#define WHILE "activity was recorded"

static bool is_mine(const struct traced *t, const struct ifm_slot *slot)
{
    return slot->phase == IFM_PHASE_MEASURE && slot->arm == t->arm->index;
}

/* Each slot that was read: its column over its steps. */
static size_t values_of(const struct traced *t, unsigned column)
{
    size_t n = 0;
    for (size_t k = 0; t->record != NULL && k < t->record->n_slots; k++) {
        const struct ifm_slot *slot = &t->record->slots[k];
        const int64_t value = t->columns[column] < 0 ? IFM_ABSENT : slot->columns[t->columns[column]];
        if (is_mine(t, slot) && value != IFM_ABSENT)
            t->values[n++] = (double)value / ((double)slot->samples * (double)slot->inner + ifm_derive_lead(t->arm));
    }
    return n;
}

/* Why there is no number; a value that is OK where there is one. */
static struct ifm_value state_of(const struct traced *t)
{
    const struct ifm_cell *cell = t->arm->work->cell;
    const char *reason = NULL, *remedy = "", *outputs = NULL, *before = NULL;
    bool of_samples = !ifm_derive_has_gaps(t->arm);
    if (!cell->measure.trace)
        return ifm_value_absent("activity was not recorded", "--trace records it, in a pass of its own", 0, "slots");
    if (ifm_plan_pass(cell, IFM_PASS_TRACE) == NULL)
        return ifm_value_absent(ifm_is_empty(cell->unsupported) ? "no instrument of this version records this device"
                                                                : cell->unsupported,
                                "measure on a GPU: device.kind=cuda", 0, "slots");
    IFM_EACH_TOLD(event, t->arm->work, column_absent, NULL) {
        const struct ifm_event_column_absent *told = IFM_FACTS(event, column_absent);
        if (strcmp(told->pass, ifm_pass_names[IFM_PASS_TRACE]) != 0 || strncmp(told->column, "trace_", 6) != 0)
            continue;
        reason = told->reason;
        remedy = told->remedy;
    }
    IFM_EACH_TOLD(event, t->arm->work, traced, NULL) {
        const struct ifm_event_traced *told = IFM_FACTS(event, traced);
        const bool is_own = strcmp(told->arm, t->arm->arm->name) == 0;
        if (told->reason != NULL && (is_own || told->slots == 0))
            reason = told->reason;
        outputs = is_own && told->outputs != NULL ? told->outputs : outputs;
        of_samples |= is_own && told->counted != NULL;
    }
    IFM_EACH_TOLD(event, t->arm->work, check, t->arm->arm->name)
        before = before == NULL ? IFM_FACTS(event, check)->output_xxh3 : before;
    if (reason == NULL && t->read == 0)
        reason = "no slot of this arm was recorded";
    if (reason != NULL)
        return ifm_value_absent(t->read == 0 ? reason
                                             : ifm_arena_printf(t->arm->d->arena, "%zu of %zu slots were not read: %s",
                                                                t->slots - t->read, t->slots, reason),
                                remedy, (int64_t)t->read, "slots");
    if (!of_samples) /* a run of an earlier version */
        return ifm_value_absent("what runs between the samples was counted too", "measure it anew", 0, "slots");
    if (outputs != NULL && before != NULL && strcmp(outputs, before) != 0 && !ifm_arm_of_library(t->arm->arm))
        return ifm_value_refused(t->arm->d->arena, "rule-12",
                                 "the arm's output under recording is not its output without");
    return ifm_value_real(0, (int64_t)t->read, "slots");
}

/* Busy time is stamped by the GPU, and recording hardly touches it; the gaps are those of the unrecorded step. */
static void emit_gaps(const struct traced *t)
{
    const size_t n = values_of(t, BUSY);
    const double step = t->arm->work->record == NULL ? NAN : ifm_derive_step_in(t->arm, t->arm->work->record);
    for (size_t i = 0; i < n; i++)
        t->values[i] = 100 * (1 - t->values[i] / step);
    struct ifm_value value = ifm_value_absent("no step was timed, or none recorded", "", 0, "slots");
    if (n > 0 && step > 0)
        value = ifm_derive_mean(t->values, n, "slots");
    if (value.state == IFM_STATE_OK && value.number < 0)
        value = ifm_value_absent("recorded kernels ran longer than a step that is not recorded", "longer steps",
                                 (int64_t)n, "slots");
    ifm_derive_emit(t->arm, IFM_M_GPU_GAP_PERCENT, value);
}

static void emit_idle(const struct traced *t)
{
    const char *slow = ifm_derive_too_slow(t->arm, &t->slower, WHILE);
    size_t n = 0;
    if (slow != NULL) {
        ifm_derive_emit(t->arm, IFM_M_GPU_IDLE_PERCENT,
                        ifm_value_absent(slow, "gpu_gap_percent has the gaps without recording", 0, "slots"));
        return;
    }
    for (size_t k = 0; k < t->record->n_slots; k++) {
        const struct ifm_slot *slot = &t->record->slots[k];
        if (!is_mine(t, slot) || t->columns[SPAN] < 0 || t->columns[BUSY] < 0)
            continue;
        const int64_t span = slot->columns[t->columns[SPAN]], busy = slot->columns[t->columns[BUSY]];
        if (span > 0 && busy != IFM_ABSENT && busy <= span)
            t->values[n++] = 100 * (1 - (double)busy / (double)span);
    }
    ifm_derive_emit(t->arm, IFM_M_GPU_IDLE_PERCENT,
                    n > 0 ? ifm_derive_mean(t->values, n, "slots")
                          : ifm_value_absent("the GPU had no work in a slot that could be recorded", "", 0, "slots"));
}

static void emit_cost(const struct traced *t)
{
    double kernels = 0;
    for (unsigned column = KERNELS; column <= GRAPH_KERNELS; column++) {
        const size_t n = values_of(t, column);
        for (size_t i = 0; i < n; i++)
            kernels += t->values[i] / (double)n;
    }
    if (t->arm->work->record == NULL)
        return;
    const double own = ifm_derive_step_in(t->arm, t->record), timed = ifm_derive_step_in(t->arm, t->arm->work->record);
    if (!isfinite(own / timed))
        return;
    ifm_derive_emit(t->arm, IFM_M_TRACE_SLOWER_PERCENT, t->slower);
    ifm_derive_say_slower(t->arm, &t->slower, WHILE);
    if (kernels > 0)
        ifm_derive_emit(t->arm, IFM_M_TRACE_COST_NS,
                        ifm_value_real((own - timed) / kernels, (int64_t)t->read, "slots"));
}

/* Earlier versions did not tell these apart. */
static bool is_recorded(const struct traced *t, unsigned column)
{
    if (column < LAUNCH_NS)
        return true;
    return t->record == NULL ? t->arm->d->plan->rules >= IFM_PLAN_RULES_LAUNCH_TIME : t->columns[column] >= 0;
}

static void emit_per_step(const struct traced *t, bool asked)
{
    const struct ifm_value state = state_of(t);
    const char *slow = ifm_derive_too_slow(t->arm, &t->slower, WHILE);
    for (size_t i = 0; i < PER_STEP; i++) {
        const unsigned column = per_step[i].column;
        const bool of_calls = column == CALL_NS || column == LAUNCH_NS || column == WAIT_NS;
        if (!ifm_derive_is_wanted(t->arm->work, per_step[i].metric) && !(asked && is_recorded(t, column)))
            continue;
        const size_t n = state.state == IFM_STATE_OK ? values_of(t, column) : 0;
        struct ifm_value value = state;
        if (n > 0)
            value = slow != NULL && of_calls ? ifm_value_absent(slow, "longer steps", 0, "slots")
                                             : ifm_derive_mean(t->values, n, "slots");
        else if (!is_recorded(t, column))
            value = ifm_value_absent("an earlier version recorded it", "measure it anew", 0, "slots");
        ifm_derive_emit(t->arm, per_step[i].metric, value);
    }
    if (asked && state.state == IFM_STATE_OK) {
        emit_gaps(t);
        emit_idle(t);
        emit_cost(t);
    }
}

void ifm_derive_traced(const struct ifm_arm_work *arm)
{
    struct ifm_arena *scratch = ifm_arena_create();
    struct traced t = {.arm = arm, .record = ifm_derive_record_of(arm->work, IFM_PASS_TRACE)};
    t.values = IFM_ARENA_ARRAY(scratch, double, (t.record == NULL ? 0 : t.record->n_slots) + 1);
    for (size_t i = 0; i < N && t.record != NULL; i++)
        t.columns[i] = ifm_derive_column(t.record, names[i]);
    for (size_t k = 0; t.record != NULL && k < t.record->n_slots; k++)
        t.slots += is_mine(&t, &t.record->slots[k]);
    t.read = values_of(&t, KERNELS);
    t.slower = ifm_derive_slower(arm, t.record, false, "blocks");
    emit_per_step(&t, arm->work->cell->measure.trace && ifm_plan_isolates(arm->work->cell, arm->index));
    ifm_arena_destroy(scratch);
}
