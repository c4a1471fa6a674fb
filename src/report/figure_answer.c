/* The answer in one picture: the speed of each compared arm of the run with its interval, against the output error that
 * it costs, with the bytes that it stores as its label. Arms that lose nothing have a lane each below.
 *
 * Computes no number. A run that compares nothing has the first of its cell's other figures there. */
#include "document/quantity.h"
#include "report/chart.h"
#include <math.h>
#include <string.h>

enum {
    MOST = 12,  /* comparisons; of more the cells have theirs */
    AREA = 136, /* pixels of errors, and at most */
    MOST_AREA = 220,
    LEFT = 44,
    RIGHT = 8,
    TOP = 24,
    LANE = 34,
    LABEL_GAP = 30 /* from one label to the next: text, and the interval below it */
};

struct answer_mark {
    const struct ifm_cell *cell;
    const struct ifm_arm *arm;
    const struct ifm_value *speed, *error, *stored; /* error and stored may be NULL */
    const char *name, *class;
    bool open; /* derive decided nothing: its dot is an outline */
    double y;
};

struct answer {
    const struct ifm_chart *chart;
    struct answer_mark marks[MOST];
    size_t n, n_all, n_lossy, n_open;
    const char *baseline; /* NULL: the cells have different ones */
    double low, high, error_low, error_high;
};

static struct ifm_chart chart_of(const struct answer *a, const struct ifm_cell *cell)
{
    struct ifm_chart own = *a->chart;
    own.cell = cell;
    return own;
}

/* ---- what is compared ---- */

/* Behind the workload's name: "matrix=b32h8s128" of "attention matrix=b32h8s128". */
static const char *short_name(const struct answer *a, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    if (a->chart->doc->plan->n_cells == 1)
        return arm->name;
    const char *axes = strchr(cell->name, ' '), *value = axes == NULL ? NULL : strchr(axes, '=');
    if (axes == NULL) /* the only cell of its workload */
        return arm->name;
    const char *place = cell->n_axes == 1 && value != NULL ? value + 1 : axes + 1;
    return ifm_arena_printf(a->chart->arena, "%s, %s", place, arm->name);
}

/* An arm has the colour of its cell's figures, in each cell that has it; another arm has another one. */
static const char *series_of(const struct answer *a, const struct ifm_chart *chart, const struct ifm_arm *arm)
{
    static const char *const classes[] = {"s1", "s2", "s3", "s4", "s5", "s6", "s7", "s0"};
    const char *own = ifm_chart_series(chart, arm);
    bool taken = false;
    for (size_t i = 0; i < a->n; i++) {
        if (strcmp(a->marks[i].arm->name, arm->name) == 0)
            return a->marks[i].class;
        taken |= strcmp(a->marks[i].class, own) == 0;
    }
    for (size_t k = 0; taken && k < sizeof classes / sizeof *classes; k++) {
        bool used = false;
        for (size_t i = 0; i < a->n; i++)
            used |= strcmp(a->marks[i].class, classes[k]) == 0;
        if (!used)
            return classes[k];
    }
    return own;
}

static bool add_mark(struct answer *a, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    struct ifm_chart chart = chart_of(a, cell);
    const struct ifm_value *speed = ifm_chart_shown(&chart, arm->name, IFM_M_SPEEDUP);
    if (!ifm_chart_is_positive(speed) || !ifm_document_is_row(chart.doc->derived, cell, arm))
        return false;
    if (a->n == MOST)
        return true;
    const char *class = series_of(a, &chart, arm);
    const struct ifm_value *error = ifm_chart_shown(&chart, arm->name, IFM_M_LOSS_RMS_REL);
    const struct ifm_value *stored = ifm_chart_shown(&chart, arm->name, IFM_M_COMPRESSION_RATIO);
    const struct ifm_value *change = ifm_chart_shown(&chart, arm->name, IFM_M_CHANGE_PERCENT);
    const bool lossy = ifm_chart_is_positive(error),
               open = ifm_is_ok(change) && change->text != NULL && strcmp(change->text, "undecided") == 0;
    a->marks[a->n++] = (struct answer_mark){cell,
                                            arm,
                                            speed,
                                            lossy ? error : NULL,
                                            ifm_chart_is_positive(stored) && stored->number != 1 ? stored : NULL,
                                            short_name(a, cell, arm),
                                            class,
                                            open,
                                            0};
    a->n_open += open;
    a->n_lossy += lossy;
    if (lossy) {
        a->error_low = fmin(a->error_low, 100 * error->number);
        a->error_high = fmax(a->error_high, 100 * error->number);
    }
    return true;
}

