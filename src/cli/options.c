/* Tokens of the command line -> options, overrides and table flags; and the specification's names of flags, which
 * `inferometer decode` takes as aliases of ours: each is passed on under our name, and an error names it as written. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "sample/signature.h"
#include "story/folder.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ifm_invocation ifm_invocation;

/* Flags that are not parameters: they never change what is measured. */
struct own_flag {
    const char *name;
    const char *value; /* an example of what it takes; NULL: it takes nothing */
};
static const struct own_flag own_flags[] = {
    {"config", "study.yaml"},
    {"override", "seed=7"},
    {"out", "runs/mine"},
    {"resume", "runs/decode-20260101-120000"},
    {"format", "csv"},
    {"name", "old"},
    {"dry-run", NULL},
    {"quiet", NULL},
    {"help", NULL},
    {"plugin", "./mine.so"},
    {"times", "5"},
    {"epsilon", "5%"},
    {"wait-quiet", "10min"},
    {"verbose", NULL},
    {"max-regression", "3%"},
    {"metric", "cpu"},
    {"junit", "junit.xml"},
    {"markdown", "summary.md"},
    {"publish-commands", NULL},
    {"sign", "key.pem"},
    {"signer", "public.pem"},
};
enum { OWN_FLAGS = sizeof own_flags / sizeof *own_flags };

static bool is_of_again(const char *name)
{
    return strcmp(name, "times") == 0 || strcmp(name, "epsilon") == 0;
}

/* Where `ci` keeps the value of its own flag; NULL: it is none. */
static const char **of_ci(const char *name, struct ifm_ci *ci)
{
    return strcmp(name, "max-regression") == 0 ? &ci->max_regression
           : strcmp(name, "metric") == 0       ? &ci->metric
           : strcmp(name, "junit") == 0        ? &ci->files.junit
           : strcmp(name, "markdown") == 0     ? &ci->files.markdown
                                               : NULL;
}

/* Only commands on programs take names, only `rerun` sessions, and only `ci` its limit and files; what writes a folder
 * signs it, and `verify` asks who did. */
static bool is_known(const struct own_flag *flag, const struct ifm_options *options)
{
    struct ifm_ci none;
    if (of_ci(flag->name, &none) != NULL)
        return options->ci != NULL;
    if (is_of_again(flag->name))
        return options->again != NULL;
    if (strcmp(flag->name, "sign") == 0)
        return options->config != NULL || options->again != NULL || strcmp(options->verb, "derive") == 0;
    if (strcmp(flag->name, "signer") == 0)
        return strcmp(options->verb, "verify") == 0;
    bool of_programs = strcmp(flag->name, "name") == 0 || strcmp(flag->name, "publish-commands") == 0;
    return options->positionals != NULL || !of_programs;
}

static const struct own_flag *find_own(const char *name, const struct ifm_options *options)
{
    for (size_t i = 0; i < OWN_FLAGS; i++)
        if (strcmp(own_flags[i].name, name) == 0 && is_known(&own_flags[i], options))
            return &own_flags[i];
    return NULL;
}

static enum ifm_status choose_format(const char *name, struct ifm_options *options, struct ifm_error *error)
{
    static const char formats[] = "choose one of table, md, csv, json, jsonl";
    static const char own[] = "choose one of table, md, csv, json, jsonl; --formats sets those of the cache";
    if (options->format == IFM_FORMAT_ELASTIC_KV)
        return ifm_fail(error, IFM_USAGE, "--format",
                        "--format json prints all numbers, --json those of the specification",
                        "--json has chosen the format already");
    options->has_format = true;
    const enum ifm_status status =
        ifm_format_parse(name, options->config != NULL ? own : formats, &options->format, error);
    if (status != IFM_OK && options->config != NULL &&
        ifm_config_flag_joined(options->config, options->workload, "formats", &name, 1) != NULL)
        ifm_error_hint(error, "did you mean --formats %s?", name);
    return status;
}

