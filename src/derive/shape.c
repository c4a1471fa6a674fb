/* The shape of one arm's latency series: modes, change points, and where it becomes steady. It describes, and warns; it
 * changes no other number and drops no sample. */
#include "derive/internal.h"

#include "base/text.h"
#include "stats/modes.h"
#include "stats/steady.h"
#include <math.h>

enum { MOST = 5000, NAMED = 6 }; /* values that are looked at; change points that are named */

/* Levels closer than this are one: what Barrett et al. 2017 use, on our scale at least a tick of the clock. */
#define LEVEL_MARGIN 0.001
#define CHI2_1_UPPER_QUARTILE 1.3233036969314664

struct shape_series {
    size_t n, every;             /* values, and the samples that each stands for */
    size_t n_samples;            /* behind them */
    double *means;               /* of `every` consecutive samples: the time axis */
    double *picked;              /* one sample in `every`, ascending: means would hide modes */
    double *scratch;             /* 6 (n + 1) */
    double *block_means, *spare; /* [n_blocks]: the means of a block's slots, equally weighted */
    uint32_t last_block;
    size_t n_blocks, in_block; /* slots in the last block */
    double within;             /* sum of squares of the samples about their slot's mean */
    size_t n_slots;
};

static void add_slot(struct shape_series *s, const struct ifm_record *record, size_t k, double *pending,
                     size_t *n_pending)
{
    double mean = 0.0, squares = 0.0, inner = record->slots[k].inner;
    size_t from = record->first[k], to = record->first[k + 1];
    for (size_t i = from; i < to; i++) {
        double x = (double)record->samples[i].duration_ns / inner, off = x - mean;
        mean += off / (double)(i - from + 1);
        squares += off * (x - mean);
        *pending += x;
        if (*n_pending == 0)
            s->picked[s->n] = x;
        s->n_samples++;
        if (++*n_pending < s->every)
            continue;
        s->means[s->n++] = *pending / (double)s->every;
        *pending = 0.0;
        *n_pending = 0;
    }
    if (to <= from)
        return;
    s->within += squares;
    s->n_slots++;
    if (s->n_blocks == 0 || s->last_block != record->slots[k].block) {
        s->last_block = record->slots[k].block;
        s->in_block = 0;
        s->block_means[s->n_blocks++] = 0.0;
    }
    double *block = &s->block_means[s->n_blocks - 1];
    *block += (mean - *block) / (double)++s->in_block;
}

/* A rest shorter than `every` is left out: at most one value in 5,000. */
static void gather(const struct ifm_arm_work *arm, struct ifm_arena *arena, struct shape_series *s)
{
    s->every = arm->n_samples > MOST ? (arm->n_samples + MOST - 1) / MOST : 1;
    size_t room = arm->n_samples / s->every + 2;
    s->means = IFM_ARENA_ARRAY(arena, double, room);
    s->picked = IFM_ARENA_ARRAY(arena, double, room);
    s->scratch = IFM_ARENA_ARRAY(arena, double, 6 * (room + 1));
    s->block_means = IFM_ARENA_ARRAY(arena, double, arm->n_slots + 1);
    s->spare = IFM_ARENA_ARRAY(arena, double, arm->n_slots + 1);
    double pending = 0.0;
    size_t n_pending = 0;
    const struct ifm_slot *slot;
    for (size_t k = 0; (slot = ifm_next_slot(arm, &k)) != NULL; k++)
        if (slot->inner > 0)
            add_slot(s, arm->work->record, k, &pending, &n_pending);
    ifm_stats_sort(s->picked, s->scratch, s->n);
}

/* How much more the means of blocks vary from one to the next than their samples explain; at least 1. From the upper
 * quartile of squared differences, which the few steps between levels leave alone. Reorders block_means. */
