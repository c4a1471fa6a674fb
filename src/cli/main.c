/* The entry point: find the command, run it, print its error, exit with its status. */
#include "cli/cli.h"

#include "base/log.h"
#include "base/text.h"
#include "run/remote/remote.h"
#include "run/simulate.h"
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `inferometer --quiet decode` */
static enum ifm_status flag_first(const char *flag, int argc, char **argv, struct ifm_error *error)
{
    char hint[160] = "`inferometer help` lists the commands, `inferometer help COMMAND` its flags";
    for (int i = 2; i < argc; i++)
        if (ifm_verb_find(argv[i]) != NULL || ifm_workload_find(argv[i]) != NULL) {
            snprintf(hint, sizeof hint, "put the command first: inferometer %.40s %.40s%s", argv[i], flag,
                     i > 2 ? " ..." : "");
            break;
        }
    return ifm_fail(error, IFM_USAGE, "", hint, "the flag %.60s stands before a command", flag);
}

static enum ifm_status unknown_command(const char *name, int argc, char **argv, struct ifm_error *error)
{
    const char *words[64];
    size_t n = 0;
    for (; ifm_verbs[n].name != NULL; n++)
        words[n] = ifm_verbs[n].name;
    if (name[0] == '-')
        return flag_first(name, argc, argv, error);
    struct ifm_arena *arena = ifm_arena_create();
    const char *ours = ifm_meant(argc, argv, arena);
    ours = ours != NULL ? ours : ifm_nearest(name, words, n);
    ours = ours != NULL ? ours : ifm_meant_programs((const char *const *)argv + 1, argc - 1, arena);
    ifm_fail(error, IFM_USAGE, "", "`inferometer help` lists the commands", "unknown command \"%s\"", name);
    if (ours != NULL)
        ifm_error_hint(error, "did you mean `inferometer %s`?", ours);
    ifm_arena_destroy(arena);
    return IFM_USAGE;
}

/* Whether help is asked for, among the command's own arguments. */
static bool wants_help(const struct ifm_verb *verb, int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        if (verb != NULL && verb->takes_command && strcmp(argv[i], "--") == 0)
            return false;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "-help") == 0)
            return true;
    }
    return argc == 3 && strcmp(argv[2], "help") == 0;
}

/* A word for `version` or `help`, as one types it in the place of a command or behind one; else the word itself. */
static const char *understood(const char *word)
{
    static const char *const words[][2] = {
        {"--version", "version"}, {"--Version", "version"},
        {"-version", "version"},  {"-V", "version"},
        {"-v", "version"},        {"--help", "help"},
        {"-help", "help"},        {"-h", "help"},
        {"-?", "help"},           {"h", "help"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], word) == 0)
            return words[i][1];
    return word;
}

static bool stdout_closed;

/* A command that only prints has nowhere to print to: what it writes fails, and so does it. */
static void refuse_output(void)
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)dup2(fd, STDOUT_FILENO);
        close(fd);
    }
}

static enum ifm_status dispatch(int argc, char **argv, struct ifm_error *error)
{
    const char *name = argc < 2 ? "help" : argv[1];
    if (argc == 2 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = understood(name);
    if (argc == 3 && strcmp(argv[2], "--version") == 0) {
        name = "version";
        argc = 2;
    }
    if (strcmp(name, "worker") == 0) /* hidden: a run starts it, for one arm under measure.isolation=processes */
        return ifm_worker_serve(error);
    if (strcmp(name, "steps") == 0) /* hidden: `cachegrind` starts it under valgrind, for one arm */
        return ifm_steps_serve(argc - 1, argv + 1, error);
    const struct ifm_verb *verb = ifm_verb_find(name), *help = ifm_verb_find("help");
    if (verb == NULL && ifm_workload_find(name) == NULL)
        return unknown_command(name, argc, argv, error);
    if (stdout_closed && ((verb != NULL && verb->prints) || wants_help(verb, argc, argv)))
        refuse_output();
    if (argc < 2)
        return help->main(1, (char *[]){(char *)"help", NULL}, error);
    if (wants_help(verb, argc, argv))
        return help->main(2, (char *[]){(char *)"help", (char *)name, NULL}, error);
    if (verb == NULL) /* a workload of a plugin */
        return ifm_cmd_run(argc - 1, argv + 1, error);
    if (verb->plain != NULL)
        return ifm_plain_run(verb, argc - 1, argv + 1, error);
    return verb->main(argc - 1, argv + 1, error);
}

/* Plugins are loaded first: they add commands and flags. The arguments are copied, because --plugin is removed from
 * them. */
static enum ifm_status start(int argc, char **argv, struct ifm_error *error)
{
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (words == NULL)
        return ifm_fail(error, IFM_INTERNAL, "", "", "out of memory: %d arguments", argc);
    memcpy(words, argv, (size_t)argc * sizeof *words);
    enum ifm_status status = ifm_plugins_take(ifm_verbs, &argc, words, error);
    if (status == IFM_OK)
        status = dispatch(argc, words, error);
    free(words);
    return status;
}

/* A large text is written before the last flush, which then succeeds: what failed earlier is asked for too. */
static bool wrote_all(void)
{
    if (fflush(stdout) != 0)
        perror("error: standard output");
    else if (ferror(stdout))
        fputs("error: standard output: not all of it could be written\n", stderr);
    return !ferror(stdout);
}

/* A standard stream that the caller closed gets the next file that is opened: a warning would land in the record. */
static void open_streams(void)
{
    int fd;
    stdout_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static void on_limit(int number)
{
    (void)number;
}

/* Beyond the limit on a file's size a write fails, as on a full disk, and its caller says so. The signal is not
 * ignored: programs that an arm starts would inherit that. */
static void catch_limit(void)
{
    const struct sigaction action = {.sa_handler = on_limit, .sa_flags = SA_RESTART};
    sigaction(SIGXFSZ, &action, NULL);
}

static bool is_command(const char *word)
{
    return ifm_verb_find(word) != NULL || ifm_workload_find(word) != NULL;
}

int main(int argc, char **argv)
{
    struct ifm_error error = {0};
    open_streams();
    catch_limit();
    setlocale(LC_CTYPE, "C.UTF-8"); /* tables are UTF-8; numbers keep the decimal point */
    ifm_invocation = (struct ifm_invocation){argc, argv, ifm_verb_find};
    ifm_foreign_verbs(ifm_verbs);
    ifm_called_set(argv[0], is_command);
    enum ifm_status status = start(argc, argv, &error);
    /* A rejected measurement is not an error: it has no message, and nothing is printed. */
    if (status != IFM_OK && error.message[0] != '\0')
        ifm_error_print(&error);
    if (status == IFM_OK && !wrote_all())
        status = IFM_INTERNAL;
    ifm_supervise_done(status);
    return (int)status;
}
