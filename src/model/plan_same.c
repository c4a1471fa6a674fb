/* Two plans, leaf by leaf, by the tables of plan.json's members. */
#include "model/plan_same.h"

#include "base/text.h"
#include "model/plan_fields.h"
#include <math.h>
#include <string.h>

struct two_plans {
    struct ifm_arena *arena;
    struct ifm_plan_leaves *out;
    size_t cell;
};

/* Where in the plan: a chain on the stack, made into text only for a leaf that differs. */
struct place {
    const struct place *up; /* NULL for the plan itself */
    const char *key;        /* NULL for an element of an array */
    size_t index;
};

static void add_place(const struct place *place, struct ifm_text *out)
{
    if (place == NULL)
        return;
    add_place(place->up, out);
    if (place->key == NULL)
        ifm_text_printf(out, "[%zu]", place->index);
    else
        ifm_text_printf(out, "%s%s", place->up == NULL ? "" : ".", place->key);
}

static void differ(const struct two_plans *c, const struct place *place, const char *has, const char *gives)
{
    struct ifm_text path = {0};
    add_place(place, &path);
    IFM_ARENA_GROW(c->arena, c->out->items, c->out->n, c->out->capacity);
    c->out->items[c->out->n++] = (struct ifm_plan_leaf){
        .cell = c->cell, .path = ifm_arena_strdup(c->arena, path.data), .has = has, .gives = gives};
    ifm_text_free(&path);
}

static const char *shown_text(const struct two_plans *c, const char *text)
{
    return text == NULL ? "nothing" : ifm_arena_printf(c->arena, "\"%s\"", text);
}

static void compare_texts(const struct two_plans *c, const struct place *place, const char *has, const char *gives)
{
    bool same = has == NULL || gives == NULL ? has == gives : strcmp(has, gives) == 0;
    if (!same)
        differ(c, place, shown_text(c, has), shown_text(c, gives));
}

static const char *shown(const struct two_plans *c, const struct ifm_plan_field *field, const void *at)
{
    struct ifm_text text = {0};
    json_t *json = ifm_plan_field_json(field, at), *row = json_pack("[o]", json == NULL ? json_null() : json);
    ifm_json_print(row, false, &text); /* a list of one, for a value alone is no document */
    const char *kept = ifm_arena_printf(c->arena, "%.*s", (int)text.size - 2, text.data + 1);
    ifm_text_free(&text);
    json_decref(row);
    return kept;
}

static bool same_text(const void *a, const void *b)
{
    const char *one, *other;
    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return strcmp(one == NULL ? "" : one, other == NULL ? "" : other) == 0;
}

static bool same_real(const void *a, const void *b)
{
    double one, other;
    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return fabs(one - other) <= 1e-12 * fmax(fabs(one), fabs(other));
}

static bool same_field(const struct ifm_plan_field *field, const void *a, const void *b)
{
    switch (field->kind) {
    case IFM_FIELD_TEXT:
        return same_text(a, b);
    case IFM_FIELD_BOOL:
        return memcmp(a, b, sizeof(bool)) == 0;
    case IFM_FIELD_F64:
        return same_real(a, b);
    case IFM_FIELD_U32:
    case IFM_FIELD_WORD:
        return memcmp(a, b, sizeof(unsigned)) == 0;
    case IFM_FIELD_U64:
    case IFM_FIELD_SEED:
        return memcmp(a, b, sizeof(uint64_t)) == 0;
    case IFM_FIELD_NESTED:
        break; /* its owner compares it */
    }
    return true;
}

/* The members of one record that are not nested. */
static void compare_record(const struct two_plans *c, const struct place *place, const struct ifm_field_table *table,
                           const void *has, const void *made)
{
    for (size_t i = 0; i < table->n; i++) {
        const struct ifm_plan_field *field = &table->rows[i];
        const char *a = (const char *)has + field->offset, *b = (const char *)made + field->offset;
        const struct place member = {place, field->key, 0};
        if (!same_field(field, a, b))
            differ(c, &member, shown(c, field, a), shown(c, field, b));
    }
}

static const char *find(const struct ifm_setting *settings, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(settings[i].path, path) == 0)
            return settings[i].text;
    return NULL;
}

/* By path: the order of an object's members says nothing. */
static void compare_settings(const struct two_plans *c, const struct place *up, const char *key,
                             const struct ifm_setting *has, size_t n_has, const struct ifm_setting *made, size_t n_made)
{
    const struct place place = {up, key, 0};
    for (size_t i = 0; i < n_made; i++) {
        const struct place member = {&place, made[i].path, 0};
        bool there = i < n_has && strcmp(has[i].path, made[i].path) == 0;
        compare_texts(c, &member, there ? has[i].text : find(has, n_has, made[i].path), made[i].text);
    }
    for (size_t i = 0; i < n_has; i++) {
        const struct place member = {&place, has[i].path, 0};
        if (find(made, n_made, has[i].path) == NULL)
            differ(c, &member, shown_text(c, has[i].text), "nothing");
    }
}

