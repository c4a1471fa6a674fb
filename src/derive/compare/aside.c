/* Which blocks a comparison sets aside: those that the machine disturbed, for both arms at once (rule 2).
 *
 * The evidence is what the operating system counted beside the slots, never a time of an arm. It is no machine's doing
 * where it follows one of the two: waiting comes over arms whose slots alternate as chance has it, so an arm that has
 * it much more often than the other (exact test of McNemar 1947 over the blocks that only one of them shares) makes it
 * itself, and pays for it. A slot that lasts longer meets more of what others do: between even chances and those of the
 * two arms' times, the ones count that speak for the arm. Stolen time is the hypervisor's; but an arm that meets it
 * surely more often than the other may have called for it (more threads, credits that are used up): then the interval
 * holds what all blocks say. */
#include "derive/internal.h"

#include "model/machine_facts.h"
#include <math.h>
#include <string.h>

/* Disturbances of equal arms are taken for one arm's own in a hundredth of cells, and for lopsided, as those that an
 * arm makes now and then are, in a quarter; up to so few tell nothing, and are lopsided unless they are even. */
static const double OWN = 0.01, LOPSIDED = 0.26;
enum { FEW = 8 };

/* How often `one` or more of `one + other` trials come out, each with the chance `share`. */
static double chance_of(size_t one, size_t other, double share)
{
    double n = (double)(one + other), sum = 0;
    for (double k = (double)one; k <= n; k++)
        sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(share) + (n - k) * log1p(-share));
    return sum;
}

/* One of the two arms, over the blocks that both have. */
struct met {
    double ns;            /* of its slots */
    size_t blocks, alone; /* disturbed, and those that the other was not disturbed in */
    size_t events;        /* the latter, runs of neighbours counted once */
    bool was;             /* the block before was such a one */
};

static void meet(struct met *met, bool own, bool other, double ns)
{
    const bool alone = own && !other;
    met->ns += ns;
    met->blocks += own;
    met->alone += alone;
    met->events += alone && !met->was;
    met->was = alone;
}

/* How likely chance gives one arm as much more than the other of what only one met. A load that beats in time with the
 * blocks meets the same arm in many neighbouring ones, and is one event; of more than half of all blocks it no longer
 * is. */
static double chance_of_own(const struct met *one, const struct met *other, size_t n)
{
    const double share = fmin(fmax(one->ns / (one->ns + other->ns), 0.5), 1 - 1e-9);
    const bool always = 2 * one->blocks > n;
    const size_t mine = always ? one->alone : one->events;
    return mine == 0 ? 1 : chance_of(mine, always ? other->alone : other->events, share);
}

/* Of the two arms: which of them has more blocks alone, and how many. */
static void say_whose(struct ifm_aside *aside, const struct ifm_arm_work *arm, const struct met *own,
                      const struct met *its)
{
    const double by_own = chance_of_own(own, its, aside->n + aside->left),
                 by_base = chance_of_own(its, own, aside->n + aside->left);
    const bool is_own = own->alone != its->alone ? own->alone > its->alone : by_own <= by_base;
    aside->most = is_own ? arm : arm->work->baseline;
    aside->alone = is_own ? own->alone : its->alone;
    aside->disturbed = own->blocks + its->alone;
}

/* What the two arms met. `stolen`: stolen time too. `alike`: as both would be marked, had both slots as short as the
 * shorter one of the block: a wait of a millisecond is much of a short slot and little of a long one, and the same. */
struct both {
    struct met own, its;
};

static bool is_met(const struct ifm_arm_work *arm, size_t block, double most_ns, bool stolen)
{
    return arm->disturbed[block] || arm->waited_ns[block] > most_ns ||
           (stolen && (arm->stolen[block] || arm->stolen_ns[block] > most_ns));
}

static struct both what_both_met(const struct ifm_arm_work *arm, bool stolen, bool alike)
{
    const struct ifm_cell_work *work = arm->work;
    const struct ifm_arm_work *base = work->baseline;
    struct both both = {.own = {.was = false}, .its = {.was = false}};
    for (size_t b = 0; b < work->n_blocks; b++) {
        if (!arm->present[b] || !base->present[b])
            continue;
        const double most_ns = alike ? IFM_LOST_SHARE * fmin(arm->slot_ns[b], base->slot_ns[b]) : INFINITY;
        const bool own = is_met(arm, b, most_ns, stolen), its = is_met(base, b, most_ns, stolen);
        meet(&both.own, own, its, arm->time_ns[b]);
        meet(&both.its, its, own, base->time_ns[b]);
    }
    return both;
}

/* Do slots as short as the shorter ones tell too whose it is? */
static bool asks_alike(const struct ifm_arm_work *arm)
{
    return arm->work->d->plan->rules >= IFM_PLAN_RULES_LENGTHS;
}

/* How likely chance gives the one, and the other, what it met alone: by both ways to mark them. */
struct chances {
    double own, its;
};

