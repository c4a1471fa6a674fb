/* Samples over time: one strip an arm on a common axis of time, each with its own axis of the time of a step.
 *
 * Few samples are dots; many are the spread of each bucket with its median. What a far outlier would squash is cut off
 * at the edges of the arm's distribution, and a mark at the strip's edge stands for it. */
#include "document/quantity.h"
#include "report/chart.h"
#include "report/figure_strip.h"
#include <math.h>
#include <string.h>

enum { AREA = 84, GAP = 8, EDGE = 3, TOP = 4, AXIS = 38, MOST_BLOCK_ROWS = 12 };

/* From this ratio of its edges on, a strip's axis is logarithmic. */
#define LOG_ABOVE 8.0
#define AIR 0.08       /* of the axis, above and below */
#define NARROWEST 0.01 /* of the level: what lies closer is not drawn apart, or the axis would show the clock */

struct timeline_sheet {
    const struct ifm_document *doc;
    const struct ifm_cell *cell;
    const struct ifm_picture *picture;
    struct ifm_strips strips;
    struct ifm_plot plot;
    struct ifm_spot *spots; /* room for one strip's marks */
    bool any_dots, any_bands, any_outliers, any_beyond, any_trends, any_changes;
};

static double seconds(const struct timeline_sheet *sheet, int64_t ns)
{
    return (double)(ns - sheet->picture->start_ns) * 1e-9;
}

static bool is_drawn(const struct ifm_strip *strip)
{
    return strip->picture->withheld[0] == '\0' && strip->picture->n_buckets > 0;
}

/* The drift, where its interval leaves zero out. */
static const struct ifm_value *visible_drift(const struct timeline_sheet *sheet, const struct ifm_strip *strip)
{
    const struct ifm_value *drift = ifm_chart_shown(sheet->doc, sheet->cell, strip->arm->name, IFM_M_DRIFT_PERCENT);
    bool visible = drift != NULL && drift->has_interval && (drift->low > 0 || drift->high < 0);
    return visible ? drift : NULL;
}

static const char *time_text(const struct timeline_sheet *sheet, double ns)
{
    return ifm_quantity_bare(ns, "ns", sheet->doc->arena);
}

/* ---- one strip ---- */

static void scale_strip(struct timeline_sheet *sheet, const struct ifm_picture_arm *arm)
{
    struct ifm_plot_axis *y = &sheet->plot.y;
    double low = 0, high = 0;
    if (arm->n_bins > 0) {
        low = arm->edges[0];
        high = arm->edges[arm->n_bins];
    } else { /* a warm-up alone */
        low = arm->buckets[0].low;
        high = arm->buckets[0].high;
        for (size_t k = 1; k < arm->n_buckets; k++) {
            low = fmin(low, arm->buckets[k].low);
            high = fmax(high, arm->buckets[k].high);
        }
    }
    double least = fmax(NARROWEST * 0.5 * (low + high), 1e-3);
    if (high - low < least) {
        double middle = 0.5 * (low + high);
        low = middle - 0.5 * least;
        high = middle + 0.5 * least;
    }
    bool is_log = low > 0 && high / low > LOG_ABOVE;
    double air = is_log ? pow(high / low, AIR) : AIR * (high - low);
    *y = (struct ifm_plot_axis){.unit = "ns", .scale = is_log ? IFM_SCALE_LOG : IFM_SCALE_LINEAR};
    y->low = is_log ? low / air : low > air ? low - air : fmin(low, 0);
    y->high = is_log ? high * air : high + air;
}

static double level_of(const struct timeline_sheet *sheet, double ns)
{
    const struct ifm_plot *plot = &sheet->plot;
    if (plot->y.scale == IFM_SCALE_LOG && !(ns > 0))
        return plot->bottom;
    return fmin(fmax(ifm_plot_y(plot, ns), plot->top), plot->bottom);
}

static bool is_beyond(const struct timeline_sheet *sheet, double ns)
{
    return ns < sheet->plot.y.low || ns > sheet->plot.y.high;
}

static struct ifm_spot edge_spot(const struct timeline_sheet *sheet, double x, double ns)
{
    return (struct ifm_spot){x, ns > sheet->plot.y.high ? sheet->plot.top + EDGE : sheet->plot.bottom - EDGE};
}

