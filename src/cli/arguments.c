/* Flags and words of commands that take no parameters, and what commands print alike. */
#include "cli/cli.h"
#include "workload/workload.h"

#include "base/file.h"
#include "base/text.h"
#include "story/folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MOST_FLAGS = 16, MOST_LISTED = 12 };

const char *const ifm_format_names[IFM_FORMATS] = {"table", "md", "csv", "json", "jsonl"};

enum ifm_status ifm_format_parse(const char *text, const char *hint, enum ifm_format *out, struct ifm_error *error)
{
    for (size_t i = 0; i < IFM_FORMATS; i++)
        if (strcmp(ifm_format_names[i], text) == 0) {
            *out = (enum ifm_format)i;
            return IFM_OK;
        }
    const bool page = strcmp(text, "html") == 0 || strcmp(text, "pdf") == 0;
    return ifm_fail(error, IFM_USAGE, "--format",
                    page ? "every run folder has its report.html, which a browser prints; else choose one of table, "
                           "md, csv, json, jsonl"
                         : hint,
                    "unknown format \"%s\"", text);
}

static bool takes_flag(const char *flag, const void *command)
{
    return ifm_verb_takes(command, flag);
}

static enum ifm_status unknown_flag(const char *name, const struct ifm_verb *verb, struct ifm_error *error)
{
    if (name[0] == '\0')
        return ifm_fail(error, IFM_USAGE, "--", "`inferometer exec 'COMMAND'` measures a program",
                        "%s starts no program", verb->name);
    const char *words[MOST_FLAGS];
    size_t n = 0;
    for (size_t i = 0; i < verb->n_options && n < MOST_FLAGS; i++)
        if (strcmp(verb->options[i].flag, "help") != 0) /* is near to much, and never meant */
            words[n++] = verb->options[i].flag;
    const char *nearest = ifm_nearest(name, words, n);
    char hint[128];
    const char *instead = ifm_foreign_instead(verb->name, name);
    if (instead != NULL)
        return ifm_fail(error, IFM_USAGE, "", instead, "unknown flag --%.40s", name);
    if (ifm_foreign_flag(name, takes_flag, verb, hint, sizeof hint))
        return ifm_fail(error, IFM_USAGE, "", hint, "unknown flag --%.40s", name);
    if (nearest != NULL)
        snprintf(hint, sizeof hint, "did you mean --%s?", nearest);
    else if (!ifm_flag_elsewhere(name, hint, sizeof hint))
        snprintf(hint, sizeof hint, "`inferometer help %s` lists its flags", verb->name);
    return ifm_fail(error, IFM_USAGE, "", hint, "unknown flag --%.40s", name);
}

/* "--out", or "--out=x", of this command. */
static bool is_flag(const char *token, const struct ifm_verb *verb)
{
    char name[64];
    if (strncmp(token, "--", 2) != 0 || token[2] == '\0')
        return false;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(token + 2, "="), token + 2);
    return takes_flag(name, verb);
}

/* "write --junit FILE: write JUnit XML", as its help has it. */
static void hint_of_option(const struct ifm_option *option, char *hint, size_t size)
{
    snprintf(hint, size, "write --%.60s %.60s: %.120s", option->flag,
             option->choices != NULL ? option->choices : option->argument, option->help);
}

static enum ifm_status without_value(const struct ifm_option *option, struct ifm_error *error)
{
    char where[72], hint[320];
    snprintf(where, sizeof where, "--%.64s", option->flag);
    hint_of_option(option, hint, sizeof hint);
    return ifm_fail(error, IFM_USAGE, where, hint, "it needs a value");
}

