/* One slot.
 *
 * Hot mode: the samples follow each other without a gap, so that one clock reading ends a sample and starts the next;
 * each sample contains exactly one reading. Cold mode: every cache level is evicted before each sample, which therefore
 * needs two readings. The untimed first step brings the arm's own data into the caches after another arm has run. */
#include "run/slot.h"

static void time_hot(struct ifm_cell_run *cell, const struct ifm_arm_run *arm)
{
    struct ifm_device *device = cell->device;
    struct ifm_instant (*const mark)(struct ifm_device *) = device->ops->mark;
    void (*const step)(struct ifm_workload_state *, uint64_t) = arm->workload->step;
    struct ifm_instant *marks = cell->marks;
    step(arm->state, 1);
    marks[0] = mark(device);
    for (uint32_t i = 1; i <= arm->samples; i++) {
        step(arm->state, arm->inner);
        marks[i] = mark(device);
    }
}

static enum ifm_status time_cold(struct ifm_cell_run *cell, const struct ifm_arm_run *arm, struct ifm_error *error)
{
    struct ifm_device *device = cell->device;
    for (uint32_t i = 0; i < arm->samples; i++) {
        IFM_TRY(device->ops->flush(device, error));
        cell->marks[2 * i] = device->ops->mark(device);
        arm->workload->step(arm->state, arm->inner);
        cell->marks[2 * i + 1] = device->ops->mark(device);
    }
    return IFM_OK;
}

/* Marks -> samples, in nanoseconds since the start of the run. */
static void read_marks(const struct ifm_cell_run *cell, const struct ifm_arm_run *arm, bool cold, struct ifm_slot *slot,
                       struct ifm_sample *samples)
{
    int64_t base = cell->session->offset_ns - cell->session->base.ns;
    size_t stride = cold ? 2 : 1;
    for (uint32_t i = 0; i < arm->samples; i++) {
        samples[i].start_ns = base + cell->marks[stride * i].ns;
        samples[i].duration_ns = cell->marks[stride * i + 1].ns - cell->marks[stride * i].ns;
    }
    slot->start_ns = samples[0].start_ns;
    slot->end_ns = samples[arm->samples - 1].start_ns + samples[arm->samples - 1].duration_ns;
}

enum ifm_status ifm_slot_run(struct ifm_cell_run *cell, unsigned arm_index, struct ifm_slot *slot,
                             struct ifm_sample *samples, int64_t *columns, struct ifm_error *error)
{
    const struct ifm_arm_run *arm = &cell->arms[arm_index];
    bool cold = cell->plan->measure.cache == IFM_CACHE_COLD;
    enum ifm_status status = IFM_OK;
    cell->device->ops->hold(cell->device, cell->plan->threads);
    for (size_t i = 0; i < cell->n_instruments; i++)
        cell->instruments[i].instrument->start(cell->instruments[i].state);
    if (cold)
        status = time_cold(cell, arm, error);
    else
        time_hot(cell, arm);
    for (size_t i = cell->n_instruments; i-- > 0;)
        cell->instruments[i].instrument->stop(cell->instruments[i].state);
    cell->device->ops->release(cell->device);
    IFM_TRY(status);
    for (size_t i = 0; i < cell->n_instruments; i++)
        cell->instruments[i].instrument->collect(cell->instruments[i].state,
                                                 columns + cell->instruments[i].first_column);
    read_marks(cell, arm, cold, slot, samples);
    slot->arm = arm_index;
    slot->samples = arm->samples;
    slot->inner = arm->inner;
    slot->columns = columns;
    return IFM_OK;
}
