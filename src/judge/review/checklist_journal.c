/* The checklists' questions to the journal: locks, versions, seeds, load, inputs, and whether the record is whole.
 *
 * A journal may come from another version: what it does not say is not known, and never met. */
#include "judge/internal.h"

#include "model/lock_state.h"
#include <string.h>

#define MEASURE_AGAIN "measure again with this version"
#define FIND_NVML "let NVML be found: `inferometer doctor` says how"
#define GO_ON "`inferometer run --resume` goes on"

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool is_text(const char *a, const char *b)
{
    return a != NULL && strcmp(a, b) == 0;
}

const json_t *ifm_check_event(const json_t *events, const char *stage, const char *key, const char *value)
{
    for (size_t i = json_array_size(events); i > 0; i--) {
        const json_t *event = json_array_get(events, i - 1), *meta = json_object_get(event, "meta");
        if (is_text(text_of(event, "stage"), stage) && (key == NULL || is_text(text_of(meta, key), value)))
            return meta;
    }
    return NULL;
}

/* What the journal says of each arm, in one pass: thousands of arms and events are no reason to wait. */
struct told {
    const char *first;    /* its first output */
    size_t outputs;       /* how many are known */
    bool changed;         /* they are not all the same */
    const json_t *steady; /* of its last warm-up */
    bool done;            /* of a cell's first arm: its record is complete */
};

struct hearing {
    const struct ifm_plan *plan;
    struct told **cells; /* [cell][arm] */
    size_t last;         /* the cell of the event before: most often that of the next */
};

static bool find_cell(struct hearing *h, const char *name)
{
    for (size_t i = 0; name != NULL && i < h->plan->n_cells; i++) {
        size_t at = (h->last + i) % h->plan->n_cells;
        if (strcmp(h->plan->cells[at].name, name) == 0) {
            h->last = at;
            return true;
        }
    }
    return false;
}

static struct told *find_arm(struct hearing *h, const char *name)
{
    const struct ifm_cell *cell = &h->plan->cells[h->last];
    for (size_t a = 0; name != NULL && a < cell->n_arms; a++)
        if (strcmp(cell->arms[a].name, name) == 0)
            return &h->cells[h->last][a];
    return NULL;
}

static void hear(struct hearing *h, const json_t *event)
{
    const json_t *meta = json_object_get(event, "meta");
    const char *stage = text_of(event, "stage"), *hash = text_of(meta, "output_xxh3");
    if (stage == NULL || !find_cell(h, text_of(meta, "cell")))
        return;
    h->cells[h->last][0].done |= strcmp(stage, "cell_done") == 0;
    struct told *arm = find_arm(h, text_of(meta, "arm"));
    if (arm != NULL && strcmp(stage, "warmup") == 0)
        arm->steady = json_object_get(meta, "steady");
    if (arm == NULL || strcmp(stage, "check") != 0 || hash == NULL)
        return;
    arm->changed |=
        (arm->first != NULL && strcmp(arm->first, hash) != 0) || json_is_true(json_object_get(meta, "sets_differ"));
    arm->first = hash;
    arm->outputs++;
}

static struct told **hear_all(const struct ifm_checking *c)
{
    struct hearing h = {.plan = c->plan, .cells = IFM_ARENA_ARRAY(c->arena, struct told *, c->plan->n_cells + 1)};
    for (size_t k = 0; k < c->plan->n_cells; k++)
        h.cells[k] = IFM_ARENA_ARRAY(c->arena, struct told, c->plan->cells[k].n_arms + 1);
    for (size_t i = 0; i < json_array_size(c->events); i++)
        hear(&h, json_array_get(c->events, i));
    return h.cells;
}

/* ---- locks ---- */

/* The open knobs, once each, and one of them that could be locked: its value was read. */
static const json_t *open_knobs(const json_t *events, struct ifm_text *names, const json_t **first)
{
    const json_t *readable = NULL;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *knobs = ifm_lock_knobs(json_array_get(events, i));
        for (size_t k = 0; k < json_array_size(knobs); k++) {
            const json_t *knob = json_array_get(knobs, k), *value = json_object_get(knob, "value");
            const char *name = text_of(knob, "knob");
            if (ifm_lock_is_held(knob) || name == NULL)
                continue;
            if (names->data == NULL || strstr(names->data, name) == NULL)
                ifm_text_printf(names, "%s%s", names->size > 0 ? ", " : "", name);
            *first = *first == NULL ? knob : *first;
            readable = readable == NULL && value != NULL && !json_is_null(value) ? knob : readable;
        }
    }
    return readable;
}

