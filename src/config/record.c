/* The records of `arms` and `gates`: each is bound through its sub-table. */
#include "config/internal.h"

#include <string.h>

enum { LONGEST_ARM_NAME = 48, LONGEST_GATE_NAME = 128, MOST_FIELDS = 16 };

static enum ifm_status unknown_field(const struct ifm_source *source, const struct ifm_section *section,
                                     const struct ifm_node *node, struct ifm_error *error)
{
    char shown[72];
    const char *words[MOST_FIELDS];
    for (size_t i = 0; i < section->n; i++)
        words[i] = section->rows[i].path;
    ifm_fail(error, IFM_USAGE, ifm_node_key_where(source, node), "", "unknown key '%s' in a record of %s; known: %s",
             ifm_param_shown(node->key, shown), section->name,
             ifm_list_join((struct ifm_list){words, section->n}, ", ", source->config->arena));
    return ifm_error_nearest(error, ifm_nearest(node->key, words, section->n));
}

/* Sort the members of a record by row: `fields[i]` is the node of row i, or NULL. */
static enum ifm_status sort_fields(const struct ifm_source *source, const struct ifm_section *section,
                                   const struct ifm_node *record, const struct ifm_node **fields,
                                   struct ifm_error *error)
{
    if (record->kind != IFM_NODE_MAPPING)
        return ifm_fail(error, IFM_USAGE, ifm_node_where(source, record), "write '- name: ...' with its keys below",
                        "a record of %s is a mapping of keys to values", section->name);
    for (const struct ifm_node *node = record->first; node != NULL; node = node->next) {
        size_t i = 0;
        while (i < section->n && strcmp(section->rows[i].path, node->key) != 0)
            i++;
        if (i == section->n)
            return unknown_field(source, section, node, error);
        if (fields[i] != NULL)
            return ifm_fail(error, IFM_USAGE, ifm_node_key_where(source, node), "keep one of the two",
                            "duplicate key '%s'; it is first set on line %u", node->key, fields[i]->key_line);
        fields[i] = node;
    }
    return IFM_OK;
}

/* Bind a record's scalars into `out`; the caller binds lists. */
static enum ifm_status bind_record(const struct ifm_source *source, const struct ifm_section *section,
                                   const struct ifm_node *record, const struct ifm_node **fields, void *out,
                                   struct ifm_error *error)
{
    IFM_TRY(sort_fields(source, section, record, fields, error));
    for (size_t i = 0; i < section->n; i++) {
        const struct ifm_param *row = &section->rows[i];
        struct ifm_raw value = {row->fallback, row->path};
        if ((row->flags & IFM_LIST) != 0)
            continue;
        if (fields[i] != NULL)
            IFM_TRY(ifm_node_scalar(source, fields[i], row->path, &value, error));
        if (value.text == NULL)
            return ifm_fail(error, IFM_USAGE, ifm_node_where(source, record), "",
                            "this record of %s has no %s; allowed: %s", section->name, row->path,
                            ifm_param_range(row, source->config->arena));
        value.text = ifm_param_meant(section, row, value.text);
        IFM_TRY(ifm_param_parse(row, value.text, value.where, source->config->arena, (char *)out + row->offset, error));
    }
    return IFM_OK;
}

static enum ifm_status check_array(const struct ifm_source *source, const struct ifm_node *node, size_t most,
                                   struct ifm_error *error)
{
    const char *where = ifm_node_where(source, node);
    if (node->kind != IFM_NODE_SEQUENCE)
        return ifm_fail(error, IFM_USAGE, where, "write each record as '- name: ...'", "'%s' is a list of records",
                        node->key);
    if (node->n == 0 && !source->lock)
        return ifm_fail(error, IFM_USAGE, where, "give at least one record, or leave the key out",
                        "%s is an empty list", node->key);
    if (node->n > most)
        return ifm_fail(error, IFM_USAGE, where, "", "%s has %zu records; at most %zu are taken", node->key, node->n,
                        most);
    return IFM_OK;
}

static enum ifm_status not_per_arm(const struct ifm_config *config, const char *path, const char *where,
                                   struct ifm_error *error)
{
    struct ifm_text allowed = {0};
    for (size_t i = 0; i < config->n_slots; i++)
        if ((config->slots[i].row->flags & IFM_PER_ARM) != 0)
            ifm_text_printf(&allowed, "%s%s", allowed.size > 0 ? ", " : "an arm may set ", config->slots[i].row->path);
    return ifm_fail(error, IFM_USAGE, where, ifm_text_keep(&allowed, config->arena),
                    "%s is one setting of the whole study; an arm cannot set it", path);
}

