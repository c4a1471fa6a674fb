/* What the sensors said of a session's loads, beside the bars: nothing is measured here, joules are derive's. */
#include "energy/capture.h"
#include "energy/energy.h"

#include "energy/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define S INT64_C(1000000000)
#define SETTLE_NS (2 * S) /* of a steady phase before its first window */
#define LONG_NS (30 * S)  /* a steady phase that windows are cut from */
#define AGREE 0.005       /* bars */
#define RANDOM 0.005
#define HONEST 0.95
#define STEP_CV 0.003
enum { MOST_WINDOWS = 100, CV_WINDOWS = 6, CV_SECONDS = 5 };

/* ---- windows ---- */

/* The sensor as a run would know it: its spread is that of the ring in the window. */
static void counter_of(const struct capture *capture, const struct capture_sensor *counter, int64_t from_ns,
                       int64_t to_ns, struct ifm_joules *out)
{
    const struct capture_sensor *ring = capture_find(capture, "nvml_samples");
    struct ifm_joules_sensor known = counter->known;
    if (ring != NULL)
        known.spread_w = ifm_joules_spread(&ring->readings, from_ns, to_ns);
    ifm_joules_counter(&counter->readings, &known, from_ns, to_ns, out);
}

static void joules_of(const struct capture *capture, const struct capture_sensor *sensor, int64_t from_ns,
                      int64_t to_ns, struct ifm_joules *out)
{
    if (sensor->readings.joules)
        counter_of(capture, sensor, from_ns, to_ns, out);
    else
        ifm_joules_integral(&sensor->readings, &sensor->known, from_ns, to_ns, out);
}

static bool is_long(const struct capture_phase *phase)
{
    return phase->steps > 0 && phase->period_ms <= 0 && phase->end_ns - phase->start_ns > LONG_NS;
}

/* ---- counter and ring over 10 s; the bar that is printed ---- */

static void report_agreement(const struct capture *capture, const struct capture_phase *phase)
{
    const struct capture_sensor *counter = capture_find(capture, "nvml_energy");
    const struct capture_sensor *ring = capture_find(capture, "nvml_samples");
    double most = 0, sum = 0, bar = 0;
    size_t n = 0, refused = 0;
    for (int64_t from = phase->start_ns + SETTLE_NS; counter != NULL && ring != NULL && from + 10 * S <= phase->end_ns;
         from += S) {
        struct ifm_joules a, b;
        counter_of(capture, counter, from, from + 10 * S, &a);
        if (a.why == NULL)
            ifm_joules_integral(&ring->readings, &ring->known, a.start_ns, a.end_ns, &b);
        if (a.why != NULL || b.why != NULL) {
            printf("  refused: %s\n", a.why != NULL ? a.why : b.why);
            refused++;
            continue;
        }
        double off = b.joules / a.joules - 1;
        most = fabs(off) > fabs(most) ? off : most;
        sum += off;
        bar = fmax(bar, a.random_j / a.joules);
        n++;
    }
    if (n == 0)
        return;
    printf("%-8s 10 s windows: %zu, %zu refused; ring - counter mean %+.3f %%, most %+.3f %% (bar 0.5: %s); "
           "random +-%.3f %% at most (bar 0.5: %s)\n",
           phase->name, n, refused, 100 * sum / (double)n, 100 * most, fabs(most) <= AGREE ? "yes" : "NO", 100 * bar,
           bar <= RANDOM ? "yes" : "NO");
}

/* ---- honesty ---- */

