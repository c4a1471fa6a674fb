/* Charts of derived numbers: numbers, names, colours and tables that the figures share. */
#include "report/chart.h"
#include "document/quantity.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

/* A letter of an id; all others become "-". */
static char plain(char c)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    return letter || c == '\0' ? c : '-';
}

static bool same_id(const char *a, const char *b)
{
    while (*a != '\0' && plain(*a) == plain(*b)) {
        a++;
        b++;
    }
    return plain(*a) == plain(*b);
}

const char *ifm_chart_id(const struct ifm_document *doc, const struct ifm_cell *cell, const char *figure)
{
    char *id = ifm_arena_strdup(doc->arena, cell->name);
    bool shared = false;
    for (char *c = id; *c != '\0'; c++)
        *c = plain(*c);
    for (size_t i = 0; i < doc->plan->n_cells && !shared; i++) {
        const struct ifm_cell *other = &doc->plan->cells[i];
        shared = other != cell && same_id(other->name, cell->name);
    }
    return shared ? ifm_arena_printf(doc->arena, "%s-%u-%s", id, cell->index, figure)
                  : ifm_arena_printf(doc->arena, "%s-%s", id, figure);
}

const char *ifm_chart_series(const struct ifm_document *doc, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    static const char *const classes[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"};
    size_t row = 0;
    for (size_t a = 0; a < cell->n_arms && &cell->arms[a] != arm; a++)
        row += ifm_document_is_row(doc->derived, cell, &cell->arms[a]);
    return classes[row % (sizeof classes / sizeof classes[0])];
}

/* Where letter `index` of a UTF-8 text begins. */
static const char *letter_at(const char *text, size_t index)
{
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text & 0xC0) == 0x80)
            continue;
        if (index-- == 0)
            break;
    }
    return text;
}

const char *ifm_chart_clip(const struct ifm_document *doc, const char *text, double size, double width)
{
    double letter = ifm_plot_text_width("m", size), whole = ifm_plot_text_width(text, size);
    if (whole <= width)
        return text;
    size_t letters = (size_t)(whole / letter + 0.5), room = (size_t)fmax(width / letter, 3);
    size_t head = room / 2, tail = room - 1 - head;
    if (letters <= room)
        return text;
    const char *rest = letter_at(text, letters - tail);
    return ifm_arena_printf(doc->arena, "%.*s…%s", (int)(letter_at(text, head) - text), text, rest);
}

const char *ifm_chart_list(const struct ifm_document *doc, const char *list, const char *item)
{
    return list[0] == '\0' ? item : ifm_arena_printf(doc->arena, "%s, %s", list, item);
}

const char *ifm_chart_join(const struct ifm_document *doc, const char *sentences, const char *next)
{
    if (sentences[0] == '\0' || next[0] == '\0')
        return next[0] == '\0' ? sentences : next;
    return ifm_arena_printf(doc->arena, "%s %s", sentences, next);
}

size_t ifm_chart_legend(const struct ifm_document *doc, struct ifm_plot *plot, double y, const char *const *items,
                        size_t n)
{
    enum { LINE = 16 };
    const char *line = "";
    size_t lines = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && items[i] == NULL)
            continue;
        const char *item = i == n ? "" : ifm_chart_clip(doc, items[i], IFM_CHART_SMALL, IFM_CHART_WIDTH);
        const char *longer = line[0] == '\0' ? item : ifm_arena_printf(doc->arena, "%s · %s", line, item);
        bool full = i == n || ifm_plot_text_width(longer, IFM_CHART_SMALL) > IFM_CHART_WIDTH;
        if (!full || line[0] == '\0') {
            line = longer;
            continue;
        }
        if (plot != NULL)
            ifm_plot_text(plot, 0, y + (double)(LINE * lines), "start", "small", line);
        lines++;
        line = item;
    }
    return lines;
}

/* ---- numbers ---- */

const struct ifm_value *ifm_chart_value(const struct ifm_document *doc, const struct ifm_cell *cell, const char *arm,
                                        enum ifm_metric_id metric)
{
    return ifm_derived_value(doc->derived, cell->name, arm, metric);
}

bool ifm_chart_is_drawable(double number)
{
    return number == 0 || (fabs(number) > 1e-280 && fabs(number) < 1e280);
}

const struct ifm_value *ifm_chart_shown(const struct ifm_document *doc, const struct ifm_cell *cell, const char *arm,
                                        enum ifm_metric_id metric)
{
    const struct ifm_value *value = ifm_chart_value(doc, cell, arm, metric);
    return value != NULL && value->state == IFM_STATE_OK && ifm_chart_is_drawable(value->number) ? value : NULL;
}

bool ifm_chart_has_interval(const struct ifm_value *value)
{
    return value->has_interval && ifm_chart_is_drawable(value->low) && ifm_chart_is_drawable(value->high) &&
           value->low <= value->high;
}