bool ifm_checks_gpu(const struct ifm_checking *c)
{
    return strcmp(c->plan->device, "cuda") == 0;
}

struct ifm_check_item ifm_answer_locks(const struct ifm_checking *c)
{
    if (ifm_checks_gpu(c))
        return ifm_check_absent(c, "the point before is its counterpart on a GPU",
                                "the run was on a GPU: its locks are the GPU's");
    return ifm_check_knobs(c);
}

struct ifm_check_item ifm_check_knobs(const struct ifm_checking *c)
{
    const json_t *before = ifm_check_event(c->events, "locks", "when", "before");
    const json_t *after = ifm_check_event(c->events, "locks", "when", "after"), *first = NULL;
    enum ifm_lock_state state = ifm_lock_state(c->events);
    if (state == IFM_LOCK_UNKNOWN || before == NULL || after == NULL)
        return ifm_check_absent(c, "let the run finish", "the locks were not read back before and after the run");
    if (state == IFM_LOCK_HELD)
        return ifm_check_met(c, "every knob that was read back was locked, before and after");
    struct ifm_text names = {0};
    const json_t *readable = open_knobs(c->events, &names, &first), *told = readable != NULL ? readable : first;
    const char *reason = text_of(told, "reason"), *remedy = text_of(told, "remedy");
    remedy = remedy == NULL ? "`inferometer doctor` says how" : ifm_arena_strdup(c->arena, remedy);
    struct ifm_check_item item =
        ifm_check_found(c, readable != NULL ? IFM_CHECK_NOT_MET : IFM_CHECK_ABSENT, remedy, "not locked: %s%s%s",
                        names.size > 0 ? names.data : "some", reason == NULL || reason[0] == '\0' ? "" : "; ",
                        reason == NULL ? "" : reason);
    ifm_text_free(&names);
    return item;
}

/* ---- the machine ---- */

static const json_t *fingerprint_of(const struct ifm_checking *c)
{
    return json_object_get(ifm_check_event(c->events, "environment", NULL, NULL), "fingerprint");
}

/* "OpenBLAS 0.3.21": a package is a text, an object with a version, or absent. */
static void add_package(struct ifm_text *out, const char *name, const json_t *package)
{
    const char *version = json_is_object(package) ? text_of(package, "version") : json_string_value(package);
    if (version != NULL)
        ifm_text_printf(out, ", %s %s", name, version);
}

struct ifm_check_item ifm_answer_versions(const struct ifm_checking *c)
{
    const json_t *host = fingerprint_of(c), *binary = json_object_get(host, "binary");
    const char *kernel = text_of(host, "kernel"), *compiler = text_of(binary, "compiler");
    const char *version = text_of(binary, "version"), *name;
    const char *gpu = ifm_checks_gpu(c) ? ifm_check_gpu_named(c) : "";
    json_t *package;
    if (ifm_checks_gpu(c) && gpu[0] == '\0')
        return ifm_check_unmet(c, FIND_NVML, "not recorded: the GPU and its driver");
    if (host == NULL)
        return ifm_check_unmet(c, MEASURE_AGAIN, "the journal holds no fingerprint of the machine");
    if (kernel == NULL || compiler == NULL || version == NULL)
        return ifm_check_unmet(c, MEASURE_AGAIN, "not recorded: %s",
                               kernel == NULL     ? "the kernel"
                               : compiler == NULL ? "the compiler"
                                                  : "the version of this program");
    struct ifm_text out = {0};
    ifm_text_printf(&out, "inferometer %s, %s, kernel %s", version, compiler, kernel);
    json_object_foreach(json_object_get(host, "packages"), name, package)
    {
        add_package(&out, name, package);
    }
    if (gpu[0] != '\0')
        ifm_text_printf(&out, ", %s", gpu);
    json_object_foreach(json_object_get(json_object_get(host, "python"), "frameworks"), name, package)
    {
        add_package(&out, name, package);
    }
    struct ifm_check_item item = ifm_check_met(c, "%s", out.data);
    ifm_text_free(&out);
    return item;
}

