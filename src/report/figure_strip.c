/* Strips: arms one below the other, their words, their legend, their table. */
#include "report/figure_strip.h"
#include "document/quantity.h"
#include <math.h>
#include <string.h>

enum { FONT = IFM_CHART_FONT, SMALL = IFM_CHART_SMALL, LINE = 17, SWATCH = 14 };
enum { SLACK = 4 /* letters may be wider than is thought */ };
enum { TOP = 4, HEAD = 20, HEAD_ABOVE = 6, GAP = 8, AXIS = 38, DOT = 3 };

/* In two rounds, so that arms that are compared have a strip before others; within a round, as in the table. */
bool ifm_strips_choose(const struct ifm_chart *chart, bool bins, struct ifm_strips *out)
{
    *out = (struct ifm_strips){.chart = chart};
    bool any = false;
    for (int round = 0; round < 2; round++)
        for (size_t a = 0; a < chart->cell->n_arms; a++) {
            const struct ifm_arm *arm = &chart->cell->arms[a];
            const struct ifm_picture_arm *picture = ifm_chart_picture(chart, arm);
            if ((arm->role == IFM_ROLE_CEILING) != (round == 1) || picture == NULL ||
                !ifm_document_is_row(chart->doc->derived, chart->cell, arm))
                continue;
            any |= picture->withheld[0] == '\0' && picture->n_buckets > 0;
            if (out->n == IFM_STRIP_MOST) {
                out->left_out++;
                continue;
            }
            const char *missing = picture->withheld;
            if (missing[0] == '\0' && (bins ? picture->n_bins : picture->n_buckets) == 0)
                missing = bins ? "no sample was measured" : "no sample was recorded";
            out->item[out->n++] = (struct ifm_strip){arm, picture, ifm_chart_series(chart, arm), missing};
        }
    return any;
}

/* ---- words in the drawing ---- */

/* Whole letters only, at most `width` pixels of them. */
static size_t fits(const char *text, size_t size, double width)
{
    size_t letters = 0, at = 0;
    while (at < size) {
        size_t next = at + 1;
        while (next < size && ((unsigned char)text[next] & 0xC0) == 0x80)
            next++;
        if (0.58 * FONT * (double)++letters > width)
            break;
        at = next;
    }
    return at;
}

static double room_beside(const char *note)
{
    return note[0] == '\0' ? IFM_STRIP_RIGHT : IFM_STRIP_RIGHT - ifm_plot_text_width(note, SMALL) - 16;
}

/* The name goes before the note, whose numbers stand in the table too: its last clauses give way. */
void ifm_strip_head(struct ifm_plot *plot, const struct ifm_strip *strip, const char *note)
{
    const char *name = strip->arm->name, *comma;
    size_t size = strlen(name), clauses = strlen(note);
    while (note[0] != '\0' && fits(name, size, room_beside(note)) < size) {
        for (comma = note + clauses; comma > note && *comma != ',';)
            comma--;
        clauses = (size_t)(comma - note);
        note = ifm_arena_printf(plot->arena, "%.*s", (int)clauses, note);
    }
    const double room = room_beside(note), y = plot->top - HEAD_ABOVE;
    size_t shown = fits(name, size, room);
    if (shown < size) {
        shown = fits(name, size, room - 12);
        name = ifm_arena_printf(plot->arena, "%.*s…", (int)shown, name);
    }
    ifm_plot_group(plot, strip->series);
    ifm_plot_text(plot, 0, y, "start", "fill", name);
    ifm_plot_group_close(plot);
    if (note[0] != '\0')
        ifm_plot_text(plot, IFM_STRIP_RIGHT, y, "end", "small", note);
}

/* Words in place of a strip, in lines of the drawing's width; gives their height. With `plot` NULL it only measures. */
static double add_words(struct ifm_plot *plot, double y, const char *words)
{
    double height = 0;
    while (*words != '\0') {
        size_t size = strlen(words), line = fits(words, size, IFM_STRIP_RIGHT - 16);
        size_t end = line;
        while (line < size && end > 0 && words[end] != ' ')
            end--;
        end = end == 0 ? line : end;
        if (plot != NULL)
            ifm_plot_text(plot, 16, y + height + SMALL, "start", "small",
                          ifm_arena_printf(plot->arena, "%.*s", (int)end, words));
        height += LINE;
        words += end;
        while (*words == ' ')
            words++;
    }
    return height;
}

