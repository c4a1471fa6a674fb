/* Rules 2 and 7 on the raw record: time order, unaltered samples, interleaved arms. A record that breaks one is refused
 * as a whole: neither arm of a comparison can be trusted when one was touched. */
#include "derive/internal.h"

#include <math.h>

/* A run of m steps of one sign comes about by chance once in (m + 1)!, if samples do not depend on one another. They
 * do: caches that warm up within each slot make one slot in five fall throughout where chance makes one in 24 (seen in
 * 50 honest records). So the bar is high: 9 slots of five samples, or 40 of three. */
#define SORTED_CHANCE_LN 27.6 /* 1 in 10^12 */

/* Every slot holds its samples, one after the other, inside its time. Names the first that does not. */
static bool check_times(struct ifm_cell_work *work)
{
    const struct ifm_record *r = work->record;
    int64_t now = INT64_MIN;
    for (size_t k = 0; k < r->n_slots; k++) {
        const struct ifm_slot *slot = &r->slots[k];
        bool good = slot->start_ns >= now && slot->end_ns >= slot->start_ns && slot->samples > 0 &&
                    slot->arm < work->cell->n_arms && r->first[k + 1] - r->first[k] == slot->samples;
        int64_t at = slot->start_ns;
        for (size_t i = r->first[k]; good && i < r->first[k + 1]; i++) {
            good = r->samples[i].duration_ns >= 0 && r->samples[i].start_ns >= at;
            at = r->samples[i].start_ns + r->samples[i].duration_ns;
        }
        if (!good || at > slot->end_ns) {
            ifm_refuse_cell(work, "rule-02",
                            ifm_arena_printf(work->d->arena,
                                             "slot %zu does not hold its samples in time order inside its own time",
                                             k));
            return false;
        }
        now = slot->end_ns;
    }
    return true;
}

/* An arm's samples refuse the whole cell. */
static void refuse(const struct ifm_arm_work *arm, const char *reason)
{
    ifm_refuse(&arm->work->refusal, "rule-02", reason);
    ifm_derive_say_arm(arm, IFM_SEVERITY_INVALID, "rule-02", "%s", reason);
}

/* Steps from one sample to the next that rise, and that fall, in runs that each begin anew. */
struct steps {
    size_t rises, falls, of_run;
    double chance_ln; /* of as many changes without a turn, as -ln */
};

static void count_step(struct steps *steps, const struct ifm_record *r, size_t from, size_t to)
{
    int64_t change = r->samples[to].duration_ns - r->samples[from].duration_ns;
    steps->rises += change > 0;
    steps->falls += change < 0;
    if (change != 0)
        steps->chance_ln += log((double)(++steps->of_run + 1));
}

static bool were_sorted(const struct steps *steps)
{
    return steps->chance_ln >= SORTED_CHANCE_LN && (steps->rises == 0 || steps->falls == 0);
}

/* Samples that never fall from one to the next (or never rise) were sorted, not measured: over the whole pass, or slot
 * by slot. Slot by slot the first sample of each is left out: it meets caches that the other arms have filled, and is
 * often the slowest of its slot. */
static void check_sorted(const struct ifm_arm_work *arm)
{
    const struct ifm_record *r = arm->work->record;
    struct steps whole = {0}, inside = {0};
    size_t last = SIZE_MAX;
    for (size_t k = 0; ifm_next_slot(arm, &k) != NULL; k++) {
        inside.of_run = 0;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            if (last != SIZE_MAX)
                count_step(&whole, r, last, i);
            if (i > r->first[k] + 1)
                count_step(&inside, r, i - 1, i);
            last = i;
        }
    }
    const struct steps *steps = were_sorted(&whole) ? &whole : &inside;
    if (were_sorted(steps))
        refuse(arm, ifm_arena_printf(arm->d->arena,
                                     "the samples of arm %s are sorted: %zu steps from one to the next %s and none %s",
                                     arm->arm->name, steps->rises + steps->falls, steps->falls == 0 ? "rise" : "fall",
                                     steps->falls == 0 ? "falls" : "rises"));
}

