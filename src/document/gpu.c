/* The GPUs of the record: what they are, their state before and after the run, and what held their clocks down. */
#include "derive/gpu_held.h"
#include "document/build.h"
#include "document/quantity.h"
#include <string.h>

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
        return ifm_fact_scalars(table, value);
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
        ifm_fact_tree(table, label_of(table, gpu, ""), gpu);
        return;
    }
    json_object_foreach((json_t *)gpu, key, member)
    {
        const char *text = json_is_object(member) ? flat(table, member) : NULL;
        if (strcmp(key, "index") == 0)
            continue;
        if (text == NULL || json_object_get(member, "absent") != NULL)
            ifm_fact_tree(table, label_of(table, gpu, key), member);
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

void ifm_fact_gpus(struct ifm_facts_table *table, const json_t *gpus)
{
    const json_t *devices = json_object_get(gpus, "devices");
    size_t index;
    json_t *gpu;
    const char *key;
    json_object_foreach((json_t *)gpus, key, gpu)
    {
        if (gpu != devices || !json_is_array(devices))
            ifm_fact_tree(table, ifm_arena_printf(table->builder->arena, "gpu %s", key), gpu);
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
