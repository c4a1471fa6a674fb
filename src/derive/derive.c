/* Record -> metrics, in the order in which it can be told: read, judge what may be printed, then compute. */
#include "derive/internal.h"

#include <string.h>

static const struct ifm_record *record_of(const struct ifm_facts_view *facts, size_t cell)
{
    /* The first pass of a cell is the one that is timed. */
    if (facts->records == NULL || facts->max_passes == 0)
        return NULL;
    return facts->records[cell * facts->max_passes];
}

enum ifm_status ifm_derive_read(struct ifm_derivation *d, struct ifm_error *error)
{
    for (size_t c = 0; c < d->plan->n_cells; c++) {
        d->cells[c].d = d;
        d->cells[c].cell = &d->plan->cells[c];
        d->cells[c].record = record_of(d->facts, c);
        d->cells[c].journal = d->facts->events;
    }
    IFM_TRY(ifm_derive_events(d, error));
    for (size_t c = 0; c < d->plan->n_cells; c++)
        ifm_derive_blocks(&d->cells[c]);
    return IFM_OK;
}

static enum ifm_status apply_rules(struct ifm_derivation *d, struct ifm_error *error)
{
    ifm_rules_plan(d);
    ifm_rules_run(d);
    ifm_rules_gpu(d);
    ifm_rules_clocks(d);
    for (size_t c = 0; c < d->plan->n_cells; c++) {
        ifm_rules_record(&d->cells[c]);
        ifm_rules_repeats(&d->cells[c]);
        ifm_rules_journal(&d->cells[c]);
        ifm_rules_stop(&d->cells[c]);
        ifm_rules_arms(&d->cells[c]);
        IFM_TRY(ifm_rules_energy(&d->cells[c], error));
    }
    ifm_derive_find_caches(d);
    for (size_t c = 0; c < d->plan->n_cells; c++) {
        ifm_rules_time(&d->cells[c]);
        ifm_rules_resident(&d->cells[c]);
    }
    ifm_derive_roofs(d);
    for (size_t c = 0; c < d->plan->n_cells; c++)
        ifm_rules_ceiling(&d->cells[c]);
    return IFM_OK;
}

/* A cell that a failure cut short still has the blocks from before it. */
static void say_when_cut_short(const struct ifm_cell_work *work)
{
    const struct ifm_event_cell_failed *failed = ifm_derive_failure(work);
    const bool told = failed != NULL && failed->arm != NULL; /* of its arm (command.c) */
    if (failed != NULL && work->record != NULL && !told)
        ifm_derive_say_cell(work, IFM_SEVERITY_WARNING, "rule-01", "the cell failed: %s", failed->reason);
    if (work->record == NULL)
        ifm_derive_say_cell(work, IFM_SEVERITY_WARNING, "rule-01", "not measured: %s", work->missing);
}

static void derive_cell(const struct ifm_cell_work *work)
{
    say_when_cut_short(work);
    if (work->cell->n_arms == 0) /* a cell that this device cannot run has no arms, and is absent, not dropped */
        ifm_derive_emit_cell(work, IFM_M_STEP_NS, ifm_value_missing(work, "blocks"));
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_arm_work *arm = &work->arms[a];
        ifm_derive_step(arm);
        ifm_derive_arm_ceilings(arm);
        ifm_derive_latency(arm);
        ifm_derive_shape(arm);
        ifm_derive_facts_of_arm(arm);
        ifm_derive_counters(arm);
        ifm_derive_counted(arm);
        ifm_derive_limits(arm);
        ifm_derive_cpu_counted(arm);
        ifm_derive_monitored(arm);
        ifm_derive_traced(arm);
        ifm_derive_clock(arm);
        ifm_derive_energy(arm);
        ifm_derive_command(arm);
    }
    for (size_t a = 0; a < work->cell->n_arms; a++)
        ifm_derive_processor_change(&work->arms[a]);
    for (size_t a = 0; a < work->cell->n_arms; a++)
        ifm_derive_comparison(&work->arms[a]);
    ifm_derive_rivals(work);
    ifm_derive_say_family(work);
    ifm_derive_at_ceiling(work);
    ifm_derive_say_compression(work);
    ifm_derive_cell_ceilings(work);
    ifm_derive_caches(work);
    ifm_derive_gpu_state(work);
}

static void keep_retries(struct ifm_derivation *d)
{
    size_t capacity = 0;
    IFM_EACH(event, d->facts->events, retry, NULL, NULL) {
        IFM_ARENA_GROW(d->arena, d->out->retries, d->out->n_retries, capacity);
        d->out->retries[d->out->n_retries++] = IFM_FACTS(event, retry);
    }
}

enum ifm_status ifm_derive(const struct ifm_facts_view *facts, struct ifm_arena *arena, struct ifm_derived **out,
                           struct ifm_error *error)
{
    struct ifm_derivation d = {.plan = facts->plan, .facts = facts, .arena = arena};
    d.out = IFM_ARENA_NEW(arena, struct ifm_derived);
    d.out->run_id = facts->plan->run_id;
    d.out->config_hash = facts->plan->config_hash;
    d.out->read_lowered = IFM_ARENA_ARRAY(arena, double, facts->plan->n_cells + 1);
    for (size_t c = 0; c < facts->plan->n_cells; c++)
        d.out->read_lowered[c] = 1;
    d.cells = IFM_ARENA_ARRAY(arena, struct ifm_cell_work, facts->plan->n_cells + 1);
    d.gated = IFM_ARENA_ARRAY(arena, enum ifm_metric_id, facts->plan->n_gates + 1);
    for (size_t g = 0; g < facts->plan->n_gates; g++)
        d.gated[g] = ifm_metric_of(facts->plan->gates[g].metric);
    if (facts->events == NULL)
        return ifm_fail(error, IFM_INVALID, "run.log", NULL, "there is no journal");
    IFM_TRY(ifm_derive_read(&d, error));
    IFM_TRY(apply_rules(&d, error));
    for (size_t c = 0; c < d.plan->n_cells; c++)
        derive_cell(&d.cells[c]);
    ifm_rules_plan_rows(&d);
    keep_retries(&d);
    ifm_derived_sort(d.out, arena);
    *out = d.out;
    return IFM_OK;
}
