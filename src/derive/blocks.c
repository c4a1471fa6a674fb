/* Record -> blocks: the time and the steps of an arm in each block, and the blocks that a machine cause marks.
 *
 * Time over steps is what a user pays, slow steps included; the slots' medians stand beside it, so that a difference
 * which only the slow steps make is seen as one. An arm's slots of a block mirror each other around the block's middle,
 * which cancels linear drift. */
#include "derive/internal.h"

#include "stats/sequential.h"
#include "stats/stop_blocks.h"
#include <math.h>
#include <string.h>
int ifm_derive_column(const struct ifm_record *record, const char *name)
{
    for (size_t c = 0; record != NULL && c < record->n_columns; c++)
        if (strcmp(record->column_names[c], name) == 0)
            return (int)c;
    return -1;
}

const struct ifm_slot *ifm_next_slot(const struct ifm_arm_work *arm, size_t *k)
{
    const struct ifm_record *record = arm->work->record;
    for (; record != NULL && *k < record->n_slots; ++*k)
        if (record->slots[*k].phase != IFM_PHASE_WARMUP && record->slots[*k].arm == arm->index)
            return &record->slots[*k];
    return NULL;
}

bool ifm_derive_has_gaps(const struct ifm_arm_work *arm)
{
    return arm->work->cell->measure.cache == IFM_CACHE_COLD || arm->arm->gaps;
}

struct ifm_value ifm_derive_of_gaps(const struct ifm_arm_work *arm, int64_t n, const char *n_of)
{
    const bool cold = arm->work->cell->measure.cache == IFM_CACHE_COLD, both = cold && arm->arm->gaps;
    const char *remedy = "", *between = arm->arm->gaps ? ifm_arm_between(arm->arm, &remedy) : "";
    struct ifm_arena *arena = arm->d->arena;
    return ifm_value_absent(ifm_arena_printf(arena, "counters also counted what runs between the samples: %s%s%s",
                                             cold ? "evictions of the caches" : "", both ? ", and " : "", between),
                            ifm_arena_printf(arena, "%s%s%s", cold ? "--cache hot" : "", both ? ", and " : "", remedy),
                            n, n_of);
}

double ifm_derive_slot_step_ns(const struct ifm_record *r, size_t k)
{
    double ns = 0;
    for (size_t i = r->first[k]; i < r->first[k + 1]; i++)
        ns += (double)r->samples[i].duration_ns;
    return ns / ((double)r->slots[k].samples * r->slots[k].inner);
}

double ifm_derive_lead(const struct ifm_arm_work *arm)
{
    const struct ifm_event_calibrate *told = IFM_TOLD(arm->work, calibrate, arm->arm->name);
    if (ifm_derive_has_gaps(arm))
        return 0;
    return told == NULL || told->lead == IFM_ABSENT ? 1 : (double)told->lead; /* once all slots had one */
}

struct ifm_column_total ifm_derive_column_total(const struct ifm_arm_work *arm, const char *name)
{
    struct ifm_column_total out = {0};
    int column = ifm_derive_column(arm->work->record, name);
    const struct ifm_slot *slot;
    for (size_t k = 0; column >= 0 && (slot = ifm_next_slot(arm, &k)) != NULL; k++) {
        int64_t value = slot->columns[column];
        out.slots++;
        if (value == IFM_ABSENT)
            continue;
        out.largest = out.read == 0 || value > out.largest ? value : out.largest;
        out.overflows |= __builtin_add_overflow(out.total, value, &out.total);
        out.read++;
    }
    return out;
}

struct ifm_value ifm_derive_total_value(const struct ifm_arm_work *arm, const char *name, const char *reason,
                                        const char *remedy)
{
    struct ifm_column_total all = ifm_derive_column_total(arm, name);
    if (arm->work->record == NULL)
        return ifm_value_missing(arm->work, "slots");
    if (all.read == 0 && reason != NULL)
        return ifm_value_absent(reason, remedy, 0, "slots");
    if (all.read < all.slots || all.slots == 0)
        return ifm_value_absent(ifm_arena_printf(arm->d->arena, "not read in %lld of %lld slots",
                                                 (long long)(all.slots - all.read), (long long)all.slots),
                                "", all.read, "slots");
    if (all.overflows)
        return ifm_value_absent("the total overflows", "", all.slots, "slots");
    return ifm_value_count_of(all.total, all.slots, "slots");
}