/* Windows of `length` from start to start `step` apart: how many hold the long-run mean within their random bar. */
static void report_honesty(const struct capture *capture, const struct capture_sensor *sensor,
                           const struct capture_phase *phase, double length_s, double step_s)
{
    struct ifm_joules all, one;
    int64_t first = phase->start_ns + SETTLE_NS, length = (int64_t)(length_s * 1e9);
    double worst = 0, bar = 0, squares = 0;
    size_t n = 0, within = 0;
    joules_of(capture, sensor, first, phase->end_ns, &all);
    for (int64_t from = first; all.why == NULL && n < MOST_WINDOWS && from + length <= phase->end_ns;
         from += (int64_t)(step_s * 1e9)) {
        joules_of(capture, sensor, from, from + length, &one);
        if (one.why != NULL)
            continue;
        double off = one.watts - all.watts, half = one.random_j / one.seconds;
        n++;
        within += fabs(off) <= half;
        worst = fmax(worst, fabs(off) / half);
        bar += half;
        squares += off * off;
    }
    if (n == 0)
        return;
    double mean = bar / (double)n, sd = sqrt(squares / (double)n);
    printf("%-8s %-14s windows of %4.1f s: %3zu of %3zu within their bar of %.3f W (%s); bar +-%.3f %%, "
           "standard deviation %.3f %%, farthest %.2f bars\n",
           phase->name, sensor->source, length_s, within, n, all.watts,
           (double)within >= HONEST * (double)n ? "yes" : "NO", 100 * mean / all.watts, 100 * sd / all.watts, worst);
}

/* ---- joules a step ---- */

static void report_steps(const struct capture *capture, const struct capture_phase *phase)
{
    const struct capture_sensor *counter = capture_find(capture, "nvml_energy");
    int64_t room = phase->end_ns - phase->start_ns - SETTLE_NS - CV_SECONDS * S;
    double sum = 0, squares = 0;
    int n = 0;
    for (int i = 0; counter != NULL && i < CV_WINDOWS; i++) {
        struct ifm_joules one;
        int64_t from = phase->start_ns + SETTLE_NS + room * i / (CV_WINDOWS - 1);
        counter_of(capture, counter, from, from + CV_SECONDS * S, &one);
        double steps = capture_steps(phase, one.end_ns) - capture_steps(phase, one.start_ns);
        if (one.why != NULL || !(steps > 0))
            continue;
        sum += one.joules / steps;
        squares += one.joules / steps * (one.joules / steps);
        n++;
    }
    if (n < 2)
        return;
    double mean = sum / n, sd = sqrt(fmax(squares - sum * mean, 0) / (n - 1));
    printf("%-8s J a step on ticks, %d windows of %d s: %.6g J, CV %.3f %% (bar 0.3: %s)\n", phase->name, n, CV_SECONDS,
           mean, 100 * sd / mean, sd / mean <= STEP_CV ? "yes" : "NO");
}

/* ---- all ---- */

int energy_analyse(const char *folder)
{
    static struct capture capture;
    static const char *const sources[] = {"nvml_energy", "nvml_samples", "nvml_average"};
    if (!capture_load(folder, &capture)) {
        capture_free(&capture);
        return 5;
    }
    printf("== steady loads\n");
    for (size_t p = 0; p < capture.n_phases; p++)
        if (is_long(&capture.phases[p])) {
            report_agreement(&capture, &capture.phases[p]);
            report_steps(&capture, &capture.phases[p]);
        }
    printf("== honesty: windows within their random bar of the mean of the whole load (bar 95 of 100)\n");
    for (size_t p = 0; p < capture.n_phases; p++)
        for (size_t s = 0; is_long(&capture.phases[p]) && s < sizeof sources / sizeof *sources; s++) {
            const struct capture_sensor *sensor = capture_find(&capture, sources[s]);
            double least = sensor == NULL ? 0 : 1.15 * ifm_joules_least_s(sensor->known.period_s);
            if (sensor == NULL)
                continue;
            report_honesty(&capture, sensor, &capture.phases[p], fmax(1, least), 1);
            report_honesty(&capture, sensor, &capture.phases[p], 2, 2);
            report_honesty(&capture, sensor, &capture.phases[p], 10, 0.9);
        }
    energy_report_waves(&capture);
    energy_report_linear(&capture);
    energy_report_sensors(&capture);
    capture_free(&capture);
    return 0;
}
