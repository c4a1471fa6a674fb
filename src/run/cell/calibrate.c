/* Calibrating a cell. */
#include "run/cell/calibrate.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/order.h"
#include "base/text.h"
#include "device/fake.h"
#include "run/cell/arm.h"
#include "run/cell/slot.h"
#include "run/cell/watch.h"
#include "run/interrupt.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One clock reading costs about 25 ns on a good machine: a sample of 100 readings keeps its share at a percent. */
static const double CLOCK_READS_PER_SAMPLE = 100;
enum { READS = 1000 }; /* of the clock */
enum { FEWEST_FOR_A_MEDIAN = 5 };
static const double BOUNDS_PER_SLOT = 30, SHORT_NS = 1e8, ENOUGH_NS = 2e7;
enum { BOUNDS_TRIES = 5 };
enum { MANY_PAIRS = 10 };
enum { LEAD_PAYS = 18 };    /* from so many samples on an untimed step before them costs little beside them */
enum { COLD_SAMPLES = 12 }; /* the eviction before the first lies between the slots: a small part of them all */
static const double REFILL_BYTES_PER_NS = 5; /* how fast caches are filled again, at least */
/* Blocks that the cap holds, where steps are short enough; then it is passed by a small part of it at most. */
enum { CAP_BLOCKS = 12 };
/* A round of ceilings is no long interruption. Of what cores do by themselves the fastest sample counts, of memory a
 * slot. */
static const double CEILING_SLOT_NS = 2e7, CORES_SLOT_NS = 8e6;
enum { CORES_SAMPLES = 4 };
static const double AGAIN_TIMES = 2, AGAIN_NS = 2e9;
enum { ALIKE = 4 }; /* times as many runs in a slot, at most, of programs that take about as long */
static const double KEPT_LEAST = 0x1p27; /* of a guest's caches, whatever it is told */
enum { ENOUGH_SAMPLES_PER_SLOT = 1000, MOST_SAMPLES_PER_SLOT = 1000000, MOST_INNER = 1 << 30 };

/* For a device whose marks are tickets: the time that one more mark adds, and the smallest difference between two such
 * gaps. If the device fails here, the first slot fails too and reports it. */
static double read_tickets(struct ifm_device *device, double *tick_ns)
{
    struct ifm_instant marks[READS];
    int64_t gaps[READS - 1], tick = INT64_MAX;
    struct ifm_error ignored;
    device->ops->hold(device, 1);
    for (int i = 0; i < READS; i++)
        marks[i] = device->ops->mark(device);
    device->ops->release(device);
    *tick_ns = 1;
    if (device->ops->resolve(device, marks, READS, &ignored) != IFM_OK)
        return 1;
    for (int i = 0; i < READS - 1; i++)
        gaps[i] = marks[i + 1].ns - marks[i].ns;
    qsort(gaps, READS - 1, sizeof *gaps, ifm_by_i64);
    for (int i = 0; i < READS - 2; i++) /* differences of 1 ns come from rounding */
        if (gaps[i + 1] - gaps[i] > 1 && gaps[i + 1] - gaps[i] < tick)
            tick = gaps[i + 1] - gaps[i];
    *tick_ns = tick == INT64_MAX ? 1 : (double)tick;
    return (double)(marks[READS - 1].ns - marks[0].ns) / (READS - 1);
}

double ifm_cell_read_clock(struct ifm_device *device, double *tick_ns)
{
    if (device->ops->resolve != NULL)
        return read_tickets(device, tick_ns);
    struct ifm_instant start = device->ops->mark(device), last = start;
    int64_t tick = INT64_MAX;
    for (int i = 0; i < READS; i++) {
        struct ifm_instant now = device->ops->mark(device);
        if (now.ns > last.ns && now.ns - last.ns < tick)
            tick = now.ns - last.ns;
        last = now;
    }
    *tick_ns = tick == INT64_MAX ? 1 : (double)tick;
    return (double)(last.ns - start.ns) / READS;
}

static uint32_t clamp_u32(double number, double low, double high)
{
    return (uint32_t)(number < low ? low : number > high ? high : number);
}

/* With a fixed number of repeats, the samples of a slot divide half of them (a block has two slots of an arm), and many
 * blocks remain, which intervals are made of: exactly the wanted number is taken. Where only slots too small for a
 * median divide it, slots keep their size and the last block rounds the repeats up. */
