/* Samples over time: one strip an arm on a common axis of time, each with its own axis of the time of a step.
 *
 * Few samples are dots; many are the spread of each bucket with its median. What a far outlier would squash is cut off
 * at the edges of the arm's distribution, and a mark at the strip's edge stands for it. */
#include "document/quantity.h"
#include "report/figure_strip.h"
#include <math.h>
#include <string.h>

enum { LEFT = 62, AREA = 84, EDGE = 3, MOST_BLOCK_ROWS = 8, MOST_FIELDS = 8 };

#define AIR 0.08 /* of the axis, above and below */

struct timeline_sheet {
    const struct ifm_chart *chart;
    struct ifm_strips strips;
    struct ifm_plot *plot;  /* of the strip at work */
    struct ifm_spot *spots; /* room for one strip's marks */
    bool any_marked, any_dots, any_bands, any_outliers, any_beyond, any_trends, any_changes;
};

static double seconds(const struct timeline_sheet *sheet, int64_t ns)
{
    return (double)(ns - sheet->chart->picture->start_ns) * 1e-9;
}

/* The drift, where its interval leaves zero out, and derive does not say that it is something else: a step, a burst,
 * the CPUs. */
static const struct ifm_value *visible_drift(const struct timeline_sheet *sheet, const struct ifm_strip *strip)
{
    const struct ifm_derived *derived = sheet->chart->doc->derived;
    const struct ifm_value *drift = ifm_chart_shown(sheet->chart, strip->arm->name, IFM_M_DRIFT_PERCENT);
    bool visible = drift != NULL && drift->has_interval && (drift->low > 0 || drift->high < 0);
    bool drifts = false, other = false;
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(derived, sheet->chart->cell->name, f)) != NULL;) {
        const bool own = strcmp(f->arm, strip->arm->name) == 0;
        drifts |= own && f->kind == IFM_FINDING_TIME_DRIFTS;
        other |= (own && f->kind == IFM_FINDING_TIME_CHANGES) || f->kind == IFM_FINDING_ALTERNATES;
    }
    return visible && (drifts || !other) ? drift : NULL;
}

static const char *time_text(const struct timeline_sheet *sheet, double ns)
{
    return ifm_quantity_bare(ns, "ns", sheet->chart->arena);
}

/* ---- one strip ---- */

static void scale_strip(struct timeline_sheet *sheet, const struct ifm_picture_arm *arm)
{
    struct ifm_plot_axis *y = &sheet->plot->y;
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
    ifm_strip_widen(&low, &high);
    bool is_log = ifm_strip_is_log(low, high);
    double air = is_log ? pow(high / low, AIR) : AIR * (high - low);
    *y = (struct ifm_plot_axis){.unit = "ns", .scale = is_log ? IFM_SCALE_LOG : IFM_SCALE_LINEAR};
    y->low = is_log ? low / air : low > air ? low - air : fmin(low, 0);
    y->high = is_log ? high * air : high + air;
}

static double level_of(const struct timeline_sheet *sheet, double ns)
{
    const struct ifm_plot *plot = sheet->plot;
    if (plot->y.scale == IFM_SCALE_LOG && !(ns > 0))
        return plot->bottom;
    return fmin(fmax(ifm_plot_y(plot, ns), plot->top), plot->bottom);
}

static struct ifm_spot spot_of(const struct timeline_sheet *sheet, int64_t at_ns, double ns)
{
    return (struct ifm_spot){ifm_plot_x(sheet->plot, seconds(sheet, at_ns)), level_of(sheet, ns)};
}

static bool is_beyond(const struct timeline_sheet *sheet, double ns)
{
    return ns < sheet->plot->y.low || ns > sheet->plot->y.high;
}

static struct ifm_spot edge_spot(const struct timeline_sheet *sheet, double x, double ns)
{
    return (struct ifm_spot){x, ns > sheet->plot->y.high ? sheet->plot->top + EDGE : sheet->plot->bottom - EDGE};
}