static enum ifm_status wait_quiet(const char *value, struct ifm_options *options, struct ifm_error *error)
{
    if (ifm_parse_seconds(value, &options->wait_quiet_s) && options->wait_quiet_s > 0 && options->wait_quiet_s <= 86400)
        return IFM_OK;
    struct ifm_arena *arena = ifm_arena_create();
    const char *meant = ifm_param_duration_meant(value, arena);
    enum ifm_status status = ifm_fail(error, IFM_USAGE, "--wait-quiet",
                                      meant != NULL ? ifm_arena_printf(arena, "did you mean %s?", meant)
                                                    : "give a time of at most a day, such as 60s or 10min",
                                      "'%s' is no time to wait for a quiet machine", value);
    ifm_arena_destroy(arena);
    return status;
}

static enum ifm_status take_ci(const char *name, const char *value, struct ifm_ci *ci, struct ifm_error *error)
{
    const char **place = of_ci(name, ci);
    if (*place != NULL)
        return ifm_fail(error, IFM_USAGE, "", "give it once", "--%s is given twice", name);
    *place = value;
    return IFM_OK;
}

/* Of a run that is repeated as it was. */
static enum ifm_status no_dry_run(const struct ifm_options *options, struct ifm_error *error)
{
    const enum ifm_status status = ifm_fail(error, IFM_USAGE, "--dry-run", "", "rerun has no dry run");
    ifm_error_hint(error,
                   "`inferometer run -c %.100s/config.lock.json --dry-run` shows what it would run, and how long",
                   options->dir != NULL ? options->dir : "DIR");
    return status;
}

static enum ifm_status apply_own(const char *name, char *value, struct ifm_options *options, struct ifm_error *error)
{
    if (options->ci != NULL && of_ci(name, options->ci) != NULL)
        return take_ci(name, value, options->ci, error);
    if (strcmp(name, "quiet") == 0)
        options->quiet = true;
    else if (strcmp(name, "verbose") == 0)
        options->verbose = true;
    else if (strcmp(name, "format") == 0)
        return choose_format(value, options, error);
    else if (strcmp(name, "wait-quiet") == 0)
        return wait_quiet(value, options, error);
    else if (strcmp(name, "out") == 0)
        options->out = ifm_path_tidy(value);
    else if (is_of_again(name))
        return ifm_again_take(name, value, options->again, error);
    else if (strcmp(name, "sign") == 0)
        return ifm_signature_can(options->key = value, error);
    else if (strcmp(name, "signer") == 0)
        options->key = value;
    else if (strcmp(name, "publish-commands") == 0)
        options->positionals->publish = true;
    else if (strcmp(name, "name") == 0)
        options->positionals->names[options->positionals->n_names++] = value;
    /* commands that take plugins have handled them in cli/plugins.c */
    else if (options->again != NULL && strcmp(name, "dry-run") == 0)
        return no_dry_run(options, error);
    else if (options->config == NULL || strcmp(name, "plugin") == 0)
        return ifm_fail(error, IFM_USAGE, "", "the run folder says what was measured",
                        "--%s does not belong to this command", name);
    else if (strcmp(name, "dry-run") == 0)
        options->dry_run = true;
    else if (strcmp(name, "resume") == 0)
        options->resume = ifm_path_tidy(value);
    else if (strcmp(name, "config") == 0)
        return ifm_config_file(options->config, value, error);
    else if (strcmp(name, "override") == 0)
        return ifm_config_override(options->config, value, error);
    return IFM_OK;
}

/* ---- the specification's names ---- */

