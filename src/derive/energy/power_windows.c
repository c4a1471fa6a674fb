/* Joules of the windows and of the idle phases: each sensor by itself, then each device, then the steps in them. */
#include "derive/energy/power_private.h"

#include "derive/coverage.h"
#include "derive/internal.h"

#include <math.h>
#include <string.h>

/* What a device draws in the pauses between samples is like its idle power: within this share of the load above it. */
#define PAUSE_UNSURE 0.10
/* Below this share of the time a pause is the clock's own. */
#define PAUSE_COUNTS 1e-3
/* Periods that the ends of a window cost a sensor, and one for its jitter. */
#define ENDS 3.0
/* A stretch of idle time that lies further below all of it is of another level. */
#define UNEVEN 0.05
/* No sensor averages over a day. */
#define MOST_LATE_S 86400.0

/* ---- one sensor ---- */

/* Standard deviation of the device's power as its finest sensor saw it. The ring's samples are means of some 20 ms, in
 * which a faster load does not show; instantaneous readings see it, and are used for nothing else. */
static double finest_spread(const struct ifm_power_pass *pass, const char *device, int64_t from_ns, int64_t to_ns)
{
    double most = -1.0;
    for (size_t i = 0; i < pass->out->n_facts; i++) {
        const struct ifm_power_fact *fact = &pass->out->facts[i];
        bool fine = fact->kind == IFM_POWER_SAMPLES || fact->kind == IFM_POWER_INSTANT;
        if (fine && fact->role != IFM_POWER_PART && fact->readings != NULL && strcmp(fact->device, device) == 0)
            most = fmax(most, ifm_joules_spread(fact->readings, from_ns, to_ns));
    }
    return most;
}

bool ifm_power_touches(const struct ifm_power_span *span, const struct ifm_power_fact *fact, int64_t from_ns,
                       int64_t to_ns)
{
    return span->start_ns <= to_ns && span->end_ns >= from_ns && strcmp(span->device, fact->device) == 0 &&
           strcmp(span->source, fact->source) == 0;
}

static const char *fault_in(const struct ifm_power_pass *pass, const struct ifm_power_fact *fact, int64_t from_ns,
                            int64_t to_ns)
{
    for (size_t i = 0; i < pass->n_spans; i++) {
        if (ifm_power_touches(&pass->spans[i], fact, from_ns, to_ns))
            return pass->spans[i].why;
    }
    return NULL;
}

static double known(double number)
{
    return isnan(number) ? 0.0 : number;
}

/* An average over the last second says nothing of the load in the first second of a window. */
static int64_t late(const struct ifm_power_fact *fact)
{
    return fact->kind == IFM_POWER_AVERAGE ? (int64_t)(1e9 * fmin(known(fact->sensor_window_s), MOST_LATE_S)) : 0;
}

/* Is the window one of whole runs of a program? */
static bool is_of_runs(const struct ifm_power_pass *pass, const struct ifm_slot *slot)
{
    return slot->arm < pass->cell->n_arms && ifm_arm_runs_programs(&pass->cell->arms[slot->arm]);
}

/* The period of a slot's load, where a sensor that samples power may lock to it: NVML's and meters do (coverage.h).
 * RAPL adds up what its voltage regulators took. */
static void load_of(const struct ifm_power_pass *pass, const struct ifm_power_fact *fact, size_t k,
                    struct ifm_joules_sensor *sensor)
{
    const struct ifm_record *r = pass->record;
    size_t first = r->first[k], n = r->first[k + 1] - first;
    double inner = (double)r->slots[k].inner, mean = 0.0, squares = 0.0;
    sensor->whole = is_of_runs(pass, &r->slots[k]);
    sensor->points = fact->is_meter;
    sensor->low_w = known(fact->idle_w);
    sensor->high_w = isnan(fact->idle_w) ? 0.0 : known(fact->limit_w);
    if (fact->is_meter) {
        sensor->low_w = fmin(fact->lowest_w, isnan(fact->idle_w) ? INFINITY : fact->idle_w);
        sensor->high_w = fmax(fact->highest_w, known(fact->limit_w));
    }
    if ((strncmp(fact->source, "nvml_", 5) != 0 && !fact->is_meter) || n < 2)
        return;
    const struct ifm_sample *samples = &r->samples[first];
    double period = 1e-9 * (double)(samples[n - 1].start_ns - samples[0].start_ns) / (double)(n - 1) / inner;
    if (period < IFM_COVERAGE_LOCKS_S)
        return;
    for (size_t i = 0; i + 1 < n; i++) { /* the times of programs vary by themselves */
        int64_t busy_ns = sensor->whole ? 0 : samples[i].duration_ns;
        double pause = 1e-9 * (double)(samples[i + 1].start_ns - samples[i].start_ns - busy_ns);
        double off = pause - mean;
        mean += off / (double)(i + 1);
        squares += off * (pause - mean);
    }
    sensor->load_period_s = period;
    sensor->load_dither_s = inner > 1.0 || n < 3 ? 0.0 : sqrt(squares / (double)(n - 2));
}

