/* Listings: one set of field names in every format. */
#include "publish/listing.h"

#include "base/text.h"
#include "document/escape.h"
#include "publish/compose.h"
#include <math.h>
#include <string.h>

struct ifm_listing ifm_listing_begin(const struct ifm_listing_column *columns, size_t n, struct ifm_arena *arena)
{
    return (struct ifm_listing){.columns = columns,
                                .n_columns = n,
                                .rows = json_array(),
                                .note_numbers = ifm_names_create(arena),
                                .remark_numbers = ifm_names_create(arena),
                                .arena = arena};
}

void ifm_listing_end(struct ifm_listing *listing)
{
    json_decref(listing->rows);
    json_decref(listing->members);
    listing->rows = listing->members = NULL;
}

void ifm_listing_row(struct ifm_listing *listing)
{
    json_t *row = json_object();
    if (listing->n_rows == listing->capacity) {
        size_t capacity = listing->capacity == 0 ? 16 : 2 * listing->capacity;
        const char **shown = IFM_ARENA_ARRAY(listing->arena, const char *, capacity * listing->n_columns);
        bool *hidden = IFM_ARENA_ARRAY(listing->arena, bool, capacity);
        if (listing->n_rows > 0) {
            memcpy(shown, listing->shown, listing->n_rows * listing->n_columns * sizeof *shown);
            memcpy(hidden, listing->hidden, listing->n_rows * sizeof *hidden);
        }
        listing->shown = shown;
        listing->hidden = hidden;
        listing->capacity = capacity;
    }
    for (size_t c = 0; c < listing->n_columns; c++) {
        listing->shown[listing->n_rows * listing->n_columns + c] = "";
        if (listing->columns[c].field[0] != '\0')
            json_object_set_new(row, listing->columns[c].field, json_null());
    }
    json_array_append_new(listing->rows, row);
    listing->n_rows++;
}

static void show_at(struct ifm_listing *listing, size_t column, const char *shown)
{
    listing->shown[(listing->n_rows - 1) * listing->n_columns + column] = ifm_arena_strdup(listing->arena, shown);
}

void ifm_listing_set(struct ifm_listing *listing, const char *field, json_t *value, const char *shown)
{
    for (size_t c = 0; c < listing->n_columns; c++)
        if (strcmp(listing->columns[c].field, field) == 0) {
            json_object_set_new(json_array_get(listing->rows, listing->n_rows - 1), field, value);
            if (shown != NULL)
                show_at(listing, c, shown);
            return;
        }
    json_decref(value);
}

void ifm_listing_show(struct ifm_listing *listing, const char *heading, const char *shown)
{
    for (size_t c = 0; c < listing->n_columns; c++)
        if (listing->columns[c].heading != NULL && strcmp(listing->columns[c].heading, heading) == 0)
            show_at(listing, c, shown);
}

void ifm_listing_hide(struct ifm_listing *listing)
{
    listing->hidden[listing->n_rows - 1] = true;
}

bool ifm_listing_shows(const struct ifm_listing *listing, const char *heading, const char *begin)
{
    for (size_t r = 0; r < listing->n_rows; r++)
        for (size_t c = 0; c < listing->n_columns && !listing->hidden[r]; c++)
            if (listing->columns[c].heading != NULL && strcmp(listing->columns[c].heading, heading) == 0 &&
                strncmp(listing->shown[r * listing->n_columns + c], begin, strlen(begin)) == 0)
                return true;
    return false;
}

size_t ifm_listing_note(struct ifm_listing *listing, const char *text)
{
    size_t number = ifm_names_add(listing->note_numbers, text);
    if (number == listing->n_notes) {
        IFM_ARENA_GROW(listing->arena, listing->notes, listing->n_notes, listing->notes_capacity);
        listing->notes[listing->n_notes++] = ifm_arena_strdup(listing->arena, text);
    }
    return number + 1;
}

void ifm_listing_show_note(struct ifm_listing *listing, const char *text)
{
    ifm_listing_show(listing, "notes", ifm_arena_printf(listing->arena, "[%zu]", ifm_listing_note(listing, text)));
}

