/* A pass set up; blocks: what an interrupted run left of them, slots in the plan's order, and their record. */
#include "run/pass/pass.h"

#include "base/arena.h"
#include "run/cell/arm.h"
#include "run/cell/watch.h"
#include "run/interrupt.h"
#include "run/pass/warm_up.h"
#include <stdlib.h>
#include <string.h>

/* ---- set up ---- */

void ifm_pass_set_up(struct ifm_pass_run *pass, struct ifm_cell_run *cell, const struct ifm_pass *plan,
                     const struct ifm_pass_hooks *hooks)
{
    *pass = (struct ifm_pass_run){.cell = cell, .hooks = hooks, .slots = cell->slots, .samples = cell->samples};
    pass->rows = ifm_plan_rows(cell->plan, plan->kind, cell->rows);
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        bool apart = !ifm_plan_in_blocks(cell->plan, i);
        pass->without[i] = apart || (!ifm_pass_rows[plan->kind].ceilings && !ifm_plan_isolates(cell->plan, i));
        pass->places += pass->without[i] ? 0 : pass->rows;
        pass->rounds.n += apart && ifm_pass_rows[plan->kind].ceilings;
    }
    if (pass->hooks->repeats)
        pass->repeats = ifm_pass_repeats(cell, plan);
    pass->rounds.at_s = -1;
    if (pass->hooks->init != NULL)
        pass->hooks->init(pass);
}

void ifm_pass_close(struct ifm_pass_run *pass)
{
    if (pass->hooks->close != NULL)
        pass->hooks->close(pass);
    ifm_recorder_close(pass->recorder);
}

/* ---- the record ---- */

/* The number that the cell under execution has for an arm of the plan; n_arms = left out, or in no plan. */
static unsigned number_of(const struct ifm_cell_run *cell, unsigned planned)
{
    unsigned i = 0;
    while (i < cell->plan->n_arms && (cell->planned == NULL ? i : cell->planned[i]) != planned)
        i++;
    return i;
}

/* Do the slots of a recorded block fit the plan, and the buffers that calibration made? Numbers their arms as the cell
 * does. */
static bool fits(const struct ifm_pass_run *pass, struct ifm_slot *slots)
{
    const struct ifm_cell_run *cell = pass->cell;
    for (size_t i = 0; i < pass->places; i++) {
        slots[i].arm = number_of(cell, slots[i].arm);
        if (slots[i].arm >= cell->plan->n_arms ||
            (pass->hooks->add != NULL && slots[i].samples > cell->arms[slots[i].arm].samples))
            return false;
    }
    return true;
}

/* A block is in the record: the journal gets the value of the record's chain behind it. */
static enum ifm_status log_block(const struct ifm_pass_run *pass, int64_t block, size_t samples,
                                 const struct ifm_sha256 *chain, struct ifm_error *error)
{
    return IFM_FACT(pass->cell->session, error, block, true, .cell = pass->cell->plan->name,
                    .pass = ifm_pass_name(pass->cell->pass), .block = block, .samples = (int64_t)samples,
                    .chain = chain->hex);
}

enum ifm_status ifm_pass_log_block(const struct ifm_pass_run *pass, size_t samples, struct ifm_error *error)
{
    return log_block(pass, pass->next_block, samples, ifm_recorder_chain(pass->recorder), error);
}

static size_t samples_of(const struct ifm_record *record, uint32_t block)
{
    size_t n = 0;
    for (size_t i = 0; i < record->n_slots; i++)
        n += record->slots[i].block == block ? record->slots[i].samples : 0;
    return n;
}

/* The blocks are those that the journal tells of. What it does not tell (the run was killed in between, or an older
 * version recorded it) it is told now. It may tell of more, when the machine lost what was not yet on its disk; these
 * are measured again. */
static enum ifm_status hold_to_chain(const struct ifm_pass_run *pass, const struct ifm_record *record,
                                     struct ifm_error *error)
{
    const char *cell = pass->cell->plan->name;
    size_t n = ifm_record_count_blocks(record);
    struct ifm_sha256 *values = ifm_zeros(n + 1, sizeof *values);
    const char **told = ifm_zeros(n + 1, sizeof *told);
    enum ifm_status status = IFM_OK;
    ifm_record_chain(record, values);
    IFM_EACH(event, pass->shared->events, block, cell, NULL) {
        const struct ifm_event_block *fact = IFM_FACTS(event, block);
        if (strcmp(fact->pass, ifm_pass_name(pass->cell->pass)) == 0 && fact->block < (int64_t)n)
            told[fact->block] = fact->chain;
    }
    for (size_t i = 0; i < n && status == IFM_OK; i++) {
        if (told[i] == NULL)
            status = log_block(pass, (int64_t)i, samples_of(record, (uint32_t)i), &values[i], error);
        else if (strcmp(told[i], values[i].hex) != 0)
            status = ifm_fail(error, IFM_INVALID, cell, "bring the samples back from a copy, or measure again",
                              "block %zu of the record is not the one that run.log tells of: a file was edited", i);
    }
    free(told);
    free(values);
    return status;
}

