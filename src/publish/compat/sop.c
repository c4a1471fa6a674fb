/* metrics.json: the measurement standard's shape, with plain numbers or null and the siblings of
 * publish/compat/compat.h.
 *
 * The top level tells of the candidate of the first cell: its first variant, else its first arm that is no ceiling (in
 * a cell of ceilings: the first arm). "arms" holds all that are no ceilings; several cells stand in "cells", each the
 * same way. */
#include "derive/energy/power_run.h"
#include "model/machine_facts.h"
#include "model/operations.h"
#include "model/plan_json.h"
#include "publish/compat/compat.h"
#include <stdio.h>
#include <string.h>

static const struct ifm_compat_field sop_fields[] = {
    {"latency_ms.mean", IFM_M_LATENCY_NS_MEAN, 1e6, "ms", "the mean latency of this arm was not derived"},
    {"latency_ms.p50", IFM_M_LATENCY_NS_P50, 1e6, "ms", "the median latency of this arm was not derived"},
    {"latency_ms.p95", IFM_M_LATENCY_NS_P95, 1e6, "ms", "the 95th percentile of this arm was not derived"},
    {"l2_hit_pct", IFM_M_L2_HIT_PERCENT, 1, "%", "no instrument of this run counts cache hits"},
    {"quality_delta_pct", IFM_M_QUALITY_LOSS_PP, 1, "percentage points lost against the baseline",
     "no task was scored for this arm and for a baseline of it"},
};

static const struct ifm_compat_field energy_fields[] = {
    {"total_energy_j", IFM_M_TOTAL_ENERGY_J, 1, "J", ""}, {"gpu_energy_j", IFM_M_GPU_ENERGY_J, 1, "J", ""},
    {"cpu_energy_j", IFM_M_CPU_ENERGY_J, 1, "J", ""},     {"gpu_power_w", IFM_M_GPU_POWER_W, 1, "W", ""},
    {"cpu_power_w", IFM_M_CPU_POWER_W, 1, "W", ""},       {"duration_sec", IFM_M_DURATION_SEC, 1, "s", ""},
};

/* What a token is: one that the arm generates, else one of the prompt that it works through. */
struct token {
    struct ifm_compat_field rate, energy;
    const char *unit;
    double each; /* step; 0 = none */
};

static struct token token_of(const struct ifm_compat *c)
{
    static const char none[] = "this workload produces no tokens";
    static const struct token generated = {
        {"throughput_toks_s", IFM_M_TOKENS_GENERATED_PER_S, 1, "tokens/s", none},
        {"ept_j_per_tok", IFM_M_ENERGY_PER_TOKEN_J, 1, "J/token", ""},
        "tokens",
        0,
    };
    static const struct token prompt = {
        {"throughput_toks_s", IFM_M_TOKENS_PROMPT_PER_S, 1, "prompt tokens/s", none},
        {"ept_j_per_tok", IFM_M_ENERGY_PER_TOTAL_TOKEN_J, 1, "J/prompt token", ""},
        "prompt tokens",
        0,
    };
    const struct ifm_ledger ledger = c->arm == NULL ? (struct ifm_ledger){0} : c->arm->ledger;
    bool reads = ledger.tokens_generated == 0 && ledger.tokens_prompt > 0 && !ifm_compat_is_older(c->from);
    struct token token = reads ? prompt : generated;
    token.each = ifm_ledger_whole(&ledger, reads ? ledger.tokens_prompt : ledger.tokens_generated);
    return token;
}

static bool is_gpu(const struct ifm_compat *c)
{
    return strcmp(c->from->plan->device, "cuda") == 0;
}

/* The number of the energy pass; where derive has none, the reason is the pass's. */
static void add_energy(const struct ifm_compat *c, struct ifm_compat_field field,
                       const struct ifm_power_reason *missing)
{
    struct ifm_compat at = *c;
    field.reason = missing->reason;
    at.remedy = missing->remedy;
    ifm_compat_add(&at, &field);
}

/* Operations of a step: counted by the arithmetic of built-in workloads, until counters of the matrix units say
 * otherwise; of plugins and sessions their author's word, which nothing but a ceiling holds. */
