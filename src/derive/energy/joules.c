/* Joules of a window from a sensor's readings: ticks of a counter, or the trapezoid rule; see joules.h. */
#include "derive/energy/joules.h"

#include "derive/coverage.h"

#include <math.h>

/* The 95 % half-width of an error that is uniform within +-1, as a normal of the same variance would have it: two such
 * errors in squares then hold at least 95 % (their exact figure is 1.553; this gives 1.600). */
#define UNIFORM95 (1.959963984540054 / 1.7320508075688772)
/* The same for the difference of two values that were both cut off at a step of 1: a triangle within +-1. */
#define CUT95 (1.959963984540054 / 2.449489742783178)
#define NORMAL95 1.959963984540054

/* A sensor of watts that samples a periodic load locks to it: the ring of the same card was off by up to 25 % of the
 * load's standard deviation (periods of 10 and 20 ms), and longer windows did not help. A load is periodic when its
 * standard deviation is above a tenth of its mean. */
#define LOCKED_SHARE 0.25
#define PERIODIC 0.10
/* Of the mean: a smaller difference between the lowest and the highest power is no swing that a meter saw. */
#define SEEN_SWING 0.05

/* Between readings of a sensor of watts, in periods. */
#define LONGEST_GAP 3.0

/* A counter that is silent for this many periods and then has grown by less than this share of what the rest of the
 * window says it should have, stood still: joules are missing. One that catches up was read late, and has them all. */
#define SILENT 2.5
#define CAUGHT_UP 0.5

double ifm_joules_least_s(double period_s)
{
    return IFM_JOULES_TICKS * period_s;
}

bool ifm_joules_periodic(double spread_w, double mean_w)
{
    return spread_w > PERIODIC * mean_w;
}

static double seconds_of(int64_t from_ns, int64_t to_ns)
{
    return 1e-9 * (double)(to_ns - from_ns);
}

