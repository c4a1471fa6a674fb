/* run.log as derive reads it: which events belong to a cell, and why a cell has no record. */
#include "derive/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum ifm_status bad_event(struct ifm_error *error, size_t line, const char *stage, const char *what)
{
    char where[128];
    snprintf(where, sizeof where, "run.log:%zu", line);
    return ifm_fail(error, IFM_INVALID, where, "the journal was edited, or written by another version",
                    "event \"%s\" %s", stage, what);
}

static bool names_an_arm(const struct ifm_cell *cell, const char *name)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (strcmp(cell->arms[a].name, name) == 0)
            return true;
    return false;
}

/* The stages that derive uses must name what they are about. */
static enum ifm_status check_event(const struct ifm_cell *cell, const struct ifm_cell_event *event,
                                   struct ifm_error *error)
{
    static const struct {
        const char *stage, *text, *integer;
    } shapes[] = {
        {"check", "arm", NULL},           {"feature", "arm", "runs"},        {"cell_failed", "reason", NULL},
        {"cell_skipped", "reason", NULL}, {"clock_broken", "reason", NULL},  {"disturbed", "reason", "block"},
        {"stop", "reason", NULL},         {"column_absent", "column", NULL}, {"column_absent", "reason", NULL},
        {"warmup", "arm", NULL},          {"arm_failed", "arm", NULL},       {"arm_failed", "reason", NULL}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char what[96];
        if (strcmp(shapes[i].stage, event->stage) != 0)
            continue;
        snprintf(what, sizeof what, "has no text \"%s\"", shapes[i].text);
        if (!json_is_string(json_object_get(event->meta, shapes[i].text)))
            return bad_event(error, event->line, event->stage, what);
        if (shapes[i].integer != NULL && !json_is_integer(json_object_get(event->meta, shapes[i].integer)))
            return bad_event(error, event->line, event->stage, "has a count that is no whole number");
    }
    const char *arm = json_string_value(json_object_get(event->meta, "arm"));
    if (arm != NULL && !names_an_arm(cell, arm))
        return bad_event(error, event->line, event->stage, "names an arm that the plan does not have");
    return IFM_OK;
}

const char *ifm_derive_remedy(const struct ifm_plan *plan)
{
    bool session = plan->n_cells > 0 && strcmp(plan->cells[0].workload, "session") == 0;
    return session ? "its caller's code can only be measured again" : "`run --resume` goes on";
}

/* A cell that was begun anew: what was said before is about a record that was set aside, but for which arms failed. */
static void forget_before_restart(struct ifm_cell_work *work)
{
    size_t kept = 0;
    for (size_t i = 0; i < work->n_events; i++)
        if (strcmp(work->events[i].stage, "arm_failed") == 0)
            work->events[kept++] = work->events[i];
    work->n_events = kept;
}