static uint32_t dividing(const struct ifm_measure *measure, uint32_t wanted)
{
    bool few = measure->slot_steps > 0 || measure->blocks_min > IFM_MANY_BLOCKS;
    uint64_t blocks = few ? measure->blocks_min : IFM_MANY_BLOCKS;
    uint64_t half = (measure->repeats + 1) / 2, most = half / blocks > 0 ? half / blocks : half / measure->blocks_min;
    uint64_t usual = measure->slot_steps > 0 ? measure->slot_steps : FEWEST_FOR_A_MEDIAN;
    uint64_t least = usual < most ? usual : most;
    uint32_t best = 1;
    for (uint32_t divisor = 1; divisor <= wanted && divisor <= most; divisor++)
        if (half % divisor == 0)
            best = divisor;
    return best < least ? (uint32_t)least : best;
}

/* With the eviction before it, which takes longer than most steps. */
static double sample_ns_of(const struct ifm_cell_run *cell, const struct ifm_arm_run *arm, double clock_ns)
{
    return arm->step_ns * arm->inner + clock_ns + (ifm_slot_is_cold(cell, arm) ? cell->flush_ns : 0);
}

/* What begins and ends slots stays a small part of them, but for a machine that is too busy to try it. */
static double shortest_slot_ns(const struct ifm_cell_run *cell)
{
    return fmax(1e9 * cell->plan->measure.slot_min_s, fmin(BOUNDS_PER_SLOT * cell->bounds_ns, ENOUGH_NS));
}

/* The longest slot with which the cap holds its blocks; infinite where the configuration says how many samples. */
static double longest_slot_ns(const struct ifm_cell_run *cell)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    double slots = 2 * (double)ifm_plan_count_in_blocks(cell->plan) * fmax(CAP_BLOCKS, (double)measure->blocks_min);
    if (measure->slot_steps > 0 || measure->stop == IFM_STOP_REPEATS)
        return INFINITY;
    return fmax(1e9 * measure->cap_s / slots, shortest_slot_ns(cell));
}

static bool is_of_cores(const struct ifm_cell_run *cell, const struct ifm_arm_run *arm)
{
    const struct ifm_ledger *ledger = &arm->plan->ledger;
    return !ifm_plan_in_blocks(cell->plan, (size_t)(arm - cell->arms)) && cell->device->ops->resolve == NULL &&
           (ledger->bytes_read + ledger->bytes_written == 0 || arm->plan->ceiling >= IFM_CEILING_L1);
}

/* The fewest samples that serve the arm. Slots are short, so that pairs are many and what changes on the machine from
 * one moment to the next meets all arms alike. With fewer samples than LEAD_PAYS none of them is spent on filling the
 * caches again after another arm; then they are so many that this is no more than a percent of them, unless the cap is
 * too short for that. */
static double fewest_samples(const struct ifm_cell_run *cell, const struct ifm_arm_run *arm, double sample_ns)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    if (measure->slot_steps > 0)
        return (double)measure->slot_steps;
    if (ifm_slot_is_cold(cell, arm))
        return fmax(1, fmin(COLD_SAMPLES, floor(longest_slot_ns(cell) / sample_ns)));
    if (is_of_cores(cell, arm))
        return CORES_SAMPLES;
    double fewest = ceil(shortest_slot_ns(cell) / sample_ns), refill_ns = 0;
    /* A plug-in that does not say what it works on may leave and find anything in the caches. */
    bool unknown = arm->workload != NULL && arm->workload->plugin != NULL && arm->plan->working_set == 0;
    if (fewest >= LEAD_PAYS || unknown || cell->device->ops->resolve != NULL) /* which always has one */
        return fmax(fewest, fmin(LEAD_PAYS, fmax(floor(longest_slot_ns(cell) / sample_ns), 1)));
    if (cell->plan->cache_resident && !arm->plan->gaps)
        refill_ns = (double)arm->plan->working_set / REFILL_BYTES_PER_NS;
    fewest = fmax(fewest, ceil(100 * refill_ns / sample_ns));
    return fmax(fmin(fmin(fewest, LEAD_PAYS), floor(longest_slot_ns(cell) / sample_ns)), 1);
}

