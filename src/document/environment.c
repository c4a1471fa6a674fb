/* The record: the machine with its GPUs, lock by lock, the files that were read, and each setting, as names and values.
 */
#include "document/build.h"

#include "base/text.h"
#include "document/quantity.h"
#include "model/machine_facts.h"
#include <string.h>

/* ---- facts as name and value ---- */

void ifm_fact(struct ifm_facts_table *table, const char *name, const char *text, bool absent)
{
    size_t n = table->n;
    IFM_ARENA_GROW(table->builder->arena, table->fields, n, table->capacity);
    table->fields[n] = ifm_field_text(name, IFM_TONE_PLAIN);
    IFM_ARENA_GROW(table->builder->arena, table->fields, n + 1, table->capacity);
    table->fields[n + 1] = ifm_field_text(text, absent ? IFM_TONE_DIM : IFM_TONE_PLAIN);
    table->n += 2;
}

void ifm_facts_end(struct ifm_facts_table *table, struct ifm_block *parent)
{
    struct ifm_grid grid = ifm_grid_make(table->builder->arena, 2, 0);
    grid.headings[0].left = grid.headings[1].left = true;
    grid.look = IFM_GRID_FACTS;
    grid.fields = table->fields;
    grid.n_rows = table->n / 2;
    ifm_add_grid(table->builder, parent, &grid);
}

static const char *scalar_text(struct ifm_facts_table *table, const json_t *value)
{
    if (json_is_string(value))
        return json_string_value(value);
    struct ifm_text text = {0};
    ifm_json_print(value, false, &text);
    const char *copy = ifm_arena_printf(table->builder->arena, "%s", text.data);
    ifm_text_free(&text);
    return copy;
}

static bool is_scalar_list(const json_t *list)
{
    size_t index;
    json_t *item;
    json_array_foreach((json_t *)list, index, item)
    {
        if (json_is_object(item) || json_is_array(item))
            return false;
    }
    return true;
}

/* "level 1, type Data, bytes 32768", or NULL when a member is itself a tree. */
static const char *flat_object(struct ifm_facts_table *table, const json_t *object)
{
    const char *key, *text = "";
    json_t *member;
    if (!json_is_object(object) || json_object_get(object, "absent") != NULL)
        return NULL;
    json_object_foreach((json_t *)object, key, member)
    {
        if (json_is_object(member) || json_is_array(member))
            return NULL;
        text = ifm_arena_printf(table->builder->arena, "%s%s%s %s", text, text[0] == '\0' ? "" : ", ", key,
                                scalar_text(table, member));
    }
    return text;
}

static const char *scalars(struct ifm_facts_table *table, const json_t *value)
{
    size_t index;
    json_t *item;
    const char *text = "";
    if (!json_is_array(value))
        return scalar_text(table, value);
    if (!is_scalar_list(value))
        return NULL;
    json_array_foreach((json_t *)value, index, item)
    {
        text =
            ifm_arena_printf(table->builder->arena, "%s%s%s", text, index == 0 ? "" : ", ", scalar_text(table, item));
    }
    return text;
}

static void add_tree(struct ifm_facts_table *table, const char *name, const json_t *value);

static void add_list(struct ifm_facts_table *table, const char *name, const json_t *list)
{
    size_t index;
    json_t *item;
    const char *text = scalars(table, list);
    if (text == NULL) {
        json_array_foreach((json_t *)list, index, item)
        {
            const char *label = ifm_arena_printf(table->builder->arena, "%s %zu", name, index + 1),
                       *flat = flat_object(table, item);
            if (flat != NULL)
                ifm_fact(table, label, flat, false);
            else
                add_tree(table, label, item);
        }
        return;
    }
    ifm_fact(table, name, text, false);
}

/* A tree of facts, one row a leaf; {"absent": reason, "remedy": ...} is a leaf. */
static void add_tree(struct ifm_facts_table *table, const char *name, const json_t *value)
{
    const char *absent = json_string_value(json_object_get(value, "absent"));
    const char *remedy = json_string_value(json_object_get(value, "remedy"));
    const char *key;
    json_t *member;
    if (absent != NULL) {
        ifm_fact(table, name,
                 ifm_arena_printf(table->builder->arena, "absent: %s%s%s", absent, remedy == NULL ? "" : IFM_REMEDY,
                                  remedy == NULL ? "" : remedy),
                 true);
    } else if (json_is_object(value)) {
        json_object_foreach((json_t *)value, key, member)
        {
            add_tree(table, ifm_arena_printf(table->builder->arena, "%s%s%s", name, name[0] == '\0' ? "" : " ", key),
                     member);
        }
    } else if (json_is_array(value)) {
        add_list(table, name, value);
    } else if (value != NULL) {
        ifm_fact(table, name, scalar_text(table, value), json_is_null(value));
    }
}