static double middle_of(const struct timeline_sheet *sheet, const struct ifm_picture_bucket *bucket)
{
    return ifm_plot_x(sheet->plot, 0.5 * (seconds(sheet, bucket->start_ns) + seconds(sheet, bucket->end_ns)));
}

static void add_dots(struct timeline_sheet *sheet, const struct ifm_picture_bucket *buckets, size_t n)
{
    size_t spots = 0;
    for (size_t k = 0; k < n; k++)
        if (!is_beyond(sheet, buckets[k].median))
            sheet->spots[spots++] =
                (struct ifm_spot){middle_of(sheet, &buckets[k]), level_of(sheet, buckets[k].median)};
    ifm_plot_dots(sheet->plot, "dots", sheet->spots, spots);
    sheet->any_dots |= spots > 0;
}

static void add_band(struct timeline_sheet *sheet, const struct ifm_picture_bucket *buckets, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double x = middle_of(sheet, &buckets[k]);
        sheet->spots[k] = (struct ifm_spot){x, level_of(sheet, buckets[k].high)};
        sheet->spots[2 * n - 1 - k] = (struct ifm_spot){x, level_of(sheet, buckets[k].low)};
    }
    ifm_plot_path(sheet->plot, "band", sheet->spots, 2 * n, true, NULL);
    for (size_t k = 0; k < n; k++)
        sheet->spots[k].y = level_of(sheet, buckets[k].median);
    ifm_plot_path(sheet->plot, "line thin", sheet->spots, n, false, NULL);
    sheet->any_bands = true;
}

/* Whether the run stopped and warmed up again between two buckets. */
static bool is_parted(const struct timeline_sheet *sheet, const struct ifm_picture_bucket *a,
                      const struct ifm_picture_bucket *b)
{
    const struct ifm_picture *picture = sheet->chart->picture;
    for (size_t i = 0; i < picture->n_warmups; i++)
        if (picture->warmups[i].start_ns >= a->end_ns && picture->warmups[i].end_ns <= b->start_ns)
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
        if (bucket->high > sheet->plot->y.high)
            sheet->spots[n++] = edge_spot(sheet, x, bucket->high);
        if (bucket->low < sheet->plot->y.low)
            sheet->spots[n++] = edge_spot(sheet, x, bucket->low);
    }
    ifm_plot_dots(sheet->plot, "dots beyond", sheet->spots, n);
    sheet->any_beyond |= n > 0;
}

static void add_outliers(struct timeline_sheet *sheet, const struct ifm_picture_arm *arm)
{
    size_t n = 0;
    for (size_t k = 0; k < arm->n_outliers; k++)
        if (!is_beyond(sheet, arm->outliers[k].step_ns))
            sheet->spots[n++] = spot_of(sheet, arm->outliers[k].start_ns, arm->outliers[k].step_ns);
    ifm_plot_dots(sheet->plot, "dots outlier", sheet->spots, n);
    sheet->any_outliers |= n > 0;
}

