/* The energy pass of a cell: idle, blocks of windows, idle. */
#include "run/energy.h"

#include "base/log.h"
#include "base/private.h"
#include "run/arm.h"
#include "run/energy_private.h"
#include "run/interrupt.h"
#include "run/watch.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const double SETTLE_S = 1, SETTLE_SHARE = 0.25; /* of an idle stretch, left out by its readers */
static const double NAP_S = 0.1;                       /* between two looks for an interruption */
static const double PREPARE_S = 0.35;                  /* of an arm: timing its steps */
static const double FLUSH_S = 0.5, CALIBRATE_S = 3;

struct ifm_energy_run {
    struct ifm_energy_sensors sensors;
    ifm_energy_progress_fn *progress;
    void *context;
};

/* The pass of one cell while it is run. */
struct pass {
    struct ifm_energy_run *energy;
    struct ifm_cell_run *cell;
    struct ifm_energy_windows windows;
    struct ifm_recorder *recorder;
    uint32_t done, wanted; /* blocks */
    int64_t began_ns;
    uint32_t before; /* blocks that were there when this session began */
};

/* ---- the plan ---- */

static const struct ifm_pass *pass_of(const struct ifm_cell *cell)
{
    for (size_t i = 0; i < cell->n_passes; i++)
        if (strcmp(cell->passes[i].name, "energy") == 0)
            return &cell->passes[i];
    return NULL;
}

static uint32_t blocks_of(const struct ifm_cell *cell)
{
    return (uint32_t)((cell->measure.energy_windows + 1) / 2);
}

/* The arms that have no windows, and how many have: ceilings that are taken along are held against times, not joules.
 */
static size_t leave_out(const struct ifm_cell *cell, bool *without)
{
    size_t n = 0;
    for (size_t i = 0; i < cell->n_arms; i++) {
        without[i] = !ifm_plan_isolates(cell, i);
        n += !without[i];
    }
    return n;
}

static double block_s(const struct ifm_cell *cell)
{
    bool without[IFM_MOST_ARMS];
    const struct ifm_measure *measure = &cell->measure;
    double n = (double)leave_out(cell, without), changes = 2 * n - 1; /* the middle two slots are of one arm */
    return 2 * n * measure->energy_window_s + changes * measure->pre_roll_s + FLUSH_S;
}

double ifm_energy_expected_s(const struct ifm_cell *cell)
{
    if (pass_of(cell) == NULL || cell->unsupported[0] != '\0')
        return 0;
    return blocks_of(cell) * block_s(cell) + 2 * cell->measure.energy_idle_s + FLUSH_S +
           PREPARE_S * (double)cell->n_arms;
}

static bool any_pass(const struct ifm_plan *plan)
{
    bool any = false;
    for (size_t i = 0; i < plan->n_cells; i++)
        any |= pass_of(&plan->cells[i]) != NULL && plan->cells[i].unsupported[0] == '\0';
    return any;
}

enum ifm_status ifm_energy_ready(const struct ifm_plan *plan, struct ifm_error *error)
{
    const char *meter = "";
    for (size_t i = 0; i < plan->n_cells; i++)
        if (pass_of(&plan->cells[i]) != NULL && plan->cells[i].measure.power_meter != NULL)
            meter = plan->cells[i].measure.power_meter;
    const char *path = meter[0] == '\0' ? NULL : ifm_private_text(meter);
    return path == NULL ? IFM_OK : ifm_power_meter_ready(path, error); /* an unknown path is told when it is opened */
}

double ifm_energy_start_s(const struct ifm_plan *plan, const struct ifm_device_options *device, bool *possible)
{
    struct ifm_energy_sensors sensors;
    struct ifm_error ignored;
    *possible = false;
    if (!any_pass(plan) || ifm_energy_sensors_open(plan, device, &sensors, &ignored) != IFM_OK)
        return 0;
    *possible = ifm_energy_sensors_useful(&sensors);
    bool any = ifm_power_list(sensors.power)->n_sensors > 0;
    ifm_energy_sensors_close(&sensors);
    return any ? CALIBRATE_S : 0;
}

/* ---- the run ---- */

enum ifm_status ifm_energy_open(const struct ifm_plan *plan, const struct ifm_device_options *device,
                                struct ifm_session *session, struct ifm_energy_run **out, struct ifm_error *error)
{
    (void)session; /* its facts name a cell: ifm_energy_pass writes them */
    *out = NULL;
    if (!any_pass(plan))
        return IFM_OK;
    struct ifm_energy_run *energy = calloc(1, sizeof *energy);
    if (energy == NULL)
        return ifm_fail(error, IFM_INTERNAL, "power", NULL, "out of memory");
    enum ifm_status status = ifm_energy_sensors_open(plan, device, &energy->sensors, error);
    if (status != IFM_OK) {
        free(energy);
        return status;
    }
    ifm_energy_sensors_calibrate(&energy->sensors);
    *out = energy;
    return IFM_OK;
}