/* Steps in a sample, and the shortest slot that serves the arm, in ns. */
static double choose_inner(const struct ifm_cell_run *cell, struct ifm_arm_run *arm, double clock_ns)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    double shortest = CLOCK_READS_PER_SAMPLE * clock_ns;
    /* a second step would find warm caches, or want its hooks */
    if (arm->plan->fixed_inner || arm->plan->gaps || ifm_slot_is_cold(cell, arm))
        arm->inner = 1;
    else if (measure->inner > 0 && ifm_plan_in_blocks(cell->plan, (size_t)(arm - cell->arms)))
        arm->inner = clamp_u32((double)measure->inner, 1, MOST_INNER);
    else
        arm->inner = clamp_u32(ceil(shortest / arm->step_ns), 1, MOST_INNER);
    double sample_ns = sample_ns_of(cell, arm, clock_ns);
    return fmax(fewest_samples(cell, arm, sample_ns) * sample_ns, shortest_slot_ns(cell));
}

/* Samples in a slot of so many ns, with a limit for short steps that must each be a sample. */
static void choose_samples(const struct ifm_cell_run *cell, struct ifm_arm_run *arm, double clock_ns, double slot_ns)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    double most = fmax((double)measure->slot_steps, ENOUGH_SAMPLES_PER_SLOT);
    double sample_ns = sample_ns_of(cell, arm, clock_ns), fewest = fmin(fewest_samples(cell, arm, sample_ns), most);
    double fitting = slot_ns / sample_ns; /* of few, the nearest: a program of 7 s runs once in 8 s */
    arm->samples = clamp_u32(fitting < LEAD_PAYS ? floor(fitting + 0.5) : ceil(fitting - 1e-9), fewest, most);
    if (measure->stop == IFM_STOP_REPEATS)
        arm->samples = dividing(measure, arm->samples);
}

/* Nothing but probes, of which none is compared with another. */
static bool has_probes_alone(const struct ifm_cell *plan)
{
    for (size_t i = 0; i < plan->n_arms; i++)
        if (plan->arms[i].role != IFM_ROLE_CEILING)
            return false;
    return true;
}

/* All slots of a block last about as long as one another: the longest that an arm needs; each as long as it needs
 * itself, where nothing is compared: of a sweep over sizes the largest would take all the time. Ceilings apart have
 * slots as long as they profit from. */
static void choose_counts(struct ifm_cell_run *cell, double clock_ns)
{
    const bool probes = has_probes_alone(cell->plan);
    double slot_ns = 0;
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        double needed_ns = choose_inner(cell, &cell->arms[i], clock_ns);
        if (probes)
            choose_samples(cell, &cell->arms[i], clock_ns, needed_ns);
        else if (ifm_plan_in_blocks(cell->plan, i))
            slot_ns = fmax(slot_ns, needed_ns);
    }
    for (size_t i = 0; i < cell->plan->n_arms && !probes; i++)
        choose_samples(cell, &cell->arms[i], clock_ns,
                       ifm_plan_in_blocks(cell->plan, i)   ? slot_ns
                       : is_of_cores(cell, &cell->arms[i]) ? CORES_SLOT_NS
                                                           : CEILING_SLOT_NS);
}

/* May caches hold what the arm works on? A guest may be told of less cache than it gets. */
static bool may_be_kept(const struct ifm_cell_run *cell, const struct ifm_arm_run *arm)
{
    const struct ifm_machine *machine =
        cell->session == NULL || cell->session->plan == NULL ? NULL : cell->session->plan->machine;
    const double told = machine == NULL || machine->gpu != NULL ? 0 : 4.0 * (double)ifm_machine_llc_total(machine);
    return arm->plan->working_set > 0 && (double)arm->plan->working_set < fmax(told, KEPT_LEAST);
}

/* All arms of the blocks have an untimed step before their samples, or none has; samples apart never have. Of probes,
 * whose slots may be a single sample, each has it whose data may be in the caches, but for other probes before it. */
static void choose_lead(struct ifm_cell_run *cell)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    bool asked = measure->slot_steps > 0 || measure->stop == IFM_STOP_REPEATS, pays = true;
    for (size_t i = 0; i < cell->plan->n_arms; i++)
        pays = pays && (!ifm_plan_in_blocks(cell->plan, i) || cell->arms[i].samples >= LEAD_PAYS);
    /* A device that works apart is stamped behind that step. */
    bool lead = asked || pays || cell->device->ops->resolve != NULL, cold = measure->cache == IFM_CACHE_COLD;
    const bool probes = has_probes_alone(cell->plan);
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        struct ifm_arm_run *arm = &cell->arms[i];
        bool windows = arm->implementation == NULL; /* a session's, whose first is untimed */
        bool apart = cold || arm->plan->gaps;
        arm->lead =
            windows || (!apart && (lead || !ifm_plan_in_blocks(cell->plan, i) || (probes && may_be_kept(cell, arm))));
    }
}