void ifm_listing_absent(struct ifm_listing *listing, const char *reason, const char *remedy)
{
    const char *text = remedy[0] == '\0' ? reason : ifm_arena_printf(listing->arena, "%s; remedy: %s", reason, remedy);
    ifm_listing_set(listing, "reason", json_string(reason), NULL);
    ifm_listing_set(listing, "remedy", json_string(remedy), NULL);
    ifm_listing_show_note(listing, text);
}

void ifm_listing_remark(struct ifm_listing *listing, const char *text)
{
    if (ifm_names_add(listing->remark_numbers, text) < listing->n_remarks)
        return;
    IFM_ARENA_GROW(listing->arena, listing->remarks, listing->n_remarks, listing->remarks_capacity);
    listing->remarks[listing->n_remarks++] = ifm_arena_strdup(listing->arena, text);
}

void ifm_listing_set_text(struct ifm_listing *listing, const char *field, const char *text)
{
    text = text == NULL ? "" : text;
    ifm_listing_set(listing, field, json_string(text), text);
}

void ifm_listing_set_value(struct ifm_listing *listing, const char *field, const struct ifm_value *value,
                           const char *shown)
{
    bool known = ifm_is_ok(value) && isfinite(value->number);
    ifm_listing_set(listing, field, known ? json_real(value->number) : json_null(), shown);
}

static void set_bound(struct ifm_listing *listing, const char *field, const struct ifm_value *value, double bound)
{
    bool known = value->state == IFM_STATE_OK && value->has_interval && isfinite(bound);
    ifm_listing_set(listing, field, known ? json_real(bound) : json_null(), NULL);
}

void ifm_listing_set_bounds(struct ifm_listing *listing, const char *low, const char *high,
                            const struct ifm_value *value)
{
    set_bound(listing, low, value, value->low);
    set_bound(listing, high, value, value->high);
}

void ifm_listing_set_level(struct ifm_listing *listing, const struct ifm_value *value)
{
    set_bound(listing, "level", value, value->level);
    if (value->n > 0)
        ifm_listing_set(listing, "n", json_integer(value->n),
                        ifm_arena_printf(listing->arena, "%lld", (long long)value->n));
}

/* ---- CSV ---- */

/* The items of a list, "; " between them. */
static void csv_list(const json_t *list, struct ifm_text *out)
{
    struct ifm_text joined = {0};
    for (size_t i = 0; i < json_array_size(list); i++) {
        ifm_text_add(&joined, i == 0 ? "" : "; ");
        const char *text = json_string_value(json_array_get(list, i));
        ifm_text_add(&joined, text == NULL ? "" : text);
    }
    ifm_escape_csv(joined.data == NULL ? "" : joined.data, out);
    ifm_text_free(&joined);
}

static void csv_value(const json_t *value, struct ifm_text *out)
{
    if (json_is_string(value))
        ifm_escape_csv(json_string_value(value), out);
    else if (json_is_array(value))
        csv_list(value, out);
    else if (!json_is_null(value))
        ifm_json_print(value, false, out);
}

static void compose_csv(const struct ifm_listing *listing, struct ifm_text *out)
{
    const char *comma = "", *key;
    json_t *value;
    for (size_t c = 0; c < listing->n_columns; c++)
        if (listing->columns[c].field[0] != '\0') {
            ifm_text_printf(out, "%s%s", comma, listing->columns[c].field);
            comma = ",";
        }
    ifm_text_add(out, "\n");
    for (size_t r = 0; r < listing->n_rows; r++) {
        comma = "";
        json_object_foreach(json_array_get(listing->rows, r), key, value)
        {
            ifm_text_add(out, comma);
            csv_value(value, out);
            comma = ",";
        }
        ifm_text_add(out, "\n");
    }
}

/* ---- JSON ---- */

static void compose_json(const struct ifm_listing *listing, struct ifm_text *out)
{
    json_t *object = json_object(), *notes = json_array();
    for (size_t i = 0; i < listing->n_notes; i++)
        json_array_append_new(notes, json_string(listing->notes[i]));
    for (size_t i = 0; i < listing->n_remarks; i++)
        json_array_append_new(notes, json_string(listing->remarks[i]));
    if (listing->members != NULL)
        json_object_update(object, listing->members);
    json_object_set(object, "rows", listing->rows);
    json_object_set_new(object, "notes", notes);
    ifm_json_print(object, true, out);
    ifm_text_add(out, "\n");
    json_decref(object);
}

