/* Bytes against error of the compressed arms of a cell, their speed as the area of a point: what each buys, and which
 * of them another one beats in all three.
 *
 * Which arm is beaten is derive's rule (derive/picture/frontier.h), held against derived numbers; nothing else is
 * computed. */
#include "derive/picture/frontier.h"
#include "document/quantity.h"
#include "report/chart.h"
#include <math.h>

enum { TOP = 34, AREA = 210, LANE = 30, LEFT = 56, RIGHT = 12, RADIUS = 5, TOLD = 4 };

struct point {
    const struct ifm_arm *arm;
    const struct ifm_value *bits, *speed;
    bool stored;    /* it keeps something that could be compressed */
    bool has_error; /* the next one is known */
    double error;   /* of its output; 0 of an arm that is not lossy and owes none */
    bool compared;  /* it was recorded, and not only owed by none */
    bool drawn;
    size_t beaten_by; /* index of an arm of the cell; n_arms = by none */
    double x, y;
};

struct frontier {
    const struct ifm_chart *chart;
    struct point *points; /* one an arm of the cell */
    size_t n_points;
    struct point *drawn[IFM_CHART_MOST];
    size_t n_drawn;
    enum ifm_metric_id speed_metric;
    const char *speed_words;
    double error_low, error_high, most_bits; /* of the points drawn; error_low > 0, or infinite */
    bool exact;                              /* a point has no error at all */
};

static bool same_work(const struct ifm_arm *a, const struct ifm_arm *b)
{
    return a->ledger.tokens_generated == b->ledger.tokens_generated &&
           a->ledger.tokens_prompt == b->ledger.tokens_prompt && a->ledger.rows == b->ledger.rows;
}

/* The same facts that derive marks its frontier by, as the numbers that it gave. */
static void mark(struct frontier *f)
{
    const struct ifm_cell *cell = f->chart->cell;
    const struct ifm_arm *base = ifm_cell_baseline(cell);
    struct ifm_frontier_point *points = IFM_ARENA_ARRAY(f->chart->arena, struct ifm_frontier_point, cell->n_arms + 1);
    size_t *by = IFM_ARENA_ARRAY(f->chart->arena, size_t, cell->n_arms + 1);
    for (size_t a = 0; a < cell->n_arms; a++) {
        const char *name = cell->arms[a].name;
        const struct ifm_value *step = ifm_chart_shown(f->chart, name, IFM_M_STEP_NS);
        points[a] = (struct ifm_frontier_point){.stored = cell->arms[a].stored};
        if (!f->points[a].stored || step == NULL || !ifm_chart_has_interval(step) || base == NULL ||
            !same_work(&cell->arms[a], base) || !f->points[a].has_error)
            continue;
        points[a].known = true;
        points[a].loss = f->points[a].error;
        points[a].step_low = step->low;
        points[a].step_high = step->high;
    }
    ifm_frontier_mark(points, cell->n_arms, by);
    for (size_t a = 0; a < cell->n_arms; a++)
        f->points[a].beaten_by = by[a];
}

/* Tokens where all arms that could be drawn make some; else the speed-up, the baseline being 1x. */
static void choose_speed(struct frontier *f)
{
    const struct ifm_cell *cell = f->chart->cell;
    f->speed_metric = IFM_M_SPEEDUP;
    f->speed_words = "speed against the baseline";
    for (size_t a = 0; a < cell->n_arms; a++)
        if (f->points[a].stored &&
            ifm_chart_value(f->chart, cell->arms[a].name, IFM_M_TOKENS_GENERATED_PER_S) != NULL) {
            f->speed_metric = IFM_M_TOKENS_GENERATED_PER_S;
            f->speed_words =
                ifm_arena_printf(f->chart->arena, "%s per second", ifm_cell_tokens_heading(cell, "tokens"));
        }
}

static const struct ifm_value *speed_of(const struct frontier *f, const struct ifm_arm *arm)
{
    static const struct ifm_value one = {.number = 1, .unit = "1", .n_of = "", .reason = "", .remedy = "", .text = ""};
    if (arm->role == IFM_ROLE_BASELINE && f->speed_metric == IFM_M_SPEEDUP &&
        ifm_chart_shown(f->chart, arm->name, IFM_M_STEP_NS) != NULL)
        return &one; /* by definition */
    return ifm_chart_shown(f->chart, arm->name, f->speed_metric);
}

