/* Own printing, because jansson prints 0.1 with 17 digits or loses bits with 15; jansson parses. */
#include "base/json.h"

#include "base/file.h"
#include "base/log.h"
#include "base/plain.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A character of UTF-8 that a terminal may act on is escaped as well, so that the file can be looked at; whoever parses
 * it reads the same text. */
static size_t print_character(const char *at, struct ifm_text *out)
{
    uint32_t code;
    size_t length = ifm_plain_character(at, &code);
    if (length < 2)
        code = (unsigned char)*at;
    if (!ifm_plain_is_hostile(code))
        ifm_text_append(out, at, length == 0 ? 1 : length);
    else if (code < 0x10000)
        ifm_text_printf(out, "\\u%04x", (unsigned)code);
    else
        ifm_text_printf(out, "\\u%04x\\u%04x", 0xd800u + ((unsigned)(code - 0x10000) >> 10),
                        0xdc00u + (unsigned)((code - 0x10000) & 0x3ff));
    return length == 0 ? 1 : length;
}

static void print_string(const char *string, struct ifm_text *out)
{
    ifm_text_append(out, "\"", 1);
    for (;;) {
        size_t same = ifm_plain_span(string, "\"\\");
        ifm_text_append(out, string, same);
        string += same;
        if (*string == '\0')
            break;
        if (*string == '"' || *string == '\\')
            ifm_text_printf(out, "\\%c", *string++);
        else if (*string == '\n') {
            ifm_text_add(out, "\\n");
            string++;
        } else
            string += print_character(string, out);
    }
    ifm_text_append(out, "\"", 1);
}

static void new_line(int depth, struct ifm_text *out)
{
    ifm_text_append(out, "\n", 1);
    for (int i = 0; i < depth; i++)
        ifm_text_append(out, "  ", 2);
}

/* Arrays of scalars stay on one line even in the indented form. */
static bool is_flat(const json_t *array)
{
    size_t index;
    json_t *item;
    json_array_foreach((json_t *)array, index, item)
    {
        if (json_is_object(item) || json_is_array(item))
            return false;
    }
    return true;
}

static void print(const json_t *value, int depth, bool indented, struct ifm_text *out);

static void print_array(const json_t *array, int depth, bool indented, struct ifm_text *out)
{
    bool lines = indented && !is_flat(array) && json_array_size(array) > 0;
    ifm_text_add(out, "[");
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i > 0)
            ifm_text_add(out, indented && !lines ? ", " : ",");
        if (lines)
            new_line(depth + 1, out);
        print(json_array_get(array, i), depth + 1, indented, out);
    }
    if (lines)
        new_line(depth, out);
    ifm_text_add(out, "]");
}

static void print_object(const json_t *object, int depth, bool indented, struct ifm_text *out)
{
    const char *key;
    json_t *value;
    bool first = true;
    ifm_text_add(out, "{");
    json_object_foreach((json_t *)object, key, value)
    {
        if (!first)
            ifm_text_add(out, ",");
        first = false;
        if (indented)
            new_line(depth + 1, out);
        print_string(key, out);
        ifm_text_add(out, indented ? ": " : ":");
        print(value, depth + 1, indented, out);
    }
    if (indented && !first)
        new_line(depth, out);
    ifm_text_add(out, "}");
}

static void print(const json_t *value, int depth, bool indented, struct ifm_text *out)
{
    char number[32];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        print_object(value, depth, indented, out);
        break;
    case JSON_ARRAY:
        print_array(value, depth, indented, out);
        break;
    case JSON_STRING:
        print_string(json_string_value(value), out);
        break;
    case JSON_INTEGER:
        ifm_text_add_i64(out, json_integer_value(value));
        break;
    case JSON_REAL:
        ifm_format_real(json_real_value(value), number);
        ifm_text_add(out, number);
        /* A real stays a real when it is read again. */
        if (strpbrk(number, ".eE") == NULL)
            ifm_text_add(out, ".0");
        break;
    default:
        ifm_text_add(out, json_is_null(value) ? "null" : json_is_true(value) ? "true" : "false");
    }
}

void ifm_json_print(const json_t *value, bool indented, struct ifm_text *out)
{
    print(value, 0, indented, out);
}

static enum ifm_status write_mode(const char *path, const json_t *value, mode_t mode, struct ifm_error *error)
{
    struct ifm_text text = {0};
    ifm_json_print(value, true, &text);
    ifm_text_add(&text, "\n");
    enum ifm_status status = ifm_file_write_mode(path, text.data, text.size, mode, error);
    ifm_text_free(&text);
    return status;
}

enum ifm_status ifm_json_write(const char *path, const json_t *value, struct ifm_error *error)
{
    return write_mode(path, value, 0644, error);
}

