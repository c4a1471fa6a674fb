/* JSON Schema (draft 2020-12) of the configuration file, for editors that check YAML. */
#include "config/internal.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

static json_t *string_list(const char *words)
{
    json_t *array = json_array();
    while (*words != '\0') {
        size_t length = strcspn(words, "|");
        json_array_append_new(array, json_stringn(words, length));
        words += length + (words[length] == '|');
    }
    return array;
}

/* The names of the workloads. YAML reads a bare null as no value, so the workload "null" is listed as both a string and
 * null. */
static json_t *workload_names(const struct ifm_section *const *sections)
{
    json_t *array = json_array();
    for (size_t i = 0; sections[i] != NULL; i++) {
        if (ifm_config_is_common(sections[i]))
            continue;
        json_array_append_new(array, json_string(sections[i]->name));
        if (strcmp(sections[i]->name, "null") == 0)
            json_array_append_new(array, json_null());
    }
    return array;
}

static json_t *number(const struct ifm_param *row, const char *type)
{
    bool whole = strcmp(type, "integer") == 0, bounded = row->min <= row->max;
    json_t *schema = json_pack("{s:s}", "type", type);
    double low = bounded ? row->min : whole ? 0 : -INFINITY, high = bounded ? row->max : INFINITY;
    if (isfinite(low))
        json_object_set_new(schema, "minimum", whole ? json_integer((json_int_t)low) : json_real(low));
    if (isfinite(high))
        json_object_set_new(schema, "maximum",
                            whole && high < 0x1p63 ? json_integer((json_int_t)high) : json_real(high));
    return schema;
}

/* A choice with a parameter ("no-regression=3%") is an example of its values. */
static json_t *choice(const char *choices)
{
    json_t *words = string_list(choices), *any = json_array(), *word;
    size_t i = 0;
    while (i < json_array_size(words)) {
        const char *equals = strchr(json_string_value(word = json_array_get(words, i)), '=');
        if (equals == NULL) {
            i++;
            continue;
        }
        struct ifm_text pattern = {0};
        ifm_text_printf(&pattern, "^%.*s=.+$", (int)(equals - json_string_value(word)), json_string_value(word));
        json_array_append_new(any, json_pack("{s:s}", "pattern", pattern.data));
        ifm_text_free(&pattern);
        json_array_remove(words, i);
    }
    json_array_insert_new(any, 0, json_pack("{s:o}", "enum", words));
    if (json_array_size(any) > 1)
        return json_pack("{s:o}", "anyOf", any);
    json_t *only = json_incref(json_array_get(any, 0));
    json_decref(any);
    return only;
}

/* One value of a row. */
static json_t *scalar(const struct ifm_param *row)
{
    static const char bytes[] = "^[0-9.]+( ?(B|K|KB|KiB|M|MB|MiB|G|GB|GiB|T|TB|TiB))?$";
    static const char seconds[] = "^[0-9.]+(e-?[0-9]+)?( ?(ns|us|ms|s|min|h))?$";
    if (ifm_param_is_choice(row))
        return choice(row->choices);
    switch (row->type) {
    case IFM_TYPE_U64:
        return number(row, "integer");
    case IFM_TYPE_F64:
        return number(row, "number");
    case IFM_TYPE_BYTES:
        return json_pack("{s:[o, {s:s, s:s}]}", "anyOf", number(row, "integer"), "type", "string", "pattern", bytes);
    case IFM_TYPE_SECONDS:
        return json_pack("{s:[o, {s:s, s:s}]}", "anyOf", number(row, "number"), "type", "string", "pattern", seconds);
    case IFM_TYPE_BOOL:
        return json_pack("{s:s}", "type", "boolean");
    default:
        return json_pack("{s:s}", "type", "string");
    }
}

static void add_default(json_t *schema, const struct ifm_param *row, struct ifm_arena *arena)
{
    const struct ifm_config config = {.arena = arena};
    if (row->fallback == NULL || row->fallback[0] == '\0')
        return;
    struct ifm_list items = {&row->fallback, 1};
    if ((row->flags & IFM_SWEEP) != 0)
        items = ifm_param_split(row->fallback, arena);
    const char **texts = IFM_ARENA_ARRAY(arena, const char *, items.n);
    for (size_t i = 0; i < items.n; i++)
        if (ifm_config_canonical(&config, row, (struct ifm_raw){items.items[i], row->path}, &texts[i], NULL) != IFM_OK)
            return;
    const struct ifm_config_slot slot = {.row = row, .texts = texts, .n = items.n};
    json_object_set_new(schema, "default", ifm_slot_to_json(&slot, arena));
}