static void collect(struct frontier *f)
{
    const struct ifm_cell *cell = f->chart->cell;
    f->n_points = cell->n_arms;
    f->points = IFM_ARENA_ARRAY(f->chart->arena, struct point, cell->n_arms + 1);
    for (size_t a = 0; a < cell->n_arms; a++)
        f->points[a].stored = cell->arms[a].stored > 0 &&
                              ifm_document_is_row(f->chart->doc->derived, cell, &cell->arms[a]) &&
                              ifm_chart_value(f->chart, cell->arms[a].name, IFM_M_BITS_PER_VALUE) != NULL;
    choose_speed(f);
    f->error_low = INFINITY;
    for (size_t a = 0; a < cell->n_arms; a++) {
        struct point *point = &f->points[a];
        const char *name = cell->arms[a].name;
        point->arm = &cell->arms[a];
        point->bits = ifm_chart_shown(f->chart, name, IFM_M_BITS_PER_VALUE);
        bool owes = point->arm->lossy || ifm_chart_value(f->chart, name, IFM_M_LOSS_RMS_REL) != NULL;
        const struct ifm_value *loss = ifm_chart_shown(f->chart, name, IFM_M_LOSS_RMS_REL);
        point->has_error = !owes || (loss != NULL && loss->number >= 0);
        point->compared = point->has_error && loss != NULL;
        point->error = point->compared ? loss->number : 0;
        point->speed = point->stored ? speed_of(f, point->arm) : NULL;
        point->drawn = point->stored && point->has_error && ifm_chart_is_positive(point->bits) &&
                       ifm_chart_is_positive(point->speed) && f->n_drawn < IFM_CHART_MOST;
        if (!point->drawn)
            continue;
        f->drawn[f->n_drawn++] = point;
        f->most_bits = fmax(f->most_bits, point->bits->number);
        f->exact |= point->error == 0;
        if (point->error > 0) {
            f->error_low = fmin(f->error_low, point->error);
            f->error_high = fmax(f->error_high, point->error);
        }
    }
}

/* Worth a figure: two arms at least, and one of them really compressed. */
static bool is_worth(const struct frontier *f)
{
    for (size_t i = 0; i < f->n_drawn; i++)
        if (f->drawn[i]->error > 0 || f->drawn[i]->bits->number < f->most_bits)
            return f->n_drawn >= 2;
    return false;
}

static bool is_beaten(const struct frontier *f, const struct point *point)
{
    return point->beaten_by < f->n_points;
}

/* ---- drawing ---- */

static const char *speed_text(const struct frontier *f, const struct ifm_value *speed)
{
    return f->speed_metric == IFM_M_TOKENS_GENERATED_PER_S ? ifm_quantity_number(speed, f->chart->arena)
                                                           : ifm_chart_ratio(f->chart, speed);
}

static const char *error_text(const struct frontier *f, double loss)
{
    return loss == 0 ? "exact"
                     : ifm_arena_printf(f->chart->arena, "%s %%", ifm_quantity_short(100 * loss, f->chart->arena));
}

/* Errors from `bottom` up, and below them a lane of their own for arms that lose nothing, as no logarithm has it. */
static struct ifm_plot plot_of(const struct frontier *f, struct ifm_figure *out)
{
    double height = fmax(AREA, IFM_CHART_NAME_GAP * (double)f->n_drawn), low = 1e-3, high = 1;
    if (isfinite(f->error_low)) {
        low = fmax(f->error_low / 2, 1e-300);
        high = fmin(f->error_high * 2, 1e300);
    }
    struct ifm_plot plot = ifm_chart_plot(f->chart, out, LEFT, IFM_CHART_WIDTH - RIGHT, TOP, TOP + height);
    plot.x =
        (struct ifm_plot_axis){IFM_SCALE_LINEAR, 0, f->most_bits * 1.08, "", "bits per value: less is better", false};
    plot.y = (struct ifm_plot_axis){IFM_SCALE_LOG, 100 * low, 100 * high, "%", "output error: less is better", false};
    return plot;
}

static void add_axes(const struct frontier *f, struct ifm_plot *plot)
{
    struct ifm_plot_axis x = plot->x;
    plot->x.hidden = true;
    plot->y.hidden = !isfinite(f->error_low);
    ifm_plot_axes(plot);
    if (plot->y.hidden)
        ifm_plot_text(plot, 0, plot->top - 8, "start", "small", plot->y.title);
    if (f->exact) {
        plot->bottom += LANE;
        ifm_plot_text(plot, plot->left - 6, plot->bottom - LANE / 2.0 + 4, "end", "small", "exact");
    }
    plot->y.hidden = true;
    plot->x = x;
    ifm_plot_axes(plot);
    plot->bottom -= f->exact ? LANE : 0;
}

