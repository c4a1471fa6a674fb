/* Rule 5: energy is conserved. On the column energy_uj of the slots, and on the windows of an energy pass.
 *
 * A device that is on draws its idle power at least, and its limit at most; so a total below idle x duration, or above
 * limit x duration, is no measurement. Idle power is here that of the quietest idle stretch: the mean of idle time that
 * began too soon after work refused honest windows. A sensor that updates every so often says nothing of a slot in
 * which it updated a few times. An arm needs enough windows, and two sources are held against each other. What is
 * refused is the energy, never a time. Computes no number that is printed: energy.c and pass.c do. */
#include "derive/energy/energy.h"

#include <math.h>

/* Power sensors of boards and packages are good to a few percent. */
#define TOLERANCE 0.05
/* Readings in a slot: each of its two ends is uncertain by up to one reading. */
#define PERIODS_NEEDED 10.0

static void refuse_as(struct ifm_arm_work *arm, enum ifm_finding_kind kind, const char *text)
{
    ifm_refuse_arm(arm, &arm->energy_refused, IFM_SEVERITY_WARNING, "rule-05", text)->kind = kind;
}

static void refuse(struct ifm_arm_work *arm, const char *text)
{
    if (text != NULL)
        refuse_as(arm, IFM_FINDING_OTHER, text);
}

/* ---- what a device can draw ---- */

struct bounds {
    const char *device;
    double idle_w, limit_w; /* NaN = not known */
};

/* NULL: the joules are no less than the device draws when it idles. */
static const char *below_idle(const struct bounds *bounds, double joules, double seconds, struct ifm_arena *arena)
{
    if (!(joules < bounds->idle_w * seconds * (1.0 - TOLERANCE)))
        return NULL;
    return ifm_arena_printf(arena,
                            "%.4g J in %.4g s is less than %s draws when it idles: %.4g W for %.4g s are %.4g J, and a "
                            "total includes them",
                            joules, seconds, bounds->device, bounds->idle_w, seconds, bounds->idle_w * seconds);
}

/* NULL: the power is within the device's limit. */
static const char *above_limit(const struct bounds *bounds, double joules, double seconds, double power,
                               struct ifm_arena *arena)
{
    if (!(power > bounds->limit_w * (1.0 + TOLERANCE)))
        return NULL;
    return ifm_arena_printf(arena, "%.4g J in %.4g s are %.4g W on average, and %s is limited to %.4g W", joules,
                            seconds, power, bounds->device, bounds->limit_w);
}

/* What the energy is not held against; NULL: both bounds are known. */
static const char *unknown_bounds(const struct bounds *bounds, const char *verb, const char *word,
                                  struct ifm_arena *arena)
{
    bool no_idle = isnan(bounds->idle_w), no_limit = isnan(bounds->limit_w), neither = no_idle && no_limit;
    if (!no_idle && !no_limit)
        return NULL;
    const char *what = neither ? "neither idle power nor power limit" : no_idle ? "the idle power" : "the power limit";
    return ifm_arena_printf(arena, "%s of %s %s %s%s: the energy is not held against %s", what, bounds->device, verb,
                            neither ? "" : "not ", word, neither ? "them" : "it");
}

/* ---- the column energy_uj ---- */

static void check_column(struct ifm_arm_work *arm, const struct ifm_event_energy *sensor)
{
    struct ifm_energy_column column = ifm_energy_column_of(arm);
    struct ifm_arena *arena = arm->d->arena;
    const struct bounds bounds = {sensor->device, sensor->idle_w, sensor->limit_w};
    if (column.read == 0 || ifm_derive_has_gaps(arm)) /* unread, or of more than the steps: no number is made of it */
        return;
    double joules = column.total_j, seconds = column.duration, window_ns = 1e9 * seconds / (double)column.read;
    refuse(arm, below_idle(&bounds, joules, seconds, arena));
    refuse(arm, above_limit(&bounds, joules, seconds, ifm_energy_column_power(&column), arena));
    const char *unknown = unknown_bounds(&bounds, "was", "recorded", arena);
    if (unknown != NULL)
        ifm_derive_say_arm(arm, IFM_SEVERITY_NOTE, "rule-05", "%s", unknown);
    if (window_ns < PERIODS_NEEDED * sensor->period_ns)
        refuse_as(
            arm, IFM_FINDING_SHORT_WINDOWS,
            ifm_arena_printf(arena,
                             "a window of %.4g ms is too short for %s: it updates every %.4g ms; a window needs %.0f "
                             "updates",
                             1e-6 * window_ns, sensor->source, 1e-6 * sensor->period_ns, PERIODS_NEEDED));
}

/* ---- the windows of an energy pass ---- */

static struct bounds bounds_of(const struct ifm_power_device *device)
{
    return (struct bounds){device->device, device->floor_w, device->limit_w};
}

/* NULL = none. */
static const struct ifm_energy_window *first_faulty(const struct ifm_energy_window *windows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (windows[i].fault[0] != '\0')
            return &windows[i];
    return NULL;
}