static double dependence_of(struct shape_series *s)
{
    double quartile;
    if (s->n_blocks < IFM_BLOCKS_NEEDED || s->n_samples <= s->n_slots || !(s->within > 0.0))
        return 1.0;
    for (size_t k = 0; k + 1 < s->n_blocks; k++) {
        double step = s->block_means[k + 1] - s->block_means[k];
        s->block_means[k] = step * step;
    }
    ifm_stats_sort(s->block_means, s->spare, s->n_blocks - 1);
    if (ifm_stats_quantile_sorted(s->block_means, s->n_blocks - 1, 0.75, &quartile) != IFM_STAT_OK)
        return 1.0;
    double length = (double)s->n_samples / (double)s->n_blocks;
    double between = length * 0.5 * quartile / CHI2_1_UPPER_QUARTILE;
    double ratio = between / (s->within / (double)(s->n_samples - s->n_slots));
    return ratio > 1.0 && isfinite(ratio) ? ratio : 1.0;
}

static struct ifm_value absent(const struct ifm_arm_work *arm, enum ifm_stat stat, size_t needs,
                               const struct shape_series *s)
{
    const char *reason = stat == IFM_STAT_TOO_FEW
                             ? ifm_arena_printf(arm->d->arena, "needs %zu samples, has %zu", needs, s->n_samples)
                             : ifm_stat_reason(stat);
    return ifm_value_absent(reason, stat == IFM_STAT_TOO_FEW ? ifm_derive_more(arm->work, "samples") : "",
                            (int64_t)s->n_samples, "samples");
}

/* Is each mode there in both halves of the series? A level that changes once makes two modes too, and is no mixture. */
static bool take_turns(const struct ifm_arm_work *arm, const struct shape_series *s, const struct ifm_modes *modes)
{
    const struct ifm_record *record = arm->work->record;
    size_t counts[2][IFM_MODES_MOST] = {{0}}, i = 0;
    const struct ifm_slot *slot;
    for (size_t k = 0; (slot = ifm_next_slot(arm, &k)) != NULL; k++)
        for (size_t at = record->first[k]; slot->inner > 0 && at < record->first[k + 1]; at++, i++) {
            const double x = (double)record->samples[at].duration_ns / slot->inner;
            size_t mode = 0;
            while (mode + 1 < modes->count && x > modes->mode[mode].until)
                mode++;
            counts[2 * i >= s->n_samples][mode]++;
        }
    for (size_t k = 0; k < modes->count; k++)
        for (size_t half = 0; half < 2; half++)
            if ((double)counts[half][k] < 0.25 * modes->mode[k].share * (double)s->n_samples)
                return false;
    return true;
}

/* Are they so far apart that whoever reads one time must know of them? */
static bool mislead(const struct ifm_arm_work *arm, const struct shape_series *s, const struct ifm_modes *modes)
{
    const double far = 1.1;
    return modes->plain && modes->count <= IFM_MODES_MOST &&
           modes->mode[modes->count - 1].at >= far * modes->mode[0].at && take_turns(arm, s, modes);
}

static void emit_modes(const struct ifm_arm_work *arm, const struct shape_series *s, bool tell)
{
    struct ifm_modes modes;
    enum ifm_stat stat = ifm_stats_modes(s->picked, s->n, &modes);
    if (stat != IFM_STAT_OK) {
        ifm_derive_emit(arm, IFM_M_MODES_COUNT, absent(arm, stat, 30, s));
        return;
    }
    struct ifm_value value = ifm_value_count_of((int64_t)modes.count, (int64_t)s->n, "samples");
    struct ifm_text text = {0};
    char at[48];
    for (size_t k = 0; k < modes.count && k < IFM_MODES_MOST && modes.count > 1; k++)
        ifm_text_printf(&text, "%s%.0f %% at %s", k > 0 ? ", " : "", 100.0 * modes.mode[k].share,
                        ifm_format_human(modes.mode[k].at, "ns", at));
    if (modes.count > 1) {
        value.text = ifm_arena_strdup(arm->d->arena, text.data);
        if (tell)
            ifm_derive_say_arm(arm, IFM_SEVERITY_NOTE, "rule-07",
                               "the step time has %zu modes (%s): no single number describes it", modes.count,
                               text.data)
                ->kind = mislead(arm, s, &modes) ? IFM_FINDING_MODES : IFM_FINDING_OTHER;
    }
    ifm_text_free(&text);
    ifm_derive_emit(arm, IFM_M_MODES_COUNT, value);
}

