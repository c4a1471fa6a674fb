/* Nodes of a file's tree: where each stands, and the value of a scalar. */
#include "config/internal.h"

static const char *place(const struct ifm_source *source, unsigned line, unsigned column)
{
    if (line == 0)
        return source->name;
    return ifm_arena_printf(source->config->arena, "%s:%u:%u", source->name, line, column);
}

const char *ifm_node_where(const struct ifm_source *source, const struct ifm_node *node)
{
    return place(source, node->line, node->column);
}

const char *ifm_node_key_where(const struct ifm_source *source, const struct ifm_node *node)
{
    return place(source, node->key_line, node->key_column);
}

enum ifm_status ifm_node_scalar(const struct ifm_source *source, const struct ifm_node *node, const char *path,
                                struct ifm_raw *out, struct ifm_error *error)
{
    *out = (struct ifm_raw){node->text, ifm_node_where(source, node)};
    if (node->kind != IFM_NODE_SCALAR)
        return ifm_fail(error, IFM_USAGE, out->where, "give one value", "%s takes a value, not a %s", path,
                        node->kind == IFM_NODE_MAPPING ? "mapping" : "list");
    if (node->plain && node->text[0] == '\0')
        return ifm_fail(error, IFM_USAGE, out->where, "write a value after the colon, or leave the key out",
                        "%s has no value", path);
    return IFM_OK;
}

struct ifm_node *ifm_node_new(struct ifm_arena *arena, enum ifm_node_kind kind, const char *key, const char *text)
{
    struct ifm_node *node = IFM_ARENA_NEW(arena, struct ifm_node);
    *node = (struct ifm_node){.kind = kind, .key = ifm_arena_strdup(arena, key), .text = text};
    return node;
}
