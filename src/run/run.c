/* Executing a plan: session, cells, facts. */
#include "run/run.h"

#include "base/file.h"
#include "base/log.h"
#include "device/cpu.h"
#include "model/failure.h"
#include "model/plan_json.h"
#include "run/cell/arm.h"
#include "run/cell/calibrate.h"
#include "run/cell/failed.h"
#include "run/cell/instruments.h"
#include "run/energy/energy.h"
#include "run/facts/inputs.h"
#include "run/facts/programs.h"
#include "run/interrupt.h"
#include "run/pass/pass.h"
#include "run/quiet.h"
#include <stdio.h>
#include <string.h>

/* One invocation over all cells. */
struct execution {
    const struct ifm_plan *plan;
    const struct ifm_run_options *options;
    struct ifm_session session;
    struct ifm_device *device;
    bool is_fake;
    const struct ifm_events *events; /* the journal so far, when resuming; else NULL */
    struct ifm_arena *arena;         /* of it */
    const struct ifm_cell *cell;
    struct ifm_left left; /* of its arms, when some failed */
    bool opening;         /* the cell is being opened: a failure, of memory too, is its own */
    bool unrecorded;      /* its record could not be opened: the folder is at fault */
    double cells_done;
    struct ifm_energy_run *energy; /* NULL where no cell has an energy pass */
    double passes_s, pass_s;       /* that the cell's finished passes have taken, and the open one */
};

/* Assumes that later cells last as long as this one, and checks behind the blocks as long as before them: good enough
 * for a progress line. */
static void report_cell(const struct execution *execution, double done_s, double left_s)
{
    const struct ifm_progress *progress = &execution->options->progress;
    left_s += execution->session.parts.seconds[IFM_PART_CHECKS];
    double cells = (double)execution->plan->n_cells, of_cell = left_s > 0 ? done_s / (done_s + left_s) : 1;
    double later_s = (cells - execution->cells_done - 1) * (done_s + left_s);
    progress->report(progress->context, execution->cell, (execution->cells_done + of_cell) / cells, left_s + later_s);
}

static void report(void *context, double done_s, double left_s)
{
    struct execution *execution = context;
    execution->pass_s = done_s;
    report_cell(execution, execution->passes_s + done_s, left_s);
}

/* How often features ran, and how many processes an arm had: one before the first block, and one for each block. */
static enum ifm_status log_arms(struct ifm_cell_run *cell, struct ifm_error *error)
{
    const char *name = cell->plan->name;
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        const struct ifm_arm_run *arm = &cell->arms[i];
        uint64_t runs;
        if (arm->plan->feature[0] == '\0' || arm->implementation->feature_runs == NULL)
            continue;
        IFM_TRY(ifm_arm_feature_runs(cell, i, &runs, error));
        IFM_TRY(IFM_FACT(cell->session, error, feature, true, .cell = name, .arm = arm->plan->name,
                         .feature = arm->plan->feature, .runs = (int64_t)runs));
    }
    for (size_t i = 0; i < cell->plan->n_arms; i++)
        if (cell->arms[i].processes > 0)
            IFM_TRY(IFM_FACT(cell->session, error, processes, true, .cell = name, .arm = cell->arms[i].plan->name,
                             .started = (int64_t)cell->arms[i].processes));
    return IFM_OK;
}

static enum ifm_status run_passes(struct execution *execution, struct ifm_cell_run *cell, struct ifm_error *error)
{
    const struct ifm_passes shared = {
        .dir = execution->options->dir,
        .resume = execution->options->resume,
        .events = execution->events,
        .energy = execution->energy,
        .progress = execution->options->progress.report == NULL ? NULL : report,
        .so_far = execution->options->so_far,
        .context = execution,
    };
    if (shared.so_far != NULL)
        *shared.so_far = (struct ifm_so_far){0};
    execution->passes_s = execution->pass_s = 0;
    for (size_t i = 0; i < cell->plan->n_passes; i++) {
        IFM_TRY(ifm_pass_execute(cell, &cell->plan->passes[i], &shared, &execution->unrecorded, error));
        execution->passes_s += execution->pass_s;
        execution->pass_s = 0;
    }
    return IFM_OK;
}

/* Nobody is at work: what ends the process from here on is no arm's doing. */
static void rest(struct ifm_session *session)
{
    session->at_work = NULL;
    session->arm_at_fault = false;
    if (session->witness != NULL)
        *session->witness = (struct ifm_witness){0};
}

