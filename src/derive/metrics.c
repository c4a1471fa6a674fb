/* The one way by which a number leaves derive. */
#include "derive/internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct ifm_value ifm_value_real(double number, int64_t n, const char *n_of)
{
    if (!isfinite(number))
        return ifm_value_absent("the result is not a finite number", "", n, n_of);
    return (struct ifm_value){.number = number, .n = n, .n_of = n_of, .reason = "", .remedy = "", .text = ""};
}

struct ifm_value ifm_value_count(int64_t number, const char *n_of)
{
    struct ifm_value value = ifm_value_real((double)number, number, n_of);
    value.is_integer = true;
    return value;
}

struct ifm_value ifm_value_absent(const char *reason, const char *remedy, int64_t n, const char *n_of)
{
    return (struct ifm_value){
        .state = IFM_STATE_ABSENT, .n = n, .n_of = n_of, .reason = reason, .remedy = remedy, .text = ""};
}

struct ifm_value ifm_value_integer_products(void)
{
    return ifm_value_absent("the arm multiplies codes as integers, and no ceiling of such products is measured", "", 0,
                            "blocks");
}

struct ifm_value ifm_value_refused(struct ifm_arena *arena, const char *rule, const char *reason)
{
    return (struct ifm_value){.state = IFM_STATE_REFUSED,
                              .n_of = "",
                              .reason = ifm_arena_printf(arena, "%s: %s", rule, reason),
                              .remedy = "",
                              .text = ""};
}

void ifm_value_bracket(struct ifm_value *value, double low, double high, double level)
{
    if (value->state != IFM_STATE_OK || !isfinite(low) || !isfinite(high))
        return;
    value->has_interval = true;
    value->low = low;
    value->high = high;
    value->level = level;
}

/* The first rule that withholds a metric of this class, or NULL. */
static const struct ifm_refusal *refusal_of(const struct ifm_derivation *d, const struct ifm_cell_work *work,
                                            const struct ifm_arm_work *arm, enum ifm_metric_class kind)
{
    if (kind == IFM_CLASS_COUNT || kind == IFM_CLASS_ERROR || kind == IFM_CLASS_COUNTER)
        return NULL;
    if (d->refusal.rule != NULL)
        return &d->refusal;
    if (work->refusal.rule != NULL)
        return &work->refusal;
    if (arm == NULL)
        return NULL;
    if (arm->refusal.rule != NULL)
        return &arm->refusal;
    if (kind == IFM_CLASS_RATE && arm->rates_refused.rule != NULL)
        return &arm->rates_refused;
    if (kind == IFM_CLASS_COMPARE && arm->compare_refused.rule != NULL)
        return &arm->compare_refused;
    if (kind == IFM_CLASS_ENERGY && arm->energy_refused.rule != NULL)
        return &arm->energy_refused;
    return NULL;
}

void ifm_derive_emit(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm_work *arm,
                     enum ifm_metric_id metric, struct ifm_value value)
{
    const struct ifm_metric *row = &ifm_metrics[metric];
    const struct ifm_refusal *refusal = refusal_of(d, work, arm, row->kind);
    /* What was never recorded stays absent; what was recorded and may not be printed is refused, even where it is also
     * too little. */
    bool recorded = value.state == IFM_STATE_OK || (value.state == IFM_STATE_ABSENT && work->record != NULL);
    if (recorded && refusal != NULL) {
        bool inactive = arm != NULL && arm->inactive && refusal == &arm->refusal;
        value = ifm_value_refused(d->arena, refusal->rule, refusal->reason);
        value.state = inactive ? IFM_STATE_INACTIVE : IFM_STATE_REFUSED;
    }
    value.unit = row->unit;
    struct ifm_derived *out = d->out;
    IFM_ARENA_GROW(d->arena, out->numbers, out->n_numbers, d->numbers_capacity);
    out->numbers[out->n_numbers++] =
        (struct ifm_number){work->cell->name, arm == NULL ? "" : arm->arm->name, metric, value};
}

void ifm_derive_find_fault(struct ifm_derivation *d, enum ifm_severity severity, const char *rule, const char *cell,
                           const char *arm, const char *format, ...)
{
    struct ifm_derived *out = d->out;
    IFM_ARENA_GROW(d->arena, out->findings, out->n_findings, d->findings_capacity);
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    out->findings[out->n_findings++] =
        (struct ifm_finding){severity, rule, cell, arm, ifm_arena_strdup(d->arena, text)};
}

bool ifm_derive_is_wanted(const struct ifm_derivation *d, const struct ifm_cell_work *work, enum ifm_metric_id metric)
{
    for (size_t g = 0; g < d->plan->n_gates; g++) {
        const struct ifm_gate *gate = &d->plan->gates[g];
        bool here = gate->cell[0] == '\0' || strcmp(gate->cell, work->cell->name) == 0;
        if (here && d->gated[g] == metric)
            return true;
    }
    return false;
}
