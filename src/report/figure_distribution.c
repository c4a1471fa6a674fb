/* Distributions: one density an arm on a common axis, with the median, p95 and p99 that derive gives.
 *
 * Each density is as high as its strip, so that shapes can be compared; areas of different arms cannot. */
#include "document/quantity.h"
#include "report/chart.h"
#include "report/figure_strip.h"
#include <math.h>

enum { AREA = 46, GAP = 8, TOP = 4, AXIS = 38 };

/* From this ratio of the least and the most on, the common axis is logarithmic. */
#define LOG_ABOVE 8.0
#define NARROWEST 0.01 /* of the level */

struct sheet {
    const struct ifm_document *doc;
    const struct ifm_cell *cell;
    struct ifm_strips strips;
    struct ifm_plot plot;
    bool any[3]; /* of the quantiles */
};

static const struct {
    enum ifm_metric_id metric;
    const char *name, *class;
} quantiles[] = {{IFM_M_LATENCY_NS_P50, "median", "q50"},
                 {IFM_M_LATENCY_NS_P95, "p95", "q95"},
                 {IFM_M_LATENCY_NS_P99, "p99", "q99"}};
enum { QUANTILES = sizeof quantiles / sizeof quantiles[0] };

static bool is_drawn(const struct ifm_strip *strip)
{
    return strip->picture->withheld[0] == '\0' && strip->picture->n_bins > 0;
}

static const char *why_not(const struct ifm_strip *strip)
{
    return strip->picture->withheld[0] != '\0' ? strip->picture->withheld : "no sample was measured";
}

/* ---- drawing ---- */

/* False when no arm has a distribution. */
static bool scale(struct sheet *sheet)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const struct ifm_strip *strip = &sheet->strips.item[i];
        if (!is_drawn(strip))
            continue;
        low = fmin(low, strip->picture->edges[0]);
        high = fmax(high, strip->picture->edges[strip->picture->n_bins]);
    }
    if (!isfinite(low))
        return false;
    double least = fmax(NARROWEST * 0.5 * (low + high), 1e-3), middle = 0.5 * (low + high);
    if (high - low < least) {
        low = middle - 0.5 * least;
        high = middle + 0.5 * least;
    }
    bool is_log = low > 0 && high / low > LOG_ABOVE;
    sheet->plot.x = (struct ifm_plot_axis){.unit = "ns", .low = low, .high = high};
    sheet->plot.x.title = is_log ? "time of a step (logarithmic)" : "time of a step";
    sheet->plot.x.scale = is_log ? IFM_SCALE_LOG : IFM_SCALE_LINEAR;
    return true;
}

/* Samples per width on the axis, so that equal areas hold equally many of them whatever the axis. */
static double density(const struct sheet *sheet, const struct ifm_picture_arm *arm, size_t bin)
{
    double width = ifm_plot_x(&sheet->plot, arm->edges[bin + 1]) - ifm_plot_x(&sheet->plot, arm->edges[bin]);
    return width > 0 ? (double)arm->bins[bin] / width : 0;
}

static void add_density(struct sheet *sheet, const struct ifm_picture_arm *arm)
{
    struct ifm_plot *plot = &sheet->plot;
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
        const struct ifm_value *value = ifm_chart_shown(sheet->doc, sheet->cell, strip->arm->name, quantiles[q].metric);
        if (value != NULL)
            note = ifm_arena_printf(sheet->doc->arena, "%s%s%s %s", note, note[0] != '\0' ? ", " : "",
                                    quantiles[q].name, ifm_quantity_number(value, sheet->doc->arena));
    }
    return note;
}

static double add_strip(struct sheet *sheet, const struct ifm_strip *strip, double y)
{
    struct ifm_plot *plot = &sheet->plot;
    if (!is_drawn(strip)) {
        ifm_strip_head(plot, strip, y + 14, "withheld");
        return IFM_STRIP_HEAD + ifm_strip_words(plot, y + IFM_STRIP_HEAD, why_not(strip), sheet->doc->arena) + GAP;
    }
    plot->top = y + IFM_STRIP_HEAD;
    plot->bottom = plot->top + AREA;
    ifm_strip_head(plot, strip, y + 14, head_note(sheet, strip));
    ifm_plot_group(plot, strip->series);
    add_density(sheet, strip->picture);
    ifm_plot_group_close(plot);
    ifm_plot_line(plot, "axis", plot->left, plot->bottom, plot->right, plot->bottom);
    for (size_t q = 0; q < QUANTILES; q++) {
        const struct ifm_value *value = ifm_chart_shown(sheet->doc, sheet->cell, strip->arm->name, quantiles[q].metric);
        if (value == NULL || value->number < plot->x.low || value->number > plot->x.high)
            continue;
        double x = ifm_plot_x(plot, value->number);
        ifm_plot_line(plot, quantiles[q].class, x, plot->top, x, plot->bottom);
        sheet->any[q] = true;
    }
    return IFM_STRIP_HEAD + AREA + GAP;
}