static void compose_jsonl(const struct ifm_listing *listing, struct ifm_text *out)
{
    for (size_t r = 0; r < listing->n_rows; r++) {
        ifm_json_print(json_array_get(listing->rows, r), false, out);
        ifm_text_add(out, "\n");
    }
}

/* ---- for people ---- */

/* The columns that people see: those with a heading, where some row has a text; most runs have no notes. */
static struct ifm_grid grid_of(const struct ifm_listing *listing)
{
    struct ifm_grid grid = {.n_rows = 0};
    size_t *from = IFM_ARENA_ARRAY(listing->arena, size_t, listing->n_columns + 1);
    grid.headings = IFM_ARENA_ARRAY(listing->arena, struct ifm_heading, listing->n_columns + 1);
    for (size_t c = 0; c < listing->n_columns; c++) {
        const struct ifm_listing_column *column = &listing->columns[c];
        bool any = false;
        for (size_t r = 0; column->heading != NULL && r < listing->n_rows; r++)
            any |= !listing->hidden[r] && listing->shown[r * listing->n_columns + c][0] != '\0';
        if (!any)
            continue;
        from[grid.n_columns] = c;
        grid.headings[grid.n_columns++] = (struct ifm_heading){column->heading, IFM_M_NONE, column->left, 0};
    }
    grid.fields = IFM_ARENA_ARRAY(listing->arena, struct ifm_field, listing->n_rows * grid.n_columns + 1);
    for (size_t r = 0; r < listing->n_rows; r++) {
        if (listing->hidden[r])
            continue;
        grid.n_rows++;
        for (size_t c = 0; c < grid.n_columns; c++)
            *ifm_grid_at(&grid, grid.n_rows - 1, c) =
                (struct ifm_field){.text = listing->shown[r * listing->n_columns + from[c]], .interval = ""};
    }
    return grid;
}

/* A note behind its mark. */
static void say(const struct ifm_listing *listing, const char *mark, const char *text, bool md, struct ifm_text *out)
{
    struct ifm_text plain = {0};
    ifm_text_add(out, mark);
    if (md) {
        ifm_escape_markdown(text, out);
    } else {
        ifm_escape_terminal(text, true, &plain);
        ifm_text_wrap(out, ifm_text_typed(ifm_text_keep(&plain, listing->arena), listing->arena),
                      listing->width > 0 ? listing->width : IFM_USUAL_WIDTH, strlen(mark), strlen(mark));
    }
    ifm_text_add(out, "\n");
}

static void compose_table(const struct ifm_listing *listing, bool md, struct ifm_text *out)
{
    struct ifm_grid grid = grid_of(listing);
    if (!md)
        ifm_paint_terminal_grid(&grid, listing->folds ? listing->width : SIZE_MAX, listing->arena, out);
    else if (grid.n_rows > 0)
        ifm_paint_markdown_grid(&grid, out);
    ifm_text_add(out, listing->n_notes > 0 ? "\n" : "");
    for (size_t i = 0; i < listing->n_notes; i++)
        say(listing, ifm_arena_printf(listing->arena, md ? "%zu. " : "[%zu] ", i + 1), listing->notes[i], md, out);
    ifm_text_add(out, listing->n_remarks > 0 ? "\n" : "");
    for (size_t i = 0; i < listing->n_remarks; i++)
        say(listing, md ? "- " : "", listing->remarks[i], md, out);
}

void ifm_listing_compose(const struct ifm_listing *listing, enum ifm_format format, struct ifm_text *out)
{
    if (format == IFM_FORMAT_TABLE || format == IFM_FORMAT_MD)
        compose_table(listing, format == IFM_FORMAT_MD, out);
    else if (format == IFM_FORMAT_CSV)
        compose_csv(listing, out);
    else if (format == IFM_FORMAT_JSON)
        compose_json(listing, out);
    else if (format == IFM_FORMAT_JSONL)
        compose_jsonl(listing, out);
}
