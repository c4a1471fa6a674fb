/* The arms of one cell. */
#include "plan/arms.h"

#include "base/text.h"
#include <stdio.h>
#include <string.h>

const char *ifm_setting_find(const struct ifm_setting *settings, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(settings[i].path, path) == 0)
            return settings[i].text;
    return NULL;
}

/* The cell's settings with the arm's own ones in their place. */
static struct ifm_setting *overlay(const struct ifm_arms_request *request, const struct ifm_arm_spec *spec, size_t *n,
                                   struct ifm_arena *arena)
{
    size_t most = request->n_settings + (spec != NULL ? spec->n_set : 0);
    struct ifm_setting *merged = IFM_ARENA_ARRAY(arena, struct ifm_setting, most + 1);
    memcpy(merged, request->settings, request->n_settings * sizeof *merged);
    *n = request->n_settings;
    for (size_t i = 0; spec != NULL && i < spec->n_set; i++) {
        size_t at = 0;
        while (at < *n && strcmp(merged[at].path, spec->set[i].path) != 0)
            at++;
        merged[at] = spec->set[i];
        if (at == *n)
            ++*n;
    }
    return merged;
}

static enum ifm_status describe(const struct ifm_arms_request *request, const struct ifm_workload_entry *workload,
                                const struct ifm_setting *settings, size_t n, struct ifm_arena *arena,
                                struct ifm_arm_list *list, const char **why_not, struct ifm_error *error)
{
    *list = (struct ifm_arm_list){0};
    *why_not = NULL;
    const struct ifm_machine *machine = &request->catalog->machine;
    if (!workload->serves) {
        *why_not = ifm_arena_printf(arena, "%s has no implementation for the device %s yet; the device %s runs it",
                                    workload->name, machine->device,
                                    strcmp(machine->device, "cuda") == 0 ? "cpu" : "cuda");
        return IFM_OK;
    }
    IFM_TRY(workload->describe(settings, n, machine, arena, list, why_not, error));
    for (size_t i = 0; i < list->n; i++) {
        struct ifm_arm *arm = &list->items[i];
        arm->workload = workload->name;
        arm->settings = settings;
        arm->n_settings = n;
        arm->equals = "";
        if (machine->scripted) { /* nothing is computed: there is nothing to check, to lose or to count */
            arm->implementation = "script";
            arm->has_oracle = arm->lossy = false;
            arm->feature = "";
            arm->bits = NULL;
        }
        const char **const texts[] = {&arm->variant, &arm->feature, &arm->idle, &arm->implementation, &arm->title};
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            if (*texts[t] == NULL)
                *texts[t] = "";
    }
    return IFM_OK;
}

/* A growing list of arms in the arena. */
struct arms {
    struct ifm_arm *items;
    size_t n, capacity;
};

static void push(struct arms *arms, const struct ifm_arm *arm, struct ifm_arena *arena)
{
    IFM_ARENA_GROW(arena, arms->items, arms->n, arms->capacity);
    arms->items[arms->n++] = *arm;
}

/* The part that item `i` of what a workload describes plays: rivals have a baseline, several probes have none. */
static enum ifm_role role_of(const struct ifm_arm_list *list, size_t i)
{
    if (list->n == 1 || (list->rivals && i == 0))
        return IFM_ROLE_BASELINE;
    return list->rivals ? IFM_ROLE_VARIANT : IFM_ROLE_CEILING;
}

/* Without configured arms: what the workload describes. */
static enum ifm_status add_described(const struct ifm_arms_request *request, struct ifm_arena *arena, struct arms *arms,
                                     const char **why_not, struct ifm_error *error)
{
    size_t n;
    struct ifm_setting *settings = overlay(request, NULL, &n, arena);
    struct ifm_arm_list list;
    IFM_TRY(describe(request, request->workload, settings, n, arena, &list, why_not, error));
    for (size_t i = 0; i < list.n; i++) {
        list.items[i].role = role_of(&list, i);
        push(arms, &list.items[i], arena);
    }
    return IFM_OK;
}

