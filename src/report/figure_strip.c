/* Strips: arms one below the other, their words, their legend, their table. */
#include "report/figure_strip.h"
#include "document/quantity.h"
#include "report/chart.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FONT = 13, SMALL = 12, LINE = 17, SWATCH = 14, SLACK = 4 /* letters may be wider than is thought */ };

static const struct ifm_picture_arm *picture_of(const struct ifm_picture *picture, const struct ifm_arm *arm)
{
    for (size_t a = 0; a < picture->cell->n_arms; a++)
        if (picture->arms[a].arm == arm)
            return &picture->arms[a];
    return NULL;
}

/* In two rounds, so that arms that are compared have a strip before others; within a round, as in the table. */
bool ifm_strips_choose(const struct ifm_document *doc, const struct ifm_cell *cell, const struct ifm_picture *picture,
                       struct ifm_strips *out)
{
    *out = (struct ifm_strips){0};
    bool any = false;
    for (int round = 0; picture != NULL && round < 2; round++) {
        size_t row = 0;
        for (size_t a = 0; a < cell->n_arms; a++) {
            const struct ifm_arm *arm = &cell->arms[a];
            if (!ifm_document_is_row(doc->derived, cell, arm))
                continue;
            const struct ifm_picture_arm *drawn = picture_of(picture, arm);
            const char *series = ifm_arena_printf(doc->arena, "s%zu", row++ % 8);
            if ((arm->role == IFM_ROLE_CEILING) != (round == 1) || drawn == NULL)
                continue;
            any |= drawn->withheld[0] == '\0' && drawn->n_buckets > 0;
            if (out->n == IFM_STRIP_MOST)
                out->left_out++;
            else
                out->item[out->n++] = (struct ifm_strip){arm, drawn, series};
        }
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

void ifm_strip_head(struct ifm_plot *plot, const struct ifm_strip *strip, double y, const char *note)
{
    const char *name = strip->arm->name;
    double room = IFM_STRIP_RIGHT - ifm_plot_text_width(note, SMALL) - 16;
    size_t size = strlen(name), shown = fits(name, size, room);
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

double ifm_strip_words(struct ifm_plot *plot, double y, const char *words, struct ifm_arena *arena)
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
                          ifm_arena_printf(arena, "%.*s", (int)end, words));
        height += LINE;
        words += end;
        while (*words == ' ')
            words++;
    }
    return height;
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
    for (size_t i = 0; i < n; i++) {
        double x = ifm_plot_x(plot, ticks[i].at), half = 0.5 * ifm_plot_text_width(tick_text(&ticks[i]), SMALL);
        double left = fmin(fmax(x - half, 0), plot->width - 2 * half - SLACK);
        ifm_plot_line(plot, "grid", x, plot->top, x, plot->bottom);
        if (left < free_from)
            continue;
        ifm_plot_text(plot, left + half, plot->bottom + 16, "middle", "small", tick_text(&ticks[i]));
        free_from = left + 2 * half + 8;
    }
    ifm_plot_line(plot, "axis", plot->left, plot->bottom, plot->right, plot->bottom);
    ifm_plot_text(plot, plot->right, plot->bottom + 32, "end", "small", plot->x.title);
}

void ifm_strip_y_ticks(struct ifm_plot *plot, size_t most)
{
    struct ifm_tick *ticks;
    size_t n = ifm_plot_ticks(&plot->y, most, plot->arena, &ticks);
    double free_below = INFINITY;
    for (size_t i = 0; i < n; i++) {
        double y = ifm_plot_y(plot, ticks[i].at);
        if (y + SMALL > free_below)
            continue;
        ifm_plot_line(plot, "grid", plot->left, y, plot->right, y);
        ifm_plot_text(plot, plot->left - 6, y + 4, "end", "small", tick_text(&ticks[i]));
        free_below = y;
    }
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
        if (height > 0 && x + width <= IFM_STRIP_RIGHT) {
            /* beside the one before */
        } else {
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

struct ifm_field ifm_strip_field(const struct ifm_document *doc, const struct ifm_value *value,
                                 struct ifm_text *remarks)
{
    struct ifm_field field = ifm_chart_text("");
    if (value == NULL)
        return field;
    if (value->state == IFM_STATE_OK) {
        field.text = ifm_quantity_number(value, doc->arena);
        field.interval = ifm_quantity_of(value, doc->arena).interval;
        return field;
    }
    field.text = ifm_state_label(value->state);
    field.tone = value->state == IFM_STATE_ABSENT ? IFM_TONE_DIM : IFM_TONE_WARN;
    field.note = ifm_chart_note(doc, value);
    bool said = remarks->size > 0 && strstr(remarks->data, value->reason) != NULL;
    if (field.note == 0 && value->reason[0] != '\0' && !said)
        ifm_strip_add(remarks, "%s.", value->reason);
    return field;
}

void ifm_strip_add(struct ifm_text *text, const char *format, ...)
{
    char words[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (text->size > 0)
        ifm_text_add(text, " ");
    ifm_text_add(text, words);
}
