/* The GPU over a cell, from what its accumulators and its thermometer said at the cell's two ends.
 *
 * Share of the time = what the driver's accumulator grew by, over the time between the two readings. A session that was
 * interrupted has a pair of readings of its own; shares are of all pairs together. What an accumulator does not say is
 * absent with its reason: never zero. */
#include "derive/internal.h"

#include "base/text.h"
#include <math.h>
#include <string.h>

#define SETTLE_NS 0.25e9 /* an accumulator may be this late at an end, and so grow by more than has passed */
#define MUCH_PERCENT 1.0
#define SOME_PERCENT 0.1
#define NOT_READ "the state of the GPU was not read at the start and at the end of this cell"

struct span {
    const json_t *start, *end; /* of the measured GPU */
};
struct spans {
    struct span *items;
    size_t n, cut; /* cut: starts without an end */
    const char *missing, *remedy;
};

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* The GPU that the cell ran on; NULL, and why. A machine of one GPU needs no mark. */
static const json_t *measured_gpu(const json_t *gpus, const char **missing, const char **remedy)
{
    size_t i;
    const json_t *gpu;
    const json_t *found = json_array_size(gpus) == 1 ? json_array_get(gpus, 0) : NULL;
    json_array_foreach(gpus, i, gpu) found = json_is_true(json_object_get(gpu, "measured")) ? gpu : found;
    const json_t *whose = found != NULL ? found : gpus;
    *missing = text_of(whose, "absent");
    *remedy = text_of(whose, "remedy");
    if (found == NULL && *missing == NULL)
        *missing = "which of the GPUs the cell ran on is not known";
    return *missing == NULL ? found : NULL;
}

static struct spans read_spans(const struct ifm_cell_work *work, struct ifm_arena *arena)
{
    struct spans spans = {IFM_ARENA_ARRAY(arena, struct span, work->n_events + 1), 0, 0, NULL, NULL};
    const json_t *open = NULL;
    for (size_t i = 0; i < work->n_events; i++) {
        const struct ifm_cell_event *event = &work->events[i];
        const char *at = strcmp(event->stage, "gpu_state") == 0 ? text_of(event->meta, "at") : NULL, *why, *remedy;
        if (at == NULL)
            continue;
        const json_t *gpu = measured_gpu(json_object_get(event->meta, "gpus"), &why, &remedy);
        if (gpu == NULL) {
            spans.missing = why;
            spans.remedy = remedy;
        }
        bool start = strcmp(at, "start") == 0;
        spans.cut += start && open != NULL;
        if (!start && open != NULL && gpu != NULL)
            spans.items[spans.n++] = (struct span){open, gpu};
        open = start ? gpu : NULL;
    }
    return spans;
}

/* What an accumulator grew by over all spans, and over how long; else why that is not known. */
struct growth {
    double ns, of_ns;
    const char *missing, *remedy;
};

static struct growth growth_of(const struct spans *spans, const char *group, const char *name)
{
    struct growth growth = {0, 0, spans->missing, spans->remedy};
    if (spans->n == 0 && growth.missing == NULL)
        growth.missing = NOT_READ;
    for (size_t i = 0; i < spans->n && growth.missing == NULL; i++) {
        const struct span *span = &spans->items[i];
        const json_t *from = json_object_get(json_object_get(span->start, group), name);
        const json_t *to = json_object_get(json_object_get(span->end, group), name);
        const json_t *unread = json_is_integer(from) ? to : from;
        double passed = json_number_value(json_object_get(span->end, "read_ns")) -
                        json_number_value(json_object_get(span->start, "read_ns"));
        double grown = (double)json_integer_value(to) - (double)json_integer_value(from);
        if (!json_is_integer(from) || !json_is_integer(to)) {
            growth.missing = text_of(unread, "absent");
            growth.remedy = text_of(unread, "remedy");
            growth.missing = growth.missing != NULL ? growth.missing : NOT_READ;
        } else if (grown < 0) {
            growth.missing = "the driver's accumulator went back: the driver was loaded anew during the cell";
            growth.remedy = "switch persistence on: nvidia-smi --persistence-mode=1";
        } else if (!(passed > 0)) {
            growth.missing = "the two readings of the GPU's state have no time between them";
        }
        growth.ns += grown;
        growth.of_ns += passed;
    }
    return growth;
}

