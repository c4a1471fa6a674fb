/* What few runs of a program may miss: slow ones that are so rare that none was among them. */
#include "judge/internal.h"

#include "stats/tail.h"
#include <math.h>
#include <string.h>

/* The threshold of a gate on a comparison of times, as ln(time of the arm / of its baseline). */
static bool bound_of(const struct ifm_gate *gate, enum ifm_metric_id metric, double *bound)
{
    if (metric == IFM_M_SPEEDUP && gate->threshold > 0)
        *bound = -log(gate->threshold);
    else if (metric != IFM_M_SPEEDUP && gate->threshold > -100)
        *bound = log1p(gate->threshold / 100);
    else
        return false;
    return metric == IFM_M_SPEEDUP || metric == IFM_M_CHANGE_PERCENT || metric == IFM_M_CHANGE_CPU_PERCENT;
}

/* Few runs may hold no slow one of a program that has some: said where one in either program would change the answer
 * (stats/tail.h). */
void ifm_judge_unseen(const struct ifm_derived *derived, struct ifm_gate_result *result, enum ifm_metric_id metric,
                      const struct ifm_cell *cell)
{
    const struct ifm_value *v = &result->observed;
    const bool decided = result->outcome == IFM_OUTCOME_PASS || result->outcome == IFM_OUTCOME_FAIL;
    const struct ifm_few_runs runs = ifm_derived_fewest_runs(derived, cell, metric == IFM_M_CHANGE_CPU_PERCENT);
    double bound;
    if (!decided || !ifm_cell_counts_programs(cell) || runs.n >= IFM_TAIL_RUNS || !v->has_interval ||
        !bound_of(result->gate, metric, &bound))
        return;
    const bool ratio = metric == IFM_M_SPEEDUP;
    const double low = ratio ? -log(v->high) : log1p(v->low / 100), high = ratio ? -log(v->low) : log1p(v->high / 100);
    const double room = low > bound ? low - bound : bound - high;
    if (room > ifm_stats_tail_unseen((double)runs.n))
        return;
    result->few_runs = runs;
}

const char *ifm_judge_unseen_words(const struct ifm_gate_result *result, struct ifm_arena *arena)
{
    return result->few_runs.n == 0 ? ""
                                   : ifm_arena_printf(arena, "%s: such ones are not in this answer",
                                                      ifm_unseen_runs(result->few_runs, arena));
}

const char *ifm_judge_unseen_first(const struct ifm_verdict *verdict, struct ifm_arena *arena)
{
    const char *words = "";
    for (size_t i = 0; i < verdict->n_gates && words[0] == '\0'; i++)
        words = ifm_judge_unseen_words(&verdict->gates[i], arena);
    return words;
}

bool ifm_judge_unseen_matters(const struct ifm_derived *derived, const struct ifm_cell *cell)
{
    const struct ifm_few_runs runs = ifm_derived_fewest_runs(derived, cell, false);
    const double margin = log1p(cell->measure.margin), hidden = ifm_stats_tail_unseen((double)runs.n);
    for (size_t a = 0; a < cell->n_arms && runs.n < IFM_TAIL_RUNS; a++) {
        const struct ifm_value *v = ifm_derived_value(derived, cell->name, cell->arms[a].name, IFM_M_CHANGE_PERCENT);
        if (!ifm_is_ok(v) || !v->has_interval || strcmp(v->text, "undecided") == 0)
            continue;
        const double low = log1p(v->low / 100), high = log1p(v->high / 100);
        if ((low > 0 ? low : -high) - margin <= hidden) /* of equal ones that is below zero */
            return true;
    }
    return false;
}
