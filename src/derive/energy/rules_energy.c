/* Rule 5 on the column energy_uj: energy is conserved.
 *
 * A device that is on draws its idle power at least, and its limit at most; so a total below idle x duration, or above
 * limit x duration, is no measurement. A sensor that speaks every so often says nothing of a slot in which it spoke a
 * few times. Computes no number that is printed: energy.c does. */
#include "derive/energy/energy.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Power sensors of boards and packages are good to a few percent. */
#define TOLERANCE 0.05
/* Readings in a slot: each of its two ends is uncertain by up to one reading. */
#define PERIODS_NEEDED 10.0

struct place {
    struct ifm_derivation *d;
    const struct ifm_cell_work *work;
    struct ifm_arm_work *arm;
};

static void refuse(const struct place *at, const char *format, ...) IFM_PRINTF(2, 3);

static void refuse(const struct place *at, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (at->arm->energy_refused.rule == NULL)
        at->arm->energy_refused = (struct ifm_refusal){"rule-05", ifm_arena_strdup(at->d->arena, text)};
    ifm_derive_find_fault(at->d, IFM_SEVERITY_WARNING, "rule-05", at->work->cell->name, at->arm->arm->name, "%s", text);
}

/* idle x duration <= joules <= limit x duration; `power` is what is held against the limit. */
static void check_bounds(const struct place *at, const struct ifm_event_energy *sensor, double joules, double seconds,
                         double power)
{
    if (joules < sensor->idle_w * seconds * (1.0 - TOLERANCE))
        refuse(at,
               "%.4g J in %.4g s is less than %s draws when it idles: %.4g W for %.4g s are %.4g J, and a total "
               "includes them",
               joules, seconds, sensor->device, sensor->idle_w, seconds, sensor->idle_w * seconds);
    if (power > sensor->limit_w * (1.0 + TOLERANCE))
        refuse(at, "%.4g J in %.4g s are %.4g W on average, and %s is limited to %.4g W", joules, seconds, power,
               sensor->device, sensor->limit_w);
    bool no_idle = isnan(sensor->idle_w), no_limit = isnan(sensor->limit_w);
    if (no_idle || no_limit)
        ifm_derive_find_fault(at->d, IFM_SEVERITY_NOTE, "rule-05", at->work->cell->name, at->arm->arm->name,
                              "%s of %s was %s: the energy is not held against %s",
                              no_idle && no_limit ? "neither idle power nor power limit"
                              : no_idle           ? "the idle power"
                                                  : "the power limit",
                              sensor->device, no_idle && no_limit ? "recorded" : "not recorded",
                              no_idle && no_limit ? "them" : "it");
}

static void check_period(const struct place *at, const struct ifm_event_energy *sensor, double window_ns)
{
    if (window_ns < PERIODS_NEEDED * sensor->period_ns)
        refuse(at, "a window of %.4g ms is too short for %s: it speaks every %.4g ms, and a window needs %.0f of these",
               1e-6 * window_ns, sensor->source, 1e-6 * sensor->period_ns, PERIODS_NEEDED);
}

static void check_column(struct ifm_derivation *d, const struct ifm_cell_work *work, struct ifm_arm_work *arm,
                         const struct ifm_event_energy *sensor)
{
    struct ifm_energy_column column = ifm_energy_column_of(work, arm);
    struct place at = {d, work, arm};
    bool apart = work->cell->measure.cache == IFM_CACHE_COLD || arm->arm->gaps;
    if (column.read == 0 || apart) /* unread, or of more than the steps: then no number is made of it */
        return;
    check_bounds(&at, sensor, column.total_j, column.duration, ifm_energy_column_power(&column));
    check_period(&at, sensor, 1e9 * column.duration / (double)column.read);
}

enum ifm_status ifm_rules_energy(struct ifm_derivation *d, struct ifm_cell_work *work, struct ifm_error *error)
{
    struct ifm_event_energy sensor = ifm_energy_sensor_of(work);
    for (size_t a = 0; work->record != NULL && a < work->cell->n_arms; a++)
        check_column(d, work, &work->arms[a], &sensor);
    IFM_TRY(ifm_derive_power(d->facts, (size_t)(work - d->cells), d->arena, &work->power, error));
    ifm_rules_power(d, work);
    return IFM_OK;
}
