/* Joules of real sensors: captures of GPUs (tests/captures, cut down by bench/energy_thin.py), read and integrated.
 *
 * What a load was is known from the device's own clock: steps of a steady load are all alike, and a load that runs a
 * share of the time takes power in proportion. */
#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "derive/energy/joules.h"
#include "derive/energy/power_private.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/captures"
#define S INT64_C(1000000000)
#define EDGE_NS (S / 5)
#define RAMP_MS 7.3
enum { PHASES = 96, MARKS = 1024, PATH_ROOM = 512 };

struct phase {
    char name[64];
    int64_t start_ns, end_ns, on_ns;
    double period_ms, dither_ms;
    uint64_t steps;
    int64_t mark_ns[MARKS];
    uint64_t mark_steps[MARKS];
    size_t n_marks;
};

static struct capture {
    struct phase phases[PHASES];
    size_t n;
    struct ifm_readings counter, ring;
    double idle_w, limit_w;
} capture;
static const struct ifm_joules_sensor ticks = {.period_s = 0.1, .quantum = 1e-3},
                                      samples = {.period_s = 0.02, .quantum = 1e-3, .spread_w = -1};

/* ---- reading ---- */

static void load_readings(const char *folder, const char *source, struct ifm_readings *out)
{
    struct ifm_error error = {0};
    char path[PATH_ROOM], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/0-power-gpu0-%s.csv", folder, source);
    assert_int_equal(ifm_file_read(path, (size_t)1 << 20, &text, &size, &error), IFM_OK);
    assert_int_equal(ifm_readings_parse(text, size, path, out, &error), IFM_OK);
    free(text);
    assert_true(out->n > 100);
}

static void load_marks(const char *folder, size_t index, struct phase *phase)
{
    char path[PATH_ROOM], line[128];
    snprintf(path, sizeof path, "%s/marks-%02zu.csv", folder, index);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    while (phase->n_marks < MARKS && fscanf(file, "%" SCNd64 ",%" SCNu64, &phase->mark_ns[phase->n_marks],
                                            &phase->mark_steps[phase->n_marks]) == 2)
        phase->n_marks++;
    assert_true(feof(file));
    fclose(file);
}

/* What a run knows of the device: its limit, and what it draws when it idles, as the ring saw it. */
static void load_device(const char *folder)
{
    char path[PATH_ROOM];
    double sum = 0, n = 0;
    snprintf(path, sizeof path, "%s/session.json", folder);
    json_t *session = json_load_file(path, 0, NULL);
    json_t *sensor = json_array_get(json_object_get(session, "sensors"), 0);
    capture.limit_w = json_number_value(json_object_get(sensor, "limit_w"));
    json_decref(session);
    for (size_t p = 0; p < capture.n; p++) {
        const struct phase *phase = &capture.phases[p];
        bool idle = phase->steps == 0 && !(phase->period_ms > 0) && phase->end_ns - phase->start_ns > 3 * S / 2;
        for (size_t i = 0; idle && i < capture.ring.n; i++)
            if (capture.ring.list[i].t_ns > phase->start_ns + S && capture.ring.list[i].t_ns < phase->end_ns) {
                sum += 1e-6 * (double)capture.ring.list[i].micro;
                n++;
            }
    }
    capture.idle_w = sum / n;
    assert_true(n > 20 && capture.idle_w > 0 && capture.limit_w > capture.idle_w);
}

static void load(const char *folder)
{
    char path[PATH_ROOM], line[256];
    memset(&capture, 0, sizeof capture);
    snprintf(path, sizeof path, "%s/phases.csv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        assert_true(capture.n < PHASES);
        struct phase *phase = &capture.phases[capture.n];
        assert_true(sscanf(line, "%*u,%63[^,],%" SCNd64 ",%" SCNd64 ",%lf,%*f,%" SCNu64 ",%" SCNd64 ",%*u,%lf",
                           phase->name, &phase->start_ns, &phase->end_ns, &phase->period_ms, &phase->steps,
                           &phase->on_ns, &phase->dither_ms) >= 6);
        load_marks(folder, capture.n++, phase);
    }
    fclose(file);
    load_readings(folder, "nvml_energy", &capture.counter);
    load_readings(folder, "nvml_samples", &capture.ring);
    assert_true(capture.counter.joules && !capture.ring.joules);
    load_device(folder);
}

static void unload(void)
{
    ifm_readings_free(&capture.counter);
    ifm_readings_free(&capture.ring);
}

/* ---- windows ---- */

static void count(int64_t from_ns, int64_t to_ns, struct ifm_joules *out)
{
    struct ifm_joules_sensor sensor = ticks;
    sensor.spread_w = ifm_joules_spread(&capture.ring, from_ns, to_ns);
    ifm_joules_counter(&capture.counter, &sensor, from_ns, to_ns, out);
    assert_null(out->why);
    assert_true(out->random_j > 0);
}

