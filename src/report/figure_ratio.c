/* Speed against the baseline: an estimate with its interval for each arm, the ratio of each block, and the margin.
 *
 * Draws what derive and the picture give, and computes no number. An arm whose speed is withheld is not drawn; the
 * table names it with the reason. */
#include "document/quantity.h"
#include "report/chart.h"
#include <math.h>
#include <string.h>

enum { ROW = 40, BLOCKS = 12, NAME_AT = 13, BAR_AT = 28, DOTS_AT = 39, TOLD = 3 };

struct row {
    const struct ifm_arm *arm;
    const struct ifm_value *speed; /* any state */
    bool able;                     /* it has a ratio that may be shown */
    const char *word;              /* "faster"; "" when derive decided nothing */
    const struct ifm_value *bytes; /* of a compressed arm, else NULL */
    const struct ifm_picture_arm *picture;
};

struct ratio {
    const struct ifm_chart *chart;
    struct row *rows;
    size_t n_rows, n_able; /* compared; of these with a number */
    const struct row *drawn[IFM_CHART_MOST];
    size_t n_drawn;
    const char *baseline, *margin;
    const struct ifm_gate *gate; /* the first on a comparison of this cell; NULL = none */
    double low, high;            /* of the axis */
    double height;               /* of a row */
};

/* What derive may decide, the class of its word, and how a sentence goes on. */
static const struct decision {
    const char *word, *class, *phrase;
} decisions[] = {{"faster", "halo good", ", beyond"},
                 {"slower", "halo bad", ", beyond"},
                 {"equivalent", "halo", ", equivalent within"},
                 {"undecided", "halo warn", ", undecided at"}};
enum { DECISIONS = sizeof decisions / sizeof decisions[0] };

/* NULL when nothing was decided. */
static const struct decision *decision_of(const struct row *row)
{
    for (size_t i = 0; i < DECISIONS; i++)
        if (strcmp(row->word, decisions[i].word) == 0)
            return &decisions[i];
    return NULL;
}

static bool is_open(const struct row *row)
{
    return strcmp(row->word, "undecided") == 0;
}

static void collect(struct ratio *r)
{
    const struct ifm_chart *chart = r->chart;
    const struct ifm_cell *cell = chart->cell;
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    r->baseline = baseline != NULL ? baseline->name : "the baseline";
    r->rows = IFM_ARENA_ARRAY(chart->arena, struct row, cell->n_arms + 1);
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_arm *arm = &cell->arms[a];
        const struct ifm_value *speed = ifm_chart_value(chart, arm->name, IFM_M_SPEEDUP);
        if (speed == NULL || !ifm_document_is_row(chart->doc->derived, cell, arm))
            continue;
        const struct ifm_value *change = ifm_chart_shown(chart, arm->name, IFM_M_CHANGE_PERCENT);
        const struct ifm_value *bytes = ifm_chart_shown(chart, arm->name, IFM_M_BYTES_RATIO);
        bool able = ifm_chart_is_positive(ifm_chart_shown(chart, arm->name, IFM_M_SPEEDUP));
        r->n_able += able;
        if (able && r->n_drawn < IFM_CHART_MOST)
            r->drawn[r->n_drawn++] = &r->rows[r->n_rows];
        r->rows[r->n_rows++] = (struct row){.arm = arm,
                                            .speed = speed,
                                            .able = able,
                                            .word = able && change != NULL && change->text != NULL ? change->text : "",
                                            .bytes = ifm_chart_is_positive(bytes) && bytes->number != 1 ? bytes : NULL,
                                            .picture = ifm_chart_picture(chart, arm)};
    }
}

/* A gate's threshold as a speed; 0 = there is none. */
static double limit_of(const struct ratio *r)
{
    const struct ifm_gate *gate = r->gate;
    if (gate == NULL)
        return 0;
    return ifm_metric_of(gate->metric) == IFM_M_SPEEDUP ? gate->threshold : 1 / (1 + gate->threshold / 100);
}

