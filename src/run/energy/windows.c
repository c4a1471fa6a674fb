/* Windows of energy: how they are chosen, and how one runs.
 *
 * A window is a slot whose samples last milliseconds: long enough that taking their times costs nothing, short enough
 * that the steps between two ticks of a sensor are known. Steps that last 5 ms or more might lock to the phase of a
 * sensor that reads a few times a second; those have a random pause behind each, in which the device idles. A window of
 * a program is made of whole runs, one after the other, with the device idle at both ends. */
#include "run/energy/private.h"

#include "base/log.h"
#include "base/text.h"
#include "run/cell/arm.h"
#include "run/cell/instruments.h"
#include "run/cell/slot.h"
#include "run/interrupt.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAMPLE_S = 0.02, LONG_STEP_S = 5e-3, LONGEST_PAUSE_S = 0.02, PAUSE_SHARE = 0.1;
static const double TIMED_S = 0.25; /* how long steps are timed before they are counted */
/* A device that works apart keeps 4096 marks at once. */
enum { MOST_MEETING = 4000, MOST_SAMPLES = 2000000, MOST_INNER = 1 << 30 };
static const double APART_S = 0.3, APART_PERIODS = 3; /* idle before a window of whole runs */
static const double ESTIMATE_PERIODS = 12;            /* readings of an estimate in a window: two more than it needs */
static const uint32_t PAUSES = 0x70617573;            /* "paus" */

/* Windows of each arm in a block. */
static unsigned rows_of(const struct ifm_cell_run *cell)
{
    return ifm_plan_rows(cell->plan, IFM_PASS_ENERGY, cell->rows);
}

/* ---- choosing ---- */

static uint64_t steps_in(double seconds, double step_s)
{
    double steps = round(seconds / step_s);
    return steps < 1 ? 1 : steps > MOST_INNER ? MOST_INNER : (uint64_t)steps;
}

/* So many whole runs as come nearest to the window, one at least. */
static struct ifm_energy_arm whole_runs(double run_s, double window_s)
{
    double runs = fmax(1, fmin(round(window_s / run_s), MOST_SAMPLES));
    return (struct ifm_energy_arm){.inner = 1, .samples = (uint32_t)runs, .runs = true};
}

/* What a run of the arm takes: the shortest of its last block of latencies, since the first run of all may have read
 * its files from the disk. */
static double run_s_of(const struct ifm_cell_run *cell, unsigned index)
{
    const struct ifm_sample *samples = cell->samples;
    int64_t shortest_ns = INT64_MAX;
    const size_t slots = (cell->rows == 1 ? 1 : 2) * cell->plan->n_arms;
    for (size_t k = 0; k < slots; samples += cell->slots[k++].samples)
        for (uint32_t i = 0; cell->slots[k].arm == index && i < cell->slots[k].samples; i++)
            shortest_ns = samples[i].duration_ns < shortest_ns ? samples[i].duration_ns : shortest_ns;
    return 1e-9 * (shortest_ns < INT64_MAX ? fmax((double)shortest_ns, 1) : fmax(cell->arms[index].step_ns, 1));
}

static void choose(struct ifm_energy_arm *arm, double step_s, double window_s)
{
    bool apart = step_s >= LONG_STEP_S;
    double sample_s = apart ? step_s : fmax(SAMPLE_S, window_s / MOST_MEETING);
    arm->inner = apart ? 1 : (uint32_t)steps_in(sample_s, step_s);
    arm->pause_s = apart ? fmin(LONGEST_PAUSE_S, PAUSE_SHARE * step_s) : 0;
    double samples = ceil(window_s / (arm->inner * step_s + arm->pause_s / 2));
    double most = apart ? MOST_SAMPLES : MOST_MEETING;
    arm->samples = (uint32_t)fmax(1, fmin(samples, most));
}