static struct chances chances_of(const struct ifm_arm_work *arm, bool stolen, size_t n)
{
    struct chances most = {0, 0};
    for (int alike = 0; alike <= (int)asks_alike(arm); alike++) {
        const struct both both = what_both_met(arm, stolen, alike != 0);
        most.own = fmax(most.own, chance_of_own(&both.own, &both.its, n));
        most.its = fmax(most.its, chance_of_own(&both.its, &both.own, n));
    }
    return most;
}

static bool is_lopsided(const struct ifm_arm_work *arm, size_t n)
{
    bool is = true;
    for (int alike = 0; alike <= (int)asks_alike(arm); alike++) {
        const struct both both = what_both_met(arm, false, alike != 0);
        const double by_own = chance_of_own(&both.own, &both.its, n), by_its = chance_of_own(&both.its, &both.own, n);
        is &= fmin(by_own, by_its) <= 0.5 * LOPSIDED ||
              (both.own.events != both.its.events && both.own.events + both.its.events <= FEW);
    }
    return is;
}

/* Whose the disturbances are, of `n` blocks that both have. */
static void find_whose(struct ifm_aside *aside, const struct ifm_arm_work *arm, size_t n)
{
    const struct ifm_cell_work *work = arm->work;
    const size_t compared = ifm_derive_count_compared(work);
    const double level = 0.5 * OWN / (double)(compared > 0 ? compared : 1);
    const struct chances waited = chances_of(arm, false, n), any = chances_of(arm, true, n);
    aside->follows = waited.own < level ? arm : waited.its < level ? work->baseline : NULL;
    /* Threads of the lab have a CPU each and wait for others alone; a program or a caller may wait for its own. */
    aside->lopsided = arm->arm->gaps && is_lopsided(arm, n);
    const bool stolen = fmin(any.own, any.its) < level;
    const struct both both = what_both_met(arm, stolen && !aside->lopsided, false);
    say_whose(aside, arm, &both.own, &both.its);
    aside->lopsided |= stolen;
}

struct ifm_aside ifm_derive_set_aside(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    const struct ifm_arm_work *base = work->baseline;
    struct ifm_aside aside = {0};
    bool *blocks = IFM_ARENA_ARRAY(arm->d->arena, bool, work->n_blocks + 1);
    /* What one waited, where the other's waiting is not known, would leave out the slow blocks of one arm alone. */
    const bool untold = arm->untold || base->untold;
    for (size_t b = 0; b < work->n_blocks; b++) {
        if (!arm->present[b] || !base->present[b])
            continue;
        blocks[b] = work->fate[b] != IFM_BLOCK_STANDS && work->by_machine[b] &&
                    !(untold && (arm->disturbed[b] || base->disturbed[b]));
        aside.n += blocks[b];
        aside.left += !blocks[b];
    }
    if (!untold)
        find_whose(&aside, arm, aside.n + aside.left);
    if (aside.n > 0 && aside.left >= IFM_BLOCKS_NEEDED && aside.follows == NULL)
        aside.blocks = blocks;
    return aside;
}

/* The cause of most disturbed slots, in words: how much time that cost each arm is triage's number; `of`: of those that
 * may be this arm's doing, NULL = of all. */
static const char *cause_of(const struct ifm_cell_work *work, const struct ifm_arm_work *of)
{
    const struct ifm_record *r = work->record;
    struct ifm_cause_columns columns = ifm_cause_columns_of((const char *const *)r->column_names, r->n_columns);
    size_t n[IFM_CAUSES] = {0};
    double sum[IFM_CAUSES] = {0}, weights[IFM_CAUSES] = {0}, amount;
    enum ifm_cause most = IFM_CAUSE_NONE;
    char text[IFM_CAUSE_TEXT];
    for (size_t k = 0; k < r->n_slots; k++) {
        const enum ifm_cause cause = ifm_slot_cause(&r->slots[k], &columns, &amount);
        if (cause == IFM_CAUSE_NONE || r->slots[k].phase != IFM_PHASE_MEASURE ||
            (of != NULL && (r->slots[k].arm != of->index || cause == IFM_CAUSE_STOLEN)))
            continue;
        const double weight = ifm_cause_weight(&r->slots[k], &columns, cause);
        n[cause]++;
        sum[cause] += weight * amount;
        weights[cause] += weight;
        most = n[cause] > n[most] ? cause : most;
    }
    if (most == IFM_CAUSE_WAITED || most == IFM_CAUSE_STOLEN)
        return most == IFM_CAUSE_WAITED ? "threads waited for a CPU" : "stolen time";
    return ifm_arena_printf(work->d->arena, "%s%s",
                            ifm_cause_text(most, weights[most] > 0 ? sum[most] / weights[most] : 0, text),
                            most == IFM_CAUSE_PROGRAM ? " in disturbed slots" : "");
}