/* The first window in which a device took less than it idles at or more than its limit; NULL = none. */
static const char *find_out_of_bounds(const struct ifm_cell_work *work, const struct ifm_energy_window *windows,
                                      size_t n)
{
    const char *text = NULL;
    for (size_t i = 0; i < n && text == NULL; i++)
        for (size_t k = 0; windows[i].fault[0] == '\0' && k < work->power.n_devices && text == NULL; k++) {
            const struct ifm_power_device *device = &work->power.devices[k];
            const struct ifm_joules *j = &device->windows[windows[i].at].by_primary;
            const struct bounds bounds = bounds_of(device);
            text = below_idle(&bounds, j->joules, j->seconds, work->d->arena);
            if (text == NULL)
                text = above_limit(&bounds, j->joules, j->seconds, j->watts, work->d->arena);
        }
    return text;
}

/* Two sources of one load: on a load that swings a difference shows no fault of either. */
static void say_difference(const struct ifm_arm_work *arm, const struct ifm_energy_difference *off)
{
    if (off->windows == 0 || !(fabs(off->percent) > IFM_ENERGY_DIFFER_SAID))
        return;
    bool warn = !off->periodic && fabs(off->percent) > IFM_ENERGY_DIFFER_WARNED;
    ifm_derive_say_arm(arm, warn ? IFM_SEVERITY_WARNING : IFM_SEVERITY_NOTE, "rule-05",
                       "two sources of %s differ: %s gives %+.1f %% of what %s gives (%zu windows)%s",
                       off->device->device, off->device->witness->source, off->percent, off->device->primary->source,
                       off->windows,
                       off->periodic ? "; the load swings, and samples of a load that swings may miss it"
                       : warn        ? "; on a steady load one of them is wrong"
                                     : "");
}

static void check_windows(struct ifm_arm_work *arm)
{
    struct ifm_energy_window *windows;
    size_t usable, n = ifm_energy_windows_of(arm, arm->d->arena, &windows, &usable);
    const struct ifm_energy_window *faulty = first_faulty(windows, n);
    const char *fault = faulty == NULL ? "" : faulty->fault;
    if (n == 0)
        return; /* there is nothing to refuse */
    if (usable < IFM_POWER_WINDOWS_NEEDED) {
        refuse_as(arm,
                  faulty == NULL      ? IFM_FINDING_FEW_WINDOWS
                  : faulty->too_short ? IFM_FINDING_SHORT_WINDOWS
                                      : IFM_FINDING_OTHER,
                  ifm_arena_printf(arm->d->arena, "%s%s%zu of %zu windows of the arm can be used, and %d are needed%s",
                                   fault, fault[0] == '\0' ? "" : "; ", usable, n, IFM_POWER_WINDOWS_NEEDED,
                                   fault[0] == '\0' ? " (measure.energy_windows)" : ""));
        return;
    }
    if (usable < n)
        ifm_derive_say_arm(arm, IFM_SEVERITY_NOTE, "rule-05", "%zu of %zu windows of energy are not used: %s",
                           n - usable, n, fault);
    refuse(arm, find_out_of_bounds(arm->work, windows, n));
    struct ifm_energy_difference off = ifm_energy_difference_of(arm->work, windows, n);
    say_difference(arm, &off);
}

/* A meter whose stamps are not the load's time: what was done about it. */
static void say_lags(const struct ifm_cell_work *work)
{
    for (size_t i = 0; i < work->power.n_facts; i++) {
        const struct ifm_power_fact *fact = &work->power.facts[i];
        if (fact->late_s != 0.0)
            ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "rule-05",
                                "the time stamps of %s of %s are %.3g s %s than the steps of load: its joules are "
                                "taken that much %s (%.3g to %.3g s fit)",
                                fact->source, fact->device, fabs(fact->late_s), fact->late_s > 0 ? "later" : "earlier",
                                fact->late_s > 0 ? "later" : "earlier", fact->late_low_s, fact->late_high_s);
    }
}

/* Idle time that was not of one level: which of it stands for what. */
static void say_uneven(const struct ifm_cell_work *work, const struct ifm_power_device *device)
{
    if (!(device->floor_w < device->idle_w * (1.0 - TOLERANCE)))
        return;
    ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "rule-05",
                        "%s did not idle at one level: %.4g W on average and %.4g W in its quietest stretch, which no "
                        "window may be below; a longer --energy-idle, or a machine without other work, gives one level",
                        device->device, device->idle_w, device->floor_w);
}

static void check_pass(const struct ifm_cell_work *work)
{
    say_lags(work);
    for (size_t i = 0; i < work->power.n_devices; i++) {
        const struct bounds bounds = bounds_of(&work->power.devices[i]);
        say_uneven(work, &work->power.devices[i]);
        const char *unknown = unknown_bounds(&bounds, "is", "known", work->d->arena);
        if (unknown != NULL && work->power.devices[i].primary != NULL)
            ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "rule-05", "%s", unknown);
    }
    for (size_t a = 0; a < work->cell->n_arms; a++)
        check_windows(&work->arms[a]);
}

enum ifm_status ifm_rules_energy(struct ifm_cell_work *work, struct ifm_error *error)
{
    struct ifm_event_energy sensor = ifm_energy_sensor_of(work);
    for (size_t a = 0; work->record != NULL && a < work->cell->n_arms; a++)
        check_column(&work->arms[a], &sensor);
    IFM_TRY(ifm_derive_power(work->d->facts, (size_t)(work - work->d->cells), work->d->arena, &work->power, error));
    if (ifm_derive_has_energy_pass(work))
        check_pass(work);
    return IFM_OK;
}
