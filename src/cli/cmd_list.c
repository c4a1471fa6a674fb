/* list: the run folders below a folder. Reads only, also folders that look broken. A verdict that it prints is held to
 * the hashes of its manifest, and not to the record: that takes `verify`. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/text.h"
#include "model/plan_json.h"
#include "publish/listing.h"
#include "sample/journal.h"
#include "sample/manifest.h"
#include "story/folder.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DEEPEST = 8, NAMES_WIDTH = 22 };

struct listed_run {
    const char *dir;   /* below the root */
    const char *state; /* finished, running, interrupted, not derived, changed, of another version, broken */
    const char *outcome, *why;
    bool unsound; /* exit code 3 or 4: its numbers must not be used */
    const char *config_hash;
    int64_t start_ns; /* 0 = unknown */
    uint64_t bytes;
    const char **workloads, **cells, **arms;
    size_t n_workloads, n_cells, n_arms;
};

struct found {
    struct ifm_arena *arena;
    struct listed_run *items;
    size_t n, capacity;
};

static const struct ifm_listing_column columns[] = {
    {"run", "run", true},    {"time", "time (UTC)", true}, {"workloads", "workload", true},
    {"cells", NULL, false},  {"arms", "arms", true},       {"state", "state", true},
    {"outcome", NULL, true}, {"config_hash", NULL, true},  {"bytes", "size", false},
    {"reason", NULL, true},  {"", "notes", true},
};

/* ---- one folder ---- */

/* Of the folder `name` below the open folder `at`: no path is made and walked anew for each of its files. */
static uint64_t size_of(int at, const char *name, int depth)
{
    uint64_t bytes = 0;
    struct dirent *item;
    struct stat info;
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
    DIR *open = fd < 0 ? NULL : fdopendir(fd);
    while (open != NULL && (item = readdir(open)) != NULL) {
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0 ||
            fstatat(fd, item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISREG(info.st_mode))
            bytes += (uint64_t)info.st_size;
        else if (S_ISDIR(info.st_mode) && depth < DEEPEST)
            bytes += size_of(fd, item->d_name, depth + 1);
    }
    if (open != NULL)
        closedir(open);
    else if (fd >= 0)
        close(fd);
    return bytes;
}

static void break_entry(struct found *found, struct listed_run *entry, const struct ifm_error *error)
{
    entry->state = "broken";
    entry->why = ifm_arena_printf(found->arena, "%s%s%s", ifm_path_base(error->where),
                                  error->where[0] == '\0' ? "" : ": ", error->message);
}

static void add_name(const char **names, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(names[i], name) == 0)
            return;
    names[(*n)++] = name;
}

static enum ifm_status read_plan(struct found *found, const char *dir, struct listed_run *entry,
                                 struct ifm_error *error)
{
    json_t *json;
    struct ifm_plan *plan;
    char *path = ifm_path_join(found->arena, dir, "plan.json");
    IFM_TRY(ifm_json_read(path, &json, error));
    json_int_t schema = json_integer_value(json_object_get(json, "schema"));
    enum ifm_status status = ifm_plan_from_json(json, path, found->arena, &plan, error);
    json_decref(json);
    if (schema > 0 && schema != IFM_PLAN_SCHEMA) {
        entry->state = "of another version";
        entry->why =
            ifm_arena_printf(found->arena, "schema %lld; this version reads %d", (long long)schema, IFM_PLAN_SCHEMA);
        return IFM_OK;
    }
    IFM_TRY(status);
    size_t most = 1;
    for (size_t c = 0; c < plan->n_cells; c++)
        most += plan->cells[c].n_arms;
    entry->config_hash = plan->config_hash;
    entry->cells = IFM_ARENA_ARRAY(found->arena, const char *, plan->n_cells + 1);
    entry->workloads = IFM_ARENA_ARRAY(found->arena, const char *, plan->n_cells + 1);
    entry->arms = IFM_ARENA_ARRAY(found->arena, const char *, most);
    for (size_t c = 0; c < plan->n_cells; c++) {
        const struct ifm_cell *cell = &plan->cells[c];
        entry->cells[entry->n_cells++] = cell->name;
        add_name(entry->workloads, &entry->n_workloads, cell->workload);
        for (size_t a = 0; a < cell->n_arms; a++)
            if (cell->arms[a].role != IFM_ROLE_CEILING)
                add_name(entry->arms, &entry->n_arms, cell->arms[a].name);
    }
    return IFM_OK;
}

