/* Warm-up, blocks, stop. */
#include "run/pass.h"

#include "run/arm.h"
#include "run/interrupt.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ifm_status append(struct ifm_pass_run *pass, size_t n_slots, struct ifm_error *error)
{
    size_t n_samples = 0;
    for (size_t i = 0; i < n_slots; i++)
        n_samples += pass->cell->slots[i].samples;
    if (pass->recorder != NULL)
        IFM_TRY(ifm_recorder_append(pass->recorder, pass->cell->slots, n_slots, pass->cell->samples, n_samples, error));
    pass->next_block++;
    return IFM_OK;
}

/* Run the slots of one block, in `order`; nothing is on disk yet. */
static enum ifm_status run_slots(struct ifm_pass_run *pass, const unsigned *order, size_t n, enum ifm_phase phase,
                                 struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    struct ifm_sample *samples = cell->samples;
    for (size_t i = 0; i < n; i++) {
        if (ifm_interrupted())
            return ifm_fail(error, IFM_INTERRUPTED, cell->plan->name, "go on with --resume",
                            "interrupted; every whole block is kept");
        struct ifm_slot *slot = &cell->slots[i];
        IFM_TRY(ifm_arm_slot(cell, order[i], slot, samples, cell->columns + i * cell->pass->n_columns, error));
        slot->block = pass->next_block;
        slot->phase = phase;
        samples += slot->samples;
    }
    return IFM_OK;
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Median duration of each arm's slot in the warm-up block just run. */
static void window_medians(struct ifm_cell_run *cell, double *medians, int64_t *scratch)
{
    const struct ifm_sample *samples = cell->samples;
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        uint32_t n = cell->slots[i].samples;
        for (uint32_t k = 0; k < n; k++)
            scratch[k] = samples[k].duration_ns;
        qsort(scratch, n, sizeof *scratch, compare_i64);
        medians[i] = (double)scratch[n / 2];
        samples += n;
    }
}

/* Steady: the arm's median differs from that of the window before by no more than the tolerance, the clock's tick
 * aside. */
static bool is_steady(double now, double before, double tolerance)
{
    return fabs(now - before) <= tolerance * before + 2;
}

static bool all_steady(const double *now, const double *before, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        if (!is_steady(now[i], before[i], tolerance))
            return false;
    return true;
}

static bool all_warm(const struct ifm_cell_run *cell, uint64_t windows, uint64_t wanted)
{
    for (size_t i = 0; i < cell->plan->n_arms; i++)
        if (windows * cell->arms[i].samples * cell->arms[i].inner < wanted)
            return false;
    return true;
}

static enum ifm_status log_warm_up(const struct ifm_cell_run *cell, uint64_t windows, double seconds, const double *now,
                                   const double *before, struct ifm_error *error)
{
    double tolerance = cell->plan->measure.steady_tolerance;
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        const struct ifm_arm_run *arm = &cell->arms[i];
        bool steady = is_steady(now[i], before[i], tolerance);
        json_t *meta = json_pack("{s:s, s:s, s:I, s:I, s:b, s:f, s:f, s:f, s:f}", "cell", cell->plan->name, "arm",
                                 arm->plan->name, "steps", (json_int_t)(windows * arm->samples * arm->inner), "windows",
                                 (json_int_t)windows, "steady", (int)steady, "tolerance", tolerance, "seconds", seconds,
                                 "last_median_ns", now[i] / arm->inner, "previous_median_ns", before[i] / arm->inner);
        IFM_TRY(ifm_fact_new(cell->session, "warmup", steady, meta, error));
    }
    return IFM_OK;
}