void ifm_energy_on_progress(struct ifm_energy_run *energy, ifm_energy_progress_fn *progress, void *context)
{
    if (energy == NULL)
        return;
    energy->progress = progress;
    energy->context = context;
}

void ifm_energy_close(struct ifm_energy_run *energy)
{
    if (energy == NULL)
        return;
    ifm_energy_sensors_close(&energy->sensors);
    free(energy);
}

int64_t ifm_energy_now(const struct ifm_cell_run *cell)
{
    return cell->session->offset_ns + cell->device->ops->mark(cell->device).ns - cell->session->base.ns;
}

enum ifm_status ifm_energy_wait(const struct ifm_cell_run *cell, double seconds, struct ifm_error *error)
{
    const struct ifm_instant start = ifm_clock_now();
    for (double left = seconds; left > 0 && !ifm_interrupted();) {
        double nap = left < NAP_S ? left : NAP_S;
        const struct timespec time = {0, (long)(nap * 1e9)};
        nanosleep(&time, NULL); /* a signal ends it early; the clock says what is left */
        left = seconds - (double)ifm_clock_since(start).ns * 1e-9;
    }
    if (ifm_interrupted())
        return ifm_fail(error, IFM_INTERRUPTED, cell->plan->name, "go on with --resume",
                        "interrupted; every whole block is kept");
    return IFM_OK;
}

/* ---- the pass ---- */

/* Nothing runs, everything stays open. */
static enum ifm_status idle(struct pass *pass, const char *when, struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    double seconds = cell->plan->measure.energy_idle_s;
    double settle_s = SETTLE_SHARE * seconds < SETTLE_S ? SETTLE_SHARE * seconds : SETTLE_S;
    int64_t start_ns = ifm_energy_now(cell);
    IFM_TRY(ifm_energy_wait(cell, seconds, error));
    pass->windows.before = -1;
    return ifm_fact_add(cell->session,
                        IFM_EVENT(energy_idle, true, .cell = cell->plan->name, .when = when, .start_ns = start_ns,
                                  .end_ns = ifm_energy_now(cell), .settle_ns = (int64_t)(settle_s * 1e9)),
                        error);
}

static void report(const struct pass *pass, double of_block)
{
    double expected_s = ifm_energy_expected_s(pass->cell->plan);
    double left_s =
        (pass->wanted - pass->done - of_block) * block_s(pass->cell->plan) + pass->cell->plan->measure.energy_idle_s;
    if (pass->energy->progress != NULL)
        pass->energy->progress(pass->energy->context, expected_s > left_s ? expected_s - left_s : 0, left_s);
}

/* A random pause of up to one period of the sensor that joules are made of: windows must not keep its time. */
static enum ifm_status pause(struct pass *pass, struct ifm_error *error)
{
    double every_s;
    (void)ifm_energy_sensors_slowest(&pass->energy->sensors, &every_s);
    double longest_s = every_s < 1 ? every_s : 1; /* of a meter that speaks once a minute, a second will do */
    IFM_TRY(ifm_energy_sensors_drain(&pass->energy->sensors, pass->cell, error));
    return ifm_energy_wait(pass->cell, longest_s * ifm_random_uniform(&pass->windows.random), error);
}

static enum ifm_status run_windows(struct pass *pass, const unsigned *order, size_t n, size_t *n_samples,
                                   struct ifm_error *error)
{
    struct ifm_energy_windows *windows = &pass->windows;
    *n_samples = 0;
    for (size_t i = 0; i < n; i++) {
        struct ifm_slot *slot = &windows->slots[i];
        struct ifm_sample *samples = &windows->samples[*n_samples];
        IFM_TRY(pause(pass, error));
        IFM_TRY(ifm_energy_pre_roll(windows, order[i], error));
        IFM_TRY(ifm_energy_window(windows, order[i], slot, samples, error));
        IFM_TRY(ifm_watch_slot(pass->cell, slot, samples, windows->end_ns, error));
        windows->end_ns = slot->end_ns;
        slot->block = pass->done;
        *n_samples += slot->samples;
        report(pass, (double)(i + 1) / (double)n);
    }
    return IFM_OK;
}

