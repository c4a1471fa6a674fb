/* A listing: rows with one set of field names, printed as a table, Markdown, CSV, JSON or JSON lines.
 *
 * Machine formats hold every field; the table holds those with a heading, as texts for people. Formats only. */
#ifndef IFM_PUBLISH_LISTING_H
#define IFM_PUBLISH_LISTING_H

#include "base/arena.h"
#include "base/json.h"
#include "base/names.h"
#include "publish/publish.h"

struct ifm_listing_column {
    const char *field;   /* the name in CSV and JSON; "" = only people see this column */
    const char *heading; /* in the table and in Markdown; NULL = only machines see it */
    bool left;           /* flush left in the table */
};

struct ifm_listing {
    const struct ifm_listing_column *columns;
    size_t n_columns;
    json_t *rows;       /* array of objects; each has every field, in the order of the columns */
    const char **shown; /* n_rows x n_columns; "" where nothing is shown */
    bool *hidden;       /* n_rows: people do not see the row */
    size_t n_rows, capacity;
    const char **notes; /* sentences below the table, referred to as [1], [2]...; also "notes" of the JSON form */
    size_t n_notes, notes_capacity;
    const char **remarks; /* sentences about the whole table, behind the notes; of the JSON form's "notes" too */
    size_t n_remarks, remarks_capacity;
    json_t *members; /* what else the JSON form holds, beside "rows" and "notes"; NULL = nothing; released at the end */
    size_t width;    /* of the lines that people read; 0 = IFM_USUAL_WIDTH */
    bool folds;      /* the table too is folded to it; in a pipe a row is a line */
    struct ifm_names *note_numbers, *remark_numbers;
    struct ifm_arena *arena;
};

/* Everything but the rows lives in the arena; ifm_listing_end releases the rows. */
struct ifm_listing ifm_listing_begin(const struct ifm_listing_column *columns, size_t n, struct ifm_arena *arena);
void ifm_listing_end(struct ifm_listing *listing);
/* A new row; every field is null and nothing is shown. */
void ifm_listing_row(struct ifm_listing *listing);
/* Fields of the row added last. `value` is stolen, `shown` may be NULL (nothing is shown) and is copied. A field that
 * no column names is our own fault and is ignored. */
void ifm_listing_set(struct ifm_listing *listing, const char *field, json_t *value, const char *shown);
void ifm_listing_show(struct ifm_listing *listing, const char *heading, const char *shown);
/* A text that is shown as it is; NULL is "". */
void ifm_listing_set_text(struct ifm_listing *listing, const char *field, const char *text);
/* A number: null where the value is not OK. */
void ifm_listing_set_value(struct ifm_listing *listing, const char *field, const struct ifm_value *value,
                           const char *shown);
/* The ends of its interval; its level and how many it stands on, as "level" and "n". Null where there is none. */
void ifm_listing_set_bounds(struct ifm_listing *listing, const char *low, const char *high,
                            const struct ifm_value *value);
void ifm_listing_set_level(struct ifm_listing *listing, const struct ifm_value *value);
/* The row added last is for machines alone: a remark says for people what it would. */
void ifm_listing_hide(struct ifm_listing *listing);
/* Does a row that people see show a text that begins so in the column of that heading? */
bool ifm_listing_shows(const struct ifm_listing *listing, const char *heading, const char *begin);
/* The number of a note; equal texts are one note. */
size_t ifm_listing_note(struct ifm_listing *listing, const char *text);
/* ... which stands in the row's column "notes", and no other. */
void ifm_listing_show_note(struct ifm_listing *listing, const char *text);
/* Why the row added last has no numbers, as its fields "reason" and "remedy" and as a note; "" = there is no remedy. */
void ifm_listing_absent(struct ifm_listing *listing, const char *reason, const char *remedy);
/* A sentence about the whole table; equal ones are one. */
void ifm_listing_remark(struct ifm_listing *listing, const char *text);

void ifm_listing_compose(const struct ifm_listing *listing, enum ifm_format format, struct ifm_text *out);

#endif
