/* A pass from its record to the facts that end it, and the kinds of passes. */
#include "run/pass/pass.h"
#include "instrument/nvtx.h"
#include "run/cell/watch.h"

#include "run/cell/instruments.h"
#include <math.h>
#include <string.h>

/* The kinds of passes; model/pass.c says what they admit. */
const struct ifm_pass_hooks *const ifm_pass_kinds[IFM_PASS_KINDS] = {
    [IFM_PASS_LATENCY] = &ifm_pass_latency,
    [IFM_PASS_ENERGY] = &ifm_pass_energy,
    [IFM_PASS_COUNTERS] = &ifm_pass_observed,
    [IFM_PASS_TRACE] = &ifm_pass_observed,
};

void ifm_pass_init(struct ifm_pass_run *pass, struct ifm_cell_run *cell, const struct ifm_pass *plan)
{
    ifm_pass_set_up(pass, cell, plan, ifm_pass_kinds[plan->kind]);
}

static enum ifm_status run_blocks(struct ifm_pass_run *pass, struct ifm_error *error)
{
    /* The device's clock, so that a scripted device stops at the same block everywhere. */
    struct ifm_device *device = pass->cell->device;
    struct ifm_instant last = device->ops->mark(device);
    const char *reason = pass->hooks->reason(pass);
    while (reason == NULL) {
        IFM_TRY(ifm_pass_round(pass, false, error));
        struct ifm_instant start = device->ops->mark(device);
        IFM_TRY(ifm_pass_block(pass, error));
        struct ifm_instant now = device->ops->mark(device);
        double block_s = (double)(now.ns - start.ns) * 1e-9;
        IFM_TRY(ifm_watch_span(pass->cell, 1e9 * block_s, error));
        pass->elapsed_s += (double)(now.ns - last.ns) * 1e-9;
        last = now;
        reason = pass->hooks->reason(pass);
        /* a forecast may be over before the blocks are: another one comes */
        ifm_pass_report(pass, fmax(pass->hooks->left_s(pass, block_s), reason == NULL ? block_s : 0));
    }
    IFM_TRY(ifm_pass_round(pass, true, error));
    IFM_TRY(pass->hooks->end(pass, reason, error));
    return ifm_recorder_sync(pass->recorder, error);
}

/* Does the journal of an interrupted run say that the pass is complete? */
static bool is_done(const struct ifm_events *events, enum ifm_stage done, const char *cell, const char *pass)
{
    const struct ifm_event *event = NULL;
    while ((event = ifm_events_next(events, done, cell, NULL, event)) != NULL)
        if (done != IFM_STAGE_pass_done || strcmp(IFM_FACTS(event, pass_done)->pass, pass) == 0)
            return true;
    return false;
}

static enum ifm_status execute(struct ifm_pass_run *pass, struct ifm_error *error)
{
    IFM_TRY(ifm_pass_open_record(pass, error));
    pass->elapsed_s = pass->earlier_s;
    IFM_TRY(pass->hooks->begin(pass, error));
    return run_blocks(pass, error);
}

static enum ifm_status open_and_execute(struct ifm_cell_run *cell, const struct ifm_pass *plan,
                                        const struct ifm_passes *shared, const struct ifm_events *events,
                                        bool *unrecorded, struct ifm_error *error)
{
    struct ifm_pass_run pass;
    IFM_TRY(ifm_instruments_of(cell, plan, error));
    ifm_pass_init(&pass, cell, plan);
    pass.shared = shared;
    pass.events = events;
    for (size_t i = 0; i < cell->plan->n_passes; i++)
        if (&cell->plan->passes[i] > plan)
            pass.later_s += ifm_pass_kinds[cell->plan->passes[i].kind]->expected_s(cell, &cell->plan->passes[i]);
    ifm_nvtx_push(ifm_pass_names[plan->kind]);
    enum ifm_status status = execute(&pass, error);
    ifm_nvtx_pop();
    if (pass.hooks->failed != NULL)
        status = pass.hooks->failed(&pass, status, error);
    *unrecorded = pass.unrecorded;
    ifm_pass_close(&pass);
    return status;
}

enum ifm_status ifm_pass_execute(struct ifm_cell_run *cell, const struct ifm_pass *plan,
                                 const struct ifm_passes *shared, bool *unrecorded, struct ifm_error *error)
{
    const enum ifm_stage done = ifm_pass_kinds[plan->kind]->done;
    const struct ifm_events *events = NULL;
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = IFM_OK;
    if (done != IFM_STAGE_unknown && shared->resume)
        status = ifm_journal_read(shared->dir, arena, &events, error);
    bool along = plan->kind == IFM_PASS_ENERGY && cell->windows == IFM_WINDOWS_DONE;
    if (status == IFM_OK && !along && !is_done(events, done, cell->plan->name, ifm_pass_names[plan->kind]))
        status = open_and_execute(cell, plan, shared, events, unrecorded, error);
    ifm_arena_destroy(arena);
    return status;
}
