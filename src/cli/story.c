/* The stages as the commands call them: catalogue, folder, progress, and the way from a record to its files. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/private.h"
#include "base/text.h"
#include "cli/invocation.h"
#include "cli/plugins.h"
#include "device/fake.h"
#include "host/host.h"
#include "instrument/instrument.h"
#include "kernel/cpu/isa.h"
#include "model/plan_json.h"
#include "plan/plan.h"
#include "run/energy.h"
#include "run/run.h"
#include "sample/claim.h"
#include "sample/journal.h"
#include "sample/manifest.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_INSTRUMENTS = 32, MOST_ISAS = 8 };

struct ifm_config *ifm_story_config(void)
{
    static const struct ifm_section *sections[IFM_WORKLOADS_MOST + 1];
    for (size_t i = 0; ifm_workloads[i] != NULL; i++)
        sections[i] = ifm_workloads[i]->params;
    return ifm_config_create(sections);
}

static size_t list_workloads(const struct ifm_machine *machine, struct ifm_workload_entry *entries)
{
    size_t n = 0;
    for (; ifm_workloads[n] != NULL; n++) {
        const struct ifm_workload *workload = ifm_workloads[n];
        entries[n] = (struct ifm_workload_entry){workload->name,
                                                 workload->describe,
                                                 workload->most_threads,
                                                 workload->columns,
                                                 workload->n_columns,
                                                 workload->one_process,
                                                 ifm_workload_serves(workload, machine)};
    }
    return n;
}

static size_t list_instruments(const struct ifm_device_ops *device, struct ifm_instrument_entry *entries)
{
    size_t n = 0;
    for (size_t i = 0; ifm_instruments[i] != NULL; i++) {
        const struct ifm_instrument *instrument = ifm_instruments[i];
        if (ifm_instrument_is_of(instrument, device->name))
            entries[n++] = (struct ifm_instrument_entry){instrument->name, (int)instrument->intrusion,
                                                         instrument->columns, instrument->n_columns};
    }
    return n;
}

/* A scripted device has nothing to observe but what its script gives. */
static size_t list_fake_instrument(const char *script, struct ifm_instrument_entry *entries)
{
    if (!ifm_fake_script_has_columns(script))
        return 0;
    const struct ifm_instrument *fake = &ifm_instrument_fake;
    entries[0] = (struct ifm_instrument_entry){fake->name, (int)fake->intrusion, fake->columns, fake->n_columns};
    return 1;
}

static const char *device_name(const struct ifm_config *config)
{
    static const char *const kinds[] = {"cpu", "cuda", "fake"};
    return kinds[ifm_config_device(config)->kind];
}

/* The most threads that a value of device.threads asks for; 0 as soon as one value wants every CPU. */
static unsigned threads_asked(const struct ifm_study *study)
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

