/* Verify: what the files say against what the record gives.
 *
 * JSON files are compared as trees: integers, words and shapes exactly, reals within 1e-12. The texts made of the same
 * numbers, report.csv, report.md and report.html, are compared byte for byte but for reals, which may differ as much.
 */
#include "base/file.h"
#include "publish/compose.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double tolerance = 1e-12;

/* Where the comparison stands: the file, the number that encloses it, and the path below that number. */
struct place {
    const char *file;
    const char *cell, *arm, *metric; /* NULL outside a number */
    const char *path;                /* "", "value", "cells[1].latency_ms.mean" */
    struct ifm_arena *arena;
};

static const char *shown(const json_t *value, struct ifm_arena *arena)
{
    if (value == NULL)
        return "nothing";
    struct ifm_text text = {0};
    ifm_json_print(value, false, &text);
    const char *result = ifm_arena_printf(arena, "%.80s%s", text.data, text.size > 80 ? "..." : "");
    ifm_text_free(&text);
    return result;
}

static const char *name_of(const struct place *place)
{
    struct ifm_text text = {0};
    if (place->cell != NULL && place->cell[0] != '\0')
        ifm_text_printf(&text, " cell %s", place->cell);
    if (place->arm != NULL && place->arm[0] != '\0')
        ifm_text_printf(&text, " arm %s", place->arm);
    if (place->metric != NULL)
        ifm_text_printf(&text, " metric %s", place->metric);
    if (place->path[0] != '\0' && strcmp(place->path, "value") != 0)
        ifm_text_printf(&text, " %s", place->path);
    const char *result = ifm_arena_printf(place->arena, "%s", text.data == NULL ? "" : text.data);
    ifm_text_free(&text);
    return result;
}

static enum ifm_status differs(const struct place *place, const json_t *file, const json_t *record,
                               struct ifm_error *error)
{
    return ifm_fail(error, IFM_INVALID, "",
                    "the file was edited, or made by another version; `inferometer derive` writes it anew",
                    "%s:%s: file says %s, record gives %s", place->file, name_of(place), shown(file, place->arena),
                    shown(record, place->arena));
}

static bool same_scalar(const json_t *file, const json_t *record)
{
    if (json_is_real(file) || json_is_real(record)) {
        double a = json_number_value(file), b = json_number_value(record);
        double size = fmax(fabs(a), fabs(b));
        return json_is_number(file) && json_is_number(record) && fabs(a - b) <= tolerance * size;
    }
    return json_equal(file, record);
}

static enum ifm_status compare(struct place place, const json_t *file, const json_t *record, struct ifm_error *error);

static enum ifm_status compare_arrays(const struct place *place, const json_t *file, const json_t *record,
                                      struct ifm_error *error)
{
    size_t n_file = json_array_size(file), n_record = json_array_size(record);
    for (size_t i = 0; i < n_file || i < n_record; i++) {
        struct place item = *place;
        item.path = ifm_arena_printf(place->arena, "%s[%zu]", place->path, i);
        IFM_TRY(compare(item, json_array_get(file, i), json_array_get(record, i), error));
    }
    return IFM_OK;
}

/* A member that names its number gives the place its name; the path then starts below that number. */
static struct place enter_object(const struct place *place, const json_t *record)
{
    struct place inner = *place;
    const char *cell = json_string_value(json_object_get(record, "cell"));
    const char *metric = json_string_value(json_object_get(record, "metric"));
    if (cell == NULL)
        return inner;
    inner.cell = cell;
    inner.arm = json_string_value(json_object_get(record, "arm"));
    inner.metric = metric;
    inner.path = "";
    return inner;
}

