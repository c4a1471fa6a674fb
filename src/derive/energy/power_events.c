/* The journal's part of an energy pass: sensors, what they missed, idle phases and pre-rolls. */
#include "derive/energy/power_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum ifm_status bad_event(const struct ifm_event *event, const char *what, struct ifm_error *error)
{
    char where[64];
    snprintf(where, sizeof where, "run.log:%zu", event->line);
    return ifm_fail(error, IFM_INVALID, where, "the journal was edited, or written by another version",
                    "event \"%s\" %s", ifm_stage_name(event->stage), what);
}

static enum ifm_status check_span(const struct ifm_event *event, int64_t start_ns, int64_t end_ns,
                                  struct ifm_error *error)
{
    return end_ns >= start_ns
               ? IFM_OK
               : bad_event(event, "has a span (start_ns, end_ns) that does not end after its start", error);
}

static const struct ifm_readings *readings_of(const struct ifm_power_pass *pass, const char *device, const char *source)
{
    const struct ifm_cell_readings *all = pass->facts->readings;
    for (size_t i = 0; all != NULL && i < all[pass->index].n; i++) {
        const struct ifm_sensor_readings *one = &all[pass->index].sensors[i];
        if (strcmp(one->device, device) == 0 && strcmp(one->source, source) == 0)
            return one->readings;
    }
    return NULL;
}

/* A resumed run tells of its sensors again: the same ones, with what this session's calibration found. */
static struct ifm_power_fact *place_of(struct ifm_power_pass *pass, const char *device, const char *source)
{
    struct ifm_power_cell *out = pass->out;
    for (size_t i = 0; i < out->n_facts; i++)
        if (strcmp(out->facts[i].device, device) == 0 && strcmp(out->facts[i].source, source) == 0)
            return &out->facts[i];
    IFM_ARENA_GROW(pass->arena, out->facts, out->n_facts, pass->facts_capacity);
    return &out->facts[out->n_facts++];
}

static enum ifm_status read_sensor(struct ifm_power_pass *pass, const struct ifm_event *event, struct ifm_error *error)
{
    const struct ifm_event_power_sensor *told = IFM_FACTS(event, power_sensor);
    enum ifm_power_kind kind;
    if (!ifm_power_kind_of(told->kind, &kind))
        return bad_event(event, "is of no known \"kind\"", error);
    struct ifm_power_fact fact = {.device = told->device,
                                  .source = told->source,
                                  .kind = kind,
                                  .measured = told->measured,
                                  .readings = readings_of(pass, told->device, told->source),
                                  .period_s = 1e-3 * told->period_ms,
                                  .quantum = told->quantum,
                                  .gain_error = told->gain_error,
                                  .limit_w = told->limit_w,
                                  .call_s = 1e-6 * told->call_us,
                                  .lag_s = 1e-3 * told->lag_ms,
                                  .sensor_window_s = 1e-3 * told->window_ms,
                                  .idle_w = NAN,
                                  .idle_half_w = NAN,
                                  .floor_w = NAN};
    if (fact.readings != NULL && fact.readings->joules != (kind == IFM_POWER_COUNTER))
        return bad_event(event, "is of another kind than its file of readings", error);
    /* Roles by source are given later; what the event itself says decides these. */
    fact.role = !told->measured || kind == IFM_POWER_INSTANT ? IFM_POWER_SHOWN
                : kind == IFM_POWER_ESTIMATE                 ? IFM_POWER_GUESS
                : told->part                                 ? IFM_POWER_PART
                                                             : IFM_POWER_WITNESS;
    *place_of(pass, fact.device, fact.source) = fact;
    return IFM_OK;
}

static void read_absent(struct ifm_power_pass *pass, const struct ifm_event_power_absent *told)
{
    const char *said = ifm_arena_printf(pass->arena, "%s: %s", told->source, told->reason);
    if (strstr(pass->absent, said) != NULL) /* another session said so too */
        return;
    bool first = pass->absent[0] == '\0';
    pass->absent = ifm_arena_printf(pass->arena, "%s%s%s", pass->absent, first ? "" : "; ", said);
    if (told->remedy[0] != '\0')
        pass->absent_remedy = ifm_arena_printf(pass->arena, "%s%s%s: %s", pass->absent_remedy,
                                               pass->absent_remedy[0] == '\0' ? "" : "; ", told->source, told->remedy);
}

