/* Encoding and decoding of events: one walk over the fields of a row, whatever the stage. */
#include "model/event.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define EDITED "the journal was edited, or written by another version"

/* ---- the table ---- */

#define FIELD(row, need, kind, member, beside)                                                                         \
    {#member, IFM_NEED_##need, IFM_KIND_##kind, #beside, offsetof(struct ifm_event_##row, member)},
#define DEFINE(row, ...) static const struct ifm_event_field fields_##row[] = {IFM_FIELDS_##row(FIELD, row)};
#define ROW_OF(row, repeat, restart)                                                                                   \
    {                                                                                                                  \
#row, IFM_REPEAT_##repeat, (restart), fields_##row,                                                            \
            sizeof fields_##row / sizeof fields_##row[0], sizeof(struct ifm_event_##row)                               \
    }
#define STAGE(row, repeat, restart) [IFM_STAGE_##row] = ROW_OF(row, repeat, restart),

enum { forgotten = 0, kept = 1 };

DEFINE(loss, _)
DEFINE(knob, _)
IFM_STAGES(DEFINE)
const struct ifm_event_row ifm_loss_row = ROW_OF(loss, each, forgotten);
const struct ifm_event_row ifm_knob_row = ROW_OF(knob, each, forgotten);
const struct ifm_event_row ifm_event_rows[] = {IFM_STAGES(STAGE)};

/* How a kind is kept in its struct, and what it may be. */
#define KIND(kind, c_type, ...) [IFM_KIND_##kind] = {__VA_ARGS__},
enum type { TEXT, COUNT, REAL, FLAG, JSON, REST, ROW, ROWS };
static const struct {
    enum type type;
    double low, high;
    const char *words;
} kinds[] = {IFM_KINDS(KIND)};

const char *ifm_stage_name(enum ifm_stage stage)
{
    return stage == IFM_STAGE_unknown ? "unknown" : ifm_event_rows[stage].name;
}

static const void *at(const void *facts, const struct ifm_event_field *field)
{
    return (const char *)facts + field->offset;
}

static const char *text_at(const void *place)
{
    return *(const char *const *)place;
}

static const json_t *json_at(const void *place)
{
    return *(const json_t *const *)place;
}

/* Lists are always set: one without items is empty. */
static bool is_set(const struct ifm_event_field *field, const void *place)
{
    switch (kinds[field->kind].type) {
    case COUNT:
        return *(const int64_t *)place != IFM_ABSENT;
    case REAL:
        return isfinite(*(const double *)place);
    case FLAG:
        return *(const bool *)place;
    case ROWS:
        return true;
    default:
        return *(const void *const *)place != NULL;
    }
}

static const struct ifm_event_field *find_field(const struct ifm_event_row *row, const char *name)
{
    for (size_t i = 0; i < row->n_fields; i++)
        if (strcmp(row->fields[i].name, name) == 0)
            return &row->fields[i];
    return NULL;
}

/* Is the member set beside which the field stands? */
static bool is_due(const struct ifm_event_row *row, const struct ifm_event_field *field, const void *facts)
{
    const struct ifm_event_field *beside = field->beside[0] == '_' ? NULL : find_field(row, field->beside);
    return beside == NULL || is_set(beside, at(facts, beside));
}

/* ---- writing ---- */

static enum ifm_status encode_row(const struct ifm_event_row *row, const void *facts, json_t **out,
                                  struct ifm_error *error);

static enum ifm_status encode_knobs(const struct ifm_knobs *knobs, json_t **out, struct ifm_error *error)
{
    *out = json_array();
    for (size_t i = 0; i < knobs->n; i++) {
        json_t *item;
        IFM_TRY(encode_row(&ifm_knob_row, &knobs->items[i], &item, error));
        json_array_append_new(*out, item);
    }
    return IFM_OK;
}

/* A new reference; NULL when there is no memory for it, or a text is not UTF-8. */
static enum ifm_status encode_value(const struct ifm_event_field *field, const void *place, json_t **out,
                                    struct ifm_error *error)
{
    switch (kinds[field->kind].type) {
    case TEXT:
        *out = json_string(text_at(place));
        return IFM_OK;
    case COUNT:
        *out = json_integer(*(const int64_t *)place);
        return IFM_OK;
    case REAL:
        *out = json_real(*(const double *)place);
        return IFM_OK;
    case FLAG:
        *out = json_boolean(*(const bool *)place);
        return IFM_OK;
    case ROW:
        return encode_row(&ifm_loss_row, *(const void *const *)place, out, error);
    case ROWS:
        return encode_knobs(place, out, error);
    default:
        *out = json_incref((json_t *)json_at(place));
        return IFM_OK;
    }
}

static enum ifm_status encode_field(const struct ifm_event_row *row, const struct ifm_event_field *field,
                                    const void *facts, json_t *out, struct ifm_error *error)
{
    const void *place = at(facts, field);
    bool due = is_due(row, field, facts), must = field->need == IFM_NEED_must;
    bool set = field->kind == IFM_KIND_flag && must ? due : is_set(field, place);
    json_t *value = NULL;
    if (!set && due && must)
        return ifm_fail(error, IFM_INTERNAL, "run.log", NULL, "event \"%s\": \"%s\" is not set, or no memory is left",
                        row->name, field->name);
    if (!set && !(due && field->need == IFM_NEED_null))
        return IFM_OK;
    if (!set)
        value = json_null();
    else if (field->kind == IFM_KIND_rest)
        return json_object_update(out, (json_t *)json_at(place)) == 0
                   ? IFM_OK
                   : ifm_fail(error, IFM_INTERNAL, "run.log", NULL, "event \"%s\": no object, or no memory", row->name);
    else
        IFM_TRY(encode_value(field, place, &value, error));
    if (json_object_set_new(out, field->name, value) != 0)
        return ifm_fail(error, IFM_INTERNAL, "run.log", NULL,
                        "event \"%s\": \"%s\" cannot be written: out of memory, or not UTF-8", row->name, field->name);
    return IFM_OK;
}

static enum ifm_status encode_row(const struct ifm_event_row *row, const void *facts, json_t **out,
                                  struct ifm_error *error)
{
    enum ifm_status status = IFM_OK;
    *out = json_object();
    for (size_t i = 0; i < row->n_fields && status == IFM_OK; i++)
        status = encode_field(row, &row->fields[i], facts, *out, error);
    if (status == IFM_OK)
        return IFM_OK;
    json_decref(*out);
    *out = NULL;
    return status;
}

enum ifm_status ifm_event_encode(const struct ifm_event *event, json_t **line, struct ifm_error *error)
{
    json_t *meta;
    *line = NULL;
    IFM_TRY(encode_row(&ifm_event_rows[event->stage], event->facts, &meta, error));
    *line = json_pack("{s:I, s:s, s:b, s:o}", "t_ns", (json_int_t)event->t_ns, "stage", ifm_stage_name(event->stage),
                      "ok", (int)event->ok, "meta", meta);
    return *line != NULL ? IFM_OK : ifm_fail(error, IFM_INTERNAL, "run.log", NULL, "out of memory for an event");
}

/* ---- reading ---- */

/* Where a value stands, for the message. */
struct reading {
    const char *where, *stage;
    const char *within; /* "loss." of a row inside an event; "" */
    struct ifm_arena *arena;
    struct ifm_error *error;
};

static enum ifm_status wrong(const struct reading *r, const struct ifm_event_field *field, const json_t *value)
{
    return ifm_fail(r->error, IFM_INVALID, r->where, EDITED, "event \"%s\": \"%s%s\" is %s %s", r->stage, r->within,
                    field->name, value == NULL ? "missing: it is" : "not", kinds[field->kind].words);
}

static enum ifm_status decode_row(const struct reading *r, const struct ifm_event_row *row, const json_t *object,
                                  void *out);

static void release_json(void *json)
{
    json_decref(json);
}

static const json_t *keep_json(struct ifm_arena *arena, json_t *owned)
{
    ifm_arena_defer(arena, release_json, owned);
    return owned;
}

static enum ifm_status decode_knobs(const struct reading *r, const struct ifm_event_field *field, const json_t *list,
                                    struct ifm_knobs *out)
{
    struct reading inner = *r;
    struct ifm_event_knob *items = IFM_ARENA_ARRAY(r->arena, struct ifm_event_knob, json_array_size(list) + 1);
    inner.within = "knobs.";
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!json_is_object(json_array_get(list, i)))
            return wrong(r, field, list);
        IFM_TRY(decode_row(&inner, &ifm_knob_row, json_array_get(list, i), &items[i]));
    }
    *out = (struct ifm_knobs){items, json_array_size(list)};
    return json_is_array(list) ? IFM_OK : wrong(r, field, list);
}

