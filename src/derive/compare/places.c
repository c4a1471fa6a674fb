/* Do the programs of a comparison take longer on one CPU than on another?
 *
 * The kernel chooses where a program starts, and where CPUs are unlike (a core that is shared with a neighbour, cores
 * of two kinds) that makes two modes of a time. Who follows whom decides part of its choice, so that it may look like
 * what one arm leaves behind for the other, and lie in the comparison where one arm had the slower CPU more often. */
#include "derive/internal.h"

#include "stats/location.h"
#include "stats/stats.h"
#include <math.h>

/* A difference is taken for real at this level, all pairs of CPUs together (Bonferroni), from so many changes of CPU of
 * either program on, and where it is so large. */
static const double LEVEL = 0.003;
enum { FEWEST = 6, MOST_CPUS = 64 };
static const double VISIBLE = 0.01;
/* The two programs' differences may be apart by this factor. */
static const double ALIKE = 2;
/* A change of CPU is seen by the medians of so many slots before it and behind it, so that one long slot is not a
 * difference where programs stay on a CPU for long. */
enum { BESIDE = 4 };
/* Of changes counts the mean without this share at either end. */
static const double TRIMMED = 0.2;
/* A difference may change within the run, behind any of so many parts but the last. */
enum { PARTS = 16 };
/* Of so many of an arm's slots the CPU must be known: of short runs it is not, so that those which are known may be the
 * slow ones. */
static const double TOLD = 0.95;

/* The slots of an arm in their order: which and where they ran, and ln(time). */
struct placed {
    size_t *slot, *cpu;
    double *value;
    size_t n;
    size_t on[MOST_CPUS];
};

/* An arm's changes from one of two CPUs to the other, or back: the slot, and ln(time on `a` / time on `b`). */
struct changes {
    size_t *slot;
    double *ratio;
    size_t n;
    size_t *own; /* room: the slots on either; their values, or sorted ratios */
    double *value, *room;
};

struct groups {
    int64_t cpus[MOST_CPUS];
    size_t n, n_slots;
    struct placed of[2];
    struct changes *changes[2]; /* of the two CPUs that are looked at */
};

static void add(struct groups *groups, int64_t cpu, size_t arm, size_t slot, double value)
{
    size_t at = 0;
    while (at < groups->n && groups->cpus[at] != cpu)
        at++;
    if (at == MOST_CPUS)
        return;
    if (at == groups->n)
        groups->cpus[groups->n++] = cpu;
    struct placed *s = &groups->of[arm];
    s->slot[s->n] = slot;
    s->cpu[s->n] = at;
    s->value[s->n++] = value;
    s->on[at]++;
}

static bool is_enough(const struct groups *groups, size_t at)
{
    return groups->of[0].on[at] >= FEWEST && groups->of[1].on[at] >= FEWEST;
}

static double middle_of(const double *from, size_t n)
{
    double room[2 * BESIDE], middle = NAN;
    return ifm_stats_median(from, n, room, &middle) == IFM_STAT_OK ? middle : NAN;
}

/* By the nearest slots on either: programs may stay on a CPU for long, so that a drift would lie in the means of all.
 * No slot stands in two changes. */
static void find_changes(const struct groups *groups, size_t arm, size_t a, size_t b)
{
    const struct placed *s = &groups->of[arm];
    struct changes *out = groups->changes[arm];
    size_t n = 0, free = 0; /* the first slot that no change has yet */
    for (size_t k = 0; k < s->n; k++)
        if (s->cpu[k] == a || s->cpu[k] == b) {
            out->own[n] = k;
            out->value[n++] = s->value[k];
        }
    out->n = 0;
    for (size_t start = 0, end; start < n; start = end) {
        const size_t cpu = s->cpu[out->own[start]];
        for (end = start + 1; end < n && s->cpu[out->own[end]] == cpu;)
            end++;
        const size_t half = (end - start + 1) / 2; /* the rest is for the next change */
        const size_t before = start - free < BESIDE ? start - free : BESIDE, behind = half < BESIDE ? half : BESIDE;
        if (before == 0) {
            free = start;
            continue;
        }
        const double change = middle_of(&out->value[start], behind) - middle_of(&out->value[start - before], before);
        out->slot[out->n] = s->slot[out->own[start]];
        out->ratio[out->n++] = cpu == a ? change : -change;
        free = start + behind;
    }
}

/* Of ln(time on `a` / time on `b`), with the degrees of freedom of its error. */
struct estimate {
    double mean, error, freedom;
};

/* Slots from .. to, and what is known of them. */
struct run_part {
    size_t from, to;
    struct estimate change; /* of both arms */
    bool told, sure;        /* is it known; is it alike for both arms, and no chance */
};

/* Of `n_arms` from `arm` on, without the ends: a slot that is moved to another CPU while it runs may be long by that
 * alone. */
