/* `inferometer ci OLD NEW --max-regression 3%`: two programs as `exec` measures them, judged by the gates preset
 * no-regression, with Markdown and JUnit in the run folder. One command for a pipeline; the exit code is the answer. */
#include "cli/cli.h"

#include "base/file.h"
#include <string.h>

static const char usual_limit[] = "3%";

/* "3%" or "3 %" as the preset takes it. A number without its sign may be meant as a fraction, as --margin takes it. */
static enum ifm_status preset_of(const char *gates, const char *limit, struct ifm_arena *arena, const char **preset,
                                 struct ifm_error *error)
{
    char *digits = ifm_arena_strdup(arena, limit), shown[72];
    size_t length = strlen(digits);
    double percent = 0;
    bool marked = length > 1 && digits[length - 1] == '%';
    if (marked)
        digits[length - 1 - (length > 2 && digits[length - 2] == ' ')] = '\0';
    const bool number = ifm_parse_f64(digits, &percent);
    if (number && percent <= 0)
        return ifm_fail(error, IFM_USAGE, "--max-regression",
                        "write by how much the new one may be slower, such as 3%; that it must be faster is a gate of "
                        "a file: -c FILE, {metric: change_percent, op: at_most, threshold: -3}",
                        "'%s' allows no regression", ifm_param_shown(limit, shown));
    const char *inside = limit + strcspn(limit, "0123456789.");
    if (!number && inside > limit && ifm_parse_f64(digits + (inside - limit), &percent) && percent > 0 &&
        percent <= 100)
        return ifm_fail(error, IFM_USAGE, "--max-regression",
                        ifm_arena_printf(arena, "it is the most that is allowed: write --max-regression %s%%",
                                         digits + (inside - limit)),
                        "'%s' is no percentage alone", ifm_param_shown(limit, shown));
    if (!number || percent > 100)
        return ifm_fail(error, IFM_USAGE, "--max-regression", "write it as --max-regression 3%",
                        "'%s' is no percentage above 0 and at most 100", ifm_param_shown(limit, shown));
    if (!marked)
        return ifm_fail(error, IFM_USAGE, "--max-regression", "write the sign, such as 3% or 0.5%",
                        "'%s' could be a fraction or a percentage", ifm_param_shown(limit, shown));
    *preset = ifm_arena_printf(arena, "%s=%s%%", gates, digits);
    return IFM_OK;
}

/* The preset that judges `metric`. */
static enum ifm_status gates_of(const char *metric, const char **gates, struct ifm_error *error)
{
    static const char *const metrics[][2] = {{"time", "no-regression"}, {"cpu", "no-cpu-regression"}};
    char shown[72];
    *gates = metrics[0][1];
    for (size_t i = 0; metric != NULL && i < sizeof metrics / sizeof *metrics; i++)
        if (strcmp(metric, metrics[i][0]) == 0) {
            *gates = metrics[i][1];
            return IFM_OK;
        }
    return metric == NULL ? IFM_OK
                          : ifm_fail(error, IFM_USAGE, "--metric",
                                     "time, or cpu: processor time, which may decide under load, and sees no waiting",
                                     "ci does not judge '%s'", ifm_param_shown(metric, shown));
}

/* A copy that could not be written would be found out only after the measurement. */
static enum ifm_status check_copy(const char *flag, const char *path, struct ifm_arena *arena, struct ifm_error *error)
{
    if (path == NULL)
        return IFM_OK;
    if (strcmp(path, "-") == 0 || path[0] == '\0')
        return ifm_fail(error, IFM_USAGE, flag, "name a file; standard output has the table",
                        path[0] == '\0' ? "the name is empty" : "ci writes no file to standard output");
    char *folder = ifm_arena_strdup(arena, path);
    folder[ifm_path_base(path) - path] = '\0';
    if (folder[0] != '\0' && !ifm_dir_exists(folder))
        return ifm_fail(error, IFM_USAGE, flag, "create it, or name a file in a folder that exists",
                        "%s: no such folder", folder);
    return IFM_OK;
}

static enum ifm_status check_files(const struct ifm_story_gates *files, struct ifm_arena *arena,
                                   struct ifm_error *error)
{
    IFM_TRY(check_copy("--markdown", files->markdown, arena, error));
    IFM_TRY(check_copy("--junit", files->junit, arena, error));
    if (files->markdown != NULL && files->junit != NULL && strcmp(files->markdown, files->junit) == 0)
        return ifm_fail(error, IFM_USAGE, "--markdown", "give each a file of its own",
                        "--junit and --markdown would both write to %s", files->junit);
    return IFM_OK;
}

static enum ifm_status set_up(struct ifm_options *options, struct ifm_config *config, struct ifm_arena *arena,
                              struct ifm_error *error)
{
    struct ifm_positionals *given = options->positionals;
    const char *limit = options->ci->max_regression, *preset = "", *gates = "";
    bool known = false;
    IFM_TRY(ifm_check_quoted(given, "ci", arena, error));
    if (given->n != 2)
        return ifm_fail(
            error, IFM_USAGE, "ci", "such as inferometer ci './old/bench' './new/bench' --max-regression 3%",
            "%zu command%s given; it compares two, the old one first", given->n, given->n == 1 ? " is" : "s are");
    IFM_TRY(gates_of(options->ci->metric, &gates, error));
    IFM_TRY(preset_of(gates, limit == NULL ? usual_limit : limit, arena, &preset, error));
    if (ifm_config_is_set(config, "gates_preset"))
        return ifm_fail(error, IFM_USAGE, options->gates ? "--gates" : "gates_preset",
                        "write further gates under the key gates of a file, or use `inferometer exec --gates`",
                        "ci chooses its preset itself, by --max-regression");
    IFM_TRY(ifm_config_flag_as(config, NULL, "gates", "max-regression", preset, &known, error));
    if (given->n_names == 0) {
        given->names[given->n_names++] = "old";
        given->names[given->n_names++] = "new";
    }
    return ifm_cli_programs(given, "ci", options->quiet, config, arena, error);
}

static enum ifm_status prepare(struct ifm_options *options, struct ifm_config *config, struct ifm_arena *arena,
                               struct ifm_error *error)
{
    bool resumes = options->resume != NULL;
    IFM_TRY(check_files(&options->ci->files, arena, error));
    if (resumes && (options->positionals->n > 0 || options->ci->max_regression != NULL || options->ci->metric != NULL))
        return ifm_fail(error, IFM_USAGE, "--resume", "give --resume without them",
                        "the run folder says which commands are measured, by what, and the limit");
    return resumes ? IFM_OK : set_up(options, config, arena, error);
}

enum ifm_status ifm_cmd_ci(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_config *config = ifm_story_config();
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_positionals given = {.items = IFM_ARENA_ARRAY(arena, const char *, argc + 1),
                                    .names = IFM_ARENA_ARRAY(arena, const char *, argc + 2)};
    struct ifm_ci ci = {0};
    struct ifm_options options = {.workload = "command", .positionals = &given, .ci = &ci};
    enum ifm_status status = ifm_options_parse(argc, argv, false, config, &options, error);
    if (status == IFM_OK)
        status = prepare(&options, config, arena, error);
    if (status == IFM_OK)
        status = ifm_cli_run(&options, config, error);
    ifm_arena_destroy(arena);
    ifm_config_destroy(config);
    return status;
}