static void collect(struct answer *a)
{
    const struct ifm_plan *plan = a->chart->doc->plan;
    bool first = true;
    a->error_low = INFINITY;
    for (size_t i = 0; i < plan->n_cells; i++) {
        const struct ifm_arm *baseline = ifm_cell_baseline(&plan->cells[i]);
        for (size_t k = 0; k < plan->cells[i].n_arms; k++) {
            if (!add_mark(a, &plan->cells[i], &plan->cells[i].arms[k]))
                continue;
            bool same =
                baseline != NULL && (first || (a->baseline != NULL && strcmp(a->baseline, baseline->name) == 0));
            a->baseline = same ? baseline->name : NULL;
            first = false;
            a->n_all++;
        }
    }
}

/* Every estimate is on the axis; an interval that is far wider is cut at its ends. */
static void fit(struct answer *a)
{
    a->low = a->high = 1;
    for (size_t i = 0; i < a->n; i++) {
        a->low = fmin(a->low, a->marks[i].speed->number);
        a->high = fmax(a->high, a->marks[i].speed->number);
    }
    const struct ifm_value *speeds[MOST];
    for (size_t i = 0; i < a->n; i++)
        speeds[i] = a->marks[i].speed;
    double reach = exp(ifm_chart_reach(speeds, a->n, a->low, a->high)), low = a->low / reach, high = a->high * reach;
    for (size_t i = 0; i < a->n; i++)
        if (ifm_chart_has_interval(a->marks[i].speed) && a->marks[i].speed->low > 0) {
            a->low = fmin(a->low, fmax(a->marks[i].speed->low, low));
            a->high = fmax(a->high, fmin(a->marks[i].speed->high, high));
        }
    double air = fmax(pow(a->high / a->low, 0.05), 1.002);
    a->low = fmax(a->low / air, 1e-300);
    a->high = fmin(a->high * air, 1e300);
}

/* ---- drawing ---- */

/* Where both do not fit, also among many marks, what the mark is goes before how small it is, which the table has. */
static const char *label_of(const struct answer *a, const struct answer_mark *mark, double room)
{
    enum { FEW = 4 };
    struct ifm_arena *arena = a->chart->arena;
    const char *name = ifm_arena_printf(arena, "%s%s", mark->name, mark->open ? ", undecided" : "");
    const char *whole =
        mark->stored == NULL || a->n > FEW
            ? name
            : ifm_arena_printf(arena, "%s, stored %s", name,
                               ifm_quantity_bytes_words(IFM_M_COMPRESSION_RATIO, mark->stored->number, arena));
    return ifm_plot_text_width(whole, IFM_CHART_FONT) <= room ? whole
                                                              : ifm_chart_clip(a->chart, name, IFM_CHART_FONT, room);
}

static const char *tip_of(const struct answer *a, const struct answer_mark *mark)
{
    struct ifm_arena *arena = a->chart->arena;
    const struct ifm_arm *baseline = ifm_cell_baseline(mark->cell);
    const char *text =
        ifm_arena_printf(arena, "%s: %s the speed of %s", mark->name, ifm_chart_ratio(a->chart, mark->speed),
                         baseline == NULL ? "the baseline" : baseline->name);
    if (ifm_chart_has_interval(mark->speed))
        text = ifm_arena_printf(arena, "%s, %.3g %% interval %s", text, 100 * mark->speed->level,
                                ifm_quantity_range(mark->speed, arena));
    if (mark->error == NULL)
        return text;
    return ifm_arena_printf(
        arena, "%s, output error %s", text,
        ifm_quantity_number(ifm_quantity_for_people(IFM_M_LOSS_RMS_REL, mark->error, arena), arena));
}