static enum ifm_status decode_loss(const struct reading *r, const struct ifm_event_field *field, const json_t *object,
                                   const struct ifm_event_loss **out)
{
    struct reading inner = *r;
    struct ifm_event_loss *loss = IFM_ARENA_NEW(r->arena, struct ifm_event_loss);
    inner.within = "loss.";
    *out = loss;
    return json_is_object(object) ? decode_row(&inner, &ifm_loss_row, object, loss) : wrong(r, field, object);
}

static enum ifm_status decode_number(const struct reading *r, const struct ifm_event_field *field, const json_t *value,
                                     void *place)
{
    if (kinds[field->kind].type == COUNT) {
        *(int64_t *)place = json_integer_value(value);
        return json_is_integer(value) && json_integer_value(value) >= 0 ? IFM_OK : wrong(r, field, value);
    }
    double number = json_number_value(value);
    *(double *)place = number;
    return json_is_number(value) && number >= kinds[field->kind].low && number <= kinds[field->kind].high
               ? IFM_OK
               : wrong(r, field, value);
}

static enum ifm_status decode_value(const struct reading *r, const struct ifm_event_field *field, const json_t *value,
                                    void *place)
{
    switch (kinds[field->kind].type) {
    case TEXT:
        *(const char **)place = ifm_arena_strdup(r->arena, json_string_value(value));
        return json_is_string(value) ? IFM_OK : wrong(r, field, value);
    case FLAG:
        *(bool *)place = json_is_true(value);
        return json_is_boolean(value) ? IFM_OK : wrong(r, field, value);
    case ROW:
        return decode_loss(r, field, value, place);
    case ROWS:
        return decode_knobs(r, field, value, place);
    case JSON:
        *(const json_t **)place = keep_json(r->arena, json_incref((json_t *)value));
        return IFM_OK;
    default:
        return decode_number(r, field, value, place);
    }
}

