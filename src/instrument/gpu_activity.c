/* Instrument gpu_activity: kernels, copies, waits and calls of a slot, by CUPTI's activity.
 *
 * It records in a process of its own (`own_process`), which began to record before its device was opened. In any other
 * process it only says whether it could. A slot whose records are not all there has no numbers. */
#include "instrument/gpu_activity.h"

#include "base/arena.h"
#include "instrument/instrument.h"
#include "instrument/nvtx.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct ifm_column ifm_trace_columns[IFM_TRACE_COLUMNS] = {
    {"trace_kernels", "count"},        {"trace_graph_kernels", "count"}, {"trace_launches", "count"},
    {"trace_graph_launches", "count"}, {"trace_copies", "count"},        {"trace_copy_bytes", "B"},
    {"trace_waits", "count"},          {"trace_calls", "count"},         {"trace_kernel_ns", "ns"},
    {"trace_call_ns", "ns"},           {"trace_busy_ns", "ns"},          {"trace_span_ns", "ns"},
    {"trace_overhead_ns", "ns"},       {"trace_records", "count"},       {"trace_launch_ns", "ns"},
    {"trace_wait_ns", "ns"},           {"trace_graph_kernel_ns", "ns"},
};

struct ifm_instrument_state {
    uint64_t from; /* when the open slot began; 0 = it is not recorded */
    int64_t values[IFM_TRACE_COLUMNS];
    size_t slots, read;
    char why[320];
};

static struct {
    const struct ifm_cuda *cuda;
    bool records;
    char source[64], why[320];
    struct ifm_activity_rows rows;
} process;

static const struct ifm_cupti *find(struct ifm_cuda_absence *absence)
{
    process.cuda = ifm_cuda_load(absence);
    return process.cuda == NULL ? NULL : ifm_cupti_load(process.cuda->driver_version, absence);
}

void ifm_gpu_activity_prepare(void)
{
    struct ifm_cuda_absence absence;
    const struct ifm_cupti *cupti = find(&absence);
    if (cupti == NULL) {
        snprintf(process.why, sizeof process.why, "%s", absence.reason);
        return;
    }
    snprintf(process.source, sizeof process.source, "%s", cupti->name);
    process.records = ifm_activity_begin(cupti, false, process.why);
    if (process.records)
        ifm_nvtx_tap(ifm_activity_push, ifm_activity_pop);
}

struct ifm_activity_rows ifm_gpu_activity_rows(void)
{
    return process.rows;
}

static const char *activity_probe(size_t column, const char **remedy)
{
    struct ifm_cuda_absence absence = {"", ""};
    (void)column;
    const bool is_there = find(&absence) != NULL;
    *remedy = is_there ? "" : absence.remedy;
    return is_there ? "" : absence.reason;
}

static enum ifm_status activity_open(struct ifm_instrument_state **out, struct ifm_error *error)
{
    (void)error;
    *out = ifm_zeros(1, sizeof **out);
    return IFM_OK;
}

static void activity_close(struct ifm_instrument_state *state)
{
    free(state);
}

/* Wait for the GPU. */
static bool is_idle(struct ifm_instrument_state *state)
{
    CUcontext context = NULL;
    CUresult result = process.cuda->p_cuCtxGetCurrent(&context);
    if (result == CUDA_SUCCESS)
        result = process.cuda->p_cuCtxSynchronize(context);
    if (result == CUDA_SUCCESS)
        return true;
    snprintf(state->why, sizeof state->why, "the work around a slot failed: %s", ifm_cuda_error(process.cuda, result));
    return false;
}

static void activity_start(struct ifm_instrument_state *state)
{
    process.rows = (struct ifm_activity_rows){NULL, 0, 0};
    state->slots++;
    state->from = 0;
    for (size_t c = 0; c < IFM_TRACE_COLUMNS; c++)
        state->values[c] = IFM_ABSENT;
    if (!process.records)
        memcpy(state->why, process.why, sizeof state->why);
    else if (is_idle(state))
        state->from = ifm_activity_reset(state->why);
}

static void fill(struct ifm_instrument_state *state, const struct ifm_activity_rows *rows, uint64_t to)
{
    struct ifm_activity_counts c;
    if (ifm_activity_samples(rows->items, rows->n) == 0) /* nothing runs between them */
        c = ifm_activity_count(rows->items, rows->n, state->from, to);
    else if (!ifm_activity_count_samples(rows->items, rows->n, &c)) {
        snprintf(state->why, sizeof state->why,
                 "work of the GPU has no record of its call, and may be of what runs between the samples");
        return;
    }
    const int64_t values[IFM_TRACE_COLUMNS] = {
        c.kernels,     c.graph_kernels,  c.launches,  c.graph_launches, c.copies,         c.copy_bytes,
        c.waits,       c.calls,          c.kernel_ns, c.call_ns,        c.busy_ns,        c.span_ns,
        c.overhead_ns, (int64_t)rows->n, c.launch_ns, c.wait_ns,        c.graph_kernel_ns};
    memcpy(state->values, values, sizeof values);
    process.rows = *rows;
    state->read++;
}

static void activity_stop(struct ifm_instrument_state *state)
{
    struct ifm_activity_rows rows;
    if (state->from == 0)
        return;
    const uint64_t to = ifm_activity_now();
    if (is_idle(state) && ifm_activity_take(&rows, state->why)) {
        if (rows.lost > 0)
            snprintf(state->why, sizeof state->why, "%llu records of a slot were lost", (unsigned long long)rows.lost);
        else if (rows.n == 0)
            snprintf(state->why, sizeof state->why, "CUPTI recorded nothing in a slot");
        else
            fill(state, &rows, to);
    }
}

static void activity_collect(struct ifm_instrument_state *state, int64_t *values)
{
    memcpy(values, state->values, sizeof state->values);
}

static unsigned activity_groups(const struct ifm_instrument_state *state)
{
    struct ifm_cuda_absence absence;
    (void)state;
    return find(&absence) != NULL;
}

static void activity_choose(struct ifm_instrument_state *state, unsigned group)
{
    (void)state;
    (void)group;
}

static void activity_tell(const struct ifm_instrument_state *state, struct ifm_instrument_told *told)
{
    *told = (struct ifm_instrument_told){process.source, state->slots, state->read, state->why};
}

const struct ifm_instrument ifm_instrument_gpu_activity = {
    .name = "gpu_activity",
    .device = "cuda",
    .intrusion = IFM_INTRUSION_TRACING,
    .own_process = true,
    .columns = ifm_trace_columns,
    .n_columns = IFM_TRACE_COLUMNS,
    .probe = activity_probe,
    .open = activity_open,
    .start = activity_start,
    .stop = activity_stop,
    .collect = activity_collect,
    .close = activity_close,
    .groups = activity_groups,
    .choose = activity_choose,
    .tell = activity_tell,
};