/* The fact's sentence: why this length, and which sensor it must suit. */
static void explain(const struct ifm_energy_arm *arm, double step_s, double pre_roll_s,
                    const struct ifm_energy_sensors *sensors, struct ifm_text *out)
{
    char step[48], period[48], least[48];
    double every_s;
    const struct ifm_power_sensor *sensor = ifm_energy_sensors_slowest(sensors, &every_s);
    ifm_text_printf(out, "a %s takes %s: ", arm->runs ? "run" : "step", ifm_format_human(step_s, "s", step));
    if (arm->runs)
        ifm_text_printf(out, "a window is %u whole run%s", arm->samples, arm->samples == 1 ? "" : "s");
    else if (arm->pause_s > 0)
        ifm_text_printf(out, "each is a sample, with a random pause behind it");
    else
        ifm_text_printf(out, "samples of %u steps last about 20 ms and meet", arm->inner);
    if (sensor != NULL)
        ifm_text_printf(out, "; %s of %s brings something new every %s, so that a window needs %s", sensor->source,
                        sensor->device, ifm_format_human(every_s, "s", period),
                        ifm_format_human(IFM_ENERGY_LEAST_PERIODS * every_s, "s", least));
    if (!arm->runs && !(pre_roll_s > 0))
        ifm_text_add(out, "; without a pre-roll, so that a window may begin at the power of the arm before");
}

static enum ifm_status time_step(struct ifm_energy_windows *windows, unsigned index, double *step_s,
                                 struct ifm_error *error)
{
    double rough_s = fmax(windows->cell->arms[index].step_ns, 0.1) * 1e-9;
    const struct ifm_roll roll = {.steps = steps_in(SAMPLE_S, rough_s), .times = 1, .seconds = TIMED_S};
    IFM_TRY(ifm_arm_roll(windows->cell, index, &roll, step_s, error));
    *step_s = fmin(*step_s, rough_s); /* while others took the CPU even the fastest round was slow */
    windows->before = (int)index;
    return IFM_OK;
}

/* Where nothing measures and power is only estimated, a window needs no more than the readings of the estimate: longer
 * ones would take minutes for a number that is off by 40 %. */
static double window_s_of(const struct ifm_measure *measure, const struct ifm_energy_sensors *sensors)
{
    double every_s;
    const struct ifm_power_sensor *sensor = ifm_energy_sensors_slowest(sensors, &every_s);
    const bool guess = sensor != NULL && sensor->kind == IFM_POWER_ESTIMATE;
    return guess ? fmin(measure->energy_window_s, ESTIMATE_PERIODS * every_s) : measure->energy_window_s;
}

static enum ifm_status choose_arm(struct ifm_energy_windows *windows, unsigned index,
                                  const struct ifm_energy_sensors *sensors, struct ifm_error *error)
{
    struct ifm_cell_run *cell = windows->cell;
    struct ifm_energy_arm *arm = &windows->arms[index];
    struct ifm_text reason = {0};
    double step_s, window_s = window_s_of(&cell->plan->measure, sensors);
    if (ifm_arm_runs_programs(cell->arms[index].plan)) {
        step_s = run_s_of(cell, index);
        *arm = whole_runs(step_s, window_s);
        if (cell->windows == IFM_WINDOWS_ALONG)
            arm->samples = cell->arms[index].samples;
    } else {
        IFM_TRY(time_step(windows, index, &step_s, error));
        choose(arm, step_s, window_s);
    }
    explain(arm, step_s, cell->plan->measure.pre_roll_s, sensors, &reason);
    window_s = arm->planned_s = arm->samples * (arm->inner * step_s + arm->pause_s / 2);
    enum ifm_status status =
        IFM_FACT(cell->session, error, energy_plan, true, .cell = cell->plan->name, .arm = cell->arms[index].plan->name,
                 .inner = arm->inner, .samples_per_slot = arm->samples, .window_s = window_s,
                 .pause_ms = arm->pause_s * 1e3, .reason = reason.data);
    ifm_text_free(&reason);
    return status;
}

/* A resumed pass goes on with windows as it began. */
static enum ifm_status take_over(struct ifm_energy_arm *arm, const struct ifm_arm *plan,
                                 const struct ifm_event_energy_plan *told, struct ifm_error *error)
{
    bool runs = ifm_arm_runs_programs(plan);
    int64_t most = told->pause_ms <= 0 && !runs ? MOST_MEETING : MOST_SAMPLES;
    if (told->inner < 1 || told->inner > MOST_INNER || told->samples_per_slot < 1 || told->samples_per_slot > most ||
        told->pause_ms > LONGEST_PAUSE_S * 1e3)
        return ifm_fail(error, IFM_INVALID, "run.log", "measure again into a new folder",
                        "an event energy_plan is out of range");
    *arm = (struct ifm_energy_arm){(uint32_t)told->inner, (uint32_t)told->samples_per_slot, runs,
                                   runs ? 0 : told->pause_ms * 1e-3, told->window_s};
    return IFM_OK;
}

