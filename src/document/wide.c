/* Why one time says too little, or its interval much: modes, a drift, and a ratio's interval beside those of its times.
 * Computes no number that is printed. */
#include "document/build.h"
#include <math.h>
#include <string.h>

/* Half of an interval over its number; NaN without one. */
static double half_of(const struct ifm_value *value)
{
    return ifm_is_ok(value) && value->has_interval ? 0.5 * (value->high - value->low) / value->number : NAN;
}

/* Has another arm of the cell such a finding? */
static bool alike_in(const struct ifm_derived *derived, const struct ifm_finding *finding)
{
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(derived, finding->cell, f)) != NULL;)
        if (f->kind == finding->kind && strcmp(f->arm, finding->arm) != 0)
            return true;
    return false;
}

static const char *cause_of(const struct ifm_derived *derived, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_finding *widened = ifm_derived_widened(derived, cell->name, arm->name, IFM_M_SPEEDUP);
    if (widened != NULL && widened->kind == IFM_FINDING_ORDER)
        return alike_in(derived, widened)
                   ? "it takes another time right after another arm than after itself, and its interval holds both, as "
                     "others here do"
                   : "it takes another time right after another arm than after itself, and its interval holds both";
    if (widened != NULL && widened->kind == IFM_FINDING_ORDER_HIDDEN)
        return "its interval holds what the order of arms may do";
    if (widened != NULL)
        return "its interval holds the change at one clock too";
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(derived, cell->name, f)) != NULL;)
        if (strcmp(f->arm, arm->name) == 0 && f->kind == IFM_FINDING_RATIO_DRIFTS)
            return "it changed in the run, and its interval holds both ends";
    return "";
}

const char *ifm_wider_than_times(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                 const struct ifm_arm *arm, const struct ifm_value *speedup)
{
    const double much = 2;
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    const double own = half_of(ifm_value_of(builder, cell, arm, IFM_M_STEP_NS)),
                 base = baseline == NULL ? NAN : half_of(ifm_value_of(builder, cell, baseline, IFM_M_STEP_NS));
    if (!(half_of(speedup) > much * hypot(own, base)))
        return "";
    return cause_of(builder->from->derived, cell, arm);
}

const char *ifm_drift_in_interval(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                  const struct ifm_arm *arm, const struct ifm_value *time)
{
    const double shows = 0.03; /* of the time: a narrow interval misleads nobody */
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(builder->from->derived, cell->name, f)) != NULL;)
        if (strcmp(f->arm, arm->name) == 0 && f->kind == IFM_FINDING_TIME_DRIFTS && half_of(time) > shows)
            return "its interval holds both ends of a drift";
    return "";
}

const char *ifm_modes_words(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_value *modes = ifm_value_of(builder, cell, arm, IFM_M_MODES_COUNT);
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(builder->from->derived, cell->name, f)) != NULL;)
        if (strcmp(f->arm, arm->name) == 0 && f->kind == IFM_FINDING_MODES && ifm_is_ok(modes))
            return ifm_arena_printf(builder->arena, "%.0f modes: of its %s %s", modes->number,
                                    ifm_cell_counts_programs(cell) ? "runs" : "samples", modes->text);
    return "";
}
