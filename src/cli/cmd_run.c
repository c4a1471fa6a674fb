/* `inferometer run`, `rerun` and the quick forms: the stages of a run, one call each. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/log.h"
#include "base/plain.h"
#include "derive/compare/sessions.h"
#include "host/host.h"
#include "sample/claim.h"
#include "sample/journal.h"
#include "story/folder.h"
#include <stdio.h>
#include <string.h>

/* What the comparisons of the open cell said when the run was interrupted. */
static void tell_so_far(struct ifm_so_far *so_far)
{
    ifm_plain_make(so_far->text);
    if (so_far->text[0] != '\0')
        ifm_note("preliminary, after %u block%s: %s", so_far->blocks, so_far->blocks == 1 ? "" : "s", so_far->text);
}

/* Measure with progress on a terminal. A device that only a new process can open again is continued in one: then this
 * call does not return. */
static enum ifm_status measure(const char *dir, const struct ifm_config *config, const struct ifm_plan *plan,
                               bool resume, const struct ifm_options *options, struct ifm_progress_line *line,
                               struct ifm_arena *arena, struct ifm_error *error)
{
    bool anew = false;
    struct ifm_run_options how = {.dir = dir,
                                  .resume = resume,
                                  .needs_new_process = &anew,
                                  .progress = ifm_progress_open(options, line),
                                  .so_far = &line->so_far,
                                  .wait_quiet_s = options->wait_quiet_s};
    if (options->dir != NULL && !resume)
        ifm_folder_retries(options->dir, arena, &how.retries, &how.n_retries);
    how.witness = ifm_supervise_run(dir, options);
    enum ifm_status status = ifm_story_measure(config, plan, &how, error);
    ifm_progress_clear(line);
    if (status != IFM_OK && anew) {
        ifm_warn("the device cannot be opened again in this process; a new one goes on with %s", dir);
        ifm_supervise_go_on(dir, options);
    }
    if (status == IFM_INTERRUPTED) {
        tell_so_far(&line->so_far);
        ifm_error_hint(error, "go on with `inferometer %s --resume %s`", options->ci == NULL ? "run" : "ci", dir);
    }
    return status;
}

struct ifm_table_look ifm_cli_look(const struct ifm_options *options)
{
    return (struct ifm_table_look){options->format, options->colour, options->verbose, ifm_cli_width()};
}

struct ifm_story_printing ifm_cli_printing(const struct ifm_options *options)
{
    return (struct ifm_story_printing){ifm_cli_look(options),
                                       stdout,
                                       options->quiet ? NULL : stderr,
                                       options->ci == NULL ? NULL : &options->ci->files,
                                       options->key,
                                       NULL,
                                       NULL};
}

/* A dry run on no terminal. */
struct slow_look {
    struct ifm_instant start;
    bool told;
};

/* What is timed may be seconds of work: once, where no line of progress says what it is at. */
static void tell_slow(void *context, const struct ifm_parts *parts)
{
    static const double SLOW_S = 5;
    struct slow_look *look = context;
    char spent[160];
    if (parts == NULL || parts->cell == NULL || look->told || 1e-9 * (double)ifm_clock_since(look->start).ns < SLOW_S)
        return;
    look->told = true;
    ifm_note("a dry run does what a run does before its blocks, to time it: %s, %s so far", parts->cell,
             ifm_parts_text(parts->seconds, spent, sizeof spent));
}

static enum ifm_status dry_run(const struct ifm_options *options, const struct ifm_config *config,
                               const struct ifm_plan *plan, struct ifm_error *error)
{
    if (options->format != IFM_FORMAT_TABLE && options->format != IFM_FORMAT_JSON)
        return ifm_fail(error, IFM_USAGE, options->format == IFM_FORMAT_ELASTIC_KV ? "--json" : "--format",
                        "choose --format table or json", "a dry run has no numbers to list in this format");
    struct ifm_progress_line line;
    struct slow_look slow = {.start = ifm_clock_now()};
    struct ifm_progress progress = ifm_progress_open(options, &line);
    if (progress.tell == NULL)
        progress = (struct ifm_progress){.context = &slow, .tell = tell_slow};
    return ifm_story_dry_run(config, plan, &progress, options->format == IFM_FORMAT_JSON, ifm_cli_width(), stdout,
                             error);
}

