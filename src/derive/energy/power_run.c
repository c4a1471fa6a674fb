/* The energy passes of a run, gathered, and why there are none. */
#include "derive/energy/power_run.h"

#include "base/text.h"
#include <math.h>
#include <string.h>

bool ifm_power_is_planned(const struct ifm_cell *cell)
{
    return ifm_plan_pass(cell, IFM_PASS_ENERGY) != NULL || cell->measure.energy;
}

static bool has_readings(const struct ifm_facts_view *facts, size_t cell)
{
    const struct ifm_cell_readings *readings = facts->readings == NULL ? NULL : &facts->readings[cell];
    for (size_t i = 0; readings != NULL && i < readings->n; i++)
        if (readings->sensors[i].readings != NULL && readings->sensors[i].readings->n > 0)
            return true;
    return false;
}

enum ifm_status ifm_derive_power_run(const struct ifm_facts_view *facts, struct ifm_arena *arena,
                                     struct ifm_power_shown **out, size_t *n, struct ifm_error *error)
{
    const struct ifm_plan *plan = facts == NULL ? NULL : facts->plan;
    *out = IFM_ARENA_ARRAY(arena, struct ifm_power_shown, (plan == NULL ? 0 : plan->n_cells) + 1);
    *n = 0;
    for (size_t c = 0; plan != NULL && c < plan->n_cells; c++) {
        struct ifm_power_shown *shown = &(*out)[*n];
        if (!has_readings(facts, c))
            continue;
        shown->cell = &plan->cells[c];
        IFM_TRY(ifm_derive_power(facts, c, arena, &shown->power, error));
        if (!ifm_is_empty(shown->power.missing))
            continue;
        double hz = shown->cell->measure.power_sample_hz;
        IFM_TRY(ifm_derive_power_traces(&shown->power, hz, arena, &shown->traces, &shown->n_traces, error));
        ++*n;
    }
    return IFM_OK;
}

bool ifm_power_has_steps(const struct ifm_power_trace *trace)
{
    for (size_t i = 0; i < trace->n; i++)
        if (isfinite(trace->watts[i]))
            return true;
    return false;
}

/* ---- one window ---- */

const char *ifm_power_why(const struct ifm_power_window *window)
{
    if (!ifm_is_empty(window->fault))
        return window->fault;
    return window->by_primary.why != NULL ? window->by_primary.why : "";
}

bool ifm_power_is_used(const struct ifm_power_window *window)
{
    return ifm_power_why(window)[0] == '\0';
}

double ifm_power_step_j(const struct ifm_power_window *window)
{
    return ifm_power_is_used(window) && window->steps > 0 ? window->step_j / window->steps : NAN;
}

double ifm_power_step_random_j(const struct ifm_power_window *window)
{
    return ifm_power_is_used(window) && window->steps > 0 ? window->step_half_j / window->steps : NAN;
}

double ifm_power_differ_percent(const struct ifm_power_window *window)
{
    const struct ifm_joules *own = &window->by_primary, *other = &window->by_witness;
    if (own->why != NULL || other->why != NULL || !(own->watts > 0))
        return NAN;
    return 100 * (other->watts / own->watts - 1);
}

/* ---- why there is none ---- */

size_t ifm_power_causes(const struct ifm_events *events, const struct ifm_cell *cell, struct ifm_arena *arena,
                        struct ifm_power_cause **out)
{
    struct ifm_power_cause *causes =
        IFM_ARENA_ARRAY(arena, struct ifm_power_cause, (events == NULL ? 0 : events->n) + 1);
    size_t n = 0;
    *out = causes;
    IFM_EACH(event, events, power_absent, cell == NULL ? NULL : cell->name, NULL) {
        const struct ifm_event_power_absent *absent = IFM_FACTS(event, power_absent);
        const char *reason = absent->reason, *source = absent->source;
        if (reason[0] == '\0')
            continue;
        size_t at = 0;
        while (at < n && strcmp(causes[at].reason, reason) != 0)
            at++;
        if (at == n)
            causes[n++] = (struct ifm_power_cause){reason, absent->remedy, source};
        else if (!ifm_text_lists(causes[at].sources, strlen(causes[at].sources), source))
            causes[at].sources = ifm_arena_printf(arena, "%s, %s", causes[at].sources, source);
    }
    return n;
}

static const char *joined(const char *list, const char *next, struct ifm_arena *arena)
{
    if (next[0] == '\0' || strstr(list, next) != NULL)
        return list;
    return list[0] == '\0' ? next : ifm_arena_printf(arena, "%s; %s", list, next);
}

/* What derive says of a cell of which the journal has no source: the plan gave it no pass, or the pass has no reading.
 */
static struct ifm_power_reason derived_reason(const struct ifm_plan *plan, const struct ifm_facts_view *facts,
                                              const struct ifm_cell *cell, struct ifm_arena *arena)
{
    static const struct ifm_power_reason none = {
        "the record holds no reading of power", "`inferometer power` lists the sources, what is absent and what helps"};
    struct ifm_power_cell power;
    struct ifm_error error;
    if (cell == NULL || facts == NULL ||
        ifm_derive_power(facts, (size_t)(cell - plan->cells), arena, &power, &error) != IFM_OK ||
        ifm_is_empty(power.missing))
        return none;
    return (struct ifm_power_reason){power.missing, power.remedy == NULL ? "" : power.remedy};
}

struct ifm_power_reason ifm_power_missing(const struct ifm_plan *plan, const struct ifm_events *events,
                                          const struct ifm_facts_view *facts, const struct ifm_cell *cell,
                                          struct ifm_arena *arena)
{
    bool planned = cell != NULL && ifm_power_is_planned(cell);
    for (size_t c = 0; cell == NULL && c < plan->n_cells; c++)
        planned |= ifm_power_is_planned(&plan->cells[c]);
    if (!planned)
        return (struct ifm_power_reason){"no energy pass was asked for", "measure with --energy"};
    struct ifm_power_cause *causes;
    size_t n = ifm_power_causes(events, cell, arena, &causes);
    struct ifm_power_reason out = {"", ""};
    for (size_t k = 0; k < 2 * n; k++) { /* whose reason is cut loses that of a GPU which the run did not use */
        const struct ifm_power_cause *cause = &causes[k % n];
        if ((strcmp(plan->device, "cuda") != 0 && strcmp(cause->sources, "nvml") == 0) != (k >= n))
            continue;
        out.reason = joined(out.reason, ifm_arena_printf(arena, "%s: %s", cause->sources, cause->reason), arena);
        out.remedy = joined(out.remedy, cause->remedy, arena);
    }
    return n == 0 ? derived_reason(plan, facts, cell, arena) : out;
}