/* Where things lie on the drawing, in its pixels. */
struct box {
    double left, right, top, bottom;
};

static bool touch(const struct box *a, const struct box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* A dot with its interval, or without. */
static struct box mark_box(const struct ifm_plot *plot, const struct answer_mark *mark, bool whole)
{
    const double x = ifm_plot_x(plot, mark->speed->number);
    struct box box = {x - 6, x + 6, mark->y - 6, mark->y + 6};
    if (whole && ifm_chart_has_interval(mark->speed)) {
        box.left = fmin(box.left, ifm_plot_x(plot, mark->speed->low) - 2);
        box.right = fmax(box.right, ifm_plot_x(plot, mark->speed->high) + 2);
    }
    return box;
}

/* A label beside its mark: `y` is its base line. */
struct answer_label {
    const char *text;
    double at, y;
    bool ends; /* at `at`: a font may be wider than the estimate, so a label near the right edge ends there */
    struct box box;
};

static void set_line(struct answer_label *label, double y)
{
    label->y = y;
    label->box.top = y - 11;
    label->box.bottom = y + 2;
}

static struct answer_label label_at(const struct answer *a, const struct ifm_plot *plot, const struct answer_mark *mark)
{
    const double widest = 1.1, room = (plot->width - plot->left - 4) / widest;
    const char *text = label_of(a, mark, room);
    const double width = widest * ifm_plot_text_width(text, IFM_CHART_FONT),
                 at = fmax(ifm_plot_x(plot, mark->speed->number) - 6, plot->left + 4);
    const bool ends = at + width > plot->width;
    struct answer_label label = {text, ends ? plot->width : at, 0, ends, {.left = ends ? plot->width - width : at}};
    label.box.right = label.box.left + width;
    set_line(&label, mark->y - 8);
    return label;
}

static void add_label(struct ifm_plot *plot, const struct answer_mark *mark, const struct answer_label *label)
{
    const double x = ifm_plot_x(plot, mark->speed->number);
    const bool far = label->box.bottom < mark->y - 9 || label->box.top > mark->y + 11;
    ifm_plot_group(plot, mark->class);
    if (far)
        ifm_plot_line(plot, "leader", x, mark->y, x, label->box.bottom < mark->y ? label->box.bottom : label->box.top);
    ifm_plot_text(plot, label->at, label->y, label->ends ? "end" : "start", "halo fill", label->text);
    ifm_plot_group_close(plot);
}

static void draw_mark(const struct answer *a, struct ifm_plot *plot, const struct answer_mark *mark)
{
    ifm_plot_group(plot, mark->class);
    if (ifm_chart_has_interval(mark->speed))
        ifm_plot_interval(plot, mark->speed->low, mark->speed->high, mark->y);
    ifm_plot_dot(plot, mark->open ? "undecided" : "fill", ifm_plot_x(plot, mark->speed->number), mark->y, 4.5,
                 tip_of(a, mark));
    ifm_plot_group_close(plot);
}

/* Is there room for the label: over no mark, over none of the `n` labels that have their place, inside of the area? */
static bool is_free(const struct ifm_plot *plot, const struct answer_label *label, const struct box *marks,
                    size_t n_marks, const struct answer_label *labels, size_t n)
{
    bool free = label->box.top >= plot->top - 4 && label->box.bottom <= plot->bottom;
    for (size_t i = 0; i < n_marks; i++)
        free &= !touch(&label->box, &marks[i]);
    for (size_t i = 0; i < n; i++)
        free &= !touch(&label->box, &labels[i].box);
    return free;
}

/* Above its mark, else below it, else farther from it, up to `most` pixels; false where nothing is free. */
static bool place_upright(const struct ifm_plot *plot, const struct answer_mark *mark, struct answer_label *label,
                          double most, const struct box *marks, size_t n_marks, const struct answer_label *labels,
                          size_t n)
{
    enum { STEP = 4 };
    for (double off = 0; off < most; off += STEP)
        for (int side = 0; side < 2; side++) {
            set_line(label, side == 0 ? mark->y - 8 - off : mark->y + 18 + off);
            if (is_free(plot, label, marks, n_marks, labels, n))
                return true;
        }
    return false;
}

/* Where it begins at its mark, else where its middle or its end is there. */
static bool place(const struct ifm_plot *plot, const struct answer_mark *mark, struct answer_label *label, double most,
                  const struct box *marks, size_t n_marks, const struct answer_label *labels, size_t n)
{
    const struct answer_label first = *label;
    const double width = first.box.right - first.box.left, x = ifm_plot_x(plot, mark->speed->number);
    const double starts[] = {first.box.left, x - width / 2, x + 6 - width};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const double left = fmin(fmax(starts[i], plot->left + 4), plot->width - width);
        *label = first;
        label->at += left - first.box.left;
        label->box.left = left;
        label->box.right = left + width;
        if (place_upright(plot, mark, label, most, marks, n_marks, labels, n))
            return true;
    }
    *label = first;
    return false;
}

