/* Charts: what the figures share. Those of samples have figure_strip.h besides.
 *
 * Looks numbers up, names arms, and fills the tables under the figures. Draws nothing itself, computes no number. All
 * texts live in the document's arena. */
#ifndef IFM_REPORT_CHART_H
#define IFM_REPORT_CHART_H

#include "report/figure.h"
#include "report/plot.h"

enum {
    IFM_CHART_WIDTH = 440, /* of a drawing: two lie beside each other on a desk, one on a phone */
    IFM_CHART_MOST = 24,   /* arms in a drawing; the table has all */
    IFM_CHART_FONT = 13,   /* pixels of names */
    IFM_CHART_SMALL = 12   /* pixels of the class "small" */
};

/* "decode-kv_len-4096-ratio": unique in the page. */
const char *ifm_chart_id(const struct ifm_document *doc, const struct ifm_cell *cell, const char *figure);

/* A derived number in any state; NULL when there is none. Arm "" is a number of the cell. */
const struct ifm_value *ifm_chart_value(const struct ifm_document *doc, const struct ifm_cell *cell, const char *arm,
                                        enum ifm_metric_id metric);
/* Can an axis hold the number? Finite, and not so large or so small that an axis around it would not be. */
bool ifm_chart_is_drawable(double number);
/* The same where it may be drawn: in state OK and drawable; else NULL. */
const struct ifm_value *ifm_chart_shown(const struct ifm_document *doc, const struct ifm_cell *cell, const char *arm,
                                        enum ifm_metric_id metric);
/* Has it an interval that can be drawn? */
bool ifm_chart_has_interval(const struct ifm_value *value);
/* A measured ceiling is drawn unless derive holds every arm's `share` of it back: what caches serve is not held against
 * memory (rule 3). */
bool ifm_chart_is_held_against(const struct ifm_document *doc, const struct ifm_cell *cell, enum ifm_metric_id share);
/* Why the first arm whose share is held back has none; "" when none is held back. */
const char *ifm_chart_held_back(const struct ifm_document *doc, const struct ifm_cell *cell, enum ifm_metric_id share);

/* The class of an arm's colour, the same in every figure of its cell: rows of the cell's table count s0 .. s7. */
const char *ifm_chart_series(const struct ifm_document *doc, const struct ifm_cell *cell, const struct ifm_arm *arm);
/* A text that is at most `width` pixels wide in a font of `size`: its middle gives way to "...", as both ends of a name
 * tell it from others. */
const char *ifm_chart_clip(const struct ifm_document *doc, const char *text, double size, double width);
/* "67.1 % [56.1, 80.2]" */
const char *ifm_chart_quantity(const struct ifm_document *doc, const struct ifm_value *value);
/* "18.4 GB/s ±2.2" */
const char *ifm_chart_full(const struct ifm_document *doc, const struct ifm_value *value);
/* "1.68x" */
const char *ifm_chart_ratio(const struct ifm_document *doc, const struct ifm_value *value);
/* One text more in a list: "a", "a, b". */
const char *ifm_chart_list(const struct ifm_document *doc, const char *list, const char *item);
/* Sentences behind each other, a space between. */
const char *ifm_chart_join(const struct ifm_document *doc, const char *sentences, const char *next);

/* Words below a drawing that say what its marks mean, in lines of the drawing's width from `y` down. Items that are
 * NULL are left out. Gives the number of lines; with `plot` NULL it only counts them. */
size_t ifm_chart_legend(const struct ifm_document *doc, struct ifm_plot *plot, double y, const char *const *items,
                        size_t n);

/* A table without rows, and room for `most`. */
struct ifm_grid ifm_chart_grid(const struct ifm_document *doc, const struct ifm_heading *headings, size_t n,
                               size_t most);
/* One row more; its fields are empty. */
struct ifm_field *ifm_chart_row(struct ifm_grid *grid, const char *name);
struct ifm_field ifm_chart_text(const char *text);
/* The number of the page's footnote with this value's reason; 0 = it has none. */
unsigned ifm_chart_note(const struct ifm_document *doc, const struct ifm_value *value);
/* A value in any state; NULL gives an empty field. A number that is not there has the footnote of its reason where the
 * page has one, else the reason itself. */
struct ifm_field ifm_chart_field(const struct ifm_document *doc, const struct ifm_value *value);
/* The same of a ratio: "1.68x" with its interval as a range. */
struct ifm_field ifm_chart_ratio_field(const struct ifm_document *doc, const struct ifm_value *value);

#endif
