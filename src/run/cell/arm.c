/* Arms under execution. */
#include "run/cell/arm.h"

#include "base/log.h"
#include "base/random.h"
#include "run/cell/slot.h"
#include "run/interrupt.h"
#include "run/remote/remote.h"
#include "workload/data/data.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double ROUGH_NS = 1e6; /* a rough timing lasts about this long */
/* All timings of an arm: longer than what interrupts a short one, shorter than all repeats of a long one. */
static const double ROUGH_ENOUGH_NS = 3e7;
/* One that took less is not believed alone: it may have waited for a CPU, and its arm would get one sample a slot. */
static const double ROUGH_ALONE_NS = 3e8;
enum { MOST_ROUGH_STEPS = 1 << 30, STILL_NS = 2000000000 };
/* Rounds of a check after the blocks: at least this many, of code that is not ours; at most; steps between them. */
enum { LEAST_ROUNDS = 1, LEAST_FOREIGN_ROUNDS = 4, MOST_ROUNDS = 64, MOST_BETWEEN = 3, ROUNDS_STREAM = 0x726e6473 };
/* Share of the cap on warm-up that a fresh process may spend on its own in each block. */
static const double WARM_SHARE = 0.1;
static const double TURN_S = 30, TURN_TIMES = 10; /* of the limit of a turn */

/* What one turn may take. Nothing in a plan bounds a single step, so this is for calls that never return: many times
 * what the plan wants of all turns together. */
static double turn_most_s(const struct ifm_measure *measure)
{
    double planned = measure->warmup_cap_s + measure->cap_s + measure->slot_min_s;
    if (measure->energy)
        planned += measure->energy_window_s + measure->pre_roll_s;
    return TURN_S + TURN_TIMES * planned;
}

void ifm_turn_begin(struct ifm_cell_run *cell, size_t index, struct ifm_turn *turn)
{
    struct ifm_session *session = cell->session;
    turn->cell = cell;
    turn->arm = &cell->arms[index];
    session->at_work = turn->arm->plan->name;
    if (session->witness != NULL) {
        struct ifm_witness *witness = session->witness;
        snprintf(witness->cell, sizeof witness->cell, "%s", cell->plan->name);
        snprintf(witness->arm, sizeof witness->arm, "%s", session->at_work);
        witness->most_s = turn_most_s(&cell->plan->measure);
        witness->turns++;
    }
    ifm_ambient_save(&turn->before);
}

enum ifm_status ifm_turn_end(const struct ifm_turn *turn, enum ifm_status status, struct ifm_error *error)
{
    const char *changed = ifm_ambient_restore(&turn->before);
    const struct ifm_workload *workload = turn->arm->workload;
    struct ifm_witness *witness = turn->cell->session->witness;
    if (witness != NULL) {
        witness->most_s = 0;
        witness->turns++;
    }
    if (changed != NULL && status == IFM_OK)
        status = ifm_fail(error, IFM_INVALID, turn->arm->plan->name, "put it back before each call returns",
                          "the code of arm %s changed %s", turn->arm->plan->name, changed);
    if (changed != NULL || (status == IFM_INVALID && workload != NULL && workload->plugin != NULL))
        turn->cell->session->arm_at_fault = true;
    return status;
}

static bool in_sets(const struct ifm_cell_run *cell, size_t arm)
{
    return cell->plan->measure.isolation == IFM_ISOLATION_BUFFERS && ifm_plan_isolates(cell->plan, arm);
}

static bool in_process(const struct ifm_cell_run *cell, size_t arm)
{
    return cell->plan->measure.isolation == IFM_ISOLATION_PROCESSES && ifm_plan_isolates(cell->plan, arm);
}

/* The workload's state in one set of buffers. */
static enum ifm_status open_set(struct ifm_cell_run *cell, const struct ifm_arm_run *arm, unsigned set, void **state,
                                struct ifm_error *error)
{
    cell->device->set = set;
    enum ifm_status status = ifm_implementation_open(&arm->opening, state, error);
    cell->device->set = 0;
    return status;
}

