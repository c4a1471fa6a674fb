/* Blocks of a comparison that the machine disturbed: what they mean for a number of blocks that is foretold. */
#include "judge/internal.h"

#include <string.h>

const char *ifm_judge_blocks(const struct ifm_derived *derived, const char *cell, const char *arm,
                             struct ifm_arena *arena)
{
    const struct ifm_value *change = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT);
    const long long n = change == NULL ? 0 : (long long)change->n,
                    all = (long long)ifm_derived_all_blocks(derived, cell, arm);
    if (all > n)
        return ifm_arena_printf(arena, "%lld undisturbed blocks of %lld", n, all);
    return ifm_arena_printf(arena, "%lld block%s", n, n == 1 ? "" : "s");
}

const char *ifm_judge_blocks_of_interval(const struct ifm_derived *derived, const char *cell, const char *arm,
                                         struct ifm_arena *arena)
{
    const char *blocks = ifm_judge_blocks(derived, cell, arm, arena);
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(derived, cell, f)) != NULL;)
        if (f->kind == IFM_FINDING_LOPSIDED && strcmp(f->arm, arm) == 0)
            return ifm_arena_printf(arena, "%s (interval widened to hold that of all %lld)", blocks,
                                    (long long)ifm_derived_all_blocks(derived, cell, arm));
    return blocks;
}