static enum ifm_status run_open_cell(struct execution *execution, struct ifm_cell_run *cell, struct ifm_error *error)
{
    IFM_TRY(ifm_programs_record(cell, "before", error));
    IFM_TRY(ifm_cell_calibrate(cell, execution->events, error));
    IFM_TRY(run_passes(execution, cell, error));
    IFM_TRY(ifm_programs_record(cell, "after", error));
    IFM_TRY(ifm_cell_check(cell, "after", error));
    IFM_TRY(log_arms(cell, error));
    IFM_TRY(ifm_instruments_log_clock(cell, error));
    IFM_TRY(IFM_FACT(cell->session, error, cell_done, true, .cell = cell->plan->name));
    rest(cell->session); /* what an arm does while it is closed cannot take its numbers back */
    return IFM_OK;
}

static bool device_is_lost(const struct execution *execution)
{
    struct ifm_error ignored;
    return ifm_device_health(execution->device, &ignored) != IFM_OK;
}

static enum ifm_status run_cell(struct execution *execution, struct ifm_error *error)
{
    const struct ifm_cell *plan = &execution->left.cell;
    struct ifm_session *session = &execution->session;
    if (plan->unsupported[0] != '\0')
        return IFM_FACT(session, error, cell_skipped, false, .cell = plan->name, .reason = plan->unsupported,
                        .remedy = "run this cell on a device that supports it");
    ifm_parts_open(&session->parts, IFM_PART_DATA, plan->name);
    IFM_TRY(IFM_FACT(session, error, cell_start, true, .cell = plan->name));
    IFM_TRY(ifm_fact_gpu_state(session, "cell", plan->name, "start", error));
    struct ifm_cell_run cell;
    execution->opening = true;
    enum ifm_status status = ifm_cell_open(plan, execution->device, session, &cell, error);
    if (status == IFM_INTERNAL && error->hint[0] == '\0' && !device_is_lost(execution))
        ifm_error_hint(error, "free some memory, or choose a smaller shape");
    IFM_TRY(status);
    execution->opening = false;
    cell.planned = execution->left.planned;
    status = ifm_fact_device(session, execution->device, plan->name, error);
    if (status == IFM_OK)
        status = run_open_cell(execution, &cell, error);
    struct ifm_error second = {0}; /* a failure of the cell is reported first */
    enum ifm_status said = ifm_fact_gpu_state(session, "cell", plan->name, "end", status == IFM_OK ? error : &second);
    ifm_cell_close(&cell);
    return status == IFM_OK ? said : status;
}

/* After a failure that ends the device's context: everything in it is lost, and a new one is opened. Some errors stay
 * with the process (an illegal access, with driver 580 on an H200): then only a new process can open the device. */
static enum ifm_status reopen_device(struct execution *execution, struct ifm_error *error)
{
    const struct ifm_device_ops *ops = execution->device->ops;
    ops->close(execution->device);
    execution->device = NULL;
    execution->opening = false; /* what fails now is no failure of the cell */
    enum ifm_status status = ops->open(&execution->options->device, &execution->device, error);
    if (status == IFM_OK)
        return status;
    if (execution->options->needs_new_process != NULL)
        *execution->options->needs_new_process = true;
    ifm_error_hint(error, "go on with --resume: a new process begins with a fresh context");
    return status;
}

/* Run the cell; when an arm fails by itself, or the device under it, run the cell again without that arm. */
static enum ifm_status run_what_is_left(struct execution *execution, struct ifm_error *error)
{
    struct ifm_left *left = &execution->left;
    struct ifm_error why = {0};
    const char *arm = NULL;
    ifm_left_begin(left, execution->cell, execution->events);
    const struct ifm_event_arm_failed *failed = IFM_LAST(execution->events, arm_failed, execution->cell->name, NULL);
    if (failed != NULL)
        snprintf(why.message, sizeof why.message, "%s", failed->reason);
    if (ifm_left_unfinished(left, execution->events))
        IFM_TRY(ifm_left_restart(left, &execution->session, execution->options->dir, &why, error));
    if (left->cell.n_arms == 0 && execution->cell->n_arms > 0)
        return ifm_fail(error, IFM_INVALID, execution->cell->name, "measure into a new folder", "every arm failed");
    for (;;) {
        rest(&execution->session);
        enum ifm_status status = run_cell(execution, error);
        bool lost = status != IFM_OK && device_is_lost(execution), at_fault = execution->session.arm_at_fault;
        if (status == IFM_OK || status == IFM_INTERRUPTED || execution->session.unwritten || !(lost || at_fault))
            return status;
        why = *error;
        IFM_TRY(ifm_left_drop(left, &execution->session, &why, &arm, error));
        if (arm == NULL)
            return status;
        if (lost)
            IFM_TRY(reopen_device(execution, error));
        IFM_TRY(ifm_left_restart(left, &execution->session, execution->options->dir, &why, error));
    }
}