static enum ifm_status warm_until_steady(struct ifm_pass_run *pass, double *now, double *before, unsigned *order,
                                         int64_t *scratch, struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    const struct ifm_measure *measure = &cell->plan->measure;
    size_t n = cell->plan->n_arms;
    struct ifm_device *device = cell->device;
    struct ifm_instant start = device->ops->mark(device);
    uint64_t windows = 0;
    bool steady = false;
    double seconds = 0;
    for (size_t i = 0; i < n; i++)
        order[i] = (unsigned)i;
    /* At least two windows, so that there is something to compare; then until warm and steady, or out of time. */
    while (windows < 2 || ((!steady || !all_warm(cell, windows, measure->warmup)) && seconds < measure->warmup_cap_s)) {
        IFM_TRY(run_slots(pass, order, n, IFM_PHASE_WARMUP, error));
        memcpy(before, now, n * sizeof *now);
        window_medians(cell, now, scratch);
        IFM_TRY(append(pass, n, error));
        steady = windows > 0 && all_steady(now, before, n, measure->steady_tolerance);
        seconds = (double)(device->ops->mark(device).ns - start.ns) * 1e-9;
        windows++;
    }
    return log_warm_up(cell, windows, seconds, now, before, error);
}

enum ifm_status ifm_pass_warm_up(struct ifm_pass_run *pass, struct ifm_error *error)
{
    size_t n = pass->cell->plan->n_arms;
    double *medians = calloc(2 * n, sizeof *medians);
    unsigned *order = calloc(n, sizeof *order);
    int64_t *scratch = calloc(pass->cell->most_samples, sizeof *scratch);
    enum ifm_status status = IFM_INTERNAL;
    if (medians != NULL && order != NULL && scratch != NULL)
        status = warm_until_steady(pass, medians, medians + n, order, scratch, error);
    else
        ifm_fail(error, IFM_INTERNAL, pass->cell->plan->name, "", "out of memory");
    free(medians);
    free(order);
    free(scratch);
    return status;
}

enum ifm_status ifm_pass_block(struct ifm_pass_run *pass, struct ifm_stop *stop, struct ifm_error *error)
{
    const struct ifm_cell *cell = pass->cell->plan;
    unsigned order[2 * IFM_MOST_ARMS];
    ifm_plan_order(cell, pass->measured, order);
    IFM_TRY(ifm_arms_place(pass->cell, pass->measured, error));
    IFM_TRY(run_slots(pass, order, 2 * cell->n_arms, IFM_PHASE_MEASURE, error));
    IFM_TRY(append(pass, 2 * cell->n_arms, error));
    ifm_stop_add(stop, pass->cell->slots, pass->cell->samples);
    pass->measured++;
    return IFM_OK;
}

static enum ifm_status log_stop(struct ifm_pass_run *pass, const struct ifm_stop *stop, const char *reason,
                                double elapsed_s, struct ifm_error *error)
{
    double mde = ifm_stop_mde(stop);
    json_t *meta = json_pack("{s:s, s:s, s:I, s:f, s:o, s:f}", "cell", pass->cell->plan->name, "reason", reason,
                             "blocks", (json_int_t)pass->measured, "elapsed_s", elapsed_s, "mde",
                             isfinite(mde) ? json_real(mde) : json_null(), "wanted_mde", ifm_stop_wanted(stop));
    json_t *looked = ifm_stop_facts(stop);
    json_object_update(meta, looked);
    json_decref(looked);
    return ifm_fact_new(pass->cell->session, "stop", true, meta, error);
}

enum ifm_status ifm_pass_measure(struct ifm_pass_run *pass, struct ifm_stop *stop, struct ifm_error *error)
{
    /* The device's clock, so that a scripted device stops at the same block everywhere. */
    struct ifm_device *device = pass->cell->device;
    struct ifm_instant last = device->ops->mark(device);
    double elapsed_s = pass->earlier_s;
    const char *reason = ifm_stop_reason(stop, elapsed_s);
    while (reason == NULL) {
        IFM_TRY(ifm_pass_block(pass, stop, error));
        struct ifm_instant now = device->ops->mark(device);
        double block_s = (double)(now.ns - last.ns) * 1e-9;
        last = now;
        elapsed_s += block_s;
        reason = ifm_stop_reason(stop, elapsed_s);
        if (pass->progress != NULL)
            pass->progress(pass->context, pass->measured, ifm_stop_expected_blocks(stop, block_s), block_s);
    }
    return log_stop(pass, stop, reason, elapsed_s, error);
}
