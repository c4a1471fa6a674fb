/* The plan as JSON: the tables of its members, and writing. */
#include "model/plan_json.h"
#include "model/plan_fields.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- tables ---- */

static const char *const role_words[] = {"baseline", "variant", "ceiling", NULL};
static const char *const ceiling_words[] = {"",     "read",  "write", "copy", "flops", "matrix",
                                            "int8", "clock", "L1",    "L2",   "L3",    NULL};
static const char *const stop_words[] = {"mde", "repeats", "group", "decided", NULL};
static const char *const cache_words[] = {"hot", "cold", NULL};
static const char *const lock_words[] = {"observed", "required", NULL};
static const char *const isolation_words[] = {"shared", "buffers", "processes", NULL};
static const char *const op_words[] = {"at_most", "at_least", NULL};

static_assert(sizeof(enum ifm_role) == sizeof(int) && sizeof(enum ifm_ceiling) == sizeof(int) &&
                  sizeof(enum ifm_pass_kind) == sizeof(int),
              "a word is stored as an int");

/* `optional`: newer than the schema; 0, false and an empty text, or `otherwise`, mean what folders without it mean. */
#define ROW(name, kind, offset, words, optional, otherwise)                                                            \
    {                                                                                                                  \
#name, IFM_FIELD_##kind, offset, words, optional, otherwise                                                    \
    }
#define FIELD(type, kind, name) ROW(name, kind, offsetof(type, name), NULL, false, 0)
#define OPTIONAL(type, kind, name) ROW(name, kind, offsetof(type, name), NULL, true, 0)
#define OTHERWISE(type, kind, name, value) ROW(name, kind, offsetof(type, name), NULL, true, value)
#define WORD(type, name, words) ROW(name, WORD, offsetof(type, name), words, false, 0)
#define NESTED(name) ROW(name, NESTED, 0, NULL, false, 0)
#define TABLE(table, array) const struct ifm_field_table table = {array, sizeof(array) / sizeof *(array)}

static const struct ifm_plan_field plan_rows[] = {
    NESTED(schema),
    FIELD(struct ifm_plan, TEXT, run_id),
    FIELD(struct ifm_plan, TEXT, config_hash),
    FIELD(struct ifm_plan, SEED, seed),
    FIELD(struct ifm_plan, TEXT, device),
    OPTIONAL(struct ifm_plan, U32, rules),
    {"machine", IFM_FIELD_NESTED, 0, NULL, true, 0},
    NESTED(cells),
    NESTED(gates),
};
TABLE(ifm_plan_fields, plan_rows);

static const struct ifm_plan_field machine_rows[] = {
    FIELD(struct ifm_machine, TEXT, device),
    FIELD(struct ifm_machine, BOOL, scripted),
    FIELD(struct ifm_machine, U32, cpus_allowed),
    FIELD(struct ifm_machine, U32, threads),
    FIELD(struct ifm_machine, U64, memory_available),
    NESTED(cache_reported),
    FIELD(struct ifm_machine, U32, llc_instances),
    OPTIONAL(struct ifm_machine, TEXT, arch),
    NESTED(isas),
    OPTIONAL(struct ifm_machine, TEXT, blas),
    OPTIONAL(struct ifm_machine, TEXT, blas_why_not),
    OPTIONAL(struct ifm_machine, TEXT, dnn),
    OPTIONAL(struct ifm_machine, TEXT, dnn_why_not),
    {"gpu", IFM_FIELD_NESTED, 0, NULL, true, 0},
};
TABLE(ifm_machine_fields, machine_rows);

static const struct ifm_plan_field gpu_rows[] = {
    NESTED(name),
    FIELD(struct ifm_gpu, U32, multiprocessors),
    FIELD(struct ifm_gpu, U32, major),
    FIELD(struct ifm_gpu, U32, minor),
    FIELD(struct ifm_gpu, U64, l2_bytes),
    FIELD(struct ifm_gpu, U64, memory_bytes),
    FIELD(struct ifm_gpu, U32, clock_khz),
    FIELD(struct ifm_gpu, U32, memory_clock_khz),
    OPTIONAL(struct ifm_gpu, U32, memory_bus_bits),
};
TABLE(ifm_gpu_fields, gpu_rows);

