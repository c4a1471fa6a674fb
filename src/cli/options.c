/* Tokens of the command line -> options, overrides and table flags. */
#include "cli/cli.h"

#include "base/text.h"
#include "cli/specification.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Flags that are not parameters: they never change what is measured. */
struct own_flag {
    const char *name;
    bool takes_value;
};
static const struct own_flag own_flags[] = {
    {"config", true},   {"override", true}, {"out", true},   {"resume", true}, {"format", true},
    {"dry-run", false}, {"quiet", false},   {"help", false}, {"plugin", true},
};
enum { OWN_FLAGS = sizeof own_flags / sizeof *own_flags };

static const struct own_flag *find_own(const char *name)
{
    for (size_t i = 0; i < OWN_FLAGS; i++)
        if (strcmp(own_flags[i].name, name) == 0)
            return &own_flags[i];
    return NULL;
}

static enum ifm_status apply_own(const char *name, const char *value, struct ifm_config *config,
                                 struct ifm_options *options, struct ifm_error *error)
{
    if (strcmp(name, "quiet") == 0)
        options->quiet = true;
    else if (strcmp(name, "format") == 0) {
        if (options->format == IFM_FORMAT_ELASTIC_KV)
            return ifm_fail(error, IFM_USAGE, "--format",
                            "--format json prints all numbers, --json those of the "
                            "specification",
                            "--json has chosen the format already");
        options->has_format = true;
        return ifm_format_parse(
            value,
            config != NULL ? "choose one of table, md, csv, json, jsonl; --kv-format sets the format of the cache"
                           : "choose one of table, md, csv, json, jsonl",
            &options->format, error);
    } else if (strcmp(name, "out") == 0)
        options->out = value;
    /* commands that take plugins have handled them in cli/plugins.c */
    else if (config == NULL || strcmp(name, "plugin") == 0)
        return ifm_fail(error, IFM_USAGE, "", "the run folder says what was measured",
                        "--%s does not belong to this command", name);
    else if (strcmp(name, "dry-run") == 0)
        options->dry_run = true;
    else if (strcmp(name, "resume") == 0)
        options->resume = value;
    else if (strcmp(name, "config") == 0)
        return ifm_config_file(config, value, error);
    else if (strcmp(name, "override") == 0)
        return ifm_config_override(config, value, error);
    return IFM_OK;
}

/* A workload's flag, given where only common flags are accepted: name the command that takes it. */
static bool hint_of_workload(const char *name, const char *workload, char *hint, size_t size)
{
    for (size_t w = 0; ifm_workloads[w] != NULL; w++) {
        const struct ifm_section *section = ifm_workloads[w]->params;
        for (size_t r = 0; r < section->n; r++) {
            const struct ifm_param *row = &section->rows[r];
            if (row->flag == NULL || ifm_nearest(name, &row->flag, 1) == NULL)
                continue;
            const char *form = strcmp(ifm_workloads[w]->name, "command") == 0 ? "exec" : ifm_workloads[w]->name;
            if (workload == NULL)
                snprintf(hint, size, "write --override %s=VALUE, or `inferometer %s --%s VALUE`", row->path, form,
                         row->flag);
            else
                snprintf(hint, size, "--%s belongs to `inferometer %s`", row->flag, form);
            return true;
        }
    }
    return false;
}

static enum ifm_status unknown_flag(const char *name, const struct ifm_config *config, const char *workload,
                                    struct ifm_error *error)
{
    const char *words[OWN_FLAGS + 3];
    size_t n = 0;
    for (; n < OWN_FLAGS; n++)
        words[n] = own_flags[n].name;
    if (workload != NULL && strcmp(workload, "command") == 0)
        words[n++] = "name";
    const char *table = config == NULL ? NULL : ifm_config_nearest_flag(config, workload, name);
    if (table != NULL)
        words[n++] = table;
    const char *alias = ifm_specification_nearest(name, workload);
    if (alias != NULL)
        words[n++] = alias;
    const char *nearest = ifm_nearest(name, words, n);
    char hint[160];
    if (nearest != NULL)
        snprintf(hint, sizeof hint, "did you mean --%s?", nearest);
    else if (config == NULL || !hint_of_workload(name, workload, hint, sizeof hint))
        snprintf(hint, sizeof hint, "`inferometer help` lists the commands, `inferometer help COMMAND` its flags");
    return ifm_fail(error, IFM_USAGE, "", hint, "unknown flag --%s", name);
}

