/* The warm-up gate. */
#include "run/pass/warm_up.h"
#include "run/cell/watch.h"

#include "base/arena.h"
#include "base/order.h"
#include "device/fake.h"
#include "run/pass/pass.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of measure.cap, unless measure.warmup_cap was set (config/resolve.c). */
static const double USUAL_SHARE = 0.25;

void ifm_warm_up_init(struct ifm_warm_up *warm, struct ifm_cell_run *cell)
{
    *warm = (struct ifm_warm_up){.cell = cell,
                                 .now = ifm_zeros(cell->plan->n_arms, sizeof *warm->now),
                                 .before = ifm_zeros(cell->plan->n_arms, sizeof *warm->before),
                                 .scratch = ifm_zeros(cell->most_samples, sizeof *warm->scratch),
                                 .most_s = ifm_warm_up_most_s(cell),
                                 .start = cell->device->ops->mark(cell->device)};
}

void ifm_warm_up_free(struct ifm_warm_up *warm)
{
    free(warm->now);
    free(warm->before);
    free(warm->scratch);
    *warm = (struct ifm_warm_up){0};
}

/* Median duration of each arm's slot in the warm-up block just run. */
static void window_medians(struct ifm_cell_run *cell, double *medians, int64_t *scratch)
{
    const struct ifm_sample *samples = cell->samples;
    for (size_t i = 0; i < ifm_plan_count_in_blocks(cell->plan); i++) {
        uint32_t n = cell->slots[i].samples;
        for (uint32_t k = 0; k < n; k++)
            scratch[k] = samples[k].duration_ns;
        qsort(scratch, n, sizeof *scratch, ifm_by_i64);
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
    for (size_t i = 0; i < ifm_plan_count_in_blocks(cell->plan); i++)
        if (windows * cell->arms[i].samples * cell->arms[i].inner < wanted)
            return false;
    return true;
}

double ifm_warm_up_most_s(const struct ifm_cell_run *cell)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    bool asked = measure->stop == IFM_STOP_REPEATS || measure->warmup_cap_s > USUAL_SHARE * measure->cap_s * (1 + 1e-6);
    if (asked || cell->session == NULL || ifm_device_is_fake(cell->device))
        return measure->warmup_cap_s;
    const double *spent = cell->session->parts.seconds; /* checks come again behind the blocks */
    double left = (1 - 2 * IFM_ROUNDS_SHARE) * measure->cap_s - spent[IFM_PART_DATA] - 2 * spent[IFM_PART_CHECKS] -
                  spent[IFM_PART_CALIBRATION];
    return fmax(fmin(left, measure->warmup_cap_s), 0);
}

bool ifm_warm_up_wanted(const struct ifm_warm_up *warm)
{
    const uint64_t least = warm->steady ? 2 : 3; /* the first is the coldest: two others may be alike */
    return warm->windows < least ||
           ((!warm->steady || !all_warm(warm->cell, warm->windows, warm->cell->plan->measure.warmup)) &&
            warm->seconds < warm->most_s);
}

void ifm_warm_up_take(struct ifm_warm_up *warm)
{
    struct ifm_cell_run *cell = warm->cell;
    size_t n = ifm_plan_count_in_blocks(cell->plan);
    memcpy(warm->before, warm->now, n * sizeof *warm->now);
    window_medians(cell, warm->now, warm->scratch);
    warm->steady = warm->windows > 0 && all_steady(warm->now, warm->before, n, cell->plan->measure.steady_tolerance);
    warm->seconds = (double)(cell->device->ops->mark(cell->device).ns - warm->start.ns) * 1e-9;
    warm->windows++;
}

enum ifm_status ifm_warm_up_log(const struct ifm_warm_up *warm, struct ifm_error *error)
{
    const struct ifm_cell_run *cell = warm->cell;
    double tolerance = cell->plan->measure.steady_tolerance;
    IFM_TRY(ifm_watch_span(warm->cell, 1e9 * warm->seconds, error));
    for (size_t i = 0; i < ifm_plan_count_in_blocks(cell->plan); i++) {
        const struct ifm_arm_run *arm = &cell->arms[i];
        bool steady = is_steady(warm->now[i], warm->before[i], tolerance);
        IFM_TRY(IFM_FACT(cell->session, error, warmup, steady, .cell = cell->plan->name, .arm = arm->plan->name,
                         .steps = (int64_t)(warm->windows * arm->samples * arm->inner),
                         .windows = (int64_t)warm->windows, .steady = steady, .tolerance = tolerance,
                         .seconds = warm->seconds, .last_median_ns = warm->now[i] / arm->inner,
                         .previous_median_ns = warm->before[i] / arm->inner));
    }
    return IFM_OK;
}