/* Finished when the last session ended with run_done. */
static enum ifm_status read_log(struct found *found, const char *dir, struct listed_run *entry, struct ifm_error *error)
{
    const struct ifm_events *events;
    const char *reason = "the run ended without an end event: it was killed, or the machine stopped";
    bool done = false;
    static const enum ifm_stage stages[] = {IFM_STAGE_run_start, IFM_STAGE_interrupted, IFM_STAGE_run_done,
                                            IFM_STAGE_resume};
    IFM_TRY(ifm_journal_glance(dir, stages, sizeof stages / sizeof stages[0], found->arena, &events, error));
    for (size_t i = 0; i < events->n; i++) {
        const struct ifm_event *event = &events->items[i];
        if (event->stage == IFM_STAGE_run_start)
            entry->start_ns = event->t_ns;
        if (event->stage == IFM_STAGE_interrupted)
            reason = IFM_FACTS(event, interrupted)->reason;
        done = event->stage == IFM_STAGE_run_done || (done && event->stage != IFM_STAGE_resume);
    }
    entry->state = done ? "finished" : "interrupted";
    if (!done)
        entry->why = ifm_arena_printf(found->arena, "%s; go on with `inferometer run --resume %s`", reason, entry->dir);
    return IFM_OK;
}

/* The verdict is said as the file has it, if that and the files it is of are those that were published. */
static bool is_as_published(struct found *found, const char *dir, struct listed_run *entry)
{
    static const char *const files[] = {"config.lock.json", "plan.json", "run.log", "verdict.json"};
    struct ifm_error error = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (ifm_manifest_check_file(dir, files[i], &error) == IFM_OK)
            continue;
        if (strcmp(entry->state, "finished") != 0)
            return false; /* resumed since */
        entry->state = "changed";
        const bool again = strcmp(files[i], "verdict.json") == 0; /* a `derive` writes it before the manifest */
        const char *anew =
            again ? ifm_arena_printf(found->arena, " `inferometer derive %s` writes it anew if one was cut short,",
                                     entry->dir)
                  : "";
        entry->why = ifm_arena_printf(found->arena, "%s: %s;%s `inferometer verify %s` says more",
                                      ifm_path_base(error.where), error.message, anew, entry->dir);
        return false;
    }
    return true;
}

static enum ifm_status read_verdict(struct found *found, const char *dir, struct listed_run *entry,
                                    struct ifm_error *error)
{
    json_t *json;
    const char *outcome;
    int64_t exit_code = 0;
    char *path = ifm_path_join(found->arena, dir, "verdict.json");
    const bool derived = ifm_file_exists(path) &&
                         ifm_file_exists(ifm_path_join(found->arena, dir, IFM_MANIFEST_NAME)); /* which is the last */
    if (!derived) {
        if (strcmp(entry->state, "finished") == 0) {
            entry->state = "not derived";
            entry->why = ifm_arena_printf(found->arena, "run `inferometer derive %s` for its numbers", entry->dir);
        }
        return IFM_OK;
    }
    if (!is_as_published(found, dir, entry))
        return IFM_OK;
    IFM_TRY(ifm_json_read(path, &json, error));
    enum ifm_status status = ifm_json_get_string(json, "outcome", path, &outcome, error);
    if (status == IFM_OK)
        status = ifm_json_get_i64(json, "exit_code", path, &exit_code, error);
    if (status == IFM_OK)
        entry->outcome = ifm_arena_strdup(found->arena, outcome);
    if (status == IFM_OK && strcmp(outcome, "not_gated") == 0 && exit_code != IFM_OK) {
        const char *reason = json_string_value(json_array_get(json_object_get(json, "reasons"), 0));
        entry->unsound = true;
        entry->why = ifm_arena_strdup(found->arena, reason == NULL ? "" : reason);
    }
    json_decref(json);
    return status;
}