/* Why the cell has no record, from the last word that the journal has on it. */
static void explain_missing(struct ifm_derivation *d, struct ifm_cell_work *work)
{
    const char *last = "";
    work->missing = "its record is missing";
    work->remedy = "";
    for (size_t i = 0; i < work->n_events; i++) {
        const struct ifm_cell_event *event = &work->events[i];
        if (strcmp(event->stage, "cell_failed") == 0 || strcmp(event->stage, "cell_skipped") == 0) {
            const char *remedy = json_string_value(json_object_get(event->meta, "remedy"));
            work->missing = ifm_arena_strdup(d->arena, json_string_value(json_object_get(event->meta, "reason")));
            work->remedy = remedy == NULL ? "" : ifm_arena_strdup(d->arena, remedy);
            last = event->stage;
        } else if (strcmp(event->stage, "cell_done") == 0) {
            last = event->stage;
        }
    }
    if (work->cell->unsupported != NULL && work->cell->unsupported[0] != '\0')
        work->missing = work->cell->unsupported;
    else if (strcmp(last, "cell_done") == 0)
        ifm_derive_find_fault(d, IFM_SEVERITY_INVALID, "rule-01", work->cell->name, "",
                              "the journal says that the cell is done, but its record is missing");
    else if (last[0] == '\0')
        work->missing = ifm_arena_printf(d->arena, "the run ended before this cell (%s)", ifm_derive_remedy(d->plan));
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

/* A sweep has thousands of cells and several events of each: the journal is read once, not once for each cell. */
static enum ifm_status deal_out(struct ifm_derivation *d, struct ifm_error *error)
{
    size_t n = d->plan->n_cells, i;
    json_t *event;
    struct ifm_cell_work **sorted = IFM_ARENA_ARRAY(d->arena, struct ifm_cell_work *, n + 1);
    for (size_t c = 0; c < n; c++)
        sorted[c] = &d->cells[c];
    qsort(sorted, n, sizeof *sorted, by_cell_name);
    json_array_foreach((json_t *)d->facts->events, i, event)
    {
        const char *stage = json_string_value(json_object_get(event, "stage"));
        const json_t *meta = json_object_get(event, "meta");
        if (stage == NULL)
            return bad_event(error, i + 1, "", "has no stage");
        const char *cell = json_string_value(json_object_get(meta, "cell"));
        if (cell == NULL)
            continue;
        struct ifm_cell_work **found = bsearch(cell, sorted, n, sizeof *sorted, compare_to_cell);
        if (found == NULL)
            return bad_event(error, i + 1, stage, "names a cell that the plan does not have");
        struct ifm_cell_work *work = *found;
        IFM_ARENA_GROW(d->arena, work->events, work->n_events, work->events_capacity);
        work->events[work->n_events] = (struct ifm_cell_event){stage, meta, i + 1};
        IFM_TRY(check_event(work->cell, &work->events[work->n_events], error));
        work->n_events++;
        if (strcmp(stage, "cell_restarted") == 0)
            forget_before_restart(work);
    }
    return IFM_OK;
}

enum ifm_status ifm_derive_events(struct ifm_derivation *d, struct ifm_error *error)
{
    IFM_TRY(deal_out(d, error));
    for (size_t c = 0; c < d->plan->n_cells; c++) {
        struct ifm_cell_work *work = &d->cells[c];
        work->missing = "";
        work->remedy = "";
        if (work->record == NULL)
            explain_missing(d, work);
    }
    return IFM_OK;
}

const json_t *ifm_derive_event(const struct ifm_cell_work *work, const char *stage, const char *arm)
{
    for (size_t i = work->n_events; i > 0; i--) {
        const struct ifm_cell_event *event = &work->events[i - 1];
        const char *name = json_string_value(json_object_get(event->meta, "arm"));
        if (strcmp(event->stage, stage) == 0 && (arm == NULL || (name != NULL && strcmp(name, arm) == 0)))
            return event->meta;
    }
    return NULL;
}

/* A member of a loss; NaN where it does not apply and was left out. False when it is no number from low to high. */
static bool read_share(const json_t *loss, const char *key, double low, double high, double *out)
{
    const json_t *member = json_object_get(loss, key);
    *out = NAN;
    if (member == NULL)
        return true;
    *out = json_number_value(member);
    return json_is_number(member) && *out >= low && *out <= high;
}

static enum ifm_status read_loss(const struct ifm_cell_event *event, struct ifm_loss_fact *out, struct ifm_error *error)
{
    const json_t *loss = json_object_get(event->meta, "loss");
    const double one = 1.0 + 1e-9; /* sums round */
    *out = (struct ifm_loss_fact){.seen = loss != NULL, .rms_rel = NAN, .p99_rel = NAN, .cosine = NAN, .tv = NAN};
    out->kl = NAN;
    if (loss == NULL)
        return IFM_OK;
    if (!json_is_object(loss) || !read_share(loss, "rms_rel", 0, INFINITY, &out->rms_rel) ||
        !read_share(loss, "p99_rel", 0, INFINITY, &out->p99_rel) ||
        !read_share(loss, "cosine", -one, one, &out->cosine) ||
        !read_share(loss, "kl", -INFINITY, INFINITY, &out->kl) || !read_share(loss, "tv", 0, one, &out->tv))
        return bad_event(error, event->line, event->stage, "has a \"loss\" with a member that is out of its range");
    out->dropped = out->kl < 0;
    out->kl = out->dropped ? NAN : out->kl;
    out->values = json_integer_value(json_object_get(event->meta, "values"));
    return IFM_OK;
}

enum ifm_status ifm_derive_check(const struct ifm_cell_event *event, struct ifm_check_fact *out,
                                 struct ifm_error *error)
{
    const json_t *done = json_object_get(event->meta, "done"), *finite = json_object_get(event->meta, "finite");
    const json_t *rms = json_object_get(event->meta, "error_rms_rel");
    const json_t *largest = json_object_get(event->meta, "error_max_rel");
    const json_t *values = json_object_get(event->meta, "values");
    *out = (struct ifm_check_fact){.output = json_string_value(json_object_get(event->meta, "output_xxh3")),
                                   .when = json_string_value(json_object_get(event->meta, "when"))};
    if (!json_is_boolean(done))
        return bad_event(error, event->line, event->stage, "does not say whether it was done");
    const json_t *quality = json_object_get(event->meta, "quality_percent");
    out->has_quality = quality != NULL;
    out->quality_percent = json_number_value(quality);
    if (quality != NULL && (!json_is_number(quality) || out->quality_percent < 0 || out->quality_percent > 100))
        return bad_event(error, event->line, event->stage, "has a \"quality_percent\" that is no share of 100");
    IFM_TRY(read_loss(event, &out->loss, error));
    if (!json_is_true(done))
        return IFM_OK;
    if (!json_is_boolean(finite) || !json_is_integer(values) || json_integer_value(values) < 0)
        return bad_event(error, event->line, event->stage, "has no \"finite\" or no \"values\"");
    if (out->output == NULL || out->when == NULL)
        return bad_event(error, event->line, event->stage, "has no \"output_xxh3\" or no \"when\"");
    out->done = true;
    out->sets_differ = json_is_true(json_object_get(event->meta, "sets_differ"));
    out->finite = json_is_true(finite);
    out->values = json_integer_value(values);
    if (!out->finite)
        return IFM_OK; /* errors against values that are not finite have no meaning */
    if (!json_is_number(rms) || !json_is_number(largest) || json_number_value(rms) < 0 ||
        json_number_value(largest) < 0)
        return bad_event(error, event->line, event->stage, "has no error that is zero or more");
    const json_t *part = json_object_get(event->meta, "error_part");
    out->error_part = json_number_value(part);
    if (part != NULL && (!json_is_number(part) || out->error_part < 0))
        return bad_event(error, event->line, event->stage, "has an \"error_part\" that is no share");
    out->error_rms_rel = json_number_value(rms);
    out->error_max_rel = json_number_value(largest);
    return IFM_OK;
}
