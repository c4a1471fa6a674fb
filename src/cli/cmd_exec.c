/* `inferometer exec 'CMD1' 'CMD2' ...`: the quick form of the workload `command`, one arm for each command. */
#include "cli/cli.h"
#include "story/folder.h"

#include "base/log.h"
#include "base/text.h"
#include "workload/command/names.h"
#include <string.h>

/* Programs run longer than kernels and need no long warm-up. Explicit settings override these. */
static const struct ifm_setting defaults[] = {
    {"ceilings", "none"},
    {"measure.warmup", "1"},
};

/* What --publish-commands publishes; names of files stay private. */
static const char *const commands[] = {"command.line", "command.prepare", "command.cleanup", "command.setup",
                                       "command.teardown"};

static enum ifm_status check_names(const struct ifm_positionals *given, struct ifm_error *error)
{
    if (given->n_names > 0 && given->n_names != given->n)
        return ifm_fail(error, IFM_USAGE, "--name", "name each command, in their order, or none",
                        "%zu name%s for %zu command%s", given->n_names, given->n_names == 1 ? "" : "s", given->n,
                        given->n == 1 ? "" : "s");
    for (size_t i = 0; i < given->n_names; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(given->names[i], given->names[j]) == 0)
                return ifm_fail(error, IFM_USAGE, "--name", "give each command a name of its own",
                                "two commands are named \"%s\"", given->names[i]);
    return IFM_OK;
}

/* Print which command is which arm, where names do not tell it. */
static void tell_names(const struct ifm_quick_arm *arms, size_t n)
{
    enum { SHOWN = 80, LINE = 100 };
    struct ifm_text line = {0};
    for (size_t i = 0; i < n; i++) {
        const size_t before = line.size;
        ifm_text_printf(&line, "%s%s is \"%.*s%s\"", before > 0 ? "; " : "", arms[i].name, SHOWN, arms[i].text,
                        strlen(arms[i].text) > SHOWN ? "..." : "");
        if (i + 1 < n && line.size < LINE)
            continue;
        ifm_note("%s", line.data);
        ifm_text_clear(&line);
    }
    ifm_text_free(&line);
    ifm_note("--name NAME, once for each command in their order, gives better names");
}

/* "gzip-1st" may be taken for gzip -1: what such a number counts is said once. */
static void tell_same(const struct ifm_quick_arm *arms, size_t n, struct ifm_arena *arena)
{
    for (size_t i = 0; i < n; i++) {
        const char *names = arms[i].name;
        size_t times = 1;
        bool first = true;
        for (size_t j = 0; j < n; j++) {
            const bool same = j != i && strcmp(arms[j].text, arms[i].text) == 0;
            first &= !same || j > i;
            names = same ? ifm_arena_printf(arena, "%s, %s", names, arms[j].name) : names;
            times += same;
        }
        if (first && times > 1)
            ifm_note("%s: one command, given %zu times", names, times);
    }
}

/* The names that were given; else what tells the commands apart. */
static enum ifm_status name_arms(const struct ifm_positionals *given, bool shell, struct ifm_quick_arm *arms,
                                 bool *untold, struct ifm_arena *arena, struct ifm_error *error)
{
    const char **names = IFM_ARENA_ARRAY(arena, const char *, given->n);
    IFM_TRY(ifm_command_names(given->items, given->n, shell, arena, names, untold, error)); /* and checks the lines */
    *untold = *untold && given->n_names == 0;
    for (size_t i = 0; i < given->n; i++)
        arms[i] =
            (struct ifm_quick_arm){.text = given->items[i], .name = given->n_names > 0 ? given->names[i] : names[i]};
    return IFM_OK;
}

/* `ci OLD NEW` of two runs that were measured before. */
static enum ifm_status check_no_runs(const struct ifm_positionals *given, const char *verb, struct ifm_error *error)
{
    struct ifm_error unused;
    for (size_t i = 0; i < given->n; i++)
        if (ifm_folder_is_run(given->items[i], &unused) == IFM_OK)
            return ifm_fail(error, IFM_USAGE, given->items[i],
                            "of runs that are there, `inferometer compare REFERENCE RUN` and `inferometer gate RUN "
                            "--against REFERENCE`",
                            "it is a run folder, and %s starts programs", verb);
    return IFM_OK;
}

enum ifm_status ifm_cli_programs(const struct ifm_positionals *given, const char *verb, bool quiet,
                                 struct ifm_config *config, struct ifm_arena *arena, struct ifm_error *error)
{
    IFM_TRY(check_no_runs(given, verb, error));
    IFM_TRY(ifm_check_quoted(given, verb, arena, error));
    IFM_TRY(check_names(given, error));
    struct ifm_quick_arm *arms = IFM_ARENA_ARRAY(arena, struct ifm_quick_arm, given->n);
    bool shell = ifm_config_is_true(config, "command.shell"), untold = false;
    IFM_TRY(name_arms(given, shell, arms, &untold, arena, error));
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        IFM_TRY(ifm_config_default(config, defaults[i].path, defaults[i].text, error));
    if (ifm_config_is_true(config, "measure.energy")) /* the device idles between the runs too; 15 ticks of NVML */
        IFM_TRY(ifm_config_default(config, "measure.energy_idle", "1.5s", error));
    IFM_TRY(ifm_config_override(config, "workload=command", error));
    IFM_TRY(ifm_config_quick_arms(config, "command.line", arms, given->n, verb, error));
    for (size_t i = 0; given->publish && i < sizeof commands / sizeof *commands; i++)
        ifm_config_publish(config, commands[i]);
    if (!quiet && untold)
        tell_names(arms, given->n);
    else if (!quiet && given->n_names == 0)
        tell_same(arms, given->n, arena);
    return IFM_OK;
}

static enum ifm_status set_up(const struct ifm_positionals *given, bool quiet, struct ifm_config *config,
                              struct ifm_arena *arena, struct ifm_error *error)
{
    if (given->n == 0)
        return ifm_fail(error, IFM_USAGE, "exec", "such as inferometer exec 'sort a.txt' 'sort --parallel=2 a.txt'",
                        "no command is given");
    return ifm_cli_programs(given, "exec", quiet, config, arena, error);
}

enum ifm_status ifm_cmd_exec(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_config *config = ifm_story_config();
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_positionals given = {.items = IFM_ARENA_ARRAY(arena, const char *, argc + 1),
                                    .names = IFM_ARENA_ARRAY(arena, const char *, argc + 1)};
    struct ifm_options options = {.workload = "command", .positionals = &given};
    enum ifm_status status = ifm_options_parse(argc, argv, false, config, &options, error);
    if (status == IFM_OK && options.resume != NULL && given.n > 0)
        status = ifm_fail(error, IFM_USAGE, "--resume", "give --resume alone",
                          "the run folder says which commands are measured");
    else if (status == IFM_OK) {
        if (options.resume == NULL)
            status = set_up(&given, options.quiet, config, arena, error);
        if (status == IFM_OK)
            status = ifm_cli_run(&options, config, error);
    }
    ifm_arena_destroy(arena);
    ifm_config_destroy(config);
    return status;
}
