/* Gates on an arm whose output changed, or is not what it must be: times and ratios of it answer nothing. */
#include "judge/internal.h"

#include <string.h>

const struct ifm_finding *ifm_judge_doubtful_output(const struct ifm_derived *derived, const struct ifm_cell *cell,
                                                    const char *arm, enum ifm_metric_id metric)
{
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    const enum ifm_metric_class kind = ifm_metrics[metric].kind;
    if (kind == IFM_CLASS_ERROR || kind == IFM_CLASS_COUNT || kind == IFM_CLASS_COUNTER) /* never withheld */
        return NULL;
    const bool compares = kind == IFM_CLASS_COMPARE && baseline != NULL;
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(derived, cell->name, f)) != NULL;)
        if (f->kind == IFM_FINDING_OUTPUT &&
            (strcmp(f->arm, arm) == 0 || (compares && strcmp(f->arm, baseline->name) == 0)))
            return f;
    return NULL;
}

const char *ifm_judge_output_words(const struct ifm_finding *finding, const char *arm, struct ifm_arena *arena)
{
    const bool own = strcmp(finding->arm, arm) == 0;
    return ifm_arena_printf(arena, "%s%s%s%s (%s)", own ? "" : IFM_OF_BASELINE_WORDS, own ? "" : finding->arm,
                            own ? "" : ": ", finding->text, finding->rule);
}
