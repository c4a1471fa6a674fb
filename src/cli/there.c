/* Where a run is repeated, and where it goes on: in the folder in which it was first started, as its commands and files
 * may be named from there. What this command line names stays where the user is. The process changes its folder, so
 * this is called before anything runs. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/private.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a lock file says of commands and files: their texts, or tokens that stand for them. */
struct texts {
    bool published, tokens;
};

static void look_for(const json_t *json, struct texts *found)
{
    const char *key, *text = json_string_value(json);
    size_t index;
    json_t *value;
    if (text != NULL) {
        found->tokens |= ifm_private_is_token(text);
        found->published |= ifm_private_shown(text) != text;
    }
    json_object_foreach((json_t *)json, key, value) look_for(value, found);
    json_array_foreach((json_t *)json, index, value) look_for(value, found);
}

static struct texts texts_of(const char *dir, struct ifm_arena *arena)
{
    struct texts found = {false, false};
    json_t *lock = NULL;
    if (ifm_json_read(ifm_path_join(arena, dir, "config.lock.json"), &lock, NULL) == IFM_OK)
        look_for(lock, &found);
    json_decref(lock);
    return found;
}

/* The folder in which the run in `dir` was started; NULL = its private.json does not say. */
static const char *started_in(const char *dir, struct ifm_arena *arena)
{
    const char *path = ifm_path_join(arena, dir, "private.json"), *folder = NULL;
    json_t *facts = NULL;
    if (ifm_file_exists(path) && ifm_json_read(path, &facts, NULL) == IFM_OK)
        folder = json_string_value(json_object_get(facts, "working_folder"));
    folder = folder == NULL ? NULL : ifm_arena_strdup(arena, folder);
    json_decref(facts);
    return folder;
}

static bool is_this_one(const char *folder)
{
    struct stat here, there;
    return stat(".", &here) == 0 && stat(folder, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

/* The path as it is named from anywhere: its last part need not be there yet. NULL stays NULL. */
static const char *from_anywhere(const char *path, struct ifm_arena *arena)
{
    char whole[PATH_MAX];
    if (path == NULL || path[0] == '\0' || path[0] == '/')
        return path;
    if (realpath(path, whole) != NULL)
        return ifm_arena_strdup(arena, whole);
    char *parent = ifm_path_tidy(ifm_arena_strdup(arena, path));
    const char *base = ifm_arena_strdup(arena, ifm_path_base(parent));
    parent[ifm_path_base(parent) - parent] = '\0';
    if (realpath(parent[0] == '\0' ? "." : parent, whole) != NULL)
        return ifm_path_join(arena, whole, base);
    return getcwd(whole, sizeof whole) == NULL ? path : ifm_path_join(arena, whole, path);
}

/* Every path that these options hold. */
static void name_from_anywhere(struct ifm_options *options, struct ifm_arena *arena)
{
    options->out = from_anywhere(options->out, arena);
    options->dir = from_anywhere(options->dir, arena);
    options->resume = from_anywhere(options->resume, arena);
    options->key = from_anywhere(options->key, arena);
    options->below = from_anywhere(".", arena);
    if (options->ci == NULL)
        return;
    struct ifm_ci *ci = IFM_ARENA_NEW(arena, struct ifm_ci);
    *ci = *options->ci;
    ci->files.markdown = from_anywhere(ci->files.markdown, arena);
    ci->files.junit = from_anywhere(ci->files.junit, arena);
    options->ci = ci;
}

void ifm_cli_go_there(struct ifm_options *options, struct ifm_arena *arena)
{
    const char *dir = options->resume != NULL ? options->resume : options->dir;
    const struct texts texts = dir == NULL ? (struct texts){false, false} : texts_of(dir, arena);
    if (!texts.published && !texts.tokens)
        return;
    const char *folder = started_in(dir, arena);
    if (folder == NULL && !texts.tokens) /* else what is missing ends the command */
        ifm_note("no private.json says where it was first started: its commands run here");
    if (folder == NULL || is_this_one(folder))
        return;
    struct ifm_options moved = *options;
    name_from_anywhere(&moved, arena);
    if (chdir(folder) != 0) {
        ifm_warn("it was first started in %s, which is not there: its commands run here", folder);
        return;
    }
    if (options->resume != NULL)
        ifm_note("this goes on in %s, where it was started", folder);
    else
        ifm_note("this runs in %s, where it was first started; `inferometer run -c %s/config.lock.json` runs it here",
                 folder, dir);
    *options = moved;
}