static double middle_of(const struct timeline_sheet *sheet, const struct ifm_picture_bucket *bucket)
{
    return ifm_plot_x(&sheet->plot, 0.5 * (seconds(sheet, bucket->start_ns) + seconds(sheet, bucket->end_ns)));
}

static void add_dots(struct timeline_sheet *sheet, const struct ifm_picture_bucket *buckets, size_t n)
{
    size_t spots = 0;
    for (size_t k = 0; k < n; k++)
        if (!is_beyond(sheet, buckets[k].median))
            sheet->spots[spots++] =
                (struct ifm_spot){middle_of(sheet, &buckets[k]), level_of(sheet, buckets[k].median)};
    ifm_plot_dots(&sheet->plot, "dots", sheet->spots, spots);
    sheet->any_dots |= spots > 0;
}

static void add_band(struct timeline_sheet *sheet, const struct ifm_picture_bucket *buckets, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double x = middle_of(sheet, &buckets[k]);
        sheet->spots[k] = (struct ifm_spot){x, level_of(sheet, buckets[k].high)};
        sheet->spots[2 * n - 1 - k] = (struct ifm_spot){x, level_of(sheet, buckets[k].low)};
    }
    ifm_plot_path(&sheet->plot, "band", sheet->spots, 2 * n, true, NULL);
    for (size_t k = 0; k < n; k++)
        sheet->spots[k].y = level_of(sheet, buckets[k].median);
    ifm_plot_path(&sheet->plot, "line thin", sheet->spots, n, false, NULL);
    sheet->any_bands = true;
}

/* Whether the run stopped and warmed up again between two buckets. */
static bool is_parted(const struct timeline_sheet *sheet, const struct ifm_picture_bucket *a,
                      const struct ifm_picture_bucket *b)
{
    for (size_t i = 0; i < sheet->picture->n_warmups; i++)
        if (sheet->picture->warmups[i].start_ns >= a->end_ns && sheet->picture->warmups[i].end_ns <= b->start_ns)
            return true;
    return false;
}

/* Buckets of one phase: dots where each is a sample. */
static void add_phase(struct timeline_sheet *sheet, const struct ifm_picture_bucket *buckets, size_t n)
{
    bool single = true;
    for (size_t k = 0; k < n; k++)
        single &= buckets[k].n == 1;
    if (single) {
        add_dots(sheet, buckets, n);
        return;
    }
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && !is_parted(sheet, &buckets[to - 1], &buckets[to]); to++)
            continue;
        if (to - from > 1)
            add_band(sheet, buckets + from, to - from);
        else
            add_dots(sheet, buckets + from, 1);
    }
}

static void add_beyond(struct timeline_sheet *sheet, const struct ifm_picture_arm *arm)
{
    size_t n = 0;
    for (size_t k = 0; k < arm->n_buckets; k++) {
        const struct ifm_picture_bucket *bucket = &arm->buckets[k];
        double x = middle_of(sheet, bucket);
        if (bucket->high > sheet->plot.y.high)
            sheet->spots[n++] = edge_spot(sheet, x, bucket->high);
        if (bucket->low < sheet->plot.y.low)
            sheet->spots[n++] = edge_spot(sheet, x, bucket->low);
    }
    ifm_plot_dots(&sheet->plot, "dots beyond", sheet->spots, n);
    sheet->any_beyond |= n > 0;
}

static void add_outliers(struct timeline_sheet *sheet, const struct ifm_picture_arm *arm)
{
    size_t n = 0;
    for (size_t k = 0; k < arm->n_outliers; k++)
        if (!is_beyond(sheet, arm->outliers[k].step_ns))
            sheet->spots[n++] = (struct ifm_spot){ifm_plot_x(&sheet->plot, seconds(sheet, arm->outliers[k].start_ns)),
                                                  level_of(sheet, arm->outliers[k].step_ns)};
    ifm_plot_dots(&sheet->plot, "dots outlier", sheet->spots, n);
    sheet->any_outliers |= n > 0;
}

