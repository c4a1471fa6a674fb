/* derived.json, written and read. */
#include "derive/derive.h"

#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const state_names[] = {"ok", "absent", "refused", "inactive"};
static const char *const kind_names[] = {"amount", "level"};
static const char *const severity_names[] = {"note", "warning", "invalid"};

/* Of the files that this version writes, and the only one that it reads. */
enum { IFM_DERIVED_SCHEMA = 3 };

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
    json_object_set_new(out, "state", json_string(state_names[v->state]));
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

json_t *ifm_derived_to_json(const struct ifm_derived *derived)
{
    json_t *numbers = json_array(), *findings = json_array();
    for (size_t i = 0; i < derived->n_numbers; i++)
        json_array_append_new(numbers, number_json(&derived->numbers[i]));
    for (size_t i = 0; i < derived->n_findings; i++) {
        const struct ifm_finding *f = &derived->findings[i];
        json_array_append_new(findings, json_pack("{s:s, s:s, s:s, s:s, s:s}", "severity", severity_names[f->severity],
                                                  "rule", f->rule, "cell", f->cell, "arm", f->arm, "text", f->text));
    }
    json_t *companions = json_array();
    for (size_t i = 0; i < derived->n_companions; i++)
        json_array_append_new(companions, companion_json(&derived->companions[i]));
    json_t *energies = json_array();
    for (size_t i = 0; i < derived->n_energies; i++)
        json_array_append_new(energies, energy_json(&derived->energies[i]));
    return json_pack("{s:i, s:s, s:s, s:o, s:o, s:o, s:o}", "schema", IFM_DERIVED_SCHEMA, "run_id", derived->run_id,
                     "config_hash", derived->config_hash, "numbers", numbers, "findings", findings, "companions",
                     companions, "energy", energies);
}

/* ---- reading ---- */

struct reader {
    struct ifm_arena *arena;
    struct ifm_error *error;
    const char *where;
};

static enum ifm_status read_text(const struct reader *r, const json_t *object, const char *key, const char **out)
{
    const char *text;
    IFM_TRY(ifm_json_get_string(object, key, r->where, &text, r->error));
    *out = ifm_arena_strdup(r->arena, text);
    return IFM_OK;
}

static enum ifm_status read_word(const struct reader *r, const json_t *object, const char *key,
                                 const char *const *words, int n, int *out)
{
    const char *text;
    IFM_TRY(ifm_json_get_string(object, key, r->where, &text, r->error));
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return IFM_OK;
        }
    return ifm_fail(r->error, IFM_INVALID, r->where, NULL, "\"%s\" is no known %s", text, key);
}

static enum ifm_status read_interval(const struct reader *r, const json_t *object, struct ifm_value *v)
{
    const json_t *pair = json_object_get(object, "interval");
    if (json_is_null(pair))
        return IFM_OK;
    const json_t *low = json_array_get(pair, 0), *high = json_array_get(pair, 1);
    if (json_array_size(pair) != 2 || !json_is_number(low) || !json_is_number(high))
        return ifm_fail(r->error, IFM_INVALID, r->where, NULL, "\"interval\" is neither null nor [low, high]");
    IFM_TRY(ifm_json_get_f64(object, "level", r->where, &v->level, r->error));
    v->has_interval = true;
    v->low = json_number_value(low);
    v->high = json_number_value(high);
    return IFM_OK;
}