/* ---- the drawing ---- */

void ifm_strip_widen(double *low, double *high)
{
    double middle = 0.5 * (*low + *high), least = fmax(0.01 * middle, 1e-3);
    if (*high - *low >= least)
        return;
    *low = middle - 0.5 * least;
    *high = middle + 0.5 * least;
}

bool ifm_strip_is_log(double low, double high)
{
    return low > 0 && high / low > 8;
}

static bool is_drawn(const struct ifm_strip *strip)
{
    return strip->missing[0] == '\0';
}

void ifm_strips_begin(struct ifm_strips *strips, double left, double area, struct ifm_plot_axis x)
{
    double bottom = TOP;
    for (size_t i = 0; i < strips->n; i++) {
        const struct ifm_strip *strip = &strips->item[i];
        bottom += HEAD + (is_drawn(strip) ? area : add_words(NULL, 0, strip->missing)) + GAP;
    }
    bottom -= is_drawn(&strips->item[strips->n - 1]) ? GAP : 0; /* its own axis is that of all */
    strips->area = area;
    strips->next = TOP;
    strips->whole = (struct ifm_plot){.out = &strips->marks,
                                      .arena = strips->chart->arena,
                                      .width = IFM_CHART_WIDTH,
                                      .left = left,
                                      .right = IFM_STRIP_RIGHT,
                                      .top = TOP,
                                      .bottom = bottom,
                                      .x = x,
                                      .y = {.hidden = true}};
    strips->plot = strips->whole;
}

bool ifm_strips_next(struct ifm_strips *strips, const struct ifm_strip *strip)
{
    struct ifm_plot *plot = &strips->plot;
    plot->top = strips->next + HEAD;
    plot->bottom = plot->top + strips->area;
    if (!is_drawn(strip))
        plot->bottom = plot->top + add_words(NULL, 0, strip->missing);
    if (strips->shaded)
        ifm_plot_rect(plot, "ground", plot->left - 1, strips->next - GAP + DOT, plot->right - plot->left + 2,
                      (is_drawn(strip) ? plot->top : plot->bottom) - strips->next + GAP - DOT, NULL);
    if (!is_drawn(strip)) {
        ifm_strip_head(plot, strip, "withheld");
        (void)add_words(plot, plot->top, strip->missing);
    }
    strips->next = plot->bottom + GAP;
    return is_drawn(strip);
}

void ifm_strips_end(struct ifm_strips *strips, const struct ifm_strip_key *keys, size_t n, const char *title,
                    struct ifm_figure *out)
{
    double foot = strips->whole.bottom + AXIS;
    strips->whole.height = foot + ifm_strip_legend(&strips->plot, foot, keys, n);
    strips->whole.out = &out->svg;
    ifm_chart_open(strips->chart, &strips->whole, title, out->sentence);
    ifm_text_append(&out->svg, strips->marks.data, strips->marks.size);
    ifm_plot_close(&strips->whole);
    ifm_text_free(&strips->marks);
}

static const char *tick_text(const struct ifm_tick *tick)
{
    return tick->at == 0 ? "0" : tick->text; /* of no unit */
}

void ifm_strip_x_ticks(struct ifm_plot *plot, size_t most)
{
    struct ifm_tick *ticks;
    size_t n = ifm_plot_ticks(&plot->x, most, plot->arena, &ticks);
    double free_from = -INFINITY;
    ifm_plot_grid(plot, ticks, n, true);
    for (size_t i = 0; i < n; i++) {
        double x = ifm_plot_x(plot, ticks[i].at), half = 0.5 * ifm_plot_text_width(tick_text(&ticks[i]), SMALL);
        double left = fmin(fmax(x - half, 0), plot->width - 2 * half - SLACK);
        if (left < free_from)
            continue;
        ifm_plot_text(plot, left + half, plot->bottom + 16, "", "", tick_text(&ticks[i]));
        free_from = left + 2 * half + 8;
    }
    if (n > 0)
        ifm_plot_group_close(plot);
    ifm_plot_line(plot, "axis", plot->left, plot->bottom, plot->right, plot->bottom);
    ifm_plot_text(plot, plot->right, plot->bottom + 32, "end", "small", plot->x.title);
}

