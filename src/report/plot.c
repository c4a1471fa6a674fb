/* Plots as SVG: scales, axes, marks. */
#include "report/plot.h"
#include "document/escape.h"
#include "document/quantity.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- elements ---- */

/* A pixel position in tenths, without a useless fraction. */
static const char *pixels(double value, char buffer[24])
{
    double tenths = round(value * 10);
    if (tenths == 0)
        tenths = 0; /* no minus zero */
    snprintf(buffer, 24, fmod(tenths, 10) == 0 ? "%.0f" : "%.1f", tenths / 10);
    return buffer;
}

/* A position far outside of any drawing, or none at all: what lies there is not drawn. */
static bool is_place(double value)
{
    return fabs(value) < 1e6;
}

static void add_class(struct ifm_plot *plot, const char *class)
{
    if (class[0] != '\0')
        ifm_text_printf(plot->out, " class=\"%s\"", class);
}

static void end_element(struct ifm_plot *plot, const char *name, const char *tip)
{
    if (tip == NULL || tip[0] == '\0') {
        ifm_text_add(plot->out, "/>\n");
        return;
    }
    ifm_escape_print(ifm_escape_html, plot->out, "><title>%s</title></%s>\n", tip, name);
}

static void add_axis_facts(struct ifm_plot *plot, const char *name, const struct ifm_plot_axis *axis, double from,
                           double to)
{
    char a[24], b[24];
    ifm_text_printf(plot->out, " data-%s=\"%s %.6g %.6g %s %s ", name, axis->scale == IFM_SCALE_LOG ? "log" : "linear",
                    axis->low, axis->high, pixels(from, a), pixels(to, b));
    ifm_escape_print(ifm_escape_html, plot->out, "%s\"", axis->unit);
}

void ifm_plot_open(struct ifm_plot *plot, const char *title, const char *description)
{
    char width[24], height[24];
    ifm_text_printf(plot->out, "<svg viewBox=\"0 0 %s %s\" role=\"img\"", pixels(plot->width, width),
                    pixels(plot->height, height));
    if (!plot->x.hidden)
        add_axis_facts(plot, "x", &plot->x, plot->left, plot->right);
    if (!plot->y.hidden)
        add_axis_facts(plot, "y", &plot->y, plot->bottom, plot->top);
    ifm_escape_print(ifm_escape_html, plot->out, "><title>%s</title>", title);
    if (description[0] != '\0')
        ifm_escape_print(ifm_escape_html, plot->out, "<desc>%s</desc>", description);
    ifm_text_add(plot->out, "\n");
}

void ifm_plot_close(struct ifm_plot *plot)
{
    ifm_text_add(plot->out, "</svg>\n");
}

struct attribute {
    const char *name;
    double value;
};

/* Begins an element with its positions; false, and nothing is written, where one of them is no place. */
static bool begin_element(struct ifm_plot *plot, const char *name, const char *class, const struct attribute *places,
                          size_t n)
{
    char buffer[24];
    for (size_t i = 0; i < n; i++)
        if (!is_place(places[i].value))
            return false;
    ifm_text_printf(plot->out, "<%s", name);
    add_class(plot, class);
    for (size_t i = 0; i < n; i++)
        ifm_text_printf(plot->out, " %s=\"%s\"", places[i].name, pixels(places[i].value, buffer));
    return true;
}

void ifm_plot_line(struct ifm_plot *plot, const char *class, double x1, double y1, double x2, double y2)
{
    char a[24], b[24], c[24], d[24];
    if (!is_place(x1) || !is_place(y1) || !is_place(x2) || !is_place(y2))
        return;
    ifm_text_add(plot->out, "<path");
    add_class(plot, class);
    ifm_text_printf(plot->out, " d=\"M%s %s", pixels(x1, a), pixels(y1, b));
    pixels(x2, c);
    pixels(y2, d);
    if (strcmp(a, c) == 0)
        ifm_text_printf(plot->out, "V%s\"/>\n", d);
    else if (strcmp(b, d) == 0)
        ifm_text_printf(plot->out, "H%s\"/>\n", c);
    else
        ifm_text_printf(plot->out, "L%s %s\"/>\n", c, d);
}

void ifm_plot_rect(struct ifm_plot *plot, const char *class, double x, double y, double width, double height,
                   const char *tip)
{
    const struct attribute places[] = {{"x", x}, {"y", y}, {"width", fmax(width, 0)}, {"height", fmax(height, 0)}};
    if (is_place(width) && is_place(height) && begin_element(plot, "rect", class, places, 4))
        end_element(plot, "rect", tip);
}

