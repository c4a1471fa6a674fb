/* Configuration and plan: the tables of the workloads, what plan must know of this machine, and whether it is ready. */
#include "story/catalog.h"
#include "story/story.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/names.h"
#include "base/text.h"
#include "device/fake.h"
#include "instrument/instrument.h"
#include "judge/judge.h"
#include "kernel/cpu/isa.h"
#include "model/plan_json.h"
#include "plan/plan.h"
#include "run/energy/energy.h"
#include "run/facts/inputs.h"
#include "sample/journal.h"
#include "workload/workload.h"
#include <string.h>

enum { MOST_INSTRUMENTS = 32, MOST_ISAS = 8 };

const struct ifm_section *const *ifm_story_tables(void)
{
    static const struct ifm_section *sections[IFM_WORKLOADS_MOST + 1];
    for (size_t i = 0; ifm_workloads[i] != NULL; i++)
        sections[i] = ifm_workloads[i]->params;
    return sections;
}

struct ifm_config *ifm_story_config(void)
{
    return ifm_config_create(ifm_story_tables());
}

static size_t list_workloads(const struct ifm_machine *machine, struct ifm_workload_entry *entries)
{
    size_t n = 0;
    for (; ifm_workloads[n] != NULL; n++) {
        const struct ifm_workload *workload = ifm_workloads[n];
        entries[n] = (struct ifm_workload_entry){
            workload->name,      workload->describe,    workload->most_threads, workload->columns,
            workload->n_columns, workload->one_process, workload->ceilings,     ifm_workload_serves(workload, machine)};
    }
    return n;
}

/* What every run on the device takes along. A scripted device has nothing to observe but what its script gives. */
static size_t list_instruments(const struct ifm_device_ops *device, const struct ifm_machine *machine,
                               const char *script, const struct ifm_measure *measure,
                               struct ifm_instrument_entry *entries)
{
    const bool cpu_counts = device != &ifm_device_cpu || ifm_machine_plans_by(machine, IFM_PLAN_RULES_CPU_COUNTERS);
    const struct {
        bool wanted;
        enum ifm_intrusion class;
    } asked[] = {{measure->counters && cpu_counts, IFM_INTRUSION_REPLAYING},
                 {measure->trace, IFM_INTRUSION_TRACING},
                 {measure->energy && ifm_machine_plans_by(machine, IFM_PLAN_RULES_MONITOR), IFM_INTRUSION_SAMPLING}};
    if (device != &ifm_device_fake) {
        size_t n = ifm_instruments_offered(device->name, entries, MOST_INSTRUMENTS);
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
            if (asked[i].wanted)
                n += ifm_instruments_of_class(device->name, asked[i].class, entries + n, MOST_INSTRUMENTS - n);
        return n;
    }
    entries[0] = ifm_instrument_entry(&ifm_instrument_fake);
    return ifm_fake_script_has_columns(script) ? 1 : 0;
}

const char *ifm_story_device(const struct ifm_config *config)
{
    static const char *const kinds[] = {"cpu", "cuda", "fake"};
    return kinds[ifm_config_device(config)->kind];
}

unsigned ifm_story_threads(const struct ifm_study *study)
{
    uint64_t most = 0, threads = 0;
    for (size_t i = 0; i < study->n_axes; i++)
        for (size_t j = 0; strcmp(study->axes[i].path, "device.threads") == 0 && j < study->axes[i].n; j++) {
            if (!ifm_parse_u64(study->axes[i].texts[j], &threads) || threads == 0)
                return 0;
            most = threads > most ? threads : most;
        }
    return (unsigned)most;
}

static const char *make_run_id(const struct ifm_study *study, struct ifm_arena *arena)
{
    const char *text = ifm_arena_printf(arena, "%s %llu %lld", study->config_hash, (unsigned long long)study->seed,
                                        (long long)ifm_clock_wall_ns());
    return ifm_arena_printf(arena, "%.12s", ifm_sha256_bytes(text, strlen(text)).hex);
}

static enum ifm_status describe_machine(const struct ifm_config *config, struct ifm_arena *arena,
                                        struct ifm_machine *machine, struct ifm_error *error)
{
    const struct ifm_device_ops *device = ifm_device_find(ifm_story_device(config));
    IFM_TRY(device->describe(ifm_story_threads(ifm_config_study(config)), machine, error));
    if (device == &ifm_device_cpu) {
        const char **isas = IFM_ARENA_ARRAY(arena, const char *, MOST_ISAS);
        machine->n_isas = ifm_isa_supported(isas, MOST_ISAS);
        machine->isas = isas;
        machine->arch = IFM_STORY_ARCH;
    }
    return IFM_OK;
}