static enum ifm_status read_fault(struct ifm_power_pass *pass, const struct ifm_event *event, struct ifm_error *error)
{
    const struct ifm_event_power_fault *told = IFM_FACTS(event, power_fault);
    struct ifm_power_span span = {told->device, told->source, "", told->start_ns, told->end_ns};
    IFM_TRY(check_span(event, told->start_ns, told->end_ns, error));
    span.why = told->lost != NULL
                   ? ifm_arena_printf(pass->arena, "it was lost (%s)", told->lost)
                   : ifm_arena_printf(pass->arena, "its readings are not whole (%lld gap%s, %lld implausible)",
                                      (long long)told->gaps, told->gaps == 1 ? "" : "s", (long long)told->implausible);
    IFM_ARENA_GROW(pass->arena, pass->spans, pass->n_spans, pass->spans_capacity);
    pass->spans[pass->n_spans++] = span;
    return IFM_OK;
}

static void add_phase(struct ifm_power_pass *pass, struct ifm_power_phase phase)
{
    struct ifm_power_cell *out = pass->out;
    IFM_ARENA_GROW(pass->arena, out->phases, out->n_phases, pass->phases_capacity);
    out->phases[out->n_phases++] = phase;
}

static enum ifm_status read_idle(struct ifm_power_pass *pass, const struct ifm_event *event, struct ifm_error *error)
{
    const struct ifm_event_energy_idle *told = IFM_FACTS(event, energy_idle);
    IFM_TRY(check_span(event, told->start_ns, told->end_ns, error));
    if (told->settle_ns > told->end_ns - told->start_ns)
        return bad_event(event, "has a \"settle_ns\" that is no time within it", error);
    add_phase(pass, (struct ifm_power_phase){IFM_POWER_IDLE, -1, told->start_ns, told->end_ns});
    IFM_ARENA_GROW(pass->arena, pass->idles, pass->n_idles, pass->idles_capacity);
    pass->idles[pass->n_idles++] = (struct ifm_power_idle){told->start_ns + told->settle_ns, told->end_ns};
    return IFM_OK;
}

static enum ifm_status read_pre_roll(struct ifm_power_pass *pass, const struct ifm_event *event,
                                     struct ifm_error *error)
{
    const struct ifm_event_energy_pre_roll *told = IFM_FACTS(event, energy_pre_roll);
    int arm = (int)pass->cell->n_arms - 1;
    IFM_TRY(check_span(event, told->start_ns, told->end_ns, error));
    while (arm >= 0 && strcmp(pass->cell->arms[arm].name, told->arm) != 0)
        arm--;
    if (arm < 0)
        return bad_event(event, "names an arm that the plan does not have", error);
    add_phase(pass, (struct ifm_power_phase){IFM_POWER_PRE_ROLL, arm, told->start_ns, told->end_ns});
    return IFM_OK;
}

static enum ifm_status read_event(struct ifm_power_pass *pass, const struct ifm_event *event, struct ifm_error *error)
{
    switch (event->stage) {
    case IFM_STAGE_power_sensor:
        return read_sensor(pass, event, error);
    case IFM_STAGE_power_absent:
        read_absent(pass, event->facts);
        return IFM_OK;
    case IFM_STAGE_power_fault:
        return read_fault(pass, event, error);
    case IFM_STAGE_energy_idle:
        return read_idle(pass, event, error);
    case IFM_STAGE_energy_pre_roll:
        return read_pre_roll(pass, event, error);
    default:
        return IFM_OK;
    }
}

enum ifm_status ifm_power_read_events(struct ifm_power_pass *pass, struct ifm_error *error)
{
    struct ifm_event_list told = ifm_events_about(pass->facts->events, pass->cell->name);
    pass->absent = pass->absent_remedy = "";
    for (size_t i = 0; i < told.n; i++)
        IFM_TRY(read_event(pass, told.items[i], error));
    for (size_t k = 0; pass->record != NULL && k < pass->record->n_slots; k++) {
        const struct ifm_slot *slot = &pass->record->slots[k];
        if (slot->arm >= pass->cell->n_arms)
            return ifm_fail(error, IFM_INVALID, pass->cell->name, "the record was edited, or is of another plan",
                            "slot %zu of the energy pass is of arm %u, and the cell has %zu", k, (unsigned)slot->arm,
                            pass->cell->n_arms);
        if (slot->phase == IFM_PHASE_MEASURE)
            add_phase(pass, (struct ifm_power_phase){IFM_POWER_WINDOW, (int)slot->arm, slot->start_ns, slot->end_ns});
    }
    return IFM_OK;
}
