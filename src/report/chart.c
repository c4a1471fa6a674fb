/* Charts of derived numbers: numbers, names, colours and tables that the figures share. */
#include "report/chart.h"
#include "document/quantity.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- names ---- */

const char *ifm_chart_id(const struct ifm_chart *chart, const char *figure)
{
    return ifm_arena_printf(chart->arena, "%s-%s", chart->doc->cell_ids[chart->cell->index], figure);
}

const char *ifm_chart_series(const struct ifm_chart *chart, const struct ifm_arm *arm)
{
    static const char *const classes[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"};
    size_t row = 0;
    for (size_t a = 0; a < chart->cell->n_arms && &chart->cell->arms[a] != arm; a++)
        row += ifm_document_is_row(chart->doc->derived, chart->cell, &chart->cell->arms[a]);
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

const char *ifm_chart_clip(const struct ifm_chart *chart, const char *text, double size, double width)
{
    double letter = ifm_plot_text_width("m", size), whole = ifm_plot_text_width(text, size);
    if (whole <= width)
        return text;
    size_t letters = (size_t)(whole / letter + 0.5), room = (size_t)fmax(width / letter, 3);
    size_t head = room / 2, tail = room - 1 - head;
    if (letters <= room)
        return text;
    const char *rest = letter_at(text, letters - tail);
    return ifm_arena_printf(chart->arena, "%.*s…%s", (int)(letter_at(text, head) - text), text, rest);
}

double ifm_chart_reach(const struct ifm_value *const *speeds, size_t n, double low, double high)
{
    const double least = 0.02, widest = 3, most = 300; /* an interval of 20 times and more says nothing by its length */
    double far[IFM_CHART_MOST], middle = 0;
    size_t n_far = 0;
    for (size_t i = 0; i < n && n_far < IFM_CHART_MOST; i++) {
        if (!ifm_chart_has_interval(speeds[i]) || !(speeds[i]->low > 0))
            continue;
        const double its = fmax(log(low) - log(speeds[i]->low), log(speeds[i]->high) - log(high));
        size_t at = n_far++;
        for (; at > 0 && far[at - 1] > its; at--)
            far[at] = far[at - 1];
        far[at] = its;
    }
    if (n_far > 0)
        middle = fmin(far[n_far / 2] * (1 + 1e-9), widest);
    return fmin(fmax(fmax(log(high) - log(low), least), middle), most);
}

const char *ifm_chart_list(const struct ifm_chart *chart, const char *list, const char *item)
{
    return list[0] == '\0' ? item : ifm_arena_printf(chart->arena, "%s, %s", list, item);
}

const char *ifm_chart_say(const struct ifm_chart *chart, const char *sentences, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *next = ifm_arena_vprintf(chart->arena, format, args);
    va_end(args);
    if (sentences[0] == '\0' || next[0] == '\0')
        return next[0] == '\0' ? sentences : next;
    return ifm_arena_printf(chart->arena, "%s %s", sentences, next);
}

/* ---- the drawing ---- */

struct ifm_plot ifm_chart_plot(const struct ifm_chart *chart, struct ifm_figure *out, double left, double right,
                               double top, double bottom)
{
    return (struct ifm_plot){.out = &out->svg,
                             .arena = chart->arena,
                             .width = IFM_CHART_WIDTH,
                             .left = left,
                             .right = right,
                             .top = top,
                             .bottom = bottom};
}

void ifm_chart_open(const struct ifm_chart *chart, struct ifm_plot *plot, const char *title, const char *description)
{
    ifm_plot_open(plot, ifm_arena_printf(chart->arena, "%s: %s", chart->cell->name, title), description);
}

size_t ifm_chart_legend(const struct ifm_chart *chart, struct ifm_plot *plot, double y, const char *const *items,
                        size_t n)
{
    enum { LINE = 16 };
    const char *line = "";
    size_t lines = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && items[i] == NULL)
            continue;
        const char *item = i == n ? "" : ifm_chart_clip(chart, items[i], IFM_CHART_SMALL, IFM_CHART_WIDTH);
        const char *longer = line[0] == '\0' ? item : ifm_arena_printf(chart->arena, "%s · %s", line, item);
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

void ifm_chart_names(const struct ifm_chart *chart, struct ifm_plot *plot, const struct ifm_chart_name *names, size_t n,
                     double low, double high, double edge)
{
    double y[IFM_CHART_MOST];
    for (size_t i = 0; i < n; i++)
        y[i] = names[i].y;
    ifm_plot_spread(y, n, IFM_CHART_NAME_GAP, low, high);
    for (size_t i = 0; i < n; i++) {
        const struct ifm_chart_name *name = &names[i];
        struct ifm_spot point = name->point;
        double width = ifm_plot_text_width(name->text, IFM_CHART_FONT);
        bool left = point.x + name->away + width > edge;
        double x = left ? fmax(point.x - name->away, width) : point.x + name->away;
        ifm_plot_group(plot, ifm_chart_series(chart, name->arm));
        if (fabs(y[i] - name->y) > 6)
            ifm_plot_line(plot, "leader", point.x, point.y, left ? fmin(x, point.x) : x, y[i]);
        ifm_plot_text(plot, x, y[i] + 4.5, left ? "end" : "start", "halo", name->text);
        ifm_plot_group_close(plot);
    }
}

/* ---- numbers ---- */

const struct ifm_value *ifm_chart_value(const struct ifm_chart *chart, const char *arm, enum ifm_metric_id metric)
{
    return ifm_derived_value(chart->doc->derived, chart->cell->name, arm, metric);
}

bool ifm_chart_is_drawable(double number)
{
    return number == 0 || (fabs(number) > 1e-280 && fabs(number) < 1e280);
}

const struct ifm_value *ifm_chart_shown(const struct ifm_chart *chart, const char *arm, enum ifm_metric_id metric)
{
    const struct ifm_value *value = ifm_chart_value(chart, arm, metric);
    return ifm_is_ok(value) && ifm_chart_is_drawable(value->number) ? value : NULL;
}

bool ifm_chart_is_number(const struct ifm_value *value)
{
    return ifm_is_ok(value) && isfinite(value->number);
}

bool ifm_chart_is_positive(const struct ifm_value *value)
{
    return value != NULL && value->number > 0;
}

bool ifm_chart_has_interval(const struct ifm_value *value)
{
    return value->has_interval && ifm_chart_is_drawable(value->low) && ifm_chart_is_drawable(value->high) &&
           value->low <= value->high;
}

const struct ifm_value *ifm_chart_ceiling(const struct ifm_chart *chart, enum ifm_ceiling ceiling,
                                          enum ifm_metric_id share, const char **held_back)
{
    const struct ifm_value *value = ifm_chart_shown(chart, "", ifm_ceiling_metrics[ceiling]);
    for (int kind = IFM_CEILING_L1; ceiling == IFM_CEILING_READ && value == NULL && kind <= IFM_CEILING_L3; kind++)
        value = ifm_chart_shown(chart, "", ifm_ceiling_metrics[kind]); /* of the cache that serves the cell */
    const struct ifm_value *held = NULL;
    bool any_ok = false;
    *held_back = "";
    if (!ifm_chart_is_positive(value))
        return NULL;
    for (size_t a = 0; a < chart->cell->n_arms; a++) {
        const struct ifm_value *of_arm = ifm_chart_value(chart, chart->cell->arms[a].name, share);
        any_ok |= ifm_is_ok(of_arm);
        held = held == NULL && !ifm_is_ok(of_arm) ? of_arm : held;
    }
    if (any_ok || held == NULL)
        return value;
    *held_back = held->reason;
    return NULL;
}

const struct ifm_picture_arm *ifm_chart_picture(const struct ifm_chart *chart, const struct ifm_arm *arm)
{
    for (size_t a = 0; chart->picture != NULL && a < chart->picture->cell->n_arms; a++)
        if (chart->picture->arms[a].arm == arm)
            return &chart->picture->arms[a];
    return NULL;
}

const char *ifm_chart_quantity(const struct ifm_chart *chart, const struct ifm_value *value)
{
    const char *number = ifm_quantity_number(value, chart->arena);
    return ifm_chart_has_interval(value)
               ? ifm_arena_printf(chart->arena, "%s %s", number, ifm_quantity_range(value, chart->arena))
               : number;
}

const char *ifm_chart_full(const struct ifm_chart *chart, const struct ifm_value *value)
{
    return ifm_chart_has_interval(value) ? ifm_quantity_full(value, chart->arena)
                                         : ifm_quantity_number(value, chart->arena);
}

const char *ifm_chart_ratio(const struct ifm_chart *chart, const struct ifm_value *value)
{
    if (!value->has_interval)
        return ifm_quantity_ratio(value->number, chart->arena);
    return ifm_arena_printf(chart->arena, "%sx", ifm_quantity_of(value, chart->arena).number);
}

/* ---- tables ---- */

struct ifm_grid ifm_chart_grid(const struct ifm_chart *chart, const struct ifm_heading *headings, size_t n, size_t most)
{
    struct ifm_grid grid = ifm_grid_make(chart->arena, n, most);
    grid.n_rows = 0;
    memcpy(grid.headings, headings, n * sizeof *headings);
    return grid;
}

struct ifm_field ifm_chart_text(const char *text)
{
    return ifm_field_text(text, IFM_TONE_PLAIN);
}

struct ifm_field *ifm_chart_row(struct ifm_grid *grid, const char *name)
{
    struct ifm_field *row = &grid->fields[grid->n_columns * grid->n_rows++];
    row[0] = ifm_field_text(name, IFM_TONE_STRONG);
    return row;
}

struct ifm_field *ifm_chart_arm_row(const struct ifm_chart *chart, struct ifm_grid *grid, const char *arm)
{
    struct ifm_field *row = ifm_chart_row(grid, arm);
    for (size_t c = 0; c < grid->n_columns; c++)
        if (grid->headings[c].metric != IFM_M_NONE)
            row[c] = ifm_chart_field(
                chart, ifm_quantity_for_people(grid->headings[c].metric,
                                               ifm_chart_value(chart, arm, grid->headings[c].metric), chart->arena));
    return row;
}

unsigned ifm_chart_note(const struct ifm_chart *chart, const struct ifm_value *value)
{
    if (ifm_is_empty(value->reason))
        return 0;
    const char *text = ifm_with_remedy(value->reason, value->remedy, chart->arena);
    for (size_t i = 0; i < chart->doc->n_notes; i++)
        if (strcmp(chart->doc->notes[i].text, text) == 0)
            return chart->doc->notes[i].number;
    return 0;
}

static struct ifm_field missing_field(const struct ifm_chart *chart, const struct ifm_value *value)
{
    struct ifm_field field = {ifm_state_label(value->state), "", IFM_TONE_DIM, ifm_chart_note(chart, value), false};
    if (value->state == IFM_STATE_OK) /* no finite number: nothing derive gives */
        field.text = "not a number";
    else if (field.note == 0 && !ifm_is_empty(value->reason))
        field.text = ifm_arena_printf(chart->arena, "%s: %s", field.text, value->reason);
    return field;
}

struct ifm_field ifm_chart_field(const struct ifm_chart *chart, const struct ifm_value *value)
{
    if (value == NULL)
        return ifm_chart_text("");
    if (!ifm_chart_is_number(value))
        return missing_field(chart, value);
    struct ifm_field field = ifm_chart_text(ifm_quantity_number(value, chart->arena));
    field.interval = ifm_chart_has_interval(value) ? ifm_quantity_of(value, chart->arena).interval : "";
    return field;
}

struct ifm_field ifm_chart_ratio_field(const struct ifm_chart *chart, const struct ifm_value *value)
{
    if (!ifm_chart_is_number(value))
        return ifm_chart_field(chart, value);
    struct ifm_field field = ifm_chart_text(ifm_chart_ratio(chart, value));
    field.interval = ifm_chart_has_interval(value) ? ifm_quantity_range(value, chart->arena) : "";
    return field;
}
