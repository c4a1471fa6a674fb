/* `inferometer run`, `rerun` and the quick forms: the one story, read aloud. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/log.h"
#include "cli/plugins.h"
#include "model/plan_json.h"
#include "run/inputs.h"
#include "sample/journal.h"
#include "sample/manifest.h"
#include "sample/record.h"
#include "workload/session/session.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The files that the run in `dir` read still hold what it read. */
static enum ifm_status same_inputs(const char *dir, const struct ifm_plan *plan, struct ifm_arena *arena,
                                   struct ifm_error *error)
{
    const struct ifm_events *events;
    IFM_TRY(ifm_journal_read(dir, arena, &events, error));
    return ifm_inputs_unchanged(plan, events, dir, error);
}

/* config -> plan -> run -> record -> derive -> judge -> publish */
static enum ifm_status tell(const struct ifm_options *options, struct ifm_config *config, struct ifm_arena *arena,
                            struct ifm_error *error)
{
    struct ifm_plan *plan;
    enum ifm_status judged;
    IFM_TRY(ifm_config_resolve(config, error));
    IFM_TRY(ifm_story_plan(config, arena, &plan, error));
    IFM_TRY(ifm_story_ready(plan, error));
    if (options->dir != NULL) /* it is repeated */
        IFM_TRY(same_inputs(options->dir, plan, arena, error));
    if (options->dry_run)
        return ifm_story_dry_run(config, plan, options, error);
    const char *dir = ifm_story_out(options, plan, arena);
    IFM_TRY(ifm_story_folder(dir, config, plan, error));
    IFM_TRY(ifm_story_measure(dir, config, plan, false, options, error));
    IFM_TRY(ifm_story_finish(dir, options, &judged, error));
    return judged;
}

/* A manifest that a `derive` wrote vouches for the record up to now. It must fit, and it ends here: the record grows.
 */
static enum ifm_status retire_manifest(const char *dir, struct ifm_arena *arena, struct ifm_error *error)
{
    const char *path = ifm_path_join(arena, dir, "manifest.sha256");
    if (!ifm_file_exists(path))
        return IFM_OK;
    IFM_TRY(ifm_manifest_check_record(dir, error));
    return remove(path) == 0 ? IFM_OK
                             : ifm_fail(error, IFM_INTERNAL, path, "make the folder writable", "cannot be removed: %s",
                                        strerror(errno));
}

/* A session's windows are its caller's: nothing can go on with it. But what a kill in the middle of a write has torn
 * off is cut, so that its whole blocks can be derived. */
static enum ifm_status refuse_session(const char *dir, const struct ifm_plan *plan, struct ifm_error *error)
{
    const struct ifm_cell *cell = &plan->cells[0];
    struct ifm_journal *journal;
    struct ifm_recorder *recorder;
    uint32_t next_block;
    int64_t end_ns;
    if (ifm_session_refuse(plan, dir, error) == IFM_OK)
        return IFM_OK;
    struct ifm_error refusal = *error;
    if (plan->n_cells != 1 || cell->n_passes == 0) /* an edited plan: there is no record to cut */
        return error->code;
    IFM_TRY(ifm_journal_open(dir, &journal, error)); /* and with it the lock: a session may be at work */
    enum ifm_status status =
        ifm_recorder_resume(dir, cell->index, cell->passes[0].name, cell->passes[0].columns, cell->passes[0].n_columns,
                            2 * cell->n_arms, &recorder, &next_block, &end_ns, error);
    if (status == IFM_OK)
        ifm_recorder_close(recorder);
    ifm_journal_close(journal);
    IFM_TRY(status);
    *error = refusal;
    ifm_error_hint(error, "`inferometer derive %s` shows its whole blocks; to go on, measure again", dir);
    return error->code;
}

