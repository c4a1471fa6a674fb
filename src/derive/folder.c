/* A run folder in, derived numbers out. */
#include "derive/derive.h"

#include "base/file.h"
#include "base/json.h"
#include "model/plan_json.h"
#include "sample/journal.h"
#include "sample/record.h"
#include <stdlib.h>
#include <string.h>

static enum ifm_status load_plan(const char *dir, struct ifm_arena *arena, struct ifm_plan **plan,
                                 struct ifm_error *error)
{
    json_t *json;
    char *path = ifm_path_join(arena, dir, "plan.json");
    IFM_TRY(ifm_json_read(path, &json, error));
    enum ifm_status status = ifm_plan_from_json(json, path, arena, plan, error);
    json_decref(json);
    return status;
}

/* Rule 4: the lock file, where there is one, holds the configuration that the plan was made of. */
static enum ifm_status check_lock(const char *dir, const struct ifm_plan *plan, struct ifm_arena *arena,
                                  struct ifm_error *error)
{
    char *path = ifm_path_join(arena, dir, "config.lock.json");
    json_t *json;
    const char *hash;
    if (!ifm_file_exists(path))
        return IFM_OK;
    IFM_TRY(ifm_json_read(path, &json, error));
    enum ifm_status status = ifm_json_get_string(json, "hash", path, &hash, error);
    if (status == IFM_OK && strcmp(hash, plan->config_hash) != 0)
        status = ifm_fail(error, IFM_INVALID, path, "the folder mixes two runs, or a file was edited",
                          "rule-04: configuration %.64s, but the plan was made of %.64s", hash, plan->config_hash);
    json_decref(json);
    return status;
}

/* The records of every cell and pass; a missing file leaves NULL, a broken one is an error. */
static enum ifm_status load_records(const char *dir, struct ifm_arena *arena, struct ifm_facts *facts,
                                    struct ifm_error *error)
{
    const struct ifm_plan *plan = facts->plan;
    size_t most = 1;
    for (size_t c = 0; c < plan->n_cells; c++)
        most = plan->cells[c].n_passes > most ? plan->cells[c].n_passes : most;
    facts->n_records = plan->n_cells * most;
    facts->records = IFM_ARENA_ARRAY(arena, struct ifm_record, facts->n_records + 1);
    const struct ifm_record **pointers = IFM_ARENA_ARRAY(arena, const struct ifm_record *, facts->n_records + 1);
    facts->view.records = pointers;
    facts->view.max_passes = most;
    for (size_t c = 0; c < plan->n_cells; c++)
        for (size_t p = 0; p < plan->cells[c].n_passes; p++) {
            size_t at = c * most + p;
            const char *pass = plan->cells[c].passes[p].name;
            char *name = ifm_arena_printf(arena, "samples/%u-%s.csv", plan->cells[c].index, pass);
            if (!ifm_file_exists(ifm_path_join(arena, dir, name)))
                continue;
            IFM_TRY(ifm_record_load(dir, plan->cells[c].index, pass, &facts->records[at], error));
            pointers[at] = &facts->records[at];
        }
    return IFM_OK;
}

static void add_gates(struct ifm_plan *plan, const struct ifm_gate *more, size_t n_more, struct ifm_arena *arena)
{
    struct ifm_gate *gates = IFM_ARENA_ARRAY(arena, struct ifm_gate, plan->n_gates + n_more + 1);
    for (size_t i = 0; i < plan->n_gates + n_more; i++)
        gates[i] = i < plan->n_gates ? plan->gates[i] : more[i - plan->n_gates];
    plan->gates = gates;
    plan->n_gates += n_more;
}

enum ifm_status ifm_facts_open(const char *dir, const struct ifm_gate *gates, size_t n_gates, struct ifm_arena *arena,
                               struct ifm_facts *out, struct ifm_error *error)
{
    *out = (struct ifm_facts){0};
    IFM_TRY(load_plan(dir, arena, &out->plan, error));
    IFM_TRY(check_lock(dir, out->plan, arena, error));
    IFM_TRY(ifm_journal_read(dir, &out->events, error));
    add_gates(out->plan, gates, n_gates, arena);
    out->view.plan = out->plan;
    out->view.events = out->events;
    return load_records(dir, arena, out, error);
}

void ifm_facts_close(struct ifm_facts *facts)
{
    for (size_t i = 0; i < facts->n_records; i++)
        ifm_record_free(&facts->records[i]);
    json_decref(facts->events);
    *facts = (struct ifm_facts){0};
}

/* What is asked of a folder beside its own plan. */
struct wish {
    const char *const *compared;
    size_t n_compared;
    const struct ifm_gate *gates;
    size_t n_gates;
};

static enum ifm_status derive_folder(const char *dir, const struct wish *wish, struct ifm_arena *arena,
                                     struct ifm_plan **plan, struct ifm_derived **derived, struct ifm_error *error)
{
    struct ifm_facts facts;
    enum ifm_status status = ifm_facts_open(dir, wish->gates, wish->n_gates, arena, &facts, error);
    if (status == IFM_OK) {
        facts.view.compared = wish->compared;
        facts.view.n_compared = wish->n_compared;
        *plan = facts.plan;
        status = ifm_derive(&facts.view, arena, derived, error);
    }
    ifm_facts_close(&facts);
    return status;
}

enum ifm_status ifm_derive_folder(const char *dir, struct ifm_arena *arena, struct ifm_plan **plan,
                                  struct ifm_derived **derived, struct ifm_error *error)
{
    return derive_folder(dir, &(struct wish){0}, arena, plan, derived, error);
}

enum ifm_status ifm_derive_folder_comparing(const char *dir, const char *const *compared, size_t n_compared,
                                            struct ifm_arena *arena, struct ifm_plan **plan,
                                            struct ifm_derived **derived, struct ifm_error *error)
{
    struct wish wish = {.compared = compared, .n_compared = n_compared};
    return derive_folder(dir, &wish, arena, plan, derived, error);
}

enum ifm_status ifm_derive_folder_gated(const char *dir, const struct ifm_gate *gates, size_t n_gates,
                                        struct ifm_arena *arena, struct ifm_plan **plan, struct ifm_derived **derived,
                                        struct ifm_error *error)
{
    struct wish wish = {.gates = gates, .n_gates = n_gates};
    return derive_folder(dir, &wish, arena, plan, derived, error);
}
