/* Flags under the names of the specification, for `inferometer decode` alone. */
#include "cli/specification.h"

#include "base/log.h"
#include "base/text.h"
#include <string.h>

/* The flags of ours that it sets; none: it asks for what is always done. */
struct alias {
    const char *name;
    const char *flags[2];
    const char *note; /* printed when the flag is given */
};
static const struct alias aliases[] = {
    {"seq", {"kv-len"}, NULL},
    {"heads", {"q-heads", "kv-heads"}, NULL},
    {"dim", {"head-dim"}, NULL},
    {"reps", {"repeats"}, NULL},
    {"inner_loops", {"inner"}, NULL},
    {"decode_tokens", {"decode-tokens"}, NULL},
    {"paired-baseline", {NULL}, NULL},
    {"no-graphs", {NULL}, "--no-graphs has no effect: there are no CUDA graphs on this device"},
    {"json", {NULL}, NULL},
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

const struct ifm_option ifm_specification_options[] = {
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
const size_t ifm_specification_n_options = sizeof ifm_specification_options / sizeof *ifm_specification_options;

static bool is_command(const char *workload)
{
    return workload != NULL && strcmp(workload, "decode") == 0;
}

static enum ifm_status set_flags(const struct alias *alias, const char *value, struct ifm_config *config,
                                 const struct ifm_options *options, struct ifm_error *error)
{
    bool known;
    for (size_t i = 0; i < 2 && alias->flags[i] != NULL; i++)
        IFM_TRY(ifm_config_flag_as(config, options->workload, alias->flags[i], alias->name, value, &known, error));
    return IFM_OK;
}

static enum ifm_status choose_json(struct ifm_options *options, struct ifm_error *error)
{
    if (options->has_format)
        return ifm_fail(error, IFM_USAGE, "--json",
                        "--format json prints all numbers, --json those of the specification",
                        "--format has chosen the format already");
    options->format = IFM_FORMAT_ELASTIC_KV;
    return IFM_OK;
}

enum ifm_status ifm_specification_flag(const char *name, const char *value, const char *next, struct ifm_config *config,
                                       struct ifm_options *options, int *used, bool *alias, struct ifm_error *error)
{
    size_t i = 0;
    while (i < ALIASES && strcmp(aliases[i].name, name) != 0)
        i++;
    *alias = i < ALIASES && is_command(options->workload);
    if (!*alias)
        return IFM_OK;
    const struct alias *found = &aliases[i];
    if (found->flags[0] == NULL && value != NULL)
        return ifm_fail(error, IFM_USAGE, "", "", "--%s takes no value", name);
    if (found->flags[0] != NULL && value == NULL && next == NULL)
        return ifm_fail(error, IFM_USAGE, "", "", "--%s needs a value", name);
    if (found->note != NULL)
        ifm_note("%s", found->note);
    if (strcmp(name, "json") == 0)
        return choose_json(options, error);
    *used = found->flags[0] != NULL && value == NULL ? 2 : 1;
    return set_flags(found, value == NULL ? next : value, config, options, error);
}

const char *ifm_specification_nearest(const char *name, const char *workload)
{
    const char *words[ALIASES];
    for (size_t i = 0; i < ALIASES; i++)
        words[i] = aliases[i].name;
    return is_command(workload) ? ifm_nearest(name, words, ALIASES) : NULL;
}

enum ifm_status ifm_specification_done(struct ifm_config *config, const struct ifm_options *options,
                                       struct ifm_error *error)
{
    bool known;
    if (options->format != IFM_FORMAT_ELASTIC_KV || options->resume != NULL ||
        !ifm_config_is_true(config, "decode.inference"))
        return IFM_OK;
    return ifm_config_flag(config, options->workload, "inference", "false,true", &known, error);
}