static void integrate(int64_t from_ns, int64_t to_ns, struct ifm_joules *out)
{
    ifm_joules_integral(&capture.ring, &samples, from_ns, to_ns, out);
    assert_null(out->why);
    assert_true(out->random_j > 0);
}

static bool is_steady(const struct phase *phase)
{
    return phase->steps > 0 && !(phase->period_ms > 0) && phase->end_ns - phase->start_ns > 30 * S;
}

static double steps_at(const struct phase *phase, int64_t t_ns)
{
    size_t i = 1;
    while (i + 1 < phase->n_marks && phase->mark_ns[i] < t_ns)
        i++;
    double share = (double)(t_ns - phase->mark_ns[i - 1]) / (double)(phase->mark_ns[i] - phase->mark_ns[i - 1]);
    return (double)phase->mark_steps[i - 1] + share * (double)(phase->mark_steps[i] - phase->mark_steps[i - 1]);
}

/* Of all steady loads of a capture. */
struct tally {
    size_t pairs, agree;
    size_t windows, within[2];
};

/* Both sources say the same of 10 s, and each says so within its bar: within 0.5 % where the bar of the counter is no
 * more than that. A sampler that misses ticks knows them worse, and says so. */
static void check_agreement(const struct phase *phase, struct tally *tally)
{
    for (int64_t from = phase->start_ns; from + 10 * S <= phase->end_ns; from += S) {
        struct ifm_joules a, b;
        count(from, from + 10 * S, &a);
        integrate(a.start_ns, a.end_ns, &b);
        assert_true(a.seconds > 1.0 && a.readings > 10);
        assert_true(a.random_j > 0.005 * a.joules || fabs(b.joules / a.joules - 1) <= 0.005);
        assert_true(fabs(b.joules - a.joules) <= 2 * hypot(a.random_j, b.random_j));
        tally->agree += fabs(b.joules - a.joules) <= hypot(a.random_j, b.random_j);
        tally->pairs++;
    }
}

/* Windows of 2 s within their bars of the mean of all, and none by far. */
static void check_honesty(const struct phase *phase, struct tally *tally)
{
    struct ifm_joules all[2], one[2];
    size_t n = 0;
    count(phase->start_ns, phase->end_ns, &all[0]);
    integrate(phase->start_ns, phase->end_ns, &all[1]);
    for (int64_t from = phase->start_ns; from + 2 * S <= phase->end_ns; from += S / 2, n++) {
        count(from, from + 2 * S, &one[0]);
        integrate(from, from + 2 * S, &one[1]);
        for (int i = 0; i < 2; i++) {
            double off = fabs(one[i].watts - all[i].watts) * one[i].seconds;
            assert_true(off <= 2 * one[i].random_j);
            tally->within[i] += off <= one[i].random_j;
        }
    }
    assert_true(n >= 50);
    tally->windows += n;
}

/* Joules a step over windows of 5 s between ticks: a coefficient of variation of 0.3 % at most, where both ticks are
 * known to some 10 ms. False where too few are. */
static bool check_steps(const struct phase *phase)
{
    double sum = 0, squares = 0, n = 0;
    for (int64_t from = phase->start_ns; from + 5 * S <= phase->end_ns; from += 2 * S) {
        struct ifm_joules one;
        count(from, from + 5 * S, &one);
        if (one.edge_j > 0.003 * one.joules)
            continue;
        double each = one.joules / (steps_at(phase, one.end_ns) - steps_at(phase, one.start_ns));
        sum += each;
        squares += each * each;
        n++;
    }
    if (n < 6)
        return false;
    double mean = sum / n, sd = sqrt(fmax(squares - sum * mean, 0) / (n - 1));
    assert_true(sd / mean <= 0.003);
    return true;
}

static void steady_loads_are_told_within_their_bars(void **state)
{
    struct tally tally = {0};
    size_t n = 0, told = 0;
    load(*state);
    for (size_t p = 0; p < capture.n; p++)
        if (is_steady(&capture.phases[p])) {
            check_agreement(&capture.phases[p], &tally);
            check_honesty(&capture.phases[p], &tally);
            told += check_steps(&capture.phases[p]);
            n++;
        }
    assert_true(n >= 2 && told >= 1);
    /* 95 of 100 */
    assert_true(100 * tally.agree >= 95 * tally.pairs);
    for (int i = 0; i < 2; i++)
        assert_true(100 * tally.within[i] >= 95 * tally.windows);
    unload();
}

/* ---- square waves ---- */

struct line {
    double slope, idle;
};

