/* Power over time, at equal distances: drawn and published as a series, and no number is made of it. */
#include "derive/energy/power.h"

#include <math.h>

/* A way between two readings that is longer than this many periods is a gap, and nothing is drawn in it. */
#define LONGEST_GAP 3.0

/* Values of a series: a day at a thousand a second. */
#define MOST_VALUES 86400000.0

struct grid {
    int64_t start_ns;
    double hz;
    size_t n;
};

static int64_t edge_of(const struct grid *grid, size_t i)
{
    return grid->start_ns + (int64_t)llround(1e9 * (double)i / grid->hz);
}

/* From the first phase, or reading where there is no phase, to the last. */
static struct grid grid_of(const struct ifm_power_cell *power, double hz)
{
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < power->n_phases; i++) {
        start = power->phases[i].start_ns < start ? power->phases[i].start_ns : start;
        end = power->phases[i].end_ns > end ? power->phases[i].end_ns : end;
    }
    for (size_t i = 0; power->n_phases == 0 && i < power->n_facts; i++) {
        const struct ifm_readings *r = power->facts[i].readings;
        if (r == NULL || r->n == 0)
            continue;
        start = r->list[0].t_ns < start ? r->list[0].t_ns : start;
        end = r->list[r->n - 1].t_ns > end ? r->list[r->n - 1].t_ns : end;
    }
    if (end <= start || !(hz > 0))
        return (struct grid){0, hz, 0};
    return (struct grid){start, hz, (size_t)(1e-9 * (double)(end - start) * hz)};
}

/* Joules between two readings, from the first to `t_ns` within them. */
static double part_of(const struct ifm_readings *r, size_t i, int64_t t_ns)
{
    double whole = 1e-9 * (double)(r->list[i + 1].t_ns - r->list[i].t_ns);
    double part = 1e-9 * (double)(t_ns - r->list[i].t_ns), a = 1e-6 * (double)r->list[i].micro;
    double b = 1e-6 * (double)r->list[i + 1].micro;
    if (r->joules)
        return (b - a) * part / whole;
    return part * (a + 0.5 * (b - a) * part / whole);
}

static double period_of(const struct ifm_power_fact *fact)
{
    const struct ifm_readings *r = fact->readings;
    if (fact->period_s > 0)
        return fact->period_s;
    return 1e-9 * (double)(r->list[r->n - 1].t_ns - r->list[0].t_ns) / (double)(r->n - 1);
}

/* Readings of a counter that tell of no tick hold no power; `kept` gets the others. */
static struct ifm_readings ticks_of(const struct ifm_readings *r, struct ifm_reading *kept)
{
    struct ifm_readings out = {r->joules, kept, 0};
    for (size_t i = 0; i < r->n; i++)
        if (!r->joules || ifm_joules_is_tick(r, i))
            kept[out.n++] = r->list[i];
    return out;
}

/* The mean over each step of the grid of what lies between the readings. */
static void draw(const struct ifm_readings *r, double longest_s, const struct grid *grid, double *watts)
{
    size_t at = 0;
    for (size_t k = 0; k < grid->n; k++) {
        int64_t from = edge_of(grid, k), to = edge_of(grid, k + 1), now = from;
        double joules = 0.0;
        while (at + 1 < r->n && r->list[at + 1].t_ns <= from)
            at++;
        bool whole = r->n > 0 && r->list[at].t_ns <= from;
        for (size_t i = at; whole && now < to; i++) {
            whole = i + 1 < r->n && 1e-9 * (double)(r->list[i + 1].t_ns - r->list[i].t_ns) <= longest_s;
            if (!whole)
                break;
            int64_t until = r->list[i + 1].t_ns < to ? r->list[i + 1].t_ns : to;
            if (until <= now)
                continue;
            joules += part_of(r, i, until) - part_of(r, i, now);
            now = until;
        }
        watts[k] = whole ? joules / (1e-9 * (double)(to - from)) : NAN;
    }
}

