/* Loads that swing and steps of load: see report.h. */
#include "energy/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S INT64_C(1000000000)
#define EDGE_NS (S / 5) /* of a short phase, before and after its window */
#define RAMP_MS 7.3     /* the period of the ramp of duty */
enum { MOST = 256, MOST_EDGES = 64, MOST_GAPS = 65536 };

static bool is_ramp(const struct capture_phase *phase)
{
    return fabs(phase->period_ms - RAMP_MS) < 1e-6;
}

/* `known` of the load is for loads with a period that the sensor may lock to. */
static bool joules_of(const struct capture *capture, const struct capture_sensor *sensor,
                      struct ifm_joules_sensor known, int64_t from_ns, int64_t to_ns, struct ifm_joules *out)
{
    const struct capture_sensor *ring = capture_find(capture, "nvml_samples");
    if (!sensor->readings.joules) {
        ifm_joules_integral(&sensor->readings, &known, from_ns, to_ns, out);
    } else {
        if (ring != NULL)
            known.spread_w = ifm_joules_spread(&ring->readings, from_ns, to_ns);
        ifm_joules_counter(&sensor->readings, &known, from_ns, to_ns, out);
    }
    return out->why == NULL;
}

static bool window_of(const struct capture *capture, const struct capture_sensor *sensor, int64_t from_ns,
                      int64_t to_ns, struct ifm_joules *out)
{
    return joules_of(capture, sensor, sensor->known, from_ns, to_ns, out);
}

/* Mean power of the idle phases, their first second left out; 0 = there is none that is long enough. */
static double idle_of(const struct capture *capture, const struct capture_sensor *sensor)
{
    double sum = 0, n = 0;
    for (size_t p = 0; p < capture->n_phases; p++) {
        const struct capture_phase *phase = &capture->phases[p];
        struct ifm_joules one;
        bool idle = phase->steps == 0 && phase->period_ms <= 0;
        if (idle && window_of(capture, sensor, phase->start_ns + S, phase->end_ns, &one)) {
            sum += one.watts;
            n++;
        }
    }
    return n > 0 ? sum / n : 0;
}

/* What a run knows of a sensor under this load: the distance of its steps, how far that is random, idle power and
 * limit.
 */
static struct ifm_joules_sensor known_of(const struct capture *capture, const struct capture_sensor *sensor,
                                         const struct capture_phase *phase)
{
    struct ifm_joules_sensor known = sensor->known;
    known.load_period_s = 1e-3 * (phase->period_ms + 0.5 * phase->dither_ms);
    known.load_dither_s = 1e-3 * phase->dither_ms / sqrt(12);
    known.low_w = idle_of(capture, sensor);
    known.high_w = known.low_w > 0 ? sensor->limit_w : 0;
    return known;
}

/* ---- a straight line ---- */

struct line {
    double n, x, y, xx, xy;
};

static void line_add(struct line *line, double x, double y)
{
    line->n++;
    line->x += x;
    line->y += y;
    line->xx += x * x;
    line->xy += x * y;
}

static double line_slope(const struct line *line)
{
    return (line->xy - line->x * line->y / line->n) / (line->xx - line->x * line->x / line->n);
}

static double line_at(const struct line *line, double x)
{
    return line->y / line->n + line_slope(line) * (x - line->x / line->n);
}

/* Power against duty over the ramp, by this sensor. */
static struct line ramp_of(const struct capture *capture, const struct capture_sensor *sensor)
{
    struct line line = {0};
    for (size_t p = 0; p < capture->n_phases; p++) {
        const struct capture_phase *phase = &capture->phases[p];
        struct ifm_joules one;
        /* an average over a second still holds what was before for as long */
        int64_t settle = strcmp(sensor->source, "nvml_average") == 0 ? 6 * S / 5 : EDGE_NS;
        if (is_ramp(phase) && window_of(capture, sensor, phase->start_ns + settle, phase->end_ns - EDGE_NS, &one))
            line_add(&line, capture_duty(phase, one.start_ns, one.end_ns), one.watts);
    }
    return line;
}

