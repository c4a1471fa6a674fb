/* Whether to go back to the baseline, by the rule of the specification: two or more of latency, L2 hits and energy per
 * token regress, and do so again in a run that repeats this one. One failed gate is no reason: a target that is missed
 * is not a loss, and one metric alone may be a trade. */
#include "judge/internal.h"

#include <string.h>

enum { ENOUGH = 2 };

/* Latency by the word, which the margin and every dispute have a say in; the others by their whole intervals, where
 * none keeps them from deciding. */
static bool regressed(const struct ifm_derived *derived, const char *cell, const char *arm, enum ifm_metric_id metric)
{
    const struct ifm_value *v = ifm_derived_value(derived, cell, arm, metric);
    if (!ifm_is_ok(v) || !v->has_interval)
        return false;
    if (metric == IFM_M_CHANGE_PERCENT)
        return strcmp(v->text, "slower") == 0;
    if (ifm_derived_dispute(derived, cell, arm, metric) != NULL)
        return false;
    return ifm_metrics[metric].better == IFM_BETTER_HIGHER ? v->high < 0 : v->low > 0;
}

const char *ifm_judge_regressions(const struct ifm_derived *derived, const char *cell, const char *arm,
                                  struct ifm_arena *arena)
{
    static const struct {
        enum ifm_metric_id metric;
        const char *name;
    } table[] = {{IFM_M_CHANGE_PERCENT, "latency"},
                 {IFM_M_L2_HIT_CHANGE_PP, "L2 hits"},
                 {IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT, "energy per token"}};
    const char *names = "";
    size_t n = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (regressed(derived, cell, arm, table[i].metric))
            names = ifm_arena_printf(arena, "%s%s%s", names, n++ == 0 ? "" : " and ", table[i].name);
    return n < ENOUGH ? "" : names;
}

/* The run that this one repeats, where the arm regressed there too; NULL = a first measurement, or it did not. */
static const char *repeats(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    for (size_t i = 0; i < derived->n_retries; i++) {
        const struct ifm_event_retry *retry = derived->retries[i];
        if (strcmp(retry->cell, cell) == 0 && strcmp(retry->arm, arm) == 0)
            return retry->run_id;
    }
    return NULL;
}

static void advise(const struct ifm_cell *cell, const struct ifm_arm *arm, const struct ifm_derived *derived,
                   struct ifm_arena *arena, struct ifm_verdict *verdict)
{
    const char *names = ifm_judge_regressions(derived, cell->name, arm->name, arena);
    const char *before = repeats(derived, cell->name, arm->name), *to = ifm_cell_baseline(cell)->name;
    if (names[0] == '\0' || (verdict->rollback_advice[0] != '\0' && before == NULL))
        return;
    verdict->rollback = before != NULL;
    verdict->rollback_to = before != NULL ? to : "";
    verdict->rollback_advice =
        before != NULL
            ? ifm_arena_printf(arena, "Roll back to %s: %s of %s regress here and in run %s, which this one repeats.",
                               to, names, arm->name, before)
            : ifm_arena_printf(arena,
                               "%s of %s regress: measure once more with `inferometer rerun`, and roll back to %s if "
                               "they do so again.",
                               names, arm->name, to);
}

void ifm_judge_rollback(const struct ifm_plan *plan, const struct ifm_derived *derived, struct ifm_arena *arena,
                        struct ifm_verdict *verdict)
{
    if (verdict->outcome != IFM_OUTCOME_FAIL)
        return;
    for (size_t c = 0; c < plan->n_cells; c++) {
        const struct ifm_cell *cell = &plan->cells[c];
        for (size_t a = 0; a < cell->n_arms && !verdict->rollback; a++)
            if (cell->arms[a].role == IFM_ROLE_VARIANT && ifm_cell_baseline(cell) != NULL)
                advise(cell, &cell->arms[a], derived, arena, verdict);
    }
}
