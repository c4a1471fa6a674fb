/* Opening and checking a cell. */
#include "run/cell/cell.h"

#include "base/arena.h"
#include "base/clock.h"
#include "device/fake.h"
#include "run/cell/arm.h"
#include "run/cell/instruments.h"
#include "run/remote/remote.h"
#include <stdlib.h>
#include <string.h>

static enum ifm_status open_arms(struct ifm_cell_run *cell, struct ifm_error *error)
{
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        ifm_parts_turn(&cell->session->parts, IFM_PART_DATA, cell->plan->arms[i].name);
        IFM_TRY(ifm_arm_open(cell, i, error));
    }
    return IFM_OK;
}

/* A scripted device computes nothing, so its script gives the outcome of the check. */
static void script_check(struct ifm_device *device, const char *arm, struct ifm_check *check)
{
    double quality, error_rel;
    ifm_fake_check(device, arm, &quality, &error_rel);
    if (quality >= 0) {
        check->has_quality = true;
        check->quality_percent = quality;
    }
    if (error_rel < 0)
        return;
    check->done = check->finite = true;
    check->values = 1;
    check->error_rms_rel = check->error_max_rel = error_rel;
    check->output_xxh3 = 0;
    check->sets_differ = false;
}

/* Share of the cell's time that the rounds after the blocks may take, of all arms together. */
static const double ROUNDS_SHARE = 0.02;

enum ifm_status ifm_cell_check(struct ifm_cell_run *cell, const char *when, struct ifm_error *error)
{
    bool first = strcmp(when, "before") == 0;
    const double so_far_s = (double)(ifm_clock_boot_ns() - cell->opened_ns) * 1e-9;
    cell->check_s = ROUNDS_SHARE * so_far_s / (double)cell->plan->n_arms;
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        struct ifm_check check;
        ifm_parts_turn(&cell->session->parts, IFM_PART_CHECKS, cell->plan->arms[i].name);
        IFM_TRY(ifm_arm_check(cell, i, first, &check, error));
        if (ifm_device_is_fake(cell->device))
            script_check(cell->device, cell->plan->arms[i].name, &check);
        IFM_TRY(ifm_fact_check(cell->session, cell->plan->name, cell->plan->arms[i].name, when, &check, error));
    }
    return IFM_OK;
}

enum ifm_status ifm_cell_open(const struct ifm_cell *plan, struct ifm_device *device, struct ifm_session *session,
                              struct ifm_cell_run *out, struct ifm_error *error)
{
    *out = (struct ifm_cell_run){.plan = plan, .pass = &plan->passes[0], .device = device, .session = session};
    out->arms = ifm_zeros(plan->n_arms, sizeof *out->arms);
    out->opened_ns = ifm_clock_boot_ns();
    enum ifm_status status = open_arms(out, error);
    if (status == IFM_OK)
        status = ifm_cell_check(out, "before", error);
    if (status == IFM_OK)
        status = ifm_instruments_open(out, error);
    if (status != IFM_OK)
        ifm_cell_close(out);
    return status;
}

enum ifm_status ifm_cell_open_one(const struct ifm_cell *plan, struct ifm_device *device, struct ifm_session *session,
                                  size_t arm, size_t pass, struct ifm_cell_run *out, struct ifm_error *error)
{
    *out = (struct ifm_cell_run){.plan = plan, .pass = &plan->passes[pass], .device = device, .session = session};
    if (arm >= plan->n_arms)
        return ifm_fail(error, IFM_INTERNAL, plan->name, NULL, "the cell has no arm %zu", arm);
    out->arms = ifm_zeros(plan->n_arms, sizeof *out->arms);
    IFM_TRY(ifm_arm_open(out, arm, error));
    return ifm_instruments_open(out, error);
}

void ifm_cell_close(struct ifm_cell_run *cell)
{
    ifm_instruments_close(cell);
    for (size_t i = 0; cell->arms != NULL && i < cell->plan->n_arms; i++)
        ifm_arm_close(cell, i);
    ifm_remote_free(cell->shared);
    if (cell->device != NULL)
        cell->device->ops->drop_buffers(cell->device);
    free(cell->arms);
    free(cell->slots);
    free(cell->samples);
    free(cell->columns);
    free(cell->marks);
    *cell = (struct ifm_cell_run){0};
}