/* ---- GPUs ---- */

/* "sm 1980, memory 3201" of an object of scalars, "a, b" of a list, a scalar's own text; NULL for what is deeper. */
static const char *flat(struct ifm_facts_table *table, const json_t *value)
{
    const char *key, *text = "", *absent = json_string_value(json_object_get(value, "absent"));
    json_t *member;
    if (absent != NULL)
        return ifm_arena_printf(table->builder->arena, "absent (%s)", absent);
    if (json_is_array(value) && json_array_size(value) == 0)
        return "none";
    if (!json_is_object(value))
        return scalars(table, value);
    json_object_foreach((json_t *)value, key, member)
    {
        const char *inner =
            json_is_object(member) && json_object_get(member, "absent") == NULL ? NULL : flat(table, member);
        if (inner == NULL)
            return NULL;
        text = ifm_arena_printf(table->builder->arena, "%s%s%s %s", text, text[0] == '\0' ? "" : ", ", key, inner);
    }
    return text;
}

static const char *label_of(struct ifm_facts_table *table, const json_t *gpu, const char *what)
{
    return ifm_arena_printf(table->builder->arena, "gpu %lld%s%s",
                            (long long)json_integer_value(json_object_get(gpu, "index")), what[0] == '\0' ? "" : " ",
                            what);
}

static void add_device(struct ifm_facts_table *table, const json_t *gpu)
{
    const char *key;
    json_t *member;
    if (json_object_get(gpu, "absent") != NULL) {
        add_tree(table, label_of(table, gpu, ""), gpu);
        return;
    }
    json_object_foreach((json_t *)gpu, key, member)
    {
        const char *text = json_is_object(member) ? flat(table, member) : NULL;
        if (strcmp(key, "index") == 0)
            continue;
        if (text == NULL || json_object_get(member, "absent") != NULL)
            add_tree(table, label_of(table, gpu, key), member);
        else
            ifm_fact(table, label_of(table, gpu, key), text, false);
    }
}

/* One line: "clock_mhz sm 1980, memory 3201; pstate 0; ...". Accumulators mean something as differences only. */
static void add_state(struct ifm_facts_table *table, const json_t *gpu, const char *when)
{
    static const char *const left_out[] = {"index", "read_ns", "accumulators", "accumulators_from", "measured"};
    const char *key, *line = "";
    json_t *member;
    json_object_foreach((json_t *)gpu, key, member)
    {
        bool told = true;
        for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
            told &= strcmp(key, left_out[i]) != 0;
        const char *text = told ? flat(table, member) : NULL;
        if (text != NULL)
            line = ifm_arena_printf(table->builder->arena, "%s%s%s: %s", line, line[0] == '\0' ? "" : "; ", key, text);
    }
    ifm_fact(table, label_of(table, gpu, ifm_arena_printf(table->builder->arena, "%s the run", when)), line, false);
}