/* Blocks of one row are half as long, and its mirror image is the next block. They are taken where fewer than
 * MANY_PAIRS of the others fit into the time, so that long steps and programs have as many pairs as they can, and
 * sweeps as many blocks. Sessions of a caller's own and fixed numbers of repeats count on two. */
static void choose_rows(struct ifm_cell_run *cell)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    bool open = measure->stop != IFM_STOP_REPEATS && measure->stop != IFM_STOP_GROUP &&
                measure->isolation != IFM_ISOLATION_PROCESSES && cell->arms[0].workload != NULL;
    cell->rows = 2;
    if (open && (ifm_cell_baseline(cell->plan) != NULL || has_probes_alone(cell->plan)) &&
        MANY_PAIRS * ifm_cell_block_s(cell) > measure->cap_s)
        cell->rows = 1;
}

static void allocate_block(struct ifm_cell_run *cell)
{
    size_t slots = 2 * cell->plan->n_arms, samples = 0;
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        samples += 2 * (size_t)cell->arms[i].samples;
        if (cell->arms[i].samples > cell->most_samples)
            cell->most_samples = cell->arms[i].samples;
    }
    cell->slots = ifm_zeros(slots, sizeof *cell->slots);
    cell->samples = ifm_zeros(samples, sizeof *cell->samples);
    cell->columns = ifm_zeros(slots * cell->pass->n_columns, sizeof *cell->columns);
    cell->marks = ifm_zeros(2 * cell->most_samples + 1, sizeof *cell->marks);
    /* calloc gives untouched pages: touch them now, not under the clock. */
    memset(cell->marks, 1, (2 * cell->most_samples + 1) * sizeof *cell->marks);
    memset(cell->samples, 1, samples * sizeof *cell->samples);
}

/* A resumed pass goes on with the counts it began with, so that all its slots are alike. */
static enum ifm_status take_over(struct ifm_cell_run *cell, const struct ifm_events *events, bool *taken,
                                 struct ifm_error *error)
{
    *taken = false;
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        struct ifm_arm_run *arm = &cell->arms[i];
        const struct ifm_event_calibrate *told = IFM_LAST(events, calibrate, cell->plan->name, arm->plan->name);
        if (told == NULL)
            return IFM_OK;
        if (told->inner < 1 || told->inner > MOST_INNER || told->samples_per_slot < 1 ||
            told->samples_per_slot > MOST_SAMPLES_PER_SLOT)
            return ifm_fail(error, IFM_INVALID, "run.log", "measure again into a new folder",
                            "the calibration of arm %s is out of range", arm->plan->name);
        arm->inner = (uint32_t)told->inner;
        arm->samples = (uint32_t)told->samples_per_slot;
        arm->step_ns = told->step_ns;
        arm->lead = told->lead == IFM_ABSENT || told->lead > 0;
    }
    const struct ifm_event_calibrate *first = IFM_LAST(events, calibrate, cell->plan->name, cell->plan->arms[0].name);
    cell->rows = first != NULL && first->rows == 1 ? 1 : 2;
    *taken = true;
    return IFM_OK;
}

/* What it takes to begin and end a slot on this machine: by slots of one step of the first arm. Steps that take long
 * hide it, and where the configuration says how many samples a slot has it changes nothing. */
