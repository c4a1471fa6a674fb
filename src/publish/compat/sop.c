/* metrics.json: the measurement standard's shape, with plain numbers or null and the siblings of
 * publish/compat/compat.h.
 *
 * The top level is the first arm of the first cell that is no ceiling (in a cell of ceilings: the first arm);
 * several cells stand in "cells". */
#include "derive/energy/power_run.h"
#include "model/machine_facts.h"
#include "publish/compat/compat.h"
#include <stdio.h>
#include <string.h>

static const struct ifm_compat_field sop_fields[] = {
    {"latency_ms", "mean", IFM_M_LATENCY_NS_MEAN, 1e6, "ms", "the mean latency of this arm was not derived", ""},
    {"latency_ms", "p50", IFM_M_LATENCY_NS_P50, 1e6, "ms", "the median latency of this arm was not derived", ""},
    {"latency_ms", "p95", IFM_M_LATENCY_NS_P95, 1e6, "ms", "the 95th percentile of this arm was not derived", ""},
    {"", "throughput_toks_s", IFM_M_TOKENS_GENERATED_PER_S, 1, "tokens/s", "this workload produces no tokens", ""},
    {"", "l2_hit_pct", IFM_M_L2_HIT_PERCENT, 1, "%", "no instrument of this run counts cache hits", ""},
    {"", "quality_delta_pct", IFM_M_NONE, 1, "percentage points", "no workload of this run has a quality score", ""},
};

/* Energy: derived from the energy pass; where derive has no such number, the reason is the pass's. */
static const struct ifm_compat_field energy_fields[] = {
    {"", "ept_j_per_tok", IFM_M_ENERGY_PER_TOKEN_J, 1, "J/token", "", ""},
    {"", "total_energy_j", IFM_M_TOTAL_ENERGY_J, 1, "J", "", ""},
    {"", "gpu_energy_j", IFM_M_GPU_ENERGY_J, 1, "J", "", ""},
    {"", "cpu_energy_j", IFM_M_CPU_ENERGY_J, 1, "J", "", ""},
    {"", "gpu_power_w", IFM_M_GPU_POWER_W, 1, "W", "", ""},
    {"", "cpu_power_w", IFM_M_CPU_POWER_W, 1, "W", "", ""},
    {"", "duration_sec", IFM_M_DURATION_SEC, 1, "s", "", ""},
};

static void add_fields(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell,
                       const struct ifm_arm *arm, struct ifm_siblings *siblings)
{
    for (size_t i = 0; i < sizeof sop_fields / sizeof sop_fields[0]; i++)
        ifm_compat_add_arm(object, &sop_fields[i], publication, cell, arm, siblings);
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_power_reason missing =
        ifm_power_missing(publication->plan, publication->events, publication->facts, cell, arena);
    for (size_t i = 0; i < sizeof energy_fields / sizeof energy_fields[0]; i++) {
        struct ifm_compat_field field = energy_fields[i];
        bool of_gpu = strncmp(field.name, "gpu_", 4) == 0 && strcmp(publication->plan->device, "cuda") != 0;
        field.reason =
            of_gpu ? ifm_arena_printf(arena, "this run used the device %s, which is no GPU", publication->plan->device)
                   : missing.reason;
        field.remedy = of_gpu ? "" : missing.remedy;
        ifm_compat_add_arm(object, &field, publication, cell, arm, siblings);
    }
    ifm_arena_destroy(arena);
}

/* The name of power.csv where it is written, which is the same question as whether it has a line. */
static void add_power_file(json_t *object, const struct ifm_publication *publication, struct ifm_siblings *siblings)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_power_shown *shown;
    size_t n = 0;
    struct ifm_error error = {0};
    struct ifm_power_reason missing =
        ifm_power_missing(publication->plan, publication->events, publication->facts, NULL, arena);
    bool given = false;
    if (ifm_derive_power_run(publication->facts, arena, &shown, &n, &error) != IFM_OK)
        missing = (struct ifm_power_reason){error.message, error.hint};
    for (size_t i = 0; i < n; i++)
        given |=
            shown[i].n_traces > 0 && shown[i].traces[0].source[0] == '\0' && ifm_power_has_steps(&shown[i].traces[0]);
    json_object_set_new(object, "power_csv", given ? json_string("power.csv") : json_null());
    if (!given)
        ifm_siblings_absent(siblings, "power_csv", missing.reason, missing.remedy);
    ifm_arena_destroy(arena);
}