/* The one item that an arm of the configuration stands for. */
static enum ifm_status select_arm(const struct ifm_arms_request *request, const struct ifm_arm_spec *spec,
                                  const struct ifm_arm_list *list, struct ifm_arm **out, struct ifm_error *error)
{
    *out = &list->items[list->n - 1];
    if (list->n == 1 || (list->rivals && list->n == 2))
        return IFM_OK;
    if (list->rivals) {
        struct ifm_text names = {0};
        for (size_t i = 0; i < list->n; i++)
            ifm_text_printf(&names, "%s%s", i > 0 ? ", " : "", list->items[i].name);
        (void)!ifm_fail(error, IFM_USAGE, spec->where, "let the arm's `set` choose one of them",
                        "arm %s stands for %zu arms of workload %s at once: %s", spec->name, list->n,
                        request->workload->name, names.data);
        ifm_text_free(&names);
        if (list->one != NULL)
            ifm_error_hint(error,
                           "add a line that leaves one, such as `%s`, to the arm's `set`, or to the file for all arms",
                           list->one);
        return IFM_USAGE;
    }
    return ifm_fail(error, IFM_USAGE, spec->where, "compare arms of another workload, or remove `arms`",
                    "workload %s makes %zu probes of its own; arms cannot be laid over them", request->workload->name,
                    list->n);
}

static enum ifm_status add_configured(const struct ifm_arms_request *request, struct ifm_arena *arena,
                                      struct arms *arms, const char **why_not, struct ifm_error *error)
{
    for (size_t s = 0; s < request->study->n_arms && *why_not == NULL; s++) {
        const struct ifm_arm_spec *spec = &request->study->arms[s];
        size_t n;
        struct ifm_setting *settings = overlay(request, spec, &n, arena);
        struct ifm_arm_list list;
        IFM_TRY(describe(request, request->workload, settings, n, arena, &list, why_not, error));
        if (*why_not != NULL) {
            *why_not = ifm_arena_printf(arena, "arm %s: %s", spec->name, *why_not);
            return IFM_OK;
        }
        struct ifm_arm *arm;
        IFM_TRY(select_arm(request, spec, &list, &arm, error));
        arm->name = spec->name;
        arm->role = spec->baseline ? IFM_ROLE_BASELINE : IFM_ROLE_VARIANT;
        push(arms, arm, arena);
    }
    return IFM_OK;
}

/* Since rules 2 ceilings have rounds of their own, and read their buffers in pieces. */
static bool were_apart(const struct ifm_catalog *catalog)
{
    return ifm_machine_plans_by(&catalog->machine, 2);
}

/* Since rules 4 reads of cells that caches serve are held against the level that does, and FLOP ceilings bring the
 * clock along, and byte products where an arm multiplies integers. */
static bool have_levels(const struct ifm_catalog *catalog)
{
    return ifm_machine_plans_by(&catalog->machine, 4) && catalog->machine.gpu == NULL;
}

/* What a cell asks of the workload whose arms are ceilings. */
struct ceilings {
    const struct ifm_arms_request *request;
    const struct ifm_workload_entry *prober;
    const struct ifm_cell *cell;
    uint64_t largest; /* working set */
    uint64_t bytes;   /* of the largest one that memory serves */
    unsigned levels;  /* of the caches, a bit each, that serve the others */
    bool integer;     /* an arm multiplies integers */
    bool matrix;      /* an arm multiplies on matrix units */
};

static int level_of(const struct ceilings *c, const struct ifm_arm *arm)
{
    const struct ifm_catalog *catalog = c->request->catalog;
    if (!have_levels(catalog) || c->cell->measure.cache == IFM_CACHE_COLD)
        return 0;
    return ifm_machine_level(&catalog->machine, c->cell->threads, arm->working_set);
}

static void look_at_arms(struct ceilings *c, const struct arms *arms)
{
    for (size_t i = 0; i < arms->n; i++) {
        const struct ifm_arm *arm = &arms->items[i];
        int level = level_of(c, arm);
        c->largest = arm->working_set > c->largest ? arm->working_set : c->largest;
        if (level > 0 && arm->working_set > 0)
            c->levels |= 1U << level;
        else if (arm->working_set > c->bytes)
            c->bytes = arm->working_set;
        c->integer |= arm->integer;
        c->matrix |= arm->matrix;
    }
}

