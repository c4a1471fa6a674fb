/* Planning again: nothing of plan.json is believed that its lock and the recorded machine can tell.
 *
 * Reads files and asks nothing of the machine that it runs on, so that a folder says the same wherever it is read. */
#include "story/folder.h"

#include "base/file.h"
#include "base/program.h"
#include "base/text.h"
#include "device/fake.h"
#include "kernel/cpu/dispatch.h"
#include "model/machine_facts.h"
#include "model/plan_json.h"
#include "model/plan_same.h"
#include "plan/plan.h"
#include "story/catalog.h"
#include "story/story.h"
#include "workload/session/session.h"
#include <stdlib.h>
#include <string.h>

struct review {
    const char *dir;
    const struct ifm_plan *plan;
    const struct ifm_events *events;
    struct ifm_arena *arena;
    struct ifm_plan_fault *faults;
    size_t n, capacity;
    const char *not_rebuilt;
    bool *rests;            /* by cell: numbers rest on what was not rebuilt */
    struct ifm_error *lock; /* what is wrong with config.lock.json itself */
};

static void find_fault(struct review *review, size_t cell, const char *text)
{
    IFM_ARENA_GROW(review->arena, review->faults, review->n, review->capacity);
    review->faults[review->n++] = (struct ifm_plan_fault){cell, text};
}

static bool lists(const json_t *texts, const char *text)
{
    size_t index;
    json_t *item;
    json_array_foreach(texts, index, item)
    {
        if (json_is_string(item) && strcmp(json_string_value(item), text) == 0)
            return true;
    }
    return false;
}

/* ---- the machine that was planned for ---- */

/* The instruction sets of the flags that a fingerprint lists, as host and kernels count them. */
static void isas_of(const json_t *flags, struct ifm_machine *machine)
{
    static const char *const all[] = {"avx512vnni", "avx512", "avx2", "sse2", "scalar"};
    size_t first = lists(flags, "sse2") ? 3 : 4;
    if (lists(flags, "avx512f") && lists(flags, "avx512bw") && lists(flags, "avx512dq") && lists(flags, "avx512vl"))
        first = lists(flags, "avx512_vnni") ? 0 : 1;
    else if (lists(flags, "avx2") && lists(flags, "fma"))
        first = 2;
    machine->isas = all + first;
    machine->n_isas = sizeof all / sizeof *all - first;
    machine->arch = lists(flags, "asimd") ? "aarch64" : "x86_64";
}

/* How many CPUs a list such as "0-3,8" holds. */
static unsigned count_cpus(const char *list)
{
    unsigned long n = 0;
    while (list != NULL && *list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        n += last >= first ? last - first + 1 : 0;
        list = *end == ',' ? end + 1 : NULL;
    }
    return (unsigned)n;
}

/* 0 = the fingerprint does not say: it lists the caches of one CPU. */
static unsigned llc_instances_of(const json_t *caches, const struct ifm_machine *machine)
{
    const json_t *last = json_array_get(caches, json_array_size(caches) - 1);
    unsigned sharing = count_cpus(json_string_value(json_object_get(last, "shared_cpus")));
    return machine->threads == 1 || sharing >= machine->cpus_allowed ? 1 : 0;
}

static void blas_of(const json_t *blas, struct ifm_machine *machine, struct ifm_arena *arena)
{
    const char *version = json_string_value(json_object_get(blas, "version")),
               *core = json_string_value(json_object_get(blas, "core"));
    if (version != NULL && core != NULL)
        machine->blas = ifm_arena_printf(arena, "OpenBLAS %s %s", version, core);
    else
        machine->blas_why_not = json_string_value(json_object_get(blas, "absent"));
}

/* A plan of before machines were recorded: the processor as the fingerprint describes it. What memory was left is not
 * known; plans that it bounded are rare. */