void ifm_strip_y_ticks(struct ifm_plot *plot, size_t most)
{
    struct ifm_tick *ticks;
    size_t n = ifm_plot_ticks(&plot->y, most, plot->arena, &ticks);
    double free_below = INFINITY;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (ifm_plot_y(plot, ticks[i].at) + SMALL <= free_below) {
            free_below = ifm_plot_y(plot, ticks[i].at);
            ticks[kept++] = ticks[i];
        }
    ifm_plot_grid(plot, ticks, kept, false);
    for (size_t i = 0; i < kept; i++)
        ifm_plot_text(plot, plot->left - 6, ifm_plot_y(plot, ticks[i].at) + 4, "", "", tick_text(&ticks[i]));
    if (kept > 0)
        ifm_plot_group_close(plot);
    ifm_plot_line(plot, "axis", plot->left, plot->bottom, plot->right, plot->bottom);
}

static void add_swatch(struct ifm_plot *plot, double x, double y, const struct ifm_strip_key *key)
{
    struct ifm_spot spot = {x + SWATCH / 2.0, y - 4};
    switch (key->shape) {
    case 'r':
        ifm_plot_rect(plot, key->class, x, y - 9, SWATCH, 10, NULL);
        break;
    case 'd':
        ifm_plot_dots(plot, key->class, &spot, 1);
        break;
    case 'v':
        ifm_plot_line(plot, key->class, spot.x, y - 11, spot.x, y + 2);
        break;
    default:
        ifm_plot_line(plot, key->class, x, spot.y, x + SWATCH, spot.y);
    }
}

double ifm_strip_legend(struct ifm_plot *plot, double y, const struct ifm_strip_key *keys, size_t n)
{
    double x = 0, height = 0;
    for (size_t i = 0; i < n; i++) {
        if (keys[i].shape == 0)
            continue;
        double width = SWATCH + 5 + ifm_plot_text_width(keys[i].text, SMALL);
        if (height == 0 || x + width > IFM_STRIP_RIGHT) {
            x = 0;
            height += LINE;
        }
        if (plot != NULL) {
            add_swatch(plot, x, y + height - 5, &keys[i]);
            ifm_plot_text(plot, x + SWATCH + 5, y + height - 5, "start", "small", keys[i].text);
        }
        x += width + 12;
    }
    return height;
}

/* ---- the table under the figure ---- */

static struct ifm_field field_of(const struct ifm_chart *chart, const struct ifm_value *value, const char **remarks)
{
    if (value == NULL)
        return ifm_chart_text("");
    if (value->state == IFM_STATE_OK)
        return (struct ifm_field){ifm_quantity_number(value, chart->arena),
                                  ifm_quantity_of(value, chart->arena).interval, IFM_TONE_PLAIN, 0, false};
    struct ifm_field field = {ifm_state_label(value->state), "",
                              value->state == IFM_STATE_ABSENT ? IFM_TONE_DIM : IFM_TONE_WARN,
                              ifm_chart_note(chart, value), false};
    if (field.note == 0 && value->reason[0] != '\0' && strstr(*remarks, value->reason) == NULL)
        *remarks = ifm_chart_say(chart, *remarks, "%s.", value->reason);
    return field;
}

struct ifm_field *ifm_strip_row(const struct ifm_chart *chart, struct ifm_grid *grid, const char *arm,
                                enum ifm_metric_id told, const char *label, const char **remarks)
{
    struct ifm_field *row = ifm_chart_row(grid, arm);
    for (size_t c = 0; c < grid->n_columns; c++) {
        enum ifm_metric_id metric = grid->headings[c].metric;
        const struct ifm_value *value = metric == IFM_M_NONE ? NULL : ifm_chart_value(chart, arm, metric);
        if (metric != IFM_M_NONE)
            row[c] = field_of(chart, value, remarks);
        if (metric == told && ifm_is_ok(value) && value->text[0] != '\0')
            *remarks = ifm_chart_say(chart, *remarks, "%s: %s.", label, value->text);
    }
    return row;
}