static enum ifm_status allocate(struct ifm_energy_windows *windows, struct ifm_error *error)
{
    size_t n = windows->cell->plan->n_arms, samples = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        samples += 2 * (size_t)windows->arms[i].samples;
        most = windows->arms[i].samples > most ? windows->arms[i].samples : most;
    }
    windows->slots = calloc(2 * n, sizeof *windows->slots);
    windows->samples = calloc(samples, sizeof *windows->samples);
    windows->marks = calloc(2 * most + 1, sizeof *windows->marks);
    if (windows->slots == NULL || windows->samples == NULL || windows->marks == NULL)
        return ifm_fail(error, IFM_INTERNAL, windows->cell->plan->name, "free some memory",
                        "out of memory for %zu samples", samples);
    memset(windows->samples, 1, samples * sizeof *windows->samples); /* touched now, not under the sensors */
    memset(windows->marks, 1, (2 * most + 1) * sizeof *windows->marks);
    return IFM_OK;
}

enum ifm_status ifm_energy_windows_choose(struct ifm_energy_windows *windows, struct ifm_cell_run *cell,
                                          const struct ifm_energy_sensors *sensors, const struct ifm_events *events,
                                          struct ifm_error *error)
{
    double every_s;
    const struct ifm_power_sensor *sensor = ifm_energy_sensors_slowest(sensors, &every_s);
    *windows = (struct ifm_energy_windows){
        .cell = cell, .before = -1, .estimate = sensor != NULL && sensor->kind == IFM_POWER_ESTIMATE};
    if (sensor != NULL && cell->plan->measure.energy_window_s < IFM_ENERGY_LEAST_PERIODS * every_s)
        ifm_warn("cell %s: windows of %g s are too short for %s of %s, which needs %g s: its joules will be refused "
                 "(--energy-window)",
                 cell->plan->name, cell->plan->measure.energy_window_s, sensor->source, sensor->device,
                 IFM_ENERGY_LEAST_PERIODS * every_s);
    if (sensor != NULL && cell->plan->measure.energy_idle_s < IFM_ENERGY_LEAST_PERIODS * every_s)
        ifm_warn("cell %s: idle stretches of %g s are too short for %s of %s, which needs %g s: there will be no "
                 "joules above idle (--energy-idle)",
                 cell->plan->name, cell->plan->measure.energy_idle_s, sensor->source, sensor->device,
                 IFM_ENERGY_LEAST_PERIODS * every_s);
    for (unsigned i = 0; i < cell->plan->n_arms; i++) {
        if (!ifm_plan_isolates(cell->plan, i)) /* ceilings have no windows */
            continue;
        const struct ifm_event_energy_plan *told =
            IFM_LAST(events, energy_plan, cell->plan->name, cell->arms[i].plan->name);
        IFM_TRY(told != NULL ? take_over(&windows->arms[i], cell->arms[i].plan, told, error)
                             : choose_arm(windows, i, sensors, error));
    }
    return allocate(windows, error);
}

void ifm_energy_windows_free(struct ifm_energy_windows *windows)
{
    free(windows->slots);
    free(windows->samples);
    free(windows->marks);
    *windows = (struct ifm_energy_windows){0};
}

void ifm_energy_windows_draw(struct ifm_energy_windows *windows, unsigned block)
{
    windows->random = ifm_random_start(windows->cell->plan->seed, PAUSES ^ (block * 0x9e3779b9u));
}

double ifm_energy_window_s(const struct ifm_cell_run *cell, unsigned arm, double *before_s)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    bool runs = ifm_arm_runs_programs(cell->arms[arm].plan);
    double run_s = runs ? run_s_of(cell, arm) : 0;
    *before_s = runs ? APART_S : measure->pre_roll_s;
    return runs ? whole_runs(run_s, measure->energy_window_s).samples * run_s : measure->energy_window_s;
}

double ifm_energy_block_s(const struct ifm_cell_run *cell, const struct ifm_energy_windows *chosen)
{
    const unsigned rows = rows_of(cell);
    double seconds = 0, before_s = 0;
    for (unsigned i = 0; i < cell->plan->n_arms; i++) {
        if (!ifm_plan_isolates(cell->plan, i))
            continue;
        const double window_s = ifm_energy_window_s(cell, i, &before_s);
        seconds += rows * ((chosen != NULL ? chosen->arms[i].planned_s : window_s) + before_s);
    }
    const bool again = rows == 2 && !ifm_cell_runs_programs(cell->plan); /* the middle two slots are of one arm */
    return again ? seconds - before_s : seconds;
}