/* "slow-down: after 400, 1200 of 2000 samples" */
static const char *where_changed(struct ifm_derivation *d, const struct shape_series *s,
                                 const struct ifm_changes *changes, const size_t *at, const char *class)
{
    struct ifm_text text = {0};
    ifm_text_printf(&text, "%s: after", class);
    for (size_t k = 0; k < changes->count && k + 1 < NAMED; k++)
        ifm_text_printf(&text, "%s %zu", k > 0 ? "," : "", at[k] * s->every);
    if (changes->count >= NAMED) /* the last one says whether it ended */
        ifm_text_printf(&text, "%s, %zu", changes->count > NAMED ? ", ..." : "", at[changes->count - 1] * s->every);
    ifm_text_printf(&text, " of %zu samples", s->n_samples);
    const char *out = ifm_arena_strdup(d->arena, text.data);
    ifm_text_free(&text);
    return out;
}

/* `at` has room for s->n. Nothing changes in equal values, for certain. */
static enum ifm_stat find_changes(struct shape_series *s, size_t *at, struct ifm_changes *out)
{
    enum ifm_stat stat = ifm_stats_changes(s->means, s->n, dependence_of(s), s->scratch, at, s->n, out);
    if (stat != IFM_STAT_CONSTANT)
        return stat;
    *out = (struct ifm_changes){.count = 0};
    return IFM_STAT_OK;
}

size_t ifm_derive_change_points(const struct ifm_arm_work *arm, struct ifm_arena *arena, size_t **before)
{
    struct ifm_arena *scratch = ifm_arena_create();
    struct shape_series s = {0};
    struct ifm_changes changes;
    size_t n = 0;
    gather(arm, scratch, &s);
    size_t *at = IFM_ARENA_ARRAY(scratch, size_t, s.n + 1);
    if (find_changes(&s, at, &changes) == IFM_STAT_OK)
        n = changes.count;
    *before = IFM_ARENA_ARRAY(arena, size_t, n + 1);
    for (size_t k = 0; k < n; k++)
        (*before)[k] = at[k] * s.every;
    ifm_arena_destroy(scratch);
    return n;
}

/* When the sample behind so many was taken. */
static double time_behind(const struct ifm_arm_work *arm, size_t samples)
{
    const struct ifm_slot *slot;
    double at_ns = 0;
    for (size_t k = 0, n = 0; n <= samples && (slot = ifm_next_slot(arm, &k)) != NULL; k++) {
        const double share = slot->samples > 0 ? (double)(samples - n) / slot->samples : 0;
        at_ns = (double)slot->start_ns + fmin(share, 1) * (double)(slot->end_ns - slot->start_ns);
        n += slot->samples;
    }
    return at_ns;
}

/* The mean behind the last change, over that of what lies between it and the one before. */
static double last_change(const struct shape_series *s, const size_t *at, size_t n)
{
    const size_t last = at[n - 1], first = n > 1 ? at[n - 2] : 0;
    double before = 0, after = 0;
    for (size_t i = first; i < s->n; i++)
        *(i < last ? &before : &after) += s->means[i];
    return after / (double)(s->n - last) / (before / (double)(last - first)) - 1;
}

