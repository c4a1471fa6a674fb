/* The stop decision, made again from the samples: a run ended when its rule had enough, and not before or later.
 *
 * run.log tells the reason with its inputs (run/pass/stop.h). Counts, times and the detectable effect follow from the
 * record; where they do not, blocks were removed or put in, and the cell is refused. */
#include "derive/internal.h"

#include "base/order.h"
#include "stats/sequential.h"
#include "stats/tail.h"
#include <math.h>
#include <string.h>

enum { BLOCKS_FOR_WIDTH = 10 }; /* as in run/pass/stop.c */
#define AGREES 1e-6

/* What a block is to the rule: earlier versions took the logarithms of the slots' medians, later ones the mean time of
 * a step, and its influence on the logarithm of all; the last one goes on until slow steps must have been seen
 * (run/pass/stop.c). */
enum centre { BY_MEDIAN, BY_MEAN, BY_MEAN_AND_TAIL, CENTRES };

struct replay {
    const struct ifm_cell_work *work;
    enum centre centre;
    size_t baseline, variants, n; /* n: blocks so far */
    double tail;                  /* steps so far, by block those of the arm with fewest that is compared */
    double tick_ns, level, margin;
    double *mean, *m2, *cross, *block, *tick, *scratch; /* per arm; of the longest slot */
};

static bool replay_begin(struct replay *replay, const struct ifm_cell_work *work, enum centre centre)
{
    const struct ifm_cell *cell = work->cell;
    const struct ifm_event_calibrate *told = IFM_TOLD(work, calibrate, NULL);
    struct ifm_arena *arena = work->d->arena;
    size_t longest = 1;
    *replay = (struct replay){.work = work, .centre = centre};
    for (size_t k = 0; k < work->record->n_slots; k++)
        longest = work->record->slots[k].samples > longest ? work->record->slots[k].samples : longest;
    replay->scratch = IFM_ARENA_ARRAY(arena, double, longest);
    replay->mean = IFM_ARENA_ARRAY(arena, double, cell->n_arms);
    replay->m2 = IFM_ARENA_ARRAY(arena, double, cell->n_arms);
    replay->cross = IFM_ARENA_ARRAY(arena, double, cell->n_arms);
    replay->block = IFM_ARENA_ARRAY(arena, double, cell->n_arms);
    replay->tick = IFM_ARENA_ARRAY(arena, double, cell->n_arms);
    for (size_t a = 0; a < cell->n_arms; a++) {
        replay->variants += cell->arms[a].role == IFM_ROLE_VARIANT;
        if (cell->arms[a].role == IFM_ROLE_BASELINE)
            replay->baseline = a;
        if (work->arms[a].failed)
            return false;
    }
    replay->margin = replay->variants > 0 ? log1p(cell->measure.margin) : 0;
    replay->level = 1 - 0.05 / (replay->variants > 1 ? (double)replay->variants : 1);
    if (cell->measure.stop == IFM_STOP_MDE)
        replay->level = ifm_stats_fixed_width_level(replay->level);
    replay->tick_ns = told == NULL ? 0 : told->clock_tick_ns;
    return told != NULL;
}

static double centre_of(const struct replay *replay, size_t slot)
{
    const struct ifm_record *r = replay->work->record;
    size_t n = r->slots[slot].samples;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        replay->scratch[i] = (double)r->samples[r->first[slot] + i].duration_ns;
        sum += replay->scratch[i];
    }
    return fmax(1, replay->centre == BY_MEDIAN ? ifm_median(replay->scratch, n) : sum / (double)n);
}

/* Of the arms that are compared, in the block whose first slot is `k`. */
static double fewest_steps(const struct replay *replay, size_t k)
{
    const struct ifm_record *r = replay->work->record;
    const struct ifm_cell *cell = replay->work->cell;
    double fewest = INFINITY;
    for (size_t arm = 0; arm < cell->n_arms; arm++) {
        double steps = 0;
        for (size_t i = k; i < r->n_slots && r->slots[i].block == r->slots[k].block; i++)
            steps += r->slots[i].arm == arm ? (double)r->slots[i].samples * r->slots[i].inner : 0;
        if (cell->arms[arm].role != IFM_ROLE_CEILING)
            fewest = fmin(fewest, steps);
    }
    return isinf(fewest) ? 0 : fewest;
}

