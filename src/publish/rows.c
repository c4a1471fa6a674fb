/* One row per number, with one set of field names: CSV, JSON lines and JSON. */
#include "document/escape.h"
#include "document/quantity.h"
#include "model/plan_json.h"
#include "publish/compose.h"
#include <math.h>
#include <string.h>

static const char *const header =
    "run_id,cell,arm,role,metric,value,unit,low,high,level,sd,n,n_of,state,text,reason,remedy\n";

static const char *role_of(const struct ifm_plan *plan, const struct ifm_number *number)
{
    const struct ifm_cell *cell = ifm_plan_cell(plan, number->cell);
    const struct ifm_arm *arm = cell == NULL ? NULL : ifm_cell_arm(cell, number->arm);
    return arm == NULL ? "" : ifm_role_name(arm->role);
}

enum ifm_status ifm_compose_check(const struct ifm_publication *publication, struct ifm_error *error)
{
    const struct ifm_derived *derived = publication->derived;
    for (size_t i = 0; i < derived->n_numbers; i++) {
        const struct ifm_number *number = &derived->numbers[i];
        const struct ifm_value *value = &number->value;
        bool finite =
            isfinite(value->number) && (!value->has_interval || (isfinite(value->low) && isfinite(value->high)));
        if (value->state == IFM_STATE_OK && !finite)
            return ifm_fail(error, IFM_INTERNAL, "publish", "derive must mark such a number absent or refused",
                            "cell %s arm %s metric %s is not a finite number", number->cell, number->arm,
                            ifm_metrics[number->metric].id);
    }
    return IFM_OK;
}

/* Tokens of attention alone are no model's: said where a table says it in its heading. */
static const char *text_of(const struct ifm_publication *publication, const struct ifm_number *number, char buffer[64])
{
    const struct ifm_cell *cell = ifm_plan_cell(publication->plan, number->cell);
    const struct ifm_arm *arm = cell == NULL ? NULL : ifm_cell_arm(cell, number->arm);
    const bool tokens = number->metric == IFM_M_TOKENS_GENERATED_PER_S || number->metric == IFM_M_TOKENS_PROMPT_PER_S;
    if (!tokens || !ifm_is_empty(number->value.text) || arm == NULL || arm->ledger.layers == 0)
        return number->value.text;
    snprintf(buffer, 64, "of attention alone, through %llu layer%s", (unsigned long long)arm->ledger.layers,
             arm->ledger.layers == 1 ? "" : "s");
    return buffer;
}

/* ---- CSV ---- */

static void add_number(double number, bool is_integer, struct ifm_text *out)
{
    char buffer[32];
    if (is_integer)
        ifm_text_printf(out, "%.0f", number);
    else
        ifm_text_add(out, ifm_format_real(number, buffer));
}

static void add_row(const struct ifm_publication *publication, const struct ifm_number *number, struct ifm_text *out)
{
    const struct ifm_value *value = &number->value;
    bool ok = value->state == IFM_STATE_OK, interval = ok && value->has_interval;
    const char *lead[] = {publication->derived->run_id, number->cell, number->arm, role_of(publication->plan, number),
                          ifm_metrics[number->metric].id};
    for (size_t i = 0; i < sizeof lead / sizeof lead[0]; i++) {
        ifm_escape_csv(lead[i] == NULL ? "" : lead[i], out);
        ifm_text_add(out, ",");
    }
    if (ok)
        add_number(value->number, value->is_integer, out);
    ifm_text_add(out, ",");
    ifm_escape_csv(value->unit == NULL ? "" : value->unit, out);
    double bounds[] = {value->low, value->high, value->level};
    for (size_t i = 0; i < 3; i++) {
        ifm_text_add(out, ",");
        if (interval)
            add_number(bounds[i], false, out);
    }
    ifm_text_add(out, ",");
    if (ok && value->has_sd)
        add_number(value->sd, false, out);
    ifm_text_add(out, ",");
    if (value->n > 0)
        ifm_text_add_i64(out, value->n);
    char buffer[64];
    const char *tail[] = {value->n_of, ifm_state_label(value->state), text_of(publication, number, buffer),
                          value->reason, value->remedy};
    for (size_t i = 0; i < sizeof tail / sizeof tail[0]; i++) {
        ifm_text_add(out, ",");
        ifm_escape_csv(tail[i] == NULL ? "" : tail[i], out);
    }
    ifm_text_add(out, "\n");
}