const struct ifm_option ifm_specification_options[IFM_SPECIFICATION_OPTIONS] = {
    {"seq", '\0', "N", NULL, "as --kv-len (a name of the specification, like those below)"},
    {"heads", '\0', "N", NULL, "as --q-heads and --kv-heads"},
    {"dim", '\0', "N", NULL, "as --head-dim"},
    {"reps", '\0', "N", NULL, "as --repeats"},
    {"inner_loops", '\0', "N", NULL, "as --inner"},
    {"decode_tokens", '\0', "N", NULL, "as --decode-tokens"},
    {"paired-baseline", '\0', NULL, NULL, "no effect: the f16 baseline is measured in every block"},
    {"no-graphs", '\0', NULL, NULL, "no effect on a CPU"},
    {"json", '\0', NULL, NULL,
     "print the specification's JSON; with --inference both single passes and the cycle are measured"},
};
/* The flags of ours that each of them sets; none: it asks for what is always done. */
static const char *const ours[IFM_SPECIFICATION_OPTIONS][2] = {
    {"kv-len"}, {"q-heads", "kv-heads"}, {"head-dim"}, {"repeats"}, {"inner"}, {"decode-tokens"}};

static bool takes_aliases(const struct ifm_options *options)
{
    return options->config != NULL && options->workload != NULL && strcmp(options->workload, "decode") == 0;
}

/* The index of an alias that this command takes; IFM_SPECIFICATION_OPTIONS: it is none. --no-graphs is a flag of ours
 * by the same name. */
static size_t find_alias(const char *name, const struct ifm_options *options)
{
    size_t i = takes_aliases(options) && strcmp(name, "no-graphs") != 0 ? 0 : IFM_SPECIFICATION_OPTIONS;
    while (i < IFM_SPECIFICATION_OPTIONS && strcmp(ifm_specification_options[i].flag, name) != 0)
        i++;
    return i;
}

static enum ifm_status apply_alias(size_t alias, const char *value, struct ifm_options *options,
                                   struct ifm_error *error)
{
    const char *name = ifm_specification_options[alias].flag;
    bool known;
    if (strcmp(name, "json") == 0) {
        if (options->has_format)
            return ifm_fail(error, IFM_USAGE, "--json",
                            "--format json prints all numbers, --json those of the specification",
                            "--format has chosen the format already");
        options->format = IFM_FORMAT_ELASTIC_KV;
    }
    for (size_t i = 0; i < 2 && ours[alias][i] != NULL; i++)
        IFM_TRY(ifm_config_flag_as(options->config, options->workload, ours[alias][i], name, value, &known, error));
    return IFM_OK;
}

/* After all arguments: with --json, an inference cycle is measured in addition to single passes. */
static enum ifm_status add_single_passes(const struct ifm_options *options, struct ifm_error *error)
{
    bool known;
    if (options->format != IFM_FORMAT_ELASTIC_KV || options->resume != NULL ||
        !ifm_config_is_true(options->config, "decode.inference"))
        return IFM_OK;
    return ifm_config_flag(options->config, options->workload, "inference", "false,true", &known, error);
}

/* ---- flags ---- */

/* A flag of the command, its own or of the tables. */
static bool takes_flag(const char *flag, const void *command)
{
    const struct ifm_options *options = command;
    const char *plain = strncmp(flag, "no-", 3) == 0 ? flag + 3 : flag;
    const char *nearest =
        options->config == NULL ? NULL : ifm_config_nearest_flag(options->config, options->workload, plain);
    return find_own(flag, options) != NULL || (nearest != NULL && strcmp(nearest, plain) == 0);
}

static bool is_of_every_run(const char *name)
{
    const struct ifm_section *const sections[] = {&ifm_section_general, &ifm_section_device, &ifm_section_measure};
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++)
        for (size_t r = 0; r < sections[s]->n; r++)
            if (sections[s]->rows[r].flag != NULL && strcmp(sections[s]->rows[r].flag, name) == 0)
                return true;
    return false;
}

/* The hint of the error becomes the command line that was meant. */
static enum ifm_status meant(enum ifm_status status, const struct ifm_options *options, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    ifm_error_hint(error, "%s", ifm_quoted_hint(options, arena));
    ifm_arena_destroy(arena);
    return status;
}

