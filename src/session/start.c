/* From the configuration to the first slot: plan, run folder, device, and the facts that open a run. */
#include "session/internal.h"

#include "base/file.h"
#include "device/cpu.h"
#include "device/fake.h"
#include "host/host.h"
#include "model/plan_json.h"
#include "run/cell/instruments.h"
#include "workload/session/session.h"
#include <stdlib.h>
#include <string.h>

/* What the caller declared about an arm; tokens are those of its windows so far. */
static void describe_arm(const struct ifm_session_arm *said, struct ifm_arm *arm)
{
    arm->ledger = said->ledger;
    arm->ledger.tokens_generated = said->tokens;
    arm->lossy = said->lossy;
    arm->has_oracle = said->lossy;
    arm->tolerance = said->tolerance;
}

static enum ifm_status make_plan(struct inferometer_session *session, struct ifm_error *error)
{
    struct ifm_arena *arena = session->arena;
    const struct ifm_workload_entry own = ifm_session_entry();
    session->is_fake = ifm_config_device(session->config)->kind == IFM_DEVICE_FAKE;
    IFM_TRY(ifm_story_plan(session->config, &own, arena, &session->plan, error));
    struct ifm_cell *cell = &session->plan->cells[0];
    session->plan_arms = IFM_ARENA_ARRAY(arena, struct ifm_arm, cell->n_arms);
    memcpy(session->plan_arms, cell->arms, cell->n_arms * sizeof *cell->arms);
    for (size_t i = 0; i < cell->n_arms; i++) {
        const struct ifm_session_arm *said = &session->arms[i];
        struct ifm_arm *arm = &session->plan_arms[i];
        describe_arm(said, arm);
        if (said->must_equal) {
            arm->equals = cell->arms[0].name;
            arm->equal_bound = said->equal_bound;
        }
    }
    cell->arms = session->plan_arms;
    return IFM_OK;
}

enum ifm_status ifm_session_write_plan(struct inferometer_session *session, struct ifm_error *error)
{
    for (unsigned i = 0; i < session->n_arms; i++)
        describe_arm(&session->arms[i], &session->plan_arms[i]);
    json_t *json = ifm_plan_to_json(session->plan);
    enum ifm_status status = ifm_json_write(ifm_path_join(session->arena, session->dir, "plan.json"), json, error);
    json_decref(json);
    session->plan_written = status == IFM_OK;
    return status;
}

/* plan.json follows when the windows have shown the ledgers. */
static enum ifm_status make_folder(struct inferometer_session *session, struct ifm_error *error)
{
    const char *dir = session->dir == NULL ? ifm_story_fresh_dir(NULL, session->plan, session->arena) : session->dir;
    IFM_TRY(ifm_story_folder(dir, session->config, NULL, ifm_host_private(0, NULL), &session->claim, error));
    session->dir = dir;
    session->has_folder = true;
    return ifm_journal_open(dir, &session->facts.journal, error);
}

/* ---- a device that is only a clock: no pinning, no workers, no buffers, because the code under test brings its own
 * threads. It must never change where or how the caller's threads run. ---- */

static void no_close(struct ifm_device *device)
{
    (void)device;
}

static struct ifm_instant mark(struct ifm_device *device)
{
    (void)device;
    return ifm_clock_now();
}

static void no_hold(struct ifm_device *device, unsigned threads)
{
    (void)device;
    (void)threads;
}

static const struct ifm_device_ops clock_ops = {
    .name = "cpu",
    .close = no_close,
    .mark = mark,
    .hold = no_hold,
    .release = no_close,
    .drop_buffers = no_close,
};

static struct ifm_device clock_device = {.ops = &clock_ops};

/* A scripted device, one that pins the calling thread, or nothing but the clock. */
static enum ifm_status open_device(struct inferometer_session *session, struct ifm_error *error)
{
    const struct ifm_device_config *config = ifm_config_device(session->config);
    struct ifm_session_settings settings;
    const struct ifm_arm *arm = &session->plan_arms[0];
    IFM_TRY(ifm_session_bind(arm->settings, arm->n_settings, session->arena, &settings, error));
    const struct ifm_device_options options = {
        .threads = 1, .huge_pages = config->huge_pages, .script = config->script, .seed = session->plan->seed};
    if (session->is_fake)
        return ifm_device_fake.open(&options, &session->device, error);
    if (settings.pin)
        return ifm_device_cpu.open(&options, &session->device, error);
    session->device = &clock_device;
    return IFM_OK;
}

/* The facts that open a run, in the order of src/run. The environment is read before the device pins this thread. */
static enum ifm_status open_run(struct inferometer_session *session, struct ifm_error *error)
{
    const struct ifm_plan *plan = session->plan;
    const struct ifm_cell *cell = &plan->cells[0];
    struct ifm_session *facts = &session->facts;
    facts->plan = plan;
    facts->dir = session->dir;
    facts->settled = ifm_story_settled;
    IFM_TRY(IFM_FACT(facts, error, run_start, true, .run_id = plan->run_id, .config_hash = plan->config_hash,
                     .version = IFM_VERSION));
    IFM_TRY(ifm_fact_environment(facts, "before", session->is_fake, error));
    IFM_TRY(open_device(session, error));
    facts->plan = plan;
    facts->base = session->device->ops->mark(session->device);
    IFM_TRY(ifm_fact_locks(facts, "before", cell->measure.locks == IFM_LOCKS_REQUIRED, error));
    IFM_TRY(IFM_FACT(facts, error, cell_start, true, .cell = cell->name));
    return ifm_fact_device(facts, session->device, cell->name, error);
}

enum ifm_status ifm_session_start(struct inferometer_session *session, struct ifm_error *error)
{
    if (session->n_arms == 0)
        return ifm_fail(error, IFM_USAGE, "inferometer_next", "add one with inferometer_arm",
                        "the session has no arm to measure");
    IFM_TRY(ifm_story_check_machine(error));
    IFM_TRY(ifm_session_config(session, &session->config, error));
    IFM_TRY(make_plan(session, error));
    IFM_TRY(make_folder(session, error));
    IFM_TRY(open_run(session, error));
    struct ifm_cell *plan = &session->plan->cells[0];
    struct ifm_cell_run *cell = &session->cell;
    *cell = (struct ifm_cell_run){
        .plan = plan, .pass = &plan->passes[0], .device = session->device, .session = &session->facts};
    cell->arms = calloc(plan->n_arms, sizeof *cell->arms);
    if (cell->arms == NULL)
        return ifm_fail(error, IFM_INTERNAL, plan->name, "", "out of memory");
    for (size_t i = 0; i < plan->n_arms; i++)
        cell->arms[i].plan = &plan->arms[i]; /* the caller runs it, not a workload */
    session->pass = (struct ifm_pass_run){.cell = cell};
    IFM_TRY(ifm_watch_clock(cell, error));
    return ifm_instruments_open(cell, error);
}
