/* The manifest: walk the folder, hash, sort; and the same again to check. */
#include "sample/manifest.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEX = 64, MANIFEST_LIMIT = 64 << 20, DEPTH_LIMIT = 16 };

struct hashed_file {
    const char *name; /* relative to the folder */
    struct ifm_sha256 hash;
};

struct listing {
    struct ifm_arena *arena;
    struct hashed_file *entries; /* sorted by name when the listing is made */
    size_t n, capacity;
};

static struct hashed_file *add_entry(struct listing *listing, const char *name)
{
    IFM_ARENA_GROW(listing->arena, listing->entries, listing->n, listing->capacity);
    listing->entries[listing->n] = (struct hashed_file){.name = ifm_arena_strdup(listing->arena, name)};
    return &listing->entries[listing->n++];
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct hashed_file *)left)->name, ((const struct hashed_file *)right)->name);
}

/* ---- the folder ---- */

/* Never listed: hidden and temporary files, private facts, the manifest itself and its signature. */
static bool is_skipped(const char *base)
{
    size_t length = strlen(base);
    return base[0] == '.' || strcmp(base, "private.json") == 0 || strcmp(base, IFM_MANIFEST_NAME) == 0 ||
           strcmp(base, IFM_SIGNATURE_NAME) == 0 || (length >= 4 && strcmp(base + length - 4, ".tmp") == 0);
}

static enum ifm_status walk(const char *dir, const char *prefix, int depth, struct listing *listing,
                            struct ifm_error *error);

static enum ifm_status visit(const char *dir, const char *prefix, const char *base, int depth, struct listing *listing,
                             struct ifm_error *error)
{
    const char *path = ifm_path_join(listing->arena, dir, base);
    const char *name = prefix[0] == '\0' ? base : ifm_path_join(listing->arena, prefix, base);
    struct stat status;
    if (lstat(path, &status) != 0)
        return ifm_file_fail(path, "cannot stat", errno, error);
    if (S_ISDIR(status.st_mode))
        return walk(path, name, depth + 1, listing, error);
    if (!S_ISREG(status.st_mode))
        return ifm_fail(error, IFM_INVALID, path, "replace it by a regular file, or remove it",
                        "is neither a file nor a folder; a manifest cannot hold it");
    if (strpbrk(base, "\n\r\\") != NULL)
        return ifm_fail(error, IFM_INVALID, path, "rename or remove it",
                        "a file name with a line break or a backslash cannot be listed");
    add_entry(listing, name);
    return IFM_OK;
}

static enum ifm_status walk(const char *dir, const char *prefix, int depth, struct listing *listing,
                            struct ifm_error *error)
{
    if (depth > DEPTH_LIMIT)
        return ifm_fail(error, IFM_INVALID, dir, NULL, "folders are nested more than %d deep", DEPTH_LIMIT);
    DIR *folder = opendir(dir);
    if (folder == NULL)
        return ifm_file_fail(dir, "cannot list the folder", errno, error);
    enum ifm_status status = IFM_OK;
    while (status == IFM_OK) {
        errno = 0;
        const struct dirent *item = readdir(folder);
        if (item == NULL) {
            if (errno != 0)
                status = ifm_file_fail(dir, "cannot list the folder", errno, error);
            break;
        }
        if (!is_skipped(item->d_name))
            status = visit(dir, prefix, item->d_name, depth, listing, error);
    }
    closedir(folder);
    return status;
}

/* Names only; hashes are computed later, so that a check can stop at the first wrong name. */
static enum ifm_status list_folder(const char *dir, struct listing *listing, struct ifm_error *error)
{
    *listing = (struct listing){.arena = ifm_arena_create()};
    enum ifm_status status = walk(dir, "", 0, listing, error);
    if (status != IFM_OK)
        ifm_arena_destroy(listing->arena);
    else if (listing->n > 1)
        qsort(listing->entries, listing->n, sizeof *listing->entries, by_name);
    return status;
}

static enum ifm_status hash_entry(const char *dir, struct listing *listing, struct hashed_file *entry,
                                  struct ifm_error *error)
{
    return ifm_sha256_file(ifm_path_join(listing->arena, dir, entry->name), &entry->hash, error);
}

