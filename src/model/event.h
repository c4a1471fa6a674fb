/* The events of run.log as types: a struct for each stage of event_table.h, one way to write it and one to read it.
 *
 * Only this code parses an event's JSON. What stays JSON (a fingerprint, a device, the state of GPUs) is read through
 * model/machine_facts.h.
 *
 * Not set: NULL of texts, rows and JSON, IFM_ABSENT of a count, NaN of a real; a flag that is not set is false. A
 * writer whose numbers may be unknown begins with IFM_BLANK(stage). */
#ifndef IFM_MODEL_EVENT_H
#define IFM_MODEL_EVENT_H

#include "base/arena.h"
#include "base/json.h"
#include "model/event_table.h"
#include "model/facts.h"
#include <stdbool.h>
#include <stdint.h>

/* ---- kinds of fields ---- */

struct ifm_knobs {
    const struct ifm_event_knob *items;
    size_t n;
};
#define IFM_KIND_TYPE(kind, c_type, ...) typedef c_type ifm_kind_##kind;
#define IFM_KIND_ENUMERATOR(kind, ...) IFM_KIND_##kind,
IFM_KINDS(IFM_KIND_TYPE)
enum ifm_kind { IFM_KINDS(IFM_KIND_ENUMERATOR) IFM_KIND_COUNT };

/* ---- a struct for each row ---- */

#define IFM_EVENT_MEMBER(row, need, kind, member, beside) ifm_kind_##kind member;
#define IFM_EVENT_STRUCT(row, ...)                                                                                     \
    struct ifm_event_##row {                                                                                           \
        IFM_FIELDS_##row(IFM_EVENT_MEMBER, row)                                                                        \
    };
IFM_EVENT_STRUCT(loss, _)
IFM_EVENT_STRUCT(knob, _)
IFM_STAGES(IFM_EVENT_STRUCT)

struct ifm_event {
    enum ifm_stage stage;
    bool ok;
    bool is_void;           /* it is about a record that a restart of its cell has set aside */
    int64_t t_ns;           /* wall clock; labels the line, and is never a duration */
    int64_t mono_ns;        /* CLOCK_MONOTONIC; IFM_ABSENT in an older journal */
    size_t line;            /* of run.log, from 1 */
    const char *cell, *arm; /* whom it is about; NULL = the run, the whole cell */
    const void *facts;      /* struct ifm_event_<stage>; NULL of an unknown stage */
    size_t in_stage, in_cell;
};

/* ---- writing ---- */