static double duty_of(const struct phase *phase, int64_t from_ns, int64_t to_ns)
{
    if (phase->steps == 0)
        return 0;
    double steps = steps_at(phase, to_ns) - steps_at(phase, from_ns);
    return steps * (double)phase->on_ns / (double)phase->steps / (double)(to_ns - from_ns);
}

/* Power of a load that runs a share of each 7.3 ms lies on a straight line from idle to full load. */
static struct line ramp(void)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, duty[PHASES], watts[PHASES];
    size_t points = 0;
    for (size_t p = 0; p < capture.n; p++) {
        const struct phase *phase = &capture.phases[p];
        struct ifm_joules one;
        if (fabs(phase->period_ms - RAMP_MS) > 1e-9)
            continue;
        count(phase->start_ns + EDGE_NS, phase->end_ns - EDGE_NS, &one);
        duty[points] = (double)phase->on_ns / (double)(phase->end_ns - phase->start_ns);
        watts[points++] = one.watts;
    }
    assert_int_equal(points, 6);
    for (size_t i = 0; i < points; i++, n++) {
        x += duty[i];
        y += watts[i];
        xx += duty[i] * duty[i];
        xy += duty[i] * watts[i];
    }
    double slope = (xy - x * y / n) / (xx - x * x / n), idle = (y - slope * x) / n;
    assert_true(idle > 80 && idle < 200 && slope > 300);
    for (size_t i = 0; i < points; i++)
        assert_true(fabs(watts[i] - idle - slope * duty[i]) <= 0.015 * (idle + slope));
    return (struct line){slope, idle};
}

static void power_follows_the_share_of_time_under_load(void **state)
{
    load(*state);
    struct line line = ramp();
    assert_true(fabs(line.idle - capture.idle_w) < 0.1 * capture.idle_w);
    unload();
}

static bool is_wave(const struct phase *phase)
{
    return phase->period_ms > 0 && fabs(phase->period_ms - RAMP_MS) > 1e-9;
}

/* By the counter, or by the ring, as a run would: it knows how far the steps are apart, and how far that is random. */
static void watch_wave(const struct phase *phase, bool by_ring, int64_t from_ns, int64_t to_ns, struct ifm_joules *out)
{
    struct ifm_joules_sensor sensor = by_ring ? samples : ticks;
    sensor.load_period_s = 1e-3 * (phase->period_ms + 0.5 * phase->dither_ms);
    sensor.load_dither_s = 1e-3 * phase->dither_ms / sqrt(12);
    sensor.low_w = capture.idle_w;
    sensor.high_w = capture.limit_w;
    sensor.spread_w = ifm_joules_spread(&capture.ring, from_ns, to_ns);
    if (by_ring)
        ifm_joules_integral(&capture.ring, &sensor, from_ns, to_ns, out);
    else
        ifm_joules_counter(&capture.counter, &sensor, from_ns, to_ns, out);
    assert_null(out->why);
    assert_true(out->random_j > 0 && out->random_j < 0.5 * out->joules);
}

struct wave {
    double off, half; /* W: from what its share of time under load makes it, by the ramp */
    size_t like;      /* phase of the same name that came first */
};

static size_t waves_of(bool by_ring, int64_t length_ns, const struct line *line, struct wave *out, size_t room)
{
    size_t n = 0;
    for (size_t p = 0; p < capture.n; p++) {
        const struct phase *phase = &capture.phases[p];
        int64_t first = phase->start_ns + EDGE_NS, last = phase->end_ns - EDGE_NS;
        int64_t length = length_ns > 0 ? length_ns : last - first;
        size_t like = 0;
        if (!is_wave(phase))
            continue;
        while (strcmp(capture.phases[like].name, phase->name) != 0)
            like++;
        for (int64_t from = first; from + length <= last && n < room; from += length) {
            struct ifm_joules one;
            watch_wave(phase, by_ring, from, from + length, &one);
            double expected = line->idle + line->slope * duty_of(phase, one.start_ns, one.end_ns);
            out[n++] = (struct wave){one.watts - expected, one.random_j / one.seconds, like};
        }
    }
    return n;
}

/* Mean distance, or mean bar, of all windows of this period and duty. */
static double mean_of_like(const struct wave *waves, size_t n, size_t like, bool bars)
{
    double sum = 0, each = 0;
    for (size_t i = 0; i < n; i++)
        if (waves[i].like == like) {
            sum += bars ? waves[i].half : waves[i].off;
            each++;
        }
    return each > 0 ? sum / each : NAN;
}

/* Windows of square waves lie within their bars of the mean of all with that period and duty, and of what the ramp says
 * (which is known to 1.5 % of the full load itself): all but one of twenty, and none by far. */
