/* Which run folders there are to be named: the hint of an error about one that is not there. */
#include "base/file.h"
#include "story/folder.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SHOWN = 3, LONGEST = 120 };

struct newest {
    size_t n;               /* run folders in all */
    char names[SHOWN][256]; /* of the newest, which comes first */
    struct timespec times[SHOWN];
};

static bool is_newer(struct timespec a, const char *a_name, struct timespec b, const char *b_name)
{
    if (a.tv_sec != b.tv_sec)
        return a.tv_sec > b.tv_sec;
    return a.tv_nsec != b.tv_nsec ? a.tv_nsec > b.tv_nsec : strcmp(a_name, b_name) > 0;
}

static void add(struct newest *all, const char *name, struct timespec time)
{
    size_t at = all->n < SHOWN ? all->n : SHOWN;
    all->n++;
    while (at > 0 && is_newer(time, name, all->times[at - 1], all->names[at - 1]))
        at--;
    if (at == SHOWN || strlen(name) >= sizeof *all->names)
        return;
    for (size_t i = SHOWN - 1; i > at; i--) {
        all->times[i] = all->times[i - 1];
        memcpy(all->names[i], all->names[i - 1], sizeof *all->names);
    }
    all->times[at] = time;
    snprintf(all->names[at], sizeof *all->names, "%s", name);
}

static void find(const char *dir, struct newest *out)
{
    char path[1400];
    struct stat lock;
    const struct dirent *entry;
    DIR *folder = opendir(dir);
    *out = (struct newest){0};
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        int length = snprintf(path, sizeof path, "%s/%s/config.lock.json", dir, entry->d_name);
        if (entry->d_name[0] != '.' && length < (int)sizeof path && stat(path, &lock) == 0)
            add(out, entry->d_name, lock.st_mtim);
    }
    if (folder != NULL)
        closedir(folder);
}

/* The folder that `path` lies in; "." where it names none. */
static const char *parent_of(const char *path, struct ifm_arena *arena)
{
    size_t n = strlen(path);
    while (n > 0 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n == 0 ? "." : ifm_arena_printf(arena, "%.*s", (int)n, path);
}

static bool name_them(const char *dir, struct ifm_error *error)
{
    struct newest all;
    find(dir, &all);
    if (all.n == 0)
        return false;
    char words[SHOWN * (LONGEST + 4)] = "";
    bool here = strcmp(dir, ".") == 0;
    for (size_t i = 0; i < SHOWN && i < all.n; i++) {
        size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%.40s%s%.70s", i == 0 ? "" : ", ", here ? "" : dir,
                 here || dir[strlen(dir) - 1] == '/' ? "" : "/", all.names[i]);
    }
    if (all.n > SHOWN)
        ifm_error_hint(error, "the newest of %zu runs: %s; `inferometer list%s%.40s` lists them", all.n, words,
                       strcmp(dir, "runs") == 0 ? "" : " ", strcmp(dir, "runs") == 0 ? "" : dir);
    else
        ifm_error_hint(error, all.n == 1 ? "there is one run: %s" : "there are these runs, the newest first: %s",
                       words);
    return true;
}

enum ifm_status ifm_folder_hint(const char *given, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const char *parent = given == NULL ? "runs" : parent_of(given, arena);
    const char *below = given == NULL ? "" : ifm_path_join(arena, "runs", given);
    bool named = given != NULL && ifm_dir_exists(given) && name_them(given, error);
    if (!named && below[0] != '\0' && ifm_file_exists(ifm_path_join(arena, below, "config.lock.json"))) {
        ifm_error_hint(error, "did you mean %.200s?", below); /* as `list` names it */
        named = true;
    }
    const char *lock = ifm_path_join(arena, parent, "config.lock.json");
    if (!named && given != NULL && ifm_file_exists(lock)) {
        ifm_error_hint(error, "it lies in a run folder: name that, %.200s", parent);
        named = true;
    }
    if (!named && !name_them(parent, error) && !name_them("runs", error))
        ifm_error_hint(error, "there is no run below runs/ yet: `inferometer decode` or `inferometer exec 'COMMAND'` "
                              "makes one");
    ifm_arena_destroy(arena);
    return error->code;
}
