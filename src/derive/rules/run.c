/* Rules about the run as a whole: 4 (one configuration), 8 (locks as read back), and how the run went. */
#include "derive/internal.h"

#include "base/text.h"
#include "model/facts.h"
#include "model/machine_facts.h"
#include <math.h>
#include <string.h>

static void refuse_run(struct ifm_derivation *d, const char *reason)
{
    ifm_refuse(&d->refusal, "rule-04", reason);
    ifm_derive_say(d, IFM_SEVERITY_INVALID, "rule-04", "%s", reason);
}

static void expect_same(struct ifm_derivation *d, size_t line, const char *what, const char *said, const char *planned)
{
    if (strcmp(said, planned) != 0)
        refuse_run(d, ifm_arena_printf(d->arena, "run.log:%zu says %s %.64s, the plan %s", line, what, said, planned));
}

/* Blocks of a cell that was cut short are those up to a moment that nobody planned: no gate passes on them. */
static void note_unfinished(struct ifm_derivation *d)
{
    const struct ifm_events *events = d->facts->events;
    const char **out = IFM_ARENA_ARRAY(d->arena, const char *, d->plan->n_cells + 1);
    for (size_t c = 0; c < d->plan->n_cells && IFM_FIRST(events, run_done) == NULL; c++)
        if (d->cells[c].record != NULL && IFM_LAST(events, cell_done, d->plan->cells[c].name, NULL) == NULL)
            out[c] = ifm_derive_remedy(d->plan);
    d->out->unfinished = out;
}

static void note_failed(struct ifm_derivation *d)
{
    const struct ifm_event_cell_failed **out =
        IFM_ARENA_ARRAY(d->arena, const struct ifm_event_cell_failed *, d->plan->n_cells + 1);
    for (size_t c = 0; c < d->plan->n_cells; c++)
        out[c] = ifm_derive_failure(&d->cells[c]);
    d->out->failed = out;
}

/* Every part of the record says the same configuration hash, and the start says the same run. */
static void check_identity(struct ifm_derivation *d)
{
    const struct ifm_events *events = d->facts->events;
    for (size_t i = 0; i < events->n; i++) {
        const struct ifm_event *event = &events->items[i];
        const struct ifm_event_run_start *start = event->facts; /* a later session says the same */
        if (events->chained && i > 0 && event[-1].stage == IFM_STAGE_run_done && event->stage != IFM_STAGE_resume)
            refuse_run(d, ifm_arena_printf(d->arena,
                                           "run.log:%zu: a line stands behind the end of the run: the journal "
                                           "was edited",
                                           event->line));
        if (event->stage == IFM_STAGE_run_done)
            expect_same(d, event->line, "configuration", IFM_FACTS(event, run_done)->config_hash, d->plan->config_hash);
        if (event->stage != IFM_STAGE_run_start && event->stage != IFM_STAGE_resume)
            continue;
        expect_same(d, event->line, "configuration", start->config_hash, d->plan->config_hash);
        expect_same(d, event->line, "run", start->run_id, d->plan->run_id);
    }
    note_unfinished(d);
    note_failed(d);
    if (IFM_FIRST(events, run_start) == NULL)
        refuse_run(d, "the journal has no start of the run: nothing says which configuration was measured");
    else if (IFM_FIRST(events, run_done) == NULL)
        ifm_derive_say(d, IFM_SEVERITY_WARNING, "", "the run %s; %s",
                       IFM_FIRST(events, interrupted) != NULL ? "was interrupted" : "did not finish",
                       ifm_derive_remedy(d->plan));
}

/* A resumed run pools its blocks with those from before: they must come from one machine and one build. */
static void check_machine(struct ifm_derivation *d)
{
    const struct ifm_event_environment *first = IFM_FIRST(d->facts->events, environment);
    IFM_EACH(event, d->facts->events, environment, NULL, NULL) {
        const char *moved = ifm_fingerprint_moved(first->fingerprint, IFM_FACTS(event, environment)->fingerprint,
                                                  strcmp(d->plan->device, "cuda") == 0);
        if (moved == NULL)
            continue;
        refuse_run(d, ifm_arena_printf(d->arena,
                                       "run.log:%zu: the run was resumed on another machine or by another build: "
                                       "%s differs from that of its start",
                                       event->line, moved));
        return;
    }
}

/* ---- locks ---- */

struct locks {
    size_t before, after;
    struct ifm_text open;    /* knobs seen unlocked, once each */
    struct ifm_text changed; /* "governor from a to b" */
    bool unread;             /* an event without a knob */
};

static const struct ifm_event_knob *find_knob(const struct ifm_knobs *knobs, const char *name)
{
    for (size_t i = 0; i < knobs->n; i++)
        if (strcmp(knobs->items[i].knob, name) == 0)
            return &knobs->items[i];
    return NULL;
}

static bool same_value(const struct ifm_event_knob *a, const struct ifm_event_knob *b)
{
    bool known = a != NULL && b != NULL && a->value != NULL && b->value != NULL;
    return known ? strcmp(a->value, b->value) == 0 : a != NULL && b != NULL && a->value == b->value;
}