static enum ifm_status unknown_flag(const char *name, const struct ifm_options *options, struct ifm_error *error)
{
    const char *words[OWN_FLAGS + 1 + IFM_SPECIFICATION_OPTIONS];
    const struct ifm_config *config = options->config;
    size_t n = 0;
    for (size_t i = 0; i < OWN_FLAGS; i++)
        if (is_known(&own_flags[i], options))
            words[n++] = own_flags[i].name;
    const char *table = config == NULL ? NULL : ifm_config_nearest_flag(config, options->workload, name);
    if (table != NULL)
        words[n++] = table;
    for (size_t i = 0; i < IFM_SPECIFICATION_OPTIONS && takes_aliases(options); i++)
        words[n++] = ifm_specification_options[i].flag;
    const char *nearest = ifm_nearest(name, words, n);
    char hint[256];
    if (ifm_foreign_flag(name, takes_flag, options, hint, sizeof hint))
        return ifm_fail(error, IFM_USAGE, "", hint, "unknown flag --%s", name);
    const bool others = config != NULL && ifm_is_workload_flag(name);
    if (options->again != NULL && (ifm_is_workload_flag(name) || is_of_every_run(name))) {
        snprintf(hint, sizeof hint,
                 "rerun changes nothing; `inferometer run -c %.100s/config.lock.json --%.60s VALUE` does",
                 options->dir != NULL ? options->dir : "DIR", name);
        return ifm_fail(error, IFM_USAGE, "", hint, "unknown flag --%s", name);
    }
    if (nearest != NULL && !others)
        snprintf(hint, sizeof hint, "did you mean --%s?", nearest);
    else if (ifm_is_unquoted(options))
        return meant(ifm_fail(error, IFM_USAGE, "", "", "unknown flag --%s", name), options, error);
    else if ((others || !ifm_flag_elsewhere(name, hint, sizeof hint)) &&
             (config == NULL || !ifm_workload_flag_hint(name, options->workload, hint, sizeof hint)))
        snprintf(hint, sizeof hint, "`inferometer help` lists the commands, `inferometer help COMMAND` its flags");
    return ifm_fail(error, IFM_USAGE, "", hint, "unknown flag --%s", name);
}

/* `exec prog -n 10` may be `prog -n 10`, or ten runs as other tools take them. */
static bool counts_runs(const char *token, const char *value)
{
    return (strcmp(token, "-n") == 0 || strcmp(token, "-r") == 0) && value != NULL && value[0] != '\0' &&
           value[strspn(value, "0123456789")] == '\0';
}

/* argv[0] is the flag. */
static enum ifm_status unknown_short(char **argv, int left, const struct ifm_options *options, struct ifm_error *error)
{
    const char *token = argv[0];
    char hint[256] = "write flags in their long form (--threads 2); only -c and -h are short";
    if (ifm_is_unquoted(options)) {
        const enum ifm_status status =
            meant(ifm_fail(error, IFM_USAGE, "", "", "unknown flag %s", token), options, error);
        if (left == 2 && counts_runs(token, argv[1])) {
            struct ifm_text quoted = {0};
            ifm_text_add(&quoted, error->hint);
            ifm_error_hint(error, "for %.12s runs of each: --repeats %.12s; or %s", argv[1], argv[1], quoted.data);
            ifm_text_free(&quoted);
        }
        return status;
    }
    if (left == 2 && options->positionals != NULL && counts_runs(token, argv[1]))
        snprintf(hint, sizeof hint, "for %.12s runs of each: --repeats %.12s", argv[1], argv[1]);
    else if (token[2] == '\0')
        (void)ifm_foreign_flag(token + 1, takes_flag, options, hint, sizeof hint);
    return ifm_fail(error, IFM_USAGE, "", hint, "unknown flag %s", token);
}