static void add_changes(struct timeline_sheet *sheet, const struct ifm_picture_arm *arm)
{
    double last = -1;
    for (size_t k = 0; k < arm->n_changes; k++) {
        double x = ifm_plot_x(sheet->plot, seconds(sheet, arm->changes[k]));
        if (x - last < 1)
            continue;
        ifm_plot_line(sheet->plot, "change", x, sheet->plot->top, x, sheet->plot->bottom);
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
    struct ifm_spot from = spot_of(sheet, first->start_ns, arm->drift_start);
    struct ifm_spot to = spot_of(sheet, last->end_ns, arm->drift_end);
    ifm_plot_line(sheet->plot, "trend", from.x, from.y, to.x, to.y);
    sheet->any_trends = true;
}

static const char *head_note(const struct timeline_sheet *sheet, const struct ifm_strip *strip)
{
    const struct ifm_value *drift = visible_drift(sheet, strip);
    const char *log = sheet->plot->y.scale == IFM_SCALE_LOG ? ", logarithmic" : "";
    if (drift == NULL)
        return ifm_arena_printf(sheet->chart->arena, "%zu samples%s", strip->picture->n_samples, log);
    return ifm_arena_printf(sheet->chart->arena, "%zu samples%s, drift %s%s", strip->picture->n_samples, log,
                            drift->number > 0 ? "+" : "", ifm_quantity_number(drift, sheet->chart->arena));
}

static void add_strip(struct timeline_sheet *sheet, const struct ifm_strip *strip)
{
    struct ifm_plot *plot = sheet->plot;
    const struct ifm_picture_arm *arm = strip->picture;
    scale_strip(sheet, arm);
    ifm_strip_head(plot, strip, head_note(sheet, strip));
    ifm_strip_y_ticks(plot, 5);
    ifm_plot_group(plot, strip->series);
    add_phase(sheet, arm->buckets, arm->n_warmup_buckets);
    add_phase(sheet, arm->buckets + arm->n_warmup_buckets, arm->n_buckets - arm->n_warmup_buckets);
    ifm_plot_group_close(plot);
    add_changes(sheet, arm);
    add_trend(sheet, strip);
    add_outliers(sheet, arm);
    add_beyond(sheet, arm);
}

/* ---- the whole drawing ---- */

/* Its left and its right edge. */
static struct ifm_spot field_of(const struct timeline_sheet *sheet, int64_t from_ns, int64_t to_ns)
{
    double x = ifm_plot_x(sheet->plot, seconds(sheet, from_ns));
    return (struct ifm_spot){x, fmax(ifm_plot_x(sheet->plot, seconds(sheet, to_ns)), x + 0.5)};
}

static void shade(struct timeline_sheet *sheet, const char *class, struct ifm_spot field, const char *tip)
{
    struct ifm_plot *plot = sheet->plot; /* of all strips, as none has begun */
    ifm_plot_rect(plot, class, field.x, plot->top, field.y - field.x, plot->bottom - plot->top, tip);
}

/* Marked blocks that meet, or nearly so, are one field: its tip tells the first and how many. Very many fields have no
 * tips, as large as half of the page: the sentence and the table tell. */
static void shade_blocks(struct timeline_sheet *sheet)
{
    const struct ifm_picture *picture = sheet->chart->picture;
    struct ifm_spot *fields = IFM_ARENA_ARRAY(sheet->chart->arena, struct ifm_spot, picture->n_blocks + 1);
    const char **tips = IFM_ARENA_ARRAY(sheet->chart->arena, const char *, picture->n_blocks + 1);
    size_t n_fields = 0;
    double near = 2.0 * (double)(picture->end_ns - picture->start_ns) / (IFM_STRIP_RIGHT - LEFT);
    for (size_t b = 0; b < picture->n_blocks; b++) {
        const struct ifm_picture_block *first = &picture->blocks[b];
        if (!first->marked)
            continue;
        sheet->any_marked = true;
        size_t n = 1;
        int64_t end = first->end_ns;
        for (; b + 1 < picture->n_blocks; b++) {
            const struct ifm_picture_block *next = &picture->blocks[b + 1];
            if (!next->marked || (double)(next->start_ns - end) > near)
                break;
            end = next->end_ns;
            n++;
        }
        const char *more = n == 1   ? ""
                           : n == 2 ? ", and the block behind it"
                                    : ifm_arena_printf(sheet->chart->arena, ", and %zu blocks behind it", n - 1);
        tips[n_fields] =
            ifm_arena_printf(sheet->chart->arena, "block %u: %s%s", (unsigned)first->block, first->cause, more);
        fields[n_fields++] = field_of(sheet, first->start_ns, end);
    }
    if (n_fields > MOST_FIELDS)
        ifm_plot_fields(sheet->plot, "disturbed", fields, n_fields);
    for (size_t i = 0; i < n_fields && n_fields <= MOST_FIELDS; i++)
        shade(sheet, "disturbed", fields[i], tips[i]);
}

static void draw(struct timeline_sheet *sheet, struct ifm_figure *out)
{
    const struct ifm_picture *picture = sheet->chart->picture;
    struct ifm_strips *strips = &sheet->strips;
    struct ifm_plot_axis x = {.unit = "s", .title = "since the first sample"};
    x.high = fmax(seconds(sheet, picture->end_ns), 1e-9);
    ifm_strips_begin(strips, LEFT, AREA, x);
    for (size_t i = 0; i < picture->n_warmups; i++)
        shade(sheet, "warm", field_of(sheet, picture->warmups[i].start_ns, picture->warmups[i].end_ns), NULL);
    shade_blocks(sheet);
    strips->shaded = picture->n_warmups > 0 || sheet->any_marked;
    ifm_strip_x_ticks(&strips->plot, 6);
    for (size_t i = 0; i < strips->n; i++)
        if (ifm_strips_next(strips, &strips->item[i]))
            add_strip(sheet, &strips->item[i]);
    const struct ifm_strip_key keys[] = {
        {picture->n_warmups > 0 ? 'r' : 0, "warm", "warm-up"},
        {sheet->any_marked ? 'r' : 0, "disturbed", "disturbed by the machine"},
        {sheet->any_dots ? 'd' : 0, "dots", "sample"},
        {sheet->any_bands ? 'r' : 0, "band", "least to most"},
        {sheet->any_bands ? 'l' : 0, "line thin", "median"},
        {sheet->any_outliers ? 'd' : 0, "dots outlier", "outlier"},
        {sheet->any_beyond ? 'd' : 0, "dots beyond", "beyond the axis"},
        {sheet->any_trends ? 'l' : 0, "trend", "trend"},
        {sheet->any_changes ? 'v' : 0, "change", "the level changes"},
    };
    ifm_strips_end(strips, keys, sizeof keys / sizeof keys[0], "samples over time", out);
}

/* ---- what to see ---- */

static const char *tell_blocks(const struct timeline_sheet *sheet, const char *text)
{
    const struct ifm_picture *picture = sheet->chart->picture;
    const struct ifm_picture_block *first = NULL;
    size_t marked = 0;
    for (size_t b = 0; b < picture->n_blocks; b++) {
        marked += picture->blocks[b].marked;
        first = first == NULL && picture->blocks[b].marked ? &picture->blocks[b] : first;
    }
    if (marked == 0)
        return text;
    return ifm_chart_say(sheet->chart, text, "%zu of %zu blocks %s disturbed by the machine (block %u: %s).", marked,
                         picture->n_blocks, marked == 1 ? "is" : "are", (unsigned)first->block, first->cause);
}

static const char *tell_withheld(const struct timeline_sheet *sheet, const char *text)
{
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const struct ifm_strip *strip = &sheet->strips.item[i];
        if (strip->picture->withheld[0] != '\0')
            text = ifm_chart_say(sheet->chart, text, "%s is withheld: %s.", strip->arm->name, strip->missing);
    }
    return text;
}

