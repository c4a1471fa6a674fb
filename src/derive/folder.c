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
struct loaded {
    struct ifm_record *records;
    const struct ifm_record **pointers;
    size_t n, max_passes;
};

static enum ifm_status load_records(const char *dir, const struct ifm_plan *plan, struct ifm_arena *arena,
                                    struct loaded *out, struct ifm_error *error)
{
    out->max_passes = 1;
    for (size_t c = 0; c < plan->n_cells; c++)
        out->max_passes = plan->cells[c].n_passes > out->max_passes ? plan->cells[c].n_passes : out->max_passes;
    out->n = plan->n_cells * out->max_passes;
    out->records = IFM_ARENA_ARRAY(arena, struct ifm_record, out->n + 1);
    out->pointers = IFM_ARENA_ARRAY(arena, const struct ifm_record *, out->n + 1);
    for (size_t c = 0; c < plan->n_cells; c++)
        for (size_t p = 0; p < plan->cells[c].n_passes; p++) {
            size_t at = c * out->max_passes + p;
            const char *pass = plan->cells[c].passes[p].name;
            char *name = ifm_arena_printf(arena, "samples/%u-%s.csv", plan->cells[c].index, pass);
            if (!ifm_file_exists(ifm_path_join(arena, dir, name)))
                continue;
            IFM_TRY(ifm_record_load(dir, plan->cells[c].index, pass, &out->records[at], error));
            out->pointers[at] = &out->records[at];
        }
    return IFM_OK;
}

/* What is asked of a folder beside its own plan. */
struct wish {
    const char *const *compared;
    size_t n_compared;
    const struct ifm_gate *gates;
    size_t n_gates;
};

static void add_gates(struct ifm_plan *plan, const struct wish *wish, struct ifm_arena *arena)
{
    struct ifm_gate *gates = IFM_ARENA_ARRAY(arena, struct ifm_gate, plan->n_gates + wish->n_gates + 1);
    for (size_t i = 0; i < plan->n_gates + wish->n_gates; i++)
        gates[i] = i < plan->n_gates ? plan->gates[i] : wish->gates[i - plan->n_gates];
    plan->gates = gates;
    plan->n_gates += wish->n_gates;
}

static enum ifm_status derive_folder(const char *dir, const struct wish *wish, struct ifm_arena *arena,
                                     struct ifm_plan **plan, struct ifm_derived **derived, struct ifm_error *error)
{
    json_t *events = NULL;
    struct loaded loaded = {0};
    IFM_TRY(load_plan(dir, arena, plan, error));
    IFM_TRY(check_lock(dir, *plan, arena, error));
    IFM_TRY(ifm_journal_read(dir, &events, error));
    add_gates(*plan, wish, arena);
    enum ifm_status status = load_records(dir, *plan, arena, &loaded, error);
    if (status == IFM_OK) {
        struct ifm_facts_view facts = {*plan,          events,          loaded.pointers, loaded.max_passes,
                                       wish->compared, wish->n_compared};
        status = ifm_derive(&facts, arena, derived, error);
    }
    for (size_t i = 0; i < loaded.n; i++)
        if (loaded.pointers[i] != NULL)
            ifm_record_free(&loaded.records[i]);
    json_decref(events);
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
