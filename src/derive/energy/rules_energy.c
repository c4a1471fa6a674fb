/* Rule 5: energy is conserved.
 *
 * A device that is on draws its idle power at least, and its limit at most; so a total below idle x duration, or above
 * limit x duration, is no measurement. A sensor that speaks every so often says nothing of a window in which it spoke a
 * few times. Two witnesses of one window are held against each other. And energy is divided by the tokens that were
 * made while it was drawn, by no others. Computes no number that is printed: energy.c does. */
#include "derive/energy/energy.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Power sensors of boards and packages are good to a few percent. */
#define TOLERANCE 0.05
/* Readings in a window: each of its two ends is uncertain by up to one reading. */
#define PERIODS_NEEDED 10.0
/* Counter and integral of one window differ by more than this: one of them is wrong. */
#define DISAGREE 0.10

/* Where a refusal goes: one arm, or the cell. */
struct place {
    struct ifm_derivation *d;
    struct ifm_cell_work *work;
    struct ifm_arm_work *arm; /* NULL = the cell */
};

static void refuse(const struct place *at, const char *format, ...) IFM_PRINTF(2, 3);

static void refuse(const struct place *at, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct ifm_refusal *refusal = at->arm != NULL ? &at->arm->energy_refused : &at->work->energy_refused;
    if (refusal->rule == NULL)
        *refusal = (struct ifm_refusal){"rule-05", ifm_arena_strdup(at->d->arena, text)};
    ifm_derive_find_fault(at->d, IFM_SEVERITY_WARNING, "rule-05", at->work->cell->name,
                          at->arm != NULL ? at->arm->arm->name : "", "%s", text);
}

static void note(const struct place *at, enum ifm_severity severity, const char *text)
{
    ifm_derive_find_fault(at->d, severity, "rule-05", at->work->cell->name, at->arm != NULL ? at->arm->arm->name : "",
                          "%s", text);
}

/* idle x duration <= joules <= limit x duration; `power` is what is held against the limit. */
static void check_bounds(const struct place *at, const struct ifm_energy_fact *fact, double joules, double seconds,
                         double power)
{
    if (joules < fact->idle_w * seconds * (1.0 - TOLERANCE))
        refuse(at,
               "%.4g J in %.4g s is less than %s draws when it idles: %.4g W for %.4g s are %.4g J, and a total "
               "includes them",
               joules, seconds, fact->device, fact->idle_w, seconds, fact->idle_w * seconds);
    if (power > fact->limit_w * (1.0 + TOLERANCE))
        refuse(at, "%.4g J in %.4g s are %.4g W on average, and %s is limited to %.4g W", joules, seconds, power,
               fact->device, fact->limit_w);
    bool no_idle = isnan(fact->idle_w), no_limit = isnan(fact->limit_w);
    if (no_idle || no_limit)
        note(at, IFM_SEVERITY_NOTE,
             ifm_arena_printf(at->d->arena, "%s of %s was %s: the energy is not held against %s",
                              no_idle && no_limit ? "neither idle power nor power limit"
                              : no_idle           ? "the idle power"
                                                  : "the power limit",
                              fact->device, no_idle && no_limit ? "recorded" : "not recorded",
                              no_idle && no_limit ? "them" : "it"));
}

static void check_period(const struct place *at, const struct ifm_energy_fact *fact, double window_ns)
{
    if (window_ns < PERIODS_NEEDED * fact->period_ns)
        refuse(at, "a window of %.4g ms is too short for %s: it speaks every %.4g ms, and a window needs %.0f of these",
               1e-6 * window_ns, fact->source, 1e-6 * fact->period_ns, PERIODS_NEEDED);
}

static void say_disagreement(const struct place *at, const char *first, double a, const char *second, double b)
{
    double off = b / a - 1.0;
    if (isnan(off))
        return;
    note(at, fabs(off) > DISAGREE ? IFM_SEVERITY_WARNING : IFM_SEVERITY_NOTE,
         ifm_arena_printf(at->d->arena, "two witnesses of one window: %s says %.4g J, %s %.4g J (%+.1f %%)%s", first, a,
                          second, b, 100.0 * off, fabs(off) > DISAGREE ? "; one of them is wrong" : ""));
}

