/* Plugins on the command line and in run folders.
 *
 * They are loaded before anything else is parsed: their tables are flags, keys and help. */
#include "cli/plugins.h"

#include "base/file.h"
#include "base/hash.h"
#include "instrument/instrument.h"
#include "workload/plugin/plugin.h"
#include <stdio.h>
#include <string.h>

enum { WORDS_MOST = 512 };

/* ---- words that are taken ---- */

struct words {
    const char *items[WORDS_MOST + 1]; /* NULL-terminated */
    size_t n;
};

static void add_word(struct words *words, const char *word)
{
    if (word != NULL && words->n < WORDS_MOST)
        words->items[words->n++] = word;
}

/* First parts of keys, and flags, of what every run has. */
static void add_section(struct words *names, struct words *flags, const struct ifm_section *section,
                        struct ifm_arena *arena)
{
    add_word(names, section->name);
    for (size_t i = 0; i < section->n; i++) {
        const char *path = section->rows[i].path;
        add_word(names, ifm_arena_printf(arena, "%.*s", (int)strcspn(path, "."), path));
        add_word(flags, section->rows[i].flag);
    }
}

static void list_columns(struct words *columns)
{
    static const char *const own[] = {"block", "phase", "arm", "samples", "inner", "start_ns", "end_ns"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        add_word(columns, own[i]);
    for (size_t i = 0; ifm_instruments[i] != NULL; i++)
        for (size_t c = 0; c < ifm_instruments[i]->n_columns; c++)
            add_word(columns, ifm_instruments[i]->columns[c].id);
}

static enum ifm_status load(const char *path, const struct ifm_workload **out, struct ifm_error *error)
{
    static const struct ifm_section *const common[] = {&ifm_section_general, &ifm_section_device, &ifm_section_measure,
                                                       &ifm_section_arm, &ifm_section_gate};
    struct ifm_arena *arena = ifm_arena_create();
    struct words *names = IFM_ARENA_NEW(arena, struct words), *flags = IFM_ARENA_NEW(arena, struct words),
                 *columns = IFM_ARENA_NEW(arena, struct words);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        add_section(names, flags, common[i], arena);
    add_word(names, "plugin");
    for (const struct ifm_verb *verb = ifm_verbs; verb->name != NULL; verb++) {
        add_word(names, verb->name);
        for (size_t i = 0; i < verb->n_options; i++)
            add_word(flags, verb->options[i].flag);
    }
    list_columns(columns);
    const struct ifm_plugin_taken taken = {names->items, flags->items, columns->items};
    enum ifm_status status = ifm_plugin_load(path, &taken, out, error);
    ifm_arena_destroy(arena);
    return status;
}

/* ---- the command line ---- */

/* The value of `argv[i]` as the flag `--name`, and how many arguments it takes; NULL when it is another argument. */
static const char *flag_value(int argc, char **argv, int i, const char *name, int *used)
{
    size_t length = strlen(name);
    *used = 1;
    if (strncmp(argv[i], "--", 2) != 0 || strncmp(argv[i] + 2, name, length) != 0)
        return NULL;
    const char *rest = argv[i] + 2 + length;
    if (rest[0] == '=')
        return rest + 1;
    if (rest[0] != '\0' || i + 1 >= argc)
        return NULL;
    *used = 2;
    return argv[i + 1];
}

static bool takes_plugins(const char *command)
{
    const struct ifm_verb *verb = ifm_verb_find(command);
    if (verb == NULL) /* may be the name of a plugin */
        return true;
    for (size_t i = 0; i < verb->n_options; i++)
        if (strcmp(verb->options[i].flag, "plugin") == 0)
            return true;
    return false;
}

/* The first argument that no --plugin takes. */
static const char *command_of(int argc, char **argv)
{
    int used;
    for (int i = 1; i < argc; i += used)
        if (flag_value(argc, argv, i, "plugin", &used) == NULL)
            return argv[i];
    return "";
}

static enum ifm_status take_flags(int *argc, char **argv, struct ifm_error *error)
{
    int kept = 1, used;
    for (int i = 1; i < *argc; i += used) {
        const char *path = flag_value(*argc, argv, i, "plugin", &used);
        if (path == NULL && strcmp(argv[i], "--plugin") == 0)
            return ifm_fail(error, IFM_USAGE, "", "--plugin takes the path of a shared object",
                            "--plugin needs a value");
        if (path == NULL)
            argv[kept++] = argv[i];
        else
            IFM_TRY(load(path, NULL, error));
    }
    *argc = kept;
    argv[kept] = NULL;
    return IFM_OK;
}

static enum ifm_status take_files(int argc, char **argv, struct ifm_arena *arena, struct ifm_error *error)
{
    for (int i = 1, used; i < argc; i += used) {
        const char *file = flag_value(argc, argv, i, "config", &used);
        if (file == NULL && strcmp(argv[i], "-c") == 0 && i + 1 < argc) {
            file = argv[i + 1];
            used = 2;
        }
        if (file == NULL)
            continue;
        struct ifm_list paths = ifm_config_plugins(file, arena);
        for (size_t p = 0; p < paths.n; p++)
            IFM_TRY(load(paths.items[p], NULL, error));
    }
    return IFM_OK;
}

enum ifm_status ifm_plugins_take(int *argc, char **argv, struct ifm_error *error)
{
    if (!takes_plugins(command_of(*argc, argv)))
        return IFM_OK;
    IFM_TRY(take_flags(argc, argv, error));
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = take_files(*argc, argv, arena, error);
    ifm_arena_destroy(arena);
    return status;
}

/* ---- run folders ---- */

/* The loaded plugins of the study's workloads, in their order, by `add`. */
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
                                  struct ifm_arena *arena, struct ifm_error *error)
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
    IFM_TRY(load(path, &workload, error));
    return strcmp(workload->name, name) == 0
               ? IFM_OK
               : ifm_fail(error, IFM_USAGE, dir, "", "%s brings the workload '%s', not '%s'", path, workload->name,
                          name);
}

static enum ifm_status load_all(const char *dir, const char *where, const json_t *list, struct ifm_arena *arena,
                                struct ifm_error *error)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = member(list, i, "name"), *file = member(list, i, "file"),
                   *sha256 = member(list, i, "sha256");
        if (name == NULL || file == NULL || sha256 == NULL)
            return ifm_fail(error, IFM_USAGE, where, "the file was edited; restore it or measure again",
                            "plugins[%zu] has no name, no file or no sha256", i);
        IFM_TRY(load_again(dir, name, file, sha256, arena, error));
    }
    return IFM_OK;
}

enum ifm_status ifm_plugins_of_folder(const char *dir, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const char *where = ifm_path_join(arena, dir, "config.lock.json");
    json_t *lock = NULL;
    enum ifm_status status = IFM_OK;
    if (ifm_json_read(where, &lock, NULL) == IFM_OK) /* what is wrong with it is said by whoever reads it next */
        status = load_all(dir, where, json_object_get(lock, "plugins"), arena, error);
    json_decref(lock);
    ifm_arena_destroy(arena);
    return status;
}
