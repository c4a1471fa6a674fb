/* Settings from the command line: overrides "path=value", flags "--kv-len 512", and the defaults and arms of its quick
 * forms. */
#include "config/internal.h"

#include "base/private.h"

#include <string.h>

/* The lock file is UTF-8, so values must be. */
static enum ifm_status check_utf8(const char *text, const char *where, struct ifm_error *error)
{
    if (ifm_utf8_valid(text, strlen(text)))
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, where, "write the value in UTF-8", "the value is not UTF-8 text");
}

enum ifm_status ifm_config_override(struct ifm_config *config, const char *assignment, struct ifm_error *error)
{
    char shown[72];
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || equals == assignment)
        return ifm_fail(error, IFM_USAGE, "--override", "write path=value, for example --override seed=7",
                        "'%s' is not of the form path=value", ifm_param_shown(assignment, shown));
    char *path = ifm_arena_strdup(config->arena, assignment);
    path[equals - assignment] = '\0';
    const char *where = ifm_arena_printf(config->arena, "--override %s", ifm_param_shown(path, shown));
    IFM_TRY(check_utf8(assignment, where, error));
    IFM_TRY(ifm_config_open(config, where, error));
    if (strcmp(path, "arms") == 0 || strcmp(path, "gates") == 0)
        return ifm_fail(error, IFM_USAGE, where, "write them into a configuration file and give it with -c",
                        "%s cannot be overridden: each is a list of records", path);
    struct ifm_config_slot *slot = ifm_config_find(config, path);
    if (slot == NULL)
        return ifm_config_unknown_key(config, path, where, error);
    const struct ifm_raw value = {equals + 1, where};
    return ifm_slot_set(config, slot, IFM_RANK_OVERRIDE, &value, 1, error);
}

/* Whether `slot` takes flags here: common rows always, those of a workload only in its quick form. */
static bool in_scope(const struct ifm_config_slot *slot, const char *workload)
{
    return slot->row->flag != NULL &&
           (slot->common || (workload != NULL && strcmp(slot->section->name, workload) == 0));
}

/* The slot of a flag. "no-" before the flag of a boolean row sets `*negated`. */
static struct ifm_config_slot *find_flag(const struct ifm_config *config, const char *workload, const char *flag,
                                         bool *negated)
{
    *negated = false;
    for (size_t i = 0; i < config->n_slots; i++)
        if (in_scope(&config->slots[i], workload) && strcmp(config->slots[i].row->flag, flag) == 0)
            return &config->slots[i];
    if (strncmp(flag, "no-", 3) != 0)
        return NULL;
    *negated = true;
    for (size_t i = 0; i < config->n_slots; i++) {
        struct ifm_config_slot *slot = &config->slots[i];
        if (in_scope(slot, workload) && slot->row->type == IFM_TYPE_BOOL && strcmp(slot->row->flag, flag + 3) == 0)
            return slot;
    }
    return NULL;
}

enum ifm_status ifm_config_flag(struct ifm_config *config, const char *workload, const char *flag, const char *value,
                                bool *known, struct ifm_error *error)
{
    return ifm_config_flag_as(config, workload, flag, flag, value, known, error);
}

/* "such as --kv-len 4096", the default or a choice; else what the row is. */
static const char *example_of(const struct ifm_param *row, const char *where, struct ifm_arena *arena)
{
    if (row->fallback != NULL && row->fallback[0] != '\0')
        return ifm_arena_printf(arena, "such as %s %s", where, row->fallback);
    if (ifm_param_is_choice(row)) {
        const char *words = row->choices;
        const int first = (int)strcspn(words, "|");
        const int second = words[first] == '|' ? (int)strcspn(words + first + 1, "|") : 0;
        const bool list = (row->flags & IFM_LIST) != 0 && second > 0;
        return ifm_arena_printf(arena, "such as %s %.*s%s%.*s", where, first, words, list ? "," : "", list ? second : 0,
                                list ? words + first + 1 : "");
    }
    return row->help;
}

enum ifm_status ifm_config_flag_as(struct ifm_config *config, const char *workload, const char *flag,
                                   const char *written, const char *value, bool *known, struct ifm_error *error)
{
    char shown[72];
    bool negated;
    struct ifm_config_slot *slot = find_flag(config, workload, flag, &negated);
    *known = slot != NULL;
    if (slot == NULL)
        return IFM_OK;
    const char *where = ifm_arena_printf(config->arena, "--%s", ifm_param_shown(written, shown));
    IFM_TRY(ifm_config_open(config, where, error));
    IFM_TRY(check_utf8(value != NULL ? value : "", where, error));
    if (negated && value != NULL)
        return ifm_fail(error, IFM_USAGE, where, "", "%s takes no value", where);
    if (value == NULL && slot->row->type != IFM_TYPE_BOOL)
        return ifm_fail(error, IFM_USAGE, where, example_of(slot->row, where, config->arena),
                        "it needs a value; allowed: %s", ifm_param_range(slot->row, config->arena));
    if (slot->rank == IFM_RANK_FLAG && slot->row->type != IFM_TYPE_BOOL && strcmp(slot->where, where) != 0)
        return ifm_fail(error, IFM_USAGE, where, "give one of the two", "%s and %s set the same (%s)", slot->where,
                        where, slot->row->path);
    if (slot->rank == IFM_RANK_FLAG && slot->row->type != IFM_TYPE_BOOL && slot->given != NULL &&
        strcmp(slot->given, value) != 0)
        config->twice = where;
    slot->given = value == NULL ? "" : value;
    const struct ifm_raw raw = {value != NULL ? value : negated ? "false" : "true", where};
    return ifm_slot_set(config, slot, IFM_RANK_FLAG, &raw, 1, error);
}

