/* Reading plan.json: every member typed and required, no other member, and a plan that agrees with itself. */
#include "base/file.h"
#include "base/hash.h"
#include "base/names.h"
#include "base/text.h"
#include "model/plan_fields.h"
#include "model/plan_json.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char hint[] = "the file was edited or cut; restore it or measure again";

struct plan_reader {
    const char *where;
    struct ifm_arena *arena;
    struct ifm_error *error;
};

/* Where in the document: a chain on the stack, made into text only for a message. */
struct plan_place {
    const struct plan_reader *reader;
    const struct plan_place *up; /* NULL for the document itself */
    const char *key;             /* NULL for an element of an array */
    size_t index;
};

static void add_place(const struct plan_place *place, struct ifm_text *out)
{
    if (place->up == NULL)
        return;
    add_place(place->up, out);
    if (place->key == NULL)
        ifm_text_printf(out, "[%zu]", place->index);
    else
        ifm_text_printf(out, "%s%s", place->up->up == NULL ? "" : ".", place->key);
}

static enum ifm_status fail_at(const struct plan_place *place, const char *message)
{
    struct ifm_text where = {0}, path = {0};
    add_place(place, &path);
    ifm_text_printf(&where, "%s%s%s", place->reader->where, path.size == 0 ? "" : ": ",
                    path.size == 0 ? "" : path.data);
    enum ifm_status status = ifm_fail(place->reader->error, IFM_INVALID, where.data, hint, "%s", message);
    ifm_text_free(&path);
    ifm_text_free(&where);
    return status;
}

/* What a typed read of base/json.h gave: where it failed, say where in the document. */
static enum ifm_status placed(const struct plan_place *place, enum ifm_status status)
{
    if (status == IFM_OK)
        return IFM_OK;
    char message[sizeof place->reader->error->message];
    memcpy(message, place->reader->error->message, sizeof message);
    return fail_at(place, message);
}

/* ---- members ---- */

static enum ifm_status read_u64(const json_t *object, const struct ifm_plan_field *field,
                                const struct plan_place *place, uint64_t *out)
{
    const json_t *value = json_object_get(object, field->key);
    bool as_text = field->kind == IFM_FIELD_SEED || json_is_string(value);
    if (!as_text)
        return placed(place, ifm_json_get_u64(object, field->key, NULL, out, place->reader->error));
    const char *text;
    IFM_TRY(placed(place, ifm_json_get_string(object, field->key, NULL, &text, place->reader->error)));
    char again[24] = "";
    if (ifm_parse_u64(text, out))
        snprintf(again, sizeof again, "%" PRIu64, *out);
    if (strcmp(text, again) != 0)
        return fail_at(place, "the text is not a decimal integer of 64 bits");
    if (field->kind == IFM_FIELD_U64 && *out <= INT64_MAX)
        return fail_at(place, "an integer of at least 0 is needed, not text");
    return IFM_OK;
}

static enum ifm_status read_word(const char *text, const struct ifm_plan_field *field, const struct plan_place *place,
                                 int *out)
{
    struct ifm_text message = {0};
    ifm_text_printf(&message, "\"%s\" is not known;", text);
    for (int i = 0; field->words[i] != NULL; i++) {
        if (strcmp(text, field->words[i]) == 0) {
            ifm_text_free(&message);
            *out = i;
            return IFM_OK;
        }
        ifm_text_printf(&message, "%s \"%s\"", i == 0 ? "" : ",", field->words[i]);
    }
    ifm_text_add(&message, " are possible");
    enum ifm_status status = fail_at(place, message.data);
    ifm_text_free(&message);
    return status;
}

static enum ifm_status read_text(const json_t *object, const struct ifm_plan_field *field,
                                 const struct plan_place *place, char *at)
{
    const char *text;
    int word = 0;
    IFM_TRY(placed(place, ifm_json_get_string(object, field->key, NULL, &text, place->reader->error)));
    if (field->kind == IFM_FIELD_TEXT) {
        text = ifm_arena_strdup(place->reader->arena, text);
        memcpy(at, &text, sizeof text);
        return IFM_OK;
    }
    IFM_TRY(read_word(text, field, place, &word));
    memcpy(at, &word, sizeof word);
    return IFM_OK;
}