static const struct ifm_machine *machine_of_fingerprint(const struct review *review, const struct ifm_study *study)
{
    const struct ifm_fingerprint fingerprint = ifm_fingerprint_of(review->events);
    struct ifm_machine *machine = IFM_ARENA_NEW(review->arena, struct ifm_machine);
    unsigned asked = ifm_story_threads(study);
    if (fingerprint.all == NULL || fingerprint.cpus_allowed <= 0)
        return NULL;
    *machine = (struct ifm_machine){.device = "cpu",
                                    .cpus_allowed = (unsigned)fingerprint.cpus_allowed,
                                    .threads = asked == 0 ? (unsigned)fingerprint.cpus_allowed : asked,
                                    .memory_available = UINT64_MAX};
    for (int level = 1; level <= IFM_CACHE_LEVELS; level++)
        machine->cache_reported[level - 1] = (uint64_t)ifm_fingerprint_cache(&fingerprint, level);
    isas_of(json_object_get(json_object_get(fingerprint.all, "cpu"), "flags"), machine);
    blas_of(json_object_get(fingerprint.packages, "openblas"), machine, review->arena);
    machine->llc_instances = llc_instances_of(json_object_get(fingerprint.all, "caches_reported"), machine);
    return machine->llc_instances > 0 ? machine : NULL;
}

/* NULL = not recorded. The scripted device is the same everywhere. */
static const struct ifm_machine *machine_of(const struct review *review, const struct ifm_config *config)
{
    const char *device = ifm_story_device(config);
    struct ifm_machine *scripted = IFM_ARENA_NEW(review->arena, struct ifm_machine);
    if (strcmp(device, "fake") == 0)
        return ifm_device_fake.describe(ifm_story_threads(ifm_config_study(config)), scripted, NULL) == IFM_OK
                   ? scripted
                   : NULL;
    if (review->plan->machine != NULL)
        return review->plan->machine;
    return strcmp(device, "cpu") == 0 ? machine_of_fingerprint(review, ifm_config_study(config)) : NULL;
}

/* ---- what this build cannot plan ---- */

static bool has_kernels(const char *isa)
{
    size_t n;
    const struct ifm_kernel *kernels = ifm_kernels(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(kernels[i].isa, isa) == 0)
            return true;
    return false;
}

/* Why this build cannot plan for the machine; NULL = it can. */
static const char *why_not(const struct ifm_machine *machine, const char *device, struct ifm_arena *arena)
{
    if (machine == NULL)
        return strcmp(device, "cuda") == 0 ? "the version that planned did not record the GPU"
                                           : "the version that planned did not record the machine's last-level caches";
    if (strcmp(machine->device, device) != 0)
        return NULL; /* an edit, which the comparison names */
    if (strcmp(device, "cpu") == 0 && machine->arch != NULL && machine->arch[0] != '\0' &&
        strcmp(machine->arch, IFM_STORY_ARCH) != 0)
        return ifm_arena_printf(arena, "its kernels are of %.16s, this build's of %s", machine->arch, IFM_STORY_ARCH);
    if (machine->n_isas > 0 && strcmp(device, "cpu") == 0 && !has_kernels(machine->isas[0]))
        return ifm_arena_printf(arena, "this build has no kernels of %.16s", machine->isas[0]);
    return NULL;
}

/* ---- leaves that nobody can plan again ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_of_ledger(const char *path)
{
    return strstr(path, "].ledger.") != NULL;
}

/* Leaves that later rules plan otherwise, of which no number is made: a plan of earlier ones is not held to them. Of
 * every other leaf the planner gives what its rules gave, by the machine's `rules`. */
static const struct {
    unsigned since;          /* the IFM_PLAN_RULES that changed it */
    const char *part;        /* of its path */
    const char *has, *gives; /* what earlier rules gave, and what planning gives now; NULL = anything */
    const char *workload;    /* of its cell; NULL = any */
} changed_rules[] = {
    {1, "].implementation", "\"\"", NULL, NULL},
    {1, "].title", "\"\"", NULL, NULL},
    {1, "].chosen.", "nothing", NULL, NULL},
    {1, "].idle", "\"\"", NULL, NULL},
    {1, "].name", "\"auto\"", NULL, NULL},
    {1, "].variant", "\"auto\"", NULL, NULL},
    {17, "].memory", NULL, NULL, "command"}, /* of the lab's own state */
    {1, "].columns[", "nothing", "\"child_failure\"", "command"},
    {1, "].column_units[", "nothing", "\"code\"", "command"},
    {14, "].columns[", "nothing", "\"child_run_delay_ns\"", "command"},
    {14, "].column_units[", "nothing", "\"ns\"", "command"},
    {14, "].columns[", "nothing", "\"child_wall_ns\"", "command"},
    {17, "].columns[", "nothing", "\"child_foreign_ns\"", "command"},
    {17, "].column_units[", "nothing", "\"ns\"", "command"},
    {22, "].columns[", "nothing", "\"child_cpu\"", "command"},
    {22, "].column_units[", "nothing", "\"code\"", "command"},
    {2, "].chosen.stream.piece", "nothing", "\"0\"", NULL}, /* all of the buffer */
};

