/* Gates as thresholds of the logarithm of a ratio. */
#include "stats/questions.h"

#include "model/metric.h"
#include <math.h>
#include <string.h>

static bool is_about(const struct ifm_gate *gate, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    if (gate->cell[0] != '\0' && strcmp(gate->cell, cell->name) != 0)
        return false;
    return gate->arm[0] == '\0' || strcmp(gate->arm, arm->name) == 0 || ifm_cell_arm(cell, gate->arm) == NULL;
}

/* The threshold as ln(time / baseline's); false where the gate is about something else. */
static bool bound_of(const struct ifm_gate *gate, enum ifm_metric_id metric, double *bound)
{
    if (metric == IFM_M_CHANGE_PERCENT)
        *bound = log1p(fmax(gate->threshold, -100.0) / 100.0);
    else if (metric == IFM_M_SPEEDUP)
        *bound = -log(fmax(gate->threshold, 0.0));
    else
        return false;
    return true;
}

struct ifm_questions ifm_questions_of(const struct ifm_plan *plan, const struct ifm_cell *cell,
                                      const struct ifm_arm *arm, const struct ifm_interval *change)
{
    struct ifm_questions out = {0};
    for (size_t g = 0; plan != NULL && g < plan->n_gates; g++) {
        const struct ifm_gate *gate = &plan->gates[g];
        enum ifm_metric_id metric = ifm_metric_of(gate->metric);
        enum ifm_metric_class kind = ifm_metrics[metric].kind;
        double bound;
        if (!is_about(gate, cell, arm))
            continue;
        if (bound_of(gate, metric, &bound)) {
            out.any = true;
            out.open |= change->low <= bound && bound <= change->high;
            out.blocks = gate->least_n > out.blocks ? gate->least_n : out.blocks;
        } else {
            out.wants_width |= kind == IFM_CLASS_TIME || kind == IFM_CLASS_RATE || kind == IFM_CLASS_COMPARE;
        }
    }
    return out;
}