/* Seconds of blocks after which as many are probably undisturbed as a word needs; 0 = nothing foretells it. */
static double seconds_needed(const struct ifm_cell_work *work, const struct ifm_aside *aside)
{
    const struct ifm_record *r = work->record;
    if (!ifm_stats_blocks_foretell(aside->left, aside->n + aside->left, ifm_was_loaded(work->d->facts->events)))
        return 0;
    double used = r->n_slots == 0 ? 0 : 1e-9 * (double)(r->slots[r->n_slots - 1].end_ns - r->slots[0].start_ns);
    return aside->left == 0 ? 0 : ceil(used * IFM_BLOCKS_NEEDED / (double)aside->left);
}

bool ifm_derive_lacks_undisturbed(const struct ifm_aside *aside)
{
    return aside->n > 0 && aside->left < IFM_BLOCKS_NEEDED && aside->follows == NULL;
}

const char *ifm_derived_cpu_decides(const struct ifm_cell *cell, const char *arm, const struct ifm_value *cpu,
                                    const struct ifm_gate *limit, struct ifm_arena *arena)
{
    const bool pair = ifm_plan_count_in_blocks(cell) <= 2; /* else it could be anybody's */
    const char *side = limit == NULL                                                                  ? cpu->text
                       : limit->op != IFM_GATE_AT_MOST || limit->threshold <= 0 || !cpu->has_interval ? "undecided"
                       : cpu->low > limit->threshold   ? "above the limit (--metric cpu)"
                       : cpu->high <= limit->threshold ? "within the limit (--metric cpu)"
                                                       : "undecided";
    const char *range = cpu->has_interval ? ifm_arena_printf(arena, " [%.3g, %.3g]", cpu->low, cpu->high) : "";
    return strcmp(side, "undecided") == 0
               ? ""
               : ifm_arena_printf(arena, "; CPU time alone, without what it waits, is decided%s%s: %+.3g %%%s, %s",
                                  pair ? "" : " of ", pair ? "" : arm, cpu->number, range, side);
}

/* The gate that allows the arm a change of time; NULL = none does. */
static const struct ifm_gate *limit_of(const struct ifm_arm_work *arm)
{
    const struct ifm_plan *plan = arm->d->plan;
    for (size_t i = 0; i < plan->n_gates; i++) {
        const struct ifm_gate *gate = &plan->gates[i];
        if (gate->interval && strcmp(gate->metric, "change_percent") == 0 &&
            (ifm_is_empty(gate->arm) || strcmp(gate->arm, arm->arm->name) == 0) &&
            (ifm_is_empty(gate->cell) || strcmp(gate->cell, arm->work->cell->name) == 0))
            return gate;
    }
    return NULL;
}

/* Where processor time is decided, by the gate's limit or by its word: what asks for it. */
static const char *by_processor(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    const struct ifm_value *cpu =
        ifm_derived_value(arm->d->out, work->cell->name, arm->arm->name, IFM_M_CHANGE_CPU_PERCENT);
    const struct ifm_gate *limit = limit_of(arm);
    if (ifm_derive_is_wanted(work, IFM_M_CHANGE_CPU_PERCENT) || !ifm_is_ok(cpu) ||
        ifm_derived_waits(arm->d->out, work->cell->name, arm->arm->name) ||
        ifm_derived_waits(arm->d->out, work->cell->name, work->baseline->arm->name))
        return "";
    return ifm_derived_cpu_decides(work->cell, arm->arm->name, cpu, limit, arm->d->arena);
}

void ifm_derive_say_disturbed(const struct ifm_arm_work *arm, const struct ifm_aside *aside)
{
    const struct ifm_cell_work *work = arm->work;
    double seconds = seconds_needed(work, aside);
    if (aside->follows != NULL) {
        ifm_derive_say_arm(
            arm, IFM_SEVERITY_WARNING, "rule-02",
            "what disturbed the blocks follows %s and not the machine: no block is set aside for it (%s)",
            aside->follows->arm->name, cause_of(work, aside->follows))
            ->kind = IFM_FINDING_DISTURBS;
        return;
    }
    if (!ifm_derive_lacks_undisturbed(aside))
        return;
    const bool session = strcmp(work->cell->workload, "session") == 0; /* has no flags */
    const char *quiet =
                   ifm_quiet_remedy(work->d->facts->events, work->cell->workload, work->cell->threads, work->d->arena),
               *longer = seconds > 0 ? ifm_arena_printf(work->d->arena, "; else probably %s%.0fs",
                                                        session ? "measure.cap=" : "--cap ", seconds)
                                     : "";
    ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-02",
                       "undecided: the machine disturbed %zu of %zu blocks (%s); at least %d undisturbed blocks are "
                       "needed, %zu %s there. Remedy: %s%s%s",
                       aside->n, aside->n + aside->left, cause_of(work, NULL), IFM_BLOCKS_NEEDED, aside->left,
                       aside->left == 1 ? "is" : "are", quiet, longer, by_processor(arm))
        ->takes_word = true;
}