void ifm_plot_dot(struct ifm_plot *plot, const char *class, double x, double y, double r, const char *tip)
{
    const struct attribute places[] = {{"cx", x}, {"cy", y}, {"r", r}};
    if (begin_element(plot, "circle", class, places, 3))
        end_element(plot, "circle", tip);
}

void ifm_plot_text(struct ifm_plot *plot, double x, double y, const char *anchor, const char *class, const char *text)
{
    const struct attribute places[] = {{"x", x}, {"y", y}};
    if (!begin_element(plot, "text", class, places, 2))
        return;
    if (anchor[0] != '\0' && strcmp(anchor, "start") != 0)
        ifm_text_printf(plot->out, " text-anchor=\"%s\"", anchor);
    ifm_escape_print(ifm_escape_html, plot->out, ">%s</text>\n", text);
}

/* A number of a path, which needs nothing before it where its sign shows that it begins. */
static void add_step(struct ifm_plot *plot, double value, bool apart)
{
    char buffer[24];
    const char *text = pixels(value, buffer);
    ifm_text_printf(plot->out, "%s%s", apart && text[0] != '-' ? " " : "", text);
}

/* The first spot by its place, the others by their distance from the one before, which is half as long: `first` stands
 * before the second, `others` before those behind it, `end` follows each. Of many spots tenths of a pixel are seen by
 * nobody. */
static bool begin_path(struct ifm_plot *plot, const char *class, const struct ifm_spot *spots, size_t n,
                       const char *first, const char *others, const char *end)
{
    enum { MANY = 60 };
    const double grain = n > MANY ? 1 : 0.1;
    double x = 0, y = 0;
    for (size_t i = 0; i < n; i++)
        if (!is_place(spots[i].x) || !is_place(spots[i].y))
            return false;
    if (n == 0)
        return false;
    ifm_text_add(plot->out, "<path");
    add_class(plot, class);
    ifm_text_add(plot->out, " d=\"");
    for (size_t i = 0; i < n; i++) {
        const double to_x = round(spots[i].x / grain) * grain, to_y = round(spots[i].y / grain) * grain;
        const char *command = i == 0 ? "M" : i == 1 ? first : others;
        ifm_text_add(plot->out, command);
        add_step(plot, to_x - x, command[0] == '\0');
        add_step(plot, to_y - y, true);
        ifm_text_add(plot->out, end);
        x = to_x;
        y = to_y;
    }
    return true;
}

void ifm_plot_path(struct ifm_plot *plot, const char *class, const struct ifm_spot *spots, size_t n, bool closed,
                   const char *tip)
{
    if (!begin_path(plot, class, spots, n, "l", "", ""))
        return;
    ifm_text_add(plot->out, closed ? "Z\"" : "\"");
    end_element(plot, "path", tip);
}

void ifm_plot_fields(struct ifm_plot *plot, const char *class, const struct ifm_spot *fields, size_t n)
{
    char a[24], b[24], c[24], d[24];
    if (n == 0)
        return;
    ifm_text_add(plot->out, "<path");
    add_class(plot, class);
    ifm_text_add(plot->out, " d=\"");
    for (size_t i = 0; i < n; i++)
        ifm_text_printf(plot->out, "M%s %sH%sV%sH%sZ", pixels(fields[i].x, a), pixels(plot->top, b),
                        pixels(fields[i].y, c), pixels(plot->bottom, d), a);
    ifm_text_add(plot->out, "\"/>\n");
}

void ifm_plot_dots(struct ifm_plot *plot, const char *class, const struct ifm_spot *spots, size_t n)
{
    if (begin_path(plot, class, spots, n, "m", "m", "h0"))
        ifm_text_add(plot->out, "\"/>\n");
}

/* The end of an interval towards `side` (-1 or 1). */
static void add_end(struct ifm_plot *plot, double x, double y, bool goes_on, int side)
{
    enum { HALF = 4, ARROW = 5 };
    char back[24], top[24];
    ifm_text_printf(plot->out, "M%s %s", pixels(goes_on ? x - ARROW * side : x, back), pixels(y - HALF, top));
    if (goes_on)
        ifm_text_printf(plot->out, "l%d %dl%d %d", ARROW * side, HALF, -ARROW * side, HALF);
    else
        ifm_text_printf(plot->out, "v%d", 2 * HALF);
}

