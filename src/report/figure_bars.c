/* Rates of the arms of a cell against the measured ceiling of their kind: bars from zero with the ceiling as a line.
 *
 * The read rate and the FLOP rate, one drawing each. Where derive holds shares of a ceiling back (rule 3), the ceiling
 * is not drawn. */
#include "document/quantity.h"
#include "report/chart.h"
#include <math.h>

enum { ROW = 44, NAME_AT = 14, BAR_AT = 21, BAR = 10, HEAD = 22, LINE = 16, TOLD = 3 };

struct kind {
    enum ifm_metric_id metric, share;
    const char *unit, *words, *rate_words, *ceiling_words;
    enum ifm_ceiling ceiling;
};
static const struct kind kinds[] = {{IFM_M_READ_BYTES_PER_S, IFM_M_CEILING_READ_PERCENT, "B/s", "Read bandwidth",
                                     "read rate", "read ceiling", IFM_CEILING_READ},
                                    {IFM_M_FLOPS_PER_S, IFM_M_CEILING_FLOPS_PERCENT, "FLOP/s", "Arithmetic",
                                     "FLOP rate", "arithmetic ceiling", IFM_CEILING_FLOPS}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

struct bar {
    const struct ifm_arm *arm;
    const struct ifm_value *rate;
};

struct bars {
    const struct ifm_chart *chart;
    const struct kind *kind;
    struct bar *able; /* arms with a rate of this kind that is a number */
    size_t n_able;
    const char *missing;             /* the other arms with a rate of this kind: "a, b"; "" */
    const struct ifm_value *ceiling; /* NULL = not drawn */
    const char *held_back;           /* why, although it was measured; "" */
    double most;
};

static struct bars collect(const struct ifm_chart *chart, const struct kind *kind)
{
    const struct ifm_cell *cell = chart->cell;
    struct bars b = {.chart = chart, .kind = kind, .missing = ""};
    b.able = IFM_ARENA_ARRAY(chart->arena, struct bar, cell->n_arms + 1);
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_arm *arm = &cell->arms[a];
        if (!ifm_document_is_row(chart->doc->derived, cell, arm) ||
            ifm_chart_value(chart, arm->name, kind->metric) == NULL)
            continue;
        const struct ifm_value *rate = ifm_chart_shown(chart, arm->name, kind->metric);
        if (rate == NULL || rate->number < 0) {
            b.missing = ifm_chart_list(chart, b.missing, arm->name);
            continue;
        }
        b.able[b.n_able++] = (struct bar){arm, rate};
        if (b.n_able <= IFM_CHART_MOST)
            b.most = fmax(b.most, ifm_chart_has_interval(rate) ? fmax(rate->number, rate->high) : rate->number);
    }
    b.ceiling = ifm_chart_ceiling(chart, kind->ceiling, kind->share, &b.held_back);
    if (b.ceiling != NULL)
        b.most = fmax(b.most, b.ceiling->number);
    return b;
}

/* Bars say something beside each other, or beside a ceiling. */
static bool is_worth(const struct bars *b)
{
    return b->most > 0 && b->n_able > 0 && b->n_able + (b->ceiling != NULL) >= 2;
}

/* ---- drawing ---- */

static void add_bar(const struct bars *b, struct ifm_plot *plot, const struct bar *bar, double top)
{
    const struct ifm_arm *arm = bar->arm;
    const struct ifm_value *rate = bar->rate;
    const char *text = ifm_chart_full(b->chart, rate);
    if (ifm_plot_text_width(text, IFM_CHART_FONT) > 0.7 * IFM_CHART_WIDTH) /* the table has its interval */
        text = ifm_quantity_number(rate, plot->arena);
    double room = IFM_CHART_WIDTH - ifm_plot_text_width(text, IFM_CHART_FONT) - 12;
    const char *tip = ifm_arena_printf(plot->arena, "%s: %s", arm->name, ifm_chart_quantity(b->chart, rate));
    ifm_plot_text(plot, 0, top + NAME_AT, "start", "", ifm_chart_clip(b->chart, arm->name, IFM_CHART_FONT, room));
    ifm_plot_text(plot, IFM_CHART_WIDTH, top + NAME_AT, "end", "", text);
    ifm_plot_group(plot, ifm_chart_series(b->chart, arm));
    ifm_plot_rect(plot, "track", plot->left, top + BAR_AT, plot->right - plot->left, BAR, NULL);
    ifm_plot_rect(plot, "fill", plot->left, top + BAR_AT, fmax(ifm_plot_x(plot, rate->number) - plot->left, 1), BAR,
                  tip);
    if (ifm_chart_has_interval(rate))
        ifm_plot_interval(plot, fmax(rate->low, 0), fmax(rate->high, 0), top + BAR_AT + BAR / 2.0);
    ifm_plot_group_close(plot);
}