/* In hot mode one clock reading ends a sample and starts the next: samples that were scaled, shortened or dropped no
 * longer meet, and the slot no longer begins with its first sample and ends with its last. */
static void check_sums(const struct ifm_arm_work *arm)
{
    const struct ifm_record *r = arm->work->record;
    for (size_t k = 0; k < r->n_slots; k++) {
        const struct ifm_slot *slot = &r->slots[k];
        if (slot->arm != arm->index)
            continue;
        int64_t now = slot->start_ns;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            if (r->samples[i].start_ns != now) {
                refuse(arm, ifm_arena_printf(arm->d->arena,
                                             "the samples of arm %s do not add up to their slots: in "
                                             "slot %zu a sample starts %lld ns after the one before it ended",
                                             arm->arm->name, k, (long long)(r->samples[i].start_ns - now)));
                return;
            }
            now += r->samples[i].duration_ns;
        }
        if (now != slot->end_ns) {
            refuse(arm, ifm_arena_printf(arm->d->arena,
                                         "the samples of arm %s do not add up to their slots: slot %zu "
                                         "ends %lld ns after its last sample",
                                         arm->arm->name, k, (long long)(slot->end_ns - now)));
            return;
        }
    }
}

/* Each measured block holds the plan's order of slots (arms interleaved, mirrored, randomised by the plan's seed), and
 * each round of ceilings its own. */
static void check_order(struct ifm_cell_work *work)
{
    const struct ifm_record *r = work->record;
    const struct ifm_cell *cell = work->cell;
    unsigned *order = IFM_ARENA_ARRAY(work->d->arena, unsigned, 2 * cell->n_arms + 1), rounds = 0;
    size_t block = 0;
    bool *failed = IFM_ARENA_ARRAY(work->d->arena, bool, cell->n_arms + 1);
    bool *without = IFM_ARENA_ARRAY(work->d->arena, bool, cell->n_arms + 1);
    for (size_t a = 0; a < cell->n_arms; a++) {
        failed[a] = work->arms[a].failed;
        without[a] = failed[a] || !ifm_plan_in_blocks(cell, a);
    }
    for (size_t k = 0; k < r->n_slots;) {
        const struct ifm_slot *first = &r->slots[k];
        if (first->phase == IFM_PHASE_WARMUP) {
            k++;
            continue;
        }
        size_t wanted = first->phase == IFM_PHASE_CEILING
                            ? ifm_plan_round(cell, failed, rounds++, order)
                            : ifm_plan_order_rows(cell, without, work->rows, work->turn[block], order);
        block++;
        size_t at = 0;
        for (; k < r->n_slots && r->slots[k].phase == first->phase && r->slots[k].block == first->block &&
               at < wanted && r->slots[k].arm == order[at];
             k++)
            at++;
        if (at == wanted && wanted > 0)
            continue;
        ifm_refuse_cell(work, "rule-07",
                        ifm_arena_printf(work->d->arena,
                                         "block %u does not hold the plan's interleaved order of arms: slot %zu of %zu "
                                         "differs or is missing",
                                         first->block, at, wanted));
        return;
    }
}

/* Samples of a clock that stood still or ran backwards are no times, those before it was noticed neither. */
static void check_clock(struct ifm_cell_work *work)
{
    const struct ifm_event_clock_broken *broken = IFM_TOLD(work, clock_broken, NULL);
    if (broken != NULL)
        ifm_refuse_cell(work, "rule-02", broken->reason);
}

void ifm_rules_record(struct ifm_cell_work *work)
{
    check_clock(work);
    if (work->record == NULL || !check_times(work))
        return;
    check_order(work);
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        check_sorted(&work->arms[a]);
        if (!ifm_derive_has_gaps(&work->arms[a]))
            check_sums(&work->arms[a]);
    }
}