static enum ifm_status read_lock(struct found *found, const char *dir, struct listed_run *entry,
                                 struct ifm_error *error)
{
    json_t *json;
    const char *hash;
    char *path = ifm_path_join(found->arena, dir, "config.lock.json");
    IFM_TRY(ifm_json_read(path, &json, error));
    enum ifm_status status = ifm_json_get_string(json, "hash", path, &hash, error);
    if (status == IFM_OK)
        entry->config_hash = ifm_arena_strdup(found->arena, hash);
    json_decref(json);
    return status;
}

static void read_folder(struct found *found, const char *dir)
{
    struct ifm_error error = {0};
    IFM_ARENA_GROW(found->arena, found->items, found->n, found->capacity);
    struct listed_run *entry = &found->items[found->n++];
    *entry = (struct listed_run){.dir = dir, .state = "finished", .outcome = "", .why = "", .config_hash = ""};
    entry->bytes = size_of(AT_FDCWD, dir, 0);
    bool busy = false;
    if (read_lock(found, dir, entry, &error) != IFM_OK || read_plan(found, dir, entry, &error) != IFM_OK) {
        break_entry(found, entry, &error);
        return;
    }
    if (strcmp(entry->state, "finished") != 0)
        return;
    if (!ifm_file_exists(ifm_path_join(found->arena, dir, "run.log"))) {
        entry->state = "interrupted";
        entry->why = "nothing was recorded";
        return;
    }
    enum ifm_status status = ifm_folder_is_busy(dir, &busy, &error);
    if (busy) {
        entry->state = "running";
        entry->why = "a run is at work in this folder";
        return;
    }
    if (status != IFM_OK || read_log(found, dir, entry, &error) != IFM_OK ||
        read_verdict(found, dir, entry, &error) != IFM_OK)
        break_entry(found, entry, &error);
}

/* Links are not followed, so that a loop ends. */
static void walk(struct found *found, const char *dir, int depth)
{
    struct dirent *item;
    struct stat info;
    if (ifm_file_exists(ifm_path_join(found->arena, dir, "config.lock.json"))) {
        read_folder(found, dir);
        return;
    }
    DIR *open = depth < DEEPEST ? opendir(dir) : NULL;
    while (open != NULL && (item = readdir(open)) != NULL) {
        char *path = ifm_path_join(found->arena, dir, item->d_name);
        if (strcmp(dir, ".") == 0) /* "./x" is "x" */
            path = ifm_arena_strdup(found->arena, item->d_name);
        if (item->d_name[0] == '.' || (item->d_type != DT_DIR && item->d_type != DT_UNKNOWN))
            continue;
        if (item->d_type == DT_DIR || (lstat(path, &info) == 0 && S_ISDIR(info.st_mode)))
            walk(found, path, depth + 1);
    }
    if (open != NULL)
        closedir(open);
}

/* ---- rows ---- */

static int newest_first(const void *a, const void *b)
{
    const struct listed_run *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns > y->start_ns ? -1 : 1;
    return strcmp(x->dir, y->dir);
}

static json_t *names_json(const char *const *names, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(names[i]));
    return list;
}

/* As many names as fit into a column; machine-readable formats have all of them. */
static const char *names_text(const char *const *names, size_t n, struct ifm_arena *arena)
{
    const char *text = n == 0 ? "" : names[0];
    size_t shown = n == 0 ? 0 : 1;
    for (; shown < n && strlen(text) + 2 + strlen(names[shown]) <= NAMES_WIDTH; shown++)
        text = ifm_arena_printf(arena, "%s, %s", text, names[shown]);
    return n > shown ? ifm_arena_printf(arena, "%s, %zu more", text, n - shown) : text;
}