/* "power_cap_ns" is "power cap" in words. */
static const char *cause_of(struct ifm_facts_table *table, const char *name)
{
    char *words = ifm_arena_strdup(table->builder->arena, name);
    size_t length = strlen(words);
    if (length > 3 && strcmp(words + length - 3, "_ns") == 0)
        words[length - 3] = '\0';
    for (char *c = words; *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    return words;
}

static void add_held(struct ifm_facts_table *table)
{
    struct ifm_gpu_held *held;
    size_t n = ifm_derive_gpu_held(table->builder->from->events, table->builder->arena, &held);
    for (size_t i = 0; i < n;) {
        int64_t gpu = held[i].gpu;
        const char *text = "";
        for (; i < n && held[i].gpu == gpu; i++)
            if (held[i].ns > 0)
                text = ifm_arena_printf(table->builder->arena, "%s%s%s %s", text, text[0] == '\0' ? "" : ", ",
                                        cause_of(table, held[i].name),
                                        ifm_quantity_bare((double)held[i].ns, "ns", table->builder->arena));
        ifm_fact(table,
                 ifm_arena_printf(table->builder->arena, "gpu %lld clock held down in the run by", (long long)gpu),
                 text[0] == '\0' ? "nothing" : text, false);
    }
}

static void add_gpus(struct ifm_facts_table *table, const json_t *gpus)
{
    const json_t *devices = json_object_get(gpus, "devices");
    size_t index;
    json_t *gpu;
    const char *key;
    json_object_foreach((json_t *)gpus, key, gpu)
    {
        if (gpu != devices || !json_is_array(devices))
            add_tree(table, ifm_arena_printf(table->builder->arena, "gpu %s", key), gpu);
    }
    json_array_foreach((json_t *)devices, index, gpu)
    {
        add_device(table, gpu);
    }
    IFM_EACH(event, table->builder->from->events, gpu_state, NULL, NULL) {
        const struct ifm_event_gpu_state *state = IFM_FACTS(event, gpu_state);
        for (size_t i = 0; state->cell == NULL && i < json_array_size(state->gpus); i++)
            add_state(table, json_array_get(state->gpus, i), state->when);
    }
    add_held(table);
}

/* ---- the record ---- */

static void add_locks(struct ifm_facts_table *table)
{
    IFM_EACH(event, table->builder->from->events, locks, NULL, NULL) {
        const struct ifm_event_locks *locks = IFM_FACTS(event, locks);
        for (size_t k = 0; k < locks->knobs.n; k++) {
            const struct ifm_event_knob *knob = &locks->knobs.items[k];
            const char *text =
                ifm_arena_printf(table->builder->arena, "%s%s%s%s%s", knob->locked ? "locked" : "not locked",
                                 knob->value == NULL ? "" : ", ", knob->value == NULL ? "" : knob->value,
                                 knob->reason[0] == '\0' ? "" : ": ", knob->reason);
            ifm_fact(table, ifm_arena_printf(table->builder->arena, "lock %s, %s the run", knob->knob, locks->when),
                     text, false);
        }
    }
}

/* A later session says the same again. */
static bool is_told_before(const struct ifm_events *events, const struct ifm_event *event)
{
    const struct ifm_event *earlier = NULL;
    while ((earlier = ifm_events_next(events, event->stage, NULL, NULL, earlier)) != event)
        if (ifm_event_equal(earlier, event))
            return true;
    return false;
}

/* The files that arms read, by base name and content. */
static void add_inputs(struct ifm_facts_table *table)
{
    struct ifm_arena *arena = table->builder->arena;
    IFM_EACH(event, table->builder->from->events, input, NULL, NULL) {
        const struct ifm_event_input *input = IFM_FACTS(event, input);
        if (is_told_before(table->builder->from->events, event))
            continue;
        ifm_fact(table, ifm_arena_printf(arena, "input file, %s", input->setting),
                 ifm_arena_printf(arena, "%s, SHA-256 %s", input->file, input->sha256), false);
        const char *id = json_string_value(json_object_get(input->licence, "id"));
        const char *from = json_string_value(json_object_get(input->licence, "from"));
        const char *name = ifm_arena_printf(arena, "licence of %s", input->file);
        if (id != NULL && from != NULL)
            ifm_fact(table, name, ifm_arena_printf(arena, "%s, as %s beside it says", id, from), false);
        else
            add_tree(table, name, input->licence);
    }
}

/* The device of each cell that has a GPU. */
static void add_devices(struct ifm_facts_table *table)
{
    const struct ifm_events *events = table->builder->from->events;
    IFM_EACH(event, events, device, NULL, NULL) {
        const struct ifm_event_device *device = IFM_FACTS(event, device);
        if (ifm_device_facts_of(events, device->cell).gpu != NULL && !is_told_before(events, event))
            add_tree(table, ifm_arena_printf(table->builder->arena, "device of %s,", device->cell), device->facts);
    }
}

static void add_environment(struct ifm_facts_table *table)
{
    const json_t *fingerprint = ifm_fingerprint_of(table->builder->from->events).all;
    json_t *host = json_copy((json_t *)fingerprint);
    json_t *gpus = json_incref(json_object_get(host, "gpu"));
    bool apart = json_object_get(gpus, "absent") == NULL && json_is_object(gpus);
    if (fingerprint == NULL)
        ifm_fact(table, "environment", "absent: run.log holds no environment event", true);
    if (apart)
        json_object_del(host, "gpu");
    add_tree(table, "", host);
    add_gpus(table, apart ? gpus : NULL);
    add_devices(table);
    add_inputs(table);
    add_locks(table);
    json_decref(gpus);
    json_decref(host);
}

void ifm_build_environment(struct ifm_builder *builder)
{
    struct ifm_facts_table table = {.builder = builder};
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_PAGE, "environment", "Environment");
    section->folded = true;
    add_environment(&table);
    ifm_facts_end(&table, section);
}

void ifm_build_configuration(struct ifm_builder *builder)
{
    struct ifm_facts_table table = {.builder = builder};
    const json_t *lock = builder->from->lock, *parameters = json_object_get(lock, "parameters");
    if (parameters == NULL)
        return;
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_PAGE, "configuration", "Configuration");
    section->folded = true;
    add_tree(&table, "", parameters);
    add_tree(&table, "arms", json_object_get(lock, "arms"));
    add_tree(&table, "gates", json_object_get(lock, "gates"));
    ifm_facts_end(&table, section);
}
