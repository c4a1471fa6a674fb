/* metrics.json: the measurement standard's shape, with plain numbers or null and the siblings of publish/compat.h.
 *
 * The top level is the first arm of the first cell that is no ceiling (in a cell of ceilings: the first arm);
 * several cells stand in "cells". */
#include "model/lock_state.h"
#include "publish/compat.h"
#include <stdio.h>
#include <string.h>

static const struct ifm_compat_field sop_fields[] = {
    {"latency_ms", "mean", "latency_ns_mean", 1e6, "ms", "the mean latency of this arm was not derived", ""},
    {"latency_ms", "p50", "latency_ns_p50", 1e6, "ms", "the median latency of this arm was not derived", ""},
    {"latency_ms", "p95", "latency_ns_p95", 1e6, "ms", "the 95th percentile of this arm was not derived", ""},
    {"", "throughput_toks_s", "tokens_generated_per_s", 1, "tokens/s", "this workload produces no tokens", ""},
    {"", "l2_hit_pct", "l2_hit_percent", 1, "%", "no instrument of this run counts cache hits", ""},
    {"", "ept_j_per_tok", "energy_per_token_j", 1, "J/token", "no instrument of this run measures energy", ""},
    {"", "quality_delta_pct", "quality_delta_percent", 1, "percentage points",
     "no workload of this run has a quality score", ""},
};

static void add_fields(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell,
                       const struct ifm_arm *arm, struct ifm_siblings *siblings)
{
    for (size_t i = 0; i < sizeof sop_fields / sizeof sop_fields[0]; i++)
        ifm_compat_add_arm(object, &sop_fields[i], publication, cell, arm, siblings);
}

static void add_env(json_t *object, const struct ifm_publication *publication, struct ifm_siblings *siblings)
{
    json_t *env = json_object();
    const struct ifm_plan *plan = publication->plan;
    enum ifm_lock_state locks = ifm_lock_state(publication->events);
    char reason[128];
    snprintf(reason, sizeof reason, "this run used the device %s, which is no GPU", plan->device);
    json_object_set_new(env, "gpu", json_null());
    json_object_set_new(env, "driver", json_null());
    json_object_set_new(env, "fixed_clock",
                        locks == IFM_LOCK_UNKNOWN ? json_null() : json_boolean(locks == IFM_LOCK_HELD));
    json_object_set_new(env, "seed", plan->seed <= INT64_MAX ? json_integer((json_int_t)plan->seed) : json_null());
    json_object_set_new(object, "env", env);
    ifm_siblings_absent(siblings, "env.gpu", reason, "");
    ifm_siblings_absent(siblings, "env.driver", reason, "");
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
    ifm_siblings_attach(object, &siblings);
    if (plan->n_cells > 1) {
        json_t *cells = json_array();
        for (size_t i = 0; i < plan->n_cells; i++)
            json_array_append_new(cells, cell_json(publication, &plan->cells[i]));
        json_object_set_new(object, "cells", cells);
    }
    return object;
}
