/* Loading a plugin: file, symbol, table, registration. */
#include "base/ambient.h"
#include "base/hash.h"
#include "base/log.h"
#include "workload/plugin/private.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static unsigned loaded;
static struct ifm_arena *tables; /* of all loaded plugins, for the life of the process */

static const char symbol[] = "inferometer_plugin";

typedef const struct inferometer_plugin *entry_fn(uint32_t abi);

/* The loader's words without the path that the message shows already. */
static const char *loader_words(const char *path)
{
    const char *words = dlerror();
    size_t length = strlen(path);
    if (words == NULL)
        return "the loader does not say why";
    return strncmp(words, path, length) == 0 && strncmp(words + length, ": ", 2) == 0 ? words + length + 2 : words;
}

/* What the first header of this ABI had; later ones append. */
static const size_t LEAST_TABLE = offsetof(struct inferometer_plugin, devices);

static enum ifm_status copy_table(const struct inferometer_plugin *theirs, const char *where,
                                  struct inferometer_plugin *ours, struct ifm_error *error)
{
    static const char hint[] = "build it again with the inferometer/plugin.h of this version";
    if (theirs == NULL)
        return ifm_fail(error, IFM_USAGE, where, hint, "%s(%u) returns NULL: it has no table for this ABI", symbol,
                        INFEROMETER_PLUGIN_ABI);
    size_t size = theirs->struct_size;
    if (size < LEAST_TABLE)
        return ifm_fail(error, IFM_USAGE, where, hint, "struct_size is %zu; a table of ABI %u has at least %zu bytes",
                        size, INFEROMETER_PLUGIN_ABI, LEAST_TABLE);
    if (theirs->abi != INFEROMETER_PLUGIN_ABI)
        return ifm_fail(error, IFM_USAGE, where, hint, "abi is %u; this version takes ABI %u", theirs->abi,
                        INFEROMETER_PLUGIN_ABI);
    memcpy(ours, theirs, size < sizeof *ours ? size : sizeof *ours);
    return IFM_OK;
}

static enum ifm_status read_table(void *handle, const char *where, struct inferometer_plugin *table,
                                  struct ifm_error *error)
{
    void *address = dlsym(handle, symbol);
    entry_fn *entry;
    if (address == NULL)
        return ifm_fail(error, IFM_USAGE, where, "define it as inferometer/plugin.h declares it, and export it",
                        "the shared object has no function %s", symbol);
    memcpy(&entry, &address, sizeof entry); /* POSIX allows it where ISO C has no cast */
    return copy_table(entry(INFEROMETER_PLUGIN_ABI), where, table, error);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Into the first free place; nothing refers to it before it is registered. */
static enum ifm_status fill(void *handle, const char *path, const char *sha256, const struct ifm_plugin_taken *taken,
                            struct ifm_error *error)
{
    struct ifm_plugin *plugin = &ifm_plugins[loaded];
    *plugin = (struct ifm_plugin){0};
    IFM_TRY(read_table(handle, path, &plugin->table, error));
    IFM_TRY(ifm_plugin_check(plugin, path, taken, tables, error));
    plugin->identity =
        (struct ifm_plugin_identity){ifm_arena_strdup(tables, base_name(path)), ifm_arena_strdup(tables, path),
                                     ifm_arena_strdup(tables, sha256), plugin->table.abi};
    ifm_plugin_adapt(loaded);
    return ifm_workload_register(&plugin->workload, error);
}

static enum ifm_status load(const char *path, const struct ifm_plugin_taken *taken, struct ifm_error *error)
{
    if (tables == NULL)
        tables = ifm_arena_create();
    if (loaded == IFM_PLUGINS_MOST)
        return ifm_fail(error, IFM_USAGE, path, "measure them in several studies", "at most %d plugins are loaded",
                        IFM_PLUGINS_MOST);
    struct ifm_sha256 hash;
    IFM_TRY(ifm_sha256_file(path, &hash, error)); /* a regular file: dlopen waits for the writer of a FIFO for ever */
    struct ifm_ambient before;
    ifm_ambient_save(&before);
    ifm_plugin_ask(base_name(path), "");
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    enum ifm_status status =
        handle == NULL ? ifm_fail(error, IFM_USAGE, path, "a plugin is a shared object: cc -shared -fPIC -o my.so my.c",
                                  "cannot be loaded: %s", loader_words(path))
                       : fill(handle, path, hash.hex, taken, error);
    ifm_plugin_ask(NULL, NULL);
    const char *changed = ifm_ambient_restore(&before); /* -ffast-math does that to each program that loads it */
    if (changed != NULL)
        ifm_warn("%s changed %s when it was loaded; it is put back, and the arms run without that change",
                 base_name(path), changed);
    if (handle == NULL)
        return status;
    if (status == IFM_OK)
        loaded++; /* and it stays: threads and tables may refer to it */
    else
        dlclose(handle);
    return status;
}

enum ifm_status ifm_plugin_load(const char *path, const struct ifm_plugin_taken *taken, const struct ifm_workload **out,
                                struct ifm_error *error)
{
    char whole[PATH_MAX];
    if (realpath(path, whole) == NULL)
        return ifm_fail(error, IFM_USAGE, path, "--plugin takes the path of a shared object",
                        "the plugin cannot be read: %s", strerror(errno));
    unsigned i = 0;
    while (i < loaded && strcmp(ifm_plugins[i].identity.path, whole) != 0)
        i++;
    if (i == loaded)
        IFM_TRY(load(whole, taken, error));
    if (out != NULL)
        *out = &ifm_plugins[i].workload;
    return IFM_OK;
}
