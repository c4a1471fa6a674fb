/* Rule 4: record and journal agree. What run.log tells of a pass (how many blocks, how many steps in a sample, what the
 * warm-up ended with, when it was written) is held against the samples. A contradiction refuses the cell.
 *
 * What the journal does not tell is held against nothing: chain.c sees that no line of it is gone. */
#include "derive/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Calibration takes the fastest of three rounds. Where others took a CPU from its threads, that was 23 times slower
 * than the steps were later (seen once in 22 honest records); on a machine with three loads beside it each round of a
 * step of 500 ns lost slices of 12 ms (4 of 120 honest records). */
#define FASTER_THAN_CALIBRATED 200.0
#define SLICES_NS 1e8
/* Of the planned length: windows that ended early lasted longer. */
#define SLOWED 1.5
/* The clock of the samples and that of run.log differ by no more than this: NTP slews one of them by up to 500 ppm. */
#define CLOCKS_SHARE 2e-3
#define CLOCKS_SLACK_NS 5e6

/* One pass of a cell. */
struct held {
    struct ifm_cell_work *work;
    const struct ifm_pass *pass;
    const struct ifm_record *record;
    size_t measured, slots, warm_ups; /* blocks, their slots, blocks of warm-up */
};

static void count(struct held *h)
{
    const struct ifm_record *r = h->record;
    for (size_t k = 0; k < r->n_slots; k++) {
        bool first = k == 0 || r->slots[k].block != r->slots[k - 1].block,
             measure = r->slots[k].phase == IFM_PHASE_MEASURE;
        h->measured += first && measure;
        h->warm_ups += first && r->slots[k].phase == IFM_PHASE_WARMUP;
        h->slots += measure;
    }
}

static const char *differ(const struct held *h, const char *what, int64_t told, size_t recorded)
{
    return told == (int64_t)recorded
               ? NULL
               : ifm_arena_printf(h->work->d->arena, "run.log tells of %lld %s of the pass %s, and the record has %zu",
                                  (long long)told, what, ifm_pass_name(h->pass), recorded);
}

static const char *check_counts(const struct held *h)
{
    const char *reason = NULL, *name = ifm_pass_name(h->pass);
    const struct ifm_event_stop *stop = IFM_TOLD(h->work, stop, NULL);
    const struct ifm_event_energy_done *energy = IFM_TOLD(h->work, energy_done, NULL);
    if (h->pass->kind == IFM_PASS_LATENCY && stop != NULL)
        reason = differ(h, "measured blocks", stop->blocks, h->measured);
    if (h->pass->kind == IFM_PASS_ENERGY && energy != NULL)
        reason = differ(h, "windows", energy->windows, h->slots);
    IFM_EACH_TOLD(event, h->work, pass_done, NULL) {
        const struct ifm_event_pass_done *done = IFM_FACTS(event, pass_done);
        if (strcmp(done->pass, name) == 0 && reason == NULL)
            reason = differ(h, "measured blocks", done->blocks, h->measured);
    }
    return reason;
}

/* ---- the warm-up ---- */

