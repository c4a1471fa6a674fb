/* Plots: the paper that figures are drawn on. Scales, axes with ticks, marks, and names that do not overlap.
 *
 * Writes static SVG and nothing else: no colour (classes; web/report.css gives them colours in light, dark and print),
 * no meaning. All positions are in pixels of a drawing `width` wide, rounded to a tenth, so that every build writes the
 * same bytes. Classes that every figure may use: "s0" .. "s7" (a series: sets the colour that fill and line below it
 * take), "fill", "line", "dots", "band", "limit", "mark", "axis", "grid", "warm" (warm-up), "disturbed", "ground" (as
 * the paper), "dim", "small". More of them: "faint" (much data behind something), "hollow" (an outline), "bubble" (a
 * filled outline that lets others through), "dash" (a broken line), "roof" (a measured ceiling: sets the colour as a
 * series does), "halo" (a text on top of lines).
 *
 * The script of the page, where it may run, reads the attributes data-x and data-y of a drawing to tell what lies under
 * the pointer, and <title> of an element as its tip: without script the browser shows the same titles. */
#ifndef IFM_REPORT_PLOT_H
#define IFM_REPORT_PLOT_H

#include "base/arena.h"
#include "base/text.h"

enum ifm_scale { IFM_SCALE_LINEAR = 0, IFM_SCALE_LOG };

struct ifm_plot_axis {
    enum ifm_scale scale;
    double low, high;  /* low < high; of a logarithmic axis low > 0 */
    const char *unit;  /* unit id, as in ifm_value: ticks are written as quantities of it; "" = plain numbers, "x" = a
                          ratio: "1.5x"; ticks of "B" stand at powers of two */
    const char *title; /* "time of a step"; "" = none */
    bool hidden;       /* neither ticks nor grid */
};

struct ifm_plot {
    struct ifm_text *out;
    struct ifm_arena *arena;
    double width, height;            /* of the drawing */
    double left, right, top, bottom; /* of the area inside the axes: x positions and y positions */
    struct ifm_plot_axis x, y;
};

struct ifm_tick {
    double at;
    const char *text;
};

/* <svg> with its title and a description for those who do not see it; "" where the caption below says the same. */
void ifm_plot_open(struct ifm_plot *plot, const char *title, const char *description);
void ifm_plot_close(struct ifm_plot *plot);

/* Where a value lies; a value outside of the axis lies outside of the area. Of a logarithmic axis value > 0. */
double ifm_plot_x(const struct ifm_plot *plot, double value);
double ifm_plot_y(const struct ifm_plot *plot, double value);
/* Inside of the area, its edges included. */
bool ifm_plot_holds(const struct ifm_plot *plot, double x, double y);

/* Round values inside of the axis, at most `most` of them, ascending, with their texts. */
size_t ifm_plot_ticks(const struct ifm_plot_axis *axis, size_t most, struct ifm_arena *arena, struct ifm_tick **out);
/* The lines of ticks as one element, and an open group for their texts; of no ticks nothing. */
void ifm_plot_grid(struct ifm_plot *plot, const struct ifm_tick *ticks, size_t n, bool upright);
/* Grid lines, ticks and titles of both axes. */
void ifm_plot_axes(struct ifm_plot *plot);

/* Positions in pixels from here on. What lies at no finite position, or a million pixels away, is not drawn. `class`
 * may be "" and hold several words; `tip` may be NULL. */
void ifm_plot_line(struct ifm_plot *plot, const char *class, double x1, double y1, double x2, double y2);
void ifm_plot_rect(struct ifm_plot *plot, const char *class, double x, double y, double width, double height,
                   const char *tip);
/* A circle of radius r. */
void ifm_plot_dot(struct ifm_plot *plot, const char *class, double x, double y, double r, const char *tip);
/* anchor: "start", "middle" or "end"; "" = as its group has it. */
void ifm_plot_text(struct ifm_plot *plot, double x, double y, const char *anchor, const char *class, const char *text);

struct ifm_spot {
    double x, y;
};
/* A polyline; `closed` joins its ends, for areas. */
void ifm_plot_path(struct ifm_plot *plot, const char *class, const struct ifm_spot *spots, size_t n, bool closed,
                   const char *tip);
/* The interval of a value on the x axis, `y` pixels down, as one element; an arrow where it goes on past the axis. */
void ifm_plot_interval(struct ifm_plot *plot, double low, double high, double y);
/* Fields as high as the area, as one element; of each `x` is its left and `y` its right edge. */
void ifm_plot_fields(struct ifm_plot *plot, const char *class, const struct ifm_spot *fields, size_t n);
/* Many dots as one element: some eight bytes each. Class "dots" gives them their size. */
void ifm_plot_dots(struct ifm_plot *plot, const char *class, const struct ifm_spot *spots, size_t n);

/* A group with a class, such as the colour of a series; close it. */
void ifm_plot_group(struct ifm_plot *plot, const char *class);
void ifm_plot_group_close(struct ifm_plot *plot);

/* About how wide a text is, in pixels: fonts differ, so leave room. `size` is the font's, in pixels. */
double ifm_plot_text_width(const char *text, double size);
/* Move names up or down until none is nearer than `gap` to the next and all are within [low, high]: as little as can
 * be, their order is kept. With more names than fit, the gap shrinks. At most IFM_PLOT_MOST_NAMES, more are not moved.
 */
enum { IFM_PLOT_MOST_NAMES = 256 };
void ifm_plot_spread(double *y, size_t n, double gap, double low, double high);

#endif
