/* Do the programs of a comparison take longer on one CPU than on another?
 *
 * The kernel chooses where a program starts, and where CPUs are unlike (a core that is shared with a neighbour, cores
 * of two kinds) that makes two modes of a time. Who follows whom decides part of its choice, so that it may look like
 * what one arm leaves behind for the other, and lie in the comparison where one arm had the slower CPU more often. */
#include "derive/internal.h"

#include "stats/stats.h"
#include <math.h>

/* A difference is taken for real at this level, all pairs of CPUs together (Bonferroni), from so many slots of either
 * program on either CPU on, and where it is so large. */
static const double LEVEL = 0.003;
enum { FEWEST = 6, MOST_CPUS = 64 };
static const double VISIBLE = 0.01;
/* The two programs' differences may be apart by this factor. */
static const double ALIKE = 2;

/* ln(time) of the slots of one program on one CPU. */
struct group {
    double n, mean, squares;
};

/* Those of the two arms, by CPU. */
struct groups {
    int64_t cpus[MOST_CPUS];
    struct group of[MOST_CPUS][2];
    size_t n;
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
    struct group *g = &groups->of[at][arm];
    const double off = value - g->mean;
    g->mean += off / ++g->n;
    g->squares += off * (value - g->mean);
}

static bool is_enough(const struct groups *groups, size_t at)
{
    return groups->of[at][0].n >= FEWEST && groups->of[at][1].n >= FEWEST;
}

/* ln(time on CPU `a` / time on CPU `b`) of an arm, with its half-width. */
static bool between(const struct groups *groups, size_t a, size_t b, size_t arm, double level, double *change,
                    double *half)
{
    const struct group *x = &groups->of[a][arm], *y = &groups->of[b][arm];
    double t;
    if (ifm_stats_t_quantile(0.5 + 0.5 * level, x->n + y->n - 2, &t) != IFM_STAT_OK)
        return false;
    *change = x->mean - y->mean;
    *half = t * sqrt((x->squares + y->squares) / (x->n + y->n - 2) * (1 / x->n + 1 / y->n));
    return true;
}

/* The same for both arms: a program that is slow on a CPU by its own doing says nothing of the machine. */
static bool is_of_both(const struct groups *groups, size_t a, size_t b, double level, double *change)
{
    double of[2], half[2];
    for (size_t arm = 0; arm < 2; arm++)
        if (!between(groups, a, b, arm, level, &of[arm], &half[arm]))
            return false;
    *change = (of[0] + of[1]) / 2;
    return of[0] * of[1] > 0 && fmax(fabs(of[0]), fabs(of[1])) <= ALIKE * fmin(fabs(of[0]), fabs(of[1])) &&
           fabs(of[0] + of[1]) > hypot(half[0], half[1]) && *change > log1p(VISIBLE);
}

static int column_of(const struct ifm_record *r)
{
    return ifm_derive_column(r, "child_cpu");
}

static struct groups gather(const struct ifm_arm_work *const arms[2])
{
    const struct ifm_record *r = arms[0]->work->record;
    const int column = column_of(r);
    struct groups groups = {.n = 0};
    for (size_t k = 0; column >= 0 && k < r->n_slots; k++) {
        const struct ifm_slot *slot = &r->slots[k];
        if (slot->phase != IFM_PHASE_MEASURE || slot->columns[column] == IFM_ABSENT)
            continue;
        for (size_t arm = 0; arm < 2; arm++)
            if (slot->arm == arms[arm]->index)
                add(&groups, slot->columns[column], arm, log(ifm_derive_slot_step_ns(r, k)));
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
        n[arm] = groups->of[a][arm].n + groups->of[b][arm].n;
        share[arm] = groups->of[a][arm].n / n[arm];
    }
    const double all = (share[0] * n[0] + share[1] * n[1]) / (n[0] + n[1]);
    const double by_chance = sqrt(all * (1 - all) * (1 / n[0] + 1 / n[1]));
    return fabs(share[0] - share[1]) > sure * by_chance ? share[0] - share[1] : 0;
}

struct ifm_places ifm_derive_places(const struct ifm_arm_work *arm)
{
    const struct ifm_arm_work *const arms[2] = {arm, arm->work->baseline};
    const struct groups groups = gather(arms);
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