static int by_value(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

/* The upper median of a slot's samples, as the gate of the warm-up takes it. */
static double slot_median(const struct held *h, size_t slot)
{
    const struct ifm_record *r = h->record;
    size_t n = r->slots[slot].samples;
    int64_t *values = IFM_ARENA_ARRAY(h->work->d->arena, int64_t, n + 1);
    for (size_t i = 0; i < n; i++)
        values[i] = r->samples[r->first[slot] + i].duration_ns;
    qsort(values, n, sizeof *values, by_value);
    return (double)values[n / 2] / (double)r->slots[slot].inner;
}

/* The slot of the arm in warm-up block `number`, counted among these; n_slots = there is none. */
static size_t warm_slot(const struct held *h, size_t number, size_t arm)
{
    const struct ifm_record *r = h->record;
    size_t seen = 0, k = 0;
    for (; k < r->n_slots; k++) {
        seen += r->slots[k].phase == 0 && (k == 0 || r->slots[k].block != r->slots[k - 1].block);
        if (r->slots[k].phase == 0 && seen == number + 1 && r->slots[k].arm == arm)
            break;
    }
    return k;
}

static bool is_resumed(const struct held *h)
{
    return IFM_FIRST(h->work->journal, resume) != NULL;
}

static const char *check_arm_warm_up(const struct held *h, size_t arm)
{
    const struct ifm_cell_work *work = h->work;
    const char *name = work->cell->arms[arm].name;
    int64_t windows = 0;
    IFM_EACH_TOLD(event, work, warmup, name)
        windows += IFM_FACTS(event, warmup)->windows;
    if (windows == 0 || (is_resumed(h) && windows < (int64_t)h->warm_ups)) /* one was interrupted */
        return NULL;
    if (windows != (int64_t)h->warm_ups)
        return differ(h, "blocks of warm-up", windows, h->warm_ups);
    windows = 0;
    IFM_EACH_TOLD(event, work, warmup, name) {
        const struct ifm_event_warmup *told = IFM_FACTS(event, warmup);
        windows += told->windows;
        size_t slot = told->windows < 1 ? h->record->n_slots : warm_slot(h, (size_t)windows - 1, arm);
        double median = slot < h->record->n_slots ? slot_median(h, slot) : told->last_median_ns;
        if (fabs(median - told->last_median_ns) > 1e-9 * median)
            return ifm_arena_printf(work->d->arena,
                                    "the warm-up of arm %s ended with a median step of %.17g ns by run.log, and of "
                                    "%.17g ns by its samples",
                                    name, told->last_median_ns, median);
    }
    return NULL;
}

static const char *check_warm_up(const struct held *h)
{
    const char *reason = NULL;
    for (size_t a = 0; h->pass->kind == IFM_PASS_LATENCY && a < h->work->cell->n_arms && reason == NULL; a++)
        reason = check_arm_warm_up(h, a);
    return reason;
}

/* ---- slots and samples ---- */

/* K and the samples of a slot, as they were chosen; IFM_ABSENT where run.log does not say. */
static void chosen(const struct held *h, const char *arm, int64_t *inner, int64_t *samples)
{
    const struct ifm_event_calibrate *timed = IFM_TOLD(h->work, calibrate, arm);
    const struct ifm_event_energy_plan *energy = IFM_TOLD(h->work, energy_plan, arm);
    *inner = *samples = IFM_ABSENT;
    if (h->pass->kind == IFM_PASS_ENERGY && energy != NULL) {
        *inner = energy->inner;
        *samples = energy->samples_per_slot;
    } else if (h->pass->kind != IFM_PASS_ENERGY && timed != NULL) {
        *inner = timed->inner;
        *samples = timed->samples_per_slot;
    }
}

/* A window ends early when it has lasted twice as long as it was planned (run/energy): other work slowed its steps. The
 * clock that saw it need not be that of the samples. */
static bool was_slowed(const struct held *h, const struct ifm_slot *slot)
{
    const struct ifm_event_energy_plan *told = IFM_TOLD(h->work, energy_plan, h->work->cell->arms[slot->arm].name);
    return h->pass->kind == IFM_PASS_ENERGY && told != NULL && slot->samples < told->samples_per_slot &&
           1e-9 * (double)(slot->end_ns - slot->start_ns) >= SLOWED * told->window_s;
}

static const char *check_slots(const struct held *h)
{
    const struct ifm_record *r = h->record;
    struct ifm_arena *arena = h->work->d->arena;
    size_t n = h->work->cell->n_arms;
    int64_t *inner = IFM_ARENA_ARRAY(arena, int64_t, n + 1), *samples = IFM_ARENA_ARRAY(arena, int64_t, n + 1);
    for (size_t a = 0; a < n; a++)
        chosen(h, h->work->cell->arms[a].name, &inner[a], &samples[a]);
    for (size_t k = 0; k < r->n_slots; k++) {
        const struct ifm_slot *slot = &r->slots[k];
        const struct ifm_sample *last = &r->samples[r->first[k + 1] - 1];
        if (slot->arm >= n) /* rule 2 says so */
            return NULL;
        if ((inner[slot->arm] != IFM_ABSENT && inner[slot->arm] != slot->inner) ||
            (samples[slot->arm] != IFM_ABSENT && samples[slot->arm] != slot->samples && !was_slowed(h, slot)))
            return ifm_arena_printf(arena,
                                    "slot %zu of arm %s has %u samples of %u steps, and run.log chose %lld of %lld", k,
                                    h->work->cell->arms[slot->arm].name, slot->samples, slot->inner,
                                    (long long)samples[slot->arm], (long long)inner[slot->arm]);
        bool meets =
            r->samples[r->first[k]].start_ns == slot->start_ns && last->start_ns + last->duration_ns == slot->end_ns;
        if (!meets && h->pass->kind != IFM_PASS_ENERGY) /* a window may idle at its ends */
            return ifm_arena_printf(arena, "slot %zu does not begin with its first sample and end with its last", k);
    }
    return NULL;
}

/* A sample that the clock can resolve is not shorter than its tick, and steps are not much faster than calibrated. */
static const char *check_arm_speed(const struct held *h, size_t arm)
{
    const struct ifm_record *r = h->record;
    const char *name = h->work->cell->arms[arm].name;
    const struct ifm_event_calibrate *told = IFM_TOLD(h->work, calibrate, name);
    double time = 0, steps = 0;
    if (told == NULL)
        return NULL;
    for (size_t k = 0; k < r->n_slots; k++) {
        const struct ifm_slot *slot = &r->slots[k];
        double wanted = told->step_ns * slot->inner;
        for (size_t i = r->first[k]; slot->arm == arm && i < r->first[k + 1]; i++) {
            double duration = (double)r->samples[i].duration_ns;
            if (wanted >= 2 * told->clock_tick_ns && duration < told->clock_tick_ns / 2)
                return ifm_arena_printf(h->work->d->arena,
                                        "a sample of arm %s in slot %zu lasts %.0f ns, less than the clock's tick of "
                                        "%.0f ns",
                                        name, k, duration, told->clock_tick_ns);
            time += duration;
            steps += slot->inner;
        }
    }
    if (h->work->cell->arms[arm].gaps || steps <= 0 ||
        time / steps * FASTER_THAN_CALIBRATED + SLICES_NS >= told->step_ns)
        return NULL;
    return ifm_arena_printf(h->work->d->arena,
                            "a step of arm %s takes %.3g ns by its samples, and took %.3g ns when it was calibrated",
                            name, time / steps, told->step_ns);
}

static const char *check_speed(const struct held *h)
{
    const char *reason = NULL;
    for (size_t a = 0; a < h->work->cell->n_arms && reason == NULL; a++)
        reason = check_arm_speed(h, a);
    return reason;
}

/* ---- order ---- */

/* Each measured block of another pass holds the arms in the order that the plan draws; of the latency pass rule 7 says
 * so. Ceilings have no slots where the kind of the pass leaves them out. */
static const char *check_order(const struct held *h)
{
    const struct ifm_record *r = h->record;
    const struct ifm_cell *cell = h->work->cell;
    unsigned *order = IFM_ARENA_ARRAY(h->work->d->arena, unsigned, 2 * cell->n_arms + 1), measured = 0;
    bool *without = IFM_ARENA_ARRAY(h->work->d->arena, bool, cell->n_arms + 1);
    for (size_t a = 0; a < cell->n_arms; a++)
        without[a] = h->work->arms[a].failed || !ifm_plan_in_blocks(cell, a) ||
                     (!ifm_pass_rows[h->pass->kind].ceilings && !ifm_plan_isolates(cell, a));
    const unsigned rows = ifm_plan_rows(cell, h->pass->kind, h->work->rows);
    for (size_t k = 0; h->pass->kind != IFM_PASS_LATENCY && k < r->n_slots;) {
        if (r->slots[k].phase == IFM_PHASE_WARMUP) {
            k++;
            continue;
        }
        size_t n = ifm_plan_order_rows(cell, without, rows, measured++, order), i = 0;
        uint32_t block = r->slots[k].block;
        while (i < n && k < r->n_slots && r->slots[k].block == block && r->slots[k].arm == order[i]) {
            i++;
            k++;
        }
        if (i < n || n == 0)
            return ifm_arena_printf(h->work->d->arena, "block %u of the pass %s does not hold the plan's order of arms",
                                    block, ifm_pass_name(h->pass));
    }
    return NULL;
}

/* ---- columns ---- */

/* Only temperatures may be below zero. */
static const char *check_signs(const struct held *h)
{
    const struct ifm_record *r = h->record;
    for (size_t c = 0; c < r->n_columns; c++)
        for (size_t k = 0; strcmp(r->column_names[c], "temperature_mc") != 0 && k < r->n_slots; k++)
            if (r->slots[k].columns[c] < 0 && r->slots[k].columns[c] != IFM_ABSENT)
                return ifm_arena_printf(h->work->d->arena, "the column %s is %lld in slot %zu: it cannot be negative",
                                        r->column_names[c], (long long)r->slots[k].columns[c], k);
    return NULL;
}

/* CPUs of the machine, as the fingerprint has them; 0 = it does not say. */
static double cpus_of(const struct held *h)
{
    const struct ifm_event_environment *told = IFM_FIRST(h->work->journal, environment);
    const json_t *cpu = told == NULL ? NULL : json_object_get(told->fingerprint, "cpu");
    return (double)json_integer_value(json_object_get(cpu, "online"));
}

/* Programs cannot have had more processor time than their runs and all processors give. */
static const char *check_programs(const struct held *h)
{
    static const double SLACK_NS = 1e7; /* the kernel may account by ticks */
    const struct ifm_record *r = h->record;
    int column = ifm_derive_column(r, "child_cpu_ns");
    double cpus = cpus_of(h);
    for (size_t k = 0; column >= 0 && cpus > 0 && k < r->n_slots; k++) {
        double time = 0, used = (double)r->slots[k].columns[column];
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++)
            time += (double)r->samples[i].duration_ns + SLACK_NS;
        if (r->slots[k].columns[column] != IFM_ABSENT && used > cpus * time)
            return ifm_arena_printf(h->work->d->arena,
                                    "in slot %zu programs used %.4g s of processor time, and its runs last %.4g s", k,
                                    used * 1e-9, time * 1e-9);
    }
    return NULL;
}