static struct ifm_value share_of(const struct growth *growth, size_t spans)
{
    int64_t n = (int64_t)spans;
    if (growth->missing != NULL)
        return ifm_value_absent(growth->missing, growth->remedy != NULL ? growth->remedy : "", n, "pairs of readings");
    if (growth->ns > growth->of_ns + SETTLE_NS * (double)spans)
        return ifm_value_absent("the driver's accumulator grew by more than the time that passed", "", n,
                                "pairs of readings");
    return ifm_value_real(fmin(100.0, 100.0 * growth->ns / growth->of_ns), n, "pairs of readings");
}

/* Heat holds the clock down by several ways that overlap: the largest of those that are known is a lower bound. */
static struct growth heat(const struct spans *spans)
{
    static const char *const names[] = {"thermal_policy_ns", "sw_thermal_ns", "hw_thermal_ns"};
    struct growth most = growth_of(spans, "accumulators", names[0]);
    for (size_t i = 1; i < sizeof names / sizeof *names; i++) {
        struct growth one = growth_of(spans, "accumulators", names[i]);
        if (one.missing == NULL && (most.missing != NULL || one.ns > most.ns))
            most = one;
    }
    return most;
}

static struct ifm_value temperature_of(const struct spans *spans, bool start)
{
    if (spans->n == 0)
        return ifm_value_absent(spans->missing != NULL ? spans->missing : NOT_READ,
                                spans->remedy != NULL ? spans->remedy : "", 0, "readings");
    const json_t *gpu = start ? spans->items[0].start : spans->items[spans->n - 1].end;
    const json_t *celsius = json_object_get(json_object_get(gpu, "temperature_c"), "gpu");
    const char *missing = text_of(celsius, "absent"), *remedy = text_of(celsius, "remedy");
    if (!json_is_number(celsius))
        return ifm_value_absent(missing != NULL ? missing : NOT_READ, remedy != NULL ? remedy : "", 0, "readings");
    return ifm_value_real(json_number_value(celsius), 1, "readings");
}

/* ---- what a reader must be told ---- */

static void say_share(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_value *share,
                      double from, enum ifm_severity severity, const char *what)
{
    if (share->state == IFM_STATE_OK && share->number > from)
        ifm_derive_find_fault(d, severity, "", work->cell->name, "", "%s for %.1f %% of the time of this cell", what,
                              share->number);
}

static void say_errors(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct spans *spans)
{
    struct growth lost = growth_of(spans, "ecc_errors", "uncorrected");
    struct growth mended = growth_of(spans, "ecc_errors", "corrected");
    if (lost.missing == NULL && lost.ns > 0)
        ifm_derive_find_fault(
            d, IFM_SEVERITY_WARNING, "", work->cell->name, "",
            "the GPU's memory had %.0f error%s that ECC could not correct: outputs of this cell may be "
            "wrong",
            lost.ns, lost.ns > 1 ? "s" : "");
    if (mended.missing == NULL && mended.ns > 0)
        ifm_derive_find_fault(d, IFM_SEVERITY_NOTE, "", work->cell->name, "",
                              "ECC corrected %.0f error%s of the GPU's memory in this cell", mended.ns,
                              mended.ns > 1 ? "s" : "");
}

