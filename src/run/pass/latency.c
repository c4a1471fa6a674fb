/* The latency pass: warm-up, then blocks of samples until the stop rule of the configuration has enough. */
#include "run/pass/pass.h"

#include "run/cell/arm.h"
#include <math.h>

static void init(struct ifm_pass_run *pass)
{
    ifm_stop_init(&pass->stop, pass->cell);
}

static const char *reason(const struct ifm_pass_run *pass)
{
    return ifm_stop_reason(&pass->stop, pass->elapsed_s);
}

static enum ifm_status begin(struct ifm_pass_run *pass, struct ifm_error *error)
{
    if (reason(pass) != NULL)
        return IFM_OK;
    IFM_TRY(ifm_pass_warm_up(pass, error));
    return ifm_pass_energy_along.begin(pass, &pass->own, error);
}

static enum ifm_status slot(struct ifm_pass_run *pass, unsigned arm, struct ifm_slot *slot, struct ifm_sample *samples,
                            int64_t *columns, struct ifm_error *error)
{
    IFM_TRY(ifm_converge_pre_roll(&pass->converge, arm, error));
    if (pass->own != NULL)
        IFM_TRY(ifm_pass_energy_along.pause(pass->own, arm, error));
    return ifm_arm_slot(pass->cell, arm, slot, samples, columns, error);
}

static enum ifm_status settle(struct ifm_pass_run *pass, struct ifm_error *error)
{
    return pass->own == NULL ? IFM_OK : ifm_pass_energy_along.take(pass->own, error);
}

static void add(struct ifm_pass_run *pass, const struct ifm_slot *slots, const struct ifm_sample *samples)
{
    ifm_stop_add(&pass->stop, slots, samples);
}

static void so_far(const struct ifm_pass_run *pass, struct ifm_so_far *out)
{
    ifm_stop_so_far(&pass->stop, out);
}

static double left_s(const struct ifm_pass_run *pass, double block_s)
{
    return fmax(ifm_stop_expected_blocks(&pass->stop, block_s) - ifm_pass_position(pass), 0) * block_s;
}

enum ifm_status ifm_pass_log_stop(struct ifm_pass_run *pass, const char *why, struct ifm_error *error)
{
    struct ifm_event_stop facts = ifm_stop_facts(&pass->stop);
    facts.cell = pass->cell->plan->name;
    facts.reason = why;
    facts.blocks = pass->measured;
    facts.elapsed_s = pass->elapsed_s;
    return ifm_fact_add(pass->cell->session, IFM_EVENT_OF(stop, true, &facts), error);
}

static enum ifm_status end(struct ifm_pass_run *pass, const char *why, struct ifm_error *error)
{
    IFM_TRY(ifm_pass_log_stop(pass, why, error));
    return pass->own == NULL ? IFM_OK : ifm_pass_energy_along.end(pass->own, error);
}

static void close_pass(struct ifm_pass_run *pass)
{
    if (pass->own != NULL)
        ifm_pass_energy_along.close(pass->own);
    ifm_stop_free(&pass->stop);
}

const struct ifm_pass_hooks ifm_pass_latency = {
    .repeats = true,
    .init = init,
    .begin = begin,
    .slot = slot,
    .settle = settle,
    .add = add,
    .reason = reason,
    .left_s = left_s,
    .so_far = so_far,
    .end = end,
    .close = close_pass,
};
