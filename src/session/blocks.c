/* The run as its caller sees it: next, begin, end.
 *
 * A slot is one untimed window, which brings the arm's own data back into the caches, and its timed windows, all
 * between the start and the stop of the instruments. Slots make blocks: the pilot (one slot an arm, not recorded) shows
 * how long a window lasts and how many tokens it makes; warm-up blocks go on until the arms are steady; measured blocks
 * follow the plan's order until the stop rule ends the run. begin and end allocate nothing. */
#include "session/internal.h"

#include "device/fake.h"
#include "run/cell/calibrate.h"
#include "run/cell/slot.h"

static uint32_t timed_windows(const struct inferometer_session *session, unsigned arm)
{
    return session->stage == IFM_SESSION_PILOT ? IFM_SESSION_PILOT_WINDOWS : session->cell.arms[arm].samples;
}

static void open_slot(struct inferometer_session *session)
{
    session->arm = session->order[session->position];
    session->window = 0;
    session->windows = 1 + timed_windows(session, session->arm);
    if (session->stage == IFM_SESSION_PILOT)
        session->device->ops->hold(session->device, 1);
    else
        ifm_slot_start(&session->cell, false);
}

static void open_block(struct inferometer_session *session)
{
    const struct ifm_cell *cell = session->cell.plan;
    if (session->stage == IFM_SESSION_BLOCKS)
        ifm_plan_order(cell, ifm_pass_position(&session->pass), session->order);
    else
        for (size_t i = 0; i < cell->n_arms; i++)
            session->order[i] = (unsigned)i;
    session->slots = session->stage == IFM_SESSION_BLOCKS ? 2 * cell->n_arms : cell->n_arms;
    session->position = 0;
    session->next_samples = session->cell.samples;
    if (session->stage == IFM_SESSION_BLOCKS)
        ifm_watch_begin(&session->cell, &session->watch);
    open_slot(session);
}

/* The faster of the pilot's windows: a rough control input, never published. */
static void take_pilot(struct inferometer_session *session)
{
    const struct ifm_instant *marks = session->pilot_marks;
    double best = (double)(marks[1].ns - marks[0].ns);
    for (int i = 1; i < IFM_SESSION_PILOT_WINDOWS; i++) {
        double window = (double)(marks[2 * i + 1].ns - marks[2 * i].ns);
        best = window < best ? window : best;
    }
    session->cell.arms[session->arm].step_ns = best > 0 ? best : 0.1;
}

/* Ends what open_slot began; called directly after the slot's last window. */
static void stop_slot(struct inferometer_session *session)
{
    if (session->stage == IFM_SESSION_PILOT)
        session->device->ops->release(session->device);
    else
        ifm_slot_stop(&session->cell, false);
}

static enum ifm_status close_slot(struct inferometer_session *session, struct ifm_error *error)
{
    struct ifm_cell_run *cell = &session->cell;
    if (session->stage == IFM_SESSION_PILOT) {
        take_pilot(session);
        return IFM_OK;
    }
    struct ifm_slot *slot = &cell->slots[session->position];
    ifm_slot_collect(cell, session->arm, slot, session->next_samples,
                     cell->columns + session->position * cell->pass->n_columns);
    slot->block = session->pass.next_block;
    slot->phase = session->stage == IFM_SESSION_BLOCKS ? IFM_PHASE_MEASURE : IFM_PHASE_WARMUP;
    IFM_TRY(ifm_watch_slot(cell, slot, session->next_samples, session->pass.end_ns, error));
    session->pass.end_ns = slot->end_ns;
    session->next_samples += slot->samples;
    return IFM_OK;
}

static enum ifm_status append(struct inferometer_session *session, struct ifm_error *error)
{
    const struct ifm_cell_run *cell = &session->cell;
    size_t n_samples = (size_t)(session->next_samples - cell->samples);
    enum ifm_status status =
        ifm_recorder_append(session->pass.recorder, cell->slots, session->slots, cell->samples, n_samples, error);
    if (status == IFM_OK)
        status = ifm_pass_log_block(&session->pass, n_samples, error);
    if (status != IFM_OK) { /* a session cannot be resumed */
        ifm_error_hint(error, "free some space or choose another folder, then measure again");
        return status;
    }
    session->pass.next_block++;
    return IFM_OK;
}