/* ---- the cell ---- */

typedef const char *check(const struct held *h);
static check *const checks[] = {check_counts, check_slots, check_warm_up, check_speed,
                                check_order,  check_signs, check_programs};

void ifm_rules_journal(struct ifm_cell_work *work)
{
    const struct ifm_facts_view *facts = work->d->facts;
    for (size_t p = 0; facts->records != NULL && p < work->cell->n_passes && p < facts->max_passes; p++) {
        size_t cell = (size_t)(work->cell - work->d->plan->cells);
        struct held h = {
            .work = work, .pass = &work->cell->passes[p], .record = facts->records[cell * facts->max_passes + p]};
        if (h.record == NULL || h.record->n_slots == 0)
            continue;
        count(&h);
        for (size_t i = 0; i < sizeof checks / sizeof *checks && work->refusal.rule == NULL; i++) {
            const char *reason = checks[i](&h);
            if (reason != NULL)
                ifm_refuse_cell(work, "rule-04", reason);
        }
    }
    for (size_t a = 0; work->refusal.rule != NULL && a < work->cell->n_arms; a++)
        ifm_refuse(&work->arms[a].energy_refused, work->refusal.rule, work->refusal.reason);
}

/* ---- clocks ---- */

/* How the time of the samples lies to the clock of run.log: their difference is at least `least` and at most `most`. */
struct offset {
    double least, most;
    size_t line; /* of run.log, where they first contradicted each other; 0 = nowhere */
    double slack;
};

