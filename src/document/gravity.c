/* What of a run a finding touches: its record, an output, numbers that are compared, or none of these; and whether
 * there are any. */
#include "document/build.h"
#include <string.h>

bool ifm_is_row_named(const struct ifm_publication *from, const char *cell_name, const char *arm_name)
{
    const struct ifm_cell *cell = ifm_plan_cell(from->plan, cell_name);
    const struct ifm_arm *arm = cell == NULL ? NULL : ifm_cell_arm(cell, arm_name);
    return arm != NULL && ifm_document_is_row(from->derived, cell, arm);
}

/* A check that the output must pass, a feature that had to run, or a program that had to end well. */
static bool is_check(const struct ifm_finding *finding)
{
    const char *rule = finding->rule == NULL ? "" : finding->rule;
    return strcmp(rule, "rule-10") == 0 || strcmp(rule, "rule-11") == 0 || strcmp(rule, "rule-12") == 0 ||
           finding->kind == IFM_FINDING_FAILED_RUNS;
}

/* A cell that this machine cannot run is absent from the tables, and touches no other. */
static bool is_absent(const struct ifm_publication *from, const char *name)
{
    const struct ifm_cell *cell = ifm_plan_cell(from->plan, name);
    return cell != NULL && !ifm_is_empty(cell->unsupported);
}

/* Was any comparison made? */
static bool any_answer(const struct ifm_publication *from)
{
    for (size_t i = 0; i < from->derived->n_numbers; i++)
        if (from->derived->numbers[i].metric == IFM_M_CHANGE_PERCENT && ifm_is_ok(&from->derived->numbers[i].value))
            return true;
    return false;
}

/* An arm whose feature had nothing to do, as where a cache is too short to compress: its row says so, and where others
 * have an answer, the word of trust is of these. */
bool ifm_is_left_out(const struct ifm_publication *from, const char *cell, const char *arm)
{
    const struct ifm_value *change =
        ifm_is_empty(arm) ? NULL : ifm_derived_value(from->derived, cell, arm, IFM_M_CHANGE_PERCENT);
    return change != NULL && change->state == IFM_STATE_INACTIVE && any_answer(from);
}

enum ifm_gravity ifm_gravity_of(const struct ifm_publication *from, const struct ifm_finding *finding)
{
    if (finding->severity == IFM_SEVERITY_INVALID)
        return IFM_TOUCHES_RECORD;
    if (finding->severity == IFM_SEVERITY_NOTE || is_absent(from, finding->cell) ||
        ifm_is_left_out(from, finding->cell, finding->arm) ||
        (!ifm_is_empty(finding->arm) && !ifm_is_row_named(from, finding->cell, finding->arm)))
        return IFM_TOUCHES_NOTHING;
    return is_check(finding) ? IFM_TOUCHES_OUTPUT : IFM_TOUCHES_NUMBERS;
}

bool ifm_is_distrusted(const struct ifm_publication *from, const struct ifm_number *number)
{
    const enum ifm_metric_id id = number->metric;
    const bool idle = id == IFM_M_ENERGY_ABOVE_IDLE_J || id == IFM_M_ENERGY_PER_TOKEN_ABOVE_IDLE_J;
    return number->value.state == IFM_STATE_REFUSED && !idle && ifm_is_row_named(from, number->cell, number->arm);
}

bool ifm_is_measured(const struct ifm_publication *from)
{
    if (from->verdict->outcome == IFM_OUTCOME_NOT_GATED && from->verdict->exit_code == IFM_INVALID)
        return false;
    for (size_t i = 0; i < from->derived->n_numbers; i++)
        if (ifm_is_ok(&from->derived->numbers[i].value) &&
            ifm_metrics[from->derived->numbers[i].metric].kind != IFM_CLASS_COUNT)
            return true;
    return false;
}

double ifm_most_marked(const struct ifm_publication *from, double *all)
{
    for (size_t i = 0; i < from->derived->n_numbers; i++) {
        const struct ifm_number *marked = &from->derived->numbers[i];
        if (marked->metric != IFM_M_BLOCKS_MARKED || !ifm_is_ok(&marked->value) || marked->value.number <= 0 ||
            !ifm_is_row_named(from, marked->cell, marked->arm))
            continue;
        const struct ifm_value *count = ifm_derived_value(from->derived, marked->cell, marked->arm, IFM_M_BLOCKS_COUNT);
        if (ifm_is_ok(count) && 2 * marked->value.number >= count->number) {
            *all = count->number;
            return marked->value.number;
        }
    }
    return 0;
}
