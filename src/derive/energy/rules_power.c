/* Rule 5 on the windows of an energy pass: enough of them, none of less than the idle energy or above the limit, and
 * two sources held against each other. Whatever it refuses is the energy, and never a time. */
#include "derive/energy/energy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Power sensors of boards and packages are good to a few percent. */
#define TOLERANCE 0.05

static void refuse(struct ifm_derivation *d, struct ifm_cell_work *work, struct ifm_arm_work *arm, const char *text)
{
    if (arm->energy_refused.rule == NULL)
        arm->energy_refused = (struct ifm_refusal){"rule-05", text};
    ifm_derive_find_fault(d, IFM_SEVERITY_WARNING, "rule-05", work->cell->name, arm->arm->name, "%s", text);
}

static const char *first_fault(const struct ifm_energy_window *windows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (windows[i].fault[0] != '\0')
            return windows[i].fault;
    return "";
}

/* idle x time <= joules <= limit x time, of one device in one window; NULL = it is so. */
static const char *out_of_bounds(struct ifm_derivation *d, const struct ifm_power_device *device,
                                 const struct ifm_joules *j)
{
    if (j->joules < device->idle_w * j->seconds * (1.0 - TOLERANCE))
        return ifm_arena_printf(
            d->arena,
            "%.4g J in %.4g s is less than %s draws when it idles: %.4g W for %.4g s are %.4g J, and a total "
            "includes them",
            j->joules, j->seconds, device->device, device->idle_w, j->seconds, device->idle_w * j->seconds);
    if (j->watts > device->limit_w * (1.0 + TOLERANCE))
        return ifm_arena_printf(d->arena, "%.4g J in %.4g s are %.4g W on average, and %s is limited to %.4g W",
                                j->joules, j->seconds, j->watts, device->device, device->limit_w);
    return NULL;
}

static const char *find_out_of_bounds(struct ifm_derivation *d, const struct ifm_cell_work *work,
                                      const struct ifm_energy_window *windows, size_t n)
{
    const char *text = NULL;
    for (size_t i = 0; i < n && text == NULL; i++)
        for (size_t k = 0; windows[i].fault[0] == '\0' && k < work->power.n_devices && text == NULL; k++)
            text = out_of_bounds(d, &work->power.devices[k], &work->power.devices[k].windows[windows[i].at].by_primary);
    return text;
}

/* Two sources of one load: on a load that swings a difference shows no fault of either. */
static void say_difference(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm_work *arm,
                           const struct ifm_energy_difference *off)
{
    if (off->windows == 0 || !(fabs(off->percent) > IFM_ENERGY_DIFFER_SAID))
        return;
    bool warn = !off->periodic && fabs(off->percent) > IFM_ENERGY_DIFFER_WARNED;
    ifm_derive_find_fault(
        d, warn ? IFM_SEVERITY_WARNING : IFM_SEVERITY_NOTE, "rule-05", work->cell->name, arm->arm->name,
        "two sources of %s differ: %s gives %+.1f %% of what %s gives (%zu windows)%s", off->device->device,
        off->device->witness->source, off->percent, off->device->primary->source, off->windows,
        off->periodic ? "; the load swings, and samples of a load that swings may miss it"
        : warn        ? "; on a steady load one of them is wrong"
                      : "");
}

static void check_arm(struct ifm_derivation *d, struct ifm_cell_work *work, struct ifm_arm_work *arm)
{
    struct ifm_energy_window *windows;
    size_t usable, n = ifm_energy_windows_of(work, arm, d->arena, &windows, &usable);
    if (n == 0)
        return; /* there is nothing to refuse */
    if (usable < IFM_POWER_WINDOWS_NEEDED) {
        const char *fault = first_fault(windows, n);
        refuse(d, work, arm,
               ifm_arena_printf(d->arena, "%s%s%zu of %zu windows of the arm can be used, and %d are needed%s", fault,
                                fault[0] == '\0' ? "" : "; ", usable, n, IFM_POWER_WINDOWS_NEEDED,
                                fault[0] == '\0' ? " (measure.energy_windows)" : ""));
        return;
    }
    if (usable < n)
        ifm_derive_find_fault(d, IFM_SEVERITY_NOTE, "rule-05", work->cell->name, arm->arm->name,
                              "%zu of %zu windows of energy are not used: %s", n - usable, n, first_fault(windows, n));
    const char *text = find_out_of_bounds(d, work, windows, n);
    if (text != NULL)
        refuse(d, work, arm, text);
    struct ifm_energy_difference off = ifm_energy_difference_of(work, windows, n);
    say_difference(d, work, arm, &off);
}

/* What the windows could not be held against. */
static void say_unknown(struct ifm_derivation *d, const struct ifm_cell_work *work,
                        const struct ifm_power_device *device)
{
    bool no_idle = isnan(device->idle_w), no_limit = isnan(device->limit_w);
    if (device->primary != NULL && (no_idle || no_limit))
        ifm_derive_find_fault(d, IFM_SEVERITY_NOTE, "rule-05", work->cell->name, "",
                              "%s of %s %s known: the energy is not held against %s",
                              no_idle && no_limit ? "neither idle power nor power limit"
                              : no_idle           ? "the idle power"
                                                  : "the power limit",
                              device->device, no_idle && no_limit ? "is" : "is not",
                              no_idle && no_limit ? "them" : "it");
}

void ifm_rules_power(struct ifm_derivation *d, struct ifm_cell_work *work)
{
    if (!ifm_derive_has_energy_pass(work))
        return;
    for (size_t i = 0; i < work->power.n_devices; i++)
        say_unknown(d, work, &work->power.devices[i]);
    for (size_t a = 0; a < work->cell->n_arms; a++)
        check_arm(d, work, &work->arms[a]);
}