static void narrow(struct offset *offset, const struct ifm_event *event, const struct ifm_slot *before,
                   const struct ifm_slot *after)
{
    if (before != NULL) /* written after the slot had ended */
        offset->most = fmin(offset->most, (double)event->mono_ns - (double)before->end_ns);
    if (after != NULL)
        offset->least = fmax(offset->least, (double)event->mono_ns - (double)after->start_ns);
    if (offset->line == 0 && offset->least > offset->most + offset->slack)
        offset->line = event->line;
}

/* Did the run itself find the block disturbed? Then a clock may have skipped, and another offset begins. */
static bool was_disturbed(const struct ifm_cell_work *work, const struct ifm_event_block *told)
{
    IFM_EACH_TOLD(event, work, disturbed, NULL) {
        const struct ifm_event_disturbed *disturbed = IFM_FACTS(event, disturbed);
        if (disturbed->block == told->block && strcmp(disturbed->pass, told->pass) == 0)
            return true;
    }
    return false;
}

/* Blocks were written down between their own last slot and the next one's first. */
static void narrow_pass(const struct ifm_cell_work *work, size_t p, const struct ifm_record *r, struct offset *offset)
{
    const char *name = ifm_pass_name(&work->cell->passes[p]);
    size_t k = 0;
    IFM_EACH_TOLD(event, work, block, NULL) {
        const struct ifm_event_block *told = IFM_FACTS(event, block);
        if (strcmp(told->pass, name) != 0 || event->mono_ns == IFM_ABSENT)
            continue;
        while (k < r->n_slots && r->slots[k].block <= told->block)
            k++;
        if (was_disturbed(work, told)) {
            offset->least = -INFINITY;
            offset->most = INFINITY;
        } else if (k > 0)
            narrow(offset, event, &r->slots[k - 1], k < r->n_slots ? &r->slots[k] : NULL);
    }
}