bool ifm_derive_is_cache_probe(const struct ifm_arm *arm)
{
    return strncmp(arm->name, "caches.", 7) == 0 || strncmp(arm->variant, "caches.", 7) == 0;
}

bool ifm_derive_is_probe(const struct ifm_arm *arm)
{
    return arm->role == IFM_ROLE_CEILING || arm->ceiling != IFM_CEILING_NONE || ifm_derive_is_cache_probe(arm);
}

static size_t count_blocks(const struct ifm_record *record)
{
    size_t n = 0;
    for (size_t k = 0; k < record->n_slots; k++) {
        bool first = k == 0 || record->slots[k - 1].block != record->slots[k].block;
        n += record->slots[k].phase != IFM_PHASE_WARMUP && first;
    }
    return n;
}

/* The baseline and its variants: as planned, or as the caller wants them. */
static void choose_compared(const struct ifm_facts_view *facts, struct ifm_cell_work *work)
{
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        struct ifm_arm_work *arm = &work->arms[a];
        bool is_baseline = facts->compared == NULL && arm->arm->role == IFM_ROLE_BASELINE;
        arm->is_variant = facts->compared == NULL && arm->arm->role == IFM_ROLE_VARIANT;
        for (size_t i = 0; facts->compared != NULL && i < facts->n_compared; i++) {
            bool named = strcmp(facts->compared[i], arm->arm->name) == 0;
            is_baseline |= named && i == 0;
            arm->is_variant |= named && i > 0;
        }
        if (is_baseline && work->baseline == NULL)
            work->baseline = arm;
    }
}

bool ifm_derive_is_compared(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    return work->baseline != NULL && arm != work->baseline && arm->is_variant && !ifm_derive_is_cache_probe(arm->arm) &&
           arm->arm->ceiling == work->baseline->arm->ceiling;
}

size_t ifm_derive_count_compared(const struct ifm_cell_work *work)
{
    size_t m = 0;
    for (size_t a = 0; a < work->cell->n_arms; a++)
        m += ifm_derive_is_compared(&work->arms[a]);
    return m;
}

double ifm_derive_compare_level(const struct ifm_cell_work *work)
{
    size_t m = ifm_derive_count_compared(work);
    return m > 1 ? 1.0 - (1.0 - IFM_LEVEL) / (double)m : IFM_LEVEL;
}

/* The level at which an interval of n blocks is computed to hold at `level`: wider where the run looked as it went. Its
 * looks were at the blocks of the cell, of which a comparison may leave some out. */
double ifm_derive_level_over_looks(const struct ifm_cell_work *work, double level, size_t n)
{
    const struct ifm_measure *measure = &work->cell->measure;
    const struct ifm_event_stop *stop = IFM_TOLD(work, stop, NULL);
    if (measure->stop == IFM_STOP_GROUP && n > 0)
        (void)!ifm_stats_sequential_level(level, n < measure->blocks_max ? n : measure->blocks_max, measure->blocks_max,
                                          &level);
    else if (stop != NULL && strcmp(stop->reason, "mde") == 0)
        level = ifm_stats_fixed_width_level(level);
    else if (measure->stop == IFM_STOP_DECIDED && n > 0)
        level = ifm_stop_blocks_level(work->cell, level, n > work->n_measured ? n : work->n_measured,
                                      work->at_look || (stop != NULL && strcmp(stop->reason, "decided") == 0));
    return level;
}

/* An arm that the device failed under was left out, and has no blocks. */
static void say_failed(struct ifm_arm_work *arm)
{
    const struct ifm_event_arm_failed *event = IFM_TOLD(arm->work, arm_failed, arm->arm->name);
    arm->remedy = "";
    if (event == NULL)
        return;
    arm->failed = true;
    arm->broken = ifm_arena_printf(
        arm->d->arena, "the arm failed on the device, and the others were measured without it: %s", event->reason);
    arm->remedy = event->remedy;
    ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-01", "%s", arm->broken);
}