static const struct ifm_gate *gate_of(const struct ifm_chart *chart)
{
    const struct ifm_plan *plan = chart->doc->plan;
    for (size_t g = 0; g < plan->n_gates; g++) {
        const struct ifm_gate *gate = &plan->gates[g];
        const enum ifm_metric_id metric = ifm_metric_of(gate->metric);
        const bool speed = metric == IFM_M_SPEEDUP && gate->threshold > 0;
        const bool change = metric == IFM_M_CHANGE_PERCENT && gate->threshold > -100;
        if ((speed || change) && (gate->cell[0] == '\0' || strcmp(gate->cell, chart->cell->name) == 0))
            return gate;
    }
    return NULL;
}

static void hold(struct ratio *r, double value)
{
    if (!(value > 0) || !ifm_chart_is_drawable(value))
        return;
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
}

/* The axis holds every estimate, every block and the bytes. Intervals that are far wider are cut at its ends, or a
 * noisy arm would press all others together. */
static void fit(struct ratio *r)
{
    r->low = r->high = 1;
    for (size_t i = 0; i < r->n_drawn; i++) {
        const struct row *row = r->drawn[i];
        hold(r, row->speed->number);
        if (row->bytes != NULL)
            hold(r, row->bytes->number);
        for (size_t k = 0; row->picture != NULL && k < row->picture->n_ratios; k++)
            hold(r, row->picture->ratios[k]);
    }
    const struct ifm_value *speeds[IFM_CHART_MOST];
    for (size_t i = 0; i < r->n_drawn; i++)
        speeds[i] = r->drawn[i]->speed;
    double reach = exp(ifm_chart_reach(speeds, r->n_drawn, r->low, r->high));
    double low = r->low / reach, high = r->high * reach;
    for (size_t i = 0; i < r->n_drawn; i++)
        if (ifm_chart_has_interval(r->drawn[i]->speed)) {
            hold(r, fmax(r->drawn[i]->speed->low, low));
            hold(r, fmin(r->drawn[i]->speed->high, high));
        }
    double margin = 1 + 4 * r->chart->cell->measure.margin; /* the band is seen, however near all arms are */
    hold(r, margin);
    hold(r, 1 / margin);
    hold(r, limit_of(r));
    double air = pow(r->high / r->low, 0.04);
    r->low = fmax(r->low / air, 1e-300);
    r->high = fmin(r->high * air, 1e300);
}

/* ---- drawing ---- */

/* "moves 3.71x fewer bytes"; what they would gain is not known where something else than memory limits the arms. */
static const char *bytes_words(const struct ratio *r, const struct ifm_value *bytes)
{
    return ifm_arena_printf(r->chart->arena, "moves %s bytes",
                            ifm_quantity_bytes_words(IFM_M_BYTES_RATIO, bytes->number, r->chart->arena));
}

static const char *tip_of(const struct ratio *r, const struct row *row)
{
    struct ifm_arena *arena = r->chart->arena;
    const char *text = ifm_arena_printf(arena, "%s: %s the speed of %s", row->arm->name,
                                        ifm_chart_ratio(r->chart, row->speed), r->baseline);
    if (ifm_chart_has_interval(row->speed))
        text = ifm_arena_printf(arena, "%s, %.3g %% interval %s", text, 100 * row->speed->level,
                                ifm_quantity_range(row->speed, arena));
    return text;
}

/* Of how many blocks one has a dot: a page does not grow with the time that was measured. */
static size_t stride_of(const struct ratio *r)
{
    enum { MOST_DOTS = 120 };
    size_t most = 0;
    for (size_t i = 0; i < r->n_drawn; i++)
        if (r->drawn[i]->picture != NULL && r->drawn[i]->picture->n_ratios > most)
            most = r->drawn[i]->picture->n_ratios;
    return most == 0 ? 1 : 1 + (most - 1) / MOST_DOTS;
}

/* A block's own ratio, in three lanes so that near ones can be told apart. */
static void add_blocks(struct ratio *r, struct ifm_plot *plot, const struct row *row, double y)
{
    enum { LANES = 3, LANE = 3 };
    const struct ifm_picture_arm *picture = row->picture;
    if (picture == NULL || picture->n_ratios == 0)
        return;
    struct ifm_spot *spots = IFM_ARENA_ARRAY(r->chart->arena, struct ifm_spot, picture->n_ratios);
    const size_t stride = stride_of(r);
    size_t n = 0;
    for (size_t k = 0; k < picture->n_ratios; k += stride)
        if (picture->ratios[k] > 0 && ifm_chart_is_drawable(picture->ratios[k])) {
            const double lane = y + LANE * (double)(n % LANES);
            spots[n++] = (struct ifm_spot){ifm_plot_x(plot, picture->ratios[k]), lane};
        }
    ifm_plot_dots(plot, "dots faint", spots, n);
}