/* A cell that cannot be measured is a fact, and the other cells still run. An interruption ends the run, and so does a
 * fault of our own or of the folder: it can be resumed when the fault is gone. */
static bool ends_run(const struct execution *execution, enum ifm_status status)
{
    return status == IFM_INTERRUPTED || execution->session.unwritten || execution->unrecorded ||
           (status == IFM_INTERNAL && !execution->opening);
}

/* The arm whose program ended with a failure; NULL where the cell failed for another reason. */
static const char *failed_program(const struct execution *execution, const struct ifm_error *error)
{
    bool its = ifm_cell_counts_programs(execution->cell) &&
               strncmp(error->message, IFM_FAILED_PROGRAM, strlen(IFM_FAILED_PROGRAM)) == 0;
    return its ? execution->session.at_work : NULL;
}

static void warn_of_cell(const char *cell, const struct ifm_error *error)
{
    ifm_warn("cell %s was not measured: %s", cell, error->message);
    ifm_error_print_said(error);
}

static enum ifm_status run_cells(struct execution *execution, struct ifm_error *error)
{
    for (size_t i = 0; i < execution->plan->n_cells; i++) {
        execution->cell = &execution->plan->cells[i];
        execution->cells_done = (double)i;
        if (IFM_LAST(execution->events, cell_done, execution->cell->name, NULL) != NULL)
            continue;
        enum ifm_status status = run_what_is_left(execution, error);
        const char *arm = status == IFM_OK ? NULL : failed_program(execution, error);
        rest(&execution->session);
        if (status != IFM_OK && ends_run(execution, status))
            return status;
        if (status != IFM_OK) {
            if (execution->plan->n_cells > 1) /* the only one's error is the run's, which is printed */
                warn_of_cell(execution->cell->name, error);
            const struct ifm_error why = *error;
            IFM_TRY(IFM_FACT(&execution->session, error, cell_failed, false, .cell = execution->cell->name,
                             .reason = why.message, .remedy = why.hint, .arm = arm));
        }
    }
    return IFM_OK;
}

/* Time counts from the run's first event, also in a session that resumes it. */
static void set_time_base(struct execution *execution)
{
    execution->session.base = execution->device->ops->mark(execution->device);
    const struct ifm_event *start = ifm_events_next(execution->events, IFM_STAGE_run_start, NULL, NULL, NULL);
    int64_t elapsed = start == NULL ? 0 : ifm_clock_wall_ns() - start->t_ns;
    execution->session.offset_ns = execution->is_fake || elapsed < 0 ? 0 : elapsed;
}

/* Rule 8: where locks are required and one is open, nothing is measured. They are read back with the device open,
 * because opening it pins the threads. */
static enum ifm_status check_locks(struct execution *execution, struct ifm_error *error)
{
    const struct ifm_plan *plan = execution->plan;
    bool required = false;
    for (size_t i = 0; i < plan->n_cells; i++)
        required |= plan->cells[i].measure.locks == IFM_LOCKS_REQUIRED;
    return ifm_fact_locks(&execution->session, "before", required, error);
}