void ifm_plot_interval(struct ifm_plot *plot, double low, double high, double y)
{
    char a[24], b[24], c[24];
    bool left = !(low >= plot->x.low), right = !(high <= plot->x.high);
    double from = left ? plot->left : ifm_plot_x(plot, low), to = right ? plot->right : ifm_plot_x(plot, high);
    if (!is_place(from) || !is_place(to) || !is_place(y))
        return;
    ifm_text_printf(plot->out, "<path class=\"whisker open\" d=\"M%s %sH%s", pixels(from, a), pixels(y, b),
                    pixels(to, c));
    add_end(plot, from, y, left, -1);
    add_end(plot, to, y, right, 1);
    ifm_text_add(plot->out, "\"/>\n");
}

void ifm_plot_group(struct ifm_plot *plot, const char *class)
{
    ifm_text_add(plot->out, "<g");
    add_class(plot, class);
    ifm_text_add(plot->out, ">\n");
}

void ifm_plot_group_close(struct ifm_plot *plot)
{
    ifm_text_add(plot->out, "</g>\n");
}

/* ---- scales ---- */

static double share(const struct ifm_plot_axis *axis, double value)
{
    if (axis->scale == IFM_SCALE_LOG)
        return (log(value) - log(axis->low)) / (log(axis->high) - log(axis->low));
    double whole = axis->high - axis->low;
    return isfinite(whole) ? (value - axis->low) / whole
                           : (value / 4 - axis->low / 4) / (axis->high / 4 - axis->low / 4);
}

double ifm_plot_x(const struct ifm_plot *plot, double value)
{
    return plot->left + (plot->right - plot->left) * share(&plot->x, value);
}

double ifm_plot_y(const struct ifm_plot *plot, double value)
{
    return plot->bottom - (plot->bottom - plot->top) * share(&plot->y, value);
}

bool ifm_plot_holds(const struct ifm_plot *plot, double x, double y)
{
    return x >= plot->left && x <= plot->right && y >= plot->top && y <= plot->bottom;
}

/* ---- ticks ---- */

static bool is_bytes(const struct ifm_plot_axis *axis)
{
    return strcmp(axis->unit, "B") == 0; /* counted in powers of two */
}

/* 1, 2 or 5 times a power of ten, of bytes a power of two: the least that is not below `value`. */
static double round_step(double value, bool binary)
{
    if (binary)
        return exp2(ceil(log2(value) - 1e-9));
    double power = pow(10, floor(log10(value)));
    for (int i = 0; i < 3; i++) {
        static const double factors[] = {1, 2, 5};
        if (factors[i] * power >= value * (1 - 1e-9))
            return factors[i] * power;
    }
    return 10 * power;
}

static const char *tick_text(const struct ifm_plot_axis *axis, double at, double largest, double step,
                             struct ifm_arena *arena)
{
    if (strcmp(axis->unit, "x") == 0) /* a ratio, without a space */
        return ifm_arena_printf(arena, "%sx", ifm_quantity_tick(at, largest, step, "1", arena));
    return ifm_quantity_tick(at, largest, step, axis->unit, arena);
}

static size_t linear_ticks(const struct ifm_plot_axis *axis, size_t most, struct ifm_arena *arena,
                           struct ifm_tick *ticks)
{
    double step = round_step(axis->high / (double)most - axis->low / (double)most, is_bytes(axis));
    double largest = fmax(fabs(axis->low), fabs(axis->high)), first = ceil(axis->low / step - 1e-9);
    size_t n = 0;
    if (!(step > 0) || !isfinite(step) || !isfinite(first))
        return 0;
    for (size_t i = 0; n < most; i++) {
        double at = (first + (double)i) * step;
        if (at > axis->high + step * 1e-9 || (n > 0 && at <= ticks[n - 1].at))
            break; /* past the end, or closer than numbers can be told apart */
        if (fabs(at) < step * 1e-9)
            at = 0;
        at = fmin(fmax(at, axis->low), axis->high);
        ticks[n++] = (struct ifm_tick){at, tick_text(axis, at, largest, step, arena)};
    }
    return n;
}

/* The digits of a decade that may carry a tick, finest first, and the narrowest gap between them in decades. */
struct rhythm {
    double factors[6];
    size_t n;
    double gap;
};
static const struct rhythm rhythms[] = {
    {{1, 1.5, 2, 3, 5, 7}, 6, 0.1249}, {{1, 2, 5}, 3, 0.301}, {{1, 3}, 2, 0.477}, {{1}, 1, 1}};

static size_t rhythm_ticks(const struct ifm_plot_axis *axis, const struct rhythm *rhythm, int every, size_t most,
                           struct ifm_arena *arena, struct ifm_tick *ticks)
{
    size_t n = 0;
    int first = (int)floor(log10(axis->low)), last = (int)ceil(log10(axis->high));
    for (int power = first - ((first % every) + every) % every; power <= last; power += every)
        for (size_t i = 0; i < rhythm->n; i++) {
            double at = rhythm->factors[i] * pow(10, power);
            if (n < most && at >= axis->low * (1 - 1e-12) && at <= axis->high * (1 + 1e-12)) {
                at = fmin(fmax(at, axis->low), axis->high);
                ticks[n++] = (struct ifm_tick){at, tick_text(axis, at, at, at, arena)};
            }
        }
    return n;
}

