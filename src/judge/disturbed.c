/* Blocks of a comparison that the machine disturbed: what they mean for a number of blocks that is foretold. */
#include "judge/internal.h"

#include "stats/paired.h"
#include <math.h>
#include <string.h>

int64_t ifm_judge_all_blocks(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    const struct ifm_value *change = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT);
    const struct ifm_value *all = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT_ALL_BLOCKS);
    const int64_t n = ifm_is_ok(change) ? change->n : 0;
    return ifm_is_ok(all) && all->n > n ? all->n : n;
}

const char *ifm_judge_blocks(const struct ifm_derived *derived, const char *cell, const char *arm,
                             struct ifm_arena *arena)
{
    const struct ifm_value *change = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT);
    const long long n = change == NULL ? 0 : (long long)change->n,
                    all = (long long)ifm_judge_all_blocks(derived, cell, arm);
    if (all > n)
        return ifm_arena_printf(arena, "%lld of %lld blocks (%lld disturbed)", n, all, all - n);
    return ifm_arena_printf(arena, "%lld block%s", n, n == 1 ? "" : "s");
}

uint64_t ifm_judge_with_disturbed(const struct ifm_derived *derived, const char *cell, const char *arm, uint64_t blocks)
{
    const struct ifm_value *change = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT);
    if (!ifm_is_ok(change) || change->n <= 0)
        return blocks;
    return (uint64_t)ceil((double)blocks * (double)ifm_judge_all_blocks(derived, cell, arm) / (double)change->n);
}

bool ifm_judge_is_busy(const struct ifm_derived *derived)
{
    for (size_t i = 0; i < derived->n_findings; i++)
        if (derived->findings[i].cell[0] == '\0' &&
            strstr(derived->findings[i].text, "the machine is under load") != NULL)
            return true;
    return false;
}

bool ifm_judge_foretells(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    const struct ifm_value *change = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT);
    return !ifm_is_ok(change) ||
           ifm_stats_blocks_foretell((size_t)change->n, (size_t)ifm_judge_all_blocks(derived, cell, arm),
                                     ifm_judge_is_busy(derived));
}