/* Take in the block whose first slot is `k`; returns the slot behind it. */
static size_t take(struct replay *replay, size_t k)
{
    const struct ifm_record *r = replay->work->record;
    size_t n_arms = replay->work->cell->n_arms;
    uint32_t block = r->slots[k].block;
    replay->tail += fewest_steps(replay, k);
    memset(replay->block, 0, n_arms * sizeof *replay->block);
    for (; k < r->n_slots && r->slots[k].block == block; k++) {
        double centre = centre_of(replay, k);
        size_t arm = r->slots[k].arm;
        replay->block[arm] += replay->centre == BY_MEDIAN ? log(centre) / 2 : centre / r->slots[k].inner / 2;
        replay->tick[arm] = fmax(replay->tick[arm], replay->tick_ns / centre);
    }
    double base = replay->block[replay->baseline] - replay->mean[replay->baseline];
    replay->n++;
    for (size_t a = 0; a < n_arms; a++) {
        double delta = replay->block[a] - replay->mean[a];
        replay->mean[a] += delta / (double)replay->n;
        replay->m2[a] += delta * (replay->block[a] - replay->mean[a]);
        replay->cross[a] += base * (replay->block[a] - replay->mean[a]);
    }
    return k;
}

/* Standard deviation of an arm's decision over blocks. */
static double sd_of(const struct replay *replay, size_t arm)
{
    bool relative = replay->centre != BY_MEDIAN;
    double own = relative ? replay->mean[arm] : 1, base = relative ? replay->mean[replay->baseline] : 1;
    double squares = replay->m2[arm] / (own * own);
    if (replay->variants > 0)
        squares += replay->m2[replay->baseline] / (base * base) - 2 * replay->cross[arm] / (own * base);
    return sqrt(fmax(squares, 0) / (double)(replay->n - 1));
}

/* Does the arm decide when to stop? Probes only when there is nothing else. */
static bool decides(const struct replay *replay, size_t arm)
{
    const struct ifm_cell *cell = replay->work->cell;
    if (replay->variants > 0)
        return cell->arms[arm].role == IFM_ROLE_VARIANT;
    return cell->arms[replay->baseline].role != IFM_ROLE_BASELINE || arm == replay->baseline;
}

static double mde_of(const struct replay *replay)
{
    double worst = 0, level, power, n = (double)replay->n;
    if (replay->n < 2 || ifm_stats_t_quantile(0.5 + replay->level / 2, n - 1, &level) != IFM_STAT_OK ||
        ifm_stats_t_quantile(0.8, n - 1, &power) != IFM_STAT_OK)
        return INFINITY;
    for (size_t a = 0; a < replay->work->cell->n_arms; a++)
        if (decides(replay, a))
            worst = fmax(worst, sd_of(replay, a));
    return expm1(replay->margin + (level + power) * worst / sqrt(n));
}

static double wanted_of(const struct replay *replay)
{
    double wanted = replay->work->cell->measure.mde;
    for (size_t a = 0; a < replay->work->cell->n_arms; a++)
        if (decides(replay, a))
            wanted = fmax(wanted, expm1(replay->margin + log1p(replay->tick[a])));
    return wanted;
}

/* The detectable effect behind the last block, and the first number of blocks at which it was small enough. */
static double replay_all(struct replay *replay, size_t *enough)
{
    const struct ifm_record *r = replay->work->record;
    const struct ifm_measure *measure = &replay->work->cell->measure;
    const double tail = replay->centre == BY_MEAN_AND_TAIL && replay->variants > 0 ? IFM_TAIL_RUNS : 0;
    *enough = 0;
    for (size_t k = 0; k < r->n_slots;) {
        if (r->slots[k].phase == IFM_PHASE_WARMUP) {
            k++;
            continue;
        }
        k = take(replay, k);
        if (*enough == 0 && replay->n >= BLOCKS_FOR_WIDTH && replay->n >= measure->blocks_min && replay->tail >= tail &&
            mde_of(replay) <= wanted_of(replay))
            *enough = replay->n;
    }
    return mde_of(replay);
}

static bool agree(double told, double found)
{
    if (isnan(told) || isinf(found))
        return isnan(told) && isinf(found);
    return fabs(told - found) <= AGREES * fmax(fabs(told), fabs(found)) + 1e-12;
}