static size_t doubling_ticks(const struct ifm_plot_axis *axis, size_t most, struct ifm_arena *arena,
                             struct ifm_tick *ticks)
{
    double octaves = log2(axis->high) - log2(axis->low), every = fmax(1, ceil(octaves / (double)most));
    size_t n = 0;
    for (double power = ceil(log2(axis->low) - 1e-9); n < most && power <= log2(axis->high) + 1e-9; power += every) {
        double at = fmin(fmax(exp2(power), axis->low), axis->high);
        ticks[n++] = (struct ifm_tick){at, tick_text(axis, at, at, at, arena)};
    }
    return n;
}

/* Within a factor of three ticks stand at equal steps; beyond it at round digits of each decade, or of every so many
 * decades: the finest of these rhythms that leaves each tick its room. */
static size_t log_ticks(const struct ifm_plot_axis *axis, size_t most, struct ifm_arena *arena, struct ifm_tick *ticks)
{
    double decades = log10(axis->high) - log10(axis->low), room = 0.8 * decades / (double)most;
    if (decades < 0.5)
        return linear_ticks(axis, most, arena, ticks);
    if (is_bytes(axis))
        return doubling_ticks(axis, most, arena, ticks);
    size_t n = 0, count = sizeof rhythms / sizeof rhythms[0];
    for (size_t r = 0; r < count; r++)
        if (rhythms[r].gap >= room || r + 1 == count) {
            n = rhythm_ticks(axis, &rhythms[r], (int)fmax(1, ceil(room)), most + 1, arena, ticks);
            if (n <= most)
                break;
        }
    return n < most ? n : most;
}

size_t ifm_plot_ticks(const struct ifm_plot_axis *axis, size_t most, struct ifm_arena *arena, struct ifm_tick **out)
{
    *out = IFM_ARENA_ARRAY(arena, struct ifm_tick, most + 1);
    if (most == 0 || !(axis->high > axis->low) || !isfinite(axis->low) || !isfinite(axis->high) ||
        (axis->scale == IFM_SCALE_LOG && !(axis->low > 0)))
        return 0;
    return axis->scale == IFM_SCALE_LOG ? log_ticks(axis, most, arena, *out) : linear_ticks(axis, most, arena, *out);
}

enum {
    TICK_ROOM_X = 64,
    TICK_ROOM_Y = 34,
    TICK_FONT = 12
}; /* pixels that a tick takes, at least; pixels of its font */

/* Where the text of a tick at x begins: in its middle, but moved so that it stays in the drawing. */
static double text_from(const struct ifm_plot *plot, double x, const char *text)
{
    double width = ifm_plot_text_width(text, TICK_FONT);
    return fmax(fmin(x - width / 2, plot->width - width), 0);
}

static void add_centred(struct ifm_plot *plot, double x, double y, const char *text)
{
    double width = ifm_plot_text_width(text, TICK_FONT), from = text_from(plot, x, text);
    if (from > x - width / 2)
        ifm_plot_text(plot, width / 2, y, "", "", text);
    else if (from < x - width / 2)
        ifm_plot_text(plot, plot->width - width / 2, y, "", "", text);
    else
        ifm_plot_text(plot, x, y, "", "", text); /* as their group has it */
}

/* Do the texts stand apart from each other? */
static bool are_apart(const struct ifm_plot *plot, const struct ifm_tick *ticks, size_t n)
{
    enum { AIR = 10 };
    double end = -AIR;
    for (size_t i = 0; i < n; i++) {
        double from = text_from(plot, ifm_plot_x(plot, ticks[i].at), ticks[i].text);
        if (from < end + AIR)
            return false;
        end = from + ifm_plot_text_width(ticks[i].text, TICK_FONT);
    }
    return true;
}

void ifm_plot_grid(struct ifm_plot *plot, const struct ifm_tick *ticks, size_t n, bool upright)
{
    char a[24], b[24], c[24];
    if (n == 0)
        return;
    ifm_text_add(plot->out, "<path class=\"grid\" d=\"");
    for (size_t i = 0; i < n; i++) {
        double x = upright ? ifm_plot_x(plot, ticks[i].at) : plot->left,
               y = upright ? plot->top : ifm_plot_y(plot, ticks[i].at);
        ifm_text_printf(plot->out, "M%s %s%c%s", pixels(x, a), pixels(y, b), upright ? 'V' : 'H',
                        pixels(upright ? plot->bottom : plot->right, c));
    }
    ifm_text_printf(plot->out, "\"/>\n<g class=\"small\" text-anchor=\"%s\">\n", upright ? "middle" : "end");
}

