/* The kinds of passes, and looking parts of a plan up. */
#include "model/pass.h"

#include "model/plan.h"
#include "model/value.h"
#include <string.h>

static const char *always(const struct ifm_cell *cell, const char *device, const char **remedy)
{
    (void)cell;
    (void)device;
    *remedy = "";
    return NULL;
}

bool ifm_arm_runs_programs(const struct ifm_arm *arm)
{
    static const char *const hooks[] = {"command.prepare", "command.cleanup"};
    bool programs = strcmp(arm->workload, "command") == 0;
    for (size_t i = 0; programs && i < sizeof hooks / sizeof *hooks; i++)
        programs = ifm_is_empty(ifm_arm_setting(arm, hooks[i]));
    return programs;
}

/* What gaps an arm has: hooks of its own, or the way back to the start of an inference cycle. */
static bool goes_back(const struct ifm_arm *arm)
{
    const char *cycle = ifm_arm_setting(arm, "decode.inference");
    return strcmp(arm->workload, "decode") == 0 && cycle != NULL && strcmp(cycle, "true") == 0;
}

#define WITHOUT_CYCLES                                                                                                 \
    "the same without --inference and --decode-tokens: each step is then one attention over the cache"

const char *ifm_arm_between(const struct ifm_arm *arm, const char **remedy)
{
    *remedy = goes_back(arm) ? WITHOUT_CYCLES : "";
    if (goes_back(arm))
        return "the way back to the cycle's start";
    if (strcmp(arm->workload, "command") == 0)
        return "starts of programs, and hooks";
    if (strcmp(arm->workload, "session") == 0)
        return "the caller's own code";
    *remedy = "an arm without hooks";
    return "hooks";
}

static bool any_gaps(const struct ifm_cell *cell, bool back)
{
    bool gaps = false;
    for (size_t i = 0; i < cell->n_arms; i++)
        gaps |= cell->arms[i].gaps && !ifm_arm_runs_programs(&cell->arms[i]) && goes_back(&cell->arms[i]) == back;
    return gaps;
}

static bool has_processes(const struct ifm_cell *cell)
{
    return cell->measure.isolation == IFM_ISOLATION_PROCESSES;
}

/* A sensor updates ten times a second: the steps of a window must follow each other, with nothing between them that
 * draws power too. */
