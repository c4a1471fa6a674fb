/* The dry run's time estimate: what each part of a run takes, by opening its cells as the run does.
 *
 * Memory, data, checks and steps are timed, not guessed: for large caches they take longer than a block. What a few
 * blocks show of their spread decides how many the stop rule will want. After a few seconds cells of a workload that
 * was opened before are scaled from it by their size. */
#include "run/run.h"

#include "run/cell/calibrate.h"
#include "run/energy/energy.h"
#include "run/pass/pass.h"
#include "run/pass/warm_up.h"
#include "stats/sequential.h"
#include <math.h>
#include <string.h>

enum { PILOT_BLOCKS = 4 };
static const double USUAL_LOOK_S = 3; /* from then on cells are scaled where they can be, and no pilot runs */
static const double PILOT_S = 0.75;   /* longest pilot of a cell, but for two blocks */
static const double LONG_S = 5;       /* of two blocks: their number shows no spread, and the fewest are expected */
/* Around the cells: the fingerprint, reading back, derive and publish; a real machine also waits for two load windows.
 */
static const double FIXED_S = 0.03;
/* What work is counted as, so that two cells can be compared; only ratios are used. */
static const double BYTES_PER_S = 1e10, FLOPS_PER_S = 1e11;

/* One look at a plan. */
struct dry_look {
    const struct ifm_plan *plan;
    struct ifm_device *device;
    struct ifm_session session;
    struct ifm_instant start;
    double most_s;
    bool sensors; /* that an energy pass can use */
};

/* What a cell takes: its parts, but for the blocks, which are few or many; `most` has what else may come. */
struct blocks_s {
    double expected, fewest, most;
};

static double seconds_since(struct ifm_instant start)
{
    return (double)ifm_clock_since(start).ns * 1e-9;
}

static bool has_time(const struct dry_look *look, double seconds)
{
    return seconds_since(look->start) + seconds <= look->most_s;
}

/* Seconds add up; memory is that of the largest cell. */
static void add(struct ifm_estimate *sum, const struct ifm_estimate *more)
{
    sum->seconds += more->seconds;
    sum->low += more->low;
    sum->high += more->high;
    sum->memory = more->memory > sum->memory ? more->memory : sum->memory;
}

static void add_up(struct ifm_estimate *estimate, struct blocks_s blocks)
{
    double others = 0;
    estimate->parts[IFM_PART_BLOCKS] = 0;
    for (int part = 0; part < IFM_PARTS; part++)
        others += estimate->parts[part];
    estimate->parts[IFM_PART_BLOCKS] = blocks.expected;
    estimate->seconds = others + blocks.expected;
    estimate->low = others + blocks.fewest;
    estimate->high = others + blocks.most;
}

/* `third_s`: of another window, where two suffice if they are alike. */
static double warm_up_s(const struct ifm_cell_run *cell, double *third_s)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    double window = 0, windows = 2;
    *third_s = 0;
    if (ifm_pass_is_warm(cell))
        return 0;
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        const struct ifm_arm_run *arm = &cell->arms[i];
        if (!ifm_plan_in_blocks(cell->plan, i))
            continue;
        double steps = (double)arm->samples * arm->inner;
        window += (steps + 1) * arm->step_ns * 1e-9;
        windows = fmax(windows, ceil((double)measure->warmup / steps));
    }
    /* The gate reads the clock after each window: it ends with the first one beyond its cap, not before the second. */
    double capped = fmax(2, ceil(ifm_warm_up_most_s(cell) / window));
    windows = fmin(windows, capped);
    *third_s = windows < 3 ? window : 0;
    return window * windows;
}

/* Rounds of ceilings: the first, the last, and those between blocks of so many seconds. */
static double rounds_s(const struct ifm_cell_run *cell, double blocks)
{
    double round = 0;
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        const struct ifm_arm_run *arm = &cell->arms[i];
        if (!ifm_plan_in_blocks(cell->plan, i))
            round += ((double)arm->samples * arm->inner + arm->lead) * arm->step_ns * 1e-9;
    }
    return round > 0 ? round * (2 + floor(blocks * IFM_ROUNDS_SHARE / round)) : 0;
}

