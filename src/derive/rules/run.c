/* Rules about the run as a whole: 4 (one configuration), 8 (locks as read back), and how the run went. */
#include "derive/internal.h"

#include "base/text.h"
#include "model/lock_state.h"
#include <string.h>

static void refuse_run(struct ifm_derivation *d, const char *reason)
{
    if (d->refusal.rule == NULL)
        d->refusal = (struct ifm_refusal){"rule-04", reason};
    ifm_derive_find_fault(d, IFM_SEVERITY_INVALID, "rule-04", "", "", "%s", reason);
}

static const char *text_of(const json_t *meta, const char *key)
{
    return json_string_value(json_object_get(meta, key));
}

static bool is_stage(const json_t *event, const char *stage)
{
    const char *name = text_of(event, "stage");
    return name != NULL && strcmp(name, stage) == 0;
}

/* Every part of the record says the same configuration hash, and the start says the same run. */
static void check_identity(struct ifm_derivation *d)
{
    size_t i, starts = 0, ends = 0, interruptions = 0;
    json_t *event;
    json_array_foreach((json_t *)d->facts->events, i, event)
    {
        const json_t *meta = json_object_get(event, "meta");
        bool start = is_stage(event, "run_start"), end = is_stage(event, "run_done");
        bool again = is_stage(event, "resume");
        starts += start;
        ends += end;
        interruptions += is_stage(event, "interrupted");
        if (!start && !end && !again)
            continue;
        const char *hash = text_of(meta, "config_hash"), *run = text_of(meta, "run_id");
        if (hash == NULL || strcmp(hash, d->plan->config_hash) != 0)
            refuse_run(d, ifm_arena_printf(d->arena, "run.log:%zu says configuration %.64s, the plan %s", i + 1,
                                           hash == NULL ? "(none)" : hash, d->plan->config_hash));
        if (!end && (run == NULL || strcmp(run, d->plan->run_id) != 0))
            refuse_run(d, ifm_arena_printf(d->arena, "run.log:%zu says run %.64s, the plan %s", i + 1,
                                           run == NULL ? "(none)" : run, d->plan->run_id));
    }
    if (starts == 0)
        refuse_run(d, "the journal has no start of the run: nothing says which configuration was measured");
    if (starts > 0 && ends == 0)
        ifm_derive_find_fault(d, IFM_SEVERITY_WARNING, "", "", "", "the run %s; %s",
                              interruptions > 0 ? "was interrupted" : "did not finish", ifm_derive_remedy(d->plan));
}

/* A resumed run pools its blocks with those from before: they must come from one machine and one build. */
static const char *const machine_paths[][2] = {
    {"cpu", "model"},          {"cpu", "microcode"},       {"cpu", "online"},      {"cpu", "allowed"},
    {"kernel", NULL},          {"memory", "total_bytes"},  {"binary", "compiler"}, {"binary", "version"},
    {"binary", "build_flags"}, {"binary", "git_revision"}, {"gpu", "driver"},      {"gpu", "devices_sha256"}};

static const json_t *at_path(const json_t *host, const char *const path[2])
{
    const json_t *part = json_object_get(host, path[0]);
    return path[1] == NULL ? part : json_object_get(part, path[1]);
}

static void check_machine(struct ifm_derivation *d)
{
    size_t i;
    json_t *event;
    const json_t *first = NULL;
    json_array_foreach((json_t *)d->facts->events, i, event)
    {
        const json_t *host = json_object_get(json_object_get(event, "meta"), "fingerprint");
        if (!is_stage(event, "environment") || host == NULL)
            continue;
        first = first == NULL ? host : first;
        for (size_t k = 0; k < sizeof machine_paths / sizeof machine_paths[0]; k++) {
            const char *const *path = machine_paths[k];
            const json_t *now = at_path(host, path), *was = at_path(first, path);
            bool of_gpu = strcmp(path[0], "gpu") == 0;
            if (now == was || json_equal((json_t *)now, (json_t *)was) ||
                (of_gpu && strcmp(d->plan->device, "cuda") != 0))
                continue;
            refuse_run(d, ifm_arena_printf(d->arena,
                                           "run.log:%zu: the run was resumed on another machine or by another build: "
                                           "%s%s%s differs from that of its start",
                                           i + 1, path[0], path[1] == NULL ? "" : ".", path[1] == NULL ? "" : path[1]));
            return;
        }
    }
}

/* ---- locks ---- */

struct locks {
    size_t before, after;
    struct ifm_text open;    /* knobs seen unlocked, once each */
    struct ifm_text changed; /* "governor from a to b" */
    bool unread;             /* an event without a knob */
};