/* Whoever asks for formats as ratios gets the flag that takes them. */
static enum ifm_status set_flag(const struct ifm_options *options, const char *name, const char *value, bool *known,
                                struct ifm_error *error)
{
    enum ifm_status status = ifm_config_flag(options->config, options->workload, name, value, known, error);
    if (status != IFM_USAGE || value == NULL || strcmp(name, "compress") != 0 || isdigit((unsigned char)value[0]))
        return status;
    ifm_error_hint(error, "formats are chosen by name: --formats f16,%s",
                   strncmp(value, "f16,", 4) == 0 ? value + 4 : value);
    return status;
}

static enum ifm_status table_flag(const char *name, const char *value, struct ifm_options *options,
                                  struct ifm_error *error)
{
    bool known = false;
    if (strcmp(name, "gates") == 0 && options->gates)
        return ifm_fail(error, IFM_USAGE, "", "give a list, such as --gates sop,significant", "--gates is given twice");
    options->gates |= strcmp(name, "gates") == 0;
    if (options->config != NULL)
        IFM_TRY(set_flag(options, name, value, &known, error));
    return known ? IFM_OK : unknown_flag(name, options, error);
}

/* What the flag is, and whether it takes a value. */
struct typed_flag {
    const struct own_flag *own; /* NULL: it is none of these */
    size_t alias;               /* IFM_SPECIFICATION_OPTIONS: it is none */
    bool takes;
};

static struct typed_flag flag_called(const char *name, const struct ifm_options *options)
{
    struct typed_flag flag = {.own = find_own(name, options), .alias = IFM_SPECIFICATION_OPTIONS};
    if (flag.own != NULL) {
        flag.takes = flag.own->value != NULL;
        return flag;
    }
    flag.alias = find_alias(name, options);
    flag.takes = flag.alias < IFM_SPECIFICATION_OPTIONS
                     ? ours[flag.alias][0] != NULL
                     : options->config != NULL && ifm_config_flag_takes_value(options->config, options->workload, name);
    return flag;
}

static bool takes_token(const struct ifm_options *options, const char *token, int *words)
{
    char name[64];
    const size_t length = strcspn(token + 2, "=");
    if (length == 0 || length >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)length, token + 2);
    *words = 1 + (token[2 + length] != '=' && flag_called(name, options).takes);
    return takes_flag(name, options);
}

/* `--kv-len` at the end, or before another flag: a flag of the tables says what it takes. */
static enum ifm_status without_value(const char *name, const struct typed_flag *flag, struct ifm_options *options,
                                     struct ifm_error *error)
{
    char where[72], hint[128];
    if (flag->own == NULL && flag->alias == IFM_SPECIFICATION_OPTIONS)
        return table_flag(name, NULL, options, error);
    snprintf(where, sizeof where, "--%.64s", name);
    if (flag->own != NULL)
        snprintf(hint, sizeof hint, "such as %s %.40s", where, flag->own->value);
    else
        snprintf(hint, sizeof hint, "write %s N: %s", where, ifm_specification_options[flag->alias].help);
    return ifm_fail(error, IFM_USAGE, where, hint, "it needs a value");
}

