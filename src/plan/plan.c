/* Study x catalog -> plan.
 *
 * For each workload the swept rows that concern it span a product, first axis slowest; each point is a cell. A cell's
 * arms are the configured arms (or what the workload describes when none are configured), followed by the ceiling
 * probes that the study takes along, so that a rate and its ceiling come from the same minutes. */
#include "plan/plan.h"

#include "base/random.h"
#include "base/text.h"
#include "plan/arms.h"
#include "plan/passes.h"
#include <stdio.h>
#include <string.h>

enum { SINCE_SEEDS_OF_NO_PLACE = 9 }; /* of IFM_PLAN_RULES */
enum { MOST_CELLS = 4096, STREAM_OF_CELL_SEEDS = 0x63656c6c, STREAM_OF_REPLICAS = 0x7265706c };

static const struct ifm_workload_entry *find_workload(const struct ifm_catalog *catalog, const char *name)
{
    for (size_t i = 0; i < catalog->n_workloads; i++)
        if (strcmp(catalog->workloads[i].name, name) == 0)
            return &catalog->workloads[i];
    return NULL;
}

static bool has_prefix(const char *path, const char *section)
{
    size_t length = strlen(section);
    return strncmp(path, section, length) == 0 && path[length] == '.';
}

/* Does the row concern a cell of this workload? */
static bool concerns(const char *path, const char *workload)
{
    return has_prefix(path, "device") || has_prefix(path, "measure") || has_prefix(path, workload);
}

/* The rows that concern one workload. */
struct scope {
    const struct ifm_axis **axes;
    size_t n;
    size_t cells;
};

static struct scope scope_of(const struct ifm_study *study, const char *workload, struct ifm_arena *arena)
{
    struct scope scope = {.axes = IFM_ARENA_ARRAY(arena, const struct ifm_axis *, study->n_axes), .cells = 1};
    for (size_t i = 0; i < study->n_axes; i++) {
        if (!concerns(study->axes[i].path, workload))
            continue;
        scope.axes[scope.n++] = &study->axes[i];
        if (scope.cells <= MOST_CELLS)
            scope.cells *= study->axes[i].n;
    }
    return scope;
}

/* The settings of point `index` of the product; swept ones also into `axes`. */
static void settings_of(const struct scope *scope, size_t index, struct ifm_setting *settings, struct ifm_setting *axes,
                        size_t *n_axes)
{
    size_t rest = index, stride = scope->cells;
    *n_axes = 0;
    for (size_t i = 0; i < scope->n; i++) {
        const struct ifm_axis *axis = scope->axes[i];
        stride /= axis->n;
        settings[i] = (struct ifm_setting){axis->path, axis->texts[rest / stride]};
        rest %= stride;
        if (axis->n > 1)
            axes[(*n_axes)++] = settings[i];
    }
}

static const char *cell_name(const char *workload, const struct ifm_setting *axes, size_t n, struct ifm_arena *arena)
{
    struct ifm_text name = {0};
    ifm_text_add(&name, workload);
    for (size_t i = 0; i < n; i++) {
        const char *dot = strrchr(axes[i].path, '.');
        ifm_text_printf(&name, " %s=%s", dot == NULL ? axes[i].path : dot + 1, axes[i].text);
    }
    const char *kept = ifm_arena_strdup(arena, name.data);
    ifm_text_free(&name);
    return kept;
}

static unsigned threads_of(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine)
{
    const char *text = ifm_setting_find(settings, n, "device.threads");
    uint64_t threads = 0;
    if (text == NULL || !ifm_parse_u64(text, &threads))
        return machine->threads;
    return threads == 0 ? machine->cpus_allowed : (unsigned)threads;
}

static unsigned at_most(unsigned threads, unsigned most)
{
    return most != 0 && threads > most ? most : threads;
}

static uint64_t drawn_seed(uint64_t seed, uint32_t stream, uint64_t counter)
{
    uint32_t word[4];
    ifm_philox(seed, stream, counter, word);
    /* 63 bits: JSON integers are signed. */
    return ((uint64_t)word[0] << 32 | word[1]) >> 1;
}