static enum ifm_status read_bounds(struct ifm_cell_run *cell, struct ifm_error *error)
{
    struct ifm_arm_run *arm = &cell->arms[0];
    struct ifm_instant marks[2 * 2 + 1];
    struct ifm_sample sample;
    struct ifm_slot slot = {0};
    cell->bounds_ns = 0;
    const struct ifm_measure *measure = &cell->plan->measure;
    bool idle = arm->plan->gaps || measure->cache == IFM_CACHE_COLD || measure->slot_steps > 0;
    if (ifm_device_is_fake(cell->device) || idle || arm->step_ns > SHORT_NS)
        return IFM_OK;
    int64_t *columns = ifm_zeros(cell->pass->n_columns, sizeof *columns);
    double took_ns[BOUNDS_TRIES] = {0};
    struct ifm_instant *own = cell->marks;
    enum ifm_status status = IFM_OK;
    cell->marks = marks;
    arm->inner = arm->samples = 1;
    for (int i = 0; i < BOUNDS_TRIES && status == IFM_OK; i++) {
        int64_t began_ns = ifm_clock_boot_ns();
        status = ifm_arm_slot(cell, 0, &slot, &sample, columns, error);
        took_ns[i] = (double)(ifm_clock_boot_ns() - began_ns - (slot.end_ns - slot.start_ns));
    }
    cell->bounds_ns = fmax(ifm_median(took_ns, BOUNDS_TRIES), 0);
    cell->marks = own;
    free(columns);
    return status;
}

/* Steps of a caller's own may take seconds: tell beforehand how long fixed repeats of them take, without their hooks.
 * Other runs have a cap, of which note_cap speaks where it does not hold. */
static void note_expected_time(const struct ifm_cell_run *cell)
{
    enum { WORTH_S = 5 };
    const struct ifm_measure *measure = &cell->plan->measure;
    const double blocks = fmax(1, ceil((double)measure->repeats / (cell->rows * (double)cell->arms[0].samples)));
    double window_s = 0;
    bool gaps = false;
    char least[48];
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        const struct ifm_arm_run *arm = &cell->arms[i];
        gaps |= arm->plan->gaps;
        window_s += arm->samples * arm->step_ns * 1e-9;
    }
    const double least_s = window_s * (2 + cell->rows * blocks);
    if (!gaps || measure->stop != IFM_STOP_REPEATS || least_s < WORTH_S)
        return;
    ifm_note("cell %s: %llu runs of each take about %s", cell->plan->name, (unsigned long long)measure->repeats,
             ifm_format_human(least_s, "s", least));
}

/* Two digits, hardly below `seconds`. */
static double round_up(double seconds)
{
    double unit = pow(10, floor(log10(seconds)) - 1);
    return ceil(seconds / unit - 0.1) * unit;
}

double ifm_cell_cap_wanted_s(const struct ifm_cell_run *cell)
{
    const struct ifm_measure *measure = &cell->plan->measure;
    double fewest_s = (double)measure->blocks_min * ifm_cell_block_s(cell);
    return measure->stop == IFM_STOP_REPEATS || fewest_s <= measure->cap_s ? 0 : round_up(fewest_s);
}

/* The fewest blocks are measured, cap or not: tell it while there is time to choose another. */
static void note_cap(const struct ifm_cell_run *cell)
{
    char cap[48], fewest[48];
    double wanted_s = ifm_cell_cap_wanted_s(cell);
    if (wanted_s > 0)
        ifm_note("cell %s: the fewest blocks (%llu) take about %s, over the cap of %s: run all the same; --cap %gs "
                 "holds them",
                 cell->plan->name, (unsigned long long)cell->plan->measure.blocks_min,
                 ifm_format_human((double)cell->plan->measure.blocks_min * ifm_cell_block_s(cell), "s", fewest),
                 ifm_format_human(cell->plan->measure.cap_s, "s", cap), wanted_s);
}

double ifm_cell_block_s(const struct ifm_cell_run *cell)
{
    double block_s = 0;
    for (size_t i = 0; i < cell->plan->n_arms; i++)
        block_s += !ifm_plan_in_blocks(cell->plan, i)
                       ? 0
                       : cell->rows * 1e-9 *
                             ((double)cell->arms[i].samples * sample_ns_of(cell, &cell->arms[i], 0) +
                              (cell->arms[i].lead ? cell->arms[i].step_ns : 0));
    return block_s;
}

/* All arms have the same number of samples in a slot where repeats are counted, and so have programs that take about as
 * long. Swapped, two equal programs of equal slots are the same sequence of runs: then whatever one of them leaves for
 * the runs behind it (a counter, a log that is rotated) meets both alike, as each block's order is drawn. With one run
 * beside three, a state of four runs meets one of them alone. */