const char *ifm_config_given_twice(const struct ifm_config *config)
{
    return config->twice;
}

bool ifm_config_flag_takes_value(const struct ifm_config *config, const char *workload, const char *flag)
{
    bool negated;
    const struct ifm_config_slot *slot = find_flag(config, workload, flag, &negated);
    return slot != NULL && slot->row->type != IFM_TYPE_BOOL;
}

static bool takes(const struct ifm_config *config, const struct ifm_config_slot *slot, const char *text)
{
    const char *canonical;
    return ifm_config_canonical(config, slot->row, (struct ifm_raw){text, ""}, &canonical, NULL) == IFM_OK;
}

const char *ifm_config_flag_joined(const struct ifm_config *config, const char *workload, const char *flag,
                                   const char *const *words, size_t n)
{
    bool negated, each = true;
    const struct ifm_config_slot *slot = find_flag(config, workload, flag, &negated);
    if (slot == NULL || slot->row->type == IFM_TYPE_BOOL || slot->row->type == IFM_TYPE_TEXT)
        return NULL;
    for (size_t i = 0; i < n; i++)
        each &= takes(config, slot, words[i]);
    const struct ifm_list list = {(const char **)words, n};
    if (each && (slot->row->flags & (IFM_SWEEP | IFM_LIST)) != 0)
        return ifm_list_join(list, ",", config->arena);
    const char *whole = ifm_list_join(list, "", config->arena);
    const bool group = n == 2 && strlen(words[1]) == 3; /* 10 000 */
    const char *duration = slot->row->type == IFM_TYPE_SECONDS ? ifm_param_duration_meant(whole, config->arena) : NULL;
    if (n == 2 && duration != NULL) /* 10 minutes; one that is out of range is told so next */
        return duration;
    if (each || n < 2 || (slot->row->type == IFM_TYPE_U64 && !group) || !takes(config, slot, whole))
        return NULL;
    return whole;
}

const char *ifm_config_nearest_flag(const struct ifm_config *config, const char *workload, const char *flag)
{
    const char **words = IFM_ARENA_ARRAY(config->arena, const char *, config->n_slots);
    size_t n = 0;
    for (size_t i = 0; i < config->n_slots; i++)
        if (in_scope(&config->slots[i], workload))
            words[n++] = config->slots[i].row->flag;
    return ifm_nearest(flag, words, n);
}

/* ---- quick forms ---- */

enum ifm_status ifm_config_default(struct ifm_config *config, const char *path, const char *text,
                                   struct ifm_error *error)
{
    struct ifm_config_slot *slot = ifm_config_find(config, path);
    const struct ifm_raw value = {text, "default"};
    if (slot == NULL)
        return ifm_config_unknown_key(config, path, "", error);
    return ifm_slot_set(config, slot, IFM_RANK_PRESET, &value, 1, error);
}

bool ifm_config_is_true(const struct ifm_config *config, const char *path)
{
    const struct ifm_config_slot *slot = ifm_config_find(config, path);
    return slot != NULL && slot->n > 0 && strcmp(slot->texts[0], "true") == 0;
}

void ifm_config_publish(struct ifm_config *config, const char *path)
{
    struct ifm_config_slot *slot = ifm_config_find(config, path);
    const char **texts = IFM_ARENA_ARRAY(config->arena, const char *, slot->n + 1);
    for (size_t i = 0; i < slot->n; i++)
        texts[i] = ifm_private_publish(slot->texts[i], config->arena);
    slot->texts = texts;
    for (size_t a = 0; a < config->n_arms; a++) {
        struct ifm_arm_spec *arm = &config->arms[a];
        struct ifm_setting *set = IFM_ARENA_ARRAY(config->arena, struct ifm_setting, arm->n_set + 1);
        for (size_t i = 0; i < arm->n_set; i++) {
            set[i] = arm->set[i];
            if (strcmp(set[i].path, path) == 0)
                set[i].text = ifm_private_publish(set[i].text, config->arena);
        }
        arm->set = set;
    }
}

bool ifm_config_is_set(const struct ifm_config *config, const char *path)
{
    const struct ifm_config_slot *slot = ifm_config_find(config, path);
    return slot != NULL && slot->rank >= IFM_RANK_FILE;
}

static struct ifm_node *add_node(struct ifm_config *config, struct ifm_node *parent, enum ifm_node_kind kind,
                                 const char *key, const char *text)
{
    struct ifm_node *node = ifm_node_new(config->arena, kind, key, ifm_arena_strdup(config->arena, text));
    ifm_node_add(parent, node);
    return node;
}

/* Builds the tree that a file would give, so that the same code checks it. */
enum ifm_status ifm_config_quick_arms(struct ifm_config *config, const char *path, const struct ifm_quick_arm *arms,
                                      size_t n, const char *where, struct ifm_error *error)
{
    const struct ifm_source source = {config, where, false};
    struct ifm_node *list = ifm_node_new(config->arena, IFM_NODE_SEQUENCE, "arms", NULL);
    IFM_TRY(ifm_config_open(config, where, error));
    for (size_t i = 0; i < n; i++) {
        if (!ifm_utf8_valid(arms[i].text, strlen(arms[i].text)))
            return ifm_fail(error, IFM_USAGE, where, "write the command in UTF-8", "command %zu is not UTF-8 text",
                            i + 1);
        struct ifm_node *record = add_node(config, list, IFM_NODE_MAPPING, NULL, NULL);
        add_node(config, record, IFM_NODE_SCALAR, "name", arms[i].name);
        struct ifm_node *set = add_node(config, record, IFM_NODE_MAPPING, "set", NULL);
        add_node(config, set, IFM_NODE_SCALAR, path, arms[i].text);
    }
    return ifm_config_arms(&source, list, error);
}
