/* Warm-up, blocks, stop. */
#include "run/pass.h"

#include "run/arm.h"
#include "run/interrupt.h"
#include "run/warm_up.h"
#include "run/watch.h"
#include <math.h>

static enum ifm_status append(struct ifm_pass_run *pass, size_t n_slots, struct ifm_error *error)
{
    size_t n_samples = 0;
    for (size_t i = 0; i < n_slots; i++)
        n_samples += pass->cell->slots[i].samples;
    enum ifm_status status = IFM_OK;
    unsigned arms[2 * IFM_MOST_ARMS];
    for (size_t i = 0; i < n_slots; i++) { /* the record numbers them as the plan does */
        arms[i] = pass->cell->slots[i].arm;
        if (pass->cell->planned != NULL)
            pass->cell->slots[i].arm = pass->cell->planned[arms[i]];
    }
    if (pass->recorder != NULL)
        status = ifm_recorder_append(pass->recorder, pass->cell->slots, n_slots, pass->cell->samples, n_samples, error);
    for (size_t i = 0; i < n_slots; i++)
        pass->cell->slots[i].arm = arms[i];
    pass->next_block++;
    return status;
}

/* Run the slots of one block, in `order`; nothing is on disk yet. */
static enum ifm_status run_slots(struct ifm_pass_run *pass, const unsigned *order, size_t n, enum ifm_phase phase,
                                 struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    struct ifm_sample *samples = cell->samples;
    for (size_t i = 0; i < n; i++) {
        if (ifm_interrupted())
            return ifm_fail(error, IFM_INTERRUPTED, cell->plan->name, "go on with --resume",
                            "interrupted; every whole block is kept");
        struct ifm_slot *slot = &cell->slots[i];
        if (phase == IFM_PHASE_MEASURE)
            IFM_TRY(ifm_converge_pre_roll(&pass->converge, order[i], error));
        IFM_TRY(ifm_arm_slot(cell, order[i], slot, samples, cell->columns + i * cell->pass->n_columns, error));
        IFM_TRY(ifm_watch_slot(cell, slot, samples, pass->end_ns, error));
        pass->end_ns = slot->end_ns;
        slot->block = pass->next_block;
        slot->phase = phase;
        samples += slot->samples;
    }
    return IFM_OK;
}

enum ifm_status ifm_pass_warm_up(struct ifm_pass_run *pass, struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    size_t n = cell->plan->n_arms;
    unsigned order[IFM_MOST_ARMS];
    struct ifm_warm_up warm;
    for (size_t i = 0; i < n; i++)
        order[i] = (unsigned)i;
    ifm_warm_up_init(&warm, cell);
    enum ifm_status status = IFM_OK;
    while (status == IFM_OK && ifm_warm_up_wanted(&warm)) {
        status = run_slots(pass, order, n, IFM_PHASE_WARMUP, error);
        if (status == IFM_OK)
            status = append(pass, n, error);
        ifm_warm_up_take(&warm);
    }
    if (status == IFM_OK)
        status = ifm_warm_up_log(&warm, error);
    ifm_warm_up_free(&warm);
    return status;
}

enum ifm_status ifm_pass_block(struct ifm_pass_run *pass, struct ifm_stop *stop, struct ifm_error *error)
{
    const struct ifm_cell *cell = pass->cell->plan;
    unsigned order[2 * IFM_MOST_ARMS];
    ifm_plan_order(cell, pass->measured, order);
    IFM_TRY(ifm_arms_place(pass->cell, pass->measured, error));
    struct ifm_watch watch;
    ifm_watch_begin(pass->cell, &watch);
    IFM_TRY(run_slots(pass, order, 2 * cell->n_arms, IFM_PHASE_MEASURE, error));
    IFM_TRY(ifm_watch_end(pass->cell, &watch, pass->next_block, error));
    IFM_TRY(append(pass, 2 * cell->n_arms, error));
    ifm_stop_add(stop, pass->cell->slots, pass->cell->samples);
    pass->measured++;
    return IFM_OK;
}

enum ifm_status ifm_pass_log_stop(const struct ifm_pass_run *pass, const struct ifm_stop *stop, const char *reason,
                                  double elapsed_s, struct ifm_error *error)
{
    struct ifm_event_stop facts = ifm_stop_facts(stop);
    facts.cell = pass->cell->plan->name;
    facts.reason = reason;
    facts.blocks = (int64_t)pass->measured;
    facts.elapsed_s = elapsed_s;
    return ifm_fact_add(pass->cell->session, IFM_EVENT_OF(stop, true, &facts), error);
}

enum ifm_status ifm_pass_measure(struct ifm_pass_run *pass, struct ifm_stop *stop, struct ifm_error *error)
{
    /* The device's clock, so that a scripted device stops at the same block everywhere. */
    struct ifm_device *device = pass->cell->device;
    struct ifm_instant last = device->ops->mark(device);
    double elapsed_s = pass->earlier_s;
    const char *reason = ifm_stop_reason(stop, elapsed_s);
    while (reason == NULL) {
        IFM_TRY(ifm_pass_block(pass, stop, error));
        struct ifm_instant now = device->ops->mark(device);
        double block_s = (double)(now.ns - last.ns) * 1e-9;
        last = now;
        elapsed_s += block_s;
        reason = ifm_stop_reason(stop, elapsed_s);
        if (pass->progress != NULL)
            pass->progress(pass->context, pass->measured, ifm_stop_expected_blocks(stop, block_s), block_s);
    }
    return ifm_pass_log_stop(pass, stop, reason, elapsed_s, error);
}
