/* Charts as SVG: pixels are rounded to a tenth, so that every build writes the same bytes. */
#include "publish/svg.h"
#include "publish/html.h"
#include <math.h>

enum { WIDTH = 480, ROW = 40, BAR = 10 };

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
    int head = 18 * (int)n_limits + 4, height = head + ROW * (int)n_bars;
    open_svg(height, title, out);
    for (size_t i = 0; i < n_bars; i++)
        add_bar(&bars[i], scale, head + ROW * (int)i, out);
    for (size_t i = 0; i < n_limits; i++) {
        double x = limits[i].number * scale;
        int y = 18 * (int)i;
        ifm_text_printf(out, "<line class=\"limit\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", x, x, y + 2,
                        height);
        add_text(x > WIDTH / 2.0 ? x - 5 : x + 5, y + 13, x > WIDTH / 2.0 ? "end" : "start", "limit-text",
                 limits[i].text, out);
    }
    ifm_text_add(out, "</svg>\n");
}

struct frame {
    double left, right, top, bottom; /* pixels */
    double x0, x1, y1;               /* log2 of the ends, largest y */
};

static double at_x(const struct frame *frame, double x)
{
    double span = frame->x1 > frame->x0 ? frame->x1 - frame->x0 : 1;
    return frame->left + (frame->right - frame->left) * (log2(x) - frame->x0) / span;
}

static double at_y(const struct frame *frame, double y)
{
    return frame->bottom - (frame->bottom - frame->top) * y / frame->y1;
}

void ifm_svg_curve(const struct ifm_svg_point *points, size_t n_points, const struct ifm_svg_mark *marks,
                   size_t n_marks, const char *title, struct ifm_text *out)
{
    struct frame frame = {8, WIDTH - 8, 22, 190, 0, 0, 0};
    if (n_points < 2)
        return;
    frame.x0 = log2(points[0].x);
    frame.x1 = log2(points[n_points - 1].x);
    for (size_t i = 0; i < n_points; i++)
        frame.y1 = fmax(frame.y1, points[i].y);
    if (!(frame.y1 > 0) || !(frame.x1 > frame.x0))
        return;
    open_svg(212, title, out);
    ifm_text_printf(out, "<line class=\"axis\" x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", WIDTH, frame.bottom,
                    frame.bottom);
    for (size_t i = 0; i < n_marks; i++) {
        double x = at_x(&frame, marks[i].x);
        if (x < frame.left || x > frame.right)
            continue;
        ifm_text_printf(out, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"16\" y2=\"%.1f\"/>\n", x, x,
                        frame.bottom);
        add_text(x, 12, x < 40 ? "start" : x > WIDTH - 40 ? "end" : "middle", "small", marks[i].text, out);
    }
    ifm_text_add(out, "<polyline class=\"curve\" points=\"");
    for (size_t i = 0; i < n_points; i++)
        ifm_text_printf(out, "%s%.1f,%.1f", i == 0 ? "" : " ", at_x(&frame, points[i].x), at_y(&frame, points[i].y));
    ifm_text_add(out, "\"/>\n");
    for (size_t i = 0; i < n_points; i++) {
        ifm_text_printf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>",
                        at_x(&frame, points[i].x), at_y(&frame, points[i].y));
        ifm_html_escape(points[i].text, out);
        ifm_text_add(out, "</title></circle>\n");
    }
    add_text(0, 207, "start", "small", points[0].text, out);
    add_text(WIDTH, 207, "end", "small", points[n_points - 1].text, out);
    ifm_text_add(out, "</svg>\n");
}