struct ifm_check_item ifm_answer_fingerprint(const struct ifm_checking *c)
{
    const json_t *host = fingerprint_of(c);
    const char *model = text_of(json_object_get(host, "cpu"), "model");
    if (json_object_size(host) == 0)
        return ifm_check_unmet(c, MEASURE_AGAIN, "the journal holds no fingerprint of the machine");
    const char *gpu = ifm_check_gpu_named(c);
    if (ifm_checks_gpu(c) && gpu[0] == '\0')
        return ifm_check_unmet(c, FIND_NVML, "the run was on a GPU, and the fingerprint names none");
    return ifm_check_met(c, "%zu facts of %s: processor, caches, clocks, memory, kernel, build, packages%s%s",
                         json_object_size(host), model == NULL ? "the machine" : model, gpu[0] == '\0' ? "" : "; ",
                         gpu);
}

struct ifm_check_item ifm_answer_load(const struct ifm_checking *c)
{
    size_t n = 0, unread = 0;
    double most = 0;
    const char *when = "";
    for (size_t i = 0; i < json_array_size(c->events); i++) {
        const json_t *event = json_array_get(c->events, i), *meta = json_object_get(event, "meta");
        const json_t *load = json_object_get(meta, "foreign_load");
        if (!is_text(text_of(event, "stage"), "load"))
            continue;
        n++;
        unread += !json_is_number(load);
        if (json_is_number(load) && json_number_value(load) >= most) {
            most = json_number_value(load);
            when = text_of(meta, "when") == NULL ? "during" : text_of(meta, "when");
        }
    }
    if (most > c->limit)
        return ifm_check_unmet(c, "end what else runs, or take a machine of your own",
                               "%.2f foreign tasks for each CPU %s the run", most, when);
    if (n == 0 || unread > 0)
        return ifm_check_absent(c, "measure on a device whose machine can be read", "%s",
                                n == 0 ? "the load was not read"
                                       : "the load could not be read before and after the run");
    return ifm_check_met(c, "at most %.2f foreign tasks for each CPU, read %zu times", most, n);
}

/* ---- seeds and inputs ---- */

/* An arm whose output, of the same inputs, was not always the same; NULL: none was seen. `n_same` arms gave it twice.
 */
static const char *changed_output(const struct ifm_checking *c, size_t *n_same)
{
    struct told **told = hear_all(c);
    *n_same = 0;
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const struct ifm_cell *cell = &c->plan->cells[k];
        for (size_t a = 0; ifm_checks_cell(c, cell) && a < cell->n_arms; a++) {
            if (told[k][a].changed)
                return ifm_arena_printf(c->arena, "%s of %s", cell->arms[a].name, cell->name);
            *n_same += told[k][a].outputs > 1 && ifm_checks_arm(&cell->arms[a]);
        }
    }
    return NULL;
}

struct ifm_check_item ifm_answer_seed(const struct ifm_checking *c)
{
    size_t n;
    const char *place = changed_output(c, &n);
    unsigned long long seed = (unsigned long long)c->plan->seed;
    if (place != NULL)
        return ifm_check_unmet(c, "look for a race or for memory that is read before it is written",
                               "the same inputs gave another output (%s)", place);
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const char *workload = c->plan->cells[k].workload;
        if (strcmp(workload, "command") == 0 || strcmp(workload, "session") == 0)
            return ifm_check_absent(c, "give the measured code a seed of its own",
                                    "seed %llu draws the order; what the code of %s draws is its own", seed,
                                    c->plan->cells[k].name);
    }
    if (n == 0)
        return ifm_check_absent(c, "measure a workload that has an output",
                                "seed %llu draws data and order; no output was compared", seed);
    return ifm_check_met(c, "seed %llu draws data and order; %zu arm%s gave the same output again", seed, n,
                         n == 1 ? "" : "s");
}

/* A file that one session read with one content and a later one with another. */
static const char *changed_file(const json_t *events, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i), *meta = json_object_get(event, "meta");
        const char *file = text_of(meta, "file"), *hash = text_of(meta, "sha256"), *token = text_of(meta, "token");
        if (!is_text(text_of(event, "stage"), "input") || file == NULL || hash == NULL || token == NULL)
            continue;
        if (!is_text(text_of(ifm_check_event(events, "input", "token", token), "sha256"), hash))
            return file;
        ++*n;
    }
    return NULL;
}

