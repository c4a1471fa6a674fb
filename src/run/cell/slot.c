/* One slot.
 *
 * Hot mode: the samples follow each other without a gap, so that one clock reading ends a sample and starts the next;
 * each sample contains exactly one reading. Samples apart (cold mode, where every cache level is evicted before each
 * one, and arms with hooks of their own) need two readings each. The untimed first step brings the arm's own data into
 * the caches after another arm has run; long steps of a slot that it would hardly change go without. */
#include "run/cell/slot.h"

#include "instrument/nvtx.h"
#include "run/cell/instruments.h"
#include "run/interrupt.h"
#include <string.h>

/* Not inlined, so that a test can count the instructions of the timed part alone. */
__attribute__((noinline)) static enum ifm_status time_hot(struct ifm_cell_run *cell, const struct ifm_arm_run *arm,
                                                          struct ifm_error *error)
{
    struct ifm_device *device = cell->device;
    struct ifm_instant (*const mark)(struct ifm_device *) = device->ops->mark;
    void (*const step)(void *, uint64_t) = arm->implementation->step;
    struct ifm_instant *marks = cell->marks;
    if (arm->lead > 0)
        step(arm->state, arm->lead);
    marks[0] = mark(device);
    for (uint32_t i = 1; i <= arm->samples; i++) {
        step(arm->state, arm->inner);
        marks[i] = mark(device);
    }
    return device->ops->resolve == NULL ? IFM_OK : device->ops->resolve(device, marks, arm->samples + 1U, error);
}

static const double OVER_LLC = 4; /* so many times the last-level caches stay in no cache */

bool ifm_slot_is_cold(const struct ifm_cell_run *cell, const struct ifm_arm_run *arm)
{
    const struct ifm_machine *machine =
        cell->session == NULL || cell->session->plan == NULL ? NULL : cell->session->plan->machine;
    const double bytes = (double)arm->plan->working_set;
    if (cell->plan->measure.cache != IFM_CACHE_COLD)
        return false;
    if (ifm_plan_in_blocks(cell->plan, (size_t)(arm - cell->arms)))
        return true;
    return bytes > 0 && (machine == NULL || bytes < OVER_LLC * (double)ifm_machine_llc_total(machine));
}

/* Samples with something untimed between them: caches are evicted, and the workload's own hooks run. */
static enum ifm_status time_apart(struct ifm_cell_run *cell, const struct ifm_arm_run *arm, bool cold,
                                  struct ifm_error *error)
{
    struct ifm_device *device = cell->device;
    for (uint32_t i = 0; i < arm->samples; i++) {
        const bool last = i + 1 == arm->samples;
        if (arm->implementation->before != NULL)
            IFM_TRY(arm->implementation->before(arm->state, error));
        if (cold)
            IFM_TRY(device->ops->flush(device, error));
        if (arm->plan->gaps) /* a program may run for hours */
            IFM_TRY(ifm_interrupt_check(cell->plan->name, error));
        ifm_nvtx_push(IFM_NVTX_SAMPLE);
        if (last)
            ifm_instruments_start(cell, IFM_INSTRUMENTS_OF_SAMPLE);
        cell->marks[2 * i] = device->ops->mark(device);
        arm->implementation->step(arm->state, arm->inner);
        cell->marks[2 * i + 1] = device->ops->mark(device);
        if (last)
            ifm_instruments_stop(cell, IFM_INSTRUMENTS_OF_SAMPLE);
        ifm_nvtx_pop();
        if (arm->implementation->after != NULL)
            IFM_TRY(arm->implementation->after(arm->state, error));
    }
    return device->ops->resolve == NULL ? IFM_OK
                                        : device->ops->resolve(device, cell->marks, 2 * (size_t)arm->samples, error);
}

void ifm_slot_read_marks(const struct ifm_cell_run *cell, const struct ifm_instant *marks, bool apart,
                         struct ifm_slot *slot, struct ifm_sample *samples)
{
    int64_t base = cell->session->offset_ns - cell->session->base.ns;
    for (uint32_t i = 0; i < slot->samples; i++, marks += apart ? 2 : 1)
        samples[i] = (struct ifm_sample){base + marks[0].ns, marks[1].ns - marks[0].ns};
    slot->start_ns = samples[0].start_ns;
    slot->end_ns = samples[slot->samples - 1].start_ns + samples[slot->samples - 1].duration_ns;
}

void ifm_slot_collect_own(const struct ifm_cell_run *cell, const struct ifm_arm_run *arm, int64_t *columns)
{
    size_t own = cell->pass->n_columns - cell->own_columns;
    for (size_t i = cell->own_columns; i < cell->pass->n_columns; i++)
        columns[i] = IFM_ABSENT;
    if (own > 0 && arm->implementation->collect != NULL && arm->workload->n_columns == own &&
        strcmp(arm->workload->name, cell->plan->workload) == 0)
        arm->implementation->collect(arm->state, columns + cell->own_columns);
}

void ifm_slot_start(struct ifm_cell_run *cell, bool apart)
{
    cell->device->ops->hold(cell->device, cell->plan->threads);
    ifm_instruments_start(cell, apart ? IFM_INSTRUMENTS_OF_SLOT : IFM_INSTRUMENTS_ALL);
}

void ifm_slot_stop(struct ifm_cell_run *cell, bool apart)
{
    ifm_instruments_stop(cell, apart ? IFM_INSTRUMENTS_OF_SLOT : IFM_INSTRUMENTS_ALL);
    cell->device->ops->release(cell->device);
}

void ifm_slot_collect(struct ifm_cell_run *cell, unsigned arm_index, struct ifm_slot *slot, struct ifm_sample *samples,
                      int64_t *columns)
{
    const struct ifm_arm_run *arm = &cell->arms[arm_index];
    bool apart = ifm_slot_is_cold(cell, arm) || arm->plan->gaps;
    ifm_instruments_collect(cell, columns);
    ifm_slot_collect_own(cell, arm, columns);
    slot->arm = arm_index;
    slot->samples = arm->samples;
    slot->inner = arm->inner;
    slot->columns = columns;
    ifm_slot_read_marks(cell, cell->marks, apart, slot, samples);
}

enum ifm_status ifm_slot_run(struct ifm_cell_run *cell, unsigned arm_index, struct ifm_slot *slot,
                             struct ifm_sample *samples, int64_t *columns, struct ifm_error *error)
{
    const struct ifm_arm_run *arm = &cell->arms[arm_index];
    bool cold = ifm_slot_is_cold(cell, arm), apart = cold || arm->plan->gaps;
    enum ifm_status status = IFM_OK;
    if (arm->implementation->spoil != NULL)
        arm->implementation->spoil(arm->state, false);
    ifm_slot_collect_own(cell, arm, columns); /* of calibration, checks and warm-up: thrown away */
    ifm_slot_start(cell, apart);
    ifm_nvtx_push(arm->plan->name);
    if (apart)
        status = time_apart(cell, arm, cold, error);
    else
        status = time_hot(cell, arm, error);
    ifm_nvtx_pop();
    ifm_slot_stop(cell, apart);
    IFM_TRY(status);
    ifm_slot_collect(cell, arm_index, slot, samples, columns);
    return IFM_OK;
}