static void make_arms(struct ifm_cell_work *work)
{
    size_t n = work->cell->n_arms;
    work->arms = IFM_ARENA_ARRAY(work->d->arena, struct ifm_arm_work, n + 1);
    for (size_t a = 0; a < n; a++) {
        struct ifm_arm_work *arm = &work->arms[a];
        arm->d = work->d;
        arm->work = work;
        arm->arm = &work->cell->arms[a];
        arm->index = a;
        arm->inner_low = UINT32_MAX;
        say_failed(arm);
        arm->time_ns = IFM_ARENA_ARRAY(work->d->arena, double, work->n_blocks + 1);
        arm->steps = IFM_ARENA_ARRAY(work->d->arena, double, work->n_blocks + 1);
        arm->log_median = IFM_ARENA_ARRAY(work->d->arena, double, work->n_blocks + 1);
        arm->mid_ns = IFM_ARENA_ARRAY(work->d->arena, double, work->n_blocks + 1);
        arm->present = IFM_ARENA_ARRAY(work->d->arena, bool, work->n_blocks + 1);
        arm->disturbed = IFM_ARENA_ARRAY(work->d->arena, bool, work->n_blocks + 1);
        arm->stolen = IFM_ARENA_ARRAY(work->d->arena, bool, work->n_blocks + 1);
        arm->waited_ns = IFM_ARENA_ARRAY(work->d->arena, double, work->n_blocks + 1);
        arm->stolen_ns = IFM_ARENA_ARRAY(work->d->arena, double, work->n_blocks + 1);
        arm->slot_ns = IFM_ARENA_ARRAY(work->d->arena, double, work->n_blocks + 1);
    }
    choose_compared(work->d->facts, work);
}

/* The median duration of a slot's samples, in ns, and their sum. */
static double slot_median(const struct ifm_record *record, size_t slot, double *scratch, double *sum)
{
    size_t first = record->first[slot], n = record->first[slot + 1] - first;
    *sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = (double)record->samples[first + i].duration_ns;
        *sum += scratch[i];
    }
    ifm_stats_sort(scratch, scratch + n, n);
    double median = 0.0;
    if (ifm_stats_quantile_sorted(scratch, n, 0.5, &median) != IFM_STAT_OK)
        return 0.0; /* an empty slot */
    return median;
}

static void add_slot(struct ifm_arm_work *arm, const struct ifm_record *record, size_t k, size_t block, double tick_ns,
                     double *slots_here, double *scratch)
{
    const struct ifm_slot *slot = &record->slots[k];
    double sum, median = slot_median(record, k, scratch, &sum);
    if (median <= 0 || slot->inner == 0) {
        arm->broken =
            ifm_arena_printf(arm->d->arena, "the median sample of block %u lasted 0 ns: the clock cannot resolve it",
                             (unsigned)slot->block);
        return;
    }
    double step_ns = sum / ((double)slot->samples * (double)slot->inner);
    arm->fastest_ns = arm->fastest_ns == 0 ? step_ns : fmin(arm->fastest_ns, step_ns);
    double shortest_ns = scratch[0] / (double)slot->inner; /* samples are in order now */
    if (arm->shortest_ns == 0 || shortest_ns < arm->shortest_ns) {
        arm->shortest_ns = shortest_ns;
        arm->fastest_at = block;
    }
    arm->time_ns[block] += sum;
    arm->steps[block] += (double)slot->samples * (double)slot->inner;
    arm->log_median[block] += log(median / (double)slot->inner);
    arm->mid_ns[block] += 0.5 * ((double)slot->start_ns + (double)slot->end_ns);
    slots_here[arm->index] += 1;
    arm->quantum = fmax(arm->quantum, tick_ns / median);
    arm->inner_low = slot->inner < arm->inner_low ? slot->inner : arm->inner_low;
    arm->inner_high = slot->inner > arm->inner_high ? slot->inner : arm->inner_high;
}

static void close_block(struct ifm_cell_work *work, size_t block, double *slots_here)
{
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        struct ifm_arm_work *arm = &work->arms[a];
        if (slots_here[a] > 0) {
            arm->log_median[block] /= slots_here[a];
            arm->mid_ns[block] /= slots_here[a];
            arm->present[block] = true;
            arm->n_blocks++;
        }
        slots_here[a] = 0;
    }
}

static struct ifm_cause_columns causes_of(const struct ifm_record *record)
{
    return ifm_cause_columns_of((const char *const *)record->column_names, record->n_columns);
}