/* One `--name[=value] [value]`; `*used` tells how many arguments it took. */
static enum ifm_status long_flag(char **argv, int left, struct ifm_options *options, int *used, struct ifm_error *error)
{
    char name[64];
    char *token = argv[0] + 2;
    size_t length = strcspn(token, "=");
    char *value = token[length] == '=' ? token + length + 1 : NULL;
    if (length == 0 && options->positionals != NULL)
        return meant(ifm_fail(error, IFM_USAGE, "", "", "%s takes no --: each of its arguments is a whole command",
                              options->verb),
                     options, error);
    if (length == 0 || length >= sizeof name)
        return unknown_flag(token, options, error);
    memcpy(name, token, length);
    name[length] = '\0';
    const struct typed_flag flag = flag_called(name, options);
    const struct own_flag *own = flag.own;
    const bool is_alias = flag.alias < IFM_SPECIFICATION_OPTIONS, takes = flag.takes;
    if ((own != NULL || is_alias) && !takes && value != NULL)
        return ifm_fail(error, IFM_USAGE, "", "", "--%s takes no value", name);
    if (takes && value == NULL) {
        int words;
        if (left < 2 || (strncmp(argv[1], "--", 2) == 0 && takes_token(options, argv[1], &words)))
            return without_value(name, &flag, options, error);
        value = argv[1];
        *used = 2;
    }
    bool sets = own == NULL ? strcmp(name, "json") != 0 || !is_alias
                            : strcmp(name, "config") == 0 || strcmp(name, "override") == 0 ||
                                  strcmp(name, "publish-commands") == 0;
    if (sets && options->changes == NULL)
        options->changes = argv[0];
    if (own != NULL)
        return apply_own(name, value, options, error);
    if (is_alias)
        return apply_alias(flag.alias, value, options, error);
    const enum ifm_status status = table_flag(name, value, options, error);
    const char *joined =
        status == IFM_OK || *used != 2 || left < 3 || options->config == NULL
            ? NULL
            : ifm_config_flag_joined(options->config, options->workload, name, (const char *const *)argv + 1, 2);
    if (joined != NULL) /* --kv-len 8 192 */
        ifm_error_hint(error, IFM_JOINED, argv[0], joined);
    return status;
}

