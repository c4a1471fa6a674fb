/* How a sensor follows a step of load: measured on the steps that every energy pass makes, from idle to the first
 * arm's pre-roll and from the last window to idle. Documents name a window for some sensors and a lag for none. */
#include "derive/energy/power_private.h"

#include <math.h>

/* A power that settles by a few percent for a second or two is no part of the step. */
#define LEVEL_S 1.0
/* From the step to where the level after it is taken: a reading that is a mean over one second must be there. */
#define SETTLED_S 1.2
#define SETTLED_PERIODS 4.0
/* Of a counter, which owes nothing to what was before its last tick. */
#define COUNTED_S 0.2
/* Between an idle phase and the load there is a pause of at most a second; what takes longer is work of another kind.
 */
#define LATEST_S 1.5
#define APART_S 0.02
/* Of the larger level: a smaller step drowns in what power does by itself. */
#define LEAST_STEP 0.2
#define RAMP_SHARE 0.8 /* of a mean over a window, between 10 and 90 % of a step */
enum { FEWEST = 3 };   /* readings that make a level */

static int64_t ns_of(double seconds)
{
    return (int64_t)(1e9 * seconds);
}

static double value_at(const struct ifm_readings *r, size_t i)
{
    return 1e-6 * (double)r->list[i].micro;
}

/* Mean power from `from_ns` to `to_ns`: of a counter between its ticks. NaN = too few readings. */
static double level_of(const struct ifm_readings *r, int64_t from_ns, int64_t to_ns)
{
    size_t n = 0, first = 0, last = 0;
    double sum = 0.0;
    for (size_t i = ifm_joules_first(r, from_ns); i < r->n && r->list[i].t_ns <= to_ns; i++) {
        if (r->joules && !ifm_joules_is_tick(r, i))
            continue;
        first = n++ == 0 ? i : first;
        last = i;
        sum += value_at(r, i);
    }
    if (n < FEWEST)
        return NAN;
    if (!r->joules)
        return sum / (double)n;
    return (value_at(r, last) - value_at(r, first)) / (1e-9 * (double)(r->list[last].t_ns - r->list[first].t_ns));
}

/* A counter's joules across the step are those of both levels, were the step `lag` later. */
static double lag_of_counter(const struct ifm_readings *r, const struct ifm_power_edge *edge, double after_s,
                             const double *levels)
{
    size_t before = ifm_joules_first(r, edge->at_ns), after = ifm_joules_first(r, edge->at_ns + ns_of(after_s));
    before -= before > 0; /* the last one before the step */
    while (before > 0 && !ifm_joules_is_tick(r, before))
        before--;
    while (after < r->n && !ifm_joules_is_tick(r, after))
        after++;
    if (before == 0 || after == r->n || r->list[after].t_ns > edge->to_ns)
        return NAN;
    double early_s = 1e-9 * (double)(edge->at_ns - r->list[before].t_ns);
    double late_s = 1e-9 * (double)(r->list[after].t_ns - edge->at_ns);
    double joules = value_at(r, after) - value_at(r, before);
    return (levels[0] * early_s + levels[1] * late_s - joules) / (levels[1] - levels[0]);
}

/* Share of the step that reading `i` shows. */
static double share_of(const struct ifm_readings *r, size_t i, const double *levels)
{
    return (value_at(r, i) - levels[0]) / (levels[1] - levels[0]);
}

/* When the share last became `share`, at or before reading `i`, which shows more; on the line between two readings. */
static double crossing_s(const struct ifm_readings *r, size_t i, double share, const double *levels, int64_t at_ns)
{
    while (i > 1 && share_of(r, i - 1, levels) >= share)
        i--;
    double before = share_of(r, i - 1, levels), after = share_of(r, i, levels);
    double t = (double)(r->list[i - 1].t_ns - at_ns), step = (double)(r->list[i].t_ns - r->list[i - 1].t_ns);
    return 1e-9 * (t + step * (share - before) / (after - before));
}

static void follow_watts(const struct ifm_readings *r, const struct ifm_power_edge *edge, const double *levels,
                         struct ifm_power_follow *out)
{
    size_t i = ifm_joules_first(r, edge->at_ns);
    while (i < r->n && r->list[i].t_ns <= edge->to_ns && share_of(r, i, levels) < 0.9)
        i++;
    if (i == 0 || i == r->n || r->list[i].t_ns > edge->to_ns || share_of(r, i - 1, levels) >= 0.9)
        return;
    out->lag_s = crossing_s(r, i, 0.5, levels, edge->at_ns);
    out->window_s =
        (crossing_s(r, i, 0.9, levels, edge->at_ns) - crossing_s(r, i, 0.1, levels, edge->at_ns)) / RAMP_SHARE;
}

