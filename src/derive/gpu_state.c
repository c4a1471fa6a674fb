/* The GPU over a cell, from what its accumulators and its thermometer said at the cell's two ends.
 *
 * Share of the time = what the driver's accumulator grew by, over the time between the two readings. A session that was
 * interrupted has a pair of readings of its own; shares are of all pairs together. What an accumulator does not say is
 * absent with its reason: never zero. */
#include "derive/internal.h"

#include "model/machine_facts.h"
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

static struct spans read_spans(const struct ifm_cell_work *work, struct ifm_arena *arena)
{
    struct ifm_event_list told = ifm_events_about(work->journal, work->cell->name);
    struct spans spans = {IFM_ARENA_ARRAY(arena, struct span, told.n + 1), 0, 0, NULL, NULL};
    const json_t *open = NULL;
    IFM_EACH_TOLD(event, work, gpu_state, NULL) {
        const struct ifm_event_gpu_state *state = IFM_FACTS(event, gpu_state);
        const char *why, *remedy;
        const json_t *gpu = ifm_gpu_measured(state->gpus, &why, &remedy);
        if (gpu == NULL) {
            spans.missing = why;
            spans.remedy = remedy;
        }
        bool start = strcmp(state->at, "start") == 0;
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
        struct ifm_gpu_fact from = ifm_gpu_fact(span->start, group, name);
        struct ifm_gpu_fact to = ifm_gpu_fact(span->end, group, name);
        double passed =
            ifm_gpu_fact(span->end, NULL, "read_ns").number - ifm_gpu_fact(span->start, NULL, "read_ns").number;
        double grown = to.number - from.number;
        if (!from.whole || !to.whole) {
            const struct ifm_gpu_fact *unread = from.whole ? &to : &from;
            growth.missing = unread->missing != NULL ? unread->missing : NOT_READ;
            growth.remedy = unread->remedy;
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
    struct ifm_gpu_fact celsius = ifm_gpu_fact(gpu, "temperature_c", "gpu");
    if (!celsius.known)
        return ifm_value_absent(celsius.missing != NULL ? celsius.missing : NOT_READ,
                                celsius.remedy != NULL ? celsius.remedy : "", 0, "readings");
    return ifm_value_real(celsius.number, 1, "readings");
}

/* ---- what a reader must be told ---- */

static void say_share(const struct ifm_cell_work *work, const struct ifm_value *share, double from,
                      enum ifm_severity severity, const char *what)
{
    if (share->state == IFM_STATE_OK && share->number > from)
        ifm_derive_say_cell(work, severity, "", "%s for %.1f %% of the time of this cell", what, share->number);
}

static void say_errors(const struct ifm_cell_work *work, const struct spans *spans)
{
    struct growth lost = growth_of(spans, "ecc_errors", "uncorrected");
    struct growth mended = growth_of(spans, "ecc_errors", "corrected");
    if (lost.missing == NULL && lost.ns > 0)
        ifm_derive_say_cell(work, IFM_SEVERITY_WARNING, "",
                            "the GPU's memory had %.0f error%s that ECC could not correct: outputs of this cell may be "
                            "wrong",
                            lost.ns, lost.ns > 1 ? "s" : "");
    if (mended.missing == NULL && mended.ns > 0)
        ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "", "ECC corrected %.0f error%s of the GPU's memory in this cell",
                            mended.ns, mended.ns > 1 ? "s" : "");
}

void ifm_derive_gpu_state(const struct ifm_cell_work *work)
{
    static const enum ifm_metric_id ids[] = {IFM_M_GPU_POWER_CAPPED_PERCENT, IFM_M_GPU_THERMAL_THROTTLED_PERCENT,
                                             IFM_M_GPU_TEMPERATURE_START_C, IFM_M_GPU_TEMPERATURE_END_C};
    bool recorded = IFM_TOLD(work, gpu_state, NULL) != NULL && strcmp(work->d->plan->device, "cuda") == 0;
    struct spans spans = read_spans(work, work->d->arena);
    struct growth capped = growth_of(&spans, "accumulators", "power_cap_ns"), hot = heat(&spans);
    struct growth braked = growth_of(&spans, "accumulators", "hw_power_brake_ns");
    struct ifm_value values[] = {share_of(&capped, spans.n), share_of(&hot, spans.n), temperature_of(&spans, true),
                                 temperature_of(&spans, false)};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (recorded || ifm_derive_is_wanted(work, ids[i]))
            ifm_derive_emit_cell(work, ids[i], values[i]);
    if (!recorded)
        return;
    struct ifm_value brake = share_of(&braked, spans.n);
    say_share(work, &values[0], SOME_PERCENT, IFM_SEVERITY_NOTE, "the power limit held the GPU's clock down");
    say_share(work, &values[1], MUCH_PERCENT, IFM_SEVERITY_WARNING, "heat held the GPU's clock down");
    say_share(work, &brake, MUCH_PERCENT, IFM_SEVERITY_WARNING, "the power supply's brake held the GPU's clock down");
    say_errors(work, &spans);
    if (spans.cut > 0)
        ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "",
                            "%zu earlier part%s of the cell ended without a reading of the GPU's state, and %s not in "
                            "its shares",
                            spans.cut, spans.cut > 1 ? "s" : "", spans.cut > 1 ? "are" : "is");
}

