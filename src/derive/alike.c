/* Does every arm of a cell change as one does, at the same time and in the same direction? Then it is no arm's alone,
 * whichever a warning names first. Decided by the numbers of all arms, also of those whose change is below what is
 * reported. Thread rule: no shared state. */
#include "derive/internal.h"

#include <math.h>

/* Two arms change alike where neither does so by more than twice as much as the other, and each by more than so many
 * standard errors; one changes alone where the ratio to each other one does by more than so many. */
static const double ALIKE = 0.5, SURELY = 2, ALONE = 3;

struct course {
    size_t n;
    double *logs, *mid;
};

static bool course_of(const struct ifm_arm_work *arm, struct ifm_arena *arena, struct course *out)
{
    if (arm->broken != NULL || ifm_derive_is_cache_probe(arm->arm))
        return false;
    out->logs = IFM_ARENA_ARRAY(arena, double, arm->work->n_blocks + 1);
    out->mid = IFM_ARENA_ARRAY(arena, double, arm->work->n_blocks + 1);
    out->n = ifm_arm_logs(arm, NULL, out->logs, out->mid);
    return out->n >= IFM_BLOCKS_NEEDED;
}

/* How much ln(time) changes, and its standard error. */
struct moved {
    double by, se;
};

/* The change at a time, of a sixth of the blocks before and behind it: of a change elsewhere little is seen there. */
static bool moved_at(const struct course *c, double at_ns, struct moved *out)
{
    enum { SHARE = 6, FEWEST = 2 };
    const size_t most = c->n / SHARE < FEWEST ? FEWEST : c->n / SHARE;
    size_t before = 0;
    double sums[2] = {0, 0}, squares = 0;
    while (before < c->n && c->mid[before] < at_ns)
        before++;
    const size_t n[2] = {before < most ? before : most, c->n - before < most ? c->n - before : most};
    if (n[0] == 0 || n[1] == 0)
        return false;
    for (size_t i = before - n[0]; i < before + n[1]; i++)
        sums[i >= before] += c->logs[i];
    for (size_t i = 1; i < c->n; i++) /* of neighbours, which a few steps leave alone */
        squares += i == before ? 0 : (c->logs[i] - c->logs[i - 1]) * (c->logs[i] - c->logs[i - 1]);
    out->by = sums[1] / (double)n[1] - sums[0] / (double)n[0];
    out->se = sqrt(squares / 2 / (double)(c->n - 1) * (1 / (double)n[0] + 1 / (double)n[1]));
    return true;
}

/* The drift from the first block to the last. */
static bool drifted(const struct course *c, struct moved *out)
{
    struct ifm_slope line;
    double t;
    if (ifm_stats_slope(c->mid, c->logs, c->n, IFM_LEVEL, &line) != IFM_STAT_OK ||
        ifm_stats_t_quantile(0.5 + 0.5 * IFM_LEVEL, (double)c->n - 2, &t) != IFM_STAT_OK)
        return false;
    const double over = c->mid[c->n - 1] - c->mid[0];
    out->by = line.slope * over;
    out->se = (line.interval.high - line.interval.low) / 2 * over / t;
    return true;
}

static bool is_sure(const struct moved *moved)
{
    return fabs(moved->by) > SURELY * moved->se;
}

/* How far the means of the quarters of a course lie about their own. */
static double wander(const double *logs, size_t n)
{
    enum { PARTS = 4 };
    double mean[PARTS], all = 0, squares = 0;
    for (size_t p = 0; p < PARTS; p++) {
        const size_t from = p * n / PARTS, to = (p + 1) * n / PARTS;
        mean[p] = 0;
        for (size_t i = from; i < to; i++)
            mean[p] += logs[i] / (double)(to - from);
        all += mean[p] / PARTS;
    }
    for (size_t p = 0; p < PARTS; p++)
        squares += (mean[p] - all) * (mean[p] - all);
    return sqrt(squares);
}

/* Drifts of one size may have unlike courses; those of one course leave little of it in the ratio of the two arms. */
static bool drifts_with(const struct ifm_arm_work *arm, const struct course *own, const struct ifm_arm_work *other,
                        struct course *its)
{
    struct moved moved;
    if (!drifted(its, &moved) || !is_sure(&moved))
        return false;
    const size_t n = ifm_pair_logs(arm, other, NULL, its->logs, its->mid);
    return n >= IFM_BLOCKS_NEEDED && wander(its->logs, n) <= ALIKE * wander(own->logs, own->n);
}

static bool changes_with(double at_ns, const struct moved *own, const struct course *its)
{
    struct moved moved;
    return moved_at(its, at_ns, &moved) && is_sure(&moved) && moved.by / own->by >= ALIKE &&
           own->by / moved.by >= ALIKE;
}

/* Does the ratio of the two surely change as this one does? Two noises alone rarely look like that. */
static bool moves_beside(const struct ifm_arm_work *arm, const struct ifm_arm_work *other, const double *at_ns,
                         const struct moved *own, struct course *its)
{
    struct moved moved;
    its->n = ifm_pair_logs(arm, other, NULL, its->logs, its->mid);
    return its->n >= IFM_BLOCKS_NEEDED && (at_ns == NULL ? drifted(its, &moved) : moved_at(its, *at_ns, &moved)) &&
           fabs(moved.by) > ALONE * moved.se && moved.by * own->by > 0;
}

enum ifm_shared ifm_derive_shared(const struct ifm_arm_work *arm, const double *at_ns)
{
    const struct ifm_cell_work *work = arm->work;
    struct ifm_arena *scratch = ifm_arena_create();
    struct course own, its;
    struct moved moved = {0, 0};
    size_t others = 0, alike = 0, unlike = 0;
    const bool sure = course_of(arm, scratch, &own) &&
                      (at_ns == NULL ? drifted(&own, &moved) : moved_at(&own, *at_ns, &moved)) && is_sure(&moved);
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_arm_work *other = &work->arms[a];
        if (other == arm || !course_of(other, scratch, &its))
            continue;
        others++;
        alike += sure && (at_ns == NULL ? drifts_with(arm, &own, other, &its) : changes_with(*at_ns, &moved, &its));
        unlike += sure && moves_beside(arm, other, at_ns, &moved, &its);
    }
    ifm_arena_destroy(scratch);
    return others > 0 && alike == others     ? IFM_SHARED_BY_ALL
           : others == 0 || unlike == others ? IFM_SHARED_BY_NONE
                                             : IFM_SHARED_PERHAPS;
}

const char *ifm_derive_shared_words(const struct ifm_cell_work *work, enum ifm_shared shared)
{
    return shared == IFM_SHARED_BY_NONE                ? ""
           : shared == IFM_SHARED_PERHAPS              ? IFM_ONE_ARM_WORDS
           : ifm_plan_count_in_blocks(work->cell) == 2 ? ", in both arms"
                                                       : ", in all arms";
}
