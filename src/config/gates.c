/* Gates presets: data/gates/NAME.yaml, embedded, becomes ordinary gate records, as if the configuration spelled them
 * out. NAME=3% stands for the file NAME.yaml with 3 in place of each word PERCENT.
 *
 * Presets are expanded once, when the configuration is resolved; the lock and the plan hold the records. An identical
 * record is not added twice, so that a lock resolves to itself. */
#include "config/internal.h"

#include "base/text.h"
#include "model/embedded.h"

#include <string.h>

static const struct ifm_embedded_file *find_preset(const char *name, struct ifm_arena *arena)
{
    const char *file = ifm_arena_printf(arena, "%.*s.yaml", (int)strcspn(name, "="), name);
    for (const struct ifm_embedded_file *at = ifm_embedded_gates; at->name != NULL; at++)
        if (strcmp(at->name, file) == 0)
            return at;
    return NULL;
}

bool ifm_gate_asks_the_same(const struct ifm_gate *a, const struct ifm_gate *b)
{
    return strcmp(a->metric, b->metric) == 0 && strcmp(a->arm, b->arm) == 0 && strcmp(a->cell, b->cell) == 0 &&
           a->op == b->op && a->threshold == b->threshold && a->interval == b->interval && a->least_n == b->least_n;
}

static enum ifm_status add_gate(struct ifm_config *config, const struct ifm_gate *gate, const char *place,
                                const char *preset, const char *where, struct ifm_error *error)
{
    for (size_t i = 0; i < config->n_gates; i++) {
        if (strcmp(config->gates[i].name, gate->name) != 0)
            continue;
        if (ifm_gate_asks_the_same(&config->gates[i], gate) && strcmp(config->gates[i].classes, gate->classes) == 0)
            return IFM_OK;
        return ifm_fail(error, IFM_USAGE, where, "give that gate another name, or leave the preset out",
                        "the gates preset %s has a gate named '%s'; another one of that name is at %s", preset,
                        gate->name, config->study.gate_places[i]);
    }
    if (config->n_gates == IFM_CONFIG_GATES_MAX)
        return ifm_fail(error, IFM_USAGE, where, "", "with its presets the study has more than %d gates",
                        IFM_CONFIG_GATES_MAX);
    size_t n = config->n_gates;
    struct ifm_gate *gates = IFM_ARENA_ARRAY(config->arena, struct ifm_gate, n + 1);
    const char **places = IFM_ARENA_ARRAY(config->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++) {
        gates[i] = config->gates[i];
        places[i] = config->study.gate_places[i];
    }
    gates[n] = *gate;
    places[n] = place;
    config->gates = gates;
    config->study.gate_places = places;
    config->n_gates = n + 1;
    return IFM_OK;
}

/* The text of a preset, its parameter in its place: digits alone, so that it adds nothing to the file but a number. */
static enum ifm_status fill_in(const struct ifm_embedded_file *file, const char *name, const char *where,
                               struct ifm_arena *arena, const char **out, struct ifm_error *error)
{
    static const char word[] = "PERCENT";
    const char *given = strchr(name, '='), *at = file->data, *next;
    char shown[72];
    double percent = 0;
    if (given != NULL) {
        size_t length = strlen(given + 1);
        char *digits = ifm_arena_strdup(arena, given + 1);
        bool marked = length > 1 && digits[length - 1] == '%';
        if (marked)
            digits[length - 1 - (length > 2 && digits[length - 2] == ' ')] = '\0';
        if (!marked || !ifm_parse_f64(digits, &percent) || !(percent > 0 && percent <= 100))
            return ifm_fail(error, IFM_USAGE, where,
                            ifm_arena_printf(arena, "write it as %.*s=3%%", (int)strcspn(name, "="), name),
                            "gates preset '%s': its limit is a percentage above 0 and at most 100, with its %% sign",
                            ifm_param_shown(name, shown));
    }
    struct ifm_text text = {0};
    for (; (next = strstr(at, word)) != NULL; at = next + sizeof word - 1) {
        ifm_text_append(&text, at, (size_t)(next - at));
        ifm_text_printf(&text, "%.15g", percent);
    }
    ifm_text_add(&text, at);
    *out = ifm_text_keep(&text, arena);
    return IFM_OK;
}

static enum ifm_status add_preset(struct ifm_config *config, const char *name, const char *where,
                                  struct ifm_error *error)
{
    const struct ifm_embedded_file *file = find_preset(name, config->arena);
    struct ifm_node *root, *list;
    const char *text = "";
    if (file == NULL)
        return ifm_fail(error, IFM_INTERNAL, where, "", "this build carries no gates preset '%s'", name);
    const struct ifm_source source = {config, ifm_arena_printf(config->arena, "gates preset %s", name), false};
    IFM_TRY(fill_in(file, name, where, config->arena, &text, error));
    IFM_TRY(ifm_yaml_tree(text, strlen(text), source.name, config->arena, &root, error));
    list = root->first;
    if (list == NULL || strcmp(list->key, "gates") != 0 || list->kind != IFM_NODE_SEQUENCE)
        return ifm_fail(error, IFM_INTERNAL, source.name, "", "a gates preset is a list of gates");
    for (const struct ifm_node *item = list->first; item != NULL; item = item->next) {
        struct ifm_gate gate = {0};
        const char *place = "";
        IFM_TRY(ifm_config_gate(&source, item, &gate, &place, 0, error));
        IFM_TRY(add_gate(config, &gate, place, name, where, error));
    }
    return IFM_OK;
}

enum ifm_status ifm_config_gates_preset(struct ifm_config *config, struct ifm_error *error)
{
    const struct ifm_config_slot *slot = ifm_config_find(config, "gates_preset");
    const struct ifm_list *names = &config->general.gates_preset;
    if (config->locked && slot->rank > IFM_RANK_FILE)
        return ifm_fail(error, IFM_USAGE, slot->where, "start from the configuration file of that run instead",
                        "a gates preset changes nothing here: the lock file spells out every gate");
    for (size_t i = 0; i < names->n; i++)
        IFM_TRY(add_preset(config, names->items[i], slot->where, error));
    return IFM_OK;
}
