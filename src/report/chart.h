/* Charts: what the figures share. Those of samples have figure_strip.h besides.
 *
 * Looks numbers up, names arms, builds sentences, and fills the tables under the figures. Computes no number. */
#ifndef IFM_REPORT_CHART_H
#define IFM_REPORT_CHART_H

#include "report/figure.h"
#include "report/plot.h"

enum {
    IFM_CHART_WIDTH = 340, /* of a drawing: three lie beside each other on a desk, one on a phone, as large as it is */
    IFM_CHART_MOST = 24,   /* arms in a drawing; the table has all */
    IFM_CHART_FONT = 13,   /* pixels of names */
    IFM_CHART_SMALL = 12   /* pixels of the class "small" */
};

/* "decode-kv_len-4096-ratio": unique in the page. */
const char *ifm_chart_id(const struct ifm_chart *chart, const char *figure);

/* ---- numbers ---- */

/* A derived number in any state; NULL when there is none. Arm "" is a number of the cell. */
const struct ifm_value *ifm_chart_value(const struct ifm_chart *chart, const char *arm, enum ifm_metric_id metric);
/* Can an axis hold the number? Finite, and not so large or so small that an axis around it would not be. */
bool ifm_chart_is_drawable(double number);
/* The same where it may be drawn: in state OK and drawable; else NULL. */
const struct ifm_value *ifm_chart_shown(const struct ifm_chart *chart, const char *arm, enum ifm_metric_id metric);
/* In state OK and finite. NULL is no number. */
bool ifm_chart_is_number(const struct ifm_value *value);
/* Is there a value above zero? */
bool ifm_chart_is_positive(const struct ifm_value *value);
/* Has it an interval that can be drawn? */
bool ifm_chart_has_interval(const struct ifm_value *value);
/* A measured ceiling that may be drawn; NULL where there is none, and where derive holds every arm's `share` of it
 * back, as what caches serve is not held against memory (rule 3): `held_back` then says why, else it is "". */
const struct ifm_value *ifm_chart_ceiling(const struct ifm_chart *chart, enum ifm_ceiling ceiling,
                                          enum ifm_metric_id share, const char **held_back);
/* What the record shows of an arm; NULL without a record. */
const struct ifm_picture_arm *ifm_chart_picture(const struct ifm_chart *chart, const struct ifm_arm *arm);

/* ---- words ---- */

/* The class of an arm's colour, the same in every figure of its cell: rows of the cell's table count s0 .. s7. */
const char *ifm_chart_series(const struct ifm_chart *chart, const struct ifm_arm *arm);
/* A text that is at most `width` pixels wide in a font of `size`: its middle gives way to "...", as both ends of a name
 * tell it from others. */
const char *ifm_chart_clip(const struct ifm_chart *chart, const char *text, double size, double width);
/* "67.1 % [56.1, 80.2]" */
const char *ifm_chart_quantity(const struct ifm_chart *chart, const struct ifm_value *value);
/* "18.4 GB/s ±2.2" */
const char *ifm_chart_full(const struct ifm_chart *chart, const struct ifm_value *value);
/* "1.68x" */
const char *ifm_chart_ratio(const struct ifm_chart *chart, const struct ifm_value *value);
/* One text more in a list: "a", "a, b". */
const char *ifm_chart_list(const struct ifm_chart *chart, const char *list, const char *item);
/* One sentence more, a space between; an empty one changes nothing. */
const char *ifm_chart_say(const struct ifm_chart *chart, const char *sentences, const char *format, ...)
    IFM_PRINTF(3, 4);

/* How far beyond its estimates, from `low` to `high`, an axis of ratios reaches for their intervals, as the logarithm:
 * as far as the estimates lie apart, and at least as far as every second interval goes. Of many, one that is far wider
 * would press the others together; of one or two each is held. */
double ifm_chart_reach(const struct ifm_value *const *speeds, size_t n, double low, double high);

/* ---- the drawing ---- */

/* A drawing of the usual width, without axes and without a height. */
struct ifm_plot ifm_chart_plot(const struct ifm_chart *chart, struct ifm_figure *out, double left, double right,
                               double top, double bottom);
/* Begins the drawing: its title is the cell and `title`, its description "" where the sentence says the same. */
void ifm_chart_open(const struct ifm_chart *chart, struct ifm_plot *plot, const char *title, const char *description);
/* Words below a drawing that say what its marks mean, in lines of the drawing's width from `y` down. Items that are
 * NULL are left out. Gives the number of lines; with `plot` NULL it only counts them. */
size_t ifm_chart_legend(const struct ifm_chart *chart, struct ifm_plot *plot, double y, const char *const *items,
                        size_t n);
/* A name beside a point. */
struct ifm_chart_name {
    const struct ifm_arm *arm;
    const char *text;
    struct ifm_spot point;
    double y, away; /* where it would stand, and how far from the point */
};
/* Names at the right of their points, or at the left where they would pass `edge`, spread from `low` to `high` so that
 * none covers another; a line leads to one that had to move. At most IFM_CHART_MOST. */
void ifm_chart_names(const struct ifm_chart *chart, struct ifm_plot *plot, const struct ifm_chart_name *names, size_t n,
                     double low, double high, double edge);
enum { IFM_CHART_NAME_GAP = 16 }; /* from one name to the next */

/* ---- tables ---- */

/* A table without rows, and room for `most`. */
struct ifm_grid ifm_chart_grid(const struct ifm_chart *chart, const struct ifm_heading *headings, size_t n,
                               size_t most);
/* One row more; its fields are empty. */
struct ifm_field *ifm_chart_row(struct ifm_grid *grid, const char *name);
/* One row more of an arm: each column that has a metric shows it. */
struct ifm_field *ifm_chart_arm_row(const struct ifm_chart *chart, struct ifm_grid *grid, const char *arm);
struct ifm_field ifm_chart_text(const char *text);
/* The number of the page's footnote with this value's reason; 0 = it has none. */
unsigned ifm_chart_note(const struct ifm_chart *chart, const struct ifm_value *value);
/* A value in any state; NULL gives an empty field. A number that is not there has the footnote of its reason where the
 * page has one, else the reason itself. */
struct ifm_field ifm_chart_field(const struct ifm_chart *chart, const struct ifm_value *value);
/* The same of a ratio: "1.68x" with its interval as a range. */
struct ifm_field ifm_chart_ratio_field(const struct ifm_chart *chart, const struct ifm_value *value);

#endif
