/* Published values against those that the record gives, as trees and as texts. */
#include "publish/same.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double tolerance = 1e-12;

/* Where the comparison stands: the number that encloses it, and the path below that number. */
struct text_place {
    const struct ifm_same *same;
    const char *cell, *arm, *metric; /* NULL outside a number */
    const char *path;                /* "", "value", "cells[1].latency_ms.mean" */
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

static const char *name_of(const struct text_place *place)
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
    const char *result = ifm_arena_printf(place->same->arena, "%s", text.data == NULL ? "" : text.data);
    ifm_text_free(&text);
    return result;
}

static enum ifm_status differs(const struct text_place *place, const json_t *file, const json_t *record,
                               struct ifm_error *error)
{
    struct ifm_arena *arena = place->same->arena;
    return ifm_fail(error, IFM_INVALID, "",
                    "the file was edited, or made by another version; `inferometer derive` writes it anew",
                    "%s:%s: file says %s, record gives %s", place->same->file, name_of(place), shown(file, arena),
                    shown(record, arena));
}

static bool is_close(double a, double b)
{
    return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static bool same_scalar(const struct text_place *place, const json_t *file, const json_t *record)
{
    double a, b;
    if (json_is_real(file) || json_is_real(record))
        return json_is_number(file) && json_is_number(record) &&
               is_close(json_number_value(file), json_number_value(record));
    if (!place->same->words && json_is_string(file) && json_is_string(record) && /* a field of a table */
        ifm_parse_f64(json_string_value(file), &a) && ifm_parse_f64(json_string_value(record), &b))
        return is_close(a, b);
    return json_equal(file, record);
}

/* Members that hold sentences for people, or that another version counts otherwise. */
static bool is_wording(const char *key)
{
    static const char *const keys[] = {"reason", "remedy", "text",     "refused", "reasons",
                                       "rca",    "advice", "findings", "schema"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* "faster": no sentence, which has spaces. */
static bool is_word(const json_t *value)
{
    const char *text = json_string_value(value);
    return text != NULL && text[0] != '\0' && strchr(text, ' ') == NULL;
}

static bool is_nothing(const json_t *value)
{
    return value == NULL || json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0);
}

/* What is said of a wording by another version: one word is the same word, and where one of the two says nothing of
 * what refuses or decides, so does the other. */
static bool same_wording(const char *key, const json_t *file, const json_t *record)
{
    static const char *const told[] = {"refused", "reasons", "rca", "advice"};
    if (strcmp(key, "text") == 0 && (is_word(file) || is_word(record)))
        return file != NULL && record != NULL && json_equal(file, record);
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        if (strcmp(key, told[i]) == 0)
            return is_nothing(file) == is_nothing(record);
    return true;
}

/* Two rows are about the same thing: as far as both have them, these members are equal. */
static bool same_subject(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"cell", "arm",   "metric", "column",   "device", "source",
                                       "name", "table", "window", "severity", "rule"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);
        if (x != NULL && y != NULL && !json_equal(x, y))
            return false;
    }
    return true;
}

/* The record's row about the subject of a row of the file that no other row of it has `taken`, looked for from `from`
 * on and round: rows are mostly in one order. NULL: there is none. */
static const json_t *take_row(const json_t *subject, const json_t *record, bool *taken, size_t from, size_t *at)
{
    size_t n = json_array_size(record);
    for (size_t i = 0; i < n; i++) {
        *at = (from + i) % n;
        if (taken[*at] || !same_subject(subject, json_array_get(record, *at)))
            continue;
        taken[*at] = true;
        return json_array_get(record, *at);
    }
    return NULL;
}

/* A member that names its number gives the place its name; the path then starts below that number. */
static struct text_place enter_object(const struct text_place *place, const json_t *object)
{
    struct text_place inner = *place;
    const char *cell = json_string_value(json_object_get(object, "cell"));
    if (cell == NULL)
        return inner;
    inner.cell = cell;
    inner.arm = json_string_value(json_object_get(object, "arm"));
    inner.metric = json_string_value(json_object_get(object, "metric"));
    inner.path = "";
    return inner;
}

static enum ifm_status compare(struct text_place place, const json_t *file, const json_t *record,
                               struct ifm_error *error);

static bool are_rows(const json_t *array)
{
    return json_object_get(json_array_get(array, 0), "cell") != NULL;
}