static const char *check_effect(const struct ifm_cell_work *work, const struct ifm_event_stop *stop)
{
    double found = NAN;
    bool ended = strcmp(stop->reason, "mde") == 0, agreed = false;
    size_t enough = 0, n = 0;
    for (enum centre centre = 0; centre < CENTRES; centre++) {
        struct replay replay;
        if (!replay_begin(&replay, work, centre))
            return NULL;
        size_t from;
        found = replay_all(&replay, &from);
        n = replay.n;
        if (!agree(stop->mde, found))
            continue;
        agreed = true;
        enough = from;
        bool last = enough == n && strcmp(stop->reason, "blocks_max") == 0; /* which is asked first */
        if (work->cell->measure.stop != IFM_STOP_MDE || (ended ? enough == n : enough == 0 || last))
            return NULL;
    }
    if (agreed)
        return ifm_arena_printf(work->d->arena,
                                "run.log tells of a stop for \"%s\" at block %zu, and the samples were enough at "
                                "block %zu (0 = never)",
                                stop->reason, n, enough);
    return ifm_arena_printf(work->d->arena,
                            "the run stopped with a detectable effect of %.17g by run.log, and of %.17g by its samples",
                            stop->mde, found);
}

/* The reasons that a rule can have, and the number of blocks that each stands for. */
static const char *check_reason(const struct ifm_cell_work *work, const struct ifm_event_stop *stop)
{
    const struct ifm_measure *measure = &work->cell->measure;
    const struct ifm_event_calibrate *told = IFM_TOLD(work, calibrate, work->cell->arms[0].name);
    uint64_t blocks = (uint64_t)stop->blocks, wanted = blocks;
    bool known = strcmp(stop->reason, "cap") == 0 && stop->elapsed_s >= measure->cap_s;
    known |= strcmp(stop->reason, "mde") == 0 && measure->stop == IFM_STOP_MDE;
    known |= strcmp(stop->reason, "group") == 0 && measure->stop == IFM_STOP_GROUP;
    known &= measure->stop != IFM_STOP_REPEATS && blocks >= measure->blocks_min && blocks <= measure->blocks_max;
    if (strcmp(stop->reason, "blocks_max") == 0 && measure->stop != IFM_STOP_REPEATS) {
        known = true;
        wanted = measure->blocks_max > measure->blocks_min ? measure->blocks_max : measure->blocks_min;
    }
    if (strcmp(stop->reason, "repeats") == 0 && measure->stop == IFM_STOP_REPEATS) {
        known = true;
        uint64_t each = told == NULL ? 0 : 2 * (uint64_t)told->samples_per_slot;
        wanted = each == 0 ? blocks : (measure->repeats + each - 1) / each;
    }
    if (known && wanted == blocks)
        return NULL;
    return ifm_arena_printf(work->d->arena,
                            "by run.log the run stopped for \"%s\" at block %llu after %.3g s, and its configuration "
                            "does not stop there",
                            stop->reason, (unsigned long long)blocks, stop->elapsed_s);
}

/* Blocks take no longer than the time that they were taken in. */
static const char *check_elapsed(const struct ifm_cell_work *work, const struct ifm_event_stop *stop)
{
    const struct ifm_record *r = work->record;
    double all = 0;
    for (size_t k = 0, end; k < r->n_slots; k = end) {
        for (end = k + 1; end < r->n_slots && r->slots[end].block == r->slots[k].block;)
            end++;
        if (r->slots[k].phase == IFM_PHASE_MEASURE)
            all += (double)(r->slots[end - 1].end_ns - r->slots[k].start_ns) * 1e-9;
    }
    if (all <= stop->elapsed_s * (1 + AGREES) + 1e-6)
        return NULL;
    return ifm_arena_printf(work->d->arena, "the measured blocks last %.6g s, and run.log gives them %.6g s", all,
                            stop->elapsed_s);
}

void ifm_rules_stop(struct ifm_cell_work *work)
{
    const struct ifm_event_stop *stop = work->record == NULL ? NULL : IFM_TOLD(work, stop, NULL);
    if (stop == NULL || work->refusal.rule != NULL || work->cell->n_arms == 0)
        return;
    const char *reason = check_reason(work, stop);
    if (reason == NULL)
        reason = check_elapsed(work, stop);
    /* A resumed run may have found another tick of the clock. */
    if (reason == NULL && IFM_FIRST(work->journal, resume) == NULL)
        reason = check_effect(work, stop);
    if (reason != NULL)
        ifm_refuse_cell(work, "rule-04", reason);
}