/* Readings first: a block that is in the record has them all. */
static enum ifm_status run_block(struct pass *pass, struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    struct ifm_energy_windows *windows = &pass->windows;
    unsigned order[2 * IFM_MOST_ARMS];
    bool without[IFM_MOST_ARMS];
    size_t n_samples;
    struct ifm_watch watch;
    (void)leave_out(cell->plan, without);
    size_t n = ifm_plan_order_without(cell->plan, without, pass->done, order);
    ifm_energy_windows_draw(windows, pass->done);
    IFM_TRY(ifm_arms_place(cell, pass->done, error));
    ifm_watch_begin(cell, &watch);
    IFM_TRY(run_windows(pass, order, n, &n_samples, error));
    IFM_TRY(ifm_watch_end(cell, &watch, pass->done, error));
    IFM_TRY(ifm_energy_sensors_flush(&pass->energy->sensors, cell, error));
    for (size_t i = 0; i < n; i++) /* the record numbers arms as the plan does */
        if (cell->planned != NULL)
            windows->slots[i].arm = cell->planned[windows->slots[i].arm];
    IFM_TRY(ifm_recorder_append(pass->recorder, windows->slots, n, windows->samples, n_samples, error));
    IFM_TRY(ifm_recorder_sync(pass->recorder, error));
    windows->before = -1; /* it waited for its readings */
    pass->done++;
    return IFM_OK;
}

static enum ifm_status finish(struct pass *pass, const char *reason, const char *remedy, struct ifm_error *error)
{
    bool without[IFM_MOST_ARMS];
    if (reason != NULL)
        ifm_warn("cell %s: %s", pass->cell->plan->name, reason);
    return ifm_fact_add(pass->cell->session,
                        IFM_EVENT(energy_done, reason == NULL, .cell = pass->cell->plan->name,
                                  .windows = (int64_t)(pass->done * 2 * leave_out(pass->cell->plan, without)),
                                  .reason = reason, .remedy = remedy),
                        error);
}

static enum ifm_status measure(struct pass *pass, const struct ifm_events *events, struct ifm_error *error)
{
    struct ifm_energy_sensors *sensors = &pass->energy->sensors;
    static const char remedy[] = "`inferometer power` lists the sources, what is absent and what helps";
    if (!ifm_energy_sensors_useful(sensors))
        return finish(pass, "no sensor here says how many joules a device takes: no window of energy was taken", remedy,
                      error);
    if (pass->done < pass->wanted) {
        IFM_TRY(ifm_energy_windows_choose(&pass->windows, pass->cell, sensors, events, error));
        IFM_TRY(idle(pass, "before", error));
    }
    bool alive = true;
    while (pass->done < pass->wanted && alive) {
        IFM_TRY(run_block(pass, error));
        alive = ifm_energy_sensors_useful(sensors);
    }
    if (!alive && pass->done < pass->wanted)
        return finish(pass, "every sensor of energy was lost: no more windows were taken", remedy, error);
    IFM_TRY(idle(pass, "after", error));
    IFM_TRY(ifm_energy_sensors_flush(sensors, pass->cell, error));
    return finish(pass, NULL, NULL, error);
}

/* Create the record, or reopen it where the interruption cut it; the session's time goes on behind it. */
static enum ifm_status open_record(struct pass *pass, const char *dir, bool resume, struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    const struct ifm_pass *plan = cell->pass;
    if (!resume)
        return ifm_recorder_create(dir, cell->plan->index, plan->name, plan->columns, plan->n_columns, &pass->recorder,
                                   error);
    bool without[IFM_MOST_ARMS];
    int64_t end_ns;
    IFM_TRY(ifm_recorder_resume(dir, cell->plan->index, plan->name, plan->columns, plan->n_columns,
                                2 * leave_out(cell->plan, without), &pass->recorder, &pass->done, &end_ns, error));
    int64_t now_ns = ifm_energy_now(cell);
    if (now_ns <= end_ns)
        cell->session->offset_ns += end_ns + 1 - now_ns;
    return IFM_OK;
}

static enum ifm_status run_pass(struct pass *pass, const struct ifm_events *events, const char *dir, bool resume,
                                struct ifm_error *error)
{
    IFM_TRY(open_record(pass, dir, resume, error));
    IFM_TRY(ifm_energy_sensors_begin(&pass->energy->sensors, pass->cell, dir, resume, error));
    return measure(pass, events, error);
}

enum ifm_status ifm_energy_pass(struct ifm_energy_run *energy, struct ifm_cell_run *cell, const char *dir, bool resume,
                                struct ifm_error *error)
{
    const struct ifm_pass *latency = cell->pass, *own = pass_of(cell->plan);
    const struct ifm_events *events = NULL;
    if (energy == NULL || own == NULL)
        return IFM_OK;
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = resume ? ifm_journal_read(dir, arena, &events, error) : IFM_OK;
    if (status == IFM_OK && IFM_LAST(events, energy_done, cell->plan->name, NULL) == NULL) {
        struct pass pass = {.energy = energy, .cell = cell, .wanted = blocks_of(cell->plan)};
        cell->pass = own; /* what watches the blocks names it */
        status = run_pass(&pass, events, dir, resume, error);
        ifm_energy_sensors_end(&energy->sensors);
        ifm_energy_windows_free(&pass.windows);
        ifm_recorder_close(pass.recorder);
        cell->pass = latency;
    }
    ifm_arena_destroy(arena);
    return status;
}
