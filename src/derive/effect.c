/* Effect sizes of a comparison: descriptive numbers beside its change.
 *
 * Over the block logarithms of the two arms, as if they were two samples: the pairing by block is left out, so that
 * both say how far the arms' blocks lie apart, not how certain the change is. Positive = the arm is faster. */
#include "stats/effect.h"
#include "derive/internal.h"

static struct ifm_value effect_value(enum ifm_stat stat, const struct ifm_effect *effect, size_t n, double level)
{
    if (stat != IFM_STAT_OK)
        return ifm_value_absent(ifm_stat_reason(stat), "", (int64_t)n, "blocks");
    struct ifm_value value = ifm_value_real(effect->value, (int64_t)n, "blocks");
    if (effect->interval.low <= effect->value && effect->value <= effect->interval.high)
        ifm_value_bracket(&value, effect->interval.low, effect->interval.high, level);
    else
        value.text = "its interval does not hold it";
    return value;
}

void ifm_derive_effects(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm_work *arm)
{
    struct ifm_arena *scratch = ifm_arena_create();
    double *own = IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1);
    double *base = IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1);
    double *room = IFM_ARENA_ARRAY(scratch, double, 6 * work->n_blocks + 6);
    size_t n = ifm_arm_logs(work, arm, false, own, NULL), m = ifm_arm_logs(work, work->baseline, false, base, NULL);
    double level = ifm_derive_compare_level(work);
    struct ifm_effect cliff = {0}, hedges = {0};
    enum ifm_stat said = ifm_stats_cliff(base, m, own, n, level, room, &cliff);
    ifm_derive_emit(d, work, arm, IFM_M_CLIFF, effect_value(said, &cliff, n < m ? n : m, level));
    said = ifm_stats_hedges(base, m, own, n, level, &hedges);
    ifm_derive_emit(d, work, arm, IFM_M_HEDGES, effect_value(said, &hedges, n < m ? n : m, level));
    ifm_arena_destroy(scratch);
}