enum ifm_status ifm_json_write_private(const char *path, const json_t *value, struct ifm_error *error)
{
    return write_mode(path, value, 0600, error);
}

enum ifm_status ifm_json_parse(const char *data, size_t size, const char *where, json_t **out, struct ifm_error *error)
{
    json_error_t problem;
    *out = json_loadb(data, size, JSON_REJECT_DUPLICATES, &problem);
    if (*out != NULL)
        return IFM_OK;
    char place[256];
    snprintf(place, sizeof place, "%s:%d:%d", where, problem.line, problem.column);
    bool mark = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0;
    const char *hint = mark ? "save it without a byte order mark (BOM)" : "";
    return ifm_fail(error, IFM_INVALID, place, hint, "not valid JSON: %s", problem.text);
}

enum ifm_status ifm_json_read(const char *path, json_t **out, struct ifm_error *error)
{
    static const size_t limit = (size_t)1 << 30;
    char *data;
    size_t size;
    IFM_TRY(ifm_file_read(path, limit, &data, &size, error));
    enum ifm_status status = ifm_json_parse(data, size, path, out, error);
    free(data);
    return status;
}

static const char *kind_name(const json_t *value)
{
    if (value == NULL)
        return "missing";
    static const char *const names[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a real",    [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null"};
    return names[json_typeof(value)];
}

enum { STRING = 1 << JSON_STRING, INTEGER = 1 << JSON_INTEGER, NUMBER = INTEGER | 1 << JSON_REAL };

/* The member of one of the `kinds`; an error says that it is none of them, and that `wanted` is needed. */
static enum ifm_status member(const json_t *object, const char *key, const char *where, int kinds, const char *wanted,
                              const json_t **out, struct ifm_error *error)
{
    *out = json_object_get(object, key);
    if (*out != NULL && (kinds >> json_typeof(*out) & 1) != 0)
        return IFM_OK;
    return ifm_fail(error, IFM_INVALID, where, "the file was edited or cut; restore it or measure again",
                    "\"%s\" is %s; %s is needed", key, kind_name(*out), wanted);
}

enum ifm_status ifm_json_get_string(const json_t *object, const char *key, const char *where, const char **out,
                                    struct ifm_error *error)
{
    const json_t *value;
    IFM_TRY(member(object, key, where, STRING, "a string", &value, error));
    *out = json_string_value(value);
    return IFM_OK;
}

enum ifm_status ifm_json_get_i64(const json_t *object, const char *key, const char *where, int64_t *out,
                                 struct ifm_error *error)
{
    const json_t *value;
    IFM_TRY(member(object, key, where, INTEGER, "an integer", &value, error));
    *out = json_integer_value(value);
    return IFM_OK;
}

enum ifm_status ifm_json_get_u64(const json_t *object, const char *key, const char *where, uint64_t *out,
                                 struct ifm_error *error)
{
    const json_t *value = json_object_get(object, key);
    int kinds = json_integer_value(value) < 0 ? 0 : INTEGER;
    IFM_TRY(member(object, key, where, kinds, "an integer of at least 0", &value, error));
    *out = (uint64_t)json_integer_value(value);
    return IFM_OK;
}

enum ifm_status ifm_json_get_f64(const json_t *object, const char *key, const char *where, double *out,
                                 struct ifm_error *error)
{
    const json_t *value;
    IFM_TRY(member(object, key, where, NUMBER, "a number", &value, error));
    *out = json_number_value(value);
    return IFM_OK;
}

enum ifm_status ifm_json_get_bool(const json_t *object, const char *key, const char *where, bool *out,
                                  struct ifm_error *error)
{
    const json_t *value;
    IFM_TRY(member(object, key, where, 1 << JSON_TRUE | 1 << JSON_FALSE, "true or false", &value, error));
    *out = json_is_true(value);
    return IFM_OK;
}

enum ifm_status ifm_json_get_array(const json_t *object, const char *key, const char *where, const json_t **out,
                                   struct ifm_error *error)
{
    return member(object, key, where, 1 << JSON_ARRAY, "an array", out, error);
}

enum ifm_status ifm_json_get_object(const json_t *object, const char *key, const char *where, const json_t **out,
                                    struct ifm_error *error)
{
    return member(object, key, where, 1 << JSON_OBJECT, "an object", out, error);
}

enum ifm_status ifm_json_check_schema(const json_t *object, int64_t reads, const char *where, const char *hint,
                                      struct ifm_error *error)
{
    int64_t schema = 0;
    IFM_TRY(ifm_json_get_i64(object, "schema", where, &schema, error));
    if (schema == reads)
        return IFM_OK;
    return ifm_fail(error, IFM_INVALID, where, hint,
                    "made by another version of inferometer (schema %lld; this one reads %lld)", (long long)schema,
                    (long long)reads);
}
