/* Do the programs of a comparison take longer on one CPU than on another?
 *
 * The kernel chooses where a program starts, and where CPUs are unlike (a core that is shared with a neighbour, cores
 * of two kinds) that makes two modes of a time. Who follows whom decides part of its choice, so that it may look like
 * what one arm leaves behind for the other, and lie in the comparison where one arm had the slower CPU more often. */
#include "derive/internal.h"

#include "stats/stats.h"
#include <math.h>

/* A difference is taken for real at this level, all pairs of CPUs together (Bonferroni), from so many pairs of slots of
 * either program on, and where it is so large. */
static const double LEVEL = 0.003;
enum { FEWEST = 6, MOST_CPUS = 64 };
static const double VISIBLE = 0.01;
/* The two programs' differences may be apart by this factor. */
static const double ALIKE = 2;
/* Of so many of an arm's slots the CPU must be known: of short runs it is not, so that those which are known may be the
 * slow ones. */
static const double TOLD = 0.95;

/* The slots of an arm in their order: where they ran, and ln(time). */
struct placed {
    size_t *cpu;
    double *value;
    size_t n, on[MOST_CPUS];
};

struct groups {
    int64_t cpus[MOST_CPUS];
    size_t n;
    struct placed of[2];
};

static void add(struct groups *groups, int64_t cpu, size_t arm, double value)
{
    size_t at = 0;
    while (at < groups->n && groups->cpus[at] != cpu)
        at++;
    if (at == MOST_CPUS)
        return;
    if (at == groups->n)
        groups->cpus[groups->n++] = cpu;
    struct placed *s = &groups->of[arm];
    s->cpu[s->n] = at;
    s->value[s->n++] = value;
    s->on[at]++;
}

static bool is_enough(const struct groups *groups, size_t at)
{
    return groups->of[0].on[at] >= FEWEST && groups->of[1].on[at] >= FEWEST;
}

/* ln(time on CPU `a` / time on CPU `b`) of an arm, with its half-width, by its nearest slots on either: programs may
 * stay on a CPU for long, so that a drift would lie in the means of all. */
static bool between(const struct placed *s, size_t a, size_t b, double level, double *change, double *half)
{
    double last[2] = {NAN, NAN}, n = 0, squares = 0, t;
    *change = 0;
    for (size_t k = 0; k < s->n; k++) {
        if (s->cpu[k] != a && s->cpu[k] != b)
            continue;
        last[s->cpu[k] == b] = s->value[k];
        const double ratio = last[0] - last[1];
        if (isnan(ratio))
            continue;
        const double off = ratio - *change;
        *change += off / ++n;
        squares += off * (ratio - *change);
        last[0] = last[1] = NAN;
    }
    if (n < FEWEST || ifm_stats_t_quantile(0.5 + 0.5 * level, n - 1, &t) != IFM_STAT_OK)
        return false;
    *half = t * sqrt(squares / (n - 1) / n);
    return true;
}

/* The same for both arms: a program that is slow on a CPU by its own doing says nothing of the machine. */
static bool is_of_both(const struct groups *groups, size_t a, size_t b, double level, double *change)
{
    double of[2], half[2];
    for (size_t arm = 0; arm < 2; arm++)
        if (!between(&groups->of[arm], a, b, level, &of[arm], &half[arm]))
            return false;
    *change = (of[0] + of[1]) / 2;
    return of[0] * of[1] > 0 && fmax(fabs(of[0]), fabs(of[1])) <= ALIKE * fmin(fabs(of[0]), fabs(of[1])) &&
           fabs(of[0] + of[1]) > hypot(half[0], half[1]) && *change > log1p(VISIBLE);
}

static int column_of(const struct ifm_record *r)
{
    return ifm_derive_column(r, "child_cpu");
}

/* None where the CPU of too many slots is not known. */
static struct groups gather(const struct ifm_arm_work *const arms[2], struct ifm_arena *scratch)
{
    const struct ifm_record *r = arms[0]->work->record;
    const int column = column_of(r);
    struct groups groups = {.n = 0};
    for (size_t arm = 0; column >= 0 && arm < 2; arm++) {
        size_t all = 0;
        groups.of[arm].cpu = IFM_ARENA_ARRAY(scratch, size_t, r->n_slots + 1);
        groups.of[arm].value = IFM_ARENA_ARRAY(scratch, double, r->n_slots + 1);
        for (size_t k = 0; k < r->n_slots; k++) {
            const struct ifm_slot *slot = &r->slots[k];
            if (slot->phase != IFM_PHASE_MEASURE || slot->arm != arms[arm]->index)
                continue;
            all++;
            if (slot->columns[column] != IFM_ABSENT)
                add(&groups, slot->columns[column], arm, log(ifm_derive_slot_step_ns(r, k)));
        }
        if ((double)groups.of[arm].n < TOLD * (double)all)
            return (struct groups){.n = 0};
    }
    return groups;
}

/* By how much more of its slots on these two CPUs one arm has on the first than the other; 0 where that may be chance,
 * which scatters blocks and so is in the interval. */
static double excess_on(const struct groups *groups, size_t a, size_t b)
{
    const double sure = 3;
    double n[2], share[2];
    for (size_t arm = 0; arm < 2; arm++) {
        n[arm] = (double)(groups->of[arm].on[a] + groups->of[arm].on[b]);
        share[arm] = (double)groups->of[arm].on[a] / n[arm];
    }
    const double all = (share[0] * n[0] + share[1] * n[1]) / (n[0] + n[1]);
    const double by_chance = sqrt(all * (1 - all) * (1 / n[0] + 1 / n[1]));
    return fabs(share[0] - share[1]) > sure * by_chance ? share[0] - share[1] : 0;
}

struct ifm_places ifm_derive_places(const struct ifm_arm_work *arm)
{
    const struct ifm_arm_work *const arms[2] = {arm, arm->work->baseline};
    struct ifm_arena *scratch = ifm_arena_create();
    const struct groups groups = gather(arms, scratch);
    struct ifm_places found = {.words = ""};
    double pairs = 0, change;
    for (size_t a = 0; a < groups.n; a++)
        for (size_t b = a + 1; b < groups.n; b++)
            pairs += is_enough(&groups, a) && is_enough(&groups, b);
    for (size_t a = 0; a < groups.n; a++)
        for (size_t b = 0; b < groups.n; b++) {
            if (a == b || !is_enough(&groups, a) || !is_enough(&groups, b) ||
                !is_of_both(&groups, a, b, 1 - LEVEL / pairs, &change) || change <= found.change)
                continue;
            found.change = change;
            found.slow = groups.cpus[a];
            found.fast = groups.cpus[b];
            found.moves = change * excess_on(&groups, a, b);
        }
    ifm_arena_destroy(scratch);
    if (found.change > 0)
        found.words = ifm_arena_printf(arm->d->arena, "by about %.2g %%, longer on CPU %lld than on CPU %lld",
                                       100 * expm1(found.change), (long long)found.slow, (long long)found.fast);
    return found;
}

double ifm_derive_place_part(const struct ifm_places *places, const struct ifm_record *record, size_t slot)
{
    const int column = places->change > 0 ? column_of(record) : -1;
    return column >= 0 && record->slots[slot].columns[column] == places->slow ? places->change : 0;
}