/* ---- writing ---- */

enum ifm_status ifm_manifest_write(const char *dir, struct ifm_error *error)
{
    struct listing listing;
    struct ifm_text text = {0};
    IFM_TRY(list_folder(dir, &listing, error));
    enum ifm_status status = IFM_OK;
    for (size_t i = 0; i < listing.n && status == IFM_OK; i++) {
        struct hashed_file *entry = &listing.entries[i];
        status = hash_entry(dir, &listing, entry, error);
        ifm_text_printf(&text, "%s  %s\n", entry->hash.hex, entry->name);
    }
    if (status == IFM_OK)
        status = ifm_file_write_atomic(ifm_path_join(listing.arena, dir, IFM_MANIFEST_NAME),
                                       text.data == NULL ? "" : text.data, text.size, error);
    ifm_text_free(&text);
    ifm_arena_destroy(listing.arena);
    return status;
}

/* ---- checking ---- */

/* A relative name below the folder that the manifest may hold. */
static bool is_listable(const char *name)
{
    if (name[0] == '\0' || name[0] == '/')
        return false;
    for (const char *part = name; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        if (*part == '/' || *part == '\0' || *part == '.')
            return false;
    }
    return !is_skipped(ifm_path_base(name));
}

static const char hint[] = "remove it if you trust the files: then `inferometer derive` writes it again";

/* Take one line, which ends with a newline, and put its NUL in place of that. */
static enum ifm_status read_line(char *line, char *stop, const char *where, struct listing *out,
                                 struct ifm_error *error)
{
    *stop = '\0';
    if (strlen(line) != (size_t)(stop - line) || stop - line < HEX + 3 || strspn(line, "0123456789abcdef") != HEX ||
        line[HEX] != ' ' || line[HEX + 1] != ' ')
        return ifm_fail(error, IFM_INVALID, where, hint, "not a line of sha256sum: hash, two spaces, name");
    const char *name = line + HEX + 2;
    if (!is_listable(name))
        return ifm_fail(error, IFM_INVALID, where, hint, "\"%s\" may not stand in a manifest", name);
    if (out->n > 0 && strcmp(out->entries[out->n - 1].name, name) >= 0)
        return ifm_fail(error, IFM_INVALID, where, hint, "\"%s\" is listed twice or out of order", name);
    memcpy(add_entry(out, name)->hash.hex, line, HEX);
    return IFM_OK;
}

static enum ifm_status read_lines(char *text, size_t size, const char *path, struct listing *out,
                                  struct ifm_error *error)
{
    size_t line = 1;
    for (char *at = text, *stop; at < text + size; at = stop + 1, line++) {
        const char *where = ifm_arena_printf(out->arena, "%s:%zu", path, line);
        stop = memchr(at, '\n', (size_t)(text + size - at));
        if (stop == NULL)
            return ifm_fail(error, IFM_INVALID, where, NULL, "the last line is cut: it has no newline");
        IFM_TRY(read_line(at, stop, where, out, error));
    }
    return IFM_OK;
}

static enum ifm_status read_manifest(const char *dir, struct listing *out, struct ifm_error *error)
{
    *out = (struct listing){.arena = ifm_arena_create()};
    const char *path = ifm_path_join(out->arena, dir, IFM_MANIFEST_NAME);
    char *text = NULL;
    size_t size = 0;
    enum ifm_status status;
    if (!ifm_file_exists(path))
        status = ifm_fail(error, IFM_INVALID, path,
                          "finish an interrupted run with run --resume, then `inferometer derive` writes it",
                          "there is no manifest: the run was not finished, or the file was removed");
    else
        status = ifm_file_read(path, MANIFEST_LIMIT, &text, &size, error);
    if (status == IFM_OK)
        status = read_lines(text, size, path, out, error);
    free(text);
    if (status != IFM_OK)
        ifm_arena_destroy(out->arena);
    return status;
}

