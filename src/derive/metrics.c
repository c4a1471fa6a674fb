/* The one way by which a number leaves derive. */
#include "derive/internal.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

struct ifm_value ifm_value_real(double number, int64_t n, const char *n_of)
{
    if (!isfinite(number))
        return ifm_value_absent("the result is not a finite number", "", n, n_of);
    return (struct ifm_value){.number = number, .n = n, .n_of = n_of, .reason = "", .remedy = "", .text = ""};
}

struct ifm_value ifm_value_count_of(int64_t number, int64_t n, const char *n_of)
{
    struct ifm_value value = ifm_value_real((double)number, n, n_of);
    value.is_integer = true;
    return value;
}

struct ifm_value ifm_value_count(int64_t number, const char *n_of)
{
    return ifm_value_count_of(number, number, n_of);
}

struct ifm_value ifm_value_absent(const char *reason, const char *remedy, int64_t n, const char *n_of)
{
    return (struct ifm_value){
        .state = IFM_STATE_ABSENT, .n = n, .n_of = n_of, .reason = reason, .remedy = remedy, .text = ""};
}

struct ifm_value ifm_value_missing(const struct ifm_cell_work *work, const char *n_of)
{
    return ifm_value_absent(work->missing, work->remedy, 0, n_of);
}

struct ifm_value ifm_value_unread(const struct ifm_cell_work *work, const char *reason, const char *remedy,
                                  const char *n_of)
{
    return work->record == NULL ? ifm_value_missing(work, n_of) : ifm_value_absent(reason, remedy, 0, n_of);
}

struct ifm_value ifm_value_no_stat(enum ifm_stat stat, int64_t n, const char *n_of)
{
    return ifm_value_absent(ifm_stat_reason(stat), "", n, n_of);
}

struct ifm_value ifm_value_of_stat(enum ifm_stat stat, double number, int64_t n, const char *n_of)
{
    return stat == IFM_STAT_OK ? ifm_value_real(number, n, n_of) : ifm_value_no_stat(stat, n, n_of);
}