static const char *why_no_energy(const struct ifm_cell *cell, const char *device, const char **remedy)
{
    const struct {
        bool holds;
        const char *reason, *remedy;
    } rows[] = {
        {!cell->measure.energy, "energy was not measured",
         "--energy (measure.energy) measures it, in a pass of its own"},
        {!ifm_is_empty(cell->unsupported), cell->unsupported, ""},
        {strcmp(device, "fake") == 0, "a scripted device draws no energy",
         "measure on a real device: device.kind=cpu or cuda"},
        {cell->measure.cache == IFM_CACHE_COLD,
         "caches are evicted between the samples of this cell, and that draws energy too", "measure.cache=hot"},
        {any_gaps(cell, true), "each cycle goes back to its start between the samples, and that draws energy too",
         WITHOUT_CYCLES},
        {any_gaps(cell, false), "hooks run between the samples of this cell, and they draw energy too",
         "arms without hooks (--prepare, --cleanup)"},
        {has_processes(cell), "the plan gives this cell no energy pass", ""},
        {cell->n_arms == 0, "the plan gives this cell no energy pass", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *remedy = rows[i].remedy;
        if (rows[i].holds)
            return rows[i].reason;
    }
    return NULL;
}

/* Instruments of these passes work in the process that runs the steps. */
static const char *why_not_observed(const struct ifm_cell *cell, const char *device, const char **remedy)
{
    (void)device;
    *remedy = "choose measure.isolation=shared or buffers";
    return has_processes(cell) ? "the arms of this cell run in processes of their own" : NULL;
}

#define ADMITS(class) (1U << IFM_INTRUSION_##class)

/* A window's slot has no columns of passive instruments: sensors read throughout, and idle stretches belong to it. */
const struct ifm_pass_row ifm_pass_rows[IFM_PASS_KINDS] = {
    [IFM_PASS_LATENCY] = {"the time of steps", ADMITS(PASSIVE), true, false, always},
    [IFM_PASS_ENERGY] = {"power, in windows of seconds", ADMITS(SAMPLING), false, true, why_no_energy},
    [IFM_PASS_COUNTERS] = {"what hardware counts during steps", ADMITS(PASSIVE) | ADMITS(REPLAYING), false, false,
                           why_not_observed},
    [IFM_PASS_TRACE] = {"launches and calls of steps", ADMITS(PASSIVE) | ADMITS(TRACING), false, false,
                        why_not_observed},
};

const char *const ifm_pass_names[IFM_PASS_KINDS + 1] = {
    [IFM_PASS_LATENCY] = "latency",
    [IFM_PASS_ENERGY] = "energy",
    [IFM_PASS_COUNTERS] = "counters",
    [IFM_PASS_TRACE] = "trace",
};

enum ifm_pass_kind ifm_pass_for(enum ifm_intrusion intrusion)
{
    unsigned kind = 0;
    while (kind + 1 < IFM_PASS_KINDS && (ifm_pass_rows[kind].admits & 1U << intrusion) == 0)
        kind++;
    return (enum ifm_pass_kind)kind;
}

void ifm_plan_index(struct ifm_plan *plan, struct ifm_arena *arena)
{
    struct ifm_names *names = ifm_names_create(arena);
    for (size_t c = 0; c < plan->n_cells; c++)
        ifm_names_add(names, plan->cells[c].name);
    plan->by_name = ifm_names_count(names) == plan->n_cells ? names : NULL;
}

const struct ifm_cell *ifm_plan_cell(const struct ifm_plan *plan, const char *name)
{
    if (plan->by_name != NULL) {
        size_t number = ifm_names_find(plan->by_name, name);
        return number == IFM_NO_NAME ? NULL : &plan->cells[number];
    }
    for (size_t c = 0; c < plan->n_cells; c++)
        if (strcmp(plan->cells[c].name, name) == 0)
            return &plan->cells[c];
    return NULL;
}

const struct ifm_arm *ifm_cell_arm(const struct ifm_cell *cell, const char *name)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (strcmp(cell->arms[a].name, name) == 0)
            return &cell->arms[a];
    return NULL;
}

const struct ifm_arm *ifm_cell_baseline(const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role == IFM_ROLE_BASELINE)
            return &cell->arms[a];
    return NULL;
}

const char *ifm_arm_setting(const struct ifm_arm *arm, const char *path)
{
    for (size_t i = 0; i < arm->n_settings; i++)
        if (strcmp(arm->settings[i].path, path) == 0)
            return arm->settings[i].text;
    return NULL;
}

const char *ifm_pass_name(const struct ifm_pass *pass)
{
    return ifm_pass_names[pass->kind];
}

const struct ifm_pass *ifm_plan_pass(const struct ifm_cell *cell, enum ifm_pass_kind kind)
{
    for (size_t i = 0; i < cell->n_passes; i++)
        if (cell->passes[i].kind == kind)
            return &cell->passes[i];
    return NULL;
}

bool ifm_plan_counts(const struct ifm_cell *cell, const char *column)
{
    const struct ifm_pass *pass = ifm_plan_pass(cell, IFM_PASS_COUNTERS);
    for (size_t c = 0; pass != NULL && c < pass->n_columns; c++)
        if (strcmp(pass->columns[c], column) == 0)
            return true;
    return false;
}

bool ifm_cell_runs_programs(const struct ifm_cell *cell)
{
    bool programs = cell->n_arms > 0;
    for (size_t i = 0; i < cell->n_arms; i++)
        programs &= ifm_arm_runs_programs(&cell->arms[i]) || cell->arms[i].role == IFM_ROLE_CEILING;
    return programs;
}

bool ifm_cell_counts_programs(const struct ifm_cell *cell)
{
    for (size_t p = 0; p < cell->n_passes; p++)
        for (size_t c = 0; c < cell->passes[p].n_columns; c++)
            if (strcmp(cell->passes[p].columns[c], "child_cpu_ns") == 0)
                return true;
    return false;
}