static void place(struct frontier *f, const struct ifm_plot *plot)
{
    for (size_t i = 0; i < f->n_drawn; i++) {
        struct point *point = f->drawn[i];
        point->x = ifm_plot_x(plot, point->bits->number);
        point->y = point->error > 0 ? ifm_plot_y(plot, 100 * point->error) : plot->bottom + LANE / 2.0;
    }
}

/* Through the arms that none beats, in order of their bytes. */
static void add_line(const struct frontier *f, struct ifm_plot *plot)
{
    struct ifm_spot spots[IFM_CHART_MOST];
    size_t n = 0;
    for (size_t i = 0; i < f->n_drawn; i++) {
        const struct point *point = f->drawn[i];
        if (is_beaten(f, point))
            continue;
        size_t k = n++;
        for (; k > 0 && spots[k - 1].x > point->x; k--)
            spots[k] = spots[k - 1];
        spots[k] = (struct ifm_spot){point->x, point->y};
    }
    if (n > 1)
        ifm_plot_path(plot, "line dash frontier", spots, n, false, NULL);
}

static void add_points(const struct frontier *f, struct ifm_plot *plot)
{
    for (size_t i = 0; i < f->n_drawn; i++) {
        const struct point *point = f->drawn[i];
        bool beaten = is_beaten(f, point);
        const char *tip =
            ifm_arena_printf(plot->arena, "%s: %s bits per value, output error %s, %s%s%s", point->arm->name,
                             ifm_quantity_short(point->bits->number, plot->arena), error_text(f, point->error),
                             speed_text(f, point->speed), beaten ? ", beaten by " : "",
                             beaten ? f->points[point->beaten_by].arm->name : "");
        ifm_plot_group(plot, ifm_chart_series(f->chart, point->arm));
        ifm_plot_dot(plot, beaten ? "hollow" : "fill", point->x, point->y, RADIUS, tip);
        ifm_plot_group_close(plot);
    }
}

/* Beside the point, above the line that falls to the right, and below it where it ends. */
static void add_names(const struct frontier *f, struct ifm_plot *plot)
{
    struct ifm_chart_name names[IFM_CHART_MOST];
    for (size_t i = 0; i < f->n_drawn; i++) {
        const struct point *point = f->drawn[i];
        const char *text =
            ifm_arena_printf(plot->arena, "%s %s", ifm_chart_clip(f->chart, point->arm->name, IFM_CHART_FONT, 150),
                             speed_text(f, point->speed));
        double y = point->y + (point->error > 0 ? -9 : 6);
        names[i] = (struct ifm_chart_name){point->arm, text, {point->x, point->y}, y, RADIUS + 4};
    }
    ifm_chart_names(f->chart, plot, names, f->n_drawn, plot->top, plot->bottom + (f->exact ? LANE - 8 : 0),
                    plot->width);
}

static void draw(struct frontier *f, struct ifm_figure *out)
{
    struct ifm_plot plot = plot_of(f, out);
    bool beaten = false;
    for (size_t i = 0; i < f->n_drawn; i++)
        beaten |= is_beaten(f, f->drawn[i]);
    const char *legend[] = {ifm_arena_printf(f->chart->arena, "beside a name: %s", f->speed_words),
                            "line: the frontier", beaten ? "hollow: beaten by another" : NULL};
    size_t n = sizeof legend / sizeof legend[0];
    double foot = plot.bottom + (f->exact ? LANE : 0) + 50;
    plot.height = foot + 16 * (double)ifm_chart_legend(f->chart, NULL, 0, legend, n) - 10;
    ifm_chart_open(f->chart, &plot, out->title, "");
    add_axes(f, &plot);
    place(f, &plot);
    add_line(f, &plot);
    add_points(f, &plot);
    add_names(f, &plot);
    ifm_chart_legend(f->chart, &plot, foot, legend, n);
    ifm_plot_close(&plot);
}

/* ---- words ---- */

