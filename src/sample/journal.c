/* The journal: appended under a lock on run.log itself, one write a line. */
#include "sample/journal.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "sample/append.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

struct ifm_journal {
    struct ifm_append file; /* its descriptor holds the lock */
    struct ifm_sha256 last; /* of the last line, without its newline */
};

static const size_t limit = (size_t)1 << 30; /* largest journal that is read, bytes */

static char *journal_path(const char *dir)
{
    struct ifm_text path = {0};
    ifm_text_printf(&path, "%s/run.log", dir);
    return path.data;
}

static enum ifm_status lock(struct ifm_append *file, struct ifm_error *error)
{
    while (flock(file->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return ifm_fail(error, IFM_USAGE, file->path, "wait for it to end, or choose another --out",
                            "another run is at work in this folder");
        if (errno != EINTR) /* this file system cannot, as in ifm_claim_take */
            return IFM_OK;
    }
    return IFM_OK;
}

/* The hash of the last line of whole ones. */
static struct ifm_sha256 hash_last(const char *text, size_t size)
{
    size_t end = size == 0 ? 0 : size - 1;
    const char *before = end == 0 ? NULL : memrchr(text, '\n', end);
    const char *start = before == NULL ? text : before + 1;
    return ifm_sha256_bytes(start, (size_t)(text + end - start));
}

static enum ifm_status cut_torn_line(struct ifm_append *file, struct ifm_sha256 *last, struct ifm_error *error)
{
    char *text;
    size_t size;
    IFM_TRY(ifm_file_read(file->path, limit, &text, &size, error));
    size_t whole = ifm_append_whole(text, size);
    *last = hash_last(text, whole);
    free(text);
    return ifm_append_cut(file, (int64_t)whole, error);
}

enum ifm_status ifm_journal_open(const char *dir, struct ifm_journal **out, struct ifm_error *error)
{
    *out = NULL;
    struct ifm_append file;
    IFM_TRY(ifm_append_open(journal_path(dir), O_CREAT, &file, error));
    struct ifm_sha256 last;
    enum ifm_status status = lock(&file, error);
    if (status == IFM_OK)
        status = cut_torn_line(&file, &last, error);
    if (status != IFM_OK) {
        ifm_append_close(&file);
        return status;
    }
    *out = ifm_zeros(1, sizeof **out);
    (*out)->file = file;
    (*out)->last = last;
    return IFM_OK;
}

enum ifm_status ifm_journal_add(struct ifm_journal *journal, const struct ifm_event *event, struct ifm_error *error)
{
    struct ifm_event now = *event;
    json_t *line;
    now.t_ns = ifm_clock_wall_ns();
    IFM_TRY(ifm_event_encode(&now, &line, error));
    /* A line without its link would look edited. */
    if (json_object_set_new(line, "mono_ns", json_integer(ifm_clock_read_ns(CLOCK_MONOTONIC))) != 0 ||
        json_object_set_new(line, "prev", json_string(journal->last.hex)) != 0) {
        json_decref(line);
        return ifm_fail(error, IFM_INTERNAL, "run.log", "end what else runs, then " IFM_GO_ON,
                        "out of memory for a line");
    }
    struct ifm_text text = {0};
    ifm_json_print(line, false, &text);
    const struct ifm_sha256 own = ifm_sha256_bytes(text.data, text.size);
    ifm_text_append(&text, "\n", 1);
    enum ifm_status status = ifm_append_write(&journal->file, text.data, text.size, error);
    if (status == IFM_OK)
        journal->last = own;
    ifm_text_free(&text);
    json_decref(line);
    return status;
}

void ifm_journal_close(struct ifm_journal *journal)
{
    if (journal == NULL)
        return;
    ifm_append_close(&journal->file); /* and with it the lock */
    free(journal);
}

/* ---- reading ---- */

/* A line follows the one before it, whose hash it holds. A journal that an older version began has lines without. */
static enum ifm_status check_link(const json_t *event, const struct ifm_sha256 *before, const char *where,
                                  struct ifm_events *events, bool *any, struct ifm_error *error)
{
    const json_t *prev = json_object_get(event, "prev");
    if (prev == NULL && !*any) {
        events->chained = false;
        return IFM_OK;
    }
    *any = true;
    if (json_is_string(prev) && strcmp(json_string_value(prev), before->hex) == 0)
        return IFM_OK;
    return ifm_fail(error, IFM_INVALID, where, "bring run.log back from a copy, or measure again",
                    "this line does not hold the hash of the one before it: the journal was edited");
}

/* Is a line of another stage than these? As this program writes it; any other line is parsed. */
static bool is_of_others(const char *line, size_t size, const enum ifm_stage *stages, size_t n)
{
    static const char key[] = "\"stage\":\"";
    const char *at = memmem(line, size, key, sizeof key - 1);
    if (at == NULL || n == 0)
        return false;
    at += sizeof key - 1;
    for (size_t i = 0; i < n; i++) {
        const char *name = ifm_stage_name(stages[i]);
        size_t length = strlen(name);
        if ((size_t)(line + size - at) > length && memcmp(at, name, length) == 0 && at[length] == '"')
            return false;
    }
    return true;
}

/* Which events of a journal are wanted; n == 0: all of them. */
struct wanted {
    const enum ifm_stage *stages;
    size_t n;
};

/* Parse the whole lines of `text`. */
static enum ifm_status read_lines(const char *text, size_t size, const struct wanted *wanted, const char *path,
                                  struct ifm_events *events, struct ifm_error *error)
{
    const char *end = text + size;
    size_t line = 1;
    bool any = false;
    struct ifm_sha256 before = ifm_sha256_bytes("", 0);
    events->chained = size > 0;
    for (const char *at = text; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (is_of_others(at, (size_t)(stop - at), wanted->stages, wanted->n)) {
            at = stop + 1;
            continue;
        }
        struct ifm_text where = {0};
        ifm_text_printf(&where, "%s:%zu", path, line);
        json_t *event = NULL;
        enum ifm_status status = ifm_json_parse(at, (size_t)(stop - at), where.data, &event, error);
        if (status == IFM_OK)
            status = ifm_events_add(events, event, where.data, error);
        if (status == IFM_OK && wanted->n == 0) /* who only glances does not hash what it leaves out */
            status = check_link(event, &before, where.data, events, &any, error);
        ifm_text_free(&where);
        json_decref(event);
        IFM_TRY(status);
        before = ifm_sha256_bytes(at, (size_t)(stop - at));
        at = stop + 1;
    }
    return IFM_OK;
}

static enum ifm_status read_wanted(const char *dir, const struct wanted *wanted, struct ifm_arena *arena,
                                   const struct ifm_events **out, struct ifm_error *error)
{
    char *path = journal_path(dir), *text = NULL;
    size_t size = 0;
    struct ifm_events *events = ifm_events_create(arena);
    enum ifm_status status = ifm_file_read(path, limit, &text, &size, error);
    if (status == IFM_OK)
        status = read_lines(text, ifm_append_whole(text, size), wanted, path, events, error);
    if (status == IFM_OK)
        status = ifm_events_seal(events, path, error);
    free(text);
    free(path);
    *out = status == IFM_OK ? events : NULL;
    return status;
}

enum ifm_status ifm_journal_read(const char *dir, struct ifm_arena *arena, const struct ifm_events **out,
                                 struct ifm_error *error)
{
    const struct wanted all = {NULL, 0};
    return read_wanted(dir, &all, arena, out, error);
}

enum ifm_status ifm_journal_glance(const char *dir, const enum ifm_stage *stages, size_t n, struct ifm_arena *arena,
                                   const struct ifm_events **out, struct ifm_error *error)
{
    const struct wanted some = {stages, n};
    return read_wanted(dir, &some, arena, out, error);
}