/* ---- how many, and whether other slots are windows ---- */

/* Whole pairs of a row and its mirror image, also where each of the two is a block. */
uint32_t ifm_energy_blocks(const struct ifm_cell_run *cell)
{
    const uint64_t pairs = (cell->plan->measure.energy_windows + 1) / 2;
    return (uint32_t)(2 * pairs / rows_of(cell));
}

uint32_t ifm_energy_windows_each(const struct ifm_cell_run *cell)
{
    return rows_of(cell) * ifm_energy_blocks(cell);
}

/* A first run may take twice as long as the next ones: its files were on the disk. */
static const double PERIODS_SPARE = 1.5;

/* So many blocks are measured at least, if nothing interrupts. */
static double fewest_blocks(const struct ifm_cell_run *cell)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    if (measure->stop == IFM_STOP_REPEATS)
        return ceil((double)measure->repeats / (rows_of(cell) * (double)cell->arms[0].samples));
    return (double)measure->blocks_min;
}

bool ifm_energy_slots_suffice(const struct ifm_cell_run *cell, double every_s)
{
    double window_s = cell->plan->measure.energy_window_s;
    if (fewest_blocks(cell) < (double)ifm_energy_blocks(cell))
        return false;
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        const struct ifm_arm_run *arm = &cell->arms[i];
        double run_s = 1e-9 * arm->step_ns;
        if (!ifm_arm_runs_programs(arm->plan) || round(window_s / run_s) > fmax(arm->samples, 1) ||
            arm->samples * run_s < PERIODS_SPARE * IFM_ENERGY_LEAST_PERIODS * every_s)
            return false;
    }
    return cell->plan->n_arms > 0;
}

/* ---- running ---- */

/* What a window of runs costs is taken from the ticks next to its ends: the device idles there, so that these have the
 * power beside the load. */
static enum ifm_status stand_apart(const struct ifm_energy_windows *windows, double every_s, struct ifm_error *error)
{
    return ifm_energy_wait(windows->cell, fmax(APART_S, APART_PERIODS * every_s), error);
}

enum ifm_status ifm_energy_pre_roll(struct ifm_energy_windows *windows, unsigned arm, double every_s,
                                    struct ifm_error *error)
{
    struct ifm_cell_run *cell = windows->cell;
    const struct ifm_roll roll = {windows->arms[arm].inner, 1, .seconds = cell->plan->measure.pre_roll_s};
    if (windows->arms[arm].runs)
        return stand_apart(windows, every_s, error);
    if (windows->before == (int)arm || !(roll.seconds > 0))
        return IFM_OK;
    int64_t start_ns = ifm_session_now(cell->session, cell->device);
    IFM_TRY(ifm_arm_roll(cell, arm, &roll, NULL, error));
    return IFM_FACT(cell->session, error, energy_pre_roll, true, .cell = cell->plan->name,
                    .arm = cell->arms[arm].plan->name, .start_ns = start_ns,
                    .end_ns = ifm_session_now(cell->session, cell->device));
}

/* Has the window lasted as long as one may? By its marks; of a device that works apart they are only tickets yet, and
 * the clock of the host says it. */
static bool is_spent(const struct ifm_energy_windows *windows, const struct ifm_energy_arm *arm,
                     const struct ifm_instant *start, const struct ifm_instant *mark, struct ifm_instant host)
{
    const bool tickets = windows->cell->device->ops->resolve != NULL;
    const double lasted_s = 1e-9 * (double)(tickets ? ifm_clock_since(host).ns : mark->ns - start->ns);
    return arm->planned_s > 0 && lasted_s >= IFM_ENERGY_MOST_OF_PLAN * arm->planned_s;
}

/* Samples that meet: one mark ends a sample and starts the next. `done`: how many there are. */
static enum ifm_status run_meeting(struct ifm_energy_windows *windows, const struct ifm_arm_run *run,
                                   const struct ifm_energy_arm *arm, uint32_t *done, struct ifm_error *error)
{
    struct ifm_device *device = windows->cell->device;
    struct ifm_instant *marks = windows->marks;
    device->ops->hold(device, windows->cell->plan->threads);
    run->implementation->step(run->state, 1);
    const struct ifm_instant host = ifm_clock_now();
    marks[0] = device->ops->mark(device);
    for (uint32_t i = 1; i <= arm->samples && !ifm_interrupted(); i++) {
        run->implementation->step(run->state, arm->inner);
        marks[i] = device->ops->mark(device);
        *done = i;
        if (is_spent(windows, arm, marks, &marks[i], host))
            break;
    }
    enum ifm_status status = IFM_OK;
    if (device->ops->resolve != NULL && !ifm_interrupted())
        status = device->ops->resolve(device, marks, *done + 1U, error);
    device->ops->release(device);
    return status;
}