/* The environment is read before the device pins this thread, and the device opened after. */
static enum ifm_status start_session(struct execution *execution, struct ifm_error *error)
{
    struct ifm_session *session = &execution->session;
    session->asked_s =
        execution->is_fake ? 0 : execution->options->wait_quiet_s; /* nothing disturbs a scripted clock */
    if (session->asked_s > 0)
        IFM_TRY(ifm_wait_quiet(session->asked_s, NULL, NULL, &session->waited_s, error));
    ifm_parts_open(&session->parts, IFM_PART_MACHINE, NULL);
    /* The first session may have been killed before it wrote its start. */
    bool resumed = IFM_FIRST(execution->events, run_start) != NULL;
    const struct ifm_event_run_start start = {execution->plan->run_id, execution->plan->config_hash, IFM_VERSION,
                                              ifm_plan_sha256(execution->options->dir, execution->arena)};
    const struct ifm_event_resume again = {start.run_id, start.config_hash, start.version, start.plan_sha256};
    IFM_TRY(ifm_fact_add(session, resumed ? IFM_EVENT_OF(resume, true, &again) : IFM_EVENT_OF(run_start, true, &start),
                         error));
    for (size_t i = 0; !resumed && i < execution->options->n_retries; i++)
        IFM_TRY(ifm_fact_add(session, IFM_EVENT_OF(retry, true, &execution->options->retries[i]), error));
    IFM_TRY(ifm_fact_plugins(session, execution->plan, error));
    IFM_TRY(ifm_inputs_record(session, execution->plan, error));
    IFM_TRY(ifm_fact_environment(session, "before", execution->is_fake, error));
    IFM_TRY(ifm_fact_gpu_state(session, "before", NULL, NULL, error));
    const struct ifm_device_ops *ops = ifm_device_find(execution->plan->device);
    if (ops == NULL)
        return ifm_fail(error, IFM_MISSING, "device.kind", "", "this build has no device \"%s\"",
                        execution->plan->device);
    IFM_TRY(ifm_energy_open(execution->plan, &execution->options->device, &execution->energy, error));
    IFM_TRY(ops->open(&execution->options->device, &execution->device, error));
    snprintf(session->gpu_bus, sizeof session->gpu_bus, "%s", execution->device->bus);
    set_time_base(execution);
    return check_locks(execution, error);
}

/* Why the session ended early. If this cannot be written either, a warning is enough. */
static void log_interruption(struct execution *execution, const struct ifm_error *error)
{
    struct ifm_error second;
    if (IFM_FACT(&execution->session, &second, interrupted, false, .reason = error->message,
                 .where = ifm_path_base(error->where)) != IFM_OK)
        ifm_warn("run.log does not say how the run ended: %s", second.message);
}

static enum ifm_status run_session(struct execution *execution, struct ifm_error *error)
{
    enum ifm_status status = start_session(execution, error);
    if (status == IFM_OK)
        status = run_cells(execution, error);
    if (status == IFM_OK)
        status = ifm_fact_locks(&execution->session, "after", false, error);
    if (execution->device != NULL)
        execution->device->ops->close(execution->device);
    ifm_energy_close(execution->energy);
    if (status != IFM_OK) {
        log_interruption(execution, error);
        return status;
    }
    IFM_TRY(ifm_fact_gpu_state(&execution->session, "after", NULL, NULL, error));
    IFM_TRY(ifm_fact_environment(&execution->session, "after", execution->is_fake, error));
    return IFM_FACT(&execution->session, error, run_done, true, .config_hash = execution->plan->config_hash,
                    .plan_sha256 = ifm_plan_sha256(execution->options->dir, execution->arena));
}

static enum ifm_status open_and_run(struct execution *execution, struct ifm_error *error)
{
    IFM_TRY(ifm_journal_open(execution->options->dir, &execution->session.journal, error));
    if (execution->options->resume) /* the journal is locked: nobody else adds to it */
        IFM_TRY(ifm_journal_read(execution->options->dir, execution->arena, &execution->events, error));
    if (IFM_FIRST(execution->events, run_done) != NULL) {
        ifm_note("the run is complete already; there is nothing to resume");
        return IFM_OK;
    }
    return run_session(execution, error);
}

enum ifm_status ifm_run_execute(const struct ifm_plan *plan, const struct ifm_run_options *options,
                                struct ifm_error *error)
{
    struct execution execution = {.plan = plan, .options = options, .is_fake = strcmp(plan->device, "fake") == 0};
    execution.session.plan = plan;
    execution.session.dir = options->dir;
    execution.session.settled = options->settled;
    execution.arena = ifm_arena_create();
    execution.session.device = &options->device;
    execution.session.witness = options->witness;
    execution.session.parts.tell = options->progress.tell;
    execution.session.parts.context = options->progress.context;
    execution.session.on_gpu = strcmp(plan->device, "cuda") == 0;
    execution.session.watches_gpu = execution.session.on_gpu;
    for (size_t i = 0; i < plan->n_cells && !execution.is_fake; i++)
        execution.session.watches_gpu |= plan->cells[i].measure.energy;
    ifm_interrupt_install();
    enum ifm_status status = open_and_run(&execution, error);
    ifm_interrupt_restore();
    ifm_journal_close(execution.session.journal);
    ifm_arena_destroy(execution.arena);
    return status;
}
