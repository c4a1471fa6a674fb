/* Settings that make a cell longer; see longer.h. */
#include "model/longer.h"

#include <math.h>
#include <string.h>

/* A setting as it is typed, behind `text`. */
struct typed {
    const struct ifm_cell *cell;
    struct ifm_arena *arena;
    const char *text;
};

static void type(struct typed *typed, const char *flag, const char *path, const char *value)
{
    const bool session = strcmp(typed->cell->workload, "session") == 0, first = typed->text[0] == '\0';
    if (session)
        typed->text = ifm_arena_printf(typed->arena, "%s%s%s=%s", typed->text, first ? "" : ", ", path, value);
    else if (flag != NULL)
        typed->text = ifm_arena_printf(typed->arena, "%s%s--%s %s", typed->text, first ? "" : " ", flag, value);
    else
        typed->text =
            ifm_arena_printf(typed->arena, "%s%s--override %s=%s", typed->text, first ? "" : " ", path, value);
}

double ifm_longer_rounded(double number)
{
    const double step = number <= 10 ? 1 : number < 100 ? 5 : pow(10, floor(log10(number)) - 1);
    return ceil(number / step - 1e-9) * step;
}

/* ---- slots ---- */

/* What the first arm's slots hold, which fixed repeats are counted by, and the longest sample of the blocks over its.
 */
struct slots {
    double samples, longest, longest_ns, rows; /* longest_ns 0: the journal does not tell */
};

static struct slots slots_of(const struct ifm_cell *cell, const struct ifm_events *events)
{
    struct slots slots = {.rows = 2, .longest = 1};
    double first_ns = 0;
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_event_calibrate *told = IFM_LAST(events, calibrate, cell->name, cell->arms[a].name);
        if (told == NULL || !ifm_plan_in_blocks(cell, a))
            continue;
        const double ns = told->step_ns * (double)told->inner;
        slots.longest_ns = fmax(slots.longest_ns, ns);
        if (first_ns > 0)
            continue;
        first_ns = ns;
        slots.samples = (double)told->samples_per_slot;
        slots.rows = told->rows == 1 ? 1 : 2;
    }
    slots.longest = first_ns > 0 ? slots.longest_ns / first_ns : 1;
    return slots;
}

static bool is_short(const struct ifm_cell *cell, const struct slots *slots, double steps)
{
    return slots->longest_ns > 0 && steps * slots->longest_ns < 0.95e9 * cell->measure.slot_min_s;
}

const char *ifm_longer_slot_min(const struct ifm_cell *cell, const struct ifm_events *events, double samples,
                                struct ifm_arena *arena)
{
    const struct slots slots = slots_of(cell, events);
    struct typed typed = {cell, arena, ""};
    if (is_short(cell, &slots, samples))
        type(&typed, NULL, "measure.slot_min", "0s");
    return typed.text;
}

/* Fixed repeats hold as many blocks as their slots leave, which grow with them unless they are told not to. */
static void type_repeats(struct typed *typed, const struct ifm_events *events, double blocks, double times)
{
    const struct ifm_measure *measure = &typed->cell->measure;
    const struct slots slots = slots_of(typed->cell, events);
    const double held = slots.samples > 0 ? slots.samples : fmax(1, floor((double)measure->repeats / (2 * blocks))),
                 steps = fmax(1, floor(held / slots.longest + 0.5)),
                 each = fmax(held, floor(steps * slots.longest + 0.5)),
                 repeats = slots.rows * each * ifm_longer_rounded(times * blocks);
    const bool asked = measure->slot_steps > 0, grows = asked || repeats > 2 * IFM_MANY_BLOCKS * each;
    type(typed, "repeats", "measure.repeats", ifm_arena_printf(typed->arena, "%.0f", repeats));
    if (grows && (double)measure->slot_steps != steps)
        type(typed, "slot-steps", "measure.slot_steps", ifm_arena_printf(typed->arena, "%.0f", steps));
    if (grows && is_short(typed->cell, &slots, steps))
        type(typed, NULL, "measure.slot_min", "0s");
}

/* ---- other rules ---- */

/* The detectable effect falls with the root of the blocks towards the margin; told no larger than that is. */
static void type_effect(struct typed *typed, const struct ifm_event_stop *stop, double times)
{
    double margin = 0;
    for (size_t a = 0; a < typed->cell->n_arms; a++)
        if (typed->cell->arms[a].role == IFM_ROLE_VARIANT)
            margin = log1p(typed->cell->measure.margin);
    const double least = expm1(margin + (log1p(stop->mde) - margin) / sqrt(times)),
                 unit = pow(10, floor(log10(least)) - 1);
    if (least > 0)
        type(typed, "mde", "measure.mde", ifm_arena_printf(typed->arena, "%.2g", floor(least / unit) * unit));
}

static void type_most(struct typed *typed, double blocks)
{
    type(typed, NULL, "measure.blocks_max", ifm_arena_printf(typed->arena, "%.0f", ifm_longer_rounded(blocks)));
}

static void type_cap(struct typed *typed, double seconds)
{
    type(typed, "cap", "measure.cap", ifm_arena_printf(typed->arena, "%.0fs", ifm_longer_rounded(seconds)));
}

const char *ifm_longer(const struct ifm_cell *cell, const struct ifm_events *events, double times,
                       struct ifm_arena *arena)
{
    const struct ifm_event_stop *stop = events == NULL ? NULL : IFM_LAST(events, stop, cell->name, NULL);
    struct typed typed = {cell, arena, ""};
    if (stop == NULL || stop->blocks <= 0 || !(times > 1))
        return "";
    const double blocks = (double)stop->blocks, most = (double)cell->measure.blocks_max;
    const bool capped = strcmp(stop->reason, "cap") == 0;
    /* Its questions were answered, and a rule that asks no others ends there again. */
    if (strcmp(stop->reason, "repeats") == 0 || strcmp(stop->reason, "decided") == 0) {
        type_repeats(&typed, events, blocks, times);
        return typed.text;
    }
    if (strcmp(stop->reason, "mde") == 0)
        type_effect(&typed, stop, times);
    else if (strcmp(stop->reason, "group") == 0 || strcmp(stop->reason, "blocks_max") == 0)
        type_most(&typed, times * most);
    if (capped || (typed.text[0] != '\0' && times * stop->elapsed_s > cell->measure.cap_s))
        type_cap(&typed, times * stop->elapsed_s);
    if (capped && most > 0 && times * blocks > most)
        type_most(&typed, times * blocks);
    return typed.text;
}