/* ---- repeats ---- */

uint32_t ifm_pass_position(const struct ifm_pass_run *pass)
{
    return pass->measured - pass->repeats.repeated;
}

struct ifm_repeats ifm_pass_repeats(const struct ifm_cell_run *cell, const struct ifm_pass *plan)
{
    const struct ifm_session *session = cell->session;
    unsigned rules = session == NULL || session->plan == NULL ? 0 : session->plan->rules;
    return ifm_repeats_of(plan->columns, plan->n_columns, rules, cell->rows == 1 ? 1 : 2, cell->plan);
}

static bool is_told(const struct ifm_pass_run *pass, int64_t block)
{
    const struct ifm_events *events = pass->shared == NULL ? NULL : pass->shared->events;
    IFM_EACH(event, events, repeated, pass->cell->plan->name, NULL)
        if (IFM_FACTS(event, repeated)->block == block)
            return true;
    return false;
}

/* An answer of the rule ends nothing while derive would leave it open for what more blocks can mend. */
static enum ifm_status ask_settled(struct ifm_pass_run *pass, uint32_t last, struct ifm_error *error)
{
    struct ifm_stop_blocks *all = &pass->stop.all;
    const struct ifm_session *session = pass->cell->session;
    bool settled;
    if (session == NULL || session->settled == NULL || !ifm_stop_blocks_asks(all))
        return IFM_OK;
    IFM_TRY(session->settled(session->dir, all, last, &settled, error));
    all->open = !settled;
    return IFM_OK;
}

enum ifm_status ifm_pass_take_block(struct ifm_pass_run *pass, const struct ifm_slot *slots, size_t n,
                                    const struct ifm_sample *samples, struct ifm_error *error)
{
    char reason[IFM_CAUSE_TEXT];
    double amount;
    enum ifm_block_fate fate = ifm_repeats_take(&pass->repeats, slots, n);
    pass->measured++;
    if (fate == IFM_BLOCK_STANDS) {
        pass->hooks->add(pass, slots, samples);
        return ask_settled(pass, slots[0].block, error);
    }
    if (fate == IFM_BLOCK_DISTURBED)
        ifm_stop_pass_over(&pass->stop);
    if (fate != IFM_BLOCK_REPEATED || is_told(pass, slots[0].block))
        return IFM_OK;
    enum ifm_cause cause = ifm_slots_cause(slots, n, &pass->repeats.columns, &amount);
    return IFM_FACT(pass->cell->session, error, repeated, true, .cell = pass->cell->plan->name,
                    .pass = ifm_pass_name(pass->cell->pass), .block = slots[0].block,
                    .reason = ifm_cause_text(cause, amount, reason));
}

/* Take in the blocks that an interrupted run left. */
static enum ifm_status take_in_record(struct ifm_pass_run *pass, struct ifm_error *error)
{
    struct ifm_record record;
    const struct ifm_cell *cell = pass->cell->plan;
    size_t n = pass->places;
    IFM_TRY(ifm_record_load(pass->shared->dir, cell->index, ifm_pass_name(pass->cell->pass), &record, error));
    enum ifm_status status = hold_to_chain(pass, &record, error);
    for (size_t i = 0; i < record.n_slots && status == IFM_OK;) {
        if (record.slots[i].phase != IFM_PHASE_MEASURE) {
            bool ends = i + 1 == record.n_slots || record.slots[i + 1].block != record.slots[i].block;
            pass->rounds.taken += ends && record.slots[i].phase == IFM_PHASE_CEILING;
            i++;
            continue;
        }
        if (i + n > record.n_slots || !fits(pass, &record.slots[i])) {
            status = ifm_fail(error, IFM_INVALID, cell->name, "measure again into a new folder",
                              "the record does not fit the plan and its calibration");
            break;
        }
        pass->earlier_s += (double)(record.slots[i + n - 1].end_ns - record.slots[i].start_ns) * 1e-9;
        if (pass->hooks->add == NULL)
            pass->measured++;
        else
            status = ifm_pass_take_block(pass, &record.slots[i], n, &record.samples[record.first[i]], error);
        i += n;
    }
    ifm_record_free(&record);
    return status;
}

