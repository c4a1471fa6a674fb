/* The state file of a lock: the value of every knob, written before the knob is changed.
 *
 * {"schema": 1, "pid", "boot_id", "when", "knobs": [{"knob", "target", "id", "before", "wanted"}]}, atomically replaced
 * and synced. While it exists, knobs may be locked. The process that works on it holds a flock on FILE.lock beside it,
 * so that the kernel knows whether that process is alive. */
#include "base/file.h"
#include "host/probe.h"
#include "lock/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { SCHEMA = 1, MOST_KNOBS = 65536 };

static enum ifm_status join(char path[static IFM_LOCK_PATH], const char *folder, const char *rest,
                            struct ifm_error *error)
{
    if (snprintf(path, IFM_LOCK_PATH, "%s%s", folder, rest) < IFM_LOCK_PATH - 64)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, "--state", "choose a shorter name", "the name of the state file is too long");
}

enum ifm_status ifm_lock_file(char path[static IFM_LOCK_PATH], struct ifm_error *error)
{
    const char *named = getenv("INFEROMETER_LOCKS"), *folder = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (named != NULL && named[0] != '\0')
        return join(path, named, "", error);
    if (folder != NULL && folder[0] == '/') /* the XDG specification ignores relative ones */
        return join(path, folder, "/inferometer/locks.json", error);
    if (home != NULL && home[0] == '/')
        return join(path, home, "/.local/state/inferometer/locks.json", error);
    return ifm_fail(
        error, IFM_USAGE, "--state", "name a file with --state FILE",
        "none of INFEROMETER_LOCKS, XDG_STATE_HOME and HOME is set, so there is no place for the state file");
}

static enum ifm_status make_folder(const char *state, struct ifm_error *error)
{
    char folder[IFM_LOCK_PATH];
    snprintf(folder, sizeof folder, "%s", state);
    char *slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder)
        return IFM_OK;
    *slash = '\0';
    return ifm_dir_exists(folder) ? IFM_OK : ifm_dir_create_all(folder, error);
}

enum ifm_status ifm_lock_claim(const char *state, int *fd, struct ifm_error *error)
{
    char path[IFM_LOCK_PATH];
    IFM_TRY(join(path, state, ".lock", error));
    IFM_TRY(make_folder(state, error));
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (*fd < 0)
        return ifm_fail(error, IFM_USAGE, state, "choose a folder that you may write to with --state FILE",
                        "cannot write the state file: %s; nothing was changed", strerror(errno));
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return IFM_OK;
    close(*fd);
    *fd = -1;
    return ifm_fail(error, IFM_USAGE, state, "end that process (it puts everything back), or wait for it",
                    "another inferometer holds these locks now; nothing was changed");
}

static void boot_id(const char *root, char id[static IFM_LOCK_TEXT])
{
    if (!ifm_probe_line(root, id, IFM_LOCK_TEXT, "/proc/sys/kernel/random/boot_id"))
        id[0] = '\0';
}

enum ifm_status ifm_lock_file_write(const char *state, const char *root, const struct ifm_lock_row *rows, size_t n,
                                    struct ifm_error *error)
{
    char boot[IFM_LOCK_TEXT], when[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    boot_id(root, boot);
    if (gmtime_r(&now, &parts) != NULL)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
    json_t *knobs = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(knobs, json_pack("{s:s, s:s, s:s, s:s, s:s}", "knob", rows[i].kind->knob, "target",
                                               rows[i].target, "id", rows[i].id, "before", rows[i].before, "wanted",
                                               rows[i].wanted));
    bool whole = json_array_size(knobs) == n;
    json_t *file = json_pack("{s:i, s:I, s:s, s:s, s:o}", "schema", SCHEMA, "pid", (json_int_t)getpid(), "boot_id",
                             boot, "when", when, "knobs", knobs);
    enum ifm_status status = file == NULL || !whole ? ifm_fail(error, IFM_INTERNAL, state, "", "out of memory")
                                                    : ifm_json_write(state, file, error);
    json_decref(file);
    return status;
}

static const struct ifm_lock_kind *find_kind(const char *knob)
{
    static const struct ifm_lock_kind *const kinds[] = {
        &ifm_lock_persistence,   &ifm_lock_power_limit,   &ifm_lock_memory_clock, &ifm_lock_gpu_clock,
        &ifm_lock_frequency_min, &ifm_lock_frequency_max, &ifm_lock_governor,     &ifm_lock_turbo,
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i]->knob, knob) == 0)
            return kinds[i];
    return NULL;
}

