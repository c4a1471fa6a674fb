/* The time of one load by the working set it is taken from, on two logarithmic axes, with the caches that were found.
 */
#include "document/quantity.h"
#include "report/chart.h"
#include <math.h>
#include <stdlib.h>

enum { TOP = 44, AREA = 200, LEFT = 56 };

struct cache_probe {
    const struct ifm_value *load; /* any state */
    double bytes;
    bool drawn;
};

/* A cache size that was found. */
struct mark {
    const char *name;
    double bytes;
};

struct caches {
    const struct ifm_chart *chart;
    struct cache_probe *probes; /* in order of their working sets */
    size_t n_probes, n_drawn;
    const struct cache_probe *first, *last; /* of those drawn */
    double low, high;
    struct mark marks[IFM_CACHES_SHOWN];
    size_t n_marks;
};

static int compare_probes(const void *a, const void *b)
{
    const struct cache_probe *p = a, *q = b;
    return (p->bytes > q->bytes) - (p->bytes < q->bytes);
}

static void collect(struct caches *c)
{
    const struct ifm_cell *cell = c->chart->cell;
    c->probes = IFM_ARENA_ARRAY(c->chart->arena, struct cache_probe, cell->n_arms + 1);
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *load = ifm_chart_value(c->chart, cell->arms[a].name, IFM_M_LOAD_NS);
        if (load == NULL)
            continue;
        const struct ifm_value *shown = ifm_chart_shown(c->chart, cell->arms[a].name, IFM_M_LOAD_NS);
        bool drawn = shown != NULL && shown->number > 0 && cell->arms[a].working_set > 0;
        c->probes[c->n_probes++] = (struct cache_probe){load, (double)cell->arms[a].working_set, drawn};
    }
    qsort(c->probes, c->n_probes, sizeof *c->probes, compare_probes);
    c->low = INFINITY;
    for (size_t i = 0; i < c->n_probes; i++) {
        const struct cache_probe *probe = &c->probes[i];
        if (!probe->drawn)
            continue;
        c->n_drawn++;
        c->first = c->first == NULL ? probe : c->first;
        c->last = probe;
        c->low = fmin(c->low, probe->load->number);
        c->high = fmax(c->high, probe->load->number);
    }
    for (int level = 0; level < IFM_CACHES_SHOWN; level++) {
        const struct ifm_value *size = ifm_chart_shown(c->chart, "", ifm_cache_metrics[level]);
        if (size != NULL)
            c->marks[c->n_marks++] = (struct mark){ifm_arena_printf(c->chart->arena, "L%d", level + 1), size->number};
    }
}

/* ---- drawing ---- */

static const char *size_text(const struct caches *c, double bytes)
{
    return ifm_quantity_bare(bytes, "B", c->chart->arena);
}

/* A line where each cache ends; names of near ones take turns in two rows. */
static void add_marks(const struct caches *c, struct ifm_plot *plot)
{
    enum { NEAR = 30, ROWS = 2, LINE = 14 };
    double before = -INFINITY;
    int row = 0;
    for (size_t i = 0; i < c->n_marks; i++) {
        double x = c->marks[i].bytes > 0 ? ifm_plot_x(plot, c->marks[i].bytes) : NAN;
        if (!ifm_plot_holds(plot, x, plot->top))
            continue;
        row = x - before < NEAR ? (row + 1) % ROWS : 0;
        before = x;
        ifm_plot_line(plot, "mark", x, plot->top - 6, x, plot->bottom);
        ifm_plot_text(plot, x, plot->top - 8 - LINE * row, x > plot->width - 24 ? "end" : "middle", "small",
                      c->marks[i].name);
    }
}