static enum ifm_status read_number(const json_t *object, const struct ifm_plan_field *field,
                                   const struct plan_place *place, char *at)
{
    uint64_t large = 0;
    double real = 0;
    if (field->kind == IFM_FIELD_F64) {
        IFM_TRY(placed(place, ifm_json_get_f64(object, field->key, NULL, &real, place->reader->error)));
        memcpy(at, &real, sizeof real);
        return IFM_OK;
    }
    IFM_TRY(read_u64(object, field, place, &large));
    if (field->kind != IFM_FIELD_U32) {
        memcpy(at, &large, sizeof large);
        return IFM_OK;
    }
    unsigned small = (unsigned)large;
    if (small != large)
        return fail_at(place, "the number is above 4294967295");
    memcpy(at, &small, sizeof small);
    return IFM_OK;
}

static enum ifm_status read_member(const json_t *object, const struct ifm_plan_field *field,
                                   const struct plan_place *place, char *at)
{
    bool boolean;
    switch (field->kind) {
    case IFM_FIELD_TEXT:
    case IFM_FIELD_WORD:
        return read_text(object, field, place, at);
    case IFM_FIELD_BOOL:
        IFM_TRY(placed(place, ifm_json_get_bool(object, field->key, NULL, &boolean, place->reader->error)));
        memcpy(at, &boolean, sizeof boolean);
        return IFM_OK;
    case IFM_FIELD_F64:
    case IFM_FIELD_U32:
    case IFM_FIELD_U64:
    case IFM_FIELD_SEED:
        return read_number(object, field, place, at);
    case IFM_FIELD_NESTED:
        break;
    }
    return IFM_OK;
}

/* What a member is that is not there: the arena's memory is zero. */
static void leave_out(const struct ifm_plan_field *field, char *at)
{
    uint64_t whole = (uint64_t)field->otherwise;
    static const char *const nothing = "";
    if (field->kind == IFM_FIELD_F64)
        memcpy(at, &field->otherwise, sizeof field->otherwise);
    if (field->kind == IFM_FIELD_U64)
        memcpy(at, &whole, sizeof whole);
    if (field->kind == IFM_FIELD_TEXT)
        memcpy(at, &nothing, sizeof nothing);
}

/* An object of `table` into `record`; nested members are only checked to be there and are left to the caller. */
static enum ifm_status read_object(const json_t *object, const struct ifm_field_table *table,
                                   const struct plan_place *place, void *record)
{
    if (!json_is_object(object))
        return fail_at(place, "an object is needed");
    size_t known = 0;
    for (size_t i = 0; i < table->n; i++) {
        const struct ifm_plan_field *field = &table->rows[i];
        struct plan_place member = {place->reader, place, field->key, 0};
        if (field->optional && json_object_get(object, field->key) == NULL) {
            leave_out(field, (char *)record + field->offset);
            continue;
        }
        if (field->kind == IFM_FIELD_NESTED && json_object_get(object, field->key) == NULL)
            return fail_at(&member, "the member is missing");
        IFM_TRY(read_member(object, field, &member, (char *)record + field->offset));
        known++;
    }
    if (json_object_size(object) == known)
        return IFM_OK;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        size_t i = 0;
        while (i < table->n && strcmp(table->rows[i].key, key) != 0)
            i++;
        struct plan_place member = {place->reader, place, key, 0};
        if (i == table->n)
            return fail_at(&member, "a plan has no such member");
    }
    return IFM_OK;
}

/* ---- lists ---- */

typedef enum ifm_status item_fn(const json_t *json, const struct plan_place *place, void *record);

