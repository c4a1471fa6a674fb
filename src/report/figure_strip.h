/* Strips: what the figures of samples share. One strip an arm, below each other on one axis; which arms get one, how a
 * value stands in the table under the figure, and the legend. Computes no number. */
#ifndef IFM_REPORT_FIGURE_STRIP_H
#define IFM_REPORT_FIGURE_STRIP_H

#include "report/chart.h"

enum {
    IFM_STRIP_MOST = 8, /* strips of a figure */
    IFM_STRIP_RIGHT = IFM_CHART_WIDTH - 6
};

/* An arm that is a row of its cell's table, and its picture. */
struct ifm_strip {
    const struct ifm_arm *arm;
    const struct ifm_picture_arm *picture;
    const char *series;  /* class of its colour */
    const char *missing; /* why there is nothing to draw; "" */
};
struct ifm_strips {
    const struct ifm_chart *chart;
    struct ifm_strip item[IFM_STRIP_MOST];
    size_t n;
    size_t left_out; /* rows that got no strip: compared arms come first */
    /* while they are drawn */
    struct ifm_plot plot; /* of the strip at work; before the first, of all */
    struct ifm_plot whole;
    struct ifm_text marks;
    double area, next; /* height of a strip; where the next one begins */
    bool shaded;       /* what lies behind all is hidden behind words */
};

/* A strip shows samples over time, or with `bins` their distribution. False when no arm has anything to draw: no rows,
 * no record, or everything is withheld. */
bool ifm_strips_choose(const struct ifm_chart *chart, bool bins, struct ifm_strips *out);

/* Draws strips of `area` pixels each: begin, next for each of them, end. What is drawn between begin and the first next
 * lies behind all. Next gives false for one with nothing to draw: its words stand there. */
void ifm_strips_begin(struct ifm_strips *strips, double left, double area, struct ifm_plot_axis x);
bool ifm_strips_next(struct ifm_strips *strips, const struct ifm_strip *strip);
struct ifm_strip_key {
    char shape;        /* 'r' a field, 'd' a dot, 'l' a line, 'v' an upright line; 0 = this one is left out */
    const char *class; /* as in the drawing */
    const char *text;
};
/* The marks come first: only they tell what the legend names, and so how high the drawing is. */
void ifm_strips_end(struct ifm_strips *strips, const struct ifm_strip_key *keys, size_t n, const char *title,
                    struct ifm_figure *out);

/* Two values that lie closer than is worth telling apart, else the axis would show the clock, move apart. */
void ifm_strip_widen(double *low, double *high);
/* So far apart that their axis is logarithmic? */
bool ifm_strip_is_log(double low, double high);
/* The line above the strip at work: the arm's name in its colour, a note at its right end. */
void ifm_strip_head(struct ifm_plot *plot, const struct ifm_strip *strip, const char *note);
/* Grid lines and ticks of one axis, at most `most`: more than ifm_plot_axes would give, and none that touch. */
void ifm_strip_x_ticks(struct ifm_plot *plot, size_t most);
void ifm_strip_y_ticks(struct ifm_plot *plot, size_t most);
/* What the marks mean, in lines from `y` down; gives their height. With `plot` NULL it only measures. */
double ifm_strip_legend(struct ifm_plot *plot, double y, const struct ifm_strip_key *keys, size_t n);

/* One row more of the table: each column that has a metric shows it. What is not there has the footnote of its reason
 * where the page has one, else the reason is a remark. The text of `told` is a remark behind `label`. */
struct ifm_field *ifm_strip_row(const struct ifm_chart *chart, struct ifm_grid *grid, const char *arm,
                                enum ifm_metric_id told, const char *label, const char **remarks);

#endif
