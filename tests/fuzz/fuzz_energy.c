/* Events of the journal and readings of sensors, of any content, behind those of an energy pass that is whole: one
 * error that says what is wrong, or joules that are finite and never negative, numbers that agree with each other, and
 * the same ones when they are read again.
 *
 * The input is lines of JSON, each an event (what is no JSON object is left out), then files of readings, each below a
 * line "=== DEVICE SOURCE". */
#include <stdlib.h>

#include "unit/power_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NAME = 40 };

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* A short pass: windows of 2 s. Made once; an input changes the events and the readings alone. */
static struct ps *sample(void)
{
    static struct ps p;
    if (p.sensors == NULL) {
        ps_start(&p);
        p.fx.blocks = 4;
        p.fx.samples = 5;
        p.window_s = 2;
        p.idle_s = 2;
        ps_generate(&p);
        json_array_remove(p.fx.events, json_array_size(p.fx.events) - 1); /* the run's end comes last */
    }
    return &p;
}

static void add_event(json_t *events, const char *line, size_t length)
{
    json_t *event = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(event))
        json_array_append(events, event);
    json_decref(event);
}

static void add_readings(struct ps *p, char names[PS_SENSORS][2][NAME], const char *name, const char *body,
                         const char *end)
{
    struct ifm_error error = {0};
    size_t i = p->n_sensors;
    char line[2 * NAME + 1] = "";
    size_t length = (size_t)(body - name) - 1;
    memcpy(line, name, length < sizeof line - 1 ? length : sizeof line - 1);
    if (i == PS_SENSORS || sscanf(line, "%39s %39s", names[i][0], names[i][1]) != 2)
        return;
    if (ifm_readings_parse(body, (size_t)(end - body), "fuzz", &p->sensors[i].readings, &error) != IFM_OK)
        return;
    p->listed[i] = (struct ifm_sensor_readings){names[i][0], names[i][1], &p->sensors[i].readings};
    p->n_sensors++;
}

static void take_input(struct ps *p, char names[PS_SENSORS][2][NAME], const char *at, const char *end)
{
    static const char mark[] = "=== ";
    const size_t length = sizeof mark - 1;
    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        next = next == NULL ? end : next + 1;
        if ((size_t)(next - at) > length && memcmp(at, mark, length) == 0) {
            const char *body = next;
            next = memmem(body, (size_t)(end - body), "\n=== ", length + 1);
            next = next == NULL ? end : next + 1;
            add_readings(p, names, at + length, body, next);
        } else {
            add_event(p->fx.events, at, (size_t)(next - at));
        }
        at = next;
    }
    p->readings = (struct ifm_cell_readings){p->listed, p->n_sensors};
    fx_event(&p->fx, "run_done", json_pack("{s:s}", "config_hash", "cafe"));
}

static void check_joules(const struct ifm_joules *joules)
{
    if (joules->why != NULL)
        return;
    must(isfinite(joules->joules) && joules->joules >= 0 && joules->seconds > 0 && joules->end_ns > joules->start_ns);
    must(isfinite(joules->random_j) && joules->random_j >= 0);
}

static void check_power(struct ps *p)
{
    struct ifm_error error = {0};
    struct ifm_power_trace *traces = NULL;
    size_t n = 0;
    if (ps_try_power(p, &error) != IFM_OK) {
        must(error.code == IFM_INVALID && error.message[0] != '\0');
        return;
    }
    for (size_t d = 0; d < p->power.n_devices; d++)
        for (size_t w = 0; w < p->power.n_windows && p->power.devices[d].primary != NULL; w++) {
            check_joules(&p->power.devices[d].windows[w].by_primary);
            check_joules(&p->power.devices[d].windows[w].by_witness);
        }
    if (ifm_derive_power_traces(&p->power, 10, p->fx.arena, &traces, &n, &error) != IFM_OK) {
        must(error.message[0] != '\0');
        return;
    }
    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < traces[t].n; i++)
            must(isnan(traces[t].watts[i]) || (traces[t].watts[i] >= 0 && isfinite(traces[t].watts[i])));
}

static void check_numbers(struct ps *p)
{
    const struct ifm_record *records[2];
    struct ifm_facts_view view = ps_view(p, records);
    struct ifm_derived *derived = NULL;
    struct ifm_error error = {0};
    if (events_try(p->fx.events, p->fx.arena, &view.events, &error) != IFM_OK ||
        ifm_derive(&view, p->fx.arena, &derived, &error) != IFM_OK) {
        must(error.code == IFM_INVALID && error.message[0] != '\0');
        return;
    }
    for (size_t i = 0; i < derived->n_numbers; i++)
        must(derived->numbers[i].value.state != IFM_STATE_OK || isfinite(derived->numbers[i].value.number));
    must(ifm_derived_agree(&p->fx.plan, derived, &error) == IFM_OK);
    json_t *json = ifm_derived_to_json(derived);
    must(json != NULL); /* no number in it is infinite */
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char names[PS_SENSORS][2][NAME];
    struct ps *p = sample();
    json_t *whole = p->fx.events;
    struct ifm_arena *arena = p->fx.arena;
    p->fx.events = json_copy(whole);
    p->fx.arena = ifm_arena_create();
    p->n_sensors = 0;
    take_input(p, names, (const char *)data, (const char *)data + size);
    check_power(p);
    check_numbers(p);
    for (size_t i = 0; i < p->n_sensors; i++)
        ifm_readings_free(&p->sensors[i].readings);
    ifm_arena_destroy(p->fx.arena);
    json_decref(p->fx.events);
    p->fx.events = whole;
    p->fx.arena = arena;
    return 0;
}