const char *ifm_derive_mark_cause(const struct ifm_record *record, size_t from, size_t to, struct ifm_arena *arena)
{
    struct ifm_cause_columns columns = causes_of(record);
    char text[IFM_CAUSE_TEXT];
    double amount;
    enum ifm_cause worst = ifm_slots_cause(&record->slots[from], to - from, &columns, &amount);
    return ifm_arena_printf(arena, "%s", ifm_cause_text(worst, amount, text));
}

static void count_slot(struct ifm_cell_work *work, const struct ifm_slot *slot)
{
    struct ifm_arm_work *arm = &work->arms[slot->arm];
    if (slot->phase != IFM_PHASE_WARMUP) {
        arm->n_samples += slot->samples;
        arm->n_slots++;
    } else {
        arm->n_warmup += slot->samples;
    }
}

static size_t longest_slot(const struct ifm_record *record)
{
    size_t longest = 0;
    for (size_t k = 0; k < record->n_slots; k++)
        longest = record->slots[k].samples > longest ? record->slots[k].samples : longest;
    return longest;
}

/* The clock's tick as the run found it; readings are whole nanoseconds, so it is one at least. */
static double clock_tick_ns(const struct ifm_cell_work *work)
{
    double tick = 1;
    IFM_EACH_TOLD(event, work, calibrate, NULL)
        tick = fmax(tick, IFM_FACTS(event, calibrate)->clock_tick_ns);
    return tick;
}

/* What the slot lost, and of how much, whether or not that marks it. */
static void add_lost(struct ifm_arm_work *arm, size_t block, const struct ifm_slot *slot,
                     const struct ifm_cause_columns *causes)
{
    const double ns = (double)(slot->end_ns - slot->start_ns), before = arm->slot_ns[block];
    arm->waited_ns[block] = fmax(arm->waited_ns[block], ifm_slot_waited_ns(slot, causes));
    arm->stolen_ns[block] = fmax(arm->stolen_ns[block], ifm_slot_stolen_ns(slot, causes));
    arm->slot_ns[block] = before == 0 ? ns : fmin(before, ns);
}

static void mark_slot(struct ifm_cell_work *work, size_t block, const struct ifm_slot *slot,
                      const struct ifm_cause_columns *causes)
{
    double amount;
    if (slot->arm < work->cell->n_arms)
        add_lost(&work->arms[slot->arm], block, slot, causes);
    enum ifm_cause cause = ifm_slot_cause(slot, causes, &amount);
    if (cause == IFM_CAUSE_NONE)
        return;
    work->marked[block] = true;
    work->by_machine[block] |= cause != IFM_CAUSE_FAULTED;
    if (slot->arm < work->cell->n_arms)
        (cause == IFM_CAUSE_STOLEN ? work->arms[slot->arm].stolen : work->arms[slot->arm].disturbed)[block] = true;
}

/* Slots that do not name an arm of the plan are left to the rules, which refuse the cell. */
static void fill_blocks(struct ifm_cell_work *work)
{
    const struct ifm_record *record = work->record;
    struct ifm_arena *scratch = ifm_arena_create();
    double *values = IFM_ARENA_ARRAY(scratch, double, 2 * longest_slot(record) + 2);
    double *slots_here = IFM_ARENA_ARRAY(scratch, double, work->cell->n_arms + 1);
    struct ifm_cause_columns causes = causes_of(record);
    double tick_ns = clock_tick_ns(work);
    size_t block = 0;
    bool open = false;
    for (size_t k = 0; k < record->n_slots; k++) {
        const struct ifm_slot *slot = &record->slots[k];
        bool counts = slot->phase != IFM_PHASE_WARMUP;
        if (open && (!counts || slot->block != work->block[block])) {
            close_block(work, block++, slots_here);
            open = false;
        }
        if (counts) {
            open = true;
            work->block[block] = slot->block;
            work->is_round[block] = slot->phase == IFM_PHASE_CEILING;
            mark_slot(work, block, slot, &causes);
        }
        if (slot->arm >= work->cell->n_arms)
            continue;
        count_slot(work, slot);
        if (counts)
            add_slot(&work->arms[slot->arm], record, k, block, tick_ns, slots_here, values);
    }
    if (open)
        close_block(work, block, slots_here);
    ifm_arena_destroy(scratch);
}