/* A copy without the members that fields name. */
static const json_t *decode_rest(const struct reading *r, const struct ifm_event_row *row, const json_t *object)
{
    json_t *rest = json_copy((json_t *)object);
    for (size_t i = 0; i < row->n_fields; i++)
        if (row->fields[i].kind != IFM_KIND_rest)
            json_object_del(rest, row->fields[i].name);
    return keep_json(r->arena, rest);
}

void *ifm_event_blank(const struct ifm_event_row *row, void *facts)
{
    memset(facts, 0, row->size);
    for (size_t i = 0; i < row->n_fields; i++) {
        void *place = (char *)facts + row->fields[i].offset;
        if (kinds[row->fields[i].kind].type == COUNT)
            *(int64_t *)place = IFM_ABSENT;
        else if (kinds[row->fields[i].kind].type == REAL)
            *(double *)place = NAN;
    }
    return facts;
}

static enum ifm_status decode_row(const struct reading *r, const struct ifm_event_row *row, const json_t *object,
                                  void *out)
{
    (void)ifm_event_blank(row, out);
    for (size_t i = 0; i < row->n_fields; i++) {
        const struct ifm_event_field *field = &row->fields[i];
        const json_t *value = json_object_get(object, field->name);
        void *place = (char *)out + field->offset;
        if (field->kind == IFM_KIND_rest)
            *(const json_t **)place = decode_rest(r, row, object);
        else if (value != NULL && !(json_is_null(value) && (field->need != IFM_NEED_must || field->beside[0] != '_')))
            IFM_TRY(decode_value(r, field, value, place));
    }
    for (size_t i = 0; i < row->n_fields; i++) {
        const struct ifm_event_field *field = &row->fields[i];
        const json_t *value = json_object_get(object, field->name);
        if (field->need == IFM_NEED_must && field->kind != IFM_KIND_rest && (value == NULL || json_is_null(value)) &&
            is_due(row, field, out))
            return wrong(r, field, NULL);
    }
    return IFM_OK;
}