/* Probes of one limit; over as many bytes as the cell itself touches, or in a `level` of the caches. */
static enum ifm_status add_probes(const struct ceilings *c, const char *probe, uint64_t bytes, int level,
                                  struct ifm_arena *arena, struct arms *arms, struct ifm_error *error)
{
    const struct ifm_arms_request *request = c->request;
    const struct ifm_ceiling_settings *paths = c->prober->ceilings;
    struct ifm_setting *settings = IFM_ARENA_ARRAY(arena, struct ifm_setting, 4);
    const char *threads = ifm_setting_find(request->settings, request->n_settings, "device.threads");
    size_t n = 0;
    settings[n++] = (struct ifm_setting){paths->probe, probe};
    settings[n++] = (struct ifm_setting){paths->size, ifm_arena_printf(arena, "%llu", (unsigned long long)bytes)};
    settings[n++] = (struct ifm_setting){"device.threads", threads == NULL ? "0" : threads};
    if (level > 0)
        settings[n++] = (struct ifm_setting){paths->level, ifm_arena_printf(arena, "%d", level)};
    else if (were_apart(request->catalog))
        settings[n++] = (struct ifm_setting){paths->pieces, "true"};
    struct ifm_arm_list list;
    const char *why_not;
    IFM_TRY(describe(request, c->prober, settings, n, arena, &list, &why_not, error));
    for (size_t i = 0; i < list.n; i++) {
        list.items[i].role = IFM_ROLE_CEILING;
        push(arms, &list.items[i], arena);
    }
    return IFM_OK;
}

static enum ifm_status add_reads(const struct ceilings *c, struct ifm_arena *arena, struct arms *arms,
                                 struct ifm_error *error)
{
    if (c->bytes > 0)
        IFM_TRY(add_probes(c, "read", c->bytes, 0, arena, arms, error));
    for (int level = 1; level <= IFM_CACHE_LEVELS; level++)
        if ((c->levels & 1U << level) != 0)
            IFM_TRY(add_probes(c, "read", 0, level, arena, arms, error));
    return IFM_OK;
}

static bool lists(const struct ifm_study *study, const char *ceiling)
{
    for (size_t i = 0; i < study->n_ceilings; i++)
        if (strcmp(study->ceilings[i], ceiling) == 0)
            return true;
    return false;
}

static enum ifm_status add_flops(const struct ceilings *c, struct ifm_arena *arena, struct arms *arms,
                                 struct ifm_error *error)
{
    const struct ifm_study *study = c->request->study;
    IFM_TRY(add_probes(c, "flops", c->largest, 0, arena, arms, error));
    if (c->matrix && !lists(study, "matrix"))
        IFM_TRY(add_probes(c, "matrix", 0, 0, arena, arms, error));
    if (have_levels(c->request->catalog) && c->integer && !lists(study, "int8"))
        IFM_TRY(add_probes(c, "int8", 0, 0, arena, arms, error));
    return have_levels(c->request->catalog) ? add_probes(c, "clock", 0, 0, arena, arms, error) : IFM_OK;
}

/* Probes of the limits that the cell's rates are held against. */
static enum ifm_status add_ceilings(const struct ifm_arms_request *request, const struct ifm_cell *cell,
                                    struct ifm_arena *arena, struct arms *arms, struct ifm_error *error)
{
    struct ceilings c = {.request = request, .cell = cell};
    for (size_t i = 0; i < request->catalog->n_workloads; i++)
        if (request->catalog->workloads[i].ceilings != NULL)
            c.prober = &request->catalog->workloads[i];
    look_at_arms(&c, arms);
    if (c.prober == NULL || c.prober == request->workload || c.largest == 0)
        return IFM_OK;
    for (size_t i = 0; i < request->study->n_ceilings; i++) {
        const char *ceiling = request->study->ceilings[i];
        if (strcmp(ceiling, "read") == 0)
            IFM_TRY(add_reads(&c, arena, arms, error));
        else if (strcmp(ceiling, "flops") == 0)
            IFM_TRY(add_flops(&c, arena, arms, error));
        else if (strcmp(ceiling, "none") != 0)
            IFM_TRY(add_probes(&c, ceiling, c.largest, 0, arena, arms, error));
    }
    return IFM_OK;
}

