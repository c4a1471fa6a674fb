/* What else the blocks recorded: columns by block, the operating points of compared arms (rule 8), and the companions
 * of a comparison.
 *
 * Arms are compared inside each block, where both met the same machine, and never by means over the whole pass. */
#include "derive/internal.h"

#include <math.h>
#include <string.h>

/* A comparison allows for clocks that differ by more than this share inside the blocks ... */
#define CLOCK_BAND 0.02
/* ... and a difference of temperature or power beyond these is said: they follow from what the arm does, and slow it
 * only through its clock. */
#define TEMPERATURE_BAND_MC 5000.0
#define POWER_BAND 0.10

struct ifm_column_block *ifm_derive_column_blocks(const struct ifm_arm_work *arm, int column, struct ifm_arena *arena,
                                                  size_t *read)
{
    const struct ifm_cell_work *work = arm->work;
    struct ifm_column_block *out = IFM_ARENA_ARRAY(arena, struct ifm_column_block, work->n_blocks + 1);
    double lead = ifm_derive_lead(arm);
    size_t block = 0;
    const struct ifm_slot *slot;
    for (size_t k = 0; column >= 0 && (slot = ifm_next_slot(arm, &k)) != NULL; k++) {
        while (block < work->n_blocks && work->block[block] != slot->block)
            block++;
        if (block == work->n_blocks)
            break; /* blocks out of order: the rules on the record refuse the cell */
        struct ifm_column_block *b = &out[block];
        int64_t value = slot->columns[column];
        b->read = (b->slots == 0 || b->read) && value != IFM_ABSENT;
        b->total += value == IFM_ABSENT ? 0.0 : (double)value;
        /* The untimed step before them is inside the instrument's brackets. */
        b->steps += (double)slot->samples * (double)slot->inner + lead;
        b->slots += 1;
    }
    *read = 0;
    for (size_t b = 0; b < work->n_blocks; b++)
        *read += out[b].read;
    return out;
}

/* Means over the blocks that both arms read. */
struct pair {
    size_t n, n_blocks;
    double own, base;  /* of levels: mean reading; of amounts: per step */
    double difference; /* mean over blocks of own - base */
    double ratio;      /* mean over blocks of own / base; NaN-free: 0 where a base is not positive */
    double step_ns;    /* of the baseline */
};

static double reading(const struct ifm_column_block *block, bool level)
{
    return block->total / (level ? block->slots : block->steps);
}

/* The real clock of a GPU in kHz, as a level: all cycles of a block's slots over all of their time. */
static void cycles_as_khz(const struct ifm_arm_work *arm, struct ifm_column_block *out)
{
    const struct ifm_cell_work *work = arm->work;
    struct ifm_arena *scratch = ifm_arena_create();
    int column = ifm_derive_column(work->record, "gpu_clock_span_ns");
    size_t read;
    const struct ifm_column_block *span = ifm_derive_column_blocks(arm, column, scratch, &read);
    for (size_t b = 0; b < work->n_blocks; b++) {
        out[b].read = out[b].read && span[b].read && span[b].total > 0;
        out[b].total = out[b].read ? 1e6 * out[b].total / span[b].total * out[b].slots : 0.0;
    }
    ifm_arena_destroy(scratch);
}

static bool is_cycles(const struct ifm_cell_work *work, int column)
{
    return column >= 0 && strcmp(work->record->column_names[column], "gpu_cycles") == 0;
}

/* Of cycles it is the clock that is paired: a level in kHz. */
static struct pair pair_of(const struct ifm_arm_work *arm, const struct ifm_arm_work *other, int column, bool level)
{
    const struct ifm_cell_work *work = arm->work;
    struct ifm_arena *scratch = ifm_arena_create();
    size_t read;
    struct ifm_column_block *own = ifm_derive_column_blocks(arm, column, scratch, &read);
    struct ifm_column_block *base = ifm_derive_column_blocks(other, column, scratch, &read);
    struct pair pair = {0};
    bool positive = true;
    if (is_cycles(work, column)) {
        cycles_as_khz(arm, own);
        cycles_as_khz(other, base);
    }
    for (size_t b = 0; b < work->n_blocks; b++) {
        pair.n_blocks += arm->present[b] && other->present[b];
        if (!own[b].read || !base[b].read || !other->present[b])
            continue;
        double x = reading(&own[b], level), y = reading(&base[b], level);
        pair.n++;
        pair.own += x;
        pair.base += y;
        pair.difference += x - y;
        positive = positive && y > 0;
        pair.ratio += y > 0 ? x / y : 0.0;
        pair.step_ns += other->time_ns[b] / other->steps[b];
    }
    if (pair.n > 0) {
        double n = (double)pair.n;
        pair = (struct pair){pair.n,          pair.n_blocks,       pair.own / n,
                             pair.base / n,   pair.difference / n, positive ? pair.ratio / n : 0.0,
                             pair.step_ns / n};
    }
    ifm_arena_destroy(scratch);
    return pair;
}

static const char *unit_of(const struct ifm_cell_work *work, const char *column)
{
    const struct ifm_cell *cell = work->cell;
    for (size_t c = 0; cell->n_passes > 0 && c < cell->passes[0].n_columns; c++)
        if (strcmp(cell->passes[0].columns[c], column) == 0)
            return cell->passes[0].column_units[c];
    return "";
}

/* A reading has a unit of state; everything else adds up. */
static bool is_level(const char *column, const char *unit)
{
    static const char *const units[] = {"kHz", "MHz", "Hz", "mC", "C", "mW", "W", "mV", "V", "%"};
    static const char *const names[] = {"cpu_khz", "temperature_mc", "power_mw"};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i], unit) == 0)
            return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], column) == 0)
            return true;
    return false;
}