/* After the pilot: choose, write and allocate everything that the blocks need. */
static enum ifm_status calibrate(struct inferometer_session *session, struct ifm_error *error)
{
    struct ifm_cell_run *cell = &session->cell;
    const struct ifm_pass *pass = cell->pass;
    IFM_TRY(ifm_cell_choose(cell, ifm_cell_read_clock(session->device, &cell->tick_ns), error));
    IFM_TRY(ifm_session_write_plan(session, error));
    IFM_TRY(ifm_recorder_create(session->dir, cell->plan->index, ifm_pass_name(pass), pass->columns, pass->n_columns,
                                &session->pass.recorder, error));
    session->pass.hooks = &ifm_pass_latency;
    session->pass.repeats = ifm_pass_repeats(cell, pass);
    ifm_stop_init(&session->pass.stop, cell);
    ifm_warm_up_init(&session->warm, cell);
    session->stage = IFM_SESSION_WARM_UP;
    return IFM_OK;
}

static enum ifm_status end_warm_up_block(struct inferometer_session *session, struct ifm_error *error)
{
    IFM_TRY(append(session, error));
    ifm_warm_up_take(&session->warm);
    if (ifm_warm_up_wanted(&session->warm))
        return IFM_OK;
    IFM_TRY(ifm_warm_up_log(&session->warm, error));
    session->stage = IFM_SESSION_BLOCKS;
    session->last = session->device->ops->mark(session->device);
    return IFM_OK;
}

static enum ifm_status end_measured_block(struct inferometer_session *session, struct ifm_error *error)
{
    IFM_TRY(ifm_watch_end(&session->cell, &session->watch, session->pass.next_block, error));
    IFM_TRY(append(session, error));
    IFM_TRY(ifm_pass_take_block(&session->pass, session->cell.slots, session->slots, session->cell.samples, error));
    struct ifm_instant now = session->device->ops->mark(session->device);
    session->pass.elapsed_s += (double)(now.ns - session->last.ns) * 1e-9;
    session->last = now;
    const char *reason = ifm_stop_reason(&session->pass.stop, session->pass.elapsed_s);
    if (reason == NULL)
        return IFM_OK;
    IFM_TRY(ifm_pass_log_stop(&session->pass, reason, error));
    IFM_TRY(ifm_recorder_sync(session->pass.recorder, error));
    IFM_TRY(ifm_session_settle(session, error));
    session->state = IFM_SESSION_ENDED;
    return IFM_OK;
}

/* After a slot: open the next one; after the last slot of a block, write the block first. */
static enum ifm_status turn(struct inferometer_session *session, struct ifm_error *error)
{
    IFM_TRY(close_slot(session, error));
    if (++session->position < session->slots) {
        open_slot(session);
        return IFM_OK;
    }
    if (session->stage == IFM_SESSION_PILOT)
        IFM_TRY(calibrate(session, error));
    else if (session->stage == IFM_SESSION_WARM_UP)
        IFM_TRY(end_warm_up_block(session, error));
    else
        IFM_TRY(end_measured_block(session, error));
    if (session->state != IFM_SESSION_ENDED)
        open_block(session);
    return IFM_OK;
}

static int hand_out(struct inferometer_session *session)
{
    struct ifm_instant *marks = session->stage == IFM_SESSION_PILOT ? session->pilot_marks : session->cell.marks;
    session->at = session->window == 0 ? session->spare : marks + 2 * (size_t)(session->window - 1);
    session->window++;
    session->state = IFM_SESSION_READY;
    return (int)session->arm;
}

