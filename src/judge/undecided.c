/* Why a comparison is undecided, and what would decide it: one answer for table, word of trust and library. */
#include "judge/judge.h"

#include "stats/paired.h"
#include <math.h>
#include <string.h>

/* An inconclusive gate on the comparison, by its interval; NULL = none. */
static const struct ifm_gate_result *open_gate(const struct ifm_verdict *verdict, const char *cell, const char *arm)
{
    for (size_t i = 0; i < verdict->n_gates; i++) {
        const struct ifm_gate_result *result = &verdict->gates[i];
        const enum ifm_metric_id metric = ifm_metric_of(result->gate->metric);
        if (result->outcome == IFM_OUTCOME_INCONCLUSIVE && strcmp(result->cell, cell) == 0 &&
            strcmp(result->arm, arm) == 0 && (metric == IFM_M_CHANGE_PERCENT || metric == IFM_M_SPEEDUP) &&
            ifm_judge_by_interval(result->gate, &result->observed))
            return result;
    }
    return NULL;
}

/* Does an estimate beyond the margin lie within a standard error of zero? A number of blocks is made of the estimate,
 * and this one is chance: equal programs would be told that few more find a difference. */
static bool is_within_noise(const struct ifm_derived *derived, const char *cell, const char *arm, double margin)
{
    const struct ifm_value *change = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT);
    if (change == NULL || change->state != IFM_STATE_OK || !change->has_interval)
        return false;
    const double error = (change->high - change->low) / 4, size = fabs(change->number);
    return size > 100 * margin && size < error;
}

uint64_t ifm_judge_further(const struct ifm_derived *derived, const struct ifm_verdict *verdict, const char *cell,
                           const char *arm, double margin)
{
    const struct ifm_gate_result *gate = open_gate(verdict, cell, arm);
    const struct ifm_value *needed = ifm_derived_value(derived, cell, arm, IFM_M_BLOCKS_NEEDED);
    if (gate != NULL)
        return gate->further;
    if (needed == NULL || needed->state != IFM_STATE_OK || is_within_noise(derived, cell, arm, margin))
        return 0;
    return (uint64_t)fmax(needed->number - (double)needed->n, 1);
}

/* The rule that took the word. */
static const char *finding_on(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    for (size_t i = 0; i < derived->n_findings; i++) {
        const struct ifm_finding *finding = &derived->findings[i];
        if (strcmp(finding->cell, cell) == 0 && strcmp(finding->arm, arm) == 0 &&
            strstr(finding->text, "undecided") != NULL)
            return finding->text;
    }
    return NULL;
}

/* "53 blocks"; "53 of 85 blocks, as 32 were disturbed" where the comparison set some aside, which the tables count. */
static const char *blocks_words(const struct ifm_derived *derived, const struct ifm_value *change, const char *cell,
                                const char *arm, struct ifm_arena *arena)
{
    const struct ifm_value *all = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT_ALL_BLOCKS);
    const long long n = (long long)change->n;
    if (all != NULL && all->state == IFM_STATE_OK && all->n > n)
        return ifm_arena_printf(arena, "%lld of %lld blocks, as %lld %s disturbed", n, (long long)all->n,
                                (long long)all->n - n, all->n - n == 1 ? "was" : "were");
    return ifm_arena_printf(arena, "%lld block%s", n, n == 1 ? "" : "s");
}

const char *ifm_judge_undecided(const struct ifm_derived *derived, const struct ifm_verdict *verdict, const char *cell,
                                const char *arm, double margin, struct ifm_arena *arena)
{
    const struct ifm_value *change = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT);
    const struct ifm_value *needed = ifm_derived_value(derived, cell, arm, IFM_M_BLOCKS_NEEDED);
    if (change == NULL || change->state != IFM_STATE_OK || strcmp(change->text, "undecided") != 0)
        return "";
    const char *found = finding_on(derived, cell, arm);
    const uint64_t further = ifm_judge_further(derived, verdict, cell, arm, margin);
    const char *blocks = blocks_words(derived, change, cell, arm, arena);
    if (found != NULL)
        return found;
    if (change->n < IFM_BLOCKS_NEEDED)
        return ifm_arena_printf(arena, "undecided: needs %d blocks, has %lld", IFM_BLOCKS_NEEDED, (long long)change->n);
    const bool gated = open_gate(verdict, cell, arm) != NULL;
    if (further > 0)
        return ifm_arena_printf(arena, "undecided after %s: about %llu more would decide%s, if the estimate holds",
                                blocks, (unsigned long long)further, gated ? " the gate" : "");
    const char *reason = gated ? "so near the gate's limit that no sensible number of blocks decides"
                         : needed != NULL && needed->reason[0] != '\0' ? needed->reason
                         : is_within_noise(derived, cell, arm, margin)
                             ? "the estimate is within its noise of zero, so that no number of blocks can be foretold"
                             : "no number of blocks can be foretold";
    return ifm_arena_printf(arena, "undecided after %s: %s", blocks, reason);
}
