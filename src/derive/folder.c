/* A run folder in, derived numbers out. */
#include "derive/internal.h"

#include "base/file.h"
#include "base/json.h"
#include "derive/compare/settled.h"
#include "model/plan_json.h"
#include "sample/journal.h"
#include "sample/readings.h"
#include "sample/record.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
            const char *pass = ifm_pass_name(&plan->cells[c].passes[p]);
            char *name = ifm_arena_printf(arena, "samples/%u-%s.csv", plan->cells[c].index, pass);
            if (!ifm_file_exists(ifm_path_join(arena, dir, name)))
                continue;
            IFM_TRY(ifm_record_load(dir, plan->cells[c].index, pass, &facts->records[at], error));
            pointers[at] = &facts->records[at];
        }
    return IFM_OK;
}

/* ---- readings of the sensors of power ---- */

/* Does the name go into a file's name as it is? The journal may have been edited. */
static bool is_plain(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return n > 0 && n < 64 && name[n] == '\0';
}

static bool is_listed(const struct ifm_sensor_readings *sensors, size_t n, const char *device, const char *source)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(sensors[i].device, device) == 0 && strcmp(sensors[i].source, source) == 0)
            return true;
    return false;
}

/* The sensors that the journal names for the cell, each once however many sessions tell of it. */
static enum ifm_status list_sensors(const struct ifm_events *events, const char *cell, struct ifm_sensor_readings *out,
                                    size_t *n, struct ifm_error *error)
{
    *n = 0;
    IFM_EACH(event, events, power_sensor, cell, NULL) {
        const struct ifm_event_power_sensor *sensor = IFM_FACTS(event, power_sensor);
        if (!is_plain(sensor->device) || !is_plain(sensor->source))
            return ifm_fail(error, IFM_INVALID, "run.log", "the journal was edited, or written by another version",
                            "event \"power_sensor\" of line %zu has no plain names for its device and source",
                            event->line);
        if (!is_listed(out, *n, sensor->device, sensor->source))
            out[(*n)++] = (struct ifm_sensor_readings){sensor->device, sensor->source, NULL};
    }
    return IFM_OK;
}

static bool has_readings(const struct ifm_cell *cell)
{
    bool any = false;
    for (size_t p = 0; p < cell->n_passes; p++)
        any |= ifm_pass_rows[cell->passes[p].kind].readings;
    return any;
}

/* run.log has the hash of every file of readings since its pass was complete. Older versions wrote none. */
static enum ifm_status hold_readings(const struct ifm_events *events, const struct ifm_cell *cell,
                                     const struct ifm_sensor_readings *sensor, const char *sha256,
                                     struct ifm_error *error)
{
    const char *told = NULL;
    char where[256];
    IFM_EACH(event, events, power_readings, cell->name, NULL) {
        const struct ifm_event_power_readings *fact = IFM_FACTS(event, power_readings);
        if (strcmp(fact->device, sensor->device) == 0 && strcmp(fact->source, sensor->source) == 0)
            told = fact->sha256;
    }
    if (told == NULL || strcmp(told, sha256) == 0)
        return IFM_OK;
    snprintf(where, sizeof where, "samples/%u-power-%s-%s.csv", cell->index, sensor->device, sensor->source);
    return ifm_fail(error, IFM_INVALID, where,
                    "bring the files back from a copy, or measure again with `inferometer rerun`",
                    "these are not the readings that run.log tells of: they or the journal were edited");
}