static enum ifm_stage find_stage(const char *name)
{
    int stage = IFM_STAGE_COUNT - 1;
    while (stage > 0 && strcmp(ifm_event_rows[stage].name, name) != 0)
        stage--;
    return (enum ifm_stage)stage;
}

/* A text of an event, known or not; NULL when it has none. */
static const char *name_in(const struct ifm_event *event, const json_t *meta, const char *key, struct ifm_arena *arena)
{
    if (event->stage == IFM_STAGE_unknown)
        return ifm_arena_strdup(arena, json_string_value(json_object_get(meta, key)));
    const struct ifm_event_field *field = find_field(&ifm_event_rows[event->stage], key);
    return field == NULL ? NULL : text_at(at(event->facts, field));
}

enum ifm_status ifm_event_decode(const json_t *line, const char *where, struct ifm_arena *arena, struct ifm_event *out,
                                 struct ifm_error *error)
{
    const char *stage;
    const json_t *meta;
    *out = (struct ifm_event){.mono_ns = IFM_ABSENT};
    if (!json_is_object(line))
        return ifm_fail(error, IFM_INVALID, where, EDITED, "the line is not a JSON object");
    IFM_TRY(ifm_json_get_i64(line, "t_ns", where, &out->t_ns, error));
    if (json_object_get(line, "mono_ns") != NULL)
        IFM_TRY(ifm_json_get_i64(line, "mono_ns", where, &out->mono_ns, error));
    IFM_TRY(ifm_json_get_string(line, "stage", where, &stage, error));
    IFM_TRY(ifm_json_get_bool(line, "ok", where, &out->ok, error));
    IFM_TRY(ifm_json_get_object(line, "meta", where, &meta, error));
    out->stage = find_stage(stage);
    if (out->stage != IFM_STAGE_unknown) {
        struct reading r = {where, stage, "", arena, error};
        void *facts = ifm_arena_alloc(arena, ifm_event_rows[out->stage].size);
        IFM_TRY(decode_row(&r, &ifm_event_rows[out->stage], meta, facts));
        out->facts = facts;
    }
    out->cell = name_in(out, meta, "cell", arena);
    out->arm = name_in(out, meta, "arm", arena);
    return IFM_OK;
}

enum ifm_status ifm_knobs_decode(const json_t *list, struct ifm_arena *arena, struct ifm_knobs *out,
                                 struct ifm_error *error)
{
    const struct reading r = {"knobs", "locks", "", arena, error};
    return decode_knobs(&r, find_field(&ifm_event_rows[IFM_STAGE_locks], "knobs"), list, out);
}

/* ---- comparing ---- */

bool ifm_event_equal(const struct ifm_event *a, const struct ifm_event *b)
{
    struct ifm_error ignored;
    json_t *one = NULL, *other = NULL;
    bool same = a->stage == b->stage && a->ok == b->ok && a->stage != IFM_STAGE_unknown &&
                encode_row(&ifm_event_rows[a->stage], a->facts, &one, &ignored) == IFM_OK &&
                encode_row(&ifm_event_rows[b->stage], b->facts, &other, &ignored) == IFM_OK && json_equal(one, other);
    json_decref(one);
    json_decref(other);
    return same;
}