/* A row: one value, or several where it takes them, with its description. */
static json_t *row_schema(const struct ifm_param *row, json_t *one, struct ifm_arena *arena)
{
    json_t *schema = one;
    if ((row->flags & (IFM_SWEEP | IFM_LIST)) != 0)
        schema = json_pack("{s:[O, {s:s, s:i, s:i, s:b, s:o}, {s:s, s:s}]}", "anyOf", one, "type", "array", "minItems",
                           1, "maxItems", IFM_CONFIG_AXIS_MAX, "uniqueItems", 1, "items", one, "type", "string",
                           "pattern", ",");
    bool unit = row->unit[0] != '\0' && strcmp(row->unit, "1") != 0;
    const char *text =
        ifm_arena_printf(arena, "%s%s%s%s", row->help, unit ? " (" : "", unit ? row->unit : "", unit ? ")" : "");
    json_object_set_new(schema, "description", json_string(text));
    add_default(schema, row, arena);
    return schema;
}

static json_t *closed_object(const char *description)
{
    return json_pack("{s:s, s:s, s:b, s:{}}", "description", description, "type", "object", "additionalProperties", 0,
                     "properties");
}

/* "decode.kv_len" below the property "decode", and again as a dotted key. */
static void add_row(json_t *properties, const struct ifm_section *section, const struct ifm_param *row, json_t *schema,
                    struct ifm_arena *arena)
{
    const char *dot = strchr(row->path, '.');
    for (const struct ifm_word *word = section->words; word != NULL && word->path != NULL; word++)
        if (strcmp(word->path, row->path) == 0)
            json_array_append_new(json_object_get(schema, "anyOf"), json_pack("{s:s}", "const", word->word));
    if (dot == NULL) {
        json_object_set_new(properties, row->path, schema);
        return;
    }
    char *prefix = ifm_arena_strdup(arena, row->path);
    prefix[dot - row->path] = '\0';
    if (json_object_get(properties, prefix) == NULL)
        json_object_set_new(properties, prefix, closed_object(section->help));
    json_t *members = json_object_get(json_object_get(properties, prefix), "properties");
    json_object_set_new(members, dot + 1, schema);
    const char *reference = ifm_arena_printf(arena, "#/properties/%s/properties/%s", prefix, dot + 1);
    json_object_set_new(properties, row->path, json_pack("{s:s}", "$ref", reference));
}

/* Not a row of a table: it names the files that bring tables. */
static json_t *plugin_schema(void)
{
    return json_pack("{s:[{s:s, s:i}, {s:s, s:i, s:{s:s, s:i}}], s:s}", "anyOf", "type", "string", "minLength", 1,
                     "type", "array", "minItems", 1, "items", "type", "string", "minLength", 1, "description",
                     "Shared objects that bring workloads of their own, relative to this file");
}

/* `arms` or `gates`: a list of records. */
static json_t *records(const struct ifm_section *section, int most, struct ifm_arena *arena)
{
    json_t *record = closed_object(section->help), *required = json_array();
    json_t *properties = json_object_get(record, "properties");
    for (size_t i = 0; i < section->n; i++) {
        const struct ifm_param *row = &section->rows[i];
        if (row->fallback == NULL)
            json_array_append_new(required, json_string(row->path));
        if ((row->flags & IFM_LIST) != 0) /* the settings of an arm */
            json_object_set_new(properties, row->path,
                                json_pack("{s:s, s:[{s:s}, {s:s, s:{s:s, s:s}}]}", "description", row->help, "anyOf",
                                          "type", "object", "type", "array", "items", "type", "string", "pattern",
                                          "^[^=]+="));
        else
            json_object_set_new(properties, row->path, row_schema(row, scalar(row), arena));
    }
    json_object_set_new(record, "required", required);
    return json_pack("{s:s, s:s, s:i, s:i, s:o}", "description", section->help, "type", "array", "minItems", 1,
                     "maxItems", most, "items", record);
}

void ifm_generate_schema(const struct ifm_section *const *sections, struct ifm_text *out)
{
    struct ifm_arena *arena = ifm_arena_create();
    json_t *properties = json_object();
    for (size_t i = 0; sections[i] != NULL; i++) {
        for (size_t j = 0; j < sections[i]->n; j++) {
            const struct ifm_param *row = &sections[i]->rows[j];
            json_t *one =
                strcmp(row->path, "workload") == 0 ? json_pack("{s:o}", "enum", workload_names(sections)) : scalar(row);
            add_row(properties, sections[i], row, row_schema(row, one, arena), arena);
        }
    }
    json_object_set_new(properties, "plugin", plugin_schema());
    json_object_set_new(properties, "arms", records(&ifm_section_arm, IFM_CONFIG_ARMS_MAX, arena));
    json_object_set_new(properties, "gates", records(&ifm_section_gate, IFM_CONFIG_GATES_MAX, arena));
    json_t *schema =
        json_pack("{s:s, s:s, s:s, s:b, s:o}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title",
                  "Inferometer configuration", "type", "object", "additionalProperties", 0, "properties", properties);
    ifm_json_print(schema, true, out);
    ifm_text_add(out, "\n");
    json_decref(schema);
    ifm_arena_destroy(arena);
}
