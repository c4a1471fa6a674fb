/* The key `plugin` of a study, read before anything else: a plugin adds parameter tables, and reading the file needs
 * them.
 *
 * Errors in the file are not reported here; reading it into the configuration reports them with their place. */
#include "config/internal.h"

#include "base/file.h"
#include <stdlib.h>
#include <string.h>

/* A path in a file is relative to the file's folder. */
static const char *beside(const char *file, const char *path, struct ifm_arena *arena)
{
    const char *slash = strrchr(file, '/');
    if (path[0] == '/' || slash == NULL)
        return ifm_arena_strdup(arena, path);
    return ifm_arena_printf(arena, "%.*s/%s", (int)(slash - file), file, path);
}

static struct ifm_list collect(const char *file, const struct ifm_node *node, struct ifm_arena *arena)
{
    const char **paths = IFM_ARENA_ARRAY(arena, const char *, node->n + 1);
    size_t n = 0;
    if (node->kind == IFM_NODE_SCALAR && node->text[0] != '\0')
        paths[n++] = beside(file, node->text, arena);
    for (const struct ifm_node *item = node->first; node->kind == IFM_NODE_SEQUENCE && item != NULL; item = item->next)
        if (item->kind == IFM_NODE_SCALAR && item->text[0] != '\0')
            paths[n++] = beside(file, item->text, arena);
    return (struct ifm_list){paths, n};
}

struct ifm_list ifm_config_plugins(const char *path, struct ifm_arena *arena)
{
    struct ifm_list list = {0};
    struct ifm_node *root = NULL;
    char *data = NULL;
    size_t size;
    if (ifm_file_read(path, IFM_CONFIG_BYTES_MAX, &data, &size, NULL) == IFM_OK &&
        ifm_yaml_tree(data, size, path, arena, &root, NULL) == IFM_OK)
        for (const struct ifm_node *node = root->first; node != NULL; node = node->next)
            if (strcmp(node->key, "plugin") == 0)
                list = collect(path, node, arena);
    free(data);
    return list;
}