static void add_changes(struct timeline_sheet *sheet, const struct ifm_picture_arm *arm)
{
    double last = -1;
    for (size_t k = 0; k < arm->n_changes; k++) {
        double x = ifm_plot_x(&sheet->plot, seconds(sheet, arm->changes[k]));
        if (x - last < 1)
            continue;
        ifm_plot_line(&sheet->plot, "change", x, sheet->plot.top, x, sheet->plot.bottom);
        sheet->any_changes = true;
        last = x;
    }
}

static void add_trend(struct timeline_sheet *sheet, const struct ifm_strip *strip)
{
    const struct ifm_picture_arm *arm = strip->picture;
    if (arm->n_buckets == arm->n_warmup_buckets || !(arm->drift_start > 0) || visible_drift(sheet, strip) == NULL)
        return;
    const struct ifm_picture_bucket *first = &arm->buckets[arm->n_warmup_buckets];
    const struct ifm_picture_bucket *last = &arm->buckets[arm->n_buckets - 1];
    ifm_plot_line(&sheet->plot, "trend", ifm_plot_x(&sheet->plot, seconds(sheet, first->start_ns)),
                  level_of(sheet, arm->drift_start), ifm_plot_x(&sheet->plot, seconds(sheet, last->end_ns)),
                  level_of(sheet, arm->drift_end));
    sheet->any_trends = true;
}

static const char *head_note(const struct timeline_sheet *sheet, const struct ifm_strip *strip)
{
    const struct ifm_value *drift = visible_drift(sheet, strip);
    const char *log = sheet->plot.y.scale == IFM_SCALE_LOG ? ", logarithmic" : "";
    if (drift == NULL)
        return ifm_arena_printf(sheet->doc->arena, "%zu samples%s", strip->picture->n_samples, log);
    return ifm_arena_printf(sheet->doc->arena, "%zu samples%s, drift %s%s", strip->picture->n_samples, log,
                            drift->number > 0 ? "+" : "", ifm_quantity_number(drift, sheet->doc->arena));
}

/* Gives the height that the strip took. */
static double add_strip(struct timeline_sheet *sheet, const struct ifm_strip *strip, double y)
{
    struct ifm_plot *plot = &sheet->plot;
    if (!is_drawn(strip)) {
        const char *why = strip->picture->withheld[0] != '\0' ? strip->picture->withheld : "no sample was recorded";
        ifm_strip_head(plot, strip, y + 14, "withheld");
        return IFM_STRIP_HEAD + ifm_strip_words(plot, y + IFM_STRIP_HEAD, why, sheet->doc->arena) + GAP;
    }
    plot->top = y + IFM_STRIP_HEAD;
    plot->bottom = plot->top + AREA;
    scale_strip(sheet, strip->picture);
    ifm_strip_head(plot, strip, y + 14, head_note(sheet, strip));
    ifm_strip_y_ticks(plot, 5);
    const struct ifm_picture_arm *arm = strip->picture;
    ifm_plot_group(plot, strip->series);
    add_phase(sheet, arm->buckets, arm->n_warmup_buckets);
    add_phase(sheet, arm->buckets + arm->n_warmup_buckets, arm->n_buckets - arm->n_warmup_buckets);
    ifm_plot_group_close(plot);
    add_changes(sheet, arm);
    add_trend(sheet, strip);
    add_outliers(sheet, arm);
    add_beyond(sheet, arm);
    return IFM_STRIP_HEAD + AREA + GAP;
}

static double height_of(const struct timeline_sheet *sheet, const struct ifm_strip *strip)
{
    if (is_drawn(strip))
        return IFM_STRIP_HEAD + AREA + GAP;
    const char *why = strip->picture->withheld[0] != '\0' ? strip->picture->withheld : "no sample was recorded";
    return IFM_STRIP_HEAD + ifm_strip_words(NULL, 0, why, sheet->doc->arena) + GAP;
}

/* ---- the whole drawing ---- */

static void shade(struct timeline_sheet *sheet, const char *class, int64_t from_ns, int64_t to_ns, double bottom,
                  const char *tip)
{
    double x1 = ifm_plot_x(&sheet->plot, seconds(sheet, from_ns)), x2 = ifm_plot_x(&sheet->plot, seconds(sheet, to_ns));
    ifm_plot_rect(&sheet->plot, class, x1, TOP, fmax(x2 - x1, 0.5), bottom - TOP, tip);
}