static bool estimate_of(const struct groups *groups, size_t arm, size_t n_arms, const struct run_part *in,
                        struct estimate *out)
{
    const struct changes *room = groups->changes[0];
    struct ifm_trimmed trimmed;
    size_t n = 0;
    for (size_t i = arm; i < arm + n_arms; i++)
        for (size_t k = 0; k < groups->changes[i]->n; k++)
            if (groups->changes[i]->slot[k] >= in->from && groups->changes[i]->slot[k] < in->to)
                room->value[n++] = groups->changes[i]->ratio[k];
    ifm_stats_sort(room->value, room->room, n);
    if (n < FEWEST || ifm_stats_trimmed_mean(room->value, n, TRIMMED, 0.95, &trimmed) != IFM_STAT_OK)
        return false;
    *out = (struct estimate){trimmed.mean, trimmed.se, trimmed.df};
    return true;
}

/* With the degrees of freedom of Welch. */
static struct estimate difference(struct estimate one, struct estimate two)
{
    const double error = hypot(one.error, two.error);
    const double share = error > 0 ? one.error * one.error / (error * error) : 1, rest = 1 - share;
    return (struct estimate){one.mean - two.mean, error, 1 / (share * share / one.freedom + rest * rest / two.freedom)};
}

/* How many times as large as its half-width it is; 0 = nobody knows. */
static double sureness(const struct estimate *e, double level)
{
    double t;
    return ifm_stats_t_quantile(0.5 + 0.5 * level, e->freedom, &t) == IFM_STAT_OK ? fabs(e->mean) / (t * e->error) : 0;
}

static bool is_alike(double one, double two)
{
    return one * two > 0 && fmax(fabs(one), fabs(two)) <= ALIKE * fmin(fabs(one), fabs(two));
}

/* The same for both arms: a program that is slow on a CPU by its own doing says nothing of the machine. */
static struct run_part stretch_of(const struct groups *groups, size_t from, size_t to, double level)
{
    struct run_part in = {.from = from, .to = to};
    struct estimate of[2];
    if (!estimate_of(groups, 0, 1, &in, &of[0]) || !estimate_of(groups, 1, 1, &in, &of[1]) ||
        !estimate_of(groups, 0, 2, &in, &in.change))
        return in;
    in.told = true;
    in.sure =
        is_alike(of[0].mean, of[1].mean) && sureness(&in.change, level) > 1 && fabs(in.change.mean) > log1p(VISIBLE);
    return in;
}

/* The run in one, or in two parts where these surely differ by more than a factor: at the slot where they do so most.
 */
static size_t split(const struct groups *groups, double level, struct run_part parts[2])
{
    const double each = 1 - (1 - level) / (PARTS - 1);
    double most = 1;
    parts[0] = stretch_of(groups, 0, groups->n_slots, level);
    parts[1] = (struct run_part){.from = groups->n_slots, .to = groups->n_slots};
    for (size_t i = 1; i < PARTS; i++) {
        const size_t at = groups->n_slots * i / PARTS;
        const struct run_part one = stretch_of(groups, 0, at, each),
                              two = stretch_of(groups, at, groups->n_slots, each);
        const struct estimate apart = difference(one.change, two.change);
        if (!one.told || !two.told || !(one.sure || two.sure) || is_alike(one.change.mean, two.change.mean) ||
            !(sureness(&apart, each) > most))
            continue;
        most = sureness(&apart, each);
        parts[0] = one;
        parts[1] = two;
    }
    return most > 1 ? 2 : 1;
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
    struct groups groups = {.n = 0, .n_slots = r->n_slots};
    for (size_t arm = 0; column >= 0 && arm < 2; arm++) {
        size_t all = 0;
        groups.of[arm] = (struct placed){.slot = IFM_ARENA_ARRAY(scratch, size_t, r->n_slots + 1),
                                         .cpu = IFM_ARENA_ARRAY(scratch, size_t, r->n_slots + 1),
                                         .value = IFM_ARENA_ARRAY(scratch, double, r->n_slots + 1)};
        groups.changes[arm] = IFM_ARENA_ARRAY(scratch, struct changes, 1);
        *groups.changes[arm] = (struct changes){.slot = IFM_ARENA_ARRAY(scratch, size_t, r->n_slots + 1),
                                                .own = IFM_ARENA_ARRAY(scratch, size_t, r->n_slots + 1),
                                                .ratio = IFM_ARENA_ARRAY(scratch, double, r->n_slots + 1),
                                                .value = IFM_ARENA_ARRAY(scratch, double, r->n_slots + 1),
                                                .room = IFM_ARENA_ARRAY(scratch, double, r->n_slots + 1)};
        for (size_t k = 0; k < r->n_slots; k++) {
            const struct ifm_slot *slot = &r->slots[k];
            if (slot->phase != IFM_PHASE_MEASURE || slot->arm != arms[arm]->index)
                continue;
            all++;
            if (slot->columns[column] != IFM_ABSENT)
                add(&groups, slot->columns[column], arm, k, log(ifm_derive_slot_step_ns(r, k)));
        }
        if ((double)groups.of[arm].n < TOLD * (double)all)
            return (struct groups){.n = 0};
    }
    return groups;
}

