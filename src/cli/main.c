/* The entry point: find the command, run it, print its error, exit with its status. */
#include "cli/cli.h"

#include "base/log.h"
#include "base/text.h"
#include "cli/invocation.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ifm_invocation ifm_invocation;

const struct ifm_command ifm_commands[] = {
    {"run", "[-c FILE] [--override PATH=VALUE]... [--out DIR] [--dry-run] [--resume DIR] [FLAGS]",
     "measure a study and judge it", ifm_cmd_run, true},
    {"decode", "[FLAGS]", "measure decode attention over a KV cache against this machine's ceilings", ifm_cmd_run,
     true},
    {"stream", "[FLAGS]", "measure this device's bandwidth, FLOP rate and cache sizes", ifm_cmd_run, true},
    {"null", "[FLAGS]", "measure the lab itself with a step that does nothing", ifm_cmd_run, true},
    {"derive", "DIR", "recompute every number of a run folder from its raw record", ifm_cmd_derive, false},
    {"judge", "DIR", "recompute the verdict of a run folder and exit with it", ifm_cmd_judge, false},
    {"report", "DIR", "write the report of a run folder again", ifm_cmd_report, false},
    {"verify", "DIR", "check every hash and recompute every number of a run folder", ifm_cmd_verify, false},
    {"rerun", "DIR [--out DIR]", "measure again with the exact configuration of a run folder", ifm_cmd_rerun, false},
    {"explain", "[METRIC]", "print a metric's definition, formula and limits", ifm_cmd_explain, false},
    {"doctor", "", "print what this machine can and cannot measure, and what would help", ifm_cmd_doctor, false},
    {"workloads", "", "list what can be measured", ifm_cmd_workloads, false},
    {"help", "[COMMAND]", "print help", ifm_cmd_help, false},
    {"man", "", "print the manual page", ifm_cmd_man, false},
    {"completion", "bash|zsh|fish", "print a shell completion script", ifm_cmd_completion, false},
    {"schema", "", "print the JSON Schema of the configuration", ifm_cmd_schema, false},
    {"version", "", "print the version", ifm_cmd_version, false},
    {NULL, NULL, NULL, NULL, false},
};

static enum ifm_status unknown_command(const char *name, struct ifm_error *error)
{
    const char *words[64];
    size_t n = 0;
    for (; ifm_commands[n].name != NULL; n++)
        words[n] = ifm_commands[n].name;
    const char *nearest = ifm_nearest(name, words, n);
    char hint[128] = "`inferometer help` lists the commands";
    if (nearest != NULL)
        snprintf(hint, sizeof hint, "did you mean `inferometer %s`?", nearest);
    return ifm_fail(error, IFM_USAGE, "", hint, "unknown command \"%s\"", name);
}

static enum ifm_status dispatch(int argc, char **argv, struct ifm_error *error)
{
    const char *name = argc < 2 ? "help" : argv[1];
    if (strcmp(name, "--version") == 0)
        name = "version";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    for (const struct ifm_command *command = ifm_commands; command->name != NULL; command++)
        if (strcmp(command->name, name) == 0)
            return command->main(argc < 2 ? 1 : argc - 1, argc < 2 ? (char *[]){(char *)"help", NULL} : argv + 1,
                                 error);
    return unknown_command(name, error);
}

int main(int argc, char **argv)
{
    struct ifm_error error = {0};
    setlocale(LC_CTYPE, "C.UTF-8"); /* tables are UTF-8; numbers keep their point */
    ifm_invocation = (struct ifm_invocation){argc, argv};
    enum ifm_status status = dispatch(argc, argv, &error);
    /* A rejected measurement is an answer, not an error: only a filled message is printed. */
    if (status != IFM_OK && error.message[0] != '\0')
        ifm_error_print(&error);
    if (fflush(stdout) != 0 && status == IFM_OK) {
        perror("error: standard output");
        status = IFM_INTERNAL;
    }
    return (int)status;
}