/* What a block takes: by a few of them where there is time, else by the steps that calibration timed. */
static enum ifm_status run_pilot(const struct dry_look *look, struct ifm_pass_run *pass, double *block_s,
                                 struct ifm_error *error)
{
    struct ifm_instant start = ifm_clock_now();
    int blocks = 0;
    *block_s = ifm_cell_block_s(pass->cell);
    if (2 * *block_s > LONG_S || !has_time(look, 2 * *block_s))
        return IFM_OK;
    while (blocks < PILOT_BLOCKS && (blocks < 2 || (seconds_since(start) < PILOT_S && has_time(look, *block_s)))) {
        IFM_TRY(ifm_pass_block(pass, error));
        blocks++;
    }
    *block_s = seconds_since(start) / blocks;
    return IFM_OK;
}

static struct blocks_s expect(const struct ifm_stop *stop, const struct ifm_measure *measure, double block_s)
{
    double expected = ifm_stop_expected_blocks(stop, block_s);
    double fewest = (double)measure->blocks_min, most = fmax(fewest, ceil(measure->cap_s / block_s));
    if (measure->stop == IFM_STOP_GROUP)
        fewest = fmax(fewest, (double)ifm_stats_sequential_look(measure->blocks_max, 1));
    if (measure->stop == IFM_STOP_MDE && stop->blocks == 0 && 2 * block_s <= LONG_S)
        expected = fmin(most, (double)measure->blocks_max); /* nothing is known of their spread */
    if (measure->stop == IFM_STOP_REPEATS)
        fewest = most = expected;
    return (struct blocks_s){expected * block_s, fewest * block_s, most * block_s};
}