/* --formats int4 is a plan like another one, and not what was meant where a gain was asked for. */
static void say_alone(const struct ifm_config *config, const struct ifm_plan *plan)
{
    const struct ifm_arm *only = NULL;
    size_t rivals = 0;
    for (size_t a = 0; plan->n_cells > 0 && a < plan->cells[0].n_arms; a++)
        if (plan->cells[0].arms[a].role != IFM_ROLE_CEILING) {
            only = &plan->cells[0].arms[a];
            rivals++;
        }
    if (rivals == 1 && strcmp(only->name, "f16") != 0 && ifm_config_is_set(config, "decode.formats"))
        ifm_note("%s is measured alone; --formats f16,%s compares it", only->name, only->name);
}

/* Numbers, verdict and files of what was measured take a moment too. */
static enum ifm_status finish(const char *dir, const struct ifm_options *options, struct ifm_progress_line *line,
                              enum ifm_status *judged, struct ifm_error *error)
{
    struct ifm_story_printing how = ifm_cli_printing(options);
    how.before = ifm_progress_clear;
    how.context = line;
    ifm_progress_say(line, "writing the report");
    enum ifm_status status = ifm_story_finish(dir, &how, judged, error);
    ifm_progress_clear(line);
    return status;
}

/* A run is repeated by its command lines, and one of their programs may have been built anew since. */
static void say_replaced(const char *original, const char *dir, struct ifm_arena *arena)
{
    static const enum ifm_stage stages[] = {IFM_STAGE_program};
    const struct ifm_events *before, *now;
    struct ifm_error unread = {0};
    if (ifm_journal_glance(original, stages, 1, arena, &before, &unread) != IFM_OK ||
        ifm_journal_glance(dir, stages, 1, arena, &now, &unread) != IFM_OK)
        return;
    const char *unlike = ifm_programs_unlike(before, now, arena);
    if (unlike != NULL)
        ifm_warn("the %s is another file than in %s: this rerun measures another program", unlike, original);
}

/* config -> plan -> run -> record -> derive -> judge -> publish */
static enum ifm_status tell(const struct ifm_options *options, struct ifm_config *config, struct ifm_arena *arena,
                            enum ifm_status *judged, struct ifm_error *error)
{
    struct ifm_progress_line line;
    struct ifm_plan *plan;
    int claim; /* held until this process ends */
    IFM_TRY(ifm_config_resolve(config, error));
    IFM_TRY(ifm_story_plan(config, NULL, arena, &plan, error));
    IFM_TRY(ifm_story_ready(plan, error));
    say_alone(config, plan);
    if (options->dir != NULL) /* it is repeated */
        IFM_TRY(ifm_story_same_inputs(options->dir, plan, error));
    if (options->dry_run)
        return dry_run(options, config, plan, error);
    const char *dir = options->out != NULL ? options->out : ifm_story_fresh_dir(options->below, plan, arena);
    bool made = !ifm_dir_exists(dir);
    json_t *caller = ifm_host_private(ifm_invocation.argc, ifm_invocation.argv);
    IFM_TRY(ifm_story_folder(dir, config, plan, caller, &claim, error));
    enum ifm_status status = measure(dir, config, plan, false, options, &line, arena, error);
    if (status == IFM_MISSING || status == IFM_USAGE) /* nothing has been measured, and --resume would not help */
        ifm_claim_refuse(dir, made);
    IFM_TRY(status);
    if (options->dir != NULL)
        say_replaced(options->dir, dir, arena);
    return finish(dir, options, &line, judged, error);
}