/* One setting of an arm, checked against its row. `settings` has room for every row. */
static enum ifm_status add_setting(const struct ifm_source *source, struct ifm_arm_spec *arm,
                                   struct ifm_setting *settings, const char *path, struct ifm_raw value,
                                   struct ifm_error *error)
{
    const struct ifm_config_slot *slot = ifm_config_find(source->config, path);
    if (slot == NULL)
        return ifm_config_unknown_key(source->config, path, value.where, error);
    if ((slot->row->flags & IFM_PER_ARM) == 0)
        return not_per_arm(source->config, path, value.where, error);
    for (size_t i = 0; i < arm->n_set; i++)
        if (strcmp(settings[i].path, slot->row->path) == 0)
            return ifm_fail(error, IFM_USAGE, value.where, "keep one of the two", "arm '%s' sets %s twice", arm->name,
                            path);
    const char *text;
    IFM_TRY(ifm_config_canonical(source->config, slot->row, value, &text, error));
    settings[arm->n_set++] = (struct ifm_setting){slot->row->path, text};
    return IFM_OK;
}

static enum ifm_status set_from_list(const struct ifm_source *source, const struct ifm_node *list,
                                     struct ifm_arm_spec *arm, struct ifm_setting *settings, struct ifm_error *error)
{
    char shown[72];
    for (const struct ifm_node *node = list->first; node != NULL; node = node->next) {
        struct ifm_raw value;
        IFM_TRY(ifm_node_scalar(source, node, "an item of set", &value, error));
        const char *equals = strchr(value.text, '=');
        if (equals == NULL || equals == value.text)
            return ifm_fail(error, IFM_USAGE, value.where, "write path=value", "'%s' is not of the form path=value",
                            ifm_param_shown(value.text, shown));
        char *path = ifm_arena_strdup(source->config->arena, value.text);
        path[equals - value.text] = '\0';
        value.text = equals + 1;
        IFM_TRY(add_setting(source, arm, settings, path, value, error));
    }
    return IFM_OK;
}

/* The value of one setting; a list, which a lock spells out, as the words of a flag. */
static enum ifm_status value_of(const struct ifm_source *source, const struct ifm_node *node, const char *path,
                                struct ifm_raw *out, struct ifm_error *error)
{
    const struct ifm_config_slot *slot = ifm_config_find(source->config, path);
    struct ifm_text words = {0};
    if (node->kind != IFM_NODE_SEQUENCE || (slot->row->flags & IFM_LIST) == 0)
        return ifm_node_scalar(source, node, path, out, error);
    enum ifm_status status = IFM_OK;
    for (const struct ifm_node *item = node->first; item != NULL && status == IFM_OK; item = item->next) {
        status = ifm_node_scalar(source, item, path, out, error);
        if (status == IFM_OK)
            ifm_text_printf(&words, "%s%s", words.size > 0 ? "," : "", out->text);
    }
    *out = (struct ifm_raw){ifm_text_keep(&words, source->config->arena), ifm_node_where(source, node)};
    return status;
}

/* Nested and dotted keys, as at the top level of the file. The depth of the tree bounds the recursion. */
static enum ifm_status set_from_mapping(const struct ifm_source *source, const struct ifm_node *mapping,
                                        const char *prefix, struct ifm_arm_spec *arm, struct ifm_setting *settings,
                                        struct ifm_error *error)
{
    for (const struct ifm_node *node = mapping->first; node != NULL; node = node->next) {
        const char *path =
            prefix[0] == '\0' ? node->key : ifm_arena_printf(source->config->arena, "%s.%s", prefix, node->key);
        bool section = node->kind == IFM_NODE_MAPPING && ifm_config_is_section(source->config, path);
        if (!section && ifm_config_find(source->config, path) == NULL)
            return ifm_config_unknown_key(source->config, path, ifm_node_key_where(source, node), error);
        for (const struct ifm_node *other = mapping->first; other != node; other = other->next)
            if (strcmp(other->key, node->key) == 0)
                return ifm_fail(error, IFM_USAGE, ifm_node_key_where(source, node), "keep one of the two",
                                "duplicate key '%s'; it is first set on line %u", path, other->key_line);
        if (section) {
            IFM_TRY(set_from_mapping(source, node, path, arm, settings, error));
            continue;
        }
        struct ifm_raw value;
        IFM_TRY(value_of(source, node, path, &value, error));
        IFM_TRY(add_setting(source, arm, settings, path, value, error));
    }
    return IFM_OK;
}

static enum ifm_status bind_set(const struct ifm_source *source, const struct ifm_node *node, struct ifm_arm_spec *arm,
                                struct ifm_error *error)
{
    struct ifm_setting *settings = IFM_ARENA_ARRAY(source->config->arena, struct ifm_setting, source->config->n_slots);
    arm->set = settings;
    if (node == NULL)
        return IFM_OK;
    if (node->kind == IFM_NODE_MAPPING)
        return set_from_mapping(source, node, "", arm, settings, error);
    if (node->kind == IFM_NODE_SEQUENCE)
        return set_from_list(source, node, arm, settings, error);
    return ifm_fail(error, IFM_USAGE, ifm_node_where(source, node), "write '- path=value' lines or a mapping",
                    "set is a mapping or a list of path=value");
}