static void add_flops(const struct ifm_compat *c, const struct token *token)
{
    static const char none[] = "the ledger of this arm has no operations";
    static const struct ifm_compat_field rate = {"flops_per_second", IFM_M_FLOPS_PER_S, 1, "FLOP/s", none};
    const uint64_t flops = c->arm == NULL ? 0 : c->arm->ledger.flops;
    const bool some = flops > 0 && flops <= INT64_MAX;
    const bool told =
        some && (strcmp(c->arm->workload, "session") == 0 ||
                 (c->arm->implementation != NULL && strcmp(c->arm->implementation, IFM_PLUGIN_IMPLEMENTATION) == 0));
    json_t *each = some && token->each > 0 ? json_real((double)flops / token->each) : NULL; /* rates give the same */
    ifm_compat_put(c, "flops_total", some ? json_integer((json_int_t)flops) : NULL, none, NULL);
    json_object_set_new(c->units, "flops_total", json_string("FLOP/step"));
    ifm_compat_put(c, "flops_per_token", each, some ? token->rate.reason : none, NULL);
    json_object_set_new(c->units, "flops_per_token", json_string("FLOP/token"));
    ifm_compat_add(c, &rate);
    ifm_compat_put_text(c, "flops_method", !some ? "" : told ? "declared" : "counted", none);
    const bool doubted =
        some && !told && ifm_lacks_operations(c->arm, ifm_compat_value(c, IFM_M_TENSOR_FLOPS_OVER_LEDGER));
    ifm_compat_put_text(c, "flops_confidence", !some ? "" : told ? "low" : doubted ? "medium" : "high", none);
    if (doubted)
        ifm_compat_absent(c, "flops_confidence",
                          "not high: the matrix units executed fewer operations (tensor_flops_over_ledger is below 1)",
                          NULL);
}

static void add_fields(const struct ifm_compat *c)
{
    const struct token token = token_of(c);
    ifm_compat_add_all(c, sop_fields, sizeof sop_fields / sizeof sop_fields[0]);
    ifm_compat_put(c, "tokens_per_step", token.each > 0 ? json_real(token.each) : NULL, token.rate.reason, NULL);
    json_object_set_new(c->units, "tokens_per_step", json_string(token.unit)); /* = rate x mean latency */
    ifm_compat_add(c, &token.rate);
    add_flops(c, &token);
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_power_reason missing = ifm_power_missing(c->from->plan, c->from->events, c->from->facts, c->cell, arena);
    const struct ifm_power_reason no_gpu = {
        ifm_arena_printf(arena, "this run used the device %s, which is no GPU", c->from->plan->device), NULL};
    add_energy(c, token.energy, &missing);
    for (size_t i = 0; i < sizeof energy_fields / sizeof energy_fields[0]; i++) {
        bool of_no_gpu = strncmp(energy_fields[i].path, "gpu_", 4) == 0 && !is_gpu(c);
        add_energy(c, energy_fields[i], of_no_gpu ? &no_gpu : &missing);
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
    ifm_compat_put_environment(c, "env.hash");
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

static const struct ifm_arm *candidate_of(const struct ifm_publication *publication, const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms && !ifm_compat_is_older(publication); a++)
        if (cell->arms[a].role == IFM_ROLE_VARIANT)
            return &cell->arms[a];
    return ifm_compat_first_arm(cell);
}

static void fill(const struct ifm_compat *c)
{
    ifm_compat_put_text(c, "arm", c->arm == NULL ? "" : c->arm->name, NULL);
    add_pipeline(c);
    add_fields(c);
}

/* Every arm that is no ceiling, beside the one that leads. Gives `object`. */
static json_t *with_arms(json_t *object, const struct ifm_publication *publication, const struct ifm_cell *cell)
{
    json_t *arms = json_array();
    for (size_t a = 0; a < cell->n_arms; a++) {
        if (cell->arms[a].role == IFM_ROLE_CEILING)
            continue;
        const struct ifm_compat c = ifm_compat_begin(publication, cell, &cell->arms[a]);
        fill(&c);
        ifm_compat_put_text(&c, "role", ifm_role_name(cell->arms[a].role), NULL);
        json_array_append_new(arms, ifm_compat_end(&c));
    }
    json_object_set_new(object, "arms", arms);
    return object;
}

static json_t *cell_json(const struct ifm_publication *publication, const struct ifm_cell *cell)
{
    const struct ifm_compat c = ifm_compat_begin(publication, cell, candidate_of(publication, cell));
    ifm_compat_put_text(&c, "cell", cell->name, NULL);
    fill(&c);
    return with_arms(ifm_compat_end(&c), publication, cell);
}

json_t *ifm_compat_sop(const struct ifm_publication *publication)
{
    const struct ifm_plan *plan = publication->plan;
    const struct ifm_cell *cell = plan->n_cells == 0 ? NULL : &plan->cells[0];
    const struct ifm_compat c =
        ifm_compat_begin(publication, cell, cell == NULL ? NULL : candidate_of(publication, cell));
    ifm_compat_put_text(&c, "run_id", publication->derived->run_id, NULL);
    ifm_compat_put_text(&c, "outcome", ifm_outcome_name(publication->verdict->outcome), NULL);
    add_env(&c);
    fill(&c);
    add_power_file(&c);
    json_t *object = ifm_compat_end(&c);
    json_object_set_new(object, "exit_code", json_integer(publication->verdict->exit_code));
    if (cell != NULL)
        with_arms(object, publication, cell);
    if (plan->n_cells > 1) {
        json_t *cells = json_array();
        for (size_t i = 0; i < plan->n_cells; i++)
            json_array_append_new(cells, cell_json(publication, &plan->cells[i]));
        json_object_set_new(object, "cells", cells);
    }
    return object;
}
