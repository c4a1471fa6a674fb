/* Checking a plugin's table: every member, before anything of it is used. Each error names the file and the member.
 *
 * Pure but for the arena, into which all texts are copied. */
#include "base/json.h"
#include "base/text.h"
#include "workload/plugin/private.h"

#include <math.h>
#include <string.h>

enum { NAME_MOST = 32, UNIT_MOST = 16, SENTENCE_MOST = 400 };

/* What the checks have in common. */
struct check {
    const char *where; /* the file */
    const struct ifm_plugin_taken *taken;
    struct ifm_arena *arena;
    struct ifm_error *error;
};

static enum ifm_status bad(const struct check *check, const char *member, const char *what)
{
    return ifm_fail(check->error, IFM_USAGE, check->where, "inferometer/plugin.h says what each member must hold",
                    "%s %s", member, what);
}

bool ifm_plugin_text_valid(const char *text)
{
    json_t *json = json_string(text); /* NULL where it is not UTF-8 */
    bool valid = json != NULL;
    for (; valid && *text != '\0'; text++)
        valid = (unsigned char)*text >= 0x20 && *text != 0x7f;
    json_decref(json);
    return valid;
}

static enum ifm_status check_sentence(const struct check *check, const char *member, const char *text)
{
    if (text == NULL)
        return bad(check, member, "is NULL");
    if (text[0] == '\0' || strnlen(text, SENTENCE_MOST + 1) > SENTENCE_MOST || !ifm_plugin_text_valid(text))
        return bad(check, member, "is not one sentence: 1 to 400 bytes of UTF-8 in one line");
    return IFM_OK;
}

static enum ifm_status check_name(const struct check *check, const char *member, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (name == NULL)
        return bad(check, member, "is NULL");
    if (name[0] < 'a' || name[0] > 'z' || name[strspn(name, letters)] != '\0' || strlen(name) > NAME_MOST) {
        char shown[72];
        return bad(check, member,
                   ifm_arena_printf(check->arena, "'%s' is not a name: a letter a-z, then a-z, 0-9 and _; at most %d",
                                    ifm_plugin_text_valid(name) ? ifm_param_shown(name, shown) : "(not UTF-8)",
                                    NAME_MOST));
    }
    return IFM_OK;
}

static enum ifm_status check_unit(const struct check *check, const char *member, const char *unit)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/%";
    if (unit != NULL && (strnlen(unit, UNIT_MOST + 1) > UNIT_MOST || unit[strspn(unit, letters)] != '\0'))
        return bad(check, member, "is not a unit: letters, digits and _ / %; at most 16");
    return IFM_OK;
}