enum ifm_status ifm_story_plan(const struct ifm_config *config, struct ifm_arena *arena, struct ifm_plan **plan,
                               struct ifm_error *error)
{
    const struct ifm_study *study = ifm_config_study(config);
    struct ifm_workload_entry *workloads = IFM_ARENA_ARRAY(arena, struct ifm_workload_entry, IFM_WORKLOADS_MOST);
    struct ifm_instrument_entry *instruments = IFM_ARENA_ARRAY(arena, struct ifm_instrument_entry, MOST_INSTRUMENTS);
    struct ifm_catalog catalog = {.workloads = workloads, .instruments = instruments, .measure = &ifm_section_measure};
    const struct ifm_device_ops *device = ifm_device_find(device_name(config));
    IFM_TRY(device->describe(threads_asked(study), &catalog.machine, error));
    catalog.n_workloads = list_workloads(&catalog.machine, workloads);
    if (device == &ifm_device_cuda) {
        catalog.n_instruments = list_instruments(device, instruments);
    } else if (device == &ifm_device_cpu) {
        const char **isas = IFM_ARENA_ARRAY(arena, const char *, MOST_ISAS);
        catalog.machine.n_isas = ifm_isa_supported(isas, MOST_ISAS);
        catalog.machine.isas = isas;
        catalog.n_instruments = list_instruments(device, instruments);
    } else if (device == &ifm_device_fake) {
        catalog.n_instruments = list_fake_instrument(ifm_config_device(config)->script, instruments);
    }
    enum ifm_status status = ifm_plan_build(study, &catalog, make_run_id(study, arena), arena, plan, error);
    if (status != IFM_OK) {
        ifm_config_locate(config, error);
        return status;
    }
    return ifm_check_gates(*plan, study->gate_places, arena, error);
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

static enum ifm_status ready(const struct ifm_arm *arm, const char *device, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_opening opening;
    enum ifm_status status = ifm_implementation_bind(arm, device, arena, &opening, error);
    if (status == IFM_OK && opening.implementation->ready != NULL)
        status = opening.implementation->ready(&opening, error);
    ifm_arena_destroy(arena);
    return status;
}

enum ifm_status ifm_story_ready(const struct ifm_plan *plan, struct ifm_error *error)
{
    for (size_t c = 0; c < plan->n_cells; c++)
        for (size_t a = 0; a < plan->cells[c].n_arms; a++) {
            const struct ifm_arm *arm = &plan->cells[c].arms[a];
            if (arm->remark != NULL)
                ifm_note("%s: %s %s", arm->workload, arm->name, arm->remark);
            IFM_TRY(ready(arm, plan->device, error));
        }
    return ifm_energy_ready(plan, error);
}

const char *ifm_story_out(const struct ifm_options *options, const struct ifm_plan *plan, struct ifm_arena *arena)
{
    if (options->out != NULL)
        return options->out;
    char stamp[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", gmtime_r(&now, &utc));
    const char *name = plan->n_cells == 0 ? "run" : plan->cells[0].workload;
    const char *dir = ifm_arena_printf(arena, "runs/%s-%s", name, stamp);
    for (int i = 2; ifm_dir_exists(dir); i++) /* two runs in one second */
        dir = ifm_arena_printf(arena, "runs/%s-%s-%d", name, stamp, i);
    return dir;
}

static enum ifm_status write_json_new(struct ifm_arena *arena, const char *dir, const char *name, json_t *value,
                                      struct ifm_error *error)
{
    enum ifm_status status = ifm_json_write(ifm_path_join(arena, dir, name), value, error);
    json_decref(value);
    return status;
}

/* Of this invocation, and the texts of which the other files hold tokens. */
static json_t *private_facts(void)
{
    json_t *facts = ifm_host_private(ifm_invocation.argc, ifm_invocation.argv), *settings = ifm_private_json();
    if (settings != NULL)
        json_object_set_new(facts, "settings", settings);
    return facts;
}

/* The plan comes last: with it the folder is a run that can be resumed, without it nothing. */
static enum ifm_status fill_folder(const char *dir, const struct ifm_config *config, const struct ifm_plan *plan,
                                   struct ifm_arena *arena, struct ifm_error *error)
{
    IFM_TRY(ifm_dir_create(ifm_path_join(arena, dir, "samples"), error));
    IFM_TRY(write_json_new(arena, dir, "private.json", ifm_plugins_into_private(private_facts(), config), error));
    IFM_TRY(write_json_new(arena, dir, "config.lock.json", ifm_plugins_into_lock(ifm_config_lock_json(config), config),
                           error));
    return write_json_new(arena, dir, "plan.json", ifm_plan_to_json(plan), error);
}

enum ifm_status ifm_story_folder(const char *dir, const struct ifm_config *config, const struct ifm_plan *plan,
                                 struct ifm_error *error)
{
    int claim; /* held until this command ends */
    IFM_TRY(ifm_claim_new(dir, &claim, error));
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = fill_folder(dir, config, plan, arena, error);
    if (status != IFM_OK)
        ifm_claim_undo(dir);
    ifm_arena_destroy(arena);
    return status;
}

/* One line on the terminal, rewritten at most ten times a second. */
static void show_progress(void *context, const struct ifm_cell *cell, double fraction, double remaining_s)
{
    int64_t *last_ns = context;
    int64_t now_ns = ifm_clock_now().ns;
    if (now_ns - *last_ns < 100000000)
        return;
    *last_ns = now_ns;
    fprintf(stderr, "\r\033[K%3.0f %%  %s  about %.0f s left", 100 * fraction, cell->name, remaining_s);
}

/* The device opens with as many workers as the largest cell needs; smaller cells use the first of them. */
static unsigned most_threads(const struct ifm_plan *plan)
{
    unsigned most = 1;
    for (size_t i = 0; i < plan->n_cells; i++)
        most = plan->cells[i].threads > most ? plan->cells[i].threads : most;
    return most;
}

static struct ifm_run_options run_options(const struct ifm_config *config, const struct ifm_plan *plan, const char *dir,
                                          bool resume)
{
    const struct ifm_device_config *device = ifm_config_device(config);
    return (struct ifm_run_options){
        .dir = dir,
        .resume = resume,
        .device = {.threads = most_threads(plan),
                   .huge_pages = device->huge_pages,
                   .no_graphs = !device->graphs,
                   .script = device->script,
                   .resumed = resume,
                   .seed = ifm_config_study(config)->seed},
    };
}

/* In the place of this process, `run --resume`; returns when that cannot be. What is open here is closed by it. */
static void go_on_in_a_new_process(const char *dir, const struct ifm_options *how)
{
    static const char *const formats[] = {[IFM_FORMAT_TABLE] = "table",
                                          [IFM_FORMAT_MD] = "md",
                                          [IFM_FORMAT_CSV] = "csv",
                                          [IFM_FORMAT_JSON] = "json",
                                          [IFM_FORMAT_JSONL] = "jsonl"};
    const char *arguments[8] = {"inferometer", "run", "--resume", dir};
    size_t n = 4;
    if (how->quiet)
        arguments[n++] = "--quiet";
    if (how->format == IFM_FORMAT_ELASTIC_KV) {
        arguments[n++] = "--json";
    } else if (how->has_format) {
        arguments[n++] = "--format";
        arguments[n++] = formats[how->format];
    }
    ifm_warn("the device cannot be opened again in this process; a new one goes on with %s", dir);
    fflush(NULL);
    execv("/proc/self/exe", (char *const *)(uintptr_t)arguments);
}

enum ifm_status ifm_story_measure(const char *dir, const struct ifm_config *config, const struct ifm_plan *plan,
                                  bool resume, const struct ifm_options *how, struct ifm_error *error)
{
    struct ifm_run_options options = run_options(config, plan, dir, resume);
    int64_t last_ns = 0;
    bool anew = false, show = !how->quiet && isatty(STDERR_FILENO);
    if (show)
        options.progress = (struct ifm_progress){show_progress, &last_ns};
    options.needs_new_process = &anew;
    enum ifm_status status = ifm_run_execute(plan, &options, error);
    if (show)
        fputs("\r\033[K", stderr);
    if (status != IFM_OK && anew)
        go_on_in_a_new_process(dir, how);
    if (status == IFM_INTERRUPTED)
        ifm_error_hint(error, "go on with `inferometer run --resume %s`", dir);
    return status;
}

static void print_cell_plan(const struct ifm_cell *cell, const struct ifm_estimate *estimate)
{
    char seconds[48], memory[48];
    printf("  %s\n", cell->name);
    if (cell->unsupported[0] != '\0') {
        printf("    absent: %s\n", cell->unsupported);
        return;
    }
    printf("    %u thread%s, %s caches, about %s, %s of memory%s\n", cell->threads, cell->threads == 1 ? "" : "s",
           cell->measure.cache == IFM_CACHE_COLD ? "cold" : "hot", ifm_format_human(estimate->seconds, "s", seconds),
           ifm_format_human((double)estimate->memory, "B", memory), cell->cache_resident ? ", cache-resident" : "");
    printf("    arms:");
    for (size_t i = 0; i < cell->n_arms; i++)
        printf("%s %s (%s)", i == 0 ? "" : ",", cell->arms[i].name, ifm_role_name(cell->arms[i].role));
    printf("\n");
}

enum ifm_status ifm_story_dry_run(const struct ifm_config *config, const struct ifm_plan *plan,
                                  const struct ifm_options *options, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_estimate *cells = IFM_ARENA_ARRAY(arena, struct ifm_estimate, plan->n_cells + 1), total;
    struct ifm_run_options run = run_options(config, plan, "", false);
    if (options->format != IFM_FORMAT_TABLE && options->format != IFM_FORMAT_JSON) {
        ifm_arena_destroy(arena);
        return ifm_fail(error, IFM_USAGE, options->format == IFM_FORMAT_ELASTIC_KV ? "--json" : "--format",
                        "choose --format table or json", "a dry run has no numbers to list in this format");
    }
    enum ifm_status status = ifm_run_estimate(plan, &run, cells, &total, error);
    if (status == IFM_OK && options->format == IFM_FORMAT_JSON) {
        json_t *json = json_pack("{s:o, s:f, s:f, s:f}", "plan", ifm_plan_to_json(plan), "seconds", total.seconds,
                                 "seconds_low", total.low, "seconds_high", total.high);
        struct ifm_text text = {0};
        ifm_json_print(json, true, &text);
        puts(text.data);
        ifm_text_free(&text);
        json_decref(json);
    } else if (status == IFM_OK) {
        char seconds[48], low[48], high[48];
        printf("plan: %zu cell%s on %s; nothing has been recorded\n", plan->n_cells, plan->n_cells == 1 ? "" : "s",
               plan->device);
        for (size_t i = 0; i < plan->n_cells; i++)
            print_cell_plan(&plan->cells[i], &cells[i]);
        printf("time: about %s (%s to %s, as the stop rule decides)\n", ifm_format_human(total.seconds, "s", seconds),
               ifm_format_human(total.low, "s", low), ifm_format_human(total.high, "s", high));
    }
    ifm_arena_destroy(arena);
    return status;
}

static enum ifm_status load_folder(const char *dir, struct ifm_folder *folder, struct ifm_error *error)
{
    char *lock = ifm_path_join(folder->arena, dir, "config.lock.json");
    IFM_TRY(ifm_json_read(lock, &folder->lock, error));
    IFM_TRY(ifm_facts_open(dir, NULL, 0, folder->arena, &folder->facts, error));
    folder->plan = folder->facts.plan;
    folder->events = folder->facts.events;
    IFM_TRY(ifm_derive(&folder->facts.view, folder->arena, &folder->derived, error));
    return ifm_judge(folder->plan, folder->derived, folder->arena, &folder->verdict, error);
}

enum ifm_status ifm_folder_open(const char *dir, struct ifm_folder *out, struct ifm_error *error)
{
    *out = (struct ifm_folder){.arena = ifm_arena_create()};
    IFM_TRY(load_folder(dir, out, error));
    out->publication = (struct ifm_publication){
        dir, out->plan, out->derived, out->verdict, out->lock, out->events, &out->facts.view,
    };
    return IFM_OK;
}

void ifm_folder_close(struct ifm_folder *folder)
{
    json_decref(folder->lock);
    ifm_facts_close(&folder->facts);
    ifm_arena_destroy(folder->arena);
    *folder = (struct ifm_folder){0};
}

enum ifm_status ifm_story_finish(const char *dir, const struct ifm_options *options, enum ifm_status *judged,
                                 struct ifm_error *error)
{
    struct ifm_folder folder;
    enum ifm_status status = ifm_folder_open(dir, &folder, error);
    if (status == IFM_OK)
        status = ifm_publish_files(&folder.publication, error);
    if (status == IFM_OK)
        status = ifm_publish_table(&folder.publication, options->format, options->colour, stdout, error);
    if (status == IFM_OK) {
        *judged = folder.verdict->exit_code;
        if (options->format == IFM_FORMAT_TABLE)
            printf("\nreport: %s/report.html\n", dir);
        if (options->format == IFM_FORMAT_ELASTIC_KV && !options->quiet)
            ifm_publish_advice(&folder.publication, stderr);
    }
    ifm_folder_close(&folder);
    return status;
}