static bool has_changed(const struct review *review, const struct ifm_plan_leaf *leaf)
{
    const char *workload = leaf->cell < review->plan->n_cells ? review->plan->cells[leaf->cell].workload : "";
    for (size_t i = 0; i < sizeof changed_rules / sizeof *changed_rules; i++)
        if (review->plan->rules < changed_rules[i].since && strstr(leaf->path, changed_rules[i].part) != NULL &&
            (changed_rules[i].workload == NULL || strcmp(changed_rules[i].workload, workload) == 0) &&
            (changed_rules[i].has == NULL || strcmp(changed_rules[i].has, leaf->has) == 0) &&
            (changed_rules[i].gives == NULL || strcmp(changed_rules[i].gives, leaf->gives) == 0))
            return true;
    return false;
}

/* Numbers of the cell, or of all, rest on plan.json as it stands. */
static void rest(struct review *review, size_t cell)
{
    for (size_t i = 0; i < review->plan->n_cells; i++)
        review->rests[i] |= i == cell || cell >= review->plan->n_cells;
}

/* Why the leaf is believed as it stands; NULL = it is not. */
static const char *believed(struct review *review, const struct ifm_study *study, const struct ifm_plan_leaf *leaf)
{
    static const char *const said[] = {".lossy", ".has_oracle", ".tolerance", ".equals", ".equal_bound"};
    const char *workload = leaf->cell < review->plan->n_cells ? review->plan->cells[leaf->cell].workload : "";
    bool of_arm = strstr(leaf->path, ".arms[") != NULL;
    if (of_arm && strcmp(workload, "session") == 0) {
        bool by_caller = is_of_ledger(leaf->path);
        for (size_t i = 0; i < sizeof said / sizeof *said; i++)
            by_caller |= ends_with(leaf->path, said[i]);
        if (by_caller)
            rest(review, leaf->cell);
        if (by_caller)
            return "a session's caller says what its arms do (ledgers, tolerances, equal outputs)";
    }
    if (of_arm && strcmp(workload, "command") == 0 && study->n_arms == 0 && ends_with(leaf->path, "].name"))
        return "an arm without a name has that of its program, which private.json holds";
    if (has_changed(review, leaf))
        return ifm_arena_printf(review->arena, "an earlier version planned %.200s by other rules", leaf->path);
    return NULL;
}

/* ---- the comparison ---- */

static const char *words_of(const struct review *review, const struct ifm_plan_leaf *leaf, size_t more)
{
    const char *others = more == 0   ? ""
                         : more == 1 ? "; one more leaf differs"
                                     : ifm_arena_printf(review->arena, "; %zu more leaves differ", more);
    return ifm_arena_printf(review->arena,
                            "plan.json: %.200s is %.200s; planning again from config.lock.json gives %.200s%s",
                            leaf->path, leaf->has, leaf->gives, others);
}

/* One fault for each cell, which names its first leaf. */
static void find_faults(struct review *review, const struct ifm_study *study, const struct ifm_plan_leaves *leaves)
{
    const struct ifm_plan_leaf *first = NULL;
    size_t more = 0;
    for (size_t i = 0; i < leaves->n; i++) {
        const struct ifm_plan_leaf *leaf = &leaves->items[i];
        const char *reason = believed(review, study, leaf);
        if (reason != NULL) {
            review->not_rebuilt = review->not_rebuilt == NULL ? reason : review->not_rebuilt;
        } else if (first != NULL && first->cell == leaf->cell) {
            more++;
        } else {
            if (first != NULL)
                find_fault(review, first->cell, words_of(review, first, more));
            first = leaf;
            more = 0;
        }
    }
    if (first != NULL)
        find_fault(review, first->cell, words_of(review, first, more));
}

/* A leaf that numbers are made of. */
static bool is_amount(const char *path)
{
    return is_of_ledger(path) || strstr(path, "].stored") != NULL || ends_with(path, "].scratch");
}

/* Where earlier rules give another amount than today's do, numbers rest on what plan.json says of its rules: whoever
 * lowers them changes what a number means. */