static void say_warmth(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    struct pair t = pair_of(arm, work->baseline, ifm_derive_column(work->record, "temperature_mc"), true);
    struct pair p = pair_of(arm, work->baseline, ifm_derive_column(work->record, "power_mw"), true);
    if (t.n > 0 && fabs(t.difference) > TEMPERATURE_BAND_MC)
        ifm_derive_say_arm(arm, IFM_SEVERITY_NOTE, "rule-08",
                           "inside its blocks the arm ran %.1f K %s than its baseline, beyond the band of %.0f K",
                           1e-3 * fabs(t.difference), t.difference > 0 ? "hotter" : "cooler",
                           1e-3 * TEMPERATURE_BAND_MC);
    if (p.n > 0 && p.ratio > 0 && fabs(p.ratio - 1.0) > POWER_BAND)
        ifm_derive_say_arm(arm, IFM_SEVERITY_NOTE, "rule-08",
                           "inside its blocks the arm drew %.1f %% %s power than its baseline, beyond the band of "
                           "%.0f %%",
                           100.0 * fabs(p.ratio - 1.0), p.ratio > 1.0 ? "more" : "less", 100.0 * POWER_BAND);
}

static struct pair clocks_of(const struct ifm_arm_work *arm, const struct ifm_arm_work *other)
{
    const struct ifm_record *record = arm->work->record;
    int cycles = ifm_derive_column(record, "gpu_cycles");
    return pair_of(arm, other, cycles >= 0 ? cycles : ifm_derive_column(record, "cpu_khz"), true);
}

static bool is_read(const struct pair *clock)
{
    return clock->n > 0 && clock->n == clock->n_blocks && clock->ratio > 0;
}

double ifm_derive_clocks_apart(const struct ifm_arm_work *arm, const struct ifm_arm_work *other)
{
    const struct pair clock = clocks_of(arm, other);
    return is_read(&clock) && fabs(clock.ratio - 1.0) > CLOCK_BAND ? log(clock.ratio) : 0;
}

struct ifm_clocks ifm_derive_clocks(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    const struct pair clock = clocks_of(arm, work->baseline);
    say_warmth(arm);
    if (!is_read(&clock) &&
        work->cell->measure.locks != IFM_LOCKS_REQUIRED) /* else the locks themselves are read back */
        ifm_derive_say_arm(arm, IFM_SEVERITY_NOTE, "rule-08",
                           "the clocks of this arm and of its baseline could not be read back and compared");
    return (struct ifm_clocks){ifm_derive_clocks_apart(arm, work->baseline), clock.own, clock.base};
}

void ifm_derive_say_clocks(const struct ifm_arm_work *arm, const struct ifm_clocks *clocks, bool stands)
{
    struct ifm_finding *said = ifm_derive_say_arm(
        arm, stands ? IFM_SEVERITY_NOTE : IFM_SEVERITY_WARNING, "rule-08",
        "the arm ran at %.0f MHz and its baseline at %.0f MHz, %.1f %% apart inside the blocks and "
        "more than %.0f %%: %s",
        clocks->own_khz / 1000.0, clocks->base_khz / 1000.0, 100.0 * fabs(expm1(clocks->apart)), 100.0 * CLOCK_BAND,
        stands ? IFM_CLOCKS_WORDS : "undecided, as the difference belongs to the clock");
    said->kind = IFM_FINDING_CLOCKS;
    said->takes_word = !stands;
}

/* The time of the cycles, and what other clocks are said to be: no causes beside the clock that the cycles give. */
static bool is_beside_cycles(const struct ifm_cell_work *work, const char *column)
{
    return ifm_derive_column(work->record, "gpu_cycles") >= 0 &&
           (strcmp(column, "gpu_clock_span_ns") == 0 || strcmp(column, "gpu_clock_reported_mhz") == 0 ||
            strcmp(column, "cpu_khz") == 0);
}

void ifm_derive_companions(const struct ifm_arm_work *arm)
{
    struct ifm_cell_work *work = arm->work;
    struct ifm_derived *out = arm->d->out;
    for (size_t c = 0; c < work->record->n_columns; c++) {
        const char *column = ifm_arena_strdup(arm->d->arena, work->record->column_names[c]);
        bool cycles = is_cycles(work, (int)c);
        const char *unit = cycles ? "kHz" : unit_of(work, column);
        bool level = cycles || is_level(column, unit);
        if (is_beside_cycles(work, column) || strcmp(column, "child_wall_ns") == 0 /* that is the time itself */ ||
            strcmp(column, "child_foreign_ns") == 0 || strcmp(column, "child_cpu") == 0) /* of no step */
            continue;
        struct pair pair = pair_of(arm, work->baseline, (int)c, level);
        bool refused = arm->energy_refused.rule != NULL || work->baseline->energy_refused.rule != NULL;
        if (pair.n == 0 || (refused && strcmp(column, "energy_uj") == 0))
            continue;
        IFM_ARENA_GROW(arm->d->arena, out->companions, out->n_companions, arm->d->companions_capacity);
        out->companions[out->n_companions++] =
            (struct ifm_companion){.cell = work->cell->name,
                                   .arm = arm->arm->name,
                                   .column = cycles ? "gpu_clock_khz" : column,
                                   .unit = unit,
                                   .kind = level ? IFM_COMPANION_LEVEL : IFM_COMPANION_AMOUNT,
                                   .n = (int64_t)pair.n,
                                   .own = pair.own,
                                   .base = pair.base,
                                   .step_ns = pair.step_ns};
    }
}
