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
    {"latency_ms.mean", IFM_M_LATENCY_NS_MEAN, 1e6, "ms", "the mean latency of this arm was not derived"},
    {"latency_ms.p50", IFM_M_LATENCY_NS_P50, 1e6, "ms", "the median latency of this arm was not derived"},
    {"latency_ms.p95", IFM_M_LATENCY_NS_P95, 1e6, "ms", "the 95th percentile of this arm was not derived"},
    {"throughput_toks_s", IFM_M_TOKENS_GENERATED_PER_S, 1, "tokens/s", "this workload produces no tokens"},
    {"l2_hit_pct", IFM_M_L2_HIT_PERCENT, 1, "%", "no instrument of this run counts cache hits"},
    {"quality_delta_pct", IFM_M_QUALITY_LOSS_PP, 1, "percentage points lost against the baseline",
     "no task was scored for this arm and for a baseline of it"},
};

/* Energy: derived from the energy pass; where derive has no such number, the reason is the pass's. */
static const struct ifm_compat_field energy_fields[] = {
    {"ept_j_per_tok", IFM_M_ENERGY_PER_TOKEN_J, 1, "J/token", ""},
    {"total_energy_j", IFM_M_TOTAL_ENERGY_J, 1, "J", ""},
    {"gpu_energy_j", IFM_M_GPU_ENERGY_J, 1, "J", ""},
    {"cpu_energy_j", IFM_M_CPU_ENERGY_J, 1, "J", ""},
    {"gpu_power_w", IFM_M_GPU_POWER_W, 1, "W", ""},
    {"cpu_power_w", IFM_M_CPU_POWER_W, 1, "W", ""},
    {"duration_sec", IFM_M_DURATION_SEC, 1, "s", ""},
};

static bool is_gpu(const struct ifm_compat *c)
{
    return strcmp(c->from->plan->device, "cuda") == 0;
}

static void add_fields(const struct ifm_compat *c)
{
    ifm_compat_add_all(c, sop_fields, sizeof sop_fields / sizeof sop_fields[0]);
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_power_reason missing = ifm_power_missing(c->from->plan, c->from->events, c->from->facts, c->cell, arena);
    const char *no_gpu = ifm_arena_printf(arena, "this run used the device %s, which is no GPU", c->from->plan->device);
    for (size_t i = 0; i < sizeof energy_fields / sizeof energy_fields[0]; i++) {
        struct ifm_compat_field field = energy_fields[i];
        struct ifm_compat at = *c;
        bool of_no_gpu = strncmp(field.path, "gpu_", 4) == 0 && !is_gpu(c);
        field.reason = of_no_gpu ? no_gpu : missing.reason;
        at.remedy = of_no_gpu ? NULL : missing.remedy;
        ifm_compat_add(&at, &field);
    }
    ifm_arena_destroy(arena);
}

/* The name of power.csv where it is written, which is the same question as whether it has a line. */
static void add_power_file(const struct ifm_compat *c)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_power_shown *shown;
    size_t n = 0;
    struct ifm_error error = {0};
    struct ifm_power_reason missing = ifm_power_missing(c->from->plan, c->from->events, c->from->facts, NULL, arena);
    bool given = false;
    if (ifm_derive_power_run(c->from->facts, arena, &shown, &n, &error) != IFM_OK)
        missing = (struct ifm_power_reason){error.message, error.hint};
    for (size_t i = 0; i < n; i++)
        given |=
            shown[i].n_traces > 0 && shown[i].traces[0].source[0] == '\0' && ifm_power_has_steps(&shown[i].traces[0]);
    ifm_compat_put(c, "power_csv", given ? json_string("power.csv") : NULL, missing.reason, missing.remedy);
    ifm_arena_destroy(arena);
}

static void add_env(const struct ifm_compat *c)
{
    const struct ifm_plan *plan = c->from->plan;
    enum ifm_lock_state locks = ifm_lock_state(c->from->events);
    char no_gpu[128];
    snprintf(no_gpu, sizeof no_gpu, "this run used the device %s, which is no GPU", plan->device);
    const char *reason = is_gpu(c) ? "run.log does not name it" : no_gpu;
    ifm_compat_put_text(c, "env.gpu", is_gpu(c) ? ifm_machine_gpu(c->from->events) : "", reason);
    ifm_compat_put_text(c, "env.driver", is_gpu(c) ? ifm_machine_driver(c->from->events) : "", reason);
    ifm_compat_put(c, "env.fixed_clock", locks == IFM_LOCK_UNKNOWN ? NULL : json_boolean(locks == IFM_LOCK_HELD),
                   "run.log holds no reading of the locks", "");
    ifm_compat_put(c, "env.seed", plan->seed <= INT64_MAX ? json_integer((json_int_t)plan->seed) : NULL,
                   "the seed does not fit a JSON integer", "read it in plan.json");
}

static void add_pipeline(const struct ifm_compat *c)
{
    static const struct ifm_compat_field repeats = {"pipeline.repeats", IFM_M_SAMPLES_COUNT, 1, "samples",
                                                    "no sample of this arm was counted"};
    ifm_compat_put(c, "pipeline.mode", NULL, "this run measured kernels, not a linear or iterative pipeline", "");
    ifm_compat_add(c, &repeats);
    ifm_compat_put(c, "pipeline.warmup", c->cell != NULL ? json_integer((json_int_t)c->cell->measure.warmup) : NULL,
                   NULL, NULL);
}

static json_t *cell_json(const struct ifm_publication *publication, const struct ifm_cell *cell)
{
    const struct ifm_compat c = ifm_compat_begin(publication, cell, ifm_compat_first_arm(cell));
    ifm_compat_put_text(&c, "cell", cell->name, NULL);
    ifm_compat_put_text(&c, "arm", c.arm == NULL ? "" : c.arm->name, NULL);
    add_pipeline(&c);
    add_fields(&c);
    return ifm_compat_end(&c);
}

json_t *ifm_compat_sop(const struct ifm_publication *publication)
{
    const struct ifm_plan *plan = publication->plan;
    const struct ifm_cell *cell = plan->n_cells == 0 ? NULL : &plan->cells[0];
    const struct ifm_compat c = ifm_compat_begin(publication, cell, cell == NULL ? NULL : ifm_compat_first_arm(cell));
    ifm_compat_put_text(&c, "run_id", publication->derived->run_id, NULL);
    ifm_compat_put_text(&c, "outcome", ifm_outcome_name(publication->verdict->outcome), NULL);
    add_env(&c);
    add_pipeline(&c);
    add_fields(&c);
    add_power_file(&c);
    json_t *object = ifm_compat_end(&c);
    json_object_set_new(object, "exit_code", json_integer(publication->verdict->exit_code));
    if (plan->n_cells > 1) {
        json_t *cells = json_array();
        for (size_t i = 0; i < plan->n_cells; i++)
            json_array_append_new(cells, cell_json(publication, &plan->cells[i]));
        json_object_set_new(object, "cells", cells);
    }
    return object;
}