/* Replica 1 is the study's own seed; every other one draws another study's. No setting of the cell is in it, and not
 * its place in the plan: a shape has the same data alone and in any list, with any threads, instruction set or number
 * of layers, and so the same digits of its errors. Data of two shapes differ by the shapes. */
static uint64_t cell_seed(const struct ifm_study *study, const struct ifm_cell *cell, const struct ifm_machine *machine)
{
    const uint64_t replica = cell->measure.replica;
    const uint64_t own = replica <= 1 ? study->seed : drawn_seed(study->seed, STREAM_OF_REPLICAS, replica);
    return drawn_seed(own, STREAM_OF_CELL_SEEDS,
                      ifm_machine_plans_by(machine, SINCE_SEEDS_OF_NO_PLACE) ? 0 : cell->index);
}

/* In cold mode memory serves every read, however small the working set. */
static bool is_cache_resident(const struct ifm_cell *cell, const struct ifm_machine *machine)
{
    for (size_t i = 0; i < cell->n_arms && cell->measure.cache == IFM_CACHE_HOT; i++)
        if (cell->arms[i].role != IFM_ROLE_CEILING && cell->arms[i].working_set > 0 &&
            cell->arms[i].working_set < 4 * ifm_machine_llc_total(machine))
            return true;
    return false;
}

/* Isolated arms need a workload that can be opened several times, and few enough arms. */
static enum ifm_status check_isolation(const struct ifm_cell *cell, const struct ifm_workload_entry *workload,
                                       struct ifm_error *error)
{
    unsigned apart = cell->n_arms > 0 ? ifm_plan_copies(cell, 0) : 0;
    for (size_t i = 1; i < cell->n_arms; i++)
        apart = ifm_plan_copies(cell, i) > apart ? ifm_plan_copies(cell, i) : apart;
    if (cell->measure.isolation == IFM_ISOLATION_PROCESSES && workload->one_process != NULL)
        return ifm_fail(error, IFM_USAGE, "measure.isolation", "choose measure.isolation=shared or buffers",
                        "the arms of %s cannot run in processes of their own: %s", workload->name,
                        workload->one_process);
    if (apart > IFM_MOST_BUFFER_SETS)
        return ifm_fail(error, IFM_USAGE, "measure.isolation",
                        "compare fewer arms at once, or choose measure.isolation=shared or processes",
                        "measure.isolation=buffers opens each arm in as many sets of buffers as there are arms, %d at "
                        "most; %s has %u arms",
                        (int)IFM_MOST_BUFFER_SETS, cell->name, apart);
    return IFM_OK;
}

static enum ifm_status check_inner(const struct ifm_cell *cell, const struct ifm_workload_entry *workload,
                                   struct ifm_error *error)
{
    if (cell->measure.inner <= 1 || workload->one_process == NULL)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, "measure.inner", "leave it out; --repeats sets how many samples there are",
                    "measure.inner is %llu, but a sample of %s is one step: %s",
                    (unsigned long long)cell->measure.inner, workload->name, workload->one_process);
}