/* Its settings and what was chosen for it become their types, once for all sets of buffers. */
static enum ifm_status bind(struct ifm_cell_run *cell, struct ifm_arm_run *arm, struct ifm_error *error)
{
    arm->arena = ifm_arena_create();
    IFM_TRY(ifm_implementation_bind(arm->plan, cell->device->ops->name, arm->arena, &arm->opening, error));
    arm->workload = arm->opening.workload;
    arm->implementation = arm->opening.implementation;
    arm->opening.device = cell->device;
    arm->opening.threads = cell->plan->threads;
    arm->opening.seed = cell->plan->seed;
    return IFM_OK;
}

static enum ifm_status open_arm(struct ifm_cell_run *cell, size_t index, struct ifm_error *error)
{
    struct ifm_arm_run *arm = &cell->arms[index];
    unsigned sets[IFM_MOST_ARMS];
    IFM_TRY(bind(cell, arm, error));
    if (in_process(cell, index))
        return ifm_remote_open(cell, (unsigned)index, error);
    bool buffers = cell->plan->measure.isolation == IFM_ISOLATION_BUFFERS;
    unsigned n = buffers ? ifm_plan_sets(cell->plan, 0, sets) : 0;
    if (!in_sets(cell, index)) /* a ceiling beside them has a set of its own */
        return open_set(cell, arm, n, &arm->state, error);
    arm->sets = calloc(n, sizeof *arm->sets);
    if (arm->sets == NULL)
        return ifm_fail(error, IFM_INTERNAL, arm->plan->name, NULL, "out of memory");
    for (arm->n_sets = 0; arm->n_sets < n; arm->n_sets++)
        IFM_TRY(open_set(cell, arm, arm->n_sets, &arm->sets[arm->n_sets], error));
    arm->state = arm->sets[sets[index]];
    return IFM_OK;
}

enum ifm_status ifm_arm_open(struct ifm_cell_run *cell, size_t index, struct ifm_error *error)
{
    struct ifm_turn turn;
    cell->arms[index].plan = &cell->plan->arms[index];
    ifm_turn_begin(cell, index, &turn);
    enum ifm_status status = ifm_turn_end(&turn, open_arm(cell, index, error), error);
    if (status == IFM_MISSING) /* a kernel, memory, a library that takes the shape: others may have what they need */
        cell->session->arm_at_fault = true;
    return status;
}

void ifm_arm_close(struct ifm_cell_run *cell, size_t index)
{
    struct ifm_arm_run *arm = &cell->arms[index];
    struct ifm_ambient before;
    ifm_ambient_save(&before);
    ifm_remote_close(arm);
    for (unsigned i = 0; i < arm->n_sets; i++)
        ifm_implementation_close(arm->implementation, arm->sets[i]);
    if (arm->sets == NULL)
        ifm_implementation_close(arm->implementation, arm->state);
    (void)ifm_ambient_restore(&before); /* its numbers are made already */
    free(arm->sets);
    ifm_arena_destroy(arm->arena);
    *arm = (struct ifm_arm_run){0};
}

/* One step with the hooks of an arm that has gaps; `ns` receives its time by `device` where both are given. Such a step
 * may take hours: it does not start after an interruption. */
static enum ifm_status step_apart(const struct ifm_arm_run *arm, struct ifm_device *device, double *ns,
                                  struct ifm_error *error)
{
    bool hooks = arm->plan->gaps;
    if (hooks)
        IFM_TRY(ifm_interrupt_check(arm->plan->name, error));
    if (hooks && arm->implementation->before != NULL)
        IFM_TRY(arm->implementation->before(arm->state, error));
    if (hooks)
        IFM_TRY(ifm_interrupt_check(arm->plan->name, error));
    struct ifm_instant start = {0};
    if (device != NULL)
        start = device->ops->mark(device);
    arm->implementation->step(arm->state, 1);
    if (device != NULL)
        *ns = (double)(device->ops->mark(device).ns - start.ns);
    return hooks && arm->implementation->after != NULL ? arm->implementation->after(arm->state, error) : IFM_OK;
}

/* One more step, over outputs that were spoiled before it. */
static enum ifm_status check_fresh(const struct ifm_arm_run *arm, struct ifm_check *out, struct ifm_error *error)
{
    if (arm->implementation->spoil != NULL)
        arm->implementation->spoil(arm->state, true);
    IFM_TRY(step_apart(arm, NULL, NULL, error));
    return arm->implementation->check(arm->state, out, error);
}

