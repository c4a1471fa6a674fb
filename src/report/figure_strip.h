/* Strips: what the figures of samples share. One strip an arm, below each other on one axis; which arms get one, how a
 * value stands in the table under the figure, and the legend.
 *
 * Computes no number. Texts live in the document's arena. */
#ifndef IFM_REPORT_FIGURE_STRIP_H
#define IFM_REPORT_FIGURE_STRIP_H

#include "report/figure.h"
#include "report/plot.h"

enum {
    IFM_STRIP_MOST = 8,    /* strips of a figure */
    IFM_STRIP_WIDTH = 440, /* of the drawing: readable on a phone */
    IFM_STRIP_LEFT = 62,
    IFM_STRIP_RIGHT = 434,
    IFM_STRIP_HEAD = 20 /* the line that names the arm */
};

/* An arm that is a row of its cell's table, and its picture. */
struct ifm_strip {
    const struct ifm_arm *arm;
    const struct ifm_picture_arm *picture;
    const char *series; /* class of its colour: the row's number in the table, s0 .. s7 */
};
struct ifm_strips {
    struct ifm_strip item[IFM_STRIP_MOST];
    size_t n;
    size_t left_out; /* rows that got no strip: compared arms come first */
};

/* False when no arm has anything to draw: no rows, no record, or everything is withheld. */
bool ifm_strips_choose(const struct ifm_document *doc, const struct ifm_cell *cell, const struct ifm_picture *picture,
                       struct ifm_strips *out);

/* The line above a strip: the arm's name in its colour, a note at its right end. */
void ifm_strip_head(struct ifm_plot *plot, const struct ifm_strip *strip, double y, const char *note);
/* Words in place of a strip, in lines of the drawing's width; gives their height. With `plot` NULL it only measures. */
double ifm_strip_words(struct ifm_plot *plot, double y, const char *words, struct ifm_arena *arena);

/* Grid lines and ticks of one axis, at most `most`: more than ifm_plot_axes would give, and none that touch. */
void ifm_strip_x_ticks(struct ifm_plot *plot, size_t most);
void ifm_strip_y_ticks(struct ifm_plot *plot, size_t most);

struct ifm_strip_key {
    char shape;        /* 'r' a field, 'd' a dot, 'l' a line, 'v' an upright line; 0 = this one is left out */
    const char *class; /* as in the drawing */
    const char *text;
};
/* What the marks mean, in lines from `y` down; gives their height. With `plot` NULL it only measures. */
double ifm_strip_legend(struct ifm_plot *plot, double y, const struct ifm_strip_key *keys, size_t n);

/* A value in any state. What is not there has the footnote of its reason where the page has one; else the reason is
 * added to `remarks`. */
struct ifm_field ifm_strip_field(const struct ifm_document *doc, const struct ifm_value *value,
                                 struct ifm_text *remarks);

/* One sentence or remark more, a space between. */
void ifm_strip_add(struct ifm_text *text, const char *format, ...) IFM_PRINTF(2, 3);

#endif
