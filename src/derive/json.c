/* derived.json, as a tree. */
#include "derive/derive.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[] = {"amount", "level"};

/* Of the files that this version writes: another one where a number has another definition. */
enum { IFM_DERIVED_SCHEMA = 10 };

/* Above it a double no longer holds every integer. */
#define MOST_EXACT 9007199254740992.0

static json_t *real_json(double number, bool is_integer)
{
    if (is_integer && fabs(number) <= MOST_EXACT && number == floor(number)) /* an interval's end may lie between */
        return json_integer((json_int_t)number);
    return json_real(number);
}

static json_t *number_json(const struct ifm_number *number)
{
    const struct ifm_value *v = &number->value;
    bool ok = v->state == IFM_STATE_OK;
    json_t *out = json_object();
    json_object_set_new(out, "cell", json_string(number->cell));
    json_object_set_new(out, "arm", json_string(number->arm));
    json_object_set_new(out, "metric", json_string(ifm_metrics[number->metric].id));
    json_object_set_new(out, "value", ok ? real_json(v->number, v->is_integer) : json_null());
    json_object_set_new(out, "unit", json_string(v->unit));
    json_object_set_new(out, "n", json_integer(v->n));
    json_object_set_new(out, "n_of", json_string(v->n_of));
    bool interval = ok && v->has_interval;
    json_object_set_new(out, "interval",
                        interval
                            ? json_pack("[o, o]", real_json(v->low, v->is_integer), real_json(v->high, v->is_integer))
                            : json_null());
    json_object_set_new(out, "level", interval ? json_real(v->level) : json_null());
    if (ok && v->has_sd)
        json_object_set_new(out, "sd", json_real(v->sd));
    json_object_set_new(out, "state", json_string(ifm_state_label(v->state)));
    json_object_set_new(out, "reason", json_string(v->reason));
    json_object_set_new(out, "remedy", json_string(v->remedy));
    json_object_set_new(out, "text", json_string(v->text));
    return out;
}

static json_t *companion_json(const struct ifm_companion *c)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:f, s:f, s:f}", "cell", c->cell, "arm", c->arm, "column",
                     c->column, "unit", c->unit, "kind", kind_names[c->kind], "n", (json_int_t)c->n, "own", c->own,
                     "base", c->base, "step_ns", c->step_ns);
}

/* What is not known is null. */
static json_t *known_json(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *energy_json(const struct ifm_device_energy *e)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "cell", e->cell, "arm",
                     e->arm, "device", e->device, "source", e->source, "role", e->role, "windows",
                     (json_int_t)e->windows, "seconds", known_json(e->seconds), "joules", known_json(e->joules),
                     "random_j", known_json(e->random_j), "systematic", known_json(e->systematic), "idle_w",
                     known_json(e->idle_w), "idle_half_w", known_json(e->idle_half_w), "above_idle_j",
                     known_json(e->above_idle_j), "refused", e->refused);
}

static json_t *window_json(const struct ifm_window_energy *w)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:s}", "cell", w->cell, "arm", w->arm,
                     "device", w->device, "source", w->source, "window", (json_int_t)w->window, "start_ns",
                     (json_int_t)w->start_ns, "end_ns", (json_int_t)w->end_ns, "seconds", known_json(w->seconds),
                     "steps", known_json(w->steps), "joules", known_json(w->joules), "random_j",
                     known_json(w->random_j), "refused", w->refused);
}

json_t *ifm_derived_to_json(const struct ifm_derived *derived)
{
    json_t *numbers = json_array(), *findings = json_array();
    for (size_t i = 0; i < derived->n_numbers; i++)
        json_array_append_new(numbers, number_json(&derived->numbers[i]));
    for (size_t i = 0; i < derived->n_findings; i++) {
        const struct ifm_finding *f = &derived->findings[i];
        json_array_append_new(findings, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:s*}", "severity",
                                                  ifm_severity_label(f->severity), "rule", f->rule, "cell", f->cell,
                                                  "arm", f->arm, "text", f->text, "kind", ifm_finding_name(f->kind),
                                                  "takes_word", f->takes_word, "share", f->weak.share));
    }
    json_t *companions = json_array();
    for (size_t i = 0; i < derived->n_companions; i++)
        json_array_append_new(companions, companion_json(&derived->companions[i]));
    json_t *energies = json_array();
    for (size_t i = 0; i < derived->n_energies; i++)
        json_array_append_new(energies, energy_json(&derived->energies[i]));
    json_t *windows = json_array();
    for (size_t i = 0; i < derived->n_windows; i++)
        json_array_append_new(windows, window_json(&derived->windows[i]));
    return json_pack("{s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "schema", IFM_DERIVED_SCHEMA, "run_id",
                     derived->run_id, "config_hash", derived->config_hash, "numbers", numbers, "findings", findings,
                     "companions", companions, "energy", energies, "energy_windows", windows);
}
