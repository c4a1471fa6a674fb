/* Gates against the way in which their metric improves (rule 9). Measures nothing.
 *
 * A gate that asks for a change of at least 10 % passes an arm that became slower and fails one that became faster. It
 * is refused, not turned round: nobody but its author knows whether the word or the sign was meant. A metric without a
 * better side tells nothing of an arm by one bound. Two gates that hold a number between both ends of a band stand. */
#include "judge/internal.h"

#include <string.h>

/* The other end of the gate's band is among the gates. */
static bool is_end_of_band(const struct ifm_gate *gates, size_t n, const struct ifm_gate *gate)
{
    for (size_t i = 0; i < n; i++)
        if (gates[i].op != gate->op && strcmp(gates[i].metric, gate->metric) == 0 &&
            strcmp(gates[i].arm, gate->arm) == 0 && strcmp(gates[i].cell, gate->cell) == 0)
            return true;
    return false;
}

bool ifm_judge_is_inverted(const struct ifm_gate *gates, size_t n, const struct ifm_gate *gate,
                           enum ifm_metric_id metric)
{
    enum ifm_better better = ifm_metrics[metric].better;
    enum ifm_better asked = gate->op == IFM_GATE_AT_LEAST ? IFM_BETTER_HIGHER : IFM_BETTER_LOWER;
    bool estimate = ifm_metrics[metric].kind == IFM_CLASS_ESTIMATE; /* no band of them is a limit either */
    return better != asked && (estimate || !is_end_of_band(gates, n, gate));
}

const char *ifm_judge_inverted_reason(struct ifm_arena *arena, const struct ifm_gate *gate, enum ifm_metric_id id)
{
    const struct ifm_metric *metric = &ifm_metrics[id];
    bool least = gate->op == IFM_GATE_AT_LEAST;
    if (metric->better == IFM_BETTER_NONE)
        return ifm_arena_printf(arena, "rule-09: %s has no better side: %s", metric->id, metric->undirected);
    return ifm_arena_printf(arena,
                            "rule-09: the gate is inverted: %s is better when it is %s, and the gate asks for %s %.6g; "
                            "it would pass an arm for being worse",
                            metric->id, least ? "lower" : "higher", least ? "at least" : "at most", gate->threshold);
}

const char *ifm_judge_inverted_hint(struct ifm_arena *arena, const struct ifm_gate *gate, enum ifm_metric_id id)
{
    const struct ifm_metric *metric = &ifm_metrics[id];
    if (metric->better != IFM_BETTER_NONE)
        return ifm_arena_printf(arena, "write op: %s; as one end of a band, give the other end a gate too",
                                gate->op == IFM_GATE_AT_LEAST ? "at_most" : "at_least");
    if (metric->kind == IFM_CLASS_ESTIMATE)
        return ifm_arena_printf(arena, "gate %s instead, which is measured", ifm_metrics[metric->instead].id);
    return metric->instead == IFM_M_NONE ? "give both ends of a band: one gate at_least, one at_most"
                                         : ifm_arena_printf(arena, "gate %s instead, or give both ends of a band",
                                                            ifm_metrics[metric->instead].id);
}