/* The array member `key` of `object`; its elements are read by `item` into records of `size` bytes. */
static enum ifm_status read_array(const json_t *object, const char *key, const struct plan_place *up, size_t size,
                                  item_fn *item, void **out, size_t *n)
{
    struct plan_place place = {up->reader, up, key, 0};
    const json_t *array;
    IFM_TRY(placed(&place, ifm_json_get_array(object, key, NULL, &array, up->reader->error)));
    *n = json_array_size(array);
    *out = ifm_arena_alloc(up->reader->arena, *n * size);
    for (size_t i = 0; i < *n; i++) {
        struct plan_place element = {place.reader, &place, NULL, i};
        IFM_TRY(item(json_array_get(array, i), &element, (char *)*out + i * size));
    }
    return IFM_OK;
}

static enum ifm_status read_item_text(const json_t *json, const struct plan_place *place, void *record)
{
    if (!json_is_string(json))
        return fail_at(place, "a string is needed");
    const char *text = ifm_arena_strdup(place->reader->arena, json_string_value(json));
    memcpy(record, &text, sizeof text);
    return IFM_OK;
}

static enum ifm_status read_texts(const json_t *object, const char *key, const struct plan_place *up,
                                  const char *const **out, size_t *n)
{
    void *items;
    IFM_TRY(read_array(object, key, up, sizeof **out, read_item_text, &items, n));
    *out = items;
    return IFM_OK;
}

static enum ifm_status read_settings(const json_t *object, const char *key, const struct plan_place *up,
                                     const struct ifm_setting **out, size_t *n)
{
    struct plan_place place = {up->reader, up, key, 0};
    const json_t *settings;
    IFM_TRY(placed(&place, ifm_json_get_object(object, key, NULL, &settings, up->reader->error)));
    struct ifm_setting *items = IFM_ARENA_ARRAY(up->reader->arena, struct ifm_setting, json_object_size(settings));
    *n = 0;
    const char *path;
    json_t *text;
    json_object_foreach((json_t *)settings, path, text)
    {
        struct plan_place member = {place.reader, &place, path, 0};
        if (!json_is_string(text))
            return fail_at(&member, "a string is needed");
        items[*n].path = ifm_arena_strdup(up->reader->arena, path);
        items[(*n)++].text = ifm_arena_strdup(up->reader->arena, json_string_value(text));
    }
    *out = items;
    return IFM_OK;
}

/* ---- records ---- */

static enum ifm_status read_arm(const json_t *json, const struct plan_place *place, void *record)
{
    struct ifm_arm *arm = record;
    struct plan_place ledger = {place->reader, place, "ledger", 0};
    IFM_TRY(read_object(json, &ifm_arm_fields, place, arm));
    IFM_TRY(read_settings(json, "settings", place, &arm->settings, &arm->n_settings));
    if (json_object_get(json, "chosen") != NULL)
        IFM_TRY(read_settings(json, "chosen", place, &arm->chosen, &arm->n_chosen));
    return read_object(json_object_get(json, "ledger"), &ifm_ledger_fields, &ledger, &arm->ledger);
}

static enum ifm_status read_pass(const json_t *json, const struct plan_place *place, void *record)
{
    struct ifm_pass *pass = record;
    size_t n_units;
    IFM_TRY(read_object(json, &ifm_pass_fields, place, pass));
    IFM_TRY(read_texts(json, "instruments", place, &pass->instruments, &pass->n_instruments));
    IFM_TRY(read_texts(json, "columns", place, &pass->columns, &pass->n_columns));
    IFM_TRY(read_texts(json, "column_units", place, &pass->column_units, &n_units));
    struct plan_place units = {place->reader, place, "column_units", 0};
    if (n_units != pass->n_columns)
        return fail_at(&units, "there must be as many units as columns");
    return IFM_OK;
}

