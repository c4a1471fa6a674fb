/* The tables under the figure of power. */
#include "report/figure_power.h"

#include "derive/energy/power_run.h"
#include "document/quantity.h"
#include "report/chart.h"
#include <math.h>
#include <string.h>

const struct ifm_arm *ifm_power_arm(const struct ifm_power_shown *shown, int arm)
{
    return arm >= 0 && (size_t)arm < shown->cell->n_arms ? &shown->cell->arms[arm] : NULL;
}

static const char *arm_name(const struct ifm_power_shown *shown, int arm)
{
    const struct ifm_arm *found = ifm_power_arm(shown, arm);
    return found != NULL ? found->name : "";
}

static const char *quantity(const struct ifm_chart *chart, double number, const char *unit)
{
    return isfinite(number) ? ifm_quantity_bare(number, unit, chart->arena) : "";
}

/* A number with its half-width, in one unit. */
static struct ifm_field with_bar(const struct ifm_chart *chart, double number, double half, const char *unit)
{
    struct ifm_value value = {.number = number, .unit = unit, .has_interval = isfinite(half), .level = 0.95};
    struct ifm_field field = ifm_chart_text("");
    if (!isfinite(number))
        return field;
    if (value.has_interval) {
        value.low = number - half;
        value.high = number + half;
    }
    field.text = ifm_quantity_number(&value, chart->arena);
    field.interval = value.has_interval ? ifm_quantity_of(&value, chart->arena).interval : "";
    return field;
}

/* ---- windows ---- */

static void add_window(const struct ifm_chart *chart, const struct ifm_power_shown *shown,
                       const struct ifm_power_device *device, const struct ifm_power_window *window,
                       struct ifm_grid *grid)
{
    const struct ifm_joules *own = &window->by_primary;
    struct ifm_field *row = ifm_chart_row(grid, arm_name(shown, (int)window->arm));
    double differ = ifm_power_differ_percent(window);
    row[1].text = ifm_arena_printf(chart->arena, "%zu", window->slot + 1);
    row[2].text = device->device;
    if (own->why == NULL) {
        row[3] = with_bar(chart, own->joules, own->random_j, "J");
        row[4] = with_bar(chart, own->watts, NAN, "W");
        row[5] = with_bar(chart, own->seconds, NAN, "s");
    }
    if (ifm_power_is_used(window)) {
        row[6].text = ifm_arena_printf(chart->arena, "%.6g", window->steps);
        row[7] = with_bar(chart, ifm_power_step_j(window), ifm_power_step_random_j(window), "J");
    } else {
        row[9] = ifm_field_text(ifm_power_why(window), IFM_TONE_WARN);
    }
    if (isfinite(differ))
        row[8].text = ifm_arena_printf(chart->arena, "%+.2f %%", differ);
}

static struct ifm_grid window_table(const struct ifm_chart *chart, const struct ifm_power_shown *shown)
{
    bool runs = ifm_cell_counts_programs(shown->cell);
    const char *steps = runs ? "runs" : "steps", *each = runs ? "energy/run" : "energy/step";
    const struct ifm_heading headings[] = {{"arm", IFM_M_NONE, true, 0},      {"window", IFM_M_NONE, false, 0},
                                           {"device", IFM_M_NONE, true, 0},   {"energy", IFM_M_NONE, false, 0},
                                           {"power", IFM_M_NONE, false, 0},   {"time", IFM_M_NONE, false, 0},
                                           {steps, IFM_M_NONE, false, 0},     {each, IFM_M_NONE, false, 0},
                                           {"witness", IFM_M_NONE, false, 0}, {"not used", IFM_M_NONE, true, 0}};
    size_t n = 0, columns = sizeof headings / sizeof *headings;
    bool any_fault = false;
    for (size_t d = 0; d < shown->power.n_devices; d++) {
        const struct ifm_power_device *device = &shown->power.devices[d];
        n += device->n_windows;
        for (size_t w = 0; w < device->n_windows; w++)
            any_fault |= !ifm_power_is_used(&device->windows[w]);
    }
    /* Where every window is used, the last column has nothing to say. */
    struct ifm_grid grid = ifm_chart_grid(chart, headings, any_fault ? columns : columns - 1, n);
    for (size_t d = 0; d < shown->power.n_devices; d++)
        for (size_t w = 0; w < shown->power.devices[d].n_windows; w++)
            add_window(chart, shown, &shown->power.devices[d], &shown->power.devices[d].windows[w], &grid);
    return grid;
}

/* ---- sensors ---- */

static const char *what_it_is(const struct ifm_power_fact *fact)
{
    static const char *const words[] = {
        [IFM_POWER_COUNTER] = "counter of joules, read at its ticks",
        [IFM_POWER_SAMPLES] = "watts sampled by the driver",
        [IFM_POWER_AVERAGE] = "watts averaged by the driver",
        [IFM_POWER_INSTANT] = "instantaneous watts: drawn, never integrated",
        [IFM_POWER_METER] = "external meter",
        [IFM_POWER_ESTIMATE] = "estimate from load and rated power",
    };
    return words[fact->kind];
}