/* Create the record, or reopen it where the interruption cut it. */
enum ifm_status ifm_pass_open_record(struct ifm_pass_run *pass, struct ifm_error *error)
{
    const struct ifm_cell_run *cell = pass->cell;
    struct ifm_session *session = cell->session;
    const struct ifm_pass *plan = cell->pass;
    const char *dir = pass->shared->dir, *name = ifm_pass_name(plan);
    int64_t end_ns;
    bool resume = pass->shared->resume;
    enum ifm_status status = resume ? ifm_recorder_resume(dir, cell->plan->index, name, plan->columns, plan->n_columns,
                                                          pass->places, pass->places / pass->rows, pass->rounds.n,
                                                          &pass->recorder, &pass->next_block, &end_ns, error)
                                    : ifm_recorder_create(dir, cell->plan->index, name, plan->columns, plan->n_columns,
                                                          &pass->recorder, error);
    pass->unrecorded = status != IFM_OK && status != IFM_INVALID; /* an edited record is the cell's own */
    if (status != IFM_OK || !resume)
        return status;
    ifm_session_behind(session, cell->device, end_ns);
    return take_in_record(pass, error);
}

enum ifm_status ifm_pass_append(struct ifm_pass_run *pass, size_t n_slots, struct ifm_error *error)
{
    const unsigned *planned = pass->cell->planned;
    size_t n_samples = 0;
    enum ifm_status status = IFM_OK;
    unsigned arms[2 * IFM_MOST_ARMS];
    for (size_t i = 0; i < n_slots; i++) { /* the record numbers arms as the plan does */
        n_samples += pass->slots[i].samples;
        arms[i] = pass->slots[i].arm;
        if (planned != NULL)
            pass->slots[i].arm = planned[arms[i]];
    }
    if (pass->recorder != NULL)
        status = ifm_recorder_append(pass->recorder, pass->slots, n_slots, pass->samples, n_samples, error);
    if (pass->recorder != NULL && status == IFM_OK)
        status = ifm_pass_log_block(pass, n_samples, error);
    for (size_t i = 0; i < n_slots; i++)
        pass->slots[i].arm = arms[i];
    pass->next_block++;
    return status;
}

/* ---- blocks ---- */

/* Run the slots of one block, in `order`; nothing is on disk yet. */
static enum ifm_status run_slots(struct ifm_pass_run *pass, const unsigned *order, size_t n, enum ifm_phase phase,
                                 struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    struct ifm_sample *samples = pass->samples;
    for (size_t i = 0; i < n; i++) {
        struct ifm_slot *slot = &pass->slots[i];
        int64_t *columns = cell->columns + i * cell->pass->n_columns;
        pass->place = i;
        IFM_TRY(ifm_interrupt_check(cell->plan->name, error));
        if (phase != IFM_PHASE_WARMUP && pass->hooks->slot != NULL)
            IFM_TRY(pass->hooks->slot(pass, order[i], slot, samples, columns, error));
        else
            IFM_TRY(ifm_arm_slot(cell, order[i], slot, samples, columns, error));
        IFM_TRY(ifm_watch_slot(cell, slot, samples, pass->end_ns, error));
        pass->end_ns = slot->end_ns;
        slot->block = pass->next_block;
        slot->phase = phase;
        samples += slot->samples;
    }
    return IFM_OK;
}

static enum ifm_status run_warm_up(struct ifm_pass_run *pass, struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    size_t n = ifm_plan_count_in_blocks(cell->plan); /* ceilings apart are behind the others */
    unsigned order[IFM_MOST_ARMS];
    struct ifm_warm_up warm;
    for (size_t i = 0; i < n; i++)
        order[i] = (unsigned)i;
    ifm_warm_up_init(&warm, cell);
    enum ifm_status status = IFM_OK;
    while (status == IFM_OK && ifm_warm_up_wanted(&warm)) {
        status = run_slots(pass, order, n, IFM_PHASE_WARMUP, error);
        if (status == IFM_OK)
            status = ifm_pass_append(pass, n, error);
        ifm_warm_up_take(&warm);
    }
    if (status == IFM_OK)
        status = ifm_warm_up_log(&warm, error);
    ifm_warm_up_free(&warm);
    return status;
}