void ifm_compose_csv(const struct ifm_publication *publication, struct ifm_text *out)
{
    ifm_text_add(out, header);
    for (size_t i = 0; i < publication->derived->n_numbers; i++)
        add_row(publication, &publication->derived->numbers[i], out);
}

/* ---- JSON ---- */

static json_t *text_json(const char *text)
{
    return json_string(text == NULL ? "" : text);
}

static json_t *number_json(double number, bool is_integer)
{
    return is_integer ? json_integer((json_int_t)number) : json_real(number);
}

static json_t *row_json(const struct ifm_publication *publication, const struct ifm_number *number)
{
    const struct ifm_value *value = &number->value;
    bool ok = value->state == IFM_STATE_OK, interval = ok && value->has_interval;
    char buffer[64];
    json_t *row = json_object();
    json_object_set_new(row, "run_id", text_json(publication->derived->run_id));
    json_object_set_new(row, "cell", text_json(number->cell));
    json_object_set_new(row, "arm", text_json(number->arm));
    json_object_set_new(row, "role", text_json(role_of(publication->plan, number)));
    json_object_set_new(row, "metric", text_json(ifm_metrics[number->metric].id));
    json_object_set_new(row, "value", ok ? number_json(value->number, value->is_integer) : json_null());
    json_object_set_new(row, "unit", text_json(value->unit));
    json_object_set_new(row, "low", interval ? json_real(value->low) : json_null());
    json_object_set_new(row, "high", interval ? json_real(value->high) : json_null());
    json_object_set_new(row, "level", interval ? json_real(value->level) : json_null());
    json_object_set_new(row, "sd", ok && value->has_sd ? json_real(value->sd) : json_null());
    json_object_set_new(row, "n", value->n > 0 ? json_integer(value->n) : json_null());
    json_object_set_new(row, "n_of", text_json(value->n_of));
    json_object_set_new(row, "state", text_json(ifm_state_label(value->state)));
    json_object_set_new(row, "text", text_json(text_of(publication, number, buffer)));
    json_object_set_new(row, "reason", text_json(value->reason));
    json_object_set_new(row, "remedy", text_json(value->remedy));
    return row;
}

void ifm_compose_jsonl(const struct ifm_publication *publication, struct ifm_text *out)
{
    for (size_t i = 0; i < publication->derived->n_numbers; i++) {
        json_t *row = row_json(publication, &publication->derived->numbers[i]);
        ifm_json_print(row, false, out);
        ifm_text_add(out, "\n");
        json_decref(row);
    }
}

static json_t *finding_json(const struct ifm_finding *finding)
{

    json_t *object = json_object();
    json_object_set_new(object, "severity", json_string(ifm_severity_label(finding->severity)));
    json_object_set_new(object, "rule", text_json(finding->rule));
    json_object_set_new(object, "cell", text_json(finding->cell));
    json_object_set_new(object, "arm", text_json(finding->arm));
    json_object_set_new(object, "text", text_json(finding->text));
    return object;
}

json_t *ifm_compose_json(const struct ifm_publication *publication)
{
    const struct ifm_derived *derived = publication->derived;
    json_t *object = json_object(), *numbers = json_array(), *findings = json_array();
    for (size_t i = 0; i < derived->n_numbers; i++)
        json_array_append_new(numbers, row_json(publication, &derived->numbers[i]));
    for (size_t i = 0; i < derived->n_findings; i++)
        json_array_append_new(findings, finding_json(&derived->findings[i]));
    json_object_set_new(object, "run_id", text_json(derived->run_id));
    json_object_set_new(object, "outcome", json_string(ifm_outcome_name(publication->verdict->outcome)));
    json_object_set_new(object, "exit_code", json_integer(publication->verdict->exit_code));
    json_object_set_new(object, "verdict", ifm_verdict_to_json(publication->verdict, derived));
    json_object_set_new(object, "numbers", numbers);
    json_object_set_new(object, "findings", findings);
    return object;
}