static const struct ifm_power_device *device_of(const struct ifm_power_shown *shown, const char *name)
{
    for (size_t d = 0; d < shown->power.n_devices; d++)
        if (strcmp(shown->power.devices[d].device, name) == 0)
            return &shown->power.devices[d];
    return NULL;
}

/* As it followed the steps of load of this pass; where there was none, what was known before: the age of the newest
 * reading, which is the least that it lags, and the window that its documents name. */
static struct ifm_field followed(const struct ifm_chart *chart, const struct ifm_power_fact *fact, double measured,
                                 double told, const char *of_told)
{
    bool any = fact->steps > 0 && isfinite(measured);
    struct ifm_field field = ifm_chart_text(quantity(chart, any ? measured : told, "s"));
    if (!any && isfinite(told))
        field.interval = of_told;
    if (any)
        field.interval = ifm_arena_printf(chart->arena, "n %zu", fact->steps);
    if (any && measured == fact->step_lag_s && fact->steps > 1)
        field.interval = ifm_arena_printf(chart->arena, "%s to %s, n %zu", quantity(chart, fact->step_lag_low_s, "s"),
                                          quantity(chart, fact->step_lag_high_s, "s"), fact->steps);
    return field;
}

static struct ifm_grid sensor_table(const struct ifm_chart *chart, const struct ifm_power_shown *shown)
{
    const struct ifm_heading headings[] = {{"sensor", IFM_M_NONE, true, 0},  {"what it is", IFM_M_NONE, true, 0},
                                           {"role", IFM_M_NONE, true, 0},    {"period", IFM_M_NONE, false, 0},
                                           {"lag", IFM_M_NONE, false, 0},    {"window", IFM_M_NONE, false, 0},
                                           {"a read", IFM_M_NONE, false, 0}, {"gain", IFM_M_NONE, false, 0},
                                           {"idle", IFM_M_NONE, false, 0},   {"limit", IFM_M_NONE, false, 0}};
    static const char *const roles[] = {"counted", "witness, not added", "part, not added", "estimate, not added",
                                        "shown only"};
    struct ifm_grid grid = ifm_chart_grid(chart, headings, sizeof headings / sizeof *headings, shown->power.n_facts);
    for (size_t i = 0; i < shown->power.n_facts; i++) {
        const struct ifm_power_fact *fact = &shown->power.facts[i];
        const struct ifm_power_device *device = device_of(shown, fact->device);
        struct ifm_field *row =
            ifm_chart_row(&grid, ifm_arena_printf(chart->arena, "%s %s", fact->device, fact->source));
        row[1].text = what_it_is(fact);
        row[2].text = roles[fact->role];
        row[3].text = fact->period_s > 0 ? quantity(chart, fact->period_s, "s") : "";
        row[4] = followed(chart, fact, fact->step_lag_s, fact->lag_s, "at least");
        row[5] = followed(chart, fact, fact->step_window_s, fact->sensor_window_s, "not measured");
        row[6].text = quantity(chart, fact->call_s, "s");
        if (isfinite(fact->gain_error))
            row[7].text =
                ifm_arena_printf(chart->arena, "±%s", ifm_quantity_bare(100 * fact->gain_error, "%", chart->arena));
        if (device != NULL && device->primary == fact)
            row[8] = with_bar(chart, device->idle_w, device->idle_half_w, "W");
        row[9].text = quantity(chart, fact->limit_w, "W");
    }
    return grid;
}

/* ---- phases ---- */

static struct ifm_grid phase_table(const struct ifm_chart *chart, const struct ifm_power_shown *shown)
{
    static const char *const words[] = {"idle", "pre-roll", "window"};
    const struct ifm_heading headings[] = {{"phase", IFM_M_NONE, true, 0},
                                           {"arm", IFM_M_NONE, true, 0},
                                           {"from", IFM_M_NONE, false, 0},
                                           {"length", IFM_M_NONE, false, 0}};
    struct ifm_grid grid = ifm_chart_grid(chart, headings, 4, shown->power.n_phases);
    int64_t zero = shown->n_traces > 0         ? shown->traces[0].start_ns
                   : shown->power.n_phases > 0 ? shown->power.phases[0].start_ns
                                               : 0;
    for (size_t i = 0; i < shown->power.n_phases; i++) {
        const struct ifm_power_phase *phase = &shown->power.phases[i];
        struct ifm_field *row = ifm_chart_row(&grid, words[phase->kind]);
        row[1].text = arm_name(shown, phase->arm);
        row[2].text = ifm_arena_printf(chart->arena, "%.2f s", 1e-9 * (double)(phase->start_ns - zero));
        row[3].text = ifm_arena_printf(chart->arena, "%.2f s", 1e-9 * (double)(phase->end_ns - phase->start_ns));
    }
    return grid;
}

void ifm_power_tables(const struct ifm_chart *chart, const struct ifm_power_shown *shown, struct ifm_figure *out)
{
    out->numbers = window_table(chart, shown);
    out->more[0] = (struct ifm_figure_table){"The sensors", sensor_table(chart, shown)};
    out->more[1] = (struct ifm_figure_table){"What ran when", phase_table(chart, shown)};
}