static enum ifm_status build_cell(const struct ifm_study *study, const struct ifm_catalog *catalog,
                                  const struct ifm_workload_entry *workload, const struct scope *scope, size_t point,
                                  struct ifm_arena *arena, struct ifm_cell *cell, struct ifm_error *error)
{
    struct ifm_setting *settings = IFM_ARENA_ARRAY(arena, struct ifm_setting, scope->n + 1);
    struct ifm_setting *axes = IFM_ARENA_ARRAY(arena, struct ifm_setting, scope->n + 1);
    settings_of(scope, point, settings, axes, &cell->n_axes);
    cell->axes = axes;
    cell->workload = workload->name;
    cell->name = cell_name(workload->name, axes, cell->n_axes, arena);
    cell->threads = threads_of(settings, scope->n, &catalog->machine);
    cell->unsupported = "";
    if (cell->threads > catalog->machine.cpus_allowed)
        return ifm_fail(
            error, IFM_USAGE, "device.threads", "ask for fewer threads, or widen the affinity mask (taskset)",
            "%u threads asked for, but this process may use %u CPUs", cell->threads, catalog->machine.cpus_allowed);
    cell->threads = at_most(cell->threads, workload->most_threads);
    cell->measure = study->measure;
    if (catalog->measure != NULL)
        IFM_TRY(ifm_section_bind(catalog->measure, settings, scope->n, arena, &cell->measure, error));
    cell->seed = cell_seed(study, cell, &catalog->machine);
    struct ifm_catalog own = *catalog; /* a cell may sweep its threads: amounts are those of its own */
    own.machine.threads = cell->threads;
    struct ifm_arms_request request = {study, &own, workload, settings, scope->n};
    IFM_TRY(ifm_plan_arms(&request, arena, cell, error));
    IFM_TRY(check_isolation(cell, workload, error));
    IFM_TRY(check_inner(cell, workload, error));
    IFM_TRY(ifm_plan_passes(catalog, workload, arena, cell, error));
    cell->cache_resident = is_cache_resident(cell, &catalog->machine);
    return IFM_OK;
}

static enum ifm_status count_cells(const struct ifm_study *study, const struct ifm_catalog *catalog,
                                   struct ifm_arena *arena, size_t *total, struct ifm_error *error)
{
    *total = 0;
    for (size_t w = 0; w < study->n_workloads; w++) {
        if (find_workload(catalog, study->workloads[w]) == NULL) {
            const char **names = IFM_ARENA_ARRAY(arena, const char *, catalog->n_workloads);
            for (size_t i = 0; i < catalog->n_workloads; i++)
                names[i] = catalog->workloads[i].name;
            const char *nearest = ifm_nearest(study->workloads[w], names, catalog->n_workloads);
            char hint[128] = "`inferometer workloads` lists them";
            if (nearest != NULL)
                snprintf(hint, sizeof hint, "did you mean \"%s\"?", nearest);
            return ifm_fail(error, IFM_USAGE, "workload", hint, "unknown workload \"%s\"", study->workloads[w]);
        }
        *total += scope_of(study, study->workloads[w], arena).cells;
    }
    if (*total > MOST_CELLS)
        return ifm_fail(error, IFM_USAGE, "", "sweep fewer values, or split the study",
                        "the axes span more than %d cells", MOST_CELLS);
    return IFM_OK;
}

enum ifm_status ifm_plan_build(const struct ifm_study *study, const struct ifm_catalog *catalog, const char *run_id,
                               struct ifm_arena *arena, struct ifm_plan **out, struct ifm_error *error)
{
    size_t total;
    IFM_TRY(count_cells(study, catalog, arena, &total, error));
    struct ifm_plan *plan = IFM_ARENA_NEW(arena, struct ifm_plan);
    plan->run_id = run_id;
    plan->config_hash = study->config_hash;
    plan->seed = study->seed;
    plan->device = catalog->machine.device;
    plan->rules = catalog->machine.rules == 0 ? IFM_PLAN_RULES : catalog->machine.rules;
    struct ifm_machine *machine = IFM_ARENA_NEW(arena, struct ifm_machine);
    *machine = catalog->machine;
    plan->machine = machine;
    plan->cells = IFM_ARENA_ARRAY(arena, struct ifm_cell, total);
    plan->gates = study->gates;
    plan->n_gates = study->n_gates;
    for (size_t w = 0; w < study->n_workloads; w++) {
        const struct ifm_workload_entry *workload = find_workload(catalog, study->workloads[w]);
        struct scope scope = scope_of(study, workload->name, arena);
        for (size_t point = 0; point < scope.cells; point++) {
            struct ifm_cell *cell = &plan->cells[plan->n_cells];
            cell->index = (unsigned)plan->n_cells++;
            IFM_TRY(build_cell(study, catalog, workload, &scope, point, arena, cell, error));
        }
    }
    ifm_plan_index(plan, arena);
    *out = plan;
    return IFM_OK;
}