static double height_of(const struct sheet *sheet, const struct ifm_strip *strip)
{
    if (is_drawn(strip))
        return IFM_STRIP_HEAD + AREA + GAP;
    return IFM_STRIP_HEAD + ifm_strip_words(NULL, 0, why_not(strip), sheet->doc->arena) + GAP;
}

static void draw(struct sheet *sheet, struct ifm_figure *out)
{
    struct ifm_plot *plot = &sheet->plot;
    struct ifm_text marks = {0};
    double bottom = TOP, y = TOP;
    for (size_t i = 0; i < sheet->strips.n; i++)
        bottom += height_of(sheet, &sheet->strips.item[i]);
    bottom -= is_drawn(&sheet->strips.item[sheet->strips.n - 1]) ? GAP : 0; /* its own axis is that of all */
    plot->out = &marks;
    plot->top = TOP;
    plot->bottom = bottom;
    struct ifm_plot whole = *plot;
    ifm_strip_x_ticks(plot, 8);
    for (size_t i = 0; i < sheet->strips.n; i++)
        y += add_strip(sheet, &sheet->strips.item[i], y);
    struct ifm_strip_key keys[QUANTILES] = {0};
    for (size_t q = 0; q < QUANTILES; q++)
        keys[q] = (struct ifm_strip_key){sheet->any[q] ? 'v' : 0, quantiles[q].class, quantiles[q].name};
    whole.height = bottom + AXIS + ifm_strip_legend(plot, bottom + AXIS, keys, QUANTILES);
    whole.out = &out->svg;
    ifm_plot_open(&whole, ifm_arena_printf(plot->arena, "%s: distributions of the time of a step", sheet->cell->name),
                  out->sentence);
    ifm_text_append(&out->svg, marks.data, marks.size);
    ifm_plot_close(&whole);
    ifm_text_free(&marks);
}

/* ---- what to see ---- */

/* False where a number of modes is not known, or is not one. */
static bool tell_modes(const struct sheet *sheet, struct ifm_text *text)
{
    struct ifm_text list = {0};
    size_t several = 0, unknown = 0;
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const struct ifm_strip *strip = &sheet->strips.item[i];
        const struct ifm_value *modes = ifm_chart_value(sheet->doc, sheet->cell, strip->arm->name, IFM_M_MODES_COUNT);
        if (!is_drawn(strip))
            ifm_strip_add(text, "%s is withheld: %s.", strip->arm->name, why_not(strip));
        else if (modes == NULL || modes->state != IFM_STATE_OK)
            unknown++;
        else if (modes->number > 1)
            ifm_text_printf(&list, "%s%s (%s)", several++ > 0 ? ", " : "", strip->arm->name, modes->text);
    }
    if (several > 1)
        ifm_strip_add(text, "%zu arms have more than one mode, so that no single number describes them:", several);
    else if (several > 0)
        ifm_strip_add(text, "One arm has more than one mode, so that no single number describes it:");
    if (several > 0)
        ifm_strip_add(text, "%s.", list.data);
    ifm_text_free(&list);
    return several + unknown == 0;
}

static void tell_outside(const struct sheet *sheet, struct ifm_text *text)
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
    if (worst != NULL)
        ifm_strip_add(text, "%zu of %zu samples of %s %s too far out to be drawn%s", most, worst->picture->n_samples,
                      worst->arm->name, most == 1 ? "lies" : "lie",
                      arms > 1 ? ifm_arena_printf(sheet->doc->arena, ", and fewer of %zu other arm%s.", arms - 1,
                                                  arms > 2 ? "s" : "")
                               : ".");
}

