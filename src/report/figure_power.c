/* Power over time: the sum of the measured devices and each sensor as lines, and above them what ran: idle, pre-roll,
 * the windows of each arm.
 *
 * Long passes are thinned: a line goes through the means of equal stretches, and the sum has the range of each behind
 * it. Sensors that are never integrated are drawn pale. */
#include "report/figure_power.h"

#include "derive/energy/power_run.h"
#include "document/quantity.h"
#include "report/figure_strip.h"
#include <math.h>
#include <string.h>

enum {
    LANE_TOP = 20,
    LANE = 16,
    TOP = 48,
    AREA = 190,
    LEFT = 52,
    AXIS = 40,
    MOST_LINES = 6,
    MOST_SPOTS = 240, /* of a line */
    MANY_CELLS = 4,   /* of more, a line has fewer */
    FEW_SPOTS = 90,
    MOST_KEYS = MOST_LINES + IFM_STRIP_MOST + 4
};

/* A power limit is a line where the axis would not have to grow by more than this. */
#define LIMIT_WITHIN 1.6

struct power_line {
    const struct ifm_power_trace *trace;
    const char *class, *text;
};

struct power_sheet {
    const struct ifm_chart *chart;
    const struct ifm_power_shown *shown;
    struct power_line lines[MOST_LINES];
    size_t n_lines, n_left_out;
    int64_t start_ns, end_ns;
    double most_w, limit_w; /* NaN = none is drawn */
    const char *limit_of;
    size_t spots; /* of a line */
};

static double seconds(const struct power_sheet *sheet, int64_t ns)
{
    return 1e-9 * (double)(ns - sheet->start_ns);
}

/* ---- what is drawn ---- */

/* With one device alone its own line would lie under the sum. */
static bool is_sum_again(const struct power_sheet *sheet, const struct ifm_power_trace *trace)
{
    return sheet->n_lines > 0 && sheet->lines[0].trace->source[0] == '\0' && sheet->shown->power.n_devices == 1 &&
           trace->role == IFM_POWER_PRIMARY;
}

static const char *line_text(const struct power_sheet *sheet, const struct ifm_power_trace *trace)
{
    const struct ifm_power_cell *power = &sheet->shown->power;
    if (trace->source[0] != '\0')
        return ifm_arena_printf(sheet->chart->arena, "%s %s%s", trace->device, trace->source,
                                trace->role == IFM_POWER_GUESS                                    ? " (estimate)"
                                : trace->role == IFM_POWER_SHOWN || trace->role == IFM_POWER_PART ? " (not counted)"
                                                                                                  : "");
    if (power->n_devices == 1 && power->devices[0].primary != NULL)
        return ifm_arena_printf(sheet->chart->arena, "%s %s", power->devices[0].device,
                                power->devices[0].primary->source);
    return "sum of the measured devices";
}

/* The first arms have the first colours: sensors take theirs from the other end. */
static void choose_lines(struct power_sheet *sheet)
{
    static const char *const classes[] = {"s7 line thin", "s6 line thin", "s5 line thin",
                                          "s3 line thin", "s4 line thin", "s2 line thin"};
    size_t colour = 0;
    for (size_t i = 0; i < sheet->shown->n_traces; i++) {
        const struct ifm_power_trace *trace = &sheet->shown->traces[i];
        if (!ifm_power_has_steps(trace) || is_sum_again(sheet, trace))
            continue;
        if (sheet->n_lines == MOST_LINES) {
            sheet->n_left_out++;
            continue;
        }
        bool sum = trace->source[0] == '\0', pale = trace->role == IFM_POWER_SHOWN;
        const char *class = sum ? "power-sum" : classes[colour++];
        if (!sum && trace->role != IFM_POWER_PRIMARY)
            class = ifm_arena_printf(sheet->chart->arena, "%s dash%s", class, pale ? " faint" : "");
        sheet->lines[sheet->n_lines++] = (struct power_line){trace, class, line_text(sheet, trace)};
    }
}

static void include_span(struct power_sheet *sheet, int64_t start_ns, int64_t end_ns)
{
    sheet->start_ns = start_ns < sheet->start_ns ? start_ns : sheet->start_ns;
    sheet->end_ns = end_ns > sheet->end_ns ? end_ns : sheet->end_ns;
}