/* Whether steps are left out now and then, as the output of an earlier one is there: rounds of 0 to 3 plain steps, then
 * one over spoiled outputs, which is checked. Of an arm that leaves out one step in p, k rounds miss all with a chance
 * of (1 - 1/p)^k or less: of 64, nothing for every second or fifth step, 0.1 % for one in 10, 4 % for one in 20. The
 * rounds that fit into `seconds` are made; the least of them follow each other, so that four show each p up to 4. */
static enum ifm_status check_rounds(const struct ifm_arm_run *arm, double seconds, struct ifm_check *out,
                                    struct ifm_error *error)
{
    const int64_t end_ns = ifm_clock_boot_ns() + (int64_t)(seconds * 1e9);
    const int least = arm->workload->plugin != NULL ? LEAST_FOREIGN_ROUNDS : LEAST_ROUNDS;
    struct ifm_random random = ifm_random_start(arm->opening.seed, ROUNDS_STREAM);
    struct ifm_check fresh;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const bool in_time = ifm_clock_boot_ns() < end_ns;
        if (!in_time && round >= least)
            break;
        for (uint32_t i = in_time ? ifm_random_below(&random, MOST_BETWEEN + 1) : 0; i > 0; i--)
            IFM_TRY(step_apart(arm, NULL, NULL, error));
        IFM_TRY(check_fresh(arm, &fresh, error));
        ifm_data_take_worse(out, &fresh);
    }
    return IFM_OK;
}

/* Later, what is checked is what the last timed step left; and steps after it, since one that no longer computes
 * anything leaves what an earlier one did. */
static enum ifm_status check_state(const struct ifm_arm_run *arm, bool first, double seconds, struct ifm_check *out,
                                   struct ifm_error *error)
{
    *out = (struct ifm_check){0};
    if (!arm->workload->has_oracle)
        return IFM_OK;
    if (arm->implementation->check == NULL)
        return first ? step_apart(arm, NULL, NULL, error) : IFM_OK;
    if (first)
        return check_fresh(arm, out, error);
    IFM_TRY(arm->implementation->check(arm->state, out, error));
    return arm->workload->no_extra_steps != NULL ? IFM_OK : check_rounds(arm, seconds, out, error);
}

static enum ifm_status check_arm(struct ifm_cell_run *cell, size_t index, bool first, struct ifm_check *out,
                                 struct ifm_error *error)
{
    struct ifm_arm_run *arm = &cell->arms[index];
    if (arm->remote != NULL) {
        const struct ifm_remote_request request = {.op = IFM_REMOTE_CHECK, .first = first, .check_s = cell->check_s};
        struct ifm_remote_answer answer;
        IFM_TRY(ifm_remote_ask(cell, (unsigned)index, request, &answer, error));
        *out = answer.check;
        return IFM_OK;
    }
    if (arm->sets == NULL)
        return check_state(arm, first, cell->check_s, out, error);
    void *current = arm->state;
    enum ifm_status status = IFM_OK;
    for (unsigned i = 0; i < arm->n_sets && status == IFM_OK; i++) {
        struct ifm_check check;
        arm->state = arm->sets[i];
        status = check_state(arm, first, cell->check_s / arm->n_sets, &check, error);
        if (i == 0)
            *out = check;
        ifm_data_take_worse(out, &check);
        out->sets_differ |= check.done && check.output_xxh3 != out->output_xxh3;
    }
    arm->state = current;
    return status;
}

enum ifm_status ifm_arm_check(struct ifm_cell_run *cell, size_t index, bool first, struct ifm_check *out,
                              struct ifm_error *error)
{
    struct ifm_turn turn;
    ifm_turn_begin(cell, index, &turn);
    return ifm_turn_end(&turn, check_arm(cell, index, first, out, error), error);
}

/* Hold the device for untimed steps. One that works apart is not held: its marks then wait for its work, and are times.
 */
static void hold_untimed(struct ifm_cell_run *cell)
{
    if (cell->device->ops->resolve == NULL)
        cell->device->ops->hold(cell->device, cell->plan->threads);
}

static void release_untimed(struct ifm_cell_run *cell)
{
    if (cell->device->ops->resolve == NULL)
        cell->device->ops->release(cell->device);
}

/* Time of one step: the fastest of three runs of enough steps for a millisecond, fewer of steps so long that these are
 * enough. Rough, but free of cold starts. A device that works apart prepares each number of steps in its first run,
 * which is not timed. */