static enum ifm_status read_cell(const json_t *json, const struct plan_place *place, void *record)
{
    struct ifm_cell *cell = record;
    struct plan_place measure = {place->reader, place, "measure", 0};
    void *arms, *passes;
    IFM_TRY(read_object(json, &ifm_cell_fields, place, cell));
    IFM_TRY(read_settings(json, "axes", place, &cell->axes, &cell->n_axes));
    IFM_TRY(read_object(json_object_get(json, "measure"), &ifm_measure_fields, &measure, &cell->measure));
    IFM_TRY(read_array(json, "arms", place, sizeof *cell->arms, read_arm, &arms, &cell->n_arms));
    IFM_TRY(read_array(json, "passes", place, sizeof *cell->passes, read_pass, &passes, &cell->n_passes));
    cell->arms = arms;
    cell->passes = passes;
    return IFM_OK;
}

static enum ifm_status read_gpu(const json_t *json, const struct plan_place *up, const struct ifm_gpu **out)
{
    struct plan_place place = {up->reader, up, "gpu", 0};
    struct ifm_gpu *gpu = IFM_ARENA_NEW(up->reader->arena, struct ifm_gpu);
    const char *name;
    IFM_TRY(read_object(json, &ifm_gpu_fields, &place, gpu));
    IFM_TRY(placed(&place, ifm_json_get_string(json, "name", NULL, &name, up->reader->error)));
    snprintf(gpu->name, sizeof gpu->name, "%s", name);
    *out = gpu;
    return IFM_OK;
}

static enum ifm_status read_item_u64(const json_t *json, const struct plan_place *place, void *record)
{
    json_int_t number = json_is_integer(json) ? json_integer_value(json) : -1;
    uint64_t value = (uint64_t)number;
    if (number < 0)
        return fail_at(place, "an integer of at least 0 is needed");
    memcpy(record, &value, sizeof value);
    return IFM_OK;
}

static enum ifm_status read_machine(const json_t *json, const struct plan_place *up, const struct ifm_machine **out)
{
    struct plan_place place = {up->reader, up, "machine", 0}, caches = {up->reader, &place, "cache_reported", 0};
    struct ifm_machine *machine = IFM_ARENA_NEW(up->reader->arena, struct ifm_machine);
    void *levels;
    size_t n;
    IFM_TRY(read_object(json, &ifm_machine_fields, &place, machine));
    IFM_TRY(read_array(json, "cache_reported", &place, sizeof(uint64_t), read_item_u64, &levels, &n));
    if (n != IFM_CACHE_LEVELS)
        return fail_at(&caches, "a size for each of four levels is needed");
    memcpy(machine->cache_reported, levels, sizeof machine->cache_reported);
    IFM_TRY(read_texts(json, "isas", &place, &machine->isas, &machine->n_isas));
    if (json_object_get(json, "gpu") != NULL)
        IFM_TRY(read_gpu(json_object_get(json, "gpu"), &place, &machine->gpu));
    machine->blas = machine->blas[0] == '\0' ? NULL : machine->blas;
    machine->blas_why_not = machine->blas_why_not[0] == '\0' ? NULL : machine->blas_why_not;
    machine->dnn = machine->dnn[0] == '\0' ? NULL : machine->dnn;
    machine->dnn_why_not = machine->dnn_why_not[0] == '\0' ? NULL : machine->dnn_why_not;
    *out = machine;
    return IFM_OK;
}

static enum ifm_status read_gate(const json_t *json, const struct plan_place *place, void *record)
{
    return read_object(json, &ifm_gate_fields, place, record);
}

/* ---- a plan agrees with itself ---- */

/* The name of element `i` of records of `size` bytes that hold it at `offset`. */
static const char *name_of(const void *items, size_t size, size_t offset, size_t i)
{
    const char *name;
    memcpy(&name, (const char *)items + i * size + offset, sizeof name);
    return name;
}

/* Names are not empty and unique. `what` is their list: "arms". */
static enum ifm_status check_names(const struct plan_place *up, const char *what, const void *items, size_t n,
                                   size_t size, size_t offset)
{
    struct plan_place list = {up->reader, up, what, 0};
    struct ifm_names *names = ifm_names_create(up->reader->arena);
    for (size_t i = 0; i < n; i++) {
        struct plan_place element = {list.reader, &list, NULL, i};
        const char *name = name_of(items, size, offset, i);
        if (name[0] == '\0')
            return fail_at(&element, "the name is empty");
        if (ifm_names_add(names, name) != i)
            return fail_at(&element, ifm_arena_printf(up->reader->arena, "the name \"%s\" is used twice", name));
    }
    return IFM_OK;
}