static enum ifm_status read_number(const struct reader *r, const json_t *object, struct ifm_number *out)
{
    struct ifm_value *v = &out->value;
    int state = 0;
    IFM_TRY(read_text(r, object, "cell", &out->cell));
    IFM_TRY(read_text(r, object, "arm", &out->arm));
    const char *metric;
    IFM_TRY(read_text(r, object, "metric", &metric));
    out->metric = ifm_metric_of(metric);
    if (out->metric == IFM_M_NONE)
        return ifm_fail(r->error, IFM_INVALID, r->where, "`inferometer explain` lists all metrics",
                        "there is no metric \"%s\"", metric);
    IFM_TRY(read_text(r, object, "unit", &v->unit));
    IFM_TRY(read_text(r, object, "n_of", &v->n_of));
    IFM_TRY(read_text(r, object, "reason", &v->reason));
    IFM_TRY(read_text(r, object, "remedy", &v->remedy));
    IFM_TRY(read_text(r, object, "text", &v->text));
    IFM_TRY(ifm_json_get_i64(object, "n", r->where, &v->n, r->error));
    IFM_TRY(read_word(r, object, "state", state_names, 4, &state));
    v->state = (enum ifm_state)state;
    const json_t *value = json_object_get(object, "value");
    if ((v->state == IFM_STATE_OK) != json_is_number(value) || (v->state != IFM_STATE_OK && !json_is_null(value)))
        return ifm_fail(r->error, IFM_INVALID, r->where, NULL, "metric %s is %s, but its value is not %s", metric,
                        state_names[state], v->state == IFM_STATE_OK ? "a number" : "null");
    if (v->state != IFM_STATE_OK)
        return IFM_OK;
    v->number = json_number_value(value);
    v->is_integer = json_is_integer(value);
    if (v->is_integer && fabs(v->number) > MOST_EXACT) /* it is written as a real */
        return ifm_fail(r->error, IFM_INVALID, r->where, NULL, "metric %s is an integer above 2^53", metric);
    return read_interval(r, object, v);
}

static enum ifm_status read_finding(const struct reader *r, const json_t *object, struct ifm_finding *out)
{
    int severity = 0;
    IFM_TRY(read_word(r, object, "severity", severity_names, 3, &severity));
    out->severity = (enum ifm_severity)severity;
    IFM_TRY(read_text(r, object, "rule", &out->rule));
    IFM_TRY(read_text(r, object, "cell", &out->cell));
    IFM_TRY(read_text(r, object, "arm", &out->arm));
    return read_text(r, object, "text", &out->text);
}

static enum ifm_status read_companion(const struct reader *r, const json_t *object, struct ifm_companion *out)
{
    int kind = 0;
    IFM_TRY(read_text(r, object, "cell", &out->cell));
    IFM_TRY(read_text(r, object, "arm", &out->arm));
    IFM_TRY(read_text(r, object, "column", &out->column));
    IFM_TRY(read_text(r, object, "unit", &out->unit));
    IFM_TRY(read_word(r, object, "kind", kind_names, 2, &kind));
    out->kind = (enum ifm_companion_kind)kind;
    IFM_TRY(ifm_json_get_i64(object, "n", r->where, &out->n, r->error));
    IFM_TRY(ifm_json_get_f64(object, "own", r->where, &out->own, r->error));
    IFM_TRY(ifm_json_get_f64(object, "base", r->where, &out->base, r->error));
    return ifm_json_get_f64(object, "step_ns", r->where, &out->step_ns, r->error);
}

static enum ifm_status read_companions(struct reader *r, const json_t *json, struct ifm_derived *derived)
{
    const json_t *companions;
    const char *where = r->where;
    IFM_TRY(ifm_json_get_array(json, "companions", where, &companions, r->error));
    derived->n_companions = json_array_size(companions);
    derived->companions = IFM_ARENA_ARRAY(r->arena, struct ifm_companion, derived->n_companions + 1);
    for (size_t i = 0; i < derived->n_companions; i++) {
        r->where = ifm_arena_printf(r->arena, "%s: companions[%zu]", where, i);
        IFM_TRY(read_companion(r, json_array_get(companions, i), &derived->companions[i]));
    }
    return IFM_OK;
}

static enum ifm_status read_known(const struct reader *r, const json_t *object, const char *key, double *out)
{
    *out = NAN;
    if (json_is_null(json_object_get(object, key)))
        return IFM_OK;
    return ifm_json_get_f64(object, key, r->where, out, r->error);
}