/* One word: the state of the run or, when it is finished, its verdict. */
static const char *state_text(const struct listed_run *entry)
{
    if (strcmp(entry->state, "finished") != 0)
        return entry->state;
    return entry->unsound                             ? "invalid"
           : strcmp(entry->outcome, "not_gated") == 0 ? "not gated"
           : entry->outcome[0] == '\0'                ? entry->state
                                                      : entry->outcome;
}

static const char *time_text(int64_t t_ns, struct ifm_arena *arena)
{
    char text[32] = "";
    struct tm utc;
    time_t seconds = (time_t)(t_ns / 1000000000);
    if (t_ns > 0 && gmtime_r(&seconds, &utc) != NULL)
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc);
    return ifm_arena_strdup(arena, text);
}

static void add_row(struct ifm_listing *listing, const struct listed_run *entry)
{
    struct ifm_arena *arena = listing->arena;
    char size[48];
    const char *when = time_text(entry->start_ns, arena);
    ifm_listing_row(listing);
    ifm_listing_set_text(listing, "run", entry->dir);
    ifm_listing_set(listing, "time", when[0] == '\0' ? json_null() : json_string(when),
                    ifm_arena_printf(arena, "%.16s", when)); /* to the minute */
    ifm_listing_set(listing, "workloads", names_json(entry->workloads, entry->n_workloads),
                    names_text(entry->workloads, entry->n_workloads, arena));
    ifm_listing_set(listing, "cells", names_json(entry->cells, entry->n_cells), NULL);
    ifm_listing_set(listing, "arms", names_json(entry->arms, entry->n_arms),
                    names_text(entry->arms, entry->n_arms, arena));
    ifm_listing_set(listing, "state", json_string(entry->state), state_text(entry));
    ifm_listing_set(listing, "outcome", json_string(entry->outcome), NULL);
    ifm_listing_set(listing, "config_hash", json_string(entry->config_hash), NULL);
    ifm_listing_set(listing, "bytes", json_integer((json_int_t)entry->bytes),
                    ifm_format_human((double)entry->bytes, "B", size));
    ifm_listing_set(listing, "reason", json_string(entry->why), NULL);
    if (entry->why[0] != '\0')
        ifm_listing_show_note(listing, entry->why);
}

/* Of outcomes that people read: machines have `verify` for each folder. */
static void say_whose(struct ifm_listing *listing, const struct found *found)
{
    for (size_t i = 0; i < found->n; i++)
        if (found->items[i].outcome[0] != '\0') {
            ifm_listing_remark(listing, "read unchecked: `inferometer verify RUN` checks");
            break;
        }
}

static void print_found(struct found *found, const char *root, enum ifm_format format)
{
    struct ifm_text text = {0};
    if (found->n > 1)
        qsort(found->items, found->n, sizeof *found->items, newest_first);
    struct ifm_listing listing = ifm_listing_begin(columns, sizeof columns / sizeof columns[0], found->arena);
    for (size_t i = 0; i < found->n; i++)
        add_row(&listing, &found->items[i]);
    say_whose(&listing, found);
    ifm_cli_listing(&listing, format, &text);
    if (found->n == 0 && (format == IFM_FORMAT_TABLE || format == IFM_FORMAT_MD))
        printf("no run folders below %s; `%s run` makes one\n", ifm_text_plain(root, found->arena), ifm_called_as());
    ifm_cli_print(&text, stdout);
    ifm_listing_end(&listing);
}

enum ifm_status ifm_cmd_list(const struct ifm_given *given, struct ifm_error *error)
{
    const char *root = given->n_words > 0 ? given->words[0] : "runs";
    IFM_TRY(ifm_given_words(given, 1, "list one folder at a time", error));
    if (given->n_words == 1 && !ifm_dir_exists(root))
        return ifm_fail(error, IFM_USAGE, root, "name the folder that holds the run folders",
                        ifm_file_exists(root) ? "not a folder" : "there is no such folder");
    struct found found = {.arena = given->arena};
    walk(&found, root, 0);
    print_found(&found, root, given->format);
    return IFM_OK;
}