/* The first arm before `arms->items[i]` whose output it must repeat bit for bit; NULL = there is none. */
static const struct ifm_arm *twin_of(const struct arms *arms, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (arms->items[i].bits != NULL && arms->items[j].bits != NULL &&
            strcmp(arms->items[i].bits, arms->items[j].bits) == 0)
            return &arms->items[j];
    return NULL;
}

/* A variant of the same work on the same data must give the baseline's output (rule 12). */
static void bind_outputs(struct arms *arms)
{
    const struct ifm_arm *baseline = NULL;
    for (size_t i = 0; i < arms->n; i++)
        if (arms->items[i].role == IFM_ROLE_BASELINE)
            baseline = &arms->items[i];
    for (size_t i = 0; baseline != NULL && i < arms->n; i++) {
        struct ifm_arm *arm = &arms->items[i];
        const struct ifm_arm *twin = twin_of(arms, i);
        bool same_work = memcmp(&arm->ledger, &baseline->ledger, sizeof arm->ledger) == 0;
        if (twin != NULL)
            arm->equals = twin->name;
        if (twin != NULL || arm->role != IFM_ROLE_VARIANT || !arm->has_oracle || arm->lossy || !same_work)
            continue;
        arm->equals = baseline->name;
        arm->equal_bound = arm->tolerance > baseline->tolerance ? arm->tolerance : baseline->tolerance;
    }
}

/* Names are unique, and a block's order has room for all. */
static enum ifm_status check_names(const struct arms *arms, const struct ifm_cell *cell, struct ifm_error *error)
{
    if (arms->n > IFM_MOST_ARMS)
        return ifm_fail(error, IFM_USAGE, cell->name, "compare fewer arms at once", "%zu arms; a cell holds at most %d",
                        arms->n, IFM_MOST_ARMS);
    for (size_t i = 0; i < arms->n; i++)
        for (size_t j = i + 1; j < arms->n; j++)
            if (strcmp(arms->items[i].name, arms->items[j].name) == 0)
                return ifm_fail(error, IFM_USAGE, cell->name, "rename the arm", "two arms are called \"%s\"",
                                arms->items[i].name);
    return IFM_OK;
}

static enum ifm_status check_memory(const struct ifm_cell *cell, const struct ifm_machine *machine,
                                    struct ifm_error *error)
{
    uint64_t needed = ifm_plan_memory(cell);
    if (needed <= machine->memory_available)
        return IFM_OK;
    char need[48], have[48];
    return ifm_fail(error, IFM_USAGE, cell->name,
                    cell->measure.isolation == IFM_ISOLATION_SHARED
                        ? "choose a smaller shape, or free memory"
                        : "choose a smaller shape, free memory, or let the arms share (measure.isolation=shared)",
                    "needs %s of memory (%llu bytes), but %s (%llu bytes) are available",
                    ifm_format_human((double)needed, "B", need), (unsigned long long)needed,
                    ifm_format_human((double)machine->memory_available, "B", have),
                    (unsigned long long)machine->memory_available);
}

enum ifm_status ifm_plan_arms(const struct ifm_arms_request *request, struct ifm_arena *arena, struct ifm_cell *cell,
                              struct ifm_error *error)
{
    struct arms arms = {0};
    const char *why_not = NULL;
    if (request->study->n_arms == 0)
        IFM_TRY(add_described(request, arena, &arms, &why_not, error));
    else
        IFM_TRY(add_configured(request, arena, &arms, &why_not, error));
    if (why_not != NULL || arms.n == 0) {
        cell->unsupported = why_not == NULL || why_not[0] == '\0' ? "the workload offers nothing to run here" : why_not;
        return IFM_OK;
    }
    IFM_TRY(add_ceilings(request, cell, arena, &arms, error));
    bind_outputs(&arms);
    IFM_TRY(check_names(&arms, cell, error));
    cell->arms = arms.items;
    cell->n_arms = arms.n;
    cell->ceilings_apart = were_apart(request->catalog) && arms.items[0].role != IFM_ROLE_CEILING &&
                           arms.items[arms.n - 1].role == IFM_ROLE_CEILING; /* they stand behind the others */
    return check_memory(cell, &request->catalog->machine, error);
}
