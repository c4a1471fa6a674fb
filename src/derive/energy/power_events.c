/* The journal's part of an energy pass: sensors, what they missed, idle phases and pre-rolls, checked field by field.
 */
#include "derive/energy/power_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct event {
    const char *stage;
    const json_t *meta;
    size_t line; /* of run.log, from 1 */
    struct ifm_error *error;
};

static enum ifm_status bad_event(const struct event *event, const char *what)
{
    char where[64];
    snprintf(where, sizeof where, "run.log:%zu", event->line);
    return ifm_fail(event->error, IFM_INVALID, where, "the journal was edited, or written by another version",
                    "event \"%s\" %s", event->stage, what);
}

static const char *text_of(const struct event *event, const char *key)
{
    return json_string_value(json_object_get(event->meta, key));
}

/* NaN where it is absent or null; false when it is no number, or negative. */
static bool read_amount(const struct event *event, const char *key, double scale, double *out)
{
    const json_t *member = json_object_get(event->meta, key);
    *out = NAN;
    if (member == NULL || json_is_null(member))
        return true;
    *out = scale * json_number_value(member);
    return json_is_number(member) && *out >= 0;
}

static enum ifm_status read_span(const struct event *event, int64_t *start_ns, int64_t *end_ns)
{
    const json_t *start = json_object_get(event->meta, "start_ns"), *end = json_object_get(event->meta, "end_ns");
    *start_ns = json_integer_value(start);
    *end_ns = json_integer_value(end);
    if (!json_is_integer(start) || !json_is_integer(end) || *start_ns < 0 || *end_ns < *start_ns)
        return bad_event(event, "has a span (start_ns, end_ns) that does not end after its start");
    return IFM_OK;
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

static enum ifm_status read_sensor(struct ifm_power_pass *pass, const struct event *event)
{
    static const char *const kinds[] = {"counter", "samples", "average", "instant", "meter", "estimate"};
    const char *device = text_of(event, "device"), *source = text_of(event, "source"), *kind = text_of(event, "kind");
    const json_t *measured = json_object_get(event->meta, "measured");
    size_t k = 0;
    if (device == NULL || source == NULL || kind == NULL)
        return bad_event(event, "does not name its \"device\", \"source\" and \"kind\"");
    while (k < sizeof kinds / sizeof kinds[0] && strcmp(kinds[k], kind) != 0)
        k++;
    if (k == sizeof kinds / sizeof kinds[0])
        return bad_event(event, "is of no known \"kind\"");
    struct ifm_power_fact fact = {.device = ifm_arena_strdup(pass->arena, device),
                                  .source = ifm_arena_strdup(pass->arena, source),
                                  .kind = kinds[k],
                                  .measured = !json_is_false(measured),
                                  .readings = readings_of(pass, device, source),
                                  .idle_w = NAN,
                                  .idle_half_w = NAN};
    if (!read_amount(event, "period_ms", 1e-3, &fact.period_s) || !read_amount(event, "quantum", 1, &fact.quantum) ||
        !read_amount(event, "gain_error", 1, &fact.gain_error) || !read_amount(event, "limit_w", 1, &fact.limit_w) ||
        !read_amount(event, "call_us", 1e-6, &fact.call_s) || !read_amount(event, "lag_ms", 1e-3, &fact.lag_s) ||
        !read_amount(event, "window_ms", 1e-3, &fact.sensor_window_s))
        return bad_event(event, "has an amount that is no number, or negative");
    if (fact.readings != NULL && fact.readings->joules != (k == 0))
        return bad_event(event, "is of another kind than its file of readings");
    /* Roles by source are given later; what the event itself says decides these. */
    bool part = json_is_true(json_object_get(event->meta, "part"));
    fact.role = !fact.measured || strcmp(kind, "instant") == 0 ? IFM_POWER_SHOWN
                : strcmp(kind, "estimate") == 0                ? IFM_POWER_GUESS
                : part                                         ? IFM_POWER_PART
                                                               : IFM_POWER_WITNESS;
    *place_of(pass, fact.device, fact.source) = fact;
    return IFM_OK;
}

static enum ifm_status read_absent(struct ifm_power_pass *pass, const struct event *event)
{
    const char *source = text_of(event, "source"), *reason = text_of(event, "reason");
    const char *remedy = text_of(event, "remedy");
    if (source == NULL || reason == NULL)
        return bad_event(event, "does not name its \"source\" and \"reason\"");
    const char *said = ifm_arena_printf(pass->arena, "%s: %s", source, reason);
    if (strstr(pass->absent, said) != NULL) /* another session said so too */
        return IFM_OK;
    bool first = pass->absent[0] == '\0';
    pass->absent = ifm_arena_printf(pass->arena, "%s%s%s", pass->absent, first ? "" : "; ", said);
    if (remedy != NULL && remedy[0] != '\0')
        pass->absent_remedy = ifm_arena_printf(pass->arena, "%s%s%s: %s", pass->absent_remedy,
                                               pass->absent_remedy[0] == '\0' ? "" : "; ", source, remedy);
    return IFM_OK;
}

static enum ifm_status read_fault(struct ifm_power_pass *pass, const struct event *event)
{
    const char *device = text_of(event, "device"), *source = text_of(event, "source"), *lost = text_of(event, "lost");
    struct ifm_power_span span;
    if (device == NULL || source == NULL)
        return bad_event(event, "does not name its \"device\" and \"source\"");
    IFM_TRY(read_span(event, &span.start_ns, &span.end_ns));
    json_int_t gaps = json_integer_value(json_object_get(event->meta, "gaps"));
    json_int_t wrong = json_integer_value(json_object_get(event->meta, "implausible"));
    span.device = ifm_arena_strdup(pass->arena, device);
    span.source = ifm_arena_strdup(pass->arena, source);
    span.why = lost != NULL ? ifm_arena_printf(pass->arena, "it was lost (%s)", lost)
                            : ifm_arena_printf(pass->arena, "its readings are not whole (%lld gap%s, %lld implausible)",
                                               (long long)gaps, gaps == 1 ? "" : "s", (long long)wrong);
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

static enum ifm_status read_idle(struct ifm_power_pass *pass, const struct event *event)
{
    struct ifm_power_idle idle;
    double settle_ns;
    IFM_TRY(read_span(event, &idle.start_ns, &idle.end_ns));
    if (!read_amount(event, "settle_ns", 1, &settle_ns) || settle_ns > (double)(idle.end_ns - idle.start_ns))
        return bad_event(event, "has a \"settle_ns\" that is no time within it");
    add_phase(pass, (struct ifm_power_phase){IFM_POWER_IDLE, -1, idle.start_ns, idle.end_ns});
    idle.start_ns += isnan(settle_ns) ? 0 : (int64_t)settle_ns;
    IFM_ARENA_GROW(pass->arena, pass->idles, pass->n_idles, pass->idles_capacity);
    pass->idles[pass->n_idles++] = idle;
    return IFM_OK;
}

static enum ifm_status read_pre_roll(struct ifm_power_pass *pass, const struct event *event)
{
    struct ifm_power_phase phase = {.kind = IFM_POWER_PRE_ROLL, .arm = -1};
    const char *arm = text_of(event, "arm");
    IFM_TRY(read_span(event, &phase.start_ns, &phase.end_ns));
    for (size_t a = 0; arm != NULL && a < pass->cell->n_arms; a++)
        if (strcmp(pass->cell->arms[a].name, arm) == 0)
            phase.arm = (int)a;
    if (phase.arm < 0)
        return bad_event(event, "names an arm that the plan does not have");
    add_phase(pass, phase);
    return IFM_OK;
}

/* A cell that began anew: what was said before is about a record that was set aside. */
static void forget(struct ifm_power_pass *pass)
{
    pass->out->n_facts = pass->out->n_phases = pass->n_spans = pass->n_idles = 0;
    pass->absent = pass->absent_remedy = "";
}

static enum ifm_status read_event(struct ifm_power_pass *pass, const struct event *event)
{
    static const struct {
        const char *stage;
        enum ifm_status (*read)(struct ifm_power_pass *, const struct event *);
    } readers[] = {{"power_sensor", read_sensor},
                   {"power_absent", read_absent},
                   {"power_fault", read_fault},
                   {"energy_idle", read_idle},
                   {"energy_pre_roll", read_pre_roll}};
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (strcmp(readers[i].stage, event->stage) == 0)
            return readers[i].read(pass, event);
    if (strcmp(event->stage, "cell_restarted") == 0)
        forget(pass);
    return IFM_OK;
}

enum ifm_status ifm_power_read_events(struct ifm_power_pass *pass, struct ifm_error *error)
{
    size_t i;
    json_t *line;
    pass->absent = pass->absent_remedy = "";
    json_array_foreach((json_t *)pass->facts->events, i, line)
    {
        struct event event = {json_string_value(json_object_get(line, "stage")), json_object_get(line, "meta"), i + 1,
                              error};
        const char *cell = text_of(&event, "cell");
        if (event.stage != NULL && cell != NULL && strcmp(cell, pass->cell->name) == 0)
            IFM_TRY(read_event(pass, &event));
    }
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
