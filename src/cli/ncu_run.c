/* ncu, started around a program or asked for a report, for the commands that read what it counted. */
#include "cli/ncu_run.h"

#include "base/file.h"
#include "base/subprocess.h"
#include "dyn/cuda.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_MOST ((size_t)512 << 20)

/* ---- running ncu ---- */

/* A file of our own, removed by whoever opened it. */
static enum ifm_status temporary(char *path, size_t size, int *fd, struct ifm_error *error)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/inferometer-ncu-XXXXXX", folder == NULL || folder[0] == '\0' ? "/tmp" : folder);
    *fd = mkostemp(path, O_CLOEXEC);
    return *fd >= 0 ? IFM_OK
                    : ifm_fail(error, IFM_INTERNAL, "", "set TMPDIR", "no temporary file: %s", strerror(errno));
}

static enum ifm_status run(char *const *words, int out, int *code, struct ifm_error *error)
{
    const struct ifm_subprocess program = {
        .path = words[0], .argv = words, .stdin_fd = -1, .stdout_fd = out, .stderr_fd = -1, .tree = true};
    struct ifm_subprocess_result result;
    IFM_TRY(ifm_subprocess_prepare(error));
    ifm_subprocess_run(&program, &result);
    *code = result.code;
    if (result.end == IFM_SUBPROCESS_INTERRUPTED)
        return ifm_fail(error, IFM_INTERRUPTED, "ncu", "", "interrupted");
    if (result.end == IFM_SUBPROCESS_NOT_STARTED)
        return ifm_fail(error, IFM_MISSING, words[0], "", "%s", strerror(result.code));
    if (result.end == IFM_SUBPROCESS_SIGNALED)
        return ifm_fail(error, IFM_INVALID, "ncu", "", "it was ended by signal %d", result.code);
    return IFM_OK;
}

/* ---- what was asked ---- */

enum ifm_status ifm_ncu_refuse_choice(const struct ifm_given *given, const char *what, struct ifm_error *error)
{
    static const char *const choices[] = {"kernel", "nvtx", "launch-skip", "launch-count", "replay", "set", "metrics"};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (ifm_given_text(given, choices[i]) != NULL)
            return ifm_fail(error, IFM_USAGE, ifm_arena_printf(given->arena, "--%s", choices[i]), "leave it out",
                            "it says what to count of a program that is started; %s holds what was counted", what);
    return IFM_OK;
}

enum ifm_status ifm_ncu_check(const struct ifm_given *given, const char *example, struct ifm_error *error)
{
    const bool import = ifm_given_text(given, "import") != NULL;
    IFM_TRY(ifm_given_program(given, error));
    if (import && given->command != NULL)
        return ifm_fail(error, IFM_USAGE, "", "give one of them", "--import reads a report, and starts no program");
    if (!import && (given->command == NULL || given->command[0] == NULL))
        return ifm_fail(error, IFM_USAGE, "", example, "there is no program after --");
    return import ? ifm_ncu_refuse_choice(given, "a report", error) : IFM_OK;
}

enum ifm_status ifm_ncu_wish_of(const struct ifm_given *given, struct ifm_ncu_wish *out, struct ifm_error *error)
{
    static const char *const modes[] = {"kernel", "application", "range", "app-range"};
    double number = 0;
    *out = (struct ifm_ncu_wish){.nvtx = ifm_given_text(given, "nvtx"),
                                 .kernel = ifm_given_text(given, "kernel"),
                                 .skip = ifm_given_text(given, "launch-skip"),
                                 .count = ifm_given_text(given, "launch-count"),
                                 .replay = ifm_given_text(given, "replay")};
    IFM_TRY(ifm_given_number(given, "launch-skip", 1e9, true, &number, error));
    IFM_TRY(ifm_given_number(given, "launch-count", 1e9, true, &number, error));
    bool known = out->replay == NULL;
    for (size_t i = 0; !known && i < sizeof modes / sizeof *modes; i++)
        known = strcmp(out->replay, modes[i]) == 0;
    if (!known)
        return ifm_fail(error, IFM_USAGE, "--replay", "kernel, application, range or app-range",
                        "ncu has no replay mode \"%.40s\"", out->replay);
    out->metrics = "";
    return IFM_OK;
}

