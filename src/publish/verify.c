/* Verify: what the files say against what the record gives (same.h), file by file.
 *
 * Words are compared where this very program published the folder. Another version may say the same numbers in other
 * words: of its tables numbers, states and names are compared, its reports are left out, and the caller is told.
 */
#include "base/file.h"
#include "publish/compose.h"
#include "publish/publisher.h"
#include "publish/same.h"
#include <stdlib.h>
#include <string.h>

struct verification {
    const struct ifm_publication *publication;
    struct ifm_arena *arena;
    bool own; /* this very program published the folder */
    bool words_left_out;
};

static enum ifm_status missing(const char *name, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INVALID, name, "`inferometer derive` writes it anew", "%s is missing", name);
}

static enum ifm_status read_json(const struct verification *v, const char *name, json_t **file, struct ifm_error *error)
{
    const char *path = ifm_path_join(v->arena, v->publication->dir, name);
    return ifm_file_exists(path) ? ifm_json_read(path, file, error) : missing(name, error);
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

/* Steals `record`. */
static enum ifm_status verify_json(struct verification *v, const char *name, json_t *record, struct ifm_error *error)
{
    json_t *file = NULL;
    enum ifm_status status = read_json(v, name, &file, error);
    if (status == IFM_OK)
        status = verify_tree(v, name, file, record, error);
    json_decref(file);
    json_decref(record);
    return status;
}

/* The first file: it also says who published them all. */
static enum ifm_status verify_derived(struct verification *v, struct ifm_verified *out, struct ifm_error *error)
{
    json_t *file = NULL, *record = ifm_derived_to_json(v->publication->derived);
    enum ifm_status status = read_json(v, "derived.json", &file, error);
    if (status == IFM_OK) {
        v->own = ifm_publisher_take(file, out->publisher);
        status = verify_tree(v, "derived.json", file, record, error);
    }
    json_decref(file);
    json_decref(record);
    return status;
}

static enum ifm_status read_text(const struct verification *v, const char *name, char **file, size_t *size,
                                 struct ifm_error *error)
{
    static const size_t limit = (size_t)1 << 30;
    const char *path = ifm_path_join(v->arena, v->publication->dir, name);
    return ifm_file_exists(path) ? ifm_file_read(path, limit, file, size, error) : missing(name, error);
}

static enum ifm_status verify_text(const struct verification *v, const char *name, const struct ifm_text *record,
                                   struct ifm_error *error)
{
    char *file = NULL;
    size_t size = 0;
    struct ifm_same same = {.file = name, .words = true, .arena = v->arena};
    enum ifm_status status = read_text(v, name, &file, &size, error);
    if (status == IFM_OK)
        status = ifm_same_texts(&same, file, size, record, error);
    free(file);
    return status;
}

/* A report is all words. */
static enum ifm_status verify_report(struct verification *v, const char *name, const struct ifm_text *record,
                                     struct ifm_error *error)
{
    enum ifm_status status = verify_text(v, name, record, error);
    if (status != IFM_INVALID || v->own || !ifm_file_exists(ifm_path_join(v->arena, v->publication->dir, name)))
        return status;
    v->words_left_out = true;
    return IFM_OK;
}

/* What another version wrote, row by row. */
static enum ifm_status verify_rows(struct verification *v, const char *name, const struct ifm_text *record,
                                   struct ifm_error *error)
{
    char *text = NULL;
    size_t size = 0;
    struct ifm_same same = {.file = name, .words = false, .arena = v->arena};
    IFM_TRY(read_text(v, name, &text, &size, error));
    json_t *file = ifm_same_table(text, size), *rows = ifm_same_table(record->data, record->size);
    enum ifm_status status =
        file == NULL ? ifm_fail(error, IFM_INVALID, name, "`inferometer derive` writes it anew", "%s is no table", name)
                     : ifm_same_trees(&same, file, rows, error);
    v->words_left_out = true;
    json_decref(file);
    json_decref(rows);
    free(text);
    return status;
}

static enum ifm_status verify_table(struct verification *v, const char *name, const struct ifm_text *record,
                                    struct ifm_error *error)
{
    enum ifm_status status = verify_text(v, name, record, error);
    return status != IFM_INVALID || v->own ? status : verify_rows(v, name, record, error);
}

static enum ifm_status verify_compat(struct verification *v, struct ifm_error *error)
{
    const struct ifm_publication *publication = v->publication;
    size_t n = ifm_compat_count_baseline(publication->plan);
    if (ifm_compat_has_elastic_kv(publication->plan))
        IFM_TRY(verify_json(v, "elastic_kv.json", ifm_compat_elastic_kv(publication), error));
    if (n > 0)
        IFM_TRY(verify_json(v, "summary.json", ifm_compat_baseline_summary(publication), error));
    for (size_t i = 0; i < n; i++)
        IFM_TRY(verify_json(v, ifm_arena_printf(v->arena, "config_%02zu.json", i + 1),
                            ifm_compat_baseline_config(publication, i), error));
    return IFM_OK;
}

/* Nobody may put a power.csv beside a record that holds no power. */
static enum ifm_status verify_no_power(const struct verification *v, const struct ifm_power_files *files,
                                       struct ifm_error *error)
{
    bool given = false;
    for (size_t i = 0; i < files->n; i++)
        given |= strcmp(files->list[i].name, "power.csv") == 0;
    if (given || !ifm_file_exists(ifm_path_join(v->arena, v->publication->dir, "power.csv")))
        return IFM_OK;
    return ifm_fail(error, IFM_INVALID, "power.csv", "remove it, or measure with --energy",
                    "power.csv is there, and the record holds no reading of a measured device");
}

static enum ifm_status verify_power(const struct verification *v, struct ifm_error *error)
{
    struct ifm_power_files files;
    enum ifm_status status = ifm_compose_power(v->publication, v->arena, &files, error);
    if (status == IFM_OK)
        status = verify_no_power(v, &files, error);
    for (size_t i = 0; status == IFM_OK && i < files.n; i++)
        status = verify_text(v, files.list[i].name, &files.list[i].text, error);
    ifm_power_files_free(&files);
    return status;
}

static enum ifm_status verify_all(struct verification *v, struct ifm_verified *out, struct ifm_text *text,
                                  struct ifm_error *error)
{
    const struct ifm_publication *publication = v->publication;
    IFM_TRY(verify_derived(v, out, error));
    IFM_TRY(verify_json(v, "verdict.json", ifm_verdict_to_json(publication->verdict, publication->derived), error));
    IFM_TRY(verify_json(v, "metrics.json", ifm_compat_sop(publication), error));
    IFM_TRY(verify_compat(v, error));
    IFM_TRY(verify_power(v, error));
    ifm_compose_csv(publication, text);
    IFM_TRY(verify_table(v, "report.csv", text, error));
    ifm_text_clear(text);
    IFM_TRY(ifm_compose_markdown(publication, text, error));
    IFM_TRY(verify_report(v, "report.md", text, error));
    ifm_text_clear(text);
    IFM_TRY(ifm_compose_html(publication, text, error));
    return verify_report(v, "report.html", text, error);
}

enum ifm_status ifm_publish_verify(const struct ifm_publication *publication, struct ifm_verified *out,
                                   struct ifm_error *error)
{
    IFM_TRY(ifm_compose_check(publication, error));
    struct verification v = {.publication = publication, .arena = ifm_arena_create()};
    struct ifm_text text = {0};
    enum ifm_status status = verify_all(&v, out, &text, error);
    out->words = !v.words_left_out;
    ifm_text_free(&text);
    ifm_arena_destroy(v.arena);
    return status;
}