/* Arms whose level changes: those that reach no steady state, then the others; where, of the first of each. */
static const char *tell_changes(const struct timeline_sheet *sheet, bool steady, const char *text)
{
    static const char none[] = "no steady state: ";
    const char *where = "", *first = "", *names = "";
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const char *name = sheet->strips.item[i].arm->name;
        const struct ifm_value *changes = ifm_chart_shown(sheet->chart, name, IFM_M_CHANGE_POINTS);
        bool is_steady = changes != NULL && strncmp(changes->text, none, strlen(none)) != 0;
        if (!ifm_chart_is_positive(changes) || is_steady != steady)
            continue;
        if (names[0] == '\0') {
            const char *class = strstr(changes->text, ": "); /* its name before it says nothing of where */
            where = class == NULL ? changes->text : class + 2;
            first = name;
        }
        names = ifm_chart_list(sheet->chart, names, name);
    }
    if (names[0] == '\0')
        return text;
    if (steady)
        return ifm_chart_say(sheet->chart, text, "The level changes of %s (%s: %s).", names, first, where);
    return ifm_chart_say(sheet->chart, text, "No steady state: the level of %s still changes at the end (%s: %s).",
                         names, first, where);
}

static const char *tell_drift(const struct timeline_sheet *sheet, const char *text)
{
    const struct ifm_strip *worst = NULL;
    const struct ifm_value *most = NULL;
    struct ifm_arena *arena = sheet->chart->arena;
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
        return text;
    const char *others = ifm_arena_printf(arena, ", and %zu other arm%s less", n - 1, n > 2 ? "s drift" : " drifts");
    return ifm_chart_say(sheet->chart, text, "%s drifts by %s%s %s over the pass%s.", worst->arm->name,
                         most->number > 0 ? "+" : "", ifm_quantity_number(most, arena), ifm_quantity_range(most, arena),
                         n > 1 ? others : "");
}