struct ifm_power_follow ifm_power_follow(const struct ifm_readings *readings, double period_s,
                                         const struct ifm_power_edge *edge)
{
    struct ifm_power_follow out = {NAN, NAN};
    double after_s = fmax(readings->joules ? COUNTED_S : SETTLED_S, SETTLED_PERIODS * period_s);
    double length_s = fmax(LEVEL_S, (FEWEST + 1) * period_s);
    int64_t from_ns = edge->at_ns + ns_of(after_s), start_ns = edge->before_ns - ns_of(length_s);
    int64_t to_ns = from_ns + ns_of(length_s);
    const double levels[2] = {level_of(readings, start_ns > edge->from_ns ? start_ns : edge->from_ns, edge->before_ns),
                              level_of(readings, from_ns, to_ns < edge->to_ns ? to_ns : edge->to_ns)};
    if (!(fabs(levels[1] - levels[0]) >= LEAST_STEP * fmax(fabs(levels[0]), fabs(levels[1]))))
        return out;
    if (readings->joules)
        out.lag_s = lag_of_counter(readings, edge, after_s, levels);
    else
        follow_watts(readings, edge, levels, &out);
    return out;
}

/* ---- the steps of a pass ---- */

static bool is_load(const struct ifm_power_phase *phase)
{
    return phase->kind != IFM_POWER_IDLE;
}

/* Do two phases that follow each other make one load? Between a pre-roll and its window lies next to nothing. */
static bool goes_on(const struct ifm_power_phase *one, const struct ifm_power_phase *next)
{
    return is_load(one) && is_load(next) && one->arm == next->arm && next->start_ns - one->end_ns <= ns_of(APART_S);
}

static int64_t load_until(const struct ifm_power_cell *cell, size_t i)
{
    while (i + 1 < cell->n_phases && goes_on(&cell->phases[i], &cell->phases[i + 1]))
        i++;
    return cell->phases[i].end_ns;
}

static int64_t load_since(const struct ifm_power_cell *cell, size_t i)
{
    while (i > 0 && goes_on(&cell->phases[i - 1], &cell->phases[i]))
        i--;
    return cell->phases[i].start_ns;
}

static int64_t settled_from(const struct ifm_power_pass *pass, const struct ifm_power_phase *idle)
{
    for (size_t i = 0; i < pass->n_idles; i++)
        if (pass->idles[i].end_ns == idle->end_ns)
            return pass->idles[i].start_ns;
    return idle->start_ns;
}

/* The step between two phases in time order; false = there is none, or too much lies between them. */
static bool edge_of(const struct ifm_power_pass *pass, size_t i, struct ifm_power_edge *out)
{
    const struct ifm_power_phase *one = &pass->out->phases[i], *next = &pass->out->phases[i + 1];
    if (is_load(one) == is_load(next) || next->start_ns - one->end_ns > ns_of(LATEST_S))
        return false;
    if (is_load(next))
        *out =
            (struct ifm_power_edge){settled_from(pass, one), one->end_ns, next->start_ns, load_until(pass->out, i + 1)};
    else
        *out = (struct ifm_power_edge){load_since(pass->out, i) + ns_of(SETTLED_S), one->end_ns, one->end_ns,
                                       next->end_ns};
    return true;
}

static bool is_whole(const struct ifm_power_pass *pass, const struct ifm_power_fact *fact,
                     const struct ifm_power_edge *edge)
{
    for (size_t i = 0; i < pass->n_spans; i++)
        if (ifm_power_touches(&pass->spans[i], fact, edge->from_ns, edge->to_ns))
            return false;
    return true;
}

static void delay(struct ifm_power_edge *edge, double seconds)
{
    edge->from_ns += ns_of(seconds);
    edge->before_ns += ns_of(seconds);
    edge->at_ns += ns_of(seconds);
    edge->to_ns += ns_of(seconds);
}

void ifm_power_measure_lags(struct ifm_power_pass *pass)
{
    struct ifm_power_cell *cell = pass->out;
    for (size_t f = 0; f < cell->n_facts; f++) {
        struct ifm_power_fact *fact = &cell->facts[f];
        struct ifm_power_edge edge;
        double lags = 0.0, windows = 0.0;
        fact->steps = 0;
        fact->step_lag_s = fact->step_window_s = fact->step_lag_low_s = fact->step_lag_high_s = NAN;
        for (size_t i = 0; fact->readings != NULL && fact->measured && i + 1 < cell->n_phases; i++) {
            if (!edge_of(pass, i, &edge) || !is_whole(pass, fact, &edge))
                continue;
            delay(&edge, fact->late_s); /* of a meter: what is left of its lag */
            struct ifm_power_follow one =
                ifm_power_follow(fact->readings, isnan(fact->period_s) ? 0.0 : fact->period_s, &edge);
            if (isnan(one.lag_s))
                continue;
            one.lag_s += fact->late_s;
            fact->steps++;
            lags += one.lag_s;
            windows += one.window_s;
            fact->step_lag_low_s = fmin(fact->step_lag_low_s, one.lag_s); /* of a number and NaN it is the number */
            fact->step_lag_high_s = fmax(fact->step_lag_high_s, one.lag_s);
        }
        if (fact->steps > 0) {
            fact->step_lag_s = lags / (double)fact->steps;
            fact->step_window_s = windows / (double)fact->steps;
        }
    }
}