/* Rows of another version, in whatever order: each is one of the record's, and none of these is missing. */
static enum ifm_status compare_rows(const struct text_place *place, const json_t *file, const json_t *record,
                                    struct ifm_error *error)
{
    size_t n_file = json_array_size(file), n_record = json_array_size(record), at = 0;
    bool *taken = IFM_ARENA_ARRAY(place->same->arena, bool, n_record + 1);
    for (size_t i = 0; i < n_file; i++) {
        const json_t *own = json_array_get(file, i), *other = take_row(own, record, taken, at, &at);
        struct text_place item = *place;
        at++;
        item.path = ifm_arena_printf(place->same->arena, "%s[%zu]", place->path, i);
        if (other == NULL)
            item = enter_object(&item, own);
        IFM_TRY(compare(item, own, other, error));
    }
    for (size_t i = 0; i < n_record; i++) {
        const struct text_place item = enter_object(place, json_array_get(record, i));
        if (!taken[i])
            return differs(&item, NULL, json_array_get(record, i), error);
    }
    return IFM_OK;
}

static enum ifm_status compare_arrays(const struct text_place *place, const json_t *file, const json_t *record,
                                      struct ifm_error *error)
{
    size_t n_file = json_array_size(file), n_record = json_array_size(record);
    if (!place->same->words && (are_rows(file) || are_rows(record)))
        return compare_rows(place, file, record, error);
    for (size_t i = 0; i < n_file || i < n_record; i++) {
        struct text_place item = *place;
        item.path = ifm_arena_printf(place->same->arena, "%s[%zu]", place->path, i);
        IFM_TRY(compare(item, json_array_get(file, i), json_array_get(record, i), error));
    }
    return IFM_OK;
}

/* What was found, without its sentence. Notes are left out: another version may say others. */
static json_t *found_in(const json_t *findings)
{
    size_t index;
    json_t *finding, *rows = json_array();
    json_array_foreach((json_t *)findings, index, finding)
    {
        const char *severity = json_string_value(json_object_get(finding, "severity"));
        json_t *row = severity != NULL && strcmp(severity, "note") == 0 ? NULL : json_copy(finding);
        (void)json_object_del(row, "text");
        if (row != NULL)
            (void)json_array_append_new(rows, row);
    }
    return rows;
}

static enum ifm_status compare_wording(const struct text_place *place, const char *key, const json_t *file,
                                       const json_t *record, struct ifm_error *error)
{
    if (strcmp(key, "findings") != 0)
        return same_wording(key, file, record) ? IFM_OK : differs(place, file, record, error);
    json_t *own = found_in(file), *others = found_in(record);
    enum ifm_status status = compare_rows(place, own, others, error);
    json_decref(own);
    json_decref(others);
    return status;
}

/* Versions of before 2026-11-27 wrote no spread of a mean, those of before 2026-11-28 no kind of a finding. */
static bool is_later(const char *key)
{
    return strcmp(key, "sd") == 0 || strcmp(key, "_sd") == 0 || strcmp(key, "kind") == 0 ||
           strcmp(key, "takes_word") == 0 || strcmp(key, "share") == 0;
}

static enum ifm_status compare_member(const struct text_place *place, const char *key, const json_t *file,
                                      const json_t *record, struct ifm_error *error)
{
    if (!place->same->words && is_wording(key))
        return compare_wording(place, key, file, record, error);
    if (!place->same->words && file == NULL && is_later(key))
        return IFM_OK;
    return compare(*place, file, record, error);
}

static enum ifm_status compare_objects(const struct text_place *place, const json_t *file, const json_t *record,
                                       struct ifm_error *error)
{
    struct text_place member = enter_object(place, record);
    const char *path = member.path, *key;
    json_t *value;
    json_object_foreach((json_t *)record, key, value)
    {
        member.path = ifm_arena_printf(place->same->arena, "%s%s%s", path, path[0] == '\0' ? "" : ".", key);
        IFM_TRY(compare_member(&member, key, json_object_get(file, key), value, error));
    }
    json_object_foreach((json_t *)file, key, value)
    {
        member.path = ifm_arena_printf(place->same->arena, "%s%s%s", path, path[0] == '\0' ? "" : ".", key);
        if (json_object_get(record, key) == NULL)
            IFM_TRY(compare_member(&member, key, value, NULL, error));
    }
    return IFM_OK;
}

static enum ifm_status compare(struct text_place place, const json_t *file, const json_t *record,
                               struct ifm_error *error)
{
    if (json_is_array(file) && json_is_array(record))
        return compare_arrays(&place, file, record, error);
    if (json_is_object(file) && json_is_object(record))
        return compare_objects(&place, file, record, error);
    if (json_is_object(record))
        place = enter_object(&place, record);
    return file != NULL && record != NULL && same_scalar(&place, file, record) ? IFM_OK
                                                                               : differs(&place, file, record, error);
}

