/* The roofline: operations per byte against operations per second, below what this machine was measured to give
 * (Williams, Waterman, Patterson 2009, CACM 52(4):65).
 *
 * Shares of the ceilings are derive's. Where derive holds the share of the read ceiling back, as caches serve the cell
 * and not memory (rule 3), no diagonal is drawn, and the sentence says so. */
#include "document/quantity.h"
#include "report/chart.h"
#include <math.h>

enum { AREA = 220, LEFT = 90, LEGEND = 16, TOLD = 3 };

struct roof_point {
    const struct ifm_arm *arm;
    const struct ifm_value *intensity, *rate;         /* as drawn */
    const struct ifm_value *read_share, *flops_share; /* any state */
    bool able;                                        /* it has a place */
    double x, y;
};

struct roofline {
    const struct ifm_chart *chart;
    struct roof_point *points; /* arms of which one of the numbers is there, in any state */
    size_t n_points, n_able;
    struct roof_point *drawn[IFM_CHART_MOST];
    size_t n_drawn;
    const struct ifm_value *read, *flops; /* measured ceilings; NULL = not drawn */
    double low_x, high_x, low_y, high_y;
};

static void collect(struct roofline *f)
{
    const struct ifm_chart *chart = f->chart;
    const struct ifm_cell *cell = chart->cell;
    const char *unused;
    f->points = IFM_ARENA_ARRAY(chart->arena, struct roof_point, cell->n_arms + 1);
    for (size_t a = 0; a < cell->n_arms; a++) {
        const char *name = cell->arms[a].name;
        if (!ifm_document_is_row(chart->doc->derived, cell, &cell->arms[a]) ||
            ifm_chart_value(chart, name, IFM_M_FLOPS_PER_S) == NULL ||
            ifm_chart_value(chart, name, IFM_M_ARITHMETIC_INTENSITY) == NULL)
            continue;
        struct roof_point *point = &f->points[f->n_points++];
        *point = (struct roof_point){.arm = &cell->arms[a],
                                     .intensity = ifm_chart_shown(chart, name, IFM_M_ARITHMETIC_INTENSITY),
                                     .rate = ifm_chart_shown(chart, name, IFM_M_FLOPS_PER_S),
                                     .read_share = ifm_chart_value(chart, name, IFM_M_CEILING_READ_PERCENT),
                                     .flops_share = ifm_chart_value(chart, name, IFM_M_CEILING_FLOPS_PERCENT)};
        point->able = ifm_chart_is_positive(point->intensity) && ifm_chart_is_positive(point->rate);
        f->n_able += point->able;
        if (point->able && f->n_drawn < IFM_CHART_MOST)
            f->drawn[f->n_drawn++] = point;
    }
    f->flops = ifm_chart_ceiling(chart, IFM_CEILING_FLOPS, IFM_M_NONE, &unused);
    f->read = ifm_chart_ceiling(chart, IFM_CEILING_READ, IFM_M_CEILING_READ_PERCENT, &unused);
}