void energy_report_linear(const struct capture *capture)
{
    static const char *const sources[] = {"nvml_energy", "nvml_samples", "nvml_average"};
    printf("== linear steps of load\n");
    for (size_t s = 0; s < sizeof sources / sizeof *sources; s++) {
        const struct capture_sensor *sensor = capture_find(capture, sources[s]);
        if (sensor == NULL)
            continue;
        struct line line = ramp_of(capture, sensor);
        if (line.n < 3)
            continue;
        double most = 0;
        printf("%-14s", sensor->source);
        for (size_t p = 0; p < capture->n_phases; p++) {
            const struct capture_phase *phase = &capture->phases[p];
            int64_t settle = strcmp(sensor->source, "nvml_average") == 0 ? 6 * S / 5 : EDGE_NS;
            struct ifm_joules one;
            if (!is_ramp(phase) || !window_of(capture, sensor, phase->start_ns + settle, phase->end_ns - EDGE_NS, &one))
                continue;
            double duty = capture_duty(phase, one.start_ns, one.end_ns), off = one.watts - line_at(&line, duty);
            most = fabs(off) > fabs(most) ? off : most;
            printf("  %.3f: %.1f W", duty, one.watts);
        }
        printf("\n%-14s  line %.1f + %.1f x duty; farthest %+.2f W, %.2f %% of full load\n", "", line_at(&line, 0),
               line_slope(&line), most, 100 * fabs(most) / line_at(&line, 1));
    }
}

/* ---- square waves ---- */

struct swing {
    double watts, half, duty, seconds;
};

/* Windows of all phases with this period and duty; `*why` is the reason of one that was refused. */
static size_t swings_of(const struct capture *capture, const struct capture_sensor *sensor,
                        const struct capture_phase *like, int64_t length_ns, struct swing *out, const char **why)
{
    const struct ifm_joules_sensor known = known_of(capture, sensor, like);
    size_t n = 0;
    *why = NULL;
    for (size_t p = 0; p < capture->n_phases; p++) {
        const struct capture_phase *phase = &capture->phases[p];
        if (strcmp(phase->name, like->name) != 0)
            continue;
        int64_t first = phase->start_ns + EDGE_NS, last = phase->end_ns - EDGE_NS;
        int64_t length = length_ns > 0 ? length_ns : last - first;
        for (int64_t from = first; length > 0 && from + length <= last && n < MOST; from += length) {
            struct ifm_joules one;
            if (!joules_of(capture, sensor, known, from, from + length, &one))
                *why = one.why;
            else
                out[n++] = (struct swing){one.watts, one.random_j / one.seconds,
                                          capture_duty(phase, one.start_ns, one.end_ns), one.seconds};
        }
    }
    return n;
}

/* A window holds no whole number of periods: its power is compared at the mean duty, by the slope of the ramp. The
 * load's own swing is the standard deviation that its two levels and its duty give it. */
static void report_swings(const char *name, const char *source, const struct swing *swings, size_t n, double slope,
                          const struct line *ramp)
{
    double watts = 0, duty = 0, bar = 0, most = 0, worst = 0, squares = 0, seconds = 0;
    size_t within = 0;
    for (size_t i = 0; i < n; i++) {
        watts += swings[i].watts / (double)n;
        duty += swings[i].duty / (double)n;
        bar += swings[i].half / (double)n;
        seconds += swings[i].seconds / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        double off = swings[i].watts - watts - slope * (swings[i].duty - duty);
        within += fabs(off) <= swings[i].half;
        most = fmax(most, fabs(off));
        worst = fmax(worst, fabs(off) / swings[i].half);
        squares += off * off;
    }
    printf("%-16s %-12s %5.2f s x %2zu: mean %6.1f W", name, source, seconds, n, watts);
    if (slope > 0) {
        double expected = line_at(ramp, duty);
        printf(", by the ramp %6.1f (%+.2f %%), farthest %.3f of the load's own swing", expected,
               100 * (watts / expected - 1), most / (slope * sqrt(duty * (1 - duty))));
    }
    printf("; sd %.2f %%, farthest %.2f %%, bar +-%.2f %%, within %zu of %zu (%s), farthest %.2f bars\n",
           100 * sqrt(squares / (double)(n > 1 ? n - 1 : 1)) / watts, 100 * most / watts, 100 * bar / watts, within, n,
           within == n ? "yes" : "NO", worst);
}

static bool seen_before(const struct capture *capture, size_t index)
{
    for (size_t p = 0; p < index; p++)
        if (strcmp(capture->phases[p].name, capture->phases[index].name) == 0)
            return true;
    return false;
}

