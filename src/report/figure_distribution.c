/* Distributions: one density an arm on a common axis, with the median, p95 and p99 that derive gives.
 *
 * Each density is as high as its strip, so that shapes can be compared; areas of different arms cannot. */
#include "document/quantity.h"
#include "report/figure_strip.h"
#include <math.h>

enum { AREA = 46, LEFT = 6 };

struct sheet {
    const struct ifm_chart *chart;
    struct ifm_strips strips;
    struct ifm_plot_axis x;
    bool any[3]; /* of the quantiles */
};

static const struct {
    enum ifm_metric_id metric;
    const char *name, *class;
} quantiles[] = {{IFM_M_LATENCY_NS_P50, "median", "q50"},
                 {IFM_M_LATENCY_NS_P95, "p95", "q95"},
                 {IFM_M_LATENCY_NS_P99, "p99", "q99"}};
enum { QUANTILES = sizeof quantiles / sizeof quantiles[0] };

/* ---- drawing ---- */

/* False when no arm has a distribution. */
static bool scale(struct sheet *sheet)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const struct ifm_strip *strip = &sheet->strips.item[i];
        if (strip->missing[0] != '\0')
            continue;
        low = fmin(low, strip->picture->edges[0]);
        high = fmax(high, strip->picture->edges[strip->picture->n_bins]);
    }
    if (!isfinite(low))
        return false;
    ifm_strip_widen(&low, &high);
    bool is_log = ifm_strip_is_log(low, high);
    sheet->x = (struct ifm_plot_axis){.unit = "ns", .low = low, .high = high};
    sheet->x.title = is_log ? "time of a step (logarithmic)" : "time of a step";
    sheet->x.scale = is_log ? IFM_SCALE_LOG : IFM_SCALE_LINEAR;
    return true;
}

/* Samples per width on the axis, so that equal areas hold equally many of them whatever the axis. */
static double density(const struct sheet *sheet, const struct ifm_picture_arm *arm, size_t bin)
{
    double width =
        ifm_plot_x(&sheet->strips.plot, arm->edges[bin + 1]) - ifm_plot_x(&sheet->strips.plot, arm->edges[bin]);
    return width > 0 ? (double)arm->bins[bin] / width : 0;
}

static void add_density(struct sheet *sheet, const struct ifm_picture_arm *arm)
{
    struct ifm_plot *plot = &sheet->strips.plot;
    struct ifm_spot spots[2 * IFM_PICTURE_BINS + 2];
    double most = 0;
    size_t n = 0;
    for (size_t k = 0; k < arm->n_bins; k++)
        most = fmax(most, density(sheet, arm, k));
    if (!(most > 0))
        return;
    spots[n++] = (struct ifm_spot){ifm_plot_x(plot, arm->edges[0]), plot->bottom};
    for (size_t k = 0; k < arm->n_bins; k++) {
        double y = plot->bottom - (plot->bottom - plot->top) * density(sheet, arm, k) / most;
        if (n > 2 && spots[n - 1].y == y)
            n--; /* as high as the bin before: one step for both */
        else
            spots[n++] = (struct ifm_spot){ifm_plot_x(plot, arm->edges[k]), y};
        spots[n++] = (struct ifm_spot){ifm_plot_x(plot, arm->edges[k + 1]), y};
    }
    spots[n++] = (struct ifm_spot){ifm_plot_x(plot, arm->edges[arm->n_bins]), plot->bottom};
    ifm_plot_path(plot, "density", spots, n, true, NULL);
}

static const char *head_note(const struct sheet *sheet, const struct ifm_strip *strip)
{
    const char *note = "";
    for (size_t q = 0; q < QUANTILES; q++) {
        const struct ifm_value *value = ifm_chart_shown(sheet->chart, strip->arm->name, quantiles[q].metric);
        if (value != NULL)
            note = ifm_arena_printf(sheet->chart->arena, "%s%s%s %s", note, note[0] != '\0' ? ", " : "",
                                    quantiles[q].name, ifm_quantity_number(value, sheet->chart->arena));
    }
    return note;
}

static void add_strip(struct sheet *sheet, const struct ifm_strip *strip)
{
    struct ifm_plot *plot = &sheet->strips.plot;
    ifm_strip_head(plot, strip, head_note(sheet, strip));
    ifm_plot_group(plot, strip->series);
    add_density(sheet, strip->picture);
    ifm_plot_group_close(plot);
    ifm_plot_line(plot, "axis", plot->left, plot->bottom, plot->right, plot->bottom);
    for (size_t q = 0; q < QUANTILES; q++) {
        const struct ifm_value *value = ifm_chart_shown(sheet->chart, strip->arm->name, quantiles[q].metric);
        if (value == NULL || value->number < plot->x.low || value->number > plot->x.high)
            continue;
        double x = ifm_plot_x(plot, value->number);
        ifm_plot_line(plot, quantiles[q].class, x, plot->top, x, plot->bottom);
        sheet->any[q] = true;
    }
}

static void draw(struct sheet *sheet, struct ifm_figure *out)
{
    struct ifm_strips *strips = &sheet->strips;
    ifm_strips_begin(strips, LEFT, AREA, sheet->x);
    ifm_strip_x_ticks(&strips->plot, 8);
    for (size_t i = 0; i < strips->n; i++)
        if (ifm_strips_next(strips, &strips->item[i]))
            add_strip(sheet, &strips->item[i]);
    struct ifm_strip_key keys[QUANTILES] = {0};
    for (size_t q = 0; q < QUANTILES; q++)
        keys[q] = (struct ifm_strip_key){sheet->any[q] ? 'v' : 0, quantiles[q].class, quantiles[q].name};
    ifm_strips_end(strips, keys, QUANTILES, "distributions of the time of a step", out);
}