/* Marked blocks that meet, or nearly so, are one field: its tip tells the first and how many. */
static void shade_blocks(struct timeline_sheet *sheet, double bottom)
{
    const struct ifm_picture *picture = sheet->picture;
    double near = 2.0 * (double)(picture->end_ns - picture->start_ns) / (IFM_STRIP_RIGHT - IFM_STRIP_LEFT);
    for (size_t b = 0; b < picture->n_blocks; b++) {
        const struct ifm_picture_block *first = &picture->blocks[b];
        if (!first->marked)
            continue;
        size_t n = 1;
        int64_t end = first->end_ns;
        for (; b + 1 < picture->n_blocks; b++) {
            const struct ifm_picture_block *next = &picture->blocks[b + 1];
            if (!next->marked || (double)(next->start_ns - end) > near)
                break;
            end = next->end_ns;
            n++;
        }
        const char *more = n > 1 ? ifm_arena_printf(sheet->doc->arena, ", and %zu blocks behind it", n - 1) : "";
        shade(sheet, "disturbed", first->start_ns, end, bottom,
              ifm_arena_printf(sheet->doc->arena, "block %u: %s%s", (unsigned)first->block, first->cause, more));
    }
}

static bool has_marked(const struct ifm_picture *picture)
{
    for (size_t b = 0; b < picture->n_blocks; b++)
        if (picture->blocks[b].marked)
            return true;
    return false;
}

static double add_legend(const struct timeline_sheet *sheet, struct ifm_plot *plot, double y)
{
    const struct ifm_strip_key keys[] = {
        {sheet->picture->n_warmups > 0 ? 'r' : 0, "warm", "warm-up"},
        {has_marked(sheet->picture) ? 'r' : 0, "disturbed", "disturbed by the machine"},
        {sheet->any_dots ? 'd' : 0, "dots", "sample"},
        {sheet->any_bands ? 'r' : 0, "band", "least to most"},
        {sheet->any_bands ? 'l' : 0, "line thin", "median"},
        {sheet->any_outliers ? 'd' : 0, "dots outlier", "outlier"},
        {sheet->any_beyond ? 'd' : 0, "dots beyond", "beyond the axis"},
        {sheet->any_trends ? 'l' : 0, "trend", "trend"},
        {sheet->any_changes ? 'v' : 0, "change", "the level changes"},
    };
    return ifm_strip_legend(plot, y, keys, sizeof keys / sizeof keys[0]);
}

/* The marks first: only they tell what the legend names, and so how high the drawing is. */
static void draw(struct timeline_sheet *sheet, struct ifm_figure *out, const char *description)
{
    struct ifm_plot *plot = &sheet->plot;
    struct ifm_text marks = {0};
    double bottom = TOP, y = TOP;
    for (size_t i = 0; i < sheet->strips.n; i++)
        bottom += height_of(sheet, &sheet->strips.item[i]);
    bottom -= is_drawn(&sheet->strips.item[sheet->strips.n - 1]) ? GAP : 0; /* its own axis is that of all */
    struct ifm_plot whole = {.out = &marks,
                             .arena = sheet->doc->arena,
                             .width = IFM_STRIP_WIDTH,
                             .left = IFM_STRIP_LEFT,
                             .right = IFM_STRIP_RIGHT,
                             .top = TOP,
                             .bottom = bottom,
                             .x = {.unit = "s", .title = "since the first sample"},
                             .y = {.hidden = true}};
    whole.x.high = fmax(seconds(sheet, sheet->picture->end_ns), 1e-9);
    *plot = whole;
    for (size_t i = 0; i < sheet->picture->n_warmups; i++)
        shade(sheet, "warm", sheet->picture->warmups[i].start_ns, sheet->picture->warmups[i].end_ns, bottom, NULL);
    shade_blocks(sheet, bottom);
    ifm_strip_x_ticks(plot, 6);
    for (size_t i = 0; i < sheet->strips.n; i++)
        y += add_strip(sheet, &sheet->strips.item[i], y);
    whole.height = bottom + AXIS + add_legend(sheet, plot, bottom + AXIS);
    whole.out = &out->svg;
    ifm_plot_open(&whole, ifm_arena_printf(plot->arena, "%s: samples over time", sheet->cell->name), description);
    ifm_text_append(&out->svg, marks.data, marks.size);
    ifm_plot_close(&whole);
    ifm_text_free(&marks);
}

