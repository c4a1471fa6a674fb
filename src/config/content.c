/* What a configuration says, as JSON: the contents of its lock file, and their hash. */
#include "config/internal.h"

#include <string.h>

/* Its value is the default, whoever set it. */
static bool is_left_out(const struct ifm_config_slot *slot)
{
    const char *usual = slot->row->fallback;
    return (slot->row->flags & IFM_LATER) != 0 && slot->n == 1 && strcmp(slot->texts[0], usual) == 0;
}

bool ifm_config_tells(const struct ifm_config *config, const struct ifm_config_slot *slot)
{
    return ifm_config_uses(config, slot) && !is_left_out(slot);
}

bool ifm_config_uses(const struct ifm_config *config, const struct ifm_config_slot *slot)
{
    const struct ifm_list *names = &config->general.workload;
    for (size_t i = 0; !slot->common && i < names->n; i++)
        if (strcmp(names->items[i], slot->section->name) == 0)
            return true;
    return slot->common;
}

/* A canonical text as JSON: numbers and booleans as such, whole numbers beyond JSON's integers as text. */
static json_t *value_to_json(const struct ifm_param *row, const char *text)
{
    int64_t whole;
    double real;
    switch (row->type) {
    case IFM_TYPE_U64:
    case IFM_TYPE_BYTES:
        return ifm_parse_i64(text, &whole) ? json_integer(whole) : json_string(text);
    case IFM_TYPE_F64:
    case IFM_TYPE_SECONDS:
        return ifm_parse_f64(text, &real) ? json_real(real) : json_string(text);
    case IFM_TYPE_BOOL:
        return json_boolean(strcmp(text, "true") == 0);
    default:
        return json_string(text);
    }
}

json_t *ifm_slot_to_json(const struct ifm_config_slot *slot, struct ifm_arena *arena)
{
    const struct ifm_param *row = slot->row;
    bool list = (row->flags & IFM_LIST) != 0;
    if (!list && slot->n == 1)
        return value_to_json(row, slot->texts[0]);
    struct ifm_list items = {slot->texts, slot->n};
    if (list)
        items = slot->texts[0][0] == '\0' ? (struct ifm_list){NULL, 0} : ifm_param_split(slot->texts[0], arena);
    json_t *array = json_array();
    for (size_t i = 0; i < items.n; i++)
        json_array_append_new(array, value_to_json(row, items.items[i]));
    return array;
}

static json_t *arm_to_json(const struct ifm_config *config, const struct ifm_arm_spec *arm)
{
    json_t *set = json_object();
    for (size_t i = 0; i < arm->n_set; i++) {
        const struct ifm_config_slot *slot = ifm_config_find(config, arm->set[i].path);
        const struct ifm_config_slot one = {.row = slot->row, .texts = &arm->set[i].text, .n = 1};
        json_object_set_new(set, arm->set[i].path, ifm_slot_to_json(&one, config->arena));
    }
    return json_pack("{s:s, s:b, s:o}", "name", arm->name, "baseline", arm->baseline ? 1 : 0, "set", set);
}

static json_t *gate_to_json(const struct ifm_gate *gate)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:b, s:I, s:s}", "name", gate->name, "metric", gate->metric, "arm",
                     gate->arm, "cell", gate->cell, "op", gate->op == IFM_GATE_AT_MOST ? "at_most" : "at_least",
                     "threshold", gate->threshold, "interval", gate->interval ? 1 : 0, "least_n",
                     (json_int_t)gate->least_n, "classes", gate->classes);
}

json_t *ifm_config_content(const struct ifm_config *config)
{
    json_t *parameters = json_object(), *arms = json_array(), *gates = json_array();
    for (size_t i = 0; i < config->n_slots; i++)
        if (ifm_config_tells(config, &config->slots[i]))
            json_object_set_new(parameters, config->slots[i].row->path,
                                ifm_slot_to_json(&config->slots[i], config->arena));
    for (size_t i = 0; i < config->n_arms; i++)
        json_array_append_new(arms, arm_to_json(config, &config->arms[i]));
    for (size_t i = 0; i < config->n_gates; i++)
        json_array_append_new(gates, gate_to_json(&config->gates[i]));
    return json_pack("{s:o, s:o, s:o}", "parameters", parameters, "arms", arms, "gates", gates);
}

struct ifm_sha256 ifm_config_hash(const json_t *content)
{
    struct ifm_text text = {0};
    ifm_json_print(content, false, &text);
    struct ifm_sha256 hash = ifm_sha256_bytes(text.data, text.size);
    ifm_text_free(&text);
    return hash;
}
