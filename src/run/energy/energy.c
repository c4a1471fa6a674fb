/* The energy pass of a cell: idle, blocks of windows, idle. */
#include "run/energy/energy.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/private.h"
#include "base/text.h"
#include "run/energy/private.h"
#include "run/pass/pass.h"
#include <math.h>
#include <stdlib.h>

static const double SETTLE_S = 1, SETTLE_SHARE = 0.25; /* of an idle stretch, left out by its readers */
static const double PREPARE_S = 0.35;                  /* of an arm: timing its steps */
static const double FLUSH_S = 0.5, CALIBRATE_S = 3;
/* Power falls while a look gives less than this share of the one before; readings in a look, and the end of patience.
 */
static const double FALLS = 0.97, LOOK_PERIODS = 4, LONGEST_SETTLE_S = 12;
static const double SAID_S = 15; /* a pass that takes longer says so */
static const char NO_SENSOR[] = "no_sensor", WINDOWS[] = "windows", LOST[] = "lost"; /* why the pass ends */

struct ifm_energy_run {
    struct ifm_energy_sensors sensors;
};

/* The pass of one cell while it runs. */
struct own {
    struct ifm_energy_windows windows;
    bool any; /* a sensor that makes joules, when the pass began */
};

/* ---- the plan ---- */

static bool any_pass(const struct ifm_plan *plan)
{
    bool any = false;
    for (size_t i = 0; i < plan->n_cells; i++)
        any |= ifm_plan_pass(&plan->cells[i], IFM_PASS_ENERGY) != NULL && plan->cells[i].unsupported[0] == '\0';
    return any;
}

enum ifm_status ifm_energy_ready(const struct ifm_plan *plan, struct ifm_error *error)
{
    const char *meter = "";
    for (size_t i = 0; i < plan->n_cells; i++)
        if (ifm_plan_pass(&plan->cells[i], IFM_PASS_ENERGY) != NULL && plan->cells[i].measure.power_meter != NULL)
            meter = plan->cells[i].measure.power_meter;
    const char *path = meter[0] == '\0' ? NULL : ifm_private_text(meter);
    return path == NULL ? IFM_OK : ifm_power_meter_ready(path, error); /* an unknown path is an error when it opens */
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
                                struct ifm_energy_run **out, struct ifm_error *error)
{
    *out = NULL;
    if (!any_pass(plan))
        return IFM_OK;
    struct ifm_energy_run *energy = ifm_zeros(1, sizeof *energy);
    enum ifm_status status = ifm_energy_sensors_open(plan, device, &energy->sensors, error);
    if (status != IFM_OK) {
        free(energy);
        return status;
    }
    ifm_energy_sensors_calibrate(&energy->sensors);
    *out = energy;
    return IFM_OK;
}

void ifm_energy_close(struct ifm_energy_run *energy)
{
    if (energy == NULL)
        return;
    ifm_energy_sensors_close(&energy->sensors);
    free(energy);
}

/* ---- the pass ---- */

bool ifm_energy_is_useful(struct ifm_energy_run *energy, double *every_s)
{
    (void)ifm_energy_sensors_slowest(&energy->sensors, every_s);
    return ifm_energy_sensors_useful(&energy->sensors);
}

static struct ifm_energy_sensors *sensors_of(const struct ifm_pass_run *pass)
{
    return &pass->shared->energy->sensors;
}

static void init(struct ifm_pass_run *pass)
{
    pass->own = ifm_zeros(1, sizeof(struct own));
}

static double planned_block_s(const struct ifm_pass_run *pass)
{
    const struct own *own = pass->own;
    return ifm_energy_block_s(pass->cell, &own->windows) + FLUSH_S;
}

static double left_s(const struct ifm_pass_run *pass, double last_s)
{
    (void)last_s; /* windows are planned */
    return (ifm_energy_blocks(pass->cell) - (double)pass->measured) * planned_block_s(pass) +
           pass->cell->plan->measure.energy_idle_s;
}

/* Power falls for a while after work, for seconds on a GPU: what is left out of an idle stretch lasts until it no
 * longer does, as far as the sensor can tell. */