static void add_gpu(json_t *env, const struct ifm_publication *publication, struct ifm_siblings *siblings)
{
    const struct ifm_plan *plan = publication->plan;
    bool is_gpu = strcmp(plan->device, "cuda") == 0;
    const char *name = is_gpu ? ifm_machine_gpu(publication->events) : "";
    const char *driver = is_gpu ? ifm_machine_driver(publication->events) : "", *reason = "run.log does not name it";
    char other[128];
    snprintf(other, sizeof other, "this run used the device %s, which is no GPU", plan->device);
    reason = is_gpu ? reason : other;
    json_object_set_new(env, "gpu", name[0] == '\0' ? json_null() : json_string(name));
    json_object_set_new(env, "driver", driver[0] == '\0' ? json_null() : json_string(driver));
    if (name[0] == '\0')
        ifm_siblings_absent(siblings, "env.gpu", reason, "");
    if (driver[0] == '\0')
        ifm_siblings_absent(siblings, "env.driver", reason, "");
}

static void add_env(json_t *object, const struct ifm_publication *publication, struct ifm_siblings *siblings)
{
    json_t *env = json_object();
    add_gpu(env, publication, siblings);
    const struct ifm_plan *plan = publication->plan;
    enum ifm_lock_state locks = ifm_lock_state(publication->events);
    json_object_set_new(env, "fixed_clock",
                        locks == IFM_LOCK_UNKNOWN ? json_null() : json_boolean(locks == IFM_LOCK_HELD));
    json_object_set_new(env, "seed", plan->seed <= INT64_MAX ? json_integer((json_int_t)plan->seed) : json_null());
    json_object_set_new(object, "env", env);
    if (locks == IFM_LOCK_UNKNOWN)
        ifm_siblings_absent(siblings, "env.fixed_clock", "run.log holds no reading of the locks", "");
    if (plan->seed > INT64_MAX)
        ifm_siblings_absent(siblings, "env.seed", "the seed does not fit a JSON integer", "read it in plan.json");
}

static void add_pipeline(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell,
                         const struct ifm_arm *arm, struct ifm_siblings *siblings)
{
    json_t *pipeline = json_object();
    const struct ifm_number *mean =
        arm == NULL ? NULL : ifm_derived_find(publication->derived, cell->name, arm->name, sop_fields[0].metric);
    bool counted = mean != NULL && mean->value.state == IFM_STATE_OK && mean->value.n > 0;
    json_object_set_new(pipeline, "mode", json_null());
    json_object_set_new(pipeline, "repeats", counted ? json_integer(mean->value.n) : json_null());
    json_object_set_new(pipeline, "warmup",
                        cell != NULL ? json_integer((json_int_t)cell->measure.warmup) : json_null());
    json_object_set_new(object, "pipeline", pipeline);
    ifm_siblings_absent(siblings, "pipeline.mode", "this run measured kernels, not a linear or iterative pipeline", "");
    if (!counted)
        ifm_siblings_absent(siblings, "pipeline.repeats", "no sample of this arm was counted", "");
}

static json_t *cell_json(const struct ifm_publication *publication, const struct ifm_cell *cell)
{
    json_t *object = json_object();
    struct ifm_siblings siblings = ifm_siblings_new();
    const struct ifm_arm *arm = ifm_compat_first_arm(cell);
    json_object_set_new(object, "cell", json_string(cell->name));
    json_object_set_new(object, "arm", arm == NULL ? json_null() : json_string(arm->name));
    add_pipeline(object, publication, cell, arm, &siblings);
    add_fields(object, publication, cell, arm, &siblings);
    ifm_siblings_attach(object, &siblings);
    return object;
}

json_t *ifm_compat_sop(const struct ifm_publication *publication)
{
    const struct ifm_plan *plan = publication->plan;
    const struct ifm_cell *cell = plan->n_cells == 0 ? NULL : &plan->cells[0];
    const struct ifm_arm *arm = cell == NULL ? NULL : ifm_compat_first_arm(cell);
    json_t *object = json_object();
    struct ifm_siblings siblings = ifm_siblings_new();
    json_object_set_new(object, "run_id", json_string(publication->derived->run_id));
    add_env(object, publication, &siblings);
    add_pipeline(object, publication, cell, arm, &siblings);
    add_fields(object, publication, cell, arm, &siblings);
    add_power_file(object, publication, &siblings);
    ifm_siblings_attach(object, &siblings);
    if (plan->n_cells > 1) {
        json_t *cells = json_array();
        for (size_t i = 0; i < plan->n_cells; i++)
            json_array_append_new(cells, cell_json(publication, &plan->cells[i]));
        json_object_set_new(object, "cells", cells);
    }
    return object;
}