static int go_on(struct inferometer_session *session)
{
    int code = ifm_session_enter(session);
    if (code != INFEROMETER_OK)
        return code;
    enum ifm_status status = IFM_OK;
    switch (session->state) {
    case IFM_SESSION_DEFINING:
        status = ifm_session_start(session, &session->error);
        if (status == IFM_OK)
            open_block(session);
        break;
    case IFM_SESSION_BETWEEN:
        status = turn(session, &session->error);
        break;
    case IFM_SESSION_ENDED:
    case IFM_SESSION_JUDGED:
        return INFEROMETER_END;
    default:
        return ifm_session_misuse(session, "inferometer_next", "the window before has not been measured",
                                  "call inferometer_begin and inferometer_end after each inferometer_next");
    }
    if (status != IFM_OK)
        return ifm_session_break(session, status);
    return session->state == IFM_SESSION_ENDED ? INFEROMETER_END : hand_out(session);
}

/* Everything in next except naming the next window of an open slot. */
static int next_slowly(struct inferometer_session *session)
{
    bool ours = session != NULL && pthread_equal(session->thread, pthread_self());
    if (ours && session->state == IFM_SESSION_BETWEEN)
        stop_slot(session);
    locale_t before = ifm_session_plain_locale();
    int code = go_on(session);
    uselocale(before);
    return code;
}

int inferometer_next(struct inferometer_session *session)
{
    if (session != NULL && session->state == IFM_SESSION_BETWEEN && session->window < session->windows &&
        pthread_equal(session->thread, pthread_self()))
        return hand_out(session);
    return next_slowly(session);
}

/* begin or end out of order, or from elsewhere. */
static int misplaced(struct inferometer_session *session, const char *call)
{
    int code = ifm_session_enter(session);
    if (code != INFEROMETER_OK)
        return code;
    if (session->state == IFM_SESSION_TIMING)
        return ifm_session_misuse(session, call, "a window is open already", "call inferometer_end first");
    if (session->state == IFM_SESSION_READY)
        return ifm_session_misuse(session, call, "no window is open", "call inferometer_begin first");
    if (session->state == IFM_SESSION_ENDED || session->state == IFM_SESSION_JUDGED)
        return ifm_session_misuse(session, call, "the run has ended", "call inferometer_judge, then inferometer_close");
    return ifm_session_misuse(session, call, "no arm was named for this window",
                              "call inferometer_next and run the arm that it returns");
}

int inferometer_begin(struct inferometer_session *session)
{
    if (session == NULL || session->state != IFM_SESSION_READY || !pthread_equal(session->thread, pthread_self()))
        return misplaced(session, "inferometer_begin");
    session->state = IFM_SESSION_TIMING;
    session->at[0] = session->is_fake ? session->device->ops->mark(session->device) : ifm_clock_now();
    return INFEROMETER_OK;
}

/* The arm's first window sets its number of tokens; a different number later means different work. */
static int take_tokens(struct inferometer_session *session, uint64_t tokens)
{
    struct ifm_session_arm *arm = &session->arms[session->arm];
    if (!arm->tokens_known && tokens <= INT64_MAX) {
        arm->tokens_known = true;
        arm->tokens = tokens;
        return INFEROMETER_OK;
    }
    if (!arm->tokens_known)
        return ifm_session_break(session, ifm_fail(&session->error, IFM_USAGE, "inferometer_end",
                                                   "pass the tokens generated in this window, 0 for none",
                                                   "%llu is not a valid number of tokens", (unsigned long long)tokens));
    return ifm_session_break(session,
                             ifm_fail(&session->error, IFM_INVALID, "inferometer_end",
                                      "let every window of an arm do the same work, or make two arms of it",
                                      "the windows of arm '%s' do different work: %llu tokens before, %llu in this one",
                                      arm->name, (unsigned long long)arm->tokens, (unsigned long long)tokens));
}

int inferometer_end(struct inferometer_session *session, uint64_t tokens)
{
    struct ifm_instant now = ifm_clock_now();
    if (session == NULL || session->state != IFM_SESSION_TIMING || !pthread_equal(session->thread, pthread_self()))
        return misplaced(session, "inferometer_end");
    const struct ifm_session_arm *arm = &session->arms[session->arm];
    if (session->is_fake) {
        ifm_fake_advance(session->device, arm->name, 1);
        now = session->device->ops->mark(session->device);
    }
    session->at[1] = now;
    session->state = IFM_SESSION_BETWEEN;
    return arm->tokens_known && tokens == arm->tokens ? INFEROMETER_OK : take_tokens(session, tokens);
}