static enum ifm_status compare_objects(const struct place *place, const json_t *file, const json_t *record,
                                       struct ifm_error *error)
{
    struct place inner = enter_object(place, record);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)record, key, value)
    {
        struct place member = inner;
        member.path = ifm_arena_printf(place->arena, "%s%s%s", inner.path, inner.path[0] == '\0' ? "" : ".", key);
        IFM_TRY(compare(member, json_object_get(file, key), value, error));
    }
    json_object_foreach((json_t *)file, key, value)
    {
        struct place member = inner;
        member.path = ifm_arena_printf(place->arena, "%s%s%s", inner.path, inner.path[0] == '\0' ? "" : ".", key);
        if (json_object_get(record, key) == NULL)
            return differs(&member, value, NULL, error);
    }
    return IFM_OK;
}

static enum ifm_status compare(struct place place, const json_t *file, const json_t *record, struct ifm_error *error)
{
    if (json_is_array(file) && json_is_array(record))
        return compare_arrays(&place, file, record, error);
    if (json_is_object(file) && json_is_object(record))
        return compare_objects(&place, file, record, error);
    if (json_is_object(record))
        place = enter_object(&place, record);
    return file != NULL && record != NULL && same_scalar(file, record) ? IFM_OK : differs(&place, file, record, error);
}

static enum ifm_status missing(const char *name, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INVALID, name, "`inferometer derive` writes it anew", "%s is missing", name);
}

/* Steals `record`. */
static enum ifm_status verify_json(const struct ifm_publication *publication, struct ifm_arena *arena, const char *name,
                                   json_t *record, struct ifm_error *error)
{
    const char *path = ifm_path_join(arena, publication->dir, name);
    json_t *file = NULL;
    enum ifm_status status = ifm_file_exists(path) ? ifm_json_read(path, &file, error) : missing(name, error);
    struct place place = {.file = name, .path = "", .arena = arena};
    if (status == IFM_OK)
        status = compare(place, file, record, error);
    json_decref(file);
    json_decref(record);
    return status;
}

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
}

/* The real number whose text lies round `at`: false when it is none, or an integer, which is compared exactly. `*end`
 * is where it ends. */
static bool real_round(const char *text, size_t size, size_t at, double *number, size_t *end)
{
    char word[64];
    size_t from = at;
    while (from > 0 && is_of_number(text[from - 1]))
        from--;
    for (*end = at; *end < size && is_of_number(text[*end]);)
        ++*end;
    size_t length = *end - from;
    if (length == 0 || length >= sizeof word || memchr(text + from, '.', length) == NULL)
        return false;
    memcpy(word, text + from, length);
    word[length] = '\0';
    return ifm_parse_f64(word, number);
}

/* Equal but for reals within the tolerance: another processor's logarithm may differ in its last bit. `*at` is where
 * the first other difference begins in `a`. */
static bool same_texts(const char *a, size_t size_a, const char *b, size_t size_b, size_t *at)
{
    size_t i = 0, j = 0;
    while (i < size_a && j < size_b) {
        if (a[i] == b[j]) {
            i++;
            j++;
            continue;
        }
        double x, y;
        size_t end_a, end_b;
        if (!real_round(a, size_a, i, &x, &end_a) || !real_round(b, size_b, j, &y, &end_b) ||
            !(fabs(x - y) <= tolerance * fmax(fabs(x), fabs(y))))
            break;
        i = end_a;
        j = end_b;
    }
    *at = i;
    return i == size_a && j == size_b;
}

static enum ifm_status compare_texts(const char *name, const char *file, size_t size, const struct ifm_text *record,
                                     struct ifm_error *error)
{
    size_t at, line = 1;
    if (same_texts(file, size, record->data, record->size, &at))
        return IFM_OK;
    for (size_t i = 0; i < at; i++)
        line += file[i] == '\n';
    return ifm_fail(error, IFM_INVALID, name,
                    "the file was edited, or made by another version; `inferometer derive` writes it anew",
                    "%s differs from what the record gives at line %zu", name, line);
}