/* "int4 keeps 4.31 bits a value, its output is off by 7.9 %, and it makes 918/s" */
static const char *told(const struct frontier *f, const struct point *point)
{
    struct ifm_arena *arena = f->chart->arena;
    bool reference = point->arm->stored >= point->arm->stored_plain;
    const char *error = !point->compared && !reference ? "it is not lossy"
                        : point->error == 0            ? "its output is exact"
                                            : ifm_arena_printf(arena, "output error %s", error_text(f, point->error));
    return ifm_arena_printf(arena, "%s keeps %s bits a value, %s, and it runs at %s%s.", point->arm->name,
                            ifm_quantity_short(point->bits->number, arena), error, speed_text(f, point->speed),
                            f->speed_metric == IFM_M_TOKENS_GENERATED_PER_S ? "" : " the speed of the baseline");
}

static const char *words_of(const struct frontier *f)
{
    const struct ifm_chart *chart = f->chart;
    const char *text = "", *missing = "", *beaten = "";
    size_t n_told = 0, n_beaten = 0;
    for (size_t a = 0; a < f->n_points; a++) {
        const struct point *point = &f->points[a];
        if (point->stored && is_beaten(f, point) && n_beaten++ < TOLD)
            beaten =
                ifm_chart_say(chart, beaten, "%s is off the frontier: %s stores no more, loses no more and is faster.",
                              point->arm->name, f->points[point->beaten_by].arm->name);
        if (point->drawn && !is_beaten(f, point) && n_told++ < TOLD)
            text = ifm_chart_say(chart, text, "%s", told(f, point));
        if (point->stored && !point->drawn)
            missing = ifm_chart_list(chart, missing, point->arm->name);
    }
    if (n_beaten == 0) /* what to see comes first, the figures of each arm behind it */
        text =
            ifm_chart_say(chart, "None is beaten by another one in bytes, output error and speed at once.", "%s", text);
    if (n_told > TOLD)
        text = ifm_chart_say(chart, text, "%zu more are on the frontier.", n_told - TOLD);
    text = ifm_chart_say(chart, text, "%s", beaten);
    if (n_beaten > TOLD)
        text = ifm_chart_say(chart, text, "%zu more are off it.", n_beaten - TOLD);
    return missing[0] == '\0'
               ? text
               : ifm_chart_say(chart, text, "Not drawn, as a number of theirs is not shown (reasons in the table): %s.",
                               missing);
}

static struct ifm_grid table_of(const struct frontier *f)
{
    bool tokens = f->speed_metric == IFM_M_TOKENS_GENERATED_PER_S;
    const struct ifm_heading headings[] = {{"arm", IFM_M_NONE, true, 0},
                                           {"stored bytes", IFM_M_STORED_BYTES, false, 0},
                                           {"bits/value", IFM_M_BITS_PER_VALUE, false, 0},
                                           {"output error", IFM_M_LOSS_RMS_REL, false, 0},
                                           {"attention KL", IFM_M_ATTENTION_KL_NATS, false, 0},
                                           {tokens ? "tokens" : "speed", f->speed_metric, false, 0},
                                           {"frontier", IFM_M_NONE, true, 0}};
    struct ifm_grid grid = ifm_chart_grid(f->chart, headings, sizeof headings / sizeof headings[0], f->n_points);
    for (size_t a = 0; a < f->n_points; a++) {
        const struct point *point = &f->points[a];
        if (!point->stored)
            continue;
        const char *name = point->arm->name;
        struct ifm_field *fields = ifm_chart_arm_row(f->chart, &grid, name);
        if (ifm_chart_value(f->chart, name, IFM_M_LOSS_RMS_REL) == NULL)
            fields[3] = ifm_chart_text(point->has_error ? "not lossy" : "none recorded");
        if (!tokens)
            fields[5] = ifm_chart_ratio_field(f->chart, ifm_chart_value(f->chart, name, f->speed_metric));
        if (is_beaten(f, point))
            fields[6] = ifm_chart_text(
                ifm_arena_printf(f->chart->arena, "beaten by %s", f->points[point->beaten_by].arm->name));
        else
            fields[6] = ifm_chart_text(point->drawn ? "on it" : "");
    }
    return grid;
}

bool ifm_figure_frontier(const struct ifm_chart *chart, struct ifm_figure *out)
{
    struct frontier f = {.chart = chart};
    collect(&f);
    if (!is_worth(&f))
        return false;
    mark(&f);
    out->id = ifm_chart_id(chart, "frontier");
    out->title = "Bytes, error, speed";
    out->sentence = words_of(&f);
    draw(&f, out);
    out->numbers = table_of(&f);
    out->derived = true;
    return true;
}