static enum ifm_status check_arm_name(const char *name, const char *where, struct ifm_error *error)
{
    char shown[72];
    static const char *const taken[] = {"read", "write", "copy", "flops", "matrix", "none"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.";
    ifm_param_shown(name, shown);
    if (name[0] == '\0' || name[strspn(name, letters)] != '\0' || strlen(name) > LONGEST_ARM_NAME)
        return ifm_fail(error, IFM_USAGE, where, "use letters, digits and _ - + . ; at most 48",
                        "'%s' cannot be the name of an arm", shown);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            return ifm_fail(error, IFM_USAGE, where, "choose another name", "'%s' is the name of a ceiling", shown);
    return IFM_OK;
}

static enum ifm_status bind_arm(const struct ifm_source *source, const struct ifm_node *node, struct ifm_arm_spec *arms,
                                size_t index, struct ifm_error *error)
{
    enum { NAME, BASELINE, SET };
    const struct ifm_node *fields[MOST_FIELDS] = {NULL};
    struct ifm_arm_record record = {0};
    struct ifm_arm_spec *arm = &arms[index];
    IFM_TRY(bind_record(source, &ifm_section_arm, node, fields, &record, error));
    const char *where = ifm_node_where(source, fields[NAME]);
    IFM_TRY(check_arm_name(record.name, where, error));
    for (size_t i = 0; i < index; i++)
        if (strcmp(arms[i].name, record.name) == 0)
            return ifm_fail(error, IFM_USAGE, where, "give each arm a name of its own",
                            "there are two arms named '%s'; the first is at %s", record.name, arms[i].where);
    *arm = (struct ifm_arm_spec){.name = record.name, .baseline = record.baseline};
    arm->where = ifm_node_where(source, node);
    return bind_set(source, fields[SET], arm, error);
}

enum ifm_status ifm_config_arms(const struct ifm_source *source, const struct ifm_node *node, struct ifm_error *error)
{
    struct ifm_config *config = source->config;
    IFM_TRY(check_array(source, node, IFM_CONFIG_ARMS_MAX, error));
    struct ifm_arm_spec *arms = IFM_ARENA_ARRAY(config->arena, struct ifm_arm_spec, node->n + 1);
    const struct ifm_arm_spec *baseline = NULL;
    size_t n = 0;
    for (const struct ifm_node *item = node->first; item != NULL; item = item->next, n++) {
        IFM_TRY(bind_arm(source, item, arms, n, error));
        if (arms[n].baseline && baseline != NULL)
            return ifm_fail(error, IFM_USAGE, arms[n].where, "mark exactly one arm with 'baseline: true'",
                            "two arms say that they are the baseline: '%s' and '%s'", baseline->name, arms[n].name);
        if (arms[n].baseline)
            baseline = &arms[n];
    }
    if (baseline == NULL && n > 0)
        arms[0].baseline = true;
    config->arms = arms;
    config->n_arms = n;
    return IFM_OK;
}

static enum ifm_status check_gate_text(const char *text, const char *what, const char *where, struct ifm_error *error)
{
    char shown[72];
    bool control = false;
    for (const char *at = text; *at != '\0'; at++)
        control = control || (unsigned char)*at < 0x20 || *at == 0x7f;
    if (text[0] != '\0' && !control && strlen(text) <= LONGEST_GATE_NAME)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, where, "use printable text, at most 128 bytes", "'%s' cannot be the %s of a gate",
                    ifm_param_shown(text, shown), what);
}

enum ifm_status ifm_config_gate(const struct ifm_source *source, const struct ifm_node *node, struct ifm_gate *gates,
                                const char **places, size_t index, struct ifm_error *error)
{
    const struct ifm_node *fields[MOST_FIELDS] = {NULL};
    struct ifm_gate *gate = &gates[index];
    IFM_TRY(bind_record(source, &ifm_section_gate, node, fields, gate, error));
    const char *where = ifm_node_where(source, node);
    IFM_TRY(check_gate_text(gate->metric, "metric", where, error));
    if (gate->name[0] == '\0')
        gate->name = gate->metric;
    IFM_TRY(check_gate_text(gate->name, "name", where, error));
    for (size_t i = 0; i < index; i++)
        if (strcmp(gates[i].name, gate->name) == 0)
            return ifm_fail(error, IFM_USAGE, where, "give each gate a 'name' of its own",
                            "there are two gates named '%s'; the first is at %s", gate->name, places[i]);
    places[index] = where;
    return IFM_OK;
}

enum ifm_status ifm_config_gates(const struct ifm_source *source, const struct ifm_node *node, struct ifm_error *error)
{
    struct ifm_config *config = source->config;
    IFM_TRY(check_array(source, node, IFM_CONFIG_GATES_MAX, error));
    struct ifm_gate *gates = IFM_ARENA_ARRAY(config->arena, struct ifm_gate, node->n + 1);
    const char **places = IFM_ARENA_ARRAY(config->arena, const char *, node->n + 1);
    size_t n = 0;
    for (const struct ifm_node *item = node->first; item != NULL; item = item->next, n++)
        IFM_TRY(ifm_config_gate(source, item, gates, places, n, error));
    config->gates = gates;
    config->study.gate_places = places;
    config->n_gates = n;
    return IFM_OK;
}