enum ifm_status ifm_ncu_capability(const struct ifm_given *given, const char **out, struct ifm_error *error)
{
    struct ifm_cuda_card card;
    struct ifm_cuda_absence absence;
    char program[4096];
    IFM_TRY(ifm_subprocess_find(given->command[0], program, sizeof program, error));
    if (!ifm_cuda_first(&card, &absence)) /* without a GPU nothing that could be installed helps */
        return ifm_fail(error, IFM_MISSING, "", absence.remedy, "%s", absence.reason);
    *out = ifm_arena_printf(given->arena, "%u.%u", card.major, card.minor);
    return IFM_OK;
}

/* ---- what it printed ---- */

static enum ifm_status keep_log(const char *path, struct ifm_arena *arena, char **log, size_t *size,
                                struct ifm_error *error)
{
    IFM_TRY(ifm_file_read(path, LOG_MOST, log, size, error));
    ifm_arena_defer(arena, free, *log);
    return IFM_OK;
}

static enum ifm_status run_program(const struct ifm_given *given, const struct ifm_ncu_wish *wish, char **log,
                                   size_t *size, struct ifm_error *error)
{
    char ncu[4096], path[4096];
    int fd, code = 0;
    IFM_TRY(ifm_ncu_find(ncu, sizeof ncu, error));
    IFM_TRY(temporary(path, sizeof path, &fd, error));
    close(fd);
    /* Standard output is the table's: what the program prints goes to standard error. */
    enum ifm_status status =
        run(ifm_ncu_arguments(ncu, wish, path, given->command, given->arena), STDERR_FILENO, &code, error);
    if (status == IFM_OK)
        status = keep_log(path, given->arena, log, size, error);
    unlink(path);
    return status == IFM_OK ? ifm_ncu_judge(*log, code, given->arena, error) : status;
}

static bool is_report(const char *path)
{
    const size_t length = strlen(path);
    return length > 8 && strcmp(path + length - 8, ".ncu-rep") == 0;
}

static enum ifm_status import(const struct ifm_given *given, const char *from, char **log, size_t *size,
                              struct ifm_error *error)
{
    char ncu[4096], path[4096];
    int fd, code = 0;
    if (!is_report(from))
        return keep_log(from, given->arena, log, size, error);
    IFM_TRY(ifm_file_open(from, &fd, NULL, error));
    close(fd);
    IFM_TRY(ifm_ncu_find(ncu, sizeof ncu, error));
    IFM_TRY(temporary(path, sizeof path, &fd, error));
    enum ifm_status status = run(ifm_ncu_import_arguments(ncu, from, given->arena), fd, &code, error);
    close(fd);
    if (status == IFM_OK)
        status = keep_log(path, given->arena, log, size, error);
    unlink(path);
    if (status == IFM_OK && code != 0)
        status = ifm_ncu_judge(*log, code, given->arena, error);
    return status;
}

enum ifm_status ifm_ncu_take(const struct ifm_given *given, const struct ifm_ncu_wish *wish,
                             struct ifm_ncu_report *report, const char **name, struct ifm_error *error)
{
    const char *from = ifm_given_text(given, "import"), *csv = ifm_given_text(given, "csv");
    char *log;
    size_t size;
    *name = ifm_path_base(from != NULL ? from : given->command[0]);
    IFM_TRY(from != NULL ? import(given, from, &log, &size, error) : run_program(given, wish, &log, &size, error));
    IFM_TRY(ifm_ncu_read(log, size, *name, given->arena, report, error));
    const char *table = strstr(log, "\"ID\",");
    return csv == NULL || table == NULL ? IFM_OK : ifm_file_write_named(csv, table, strlen(table), error);
}