/* Of slot `k`, or of an idle phase (`k` < 0). */
static struct ifm_joules joules_of(const struct ifm_power_pass *pass, const struct ifm_power_fact *fact,
                                   int64_t from_ns, int64_t to_ns, int64_t k)
{
    int64_t late_ns = llround(1e9 * fact->late_s);
    struct ifm_joules out = {
        .why = fault_in(pass, fact, from_ns + (late_ns < 0 ? late_ns : 0), to_ns + (late_ns > 0 ? late_ns : 0))};
    struct ifm_joules_sensor sensor = {
        .period_s = known(fact->period_s), .quantum = known(fact->quantum), .spread_w = -1.0};
    if (k >= 0)
        load_of(pass, fact, (size_t)k, &sensor);
    if (fact->readings == NULL)
        out.why = "the file of its readings is missing";
    if (out.why != NULL)
        return out;
    sensor.spread_w = finest_spread(pass, fact->device, from_ns, to_ns);
    if (fact->is_meter)
        return ifm_power_meter_joules(pass, fact, &sensor, from_ns, to_ns);
    if (fact->readings->joules && sensor.whole)
        ifm_joules_whole(fact->readings, &sensor, from_ns, to_ns, &out);
    else if (sensor.whole && late(fact) > 0)
        out.why = "each reading is a mean over a time before it, and runs begin and end within that";
    else if (fact->readings->joules)
        ifm_joules_counter(fact->readings, &sensor, from_ns, to_ns, &out);
    else if (to_ns - from_ns > late(fact))
        ifm_joules_integral(fact->readings, &sensor, from_ns + late(fact), to_ns, &out);
    else
        out.why = "it is as far behind as the window is long";
    return out;
}

/* The quietest stretch of an idle phase, of halves and quarters that are long enough for the sensor: work that ended
 * just before, or somebody else's, leaves the rest of it above what the device idles at. */
static struct ifm_joules quietest(const struct ifm_power_pass *pass, const struct ifm_power_fact *fact,
                                  const struct ifm_power_idle *idle, const struct ifm_joules *whole)
{
    struct ifm_joules least = *whole;
    for (int64_t parts = 2; parts <= 4; parts *= 2)
        for (int64_t i = 0; i < parts; i++) {
            const int64_t length = (idle->end_ns - idle->start_ns) / parts, from = idle->start_ns + i * length;
            struct ifm_joules one = joules_of(pass, fact, from, from + length, -1);
            if (one.why == NULL && one.watts < least.watts)
                least = one;
        }
    return least;
}

static double half_of(const struct ifm_joules *joules)
{
    return hypot(joules->random_j, joules->lag_j) / joules->seconds;
}

/* Before and after: their mean, and how far they lie from it besides their own errors; so does a stretch in which the
 * device surely drew less than that. The least of all is what nothing can be below. */
static void measure_idle(const struct ifm_power_pass *pass, struct ifm_power_fact *fact)
{
    double sum = 0.0, squares = 0.0, low = INFINITY, high = -INFINITY;
    struct ifm_joules least = {.watts = INFINITY, .seconds = 1.0};
    size_t n = 0;
    for (size_t i = 0; i < pass->n_idles; i++) {
        struct ifm_joules one = joules_of(pass, fact, pass->idles[i].start_ns, pass->idles[i].end_ns, -1);
        if (one.why != NULL)
            continue;
        const struct ifm_joules quiet = quietest(pass, fact, &pass->idles[i], &one);
        n++;
        sum += one.watts;
        squares += half_of(&one) * half_of(&one);
        low = fmin(low, one.watts);
        high = fmax(high, one.watts);
        least = quiet.watts < least.watts ? quiet : least;
    }
    if (n == 0)
        return;
    fact->idle_w = sum / (double)n;
    if (least.watts + half_of(&least) < (1.0 - UNEVEN) * fact->idle_w) {
        low = fmin(low, least.watts);
        high = fmax(high, 2.0 * fact->idle_w - low); /* the mean stays in the middle */
    }
    fact->idle_half_w = hypot(sqrt(squares) / (double)n, 0.5 * (high - low));
    fact->floor_w = least.watts;
}