static void check_waves(bool by_ring, int64_t length_ns, const struct line *line)
{
    static struct wave waves[8 * PHASES];
    size_t n = waves_of(by_ring, length_ns, line, waves, sizeof waves / sizeof *waves), within = 0, true_too = 0;
    assert_true(n >= 9);
    for (size_t i = 0; i < n; i++) {
        double off = waves[i].off - mean_of_like(waves, n, waves[i].like, false);
        within += fabs(off) <= waves[i].half;
        true_too += fabs(waves[i].off) <= hypot(waves[i].half, 0.015 * (line->idle + line->slope));
        assert_true(fabs(off) <= 1.5 * waves[i].half);
    }
    assert_true(100 * within >= 95 * n && 100 * true_too >= 95 * n);
}

/* A load that locks has a narrower bar when random pauses are between its bursts. */
static void check_dither(const struct line *line)
{
    static struct wave waves[PHASES];
    size_t n = waves_of(false, 0, line, waves, PHASES);
    for (size_t a = 0; a < capture.n; a++)
        for (size_t b = 0; b < capture.n; b++) {
            const struct phase *plain = &capture.phases[a], *dithered = &capture.phases[b];
            bool pair = is_wave(plain) && plain->period_ms <= 20.0 && plain->dither_ms <= 0 && dithered->dither_ms > 0;
            if (pair && fabs(plain->period_ms - dithered->period_ms) < 1e-9 &&
                !isnan(mean_of_like(waves, n, a, true)) && !isnan(mean_of_like(waves, n, b, true)))
                assert_true(mean_of_like(waves, n, b, true) < 0.7 * mean_of_like(waves, n, a, true));
        }
}

static void square_waves_are_told_within_their_bars(void **state)
{
    load(*state);
    struct line line = ramp();
    for (int by_ring = 0; by_ring < 2; by_ring++) {
        check_waves(by_ring, 0, &line);
        check_waves(by_ring, 8 * S / 5, &line);
    }
    check_dither(&line);
    unload();
}

/* Idle, a load of 1.5 s, idle: the ring is half there after some 15 ms, and takes some 45. The counter adds
 * a whole period at each tick, also where a tick comes early: it may be ahead, by less than a period. */
static void steps_of_load_are_followed(void **state)
{
    size_t n = 0;
    load(*state);
    for (size_t p = 1; p < capture.n; p++) {
        const struct phase *one = &capture.phases[p - 1], *next = &capture.phases[p];
        bool rises = one->steps == 0 && next->steps > 0, falls = one->steps > 0 && next->steps == 0;
        if (!(rises || falls) || next->period_ms > 0 || next->start_ns - one->end_ns > S / 100 ||
            next->end_ns - next->start_ns < 3 * S / 2)
            continue;
        const struct ifm_power_edge edge = {one->end_ns - S, one->end_ns, rises ? next->start_ns : one->end_ns,
                                            next->end_ns};
        struct ifm_power_follow counter = ifm_power_follow(&capture.counter, ticks.period_s, &edge);
        struct ifm_power_follow ring = ifm_power_follow(&capture.ring, samples.period_s, &edge);
        assert_true(fabs(counter.lag_s) < ticks.period_s && isnan(counter.window_s));
        assert_true(ring.lag_s > 0 && ring.lag_s < 0.03);
        assert_true(ring.window_s > 0.02 && ring.window_s < 0.08);
        n++;
    }
    assert_int_equal(n, 3);
    ifm_readings_free(&capture.counter);
    ifm_readings_free(&capture.ring);
}

int main(void)
{
    static const struct CMUnitTest of_each[] = {
        cmocka_unit_test(steps_of_load_are_followed),
        cmocka_unit_test(steady_loads_are_told_within_their_bars),
        cmocka_unit_test(power_follows_the_share_of_time_under_load),
        cmocka_unit_test(square_waves_are_told_within_their_bars),
    };
    enum { EACH = sizeof of_each / sizeof *of_each, CAPTURES = 8 };
    static char folders[CAPTURES][PATH_ROOM];
    struct CMUnitTest tests[CAPTURES * EACH];
    size_t n = 0, n_folders = 0;
    DIR *folder = opendir(FOLDER);
    for (struct dirent *entry = folder == NULL ? NULL : readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.' || n_folders == CAPTURES)
            continue;
        snprintf(folders[n_folders], PATH_ROOM, FOLDER "/%s", entry->d_name);
        for (size_t i = 0; i < EACH; i++) {
            tests[n] = of_each[i];
            tests[n++].initial_state = folders[n_folders];
        }
        n_folders++;
    }
    if (folder != NULL)
        closedir(folder);
    if (n == 0) {
        fputs("no capture in " FOLDER "\n", stderr);
        return 1;
    }
    return _cmocka_run_group_tests("captures", tests, n, NULL, NULL);
}