static void add_row(struct ratio *r, struct ifm_plot *plot, const struct row *row, double top)
{
    const struct ifm_chart *chart = r->chart;
    const struct decision *decision = decision_of(row);
    const char *said = ifm_arena_printf(chart->arena, "%s%s%s", row->word, row->word[0] == '\0' ? "" : " ",
                                        ifm_chart_ratio(chart, row->speed));
    double room = IFM_CHART_WIDTH - ifm_plot_text_width(said, IFM_CHART_FONT) - 12, at = top + BAR_AT;
    ifm_plot_text(plot, 0, top + NAME_AT, "start", "halo", ifm_chart_clip(chart, row->arm->name, IFM_CHART_FONT, room));
    ifm_plot_text(plot, IFM_CHART_WIDTH, top + NAME_AT, "end", decision != NULL ? decision->class : "halo", said);
    ifm_plot_group(plot, ifm_chart_series(chart, row->arm));
    add_blocks(r, plot, row, top + DOTS_AT);
    if (row->bytes != NULL) {
        double x = ifm_plot_x(plot, row->bytes->number);
        const char *tip = ifm_arena_printf(chart->arena, "%s: %s", row->arm->name, bytes_words(r, row->bytes));
        ifm_plot_path(plot, "hollow", (struct ifm_spot[]){{x - 5, at - 9}, {x + 5, at - 9}, {x, at - 1}}, 3, true, tip);
    }
    if (ifm_chart_has_interval(row->speed))
        ifm_plot_interval(plot, row->speed->low, row->speed->high, at);
    ifm_plot_dot(plot, is_open(row) ? "undecided" : "fill", ifm_plot_x(plot, row->speed->number), at, 4.5,
                 tip_of(r, row));
    ifm_plot_group_close(plot);
}

/* "98.3 % interval"; without the level where it is not one. */
static const char *interval_words(const struct ratio *r)
{
    double level = 0;
    for (size_t i = 0; i < r->n_drawn; i++) {
        const struct ifm_value *speed = r->drawn[i]->speed;
        if (!ifm_chart_has_interval(speed))
            continue;
        if (level != 0 && level != speed->level)
            return "bar: interval";
        level = speed->level;
    }
    return level == 0 ? NULL : ifm_arena_printf(r->chart->arena, "bar: %.3g %% interval", 100 * level);
}