static const struct ifm_plan_field cell_rows[] = {
    FIELD(struct ifm_cell, U32, index),
    FIELD(struct ifm_cell, TEXT, name),
    FIELD(struct ifm_cell, TEXT, workload),
    FIELD(struct ifm_cell, U32, threads),
    FIELD(struct ifm_cell, SEED, seed),
    FIELD(struct ifm_cell, TEXT, unsupported),
    FIELD(struct ifm_cell, BOOL, cache_resident),
    OPTIONAL(struct ifm_cell, BOOL, ceilings_apart),
    NESTED(axes),
    NESTED(measure),
    NESTED(arms),
    NESTED(passes),
};
TABLE(ifm_cell_fields, cell_rows);

static const struct ifm_plan_field measure_rows[] = {
    FIELD(struct ifm_measure, U64, warmup),
    FIELD(struct ifm_measure, F64, warmup_cap_s),
    FIELD(struct ifm_measure, F64, steady_tolerance),
    WORD(struct ifm_measure, stop, stop_words),
    FIELD(struct ifm_measure, U64, repeats),
    FIELD(struct ifm_measure, F64, mde),
    FIELD(struct ifm_measure, F64, cap_s),
    FIELD(struct ifm_measure, U64, blocks_min),
    FIELD(struct ifm_measure, U64, blocks_max),
    FIELD(struct ifm_measure, U64, slot_steps),
    FIELD(struct ifm_measure, F64, slot_min_s),
    FIELD(struct ifm_measure, U64, inner),
    WORD(struct ifm_measure, cache, cache_words),
    FIELD(struct ifm_measure, F64, margin),
    WORD(struct ifm_measure, locks, lock_words),
    WORD(struct ifm_measure, isolation, isolation_words),
    FIELD(struct ifm_measure, U64, replica),
    OPTIONAL(struct ifm_measure, F64, truncate),
    OPTIONAL(struct ifm_measure, U64, resamples),
    OPTIONAL(struct ifm_measure, BOOL, counters),
    OPTIONAL(struct ifm_measure, BOOL, trace),
    OPTIONAL(struct ifm_measure, BOOL, energy),
    OTHERWISE(struct ifm_measure, F64, energy_window_s, 10),
    OTHERWISE(struct ifm_measure, U64, energy_windows, 4),
    OTHERWISE(struct ifm_measure, F64, energy_idle_s, 5),
    OTHERWISE(struct ifm_measure, F64, pre_roll_s, 1),
    OTHERWISE(struct ifm_measure, F64, power_sample_hz, 10),
    OPTIONAL(struct ifm_measure, F64, rated_w),
    OPTIONAL(struct ifm_measure, TEXT, power_meter),
};
TABLE(ifm_measure_fields, measure_rows);

static const struct ifm_plan_field arm_rows[] = {
    FIELD(struct ifm_arm, TEXT, name),
    WORD(struct ifm_arm, role, role_words),
    WORD(struct ifm_arm, ceiling, ceiling_words),
    FIELD(struct ifm_arm, TEXT, workload),
    FIELD(struct ifm_arm, TEXT, variant),
    NESTED(settings),
    OPTIONAL(struct ifm_arm, TEXT, implementation),
    OPTIONAL(struct ifm_arm, TEXT, title),
    {"chosen", IFM_FIELD_NESTED, 0, NULL, true, 0},
    OPTIONAL(struct ifm_arm, TEXT, idle),
    NESTED(ledger),
    FIELD(struct ifm_arm, U64, working_set),
    FIELD(struct ifm_arm, U64, memory),
    OPTIONAL(struct ifm_arm, U64, scratch),
    FIELD(struct ifm_arm, U64, stored),
    FIELD(struct ifm_arm, U64, stored_plain),
    FIELD(struct ifm_arm, BOOL, integer),
    OPTIONAL(struct ifm_arm, BOOL, matrix),
    FIELD(struct ifm_arm, BOOL, lossy),
    FIELD(struct ifm_arm, BOOL, has_oracle),
    FIELD(struct ifm_arm, F64, tolerance),
    FIELD(struct ifm_arm, TEXT, feature),
    FIELD(struct ifm_arm, TEXT, equals),
    FIELD(struct ifm_arm, F64, equal_bound),
    FIELD(struct ifm_arm, BOOL, fixed_inner),
    FIELD(struct ifm_arm, BOOL, gaps),
};
TABLE(ifm_arm_fields, arm_rows);