static enum ifm_status resumes_alone(const struct ifm_options *options, struct ifm_error *error)
{
    if (options->resume == NULL || (options->changes == NULL && options->out == NULL && !options->dry_run))
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, "--resume", "give --resume alone, or measure anew with `inferometer rerun`",
                    "the run folder says what is measured and where; %s cannot change it",
                    options->changes != NULL ? options->changes
                    : options->out != NULL   ? "--out"
                                             : "--dry-run");
}

/* The same stages for an interrupted run: configuration and plan are read from the folder. */
static enum ifm_status resume(const struct ifm_options *options, struct ifm_config *config, struct ifm_arena *arena,
                              enum ifm_status *judged, struct ifm_error *error)
{
    struct ifm_progress_line line;
    struct ifm_plan *plan;
    IFM_TRY(ifm_story_read_back(options->resume, config, arena, &plan, error));
    IFM_TRY(measure(options->resume, config, plan, true, options, &line, arena, error));
    return finish(options->resume, options, &line, judged, error);
}

enum ifm_status ifm_cli_run(const struct ifm_options *options, struct ifm_config *config, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status judged = IFM_OK;
    ifm_log_quiet(options->quiet);
    if (ifm_config_given_twice(config) != NULL)
        ifm_note("%s is given twice, and the last one counts", ifm_config_given_twice(config));
    struct ifm_options from_there = *options;
    enum ifm_status status = resumes_alone(options, error);
    if (status == IFM_OK) {
        ifm_cli_go_there(&from_there, arena);
        status = options->resume != NULL ? resume(&from_there, config, arena, &judged, error)
                                         : tell(&from_there, config, arena, &judged, error);
    }
    ifm_arena_destroy(arena);
    return status != IFM_OK ? status : judged;
}

enum ifm_status ifm_cmd_run(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_config *config = ifm_story_config();
    const struct ifm_workload *quick = ifm_workload_find(argv[0]);
    struct ifm_options options = {.workload = quick == NULL ? NULL : quick->name};
    enum ifm_status status = ifm_options_parse(argc, argv, false, config, &options, error);
    /* created again with the tables of the run's plugins */
    if (status == IFM_OK && options.resume != NULL && options.changes == NULL) {
        status = ifm_plugins_again(options.resume, error);
        ifm_config_destroy(config);
        config = ifm_story_config();
    }
    if (status == IFM_OK && quick != NULL && options.resume == NULL) {
        char assignment[64];
        snprintf(assignment, sizeof assignment, "workload=%s", quick->name);
        status = ifm_config_override(config, assignment, error);
    }
    if (status == IFM_OK)
        status = ifm_cli_run(&options, config, error);
    ifm_config_destroy(config);
    return status;
}

enum ifm_status ifm_cmd_rerun(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_config *config = NULL;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_again again = {0};
    struct ifm_options options = {.again = &again};
    enum ifm_status status = ifm_options_parse(argc, argv, true, NULL, &options, error);
    if (status == IFM_OK && again.epsilon != 0 && again.times == 0)
        status = ifm_fail(error, IFM_USAGE, "--epsilon", "give --times 5 too",
                          "it says what counts as the same among several sessions, and one is asked for");
    if (status == IFM_OK && (status = ifm_folder_is_run(options.dir, error)) == IFM_OK && again.times > 0)
        status = ifm_rerun_times(&options, &again, error);
    else if (status == IFM_OK && (status = ifm_plugins_again(options.dir, error)) == IFM_OK) {
        config = ifm_story_config();
        status = ifm_config_file(config, ifm_path_join(arena, options.dir, "config.lock.json"), error);
        if (status == IFM_OK)
            status = ifm_cli_run(&options, config, error);
    }
    ifm_arena_destroy(arena);
    ifm_config_destroy(config);
    return status;
}