static void add_curve(const struct caches *c, struct ifm_plot *plot)
{
    struct ifm_spot *spots = IFM_ARENA_ARRAY(plot->arena, struct ifm_spot, c->n_drawn + 1);
    size_t n = 0;
    for (size_t i = 0; i < c->n_probes; i++)
        if (c->probes[i].drawn)
            spots[n++] =
                (struct ifm_spot){ifm_plot_x(plot, c->probes[i].bytes), ifm_plot_y(plot, c->probes[i].load->number)};
    ifm_plot_group(plot, "s0");
    ifm_plot_path(plot, "line", spots, n, false, NULL);
    n = 0;
    for (size_t i = 0; i < c->n_probes; i++) {
        const struct ifm_value *load = c->probes[i].load;
        if (!c->probes[i].drawn)
            continue;
        struct ifm_spot spot = spots[n++];
        if (ifm_chart_has_interval(load)) {
            double top = ifm_plot_y(plot, fmin(fmax(load->high, plot->y.low), plot->y.high));
            double bottom = ifm_plot_y(plot, fmin(fmax(load->low, plot->y.low), plot->y.high));
            ifm_plot_line(plot, "whisker", spot.x, top, spot.x, bottom);
        }
        const char *tip = ifm_arena_printf(plot->arena, "%s: %s", size_text(c, c->probes[i].bytes),
                                           ifm_chart_quantity(c->chart, load));
        ifm_plot_dot(plot, "fill", spot.x, spot.y, 3.5, tip);
    }
    ifm_plot_group_close(plot);
}

static void draw(const struct caches *c, struct ifm_figure *out)
{
    struct ifm_plot plot = ifm_chart_plot(c->chart, out, LEFT, IFM_CHART_WIDTH - 12, TOP, TOP + AREA);
    plot.height = plot.bottom + 38;
    double low = fmax(c->low / 1.5, 1e-300), high = fmin(c->high * 1.5, 1e300);
    plot.x = (struct ifm_plot_axis){IFM_SCALE_LOG, c->first->bytes, c->last->bytes, "B", "working set", false};
    plot.y = (struct ifm_plot_axis){IFM_SCALE_LOG, low, high, "ns", "", false};
    ifm_chart_open(c->chart, &plot, out->title, "");
    ifm_plot_text(&plot, 0, 13, "start", "small", "time of one load");
    ifm_plot_axes(&plot);
    add_marks(c, &plot);
    add_curve(c, &plot);
    ifm_plot_close(&plot);
}

/* ---- words ---- */

static const char *words_of(const struct caches *c)
{
    struct ifm_arena *arena = c->chart->arena;
    const char *text = ifm_arena_printf(arena, "A load takes %s in a working set of %s and %s in one of %s.",
                                        ifm_chart_full(c->chart, c->first->load), size_text(c, c->first->bytes),
                                        ifm_chart_full(c->chart, c->last->load), size_text(c, c->last->bytes));
    const char *found = "";
    for (size_t i = 0; i < c->n_marks; i++)
        found = ifm_chart_list(c->chart, found,
                               ifm_arena_printf(arena, "%s of %s", c->marks[i].name, size_text(c, c->marks[i].bytes)));
    text = ifm_chart_say(
        c->chart, text, "%s%s.",
        found[0] == '\0' ? "No cache's end was found in the curve" : "Caches found in the curve, dotted: ", found);
    if (c->n_probes > c->n_drawn)
        text = ifm_chart_say(c->chart, text, "%zu of %zu working sets have no time that may be shown: see the table.",
                             c->n_probes - c->n_drawn, c->n_probes);
    return text;
}

static struct ifm_grid table_of(const struct caches *c)
{
    const struct ifm_heading headings[] = {{"working set", IFM_M_NONE, true, 0},
                                           {"time of a load", IFM_M_LOAD_NS, false, 0}};
    struct ifm_grid grid = ifm_chart_grid(c->chart, headings, 2, c->n_probes + IFM_CACHES_SHOWN);
    for (size_t i = 0; i < c->n_probes; i++)
        ifm_chart_row(&grid, size_text(c, c->probes[i].bytes))[1] = ifm_chart_field(c->chart, c->probes[i].load);
    return grid;
}

bool ifm_figure_caches(const struct ifm_chart *chart, struct ifm_figure *out)
{
    struct caches c = {.chart = chart};
    collect(&c);
    if (c.n_drawn < 2 || !(c.last->bytes > c.first->bytes))
        return false;
    out->id = ifm_chart_id(chart, "caches");
    out->title = "Time of one load by working set";
    out->sentence = words_of(&c);
    draw(&c, out);
    out->numbers = table_of(&c);
    return true;
}
