/* Effect sizes of a comparison: descriptive numbers beside its change.
 *
 * Over the block logarithms of the two arms, as if they were two samples: the pairing by block is left out, so that
 * both say how far the arms' blocks lie apart, not how certain the change is. Positive = the arm is faster. */
#include "stats/effect.h"
#include "derive/internal.h"
#include "stats/test.h"

static struct ifm_value effect_value(enum ifm_stat stat, const struct ifm_effect *effect, size_t n, double level)
{
    if (stat != IFM_STAT_OK)
        return ifm_value_no_stat(stat, (int64_t)n, "blocks");
    struct ifm_value value = ifm_value_real(effect->value, (int64_t)n, "blocks");
    if (effect->interval.low <= effect->value && effect->value <= effect->interval.high)
        ifm_value_bracket(&value, effect->interval.low, effect->interval.high, level);
    else
        value.text = "its interval does not hold it";
    return value;
}

/* P of the block differences under the random order of the arms: each sign might as well have been the other. A run
 * that looked as it went has no such p. */
static struct ifm_value flip_value(const struct ifm_arm_work *arm, const bool *without, struct ifm_arena *scratch)
{
    const struct ifm_cell_work *work = arm->work;
    enum { ROUNDS = 9999 };
    double *logs = IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1);
    int64_t *room = IFM_ARENA_ARRAY(scratch, int64_t, work->n_blocks + 1), n;
    size_t k = ifm_pair_logs(arm, work->baseline, without, logs, NULL);
    double p = 0;
    n = (int64_t)k;
    if (work->cell->measure.stop == IFM_STOP_GROUP || work->cell->measure.stop == IFM_STOP_DECIDED)
        return ifm_value_absent("a run that looks at its result as it goes has no p of a single look",
                                "read the interval of change_percent, which holds over all looks", n, "blocks");
    if (k < IFM_BLOCKS_NEEDED)
        return ifm_value_absent("too few blocks", ifm_derive_more(work, "blocks"), n, "blocks");
    enum ifm_stat stat = ifm_stats_sign_flip(logs, k, ROUNDS, ifm_derive_seed(arm), room, &p);
    return ifm_value_of_stat(stat, p, n, "blocks");
}

void ifm_derive_effects(const struct ifm_arm_work *arm, const bool *without)
{
    const struct ifm_cell_work *work = arm->work;
    struct ifm_arena *scratch = ifm_arena_create();
    double *own = IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1);
    double *base = IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1);
    double *room = IFM_ARENA_ARRAY(scratch, double, 6 * work->n_blocks + 6);
    size_t n = ifm_arm_logs(arm, without, own, NULL), m = ifm_arm_logs(work->baseline, without, base, NULL);
    double level = ifm_derive_compare_level(work);
    struct ifm_effect cliff = {0}, hedges = {0};
    enum ifm_stat said = ifm_stats_cliff(base, m, own, n, level, room, &cliff);
    ifm_derive_emit(arm, IFM_M_CLIFFS_DELTA, effect_value(said, &cliff, n < m ? n : m, level));
    said = ifm_stats_hedges(base, m, own, n, level, &hedges);
    ifm_derive_emit(arm, IFM_M_HEDGES_G, effect_value(said, &hedges, n < m ? n : m, level));
    ifm_derive_emit(arm, IFM_M_SIGN_FLIP_P, flip_value(arm, without, scratch));
    ifm_arena_destroy(scratch);
}