static void choose_span(struct power_sheet *sheet)
{
    const struct ifm_power_cell *power = &sheet->shown->power;
    sheet->start_ns = INT64_MAX;
    sheet->end_ns = INT64_MIN;
    for (size_t i = 0; i < sheet->n_lines; i++) {
        const struct ifm_power_trace *trace = sheet->lines[i].trace;
        include_span(sheet, trace->start_ns, trace->start_ns + (int64_t)(1e9 * (double)trace->n / trace->hz));
        for (size_t k = 0; k < trace->n; k++)
            sheet->most_w = fmax(sheet->most_w, trace->watts[k]); /* of NaN and a number the number */
    }
    for (size_t i = 0; i < power->n_phases; i++)
        include_span(sheet, power->phases[i].start_ns, power->phases[i].end_ns);
}

static void choose_limit(struct power_sheet *sheet)
{
    const struct ifm_power_cell *power = &sheet->shown->power;
    sheet->limit_w = NAN;
    for (size_t d = 0; d < power->n_devices; d++)
        if (power->devices[d].limit_w > 0 && !(power->devices[d].limit_w <= sheet->limit_w)) {
            sheet->limit_w = power->devices[d].limit_w;
            sheet->limit_of = power->devices[d].device;
        }
    if (!(sheet->limit_w <= LIMIT_WITHIN * sheet->most_w))
        sheet->limit_w = NAN;
}

/* ---- phases ---- */

static const char *phase_tip(const struct power_sheet *sheet, const struct ifm_power_phase *phase, const char *name)
{
    double length = 1e-9 * (double)(phase->end_ns - phase->start_ns);
    const char *time = ifm_quantity_bare(length, "s", sheet->chart->arena);
    const char *what = phase->kind == IFM_POWER_IDLE     ? ""
                       : phase->kind == IFM_POWER_WINDOW ? ", window"
                                                         : ", pre-roll: it runs and is not measured";
    return ifm_arena_printf(sheet->chart->arena, "%s%s, %s", name, what, time);
}

/* Its box in the lane, a pale field below it, and its name where there is room. */
static void add_phase(const struct power_sheet *sheet, struct ifm_plot *plot, const struct ifm_power_phase *phase)
{
    const struct ifm_arm *arm = ifm_power_arm(sheet->shown, phase->arm);
    bool idle = phase->kind == IFM_POWER_IDLE;
    double from = ifm_plot_x(plot, seconds(sheet, phase->start_ns));
    double width = ifm_plot_x(plot, seconds(sheet, phase->end_ns)) - from;
    const char *name = idle ? "idle" : arm != NULL ? arm->name : "";
    const char *tip = phase_tip(sheet, phase, name);
    if (arm != NULL)
        ifm_plot_group(plot, ifm_chart_series(sheet->chart, arm));
    if (idle)
        ifm_plot_rect(plot, "warm", from, LANE_TOP, width, plot->bottom - LANE_TOP, tip);
    if (phase->kind == IFM_POWER_PRE_ROLL)
        ifm_plot_rect(plot, "hollow", from, LANE_TOP + 0.75, width, LANE - 1.5, tip);
    if (phase->kind == IFM_POWER_WINDOW) {
        ifm_plot_rect(plot, "phase", from, LANE_TOP, width, plot->bottom - LANE_TOP, NULL);
        ifm_plot_rect(plot, "bubble", from, LANE_TOP + 0.75, width, LANE - 1.5, tip);
    }
    if (phase->kind != IFM_POWER_PRE_ROLL && ifm_plot_text_width(name, IFM_CHART_SMALL) < width - 4)
        ifm_plot_text(plot, from + 0.5 * width, LANE_TOP + 12, "middle", idle ? "small" : "phase-name", name);
    if (arm != NULL)
        ifm_plot_group_close(plot);
}

/* ---- lines ---- */