bool ifm_pass_is_warm(const struct ifm_cell_run *cell)
{
    static const double LONG_NS = 1e9;
    bool is_long = cell->ran_each && cell->plan->measure.warmup <= 1;
    for (size_t i = 0; i < cell->plan->n_arms; i++)
        is_long = is_long && (!ifm_plan_in_blocks(cell->plan, i) ||
                              (cell->arms[i].plan->gaps && cell->arms[i].step_ns >= LONG_NS));
    return is_long;
}

enum ifm_status ifm_pass_warm_up(struct ifm_pass_run *pass, struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    struct ifm_instant start = cell->device->ops->mark(cell->device);
    ifm_parts_turn(&cell->session->parts, IFM_PART_WARM_UP, NULL);
    if (!ifm_pass_is_warm(cell))
        IFM_TRY(run_warm_up(pass, error));
    double used_s = (double)(cell->device->ops->mark(cell->device).ns - start.ns) * 1e-9;
    used_s += cell->plan->measure.warmup_cap_s - ifm_warm_up_most_s(cell);
    return ifm_converge_here(cell, used_s, &pass->converge, error);
}

/* Of a cell's time for its first and its last round. */
static const double LAST_SHARE = 0.15;

static bool is_due(const struct ifm_pass_run *pass, bool last)
{
    const struct ifm_rounds *rounds = &pass->rounds;
    if (rounds->n == 0 || pass->recorder == NULL)
        return false;
    if (rounds->at_s < 0) /* a complete record gets none */
        return !last;
    if (last && rounds->taken > 0) /* a cell of a second is held against what others of the run reached too */
        return 2 * rounds->last_s < LAST_SHARE * pass->elapsed_s;
    return last || rounds->last_s < IFM_ROUNDS_SHARE * (pass->elapsed_s - rounds->at_s);
}

enum ifm_status ifm_pass_round(struct ifm_pass_run *pass, bool last, struct ifm_error *error)
{
    struct ifm_device *device = pass->cell->device;
    struct ifm_rounds *rounds = &pass->rounds;
    unsigned order[IFM_MOST_ARMS];
    if (!is_due(pass, last))
        return IFM_OK;
    struct ifm_instant start = device->ops->mark(device);
    ifm_parts_turn(&pass->cell->session->parts, IFM_PART_CEILINGS, NULL);
    size_t n = ifm_plan_round(pass->cell->plan, NULL, rounds->taken, order);
    IFM_TRY(run_slots(pass, order, n, IFM_PHASE_CEILING, error));
    IFM_TRY(ifm_pass_append(pass, n, error));
    rounds->taken++;
    rounds->last_s = (double)(device->ops->mark(device).ns - start.ns) * 1e-9;
    rounds->at_s = pass->elapsed_s;
    return IFM_OK;
}

enum ifm_status ifm_pass_block(struct ifm_pass_run *pass, struct ifm_error *error)
{
    const struct ifm_pass_hooks *hooks = pass->hooks;
    unsigned order[2 * IFM_MOST_ARMS];
    struct ifm_watch watch;
    uint32_t turn = ifm_repeats_turn(&pass->repeats, pass->measured);
    size_t n = ifm_plan_order_rows(pass->cell->plan, pass->without, pass->rows, turn, order);
    enum ifm_part part = pass->cell->pass->kind == IFM_PASS_LATENCY ? IFM_PART_BLOCKS : IFM_PART_LATER;
    ifm_parts_turn(&pass->cell->session->parts, part, NULL);
    IFM_TRY(ifm_arms_place(pass->cell, ifm_pass_position(pass), error));
    ifm_watch_begin(pass->cell, &watch);
    IFM_TRY(run_slots(pass, order, n, IFM_PHASE_MEASURE, error));
    IFM_TRY(ifm_watch_end(pass->cell, &watch, pass->next_block, error));
    if (hooks->settle != NULL)
        IFM_TRY(hooks->settle(pass, error));
    IFM_TRY(ifm_pass_append(pass, n, error));
    if (hooks->sync)
        IFM_TRY(ifm_recorder_sync(pass->recorder, error));
    if (hooks->add != NULL)
        return ifm_pass_take_block(pass, pass->slots, n, pass->samples, error);
    pass->measured++;
    return IFM_OK;
}

void ifm_pass_report(const struct ifm_pass_run *pass, double left_s)
{
    if (pass->shared->so_far != NULL && pass->hooks->so_far != NULL)
        pass->hooks->so_far(pass, pass->shared->so_far);
    if (pass->shared->progress != NULL)
        pass->shared->progress(pass->shared->context, pass->elapsed_s, left_s + pass->later_s);
}
