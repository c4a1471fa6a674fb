/* A file into the configuration: a YAML study, or the lock of a run. */
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