static bool is_among(const char *word, const char *const *words)
{
    for (; words != NULL && *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static const char *copy(const struct check *check, const char *text)
{
    return text == NULL ? "" : ifm_arena_strdup(check->arena, text);
}

/* ---- parameters ---- */

/* The words of "a|b" are distinct: the first of two would be the only one that is ever meant. */
static enum ifm_status check_distinct(const struct check *check, const char *member, const char *choices)
{
    for (const char *word = choices; *word != '\0';) {
        size_t length = strcspn(word, "|");
        const char *next = word + length + (word[length] == '|');
        for (const char *other = next; *other != '\0';) {
            size_t n = strcspn(other, "|");
            if (n == length && strncmp(word, other, n) == 0)
                return bad(check, member, ifm_arena_printf(check->arena, "holds '%.*s' twice", (int)n, word));
            other += n + (other[n] == '|');
        }
        word = next;
    }
    return IFM_OK;
}

static enum ifm_status check_choices(const struct check *check, const char *member,
                                     const struct inferometer_plugin_param *param)
{
    const char *choices = param->choices;
    if (param->type != INFEROMETER_PLUGIN_CHOICE)
        return choices == NULL ? IFM_OK : bad(check, member, "is given, but the type is not CHOICE");
    if (choices == NULL)
        return bad(check, member, "is NULL, but the type is CHOICE");
    if (choices[0] == '\0' || strnlen(choices, SENTENCE_MOST + 1) > SENTENCE_MOST || strpbrk(choices, ", ") != NULL ||
        choices[0] == '|' || choices[strlen(choices) - 1] == '|' || strstr(choices, "||") != NULL ||
        !ifm_plugin_text_valid(choices))
        return bad(check, member, "is not a list of words such as \"naive|unrolled\", at most 400 bytes in all");
    return check_distinct(check, member, choices);
}

static enum ifm_status check_range(const struct check *check, const char *member,
                                   const struct inferometer_plugin_param *param)
{
    if (isnan(param->min) || isnan(param->max))
        return bad(check, member, "is not a number");
    if (param->min > param->max)
        return bad(check, member, "is empty: min is above max");
    return IFM_OK;
}

/* The flag of a parameter, or NULL where every command has it already. */
static const char *flag_of(const struct check *check, const char *name)
{
    char *flag = ifm_arena_strdup(check->arena, name);
    for (char *at = flag; *at != '\0'; at++)
        *at = *at == '_' ? '-' : *at;
    return is_among(flag, check->taken->flags) ? NULL : flag;
}

/* The default must be what a user could write: the parser that reads theirs reads it. */
static enum ifm_status check_fallback(const struct check *check, const char *member, const struct ifm_param *row)
{
    union ifm_plugin_field field;
    struct ifm_list items = {&row->fallback, 1};
    struct ifm_error why = {0};
    if (!ifm_plugin_text_valid(row->fallback) || strnlen(row->fallback, SENTENCE_MOST + 1) > SENTENCE_MOST)
        return bad(check, member, "is not at most 400 bytes of UTF-8 in one line");
    if ((row->flags & IFM_SWEEP) != 0)
        items = ifm_param_split(row->fallback, check->arena);
    for (size_t i = 0; i < items.n; i++)
        if (ifm_param_parse(row, items.items[i], "", check->arena, &field, &why) != IFM_OK)
            return bad(check, member, ifm_arena_printf(check->arena, "does not fit: %s", why.message));
    return IFM_OK;
}

static enum ifm_status check_param(const struct check *check, const struct ifm_plugin *plugin, size_t i,
                                   const struct inferometer_plugin_param *param, struct ifm_param *rows)
{
    static const unsigned known = INFEROMETER_PLUGIN_SWEEP | INFEROMETER_PLUGIN_PER_ARM;
    const char *member = ifm_arena_printf(check->arena, "params[%zu].name", i);
    IFM_TRY(check_name(check, member, param->name));
    const char *of = ifm_arena_printf(check->arena, "parameter '%s': ", param->name);
#define MEMBER(name) ifm_arena_printf(check->arena, "%s" name, of)
    if (param->type > INFEROMETER_PLUGIN_SECONDS)
        return bad(check, MEMBER("type"), "is not known");
    if ((param->flags & ~known) != 0)
        return bad(check, MEMBER("flags"), "has bits that are not known");
    if (param->fallback == NULL)
        return bad(check, MEMBER("fallback"), "is NULL: every parameter has a default");
    IFM_TRY(check_unit(check, MEMBER("unit"), param->unit));
    IFM_TRY(check_range(check, MEMBER("range"), param));
    IFM_TRY(check_choices(check, MEMBER("choices"), param));
    IFM_TRY(check_sentence(check, MEMBER("help"), param->help));
    bool bounded = param->min != 0 || param->max != 0;
    rows[i] = (struct ifm_param){
        .path = ifm_arena_printf(check->arena, "%s.%s", plugin->table.name, param->name),
        .flag = flag_of(check, param->name),
        .type = (enum ifm_type)param->type, /* adapt.c asserts that the numbers are the same */
        .flags = ((param->flags & INFEROMETER_PLUGIN_SWEEP) != 0 ? IFM_SWEEP : 0u) |
                 ((param->flags & INFEROMETER_PLUGIN_PER_ARM) != 0 ? IFM_PER_ARM : 0u),
        .unit = copy(check, param->unit),
        .fallback = copy(check, param->fallback),
        .min = bounded ? param->min : 1,
        .max = bounded ? param->max : 0,
        .choices = ifm_arena_strdup(check->arena, param->choices),
        .help = copy(check, param->help),
        .offset = i * sizeof(union ifm_plugin_field),
    };
    for (size_t j = 0; j < i; j++)
        if (strcmp(rows[j].path, rows[i].path) == 0)
            return bad(check, MEMBER("name"), "is there twice");
    return check_fallback(check, MEMBER("fallback"), &rows[i]);
#undef MEMBER
}

static enum ifm_status check_array(const struct check *check, const char *name, const void *items, size_t n,
                                   size_t most, size_t size, size_t least)
{
    if (n > most)
        return bad(check, ifm_arena_printf(check->arena, "n_%ss", name),
                   ifm_arena_printf(check->arena, "is %zu; at most %zu are taken", n, most));
    if (n > 0 && items == NULL)
        return bad(check, ifm_arena_printf(check->arena, "%ss", name),
                   ifm_arena_printf(check->arena, "is NULL, but n_%ss is %zu", name, n));
    if (n > 0 && (size < least || size % sizeof(void *) != 0))
        return bad(check, ifm_arena_printf(check->arena, "%s_size", name),
                   ifm_arena_printf(check->arena, "is %zu; ABI %u has %zu", size, INFEROMETER_PLUGIN_ABI, least));
    return IFM_OK;
}

static enum ifm_status check_params(const struct check *check, struct ifm_plugin *plugin)
{
    const struct inferometer_plugin *table = &plugin->table;
    IFM_TRY(check_array(check, "param", table->params, table->n_params, IFM_PLUGIN_PARAMS_MOST, table->param_size,
                        sizeof(struct inferometer_plugin_param)));
    struct ifm_param *rows = IFM_ARENA_ARRAY(check->arena, struct ifm_param, table->n_params + 1);
    for (size_t i = 0; i < table->n_params; i++) {
        struct inferometer_plugin_param param;
        memcpy(&param, (const char *)table->params + i * table->param_size, sizeof param);
        IFM_TRY(check_param(check, plugin, i, &param, rows));
    }
    plugin->section = (struct ifm_section){copy(check, table->name),
                                           copy(check, table->purpose),
                                           rows,
                                           table->n_params,
                                           table->n_params * sizeof(union ifm_plugin_field),
                                           NULL};
    return IFM_OK;
}

/* ---- counters ---- */

static enum ifm_status check_counters(const struct check *check, struct ifm_plugin *plugin)
{
    const struct inferometer_plugin *table = &plugin->table;
    IFM_TRY(check_array(check, "counter", table->counters, table->n_counters, IFM_PLUGIN_COUNTERS_MOST,
                        table->counter_size, sizeof(struct inferometer_plugin_counter)));
    struct ifm_column *columns = IFM_ARENA_ARRAY(check->arena, struct ifm_column, table->n_counters + 1);
    for (size_t i = 0; i < table->n_counters; i++) {
        struct inferometer_plugin_counter counter;
        memcpy(&counter, (const char *)table->counters + i * table->counter_size, sizeof counter);
        const char *name = ifm_arena_printf(check->arena, "counters[%zu].name", i);
        IFM_TRY(check_name(check, name, counter.name));
        IFM_TRY(check_unit(check, ifm_arena_printf(check->arena, "counters[%zu].unit", i), counter.unit));
        bool twice = is_among(counter.name, check->taken->columns);
        for (size_t j = 0; j < i; j++)
            twice = twice || strcmp(columns[j].id, counter.name) == 0;
        if (twice)
            return bad(check, name, ifm_arena_printf(check->arena, "'%s' is taken", counter.name));
        bool unit = counter.unit != NULL && counter.unit[0] != '\0';
        columns[i] = (struct ifm_column){copy(check, counter.name), unit ? copy(check, counter.unit) : "count"};
    }
    plugin->workload.columns = columns;
    plugin->workload.n_columns = table->n_counters;
    return IFM_OK;
}

/* ---- the table ---- */

static enum ifm_status check_functions(const struct check *check, const struct inferometer_plugin *table)
{
    if (table->describe == NULL)
        return bad(check, "describe", "is NULL; it is required");
    if (table->open == NULL)
        return bad(check, "open", "is NULL; it is required");
    if (table->step == NULL)
        return bad(check, "step", "is NULL; it is required");
    if (table->close == NULL)
        return bad(check, "close", "is NULL; it is required");
    if (table->n_counters > 0 && table->collect == NULL)
        return bad(check, "collect", "is NULL, but there are counters");
    if ((table->devices & ~(uint32_t)(INFEROMETER_PLUGIN_CPU | INFEROMETER_PLUGIN_CUDA)) != 0)
        return bad(check, "devices", "has bits that are not known");
    return IFM_OK;
}

enum ifm_status ifm_plugin_check(struct ifm_plugin *plugin, const char *where, const struct ifm_plugin_taken *taken,
                                 struct ifm_arena *arena, struct ifm_error *error)
{
    const struct inferometer_plugin *table = &plugin->table;
    struct check check = {where, taken, arena, error};
    IFM_TRY(check_name(&check, "name", table->name));
    if (is_among(table->name, taken->names) || ifm_workload_find(table->name) != NULL)
        return ifm_fail(error, IFM_USAGE, where, "give the plugin another name", "name '%s' is taken", table->name);
    IFM_TRY(check_sentence(&check, "purpose", table->purpose));
    IFM_TRY(check_sentence(&check, "timed_region", table->timed_region));
    IFM_TRY(check_functions(&check, table));
    IFM_TRY(check_params(&check, plugin));
    return check_counters(&check, plugin);
}