void ifm_story_catalog(const struct ifm_config *config, const struct ifm_machine *machine,
                       const struct ifm_workload_entry *own, struct ifm_arena *arena, struct ifm_catalog *out)
{
    struct ifm_instrument_entry *instruments = IFM_ARENA_ARRAY(arena, struct ifm_instrument_entry, MOST_INSTRUMENTS);
    struct ifm_workload_entry *registered = IFM_ARENA_ARRAY(arena, struct ifm_workload_entry, IFM_WORKLOADS_MOST);
    const struct ifm_device_ops *device = ifm_device_find(machine->device);
    *out = (struct ifm_catalog){.measure = &ifm_section_measure, .machine = *machine, .instruments = instruments};
    out->n_instruments = list_instruments(device, machine, ifm_config_device(config)->script,
                                          &ifm_config_study(config)->measure, instruments);
    out->workloads = own != NULL ? own : registered;
    out->n_workloads = own != NULL ? 1 : list_workloads(machine, registered);
}

/* Valgrind knows none of the instruction sets above AVX2; they come first. */
static void keep_simulated(struct ifm_machine *machine)
{
    while (machine->n_isas > 0 && strncmp(machine->isas[0], "avx512", 6) == 0) {
        machine->isas++;
        machine->n_isas--;
    }
}

/* A plan gives a workload no more threads than it uses. Where it is the only one, that would leave undone what was
 * asked for, and say nothing. */
static enum ifm_status check_threads(const struct ifm_study *study, const struct ifm_catalog *catalog,
                                     struct ifm_error *error)
{
    const struct ifm_workload_entry *workload = NULL;
    char hint[64];
    uint64_t threads;
    for (size_t w = 0; w < catalog->n_workloads && study->n_workloads == 1; w++)
        if (strcmp(catalog->workloads[w].name, study->workloads[0]) == 0)
            workload = &catalog->workloads[w];
    const unsigned most = workload == NULL ? 0 : workload->most_threads;
    snprintf(hint, sizeof hint, "leave out --threads, or give at most %u", most);
    for (size_t i = 0; i < study->n_axes && most > 0; i++)
        for (size_t k = 0; k < study->axes[i].n && strcmp(study->axes[i].path, "device.threads") == 0; k++)
            if (ifm_parse_u64(study->axes[i].texts[k], &threads) && threads > most)
                return ifm_fail(error, IFM_USAGE, "device.threads", hint,
                                "%s runs on %u thread%s: %llu would change nothing", workload->name, most,
                                most == 1 ? "" : "s", (unsigned long long)threads);
    return IFM_OK;
}

static enum ifm_status plan_of(const struct ifm_config *config, const struct ifm_workload_entry *own, bool simulated,
                               struct ifm_arena *arena, struct ifm_plan **plan, struct ifm_error *error)
{
    const struct ifm_study *study = ifm_config_study(config);
    struct ifm_catalog catalog;
    struct ifm_machine machine = {0};
    if (!ifm_config_device(config)->graphs && strcmp(ifm_story_device(config), "cuda") != 0)
        ifm_note("--no-graphs has no effect: there are no CUDA graphs on this device");
    if (strcmp(ifm_story_device(config), "fake") == 0)
        IFM_TRY(ifm_fake_script_check(ifm_config_device(config)->script, error));
    IFM_TRY(describe_machine(config, arena, &machine, error));
    if (simulated)
        keep_simulated(&machine);
    ifm_story_catalog(config, &machine, own, arena, &catalog);
    enum ifm_status status = ifm_plan_build(study, &catalog, make_run_id(study, arena), arena, plan, error);
    if (status == IFM_OK && own == NULL) /* of a session its caller says it */
        status = check_threads(study, &catalog, error);
    if (status != IFM_OK) {
        ifm_config_locate(config, error);
        return status;
    }
    return ifm_check_gates(*plan, study->gate_places, arena, error);
}

enum ifm_status ifm_story_plan(const struct ifm_config *config, const struct ifm_workload_entry *own,
                               struct ifm_arena *arena, struct ifm_plan **plan, struct ifm_error *error)
{
    return plan_of(config, own, false, arena, plan, error);
}

enum ifm_status ifm_story_plan_simulated(const struct ifm_config *config, struct ifm_arena *arena,
                                         struct ifm_plan **plan, struct ifm_error *error)
{
    return plan_of(config, NULL, true, arena, plan, error);
}

