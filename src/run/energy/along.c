/* Windows of energy that are the slots of the latency pass.
 *
 * A program of seconds is a window of its own: measuring it once more for its energy would double the run. Where every
 * slot of the latency pass is long enough for the sensors, they are read during that pass, and each block stands in
 * both records. Then the energy pass is complete when the latency pass is. A resumed session does not begin this way:
 * the energy pass takes the windows that are left by itself. Thread rule: the driving thread. */
#include "run/pass/pass.h"

#include "base/arena.h"
#include "run/energy/private.h"
#include <stdlib.h>

struct along {
    struct ifm_pass_run pass; /* of energy */
    const struct ifm_pass *plan;
    const struct ifm_pass_run *latency;
    size_t first_column; /* of the latency pass: those behind it are the programs' own */
    bool rested;         /* the device has idled since the last slot */
};

/* ---- whether ---- */

static const struct ifm_pass *goes_along(const struct ifm_pass_run *latency)
{
    const struct ifm_cell_run *cell = latency->cell;
    const struct ifm_pass *plan = ifm_plan_pass(cell->plan, IFM_PASS_ENERGY);
    double every_s;
    if (plan == NULL || latency->shared == NULL || latency->shared->resume || latency->shared->energy == NULL ||
        plan->n_instruments > 0 || !ifm_energy_is_useful(latency->shared->energy, &every_s) ||
        !ifm_energy_slots_suffice(cell, every_s))
        return NULL;
    return plan;
}

/* ---- the pass ---- */

/* What the energy pass does for itself, by the plan of that pass. */
static enum ifm_status as_energy(struct along *along,
                                 enum ifm_status (*do_it)(struct ifm_pass_run *pass, struct ifm_error *error),
                                 struct ifm_error *error)
{
    struct ifm_cell_run *cell = along->pass.cell;
    const struct ifm_pass *latency = cell->pass;
    cell->pass = along->plan;
    enum ifm_status status = do_it(&along->pass, error);
    cell->pass = latency;
    return status;
}

static enum ifm_status open(struct ifm_pass_run *pass, struct ifm_error *error)
{
    IFM_TRY(ifm_pass_open_record(pass, error));
    return pass->hooks->begin(pass, error);
}

static enum ifm_status begin(struct ifm_pass_run *latency, void **out, struct ifm_error *error)
{
    struct ifm_cell_run *cell = latency->cell;
    const struct ifm_pass *plan = goes_along(latency);
    *out = NULL;
    if (plan == NULL)
        return IFM_OK;
    struct along *along = ifm_zeros(1, sizeof *along);
    along->plan = plan;
    along->latency = latency;
    along->first_column = cell->pass->n_columns - plan->n_columns;
    along->rested = true;
    cell->windows = IFM_WINDOWS_ALONG;
    ifm_pass_set_up(&along->pass, cell, plan, &ifm_pass_energy);
    along->pass.shared = latency->shared;
    *out = along; /* closed with the pass, also after a failure */
    return as_energy(along, open, error);
}

static enum ifm_status pause_before(void *opened, unsigned arm, struct ifm_error *error)
{
    struct along *along = opened;
    bool rested = along->rested;
    along->rested = false;
    along->pass.place = along->latency->place;
    return ifm_energy_pause(&along->pass, arm, rested, error);
}

static enum ifm_status append(struct ifm_pass_run *pass, struct ifm_error *error)
{
    IFM_TRY(pass->hooks->settle(pass, error));
    IFM_TRY(ifm_pass_append(pass, pass->places, error));
    return ifm_recorder_sync(pass->recorder, error);
}

static enum ifm_status take(void *opened, struct ifm_error *error)
{
    struct along *along = opened;
    struct ifm_pass_run *pass = &along->pass;
    for (size_t i = 0; i < pass->places; i++) {
        pass->slots[i] = along->latency->slots[i];
        pass->slots[i].block = pass->next_block;
        pass->slots[i].columns += along->first_column;
    }
    pass->samples = along->latency->samples;
    IFM_TRY(as_energy(along, append, error));
    pass->measured++;
    along->rested = true;
    return IFM_OK;
}

static enum ifm_status end_pass(struct ifm_pass_run *pass, struct ifm_error *error)
{
    return pass->hooks->end(pass, pass->hooks->reason(pass), error);
}

static enum ifm_status end(void *opened, struct ifm_error *error)
{
    struct along *along = opened;
    IFM_TRY(as_energy(along, end_pass, error));
    along->pass.cell->windows = IFM_WINDOWS_DONE;
    return IFM_OK;
}

static void close_along(void *opened)
{
    struct along *along = opened;
    ifm_pass_close(&along->pass);
    free(along);
}

const struct ifm_pass_companion ifm_pass_energy_along = {begin, pause_before, take, end, close_along};