static enum ifm_status verify_text(const struct ifm_publication *publication, struct ifm_arena *arena, const char *name,
                                   const struct ifm_text *record, struct ifm_error *error)
{
    static const size_t limit = (size_t)1 << 30;
    const char *path = ifm_path_join(arena, publication->dir, name);
    char *file = NULL;
    size_t size = 0;
    if (!ifm_file_exists(path))
        return missing(name, error);
    IFM_TRY(ifm_file_read(path, limit, &file, &size, error));
    enum ifm_status status = compare_texts(name, file, size, record, error);
    free(file);
    return status;
}

static enum ifm_status verify_compat(const struct ifm_publication *publication, struct ifm_arena *arena,
                                     struct ifm_error *error)
{
    size_t n = ifm_compat_count_baseline(publication->plan);
    if (ifm_compat_has_elastic_kv(publication->plan))
        IFM_TRY(verify_json(publication, arena, "elastic_kv.json", ifm_compat_elastic_kv(publication), error));
    if (n > 0)
        IFM_TRY(verify_json(publication, arena, "summary.json", ifm_compat_baseline_summary(publication), error));
    for (size_t i = 0; i < n; i++)
        IFM_TRY(verify_json(publication, arena, ifm_arena_printf(arena, "config_%02zu.json", i + 1),
                            ifm_compat_baseline_config(publication, i), error));
    return IFM_OK;
}

/* Nobody may put a power.csv beside a record that holds no power. */
static enum ifm_status verify_no_power(const struct ifm_publication *publication, const struct ifm_power_files *files,
                                       struct ifm_arena *arena, struct ifm_error *error)
{
    bool given = false;
    for (size_t i = 0; i < files->n; i++)
        given |= strcmp(files->list[i].name, "power.csv") == 0;
    if (given || !ifm_file_exists(ifm_path_join(arena, publication->dir, "power.csv")))
        return IFM_OK;
    return ifm_fail(error, IFM_INVALID, "power.csv", "remove it, or measure with --energy",
                    "power.csv is there, and the record holds no reading of a measured device");
}

static enum ifm_status verify_power(const struct ifm_publication *publication, struct ifm_arena *arena,
                                    struct ifm_error *error)
{
    struct ifm_power_files files;
    enum ifm_status status = ifm_compose_power(publication, arena, &files, error);
    if (status == IFM_OK)
        status = verify_no_power(publication, &files, arena, error);
    for (size_t i = 0; status == IFM_OK && i < files.n; i++)
        status = verify_text(publication, arena, files.list[i].name, &files.list[i].text, error);
    ifm_power_files_free(&files);
    return status;
}

static enum ifm_status verify_all(const struct ifm_publication *publication, struct ifm_arena *arena,
                                  struct ifm_text *text, struct ifm_error *error)
{
    const struct ifm_derived *derived = publication->derived;
    IFM_TRY(verify_json(publication, arena, "derived.json", ifm_derived_to_json(derived), error));
    IFM_TRY(verify_json(publication, arena, "verdict.json", ifm_verdict_to_json(publication->verdict, derived), error));
    IFM_TRY(verify_json(publication, arena, "metrics.json", ifm_compat_sop(publication), error));
    IFM_TRY(verify_compat(publication, arena, error));
    IFM_TRY(verify_power(publication, arena, error));
    ifm_compose_csv(publication, text);
    IFM_TRY(verify_text(publication, arena, "report.csv", text, error));
    ifm_text_clear(text);
    IFM_TRY(ifm_compose_markdown(publication, text, error));
    IFM_TRY(verify_text(publication, arena, "report.md", text, error));
    ifm_text_clear(text);
    IFM_TRY(ifm_compose_html(publication, text, error));
    return verify_text(publication, arena, "report.html", text, error);
}

enum ifm_status ifm_publish_verify(const struct ifm_publication *publication, struct ifm_error *error)
{
    IFM_TRY(ifm_compose_check(publication, error));
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_text text = {0};
    enum ifm_status status = verify_all(publication, arena, &text, error);
    ifm_text_free(&text);
    ifm_arena_destroy(arena);
    return status;
}