static enum ifm_status read_energy(const struct reader *r, const json_t *object, struct ifm_device_energy *out)
{
    static const char *const roles[] = {"primary", "witness", "part", "estimate"};
    int role = 0;
    IFM_TRY(read_text(r, object, "cell", &out->cell));
    IFM_TRY(read_text(r, object, "arm", &out->arm));
    IFM_TRY(read_text(r, object, "device", &out->device));
    IFM_TRY(read_text(r, object, "source", &out->source));
    IFM_TRY(read_word(r, object, "role", roles, 4, &role));
    out->role = roles[role];
    IFM_TRY(ifm_json_get_i64(object, "windows", r->where, &out->windows, r->error));
    IFM_TRY(read_known(r, object, "seconds", &out->seconds));
    IFM_TRY(read_known(r, object, "joules", &out->joules));
    IFM_TRY(read_known(r, object, "random_j", &out->random_j));
    IFM_TRY(read_known(r, object, "systematic", &out->systematic));
    IFM_TRY(read_known(r, object, "idle_w", &out->idle_w));
    IFM_TRY(read_known(r, object, "idle_half_w", &out->idle_half_w));
    IFM_TRY(read_known(r, object, "above_idle_j", &out->above_idle_j));
    return read_text(r, object, "refused", &out->refused);
}

static enum ifm_status read_energies(struct reader *r, const json_t *json, struct ifm_derived *derived)
{
    const json_t *energies;
    const char *where = r->where;
    IFM_TRY(ifm_json_get_array(json, "energy", where, &energies, r->error));
    derived->n_energies = json_array_size(energies);
    derived->energies = IFM_ARENA_ARRAY(r->arena, struct ifm_device_energy, derived->n_energies + 1);
    for (size_t i = 0; i < derived->n_energies; i++) {
        r->where = ifm_arena_printf(r->arena, "%s: energy[%zu]", where, i);
        IFM_TRY(read_energy(r, json_array_get(energies, i), &derived->energies[i]));
    }
    r->where = where;
    return IFM_OK;
}

enum ifm_status ifm_derived_from_json(const json_t *json, const char *where, struct ifm_arena *arena,
                                      struct ifm_derived **out, struct ifm_error *error)
{
    const json_t *numbers, *findings;
    struct ifm_derived *derived = IFM_ARENA_NEW(arena, struct ifm_derived);
    IFM_TRY(ifm_json_check_schema(json, IFM_DERIVED_SCHEMA, where, "derive the run again with this version", error));
    struct reader r = {arena, error, where};
    IFM_TRY(read_text(&r, json, "run_id", &derived->run_id));
    IFM_TRY(read_text(&r, json, "config_hash", &derived->config_hash));
    IFM_TRY(ifm_json_get_array(json, "numbers", where, &numbers, error));
    IFM_TRY(ifm_json_get_array(json, "findings", where, &findings, error));
    derived->n_numbers = json_array_size(numbers);
    derived->n_findings = json_array_size(findings);
    derived->numbers = IFM_ARENA_ARRAY(arena, struct ifm_number, derived->n_numbers + 1);
    derived->findings = IFM_ARENA_ARRAY(arena, struct ifm_finding, derived->n_findings + 1);
    for (size_t i = 0; i < derived->n_numbers; i++) {
        r.where = ifm_arena_printf(arena, "%s: numbers[%zu]", where, i);
        IFM_TRY(read_number(&r, json_array_get(numbers, i), &derived->numbers[i]));
    }
    for (size_t i = 0; i < derived->n_findings; i++) {
        r.where = ifm_arena_printf(arena, "%s: findings[%zu]", where, i);
        IFM_TRY(read_finding(&r, json_array_get(findings, i), &derived->findings[i]));
    }
    r.where = where;
    IFM_TRY(read_companions(&r, json, derived));
    r.where = where;
    IFM_TRY(read_energies(&r, json, derived));
    ifm_derived_sort(derived, arena);
    *out = derived;
    return IFM_OK;
}
