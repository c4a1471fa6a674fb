/* Flags with values and words, for commands that take no parameter table. */
#include "cli/arguments.h"

#include "base/text.h"
#include <stdio.h>
#include <string.h>

enum { MOST_FLAGS = 16, MOST_LISTED = 12 };

static enum ifm_status unknown_flag(const char *name, const struct ifm_flag *flags, size_t n, const char *command,
                                    struct ifm_error *error)
{
    const char *words[MOST_FLAGS];
    for (size_t i = 0; i < n && i < MOST_FLAGS; i++)
        words[i] = flags[i].name;
    const char *nearest = ifm_nearest(name, words, n < MOST_FLAGS ? n : MOST_FLAGS);
    char hint[128];
    if (nearest != NULL)
        snprintf(hint, sizeof hint, "did you mean --%s?", nearest);
    else
        snprintf(hint, sizeof hint, "`inferometer help %s` lists its flags", command);
    return ifm_fail(error, IFM_USAGE, "", hint, "unknown flag --%.40s", name);
}

static const struct ifm_flag *find_flag(const struct ifm_flag *flags, size_t n, const char *name, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(flags[i].name) == length && strncmp(flags[i].name, name, length) == 0)
            return &flags[i];
    return NULL;
}

enum ifm_status ifm_arguments_parse(int argc, char **argv, const struct ifm_flag *flags, size_t n_flags,
                                    const char **words, size_t *n_words, bool *help, struct ifm_error *error)
{
    *n_words = 0;
    *help = false;
    for (int i = 1; i < argc; i++) {
        const char *token = argv[i];
        if (strcmp(token, "-h") == 0 || strcmp(token, "--help") == 0) {
            *help = true;
            continue;
        }
        if (token[0] != '-' || token[1] == '\0') {
            words[(*n_words)++] = token;
            continue;
        }
        if (token[1] != '-')
            return ifm_fail(error, IFM_USAGE, "", "write flags in their long form; only -h is short",
                            "unknown flag %.40s", token);
        size_t length = strcspn(token + 2, "=");
        const struct ifm_flag *flag = find_flag(flags, n_flags, token + 2, length);
        if (flag == NULL)
            return unknown_flag(token + 2, flags, n_flags, argv[0], error);
        if (*flag->value != NULL)
            return ifm_fail(error, IFM_USAGE, "", "give it once", "--%s is given twice", flag->name);
        bool attached = token[2 + length] == '=';
        if (!attached && i + 1 >= argc)
            return ifm_fail(error, IFM_USAGE, "", "", "--%s needs a value", flag->name);
        *flag->value = attached ? token + 2 + length + 1 : argv[++i];
    }
    return IFM_OK;
}

enum ifm_status ifm_arguments_format(const char *text, enum ifm_format *out, struct ifm_error *error)
{
    static const char *const names[] = {"table", "md", "csv", "json", "jsonl"};
    *out = IFM_FORMAT_TABLE;
    for (size_t i = 0; text != NULL && i < 5; i++)
        if (strcmp(names[i], text) == 0) {
            *out = (enum ifm_format)i;
            return IFM_OK;
        }
    return text == NULL ? IFM_OK
                        : ifm_fail(error, IFM_USAGE, "--format", "choose one of table, md, csv, json, jsonl",
                                   "unknown format \"%s\"", text);
}

enum ifm_status ifm_arguments_unknown(const char *what, const char *name, const char *const *known, size_t n,
                                      struct ifm_error *error)
{
    const char *nearest = ifm_nearest(name, known, n);
    struct ifm_text hint = {0};
    char shown[72];
    if (nearest != NULL)
        ifm_text_printf(&hint, "did you mean \"%s\"?", nearest);
    for (size_t i = 0; nearest == NULL && i < n && i < MOST_LISTED; i++)
        ifm_text_printf(&hint, "%s%s", i == 0 ? "it has: " : ", ", known[i]);
    if (nearest == NULL && n > MOST_LISTED)
        ifm_text_printf(&hint, " and %zu more", n - MOST_LISTED);
    enum ifm_status status = ifm_fail(error, IFM_USAGE, "", hint.data, "the run has no %s called \"%s\"", what,
                                      ifm_param_shown(name, shown));
    ifm_text_free(&hint);
    return status;
}
