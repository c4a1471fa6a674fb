/* What a quick form of the command line puts into a configuration: defaults of its own, and arms. */
#include "config/internal.h"

#include <string.h>

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