void ifm_derive_gpu_state(struct ifm_derivation *d, const struct ifm_cell_work *work)
{
    static const enum ifm_metric_id ids[] = {IFM_M_GPU_POWER_CAPPED_PERCENT, IFM_M_GPU_THERMAL_THROTTLED_PERCENT,
                                             IFM_M_GPU_TEMPERATURE_START_C, IFM_M_GPU_TEMPERATURE_END_C};
    bool recorded = ifm_derive_event(work, "gpu_state", NULL) != NULL && strcmp(d->plan->device, "cuda") == 0;
    struct spans spans = read_spans(work, d->arena);
    struct growth capped = growth_of(&spans, "accumulators", "power_cap_ns"), hot = heat(&spans);
    struct growth braked = growth_of(&spans, "accumulators", "hw_power_brake_ns");
    struct ifm_value values[] = {share_of(&capped, spans.n), share_of(&hot, spans.n), temperature_of(&spans, true),
                                 temperature_of(&spans, false)};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) { /* words of the journal, which does not live as long */
        values[i].reason = values[i].reason == NULL ? NULL : ifm_arena_strdup(d->arena, values[i].reason);
        values[i].remedy = values[i].remedy == NULL ? NULL : ifm_arena_strdup(d->arena, values[i].remedy);
    }
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (recorded || ifm_derive_is_wanted(d, work, ids[i]))
            ifm_derive_emit(d, work, NULL, ids[i], values[i]);
    if (!recorded)
        return;
    struct ifm_value brake = share_of(&braked, spans.n);
    say_share(d, work, &values[0], SOME_PERCENT, IFM_SEVERITY_NOTE, "the power limit held the GPU's clock down");
    say_share(d, work, &values[1], MUCH_PERCENT, IFM_SEVERITY_WARNING, "heat held the GPU's clock down");
    say_share(d, work, &brake, MUCH_PERCENT, IFM_SEVERITY_WARNING,
              "the power supply's brake held the GPU's clock down");
    say_errors(d, work, &spans);
    if (spans.cut > 0)
        ifm_derive_find_fault(
            d, IFM_SEVERITY_NOTE, "", work->cell->name, "",
            "%zu earlier part%s of the cell ended without a reading of the GPU's state, and %s not in "
            "its shares",
            spans.cut, spans.cut > 1 ? "s" : "", spans.cut > 1 ? "are" : "is");
}

/* ---- others on the GPU: of the run ---- */

void ifm_rules_gpu(struct ifm_derivation *d)
{
    size_t i;
    json_t *event;
    json_int_t most = 0;
    const char *unknown = NULL;
    bool unseen = false;
    if (strcmp(d->plan->device, "cuda") != 0)
        return;
    json_array_foreach((json_t *)d->facts->events, i, event)
    {
        const char *stage = text_of(event, "stage"), *why, *remedy;
        const json_t *meta = json_object_get(event, "meta");
        const json_t *gpu = stage != NULL && strcmp(stage, "gpu_state") == 0
                                ? measured_gpu(json_object_get(meta, "gpus"), &why, &remedy)
                                : NULL;
        const json_t *processes = json_object_get(gpu, "processes"), *compute = json_object_get(processes, "compute");
        const json_t *foreign = json_object_get(processes, "foreign");
        if (json_integer_value(foreign) > most)
            most = json_integer_value(foreign);
        if (gpu != NULL && !json_is_integer(foreign))
            unknown = text_of(foreign, "absent");
        /* With a cell open, this run has a context: a list without it is not the whole list. */
        unseen |= text_of(meta, "at") != NULL && json_is_integer(compute) && json_integer_value(compute) == 0;
    }
    if (most > 0)
        ifm_derive_find_fault(d, IFM_SEVERITY_WARNING, "rule-07", "", "",
                              "the GPU is shared: up to %lld other process%s computed on it", (long long)most,
                              most > 1 ? "es" : "");
    else if (unknown != NULL || unseen)
        ifm_derive_find_fault(d, IFM_SEVERITY_NOTE, "", "", "", "whether others use the GPU is not known: %s",
                              unknown != NULL ? unknown : "NVML does not list this run's own process either");
}