static const json_t *find_knob(const json_t *knobs, const char *name)
{
    size_t i;
    json_t *knob;
    json_array_foreach((json_t *)knobs, i, knob)
    {
        const char *its = text_of(knob, "knob");
        if (its != NULL && strcmp(its, name) == 0)
            return knob;
    }
    return NULL;
}

static void add_once(struct ifm_text *list, const char *word)
{
    if (list->data != NULL && strstr(list->data, word) != NULL)
        return;
    ifm_text_printf(list, "%s%s", list->size > 0 ? ", " : "", word);
}

static void read_knobs(const json_t *knobs, const json_t *first, struct locks *locks)
{
    size_t i;
    json_t *knob;
    locks->unread |= json_array_size(knobs) == 0;
    json_array_foreach((json_t *)knobs, i, knob)
    {
        const char *name = text_of(knob, "knob");
        if (name == NULL) {
            locks->unread = true;
            continue;
        }
        if (!ifm_lock_is_held(knob))
            add_once(&locks->open, name);
        const json_t *value = json_object_get(knob, "value");
        const json_t *was = first == NULL ? value : json_object_get(find_knob(first, name), "value");
        if (!json_equal((json_t *)value, (json_t *)was))
            add_once(&locks->changed, name);
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
    for (size_t c = 0; reason != NULL && c < d->plan->n_cells; c++) {
        struct ifm_cell_work *work = &d->cells[c];
        if (work->cell->measure.locks != IFM_LOCKS_REQUIRED)
            continue;
        work->refusal = (struct ifm_refusal){"rule-08", reason};
        ifm_derive_find_fault(d, IFM_SEVERITY_INVALID, "rule-08", work->cell->name, "", "%s", reason);
    }
}

static void check_locks(struct ifm_derivation *d)
{
    size_t i;
    json_t *event;
    struct locks locks = {0};
    const json_t *first = NULL;
    json_array_foreach((json_t *)d->facts->events, i, event)
    {
        const json_t *meta = json_object_get(event, "meta");
        const char *when = text_of(meta, "when");
        const json_t *knobs = ifm_lock_knobs(event);
        if (!is_stage(event, "locks") || when == NULL)
            continue;
        locks.before += strcmp(when, "before") == 0;
        locks.after += strcmp(when, "after") == 0;
        read_knobs(knobs, first, &locks);
        first = first == NULL ? knobs : first;
    }
    require_locks(d, &locks);
    if (locks.changed.size > 0)
        ifm_derive_find_fault(d, IFM_SEVERITY_WARNING, "rule-08", "", "", "changed during the run: %s",
                              locks.changed.data);
    if (locks.open.size > 0)
        ifm_derive_find_fault(d, IFM_SEVERITY_NOTE, "rule-08", "", "",
                              "not locked: %s; the numbers are not comparable with other runs, only inside this one",
                              locks.open.data);
    if (locks.before == 0 || locks.after == 0)
        ifm_derive_find_fault(d, IFM_SEVERITY_NOTE, "rule-08", "", "",
                              "the state of the locks was not read back before and after the run");
    ifm_text_free(&locks.open);
    ifm_text_free(&locks.changed);
}

/* One finding, however often the load was read: the readings before and after a run are about the same neighbours. */
static void check_load(struct ifm_derivation *d)
{
    size_t i;
    json_t *event;
    double most = 0;
    struct ifm_text loaded = {0}, unread = {0};
    json_array_foreach((json_t *)d->facts->events, i, event)
    {
        const json_t *meta = json_object_get(event, "meta");
        const json_t *load = json_object_get(meta, "foreign_load");
        const char *when = text_of(meta, "when");
        if (!is_stage(event, "load"))
            continue;
        when = when == NULL ? "during" : when;
        if (!json_is_number(load))
            add_once(&unread, when);
        else if (json_number_value(load) > IFM_LOADED)
            add_once(&loaded, when);
        if (json_is_number(load) && json_number_value(load) > most)
            most = json_number_value(load);
    }
    if (loaded.size > 0)
        ifm_derive_find_fault(d, IFM_SEVERITY_WARNING, "rule-07", "", "",
                              "the machine is under load (%s the run): up to %.2f foreign tasks for each CPU",
                              loaded.data, most);
    if (unread.size > 0)
        ifm_derive_find_fault(d, IFM_SEVERITY_NOTE, "", "", "", "the foreign load could not be read (%s the run)",
                              unread.data);
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