static const struct ifm_plan_field ledger_rows[] = {
    FIELD(struct ifm_ledger, U64, flops),
    FIELD(struct ifm_ledger, U64, bytes_read),
    FIELD(struct ifm_ledger, U64, bytes_written),
    FIELD(struct ifm_ledger, U64, tokens_prompt),
    FIELD(struct ifm_ledger, U64, tokens_generated),
    FIELD(struct ifm_ledger, U64, rows),
    OPTIONAL(struct ifm_ledger, U64, layers),
};
TABLE(ifm_ledger_fields, ledger_rows);

static const struct ifm_plan_field pass_rows[] = {
    {"name", IFM_FIELD_WORD, offsetof(struct ifm_pass, kind), ifm_pass_names, false, 0},
    NESTED(instruments),
    NESTED(columns),
    NESTED(column_units),
};
TABLE(ifm_pass_fields, pass_rows);

static const struct ifm_plan_field gate_rows[] = {
    FIELD(struct ifm_gate, TEXT, name),     FIELD(struct ifm_gate, TEXT, metric),
    FIELD(struct ifm_gate, TEXT, arm),      FIELD(struct ifm_gate, TEXT, cell),
    WORD(struct ifm_gate, op, op_words),    FIELD(struct ifm_gate, F64, threshold),
    FIELD(struct ifm_gate, BOOL, interval), FIELD(struct ifm_gate, U64, least_n),
    FIELD(struct ifm_gate, TEXT, classes),
};
TABLE(ifm_gate_fields, gate_rows);

const char *ifm_role_name(enum ifm_role role)
{
    return role_words[role];
}

const char *ifm_ceiling_name(enum ifm_ceiling ceiling)
{
    return ceiling_words[ceiling];
}

/* ---- writing: NULL goes up when a text is not UTF-8 or a real is not finite ---- */

static json_t *number_text(uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return json_string(text);
}

/* Not read through a pointer of the wrong type: `at` is a member at an offset. */
json_t *ifm_plan_field_json(const struct ifm_plan_field *field, const void *at)
{
    union {
        const char *text;
        bool boolean;
        double real;
        unsigned small;
        uint64_t large;
        int word;
    } value;
    switch (field->kind) {
    case IFM_FIELD_TEXT:
        memcpy(&value.text, at, sizeof value.text);
        return json_string(value.text == NULL && field->optional ? "" : value.text);
    case IFM_FIELD_BOOL:
        memcpy(&value.boolean, at, sizeof value.boolean);
        return json_boolean(value.boolean);
    case IFM_FIELD_F64:
        memcpy(&value.real, at, sizeof value.real);
        return json_real(value.real);
    case IFM_FIELD_U32:
        memcpy(&value.small, at, sizeof value.small);
        return json_integer(value.small);
    case IFM_FIELD_U64:
    case IFM_FIELD_SEED:
        memcpy(&value.large, at, sizeof value.large);
        return field->kind == IFM_FIELD_U64 && value.large <= INT64_MAX ? json_integer((json_int_t)value.large)
                                                                        : number_text(value.large);
    case IFM_FIELD_WORD:
        memcpy(&value.word, at, sizeof value.word);
        return json_string(field->words[value.word]);
    case IFM_FIELD_NESTED:
        break;
    }
    return NULL;
}

