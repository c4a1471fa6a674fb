/* Watching the machine between slots. */
#include "run/cell/watch.h"

#include "base/log.h"
#include "device/cpu.h"
#include "device/fake.h"
#include "run/interrupt.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The coarsest clock of Linux ticks every 10 ms. Where the other clock stands still too, readings are counted. */
static const int64_t STILL_NS = 100000000;
enum { MOST_READINGS = 50000000 };
/* Two clocks may differ over a block by this share, plus the time that a thread may wait for a CPU between two
 * readings. */
static const double CLOCK_SHARE = 0.05, CLOCK_SLACK_NS = 1e7;
static const char clock_hint[] =
    "choose another clock source (/sys/devices/system/clocksource/clocksource0), or measure on another machine";

/* Derive refuses the whole cell for it: the same clock took the earlier samples. */
static enum ifm_status fail_clock(struct ifm_cell_run *cell, const char *reason, struct ifm_error *error)
{
    IFM_TRY(IFM_FACT(cell->session, error, clock_broken, false, .cell = cell->plan->name, .reason = reason));
    return ifm_fail(error, IFM_INVALID, cell->plan->name, clock_hint, "%s", reason);
}

enum ifm_status ifm_watch_clock(struct ifm_cell_run *cell, struct ifm_error *error)
{
    struct ifm_device *device = cell->device;
    int64_t first = device->ops->mark(device).ns, now = first;
    if (ifm_device_is_fake(device))
        return IFM_OK;
    int64_t began_ns = ifm_clock_boot_ns();
    for (int i = 1; i < MOST_READINGS && now == first; i++) {
        now = device->ops->mark(device).ns;
        if (i % 4096 == 0 && ifm_clock_boot_ns() - began_ns > STILL_NS)
            break;
    }
    if (now > first)
        return IFM_OK;
    return fail_clock(cell,
                      now == first ? "the clock stands still (CLOCK_MONOTONIC_RAW)"
                                   : "the clock runs backwards (CLOCK_MONOTONIC_RAW)",
                      error);
}

static enum ifm_status ran_backwards(struct ifm_cell_run *cell, double by_ns, struct ifm_error *error)
{
    char reason[160];
    snprintf(reason, sizeof reason, "the clock ran backwards by %.0f ns while it measured (CLOCK_MONOTONIC_RAW)",
             by_ns);
    return fail_clock(cell, reason, error);
}

enum ifm_status ifm_watch_span(struct ifm_cell_run *cell, double span_ns, struct ifm_error *error)
{
    return span_ns < 0 ? ran_backwards(cell, -span_ns, error) : IFM_OK;
}

/* Marks of a device that works apart lie between its work. */
static enum ifm_status fail_idle(struct ifm_cell_run *cell, unsigned index, struct ifm_error *error)
{
    const struct ifm_arm *arm = cell->arms[index].plan;
    cell->session->arm_at_fault = true;
    return ifm_fail(error, IFM_INVALID, arm->name, "a step puts its work on the stream of the device",
                    "nothing of arm %s was at work on the GPU in a sample", arm->name);
}

enum ifm_status ifm_watch_slot(struct ifm_cell_run *cell, const struct ifm_slot *slot, const struct ifm_sample *samples,
                               int64_t earliest_ns, struct ifm_error *error)
{
    int64_t at = slot->start_ns, back_ns = earliest_ns - slot->start_ns;
    for (uint32_t i = 0; i < slot->samples && back_ns <= 0; i++) {
        back_ns = at > samples[i].start_ns ? at - samples[i].start_ns : -samples[i].duration_ns;
        at = samples[i].start_ns + samples[i].duration_ns;
    }
    if (back_ns > 0)
        return ran_backwards(cell, (double)back_ns, error);
    for (uint32_t i = 0; i < slot->samples && cell->device->ops->resolve != NULL; i++)
        if (samples[i].duration_ns == 0)
            return fail_idle(cell, slot->arm, error);
    if (slot->end_ns == slot->start_ns && !ifm_device_is_fake(cell->device))
        return fail_clock(cell, "the clock stood still over a whole slot (CLOCK_MONOTONIC_RAW)", error);
    return IFM_OK;
}

/* Both clocks at one instant, as nearly as can be. */
static void read_both(struct ifm_device *device, struct ifm_watch *out)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 3; i++) {
        int64_t before = device->ops->mark(device).ns, boot = ifm_clock_boot_ns();
        int64_t took = device->ops->mark(device).ns - before;
        if (took >= 0 && took < least) {
            least = took;
            *out = (struct ifm_watch){before, boot};
        }
    }
}

void ifm_watch_begin(const struct ifm_cell_run *cell, struct ifm_watch *watch)
{
    *watch = (struct ifm_watch){0};
    (void)ifm_was_continued(); /* before the block */
    if (!ifm_device_is_fake(cell->device))
        read_both(cell->device, watch);
}

static enum ifm_status mark(struct ifm_cell_run *cell, uint32_t block, const char *reason, struct ifm_error *error)
{
    ifm_warn("cell %s, block %u: %s; the block is marked", cell->plan->name, block, reason);
    return IFM_FACT(cell->session, error, disturbed, false, .cell = cell->plan->name, .pass = ifm_pass_name(cell->pass),
                    .block = block, .reason = reason);
}

enum ifm_status ifm_watch_end(struct ifm_cell_run *cell, const struct ifm_watch *watch, uint32_t block,
                              struct ifm_error *error)
{
    char reason[160];
    struct ifm_watch now = {0};
    if (ifm_was_continued())
        IFM_TRY(mark(cell, block, "inferometer itself was stopped (SIGSTOP, or Ctrl-Z) and continued", error));
    if (ifm_device_is_fake(cell->device))
        return IFM_OK;
    read_both(cell->device, &now);
    double clock_ns = (double)(now.clock_ns - watch->clock_ns), boot_ns = (double)(now.boot_ns - watch->boot_ns);
    if (fabs(clock_ns - boot_ns) > CLOCK_SHARE * fmin(clock_ns, boot_ns) + CLOCK_SLACK_NS) {
        snprintf(reason, sizeof reason,
                 "the clock counted %.3f s, the clock since boot %.3f s: this machine was suspended, stopped or moved",
                 clock_ns * 1e-9, boot_ns * 1e-9);
        IFM_TRY(mark(cell, block, reason, error));
    }
    bool back = true;
    int cpu = cell->displaced > 0 ? cell->displaced - 1 : -1;
    int own = ifm_cpu_displaced(cell->device, &back);
    cell->displaced = 0;
    if (own < 0 && cpu < 0)
        return IFM_OK;
    cpu = own < 0 ? cpu : own;
    snprintf(reason, sizeof reason, "a thread was moved away from CPU %d while it measured", cpu);
    if (back)
        return mark(cell, block, reason, error);
    return ifm_fail(error, IFM_INVALID, cell->plan->name,
                    "bring the CPU online, or allow it again (taskset, cpuset), then measure into a new folder",
                    "CPU %d is gone: a thread was moved away from it, and cannot go back", cpu);
}