/* ---- what to see ---- */

static void tell_blocks(const struct timeline_sheet *sheet, struct ifm_text *text)
{
    const struct ifm_picture *picture = sheet->picture;
    const struct ifm_picture_block *first = NULL;
    size_t marked = 0;
    for (size_t b = 0; b < picture->n_blocks; b++) {
        marked += picture->blocks[b].marked;
        first = first == NULL && picture->blocks[b].marked ? &picture->blocks[b] : first;
    }
    if (marked > 0)
        ifm_strip_add(text, "%zu of %zu blocks %s disturbed by the machine (block %u: %s).", marked, picture->n_blocks,
                      marked == 1 ? "is" : "are", (unsigned)first->block, first->cause);
}

static void tell_withheld(const struct timeline_sheet *sheet, struct ifm_text *text)
{
    for (size_t i = 0; i < sheet->strips.n; i++)
        if (sheet->strips.item[i].picture->withheld[0] != '\0')
            ifm_strip_add(text, "%s is withheld: %s.", sheet->strips.item[i].arm->name,
                          sheet->strips.item[i].picture->withheld);
}

/* Arms whose level changes: those that reach no steady state, then the others; where, of the first of each. */
static void tell_changes(const struct timeline_sheet *sheet, bool steady, struct ifm_text *text)
{
    static const char none[] = "no steady state: ";
    struct ifm_text names = {0};
    const char *where = "", *first = "";
    size_t n = 0;
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const struct ifm_strip *strip = &sheet->strips.item[i];
        const struct ifm_value *changes =
            ifm_chart_shown(sheet->doc, sheet->cell, strip->arm->name, IFM_M_CHANGE_POINTS);
        bool is_steady = changes != NULL && strncmp(changes->text, none, strlen(none)) != 0;
        if (changes == NULL || !(changes->number > 0) || is_steady != steady)
            continue;
        if (n == 0) {
            where = changes->text + (steady ? 0 : strlen(none));
            first = strip->arm->name;
        }
        ifm_text_printf(&names, "%s%s", n++ > 0 ? ", " : "", strip->arm->name);
    }
    if (n > 0 && steady)
        ifm_strip_add(text, "The level changes of %s (%s: %s).", names.data, first, where);
    else if (n > 0)
        ifm_strip_add(text, "No steady state: the level of %s still changes at the end (%s: %s).", names.data, first,
                      where);
    ifm_text_free(&names);
}

static void tell_drift(const struct timeline_sheet *sheet, struct ifm_text *text)
{
    const struct ifm_strip *worst = NULL;
    const struct ifm_value *most = NULL;
    size_t n = 0;
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const struct ifm_value *drift = visible_drift(sheet, &sheet->strips.item[i]);
        n += drift != NULL;
        if (drift == NULL || (most != NULL && fabs(drift->number) <= fabs(most->number)))
            continue;
        most = drift;
        worst = &sheet->strips.item[i];
    }
    if (most == NULL)
        return;
    ifm_strip_add(
        text, "%s drifts by %s%s %s over the pass%s", worst->arm->name, most->number > 0 ? "+" : "",
        ifm_quantity_number(most, sheet->doc->arena), ifm_quantity_range(most, sheet->doc->arena),
        n > 1 ? ifm_arena_printf(sheet->doc->arena, ", and %zu other arm%s less.", n - 1, n > 2 ? "s drift" : " drifts")
              : ".");
}

/* What derive says of the cell as a whole about its time axis. */
static void tell_finding(const struct timeline_sheet *sheet, struct ifm_text *text)
{
    const struct ifm_derived *derived = sheet->doc->derived;
    for (size_t i = 0; i < derived->n_findings; i++) {
        const struct ifm_finding *finding = &derived->findings[i];
        if (finding->severity == IFM_SEVERITY_NOTE || strcmp(finding->rule, "rule-07") != 0 ||
            strcmp(finding->cell, sheet->cell->name) != 0)
            continue;
        ifm_strip_add(text, "%s%s%s.", finding->arm, finding->arm[0] != '\0' ? ": " : "", finding->text);
        return;
    }
}