static enum ifm_status check_equals(const struct plan_place *up, const struct ifm_cell *cell)
{
    struct plan_place list = {up->reader, up, "arms", 0};
    for (size_t a = 0; a < cell->n_arms; a++) {
        const char *name = cell->arms[a].equals;
        struct plan_place arm = {list.reader, &list, NULL, a}, equals = {arm.reader, &arm, "equals", 0};
        size_t other = 0;
        while (other < cell->n_arms && strcmp(cell->arms[other].name, name) != 0)
            other++;
        if (name[0] != '\0' && (other == cell->n_arms || other == a))
            return fail_at(&equals,
                           ifm_arena_printf(up->reader->arena, "\"%s\" is not another arm of this cell", name));
    }
    return IFM_OK;
}

/* run waits and derive divides by them: what the configuration would refuse is refused here too. */
static enum ifm_status check_energy(const struct plan_place *cell, const struct ifm_measure *measure)
{
    const struct {
        const char *key, *range;
        double number, least, most;
    } rows[] = {
        {"energy_window_s", "0.1 to 3600", measure->energy_window_s, 0.1, 3600},
        {"energy_windows", "3 to 10000", (double)measure->energy_windows, 3, 1e4},
        {"energy_idle_s", "1 to 3600", measure->energy_idle_s, 1, 3600},
        {"pre_roll_s", "0 to 600", measure->pre_roll_s, 0, 600},
        {"power_sample_hz", "0.1 to 100", measure->power_sample_hz, 0.1, 100},
        {"rated_w", "0 to 1000000", measure->rated_w, 0, 1e6},
    };
    struct plan_place place = {cell->reader, cell, "measure", 0};
    for (size_t i = 0; measure->energy && i < sizeof rows / sizeof *rows; i++) {
        struct plan_place member = {place.reader, &place, rows[i].key, 0};
        if (!(rows[i].number >= rows[i].least && rows[i].number <= rows[i].most))
            return fail_at(&member, ifm_arena_printf(cell->reader->arena, "%s are needed", rows[i].range));
    }
    return IFM_OK;
}

/* In the order of their kinds, so that none stands twice, and the latency pass, which every number of time comes from,
 * stands first. */
static enum ifm_status check_passes(const struct plan_place *passes, const struct ifm_cell *cell)
{
    for (size_t p = 0; p < cell->n_passes; p++) {
        const struct ifm_pass *pass = &cell->passes[p];
        struct plan_place element = {passes->reader, passes, NULL, p};
        if (p == 0 ? pass->kind != IFM_PASS_LATENCY : pass->kind <= pass[-1].kind)
            return fail_at(&element, "passes are latency, energy, counters, trace: in this order, each once");
        IFM_TRY(check_names(&element, "columns", pass->columns, pass->n_columns, sizeof *pass->columns, 0));
    }
    return IFM_OK;
}