static enum ifm_status copy(const json_t *knob, const char *key, const char *where, char *out, size_t size,
                            struct ifm_error *error)
{
    const char *text;
    IFM_TRY(ifm_json_get_string(knob, key, where, &text, error));
    if (snprintf(out, size, "%s", text) >= (int)size)
        return ifm_fail(error, IFM_INVALID, where, "", "the text of \"%s\" is too long", key);
    return IFM_OK;
}

/* Targets become parts of paths. */
static bool is_target(const struct ifm_lock_row *row)
{
    const char *prefix = row->kind->on_gpu ? "gpu" : "cpu";
    if (row->kind == &ifm_lock_turbo)
        return strcmp(row->target, "cpus") == 0;
    if (strncmp(row->target, prefix, 3) != 0)
        return false;
    size_t digits = strspn(row->target + 3, "0123456789");
    return digits > 0 && digits < 9 && row->target[3 + digits] == '\0';
}

static enum ifm_status read_row(const json_t *knob, const char *where, struct ifm_lock_row *row,
                                struct ifm_error *error)
{
    const char *name;
    *row = (struct ifm_lock_row){0};
    IFM_TRY(ifm_json_get_string(knob, "knob", where, &name, error));
    row->kind = find_kind(name);
    if (row->kind == NULL)
        return ifm_fail(error, IFM_INVALID, where, "", "there is no knob \"%.40s\"", name);
    IFM_TRY(copy(knob, "target", where, row->target, sizeof row->target, error));
    IFM_TRY(copy(knob, "id", where, row->id, sizeof row->id, error));
    IFM_TRY(copy(knob, "before", where, row->before, sizeof row->before, error));
    IFM_TRY(copy(knob, "wanted", where, row->wanted, sizeof row->wanted, error));
    if (!is_target(row) || row->before[0] == '\0' || row->wanted[0] == '\0')
        return ifm_fail(error, IFM_INVALID, where, "", "%s of \"%.40s\" is no knob with its values", name, row->target);
    return IFM_OK;
}

static enum ifm_status read_rows(const json_t *file, const char *state, const char *root, struct ifm_arena *arena,
                                 struct ifm_lock_file *out, struct ifm_error *error)
{
    const json_t *knobs;
    const char *boot;
    int64_t pid;
    char here[IFM_LOCK_TEXT];
    IFM_TRY(ifm_json_check_schema(file, SCHEMA, state, "use the version of inferometer that wrote it", error));
    IFM_TRY(ifm_json_get_string(file, "boot_id", state, &boot, error));
    IFM_TRY(ifm_json_get_i64(file, "pid", state, &pid, error));
    IFM_TRY(ifm_json_get_array(file, "knobs", state, &knobs, error));
    boot_id(root, here);
    out->pid = (long)pid;
    out->other_boot = boot[0] != '\0' && here[0] != '\0' && strcmp(boot, here) != 0;
    if (json_array_size(knobs) > MOST_KNOBS)
        return ifm_fail(error, IFM_INVALID, state, "", "it names %zu knobs", json_array_size(knobs));
    out->rows = IFM_ARENA_ARRAY(arena, struct ifm_lock_row, json_array_size(knobs));
    for (; out->n < json_array_size(knobs); out->n++)
        IFM_TRY(read_row(json_array_get(knobs, out->n), state, &out->rows[out->n], error));
    return IFM_OK;
}

enum ifm_status ifm_lock_file_read(const char *state, const char *root, struct ifm_arena *arena,
                                   struct ifm_lock_file *out, struct ifm_error *error)
{
    json_t *file = NULL;
    *out = (struct ifm_lock_file){0};
    if (access(state, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return IFM_OK;
    enum ifm_status status = ifm_json_read(state, &file, error);
    if (status == IFM_OK)
        status = read_rows(file, state, root, arena, out, error);
    json_decref(file);
    out->present = status == IFM_OK;
    if (status == IFM_OK)
        return IFM_OK;
    *out = (struct ifm_lock_file){0};
    error->code = IFM_INVALID;
    ifm_error_hint(error, "nothing was changed; put the knobs back by hand (docs/locks.md), then remove the file");
    return IFM_INVALID;
}

enum ifm_status ifm_lock_file_remove(const char *state, struct ifm_error *error)
{
    if (unlink(state) != 0 && errno != ENOENT)
        return ifm_fail(error, IFM_INTERNAL, state, "remove it by hand: nothing is locked any more",
                        "the state file cannot be removed: %s", strerror(errno));
    return ifm_file_sync_name(state, error);
}