static void draw(struct ratio *r, struct ifm_figure *out)
{
    const struct ifm_chart *chart = r->chart;
    double margin = r->chart->cell->measure.margin, bottom;
    bool blocks = false, bytes = false, open = false;
    for (size_t i = 0; i < r->n_drawn; i++) {
        blocks |= r->drawn[i]->picture != NULL && r->drawn[i]->picture->n_ratios > 0;
        bytes |= r->drawn[i]->bytes != NULL;
        open |= is_open(r->drawn[i]);
    }
    r->height = blocks ? ROW + BLOCKS : ROW;
    bottom = r->height * (double)r->n_drawn;
    const size_t stride = stride_of(r);
    const char *dots =
        stride == 1 ? "dots: each block" : ifm_arena_printf(chart->arena, "dots: one block in %zu", stride);
    const char *legend[] = {
        interval_words(r),
        open ? "open dot: undecided" : NULL,
        blocks ? dots : NULL,
        bytes ? "triangle: how many times fewer bytes" : NULL,
        margin > 0 ? ifm_arena_printf(chart->arena, "band: equal within ±%s", r->margin) : NULL,
        r->gate == NULL ? NULL : ifm_arena_printf(chart->arena, "dashed: gate %s", ifm_judge_gate_name(r->gate))};
    size_t n = sizeof legend / sizeof legend[0], lines = ifm_chart_legend(chart, NULL, 0, legend, n);
    struct ifm_plot plot = ifm_chart_plot(chart, out, 8, IFM_CHART_WIDTH - 8, 0, bottom);
    plot.x = (struct ifm_plot_axis){IFM_SCALE_LOG, r->low, r->high, "x", "", false};
    plot.y = (struct ifm_plot_axis){.hidden = true};
    plot.height = bottom + 26 + 16 * (double)lines;
    ifm_chart_open(chart, &plot, out->title, "");
    ifm_plot_axes(&plot);
    double from = ifm_plot_x(&plot, 1 / (1 + margin)), to = ifm_plot_x(&plot, 1 + margin);
    if (margin > 0)
        ifm_plot_rect(&plot, "margin", from, 0, to - from, bottom,
                      ifm_arena_printf(chart->arena, "equal within ±%s", r->margin));
    ifm_plot_line(&plot, "axis", ifm_plot_x(&plot, 1), 0, ifm_plot_x(&plot, 1), bottom);
    if (r->gate != NULL)
        ifm_plot_line(&plot, "q95", ifm_plot_x(&plot, limit_of(r)), 0, ifm_plot_x(&plot, limit_of(r)), bottom);
    for (size_t i = 0; i < r->n_drawn; i++)
        add_row(r, &plot, r->drawn[i], r->height * (double)i);
    ifm_chart_legend(chart, &plot, bottom + 38, legend, n);
    ifm_plot_close(&plot);
}

/* ---- words ---- */

static const char *scatter_of(const struct ratio *r, const struct row *row)
{
    const struct ifm_picture_arm *picture = row->picture;
    if (picture == NULL || picture->n_ratios < 2)
        return "";
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < picture->n_ratios; k++) {
        low = fmin(low, picture->ratios[k]);
        high = fmax(high, picture->ratios[k]);
    }
    if (!(low > 0) || !isfinite(high))
        return "";
    return ifm_arena_printf(r->chart->arena, "; its %zu blocks scatter between %s and %s", picture->n_ratios,
                            ifm_quantity_ratio(low, r->chart->arena), ifm_quantity_ratio(high, r->chart->arena));
}

/* "int4 is 2.15x faster than f16 [1.17, 3.94], beyond the margin of ±0.3 %; its blocks scatter between 1.9x and 2.4x.
 * It moves 3.71x fewer bytes." */
static const char *sentence_of(const struct ratio *r, const struct row *row)
{
    struct ifm_arena *arena = r->chart->arena;
    const struct decision *decision = decision_of(row);
    bool faster = decision == &decisions[0];
    const char *range = "", *verdict = "";
    if (ifm_chart_has_interval(row->speed))
        range = ifm_arena_printf(arena, " %s", ifm_quantity_range(row->speed, arena));
    if (decision != NULL)
        verdict = ifm_arena_printf(arena, "%s the margin of ±%s", decision->phrase, r->margin);
    const char *text = ifm_arena_printf(
        arena, "%s %s %s%s %s%s%s%s.", row->arm->name, faster ? "is" : "has", ifm_chart_ratio(r->chart, row->speed),
        faster ? " faster than" : " the speed of", r->baseline, range, verdict, scatter_of(r, row));
    if (row->bytes != NULL)
        text = ifm_chart_say(r->chart, text, "It %s.", bytes_words(r, row->bytes));
    if (!ifm_is_empty(row->speed->text))
        text = ifm_chart_say(r->chart, text, "Beside it stands: %s.", row->speed->text);
    return text;
}