/* The top one first, so that what is pushed away goes to its own side. */
static void sort_down(struct answer_mark **marks, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && marks[k]->y < marks[k - 1]->y; k--) {
            struct answer_mark *swapped = marks[k];
            marks[k] = marks[k - 1];
            marks[k - 1] = swapped;
        }
}

/* Labels first: where there is no room for one, it lies behind an interval, else behind a dot, and on no other label.
 */
static void add_lossy(struct answer *a, struct ifm_plot *plot)
{
    enum { NEAR = 40 };
    const double far = plot->bottom - plot->top;
    struct box marks[MOST], dots[MOST];
    struct answer_label labels[MOST];
    struct answer_mark *lossy[MOST];
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        if (a->marks[i].error != NULL) {
            a->marks[i].y = ifm_plot_y(plot, 100 * a->marks[i].error->number);
            marks[n] = mark_box(plot, &a->marks[i], true);
            dots[n] = mark_box(plot, &a->marks[i], false);
            lossy[n++] = &a->marks[i];
        }
    sort_down(lossy, n);
    for (size_t i = 0; i < n; i++) {
        labels[i] = label_at(a, plot, lossy[i]);
        if (!place(plot, lossy[i], &labels[i], NEAR, marks, n, labels, i) &&
            !place(plot, lossy[i], &labels[i], far, dots, n, labels, i))
            place(plot, lossy[i], &labels[i], far, NULL, 0, labels, i);
        add_label(plot, lossy[i], &labels[i]);
    }
    for (size_t i = 0; i < n; i++)
        draw_mark(a, plot, lossy[i]);
}

static void add_lanes(struct answer *a, struct ifm_plot *plot, double top)
{
    size_t lane = 0;
    for (size_t i = 0; i < a->n; i++)
        if (a->marks[i].error == NULL) {
            a->marks[i].y = top + LANE * (double)lane++ + 25;
            const struct answer_label label = label_at(a, plot, &a->marks[i]);
            add_label(plot, &a->marks[i], &label);
            draw_mark(a, plot, &a->marks[i]);
        }
}

static const char *interval_words(const struct answer *a)
{
    double least = 1, most = 0;
    for (size_t i = 0; i < a->n; i++)
        if (ifm_chart_has_interval(a->marks[i].speed)) {
            least = fmin(least, a->marks[i].speed->level);
            most = fmax(most, a->marks[i].speed->level);
        }
    if (most <= 0)
        return NULL;
    return fabs(most - least) < 5e-4
               ? ifm_arena_printf(a->chart->arena, "bar: %.3g %% interval", 100 * most)
               : ifm_arena_printf(a->chart->arena, "bar: interval of %.3g to %.3g %%", 100 * least, 100 * most);
}

