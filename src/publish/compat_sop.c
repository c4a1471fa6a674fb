/* metrics.json: the measurement standard's shape, with plain numbers or null.
 *
 * Sibling objects map a path to what a plain number cannot say: _units, _n, _ci (low, high, level) and _absent (reason,
 * remedy). The top level is the first arm of the first cell that is no ceiling (in a cell of ceilings: the first arm);
 * several cells stand in "cells". */
#include "model/lock_state.h"
#include "publish/compose.h"
#include "publish/facts.h"
#include <string.h>

/* One field of the standard: where it stands, which of our numbers it is, and its unit there. */
struct sop_field {
    const char *group, *name; /* "latency_ms", "mean"; group "" for the top level */
    const char *metric;
    double divide; /* our unit -> the standard's unit; by division, so that 801000 ns are 0.801 ms to the last bit */
    const char *unit;
    const char *reason, *remedy; /* when derive has no such number at all */
};

static const struct sop_field sop_fields[] = {
    {"latency_ms", "mean", "latency_ns_mean", 1e6, "ms", "the mean latency of this arm was not derived", ""},
    {"latency_ms", "p50", "latency_ns_p50", 1e6, "ms", "the median latency of this arm was not derived", ""},
    {"latency_ms", "p95", "latency_ns_p95", 1e6, "ms", "the 95th percentile of this arm was not derived", ""},
    {"", "throughput_toks_s", "tokens_generated_per_s", 1, "tokens/s", "this workload produces no tokens", ""},
    {"", "l2_hit_pct", "l2_hit_percent", 1, "%", "no instrument of this run counts cache hits", ""},
    {"", "ept_j_per_tok", "energy_per_token_j", 1, "J/token", "no instrument of this run measures energy", ""},
    {"", "quality_delta_pct", "quality_delta_percent", 1, "percentage points",
     "no workload of this run has a quality score", ""},
};

struct siblings {
    json_t *units, *n, *ci, *absent;
};

static void add_absent(struct siblings *siblings, const char *path, const char *reason, const char *remedy)
{
    json_t *entry = json_object();
    json_object_set_new(entry, "reason", json_string(reason));
    json_object_set_new(entry, "remedy", json_string(remedy == NULL ? "" : remedy));
    json_object_set_new(siblings->absent, path, entry);
}

static void add_field(json_t *object, const struct sop_field *field, const struct ifm_number *number,
                      struct siblings *siblings)
{
    char path[64];
    json_t *target = object;
    snprintf(path, sizeof path, "%s%s%s", field->group, field->group[0] == '\0' ? "" : ".", field->name);
    if (field->group[0] != '\0') {
        target = json_object_get(object, field->group);
        if (target == NULL) {
            target = json_object();
            json_object_set_new(object, field->group, target);
        }
    }
    json_object_set_new(siblings->units, path, json_string(field->unit));
    const struct ifm_value *value = number == NULL ? NULL : &number->value;
    if (value == NULL || value->state != IFM_STATE_OK) {
        json_object_set_new(target, field->name, json_null());
        add_absent(siblings, path, value == NULL ? field->reason : value->reason,
                   value == NULL ? field->remedy : value->remedy);
        return;
    }
    json_object_set_new(target, field->name, json_real(value->number / field->divide));
    if (value->n > 0)
        json_object_set_new(siblings->n, path, json_integer(value->n));
    if (value->has_interval)
        json_object_set_new(siblings->ci, path,
                            json_pack("{s:f,s:f,s:f}", "low", value->low / field->divide, "high",
                                      value->high / field->divide, "level", value->level));
}

static void attach_siblings(json_t *object, struct siblings *siblings)
{
    json_object_set_new(object, "_units", siblings->units);
    json_object_set_new(object, "_n", siblings->n);
    json_object_set_new(object, "_ci", siblings->ci);
    json_object_set_new(object, "_absent", siblings->absent);
}

static const struct ifm_arm *first_arm(const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role != IFM_ROLE_CEILING)
            return &cell->arms[a];
    return cell->n_arms > 0 ? &cell->arms[0] : NULL; /* a cell of ceilings: the first of them */
}

static void add_fields(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell,
                       const struct ifm_arm *arm, struct siblings *siblings)
{
    for (size_t i = 0; i < sizeof sop_fields / sizeof sop_fields[0]; i++) {
        struct sop_field field = sop_fields[i];
        if (cell != NULL && cell->unsupported != NULL && cell->unsupported[0] != '\0')
            field.reason = cell->unsupported;
        const struct ifm_number *number =
            arm == NULL ? NULL : ifm_derived_find(publication->derived, cell->name, arm->name, field.metric);
        add_field(object, &field, number, siblings);
    }
}

static void add_env(json_t *object, const struct ifm_publication *publication, struct siblings *siblings)
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
    add_absent(siblings, "env.gpu", reason, "");
    add_absent(siblings, "env.driver", reason, "");
    if (locks == IFM_LOCK_UNKNOWN)
        add_absent(siblings, "env.fixed_clock", "run.log holds no reading of the locks", "");
    if (plan->seed > INT64_MAX)
        add_absent(siblings, "env.seed", "the seed does not fit a JSON integer", "read it in plan.json");
}

static void add_pipeline(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell,
                         const struct ifm_arm *arm, struct siblings *siblings)
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
    add_absent(siblings, "pipeline.mode", "this run measured kernels, not a linear or iterative pipeline", "");
    if (!counted)
        add_absent(siblings, "pipeline.repeats", "no sample of this arm was counted", "");
}

static struct siblings siblings_new(void)
{
    return (struct siblings){json_object(), json_object(), json_object(), json_object()};
}

static json_t *cell_json(const struct ifm_publication *publication, const struct ifm_cell *cell)
{
    json_t *object = json_object();
    struct siblings siblings = siblings_new();
    const struct ifm_arm *arm = first_arm(cell);
    json_object_set_new(object, "cell", json_string(cell->name));
    json_object_set_new(object, "arm", arm == NULL ? json_null() : json_string(arm->name));
    add_pipeline(object, publication, cell, arm, &siblings);
    add_fields(object, publication, cell, arm, &siblings);
    attach_siblings(object, &siblings);
    return object;
}

json_t *ifm_compat_sop(const struct ifm_publication *publication)
{
    const struct ifm_plan *plan = publication->plan;
    const struct ifm_cell *cell = plan->n_cells == 0 ? NULL : &plan->cells[0];
    const struct ifm_arm *arm = cell == NULL ? NULL : first_arm(cell);
    json_t *object = json_object();
    struct siblings siblings = siblings_new();
    json_object_set_new(object, "run_id", json_string(publication->derived->run_id));
    add_env(object, publication, &siblings);
    add_pipeline(object, publication, cell, arm, &siblings);
    add_fields(object, publication, cell, arm, &siblings);
    attach_siblings(object, &siblings);
    if (plan->n_cells > 1) {
        json_t *cells = json_array();
        for (size_t i = 0; i < plan->n_cells; i++)
            json_array_append_new(cells, cell_json(publication, &plan->cells[i]));
        json_object_set_new(object, "cells", cells);
    }
    return object;
}
