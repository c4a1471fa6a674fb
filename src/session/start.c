/* From the configuration to the first slot: plan, run folder, device, and the facts that open a run. */
#include "session/internal.h"

#include "base/file.h"
#include "base/hash.h"
#include "device/cpu.h"
#include "device/fake.h"
#include "host/host.h"
#include "model/plan_json.h"
#include "plan/plan.h"
#include "sample/claim.h"
#include "workload/session/session.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_INSTRUMENTS = 32 };

static size_t list_instruments(struct ifm_instrument_entry *entries)
{
    size_t n = 0;
    for (size_t i = 0; ifm_instruments[i] != NULL && n < MOST_INSTRUMENTS; i++) {
        const struct ifm_instrument *instrument = ifm_instruments[i];
        if (ifm_instrument_is_of(instrument, ifm_device_cpu.name))
            entries[n++] = (struct ifm_instrument_entry){instrument->name, (int)instrument->intrusion,
                                                         instrument->columns, instrument->n_columns};
    }
    return n;
}

static const char *make_run_id(const struct ifm_study *study, struct ifm_arena *arena)
{
    const char *text = ifm_arena_printf(arena, "%s %llu %lld", study->config_hash, (unsigned long long)study->seed,
                                        (long long)ifm_clock_wall_ns());
    return ifm_arena_printf(arena, "%.12s", ifm_sha256_bytes(text, strlen(text)).hex);
}

/* What the caller said of an arm; its tokens are those of its windows so far. */
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
    const struct ifm_study *study = ifm_config_study(session->config);
    struct ifm_arena *arena = session->arena;
    if (study->measure.isolation != IFM_ISOLATION_SHARED)
        return ifm_fail(error, IFM_USAGE, "measure.isolation", "leave measure.isolation=shared",
                        "a session cannot choose buffers or processes for its caller's code");
    const struct ifm_workload_entry workload = {
        .name = "session",
        .describe = ifm_session_describe,
        .most_threads = 1,
        .one_process = ifm_workload_session.one_process,
    };
    struct ifm_instrument_entry *instruments = IFM_ARENA_ARRAY(arena, struct ifm_instrument_entry, MOST_INSTRUMENTS);
    struct ifm_catalog catalog = {
        .workloads = &workload, .n_workloads = 1, .instruments = instruments, .measure = &ifm_section_measure};
    session->is_fake = ifm_config_device(session->config)->kind == IFM_DEVICE_FAKE;
    const struct ifm_device_ops *device = session->is_fake ? &ifm_device_fake : &ifm_device_cpu;
    IFM_TRY(device->describe(1, &catalog.machine, error));
    if (!session->is_fake)
        catalog.n_instruments = list_instruments(instruments); /* a scripted device has nothing to observe */
    IFM_TRY(ifm_plan_build(study, &catalog, make_run_id(study, arena), arena, &session->plan, error));
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
    return ifm_check_gates(session->plan, study->gate_places, arena, error);
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

static const char *fresh_dir(struct ifm_arena *arena)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", gmtime_r(&now, &utc));
    const char *dir = ifm_arena_printf(arena, "runs/session-%s", stamp);
    for (int i = 2; ifm_dir_exists(dir); i++) /* two in one second */
        dir = ifm_arena_printf(arena, "runs/session-%s-%d", stamp, i);
    return dir;
}

static enum ifm_status write_json_new(struct inferometer_session *session, const char *name, json_t *value,
                                      struct ifm_error *error)
{
    enum ifm_status status = ifm_json_write(ifm_path_join(session->arena, session->dir, name), value, error);
    json_decref(value);
    return status;
}

static enum ifm_status make_folder(struct inferometer_session *session, struct ifm_error *error)
{
    const char *dir = session->dir == NULL ? fresh_dir(session->arena) : session->dir;
    IFM_TRY(ifm_claim_new(dir, &session->claim, error));
    session->dir = dir;
    session->has_folder = true;
    IFM_TRY(write_json_new(session, "config.lock.json", ifm_config_lock_json(session->config), error));
    IFM_TRY(write_json_new(session, "private.json", ifm_host_private(0, NULL), error));
    IFM_TRY(ifm_dir_create(ifm_path_join(session->arena, dir, "samples"), error));
    return ifm_journal_open(dir, &session->facts.journal, error);
}

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
    session->device = ifm_clock_device();
    return IFM_OK;
}

/* The facts that open a run, in the order of src/run. The environment is read before the device pins this thread. */
static enum ifm_status open_run(struct inferometer_session *session, struct ifm_error *error)
{
    const struct ifm_plan *plan = session->plan;
    const struct ifm_cell *cell = &plan->cells[0];
    struct ifm_session *facts = &session->facts;
    IFM_TRY(ifm_fact_add(
        facts,
        IFM_EVENT(run_start, true, .run_id = plan->run_id, .config_hash = plan->config_hash, .version = IFM_VERSION),
        error));
    IFM_TRY(ifm_fact_environment(facts, "before", session->is_fake, error));
    IFM_TRY(open_device(session, error));
    facts->base = session->device->ops->mark(session->device);
    IFM_TRY(ifm_fact_locks(facts, "before", cell->measure.locks == IFM_LOCKS_REQUIRED, error));
    IFM_TRY(ifm_fact_add(facts, IFM_EVENT(cell_start, true, .cell = cell->name), error));
    return ifm_fact_device(facts, session->device, cell->name, error);
}

enum ifm_status ifm_session_start(struct inferometer_session *session, struct ifm_error *error)
{
    if (session->n_arms == 0)
        return ifm_fail(error, IFM_USAGE, "inferometer_next", "add one with inferometer_arm",
                        "the session has no arm to measure");
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
        cell->arms[i].plan = &plan->arms[i]; /* no workload of ours: the caller runs it */
    session->pass = (struct ifm_pass_run){.cell = cell};
    IFM_TRY(ifm_watch_clock(cell, error));
    return ifm_cell_open_instruments(cell, error);
}