/* So high that labels have room where errors lie near to each other. */
static double area_of(const struct answer *a)
{
    double gap = INFINITY;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < i; k++)
            if (a->marks[i].error != NULL && a->marks[k].error != NULL) {
                double its = fabs(log(a->marks[i].error->number) - log(a->marks[k].error->number));
                gap = its > 0 ? fmin(gap, its) : gap;
            }
    double least = fmax(AREA, LABEL_GAP * (double)a->n_lossy + 12), range = log(4 * a->error_high / a->error_low);
    return fmin(fmax(least, LABEL_GAP * range / gap), fmax(least, MOST_AREA));
}

static void draw(struct answer *a, struct ifm_figure *out)
{
    const bool lossy = a->n_lossy > 0;
    double area = lossy ? area_of(a) : 0, top = lossy ? TOP : 4;
    double bottom = top + area, foot = bottom + LANE * (double)(a->n - a->n_lossy) + (a->n > a->n_lossy ? 6 : 0);
    struct ifm_plot plot = ifm_chart_plot(a->chart, out, lossy ? LEFT : RIGHT, IFM_CHART_WIDTH - RIGHT, top, foot);
    const char *of = ifm_chart_clip(a->chart, a->baseline == NULL ? "the baseline" : a->baseline, IFM_CHART_SMALL,
                                    IFM_CHART_WIDTH / 2.0);
    plot.x = (struct ifm_plot_axis){
        IFM_SCALE_LOG, a->low, a->high, "x", ifm_arena_printf(a->chart->arena, "speed against %s", of), false};
    plot.y = (struct ifm_plot_axis){.hidden = true};
    const char *legend[] = {interval_words(a), a->n_open > 0 ? "open dot: undecided" : NULL,
                            a->n_lossy > 0 && a->n > a->n_lossy ? "below the line: a row each, no output error" : NULL};
    const size_t n = sizeof legend / sizeof *legend, lines = ifm_chart_legend(a->chart, NULL, 0, legend, n);
    plot.height = foot + 42 + 16 * (double)lines;
    ifm_plot_open(&plot, out->title, "");
    ifm_plot_axes(&plot);
    ifm_plot_line(&plot, "axis", ifm_plot_x(&plot, 1), lossy ? top : 0, ifm_plot_x(&plot, 1), foot);
    if (lossy) {
        struct ifm_plot_axis x = plot.x;
        plot.bottom = bottom;
        plot.x.hidden = true;
        plot.y = (struct ifm_plot_axis){
            IFM_SCALE_LOG, fmax(a->error_low / 2, 1e-300), fmin(a->error_high * 2, 1e300), "%", "output error", false};
        ifm_plot_axes(&plot);
        plot.x = x;
        add_lossy(a, &plot);
    }
    add_lanes(a, &plot, bottom);
    ifm_chart_legend(a->chart, &plot, foot + 52, legend, n);
    ifm_plot_close(&plot);
}

/* A run that compares nothing. */
static bool draw_other(const struct ifm_chart *chart, struct ifm_figure *out)
{
    static ifm_figure_maker *const others[] = {ifm_figure_rates, ifm_figure_caches, ifm_figure_distribution};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i](chart, out)) {
            out->id = "answer-figure";
            out->numbers.n_rows = 0; /* the cell has them */
            return true;
        }
        ifm_text_free(&out->svg);
        *out = (struct ifm_figure){0};
    }
    return false;
}

bool ifm_figure_answer(const struct ifm_chart *chart, struct ifm_figure *out)
{
    struct answer a = {.chart = chart};
    collect(&a);
    if (a.n == 0)
        return draw_other(chart, out);
    fit(&a);
    out->id = "answer-figure";
    out->title = a.n_lossy > 0 ? "Speed and output error" : "Speed";
    out->sentence = ifm_arena_printf(chart->arena, "Right of 1x is faster%s.%s",
                                     a.n_lossy > 0 ? "; higher up, the output is further off" : "",
                                     a.n_all > a.n ? ifm_arena_printf(chart->arena,
                                                                      " The first %zu of %zu comparisons; each cell "
                                                                      "has its own.",
                                                                      a.n, a.n_all)
                                                   : "");
    draw(&a, out);
    return true;
}