/* Whole runs of a program, one after the other. */
static enum ifm_status run_programs(struct ifm_energy_windows *windows, const struct ifm_arm_run *run,
                                    const struct ifm_energy_arm *arm, uint32_t *done, struct ifm_error *error)
{
    struct ifm_device *device = windows->cell->device;
    const struct ifm_instant host = ifm_clock_now();
    for (uint32_t i = 0; i < arm->samples; i++) {
        IFM_TRY(ifm_interrupt_check(windows->cell->plan->name, error));
        IFM_TRY(run->implementation->before(run->state, error));
        windows->marks[2 * i] = device->ops->mark(device);
        run->implementation->step(run->state, 1);
        windows->marks[2 * i + 1] = device->ops->mark(device);
        IFM_TRY(run->implementation->after(run->state, error));
        *done = i + 1;
        if (is_spent(windows, arm, windows->marks, &windows->marks[2 * i + 1], host))
            break;
    }
    return IFM_OK;
}

/* Samples with a pause between them: the device is let go for it, so that its workers park and its work is done. */
static enum ifm_status run_apart(struct ifm_energy_windows *windows, const struct ifm_arm_run *run,
                                 const struct ifm_energy_arm *arm, uint32_t *done, struct ifm_error *error)
{
    struct ifm_device *device = windows->cell->device;
    const struct ifm_instant host = ifm_clock_now();
    enum ifm_status status = IFM_OK;
    for (uint32_t i = 0; i < arm->samples && status == IFM_OK; i++) {
        struct ifm_instant *marks = &windows->marks[2 * i];
        device->ops->hold(device, windows->cell->plan->threads);
        marks[0] = device->ops->mark(device);
        run->implementation->step(run->state, arm->inner);
        marks[1] = device->ops->mark(device);
        if (device->ops->resolve != NULL)
            status = device->ops->resolve(device, marks, 2, error);
        device->ops->release(device);
        *done = i + 1;
        if (is_spent(windows, arm, windows->marks, &marks[1], host))
            break;
        if (status == IFM_OK && i + 1 < arm->samples)
            status = ifm_energy_wait(windows->cell, arm->pause_s * ifm_random_uniform(&windows->random), error);
    }
    return status;
}

enum ifm_status ifm_energy_window(struct ifm_energy_windows *windows, unsigned index, struct ifm_slot *slot,
                                  struct ifm_sample *samples, int64_t *columns, struct ifm_error *error)
{
    struct ifm_cell_run *cell = windows->cell;
    const struct ifm_energy_arm *arm = &windows->arms[index];
    const struct ifm_arm_run *run = &cell->arms[index];
    struct ifm_turn turn;
    uint32_t done = 0;
    if (run->implementation->spoil != NULL)
        run->implementation->spoil(run->state, false);
    ifm_turn_begin(cell, index, &turn);
    ifm_slot_collect_own(cell, run, columns); /* of the pre-roll: thrown away */
    ifm_instruments_start(cell, IFM_INSTRUMENTS_ALL);
    enum ifm_status status = arm->runs          ? run_programs(windows, run, arm, &done, error)
                             : arm->pause_s > 0 ? run_apart(windows, run, arm, &done, error)
                                                : run_meeting(windows, run, arm, &done, error);
    ifm_instruments_stop(cell, IFM_INSTRUMENTS_ALL);
    windows->before = (int)index;
    IFM_TRY(ifm_turn_end(&turn, status, error));
    IFM_TRY(ifm_interrupt_check(cell->plan->name, error)); /* what an interruption cut short is no window */
    ifm_instruments_collect(cell, columns);
    ifm_slot_collect_own(cell, run, columns);
    *slot = (struct ifm_slot){
        .arm = index, .phase = IFM_PHASE_MEASURE, .samples = done, .inner = arm->inner, .columns = columns};
    ifm_slot_read_marks(cell, windows->marks, arm->runs || arm->pause_s > 0, slot, samples);
    return IFM_OK;
}