static void read_knobs(const struct ifm_knobs *knobs, const struct ifm_knobs *first, struct locks *locks)
{
    locks->unread |= knobs->n == 0;
    for (size_t i = 0; i < knobs->n; i++) {
        const struct ifm_event_knob *knob = &knobs->items[i];
        if (!knob->locked)
            ifm_text_add_once(&locks->open, knob->knob);
        if (!same_value(knob, find_knob(first, knob->knob)))
            ifm_text_add_once(&locks->changed, knob->knob);
    }
}

/* With locks required, a knob that was not locked before and after makes the cells that required it invalid. */
static void require_locks(struct ifm_derivation *d, const struct locks *locks)
{
    const char *reason = NULL;
    if (locks->before == 0 || locks->after == 0 || locks->unread)
        reason = "locks are required, and their state was not read back before and after the run";
    else if (locks->open.size > 0)
        reason = ifm_arena_printf(d->arena, "locks are required, and not locked: %s", locks->open.data);
    else if (locks->changed.size > 0)
        reason = ifm_arena_printf(d->arena, "locks are required, and changed during the run: %s", locks->changed.data);
    for (size_t c = 0; reason != NULL && c < d->plan->n_cells; c++)
        if (d->cells[c].cell->measure.locks == IFM_LOCKS_REQUIRED)
            ifm_refuse_cell(&d->cells[c], "rule-08", reason);
}

static void check_locks(struct ifm_derivation *d)
{
    struct locks locks = {0};
    const struct ifm_event_locks *first = IFM_FIRST(d->facts->events, locks);
    IFM_EACH(event, d->facts->events, locks, NULL, NULL) {
        const struct ifm_event_locks *reading = IFM_FACTS(event, locks);
        locks.before += strcmp(reading->when, "before") == 0;
        locks.after += strcmp(reading->when, "after") == 0;
        read_knobs(&reading->knobs, &first->knobs, &locks);
    }
    require_locks(d, &locks);
    if (locks.changed.size > 0)
        ifm_derive_say(d, IFM_SEVERITY_WARNING, "rule-08", "changed during the run: %s", locks.changed.data);
    if (locks.open.size > 0)
        ifm_derive_say(d, IFM_SEVERITY_NOTE, "rule-08",
                       "not locked: %s; the numbers are not comparable with other runs, only inside this one",
                       locks.open.data);
    if (locks.before == 0 || locks.after == 0)
        ifm_derive_say(d, IFM_SEVERITY_NOTE, "rule-08",
                       "the state of the locks was not read back before and after the run");
    ifm_text_free(&locks.open);
    ifm_text_free(&locks.changed);
}

/* "; 16 of 25 blocks disturbed, set aside in ratios of time": in each cell of the arm that has most; "" = none, or none
 * could be marked.
 */
static const char *disturbed_words(const struct ifm_derivation *d)
{
    size_t disturbed = 0, all = 0;
    bool aside = true;
    for (size_t c = 0; c < d->plan->n_cells; c++) {
        const struct ifm_cell_work *work = &d->cells[c];
        struct ifm_aside most = {0};
        if (work->record == NULL)
            continue;
        if (work->marks_unknown != NULL)
            return "";
        for (size_t a = 0; a < work->cell->n_arms; a++) {
            if (!ifm_derive_is_compared(&work->arms[a]))
                continue;
            const struct ifm_aside its = ifm_derive_set_aside(&work->arms[a]);
            most = its.n >= most.n ? its : most;
        }
        disturbed += most.n;
        all += most.n + most.left;
        aside = aside && (most.n == 0 || most.blocks != NULL);
    }
    return disturbed == 0 ? ""
                          : ifm_arena_printf(d->arena, "; %zu of %zu blocks disturbed%s", disturbed, all,
                                             aside ? ", set aside in ratios of time" : ", not set aside");
}

/* One finding, however often the load was read: the readings before and after a run are about the same neighbours. That
 * they go on in between shows in what they disturb. */
static void check_load(struct ifm_derivation *d)
{
    double most = 0;
    struct ifm_text loaded = {0}, unread = {0};
    IFM_EACH(event, d->facts->events, load, NULL, NULL) {
        const struct ifm_event_load *load = IFM_FACTS(event, load);
        if (isnan(load->foreign_load))
            ifm_text_add_once(&unread, load->when);
        else if (load->foreign_load > IFM_LOADED)
            ifm_text_add_once(&loaded, load->when);
        most = fmax(most, load->foreign_load);
    }
    if (loaded.size > 0) {
        const bool began = strcmp(loaded.data, "after") != 0, ended = strcmp(loaded.data, "before") != 0;
        ifm_derive_say(d, IFM_SEVERITY_WARNING, "rule-07",
                       "other programs took up to %.0f %% of each CPU as the run %s%s%s%s", ifm_load_percent(most),
                       began ? "began" : "", began && ended ? " and " : "", ended ? "ended" : "", disturbed_words(d))
            ->kind = IFM_FINDING_LOAD;
    }
    d->out->busy = ifm_was_loaded(d->facts->events);
    if (unread.size > 0)
        ifm_derive_say(d, IFM_SEVERITY_NOTE, "", "the foreign load could not be read (%s the run)", unread.data);
    ifm_text_free(&loaded);
    ifm_text_free(&unread);
}

void ifm_rules_run(struct ifm_derivation *d)
{
    check_identity(d);
    check_machine(d);
    check_locks(d);
    check_load(d);
}