static bool is_switch_value(const char *token)
{
    static const char *const words[] = {"yes", "no", "on", "off", "true", "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], token) == 0)
            return true;
    return false;
}

/* `run sleep 1`: the words from `token` on, where they are programs. */
static void hint_of_programs(const char *token, char *hint, size_t size)
{
    struct ifm_arena *arena = ifm_arena_create();
    const char **words = IFM_ARENA_ARRAY(arena, const char *, ifm_invocation.argc + 1);
    int n = 0;
    for (int i = 1; i < ifm_invocation.argc; i++)
        if (n > 0 || ifm_invocation.argv[i] == token)
            words[n++] = ifm_invocation.argv[i];
    const char *meant = n == 0 ? NULL : ifm_meant_programs(words, n, arena);
    if (meant != NULL)
        snprintf(hint, size, "did you mean `inferometer %s`?", meant);
    ifm_arena_destroy(arena);
}

/* `run study.yaml`, `run decode`, `run sleep 1`, `decode 4096` */
static enum ifm_status unexpected(const char *token, const struct ifm_options *options, struct ifm_error *error)
{
    const char *dot = strrchr(token, '.');
    const bool file =
        dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
    const char *equals = strchr(token, '=');
    char hint[256] = "put a value right after its flag";
    struct ifm_error unused;
    if (file)
        snprintf(hint, sizeof hint, "a configuration is given with -c: inferometer %s -c %.60s", options->verb, token);
    else if (equals != NULL && equals > token) {
        const bool whole = options->workload == NULL || memchr(token, '.', (size_t)(equals - token)) != NULL;
        snprintf(hint, sizeof hint, "write it as a flag, or inferometer %s --override %s%s%.80s", options->verb,
                 whole ? "" : options->workload, whole ? "" : ".", token);
    } else if (is_switch_value(token))
        snprintf(hint, sizeof hint, "a switch stands alone; --no- in front of its name turns it off");
    else if (strcmp(token, "help") == 0)
        snprintf(hint, sizeof hint, "write `inferometer help %s`", options->verb);
    else if (ifm_folder_is_run(token, &unused) == IFM_OK)
        snprintf(hint, sizeof hint, "it is a run folder: `inferometer rerun %.80s` measures the same again", token);
    else if (ifm_workload_find(token) != NULL)
        snprintf(hint, sizeof hint, "did you mean `inferometer %.40s`?", token);
    else if (!ifm_hint_of_joined(ifm_invocation.argc, ifm_invocation.argv, token, options, hint, sizeof hint) &&
             strcmp(options->verb, "run") == 0)
        hint_of_programs(token, hint, sizeof hint);
    return ifm_fail(error, IFM_USAGE, "", hint, "unexpected argument \"%s\"", token);
}

/* argv[0] is -c. The file has an error of its own; one that is not named like a configuration may be for the program in
 * front of it: `exec gzip -c FILE`, `exec python3 -c 'print(1)'`. */
static enum ifm_status refused_file(enum ifm_status status, char **argv, const struct ifm_options *options,
                                    struct ifm_error *error)
{
    struct ifm_error unused;
    if (ifm_folder_is_run(argv[1], &unused) == IFM_OK)
        ifm_error_hint(error, "it is a run folder: `inferometer rerun %.80s` measures the same again", argv[1]);
    if (!ifm_is_unquoted(options) || ifm_is_our_config(argv[0], argv[1]))
        return status;
    if (access(argv[1], F_OK) != 0)
        return meant(ifm_fail(error, status, "", "", "-c %.60s: no configuration of inferometer", argv[1]), options,
                     error);
    struct ifm_text both = {0};
    ifm_text_printf(&both, "%s%s", error->hint, error->hint[0] != '\0' ? "; or " : "");
    (void)!meant(status, options, error);
    ifm_text_add(&both, error->hint);
    ifm_error_hint(error, "%s", both.data);
    ifm_text_free(&both);
    return status;
}

static enum ifm_status positional(char *token, bool wants_dir, struct ifm_options *options, struct ifm_error *error)
{
    if (options->positionals != NULL) {
        options->positionals->items[options->positionals->n++] = token;
        return IFM_OK;
    }
    if (wants_dir && options->dir != NULL) {
        char hint[256] = "name one run folder at a time"; /* `rerun --wait-quiet 10 min DIR`, or behind it */
        bool first = ifm_hint_of_joined(ifm_invocation.argc, ifm_invocation.argv, options->dir, options, hint, 256);
        if (!first)
            (void)ifm_hint_of_joined(ifm_invocation.argc, ifm_invocation.argv, token, options, hint, 256);
        return ifm_fail(error, IFM_USAGE, "", hint, "unexpected argument \"%s\"", first ? options->dir : token);
    }
    if (!wants_dir)
        return unexpected(token, options, error);
    options->dir = ifm_path_tidy(token);
    return IFM_OK;
}

enum ifm_status ifm_options_parse(int argc, char **argv, bool wants_dir, struct ifm_config *config,
                                  struct ifm_options *options, struct ifm_error *error)
{
    options->config = config;
    options->verb = argv[0];
    if (options->positionals != NULL) {
        options->positionals->options = options;
        options->positionals->argc = argc;
        options->positionals->argv = argv;
        options->positionals->takes = takes_token;
    }
    options->colour = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
    for (int i = 1; i < argc;) {
        int used = 1;
        if (strcmp(argv[i], "-c") == 0 && config != NULL) {
            if (i + 1 >= argc)
                return ifm_fail(error, IFM_USAGE, "-c", "such as -c study.yaml", "it needs a file");
            const enum ifm_status status = ifm_config_file(config, argv[i + 1], error);
            if (status != IFM_OK)
                return refused_file(status, argv + i, options, error);
            options->changes = options->changes == NULL ? "-c" : options->changes;
            used = 2;
        } else if (strncmp(argv[i], "--", 2) == 0)
            IFM_TRY(long_flag(argv + i, argc - i, options, &used, error));
        else if (argv[i][0] == '-' && argv[i][1] != '\0')
            return unknown_short(argv + i, argc - i, options, error);
        else
            IFM_TRY(positional(argv[i], wants_dir, options, error));
        i += used;
    }
    if (config != NULL)
        IFM_TRY(add_single_passes(options, error));
    if (wants_dir && options->dir == NULL) {
        ifm_fail(error, IFM_USAGE, "", "", "%s needs a run folder", argv[0]);
        return ifm_folder_hint(NULL, error);
    }
    return IFM_OK;
}