static void level_samples(struct ifm_cell_run *cell)
{
    uint32_t fewest = UINT32_MAX, most = 0;
    for (size_t i = 0; i < cell->plan->n_arms; i++)
        if (ifm_plan_in_blocks(cell->plan, i)) {
            fewest = cell->arms[i].samples < fewest ? cell->arms[i].samples : fewest;
            most = cell->arms[i].samples > most ? cell->arms[i].samples : most;
        }
    const bool alike = ifm_cell_counts_programs(cell->plan) && most / ALIKE <= fewest;
    for (size_t i = 0; i < cell->plan->n_arms; i++)
        if (ifm_plan_in_blocks(cell->plan, i) && (alike || cell->plan->measure.stop == IFM_STOP_REPEATS))
            cell->arms[i].samples = fewest;
}

enum ifm_status ifm_cell_choose(struct ifm_cell_run *cell, double clock_ns, struct ifm_error *error)
{
    choose_counts(cell, clock_ns);
    level_samples(cell);
    choose_lead(cell);
    choose_rows(cell);
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        const struct ifm_arm_run *arm = &cell->arms[i];
        IFM_TRY(IFM_FACT(cell->session, error, calibrate, true, .cell = cell->plan->name, .arm = arm->plan->name,
                         .inner = arm->inner, .samples_per_slot = arm->samples, .step_ns = arm->step_ns,
                         .clock_ns = clock_ns, .clock_tick_ns = cell->tick_ns, .lead = arm->lead, .rows = cell->rows));
    }
    allocate_block(cell);
    return IFM_OK;
}

static int by_double(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* One run of a program says little of it: where it took much longer than another's, one that was slow by chance would
 * give the others many runs in a slot and this one few. The median of three decides, but of programs that take long. */
static enum ifm_status time_again(struct ifm_cell_run *cell, struct ifm_error *error)
{
    double fastest_ns = INFINITY;
    for (size_t i = 0; i < cell->plan->n_arms; i++)
        if (cell->arms[i].plan->gaps)
            fastest_ns = fmin(fastest_ns, cell->arms[i].step_ns);
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        double ns[3] = {cell->arms[i].step_ns};
        if (!cell->arms[i].plan->gaps || ns[0] < AGAIN_TIMES * fastest_ns || ns[0] > AGAIN_NS)
            continue;
        for (int k = 1; k < 3; k++) {
            IFM_TRY(ifm_arm_rough_ns(cell, i, &ns[k], error));
            IFM_TRY(ifm_watch_span(cell, ns[k], error));
        }
        qsort(ns, 3, sizeof *ns, by_double);
        cell->arms[i].step_ns = ns[1];
    }
    return IFM_OK;
}

/* The first flush maps its buffer: not under the clock. */
static enum ifm_status time_flush(struct ifm_cell_run *cell, struct ifm_error *error)
{
    cell->flush_ns = 0;
    for (int i = 0; i < 2 && cell->plan->measure.cache == IFM_CACHE_COLD; i++) {
        int64_t began_ns = ifm_clock_boot_ns();
        IFM_TRY(cell->device->ops->flush(cell->device, error));
        cell->flush_ns = (double)(ifm_clock_boot_ns() - began_ns);
    }
    return IFM_OK;
}

enum ifm_status ifm_cell_calibrate(struct ifm_cell_run *cell, const struct ifm_events *events, struct ifm_error *error)
{
    bool taken;
    IFM_TRY(ifm_watch_clock(cell, error));
    double clock_ns = ifm_cell_read_clock(cell->device, &cell->tick_ns);
    IFM_TRY(ifm_watch_span(cell, clock_ns, error));
    IFM_TRY(time_flush(cell, error));
    IFM_TRY(take_over(cell, events, &taken, error));
    if (taken) {
        allocate_block(cell);
        return IFM_OK;
    }
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        IFM_TRY(ifm_interrupt_check(cell->plan->name, error));
        ifm_parts_turn(&cell->session->parts, IFM_PART_CALIBRATION, cell->plan->arms[i].name);
        IFM_TRY(ifm_arm_rough_ns(cell, i, &cell->arms[i].step_ns, error));
        IFM_TRY(ifm_watch_span(cell, cell->arms[i].step_ns, error));
    }
    IFM_TRY(time_again(cell, error));
    cell->ran_each = true;
    IFM_TRY(read_bounds(cell, error));
    IFM_TRY(ifm_cell_choose(cell, clock_ns, error));
    note_expected_time(cell);
    note_cap(cell);
    return IFM_OK;
}