static void compare_lists(const struct two_plans *c, const struct place *up, const char *key, const char *const *has,
                          size_t n_has, const char *const *made, size_t n_made)
{
    const struct place place = {up, key, 0};
    for (size_t i = 0; i < n_has || i < n_made; i++) {
        const struct place element = {&place, NULL, i};
        compare_texts(c, &element, i < n_has ? has[i] : NULL, i < n_made ? made[i] : NULL);
    }
}

static void compare_arms(const struct two_plans *c, const struct place *up, const struct ifm_cell *has,
                         const struct ifm_cell *made)
{
    const struct place place = {up, "arms", 0};
    for (size_t i = 0; i < has->n_arms || i < made->n_arms; i++) {
        const struct place arm = {&place, NULL, i}, ledger = {&arm, "ledger", 0};
        if (i >= has->n_arms || i >= made->n_arms) {
            compare_texts(c, &arm, i < has->n_arms ? has->arms[i].name : NULL,
                          i < made->n_arms ? made->arms[i].name : NULL);
            continue;
        }
        const struct ifm_arm *a = &has->arms[i], *b = &made->arms[i];
        compare_record(c, &arm, &ifm_arm_fields, a, b);
        compare_settings(c, &arm, "settings", a->settings, a->n_settings, b->settings, b->n_settings);
        compare_settings(c, &arm, "chosen", a->chosen, a->n_chosen, b->chosen, b->n_chosen);
        compare_record(c, &ledger, &ifm_ledger_fields, &a->ledger, &b->ledger);
    }
}

static void compare_passes(const struct two_plans *c, const struct place *up, const struct ifm_cell *has,
                           const struct ifm_cell *made)
{
    const struct place place = {up, "passes", 0};
    for (size_t i = 0; i < has->n_passes || i < made->n_passes; i++) {
        const struct place pass = {&place, NULL, i};
        if (i >= has->n_passes || i >= made->n_passes) {
            compare_texts(c, &pass, i < has->n_passes ? ifm_pass_name(&has->passes[i]) : NULL,
                          i < made->n_passes ? ifm_pass_name(&made->passes[i]) : NULL);
            continue;
        }
        const struct ifm_pass *a = &has->passes[i], *b = &made->passes[i];
        compare_record(c, &pass, &ifm_pass_fields, a, b);
        compare_lists(c, &pass, "instruments", a->instruments, a->n_instruments, b->instruments, b->n_instruments);
        compare_lists(c, &pass, "columns", a->columns, a->n_columns, b->columns, b->n_columns);
        compare_lists(c, &pass, "column_units", a->column_units, a->n_columns, b->column_units, b->n_columns);
    }
}

static void compare_cell(const struct two_plans *c, const struct place *place, const struct ifm_cell *has,
                         const struct ifm_cell *made)
{
    const struct place measure = {place, "measure", 0};
    compare_record(c, place, &ifm_cell_fields, has, made);
    compare_settings(c, place, "axes", has->axes, has->n_axes, made->axes, made->n_axes);
    compare_record(c, &measure, &ifm_measure_fields, &has->measure, &made->measure);
    compare_arms(c, place, has, made);
    compare_passes(c, place, has, made);
}

/* One cell too many or too few moves all behind it: the first that is another is named, and no more. */
static void compare_counts(const struct two_plans *c, const struct place *place, const struct ifm_plan *has,
                           const struct ifm_plan *made)
{
    size_t i = 0;
    while (i < has->n_cells && i < made->n_cells && strcmp(has->cells[i].name, made->cells[i].name) == 0)
        i++;
    const struct place cell = {place, NULL, i};
    compare_texts(c, &cell, i < has->n_cells ? has->cells[i].name : NULL,
                  i < made->n_cells ? made->cells[i].name : NULL);
}

static void compare_gates(const struct two_plans *c, const struct ifm_plan *has, const struct ifm_plan *made)
{
    const struct place place = {NULL, "gates", 0};
    for (size_t i = 0; i < has->n_gates || i < made->n_gates; i++) {
        const struct place gate = {&place, NULL, i};
        if (i < has->n_gates && i < made->n_gates)
            compare_record(c, &gate, &ifm_gate_fields, &has->gates[i], &made->gates[i]);
        else
            compare_texts(c, &gate, i < has->n_gates ? has->gates[i].name : NULL,
                          i < made->n_gates ? made->gates[i].name : NULL);
    }
}

void ifm_plan_differences(const struct ifm_plan *has, const struct ifm_plan *made, struct ifm_arena *arena,
                          struct ifm_plan_leaves *out)
{
    struct two_plans c = {arena, out, IFM_WHOLE_PLAN};
    const struct place cells = {NULL, "cells", 0};
    struct ifm_plan wanted = *made;
    wanted.run_id = has->run_id;
    wanted.rules = has->rules;
    compare_record(&c, NULL, &ifm_plan_fields, has, &wanted);
    if (has->n_cells != made->n_cells)
        compare_counts(&c, &cells, has, made);
    for (size_t i = 0; i < has->n_cells && has->n_cells == made->n_cells; i++) {
        const struct place cell = {&cells, NULL, i};
        c.cell = i;
        compare_cell(&c, &cell, &has->cells[i], &made->cells[i]);
    }
    c.cell = IFM_WHOLE_PLAN;
    compare_gates(&c, has, made);
}