/* The metric that keeps an arm from being called quiet; NULL when each is there and says that nothing happened. */
static const struct ifm_value *unknown_of(const struct timeline_sheet *sheet, const struct ifm_strip *strip)
{
    static const enum ifm_metric_id metrics[] = {IFM_M_BLOCKS_MARKED, IFM_M_DRIFT_PERCENT, IFM_M_CHANGE_POINTS};
    for (size_t m = 0; m < sizeof metrics / sizeof metrics[0]; m++) {
        const struct ifm_value *value = ifm_chart_value(sheet->doc, sheet->cell, strip->arm->name, metrics[m]);
        if (value == NULL || value->state != IFM_STATE_OK)
            return value;
    }
    return NULL;
}

static void tell_quiet(const struct timeline_sheet *sheet, struct ifm_text *text)
{
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const struct ifm_strip *strip = &sheet->strips.item[i];
        const struct ifm_value *unknown = unknown_of(sheet, strip);
        if (unknown == NULL && ifm_chart_value(sheet->doc, sheet->cell, strip->arm->name, IFM_M_CHANGE_POINTS) != NULL)
            continue;
        ifm_strip_add(text, "Nothing unusual shows, but not all is known of %s%s%s.", strip->arm->name,
                      unknown != NULL ? ": " : "", unknown != NULL ? unknown->reason : "");
        return;
    }
    ifm_strip_add(text, "Nothing unusual: no block is disturbed, no arm drifts, and no level changes.");
}

static const char *sentence_of(const struct timeline_sheet *sheet)
{
    struct ifm_text text = {0};
    tell_blocks(sheet, &text);
    tell_withheld(sheet, &text);
    tell_changes(sheet, false, &text);
    tell_drift(sheet, &text);
    tell_changes(sheet, true, &text);
    if (text.size == 0)
        tell_finding(sheet, &text);
    if (text.size == 0)
        tell_quiet(sheet, &text);
    if (sheet->strips.left_out > 0)
        ifm_strip_add(&text, "%zu more arms of this cell are not drawn.", sheet->strips.left_out);
    const char *sentence = ifm_arena_strdup(sheet->doc->arena, text.data);
    ifm_text_free(&text);
    return sentence;
}

/* ---- the numbers ---- */

static void tell_beyond(const struct timeline_sheet *sheet, const struct ifm_picture_arm *arm, struct ifm_text *remarks)
{
    double least = INFINITY, most = 0;
    for (size_t k = arm->n_warmup_buckets; k < arm->n_buckets; k++) {
        least = fmin(least, arm->buckets[k].low);
        most = fmax(most, arm->buckets[k].high);
    }
    if (arm->above > 0)
        ifm_strip_add(remarks, "%zu far above the others, up to %s.", arm->above, time_text(sheet, most));
    if (arm->below > 0)
        ifm_strip_add(remarks, "%zu far below, down to %s.", arm->below, time_text(sheet, least));
}

static void add_arm_row(const struct timeline_sheet *sheet, const struct ifm_strip *strip, struct ifm_grid *grid)
{
    static const enum ifm_metric_id metrics[] = {IFM_M_SAMPLES_COUNT, IFM_M_WARMUP_SAMPLES, IFM_M_OUTLIERS_COUNT,
                                                 IFM_M_DRIFT_PERCENT, IFM_M_CHANGE_POINTS,  IFM_M_BLOCKS_MARKED};
    enum { N = sizeof metrics / sizeof metrics[0] };
    struct ifm_text remarks = {0};
    struct ifm_field *row = ifm_chart_row(grid, strip->arm->name);
    for (size_t m = 0; m < N; m++) {
        const struct ifm_value *value = ifm_chart_value(sheet->doc, sheet->cell, strip->arm->name, metrics[m]);
        row[m + 1] = ifm_strip_field(sheet->doc, value, &remarks);
        if (value != NULL && value->state == IFM_STATE_OK && m == 4 && value->text[0] != '\0')
            ifm_strip_add(&remarks, "Level: %s.", value->text);
    }
    if (is_drawn(strip))
        tell_beyond(sheet, strip->picture, &remarks);
    row[N + 1].text = remarks.size > 0 ? ifm_arena_strdup(sheet->doc->arena, remarks.data) : "";
    ifm_text_free(&remarks);
}