/* A missing file leaves NULL, a broken one is an error. */
static enum ifm_status load_cell_readings(const char *dir, const struct ifm_cell *cell, struct ifm_arena *arena,
                                          struct ifm_facts *facts, struct ifm_cell_readings *out,
                                          struct ifm_error *error)
{
    struct ifm_sensor_readings *sensors =
        IFM_ARENA_ARRAY(arena, struct ifm_sensor_readings, ifm_events_about(facts->events, cell->name).n + 1);
    IFM_TRY(list_sensors(facts->events, cell->name, sensors, &out->n, error));
    out->sensors = sensors;
    struct ifm_readings *more = realloc(facts->readings, (facts->n_readings + out->n + 1) * sizeof *facts->readings);
    if (more == NULL)
        return ifm_fail(error, IFM_INTERNAL, dir, NULL, "out of memory for the readings of %zu sensors", out->n);
    facts->readings = more;
    for (size_t i = 0; i < out->n; i++) {
        struct ifm_readings *one = &facts->readings[facts->n_readings];
        *one = (struct ifm_readings){0};
        struct ifm_sha256 sha256 = {""};
        enum ifm_status status =
            ifm_readings_load(dir, cell->index, sensors[i].device, sensors[i].source, one, &sha256, error);
        if (status == IFM_OK || status == IFM_MISSING)
            IFM_TRY(hold_readings(facts->events, cell, &sensors[i], sha256.hex, error));
        if (status == IFM_MISSING)
            continue;
        IFM_TRY(status);
        struct ifm_readings *kept = IFM_ARENA_NEW(arena, struct ifm_readings); /* the list may move */
        *kept = *one;
        sensors[i].readings = kept;
        facts->n_readings++;
    }
    return IFM_OK;
}

static enum ifm_status load_readings(const char *dir, struct ifm_arena *arena, struct ifm_facts *facts,
                                     struct ifm_error *error)
{
    const struct ifm_plan *plan = facts->plan;
    struct ifm_cell_readings *cells = IFM_ARENA_ARRAY(arena, struct ifm_cell_readings, plan->n_cells + 1);
    for (size_t c = 0; c < plan->n_cells; c++)
        if (has_readings(&plan->cells[c]))
            IFM_TRY(load_cell_readings(dir, &plan->cells[c], arena, facts, &cells[c], error));
    facts->view.readings = cells;
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
    IFM_TRY(ifm_plan_read(dir, arena, &out->plan, error));
    IFM_TRY(check_lock(dir, out->plan, arena, error));
    IFM_TRY(ifm_journal_read(dir, arena, &out->events, error));
    add_gates(out->plan, gates, n_gates, arena);
    out->view.plan = out->plan;
    out->view.n_asked_later = n_gates;
    out->view.events = out->events;
    IFM_TRY(load_records(dir, arena, out, error));
    IFM_TRY(ifm_derive_hold_to_chain(&out->view, error));
    return load_readings(dir, arena, out, error);
}

void ifm_facts_close(struct ifm_facts *facts)
{
    for (size_t i = 0; i < facts->n_records; i++)
        ifm_record_free(&facts->records[i]);
    for (size_t i = 0; i < facts->n_readings; i++)
        ifm_readings_free(&facts->readings[i]);
    free(facts->readings);
    *facts = (struct ifm_facts){0};
}

enum ifm_status ifm_derive_folder(const char *dir, const struct ifm_wish *wish, struct ifm_arena *arena,
                                  struct ifm_plan **plan, struct ifm_derived **derived, struct ifm_error *error)
{
    struct ifm_facts facts;
    enum ifm_status status = ifm_facts_open(dir, wish->gates, wish->n_gates, arena, &facts, error);
    if (status == IFM_OK) {
        facts.view.compared = wish->compared;
        facts.view.n_compared = wish->n_compared;
        facts.view.review = wish->review;
        *plan = facts.plan;
        status = ifm_derive(&facts.view, arena, derived, error);
    }
    ifm_facts_close(&facts);
    return status;
}

enum ifm_status ifm_derive_folder_settled(const char *dir, const struct ifm_stop_blocks *rule, uint32_t last,
                                          bool *settled, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_events *events;
    struct ifm_record record = {0};
    const char *pass = ifm_pass_name(&rule->cell->passes[0]);
    enum ifm_status status = ifm_journal_read(dir, arena, &events, error);
    if (status == IFM_OK)
        status = ifm_record_load(dir, rule->cell->index, pass, &record, error);
    if (status == IFM_OK)
        *settled = ifm_derive_settled(rule, events, &record, last);
    ifm_record_free(&record);
    ifm_arena_destroy(arena);
    return status;
}