static double clamp(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

/* Where memory and arithmetic meet. */
static double ridge_of(const struct roofline *f)
{
    return f->flops->number / f->read->number;
}

static void hold(double value, double *low, double *high)
{
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* The axes hold every point, both ceilings, and the ridge between them. */
static void fit(struct roofline *f)
{
    f->low_x = f->low_y = INFINITY;
    f->high_x = f->high_y = 0;
    for (size_t i = 0; i < f->n_drawn; i++) {
        hold(f->drawn[i]->intensity->number, &f->low_x, &f->high_x);
        hold(f->drawn[i]->rate->number, &f->low_y, &f->high_y);
    }
    hold(f->flops->number, &f->low_y, &f->high_y);
    if (ridge_of(f) > 0 && isfinite(ridge_of(f)))
        hold(ridge_of(f), &f->low_x, &f->high_x);
    f->low_x = clamp(f->low_x / 2.5, 1e-300, 1e290);
    f->high_x = clamp(f->high_x * 2.5, f->low_x * 2, 1e300);
    f->low_y = clamp(f->low_y / 2.5, 1e-300, 1e290);
    f->high_y = clamp(f->high_y * 1.8, f->low_y * 2, 1e300);
}

/* ---- drawing ---- */

/* The stretch of the diagonal y = rate * x that lies on the axes and, where there is a roof, below it. */
static bool diagonal(const struct roofline *f, double rate, struct ifm_spot ends[2])
{
    double roof = fmin(f->flops->number, f->high_y);
    double from = fmax(f->low_x, f->low_y / rate), to = fmin(f->high_x, roof / rate);
    ends[0] = (struct ifm_spot){from, clamp(from * rate, f->low_y, f->high_y)};
    ends[1] = (struct ifm_spot){to, clamp(to * rate, f->low_y, f->high_y)};
    return rate > 0 && from < to;
}

static struct ifm_spot at(const struct ifm_plot *plot, struct ifm_spot value)
{
    return (struct ifm_spot){ifm_plot_x(plot, value.x), ifm_plot_y(plot, value.y)};
}

static void add_read_ceiling(const struct roofline *f, struct ifm_plot *plot)
{
    struct ifm_spot low[2], high[2], middle[2];
    if (ifm_chart_has_interval(f->read) && diagonal(f, f->read->low, low) && diagonal(f, f->read->high, high)) {
        struct ifm_spot band[] = {at(plot, low[0]), at(plot, low[1]), at(plot, high[1]), at(plot, high[0])};
        ifm_plot_path(plot, "band", band, 4, true, NULL);
    }
    if (!diagonal(f, f->read->number, middle))
        return;
    struct ifm_spot line[] = {at(plot, middle[0]), at(plot, middle[1])};
    ifm_plot_path(plot, "line", line, 2, false,
                  ifm_arena_printf(plot->arena, "measured read ceiling: %s", ifm_chart_quantity(f->chart, f->read)));
}

static void add_flops_ceiling(const struct roofline *f, struct ifm_plot *plot)
{
    double from = clamp(ridge_of(f), f->low_x, f->high_x);
    double left = ifm_plot_x(plot, from), y = ifm_plot_y(plot, f->flops->number);
    if (ifm_chart_has_interval(f->flops) && f->flops->low > 0) {
        double top = ifm_plot_y(plot, clamp(f->flops->high, f->low_y, f->high_y));
        double bottom = ifm_plot_y(plot, clamp(f->flops->low, f->low_y, f->high_y));
        ifm_plot_rect(plot, "band", left, top, plot->right - left, bottom - top, NULL);
    }
    ifm_plot_path(
        plot, "line", (struct ifm_spot[]){{left, y}, {plot->right, y}}, 2, false,
        ifm_arena_printf(plot->arena, "measured arithmetic ceiling: %s", ifm_chart_quantity(f->chart, f->flops)));
}

static void add_point(const struct roofline *f, struct ifm_plot *plot, const struct roof_point *point)
{
    const struct ifm_value *rate = point->rate;
    const char *tip =
        ifm_arena_printf(plot->arena, "%s: %s at %s", point->arm->name, ifm_chart_quantity(f->chart, rate),
                         ifm_quantity_number(point->intensity, plot->arena));
    ifm_plot_group(plot, ifm_chart_series(f->chart, point->arm));
    if (ifm_chart_has_interval(rate)) {
        double top = ifm_plot_y(plot, clamp(rate->high, f->low_y, f->high_y));
        double bottom = ifm_plot_y(plot, clamp(rate->low, f->low_y, f->high_y));
        ifm_plot_line(plot, "whisker", point->x, top, point->x, bottom);
        ifm_plot_line(plot, "whisker", point->x - 4, top, point->x + 4, top);
        ifm_plot_line(plot, "whisker", point->x - 4, bottom, point->x + 4, bottom);
    }
    ifm_plot_dot(plot, "fill", point->x, point->y, 4.5, tip);
    ifm_plot_group_close(plot);
}

static void add_names(const struct roofline *f, struct ifm_plot *plot)
{
    enum { AWAY = 9, WIDEST = 170 };
    struct ifm_chart_name names[IFM_CHART_MOST];
    for (size_t i = 0; i < f->n_drawn; i++) {
        const struct roof_point *point = f->drawn[i];
        const char *name = ifm_chart_clip(f->chart, point->arm->name, IFM_CHART_FONT, WIDEST);
        names[i] = (struct ifm_chart_name){point->arm, name, {point->x, point->y}, point->y, AWAY};
    }
    ifm_chart_names(f->chart, plot, names, f->n_drawn, plot->top + 8, plot->bottom - 8, plot->right);
}

static const char *ceiling_text(const struct roofline *f, const char *words, const struct ifm_value *ceiling)
{
    if (ceiling == NULL)
        return NULL;
    return ifm_arena_printf(f->chart->arena, "%s %s%s%s", words, ifm_chart_full(f->chart, ceiling),
                            ceiling->text[0] == '\0' ? "" : ", ", ceiling->text);
}

static void draw(struct roofline *f, struct ifm_figure *out)
{
    const char *legend[] = {ceiling_text(f, "╱ read ceiling", f->read),
                            ceiling_text(f, "― arithmetic ceiling", f->flops)};
    size_t lines = ifm_chart_legend(f->chart, NULL, 0, legend, 2);
    double top = LEGEND * (double)lines + 24, height = fmax(AREA, IFM_CHART_NAME_GAP * (double)f->n_drawn + 20);
    struct ifm_plot plot = ifm_chart_plot(f->chart, out, LEFT, IFM_CHART_WIDTH - 8, top, top + height);
    plot.height = plot.bottom + 38;
    plot.x = (struct ifm_plot_axis){IFM_SCALE_LOG, f->low_x, f->high_x, "", "FLOP per byte", false};
    plot.y = (struct ifm_plot_axis){IFM_SCALE_LOG, f->low_y, f->high_y, "FLOP/s", "", false};
    ifm_chart_open(f->chart, &plot, out->title, "");
    ifm_plot_axes(&plot);
    ifm_chart_legend(f->chart, &plot, 13, legend, 2);
    ifm_plot_group(&plot, "roof");
    add_read_ceiling(f, &plot);
    add_flops_ceiling(f, &plot);
    ifm_plot_group_close(&plot);
    for (size_t i = 0; i < f->n_drawn; i++) {
        struct roof_point *point = f->drawn[i];
        point->x = ifm_plot_x(&plot, point->intensity->number);
        point->y = ifm_plot_y(&plot, point->rate->number);
        add_point(f, &plot, point);
    }
    add_names(f, &plot);
    ifm_plot_close(&plot);
}

/* ---- words ---- */

/* The nearer ceiling is the one that limits: what an arm can reach is the lower of the two at its intensity, so the
 * larger share is its share of the attainable. */
static const struct ifm_value *attained(const struct roof_point *point, const char **which)
{
    bool read = ifm_chart_is_number(point->read_share), flops = ifm_chart_is_number(point->flops_share);
    *which = "read";
    if (read && (!flops || point->read_share->number >= point->flops_share->number))
        return point->read_share;
    *which = "arithmetic";
    return flops ? point->flops_share : NULL;
}

static const char *sentence_of(const struct roofline *f, const struct roof_point *point)
{
    const char *which;
    const struct ifm_value *share = attained(point, &which);
    struct ifm_arena *arena = f->chart->arena;
    if (share == NULL)
        return ifm_arena_printf(arena, "%s runs at %s.", point->arm->name, ifm_chart_quantity(f->chart, point->rate));
    return ifm_arena_printf(
        arena, "%s reaches %s of the %s ceiling%s.", point->arm->name, ifm_chart_quantity(f->chart, share), which,
        ifm_chart_is_number(point->read_share) && ifm_chart_is_number(point->flops_share) ? ", the nearer of the two"
                                                                                          : "");
}

static const char *missing_of(const struct roofline *f)
{
    const char *missing = "";
    size_t n = 0;
    for (size_t i = 0; i < f->n_points; i++)
        if (!f->points[i].able && n++ < TOLD)
            missing = ifm_chart_list(f->chart, missing, f->points[i].arm->name);
    if (n == 0)
        return "";
    if (n > TOLD)
        missing = ifm_arena_printf(f->chart->arena, "%s and %zu more", missing, n - TOLD);
    return ifm_arena_printf(f->chart->arena, "Not drawn, as no FLOP rate is given: %s (reasons in the table).",
                            missing);
}

static const char *words_of(const struct roofline *f)
{
    const struct ifm_chart *chart = f->chart;
    const char *text = "";
    size_t told = 0;
    for (; told < f->n_drawn && told < TOLD; told++)
        text = ifm_chart_say(chart, text, "%s", sentence_of(f, f->drawn[told]));
    if (f->n_drawn > told)
        text = ifm_chart_say(chart, text, "The shares of %zu more stand in the table.", f->n_drawn - told);
    if (f->n_able > f->n_drawn)
        text = ifm_chart_say(chart, text, "Drawn are the first %zu of %zu arms.", f->n_drawn, f->n_able);
    return ifm_chart_say(chart, text, "%s", missing_of(f));
}

static struct ifm_grid table_of(const struct roofline *f)
{
    const struct ifm_heading headings[] = {{"arm", IFM_M_NONE, true, 0},
                                           {"intensity", IFM_M_ARITHMETIC_INTENSITY, false, 0},
                                           {"rate", IFM_M_FLOPS_PER_S, false, 0},
                                           {"of the read ceiling", IFM_M_CEILING_READ_PERCENT, false, 0},
                                           {"of the arithmetic ceiling", IFM_M_CEILING_FLOPS_PERCENT, false, 0}};
    struct ifm_grid grid = ifm_chart_grid(f->chart, headings, sizeof headings / sizeof headings[0], f->n_points + 2);
    for (size_t i = 0; i < f->n_points; i++)
        ifm_chart_arm_row(f->chart, &grid, f->points[i].arm->name);
    ifm_chart_row(&grid, "read ceiling")[2] = ifm_chart_field(f->chart, f->read);
    ifm_chart_row(&grid, "arithmetic ceiling")[2] = ifm_chart_field(f->chart, f->flops);
    return grid;
}

bool ifm_figure_roofline(const struct ifm_chart *chart, struct ifm_figure *out)
{
    struct roofline f = {.chart = chart};
    collect(&f);
    if (f.n_drawn < 2 || f.read == NULL || f.flops == NULL) /* the rates beside their ceilings say the same */
        return false;
    fit(&f);
    out->id = ifm_chart_id(chart, "roofline");
    out->title = "Roofline";
    out->sentence = words_of(&f);
    draw(&f, out);
    out->numbers = table_of(&f);
    out->derived = true;
    return true;
}