static void tell_widest(const struct sheet *sheet, struct ifm_text *text)
{
    const struct ifm_strip *widest = NULL;
    const struct ifm_value *most = NULL;
    size_t n = 0;
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const struct ifm_strip *strip = &sheet->strips.item[i];
        const struct ifm_value *cv =
            ifm_chart_shown(sheet->doc, sheet->cell, strip->arm->name, IFM_M_LATENCY_CV_PERCENT);
        n += cv != NULL;
        if (cv == NULL || (most != NULL && cv->number <= most->number))
            continue;
        widest = strip;
        most = cv;
    }
    if (n > 1 && most->number > 0)
        ifm_strip_add(text, "%s spreads most: its coefficient of variation is %s.", widest->arm->name,
                      ifm_quantity_number(most, sheet->doc->arena));
    else if (n == 1)
        ifm_strip_add(text, "The coefficient of variation of %s is %s.", widest->arm->name,
                      ifm_quantity_number(most, sheet->doc->arena));
}

static const char *sentence_of(const struct sheet *sheet)
{
    struct ifm_text text = {0};
    if (tell_modes(sheet, &text))
        ifm_strip_add(&text, sheet->strips.n > 1 ? "Each arm that is drawn has one mode." : "There is one mode.");
    tell_widest(sheet, &text);
    tell_outside(sheet, &text);
    if (sheet->strips.left_out > 0)
        ifm_strip_add(&text, "%zu more arms of this cell are not drawn.", sheet->strips.left_out);
    const char *sentence = text.size > 0 ? ifm_arena_strdup(sheet->doc->arena, text.data) : "";
    ifm_text_free(&text);
    return sentence;
}

/* ---- the numbers ---- */

static void add_row(const struct sheet *sheet, const struct ifm_strip *strip, struct ifm_grid *grid)
{
    static const enum ifm_metric_id metrics[] = {IFM_M_SAMPLES_COUNT,  IFM_M_LATENCY_NS_P50,     IFM_M_LATENCY_NS_P95,
                                                 IFM_M_LATENCY_NS_P99, IFM_M_LATENCY_CV_PERCENT, IFM_M_MODES_COUNT};
    enum { N = sizeof metrics / sizeof metrics[0] };
    const struct ifm_picture_arm *arm = strip->picture;
    struct ifm_text remarks = {0};
    struct ifm_field *row = ifm_chart_row(grid, strip->arm->name);
    for (size_t m = 0; m < N; m++) {
        const struct ifm_value *value = ifm_chart_value(sheet->doc, sheet->cell, strip->arm->name, metrics[m]);
        row[m + 1] = ifm_strip_field(sheet->doc, value, &remarks);
        if (value != NULL && value->state == IFM_STATE_OK && m == N - 1 && value->text[0] != '\0')
            ifm_strip_add(&remarks, "Modes: %s.", value->text);
    }
    if (arm->above > 0)
        ifm_strip_add(&remarks, "%zu above what is drawn.", arm->above);
    if (arm->below > 0)
        ifm_strip_add(&remarks, "%zu below what is drawn.", arm->below);
    row[N + 1].text = remarks.size > 0 ? ifm_arena_strdup(sheet->doc->arena, remarks.data) : "";
    ifm_text_free(&remarks);
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
    struct ifm_grid grid = ifm_chart_grid(sheet->doc, headings, sizeof headings / sizeof headings[0], sheet->strips.n);
    for (size_t i = 0; i < sheet->strips.n; i++)
        add_row(sheet, &sheet->strips.item[i], &grid);
    return grid;
}

bool ifm_figure_distribution(const struct ifm_document *doc, const struct ifm_cell *cell,
                             const struct ifm_picture *picture, struct ifm_figure *out)
{
    struct sheet sheet = {.doc = doc, .cell = cell};
    sheet.plot = (struct ifm_plot){
        .arena = doc->arena, .width = IFM_STRIP_WIDTH, .left = 6, .right = IFM_STRIP_RIGHT, .y = {.hidden = true}};
    if (!ifm_strips_choose(doc, cell, picture, &sheet.strips) || !scale(&sheet))
        return false;
    out->id = ifm_chart_id(doc, cell, "distribution");
    out->title = "Distributions";
    out->sentence = sentence_of(&sheet);
    out->numbers = numbers_of(&sheet);
    draw(&sheet, out);
    return true;
}