/* An event that lives as long as the block it stands in: IFM_EVENT(cell_done, true, .cell = name). */
#define IFM_EVENT(row, good, ...)                                                                                      \
    (&(struct ifm_event){.stage = IFM_STAGE_##row, .ok = (good), .facts = &(struct ifm_event_##row){__VA_ARGS__}})
/* The same of a struct that was filled before. */
#define IFM_EVENT_OF(row, good, filled)                                                                                \
    (&(struct ifm_event){                                                                                              \
        .stage = IFM_STAGE_##row, .ok = (good), .facts = (1 ? (filled) : (const struct ifm_event_##row *)NULL)})
#define IFM_BLANK(row)                                                                                                 \
    (*(struct ifm_event_##row *)ifm_event_blank(&ifm_event_rows[IFM_STAGE_##row], &(struct ifm_event_##row){0}))

/* The line {"t_ns", "stage", "ok", "meta"} (new reference). IFM_INTERNAL when a field that must be there is not set. */
IFM_CHECKED enum ifm_status ifm_event_encode(const struct ifm_event *event, json_t **line, struct ifm_error *error);

/* ---- reading ---- */

/* One line, which has passed the JSON parser. IFM_INVALID names the line, the stage and the field. What is decoded
 * lives in `arena`, its JSON too. */
IFM_CHECKED enum ifm_status ifm_event_decode(const json_t *line, const char *where, struct ifm_arena *arena,
                                             struct ifm_event *out, struct ifm_error *error);

/* A list of knobs as the machine is read back: [{"knob", "value", "locked", "reason", "remedy"}, ...]. */
IFM_CHECKED enum ifm_status ifm_knobs_decode(const json_t *list, struct ifm_arena *arena, struct ifm_knobs *out,
                                             struct ifm_error *error);

/* The same would be written, but for the clock. */
bool ifm_event_equal(const struct ifm_event *a, const struct ifm_event *b);
const char *ifm_stage_name(enum ifm_stage stage);

/* ---- a journal ---- */

struct ifm_event_list {
    const struct ifm_event *const *items;
    size_t n;
};
struct ifm_events {
    struct ifm_event *items; /* in the order of the file, void ones too */
    size_t n, capacity;
    struct ifm_arena *arena;
    struct ifm_event_list of_stage[IFM_STAGE_COUNT]; /* those that stand */
    struct ifm_event_list about_cells;               /* by cell, those that stand */
    bool chained;                                    /* each line holds the hash of the one before it */
};

/* An empty journal that lives in `arena`. */
struct ifm_events *ifm_events_create(struct ifm_arena *arena);
/* Decodes and appends. */
IFM_CHECKED enum ifm_status ifm_events_add(struct ifm_events *events, const json_t *line, const char *where,
                                           struct ifm_error *error);
/* After the last one, before the first look-up. A stage that stands once a run or a cell and stands twice is
 * IFM_INVALID. `where` names the file. */
IFM_CHECKED enum ifm_status ifm_events_seal(struct ifm_events *events, const char *where, struct ifm_error *error);

/* The event behind `after` (NULL = the first) that stands, of the stage, about the cell and the arm; NULL cell or arm =
 * whichever. What was said of a cell before it was restarted does not stand. `events` NULL = an empty journal. */
const struct ifm_event *ifm_events_next(const struct ifm_events *events, enum ifm_stage stage, const char *cell,
                                        const char *arm, const struct ifm_event *after);
const struct ifm_event *ifm_events_last(const struct ifm_events *events, enum ifm_stage stage, const char *cell,
                                        const char *arm);
/* All that stands about a cell, whatever the stage, in order. */
struct ifm_event_list ifm_events_about(const struct ifm_events *events, const char *cell);

/* The facts of an event of a known stage. */
#define IFM_FACTS(event, row) ((const struct ifm_event_##row *)(event)->facts)
/* Facts of the first or the last event; NULL when there is none. */
const void *ifm_facts_of(const struct ifm_event *event);
#define IFM_FIRST(events, row)                                                                                         \
    ((const struct ifm_event_##row *)ifm_facts_of(ifm_events_next((events), IFM_STAGE_##row, NULL, NULL, NULL)))
#define IFM_LAST(events, row, cell, arm)                                                                               \
    ((const struct ifm_event_##row *)ifm_facts_of(ifm_events_last((events), IFM_STAGE_##row, (cell), (arm))))
/* Each event that stands: IFM_EACH(e, events, check, cell, NULL) use(IFM_FACTS(e, check)); */
#define IFM_EACH(event, events, row, cell, arm)                                                                        \
    for (const struct ifm_event *event = NULL;                                                                         \
         (event = ifm_events_next((events), IFM_STAGE_##row, (cell), (arm), event)) != NULL;)

/* When the run began, by the wall clock of its first event: "2026-05-07 12:00 UTC"; "" without one. Fills `buffer`. */
const char *ifm_events_date(const struct ifm_events *events, char buffer[32]);

/* ---- the table, for tests and documents ---- */

enum ifm_need { IFM_NEED_must, IFM_NEED_may, IFM_NEED_null };
struct ifm_event_field {
    const char *name;
    enum ifm_need need;
    enum ifm_kind kind;
    const char *beside; /* "_" = none */
    size_t offset;
};
enum ifm_repeat {
    IFM_REPEAT_once_a_run,
    IFM_REPEAT_once_a_session,
    IFM_REPEAT_at_both_ends, /* of a session, or of what it is about */
    IFM_REPEAT_once_a_cell,
    IFM_REPEAT_each /* whenever it happens */
};
struct ifm_event_row {
    const char *name;
    enum ifm_repeat repeat;
    bool kept; /* a restart of its cell leaves it standing */
    const struct ifm_event_field *fields;
    size_t n_fields, size;
};
/* [IFM_STAGE_COUNT]; the first is of no stage. */
extern const struct ifm_event_row ifm_event_rows[];
extern const struct ifm_event_row ifm_loss_row, ifm_knob_row;
/* Fills `facts` with nothing set, and returns it. */
void *ifm_event_blank(const struct ifm_event_row *row, void *facts);

#endif