/* Instantaneous readings are not joined: the mean of those in each step. */
static void draw_moments(const struct ifm_readings *r, const struct grid *grid, double *watts)
{
    size_t i = 0;
    for (size_t k = 0; k < grid->n; k++) {
        double sum = 0.0;
        size_t n = 0;
        for (; i < r->n && r->list[i].t_ns < edge_of(grid, k + 1); i++) {
            bool in = r->list[i].t_ns >= edge_of(grid, k);
            sum += in ? 1e-6 * (double)r->list[i].micro : 0.0;
            n += in;
        }
        watts[k] = n > 0 ? sum / (double)n : NAN;
    }
}

static void trace_fact(const struct ifm_power_fact *fact, const struct grid *grid, struct ifm_arena *scratch,
                       double *watts)
{
    for (size_t k = 0; k < grid->n; k++)
        watts[k] = NAN;
    if (fact->readings == NULL || fact->readings->n < 2)
        return;
    if (fact->kind == IFM_POWER_INSTANT) {
        draw_moments(fact->readings, grid, watts);
        return;
    }
    struct ifm_reading *kept = IFM_ARENA_ARRAY(scratch, struct ifm_reading, fact->readings->n);
    struct ifm_readings ticks = ticks_of(fact->readings, kept);
    /* A fast counter is read more seldom than it ticks: what it took in between is known all the same. */
    double typical = ticks.n > 1 ? 1e-9 * (double)(kept[ticks.n - 1].t_ns - kept[0].t_ns) / (double)(ticks.n - 1) : 0;
    draw(&ticks, LONGEST_GAP * fmax(period_of(fact), typical), grid, watts);
}

static bool is_summed(const struct ifm_power_cell *power, const struct ifm_power_fact *fact)
{
    for (size_t i = 0; i < power->n_devices; i++)
        if (power->devices[i].primary == fact || power->devices[i].adds == fact)
            return true;
    return false;
}

enum ifm_status ifm_derive_power_traces(const struct ifm_power_cell *power, double hz, struct ifm_arena *arena,
                                        struct ifm_power_trace **out, size_t *n, struct ifm_error *error)
{
    struct grid grid = grid_of(power, hz);
    bool whole = power->n_devices > 0;
    if (!(hz > 0))
        return ifm_fail(error, IFM_USAGE, "measure.power_sample_hz", "give a rate above 0",
                        "power over time has %g values a second", hz);
    if ((double)grid.n > MOST_VALUES)
        return ifm_fail(error, IFM_INVALID, "run.log", "the journal was edited, or measure.power_sample_hz is too high",
                        "power over time would have %zu values", grid.n);
    *n = power->n_facts + 1;
    *out = IFM_ARENA_ARRAY(arena, struct ifm_power_trace, *n);
    for (size_t t = 0; t < *n; t++)
        (*out)[t] = (struct ifm_power_trace){
            "", "", IFM_POWER_PRIMARY, grid.start_ns, grid.hz, IFM_ARENA_ARRAY(arena, double, grid.n + 1), grid.n};
    for (size_t i = 0; i < power->n_devices; i++)
        whole = whole && power->devices[i].primary != NULL;
    for (size_t k = 0; k < grid.n; k++)
        (*out)[0].watts[k] = whole ? 0.0 : NAN;
    struct ifm_arena *scratch = ifm_arena_create();
    for (size_t i = 0; i < power->n_facts; i++) {
        struct ifm_power_trace *trace = &(*out)[i + 1];
        const struct ifm_power_fact *fact = &power->facts[i];
        trace->device = fact->device;
        trace->source = fact->source;
        trace->role = fact->role;
        trace_fact(fact, &grid, scratch, trace->watts);
        for (size_t k = 0; is_summed(power, fact) && k < grid.n; k++)
            (*out)[0].watts[k] += trace->watts[k];
    }
    ifm_arena_destroy(scratch);
    return IFM_OK;
}