/* The primary counter's ticks bound what its device's other sensors are integrated over. */
static const struct ifm_joules *bounds_of(const struct ifm_power_pass *pass, const struct ifm_power_fact *fact,
                                          size_t window)
{
    for (size_t i = 0; i < pass->out->n_devices; i++) {
        const struct ifm_power_fact *primary = pass->out->devices[i].primary;
        if (primary == NULL || primary == fact || strcmp(primary->device, fact->device) != 0 ||
            primary->by_window == NULL || fact->readings == NULL || fact->readings->joules)
            continue;
        return primary->by_window[window].why == NULL ? &primary->by_window[window] : NULL;
    }
    return NULL;
}

static void integrate_fact(const struct ifm_power_pass *pass, struct ifm_power_fact *fact)
{
    const struct ifm_record *r = pass->record;
    struct ifm_joules *windows = IFM_ARENA_ARRAY(pass->arena, struct ifm_joules, pass->out->n_windows + 1);
    size_t at = 0;
    measure_idle(pass, fact); /* windows ask for it */
    for (size_t k = 0; r != NULL && k < r->n_slots; k++) {
        const struct ifm_slot *slot = &r->slots[k];
        if (slot->phase != IFM_PHASE_MEASURE)
            continue;
        const struct ifm_joules *bounds = bounds_of(pass, fact, at);
        windows[at++] = joules_of(pass, fact, bounds == NULL ? slot->start_ns : bounds->start_ns,
                                  bounds == NULL ? slot->end_ns : bounds->end_ns, (int64_t)k);
    }
    fact->by_window = windows;
}

/* ---- steps ---- */

/* Steps of the slot, and time in its samples, until `t_ns`. */
static void until(const struct ifm_record *r, size_t k, int64_t t_ns, double *steps, double *busy_s)
{
    *steps = *busy_s = 0.0;
    for (size_t i = r->first[k]; i < r->first[k + 1] && r->samples[i].start_ns < t_ns; i++) {
        double whole = (double)r->samples[i].duration_ns, part = (double)(t_ns - r->samples[i].start_ns);
        double share = part >= whole ? 1.0 : part / whole;
        *steps += share * (double)r->slots[k].inner;
        *busy_s += 1e-9 * share * whole;
    }
}

static void count_steps(const struct ifm_record *r, size_t k, struct ifm_power_window *window)
{
    double steps[2], busy[2];
    until(r, k, window->by_primary.start_ns, &steps[0], &busy[0]);
    until(r, k, window->by_primary.end_ns, &steps[1], &busy[1]);
    window->steps = steps[1] - steps[0];
    window->busy_s = busy[1] - busy[0];
}

/* ---- one device ---- */

static struct ifm_joules together(const struct ifm_joules *package, const struct ifm_joules *memory)
{
    struct ifm_joules out = *package;
    if (package->why != NULL || memory->why != NULL) {
        out.why = package->why != NULL ? package->why : memory->why;
        return out;
    }
    double scale = package->seconds / memory->seconds; /* their ticks differ by some milliseconds */
    out.joules += scale * memory->joules;
    out.watts = out.joules / out.seconds;
    out.edge_j = hypot(package->edge_j, scale * memory->edge_j);
    out.quantum_j = hypot(package->quantum_j, scale * memory->quantum_j);
    out.coverage_j = hypot(package->coverage_j, scale * memory->coverage_j);
    out.random_j = hypot(package->random_j, scale * memory->random_j);
    return out;
}

static const char *too_short(const struct ifm_power_pass *pass, const struct ifm_power_fact *fact, double seconds)
{
    double lag = 1e-9 * (double)late(fact), least = ifm_joules_least_s(fact->period_s) + lag;
    double enough = 0.1 * ceil(10.0 * (least + ENDS * fact->period_s) - 1e-6);
    return ifm_arena_printf(
        pass->arena,
        "a window of %.3g s is too short for %s: it updates every %.3g ms%s, and a window needs %d updates: set "
        "measure.energy_window to at least %.3g s",
        seconds, fact->source, 1e3 * fact->period_s,
        lag > 0 ? ifm_arena_printf(pass->arena, ", %.3g s behind", lag) : "", IFM_JOULES_TICKS, enough);
}

static bool has_failed_run(const struct ifm_power_pass *pass, const struct ifm_power_window *w)
{
    int column = ifm_derive_column(pass->record, "child_failures");
    return column >= 0 && pass->record->slots[w->slot].columns[column] > 0;
}

