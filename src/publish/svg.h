/* Charts: static SVG, written by C. Colours come from the page's style; every chart says in words what it shows. */
#ifndef IFM_PUBLISH_SVG_H
#define IFM_PUBLISH_SVG_H

#include "base/text.h"

struct ifm_bar {
    const char *name, *text; /* "half", "21.3 GB/s ±0.1" */
    double number, low, high;
    bool has_interval;
};

struct ifm_svg_limit {
    const char *text; /* "read ceiling 23.1 GB/s" */
    double number;
};

/* Horizontal bars from zero, with the limits as ticks. Nothing is drawn when no bar is above zero. */
void ifm_svg_bars(const struct ifm_bar *bars, size_t n_bars, const struct ifm_svg_limit *limits, size_t n_limits,
                  const char *title, struct ifm_text *out);

struct ifm_svg_point {
    double x, y;
    const char *text; /* "32 KiB: 101 GB/s" */
};
struct ifm_svg_mark {
    double at;
    const char *text; /* "L2", "10 ns" */
};
/* A curve over two logarithmic axes. Points with x > 0 and y > 0, in order of x; marks outside the picture are left
 * out. */
struct ifm_svg_curve {
    const struct ifm_svg_point *points;
    size_t n_points;
    const struct ifm_svg_mark *marks_x, *marks_y;
    size_t n_marks_x, n_marks_y;
    const char *title;
};
void ifm_svg_curve(const struct ifm_svg_curve *curve, struct ifm_text *out);

#endif