static void rest_on_rules(struct review *review, const struct ifm_study *study, struct ifm_catalog *catalog)
{
    struct ifm_plan *today;
    struct ifm_plan_leaves leaves = {0};
    struct ifm_error ignored;
    catalog->machine.rules = 0;
    if (review->plan->rules >= IFM_PLAN_RULES ||
        ifm_plan_build(study, catalog, review->plan->run_id, review->arena, &today, &ignored) != IFM_OK)
        return;
    ifm_plan_differences(review->plan, today, review->arena, &leaves);
    for (size_t i = 0; i < leaves.n; i++) {
        const struct ifm_plan_leaf *leaf = &leaves.items[i];
        const char *workload = leaf->cell < review->plan->n_cells ? review->plan->cells[leaf->cell].workload : "";
        if (!is_amount(leaf->path) || strcmp(workload, "session") == 0 || has_changed(review, leaf))
            continue;
        rest(review, leaf->cell);
        if (review->not_rebuilt == NULL || strstr(review->not_rebuilt, "this version gives") == NULL)
            review->not_rebuilt =
                ifm_arena_printf(review->arena, "rules %u, by which %.200s is %.60s; this version gives %.60s",
                                 review->plan->rules, leaf->path, leaf->has, leaf->gives);
    }
}

static bool is_session(const struct ifm_study *study)
{
    return study->n_workloads == 1 && strcmp(study->workloads[0], "session") == 0;
}

static void compare(struct review *review, const struct ifm_config *config, const struct ifm_machine *machine)
{
    const struct ifm_study *study = ifm_config_study(config);
    const struct ifm_workload_entry session = ifm_session_entry();
    struct ifm_catalog catalog;
    struct ifm_plan *made;
    struct ifm_plan_leaves leaves = {0};
    struct ifm_error error;
    ifm_story_catalog(config, machine, is_session(study) ? &session : NULL, review->arena, &catalog);
    catalog.machine.rules = review->plan->rules == 0 ? 1 : review->plan->rules;
    if (ifm_plan_build(study, &catalog, review->plan->run_id, review->arena, &made, &error) != IFM_OK) {
        find_fault(review, IFM_WHOLE_PLAN,
                   ifm_arena_printf(review->arena, "planning again from config.lock.json fails: %s", error.message));
        return;
    }
    ifm_plan_differences(review->plan, made, review->arena, &leaves);
    find_faults(review, study, &leaves);
    if (review->n == 0)
        rest_on_rules(review, study, &catalog);
}

/* Without planning again: gates, measure settings and seed are those of the lock. */
static void compare_settings(struct review *review, const struct ifm_config *config)
{
    struct ifm_error error;
    if (ifm_story_check_plan("plan.json", config, review->plan, &error) != IFM_OK)
        find_fault(review, IFM_WHOLE_PLAN, ifm_arena_strdup(review->arena, error.message));
}

/* A plan of older rules has fewer checks to pass, so the record must be of a build that had them. */
static void review_rules(struct review *review)
{
    const unsigned rules = review->plan->rules;
    const char *revision = ifm_program_revision(), *measured = ifm_fingerprint_of(review->events).revision;
    if (rules > IFM_PLAN_RULES)
        find_fault(review, IFM_WHOLE_PLAN,
                   ifm_arena_printf(review->arena,
                                    "plan.json is of a later version (rules %u, this one knows %d); read it with that",
                                    rules, IFM_PLAN_RULES));
    else if (rules < IFM_PLAN_RULES && revision != NULL && measured != NULL && strcmp(revision, measured) == 0)
        find_fault(review, IFM_WHOLE_PLAN,
                   ifm_arena_printf(review->arena,
                                    "plan.json: rules is %u, the build that measured (revision %.12s) plans by %d",
                                    rules, revision, IFM_PLAN_RULES));
}

static void review_plan(struct review *review, const struct ifm_config *config)
{
    const char *device = ifm_story_device(config);
    const struct ifm_machine *machine = machine_of(review, config);
    review_rules(review);
    review->not_rebuilt = why_not(machine, device, review->arena);
    if (review->not_rebuilt != NULL) {
        rest(review, IFM_WHOLE_PLAN);
        compare_settings(review, config);
        return;
    }
    if (strcmp(machine->device, device) != 0)
        find_fault(review, IFM_WHOLE_PLAN,
                   ifm_arena_printf(review->arena,
                                    "plan.json: machine.device is \"%.16s\", config.lock.json has \"%s\"",
                                    machine->device, device));
    else
        compare(review, config, machine);
}