static double rough_step_ns(struct ifm_cell_run *cell, struct ifm_arm_run *arm)
{
    struct ifm_device *device = cell->device;
    uint64_t n = 1, prepared = device->ops->resolve == NULL ? UINT64_MAX : 1;
    double best = 0, spent = 0;
    int64_t began_ns = ifm_clock_boot_ns();
    hold_untimed(cell);
    arm->implementation->step(arm->state, 1);
    for (int round = 0; round < 3;) {
        if (n > prepared)
            arm->implementation->step(arm->state, n);
        prepared = n > prepared ? n : prepared;
        struct ifm_instant start = device->ops->mark(device);
        arm->implementation->step(arm->state, n);
        double elapsed = (double)(device->ops->mark(device).ns - start.ns);
        struct ifm_error unhealthy;
        if (ifm_device_health(device, &unhealthy) != IFM_OK)
            break;
        if (elapsed <= 0 && ifm_clock_boot_ns() - began_ns > STILL_NS)
            break; /* the clock has stopped: the first slot finds out */
        if (elapsed < ROUGH_NS && n < MOST_ROUGH_STEPS) {
            n = elapsed <= 0 ? n * 16 : n * 2;
            continue;
        }
        best = round == 0 || elapsed / (double)n < best ? elapsed / (double)n : best;
        spent += elapsed;
        round = spent > (round == 0 ? ROUGH_ALONE_NS : ROUGH_ENOUGH_NS) ? 3 : round + 1;
    }
    release_untimed(cell);
    return best > 0 ? best : 0.1;
}

static enum ifm_status time_roughly(struct ifm_cell_run *cell, size_t index, double *ns, struct ifm_error *error)
{
    struct ifm_arm_run *arm = &cell->arms[index];
    if (arm->remote != NULL) {
        struct ifm_remote_answer answer;
        IFM_TRY(
            ifm_remote_ask(cell, (unsigned)index, (struct ifm_remote_request){.op = IFM_REMOTE_ROUGH}, &answer, error));
        *ns = answer.ns;
        return IFM_OK;
    }
    if (arm->plan->gaps)
        return step_apart(arm, cell->device, ns, error);
    *ns = rough_step_ns(cell, arm);
    return ifm_device_health(cell->device, error);
}

enum ifm_status ifm_arm_rough_ns(struct ifm_cell_run *cell, size_t index, double *ns, struct ifm_error *error)
{
    struct ifm_turn turn;
    ifm_turn_begin(cell, index, &turn);
    return ifm_turn_end(&turn, time_roughly(cell, index, ns, error), error);
}

static enum ifm_status run_round(struct ifm_cell_run *cell, const struct ifm_arm_run *arm, const struct ifm_roll *roll,
                                 struct ifm_error *error)
{
    bool cold = roll->cold && ifm_slot_is_cold(cell, arm);
    if (cold)
        IFM_TRY(cell->device->ops->flush(cell->device, error));
    if (cold || arm->plan->gaps)
        return step_apart(arm, NULL, NULL, error);
    for (uint64_t i = 0; i < roll->times; i++)
        arm->implementation->step(arm->state, roll->steps);
    return IFM_OK;
}

static enum ifm_status roll_arm(struct ifm_cell_run *cell, size_t index, const struct ifm_roll *roll, double *step_s,
                                struct ifm_error *error)
{
    struct ifm_arm_run *arm = &cell->arms[index];
    struct ifm_device *device = cell->device;
    if (arm->remote != NULL) {
        const struct ifm_remote_request request = {.op = IFM_REMOTE_ROLL, .roll = *roll};
        struct ifm_remote_answer answer;
        return ifm_remote_ask(cell, (unsigned)index, request, &answer, error);
    }
    int64_t fastest_ns = INT64_MAX;
    enum ifm_status status;
    hold_untimed(cell);
    struct ifm_instant start = device->ops->mark(device), last = start;
    for (uint64_t rounds = 1;; rounds++) {
        status = run_round(cell, arm, roll, error);
        if (status == IFM_OK)
            status = ifm_device_health(device, error);
        if (status != IFM_OK || rounds == roll->rounds)
            break;
        struct ifm_instant now = device->ops->mark(device);
        fastest_ns = now.ns - last.ns < fastest_ns ? now.ns - last.ns : fastest_ns;
        last = now;
        if ((double)(now.ns - start.ns) * 1e-9 >= roll->seconds || ifm_interrupted())
            break;
    }
    release_untimed(cell);
    /* With hooks or after a flush a round is one step. */
    bool apart = arm->plan->gaps || (roll->cold && ifm_slot_is_cold(cell, arm));
    double steps = apart ? 1 : (double)(roll->steps * roll->times);
    if (step_s != NULL)
        *step_s = fmax((double)fastest_ns * 1e-9 / steps, 1e-10);
    return status == IFM_OK ? ifm_interrupt_check(cell->plan->name, error) : status;
}