static void add_x_axis(struct ifm_plot *plot)
{
    struct ifm_tick *ticks;
    size_t most = (size_t)fmax(2, (plot->right - plot->left) / TICK_ROOM_X);
    size_t n = ifm_plot_ticks(&plot->x, most, plot->arena, &ticks);
    while (most > 1 && !are_apart(plot, ticks, n))
        n = ifm_plot_ticks(&plot->x, --most, plot->arena, &ticks);
    ifm_plot_grid(plot, ticks, n, true);
    for (size_t i = 0; i < n; i++)
        add_centred(plot, ifm_plot_x(plot, ticks[i].at), plot->bottom + 16, ticks[i].text);
    ifm_text_add(plot->out, n > 0 ? "</g>\n" : "");
    if (plot->x.title != NULL && plot->x.title[0] != '\0')
        ifm_plot_text(plot, plot->right, plot->bottom + 32, "end", "small", plot->x.title);
}

static void add_y_axis(struct ifm_plot *plot)
{
    struct ifm_tick *ticks;
    size_t n = ifm_plot_ticks(&plot->y, (size_t)fmax(2, (plot->bottom - plot->top) / TICK_ROOM_Y), plot->arena, &ticks);
    ifm_plot_grid(plot, ticks, n, false);
    for (size_t i = 0; i < n; i++) {
        double y = ifm_plot_y(plot, ticks[i].at);
        bool fits = ifm_plot_text_width(ticks[i].text, TICK_FONT) <= plot->left - 6;
        double at = fits ? plot->left - 6 : ifm_plot_text_width(ticks[i].text, TICK_FONT);
        ifm_plot_text(plot, at, y + 4, "", "", ticks[i].text);
    }
    ifm_text_add(plot->out, n > 0 ? "</g>\n" : "");
    if (plot->y.title != NULL && plot->y.title[0] != '\0')
        ifm_plot_text(plot, 0, plot->top - 8, "start", "small", plot->y.title);
}

void ifm_plot_axes(struct ifm_plot *plot)
{
    if (!plot->x.hidden)
        add_x_axis(plot);
    if (!plot->y.hidden)
        add_y_axis(plot);
    ifm_plot_line(plot, "axis", plot->left, plot->bottom, plot->right, plot->bottom);
}

/* ---- names ---- */

double ifm_plot_text_width(const char *text, double size)
{
    size_t letters = 0;
    for (; *text != '\0'; text++)
        letters += ((unsigned char)*text & 0xC0) != 0x80; /* a continuation byte is no letter */
    return 0.58 * size * (double)letters;
}

/* Names that stand together: `n` of them from `first` on, whose first one is at `at` when all are `gap` apart. */
struct cluster {
    size_t first, n;
    double at;
};

/* Least squares under the gap: with the gaps taken out, the places must not descend, which is isotonic regression; pool
 * adjacent violators (Ayer et al. 1955, Ann. Math. Statist. 26:641). */
void ifm_plot_spread(double *y, size_t n, double gap, double low, double high)
{
    size_t order[IFM_PLOT_MOST_NAMES], count = 0;
    struct cluster clusters[IFM_PLOT_MOST_NAMES];
    if (n == 0 || n > IFM_PLOT_MOST_NAMES)
        return;
    for (size_t i = 0; i < n; i++) { /* in order of height; insertion, as there are a few names only */
        size_t k = i;
        for (; k > 0 && y[order[k - 1]] > y[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    gap = fmin(gap, n > 1 ? (high - low) / (double)(n - 1) : gap);
    double last = high - gap * (double)(n - 1);
    for (size_t k = 0; k < n; k++) {
        struct cluster own = {k, 1, y[order[k]] - gap * (double)k};
        while (count > 0 && clusters[count - 1].at > own.at) {
            struct cluster *before = &clusters[--count];
            double sum = before->at * (double)before->n + own.at * (double)own.n;
            own = (struct cluster){before->first, before->n + own.n, sum / (double)(before->n + own.n)};
        }
        clusters[count++] = own;
    }
    for (size_t c = 0; c < count; c++)
        for (size_t k = clusters[c].first; k < clusters[c].first + clusters[c].n; k++)
            y[order[k]] = fmin(fmax(clusters[c].at, low), last) + gap * (double)k;
}
