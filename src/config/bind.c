/* A file's tree into the tables: nested and dotted keys, lists, and the two arrays of records. */
#include "config/internal.h"

#include <string.h>

/* A key that the file has used, by its full path. */
struct seen {
    const char *path;
    unsigned line;
    struct seen *next;
};

struct binding {
    struct ifm_source source;
    struct seen *seen;
};

static enum ifm_status note_key(struct binding *binding, const struct ifm_node *node, const char *path,
                                struct ifm_error *error)
{
    struct ifm_arena *arena = binding->source.config->arena;
    for (const struct seen *seen = binding->seen; seen != NULL; seen = seen->next)
        if (strcmp(seen->path, path) == 0)
            return ifm_fail(error, IFM_USAGE, ifm_node_key_where(&binding->source, node), "keep one of the two",
                            "duplicate key '%s'; it is first set on line %u", path, seen->line);
    struct seen *seen = IFM_ARENA_NEW(arena, struct seen);
    *seen = (struct seen){path, node->key_line, binding->seen};
    binding->seen = seen;
    return IFM_OK;
}

static enum ifm_status bind_row(struct binding *binding, const struct ifm_node *node, struct ifm_config_slot *slot,
                                struct ifm_error *error)
{
    const struct ifm_source *source = &binding->source;
    struct ifm_raw *values = IFM_ARENA_ARRAY(source->config->arena, struct ifm_raw, node->n + 1);
    size_t n = 0;
    if (node->kind != IFM_NODE_SEQUENCE) {
        IFM_TRY(ifm_node_scalar(source, node, slot->row->path, &values[n++], error));
        return ifm_slot_set(source->config, slot, IFM_RANK_FILE, values, n, error);
    }
    if ((slot->row->flags & (IFM_SWEEP | IFM_LIST)) == 0)
        return ifm_fail(error, IFM_USAGE, ifm_node_where(source, node), "give one value",
                        "%s takes one value, not a list; allowed: %s", slot->row->path,
                        ifm_param_range(slot->row, source->config->arena));
    if (node->n == 0 && !(source->lock && (slot->row->flags & IFM_LIST) != 0))
        return ifm_fail(error, IFM_USAGE, ifm_node_where(source, node), "give at least one value, or leave the key out",
                        "%s is an empty list", slot->row->path);
    for (const struct ifm_node *item = node->first; item != NULL; item = item->next)
        IFM_TRY(ifm_node_scalar(source, item, slot->row->path, &values[n++], error));
    return ifm_slot_set(source->config, slot, IFM_RANK_FILE, values, n, error);
}

static enum ifm_status check_plugins(const struct ifm_source *source, const struct ifm_node *node,
                                     struct ifm_error *error)
{
    struct ifm_raw path;
    if (node->kind != IFM_NODE_SEQUENCE)
        return ifm_node_scalar(source, node, "plugin", &path, error);
    for (const struct ifm_node *item = node->first; item != NULL; item = item->next)
        IFM_TRY(ifm_node_scalar(source, item, "plugin", &path, error));
    return IFM_OK;
}

/* `{kv_len: 4,096}`: in braces a comma ends the value, and 096 is a key without one. */
static enum ifm_status refuse_grouped(const struct ifm_source *source, const struct ifm_node *node, const char *path,
                                      struct ifm_error *error)
{
    struct ifm_arena *arena = source->config->arena;
    const char *text = node->text;
    if (node->kind != IFM_NODE_SCALAR)
        return IFM_OK;
    for (const struct ifm_node *next = node->next; next != NULL && next->kind == IFM_NODE_SCALAR && next->plain &&
                                                   next->text[0] == '\0' && strlen(next->key) == 3;
         next = next->next)
        text = ifm_arena_printf(arena, "%s,%s", text, next->key);
    const char *one = text == node->text ? NULL : ifm_param_ungrouped(text, arena);
    if (one == NULL)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, ifm_node_where(source, node), ifm_arena_printf(arena, "did you mean %s?", one),
                    "%s: in braces a comma ends the value, so that %s is not one number", path, text);
}

/* Recursion is bounded: the tree has at most 16 levels. */
static enum ifm_status bind_mapping(struct binding *binding, const struct ifm_node *mapping, const char *prefix,
                                    struct ifm_error *error)
{
    const struct ifm_source *source = &binding->source;
    struct ifm_config *config = source->config;
    for (const struct ifm_node *node = mapping->first; node != NULL; node = node->next) {
        const char *path = prefix[0] == '\0' ? node->key : ifm_arena_printf(config->arena, "%s.%s", prefix, node->key);
        struct ifm_config_slot *slot = ifm_config_find(config, path);
        IFM_TRY(refuse_grouped(source, node, path, error));
        bool arms = strcmp(path, "arms") == 0, gates = strcmp(path, "gates") == 0;
        bool section = ifm_config_is_section(config, path);
        if (slot == NULL && strcmp(path, "plugin") == 0) { /* loaded already: tables come first */
            IFM_TRY(note_key(binding, node, path, error));
            IFM_TRY(check_plugins(source, node, error));
            continue;
        }
        if (slot == NULL && !arms && !gates && !section)
            return ifm_config_unknown_key(config, path, ifm_node_key_where(source, node), error);
        IFM_TRY(note_key(binding, node, path, error));
        if (slot != NULL)
            IFM_TRY(bind_row(binding, node, slot, error));
        else if (arms)
            IFM_TRY(ifm_config_arms(source, node, error));
        else if (gates)
            IFM_TRY(ifm_config_gates(source, node, error));
        else if (node->kind != IFM_NODE_MAPPING)
            return ifm_fail(error, IFM_USAGE, ifm_node_where(source, node), "indent its keys below it",
                            "'%s' is a section of keys, not a value", path);
        else
            IFM_TRY(bind_mapping(binding, node, path, error));
    }
    return IFM_OK;
}

enum ifm_status ifm_config_bind(struct ifm_config *config, const struct ifm_node *root, const char *where, bool lock,
                                struct ifm_error *error)
{
    struct binding binding = {.source = {config, where, lock}};
    return bind_mapping(&binding, root, "", error);
}
