/* A file into the configuration: a YAML study, or the lock of a run; and the plugins that a study names. They are read
 * before anything else, because a plugin adds parameter tables that reading the file needs. */
#include "config/internal.h"

#include "base/file.h"
#include "base/private.h"
#include <stdlib.h>
#include <string.h>

/* A file's name for messages, shortened so that line and column always fit. */
static const char *source_name(const struct ifm_config *config, const char *where)
{
    enum { LONGEST = 200 };
    size_t length = strlen(where);
    return length <= LONGEST ? where : ifm_arena_printf(config->arena, "...%s", where + length - LONGEST);
}

enum ifm_status ifm_config_yaml(struct ifm_config *config, const char *data, size_t size, const char *where,
                                struct ifm_error *error)
{
    struct ifm_node *root;
    const char *name = source_name(config, where);
    IFM_TRY(ifm_config_open(config, name, error));
    IFM_TRY(ifm_yaml_tree(data, size, name, config->arena, &root, error));
    return ifm_config_bind(config, root, name, false, error);
}

enum ifm_status ifm_config_file(struct ifm_config *config, const char *path, struct ifm_error *error)
{
    char *data;
    size_t size, length = strlen(path);
    bool lock = length > 5 && strcmp(path + length - 5, ".json") == 0;
    IFM_TRY(ifm_file_read(path, IFM_CONFIG_BYTES_MAX, &data, &size, error));
    if (lock)
        ifm_private_load(path);
    enum ifm_status status = lock ? ifm_config_lock(config, data, size, source_name(config, path), error)
                                  : ifm_config_yaml(config, data, size, path, error);
    free(data);
    return status;
}

/* ---- the key `plugin`; errors in the file are reported when it is read into the configuration ---- */

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