static enum ifm_status settle_down(struct ifm_pass_run *pass, double least_s, struct ifm_error *error)
{
    struct ifm_energy_sensors *sensors = sensors_of(pass);
    double every_s, before_w = NAN, waited_s = 0;
    (void)ifm_energy_sensors_slowest(sensors, &every_s);
    const double look_s = fmin(fmax(0.5 * least_s, LOOK_PERIODS * every_s), fmax(least_s, 1));
    for (;;) {
        IFM_TRY(ifm_energy_wait(pass->cell, look_s, error));
        IFM_TRY(ifm_energy_sensors_drain(sensors, pass->cell, error));
        const double watts = ifm_energy_sensors_watts(sensors);
        waited_s += look_s;
        if (waited_s >= least_s && (!(watts < FALLS * before_w) || waited_s >= LONGEST_SETTLE_S))
            return IFM_OK;
        before_w = watts;
    }
}

/* Nothing runs, everything stays open. */
static enum ifm_status idle(struct ifm_pass_run *pass, const char *when, struct ifm_error *error)
{
    struct own *own = pass->own;
    struct ifm_cell_run *cell = pass->cell;
    double seconds = cell->plan->measure.energy_idle_s;
    double settle_s = SETTLE_SHARE * seconds < SETTLE_S ? SETTLE_SHARE * seconds : SETTLE_S;
    int64_t start_ns = ifm_session_now(cell->session, cell->device);
    IFM_TRY(ifm_energy_sensors_drain(sensors_of(pass), cell, error));
    (void)ifm_energy_sensors_watts(sensors_of(pass)); /* of the work before */
    IFM_TRY(settle_down(pass, settle_s, error));
    const int64_t settled_ns = ifm_session_now(cell->session, cell->device);
    IFM_TRY(ifm_energy_wait(cell, seconds - settle_s, error));
    own->windows.before = -1;
    return IFM_FACT(cell->session, error, energy_idle, true, .cell = cell->plan->name, .when = when,
                    .start_ns = start_ns, .end_ns = ifm_session_now(cell->session, cell->device),
                    .settle_ns = settled_ns - start_ns);
}

/* A pass that takes minutes beside latencies of seconds would be taken for one that hangs. */
static void say_wait(const struct ifm_pass_run *pass)
{
    const struct own *own = pass->own;
    const struct ifm_cell *cell = pass->cell->plan;
    const double seconds = left_s(pass, 0) + cell->measure.energy_idle_s;
    char about[48];
    if (pass->cell->windows != IFM_WINDOWS_ALONG && seconds >= SAID_S)
        ifm_note(
            "cell %s: energy takes about %s: %u windows of each arm, and idle stretches of %g s before and after%s",
            cell->name, ifm_format_human(seconds, "s", about), ifm_energy_windows_each(pass->cell),
            cell->measure.energy_idle_s,
            own->windows.estimate ? "; no sensor measures here, windows are of an estimate" : "");
}

static enum ifm_status begin(struct ifm_pass_run *pass, struct ifm_error *error)
{
    struct own *own = pass->own;
    struct ifm_energy_sensors *sensors = sensors_of(pass);
    IFM_TRY(ifm_energy_sensors_begin(sensors, pass->cell, pass->shared->dir, pass->shared->resume, error));
    own->any = ifm_energy_sensors_useful(sensors);
    if (!own->any || pass->measured >= ifm_energy_blocks(pass->cell))
        return IFM_OK;
    IFM_TRY(ifm_energy_windows_choose(&own->windows, pass->cell, sensors, pass->events, error));
    pass->slots = own->windows.slots;
    pass->samples = own->windows.samples;
    say_wait(pass);
    return idle(pass, "before", error);
}

/* A random pause of up to one period of the sensor that joules are made of: windows must not keep its time. Then what
 * precedes a window of the arm. */
