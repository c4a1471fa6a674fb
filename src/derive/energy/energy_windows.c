/* The windows of an arm over all measured devices, the rows of its sensors, and how far two sources differ. */
#include "derive/energy/energy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool ifm_derive_has_energy_pass(const struct ifm_cell_work *work)
{
    return work->power.missing != NULL && work->power.missing[0] == '\0' && work->power.n_devices > 0;
}

bool ifm_energy_is_below_idle(double joules, double half_j)
{
    return joules < -2.0 * half_j;
}

bool ifm_energy_is_refused(const struct ifm_arm_work *arm, struct ifm_value *out)
{
    const struct ifm_arm_work *wrong = arm->energy_refused.rule != NULL ? arm : arm->work->baseline;
    const struct ifm_refusal *why = &wrong->energy_refused;
    if (why->rule != NULL)
        *out = ifm_value_refused(arm->d->arena, why->rule,
                                 ifm_arena_printf(arm->d->arena, "of %s: %s", wrong->arm->name, why->reason));
    return why->rule != NULL;
}

/* The first window at `at` that is not used; else that of the first device. */
static const struct ifm_power_window *faulty_at(const struct ifm_power_cell *power, size_t at)
{
    for (size_t i = 0; i < power->n_devices; i++)
        if (power->devices[i].windows[at].fault[0] != '\0')
            return &power->devices[i].windows[at];
    return &power->devices[0].windows[at];
}

static struct ifm_energy_window window_at(const struct ifm_power_cell *power, size_t at)
{
    const struct ifm_power_window *first = &power->devices[0].windows[at], *faulty = faulty_at(power, at);
    struct ifm_energy_window out = {.block = first->block,
                                    .at = at,
                                    .fault = faulty->fault,
                                    .too_short = faulty->too_short,
                                    .seconds = first->by_primary.seconds,
                                    .busy_s = first->busy_s,
                                    .steps = first->steps};
    for (size_t i = 0; out.fault[0] == '\0' && i < power->n_devices; i++) {
        const struct ifm_power_window *w = &power->devices[i].windows[at];
        double in_time = out.seconds / w->by_primary.seconds, in_steps = out.steps / w->steps;
        double joules = in_time * w->by_primary.joules, half = in_time * w->by_primary.random_j;
        bool gpu = ifm_power_is_gpu(power->devices[i].device), cpu = ifm_power_is_processor(power->devices[i].device);
        out.joules += joules;
        out.half_j = hypot(out.half_j, half);
        out.lag_j = hypot(out.lag_j, in_time * w->by_primary.lag_j);
        out.step_j += in_steps * w->step_j;
        out.step_random_j = hypot(out.step_random_j, in_steps * w->by_primary.random_j);
        out.step_common_j = hypot(out.step_common_j, in_steps * w->step_common_j);
        out.gpu_j += gpu ? joules : 0.0;
        out.gpu_half_j = hypot(out.gpu_half_j, gpu ? half : 0.0);
        out.cpu_j += cpu ? joules : 0.0;
        out.cpu_half_j = hypot(out.cpu_half_j, cpu ? half : 0.0);
    }
    return out;
}

size_t ifm_energy_windows_of(const struct ifm_arm_work *arm, struct ifm_arena *arena, struct ifm_energy_window **out,
                             size_t *usable)
{
    const struct ifm_power_cell *power = &arm->work->power;
    size_t n = 0;
    *out = IFM_ARENA_ARRAY(arena, struct ifm_energy_window, power->n_windows + 1);
    *usable = 0;
    for (size_t at = 0; ifm_derive_has_energy_pass(arm->work) && at < power->n_windows; at++) {
        if (power->devices[0].windows[at].arm != arm->index)
            continue;
        (*out)[n] = window_at(power, at);
        *usable += (*out)[n].fault[0] == '\0';
        n++;
    }
    return n;
}

/* ---- two sources ---- */

