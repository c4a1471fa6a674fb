/* Plugins of a run folder: config.lock.json says which they are, private.json where they were. */
#include "story/folder.h"

#include "base/file.h"
#include "base/hash.h"
#include <string.h>

/* The loaded plugins of the study's workloads, in their order, each as `entry` has it. */
static json_t *list_used(const struct ifm_config *config, json_t *(*entry)(const struct ifm_workload *workload))
{
    const struct ifm_study *study = ifm_config_study(config);
    json_t *list = json_array();
    for (size_t i = 0; i < study->n_workloads; i++) {
        const struct ifm_workload *workload = ifm_workload_find(study->workloads[i]);
        if (workload != NULL && workload->plugin != NULL)
            json_array_append_new(list, entry(workload));
    }
    return list;
}

static json_t *into(json_t *json, json_t *list)
{
    if (json_array_size(list) > 0)
        json_object_set(json, "plugins", list);
    json_decref(list);
    return json;
}

static json_t *public_entry(const struct ifm_workload *workload)
{
    return json_pack("{s:s, s:s, s:s, s:I}", "name", workload->name, "file", workload->plugin->file, "sha256",
                     workload->plugin->sha256, "abi", (json_int_t)workload->plugin->abi);
}

static json_t *private_entry(const struct ifm_workload *workload)
{
    return json_pack("{s:s, s:s}", "name", workload->name, "path", workload->plugin->path);
}

json_t *ifm_plugins_into_lock(json_t *json, const struct ifm_config *config)
{
    return into(json, list_used(config, public_entry));
}

json_t *ifm_plugins_into_private(json_t *json, const struct ifm_config *config)
{
    return into(json, list_used(config, private_entry));
}

static const char *member(const json_t *list, size_t index, const char *key)
{
    return json_string_value(json_object_get(json_array_get(list, index), key));
}

const char *ifm_plugins_missing(const json_t *lock)
{
    const json_t *list = json_object_get(lock, "plugins");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = member(list, i, "name");
        if (name != NULL && ifm_workload_find(name) == NULL)
            return name;
    }
    return NULL;
}

/* Where private.json says that a plugin was; NULL when it does not. In the arena. */
static const char *remembered_path(const char *dir, const char *name, struct ifm_arena *arena)
{
    json_t *json = NULL;
    const char *path = NULL;
    if (ifm_json_read(ifm_path_join(arena, dir, "private.json"), &json, NULL) == IFM_OK) {
        const json_t *list = json_object_get(json, "plugins");
        for (size_t i = 0; i < json_array_size(list); i++) {
            const char *its = member(list, i, "name"), *at = member(list, i, "path");
            if (its != NULL && at != NULL && strcmp(its, name) == 0)
                path = ifm_arena_strdup(arena, at);
        }
    }
    json_decref(json);
    return path;
}

static enum ifm_status changed(const char *dir, const char *name, const char *path, const char *was, const char *is,
                               struct ifm_error *error)
{
    ifm_fail(error, IFM_USAGE, dir, "",
             "the plugin '%s' is not the one that was measured: %s has SHA-256 %.12s, not %.12s", name, path, is, was);
    ifm_error_hint(error,
                   "give the old file with --plugin, or measure this one: inferometer run -c %s/config.lock.json "
                   "--plugin FILE",
                   dir);
    return IFM_USAGE;
}

/* One plugin of a run folder; a file is hashed before any code of it runs. */
static enum ifm_status load_again(const char *dir, const char *name, const char *file, const char *sha256,
                                  const struct ifm_plugin_taken *taken, struct ifm_arena *arena,
                                  struct ifm_error *error)
{
    const struct ifm_workload *workload = ifm_workload_find(name);
    struct ifm_sha256 hash;
    if (workload != NULL && workload->plugin == NULL)
        return ifm_fail(error, IFM_USAGE, dir, "use the version of inferometer that wrote it",
                        "the workload '%s' of a plugin is one of this build's own", name);
    if (workload != NULL)
        return strcmp(workload->plugin->sha256, sha256) == 0
                   ? IFM_OK
                   : changed(dir, name, workload->plugin->path, sha256, workload->plugin->sha256, error);
    const char *path = remembered_path(dir, name, arena);
    if (path == NULL)
        return ifm_fail(error, IFM_MISSING, dir, "give it with --plugin PATH",
                        "the plugin '%s' is missing: private.json does not say where %s is", name, file);
    if (!ifm_file_exists(path))
        return ifm_fail(error, IFM_MISSING, dir, "give it with --plugin PATH",
                        "the plugin '%s' is missing: there is no file %s", name, path);
    IFM_TRY(ifm_sha256_file(path, &hash, error));
    if (strcmp(hash.hex, sha256) != 0)
        return changed(dir, name, path, sha256, hash.hex, error);
    IFM_TRY(ifm_plugin_load(path, taken, &workload, error));
    return strcmp(workload->name, name) == 0
               ? IFM_OK
               : ifm_fail(error, IFM_USAGE, dir, "", "%s brings the workload '%s', not '%s'", path, workload->name,
                          name);
}

static enum ifm_status load_all(const char *dir, const char *where, const json_t *list,
                                const struct ifm_plugin_taken *taken, struct ifm_arena *arena, struct ifm_error *error)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = member(list, i, "name"), *file = member(list, i, "file"),
                   *sha256 = member(list, i, "sha256");
        if (name == NULL || file == NULL || sha256 == NULL)
            return ifm_fail(error, IFM_USAGE, where, "the file was edited; restore it or measure again",
                            "plugins[%zu] has no name, no file or no sha256", i);
        IFM_TRY(load_again(dir, name, file, sha256, taken, arena, error));
    }
    return IFM_OK;
}

enum ifm_status ifm_plugins_of_folder(const char *dir, const struct ifm_plugin_taken *taken, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const char *where = ifm_path_join(arena, dir, "config.lock.json");
    json_t *lock = NULL;
    enum ifm_status status = IFM_OK;
    if (ifm_json_read(where, &lock, NULL) == IFM_OK) /* errors in it are reported when it is read as a configuration */
        status = load_all(dir, where, json_object_get(lock, "plugins"), taken, arena, error);
    json_decref(lock);
    ifm_arena_destroy(arena);
    return status;
}