/* Energy and tokens of one window: the arm's slots lie in it whole, nobody else's do, and the tokens are theirs. */
static void check_tokens(const struct place *at, const struct ifm_energy_fact *fact)
{
    if (at->arm == NULL || at->work->record == NULL)
        return;
    struct ifm_energy_work inside = ifm_energy_work_in(at->work, at->arm, fact);
    if (inside.cut > 0)
        refuse(at, "the window of the energy cuts through %zu slot%s: it is not the window of their tokens", inside.cut,
               inside.cut == 1 ? "" : "s");
    else if (inside.others > 0)
        refuse(at, "the window of the energy also holds %zu slot%s of other arms", inside.others,
               inside.others == 1 ? "" : "s");
    else if (fact->tokens >= 0 && (double)fact->tokens != inside.tokens)
        refuse(at,
               "the energy of a window in which %.0f tokens were made is given for %lld: energy and tokens must be of "
               "one window",
               inside.tokens, (long long)fact->tokens);
}

static struct ifm_arm_work *find_arm(struct ifm_cell_work *work, const char *name)
{
    for (size_t a = 0; a < work->cell->n_arms; a++)
        if (strcmp(work->arms[a].arm->name, name) == 0)
            return &work->arms[a];
    return NULL;
}

/* One window against those before it: nothing is counted twice, and another source of the same device is a witness. */
static void check_earlier(const struct place *at, const struct ifm_energy_fact *facts, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        const struct ifm_energy_fact *a = &facts[k], *b = &facts[i];
        if (!a->windowed || strcmp(a->device, b->device) != 0 || strcmp(a->arm, b->arm) != 0)
            continue;
        bool same_source = strcmp(a->source, b->source) == 0;
        if (same_source && a->start_ns < b->end_ns && b->start_ns < a->end_ns)
            refuse(at, "two windows of %s overlap: their energy would be counted twice", b->source);
        else if (!same_source && a->start_ns == b->start_ns && a->end_ns == b->end_ns)
            say_disagreement(at, a->source, ifm_energy_total_j(a), b->source, ifm_energy_total_j(b));
    }
}

static void check_window(struct ifm_derivation *d, struct ifm_cell_work *work, size_t i)
{
    const struct ifm_energy_fact *fact = &work->energy[i];
    struct place at = {d, work, find_arm(work, fact->arm)};
    double joules = ifm_energy_total_j(fact), seconds = ifm_energy_window_s(fact);
    check_bounds(&at, fact, joules, seconds, joules / seconds);
    check_period(&at, fact, 1e9 * seconds);
    say_disagreement(&at, "the counter", fact->counter_j, "the integral", fact->integral_j);
    check_tokens(&at, fact);
    check_earlier(&at, work->energy, i);
}

/* The column: the sensor is the one of the event without a window. */
static void check_column(struct ifm_derivation *d, struct ifm_cell_work *work, struct ifm_arm_work *arm)
{
    static const struct ifm_energy_fact unknown = {
        .device = "the device", .source = "the sensor", .idle_w = NAN, .limit_w = NAN, .period_ns = NAN};
    const struct ifm_energy_fact *sensor = &unknown;
    struct ifm_energy_column column = ifm_energy_column_of(work, arm);
    struct place at = {d, work, arm};
    bool apart = work->cell->measure.cache == IFM_CACHE_COLD || arm->arm->gaps;
    for (size_t i = 0; i < work->n_energy; i++)
        if (!work->energy[i].windowed)
            sensor = &work->energy[i];
    if (column.read == 0 || apart) /* unread, or of more than the steps: then no number is made of it */
        return;
    check_bounds(&at, sensor, column.total_j, column.duration, ifm_energy_column_power(&column));
    check_period(&at, sensor, 1e9 * column.duration / (double)column.read);
}

enum ifm_status ifm_rules_energy(struct ifm_derivation *d, struct ifm_cell_work *work, struct ifm_error *error)
{
    IFM_TRY(ifm_energy_facts(d, work, &work->energy, &work->n_energy, error));
    for (size_t i = 0; i < work->n_energy; i++)
        if (work->energy[i].windowed)
            check_window(d, work, i);
    for (size_t a = 0; work->record != NULL && a < work->cell->n_arms; a++)
        check_column(d, work, &work->arms[a]);
    IFM_TRY(ifm_derive_power(d->facts, (size_t)(work - d->cells), d->arena, &work->power, error));
    ifm_rules_power(d, work);
    return IFM_OK;
}