static struct ifm_energy_difference difference_of(const struct ifm_power_device *device,
                                                  const struct ifm_energy_window *windows, size_t n)
{
    struct ifm_energy_difference out = {.device = device};
    double primary = 0.0, witness = 0.0;
    for (size_t i = 0; i < n; i++) {
        const struct ifm_power_window *w = &device->windows[windows[i].at];
        if (windows[i].fault[0] != '\0' || w->by_witness.why != NULL)
            continue;
        const struct ifm_joules *own = &device->primary->by_window[windows[i].at]; /* without the memory */
        primary += own->watts * own->seconds;
        witness += w->by_witness.watts * own->seconds;
        out.periodic |= ifm_joules_periodic(w->spread_w, own->watts);
        out.windows++;
    }
    out.percent = 100.0 * (witness / primary - 1.0);
    return out;
}

struct ifm_energy_difference ifm_energy_difference_of(const struct ifm_cell_work *work,
                                                      const struct ifm_energy_window *windows, size_t n)
{
    struct ifm_energy_difference most = {0};
    for (size_t i = 0; i < work->power.n_devices; i++) {
        if (work->power.devices[i].witness == NULL)
            continue;
        struct ifm_energy_difference one = difference_of(&work->power.devices[i], windows, n);
        if (one.windows > 0 && isfinite(one.percent) && (most.windows == 0 || fabs(one.percent) > fabs(most.percent)))
            most = one;
    }
    return most;
}

/* ---- rows ---- */

static const struct ifm_power_device *device_of(const struct ifm_power_cell *power, const struct ifm_power_fact *fact)
{
    for (size_t i = 0; i < power->n_devices; i++)
        if (strcmp(power->devices[i].device, fact->device) == 0)
            return &power->devices[i];
    return NULL;
}

/* A primary counts where its device's window stands; the others, where they have a number at all. */
static const char *row_fault(const struct ifm_power_cell *power, const struct ifm_power_fact *fact, size_t at)
{
    const struct ifm_power_device *device = device_of(power, fact);
    if (fact->role == IFM_POWER_PRIMARY && device != NULL && device->windows[at].fault[0] != '\0')
        return device->windows[at].fault;
    return fact->by_window[at].why;
}

/* The arm of each window, in their order; from the phases, since there may be no device. */
static size_t *arms_of_windows(const struct ifm_power_cell *power, struct ifm_arena *arena)
{
    size_t *arms = IFM_ARENA_ARRAY(arena, size_t, power->n_windows + 1), n = 0;
    for (size_t i = 0; i < power->n_phases && n < power->n_windows; i++)
        if (power->phases[i].kind == IFM_POWER_WINDOW)
            arms[n++] = (size_t)power->phases[i].arm;
    return arms;
}

static struct ifm_device_energy row_of(const struct ifm_arm_work *arm, const struct ifm_power_fact *fact,
                                       const size_t *arms)
{
    static const char *const roles[] = {"primary", "witness", "part", "estimate"};
    const struct ifm_power_cell *power = &arm->work->power;
    const char *fault = "no window of the arm was recorded";
    double lag_j = 0.0;
    struct ifm_device_energy row = {.cell = arm->work->cell->name,
                                    .arm = arm->arm->name,
                                    .device = fact->device,
                                    .source = fact->source,
                                    .role = roles[fact->role],
                                    .systematic = fact->gain_error,
                                    .idle_w = fact->idle_w,
                                    .idle_half_w = fact->idle_half_w,
                                    .refused = ""};
    for (size_t at = 0; at < power->n_windows; at++) {
        const struct ifm_joules *j = &fact->by_window[at];
        const struct ifm_power_window *first = power->n_devices > 0 ? &power->devices[0].windows[at] : NULL;
        if (arms[at] != arm->index)
            continue;
        const char *wrong = row_fault(power, fact, at);
        if (wrong != NULL) {
            fault = row.windows == 0 ? wrong : fault;
            continue;
        }
        double seconds = first != NULL && first->fault[0] == '\0' ? first->by_primary.seconds : j->seconds;
        row.windows++;
        row.seconds += seconds;
        row.joules += j->watts * seconds;
        row.random_j = hypot(row.random_j, j->random_j * seconds / j->seconds);
        lag_j += j->lag_j * seconds / j->seconds; /* the same in all windows */
    }
    row.random_j = hypot(row.random_j, lag_j);
    row.above_idle_j = row.joules - row.idle_w * row.seconds;
    if (ifm_energy_is_below_idle(row.above_idle_j, hypot(row.random_j, row.idle_half_w * row.seconds)))
        row.above_idle_j = NAN;
    if (row.windows == 0) { /* absent is never zero */
        row.seconds = row.joules = row.random_j = row.above_idle_j = NAN;
        row.refused = fault;
    } else if (fact->role == IFM_POWER_PRIMARY && arm->energy_refused.rule != NULL) {
        row.refused = ifm_arena_printf(arm->d->arena, "%s: %s", arm->energy_refused.rule, arm->energy_refused.reason);
    }
    return row;
}