/* One `--name[=value] [value]`; `*used` tells how many arguments it took. */
static enum ifm_status long_flag(char **argv, int left, struct ifm_config *config, struct ifm_options *options,
                                 int *used, struct ifm_error *error)
{
    char name[64];
    const char *token = argv[0] + 2, *equals = strchr(token, '=');
    size_t length = equals == NULL ? strlen(token) : (size_t)(equals - token);
    const char *value = equals == NULL ? NULL : equals + 1;
    if (length == 0 || length >= sizeof name)
        return unknown_flag(token, config, options->workload, error);
    memcpy(name, token, length);
    name[length] = '\0';
    const struct own_flag *own = find_own(name);
    bool takes =
        own != NULL ? own->takes_value : config != NULL && ifm_config_flag_takes_value(config, options->workload, name);
    *used = 1;
    if (own != NULL && !takes && value != NULL)
        return ifm_fail(error, IFM_USAGE, "", "", "--%s takes no value", name);
    if (takes && value == NULL) {
        if (left < 2)
            return ifm_fail(error, IFM_USAGE, "", "", "--%s needs a value", name);
        value = argv[1];
        *used = 2;
    }
    if (options->positionals != NULL && strcmp(name, "name") == 0) {
        if (value == NULL && left < 2)
            return ifm_fail(error, IFM_USAGE, "", "", "--name needs a value");
        *used = value == NULL ? 2 : 1;
        options->positionals->names[options->positionals->n_names++] = value == NULL ? argv[1] : value;
        return IFM_OK;
    }
    bool alias = false;
    if (own == NULL && config != NULL)
        IFM_TRY(ifm_specification_flag(name, value, left < 2 ? NULL : argv[1], config, options, used, &alias, error));
    if (alias) {
        if (options->changes == NULL && strcmp(name, "json") != 0)
            options->changes = argv[0];
        return IFM_OK;
    }
    bool sets = own == NULL || strcmp(name, "config") == 0 || strcmp(name, "override") == 0;
    if (sets && options->changes == NULL)
        options->changes = argv[0];
    if (own != NULL)
        return apply_own(name, value, config, options, error);
    bool known = false;
    if (strcmp(name, "gates") == 0 && options->gates)
        return ifm_fail(error, IFM_USAGE, "", "give a list, such as --gates sop,significant", "--gates is given twice");
    options->gates |= strcmp(name, "gates") == 0;
    if (config != NULL)
        IFM_TRY(ifm_config_flag(config, options->workload, name, value, &known, error));
    return known ? IFM_OK : unknown_flag(name, config, options->workload, error);
}

static enum ifm_status positional(const char *token, bool wants_dir, struct ifm_options *options,
                                  struct ifm_error *error)
{
    if (options->positionals != NULL) {
        options->positionals->items[options->positionals->n++] = token;
        return IFM_OK;
    }
    if (wants_dir && options->dir != NULL)
        return ifm_fail(error, IFM_USAGE, "", "name one run folder at a time", "unexpected argument \"%s\"", token);
    if (!wants_dir)
        return ifm_fail(error, IFM_USAGE, "", "put a value right after its flag", "unexpected argument \"%s\"", token);
    options->dir = token;
    return IFM_OK;
}

enum ifm_status ifm_options_parse(int argc, char **argv, bool wants_dir, struct ifm_config *config,
                                  struct ifm_options *options, struct ifm_error *error)
{
    options->colour = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
    for (int i = 1; i < argc;) {
        int used = 1;
        if (strcmp(argv[i], "-c") == 0 && config != NULL) {
            if (i + 1 >= argc)
                return ifm_fail(error, IFM_USAGE, "", "", "-c needs a file");
            IFM_TRY(ifm_config_file(config, argv[i + 1], error));
            options->changes = options->changes == NULL ? "-c" : options->changes;
            used = 2;
        } else if (strncmp(argv[i], "--", 2) == 0)
            IFM_TRY(long_flag(argv + i, argc - i, config, options, &used, error));
        else if (argv[i][0] == '-' && argv[i][1] != '\0')
            return ifm_fail(error, IFM_USAGE, "",
                            "write flags in their long form (--threads 2); only -c and -h are short", "unknown flag %s",
                            argv[i]);
        else
            IFM_TRY(positional(argv[i], wants_dir, options, error));
        i += used;
    }
    if (config != NULL)
        IFM_TRY(ifm_specification_done(config, options, error));
    if (wants_dir && options->dir == NULL)
        return ifm_fail(error, IFM_USAGE, "", "such as runs/decode-20260101-120000", "%s needs a run folder", argv[0]);
    return IFM_OK;
}