/* By how much more of its slots on these two CPUs one arm has on the first than the other, in a stretch; 0 where that
 * may be chance, which scatters blocks and so is in the interval. */
static double excess_on(const struct groups *groups, size_t a, size_t b, const struct run_part *in)
{
    const double sure = 3;
    double n[2] = {0, 0}, share[2] = {0, 0};
    for (size_t arm = 0; arm < 2; arm++) {
        const struct placed *s = &groups->of[arm];
        for (size_t k = 0; k < s->n; k++) {
            const bool counts = s->slot[k] >= in->from && s->slot[k] < in->to && (s->cpu[k] == a || s->cpu[k] == b);
            n[arm] += counts;
            share[arm] += counts && s->cpu[k] == a;
        }
        share[arm] /= n[arm];
    }
    const double all = (share[0] * n[0] + share[1] * n[1]) / (n[0] + n[1]);
    const double by_chance = sqrt(all * (1 - all) * (1 / n[0] + 1 / n[1]));
    return fabs(share[0] - share[1]) > sure * by_chance ? share[0] - share[1] : 0;
}

static bool turns(const struct run_part parts[2])
{
    return parts[0].sure && parts[1].sure && parts[0].change.mean * parts[1].change.mean < 0;
}

/* "by about 33 %, longer on CPU 0 than on CPU 1"; of a run in two parts by the one that is surely so, or more. Two
 * parts do not tell when or how often the sides change, where they do. */
static const char *words_of(const struct run_part parts[2], size_t said, size_t n, const struct ifm_places *found,
                            struct ifm_arena *arena)
{
    const double by = 100 * expm1(found->change[said]);
    if (n == 2 && turns(parts))
        return ifm_arena_printf(arena, "by up to about %.2g %%, now longer on CPU %lld, now on CPU %lld", by,
                                (long long)found->slow, (long long)found->fast);
    return ifm_arena_printf(arena, "%sby about %.2g %%, longer on CPU %lld than on CPU %lld",
                            n == 1      ? ""
                            : said == 0 ? "early in the run "
                                        : "late in the run ",
                            by, (long long)found->slow, (long long)found->fast);
}

static struct ifm_places places_of(const struct groups *groups, size_t a, size_t b, const struct run_part parts[2],
                                   size_t n, struct ifm_arena *arena)
{
    const double first = parts[0].change.mean, second = parts[1].change.mean;
    const size_t said = !parts[0].sure || (parts[1].sure && !turns(parts) && fabs(second) > fabs(first));
    const double sign = parts[said].change.mean > 0 ? 1 : -1;
    struct ifm_places found = {.change = {sign * first, sign * second},
                               .until = parts[0].to,
                               .slow = groups->cpus[sign > 0 ? a : b],
                               .fast = groups->cpus[sign > 0 ? b : a]};
    for (size_t i = 0; i < n; i++)
        found.moves += (double)(parts[i].to - parts[i].from) / (double)groups->n_slots * parts[i].change.mean *
                       excess_on(groups, a, b, &parts[i]);
    found.words = words_of(parts, said, n, &found, arena);
    return found;
}

struct ifm_places ifm_derive_places(const struct ifm_arm_work *arm)
{
    const struct ifm_arm_work *const arms[2] = {arm, arm->work->baseline};
    struct ifm_arena *scratch = ifm_arena_create();
    const struct groups groups = gather(arms, scratch);
    struct ifm_places found = {.words = ""};
    double pairs = 0, most = 0;
    for (size_t a = 0; a < groups.n; a++)
        for (size_t b = a + 1; b < groups.n; b++)
            pairs += is_enough(&groups, a) && is_enough(&groups, b);
    for (size_t a = 0; a < groups.n; a++)
        for (size_t b = a + 1; b < groups.n; b++) {
            struct run_part parts[2];
            if (!is_enough(&groups, a) || !is_enough(&groups, b))
                continue;
            find_changes(&groups, 0, a, b);
            find_changes(&groups, 1, a, b);
            const size_t n = split(&groups, 1 - LEVEL / pairs, parts);
            const double change =
                fmax(parts[0].sure ? fabs(parts[0].change.mean) : 0, parts[1].sure ? fabs(parts[1].change.mean) : 0);
            if (change <= most)
                continue;
            most = change;
            found = places_of(&groups, a, b, parts, n, arm->d->arena);
        }
    ifm_arena_destroy(scratch);
    return found;
}

double ifm_derive_place_part(const struct ifm_places *places, const struct ifm_record *record, size_t slot)
{
    const int column = places->words[0] != '\0' ? column_of(record) : -1;
    return column >= 0 && record->slots[slot].columns[column] == places->slow ? places->change[slot >= places->until]
                                                                              : 0;
}
