/* The journal: appended under a lock on run.log itself, one write a line. */
#include "sample/journal.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "sample/append.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

struct ifm_journal {
    struct ifm_append file; /* its descriptor holds the lock */
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

static enum ifm_status cut_torn_line(struct ifm_append *file, struct ifm_error *error)
{
    char *text;
    size_t size;
    IFM_TRY(ifm_file_read(file->path, limit, &text, &size, error));
    size_t whole = ifm_append_whole(text, size);
    free(text);
    return ifm_append_cut(file, (int64_t)whole, error);
}

enum ifm_status ifm_journal_open(const char *dir, struct ifm_journal **out, struct ifm_error *error)
{
    *out = NULL;
    struct ifm_append file;
    IFM_TRY(ifm_append_open(journal_path(dir), O_CREAT, &file, error));
    enum ifm_status status = lock(&file, error);
    if (status == IFM_OK)
        status = cut_torn_line(&file, error);
    if (status != IFM_OK) {
        ifm_append_close(&file);
        return status;
    }
    *out = ifm_zeros(1, sizeof **out);
    (*out)->file = file;
    return IFM_OK;
}

enum ifm_status ifm_journal_add_new(struct ifm_journal *journal, const char *stage, bool ok, json_t *meta,
                                    struct ifm_error *error)
{
    json_t *event = json_object();
    bool made = event != NULL && json_object_set_new(event, "t_ns", json_integer(ifm_clock_wall_ns())) == 0 &&
                json_object_set_new(event, "stage", json_string(stage)) == 0 &&
                json_object_set_new(event, "ok", json_boolean(ok)) == 0;
    /* Setting steals the reference even when it fails. */
    made = json_object_set_new(event, "meta", meta == NULL ? json_object() : meta) == 0 && made;
    enum ifm_status status = IFM_OK;
    if (!made || !json_is_object(json_object_get(event, "meta"))) {
        status = ifm_fail(
            error, IFM_INTERNAL, journal->file.path, NULL,
            "stage \"%s\" cannot be written: out of memory, or its name is not UTF-8, or its facts are not an object",
            stage);
    } else {
        struct ifm_text line = {0};
        ifm_json_print(event, false, &line);
        ifm_text_append(&line, "\n", 1);
        status = ifm_append_write(&journal->file, line.data, line.size, error);
        ifm_text_free(&line);
    }
    json_decref(event);
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

static enum ifm_status check_event(const json_t *event, const char *where, struct ifm_error *error)
{
    int64_t t_ns;
    const char *stage;
    bool ok;
    const json_t *meta;
    if (!json_is_object(event))
        return ifm_fail(error, IFM_INVALID, where, "the file was edited or cut; measure again",
                        "the line is not a JSON object");
    IFM_TRY(ifm_json_get_i64(event, "t_ns", where, &t_ns, error));
    IFM_TRY(ifm_json_get_string(event, "stage", where, &stage, error));
    IFM_TRY(ifm_json_get_bool(event, "ok", where, &ok, error));
    return ifm_json_get_object(event, "meta", where, &meta, error);
}

/* Parse the whole lines of `text`. */
static enum ifm_status read_lines(const char *text, size_t size, const char *path, json_t *events,
                                  struct ifm_error *error)
{
    const char *end = text + size;
    size_t line = 1;
    for (const char *at = text; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct ifm_text where = {0};
        ifm_text_printf(&where, "%s:%zu", path, line);
        json_t *event = NULL;
        enum ifm_status status = ifm_json_parse(at, (size_t)(stop - at), where.data, &event, error);
        if (status == IFM_OK)
            status = check_event(event, where.data, error);
        ifm_text_free(&where);
        if (status == IFM_OK && json_array_append(events, event) != 0)
            status = ifm_fail(error, IFM_INTERNAL, path, NULL, "out of memory for an event");
        json_decref(event);
        IFM_TRY(status);
        at = stop + 1;
    }
    return IFM_OK;
}

enum ifm_status ifm_journal_read(const char *dir, json_t **events, struct ifm_error *error)
{
    *events = NULL;
    char *path = journal_path(dir), *text = NULL;
    size_t size = 0;
    json_t *all = json_array();
    enum ifm_status status = ifm_file_read(path, limit, &text, &size, error);
    if (status == IFM_OK)
        status = read_lines(text, ifm_append_whole(text, size), path, all, error);
    free(text);
    free(path);
    if (status == IFM_OK)
        *events = all;
    else
        json_decref(all);
    return status;
}