enum ifm_status ifm_same_trees(const struct ifm_same *same, const json_t *file, const json_t *record,
                               struct ifm_error *error)
{
    return compare((struct text_place){.same = same, .path = ""}, file, record, error);
}

/* ---- texts ---- */

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
}

/* The word that begins at `at`: all characters of a number that follow one another, or one other character. */
static size_t word_at(const char *text, size_t size, size_t at)
{
    size_t end = at;
    while (end < size && is_of_number(text[end]))
        end++;
    return end == at ? 1 : end - at;
}

/* The word as a real number. An integer is none: it is compared exactly. */
static bool take_real(const char *word, size_t length, double *number)
{
    char copy[64];
    if (length >= sizeof copy || memchr(word, '.', length) == NULL)
        return false;
    memcpy(copy, word, length);
    copy[length] = '\0';
    return ifm_parse_f64(copy, number);
}

/* Equal but for reals within the tolerance: another processor's logarithm may differ in its last bit. Both texts are
 * read word by word, so that each step goes on in both. `*at` is where the first other difference begins in `a`. */
static bool equal_texts(const char *a, size_t size_a, const char *b, size_t size_b, size_t *at)
{
    size_t i = 0, j = 0;
    while (i < size_a && j < size_b) {
        size_t length_a = word_at(a, size_a, i), length_b = word_at(b, size_b, j);
        double x, y;
        bool same = length_a == length_b && memcmp(a + i, b + j, length_a) == 0;
        if (!same && (!take_real(a + i, length_a, &x) || !take_real(b + j, length_b, &y) || !is_close(x, y)))
            break;
        i += length_a;
        j += length_b;
    }
    *at = i;
    return i == size_a && j == size_b;
}

enum ifm_status ifm_same_texts(const struct ifm_same *same, const char *file, size_t size,
                               const struct ifm_text *record, struct ifm_error *error)
{
    size_t at, line = 1;
    if (equal_texts(file, size, record->data, record->size, &at))
        return IFM_OK;
    for (size_t i = 0; i < at; i++)
        line += file[i] == '\n';
    return ifm_fail(error, IFM_INVALID, same->file,
                    "the file was edited, or made by another version; `inferometer derive` writes it anew",
                    "%s differs from what the record gives at line %zu", same->file, line);
}

/* ---- tables ---- */

/* The next field of a table: NULL at the end of its line, or when it is torn. */
static json_t *next_field(const char **at, const char *end, struct ifm_text *field)
{
    ifm_text_clear(field);
    bool quoted = *at < end && **at == '"';
    for (*at += quoted; *at < end; ++*at) {
        if (quoted && **at == '"' && (*at + 1 == end || (*at)[1] != '"'))
            break;
        if (!quoted && (**at == ',' || **at == '\n'))
            break;
        *at += quoted && **at == '"';
        ifm_text_append(field, *at, 1);
    }
    *at += quoted && *at < end;
    if (*at == end || (**at != ',' && **at != '\n'))
        return NULL;
    return json_stringn(field->data == NULL ? "" : field->data, field->size);
}

/* Reads one line into an array; NULL: it is torn. */
static json_t *read_line(const char **at, const char *end, struct ifm_text *field)
{
    json_t *line = json_array();
    for (;;) {
        json_t *next = next_field(at, end, field);
        if (next == NULL || json_array_append_new(line, next) != 0) {
            json_decref(line);
            return NULL;
        }
        if (*(*at)++ == '\n')
            return line;
    }
}

static json_t *row_of(const json_t *header, const json_t *line)
{
    json_t *row = json_object();
    for (size_t i = 0; i < json_array_size(line); i++)
        json_object_set(row, json_string_value(json_array_get(header, i)), json_array_get(line, i));
    return row;
}

json_t *ifm_same_table(const char *text, size_t size)
{
    const char *at = text, *end = text + size;
    struct ifm_text field = {0};
    json_t *rows = json_array(), *header = read_line(&at, end, &field);
    while (header != NULL && rows != NULL && at < end) {
        json_t *line = read_line(&at, end, &field);
        if (line == NULL || json_array_size(line) != json_array_size(header)) {
            json_decref(rows);
            rows = NULL;
        } else {
            json_array_append_new(rows, row_of(header, line));
        }
        json_decref(line);
    }
    if (header == NULL) {
        json_decref(rows);
        rows = NULL;
    }
    json_decref(header);
    ifm_text_free(&field);
    return rows;
}