/* ---- others on the GPU: of the run ---- */

/* What was seen of others on one GPU. */
struct others {
    double most;
    const char *unknown;
    bool unseen; /* a list of processes without this run's own is not the whole list */
};

static void see(struct others *others, const json_t *gpu, bool in_cell)
{
    struct ifm_gpu_fact compute = ifm_gpu_fact(gpu, "processes", "compute");
    struct ifm_gpu_fact foreign = ifm_gpu_fact(gpu, "processes", "foreign");
    others->most = foreign.whole ? fmax(others->most, foreign.number) : others->most;
    others->unknown = gpu != NULL && !foreign.whole ? foreign.missing : others->unknown;
    others->unseen |= in_cell && compute.whole && compute.number == 0;
}

static void say_others(struct ifm_derivation *d, const struct others *others, const char *gpu, const char *so)
{
    if (others->most > 0)
        ifm_derive_say(d, IFM_SEVERITY_WARNING, "rule-07", "%s is shared: up to %.0f other process%s computed on it%s",
                       gpu, others->most, others->most > 1 ? "es" : "", so)
            ->kind = IFM_FINDING_SHARED_GPU;
    else if (others->unknown != NULL || others->unseen)
        ifm_derive_say(d, IFM_SEVERITY_NOTE, "", "whether others use %s is not known: %s", gpu,
                       others->unknown != NULL ? others->unknown : "NVML does not list this run's own process either");
}

/* Programs may use every GPU, and have the joules of each. The state is read while none of them runs: whoever computes
 * then is none of theirs. */
static void say_others_of_programs(struct ifm_derivation *d)
{
    enum { MOST = 64 };
    struct others others[MOST] = {0};
    size_t n = 0;
    for (size_t i = 0; i < d->facts->events->n; i++) {
        const struct ifm_event *event = &d->facts->events->items[i];
        const struct ifm_event_gpu_state *state = event->facts;
        for (size_t k = 0; event->stage == IFM_STAGE_gpu_state && k < json_array_size(state->gpus); k++) {
            const json_t *gpu = json_array_get(state->gpus, k);
            int64_t index = ifm_gpu_index(gpu);
            if (index < 0 || index >= MOST)
                continue;
            see(&others[index], gpu, false);
            n = (size_t)index >= n ? (size_t)index + 1 : n;
        }
    }
    for (size_t i = 0; i < n; i++)
        say_others(d, &others[i], ifm_arena_printf(d->arena, "gpu%zu", i),
                   ", and what it drew stands in the joules of the programs");
}

void ifm_rules_gpu(struct ifm_derivation *d)
{
    struct others others = {0};
    bool programs = false;
    for (size_t c = 0; c < d->plan->n_cells; c++)
        programs |=
            ifm_cell_runs_programs(&d->plan->cells[c]) && ifm_plan_pass(&d->plan->cells[c], IFM_PASS_ENERGY) != NULL;
    if (programs)
        say_others_of_programs(d);
    if (strcmp(d->plan->device, "cuda") != 0)
        return;
    /* Whatever became of the cells: who else was there is of the machine. */
    for (size_t i = 0; i < d->facts->events->n; i++) {
        const struct ifm_event *event = &d->facts->events->items[i];
        const struct ifm_event_gpu_state *state = event->facts;
        const char *why, *remedy;
        if (event->stage == IFM_STAGE_gpu_state) /* with a cell open, this run has a context */
            see(&others, ifm_gpu_measured(state->gpus, &why, &remedy), state->at != NULL);
    }
    say_others(d, &others, "the GPU", "");
}

size_t ifm_derive_gpu_held(const struct ifm_events *events, struct ifm_arena *arena, struct ifm_gpu_held **out)
{
    const json_t *first = NULL, *last = NULL;
    const char *name;
    size_t n = 0, capacity = 0;
    *out = NULL;
    /* The first and the last moment of the run, whatever became of the cells in between. */
    for (size_t i = 0; events != NULL && i < events->n; i++) {
        const struct ifm_event_gpu_state *state = events->items[i].facts;
        if (events->items[i].stage != IFM_STAGE_gpu_state || !json_is_array(state->gpus))
            continue;
        first = first == NULL ? state->gpus : first;
        last = state->gpus;
    }
    for (size_t i = 0; first != last && i < json_array_size(last); i++) {
        const json_t *gpu = json_array_get(last, i), *before = ifm_gpu_at(first, ifm_gpu_index(gpu));
        for (size_t k = 0; (name = ifm_gpu_accumulator(gpu, k)) != NULL; k++) {
            struct ifm_gpu_fact now = ifm_gpu_fact(gpu, "accumulators", name);
            struct ifm_gpu_fact was = ifm_gpu_fact(before, "accumulators", name);
            if (!now.whole || !was.whole || was.integer < 0 || now.integer < was.integer)
                continue;
            IFM_ARENA_GROW(arena, *out, n, capacity);
            (*out)[n++] = (struct ifm_gpu_held){ifm_gpu_index(gpu), name, now.integer - was.integer};
        }
    }
    return n;
}