/* Why the window is not used; "" when it is. */
static const char *fault_of(const struct ifm_power_pass *pass, const struct ifm_power_device *device,
                            struct ifm_power_window *w)
{
    const struct ifm_power_fact *wrong = device->primary;
    if (wrong == NULL)
        return ifm_arena_printf(pass->arena,
                                "no sensor of %s can be integrated: instantaneous power is drawn and nothing else",
                                device->device);
    size_t at = (size_t)(w - device->windows);
    if (wrong->by_window[at].why == NULL && device->adds != NULL)
        wrong = device->adds;
    double seconds = 1e-9 * (double)(w->end_ns - w->start_ns);
    bool faulty = fault_in(pass, wrong, w->start_ns, w->end_ns) != NULL || wrong->readings == NULL;
    double lag = 1e-9 * (double)late(wrong);
    if (has_failed_run(pass, w))
        return "a run of the program failed in it";
    if (w->by_primary.why != NULL && !faulty && wrong->period_s > 0 &&
        seconds < ifm_joules_least_s(wrong->period_s) + lag + ENDS * wrong->period_s) {
        w->too_short = true;
        return too_short(pass, wrong, seconds);
    }
    if (w->by_primary.why != NULL)
        return ifm_arena_printf(pass->arena, "%s of %s in a window of %.3g s: %s", wrong->source, wrong->device,
                                seconds, w->by_primary.why);
    if (!(w->steps > 0))
        return "no step of the arm lies between the ticks that bound its energy";
    if (isnan(w->step_j))
        return ifm_arena_printf(pass->arena,
                                "there are pauses between the samples, and what %s draws in them is not known: its "
                                "idle power was not measured",
                                device->device);
    return w->step_j > 0 ? "" : "its steps took no energy beside what the pauses between them took";
}

/* The pauses draw what an idle device draws, or somewhat more. What lies between two runs of a program is how the
 * system starts and ends it: the program's own. */
static void take_pauses_out(const struct ifm_power_device *device, bool runs, struct ifm_power_window *w)
{
    const struct ifm_joules *all = &w->by_primary;
    double pause = runs ? 0.0 : all->seconds - w->busy_s;
    w->step_j = all->joules;
    w->step_common_j = all->lag_j;
    w->step_half_j = hypot(all->random_j, w->step_common_j);
    if (pause <= PAUSE_COUNTS * all->seconds)
        return;
    w->step_j -= pause * device->idle_w;
    double unsure_j = pause * hypot(PAUSE_UNSURE * (all->watts - device->idle_w), device->idle_half_w);
    w->step_common_j = hypot(all->lag_j, unsure_j);
    w->step_half_j = hypot(all->random_j, w->step_common_j);
}

static void measure_device(const struct ifm_power_pass *pass, struct ifm_power_device *device)
{
    const struct ifm_record *r = pass->record;
    const struct ifm_power_fact *primary = device->primary, *adds = device->adds;
    size_t at = 0;
    device->windows = IFM_ARENA_ARRAY(pass->arena, struct ifm_power_window, pass->out->n_windows + 1);
    device->n_windows = pass->out->n_windows;
    if (primary != NULL) {
        device->idle_w = primary->idle_w + (adds == NULL ? 0.0 : adds->idle_w);
        device->floor_w = primary->floor_w + (adds == NULL ? 0.0 : adds->floor_w);
        device->idle_half_w = hypot(primary->idle_half_w, adds == NULL ? 0.0 : adds->idle_half_w);
    }
    for (size_t k = 0; r != NULL && k < r->n_slots; k++) {
        const struct ifm_slot *slot = &r->slots[k];
        if (slot->phase != IFM_PHASE_MEASURE)
            continue;
        struct ifm_power_window *w = &device->windows[at];
        *w = (struct ifm_power_window){.arm = slot->arm,
                                       .block = slot->block,
                                       .slot = k,
                                       .start_ns = slot->start_ns,
                                       .end_ns = slot->end_ns,
                                       .spread_w = finest_spread(pass, device->device, slot->start_ns, slot->end_ns),
                                       .by_witness = {.why = "there is no witness"}};
        if (primary != NULL)
            w->by_primary =
                adds == NULL ? primary->by_window[at] : together(&primary->by_window[at], &adds->by_window[at]);
        if (device->witness != NULL)
            w->by_witness = device->witness->by_window[at];
        if (primary != NULL && w->by_primary.why == NULL) {
            count_steps(r, k, w);
            take_pauses_out(device, is_of_runs(pass, slot), w);
        }
        w->fault = fault_of(pass, device, w);
        at++;
    }
}

void ifm_power_integrate(struct ifm_power_pass *pass)
{
    struct ifm_power_cell *out = pass->out;
    for (size_t k = 0; pass->record != NULL && k < pass->record->n_slots; k++)
        out->n_windows += pass->record->slots[k].phase == IFM_PHASE_MEASURE;
    for (int primaries = 1; primaries >= 0; primaries--) /* their ticks are asked for by the others */
        for (size_t i = 0; i < out->n_facts; i++)
            if (out->facts[i].role != IFM_POWER_SHOWN && (out->facts[i].role == IFM_POWER_PRIMARY) == primaries)
                integrate_fact(pass, &out->facts[i]);
    for (size_t i = 0; i < out->n_devices; i++)
        measure_device(pass, &out->devices[i]);
    ifm_power_compare_boards(pass);
}