enum ifm_status ifm_story_check_plan(const char *where, const struct ifm_config *config, const struct ifm_plan *plan,
                                     struct ifm_error *error)
{
    const struct ifm_study *study = ifm_config_study(config);
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_plan wanted = *plan;
    wanted.config_hash = study->config_hash;
    wanted.seed = study->seed;
    wanted.gates = study->gates;
    wanted.n_gates = study->n_gates;
    wanted.cells = IFM_ARENA_ARRAY(arena, struct ifm_cell, plan->n_cells + 1);
    for (size_t i = 0; i < plan->n_cells; i++) {
        wanted.cells[i] = plan->cells[i];
        wanted.cells[i].measure = study->measure;
        wanted.cells[i].measure.cache = plan->cells[i].measure.cache; /* a cell may sweep it */
        wanted.cells[i].measure.replica = plan->cells[i].measure.replica;
    }
    json_t *has = ifm_plan_to_json(plan), *wants = ifm_plan_to_json(&wanted);
    bool same = json_equal(has, wants);
    json_decref(has);
    json_decref(wants);
    ifm_arena_destroy(arena);
    return same ? IFM_OK
                : ifm_fail(error, IFM_INVALID, where, "one of the two was edited; measure again into a new folder",
                           "rule-04: its gates, measure settings or seed are not those of config.lock.json");
}

/* What its implementation would need of this machine is there. `*together`: it asks of all its arms at once too. */
static enum ifm_status ready(const struct ifm_arm *arm, const char *device, bool *together, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_opening opening;
    enum ifm_status status = ifm_implementation_bind(arm, device, arena, &opening, error);
    if (status == IFM_OK && opening.implementation->ready != NULL)
        status = opening.implementation->ready(&opening, error);
    *together |= status == IFM_OK && opening.implementation->ready_together != NULL;
    ifm_arena_destroy(arena);
    return status;
}

static enum ifm_status ready_together(const struct ifm_plan *plan, struct ifm_arena *arena, struct ifm_error *error)
{
    size_t total = 0, n = 0;
    for (size_t c = 0; c < plan->n_cells; c++)
        total += plan->cells[c].n_arms;
    struct ifm_opening *all = IFM_ARENA_ARRAY(arena, struct ifm_opening, total);
    struct ifm_opening *own = IFM_ARENA_ARRAY(arena, struct ifm_opening, total);
    for (size_t c = 0; c < plan->n_cells; c++)
        for (size_t a = 0; a < plan->cells[c].n_arms; a++)
            IFM_TRY(ifm_implementation_bind(&plan->cells[c].arms[a], plan->device, arena, &all[n++], error));
    for (size_t i = 0; i < n; i++) { /* an implementation where the first of its arms stands */
        const struct ifm_implementation *row = all[i].implementation;
        size_t n_own = 0;
        for (size_t k = i; row != NULL && row->ready_together != NULL && k < n; k++)
            if (all[k].implementation == row) {
                own[n_own++] = all[k];
                all[k].implementation = NULL;
            }
        if (n_own > 0)
            IFM_TRY(row->ready_together(own, n_own, error));
    }
    return IFM_OK;
}

/* Each text once: cells of a sweep often share theirs. */
static void note_remarks(const struct ifm_plan *plan)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_names *said = ifm_names_create(arena);
    for (size_t c = 0; c < plan->n_cells; c++)
        for (size_t a = 0; a < plan->cells[c].n_arms; a++) {
            const struct ifm_arm *arm = &plan->cells[c].arms[a];
            if (arm->remark == NULL)
                continue;
            const char *text = ifm_arena_printf(arena, "%s: %s %s", arm->workload, arm->name, arm->remark);
            if (ifm_names_find(said, text) == IFM_NO_NAME)
                ifm_note("%s", text);
            ifm_names_add(said, text);
        }
    ifm_arena_destroy(arena);
}

enum ifm_status ifm_story_ready(const struct ifm_plan *plan, struct ifm_error *error)
{
    bool together = false;
    note_remarks(plan);
    for (size_t c = 0; c < plan->n_cells; c++)
        for (size_t a = 0; a < plan->cells[c].n_arms; a++)
            IFM_TRY(ready(&plan->cells[c].arms[a], plan->device, &together, error));
    if (together) {
        struct ifm_arena *arena = ifm_arena_create();
        const enum ifm_status status = ready_together(plan, arena, error);
        ifm_arena_destroy(arena);
        IFM_TRY(status);
    }
    return ifm_energy_ready(plan, error);
}

enum ifm_status ifm_story_same_inputs(const char *dir, const struct ifm_plan *plan, struct ifm_error *error)
{
    const struct ifm_events *events;
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = ifm_journal_read(dir, arena, &events, error);
    if (status == IFM_OK)
        status = ifm_inputs_unchanged(plan, events, dir, error);
    ifm_arena_destroy(arena);
    return status;
}