/* Means of equal stretches; a stretch without readings breaks the line. */
static void add_line(const struct power_sheet *sheet, struct ifm_plot *plot, const struct power_line *line)
{
    const struct ifm_power_trace *trace = line->trace;
    size_t step = trace->n / sheet->spots + 1, n = 0;
    struct ifm_spot *spots = IFM_ARENA_ARRAY(plot->arena, struct ifm_spot, trace->n / step + 2);
    struct ifm_spot *range = IFM_ARENA_ARRAY(plot->arena, struct ifm_spot, 2 * (trace->n / step + 2));
    bool sum = trace->source[0] == '\0' && step > 1;
    double *low = IFM_ARENA_ARRAY(plot->arena, double, trace->n / step + 2);
    for (size_t i = 0; i <= trace->n; i += step) {
        double total = 0, least = INFINITY, most = -INFINITY;
        size_t count = 0, end = i + step < trace->n ? i + step : trace->n;
        for (size_t k = i; k < end; k++)
            if (isfinite(trace->watts[k])) {
                total += trace->watts[k];
                least = fmin(least, trace->watts[k]);
                most = fmax(most, trace->watts[k]);
                count++;
            }
        if (count > 0) {
            double middle = 0.5 * (double)(i + end) / trace->hz;
            double x = ifm_plot_x(plot, seconds(sheet, trace->start_ns) + middle);
            spots[n] = (struct ifm_spot){x, ifm_plot_y(plot, total / (double)count)};
            range[n] = (struct ifm_spot){x, ifm_plot_y(plot, most)};
            low[n++] = ifm_plot_y(plot, least);
        }
        if (n == 0 || (count > 0 && end < trace->n))
            continue;
        for (size_t k = 0; sum && k < n; k++)
            range[2 * n - 1 - k] = (struct ifm_spot){spots[k].x, low[k]};
        if (sum && n > 1)
            ifm_plot_path(plot, "power-range", range, 2 * n, true, NULL);
        if (n > 1)
            ifm_plot_path(plot, line->class, spots, n, false, NULL);
        else
            ifm_plot_line(plot, line->class, spots[0].x - 0.5, spots[0].y, spots[0].x + 0.5, spots[0].y);
        n = 0;
    }
}

/* ---- legend ---- */

static size_t keys_of(const struct power_sheet *sheet, struct ifm_strip_key *keys)
{
    const struct ifm_power_cell *power = &sheet->shown->power;
    const struct ifm_cell *cell = sheet->shown->cell;
    struct ifm_arena *arena = sheet->chart->arena;
    size_t n = 0;
    bool idle = false, roll = false;
    for (size_t i = 0; i < sheet->n_lines; i++)
        keys[n++] = (struct ifm_strip_key){'l', sheet->lines[i].class, sheet->lines[i].text};
    for (size_t a = 0, named = 0; a < cell->n_arms && named < IFM_STRIP_MOST; a++) {
        bool ran = false;
        for (size_t i = 0; i < power->n_phases; i++)
            ran |= power->phases[i].kind == IFM_POWER_WINDOW && power->phases[i].arm == (int)a;
        if (!ran)
            continue;
        named++;
        const char *class = ifm_arena_printf(arena, "%s bubble", ifm_chart_series(sheet->chart, &cell->arms[a]));
        keys[n++] = (struct ifm_strip_key){'r', class, ifm_arena_printf(arena, "windows of %s", cell->arms[a].name)};
    }
    if (isfinite(sheet->limit_w)) {
        const char *limit = ifm_quantity_bare(sheet->limit_w, "W", arena);
        keys[n++] = (struct ifm_strip_key){'l', "limit dash",
                                           ifm_arena_printf(arena, "limit of %s, %s", sheet->limit_of, limit)};
    }
    for (size_t i = 0; i < power->n_phases; i++) {
        idle |= power->phases[i].kind == IFM_POWER_IDLE;
        roll |= power->phases[i].kind == IFM_POWER_PRE_ROLL;
    }
    keys[n++] = (struct ifm_strip_key){roll ? 'r' : 0, "hollow", "pre-roll"};
    keys[n++] = (struct ifm_strip_key){idle ? 'r' : 0, "warm", "idle, context alive"};
    return n;
}

static void draw(const struct power_sheet *sheet, struct ifm_figure *out)
{
    struct ifm_strip_key keys[MOST_KEYS];
    size_t n_keys = keys_of(sheet, keys);
    double high = fmax(sheet->most_w, isfinite(sheet->limit_w) ? sheet->limit_w : 0) * 1.08;
    struct ifm_plot plot = ifm_chart_plot(sheet->chart, out, LEFT, IFM_STRIP_RIGHT, TOP, TOP + AREA);
    plot.height = plot.bottom + AXIS + ifm_strip_legend(NULL, 0, keys, n_keys) + 4;
    plot.x = (struct ifm_plot_axis){.unit = "s", .title = "time in the energy pass"};
    plot.x.high = seconds(sheet, sheet->end_ns);
    plot.y = (struct ifm_plot_axis){.unit = "W", .high = high};
    ifm_chart_open(sheet->chart, &plot, out->title, "");
    ifm_plot_text(&plot, 0, 13, "start", "small", "power, and above it what ran");
    for (size_t i = 0; i < sheet->shown->power.n_phases; i++)
        add_phase(sheet, &plot, &sheet->shown->power.phases[i]);
    ifm_plot_axes(&plot);
    for (size_t i = sheet->n_lines; i-- > 0;) /* the sum on top */
        add_line(sheet, &plot, &sheet->lines[i]);
    if (isfinite(sheet->limit_w)) {
        double y = ifm_plot_y(&plot, sheet->limit_w);
        ifm_plot_line(&plot, "limit dash", plot.left, y, plot.right, y);
    }
    ifm_strip_legend(&plot, plot.bottom + AXIS, keys, n_keys);
    ifm_plot_close(&plot);
}