static void draw(const struct bars *b, struct ifm_figure *out)
{
    struct ifm_arena *arena = b->chart->arena;
    size_t n = b->n_able < IFM_CHART_MOST ? b->n_able : IFM_CHART_MOST;
    double head = HEAD + (b->ceiling != NULL ? LINE : 0);
    struct ifm_plot plot = ifm_chart_plot(b->chart, out, 0, IFM_CHART_WIDTH, head, head + ROW * (double)n);
    plot.height = plot.bottom + 30;
    plot.x = (struct ifm_plot_axis){IFM_SCALE_LINEAR, 0, b->most * 1.02, b->kind->unit, "", false};
    plot.y = (struct ifm_plot_axis){.hidden = true};
    ifm_chart_open(b->chart, &plot, b->kind->words, "");
    ifm_plot_text(&plot, 0, 13, "start", "strong", b->kind->words);
    ifm_plot_axes(&plot);
    for (size_t k = 0; k < n; k++)
        add_bar(b, &plot, &b->able[k], plot.top + ROW * (double)k);
    if (b->ceiling != NULL) {
        double x = ifm_plot_x(&plot, b->ceiling->number);
        const char *text = ifm_arena_printf(arena, "measured ceiling %s", ifm_quantity_number(b->ceiling, arena));
        bool right = x > IFM_CHART_WIDTH / 2.0;
        double width = ifm_plot_text_width(text, IFM_CHART_SMALL);
        double at = right ? fmax(x - 5, width) : fmin(x + 5, IFM_CHART_WIDTH - width);
        ifm_plot_text(&plot, at, 13 + LINE, right ? "end" : "start", "limit-text", text);
        for (size_t k = 0; k < n; k++) {
            double top = plot.top + ROW * (double)k + BAR_AT - 3;
            ifm_plot_line(&plot, "limit", x, top, x, top + BAR + 6);
        }
        ifm_plot_line(&plot, "limit", x, HEAD - 4, x, plot.top - 2);
    }
    ifm_plot_close(&plot);
}

/* ---- words ---- */

/* "Read bandwidth: f16 reaches 67.1 % [56.1, 80.2] of the read ceiling, int8 59.3 % [42.6, 82.5]." */
static const char *sentence_of(const struct bars *b)
{
    struct ifm_arena *arena = b->chart->arena;
    const char *list = "";
    size_t told = 0;
    bool shares = false;
    for (; told < b->n_able && told < TOLD; told++) {
        const char *name = b->able[told].arm->name;
        const struct ifm_value *share = ifm_chart_value(b->chart, name, b->kind->share);
        bool known = b->ceiling != NULL && ifm_chart_is_number(share);
        const struct ifm_value *said = known ? share : b->able[told].rate;
        shares |= known;
        list =
            ifm_chart_list(b->chart, list, ifm_arena_printf(arena, "%s %s", name, ifm_chart_quantity(b->chart, said)));
    }
    if (b->n_able > told)
        list = ifm_arena_printf(arena, "%s, and %zu more in the table", list, b->n_able - told);
    const char *of = b->ceiling == NULL
                         ? ""
                         : ifm_arena_printf(arena, ", %s the measured %s of %s", shares ? "of" : "beside",
                                            b->kind->ceiling_words, ifm_quantity_number(b->ceiling, arena));
    const char *text = ifm_arena_printf(arena, "%s%s: %s.", b->kind->words, of, list);
    if (b->held_back[0] != '\0')
        text = ifm_chart_say(b->chart, text, "The %s is not drawn: %s.", b->kind->ceiling_words, b->held_back);
    if (b->missing[0] != '\0')
        text = ifm_chart_say(b->chart, text, "No %s of %s may be shown (reasons in the table).", b->kind->rate_words,
                             b->missing);
    return text;
}

static struct ifm_grid table_of(const struct ifm_chart *chart, const struct bars *all)
{
    struct ifm_heading headings[1 + 2 * KINDS] = {{"arm", IFM_M_NONE, true, 0}};
    size_t columns = 1;
    for (size_t k = 0; k < KINDS; k++)
        if (is_worth(&all[k])) {
            headings[columns++] = (struct ifm_heading){k == 0 ? "read" : "compute", kinds[k].metric, false, 0};
            const char *share = k == 0 ? "of read ceiling" : "of compute ceiling";
            headings[columns++] = (struct ifm_heading){share, kinds[k].share, false, 0};
        }
    const struct ifm_cell *cell = chart->cell;
    struct ifm_grid grid = ifm_chart_grid(chart, headings, columns, cell->n_arms + 1);
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_arm *arm = &cell->arms[a];
        bool any = false;
        for (size_t c = 1; c < columns; c++)
            any |= ifm_chart_value(chart, arm->name, headings[c].metric) != NULL;
        if (!any || !ifm_document_is_row(chart->doc->derived, cell, arm))
            continue;
        struct ifm_field *row = ifm_chart_arm_row(chart, &grid, arm->name);
        for (size_t c = 1; c < columns; c++) {
            const struct ifm_value *value = ifm_chart_value(chart, arm->name, headings[c].metric);
            if (value != NULL)
                ifm_quantity_of_integers(arm, headings[c].metric, value->state, &row[c].text, &row[c].interval,
                                         chart->arena);
        }
    }
    struct ifm_field *row = ifm_chart_row(&grid, "measured ceiling");
    for (size_t k = 0, c = 1; k < KINDS; k++)
        if (is_worth(&all[k])) {
            row[c] = all[k].ceiling != NULL ? ifm_chart_field(chart, all[k].ceiling) : ifm_chart_text("not drawn");
            c += 2;
        }
    return grid;
}

bool ifm_figure_rates(const struct ifm_chart *chart, struct ifm_figure *out)
{
    struct bars all[KINDS];
    bool any = false;
    const char *text = "";
    for (size_t k = 0; k < KINDS; k++) {
        all[k] = collect(chart, &kinds[k]);
        if (!is_worth(&all[k]))
            continue;
        any = true;
        text = ifm_chart_say(chart, text, "%s", sentence_of(&all[k]));
    }
    if (!any)
        return false;
    out->id = ifm_chart_id(chart, "rates");
    out->title = "Rates against measured ceilings";
    out->sentence = text;
    for (size_t k = 0; k < KINDS; k++)
        if (is_worth(&all[k]))
            draw(&all[k], out);
    out->numbers = table_of(chart, all);
    out->derived = true;
    return true;
}