/* What derive says of the cell as a whole about its time axis. */
static const char *tell_finding(const struct timeline_sheet *sheet)
{
    const struct ifm_derived *derived = sheet->chart->doc->derived;
    const struct ifm_finding *finding = NULL;
    while ((finding = ifm_derived_finding(derived, sheet->chart->cell->name, finding)) != NULL)
        if (finding->severity != IFM_SEVERITY_NOTE && strcmp(finding->rule, "rule-07") == 0)
            return ifm_arena_printf(sheet->chart->arena, "%s%s%s.", finding->arm, finding->arm[0] != '\0' ? ": " : "",
                                    finding->text);
    return "";
}

/* The metric that keeps an arm from being called quiet; NULL when each is there and says that nothing happened. */
static const struct ifm_value *unknown_of(const struct timeline_sheet *sheet, const struct ifm_strip *strip)
{
    static const enum ifm_metric_id metrics[] = {IFM_M_BLOCKS_MARKED, IFM_M_DRIFT_PERCENT, IFM_M_CHANGE_POINTS};
    for (size_t m = 0; m < sizeof metrics / sizeof metrics[0]; m++) {
        const struct ifm_value *value = ifm_chart_value(sheet->chart, strip->arm->name, metrics[m]);
        if (value == NULL || value->state != IFM_STATE_OK)
            return value;
    }
    return NULL;
}

static const char *tell_quiet(const struct timeline_sheet *sheet)
{
    for (size_t i = 0; i < sheet->strips.n; i++) {
        const struct ifm_strip *strip = &sheet->strips.item[i];
        const struct ifm_value *unknown = unknown_of(sheet, strip);
        if (unknown == NULL && ifm_chart_value(sheet->chart, strip->arm->name, IFM_M_CHANGE_POINTS) != NULL)
            continue;
        return ifm_arena_printf(sheet->chart->arena, "Nothing unusual shows, but not all is known of %s%s%s.",
                                strip->arm->name, unknown != NULL ? ": " : "", unknown != NULL ? unknown->reason : "");
    }
    return "Nothing unusual: no block is disturbed, no arm drifts, and no level changes.";
}

static const char *sentence_of(const struct timeline_sheet *sheet)
{
    const char *text = tell_withheld(sheet, tell_blocks(sheet, ""));
    text = tell_changes(sheet, true, tell_drift(sheet, tell_changes(sheet, false, text)));
    if (text[0] == '\0')
        text = tell_finding(sheet);
    if (text[0] == '\0')
        text = tell_quiet(sheet);
    if (sheet->strips.left_out > 0)
        text = ifm_chart_say(sheet->chart, text, "%zu more arms of this cell are not drawn.", sheet->strips.left_out);
    return text;
}

/* ---- the numbers ---- */