static enum ifm_status check_cell(const struct plan_place *cells, const struct ifm_cell *cell, size_t i)
{
    struct plan_place place = {cells->reader, cells, NULL, i}, index = {place.reader, &place, "index", 0},
                      arms = {place.reader, &place, "arms", 0}, passes = {place.reader, &place, "passes", 0};
    bool runs = cell->unsupported[0] == '\0';
    struct plan_place measure = {place.reader, &place, "measure", 0},
                      truncate = {measure.reader, &measure, "truncate", 0},
                      resamples = {measure.reader, &measure, "resamples", 0};
    if (!(cell->measure.truncate >= 0 &&
          cell->measure.truncate <= 45)) /* derive cuts samples and takes memory by them */
        return fail_at(&truncate, "per cent from 0 to 45 are needed");
    if (cell->measure.resamples > 100000 || (cell->measure.resamples > 0 && cell->measure.resamples < 199))
        return fail_at(&resamples, "0, or 199 to 100000, are needed");
    IFM_TRY(check_energy(&place, &cell->measure));
    if (cell->index != i)
        return fail_at(&index, "the index is not the cell's place in the list");
    if (runs && cell->n_arms == 0)
        return fail_at(&arms, "a cell that runs has at least one arm");
    if (runs && cell->n_passes == 0)
        return fail_at(&passes, "a cell that runs has at least one pass");
    IFM_TRY(check_names(&place, "arms", cell->arms, cell->n_arms, sizeof *cell->arms, offsetof(struct ifm_arm, name)));
    IFM_TRY(check_equals(&place, cell));
    return check_passes(&passes, cell);
}

static enum ifm_status check_plan(const struct plan_place *root, const struct ifm_plan *plan)
{
    struct plan_place cells = {root->reader, root, "cells", 0};
    IFM_TRY(
        check_names(root, "cells", plan->cells, plan->n_cells, sizeof *plan->cells, offsetof(struct ifm_cell, name)));
    for (size_t i = 0; i < plan->n_cells; i++)
        IFM_TRY(check_cell(&cells, &plan->cells[i], i));
    return IFM_OK;
}

/* The schema comes first: a plan of another one may differ in everything else. */
static enum ifm_status check_schema(const struct plan_place *root, const json_t *json)
{
    struct plan_place place = {root->reader, root, "schema", 0};
    if (!json_is_object(json))
        return fail_at(root, "a plan is a JSON object");
    if (!json_is_integer(json_object_get(json, "schema")))
        return fail_at(&place, "\"schema\" is missing; an integer is needed");
    return ifm_json_check_schema(json, IFM_PLAN_SCHEMA, root->reader->where,
                                 "read the folder with the version that made it, or measure again",
                                 root->reader->error);
}

enum ifm_status ifm_plan_from_json(const json_t *json, const char *where, struct ifm_arena *arena,
                                   struct ifm_plan **out, struct ifm_error *error)
{
    struct ifm_error local;
    const struct plan_reader reader = {where, arena, error == NULL ? &local : error};
    const struct plan_place root = {&reader, NULL, NULL, 0};
    struct ifm_plan *plan = IFM_ARENA_NEW(arena, struct ifm_plan);
    void *cells, *gates;
    *out = NULL;
    IFM_TRY(check_schema(&root, json));
    IFM_TRY(read_object(json, &ifm_plan_fields, &root, plan));
    if (json_object_get(json, "machine") != NULL)
        IFM_TRY(read_machine(json_object_get(json, "machine"), &root, &plan->machine));
    IFM_TRY(read_array(json, "cells", &root, sizeof *plan->cells, read_cell, &cells, &plan->n_cells));
    IFM_TRY(read_array(json, "gates", &root, sizeof *plan->gates, read_gate, &gates, &plan->n_gates));
    plan->cells = cells;
    plan->gates = gates;
    IFM_TRY(check_plan(&root, plan));
    ifm_plan_index(plan, arena);
    *out = plan;
    return IFM_OK;
}

enum ifm_status ifm_plan_read(const char *dir, struct ifm_arena *arena, struct ifm_plan **out, struct ifm_error *error)
{
    json_t *json;
    const char *path = ifm_path_join(arena, dir, "plan.json");
    IFM_TRY(ifm_json_read(path, &json, error));
    enum ifm_status status = ifm_plan_from_json(json, path, arena, out, error);
    json_decref(json);
    return status;
}

const char *ifm_plan_sha256(const char *dir, struct ifm_arena *arena)
{
    struct ifm_sha256 hash;
    const char *path = ifm_path_join(arena, dir, "plan.json");
    return ifm_sha256_file(path, &hash, NULL) == IFM_OK ? ifm_arena_strdup(arena, hash.hex) : NULL;
}