static enum ifm_status estimate_blocks(const struct dry_look *look, struct ifm_cell_run *cell,
                                       struct ifm_estimate *estimate, struct blocks_s *blocks, struct ifm_error *error)
{
    struct ifm_pass_run pass;
    double block_s = 0, gate_s = 0, rolls_s = 0, third_s, warm_s = warm_up_s(cell, &third_s);
    ifm_pass_init(&pass, cell, cell->pass);
    enum ifm_status status = run_pilot(look, &pass, &block_s, error);
    ifm_parts_turn(&cell->session->parts, IFM_PART_WARM_UP, NULL);
    if (status == IFM_OK)
        status = ifm_converge_estimate(cell, warm_s + cell->plan->measure.warmup_cap_s - ifm_warm_up_most_s(cell),
                                       &gate_s, &rolls_s, error);
    if (status == IFM_OK) {
        *blocks = expect(&pass.stop, &cell->plan->measure, block_s + rolls_s);
        blocks->most += third_s;
        estimate->cap_wanted_s = ifm_cell_cap_wanted_s(cell);
        estimate->parts[IFM_PART_WARM_UP] = warm_s + gate_s;
        estimate->parts[IFM_PART_CEILINGS] = rounds_s(cell, blocks->expected);
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
            seconds += ifm_pass_kinds[cell->plan->passes[i].kind]->expected_s(cell, &cell->plan->passes[i]);
    return seconds;
}

static enum ifm_status open_cell(struct dry_look *look, const struct ifm_cell *plan, struct ifm_estimate *estimate,
                                 struct ifm_error *error)
{
    struct ifm_cell_run cell;
    struct blocks_s blocks = {0};
    ifm_parts_open(&look->session.parts, IFM_PART_DATA, plan->name);
    IFM_TRY(ifm_cell_open(plan, look->device, &look->session, &cell, error));
    enum ifm_status status = ifm_cell_calibrate(&cell, NULL, error);
    ifm_parts_turn(&look->session.parts, IFM_PART_BLOCKS, NULL);
    memcpy(estimate->parts, look->session.parts.seconds, sizeof estimate->parts);
    estimate->parts[IFM_PART_CHECKS] *= 2; /* after the last block too */
    if (status == IFM_OK)
        status = estimate_blocks(look, &cell, estimate, &blocks, error);
    if (status == IFM_OK)
        estimate->parts[IFM_PART_LATER] = later_passes_s(&cell, look->sensors);
    ifm_cell_close(&cell);
    add_up(estimate, blocks);
    return status;
}

/* ---- cells that are like one that was opened ---- */

static double work_of(const struct ifm_cell *cell)
{
    double work = 0;
    for (size_t i = 0; i < cell->n_arms; i++) {
        const struct ifm_ledger *ledger = &cell->arms[i].ledger;
        work += ((double)ledger->bytes_read + (double)ledger->bytes_written) / BYTES_PER_S +
                (double)ledger->flops / FLOPS_PER_S;
    }
    return work;
}

static double ratio_of(double own, double other)
{
    return own > 0 && other > 0 ? own / other : 1;
}

static void scale(struct ifm_estimate *estimate, const struct ifm_cell *cell, const struct ifm_estimate *like,
                  const struct ifm_cell *other)
{
    double memory = ratio_of((double)estimate->memory, (double)like->memory);
    double work = ratio_of(work_of(cell), work_of(other)), cap_s = cell->measure.cap_s;
    double outside_s = like->seconds - like->parts[IFM_PART_BLOCKS];
    memcpy(estimate->parts, like->parts, sizeof estimate->parts);
    estimate->parts[IFM_PART_DATA] *= memory;
    estimate->parts[IFM_PART_CHECKS] *= work;
    estimate->parts[IFM_PART_CALIBRATION] *= fmax(work, 1);
    struct blocks_s blocks = {like->parts[IFM_PART_BLOCKS], like->low - outside_s, like->high - outside_s};
    if (cell->measure.stop == IFM_STOP_REPEATS)
        blocks = (struct blocks_s){blocks.expected * work, blocks.fewest * work, blocks.most * work};
    else if (work > 1 && blocks.fewest * work > cap_s)
        blocks.fewest = blocks.expected = blocks.most = blocks.fewest * work;
    estimate->scaled = true;
    add_up(estimate, blocks);
}

static enum ifm_status estimate_cell(struct dry_look *look, size_t index, struct ifm_estimate *cells,
                                     struct ifm_error *error)
{
    const struct ifm_cell *plan = &look->plan->cells[index];
    struct ifm_estimate *estimate = &cells[index];
    *estimate = (struct ifm_estimate){0};
    if (plan->unsupported[0] != '\0')
        return IFM_OK;
    estimate->memory = ifm_plan_memory(plan);
    for (size_t i = 0; i < index && !has_time(look, 0); i++) {
        const struct ifm_cell *other = &look->plan->cells[i];
        if (strcmp(other->workload, plan->workload) != 0 || other->unsupported[0] != '\0' || cells[i].scaled)
            continue;
        scale(estimate, plan, &cells[i], other);
        return IFM_OK;
    }
    return open_cell(look, plan, estimate, error);
}

enum ifm_status ifm_run_estimate(const struct ifm_plan *plan, const struct ifm_run_options *options,
                                 struct ifm_estimate *cells, struct ifm_estimate *total, struct ifm_error *error)
{
    const struct ifm_device_ops *ops = ifm_device_find(plan->device);
    struct dry_look look = {
        .plan = plan, .start = ifm_clock_now(), .most_s = options->look_s > 0 ? options->look_s : USUAL_LOOK_S};
    if (ops == NULL)
        return ifm_fail(error, IFM_MISSING, "device.kind", "", "this build has no device \"%s\"", plan->device);
    /* found before threads are pinned, as the run does */
    double start_s = ifm_energy_start_s(plan, &options->device, &look.sensors);
    IFM_TRY(ops->open(&options->device, &look.device, error));
    look.session =
        (struct ifm_session){.plan = plan,
                             .base = ops->mark(look.device),
                             .device = &options->device,
                             .parts = {.tell = options->progress.tell, .context = options->progress.context}};
    bool is_fake = strcmp(plan->device, "fake") == 0;
    double fixed_s = FIXED_S + (is_fake ? 0 : 2e-3 * IFM_LOAD_WINDOW_MS) + start_s;
    *total = (struct ifm_estimate){.seconds = fixed_s, .low = fixed_s, .high = fixed_s};
    enum ifm_status status = IFM_OK;
    for (size_t i = 0; i < plan->n_cells && status == IFM_OK; i++) {
        status = estimate_cell(&look, i, cells, error);
        add(total, &cells[i]);
    }
    ops->close(look.device);
    return status;
}
