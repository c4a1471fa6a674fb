/* A cell with an energy pass in memory: two arms in the plan's order, idle phases round them, and sensors that watch a
 * power which is known. A test says what the sensors do wrong. */
#ifndef IFM_TESTS_UNIT_POWER_SAMPLE_H
#define IFM_TESTS_UNIT_POWER_SAMPLE_H

#include "derive/energy/power.h"
#include "rules/fixture.h"

enum { PS_BLOCKS = 2, PS_SENSORS = 12, PS_PHASES = 40, PS_READINGS = 16000 };

struct ps_phase {
    double from, to, watts, swing, period; /* a square wave of `swing` on top, half of its period */
};

struct ps_sensor {
    struct ifm_readings readings;
    struct ifm_reading list[PS_READINGS];
};

struct ps {
    struct fixture fx;
    struct ifm_pass passes[2];
    struct ifm_record energy;
    struct ps_phase phases[PS_PHASES];
    size_t n_phases;
    struct ps_sensor *sensors;
    struct ifm_sensor_readings listed[PS_SENSORS];
    size_t n_sensors;
    struct ifm_cell_readings readings;
    struct ifm_power_cell power;
    double window_s, pause_s, idle_s, idle_w, watts[2], swing, period; /* of the device gpu0 */
    double pause_w;
    unsigned blocks;
};

static inline void ps_phase(struct ps *p, double from, double to, double watts, double swing)
{
    assert_true(p->n_phases < PS_PHASES);
    p->phases[p->n_phases++] = (struct ps_phase){from, to, watts, swing, p->period};
}

/* Joules of the truth until `t`. */
static inline double ps_energy(const struct ps *p, double t)
{
    double joules = 0;
    for (size_t i = 0; i < p->n_phases; i++) {
        const struct ps_phase *f = &p->phases[i];
        double s = fmin(t, f->to) - f->from;
        if (s <= 0)
            continue;
        joules += f->watts * s;
        if (f->swing > 0) {
            double whole = floor(s / f->period);
            joules += f->swing * (whole * 0.5 * f->period + fmin(s - whole * f->period, 0.5 * f->period));
        }
    }
    return joules;
}

static inline double ps_end(const struct ps *p)
{
    return p->phases[p->n_phases - 1].to;
}

/* What a sensor of the event is; steals `more`. */
static inline void ps_event(struct ps *p, const char *device, const char *source, const char *kind, double period_s,
                            json_t *more)
{
    json_t *meta = json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:f, s:f, s:f, s:f}", "cell", "decode", "device", device,
                             "source", source, "kind", kind, "part", 0, "measured", 1, "period_ms", 1e3 * period_s,
                             "quantum", 0.001, "gain_error", 0.05, "limit_w", 700.0);
    if (more != NULL)
        json_object_update(meta, more);
    json_decref(more);
    fx_event(&p->fx, "power_sensor", meta);
}

/* A sensor that sees `gain` times the truth plus `more_w`. Returns its readings, to be spoilt. */
static inline struct ps_sensor *ps_sensor(struct ps *p, const char *device, const char *source, const char *kind,
                                          double period_s, double gain, double more_w)
{
    bool joules = strcmp(kind, "counter") == 0;
    struct ps_sensor *s = &p->sensors[p->n_sensors];
    s->readings = (struct ifm_readings){joules, s->list, 0};
    for (double t = 0.5 * period_s; t < ps_end(p); t += period_s) {
        double dt = fmin(1e-3, 0.5 * period_s), before = ps_energy(p, t - dt), now = ps_energy(p, t);
        double value = joules ? gain * now + more_w * t : gain * (now - before) / dt + more_w;
        assert_true(s->readings.n < PS_READINGS);
        s->list[s->readings.n++] = (struct ifm_reading){llround(1e9 * t), 2000000, llround(1e6 * value)};
    }
    p->listed[p->n_sensors++] = (struct ifm_sensor_readings){device, source, &s->readings};
    p->readings = (struct ifm_cell_readings){p->listed, p->n_sensors};
    return s;
}

static inline struct ps_sensor *ps_counter(struct ps *p)
{
    ps_event(p, "gpu0", "nvml_energy", "counter", 0.1, NULL);
    return ps_sensor(p, "gpu0", "nvml_energy", "counter", 0.1, 1, 0);
}