/* Do two arms do the same work a step, on the same content? */
static bool same_work(const struct ifm_arm *a, const struct ifm_arm *b)
{
    return a->ledger.tokens_prompt == b->ledger.tokens_prompt &&
           a->ledger.tokens_generated == b->ledger.tokens_generated && a->ledger.rows == b->ledger.rows &&
           (a->stored_plain == b->stored_plain || a->stored_plain == 0 || b->stored_plain == 0);
}

struct ifm_check_item ifm_answer_inputs(const struct ifm_checking *c)
{
    size_t files;
    const char *changed = changed_file(c->events, &files);
    for (size_t i = 0; i < c->derived->n_findings; i++) {
        const struct ifm_finding *f = &c->derived->findings[i];
        if (strcmp(f->rule, "rule-04") == 0 && f->severity == IFM_SEVERITY_INVALID && f->cell[0] == '\0')
            return ifm_check_unmet(c, "measure again, in a folder of its own", "%s", f->text);
    }
    if (changed != NULL)
        return ifm_check_unmet(c, "measure again with one file", "the file %s changed during the run", changed);
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const struct ifm_cell *cell = &c->plan->cells[k];
        const struct ifm_arm *base = NULL;
        for (size_t a = 0; a < cell->n_arms; a++)
            base = cell->arms[a].role == IFM_ROLE_BASELINE ? &cell->arms[a] : base;
        for (size_t a = 0; base != NULL && a < cell->n_arms; a++)
            if (cell->arms[a].role == IFM_ROLE_VARIANT && !same_work(base, &cell->arms[a]))
                return ifm_check_unmet(c, "give the arms the same batch, lengths and heads",
                                       "%s of %s does other work in a step than %s", cell->arms[a].name, cell->name,
                                       base->name);
    }
    return ifm_check_met(c, "configuration %.12s, %zu input file%s by SHA-256; compared arms do the same work",
                         c->plan->config_hash, files, files == 1 ? "" : "s");
}

/* ---- how the run went ---- */

struct ifm_check_item ifm_answer_steady(const struct ifm_checking *c)
{
    size_t n = 0, unsteady = 0, silent = 0;
    const char *place = "", *mute = "";
    struct told **told = hear_all(c);
    for (struct ifm_check_place at = {0}; ifm_checks_next(c, &at); n++) {
        const json_t *steady = told[at.k][at.next - 1].steady;
        const char *here = ifm_arena_printf(c->arena, "%s of %s", at.arm->name, at.cell->name);
        mute = !json_is_boolean(steady) && silent++ == 0 ? here : mute;
        place = json_is_false(steady) && unsteady++ == 0 ? here : place;
    }
    if (unsteady > 0)
        return ifm_check_unmet(c, "a quieter machine, or a longer --warmup-cap", "%zu of %zu arms were not (%s%s)",
                               unsteady, n, place, unsteady > 1 ? ", ..." : "");
    if (n == 0)
        return ifm_check_no_arms(c);
    if (silent > 0)
        return ifm_check_absent(c, "let the run finish", "the journal does not say it of %s", mute);
    return ifm_check_met(c, "%zu arm%s: two windows agreed", n, n == 1 ? "" : "s");
}

struct ifm_check_item ifm_answer_stored(const struct ifm_checking *c)
{
    const json_t *binary = json_object_get(fingerprint_of(c), "binary");
    const char *version = text_of(binary, "version"), *commit = text_of(binary, "git_revision");
    struct told **told = hear_all(c);
    size_t n = 0;
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const struct ifm_cell *cell = &c->plan->cells[k];
        if (!ifm_checks_cell(c, cell))
            continue;
        if (!told[k][0].done)
            return ifm_check_unmet(c, GO_ON, "%s has no whole record", cell->name);
        n++;
    }
    if (ifm_check_event(c->events, "run_done", NULL, NULL) == NULL)
        return ifm_check_unmet(c, GO_ON, "the run did not finish");
    if (version == NULL)
        return ifm_check_unmet(c, MEASURE_AGAIN, "nothing says which version measured");
    return ifm_check_met(c, "%zu cell%s, run %s by version %s%s%.12s; verdict: %s", n, n == 1 ? "" : "s",
                         c->plan->run_id, version, commit == NULL ? "" : ", commit ", commit == NULL ? "" : commit,
                         ifm_outcome_words(c->verdict->outcome));
}
