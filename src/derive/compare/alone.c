/* What each of two arms takes behind itself, held against the comparison of all their slots.
 *
 * carry.c finds what one arm leaves behind for the other where it is certain. What it does not find is not nothing: in
 * half of the slots of two arms it lies in the comparison, with all of its size. So the interval of a comparison holds,
 * at a lower level, also what the slots say in which each arm ran behind itself. Slots that begin with an untimed step
 * are such slots. Nothing is removed, and more scatter never makes a firmer word. */
#include "derive/internal.h"

#include "stats/stats.h"
#include <math.h>

enum { FEWEST_PAIRS = 4, FEWEST_OWN = 2 };

/* The mean time of a step in each slot behind the arm's own, of the two arms in turn. */
struct turns {
    double *ns[2];
    size_t n[2];
    double *pair[2]; /* neighbours: one of each */
    size_t pairs;
};

static bool is_behind_itself(const struct ifm_record *r, size_t k)
{
    return k > 0 && r->slots[k].phase == IFM_PHASE_MEASURE && r->slots[k - 1].phase == IFM_PHASE_MEASURE &&
           r->slots[k - 1].arm == r->slots[k].arm;
}

static void take(struct turns *turns, size_t which, double ns, double last[2])
{
    turns->ns[which][turns->n[which]++] = ns;
    last[which] = ns;
    if (isnan(last[1 - which]))
        return;
    for (size_t i = 0; i < 2; i++) {
        turns->pair[i][turns->pairs] = last[i];
        last[i] = NAN;
    }
    turns->pairs++;
}

static struct turns turns_of(const struct ifm_arm_work *arm, const struct ifm_arm_work *base, const bool *without,
                             struct ifm_arena *scratch)
{
    const struct ifm_cell_work *work = arm->work;
    const struct ifm_record *r = work->record;
    struct turns turns = {0};
    double last[2] = {NAN, NAN};
    for (size_t i = 0; i < 2; i++) {
        turns.ns[i] = IFM_ARENA_ARRAY(scratch, double, r->n_slots + 1);
        turns.pair[i] = IFM_ARENA_ARRAY(scratch, double, r->n_slots + 1);
    }
    for (size_t k = 1, block = 0; k < r->n_slots; k++) {
        const size_t which = r->slots[k].arm == arm->index;
        if (!is_behind_itself(r, k) || (!which && r->slots[k].arm != base->index))
            continue;
        while (block < work->n_blocks && work->block[block] != r->slots[k].block)
            block++;
        if (block == work->n_blocks)
            break; /* blocks out of order: the rules on the record refuse the cell */
        if (without == NULL || !without[block])
            take(&turns, which, ifm_derive_slot_step_ns(r, k), last);
    }
    return turns;
}

static double mean_of(const double *x, size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += (x[i] - mean) / (double)(i + 1);
    return mean;
}

/* Of neighbours: what the two have in common (a slow minute of the machine) cancels. */
static bool by_pairs(const struct turns *turns, struct ifm_interval *out)
{
    const size_t n = turns->pairs;
    const double base = mean_of(turns->pair[0], n), own = mean_of(turns->pair[1], n);
    double squares = 0, t;
    if (ifm_stats_t_quantile(0.5 + 0.5 * IFM_BESIDE_LEVEL, (double)n - 1, &t) != IFM_STAT_OK)
        return false;
    for (size_t i = 0; i < n; i++)
        squares += pow(turns->pair[1][i] / own - turns->pair[0][i] / base, 2);
    const double mean = log(own / base), half = t * sqrt(squares / (double)(n - 1) / (double)n);
    *out = (struct ifm_interval){mean - half, mean + half};
    return true;
}

/* Of few: all slots of either, with one relative variance. */
static bool by_few(const struct turns *turns, struct ifm_interval *out)
{
    const double n = (double)turns->n[0], m = (double)turns->n[1];
    double mean[2], squares = 0, t;
    if (turns->n[0] < FEWEST_OWN || turns->n[1] < FEWEST_OWN ||
        ifm_stats_t_quantile(0.5 + 0.5 * IFM_BESIDE_LEVEL, n + m - 2, &t) != IFM_STAT_OK)
        return false;
    for (size_t a = 0; a < 2; a++) {
        mean[a] = mean_of(turns->ns[a], turns->n[a]);
        for (size_t i = 0; i < turns->n[a]; i++)
            squares += pow(turns->ns[a][i] / mean[a] - 1, 2);
    }
    const double at = log(mean[1] / mean[0]), half = t * sqrt(squares / (n + m - 2) * (1 / n + 1 / m));
    *out = (struct ifm_interval){at - half, at + half};
    return true;
}

bool ifm_derive_alone(const struct ifm_arm_work *arm, const struct ifm_arm_work *base, const bool *without,
                      struct ifm_interval *out)
{
    if (ifm_derive_lead(arm) > 0 || ifm_derive_lead(base) > 0)
        return false;
    struct ifm_arena *scratch = ifm_arena_create();
    const struct turns turns = turns_of(arm, base, without, scratch);
    const bool made = turns.pairs >= FEWEST_PAIRS ? by_pairs(&turns, out) : by_few(&turns, out);
    ifm_arena_destroy(scratch);
    return made;
}