/* ---- words ---- */

struct spread {
    double low, high;
    size_t n;
};

static void include(struct spread *spread, double number)
{
    if (!isfinite(number))
        return;
    spread->low = spread->n == 0 ? number : fmin(spread->low, number);
    spread->high = spread->n == 0 ? number : fmax(spread->high, number);
    spread->n++;
}

static const char *tell_device(const struct power_sheet *sheet, const struct ifm_power_device *device, const char *text)
{
    const struct ifm_chart *chart = sheet->chart;
    struct ifm_arena *arena = chart->arena;
    struct spread watts = {0}, differ = {0};
    const char *idle = "", *witness = "";
    for (size_t w = 0; w < device->n_windows; w++) {
        if (!ifm_power_is_used(&device->windows[w]))
            continue;
        include(&watts, device->windows[w].by_primary.watts);
        include(&differ, fabs(ifm_power_differ_percent(&device->windows[w])));
    }
    if (watts.n == 0)
        return ifm_chart_say(chart, text, "No window of %s can be used: the table says why.", device->device);
    const char *low = ifm_quantity_bare(watts.low, "W", arena), *high = ifm_quantity_bare(watts.high, "W", arena);
    bool flat = strcmp(low, high) == 0;
    if (isfinite(device->idle_w))
        idle = ifm_arena_printf(arena, " and %s idle", ifm_quantity_bare(device->idle_w, "W", arena));
    if (differ.n > 0 && device->primary != NULL)
        witness = ifm_arena_printf(arena, "; %s and %s differ by at most %.2g %%", device->primary->source,
                                   device->witness != NULL ? device->witness->source : "its witness", differ.high);
    text = ifm_chart_say(chart, text, "%s drew %s%s%s in its %zu window%s%s%s.", device->device, flat ? "" : low,
                         flat ? "" : " to ", high, watts.n, watts.n == 1 ? "" : "s", idle, witness);
    if (watts.n == device->n_windows)
        return text;
    return ifm_chart_say(chart, text, "%zu of %zu windows are not used: the table says why.",
                         device->n_windows - watts.n, device->n_windows);
}

static const char *sentence_of(const struct power_sheet *sheet)
{
    const struct ifm_power_cell *power = &sheet->shown->power;
    const char *text = power->n_devices == 0 ? "No device whose energy counts here was measured." : "";
    for (size_t d = 0; d < power->n_devices; d++)
        text = tell_device(sheet, &power->devices[d], text);
    text = ifm_chart_say(sheet->chart, text, "%s",
                         "Level fields are good windows; a slope in one says that the device was not steady yet.");
    if (sheet->n_left_out == 0)
        return text;
    return ifm_chart_say(sheet->chart, text, "%zu more sensor%s in the table only.", sheet->n_left_out,
                         sheet->n_left_out == 1 ? " is" : "s are");
}

bool ifm_figure_power(const struct ifm_chart *chart, struct ifm_figure *out)
{
    struct power_sheet sheet = {.chart = chart};
    for (size_t i = 0; i < chart->doc->n_powers; i++)
        if (chart->doc->powers[i].cell == chart->cell)
            sheet.shown = &chart->doc->powers[i];
    if (sheet.shown == NULL)
        return false;
    sheet.spots = chart->doc->plan->n_cells > MANY_CELLS ? FEW_SPOTS : MOST_SPOTS;
    choose_lines(&sheet);
    choose_span(&sheet);
    if (sheet.n_lines == 0 || !(sheet.most_w > 0) || sheet.end_ns <= sheet.start_ns)
        return false;
    choose_limit(&sheet);
    out->wide = true;
    out->id = ifm_chart_id(chart, "power");
    out->title = "Power over time";
    out->sentence = sentence_of(&sheet);
    draw(&sheet, out);
    ifm_power_tables(chart, sheet.shown, out);
    return true;
}