static inline struct ps_sensor *ps_ring(struct ps *p, double gain)
{
    ps_event(p, "gpu0", "nvml_samples", "samples", 0.02, NULL);
    return ps_sensor(p, "gpu0", "nvml_samples", "samples", 0.02, gain, 0);
}

/* Arms of 100 and 200 operations; "base" draws 400 W, "other" 300 W; a step of 2 ms makes 4 tokens of 8 prompt ones. */
static inline void ps_start(struct ps *p)
{
    memset(p, 0, sizeof *p);
    fx_start(&p->fx);
    p->fx.plan.device = "cuda";
    struct ifm_ledger ledger = {.tokens_generated = 4, .tokens_prompt = 8, .flops = 1000};
    p->fx.parts[0].arms[0].ledger = p->fx.parts[0].arms[1].ledger = ledger;
    p->fx.parts[0].step_ns[0] = p->fx.parts[0].step_ns[1] = 2e6;
    p->passes[1].kind = IFM_PASS_ENERGY;
    p->fx.cells[0].measure.energy = true;
    p->fx.cells[0].measure.energy_window_s = 10;
    p->fx.cells[0].measure.energy_windows = 4;
    p->fx.cells[0].measure.energy_idle_s = 5;
    p->fx.cells[0].measure.pre_roll_s = 1;
    p->fx.cells[0].measure.power_sample_hz = 10;
    p->fx.cells[0].passes = p->passes;
    p->fx.cells[0].n_passes = 2;
    p->sensors = calloc(PS_SENSORS, sizeof *p->sensors);
    assert_non_null(p->sensors);
    p->blocks = PS_BLOCKS;
    p->window_s = 5;
    p->idle_s = 5;
    p->idle_w = 120;
    p->watts[0] = 400;
    p->watts[1] = 300;
    p->period = 0.1;
}

static inline void ps_idle(struct ps *p, const char *when, double from)
{
    ps_phase(p, from, from + p->idle_s, p->idle_w, 0);
    fx_event(&p->fx, "energy_idle",
             json_pack("{s:s, s:s, s:I, s:I, s:I}", "cell", "decode", "when", when, "start_ns",
                       (json_int_t)llround(1e9 * from), "end_ns", (json_int_t)llround(1e9 * (from + p->idle_s)),
                       "settle_ns", (json_int_t)500000000));
}

/* One window of samples of 5 steps, 10 ms each, with a pause after each of them. */
static inline void ps_window(struct ps *p, size_t k, unsigned block, unsigned arm, double from)
{
    struct ifm_record *r = &p->energy;
    double each = 0.010 + p->pause_s;
    unsigned samples = (unsigned)lround(p->window_s / each);
    int64_t start = llround(1e9 * from);
    r->first[k] = r->n_samples;
    for (unsigned i = 0; i < samples; i++)
        r->samples[r->n_samples++] = (struct ifm_sample){start + llround(1e9 * each * i), 10000000};
    r->first[k + 1] = r->n_samples;
    r->slots[k] = (struct ifm_slot){.block = block,
                                    .phase = IFM_PHASE_MEASURE,
                                    .arm = arm,
                                    .samples = samples,
                                    .inner = 5,
                                    .start_ns = start,
                                    .end_ns = start + llround(1e9 * each * samples)};
    double share = p->pause_s / each, watts = p->watts[arm] * (1 - share) + p->pause_w * share;
    ps_phase(p, from, from + each * samples, watts, p->swing);
}

/* Idle, then for each slot a second of pre-roll and its window, then idle again. */
static inline void ps_generate(struct ps *p)
{
    unsigned order[4];
    size_t slots = 4 * (size_t)p->blocks, k = 0;
    struct ifm_record *r = &p->energy;
    fx_generate(&p->fx);
    r->slots = calloc(slots, sizeof *r->slots);
    r->first = calloc(slots + 1, sizeof *r->first);
    r->samples = calloc(slots * (size_t)(p->window_s / 0.010 + 2), sizeof *r->samples);
    assert_true(r->slots && r->first && r->samples);
    r->n_slots = slots;
    ps_idle(p, "before", 0);
    double now = p->idle_s;
    for (unsigned b = 0; b < p->blocks; b++) {
        ifm_plan_order(&p->fx.cells[0], b, order);
        for (unsigned i = 0; i < 4; i++, k++) {
            ps_phase(p, now, now + 1, p->watts[order[i]], p->swing);
            fx_event(&p->fx, "energy_pre_roll",
                     json_pack("{s:s, s:s, s:I, s:I}", "cell", "decode", "arm", order[i] == 0 ? "base" : "other",
                               "start_ns", (json_int_t)llround(1e9 * now), "end_ns",
                               (json_int_t)llround(1e9 * (now + 1))));
            ps_window(p, k, b, order[i], now + 1);
            now = ps_end(p);
        }
    }
    ps_idle(p, "after", now);
    fx_end_events(&p->fx);
}