/* The flag argv[*i]; *i moves on to its value. */
static enum ifm_status take_flag(struct ifm_given *given, int argc, char **argv, int *i, struct ifm_error *error)
{
    char *name = argv[*i] + 2;
    const struct ifm_verb *verb = given->verb;
    size_t length = strcspn(name, "="), at = 0;
    bool attached = name[length] == '=';
    while (at < verb->n_options &&
           (strlen(verb->options[at].flag) != length || strncmp(verb->options[at].flag, name, length) != 0))
        at++;
    if (at == verb->n_options)
        return unknown_flag(name, verb, error);
    const struct ifm_option *option = &verb->options[at];
    if (option->argument == NULL) {
        given->values[at] = "";
        return attached ? ifm_fail(error, IFM_USAGE, "", "", "--%s takes no value", option->flag) : IFM_OK;
    }
    if (given->values[at] != NULL)
        return ifm_fail(error, IFM_USAGE, "", "give it once", "--%s is given twice", option->flag);
    if (!attached && (*i + 1 >= argc || is_flag(argv[*i + 1], verb)))
        return without_value(option, error);
    char *value = attached ? name + length + 1 : argv[++*i];
    given->values[at] = strcmp(option->argument, "DIR") == 0 ? ifm_path_tidy(value) : value;
    return IFM_OK;
}

enum ifm_status ifm_arguments_parse(int argc, char **argv, struct ifm_given *given, struct ifm_error *error)
{
    given->words = IFM_ARENA_ARRAY(given->arena, const char *, argc + 1);
    given->values = IFM_ARENA_ARRAY(given->arena, const char *, given->verb->n_options + 1);
    for (int i = 1; i < argc && given->command == NULL; i++) {
        if (strcmp(argv[i], "--") == 0 && given->verb->takes_command)
            given->command = argv + i + 1;
        else if (argv[i][0] != '-' || argv[i][1] == '\0')
            given->words[given->n_words++] = ifm_path_tidy(argv[i]); /* no other word holds a slash */
        else if (argv[i][1] != '-')
            return ifm_fail(error, IFM_USAGE, "", "write flags in their long form; only -h is short",
                            "unknown flag %.40s", argv[i]);
        else
            IFM_TRY(take_flag(given, argc, argv, &i, error));
    }
    const char *format = ifm_given_text(given, "format");
    if (format == NULL)
        return IFM_OK;
    return ifm_format_parse(format, "choose one of table, md, csv, json, jsonl", &given->format, error);
}

/* A workload by its name, behind a command that looks into programs or runs: what to type instead, with the rest of
 * the line. */
static bool is_of_workload(const struct ifm_given *given, int argc, char **argv, struct ifm_error *error)
{
    static const struct {
        const char *verb, *flags, *then;
    } rows[] = {{"profile", "--counters --trace --out DIR", "`, then `inferometer profile DIR"},
                {"trace", "--trace", ""},
                {"ncu", "--counters", ""}};
    const char *name = given->n_words > 0 ? given->words[0] : "";
    if (argc < 2 || strcmp(argv[1], name) != 0 || ifm_workload_find(name) == NULL || ifm_dir_exists(name))
        return false;
    const char *rest = "";
    for (int i = 2; i < argc; i++)
        rest = ifm_arena_printf(given->arena, "%s %s", rest, argv[i]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].verb, given->verb->name) != 0)
            continue;
        (void)ifm_fail(error, IFM_USAGE, "",
                       ifm_arena_printf(given->arena, "measure it: `inferometer %s%s%s %s%s`", name, rest,
                                        strstr(rest, "--device") == NULL ? " --device cuda" : "", rows[i].flags,
                                        rows[i].then),
                       "%s is a workload of the lab, and no %s", name, i == 0 ? "run folder" : "program behind --");
        return true;
    }
    return false;
}

enum ifm_status ifm_plain_run(const struct ifm_verb *verb, int argc, char **argv, struct ifm_error *error)
{
    struct ifm_given given = {.arena = ifm_arena_create(), .verb = verb};
    enum ifm_status status = ifm_arguments_parse(argc, argv, &given, error);
    if (given.command == NULL && is_of_workload(&given, argc, argv, error))
        status = IFM_USAGE;
    else if (status == IFM_OK)
        status = verb->plain(&given, error);
    ifm_arena_destroy(given.arena);
    return status;
}

const char *ifm_given_text(const struct ifm_given *given, const char *flag)
{
    for (size_t i = 0; i < given->verb->n_options; i++)
        if (strcmp(given->verb->options[i].flag, flag) == 0)
            return given->values[i];
    return NULL;
}