size_t ifm_joules_first(const struct ifm_readings *readings, int64_t t_ns)
{
    size_t low = 0, high = readings->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (readings->list[middle].t_ns < t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double ifm_joules_spread(const struct ifm_readings *readings, int64_t from_ns, int64_t to_ns)
{
    double mean = 0.0, squares = 0.0;
    size_t n = 0;
    for (size_t i = ifm_joules_first(readings, from_ns); i < readings->n && readings->list[i].t_ns <= to_ns; i++) {
        double watts = 1e-6 * (double)readings->list[i].micro, off = watts - mean;
        n++;
        mean += off / (double)n;
        squares += off * (watts - mean);
    }
    return n < IFM_JOULES_TICKS ? -1.0 : sqrt(squares / (double)(n - 1));
}

/* An end of the stretch: how well its time is known, and the power there. */
struct end {
    double half_ns, watts;
};

/* Half-widths in squares, and the mean. What the time of an end is worth is the power there, or the root of the load's
 * mean square where that is more: an end lies anywhere in a load that changes. */
static void finish(struct ifm_joules *out, double spread_w, struct end start, struct end end, double grain_j)
{
    out->watts = out->joules / out->seconds;
    double least = hypot(out->watts, spread_w);
    double off = hypot(start.half_ns * fmax(least, start.watts), end.half_ns * fmax(least, end.watts));
    out->edge_j = hypot(1e-9 * UNIFORM95 * off, grain_j);
    out->random_j = hypot(out->edge_j, hypot(out->quantum_j, out->coverage_j));
}

/* ---- a counter ---- */

bool ifm_joules_is_tick(const struct ifm_readings *readings, size_t i)
{
    return i > 0 && readings->list[i].micro != readings->list[i - 1].micro;
}

/* Of the slopes between the ticks, each weighed by its time: what the counter itself shows of the load. */
static double spread_of_slopes(const struct ifm_readings *readings, size_t first, size_t last, double mean_w)
{
    double squares = 0.0;
    size_t before = first;
    for (size_t i = first + 1; i <= last; i++) {
        if (!ifm_joules_is_tick(readings, i))
            continue;
        double s = seconds_of(readings->list[before].t_ns, readings->list[i].t_ns);
        double j = 1e-6 * (double)(readings->list[i].micro - readings->list[before].micro);
        squares += s > 0 ? s * (j / s - mean_w) * (j / s - mean_w) : 0.0;
        before = i;
    }
    return sqrt(squares / seconds_of(readings->list[first].t_ns, readings->list[last].t_ns));
}

/* The ticks of a window. */
struct ticks {
    const struct ifm_readings *readings;
    size_t from, to, n; /* readings [from, to), and how many of them are ticks */
};

static struct ticks ticks_in(const struct ifm_readings *readings, int64_t from_ns, int64_t to_ns)
{
    struct ticks out = {.readings = readings, .from = ifm_joules_first(readings, from_ns)};
    for (out.to = out.from; out.to < readings->n && readings->list[out.to].t_ns <= to_ns; out.to++)
        out.n += ifm_joules_is_tick(readings, out.to);
    return out;
}

/* A tick within its half-width of the window's end may lie outside of it. */
static bool surely_inside(const struct ifm_reading *tick, int64_t from_ns, int64_t to_ns)
{
    return tick->t_ns - tick->half_ns >= from_ns && tick->t_ns + tick->half_ns <= to_ns;
}

/* The two ticks whose times are known best for the length between them. Ends are looked at from the furthest on, and no
 * further than one could still be better. False when there are no two that are `least_s` apart. */
static bool choose_ends(const struct ticks *ticks, int64_t from_ns, int64_t to_ns, double least_s, size_t *first,
                        size_t *last)
{
    const struct ifm_reading *list = ticks->readings->list;
    double best = INFINITY, finest = INFINITY;
    for (size_t i = ticks->from; i < ticks->to; i++)
        finest = ifm_joules_is_tick(ticks->readings, i) ? fmin(finest, (double)list[i].half_ns) : finest;
    for (size_t i = ticks->from; i < ticks->to; i++) {
        if (!ifm_joules_is_tick(ticks->readings, i) || !surely_inside(&list[i], from_ns, to_ns))
            continue;
        for (size_t k = ticks->to; k-- > i + 1;) {
            double s = seconds_of(list[i].t_ns, list[k].t_ns);
            double error = hypot((double)list[i].half_ns, (double)list[k].half_ns) + 1.0;
            if (s < least_s || hypot((double)list[i].half_ns, finest) + 1.0 >= best * s)
                break; /* nearer ends are no better */
            if (ifm_joules_is_tick(ticks->readings, k) && surely_inside(&list[k], from_ns, to_ns) && error < best * s) {
                best = error / s;
                *first = i;
                *last = k;
            }
        }
    }
    return isfinite(best);
}

struct moments {
    double n, mean, squares;
};

static void take(struct moments *m, double value)
{
    double off = value - m->mean;
    m->n++;
    m->mean += off / m->n;
    m->squares += off * (value - m->mean);
}

/* How unevenly the counter grows from tick to tick: the standard deviation of what it grows by, or of that less the
 * mean power for the time between, whichever is less. Ticks at even distances that are read late say the first, uneven
 * ones that are read in time the second. */
static double grain_of(const struct ticks *ticks, double period_s, double mean_w)
{
    const struct ifm_reading *list = ticks->readings->list;
    struct moments even = {0}, timed = {0};
    for (size_t i = ticks->from, before = ticks->to; i < ticks->to; i++) {
        if (!ifm_joules_is_tick(ticks->readings, i))
            continue;
        double s = before == ticks->to ? 0.0 : seconds_of(list[before].t_ns, list[i].t_ns);
        double joules = before == ticks->to ? 0.0 : 1e-6 * (double)(list[i].micro - list[before].micro);
        if (s > 0.0 && s < 1.5 * period_s) {
            take(&even, joules);
            take(&timed, joules - mean_w * s);
        }
        before = i;
    }
    return even.n < 2 ? 0.0 : sqrt(fmin(even.squares, timed.squares) / (even.n - 1.0));
}

/* The longest way between two ticks; `*joules` that it brought. */
static double longest_between(const struct ticks *ticks, size_t first, size_t last, double *joules)
{
    const struct ifm_reading *list = ticks->readings->list;
    double longest = 0.0;
    *joules = 0.0;
    for (size_t i = first + 1, before = first; i <= last; i++) {
        if (!ifm_joules_is_tick(ticks->readings, i))
            continue;
        double s = seconds_of(list[before].t_ns, list[i].t_ns);
        if (s > longest) {
            longest = s;
            *joules = 1e-6 * (double)(list[i].micro - list[before].micro);
        }
        before = i;
    }
    return longest;
}

/* A fast counter is read more seldom than it ticks. */
static bool stood_still(const struct ifm_joules *out, double period_s, double gap_j)
{
    double typical = fmax(period_s, out->seconds / (double)(out->readings - 1));
    double rest_w = (out->joules - gap_j) / (out->seconds - out->longest_gap_s);
    return out->longest_gap_s > SILENT * typical && gap_j < CAUGHT_UP * rest_w * out->longest_gap_s;
}

/* Power over the first ticks of the stretch from `first` to `last`, or over its last ones where `first` > `last`. */
static struct end end_of(const struct ticks *ticks, size_t first, size_t last)
{
    const struct ifm_reading *list = ticks->readings->list;
    size_t at = first, n = 0;
    while (at != last && n < IFM_JOULES_TICKS / 2) {
        at += last > first ? 1U : (size_t)-1;
        n += ifm_joules_is_tick(ticks->readings, at);
    }
    double s = seconds_of(list[first].t_ns, list[at].t_ns);
    return (struct end){(double)list[first].half_ns,
                        s == 0.0 ? 0.0 : 1e-6 * (double)(list[at].micro - list[first].micro) / s};
}

static double coverage_of(const struct ifm_joules_sensor *sensor, double spread_w, const struct ifm_joules *out)
{
    bool known = sensor->high_w > sensor->low_w;
    struct ifm_coverage coverage = {
        .seconds = out->seconds,
        .spread_w = spread_w,
        .swing_w = known ? ifm_coverage_swing(out->joules / out->seconds, sensor->low_w, sensor->high_w) : NAN,
        .period_s = sensor->points ? 0.0 : sensor->load_period_s,
        .dither_s = sensor->load_dither_s,
        .whole = sensor->whole};
    return ifm_coverage_w(&coverage);
}

static const char locks[] = "its steps are long enough for the sensor to lock to, and neither the idle power nor the "
                            "limit of the device says how far its power may swing unseen";

void ifm_joules_counter(const struct ifm_readings *readings, const struct ifm_joules_sensor *sensor, int64_t from_ns,
                        int64_t to_ns, struct ifm_joules *out)
{
    const struct ifm_reading *list = readings->list;
    struct ticks ticks = ticks_in(readings, from_ns, to_ns);
    size_t first = 0, last = 0;
    *out = (struct ifm_joules){0};
    if (ticks.n < 2) {
        out->why = ticks.from == ticks.to ? "there is no reading of it in the window"
                   : ticks.n == 0         ? "it stood still"
                                          : "it ticked once";
        return;
    }
    double whole = seconds_of(list[ticks.from].t_ns, list[ticks.to - 1].t_ns);
    double period = sensor->period_s > 0 ? sensor->period_s : whole / (double)(ticks.n - 1);
    if (!choose_ends(&ticks, from_ns, to_ns, (IFM_JOULES_TICKS - 0.5) * period, &first, &last)) {
        out->why = "there are fewer than 10 of its periods between its first and its last tick in the window";
        return;
    }
    out->start_ns = list[first].t_ns;
    out->end_ns = list[last].t_ns;
    out->seconds = seconds_of(out->start_ns, out->end_ns);
    for (size_t i = first; i <= last; i++)
        out->readings += ifm_joules_is_tick(readings, i);
    double gap_j;
    out->longest_gap_s = longest_between(&ticks, first, last, &gap_j);
    out->joules = 1e-6 * (double)(list[last].micro - list[first].micro);
    double mean = out->joules / out->seconds;
    double spread = sensor->spread_w >= 0 ? sensor->spread_w : spread_of_slopes(readings, first, last, mean);
    out->quantum_j = CUT95 * sensor->quantum;
    out->coverage_j = coverage_of(sensor, spread, out) * out->seconds;
    finish(out, spread, end_of(&ticks, first, last), end_of(&ticks, last, first),
           NORMAL95 * grain_of(&ticks, period, mean));
    if (isnan(out->coverage_j))
        out->why = locks;
    if (stood_still(out, period, gap_j))
        out->why = "it stood still for more than two of its periods and did not catch up: joules are missing";
}

/* ---- a counter over whole runs ---- */

/* The next tick from `i` on in that direction, `i` not counted; readings->n = none. */
static size_t tick_beyond(const struct ifm_readings *readings, size_t i, bool later)
{
    do
        i = later ? i + 1 : i - 1;
    while (i < readings->n && !ifm_joules_is_tick(readings, i));
    return i < readings->n ? i : readings->n;
}

static double slope_of(const struct ifm_readings *readings, size_t from, size_t to)
{
    const struct ifm_reading *list = readings->list;
    size_t first = from < to ? from : to, last = from < to ? to : from;
    return 1e-6 * (double)(list[last].micro - list[first].micro) / seconds_of(list[first].t_ns, list[last].t_ns);
}

/* An end of whole runs. */
struct run_end {
    size_t within; /* the first tick inside */
    double joules; /* from the end to that tick */
    double half_j; /* of them, 95 % */
    double gap_s;  /* between the ticks round it */
};

/* The device idles beyond the end: between the last tick out there and the end it drew what it drew in the tick before,
 * and what remains of the counter's step is the run's. Power there is between the least and the most of three ticks,
 * of this one and of its neighbours, and that for half a tick at least, since a tick may come early or late. */
static bool find_end(const struct ifm_readings *readings, int64_t t_ns, bool is_start, struct run_end *out)
{
    const struct ifm_reading *list = readings->list;
    size_t n = readings->n, after = ifm_joules_first(readings, t_ns), before;
    while (after < n && !ifm_joules_is_tick(readings, after))
        after++;
    before = after == 0 ? n : tick_beyond(readings, after, false);
    if (after >= n || before >= n)
        return false;
    size_t outside = is_start ? before : after, within = is_start ? after : before;
    size_t beyond = tick_beyond(readings, outside, !is_start), deeper = tick_beyond(readings, within, is_start);
    if (beyond >= n || deeper >= n)
        return false;
    double here_w = slope_of(readings, before, after), idle_w = slope_of(readings, outside, beyond);
    double load_w = slope_of(readings, within, deeper), gap_s = seconds_of(list[before].t_ns, list[after].t_ns);
    double range_w = fmax(here_w, fmax(idle_w, load_w)) - fmin(here_w, fmin(idle_w, load_w));
    double beyond_s = is_start ? seconds_of(list[before].t_ns, t_ns) : seconds_of(t_ns, list[after].t_ns);
    double timing_s = 1e-9 * hypot((double)list[before].half_ns, (double)list[after].half_ns);
    *out = (struct run_end){within, fmax(0.0, here_w * gap_s - idle_w * beyond_s),
                            UNIFORM95 * (range_w * fmax(beyond_s, 0.5 * gap_s) + idle_w * timing_s), gap_s};
    return true;
}

static const char no_tick_beyond[] = "its ticks do not enclose the runs: it must tick twice before the first one and "
                                     "behind the last one";

void ifm_joules_whole(const struct ifm_readings *readings, const struct ifm_joules_sensor *sensor, int64_t from_ns,
                      int64_t to_ns, struct ifm_joules *out)
{
    const struct ifm_reading *list = readings->list;
    struct run_end start, end;
    *out = (struct ifm_joules){.start_ns = from_ns, .end_ns = to_ns, .seconds = seconds_of(from_ns, to_ns)};
    struct ticks ticks = ticks_in(readings, from_ns, to_ns);
    double period = sensor->period_s > 0 ? sensor->period_s : out->seconds / fmax(1.0, (double)ticks.n);
    if (ticks.n < 2 || out->seconds < (IFM_JOULES_TICKS - 0.5) * period)
        out->why = ticks.n == 0   ? "it stood still"
                   : ticks.n == 1 ? "it ticked once"
                                  : "the runs last fewer than 10 of its periods";
    else if (!find_end(readings, from_ns, true, &start) || !find_end(readings, to_ns, false, &end))
        out->why = no_tick_beyond;
    if (out->why != NULL)
        return;
    double gap_j, joules = 1e-6 * (double)(list[end.within].micro - list[start.within].micro);
    out->readings = ticks.n;
    out->joules = start.joules + joules + end.joules;
    out->longest_gap_s = longest_between(&ticks, start.within, end.within, &gap_j);
    double mean = out->joules / out->seconds;
    double spread =
        sensor->spread_w >= 0 ? sensor->spread_w : spread_of_slopes(readings, start.within, end.within, mean);
    out->quantum_j = CUT95 * sensor->quantum;
    out->coverage_j = coverage_of(sensor, spread, out) * out->seconds;
    finish(out, 0.0, (struct end){0}, (struct end){0}, hypot(start.half_j, end.half_j));
    double typical = fmax(period, seconds_of(list[start.within].t_ns, list[end.within].t_ns) / (double)(ticks.n - 1));
    if (isnan(out->coverage_j))
        out->why = locks;
    if (fmax(start.gap_s, end.gap_s) > SILENT * typical || stood_still(out, period, gap_j))
        out->why = "it stood still for more than two of its periods and did not catch up: joules are missing";
}

/* ---- watts ---- */

struct integral {
    const struct ifm_readings *readings;
    double period_s;
};

static double watts_of(const struct integral *in, size_t i)
{
    return 1e-6 * (double)in->readings->list[i].micro;
}

/* Power at `t_ns`, between the readings round it; of `after`, the first reading at or after it. NaN = there is none
 * near enough. */
static double power_at(const struct integral *in, int64_t t_ns, size_t after)
{
    const struct ifm_reading *list = in->readings->list;
    size_t n = in->readings->n;
    if (after < n && list[after].t_ns == t_ns)
        return watts_of(in, after);
    if (after == 0)
        return n > 0 && seconds_of(t_ns, list[0].t_ns) <= in->period_s ? watts_of(in, 0) : NAN;
    if (after == n)
        return seconds_of(list[n - 1].t_ns, t_ns) <= in->period_s ? watts_of(in, n - 1) : NAN;
    double share = (double)(t_ns - list[after - 1].t_ns) / (double)(list[after].t_ns - list[after - 1].t_ns);
    return watts_of(in, after - 1) + share * (watts_of(in, after) - watts_of(in, after - 1));
}

/* The rule over readings [first, last) and the two ends; notes the longest way between two readings. */
static double trapezoids(const struct integral *in, int64_t from_ns, int64_t to_ns, size_t first, size_t last,
                         double at_start, double at_end, double *longest)
{
    const struct ifm_reading *list = in->readings->list;
    double joules = 0.0, before = at_start;
    int64_t now = from_ns;
    for (size_t i = first; i < last; i++) {
        joules += 0.5 * (before + watts_of(in, i)) * seconds_of(now, list[i].t_ns);
        before = watts_of(in, i);
        now = list[i].t_ns;
        if (i > 0)
            *longest = fmax(*longest, seconds_of(list[i - 1].t_ns, list[i].t_ns));
    }
    if (last > 0 && last < in->readings->n)
        *longest = fmax(*longest, seconds_of(list[last - 1].t_ns, list[last].t_ns));
    return joules + 0.5 * (before + at_end) * seconds_of(now, to_ns);
}

/* Between the two readings round the end of a run power may have stepped at any time. */
static double step_at(const struct integral *in, size_t after)
{
    const struct ifm_reading *list = in->readings->list;
    if (after == 0 || after >= in->readings->n)
        return 0.5 * in->period_s * watts_of(in, after == 0 ? 0 : after - 1);
    return 0.5 * seconds_of(list[after - 1].t_ns, list[after].t_ns) *
           fabs(watts_of(in, after) - watts_of(in, after - 1));
}

/* What readings of moments miss; NaN where they may lock to the load and never saw it swing. */
static double missed_by_points(const struct ifm_joules_sensor *sensor, const struct ifm_joules *out)
{
    double mean = out->joules / out->seconds;
    const struct ifm_coverage_points points = {.readings = (double)out->readings,
                                               .every_s = out->seconds / (double)out->readings,
                                               .period_s = sensor->load_period_s,
                                               .dither_s = sensor->load_dither_s,
                                               .range_w = fmax(mean - sensor->low_w, sensor->high_w - mean)};
    bool swings = sensor->high_w - sensor->low_w > SEEN_SWING * mean;
    return !swings && ifm_coverage_points_lock(&points) ? NAN : ifm_coverage_points_w(&points);
}

/* What samples may miss: noise by their number, a periodic load as a whole. NaN = it cannot be told. */
static double missed_w(const struct ifm_joules_sensor *sensor, double spread, const struct ifm_joules *out)
{
    double covered = coverage_of(sensor, spread, out), points = sensor->points ? missed_by_points(sensor, out) : 0.0;
    if (isnan(covered) || isnan(points))
        return NAN;
    double noise = fmax(fmax(covered, points), NORMAL95 * spread / sqrt((double)out->readings));
    bool swings =
        ifm_joules_periodic(spread, out->joules / out->seconds) && sensor->load_period_s < IFM_COVERAGE_LOCKS_S;
    return swings ? fmax(noise, LOCKED_SHARE * spread) : noise;
}

void ifm_joules_integral(const struct ifm_readings *readings, const struct ifm_joules_sensor *sensor, int64_t from_ns,
                         int64_t to_ns, struct ifm_joules *out)
{
    const struct ifm_reading *list = readings->list;
    size_t first = ifm_joules_first(readings, from_ns), last = first;
    *out = (struct ifm_joules){.start_ns = from_ns, .end_ns = to_ns, .seconds = seconds_of(from_ns, to_ns)};
    while (last < readings->n && list[last].t_ns <= to_ns)
        last++;
    out->readings = last - first;
    if (out->readings < 2 || to_ns <= from_ns) {
        out->why = out->readings == 0 ? "there is no reading of it in the window" : "it spoke once";
        return;
    }
    struct integral in = {readings, sensor->period_s};
    if (!(in.period_s > 0))
        in.period_s = seconds_of(list[first].t_ns, list[last - 1].t_ns) / (double)(out->readings - 1);
    double at_start = power_at(&in, from_ns, first);
    double at_end = power_at(&in, to_ns, list[last - 1].t_ns == to_ns ? last - 1 : last);
    if (isnan(at_start) || isnan(at_end)) {
        out->why = "there is no reading of it within one of its periods of the window's end";
        return;
    }
    out->joules = trapezoids(&in, from_ns, to_ns, first, last, at_start, at_end, &out->longest_gap_s);
    if (out->longest_gap_s > LONGEST_GAP * in.period_s * (1.0 + 1e-9))
        out->why = "its readings have a gap of more than three of its periods";
    else if (lround(out->seconds / in.period_s) < IFM_JOULES_TICKS)
        out->why = "the window has fewer than 10 of its periods";
    if (out->why != NULL) {
        out->joules = 0.0;
        return;
    }
    double own = ifm_joules_spread(readings, from_ns, to_ns);
    double spread = fmax(sensor->spread_w, fmax(own, 0.0));
    out->quantum_j = 0.5 * sensor->quantum * out->seconds; /* a steady load is cut off at the same side each time */
    out->coverage_j = missed_w(sensor, spread, out) * out->seconds;
    double steps_j = sensor->whole ? UNIFORM95 * hypot(step_at(&in, first), step_at(&in, last)) : 0.0;
    finish(out, spread, (struct end){(double)list[first].half_ns, at_start},
           (struct end){(double)list[last - 1].half_ns, at_end}, steps_j);
    if (isnan(out->coverage_j))
        out->why = locks;
}