enum ifm_status ifm_energy_pause(struct ifm_pass_run *pass, unsigned arm, bool rested, struct ifm_error *error)
{
    struct own *own = pass->own;
    double every_s;
    if (pass->place == 0)
        ifm_energy_windows_draw(&own->windows, pass->measured);
    (void)ifm_energy_sensors_slowest(sensors_of(pass), &every_s);
    double longest_s = every_s < 1 ? every_s : 1; /* a meter may update once a minute; a second will do */
    IFM_TRY(ifm_energy_sensors_drain(sensors_of(pass), pass->cell, error));
    IFM_TRY(ifm_energy_wait(pass->cell, longest_s * ifm_random_uniform(&own->windows.random), error));
    return rested ? IFM_OK : ifm_energy_pre_roll(&own->windows, arm, longest_s, error);
}

static enum ifm_status slot(struct ifm_pass_run *pass, unsigned arm, struct ifm_slot *slot, struct ifm_sample *samples,
                            int64_t *columns, struct ifm_error *error)
{
    struct own *own = pass->own;
    IFM_TRY(ifm_energy_pause(pass, arm, false, error));
    IFM_TRY(ifm_energy_window(&own->windows, arm, slot, samples, columns, error));
    double done = (double)(pass->place + 1) / (double)pass->places;
    ifm_pass_report(pass, left_s(pass, 0) - done * planned_block_s(pass));
    return IFM_OK;
}

/* Readings first: a block that is in the record has them all. */
static enum ifm_status settle(struct ifm_pass_run *pass, struct ifm_error *error)
{
    struct own *own = pass->own;
    own->windows.before = -1; /* the device idles while readings arrive */
    return ifm_energy_sensors_flush(sensors_of(pass), pass->cell, error);
}

static const char *reason(const struct ifm_pass_run *pass)
{
    const struct own *own = pass->own;
    if (!own->any)
        return NO_SENSOR;
    if (pass->measured >= ifm_energy_blocks(pass->cell))
        return WINDOWS;
    return ifm_energy_sensors_useful(sensors_of(pass)) ? NULL : LOST;
}

static enum ifm_status log_done(struct ifm_pass_run *pass, const char *why, struct ifm_error *error)
{
    const char *cell = pass->cell->plan->name;
    static const char remedy[] = "`inferometer power` lists the sources, what is absent and what helps";
    if (why != NULL)
        ifm_warn("cell %s: %s", cell, why);
    IFM_TRY(ifm_energy_sensors_seal(sensors_of(pass), pass->cell, pass->shared->dir, error));
    return IFM_FACT(pass->cell->session, error, energy_done, why == NULL, .cell = cell,
                    .windows = (int64_t)(pass->measured * pass->places), .reason = why,
                    .remedy = why == NULL ? NULL : remedy);
}

static enum ifm_status end(struct ifm_pass_run *pass, const char *why, struct ifm_error *error)
{
    if (why == NO_SENSOR)
        return log_done(pass, "no sensor here says how many joules a device takes: no window of energy was taken",
                        error);
    if (why == LOST)
        return log_done(pass, "every sensor of energy was lost: no more windows were taken", error);
    IFM_TRY(idle(pass, "after", error));
    IFM_TRY(ifm_energy_sensors_flush(sensors_of(pass), pass->cell, error));
    return log_done(pass, NULL, error);
}

static double expected_s(const struct ifm_cell_run *run, const struct ifm_pass *plan)
{
    (void)plan;
    const struct ifm_cell *cell = run->plan;
    if (ifm_energy_slots_suffice(run, 0))
        return 2 * cell->measure.energy_idle_s + FLUSH_S * (double)(cell->measure.blocks_min + 1);
    return ifm_energy_blocks(run) * (ifm_energy_block_s(run, NULL) + FLUSH_S) + 2 * cell->measure.energy_idle_s +
           FLUSH_S + PREPARE_S * (double)cell->n_arms;
}

static void close_own(struct ifm_pass_run *pass)
{
    struct own *own = pass->own;
    ifm_energy_sensors_end(sensors_of(pass));
    ifm_energy_windows_free(&own->windows);
    free(own);
}

const struct ifm_pass_hooks ifm_pass_energy = {
    .done = IFM_STAGE_energy_done,
    .sync = true,
    .init = init,
    .begin = begin,
    .slot = slot,
    .settle = settle,
    .reason = reason,
    .left_s = left_s,
    .end = end,
    .expected_s = expected_s,
    .close = close_own,
};