/* Programs that ran, and of which a slot does not say what they waited: it may be disturbed unseen. A scripted device
 * runs none. */
static bool find_untold(struct ifm_cell_work *work, const struct ifm_cause_columns *causes)
{
    bool any = false;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        struct ifm_arm_work *arm = &work->arms[a];
        const struct ifm_slot *slot;
        arm->untold = false;
        for (size_t k = 0; (slot = ifm_next_slot(arm, &k)) != NULL; k++)
            arm->untold |= causes->program_ns >= 0 && slot->columns[causes->program_ns] != IFM_ABSENT &&
                           !ifm_cause_was_read(slot, causes);
        any |= arm->untold;
    }
    return any;
}

/* Whether the marks mean anything: a column that was never read cannot mark. */
static const char *why_marks_unknown(struct ifm_cell_work *work)
{
    const struct ifm_record *record = work->record;
    struct ifm_cause_columns causes = causes_of(record);
    if (ifm_cause_of_programs(&causes))
        return find_untold(work, &causes) ? IFM_UNTOLD_WORDS : NULL;
    for (size_t k = 0; k < record->n_slots; k++)
        if (ifm_cause_was_read(&record->slots[k], &causes))
            return NULL;
    return "neither stolen time nor waiting for a CPU nor involuntary context switches were recorded";
}

/* Blocks that the run itself has found disturbed: a clock that skipped, a thread on another CPU. Those of another pass
 * have numbers of their own. */
static void mark_disturbed(struct ifm_cell_work *work)
{
    const char *own = ifm_pass_names[IFM_PASS_LATENCY];
    IFM_EACH_TOLD(event, work, disturbed, NULL) {
        const struct ifm_event_disturbed *told = IFM_FACTS(event, disturbed);
        for (size_t b = 0; strcmp(told->pass, own) == 0 && b < work->n_blocks; b++)
            work->marked[b] |= work->block[b] == told->block;
    }
}

/* What the run did about each measured block: by the record alone, as the run itself saw it. */
static void find_fates(struct ifm_cell_work *work)
{
    const struct ifm_record *record = work->record;
    struct ifm_repeats repeats = ifm_repeats_of((const char *const *)record->column_names, record->n_columns,
                                                work->d->plan->rules, work->rows, work->cell);
    size_t block = 0;
    for (size_t k = 0, end; k < record->n_slots; k = end) {
        for (end = k + 1; end < record->n_slots && record->slots[end].block == record->slots[k].block;)
            end++;
        work->turn[block] = ifm_repeats_turn(&repeats, repeats.blocks);
        if (record->slots[k].phase == IFM_PHASE_MEASURE)
            work->fate[block] = ifm_repeats_take(&repeats, &record->slots[k], end - k);
        block += record->slots[k].phase != IFM_PHASE_WARMUP;
    }
    work->n_repeated = repeats.repeated;
}

void ifm_derive_blocks(struct ifm_cell_work *work)
{
    const struct ifm_event_calibrate *told = IFM_TOLD(work, calibrate, NULL);
    work->rows = told != NULL && told->rows == 1 ? 1 : 2;
    if (work->record != NULL)
        work->n_blocks = count_blocks(work->record);
    work->block = IFM_ARENA_ARRAY(work->d->arena, uint32_t, work->n_blocks + 1);
    work->marked = IFM_ARENA_ARRAY(work->d->arena, bool, work->n_blocks + 1);
    work->by_machine = IFM_ARENA_ARRAY(work->d->arena, bool, work->n_blocks + 1);
    work->is_round = IFM_ARENA_ARRAY(work->d->arena, bool, work->n_blocks + 1);
    work->fate = IFM_ARENA_ARRAY(work->d->arena, enum ifm_block_fate, work->n_blocks + 1);
    work->turn = IFM_ARENA_ARRAY(work->d->arena, uint32_t, work->n_blocks + 1);
    make_arms(work);
    if (work->record == NULL)
        return;
    fill_blocks(work);
    find_fates(work);
    mark_disturbed(work);
    work->marks_unknown = why_marks_unknown(work);
    for (size_t b = 0; b < work->n_blocks; b++) {
        work->n_measured += !work->is_round[b];
        work->n_marked += work->marked[b] && !work->is_round[b];
    }
}
