/* An energy pass made by hand: two arms, four windows each, a GPU with four sensors and a processor with one. */
#ifndef TESTS_UNIT_POWER_PASS_H
#define TESTS_UNIT_POWER_PASS_H

#include "derive/energy/power.h"
#include "derive/energy/power_run.h"
#include <math.h>
#include <string.h>

enum {
    POWER_HZ = 10,
    POWER_SECONDS = 96,
    POWER_STEPS = POWER_HZ * POWER_SECONDS,
    POWER_TRACES = 6,
    POWER_FACTS = 5,
    POWER_WINDOWS = 8,
    POWER_PHASES = 2 + POWER_WINDOWS + 6
};
#define POWER_START INT64_C(30000000000)

struct power_sample {
    struct ifm_power_fact facts[POWER_FACTS];
    struct ifm_power_window windows[2][POWER_WINDOWS];
    struct ifm_power_device devices[2];
    struct ifm_power_phase phases[POWER_PHASES];
    struct ifm_power_trace traces[POWER_TRACES];
    double watts[POWER_TRACES][POWER_STEPS];
    struct ifm_power_shown shown;
};

static inline struct ifm_power_fact power_fact(const char *device, const char *source, enum ifm_power_kind kind,
                                               enum ifm_power_role role)
{
    return (struct ifm_power_fact){.device = device,
                                   .source = source,
                                   .kind = kind,
                                   .role = role,
                                   .period_s = 0.1,
                                   .quantum = NAN,
                                   .gain_error = 0.05,
                                   .limit_w = NAN,
                                   .call_s = 0.33e-6,
                                   .lag_s = NAN,
                                   .sensor_window_s = NAN};
}

/* A window of `watts` for ten seconds; the witness sees a little more. */
static inline struct ifm_power_window power_window(size_t arm, size_t slot, int64_t start_ns, double watts,
                                                   double steps)
{
    struct ifm_power_window window = {.arm = arm,
                                      .block = slot / 4,
                                      .slot = slot,
                                      .start_ns = start_ns,
                                      .end_ns = start_ns + INT64_C(10000000000),
                                      .steps = steps,
                                      .busy_s = 9.9,
                                      .fault = ""};
    window.by_primary = (struct ifm_joules){.start_ns = start_ns + 40000000,
                                            .end_ns = start_ns + INT64_C(9940000000),
                                            .joules = watts * 9.9,
                                            .seconds = 9.9,
                                            .watts = watts,
                                            .readings = 100,
                                            .random_j = watts * 9.9 * 0.002};
    window.step_j = window.by_primary.joules;
    window.step_half_j = window.by_primary.random_j;
    window.by_witness = window.by_primary;
    window.by_witness.watts = 1.0015 * watts;
    window.by_witness.joules = 1.0015 * watts * 9.9;
    return window;
}

/* What draws at `second` of the pass: 0 idle, else the arm's level; a short rise when it changes. */
static inline double power_level(double second, const struct ifm_power_phase *phases, size_t n, double idle,
                                 const double *levels)
{
    double level = idle;
    for (size_t i = 0; i < n; i++) {
        double from = 1e-9 * (double)(phases[i].start_ns - POWER_START);
        double to = 1e-9 * (double)(phases[i].end_ns - POWER_START);
        if (second >= from && second < to && phases[i].kind != IFM_POWER_IDLE)
            level = levels[phases[i].arm] * (phases[i].kind == IFM_POWER_PRE_ROLL && second < from + 0.2 ? 0.8 : 1.0);
    }
    return level;
}

static inline void power_phases(struct power_sample *s)
{
    static const size_t order[POWER_WINDOWS] = {0, 1, 1, 0, 1, 0, 0, 1};
    static const double gpu[] = {690, 452}, cpu[] = {58, 55}, steps[] = {15840, 24760};
    int64_t now = POWER_START, second = INT64_C(1000000000);
    size_t n = 0;
    s->phases[n++] = (struct ifm_power_phase){IFM_POWER_IDLE, -1, now, now + 5 * second};
    now += 5 * second;
    for (size_t w = 0; w < POWER_WINDOWS; w++) {
        int arm = (int)order[w];
        if (w == 0 || order[w] != order[w - 1]) {
            s->phases[n++] = (struct ifm_power_phase){IFM_POWER_PRE_ROLL, arm, now, now + second};
            now += second;
        }
        s->phases[n++] = (struct ifm_power_phase){IFM_POWER_WINDOW, arm, now, now + 10 * second};
        double wobble = 1 + 0.001 * (double)(w % 3);
        s->windows[0][w] = power_window(order[w], w, now, gpu[arm] * wobble, steps[arm]);
        s->windows[1][w] = power_window(order[w], w, now, cpu[arm] * wobble, steps[arm]);
        s->windows[1][w].by_witness.why = "there is none";
        now += 10 * second;
    }
    s->phases[n++] = (struct ifm_power_phase){IFM_POWER_IDLE, -1, now, now + 5 * second};
    s->shown.power.n_phases = n;
}

