/* Passes for instruments that disturb the steps: counters and trace.
 *
 * Slots are those of the latency pass, with the same samples, so that what an instrument costs is the difference of the
 * two. Each arm has measure.blocks_min blocks: what is counted repeats well, and no interval is waited for. An
 * instrument whose columns fall into groups has so many for each, three at least, one group after the other; and none
 * where it can read nothing. Times of these slots are recorded, but nothing derives a latency from them. */
#include "run/pass/pass.h"

#include "run/cell/arm.h"
#include "run/cell/calibrate.h"
#include "run/cell/instruments.h"
#include "run/pass/traced.h"

enum { LEAST_A_GROUP = 3 };

/* Blocks of a group, or of all columns where there are none. */
static uint32_t each(const struct ifm_cell_run *cell, bool grouped)
{
    const uint32_t least = (uint32_t)cell->plan->measure.blocks_min;
    return grouped && least < LEAST_A_GROUP ? LEAST_A_GROUP : least;
}

static uint32_t wanted(const struct ifm_cell_run *cell)
{
    bool grouped;
    const unsigned groups = ifm_instruments_groups(cell, &grouped);
    return (grouped ? groups : 1) * each(cell, grouped);
}

static enum ifm_status slot(struct ifm_pass_run *pass, unsigned arm, struct ifm_slot *slot, struct ifm_sample *samples,
                            int64_t *columns, struct ifm_error *error)
{
    ifm_instruments_choose(pass->cell, pass->measured / each(pass->cell, true));
    return ifm_arm_slot(pass->cell, arm, slot, samples, columns, error);
}

static const char *reason(const struct ifm_pass_run *pass)
{
    const uint32_t blocks = wanted(pass->cell);
    return blocks == 0 ? "nothing_to_count" : pass->measured >= blocks ? "blocks_min" : NULL;
}

/* The pass before may have left the device idle. */
static enum ifm_status begin(struct ifm_pass_run *pass, struct ifm_error *error)
{
    if (ifm_traced_wants(pass) && reason(pass) == NULL)
        IFM_TRY(ifm_traced_open(pass, error));
    for (size_t i = 0; i < pass->cell->plan->n_arms && reason(pass) == NULL; i++)
        if (!pass->without[i])
            IFM_TRY(ifm_arm_warm(pass->cell, i, 1, error));
    return IFM_OK;
}

static double left_s(const struct ifm_pass_run *pass, double block_s)
{
    return (wanted(pass->cell) - (double)pass->measured) * block_s;
}

static enum ifm_status end(struct ifm_pass_run *pass, const char *why, struct ifm_error *error)
{
    if (ifm_traced_wants(pass))
        IFM_TRY(ifm_traced_tell(pass, error));
    else
        IFM_TRY(ifm_instruments_log_read(pass->cell, error));
    return IFM_FACT(pass->cell->session, error, pass_done, true, .cell = pass->cell->plan->name,
                    .pass = ifm_pass_name(pass->cell->pass), .reason = why, .blocks = pass->measured,
                    .elapsed_s = pass->elapsed_s);
}

/* Before the pass its instruments are not open, and their groups are what they expect. */
static double expected_s(const struct ifm_cell_run *cell, const struct ifm_pass *plan)
{
    struct ifm_instrument_expected most = {1, 0, 0};
    unsigned slots = 0;
    bool grouped = false;
    for (size_t i = 0; i < plan->n_instruments; i++) {
        const struct ifm_instrument *instrument = ifm_instrument_find(plan->instruments[i]);
        if (instrument == NULL || instrument->expects == NULL)
            continue;
        instrument->expects(&most);
        grouped = true;
    }
    for (size_t i = 0; i < cell->plan->n_arms; i++)
        slots += ifm_plan_in_blocks(cell->plan, i) ? cell->rows : 0;
    return most.groups * (most.group_s + each(cell, grouped) * (ifm_cell_block_s(cell) + slots * most.slot_s));
}

const struct ifm_pass_hooks ifm_pass_observed = {
    .done = IFM_STAGE_pass_done,
    .begin = begin,
    .slot = slot,
    .reason = reason,
    .left_s = left_s,
    .end = end,
    .expected_s = expected_s,
    .failed = ifm_traced_failed,
    .close = ifm_traced_close,
};