static const char *tell_beyond(const struct timeline_sheet *sheet, const struct ifm_picture_arm *arm,
                               const char *remarks)
{
    double least = INFINITY, most = 0;
    for (size_t k = arm->n_warmup_buckets; k < arm->n_buckets; k++) {
        least = fmin(least, arm->buckets[k].low);
        most = fmax(most, arm->buckets[k].high);
    }
    if (arm->above > 0)
        remarks = ifm_chart_say(sheet->chart, remarks, "%zu far above the others, up to %s.", arm->above,
                                time_text(sheet, most));
    if (arm->below > 0)
        remarks =
            ifm_chart_say(sheet->chart, remarks, "%zu far below, down to %s.", arm->below, time_text(sheet, least));
    return remarks;
}

static void add_arm_row(const struct timeline_sheet *sheet, const struct ifm_strip *strip, struct ifm_grid *grid)
{
    const char *remarks = "";
    struct ifm_field *row = ifm_strip_row(sheet->chart, grid, strip->arm->name, IFM_M_CHANGE_POINTS, "Level", &remarks);
    row[grid->n_columns - 1].text = strip->missing[0] == '\0' ? tell_beyond(sheet, strip->picture, remarks) : remarks;
}

static const char *span_text(const struct timeline_sheet *sheet, int64_t from_ns, int64_t to_ns)
{
    return ifm_arena_printf(sheet->chart->arena, "from %s to %s",
                            ifm_quantity_bare(seconds(sheet, from_ns), "s", sheet->chart->arena),
                            ifm_quantity_bare(seconds(sheet, to_ns), "s", sheet->chart->arena));
}

/* The blocks that the machine disturbed, with their causes; those that follow each other stand in one row. */
static void add_block_rows(const struct timeline_sheet *sheet, struct ifm_grid *grid)
{
    const struct ifm_picture *picture = sheet->chart->picture;
    struct ifm_arena *arena = sheet->chart->arena;
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
        ifm_chart_row(grid, ifm_arena_printf(arena, "%zu more disturbed block%s", more, more == 1 ? "" : "s"));
}

static struct ifm_grid numbers_of(const struct timeline_sheet *sheet)
{
    static const struct ifm_heading headings[] = {
        {"arm, block", IFM_M_NONE, true, 0},          {"samples", IFM_M_SAMPLES_COUNT, false, 0},
        {"warm-up", IFM_M_WARMUP_SAMPLES, false, 0},  {"outliers", IFM_M_OUTLIERS_COUNT, false, 0},
        {"drift", IFM_M_DRIFT_PERCENT, false, 0},     {"changes", IFM_M_CHANGE_POINTS, false, 0},
        {"disturbed", IFM_M_BLOCKS_MARKED, false, 0}, {"remarks", IFM_M_NONE, true, 0}};
    struct ifm_grid grid = ifm_chart_grid(sheet->chart, headings, sizeof headings / sizeof headings[0],
                                          sheet->strips.n + MOST_BLOCK_ROWS + 1);
    for (size_t i = 0; i < sheet->strips.n; i++)
        add_arm_row(sheet, &sheet->strips.item[i], &grid);
    add_block_rows(sheet, &grid);
    return grid;
}

bool ifm_figure_timeline(const struct ifm_chart *chart, struct ifm_figure *out)
{
    struct timeline_sheet sheet = {.chart = chart};
    if (!ifm_strips_choose(chart, false, &sheet.strips))
        return false;
    sheet.plot = &sheet.strips.plot;
    sheet.spots = IFM_ARENA_ARRAY(chart->arena, struct ifm_spot, 2 * (IFM_PICTURE_BUCKETS + IFM_PICTURE_OUTLIERS));
    out->id = ifm_chart_id(chart, "timeline");
    out->title = "Samples over time";
    out->sentence = sentence_of(&sheet);
    out->numbers = numbers_of(&sheet);
    draw(&sheet, out);
    return true;
}