/* All arms of the cell that do so are named: one text, and so one footnote, is of all of them. */
struct ifm_value ifm_value_integer_products(const struct ifm_cell_work *work, bool measured)
{
    struct ifm_arena *arena = work->d->arena;
    const char *names = "";
    size_t n = 0;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_arm *arm = &work->cell->arms[a];
        if (arm->integer && arm->role != IFM_ROLE_CEILING)
            names = ifm_arena_printf(arena, "%s%s%s", names, n++ == 0 ? "" : ", ", ifm_arm_label(arm));
    }
    return ifm_value_absent(ifm_arena_printf(arena, "%s %s codes as integers, %s", n == 0 ? "the arm" : names,
                                             n > 1 ? "multiply" : "multiplies",
                                             measured ? "which are no floating-point operations: see the share of the "
                                                        "ceiling int8"
                                                      : "and no ceiling of such products is measured"),
                            "", 0, "blocks");
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
static const struct ifm_refusal *refusal_of(const struct ifm_cell_work *work, const struct ifm_arm_work *arm,
                                            enum ifm_metric_class kind)
{
    if (work->d->unplanned.rule != NULL)
        return &work->d->unplanned;
    if (work->unplanned.rule != NULL)
        return &work->unplanned;
    if (kind == IFM_CLASS_COUNT || kind == IFM_CLASS_ERROR || kind == IFM_CLASS_COUNTER)
        return NULL;
    if (work->d->refusal.rule != NULL)
        return &work->d->refusal;
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

/* Durations, rates, joules and watts cannot be negative; changes can, and so can what is left above an idle power that
 * is subtracted. */
static bool is_never_negative(const struct ifm_metric *metric)
{
    bool amount = metric->kind == IFM_CLASS_TIME || metric->kind == IFM_CLASS_RATE ||
                  metric->kind == IFM_CLASS_ENERGY || metric->kind == IFM_CLASS_CEILING;
    return amount && strcmp(metric->unit, "%") != 0 && strstr(metric->id, "above_idle") == NULL;
}

/* An interval that would reach below 0 is taken on the scale of logarithms (the delta method: number times exp(half
 * width / number) either way): it never gets there, and holds more often than one that is cut at 0, above all of skewed
 * values (unit/test_interval_bounds.c). */
static void keep_above_zero(struct ifm_arena *arena, const struct ifm_metric *metric, struct ifm_value *value)
{
    if (!is_never_negative(metric) || !value->has_interval || value->low >= 0 || value->number < 0)
        return;
    double below = (value->number - value->low) / value->number, above = (value->high - value->number) / value->number;
    value->low = value->number > 0 ? value->number * exp(-below) : 0;
    value->high = isfinite(above) && above < 700 ? value->number * exp(above) : value->high;
    value->text = ifm_arena_printf(arena, "%s%son the scale of logarithms, as it cannot be negative", value->text,
                                   value->text[0] == '\0' ? "" : "; ");
}

/* What was never recorded stays absent; what was recorded and may not be printed is refused, even where it is also too
 * little. */
static void emit(const struct ifm_cell_work *work, const struct ifm_arm_work *arm, enum ifm_metric_id metric,
                 struct ifm_value value)
{
    struct ifm_derivation *d = work->d;
    const struct ifm_refusal *refusal = refusal_of(work, arm, ifm_metrics[metric].kind);
    bool recorded = value.state == IFM_STATE_OK || (value.state == IFM_STATE_ABSENT && work->record != NULL);
    if (recorded && refusal != NULL) {
        bool inactive = arm != NULL && arm->inactive && refusal == &arm->refusal;
        value = ifm_value_refused(d->arena, refusal->rule, refusal->reason);
        value.state = inactive ? IFM_STATE_INACTIVE : IFM_STATE_REFUSED;
    }
    value.unit = ifm_metrics[metric].unit;
    keep_above_zero(d->arena, &ifm_metrics[metric], &value);
    struct ifm_derived *out = d->out;
    IFM_ARENA_GROW(d->arena, out->numbers, out->n_numbers, d->numbers_capacity);
    out->numbers[out->n_numbers++] =
        (struct ifm_number){work->cell->name, arm == NULL ? "" : arm->arm->name, metric, value};
}

void ifm_derive_emit(const struct ifm_arm_work *arm, enum ifm_metric_id metric, struct ifm_value value)
{
    emit(arm->work, arm, metric, value);
}

void ifm_derive_emit_cell(const struct ifm_cell_work *work, enum ifm_metric_id metric, struct ifm_value value)
{
    emit(work, NULL, metric, value);
}

IFM_PRINTF(3, 0)
static struct ifm_finding *add_finding(struct ifm_derivation *d, struct ifm_finding finding, const char *format,
                                       va_list args)
{
    struct ifm_derived *out = d->out;
    finding.text = ifm_arena_vprintf(d->arena, format, args);
    IFM_ARENA_GROW(d->arena, out->findings, out->n_findings, d->findings_capacity);
    out->findings[out->n_findings] = finding;
    return &out->findings[out->n_findings++];
}

struct ifm_finding *ifm_derive_say(struct ifm_derivation *d, enum ifm_severity severity, const char *rule,
                                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct ifm_finding *said =
        add_finding(d, (struct ifm_finding){.severity = severity, .rule = rule, .cell = "", .arm = ""}, format, args);
    va_end(args);
    return said;
}

struct ifm_finding *ifm_derive_say_cell(const struct ifm_cell_work *work, enum ifm_severity severity, const char *rule,
                                        const char *format, ...)
{
    const struct ifm_finding of = {.severity = severity, .rule = rule, .cell = work->cell->name, .arm = ""};
    va_list args;
    va_start(args, format);
    struct ifm_finding *said = add_finding(work->d, of, format, args);
    va_end(args);
    return said;
}

struct ifm_finding *ifm_derive_say_arm(const struct ifm_arm_work *arm, enum ifm_severity severity, const char *rule,
                                       const char *format, ...)
{
    const struct ifm_finding of = {
        .severity = severity, .rule = rule, .cell = arm->work->cell->name, .arm = arm->arm->name};
    va_list args;
    va_start(args, format);
    struct ifm_finding *said = add_finding(arm->d, of, format, args);
    va_end(args);
    return said;
}

void ifm_refuse(struct ifm_refusal *refusal, const char *rule, const char *reason)
{
    if (refusal->rule == NULL)
        *refusal = (struct ifm_refusal){rule, reason};
}

void ifm_refuse_cell(struct ifm_cell_work *work, const char *rule, const char *reason)
{
    ifm_refuse(&work->refusal, rule, reason);
    ifm_derive_say_cell(work, IFM_SEVERITY_INVALID, rule, "%s", reason);
}

struct ifm_finding *ifm_refuse_arm(struct ifm_arm_work *arm, struct ifm_refusal *refusal, enum ifm_severity severity,
                                   const char *rule, const char *reason)
{
    ifm_refuse(refusal, rule, reason);
    return ifm_derive_say_arm(arm, severity, rule, "%s", reason);
}

bool ifm_derive_is_wanted(const struct ifm_cell_work *work, enum ifm_metric_id metric)
{
    for (size_t g = 0; g < work->d->plan->n_gates; g++) {
        const struct ifm_gate *gate = &work->d->plan->gates[g];
        bool here = gate->cell[0] == '\0' || strcmp(gate->cell, work->cell->name) == 0;
        if (here && work->d->gated[g] == metric)
            return true;
    }
    return false;
}
