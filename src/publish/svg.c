/* Charts as SVG: pixels are rounded to a tenth, so that every build writes the same bytes. */
#include "publish/svg.h"
#include "publish/html.h"
#include <math.h>

enum { WIDTH = 420, ROW = 40, BAR = 10 };

static void open_svg(int height, const char *title, struct ifm_text *out)
{
    ifm_text_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", WIDTH, height);
    ifm_html_escape(title, out);
    ifm_text_add(out, "</title>\n");
}

static void add_text(double x, double y, const char *anchor, const char *class, const char *text, struct ifm_text *out)
{
    ifm_text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s%s%s>", x, y, anchor,
                    class[0] == '\0' ? "" : " class=\"", class, class[0] == '\0' ? "" : "\"");
    ifm_html_escape(text, out);
    ifm_text_add(out, "</text>\n");
}

static void add_bar(const struct ifm_bar *bar, double scale, int y, struct ifm_text *out)
{
    add_text(0, y + 14, "start", "", bar->name, out);
    add_text(WIDTH, y + 14, "end", "", bar->text, out);
    ifm_text_printf(out, "<rect class=\"track\" x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\"/>\n", y + 20,
                    WIDTH, BAR);
    ifm_text_printf(out, "<rect class=\"bar\" x=\"0\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"3\"/>\n", y + 20,
                    fmax(bar->number * scale, 1), BAR);
    if (bar->has_interval)
        ifm_text_printf(out, "<line class=\"whisker\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n",
                        fmax(bar->low * scale, 0), fmin(bar->high * scale, WIDTH), y + 25, y + 25);
}

/* The limit's words at the top, and a tick on each bar's track. */
static void add_limit(const struct ifm_svg_limit *limit, double scale, int y, int head, size_t n_bars,
                      struct ifm_text *out)
{
    double x = limit->number * scale;
    bool right = x > WIDTH / 2.0;
    add_text(right ? x - 5 : x + 5, y + 13, right ? "end" : "start", "limit-text", limit->text, out);
    ifm_text_printf(out, "<line class=\"limit\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", x, x, y + 2, y + 16);
    for (size_t i = 0; i < n_bars; i++) {
        int top = head + ROW * (int)i + 17;
        ifm_text_printf(out, "<line class=\"limit\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", x, x, top,
                        top + BAR + 6);
    }
}

void ifm_svg_bars(const struct ifm_bar *bars, size_t n_bars, const struct ifm_svg_limit *limits, size_t n_limits,
                  const char *title, struct ifm_text *out)
{
    double top = 0;
    for (size_t i = 0; i < n_bars; i++)
        top = fmax(top, fmax(bars[i].number, bars[i].has_interval ? bars[i].high : 0));
    if (top <= 0)
        return;
    for (size_t i = 0; i < n_limits; i++)
        top = fmax(top, limits[i].number);
    double scale = WIDTH / (top * 1.02);
    int head = 18 * (int)n_limits + 4;
    open_svg(head + ROW * (int)n_bars, title, out);
    for (size_t i = 0; i < n_bars; i++)
        add_bar(&bars[i], scale, head + ROW * (int)i, out);
    for (size_t i = 0; i < n_limits; i++)
        add_limit(&limits[i], scale, 18 * (int)i, head, n_bars, out);
    ifm_text_add(out, "</svg>\n");
}

/* The picture's area in pixels, and its ends as logarithms. */
struct frame {
    double left, right, top, bottom;
    double x0, x1, y0, y1;
};

static double at_x(const struct frame *frame, double x)
{
    return frame->left + (frame->right - frame->left) * (log2(x) - frame->x0) / (frame->x1 - frame->x0);
}

static double at_y(const struct frame *frame, double y)
{
    return frame->bottom - (frame->bottom - frame->top) * (log2(y) - frame->y0) / (frame->y1 - frame->y0);
}

/* False when there is nothing to draw. A tenth of an octave of air stays above and below the curve. */
static bool fit(const struct ifm_svg_curve *curve, struct frame *frame)
{
    if (curve->n_points < 2)
        return false;
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < curve->n_points; i++) {
        if (!(curve->points[i].x > 0) || !(curve->points[i].y > 0))
            return false;
        low = fmin(low, curve->points[i].y);
        high = fmax(high, curve->points[i].y);
    }
    *frame = (struct frame){44,
                            WIDTH - 8,
                            22,
                            190,
                            .x0 = log2(curve->points[0].x),
                            .x1 = log2(curve->points[curve->n_points - 1].x),
                            .y0 = log2(low) - 0.1,
                            .y1 = log2(high) + 0.1};
    return frame->x1 > frame->x0;
}

static void add_marks(const struct ifm_svg_curve *curve, const struct frame *frame, struct ifm_text *out)
{
    for (size_t i = 0; i < curve->n_marks_y; i++) {
        double y = at_y(frame, curve->marks_y[i].at);
        if (y < frame->top || y > frame->bottom)
            continue;
        ifm_text_printf(out, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", frame->left,
                        frame->right, y, y);
        add_text(frame->left - 6, y + 4, "end", "small", curve->marks_y[i].text, out);
    }
    for (size_t i = 0; i < curve->n_marks_x; i++) {
        double x = at_x(frame, curve->marks_x[i].at);
        if (x < frame->left || x > frame->right)
            continue;
        ifm_text_printf(out, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"16\" y2=\"%.1f\"/>\n", x, x,
                        frame->bottom);
        add_text(x, 12, x > WIDTH - 30 ? "end" : "middle", "small", curve->marks_x[i].text, out);
    }
}

void ifm_svg_curve(const struct ifm_svg_curve *curve, struct ifm_text *out)
{
    struct frame frame;
    if (!fit(curve, &frame))
        return;
    open_svg(212, curve->title, out);
    ifm_text_printf(out, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", frame.left,
                    frame.right, frame.bottom, frame.bottom);
    add_marks(curve, &frame, out);
    ifm_text_add(out, "<polyline class=\"curve\" points=\"");
    for (size_t i = 0; i < curve->n_points; i++)
        ifm_text_printf(out, "%s%.1f,%.1f", i == 0 ? "" : " ", at_x(&frame, curve->points[i].x),
                        at_y(&frame, curve->points[i].y));
    ifm_text_add(out, "\"/>\n");
    for (size_t i = 0; i < curve->n_points; i++) {
        ifm_text_printf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>",
                        at_x(&frame, curve->points[i].x), at_y(&frame, curve->points[i].y));
        ifm_html_escape(curve->points[i].text, out);
        ifm_text_add(out, "</title></circle>\n");
    }
    add_text(frame.left, 207, "start", "small", curve->points[0].text, out);
    add_text(WIDTH, 207, "end", "small", curve->points[curve->n_points - 1].text, out);
    ifm_text_add(out, "</svg>\n");
}
