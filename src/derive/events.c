/* run.log against the plan: events name its cells and arms, and say why a cell has no record. */
#include "derive/internal.h"

#include "model/machine_facts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ifm_derive_more(const struct ifm_cell_work *work, const char *of)
{
    return ifm_arena_printf(work->d->arena, "more %s: a %s", of,
                            ifm_repeats_ended(work->cell, work->d->facts->events) ? "larger --repeats"
                                                                                  : "longer --cap");
}

const char *ifm_derive_remedy(const struct ifm_plan *plan)
{
    bool session = plan->n_cells > 0 && strcmp(plan->cells[0].workload, "session") == 0;
    return session ? "its caller's code can only be measured again" : IFM_GO_ON;
}

const struct ifm_event_cell_failed *ifm_derive_failure(const struct ifm_cell_work *work)
{
    return IFM_TOLD(work, cell_done, NULL) == NULL ? IFM_TOLD(work, cell_failed, NULL) : NULL;
}

/* Why the cell has no record, from the last word that the journal has on it. */
static void explain_missing(struct ifm_cell_work *work)
{
    enum ifm_stage last = IFM_STAGE_unknown;
    struct ifm_event_list told = ifm_events_about(work->journal, work->cell->name);
    work->missing = "its record is missing";
    work->remedy = "";
    for (size_t i = 0; i < told.n; i++) {
        const struct ifm_event *event = told.items[i];
        const struct ifm_event_cell_failed *failed = event->facts; /* a cell that was skipped says the same */
        if (event->stage == IFM_STAGE_cell_failed || event->stage == IFM_STAGE_cell_skipped) {
            work->missing = failed->reason;
            work->remedy = failed->remedy;
            last = event->stage;
        } else if (event->stage == IFM_STAGE_cell_done) {
            last = event->stage;
        }
    }
    if (!ifm_is_empty(work->cell->unsupported))
        work->missing = work->cell->unsupported;
    else if (last == IFM_STAGE_cell_done)
        ifm_derive_say_cell(work, IFM_SEVERITY_INVALID, "rule-01",
                            "the journal says that the cell is done, but its record is missing");
    else if (last == IFM_STAGE_unknown)
        work->missing =
            ifm_arena_printf(work->d->arena, "the run ended before this cell (%s)", ifm_derive_remedy(work->d->plan));
}

static int by_cell_name(const void *a, const void *b)
{
    const struct ifm_cell_work *one = *(struct ifm_cell_work *const *)a, *other = *(struct ifm_cell_work *const *)b;
    return strcmp(one->cell->name, other->cell->name);
}

static int compare_to_cell(const void *name, const void *item)
{
    return strcmp(name, (*(struct ifm_cell_work *const *)item)->cell->name);
}

/* Every event is about a cell and an arm of this plan, whatever it says. */
static enum ifm_status check_names(struct ifm_derivation *d, struct ifm_error *error)
{
    size_t n = d->plan->n_cells;
    struct ifm_cell_work **sorted = IFM_ARENA_ARRAY(d->arena, struct ifm_cell_work *, n + 1);
    for (size_t c = 0; c < n; c++)
        sorted[c] = &d->cells[c];
    qsort(sorted, n, sizeof *sorted, by_cell_name);
    for (size_t i = 0; i < d->facts->events->n; i++) {
        char where[64];
        const struct ifm_event *event = &d->facts->events->items[i];
        if (event->cell == NULL)
            continue;
        struct ifm_cell_work **found = bsearch(event->cell, sorted, n, sizeof *sorted, compare_to_cell);
        if (found != NULL && (event->arm == NULL || ifm_cell_arm((*found)->cell, event->arm) != NULL))
            continue;
        snprintf(where, sizeof where, "run.log:%zu", event->line);
        return ifm_fail(error, IFM_INVALID, where, "the journal was edited, or written by another version",
                        "event \"%s\" names %s that the plan does not have", ifm_stage_name(event->stage),
                        found == NULL ? "a cell" : "an arm");
    }
    return IFM_OK;
}

enum ifm_status ifm_derive_events(struct ifm_derivation *d, struct ifm_error *error)
{
    IFM_TRY(check_names(d, error));
    for (size_t c = 0; c < d->plan->n_cells; c++) {
        struct ifm_cell_work *work = &d->cells[c];
        work->missing = "";
        work->remedy = "";
        if (work->record == NULL)
            explain_missing(work);
    }
    return IFM_OK;
}