/* Of many arms: how many of each word, and the fastest. */
static const char *summary_of(const struct ratio *r)
{
    const struct ifm_chart *chart = r->chart;
    size_t n[DECISIONS] = {0}, n_beside = 0;
    const char *words = "";
    const struct row *best = NULL;
    for (size_t i = 0; i < r->n_rows; i++) {
        const struct row *row = &r->rows[i];
        const struct decision *decision = decision_of(row);
        if (decision != NULL)
            n[decision - decisions]++;
        if (row->able && (best == NULL || row->speed->number > best->speed->number))
            best = row;
    }
    for (size_t w = 0; w < DECISIONS; w++)
        if (n[w] > 0)
            words = ifm_chart_list(chart, words, ifm_arena_printf(chart->arena, "%zu %s", n[w], decisions[w].word));
    const char *text = ifm_arena_printf(
        chart->arena, "Of %zu arms compared with %s: %s, at a margin of ±%s. The fastest: %s", r->n_able, r->baseline,
        words[0] == '\0' ? "none decided" : words, r->margin, sentence_of(r, best));
    for (size_t i = 0; i < r->n_drawn; i++) { /* rule 3 holds for each arm that is drawn */
        const struct row *row = r->drawn[i];
        if (row != best && !ifm_is_empty(row->speed->text) && n_beside++ < TOLD)
            text = ifm_chart_say(chart, text, "Beside %s stands: %s.", row->arm->name, row->speed->text);
    }
    return text;
}

static const char *words_of(const struct ratio *r)
{
    const struct ifm_chart *chart = r->chart;
    const char *text = r->n_able > 1 ? summary_of(r) : sentence_of(r, r->drawn[0]), *missing = "";
    size_t n_missing = 0;
    for (size_t i = 0; i < r->n_rows; i++)
        if (!r->rows[i].able && n_missing++ < TOLD)
            missing = ifm_chart_list(chart, missing, r->rows[i].arm->name);
    if (r->n_able > r->n_drawn)
        text = ifm_chart_say(chart, text, "Drawn are the first %zu in the order of the plan; the table has all.",
                             r->n_drawn);
    if (n_missing > TOLD)
        missing = ifm_arena_printf(chart->arena, "%s and %zu more", missing, n_missing - TOLD);
    return n_missing == 0
               ? text
               : ifm_chart_say(chart, text, "Not drawn, as no ratio may be shown: %s (reasons in the table).", missing);
}

static struct ifm_grid table_of(const struct ratio *r)
{
    const struct ifm_heading headings[] = {
        {"arm", IFM_M_NONE, true, 0},           {"speed", IFM_M_SPEEDUP, false, 0},
        {"level", IFM_M_NONE, false, 0},        {"decision", IFM_M_CHANGE_PERCENT, true, 0},
        {"moves", IFM_M_BYTES_RATIO, false, 0}, {"blocks", IFM_M_NONE, false, 0}};
    struct ifm_arena *arena = r->chart->arena;
    struct ifm_grid grid = ifm_chart_grid(r->chart, headings, sizeof headings / sizeof headings[0], r->n_rows);
    for (size_t i = 0; i < r->n_rows; i++) {
        const struct row *row = &r->rows[i];
        struct ifm_field *fields = ifm_chart_row(&grid, row->arm->name);
        fields[1] = ifm_chart_ratio_field(r->chart, row->speed);
        if (row->speed->state == IFM_STATE_OK && ifm_chart_has_interval(row->speed))
            fields[2] = ifm_chart_text(ifm_arena_printf(arena, "%.3g %%", 100 * row->speed->level));
        fields[3] = ifm_chart_text(row->word);
        const struct ifm_value *bytes = ifm_chart_value(r->chart, row->arm->name, IFM_M_BYTES_RATIO);
        fields[4] = ifm_chart_ratio_field(r->chart, bytes);
        if (ifm_is_ok(bytes))
            fields[4].text = ifm_quantity_bytes_words(IFM_M_BYTES_RATIO, bytes->number, arena);
        if (row->speed->n > 0)
            fields[5] = ifm_chart_text(ifm_arena_printf(arena, "%lld", (long long)row->speed->n));
    }
    return grid;
}

bool ifm_figure_ratio(const struct ifm_chart *chart, struct ifm_figure *out)
{
    struct ratio r = {.chart = chart, .gate = gate_of(chart)};
    collect(&r);
    if (r.n_drawn == 0)
        return false;
    r.margin = ifm_quantity_bare(100 * chart->cell->measure.margin, "%", chart->arena);
    fit(&r);
    out->id = ifm_chart_id(chart, "ratio");
    out->title = ifm_arena_printf(chart->arena, "Speed against %s", r.baseline);
    out->sentence = words_of(&r);
    draw(&r, out);
    out->numbers = table_of(&r);
    out->derived = true;
    return true;
}
