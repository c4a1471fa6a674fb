/* Verify: what the files say against what the record gives (same.h), file by file.
 *
 * Sentences are compared where this very program published the folder. Another version may say the same numbers in
 * other sentences: all else of its tables is compared, and nothing of it may be missing; its reports are left out, and
 * the caller is told.
 */
#include "base/file.h"
#include "publish/compose.h"
#include "publish/same.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct verification {
    const struct ifm_publication *publication;
    struct ifm_arena *arena;
    struct ifm_verified *out;
    bool own; /* this very program published the folder */
    bool words_left_out;
    const char **names; /* of the published files */
    size_t n, capacity;
};

#define WRITES_ANEW "`inferometer derive` writes it anew"

static enum ifm_status missing(const char *name, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INVALID, name, WRITES_ANEW, "%s is missing", name);
}

static enum ifm_status verify_tree(struct verification *v, const char *name, const json_t *file, const json_t *record,
                                   struct ifm_error *error)
{
    struct ifm_same same = {.file = name, .words = true, .arena = v->arena};
    enum ifm_status status = ifm_same_trees(&same, file, record, error);
    if (status == IFM_OK || v->own)
        return status;
    v->words_left_out = true;
    same.words = false;
    return ifm_same_trees(&same, file, record, error);
}

/* Numbers of other definitions are neither right nor wrong here. */
static enum ifm_status check_definitions(const json_t *file, const json_t *record, struct ifm_error *error)
{
    json_int_t was = json_integer_value(json_object_get(file, "schema"));
    json_int_t is = json_integer_value(json_object_get(record, "schema"));
    if (was == is || was <= 0)
        return IFM_OK;
    return ifm_fail(
        error, IFM_INVALID, "derived.json", WRITES_ANEW,
        "its numbers follow the definitions of schema %lld, and this program's are those of schema %lld: they "
        "cannot be compared",
        (long long)was, (long long)is);
}

/* The first file also says who published them all. */
static enum ifm_status verify_json(struct verification *v, const struct ifm_published *published,
                                   struct ifm_error *error)
{
    json_t *file = NULL;
    const char *path = ifm_path_join(v->arena, v->publication->dir, published->name);
    enum ifm_status status =
        ifm_file_exists(path) ? ifm_json_read(path, &file, error) : missing(published->name, error);
    if (status == IFM_OK && published->kind == IFM_PUBLISHED_NUMBERS)
        status = check_definitions(file, published->tree, error);
    if (status == IFM_OK && published->kind == IFM_PUBLISHED_NUMBERS)
        v->own = ifm_publisher_take(file, v->out->publisher);
    if (status == IFM_OK)
        status = verify_tree(v, published->name, file, published->tree, error);
    json_decref(file);
    return status;
}

/* What another version wrote, row by row. */
static enum ifm_status verify_rows(const struct ifm_same *same, const char *text, size_t size,
                                   const struct ifm_text *record, struct ifm_error *error)
{
    json_t *file = ifm_same_table(text, size), *rows = ifm_same_table(record->data, record->size);
    enum ifm_status status = file == NULL
                                 ? ifm_fail(error, IFM_INVALID, same->file, WRITES_ANEW, "%s is no table", same->file)
                                 : ifm_same_trees(same, file, rows, error);
    json_decref(file);
    json_decref(rows);
    return status;
}

static void leave_out(struct verification *v, const char *name)
{
    const size_t used = strlen(v->out->left_out);
    snprintf(v->out->left_out + used, sizeof v->out->left_out - used, ", %s", name);
}

/* Where another version wrote it: of a table the rows, and of a report, which is all words, nothing. */
static enum ifm_status verify_text(struct verification *v, const struct ifm_published *published,
                                   struct ifm_error *error)
{
    static const size_t limit = (size_t)1 << 30;
    char *file = NULL;
    size_t size = 0;
    struct ifm_same same = {.file = published->name, .words = true, .arena = v->arena};
    const char *path = ifm_path_join(v->arena, v->publication->dir, published->name);
    IFM_TRY(ifm_file_exists(path) ? ifm_file_read(path, limit, &file, &size, error) : missing(published->name, error));
    enum ifm_status status = ifm_same_texts(&same, file, size, published->text, error);
    if (status == IFM_INVALID && !v->own && published->kind != IFM_PUBLISHED_SERIES) {
        v->words_left_out = true;
        same.words = false;
        if (published->kind == IFM_PUBLISHED_WORDS)
            leave_out(v, published->name);
        status =
            published->kind == IFM_PUBLISHED_TABLE ? verify_rows(&same, file, size, published->text, error) : IFM_OK;
    }
    free(file);
    return status;
}

static enum ifm_status verify_file(void *context, const struct ifm_published *file, struct ifm_error *error)
{
    struct verification *v = context;
    IFM_ARENA_GROW(v->arena, v->names, v->n, v->capacity);
    v->names[v->n++] = ifm_arena_strdup(v->arena, file->name);
    return file->tree != NULL ? verify_json(v, file, error) : verify_text(v, file, error);
}

enum ifm_status ifm_publish_verify(const struct ifm_publication *publication, struct ifm_verified *out,
                                   struct ifm_error *error)
{
    IFM_TRY(ifm_compose_check(publication, error));
    struct verification v = {.publication = publication, .arena = ifm_arena_create(), .out = out};
    enum ifm_status status = ifm_published_each(publication, v.arena, verify_file, &v, error);
    if (status == IFM_OK)
        status = ifm_published_strays(publication, error);
    if (status == IFM_OK)
        status = ifm_published_others(publication, v.names, v.n, out->others, error);
    out->own = v.own;
    out->words = !v.words_left_out;
    ifm_arena_destroy(v.arena);
    return status;
}