/* Start and generate as they are. */
static inline void ps_plain(struct ps *p)
{
    ps_start(p);
    ps_generate(p);
}

/* Readings of a span that are not whole. */
static inline void ps_fault(struct ps *p, const char *device, const char *source, double from, double to,
                            const char *lost)
{
    fx_event(&p->fx, "power_fault",
             json_pack("{s:s, s:s, s:s, s:I, s:I, s:i, s:i, s:s?}", "cell", "decode", "device", device, "source",
                       source, "start_ns", (json_int_t)llround(1e9 * from), "end_ns", (json_int_t)llround(1e9 * to),
                       "gaps", 1, "implausible", 0, "lost", lost));
}

static inline struct ifm_facts_view ps_view(struct ps *p, const struct ifm_record **records)
{
    records[0] = &p->fx.parts[0].record;
    records[1] = p->energy.slots != NULL ? &p->energy : NULL;
    return (struct ifm_facts_view){.plan = &p->fx.plan, .records = records, .max_passes = 2, .readings = &p->readings};
}

static inline enum ifm_status ps_try_power(struct ps *p, struct ifm_error *error)
{
    const struct ifm_record *records[2];
    struct ifm_facts_view view = ps_view(p, records);
    IFM_TRY(events_try(p->fx.events, p->fx.arena, &view.events, error));
    return ifm_derive_power(&view, 0, p->fx.arena, &p->power, error);
}

static inline void ps_power(struct ps *p)
{
    struct ifm_error error = {0};
    if (ps_try_power(p, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
}

static inline void ps_derive(struct ps *p)
{
    const struct ifm_record *records[2];
    struct ifm_facts_view view = ps_view(p, records);
    struct ifm_error error = {0};
    view.events = events_of(p->fx.events, p->fx.arena);
    if (ifm_derive(&view, p->fx.arena, &p->fx.derived, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    if (ifm_derived_agree(&p->fx.plan, p->fx.derived, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
}

static inline void ps_stop(struct ps *p)
{
    free(p->energy.slots);
    free(p->energy.first);
    free(p->energy.samples);
    free(p->sensors);
    fx_stop(&p->fx);
}

static inline const struct ifm_power_fact *ps_fact(const struct ps *p, const char *device, const char *source)
{
    for (size_t i = 0; i < p->power.n_facts; i++)
        if (strcmp(p->power.facts[i].device, device) == 0 && strcmp(p->power.facts[i].source, source) == 0)
            return &p->power.facts[i];
    fail_msg("no sensor %s of %s", source, device);
    return NULL;
}

static inline const struct ifm_device_energy *ps_row(const struct ps *p, const char *arm, const char *device,
                                                     const char *source)
{
    for (size_t i = 0; i < p->fx.derived->n_energies; i++) {
        const struct ifm_device_energy *row = &p->fx.derived->energies[i];
        if (strcmp(row->arm, arm) == 0 && strcmp(row->device, device) == 0 && strcmp(row->source, source) == 0)
            return row;
    }
    return NULL;
}

static inline void ps_near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fabs(b)))
        fail_msg("%.12g is not %.12g within %g", a, b, relative);
}

static inline void ps_expect(const struct ps *p, const char *arm, const char *metric, double number, double relative)
{
    const struct ifm_value *value = fx_value(&p->fx, arm, metric);
    if (value->state != IFM_STATE_OK || !(fabs(value->number - number) <= relative * fabs(number)))
        fail_msg("%s of %s: %.12g (state %d, %s), wanted %.12g", metric, arm, value->number, value->state,
                 value->reason, number);
}

#endif