/* What is only estimated stands in no sum: it is said, with what it is. */
static void say_estimate(const struct ifm_arm_work *arm, const struct ifm_device_energy *row)
{
    char half[32] = "of unknown error";
    if (strcmp(row->role, "estimate") != 0 || row->windows == 0)
        return;
    if (!isnan(row->systematic))
        snprintf(half, sizeof half, "+-%.0f %%", 100.0 * row->systematic);
    struct ifm_value value = ifm_value_real(row->joules, row->windows, "windows");
    value.text = ifm_arena_printf(arm->d->arena, "estimate of %.3g s in %lld windows, nothing measured it: %s",
                                  row->seconds, (long long)row->windows, half);
    ifm_derive_emit(arm, IFM_M_ESTIMATED_ENERGY_J, value);
    ifm_derive_say_arm(arm, IFM_SEVERITY_NOTE, "rule-05",
                       "estimate, nothing measured it: %s by %s %.4g W %s, %.4g J in the %.4g s of all windows (rated "
                       "power x utilisation); it is in no sum",
                       row->device, row->source, row->joules / row->seconds, half, row->joules, row->seconds);
}

static struct ifm_window_energy window_row(const struct ifm_arm_work *arm, const struct ifm_power_device *device,
                                           const struct ifm_power_window *w)
{
    const struct ifm_joules *j = &w->by_primary;
    bool used = w->fault[0] == '\0';
    return (struct ifm_window_energy){.cell = arm->work->cell->name,
                                      .arm = arm->arm->name,
                                      .device = device->device,
                                      .source = device->primary == NULL ? "" : device->primary->source,
                                      .window = (int64_t)w->slot + 1,
                                      .start_ns = used ? j->start_ns : w->start_ns,
                                      .end_ns = used ? j->end_ns : w->end_ns,
                                      .seconds = used ? j->seconds : NAN,
                                      .steps = used ? w->steps : NAN,
                                      .joules = used ? j->joules : NAN,
                                      .random_j = used ? hypot(j->random_j, j->lag_j) : NAN,
                                      .refused = w->fault};
}

static void add_window_rows(const struct ifm_arm_work *arm)
{
    struct ifm_derived *out = arm->d->out;
    for (size_t i = 0; i < arm->work->power.n_devices; i++) {
        const struct ifm_power_device *device = &arm->work->power.devices[i];
        for (size_t at = 0; at < device->n_windows; at++) {
            if (device->windows[at].arm != arm->index)
                continue;
            IFM_ARENA_GROW(arm->d->arena, out->windows, out->n_windows, arm->d->windows_capacity);
            out->windows[out->n_windows++] = window_row(arm, device, &device->windows[at]);
        }
    }
}

void ifm_derive_energy_rows(const struct ifm_arm_work *arm)
{
    add_window_rows(arm);
    const struct ifm_cell_work *work = arm->work;
    struct ifm_derived *out = arm->d->out;
    const size_t *arms = arms_of_windows(&work->power, arm->d->arena);
    for (size_t i = 0; work->power.n_windows > 0 && i < work->power.n_facts; i++) {
        if (work->power.facts[i].by_window == NULL)
            continue;
        IFM_ARENA_GROW(arm->d->arena, out->energies, out->n_energies, arm->d->energies_capacity);
        out->energies[out->n_energies] = row_of(arm, &work->power.facts[i], arms);
        say_estimate(arm, &out->energies[out->n_energies++]);
    }
}