static const char *span_text(const struct timeline_sheet *sheet, int64_t from_ns, int64_t to_ns)
{
    return ifm_arena_printf(sheet->doc->arena, "from %s to %s",
                            ifm_quantity_bare(seconds(sheet, from_ns), "s", sheet->doc->arena),
                            ifm_quantity_bare(seconds(sheet, to_ns), "s", sheet->doc->arena));
}

/* The blocks that the machine disturbed, with their causes; those that follow each other stand in one row. */
static void add_block_rows(const struct timeline_sheet *sheet, struct ifm_grid *grid)
{
    const struct ifm_picture *picture = sheet->picture;
    struct ifm_arena *arena = sheet->doc->arena;
    size_t listed = 0, more = 0, last = grid->n_columns - 1;
    for (size_t b = 0, next; b < picture->n_blocks; b = next) {
        const struct ifm_picture_block *first = &picture->blocks[b];
        for (next = b + 1; first->marked && next < picture->n_blocks && picture->blocks[next].marked;)
            next++;
        size_t n = next - b;
        const struct ifm_picture_block *end = &picture->blocks[next - 1];
        if (!first->marked)
            continue;
        if (listed++ >= MOST_BLOCK_ROWS) {
            more += n;
            continue;
        }
        const char *name =
            n == 1 ? ifm_arena_printf(arena, "block %u", (unsigned)first->block)
                   : ifm_arena_printf(arena, "blocks %u to %u", (unsigned)first->block, (unsigned)end->block);
        ifm_chart_row(grid, name)[last].text =
            ifm_arena_printf(arena, "%s: %s%s.", span_text(sheet, first->start_ns, end->end_ns),
                             n == 1 ? "" : "the first by ", first->cause);
    }
    if (more > 0)
        ifm_chart_row(grid, ifm_arena_printf(arena, "%zu more disturbed blocks", more));
}

static struct ifm_grid numbers_of(const struct timeline_sheet *sheet)
{
    static const struct ifm_heading headings[] = {
        {"arm, block", IFM_M_NONE, true, 0},          {"samples", IFM_M_SAMPLES_COUNT, false, 0},
        {"warm-up", IFM_M_WARMUP_SAMPLES, false, 0},  {"outliers", IFM_M_OUTLIERS_COUNT, false, 0},
        {"drift", IFM_M_DRIFT_PERCENT, false, 0},     {"changes", IFM_M_CHANGE_POINTS, false, 0},
        {"disturbed", IFM_M_BLOCKS_MARKED, false, 0}, {"remarks", IFM_M_NONE, true, 0}};
    struct ifm_grid grid = ifm_chart_grid(sheet->doc, headings, sizeof headings / sizeof headings[0],
                                          sheet->strips.n + MOST_BLOCK_ROWS + 1);
    for (size_t i = 0; i < sheet->strips.n; i++)
        add_arm_row(sheet, &sheet->strips.item[i], &grid);
    add_block_rows(sheet, &grid);
    return grid;
}

bool ifm_figure_timeline(const struct ifm_document *doc, const struct ifm_cell *cell, const struct ifm_picture *picture,
                         struct ifm_figure *out)
{
    struct timeline_sheet sheet = {.doc = doc, .cell = cell, .picture = picture};
    if (!ifm_strips_choose(doc, cell, picture, &sheet.strips))
        return false;
    sheet.spots = IFM_ARENA_ARRAY(doc->arena, struct ifm_spot, 2 * (IFM_PICTURE_BUCKETS + IFM_PICTURE_OUTLIERS));
    out->id = ifm_chart_id(doc, cell, "timeline");
    out->title = "Samples over time";
    out->sentence = sentence_of(&sheet);
    out->numbers = numbers_of(&sheet);
    draw(&sheet, out, out->sentence);
    return true;
}