static void find_lock_fault(struct review *review)
{
    find_fault(review, IFM_WHOLE_PLAN, ifm_arena_printf(review->arena, "config.lock.json: %s", review->lock->message));
    if (review->lock->code == IFM_USAGE) /* given with -c, a wrong lock is a usage error; here the record is wrong */
        review->lock->code = IFM_INVALID;
}

/* The lock resolves to itself, and the plan is what it gives. */
static void review_lock(struct review *review)
{
    struct ifm_config *config = ifm_story_config();
    enum ifm_status status =
        ifm_config_file(config, ifm_path_join(review->arena, review->dir, "config.lock.json"), review->lock);
    if (status == IFM_OK)
        status = ifm_config_resolve(config, review->lock);
    if (status == IFM_OK)
        review_plan(review, config);
    else
        find_lock_fault(review);
    ifm_config_destroy(config);
}

/* The plugin that is missing is one of the study's workloads, and so is every cell's: nobody gets out of being planned
 * again by naming a plugin that has nothing to do with the run. */
static bool has_workloads(const struct review *review, const json_t *lock, const char *missing)
{
    const json_t *workloads = json_object_get(json_object_get(lock, "parameters"), "workload");
    bool all = lists(workloads, missing);
    for (size_t i = 0; i < review->plan->n_cells; i++)
        all = all && lists(workloads, review->plan->cells[i].workload);
    return all;
}

/* Without the tables of a plugin: the lock fits its hash, and holds the plan's gates and seed. */
static void review_without_tables(struct review *review, const json_t *lock, const char *missing)
{
    json_t *plan = ifm_plan_to_json(review->plan);
    const json_t *seed = json_object_get(json_object_get(lock, "parameters"), "seed");
    if (ifm_config_lock_intact(lock, "config.lock.json", review->lock) != IFM_OK)
        find_lock_fault(review);
    else if (!has_workloads(review, lock, missing))
        find_fault(review, IFM_WHOLE_PLAN, "plan.json: its workloads are not those of config.lock.json");
    else if (!json_equal(json_object_get(plan, "gates"), json_object_get(lock, "gates")) ||
             (uint64_t)json_integer_value(seed) != review->plan->seed)
        find_fault(review, IFM_WHOLE_PLAN, "plan.json: its gates or seed are not those of config.lock.json");
    review->not_rebuilt =
        ifm_arena_printf(review->arena, "the workload '%.64s' is of a plugin, and --plugin does not load it", missing);
    rest(review, IFM_WHOLE_PLAN);
    json_decref(plan);
}

/* The journal says which plan.json was measured; a version that does not say leaves it out. */
static void review_file(struct review *review)
{
    const char *is = ifm_plan_sha256(review->dir, review->arena);
    for (size_t i = 0; i < review->events->n; i++) {
        const struct ifm_event *event = &review->events->items[i];
        const struct ifm_event_run_start *start = event->facts; /* a later session says the same */
        const char *was = event->stage == IFM_STAGE_run_start || event->stage == IFM_STAGE_resume ? start->plan_sha256
                          : event->stage == IFM_STAGE_run_done ? IFM_FACTS(event, run_done)->plan_sha256
                                                               : NULL;
        if (was == NULL || (is != NULL && strcmp(was, is) == 0))
            continue;
        if (is == NULL) {
            find_fault(review, IFM_WHOLE_PLAN, "plan.json cannot be read again, to see that it is what was measured");
            return;
        }
        find_fault(review, IFM_WHOLE_PLAN,
                   ifm_arena_printf(review->arena,
                                    "plan.json is not the file that was measured: its SHA-256 is %.12s, run.log:%zu "
                                    "says %.12s",
                                    is, event->line, was));
        return;
    }
}

void ifm_story_review(const char *dir, const json_t *lock, const struct ifm_plan *plan, const struct ifm_events *events,
                      struct ifm_arena *arena, struct ifm_plan_review *out, struct ifm_error *lock_error)
{
    struct review review = {.dir = dir, .plan = plan, .events = events, .arena = arena, .lock = lock_error};
    review.rests = IFM_ARENA_ARRAY(arena, bool, plan->n_cells + 1);
    const char *missing = ifm_plugins_missing(lock);
    *lock_error = (struct ifm_error){0};
    if (missing == NULL)
        review_lock(&review);
    else
        review_without_tables(&review, lock, missing);
    review_file(&review);
    *out = (struct ifm_plan_review){review.faults, review.n, review.not_rebuilt, review.rests};
}