/* `by`: how much the last change is; within the margin it is none that anybody asked about. */
static void say_unsteady(const struct ifm_arm_work *arm, double by, size_t from, size_t n)
{
    if (fabs(by) <= arm->work->cell->measure.margin)
        return;
    const double at_ns = time_behind(arm, from);
    const enum ifm_shared shared = ifm_derive_shared(arm, &at_ns);
    struct ifm_finding *said = ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-07",
                                                  "no steady state%s: the level of the samples still changes in the "
                                                  "last quarter (last by %+.2g %% after %zu of %zu samples)",
                                                  ifm_derive_shared_words(arm->work, shared), 100 * by, from, n);
    said->kind = IFM_FINDING_UNSTEADY;
    said->of_one = shared == IFM_SHARED_BY_NONE;
}

static void emit_changes(const struct ifm_arm_work *arm, struct ifm_arena *arena, struct shape_series *s, bool tell)
{
    struct ifm_changes changes;
    struct ifm_steady steady;
    size_t *at = IFM_ARENA_ARRAY(arena, size_t, s->n + 1);
    double middle = 0.0, margin = LEVEL_MARGIN;
    enum ifm_stat stat = find_changes(s, at, &changes);
    if (stat == IFM_STAT_OK)
        stat = ifm_stats_quantile_sorted(s->picked, s->n, 0.5, &middle);
    if (stat == IFM_STAT_OK) {
        margin = middle > 0.0 ? fmax(margin, 1.0 / (middle * fmax(1.0, (double)arm->inner_low))) : margin;
        stat = ifm_stats_steadiness(s->means, s->n, at, changes.count, margin, s->scratch, &steady);
    }
    if (stat != IFM_STAT_OK) {
        ifm_derive_emit(arm, IFM_M_CHANGE_POINTS, absent(arm, stat, 2 * IFM_CHANGE_SEGMENT, s));
        return;
    }
    struct ifm_value value = ifm_value_count_of((int64_t)changes.count, (int64_t)s->n_samples, "samples");
    if (changes.count > 0)
        value.text = where_changed(arm->d, s, &changes, at, ifm_steadiness_name(steady.class));
    ifm_derive_emit(arm, IFM_M_CHANGE_POINTS, value);
    if (tell && steady.class == IFM_STEADY_NONE)
        say_unsteady(arm, last_change(s, at, changes.count), steady.from * s->every, s->n_samples);
}

static void emit_cut(const struct ifm_arm_work *arm, const struct shape_series *s)
{
    struct ifm_warmup_cut cut;
    struct ifm_value value;
    enum ifm_stat stat = ifm_stats_mser5(s->means, s->n, &cut);
    if (stat != IFM_STAT_OK)
        value = absent(arm, stat, 100, s);
    else if (!cut.reached)
        value = ifm_value_absent("the cut lies beyond half of the series, which so holds no steady part",
                                 "a longer warm-up, or more samples", (int64_t)s->n_samples, "samples");
    else
        value = ifm_value_real(100.0 * (double)cut.cut / (double)s->n, (int64_t)s->n_samples, "samples");
    ifm_derive_emit(arm, IFM_M_STEADY_FROM_PERCENT, value);
}

void ifm_derive_shape(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    if (work->record == NULL) {
        static const enum ifm_metric_id made[] = {IFM_M_MODES_COUNT, IFM_M_CHANGE_POINTS, IFM_M_STEADY_FROM_PERCENT};
        for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
            ifm_derive_emit(arm, made[i], ifm_value_missing(work, ""));
        return;
    }
    struct ifm_arena *arena = ifm_arena_create();
    struct shape_series s = {0};
    gather(arm, arena, &s);
    /* A cache sweep has dozens of arms that are a means, not a subject. What is withheld is not told in words. */
    bool tell = !ifm_derive_is_cache_probe(arm->arm) && arm->broken == NULL && arm->d->refusal.rule == NULL &&
                work->refusal.rule == NULL && arm->refusal.rule == NULL;
    emit_modes(arm, &s, tell);
    emit_changes(arm, arena, &s, tell);
    emit_cut(arm, &s);
    ifm_arena_destroy(arena);
}