bool ifm_chart_is_held_against(const struct ifm_document *doc, const struct ifm_cell *cell, enum ifm_metric_id share)
{
    bool any = false;
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *value = ifm_chart_value(doc, cell, cell->arms[a].name, share);
        if (value != NULL && value->state == IFM_STATE_OK)
            return true;
        any |= value != NULL;
    }
    return !any;
}

const char *ifm_chart_held_back(const struct ifm_document *doc, const struct ifm_cell *cell, enum ifm_metric_id share)
{
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *value = ifm_chart_value(doc, cell, cell->arms[a].name, share);
        if (value != NULL && value->state != IFM_STATE_OK)
            return value->reason;
    }
    return "";
}

const char *ifm_chart_quantity(const struct ifm_document *doc, const struct ifm_value *value)
{
    const char *number = ifm_quantity_number(value, doc->arena);
    return ifm_chart_has_interval(value)
               ? ifm_arena_printf(doc->arena, "%s %s", number, ifm_quantity_range(value, doc->arena))
               : number;
}

const char *ifm_chart_full(const struct ifm_document *doc, const struct ifm_value *value)
{
    return ifm_chart_has_interval(value) ? ifm_quantity_full(value, doc->arena)
                                         : ifm_quantity_number(value, doc->arena);
}

const char *ifm_chart_ratio(const struct ifm_document *doc, const struct ifm_value *value)
{
    if (!value->has_interval)
        return ifm_quantity_ratio(value->number, doc->arena);
    return ifm_arena_printf(doc->arena, "%sx", ifm_quantity_of(value, doc->arena).number);
}

/* ---- tables ---- */

struct ifm_grid ifm_chart_grid(const struct ifm_document *doc, const struct ifm_heading *headings, size_t n,
                               size_t most)
{
    struct ifm_grid grid = {.n_columns = n};
    grid.headings = IFM_ARENA_ARRAY(doc->arena, struct ifm_heading, n);
    grid.fields = IFM_ARENA_ARRAY(doc->arena, struct ifm_field, n * most + 1);
    memcpy(grid.headings, headings, n * sizeof *headings);
    return grid;
}

struct ifm_field ifm_chart_text(const char *text)
{
    return (struct ifm_field){text, "", IFM_TONE_PLAIN, 0};
}

struct ifm_field *ifm_chart_row(struct ifm_grid *grid, const char *name)
{
    struct ifm_field *row = &grid->fields[grid->n_columns * grid->n_rows++];
    for (size_t c = 0; c < grid->n_columns; c++)
        row[c] = ifm_chart_text("");
    row[0] = (struct ifm_field){name, "", IFM_TONE_STRONG, 0};
    return row;
}

unsigned ifm_chart_note(const struct ifm_document *doc, const struct ifm_value *value)
{
    const char *remedy = value->remedy != NULL ? value->remedy : "";
    if (value->reason == NULL || value->reason[0] == '\0')
        return 0;
    const char *text =
        remedy[0] == '\0' ? value->reason : ifm_arena_printf(doc->arena, "%s. Remedy: %s", value->reason, remedy);
    for (size_t i = 0; i < doc->n_notes; i++)
        if (strcmp(doc->notes[i].text, text) == 0)
            return doc->notes[i].number;
    return 0;
}

static struct ifm_field missing_field(const struct ifm_document *doc, const struct ifm_value *value)
{
    struct ifm_field field = {ifm_state_label(value->state), "", IFM_TONE_DIM, ifm_chart_note(doc, value)};
    if (value->state == IFM_STATE_OK) /* no finite number: nothing derive gives */
        field.text = "not a number";
    else if (field.note == 0 && value->reason != NULL && value->reason[0] != '\0')
        field.text = ifm_arena_printf(doc->arena, "%s: %s", field.text, value->reason);
    return field;
}

static bool is_number(const struct ifm_value *value)
{
    return value->state == IFM_STATE_OK && isfinite(value->number);
}

struct ifm_field ifm_chart_field(const struct ifm_document *doc, const struct ifm_value *value)
{
    if (value == NULL)
        return ifm_chart_text("");
    if (!is_number(value))
        return missing_field(doc, value);
    struct ifm_field field = ifm_chart_text(ifm_quantity_number(value, doc->arena));
    field.interval = ifm_chart_has_interval(value) ? ifm_quantity_of(value, doc->arena).interval : "";
    return field;
}

struct ifm_field ifm_chart_ratio_field(const struct ifm_document *doc, const struct ifm_value *value)
{
    if (value == NULL || !is_number(value))
        return ifm_chart_field(doc, value);
    struct ifm_field field = ifm_chart_text(ifm_chart_ratio(doc, value));
    field.interval = ifm_chart_has_interval(value) ? ifm_quantity_range(value, doc->arena) : "";
    return field;
}
