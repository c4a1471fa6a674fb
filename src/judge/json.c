/* verdict.json */
#include "judge/judge.h"

static json_t *observed_json(const struct ifm_value *v)
{
    bool ok = v->state == IFM_STATE_OK;
    json_t *number = !ok ? json_null() : v->is_integer ? json_integer((json_int_t)v->number) : json_real(v->number);
    json_t *interval = ok && v->has_interval ? json_pack("[f, f]", v->low, v->high) : json_null();
    return json_pack("{s:o, s:s, s:o, s:s, s:s}", "value", number, "unit", v->unit, "interval", interval, "state",
                     ifm_state_label(v->state), "reason", v->reason);
}

static json_t *gate_json(const struct ifm_gate_result *result)
{
    const struct ifm_gate *gate = result->gate;
    json_t *further = result->further > 0 ? json_integer((json_int_t)result->further) : json_null();
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:f, s:b, s:I, s:s, s:o, s:o, s:s, s:b}", "name", gate->name, "metric", gate->metric,
        "cell", result->cell, "arm", result->arm, "op", gate->op == IFM_GATE_AT_MOST ? "at_most" : "at_least",
        "threshold", gate->threshold, "interval", (int)gate->interval, "least_n", (json_int_t)gate->least_n, "outcome",
        ifm_outcome_name(result->outcome), "further", further, "observed", observed_json(&result->observed), "reason",
        result->reason, "missing_capability", (int)result->missing_capability);
}

static json_t *classes_json(const struct ifm_verdict *verdict)
{
    json_t *list = json_array();
    for (size_t i = 0; i < verdict->n_classes; i++) {
        const struct ifm_class_label *c = &verdict->classes[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "table", c->table, "title", c->title,
                                              "cell", c->cell, "arm", c->arm, "metric", ifm_metrics[c->metric].id,
                                              "label", c->label));
    }
    return list;
}

static json_t *triage_json(const struct ifm_verdict *verdict)
{
    json_t *list = json_array();
    for (size_t i = 0; i < verdict->n_triage; i++) {
        const struct ifm_triage_line *t = &verdict->triage[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "cell", t->cell, "arm", t->arm, "text", t->text));
    }
    return list;
}

static json_t *list_json(const char *const *items, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(items[i]));
    return list;
}

json_t *ifm_verdict_to_json(const struct ifm_verdict *verdict, const struct ifm_derived *derived)
{
    json_t *gates = json_array();
    for (size_t g = 0; g < verdict->n_gates; g++)
        json_array_append_new(gates, gate_json(&verdict->gates[g]));
    return json_pack(
        "{s:i, s:s, s:s, s:s, s:i, s:o, s:o, s:{s:b, s:s, s:s}, s:o, s:o, s:o}", "schema", 3, "run_id", derived->run_id,
        "config_hash", derived->config_hash, "outcome", ifm_outcome_name(verdict->outcome), "exit_code",
        (int)verdict->exit_code, "reasons", list_json(verdict->reasons, verdict->n_reasons), "gates", gates, "rollback",
        "rollback", (int)verdict->rollback, "to", verdict->rollback_to, "advice", verdict->rollback_advice, "rca",
        list_json(verdict->rca, verdict->n_rca), "classes", classes_json(verdict), "triage", triage_json(verdict));
}