/* The same story from the second stage on: configuration and plan are read back, not made. */
static enum ifm_status resume(const struct ifm_options *options, struct ifm_config *config, struct ifm_arena *arena,
                              struct ifm_error *error)
{
    const char *dir = options->resume, *path = ifm_path_join(arena, dir, "plan.json");
    if (options->changes != NULL || options->out != NULL || options->dry_run)
        return ifm_fail(error, IFM_USAGE, "--resume", "give --resume alone, or measure anew with `inferometer rerun`",
                        "the run folder says what is measured and where; %s cannot change it",
                        options->changes != NULL ? options->changes
                        : options->out != NULL   ? "--out"
                                                 : "--dry-run");
    struct ifm_plan *plan;
    json_t *json;
    enum ifm_status judged;
    if (!ifm_file_exists(path))
        return ifm_fail(error, IFM_USAGE, dir, "name a run folder, such as runs/decode-20260101-120000",
                        "not a run folder: it has no plan.json");
    IFM_TRY(ifm_folder_claim(dir, true, error));
    IFM_TRY(ifm_config_file(config, ifm_path_join(arena, dir, "config.lock.json"), error));
    IFM_TRY(ifm_config_resolve(config, error));
    IFM_TRY(ifm_json_read(path, &json, error));
    enum ifm_status status = ifm_plan_from_json(json, path, arena, &plan, error);
    json_decref(json);
    IFM_TRY(status);
    if (strcmp(plan->config_hash, ifm_config_study(config)->config_hash) != 0)
        return ifm_fail(error, IFM_INVALID, dir, "measure again into a new folder",
                        "plan.json and config.lock.json belong to different configurations");
    IFM_TRY(refuse_session(dir, plan, error));
    IFM_TRY(ifm_story_ready(plan, error));
    IFM_TRY(same_inputs(dir, plan, arena, error));
    IFM_TRY(retire_manifest(dir, arena, error));
    IFM_TRY(ifm_story_measure(dir, config, plan, true, options, error));
    IFM_TRY(ifm_story_finish(dir, options, &judged, error));
    return judged;
}

enum ifm_status ifm_story_run(const struct ifm_options *options, struct ifm_config *config, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    ifm_log_quiet(options->quiet);
    enum ifm_status status =
        options->resume != NULL ? resume(options, config, arena, error) : tell(options, config, arena, error);
    ifm_arena_destroy(arena);
    return status;
}

enum ifm_status ifm_cmd_run(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_config *config = ifm_story_config();
    const struct ifm_workload *quick = ifm_workload_find(argv[0]);
    struct ifm_options options = {.workload = quick == NULL ? NULL : quick->name};
    enum ifm_status status = ifm_options_parse(argc, argv, false, config, &options, error);
    if (status == IFM_OK && options.resume != NULL && options.changes == NULL) { /* with the tables of its plugins */
        status = ifm_plugins_of_folder(options.resume, error);
        ifm_config_destroy(config);
        config = ifm_story_config();
    }
    if (status == IFM_OK && quick != NULL && options.resume == NULL) {
        char assignment[64];
        snprintf(assignment, sizeof assignment, "workload=%s", quick->name);
        status = ifm_config_override(config, assignment, error);
    }
    if (status == IFM_OK && options.help)
        status = ifm_cmd_help(2, (char *[]){(char *)"help", argv[0], NULL}, error);
    else if (status == IFM_OK)
        status = ifm_story_run(&options, config, error);
    ifm_config_destroy(config);
    return status;
}

enum ifm_status ifm_cmd_rerun(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_config *config = NULL;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_options options = {0};
    enum ifm_status status = ifm_options_parse(argc, argv, true, NULL, &options, error);
    if (status == IFM_OK && options.help)
        status = ifm_cmd_help(2, (char *[]){(char *)"help", argv[0], NULL}, error);
    else if (status == IFM_OK && (status = ifm_folder_is_run(options.dir, error)) == IFM_OK &&
             (status = ifm_plugins_of_folder(options.dir, error)) == IFM_OK) {
        config = ifm_story_config();
        status = ifm_config_file(config, ifm_path_join(arena, options.dir, "config.lock.json"), error);
        if (status == IFM_OK)
            status = ifm_story_run(&options, config, error);
    }
    ifm_arena_destroy(arena);
    ifm_config_destroy(config);
    return status;
}