static enum ifm_status refuse_number(const struct ifm_given *given, const char *flag, const char *text, bool whole,
                                     double most, struct ifm_error *error)
{
    const char *where = ifm_arena_printf(given->arena, "--%s", flag);
    char hint[320] = "";
    for (size_t i = 0; i < given->verb->n_options; i++)
        if (strcmp(given->verb->options[i].flag, flag) == 0)
            hint_of_option(&given->verb->options[i], hint, sizeof hint);
    return ifm_fail(error, IFM_USAGE, where, hint, "\"%.40s\" is no %snumber above 0 and at most %.0f", text,
                    whole ? "whole " : "", most);
}

static bool is_number(const char *text, double most, bool whole, double *out)
{
    return ifm_parse_f64(text, out) && *out > 0 && *out <= most && (!whole || *out == (double)(unsigned)*out);
}

enum ifm_status ifm_given_number(const struct ifm_given *given, const char *flag, double most, bool whole, double *out,
                                 struct ifm_error *error)
{
    const char *text = ifm_given_text(given, flag);
    return text == NULL || is_number(text, most, whole, out) ? IFM_OK
                                                             : refuse_number(given, flag, text, whole, most, error);
}

enum ifm_status ifm_given_counts(const struct ifm_given *given, const char *flag, double most, double **out, size_t *n,
                                 struct ifm_error *error)
{
    const char *text = ifm_given_text(given, flag);
    *n = 0;
    if (text == NULL)
        return IFM_OK;
    *out = IFM_ARENA_ARRAY(given->arena, double, strlen(text) / 2 + 1);
    for (const char *at = text; at != NULL;) {
        const char *comma = strchr(at, ',');
        const int length = (int)(comma == NULL ? strlen(at) : (size_t)(comma - at));
        const char *item = ifm_arena_printf(given->arena, "%.*s", length, at);
        if (!is_number(item, most, true, &(*out)[*n]))
            return refuse_number(given, flag, item, true, most, error);
        ++*n;
        at = comma == NULL ? NULL : comma + 1;
    }
    return IFM_OK;
}

enum ifm_status ifm_given_words(const struct ifm_given *given, size_t most, const char *hint, struct ifm_error *error)
{
    if (given->n_words <= most)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, "", hint, "unexpected argument \"%s\"", given->words[most]);
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

size_t ifm_cli_width(void)
{
    enum { LEAST = 60, MOST = 160 };
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    int64_t width = IFM_USUAL_WIDTH;
    if (!isatty(STDOUT_FILENO))
        return IFM_USUAL_WIDTH;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    else if (columns == NULL || !ifm_parse_i64(columns, &width))
        width = IFM_USUAL_WIDTH;
    return (size_t)(width < LEAST ? LEAST : width > MOST ? MOST : width);
}

void ifm_cli_listing(struct ifm_listing *listing, enum ifm_format format, struct ifm_text *out)
{
    listing->width = ifm_cli_width();
    listing->folds |= isatty(STDOUT_FILENO);
    ifm_listing_compose(listing, format, out);
}

void ifm_cli_field(const char *name, const char *text)
{
    struct ifm_text out = {0};
    if (text == NULL || text[0] == '\0')
        return;
    struct ifm_arena *arena = ifm_arena_create();
    ifm_text_printf(&out, "  %-8s ", name);
    ifm_text_wrap(&out, ifm_cli_typed(text, arena), ifm_cli_width(), out.size, out.size);
    ifm_text_add(&out, "\n");
    ifm_cli_print(&out, stdout);
    ifm_arena_destroy(arena);
}

const char *ifm_cli_typed(const char *text, struct ifm_arena *arena)
{
    return ifm_text_typed(ifm_text_plain(text, arena), arena);
}

void ifm_cli_print(struct ifm_text *text, FILE *file)
{
    if (text->size > 0)
        fwrite(text->data, 1, text->size, file);
    ifm_text_free(text);
}

enum ifm_status ifm_given_program(const struct ifm_given *given, struct ifm_error *error)
{
    struct ifm_error unused;
    const bool run = given->n_words > 0 && ifm_folder_is_run(given->words[0], &unused) == IFM_OK;
    if (run)
        return ifm_fail(error, IFM_USAGE, given->words[0],
                        ifm_arena_printf(given->arena, "write the program after --: inferometer %s -- ./program",
                                         given->verb->name),
                        "it is a run folder, and %s starts a program", given->verb->name);
    return ifm_given_words(given, 0, "write the program after --", error);
}