/* One object of `table`. The nested values stand in the order of the table's nested rows and are stolen. */
static json_t *write_object(const struct ifm_field_table *table, const void *record, json_t *const *nested)
{
    json_t *object = json_object();
    bool ok = object != NULL;
    for (size_t i = 0; i < table->n; i++) {
        const struct ifm_plan_field *field = &table->rows[i];
        bool is_nested = field->kind == IFM_FIELD_NESTED;
        json_t *value = is_nested ? *nested++ : ifm_plan_field_json(field, (const char *)record + field->offset);
        bool empty = json_is_false(value) || (json_is_string(value) && json_string_length(value) == 0) ||
                     (is_nested && json_object_size(value) == 0 && json_is_object(value));
        if (field->optional && (empty || (json_is_number(value) && json_number_value(value) == field->otherwise))) {
            json_decref(value);
            continue;
        }
        ok = json_object_set_new(object, field->key, value) == 0 && ok;
    }
    if (ok)
        return object;
    json_decref(object);
    return NULL;
}

/* An array of what `item` makes of each element of `items`. */
static json_t *write_array(size_t n, const void *items, size_t size, json_t *(*item)(const void *))
{
    json_t *array = json_array();
    bool ok = array != NULL;
    for (size_t i = 0; i < n; i++)
        ok = json_array_append_new(array, item((const char *)items + i * size)) == 0 && ok;
    if (ok)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *write_text(const void *item)
{
    return json_string(*(const char *const *)item);
}

static json_t *write_settings(const struct ifm_setting *settings, size_t n)
{
    json_t *object = json_object();
    bool ok = object != NULL;
    for (size_t i = 0; i < n; i++)
        ok = json_object_set_new(object, settings[i].path, json_string(settings[i].text)) == 0 && ok;
    if (ok)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *write_arm(const void *item)
{
    const struct ifm_arm *arm = item;
    json_t *nested[] = {
        write_settings(arm->settings, arm->n_settings),
        write_settings(arm->chosen, arm->n_chosen),
        write_object(&ifm_ledger_fields, &arm->ledger, NULL),
    };
    return write_object(&ifm_arm_fields, arm, nested);
}

static json_t *write_pass(const void *item)
{
    const struct ifm_pass *pass = item;
    static const size_t size = sizeof(const char *);
    json_t *nested[] = {
        write_array(pass->n_instruments, pass->instruments, size, write_text),
        write_array(pass->n_columns, pass->columns, size, write_text),
        write_array(pass->n_columns, pass->column_units, size, write_text),
    };
    return write_object(&ifm_pass_fields, pass, nested);
}

static json_t *write_cell(const void *item)
{
    const struct ifm_cell *cell = item;
    json_t *nested[] = {
        write_settings(cell->axes, cell->n_axes),
        write_object(&ifm_measure_fields, &cell->measure, NULL),
        write_array(cell->n_arms, cell->arms, sizeof *cell->arms, write_arm),
        write_array(cell->n_passes, cell->passes, sizeof *cell->passes, write_pass),
    };
    return write_object(&ifm_cell_fields, cell, nested);
}

static json_t *write_u64(const void *item)
{
    const struct ifm_plan_field field = {.kind = IFM_FIELD_U64};
    return ifm_plan_field_json(&field, item);
}

/* Empty, and so left out, without a GPU. */
static json_t *write_gpu(const struct ifm_gpu *gpu)
{
    json_t *nested[] = {gpu == NULL ? NULL : json_string(gpu->name)};
    return gpu == NULL ? json_object() : write_object(&ifm_gpu_fields, gpu, nested);
}

static json_t *write_machine(const struct ifm_machine *machine)
{
    if (machine == NULL)
        return json_object();
    json_t *nested[] = {
        write_array(IFM_CACHE_LEVELS, machine->cache_reported, sizeof *machine->cache_reported, write_u64),
        write_array(machine->n_isas, machine->isas, sizeof *machine->isas, write_text),
        write_gpu(machine->gpu),
    };
    return write_object(&ifm_machine_fields, machine, nested);
}

static json_t *write_gate(const void *item)
{
    return write_object(&ifm_gate_fields, item, NULL);
}

json_t *ifm_plan_to_json(const struct ifm_plan *plan)
{
    json_t *nested[] = {
        json_integer(IFM_PLAN_SCHEMA),
        write_machine(plan->machine),
        write_array(plan->n_cells, plan->cells, sizeof *plan->cells, write_cell),
        write_array(plan->n_gates, plan->gates, sizeof *plan->gates, write_gate),
    };
    return write_object(&ifm_plan_fields, plan, nested);
}
