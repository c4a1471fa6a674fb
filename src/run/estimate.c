/* The dry run's time estimate: open each cell as the run does, time a pilot, and apply the stop rule to it.
 *
 * Set-up is timed, not guessed, because for large caches generation and the oracle take longer than a block. */
#include "run/run.h"

#include "run/cell/calibrate.h"
#include "run/energy/energy.h"
#include "run/pass/pass.h"
#include "stats/sequential.h"
#include <math.h>
#include <string.h>

enum { PILOT_BLOCKS = 4 };
static const double PILOT_S = 1.5; /* longest pilot of a cell; two blocks run in any case */
static const double LONG_S = 5;    /* no pilot where two blocks take longer: calibration has timed the steps */
/* Around the cells: the fingerprint, reading back, derive and publish; a real machine also waits for two load windows.
 */
static const double FIXED_S = 0.03;

static double seconds_since(struct ifm_instant start)
{
    return (double)ifm_clock_since(start).ns * 1e-9;
}

/* Seconds add up; memory is that of the largest cell. */
static void add(struct ifm_estimate *sum, const struct ifm_estimate *more)
{
    sum->seconds += more->seconds;
    sum->low += more->low;
    sum->high += more->high;
    sum->memory = more->memory > sum->memory ? more->memory : sum->memory;
}

static double warm_up_s(const struct ifm_cell_run *cell)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    double window = 0, windows = 2;
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        const struct ifm_arm_run *arm = &cell->arms[i];
        if (!ifm_plan_in_blocks(cell->plan, i))
            continue;
        double steps = (double)arm->samples * arm->inner;
        window += (steps + 1) * arm->step_ns * 1e-9;
        windows = fmax(windows, ceil((double)measure->warmup / steps));
    }
    /* The gate reads the clock after each window, so it may exceed its cap by one window. */
    double capped = fmax(2, ceil(measure->warmup_cap_s / window));
    return window * fmin(windows, capped);
}

static enum ifm_status pilot(struct ifm_cell_run *cell, struct ifm_estimate *estimate, struct ifm_error *error)
{
    struct ifm_pass_run pass;
    enum ifm_status status = IFM_OK;
    ifm_pass_init(&pass, cell, cell->pass);
    struct ifm_instant start = ifm_clock_now();
    int blocks = 0;
    double block_s = ifm_cell_block_s(cell);
    bool is_long = 2 * block_s > LONG_S;
    while (!is_long && status == IFM_OK && blocks < PILOT_BLOCKS && (blocks < 2 || seconds_since(start) < PILOT_S)) {
        status = ifm_pass_block(&pass, error);
        blocks++;
    }
    if (status == IFM_OK && blocks > 0)
        block_s = seconds_since(start) / blocks;
    double gate_s = 0, rolls_s = 0;
    if (status == IFM_OK)
        status = ifm_converge_estimate(cell, warm_up_s(cell), &gate_s, &rolls_s, error);
    if (status == IFM_OK) {
        block_s += rolls_s;
        const struct ifm_measure *measure = &cell->plan->measure;
        double expected = ifm_stop_expected_blocks(&pass.stop, block_s);
        double fewest = (double)measure->blocks_min, most = fmax(fewest, ceil(measure->cap_s / block_s));
        if (measure->stop == IFM_STOP_GROUP)
            fewest = fmax(fewest, (double)ifm_stats_sequential_look(measure->blocks_max, 1));
        if (measure->stop == IFM_STOP_REPEATS)
            fewest = most = expected;
        estimate->seconds = warm_up_s(cell) + gate_s + expected * block_s;
        estimate->low = warm_up_s(cell) + gate_s + fewest * block_s;
        estimate->high = warm_up_s(cell) + gate_s + most * block_s;
    }
    ifm_pass_close(&pass);
    return status;
}

/* An energy pass that no sensor can serve takes no time. */
static double later_passes_s(const struct ifm_cell_run *cell, bool sensors)
{
    double seconds = 0;
    for (size_t i = 1; i < cell->plan->n_passes; i++)
        if (cell->plan->passes[i].kind != IFM_PASS_ENERGY || sensors)
            seconds += ifm_pass_kinds[cell->plan->passes[i].kind]->expected_s(cell);
    return seconds;
}

static enum ifm_status estimate_cell(const struct ifm_cell *plan, struct ifm_device *device, bool sensors,
                                     struct ifm_session *session, struct ifm_estimate *estimate,
                                     struct ifm_error *error)
{
    *estimate = (struct ifm_estimate){0};
    if (plan->unsupported[0] != '\0')
        return IFM_OK;
    for (size_t i = 0; i < plan->n_arms; i++)
        estimate->memory += plan->arms[i].memory * ifm_plan_copies(plan, i);
    struct ifm_instant start = ifm_clock_now();
    struct ifm_cell_run cell;
    IFM_TRY(ifm_cell_open(plan, device, session, &cell, error));
    enum ifm_status status = ifm_cell_calibrate(&cell, NULL, error);
    double open_s = seconds_since(start);
    if (status == IFM_OK)
        status = pilot(&cell, estimate, error);
    start = ifm_clock_now();
    if (status == IFM_OK)
        status = ifm_cell_check(&cell, "after", error);
    double later_s = status == IFM_OK ? later_passes_s(&cell, sensors) : 0;
    ifm_cell_close(&cell);
    double more_s = open_s + seconds_since(start) + later_s;
    add(estimate, &(struct ifm_estimate){more_s, more_s, more_s, 0});
    return status;
}

enum ifm_status ifm_run_estimate(const struct ifm_plan *plan, const struct ifm_run_options *options,
                                 struct ifm_estimate *cells, struct ifm_estimate *total, struct ifm_error *error)
{
    const struct ifm_device_ops *ops = ifm_device_find(plan->device);
    struct ifm_device *device;
    if (ops == NULL)
        return ifm_fail(error, IFM_MISSING, "device.kind", "", "this build has no device \"%s\"", plan->device);
    bool sensors; /* found before threads are pinned, as the run does */
    double start_s = ifm_energy_start_s(plan, &options->device, &sensors);
    IFM_TRY(ops->open(&options->device, &device, error));
    struct ifm_session session = {.plan = plan, .base = ops->mark(device), .device = &options->device};
    bool is_fake = strcmp(plan->device, "fake") == 0;
    double fixed_s = FIXED_S + (is_fake ? 0 : 2e-3 * IFM_LOAD_WINDOW_MS);
    fixed_s += start_s;
    *total = (struct ifm_estimate){fixed_s, fixed_s, fixed_s, 0};
    enum ifm_status status = IFM_OK;
    for (size_t i = 0; i < plan->n_cells && status == IFM_OK; i++) {
        status = estimate_cell(&plan->cells[i], device, sensors, &session, &cells[i], error);
        add(total, &cells[i]);
    }
    ops->close(device);
    return status;
}