enum ifm_status ifm_arm_roll(struct ifm_cell_run *cell, size_t index, const struct ifm_roll *roll, double *step_s,
                             struct ifm_error *error)
{
    struct ifm_turn turn;
    ifm_turn_begin(cell, index, &turn);
    return ifm_turn_end(&turn, roll_arm(cell, index, roll, step_s, error), error);
}

enum ifm_status ifm_arm_warm(struct ifm_cell_run *cell, size_t index, double share, struct ifm_error *error)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    const uint64_t steps = measure->warmup > 0 ? measure->warmup : 1;
    const struct ifm_roll one_by_one = {1, 1, steps, share * measure->warmup_cap_s, false};
    return ifm_arm_roll(cell, index, &one_by_one, NULL, error);
}

static enum ifm_status ask_feature_runs(struct ifm_cell_run *cell, size_t index, uint64_t *runs,
                                        struct ifm_error *error)
{
    struct ifm_arm_run *arm = &cell->arms[index];
    *runs = 0;
    if (arm->implementation->feature_runs == NULL)
        return IFM_OK;
    if (arm->remote != NULL) {
        struct ifm_remote_answer answer;
        IFM_TRY(ifm_remote_ask(cell, (unsigned)index, (struct ifm_remote_request){.op = IFM_REMOTE_FEATURES}, &answer,
                               error));
        *runs = answer.runs + arm->feature_runs_gone;
        return IFM_OK;
    }
    for (unsigned i = 0; i < arm->n_sets; i++)
        *runs += arm->implementation->feature_runs(arm->sets[i]);
    if (arm->sets == NULL)
        *runs = arm->implementation->feature_runs(arm->state);
    return IFM_OK;
}

enum ifm_status ifm_arm_feature_runs(struct ifm_cell_run *cell, size_t index, uint64_t *runs, struct ifm_error *error)
{
    struct ifm_turn turn;
    ifm_turn_begin(cell, index, &turn);
    return ifm_turn_end(&turn, ask_feature_runs(cell, index, runs, error), error);
}

enum ifm_status ifm_arm_slot(struct ifm_cell_run *cell, unsigned index, struct ifm_slot *slot,
                             struct ifm_sample *samples, int64_t *columns, struct ifm_error *error)
{
    struct ifm_turn turn;
    ifm_turn_begin(cell, index, &turn);
    enum ifm_status status = cell->arms[index].remote != NULL
                                 ? ifm_remote_slot(cell, index, slot, samples, columns, error)
                                 : ifm_slot_run(cell, index, slot, samples, columns, error);
    return ifm_turn_end(&turn, status, error);
}

/* Replaces the arm's process by a fresh one. */
static enum ifm_status renew(struct ifm_cell_run *cell, size_t index, struct ifm_error *error)
{
    struct ifm_arm_run *arm = &cell->arms[index];
    uint64_t runs;
    IFM_TRY(ifm_arm_feature_runs(cell, index, &runs, error));
    arm->feature_runs_gone = runs;
    ifm_remote_close(arm);
    IFM_TRY(ifm_remote_open(cell, (unsigned)index, error));
    return ifm_arm_warm(cell, index, WARM_SHARE, error);
}

enum ifm_status ifm_arms_place(struct ifm_cell_run *cell, unsigned block, struct ifm_error *error)
{
    unsigned sets[IFM_MOST_ARMS];
    ifm_plan_sets(cell->plan, block, sets);
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        if (in_sets(cell, i))
            cell->arms[i].state = cell->arms[i].sets[sets[i]];
        if (in_process(cell, i))
            IFM_TRY(renew(cell, i, error));
    }
    return IFM_OK;
}