static inline void power_traces(struct power_sample *s)
{
    static const double gpu[] = {690, 452}, cpu[] = {58, 55};
    for (size_t t = 0; t < POWER_TRACES; t++)
        s->traces[t] = (struct ifm_power_trace){.device = t == 0 ? "" : s->facts[t - 1].device,
                                                .source = t == 0 ? "" : s->facts[t - 1].source,
                                                .role = t == 0 ? IFM_POWER_PRIMARY : s->facts[t - 1].role,
                                                .start_ns = POWER_START,
                                                .hz = POWER_HZ,
                                                .watts = s->watts[t],
                                                .n = POWER_STEPS};
    for (size_t i = 0; i < POWER_STEPS; i++) {
        double second = ((double)i + 0.5) / POWER_HZ, noise = 3 * sin(0.9 * (double)i);
        double g = power_level(second, s->phases, s->shown.power.n_phases, 128, gpu) + noise;
        double c = power_level(second, s->phases, s->shown.power.n_phases, 31, cpu) + 0.1 * noise;
        s->watts[0][i] = g + c;
        s->watts[1][i] = g;
        s->watts[2][i] = g + 2 * cos(2.1 * (double)i);
        s->watts[3][i] = i < 20 ? NAN : 0.3 * g;
        s->watts[4][i] = g + 25 * sin(0.35 * (double)i);
        s->watts[5][i] = c;
    }
}

/* `s` is filled in place: it points into itself. `cell` may be NULL. */
static inline void power_sample_make(struct power_sample *s, const struct ifm_cell *cell)
{
    memset(s, 0, sizeof *s);
    s->facts[0] = power_fact("gpu0", "nvml_energy", IFM_POWER_COUNTER, IFM_POWER_PRIMARY);
    s->facts[0].limit_w = 700;
    s->facts[0].call_s = 2.3e-3;
    s->facts[1] = power_fact("gpu0", "nvml_samples", IFM_POWER_SAMPLES, IFM_POWER_WITNESS);
    s->facts[1].period_s = 0.02;
    s->facts[1].lag_s = 0.02;
    s->facts[1].steps = 2;
    s->facts[1].step_lag_s = 0.012;
    s->facts[1].step_lag_low_s = 0.010;
    s->facts[1].step_lag_high_s = 0.014;
    s->facts[1].step_window_s = 0.045;
    s->facts[2] = power_fact("gpu0", "nvml_memory", IFM_POWER_AVERAGE, IFM_POWER_PART);
    s->facts[2].sensor_window_s = 1;
    s->facts[3] = power_fact("gpu0", "nvml_instant", IFM_POWER_INSTANT, IFM_POWER_SHOWN);
    s->facts[4] = power_fact("cpu0", "rapl", IFM_POWER_COUNTER, IFM_POWER_PRIMARY);
    s->facts[4].period_s = 0.001;
    s->facts[4].gain_error = NAN;
    power_phases(s);
    s->devices[0] = (struct ifm_power_device){.device = "gpu0",
                                              .primary = &s->facts[0],
                                              .witness = &s->facts[1],
                                              .idle_w = 128.1,
                                              .idle_half_w = 0.2,
                                              .limit_w = 700,
                                              .windows = s->windows[0],
                                              .n_windows = POWER_WINDOWS};
    s->devices[1] = (struct ifm_power_device){.device = "cpu0",
                                              .primary = &s->facts[4],
                                              .idle_w = 31,
                                              .idle_half_w = 0.4,
                                              .limit_w = NAN,
                                              .windows = s->windows[1],
                                              .n_windows = POWER_WINDOWS};
    s->shown.cell = cell;
    s->shown.power.missing = s->shown.power.remedy = "";
    s->shown.power.facts = s->facts;
    s->shown.power.n_facts = POWER_FACTS;
    s->shown.power.devices = s->devices;
    s->shown.power.n_devices = 2;
    s->shown.power.phases = s->phases;
    power_traces(s);
    s->shown.traces = s->traces;
    s->shown.n_traces = POWER_TRACES;
}

#endif