/* Slots lie where the journal was written: its lines stand between them. A resumed run begins its time anew, and a
 * scripted device has a time of its own. */
static void check_places(struct ifm_derivation *d)
{
    const struct ifm_events *events = d->facts->events;
    struct offset offset = {.least = -INFINITY, .most = INFINITY};
    if (events->n == 0 || events->items[0].mono_ns == IFM_ABSENT || d->facts->records == NULL ||
        strcmp(d->plan->device, "fake") == 0 || IFM_FIRST(events, resume) != NULL)
        return;
    double span = (double)(events->items[events->n - 1].mono_ns - events->items[0].mono_ns);
    offset.slack = CLOCKS_SLACK_NS + CLOCKS_SHARE * span;
    for (size_t c = 0; c < d->plan->n_cells; c++)
        for (size_t p = 0; p < d->plan->cells[c].n_passes && p < d->facts->max_passes; p++) {
            const struct ifm_record *r = d->facts->records[c * d->facts->max_passes + p];
            if (r != NULL)
                narrow_pass(&d->cells[c], p, r, &offset);
            if (offset.line == 0)
                continue;
            ifm_refuse_cell(&d->cells[c], "rule-04",
                            ifm_arena_printf(d->arena,
                                             "run.log:%zu was written when its block had not ended, or the next had "
                                             "begun, by the times of the slots",
                                             offset.line));
            return;
        }
}

void ifm_rules_clocks(struct ifm_derivation *d)
{
    const struct ifm_events *events = d->facts->events;
    for (size_t i = 1; i < events->n; i++) {
        const struct ifm_event *last = &events->items[i - 1], *now = &events->items[i];
        bool session = now->stage == IFM_STAGE_resume; /* the machine may have been started anew */
        bool known = last->mono_ns != IFM_ABSENT && now->mono_ns != IFM_ABSENT;
        if (!session && known && now->mono_ns < last->mono_ns) {
            const char *reason = ifm_arena_printf(d->arena, "run.log:%zu is older than the line above it", now->line);
            ifm_refuse(&d->refusal, "rule-04", reason);
            ifm_derive_say(d, IFM_SEVERITY_INVALID, "rule-04", "%s", reason);
            return;
        }
        if (now->t_ns < last->t_ns) {
            ifm_derive_say(d, IFM_SEVERITY_WARNING, "rule-04",
                           "the wall clock runs backwards at run.log:%zu: it was set while the run went on", now->line);
            break;
        }
    }
    check_places(d);
}