void energy_report_waves(const struct capture *capture)
{
    static const char *const sources[] = {"nvml_energy", "nvml_samples"};
    static struct swing swings[MOST];
    printf("== square waves: windows of the same work beside their bars\n");
    for (size_t p = 0; p < capture->n_phases; p++) {
        const struct capture_phase *phase = &capture->phases[p];
        if (!(phase->period_ms > 0) || is_ramp(phase) || seen_before(capture, p))
            continue;
        for (size_t s = 0; s < 2 * (sizeof sources / sizeof *sources); s++) {
            const struct capture_sensor *sensor = capture_find(capture, sources[s / 2]);
            if (sensor == NULL)
                continue;
            struct line ramp = ramp_of(capture, sensor);
            if (ramp.n < 3) { /* a session without a ramp: nothing to compare at */
                ramp = (struct line){0};
                line_add(&ramp, 0, NAN);
            }
            double slope = ramp.n < 3 ? 0 : line_slope(&ramp);
            const char *why;
            size_t n = swings_of(capture, sensor, phase, s % 2 == 0 ? 0 : 3 * S / 2, swings, &why);
            if (why != NULL)
                printf("%-16s %-12s refused: %s\n", phase->name, sensor->source, why);
            if (n > 0)
                report_swings(phase->name, sensor->source, swings, n, slope, &ramp);
        }
    }
}

/* ---- refresh and lag ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double share_of(double *values, size_t n, double p)
{
    qsort(values, n, sizeof *values, by_size);
    return values[(size_t)(p * (double)(n - 1) + 0.5)];
}

static void report_refresh(const struct capture_sensor *sensor)
{
    static double gaps[MOST_GAPS];
    const struct ifm_readings *readings = &sensor->readings;
    size_t n = 0;
    int64_t last = 0;
    double half = 0;
    for (size_t i = 0; i < readings->n && n < MOST_GAPS; i++) {
        half += 1e-6 * (double)readings->list[i].half_ns / (double)readings->n;
        if (i > 0 && readings->list[i].micro == readings->list[i - 1].micro)
            continue;
        if (last != 0)
            gaps[n++] = 1e-6 * (double)(readings->list[i].t_ns - last);
        last = readings->list[i].t_ns;
    }
    if (n > 10)
        printf("%-14s %zu readings; new every %.2f ms (5 %%: %.2f, 95 %%: %.2f, most %.2f); known to +-%.2f ms\n",
               sensor->source, readings->n, share_of(gaps, n, 0.5), share_of(gaps, n, 0.05), share_of(gaps, n, 0.95),
               share_of(gaps, n, 1), half);
}

/* A step of load: idle, then load without a period, or the other way round. */
struct edge {
    int64_t t_ns, from_ns, to_ns; /* of the step; of what is steady before and after it */
    bool up;
};

static size_t edges_of(const struct capture *capture, struct edge *edges)
{
    size_t n = 0;
    for (size_t p = 1; p < capture->n_phases && n < MOST_EDGES; p++) {
        const struct capture_phase *before = &capture->phases[p - 1], *after = &capture->phases[p];
        bool meet = after->start_ns - before->end_ns < S / 20; /* a capture that was cut has holes */
        bool steady = meet && before->period_ms <= 0 && after->period_ms <= 0;
        if (steady && before->n_marks == 0 && after->n_marks > 0)
            edges[n++] = (struct edge){after->marks[0].t_ns, before->start_ns, after->end_ns, true};
        if (steady && before->n_marks > 0 && after->n_marks == 0)
            edges[n++] = (struct edge){before->marks[before->n_marks - 1].t_ns, before->start_ns, after->end_ns, false};
    }
    return n;
}

/* Mean of the readings of watts in [from, to]; NaN without any. */
static double level(const struct ifm_readings *readings, int64_t from_ns, int64_t to_ns)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < readings->n; i++)
        if (readings->list[i].t_ns >= from_ns && readings->list[i].t_ns <= to_ns) {
            sum += 1e-6 * (double)readings->list[i].micro;
            n++;
        }
    return sum / n;
}

/* When watts cross `share` of the way from one level to the other, in ms after the step; readings that stand between
 * refreshes are joined by straight lines. */
