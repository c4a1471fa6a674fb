/* The stop decision, made again from the samples: a run ended when its rule had enough, and not before or later.
 *
 * run.log tells the reason with its inputs (run/pass/stop.h). Counts, times and the detectable effect follow from the
 * record; where they do not, blocks were removed or put in, and the cell is refused. */
#include "derive/internal.h"

#include "base/order.h"
#include "derive/compare/settled.h"
#include "stats/stop_blocks.h"
#include <math.h>
#include <string.h>

#define AGREES 1e-6

/* What a block is to the rule: earlier versions took the logarithms of the slots' medians, later ones the mean time of
 * a step, and its influence on the logarithm of all; the last one goes on until slow steps must have been seen
 * (run/pass/stop.c). */
enum centre { BY_MEDIAN, BY_MEAN, BY_MEAN_AND_TAIL, CENTRES };

struct replay {
    const struct ifm_cell_work *work;
    enum centre centre;
    struct ifm_stop_blocks all;
    double tick_ns;
    double *scratch; /* of the longest slot */
};

/* The plan that the run had: gates that were asked for later ended nothing. */
static const struct ifm_plan *plan_of_run(const struct ifm_derivation *d)
{
    struct ifm_plan *plan = IFM_ARENA_NEW(d->arena, struct ifm_plan);
    *plan = *d->plan;
    plan->n_gates -= d->facts->n_asked_later;
    return plan;
}

static bool replay_begin(struct replay *replay, const struct ifm_cell_work *work, enum centre centre)
{
    const struct ifm_event_calibrate *told = IFM_TOLD(work, calibrate, NULL);
    struct ifm_arena *arena = work->d->arena;
    size_t longest = 1, n = work->cell->n_arms;
    *replay =
        (struct replay){.work = work, .centre = centre, .all = ifm_stop_blocks_of(work->cell, plan_of_run(work->d))};
    replay->all.logarithms = centre == BY_MEDIAN;
    for (size_t k = 0; k < work->record->n_slots; k++)
        longest = work->record->slots[k].samples > longest ? work->record->slots[k].samples : longest;
    replay->scratch = IFM_ARENA_ARRAY(arena, double, longest);
    double **const arrays[] = {&replay->all.mean,  &replay->all.m2,   &replay->all.cross,
                               &replay->all.block, &replay->all.done, &replay->all.tick};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = IFM_ARENA_ARRAY(arena, double, n);
    size_t looks = ifm_stop_blocks_room(&replay->all);
    replay->all.room = looks < work->n_blocks ? looks : work->n_blocks;
    replay->all.past = IFM_ARENA_ARRAY(arena, double, replay->all.room *n + 1);
    replay->all.scratch = IFM_ARENA_ARRAY(arena, double, 3 * replay->all.room + 1);
    for (size_t a = 0; a < n; a++)
        if (work->arms[a].failed)
            return false;
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

/* Take in the block of slots [k, end). */
static void take(struct replay *replay, size_t k, size_t end)
{
    const struct ifm_record *r = replay->work->record;
    struct ifm_stop_blocks *all = &replay->all;
    ifm_stop_blocks_begin(all);
    for (; k < end; k++) {
        double centre = centre_of(replay, k);
        size_t arm = r->slots[k].arm;
        all->block[arm] +=
            replay->centre == BY_MEDIAN ? log(centre) / 2 : centre / r->slots[k].inner / replay->work->rows;
        all->done[arm] += (double)r->slots[k].samples * r->slots[k].inner;
        all->tick[arm] = fmax(all->tick[arm], replay->tick_ns / centre);
    }
    ifm_stop_blocks_add(all);
}

/* Does the run end behind the last block, number `last` of the record, by what its samples say? */
static bool is_enough(struct replay *replay, uint32_t last)
{
    struct ifm_stop_blocks *all = &replay->all;
    double least = fmax(IFM_BLOCKS_FOR_WIDTH, (double)all->cell->measure.blocks_min);
    bool any = replay->centre != BY_MEAN_AND_TAIL;
    if (replay->centre != BY_MEDIAN && ifm_stop_blocks_asks(all))
        all->open = !ifm_derive_settled(all, replay->work->journal, replay->work->record, last);
    if (all->rule == IFM_STOP_DECIDED)
        return ifm_stop_blocks_decided(all);
    return all->n >= least && (any || ifm_stop_blocks_may_end(all)) &&
           ifm_stop_blocks_mde(all) <= ifm_stop_blocks_wanted(all);
}

/* The detectable effect behind the last block, and the first number of blocks that was enough. */
static double replay_all(struct replay *replay, size_t *enough)
{
    const struct ifm_record *r = replay->work->record;
    const struct ifm_stop_blocks *all = &replay->all;
    *enough = 0;
    for (size_t k = 0, block = 0, end; k < r->n_slots; k = end) {
        for (end = k + 1; end < r->n_slots && r->slots[end].block == r->slots[k].block;)
            end++;
        bool stands = r->slots[k].phase == IFM_PHASE_MEASURE && replay->work->fate[block] == IFM_BLOCK_STANDS;
        block += r->slots[k].phase != IFM_PHASE_WARMUP;
        if (!stands)
            continue;
        take(replay, k, end);
        if (*enough == 0 && is_enough(replay, r->slots[k].block))
            *enough = (size_t)all->n;
    }
    return ifm_stop_blocks_mde(all);
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
    bool ended = strcmp(stop->reason, "mde") == 0 || strcmp(stop->reason, "decided") == 0, agreed = false;
    size_t enough = 0, n = 0;
    for (enum centre centre = 0; centre < CENTRES; centre++) {
        struct replay replay;
        if (!replay_begin(&replay, work, centre))
            return NULL;
        size_t from;
        found = replay_all(&replay, &from);
        n = (size_t)replay.all.n;
        if (!agree(stop->mde, found))
            continue;
        agreed = true;
        enough = from;
        bool last = enough == n && strcmp(stop->reason, "blocks_max") == 0; /* which is asked first */
        bool asks = replay.all.rule == IFM_STOP_MDE || replay.all.rule == IFM_STOP_DECIDED;
        if (!asks || (ended ? enough == n : enough == 0 || last))
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
    uint64_t blocks = (uint64_t)stop->blocks - work->n_repeated, wanted = blocks; /* those that its rule counted */
    bool known = strcmp(stop->reason, "cap") == 0 && stop->elapsed_s >= measure->cap_s;
    enum ifm_stop_rule rule = ifm_stop_blocks_of(work->cell, NULL).rule;
    known |= strcmp(stop->reason, "mde") == 0 && rule == IFM_STOP_MDE;
    known |= strcmp(stop->reason, "decided") == 0 && rule == IFM_STOP_DECIDED;
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
