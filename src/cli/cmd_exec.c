/* `inferometer exec 'CMD1' 'CMD2' ...`: the quick form of the workload `command`, one arm for each command. */
#include "cli/cli.h"

#include "base/log.h"
#include "base/subprocess.h"
#include "workload/command/command.h"
#include <limits.h>
#include <string.h>

/* Programs run longer than kernels and need no long warm-up. Explicit settings override these. */
static const struct ifm_setting defaults[] = {
    {"ceilings", "none"},
    {"measure.warmup", "1"},
};

/* What --publish-commands publishes; names of files stay private. */
static const char *const commands[] = {"command.line", "command.prepare", "command.cleanup", "command.setup",
                                       "command.teardown"};

/* The name that was given, or the program's, made unique. */
static enum ifm_status name_arm(const struct ifm_positionals *given, size_t i, bool shell, struct ifm_quick_arm *arms,
                                bool *numbered, struct ifm_arena *arena, struct ifm_error *error)
{
    const char *where = ifm_arena_printf(arena, "command %zu", i + 1), *name;
    IFM_TRY(ifm_command_name(given->items[i], shell, where, arena, &name, error));
    arms[i].text = given->items[i];
    arms[i].name = given->n_names > 0 ? given->names[i] : name;
    for (unsigned again = 2, j = 0; given->n_names == 0 && j < i; j++)
        if (strcmp(arms[j].name, arms[i].name) == 0) {
            arms[i].name = ifm_arena_printf(arena, "%s-%u", name, again++);
            *numbered = true;
            j = (unsigned)-1; /* from the start: the new name may be taken too */
        }
    return IFM_OK;
}

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

/* Print which command is which arm, when arms of one program differ only by a number in their names. */
static void tell_names(const struct ifm_quick_arm *arms, size_t n)
{
    enum { SHOWN = 80 };
    for (size_t i = 0; i < n; i++)
        ifm_note("arm %s: %.*s%s", arms[i].name, SHOWN, arms[i].text, strlen(arms[i].text) > SHOWN ? "..." : "");
}

/* `exec sleep 0.01`: the words of one command, of which the first alone is a program. */
static enum ifm_status check_quoted(const struct ifm_positionals *given, const char *verb, struct ifm_arena *arena,
                                    struct ifm_error *error)
{
    char path[PATH_MAX];
    struct ifm_text whole = {0};
    size_t missing = given->n;
    for (size_t i = 0; i < given->n; i++) {
        if (strpbrk(given->items[i], " \t\n'\"\\") != NULL)
            return IFM_OK;
        if (missing == given->n && ifm_subprocess_find(given->items[i], path, sizeof path, NULL) != IFM_OK)
            missing = i;
    }
    if (missing == 0 || missing == given->n || strchr(given->items[missing], '/') != NULL)
        return IFM_OK; /* a path that is not there is said as such */
    for (size_t i = 0; i < given->n; i++)
        ifm_text_printf(&whole, "%s%s", i > 0 ? " " : "", given->items[i]);
    const char *hint =
        ifm_arena_printf(arena, "quote a command with its arguments: inferometer %s '%.200s'", verb, whole.data);
    ifm_text_free(&whole);
    return ifm_fail(error, IFM_USAGE, ifm_arena_printf(arena, "command %zu", missing + 1), hint,
                    "each argument of %s is a whole command, and there is no program %.60s", verb,
                    given->items[missing]);
}

enum ifm_status ifm_cli_programs(const struct ifm_positionals *given, const char *verb, bool quiet,
                                 struct ifm_config *config, struct ifm_arena *arena, struct ifm_error *error)
{
    IFM_TRY(check_names(given, error));
    IFM_TRY(check_quoted(given, verb, arena, error));
    struct ifm_quick_arm *arms = IFM_ARENA_ARRAY(arena, struct ifm_quick_arm, given->n);
    bool shell = ifm_config_is_true(config, "command.shell"), numbered = false;
    for (size_t i = 0; i < given->n; i++)
        IFM_TRY(name_arm(given, i, shell, arms, &numbered, arena, error));
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        IFM_TRY(ifm_config_default(config, defaults[i].path, defaults[i].text, error));
    if (ifm_config_is_true(config, "measure.energy")) /* the device idles between the runs too; 15 ticks of NVML */
        IFM_TRY(ifm_config_default(config, "measure.energy_idle", "1.5s", error));
    IFM_TRY(ifm_config_override(config, "workload=command", error));
    IFM_TRY(ifm_config_quick_arms(config, "command.line", arms, given->n, verb, error));
    for (size_t i = 0; given->publish && i < sizeof commands / sizeof *commands; i++)
        ifm_config_publish(config, commands[i]);
    if (!quiet && numbered)
        tell_names(arms, given->n);
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