static double crossing(const struct ifm_readings *readings, const struct edge *edge, double from_w, double to_w,
                       double share)
{
    double want = from_w + share * (to_w - from_w);
    for (size_t i = 1; i < readings->n; i++) {
        const struct ifm_reading *a = &readings->list[i - 1], *b = &readings->list[i];
        double x = 1e-6 * (double)a->micro, y = 1e-6 * (double)b->micro;
        if (b->t_ns < edge->t_ns || b->t_ns > edge->to_ns || (y - want) * (to_w - from_w) < 0)
            continue;
        double at = (x - want) * (to_w - from_w) < 0 ? (want - x) / (y - x) : 1;
        return 1e-6 * ((double)(a->t_ns - edge->t_ns) + at * (double)(b->t_ns - a->t_ns));
    }
    return NAN;
}

/* Slope of a counter between its first and last reading in [from, to], and those readings. */
static double slope_of(const struct ifm_readings *readings, int64_t from_ns, int64_t to_ns,
                       const struct ifm_reading **first, const struct ifm_reading **last)
{
    *first = *last = NULL;
    for (size_t i = 0; i < readings->n; i++)
        if (readings->list[i].t_ns >= from_ns && readings->list[i].t_ns <= to_ns) {
            *first = *first == NULL ? &readings->list[i] : *first;
            *last = &readings->list[i];
        }
    if (*first == NULL || (*last)->t_ns <= (*first)->t_ns)
        return NAN;
    return (double)((*last)->micro - (*first)->micro) / (double)((*last)->t_ns - (*first)->t_ns);
}

/* Where the lines before and after the step meet, in ms after it: a counter that is late is late as a whole. */
static double meeting(const struct ifm_readings *readings, const struct edge *edge)
{
    const struct ifm_reading *first, *before, *after, *last;
    double a = slope_of(readings, edge->from_ns + S / 5, edge->t_ns, &first, &before);
    double b = slope_of(readings, edge->t_ns + 3 * S / 10, edge->to_ns, &after, &last);
    if (isnan(a) || isnan(b))
        return NAN;
    double rise = (double)(after->micro - before->micro), span = (double)(after->t_ns - before->t_ns);
    double at = (rise - b * span) / (a - b); /* rise = a at + b (span - at) */
    return 1e-6 * ((double)(before->t_ns - edge->t_ns) + at);
}

static void report_lag(const struct capture_sensor *sensor, const struct edge *edges, size_t n_edges)
{
    static const double shares[] = {0.1, 0.5, 0.9};
    const struct ifm_readings *readings = &sensor->readings;
    for (int up = 1; up >= 0; up--) {
        printf("%-14s step %s:", sensor->source, up ? "up" : "down");
        for (size_t s = 0; s < (readings->joules ? 1 : 3); s++) {
            double lags[MOST_EDGES];
            size_t n = 0;
            for (size_t e = 0; e < n_edges; e++) {
                const struct edge *edge = &edges[e];
                double from_w = level(readings, edge->t_ns - S / 5, edge->t_ns);
                double to_w = level(readings, edge->to_ns - S / 5, edge->to_ns);
                double lag = edge->up != up     ? NAN
                             : readings->joules ? meeting(readings, edge)
                                                : crossing(readings, edge, from_w, to_w, shares[s]);
                if (!isnan(lag))
                    lags[n++] = lag;
            }
            if (n == 0)
                continue;
            double middle = share_of(lags, n, 0.5); /* sorts them */
            if (readings->joules)
                printf(" lines meet %+.1f ms after it [%+.1f, %+.1f], %zu steps", middle, lags[0], lags[n - 1], n);
            else
                printf(" %.0f %% of the way after %+.1f ms [%+.1f, %+.1f]", 100 * shares[s], middle, lags[0],
                       lags[n - 1]);
        }
        printf("\n");
    }
}

void energy_report_sensors(const struct capture *capture)
{
    struct edge edges[MOST_EDGES];
    size_t n = edges_of(capture, edges);
    printf("== sensors\n");
    for (size_t i = 0; i < capture->n_sensors; i++)
        if (capture->sensors[i].readings.n > 0) {
            report_refresh(&capture->sensors[i]);
            if (n > 0)
                report_lag(&capture->sensors[i], edges, n);
        }
}