/* ---- what to see ---- */

static const char *tell_modes(const struct sheet *sheet, const char *text)
{
    const struct ifm_chart *chart = sheet->chart;
    const char *list = "";
    size_t several = 0, unknown = 0;
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const struct ifm_strip *strip = &sheet->strips.item[i];
        const struct ifm_value *modes = ifm_chart_value(chart, strip->arm->name, IFM_M_MODES_COUNT);
        if (strip->missing[0] != '\0')
            text = ifm_chart_say(chart, text, "%s is withheld: %s.", strip->arm->name, strip->missing);
        else if (!ifm_is_ok(modes))
            unknown++;
        else if (modes->number > 1) {
            several++;
            list =
                ifm_chart_list(chart, list, ifm_arena_printf(chart->arena, "%s (%s)", strip->arm->name, modes->text));
        }
    }
    if (several > 1)
        text =
            ifm_chart_say(chart, text, "%zu arms have more than one mode, so that no single number describes them: %s.",
                          several, list);
    else if (several > 0)
        text = ifm_chart_say(chart, text, "One arm has more than one mode, so that no single number describes it: %s.",
                             list);
    else if (unknown == 0)
        text = ifm_chart_say(chart, text, "%s",
                             sheet->strips.n > 1 ? "Each arm that is drawn has one mode." : "There is one mode.");
    return text;
}

static const char *tell_outside(const struct sheet *sheet, const char *text)
{
    const struct ifm_strip *worst = NULL;
    size_t most = 0, arms = 0;
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const struct ifm_strip *strip = &sheet->strips.item[i];
        size_t outside = strip->picture->below + strip->picture->above;
        arms += outside > 0;
        if (outside > most) {
            most = outside;
            worst = strip;
        }
    }
    if (worst == NULL)
        return text;
    const char *others = ifm_arena_printf(sheet->chart->arena, ", and as many or fewer of %zu other arm%s", arms - 1,
                                          arms > 2 ? "s" : "");
    return ifm_chart_say(sheet->chart, text, "%zu of %zu samples of %s %s too far out to be drawn%s.", most,
                         worst->picture->n_samples, worst->arm->name, most == 1 ? "lies" : "lie",
                         arms > 1 ? others : "");
}

static const char *tell_widest(const struct sheet *sheet, const char *text)
{
    const struct ifm_strip *widest = NULL;
    const struct ifm_value *most = NULL;
    size_t n = 0;
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const struct ifm_strip *strip = &sheet->strips.item[i];
        const struct ifm_value *cv = ifm_chart_shown(sheet->chart, strip->arm->name, IFM_M_LATENCY_CV_PERCENT);
        n += cv != NULL;
        if (cv == NULL || (most != NULL && cv->number <= most->number))
            continue;
        widest = strip;
        most = cv;
    }
    if (n > 1 && most->number > 0)
        return ifm_chart_say(sheet->chart, text, "%s spreads most: its coefficient of variation is %s.",
                             widest->arm->name, ifm_quantity_number(most, sheet->chart->arena));
    if (n == 1)
        return ifm_chart_say(sheet->chart, text, "The coefficient of variation of %s is %s.", widest->arm->name,
                             ifm_quantity_number(most, sheet->chart->arena));
    return text;
}

static const char *sentence_of(const struct sheet *sheet)
{
    const char *text = tell_outside(sheet, tell_widest(sheet, tell_modes(sheet, "")));
    if (sheet->strips.left_out == 0)
        return text;
    return ifm_chart_say(sheet->chart, text, "%zu more arms of this cell are not drawn.", sheet->strips.left_out);
}

/* ---- the numbers ---- */

static void add_row(const struct ifm_chart *chart, const struct ifm_strip *strip, struct ifm_grid *grid)
{
    const char *remarks = "";
    struct ifm_field *row = ifm_strip_row(chart, grid, strip->arm->name, IFM_M_MODES_COUNT, "Modes", &remarks);
    if (strip->picture->above > 0)
        remarks = ifm_chart_say(chart, remarks, "%zu above what is drawn.", strip->picture->above);
    if (strip->picture->below > 0)
        remarks = ifm_chart_say(chart, remarks, "%zu below what is drawn.", strip->picture->below);
    row[grid->n_columns - 1].text = remarks;
}

static struct ifm_grid numbers_of(const struct sheet *sheet)
{
    static const struct ifm_heading headings[] = {
        {"arm", IFM_M_NONE, true, 0},
        {"samples", IFM_M_SAMPLES_COUNT, false, 0},
        {"median", IFM_M_LATENCY_NS_P50, false, 0},
        {"p95", IFM_M_LATENCY_NS_P95, false, 0},
        {"p99", IFM_M_LATENCY_NS_P99, false, 0},
        {"variation", IFM_M_LATENCY_CV_PERCENT, false, 0},
        {"modes", IFM_M_MODES_COUNT, false, 0},
        {"remarks", IFM_M_NONE, true, 0},
    };
    struct ifm_grid grid =
        ifm_chart_grid(sheet->chart, headings, sizeof headings / sizeof headings[0], sheet->strips.n);
    for (size_t i = 0; i < sheet->strips.n; i++)
        add_row(sheet->chart, &sheet->strips.item[i], &grid);
    return grid;
}

bool ifm_figure_distribution(const struct ifm_chart *chart, struct ifm_figure *out)
{
    struct sheet sheet = {.chart = chart};
    if (!ifm_strips_choose(chart, true, &sheet.strips) || !scale(&sheet))
        return false;
    out->id = ifm_chart_id(chart, "distribution");
    out->title = "Distributions";
    out->sentence = sentence_of(&sheet);
    out->numbers = numbers_of(&sheet);
    draw(&sheet, out);
    return true;
}