/* What `run` wrote; everything else follows from it. */
static bool is_record(const char *name)
{
    return strcmp(name, "config.lock.json") == 0 || strcmp(name, "plan.json") == 0 || strcmp(name, "run.log") == 0 ||
           strncmp(name, "samples/", 8) == 0;
}

#define RESTORE "bring the file back from a copy, or measure again with `inferometer rerun`"

static enum ifm_status check_entry(const char *dir, const struct hashed_file *listed, struct listing *found,
                                   struct hashed_file *file, struct ifm_error *error)
{
    IFM_TRY(hash_entry(dir, found, file, error));
    if (strcmp(listed->hash.hex, file->hash.hex) == 0)
        return IFM_OK;
    return ifm_fail(
        error, IFM_INVALID, ifm_path_join(found->arena, dir, file->name),
        is_record(file->name) ? RESTORE : "bring the file back from a copy, or `inferometer derive` writes it again",
        "the file has changed: its SHA-256 is %.12s..., the manifest says %.12s...", file->hash.hex, listed->hash.hex);
}

/* Both are sorted: merge them and stop at the first wrong name. */
static enum ifm_status compare(const char *dir, const struct listing *listed, struct listing *found,
                               struct ifm_error *error)
{
    size_t i = 0, j = 0;
    while (i < listed->n || j < found->n) {
        int order = i == listed->n ? 1 : j == found->n ? -1 : by_name(&listed->entries[i], &found->entries[j]);
        if (order < 0)
            return ifm_fail(error, IFM_INVALID, ifm_path_join(found->arena, dir, listed->entries[i].name), RESTORE,
                            "the file is missing; the manifest lists it");
        if (order > 0)
            return ifm_fail(error, IFM_INVALID, ifm_path_join(found->arena, dir, found->entries[j].name), NULL,
                            "the manifest does not list this file");
        IFM_TRY(check_entry(dir, &listed->entries[i++], found, &found->entries[j++], error));
    }
    return IFM_OK;
}

static void keep_record(struct listing *listing)
{
    size_t kept = 0;
    for (size_t i = 0; i < listing->n; i++)
        if (is_record(listing->entries[i].name))
            listing->entries[kept++] = listing->entries[i];
    listing->n = kept;
}

enum ifm_status ifm_manifest_check(const char *dir, bool record_only, struct ifm_error *error)
{
    struct listing listed, found;
    IFM_TRY(read_manifest(dir, &listed, error));
    enum ifm_status status = list_folder(dir, &found, error);
    if (status == IFM_OK) {
        if (record_only) {
            keep_record(&listed);
            keep_record(&found);
        }
        status = compare(dir, &listed, &found, error);
        ifm_arena_destroy(found.arena);
    }
    ifm_arena_destroy(listed.arena);
    return status;
}

enum ifm_status ifm_manifest_check_file(const char *dir, const char *name, struct ifm_error *error)
{
    struct listing listed;
    struct hashed_file file = {.name = name};
    IFM_TRY(read_manifest(dir, &listed, error));
    const struct hashed_file *entry =
        listed.n == 0 ? NULL : bsearch(&file, listed.entries, listed.n, sizeof *listed.entries, by_name);
    const char *path = ifm_path_join(listed.arena, dir, listed.n == 0 ? "manifest.sha256" : name);
    enum ifm_status status = entry != NULL ? check_entry(dir, entry, &listed, &file, error)
                             : listed.n == 0
                                 ? ifm_fail(error, IFM_INVALID, path, hint, "the manifest is empty")
                                 : ifm_fail(error, IFM_INVALID, path, NULL, "the manifest does not list this file");
    ifm_arena_destroy(listed.arena);
    return status;
}

enum ifm_status ifm_manifest_names(const char *dir, struct ifm_arena *arena, const char *const **names, size_t *n,
                                   struct ifm_error *error)
{
    struct listing found;
    IFM_TRY(list_folder(dir, &found, error));
    const char **list = IFM_ARENA_ARRAY(arena, const char *, found.n + 1);
    for (size_t i = 0; i < found.n; i++)
        list[i] = ifm_arena_strdup(arena, found.entries[i].name);
    *names = list;
    *n = found.n;
    ifm_arena_destroy(found.arena);
    return IFM_OK;
}
